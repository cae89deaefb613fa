/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory that runs out where a test wants it. Link the program with cuzk_test_alloc_fail: calls of
 * malloc, calloc, realloc, aligned_alloc and mmap from everything in it then come here first. */
#ifndef CUZK_TESTS_ALLOC_FAIL_H
#define CUZK_TESTS_ALLOC_FAIL_H

#include <stdbool.h>

/** Let the n-th allocation from now on (0: the next one) fail, once. Any thread's counts. */
void alloc_fail_at(unsigned n);

/** Let allocations succeed again. Returns whether one has failed since alloc_fail_at. */
bool alloc_fail_stop(void);

#endif
