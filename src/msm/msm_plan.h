/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which window a tile of scalars gets, and where everything lies in the workspace. */
#ifndef CUZK_MSM_MSM_PLAN_H
#define CUZK_MSM_MSM_PLAN_H

#include "msm/msm_internal.h"

enum {
    /* Scalars taken at once. Bounds the workspace (16 windows × 2 bytes a scalar for the digits)
     * while the bucket reduction stays below 2 % of the work. */
    CUZK_MSM_TILE = 1 << 22,
    /* A tile of up to this many nonzero scalars is summed bit by bit. */
    CUZK_MSM_PLAIN_MAX = 8,
    /* Tasks of the bucket sums: how many for each thread at least, and the largest. */
    CUZK_MSM_TASKS_PER_THREAD = 8,
    CUZK_MSM_TASK_MAX = 65536
};

/* Offsets into the workspace, all multiples of 64. */
typedef struct {
    unsigned bits;      /* window */
    unsigned n_windows; /* that have digits */
    unsigned group;     /* windows sorted and summed at once */
    size_t pitch;       /* digits of one window */
    size_t digits;      /* int16_t[n_windows][pitch] */
    size_t index;       /* uint32_t[n + 1] */
    size_t nonzero;     /* uint32_t[n_windows] */
    size_t counters;    /* uint32_t[threads][256] */
    size_t entries;     /* uint32_t[group · n] */
    size_t bounds;      /* uint32_t[(group << (bits-1)) + 1] */
    size_t full;        /* uint8_t[group << (bits-1)] */
    size_t n_tasks;     /* of the bucket sums of a group, at most */
    size_t buckets;     /* points: group << (bits-1), then n_tasks partial sums */
    size_t tails;       /* uint32_t[n_tasks] */
    size_t joined;      /* points[n_tasks] */
    size_t threads;     /* cuzk_thread_ws[threads] */
    size_t thread_ws;   /* what those point to */
    size_t kernel_ws;   /* bytes of each thread's kernel workspace */
    size_t sums;        /* per query: points of all levels of the reduction */
    size_t sums_bytes;  /* … of one query */
    size_t sums_full;   /* uint8_t: the same for the flags */
    size_t sums_full_bytes;
    size_t finals; /* packed affine points: the last level of one query */
    size_t total;
} cuzk_msm_layout;

/** The window that is cheapest for scalars of these bit lengths (cuzk_msm_scan).
 *
 *  max_bytes: only windows whose layout fits. bits: 0, or the one window to be considered.
 *  Returns false when none fits. */
bool cuzk_msm_plan(cuzk_msm_layout *out, const cuzk_curve *curve, const cuzk_msm_query *queries,
                   size_t n_queries, const uint32_t *lengths, size_t n, size_t max_bytes,
                   unsigned bits, unsigned n_threads);

#endif
