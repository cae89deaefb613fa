/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where two clocks may tie, roughly: for times that are too long to look at exactly. */
#ifndef CUZK_TIMELINE_ALIGN_GUESS_H
#define CUZK_TIMELINE_ALIGN_GUESS_H

#include "timeline/align.h"

enum { CUZK_ALIGN_GUESSES = 8 };

typedef struct {
    int64_t offsets[CUZK_ALIGN_GUESSES]; /* the best first */
    size_t n;
    int64_t width_ns; /* of a bin: the true offset is within two of them of one of these */
} cuzk_align_guesses;

/** Cut the time of each side into bins, and add up over them how much theirs does where ours is
 *  active, less what it does where ours is not, for each offset of whole bins; all tracks together.
 *
 *  ours, theirs: the times of the sides, not empty, at most 2^54 ns. Memory: some 200 KiB. Errors:
 *  E_MEMORY. */
cuzk_status cuzk_align_guess(cuzk_align_guesses *out, const cuzk_align_track *tracks,
                             size_t n_tracks, cuzk_interval ours, cuzk_interval theirs,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
