/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parts of the multi-scalar multiplication, private to src/msm.
 *
 * Scalars are taken as numbers t in -(r-1)/2 … (r-1)/2 and written as Σ digit_w · 2^(c·w) with
 * digits in -2^(c-1) … 2^(c-1). Adding the constant `bias` (2^(c-1) in every window, in the last
 * one 2^scalar_bits) makes every window of t + bias an unsigned field of its own, so that
 * digit_w = window_w(t + bias) - window_w(bias), without carries or branches. */
#ifndef CUZK_MSM_MSM_INTERNAL_H
#define CUZK_MSM_MSM_INTERNAL_H

#include "msm/msm.h"
#include "msm/sum_kernel.h"

enum {
    CUZK_MSM_WINDOW_MIN = 2,
    CUZK_MSM_WINDOW_MAX = 16, /* digits are kept in 16 bits */
    CUZK_MSM_RANGE = 4096,    /* scalars of a task */
    CUZK_MSM_LENGTHS = 256    /* bit lengths of |t|: 0 … 255 */
};

/* How the scalars of one curve are cut into windows of c bits. */
typedef struct {
    unsigned bits;        /* c */
    unsigned scalar_bits; /* bit length of (r-1)/2 */
    unsigned n_windows;   /* ⌈(scalar_bits + 1) / c⌉: the last digit then fits as well */
    uint64_t half[4];     /* (r-1)/2 */
    uint64_t r[4];
    uint64_t bias[4];
    uint64_t bias_minus_r[4]; /* modulo 2^256: what is added to scalars above (r-1)/2 */
} cuzk_msm_windows;

/** Fill *w for windows of `bits` bits. */
void cuzk_msm_windows_init(cuzk_msm_windows *w, const cuzk_curve *curve, unsigned bits);

/** Count scalars by the bit length of |t|: lengths[l] for l = 0 … 255. Some negative t count as one
 *  bit longer: their length is told by the highest words.
 *  scalars: n × 32 bytes, canonical. partial: CUZK_MSM_LENGTHS counters per thread. */
void cuzk_msm_scan(const cuzk_msm_windows *w, const void *scalars, size_t n, uint32_t *lengths,
                   uint32_t *partial, cuzk_pool *pool);

/** List the indices of the scalars that are not zero; returns how many.
 *  begins: workspace, one word for every CUZK_MSM_RANGE scalars begun. */
size_t cuzk_msm_list_nonzero(const void *scalars, size_t n, uint32_t *list, uint32_t *begins,
                             cuzk_pool *pool);

/** digits[window·pitch + i] = digit of t_i for windows 0 … n_windows-1, and nonzero[window] = how
 *  many of them are not 0. A digit fits 16 bits: 2^(c-1) itself occurs for c < 16 only.
 *
 *  list: the n indices of the scalars to take, or NULL for 0 … n-1. pitch: at least n.
 *  partial: n_windows counters per thread. */
void cuzk_msm_digits(const cuzk_msm_windows *w, const void *scalars, const uint32_t *list, size_t n,
                     int16_t *digits, size_t pitch, unsigned n_windows, uint32_t *nonzero,
                     uint32_t *partial, cuzk_pool *pool);

/** Sort the nonzero digits of one window by bucket (stable): entries from position `start` on, and
 *  ends[b] = position after bucket b for b = 1 … n_buckets. ends[0] is not touched.
 *
 *  index: base index of each digit, or NULL for 0 … n-1. An entry is base index << 1 | negate. */
void cuzk_msm_sort_window(const int16_t *digits, const uint32_t *index, size_t n, size_t n_buckets,
                          uint32_t *entries, uint32_t *ends, uint32_t start);

/* ---- weighted sums ---- */

enum {
    CUZK_WEIGHTED_TASK = 8192,                      /* entries a task aims at */
    CUZK_WEIGHTED_ENTRIES = 2 * CUZK_WEIGHTED_TASK, /* entries of a task, at most */
    CUZK_WEIGHTED_SEGMENTS = CUZK_WEIGHTED_TASK     /* segments of a task, at most */
};

/* n_problems sums Σ_(b = 1 … 2^k) b · B_b. B_b of problem q is the kernel point in slot
 * q·2^k + b - 1; full says which slots hold one (the others count as infinity, their contents are
 * undefined). */
typedef struct {
    void *points;
    uint8_t *full;
    size_t n_problems;
    unsigned k;
} cuzk_weighted;

/* Workspace of one thread: the kernel's, entries and bounds of a task. */
typedef struct {
    void *kernel;
    uint32_t *entries; /* CUZK_WEIGHTED_ENTRIES */
    uint32_t *bounds;  /* CUZK_WEIGHTED_SEGMENTS + 1 */
} cuzk_thread_ws;

/** ⌈k/2⌉, at least 1: the k of the problems that problems of size k are split into. */
unsigned cuzk_weighted_next(unsigned k);

/** Levels of splitting until every problem has k = 1; at least one. */
unsigned cuzk_weighted_levels(unsigned k);

/** Split every problem of `in` into two of size `out->k` = cuzk_weighted_next(in->k): with
 *  b = j·2^l + i and l = k - out->k, Σ b·B_b = Σ i·C_i + 2^l · Σ j·R_j for the column sums C_i
 *  (problem 2q of out) and the row sums R_j (problem 2q+1). 2 additions a slot. */
void cuzk_weighted_split(const cuzk_sum_kernel *kernel, const cuzk_weighted *in,
                         const cuzk_weighted *out, const cuzk_thread_ws *threads, cuzk_pool *pool);

#endif
