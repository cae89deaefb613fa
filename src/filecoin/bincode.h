/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading the bincode of vanilla proofs: little-endian integers of fixed width, a 64-bit count
 * before every sequence, a 32-bit tag before every choice. Every count is compared with what the
 * sector's shape demands before anything is read. Source: post.md section 5. */
#ifndef CUZK_FILECOIN_BINCODE_H
#define CUZK_FILECOIN_BINCODE_H

#include "filecoin/vanilla_merkle.h"

typedef struct {
    const uint8_t *data;
    uint64_t size;
    uint64_t at; /* next byte */
} cuzk_bincode;

/** Read a 64-bit integer; `what` names it in errors. Errors: E_TRUNCATED with the offset. */
cuzk_status cuzk_bincode_u64(cuzk_bincode *in, uint64_t *out, const char *what,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a count and compare it. Errors: also E_MISMATCH with offset, count found and expected. */
cuzk_status cuzk_bincode_count(cuzk_bincode *in, uint64_t expected, const char *what,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Read n digests that must be field elements. Errors: also E_FORMAT (not below the order). */
cuzk_status cuzk_bincode_digests(cuzk_bincode *in, cuzk_digest *out, unsigned n, const char *what,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Read a Merkle proof of that tree. *sink: room for the siblings, advanced past them; as every
 *  sibling is 32 bytes of input, room for size / 32 of them is always enough. Errors: also
 *  E_MISMATCH (the proof of a tree of another shape). */
cuzk_status cuzk_bincode_merkle(cuzk_bincode *in, cuzk_merkle_proof *out, cuzk_digest **sink,
                                cuzk_tree tree, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
