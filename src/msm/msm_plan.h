/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which window a tile of scalars gets, and where everything lies in the workspace. */
#ifndef CUZK_MSM_MSM_PLAN_H
#define CUZK_MSM_MSM_PLAN_H

#include "msm/msm_internal.h"

enum {
    /* Scalars taken at once. Bounds the workspace (16 windows × 2 bytes a scalar for the digits)
     * while the bucket reduction stays below 2 % of the work. */
    CUZK_MSM_TILE = 1 << 22,
    /* A tile with up to this many nonzero scalars is summed by the group's mul_sum. */
    CUZK_MSM_FEW = 8,
    /* Entries of a task of the bucket sums, at most, and at least but for the last one. */
    CUZK_MSM_TASK_MAX = 65536,
    CUZK_MSM_TASK_MIN = 4096
};

/* Offsets into the workspace, all multiples of 64. */
typedef struct {
    unsigned bits;      /* window */
    unsigned n_windows; /* that have digits */
    unsigned group;     /* windows sorted and summed at once */
    size_t pitch;       /* digits of one window */
    size_t digits;      /* int16_t[n_windows][pitch] */
    size_t index;       /* uint32_t[n] */
    size_t nonzero;     /* uint32_t[n_windows] */
    size_t counters;    /* uint32_t[threads][256], or one for each range of a tile */
    size_t entries;     /* uint32_t[group · n] */
    size_t bounds;      /* uint32_t[(group << (bits-1)) + 1] */
    size_t full;        /* uint8_t[group << (bits-1)] */
    size_t n_tasks;     /* of the bucket sums of a group, at most */
    size_t buckets;     /* points: group << (bits-1), then n_tasks partial sums */
    size_t begins;      /* uint32_t[n_tasks + 1] */
    size_t tails;       /* uint32_t[n_tasks] */
    size_t joined;      /* one point */
    size_t threads;     /* cuzk_thread_ws[threads] */
    size_t thread_ws;   /* what those point to */
    size_t kernel_ws;   /* bytes of each thread's kernel workspace */
    size_t sums;        /* per query: points of all levels of the reduction */
    size_t sums_bytes;  /* … of one query */
    size_t sums_full;   /* uint8_t: the same for the flags */
    size_t sums_full_bytes;
    size_t finals;       /* per query: packed affine points of the last level */
    size_t finals_bytes; /* … of one query */
    size_t kernels;      /* const cuzk_sum_kernel *[n_queries] */
    size_t total;
} cuzk_msm_layout;

/** Cut n entries into tasks for the bucket sums: large ones first, then smaller and smaller ones,
 * so that all threads end at about the same time. One task for one thread.
 *
 *  begins: n_tasks + 1 positions, or NULL. Returns n_tasks, which does not decrease with n. */
size_t cuzk_msm_tasks(size_t n, unsigned n_threads, uint32_t *begins);

/** The window that is cheapest for scalars of these bit lengths (cuzk_msm_scan).
 *
 *  max_bytes: only windows whose layout fits. bits: 0, or the one window to be considered.
 *  Returns false when none fits. */
bool cuzk_msm_plan(cuzk_msm_layout *out, const cuzk_curve *curve, const cuzk_msm_query *queries,
                   size_t n_queries, const uint32_t *lengths, size_t n, size_t max_bytes,
                   unsigned bits, unsigned n_threads);

#endif
