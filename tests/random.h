/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tests' pseudorandom numbers: cheap, and the same on every machine for a given seed. */
#ifndef CUZK_TEST_RANDOM_H
#define CUZK_TEST_RANDOM_H

#include <stdint.h>

/** The next 64 bits (splitmix64; any state may be the first). */
static inline uint64_t cuzk_test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
