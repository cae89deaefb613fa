/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pairing of both curves: known answers from @noble/curves and from snarkjs (e(alpha, beta) of
 * every fixture key), bilinearity, products, infinities. */
#include "curve/curve_util.h"

#include "fixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_curve_id ids[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

static const cuzk_curve *curve_of(void **state)
{
    return cuzk_curve_get(*(const cuzk_curve_id *)*state);
}

static void multiple(const cuzk_curve *curve, cuzk_group_id id, void *affine, const cuzk_fr *k)
{
    const cuzk_group *g = &curve->g[id];
    cuzk_jac p;
    g->generator(affine);
    g->from_affine(&p, affine);
    g->mul(&p, &p, k);
    g->to_affine(affine, &p);
}

/* ---- known answers ---- */

static void test_noble(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    vector_file file;
    size_t n = 0;
    vector_file_read(&file, curve);
    for (size_t i = 0; i < file.n; i++) {
        const vector_line *l = &file.lines[i];
        cuzk_affine p, q;
        cuzk_fr k;
        cuzk_gt e, expected;
        if (strcmp(l->word[0], "gt") != 0) {
            continue;
        }
        assert_int_equal(l->n, 15);
        hex_to_fr(curve, &k, l->word[1]);
        multiple(curve, CUZK_G1, &p, &k);
        hex_to_fr(curve, &k, l->word[2]);
        multiple(curve, CUZK_G2, &q, &k);
        for (int c = 0; c < 12; c++) {
            uint8_t bytes[48];
            hex_to_le(bytes, curve->fp_bytes, l->word[3 + c]);
            assert_true(
                curve->fp_from_canonical_le(&expected.l[(unsigned)c * curve->fp_limbs], bytes));
        }
        curve->pairing_product(&e, &p, &q, 1);
        if (!curve->gt_eq(&e, &expected)) {
            fail_msg("line %zu: the pairing differs", i + 1);
        }
        assert_memory_equal(&e, &expected, 12 * curve->fp_bytes);
        n++;
    }
    assert_true(n >= 20);
    vector_file_free(&file);
}

/* Decimal numbers in quotes after a key of a snarkjs file, to fp in Montgomery form. */
static void read_decimals(const cuzk_curve *curve, const char *text, const char *key,
                          uint64_t *limbs, int n)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    at = strchr(at, '[');
    for (int i = 0; i < n; i++) {
        uint8_t bytes[48] = {0};
        at = strchr(at, '"');
        assert_non_null(at);
        for (at++; *at != '"'; at++) {
            unsigned carry = (unsigned)(*at - '0');
            for (size_t b = 0; b < curve->fp_bytes; b++) {
                carry += 10u * bytes[b];
                bytes[b] = (uint8_t)carry;
                carry >>= 8;
            }
        }
        at++;
        assert_true(curve->fp_from_canonical_le(limbs + (size_t)i * curve->fp_limbs, bytes));
    }
}

static void test_snarkjs(void **state)
{
    static const char *const circuits[] = {"multiplier2",        "multiplier1000", "poseidon2",
                                           "poseidon2_ceremony", "range64",        "manypublic"};
    const cuzk_curve *curve = curve_of(state);
    int n = 0;
    for (size_t i = 0; i < sizeof(circuits) / sizeof(circuits[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "circom/%s/%s/verification_key.json",
                 curve->id == CUZK_CURVE_BN254 ? "bn254" : "bls12381", circuits[i]);
        if (!cuzk_test_fixture_exists(name)) {
            continue;
        }
        cuzk_fixture file = cuzk_test_fixture(name);
        cuzk_affine alpha, beta;
        cuzk_gt e, expected;
        read_decimals(curve, (const char *)file.data, "\"vk_alpha_1\"", alpha.l, 2);
        read_decimals(curve, (const char *)file.data, "\"vk_beta_2\"", beta.l, 4);
        read_decimals(curve, (const char *)file.data, "\"vk_alphabeta_12\"", expected.l, 12);
        curve->pairing_product(&e, &alpha, &beta, 1);
        if (!curve->gt_eq(&e, &expected)) {
            fail_msg("%s: e(alpha, beta) differs", name);
        }
        cuzk_test_fixture_free(&file);
        n++;
    }
    assert_true(n >= 3);
}

/* ---- laws ---- */

static void test_bilinear(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    cuzk_affine g1, g2, p, q;
    cuzk_gt base, e, f;
    cuzk_fr a, b, c, one;
    curve->g[CUZK_G1].generator(&g1);
    curve->g[CUZK_G2].generator(&g2);
    curve->pairing_product(&base, &g1, &g2, 1);
    assert_false(curve->gt_is_one(&base));
    for (int i = 0; i < 12; i++) {
        test_random_fr(curve, &a, &seed);
        test_random_fr(curve, &b, &seed);
        curve->fr_mul(&c, &a, &b);
        multiple(curve, CUZK_G1, &p, &a);
        multiple(curve, CUZK_G2, &q, &b);
        curve->pairing_product(&e, &p, &q, 1);
        curve->gt_pow(&f, &base, &c);
        assert_true(curve->gt_eq(&e, &f));
        curve->gt_pow(&f, &base, &a);
        curve->gt_pow(&f, &f, &b);
        assert_true(curve->gt_eq(&e, &f));
        multiple(curve, CUZK_G1, &p, &c);
        curve->pairing_product(&f, &p, &g2, 1);
        assert_true(curve->gt_eq(&e, &f));
        multiple(curve, CUZK_G2, &q, &c);
        curve->pairing_product(&f, &g1, &q, 1);
        assert_true(curve->gt_eq(&e, &f));
        curve->fr_add(&c, &a, &b);
        curve->gt_pow(&e, &base, &a);
        curve->gt_pow(&f, &base, &b);
        curve->gt_mul(&e, &e, &f);
        curve->gt_pow(&f, &base, &c);
        assert_true(curve->gt_eq(&e, &f));
    }
    /* order r: base^(r-1)·base = 1 */
    curve->fr_from_u64(&one, 1);
    curve->fr_neg(&a, &one);
    curve->gt_pow(&e, &base, &a);
    assert_false(curve->gt_is_one(&e));
    curve->gt_mul(&e, &e, &base);
    assert_true(curve->gt_is_one(&e));
    curve->fr_from_u64(&a, 0);
    curve->gt_pow(&e, &base, &a);
    assert_true(curve->gt_is_one(&e));
}

/* A product over n packed pairs, some infinite, at odd addresses, against one pair at a time and
 * against the exponent. */
static void test_product(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    enum { N = 37 };
    static uint8_t ps[N * sizeof(cuzk_affine) + 8], qs[N * sizeof(cuzk_affine) + 8];
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 32, 33, N};
    size_t s1 = curve->g[CUZK_G1].affine_bytes, s2 = curve->g[CUZK_G2].affine_bytes;
    cuzk_gt e, f, rest, base;
    cuzk_affine g1, g2;
    curve->g[CUZK_G1].generator(&g1);
    curve->g[CUZK_G2].generator(&g2);
    curve->pairing_product(&base, &g1, &g2, 1);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t n = sizes[i], shift1 = i % 8, shift2 = (3 * i + 1) % 8;
        cuzk_fr sum, a, b;
        curve->fr_from_u64(&sum, 0);
        for (size_t k = 0; k < n; k++) {
            cuzk_affine p, q;
            test_random_fr(curve, &a, &seed);
            test_random_fr(curve, &b, &seed);
            multiple(curve, CUZK_G1, &p, &a);
            multiple(curve, CUZK_G2, &q, &b);
            memcpy(ps + shift1 + k * s1, &p, s1);
            memcpy(qs + shift2 + k * s2, &q, s2);
            curve->fr_mul(&a, &a, &b);
            curve->fr_add(&sum, &sum, &a);
        }
        curve->pairing_product(&e, ps + shift1, qs + shift2, n);
        curve->gt_pow(&f, &base, &sum);
        if (!curve->gt_eq(&e, &f)) {
            fail_msg("product of %zu pairs differs", n);
        }
        if (n <= 5) {
            cuzk_gt one_by_one, single;
            curve->pairing_product(&one_by_one, NULL, NULL, 0);
            assert_true(curve->gt_is_one(&one_by_one));
            for (size_t k = 0; k < n; k++) {
                curve->pairing_product(&single, ps + shift1 + k * s1, qs + shift2 + k * s2, 1);
                curve->gt_mul(&one_by_one, &one_by_one, &single);
            }
            assert_true(curve->gt_eq(&e, &one_by_one));
        }
        /* two Miller products under one final power */
        size_t first = n / 3;
        curve->miller_product(&f, ps + shift1, qs + shift2, first);
        curve->miller_product(&rest, ps + shift1 + first * s1, qs + shift2 + first * s2, n - first);
        curve->gt_mul(&f, &f, &rest);
        curve->final_exp(&f, &f);
        assert_true(curve->gt_eq(&e, &f));
    }
}

static void test_infinity(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    cuzk_affine g1, g2, inf;
    cuzk_gt e;
    memset(&inf, 0, sizeof(inf));
    curve->g[CUZK_G1].generator(&g1);
    curve->g[CUZK_G2].generator(&g2);
    curve->pairing_product(&e, &inf, &g2, 1);
    assert_true(curve->gt_is_one(&e));
    curve->pairing_product(&e, &g1, &inf, 1);
    assert_true(curve->gt_is_one(&e));
    curve->pairing_product(&e, &inf, &inf, 1);
    assert_true(curve->gt_is_one(&e));
}

/* e(P, Q)·e(-P, Q) = 1: the sum of a valid proof's equation, and a 1 inside the final power. */
static void test_cancels(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    const cuzk_group *g1 = &curve->g[CUZK_G1], *g2 = &curve->g[CUZK_G2];
    uint64_t seed = test_seed();
    for (int i = 0; i < 5; i++) {
        uint8_t ps[3 * 96], qs[3 * 192];
        cuzk_gt e;
        cuzk_affine p, q;
        cuzk_jac sum, t;
        test_random_point(g1, curve, &p, &seed);
        test_random_point(g2, curve, &q, &seed);
        g1->affine_neg(ps, &p);
        memcpy(ps + g1->affine_bytes, &p, g1->affine_bytes);
        memcpy(qs, &q, g2->affine_bytes);
        memcpy(qs + g2->affine_bytes, &q, g2->affine_bytes);
        curve->pairing_product(&e, ps, qs, 2);
        assert_true(curve->gt_is_one(&e));
        /* e(P, Q)·e(P, Q')·e(-P, Q + Q') = 1 */
        test_random_point(g2, curve, qs + g2->affine_bytes, &seed);
        g2->from_affine(&sum, qs);
        g2->from_affine(&t, qs + g2->affine_bytes);
        g2->add(&sum, &sum, &t);
        g2->to_affine(qs + 2 * g2->affine_bytes, &sum);
        memcpy(ps, &p, g1->affine_bytes);
        g1->affine_neg(ps + 2 * g1->affine_bytes, &p);
        curve->pairing_product(&e, ps, qs, 3);
        assert_true(curve->gt_is_one(&e));
        g1->from_affine(&t, &p);
        g1->dbl(&t, &t);
        g1->to_affine(ps, &t);
        curve->pairing_product(&e, ps, qs, 3);
        assert_int_equal(curve->gt_is_one(&e),
                         g1->affine_is_infinity(&p) || g2->affine_is_infinity(&q));
    }
}

static void test_paths_agree(void **state)
{
    cuzk_curve_id id = *(const cuzk_curve_id *)*state;
    const cuzk_curve *a = cuzk_curve_get_path(id, CUZK_CPU_PORTABLE);
    const cuzk_curve *b = cuzk_curve_get_path(id, CUZK_CPU_ADX);
    uint64_t seed = test_seed();
    cuzk_affine p, q;
    cuzk_gt e, f;
    cuzk_fr k;
    if (b == NULL) {
        skip();
    }
    for (int i = 0; i < 10; i++) {
        test_random_point(&a->g[CUZK_G1], a, &p, &seed);
        test_random_point(&a->g[CUZK_G2], a, &q, &seed);
        test_random_fr(a, &k, &seed);
        a->pairing_product(&e, &p, &q, 1);
        b->pairing_product(&f, &p, &q, 1);
        assert_memory_equal(&e, &f, 12 * a->fp_bytes);
        a->gt_pow(&e, &e, &k);
        b->gt_pow(&f, &f, &k);
        assert_memory_equal(&e, &f, 12 * a->fp_bytes);
    }
}

#define FOR_BOTH(test)                                                                             \
    cmocka_unit_test_prestate(test, &ids[0]), cmocka_unit_test_prestate(test, &ids[1])

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOR_BOTH(test_noble),       FOR_BOTH(test_snarkjs),  FOR_BOTH(test_bilinear),
        FOR_BOTH(test_product),     FOR_BOTH(test_infinity), FOR_BOTH(test_cancels),
        FOR_BOTH(test_paths_agree),
    };
    if (!test_path_supported()) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
