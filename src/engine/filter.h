/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A set of hashes that never forgets and does not grow: what was added is found; of what was not
 * about 2 % are found too after a million additions, all after very many. Source: Bloom, Space/time
 * trade-offs in hash coding with allowable errors (1970), with four bits of one 64-bit hash. */
#ifndef CUZK_ENGINE_FILTER_H
#define CUZK_ENGINE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum { CUZK_FILTER_LG_BITS = 23 }; /* 1 MiB */

typedef struct {
    uint64_t *words;
} cuzk_filter;

/** An empty filter. False: no memory. Returned: cuzk_filter_clear. */
bool cuzk_filter_init(cuzk_filter *filter);
void cuzk_filter_clear(cuzk_filter *filter);

/** Add, look for a hash whose bits are uniform. */
void cuzk_filter_add(cuzk_filter *filter, uint64_t hash);
bool cuzk_filter_has(const cuzk_filter *filter, uint64_t hash);

#endif
