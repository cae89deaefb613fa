/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of circuits with repeated parts against sums written out here, on every CPU path: all kinds
 * of coefficients, rows from empty to thousands of terms, copies that choose their variables,
 * witnesses whose types differ between copies. */
#include "base/cpu.h"
#include "r1cs/satisfy.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0007;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

static const cuzk_curve_id both[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

/* 1, -1, ±2^i, small numbers, r - 1 halved, full width. */
static cuzk_fr random_coef(const cuzk_curve *curve)
{
    cuzk_fr x = {{0}}, two;
    uint64_t kind = next_random() % 10;
    curve->fr_from_u64(&two, 2);
    if (kind < 6) {
        curve->fr_from_u64(&x, 1);
        if (kind >= 3) {
            curve->fr_pow_u64(&x, &two, next_random() % 254);
        }
    } else if (kind == 6) {
        curve->fr_from_u64(&x, 1 + next_random() % 100000);
    } else if (kind == 7) {
        curve->fr_inv(&x, &two); /* the largest distance from a multiple of r */
    } else {
        for (int i = 0; i < 4; i++) {
            x.l[i] = next_random();
        }
        x.l[3] %= curve->r[3];
    }
    if (next_random() % 2 == 0) {
        curve->fr_neg(&x, &x);
    }
    return x;
}

/* ---- circuits -------------------------------------------------------------------------------- */

enum { HEAD = 60, OWN = 150, ROWS = 70, CHOICE = 4 };

struct plan {
    unsigned n_copies;
    bool bits_only; /* no field variables, as in most of a hash circuit */
};

static cuzk_var_type some_type(const struct plan *p)
{
    return p->bits_only || next_random() % 3 != 0 ? CUZK_VAR_BIT : CUZK_VAR_FIELD;
}

static cuzk_var some_var(uint32_t n_inputs, uint32_t n_aux)
{
    uint64_t kind = next_random() % 8;
    return kind == 0 ? (cuzk_var)(next_random() % n_inputs)
                     : cuzk_var_aux((uint32_t)(next_random() % n_aux));
}

static void some_rows(cuzk_shape_builder *b, const cuzk_curve *curve, unsigned n, uint32_t n_inputs,
                      uint32_t n_aux)
{
    for (unsigned i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            uint64_t kind = next_random() % 16;
            uint64_t n_terms = kind < 10 ? kind / 2 : kind < 15 ? next_random() % 50 : 150;
            for (uint64_t t = 0; t < n_terms; t++) {
                cuzk_fr coef = random_coef(curve);
                cuzk_shape_add_term(b, (cuzk_matrix)k, some_var(n_inputs, n_aux), &coef);
            }
        }
        cuzk_shape_end_constraint(b);
    }
}

/* A head with variables to choose from, n_copies equal parts, a tail. */
static cuzk_shape *circuit(const cuzk_curve *curve, const struct plan *p)
{
    cuzk_shape_builder *b = NULL;
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    cuzk_var first[64];
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    (void)cuzk_shape_add_input(b, some_type(p));
    for (unsigned i = 0; i < HEAD; i++) {
        /* what is chosen has the same types wherever it begins */
        (void)cuzk_shape_add_aux(b,
                                 !p->bits_only && i % CHOICE == 1 ? CUZK_VAR_FIELD : CUZK_VAR_BIT);
    }
    some_rows(b, curve, 5, 2, HEAD);
    cuzk_shape_begin_copies(b, p->n_copies);
    for (unsigned k = 0; k < p->n_copies; k++) {
        first[k] = cuzk_var_aux((uint32_t)(next_random() % (HEAD / CHOICE - 1)) * CHOICE);
    }
    cuzk_shape_choose(b, first, CHOICE);
    (void)cuzk_shape_add_input(b, some_type(p));
    for (unsigned i = 0; i < OWN; i++) {
        (void)cuzk_shape_add_aux(b, some_type(p));
    }
    some_rows(b, curve, ROWS, 3, HEAD + OWN);
    cuzk_shape_end_copies(b);
    some_rows(b, curve, 3, 2, HEAD);
    if (cuzk_shape_builder_finish(b, &s, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

/* ---- the sums ---------------------------------------------------------------------------------
 */

/* 0, 1, r-1 or full width. */
static void random_value(const cuzk_curve *curve, uint8_t out[32])
{
    cuzk_fr x = {{0}};
    uint64_t kind = next_random() % 8;
    if (kind < 2) {
        curve->fr_from_u64(&x, kind);
    } else if (kind == 2) {
        curve->fr_neg(&x, &curve->fr_one);
    } else {
        for (int i = 0; i < 4; i++) {
            x.l[i] = next_random();
        }
        x.l[3] %= curve->r[3];
    }
    curve->fr_to_canonical_le(out, &x);
}

static void random_witness(cuzk_witness *w)
{
    for (uint32_t v = 1; v < w->n_vars; v++) {
        if (cuzk_bitmap_get(w->is_field, v)) {
            random_value(w->curve, w->field[cuzk_witness_rank(w, v)]);
        } else if (next_random() % 2 == 0) {
            cuzk_bitmap_set(w->bits, v);
        }
    }
}

static void plain_row(const cuzk_shape *s, const cuzk_witness *w, cuzk_matrix m, uint32_t row,
                      cuzk_fr *out)
{
    const cuzk_rows *rows = &s->rows[m];
    cuzk_row_run run = cuzk_shape_run(s, row, row + 1);
    memset(out, 0, sizeof *out);
    for (uint64_t t = rows->begin[run.stored_row]; t < rows->begin[run.stored_row + 1]; t++) {
        uint8_t value[32];
        cuzk_fr x;
        cuzk_witness_get(w, cuzk_row_run_var(&run, rows->var[t]), value);
        s->curve->fr_batch_from_canonical(&x, value, 1);
        s->curve->fr_mul(&x, &x, &s->coefs[rows->code[t]]);
        s->curve->fr_add(out, out, &x);
    }
}

static void expect_rows(const cuzk_shape *s, const cuzk_witness *w, cuzk_pool *pool)
{
    uint64_t n = cuzk_shape_n_rows(s) + 3;
    cuzk_fr *out = malloc(n * sizeof *out);
    assert_non_null(out);
    for (int m = 0; m < 3; m++) {
        memset(out, 0xff, n * sizeof *out);
        cuzk_shape_eval_rows(s, w, (cuzk_matrix)m, out, n, pool);
        for (uint32_t row = 0; row < s->n_constraints; row++) {
            cuzk_fr expected;
            plain_row(s, w, (cuzk_matrix)m, row, &expected);
            if (memcmp(&expected, &out[row], sizeof expected) != 0) {
                fail_msg("side %c, constraint %u differs", "ABC"[m], row);
            }
        }
        for (uint64_t row = s->n_constraints; row < n; row++) {
            cuzk_fr expected = {{0}};
            uint64_t input = row - s->n_constraints;
            if (m == CUZK_MATRIX_A && input < s->n_inputs) {
                uint8_t value[32];
                cuzk_witness_get(w, (uint32_t)input, value);
                s->curve->fr_batch_from_canonical(&expected, value, 1);
            }
            assert_memory_equal(&out[row], &expected, sizeof expected);
        }
    }
    free(out);
}

static void test_copies(void **state)
{
    (void)state;
    static const struct plan plans[] = {{1, false}, {2, false}, {3, false},  {8, false},
                                        {9, false}, {18, true}, {18, false}, {37, false}};
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(both[c]);
        for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
            cuzk_shape *s = circuit(curve, &plans[i]);
            cuzk_witness *w = NULL;
            assert_int_equal(
                cuzk_witness_create(&w, curve, s->n_vars, s->n_inputs, s->is_field, NULL), CUZK_OK);
            random_witness(w);
            expect_rows(s, w, pool);
            cuzk_witness_destroy(w);
            cuzk_shape_destroy(s);
        }
    }
    cuzk_pool_destroy(pool);
}

/* Types told from values: 0 and 1 are bits wherever they stand, so that copies differ; and, with
 * own variables alike, public values and chosen ones that differ. */
static void test_types_of_values(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(both[c]);
        cuzk_shape *s = circuit(curve, &(struct plan){11, false});
        uint8_t *values = malloc(32 * (size_t)s->n_vars);
        assert_non_null(values);
        for (int alike = 0; alike < 2; alike++) {
            cuzk_witness *w = NULL;
            const cuzk_shape_block *b = &s->blocks[1];
            for (uint32_t v = 0; v < s->n_vars; v++) {
                bool own = v >= b->first_aux && v < b->first_aux + b->n_copies * b->aux_stride;
                random_value(curve, values + 32 * (size_t)v);
                if (alike && own && next_random() % 2 == 0) {
                    memset(values + 32 * (size_t)v, 0, 32);
                }
                if (alike && own && (v - b->first_aux) % b->aux_stride % 3 == 0) {
                    memset(values + 32 * (size_t)v, 2, 31);
                    values[32 * (size_t)v + 31] = 1;
                } else if (alike && own) {
                    memset(values + 32 * (size_t)v + 1, 0, 31);
                    values[32 * (size_t)v] &= 1;
                }
            }
            memset(values, 0, 32);
            values[0] = 1;
            assert_int_equal(cuzk_witness_from_values(&w, curve, values, s->n_vars, s->n_inputs,
                                                      "values", NULL, NULL),
                             CUZK_OK);
            expect_rows(s, w, NULL);
            cuzk_witness_destroy(w);
        }
        free(values);
        cuzk_shape_destroy(s);
    }
}

/* Rows of thousands of terms, of one sign and of both, of bits and of field values: sums are
 * settled on the way. */
static void test_long_rows(void **state)
{
    (void)state;
    enum { N = 1300 };
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(both[c]);
        cuzk_shape_builder *b = NULL;
        cuzk_shape *s = NULL;
        cuzk_witness *w = NULL;
        cuzk_fr half, minus, coef[4];
        curve->fr_from_u64(&half, 2);
        curve->fr_inv(&half, &half); /* (r + 1)/2, and -half is (r - 1)/2 */
        curve->fr_neg(&minus, &half);
        coef[0] = half;
        coef[1] = minus;
        coef[2] = curve->fr_one;
        curve->fr_neg(&coef[3], &curve->fr_one);
        assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
        cuzk_shape_begin_copies(b, 9);
        for (unsigned i = 0; i < N; i++) {
            (void)cuzk_shape_add_aux(b, i < N / 2 ? CUZK_VAR_BIT : CUZK_VAR_FIELD);
        }
        for (unsigned kind = 0; kind < 8; kind++) {
            for (unsigned i = 0; i < N; i++) {
                unsigned k = kind < 4 ? kind : kind < 6 ? kind - 4 + (i & 2) : i % 4;
                cuzk_shape_add_term(b, CUZK_MATRIX_A, cuzk_var_aux(i), &coef[k]);
                if (i >= N / 2) {
                    cuzk_shape_add_term(b, CUZK_MATRIX_B, cuzk_var_aux(i), &coef[k]);
                } else {
                    cuzk_shape_add_term(b, CUZK_MATRIX_C, cuzk_var_aux(i), &coef[k]);
                }
            }
            cuzk_shape_end_constraint(b);
        }
        cuzk_shape_end_copies(b);
        assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
        assert_int_equal(cuzk_witness_create(&w, curve, s->n_vars, s->n_inputs, s->is_field, NULL),
                         CUZK_OK);
        for (uint32_t v = 1; v < s->n_vars; v++) { /* the largest values there are */
            if (cuzk_bitmap_get(w->is_field, v)) {
                cuzk_fr minus_one;
                curve->fr_neg(&minus_one, &curve->fr_one);
                curve->fr_to_canonical_le(w->field[cuzk_witness_rank(w, v)], &minus_one);
            } else {
                cuzk_bitmap_set(w->bits, v);
            }
        }
        expect_rows(s, w, NULL);
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_types_of_values),
        cmocka_unit_test(test_long_rows),
    };
    if (cuzk_cpu_check(NULL) != CUZK_OK) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
