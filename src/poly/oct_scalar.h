/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Eight elements at a time, in scalar code: the arithmetic under ntt_tmpl.h for the portable and
 * the ADX path. Every element is a reduced fr at all times, so the range bookkeeping that the
 * eight-lane version needs is empty here.
 *
 * The interface, the same in oct_lanes.h (there with ranges):
 *   oct      eight elements in working form
 *   factor   a fixed multiplier for all eight
 *   chunk    eight elements in intermediate memory, 256 bytes
 * R_L is the radix by which oct_mul2 divides: 2^256 here. Hot operations take two independent
 * sets of arguments, which the eight-lane version interleaves. */
#ifndef CUZK_POLY_OCT_SCALAR_H
#define CUZK_POLY_OCT_SCALAR_H

#include "field/fields.h"

typedef struct {
    fr e[8];
} oct;

typedef struct {
    fr w;
} factor;

typedef struct {
    fr e[8];
} chunk;

/* Largest value, in multiples of r, that a transform may reach: not a concern of reduced values. */
enum { OCT_RANGE_LIMIT = 1 << 20 };

/** The multiplier w (Montgomery form) as a table entry. */
static inline void factor_set(factor *f, const fr *w)
{
    f->w = *w;
}

/** R_L as an element. */
static inline void oct_radix(fr *o)
{
    static const fr r2 = CUZK_CC(FR_R2);
    *o = r2;
}

/** The common factor of a, b and c that oct_store_circom expects. */
static inline void oct_circom_scale(fr *o)
{
    fr_set_one(o);
}

/** Eight consecutive reduced elements. */
static inline void oct_load(oct *o, const fr *p)
{
    memcpy(o, p, sizeof *o);
}

/** a∘b of eight consecutive reduced elements each, Montgomery form, twice. */
static inline void oct_load2_products(oct *o0, oct *o1, const fr *a0, const fr *b0, const fr *a1,
                                      const fr *b1)
{
    for (int i = 0; i < 8; i++) {
        fr_mul(&o0->e[i], &a0[i], &b0[i]);
        fr_mul(&o1->e[i], &a1[i], &b1[i]);
    }
}

static inline void oct_load_chunk(oct *o, const chunk *p)
{
    memcpy(o, p, sizeof *o);
}

/** Transposed store: chunk t, at p[t·stride], gets element t of rows[0 … 7]. stream: bypass the
 *  caches where that exists. */
static inline void oct_store_tile(chunk *p, size_t stride, const oct rows[8], bool stream)
{
    (void)stream;
    for (size_t t = 0; t < 8; t++) {
        for (size_t i = 0; i < 8; i++) {
            p[t * stride].e[i] = rows[i].e[t];
        }
    }
}

/** Make streamed stores visible to other threads. */
static inline void oct_fence(void)
{
}

/** Eight consecutive elements out, reduced. */
static inline void oct_store(fr *p, const oct *a, bool stream)
{
    (void)stream;
    memcpy(p, a, sizeof *a);
}

/** (u, v) → (u + v, u - v) at the first level of a run. */
static inline void oct_butterfly_one_first(oct *u, oct *v)
{
    for (int i = 0; i < 8; i++) {
        fr t = v->e[i];
        fr_sub(&v->e[i], &u->e[i], &t);
        fr_add(&u->e[i], &u->e[i], &t);
    }
}

/** The same at the second level. raise: multiple of r to add to both results, for ranges. */
static inline void oct_butterfly_one_second(oct *u, oct *v, unsigned raise)
{
    (void)raise;
    oct_butterfly_one_first(u, v);
}

static inline void butterfly(oct *u, oct *v, const factor *f)
{
    for (int i = 0; i < 8; i++) {
        fr t;
        fr_mul(&t, &v->e[i], &f->w);
        fr_sub(&v->e[i], &u->e[i], &t);
        fr_add(&u->e[i], &u->e[i], &t);
    }
}

/** (u, v) → (u + f·v, u - f·v) of two independent pairs. */
static inline void oct_butterfly2(oct *u0, oct *v0, const factor *f0, oct *u1, oct *v1,
                                  const factor *f1)
{
    butterfly(u0, v0, f0);
    butterfly(u1, v1, f1);
}

/** The same; raise: multiple of r to add to all results, for ranges. */
static inline void oct_butterfly2_raise(oct *u0, oct *v0, const factor *f0, oct *u1, oct *v1,
                                        const factor *f1, unsigned raise)
{
    (void)raise;
    oct_butterfly2(u0, v0, f0, u1, v1, f1);
}

/** Bring the range of a below 2r. */
static inline void oct_weaken(oct *a)
{
    (void)a;
}

static inline void multiply(oct *o, const oct *a, const oct *b)
{
    for (int i = 0; i < 8; i++) {
        fr_mul(&o->e[i], &a->e[i], &b->e[i]);
    }
}

/** o = a·b/R_L of two independent pairs. o may be any of the inputs. */
static inline void oct_mul2(oct *o0, const oct *a0, const oct *b0, oct *o1, const oct *a1,
                            const oct *b1)
{
    multiply(o0, a0, b0);
    multiply(o1, a1, b1);
}

/** The same, where b comes from oct_series. */
static inline void oct_mul2_digits(oct *o0, const oct *a0, const oct *b0, oct *o1, const oct *a1,
                                   const oct *b1)
{
    oct_mul2(o0, a0, b0, o1, a1, b1);
}

/** o = a·f of two independent pairs. o may be a. */
static inline void oct_mul2_factors(oct *o0, const oct *a0, const factor *f0, oct *o1,
                                    const oct *a1, const factor *f1)
{
    for (int i = 0; i < 8; i++) {
        fr_mul(&o0->e[i], &a0->e[i], &f0->w);
    }
    for (int i = 0; i < 8; i++) {
        fr_mul(&o1->e[i], &a1->e[i], &f1->w);
    }
}

/** out[k], lane l = first[l]·ratio[l]^k·R_L for k = 0 … n-1, as multipliers for oct_mul. n is a
 *  multiple of 8. */
static inline void oct_series(oct *out, size_t n, const fr first[8], const fr ratio[8])
{
    memcpy(out[0].e, first, sizeof out[0].e);
    for (size_t k = 1; k < n; k++) {
        for (int i = 0; i < 8; i++) {
            fr_mul(&out[k].e[i], &out[k - 1].e[i], &ratio[i]);
        }
    }
}

/** o = a·b/R_L - c of two triples. o may be any of the inputs. */
static inline void oct_mul2_sub(oct *o0, const oct *a0, const oct *b0, const oct *c0, oct *o1,
                                const oct *a1, const oct *b1, const oct *c1)
{
    multiply(o0, a0, b0);
    multiply(o1, a1, b1);
    for (int i = 0; i < 8; i++) {
        fr_sub(&o0->e[i], &o0->e[i], &c0->e[i]);
        fr_sub(&o1->e[i], &o1->e[i], &c1->e[i]);
    }
}

/** Plain form of A·B - C of two triples, where a, b, c are A, B, C in Montgomery form times
 *  oct_circom_scale. */
static inline void oct_store2_circom(fr *out0, const oct *a0, const oct *b0, const oct *c0,
                                     fr *out1, const oct *a1, const oct *b1, const oct *c1,
                                     bool stream)
{
    oct t0, t1;
    (void)stream;
    oct_mul2_sub(&t0, a0, b0, c0, &t1, a1, b1, c1);
    for (int i = 0; i < 8; i++) {
        fr_to_canonical(out0[i].l, &t0.e[i]);
        fr_to_canonical(out1[i].l, &t1.e[i]);
    }
}

/** a - b, both already in plain form; b from oct_mul2_factors. */
static inline void oct_store_difference(fr *out, const oct *a, const oct *b, bool stream)
{
    (void)stream;
    for (int i = 0; i < 8; i++) {
        fr_sub(&out[i], &a->e[i], &b->e[i]);
    }
}

#endif
