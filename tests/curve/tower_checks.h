/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The checks of tower_checks.c, built once per curve and CPU path. Each ends the test with a
 * message when it fails; the random numbers follow from `seed`. */
#ifndef CUZK_TESTS_TOWER_CHECKS_H
#define CUZK_TESTS_TOWER_CHECKS_H

#include <stdint.h>

typedef struct {
    void (*products)(uint64_t seed);
    void (*sparse)(uint64_t seed);
    void (*inverses)(uint64_t seed);
    void (*frobenius)(uint64_t seed);
    void (*cyclotomic)(uint64_t seed);
    void (*lines)(uint64_t seed);
    void (*final_power)(uint64_t seed);
} tower_checks;

#endif
