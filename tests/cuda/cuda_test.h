/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the CUDA tests share: the seeded generator, and the header list that cmocka wants. */
#ifndef CUZK_TESTS_CUDA_TEST_H
#define CUZK_TESTS_CUDA_TEST_H

#include "shared_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** Seed the generator: CUZK_TEST_SEED if set, else a fixed value; the number is printed. */
void cuda_test_begin(void);

uint64_t cuda_test_random(void);

#endif
