/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One instance of the field benchmark per curve and CPU path, see bench_field.c. */
#ifndef CUZK_BENCH_FIELD_H
#define CUZK_BENCH_FIELD_H

enum { BENCH_CHAINS = 8 };

/* Nanoseconds per operation, the fastest and the median of the repetitions. */
typedef struct {
    const char *name;
    double latency_min, latency_median; /* each operation waits for the one before; 0: not timed */
    double chains_min, chains_median;   /* eight independent chains in turn */
} bench_field_row;

enum { BENCH_FIELD_ROWS_MAX = 32 };

/** Time every operation; returns the number of rows. */
typedef int bench_field_fn(bench_field_row *rows, int n_repetitions);

#endif
