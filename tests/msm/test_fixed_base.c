/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk_fixed_base_mul against single scalar multiplications, and for many scalars against a random
 * combination of them. */
#include "msm_test.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

static void draw(const cuzk_curve *curve, cuzk_fr *out, size_t n, scalar_kind kind)
{
    uint8_t bytes[32];
    for (size_t i = 0; i < n; i++) {
        msm_test_scalar(curve, bytes, kind);
        assert_true(curve->fr_from_canonical_le(&out[i], bytes));
    }
}

static void random_base(const cuzk_curve *curve, const cuzk_group *g, void *base)
{
    cuzk_fr k;
    cuzk_jac p;
    draw(curve, &k, 1, SCALARS_RANDOM);
    g->generator(base);
    g->from_affine(&p, base);
    g->mul(&p, &p, &k);
    g->to_affine(base, &p);
}

static void multiply(const cuzk_curve *curve, cuzk_group_id group, void *out, const void *base,
                     const cuzk_fr *scalars, size_t n, cuzk_pool *pool)
{
    cuzk_fixed_base *table;
    assert_int_equal(cuzk_fixed_base_create(&table, curve, group, base, n, pool, NULL), CUZK_OK);
    assert_int_equal(cuzk_fixed_base_mul(table, out, scalars, n, pool, NULL), CUZK_OK);
    cuzk_fixed_base_destroy(table);
}

/* Every product by itself. */
static void check_each(const cuzk_curve *curve, cuzk_group_id group, size_t n, scalar_kind kind,
                       cuzk_pool *pool)
{
    const cuzk_group *g = &curve->g[group];
    cuzk_affine base, expected;
    cuzk_jac p;
    cuzk_fr *scalars = malloc((n + 1) * sizeof *scalars);
    uint8_t *out = malloc(n * g->affine_bytes + 8);
    assert_non_null(scalars);
    assert_non_null(out);
    draw(curve, scalars, n, kind);
    random_base(curve, g, &base);
    multiply(curve, group, out + 3, &base, scalars, n, pool);
    for (size_t i = 0; i < n; i++) {
        g->from_affine(&p, &base);
        g->mul(&p, &p, &scalars[i]);
        g->to_affine(&expected, &p);
        if (memcmp(&expected, out + 3 + i * g->affine_bytes, g->affine_bytes) != 0) {
            fail_msg("%s G%d: product %zu of %zu differs", curve->name, (int)group + 1, i, n);
        }
    }
    free(out);
    free(scalars);
}

static void test_small(void **state)
{
    (void)state;
    const size_t lengths[] = {0, 1, 2, 3, 31, 100};
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                const cuzk_curve *curve = cuzk_curve_get(curves[c]);
                check_each(curve, (cuzk_group_id)g, lengths[i], SCALARS_EDGES, NULL);
                check_each(curve, (cuzk_group_id)g, lengths[i], SCALARS_MIXED, pool);
            }
        }
    }
    cuzk_pool_destroy(pool);
}

/* Enough scalars for large tables and several tasks: Σ c_i·out_i = (Σ c_i·s_i)·base for random
 * c_i, and every 97th product by itself. */
static void check_many(const cuzk_curve *curve, cuzk_group_id group, size_t n, cuzk_pool *pool)
{
    const cuzk_group *g = &curve->g[group];
    cuzk_affine base, expected;
    cuzk_jac p;
    cuzk_fr log, *scalars = malloc(n * sizeof *scalars);
    uint8_t *out = malloc(n * g->affine_bytes);
    uint8_t *combination = msm_test_scalars(curve, n, SCALARS_RANDOM);
    assert_non_null(scalars);
    assert_non_null(out);
    draw(curve, scalars, n, SCALARS_RANDOM);
    g->generator(&base);
    multiply(curve, group, out, &base, scalars, n, pool);
    curve->fr_from_u64(&log, 0);
    for (size_t i = 0; i < n; i++) {
        test_accumulate(curve, &log, combination + 32 * i, &scalars[i]);
        if (i % 97 == 0) {
            g->from_affine(&p, &base);
            g->mul(&p, &p, &scalars[i]);
            g->to_affine(&expected, &p);
            assert_memory_equal(&expected, out + i * g->affine_bytes, g->affine_bytes);
        }
    }
    cuzk_msm_query query = {.group = group, .bases = out};
    cuzk_msm_params params = {.scalars = combination, .n = n, .queries = &query, .n_queries = 1};
    test_run_msm(curve, &params, pool);
    assert_sum_is(curve, group, &query.sum, &log, "fixed base", n);
    free(combination);
    free(out);
    free(scalars);
}

static void test_many(void **state)
{
    (void)state;
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_create(&pool, 2, NULL), CUZK_OK);
    size_t n = msm_test_nightly() ? 1 << 18 : 5000;
    for (size_t c = 0; c < 2 && !msm_test_slow(); c++) {
        check_many(cuzk_curve_get(curves[c]), CUZK_G1, n, pool);
        check_many(cuzk_curve_get(curves[c]), CUZK_G2, n / 3, pool);
    }
    cuzk_pool_destroy(pool);
}

/* One table for several calls, fewer and more products than it was made for. */
static void test_reuse(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    const cuzk_group *g = &curve->g[CUZK_G1];
    cuzk_affine base;
    cuzk_fixed_base *table;
    cuzk_fr scalars[50];
    uint8_t out[50 * 96];
    g->generator(&base);
    draw(curve, scalars, 50, SCALARS_RANDOM);
    assert_int_equal(cuzk_fixed_base_create(&table, curve, CUZK_G1, &base, 20, NULL, NULL),
                     CUZK_OK);
    for (size_t n = 0; n <= 50; n += 25) {
        assert_int_equal(cuzk_fixed_base_mul(table, out, scalars, n, NULL, NULL), CUZK_OK);
        for (size_t i = 0; i < n; i++) {
            cuzk_affine expected;
            cuzk_jac p;
            g->from_affine(&p, &base);
            g->mul(&p, &p, &scalars[i]);
            g->to_affine(&expected, &p);
            assert_memory_equal(&expected, out + 96 * i, 96);
        }
    }
    cuzk_fixed_base_destroy(table);
    cuzk_fixed_base_destroy(NULL);
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_reuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
