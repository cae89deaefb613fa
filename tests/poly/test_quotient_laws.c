/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Quotients in closed form: of monomials, which are monomials or nothing; bilinear and symmetric;
 * and in a field without the root that the short form needs. */
#include "poly_test.h"

#include "poly/ntt_kernel.h"

static cuzk_fr element(uint64_t v)
{
    cuzk_fr o;
    K->fr_from_u64(&o, v);
    return o;
}

typedef cuzk_status quotient_fn(const cuzk_domain *, void *, cuzk_fr *, cuzk_fr *, void *,
                                cuzk_pool *, cuzk_error *);

static cuzk_status textbook(const cuzk_domain *d, void *out, cuzk_fr *a, cuzk_fr *b, void *ws,
                            cuzk_pool *pool, cuzk_error *e)
{
    (void)e;
    cuzk_quotient_textbook(d, out, a, b, ws, pool);
    return CUZK_OK;
}

static quotient_fn *const forms[] = {cuzk_quotient_plain, textbook, cuzk_quotient_circom};

/* x·w^(ij) for j = 0 … n-1: the values of x·X^i. */
static void monomial(const cuzk_domain *d, cuzk_fr *a, cuzk_fr x, size_t i)
{
    cuzk_fr step = power(cuzk_domain_root(d), i);
    a[0] = x;
    for (size_t j = 1; j < (size_t)1 << cuzk_domain_lg(d); j++) {
        a[j] = mul(a[j - 1], step);
    }
}

/* X^i · X^j is X^n·X^(i+j-n): h is that power, or 0 below X^n; circom's values are (x^n - 1) = -2
 * times it at the odd powers of the 2n-th root. */
static void check_monomials(void)
{
    for (unsigned lg_n = 0; lg_n <= poly_test_lg_max(9, 12); lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(7, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *b = poly_test_alloc(32 * n), w2;
        cuzk_fr *out = poly_test_alloc(32 * n), *expected = poly_test_alloc(32 * n);
        void *ws = poly_test_alloc(cuzk_quotient_workspace_bytes(d, NULL));
        K->fr_root_of_unity(&w2, 7, lg_n + 1);
        const size_t pairs[][2] = {{0, 0},         {0, n - 1},     {1 % n, n - 1},
                                   {n - 1, n - 1}, {n / 2, n / 2}, {n / 2, n - n / 2 - 1}};
        for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
            size_t i = pairs[p][0], j = pairs[p][1];
            cuzk_fr x = rand_fr(), y = rand_fr(), xy = mul(x, y);
            for (int form = 0; form < 3; form++) {
                memset(expected, 0, 32 * n);
                if (i + j >= n && form < 2) {
                    K->fr_to_canonical_le(&expected[i + j - n], &xy);
                } else if (i + j >= n) {
                    cuzk_fr t = sub(zero(), add(xy, xy)), step = power(w2, 2 * (i + j - n));
                    t = mul(t, power(w2, i + j - n));
                    for (size_t k = 0; k < n; k++, t = mul(t, step)) {
                        K->fr_to_canonical_le(&expected[k], &t);
                    }
                }
                monomial(d, a, x, i);
                monomial(d, b, y, j);
                memset(out, 0xa5, 32 * n);
                assert_int_equal(forms[form](d, out, a, b, ws, NULL, &err), CUZK_OK);
                check_equal(out, expected, n, "quotient of monomials", lg_n);
                monomial(d, a, x, i);
                monomial(d, b, y, j);
                assert_int_equal(forms[form](d, a, a, b, ws, NULL, &err), CUZK_OK);
                check_equal(a, expected, n, "quotient of monomials, in place of a", lg_n);
            }
        }
        free(a);
        free(b);
        free(out);
        free(expected);
        free(ws);
        cuzk_domain_destroy(d);
    }
}

/* h(a, b) + h(a, b') = h(a, b + b'), and h(a, b) = h(b, a), for every form and 1 to 5 threads. */
static void check_bilinear(void)
{
    for (unsigned lg_n = 2; lg_n <= 11; lg_n += 3) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n);
        cuzk_fr *v[3], *h[4], *fa = poly_test_alloc(32 * n), *fb = poly_test_alloc(32 * n);
        for (int i = 0; i < 4; i++) {
            h[i] = poly_test_alloc(32 * n);
        }
        for (int i = 0; i < 3; i++) {
            v[i] = poly_test_alloc(32 * n);
            rand_frs(v[i], n);
        }
        for (int form = 0; form < 3; form++) {
            cuzk_pool *pool = NULL;
            assert_int_equal(cuzk_pool_create(&pool, 1 + (lg_n + (unsigned)form) % 5, &err),
                             CUZK_OK);
            void *ws = poly_test_alloc(cuzk_quotient_workspace_bytes(d, pool));
            for (int i = 0; i < 4; i++) { /* (a, b), (a, b'), (a, b + b'), (b, a) */
                memcpy(fa, i == 3 ? v[1] : v[0], 32 * n);
                for (size_t k = 0; k < n; k++) {
                    fb[k] = i == 2 ? add(v[1][k], v[2][k]) : i == 3 ? v[0][k] : v[1 + i][k];
                }
                assert_int_equal(forms[form](d, h[i], fa, fb, ws, pool, &err), CUZK_OK);
            }
            check_equal(h[3], h[0], n, "quotient of b and a", lg_n);
            K->fr_batch_from_canonical(h[0], h[0], n);
            K->fr_batch_from_canonical(h[1], h[1], n);
            for (size_t k = 0; k < n; k++) {
                h[0][k] = add(h[0][k], h[1][k]);
            }
            K->fr_batch_to_canonical(h[0], h[0], n);
            check_equal(h[2], h[0], n, "quotient of a sum", lg_n);
            free(ws);
            cuzk_pool_destroy(pool);
        }
        for (int i = 0; i < 4; i++) {
            free(h[i]);
        }
        for (int i = 0; i < 3; i++) {
            free(v[i]);
        }
        free(fa);
        free(fb);
        cuzk_domain_destroy(d);
    }
}

/* Where the field has no 2n-th root (here: as if it had none) the plain quotient is the textbook's,
 * and circom's is refused. */
static void check_no_half_root(void)
{
    for (unsigned lg_n = 2; lg_n <= 9; lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *b = poly_test_alloc(32 * n);
        cuzk_fr *want = poly_test_alloc(32 * n), *found = poly_test_alloc(32 * n);
        void *ws = poly_test_alloc(cuzk_quotient_workspace_bytes(d, NULL));
        monomial(d, a, K->fr_one, n - 1);
        monomial(d, b, element(9), n / 2);
        assert_int_equal(cuzk_quotient_plain(d, want, a, b, ws, NULL, &err), CUZK_OK);
        d->has_half_root = false;
        memset(&d->half_root, 0xff, sizeof d->half_root); /* must not be used */
        memset(&d->half_root_inv, 0xff, sizeof d->half_root_inv);
        monomial(d, a, K->fr_one, n - 1);
        monomial(d, b, element(9), n / 2);
        assert_int_equal(cuzk_quotient_plain(d, found, a, b, ws, NULL, &err), CUZK_OK);
        check_equal(found, want, n, "quotient without a 2n-th root", lg_n);
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_quotient_circom(d, found, a, b, ws, NULL, &err), CUZK_E_UNSUPPORTED);
        cuzk_error_clear(&err);
        free(a);
        free(b);
        free(want);
        free(found);
        free(ws);
        cuzk_domain_destroy(d);
    }
}

#define FOR_BOTH_CURVES(check)                                                                     \
    static void test_##check(void **unused)                                                        \
    {                                                                                              \
        (void)unused;                                                                              \
        K = cuzk_curve_get_path(CUZK_CURVE_BN254, CUZK_CPU_PORTABLE);                              \
        check_##check();                                                                           \
        K = cuzk_curve_get_path(CUZK_CURVE_BLS12_381, CUZK_CPU_PORTABLE);                          \
        check_##check();                                                                           \
    }

FOR_BOTH_CURVES(monomials)
FOR_BOTH_CURVES(bilinear)
FOR_BOTH_CURVES(no_half_root)

int main(void)
{
    poly_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monomials),
        cmocka_unit_test(test_bilinear),
        cmocka_unit_test(test_no_half_root),
    };
    return cmocka_run_group_tests_name("quotient laws", tests, NULL, NULL);
}
