/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multiplication in fr by factors that stand in tables, and sums below 2r, for transforms on a
 * device.
 *
 * A factor is stored as w and q = floor(w·2^256/r), both plain. With k = floor(x·q/2^256) the value
 * x·w - k·r lies in [0, 2r) for every x below 2r: one full product less than a Montgomery product,
 * and x may be in Montgomery form, which stays. (V. Shoup's trick, as in his NTL.) The device takes
 * an approximation of k from the upper word products: it is at most one too small, and then only by
 * a part below 2^-29, so that the bound 2r still holds since 2r/2^256 < 0.91.
 * "Loose" values are words below 2r; 4r may exceed 2^256, sums carry into a bit that is dropped
 * after the comparison. */
#ifndef CUZK_FIELD_FACTOR_H
#define CUZK_FIELD_FACTOR_H

#include "field/fields.h"

typedef struct {
    uint64_t w[FR_LIMBS]; /* below r */
    uint64_t q[FR_LIMBS]; /* floor(w·2^256/r) */
} CUZK_MAY_ALIAS fr_factor;

/* 2r */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_twice_modulus(uint64_t *o)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        o[i] = r[i] << 1 | (i == 0 ? 0 : r[i - 1] >> 63);
    }
}

/** The factor that multiplies by a.
 *
 *  A Montgomery reduction of m = a·2^256 mod r finds q with m + q·r = w·2^256, and q is the
 * quotient wanted, since m < r. */
static CUZK_HD inline void fr_factor_from(fr_factor *o, const fr *a)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    uint64_t t[FR_LIMBS];
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        t[i] = a->l[i];
    }
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        uint64_t m = t[0] * CUZK_CC(FR_N0), carry = 0;
        (void)cuzk_mac(m, r[0], t[0], &carry);
        CUZK_UNROLL
        for (int j = 1; j < FR_LIMBS; j++) {
            t[j - 1] = cuzk_mac(m, r[j], t[j], &carry);
        }
        t[FR_LIMBS - 1] = carry;
        o->q[i] = m;
    }
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        o->w[i] = t[i];
    }
}

/** o = x·w modulo r, loose, for loose x. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_mul_factor(fr *o, const fr *x, const fr_factor *f)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
#if CUZK_DEVICE_CODE
    cuzk_ptx_mul_factor(o->l, x->l, f->w, f->q, r, FR_LIMBS);
#else
    uint64_t product[2 * FR_LIMBS], k_r[2 * FR_LIMBS];
    cuzk_limbs_mul(product, x->l, f->q, FR_LIMBS);
    cuzk_limbs_mul(k_r, product + FR_LIMBS, r, FR_LIMBS);
    cuzk_limbs_mul(product, x->l, f->w, FR_LIMBS);
    (void)cuzk_limbs_sub(o->l, product, k_r, FR_LIMBS);
#endif
}

/** o = a + b modulo r; all loose. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_add_loose(fr *o, const fr *a, const fr *b)
{
    uint64_t twice[FR_LIMBS];
    fr_twice_modulus(twice);
#if CUZK_DEVICE_CODE
    cuzk_ptx_add_below(o->l, a->l, b->l, twice, FR_LIMBS);
#else
    uint64_t sum[FR_LIMBS], less[FR_LIMBS];
    uint64_t carry = cuzk_limbs_add(sum, a->l, b->l, FR_LIMBS);
    uint64_t keep = 0 - (cuzk_limbs_sub(less, sum, twice, FR_LIMBS) & ~carry & 1);
    for (int i = 0; i < FR_LIMBS; i++) {
        o->l[i] = (sum[i] & keep) | (less[i] & ~keep);
    }
#endif
}

/** o = a - b modulo r; all loose. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_sub_loose(fr *o, const fr *a, const fr *b)
{
    uint64_t twice[FR_LIMBS];
    fr_twice_modulus(twice);
#if CUZK_DEVICE_CODE
    cuzk_ptx_mod_sub(o->l, a->l, b->l, twice, FR_LIMBS);
#else
    uint64_t difference[FR_LIMBS], carry = 0;
    uint64_t mask = 0 - cuzk_limbs_sub(difference, a->l, b->l, FR_LIMBS);
    for (int i = 0; i < FR_LIMBS; i++) {
        o->l[i] = cuzk_adc(difference[i], twice[i] & mask, &carry);
    }
#endif
}

/** o = the reduced element of a loose one. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_reduce_loose(fr *o, const fr *a)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
#if CUZK_DEVICE_CODE
    cuzk_ptx_reduce_once(o->l, a->l, r, FR_LIMBS);
#else
    cuzk_limbs_reduce_once(o->l, a->l, r, FR_LIMBS);
#endif
}

#endif
