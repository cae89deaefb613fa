/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Device bodies of limbs.h: the same words, handled as 32-bit halves with PTX carry chains.
 *
 * Montgomery multiplication keeps the running sum in two arrays: `even` holds the products that
 * start at even positions, `odd` those that start at odd ones (so odd[0] has the weight of position
 * 1). Within one array the product of position j fills exactly two words, j and j+1: a row is one
 * chain of mad.lo.cc / madc.hi.cc pairs, and ptxas turns each pair into one IMAD.WIDE.U32.X. After
 * every row the sum moves down by one word and the arrays change roles.
 * Floor on compute capability 9.0: 2n² wide products of 4 pipe cycles and n low products of 2 for n
 * words of 32 bits: 1176 lane-cycles at n = 12. A square takes (n² + n)/2 + n² products (912), and
 * a modulus whose low words are 1, 2^32 - 1 (r of BLS12-381) saves two products and the low one in
 * every row (448 instead of 528 at n = 8).
 * The carry flag travels between statements: they are volatile, and nothing here but them sets it.
 */
#ifndef CUZK_FIELD_LIMBS_PTX_H
#define CUZK_FIELD_LIMBS_PTX_H

#include <stdbool.h>
#include <stdint.h>

#if !defined(CUZK_EMULATED_DEVICE)
#define CUZK_PTX_OP2(name, text)                                                                   \
    static __device__ __forceinline__ uint32_t cuzk_ptx_##name(uint32_t a, uint32_t b)             \
    {                                                                                              \
        uint32_t r;                                                                                \
        asm volatile(text " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                              \
        return r;                                                                                  \
    }
#define CUZK_PTX_OP3(name, text)                                                                   \
    static __device__ __forceinline__ uint32_t cuzk_ptx_##name(uint32_t a, uint32_t b, uint32_t c) \
    {                                                                                              \
        uint32_t r;                                                                                \
        asm volatile(text " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                  \
        return r;                                                                                  \
    }
CUZK_PTX_OP2(add_cc, "add.cc.u32")
CUZK_PTX_OP2(addc_cc, "addc.cc.u32")
CUZK_PTX_OP2(addc, "addc.u32")
CUZK_PTX_OP2(sub_cc, "sub.cc.u32")
CUZK_PTX_OP2(subc_cc, "subc.cc.u32")
CUZK_PTX_OP2(subc, "subc.u32")
CUZK_PTX_OP3(mad_lo_cc, "mad.lo.cc.u32")
CUZK_PTX_OP3(madc_lo_cc, "madc.lo.cc.u32")
CUZK_PTX_OP3(madc_lo, "madc.lo.u32")
CUZK_PTX_OP3(madc_hi_cc, "madc.hi.cc.u32")
CUZK_PTX_OP3(madc_hi, "madc.hi.u32")
#undef CUZK_PTX_OP2
#undef CUZK_PTX_OP3
#endif

/* Word j of 32 bits of an array of 64-bit words; costs nothing with constant j. */
static __device__ __forceinline__ uint32_t cuzk_ptx_half(const uint64_t *a, int j)
{
    return (uint32_t)(a[j / 2] >> (32 * (j & 1)));
}

static __device__ __forceinline__ void cuzk_ptx_join(uint64_t *o, const uint32_t *w, int n)
{
#pragma unroll
    for (int i = 0; i < n; i++) {
        o[i] = (uint64_t)w[2 * i + 1] << 32 | w[2 * i];
    }
}

/** o = a + b modulo 2^(64n). */
static __device__ __forceinline__ void cuzk_ptx_add(uint64_t *o, const uint64_t *a,
                                                    const uint64_t *b, int n)
{
    uint32_t w[32];
    w[0] = cuzk_ptx_add_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(b, 0));
#pragma unroll
    for (int j = 1; j < 2 * n - 1; j++) {
        w[j] = cuzk_ptx_addc_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(b, j));
    }
    w[2 * n - 1] = cuzk_ptx_addc(cuzk_ptx_half(a, 2 * n - 1), cuzk_ptx_half(b, 2 * n - 1));
    cuzk_ptx_join(o, w, n);
}

/** o = a - b; returns all ones if it borrowed, else 0. */
static __device__ __forceinline__ uint32_t cuzk_ptx_sub(uint64_t *o, const uint64_t *a,
                                                        const uint64_t *b, int n)
{
    uint32_t w[32];
    w[0] = cuzk_ptx_sub_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(b, 0));
#pragma unroll
    for (int j = 1; j < 2 * n; j++) {
        w[j] = cuzk_ptx_subc_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(b, j));
    }
    uint32_t borrow = cuzk_ptx_subc(0, 0);
    cuzk_ptx_join(o, w, n);
    return borrow;
}

/** o = a mod p for a < 2p. */
static __device__ __forceinline__ void cuzk_ptx_reduce_once(uint64_t *o, const uint64_t *a,
                                                            const uint64_t *p, int n)
{
    uint64_t t[16];
    bool keep = cuzk_ptx_sub(t, a, p, n) != 0;
#pragma unroll
    for (int i = 0; i < n; i++) {
        o[i] = keep ? a[i] : t[i];
    }
}

/** o = a + b mod p for a, b < p < 2^(64n-1). */
static __device__ __forceinline__ void cuzk_ptx_mod_add(uint64_t *o, const uint64_t *a,
                                                        const uint64_t *b, const uint64_t *p, int n)
{
    uint64_t t[16];
    cuzk_ptx_add(t, a, b, n);
    cuzk_ptx_reduce_once(o, t, p, n);
}

/** o = a - b mod p for a, b < p. */
static __device__ __forceinline__ void cuzk_ptx_mod_sub(uint64_t *o, const uint64_t *a,
                                                        const uint64_t *b, const uint64_t *p, int n)
{
    uint64_t t[16], back[16];
    uint32_t borrow = cuzk_ptx_sub(t, a, b, n);
    uint64_t mask = (uint64_t)borrow << 32 | borrow;
#pragma unroll
    for (int i = 0; i < n; i++) {
        back[i] = p[i] & mask;
    }
    cuzk_ptx_add(o, t, back, n);
}

/* acc += x_start·y, x_(start+2)·y …: one carry chain over the 2n words of acc; returns with the
 * chain's carry in the flag. */
static __device__ __forceinline__ void cuzk_ptx_mad_chain(uint32_t *acc, const uint64_t *x,
                                                          int start, uint32_t y, int n)
{
    acc[0] = cuzk_ptx_mad_lo_cc(cuzk_ptx_half(x, start), y, acc[0]);
    acc[1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(x, start), y, acc[1]);
#pragma unroll
    for (int j = 2; j < 2 * n; j += 2) {
        acc[j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(x, start + j), y, acc[j]);
        acc[j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(x, start + j), y, acc[j + 1]);
    }
}

/* Whether p's low words are 1 and 2^32 - 1: then m = -(lowest word of the sum), m·1 = m and
 * m·(2^32 - 1) = (m - [m > 0])·2^32 + (-m mod 2^32) need no multiplier. Folds to a constant. */
static __device__ __forceinline__ bool cuzk_ptx_easy_low(const uint64_t *p)
{
    return p[0] == UINT64_C(0xffffffff00000001);
}

/* even += m·(p_0, p_2, …). */
static __device__ __forceinline__ void cuzk_ptx_step_even(uint32_t *even, const uint64_t *p,
                                                          uint32_t m, int n)
{
    if (!cuzk_ptx_easy_low(p)) {
        cuzk_ptx_mad_chain(even, p, 0, m, n);
        return;
    }
    even[0] = cuzk_ptx_add_cc(even[0], m);
    even[1] = cuzk_ptx_addc_cc(even[1], 0);
#pragma unroll
    for (int j = 2; j < 2 * n; j += 2) {
        even[j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(p, j), m, even[j]);
        even[j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(p, j), m, even[j + 1]);
    }
}

/* odd += m·(p_1, p_3, …); nothing above can be carried into, so the sum fits. */
static __device__ __forceinline__ void cuzk_ptx_step_odd(uint32_t *odd, const uint64_t *p,
                                                         uint32_t m, int n)
{
    if (!cuzk_ptx_easy_low(p)) {
        cuzk_ptx_mad_chain(odd, p, 1, m, n);
        return;
    }
    odd[0] = cuzk_ptx_add_cc(odd[0], 0 - m);
    odd[1] = cuzk_ptx_addc_cc(odd[1], m - (m != 0 ? 1 : 0));
#pragma unroll
    for (int j = 2; j < 2 * n; j += 2) {
        odd[j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(p, j + 1), m, odd[j]);
        odd[j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(p, j + 1), m, odd[j + 1]);
    }
}

/* Add m·p with m chosen so that the lowest word becomes zero. */
static __device__ __forceinline__ void cuzk_ptx_mont_step(uint32_t *even, uint32_t *odd,
                                                          const uint64_t *p, uint32_t n0, int n)
{
    uint32_t m = cuzk_ptx_easy_low(p) ? 0 - even[0] : even[0] * n0;
    cuzk_ptx_step_odd(odd, p, m, n);
    cuzk_ptx_step_even(even, p, m, n);
    odd[2 * n - 1] = cuzk_ptx_addc(odd[2 * n - 1], 0);
}

/* Drop the zero word, then add a·y: `even` was the odd array of the row before, `odd` the even one.
 */
static __device__ __forceinline__ void cuzk_ptx_mont_row(uint32_t *even, uint32_t *odd,
                                                         const uint64_t *a, uint32_t y, int n)
{
    even[0] = cuzk_ptx_add_cc(even[0], odd[1]);
#pragma unroll
    for (int j = 0; j < 2 * n - 2; j += 2) {
        odd[j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(a, j + 1), y, odd[j + 2]);
        odd[j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(a, j + 1), y, odd[j + 3]);
    }
    odd[2 * n - 2] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(a, 2 * n - 1), y, 0);
    odd[2 * n - 1] = cuzk_ptx_madc_hi(cuzk_ptx_half(a, 2 * n - 1), y, 0);
    cuzk_ptx_mad_chain(even, a, 0, y, n);
    odd[2 * n - 1] = cuzk_ptx_addc(odd[2 * n - 1], 0);
}

/* A row of the reduction alone: drop the zero word, add m·p. Array roles as in mont_row. The carry
 * of the first addition waits in the flag while m is computed by instructions that leave it alone.
 */
static __device__ __forceinline__ void cuzk_ptx_redc_row(uint32_t *even, uint32_t *odd,
                                                         const uint64_t *p, uint32_t n0, int n)
{
    even[0] = cuzk_ptx_add_cc(even[0], odd[1]);
    uint32_t m;
    if (cuzk_ptx_easy_low(p)) {
        m = 0 - even[0];
        odd[0] = cuzk_ptx_addc_cc(odd[2], even[0]);
        odd[1] = cuzk_ptx_addc_cc(odd[3], m - (m != 0 ? 1 : 0));
    } else {
        m = even[0] * n0;
        odd[0] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(p, 1), m, odd[2]);
        odd[1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(p, 1), m, odd[3]);
    }
#pragma unroll
    for (int j = 2; j < 2 * n - 2; j += 2) {
        odd[j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(p, j + 1), m, odd[j + 2]);
        odd[j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(p, j + 1), m, odd[j + 3]);
    }
    odd[2 * n - 2] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(p, 2 * n - 1), m, 0);
    odd[2 * n - 1] = cuzk_ptx_madc_hi(cuzk_ptx_half(p, 2 * n - 1), m, 0);
    cuzk_ptx_step_even(even, p, m, n);
    odd[2 * n - 1] = cuzk_ptx_addc(odd[2 * n - 1], 0);
}

/* x = the sum of both arrays after the last row (2n is even, so y was its even array and y[0] is
 * zero). */
static __device__ __forceinline__ void cuzk_ptx_mont_merge(uint32_t *x, const uint32_t *y, int n)
{
    x[0] = cuzk_ptx_add_cc(x[0], y[1]);
#pragma unroll
    for (int j = 1; j < 2 * n - 1; j++) {
        x[j] = cuzk_ptx_addc_cc(x[j], y[j + 1]);
    }
    x[2 * n - 1] = cuzk_ptx_addc(x[2 * n - 1], 0);
}

/** o = a·b·2^(-64n) modulo p, at most a·b/2^(64n) + p. b any n words; n0 = -1/p mod 2^64; a + p
 * below 2^(64n): between rows the sum is at most a + p. */
static __device__ __forceinline__ void cuzk_ptx_mont_mul_loose(uint64_t *o, const uint64_t *a,
                                                               const uint64_t *b, const uint64_t *p,
                                                               uint64_t n0, int n)
{
    uint32_t x[32], y[32];
    uint32_t b0 = cuzk_ptx_half(b, 0);
#pragma unroll
    for (int j = 0; j < 2 * n; j += 2) {
        uint64_t even = (uint64_t)cuzk_ptx_half(a, j) * b0;
        uint64_t odd = (uint64_t)cuzk_ptx_half(a, j + 1) * b0;
        x[j] = (uint32_t)even;
        x[j + 1] = (uint32_t)(even >> 32);
        y[j] = (uint32_t)odd;
        y[j + 1] = (uint32_t)(odd >> 32);
    }
    cuzk_ptx_mont_step(x, y, p, (uint32_t)n0, n);
#pragma unroll
    for (int i = 1; i < 2 * n; i++) {
        uint32_t *even = (i & 1) != 0 ? y : x, *odd = (i & 1) != 0 ? x : y;
        cuzk_ptx_mont_row(even, odd, a, cuzk_ptx_half(b, i), n);
        cuzk_ptx_mont_step(even, odd, p, (uint32_t)n0, n);
    }
    cuzk_ptx_mont_merge(x, y, n);
    cuzk_ptx_join(o, x, n);
}

/** o = a·b·2^(-64n) mod p, reduced. a < p; b any n words; p < 2^(64n-1); n0 = -1/p mod 2^64. */
static __device__ __forceinline__ void cuzk_ptx_mont_mul(uint64_t *o, const uint64_t *a,
                                                         const uint64_t *b, const uint64_t *p,
                                                         uint64_t n0, int n)
{
    uint64_t t[16];
    cuzk_ptx_mont_mul_loose(t, a, b, p, n0, n);
    cuzk_ptx_reduce_once(o, t, p, n);
}

/** o = w·2^(-64n) modulo p for w of 2n words, at most w/2^(64n) + p, which must be below 2^(64n).
 */
static __device__ __forceinline__ void cuzk_ptx_redc_loose(uint64_t *o, const uint64_t *w,
                                                           const uint64_t *p, uint64_t n0, int n)
{
    uint32_t x[32], y[32];
#pragma unroll
    for (int j = 0; j < 2 * n; j++) {
        x[j] = cuzk_ptx_half(w, j);
        y[j] = 0;
    }
    cuzk_ptx_mont_step(x, y, p, (uint32_t)n0, n);
#pragma unroll
    for (int i = 1; i < 2 * n; i++) {
        cuzk_ptx_redc_row((i & 1) != 0 ? y : x, (i & 1) != 0 ? x : y, p, (uint32_t)n0, n);
    }
    cuzk_ptx_mont_merge(x, y, n);
    uint64_t t[16];
    cuzk_ptx_join(t, x, n);
    cuzk_ptx_add(o, t, w + n, n);
}

/** o = w·2^(-64n) mod p, reduced, for w of 2n words below p·2^(64n). */
static __device__ __forceinline__ void cuzk_ptx_redc(uint64_t *o, const uint64_t *w,
                                                     const uint64_t *p, uint64_t n0, int n)
{
    uint64_t t[16];
    cuzk_ptx_redc_loose(t, w, p, n0, n);
    cuzk_ptx_reduce_once(o, t, p, n);
}

/** w = a·b, 2n words.
 *
 *  Products are kept apart by the parity of i + j, as in a Montgomery product. Those of a row with
 * even j end below the array's highest word and carry into it; those with odd j begin with that
 * word of the row before, and nothing carries out of them. */
static __device__ __forceinline__ void cuzk_ptx_mul_wide(uint64_t *w, const uint64_t *a,
                                                         const uint64_t *b, int n)
{
    const int words = 2 * n;
    uint32_t sum[2][34];
    uint32_t b0 = cuzk_ptx_half(b, 0);
#pragma unroll
    for (int j = 0; j < words; j++) {
        uint64_t product = (uint64_t)cuzk_ptx_half(a, j) * b0;
        sum[j & 1][j] = (uint32_t)product;
        sum[j & 1][j + 1] = (uint32_t)(product >> 32);
    }
    sum[0][words] = 0;
#pragma unroll
    for (int i = 1; i < words; i++) {
        uint32_t *even = sum[i & 1], *odd = sum[(i & 1) ^ 1];
        uint32_t y = cuzk_ptx_half(b, i);
        cuzk_ptx_mad_chain(even + i, a, 0, y, n);
        even[i + words] = cuzk_ptx_addc(0, 0);
        odd[i + 1] = cuzk_ptx_mad_lo_cc(cuzk_ptx_half(a, 1), y, odd[i + 1]);
        odd[i + 2] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(a, 1), y, odd[i + 2]);
#pragma unroll
        for (int j = 3; j < words - 1; j += 2) {
            odd[i + j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(a, j), y, odd[i + j]);
            odd[i + j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(a, j), y, odd[i + j + 1]);
        }
        odd[i + words - 1] =
            cuzk_ptx_madc_lo_cc(cuzk_ptx_half(a, words - 1), y, odd[i + words - 1]);
        odd[i + words] = cuzk_ptx_madc_hi(cuzk_ptx_half(a, words - 1), y, 0);
    }
    sum[0][1] = cuzk_ptx_add_cc(sum[0][1], sum[1][1]);
#pragma unroll
    for (int j = 2; j < 2 * words - 1; j++) {
        sum[0][j] = cuzk_ptx_addc_cc(sum[0][j], sum[1][j]);
    }
    sum[0][2 * words - 1] = cuzk_ptx_addc(sum[0][2 * words - 1], sum[1][2 * words - 1]);
    cuzk_ptx_join(w, sum[0], 2 * n);
}

/** o = a², 2n words.
 *
 *  Products a_i·a_j with i < j go to the array of the parity of i + j, row by row; a row's products
 *  are adjacent there, and it reaches at most one product further than the row before. Then twice
 *  their sum, then the squares on top. */
static __device__ __forceinline__ void cuzk_ptx_sqr_wide(uint64_t *o, const uint64_t *a, int n)
{
    const int words = 2 * n;
    uint32_t w[34], sum[2][34]; /* [0]: even positions; [1]: odd ones, one word up */
#pragma unroll
    for (int j = 0; j < 2 * words; j++) {
        sum[0][j] = 0;
        sum[1][j] = 0;
    }
#pragma unroll
    for (int i = 0; i < words - 1; i++) {
        uint32_t y = cuzk_ptx_half(a, i);
#pragma unroll
        for (int gap = 1; gap <= 2; gap++) {
            uint32_t *s = sum[gap & 1];
            int top = 0; /* the position after the row's last product */
#pragma unroll
            for (int j = i + gap; j < words; j += 2) {
                uint32_t x = cuzk_ptx_half(a, j);
                top = i + j + 2;
                if (i == 0) {
                    uint64_t product = (uint64_t)x * y;
                    s[j] = (uint32_t)product;
                    s[j + 1] = (uint32_t)(product >> 32);
                } else if (j == i + gap) {
                    s[i + j] = cuzk_ptx_mad_lo_cc(x, y, s[i + j]);
                    s[i + j + 1] = cuzk_ptx_madc_hi_cc(x, y, s[i + j + 1]);
                } else {
                    s[i + j] = cuzk_ptx_madc_lo_cc(x, y, s[i + j]);
                    s[i + j + 1] = cuzk_ptx_madc_hi_cc(x, y, s[i + j + 1]);
                }
            }
            if (i != 0 && top != 0) {
                s[top] = cuzk_ptx_addc(s[top], 0);
            }
        }
    }
    w[0] = 0;
    w[1] = sum[1][1];
    w[2] = cuzk_ptx_add_cc(sum[0][2], sum[1][2]);
#pragma unroll
    for (int j = 3; j < 2 * words - 1; j++) {
        w[j] = cuzk_ptx_addc_cc(sum[0][j], sum[1][j]);
    }
    w[2 * words - 1] = 0;
#pragma unroll
    for (int j = 2 * words - 1; j > 0; j--) {
        w[j] = w[j] << 1 | w[j - 1] >> 31;
    }
    w[0] = cuzk_ptx_mad_lo_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(a, 0), w[0]);
    w[1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(a, 0), w[1]);
#pragma unroll
    for (int j = 1; j < words; j++) {
        w[2 * j] = cuzk_ptx_madc_lo_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(a, j), w[2 * j]);
        w[2 * j + 1] = cuzk_ptx_madc_hi_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(a, j), w[2 * j + 1]);
    }
    cuzk_ptx_join(o, w, 2 * n);
}

/** o = a²·2^(-64n) modulo p, at most a²/2^(64n) + p, which must be below 2^(64n). */
static __device__ __forceinline__ void
cuzk_ptx_mont_sqr_loose(uint64_t *o, const uint64_t *a, const uint64_t *p, uint64_t n0, int n)
{
    uint64_t w[32];
    cuzk_ptx_sqr_wide(w, a, n);
    cuzk_ptx_redc_loose(o, w, p, n0, n);
}

/** o = a²·2^(-64n) mod p, reduced. a < p. */
static __device__ __forceinline__ void cuzk_ptx_mont_sqr(uint64_t *o, const uint64_t *a,
                                                         const uint64_t *p, uint64_t n0, int n)
{
    uint64_t t[16];
    cuzk_ptx_mont_sqr_loose(t, a, p, n0, n);
    cuzk_ptx_reduce_once(o, t, p, n);
}

/** o = a·2^(-64n) mod p, reduced, for any n words a. */
static __device__ __forceinline__ void cuzk_ptx_mont_redc(uint64_t *o, const uint64_t *a,
                                                          const uint64_t *p, uint64_t n0, int n)
{
    uint64_t w[32];
#pragma unroll
    for (int j = 0; j < n; j++) {
        w[j] = a[j];
        w[n + j] = 0;
    }
    cuzk_ptx_redc(o, w, p, n0, n);
}

/** o = a + b, less m if that is not negative: for a, b < m < 2^(64n), possibly 2m > 2^(64n). */
static __device__ __forceinline__ void
cuzk_ptx_add_below(uint64_t *o, const uint64_t *a, const uint64_t *b, const uint64_t *m, int n)
{
    uint32_t sum[32], less[32];
    sum[0] = cuzk_ptx_add_cc(cuzk_ptx_half(a, 0), cuzk_ptx_half(b, 0));
#pragma unroll
    for (int j = 1; j < 2 * n; j++) {
        sum[j] = cuzk_ptx_addc_cc(cuzk_ptx_half(a, j), cuzk_ptx_half(b, j));
    }
    uint32_t carry = cuzk_ptx_addc(0, 0);
    less[0] = cuzk_ptx_sub_cc(sum[0], cuzk_ptx_half(m, 0));
#pragma unroll
    for (int j = 1; j < 2 * n; j++) {
        less[j] = cuzk_ptx_subc_cc(sum[j], cuzk_ptx_half(m, j));
    }
    bool keep = cuzk_ptx_subc(carry, 0) != 0;
#pragma unroll
    for (int j = 0; j < 2 * n; j++) {
        sum[j] = keep ? sum[j] : less[j];
    }
    cuzk_ptx_join(o, sum, n);
}

/* even + odd += x·(f_first, f_first+1, …) modulo 2^(64n), by parity of the position. x: 2n words of
 * 32 bits. */
static __device__ __forceinline__ void cuzk_ptx_mul_low(uint32_t *even, uint32_t *odd,
                                                        const uint32_t *x, const uint64_t *f,
                                                        int first, int n)
{
    const int words = 2 * n;
#pragma unroll
    for (int i = 0; i < words; i++) {
#pragma unroll
        for (int parity = 0; parity < 2; parity++) {
            uint32_t *s = parity == 0 ? even : odd;
            bool in_chain = false;
#pragma unroll
            for (int j = first; j < words; j++) {
                int at = i + j;
                if (at >= words || (at & 1) != parity) {
                    continue;
                }
                uint32_t y = cuzk_ptx_half(f, j);
                if (at == words - 1) { /* its high word has no place */
                    s[at] = in_chain ? cuzk_ptx_madc_lo(x[i], y, s[at]) : x[i] * y + s[at];
                    continue;
                }
                s[at] = in_chain ? cuzk_ptx_madc_lo_cc(x[i], y, s[at])
                                 : cuzk_ptx_mad_lo_cc(x[i], y, s[at]);
                s[at + 1] = at == words - 2 ? cuzk_ptx_madc_hi(x[i], y, s[at + 1])
                                            : cuzk_ptx_madc_hi_cc(x[i], y, s[at + 1]);
                in_chain = true;
            }
        }
    }
}

#endif
