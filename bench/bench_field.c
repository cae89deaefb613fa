/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nanoseconds per field operation for each curve and scalar CPU path, as CSV.
 *
 *   bench_field [REPETITIONS]     default 101, at most 256
 *
 * Columns: latency (a chain of dependent operations) and eight independent chains in turn, each as
 * the fastest and the median repetition. On a shared machine the fastest is the one to compare. */
#include "bench_field.h"
#include "base/cpu.h"

#include <stdio.h>
#include <stdlib.h>

bench_field_fn cuzk_bn254_portable_bench_field, cuzk_bls12_381_portable_bench_field;
#if CUZK_HAVE_X86_PATHS
bench_field_fn cuzk_bn254_adx_bench_field, cuzk_bls12_381_adx_bench_field;
#endif

static void run(const char *curve, cuzk_cpu_path path, bench_field_fn *fn, int n_repetitions)
{
    bench_field_row rows[BENCH_FIELD_ROWS_MAX];
    if (!cuzk_cpu_supports(path)) {
        return;
    }
    int n = fn(rows, n_repetitions);
    for (int i = 0; i < n; i++) {
        printf("%s,%s,%s,%.2f,%.2f,%.2f,%.2f\n", rows[i].name, curve, cuzk_cpu_path_name(path),
               rows[i].latency_min, rows[i].latency_median, rows[i].chains_min,
               rows[i].chains_median);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 101;
    if (n < 1) {
        fprintf(stderr, "bench_field: repetitions: \"%s\" is not a positive number\n", argv[1]);
        return 2;
    }
    printf("name,curve,path,latency_min_ns,latency_median_ns,chains8_min_ns,chains8_median_ns\n");
    run("bls12_381", CUZK_CPU_PORTABLE, cuzk_bls12_381_portable_bench_field, n);
    run("bn254", CUZK_CPU_PORTABLE, cuzk_bn254_portable_bench_field, n);
#if CUZK_HAVE_X86_PATHS
    run("bls12_381", CUZK_CPU_ADX, cuzk_bls12_381_adx_bench_field, n);
    run("bn254", CUZK_CPU_ADX, cuzk_bn254_adx_bench_field, n);
#endif
    return 0;
}
