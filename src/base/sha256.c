/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-256 as in FIPS 180-4: one compression function in plain C and one with the x86 SHA
 * extensions (four rounds a step), chosen once from the CPUID bits; CUZK_CPU=portable pins the
 * first. */
#include "base/sha256.h"

#include "base/bytes.h"
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>

#if CUZK_HAVE_X86_PATHS
#include <cpuid.h>
#include <immintrin.h>
#endif

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_be(const uint8_t *p)
{
    return cuzk_load_u32_be(p);
}

static void compress_portable(uint32_t state[8], const uint8_t *data, size_t n_blocks)
{
    for (; n_blocks > 0; n_blocks--, data += 64) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++) {
            w[i] = load_be(data + 4 * i);
        }
        for (int i = 16; i < 64; i++) {
            uint32_t x = w[i - 15], y = w[i - 2];
            uint32_t s0 = rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3;
            uint32_t s1 = rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        memcpy(s, state, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t e = s[4], a = s[0];
            uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
            uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
            uint32_t choose = (e & s[5]) ^ (~e & s[6]);
            uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
            uint32_t t = s[7] + s1 + choose + round_constants[i] + w[i];
            memmove(s + 1, s, 7 * sizeof s[0]);
            s[4] += t;
            s[0] = t + s0 + majority;
        }
        for (int i = 0; i < 8; i++) {
            state[i] += s[i];
        }
    }
}

#if CUZK_HAVE_X86_PATHS
/* The instructions keep the state as the vectors (a b e f) and (c d g h), highest lane first. */
__attribute__((target("sha,sse4.1,ssse3"))) static void
compress_sha_ni(uint32_t state[8], const uint8_t *data, size_t n_blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abcd = _mm_loadu_si128((const __m128i *)(const void *)state);
    __m128i efgh = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
    abcd = _mm_shuffle_epi32(abcd, 0xb1);
    efgh = _mm_shuffle_epi32(efgh, 0x1b);
    __m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);
    for (; n_blocks > 0; n_blocks--, data += 64) {
        __m128i abef_before = abef, cdgh_before = cdgh, w[4];
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i & 3];
            if (i < 4) {
                *now = _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i));
                *now = _mm_shuffle_epi8(*now, swap);
            } else {
                /* w[t] from w[t-16], w[t-15], w[t-7], w[t-2], four at a time */
                __m128i previous = w[(i + 3) & 3];
                __m128i t = _mm_sha256msg1_epu32(*now, w[(i + 1) & 3]);
                t = _mm_add_epi32(t, _mm_alignr_epi8(previous, w[(i + 2) & 3], 4));
                *now = _mm_sha256msg2_epu32(t, previous);
            }
            const void *k = round_constants + 4 * i;
            __m128i t = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)k));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, t);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(t, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_sha_ni(void)
{
    if (cuzk_cpu_path_get() == CUZK_CPU_PORTABLE) {
        return false;
    }
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & bit_SHA) == 0) {
        return false;
    }
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) != 0 && (c & bit_SSSE3) != 0;
}
#endif

static void compress(uint32_t state[8], const uint8_t *data, size_t n_blocks)
{
#if CUZK_HAVE_X86_PATHS
    /* 0 unknown, 1 no, 2 yes. Relaxed: every thread computes the same answer. */
    static _Atomic int known;
    int k = atomic_load_explicit(&known, memory_order_relaxed);
    if (k == 0) {
        k = has_sha_ni() ? 2 : 1;
        atomic_store_explicit(&known, k, memory_order_relaxed);
    }
    if (k == 2) {
        compress_sha_ni(state, data, n_blocks);
        return;
    }
#endif
    compress_portable(state, data, n_blocks);
}

void cuzk_sha256_init(cuzk_sha256 *sha)
{
    /* First 32 bits of the fractional parts of the square roots of the first 8 primes. */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(sha, 0, sizeof *sha);
    memcpy(sha->state, start, sizeof start);
}

void cuzk_sha256_update(cuzk_sha256 *sha, const void *data, size_t n_bytes)
{
    const uint8_t *p = data;
    size_t held = (size_t)(sha->n_bytes % 64);
    sha->n_bytes += n_bytes;
    if (held > 0) {
        size_t k = 64 - held < n_bytes ? 64 - held : n_bytes;
        memcpy(sha->block + held, p, k);
        p += k;
        n_bytes -= k;
        if (held + k < 64) {
            return;
        }
        compress(sha->state, sha->block, 1);
    }
    compress(sha->state, p, n_bytes / 64);
    if (n_bytes % 64 != 0) {
        memcpy(sha->block, p + n_bytes / 64 * 64, n_bytes % 64);
    }
}

void cuzk_sha256_final(cuzk_sha256 *sha, uint8_t out[CUZK_SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t n_bits = sha->n_bytes * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = (uint8_t)(n_bits >> (56 - 8 * i));
    }
    cuzk_sha256_update(sha, padding, 1 + (119 - (size_t)(sha->n_bytes % 64)) % 64);
    cuzk_sha256_update(sha, length, 8);
    for (int i = 0; i < 8; i++) {
        cuzk_store_u32_be(out + 4 * i, sha->state[i]);
    }
}

void cuzk_sha256_digest(uint8_t out[CUZK_SHA256_BYTES], const void *data, size_t n_bytes)
{
    cuzk_sha256 sha;
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, data, n_bytes);
    cuzk_sha256_final(&sha, out);
}
