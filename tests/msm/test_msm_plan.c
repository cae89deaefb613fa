/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The layout of the workspace of cuzk_msm: nothing overlaps, nothing lies behind the end, limits
 * are kept; how entries are cut into tasks; and what the functions that tell the workspace promise.
 */
#include "msm_test.h"

#include "msm/msm_plan.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

/* ---- tasks ---- */

static void check_tasks(size_t n, unsigned n_threads)
{
    static uint32_t begins[3000];
    size_t n_tasks = cuzk_msm_tasks(n, n_threads, NULL);
    assert_true(n_tasks + 1 < sizeof begins / sizeof begins[0]);
    begins[n_tasks + 1] = 0x5a5a5a5a;
    assert_int_equal(cuzk_msm_tasks(n, n_threads, begins), n_tasks);
    assert_int_equal(begins[n_tasks + 1], 0x5a5a5a5a);
    assert_int_equal(begins[0], 0);
    assert_int_equal(begins[n_tasks], n);
    assert_true(n_threads != 1 || n_tasks == (n != 0));
    for (size_t i = 0; i < n_tasks; i++) {
        uint32_t size = begins[i + 1] - begins[i];
        assert_true(begins[i + 1] > begins[i]);
        if (n_threads > 1) {
            assert_true(size <= CUZK_MSM_TASK_MAX);
            assert_true(size >= CUZK_MSM_TASK_MIN || i + 1 == n_tasks);
            assert_true(i == 0 || size <= begins[i] - begins[i - 1]); /* smaller and smaller */
        }
    }
}

static void test_tasks(void **state)
{
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 33; n_threads += n_threads < 5 ? 1 : 14) {
        for (size_t k = 0; k <= 5; k++) { /* around multiples of the bounds */
            size_t edges[2] = {k * CUZK_MSM_TASK_MIN, k * CUZK_MSM_TASK_MAX};
            for (size_t j = 0; j < 6; j++) {
                size_t n = edges[j % 2] + j / 2;
                check_tasks(n > 0 ? n - 1 : 0, n_threads);
            }
        }
        size_t before = 0;
        for (size_t n = 0; n < (size_t)1 << 24; n += n / 97 + 1 + msm_test_below(50)) {
            size_t n_tasks = cuzk_msm_tasks(n, n_threads, NULL);
            assert_true(n_tasks >= before); /* a group with fewer entries fits the same layout */
            before = n_tasks;
            check_tasks(n, n_threads);
        }
    }
}

/* ---- layouts ---- */

typedef struct {
    const char *name;
    size_t at, bytes;
} region;

static int by_place(const void *a, const void *b)
{
    const region *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void check_layout(const cuzk_msm_layout *l, const cuzk_curve *curve,
                         const cuzk_msm_query *queries, size_t n_queries, size_t n,
                         unsigned n_threads)
{
    size_t point = 0, kernel = 0, buckets = (size_t)l->group << (l->bits - 1);
    for (size_t q = 0; q < n_queries; q++) {
        const cuzk_sum_kernel *k = cuzk_sum_kernel_get(curve->id, queries[q].group);
        point = k->point_bytes > point ? k->point_bytes : point;
        kernel = k->workspace_bytes > kernel ? k->workspace_bytes : kernel;
    }
    assert_true(l->group >= 1 && l->group <= l->n_windows);
    assert_true(l->pitch >= n);
    assert_true(l->kernel_ws >= kernel);
    assert_int_equal(l->n_tasks, cuzk_msm_tasks(l->group * n, n_threads, NULL));
    size_t counters = (size_t)n_threads * CUZK_MSM_LENGTHS;
    size_t ranges = (n + CUZK_MSM_RANGE - 1) / CUZK_MSM_RANGE;
    counters = counters > ranges ? counters : ranges;
    region regions[] = {
        {"digits", l->digits, l->n_windows * l->pitch * sizeof(int16_t)},
        {"index", l->index, n * sizeof(uint32_t)},
        {"nonzero", l->nonzero, l->n_windows * sizeof(uint32_t)},
        {"counters", l->counters, counters * sizeof(uint32_t)},
        {"entries", l->entries, l->group * n * sizeof(uint32_t)},
        {"bounds", l->bounds, (buckets + 1) * sizeof(uint32_t)},
        {"full", l->full, buckets},
        {"buckets", l->buckets, (buckets + l->n_tasks) * point},
        {"begins", l->begins, (l->n_tasks + 1) * sizeof(uint32_t)},
        {"tails", l->tails, l->n_tasks * sizeof(uint32_t)},
        {"joined", l->joined, point},
        {"threads", l->threads, n_threads * sizeof(cuzk_thread_ws)},
        {"thread_ws", l->thread_ws,
         n_threads * (kernel + (CUZK_WEIGHTED_ENTRIES + CUZK_WEIGHTED_SEGMENTS + 1) * 4)},
        {"sums", l->sums, n_queries * l->sums_bytes},
        {"sums_full", l->sums_full, n_queries * l->sums_full_bytes},
        {"finals", l->finals, n_queries * l->finals_bytes},
        {"kernels", l->kernels, n_queries * sizeof(const cuzk_sum_kernel *)},
    };
    size_t n_regions = sizeof regions / sizeof regions[0];
    qsort(regions, n_regions, sizeof regions[0], by_place);
    for (size_t i = 0; i < n_regions; i++) {
        size_t end = regions[i].at + regions[i].bytes;
        assert_int_equal(regions[i].at % 64, 0);
        if (end > (i + 1 < n_regions ? regions[i + 1].at : l->total)) {
            fail_msg("%zu scalars, windows of %u bits: %s reaches into %s", n, l->bits,
                     regions[i].name, i + 1 < n_regions ? regions[i + 1].name : "nothing");
        }
    }
    /* the levels of the reduction, as many slots as the splits make */
    size_t slots = 0, problems = l->n_windows;
    unsigned k = l->bits - 1;
    for (unsigned level = cuzk_weighted_levels(k); level > 0; level--) {
        k = cuzk_weighted_next(k);
        problems *= 2;
        slots += problems << k;
    }
    assert_int_equal(k, 1);
    assert_true(l->sums_bytes >= slots * point && l->sums_bytes % 64 == 0);
    assert_true(l->sums_full_bytes >= slots);
    assert_true(l->finals_bytes >= 2 * problems * curve->g[CUZK_G2].affine_bytes);
}

static void test_layouts(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 9, 100, 4096, 4097, 65536, 1000000, CUZK_MSM_TILE};
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        cuzk_msm_query queries[3] = {{.group = CUZK_G1}, {.group = CUZK_G2}, {.group = CUZK_G1}};
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (unsigned bits = 0; bits <= 16; bits += bits == 0 ? 2 : 1) {
                for (unsigned variant = 0; variant < 9; variant++) {
                    unsigned n_threads = 1 + 2 * (variant % 3);
                    size_t n_queries = 1 + variant / 3;
                    uint32_t lengths[CUZK_MSM_LENGTHS] = {0};
                    /* all long, all short, some of each */
                    lengths[variant % 2 ? 9 : 253] = (uint32_t)(sizes[i] - sizes[i] / 2);
                    lengths[variant == 4 ? 0 : 17] += (uint32_t)(sizes[i] / 2);
                    cuzk_msm_layout l, tight;
                    assert_true(cuzk_msm_plan(&l, curve, queries, n_queries, lengths, sizes[i],
                                              SIZE_MAX, bits, n_threads));
                    assert_true(bits == 0 || l.bits == bits);
                    check_layout(&l, curve, queries, n_queries, sizes[i], n_threads);

                    /* exactly as many bytes do, too; one less changes the plan or ends it */
                    assert_true(cuzk_msm_plan(&tight, curve, queries, n_queries, lengths, sizes[i],
                                              l.total, bits, n_threads));
                    assert_memory_equal(&tight, &l, sizeof l);
                    size_t limit = l.total - 1;
                    while (cuzk_msm_plan(&tight, curve, queries, n_queries, lengths, sizes[i],
                                         limit, bits, n_threads)) {
                        assert_true(tight.total <= limit);
                        check_layout(&tight, curve, queries, n_queries, sizes[i], n_threads);
                        limit = tight.total - tight.total / 8 - 1;
                    }
                }
            }
        }
    }
}

/* ---- what is told to callers ---- */

static void test_workspace(void **state)
{
    (void)state;
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
    for (size_t c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        cuzk_msm_query queries[2] = {{.group = CUZK_G1}, {.group = CUZK_G2}};
        for (unsigned variant = 0; variant < 4; variant++) {
            cuzk_pool *used = variant % 2 ? pool : NULL;
            cuzk_msm_params params = {.queries = queries + variant / 2, .n_queries = 1};
            size_t most = 0, largest = 0;
            for (size_t n = 0; n < (size_t)1 << 24; n += n / 11 + 1) {
                params.n = n;
                size_t bytes = cuzk_msm_workspace_bytes(curve, &params, used);
                assert_true((bytes == 0) == (n <= CUZK_MSM_FEW));
                most = bytes > most ? bytes : most;
                /* enough for any smaller number as well */
                assert_true(cuzk_msm_workspace_bytes_max(curve, &params, used) >= most);
                if (n >= CUZK_MSM_TILE) { /* no more from here on */
                    largest = largest == 0 ? bytes : largest;
                    assert_int_equal(bytes, largest);
                }
            }
            assert_true(most < (size_t)700 << 20);
        }
        cuzk_msm_params params = {.queries = queries, .n_queries = 1, .n = (size_t)1 << 18};
        size_t bytes = cuzk_msm_workspace_bytes(curve, &params, NULL);
        assert_in_range(bytes, (size_t)12 << 20, (size_t)36 << 20); /* "about 24 MB" */
    }
    cuzk_pool_destroy(pool);
}

/* Kernels of every path that this machine has, and none of others. */
static void test_kernels(void **state)
{
    (void)state;
    for (int path = 0; path < CUZK_CPU_PATH_COUNT; path++) {
        for (size_t i = 0; i < 4; i++) {
            cuzk_curve_id id = curves[i / 2];
            const cuzk_sum_kernel *k =
                cuzk_sum_kernel_get_path(id, (cuzk_group_id)(i % 2), (cuzk_cpu_path)path);
            assert_true((k != NULL) == cuzk_cpu_supports((cuzk_cpu_path)path));
            if (k != NULL) {
                size_t affine = cuzk_curve_get(id)->g[i % 2].affine_bytes;
                assert_true(k->point_bytes >= affine && k->point_bytes <= 2 * affine);
                assert_true(k->workspace_bytes < (size_t)4 << 20);
                assert_true(path != (int)cuzk_cpu_path_get() ||
                            k == cuzk_sum_kernel_get(id, (cuzk_group_id)(i % 2)));
            }
        }
    }
    assert_null(cuzk_sum_kernel_get_path(CUZK_CURVE_BN254, CUZK_G1, CUZK_CPU_PATH_COUNT));
    assert_null(cuzk_sum_kernel_get_path((cuzk_curve_id)0, CUZK_G1, CUZK_CPU_PORTABLE));
    assert_null(cuzk_sum_kernel_get_path((cuzk_curve_id)3, CUZK_G2, CUZK_CPU_PORTABLE));
}

int main(void)
{
    int skip = msm_test_begin();
    if (skip != 0) {
        return skip;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests_name("msm plan", tests, NULL, NULL);
}
