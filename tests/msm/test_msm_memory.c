/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fixed-base tables where memory runs out at each allocation in turn: an error with a text, nothing
 * lost, and the same result once there is memory again. */
#include "alloc_fail.h"
#include "msm_test.h"

#include <stdlib.h>
#include <string.h>

enum { N = 20 };

static void check_group(const cuzk_curve *curve, cuzk_group_id group, cuzk_pool *pool)
{
    const cuzk_group *g = &curve->g[group];
    cuzk_affine base;
    cuzk_fr scalars[N];
    uint8_t out[N * sizeof(cuzk_affine)], expected[N * sizeof(cuzk_affine)];
    cuzk_error err = {0};
    g->generator(&base);
    for (size_t i = 0; i < N; i++) {
        uint8_t bytes[32];
        cuzk_jac p;
        msm_test_scalar(curve, bytes, SCALARS_EDGES);
        assert_true(curve->fr_from_canonical_le(&scalars[i], bytes));
        g->from_affine(&p, &base);
        g->mul(&p, &p, &scalars[i]);
        g->to_affine(expected + i * g->affine_bytes, &p);
    }
    cuzk_fixed_base *table = NULL;
    unsigned n_failed = 0;
    for (;; n_failed++) { /* the allocation after n_failed good ones fails */
        alloc_fail_at(n_failed);
        cuzk_status status = cuzk_fixed_base_create(&table, curve, group, &base, N, pool, &err);
        if (!alloc_fail_stop()) {
            assert_int_equal(status, CUZK_OK);
            break;
        }
        if (status == CUZK_OK) { /* one that can do without */
            cuzk_fixed_base_destroy(table);
            table = NULL;
            continue;
        }
        assert_int_equal(status, CUZK_E_MEMORY);
        assert_non_null(strstr(err.text, "multiples of one base"));
        assert_null(table);
        cuzk_error_clear(&err);
    }
    assert_true(n_failed >= 4); /* the object, the table, workspace, powers */
    for (unsigned i = 0;; i++) {
        memset(out, 0xa5, sizeof out);
        alloc_fail_at(i);
        cuzk_status status = cuzk_fixed_base_mul(table, out, scalars, N, pool, &err);
        if (!alloc_fail_stop()) {
            assert_int_equal(status, CUZK_OK);
            assert_true(i >= 1);
            break;
        }
        if (status != CUZK_OK) {
            assert_int_equal(status, CUZK_E_MEMORY);
            assert_non_null(strstr(err.text, "out of memory"));
            cuzk_error_clear(&err);
        }
    }
    assert_memory_equal(out, expected, N * g->affine_bytes);
    cuzk_fixed_base_destroy(table);
}

static void test_fixed_base(void **state)
{
    (void)state;
    for (int group = 0; group < 2; group++) {
        check_group(cuzk_curve_get(CUZK_CURVE_BN254), (cuzk_group_id)group, NULL);
        check_group(cuzk_curve_get(CUZK_CURVE_BLS12_381), (cuzk_group_id)group, NULL);
    }
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed_base)};
    return cmocka_run_group_tests_name("msm memory", tests, NULL, NULL);
}
