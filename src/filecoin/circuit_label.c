/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/circuit_label.h"

#include <string.h>

enum { HEAD_WORDS = 16, MESSAGE_WORDS = HEAD_WORDS + CUZK_LABEL_PARENTS * CUZK_SHA256_WORDS };

static void word_of_bits(const cuzk_cs *cs, cuzk_word *out, const cuzk_bit *bits)
{
    out->value = out->fixed = out->negated = 0;
    for (unsigned i = 0; i < 32; i++) {
        if (cuzk_cs_is_shape(cs)) {
            out->var[i] = bits[i].var;
        } else {
            out->value |= (uint32_t)bits[i].value << i;
        }
    }
}

cuzk_num cuzk_label_circuit(cuzk_cs *cs, const cuzk_digest_words *replica_id, uint32_t layer,
                            const cuzk_bit node[64], const cuzk_digest_words *parents,
                            unsigned n_parents)
{
    cuzk_word message[MESSAGE_WORDS], digest[CUZK_SHA256_WORDS];
    memcpy(message, replica_id, sizeof *replica_id);
    cuzk_word_const(&message[8], layer);
    word_of_bits(cs, &message[9], node + 32);
    word_of_bits(cs, &message[10], node);
    for (unsigned i = 11; i < HEAD_WORDS; i++) {
        cuzk_word_const(&message[i], 0);
    }
    for (unsigned i = 0; i < CUZK_LABEL_PARENTS; i++) {
        memcpy(&message[HEAD_WORDS + i * CUZK_SHA256_WORDS], &parents[i % n_parents],
               sizeof parents[0]);
    }
    cuzk_sha256_circuit(cs, digest, message, MESSAGE_WORDS);
    return cuzk_num_from_words(cs, digest);
}
