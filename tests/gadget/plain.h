/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What gadgets compute, computed in the plainest way: big integers bit by bit, SHA-256 as its
 * standard (FIPS 180-4) writes it down. Shares nothing with src/. Numbers are 32 little-endian
 * bytes below the order r of bls12_381. */
#ifndef CUZK_TESTS_GADGET_PLAIN_H
#define CUZK_TESTS_GADGET_PLAIN_H

#include <stddef.h>
#include <stdint.h>

/** out = x + y, x·y modulo r. out may be an operand. */
void plain_add(uint8_t out[32], const uint8_t x[32], const uint8_t y[32]);
void plain_mul(uint8_t out[32], const uint8_t x[32], const uint8_t y[32]);

/** SHA-256 of n bytes. */
void plain_sha256(uint8_t out[32], const uint8_t *data, size_t n);

/** SHA-256 of x and y without the two highest bits. out may be an operand. */
void plain_sha256_node(uint8_t out[32], const uint8_t x[32], const uint8_t y[32]);

/** 32 bytes as eight words, the first byte highest. */
void plain_words_of(uint32_t out[8], const uint8_t bytes[32]);

#endif
