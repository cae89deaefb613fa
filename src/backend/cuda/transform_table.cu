/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of factors, and the exchange of natural and bit-reversed order: transform.h says what.
 * Built once per curve. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/transform.h"
#include "field/factor.h"

CUZK_KERNEL __launch_bounds__(CUZK_POINTWISE_BLOCK) transform_factors(cuzk_factors_args a)
{
    uint32_t t = blockIdx.x * CUZK_POINTWISE_BLOCK + threadIdx.x;
    if (t >= a.n / 8) {
        return;
    }
    fr base;
    fr_set_one(&base);
#pragma unroll 1
    for (uint32_t i = 3; a.n >> i > 1; i++) {
        if ((t >> (i - 3) & 1) != 0) {
            fr_mul(&base, &base, (const fr *)a.roots[i]);
        }
    }
    fr_factor f;
#pragma unroll 1
    for (uint32_t k = 0; k < 8; k++) {
        fr entry = base;
#pragma unroll 1
        for (uint32_t i = 0; i < 3; i++) {
            if ((k >> i & 1) != 0) {
                fr_mul(&entry, &entry, (const fr *)a.roots[i]);
            }
        }
        fr_factor_from(&f, &entry);
        cuzk_write_words((fr_factor *)a.factors + 8 * (size_t)t + k, (const uint64_t *)&f,
                         2 * FR_LIMBS);
    }
    if (t == 0) {
        fr minus_one;
        fr_set_one(&minus_one);
        fr_neg(&minus_one, &minus_one);
        fr_factor_from(&f, &minus_one);
        cuzk_write_words((fr_factor *)a.factors + a.n, (const uint64_t *)&f, 2 * FR_LIMBS);
    }
}

CUZK_KERNEL __launch_bounds__(CUZK_POINTWISE_BLOCK) fr_permute(cuzk_permute_args p)
{
    uint32_t i = blockIdx.x * CUZK_POINTWISE_BLOCK + threadIdx.x;
    uint32_t j = p.lg_n == 0 ? 0 : __brev(i) >> (32 - p.lg_n);
    if (i < p.n && i < j) {
        fr a, b;
        cuzk_read_words(a.l, (const fr *)p.o + i, FR_LIMBS);
        cuzk_read_words(b.l, (const fr *)p.o + j, FR_LIMBS);
        cuzk_write_words((fr *)p.o + i, b.l, FR_LIMBS);
        cuzk_write_words((fr *)p.o + j, a.l, FR_LIMBS);
    }
}
