/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What sum_kernel_scalar_tmpl.h is written with whatever the coordinate field: pairs of points to
 * add, pieces of segments, how a pair is finished. Internal to src/msm. Whoever includes the
 * template also defines
 *   PREFETCH_PAIRS  pairs whose points are fetched ahead of the first pass
 *   BLOCK           pairs whose second pass is made together
 *   CHUNK           points taken at once, at least 4, even */
#ifndef CUZK_MSM_SUM_PAIRS_H
#define CUZK_MSM_SUM_PAIRS_H

#include "field/limbs.h"

enum how { ADD, DOUBLE, CANCEL, TAKE_A, TAKE_B };

/* Two entries (index << 1 | negate) and the place of their sum. */
struct pair {
    uint32_t a, b, out;
};

/* What is left of a segment inside a chunk: points first … first + n_points - 1 of the round. */
struct piece {
    uint32_t out, first, n_points;
};

#define CARRY UINT32_MAX

static CUZK_ALWAYS_INLINE uint64_t first_word(const void *element)
{
    uint64_t word;
    memcpy(&word, element, sizeof word);
    return word;
}

static CUZK_ALWAYS_INLINE void prefetch(const char *p, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += 64) {
        __builtin_prefetch(p + i);
    }
    __builtin_prefetch(p + n_bytes - 1);
}

#endif
