/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nanoseconds per multiplication of independent scalars on one path: the unit of bench_poseidon.c.
 */
#include "base/clock.h"

#include <string.h>

#if CUZK_PATH_IS_IFMA
#include "field/lanes.h"
typedef frx8 operand;
enum { PER_OPERATION = 16 };
#else
#include "field/fields.h"
typedef fr operand;
enum { PER_OPERATION = 2 };
#endif

enum { SETS = 8, ROUNDS = 64 };

static operand x[SETS][2], y[SETS][2];

double CUZK_INSTANCE(bench_fr_mul)(int n_repetitions)
{
    double best = 1e9;
    memset(y, 1, sizeof y); /* limbs of 0x0101…: below r in both forms */
    memcpy(x, y, sizeof x);
    for (int r = 0; r < n_repetitions; r++) {
        uint64_t start = cuzk_now_ns();
        for (int i = 0; i < ROUNDS; i++) {
            for (int k = 0; k < SETS; k++) {
#if CUZK_PATH_IS_IFMA
                frx8_mul2(&x[k][0], &x[k][0], &y[k][0], &x[k][1], &x[k][1], &y[k][1]);
#else
                fr_mul(&x[k][0], &x[k][0], &y[k][0]);
                fr_mul(&x[k][1], &x[k][1], &y[k][1]);
#endif
            }
        }
        double t = (double)(cuzk_now_ns() - start) / ((double)ROUNDS * SETS * PER_OPERATION);
        best = t < best ? t : best;
    }
    return best;
}
