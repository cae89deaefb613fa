/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The checks of factor_checks.c, built once per curve and CPU path. Each ends the test with a
 * message when it fails. */
#ifndef CUZK_TESTS_FACTOR_CHECKS_H
#define CUZK_TESTS_FACTOR_CHECKS_H

typedef struct {
    void (*factors)(void);
    void (*sums)(void);
    void (*wide)(void);
    void (*ends)(void);
} factor_checks;

#endif
