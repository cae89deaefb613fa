/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Template of a prime field in Montgomery form. Include it once per field, after defining
 *
 *   F(name)   the function name, for example fp_##name
 *   F_T       the element type, struct { uint64_t l[F_LIMBS]; }
 *   F_LIMBS   number of 64-bit words, a plain number
 *   F_C(name) the constant MODULUS, N0, ONE, R2, MODULUS_MINUS_2 (as in the *_consts.h files)
 *
 * It undefines them at its end.
 *
 * Representation: an element x is stored as x·R mod p with R = 2^(64·F_LIMBS), least significant
 * word first, always below p. p is odd and below 2^(64·F_LIMBS - 1). Every function takes and gives
 * reduced elements; outputs may alias inputs; nothing is constant-time by promise. CUZK_VERIFY
 * builds check that inputs and outputs are reduced.
 *
 * F(mul) is the one hot function: its body is portable C here, inline assembly on the ADX path
 * (mont_adx.h), and CUZK_DEVICE_MONT_MUL(o, a, b, p, n0, n), if defined, in device code. */
#ifndef CUZK_FIELD_CHECK_DEFINED
#define CUZK_FIELD_CHECK_DEFINED
#if defined(CUZK_VERIFY) && !defined(__CUDA_ARCH__)
#define CUZK_FIELD_CHECK(cond) CUZK_ASSERT(cond)
#else
#define CUZK_FIELD_CHECK(cond) ((void)0)
#endif
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
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_CHECK(F(is_reduced)(a) && F(is_reduced)(b));
    uint64_t t[F_LIMBS];
    (void)cuzk_limbs_add(t, a->l, b->l, F_LIMBS);
    cuzk_limbs_reduce_once(o->l, t, p, F_LIMBS);
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
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_CHECK(F(is_reduced)(a) && F(is_reduced)(b));
    uint64_t t[F_LIMBS], carry = 0;
    uint64_t mask = 0 - cuzk_limbs_sub(t, a->l, b->l, F_LIMBS);
    CUZK_UNROLL
    for (int i = 0; i < F_LIMBS; i++) {
        o->l[i] = cuzk_adc(t[i], p[i] & mask, &carry);
    }
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = -a. */
static CUZK_HD inline void F(neg)(F_T *o, const F_T *a)
{
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_CHECK(F(is_reduced)(a));
    uint64_t mask = F(is_zero)(a) ? 0 : ~UINT64_C(0), borrow = 0;
    CUZK_UNROLL
    for (int i = 0; i < F_LIMBS; i++) {
        o->l[i] = cuzk_sbb(p[i] & mask, a->l[i], &borrow);
    }
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/* o = a·b/R mod p, reduced, on words: a < p, b any number of F_LIMBS words. */
static CUZK_HD inline void F(mont_mul)(uint64_t *o, const uint64_t *a, const uint64_t *b)
{
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
#if defined(__CUDA_ARCH__) && defined(CUZK_DEVICE_MONT_MUL)
    CUZK_DEVICE_MONT_MUL(o, a, b, p, F_C(N0), F_LIMBS);
#else
    cuzk_mont_mul_portable(o, a, b, p, F_C(N0), F_LIMBS);
#endif
}

/** o = a·b. */
static CUZK_HD inline void F(mul)(F_T *o, const F_T *a, const F_T *b)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a) && F(is_reduced)(b));
    F(mont_mul)(o->l, a->l, b->l);
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = a². */
static CUZK_HD inline void F(sqr)(F_T *o, const F_T *a)
{
    CUZK_FIELD_CHECK(F(is_reduced)(a));
    F(mont_mul)(o->l, a->l, a->l);
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** o = the element of the plain integer in F_LIMBS words (any value, taken modulo p). */
static CUZK_HD inline void F(from_canonical)(F_T *o, const uint64_t *limbs)
{
    CUZK_LOCAL_TABLE F_T r2 = F_C(R2);
    F(mont_mul)(o->l, r2.l, limbs);
    CUZK_FIELD_CHECK(F(is_reduced)(o));
}

/** limbs = the plain integer of a, below p, F_LIMBS words. limbs may be a->l. */
static CUZK_HD inline void F(to_canonical)(uint64_t *limbs, const F_T *a)
{
    CUZK_LOCAL_TABLE uint64_t p[F_LIMBS] = F_C(MODULUS);
    CUZK_FIELD_CHECK(F(is_reduced)(a));
    cuzk_mont_redc_portable(limbs, a->l, p, F_C(N0), F_LIMBS);
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

/** o = 1/a; 0 gives 0. */
static CUZK_HD inline void F(inv)(F_T *o, const F_T *a)
{
    CUZK_LOCAL_TABLE uint64_t e[F_LIMBS] = F_C(MODULUS_MINUS_2);
    F(pow)(o, a, e, F_LIMBS);
}

#include "field/batch_inv_tmpl.h"

#undef F
#undef F_T
#undef F_LIMBS
#undef F_C
