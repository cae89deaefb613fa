/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fp6 = fp2[v]/(v³ - XI) and fp12 = fp6[w]/(w² - v) of one curve, for the pairing.
 *
 * An fp12 lies in memory as struct cuzk_gt of curve.h. All coordinates are reduced; outputs may
 * alias inputs. Costs are given in M and S, multiplications and squarings of fp2.
 *
 * Sources: Devegili, O hEigeartaigh, Scott, Dahab, "Multiplication and Squaring on Pairing-Friendly
 * Fields" (2006); Granger, Scott, "Faster Squaring in the Cyclotomic Subgroup of Sixth Degree
 * Extensions" (2010); Karabina, "Squaring in Cyclotomic Subgroups" (2013). */
#ifndef CUZK_CURVE_TOWER_H
#define CUZK_CURVE_TOWER_H

#include "field/fields.h"

typedef struct CUZK_MAY_ALIAS {
    fp2 c0, c1, c2;
} fp6;

typedef struct CUZK_MAY_ALIAS {
    fp6 c0, c1;
} fp12;

/* ---- fp6 ---- */

/** o = 0. */
static inline void fp6_set_zero(fp6 *o)
{
    fp2_set_zero(&o->c0);
    fp2_set_zero(&o->c1);
    fp2_set_zero(&o->c2);
}

/** o = a + b. */
static inline void fp6_add(fp6 *o, const fp6 *a, const fp6 *b)
{
    fp2_add(&o->c0, &a->c0, &b->c0);
    fp2_add(&o->c1, &a->c1, &b->c1);
    fp2_add(&o->c2, &a->c2, &b->c2);
}

/** o = a - b. */
static inline void fp6_sub(fp6 *o, const fp6 *a, const fp6 *b)
{
    fp2_sub(&o->c0, &a->c0, &b->c0);
    fp2_sub(&o->c1, &a->c1, &b->c1);
    fp2_sub(&o->c2, &a->c2, &b->c2);
}

/** o = -a. */
static inline void fp6_neg(fp6 *o, const fp6 *a)
{
    fp2_neg(&o->c0, &a->c0);
    fp2_neg(&o->c1, &a->c1);
    fp2_neg(&o->c2, &a->c2);
}

/** o = a·v. */
static inline void fp6_mul_by_v(fp6 *o, const fp6 *a)
{
    fp2 t;
    fp2_mul_by_xi(&t, &a->c2);
    o->c2 = a->c1;
    o->c1 = a->c0;
    o->c0 = t;
}

#include "curve/fp6_mul.h"

/** o = a·b for b in fp2. 3M. */
static inline void fp6_mul_fp2(fp6 *o, const fp6 *a, const fp2 *b)
{
    fp2_mul(&o->c0, &a->c0, b);
    fp2_mul(&o->c1, &a->c1, b);
    fp2_mul(&o->c2, &a->c2, b);
}

/** o = 1/a; 0 gives 0. 9M + 3S and an inversion. */
static inline void fp6_inv(fp6 *o, const fp6 *a)
{
    fp2 t0, t1, t2, s, n;
    fp2_sqr(&t0, &a->c0);
    fp2_mul(&s, &a->c1, &a->c2);
    fp2_mul_by_xi(&s, &s);
    fp2_sub(&t0, &t0, &s); /* c0² - XI·c1·c2 */
    fp2_sqr(&t1, &a->c2);
    fp2_mul_by_xi(&t1, &t1);
    fp2_mul(&s, &a->c0, &a->c1);
    fp2_sub(&t1, &t1, &s); /* XI·c2² - c0·c1 */
    fp2_sqr(&t2, &a->c1);
    fp2_mul(&s, &a->c0, &a->c2);
    fp2_sub(&t2, &t2, &s); /* c1² - c0·c2 */
    fp2_mul(&n, &a->c2, &t1);
    fp2_mul(&s, &a->c1, &t2);
    fp2_add(&n, &n, &s);
    fp2_mul_by_xi(&n, &n);
    fp2_mul(&s, &a->c0, &t0);
    fp2_add(&n, &n, &s); /* the norm to fp2 */
    fp2_inv(&n, &n);
    fp2_mul(&o->c0, &t0, &n);
    fp2_mul(&o->c1, &t1, &n);
    fp2_mul(&o->c2, &t2, &n);
}

/* ---- fp12 ---- */

/** o = 1. */
static inline void fp12_set_one(fp12 *o)
{
    fp6_set_zero(&o->c0);
    fp6_set_zero(&o->c1);
    fp2_set_one(&o->c0.c0);
}

/** a = b? */
static inline bool fp12_eq(const fp12 *a, const fp12 *b)
{
    return fp2_eq(&a->c0.c0, &b->c0.c0) && fp2_eq(&a->c0.c1, &b->c0.c1) &&
           fp2_eq(&a->c0.c2, &b->c0.c2) && fp2_eq(&a->c1.c0, &b->c1.c0) &&
           fp2_eq(&a->c1.c1, &b->c1.c1) && fp2_eq(&a->c1.c2, &b->c1.c2);
}

/** o = a·b. 18M. */
static inline void fp12_mul(fp12 *o, const fp12 *a, const fp12 *b)
{
    fp6 m0, m1, s, t;
    fp6_mul(&m0, &a->c0, &b->c0);
    fp6_mul(&m1, &a->c1, &b->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_add(&t, &b->c0, &b->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &m0);
    fp6_sub(&o->c1, &s, &m1);
    fp6_mul_by_v(&m1, &m1);
    fp6_add(&o->c0, &m0, &m1);
}

/** o = a². 12M: (c0 + c1)(c0 + v·c1) = c0² + v·c1² + (1 + v)·c0·c1. */
static inline void fp12_sqr(fp12 *o, const fp12 *a)
{
    fp6 m, s, t;
    fp6_mul(&m, &a->c0, &a->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul_by_v(&t, &a->c1);
    fp6_add(&t, &t, &a->c0);
    fp6_mul(&s, &s, &t);
    fp6_mul_by_v(&t, &m);
    fp6_sub(&s, &s, &m);
    fp6_sub(&o->c0, &s, &t);
    fp6_add(&o->c1, &m, &m);
}

/** o = c0 - c1·w, which is a^(p⁶): the inverse of an a in the cyclotomic subgroup. */
static inline void fp12_conj(fp12 *o, const fp12 *a)
{
    o->c0 = a->c0;
    fp6_neg(&o->c1, &a->c1);
}

/** o = 1/a; 0 gives 0. */
static inline void fp12_inv(fp12 *o, const fp12 *a)
{
    fp6 s, t;
    fp6_mul(&s, &a->c0, &a->c0);
    fp6_mul(&t, &a->c1, &a->c1);
    fp6_mul_by_v(&t, &t);
    fp6_sub(&s, &s, &t);
    fp6_inv(&s, &s);
    fp6_mul(&o->c0, &a->c0, &s);
    fp6_mul(&o->c1, &a->c1, &s);
    fp6_neg(&o->c1, &o->c1);
}

/** o = a^p. */
static inline void fp12_frobenius1(fp12 *o, const fp12 *a)
{
    static const fp2 g1 = CUZK_CC(FROB1_1), g2 = CUZK_CC(FROB1_2), g3 = CUZK_CC(FROB1_3),
                     g4 = CUZK_CC(FROB1_4), g5 = CUZK_CC(FROB1_5);
    fp2_conj(&o->c0.c0, &a->c0.c0);
    fp2_conj(&o->c0.c1, &a->c0.c1);
    fp2_conj(&o->c0.c2, &a->c0.c2);
    fp2_conj(&o->c1.c0, &a->c1.c0);
    fp2_conj(&o->c1.c1, &a->c1.c1);
    fp2_conj(&o->c1.c2, &a->c1.c2);
    fp2_mul(&o->c1.c0, &o->c1.c0, &g1);
    fp2_mul(&o->c0.c1, &o->c0.c1, &g2);
    fp2_mul(&o->c1.c1, &o->c1.c1, &g3);
    fp2_mul(&o->c0.c2, &o->c0.c2, &g4);
    fp2_mul(&o->c1.c2, &o->c1.c2, &g5);
}

/** o = a^(p²). */
static inline void fp12_frobenius2(fp12 *o, const fp12 *a)
{
    static const fp g1 = CUZK_CC(FROB2_1), g2 = CUZK_CC(FROB2_2), g4 = CUZK_CC(FROB2_4),
                    g5 = CUZK_CC(FROB2_5);
    o->c0.c0 = a->c0.c0;
    fp2_mul_fp(&o->c1.c0, &a->c1.c0, &g1);
    fp2_mul_fp(&o->c0.c1, &a->c0.c1, &g2);
    fp2_neg(&o->c1.c1, &a->c1.c1); /* XI^((p²-1)/2) = -1 */
    fp2_mul_fp(&o->c0.c2, &a->c0.c2, &g4);
    fp2_mul_fp(&o->c1.c2, &a->c1.c2, &g5);
}

/** o = a^(p³). */
static inline void fp12_frobenius3(fp12 *o, const fp12 *a)
{
    fp12_frobenius2(o, a);
    fp12_frobenius1(o, o);
}

/* ---- the cyclotomic subgroup: a^(p⁴-p²+1) = 1 ---- */

/* (o0 + o1·s) = (a + b·s)² for s² = XI: o0 = a² + XI·b², o1 = 2ab. */
CUZK_FIELD_CALL void fp4_sqr(fp2 *o0, fp2 *o1, const fp2 *a, const fp2 *b)
{
#if CUZK_CURVE_IS_BLS12_381
    /* With A = a0 + a1, A' = a0 - a1 mod p, B and B' alike: a² = AA' + 2a0a1·u, Re(2ab) =
     * (A + B)(A' + B') - AA' - BB', Im(2ab) = 2((a0 + b0)(a1 + b1) - a0a1 - b0b1). Six products and
     * four reductions; bounds as in fp6_mul.h: AA' < 2p², so o0 lies in (-2p², 4p²) + [0, 6p²)·u
     * and o1 in [0, 4p²) + [0, 4p²)·u. */
    static const uint64_t two[2 * FP_LIMBS] = CUZK_CC(FP_MODULUS_SQR_X2);
    fp a_sum, a_dif, b_sum, b_dif, s, t;
    uint64_t aa0[2 * FP_LIMBS], aa1[2 * FP_LIMBS], bb0[2 * FP_LIMBS], bb1[2 * FP_LIMBS];
    uint64_t x0[2 * FP_LIMBS], x1[2 * FP_LIMBS];
    (void)cuzk_limbs_add(a_sum.l, a->c0.l, a->c1.l, FP_LIMBS);
    (void)cuzk_limbs_add(b_sum.l, b->c0.l, b->c1.l, FP_LIMBS);
    fp_sub(&a_dif, &a->c0, &a->c1);
    fp_sub(&b_dif, &b->c0, &b->c1);
    fp_mul_wide(aa0, a_sum.l, a_dif.l);
    fp_mul_wide(bb0, b_sum.l, b_dif.l);
    (void)cuzk_limbs_add(a_sum.l, a_sum.l, b_sum.l, FP_LIMBS);
    (void)cuzk_limbs_add(a_dif.l, a_dif.l, b_dif.l, FP_LIMBS);
    fp_mul_wide(x0, a_sum.l, a_dif.l);
    fp_mul_wide(aa1, a->c0.l, a->c1.l);
    fp_mul_wide(bb1, b->c0.l, b->c1.l);
    (void)cuzk_limbs_add(s.l, a->c0.l, b->c0.l, FP_LIMBS);
    (void)cuzk_limbs_add(t.l, a->c1.l, b->c1.l, FP_LIMBS);
    fp_mul_wide(x1, s.l, t.l);
    (void)cuzk_limbs_sub(x0, x0, aa0, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(x0, x0, bb0, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(x1, x1, aa1, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(x1, x1, bb1, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(x1, x1, x1, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(aa1, aa1, aa1, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(bb1, bb1, bb1, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(aa0, aa0, bb0, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(aa0, aa0, two, 2 * FP_LIMBS);
    (void)cuzk_limbs_sub(aa0, aa0, bb1, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(aa1, aa1, bb0, 2 * FP_LIMBS);
    (void)cuzk_limbs_add(aa1, aa1, bb1, 2 * FP_LIMBS);
    fp_redc_wide(&o0->c0, aa0);
    fp_redc_wide(&o0->c1, aa1);
    fp_redc_wide(&o1->c0, x0);
    fp_redc_wide(&o1->c1, x1);
#else
    fp2 aa, bb, t;
    fp2_sqr(&aa, a);
    fp2_sqr(&bb, b);
    fp2_add(&t, a, b);
    fp2_sqr(&t, &t);
    fp2_sub(&t, &t, &aa);
    fp2_sub(o1, &t, &bb);
    fp2_mul_by_xi(&bb, &bb);
    fp2_add(o0, &aa, &bb);
#endif
}

/* o = 3t - 2a, and o = 3t + 2a. */
static inline void cyclotomic_minus(fp2 *o, const fp2 *t, const fp2 *a)
{
    fp2 s;
    fp2_sub(&s, t, a);
    fp2_dbl(&s, &s);
    fp2_add(o, &s, t);
}

static inline void cyclotomic_plus(fp2 *o, const fp2 *t, const fp2 *a)
{
    fp2 s;
    fp2_add(&s, t, a);
    fp2_dbl(&s, &s);
    fp2_add(o, &s, t);
}

/* Four of the six coordinates of the square; they depend on these four only (Karabina). 6S. */
static inline void cyclotomic_sqr_compressed(fp12 *o, const fp12 *a)
{
    fp2 b0, b1, d0, d1;
    fp4_sqr(&b0, &b1, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&d0, &d1, &a->c0.c1, &a->c1.c2);
    cyclotomic_minus(&o->c0.c1, &b0, &a->c0.c1);
    cyclotomic_plus(&o->c1.c2, &b1, &a->c1.c2);
    fp2_mul_by_xi(&d1, &d1);
    cyclotomic_plus(&o->c1.c0, &d1, &a->c1.c0);
    cyclotomic_minus(&o->c0.c2, &d0, &a->c0.c2);
}

/* Restore the other two coordinates of n ≤ 4 elements of the cyclotomic subgroup. With the Fp4
 * coordinates (z0, z1) = (c0.c0, c1.c1), (z2, z3) = (c1.c0, c0.c2), (z4, z5) = (c0.c1, c1.c2):
 *   z1 = (XI·z5² + 3z4² - 2z3)/(4z2),  z0 = XI·(2z1² + z2z5 - 3z3z4) + 1.
 * False, and nothing restored, when a z2 is 0. One inversion. */
static inline bool cyclotomic_decompress(fp12 *a, int n)
{
    fp2 inverse[4], tmp[4], t, u;
    for (int i = 0; i < n; i++) {
        if (fp2_is_zero(&a[i].c1.c0)) {
            return false;
        }
        fp2_dbl(&inverse[i], &a[i].c1.c0);
        fp2_dbl(&inverse[i], &inverse[i]);
    }
    fp2_batch_inv(inverse, (size_t)n, tmp);
    for (int i = 0; i < n; i++) {
        fp2 *z0 = &a[i].c0.c0, *z1 = &a[i].c1.c1;
        const fp2 *z2 = &a[i].c1.c0, *z3 = &a[i].c0.c2, *z4 = &a[i].c0.c1, *z5 = &a[i].c1.c2;
        fp2_sqr(&t, z5);
        fp2_mul_by_xi(&t, &t);
        fp2_sqr(&u, z4);
        fp2_sub(&t, &t, z3);
        fp2_sub(&t, &t, z3);
        fp2_add(&t, &t, &u);
        fp2_dbl(&u, &u);
        fp2_add(&t, &t, &u);
        fp2_mul(z1, &t, &inverse[i]);
        fp2_sqr(&t, z1);
        fp2_mul(&u, z3, z4);
        fp2_sub(&t, &t, &u);
        fp2_dbl(&t, &t);
        fp2_sub(&t, &t, &u);
        fp2_mul(&u, z2, z5);
        fp2_add(&t, &t, &u);
        fp2_mul_by_xi(&t, &t);
        fp2_set_one(&u);
        fp2_add(z0, &t, &u);
    }
    return true;
}

/** o = a² for a in the cyclotomic subgroup. 9S. */
static inline void fp12_cyclotomic_sqr(fp12 *o, const fp12 *a)
{
    fp2 t0, t1;
    fp4_sqr(&t0, &t1, &a->c0.c0, &a->c1.c1);
    cyclotomic_sqr_compressed(o, a);
    cyclotomic_minus(&o->c0.c0, &t0, &a->c0.c0);
    cyclotomic_plus(&o->c1.c1, &t1, &a->c1.c1);
}

#endif
