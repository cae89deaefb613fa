/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loops of one field operation, for bench_gpu: every thread applies it 2·n_rounds times to a pair
 * of elements held in registers. Built once per curve. */
#include "field/fields.h"

#define LOOP(name, type, first, second)                                                            \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        name##_loop(type *o, const type *a, const type *b, uint32_t n_rounds)                      \
    {                                                                                              \
        size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;                                         \
        type x = a[i], y = b[i];                                                                   \
        _Pragma("unroll 1") for (uint32_t k = 0; k < n_rounds; k++)                                \
        {                                                                                          \
            first;                                                                                 \
            second;                                                                                \
        }                                                                                          \
        type##_add(&x, &x, &y);                                                                    \
        o[i] = x;                                                                                  \
    }
LOOP(fr_mul, fr, fr_mul(&x, &x, &y), fr_mul(&y, &x, &y))
LOOP(fr_sqr, fr, fr_sqr(&x, &x), fr_sqr(&y, &y))
LOOP(fp_mul, fp, fp_mul(&x, &x, &y), fp_mul(&y, &x, &y))
LOOP(fp_sqr, fp, fp_sqr(&x, &x), fp_sqr(&y, &y))
LOOP(fp2_mul, fp2, fp2_mul(&x, &x, &y), fp2_mul(&y, &x, &y))
LOOP(fp2_sqr, fp2, fp2_sqr(&x, &x), fp2_sqr(&y, &y))
LOOP(fp_inv, fp, fp_inv(&x, &x), fp_inv(&y, &y))
