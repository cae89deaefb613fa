/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Batches of affine point additions on the device: out_i = a_i + b_i for many i with few
 * inversions.
 *
 * Exact for all inputs: equal and opposite points and infinity (0, 0) give what the group law says,
 * reduced, bit for bit what the CPU gives. 5 multiplications and a square per addition.
 * Three launches: `prefix` multiplies up the denominators of each thread's pairs and stores the
 * products before each, `inverse` inverts the threads' totals, `finish` walks back and adds. Points
 * without a partner are copied behind the sums by threads of `inverse`: that leaves most of the
 * chip idle while it waits for its longest chain. Pair j of thread t is slot j·n_threads + t, so
 * that neighbouring threads touch neighbouring slots. This header is shared by the kernels and the
 * host. */
#ifndef CUZK_BACKEND_CUDA_POINT_ADD_H
#define CUZK_BACKEND_CUDA_POINT_ADD_H

#include <stdint.h>

/* Where the operands of slot s lie. */
typedef enum {
    CUZK_ADD_GATHER = 0, /* packed points number (entry >> 1) mod 2^30 for the entries list[2s] and
                            list[2s + 1], each negated if the lowest bit of its entry is set; with
                            the highest bit set it is the point's image (endomorphism.h) */
    CUZK_ADD_PAIRS = 1,  /* points 2s and 2s + 1 of the arrays in_x, in_y */
    CUZK_ADD_LISTED = 2  /* as GATHER, from the arrays in_x, in_y */
} cuzk_add_source;

enum { CUZK_ADD_SOURCES = 3, CUZK_ADD_BLOCK = 128 };

/* A second entry that is none: the sum is the first operand. */
#define CUZK_ADD_NONE UINT32_C(0xffffffff)

/* In an entry of GATHER: the image of the point. Points have numbers below 2^30 - 1. */
#define CUZK_ADD_IMAGE UINT32_C(0x80000000)

/* The argument of all three kernels; device addresses, 16-byte aligned. "coordinate" is an element
 * of the group's coordinate field in Montgomery form. */
typedef struct {
    const void *bases;    /* of GATHER: packed affine points (curve.h) */
    const uint32_t *list; /* 2·n_pairs entries, and those of copies */
    const void *in_x;     /* 2·n_pairs coordinates */
    const void *in_y;
    void *out_x; /* n_pairs + n_copies coordinates; may not overlap anything else */
    void *out_y;
    void *prefix;        /* workspace: n_pairs coordinates */
    void *totals;        /* workspace: n_threads coordinates */
    void *total_prefix;  /* workspace: n_threads coordinates */
    uint32_t n_pairs;    /* below 2^31 */
    uint32_t n_threads;  /* of prefix and finish, at most n_pairs */
    uint32_t n_inverses; /* threads of inverse, at most n_threads */
    uint32_t n_copies;   /* points that are copied to out_(n_pairs + i) … */
    uint32_t copy_from;  /* … a cuzk_add_source: entry list[2·n_pairs + i] of GATHER and LISTED,
                            point 2i + 1 of PAIRS */
    uint32_t unused;
    uint64_t at[2]; /* of GATHER: coordinates from `bases` to the points, and to their images */
} cuzk_add_args;

#endif
