/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of point_summer.h share: one sum's workspace, its launches, and the steps from
 * entries to sums of buckets (point_rounds.c). */
#ifndef CUZK_BACKEND_CUDA_POINT_SUMMER_IMPL_H
#define CUZK_BACKEND_CUDA_POINT_SUMMER_IMPL_H

#include "backend/cuda/bucket_reduce.h"
#include "backend/cuda/point_summer.h"

/* Places of a sum by buckets in its workspace. */
typedef struct {
    size_t codes;       /* digits of several windows */
    size_t entries[2];  /* before and after a pass of the sort */
    size_t counts;      /* of the sort's tiles */
    size_t segments;    /* where the windows of a group begin */
    size_t scan;        /* sums of the scan's tiles */
    size_t begin[2];    /* positions of the buckets of a group, of this round and the next */
    size_t final_begin; /* the same after the last round, for all groups */
    size_t keys[2], list, totals;
    size_t x[2], y[2];             /* points of a round */
    size_t final_x, final_y;       /* points after the last round, for all groups */
    size_t adder;                  /* workspace of the additions */
    size_t dense_x[2], dense_y[2]; /* sections of the reduction, before and after a level … */
    size_t dense_adder;            /* … in the place of what the rounds used */
    size_t sums;                   /* Jacobian points: cuzk_sum_count(plan) a window */
    size_t total;
    uint32_t n_buckets; /* of a group */
} cuzk_sum_layout;

/* What determines a layout. */
typedef struct {
    uint32_t n;                  /* scalars */
    uint32_t lg_buckets;         /* of a window */
    uint32_t n_windows;          /* of the sum */
    uint32_t together, n_groups; /* windows of a group; groups */
    uint32_t coded;              /* windows whose digits are made at once: whole groups */
} cuzk_sum_plan;

/* Sums that come out of a window: of all buckets, and one for each bit of a bucket's number. */
static inline uint32_t cuzk_sum_count(const cuzk_sum_plan *plan)
{
    return plan->lg_buckets + 1;
}

/* What the steps of one sum share. */
typedef struct {
    const cuzk_point_summer *s;
    const cuzk_group *group;
    CUdeviceptr bases, workspace;
    CUstream stream;
    cuzk_sum_plan plan;
    cuzk_sum_layout l;
    uint32_t n_final;                               /* points after last rounds so far */
    uint32_t points_before[CUZK_BUCKET_GROUPS_MAX]; /* of each group */
} cuzk_summing;

static inline void *cuzk_device_address(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* Address of a place in the workspace. */
static inline void *cuzk_sum_place(const cuzk_summing *c, size_t offset)
{
    return cuzk_device_address(c->workspace + offset);
}

/* From here on the stream is at work of this kind. */
static inline cuzk_status cuzk_sum_mark(const cuzk_summing *c, cuzk_time_kind kind, cuzk_error *err)
{
    return cuzk_device_times_mark(c->s->adder.times, kind, c->stream, err);
}

/** n_bytes more behind *total, 256-byte aligned: returns where they begin. */
size_t cuzk_sum_take(size_t *total, size_t n_bytes);

cuzk_sum_layout cuzk_sum_make_layout(const cuzk_group *g, const cuzk_sum_plan *plan);

/** Launch a kernel of one argument in blocks of `block` threads; no threads: nothing. */
cuzk_status cuzk_sum_launch(const cuzk_point_summer *s, CUfunction kernel, uint64_t n_threads,
                            unsigned block, void *args, CUstream stream,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** a <- its exclusive prefix sums, n of them; sums: device memory, one word for each
 * CUZK_SCAN_TILE. */
cuzk_status cuzk_sum_scan(const cuzk_point_summer *s, void *a, void *sums, size_t n,
                          CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes from the device, once everything launched is done. */
cuzk_status cuzk_sum_read_back(const cuzk_point_summer *s, void *to, CUdeviceptr from,
                               size_t n_bytes, CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** The group's windows from their codes to one point a bucket, behind the final points of the
 *  groups before. n_windows: of this group. Waits for the device once. */
cuzk_status cuzk_sum_add_group(cuzk_summing *c, uint32_t group, uint32_t n_windows,
                               CUdeviceptr codes, CUdeviceptr index,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** sums: plan.n_windows × cuzk_sum_count Jacobian points, host memory, from the final points, as
 *  points_bits says. Waits. */
cuzk_status cuzk_sum_reduce(const cuzk_summing *c, char *sums, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
