/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The zcash encoding of bls12_381 points: big endian, three flag bits on top of the first byte.
 *
 *   0x80  compressed: x only     0x40  infinity: every other bit is zero
 *   0x20  y is the larger of y and -y (compressed only)
 * G2 coordinates are written with the coefficient of u first. Of two elements of Fp2 the one with
 * the larger u-coefficient is larger, then the other coefficient counts. Every point has exactly
 * one encoding of each form; decoding refuses everything else. bn254 has none: its p has 254 bits.
 */
#ifndef CUZK_CURVE_POINT_ENCODING_H
#define CUZK_CURVE_POINT_ENCODING_H

#include "base/bytes.h"
#include "curve/curve.h"
#include "curve/scalar_mul.h"

enum { POINT_COMPRESSED = 0x80, POINT_INFINITY = 0x40, POINT_LARGER_Y = 0x20, POINT_FLAGS = 0xe0 };

/** 48 bytes, big endian, plain form. */
static inline void fp_encode(uint8_t *out, const fp *a)
{
    uint64_t limbs[FP_LIMBS];
    fp_to_canonical(limbs, a);
    for (int i = 0; i < FP_LIMBS; i++) {
        cuzk_store_u64_be(out + 8 * i, limbs[FP_LIMBS - 1 - i]);
    }
}

/** The same back, without the bits of drop in the first byte. False when not below p. */
static inline bool fp_decode(fp *o, const uint8_t *in, uint8_t drop)
{
    static const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t limbs[FP_LIMBS];
    for (int i = 0; i < FP_LIMBS; i++) {
        limbs[FP_LIMBS - 1 - i] = cuzk_load_u64_be(in + 8 * i);
    }
    limbs[FP_LIMBS - 1] &= ~((uint64_t)drop << 56);
    if (!cuzk_limbs_less(limbs, p, FP_LIMBS)) {
        return false;
    }
    fp_from_canonical(o, limbs);
    return true;
}

/** a > (p-1)/2, that is a > -a? Then 2a as an integer exceeds p. */
static inline bool fp_is_larger(const fp *a)
{
    static const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t limbs[FP_LIMBS];
    fp_to_canonical(limbs, a);
    (void)cuzk_limbs_add(limbs, limbs, limbs, FP_LIMBS);
    return cuzk_limbs_less(p, limbs, FP_LIMBS);
}

static inline void fp2_encode(uint8_t *out, const fp2 *a)
{
    fp_encode(out, &a->c1);
    fp_encode(out + sizeof(fp), &a->c0);
}

static inline bool fp2_decode(fp2 *o, const uint8_t *in, uint8_t drop)
{
    return fp_decode(&o->c1, in, drop) && fp_decode(&o->c0, in + sizeof(fp), 0);
}

static inline bool fp2_is_larger(const fp2 *a)
{
    return fp_is_larger(fp_is_zero(&a->c1) ? &a->c0 : &a->c1);
}

#define PT(name) g1_##name
#define CF(name) fp_##name
#define CF_TYPE  fp
#define PT_B     CUZK_CC(B)
#include "curve/encoding_tmpl.h"

#define PT(name) g2_##name
#define CF(name) fp2_##name
#define CF_TYPE  fp2
#define PT_B     CUZK_CC(B2)
#include "curve/encoding_tmpl.h"

#endif
