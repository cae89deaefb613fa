/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one place that touches Nettle. */
#include "base/sha256.h"

void cuzk_sha256_init(cuzk_sha256 *sha)
{
    sha256_init(&sha->ctx);
}

void cuzk_sha256_update(cuzk_sha256 *sha, const void *data, size_t n_bytes)
{
    if (n_bytes != 0) {
        sha256_update(&sha->ctx, n_bytes, data);
    }
}

void cuzk_sha256_final(cuzk_sha256 *sha, uint8_t out[CUZK_SHA256_BYTES])
{
    sha256_digest(&sha->ctx, CUZK_SHA256_BYTES, out);
}

void cuzk_sha256_digest(uint8_t out[CUZK_SHA256_BYTES], const void *data, size_t n_bytes)
{
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, data, n_bytes);
    cuzk_sha256_final(&sha, out);
}
