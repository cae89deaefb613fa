/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The label of a node as a circuit (spec/gadgets.md section 10). */
#ifndef CUZK_FILECOIN_CIRCUIT_LABEL_H
#define CUZK_FILECOIN_CIRCUIT_LABEL_H

#include "filecoin/sector.h"
#include "gadget/num.h"

/* The 32 bytes of a digest as SHA-256 takes them. */
typedef struct {
    cuzk_word w[CUZK_SHA256_WORDS];
} cuzk_digest_words;

/** SHA-256(replica id | layer | node | 20 zero bytes | 37 parents) without its two highest bits.
 *
 *  layer: from 1. node: 64 bit variables, lowest first. parents: n_parents digests, cycled until
 *  there are 37. */
cuzk_num cuzk_label_circuit(cuzk_cs *cs, const cuzk_digest_words *replica_id, uint32_t layer,
                            const cuzk_bit node[64], const cuzk_digest_words *parents,
                            unsigned n_parents);

#endif
