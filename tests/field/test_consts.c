/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The constants of both curves from their family parameters, with whole numbers of 32-bit digits:
 * what tools/gen_consts.py writes, computed once more by other means. */
#include "bigint.h"
#include "field_test.h"

#include "field/bls12_381_consts.h"
#include "field/bn254_consts.h"
#include "field/halves_consts.h"

static void expect(const char *what, const big *expected, const uint64_t *found, size_t n)
{
    big x = big_from_words(found, n);
    if (big_compare(&x, expected) != 0) {
        fail_msg("%s: 0x…%016llx is not right", what, (unsigned long long)found[0]);
    }
}

/* The number that n Montgomery words stand for. */
static big value_of(const uint64_t *words, size_t n, const big *m)
{
    big x = big_from_words(words, n), r = big_power_of_two(64 * (unsigned)n);
    assert_true(big_compare(&x, m) < 0);
    r = big_mod(&r, m);
    r = big_inv_mod(&r, m);
    return big_mul_mod(&x, &r, m);
}

static void expect_element(const char *what, const big *expected, const uint64_t *found, size_t n,
                           const big *m)
{
    big x = value_of(found, n, m);
    if (big_compare(&x, expected) != 0) {
        fail_msg("%s: the element 0x…%016llx is not right", what, (unsigned long long)found[0]);
    }
}

/* Miller and Rabin's test for the first primes. */
static bool is_probable_prime(const big *n)
{
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13};
    big one = big_of(1), minus = big_sub(n, &one), odd = minus, rest, two = big_of(2);
    int s = 0;
    for (; !big_bit(&odd, 0); s++) {
        odd = big_div(&odd, &two, &rest);
    }
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        big a = big_of(bases[i]), x = big_pow_mod(&a, &odd, n);
        bool good = big_compare(&x, &one) == 0;
        for (int k = 0; k < s && !good; k++) {
            good = big_compare(&x, &minus) == 0;
            x = big_mul_mod(&x, &x, n);
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

/* n0 = -1/m mod 2^64, 2^-64, R, R² and R/2 modulo m, for R = 2^(64n). */
static void check_form(const char *name, const big *m, size_t n, uint64_t n0, const uint64_t *fold,
                       const uint64_t *one, const uint64_t *r2, const uint64_t *half)
{
    big word = big_power_of_two(64), r = big_power_of_two(64 * (unsigned)n), two = big_of(2);
    big x = big_mod(&word, m);
    x = big_inv_mod(&x, m);
    expect(name, &x, fold, n);
    r = big_mod(&r, m);
    expect(name, &r, one, n);
    x = big_mul_mod(&r, &r, m);
    expect(name, &x, r2, n);
    x = big_inv_mod(&two, m);
    x = big_mul_mod(&x, &r, m);
    expect(name, &x, half, n);
    assert_true(n0 * m->d[0] + (n0 * m->d[1] << 32) == UINT64_MAX); /* n0·m = -1 */
    /* what fp_redc_wide asks of R²: below 0.9·m */
    big ten = big_of(10), nine = big_of(9), ten_r2 = big_from_words(r2, n), nine_m;
    ten_r2 = big_mul(&ten_r2, &ten);
    nine_m = big_mul(m, &nine);
    assert_true(big_compare(&ten_r2, &nine_m) <= 0);
}

/* A number in limbs of 52 bits. */
static big from_limbs(const uint64_t *l, int n)
{
    big x = big_of(0);
    for (int i = 0; i < n; i++) {
        big limb = big_of(l[i]), shift = big_power_of_two(52 * (unsigned)i);
        assert_true(l[i] >> 52 == 0);
        limb = big_mul(&limb, &shift);
        x = big_add(&x, &limb);
    }
    return x;
}

/* c: m, 2^-52, R52, R52², R52²/R and R modulo m, n limbs each. */
static void check_form52(const char *name, const big *m, size_t words, int n, uint64_t n0,
                         const uint64_t *c)
{
    big limb = big_power_of_two(52), r = big_power_of_two(64 * (unsigned)words);
    big r52 = big_power_of_two(52 * (unsigned)n), expected[6], rest, zero = big_of(0);
    expected[0] = *m;
    expected[1] = big_inv_mod(&limb, m);
    expected[2] = big_mod(&r52, m);
    expected[3] = big_mul_mod(&expected[2], &expected[2], m);
    expected[5] = big_mod(&r, m);
    expected[4] = big_inv_mod(&expected[5], m);
    expected[4] = big_mul_mod(&expected[4], &expected[3], m);
    for (int i = 0; i < 6; i++) {
        big found = from_limbs(c + i * n, n);
        if (big_compare(&found, &expected[i]) != 0) {
            fail_msg("%s: constant %d of the eight-lane form is not right", name, i);
        }
    }
    big minus = big_of(n0), one = big_of(1);
    minus = big_mul(&minus, m);
    minus = big_add(&minus, &one);
    (void)big_div(&minus, &limb, &rest);
    assert_int_equal(big_compare(&rest, &zero), 0);
}

/* c0 + c1·u modulo p, u² = -1. */
typedef struct {
    big c0, c1;
} pair;

static pair pair_mul(const pair *a, const pair *b, const big *p)
{
    big low = big_mul(&a->c0, &b->c0), high = big_mul(&a->c1, &b->c1);
    big cross = big_mul(&a->c0, &b->c1), other = big_mul(&a->c1, &b->c0);
    return (pair){big_sub_mod(&low, &high, p), big_add_mod(&cross, &other, p)};
}

static pair pair_pow(const pair *a, const big *e, const big *p)
{
    pair o = {big_of(1), big_of(0)};
    for (unsigned k = big_bits(e); k-- > 0;) {
        o = pair_mul(&o, &o, p);
        if (big_bit(e, k)) {
            o = pair_mul(&o, a, p);
        }
    }
    return o;
}

static pair pair_inv(const pair *a, const big *p)
{
    big low = big_mul(&a->c0, &a->c0), high = big_mul(&a->c1, &a->c1), zero = big_of(0);
    big norm = big_add_mod(&low, &high, p);
    norm = big_inv_mod(&norm, p);
    pair conjugate = {a->c0, big_sub_mod(&zero, &a->c1, p)};
    return (pair){big_mul_mod(&conjugate.c0, &norm, p), big_mul_mod(&conjugate.c1, &norm, p)};
}

static bool pair_is_one(const pair *a)
{
    big one = big_of(1);
    return big_compare(&a->c0, &one) == 0 && big_is_zero(&a->c1);
}

#define K(name) bn254_##name
#define C(name) CUZK_BN254_##name
#define C_NAME  "bn254 "
#define FPW     4
#include "consts_tmpl.h"

#define K(name) bls12_381_##name
#define C(name) CUZK_BLS12_381_##name
#define C_NAME  "bls12_381 "
#define FPW     6
#include "consts_tmpl.h"

/* The short vectors that scalars of bn254's G1 are split along, and the loop lengths. */
static void test_bn254_lattice(void **state)
{
    (void)state;
    static const uint64_t a1[] = CUZK_BN254_GLV_A1, b1[] = CUZK_BN254_GLV_B1;
    static const uint64_t a2[] = CUZK_BN254_GLV_A2, b2[] = CUZK_BN254_GLV_B2;
    static const uint64_t q1[] = CUZK_BN254_GLV_Q1, q2[] = CUZK_BN254_GLV_Q2;
    static const uint64_t lambda_words[4] = CUZK_BN254_LAMBDA;
    static const uint64_t loop[] = CUZK_BN254_ATE_LOOP, six_x2[] = CUZK_BN254_SIX_X2;
#define BIG(words) big_from_words((words), sizeof(words) / 8)
    big p, r, rest, two256 = big_power_of_two(256), lambda = big_from_words(lambda_words, 4);
    bn254_family(&p, &r);
    big u1 = BIG(a1), v1 = BIG(b1), u2 = BIG(a2), v2 = BIG(b2);
    big product = big_mul(&v1, &lambda), difference = big_sub_mod(&u1, &product, &r);
    assert_true(big_is_zero(&difference)); /* A1 - B1·λ */
    product = big_mul(&v2, &lambda);
    big sum = big_add_mod(&u2, &product, &r);
    assert_true(big_is_zero(&sum)); /* A2 + B2·λ */
    big det = big_mul(&u1, &v2), other = big_mul(&u2, &v1);
    det = big_add(&det, &other); /* a basis of the whole lattice: its determinant is r */
    assert_int_equal(big_compare(&det, &r), 0);
    assert_true(big_bits(&u1) <= 128 && big_bits(&v1) <= 128);
    assert_true(big_bits(&u2) <= 128 && big_bits(&v2) <= 128);
    big q = big_mul(&two256, &v2);
    q = big_div(&q, &r, &rest);
    big found = BIG(q1);
    assert_int_equal(big_compare(&q, &found), 0);
    q = big_mul(&two256, &v1);
    q = big_div(&q, &r, &rest);
    found = BIG(q2);
    assert_int_equal(big_compare(&q, &found), 0);

    big x = big_of(CUZK_BN254_X_ABS), six = big_of(6), two = big_of(2);
    big length = big_mul(&x, &six);
    length = big_add(&length, &two);
    found = BIG(loop);
    assert_int_equal(big_compare(&length, &found), 0);
    length = big_mul(&x, &x);
    length = big_mul(&length, &six);
    found = BIG(six_x2);
    assert_int_equal(big_compare(&length, &found), 0);
    big p_mod_r = big_mod(&p, &r); /* what psi multiplies by on G2 */
    assert_int_equal(big_compare(&p_mod_r, &found), 0);
#undef BIG
}

/* What scalars are cut in two by: vectors of the lattice, the quotients' factors, and how large the
 * parts of a scalar can be. */
static void check_halves(const big *r, const big *lambda, const big v[4], const big n[2],
                         const big *most)
{
    big product = big_mul(&v[1], lambda), difference = big_sub_mod(&v[0], &product, r);
    assert_true(big_is_zero(&difference)); /* A1 - B1·λ */
    product = big_mul(&v[3], lambda);
    big sum = big_add_mod(&v[2], &product, r);
    assert_true(big_is_zero(&sum)); /* A2 + B2·λ */
    big det = big_mul(&v[0], &v[3]), other = big_mul(&v[2], &v[1]);
    det = big_add(&det, &other);
    assert_int_equal(big_compare(&det, r), 0);
    for (int i = 0; i < 2; i++) { /* N1 of B2, N2 of B1: |2^257·B - 2·N·r| <= r */
        big two257 = big_power_of_two(257), exact = big_mul(&two257, &v[3 - 2 * i]);
        big rounded = big_mul(&n[i], r);
        rounded = big_add(&rounded, &rounded);
        big off = big_compare(&exact, &rounded) >= 0 ? big_sub(&exact, &rounded)
                                                     : big_sub(&rounded, &exact);
        assert_true(big_compare(&off, r) <= 0);
    }
    /* each quotient is off by 1/2 + (r/2)/2^257 at most: times 2^258 that is 2^257 + r */
    big a = big_add(&v[0], &v[2]), b = big_add(&v[1], &v[3]), off = big_power_of_two(257);
    off = big_add(&off, r);
    big largest = big_mul(big_compare(&a, &b) > 0 ? &a : &b, &off), scale = big_power_of_two(258);
    big rest, bound = big_div(&largest, &scale, &rest);
    assert_int_equal(big_compare(&bound, most), 0);
    assert_true(big_bits(&bound) <= 127); /* with a sign in two words */
}

static void test_halves(void **state)
{
    (void)state;
#define BIG(macro) big_from_words((const uint64_t[])macro, sizeof((const uint64_t[])macro) / 8)
#define CHECK(CURVE, family)                                                                       \
    do {                                                                                           \
        big p, r, lambda = BIG(CUZK_##CURVE##_LAMBDA), most = BIG(CUZK_##CURVE##_GLV_MOST);        \
        const big v[] = {BIG(CUZK_##CURVE##_GLV_A1), BIG(CUZK_##CURVE##_GLV_B1),                   \
                         BIG(CUZK_##CURVE##_GLV_A2), BIG(CUZK_##CURVE##_GLV_B2)};                  \
        const big n[] = {BIG(CUZK_##CURVE##_GLV_N1), BIG(CUZK_##CURVE##_GLV_N2)};                  \
        family(&p, &r);                                                                            \
        check_halves(&r, &lambda, v, n, &most);                                                    \
    } while (0)
    CHECK(BN254, bn254_family);
    CHECK(BLS12_381, bls12_381_family);
#undef CHECK
#undef BIG
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bn254_test),
        cmocka_unit_test(bls12_381_test),
        cmocka_unit_test(test_bn254_lattice),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests_name("constants", tests, NULL, NULL);
}
