/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of edge coefficients and edge values against whole numbers (tests/bigint.h), with outputs of
 * every length around the numbers of constraints; the first broken constraint at every kind of
 * place, alone and among others, for 1 to 5 threads; what is refused before anything is computed.
 */
#include "bigint.h"
#include "r1cs/satisfy.h"
#include "random.h"
#include "some_circuit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pools.h"

static uint64_t seed = 0x5a71f1;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(cuzk_test_random(&seed) % n);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

enum { N_EDGES = 24, N_ROWS = 70, N_TERMS = 40 };

/* 0 … 9, r - 1 … r - 9, (r ± 1)/2, 2^64, 2^128, 2^192 - 1 */
static void edges(const big *r, big list[N_EDGES])
{
    big two = big_of(2), one = big_of(1), rest;
    for (unsigned i = 0; i < 9; i++) {
        list[i] = big_of(i);
        big up = big_of(i + 1);
        list[9 + i] = big_sub(r, &up);
    }
    list[18] = big_div(r, &two, &rest);
    list[19] = big_add(&list[18], &one);
    list[20] = big_power_of_two(64);
    list[21] = big_power_of_two(128);
    list[22] = big_power_of_two(192);
    list[22] = big_sub(&list[22], &one);
    list[23] = big_of(9); /* the first that is not small */
}

struct model {
    const cuzk_curve *curve;
    big r;
    cuzk_shape *shape;
    uint8_t *values;
    big *expected[3]; /* n_constraints each */
};

/* Inputs and aux variables whose values are all edges; rows of up to N_TERMS of them. bits: every
 * variable is a bit with the value 0 or 1, so that rows are small or long. */
static void make(struct model *m, const cuzk_curve *curve, bool bits)
{
    enum { N_INPUTS = 7, N_AUX = 130 };
    big list[N_EDGES], value[N_INPUTS + N_AUX];
    cuzk_shape_builder *b = NULL;
    m->curve = curve;
    m->r = big_from_words(curve->r, 4);
    edges(&m->r, list);
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    m->values = calloc(N_INPUTS + N_AUX, 32);
    for (uint32_t i = 0; i < N_INPUTS + N_AUX; i++) {
        cuzk_var_type type = bits ? CUZK_VAR_BIT : CUZK_VAR_UNKNOWN;
        value[i] = i == 0 ? list[1] : list[bits ? below(2) : below(N_EDGES)];
        big_to_le(m->values + 32 * (size_t)i, 32, &value[i]);
        if (i > 0) {
            (void)(i < N_INPUTS ? cuzk_shape_add_input(b, type) : cuzk_shape_add_aux(b, type));
        }
    }
    for (int k = 0; k < 3; k++) {
        m->expected[k] = calloc(N_ROWS, sizeof *m->expected[k]);
    }
    for (unsigned row = 0; row < N_ROWS; row++) {
        for (int k = 0; k < 3; k++) {
            big sum = big_of(0);
            unsigned n = row % 4 == 3 ? N_TERMS : below(17);
            for (unsigned t = 0; t < n; t++) {
                uint32_t var = below(N_INPUTS + N_AUX);
                const big *coef = &list[row % 2 ? below(9) : below(N_EDGES)];
                uint8_t bytes[32];
                cuzk_fr c;
                big_to_le(bytes, 32, coef);
                assert_true(curve->fr_from_canonical_le(&c, bytes));
                cuzk_shape_add_term(b, (cuzk_matrix)k,
                                    var < N_INPUTS ? var : cuzk_var_aux(var - (uint32_t)N_INPUTS),
                                    &c);
                big product = big_mul_mod(coef, &value[var], &m->r);
                sum = big_add_mod(&sum, &product, &m->r);
            }
            m->expected[k][row] = sum;
        }
        cuzk_shape_end_constraint(b);
    }
    assert_int_equal(cuzk_shape_builder_finish(b, &m->shape, NULL), CUZK_OK);
}

static void drop(struct model *m)
{
    cuzk_shape_destroy(m->shape);
    free(m->values);
    for (int k = 0; k < 3; k++) {
        free(m->expected[k]);
    }
}

/* The value that output i of a matrix must have: a constraint, a trailing one, or nothing. */
static big expected_at(const struct model *m, int k, uint64_t i)
{
    if (i < m->shape->n_constraints) {
        return m->expected[k][i];
    }
    uint64_t input = i - m->shape->n_constraints;
    return k == CUZK_MATRIX_A && input < m->shape->n_inputs
               ? big_from_le(m->values + 32 * input, 32)
               : big_of(0);
}

static void test_rows(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        struct model m;
        cuzk_witness *w = NULL;
        make(&m, cuzk_curve_get(round % 2 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381),
             round % 4 >= 2);
        const cuzk_shape *s = m.shape;
        assert_int_equal(cuzk_witness_from_values(&w, m.curve, m.values, s->n_vars, s->n_inputs,
                                                  "test", NULL, NULL),
                         CUZK_OK);
        uint64_t rows = cuzk_shape_n_rows(s);
        const uint64_t lengths[] = {0,    1,        N_ROWS - 1, N_ROWS,   N_ROWS + 1,
                                    rows, rows - 1, rows + 1,   rows + 60};
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            uint64_t n = lengths[i];
            cuzk_fr *out = malloc((n + 1) * sizeof *out);
            for (int k = 0; k < 3; k++) {
                memset(out, 0xa5, (n + 1) * sizeof *out);
                cuzk_shape_eval_rows(s, w, (cuzk_matrix)k, out, n, pools[1 + i % 5]);
                for (uint64_t row = 0; row < n; row++) {
                    uint8_t found[32], want[32];
                    big expected = expected_at(&m, k, row);
                    big_to_le(want, 32, &expected);
                    m.curve->fr_to_canonical_le(found, &out[row]);
                    if (memcmp(found, want, 32) != 0) {
                        fail_msg("row %d of %d outputs, matrix %c is wrong", (int)row, (int)n,
                                 "ABC"[k]);
                    }
                }
                for (size_t byte = 0; byte < sizeof *out; byte++) { /* not one more */
                    assert_int_equal(((uint8_t *)&out[n])[byte], 0xa5);
                }
            }
            free(out);
        }
        cuzk_witness_destroy(w);
        drop(&m);
    }
}

/* Rows of 1 … 17 bits, all set, with coefficients around the largest that small rows take: their
 * sums reach the ends of the table of small values, and just not beyond. */
static void test_small_rows(void **state)
{
    (void)state;
    enum { N_BITS = 17 };
    static const int coefs[] = {1, -1, 7, -7, 8, -8, 9, -9, 127, -128};
    for (int c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(c == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        cuzk_shape_builder *b = NULL;
        cuzk_shape *s = NULL;
        cuzk_witness *w = NULL;
        uint8_t values[(1 + N_BITS) * 32] = {1};
        assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
        for (int i = 1; i <= N_BITS; i++) {
            (void)cuzk_shape_add_aux(b, CUZK_VAR_BIT);
            values[32 * i] = 1;
        }
        for (size_t k = 0; k < sizeof coefs / sizeof coefs[0]; k++) {
            for (uint32_t n = 1; n <= N_BITS; n++) {
                for (uint32_t i = 0; i < n; i++) {
                    some_term(b, curve, CUZK_MATRIX_B, cuzk_var_aux(i), coefs[k]);
                }
                cuzk_shape_end_constraint(b);
            }
        }
        assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
        assert_int_equal(
            cuzk_witness_from_values(&w, curve, values, s->n_vars, 1, "test", NULL, NULL), CUZK_OK);
        cuzk_fr out[N_BITS * sizeof coefs / sizeof coefs[0]], expected;
        cuzk_shape_eval_rows(s, w, CUZK_MATRIX_B, out, s->n_constraints, NULL);
        for (uint32_t row = 0; row < s->n_constraints; row++) {
            int sum = coefs[row / N_BITS] * (int)(row % N_BITS + 1);
            curve->fr_from_u64(&expected, (uint64_t)abs(sum));
            if (sum < 0) {
                curve->fr_neg(&expected, &expected);
            }
            assert_memory_equal(&out[row], &expected, sizeof expected);
        }
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(s);
    }
}

/* ---- the first that fails ----------------------------------------------------------------------
 */

enum { N_LONG = 14000 };

/* x_i · 1 = y_i for i = 0 … N_LONG - 1, most of them in a part of three copies that is longer than
 * what a thread takes at once. */
static cuzk_shape *copies_of_values(const cuzk_curve *curve)
{
    enum { IN_COPIES = 4100, N_COPIES = 3 };
    cuzk_shape_builder *b = NULL;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    for (unsigned i = 0; i < N_LONG; i++) {
        bool copied = i >= 1000 && i < 1000 + IN_COPIES;
        if (i == 1000) {
            cuzk_shape_begin_copies(b, N_COPIES);
        }
        cuzk_var x = cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
        cuzk_var y = cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
        cuzk_shape_add_term(b, CUZK_MATRIX_A, x, &curve->fr_one);
        cuzk_shape_add_term(b, CUZK_MATRIX_B, CUZK_VAR_ONE, &curve->fr_one);
        cuzk_shape_add_term(b, CUZK_MATRIX_C, y, &curve->fr_one);
        cuzk_shape_end_constraint(b);
        if (copied && i + 1 == 1000 + IN_COPIES) {
            cuzk_shape_end_copies(b);
            i += IN_COPIES * (N_COPIES - 1);
        }
    }
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
    assert_int_equal(s->n_constraints, N_LONG);
    assert_int_equal(s->n_vars, 1 + 2 * N_LONG);
    return s;
}

static void test_first(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_shape *s = copies_of_values(curve);
    uint8_t *values = calloc(s->n_vars, 32);
    cuzk_witness *w = NULL;
    values[0] = 1;
    for (uint32_t i = 0; i < N_LONG; i++) {
        uint8_t v = (uint8_t)(2 + below(200));
        values[32 * (size_t)(1 + 2 * i)] = values[32 * (size_t)(2 + 2 * i)] = v;
    }
    assert_int_equal(cuzk_witness_from_values(&w, curve, values, s->n_vars, 1, "test", NULL, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_shape_check_witness(s, w, NULL, NULL, NULL), CUZK_OK);
    cuzk_fr *out = malloc((N_LONG + 1) * sizeof *out);
    for (unsigned t = 0; t <= 5; t++) { /* the rows by themselves */
        memset(out, 0xa5, (N_LONG + 1) * sizeof *out);
        cuzk_shape_eval_rows(s, w, CUZK_MATRIX_A, out, N_LONG + 1, pools[t]);
        curve->fr_batch_to_canonical(out, out, N_LONG);
        for (uint32_t i = 0; i < N_LONG; i++) {
            assert_memory_equal(&out[i], values + 32 * (size_t)(1 + 2 * i), 32);
        }
        assert_memory_equal(&out[N_LONG], &curve->fr_one, 32); /* ONE's own */
    }
    free(out);
    static const uint32_t places[] = {0,    1,    62,    63,    64,        65,   999,
                                      1000, 4095, 4096,  4097,  5096,      5099, 5100,
                                      9199, 9200, 13299, 13300, N_LONG - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (unsigned others = 0; others < 3; others++) { /* alone, a later one, all later ones */
            uint32_t first = places[i];
            for (uint32_t row = first; row < N_LONG; row++) {
                if (row == first || others == 2 || (others == 1 && row == first + 64)) {
                    w->field[2 * row + 1][31] ^= 1; /* y, which is a field variable */
                }
            }
            for (unsigned t = 0; t <= 5; t++) {
                cuzk_violation v;
                cuzk_error err = {0};
                memset(&v, 0xa5, sizeof v);
                assert_int_equal(cuzk_shape_check_witness(s, w, &v, pools[t], &err),
                                 CUZK_E_UNSATISFIED);
                assert_int_equal(v.constraint, first);
                assert_memory_equal(v.a, w->field[2 * first], 32);
                assert_int_equal(v.b[0], 1);
                assert_memory_equal(v.c, w->field[2 * first + 1], 32);
                char text[64], number[64];
                snprintf(text, sizeof text, "constraint %u of %u", first, N_LONG);
                snprintf(number, sizeof number, "A·w = %u, B·w = 1", v.a[0]);
                assert_non_null(strstr(err.text, text));
                assert_non_null(strstr(err.text, number));
            }
            for (uint32_t row = first; row < N_LONG; row++) {
                w->field[2 * row + 1][31] = 0;
            }
        }
    }
    assert_int_equal(cuzk_shape_check_witness(s, w, NULL, pools[3], NULL), CUZK_OK);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(s);
    free(values);
}

/* A witness of another curve, of another length, with other public values; and no constraints. */
static void test_refusals(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    cuzk_shape *s = NULL;
    cuzk_shape_builder *b = NULL;
    assert_int_equal(some_circuit(&s, curve, NULL), CUZK_OK);
    uint8_t *values = calloc((size_t)s->n_vars + 1, 32);
    values[0] = 1;
    const struct {
        cuzk_curve_id curve;
        int more_vars, more_inputs;
        cuzk_status status;
        const char *text;
    } cases[] = {
        {CUZK_CURVE_BLS12_381, 0, 0, CUZK_E_MISMATCH, "over bls12381, circuit is over bn128"},
        {CUZK_CURVE_BN254, 1, 0, CUZK_E_WITNESS_LENGTH, "Invalid witness length. Circuit: "},
        {CUZK_CURVE_BN254, -1, 0, CUZK_E_WITNESS_LENGTH, "witness: "},
        {CUZK_CURVE_BN254, 0, 1, CUZK_E_MISMATCH, "public values, circuit has "},
        {CUZK_CURVE_BN254, 0, -1, CUZK_E_MISMATCH, "public values, circuit has "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_witness *w = NULL;
        cuzk_error err = {0};
        cuzk_violation v, untouched;
        memset(&v, 0xa5, sizeof v);
        untouched = v;
        assert_int_equal(
            cuzk_witness_from_values(&w, cuzk_curve_get(cases[i].curve), values,
                                     (uint32_t)((int)s->n_vars + cases[i].more_vars),
                                     (uint32_t)((int)s->n_inputs + cases[i].more_inputs), "test",
                                     NULL, NULL),
            CUZK_OK);
        assert_int_equal(cuzk_shape_check_witness(s, w, &v, NULL, &err), cases[i].status);
        if (strstr(err.text, cases[i].text) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].text);
        }
        assert_memory_equal(&v, &untouched, sizeof v);
        cuzk_witness_destroy(w);
    }
    cuzk_shape_destroy(s);

    /* nothing but ONE */
    cuzk_witness *w = NULL;
    cuzk_fr out[2];
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
    assert_int_equal(cuzk_witness_from_values(&w, curve, values, 1, 1, "test", NULL, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_shape_check_witness(s, w, NULL, NULL, NULL), CUZK_OK);
    cuzk_shape_eval_rows(s, w, CUZK_MATRIX_A, out, 2, NULL);
    assert_memory_equal(&out[0], &curve->fr_one, 32); /* the trailing constraint of ONE */
    assert_true((out[1].l[0] | out[1].l[1] | out[1].l[2] | out[1].l[3]) == 0);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(s);
    free(values);
}

int main(void)
{
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_small_rows),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("satisfy edges", tests, make_pools, destroy_pools);
}
