/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Decoding of a key's points in place: point_decode.h says what. Built for bls12_381, the only
 * curve that has such an encoding.
 *
 * Floor: bytes, each read and written once: a G1 point takes 5 multiplications of fp, which at 192
 * bytes a point hide behind memory. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/point_decode.h"
#include "field/fields.h"

/* Little-endian words of a big-endian number whose words stand in memory order. */
static __device__ __forceinline__ void swap_words(uint64_t *o, const uint64_t *in)
{
#pragma unroll
    for (int i = 0; i < FP_LIMBS; i++) {
        uint64_t w = in[FP_LIMBS - 1 - i];
        w = (w & UINT64_C(0x00ff00ff00ff00ff)) << 8 | (w >> 8 & UINT64_C(0x00ff00ff00ff00ff));
        w = (w & UINT64_C(0x0000ffff0000ffff)) << 16 | (w >> 16 & UINT64_C(0x0000ffff0000ffff));
        o[i] = w << 32 | w >> 32;
    }
}

/* A coordinate below p; flags stand in bits that a number below p has not. */
static __device__ __forceinline__ bool read_fp(fp *o, const uint64_t *at)
{
    CUZK_LOCAL_TABLE uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t in[FP_LIMBS], plain[FP_LIMBS];
    cuzk_read_words(in, at, FP_LIMBS);
    swap_words(plain, in);
    bool is_less = false;
#pragma unroll
    for (int i = 0; i < FP_LIMBS; i++) { /* the highest word that differs decides */
        is_less = plain[i] < p[i] || (plain[i] == p[i] && is_less);
    }
    fp_from_canonical(o, plain);
    return is_less;
}

static __device__ __forceinline__ bool read_fp2(fp2 *o, const uint64_t *at)
{
    bool has_c1 = read_fp(&o->c1, at), has_c0 = read_fp(&o->c0, at + FP_LIMBS);
    return has_c0 && has_c1;
}

static __device__ __forceinline__ void report(const cuzk_decode_args &a, uint32_t i)
{
    (void)atomicMax(a.worst, 0xffffffffu - (a.first + i));
}

CUZK_KERNEL __launch_bounds__(CUZK_DECODE_BLOCK) g1_decode(cuzk_decode_args a)
{
    CUZK_LOCAL_TABLE fp b = CUZK_CC(B);
    uint32_t i = blockIdx.x * CUZK_DECODE_BLOCK + threadIdx.x;
    if (i >= a.n) {
        return;
    }
    uint64_t *at = (uint64_t *)a.points + 2 * FP_LIMBS * (size_t)i;
    fp x, y, l, r;
    bool is_good = read_fp(&x, at);
    is_good = read_fp(&y, at + FP_LIMBS) && is_good;
    fp_sqr(&l, &y);
    fp_sqr(&r, &x);
    fp_mul(&r, &r, &x);
    fp_add(&r, &r, &b);
    if (!is_good || !fp_eq(&l, &r)) {
        report(a, i);
    }
    cuzk_write_words(at, x.l, FP_LIMBS);
    cuzk_write_words(at + FP_LIMBS, y.l, FP_LIMBS);
}

CUZK_KERNEL __launch_bounds__(CUZK_DECODE_BLOCK) g2_decode(cuzk_decode_args a)
{
    CUZK_LOCAL_TABLE fp2 b = CUZK_CC(B2);
    uint32_t i = blockIdx.x * CUZK_DECODE_BLOCK + threadIdx.x;
    if (i >= a.n) {
        return;
    }
    uint64_t *at = (uint64_t *)a.points + 4 * FP_LIMBS * (size_t)i;
    fp2 x, y, l, r;
    bool is_good = read_fp2(&x, at);
    is_good = read_fp2(&y, at + 2 * FP_LIMBS) && is_good;
    fp2_sqr(&l, &y);
    fp2_sqr(&r, &x);
    fp2_mul(&r, &r, &x);
    fp2_add(&r, &r, &b);
    if (!is_good || !fp2_eq(&l, &r)) {
        report(a, i);
    }
    cuzk_write_words(at, x.c0.l, FP_LIMBS);
    cuzk_write_words(at + FP_LIMBS, x.c1.l, FP_LIMBS);
    cuzk_write_words(at + 2 * FP_LIMBS, y.c0.l, FP_LIMBS);
    cuzk_write_words(at + 3 * FP_LIMBS, y.c1.l, FP_LIMBS);
}
