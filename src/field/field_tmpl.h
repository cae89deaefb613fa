/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Template of a prime field in Montgomery form. Include it once per field, after defining
 *
 *   F(name)   the function name, for example fp_##name
 *   F_T       the element type, struct { uint64_t l[F_LIMBS]; }
 *   F_LIMBS   number of 64-bit words, a plain number
 *   F_C(name) the constant MODULUS, N0, ONE, R2, FOLD, MODULUS_MINUS_2 (as in the *_consts.h files)
 *
 * It undefines them at its end.
 *
 * Representation: an element x is stored as x·R mod p with R = 2^(64·F_LIMBS), least significant
 * word first, always below p. p is odd and below 2^(64·F_LIMBS - 1). Every function takes and gives
 * reduced elements; outputs may alias inputs; nothing is constant-time by promise. CUZK_VERIFY
 * builds check that inputs and outputs are reduced.
 *
 * Inner loops: inline assembly (mont_adx.h) where CUZK_FIELD_USE_ADX is 1 and the field has 4 or 6
 * words; PTX (limbs_ptx.h) in device code, where CUZK_FIELD_USE_PTX is 1; else the portable ones of
 * limbs.h. */
#if CUZK_FIELD_USE_ADX && (F_LIMBS == 4 || F_LIMBS == 6)
#define F_ADX(verb)           F_ADX_PASTE(verb, F_LIMBS)
#define F_ADX_PASTE(verb, n)  F_ADX_PASTE2(verb, n)
#define F_ADX_PASTE2(verb, n) cuzk_adx_##verb##n
#define F_WITH_ADX            1
static const cuzk_adx_field F(adx_field) = {F_C(MODULUS), F_C(FOLD), F_C(N0), {0}};
#else
#define F_WITH_ADX 0
#endif

/** Whether the words of a are below the modulus. */
static CUZK_HD inline bool F(is_reduced)(const F_T *a)
{
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    return cuzk_limbs_less(a->l, p, F_LIMBS);
}

/** o = 0. */
static CUZK_HD inline void F(set_zero)(F_T *o)
{
    CUZK_UNROLL
    for (int i = 0; i < F_LIMBS; i++) {
        o->l[i] = 0;
    }
}

/** o = 1. */
static CUZK_HD inline void F(set_one)(F_T *o)
{
    CUZK_LOCAL_TABLE F_T one = F_C(ONE);
    *o = one;
}

/** a = 0? */
static CUZK_HD inline bool F(is_zero)(const F_T *a)
{
    return cuzk_limbs_is_zero(a->l, F_LIMBS);
}

/** a = b? */
static CUZK_HD inline bool F(eq)(const F_T *a, const F_T *b)
{
    return cuzk_limbs_eq(a->l, b->l, F_LIMBS);
}

/** a = 1? */
static CUZK_HD inline bool F(is_one)(const F_T *a)
{
    CUZK_LOCAL_TABLE F_T one = F_C(ONE);
    return F(eq)(a, &one);
}

/** o = a + b. */
static CUZK_HD inline void F(add)(F_T *o, const F_T *a, const F_T *b)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a) && F(is_reduced)(b));
#if F_WITH_ADX
    F_ADX(add)(o->l, a->l, b->l, &F(adx_field));
#elif CUZK_FIELD_USE_PTX
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    cuzk_ptx_mod_add(o->l, a->l, b->l, p, F_LIMBS);
#else
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    uint64_t t[F_LIMBS];
    (void)cuzk_limbs_add(t, a->l, b->l, F_LIMBS);
    cuzk_limbs_reduce_once(o->l, t, p, F_LIMBS);
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = 2a. */
static CUZK_HD inline void F(dbl)(F_T *o, const F_T *a)
{
    F(add)(o, a, a);
}

/** o = a - b. */
static CUZK_HD inline void F(sub)(F_T *o, const F_T *a, const F_T *b)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a) && F(is_reduced)(b));
#if F_WITH_ADX
    F_ADX(sub)(o->l, a->l, b->l, &F(adx_field));
#elif CUZK_FIELD_USE_PTX
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    cuzk_ptx_mod_sub(o->l, a->l, b->l, p, F_LIMBS);
#else
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    uint64_t t[F_LIMBS], carry = 0;
    uint64_t mask = 0 - cuzk_limbs_sub(t, a->l, b->l, F_LIMBS);
    CUZK_UNROLL
    for (int i = 0; i < F_LIMBS; i++) {
        o->l[i] = cuzk_adc(t[i], p[i] & mask, &carry);
    }
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = -a. */
static CUZK_HD inline void F(neg)(F_T *o, const F_T *a)
{
    F_T zero;
    F(set_zero)(&zero);
    F(sub)(o, &zero, a);
}

/* ---- products of 2·F_LIMBS words, for sums of products that are reduced once ---- */

/** w = a·b as plain integers; a and b may be any words. w must not overlap a or b. */
static CUZK_HD CUZK_ALWAYS_INLINE void F(mul_wide)(uint64_t *w, const uint64_t *a,
                                                   const uint64_t *b)
{
#if F_WITH_ADX
    F_ADX(wide_mul)(w, a, b);
#else
    cuzk_limbs_mul(w, a, b, F_LIMBS);
#endif
}

/** w = a² as plain integers; a may be any words. w must not overlap a. */
static CUZK_HD CUZK_ALWAYS_INLINE void F(sqr_wide)(uint64_t *w, const uint64_t *a)
{
#if F_WITH_ADX
    F_ADX(wide_sqr)(w, a);
#else
    cuzk_limbs_mul(w, a, a, F_LIMBS);
#endif
}

/** o = w/R mod p, reduced, for w below 0.9·p·R. */
static CUZK_HD CUZK_ALWAYS_INLINE void F(redc_wide)(F_T *o, const uint64_t *w)
{
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_CHECK((cuzk_u128)w[2 * F_LIMBS - 1] * 10 <= (cuzk_u128)p[F_LIMBS - 1] * 9);
#if F_WITH_ADX
    F_ADX(redc)(o->l, w, w + F_LIMBS, &F(adx_field));
#else
    cuzk_mont_redc_portable(o->l, w, w + F_LIMBS, p, F_C(N0), F_LIMBS);
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = a·b. */
CUZK_FIELD_CALL void F(mul)(F_T *o, const F_T *a, const F_T *b)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a) && F(is_reduced)(b));
#if F_WITH_ADX && F_LIMBS == 4
    cuzk_adx_mul4(o->l, a->l, b->l, &F(adx_field));
#elif F_WITH_ADX
    uint64_t w[2 * F_LIMBS];
    F(mul_wide)(w, a->l, b->l);
    F(redc_wide)(o, w);
#else
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_MONT_MUL(o->l, a->l, b->l, p, F_C(N0), F_LIMBS);
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = a². */
CUZK_FIELD_CALL void F(sqr)(F_T *o, const F_T *a)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a));
#if F_WITH_ADX
    uint64_t w[2 * F_LIMBS];
    F(sqr_wide)(w, a->l);
    F(redc_wide)(o, w);
#elif CUZK_FIELD_USE_PTX
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    cuzk_ptx_mont_sqr(o->l, a->l, p, F_C(N0), F_LIMBS);
#else
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_MONT_MUL(o->l, a->l, a->l, p, F_C(N0), F_LIMBS);
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = the element of the plain integer in F_LIMBS words (any value, taken modulo p). */
CUZK_FIELD_CALL void F(from_canonical)(F_T *o, const uint64_t *limbs)
{
    CUZK_LOCAL_TABLE F_T r2 = F_C(R2);
#if F_WITH_ADX
    uint64_t w[2 * F_LIMBS]; /* high half below R2 <= 0.9·p, as the constants' generator asserts */
    F(mul_wide)(w, r2.l, limbs);
    F(redc_wide)(o, w);
#else
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_MONT_MUL(o->l, r2.l, limbs, p, F_C(N0), F_LIMBS);
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** limbs = the plain integer of a, below p, F_LIMBS words. limbs may be a->l. */
CUZK_FIELD_CALL void F(to_canonical)(uint64_t *limbs, const F_T *a)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a));
#if F_WITH_ADX
    F_ADX(redc)(limbs, a->l, F(adx_field).zero, &F(adx_field));
#elif CUZK_FIELD_USE_PTX
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    cuzk_ptx_mont_redc(limbs, a->l, p, F_C(N0), F_LIMBS);
#else
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_LOCAL_TABLE uint64_t zero[F_LIMBS] = {0};
    cuzk_mont_redc_portable(limbs, a->l, zero, p, F_C(N0), F_LIMBS);
#endif
}

/** o = the element stored at src (8·F_LIMBS bytes, any alignment). The bytes are not checked. */
static CUZK_HD inline void F(load)(F_T *o, const void *src)
{
    memcpy(o->l, src, sizeof(o->l));
}

/** Store a at dst (8·F_LIMBS bytes, any alignment). */
static CUZK_HD inline void F(store)(void *dst, const F_T *a)
{
    memcpy(dst, a->l, sizeof(a->l));
}

#include "field/pow_tmpl.h"

/** o = 1/a; 0 gives 0. Binary GCD (inv.h); division steps (inv_divsteps.h) in device code, where
 * threads must not part. */
CUZK_FIELD_CALL void F(inv)(F_T *o, const F_T *a)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a));
#if CUZK_FIELD_USE_PTX
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_LOCAL_TABLE F_T r2 = F_C(R2);
    cuzk_divsteps_inv(o->l, a->l, r2.l, p, F_C(N0), F_LIMBS);
#else
    static const uint64_t p[F_LIMBS] = F_C(MODULUS);
    static const F_T r2 = F_C(R2);
    cuzk_limbs_inv(o->l, a->l, r2.l, p, F_C(N0), F_LIMBS);
#endif
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

#include "field/batch_inv_tmpl.h"

#undef F
#undef F_T
#undef F_LIMBS
#undef F_C
#undef F_ADX
#undef F_ADX_PASTE
#undef F_ADX_PASTE2
#undef F_WITH_ADX
