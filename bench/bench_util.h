/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the benchmarks share. */
#ifndef CUZK_BENCH_BENCH_UTIL_H
#define CUZK_BENCH_BENCH_UTIL_H

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/** Processor time of this process so far. */
static inline double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** End the program with the error's text unless status is OK. */
static inline void check(cuzk_status status, const cuzk_error *err)
{
    if (status != CUZK_OK) {
        fprintf(stderr, "bench: %s\n", err->text);
        exit(1);
    }
}

#endif
