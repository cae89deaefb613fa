/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/intervals.h"

#include <stdlib.h>
#include <string.h>

static int by_begin(const void *a, const void *b)
{
    int64_t x = ((const cuzk_interval *)a)->begin, y = ((const cuzk_interval *)b)->begin;
    return (x > y) - (x < y);
}

size_t cuzk_intervals_unite(cuzk_interval *v, size_t n, int64_t join)
{
    size_t n_left = 0, n_sorted = n > 0;
    while (n_sorted < n && v[n_sorted - 1].begin <= v[n_sorted].begin) {
        n_sorted++;
    }
    if (n_sorted < n) {
        qsort(v, n, sizeof *v, by_begin);
    }
    for (size_t i = 0; i < n; i++) {
        if (v[i].begin == v[i].end) {
            continue;
        }
        cuzk_interval *last = n_left > 0 ? &v[n_left - 1] : NULL;
        if (last != NULL && (v[i].begin <= last->end || v[i].begin - last->end < join)) {
            last->end = v[i].end > last->end ? v[i].end : last->end;
        } else {
            v[n_left++] = v[i];
        }
    }
    return n_left;
}

int64_t cuzk_intervals_cover(const cuzk_interval_set *set, int64_t begin, int64_t end)
{
    int64_t covered = 0;
    for (size_t i = 0; i < set->n; i++) {
        int64_t from = set->v[i].begin > begin ? set->v[i].begin : begin;
        int64_t to = set->v[i].end < end ? set->v[i].end : end;
        covered += to > from ? to - from : 0;
    }
    return covered;
}

cuzk_status cuzk_cover_make(cuzk_cover *out, const cuzk_interval_set *set, cuzk_error *err)
{
    *out = (cuzk_cover){.set = *set, .before = malloc((set->n + 1) * sizeof *out->before)};
    if (out->before == NULL) {
        *out = (cuzk_cover){0};
        return CUZK_FAIL(err, CUZK_E_MEMORY, "adding up %zu intervals: out of memory", set->n);
    }
    out->before[0] = 0;
    for (size_t i = 0; i < set->n; i++) {
        out->before[i + 1] = out->before[i] + (set->v[i].end - set->v[i].begin);
    }
    return CUZK_OK;
}

void cuzk_cover_clear(cuzk_cover *cover)
{
    free(cover->before);
    *cover = (cuzk_cover){0};
}

/* What of the set lies before `at`. */
static int64_t before(const cuzk_cover *c, int64_t at)
{
    size_t lo = 0, hi = c->set.n; /* intervals [0, lo) begin before it, [hi, n) do not */
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (c->set.v[middle].begin < at) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    if (lo == 0) {
        return 0;
    }
    int64_t end = c->set.v[lo - 1].end;
    return c->before[lo] - (end > at ? end - at : 0);
}

int64_t cuzk_cover_of(const cuzk_cover *cover, int64_t begin, int64_t end)
{
    return begin < end ? before(cover, end) - before(cover, begin) : 0;
}
