/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plain.h"

#include <stdbool.h>
#include <string.h>

/* r, little-endian: 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001 */
static const uint8_t order[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                  0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                  0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};

static bool is_below_order(const uint8_t x[32])
{
    for (int i = 31; i >= 0; i--) {
        if (x[i] != order[i]) {
            return x[i] < order[i];
        }
    }
    return false;
}

void plain_add(uint8_t out[32], const uint8_t x[32], const uint8_t y[32])
{
    uint8_t sum[32];
    unsigned carry = 0;
    for (int i = 0; i < 32; i++) { /* below 2r < 2^256 */
        carry += (unsigned)x[i] + y[i];
        sum[i] = (uint8_t)carry;
        carry >>= 8;
    }
    if (!is_below_order(sum)) {
        int borrow = 0;
        for (int i = 0; i < 32; i++) {
            int d = sum[i] - order[i] - borrow;
            borrow = d < 0;
            sum[i] = (uint8_t)(d + 256 * borrow);
        }
    }
    memcpy(out, sum, 32);
}

void plain_mul(uint8_t out[32], const uint8_t x[32], const uint8_t y[32])
{
    uint8_t product[32] = {0}, factor[32];
    memcpy(factor, x, 32);
    for (int bit = 255; bit >= 0; bit--) {
        plain_add(product, product, product);
        if (y[bit / 8] >> (bit % 8) & 1) {
            plain_add(product, product, factor);
        }
    }
    memcpy(out, product, 32);
}

/* ---- SHA-256 ---- */

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The first 32 bits of the fractional part of the k-th root (k = 2, 3) of a prime: the largest w
 * with w^k ≤ prime·2^(32k), of which the integer part is cut off. By bisection, exact. */
static uint32_t root_bits(unsigned prime, unsigned k)
{
    uint64_t low = 0, high = (uint64_t)1 << 37;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        /* middle^k against prime·2^(32k), in words of 32 bits */
        uint64_t limbs[4] = {1, 0, 0, 0};
        for (unsigned i = 0; i < k; i++) {
            uint64_t product[4] = {0, 0, 0, 0}, m[2] = {middle & 0xffffffff, middle >> 32};
            for (int a = 0; a < 4; a++) {
                uint64_t carry = 0;
                for (int b = 0; b < 2 && a + b < 4; b++) {
                    uint64_t t = limbs[a] * m[b] + product[a + b] + carry;
                    product[a + b] = t & 0xffffffff;
                    carry = t >> 32;
                }
                for (int c = a + 2; c < 4 && carry != 0; c++) {
                    uint64_t t = product[c] + carry;
                    product[c] = t & 0xffffffff;
                    carry = t >> 32;
                }
            }
            memcpy(limbs, product, sizeof limbs);
        }
        bool above = k == 2 ? limbs[3] != 0 || limbs[2] > prime ||
                                  (limbs[2] == prime && (limbs[1] | limbs[0]) != 0)
                            : limbs[3] > prime ||
                                  (limbs[3] == prime && (limbs[2] | limbs[1] | limbs[0]) != 0);
        if (above) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return (uint32_t)low;
}

static void tables(uint32_t initial[8], uint32_t k[64])
{
    unsigned n = 0;
    for (unsigned p = 2; n < 64; p++) {
        bool is_prime = true;
        for (unsigned d = 2; d * d <= p; d++) {
            is_prime = is_prime && p % d != 0;
        }
        if (!is_prime) {
            continue;
        }
        if (n < 8) {
            initial[n] = root_bits(p, 2);
        }
        k[n++] = root_bits(p, 3);
    }
}

static void block(uint32_t h[8], const uint32_t k[64], const uint8_t data[64])
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++) {
        w[t] = (uint32_t)data[4 * t] << 24 | (uint32_t)data[4 * t + 1] << 16 |
               (uint32_t)data[4 * t + 2] << 8 | data[4 * t + 3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    memcpy(v, h, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        uint32_t ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + ch + k[t] + w[t];
        uint32_t s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        uint32_t maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + s0 + maj;
    }
    for (int i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}

void plain_sha256(uint8_t out[32], const uint8_t *data, size_t n)
{
    static uint32_t initial[8], k[64];
    uint32_t h[8];
    if (k[0] == 0) {
        tables(initial, k);
    }
    memcpy(h, initial, sizeof h);
    size_t at = 0;
    for (; n - at >= 64; at += 64) {
        block(h, k, data + at);
    }
    uint8_t last[128] = {0};
    size_t rest = n - at, size = rest < 56 ? 64 : 128;
    if (rest > 0) {
        memcpy(last, data + at, rest);
    }
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        last[size - 1 - i] = (uint8_t)((uint64_t)n * 8 >> (8 * i));
    }
    for (size_t i = 0; i < size; i += 64) {
        block(h, k, last + i);
    }
    for (int i = 0; i < 32; i++) {
        out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void plain_sha256_node(uint8_t out[32], const uint8_t x[32], const uint8_t y[32])
{
    uint8_t both[64];
    memcpy(both, x, 32);
    memcpy(both + 32, y, 32);
    plain_sha256(out, both, sizeof both);
    out[31] &= 0x3f;
}

void plain_words_of(uint32_t out[8], const uint8_t bytes[32])
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                 (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    }
}
