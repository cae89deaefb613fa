/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gadget/num.h"

#include "base/bytes.h"

#define A CUZK_MATRIX_A
#define B CUZK_MATRIX_B
#define C CUZK_MATRIX_C

/* ---- arithmetic -------------------------------------------------------------------------------
 */

static void load(cuzk_fr *out, const uint8_t *value)
{
    memcpy(out, value, sizeof *out);
}

/* Sums of canonical values are canonical. */
cuzk_num cuzk_num_add(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y)
{
    cuzk_fr a = {{0}}, b;
    if (!cuzk_cs_is_shape(cs)) {
        load(&a, x->value);
        load(&b, y->value);
        cs->curve->fr_add(&a, &a, &b);
    }
    cuzk_num sum = cuzk_cs_alloc_num(cs, (const uint8_t *)&a);
    if (cuzk_cs_is_shape(cs)) {
        cuzk_cs_plus(cs, A, x->var);
        cuzk_cs_plus(cs, A, y->var);
        cuzk_cs_plus(cs, B, CUZK_VAR_ONE);
        cuzk_cs_plus(cs, C, sum.var);
        cuzk_cs_end_constraint(cs);
    }
    return sum;
}

/* The Montgomery product of a value in Montgomery form and a canonical one is canonical. */
cuzk_num cuzk_num_mul(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y)
{
    cuzk_fr a = {{0}}, b;
    if (!cuzk_cs_is_shape(cs)) {
        cs->curve->fr_batch_from_canonical(&a, x->value, 1);
        load(&b, y->value);
        cs->curve->fr_mul(&a, &a, &b);
    }
    cuzk_num product = cuzk_cs_alloc_num(cs, (const uint8_t *)&a);
    if (cuzk_cs_is_shape(cs)) {
        cuzk_cs_plus(cs, A, x->var);
        cuzk_cs_plus(cs, B, y->var);
        cuzk_cs_plus(cs, C, product.var);
        cuzk_cs_end_constraint(cs);
    }
    return product;
}

cuzk_num cuzk_num_pick(cuzk_cs *cs, cuzk_bit cond, const cuzk_num *x, const cuzk_num *y)
{
    cuzk_num picked = cuzk_cs_alloc_num(cs, cond.value ? x->value : y->value);
    if (cuzk_cs_is_shape(cs)) {
        cuzk_cs_plus(cs, A, y->var);
        cuzk_cs_minus(cs, A, x->var);
        cuzk_cs_plus(cs, B, cond.var);
        cuzk_cs_plus(cs, C, y->var);
        cuzk_cs_minus(cs, C, picked.var);
        cuzk_cs_end_constraint(cs);
    }
    return picked;
}

/* ---- numbers to bits --------------------------------------------------------------------------
 */

/* The lowest n bits of x; handle of the first. */
static cuzk_var alloc_num_bits(cuzk_cs *cs, const cuzk_num *x, unsigned n)
{
    cuzk_var first = 0;
    for (unsigned i = 0; i < n; i += 64) {
        unsigned here = n - i < 64 ? n - i : 64;
        uint64_t limb = cuzk_cs_is_shape(cs) ? 0 : cuzk_load_u64_le(x->value + i / 8);
        limb &= here == 64 ? UINT64_MAX : ((uint64_t)1 << here) - 1;
        cuzk_var v = cuzk_alloc_bits(cs, limb, here, NULL);
        first = i == 0 ? v : first;
    }
    return first;
}

static void put_sum(cuzk_cs *cs, cuzk_matrix side, cuzk_var first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        cuzk_cs_term(cs, side, first + i, &cs->coefs->pow2[i]);
    }
}

void cuzk_num_decompose(cuzk_cs *cs, const cuzk_num *x, cuzk_bit *out, unsigned n)
{
    cuzk_var first = alloc_num_bits(cs, x, n);
    if (cuzk_cs_is_shape(cs)) {
        put_sum(cs, A, first, n);
        cuzk_cs_plus(cs, B, CUZK_VAR_ONE);
        cuzk_cs_plus(cs, C, x->var);
        cuzk_cs_end_constraint(cs);
    }
    for (unsigned i = 0; i < n; i++) {
        out[i] = (cuzk_bit){first + i, (x->value[i / 8] >> (i % 8) & 1) != 0};
    }
}

/* Number of the bit of a little-endian number that is bit i of word w in SHA-256's order. */
static unsigned number_bit(unsigned w, unsigned i)
{
    return 8 * (4 * w + (31 - i) / 8) + i % 8;
}

void cuzk_num_to_words(cuzk_cs *cs, const cuzk_num *x, cuzk_word out[CUZK_SHA256_WORDS])
{
    cuzk_var first = alloc_num_bits(cs, x, CUZK_NUM_BITS);
    if (cuzk_cs_is_shape(cs)) {
        put_sum(cs, C, first, CUZK_NUM_BITS);
        cuzk_cs_minus(cs, C, x->var);
        cuzk_cs_end_constraint(cs);
    }
    for (unsigned w = 0; w < CUZK_SHA256_WORDS; w++) {
        out[w].value = cuzk_cs_is_shape(cs) ? 0 : cuzk_load_u32_be(x->value + 4 * w);
        out[w].fixed = out[w].negated = 0;
        for (unsigned i = 0; cuzk_cs_is_shape(cs) && i < 32; i++) {
            out[w].var[i] = first + number_bit(w, i);
        }
    }
    out[CUZK_SHA256_WORDS - 1].fixed = 0x80; /* bit 255 */
}

/* ---- bits to numbers --------------------------------------------------------------------------
 */

cuzk_num cuzk_num_from_words(cuzk_cs *cs, const cuzk_word words[CUZK_SHA256_WORDS])
{
    uint8_t value[32];
    for (unsigned w = 0; w < CUZK_SHA256_WORDS; w++) {
        cuzk_store_u32_be(value + 4 * w, words[w].value);
    }
    value[31] &= 0x3f;
    cuzk_num x = cuzk_cs_alloc_num(cs, value);
    if (cuzk_cs_is_shape(cs)) {
        for (unsigned w = 0; w < CUZK_SHA256_WORDS; w++) {
            for (unsigned i = 0; i < 32; i++) {
                unsigned power = number_bit(w, i);
                if (power < CUZK_PACK_BITS) {
                    cuzk_boolean_term(cs, A, cuzk_word_bit(&words[w], i), &cs->coefs->pow2[power],
                                      &cs->coefs->minus_pow2[power]);
                }
            }
        }
        cuzk_cs_plus(cs, B, CUZK_VAR_ONE);
        cuzk_cs_plus(cs, C, x.var);
        cuzk_cs_end_constraint(cs);
    }
    return x;
}

static void pack(uint8_t value[32], const cuzk_bit *bits, unsigned n)
{
    memset(value, 0, 32);
    for (unsigned i = 0; i < n; i++) {
        value[i / 8] |= (uint8_t)(bits[i].value << (i % 8));
    }
}

/* sum of 2^i·bit i = var */
static void enforce_packed(cuzk_cs *cs, const cuzk_bit *bits, unsigned n, cuzk_var var)
{
    for (unsigned i = 0; i < n; i++) {
        cuzk_cs_term(cs, A, bits[i].var, &cs->coefs->pow2[i]);
    }
    cuzk_cs_plus(cs, B, CUZK_VAR_ONE);
    cuzk_cs_plus(cs, C, var);
    cuzk_cs_end_constraint(cs);
}

cuzk_num cuzk_num_from_bits(cuzk_cs *cs, const cuzk_bit *bits, unsigned n)
{
    uint8_t value[32];
    pack(value, bits, n);
    cuzk_num x = cuzk_cs_alloc_num(cs, value);
    if (cuzk_cs_is_shape(cs)) {
        enforce_packed(cs, bits, n, x.var);
    }
    return x;
}

void cuzk_inputize_bits(cuzk_cs *cs, const cuzk_bit *bits, unsigned n)
{
    uint8_t value[32];
    pack(value, bits, n);
    cuzk_var input = cuzk_cs_alloc_input(cs, value);
    if (cuzk_cs_is_shape(cs)) {
        enforce_packed(cs, bits, n, input);
    }
}

/* ---- choice -----------------------------------------------------------------------------------
 */

static void insert2(cuzk_cs *cs, cuzk_num *out, const cuzk_num *x, const cuzk_num *s,
                    const cuzk_bit *b)
{
    out[0] = cuzk_num_pick(cs, b[0], &s[0], x);
    out[1] = cuzk_num_pick(cs, b[0], x, &s[0]);
}

static void insert4(cuzk_cs *cs, cuzk_num *out, const cuzk_num *x, const cuzk_num *s,
                    const cuzk_bit *b)
{
    cuzk_num t = cuzk_num_pick(cs, b[0], &s[0], x);
    out[0] = cuzk_num_pick(cs, b[1], &s[0], &t);
    t = cuzk_num_pick(cs, b[0], x, &s[0]);
    out[1] = cuzk_num_pick(cs, b[1], &s[1], &t);
    t = cuzk_num_pick(cs, b[0], &s[2], x);
    out[2] = cuzk_num_pick(cs, b[1], &t, &s[1]);
    t = cuzk_num_pick(cs, b[0], x, &s[2]);
    out[3] = cuzk_num_pick(cs, b[1], &t, &s[2]);
}

/* x and y, as a bit variable */
static cuzk_bit and_bit(cuzk_cs *cs, cuzk_bit x, cuzk_bit y, bool negate_both)
{
    cuzk_bit out = {.value = (x.value != negate_both) && (y.value != negate_both)};
    if (cuzk_cs_is_shape(cs)) {
        out.var = cuzk_boolean_and(cs, (cuzk_boolean){.var = x.var, .negated = negate_both},
                                   (cuzk_boolean){.var = y.var, .negated = negate_both})
                      .var;
    } else {
        cuzk_cs_put_bits(cs, out.value, 1);
    }
    return out;
}

static void insert8(cuzk_cs *cs, cuzk_num *out, const cuzk_num *x, const cuzk_num *s,
                    const cuzk_bit *b)
{
    cuzk_bit nor = and_bit(cs, b[0], b[1], true), and = and_bit(cs, b[0], b[1], false);
    cuzk_num t = cuzk_num_pick(cs, nor, x, &s[0]);
    out[0] = cuzk_num_pick(cs, b[2], &s[0], &t);
    t = cuzk_num_pick(cs, b[0], x, &s[0]);
    t = cuzk_num_pick(cs, b[1], &s[1], &t);
    out[1] = cuzk_num_pick(cs, b[2], &s[1], &t);
    t = cuzk_num_pick(cs, b[0], &s[2], x);
    t = cuzk_num_pick(cs, b[1], &t, &s[1]);
    out[2] = cuzk_num_pick(cs, b[2], &s[2], &t);
    t = cuzk_num_pick(cs, and, x, &s[2]);
    out[3] = cuzk_num_pick(cs, b[2], &s[3], &t);
    t = cuzk_num_pick(cs, nor, x, &s[4]);
    out[4] = cuzk_num_pick(cs, b[2], &t, &s[3]);
    t = cuzk_num_pick(cs, b[0], x, &s[4]);
    t = cuzk_num_pick(cs, b[1], &s[5], &t);
    out[5] = cuzk_num_pick(cs, b[2], &t, &s[4]);
    t = cuzk_num_pick(cs, b[0], &s[6], x);
    t = cuzk_num_pick(cs, b[1], &t, &s[5]);
    out[6] = cuzk_num_pick(cs, b[2], &t, &s[5]);
    t = cuzk_num_pick(cs, and, x, &s[6]);
    out[7] = cuzk_num_pick(cs, b[2], &t, &s[6]);
}

void cuzk_num_insert(cuzk_cs *cs, cuzk_num *out, const cuzk_num *x, const cuzk_num *siblings,
                     const cuzk_bit *bits, unsigned size)
{
    CUZK_ASSERT(size == 2 || size == 4 || size == 8);
    if (size == 2) {
        insert2(cs, out, x, siblings, bits);
    } else if (size == 4) {
        insert4(cs, out, x, siblings, bits);
    } else {
        insert8(cs, out, x, siblings, bits);
    }
}

cuzk_num cuzk_num_select(cuzk_cs *cs, const cuzk_num *from, const cuzk_bit *bits, unsigned n_bits,
                         cuzk_num *scratch)
{
    if (n_bits == 0) {
        return from[0];
    }
    const cuzk_num *state = from;
    for (unsigned k = n_bits; k-- > 0;) {
        size_t half = (size_t)1 << k;
        for (size_t j = 0; j < half; j++) {
            scratch[j] = cuzk_num_pick(cs, bits[k], &state[half + j], &state[j]);
        }
        state = scratch;
    }
    return scratch[0];
}

/* ---- trees ------------------------------------------------------------------------------------
 */

cuzk_num cuzk_sha256_node(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y)
{
    cuzk_word message[2 * CUZK_SHA256_WORDS], digest[CUZK_SHA256_WORDS];
    cuzk_num_to_words(cs, x, message);
    cuzk_num_to_words(cs, y, message + CUZK_SHA256_WORDS);
    cuzk_sha256_circuit(cs, digest, message, 2 * CUZK_SHA256_WORDS);
    return cuzk_num_from_words(cs, digest);
}
