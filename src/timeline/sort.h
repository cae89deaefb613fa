/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_TIMELINE_SORT_H
#define CUZK_TIMELINE_SORT_H

#include "base/status.h"
#include "timeline/span.h"

/* A time and which span it belongs to. */
typedef struct {
    uint64_t ns;
    uint64_t span;
} cuzk_place;

/** Sort n places by ns; those of the same time keep their order. other: as much room, overwritten.
 *  Returns where the sorted ones are: places or other. Thread-safe. */
cuzk_place *cuzk_places_sort(cuzk_place *places, cuzk_place *other, size_t n);

/** Sort numbers, the least first. Thread-safe. */
void cuzk_numbers_sort(uint64_t *numbers, size_t n);

/** Sort spans by begin_ns; those that begin together by the longer, then by name. 32 bytes of
 * memory a span meanwhile. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_spans_sort(cuzk_timespan *spans, size_t n, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
