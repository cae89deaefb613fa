/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multiplication in fr by factors that stand in tables, and sums below 2r, for transforms on a
 * device.
 *
 * A factor is stored as w and q = floor(w·2^256/r), both plain. With k = floor(x·q/2^256) the value
 * x·w - k·r lies in [0, 2r) for every x below 2r: one full product less than a Montgomery product,
 * and x may be in Montgomery form, which stays. (V. Shoup's trick, as in his NTL.) The device takes
 * an approximation of k from the upper word products: it is at most one too small, and then only by
 * a part below 2^-29, so that the bound 2r still holds since 2r/2^256 < 0.91.
 * "Loose" values are words below 2r; 4r may exceed 2^256, sums carry into a bit that is dropped
 * after the comparison. "Wide" values are words below 2^256 - 2^232, where products are still below
 * (1 + 2^-29 + 1 - 2^-24)·r. Where one operand of a sum is wide and the other one loose, it is
 * corrected only where it leaves that range, which is told by a carry and the highest word. */
#ifndef CUZK_FIELD_FACTOR_H
#define CUZK_FIELD_FACTOR_H

#include "field/fields.h"

typedef struct {
    uint64_t w[FR_LIMBS]; /* below r */
    uint64_t q[FR_LIMBS]; /* floor(w·2^256/r) */
} CUZK_MAY_ALIAS fr_factor;

/* 2r */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_twice_modulus(uint64_t *o)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        o[i] = r[i] << 1 | (i == 0 ? 0 : r[i - 1] >> 63);
    }
}

/** The factor that multiplies by a.
 *
 *  A Montgomery reduction of m = a·2^256 mod r finds q with m + q·r = w·2^256, and q is the
 * quotient wanted, since m < r. */
static CUZK_HD inline void fr_factor_from(fr_factor *o, const fr *a)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    uint64_t t[FR_LIMBS];
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        t[i] = a->l[i];
    }
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        uint64_t m = t[0] * CUZK_CC(FR_N0), carry = 0;
        (void)cuzk_mac(m, r[0], t[0], &carry);
        CUZK_UNROLL
        for (int j = 1; j < FR_LIMBS; j++) {
            t[j - 1] = cuzk_mac(m, r[j], t[j], &carry);
        }
        t[FR_LIMBS - 1] = carry;
        o->q[i] = m;
    }
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        o->w[i] = t[i];
    }
}

#if CUZK_DEVICE_CODE
/* q = about the high half of x·f: floor of the products of words i and j with i + j >= 2n - 2,
 * which is at most one less. Products are kept apart by the parity of i + j, as in a Montgomery
 * product; position 0 of the arrays has the weight of word 0. */
static __device__ __forceinline__ void fr_ptx_mul_high(uint32_t *q, const uint64_t *x,
                                                       const uint64_t *f, int n)
{
    const int words = 2 * n;
    uint32_t sum[2][34];
#pragma unroll
    for (int j = words - 2; j < 2 * words; j++) {
        sum[0][j] = 0;
        sum[1][j] = 0;
    }
#pragma unroll
    for (int i = 0; i < words; i++) {
        uint32_t y = cuzk_ptx_half(x, i);
#pragma unroll
        for (int parity = 0; parity < 2; parity++) {
            uint32_t *s = sum[parity];
            int top = 0; /* the position after the row's last product */
            int begin = i < words - 2 ? words - 2 - i + parity : (i + parity) & 1;
#pragma unroll
            for (int j = begin; j < words; j += 2) {
                int at = i + j;
                s[at] = top == 0 ? cuzk_ptx_mad_lo_cc(cuzk_ptx_half(f, j), y, s[at])
                                 : cuzk_ptx_madc_lo_cc(cuzk_ptx_half(f, j), y, s[at]);
                if (j == words - 1) { /* s[at + 1] was 0 and s[at] at most 1: no carry goes on */
                    s[at + 1] = cuzk_ptx_madc_hi(cuzk_ptx_half(f, j), y, s[at + 1]);
                    top = 2 * words;
                    continue;
                }
                s[at + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(f, j), y, s[at + 1]);
                top = at + 2;
            }
            if (i != 0 && top != 0 && top < 2 * words) { /* the first row carries nothing */
                s[top] = cuzk_ptx_addc(s[top], 0);
            }
        }
    }
    (void)cuzk_ptx_add_cc(sum[0][words - 1], sum[1][words - 1]);
#pragma unroll
    for (int j = 0; j < words; j++) {
        q[j] = cuzk_ptx_addc_cc(sum[0][words + j], sum[1][words + j]);
    }
}

/** o = x·w mod p, below 2p: factor.h. w < p < 2^(64n-1), f = floor(w·2^(64n)/p), x < 2p.
 *
 *  x·w + k·(-p) modulo 2^(64n) with k from the upper products of x·f. Where p's low words are 1 and
 *  2^32 - 1 those of -p are 2^32 - 1 and 0, and the sum begins with k·(2^32 - 1) = k·2^32 - k. */
static __device__ __forceinline__ void fr_ptx_mul_factor(uint64_t *o, const uint64_t *x,
                                                         const uint64_t *w, const uint64_t *f,
                                                         const uint64_t *p, int n)
{
    const int words = 2 * n;
    const bool easy = cuzk_ptx_easy_low(p);
    uint32_t k[32], x_words[32], even[34], odd[34];
    uint64_t minus_p[16];
    fr_ptx_mul_high(k, x, f, n);
#pragma unroll
    for (int j = 0; j < words; j++) {
        x_words[j] = cuzk_ptx_half(x, j);
        even[j] = 0;
        odd[j] = 0;
    }
#pragma unroll
    for (int i = 0; i < n; i++) {
        minus_p[i] = i == 0 ? 0 - p[0] : ~p[i]; /* p is odd: no carry out of the lowest word */
    }
    if (easy) {
        even[0] = cuzk_ptx_sub_cc(0, k[0]);
#pragma unroll
        for (int j = 1; j < words - 1; j++) {
            even[j] = cuzk_ptx_subc_cc(k[j - 1], k[j]);
        }
        even[words - 1] = cuzk_ptx_subc(k[words - 2], k[words - 1]);
    }
    cuzk_ptx_mul_low(even, odd, x_words, w, 0, n);
    cuzk_ptx_mul_low(even, odd, k, minus_p, easy ? 2 : 0, n);
    even[1] = cuzk_ptx_add_cc(even[1], odd[1]);
#pragma unroll
    for (int j = 2; j < words - 1; j++) {
        even[j] = cuzk_ptx_addc_cc(even[j], odd[j]);
    }
    even[words - 1] = cuzk_ptx_addc(even[words - 1], odd[words - 1]);
    cuzk_ptx_join(o, even, n);
}
#endif

/** o = x·w modulo r, loose, for wide x. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_mul_factor(fr *o, const fr *x, const fr_factor *f)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
#if CUZK_DEVICE_CODE
    fr_ptx_mul_factor(o->l, x->l, f->w, f->q, r, FR_LIMBS);
#else
    uint64_t product[2 * FR_LIMBS], k_r[2 * FR_LIMBS];
    cuzk_limbs_mul(product, x->l, f->q, FR_LIMBS);
    cuzk_limbs_mul(k_r, product + FR_LIMBS, r, FR_LIMBS);
    cuzk_limbs_mul(product, x->l, f->w, FR_LIMBS);
    (void)cuzk_limbs_sub(o->l, product, k_r, FR_LIMBS);
#endif
}

#if CUZK_DEVICE_CODE
#if defined(CUZK_EMULATED_DEVICE)
static inline void fr_ptx_add_if(uint32_t *w, const uint64_t *m, uint32_t condition)
{
    uint64_t carry = 0;
    for (int j = 0; j < 8 && condition != 0; j++) {
        carry += (uint64_t)w[j] + cuzk_ptx_half(m, j);
        w[j] = (uint32_t)carry;
        carry >>= 32;
    }
}
#else
/** w <- w + m modulo 2^256 where condition is not 0: eight predicated instructions, no selections.
 */
static __device__ __forceinline__ void fr_ptx_add_if(uint32_t *w, const uint64_t *m,
                                                     uint32_t condition)
{
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "setp.ne.u32 p, %16, 0;\n\t"
                 "@p add.cc.u32 %0, %0, %8;\n\t"
                 "@p addc.cc.u32 %1, %1, %9;\n\t"
                 "@p addc.cc.u32 %2, %2, %10;\n\t"
                 "@p addc.cc.u32 %3, %3, %11;\n\t"
                 "@p addc.cc.u32 %4, %4, %12;\n\t"
                 "@p addc.cc.u32 %5, %5, %13;\n\t"
                 "@p addc.cc.u32 %6, %6, %14;\n\t"
                 "@p addc.u32 %7, %7, %15;\n\t}"
                 : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3]), "+r"(w[4]), "+r"(w[5]),
                   "+r"(w[6]), "+r"(w[7])
                 : "r"(cuzk_ptx_half(m, 0)), "r"(cuzk_ptx_half(m, 1)), "r"(cuzk_ptx_half(m, 2)),
                   "r"(cuzk_ptx_half(m, 3)), "r"(cuzk_ptx_half(m, 4)), "r"(cuzk_ptx_half(m, 5)),
                   "r"(cuzk_ptx_half(m, 6)), "r"(cuzk_ptx_half(m, 7)), "r"(condition));
}
#endif

/** o = a - b, plus m where that is negative; 256 bits. */
static __device__ __forceinline__ void fr_ptx_sub_wrap(uint64_t *o, const uint64_t *a,
                                                       const uint64_t *b, const uint64_t *m)
{
    uint32_t w[8];
    w[0] = cuzk_ptx_sub_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(b, 0));
#pragma unroll
    for (int j = 1; j < 8; j++) {
        w[j] = cuzk_ptx_subc_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(b, j));
    }
    fr_ptx_add_if(w, m, cuzk_ptx_subc(0, 0));
    cuzk_ptx_join(o, w, 4);
}

/** o = a + b, plus minus_m modulo 2^256 where that is 2^256 - 2^232 or more. */
static __device__ __forceinline__ void fr_ptx_add_wrap(uint64_t *o, const uint64_t *a,
                                                       const uint64_t *b, const uint64_t *minus_m)
{
    uint32_t w[8];
    w[0] = cuzk_ptx_add_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(b, 0));
#pragma unroll
    for (int j = 1; j < 8; j++) {
        w[j] = cuzk_ptx_addc_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(b, j));
    }
    uint32_t carry = cuzk_ptx_addc(0, 0);
    fr_ptx_add_if(w, minus_m, carry | (uint32_t)(w[7] >= 0xffffff00u));
    cuzk_ptx_join(o, w, 4);
}
#endif

/** o = a + b modulo r: wide, for wide a and loose b. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_add_wide(fr *o, const fr *a, const fr *b)
{
    uint64_t twice[FR_LIMBS], minus_twice[FR_LIMBS];
    fr_twice_modulus(twice);
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) { /* the lowest word of 2r is not 0 */
        minus_twice[i] = i == 0 ? 0 - twice[0] : ~twice[i];
    }
#if CUZK_DEVICE_CODE
    fr_ptx_add_wrap(o->l, a->l, b->l, minus_twice);
#else
    uint64_t sum[FR_LIMBS], less[FR_LIMBS];
    uint64_t carry = cuzk_limbs_add(sum, a->l, b->l, FR_LIMBS);
    uint64_t take = 0 - (carry | (uint64_t)(sum[FR_LIMBS - 1] >> 40 == 0xffffff));
    (void)cuzk_limbs_add(less, sum, minus_twice, FR_LIMBS);
    for (int i = 0; i < FR_LIMBS; i++) {
        o->l[i] = (less[i] & take) | (sum[i] & ~take);
    }
#endif
}

/** o = a - b modulo r: wide, for wide a and loose b; loose, for loose a. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_sub_wide(fr *o, const fr *a, const fr *b)
{
    uint64_t twice[FR_LIMBS];
    fr_twice_modulus(twice);
#if CUZK_DEVICE_CODE
    fr_ptx_sub_wrap(o->l, a->l, b->l, twice);
#else
    uint64_t difference[FR_LIMBS], carry = 0;
    uint64_t mask = 0 - cuzk_limbs_sub(difference, a->l, b->l, FR_LIMBS);
    for (int i = 0; i < FR_LIMBS; i++) {
        o->l[i] = cuzk_adc(difference[i], twice[i] & mask, &carry);
    }
#endif
}

/** o = a + b modulo r; all loose. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_add_loose(fr *o, const fr *a, const fr *b)
{
    uint64_t twice[FR_LIMBS];
    fr_twice_modulus(twice);
#if CUZK_DEVICE_CODE
    cuzk_ptx_add_below(o->l, a->l, b->l, twice, FR_LIMBS);
#else
    uint64_t sum[FR_LIMBS], less[FR_LIMBS];
    uint64_t carry = cuzk_limbs_add(sum, a->l, b->l, FR_LIMBS);
    uint64_t keep = 0 - (cuzk_limbs_sub(less, sum, twice, FR_LIMBS) & ~carry & 1);
    for (int i = 0; i < FR_LIMBS; i++) {
        o->l[i] = (sum[i] & keep) | (less[i] & ~keep);
    }
#endif
}

/** o = the loose element of a wide one. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_loosen_wide(fr *o, const fr *a)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    uint64_t multiple[FR_LIMBS];
    *o = *a;
    CUZK_UNROLL
    for (int shift = r[FR_LIMBS - 1] >> 62 == 0 ? 2 : 1; shift > 0;
         shift--) { /* 4r, if there is, and 2r */
        CUZK_UNROLL
        for (int i = 0; i < FR_LIMBS; i++) {
            multiple[i] = r[i] << shift | (i == 0 ? 0 : r[i - 1] >> (64 - shift));
        }
#if CUZK_DEVICE_CODE
        cuzk_ptx_reduce_once(o->l, o->l, multiple, FR_LIMBS);
#else
        cuzk_limbs_reduce_once(o->l, o->l, multiple, FR_LIMBS);
#endif
    }
}

/** o = the reduced element of a loose one. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_reduce_loose(fr *o, const fr *a)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
#if CUZK_DEVICE_CODE
    cuzk_ptx_reduce_once(o->l, a->l, r, FR_LIMBS);
#else
    cuzk_limbs_reduce_once(o->l, a->l, r, FR_LIMBS);
#endif
}

/** o = a / 2^bits modulo r for a reduced a: a reduced element again. bits < 64. */
static CUZK_HD CUZK_ALWAYS_INLINE void fr_halve(fr *o, const fr *a, unsigned bits)
{
    CUZK_LOCAL_TABLE uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    /* the multiple of r that clears the low bits; a + m·r < 2^bits·r */
    uint64_t m = a->l[0] * CUZK_CC(FR_N0) & ((UINT64_C(1) << bits) - 1), carry = 0;
    uint64_t sum[FR_LIMBS + 1];
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        sum[i] = cuzk_mac(m, r[i], a->l[i], &carry);
    }
    sum[FR_LIMBS] = carry;
    CUZK_UNROLL
    for (int i = 0; i < FR_LIMBS; i++) {
        o->l[i] = sum[i] >> bits | sum[i + 1] << 1 << (63 - bits);
    }
}

#endif
