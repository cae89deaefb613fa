/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The typed witness against the plain values it was made from, row evaluation against a plain sum,
 * and the satisfaction check: the first broken constraint whatever the number of threads. */
#include "base/bitmap.h"
#include "base/bytes.h"
#include "fixtures.h"
#include "formats/wtns.h"
#include "r1cs/satisfy.h"
#include "r1cs/shape_r1cs.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0003;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

static const cuzk_curve_id both[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

/* 0, 1, 2, r-1, r-2, small or full-width. */
static void random_value(const cuzk_curve *curve, uint8_t out[32])
{
    cuzk_fr x = {{0}};
    uint64_t kind = next_random() % 8;
    if (kind < 3) {
        curve->fr_from_u64(&x, kind);
    } else if (kind < 5) {
        curve->fr_from_u64(&x, kind - 2);
        curve->fr_neg(&x, &x);
    } else if (kind == 5) {
        curve->fr_from_u64(&x, next_random());
    } else {
        for (int i = 0; i < 4; i++) {
            x.l[i] = next_random();
        }
        x.l[3] %= curve->r[3];
    }
    curve->fr_to_canonical_le(out, &x);
}

static uint8_t *random_values(const cuzk_curve *curve, uint32_t n)
{
    uint8_t *values = calloc(n, 32);
    assert_non_null(values);
    for (uint32_t i = 0; i < n; i++) {
        random_value(curve, values + 32 * (size_t)i);
    }
    memset(values, 0, 32);
    values[0] = 1;
    return values;
}

static void test_classification(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 1000, 40000};
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
        const cuzk_curve *curve = cuzk_curve_get(both[k % 2]);
        uint32_t n = sizes[k / 2], n_field = 0;
        uint8_t *values = random_values(curve, n);
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, 1 + (unsigned)(k % 3), NULL), CUZK_OK);
        cuzk_witness *w = NULL;
        assert_int_equal(
            cuzk_witness_from_values(&w, curve, values, n, (n + 1) / 2, "test", pool, NULL),
            CUZK_OK);
        for (uint32_t i = 0; i < n; i++) {
            static const uint8_t zero[31];
            uint8_t found[32];
            const uint8_t *v = values + 32 * (size_t)i;
            bool is_bit = v[0] <= 1 && memcmp(v + 1, zero, 31) == 0;
            assert_int_equal(cuzk_bitmap_get(w->is_field, i), !is_bit);
            assert_int_equal(cuzk_bitmap_get(w->bits, i), is_bit && v[0] == 1);
            assert_int_equal(cuzk_witness_rank(w, i), n_field);
            n_field += !is_bit;
            cuzk_witness_get(w, i, found);
            assert_memory_equal(found, v, 32);
        }
        assert_int_equal(w->n_field, n_field);
        uint8_t *all = malloc((size_t)n * 32);
        assert_non_null(all);
        cuzk_witness_get_range(w, 0, n, all);
        assert_memory_equal(all, values, (size_t)n * 32);
        free(all);
        cuzk_witness_destroy(w);
        cuzk_pool_destroy(pool);
        free(values);
    }
}

static cuzk_status classify(const cuzk_curve *curve, const uint8_t *values, uint32_t n,
                            cuzk_pool *pool, cuzk_error *err)
{
    cuzk_witness *w = NULL;
    cuzk_error_clear(err);
    cuzk_status status = cuzk_witness_from_values(&w, curve, values, n, 1, "witness", pool, err);
    assert_int_equal(w != NULL, status == CUZK_OK);
    cuzk_witness_destroy(w);
    return status;
}

/* Values at or above the order are refused by index, never reduced; ONE is 1. */
static void test_refusals(void **state)
{
    (void)state;
    enum { N = 40000 };
    for (int k = 0; k < 2; k++) {
        const cuzk_curve *curve = cuzk_curve_get(both[k]);
        uint8_t *values = random_values(curve, N), r[32];
        cuzk_pool *pool = NULL;
        cuzk_error err = {0};
        assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
        for (int i = 0; i < 4; i++) {
            cuzk_store_u64_le(r + 8 * i, curve->r[i]);
        }
        memcpy(values + 32 * 33333, r, 32);
        assert_int_equal(classify(curve, values, N, pool, &err), CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, "value 33333 is not below"));
        /* v + r, still below 2^256 */
        memcpy(values + 32 * 77, r, 32);
        values[32 * 77] = (uint8_t)(values[32 * 77] + 1);
        assert_int_equal(classify(curve, values, N, pool, &err), CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, "value 77 is not below"));
        memset(values + 32 * 5, 0xff, 32);
        assert_int_equal(classify(curve, values, N, pool, &err), CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, "value 5 is not below"));
        r[0] -= 1; /* r is odd: r - 1 is fine */
        memcpy(values + 32 * 5, r, 32);
        memcpy(values + 32 * 77, r, 32);
        memcpy(values + 32 * 33333, r, 32);
        assert_int_equal(classify(curve, values, N, pool, &err), CUZK_OK);
        values[0] = 2;
        assert_int_equal(classify(curve, values, N, pool, &err), CUZK_E_UNSATISFIED);
        values[0] = 0;
        assert_int_equal(classify(curve, values, N, pool, &err), CUZK_E_UNSATISFIED);
        cuzk_witness *w = NULL;
        values[0] = 1;
        assert_int_equal(cuzk_witness_from_values(&w, curve, values, 3, 4, "w", pool, &err),
                         CUZK_E_ARGUMENT);
        assert_int_equal(cuzk_witness_from_values(&w, curve, values, 3, 0, "w", pool, NULL),
                         CUZK_E_ARGUMENT);
        cuzk_pool_destroy(pool);
        free(values);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { N_INPUTS = 3, N_AUX = 200, N_ROWS = 9000 };

/* A coefficient -9 … 9, around what small rows may have. */
static cuzk_fr small_number(const cuzk_curve *curve)
{
    cuzk_fr x;
    curve->fr_from_u64(&x, next_random() % 10);
    if (next_random() % 2 == 0) {
        curve->fr_neg(&x, &x);
    }
    return x;
}

/* Random rows A and B; C is one variable of its own per row, so that a witness exists. Of the aux
 * variables in A and B every second one is a bit; every second row has bits with small coefficients
 * only; every 64th has a hundred terms. */
static cuzk_shape *random_shape(const cuzk_curve *curve)
{
    cuzk_shape_builder *b = NULL;
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    for (int i = 1; i < N_INPUTS; i++) {
        (void)cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN);
    }
    for (int i = 0; i < N_AUX + N_ROWS; i++) {
        (void)cuzk_shape_add_aux(b, i < N_AUX && i % 2 == 0 ? CUZK_VAR_BIT : CUZK_VAR_UNKNOWN);
    }
    for (uint32_t row = 0; row < N_ROWS; row++) {
        for (int k = 0; k < 2; k++) {
            for (uint64_t t = next_random() % 6; row % 2 == 0 && t > 0; t--) {
                cuzk_fr coef = small_number(curve);
                uint32_t bit = (uint32_t)(next_random() % (N_AUX / 2) * 2);
                cuzk_shape_add_term(b, (cuzk_matrix)k, t == 5 ? CUZK_VAR_ONE : cuzk_var_aux(bit),
                                    &coef);
            }
            uint64_t n = row % 64 == 1 ? 100 : next_random() % 6;
            for (uint64_t t = row % 2 == 0 ? 0 : n; t > 0; t--) {
                uint8_t bytes[32];
                cuzk_fr coef;
                random_value(curve, bytes);
                assert_true(curve->fr_from_canonical_le(&coef, bytes));
                uint32_t v = (uint32_t)(next_random() % (N_INPUTS + N_AUX));
                cuzk_shape_add_term(b, (cuzk_matrix)k,
                                    v < N_INPUTS ? v : cuzk_var_aux(v - N_INPUTS), &coef);
            }
        }
        cuzk_shape_add_term(b, CUZK_MATRIX_C, cuzk_var_aux(N_AUX + row), &curve->fr_one);
        cuzk_shape_end_constraint(b);
    }
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
    return s;
}

static void plain_row(const cuzk_shape *s, const cuzk_rows *m, uint64_t row, const uint8_t *values,
                      cuzk_fr *out)
{
    memset(out, 0, sizeof *out);
    for (uint64_t t = m->begin[row]; t < m->begin[row + 1]; t++) {
        cuzk_fr x;
        assert_true(s->curve->fr_from_canonical_le(&x, values + 32 * (size_t)m->var[t]));
        s->curve->fr_mul(&x, &x, &s->coefs[m->code[t]]);
        s->curve->fr_add(out, out, &x);
    }
}

static cuzk_witness *typed(const cuzk_shape *s, const uint8_t *values, cuzk_pool *pool)
{
    cuzk_witness *w = NULL;
    assert_int_equal(
        cuzk_witness_from_values(&w, s->curve, values, s->n_vars, s->n_inputs, "test", pool, NULL),
        CUZK_OK);
    return w;
}

static void expect_rows(const cuzk_shape *s, const uint8_t *values, cuzk_pool *pool)
{
    enum { N_OUT = N_ROWS + 10 };
    cuzk_witness *w = typed(s, values, pool);
    cuzk_fr *rows = malloc(N_OUT * sizeof *rows);
    assert_non_null(rows);
    for (int m = 0; m < 3; m++) {
        cuzk_shape_eval_rows(s, w, (cuzk_matrix)m, rows, N_OUT, m == 0 ? NULL : pool);
        for (uint64_t i = 0; i < N_OUT; i++) {
            cuzk_fr expected = {{0}};
            if (i < N_ROWS) {
                plain_row(s, &s->rows[m], i, values, &expected);
            } else if (i < N_ROWS + N_INPUTS && m == CUZK_MATRIX_A) {
                const uint8_t *v = values + 32 * (i - N_ROWS);
                assert_true(s->curve->fr_from_canonical_le(&expected, v));
            }
            assert_memory_equal(&rows[i], &expected, sizeof expected);
        }
    }
    free(rows);
    cuzk_witness_destroy(w);
}

static void test_rows(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const cuzk_curve *curve = cuzk_curve_get(both[k % 2]);
        cuzk_shape *s = random_shape(curve);
        uint8_t *values = random_values(curve, s->n_vars);
        /* bits that hold what they should, or anything */
        for (uint32_t i = 0; k < 2 && i < N_AUX; i += 2) {
            memset(values + 32 * (size_t)(N_INPUTS + i), 0, 32);
            values[32 * (size_t)(N_INPUTS + i)] = (uint8_t)(next_random() % 2);
        }
        uint8_t *outputs = values + 32 * (N_INPUTS + N_AUX); /* one per row */
        for (uint64_t i = 0; i < N_ROWS; i++) {
            cuzk_fr a, b;
            plain_row(s, &s->rows[CUZK_MATRIX_A], i, values, &a);
            plain_row(s, &s->rows[CUZK_MATRIX_B], i, values, &b);
            curve->fr_mul(&a, &a, &b);
            curve->fr_to_canonical_le(outputs + 32 * i, &a);
        }
        cuzk_pool *pool = NULL;
        cuzk_error err = {0};
        assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
        expect_rows(s, values, pool);
        cuzk_witness *w = typed(s, values, pool);
        if (cuzk_shape_check_witness(s, w, NULL, pool, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        cuzk_witness_destroy(w);

        /* break two constraints: the first is named, by any number of threads */
        outputs[32 * 8000] ^= 2;
        outputs[32 * 4567] ^= 2;
        w = typed(s, values, pool);
        for (int threads = 0; threads < 2; threads++) {
            cuzk_violation first = {0};
            cuzk_error_clear(&err);
            assert_int_equal(
                cuzk_shape_check_witness(s, w, &first, threads == 0 ? NULL : pool, &err),
                CUZK_E_UNSATISFIED);
            assert_int_equal(first.constraint, 4567);
            assert_non_null(strstr(err.text, "constraint 4567 of 9000"));
            assert_memory_equal(first.c, outputs + 32 * 4567, 32);
        }
        cuzk_witness_destroy(w);
        cuzk_pool_destroy(pool);
        cuzk_shape_destroy(s);
        free(values);
    }
}

/* ---- real circuits --------------------------------------------------------------------------- */

static cuzk_shape *load_shape(const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "%s/circuit.r1cs", name);
    cuzk_fixture f = cuzk_test_fixture(path);
    cuzk_r1cs r1cs;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_r1cs_open(&r1cs, f.data, f.size, NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_from_r1cs(&s, &r1cs, NULL), CUZK_OK);
    cuzk_test_fixture_free(&f);
    return s;
}

static cuzk_witness *load_witness(const char *name, const cuzk_shape *s)
{
    char path[100];
    snprintf(path, sizeof path, "%s/witness.wtns", name);
    cuzk_fixture f = cuzk_test_fixture(path);
    cuzk_wtns wtns;
    assert_int_equal(cuzk_wtns_open(&wtns, f.data, f.size, NULL), CUZK_OK);
    assert_int_equal(wtns.n_values, s->n_vars);
    assert_int_equal(wtns.curve->id, s->curve->id);
    cuzk_witness *w = typed(s, wtns.values, NULL);
    cuzk_test_fixture_free(&f);
    return w;
}

/* Witnesses of real circuits satisfy them; a changed value breaks a constraint. */
static void test_real_circuits(void **state)
{
    (void)state;
    static const char *const names[] = {"groth/sparse",           "groth/dense",
                                        "groth/poseidon8",        "circom/bn254/range64",
                                        "circom/bn254/poseidon2", "circom/bls12381/multiplier1000"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cuzk_error err = {0};
        cuzk_shape *s = load_shape(names[i]);
        cuzk_witness *w = load_witness(names[i], s);
        if (cuzk_shape_check_witness(s, w, NULL, NULL, &err) != CUZK_OK) {
            fail_msg("%s: %s", names[i], err.text);
        }
        assert_true(w->n_field > 0);
        w->field[w->n_field - 1][0] ^= 1;
        assert_int_equal(cuzk_shape_check_witness(s, w, NULL, NULL, NULL), CUZK_E_UNSATISFIED);
        w->field[w->n_field - 1][0] ^= 1;
        w->n_vars--;
        assert_int_equal(cuzk_shape_check_witness(s, w, NULL, NULL, &err), CUZK_E_WITNESS_LENGTH);
        w->n_vars++;
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(s);
    }
}

/* Small and large (huge pages): as many places as field variables, aligned, writable to the end. */
static void test_create(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 100, 600001};
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        uint32_t n = counts[c];
        uint64_t *is_field = calloc(cuzk_bitmap_words(n), 8);
        assert_non_null(is_field);
        for (uint32_t i = 1; i < n; i++) {
            if (i % 50 != 0) {
                cuzk_bitmap_set(is_field, i);
            }
        }
        cuzk_witness *w = NULL;
        assert_int_equal(cuzk_witness_create(&w, curve, n, 1, is_field, NULL), CUZK_OK);
        assert_int_equal(w->n_field, n - 1 - (n - 1) / 50);
        assert_int_equal((uintptr_t)w->field % 64, 0);
        if (w->n_field > 0) {
            memset(w->field, 0x55, (size_t)w->n_field * 32);
            uint8_t value[32], expected[32];
            memset(expected, 0x55, 32);
            cuzk_witness_get(w, n - (n % 50 == 1 ? 2 : 1), value);
            assert_memory_equal(value, expected, 32);
        }
        cuzk_witness_destroy(w);
        free(is_field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classification), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_real_circuits),
        cmocka_unit_test(test_create),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
