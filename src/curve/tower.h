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
static inline void fp6_mul(fp6 *o, const fp6 *a, const fp6 *b)
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
static inline void fp6_mul_01(fp6 *o, const fp6 *a, const fp2 *b0, const fp2 *b1)
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
static inline void fp6_mul_12(fp6 *o, const fp6 *a, const fp2 *b1, const fp2 *b2)
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

/* (o0 + o1·s) = (a + b·s)² for s² = XI. 3S. */
static inline void fp4_sqr(fp2 *o0, fp2 *o1, const fp2 *a, const fp2 *b)
{
    fp2 aa, bb, t;
    fp2_sqr(&aa, a);
    fp2_sqr(&bb, b);
    fp2_add(&t, a, b);
    fp2_sqr(&t, &t);
    fp2_sub(&t, &t, &aa);
    fp2_sub(o1, &t, &bb);
    fp2_mul_by_xi(&bb, &bb);
    fp2_add(o0, &aa, &bb);
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
