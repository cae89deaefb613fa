/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every gadget against its rule: the result is that of a plain computation, both modes agree, and
 * the constraints admit nothing else.
 *
 * The last is tried one variable at a time. A witness in which one variable was changed may satisfy
 * the constraints only when it is the honest witness of other operands; so a changed operand has to
 * be followed by everything that depends on it, and what a gadget adds is never free. */
#include "gadget/merkle.h"
#include "gadget/num.h"
#include "plain.h"
#include "r1cs/satisfy.h"
#include "random.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0011;

enum { BITS_MAX = 40 * 32, NUMS_MAX = 16, OUTS_MAX = 16 };

/* Operands of a gadget: bits first, then numbers; and what it made of them. */
struct trial {
    void (*gadget)(cuzk_cs *cs, struct trial *t);
    unsigned n_bits, n_nums, n_outs;
    bool bits[BITS_MAX];
    uint8_t nums[NUMS_MAX][32];
    unsigned k;                         /* the gadget's own */
    uint32_t constants[40], const_mask; /* words that are constants, where the gadget has such */
    cuzk_bit bit[BITS_MAX];
    cuzk_num num[NUMS_MAX], out[OUTS_MAX];
    cuzk_word words[CUZK_SHA256_WORDS]; /* of results that are words */
    unsigned n_words;
};

static void describe(cuzk_cs *cs, const void *ctx)
{
    struct trial *t = (struct trial *)(uintptr_t)ctx;
    for (unsigned i = 0; i < t->n_bits; i++) {
        cuzk_alloc_bits(cs, t->bits[i], 1, &t->bit[i]);
    }
    for (unsigned i = 0; i < t->n_nums; i++) {
        t->num[i] = cuzk_cs_alloc_num(cs, t->nums[i]);
    }
    t->gadget(cs, t);
}

static uint32_t index_of(const cuzk_shape *s, cuzk_var v)
{
    return v & 0x80000000u ? s->n_inputs + (v & 0x7fffffffu) : v;
}

static bool same_values(const cuzk_witness *a, const cuzk_witness *b)
{
    return memcmp(a->bits, b->bits, cuzk_bitmap_words(a->n_vars) * 8) == 0 &&
           memcmp(a->field, b->field, (size_t)a->n_field * 32) == 0;
}

/* Change operand i, or change it back. */
static void change_operand(const cuzk_shape *s, struct trial *t, unsigned i, bool back)
{
    if (i < t->n_bits) {
        t->bits[i] = !t->bits[i];
        return;
    }
    cuzk_fr x, one = {{1}};
    memcpy(&x, t->nums[i - t->n_bits], sizeof x);
    (back ? s->curve->fr_sub : s->curve->fr_add)(&x, &x, &one);
    memcpy(t->nums[i - t->n_bits], &x, sizeof x);
}

/* Whether w, of which operand i was changed, is the honest witness of the changed operands. */
static bool is_honest(const cuzk_shape *s, struct trial *t, const cuzk_witness *w, unsigned i)
{
    struct trial *other = malloc(sizeof *other);
    memcpy(other, t, sizeof *other);
    change_operand(s, other, i, false);
    cuzk_witness *honest = support_witness(s, describe, other);
    bool same = same_values(honest, w);
    cuzk_witness_destroy(honest);
    free(other);
    return same;
}

/* n_samples of the variables, spread; 0: all. */
static void expect_nothing_else(const cuzk_shape *s, struct trial *t, cuzk_witness *w,
                                uint32_t n_samples)
{
    uint32_t n = s->n_vars - 1;
    n_samples = n_samples == 0 || n_samples > n ? n : n_samples;
    for (uint32_t i = 0; i < n_samples; i++) {
        uint32_t var = 1 + (uint32_t)((uint64_t)i * n / n_samples);
        support_change(s, w, var, false);
        bool holds = cuzk_shape_check_witness(s, w, NULL, NULL, NULL) == CUZK_OK;
        uint32_t operand = var - s->n_inputs;
        bool honest =
            var >= s->n_inputs && operand < t->n_bits + t->n_nums && is_honest(s, t, w, operand);
        if (holds != honest) {
            fail_msg("variable %u of %u: changed by itself %s", var, s->n_vars,
                     holds ? "it breaks no constraint" : "it is honest and refused");
        }
        support_change(s, w, var, true);
    }
}

/* Result words: the same constants and negations in both modes, and the right bits. */
static void expect_words(const cuzk_shape *s, const cuzk_witness *w, const struct trial *in_shape,
                         const struct trial *t, const uint32_t *expected)
{
    for (unsigned k = 0; k < t->n_words; k++) {
        const cuzk_word *x = &in_shape->words[k], *y = &t->words[k];
        assert_int_equal(x->fixed, y->fixed);
        assert_int_equal(x->negated, y->negated);
        assert_int_equal(x->value & x->fixed, y->value & y->fixed);
        assert_int_equal(y->value, expected[k]);
        for (unsigned i = 0; i < 32; i++) {
            bool bit = x->value >> i & 1;
            if ((x->fixed >> i & 1) == 0) {
                uint8_t value[32];
                cuzk_witness_get(w, index_of(s, x->var[i]), value);
                bit = value[0] != (x->negated >> i & 1);
            }
            assert_int_equal(bit, expected[k] >> i & 1);
        }
    }
}

/* The whole trial. expected: n_outs numbers; words: n_words. */
static void expect_rule(struct trial *t, const uint8_t expected[][32], const uint32_t *words,
                        uint32_t n_samples)
{
    struct trial *in_shape = malloc(sizeof *in_shape);
    memcpy(in_shape, t, sizeof *in_shape);
    cuzk_shape *s = support_shape(describe, in_shape);
    cuzk_witness *w = support_witness(s, describe, t);
    support_expect_satisfied(s, w);
    assert_int_equal(in_shape->n_outs, t->n_outs);
    for (unsigned i = 0; i < t->n_outs; i++) {
        uint8_t value[32];
        cuzk_witness_get(w, index_of(s, in_shape->out[i].var), value);
        assert_memory_equal(value, expected[i], 32);
        assert_memory_equal(t->out[i].value, expected[i], 32);
    }
    expect_words(s, w, in_shape, t, words);
    expect_nothing_else(s, t, w, n_samples);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(s);
    free(in_shape);
}

/* 0, 1, 2, r-1, r-2, a power of two, a small or a full number below r. */
static void random_number(uint8_t out[32])
{
    static const cuzk_fr one = {{1}};
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_fr x = {{0}};
    switch (cuzk_test_random(&seed) % 8) {
    case 0:
        x.l[0] = cuzk_test_random(&seed) % 3;
        break;
    case 1: {
        uint64_t k = 1 + cuzk_test_random(&seed) % 2;
        for (uint64_t i = 0; i < k; i++) {
            curve->fr_sub(&x, &x, &one);
        }
        break;
    }
    case 2: {
        unsigned bit = (unsigned)(cuzk_test_random(&seed) % 254);
        x.l[bit / 64] = (uint64_t)1 << (bit % 64);
        break;
    }
    case 3:
        x.l[0] = cuzk_test_random(&seed);
        break;
    default:
        for (int i = 0; i < 4; i++) {
            x.l[i] = cuzk_test_random(&seed);
        }
        x.l[3] %= curve->r[3];
    }
    memcpy(out, &x, 32);
}

static void random_operands(struct trial *t)
{
    for (unsigned i = 0; i < t->n_bits; i++) {
        t->bits[i] = cuzk_test_random(&seed) >> 63;
    }
    for (unsigned i = 0; i < t->n_nums; i++) {
        random_number(t->nums[i]);
    }
}

static struct trial *new_trial(void (*gadget)(cuzk_cs *, struct trial *), unsigned n_bits,
                               unsigned n_nums)
{
    struct trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->gadget = gadget;
    t->n_bits = n_bits;
    t->n_nums = n_nums;
    return t;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void add(cuzk_cs *cs, struct trial *t)
{
    t->n_outs = 2;
    t->out[0] = cuzk_num_add(cs, &t->num[0], &t->num[1]);
    t->out[1] = cuzk_num_add(cs, &t->num[0], &t->num[0]);
}

static void mul(cuzk_cs *cs, struct trial *t)
{
    t->n_outs = 2;
    t->out[0] = cuzk_num_mul(cs, &t->num[0], &t->num[1]);
    t->out[1] = cuzk_num_mul(cs, &t->num[0], &t->num[0]);
}

static void pick(cuzk_cs *cs, struct trial *t)
{
    t->n_outs = 2;
    t->out[0] = cuzk_num_pick(cs, t->bit[0], &t->num[0], &t->num[1]);
    t->out[1] = cuzk_num_pick(cs, t->bit[0], &t->num[1], &t->num[0]);
}

static void test_arithmetic(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        uint8_t expected[2][32];
        struct trial *t = new_trial(add, 0, 2);
        random_operands(t);
        plain_add(expected[0], t->nums[0], t->nums[1]);
        plain_add(expected[1], t->nums[0], t->nums[0]);
        expect_rule(t, expected, NULL, 0);
        t->gadget = mul;
        plain_mul(expected[0], t->nums[0], t->nums[1]);
        plain_mul(expected[1], t->nums[0], t->nums[0]);
        expect_rule(t, expected, NULL, 0);
        t->gadget = pick;
        t->n_bits = 1;
        random_operands(t);
        memcpy(expected[0], t->nums[t->bits[0] ? 0 : 1], 32);
        memcpy(expected[1], t->nums[t->bits[0] ? 1 : 0], 32);
        expect_rule(t, expected, NULL, 0);
        free(t);
    }
}

static void equal(cuzk_cs *cs, struct trial *t)
{
    cuzk_cs_equal(cs, &t->num[0], &t->num[1]);
    cuzk_cs_inputize(cs, &t->num[0]);
}

static void test_equal(void **state)
{
    (void)state;
    struct trial *t = new_trial(equal, 0, 2);
    for (int round = 0; round < 10; round++) {
        random_number(t->nums[0]);
        memcpy(t->nums[1], t->nums[0], 32);
        cuzk_shape *s = support_shape(describe, t);
        cuzk_witness *w = support_witness(s, describe, t);
        support_expect_satisfied(s, w);
        uint8_t public_value[32];
        cuzk_witness_get(w, 1, public_value);
        assert_memory_equal(public_value, t->nums[0], 32);
        support_expect_tight(s, w, s->n_vars - 1);
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(s);
    }
    free(t);
}

/* ---- numbers and bits ------------------------------------------------------------------------ */

static void decompose(cuzk_cs *cs, struct trial *t)
{
    cuzk_num_decompose(cs, &t->num[0], t->bit, t->k);
    t->n_outs = 1;
    t->out[0] = cuzk_num_from_bits(cs, t->bit, t->k < CUZK_PACK_BITS ? t->k : CUZK_PACK_BITS);
}

/* The lowest n bits of x. */
static void keep_bits(uint8_t x[32], unsigned n)
{
    for (unsigned i = n; i < 256; i++) {
        x[i / 8] &= (uint8_t) ~(1u << (i % 8));
    }
}

static void test_decompose(void **state)
{
    (void)state;
    static const unsigned widths[] = {1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 253, 254, 255};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        for (int round = 0; round < 4; round++) {
            uint8_t expected[1][32];
            struct trial *t = new_trial(decompose, 0, 1);
            t->k = widths[i];
            random_number(t->nums[0]);
            keep_bits(t->nums[0], t->k);
            memcpy(expected[0], t->nums[0], 32);
            keep_bits(expected[0], CUZK_PACK_BITS);
            expect_rule(t, expected, NULL, round == 0 ? 0 : 40);
            for (unsigned b = 0; b < t->k; b++) {
                assert_int_equal(t->bit[b].value, t->nums[0][b / 8] >> (b % 8) & 1);
            }
            free(t);
        }
    }
}

/* A number that does not fit has no satisfying bits: not those that are left of it. */
static void test_decompose_too_large(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 254; n += 23) {
        struct trial *t = new_trial(decompose, 0, 1);
        t->k = n;
        cuzk_shape *s = support_shape(describe, t);
        t->nums[0][n / 8] = (uint8_t)(1u << (n % 8)); /* 2^n */
        cuzk_witness *w = support_witness(s, describe, t);
        assert_int_equal(cuzk_shape_check_witness(s, w, NULL, NULL, NULL), CUZK_E_UNSATISFIED);
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(s);
        free(t);
    }
}

static void to_words(cuzk_cs *cs, struct trial *t)
{
    t->n_words = CUZK_SHA256_WORDS;
    cuzk_num_to_words(cs, &t->num[0], t->words);
    t->n_outs = 1;
    t->out[0] = cuzk_num_from_words(cs, t->words);
}

static void test_to_words(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint8_t expected[1][32];
        uint32_t words[8];
        struct trial *t = new_trial(to_words, 0, 1);
        random_number(t->nums[0]);
        plain_words_of(words, t->nums[0]);
        memcpy(expected[0], t->nums[0], 32);
        keep_bits(expected[0], CUZK_PACK_BITS);
        expect_rule(t, expected, words, round == 0 ? 0 : 30);
        free(t);
    }
}

/* The bits of a number are those of any integer below 2^255 that is congruent to it: the reference
 * does not ask for the smallest (spec/gadgets.md section 5). x + r satisfies the row, where it has
 * no more bits; x + 1 and x + r + 1 do not. */
static void test_to_words_is_modulo_r(void **state)
{
    (void)state;
    struct trial *t = new_trial(to_words, 0, 1);
    t->nums[0][0] = 5;
    cuzk_shape *s = support_shape(describe, t);
    const uint32_t first = s->n_inputs + 1; /* behind the number */
    for (unsigned add_r = 0; add_r < 2; add_r++) {
        for (unsigned more = 0; more < 2; more++) {
            cuzk_witness *w = support_witness(s, describe, t);
            uint64_t x[4] = {5 + more, 0, 0, 0};
            unsigned carry = 0;
            for (int i = 0; i < 4 && add_r; i++) {
                uint64_t sum = x[i] + s->curve->r[i], next = sum < x[i];
                x[i] = sum + carry;
                carry = (unsigned)(next + (x[i] < carry));
            }
            uint8_t packed[32];
            memcpy(packed, x, 32);
            keep_bits(packed, CUZK_PACK_BITS);
            for (uint32_t i = 0; i < CUZK_NUM_BITS; i++) {
                uint64_t at = (uint64_t)1 << ((first + i) % 64);
                uint64_t *word = &w->bits[(first + i) / 64];
                *word = (x[i / 64] >> (i % 64) & 1) != 0 ? *word | at : *word & ~at;
            }
            cuzk_fr reduced;
            s->curve->fr_batch_from_canonical(&reduced, packed, 1);
            s->curve->fr_to_canonical_le(w->field[w->n_field - 1], &reduced);
            bool holds = cuzk_shape_check_witness(s, w, NULL, NULL, NULL) == CUZK_OK;
            assert_int_equal(holds, more == 0);
            cuzk_witness_destroy(w);
        }
    }
    cuzk_shape_destroy(s);
    free(t);
}

static void pack(cuzk_cs *cs, struct trial *t)
{
    t->n_outs = 1;
    t->out[0] = cuzk_num_from_bits(cs, t->bit, t->n_bits);
    if (t->n_bits <= 64) {
        cuzk_inputize_bits(cs, t->bit, t->n_bits);
    }
}

static void test_pack(void **state)
{
    (void)state;
    static const unsigned widths[] = {0, 1, 2, 31, 63, 64, 65, 128, 200, 253, 254};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        uint8_t expected[1][32] = {{0}};
        struct trial *t = new_trial(pack, widths[i], 0);
        random_operands(t);
        for (unsigned b = 0; b < t->n_bits; b++) {
            expected[0][b / 8] |= (uint8_t)(t->bits[b] << (b % 8));
        }
        expect_rule(t, expected, NULL, 0);
        free(t);
    }
}

/* ---- choice ---------------------------------------------------------------------------------- */

static void insert(cuzk_cs *cs, struct trial *t)
{
    t->n_outs = t->k;
    cuzk_num_insert(cs, t->out, &t->num[0], &t->num[1], t->bit, t->k);
}

static void test_insert(void **state)
{
    (void)state;
    for (unsigned lg = 1; lg <= 3; lg++) {
        for (unsigned index = 0; index < 1u << lg; index++) {
            uint8_t expected[CUZK_INSERT_MAX][32];
            struct trial *t = new_trial(insert, lg, 1u << lg);
            t->k = 1u << lg;
            random_operands(t);
            for (unsigned i = 0; i < lg; i++) {
                t->bits[i] = index >> i & 1;
            }
            for (unsigned i = 0, from = 1; i < t->k; i++) {
                memcpy(expected[i], t->nums[i == index ? 0 : from++], 32);
            }
            expect_rule(t, expected, NULL, 0);
            free(t);
        }
    }
}

static void select_one(cuzk_cs *cs, struct trial *t)
{
    cuzk_num scratch[NUMS_MAX];
    t->n_outs = 1;
    t->out[0] = cuzk_num_select(cs, t->num, t->bit, t->n_bits, scratch);
}

static void test_select(void **state)
{
    (void)state;
    for (unsigned lg = 0; lg <= 4; lg++) {
        for (unsigned index = 0; index < 1u << lg; index++) {
            uint8_t expected[1][32];
            struct trial *t = new_trial(select_one, lg, 1u << lg);
            random_operands(t);
            for (unsigned i = 0; i < lg; i++) {
                t->bits[i] = index >> i & 1;
            }
            memcpy(expected[0], t->nums[index], 32);
            expect_rule(t, expected, NULL, 0);
            free(t);
        }
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

enum { OPERAND_WORDS = 12 };

/* Patterns of a word's bits: constants, variables and negated variables. */
struct pattern {
    uint32_t fixed, constant, negated;
};

static struct pattern patterns[OPERAND_WORDS];

static uint32_t random_mask(void)
{
    static const uint32_t plain_masks[] = {0, UINT32_MAX, 0x0000ffff, 0xff00ff00, 1, 0x80000000};
    uint64_t r = cuzk_test_random(&seed);
    return r % 3 == 0 ? plain_masks[(r >> 8) % 6] : (uint32_t)(r >> 32);
}

/* Operand k: its 32 bits, as the pattern has them. */
static cuzk_word operand(const cuzk_cs *cs, const struct trial *t, unsigned k)
{
    cuzk_word w;
    const struct pattern *p = &patterns[k];
    uint32_t bits = 0;
    for (unsigned i = 0; i < 32; i++) {
        bits |= (uint32_t)t->bits[32 * k + i] << i;
        w.var[i] = t->bit[32 * k + i].var;
    }
    uint32_t variable = cuzk_cs_is_shape(cs) ? 0 : (bits ^ p->negated) & ~p->fixed;
    w.value = (p->constant & p->fixed) | variable;
    w.fixed = p->fixed;
    w.negated = p->negated & ~p->fixed;
    return w;
}

static uint32_t plain_operand(const struct trial *t, unsigned k)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 32; i++) {
        bits |= (uint32_t)t->bits[32 * k + i] << i;
    }
    const struct pattern *p = &patterns[k];
    return (p->constant & p->fixed) | ((bits ^ p->negated) & ~p->fixed);
}

static void bitwise(cuzk_cs *cs, struct trial *t)
{
    cuzk_word x = operand(cs, t, 0), y = operand(cs, t, 1), z = operand(cs, t, 2);
    t->n_words = 5;
    cuzk_word_xor(cs, &t->words[0], &x, &y);
    cuzk_word_ch(cs, &t->words[1], &x, &y, &z);
    cuzk_word_maj(cs, &t->words[2], &x, &y, &z);
    cuzk_word_rotr(cs, &t->words[3], &x, t->k);
    cuzk_word_shr(cs, &t->words[4], &y, t->k);
    /* in place of an operand, and of a result with negations */
    cuzk_word_xor(cs, &x, &x, &z);
    cuzk_word_maj(cs, &t->words[5], &t->words[3], &x, &t->words[4]);
    t->n_words = 6;
}

static void test_bitwise(void **state)
{
    (void)state;
    for (int round = 0; round < 120; round++) {
        struct trial *t = new_trial(bitwise, 3 * 32, 0);
        t->k = 1 + (unsigned)(cuzk_test_random(&seed) % 31);
        random_operands(t);
        for (unsigned i = 0; i < 3; i++) {
            patterns[i] = (struct pattern){random_mask(), random_mask(), random_mask()};
        }
        uint32_t x = plain_operand(t, 0), y = plain_operand(t, 1), z = plain_operand(t, 2);
        uint32_t rotated = x >> t->k | x << (32 - t->k), shifted = y >> t->k, xz = x ^ z;
        const uint32_t words[] = {x ^ y,
                                  (x & y) | (~x & z),
                                  (x & y) | (x & z) | (y & z),
                                  rotated,
                                  shifted,
                                  (rotated & xz) | (rotated & shifted) | (xz & shifted)};
        expect_rule(t, NULL, words, round < 10 ? 0 : 20);
        free(t);
    }
}

/* t->k words; more than one sum, so that several share a row and it is full at times. */
static void sums(cuzk_cs *cs, struct trial *t)
{
    cuzk_multi_eq eq;
    cuzk_word operands[OPERAND_WORDS];
    const cuzk_word *list[OPERAND_WORDS];
    cuzk_multi_eq_init(&eq);
    for (unsigned i = 0; i < t->k; i++) {
        operands[i] = operand(cs, t, i);
        list[i] = &operands[i];
    }
    t->n_words = CUZK_SHA256_WORDS;
    for (unsigned i = 0; i < t->n_words; i++) {
        cuzk_word_sum(cs, &eq, &t->words[i], list, t->k);
        operands[0] = t->words[i];
    }
    if (cuzk_cs_is_shape(cs)) {
        cuzk_multi_eq_flush(cs, &eq);
    }
}

static void test_sums(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= CUZK_SUM_WORDS; n++) {
        for (int round = 0; round < 6; round++) {
            struct trial *t = new_trial(sums, 32 * n, 0);
            t->k = n;
            random_operands(t);
            uint32_t sum = 0, words[CUZK_SHA256_WORDS];
            for (unsigned i = 0; i < n; i++) {
                patterns[i] =
                    (struct pattern){round == 0 ? UINT32_MAX : random_mask(),
                                     round == 1 ? UINT32_MAX : random_mask(), random_mask()};
                sum += i > 0 ? plain_operand(t, i) : 0;
            }
            words[0] = plain_operand(t, 0) + sum;
            for (unsigned i = 1; i < CUZK_SHA256_WORDS; i++) {
                words[i] = words[i - 1] + sum;
            }
            expect_rule(t, NULL, words, round == 2 ? 0 : 40);
            free(t);
        }
    }
}

/* ---- SHA-256 --------------------------------------------------------------------------------- */

/* t->k words of message; those of const_mask are constants. */
static void sha256(cuzk_cs *cs, struct trial *t)
{
    cuzk_word message[40];
    unsigned at = 0;
    for (unsigned w = 0; w < t->k; w++) {
        if (t->const_mask >> (w % 32) & 1) {
            cuzk_word_const(&message[w], t->constants[w]);
            continue;
        }
        message[w].fixed = message[w].negated = message[w].value = 0;
        for (unsigned i = 0; i < 32; i++, at++) {
            message[w].var[i] = t->bit[at].var;
            message[w].value |= cuzk_cs_is_shape(cs) ? 0 : (uint32_t)t->bits[at] << i;
        }
    }
    t->n_words = CUZK_SHA256_WORDS;
    cuzk_sha256_circuit(cs, t->words, message, t->k);
}

static void test_sha256(void **state)
{
    (void)state;
    /* around the ends of blocks: the padding takes three words */
    static const unsigned lengths[] = {0, 1, 8, 12, 13, 14, 15, 16, 17, 28, 29, 30, 32, 40};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int mixed = 0; mixed < 2; mixed++) {
            struct trial *t = new_trial(sha256, 0, 0);
            uint8_t message[160], digest[32];
            uint32_t words[8];
            t->k = lengths[i];
            t->const_mask = mixed ? (uint32_t)cuzk_test_random(&seed) : 0;
            for (unsigned w = 0; w < t->k; w++) {
                uint32_t value = (uint32_t)cuzk_test_random(&seed);
                for (unsigned b = 0; b < 4; b++) {
                    message[4 * w + b] = (uint8_t)(value >> (24 - 8 * b));
                }
                t->constants[w] = value;
                for (unsigned b = 0; b < 32 && (t->const_mask >> (w % 32) & 1) == 0; b++) {
                    t->bits[t->n_bits++] = value >> b & 1;
                }
            }
            plain_sha256(digest, message, 4 * (size_t)t->k);
            for (unsigned w = 0; w < 8; w++) {
                words[w] = (uint32_t)digest[4 * w] << 24 | (uint32_t)digest[4 * w + 1] << 16 |
                           (uint32_t)digest[4 * w + 2] << 8 | digest[4 * w + 3];
            }
            if (t->n_bits == 0) {
                /* nothing but constants: no variable, and the digest is one */
                cuzk_shape *s = support_shape(describe, t);
                assert_int_equal(s->n_vars, 1);
                for (unsigned w = 0; w < 8; w++) {
                    assert_int_equal(t->words[w].fixed, UINT32_MAX);
                    assert_int_equal(t->words[w].value, words[w]);
                }
                cuzk_shape_destroy(s);
            } else {
                expect_rule(t, NULL, words, 12);
            }
            free(t);
        }
    }
}

static void node(cuzk_cs *cs, struct trial *t)
{
    t->n_outs = 1;
    t->out[0] = cuzk_sha256_node(cs, &t->num[0], &t->num[1]);
}

static void root(cuzk_cs *cs, struct trial *t)
{
    cuzk_num scratch[NUMS_MAX];
    t->n_outs = 1;
    t->out[0] = cuzk_merkle_root_sha256(cs, t->num, t->k, scratch);
}

static void test_sha256_trees(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        uint8_t expected[1][32];
        struct trial *t = new_trial(node, 0, 2);
        random_operands(t);
        plain_sha256_node(expected[0], t->nums[0], t->nums[1]);
        expect_rule(t, expected, NULL, 12);
        free(t);
    }
    for (unsigned lg = 0; lg <= 3; lg++) {
        uint8_t row[NUMS_MAX][32];
        struct trial *t = new_trial(root, 0, 1u << lg);
        t->k = lg;
        random_operands(t);
        memcpy(row, t->nums, sizeof row);
        for (unsigned n = 1u << lg; n > 1; n /= 2) {
            for (unsigned i = 0; i < n / 2; i++) {
                plain_sha256_node(row[i], row[2 * i], row[2 * i + 1]);
            }
        }
        expect_rule(t, (const uint8_t(*)[32])row, NULL, 6);
        free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),   cmocka_unit_test(test_equal),
        cmocka_unit_test(test_decompose),    cmocka_unit_test(test_decompose_too_large),
        cmocka_unit_test(test_to_words),     cmocka_unit_test(test_to_words_is_modulo_r),
        cmocka_unit_test(test_pack),         cmocka_unit_test(test_insert),
        cmocka_unit_test(test_select),       cmocka_unit_test(test_bitwise),
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_sha256_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
