/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Eight 64-bit lanes: the few vector operations that the eight-lane arithmetic is written in.
 *
 * Two bodies with the same results bit for bit: AVX-512 intrinsics where CUZK_PATH_IS_IFMA is 1,
 * else the compiler's generic vectors, so that the algorithms are tested on any machine (path
 * ifma-emulated). Shift counts are constants in 0 … 63. A mask is 8 bits, bit i for lane i. */
#ifndef CUZK_FIELD_V8_H
#define CUZK_FIELD_V8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if CUZK_PATH_IS_IFMA
#include <immintrin.h>
typedef __m512i v8;
#else
/* How vectors of 64 bytes are passed differs between machines with and without AVX-512; it does not
 * matter, as every function below is inlined. Such sources are compiled with -Wno-psabi. */
typedef uint64_t v8 __attribute__((vector_size(64), may_alias));
typedef int64_t v8_signed __attribute__((vector_size(64), may_alias));
#endif

typedef uint8_t v8_mask;

#define V8_FN       static inline __attribute__((always_inline, unused))
#define V8_ALIGN    __attribute__((aligned(64)))
#define V8_LOW52    0xfffffffffffffull
#define V8_NOINLINE static __attribute__((noinline, unused))

/* Before a loop with a small constant trip count: unroll it, so that limb arrays stay in registers.
 * Without such registers it would only cost compile time. */
#if !CUZK_PATH_IS_IFMA
#define V8_UNROLL
#elif defined(__clang__)
#define V8_UNROLL _Pragma("unroll")
#else
#define V8_UNROLL _Pragma("GCC unroll 32")
#endif

#if CUZK_PATH_IS_IFMA

/* ---- constants, loads, stores ---- */

V8_FN v8 v8_zero(void)
{
    return _mm512_setzero_si512();
}

/** All lanes x. */
V8_FN v8 v8_set1(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/** 64 bytes at a 64-byte boundary. */
V8_FN v8 v8_load(const void *p)
{
    return _mm512_load_si512(p);
}

V8_FN v8 v8_loadu(const void *p)
{
    return _mm512_loadu_si512(p);
}

/** The lanes of m from memory, the others zero; lanes outside m are not touched in memory. */
V8_FN v8 v8_loadu_masked(v8_mask m, const void *p)
{
    return _mm512_maskz_loadu_epi64(m, p);
}

V8_FN void v8_store(void *p, v8 a)
{
    _mm512_store_si512(p, a);
}

V8_FN void v8_storeu(void *p, v8 a)
{
    _mm512_storeu_si512(p, a);
}

V8_FN void v8_storeu_masked(void *p, v8_mask m, v8 a)
{
    _mm512_mask_storeu_epi64(p, m, a);
}

/** Store past the caches; v8_fence before another thread reads. p at a 64-byte boundary. */
V8_FN void v8_stream(void *p, v8 a)
{
    _mm512_stream_si512((__m512i *)p, a);
}

V8_FN void v8_fence(void)
{
    _mm_sfence();
}

/* ---- arithmetic ---- */

/** acc + low 52 bits of (a mod 2^52)·(b mod 2^52). */
V8_FN v8 v8_madd_lo(v8 acc, v8 a, v8 b)
{
    return _mm512_madd52lo_epu64(acc, a, b);
}

/** acc + bits 52 … 103 of (a mod 2^52)·(b mod 2^52). */
V8_FN v8 v8_madd_hi(v8 acc, v8 a, v8 b)
{
    return _mm512_madd52hi_epu64(acc, a, b);
}

V8_FN v8 v8_add(v8 a, v8 b)
{
    return _mm512_add_epi64(a, b);
}

V8_FN v8 v8_sub(v8 a, v8 b)
{
    return _mm512_sub_epi64(a, b);
}

V8_FN v8 v8_and(v8 a, v8 b)
{
    return _mm512_and_si512(a, b);
}

V8_FN v8 v8_or(v8 a, v8 b)
{
    return _mm512_or_si512(a, b);
}

V8_FN v8 v8_or3(v8 a, v8 b, v8 c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0xfe);
}

V8_FN v8 v8_xor(v8 a, v8 b)
{
    return _mm512_xor_si512(a, b);
}

/* The compiler's own shifts: unlike the intrinsics they compile without optimisation too. */
V8_FN v8 v8_shl(v8 a, unsigned n)
{
    return (v8)((__v8du)a << n);
}

V8_FN v8 v8_shr(v8 a, unsigned n)
{
    return (v8)((__v8du)a >> n);
}

/** Shift of signed lanes. */
V8_FN v8 v8_sar(v8 a, unsigned n)
{
    return (v8)((__v8di)a >> n);
}

/** The bytes of every lane in reverse order. */
V8_FN v8 v8_bswap(v8 a)
{
    const __m512i reversed =
        _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    return _mm512_shuffle_epi8(a, reversed);
}

/* ---- masks ---- */

/** m ? b : a, lane by lane. */
V8_FN v8 v8_blend(v8_mask m, v8 a, v8 b)
{
    return _mm512_mask_blend_epi64(m, a, b);
}

/** m ? a + b : a. */
V8_FN v8 v8_add_masked(v8_mask m, v8 a, v8 b)
{
    return _mm512_mask_add_epi64(a, m, a, b);
}

/** m ? a - b : a. */
V8_FN v8 v8_sub_masked(v8_mask m, v8 a, v8 b)
{
    return _mm512_mask_sub_epi64(a, m, a, b);
}

/** m ? -a : a. */
V8_FN v8 v8_neg_masked(v8_mask m, v8 a)
{
    return _mm512_mask_sub_epi64(a, m, _mm512_setzero_si512(), a);
}

V8_FN v8_mask v8_eq(v8 a, v8 b)
{
    return _mm512_cmpeq_epi64_mask(a, b);
}

/** a < b, unsigned. */
V8_FN v8_mask v8_lt(v8 a, v8 b)
{
    return _mm512_cmplt_epu64_mask(a, b);
}

/** Lanes where a & b is not zero. */
V8_FN v8_mask v8_test(v8 a, v8 b)
{
    return _mm512_test_epi64_mask(a, b);
}

/** Lanes where a & b is zero. */
V8_FN v8_mask v8_testn(v8 a, v8 b)
{
    return _mm512_testn_epi64_mask(a, b);
}

/* ---- moving lanes ---- */

/** Lane i of the result is lane index[i] mod 8 of table. */
V8_FN v8 v8_lookup(v8 table, v8 index)
{
    return _mm512_permutexvar_epi64(index, table);
}

/** Lane i of the result is lane i^1, i^2, i^4 of a. */
V8_FN v8 v8_swap1(v8 a)
{
    return _mm512_shuffle_epi32(a, _MM_PERM_BADC);
}

V8_FN v8 v8_swap2(v8 a)
{
    return _mm512_permutex_epi64(a, 0x4e);
}

V8_FN v8 v8_swap4(v8 a)
{
    return _mm512_shuffle_i64x2(a, a, 0x4e);
}

/** Lane i is the 64-bit word number index[i] of base. */
V8_FN v8 v8_gather(const void *base, v8 index)
{
    return _mm512_i64gather_epi64(index, base, 8);
}

/** Write the lanes of m one after the other to p, unaligned; returns how many. */
V8_FN unsigned v8_compress_store(void *p, v8_mask m, v8 a)
{
    _mm512_mask_compressstoreu_epi64(p, m, a);
    return (unsigned)__builtin_popcount(m);
}

/** In place: lane j of r[i] and lane i of r[j] change places. */
V8_FN void v8_transpose(v8 r[8])
{
    v8 t0 = _mm512_unpacklo_epi64(r[0], r[1]), t1 = _mm512_unpackhi_epi64(r[0], r[1]);
    v8 t2 = _mm512_unpacklo_epi64(r[2], r[3]), t3 = _mm512_unpackhi_epi64(r[2], r[3]);
    v8 t4 = _mm512_unpacklo_epi64(r[4], r[5]), t5 = _mm512_unpackhi_epi64(r[4], r[5]);
    v8 t6 = _mm512_unpacklo_epi64(r[6], r[7]), t7 = _mm512_unpackhi_epi64(r[6], r[7]);
    v8 u0 = _mm512_shuffle_i64x2(t0, t2, 0x88), u1 = _mm512_shuffle_i64x2(t0, t2, 0xdd);
    v8 u2 = _mm512_shuffle_i64x2(t1, t3, 0x88), u3 = _mm512_shuffle_i64x2(t1, t3, 0xdd);
    v8 u4 = _mm512_shuffle_i64x2(t4, t6, 0x88), u5 = _mm512_shuffle_i64x2(t4, t6, 0xdd);
    v8 u6 = _mm512_shuffle_i64x2(t5, t7, 0x88), u7 = _mm512_shuffle_i64x2(t5, t7, 0xdd);
    r[0] = _mm512_shuffle_i64x2(u0, u4, 0x88);
    r[1] = _mm512_shuffle_i64x2(u2, u6, 0x88);
    r[2] = _mm512_shuffle_i64x2(u1, u5, 0x88);
    r[3] = _mm512_shuffle_i64x2(u3, u7, 0x88);
    r[4] = _mm512_shuffle_i64x2(u0, u4, 0xdd);
    r[5] = _mm512_shuffle_i64x2(u2, u6, 0xdd);
    r[6] = _mm512_shuffle_i64x2(u1, u5, 0xdd);
    r[7] = _mm512_shuffle_i64x2(u3, u7, 0xdd);
}

/** In place: r[0 … 3] as loaded from memory hold 8 records of 4 words; afterwards r[k] holds word k
 *  of the records 0 … 7. */
V8_FN void v8_deinterleave4(v8 r[4])
{
    const v8 even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const v8 odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    v8 a = _mm512_shuffle_i64x2(r[0], r[1], 0x88); /* words 0, 1 of records 0 … 3 */
    v8 b = _mm512_shuffle_i64x2(r[0], r[1], 0xdd); /* words 2, 3 */
    v8 c = _mm512_shuffle_i64x2(r[2], r[3], 0x88); /* words 0, 1 of records 4 … 7 */
    v8 d = _mm512_shuffle_i64x2(r[2], r[3], 0xdd);
    r[0] = _mm512_permutex2var_epi64(a, even, c);
    r[1] = _mm512_permutex2var_epi64(a, odd, c);
    r[2] = _mm512_permutex2var_epi64(b, even, d);
    r[3] = _mm512_permutex2var_epi64(b, odd, d);
}

/** The inverse of v8_deinterleave4. */
V8_FN void v8_interleave4(v8 r[4])
{
    const v8 first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const v8 second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    const v8 low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const v8 high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    v8 a = _mm512_permutex2var_epi64(r[0], first, r[1]);
    v8 c = _mm512_permutex2var_epi64(r[0], second, r[1]);
    v8 b = _mm512_permutex2var_epi64(r[2], first, r[3]);
    v8 d = _mm512_permutex2var_epi64(r[2], second, r[3]);
    r[0] = _mm512_permutex2var_epi64(a, low, b);
    r[1] = _mm512_permutex2var_epi64(a, high, b);
    r[2] = _mm512_permutex2var_epi64(c, low, d);
    r[3] = _mm512_permutex2var_epi64(c, high, d);
}

#else /* generic vectors: contracts as above */

V8_FN v8 v8_zero(void)
{
    return (v8){0};
}

V8_FN v8 v8_set1(uint64_t x)
{
    return (v8){x, x, x, x, x, x, x, x};
}

V8_FN v8 v8_load(const void *p)
{
    return *(const v8 *)__builtin_assume_aligned(p, 64);
}

V8_FN v8 v8_loadu(const void *p)
{
    v8 r;
    memcpy(&r, p, 64);
    return r;
}

V8_FN v8 v8_loadu_masked(v8_mask m, const void *p)
{
    v8 r = {0};
    for (int i = 0; i < 8; i++) {
        if (m >> i & 1) {
            uint64_t x;
            memcpy(&x, (const char *)p + 8 * i, 8);
            r[i] = x;
        }
    }
    return r;
}

V8_FN void v8_store(void *p, v8 a)
{
    *(v8 *)__builtin_assume_aligned(p, 64) = a;
}

V8_FN void v8_storeu(void *p, v8 a)
{
    memcpy(p, &a, 64);
}

V8_FN void v8_storeu_masked(void *p, v8_mask m, v8 a)
{
    for (int i = 0; i < 8; i++) {
        if (m >> i & 1) {
            uint64_t x = a[i];
            memcpy((char *)p + 8 * i, &x, 8);
        }
    }
}

V8_FN void v8_stream(void *p, v8 a)
{
    v8_store(p, a);
}

V8_FN void v8_fence(void)
{
}

V8_FN v8 v8_madd_lo(v8 acc, v8 a, v8 b)
{
    a &= V8_LOW52;
    b &= V8_LOW52;
    return acc + (a * b & V8_LOW52);
}

V8_FN v8 v8_madd_hi(v8 acc, v8 a, v8 b)
{
    for (int i = 0; i < 8; i++) {
        unsigned __int128 t = (unsigned __int128)(a[i] & V8_LOW52) * (b[i] & V8_LOW52);
        acc[i] += (uint64_t)(t >> 52);
    }
    return acc;
}

V8_FN v8 v8_add(v8 a, v8 b)
{
    return a + b;
}

V8_FN v8 v8_sub(v8 a, v8 b)
{
    return a - b;
}

V8_FN v8 v8_and(v8 a, v8 b)
{
    return a & b;
}

V8_FN v8 v8_or(v8 a, v8 b)
{
    return a | b;
}

V8_FN v8 v8_or3(v8 a, v8 b, v8 c)
{
    return a | b | c;
}

V8_FN v8 v8_xor(v8 a, v8 b)
{
    return a ^ b;
}

V8_FN v8 v8_shl(v8 a, unsigned n)
{
    return a << n;
}

V8_FN v8 v8_shr(v8 a, unsigned n)
{
    return a >> n;
}

V8_FN v8 v8_sar(v8 a, unsigned n)
{
    return (v8)((v8_signed)a >> n);
}

V8_FN v8 v8_bswap(v8 a)
{
    for (int i = 0; i < 8; i++) {
        a[i] = __builtin_bswap64(a[i]);
    }
    return a;
}

/* All ones in the lanes of m. */
V8_FN v8 v8_mask_lanes(v8_mask m)
{
    const v8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (v8)((v8_set1(m) & bit) != 0);
}

/* The mask of lanes that are all ones; lanes are all ones or zero. */
V8_FN v8_mask v8_lanes_mask(v8 lanes)
{
    unsigned m = 0;
    for (unsigned i = 0; i < 8; i++) {
        m |= (unsigned)(lanes[i] & 1) << i;
    }
    return (v8_mask)m;
}

V8_FN v8 v8_blend(v8_mask m, v8 a, v8 b)
{
    v8 lanes = v8_mask_lanes(m);
    return (a & ~lanes) | (b & lanes);
}

V8_FN v8 v8_add_masked(v8_mask m, v8 a, v8 b)
{
    return v8_blend(m, a, a + b);
}

V8_FN v8 v8_sub_masked(v8_mask m, v8 a, v8 b)
{
    return a - (b & v8_mask_lanes(m));
}

V8_FN v8 v8_neg_masked(v8_mask m, v8 a)
{
    v8 lanes = v8_mask_lanes(m);
    return (a ^ lanes) - lanes;
}

V8_FN v8_mask v8_eq(v8 a, v8 b)
{
    return v8_lanes_mask((v8)(a == b));
}

V8_FN v8_mask v8_lt(v8 a, v8 b)
{
    return v8_lanes_mask((v8)(a < b));
}

V8_FN v8_mask v8_test(v8 a, v8 b)
{
    return v8_lanes_mask((v8)((a & b) != 0));
}

V8_FN v8_mask v8_testn(v8 a, v8 b)
{
    return v8_lanes_mask((v8)((a & b) == 0));
}

V8_FN v8 v8_lookup(v8 table, v8 index)
{
    v8 r;
    for (int i = 0; i < 8; i++) {
        r[i] = table[index[i] & 7];
    }
    return r;
}

V8_FN v8 v8_swap1(v8 a)
{
    return (v8){a[1], a[0], a[3], a[2], a[5], a[4], a[7], a[6]};
}

V8_FN v8 v8_swap2(v8 a)
{
    return (v8){a[2], a[3], a[0], a[1], a[6], a[7], a[4], a[5]};
}

V8_FN v8 v8_swap4(v8 a)
{
    return (v8){a[4], a[5], a[6], a[7], a[0], a[1], a[2], a[3]};
}

V8_FN v8 v8_gather(const void *base, v8 index)
{
    v8 r;
    for (int i = 0; i < 8; i++) {
        uint64_t x;
        memcpy(&x, (const char *)base + (ptrdiff_t)(8 * index[i]), 8);
        r[i] = x;
    }
    return r;
}

V8_FN unsigned v8_compress_store(void *p, v8_mask m, v8 a)
{
    unsigned n = 0;
    for (int i = 0; i < 8; i++) {
        if (m >> i & 1) {
            uint64_t x = a[i];
            memcpy((char *)p + 8 * n++, &x, 8);
        }
    }
    return n;
}

V8_FN void v8_transpose(v8 r[8])
{
    v8 t[8];
    memcpy(t, r, sizeof t);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            r[i][j] = t[j][i];
        }
    }
}

V8_FN void v8_deinterleave4(v8 r[4])
{
    v8 t[4];
    memcpy(t, r, sizeof t);
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 8; j++) {
            r[k][j] = t[j / 2][4 * (j % 2) + k];
        }
    }
}

V8_FN void v8_interleave4(v8 r[4])
{
    v8 t[4];
    memcpy(t, r, sizeof t);
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 8; j++) {
            r[j / 2][4 * (j % 2) + k] = t[k][j];
        }
    }
}

#endif

/** Word at p in all lanes. */
V8_FN v8 v8_broadcast(const uint64_t *p)
{
    return v8_set1(*p);
}

/** The same pointer, but the compiler no longer knows what it points to. */
V8_FN const void *v8_hide(const void *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/** The same for constants: read through the result they stay memory operands, which cost nothing,
 *  instead of being built in scalar registers. */
V8_FN const uint64_t *v8_constants(const uint64_t *p)
{
    return (const uint64_t *)v8_hide(p);
}

/** Ask for the cache line of p in L1, in L2. Any address is allowed. */
V8_FN void v8_prefetch_l1(const void *p)
{
    __builtin_prefetch(p, 0, 3);
}

V8_FN void v8_prefetch_l2(const void *p)
{
    __builtin_prefetch(p, 0, 2);
}

#endif
