/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times in which something went on, as intervals on one clock. */
#ifndef CUZK_TIMELINE_INTERVALS_H
#define CUZK_TIMELINE_INTERVALS_H

#include "base/status.h"

#include <stdint.h>

typedef struct {
    int64_t begin, end; /* begin <= end, both within 2^61 of 0 */
} cuzk_interval;

/* By begin, none of them empty, none touching the next. `v` is owned by who made it. */
typedef struct {
    cuzk_interval *v;
    size_t n;
} cuzk_interval_set;

/** Make n intervals, in any order, a set, in place; gaps shorter than `join` are closed. Returns
 * how many are left. Pure. */
size_t cuzk_intervals_unite(cuzk_interval *v, size_t n, int64_t join);

/** How much of [begin, end) is in the set. Pure. */
int64_t cuzk_intervals_cover(const cuzk_interval_set *set, int64_t begin, int64_t end);

/* The same for many questions: the sum of what lies before each interval. */
typedef struct {
    cuzk_interval_set set;
    int64_t *before;
} cuzk_cover;

/** out: borrows the set; free with cuzk_cover_clear; zero on failure. Errors: E_MEMORY. */
cuzk_status cuzk_cover_make(cuzk_cover *out, const cuzk_interval_set *set,
                            cuzk_error *err) CUZK_WARN_UNUSED;

void cuzk_cover_clear(cuzk_cover *cover);

/** As cuzk_intervals_cover, in a time that grows with the set's logarithm. Pure. */
int64_t cuzk_cover_of(const cuzk_cover *cover, int64_t begin, int64_t end);

#endif
