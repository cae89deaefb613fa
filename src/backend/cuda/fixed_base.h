/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multiples of one point from a table of its multiples: what kernels and host share.
 *
 * A scalar is cut into 256/bits signed digits d_i of `bits` bits; the table holds, for every window
 * i, the points m·2^(bits·i)·P for m = 0 … 2^(bits-1). So a multiple is the sum of 256/bits
 * entries, negated where the digit is: rounds of additions (point_add.h), of which the first
 * gathers. */
#ifndef CUZK_BACKEND_CUDA_FIXED_BASE_H
#define CUZK_BACKEND_CUDA_FIXED_BASE_H

#include <stdint.h>

enum {
    CUZK_FIXED_BLOCK = 128,
    CUZK_FIXED_BITS_MIN = 4, /* windows of 4, 8 or 16 bits: a power of two of them, and of digits */
    CUZK_FIXED_BITS_MAX = 16
};

/* Windows, and table entries of each; for the host. */
static inline uint32_t cuzk_fixed_windows(uint32_t bits)
{
    return 256 / bits;
}

static inline uint32_t cuzk_fixed_multiples(uint32_t bits)
{
    return (UINT32_C(1) << (bits - 1)) + 1;
}

/* fixed_digits, one thread a scalar: its entries for CUZK_ADD_GATHER, window 0 first. */
typedef struct {
    const uint64_t *scalars; /* n × 4 words, Montgomery form; 16-byte aligned */
    uint32_t *list;          /* n × 256/bits entries; 16-byte aligned */
    uint32_t n;
    uint32_t bits;
} cuzk_fixed_digits_args;

/* g1_points_pack, g2_points_pack, one thread a point. */
typedef struct {
    const void *x, *y; /* n coordinates each */
    void *points;      /* n packed affine points (curve.h); 16-byte aligned like both */
    uint32_t n;
    uint32_t unused;
} cuzk_pack_args;

#endif
