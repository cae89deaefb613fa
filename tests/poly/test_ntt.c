/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Transforms against their definition, their algebra, the portable path and other thread counts. */
#include "poly_test.h"

#include <stdio.h>

static void *ws_of(const cuzk_domain *d, cuzk_pool *pool)
{
    return poly_test_alloc(cuzk_ntt_workspace_bytes(d, pool));
}

/* ---- against the definition ---- */

static void check_definition(unsigned generator, unsigned lg_n, bool with_coset)
{
    size_t n = (size_t)1 << lg_n;
    cuzk_domain *d = domain_of(generator, lg_n);
    cuzk_fr *a = poly_test_alloc(32 * n), *b = poly_test_alloc(32 * n);
    void *ws = ws_of(d, NULL);
    cuzk_fr w = cuzk_domain_root(d), coset = rand_fr(), expected_root;
    K->fr_root_of_unity(&expected_root, generator, lg_n);
    check_equal(&w, &expected_root, 1, "root", lg_n);
    if (!with_coset || memcmp(&coset, &(cuzk_fr){{0, 0, 0, 0}}, 32) == 0) {
        coset = K->fr_one;
    }
    rand_frs(a, n);
    memcpy(b, a, 32 * n);
    cuzk_ntt_forward(d, b, with_coset ? &coset : NULL, ws, NULL);
    size_t n_tests = lg_n <= 7 ? n : 3;
    for (size_t t = 0; t < n_tests; t++) {
        size_t j = n_tests == n ? t : rand_u64() % n;
        cuzk_fr e = horner(a, n, mul(coset, power(w, j)));
        check_equal(&b[j], &e, 1, with_coset ? "forward, coset" : "forward", lg_n);
    }
    cuzk_ntt_inverse(d, b, with_coset ? &coset : NULL, ws, NULL);
    check_equal(b, a, n, with_coset ? "inverse(forward), coset" : "inverse(forward)", lg_n);

    /* inverse first: its result, evaluated, gives the input back */
    cuzk_ntt_inverse(d, b, with_coset ? &coset : NULL, ws, NULL);
    for (size_t t = 0; t < 3; t++) {
        size_t j = rand_u64() % n;
        cuzk_fr e = horner(b, n, mul(coset, power(w, j)));
        check_equal(&e, &a[j], 1, with_coset ? "inverse, coset" : "inverse", lg_n);
    }
    free(a);
    free(b);
    free(ws);
    cuzk_domain_destroy(d);
}

static void check_all_sizes(void)
{
    for (unsigned lg_n = 0; lg_n <= poly_test_lg_max(13, 16); lg_n++) {
        unsigned generator = rand_u64() & 1 ? 5 : 7;
        check_definition(generator, lg_n, false);
        check_definition(generator ^ 2, lg_n, true);
    }
    for (unsigned lg_n = 14; lg_n <= poly_test_lg_max(16, 20); lg_n++) {
        check_definition(K->id == CUZK_CURVE_BN254 ? 5 : 7, lg_n, lg_n % 2 == 0);
    }
}

/* ---- extreme inputs: every value the largest, so that unreduced sums are as large as can be ----
 */

static void check_extremes(void)
{
    cuzk_fr largest;
    memcpy(largest.l, K->r, sizeof largest.l);
    largest.l[0] -= 1;
    for (unsigned lg_n = 6; lg_n <= 12; lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n), *p = domain_on(CUZK_CPU_PORTABLE, 5, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *b = poly_test_alloc(32 * n);
        void *ws = ws_of(d, NULL), *ws_p = ws_of(p, NULL);
        for (int kind = 0; kind < 3; kind++) {
            for (size_t i = 0; i < n; i++) {
                a[i] = kind == 0 ? largest : kind == 1 && i % 2 ? zero() : largest;
                if (kind == 2 && i >= n / 2) {
                    a[i] = zero();
                }
            }
            memcpy(b, a, 32 * n);
            cuzk_ntt_forward(d, a, &largest, ws, NULL);
            cuzk_ntt_forward(p, b, &largest, ws_p, NULL);
            check_equal(a, b, n, "forward of largest values", lg_n);
            cuzk_ntt_forward(d, a, NULL, ws, NULL);
            cuzk_ntt_forward(p, b, NULL, ws_p, NULL);
            check_equal(a, b, n, "forward twice", lg_n);
        }
        free(a);
        free(b);
        free(ws);
        free(ws_p);
        cuzk_domain_destroy(d);
        cuzk_domain_destroy(p);
    }
}

/* ---- algebra ---- */

static void check_algebra(void)
{
    for (unsigned lg_n = 1; lg_n <= 9; lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(7, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *b = poly_test_alloc(32 * n);
        cuzk_fr *c = poly_test_alloc(32 * n), *e = poly_test_alloc(32 * n);
        void *ws = ws_of(d, NULL);

        /* product of two polynomials of n/2 coefficients */
        memset(a, 0, 32 * n);
        memset(b, 0, 32 * n);
        memset(e, 0, 32 * n);
        rand_frs(a, n / 2);
        rand_frs(b, n / 2);
        for (size_t i = 0; i < n / 2; i++) {
            for (size_t j = 0; j < n / 2; j++) {
                e[i + j] = add(e[i + j], mul(a[i], b[j]));
            }
        }
        cuzk_ntt_forward(d, a, NULL, ws, NULL);
        cuzk_ntt_forward(d, b, NULL, ws, NULL);
        for (size_t i = 0; i < n; i++) {
            c[i] = mul(a[i], b[i]);
        }
        cuzk_ntt_inverse(d, c, NULL, ws, NULL);
        check_equal(c, e, n, "convolution", lg_n);

        /* linear: T(x·a + b) = x·T(a) + T(b) */
        cuzk_fr x = rand_fr();
        rand_frs(a, n);
        rand_frs(b, n);
        for (size_t i = 0; i < n; i++) {
            c[i] = add(mul(x, a[i]), b[i]);
        }
        cuzk_ntt_forward(d, a, NULL, ws, NULL);
        cuzk_ntt_forward(d, b, NULL, ws, NULL);
        cuzk_ntt_forward(d, c, NULL, ws, NULL);
        for (size_t i = 0; i < n; i++) {
            e[i] = add(mul(x, a[i]), b[i]);
        }
        check_equal(c, e, n, "linearity", lg_n);
        free(a);
        free(b);
        free(c);
        free(e);
        free(ws);
        cuzk_domain_destroy(d);
    }
}

/* ---- threads, paths ---- */

static void check_threads(void)
{
    for (unsigned lg_n = 10; lg_n <= 13; lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *one = poly_test_alloc(32 * n);
        cuzk_fr *many = poly_test_alloc(32 * n), coset = K->fr_one;
        coset = add(coset, coset);
        rand_frs(a, n);
        for (unsigned threads = 1; threads <= 4; threads++) {
            cuzk_pool *pool = NULL;
            assert_int_equal(cuzk_pool_create(&pool, threads, &err), CUZK_OK);
            void *ws = ws_of(d, pool);
            for (int k = 0; k < 4; k++) {
                memcpy(one, a, 32 * n);
                memcpy(many, a, 32 * n);
                void (*f)(const cuzk_domain *, cuzk_fr *, const cuzk_fr *, void *, cuzk_pool *) =
                    k & 1 ? cuzk_ntt_inverse : cuzk_ntt_forward;
                f(d, one, k & 2 ? &coset : NULL, ws, NULL);
                f(d, many, k & 2 ? &coset : NULL, ws, pool);
                check_equal(many, one, n, "threads", lg_n);
            }
            free(ws);
            cuzk_pool_destroy(pool);
        }
        free(a);
        free(one);
        free(many);
        cuzk_domain_destroy(d);
    }
}

static void check_paths(void)
{
    for (unsigned lg_n = 0; lg_n <= 12; lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n), *p = domain_on(CUZK_CPU_PORTABLE, 5, lg_n);
        /* elements need no alignment of their own: b starts off a boundary of 64 bytes */
        cuzk_fr *a = poly_test_alloc(32 * n), *b = (cuzk_fr *)poly_test_alloc(32 * n + 64) + 1;
        void *ws = ws_of(d, NULL), *ws_p = ws_of(p, NULL);
        cuzk_fr coset = rand_fr();
        if (memcmp(&coset, &(cuzk_fr){{0, 0, 0, 0}}, 32) == 0) {
            coset = K->fr_one;
        }
        rand_frs(a, n);
        memcpy(b, a, 32 * n);
        for (int k = 0; k < 4; k++) {
            void (*f)(const cuzk_domain *, cuzk_fr *, const cuzk_fr *, void *, cuzk_pool *) =
                k & 1 ? cuzk_ntt_inverse : cuzk_ntt_forward;
            f(p, a, k & 2 ? &coset : NULL, ws_p, NULL);
            f(d, b, k & 2 ? &coset : NULL, ws, NULL);
            check_equal(b, a, n, "as the portable path", lg_n);
        }
        free(a);
        free(b - 1);
        free(ws);
        free(ws_p);
        cuzk_domain_destroy(d);
        cuzk_domain_destroy(p);
    }
}

/* ---- limits ---- */

static void check_limits(void)
{
    char expected[128];
    cuzk_domain *d = NULL;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_domain_create(&d, K, 5, 29, &err), CUZK_E_UNSUPPORTED);
    snprintf(expected, sizeof expected, "making a domain of 2^29 points on %s: the largest is 2^28",
             K->snarkjs_name);
    assert_string_equal(err.text, expected);
    assert_null(d);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_domain_create(&d, K, 6, 10, &err), CUZK_E_ARGUMENT);
    assert_null(d);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_domain_create_path(&d, K, CUZK_CPU_PATH_COUNT, 5, 10, &err),
                     CUZK_E_UNSUPPORTED);
    assert_null(d);
    cuzk_error_clear(&err);
    cuzk_domain_destroy(NULL);
    for (unsigned lg_n = 0; lg_n <= CUZK_DOMAIN_LG_MAX; lg_n++) {
        d = domain_of(5, lg_n);
        assert_int_equal(cuzk_domain_lg(d), lg_n);
        size_t n = (size_t)1 << lg_n, root = (size_t)1 << (lg_n + 1) / 2;
        assert_true(cuzk_domain_bytes(K, lg_n) <= 1024 + 512 * root);
        assert_true(cuzk_ntt_workspace_bytes(d, NULL) <= 32 * n + 2048 * root);
        assert_true(cuzk_quotient_workspace_bytes(d, NULL) <= 32 * n + 2048 * root);
        cuzk_domain_destroy(d);
    }
}

/* ---- both curves ---- */

#define FOR_BOTH_CURVES(check)                                                                     \
    static void test_##check(void **unused)                                                        \
    {                                                                                              \
        (void)unused;                                                                              \
        K = cuzk_curve_get_path(CUZK_CURVE_BN254, CUZK_CPU_PORTABLE);                              \
        check_##check();                                                                           \
        K = cuzk_curve_get_path(CUZK_CURVE_BLS12_381, CUZK_CPU_PORTABLE);                          \
        check_##check();                                                                           \
    }

FOR_BOTH_CURVES(all_sizes)
FOR_BOTH_CURVES(extremes)
FOR_BOTH_CURVES(algebra)
FOR_BOTH_CURVES(threads)
FOR_BOTH_CURVES(paths)
FOR_BOTH_CURVES(limits)

int main(void)
{
    poly_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sizes), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_algebra),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_paths),     cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
