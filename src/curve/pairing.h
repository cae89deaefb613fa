/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The optimal ate pairing of one curve, as snarkjs computes it.
 *
 *   bls12_381: f_(|x|,Q)(P), conjugated because x is negative
 *   bn254:     f_(6x+2,Q)(P) · l_(T,psi Q)(P) · l_(T+psi Q, -psi² Q)(P), 6x+2 in signed digits
 * then the power (p^12-1)/r · m with m = 3 on bls12_381 and 2x(6x²+3x+1) on bn254: those multiples
 * have the short addition chains, and being prime to r they still give a pairing.
 *
 * A line through points of the twist is evaluated at P up to factors that the final power removes
 * (all of fp2, and w³). With T in homogeneous coordinates and slope E/D it is
 *   D-twist (bn254):     D·yP - E·xP·w + (E·xT - D·yT)·v·w
 *   M-twist (bls12_381): (E·xT - D·yT) - E·xP·v + D·yP·v·w
 * The pairs' lines of one step are multiplied two and two before they meet f; f is squared once for
 * all pairs.
 *
 * Sources: Vercauteren, "Optimal pairings" (2010); Aranha, Karabina, Longa, Gebotys, Lopez, "Faster
 * explicit formulas for computing pairings over ordinary curves" (2011); Fuentes-Castaneda, Knapp,
 * Rodriguez-Henriquez, "Faster hashing to G2" (2011, the exponent of bn254); Hayashida, Hayasaka,
 * Teruya, "Efficient final exponentiation via cyclotomic structure" (2020, of bls12_381). */
#ifndef CUZK_CURVE_PAIRING_H
#define CUZK_CURVE_PAIRING_H

#include "curve/scalar_mul.h"
#include "curve/tower.h"

/* A line's three coefficients (the container is an fp6, the meaning is not): of 1, v and v·w on
 * bls12_381 (M-twist); of 1, w and v·w on bn254 (D-twist). */
typedef fp6 pairing_line;

/* A point of the twist, x = X/Z, y = Y/Z. Never infinity inside the Miller loop. */
typedef struct {
    fp2 x, y, z;
} pairing_point;

/* One pair in the Miller loop. */
typedef struct {
    fp xp_neg, xp_neg3, yp; /* -xP, -3xP, yP */
    g2_affine q;
    pairing_point t;
} pairing_pair;

/* o = the line with constant k, slope numerator e and denominator d, evaluated at P; xp_neg is
 * -xP, or a multiple of it that makes up for a factor left out of e. */
static inline void pairing_line_at(pairing_line *o, const fp2 *k, const fp2 *e, const fp2 *d,
                                   const fp *xp_neg, const fp *yp)
{
#if CUZK_CC(TWIST_IS_M)
    o->c0 = *k;
    fp2_mul_fp(&o->c2, d, yp);
#else
    fp2_mul_fp(&o->c0, d, yp);
    o->c2 = *k;
#endif
    fp2_mul_fp(&o->c1, e, xp_neg);
}

/* T = 2T and the tangent at the old T: e = 3X² (3 goes to xP), d = 2YZ, k = Y² - 3b'Z² after
 * division by Z.
 * 3M + 6S, with b' another M on bn254. */
static inline void pairing_double(pairing_line *o, pairing_pair *p)
{
    fp2 b, c, e, f, h, j, t;
    pairing_point *s = &p->t;
    fp2_sqr(&b, &s->y);
    fp2_sqr(&c, &s->z);
    fp2_add(&h, &s->y, &s->z);
    fp2_sqr(&h, &h);
    fp2_sub(&h, &h, &b);
    fp2_sub(&h, &h, &c); /* H = 2YZ */
#if CUZK_CURVE_IS_BLS12_381
    fp2_mul_by_xi(&e, &c);
    fp2_dbl(&t, &e);
    fp2_add(&e, &t, &e);
    fp2_dbl(&e, &e);
    fp2_dbl(&e, &e); /* E = 3b'Z², b' = 4·XI */
#else
    static const fp2 twist_b = CUZK_CC(B2);
    fp2_mul(&e, &c, &twist_b);
    fp2_dbl(&t, &e);
    fp2_add(&e, &t, &e);
#endif
    fp2_sqr(&j, &s->x);
    fp2_dbl(&f, &e);
    fp2_add(&f, &f, &e); /* F = 3E */
    /* X3 = 2XY(B - F), Y3 = (B + F)² - 12E², Z3 = 4BH */
    fp2_mul(&s->x, &s->x, &s->y);
    fp2_dbl(&s->x, &s->x);
    fp2_sub(&t, &b, &f);
    fp2_mul(&s->x, &s->x, &t);
    fp2_mul(&s->z, &b, &h);
    fp2_dbl(&s->z, &s->z);
    fp2_dbl(&s->z, &s->z);
    fp2_add(&f, &b, &f);
    fp2_sqr(&f, &f);
    fp2_sqr(&t, &e);
    fp2_dbl(&t, &t);
    fp2_dbl(&t, &t);
    fp2_sub(&f, &f, &t);
    fp2_dbl(&t, &t);
    fp2_sub(&s->y, &f, &t);
    fp2_sub(&b, &b, &e); /* the constant */
    pairing_line_at(o, &b, &j, &h, &p->xp_neg3, &p->yp);
}

/* T = T + Q and the line through the old T and Q: e = Y - yQ·Z, d = X - xQ·Z, k = e·xQ - d·yQ.
 * 11M + 2S. T and Q are different and not opposite. */
static inline void pairing_add(pairing_line *o, pairing_pair *p, const g2_affine *q)
{
    fp2 d, e, f, g, h, i, k, t;
    pairing_point *s = &p->t;
    fp2_mul(&d, &q->x, &s->z);
    fp2_sub(&d, &s->x, &d);
    fp2_mul(&e, &q->y, &s->z);
    fp2_sub(&e, &s->y, &e);
    fp2_sqr(&f, &d);
    fp2_sqr(&g, &e);
    fp2_mul(&h, &d, &f);
    fp2_mul(&i, &s->x, &f);
    /* J = H + ZG - 2I; X3 = DJ, Y3 = E(I - J) - HY, Z3 = ZH */
    fp2_mul(&t, &s->z, &g);
    fp2_add(&t, &t, &h);
    fp2_sub(&t, &t, &i);
    fp2_sub(&t, &t, &i);
    fp2_mul(&s->x, &d, &t);
    fp2_sub(&i, &i, &t);
    fp2_mul(&i, &i, &e);
    fp2_mul(&s->y, &s->y, &h);
    fp2_sub(&s->y, &i, &s->y);
    fp2_mul(&s->z, &s->z, &h);
    fp2_mul(&k, &e, &q->x);
    fp2_mul(&t, &d, &q->y);
    fp2_sub(&k, &k, &t);
    pairing_line_at(o, &k, &e, &d, &p->xp_neg, &p->yp);
}

/* f = f·l. 13M. */
static inline void pairing_mul_line(fp12 *f, const pairing_line *l)
{
    fp6 m0, m1, s;
    fp2 t;
    fp6_add(&s, &f->c0, &f->c1);
#if CUZK_CC(TWIST_IS_M) /* (l0 + l1·v) + l2·v·w */
    fp6_mul_01(&m0, &f->c0, &l->c0, &l->c1);
    fp6_mul_fp2(&m1, &f->c1, &l->c2);
    fp6_mul_by_v(&m1, &m1);
    fp2_add(&t, &l->c1, &l->c2);
    fp6_mul_01(&s, &s, &l->c0, &t);
#else /* l0 + (l1 + l2·v)·w */
    fp6_mul_fp2(&m0, &f->c0, &l->c0);
    fp6_mul_01(&m1, &f->c1, &l->c1, &l->c2);
    fp2_add(&t, &l->c0, &l->c1);
    fp6_mul_01(&s, &s, &t, &l->c2);
#endif
    fp6_sub(&s, &s, &m0);
    fp6_sub(&f->c1, &s, &m1);
    fp6_mul_by_v(&m1, &m1);
    fp6_add(&f->c0, &m0, &m1);
}

/* f = f·l·m: the lines' product has five nonzero coefficients. 6M + 17M. */
static inline void pairing_mul_two_lines(fp12 *f, const pairing_line *l, const pairing_line *m)
{
    fp2 x[5];
    fp6 n0, n1, s, t;
    fp6_cross(x, l, m); /* (v·w)² = XI */
    fp6_add(&s, &f->c0, &f->c1);
    t.c0 = x[0];
#if CUZK_CC(TWIST_IS_M) /* x0 + x1·v + x2·v² + (x3·v + x4·v²)·w */
    t.c1 = x[1];
    t.c2 = x[2];
    fp6_mul(&n0, &f->c0, &t);
    fp6_mul_12(&n1, &f->c1, &x[3], &x[4]);
    fp2_add(&t.c1, &t.c1, &x[3]);
    fp2_add(&t.c2, &t.c2, &x[4]);
#else /* x0 + x2·v + x4·v² + (x1 + x3·v)·w */
    t.c1 = x[2];
    t.c2 = x[4];
    fp6_mul(&n0, &f->c0, &t);
    fp6_mul_01(&n1, &f->c1, &x[1], &x[3]);
    fp2_add(&t.c0, &t.c0, &x[1]);
    fp2_add(&t.c1, &t.c1, &x[3]);
#endif
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &n0);
    fp6_sub(&f->c1, &s, &n1);
    fp6_mul_by_v(&n1, &n1);
    fp6_add(&f->c0, &n0, &n1);
}

/* f = f · the product of n lines. */
static inline void pairing_mul_lines(fp12 *f, const pairing_line *lines, size_t n)
{
    size_t i = 0;
    for (; i + 1 < n; i += 2) {
        pairing_mul_two_lines(f, &lines[i], &lines[i + 1]);
    }
    if (i < n) {
        pairing_mul_line(f, &lines[i]);
    }
}

/* Pairs that share one Miller loop; a longer product takes several loops. */
enum { PAIRING_CHUNK = 16 };

/* The n pairs (P, Q), none infinite, in the first n_pairs entries; returns n_pairs ≤ n. */
static inline size_t pairing_prepare(pairing_pair *pairs, const void *p, const void *q, size_t n)
{
    size_t n_pairs = 0;
    for (size_t i = 0; i < n; i++) {
        pairing_pair *pair = &pairs[n_pairs];
        g1_affine a;
        g1_affine_load(&a, (const char *)p + i * sizeof(a));
        g2_affine_load(&pair->q, (const char *)q + i * sizeof(pair->q));
        if (g1_affine_is_infinity(&a) || g2_affine_is_infinity(&pair->q)) {
            continue;
        }
        fp_neg(&pair->xp_neg, &a.x);
        fp_dbl(&pair->xp_neg3, &pair->xp_neg);
        fp_add(&pair->xp_neg3, &pair->xp_neg3, &pair->xp_neg);
        pair->yp = a.y;
        pair->t.x = pair->q.x;
        pair->t.y = pair->q.y;
        fp2_set_one(&pair->t.z);
        n_pairs++;
    }
    return n_pairs;
}

/* One doubling step of all pairs: f = f²·lines, T = 2T. */
static inline void pairing_double_step(fp12 *f, pairing_pair *pairs, size_t n)
{
    pairing_line lines[PAIRING_CHUNK];
    for (size_t i = 0; i < n; i++) {
        pairing_double(&lines[i], &pairs[i]);
    }
    fp12_sqr(f, f);
    pairing_mul_lines(f, lines, n);
}

/** o = a^k for a in the cyclotomic subgroup, k of n_words ≤ FR_LIMBS words: signed windows, since
 * an inverse is a conjugate. */
static inline void fp12_cyclotomic_pow(fp12 *o, const fp12 *a, const uint64_t *k, int n_words)
{
    fp12 table[MUL_TABLE], acc, t;
    struct mul_digits digits;
    mul_digits_set(&digits, k, n_words, false);
    table[0] = *a;
    fp12_cyclotomic_sqr(&t, a);
    for (int i = 1; i < MUL_TABLE; i++) {
        fp12_mul(&table[i], &table[i - 1], &t);
    }
    fp12_set_one(&acc);
    for (int i = digits.n; i-- > 0;) {
        fp12_cyclotomic_sqr(&acc, &acc);
        int d = digits.d[i];
        if (d > 0) {
            fp12_mul(&acc, &acc, &table[d / 2]);
        } else if (d < 0) {
            fp12_conj(&t, &table[-d / 2]);
            fp12_mul(&acc, &acc, &t);
        }
    }
    *o = acc;
}

#if CUZK_CURVE_IS_BLS12_381

/* f = product of the Miller functions of n pairs (n ≤ PAIRING_CHUNK). */
static inline void pairing_miller(fp12 *f, pairing_pair *pairs, size_t n)
{
    pairing_line lines[PAIRING_CHUNK];
    fp12_set_one(f);
    for (int bit = 62; bit >= 0; bit--) {
        pairing_double_step(f, pairs, n);
        if (CUZK_CC(X_ABS) >> bit & 1) {
            for (size_t i = 0; i < n; i++) {
                pairing_add(&lines[i], &pairs[i], &pairs[i].q);
            }
            pairing_mul_lines(f, lines, n);
        }
    }
    fp12_conj(f, f);
}

/* o = a^x for a in the cyclotomic subgroup. |x| = 2^63 + 2^62 + 2^60 + 2^57 + 2^48 + 2^16: the long
 * runs of squarings in compressed form, three elements decompressed with one inversion. */
static inline void cyclotomic_pow_x(fp12 *o, const fp12 *a)
{
    static const int stops[] = {16, 48, 57};
    fp12 power[3], acc = *a;
    int done = 0;
    for (int i = 0; i < 3; i++) {
        for (; done < stops[i]; done++) {
            cyclotomic_sqr_compressed(&acc, &acc);
        }
        power[i] = acc;
    }
    if (!cyclotomic_decompress(power, 3)) { /* a = 1, or as rare */
        static const uint64_t x = CUZK_CC(X_ABS);
        fp12_cyclotomic_pow(&acc, a, &x, 1);
        fp12_conj(o, &acc);
        return;
    }
    acc = power[2];
    fp12_mul(&power[0], &power[0], &power[1]);
    fp12_mul(&power[0], &power[0], &acc);
    for (int i = 58; i <= 63; i++) {
        fp12_cyclotomic_sqr(&acc, &acc);
        if (CUZK_CC(X_ABS) >> i & 1) {
            fp12_mul(&power[0], &power[0], &acc);
        }
    }
    fp12_conj(o, &power[0]);
}

/* o = a^(3(p⁴-p²+1)/r), the exponent written (x-1)²(x+p)(x²+p²-1) + 3. */
static inline void pairing_hard_part(fp12 *o, const fp12 *a)
{
    fp12 t, s, m = *a;
    fp12_conj(&s, &m);
    cyclotomic_pow_x(&t, &m);
    fp12_mul(&t, &t, &s);
    fp12_conj(&s, &t);
    cyclotomic_pow_x(&t, &t);
    fp12_mul(&t, &t, &s); /* (x-1)² */
    fp12_frobenius1(&s, &t);
    cyclotomic_pow_x(&t, &t);
    fp12_mul(&t, &t, &s); /* x + p */
    cyclotomic_pow_x(&s, &t);
    cyclotomic_pow_x(&s, &s);
    fp12_cyclotomic_sqr(o, &m);
    fp12_mul(&m, &m, o); /* the 3 */
    fp12_mul(&m, &m, &s);
    fp12_frobenius2(&s, &t);
    fp12_mul(&m, &m, &s);
    fp12_conj(&t, &t);
    fp12_mul(o, &m, &t);
}

#else /* bn254 */

/* f = product of the Miller functions of n pairs (n ≤ PAIRING_CHUNK). */
static inline void pairing_miller(fp12 *f, pairing_pair *pairs, size_t n)
{
    static const uint64_t loop[2] = CUZK_CC(ATE_LOOP);
    pairing_line lines[PAIRING_CHUNK];
    g2_affine q;
    /* 3k and k differ exactly where the signed digits of 2k are: +1 where 3k has the bit */
    cuzk_u128 k = (cuzk_u128)loop[1] << 64 | loop[0], k3 = 3 * k;
    int top = 127;
    while (!(k3 >> top & 1)) {
        top--;
    }
    fp12_set_one(f);
    for (int bit = top - 1; bit >= 1; bit--) {
        bool plus = (k3 & ~k) >> bit & 1, minus = (k & ~k3) >> bit & 1;
        pairing_double_step(f, pairs, n);
        if (plus || minus) {
            for (size_t i = 0; i < n; i++) {
                q = pairs[i].q;
                if (minus) {
                    g2_affine_neg(&q, &q);
                }
                pairing_add(&lines[i], &pairs[i], &q);
            }
            pairing_mul_lines(f, lines, n);
        }
    }
    for (size_t i = 0; i < n; i++) {
        g2_psi(&q, &pairs[i].q);
        pairing_add(&lines[i], &pairs[i], &q);
    }
    pairing_mul_lines(f, lines, n);
    for (size_t i = 0; i < n; i++) {
        g2_psi2(&q, &pairs[i].q);
        g2_affine_neg(&q, &q);
        pairing_add(&lines[i], &pairs[i], &q);
    }
    pairing_mul_lines(f, lines, n);
}

/* o = a^x for a in the cyclotomic subgroup. */
static inline void cyclotomic_pow_x(fp12 *o, const fp12 *a)
{
    static const uint64_t x = CUZK_CC(X_ABS);
    fp12_cyclotomic_pow(o, a, &x, 1);
}

/* o = a^(2x(6x²+3x+1)(p⁴-p²+1)/r) = a^(l0 + l1·p + l2·p² + l3·p³) with l1 = 12x³ + 6x² + 4x,
 * l2 = l1 + 2x, l0 = l2 + 6x² + 1, l3 = l1 - 1. */
static inline void pairing_hard_part(fp12 *o, const fp12 *a)
{
    fp12 m = *a, x2, x6, t, l1, l2;
    cyclotomic_pow_x(&t, &m);
    fp12_cyclotomic_sqr(&x2, &t); /* 2x */
    fp12_cyclotomic_sqr(&t, &x2);
    fp12_mul(&x6, &t, &x2);    /* 6x */
    cyclotomic_pow_x(&t, &x6); /* 6x² */
    fp12_mul(&l2, &x6, &t);
    fp12_mul(o, &m, &t);
    fp12_cyclotomic_sqr(&t, &t);
    cyclotomic_pow_x(&t, &t); /* 12x³ */
    fp12_mul(&l2, &l2, &t);
    fp12_mul(o, o, &l2); /* l0 */
    fp12_conj(&t, &x2);
    fp12_mul(&l1, &l2, &t);
    fp12_frobenius1(&t, &l1);
    fp12_mul(o, o, &t);
    fp12_frobenius2(&t, &l2);
    fp12_mul(o, o, &t);
    fp12_conj(&m, &m);
    fp12_mul(&l1, &l1, &m);
    fp12_frobenius3(&t, &l1);
    fp12_mul(o, o, &t);
}

#endif

/** o = f^((p^12-1)/r · m), m as above. f is not zero. */
static inline void pairing_final_exp(fp12 *o, const fp12 *f)
{
    fp12 s, t;
    fp12_inv(&t, f);
    fp12_conj(&s, f);
    fp12_mul(&t, &t, &s); /* p⁶ - 1 */
    fp12_frobenius2(&s, &t);
    fp12_mul(&t, &t, &s); /* p² + 1 */
    pairing_hard_part(o, &t);
}

/** a^(p⁴-p²+1) = 1? What every pairing value satisfies. */
static inline bool fp12_is_cyclotomic(const fp12 *a)
{
    fp12 p2, p4;
    fp12_frobenius2(&p2, a);
    fp12_frobenius2(&p4, &p2);
    fp12_mul(&p4, &p4, a);
    return fp12_eq(&p4, &p2);
}

/** o = the product of the Miller functions of n packed affine points each, in the subgroups; pairs
 *  with an infinity count as 1. Stack: about 30 KiB. */
static inline void pairing_miller_product(fp12 *o, const void *p, const void *q, size_t n)
{
    pairing_pair pairs[PAIRING_CHUNK];
    fp12 f;
    fp12_set_one(o);
    for (size_t i = 0; i < n; i += PAIRING_CHUNK) {
        size_t take = n - i < PAIRING_CHUNK ? n - i : PAIRING_CHUNK;
        size_t used = pairing_prepare(pairs, (const char *)p + i * sizeof(g1_affine),
                                      (const char *)q + i * sizeof(g2_affine), take);
        if (used > 0) {
            pairing_miller(&f, pairs, used);
            fp12_mul(o, o, &f);
        }
    }
}

#endif
