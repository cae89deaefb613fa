/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The Boolean gadgets of one bit over every operand there is: constants, variables and negations,
 * the same variable twice or three times. Held against the specification's rules (gadgets.md
 * section 1), written here as a table of forms, and against all values: for each assignment of the
 * operands the new variables have exactly one solution in the field, and it is the truth. */
#include "gadget/word.h"
#include "r1cs/satisfy.h"
#include "random.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0b00;

/* 0, 1, and the variables x, y, z and their negations. */
enum { OPERANDS = 8, VARIABLES = 3 };

static cuzk_boolean operand(unsigned which, const cuzk_bit bits[VARIABLES])
{
    if (which < 2) {
        return (cuzk_boolean){.fixed = true, .value = which == 1};
    }
    return (cuzk_boolean){.var = bits[(which - 2) / 2].var, .negated = which % 2 == 1};
}

static bool truth_of(unsigned which, unsigned assignment)
{
    return which < 2 ? which == 1 : (assignment >> ((which - 2) / 2) & 1) != which % 2;
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* What a gadget returns, and how many variables it adds. */
struct form {
    enum { ZERO, ONE, IS, NOT } kind;
    unsigned n_new;
};

static struct form form_of(unsigned which)
{
    return (struct form){which < 2 ? which : which % 2 == 0 ? IS : NOT, 0};
}

static struct form negated(struct form f)
{
    static const struct form opposite[] = {{ONE, 0}, {ZERO, 0}, {NOT, 0}, {IS, 0}};
    return (struct form){opposite[f.kind].kind, f.n_new};
}

static struct form rule_xor(struct form x, struct form y)
{
    if (x.kind <= ONE) {
        return x.kind == ZERO ? y : negated(y);
    }
    if (y.kind <= ONE) {
        return y.kind == ZERO ? x : negated(x);
    }
    return (struct form){x.kind == y.kind ? IS : NOT, 1};
}

static struct form rule_and(struct form x, struct form y)
{
    if (x.kind == ZERO || y.kind == ZERO) {
        return (struct form){ZERO, 0};
    }
    if (x.kind == ONE || y.kind == ONE) {
        return x.kind == ONE ? y : x;
    }
    return (struct form){IS, 1};
}

static struct form rule_ch(struct form a, struct form b, struct form c)
{
    if (a.kind <= ONE && b.kind <= ONE && c.kind <= ONE) {
        return a.kind == ONE ? b : c;
    }
    return a.kind == ZERO   ? c
           : b.kind == ZERO ? rule_and(negated(a), c)
           : c.kind == ZERO ? rule_and(a, b)
           : c.kind == ONE  ? negated(rule_and(a, negated(b)))
           : b.kind == ONE  ? negated(rule_and(negated(a), negated(c)))
                            : (struct form){IS, 1};
}

static struct form rule_maj(struct form a, struct form b, struct form c)
{
    if (a.kind <= ONE && b.kind <= ONE && c.kind <= ONE) {
        return (struct form){(a.kind == ONE) + (b.kind == ONE) + (c.kind == ONE) >= 2 ? ONE : ZERO,
                             0};
    }
    return a.kind == ZERO   ? rule_and(b, c)
           : b.kind == ZERO ? rule_and(a, c)
           : c.kind == ZERO ? rule_and(a, b)
           : c.kind == ONE  ? negated(rule_and(negated(a), negated(b)))
           : b.kind == ONE  ? negated(rule_and(negated(a), negated(c)))
           : a.kind == ONE  ? negated(rule_and(negated(b), negated(c)))
                            : (struct form){IS, 2};
}

/* ---- gadgets --------------------------------------------------------------------------------- */

enum gadget { XOR, AND, CH, MAJ, GADGETS };

static cuzk_boolean apply(cuzk_cs *cs, enum gadget g, const cuzk_boolean in[3])
{
    switch (g) {
    case XOR:
        return cuzk_boolean_xor(cs, in[0], in[1]);
    case AND:
        return cuzk_boolean_and(cs, in[0], in[1]);
    case CH:
        return cuzk_boolean_ch(cs, in[0], in[1], in[2]);
    default:
        return cuzk_boolean_maj(cs, in[0], in[1], in[2]);
    }
}

static struct form rule(enum gadget g, const unsigned in[3])
{
    struct form a = form_of(in[0]), b = form_of(in[1]), c = form_of(in[2]);
    return g == XOR   ? rule_xor(a, b)
           : g == AND ? rule_and(a, b)
           : g == CH  ? rule_ch(a, b, c)
                      : rule_maj(a, b, c);
}

static bool truth(enum gadget g, bool a, bool b, bool c)
{
    return g == XOR ? a != b : g == AND ? a && b : g == CH ? (a ? b : c) : a + b + c >= 2;
}

/* A witness whose aux variables are all field variables, so that any value can be tried. */
static cuzk_witness *free_witness(const cuzk_shape *s)
{
    uint64_t is_field = (UINT64_C(1) << s->n_vars) - 2;
    cuzk_witness *w = NULL;
    assert_true(s->n_vars < 64);
    assert_int_equal(cuzk_witness_create(&w, s->curve, s->n_vars, s->n_inputs, &is_field, NULL),
                     CUZK_OK);
    return w;
}

/* 0, 1, 2, r - 1: what a variable is tried with. */
static void set(cuzk_witness *w, uint32_t aux, unsigned which)
{
    cuzk_fr x = {{which}};
    const cuzk_fr one = {{1}};
    if (which == 3) {
        w->curve->fr_sub(&x, &(cuzk_fr){{0}}, &one);
    }
    memcpy(w->field[aux], &x, 32);
}

static bool result_of(const cuzk_witness *w, cuzk_boolean r)
{
    return r.fixed ? r.value : (w->field[r.var & 0x7fffffffu][0] != 0) != r.negated;
}

static void check(enum gadget g, const unsigned in[3])
{
    cuzk_cs cs;
    cuzk_shape *s = NULL;
    cuzk_bit bits[VARIABLES];
    assert_int_equal(cuzk_cs_shape_init(&cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), NULL), CUZK_OK);
    cuzk_alloc_bits(&cs, 0, VARIABLES, bits);
    cuzk_boolean operands[3];
    for (int i = 0; i < 3; i++) {
        operands[i] = operand(in[i], bits);
    }
    cuzk_boolean r = apply(&cs, g, operands);
    assert_int_equal(cuzk_cs_shape_finish(&cs, &s, NULL), CUZK_OK);
    struct form expected = rule(g, in);
    unsigned n_new = cuzk_shape_n_aux(s) - VARIABLES;
    if (n_new != expected.n_new || s->n_constraints != VARIABLES + n_new ||
        r.fixed != (expected.kind <= ONE) || (r.fixed && r.value != (expected.kind == ONE)) ||
        (!r.fixed && r.negated != (expected.kind == NOT))) {
        fail_msg("gadget %d of %u %u %u: %u new variables, expected %u; or another form", g, in[0],
                 in[1], in[2], n_new, expected.n_new);
    }
    cuzk_witness *w = free_witness(s);
    for (unsigned assignment = 0; assignment < 8; assignment++) {
        unsigned n_solutions = 0;
        for (unsigned i = 0; i < VARIABLES; i++) {
            set(w, i, assignment >> i & 1);
        }
        for (unsigned tried = 0; tried < 1u << (2 * n_new); tried++) {
            for (unsigned i = 0; i < n_new; i++) {
                set(w, VARIABLES + i, tried >> (2 * i) & 3);
            }
            if (cuzk_shape_check_witness(s, w, NULL, NULL, NULL) == CUZK_OK) {
                n_solutions++;
                assert_int_equal(result_of(w, r),
                                 truth(g, truth_of(in[0], assignment), truth_of(in[1], assignment),
                                       truth_of(in[2], assignment)));
            }
        }
        assert_int_equal(n_solutions, 1);
    }
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(s);
}

static void test_every_operand(void **state)
{
    (void)state;
    for (int g = 0; g < GADGETS; g++) {
        unsigned n_third = g == CH || g == MAJ ? OPERANDS : 1;
        for (unsigned i = 0; i < OPERANDS * OPERANDS * n_third; i++) {
            const unsigned in[3] = {i % OPERANDS, i / OPERANDS % OPERANDS, i / OPERANDS / OPERANDS};
            check((enum gadget)g, in);
        }
    }
}

/* Negating twice is nothing; terms of a Boolean are c·x, or c - c·x. */
static void test_not(void **state)
{
    (void)state;
    const cuzk_bit bits[VARIABLES] = {{.var = 5}, {.var = 6}, {.var = 7}};
    for (unsigned i = 0; i < OPERANDS; i++) {
        cuzk_boolean x = operand(i, bits), n = cuzk_boolean_not(x), back = cuzk_boolean_not(n);
        assert_int_equal(n.fixed, x.fixed);
        assert_int_equal(x.fixed ? n.value != x.value : n.negated != x.negated, true);
        assert_int_equal(n.var, x.var);
        assert_int_equal(back.value, x.value);
        assert_int_equal(back.negated, x.negated);
    }
}

/* ---- words are their bits -------------------------------------------------------------------- */

/* Word gadgets, or the Boolean ones bit by bit, on the same random words. */
struct pair {
    enum gadget g;
    bool by_bits;
    uint64_t seed;
};

static cuzk_word random_word(const cuzk_bit bits[32], uint64_t *state)
{
    cuzk_word w = {.fixed = (uint32_t)cuzk_test_random(state) & (uint32_t)cuzk_test_random(state)};
    w.value = (uint32_t)cuzk_test_random(state) & w.fixed;
    w.negated = (uint32_t)cuzk_test_random(state) & ~w.fixed;
    for (unsigned i = 0; i < 32; i++) {
        w.var[i] = bits[i].var;
    }
    return w;
}

static void describe_pair(cuzk_cs *cs, const void *ctx)
{
    const struct pair *p = ctx;
    uint64_t state = p->seed;
    cuzk_bit bits[3][32];
    cuzk_word w[3], out;
    for (unsigned k = 0; k < 3; k++) {
        cuzk_alloc_bits(cs, 0, 32, bits[k]);
        w[k] = random_word(bits[k], &state);
    }
    if (!p->by_bits) {
        if (p->g == XOR) {
            cuzk_word_xor(cs, &out, &w[0], &w[1]);
        } else if (p->g == CH) {
            cuzk_word_ch(cs, &out, &w[0], &w[1], &w[2]);
        } else {
            cuzk_word_maj(cs, &out, &w[0], &w[1], &w[2]);
        }
    }
    cuzk_boolean r[32];
    for (unsigned i = 0; i < 32; i++) {
        cuzk_boolean in[3];
        for (unsigned k = 0; k < 3; k++) {
            in[k] = cuzk_word_bit(&w[k], i);
        }
        r[i] = p->by_bits ? apply(cs, p->g, in) : cuzk_word_bit(&out, i);
    }
    for (unsigned i = 0; i < 32; i++) { /* a row of the results: their forms and variables */
        cuzk_boolean_term(cs, CUZK_MATRIX_C, r[i], &cs->coefs->pow2[i], &cs->coefs->minus_pow2[i]);
    }
    cuzk_cs_end_constraint(cs);
}

static void test_words_are_bits(void **state)
{
    (void)state;
    static const enum gadget gadgets[] = {XOR, CH, MAJ};
    for (int round = 0; round < 60; round++) {
        uint8_t digest[2][CUZK_SHA256_BYTES];
        struct pair p = {.g = gadgets[round % 3], .seed = cuzk_test_random(&seed)};
        uint32_t n_vars[2];
        for (int k = 0; k < 2; k++) {
            p.by_bits = k == 1;
            cuzk_shape *s = support_shape(describe_pair, &p);
            n_vars[k] = s->n_vars;
            assert_int_equal(cuzk_shape_fingerprint(s, false, digest[k], NULL), CUZK_OK);
            cuzk_shape_destroy(s);
        }
        assert_int_equal(n_vars[0], n_vars[1]);
        assert_memory_equal(digest[0], digest[1], sizeof digest[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operand),
        cmocka_unit_test(test_not),
        cmocka_unit_test(test_words_are_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
