/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads and stores of integers at any alignment in a stated byte order, and wiping of secrets. */
#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t cuzk_load_u32_le(const void *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t cuzk_load_u64_le(const void *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return (uint64_t)cuzk_load_u32_le(b) | (uint64_t)cuzk_load_u32_le(b + 4) << 32;
}

static inline uint32_t cuzk_load_u32_be(const void *p)
{
    return __builtin_bswap32(cuzk_load_u32_le(p));
}

static inline uint64_t cuzk_load_u64_be(const void *p)
{
    return __builtin_bswap64(cuzk_load_u64_le(p));
}

static inline void cuzk_store_u32_le(void *p, uint32_t v)
{
    uint8_t *b = (uint8_t *)p;
    for (int i = 0; i < 4; i++) {
        b[i] = (uint8_t)(v >> (8 * i));
    }
}

static inline void cuzk_store_u64_le(void *p, uint64_t v)
{
    uint8_t *b = (uint8_t *)p;
    for (int i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> (8 * i));
    }
}

static inline void cuzk_store_u32_be(void *p, uint32_t v)
{
    cuzk_store_u32_le(p, __builtin_bswap32(v));
}

static inline void cuzk_store_u64_be(void *p, uint64_t v)
{
    cuzk_store_u64_le(p, __builtin_bswap64(v));
}

/** Overwrite n_bytes with zeros in a way that the compiler may not remove. For r, s, toxic values
 *  and private witnesses. */
static inline void cuzk_wipe(void *p, size_t n_bytes)
{
    memset(p, 0, n_bytes);
    __asm__ volatile("" : : "r"(p) : "memory");
}

#endif
