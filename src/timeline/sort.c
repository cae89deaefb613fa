/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Radix sort of begins with their places, then the spans are moved along the cycles of the
 * permutation: two arrays of 16 bytes a span instead of a second array of spans. */
#include "timeline/sort.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 11, DIGITS = 1 << BITS };

static int compare(const void *a, const void *b)
{
    const cuzk_timespan *x = a;
    const cuzk_timespan *y = b;
    uint64_t x_ns = x->end_ns - x->begin_ns;
    uint64_t y_ns = y->end_ns - y->begin_ns;
    if (x_ns != y_ns) {
        return x_ns > y_ns ? -1 : 1;
    }
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return x->job < y->job ? -1 : x->job > y->job;
}

static void pass(cuzk_place *to, const cuzk_place *from, size_t n, uint64_t least, unsigned shift)
{
    size_t at[DIGITS] = {0};
    for (size_t i = 0; i < n; i++) {
        at[(from[i].ns - least) >> shift & (DIGITS - 1)]++;
    }
    for (size_t d = 0, sum = 0; d < DIGITS; d++) {
        size_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        to[at[(from[i].ns - least) >> shift & (DIGITS - 1)]++] = from[i];
    }
}

cuzk_place *cuzk_places_sort(cuzk_place *places, cuzk_place *other, size_t n)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        least = places[i].ns < least ? places[i].ns : least;
        most = places[i].ns > most ? places[i].ns : most;
    }
    for (unsigned shift = 0; shift < 64 && n > 1 && (most - least) >> shift != 0; shift += BITS) {
        pass(other, places, n, least, shift);
        cuzk_place *swap = places;
        places = other;
        other = swap;
    }
    return places;
}

/* spans[i] = old spans[places[i].from]; each place is used up. */
static void permute(cuzk_timespan *spans, cuzk_place *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (places[i].span == i) {
            continue;
        }
        cuzk_timespan first = spans[i];
        size_t to = i;
        while (places[to].span != i) {
            size_t from = places[to].span;
            spans[to] = spans[from];
            places[to].span = to;
            to = from;
        }
        spans[to] = first;
        places[to].span = to;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void cuzk_numbers_sort(uint64_t *numbers, size_t n)
{
    qsort(numbers, n, sizeof *numbers, by_value);
}

cuzk_status cuzk_spans_sort(cuzk_timespan *spans, size_t n, cuzk_error *err)
{
    if (n < 2) {
        return CUZK_OK;
    }
    cuzk_place *places = malloc(n * sizeof *places);
    cuzk_place *other = malloc(n * sizeof *other);
    if (places == NULL || other == NULL) {
        free(places);
        free(other);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "sorting %zu spans: out of memory", n);
    }
    for (size_t i = 0; i < n; i++) {
        places[i] = (cuzk_place){spans[i].begin_ns, i};
    }
    permute(spans, cuzk_places_sort(places, other, n), n);
    free(places);
    free(other);
    for (size_t i = 0; i < n;) {
        size_t j = i + 1;
        while (j < n && spans[j].begin_ns == spans[i].begin_ns) {
            j++;
        }
        if (j - i > 1) {
            qsort(spans + i, j - i, sizeof *spans, compare);
        }
        i = j;
    }
    return CUZK_OK;
}
