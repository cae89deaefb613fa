/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sums that proving and key generation are made of, against their definitions: witness times
 * bases with known logarithms, for every way to say which variables have one; Lagrange polynomials
 * by what they do to polynomials; the columns of a circuit term by term. */
#include "groth16/fr_random.h"
#include "groth16/lagrange.h"
#include "groth16/query_sum.h"
#include "groth16/setup_columns.h"
#include "msm/msm_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_pool *pool;

static const cuzk_curve *curve_of(int i)
{
    return cuzk_curve_get(i % 2 == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
}

static cuzk_fr some_number(const cuzk_curve *curve)
{
    uint8_t bytes[32];
    cuzk_fr x;
    msm_test_scalar(curve, bytes, SCALARS_MIXED);
    assert_true(curve->fr_from_canonical_le(&x, bytes));
    return x;
}

/* ---- witness times bases ----------------------------------------------------------------------
 */

static cuzk_witness *some_witness(const cuzk_curve *curve, uint32_t n_vars, unsigned percent_field)
{
    uint64_t is_field[8] = {0};
    cuzk_witness *w = NULL;
    assert_true(n_vars <= 512);
    for (uint32_t v = 1; v < n_vars; v++) {
        if (msm_test_below(100) < percent_field) {
            cuzk_bitmap_set(is_field, v);
        }
    }
    assert_int_equal(cuzk_witness_create(&w, curve, n_vars, 1, is_field, NULL), CUZK_OK);
    for (uint32_t v = 1; v < n_vars; v++) {
        if (cuzk_bitmap_get(is_field, v)) {
            msm_test_scalar(curve, w->field[cuzk_witness_rank(w, v)], SCALARS_MIXED);
        } else if (msm_test_below(2) == 0) {
            cuzk_bitmap_set(w->bits, v);
        }
    }
    return w;
}

/* The logarithm of the sum of one query. */
static cuzk_fr expected_sum(const cuzk_query_set *set, size_t which, const cuzk_witness *w,
                            const test_bases *bases)
{
    cuzk_fr log = {{0}};
    size_t compacted = 0;
    for (uint32_t v = 0; v < w->n_vars; v++) {
        if (set->support != NULL && !cuzk_bitmap_get(set->support, v)) {
            continue;
        }
        size_t index = set->compact ? compacted++ : v;
        if (index >= set->queries[which].first) {
            uint8_t value[32];
            cuzk_witness_get(w, v, value);
            test_accumulate(w->curve, &log, value, &bases->logs[index - set->queries[which].first]);
        }
    }
    return log;
}

/* kind: 0 all variables, 1 a support, 2 a compact one. */
static void check_sums(const cuzk_witness *w, int kind, size_t n_queries, unsigned percent_support)
{
    uint64_t support[8] = {0};
    cuzk_query_set set = {
        .support = kind == 0 ? NULL : support, .compact = kind == 2, .n_queries = n_queries};
    test_bases bases[CUZK_QUERIES_MAX];
    for (uint32_t v = 0; v < w->n_vars; v++) {
        if (msm_test_below(100) < percent_support) {
            cuzk_bitmap_set(support, v);
        }
    }
    for (size_t i = 0; i < n_queries; i++) {
        cuzk_group_id group = i > 0 && i + 1 == n_queries ? CUZK_G2 : CUZK_G1;
        uint64_t first = kind == 2 || msm_test_below(2) == 0 ? 0 : msm_test_below(w->n_vars + 1);
        test_bases_make(&bases[i], w->curve, group, w->n_vars,
                        (base_kind)msm_test_below(BASES_KINDS));
        set.queries[i] = (cuzk_msm_query){.group = group, .bases = bases[i].points, .first = first};
    }
    size_t n_bytes = cuzk_query_sums_workspace_bytes(&set, w, pool);
    assert_true(n_bytes <=
                cuzk_query_sums_bytes_max(w->curve, w->n_vars, w->n_field, n_queries, pool));
    void *ws = aligned_alloc(64, (n_bytes + 127) / 64 * 64);
    assert_non_null(ws);
    assert_int_equal(cuzk_query_sums(&set, w, ws, n_bytes, pool, NULL), CUZK_OK);
    for (size_t i = 0; i < n_queries; i++) {
        char what[64];
        cuzk_fr log = expected_sum(&set, i, w, &bases[i]);
        snprintf(what, sizeof what, "kind %d, query %zu of %zu", kind, i, n_queries);
        assert_sum_is(w->curve, set.queries[i].group, &set.queries[i].sum, &log, what, w->n_vars);
    }
    free(ws);
    for (size_t i = 0; i < n_queries; i++) {
        test_bases_free(&bases[i]);
    }
}

static void test_query_sums(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 63, 64, 65, 127, 130, 200};
    static const unsigned percent[] = {0, 3, 50, 97, 100};
    for (int i = 0; i < (int)(2 * sizeof sizes / sizeof sizes[0]); i++) {
        cuzk_witness *w = some_witness(curve_of(i), sizes[i / 2], percent[msm_test_below(5)]);
        for (int kind = 0; kind < 3; kind++) {
            check_sums(w, kind, 1 + msm_test_below(CUZK_QUERIES_MAX), percent[msm_test_below(5)]);
        }
        cuzk_witness_destroy(w);
    }
}

/* Fewer field values sometimes need more memory; the bound holds for all of them, and is not far
 * from what some of them need. */
static void test_workspace_bound(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        static const uint32_t any_index = 0;
        size_t most = (size_t)1 << msm_test_below(23), needed = 0;
        most += msm_test_below(most);
        cuzk_msm_query queries[CUZK_QUERIES_MAX] = {{.group = CUZK_G1}};
        cuzk_msm_params params = {.base_index = &any_index,
                                  .n = most,
                                  .queries = queries,
                                  .n_queries = 1 + msm_test_below(CUZK_QUERIES_MAX)};
        queries[params.n_queries - 1].group = msm_test_below(2) == 0 ? CUZK_G1 : CUZK_G2;
        size_t bound = cuzk_msm_workspace_bytes_max(curve_of(i), &params, pool);
        for (int k = 0; k < 400; k++) {
            params.n = k < 100 ? (size_t)k : msm_test_below(k < 250 ? most : most / 16 + 1);
            params.n = params.n > most || k == 399 ? most : params.n;
            size_t n_bytes = cuzk_msm_workspace_bytes(curve_of(i), &params, pool);
            assert_true(n_bytes <= bound);
            needed = n_bytes > needed ? n_bytes : needed;
        }
        assert_true(bound <= needed + needed / 8);
    }
}

/* ---- Lagrange polynomials ---------------------------------------------------------------------
 */

/* Σ f(x_i)·L_i(t) = f(t) for every f of degree below m, on the subgroup and on cosets of it. */
static void test_lagrange(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        const cuzk_curve *curve = curve_of(i);
        unsigned lg = (unsigned)(i / 2) % 9;
        size_t m = (size_t)1 << lg;
        cuzk_fr w, t = some_number(curve), shift = curve->fr_one, scale, z, x;
        curve->fr_root_of_unity(&w, 5, lg);
        if (i >= 8) {
            curve->fr_from_u64(&shift, 3 + msm_test_below(1000));
        }
        curve->fr_from_u64(&x, 12345);
        curve->fr_add(&t, &t, &x); /* the small numbers might be in the coset */
        /* the vanishing polynomial of shift·H is X^m - shift^m; L_i = x_i·Z(t)/(m·shift^m·(t-x_i))
         */
        curve->fr_pow_u64(&z, &shift, m);
        curve->fr_pow_u64(&scale, &t, m);
        curve->fr_sub(&scale, &scale, &z);
        curve->fr_from_u64(&x, m);
        curve->fr_mul(&x, &x, &z);
        curve->fr_inv(&x, &x);
        curve->fr_mul(&scale, &scale, &x);
        cuzk_fr *l = malloc(m * sizeof *l), *f = malloc(m * sizeof *f);
        assert_true(l != NULL && f != NULL);
        cuzk_lagrange_at(curve, l, m, &t, &w, &shift, &scale, pool);
        for (int round = 0; round < 3; round++) {
            for (size_t k = 0; k < m; k++) {
                f[k] = round == 0 && k > 0 ? (cuzk_fr){{0}} : some_number(curve);
            }
            cuzk_fr sum = {{0}}, expected = {{0}}, at = shift;
            for (size_t j = 0; j < m; j++) {
                cuzk_fr y = {{0}};
                for (size_t k = m; k-- > 0;) {
                    curve->fr_mul(&y, &y, &at);
                    curve->fr_add(&y, &y, &f[k]);
                }
                curve->fr_mul(&y, &y, &l[j]);
                curve->fr_add(&sum, &sum, &y);
                curve->fr_mul(&at, &at, &w);
            }
            for (size_t k = m; k-- > 0;) {
                curve->fr_mul(&expected, &expected, &t);
                curve->fr_add(&expected, &expected, &f[k]);
            }
            assert_memory_equal(&sum, &expected, sizeof sum);
        }
        /* fewer of them are the first ones; at a point of the coset its own is zero */
        size_t n = 1 + msm_test_below(m), own = msm_test_below(m);
        cuzk_lagrange_at(curve, f, n, &t, &w, &shift, &scale, pool);
        assert_memory_equal(f, l, n * sizeof *f);
        curve->fr_pow_u64(&x, &w, own);
        curve->fr_mul(&x, &x, &shift);
        cuzk_lagrange_at(curve, f, m, &x, &w, &shift, &scale, pool);
        assert_true((f[own].l[0] | f[own].l[1] | f[own].l[2] | f[own].l[3]) == 0);
        free(l);
        free(f);
    }
}

/* ---- columns ----------------------------------------------------------------------------------
 */

static cuzk_shape *some_circuit(const cuzk_curve *curve)
{
    cuzk_shape_builder *b = NULL;
    cuzk_shape *s = NULL;
    uint32_t n_aux = 0;
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    for (int part = 0; part < 3; part++) {
        uint32_t before = n_aux;
        if (part == 1) {
            cuzk_shape_begin_copies(b, 1 + (uint32_t)msm_test_below(12));
        }
        /* what follows a part with copies must not name its variables */
        uint32_t n = part == 2 ? before : before + 1 + (uint32_t)msm_test_below(40);
        for (; n_aux < n; n_aux++) {
            (void)cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
        }
        for (size_t row = msm_test_below(50); row > 0; row--) {
            for (size_t t = msm_test_below(9); t > 0; t--) {
                cuzk_fr coef = some_number(curve);
                cuzk_shape_add_term(b, (cuzk_matrix)msm_test_below(3),
                                    msm_test_below(4) == 0
                                        ? CUZK_VAR_ONE
                                        : cuzk_var_aux((uint32_t)msm_test_below(n_aux)),
                                    &coef);
            }
            cuzk_shape_end_constraint(b);
        }
        if (part == 1) {
            cuzk_shape_end_copies(b);
            n_aux = before;
        }
    }
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
    return s;
}

static void test_columns(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        const cuzk_curve *curve = curve_of(i);
        cuzk_shape *s = some_circuit(curve);
        size_t n_rows = cuzk_shape_n_rows(s), n_vars = s->n_vars;
        cuzk_fr *lagrange = malloc(n_rows * sizeof *lagrange);
        cuzk_fr *found = malloc(n_vars * sizeof *found), *expected = malloc(n_vars * sizeof *found);
        assert_true(lagrange != NULL && found != NULL && expected != NULL);
        for (size_t row = 0; row < n_rows; row++) {
            lagrange[row] = some_number(curve);
        }
        for (int k = 0; k < 3; k++) {
            memset(expected, 0, n_vars * sizeof *expected);
            for (uint32_t row = 0; row < s->n_constraints; row++) {
                cuzk_row_run run = cuzk_shape_run(s, row, row + 1);
                const cuzk_rows *m = &s->rows[k];
                for (uint64_t t = m->begin[run.stored_row]; t < m->begin[run.stored_row + 1]; t++) {
                    cuzk_fr *sum = &expected[cuzk_row_run_var(&run, m->var[t])], x;
                    curve->fr_mul(&x, &s->coefs[m->code[t]], &lagrange[row]);
                    curve->fr_add(sum, sum, &x);
                }
            }
            for (uint32_t v = 0; k == CUZK_MATRIX_A && v < s->n_inputs; v++) {
                curve->fr_add(&expected[v], &expected[v], &lagrange[s->n_constraints + v]);
            }
            cuzk_setup_columns(s, (cuzk_matrix)k, found, lagrange, pool);
            assert_memory_equal(found, expected, n_vars * sizeof *found);
        }
        free(lagrange);
        free(found);
        free(expected);
        cuzk_shape_destroy(s);
    }
}

/* ---- random numbers ---------------------------------------------------------------------------
 */

/* Below the order, or below 2^128 and not zero; and no number comes twice. */
static void test_random_numbers(void **state)
{
    (void)state;
    enum { N = 500 };
    for (int i = 0; i < 2; i++) {
        const cuzk_curve *curve = curve_of(i);
        cuzk_fr x[2 * N];
        for (int k = 0; k < N; k++) {
            assert_int_equal(cuzk_fr_random(curve, &x[k], NULL), CUZK_OK);
        }
        assert_int_equal(cuzk_fr_random_128(curve, x + N, N, NULL), CUZK_OK);
        uint64_t seen[32] = {0}; /* bits that were set */
        for (int k = 0; k < 2 * N; k++) {
            uint8_t bytes[32];
            cuzk_fr back;
            curve->fr_to_canonical_le(bytes, &x[k]);
            assert_true(curve->fr_from_canonical_le(&back, bytes));
            assert_memory_equal(&back, &x[k], sizeof back);
            for (int j = 16; k >= N && j < 32; j++) {
                assert_int_equal(bytes[j], 0);
            }
            for (int j = 0; j < 32; j++) {
                seen[j] |= bytes[j];
            }
            for (int j = 0; j < k; j++) {
                assert_memory_not_equal(&x[j], &x[k], sizeof x[k]);
            }
        }
        for (int j = 0; j < 31; j++) {
            assert_int_equal(seen[j], 255);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query_sums),     cmocka_unit_test(test_workspace_bound),
        cmocka_unit_test(test_lagrange),       cmocka_unit_test(test_columns),
        cmocka_unit_test(test_random_numbers),
    };
    int rc = msm_test_begin();
    if (rc != 0) {
        return rc;
    }
    if (cuzk_pool_create(&pool, 3, NULL) != CUZK_OK) {
        return 1;
    }
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
