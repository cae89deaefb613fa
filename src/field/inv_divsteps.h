/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Modular inversion by division steps, for device code: every thread does the same work.
 *
 * Method: D. J. Bernstein and B.-Y. Yang, "Fast constant-time gcd computation and modular
 * inversion" (2019), in the half-delta form found by P. Wuille (2020). From f = p, g = x a step is
 * "if delta > 0 and g is odd: (delta, f, g) = (1 - delta, g, (g - f)/2), else (1 + delta, f,
 * (g + [g odd]·f)/2)"; it ends with g = 0, f = ±1. 30 steps at a time look only at the low words
 * and give a matrix, which is applied to (f, g) and, modulo p, to (d, e), which starts as (0, c)
 * and ends as (±c/x, 0). Numbers are signed words of 30 bits in 32; the top word carries the sign.
 * Batches run until g = 0, for all x < p at most 30 of them at 381 bits and 20 at 254.
 * What a step does or not is a product with 0 or ±1: a device's multiplier adds it in one
 * instruction, beside those that decide about the step, where masks would take two of them. */
#ifndef CUZK_FIELD_INV_DIVSTEPS_H
#define CUZK_FIELD_INV_DIVSTEPS_H

#include "field/limbs.h"

enum { CUZK_DIVSTEPS_WORDS_MAX = 13 };

#define CUZK_DIVSTEPS_MASK INT32_C(0x3fffffff)

/* 2^30·(f, g) <- (u·f + v·g, q·f + r·g) */
typedef struct {
    int32_t u, v, q, r;
} cuzk_divsteps_matrix;

/* a·b + c modulo 2^32: on devices one instruction of the multiplier, whatever is known of a. */
static CUZK_HD CUZK_ALWAYS_INLINE uint32_t cuzk_divsteps_mad(uint32_t a, uint32_t b, uint32_t c)
{
#if defined(__CUDA_ARCH__)
    uint32_t r;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
#else
    return a * b + c;
#endif
}

/* 30 steps on the low words of f and g; f is odd. minus_deltas is -2·delta. */
static CUZK_HD CUZK_ALWAYS_INLINE cuzk_divsteps_matrix cuzk_divsteps_batch(uint32_t *minus_deltas,
                                                                           uint32_t f, uint32_t g)
{
    uint32_t u = 1, v = 0, q = 0, r = 1, h = *minus_deltas;
    for (int i = 0; i < 30; i++) {
        uint32_t swaps = g & h >> 31;         /* 1 if delta > 0 and g is odd: f becomes g */
        uint32_t times = (g & 1) - 2 * swaps; /* how often f is added to g */
        uint32_t sign = 1 - 2 * swaps;
        g = cuzk_divsteps_mad(times, f, g);
        q = cuzk_divsteps_mad(times, u, q);
        r = cuzk_divsteps_mad(times, v, r);
        h = cuzk_divsteps_mad(sign, h, 0u - 2); /* ±delta + 1 */
        f = cuzk_divsteps_mad(swaps, g, f);
        u = cuzk_divsteps_mad(swaps, q, u);
        v = cuzk_divsteps_mad(swaps, r, v);
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    *minus_deltas = h;
    cuzk_divsteps_matrix m = {(int32_t)u, (int32_t)v, (int32_t)q, (int32_t)r};
    return m;
}

/* (f, g) <- matrix·(f, g), exactly divided by 2^30. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_divsteps_apply(int32_t *f, int32_t *g, int words,
                                                           const cuzk_divsteps_matrix *m)
{
    int64_t cf = (int64_t)m->u * f[0] + (int64_t)m->v * g[0];
    int64_t cg = (int64_t)m->q * f[0] + (int64_t)m->r * g[0];
    cf >>= 30;
    cg >>= 30;
    CUZK_UNROLL
    for (int i = 1; i < words; i++) {
        cf += (int64_t)m->u * f[i] + (int64_t)m->v * g[i];
        cg += (int64_t)m->q * f[i] + (int64_t)m->r * g[i];
        f[i - 1] = (int32_t)cf & CUZK_DIVSTEPS_MASK;
        g[i - 1] = (int32_t)cg & CUZK_DIVSTEPS_MASK;
        cf >>= 30;
        cg >>= 30;
    }
    f[words - 1] = (int32_t)cf;
    g[words - 1] = (int32_t)cg;
}

/* (d, e) <- matrix·(d, e)/2^30 modulo p, both kept in (-2p, p). */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_divsteps_apply_mod(int32_t *d, int32_t *e, int words,
                                                               const cuzk_divsteps_matrix *m,
                                                               const int32_t *p, uint32_t n0)
{
    int32_t d_sign = d[words - 1] >> 31, e_sign = e[words - 1] >> 31;
    /* a negative number counts as itself plus p; then the multiple of p that clears the low word */
    int32_t kd = (m->u & d_sign) + (m->v & e_sign);
    int32_t ke = (m->q & d_sign) + (m->r & e_sign);
    int64_t cd = (int64_t)m->u * d[0] + (int64_t)m->v * e[0];
    int64_t ce = (int64_t)m->q * d[0] + (int64_t)m->r * e[0];
    /* p·kd + cd = 0 mod 2^30 with kd moved by -2^30 < change <= 0 */
    kd -= (int32_t)((uint32_t)kd - n0 * (uint32_t)cd) & CUZK_DIVSTEPS_MASK;
    ke -= (int32_t)((uint32_t)ke - n0 * (uint32_t)ce) & CUZK_DIVSTEPS_MASK;
    cd += (int64_t)p[0] * kd;
    ce += (int64_t)p[0] * ke;
    cd >>= 30;
    ce >>= 30;
    CUZK_UNROLL
    for (int i = 1; i < words; i++) {
        cd += (int64_t)m->u * d[i] + (int64_t)m->v * e[i] + (int64_t)p[i] * kd;
        ce += (int64_t)m->q * d[i] + (int64_t)m->r * e[i] + (int64_t)p[i] * ke;
        d[i - 1] = (int32_t)cd & CUZK_DIVSTEPS_MASK;
        e[i - 1] = (int32_t)ce & CUZK_DIVSTEPS_MASK;
        cd >>= 30;
        ce >>= 30;
    }
    d[words - 1] = (int32_t)cd;
    e[words - 1] = (int32_t)ce;
}

/* Words of 30 bits from n words of 64. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_divsteps_split(int32_t *o, int words, const uint64_t *a,
                                                           int n)
{
    CUZK_UNROLL
    for (int i = 0; i < words; i++) {
        int bit = 30 * i, w = bit / 64, s = bit % 64;
        uint64_t v = a[w] >> s;
        if (s > 34 && w + 1 < n) {
            v |= a[w + 1] << (64 - s);
        }
        o[i] = (int32_t)v & CUZK_DIVSTEPS_MASK;
    }
}

/* a = (a ^ flip) - flip + (p & add) with carries; flip and add are all ones or zero. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_divsteps_fix(int32_t *a, int words, const int32_t *p,
                                                         int32_t flip, int32_t add)
{
    int32_t carry = 0;
    CUZK_UNROLL
    for (int i = 0; i < words; i++) {
        int32_t t = ((a[i] ^ flip) - flip) + (p[i] & add) + carry;
        a[i] = i + 1 < words ? t & CUZK_DIVSTEPS_MASK : t;
        carry = t >> 30;
    }
}

/** o = c/x mod p, reduced; 0 if x = 0. x and c below p, an odd prime below 2^(64n-1); n0 = -1/p mod
 *  2^64 (its low 30 bits are used); n is 4 or 6. o may be x. With c = R² this inverts in Montgomery
 *  form. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_divsteps_inv(uint64_t *o, const uint64_t *x,
                                                         const uint64_t *c, const uint64_t *p,
                                                         uint64_t n0, int n)
{
    int32_t f[CUZK_DIVSTEPS_WORDS_MAX], g[CUZK_DIVSTEPS_WORDS_MAX];
    int32_t d[CUZK_DIVSTEPS_WORDS_MAX], e[CUZK_DIVSTEPS_WORDS_MAX];
    int32_t p30[CUZK_DIVSTEPS_WORDS_MAX];
    const int words = (64 * n + 29) / 30; /* 13 for n = 6, 9 for n = 4 */
    uint32_t minus_deltas = 0u - 1;       /* delta is 1/2 */
    cuzk_divsteps_split(p30, words, p, n);
    cuzk_divsteps_split(g, words, x, n);
    cuzk_divsteps_split(e, words, c, n);
    CUZK_UNROLL
    for (int i = 0; i < words; i++) {
        f[i] = p30[i];
        d[i] = 0;
    }
    for (;;) {
        int32_t any = 0;
        CUZK_UNROLL
        for (int i = 0; i < words; i++) {
            any |= g[i];
        }
        if (any == 0) {
            break;
        }
        cuzk_divsteps_matrix m = cuzk_divsteps_batch(&minus_deltas, (uint32_t)f[0], (uint32_t)g[0]);
        cuzk_divsteps_apply_mod(d, e, words, &m, p30, (uint32_t)n0);
        cuzk_divsteps_apply(f, g, words, &m);
    }
    cuzk_divsteps_fix(d, words, p30, 0, d[words - 1] >> 31); /* (-p, p) */
    cuzk_divsteps_fix(d, words, p30, f[words - 1] >> 31, 0); /* f = -1 */
    cuzk_divsteps_fix(d, words, p30, 0, d[words - 1] >> 31); /* [0, p) */
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        int bit = 64 * i, w = bit / 30, s = bit % 30;
        uint64_t v = (uint64_t)d[w] >> s | (uint64_t)d[w + 1] << (30 - s);
        v |= w + 2 < words ? (uint64_t)d[w + 2] << (60 - s) : 0;
        if (s > 26 && w + 3 < words) {
            v |= (uint64_t)d[w + 3] << (90 - s);
        }
        o[i] = v;
    }
}

#endif
