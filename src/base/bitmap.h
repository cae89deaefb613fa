/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bitmaps of 64-bit words: bit i is bit i mod 64 of word i / 64, unused high bits are zero. */
#ifndef CUZK_BASE_BITMAP_H
#define CUZK_BASE_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Words that hold n bits. */
static inline size_t cuzk_bitmap_words(size_t n)
{
    return (n + 63) / 64;
}

static inline bool cuzk_bitmap_get(const uint64_t *map, size_t i)
{
    return (map[i / 64] >> (i % 64) & 1) != 0;
}

static inline void cuzk_bitmap_set(uint64_t *map, size_t i)
{
    map[i / 64] |= (uint64_t)1 << (i % 64);
}

/** Number of set bits among the first n. */
static inline size_t cuzk_bitmap_count(const uint64_t *map, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n / 64; i++) {
        count += (size_t)__builtin_popcountll(map[i]);
    }
    if (n % 64 != 0) {
        uint64_t mask = ((uint64_t)1 << (n % 64)) - 1;
        count += (size_t)__builtin_popcountll(map[n / 64] & mask);
    }
    return count;
}

#endif
