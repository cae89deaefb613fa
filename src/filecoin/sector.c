/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/sector.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const cuzk_sector sectors[] = {
    {UINT64_C(1) << 10, "1KiB", "1k", 5, 1, 4, 0, false, true},
    {UINT64_C(1) << 11, "2KiB", "2k", 6, 2, 0, 0, true, false},
    {UINT64_C(1) << 12, "4KiB", "4k", 7, 2, 2, 0, false, false},
    {UINT64_C(1) << 13, "8KiB", "8k", 8, 2, 4, 0, false, true},
    {UINT64_C(1) << 14, "16KiB", "16k", 9, 2, 8, 0, false, false},
    {UINT64_C(1) << 15, "32KiB", "32k", 10, 2, 8, 2, false, false},
    {UINT64_C(1) << 23, "8MiB", "8m", 18, 6, 0, 0, true, false},
    {UINT64_C(1) << 24, "16MiB", "16m", 19, 6, 2, 0, false, false},
    {UINT64_C(1) << 29, "512MiB", "512m", 24, 8, 0, 0, true, false},
    {UINT64_C(1) << 30, "1GiB", "1g", 25, 8, 2, 0, false, false},
    {UINT64_C(1) << 35, "32GiB", "32g", 30, 9, 8, 0, true, false},
    {UINT64_C(1) << 36, "64GiB", "64g", 31, 9, 8, 2, true, false},
};
enum { N_SECTORS = sizeof sectors / sizeof sectors[0] };

unsigned cuzk_sector_count(void)
{
    return N_SECTORS;
}

const cuzk_sector *cuzk_sector_at(unsigned i)
{
    return i < N_SECTORS ? &sectors[i] : NULL;
}

const cuzk_sector *cuzk_sector_by_bytes(uint64_t bytes)
{
    for (unsigned i = 0; i < N_SECTORS; i++) {
        if (sectors[i].bytes == bytes) {
            return &sectors[i];
        }
    }
    return NULL;
}

const cuzk_sector *cuzk_sector_by_name(const char *name, size_t n_chars)
{
    for (unsigned i = 0; i < N_SECTORS; i++) {
        char decimal[24];
        snprintf(decimal, sizeof decimal, "%" PRIu64, sectors[i].bytes);
        const char *const spellings[] = {sectors[i].name, sectors[i].id, decimal};
        for (unsigned k = 0; k < 3; k++) {
            if (strlen(spellings[k]) == n_chars && strncasecmp(spellings[k], name, n_chars) == 0) {
                return &sectors[i];
            }
        }
    }
    return NULL;
}

const char *cuzk_sector_names(void)
{
    return "2KiB, 8MiB, 512MiB, 32GiB, 64GiB; test sizes 1KiB, 4KiB, 8KiB, 16KiB, 32KiB, 16MiB, "
           "1GiB";
}

static bool is_large(const cuzk_sector *sector)
{
    return sector->lg_nodes >= 30;
}

cuzk_porep_shape cuzk_porep_shape_of(const cuzk_sector *sector, bool non_interactive)
{
    if (!is_large(sector)) {
        return (cuzk_porep_shape){.layers = 2,
                                  .partitions = non_interactive ? 13 : 1,
                                  .challenges = 2,
                                  .min_total = non_interactive ? 26 : 2};
    }
    return (cuzk_porep_shape){.layers = 11,
                              .partitions = non_interactive ? 126 : 10,
                              .challenges = 18,
                              .min_total = non_interactive ? 2253 : 176};
}

unsigned cuzk_window_sectors(const cuzk_sector *sector)
{
    switch (sector->lg_nodes) {
    case 30:
        return 2349;
    case 31:
        return 2300;
    default:
        return 2;
    }
}

cuzk_update_shape cuzk_update_shape_of(const cuzk_sector *sector)
{
    unsigned lg = sector->lg_nodes;
    cuzk_update_shape out = {.challenge_bits = lg,
                             .partition_bits = lg <= 8    ? 0
                                               : lg <= 10 ? 1
                                               : lg <= 19 ? 2
                                                          : 4,
                             .challenges = lg <= 19 ? 10 : 86,
                             .apex_bits = lg <= 8 ? 3 : 7};
    out.partitions = 1u << out.partition_bits;
    out.random_bits = lg - out.partition_bits;
    out.per_digest = 254 / out.random_bits;
    out.digests = (out.challenges + out.per_digest - 1) / out.per_digest;
    for (unsigned i = 0; i < CUZK_UPDATE_H_COUNT; i++) {
        out.hs[i] = lg <= 10 ? 1 : 7 + i;
    }
    out.h = out.hs[3];
    out.h_select = lg <= 10 ? 1 : 1u << 3;
    return out;
}
