/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checks that are built once per curve and eight-lane path (lanes_field_checks.c), and what they
 * share with the program that runs them (test_lanes_field.c). */
#ifndef CUZK_TEST_LANES_CHECKS_H
#define CUZK_TEST_LANES_CHECKS_H

#include <stdint.h>

typedef struct {
    void (*vectors)(void);     /* the operations of field/v8.h against plain loops */
    void (*scalars)(void);     /* frx8 */
    void (*coordinates)(void); /* fpx8 */
} lanes_field_checks;

/** The next value of the test's generator (splitmix64). */
uint64_t check_random(void);

#endif
