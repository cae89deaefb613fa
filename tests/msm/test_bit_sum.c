/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk_bit_sum against sums of discrete logarithms. */
#include "msm_test.h"

#include "base/bitmap.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};
static cuzk_pool *pools[5];

/* One bit in `one_in`; 0 for none at all. */
static uint64_t *random_bits(size_t n, size_t one_in)
{
    uint64_t *map = calloc(cuzk_bitmap_words(n) + 1, sizeof *map);
    assert_non_null(map);
    for (size_t i = 0; i < n; i++) {
        if (one_in != 0 && msm_test_below(one_in) == 0) {
            cuzk_bitmap_set(map, i);
        }
    }
    return map;
}

/* Both groups at once; G1 from index first_1 on, G2 from first_2. */
static void check(const cuzk_curve *curve, size_t n, base_kind kind, size_t one_in, size_t first_1,
                  size_t first_2, cuzk_pool *pool)
{
    const size_t firsts[2] = {first_1, first_2};
    test_bases bases[2];
    cuzk_msm_query queries[2];
    uint64_t *map = random_bits(n, one_in);
    for (int g = 0; g < 2; g++) {
        test_bases_make(&bases[g], curve, (cuzk_group_id)g, n > firsts[g] ? n - firsts[g] : 0,
                        kind);
        queries[g] = (cuzk_msm_query){
            .group = (cuzk_group_id)g, .bases = bases[g].points, .first = firsts[g]};
    }
    size_t n_bytes = cuzk_bit_sum_workspace_bytes(curve, n, 2, pool);
    void *ws = aligned_alloc(64, n_bytes + 64);
    assert_non_null(ws);
    memset(ws, 0xa5, n_bytes);
    cuzk_error err = {0};
    cuzk_bit_sum_params params = {.bitmap = map, .n = n, .queries = queries, .n_queries = 2};
    assert_int_equal(cuzk_bit_sum(curve, &params, ws, n_bytes, pool, &err), CUZK_OK);
    for (int g = 0; g < 2; g++) {
        cuzk_fr log;
        curve->fr_from_u64(&log, 0);
        for (size_t i = firsts[g]; i < n; i++) {
            if (cuzk_bitmap_get(map, i)) {
                curve->fr_add(&log, &log, &bases[g].logs[i - firsts[g]]);
            }
        }
        assert_sum_is(curve, (cuzk_group_id)g, &queries[g].sum, &log, "bits", n);
        test_bases_free(&bases[g]);
    }
    free(ws);
    free(map);
}

static void test_lengths(void **state)
{
    (void)state;
    const size_t lengths[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1025, 2047, 2049};
    size_t count = sizeof lengths / sizeof *lengths - (msm_test_slow() ? 3 : 0);
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < count; i++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            check(curve, lengths[i], BASES_DISTINCT, 1, 0, 0, pools[1 + i % 4]);
            check(curve, lengths[i], BASES_SPRINKLED, 2, 0, 0, pools[1 + i % 3]);
        }
    }
}

static void test_kinds_of_bases(void **state)
{
    (void)state;
    size_t n = msm_test_slow() ? 300 : 5000;
    for (size_t c = 0; c < 2; c++) {
        for (int kind = 0; kind < BASES_KINDS; kind++) {
            check(cuzk_curve_get(curves[c]), n, (base_kind)kind, 1 + (size_t)kind % 3, 0, 0,
                  pools[2]);
        }
    }
}

static void test_sparse_and_empty(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    check(curve, 3000, BASES_DISTINCT, 0, 0, 0, pools[2]);
    check(curve, 3000, BASES_DISTINCT, 1000, 0, 0, pools[2]);
}

static void test_first(void **state)
{
    (void)state;
    const size_t firsts[][2] = {{0, 1}, {63, 64}, {65, 0}, {2048, 2049}, {2999, 3000}, {9000, 5}};
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            check(cuzk_curve_get(curves[c]), msm_test_slow() ? 200 : 3000, BASES_DISTINCT, 2,
                  firsts[i][0], firsts[i][1], pools[1 + i % 2]);
        }
    }
}

/* Several tasks of the largest size, and more points of tasks than one pass joins. */
static void test_large(void **state)
{
    (void)state;
    if (msm_test_slow()) {
        return;
    }
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    size_t n = 200000;
    test_bases bases;
    test_bases_make(&bases, curve, CUZK_G1, 1000, BASES_DISTINCT);
    size_t size = bases.group->affine_bytes;
    uint8_t *points = malloc(n * size);
    uint64_t *map = random_bits(n, 2);
    assert_non_null(points);
    cuzk_fr log;
    curve->fr_from_u64(&log, 0);
    for (size_t i = 0; i < n; i++) {
        memcpy(points + i * size, bases.points + i % 1000 * size, size);
        if (cuzk_bitmap_get(map, i)) {
            curve->fr_add(&log, &log, &bases.logs[i % 1000]);
        }
    }
    for (unsigned threads = 1; threads <= 2; threads++) {
        cuzk_msm_query query = {.group = CUZK_G1, .bases = points};
        size_t n_bytes = cuzk_bit_sum_workspace_bytes(curve, n, 1, pools[threads]);
        void *ws = aligned_alloc(64, n_bytes);
        assert_non_null(ws);
        cuzk_bit_sum_params params = {.bitmap = map, .n = n, .queries = &query, .n_queries = 1};
        assert_int_equal(cuzk_bit_sum(curve, &params, ws, n_bytes, pools[threads], NULL), CUZK_OK);
        assert_sum_is(curve, CUZK_G1, &query.sum, &log, "many bits", n);
        free(ws);
    }
    free(map);
    free(points);
    test_bases_free(&bases);
}

typedef struct {
    unsigned n, stop_at;
    double last;
} reports;

static bool on_report(void *ctx, const char *stage, double done)
{
    reports *r = ctx;
    (void)stage;
    assert_true(done >= r->last && done <= 1);
    r->last = done;
    return ++r->n != r->stop_at;
}

/* More tasks than one loop has: reports come between loops, one that says no ends the sum. The
 * first query has bases for the last bits only, and the second one none at all. */
static void test_loops(void **state)
{
    (void)state;
    enum { TASK = 32768, LOOP_TASKS = 16, SET = 5000 };
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    test_bases bases;
    test_bases_make(&bases, curve, CUZK_G1, SET, BASES_DISTINCT);
    for (unsigned threads = 1; threads <= 2; threads++) {
        size_t n = (size_t)threads * 3 * LOOP_TASKS * TASK + 100;
        uint64_t *map = random_bits(n, 0);
        cuzk_fr log;
        curve->fr_from_u64(&log, 0);
        for (size_t i = 0; i < SET; i++) {
            cuzk_bitmap_set(map, n - SET + i);
            curve->fr_add(&log, &log, &bases.logs[i]);
        }
        size_t n_bytes = cuzk_bit_sum_workspace_bytes(curve, n, 2, pools[threads]);
        void *ws = aligned_alloc(64, n_bytes);
        assert_non_null(ws);
        for (unsigned stop_at = 0; stop_at <= 5; stop_at++) {
            cuzk_msm_query queries[2] = {
                {.group = CUZK_G1, .bases = bases.points, .first = n - SET},
                {.group = CUZK_G2, .bases = NULL, .first = n}};
            reports r = {.stop_at = stop_at};
            cuzk_reporter reporter = {on_report, &r};
            cuzk_bit_sum_params params = {
                .bitmap = map, .n = n, .queries = queries, .n_queries = 2, .reporter = &reporter};
            cuzk_error err = {0};
            cuzk_status expected = stop_at == 0 || stop_at > 4 ? CUZK_OK : CUZK_E_CANCELLED;
            assert_int_equal(cuzk_bit_sum(curve, &params, ws, n_bytes, pools[threads], &err),
                             expected);
            assert_int_equal(r.n, expected == CUZK_OK ? 4 : stop_at);
            if (expected == CUZK_OK) {
                assert_sum_is(curve, CUZK_G1, &queries[0].sum, &log, "bits in loops", n);
            }
        }
        free(ws);
        free(map);
    }
    test_bases_free(&bases);
}

static void test_short_workspace(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    uint64_t map[1] = {1};
    uint8_t bases[9 * 64] = {0}, ws[64];
    cuzk_msm_query query = {.group = CUZK_G1, .bases = bases};
    cuzk_error err = {0};
    cuzk_bit_sum_params params = {.bitmap = map, .n = 9, .queries = &query, .n_queries = 1};
    assert_int_equal(cuzk_bit_sum(curve, &params, ws, sizeof ws, NULL, &err), CUZK_E_SHORT_BUFFER);
    assert_int_equal(cuzk_bit_sum_workspace_bytes(curve, 8, 1, NULL), 0); /* one by one */
    params.n = 8;
    assert_int_equal(cuzk_bit_sum(curve, &params, NULL, 0, NULL, &err), CUZK_OK);
}

/* What is reserved for so many bits does for fewer. */
static void test_workspace_grows(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    for (unsigned t = 0; t <= 4; t++) {
        size_t before = 0;
        for (size_t n = 1; n < (size_t)1 << 27; n += n / 37 + 1) {
            size_t bytes = cuzk_bit_sum_workspace_bytes(curve, n, 1, t > 0 ? pools[t] : NULL);
            assert_true(bytes >= before);
            before = bytes;
        }
    }
}

static int make_pools(void **state)
{
    (void)state;
    for (unsigned t = 1; t <= 4; t++) {
        assert_int_equal(cuzk_pool_create(&pools[t], t, NULL), CUZK_OK);
    }
    return 0;
}

static int destroy_pools(void **state)
{
    (void)state;
    for (unsigned t = 1; t <= 4; t++) {
        cuzk_pool_destroy(pools[t]);
    }
    return 0;
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_workspace),
        cmocka_unit_test(test_workspace_grows),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_kinds_of_bases),
        cmocka_unit_test(test_sparse_and_empty),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, make_pools, destroy_pools);
}
