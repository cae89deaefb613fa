/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Modular inversion by the binary GCD in batches of 62 steps; variable time.
 *
 * Method: T. Pornin, "Optimized Binary GCD for Modular Inversion" (2020), with words of 62 bits and
 * trailing zeros removed at once. From a = x, b = m (b odd) the step "if a is odd: let b be the
 * smaller of both and a their difference; a = a/2" ends with a = 0, b = gcd. A batch looks only at
 * the low 64 bits of a and b, which decide parity exactly, and at their top 64 bits, which decide
 * the comparison except near a tie; it returns the 62 steps as a matrix, which is then applied to
 * the whole numbers. A wrong comparison makes a or b negative and tiny against the other: it is
 * negated. The matrix rows have |f| + |g| <= 2^62, so max(a, b) never grows, and each step halves a
 * up to the rounding of the top words, so a batch takes at least 55 bits off the two lengths. Below
 * 2^64 the top words are exact. The same matrix, modulo m, takes u = c, v = 0 to v = c/x. */
#ifndef CUZK_FIELD_INV_H
#define CUZK_FIELD_INV_H

#include "field/limbs.h"

__extension__ typedef __int128 cuzk_i128;

enum { CUZK_INV_LIMBS_MAX = 7 };

#define CUZK_INV_MASK ((UINT64_C(1) << 62) - 1)

/* 2^62·(a, b) <- (f0·a + g0·b, f1·a + g1·b) */
typedef struct {
    int64_t f0, g0, f1, g1;
} cuzk_inv_matrix;

/* Words of 62 bits from n words of 64. */
static CUZK_ALWAYS_INLINE void cuzk_inv_split(int64_t *o, int n62, const uint64_t *a, int n)
{
    for (int i = 0; i < n62; i++) {
        int bit = 62 * i, w = bit / 64, s = bit % 64;
        uint64_t v = w < n ? a[w] >> s : 0;
        if (s > 2 && w + 1 < n) {
            v |= a[w + 1] << (64 - s);
        }
        o[i] = (int64_t)(v & CUZK_INV_MASK);
    }
}

/* The reverse, for numbers below 2^(64n). */
static CUZK_ALWAYS_INLINE void cuzk_inv_join(uint64_t *o, int n, const int64_t *a, int n62)
{
    for (int i = 0; i < n; i++) {
        int bit = 64 * i, w = bit / 62, s = bit % 62;
        uint64_t v = (uint64_t)a[w] >> s;
        if (w + 1 < n62) {
            v |= (uint64_t)a[w + 1] << (62 - s);
        }
        if (w + 2 < n62 && s > 60) {
            v |= (uint64_t)a[w + 2] << (124 - s);
        }
        o[i] = v;
    }
}

/* 62 steps on a (al low, ah top bits) and b; b odd. */
static CUZK_ALWAYS_INLINE cuzk_inv_matrix cuzk_inv_batch(uint64_t al, uint64_t ah, uint64_t bl,
                                                         uint64_t bh)
{
    uint64_t f0 = 1, g0 = 0, f1 = 0, g1 = 1;
    int left = 62;
    for (;;) {
        int k = __builtin_ctzll(al | (UINT64_C(1) << left));
        al >>= k;
        ah >>= k;
        f1 <<= k;
        g1 <<= k;
        left -= k;
        if (left == 0) {
            break;
        }
        uint64_t swap = 0 - (uint64_t)(ah < bh); /* all ones: b is the larger one */
        uint64_t dl = al - bl, dh = ah - bh, df = f0 - f1, dg = g0 - g1;
        bl += dl & swap;
        bh += dh & swap;
        f1 += df & swap;
        g1 += dg & swap;
        al = (dl ^ swap) - swap;
        ah = (dh ^ swap) - swap;
        f0 = (df ^ swap) - swap;
        g0 = (dg ^ swap) - swap;
    }
    cuzk_inv_matrix m = {(int64_t)f0, (int64_t)g0, (int64_t)f1, (int64_t)g1};
    return m;
}

/* (a, b) <- matrix·(a, b), n words, whose low word becomes zero and goes. */
static CUZK_ALWAYS_INLINE void cuzk_inv_apply(int64_t *a, int64_t *b, int n,
                                              const cuzk_inv_matrix *m)
{
    cuzk_i128 ca = (cuzk_i128)m->f0 * a[0] + (cuzk_i128)m->g0 * b[0];
    cuzk_i128 cb = (cuzk_i128)m->f1 * a[0] + (cuzk_i128)m->g1 * b[0];
    ca >>= 62;
    cb >>= 62;
    for (int i = 1; i < n; i++) {
        ca += (cuzk_i128)m->f0 * a[i] + (cuzk_i128)m->g0 * b[i];
        cb += (cuzk_i128)m->f1 * a[i] + (cuzk_i128)m->g1 * b[i];
        a[i - 1] = (int64_t)((uint64_t)ca & CUZK_INV_MASK);
        b[i - 1] = (int64_t)((uint64_t)cb & CUZK_INV_MASK);
        ca >>= 62;
        cb >>= 62;
    }
    a[n - 1] = (int64_t)ca;
    b[n - 1] = (int64_t)cb;
}

/* (u, v) <- matrix·(u, v) modulo p: a multiple of p makes the low word zero. |u| and |v| grow by at
 * most p/2 a batch. */
static CUZK_ALWAYS_INLINE void cuzk_inv_apply_mod(int64_t *u, int64_t *v, int n,
                                                  const cuzk_inv_matrix *m, const int64_t *p,
                                                  uint64_t n0)
{
    cuzk_i128 cu = (cuzk_i128)m->f0 * u[0] + (cuzk_i128)m->g0 * v[0];
    cuzk_i128 cv = (cuzk_i128)m->f1 * u[0] + (cuzk_i128)m->g1 * v[0];
    int64_t ku = (int64_t)(((uint64_t)cu * n0) << 2) >> 2; /* signed 62 bits */
    int64_t kv = (int64_t)(((uint64_t)cv * n0) << 2) >> 2;
    cu = (cu + (cuzk_i128)ku * p[0]) >> 62;
    cv = (cv + (cuzk_i128)kv * p[0]) >> 62;
    for (int i = 1; i < n; i++) {
        cu += (cuzk_i128)m->f0 * u[i] + (cuzk_i128)m->g0 * v[i] + (cuzk_i128)ku * p[i];
        cv += (cuzk_i128)m->f1 * u[i] + (cuzk_i128)m->g1 * v[i] + (cuzk_i128)kv * p[i];
        u[i - 1] = (int64_t)((uint64_t)cu & CUZK_INV_MASK);
        v[i - 1] = (int64_t)((uint64_t)cv & CUZK_INV_MASK);
        cu >>= 62;
        cv >>= 62;
    }
    u[n - 1] = (int64_t)cu;
    v[n - 1] = (int64_t)cv;
}

/* a += sign·b, words normalised; the top word carries the sign. */
static CUZK_ALWAYS_INLINE void cuzk_inv_add(int64_t *a, const int64_t *b, int64_t sign, int n)
{
    int64_t carry = 0;
    for (int i = 0; i < n; i++) {
        int64_t t = a[i] + sign * b[i] + carry;
        a[i] = i + 1 < n ? (int64_t)((uint64_t)t & CUZK_INV_MASK) : t;
        carry = t >> 62;
    }
}

/* a <- -a if a is negative; returns whether it was. */
static CUZK_ALWAYS_INLINE bool cuzk_inv_abs(int64_t *a, int n)
{
    if (a[n - 1] >= 0) {
        return false;
    }
    int64_t carry = 0;
    for (int i = 0; i < n; i++) {
        int64_t t = carry - a[i];
        a[i] = i + 1 < n ? (int64_t)((uint64_t)t & CUZK_INV_MASK) : t;
        carry = t >> 62;
    }
    return true;
}

/** o = c/x mod p, reduced; 0 if x = 0. x and c below p, p an odd prime below 2^(64n-1),
 *  n0 = -1/p mod 2^64, n at most 6. o may be x. With c = R² this inverts in Montgomery form. */
static CUZK_ALWAYS_INLINE void cuzk_limbs_inv(uint64_t *o, const uint64_t *x, const uint64_t *c,
                                              const uint64_t *p, uint64_t n0, int n)
{
    int64_t a[CUZK_INV_LIMBS_MAX], b[CUZK_INV_LIMBS_MAX], u[CUZK_INV_LIMBS_MAX];
    int64_t v[CUZK_INV_LIMBS_MAX] = {0}, p62[CUZK_INV_LIMBS_MAX];
    const int n62 = n + 1;
    int top = n; /* highest word of a and b in use */
    if (cuzk_limbs_is_zero(x, n)) {
        memset(o, 0, 8 * (size_t)n);
        return;
    }
    cuzk_inv_split(a, n62, x, n);
    cuzk_inv_split(p62, n62, p, n);
    cuzk_inv_split(u, n62, c, n);
    memcpy(b, p62, sizeof(b));
    for (;;) {
        while (top > 0 && (a[top] | b[top]) == 0) {
            top--;
        }
        if (top == 0 && a[0] == 0) {
            break;
        }
        /* the low 64 bits; the top 64 at the place of the highest bit of a or b */
        uint64_t al = (uint64_t)a[0], ah = al, bl = (uint64_t)b[0], bh = bl;
        if (top > 0) {
            int z = __builtin_clzll((uint64_t)(a[top] | b[top]));
            z = z > 62 ? 62 : z;
            ah = (uint64_t)a[top] << z | (uint64_t)a[top - 1] >> (62 - z);
            bh = (uint64_t)b[top] << z | (uint64_t)b[top - 1] >> (62 - z);
            al |= (uint64_t)a[1] << 62;
            bl |= (uint64_t)b[1] << 62;
        }
        cuzk_inv_matrix m = cuzk_inv_batch(al, ah, bl, bh);
        cuzk_inv_apply(a, b, top + 1, &m);
        if (cuzk_inv_abs(a, top + 1)) {
            m.f0 = -m.f0;
            m.g0 = -m.g0;
        }
        if (cuzk_inv_abs(b, top + 1)) {
            m.f1 = -m.f1;
            m.g1 = -m.g1;
        }
        cuzk_inv_apply_mod(u, v, n62, &m, p62, n0);
    }
    while (v[n62 - 1] < 0) {
        cuzk_inv_add(v, p62, 1, n62);
    }
    do { /* down to -p … -1, then up once */
        cuzk_inv_add(v, p62, -1, n62);
    } while (v[n62 - 1] >= 0);
    cuzk_inv_add(v, p62, 1, n62);
    cuzk_inv_join(o, n, v, n62);
}

#endif
