/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The clocks of the program: monotonic nanoseconds, and the time of day for people and files. */
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

/** Nanoseconds of the clock of the day (CLOCK_REALTIME) since 1970. Thread-safe. */
static inline uint64_t cuzk_wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
