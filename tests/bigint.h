/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole numbers for tests: digits of 32 bits, schoolbook methods, nothing shared with src/. Slow,
 * and meant to be evident: what arithmetic is held against. */
#ifndef CUZK_TESTS_BIGINT_H
#define CUZK_TESTS_BIGINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BIG_DIGITS = 40 };

/* A number below 2^1280, least significant digit first; digits from n on are zero. */
typedef struct {
    int n; /* digits up to the highest that is not zero */
    uint32_t d[BIG_DIGITS];
} big;

big big_of(uint64_t v);
big big_from_words(const uint64_t *words, size_t n);
big big_from_le(const void *bytes, size_t n);
/** 2^k */
big big_power_of_two(unsigned k);

/** The low n words, n bytes; the rest of a is dropped. */
void big_to_words(uint64_t *words, size_t n, const big *a);
void big_to_le(void *bytes, size_t n, const big *a);

/** Less than, equal to, greater than 0 as a is less than, equal to, greater than b. */
int big_compare(const big *a, const big *b);
bool big_is_zero(const big *a);
unsigned big_bits(const big *a); /* 0 has none */
bool big_bit(const big *a, unsigned k);

big big_add(const big *a, const big *b);
/** a - b, for a ≥ b. */
big big_sub(const big *a, const big *b);
big big_mul(const big *a, const big *b);
/** ⌊a / m⌋ and, in *rest, what is left. */
big big_div(const big *a, const big *m, big *rest);
big big_mod(const big *a, const big *m);

/* Modulo m; operands may be any numbers. */
big big_add_mod(const big *a, const big *b, const big *m);
big big_sub_mod(const big *a, const big *b, const big *m);
big big_mul_mod(const big *a, const big *b, const big *m);
big big_pow_mod(const big *a, const big *e, const big *m);
/** 1/a by Euclid's algorithm; a and m have no common divisor. 0 for a = 0. */
big big_inv_mod(const big *a, const big *m);

#endif
