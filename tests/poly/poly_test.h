/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of src/poly share: elements, naive polynomials, buffers. The reference arithmetic
 * is the portable curve's, one element at a time. */
#ifndef CUZK_TESTS_POLY_TEST_H
#define CUZK_TESTS_POLY_TEST_H

#include "poly/domain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The curve under test, with portable arithmetic. */
extern const cuzk_curve *K;
extern cuzk_error err;

/** Exit with 77 (skipped) if this machine lacks the path pinned by CUZK_CPU; print the seed. */
void poly_test_begin(void);

/** Largest lg_n to test: `usual`, or `nightly` if CUZK_NIGHTLY is set. */
unsigned poly_test_lg_max(unsigned usual, unsigned nightly);

/** 64-byte aligned memory; aborts when there is none. free() it. */
void *poly_test_alloc(size_t n_bytes);

uint64_t rand_u64(void);

/** Uniform, with one in four from 0, 1, -1, 2, r-1 and 1 as raw words, and powers of two. */
cuzk_fr rand_fr(void);
void rand_frs(cuzk_fr *a, size_t n);

cuzk_fr add(cuzk_fr a, cuzk_fr b);
cuzk_fr sub(cuzk_fr a, cuzk_fr b);
cuzk_fr mul(cuzk_fr a, cuzk_fr b);
cuzk_fr power(cuzk_fr a, uint64_t e);
cuzk_fr zero(void);

/** a(x), coefficients a. */
cuzk_fr horner(const cuzk_fr *a, size_t n, cuzk_fr x);

/** Fails with the place if the n elements differ. */
void check_equal(const void *found, const void *expected, size_t n, const char *what,
                 unsigned lg_n);

cuzk_domain *domain_of(unsigned generator, unsigned lg_n);
cuzk_domain *domain_on(cuzk_cpu_path path, unsigned generator, unsigned lg_n);

#endif
