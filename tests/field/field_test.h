/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the field tests share: seeded edge-heavy values, failure output, naive modular arithmetic on
 * plain words as the reference. */
#ifndef CUZK_TESTS_FIELD_TEST_H
#define CUZK_TESTS_FIELD_TEST_H

#include "field_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** Seed the generator: CUZK_TEST_SEED if set, else a fixed value; the number is printed. */
void field_test_begin(void);

uint64_t rand_u64(void);

/** n words; edge-heavy: each draw picks one of random, words of all ones or zero, 2^k, 2^k - 1. */
void rand_words(uint64_t *o, unsigned n);

/** o = an n-word number below m: edge-heavy (0, 1, 2, m-1, m-2, 2^k, top word full, random). */
void rand_below(uint64_t *o, const uint64_t *m, unsigned n);

/** A reduced element with edge-heavy Montgomery words or an edge-heavy plain value. */
elem rand_elem(const field_ops *f);

/** o = a mod m for any a of n_a words; o has n words. */
void naive_mod(uint64_t *o, const uint64_t *a, unsigned n_a, const uint64_t *m, unsigned n);

/** o = a·b mod m, a and b any n-word numbers. */
void naive_mul(uint64_t *o, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned n);

/** o = a + b mod m, a and b below m. */
void naive_add(uint64_t *o, const uint64_t *a, const uint64_t *b, const uint64_t *m, unsigned n);

/** Fails, printing field, operation, index, operands and both values, unless found = expected. */
#define EXPECT_WORDS(f, what, index, found, expected, n, a, b)                                     \
    field_expect((f), (what), (index), (const uint64_t *)(found), (const uint64_t *)(expected),    \
                 (n), (const uint64_t *)(a), (const uint64_t *)(b), __FILE__, __LINE__)
#define EXPECT_ELEM(f, what, index, found, expected, a, b)                                         \
    EXPECT_WORDS(f, what, index, (found)->l, (expected)->l, (f)->words, a, b)

void field_expect(const field_ops *f, const char *what, unsigned index, const uint64_t *found,
                  const uint64_t *expected, unsigned n, const uint64_t *a, const uint64_t *b,
                  const char *file, int line);

/* Run a test body for every field of every available path. */
#define FOR_EACH_FIELD(f)                                                                          \
    for (int path_ = 0; path_ < CUZK_CPU_PATH_COUNT; path_++)                                      \
        for (int i_ = 0; i_ < FIELD_OPS_PER_PATH && field_ops_of_path((cuzk_cpu_path)path_); i_++) \
            for (const field_ops *f = field_ops_of_path((cuzk_cpu_path)path_)[i_]; f; f = NULL)

#endif
