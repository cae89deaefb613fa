/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Poseidon's rows and values against the reference; rows that are repeated against rows that are
 * built; many lanes against one. */
#include "base/cpu.h"
#include "gadget/poseidon_circuit.h"
#include "r1cs/satisfy.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    unsigned arity;
    uint64_t tag;
} kind;

static const struct {
    const char *name;
    kind kind;
} golden[] = {{"poseidon2", {2, 3}},
              {"poseidon4", {4, 15}},
              {"poseidon8", {8, 255}},
              {"poseidon11", {11, 2047}},
              {"poseidon2_tag40", {2, (uint64_t)1 << 40}}};
enum { N_KINDS = sizeof golden / sizeof golden[0] };

static cuzk_num alloc_number(cuzk_cs *cs, uint64_t v)
{
    uint8_t value[32];
    support_number(value, v);
    return cuzk_cs_alloc_num(cs, value);
}

static void describe_hash(cuzk_cs *cs, uint64_t x, const void *ctx)
{
    const kind *k = ctx;
    cuzk_num in[CUZK_POSEIDON_ARITY_MAX] = {{0}}, out;
    for (unsigned i = 0; i < k->arity; i++) {
        in[i] = alloc_number(cs, x + i);
    }
    cuzk_poseidon_circuit_lanes(cs, 1, &out, k->arity, k->tag, in);
}

static void test_golden(void **state)
{
    (void)state;
    for (int i = 0; i < N_KINDS; i++) {
        support_expect_gadget(golden[i].name, describe_hash, &golden[i].kind);
    }
}

/* ---- repeated rows ---- */

static void start(cuzk_cs *cs)
{
    assert_int_equal(cuzk_cs_shape_init(cs, cuzk_curve_get(CUZK_CURVE_BLS12_381), NULL), CUZK_OK);
}

static cuzk_shape *finish(cuzk_cs *cs)
{
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    if (cuzk_cs_shape_finish(cs, &s, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

/* Forget the rows that could be repeated, if repeat is false. */
static void step(cuzk_cs *cs, bool repeat)
{
    if (cuzk_cs_is_shape(cs) && !repeat) {
        memset(cs->coefs->poseidon, 0, sizeof cs->coefs->poseidon);
    }
}

/* Three hashes of each kind: of the same variable several times, of different ones in another order
 * than they were added, of results; a public input and a bit between them. */
static void describe_many(cuzk_cs *cs, bool repeat)
{
    cuzk_num a[CUZK_POSEIDON_ARITY_MAX], b[CUZK_POSEIDON_ARITY_MAX], out[3];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N_KINDS; i++) {
            kind k = golden[i].kind;
            for (unsigned e = 0; e < k.arity; e++) {
                a[k.arity - 1 - e] = alloc_number(cs, 10 * e + (unsigned)i);
            }
            for (unsigned e = 0; e < k.arity; e++) {
                b[e] = a[e / 2];
            }
            step(cs, repeat);
            cuzk_poseidon_circuit_lanes(cs, 1, &out[0], k.arity, k.tag, b);
            step(cs, repeat);
            cuzk_poseidon_circuit_lanes(cs, 1, &out[1], k.arity, k.tag, a);
            cuzk_cs_inputize(cs, &out[1]);
            a[0] = out[1];
            a[1] = out[0];
            step(cs, repeat);
            cuzk_poseidon_circuit_lanes(cs, 1, &out[2], k.arity, k.tag, a);
            cuzk_cs_equal(cs, &out[2], &out[2]);
        }
    }
}

static void test_repeated(void **state)
{
    (void)state;
    cuzk_cs cs;
    start(&cs);
    describe_many(&cs, true);
    cuzk_shape *repeated = finish(&cs);
    start(&cs);
    describe_many(&cs, false);
    cuzk_shape *built = finish(&cs);
    uint8_t x[32], y[32];
    assert_int_equal(cuzk_shape_fingerprint(repeated, false, x, NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_fingerprint(built, false, y, NULL), CUZK_OK);
    assert_memory_equal(x, y, 32);
    assert_int_equal(repeated->n_vars, built->n_vars);
    assert_int_equal(repeated->n_coefs, built->n_coefs);
    assert_memory_equal(repeated->is_field, built->is_field, (built->n_vars + 7) / 8);

    cuzk_witness *w = support_new_witness(repeated);
    cuzk_cs_witness_begin(&cs, w, 0, 1);
    describe_many(&cs, true);
    cuzk_cs_witness_end(&cs);
    assert_int_equal(cs.var, repeated->n_vars);
    support_expect_satisfied(repeated, w);
    /* a value of a repeated hash that is not the right one is noticed */
    w->field[w->n_field - 100][0] ^= 1;
    assert_int_equal(cuzk_shape_check_witness(repeated, w, NULL, NULL, NULL), CUZK_E_UNSATISFIED);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(repeated);
    cuzk_shape_destroy(built);
}

/* ---- lanes ---- */

enum { LANES = 37 };

/* Each of n lanes: numbers of its own, their hash, and the hash of results. */
static void describe_lanes(cuzk_cs *lanes, size_t n, size_t first, kind k)
{
    cuzk_num in[LANES * CUZK_POSEIDON_ARITY_MAX] = {{0}}, out[LANES];
    for (size_t i = 0; i < n; i++) {
        for (unsigned e = 0; e < k.arity; e++) {
            in[i * k.arity + e] = alloc_number(&lanes[i], 1000 * (first + i) + e);
        }
    }
    cuzk_poseidon_circuit_lanes(lanes, n, out, k.arity, k.tag, in);
    for (size_t i = 0; i < n; i++) {
        in[i * k.arity] = out[i];
    }
    cuzk_poseidon_circuit_lanes(lanes, n, out, k.arity, k.tag, in);
}

static void test_lanes(void **state)
{
    (void)state;
    for (int i = 0; i < N_KINDS; i++) {
        kind k = golden[i].kind;
        cuzk_cs cs, lanes[LANES];
        start(&cs);
        for (size_t l = 0; l < LANES; l++) {
            describe_lanes(&cs, 1, l, k);
        }
        cuzk_shape *s = finish(&cs);
        cuzk_witness *one = support_new_witness(s), *many = support_new_witness(s);
        uint32_t per_lane = cuzk_shape_n_aux(s) / LANES;
        cuzk_cs_witness_begin(&cs, one, 0, 1);
        for (size_t l = 0; l < LANES; l++) {
            describe_lanes(&cs, 1, l, k);
            cuzk_cs_witness_begin(&lanes[l], many, (uint32_t)l * per_lane, 1);
        }
        cuzk_cs_witness_end(&cs);
        describe_lanes(lanes, LANES, 0, k);
        for (size_t l = 0; l < LANES; l++) {
            cuzk_cs_witness_end(&lanes[l]);
            assert_int_equal(lanes[l].var, 1 + (l + 1) * per_lane);
        }
        support_expect_satisfied(s, one);
        assert_memory_equal(one->field, many->field, (size_t)one->n_field * 32);
        cuzk_witness_destroy(one);
        cuzk_witness_destroy(many);
        cuzk_shape_destroy(s);
    }
}

int main(void)
{
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        print_message("skipped: %s\n", err.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
