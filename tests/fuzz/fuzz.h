/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the fuzz targets share. A target is one file with cuzk_fuzz_one; it is built twice: with
 * libFuzzer (CUZK_FUZZ, clang) and with replay_main.c, which runs the checked-in corpus as an
 * ordinary test. Both count the heap: a decoder may not hold more than its input's size plus
 * CUZK_FUZZ_SLACK_BYTES, whatever the input says. */
#ifndef CUZK_TESTS_FUZZ_H
#define CUZK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CUZK_FUZZ_SLACK_BYTES = 2 << 20 };

/** The slack; a target whose decoder calls a library that takes more defines its own. */
extern size_t cuzk_fuzz_slack_bytes;

/** Give one input to the decoder and check what must hold of the result. Defined by each target. */
void cuzk_fuzz_one(const uint8_t *data, size_t size);

/** Call cuzk_fuzz_one and check the heap's peak and that nothing is left. */
void cuzk_fuzz_run(const uint8_t *data, size_t size);

/* A property of the decoded value that does not hold is a finding, like a crash. */
#define CUZK_FUZZ_CHECK(cond)                                                                      \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/** Whether the n bytes at p lie inside data. For views. */
static inline int cuzk_fuzz_inside(const void *p, uint64_t n, const uint8_t *data, size_t size)
{
    const uint8_t *q = (const uint8_t *)p;
    return n == 0 || (q >= data && q <= data + size && n <= (uint64_t)(data + size - q));
}

#endif
