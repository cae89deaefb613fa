/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RFC 7693, section 3. Messages up to 2^64 - 1 bytes: the high word of the counter stays 0. */
#include "base/blake2b.h"

#include "base/bytes.h"

#include <stdbool.h>

enum { BLOCK_BYTES = 128, ROUNDS = 12 };

/* First 64 bits of the fractional parts of the square roots of the first eight primes. */
static const uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* Order of the message words in each of the ten different rounds. */
static const uint8_t sigma[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t rotate_right(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotate_right(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotate_right(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 63);
}

static void compress(cuzk_blake2b *b, const uint8_t *block, bool last)
{
    uint64_t m[16];
    uint64_t v[16];
    for (int i = 0; i < 16; i++) {
        m[i] = cuzk_load_u64_le(block + 8 * i);
    }
    memcpy(v, b->state, sizeof b->state);
    memcpy(v + 8, initial, sizeof initial);
    v[12] ^= b->n_bytes;
    v[14] ^= last ? UINT64_MAX : 0;
    for (int r = 0; r < ROUNDS; r++) {
        const uint8_t *s = sigma[r % 10];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) {
        b->state[i] ^= v[i] ^ v[i + 8];
    }
}

void cuzk_blake2b_init(cuzk_blake2b *b)
{
    memset(b, 0, sizeof *b);
    memcpy(b->state, initial, sizeof initial);
    b->state[0] ^= 0x01010000 ^ CUZK_BLAKE2B_BYTES; /* no key, sequential, 64-byte digest */
}

void cuzk_blake2b_update(cuzk_blake2b *b, const void *data, size_t n_bytes)
{
    const uint8_t *p = data;
    while (n_bytes > 0) {
        /* a full block is kept until more follows: the last one is compressed differently */
        if (b->n_pending == BLOCK_BYTES) {
            b->n_bytes += BLOCK_BYTES;
            compress(b, b->block, false);
            b->n_pending = 0;
        }
        if (b->n_pending == 0 && n_bytes > BLOCK_BYTES) {
            b->n_bytes += BLOCK_BYTES;
            compress(b, p, false);
            p += BLOCK_BYTES;
            n_bytes -= BLOCK_BYTES;
            continue;
        }
        size_t room = BLOCK_BYTES - b->n_pending;
        size_t n = n_bytes < room ? n_bytes : room;
        memcpy(b->block + b->n_pending, p, n);
        b->n_pending += n;
        p += n;
        n_bytes -= n;
    }
}

void cuzk_blake2b_final(cuzk_blake2b *b, uint8_t out[CUZK_BLAKE2B_BYTES])
{
    memset(b->block + b->n_pending, 0, BLOCK_BYTES - b->n_pending);
    b->n_bytes += b->n_pending;
    compress(b, b->block, true);
    for (int i = 0; i < 8; i++) {
        cuzk_store_u64_le(out + 8 * i, b->state[i]);
    }
}

void cuzk_blake2b_digest(uint8_t out[CUZK_BLAKE2B_BYTES], const void *data, size_t n_bytes)
{
    cuzk_blake2b b;
    cuzk_blake2b_init(&b);
    cuzk_blake2b_update(&b, data, n_bytes);
    cuzk_blake2b_final(&b, out);
}
