/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BLAKE2b (RFC 7693) over bytes, by libb2. BLAKE2b-512 without key is the digest of parameter files
 * (its first 16 bytes stand in Filecoin's parameters.json) and of circom's contribution records; the
 * keyed form makes the keys that Filecoin's synthetic challenges are drawn with. */
#ifndef CUZK_BASE_BLAKE2B_H
#define CUZK_BASE_BLAKE2B_H

#include <blake2.h>
#include <stddef.h>
#include <stdint.h>

enum { CUZK_BLAKE2B_BYTES = 64 };

/* A running digest. Plain data: may be copied to branch off. */
typedef struct {
    blake2b_state state;
} cuzk_blake2b;

/** Start a digest. */
void cuzk_blake2b_init(cuzk_blake2b *b);

/** Append n_bytes. */
void cuzk_blake2b_update(cuzk_blake2b *b, const void *data, size_t n_bytes);

/** Write the digest of everything appended. `b` must be initialised again before further use. */
void cuzk_blake2b_final(cuzk_blake2b *b, uint8_t out[CUZK_BLAKE2B_BYTES]);

/** Digest of one buffer. */
void cuzk_blake2b_digest(uint8_t out[CUZK_BLAKE2B_BYTES], const void *data, size_t n_bytes);

/** Digest of out_bytes (1 … 64) of one buffer under a key of key_bytes (1 … 64). */
void cuzk_blake2b_keyed(uint8_t *out, size_t out_bytes, const void *key, size_t key_bytes,
                        const void *data, size_t n_bytes);

#endif
