/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gadget/sha256.h"

enum { N_ROUNDS = 64, PADDING_WORDS = 3 /* the bit behind the message, the length */ };

static const uint32_t k_table[N_ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static const uint32_t initial_state[CUZK_SHA256_WORDS] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* rotr(x, k0) xor rotr(x, k1) xor rotr(x, k2), or for the message schedule a shift by k2 */
static void sigma(cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, const unsigned k[3], bool shift)
{
    cuzk_word s, t;
    cuzk_word_rotr(cs, &s, x, k[0]);
    cuzk_word_rotr(cs, &t, x, k[1]);
    cuzk_word_xor(cs, out, &s, &t);
    if (shift) {
        cuzk_word_shr(cs, &t, x, k[2]);
    } else {
        cuzk_word_rotr(cs, &t, x, k[2]);
    }
    cuzk_word_xor(cs, out, out, &t);
}

static void extend_schedule(cuzk_cs *cs, cuzk_multi_eq *eq, cuzk_word w[N_ROUNDS])
{
    for (int i = CUZK_SHA256_BLOCK_WORDS; i < N_ROUNDS; i++) {
        cuzk_word s0, s1;
        sigma(cs, &s0, &w[i - 15], (const unsigned[]){7, 18, 3}, true);
        sigma(cs, &s1, &w[i - 2], (const unsigned[]){17, 19, 10}, true);
        const cuzk_word *const sum[] = {&w[i - 16], &s0, &w[i - 7], &s1};
        cuzk_word_sum(cs, eq, &w[i], sum, 4);
    }
}

/* What a round leaves for later: registers a and e stay lists of words until they are needed. */
struct round {
    cuzk_word s1, ch, k, s0, maj;
    const cuzk_word *w;
};

enum { E_LIST = 6, A_LIST = 7 };

static void e_list(const struct round *r, const cuzk_word *h, const cuzk_word *d,
                   const cuzk_word *out[E_LIST])
{
    const cuzk_word *const list[E_LIST] = {h, &r->s1, &r->ch, &r->k, r->w, d};
    for (int i = 0; i < E_LIST; i++) {
        out[i] = list[i];
    }
}

static void a_list(const struct round *r, const cuzk_word *h, const cuzk_word *out[A_LIST])
{
    const cuzk_word *const list[A_LIST] = {h, &r->s1, &r->ch, &r->k, r->w, &r->s0, &r->maj};
    for (int i = 0; i < A_LIST; i++) {
        out[i] = list[i];
    }
}

/* Registers: in round i, a = a_reg[i + 4], b, c and d stand before it; e to h likewise. */
static void compress(cuzk_cs *cs, cuzk_word state[CUZK_SHA256_WORDS], const cuzk_word *block)
{
    cuzk_word w[N_ROUNDS], a_reg[N_ROUNDS + 4], e_reg[N_ROUNDS + 4];
    struct round rounds[2];
    const cuzk_word *list[A_LIST + 1];
    cuzk_multi_eq eq;
    cuzk_multi_eq_init(&eq);
    for (int i = 0; i < CUZK_SHA256_BLOCK_WORDS; i++) {
        w[i] = block[i];
    }
    extend_schedule(cs, &eq, w);
    for (int i = 0; i < 4; i++) {
        a_reg[4 - i] = state[i];
        e_reg[4 - i] = state[4 + i];
    }
    for (int i = 0; i < N_ROUNDS; i++) {
        const struct round *before = &rounds[(i + 1) % 2];
        struct round *now = &rounds[i % 2];
        cuzk_word *a = &a_reg[i + 4], *e = &e_reg[i + 4];
        if (i > 0) {
            e_list(before, e - 4, a - 4, list);
            cuzk_word_sum(cs, &eq, e, list, E_LIST);
        }
        sigma(cs, &now->s1, e, (const unsigned[]){6, 11, 25}, false);
        cuzk_word_ch(cs, &now->ch, e, e - 1, e - 2);
        cuzk_word_const(&now->k, k_table[i]);
        now->w = &w[i];
        if (i > 0) {
            a_list(before, e - 4, list);
            cuzk_word_sum(cs, &eq, a, list, A_LIST);
        }
        sigma(cs, &now->s0, a, (const unsigned[]){2, 13, 22}, false);
        cuzk_word_maj(cs, &now->maj, a, a - 1, a - 2);
    }
    const struct round *last = &rounds[(N_ROUNDS - 1) % 2];
    const cuzk_word *a = &a_reg[N_ROUNDS + 3], *e = &e_reg[N_ROUNDS + 3];
    const cuzk_word *in = state;
    cuzk_word out[CUZK_SHA256_WORDS];
    a_list(last, e - 3, list);
    list[A_LIST] = &in[0];
    cuzk_word_sum(cs, &eq, &out[0], list, A_LIST + 1);
    for (int i = 1; i < 4; i++) {
        cuzk_word_sum(cs, &eq, &out[i], (const cuzk_word *const[]){&in[i], a + 1 - i}, 2);
    }
    e_list(last, e - 3, a - 3, list);
    list[E_LIST] = &in[4];
    cuzk_word_sum(cs, &eq, &out[4], list, E_LIST + 1);
    for (int i = 5; i < 8; i++) {
        cuzk_word_sum(cs, &eq, &out[i], (const cuzk_word *const[]){&in[i], e + 5 - i}, 2);
    }
    if (cuzk_cs_is_shape(cs)) {
        cuzk_multi_eq_flush(cs, &eq);
    }
    for (int i = 0; i < CUZK_SHA256_WORDS; i++) {
        state[i] = out[i];
    }
}

void cuzk_sha256_circuit(cuzk_cs *cs, cuzk_word out[CUZK_SHA256_WORDS], const cuzk_word *message,
                         size_t n_words)
{
    size_t n_padded = (n_words + PADDING_WORDS + CUZK_SHA256_BLOCK_WORDS - 1) /
                      CUZK_SHA256_BLOCK_WORDS * CUZK_SHA256_BLOCK_WORDS;
    for (int i = 0; i < CUZK_SHA256_WORDS; i++) {
        cuzk_word_const(&out[i], initial_state[i]);
    }
    for (size_t first = 0; first < n_padded; first += CUZK_SHA256_BLOCK_WORDS) {
        cuzk_word block[CUZK_SHA256_BLOCK_WORDS];
        for (size_t i = 0; i < CUZK_SHA256_BLOCK_WORDS; i++) {
            size_t at = first + i;
            if (at < n_words) {
                block[i] = message[at];
            } else if (at == n_words) {
                cuzk_word_const(&block[i], 0x80000000u);
            } else {
                uint64_t n_bits = at + 2 < n_padded ? 0 : (uint64_t)n_words * 32;
                cuzk_word_const(&block[i], (uint32_t)(at + 1 == n_padded ? n_bits : n_bits >> 32));
            }
        }
        compress(cs, out, block);
    }
}
