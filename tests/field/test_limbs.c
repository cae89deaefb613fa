/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every function of field/limbs.h for one to eight words, held against whole numbers in digits of
 * 32 bits (tests/bigint.h): edge words in every combination that is small enough, then random ones
 * in which edge words are frequent. */
#include "bigint.h"
#include "field_test.h"

#include "field/limbs.h"

enum { WORDS_MAX = 8, ROUNDS = 300 };

/* f(…, n): the functions unroll their loops and want a constant. */
#define CONST_N(n, f, ...)                                                                         \
    ((n) == 1   ? f(__VA_ARGS__, 1)                                                                \
     : (n) == 2 ? f(__VA_ARGS__, 2)                                                                \
     : (n) == 3 ? f(__VA_ARGS__, 3)                                                                \
     : (n) == 4 ? f(__VA_ARGS__, 4)                                                                \
     : (n) == 5 ? f(__VA_ARGS__, 5)                                                                \
     : (n) == 6 ? f(__VA_ARGS__, 6)                                                                \
     : (n) == 7 ? f(__VA_ARGS__, 7)                                                                \
                : f(__VA_ARGS__, 8))

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 UINT64_C(0xffffffff),
                                 UINT64_C(0x100000000),
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0x8000000000000000),
                                 UINT64_C(0x8000000000000001),
                                 UINT64_C(0xfffffffffffffffe),
                                 UINT64_C(0xffffffffffffffff)};
enum { N_EDGES = sizeof edges / sizeof edges[0] };

static void expect_big(const char *what, int n, const uint64_t *found, size_t words,
                       const big *expected)
{
    uint64_t want[2 * WORDS_MAX + 1];
    big_to_words(want, words, expected);
    for (size_t i = 0; i < words; i++) {
        if (found[i] != want[i]) {
            fail_msg("%s, %d words: word %zu is 0x%016llx, expected 0x%016llx", what, n, i,
                     (unsigned long long)found[i], (unsigned long long)want[i]);
        }
    }
}

/* The reference against itself: quotient and rest put together, inverses multiplied. */
static void test_reference(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t w[16], v[8];
        rand_words(w, 16);
        unsigned n = 1 + (unsigned)(rand_u64() % 8);
        rand_words(v, n);
        v[0] |= 1;
        big a = big_from_words(w, 1 + rand_u64() % 16), m = big_from_words(v, n), rest;
        big quotient = big_div(&a, &m, &rest);
        assert_true(big_compare(&rest, &m) < 0);
        big back = big_mul(&quotient, &m);
        back = big_add(&back, &rest);
        assert_int_equal(big_compare(&back, &a), 0);
        uint8_t bytes[160];
        big_to_le(bytes, sizeof bytes, &a);
        back = big_from_le(bytes, sizeof bytes);
        assert_int_equal(big_compare(&back, &a), 0);
    }
    const uint64_t p25519[4] = {UINT64_MAX - 18, UINT64_MAX, UINT64_MAX, UINT64_MAX >> 1};
    big p = big_from_words(p25519, 4), two = big_of(2), e = big_sub(&p, &two);
    for (int i = 0; i < 20; i++) {
        uint64_t w[4];
        rand_below(w, p25519, 4);
        big a = big_from_words(w, 4), inverse = big_inv_mod(&a, &p);
        big power = big_pow_mod(&a, &e, &p); /* Fermat */
        assert_int_equal(big_compare(&inverse, &power), 0);
        big one = big_mul_mod(&a, &inverse, &p), expected = big_of(!big_is_zero(&a));
        assert_int_equal(big_compare(&one, &expected), 0);
    }
}

static void test_words(void **state)
{
    (void)state;
    for (int i = 0; i < N_EDGES; i++) {
        for (int j = 0; j < N_EDGES; j++) {
            big a = big_of(edges[i]), b = big_of(edges[j]);
            for (uint64_t carry = 0; carry <= 1; carry++) {
                uint64_t found[2], c = carry;
                big plus = big_of(carry), sum = big_add(&a, &b);
                sum = big_add(&sum, &plus);
                found[0] = cuzk_adc(edges[i], edges[j], &c);
                found[1] = c;
                expect_big("adc", 1, found, 2, &sum);

                c = carry;
                found[0] = cuzk_sbb(edges[i], edges[j], &c);
                big take = big_add(&b, &plus), whole = big_power_of_two(64);
                bool borrow = big_compare(&a, &take) < 0;
                big from = borrow ? big_add(&a, &whole) : a;
                from = big_sub(&from, &take);
                assert_int_equal(c, borrow);
                expect_big("sbb", 1, found, 1, &from);
            }
            for (int k = 0; k < N_EDGES; k++) {
                for (int l = 0; l < N_EDGES; l++) {
                    uint64_t found[2] = {0, edges[l]};
                    big c = big_of(edges[k]), carry = big_of(edges[l]), sum = big_mul(&a, &b);
                    sum = big_add(&sum, &c);
                    sum = big_add(&sum, &carry);
                    found[0] = cuzk_mac(edges[i], edges[j], edges[k], &found[1]);
                    expect_big("mac", 1, found, 2, &sum);
                }
            }
        }
    }
}

/* Sums, differences, comparisons and products of n words; o may be a or b where that is said. */
static void check_plain(int n, const uint64_t *a, const uint64_t *b)
{
    uint64_t o[2 * WORDS_MAX + 1], t[WORDS_MAX + 1];
    size_t bytes = 8 * (size_t)n;
    big x = big_from_words(a, (size_t)n), y = big_from_words(b, (size_t)n);
    big whole = big_power_of_two(64 * (unsigned)n), expected = big_add(&x, &y);
    o[n] = CONST_N(n, cuzk_limbs_add, o, a, b);
    expect_big("add", n, o, (size_t)n + 1, &expected);
    memcpy(t, a, bytes);
    o[n] = CONST_N(n, cuzk_limbs_add, t, t, b);
    memcpy(o, t, bytes);
    expect_big("add, o = a", n, o, (size_t)n + 1, &expected);

    bool less = big_compare(&x, &y) < 0;
    big from = less ? big_add(&x, &whole) : x;
    expected = big_sub(&from, &y);
    assert_int_equal(CONST_N(n, cuzk_limbs_sub, o, a, b), less);
    expect_big("sub", n, o, (size_t)n, &expected);
    memcpy(t, b, bytes);
    assert_int_equal(CONST_N(n, cuzk_limbs_sub, t, a, t), less);
    expect_big("sub, o = b", n, t, (size_t)n, &expected);

    assert_true(CONST_N(n, cuzk_limbs_less, a, b) == less);
    assert_true(CONST_N(n, cuzk_limbs_eq, a, b) == (big_compare(&x, &y) == 0));
    assert_true(CONST_N(n, cuzk_limbs_is_zero, a) == big_is_zero(&x));

    expected = big_mul(&x, &y);
    o[2 * n] = UINT64_C(0x5a5a5a5a5a5a5a5a); /* the word behind */
    CONST_N(n, cuzk_limbs_mul, o, a, b);
    expect_big("mul", n, o, 2 * (size_t)n, &expected);
    assert_true(o[2 * n] == UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void test_plain(void **state)
{
    (void)state;
    for (int n = 1; n <= WORDS_MAX; n++) {
        for (int i = 0; i < N_EDGES; i++) {
            for (int j = 0; j < N_EDGES; j++) {
                uint64_t a[WORDS_MAX], b[WORDS_MAX];
                for (int k = 0; k < n; k++) { /* the same word everywhere, or at one end only */
                    a[k] = edges[i];
                    b[k] = k == 0 || i % 2 ? edges[j] : 0;
                }
                check_plain(n, a, b);
                check_plain(n, b, a);
            }
        }
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t a[WORDS_MAX], b[WORDS_MAX];
            rand_words(a, (unsigned)n);
            rand_words(b, (unsigned)n);
            check_plain(n, a, b);
            memcpy(b, a, sizeof a);
            b[rand_u64() % (unsigned)n] ^= (uint64_t)1 << (rand_u64() % 64); /* one bit apart */
            check_plain(n, a, b);
            check_plain(n, a, a);
        }
    }
}

/* -1/p mod 2^64 by Newton's iteration. */
static uint64_t minus_inverse(uint64_t p)
{
    uint64_t x = 1;
    for (int i = 0; i < 6; i++) {
        x *= 2 - p * x;
    }
    return 0 - x;
}

/* An odd number below 2^(64n-1): edge-heavy, the largest and smallest of the range among them. */
static void draw_modulus(uint64_t *p, int n)
{
    rand_words(p, (unsigned)n);
    switch (rand_u64() % 6) {
    case 0: /* 2^(64n-1) - 1 */
        memset(p, 0xff, 8 * (size_t)n);
        break;
    case 1: /* 2^(64n-2) + 1 */
        memset(p, 0, 8 * (size_t)n);
        p[n - 1] = (uint64_t)1 << 62;
        break;
    case 2: /* a short one */
        memset(p, 0, 8 * (size_t)n);
        p[0] = 3 + (rand_u64() & 0xff);
        break;
    default:
        break;
    }
    p[n - 1] &= UINT64_MAX >> 1;
    p[0] |= 1;
    if (n == 1 && p[0] == 1) {
        p[0] = 3;
    }
}

/* A number below p, the ends of the range among them. */
static void draw_below(uint64_t *o, const uint64_t *p, int n)
{
    big m = big_from_words(p, (size_t)n), small = big_of(1 + rand_u64() % 3);
    rand_words(o, (unsigned)n);
    big v = big_from_words(o, (size_t)n);
    v = big_mod(&v, &m);
    if (rand_u64() % 4 == 0) {
        v = big_sub_mod(&m, &small, &m);
    }
    big_to_words(o, (size_t)n, &v);
}

static void test_reduce_once(void **state)
{
    (void)state;
    for (int n = 1; n <= WORDS_MAX; n++) {
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t p[WORDS_MAX], a[WORDS_MAX], o[WORDS_MAX];
            draw_modulus(p, n);
            draw_below(a, p, n);
            big m = big_from_words(p, (size_t)n), below = big_from_words(a, (size_t)n);
            CONST_N(n, cuzk_limbs_reduce_once, o, a, p);
            expect_big("reduce_once of a < p", n, o, (size_t)n, &below);
            (void)CONST_N(n, cuzk_limbs_add, a, a, p); /* p ≤ a < 2p */
            CONST_N(n, cuzk_limbs_reduce_once, a, a, p);
            expect_big("reduce_once of a ≥ p, o = a", n, a, (size_t)n, &below);
            big zero = big_of(0);
            CONST_N(n, cuzk_limbs_reduce_once, o, p, p);
            expect_big("reduce_once of p", n, o, (size_t)n, &zero);
            assert_true(big_compare(&below, &m) < 0);
        }
    }
}

static void test_montgomery(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t p[WORDS_MAX], a[WORDS_MAX], b[WORDS_MAX], o[WORDS_MAX], t[WORDS_MAX];
            size_t bytes = 8 * (size_t)n;
            draw_modulus(p, n);
            draw_below(a, p, n);
            rand_words(b, (unsigned)n); /* any number */
            uint64_t n0 = minus_inverse(p[0]);
            big m = big_from_words(p, (size_t)n), r = big_power_of_two(64 * (unsigned)n);
            big r_inverse = big_mod(&r, &m);
            r_inverse = big_inv_mod(&r_inverse, &m);
            big x = big_from_words(a, (size_t)n), y = big_from_words(b, (size_t)n);
            big expected = big_mul_mod(&x, &y, &m);
            expected = big_mul_mod(&expected, &r_inverse, &m);
            CONST_N(n, cuzk_mont_mul_portable, o, a, b, p, n0);
            expect_big("mont_mul", n, o, (size_t)n, &expected);
            memcpy(t, a, bytes);
            CONST_N(n, cuzk_mont_mul_portable, t, t, b, p, n0);
            expect_big("mont_mul, o = a", n, t, (size_t)n, &expected);
            memcpy(t, b, bytes);
            CONST_N(n, cuzk_mont_mul_portable, t, a, t, p, n0);
            expect_big("mont_mul, o = b", n, t, (size_t)n, &expected);

            /* halves of a number below (2^(64n) - 1)·p: any low half with a high half below p - 1,
             * and the largest number of all */
            uint64_t high[WORDS_MAX];
            big one = big_of(1), top = big_sub(&r, &one), largest = big_mul(&top, &m);
            largest = big_sub(&largest, &one);
            draw_below(high, p, n);
            big h = big_from_words(high, (size_t)n), wide = big_mul(&h, &r);
            wide = big_add(&wide, &y);
            if (i % 8 == 0 || big_compare(&wide, &largest) > 0) {
                wide = largest;
            }
            uint64_t both[2 * WORDS_MAX];
            big_to_words(both, 2 * (size_t)n, &wide);
            expected = big_mul_mod(&wide, &r_inverse, &m);
            CONST_N(n, cuzk_mont_redc_portable, o, both, both + n, p, n0);
            expect_big("mont_redc", n, o, (size_t)n, &expected);
            memcpy(t, both, bytes);
            CONST_N(n, cuzk_mont_redc_portable, t, t, both + n, p, n0);
            expect_big("mont_redc, o = l", n, t, (size_t)n, &expected);
            memcpy(t, both + n, bytes);
            CONST_N(n, cuzk_mont_redc_portable, t, both, t, p, n0);
            expect_big("mont_redc, o = h", n, t, (size_t)n, &expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_reduce_once),
        cmocka_unit_test(test_montgomery),
    };
    field_test_begin();
    return cmocka_run_group_tests_name("limbs", tests, NULL, NULL);
}
