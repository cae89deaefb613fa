/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one place that touches libb2. Its functions fail only for lengths that are not used here. */
#include "base/blake2b.h"

void cuzk_blake2b_init(cuzk_blake2b *b)
{
    (void)blake2b_init(&b->state, CUZK_BLAKE2B_BYTES);
}

void cuzk_blake2b_update(cuzk_blake2b *b, const void *data, size_t n_bytes)
{
    (void)blake2b_update(&b->state, data, n_bytes);
}

void cuzk_blake2b_final(cuzk_blake2b *b, uint8_t out[CUZK_BLAKE2B_BYTES])
{
    (void)blake2b_final(&b->state, out, CUZK_BLAKE2B_BYTES);
}

void cuzk_blake2b_digest(uint8_t out[CUZK_BLAKE2B_BYTES], const void *data, size_t n_bytes)
{
    cuzk_blake2b b;
    cuzk_blake2b_init(&b);
    cuzk_blake2b_update(&b, data, n_bytes);
    cuzk_blake2b_final(&b, out);
}

void cuzk_blake2b_keyed(uint8_t *out, size_t out_bytes, const void *key, size_t key_bytes,
                        const void *data, size_t n_bytes)
{
    (void)blake2b(out, data, key, out_bytes, n_bytes, key_bytes);
}
