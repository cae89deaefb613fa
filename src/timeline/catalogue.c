/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/catalogue.h"

#include <string.h>

static const cuzk_span_about table[CUZK_SPAN_NAMES] = {
#define CUZK_SPAN_ROW(identifier, name, track, clock, is_instant, begins, ends, contains, value)   \
    [CUZK_SPAN_##identifier] = {                                                                   \
        name, CUZK_TRACK_##track, CUZK_CLOCK_##clock, is_instant, begins, ends, contains, value},
    CUZK_SPANS(CUZK_SPAN_ROW)
#undef CUZK_SPAN_ROW
};

const cuzk_span_about *cuzk_span_about_of(cuzk_span_name name)
{
    return &table[name];
}

cuzk_span_name cuzk_span_find(const char *name, size_t n_bytes)
{
    size_t i = 0;
    while (i < CUZK_SPAN_NAMES &&
           (strlen(table[i].name) != n_bytes || memcmp(table[i].name, name, n_bytes) != 0)) {
        i++;
    }
    return (cuzk_span_name)i;
}
