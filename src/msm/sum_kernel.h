/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one inner loop under MSM, bucket reduction, bit sums and fixed-base batches: sums of many
 * short lists of points by batched affine additions that share an inversion. One kernel per curve,
 * group and CPU path; the drivers know only this interface.
 *
 * A "kernel point" is an affine point in the kernel's own form, point_bytes each, opaque, able to
 * represent infinity; arrays of them are 64-byte aligned. Bases are packed affine points as in
 * curve/curve.h. Every operation is exact for equal, opposite and infinite points; the usual case
 * (all finite, no equal abscissae in a pair) is the fast one. */
#ifndef CUZK_MSM_SUM_KERNEL_H
#define CUZK_MSM_SUM_KERNEL_H

#include "curve/curve.h"

struct cuzk_sum_kernel {
    size_t point_bytes;

    /* Bytes of workspace (64-byte aligned) for segment_sums; a constant of the kernel, sized to
     * stay in L2. */
    size_t workspace_bytes;

    /* out_s = Σ of the entries of segment s, s = 0 … n_segments-1, as kernel points. Segment s
     * holds entries[bounds[s] … bounds[s+1]); bounds has n_segments+1 values, ascending, and need
     * not start at 0. An entry is base index << 1 | negate. An empty segment gives infinity, a
     * segment of one entry converts a point. Any segment length. bases: packed affine points of any
     * alignment, or kernel points when bases_are_kernel_points. out must not overlap the bases that
     * the entries name. */
    void (*segment_sums)(void *out, const void *bases, bool bases_are_kernel_points,
                         const uint32_t *entries, const uint32_t *bounds, size_t n_segments,
                         void *ws);

    /* n kernel points to packed affine points (canonical, curve/curve.h). Must not overlap; out may
     * have any alignment. */
    void (*to_affine)(void *out, const void *points, size_t n);
};

typedef struct cuzk_sum_kernel cuzk_sum_kernel;

/** The kernel of this process's CPU path. Never NULL. */
const cuzk_sum_kernel *cuzk_sum_kernel_get(cuzk_curve_id curve, cuzk_group_id group);

/** The kernel of one path; NULL where it is not built or the processor lacks it. */
const cuzk_sum_kernel *cuzk_sum_kernel_get_path(cuzk_curve_id curve, cuzk_group_id group,
                                                cuzk_cpu_path path);

#endif
