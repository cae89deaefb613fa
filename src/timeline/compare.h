/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two recordings, before and after a change: which spans and which causes of gaps differ, and is
 * the difference more than noise? */
#ifndef CUZK_TIMELINE_COMPARE_H
#define CUZK_TIMELINE_COMPARE_H

#include "base/text.h"
#include "timeline/recording.h"

#include <stdbool.h>

enum { CUZK_RANK_LEAST = 8 };

/** How far two samples are apart in the rank-sum test (Mann and Whitney 1947), in standard
 *  deviations of what chance would give, ties counted (normal approximation); above 0: those of b
 * are greater. 0 where either has fewer than CUZK_RANK_LEAST values. a and b are sorted by the
 * call. Pure. */
double cuzk_rank_sum(uint64_t *a, size_t n_a, uint64_t *b, size_t n_b);

/** Append, for each span name and kind of job, the median lengths and their ratio; for each cause
 * the time a partition (all devices together); each with how sure the difference is: lengths of
 * spans by rank sum over at most 4,096 of each, evenly taken; causes by rank sum of their shares in
 * 32 equal parts of each recording. A difference of more than 3 standard deviations is marked.
 * Kinds are told by the names of a. Errors: E_ARGUMENT, E_MEMORY. */
cuzk_status cuzk_compare_put(cuzk_text *text, const cuzk_recording *a, const cuzk_recording *b,
                             bool as_json, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
