/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk_msm against sums of discrete logarithms: every window size, every length near the edges,
 * scalars and bases of every kind, shared queries, base indices, threads (BC-044, BC-045, BC-046).
 */
#include "msm_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};
static cuzk_pool *pools[5]; /* of 1 … 4 threads */

/* One query over the first n scalars and bases. */
static void check(const test_bases *bases, const uint8_t *scalars, size_t n, unsigned window_bits,
                  cuzk_pool *pool, const char *what)
{
    cuzk_fr log;
    bases->curve->fr_from_u64(&log, 0);
    for (size_t i = 0; i < n; i++) {
        test_accumulate(bases->curve, &log, scalars + 32 * i, &bases->logs[i]);
    }
    cuzk_msm_query query = {.group = bases->group->id, .bases = bases->points};
    cuzk_msm_params params = {
        .scalars = scalars, .n = n, .queries = &query, .n_queries = 1, .window_bits = window_bits};
    test_run_msm(bases->curve, &params, pool);
    assert_sum_is(bases->curve, bases->group->id, &query.sum, &log, what, n);
}

static void test_every_window(void **state)
{
    (void)state;
    size_t n = msm_test_slow() ? 40 : 300;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        test_bases bases;
        test_bases_make(&bases, curve, CUZK_G1, n, BASES_SPRINKLED);
        for (unsigned bits = 2; bits <= (msm_test_slow() ? 10u : 16u); bits++) {
            for (int kind = 0; kind < SCALARS_KINDS; kind++) {
                uint8_t *scalars = msm_test_scalars(curve, n, (scalar_kind)kind);
                char what[64];
                snprintf(what, sizeof what, "window %u, scalars of kind %d", bits, kind);
                check(&bases, scalars, n, bits, pools[1 + bits % 2], what);
                free(scalars);
            }
        }
        test_bases_free(&bases);
    }
}

/* Scalars whose digits are all at the ends of their range, for every window size. */
static void test_extreme_digits(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        test_bases bases;
        test_bases_make(&bases, curve, CUZK_G1, 64, BASES_DISTINCT);
        for (unsigned bits = 2; bits <= (msm_test_slow() ? 6u : 16u); bits++) {
            uint8_t scalars[64 * 32];
            for (size_t i = 0; i < 64; i++) {
                /* half a window in each place, or one less or more: digits ±2^(c-1) */
                cuzk_fr a, term, two;
                curve->fr_from_u64(&a, 0);
                curve->fr_from_u64(&two, 2);
                for (unsigned w = 0; bits * w + bits - 1 < 253; w++) {
                    curve->fr_pow_u64(&term, &two, bits * w + bits - 1);
                    curve->fr_add(&a, &a, &term);
                }
                curve->fr_from_u64(&term, msm_test_below(4));
                curve->fr_sub(&a, &a, &term);
                if (i % 2 != 0) {
                    curve->fr_neg(&a, &a);
                }
                curve->fr_to_canonical_le(scalars + 32 * i, &a);
            }
            check(&bases, scalars, 64, bits, NULL, "extreme digits");
        }
        test_bases_free(&bases);
    }
}

/* Every length up to 64, a prime step beyond (every one at night). */
static void test_every_length(void **state)
{
    (void)state;
    size_t max = msm_test_slow() ? 66 : 1025;
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            test_bases bases;
            test_bases_make(&bases, curve, (cuzk_group_id)g, max, BASES_SERIES);
            uint8_t *scalars = msm_test_scalars(curve, max, SCALARS_MIXED);
            size_t step = msm_test_nightly() ? 1 : g == 0 ? 31 : 97;
            for (size_t n = 0; n <= max; n += n < 64 ? 1 : step) {
                check(&bases, scalars, n, 0, pools[1 + n % 4], "every length");
            }
            check(&bases, scalars, max, 0, pools[2], "every length");
            free(scalars);
            test_bases_free(&bases);
        }
    }
}

/* 2^k - 1, 2^k, 2^k + 1. */
static void test_powers_of_two(void **state)
{
    (void)state;
    unsigned top = msm_test_slow() ? 8 : 14;
    if (msm_test_nightly()) {
        top = msm_test_slow() ? 16 : 22;
    }
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            unsigned last = g == 0 ? top : top - 3;
            test_bases bases;
            size_t max = ((size_t)1 << last) + 1;
            test_bases_make(&bases, curve, (cuzk_group_id)g, max, BASES_DISTINCT);
            uint8_t *scalars = msm_test_scalars(curve, max, SCALARS_RANDOM);
            for (unsigned k = last > 12 ? 12 : 6; k <= last; k++) {
                for (size_t d = 0; d < 3; d++) {
                    check(&bases, scalars, ((size_t)1 << k) - 1 + d, 0, pools[1 + d], "2^k");
                }
            }
            free(scalars);
            test_bases_free(&bases);
        }
    }
}

/* n = 1 and 2 with every pair of edge scalars. */
static void test_one_and_two(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            test_bases bases;
            test_bases_make(&bases, curve, (cuzk_group_id)g, 2, BASES_DISTINCT);
            for (int i = 0; i < 40; i++) {
                uint8_t *scalars = msm_test_scalars(curve, 2, SCALARS_EDGES);
                check(&bases, scalars, 1 + (size_t)i % 2, i % 3 == 0 ? 5 : 0, NULL, "edges");
                free(scalars);
            }
            test_bases_free(&bases);
        }
    }
}

/* Equal, opposite and infinite bases, equal scalars: everything meets in one bucket. */
static void test_special_bases(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            size_t n = msm_test_slow() ? 150 : g == 0 ? 8192 : 2048;
            for (int kind = 0; kind < BASES_KINDS; kind++) {
                test_bases bases;
                test_bases_make(&bases, curve, (cuzk_group_id)g, n, (base_kind)kind);
                uint8_t *scalars = msm_test_scalars(curve, n, SCALARS_MIXED);
                check(&bases, scalars, n, 0, pools[2], "special bases, mixed scalars");
                for (size_t i = 1; i < n; i++) {
                    memcpy(scalars + 32 * i, scalars, 32);
                }
                check(&bases, scalars, n, 0, pools[3], "special bases, equal scalars");
                msm_test_scalar(curve, scalars, SCALARS_RANDOM);
                for (size_t i = 1; i < n; i++) {
                    memcpy(scalars + 32 * i, scalars, 32);
                }
                check(&bases, scalars, n, 0, pools[3], "special bases, equal random scalars");
                free(scalars);
                test_bases_free(&bases);
            }
        }
    }
}

/* Bits and small values over many bases: whole windows stay empty, single buckets hold all. */
static void test_small_scalars(void **state)
{
    (void)state;
    const scalar_kind kinds[] = {SCALARS_BITS, SCALARS_SMALL, SCALARS_SPARSE};
    size_t n = msm_test_slow() ? 200 : 20000;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    test_bases bases;
    test_bases_make(&bases, curve, CUZK_G1, n, BASES_DISTINCT);
    for (size_t k = 0; k < 3; k++) {
        uint8_t *scalars = msm_test_scalars(curve, n, kinds[k]);
        for (unsigned threads = 1; threads <= 4; threads++) {
            check(&bases, scalars, n, 0, pools[threads], "small scalars");
        }
        free(scalars);
    }
    uint8_t *zeros = calloc(n, 32);
    check(&bases, zeros, n, 0, pools[2], "zeros");
    check(&bases, zeros, n, 7, pools[2], "zeros");
    free(zeros);
    test_bases_free(&bases);
}

/* The same affine sum whatever the number of threads, byte for byte. */
static void test_threads(void **state)
{
    (void)state;
    size_t n = msm_test_slow() ? 100 : 3000;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        test_bases bases;
        test_bases_make(&bases, curve, CUZK_G1, n, BASES_DISTINCT);
        uint8_t *scalars = msm_test_scalars(curve, n, SCALARS_MIXED);
        cuzk_msm_query first = {0};
        for (unsigned threads = 1; threads <= 4; threads++) {
            cuzk_msm_query query = {.group = CUZK_G1, .bases = bases.points};
            cuzk_msm_params params = {
                .scalars = scalars, .n = n, .queries = &query, .n_queries = 1};
            test_run_msm(curve, &params, pools[threads]);
            if (threads == 1) {
                first = query;
            }
            assert_memory_equal(&query.sum, &first.sum, 3 * curve->g[CUZK_G1].coord_bytes);
        }
        free(scalars);
        test_bases_free(&bases);
    }
}

/* Four queries of both groups that share scalars, each with its own first index. */
static void check_queries(const cuzk_curve *curve, size_t n, size_t n_bases,
                          const uint32_t *base_index, const size_t *firsts)
{
    test_bases bases[4];
    cuzk_msm_query queries[4];
    uint8_t *scalars = msm_test_scalars(curve, n, SCALARS_MIXED);
    for (int q = 0; q < 4; q++) {
        size_t count = n_bases > firsts[q] ? n_bases - firsts[q] : 0;
        cuzk_group_id group = q == 2 ? CUZK_G2 : CUZK_G1;
        test_bases_make(&bases[q], curve, group, count, BASES_SPRINKLED);
        queries[q] = (cuzk_msm_query){.group = group, .bases = bases[q].points, .first = firsts[q]};
    }
    cuzk_msm_params params = {
        .scalars = scalars, .base_index = base_index, .n = n, .queries = queries, .n_queries = 4};
    test_run_msm(curve, &params, pools[2]);
    for (int q = 0; q < 4; q++) {
        cuzk_fr log;
        curve->fr_from_u64(&log, 0);
        for (size_t i = 0; i < n; i++) {
            size_t index = base_index != NULL ? base_index[i] : i;
            if (index >= firsts[q]) {
                test_accumulate(curve, &log, scalars + 32 * i, &bases[q].logs[index - firsts[q]]);
            }
        }
        assert_sum_is(curve, queries[q].group, &queries[q].sum, &log, "queries", n);
        test_bases_free(&bases[q]);
    }
    free(scalars);
}

static void test_queries(void **state)
{
    (void)state;
    const size_t firsts[][4] = {
        {0, 0, 0, 0}, {0, 5, 0, 1}, {0, 100, 3, 99}, {7, 8, 9, 10}, {0, 0, 400, 1000}};
    size_t n = msm_test_slow() ? 110 : 400;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
            check_queries(curve, n, n, NULL, firsts[f]);
            uint32_t *index = malloc(n * sizeof *index);
            uint32_t next = (uint32_t)msm_test_below(4);
            for (size_t i = 0; i < n; i++) {
                index[i] = next;
                next += 1 + (uint32_t)msm_test_below(3);
            }
            check_queries(curve, n, next, index, firsts[f]);
            free(index);
        }
    }
}

/* A few scalars, which take another way than many: alone, as the only ones that are not zero among
 * many, and listed with queries that begin behind some of them. */
static void test_few(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        for (int group = 0; group < 2; group++) {
            for (size_t n = 0; n <= 20; n += n < 10 && group == 0 ? 1 : 5) {
                base_kind bases_kind = (base_kind)(n % BASES_KINDS);
                scalar_kind kind = (scalar_kind)((n + c) % SCALARS_SPARSE);
                size_t n_bases = 3 * n + 1, spread = n % 2 == 0 ? 1 : 3;
                test_bases bases;
                test_bases_make(&bases, curve, (cuzk_group_id)group, n_bases, bases_kind);
                uint8_t *scalars = msm_test_scalars(curve, n, kind);
                uint32_t index[21];
                for (size_t i = 0; i < n; i++) {
                    index[i] = (uint32_t)(spread * i + n % 2);
                }
                for (size_t first = 0; first < n_bases; first += 1 + n) {
                    cuzk_msm_query query = {
                        .group = (cuzk_group_id)group, .bases = bases.points, .first = first};
                    cuzk_msm_params params = {.scalars = scalars,
                                              .base_index = index,
                                              .n = n,
                                              .queries = &query,
                                              .n_queries = 1};
                    cuzk_fr log;
                    curve->fr_from_u64(&log, 0);
                    for (size_t i = 0; i < n; i++) {
                        if (index[i] >= first) {
                            test_accumulate(curve, &log, scalars + 32 * i,
                                            &bases.logs[index[i] - first]);
                        }
                    }
                    test_run_msm(curve, &params, pools[1 + n % 3]);
                    assert_sum_is(curve, (cuzk_group_id)group, &query.sum, &log, "few, listed", n);
                }
                /* the same among zeros */
                uint8_t *among = calloc(n_bases, 32);
                cuzk_fr log;
                curve->fr_from_u64(&log, 0);
                for (size_t i = 0; i < n; i++) {
                    memcpy(among + 32 * (size_t)index[i], scalars + 32 * i, 32);
                    test_accumulate(curve, &log, scalars + 32 * i, &bases.logs[index[i]]);
                }
                cuzk_msm_query query = {.group = (cuzk_group_id)group, .bases = bases.points};
                cuzk_msm_params params = {
                    .scalars = among, .n = n_bases, .queries = &query, .n_queries = 1};
                test_run_msm(curve, &params, pools[1 + n % 3]);
                assert_sum_is(curve, (cuzk_group_id)group, &query.sum, &log, "few among zeros", n);
                free(among);
                free(scalars);
                test_bases_free(&bases);
            }
        }
    }
}

static void test_arguments(void **state)
{
    (void)state;
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    cuzk_msm_query query = {.group = CUZK_G1};
    cuzk_msm_params params = {.queries = &query, .n_queries = 1, .window_bits = 17};
    cuzk_error err = {0};
    assert_int_equal(cuzk_msm(curve, &params, NULL, 0, NULL, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "17"));
    params.window_bits = 1;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_msm(curve, &params, NULL, 0, NULL, &err), CUZK_E_ARGUMENT);
    params.window_bits = 0;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_msm_workspace_bytes(curve, &params, NULL), 0);
    assert_int_equal(cuzk_msm(curve, &params, NULL, 0, NULL, &err), CUZK_OK);
    assert_true(curve->g[CUZK_G1].is_infinity(&query.sum));
    uint8_t scalars[40 * 32], bases[40 * 64] = {0}, ws[4096];
    memset(scalars, 1, sizeof scalars);
    params.scalars = scalars;
    params.n = 40;
    query.bases = bases;
    assert_int_equal(cuzk_msm(curve, &params, ws, sizeof ws, NULL, &err), CUZK_E_SHORT_BUFFER);
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

/* Reports come with each tile; one that says no ends the sum. Scalars are zero and bases untouched:
 * no memory is behind them. */
typedef struct {
    unsigned n, stop_at;
    double last;
} reports;

static bool on_report(void *ctx, const char *stage, double done)
{
    reports *r = ctx;
    (void)stage;
    assert_true(done >= r->last && done < 1);
    r->last = done;
    return ++r->n != r->stop_at;
}

static void test_reports(void **state)
{
    (void)state;
    enum { TILE = 1 << 22 };
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    size_t n = 2 * TILE + 1;
    uint8_t *scalars = calloc(n, 32), *bases = calloc(n, curve->g[CUZK_G1].affine_bytes);
    cuzk_msm_query query = {.group = CUZK_G1, .bases = bases};
    for (unsigned stop_at = 0; stop_at <= 3; stop_at++) {
        reports r = {.stop_at = stop_at};
        cuzk_reporter reporter = {on_report, &r};
        cuzk_msm_params params = {
            .scalars = scalars, .n = n, .queries = &query, .n_queries = 1, .reporter = &reporter};
        size_t ws_bytes = cuzk_msm_workspace_bytes(curve, &params, pools[1]);
        void *ws = aligned_alloc(64, (ws_bytes + 63) / 64 * 64);
        cuzk_error err = {0};
        assert_int_equal(cuzk_msm(curve, &params, ws, ws_bytes, pools[1], &err),
                         stop_at == 0 ? CUZK_OK : CUZK_E_CANCELLED);
        assert_int_equal(r.n, stop_at == 0 ? 3 : stop_at);
        free(ws);
    }
    free(scalars);
    free(bases);
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),     cmocka_unit_test(test_one_and_two),
        cmocka_unit_test(test_every_window),  cmocka_unit_test(test_extreme_digits),
        cmocka_unit_test(test_every_length),  cmocka_unit_test(test_powers_of_two),
        cmocka_unit_test(test_special_bases), cmocka_unit_test(test_small_scalars),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_queries),
        cmocka_unit_test(test_few),           cmocka_unit_test(test_reports),
    };
    return cmocka_run_group_tests(tests, make_pools, destroy_pools);
}
