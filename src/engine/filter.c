/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The filter of filter.h. */
#include "engine/filter.h"

#include <stdlib.h>

enum { PROBES = 4 };

/* The k-th bit of a hash: two halves as start and step, the step odd. */
static uint64_t bit_of(uint64_t hash, unsigned k)
{
    uint64_t step = hash >> 32 | 1;
    return (hash + k * step) & ((UINT64_C(1) << CUZK_FILTER_LG_BITS) - 1);
}

bool cuzk_filter_init(cuzk_filter *filter)
{
    enum { PAGE_WORDS = 4096 / sizeof(uint64_t) };
    size_t n = (size_t)1 << (CUZK_FILTER_LG_BITS - 6);
    filter->words = calloc(n, sizeof(uint64_t));
    /* pages are touched now: else the process would seem to grow with every id */
    for (size_t i = 0; filter->words != NULL && i < n; i += PAGE_WORDS) {
        ((volatile uint64_t *)filter->words)[i] = 0;
    }
    return filter->words != NULL;
}

void cuzk_filter_clear(cuzk_filter *filter)
{
    free(filter->words);
    filter->words = NULL;
}

void cuzk_filter_add(cuzk_filter *filter, uint64_t hash)
{
    for (unsigned k = 0; k < PROBES; k++) {
        uint64_t bit = bit_of(hash, k);
        filter->words[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
}

bool cuzk_filter_has(const cuzk_filter *filter, uint64_t hash)
{
    bool has = true;
    for (unsigned k = 0; k < PROBES; k++) {
        uint64_t bit = bit_of(hash, k);
        has = has && (filter->words[bit / 64] >> (bit % 64) & 1) != 0;
    }
    return has;
}
