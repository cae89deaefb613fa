/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Eight elements at a time on eight lanes of 52-bit limbs (field/lanes.h): the arithmetic under
 * ntt_tmpl.h for the paths ifma and ifma-emulated. The interface is described in oct_scalar.h.
 *
 * An oct holds raw limbs; its value is not reduced. "Weak" means carried and below 2r: what
 * memory holds and multiplications return. In memory an element is a weak value in four 64-bit
 * words, in whatever Montgomery form the caller uses: transforms are linear and factors are plain
 * numbers, so the form does not matter. R_L is 2^260; oct_load_product shifts one factor by 4 bits,
 * so that products of elements x·2^256 are again elements of that form.
 *
 * Names as in field/lanes_tmpl.h: raw, carried, digits. */
#ifndef CUZK_POLY_OCT_LANES_H
#define CUZK_POLY_OCT_LANES_H

#include "field/lanes.h"

/* Large bodies are inlined where speed counts; emulated, that would only cost compile time. */
#if CUZK_PATH_IS_IFMA
#define OCT_FN V8_FN
#else
#define OCT_FN V8_NOINLINE
#endif

typedef frx8 oct;

/* Row table of a constant w: the limbs of w·2^(52(i+1)) mod r for i = 0 … 4, plain form. */
typedef struct {
    uint64_t rows[FRX8_LIMBS * FRX8_LIMBS];
} factor;

/* Word k of the eight elements is w[k]. */
typedef struct {
    uint64_t w[4][8];
} chunk;

/* QUOTIENT is floor(2^260 / r). Values that are multiplied must be below 2^260. */
#if CUZK_CURVE_IS_BN254
enum { OCT_RANGE_LIMIT = 83, QUOTIENT = 84 };
#else
enum { OCT_RANGE_LIMIT = 34, QUOTIENT = 35 };
#endif

/* ---- ranges ---- */

/** Raw, in [0, 2^260), to raw, below 2r: 1.31·r on bls12_381, 1.66·r on bn254.
 *
 *  The quotient is q = floor(top·QUOTIENT / 2^52), where top is floor(a / 2^208) plus 0, 1 or 2:
 *  the carry out of limb 3 is guessed without those below it, which is wrong by at most 1, and 1 is
 *  added so that top is never negative. q never exceeds a/r: QUOTIENT is below 2^260/r by more than
 *  2 units of top make up, unless top is so small that q = 0. What is subtracted, q·r, is added as
 *  q·(2^208 - r) to the low limbs and as q·(top limb of r, plus 1) < 2^52 subtracted from the top
 *  one. */
OCT_FN void oct_weaken(oct *a)
{
    v8 top = v8_add(v8_add(a->l[4], v8_set1(1)), v8_sar(a->l[3], 52));
    v8 q = v8_madd_hi(v8_zero(), top, v8_set1(QUOTIENT));
    v8 less = v8_madd_lo(v8_zero(), q, v8_set1(frx8_p52[4] + 1));
    V8_UNROLL
    for (int j = 0; j < 4; j++) {
        v8 c = v8_set1((j == 0 ? V8_LOW52 + 1 : V8_LOW52) - frx8_p52[j]);
        a->l[j] = v8_madd_lo(a->l[j], q, c);
        a->l[j + 1] = v8_madd_hi(a->l[j + 1], q, c);
    }
    a->l[4] = v8_sub(a->l[4], less);
}

/* The same, carried: weak. */
V8_FN void weaken_carried(oct *a)
{
    oct_weaken(a);
    frx8_carry(a);
}

/* Weak to canonical. */
V8_FN void oct_reduce(oct *a)
{
    frx8_reduce_once(a, 1);
}

/* ---- products ---- */

/* o[s] = (a[s]·b[s] + Σ_j low[s][j]·2^(52j)) / R_L for s = 0, 1, weak. a: raw, in [0, 2^260); b:
 * digits. low: columns 0 … 7 of what is added before the division, each below 2^62; or NULL. The
 * range before weakening is a·b/2^260 + 2r, which must stay below 2^260. As frx8_mul2, but with one
 * carry chain. */
OCT_FN void multiply2(oct *const o[2], const oct *const a[2], const oct *const b[2],
                      const v8 (*low)[8])
{
    const uint64_t *fold = v8_constants(frx8_fold52);
    frx8_columns t[2];
    oct x[2] = {*a[0], *a[1]};
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        frx8_carry_digits(&x[s]);
        V8_UNROLL
        for (int j = 0; j < FRX8_LIMBS + 2; j++) {
            t[s].t[j] = low != NULL ? low[s][j] : v8_zero();
        }
    }
    V8_UNROLL
    for (int i = 0; i < FRX8_LIMBS; i++) {
        int up = i == 0 ? 0 : 1;
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_row_lo(&t[s], up, x[s].l[i], b[s]);
        }
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_row_hi(&t[s], up, x[s].l[i], b[s]);
        }
        if (i > 0) {
            V8_UNROLL
            for (int s = 0; s < 2; s++) {
                frx8_fold_lo(&t[s], fold);
            }
            V8_UNROLL
            for (int s = 0; s < 2; s++) {
                frx8_fold_hi(&t[s], fold, low != NULL && i == 1 ? low[s][7] : v8_zero());
            }
        }
    }
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        frx8_finish_raw(o[s], &t[s]);
        weaken_carried(o[s]);
    }
}

/** o = a·b/R_L of two independent pairs, weak. a: raw; b: digits. o may be any of the inputs. */
V8_NOINLINE void oct_mul2_digits(oct *o0, const oct *a0, const oct *b0, oct *o1, const oct *a1,
                                 const oct *b1)
{
    oct *const o[2] = {o0, o1};
    const oct *const a[2] = {a0, a1}, *const b[2] = {b0, b1};
    multiply2(o, a, b, NULL);
}

/** The same with a, b: raw, in [0, 2^260). */
V8_FN void oct_mul2(oct *o0, const oct *a0, const oct *b0, oct *o1, const oct *a1, const oct *b1)
{
    oct y0 = *b0, y1 = *b1;
    frx8_carry_digits(&y0);
    frx8_carry_digits(&y1);
    oct_mul2_digits(o0, a0, &y0, o1, a1, &y1);
}

/* o[s] = v[s]·f[s] + add·r, of two independent pairs, raw, below (6 + add)·r. v: raw, in
 * [0, 2^260). add: a constant, 0 or -3. Limb by limb the result is above -2^54. */
OCT_FN void multiply2_factors(oct o[2], const oct *const v[2], const factor *const f[2], int add)
{
    frx8_columns t[2];
    oct x[2] = {*v[0], *v[1]};
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        frx8_carry_digits(&x[s]);
        t[s].t[0] = v8_zero();
        V8_UNROLL
        for (int j = 0; j < FRX8_LIMBS; j++) {
            /* column j + 1 is limb j of the result */
            t[s].t[j + 1] = add == 0 ? v8_zero() : v8_set1((uint64_t)((int64_t)frx8_p52[j] * add));
        }
        t[s].t[FRX8_LIMBS + 1] = v8_zero();
    }
    V8_UNROLL
    for (int i = 0; i < FRX8_LIMBS; i++) {
        V8_UNROLL
        for (int j = 0; j < FRX8_LIMBS; j++) {
            V8_UNROLL
            for (int s = 0; s < 2; s++) {
                v8 w = v8_broadcast(&f[s]->rows[FRX8_LIMBS * i + j]);
                t[s].t[j] = v8_madd_lo(t[s].t[j], x[s].l[i], w);
                t[s].t[j + 1] = v8_madd_hi(t[s].t[j + 1], x[s].l[i], w);
            }
        }
    }
    frx8_finish_raw(&o[0], &t[0]);
    frx8_finish_raw(&o[1], &t[1]);
}

/** o = a·f of two independent pairs, weak. o may be a. */
V8_NOINLINE void oct_mul2_factors(oct *o0, const oct *a0, const factor *f0, oct *o1, const oct *a1,
                                  const factor *f1)
{
    oct t[2];
    const oct *const a[2] = {a0, a1};
    const factor *const f[2] = {f0, f1};
    multiply2_factors(t, a, f, 0);
    weaken_carried(&t[0]);
    weaken_carried(&t[1]);
    *o0 = t[0];
    *o1 = t[1];
}

/* ---- butterflies ---- */

/** (u, v) → (u + v, u - v + 2r) for weak u, v. */
V8_FN void oct_butterfly_one_first(oct *u, oct *v)
{
    oct x = *u, y = *v;
    frx8_add(u, &x, &y);
    frx8_sub(v, &x, &y, 2);
}

/** (u, v) → (u + v + raise·r, u - v + (4 + raise)·r), v below 4r. */
V8_FN void oct_butterfly_one_second(oct *u, oct *v, unsigned raise)
{
    V8_UNROLL
    for (int j = 0; j < FRX8_LIMBS; j++) {
        v8 x = v8_add(u->l[j], v8_set1(frx8_p52[j] * raise)), y = v->l[j];
        u->l[j] = v8_add(x, y);
        v->l[j] = v8_add(v8_sub(x, y), v8_set1(frx8_p52[j] * 4));
    }
}

/** (u, v) → (u + raise·r + f·v, u + raise·r - f·v) of two independent pairs, where f·v stands for a
 *  representative in (-3r, 3r). u, v: raw, v in [0, 2^260). */
V8_FN void oct_butterfly2_raise(oct *u0, oct *v0, const factor *f0, oct *u1, oct *v1,
                                const factor *f1, unsigned raise)
{
    oct t[2];
    oct *const u[2] = {u0, u1}, *const v[2] = {v0, v1};
    const oct *const in[2] = {v0, v1};
    const factor *const f[2] = {f0, f1};
    multiply2_factors(t, in, f, -3);
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        V8_UNROLL
        for (int j = 0; j < FRX8_LIMBS; j++) {
            v8 x = u[s]->l[j];
            if (raise != 0) {
                x = v8_add(x, v8_set1(frx8_p52[j] * raise));
            }
            u[s]->l[j] = v8_add(x, t[s].l[j]);
            v[s]->l[j] = v8_sub(x, t[s].l[j]);
        }
    }
}

V8_FN void oct_butterfly2(oct *u0, oct *v0, const factor *f0, oct *u1, oct *v1, const factor *f1)
{
    oct_butterfly2_raise(u0, v0, f0, u1, v1, f1, 0);
}

/* ---- memory ---- */

V8_FN void load_words(v8 w[4], const fr *p)
{
    V8_UNROLL
    for (int k = 0; k < 4; k++) {
        w[k] = v8_loadu((const char *)p + 64 * k);
    }
    v8_deinterleave4(w);
}

V8_FN void store_words(fr *p, v8 w[4], bool stream)
{
    v8_interleave4(w);
    V8_UNROLL
    for (int k = 0; k < 4; k++) {
        if (stream) {
            v8_stream((char *)p + 64 * k, w[k]);
        } else {
            v8_storeu((char *)p + 64 * k, w[k]);
        }
    }
}

V8_FN void oct_load(oct *o, const fr *p)
{
    v8 w[4];
    load_words(w, p);
    frx8_from_words(o, w, 0);
}

V8_FN void oct_load2_products(oct *o0, oct *o1, const fr *a0, const fr *b0, const fr *a1,
                              const fr *b1)
{
    v8 w[4];
    oct x0, x1, y0, y1;
    load_words(w, a0);
    frx8_from_words(&x0, w, 4);
    load_words(w, a1);
    frx8_from_words(&x1, w, 4);
    oct_load(&y0, b0);
    oct_load(&y1, b1);
    oct_mul2_digits(o0, &x0, &y0, o1, &x1, &y1);
}

V8_FN void oct_load_chunk(oct *o, const chunk *p)
{
    v8 w[4];
    V8_UNROLL
    for (int k = 0; k < 4; k++) {
        w[k] = v8_loadu(p->w[k]);
    }
    frx8_from_words(o, w, 0);
}

/** rows: weak. */
V8_FN void oct_store_tile(chunk *p, size_t stride, const oct rows[8], bool stream)
{
    v8 words[8][4];
    V8_UNROLL
    for (int i = 0; i < 8; i++) {
        frx8_to_words(words[i], &rows[i]);
    }
    V8_UNROLL
    for (int k = 0; k < 4; k++) {
        v8 t[8];
        V8_UNROLL
        for (int i = 0; i < 8; i++) {
            t[i] = words[i][k];
        }
        v8_transpose(t);
        V8_UNROLL
        for (int i = 0; i < 8; i++) {
            uint64_t *to = p[(size_t)i * stride].w[k];
            if (stream) {
                v8_stream(to, t[i]);
            } else {
                v8_storeu(to, t[i]);
            }
        }
    }
}

V8_FN void oct_fence(void)
{
    v8_fence();
}

/** a: raw, in [0, 2^260). */
V8_FN void oct_store(fr *p, const oct *a, bool stream)
{
    v8 w[4];
    oct t = *a;
    weaken_carried(&t);
    oct_reduce(&t);
    frx8_to_words(w, &t);
    store_words(p, w, stream);
}

/* ---- what surrounds the runs ---- */

/* 2^(52(i+1)) mod r as plain words. */
static inline void row_unit(fr *o, int i)
{
    static const fr one = CUZK_CC(FR_ONE);
    if (i == 4) {
        *o = one; /* 2^256 mod r, then times 16 */
        for (int k = 0; k < 4; k++) {
            fr_dbl(o, o);
        }
        return;
    }
    int bit = 52 * (i + 1);
    memset(o, 0, sizeof *o);
    o->l[bit / 64] = UINT64_C(1) << bit % 64;
}

static inline void factor_set(factor *f, const fr *w)
{
    for (int i = 0; i < FRX8_LIMBS; i++) {
        fr unit, row;
        row_unit(&unit, i);
        fr_mul(&row, w, &unit); /* (w·2^256)·unit/2^256 */
        for (int j = 0; j < FRX8_LIMBS; j++) {
            int bit = 52 * j, word = bit / 64, shift = bit % 64;
            uint64_t x = row.l[word] >> shift;
            if (shift > 12 && word + 1 < FR_LIMBS) {
                x |= row.l[word + 1] << (64 - shift);
            }
            f->rows[FRX8_LIMBS * i + j] = x & V8_LOW52;
        }
    }
}

static inline void oct_radix(fr *o)
{
    static const fr r2 = CUZK_CC(FR_R2);
    *o = r2; /* 2^256 as an element, then times 16 */
    for (int k = 0; k < 4; k++) {
        fr_dbl(o, o);
    }
}

/** 2^-126: then a·b/2^260 of elements x·2^256 is plain, and c stands times 2^130. */
static inline void oct_circom_scale(fr *o)
{
    memset(o, 0, sizeof *o);
    o->l[2] = 4; /* 2^130 = 2^-126·2^256 */
}

/* Elements of memory form to x·2^260, weak. */
V8_FN void load_mont(oct *o, const fr p[8])
{
    v8 w[4];
    load_words(w, p);
    frx8_from_words(o, w, 4);
    weaken_carried(o);
}

/* o0, o1 = a0, a1 times g, where row i holds the digits of g·2^(52(i+1)) mod r, lane by lane;
 * digits, below 7r. */
OCT_FN void multiply2_rows(oct *o0, const oct *a0, oct *o1, const oct *a1, const oct rows[5])
{
    frx8_columns t[2];
    const oct *const x[2] = {a0, a1};
    V8_UNROLL
    for (int j = 0; j < FRX8_LIMBS + 2; j++) {
        t[0].t[j] = v8_zero();
        t[1].t[j] = v8_zero();
    }
    V8_UNROLL
    for (int i = 0; i < FRX8_LIMBS; i++) {
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_row_lo(&t[s], 0, x[s]->l[i], &rows[i]);
        }
        V8_UNROLL
        for (int s = 0; s < 2; s++) {
            frx8_row_hi(&t[s], 0, x[s]->l[i], &rows[i]);
        }
    }
    frx8_finish_raw(o0, &t[0]);
    frx8_finish_raw(o1, &t[1]);
    frx8_carry_digits(o0);
    frx8_carry_digits(o1);
}

/* Four chains k mod 4, each multiplied by ratio^4: two pairs at a time hide the latency of one. */
V8_NOINLINE void oct_series(oct *out, size_t n, const fr first[8], const fr ratio[8])
{
    oct g, g2, rows[5];
    load_mont(&g, ratio);
    load_mont(&out[0], first);
    oct_mul2_digits(&out[1], &out[0], &g, &g2, &g, &g);
    oct_mul2_digits(&out[2], &out[0], &g2, &out[3], &out[1], &g2);
    oct_mul2_digits(&rows[4], &g2, &g2, &g2, &g2, &g2);
    for (int i = 3; i >= 0; i--) {
        /* Montgomery's step divides by 2^52 */
        frx8_columns t;
        for (int j = 0; j < FRX8_LIMBS; j++) {
            t.t[j] = rows[i + 1].l[j];
        }
        t.t[FRX8_LIMBS] = v8_zero();
        t.t[FRX8_LIMBS + 1] = v8_zero();
        frx8_finish_raw(&rows[i], &t);
        frx8_carry(&rows[i]);
    }
    for (size_t k = 4; k < n; k += 2) {
        multiply2_rows(&out[k], &out[k - 4], &out[k + 1], &out[k - 3], rows);
    }
}

/** o = a·b/R_L - c of two triples, raw, below 4r. a, b, c: raw, in [0, 2^260). */
V8_FN void oct_mul2_sub(oct *o0, const oct *a0, const oct *b0, const oct *c0, oct *o1,
                        const oct *a1, const oct *b1, const oct *c1)
{
    oct c[2] = {*c0, *c1};
    oct_weaken(&c[0]);
    oct_weaken(&c[1]);
    oct_mul2(o0, a0, b0, o1, a1, b1);
    frx8_sub(o0, o0, &c[0], 2);
    frx8_sub(o1, o1, &c[1], 2);
}

/** Plain form of A·B - C for a, b = A, B times 2^130, c = C times 2^130, of two triples. The
 *  product a·b/2^260 is plain; 2r - c enters it before the division, times 2^130. */
V8_NOINLINE void oct_store2_circom(fr *out0, const oct *a0, const oct *b0, const oct *c0, fr *out1,
                                   const oct *a1, const oct *b1, const oct *c1, bool stream)
{
    oct c[2] = {*c0, *c1}, t[2];
    v8 low[2][8], w[4];
    oct y[2] = {*b0, *b1};
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        const v8 shift = v8_set1(UINT64_C(1) << 26);
        frx8_carry_digits(&y[s]);
        oct_weaken(&c[s]);
        frx8_neg(&c[s], &c[s], 2);
        frx8_carry_digits(&c[s]);
        V8_UNROLL
        for (int j = 0; j < 8; j++) {
            /* 130 bits are two limbs and 26 bits */
            low[s][j] = v8_zero();
            if (j >= 2 && j - 2 < FRX8_LIMBS) {
                low[s][j] = v8_madd_lo(low[s][j], c[s].l[j - 2], shift);
            }
            if (j >= 3) {
                low[s][j] = v8_madd_hi(low[s][j], c[s].l[j - 3], shift);
            }
        }
    }
    oct *const o[2] = {&t[0], &t[1]};
    const oct *const a[2] = {a0, a1}, *const b[2] = {&y[0], &y[1]};
    multiply2(o, a, b, (const v8(*)[8])low);
    V8_UNROLL
    for (int s = 0; s < 2; s++) {
        oct_reduce(&t[s]);
        frx8_to_words(w, &t[s]);
        store_words(s == 0 ? out0 : out1, w, stream);
    }
}

/** a: raw, in [0, 2^260); b: weak. */
V8_FN void oct_store_difference(fr *out, const oct *a, const oct *b, bool stream)
{
    oct t = *a;
    oct_weaken(&t);
    frx8_sub(&t, &t, b, 2);
    oct_store(out, &t, stream);
}

#endif
