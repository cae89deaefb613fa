/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Long arrays of points from files: checked in memory form, or decoded from big-endian form, on all
 * threads of a pool; the first bad index is reported whatever the threads do. */
#ifndef CUZK_FORMATS_POINTS_H
#define CUZK_FORMATS_POINTS_H

#include "base/pool.h"
#include "curve/curve.h"

enum {
    CUZK_POINTS_ALLOW_INFINITY = 1, /* zkey queries hold infinity for wires outside a matrix */
    CUZK_POINTS_SUBGROUP = 2,       /* also check that the order divides r */
    /* check nothing but that coordinates are below p, which arithmetic rests on: about as fast as
     * memory is read */
    CUZK_POINTS_COORDINATES = 4
};

/** What is wrong with a point, for messages: "coordinate is not below p", … */
const char *cuzk_point_status_text(cuzk_point_status status);

/** Check n packed affine points (memory form): coordinates below p, on the curve, and what flags
 *  ask for (with CUZK_POINTS_COORDINATES: only the first).
 *
 *  first: index of the first point, for messages only. what: name for messages, such as "section 5
 * (A)". Errors: E_FORMAT "what: point I: reason". Memory: none. */
cuzk_status cuzk_points_check(const cuzk_curve *curve, cuzk_group_id group, const void *points,
                              uint64_t n, uint64_t first, int flags, const char *what,
                              cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether the highest words alone show that every coordinate of n packed affine points is below p:
 *  true for valid points, but for one in 2^58. Where it is false cuzk_points_check tells. For
 * passes that read the points anyway. */
bool cuzk_points_plainly_reduced(const cuzk_curve *curve, cuzk_group_id group, const void *points,
                                 size_t n);

/** Number of points at infinity among n packed affine points. */
uint64_t cuzk_points_count_infinity(const cuzk_curve *curve, cuzk_group_id group,
                                    const void *points, uint64_t n, cuzk_pool *pool);

/** Decode n uncompressed big-endian points (bls12_381) into packed affine form. Always checked:
 * flags, range, curve; infinity unless allowed, subgroup if asked.
 *
 *  out: n × affine_bytes, not overlapping in. first: index of the first point, for messages only.
 *  Errors: E_FORMAT "what: point I: reason"; out is then undefined. */
cuzk_status cuzk_points_decode(const cuzk_curve *curve, cuzk_group_id group, void *out,
                               const uint8_t *in, uint64_t n, uint64_t first, int flags,
                               const char *what, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
