/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fields of a payload's digest: each behind its length, so that no two lists of fields are the same
 * bytes. */
#ifndef CUZK_WORK_DIGEST_PUT_H
#define CUZK_WORK_DIGEST_PUT_H

#include "base/bytes.h"
#include "base/sha256.h"

static inline void cuzk_digest_put_bytes(cuzk_sha256 *sha, const void *data, size_t n_bytes)
{
    uint8_t length[8];
    cuzk_store_u64_le(length, n_bytes);
    cuzk_sha256_update(sha, length, sizeof length);
    cuzk_sha256_update(sha, data, n_bytes);
}

static inline void cuzk_digest_put_number(cuzk_sha256 *sha, uint64_t value)
{
    uint8_t bytes[8];
    cuzk_store_u64_le(bytes, value);
    cuzk_digest_put_bytes(sha, bytes, sizeof bytes);
}

#endif
