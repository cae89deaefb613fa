/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Transforms against what is known of them in closed form, and against whole numbers: roots of
 * unity and small transforms by definition (tests/bigint.h); impulses, shifts, two transforms in a
 * row, halves and cosets of a domain of twice the size; domains where memory runs out; buffers at
 * the end of a page. */
#include "alloc_fail.h"
#include "bigint.h"
#include "fence.h"
#include "poly_test.h"

#include "poly/ntt_kernel.h"

#include <stdio.h>

static void *ws_of(const cuzk_domain *d)
{
    return poly_test_alloc(cuzk_ntt_workspace_bytes(d, NULL));
}

static cuzk_fr element(uint64_t v)
{
    cuzk_fr o;
    K->fr_from_u64(&o, v);
    return o;
}

/* ---- whole numbers ---- */

/* Montgomery words to a number. */
static big number(const cuzk_fr *a, const big *r, const big *r_inverse)
{
    big x = big_from_words(a->l, 4);
    return big_mul_mod(&x, r_inverse, r);
}

static void check_definition(void)
{
    big r = big_from_words(K->r, 4), two256 = big_power_of_two(256), one = big_of(1);
    big montgomery = big_mod(&two256, &r), r_inverse = big_inv_mod(&montgomery, &r);
    for (unsigned generator = 5; generator <= 7; generator += 2) {
        for (unsigned lg_n = 0; lg_n <= 7; lg_n++) {
            size_t n = (size_t)1 << lg_n;
            cuzk_domain *d = domain_of(generator, lg_n);
            /* the root: g^((r-1)/n), of order n exactly */
            big g = big_of(generator), e = big_sub(&r, &one), size = big_of(n), rest;
            e = big_div(&e, &size, &rest);
            assert_true(big_is_zero(&rest));
            big root = big_pow_mod(&g, &e, &r);
            cuzk_fr w = cuzk_domain_root(d);
            big found = number(&w, &r, &r_inverse);
            assert_int_equal(big_compare(&found, &root), 0);

            cuzk_fr a[128], coset = rand_fr();
            void *ws = ws_of(d);
            rand_frs(a, n);
            bool shifted = lg_n % 2 != 0 && (coset.l[0] | coset.l[1]) != 0;
            big values[128], point = shifted ? number(&coset, &r, &r_inverse) : one;
            for (size_t i = 0; i < n; i++) {
                values[i] = number(&a[i], &r, &r_inverse);
            }
            cuzk_ntt_forward(d, a, shifted ? &coset : NULL, ws, NULL);
            for (size_t j = 0; j < n; j++) { /* Horner at s·w^j */
                big sum = big_of(0);
                for (size_t i = n; i-- > 0;) {
                    sum = big_mul_mod(&sum, &point, &r);
                    sum = big_add_mod(&sum, &values[i], &r);
                }
                found = number(&a[j], &r, &r_inverse);
                if (big_compare(&found, &sum) != 0) {
                    fail_msg("2^%u points, generator %u: value %zu is wrong", lg_n, generator, j);
                }
                point = big_mul_mod(&point, &root, &r);
            }
            free(ws);
            cuzk_domain_destroy(d);
        }
        /* all the way up: each root is the square of the next; the last is -1, then 1 */
        cuzk_fr w, below, square;
        for (unsigned lg_n = K->two_adicity; lg_n > 0; lg_n--) {
            K->fr_root_of_unity(&w, generator, lg_n);
            K->fr_root_of_unity(&below, generator, lg_n - 1);
            square = mul(w, w);
            check_equal(&square, &below, 1, "square of the root", lg_n);
        }
        cuzk_fr minus_one;
        K->fr_neg(&minus_one, &K->fr_one);
        check_equal(&w, &minus_one, 1, "the root of order 2", 1);
        check_equal(&below, &K->fr_one, 1, "the root of order 1", 0);
    }
}

/* ---- closed forms ---- */

/* T(x·e_k)_j = x·w^(jk); a constant gives an impulse and back. */
static void check_impulses(void)
{
    for (unsigned lg_n = 0; lg_n <= poly_test_lg_max(10, 14); lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(lg_n % 2 ? 5 : 7, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *e = poly_test_alloc(32 * n);
        cuzk_fr w = cuzk_domain_root(d);
        void *ws = ws_of(d);
        const size_t places[] = {0, 1, n / 2, n - 1, rand_u64() % n};
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            size_t k = places[p] % n;
            cuzk_fr x = rand_fr(), s = element(3 + p), step = power(w, k);
            e[0] = x;
            for (size_t j = 1; j < n; j++) {
                e[j] = mul(e[j - 1], step);
            }
            memset(a, 0, 32 * n);
            a[k] = x;
            cuzk_ntt_forward(d, a, NULL, ws, NULL);
            check_equal(a, e, n, "impulse", lg_n);
            cuzk_ntt_inverse(d, a, NULL, ws, NULL);
            memset(e, 0, 32 * n);
            e[k] = x;
            check_equal(a, e, n, "impulse, back", lg_n);

            /* on a coset: x·s^k·w^(jk) */
            cuzk_ntt_forward(d, a, &s, ws, NULL);
            e[0] = mul(x, power(s, k));
            for (size_t j = 1; j < n; j++) {
                e[j] = mul(e[j - 1], step);
            }
            check_equal(a, e, n, "impulse on a coset", lg_n);
        }
        cuzk_fr c = rand_fr();
        for (size_t i = 0; i < n; i++) {
            a[i] = c;
        }
        memset(e, 0, 32 * n);
        e[0] = mul(c, element(n));
        cuzk_ntt_forward(d, a, NULL, ws, NULL);
        check_equal(a, e, n, "constant", lg_n);
        free(a);
        free(e);
        free(ws);
        cuzk_domain_destroy(d);
    }
}

/* T(T(a))_j = n·a_(-j); turning the input by k multiplies the output by w^(jk); the coset s·w turns
 * the values on the coset s; the inverse on a coset takes the shift back. */
static void check_shifts(void)
{
    for (unsigned lg_n = 0; lg_n <= poly_test_lg_max(10, 14); lg_n++) {
        size_t n = (size_t)1 << lg_n, k = rand_u64() % n;
        cuzk_domain *d = domain_of(lg_n % 2 ? 7 : 5, lg_n);
        cuzk_fr *a = poly_test_alloc(32 * n), *b = poly_test_alloc(32 * n);
        cuzk_fr *e = poly_test_alloc(32 * n), w = cuzk_domain_root(d), size = element(n);
        void *ws = ws_of(d);
        rand_frs(a, n);
        memcpy(b, a, 32 * n);
        cuzk_ntt_forward(d, b, NULL, ws, NULL);
        cuzk_ntt_forward(d, b, NULL, ws, NULL);
        for (size_t j = 0; j < n; j++) {
            e[j] = mul(size, a[(n - j) % n]);
        }
        check_equal(b, e, n, "twice", lg_n);

        for (size_t i = 0; i < n; i++) {
            b[(i + k) % n] = a[i];
        }
        cuzk_ntt_forward(d, b, NULL, ws, NULL);
        memcpy(e, a, 32 * n);
        cuzk_ntt_forward(d, e, NULL, ws, NULL);
        cuzk_fr step = power(w, k), t = K->fr_one;
        for (size_t j = 0; j < n; j++, t = mul(t, step)) {
            e[j] = mul(e[j], t);
        }
        check_equal(b, e, n, "turned input", lg_n);

        cuzk_fr s = element(11), next = mul(s, w);
        memcpy(b, a, 32 * n);
        cuzk_ntt_forward(d, b, &s, ws, NULL);
        memcpy(e, a, 32 * n);
        cuzk_ntt_forward(d, e, &next, ws, NULL);
        for (size_t j = 0; j < n; j++) {
            check_equal(&e[j], &b[(j + 1) % n], 1, "next coset", lg_n);
        }
        cuzk_ntt_inverse(d, b, &s, ws, NULL);
        check_equal(b, a, n, "back from the coset", lg_n);
        cuzk_ntt_inverse(d, e, &s, ws, NULL); /* taken for values on another coset: a(w·x) */
        t = K->fr_one;
        for (size_t i = 0; i < n; i++, t = mul(t, w)) {
            cuzk_fr expected = mul(a[i], t);
            check_equal(&e[i], &expected, 1, "back from another coset", lg_n);
        }
        free(a);
        free(b);
        free(e);
        free(ws);
        cuzk_domain_destroy(d);
    }
}

/* A domain of 2n points is one of n points and its coset: the even and the odd values. */
static void check_halves(void)
{
    for (unsigned lg_n = 0; lg_n <= poly_test_lg_max(10, 14); lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n), *twice = domain_of(5, lg_n + 1);
        cuzk_fr *a = poly_test_alloc(64 * n), *even = poly_test_alloc(32 * n);
        cuzk_fr *odd = poly_test_alloc(32 * n), w2 = cuzk_domain_root(twice);
        void *ws = ws_of(twice);
        memset(a, 0, 64 * n);
        rand_frs(a, n);
        memcpy(even, a, 32 * n);
        memcpy(odd, a, 32 * n);
        cuzk_ntt_forward(d, even, NULL, ws, NULL);
        cuzk_ntt_forward(d, odd, &w2, ws, NULL);
        cuzk_ntt_forward(twice, a, NULL, ws, NULL);
        for (size_t j = 0; j < n; j++) {
            check_equal(&a[2 * j], &even[j], 1, "even value", lg_n);
            check_equal(&a[2 * j + 1], &odd[j], 1, "odd value", lg_n);
        }
        free(a);
        free(even);
        free(odd);
        free(ws);
        cuzk_domain_destroy(d);
        cuzk_domain_destroy(twice);
    }
}

/* ---- memory ---- */

/* Elements and workspace end where memory ends; elements need the alignment of a word only. */
static void check_fences(void)
{
    for (unsigned lg_n = 0; lg_n <= 12; lg_n++) {
        size_t n = (size_t)1 << lg_n;
        cuzk_domain *d = domain_of(5, lg_n);
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, 1 + lg_n % 5, &err), CUZK_OK);
        size_t ws_bytes = cuzk_ntt_workspace_bytes(d, pool);
        assert_int_equal(ws_bytes % 64, 0);
        assert_int_equal(cuzk_quotient_bytes(K, lg_n, pool),
                         cuzk_quotient_workspace_bytes(d, pool));
        fenced ws = fence(ws_bytes), out = fence(32 * n);
        cuzk_fr *want = poly_test_alloc(32 * n), coset = element(3);
        for (size_t shift = 0; shift < 32; shift += 8) {
            fenced fa = fence(32 * n + shift), fb = fence(32 * n + shift);
            cuzk_fr *a = (cuzk_fr *)(void *)fa.at, *b = (cuzk_fr *)(void *)fb.at;
            memset(ws.at, 0xa5, ws_bytes);
            rand_frs(a, n);
            memcpy(want, a, 32 * n);
            cuzk_ntt_forward(d, a, shift % 16 ? &coset : NULL, ws.at, pool);
            cuzk_ntt_inverse(d, a, shift % 16 ? &coset : NULL, ws.at, pool);
            check_equal(a, want, n, "there and back in fenced memory", lg_n);
            rand_frs(b, n);
            if (shift % 16) {
                assert_int_equal(cuzk_quotient_circom(d, out.at, a, b, ws.at, pool, &err), CUZK_OK);
            } else {
                assert_int_equal(cuzk_quotient_plain(d, out.at, a, b, ws.at, pool, &err), CUZK_OK);
            }
            unfence(&fa);
            unfence(&fb);
        }
        free(want);
        unfence(&out);
        unfence(&ws);
        cuzk_pool_destroy(pool);
        cuzk_domain_destroy(d);
    }
}

/* A domain is not made where memory runs out, and nothing is lost. */
static void check_out_of_memory(void)
{
    for (unsigned lg_n = 3; lg_n <= 12; lg_n += 9) {
        for (unsigned i = 0;; i++) {
            cuzk_domain *d = NULL;
            cuzk_error_clear(&err);
            alloc_fail_at(i);
            cuzk_status status = cuzk_domain_create(&d, K, 5, lg_n, &err);
            if (!alloc_fail_stop()) {
                assert_int_equal(status, CUZK_OK);
                assert_int_equal(i, lg_n < CUZK_NTT_LG_SMALL ? 1 : 3);
                cuzk_domain_destroy(d);
                break;
            }
            assert_int_equal(status, CUZK_E_MEMORY);
            assert_null(d);
            char text[64];
            snprintf(text, sizeof text, "making a domain of 2^%u points", lg_n);
            assert_non_null(strstr(err.text, text));
        }
    }
    cuzk_error_clear(&err);
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

FOR_BOTH_CURVES(definition)
FOR_BOTH_CURVES(impulses)
FOR_BOTH_CURVES(shifts)
FOR_BOTH_CURVES(halves)
FOR_BOTH_CURVES(fences)
FOR_BOTH_CURVES(out_of_memory)

int main(void)
{
    poly_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition), cmocka_unit_test(test_impulses),
        cmocka_unit_test(test_shifts),     cmocka_unit_test(test_halves),
        cmocka_unit_test(test_fences),     cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("transform laws", tests, NULL, NULL);
}
