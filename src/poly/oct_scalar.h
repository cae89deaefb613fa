/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Eight elements at a time, in scalar code: the arithmetic under ntt_tmpl.h for the portable and
 * the ADX path. Every element is a reduced fr at all times, so the range bookkeeping that the
 * eight-lane version needs is empty here.
 *
 * The interface, the same in oct_lanes.h (there with ranges):
 *   oct      eight elements in working form
 *   factor   a fixed multiplier for all eight
 *   chunk    eight elements in intermediate memory, 256 bytes
 * R_L is the radix by which oct_mul divides: 2^256 here. */
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

/** a∘b of eight consecutive reduced elements each, Montgomery form. */
static inline void oct_load_product(oct *o, const fr *a, const fr *b)
{
    for (int i = 0; i < 8; i++) {
        fr_mul(&o->e[i], &a[i], &b[i]);
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

/** Eight consecutive reduced elements out. */
static inline void oct_store(fr *p, const oct *a)
{
    memcpy(p, a, sizeof *a);
}

/** (u, v) → (u + v, u - v), at the first and at the second level of a run. raise: multiple of r to
 *  add to both results, for ranges. */
static inline void oct_butterfly_one_first(oct *u, oct *v)
{
    for (int i = 0; i < 8; i++) {
        fr t = v->e[i];
        fr_sub(&v->e[i], &u->e[i], &t);
        fr_add(&u->e[i], &u->e[i], &t);
    }
}

static inline void oct_butterfly_one_second(oct *u, oct *v, unsigned raise)
{
    (void)raise;
    oct_butterfly_one_first(u, v);
}

/** (u, v) → (u + f·v, u - f·v). */
static inline void oct_butterfly(oct *u, oct *v, const factor *f)
{
    for (int i = 0; i < 8; i++) {
        fr t;
        fr_mul(&t, &v->e[i], &f->w);
        fr_sub(&v->e[i], &u->e[i], &t);
        fr_add(&u->e[i], &u->e[i], &t);
    }
}

static inline void oct_butterfly_raise(oct *u, oct *v, const factor *f, unsigned raise)
{
    (void)raise;
    oct_butterfly(u, v, f);
}

static inline void oct_weaken(oct *a)
{
    (void)a;
}

/** o = a·b/R_L. */
static inline void oct_mul(oct *o, const oct *a, const oct *b)
{
    for (int i = 0; i < 8; i++) {
        fr_mul(&o->e[i], &a->e[i], &b->e[i]);
    }
}

/** o = a·f. */
static inline void oct_mul_factor(oct *o, const oct *a, const factor *f)
{
    for (int i = 0; i < 8; i++) {
        fr_mul(&o->e[i], &a->e[i], &f->w);
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

/** o = a·b/R_L - c. */
static inline void oct_mul_sub(oct *o, const oct *a, const oct *b, const oct *c)
{
    for (int i = 0; i < 8; i++) {
        fr t;
        fr_mul(&t, &a->e[i], &b->e[i]);
        fr_sub(&o->e[i], &t, &c->e[i]);
    }
}

/** Plain form of A·B - C where a, b, c are A, B, C in Montgomery form times oct_circom_scale. */
static inline void oct_store_circom(fr *out, const oct *a, const oct *b, const oct *c)
{
    oct t;
    oct_mul_sub(&t, a, b, c);
    for (int i = 0; i < 8; i++) {
        fr_to_canonical(out[i].l, &t.e[i]);
    }
}

/** a - b, both already in plain form, reduced. */
static inline void oct_store_difference(fr *out, const oct *a, const oct *b)
{
    for (int i = 0; i < 8; i++) {
        fr_sub(&out[i], &a->e[i], &b->e[i]);
    }
}

#endif
