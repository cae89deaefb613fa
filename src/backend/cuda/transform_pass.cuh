/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A pass of a transform: elements from memory, its layers, elements to memory; and what quotients
 * do where a pass reads or writes.
 *
 * Floor of a pass of nine layers: 4.5 factor multiplications an element (372 lane-cycles each on
 * bls12_381), and 64 bytes to and from memory; the last pass reads a factor of 64 bytes an element
 * too. */
#ifndef CUZK_BACKEND_CUDA_TRANSFORM_PASS_CUH
#define CUZK_BACKEND_CUDA_TRANSFORM_PASS_CUH

#include "backend/cuda/transform_split.cuh"

/* Before the declarator of a kernel whose blocks take 2^lg_tile elements: 128 registers a thread,
 * so that 512 threads fit an SM. */
#define CUZK_PASS_KERNEL(lg_tile)                                                                  \
    CUZK_KERNEL __launch_bounds__(1 << ((lg_tile)-CUZK_TRANSFORM_LG_HELD),                         \
                                  512 >> ((lg_tile)-CUZK_TRANSFORM_LG_HELD))

static __device__ __forceinline__ void read_element(fr *o, const void *array, uint32_t i)
{
    cuzk_read_words(o->l, (const fr *)array + i, FR_LIMBS);
}

/* Have element i on its way to the cache. */
static __device__ __forceinline__ void expect_element(const void *array, uint32_t i)
{
#if defined(CUZK_EMULATED_DEVICE)
    (void)array;
    (void)i;
#else
    asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global((const fr *)array + i)));
#endif
}

/* o = o times element i of right / 2^halvings. */
static __device__ __forceinline__ void multiply_by(fr *o, const cuzk_transform_args &a, uint32_t i)
{
    fr right;
    read_element(&right, a.right, i);
    fr_mul(o, o, &right);
    if (a.halvings != 0) {
        fr_halve(o, o, a.halvings);
    }
}

template <int LG, bool INVERSE, bool FUSED>
static __device__ __forceinline__ void load(const cuzk_transform_args &a, fr *v, uint32_t base)
{
    bool is_product = FUSED && INVERSE && a.right != NULL && bits_below(a) == 0;
    const void *from = is_product ? a.left : a.values;
    places p = places_of<LG>(a, base);
    uint32_t index[HELD];
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        index[i] = place<LG, INVERSE>(a, p, base, i);
        index[i] = exists<LG>(a, index[i]) ? index[i] : 0;
        if (is_product) {
            expect_element(a.right, index[i]);
        }
        read_element(&v[i], from, index[i]);
    }
    if (is_product) {
#pragma unroll
        for (uint32_t i = 0; i < HELD; i++) {
            multiply_by(&v[i], a, index[i]);
        }
    }
}

/* Between passes values stay as they are: wide, of an inverse transform loose. */
template <int LG, bool INVERSE, bool FUSED>
static __device__ __forceinline__ void store(const cuzk_transform_args &a, fr *v, uint32_t base)
{
    bool is_last = INVERSE ? a.first_layer == 0 : bits_below(a) == 0;
    bool is_product = FUSED && !INVERSE && is_last && a.right != NULL;
    bool is_difference = FUSED && INVERSE && is_last && a.minuend != NULL;
    fr *to = (fr *)(is_product ? a.left : a.values);
    places p = places_of<LG>(a, base);
    if (is_product || is_difference) {
#pragma unroll
        for (uint32_t i = 0; i < HELD; i++) {
            uint32_t index = exists<LG>(a, place<LG, INVERSE>(a, p, base, i))
                                 ? place<LG, INVERSE>(a, p, base, i)
                                 : 0;
            expect_element(INVERSE ? a.minuend : a.left, index);
            if (!INVERSE) {
                expect_element(a.right, index);
            }
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < HELD; i++) {
        uint32_t index = place<LG, INVERSE>(a, p, base, i);
        bool is_there = exists<LG>(a, index);
        if (is_product || is_difference) {
            fr other;
            read_element(&other, INVERSE ? a.minuend : a.left, is_there ? index : 0);
            if (!INVERSE) {
                multiply_by(&other, a, is_there ? index : 0);
                fr_loosen_wide(&v[i], &v[i]);
            }
            fr_reduce_loose(&v[i], &v[i]);
            fr_sub(&v[i], &other, &v[i]);
        }
        if (FUSED && a.is_scaled != 0) {
            fr_mul_factor(&v[i], &v[i], (const fr_factor *)a.scale);
        }
        if (is_last) {
            if (!INVERSE) {
                fr_loosen_wide(&v[i], &v[i]);
            }
            fr_reduce_loose(&v[i], &v[i]);
        }
        if (is_there) {
            cuzk_write_words(to + index, v[i].l, FR_LIMBS);
        }
    }
}

template <int LG, bool SHORT, bool FUSED, bool ONES>
static __device__ __forceinline__ void run_forward(const cuzk_transform_args &a)
{
    __shared__ half_element shared[HALVES(LG)];
    fr v[HELD];
    uint32_t base = memory_base(a, window_of<LG>(a, 0).base);
    load<LG, false, FUSED>(a, v, base);
    split_windows<LG, SHORT, ONES>(a, v, shared, &base);
    hold<false>(v, shared, &base, memory_base(a, base));
    store<LG, false, FUSED>(a, v, base);
}

/* The window that an inverse pass begins with. */
template <int LG> static __device__ __forceinline__ uint32_t last_base(const cuzk_transform_args &a)
{
    int count = window_count(a);
    return memory_base(a, count == 0 ? 0 : window_of<LG>(a, count - 1).base);
}

template <int LG, bool SHORT, bool FUSED, bool ONES>
static __device__ __forceinline__ void run_inverse(const cuzk_transform_args &a)
{
    __shared__ half_element shared[HALVES(LG)];
    fr v[HELD];
    uint32_t base = last_base<LG>(a);
    load<LG, true, FUSED>(a, v, base);
    join_windows<LG, SHORT, ONES>(a, v, shared, &base);
    hold<true>(v, shared, &base, memory_base(a, base));
    store<LG, true, FUSED>(a, v, base);
}

/* The last pass of an inverse transform modulo X^n - 1 and the first one of a forward transform
 * modulo X^n + 1. */
template <int LG> static __device__ __forceinline__ void run_turn(cuzk_transform_args &a)
{
    __shared__ half_element shared[HALVES(LG)];
    fr v[HELD];
    uint32_t base = last_base<LG>(a);
    load<LG, true, false>(a, v, base);
    join_windows<LG, false, true>(a, v, shared, &base);
    a.is_shifted = 1;
    split_windows<LG, false, false>(a, v, shared, &base);
    hold<false>(v, shared, &base, memory_base(a, base));
    store<LG, false, false>(a, v, base);
}

#endif
