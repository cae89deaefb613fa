/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The field benchmark for one curve and path: the loops call the header functions directly, as the
 * users of the fields do. */
#include "base/clock.h"
#include "bench_field.h"
#include "field/fields.h"

#include <stdlib.h>

enum { BATCH = 512, BATCH_SLOW = 64 };

static double sample_latency[256], sample_chains[256];

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void fill(void *out, size_t n_words)
{
    uint64_t *w = (uint64_t *)out, state = 1;
    for (size_t i = 0; i < n_words; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        w[i] = state >> 5; /* words below 2^59 keep the elements reduced */
    }
}

static bench_field_row row_of(const char *name, double *latency, double *chains, int n)
{
    qsort(latency, (size_t)n, sizeof(*latency), compare_doubles);
    qsort(chains, (size_t)n, sizeof(*chains), compare_doubles);
    bench_field_row row = {name, latency[0], latency[n / 2], chains[0], chains[n / 2]};
    return row;
}

/* Append a row for `statement`, which updates x from itself and y. */
#define BENCH(label, type, batch, statement)                                                       \
    do {                                                                                           \
        type x_[BENCH_CHAINS], y_[1];                                                              \
        fill(x_, sizeof(x_) / 8);                                                                  \
        fill(y_, sizeof(y_) / 8);                                                                  \
        for (int r_ = 0; r_ < n_repetitions; r_++) {                                               \
            type *x = &x_[0], *y = &y_[0];                                                         \
            uint64_t t0_ = cuzk_now_ns();                                                          \
            for (int i_ = 0; i_ < (batch); i_++) {                                                 \
                statement;                                                                         \
            }                                                                                      \
            uint64_t t1_ = cuzk_now_ns();                                                          \
            for (int i_ = 0; i_ < (batch) / BENCH_CHAINS; i_++) {                                  \
                for (int k_ = 0; k_ < BENCH_CHAINS; k_++) {                                        \
                    x = &x_[k_];                                                                   \
                    statement;                                                                     \
                }                                                                                  \
            }                                                                                      \
            uint64_t t2_ = cuzk_now_ns();                                                          \
            (void)y;                                                                               \
            sample_latency[r_] = (double)(t1_ - t0_) / (batch);                                    \
            sample_chains[r_] = (double)(t2_ - t1_) / (batch);                                     \
        }                                                                                          \
        rows[n++] = row_of(label, sample_latency, sample_chains, n_repetitions);                   \
    } while (0)

bench_field_fn CUZK_INSTANCE(bench_field);
int CUZK_INSTANCE(bench_field)(bench_field_row *rows, int n_repetitions)
{
    int n = 0;
    n_repetitions = n_repetitions > 256 ? 256 : n_repetitions;
    BENCH("fp_add", fp, BATCH, fp_add(x, x, y));
    BENCH("fp_sub", fp, BATCH, fp_sub(x, x, y));
    BENCH("fp_mul", fp, BATCH, fp_mul(x, x, y));
    BENCH("fp_sqr", fp, BATCH, fp_sqr(x, x));
    BENCH("fp_inv", fp, BATCH_SLOW, fp_inv(x, x));
    BENCH("fp_sqrt", fp, BATCH_SLOW, (void)fp_sqrt(x, x));
    BENCH("fp_from_canonical", fp, BATCH, fp_from_canonical(x, x->l));
    BENCH("fp_to_canonical", fp, BATCH, fp_to_canonical(x->l, x));
    BENCH("fr_add", fr, BATCH, fr_add(x, x, y));
    BENCH("fr_sub", fr, BATCH, fr_sub(x, x, y));
    BENCH("fr_mul", fr, BATCH, fr_mul(x, x, y));
    BENCH("fr_sqr", fr, BATCH, fr_sqr(x, x));
    BENCH("fr_inv", fr, BATCH_SLOW, fr_inv(x, x));
    BENCH("fr_from_canonical", fr, BATCH, fr_from_canonical(x, x->l));
    BENCH("fr_to_canonical", fr, BATCH, fr_to_canonical(x->l, x));
    BENCH("fp2_add", fp2, BATCH, fp2_add(x, x, y));
    BENCH("fp2_mul", fp2, BATCH, fp2_mul(x, x, y));
    BENCH("fp2_sqr", fp2, BATCH, fp2_sqr(x, x));
    BENCH("fp2_mul_by_xi", fp2, BATCH, fp2_mul_by_xi(x, x));
    BENCH("fp2_inv", fp2, BATCH_SLOW, fp2_inv(x, x));
    BENCH("fp2_sqrt", fp2, BATCH_SLOW, (void)fp2_sqrt(x, x));
    return n;
}
