/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shapes: the ten reference circuits (fingerprints, counts, densities of the reference), and what
 * the builder does with repeated, cancelling and unsorted terms, late variables and bad handles. */
#include "base/bitmap.h"
#include "base/bytes.h"
#include "fixtures.h"
#include "json_field.h"
#include "r1cs/shape_r1cs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const cuzk_curve *curve(void)
{
    return cuzk_curve_get(CUZK_CURVE_BLS12_381);
}

static cuzk_fr number(int64_t v)
{
    cuzk_fr x;
    curve()->fr_from_u64(&x, (uint64_t)(v < 0 ? -v : v));
    if (v < 0) {
        curve()->fr_neg(&x, &x);
    }
    return x;
}

static void term(cuzk_shape_builder *b, cuzk_matrix m, cuzk_var var, int64_t coef)
{
    cuzk_fr x = number(coef);
    cuzk_shape_add_term(b, m, var, &x);
}

static cuzk_shape_builder *builder(void)
{
    cuzk_shape_builder *b = NULL;
    assert_int_equal(cuzk_shape_builder_create(&b, curve(), NULL), CUZK_OK);
    return b;
}

static cuzk_shape *finish(cuzk_shape_builder *b)
{
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    cuzk_status status = cuzk_shape_builder_finish(b, &s, &err);
    if (status != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

/* ---- the reference's circuits ------------------------------------------------------------------
 */

static cuzk_shape *load(const char *name)
{
    char path[80];
    snprintf(path, sizeof path, "groth/%s/circuit.r1cs", name);
    cuzk_fixture f = cuzk_test_fixture(path);
    cuzk_r1cs r1cs;
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    if (cuzk_r1cs_open(&r1cs, f.data, f.size, &err) != CUZK_OK ||
        cuzk_shape_from_r1cs(&s, &r1cs, &err) != CUZK_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    cuzk_test_fixture_free(&f);
    return s;
}

static void expect_density(const char *json, const char *field, const uint64_t *map, size_t n)
{
    uint8_t expected[32], found[32];
    json_hex(json, field, expected, 32);
    uint8_t *bytes = malloc(cuzk_bitmap_words(n) * 8 + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < cuzk_bitmap_words(n); i++) {
        cuzk_store_u64_le(bytes + 8 * i, map[i]);
    }
    cuzk_sha256_digest(found, bytes, cuzk_bitmap_words(n) * 8);
    free(bytes);
    assert_memory_equal(found, expected, 32);
}

static void test_reference_circuits(void **state)
{
    (void)state;
    static const char *const names[] = {"product",   "cube",      "noaux",     "sparse",
                                        "dense",     "inputs300", "exact1024", "above1024",
                                        "poseidon8", "sha256"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[80];
        snprintf(path, sizeof path, "groth/%s/expected.json", names[i]);
        cuzk_fixture f = cuzk_test_fixture(path);
        const char *json = (const char *)f.data;
        cuzk_shape *s = load(names[i]);
        size_t n_aux = cuzk_shape_n_aux(s);
        assert_int_equal(s->n_inputs, json_u64(json, "inputs"));
        assert_int_equal(n_aux, json_u64(json, "aux"));
        assert_int_equal(cuzk_shape_n_rows(s), json_u64(json, "constraints"));
        uint64_t nnz_a = s->rows[CUZK_MATRIX_A].begin[s->n_constraints] + s->n_inputs;
        assert_int_equal(nnz_a, json_u64(json, "nnz_a"));
        assert_int_equal(s->rows[CUZK_MATRIX_B].begin[s->n_constraints], json_u64(json, "nnz_b"));
        assert_int_equal(s->rows[CUZK_MATRIX_C].begin[s->n_constraints], json_u64(json, "nnz_c"));
        assert_int_equal(s->n_a_aux, json_u64(json, "a_aux_density"));
        assert_int_equal(s->n_b_aux, json_u64(json, "b_aux_density"));
        assert_int_equal(s->n_b_input, json_u64(json, "b_input_density"));
        expect_density(json, "a_aux_density_sha256", s->a_aux_density, n_aux);
        expect_density(json, "b_aux_density_sha256", s->b_aux_density, n_aux);
        expect_density(json, "b_in_density_sha256", s->b_input_density, s->n_inputs);
        uint8_t expected[32], found[32];
        json_hex(json, "rows_sha256", expected, 32);
        assert_int_equal(cuzk_shape_fingerprint(s, true, found, NULL), CUZK_OK);
        assert_memory_equal(found, expected, 32);
        json_hex(json, "rows_sha256_without_input_constraints", expected, 32);
        assert_int_equal(cuzk_shape_fingerprint(s, false, found, NULL), CUZK_OK);
        assert_memory_equal(found, expected, 32);
        cuzk_shape_destroy(s);
        cuzk_test_fixture_free(&f);
    }
}

/* ---- the builder ----------------------------------------------------------------------------- */

static void expect_term(const cuzk_shape *s, cuzk_matrix m, uint64_t row, uint64_t t, uint32_t var,
                        int64_t coef)
{
    uint64_t at = s->rows[m].begin[row] + t;
    cuzk_fr x = number(coef);
    assert_true(at < s->rows[m].begin[row + 1]);
    assert_int_equal(s->rows[m].var[at], var);
    assert_memory_equal(&s->coefs[s->rows[m].code[at]], &x, sizeof x);
}

static uint64_t row_length(const cuzk_shape *s, cuzk_matrix m, uint64_t row)
{
    return s->rows[m].begin[row + 1] - s->rows[m].begin[row];
}

static void test_merging(void **state)
{
    (void)state;
    cuzk_shape_builder *b = builder();
    cuzk_var x = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    cuzk_var y = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    /* order kept, zero left out, repeats summed at the first place, cancelling terms vanish */
    term(b, CUZK_MATRIX_A, y, 3);
    term(b, CUZK_MATRIX_A, x, 0);
    term(b, CUZK_MATRIX_A, CUZK_VAR_ONE, 5);
    term(b, CUZK_MATRIX_A, y, 4);
    term(b, CUZK_MATRIX_B, x, 2);
    term(b, CUZK_MATRIX_B, y, 9);
    term(b, CUZK_MATRIX_B, x, -2);
    /* an input that comes late shifts the aux variables, not the handles */
    cuzk_var z = cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN);
    term(b, CUZK_MATRIX_C, z, 1);
    cuzk_shape_end_constraint(b);
    cuzk_shape_end_constraint(b); /* 0 · 0 = 0 */
    cuzk_shape *s = finish(b);
    assert_int_equal(s->n_inputs, 2);
    assert_int_equal(s->n_vars, 4);
    assert_int_equal(s->n_constraints, 2);
    assert_int_equal(row_length(s, CUZK_MATRIX_A, 0), 2);
    expect_term(s, CUZK_MATRIX_A, 0, 0, 3, 7);
    expect_term(s, CUZK_MATRIX_A, 0, 1, 0, 5);
    assert_int_equal(row_length(s, CUZK_MATRIX_B, 0), 1);
    expect_term(s, CUZK_MATRIX_B, 0, 0, 3, 9);
    expect_term(s, CUZK_MATRIX_C, 0, 0, 1, 1);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(row_length(s, (cuzk_matrix)k, 1), 0);
    }
    assert_int_equal(s->n_a_aux, 1);
    assert_int_equal(s->n_b_aux, 1);
    assert_int_equal(s->n_b_input, 0);
    cuzk_shape_destroy(s);
}

static void test_long_rows(void **state)
{
    (void)state;
    enum { N = 1000 };
    cuzk_shape_builder *b = builder();
    cuzk_var v[N];
    for (int i = 0; i < N; i++) {
        v[i] = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    }
    /* each variable three times in scattered order: 1 + i - i for odd i, 1 + 1 - 2 for even ones */
    for (int pass = 0; pass < 3; pass++) {
        for (int k = 0; k < N; k++) {
            int i = k * 7 % N;
            bool odd = i % 2 != 0;
            int64_t coef = pass == 0 ? 1 : pass == 1 ? (odd ? i : 1) : (odd ? -i : -2);
            term(b, CUZK_MATRIX_A, v[i], coef);
        }
    }
    cuzk_shape_end_constraint(b);
    cuzk_shape *s = finish(b);
    assert_int_equal(row_length(s, CUZK_MATRIX_A, 0), N / 2);
    uint64_t t = 0;
    for (int k = 0; k < N; k++) {
        int i = k * 7 % N;
        if (i % 2 != 0) {
            expect_term(s, CUZK_MATRIX_A, 0, t++, 1 + (uint32_t)i, 1);
        }
    }
    assert_int_equal(s->n_a_aux, N / 2);
    cuzk_shape_destroy(s);
}

static void test_dictionary(void **state)
{
    (void)state;
    enum { N = 3000 };
    cuzk_shape_builder *b = builder();
    cuzk_var x = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < N; i++) {
            term(b, CUZK_MATRIX_A, x, i + 1);
            term(b, CUZK_MATRIX_B, x, -i - 1);
            cuzk_shape_end_constraint(b);
        }
    }
    cuzk_shape *s = finish(b);
    assert_int_equal(s->n_coefs, 2 * N);
    cuzk_fr one = number(1), minus_one = number(-1);
    assert_memory_equal(&s->coefs[CUZK_COEF_ONE], &one, sizeof one);
    assert_memory_equal(&s->coefs[CUZK_COEF_MINUS_ONE], &minus_one, sizeof one);
    for (int i = 0; i < 2 * N; i++) {
        expect_term(s, CUZK_MATRIX_A, (uint64_t)i, 0, 1, i % N + 1);
        expect_term(s, CUZK_MATRIX_B, (uint64_t)i, 0, 1, -(i % N) - 1);
        cuzk_fr product, three = {{3}}, expected;
        curve()->fr_from_u64(&expected, 3);
        curve()->fr_mul(&expected, &expected, &s->coefs[i]);
        curve()->fr_mul(&product, &three, &s->coefs_r2[i]);
        assert_memory_equal(&product, &expected, sizeof product);
    }
    cuzk_shape_destroy(s);
}

static void test_bad_handle(void **state)
{
    (void)state;
    cuzk_shape_builder *b = builder();
    cuzk_shape_end_constraint(b);
    term(b, CUZK_MATRIX_B, cuzk_var_aux(4), 1);
    cuzk_shape_end_constraint(b);
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_shape_builder_finish(b, &s, &err), CUZK_E_ARGUMENT);
    assert_null(s);
    assert_non_null(strstr(err.text, "constraint 1, side B: aux variable 4 of 0"));
}

static void test_boolean_rows(void **state)
{
    (void)state;
    cuzk_shape_builder *b = builder();
    cuzk_var v[8];
    for (int i = 0; i < 8; i++) {
        v[i] = cuzk_shape_add_aux(b, i == 7 ? CUZK_VAR_FIELD : CUZK_VAR_UNKNOWN);
    }
    /* 0: x(x-1)=0; 1: (1-x)x=0 scaled; 2: x·x=x; 3: 2x·3x=6x; none of the others is a bit */
    term(b, CUZK_MATRIX_A, v[0], 1);
    term(b, CUZK_MATRIX_B, v[0], 1);
    term(b, CUZK_MATRIX_B, CUZK_VAR_ONE, -1);
    cuzk_shape_end_constraint(b);
    term(b, CUZK_MATRIX_A, CUZK_VAR_ONE, 5);
    term(b, CUZK_MATRIX_A, v[1], -5);
    term(b, CUZK_MATRIX_B, v[1], 7);
    cuzk_shape_end_constraint(b);
    for (int i = 2; i < 4; i++) {
        term(b, CUZK_MATRIX_A, v[i], i == 2 ? 1 : 2);
        term(b, CUZK_MATRIX_B, v[i], i == 2 ? 1 : 3);
        term(b, CUZK_MATRIX_C, v[i], i == 2 ? 1 : 6);
        cuzk_shape_end_constraint(b);
    }
    /* x(x-2)=0; x·x=2x; x(y-1)=0; x(x-1)=x; a field variable's x(x-1)=0 */
    term(b, CUZK_MATRIX_A, v[4], 1);
    term(b, CUZK_MATRIX_B, v[4], 1);
    term(b, CUZK_MATRIX_B, CUZK_VAR_ONE, -2);
    cuzk_shape_end_constraint(b);
    term(b, CUZK_MATRIX_A, v[5], 1);
    term(b, CUZK_MATRIX_B, v[5], 1);
    term(b, CUZK_MATRIX_C, v[5], 2);
    cuzk_shape_end_constraint(b);
    term(b, CUZK_MATRIX_A, v[4], 1);
    term(b, CUZK_MATRIX_B, v[5], 1);
    term(b, CUZK_MATRIX_B, CUZK_VAR_ONE, -1);
    cuzk_shape_end_constraint(b);
    for (int i = 6; i < 8; i++) {
        term(b, CUZK_MATRIX_A, v[i], 1);
        term(b, CUZK_MATRIX_B, v[i], 1);
        term(b, CUZK_MATRIX_B, CUZK_VAR_ONE, -1);
        if (i == 6) {
            term(b, CUZK_MATRIX_C, v[i], 1);
        }
        cuzk_shape_end_constraint(b);
    }
    cuzk_shape *s = finish(b);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(cuzk_bitmap_get(s->is_bit, 1 + i), i < 4);
        assert_int_equal(cuzk_bitmap_get(s->is_field, 1 + i), i == 7);
    }
    assert_true(cuzk_bitmap_get(s->is_bit, 0)); /* ONE */
    cuzk_shape_destroy(s);
}

/* Equal systems have equal fingerprints whatever the order of terms; a changed coefficient, a
 * moved term or another split into inputs and aux variables shows. */
static void test_fingerprint_sees(void **state)
{
    (void)state;
    uint8_t digest[5][32];
    for (int variant = 0; variant < 5; variant++) {
        cuzk_shape_builder *b = builder();
        cuzk_var x = variant == 4 ? cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN)
                                  : cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
        cuzk_var y = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
        term(b, CUZK_MATRIX_A, variant == 1 ? y : x, variant == 1 ? 3 : 2);
        term(b, CUZK_MATRIX_A, variant == 1 ? x : y, variant == 1 ? 2 : 3);
        term(b, variant == 2 ? CUZK_MATRIX_C : CUZK_MATRIX_B, x, variant == 3 ? 2 : 1);
        cuzk_shape_end_constraint(b);
        cuzk_shape *s = finish(b);
        assert_int_equal(cuzk_shape_fingerprint(s, false, digest[variant], NULL), CUZK_OK);
        cuzk_shape_destroy(s);
    }
    assert_memory_equal(digest[0], digest[1], 32);
    for (int variant = 2; variant < 5; variant++) {
        assert_memory_not_equal(digest[0], digest[variant], 32);
    }
}

/* A stretch of two rows with two variables of its own and two of before, 1000 times: repeated, and
 * built term by term. */
static void add_stretch(cuzk_shape_builder *b, cuzk_var x, cuzk_var y)
{
    cuzk_var u = cuzk_shape_add_aux(b, CUZK_VAR_FIELD), v = cuzk_shape_add_aux(b, CUZK_VAR_BIT);
    term(b, CUZK_MATRIX_A, CUZK_VAR_ONE, 7);
    term(b, CUZK_MATRIX_A, x, 2);
    term(b, CUZK_MATRIX_B, y, -1);
    term(b, CUZK_MATRIX_C, u, 1);
    cuzk_shape_end_constraint(b);
    term(b, CUZK_MATRIX_A, v, 5);
    term(b, CUZK_MATRIX_A, u, 3);
    term(b, CUZK_MATRIX_C, x, 9);
    cuzk_shape_end_constraint(b);
}

static void test_repeat(void **state)
{
    (void)state;
    cuzk_shape *shape[2];
    for (int repeat = 0; repeat < 2; repeat++) {
        cuzk_shape_builder *b = builder();
        cuzk_var input = cuzk_shape_add_input(b, CUZK_VAR_FIELD);
        cuzk_var x = cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
        term(b, CUZK_MATRIX_A, x, 1);
        cuzk_shape_end_constraint(b);
        assert_int_equal(cuzk_shape_n_stored_rows(b), 1);
        cuzk_shape_stretch s = {.first_row = 1,
                                .n_rows = 2,
                                .first_own = cuzk_var_aux(1),
                                .n_own = 2,
                                .n_given = 2,
                                .given = {x, input}};
        add_stretch(b, x, input);
        for (uint32_t i = 1; i < 1000; i++) {
            cuzk_var late = cuzk_shape_add_aux(b, CUZK_VAR_BIT);
            /* also the same variable in both places, and results of a stretch before */
            cuzk_var given[2] = {i % 3 == 0 ? input : late - 1, i % 5 == 0 ? x : late - 2};
            if (i % 7 == 0) {
                given[0] = given[1];
            }
            if (repeat) {
                assert_int_equal(cuzk_shape_repeat(b, &s, given), late + 1);
            } else {
                add_stretch(b, given[0], given[1]);
            }
            assert_int_equal(cuzk_shape_n_stored_rows(b), 3 + 2 * i);
        }
        shape[repeat] = finish(b);
    }
    const cuzk_shape *x = shape[0], *y = shape[1];
    assert_int_equal(x->n_vars, y->n_vars);
    assert_int_equal(x->n_constraints, y->n_constraints);
    assert_memory_equal(x->is_bit, y->is_bit, x->n_vars / 8);
    assert_memory_equal(x->is_field, y->is_field, x->n_vars / 8);
    for (int k = 0; k < 3; k++) {
        uint64_t n = x->rows[k].begin[x->n_constraints];
        assert_memory_equal(x->rows[k].begin, y->rows[k].begin,
                            (x->n_constraints + 1) * sizeof *x->rows[k].begin);
        assert_memory_equal(x->rows[k].var, y->rows[k].var, n * sizeof *x->rows[k].var);
        assert_memory_equal(x->rows[k].code, y->rows[k].code, n * sizeof *x->rows[k].code);
    }
    cuzk_shape_destroy(shape[0]);
    cuzk_shape_destroy(shape[1]);
}

/* ---- copies of a part ------------------------------------------------------------------------ */

enum { COPIES = 7, PART_AUX = 67, TAIL_AUX = 5 };

/* Three variables, COPIES equal parts that use them, and a tail; written out or as copies. */
static cuzk_shape *part_circuit(bool copies)
{
    cuzk_shape_builder *b = builder();
    cuzk_var shared[3];
    for (int i = 0; i < 3; i++) {
        shared[i] = i == 1 ? cuzk_shape_add_input(b, CUZK_VAR_FIELD)
                           : cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
    }
    term(b, CUZK_MATRIX_A, shared[0], 3);
    term(b, CUZK_MATRIX_C, shared[2], 5);
    cuzk_shape_end_constraint(b);
    cuzk_var chosen[COPIES];
    for (int copy = 0; copy < COPIES; copy++) {
        for (int i = 0; i < 3 * (copy % 2) + 2; i++) {
            cuzk_var v = cuzk_shape_add_aux(b, i % 2 == 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD);
            chosen[copy] = i == 0 ? v : chosen[copy];
        }
    }
    if (copies) {
        cuzk_shape_begin_copies(b, COPIES);
        cuzk_shape_choose(b, chosen, 2);
    }
    for (int copy = 0; copy < (copies ? 1 : COPIES); copy++) {
        cuzk_var in = cuzk_shape_add_input(b, CUZK_VAR_FIELD), own[PART_AUX];
        for (int i = 0; i < PART_AUX; i++) {
            own[i] = cuzk_shape_add_aux(b, i % 3 == 0 ? CUZK_VAR_FIELD : CUZK_VAR_BIT);
            term(b, CUZK_MATRIX_A, own[i], 7 + i);
            term(b, CUZK_MATRIX_A, shared[i % 3], -i);
            term(b, i % 2 == 0 ? CUZK_MATRIX_A : CUZK_MATRIX_B, in, 1);
            term(b, CUZK_MATRIX_B, own[i / 2], 1);
            term(b, CUZK_MATRIX_C, CUZK_VAR_ONE, i);
            term(b, i < 40 ? CUZK_MATRIX_C : CUZK_MATRIX_A, chosen[copy] + (i >= 40), 1);
            cuzk_shape_end_constraint(b);
        }
    }
    if (copies) {
        cuzk_shape_end_copies(b);
    }
    for (int i = 0; i < TAIL_AUX; i++) {
        cuzk_var v = cuzk_shape_add_aux(b, i < 2 ? CUZK_VAR_BIT : CUZK_VAR_FIELD);
        term(b, CUZK_MATRIX_B, v, 11);
        term(b, CUZK_MATRIX_C, shared[1], 1);
        cuzk_shape_end_constraint(b);
    }
    return finish(b);
}

static void expect_same_map(const uint64_t *a, const uint64_t *b, size_t n)
{
    assert_memory_equal(a, b, cuzk_bitmap_words(n) * 8);
}

static void test_copies(void **state)
{
    (void)state;
    cuzk_shape *plain = part_circuit(false), *s = part_circuit(true);
    assert_int_equal(s->n_inputs, plain->n_inputs);
    assert_int_equal(s->n_vars, plain->n_vars);
    assert_int_equal(s->n_constraints, plain->n_constraints);
    assert_int_equal(s->n_stored_rows, 1 + PART_AUX + TAIL_AUX);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(cuzk_shape_n_terms(s, (cuzk_matrix)k),
                         plain->rows[k].begin[plain->n_constraints]);
    }
    size_t n_aux = cuzk_shape_n_aux(s);
    expect_same_map(s->is_bit, plain->is_bit, s->n_vars);
    expect_same_map(s->is_field, plain->is_field, s->n_vars);
    expect_same_map(s->a_aux_density, plain->a_aux_density, n_aux);
    expect_same_map(s->b_aux_density, plain->b_aux_density, n_aux);
    expect_same_map(s->b_input_density, plain->b_input_density, s->n_inputs);
    assert_int_equal(s->n_a_aux, plain->n_a_aux);
    assert_int_equal(s->n_b_aux, plain->n_b_aux);
    assert_int_equal(s->n_b_input, plain->n_b_input);
    uint8_t expected[32], found[32];
    assert_int_equal(cuzk_shape_fingerprint(plain, true, expected, NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_fingerprint(s, true, found, NULL), CUZK_OK);
    assert_memory_equal(found, expected, 32);
    /* runs that begin and end anywhere cover every constraint once */
    for (uint32_t row = 0; row < s->n_constraints; row++) {
        uint32_t end = row + 100 < s->n_constraints ? row + 100 : s->n_constraints, at = row;
        while (at < end) {
            cuzk_row_run run = cuzk_shape_run(s, at, end);
            const cuzk_rows *a = &s->rows[0], *p = &plain->rows[0];
            uint64_t t = a->begin[run.stored_row], u = p->begin[at];
            assert_int_equal(a->begin[run.stored_row + 1] - t, p->begin[at + 1] - u);
            if (u < p->begin[at + 1]) {
                assert_int_equal(cuzk_row_run_var(&run, a->var[t]), p->var[u]);
            }
            at += run.n;
        }
        assert_int_equal(at, end);
    }
    cuzk_shape_destroy(plain);
    cuzk_shape_destroy(s);
}

/* What a part with copies names must be its own or stand in front of it. */
static void test_copies_bad_handle(void **state)
{
    (void)state;
    for (int input = 0; input < 2; input++) {
        cuzk_shape_builder *b = builder();
        cuzk_shape_begin_copies(b, 3);
        (void)cuzk_shape_add_input(b, CUZK_VAR_FIELD);
        (void)cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
        term(b, CUZK_MATRIX_B, input != 0 ? 2 : cuzk_var_aux(1), 1); /* copy 1's */
        cuzk_shape_end_constraint(b);
        cuzk_shape_end_copies(b);
        cuzk_shape *s = NULL;
        cuzk_error err = {0};
        assert_int_equal(cuzk_shape_builder_finish(b, &s, &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "constraint 0, side B"));
    }
}

/* Variables that are chosen per copy stand in front of the part. */
static void test_copies_bad_choice(void **state)
{
    (void)state;
    cuzk_shape_builder *b = builder();
    cuzk_var v = cuzk_shape_add_aux(b, CUZK_VAR_BIT);
    cuzk_shape_begin_copies(b, 2);
    cuzk_var first[2] = {v, v + 1};
    cuzk_shape_choose(b, first, 1);
    cuzk_shape_end_copies(b);
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_E_ARGUMENT);
}

/* Counts beyond the numbering are refused, not wrapped. */
static void test_copies_too_many(void **state)
{
    (void)state;
    cuzk_shape_builder *b = builder();
    cuzk_shape_begin_copies(b, UINT32_MAX);
    (void)cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
    cuzk_shape_end_copies(b);
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_circuits),
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_dictionary),
        cmocka_unit_test(test_bad_handle),
        cmocka_unit_test(test_boolean_rows),
        cmocka_unit_test(test_fingerprint_sees),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_copies_bad_handle),
        cmocka_unit_test(test_copies_bad_choice),
        cmocka_unit_test(test_copies_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
