/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Numbers and what goes between numbers and bits (spec/gadgets.md sections 4, 5 and 7). */
#ifndef CUZK_GADGET_NUM_H
#define CUZK_GADGET_NUM_H

#include "gadget/sha256.h"

enum { CUZK_PACK_BITS = 254, CUZK_NUM_BITS = 255, CUZK_INSERT_MAX = 8 };

/** x + y, x·y, as a new variable. */
cuzk_num cuzk_num_add(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y);
cuzk_num cuzk_num_mul(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y);

/** cond ? x : y, as a new variable. */
cuzk_num cuzk_num_pick(cuzk_cs *cs, cuzk_bit cond, const cuzk_num *x, const cuzk_num *y);

/** The 255 bits of x as new variables, in the byte order of SHA-256's message: words of the 32
 *  little-endian bytes of x; the highest bit of byte 31 is the constant 0. */
void cuzk_num_to_words(cuzk_cs *cs, const cuzk_num *x, cuzk_word out[CUZK_SHA256_WORDS]);

/** The n ≤ 255 bits of x < 2^n as new variables, lowest first, checked by a row whose A is the sum.
 */
void cuzk_num_decompose(cuzk_cs *cs, const cuzk_num *x, cuzk_bit *out, unsigned n);

/** The number of the first 254 bits of eight words in the same order, as a new variable: digests
 *  lose their two highest bits. */
cuzk_num cuzk_num_from_words(cuzk_cs *cs, const cuzk_word words[CUZK_SHA256_WORDS]);

/** The number of n ≤ 254 bits, lowest first, as a new variable; n = 0 gives 0. */
cuzk_num cuzk_num_from_bits(cuzk_cs *cs, const cuzk_bit *bits, unsigned n);

/** A public input: the number of n ≤ 64 bits, lowest first. */
void cuzk_inputize_bits(cuzk_cs *cs, const cuzk_bit *bits, unsigned n);

/** Place x at index `bits` (lowest first) among the size-1 siblings. size: 2, 4 or 8; out: size
 *  entries. */
void cuzk_num_insert(cuzk_cs *cs, cuzk_num *out, const cuzk_num *x, const cuzk_num *siblings,
                     const cuzk_bit *bits, unsigned size);

/** The entry of from[2^n_bits] whose index is `bits`, lowest first. scratch: 2^n_bits entries. */
cuzk_num cuzk_num_select(cuzk_cs *cs, const cuzk_num *from, const cuzk_bit *bits, unsigned n_bits,
                         cuzk_num *scratch);

/** The node of a SHA-256 tree over two children: SHA-256(x | y) without its two highest bits. */
cuzk_num cuzk_sha256_node(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y);

#endif
