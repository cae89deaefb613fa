/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bincode proofs of one file: a JSON array of base64 strings, as Curio keeps them, or one proof
 * as it is. */
#ifndef CUZK_FILECOIN_VANILLA_PIECES_H
#define CUZK_FILECOIN_VANILLA_PIECES_H

#include "filecoin/vanilla_post.h"

typedef struct {
    cuzk_vanilla_span *spans;
    uint64_t n;
    uint8_t *decoded; /* private: what the spans of an array point into; NULL for one proof */
} cuzk_vanilla_pieces;

/** Split a file into proofs.
 *
 *  data: borrowed until cuzk_vanilla_pieces_clear. out: all zero on failure. Memory: less than the
 *  input's size and a constant. Errors: E_FORMAT, E_TRUNCATED with element and offset; E_MEMORY. */
cuzk_status cuzk_vanilla_pieces_read(cuzk_vanilla_pieces *out, const uint8_t *data, uint64_t size,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_vanilla_pieces_clear(cuzk_vanilla_pieces *pieces);

#endif
