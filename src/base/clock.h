/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one clock of the program: monotonic nanoseconds. */
#ifndef CUZK_BASE_CLOCK_H
#define CUZK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** Nanoseconds of the monotonic clock. Thread-safe. */
static inline uint64_t cuzk_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
