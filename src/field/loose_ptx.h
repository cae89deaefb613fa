/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loose values of fp and fp2, in device code only: congruent to an element, words at most 2p.
 *
 * With R = 2^(64·FP_LIMBS), p is 0.102·R on bls12_381 and 0.190·R on bn254, and a Montgomery
 * reduction of T gives at most T/R + p. So products of loose values are loose without a correction
 * (4p²/R + p is 1.41p and 1.76p), sums of a few values need none either, and a product in fp2 takes
 * two reductions, not three, since it adds up unreduced products: at most 8p² or p·R + 4p².
 * Every function says what its operands may be; outputs may alias inputs. Part of fp2.h, which
 * includes it. */
#ifndef CUZK_FIELD_LOOSE_PTX_H
#define CUZK_FIELD_LOOSE_PTX_H

/** o = a·b, loose, for loose a and b. */
static __device__ __forceinline__ void fp_mul_loose(fp *o, const fp *a, const fp *b)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    cuzk_ptx_mont_mul_loose(o->l, a->l, b->l, p, CUZK_CC(FP_N0), FP_LIMBS);
}

/** o = a², loose, for loose a. */
static __device__ __forceinline__ void fp_sqr_loose(fp *o, const fp *a)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    cuzk_ptx_mont_sqr_loose(o->l, a->l, p, CUZK_CC(FP_N0), FP_LIMBS);
}

/** o = a + b, not corrected: below R, where a + b is. */
static __device__ __forceinline__ void fp_add_loose(fp *o, const fp *a, const fp *b)
{
    cuzk_ptx_add(o->l, a->l, b->l, FP_LIMBS);
}

/** o = a - b + p for b at most p: at most a + p. */
static __device__ __forceinline__ void fp_sub_loose(fp *o, const fp *a, const fp *b)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    fp t;
    (void)cuzk_ptx_sub(t.l, a->l, b->l, FP_LIMBS);
    cuzk_ptx_add(o->l, t.l, p, FP_LIMBS);
}

/** o = p - a for a at most p. */
static __device__ __forceinline__ void fp_neg_loose(fp *o, const fp *a)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    (void)cuzk_ptx_sub(o->l, p, a->l, FP_LIMBS);
}

/** o = a mod p, for a below 2p. */
static __device__ __forceinline__ void fp_reduce_loose(fp *o, const fp *a)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    cuzk_ptx_reduce_once(o->l, a->l, p, FP_LIMBS);
}

/** o = a mod p, for a below 4p. */
static __device__ __forceinline__ void fp_reduce_sum(fp *o, const fp *a)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t twice[FP_LIMBS];
    fp t;
#pragma unroll
    for (int i = 0; i < FP_LIMBS; i++) {
        twice[i] = p[i] << 1 | (i == 0 ? 0 : p[i - 1] >> 63);
    }
    cuzk_ptx_reduce_once(t.l, a->l, twice, FP_LIMBS);
    fp_reduce_loose(o, &t);
}

/* w += p·R with `whole`, else p·R/2, modulo R². */
static __device__ __forceinline__ void fp_lift_product(uint64_t *w, bool whole)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t high[FP_LIMBS + 1]; /* what is added from word FP_LIMBS - 1 on */
    high[0] = whole ? 0 : p[0] << 63;
#pragma unroll
    for (int i = 0; i < FP_LIMBS; i++) {
        uint64_t above = i == FP_LIMBS - 1 ? 0 : p[i + 1] << 63;
        high[i + 1] = whole ? p[i] : p[i] >> 1 | above;
    }
    if (whole) {
        cuzk_ptx_add(w + FP_LIMBS, w + FP_LIMBS, high + 1, FP_LIMBS);
    } else {
        cuzk_ptx_add(w + FP_LIMBS - 1, w + FP_LIMBS - 1, high, FP_LIMBS + 1);
    }
}

/* An operand of fp2_product: where its coordinates are read, twice each. */
struct fp2_operand {
    const fp2 *a;
    __device__ __forceinline__ void c0(fp *o) const
    {
        *o = a->c0;
    }
    __device__ __forceinline__ void c1(fp *o) const
    {
        *o = a->c1;
    }
};

/** o = a·b: loose for loose operands with LOOSE, else reduced for reduced ones. A, B: types with
 * the functions of fp2_operand.
 *
 *  Karatsuba on unreduced products, the real part first, so that few words are alive at a time.
 *  Real: a0b0 - a1b1 + L with L = p·R/2, or p·R for loose values of bn254. L is at least the
 * highest a1b1: p² and 4p² are 0.102·p·R and 0.406·p·R on bls12_381, 0.190 and 0.757 on bn254. At
 * most a0b0 + L, which the reduction makes 1.60p of reduced and 1.91p of loose operands on
 * bls12_381, 1.69p and 2.76p on bn254. Imaginary: a0b1 + a1b0, at most 2p² and 8p²: 1.21p
 * and 1.82p; 1.38p and 2.52p. What may exceed 2p is below p + 2p: one correction makes it loose,
 * too. */
template <bool LOOSE, class A, class B>
static __device__ __forceinline__ void fp2_product(fp2 *o, A a, B b)
{
    const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    const bool is_corrected = !LOOSE || FP_LIMBS == 4;
    fp x, y, z, real;
    uint64_t low[2 * FP_LIMBS], high[2 * FP_LIMBS], difference[2 * FP_LIMBS];
    a.c0(&x);
    b.c0(&y);
    cuzk_ptx_mul_wide(low, x.l, y.l, FP_LIMBS);
    a.c1(&x);
    b.c1(&y);
    cuzk_ptx_mul_wide(high, x.l, y.l, FP_LIMBS);
    (void)cuzk_ptx_sub(difference, low, high, 2 * FP_LIMBS);
    cuzk_ptx_add(low, low, high, 2 * FP_LIMBS);
    fp_lift_product(difference, LOOSE && FP_LIMBS == 4);
    cuzk_ptx_redc_loose(real.l, difference, p, CUZK_CC(FP_N0), FP_LIMBS);
    if (is_corrected) {
        fp_reduce_loose(&real, &real);
    }
    a.c0(&x);
    a.c1(&z);
    fp_add_loose(&x, &x, &z);
    b.c0(&y);
    b.c1(&z);
    fp_add_loose(&y, &y, &z);
    o->c0 = real;
    cuzk_ptx_mul_wide(high, x.l, y.l, FP_LIMBS);
    (void)cuzk_ptx_sub(high, high, low, 2 * FP_LIMBS);
    cuzk_ptx_redc_loose(o->c1.l, high, p, CUZK_CC(FP_N0), FP_LIMBS);
    if (is_corrected) {
        fp_reduce_loose(&o->c1, &o->c1);
    }
}

/** o = a², loose, for reduced a: (a0 + a1)(a0 - a1 + p) and 2a0·a1. */
static __device__ __forceinline__ void fp2_sqr_to_loose(fp2 *o, const fp2 *a)
{
    fp sum, difference, twice, c1 = a->c1;
    fp_add_loose(&sum, &a->c0, &c1);
    fp_sub_loose(&difference, &a->c0, &c1);
    fp_add_loose(&twice, &a->c0, &a->c0);
    fp_mul_loose(&o->c0, &sum, &difference);
    fp_mul_loose(&o->c1, &twice, &c1);
}

/** o = a·b, loose, for loose a and b. */
static __device__ __forceinline__ void fp2_mul_loose(fp2 *o, const fp2 *a, const fp2 *b)
{
    fp2_operand x = {a}, y = {b};
    fp2_product<true>(o, x, y);
}

/* The rest, as in fp, for each coordinate. */

static __device__ __forceinline__ void fp2_sub_loose(fp2 *o, const fp2 *a, const fp2 *b)
{
    fp_sub_loose(&o->c0, &a->c0, &b->c0);
    fp_sub_loose(&o->c1, &a->c1, &b->c1);
}

static __device__ __forceinline__ void fp2_neg_loose(fp2 *o, const fp2 *a)
{
    fp_neg_loose(&o->c0, &a->c0);
    fp_neg_loose(&o->c1, &a->c1);
}

static __device__ __forceinline__ void fp2_reduce_loose(fp2 *o, const fp2 *a)
{
    fp_reduce_loose(&o->c0, &a->c0);
    fp_reduce_loose(&o->c1, &a->c1);
}

static __device__ __forceinline__ void fp2_reduce_sum(fp2 *o, const fp2 *a)
{
    fp_reduce_sum(&o->c0, &a->c0);
    fp_reduce_sum(&o->c1, &a->c1);
}

/** o = a², loose, for a below 2p. */
static __device__ __forceinline__ void fp2_sqr_loose(fp2 *o, const fp2 *a)
{
    fp2 reduced;
    fp2_reduce_loose(&reduced, a);
    fp2_sqr_to_loose(o, &reduced);
}

#endif
