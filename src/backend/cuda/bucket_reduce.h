/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Σ (b + 1)·S_b over the buckets b = 0, 1 … of every window: what kernels and host share.
 *
 * Bit by bit: with U_k = Σ S_b over the b with bit k set it is Σ S_b + Σ 2^k·U_k. Neighbours are
 * added by the batched affine additions (point_add.h), two additions a bucket in all: after level
 * j, section 0 holds the sums of 2^j neighbours, and its elements with odd numbers are what U_j
 * still has to add up; they become a section of their own, and sections 1 … j, all of the same
 * length, take part in the next levels. A level is one batch:
 *     section 0 | U_0 | … | U_(j-1)  ->  halves of all | U_j
 * The windows stand one behind the other in every section; a wide window is two here, whose sums
 * the host joins: its upper half's numbers are those of the lower half and a bit more. When few
 * elements of a window are left, points_bits adds them up block by block, the bits that are left
 * included; the host doubles and adds the few points that come out. */
#ifndef CUZK_BACKEND_CUDA_BUCKET_REDUCE_H
#define CUZK_BACKEND_CUDA_BUCKET_REDUCE_H

#include <stdint.h>

enum {
    CUZK_REDUCE_BLOCK = 128, /* threads of points_spread */
    CUZK_FOLD_BLOCK = 128,   /* threads of points_fold, points_bits */
    CUZK_REDUCE_LG_LAST = 9, /* at most so many elements of a window are left to points_bits */
    CUZK_BUCKET_GROUPS_MAX = 64
};

/* points_spread, one thread a bucket: its point, or infinity. Out go parts of 2^lg_part
 * buckets: one of each of the first n_narrow windows, two of each of the others; in go windows of
 * 2^lg_buckets numbers, of which narrow ones use the first half where there are wide ones. Windows
 * come in groups of group_buckets numbers, the last group may be short; before and begin hold
 * group_buckets + 1 positions a group, from before and after the last round; a group's points begin
 * at points_before, in the order of bucket_pairs. A bucket holds one point or none. */
typedef struct {
    const void *x, *y;
    const uint32_t *before;
    const uint32_t *begin;
    void *out_x, *out_y; /* n_buckets coordinates */
    uint32_t n_buckets;
    uint32_t group_buckets;
    uint32_t lg_part, lg_buckets, n_narrow, unused;
    uint32_t points_before[CUZK_BUCKET_GROUPS_MAX];
    uint32_t pairs[CUZK_BUCKET_GROUPS_MAX]; /* of the last round of each group */
} cuzk_spread_args;

/* points_fold: the sum of the points of each block's threads, in Jacobian form; thread t of all
 * takes the points t, t + threads … */
typedef struct {
    const void *x, *y; /* n coordinates */
    void *sums;        /* out: one a block */
    uint32_t n, unused;
} cuzk_fold_args;

/* points_bits, one block a sum, in Jacobian form: block (window, o) with o = 0: Σ S_b, o = 1 + k:
 * U_k. n_levels sections 1 … n_levels are added up whole; bits from n_levels on select from
 * section 0. */
typedef struct {
    const void *x, *y; /* sections of n_windows·2^lg_left elements */
    void *sums;        /* out: window·n_sums + o */
    uint32_t n_windows, n_levels, lg_left, n_sums;
} cuzk_bits_fold_args;

#endif
