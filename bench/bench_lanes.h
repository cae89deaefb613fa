/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One instance of the benchmark of the eight-lane fields per curve, see bench_lanes.c. */
#ifndef CUZK_BENCH_LANES_H
#define CUZK_BENCH_LANES_H

/* Nanoseconds per single operation (an eighth of a vector operation), the fastest and the median of
 * the repetitions. */
typedef struct {
    const char *name;
    double min, median;
} bench_lanes_row;

enum { BENCH_LANES_ROWS_MAX = 32 };

/** Time every operation; returns the number of rows. n_repetitions at most 256. */
typedef int bench_lanes_fn(bench_lanes_row *rows, int n_repetitions);

#endif
