/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multi-word integers under the fields: words of 64 bits, least significant first.
 *
 * Every function takes the number of words n and is meant to be inlined with a constant n, so that
 * its loops unroll and the words live in registers. Montgomery multiplication is the "CIOS" form of
 * Koc, Acar and Kaliski (1996) without the extra carry word, which a modulus below 2^(64n-1) makes
 * superfluous. Portable: plain C11 with a 128-bit integer type; also valid as C++ and device code.
 */
#ifndef CUZK_FIELD_LIMBS_H
#define CUZK_FIELD_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether the device's bodies are compiled: by CUDA for the device, or by a test that emulates its
 * instructions on the host (tests/cuda/simt.h). */
#if defined(__CUDA_ARCH__) || defined(CUZK_EMULATED_DEVICE)
#define CUZK_DEVICE_CODE 1
#else
#define CUZK_DEVICE_CODE 0
#endif

/* Functions of the common headers run on both sides when CUDA compiles them. */
#if defined(__CUDACC__)
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif

#define CUZK_ALWAYS_INLINE inline __attribute__((always_inline))

/* Types that may lie over the words of another type (a file, cuzk_fr). */
#define CUZK_MAY_ALIAS __attribute__((may_alias))

/* Tables inside functions: device code has no static storage there and folds them instead. */
#if defined(__CUDA_ARCH__)
#define CUZK_LOCAL_TABLE const
#else
#define CUZK_LOCAL_TABLE static const
#endif

/* Before a loop with a small constant trip count: unroll it completely. */
#if defined(__CUDACC__) || defined(__clang__)
#define CUZK_UNROLL _Pragma("unroll")
#else
#define CUZK_UNROLL _Pragma("GCC unroll 16")
#endif

__extension__ typedef unsigned __int128 cuzk_u128;

/* gcc 12 makes no carry chains of 128-bit sums, but does of its own builtins. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define CUZK_LIMBS_X86_CARRY 1
#else
#define CUZK_LIMBS_X86_CARRY 0
#endif

/** a + b + carry; *carry (0 or 1) is replaced by the carry out. */
static CUZK_HD CUZK_ALWAYS_INLINE uint64_t cuzk_adc(uint64_t a, uint64_t b, uint64_t *carry)
{
#if CUZK_LIMBS_X86_CARRY
    unsigned long long sum;
    *carry = __builtin_ia32_addcarryx_u64((unsigned char)*carry, a, b, &sum);
    return sum;
#else
    cuzk_u128 t = (cuzk_u128)a + b + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
#endif
}

/** a - b - borrow; *borrow (0 or 1) is replaced by the borrow out. */
static CUZK_HD CUZK_ALWAYS_INLINE uint64_t cuzk_sbb(uint64_t a, uint64_t b, uint64_t *borrow)
{
#if CUZK_LIMBS_X86_CARRY
    unsigned long long difference;
    *borrow = __builtin_ia32_sbb_u64((unsigned char)*borrow, a, b, &difference);
    return difference;
#else
    cuzk_u128 t = (cuzk_u128)a - b - *borrow;
    *borrow = (uint64_t)(t >> 64) & 1;
    return (uint64_t)t;
#endif
}

/** Low word of a·b + c + *carry; *carry becomes the high word. Never overflows. */
static CUZK_HD CUZK_ALWAYS_INLINE uint64_t cuzk_mac(uint64_t a, uint64_t b, uint64_t c,
                                                    uint64_t *carry)
{
    cuzk_u128 t = (cuzk_u128)a * b + c + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}

/** o = a + b; returns the carry out. */
static CUZK_HD CUZK_ALWAYS_INLINE uint64_t cuzk_limbs_add(uint64_t *o, const uint64_t *a,
                                                          const uint64_t *b, int n)
{
    uint64_t carry = 0;
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        o[i] = cuzk_adc(a[i], b[i], &carry);
    }
    return carry;
}

/** o = a - b; returns the borrow out. */
static CUZK_HD CUZK_ALWAYS_INLINE uint64_t cuzk_limbs_sub(uint64_t *o, const uint64_t *a,
                                                          const uint64_t *b, int n)
{
    uint64_t borrow = 0;
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        o[i] = cuzk_sbb(a[i], b[i], &borrow);
    }
    return borrow;
}

/** Whether a < b. */
static CUZK_HD CUZK_ALWAYS_INLINE bool cuzk_limbs_less(const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t borrow = 0;
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        (void)cuzk_sbb(a[i], b[i], &borrow);
    }
    return borrow != 0;
}

/** Whether all words are zero. */
static CUZK_HD CUZK_ALWAYS_INLINE bool cuzk_limbs_is_zero(const uint64_t *a, int n)
{
    uint64_t any = 0;
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        any |= a[i];
    }
    return any == 0;
}

/** Whether a = b. */
static CUZK_HD CUZK_ALWAYS_INLINE bool cuzk_limbs_eq(const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t any = 0;
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        any |= a[i] ^ b[i];
    }
    return any == 0;
}

/** o = a mod p for a < 2p, without a branch. p < 2^(64n-1). o may be a. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_limbs_reduce_once(uint64_t *o, const uint64_t *a,
                                                              const uint64_t *p, int n)
{
    uint64_t t[16];
    uint64_t keep = 0 - cuzk_limbs_sub(t, a, p, n);
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        o[i] = (a[i] & keep) | (t[i] & ~keep);
    }
}

/** o = a·b, 2n words. o must not overlap a or b. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_limbs_mul(uint64_t *o, const uint64_t *a,
                                                      const uint64_t *b, int n)
{
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        CUZK_UNROLL
        for (int j = 0; j < n; j++) {
            o[i + j] = cuzk_mac(a[j], b[i], i == 0 ? 0 : o[i + j], &carry);
        }
        o[i + n] = carry;
    }
}

/** o = a·b·2^(-64n) mod p, reduced.
 *
 *  a < p; b is any n-word number; p odd, p < 2^(64n-1); n0 = -1/p mod 2^64. o may be a or b.
 *  Invariant: after each of the n steps t < 2p. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_mont_mul_portable(uint64_t *o, const uint64_t *a,
                                                              const uint64_t *b, const uint64_t *p,
                                                              uint64_t n0, int n)
{
    uint64_t t[16];
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t carry_a = 0, carry_m = 0;
        uint64_t w = cuzk_mac(a[0], b[i], i == 0 ? 0 : t[0], &carry_a);
        uint64_t m = w * n0;
        (void)cuzk_mac(m, p[0], w, &carry_m);
        CUZK_UNROLL
        for (int j = 1; j < n; j++) {
            w = cuzk_mac(a[j], b[i], i == 0 ? 0 : t[j], &carry_a);
            t[j - 1] = cuzk_mac(m, p[j], w, &carry_m);
        }
        t[n - 1] = carry_a + carry_m;
    }
    cuzk_limbs_reduce_once(o, t, p, n);
}

/** o = h + l·2^(-64n) mod p, reduced: the halves of a 2n-word number below (2^(64n) - 1)·p. o may
 * be l or h. */
static CUZK_HD CUZK_ALWAYS_INLINE void cuzk_mont_redc_portable(uint64_t *o, const uint64_t *l,
                                                               const uint64_t *h, const uint64_t *p,
                                                               uint64_t n0, int n)
{
    uint64_t t[16];
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        t[i] = l[i];
    }
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t m = t[0] * n0, carry = 0;
        (void)cuzk_mac(m, p[0], t[0], &carry);
        CUZK_UNROLL
        for (int j = 1; j < n; j++) {
            t[j - 1] = cuzk_mac(m, p[j], t[j], &carry);
        }
        t[n - 1] = carry; /* t <= p at the end */
    }
    (void)cuzk_limbs_add(t, t, h, n);
    cuzk_limbs_reduce_once(o, t, p, n);
}

#endif
