/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/chacha.h"

#include "base/bytes.h"

static inline uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

static inline void quarter(uint32_t *s, unsigned a, unsigned b, unsigned c, unsigned d)
{
    s[a] += s[b];
    s[d] = rotate(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = rotate(s[b] ^ s[c], 12);
    s[a] += s[b];
    s[d] = rotate(s[d] ^ s[a], 8);
    s[c] += s[d];
    s[b] = rotate(s[b] ^ s[c], 7);
}

void cuzk_chacha_block(uint32_t out[CUZK_CHACHA_WORDS], const uint8_t key[32],
                       const uint32_t tail[4], unsigned rounds)
{
    static const char constants[] = "expand 32-byte k";
    uint32_t in[CUZK_CHACHA_WORDS];
    for (unsigned i = 0; i < 4; i++) {
        in[i] = cuzk_load_u32_le(constants + 4 * i);
        in[12 + i] = tail[i];
    }
    for (unsigned i = 0; i < 8; i++) {
        in[4 + i] = cuzk_load_u32_le(key + 4 * i);
    }
    uint32_t s[CUZK_CHACHA_WORDS];
    memcpy(s, in, sizeof s);
    for (unsigned r = 0; r < rounds; r += 2) {
        for (unsigned i = 0; i < 4; i++) {
            quarter(s, i, 4 + i, 8 + i, 12 + i);
        }
        for (unsigned i = 0; i < 4; i++) {
            quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
        }
    }
    for (unsigned i = 0; i < CUZK_CHACHA_WORDS; i++) {
        out[i] = s[i] + in[i];
    }
}
