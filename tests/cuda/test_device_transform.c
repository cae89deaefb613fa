/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Transforms and quotients on the device against the CPU's, bit for bit. */
#include "backend/cuda/transformer.h"
#include "device_test.h"
#include "poly/domain.h"

static const cuzk_curve *curve;
static cuzk_transformer transformer;
static CUdeviceptr factors;

static void open_short(cuzk_curve_id id, unsigned generator, unsigned lg_max, unsigned lg_factors)
{
    cuzk_error error = {0};
    curve = cuzk_curve_get(id);
    factors = device_bytes(NULL, cuzk_transformer_bytes(lg_max, lg_factors));
    must(cuzk_transformer_open(&transformer, device.api, curve, generator, lg_max, lg_factors,
                               factors, NULL, &error),
         &error);
}

static void open_transformer(cuzk_curve_id id, unsigned generator, unsigned lg_max)
{
    open_short(id, generator, lg_max, lg_max);
}

static void close_transformer(void)
{
    cuzk_transformer_close(&transformer);
    free_all(&factors, 1);
}

/* n elements, one in four from 0, 1, -1 and 1 as raw words. */
static cuzk_fr *draw(size_t n)
{
    cuzk_fr *a = malloc(32 * n);
    for (size_t i = 0; i < n; i++) {
        uint64_t kind = cuda_test_random() % 16;
        for (int j = 0; j < 4; j++) {
            a[i].l[j] = cuda_test_random();
        }
        a[i].l[3] >>= 3;
        if (kind == 0 || kind == 1) {
            curve->fr_from_u64(&a[i], kind);
        } else if (kind == 2) {
            curve->fr_neg(&a[i], &curve->fr_one);
        } else if (kind == 3) {
            a[i] = (cuzk_fr){{1}};
        }
    }
    return a;
}

static size_t reversed(size_t i, unsigned lg_n)
{
    size_t r = 0;
    for (unsigned b = 0; b < lg_n; b++) {
        r |= (i >> b & 1) << (lg_n - 1 - b);
    }
    return r;
}

static void compare(const char *what, const cuzk_fr *expected, const cuzk_fr *found, unsigned lg_n,
                    bool is_reversed)
{
    for (size_t i = 0; i < (size_t)1 << lg_n; i++) {
        if (memcmp(&expected[i], &found[is_reversed ? reversed(i, lg_n) : i], 32) != 0) {
            fail_msg("%s, %s, 2^%u: element %zu differs", curve->name, what, lg_n, i);
        }
    }
}

static void *workspace(size_t n_bytes)
{
    return aligned_alloc(64, (n_bytes + 63) & ~(size_t)63);
}

/* Forward and back in both kinds, and the exchange of orders. */
static void check_transforms(const cuzk_domain *domain, unsigned generator, unsigned lg_n)
{
    cuzk_error error = {0};
    size_t n = (size_t)1 << lg_n;
    cuzk_fr *a = draw(n), *expected = malloc(32 * n), n_inv, half_root;
    void *ws = workspace(cuzk_ntt_workspace_bytes(domain, device_test_pool()));
    curve->fr_from_u64(&n_inv, n);
    curve->fr_inv(&n_inv, &n_inv);
    curve->fr_root_of_unity(&half_root, generator, lg_n + 1);
    for (int kind = 0; kind < 2; kind++) {
        CUdeviceptr d = device_bytes(a, 32 * n);
        memcpy(expected, a, 32 * n);
        cuzk_ntt_forward(domain, expected, kind == CUZK_TRANSFORM_SHIFTED ? &half_root : NULL, ws,
                         device_test_pool());
        must(cuzk_transform_forward(&transformer, kind, lg_n, d, NULL, &error), &error);
        cuzk_fr *found = host_bytes(d, 32 * n);
        compare(kind == 0 ? "forward" : "shifted forward", expected, found, lg_n, true);
        free(found);
        must(cuzk_transform_inverse(&transformer, kind, lg_n, d, &n_inv, NULL, &error), &error);
        found = host_bytes(d, 32 * n);
        compare(kind == 0 ? "inverse" : "shifted inverse", a, found, lg_n, false);
        free(found);
        must(cuzk_transform_permute(&transformer, lg_n, d, NULL, &error), &error);
        found = host_bytes(d, 32 * n);
        compare("permuted", a, found, lg_n, true);
        free(found);
        /* values in natural order, back with no scale: n times the coefficients */
        must(cuzk_transform_inverse(&transformer, kind, lg_n, d, NULL, NULL, &error), &error);
        found = host_bytes(d, 32 * n);
        memcpy(expected, a, 32 * n);
        cuzk_ntt_inverse(domain, expected, kind == CUZK_TRANSFORM_SHIFTED ? &half_root : NULL, ws,
                         device_test_pool());
        for (size_t i = 0; i < n; i++) {
            curve->fr_mul(&found[i], &found[i], &n_inv);
        }
        compare("unscaled inverse", expected, found, lg_n, false);
        free(found);
        free_all(&d, 1);
    }
    free(a);
    free(expected);
    free(ws);
}

static void check_quotients(const cuzk_domain *domain, unsigned lg_n)
{
    cuzk_error error = {0};
    size_t n = (size_t)1 << lg_n;
    cuzk_fr *a = draw(n), *b = draw(n), *expected = malloc(32 * n);
    void *ws = workspace(cuzk_quotient_workspace_bytes(domain, device_test_pool()));
    for (int form = 0; form < 2; form++) {
        bool is_circom = form == CUZK_DEVICE_QUOTIENT_CIRCOM;
        CUdeviceptr d[3] = {device_bytes(a, 32 * n), device_bytes(b, 32 * n),
                            device_bytes(NULL, 32 * n)};
        must(cuzk_transform_permute(&transformer, lg_n, d[0], NULL, &error), &error);
        must(cuzk_transform_permute(&transformer, lg_n, d[1], NULL, &error), &error);
        must(cuzk_transform_quotient(&transformer, form, lg_n, d[0], d[1], d[2], NULL, &error),
             &error);
        cuzk_fr *found = host_bytes(d[0], 32 * n);
        cuzk_fr *fa = malloc(32 * n), *fb = malloc(32 * n);
        memcpy(fa, a, 32 * n);
        memcpy(fb, b, 32 * n);
        must((is_circom ? cuzk_quotient_circom : cuzk_quotient_plain)(domain, expected, fa, fb, ws,
                                                                      device_test_pool(), &error),
             &error);
        compare(is_circom ? "circom quotient" : "plain quotient", expected, found, lg_n, is_circom);
        free(found);
        free(fa);
        free(fb);
        free_all(d, 3);
    }
    free(a);
    free(b);
    free(expected);
    free(ws);
}

static void check_sizes(unsigned generator, unsigned lg_from, unsigned lg_to)
{
    cuzk_error error = {0};
    for (unsigned lg_n = lg_from; lg_n <= lg_to; lg_n++) {
        cuzk_domain *domain;
        must(cuzk_domain_create(&domain, curve, generator, lg_n, &error), &error);
        check_transforms(domain, generator, lg_n);
        check_quotients(domain, lg_n);
        cuzk_domain_destroy(domain);
    }
}

static unsigned lg_most(void)
{
    return !device_test_is_small() ? 20 : getenv("CUZK_NIGHTLY") != NULL ? 19 : 11;
}

static void test_bn254(void **state)
{
    (void)state;
    open_transformer(CUZK_CURVE_BN254, 5, lg_most());
    check_sizes(5, 0, lg_most());
    close_transformer();
}

static void test_bls12_381(void **state)
{
    (void)state;
    open_transformer(CUZK_CURVE_BLS12_381, 7, lg_most());
    check_sizes(7, 0, lg_most());
    close_transformer();
    open_transformer(CUZK_CURVE_BLS12_381, 5, 10);
    check_sizes(5, 9, 10);
    close_transformer();
}

/* More passes than their sizes need, so that passes in the middle are tested on small inputs. */
static void test_passes(void **state)
{
    (void)state;
    open_transformer(CUZK_CURVE_BLS12_381, 7, 12);
    transformer.layers_max = 3; /* 2^10 would have a pass that transform.h does not allow */
    check_sizes(7, 4, 9);
    check_sizes(7, 12, 12);
    transformer.layers_max = 6;
    check_sizes(7, 12, 12);
    close_transformer();
}

/* Tables that end before the domain does, in every pass and by one entry bit or many. */
static void test_short_tables(void **state)
{
    (void)state;
    const struct {
        cuzk_curve_id id;
        unsigned generator, lg_max, lg_factors, from;
    } cases[] = {{CUZK_CURVE_BLS12_381, 7, 10, 3, 0},
                 {CUZK_CURVE_BN254, 5, 10, 9, 8},
                 {CUZK_CURVE_BN254, 5, 11, 7, 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_short(cases[i].id, cases[i].generator, cases[i].lg_max, cases[i].lg_factors);
        check_sizes(cases[i].generator, cases[i].from, cases[i].lg_max);
        transformer.layers_max = 3;
        check_sizes(cases[i].generator, cases[i].lg_max, cases[i].lg_max);
        close_transformer();
    }
    if (!device_test_is_small()) {
        open_short(CUZK_CURVE_BLS12_381, 7, 20, 12);
        check_sizes(7, 18, 20);
        close_transformer();
    }
    /* 64 bytes an entry; the second table has one for each turn of the upper bits */
    assert_int_equal(cuzk_transformer_bytes(27, 27), 64 * (((size_t)1 << 27) + 1));
    assert_int_equal(cuzk_transformer_bytes(27, 23), 64 * (((size_t)1 << 23) + 1 + 16 + 1));
}

static void test_refused(void **state)
{
    (void)state;
    cuzk_error error = {0};
    cuzk_transformer t;
    curve = cuzk_curve_get(CUZK_CURVE_BN254);
    assert_int_equal(cuzk_transformer_open(&t, device.api, curve, 5, 29, 29, 0, NULL, &error),
                     CUZK_E_UNSUPPORTED);
    error = (cuzk_error){0};
    assert_int_equal(cuzk_transformer_open(&t, device.api, curve, 5, 9, 2, 0, NULL, &error),
                     CUZK_E_ARGUMENT);
    error = (cuzk_error){0};
    assert_int_equal(cuzk_transformer_open(&t, device.api, curve, 5, 9, 10, 0, NULL, &error),
                     CUZK_E_ARGUMENT);
    open_transformer(CUZK_CURVE_BN254, 5, 4);
    CUdeviceptr d = device_bytes(NULL, 32 << 5);
    error = (cuzk_error){0};
    assert_int_equal(cuzk_transform_forward(&transformer, CUZK_TRANSFORM_PLAIN, 5, d, NULL, &error),
                     CUZK_E_ARGUMENT);
    transformer.lg_max = 28;
    error = (cuzk_error){0};
    assert_int_equal(cuzk_transform_quotient(&transformer, CUZK_DEVICE_QUOTIENT_CIRCOM, 28, d, d, d,
                                             NULL, &error),
                     CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "2^29"));
    free_all(&d, 1);
    close_transformer();
}

int main(void)
{
    device_test_open();
    cuda_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bn254), cmocka_unit_test(test_bls12_381),
        cmocka_unit_test(test_passes), cmocka_unit_test(test_short_tables),
        cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
