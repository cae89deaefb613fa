/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The layers of a transform's pass: butterflies on the eight elements of a thread, three layers at
 * a time. The three layers are a loop and not unrolled code: hot code beyond about 120 KB starves
 * the instruction cache. */
#ifndef CUZK_BACKEND_CUDA_TRANSFORM_SPLIT_CUH
#define CUZK_BACKEND_CUDA_TRANSFORM_SPLIT_CUH

#include "backend/cuda/transform_tile.cuh"
#include "field/factor.h"

static __device__ __forceinline__ void read_factor(fr_factor *f, const void *table, uint32_t entry)
{
    cuzk_read_words((uint64_t *)f, (const fr_factor *)table + entry, 2 * FR_LIMBS);
}

/* Four butterflies over register bit T: the splits of one layer. index: of the thread's position
 * with register bits zero. SHORT: the table has only the entries below 2^lg_factors; the others are
 * products of one of them and one of the second table. */
template <int T, bool INVERSE, bool SHORT, bool ONES>
static __device__ __forceinline__ void split(const cuzk_transform_args &a, const window &w, fr *v,
                                             uint32_t index)
{
    if (T > w.top || T <= w.top - w.count) {
        return;
    }
    uint32_t layer = w.lg_blocks + (uint32_t)(w.top - T);
    bool has_second = SHORT && layer + a.is_shifted > a.lg_factors;
#pragma unroll
    for (uint32_t high = 0; high < (4u >> T); high++) {
        if (ONES && T > 0 && high == 0) {
#pragma unroll
            for (uint32_t low = 0; low < (1u << T); low++) {
                fr *p = &v[low], *q = p + (1 << T);
                fr t = *q;
                fr_sub_wide(q, p, &t);
                if (INVERSE) {
                    fr_add_loose(p, p, &t);
                } else {
                    fr_add_wide(p, p, &t);
                }
            }
            continue;
        }
        /* the register bits above T are the lowest of the block's number; columns that do not exist
         * have numbers that are too large */
        uint32_t entry = (index >> (w.shift + T + 1) | high) & low_bits(layer);
        entry += a.is_shifted << layer;
        if (INVERSE) {
            entry = entry == 0 ? a.minus_one : entry ^ (0x7fffffffu >> __clz((int)entry));
        }
        bool is_minus_one = SHORT && entry == a.minus_one; /* it stands behind the first table */
        uint32_t first = is_minus_one ? 1u << a.lg_factors : entry & low_bits(a.lg_factors);
        fr_factor f, second;
        read_factor(&f, a.factors, SHORT ? first : entry);
        if (has_second) {
            read_factor(&second, a.second, is_minus_one ? 0 : entry >> a.lg_factors);
        }
#pragma unroll
        for (uint32_t low = 0; low < (1u << T); low++) {
            fr *p = &v[high << (T + 1) | low], *q = p + (1 << T);
            fr t;
            if (INVERSE) {
                fr_sub_wide(&t, q, p);
                fr_add_loose(p, p, q);
                fr_mul_factor(q, &t, &f);
                if (has_second) {
                    fr_mul_factor(q, q, &second);
                }
            } else {
                fr_mul_factor(&t, q, &f);
                if (has_second) {
                    fr_mul_factor(&t, &t, &second);
                }
                fr_sub_wide(q, p, &t);
                fr_add_wide(p, p, &t);
            }
        }
    }
}

/* The splits of a window. ONES: of the first layers modulo X^n - 1. (With the index made before the
 * exchange, not behind it, ptxas spills less: 27.4 to 26.3 ms for 2^27 forward.) */
template <int LG, bool SHORT, bool ONES>
static __device__ __forceinline__ void
split_window(const cuzk_transform_args &a, fr *v, half_element *shared, uint32_t *base, int number)
{
    window w = window_of<LG>(a, number);
    uint32_t index = index_of<LG>(a, position_of(w.base, 0));
    hold<false>(v, shared, base, w.base);
    split<2, false, SHORT, ONES>(a, w, v, index);
    split<1, false, SHORT, ONES>(a, w, v, index);
    split<0, false, SHORT, ONES>(a, w, v, index);
}

/* The same back. */
template <int LG, bool SHORT, bool ONES>
static __device__ __forceinline__ void join_window(const cuzk_transform_args &a, fr *v,
                                                   half_element *shared, uint32_t *base, int number)
{
    window w = window_of<LG>(a, number);
    uint32_t index = index_of<LG>(a, position_of(w.base, 0));
    hold<true>(v, shared, base, w.base);
    split<0, true, SHORT, ONES>(a, w, v, index);
    split<1, true, SHORT, ONES>(a, w, v, index);
    split<2, true, SHORT, ONES>(a, w, v, index);
}

/* All windows of a pass. ONES: the first one by code of its own where it has factors 1. */
template <int LG, bool SHORT, bool ONES>
static __device__ __forceinline__ void split_windows(const cuzk_transform_args &a, fr *v,
                                                     half_element *shared, uint32_t *base)
{
    int number = 0;
    if (ONES && a.first_layer + a.is_shifted == 0) {
        split_window<LG, SHORT, true>(a, v, shared, base, number++);
    }
#pragma unroll 1
    for (; number < window_count(a); number++) {
        split_window<LG, SHORT, false>(a, v, shared, base, number);
    }
}

template <int LG, bool SHORT, bool ONES>
static __device__ __forceinline__ void join_windows(const cuzk_transform_args &a, fr *v,
                                                    half_element *shared, uint32_t *base)
{
    int to = ONES && a.first_layer + a.is_shifted == 0 ? 1 : 0;
#pragma unroll 1
    for (int number = window_count(a) - 1; number >= to; number--) {
        join_window<LG, SHORT, false>(a, v, shared, base, number);
    }
    if (to != 0) {
        join_window<LG, SHORT, true>(a, v, shared, base, 0);
    }
}

#endif
