/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-256 (FIPS 180-4) over bytes, by Nettle. For circuit fingerprints and digests of files; the
 * circuit form of SHA-256 is a gadget, not this. */
#ifndef CUZK_BASE_SHA256_H
#define CUZK_BASE_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum { CUZK_SHA256_BYTES = 32 };

/* A running digest. Plain data: may be copied to branch off. */
typedef struct {
    struct sha256_ctx ctx;
} cuzk_sha256;

/** Start a digest. */
void cuzk_sha256_init(cuzk_sha256 *sha);

/** Append n_bytes. */
void cuzk_sha256_update(cuzk_sha256 *sha, const void *data, size_t n_bytes);

/** Write the digest of everything appended. `sha` must be initialised again before further use. */
void cuzk_sha256_final(cuzk_sha256 *sha, uint8_t out[CUZK_SHA256_BYTES]);

/** Digest of one buffer. */
void cuzk_sha256_digest(uint8_t out[CUZK_SHA256_BYTES], const void *data, size_t n_bytes);

#endif
