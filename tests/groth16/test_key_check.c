/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The deep check: good keys of both kinds pass; each kind of damage is found and named, with the
 * index where there is one. */
#include "support.h"

#include "groth16/key_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_pool *pool;

static cuzk_status check_zkey(const cuzk_zkey *key, const cuzk_shape *shape, cuzk_error *err)
{
    cuzk_prover *p = NULL;
    cuzk_error_clear(err);
    assert_int_equal(cuzk_prover_create_zkey(&p, key, shape, NULL, pool, err), CUZK_OK);
    cuzk_status status = cuzk_prover_check_key(p, NULL, pool, err);
    cuzk_prover_destroy(p);
    return status;
}

static void expect_found(const cuzk_zkey *key, const cuzk_shape *shape, cuzk_status status,
                         const char *text)
{
    cuzk_error err = {0};
    cuzk_status found = check_zkey(key, shape, &err);
    if (found != status || strstr(err.text, text) == NULL) {
        fail_msg("expected %s with \"%s\", found %s \"%s\"", cuzk_status_name(status), text,
                 cuzk_status_name(found), err.text);
    }
}

static void test_good_keys(void **state)
{
    (void)state;
    static const char *const names[] = {
        "circom/bn254/multiplier2", "circom/bn254/poseidon2", "circom/bn254/poseidon2_ceremony",
        "circom/bls12381/multiplier2", "circom/bls12381/poseidon2_ceremony"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        support_bytes bytes = support_zkey(names[i], pool);
        cuzk_zkey key = support_open_zkey(&bytes);
        cuzk_shape *shape = support_shape(names[i]);
        cuzk_error err = {0};
        for (int k = 0; k < 2; k++) {
            if (check_zkey(&key, k == 0 ? NULL : shape, &err) != CUZK_OK) {
                fail_msg("%s: %s", names[i], err.text);
            }
        }
        cuzk_shape_destroy(shape);
        free(bytes.data);
    }
}

static cuzk_status check_params(const uint8_t *data, size_t size, const cuzk_shape *shape,
                                cuzk_error *err)
{
    cuzk_params key;
    cuzk_prover *p = NULL;
    cuzk_error_clear(err);
    assert_int_equal(cuzk_params_open(&key, data, size, err), CUZK_OK);
    assert_int_equal(cuzk_prover_create_params(&p, &key, shape, NULL, pool, err), CUZK_OK);
    cuzk_status status = cuzk_prover_check_key(p, NULL, pool, err);
    cuzk_prover_destroy(p);
    return status;
}

static void test_params(void **state)
{
    (void)state;
    static const char *const names[] = {"groth/cube",  "groth/noaux",     "groth/sparse",
                                        "groth/dense", "groth/inputs300", "groth/poseidon8"};
    cuzk_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cuzk_fixture f = support_text(names[i], "circuit.params");
        cuzk_shape *shape = support_shape(names[i]);
        if (check_params(f.data, f.size, shape, &err) != CUZK_OK) {
            fail_msg("%s: %s", names[i], err.text);
        }
        cuzk_shape_destroy(shape);
        cuzk_test_fixture_free(&f);
    }
    /* two points of h, then of b_g2, change places */
    cuzk_fixture f = support_text("groth/poseidon8", "circuit.params");
    cuzk_shape *shape = support_shape("groth/poseidon8");
    cuzk_params key;
    assert_int_equal(cuzk_params_open(&key, f.data, f.size, NULL), CUZK_OK);
    for (int k = 0; k < 2; k++) {
        cuzk_params_array array = k == 0 ? CUZK_PARAMS_H : CUZK_PARAMS_B_G2;
        size_t n = k == 0 ? 96 : 192;
        uint8_t *p = f.data + key.arrays[array].offset, t[192];
        memcpy(t, p + 3 * n, n);
        memcpy(p + 3 * n, p + 8 * n, n);
        memcpy(p + 8 * n, t, n);
        assert_int_equal(check_params(f.data, f.size, shape, &err), CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, k == 0 ? "query H" : "point 3 of query B"));
        memcpy(t, p + 3 * n, n);
        memcpy(p + 3 * n, p + 8 * n, n);
        memcpy(p + 8 * n, t, n);
    }
    cuzk_shape_destroy(shape);
    cuzk_test_fixture_free(&f);
}

/* Swap point i of a query with point k, or put the generator there when k is i. */
static void disturb(const cuzk_group *group, uint8_t *points, size_t i, size_t k)
{
    size_t n = group->affine_bytes;
    uint8_t t[192];
    if (i == k) {
        group->generator(points + i * n);
        return;
    }
    memcpy(t, points + i * n, n);
    memcpy(points + i * n, points + k * n, n);
    memcpy(points + k * n, t, n);
}

static void test_damage(void **state)
{
    (void)state;
    static const char *const names[] = {"circom/bn254/poseidon2", "circom/bls12381/poseidon2"};
    for (size_t i = 0; i < 2; i++) {
        support_bytes bytes = support_zkey(names[i], pool);
        cuzk_shape *shape = support_shape(names[i]);
        uint8_t *good = malloc(bytes.size);
        assert_non_null(good);
        memcpy(good, bytes.data, bytes.size);
        cuzk_zkey key = support_open_zkey(&bytes);
        const cuzk_group *g1 = &key.curve->g[CUZK_G1], *g2 = &key.curve->g[CUZK_G2];
        uint8_t *base = bytes.data;
        uint8_t *b1 = base + (key.b1 - base), *b2 = base + (key.b2 - base);
        uint8_t *h = base + (key.h - base);
        uint8_t *coeffs = base + (key.coeffs - base);

        disturb(g1, b1, 301, 301);
        expect_found(&key, NULL, CUZK_E_FORMAT, "point 301 of query B");
        memcpy(base, good, bytes.size);
        disturb(g2, b2, 302, 303);
        expect_found(&key, NULL, CUZK_E_FORMAT, "point 302 of query B");
        memcpy(base, good, bytes.size);
        disturb(g1, h, 5, 6);
        expect_found(&key, NULL, CUZK_E_FORMAT, "query H");
        memcpy(base, good, bytes.size);
        disturb(g1, h, 1000, 1000);
        expect_found(&key, NULL, CUZK_E_FORMAT, "query H");
        memcpy(base, good, bytes.size);
        h[7 * g1->affine_bytes] ^= 1;
        expect_found(&key, NULL, CUZK_E_FORMAT, "point 7");
        memcpy(base, good, bytes.size);
        /* a coefficient of another row's B: A and B rows no longer fit the circuit, nor H */
        coeffs[CUZK_ZKEY_COEFF_BYTES + 8] ^= 1;
        expect_found(&key, shape, CUZK_E_MISMATCH, "row 0 of matrix B");
        expect_found(&key, NULL, CUZK_E_FORMAT, "query H");
        memcpy(base, good, bytes.size);
        cuzk_vk vk = key.vk;
        key.vk.beta1 = vk.delta1;
        expect_found(&key, NULL, CUZK_E_FORMAT, "beta");
        key.vk = vk;
        key.vk.delta1 = vk.alpha1;
        expect_found(&key, NULL, CUZK_E_FORMAT, "delta");
        key.vk = vk;
        cuzk_error err = {0};
        assert_int_equal(check_zkey(&key, shape, &err), CUZK_OK);
        free(good);
        cuzk_shape_destroy(shape);
        free(bytes.data);
    }
}

/* A is only tied to the rest through C, where the circuit's own terms of C are known to be none. */
static void test_damage_of_a(void **state)
{
    (void)state;
    static const char *const names[] = {"circom/bn254/multiplier2", "circom/bls12381/multiplier2"};
    for (size_t i = 0; i < 2; i++) {
        support_bytes bytes = support_zkey(names[i], pool);
        cuzk_shape *shape = support_shape(names[i]);
        cuzk_zkey key = support_open_zkey(&bytes);
        disturb(&key.curve->g[CUZK_G1], bytes.data + (key.a - bytes.data), 2, 2);
        expect_found(&key, NULL, CUZK_OK, "");
        expect_found(&key, shape, CUZK_E_FORMAT, "do not belong together");
        cuzk_shape_destroy(shape);
        free(bytes.data);
    }
}

int main(void)
{
    if (cuzk_pool_create(&pool, 2, NULL) != CUZK_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_keys),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_damage_of_a),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
