/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two clocks tied by what both saw: the offset with which what went on by one of them agrees best
 * with what went on by the other, and how it changes over time. */
#ifndef CUZK_TIMELINE_ALIGN_H
#define CUZK_TIMELINE_ALIGN_H

#include "timeline/intervals.h"

/* One kind of activity by both clocks. */
typedef struct {
    cuzk_interval_set ours, theirs;
} cuzk_align_track;

typedef struct {
    int64_t offset_ns; /* ours - theirs, at theirs == middle_ns */
    int64_t middle_ns; /* by their clock */
    double drift;      /* how much more of our time passes in one of theirs: 1e-6 is 1 ppm */
    int64_t error_ns;  /* how far the offset of a part is from this line, at most */
    unsigned n_parts;  /* whose own offset was found; 0: one offset for all, and no drift */
    bool by_hint;      /* found near the hint, not by looking everywhere */
} cuzk_alignment;

/** Tie the clocks. What is looked for is the offset of the greatest overlap, less what theirs has
 * in the time of ours (from its first to its last activity) where ours has nothing; added up over
 * all tracks.
 *
 *  hint: an offset that is right to a quarter of a second, or NULL; where the agreement near it is
 *  poor (under half of what the shorter side could have) it is looked for everywhere. Exact: it
 *  is a sum of trapezoids over the offset, and its highest place is looked for at their
 *  corners; where there are too many, short gaps are closed first, and it is looked for again near
 *  what that gives. Errors: E_ARGUMENT (one side has nothing); E_MEMORY. Thread-safe. */
cuzk_status cuzk_align(cuzk_alignment *out, const cuzk_align_track *tracks, size_t n_tracks,
                       const int64_t *hint, cuzk_error *err) CUZK_WARN_UNUSED;

/** Their time on our clock. Pure. */
int64_t cuzk_align_to_ours(const cuzk_alignment *a, int64_t theirs_ns);

#endif
