/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What msm.h promises beside the right sum: workspaces of exactly the size that is told, before
 * a page that cannot be touched; results that do not depend on the number of threads, byte
 * for byte; inputs that are only read, at any alignment, not a byte behind them; and sums against
 * chord and tangent on whole numbers (tests/curve/affine_reference.h), which share no formula. */
#include "curve/affine_reference.h"
#include "fence.h"
#include "msm_test.h"
#include "pools.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

static void to_affine(const cuzk_group *g, uint8_t out[192], const cuzk_jac *sum)
{
    memset(out, 0, 192);
    g->to_affine(out, sum);
}

/* One sum with everything fenced in; the affine result. */
static void fenced_msm(const test_bases *bases, const uint8_t *scalars, size_t n, unsigned bits,
                       cuzk_pool *pool, uint8_t out[192])
{
    fenced s = fenced_copy(scalars, 32 * n);
    fenced b = fenced_copy(bases->points, n * bases->group->affine_bytes);
    cuzk_msm_query query = {.group = bases->group->id, .bases = b.at};
    cuzk_msm_params params = {
        .scalars = s.at, .n = n, .queries = &query, .n_queries = 1, .window_bits = bits};
    size_t ws_bytes = cuzk_msm_workspace_bytes(bases->curve, &params, pool);
    assert_int_equal(ws_bytes % 64, 0); /* so that the end of a page leaves it aligned */
    fenced ws = fence(ws_bytes);
    cuzk_error err = {0};
    memset(ws.at, 0xa5, ws_bytes);
    if (ws_bytes != 0) {
        assert_int_equal(cuzk_msm(bases->curve, &params, ws.at, ws_bytes - 1, pool, &err),
                         CUZK_E_SHORT_BUFFER);
        cuzk_error_clear(&err);
    }
    assert_int_equal(cuzk_msm(bases->curve, &params, ws.at, ws_bytes, pool, &err), CUZK_OK);
    to_affine(bases->group, out, &query.sum);
    unfence(&ws);
    unfence(&b);
    unfence(&s);
}

static void test_fences(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 8, 9, 31, 64, 67, 200};
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        for (int group = 0; group < 2; group++) {
            test_bases bases;
            test_bases_make(&bases, curve, (cuzk_group_id)group, 200, BASES_SPRINKLED);
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                if (msm_test_slow() && sizes[i] > 67) {
                    break;
                }
                size_t n = sizes[i];
                uint8_t *scalars = msm_test_scalars(curve, n, SCALARS_MIXED);
                cuzk_fr log;
                curve->fr_from_u64(&log, 0);
                for (size_t k = 0; k < n; k++) {
                    test_accumulate(curve, &log, scalars + 32 * k, &bases.logs[k]);
                }
                uint8_t first[192], again[192];
                unsigned bits = i % 3 == 0 ? 0 : 2 + (unsigned)msm_test_below(9);
                for (unsigned t = 1; t <= 5; t++) {
                    fenced_msm(&bases, scalars, n, bits, pools[t], t == 1 ? first : again);
                    assert_true(t == 1 || memcmp(first, again, sizeof first) == 0);
                }
                cuzk_jac sum;
                bases.group->from_affine(&sum, first);
                assert_sum_is(curve, bases.group->id, &sum, &log, "fenced sum", n);
                free(scalars);
            }
            test_bases_free(&bases);
        }
    }
}

/* The same for sums of selected bases. */
static void test_bit_sum_fences(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 65, 129, 2047, 2048, 2049, 4500};
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    test_bases bases;
    test_bases_make(&bases, curve, CUZK_G1, 4500, BASES_SPRINKLED);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i], n_words = (n + 63) / 64, first = n / 5;
        if (msm_test_slow() && n > 2049) {
            break;
        }
        uint64_t *map = calloc(n_words, 8);
        cuzk_fr log;
        curve->fr_from_u64(&log, 0);
        for (size_t k = 0; k < n; k++) {
            if (msm_test_below(3) == 0) {
                map[k / 64] |= (uint64_t)1 << (k % 64);
                if (k >= first) {
                    curve->fr_add(&log, &log, &bases.logs[k - first]);
                }
            }
        }
        fenced bits = fenced_copy(map, 8 * n_words);
        fenced b = fenced_copy(bases.points, (n - first) * bases.group->affine_bytes);
        uint8_t one[192], found[192];
        for (unsigned t = 1; t <= 5; t++) {
            cuzk_msm_query query = {.group = CUZK_G1, .bases = b.at, .first = first};
            size_t ws_bytes = cuzk_bit_sum_workspace_bytes(curve, n, 1, pools[t]);
            assert_int_equal(ws_bytes % 64, 0);
            fenced ws = fence(ws_bytes);
            memset(ws.at, 0xa5, ws_bytes);
            cuzk_error err = {0};
            cuzk_bit_sum_params params = {.bitmap = (const uint64_t *)(void *)bits.at,
                                          .n = n,
                                          .queries = &query,
                                          .n_queries = 1};
            assert_int_equal(cuzk_bit_sum(curve, &params, ws.at, ws_bytes, pools[t], &err),
                             CUZK_OK);
            assert_sum_is(curve, CUZK_G1, &query.sum, &log, "fenced sum of bits", n);
            to_affine(bases.group, t == 1 ? one : found, &query.sum);
            assert_true(t == 1 || memcmp(one, found, sizeof one) == 0);
            unfence(&ws);
        }
        unfence(&b);
        unfence(&bits);
        free(map);
    }
    test_bases_free(&bases);
}

/* The kernels: workspace, entries, bounds, bases and results fenced in, results of every count. */
static void test_kernel_fences(void **state)
{
    (void)state;
    enum { N_BASES = 30, N_MAX = 67 };
    for (size_t c = 0; c < 2; c++) {
        for (int group = 0; group < 2; group++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            const cuzk_sum_kernel *k = cuzk_sum_kernel_get(curve->id, (cuzk_group_id)group);
            const cuzk_group *g = &curve->g[group];
            test_bases bases;
            test_bases_make(&bases, curve, (cuzk_group_id)group, N_BASES, BASES_SPRINKLED);
            fenced b = fenced_copy(bases.points, N_BASES * g->affine_bytes);
            size_t ws_bytes = (k->workspace_bytes + 63) / 64 * 64;
            fenced ws = fence(ws_bytes);
            for (size_t n = 1; n <= N_MAX; n += msm_test_slow() ? 11 : 3) {
                uint32_t bounds[N_MAX + 1] = {0}, entries[N_MAX * 40];
                for (size_t s = 0; s < n; s++) {
                    size_t length = msm_test_below(5) == 0 ? 35 : msm_test_below(4);
                    bounds[s + 1] = bounds[s] + (uint32_t)length;
                    for (uint32_t i = bounds[s]; i < bounds[s + 1]; i++) {
                        entries[i] = (uint32_t)msm_test_below(2 * N_BASES);
                    }
                }
                fenced e = fenced_copy(entries, bounds[n] * sizeof *entries);
                fenced bd = fenced_copy(bounds, (n + 1) * sizeof *bounds);
                fenced sums = fence((n * k->point_bytes + 63) / 64 * 64);
                fenced out = fence(n * g->affine_bytes);
                memset(ws.at, 0xa5, ws_bytes);
                k->segment_sums(sums.at, b.at, false, (const uint32_t *)(void *)e.at,
                                (const uint32_t *)(void *)bd.at, n, ws.at);
                k->to_affine(out.at, sums.at, n);
                for (size_t s = 0; s < n; s++) {
                    cuzk_fr log;
                    cuzk_jac sum;
                    curve->fr_from_u64(&log, 0);
                    for (uint32_t i = bounds[s]; i < bounds[s + 1]; i++) {
                        (entries[i] & 1 ? curve->fr_sub
                                        : curve->fr_add)(&log, &log, &bases.logs[entries[i] >> 1]);
                    }
                    g->from_affine(&sum, out.at + s * g->affine_bytes);
                    assert_sum_is(curve, (cuzk_group_id)group, &sum, &log, "segment", s);
                }
                unfence(&out);
                unfence(&sums);
                unfence(&bd);
                unfence(&e);
            }
            unfence(&ws);
            unfence(&b);
            test_bases_free(&bases);
        }
    }
}

/* Fixed-base products around the number that a task takes, into memory that ends with them; the
 * same bytes whatever the threads, and one product alone the same as among many. */
static void test_fixed_base_fences(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 67, 1023, 1024, 1025, 2050};
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        cuzk_group_id group = c == 0 ? CUZK_G1 : CUZK_G2;
        const cuzk_group *g = &curve->g[group];
        cuzk_affine base, single;
        cuzk_fixed_base *table = NULL;
        g->generator(&base);
        assert_int_equal(cuzk_fixed_base_create(&table, curve, group, &base, 3, pools[2], NULL),
                         CUZK_OK);
        memset(&base, 0, sizeof base); /* not kept */
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            size_t n = sizes[i];
            if (msm_test_slow() && n > 67) {
                break;
            }
            cuzk_fr *scalars = malloc((n + 1) * sizeof *scalars);
            uint8_t *plain = msm_test_scalars(curve, n, SCALARS_MIXED);
            curve->fr_batch_from_canonical(scalars, plain, n);
            fenced s = fenced_copy(scalars, n * sizeof *scalars), first = {0};
            for (unsigned t = 1; t <= 5; t++) {
                fenced out = fence(n * g->affine_bytes);
                assert_int_equal(cuzk_fixed_base_mul(table, out.at,
                                                     (const cuzk_fr *)(const void *)s.at, n,
                                                     pools[t], NULL),
                                 CUZK_OK);
                if (t == 1) {
                    first = out;
                } else {
                    assert_int_equal(memcmp(out.at, first.at, n * g->affine_bytes), 0);
                    unfence(&out);
                }
            }
            for (size_t k = 0; k < n; k += 1 + n / 5) {
                assert_int_equal(cuzk_fixed_base_mul(table, &single, &scalars[k], 1, NULL, NULL),
                                 CUZK_OK);
                assert_memory_equal(&single, first.at + k * g->affine_bytes, g->affine_bytes);
            }
            unfence(&first);
            unfence(&s);
            free(plain);
            free(scalars);
        }
        cuzk_fixed_base_destroy(table);
    }
}

/* Small scalars over points of which many are equal, opposite and infinite: every multiple of every
 * point by chord and tangent, then every sum. Windows from 2 to 5 bits put them in all buckets. */
static void test_textbook(void **state)
{
    (void)state;
    enum { N_POINTS = 6, N = 40, MULTIPLES = 33 };
    for (size_t c = 0; c < 2; c++) {
        for (int group = 0; group < 2; group++) {
            const cuzk_curve *curve = cuzk_curve_get(curves[c]);
            const cuzk_group *g = &curve->g[group];
            ref_group ref;
            ref_group_init(&ref, curve, (cuzk_group_id)group);
            /* infinity, P, -P, 2P, 3P, P again; and 0 … 32 times each */
            cuzk_affine packed[N_POINTS];
            ref_point multiple[N_POINTS][MULTIPLES];
            g->generator(&packed[1]);
            ref_point p = ref_load(&ref, &packed[1]);
            ref_point points[N_POINTS] = {{.infinity = true}, p, ref_neg(&ref, &p)};
            points[3] = ref_add(&ref, &p, &p);
            points[4] = ref_add(&ref, &points[3], &p);
            points[5] = p;
            for (int i = 0; i < N_POINTS; i++) {
                ref_store(&ref, &packed[i], &points[i]);
                multiple[i][0] = points[0];
                for (int m = 1; m < MULTIPLES; m++) {
                    multiple[i][m] = ref_add(&ref, &multiple[i][m - 1], &points[i]);
                }
            }
            for (unsigned bits = 2; bits <= 5; bits++) {
                uint8_t scalars[N * 32], bases[N * sizeof(cuzk_affine)], found[192], want[192];
                ref_point expected = points[0];
                for (size_t i = 0; i < N; i++) {
                    size_t which = msm_test_below(N_POINTS);
                    uint64_t m = msm_test_below(MULTIPLES);
                    big value = big_of(m);
                    ref_point term = multiple[which][m];
                    if (msm_test_below(3) == 0) {
                        value = big_sub_mod(&ref.r, &value, &ref.r);
                        term = ref_neg(&ref, &term);
                    }
                    expected = ref_add(&ref, &expected, &term);
                    big_to_le(scalars + 32 * i, 32, &value);
                    memcpy(bases + i * g->affine_bytes, &packed[which], g->affine_bytes);
                }
                cuzk_msm_query query = {.group = (cuzk_group_id)group, .bases = bases};
                cuzk_msm_params params = {.scalars = scalars,
                                          .n = N,
                                          .queries = &query,
                                          .n_queries = 1,
                                          .window_bits = bits};
                test_run_msm(curve, &params, pools[1 + bits % 5]);
                to_affine(g, found, &query.sum);
                memset(want, 0, sizeof want);
                ref_store(&ref, want, &expected);
                assert_memory_equal(found, want, sizeof want);
            }
        }
    }
}

/* A sum is linear: twice the scalars, the sum of two lists, the list in another order and in two
 * parts give what they should. */
static void test_linear(void **state)
{
    (void)state;
    enum { N = 60 };
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        const cuzk_group *g = &curve->g[CUZK_G1];
        test_bases bases;
        test_bases_make(&bases, curve, CUZK_G1, N, BASES_SPRINKLED);
        uint8_t *a = msm_test_scalars(curve, N, SCALARS_EDGES);
        uint8_t *b = msm_test_scalars(curve, N, SCALARS_RANDOM), sum[N * 32], back[N * 32];
        uint8_t *turned = malloc(N * g->affine_bytes);
        for (size_t i = 0; i < N; i++) {
            cuzk_fr x, y;
            assert_true(curve->fr_from_canonical_le(&x, a + 32 * i));
            assert_true(curve->fr_from_canonical_le(&y, b + 32 * i));
            curve->fr_add(&x, &x, &y);
            curve->fr_to_canonical_le(sum + 32 * i, &x);
            memcpy(back + 32 * (N - 1 - i), a + 32 * i, 32);
            memcpy(turned + (N - 1 - i) * g->affine_bytes, bases.points + i * g->affine_bytes,
                   g->affine_bytes);
        }
        struct {
            const uint8_t *scalars;
            const void *points;
            size_t n;
            cuzk_jac sum;
        } runs[] = {
            {.scalars = a, .points = bases.points, .n = N},
            {.scalars = b, .points = bases.points, .n = N},
            {.scalars = sum, .points = bases.points, .n = N},
            {.scalars = back, .points = turned, .n = N},
            {.scalars = a, .points = bases.points, .n = N / 3},
            {.scalars = a + 32 * (N / 3),
             .points = bases.points + N / 3 * g->affine_bytes,
             .n = N - N / 3},
        };
        for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
            cuzk_msm_query query = {.group = CUZK_G1, .bases = runs[i].points};
            cuzk_msm_params params = {.scalars = runs[i].scalars,
                                      .n = runs[i].n,
                                      .queries = &query,
                                      .n_queries = 1,
                                      .window_bits = 3 + (unsigned)i};
            test_run_msm(curve, &params, pools[1 + i % 5]);
            runs[i].sum = query.sum;
        }
        cuzk_jac t;
        g->add(&t, &runs[0].sum, &runs[1].sum);
        assert_true(g->eq(&t, &runs[2].sum));
        assert_true(g->eq(&runs[0].sum, &runs[3].sum));
        g->add(&t, &runs[4].sum, &runs[5].sum);
        assert_true(g->eq(&t, &runs[0].sum));
        free(turned);
        free(a);
        free(b);
        test_bases_free(&bases);
    }
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_bit_sum_fences),
        cmocka_unit_test(test_kernel_fences),
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_fixed_base_fences),
        cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests_name("msm contract", tests, make_pools, destroy_pools);
}
