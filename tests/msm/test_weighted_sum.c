/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The bucket reduction by itself: Σ b·B_b through every level of splitting, for all sizes, with
 * slots that are empty and hold anything, on every CPU path, against discrete logarithms. */
#include "msm_test.h"

#include "msm/msm_internal.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

static void *buffer(size_t n_bytes)
{
    void *p = aligned_alloc(64, (n_bytes + 127) / 64 * 64);
    assert_non_null(p);
    memset(p, 0xa5, n_bytes); /* what is not written must not matter */
    return p;
}

static cuzk_weighted weighted(const cuzk_sum_kernel *kernel, size_t n_problems, unsigned k)
{
    cuzk_weighted w = {.n_problems = n_problems, .k = k};
    w.points = buffer((n_problems << k) * kernel->point_bytes);
    w.full = buffer((n_problems << k) + 1);
    w.full[n_problems << k] = 0x77; /* a byte behind */
    return w;
}

static void free_weighted(cuzk_weighted *w)
{
    assert_int_equal(w->full[w->n_problems << w->k], 0x77);
    free(w->points);
    free(w->full);
}

/* The value of a problem of the last level, B_1 + 2·B_2, or of one above from its two parts. */
static void value_of(const cuzk_group *g, const cuzk_sum_kernel *kernel,
                     const cuzk_weighted *levels, size_t level, size_t last, size_t problem,
                     cuzk_jac *out)
{
    const cuzk_weighted *w = &levels[level];
    if (level == last) {
        g->set_infinity(out);
        for (size_t b = 2; b >= 1; b--) { /* B_2, then B_2 + (B_1 + B_2) */
            size_t slot = 2 * problem + b - 1;
            cuzk_affine point;
            g->add(out, out, out);
            if (w->full[slot]) {
                kernel->to_affine(&point, (char *)w->points + slot * kernel->point_bytes, 1);
                g->add_affine(out, out, &point);
            }
        }
        return;
    }
    cuzk_jac high;
    value_of(g, kernel, levels, level + 1, last, 2 * problem, out);
    value_of(g, kernel, levels, level + 1, last, 2 * problem + 1, &high);
    for (unsigned i = 0; i < w->k - levels[level + 1].k; i++) {
        g->dbl(&high, &high);
    }
    g->add(out, out, &high);
}

static void check(const cuzk_curve *curve, cuzk_group_id group, size_t n_problems, unsigned k,
                  size_t full_in, cuzk_pool *pool)
{
    const cuzk_sum_kernel *kernel = cuzk_sum_kernel_get(curve->id, group);
    const cuzk_group *g = &curve->g[group];
    unsigned n_threads = cuzk_pool_threads(pool);
    size_t n_slots = n_problems << k, n_levels = cuzk_weighted_levels(k);
    cuzk_weighted levels[8];
    test_bases bases;
    test_bases_make(&bases, curve, group, n_slots, BASES_SPRINKLED);
    cuzk_thread_ws threads[5];
    for (unsigned t = 0; t < n_threads; t++) {
        threads[t].kernel = buffer(kernel->workspace_bytes);
        threads[t].entries = buffer(CUZK_WEIGHTED_ENTRIES * sizeof(uint32_t));
        threads[t].bounds = buffer((CUZK_WEIGHTED_SEGMENTS + 1) * sizeof(uint32_t));
    }
    levels[0] = weighted(kernel, n_problems, k);
    cuzk_fr *expected = calloc(n_problems, sizeof *expected);
    for (size_t slot = 0; slot < n_slots; slot++) {
        uint32_t entry = (uint32_t)slot << 1, bounds[2] = {0, 1};
        levels[0].full[slot] = msm_test_below(full_in) == 0;
        if (levels[0].full[slot]) {
            cuzk_fr weight;
            size_t problem = slot >> k;
            kernel->segment_sums((char *)levels[0].points + slot * kernel->point_bytes,
                                 bases.points, false, &entry, bounds, 1, threads[0].kernel);
            curve->fr_from_u64(&weight, (slot & (((size_t)1 << k) - 1)) + 1);
            curve->fr_mul(&weight, &weight, &bases.logs[slot]);
            curve->fr_add(&expected[problem], &expected[problem], &weight);
        }
    }
    for (size_t level = 1; level <= n_levels; level++) {
        const cuzk_weighted *in = &levels[level - 1];
        levels[level] = weighted(kernel, 2 * in->n_problems, cuzk_weighted_next(in->k));
        cuzk_weighted_split(kernel, in, &levels[level], threads, pool);
        for (size_t slot = 0; slot < levels[level].n_problems << levels[level].k; slot++) {
            assert_true(levels[level].full[slot] <= 1); /* every flag is written */
        }
    }
    assert_int_equal(levels[n_levels].k, 1);
    for (size_t problem = 0; problem < n_problems; problem++) {
        cuzk_jac sum;
        value_of(g, kernel, levels, 0, n_levels, problem, &sum);
        assert_sum_is(curve, group, &sum, &expected[problem], "weighted sum", k);
    }
    for (size_t level = 0; level <= n_levels; level++) {
        free_weighted(&levels[level]);
    }
    for (unsigned t = 0; t < n_threads; t++) {
        free(threads[t].kernel);
        free(threads[t].entries);
        free(threads[t].bounds);
    }
    free(expected);
    test_bases_free(&bases);
}

static void test_sizes(void **state)
{
    (void)state;
    unsigned k_max = msm_test_slow() ? 6 : 9;
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        for (unsigned k = 1; k <= k_max; k++) {
            for (size_t full_in = 1; full_in <= 25; full_in *= 5) {
                check(curve, CUZK_G1, 1 + k % 3, k, full_in, NULL);
            }
            check(curve, CUZK_G2, 1, k < 6 ? k : 6, 2, NULL);
        }
    }
}

/* Tasks of several slots, and several of them, by 1 to 5 threads. */
static void test_threads(void **state)
{
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 5; n_threads += 2) {
        cuzk_pool *pool;
        assert_int_equal(cuzk_pool_create(&pool, n_threads, NULL), CUZK_OK);
        check(cuzk_curve_get(CUZK_CURVE_BN254), CUZK_G1, 3, msm_test_slow() ? 6 : 11, 2, pool);
        cuzk_pool_destroy(pool);
    }
}

/* ⌈k/2⌉ down to 1. */
static void test_levels(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 40; k++) {
        unsigned levels = 0, left = k;
        do {
            assert_int_equal(cuzk_weighted_next(left), left == 1 ? 1 : (left + 1) / 2);
            left = cuzk_weighted_next(left);
            levels++;
        } while (left > 1);
        assert_int_equal(cuzk_weighted_levels(k), levels);
    }
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("weighted sums", tests, NULL, NULL);
}
