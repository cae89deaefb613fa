/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the tests of the curves: random numbers with a printed seed, hexadecimal numbers, and
 * the lines of the vector files (tests/curve/make_vectors.mjs says what they hold). */
#ifndef CUZK_TESTS_CURVE_UTIL_H
#define CUZK_TESTS_CURVE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above first */
#include <cmocka.h>

#include "curve/curve.h"

/** The next 64 random bits (splitmix64). */
uint64_t test_random(uint64_t *state);

/** The seed of this run: CUZK_TEST_SEED or a constant; printed once. */
uint64_t test_seed(void);

/** A random scalar, one in four from a list of edge values. */
void test_random_fr(const cuzk_curve *curve, cuzk_fr *out, uint64_t *state);

/** k·generator for a random k (mul is tested by itself against known answers). */
void test_random_point(const cuzk_group *group, const cuzk_curve *curve, void *affine,
                       uint64_t *state);

/* One line of a vector file: its words, the first is the kind. */
enum { VECTOR_WORDS_MAX = 16 };
typedef struct {
    char *word[VECTOR_WORDS_MAX];
    int n;
} vector_line;

typedef struct {
    char *text; /* owned */
    vector_line *lines;
    size_t n;
} vector_file;

/** Read tests/fixtures/curve/CURVE.txt(.gz); free with vector_file_free. Aborts when missing. */
void vector_file_read(vector_file *out, const cuzk_curve *curve);
void vector_file_free(vector_file *file);

/** Hexadecimal text to n_bytes little-endian bytes. */
void hex_to_le(uint8_t *out, size_t n_bytes, const char *text);

/** Hexadecimal text of bytes in order (encodings) to bytes; returns their number. */
size_t hex_to_bytes(uint8_t *out, size_t max, const char *text);

/** A scalar from hexadecimal text. */
void hex_to_fr(const cuzk_curve *curve, cuzk_fr *out, const char *text);

/** A packed affine point from its coordinates' hexadecimal texts (2 words in G1, 4 in G2). */
void hex_to_affine(const cuzk_group *group, const cuzk_curve *curve, void *affine,
                   char *const *words);

/** Number of words that hex_to_affine reads. */
int affine_words(const cuzk_group *group, const cuzk_curve *curve);

/** Fail with the line's number and the two points unless a equals b byte for byte. */
void assert_affine_equal(const cuzk_group *group, const void *a, const void *b, size_t line);

/** Whether this machine can run the pinned CPU path; main returns 77 when it cannot. */
bool test_path_supported(void);

#endif
