/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Σ (number)·(sum of the bucket) over the buckets of every window: what kernels and host share.
 *
 * A run of m buckets that begins at bucket number f (counted from 0) is two points: S, the sum of
 * its buckets, and T, the sum of its buckets times their number in the run, counted from 1; what it
 * adds to the window is T + f·S. One thread makes S and T of a run of up to 16 buckets by running
 * sums; then levels join eight runs of m into one of 8m: S is their sum, T the sum of theirs and
 * m·Σ i·S_i. The last run of a window is the whole window and its T the result. */
#ifndef CUZK_BACKEND_CUDA_BUCKET_REDUCE_H
#define CUZK_BACKEND_CUDA_BUCKET_REDUCE_H

#include <stdint.h>

enum {
    CUZK_REDUCE_BLOCK = 128,
    CUZK_REDUCE_FIRST = 16, /* buckets of a first run */
    CUZK_REDUCE_JOIN = 8,   /* runs joined into one */
    CUZK_FOLD_BLOCK = 128,  /* threads of points_fold */
    CUZK_BUCKET_GROUPS_MAX = 64
};

/* reduce_first: runs from buckets. Windows come in groups of group_buckets buckets, the last group
 * may be short; begin holds group_buckets + 1 positions a group, a group's points begin at
 * points_before. A bucket holds any number of points, best few. */
typedef struct {
    const void *x, *y; /* coordinates of the points */
    const uint32_t *begin;
    void *s, *t; /* out: n_runs points in xyzz form */
    uint32_t n_runs;
    uint32_t run; /* buckets of a run; divides the buckets of a window */
    uint32_t group_buckets;
    uint32_t points_before[CUZK_BUCKET_GROUPS_MAX];
} cuzk_reduce_first_args;

/* reduce_join: runs from `join` runs each, of 2^lg_run buckets. reduce_output: window sums in
 * Jacobian form from the t of the last runs. */
typedef struct {
    const void *from_s, *from_t;
    void *s, *t;
    uint32_t n_runs; /* to be made */
    uint32_t join;
    uint32_t lg_run;
    uint32_t unused;
} cuzk_reduce_join_args;

/* points_fold: the sum of the points of each block's threads, in Jacobian form; thread t of all
 * takes the points t, t + threads … */
typedef struct {
    const void *x, *y; /* n coordinates */
    void *sums;        /* out: one a block */
    uint32_t n, unused;
} cuzk_fold_args;

#endif
