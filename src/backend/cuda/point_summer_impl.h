/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of point_summer.h share: launches, and the steps from digits to sums of buckets.
 */
#ifndef CUZK_BACKEND_CUDA_POINT_SUMMER_IMPL_H
#define CUZK_BACKEND_CUDA_POINT_SUMMER_IMPL_H

#include "backend/cuda/bucket_reduce.h"
#include "backend/cuda/point_summing.h"

enum {
    CUZK_SUM_BITS_MAX = 24,    /* of a window */
    CUZK_SUM_POINTS_MAX = 512, /* that come back: one a bit of all parts of windows */
    CUZK_SUM_POINT_BYTES_MAX = 3 * 8 * 12,
    CUZK_SUM_MAIL_POINTS = 512 /* in the mail: behind the sizes of two groups' rounds */
};

/* Sums that come out of a part of a window: of all buckets, and one for each bit of a bucket's
 * number. */
static inline uint32_t cuzk_sum_count(const cuzk_sum_plan *plan)
{
    return plan->lg_part + 1;
}

/* Parts of all windows. */
static inline uint32_t cuzk_sum_parts(const cuzk_sum_plan *plan)
{
    return 2 * plan->n_windows - plan->n_narrow;
}

/* The lowest bit of window i; of the window behind the last: the bits of all. */
static inline uint32_t cuzk_sum_first_bit(const cuzk_sum_plan *plan, uint32_t i)
{
    return i * (plan->lg_part + 1) + (i > plan->n_narrow ? i - plan->n_narrow : 0);
}

static inline void *cuzk_device_address(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* Address of a place in the workspace. */
static inline void *cuzk_sum_place(const cuzk_summing *c, size_t offset)
{
    return cuzk_device_address(c->workspace + offset);
}

/* Sizes of a group's rounds in the mail. */
static inline uint32_t *cuzk_sum_totals(const cuzk_summing *c, uint32_t parity)
{
    return (uint32_t *)(void *)c->mail->bytes + (size_t)CUZK_TOTALS * parity;
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

/** The same where sums holds those of a's tiles already. */
cuzk_status cuzk_sum_scan_tiles(const cuzk_point_summer *s, void *a, void *sums, size_t n,
                                CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** Threads of a kernel with a block for each tile of a scan of n. Pure. */
uint64_t cuzk_sum_scan_threads(size_t n);

/** Bytes on their way from the device to the mail. */
cuzk_status cuzk_sum_send(const cuzk_point_summer *s, void *to, CUdeviceptr from, size_t n_bytes,
                          CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- point_halves.c ---- */

/* The largest number that is cut into digits: the smaller of k and -k, or a half of that. */
void cuzk_sum_largest(uint64_t o[4], const cuzk_curve *curve, bool halves);

/* ---- point_sort.c ---- */

/** A group's windows from their codes to sorted entries and the sizes of its rounds, which are on
 *  their way. n_windows: of this group. */
cuzk_status cuzk_sum_sort_group(cuzk_summing *c, uint32_t group, uint32_t n_windows,
                                CUdeviceptr codes, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- point_rounds.c ---- */

/** Sorted entries of a group to one point a bucket, behind the final points of the groups before.
 *  Waits for the sizes of its rounds. */
cuzk_status cuzk_sum_add_group(cuzk_summing *c, uint32_t group, cuzk_error *err) CUZK_WARN_UNUSED;

/** Final points to cuzk_sum_parts × cuzk_sum_count Jacobian points, as points_bits says, on their
 *  way to the mail. */
cuzk_status cuzk_sum_reduce(const cuzk_summing *c, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
