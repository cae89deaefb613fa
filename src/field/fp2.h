/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fp2 = fp[u]/(u² + 1), an element is c0 + c1·u. Part of fields.h, which includes it.
 *
 * p = 3 mod 4 on both curves, so -1 is no square in fp. Products by Karatsuba (3 products, 2
 * reductions), squares by (c0 + c1)(c0 - c1) (2 multiplications). Square roots by the "complex
 * method": two powers, no inversion. */
#ifndef CUZK_FIELD_FP2_H
#define CUZK_FIELD_FP2_H

typedef struct {
    fp c0, c1;
} CUZK_MAY_ALIAS fp2;

#if CUZK_DEVICE_CODE
#include "field/loose_ptx.h"
#endif

/** o = a root of a, either one; returns false and leaves o alone when a is no square. */
static CUZK_HD inline bool fp_sqrt(fp *o, const fp *a)
{
    CUZK_LOCAL_TABLE uint64_t e[FP_LIMBS] = CUZK_CC(FP_SQRT_EXP);
    fp root, check;
    fp_pow(&root, a, e, FP_LIMBS);
    fp_mul(&root, &root, a);
    fp_sqr(&check, &root);
    if (!fp_eq(&check, a)) {
        return false;
    }
    *o = root;
    return true;
}

/** Both coordinates below p? */
static CUZK_HD inline bool fp2_is_reduced(const fp2 *a)
{
    return fp_is_reduced(&a->c0) && fp_is_reduced(&a->c1);
}

/** o = 0. */
static CUZK_HD inline void fp2_set_zero(fp2 *o)
{
    fp_set_zero(&o->c0);
    fp_set_zero(&o->c1);
}

/** o = 1. */
static CUZK_HD inline void fp2_set_one(fp2 *o)
{
    fp_set_one(&o->c0);
    fp_set_zero(&o->c1);
}

/** a = 0? */
static CUZK_HD inline bool fp2_is_zero(const fp2 *a)
{
    return fp_is_zero(&a->c0) && fp_is_zero(&a->c1);
}

/** a = b? */
static CUZK_HD inline bool fp2_eq(const fp2 *a, const fp2 *b)
{
    return fp_eq(&a->c0, &b->c0) && fp_eq(&a->c1, &b->c1);
}

/** a = 1? */
static CUZK_HD inline bool fp2_is_one(const fp2 *a)
{
    return fp_is_one(&a->c0) && fp_is_zero(&a->c1);
}

/** o = a + b. */
static CUZK_HD inline void fp2_add(fp2 *o, const fp2 *a, const fp2 *b)
{
    fp_add(&o->c0, &a->c0, &b->c0);
    fp_add(&o->c1, &a->c1, &b->c1);
}

/** o = a - b. */
static CUZK_HD inline void fp2_sub(fp2 *o, const fp2 *a, const fp2 *b)
{
    fp_sub(&o->c0, &a->c0, &b->c0);
    fp_sub(&o->c1, &a->c1, &b->c1);
}

/** o = 2a. */
static CUZK_HD inline void fp2_dbl(fp2 *o, const fp2 *a)
{
    fp_dbl(&o->c0, &a->c0);
    fp_dbl(&o->c1, &a->c1);
}

/** o = -a. */
static CUZK_HD inline void fp2_neg(fp2 *o, const fp2 *a)
{
    fp_neg(&o->c0, &a->c0);
    fp_neg(&o->c1, &a->c1);
}

/** o = c0 - c1·u, the conjugate of a, which is a^p. */
static CUZK_HD inline void fp2_conj(fp2 *o, const fp2 *a)
{
    o->c0 = a->c0;
    fp_neg(&o->c1, &a->c1);
}

/** o = a·b.
 *
 *  Karatsuba on unreduced products: c1 = (a0 + a1)(b0 + b1) - a0b0 - a1b1 = a0b1 + a1b0 < 2p² and
 *  c0 = a0b0 + p² - a1b1 < 2p² are reduced once each. */
CUZK_FIELD_CALL void fp2_mul(fp2 *o, const fp2 *a, const fp2 *b)
{
#if !CUZK_DEVICE_CODE
    static const uint64_t p_sqr[2 * FP_LIMBS] = CUZK_CC(FP_MODULUS_SQR);
    uint64_t low[2 * FP_LIMBS], high[2 * FP_LIMBS], cross[2 * FP_LIMBS], real[2 * FP_LIMBS];
    uint64_t sum_a[FP_LIMBS], sum_b[FP_LIMBS];
    CUZK_FIELD_CHECK(fp2_is_reduced(a) && fp2_is_reduced(b));
    (void)cuzk_limbs_add(sum_a, a->c0.l, a->c1.l, FP_LIMBS);
    (void)cuzk_limbs_add(sum_b, b->c0.l, b->c1.l, FP_LIMBS);
    fp_mul_wide(low, a->c0.l, b->c0.l);
    fp_mul_wide(high, a->c1.l, b->c1.l);
    (void)cuzk_limbs_add(real, low, p_sqr, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(real, real, high, 2 * FP_LIMBS);
    fp_redc_wide(&o->c0, real); /* long latency: overlaps the next product */
    fp_mul_wide(cross, sum_a, sum_b);
    (void)cuzk_limbs_sub(cross, cross, low, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(cross, cross, high, 2 * FP_LIMBS);
    fp_redc_wide(&o->c1, cross);
#else
    fp2_operand x = {a}, y = {b};
    fp2_product<false>(o, x, y);
#endif
}

/** o = a²: c0 = (a0 + a1)(a0 - a1), c1 = 2·a0·a1. */
CUZK_FIELD_CALL void fp2_sqr(fp2 *o, const fp2 *a)
{
#if !CUZK_DEVICE_CODE
    /* factors up to 2p: products below 4p², and 4p <= 0.9·R on both curves */
    static const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t sum[FP_LIMBS], difference[FP_LIMBS], twice[FP_LIMBS];
    uint64_t product0[2 * FP_LIMBS], product1[2 * FP_LIMBS];
    CUZK_FIELD_CHECK(fp2_is_reduced(a));
    (void)cuzk_limbs_add(sum, a->c0.l, a->c1.l, FP_LIMBS);
    (void)cuzk_limbs_add(difference, a->c0.l, p, FP_LIMBS);
    (void)cuzk_limbs_sub(difference, difference, a->c1.l, FP_LIMBS);
    (void)cuzk_limbs_add(twice, a->c0.l, a->c0.l, FP_LIMBS);
    fp_mul_wide(product0, sum, difference);
    fp_mul_wide(product1, twice, a->c1.l);
    fp_redc_wide(&o->c0, product0);
    fp_redc_wide(&o->c1, product1);
#else
    fp2_sqr_to_loose(o, a);
    fp2_reduce_loose(o, o);
#endif
}

/** o = a·b for b in fp. */
static CUZK_HD inline void fp2_mul_fp(fp2 *o, const fp2 *a, const fp *b)
{
    fp factor = *b; /* b may be a coordinate of o */
    fp_mul(&o->c0, &a->c0, &factor);
    fp_mul(&o->c1, &a->c1, &factor);
}

/** o = a·XI, XI = 9 + u on bn254, 1 + u on bls12_381: the cubic and quadratic non-residue on which
 *  the tower stands. */
static CUZK_HD inline void fp2_mul_by_xi(fp2 *o, const fp2 *a)
{
    fp t0 = a->c0, t1 = a->c1;
#if CUZK_CURVE_IS_BN254
    for (int i = 0; i < 3; i++) {
        fp_dbl(&t0, &t0);
        fp_dbl(&t1, &t1);
    }
    fp_add(&t0, &t0, &a->c0); /* 9·c0 */
    fp_add(&t1, &t1, &a->c1); /* 9·c1 */
#endif
    fp_sub(&t0, &t0, &a->c1);
    fp_add(&o->c1, &t1, &a->c0);
    o->c0 = t0;
}

#define F(name) fp2_##name
#define F_T     fp2
#include "field/pow_tmpl.h"
#undef F
#undef F_T

/** o = 1/a; 0 gives 0. */
static CUZK_HD inline void fp2_inv(fp2 *o, const fp2 *a)
{
    fp norm, square;
    fp_sqr(&norm, &a->c0);
    fp_sqr(&square, &a->c1);
    fp_add(&norm, &norm, &square);
    fp_inv(&norm, &norm);
    fp_mul(&o->c0, &a->c0, &norm);
    fp_mul(&o->c1, &a->c1, &norm);
    fp_neg(&o->c1, &o->c1);
}

#define F(name) fp2_##name
#define F_T     fp2
#include "field/batch_inv_tmpl.h"
#undef F
#undef F_T

/** o = a root of a, either one; returns false and leaves o alone when a is no square.
 *
 *  With N = c0² + c1² = s² (a is a square exactly if N is one), t = (c0 + s)/2 and
 *  w = t^((p-3)/4), y = w·t: either y² = t, then the root is y + c1·w/2·u (w = 1/y), or y² = -t
 *  and (c0 - s)/2 = (c1/2y)² gives the root -c1·w/2 + y·u (w = -1/y). */
static CUZK_HD inline bool fp2_sqrt(fp2 *o, const fp2 *a)
{
    CUZK_LOCAL_TABLE uint64_t e[FP_LIMBS] = CUZK_CC(FP_SQRT_EXP);
    CUZK_LOCAL_TABLE fp half = CUZK_CC(FP_HALF);
    fp s, t, w, y, other, square;
    if (fp_is_zero(&a->c1)) { /* a root of c0 or of -c0 exists in fp */
        fp_neg(&t, &a->c0);
        if (fp_sqrt(&y, &a->c0)) {
            o->c0 = y;
            fp_set_zero(&o->c1);
            return true;
        }
        if (!fp_sqrt(&y, &t)) {
            return false;
        }
        fp_set_zero(&o->c0);
        o->c1 = y;
        return true;
    }
    fp_sqr(&s, &a->c0);
    fp_sqr(&t, &a->c1);
    fp_add(&s, &s, &t);
    if (!fp_sqrt(&s, &s)) {
        return false;
    }
    fp_add(&t, &a->c0, &s);
    fp_mul(&t, &t, &half);
    fp_pow(&w, &t, e, FP_LIMBS);
    fp_mul(&y, &w, &t);
    fp_mul(&other, &w, &a->c1);
    fp_mul(&other, &other, &half);
    fp_sqr(&square, &y);
    if (fp_eq(&square, &t)) {
        o->c0 = y;
        o->c1 = other;
    } else {
        fp_neg(&o->c0, &other);
        o->c1 = y;
    }
    return true;
}

/** o from 2·FP_LIMBS words of plain integers, c0 first (any values, taken modulo p). */
static CUZK_HD inline void fp2_from_canonical(fp2 *o, const uint64_t *limbs)
{
    fp_from_canonical(&o->c0, limbs);
    fp_from_canonical(&o->c1, limbs + FP_LIMBS);
}

/** limbs = plain integers c0, c1, 2·FP_LIMBS words. */
static CUZK_HD inline void fp2_to_canonical(uint64_t *limbs, const fp2 *a)
{
    fp_to_canonical(limbs, &a->c0);
    fp_to_canonical(limbs + FP_LIMBS, &a->c1);
}

/** o = the element stored at src (16·FP_LIMBS bytes, c0 first, any alignment), not checked. */
static CUZK_HD inline void fp2_load(fp2 *o, const void *src)
{
    fp_load(&o->c0, src);
    fp_load(&o->c1, (const char *)src + sizeof(fp));
}

/** Store a at dst (16·FP_LIMBS bytes, c0 first, any alignment). */
static CUZK_HD inline void fp2_store(void *dst, const fp2 *a)
{
    fp_store(dst, &a->c0);
    fp_store((char *)dst + sizeof(fp), &a->c1);
}

#endif
