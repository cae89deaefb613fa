/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-256 as a circuit (spec/gadgets.md section 3), in both modes: in witness mode by machine
 * words, every intermediate bit written out. (base/sha256.h is the hash function itself.) */
#ifndef CUZK_GADGET_SHA256_H
#define CUZK_GADGET_SHA256_H

#include "gadget/word.h"

enum { CUZK_SHA256_WORDS = 8, CUZK_SHA256_BLOCK_WORDS = 16 };

/** Digest of n_words 32-bit words of message; a word holds four bytes, the first in its highest
 *  bits. Padding is added here. */
void cuzk_sha256_circuit(cuzk_cs *cs, cuzk_word out[CUZK_SHA256_WORDS], const cuzk_word *message,
                         size_t n_words);

#endif
