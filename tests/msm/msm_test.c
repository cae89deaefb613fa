/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See msm_test.h. */
#include "msm_test.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t msm_test_state;

uint64_t msm_test_random(void)
{
    return cuzk_test_random(&msm_test_state);
}

size_t msm_test_below(size_t n)
{
    return (size_t)(msm_test_random() % n);
}

int msm_test_begin(void)
{
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    cuzk_cpu_path path = cuzk_cpu_path_get();
    if (cuzk_sum_kernel_get_path(CUZK_CURVE_BN254, CUZK_G1, path) == NULL) {
        printf("skipped: no sum kernels for %s\n", cuzk_cpu_path_name(path));
        return 77;
    }
    const char *seed = getenv("CUZK_TEST_SEED");
    msm_test_state = seed != NULL ? strtoull(seed, NULL, 0) : 20261130;
    printf("CUZK_TEST_SEED=%llu, path %s\n", (unsigned long long)msm_test_state,
           cuzk_cpu_path_name(path));
    return 0;
}

bool msm_test_nightly(void)
{
    return getenv("CUZK_NIGHTLY") != NULL;
}

bool msm_test_slow(void)
{
    return cuzk_cpu_path_get() == CUZK_CPU_IFMA_EMULATED;
}

/* ---- scalars ---- */

static void random_fr(const cuzk_curve *curve, cuzk_fr *out)
{
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        words[i] = msm_test_random();
    }
    curve->fr_batch_from_canonical(out, words, 1);
}

static void edge_fr(const cuzk_curve *curve, cuzk_fr *out)
{
    cuzk_fr a, two;
    curve->fr_from_u64(&two, 2);
    switch (msm_test_below(4)) {
    case 0: /* 0, 1, 2, 3 */
        curve->fr_from_u64(out, msm_test_below(4));
        return;
    case 1: /* r - 1, r - 2, r - 3 */
        curve->fr_from_u64(&a, 1 + msm_test_below(3));
        curve->fr_neg(out, &a);
        return;
    case 2: /* (r - 1)/2 - 1 … (r - 1)/2 + 2: -1/2 is (r - 1)/2 */
        curve->fr_inv(&a, &two);
        curve->fr_neg(&a, &a);
        curve->fr_sub(&a, &a, &curve->fr_one);
        curve->fr_from_u64(out, msm_test_below(4));
        curve->fr_add(out, out, &a);
        return;
    default: /* ±2^k, ±(2^k - 1) */
        curve->fr_pow_u64(out, &two, msm_test_below(255));
        if (msm_test_below(2) != 0) {
            curve->fr_sub(out, out, &curve->fr_one);
        }
        if (msm_test_below(2) != 0) {
            curve->fr_neg(out, out);
        }
    }
}

void msm_test_scalar(const cuzk_curve *curve, uint8_t *out, scalar_kind kind)
{
    cuzk_fr a;
    switch (kind) {
    case SCALARS_EDGES:
        edge_fr(curve, &a);
        break;
    case SCALARS_SMALL:
        curve->fr_from_u64(&a, msm_test_below(256));
        if (msm_test_below(2) != 0) {
            curve->fr_neg(&a, &a);
        }
        break;
    case SCALARS_BITS:
        curve->fr_from_u64(&a, msm_test_below(2));
        break;
    case SCALARS_MIXED:
        msm_test_scalar(curve, out, (scalar_kind)msm_test_below(SCALARS_MIXED));
        return;
    case SCALARS_SPARSE:
        curve->fr_from_u64(&a, 0);
        if (msm_test_below(50) == 0) {
            random_fr(curve, &a);
        }
        break;
    default:
        random_fr(curve, &a);
        break;
    }
    curve->fr_to_canonical_le(out, &a);
}

uint8_t *msm_test_scalars(const cuzk_curve *curve, size_t n, scalar_kind kind)
{
    uint8_t *out = malloc(32 * n + 1);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        msm_test_scalar(curve, out + 32 * i, kind);
    }
    return out;
}

/* ---- bases ---- */

/* The discrete logarithms. Distinct ones are a walk k → 2k + (a small number), which costs one
 * doubling and one addition a base. */
static void make_logs(test_bases *b, base_kind kind, cuzk_jac *points)
{
    const cuzk_curve *curve = b->curve;
    const cuzk_group *g = b->group;
    cuzk_affine generator;
    cuzk_fr k, step;
    cuzk_jac p, step_point;
    g->generator(&generator);
    g->from_affine(&p, &generator);
    random_fr(curve, &k);
    g->mul(&p, &p, &k);
    random_fr(curve, &step);
    g->from_affine(&step_point, &generator);
    g->mul(&step_point, &step_point, &step);
    for (size_t i = 0; i < b->n; i++) {
        size_t choice = kind == BASES_SPRINKLED ? msm_test_below(8) : 8;
        b->logs[i] = k;
        points[i] = p;
        if (kind == BASES_INFINITE || choice == 0) {
            curve->fr_from_u64(&b->logs[i], 0);
            g->set_infinity(&points[i]);
        } else if ((choice == 1 || choice == 2) && i > 0) { /* an earlier one or its negative */
            size_t other = msm_test_below(i);
            b->logs[i] = b->logs[other];
            points[i] = points[other];
            if (choice == 2) {
                curve->fr_neg(&b->logs[i], &b->logs[i]);
                g->neg(&points[i], &points[i]);
            }
        } else if (kind == BASES_OPPOSITE) {
            curve->fr_neg(&k, &k);
            g->neg(&p, &p);
        } else if (kind != BASES_EQUAL) {
            if (kind != BASES_SERIES) {
                curve->fr_add(&k, &k, &k);
                g->dbl(&p, &p);
            }
            curve->fr_add(&k, &k, &step);
            g->add(&p, &p, &step_point);
        }
    }
}

void test_bases_make(test_bases *out, const cuzk_curve *curve, cuzk_group_id group, size_t n,
                     base_kind kind)
{
    out->curve = curve;
    out->group = &curve->g[group];
    out->n = n;
    size_t size = out->group->affine_bytes;
    out->memory = malloc(n * size + 8);
    out->points = out->memory + 5;
    out->logs = malloc((n + 1) * sizeof *out->logs);
    cuzk_jac *points = malloc((n + 1) * sizeof *points);
    assert_non_null(out->memory);
    assert_non_null(out->logs);
    assert_non_null(points);
    make_logs(out, kind, points);
    out->group->batch_to_affine(out->points, points, n);
    free(points);
}

void test_bases_free(test_bases *bases)
{
    free(bases->memory);
    free(bases->logs);
}

void test_accumulate(const cuzk_curve *curve, cuzk_fr *sum, const uint8_t *scalar, const cuzk_fr *k)
{
    cuzk_fr s;
    assert_true(curve->fr_from_canonical_le(&s, scalar));
    curve->fr_mul(&s, &s, k);
    curve->fr_add(sum, sum, &s);
}

void assert_sum_is(const cuzk_curve *curve, cuzk_group_id group, const cuzk_jac *sum,
                   const cuzk_fr *log, const char *what, size_t n)
{
    const cuzk_group *g = &curve->g[group];
    cuzk_affine generator;
    cuzk_jac expected;
    g->generator(&generator);
    g->from_affine(&expected, &generator);
    g->mul(&expected, &expected, log);
    if (!g->eq(&expected, sum)) {
        fail_msg("%s G%d, %s, n = %zu: wrong sum", curve->name, (int)group + 1, what, n);
    }
}

void test_run_msm(const cuzk_curve *curve, cuzk_msm_params *params, cuzk_pool *pool)
{
    cuzk_error err = {0};
    size_t n_bytes = cuzk_msm_workspace_bytes(curve, params, pool);
    void *ws = aligned_alloc(64, (n_bytes + 63) / 64 * 64 + 64);
    assert_non_null(ws);
    memset(ws, 0xa5, n_bytes);
    cuzk_status status = cuzk_msm(curve, params, ws, n_bytes, pool, &err);
    if (status != CUZK_OK) {
        fail_msg("cuzk_msm: %s", err.text);
    }
    free(ws);
}
