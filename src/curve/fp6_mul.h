/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Products in fp6, full and sparse: part of tower.h. By Karatsuba, with as few reductions as the
 * size of p allows.
 *
 * bls12_381: p is 0.102·2^384, so a reduction takes sums of products up to 8.8 p² (fp_redc_wide).
 * Coordinates of a product are summed as plain integers of 12 words and reduced once each: six
 * reductions a product instead of twelve. Differences are taken modulo 2^768; the integer that they
 * stand for is bounded, for a single product ab of fp2, by
 *   Re(ab) in (-p², p²), Im(ab) in [0, 2p²), Re(XI·ab) in (-2p², p²), Im(XI·ab) in (-p², 2p²),
 * and every sum below lies in (-5p², 3p²) (real part) and (-2p², 6p²) (imaginary part), to which
 * 5p² and 2p² are added. Method: Aranha et al. 2011 (see pairing.h), section 5.
 *
 * bn254: p is 0.189·2^256; a reduction takes 4.7 p² only, which a sum with XI = 9 + u exceeds.
 * Products are reduced one by one. */
#ifndef CUZK_CURVE_FP6_MUL_H
#define CUZK_CURVE_FP6_MUL_H

#if CUZK_CURVE_IS_BLS12_381

/* An element of fp2 times 2^384, each coordinate a plain integer modulo 2^768. */
typedef struct {
    uint64_t c0[2 * FP_LIMBS], c1[2 * FP_LIMBS];
} fp2_wide;

/* o = a·b as integers; the coordinates of a and b may be sums of two (below 2p). */
CUZK_FIELD_CALL void fp2_wide_mul(fp2_wide *o, const fp2 *a, const fp2 *b)
{
    uint64_t high[2 * FP_LIMBS], sum_a[FP_LIMBS], sum_b[FP_LIMBS];
    (void)cuzk_limbs_add(sum_a, a->c0.l, a->c1.l, FP_LIMBS);
    (void)cuzk_limbs_add(sum_b, b->c0.l, b->c1.l, FP_LIMBS);
    fp_mul_wide(o->c1, sum_a, sum_b);
    fp_mul_wide(o->c0, a->c0.l, b->c0.l);
    fp_mul_wide(high, a->c1.l, b->c1.l);
    (void)cuzk_limbs_sub(o->c1, o->c1, o->c0, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(o->c1, o->c1, high, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(o->c0, o->c0, high, 2 * FP_LIMBS);
}

static inline void fp2_wide_add(fp2_wide *o, const fp2_wide *a, const fp2_wide *b)
{
    (void)cuzk_limbs_add(o->c0, a->c0, b->c0, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(o->c1, a->c1, b->c1, 2 * FP_LIMBS);
}

static inline void fp2_wide_sub(fp2_wide *o, const fp2_wide *a, const fp2_wide *b)
{
    (void)cuzk_limbs_sub(o->c0, a->c0, b->c0, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(o->c1, a->c1, b->c1, 2 * FP_LIMBS);
}

/* o = o + XI·a, XI = 1 + u. */
static inline void fp2_wide_add_xi(fp2_wide *o, const fp2_wide *a)
{
    (void)cuzk_limbs_add(o->c0, o->c0, a->c0, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(o->c0, o->c0, a->c1, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(o->c1, o->c1, a->c0, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(o->c1, o->c1, a->c1, 2 * FP_LIMBS);
}

/* o = w reduced, for real part in (-5p², 3p²) and imaginary part in (-2p², 6p²). */
static inline void fp2_wide_reduce(fp2 *o, const fp2_wide *w)
{
    static const uint64_t five[2 * FP_LIMBS] = CUZK_CC(FP_MODULUS_SQR_X5);
    static const uint64_t two[2 * FP_LIMBS] = CUZK_CC(FP_MODULUS_SQR_X2);
    uint64_t t[2 * FP_LIMBS];
    (void)cuzk_limbs_add(t, w->c0, five, 2 * FP_LIMBS);
    fp_redc_wide(&o->c0, t);
    (void)cuzk_limbs_add(t, w->c1, two, 2 * FP_LIMBS);
    fp_redc_wide(&o->c1, t);
}

/* o = a + b without reduction. */
static inline void fp2_add_plain(fp2 *o, const fp2 *a, const fp2 *b)
{
    (void)cuzk_limbs_add(o->c0.l, a->c0.l, b->c0.l, FP_LIMBS);
    (void)cuzk_limbs_add(o->c1.l, a->c1.l, b->c1.l, FP_LIMBS);
}

/* (a0 + a1)(b0 + b1) - m0 - m1 = a0b1 + a1b0: the mixed term beside m0 = a0b0, m1 = a1b1. */
static inline void fp2_wide_mul_mixed(fp2_wide *o, const fp2 *a0, const fp2 *a1, const fp2 *b0,
                                      const fp2 *b1, const fp2_wide *m0, const fp2_wide *m1)
{
    fp2 s, t;
    fp2_add_plain(&s, a0, a1);
    fp2_add_plain(&t, b0, b1);
    fp2_wide_mul(o, &s, &t);
    fp2_wide_sub(o, o, m0);
    fp2_wide_sub(o, o, m1);
}

/** o = a·b. 6M. */
CUZK_FIELD_CALL void fp6_mul(fp6 *o, const fp6 *a, const fp6 *b)
{
    fp2_wide m0, m1, m2, t0, t1, t2;
    fp2_wide_mul(&m0, &a->c0, &b->c0);
    fp2_wide_mul(&m1, &a->c1, &b->c1);
    fp2_wide_mul(&m2, &a->c2, &b->c2);
    fp2_wide_mul_mixed(&t0, &a->c1, &a->c2, &b->c1, &b->c2, &m1, &m2);
    fp2_wide_mul_mixed(&t1, &a->c0, &a->c1, &b->c0, &b->c1, &m0, &m1);
    fp2_wide_mul_mixed(&t2, &a->c0, &a->c2, &b->c0, &b->c2, &m0, &m2);
    fp2_wide_add_xi(&m0, &t0);
    fp2_wide_reduce(&o->c0, &m0);
    fp2_wide_add_xi(&t1, &m2);
    fp2_wide_reduce(&o->c1, &t1);
    fp2_wide_add(&t2, &t2, &m1);
    fp2_wide_reduce(&o->c2, &t2);
}

/** o = a·(b0 + b1·v). 5M. */
CUZK_FIELD_CALL void fp6_mul_01(fp6 *o, const fp6 *a, const fp2 *b0, const fp2 *b1)
{
    fp2_wide m0, m1, t0, t1, t2;
    fp2_wide_mul(&m0, &a->c0, b0);
    fp2_wide_mul(&m1, &a->c1, b1);
    fp2_wide_mul(&t0, &a->c2, b1);
    fp2_wide_mul(&t2, &a->c2, b0);
    fp2_wide_mul_mixed(&t1, &a->c0, &a->c1, b0, b1, &m0, &m1);
    fp2_wide_add_xi(&m0, &t0);
    fp2_wide_reduce(&o->c0, &m0);
    fp2_wide_reduce(&o->c1, &t1);
    fp2_wide_add(&t2, &t2, &m1);
    fp2_wide_reduce(&o->c2, &t2);
}

/** o = a·(b1·v + b2·v²). 5M. */
CUZK_FIELD_CALL void fp6_mul_12(fp6 *o, const fp6 *a, const fp2 *b1, const fp2 *b2)
{
    fp2_wide m1, m2, t0, t1, t2;
    fp2 s;
    fp2_wide_mul(&m1, &a->c1, b1);
    fp2_wide_mul(&m2, &a->c2, b2);
    fp2_wide_mul(&t1, &a->c0, b1);
    fp2_wide_mul(&t2, &a->c0, b2);
    fp2_wide_mul_mixed(&t0, &a->c1, &a->c2, b1, b2, &m1, &m2);
    fp2_wide_reduce(&s, &t0);
    fp2_mul_by_xi(&o->c0, &s);
    fp2_wide_add_xi(&t1, &m2);
    fp2_wide_reduce(&o->c1, &t1);
    fp2_wide_add(&t2, &t2, &m1);
    fp2_wide_reduce(&o->c2, &t2);
}

/** The six products of two triples that are not elements of fp6 (lines, pairing.h): o0 = a0b0 +
 *  XI·a2b2, o1 = a0b1 + a1b0, o2 = a1b1, o3 = a0b2 + a2b0, o4 = a1b2 + a2b1. 6M. */
CUZK_FIELD_CALL void fp6_cross(fp2 o[5], const fp6 *a, const fp6 *b)
{
    fp2_wide m0, m1, m2, t1, t3, t4;
    fp2_wide_mul(&m0, &a->c0, &b->c0);
    fp2_wide_mul(&m1, &a->c1, &b->c1);
    fp2_wide_mul(&m2, &a->c2, &b->c2);
    fp2_wide_mul_mixed(&t1, &a->c0, &a->c1, &b->c0, &b->c1, &m0, &m1);
    fp2_wide_mul_mixed(&t3, &a->c0, &a->c2, &b->c0, &b->c2, &m0, &m2);
    fp2_wide_mul_mixed(&t4, &a->c1, &a->c2, &b->c1, &b->c2, &m1, &m2);
    fp2_wide_add_xi(&m0, &m2);
    fp2_wide_reduce(&o[0], &m0);
    fp2_wide_reduce(&o[1], &t1);
    fp2_wide_reduce(&o[2], &m1);
    fp2_wide_reduce(&o[3], &t3);
    fp2_wide_reduce(&o[4], &t4);
}

#else /* bn254 */

/* (a0 + a1)(b0 + b1) - m0 - m1: the mixed term of a product whose two others are known. */
static inline void fp2_mul_mixed(fp2 *o, const fp2 *a0, const fp2 *a1, const fp2 *b0, const fp2 *b1,
                                 const fp2 *m0, const fp2 *m1)
{
    fp2 s, t;
    fp2_add(&s, a0, a1);
    fp2_add(&t, b0, b1);
    fp2_mul(&s, &s, &t);
    fp2_sub(&s, &s, m0);
    fp2_sub(o, &s, m1);
}

/** o = a·b. 6M. */
CUZK_FIELD_CALL void fp6_mul(fp6 *o, const fp6 *a, const fp6 *b)
{
    fp2 m0, m1, m2, t0, t1, t2;
    fp2_mul(&m0, &a->c0, &b->c0);
    fp2_mul(&m1, &a->c1, &b->c1);
    fp2_mul(&m2, &a->c2, &b->c2);
    fp2_mul_mixed(&t0, &a->c1, &a->c2, &b->c1, &b->c2, &m1, &m2);
    fp2_mul_mixed(&t1, &a->c0, &a->c1, &b->c0, &b->c1, &m0, &m1);
    fp2_mul_mixed(&t2, &a->c0, &a->c2, &b->c0, &b->c2, &m0, &m2);
    fp2_mul_by_xi(&t0, &t0);
    fp2_mul_by_xi(&m2, &m2);
    fp2_add(&o->c0, &m0, &t0);
    fp2_add(&o->c1, &t1, &m2);
    fp2_add(&o->c2, &t2, &m1);
}

/** o = a·(b0 + b1·v). 5M. */
CUZK_FIELD_CALL void fp6_mul_01(fp6 *o, const fp6 *a, const fp2 *b0, const fp2 *b1)
{
    fp2 m0, m1, t0, t1, t2;
    fp2_mul(&m0, &a->c0, b0);
    fp2_mul(&m1, &a->c1, b1);
    fp2_mul(&t0, &a->c2, b1);
    fp2_mul(&t2, &a->c2, b0);
    fp2_mul_mixed(&t1, &a->c0, &a->c1, b0, b1, &m0, &m1);
    fp2_mul_by_xi(&t0, &t0);
    fp2_add(&o->c0, &m0, &t0);
    o->c1 = t1;
    fp2_add(&o->c2, &m1, &t2);
}

/** o = a·(b1·v + b2·v²). 5M. */
CUZK_FIELD_CALL void fp6_mul_12(fp6 *o, const fp6 *a, const fp2 *b1, const fp2 *b2)
{
    fp2 m1, m2, t0, t1, t2;
    fp2_mul(&m1, &a->c1, b1);
    fp2_mul(&m2, &a->c2, b2);
    fp2_mul(&t1, &a->c0, b1);
    fp2_mul(&t2, &a->c0, b2);
    fp2_mul_mixed(&t0, &a->c1, &a->c2, b1, b2, &m1, &m2);
    fp2_mul_by_xi(&o->c0, &t0);
    fp2_mul_by_xi(&m2, &m2);
    fp2_add(&o->c1, &t1, &m2);
    fp2_add(&o->c2, &t2, &m1);
}

/** The six products of two triples: as above. */
CUZK_FIELD_CALL void fp6_cross(fp2 o[5], const fp6 *a, const fp6 *b)
{
    fp2 m2;
    fp2_mul(&o[0], &a->c0, &b->c0);
    fp2_mul(&o[2], &a->c1, &b->c1);
    fp2_mul(&m2, &a->c2, &b->c2);
    fp2_mul_mixed(&o[1], &a->c0, &a->c1, &b->c0, &b->c1, &o[0], &o[2]);
    fp2_mul_mixed(&o[3], &a->c0, &a->c2, &b->c0, &b->c2, &o[0], &m2);
    fp2_mul_mixed(&o[4], &a->c1, &a->c2, &b->c1, &b->c2, &o[2], &m2);
    fp2_mul_by_xi(&m2, &m2);
    fp2_add(&o[0], &o[0], &m2);
}

#endif

#endif
