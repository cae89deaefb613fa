/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What oct_checks.c, built once per curve and eight-lane path, shares with test_oct.c. */
#ifndef CUZK_TESTS_OCT_CHECKS_H
#define CUZK_TESTS_OCT_CHECKS_H

#include <stdint.h>

/** The next value of the test's generator. */
uint64_t check_random(void);

void cuzk_bn254_ifma_emulated_oct_checks(void);
void cuzk_bls12_381_ifma_emulated_oct_checks(void);
void cuzk_bn254_ifma_oct_checks(void);
void cuzk_bls12_381_ifma_oct_checks(void);

#endif
