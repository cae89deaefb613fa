/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times the functions of field/lanes.h on independent operands in L1, one instance per curve. */
#include "base/clock.h"
#include "bench_lanes.h"
#include "field/lanes.h"

#include <stdlib.h>

enum { SETS = 8, ROUNDS = 64, REPETITIONS_MAX = 256 };

/* Operands of one pair of operations. */
typedef struct {
    fpx8 a[2], b[2], c[2], o[2];
    frx8 ra[2], rb[2], ro[2];
} operands;

static operands sets[SETS];
static uint64_t rows_table[2][64];

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The statement uses the operands s; OPERATIONS operations of eight lanes each are in it. */
#define TIME(NAME, OPERATIONS, ...)                                                                \
    do {                                                                                           \
        double t[REPETITIONS_MAX];                                                                 \
        for (int r = 0; r < n_repetitions; r++) {                                                  \
            uint64_t start = cuzk_now_ns();                                                        \
            for (int i = 0; i < ROUNDS; i++) {                                                     \
                for (int k = 0; k < SETS; k++) {                                                   \
                    operands *s = &sets[k];                                                        \
                    __VA_ARGS__;                                                                   \
                }                                                                                  \
            }                                                                                      \
            t[r] = (double)(cuzk_now_ns() - start) / (8.0 * ROUNDS * SETS * (OPERATIONS));         \
        }                                                                                          \
        qsort(t, (size_t)n_repetitions, sizeof *t, compare);                                       \
        rows[n++] = (bench_lanes_row){NAME, t[0], t[n_repetitions / 2]};                           \
    } while (0)

static void fill(v8 *l, int n, uint64_t *state)
{
    for (int j = 0; j < n; j++) {
        uint64_t x[8];
        for (int i = 0; i < 8; i++) {
            *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            /* below p in every field here */
            x[i] = j == n - 1 ? 1 + (*state >> 60) : *state >> 12;
        }
        l[j] = v8_loadu(x);
    }
}

int CUZK_INSTANCE(bench_lanes)(bench_lanes_row *rows, int n_repetitions)
{
    int n = 0;
    uint64_t state = 1;
    n_repetitions = n_repetitions < REPETITIONS_MAX ? n_repetitions : REPETITIONS_MAX;
    for (int k = 0; k < SETS; k++) {
        for (int i = 0; i < 2; i++) {
            fill(sets[k].a[i].l, FPX8_LIMBS, &state);
            fill(sets[k].b[i].l, FPX8_LIMBS, &state);
            fill(sets[k].c[i].l, FPX8_LIMBS, &state);
            fill(sets[k].ra[i].l, FRX8_LIMBS, &state);
            fill(sets[k].rb[i].l, FRX8_LIMBS, &state);
        }
    }
    for (int i = 0; i < 64; i++) {
        rows_table[0][i] = rows_table[1][i] = state >> 13;
    }
    TIME("fp_mul", 1, fpx8_mul(&s->o[0], &s->a[0], &s->b[0]));
    TIME("fp_mul2_inline", 2,
         fpx8_mul2_inline(&s->o[0], &s->a[0], &s->b[0], &s->o[1], &s->a[1], &s->b[1]));
    TIME("fp_mul2", 2, fpx8_mul2(&s->o[0], &s->a[0], &s->b[0], &s->o[1], &s->a[1], &s->b[1]));
    TIME("fp_mul2_digits", 2,
         fpx8_mul2_digits(&s->o[0], &s->a[0], &s->b[0], &s->o[1], &s->a[1], &s->b[1]));
    TIME("fp_mul2_add", 2,
         fpx8_mul2_add(&s->o[0], &s->a[0], &s->b[0], &s->c[0], &s->o[1], &s->a[1], &s->b[1],
                       &s->c[1]));
    TIME("fp_sqr", 1, fpx8_sqr(&s->o[0], &s->a[0]));
    TIME("fp_sqr2_add", 2,
         fpx8_sqr2_add(&s->o[0], &s->a[0], &s->c[0], &s->o[1], &s->a[1], &s->c[1]));
    TIME("fp_sqr2_sum", 2,
         fpx8_sqr2_sum(&s->o[0], &s->a[0], &s->b[0], &s->o[1], &s->a[1], &s->b[1]));
    TIME("fp2_mul", 1, {
        fpx8_product p[2] = {{&s->o[0], {&s->a[0], &s->a[1]}, {&s->b[0], &s->c[0]}, NULL, false},
                             {&s->o[1], {&s->a[1], &s->a[0]}, {&s->b[0], &s->b[1]}, NULL, false}};
        fpx8_mul2_sum_digits(p);
    });
    TIME("fp_sub_carried", 1, {
        fpx8_sub(&s->o[0], &s->a[0], &s->b[0], 8);
        fpx8_carry(&s->o[0]);
    });
    TIME("fr_mul2", 2, frx8_mul2(&s->ro[0], &s->ra[0], &s->rb[0], &s->ro[1], &s->ra[1], &s->rb[1]));
    TIME("fr_mul2_rows", 2,
         frx8_mul2_rows_inline(&s->ro[0], &s->ra[0], rows_table[0], &s->ro[1], &s->ra[1],
                               rows_table[1]));
    fp x, y;
    fp_set_one(&x);
    fp_dbl(&x, &x);
    fp_dbl(&y, &x);
    TIME("scalar_fp_mul", 1.0 / 8, {
        (void)s;
        fp_mul(&x, &x, &y);
    });
    TIME("scalar_fp_inv", 1.0 / 8, {
        (void)s;
        fp_inv(&x, &x);
    });
    return n;
}
