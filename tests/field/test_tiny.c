/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The field template over two primes of one word: 251, where every pair of elements is tried, and
 * the largest prime below 2^63, the template's bound, where sums come closest to overflow. The
 * reference is the remainder of 128-bit integers. */
#define CUZK_CURVE_IS_BN254     1
#define CUZK_CURVE_IS_BLS12_381 0
#include "field/fields.h"

#include "field_test.h"

typedef struct {
    uint64_t l[1];
} CUZK_MAY_ALIAS f251;

typedef struct {
    uint64_t l[1];
} CUZK_MAY_ALIAS f63;

#define F251_MODULUS                                                                               \
    {                                                                                              \
        251                                                                                        \
    }
#define F251_MODULUS_MINUS_2                                                                       \
    {                                                                                              \
        249                                                                                        \
    }
#define F251_N0 UINT64_C(0xd734041465fdf5cd) /* -1/251 mod 2^64 */
#define F251_ONE                                                                                   \
    {                                                                                              \
        {                                                                                          \
            69                                                                                     \
        }                                                                                          \
    } /* 2^64 mod 251 */
#define F251_R2                                                                                    \
    {                                                                                              \
        {                                                                                          \
            243                                                                                    \
        }                                                                                          \
    } /* 2^128 mod 251 */

#define F63_MODULUS                                                                                \
    {                                                                                              \
        UINT64_C(9223372036854775783)                                                              \
    } /* 2^63 - 25 */
#define F63_MODULUS_MINUS_2                                                                        \
    {                                                                                              \
        UINT64_C(9223372036854775781)                                                              \
    }
#define F63_N0 UINT64_C(0x0f5c28f5c28f5c29) /* -1/p mod 2^64 */
#define F63_ONE                                                                                    \
    {                                                                                              \
        {                                                                                          \
            50                                                                                     \
        }                                                                                          \
    } /* 2^64 mod p */
#define F63_R2                                                                                     \
    {                                                                                              \
        {                                                                                          \
            2500                                                                                   \
        }                                                                                          \
    } /* 2^128 mod p */

#define F(name)   f251_##name
#define F_T       f251
#define F_LIMBS   1
#define F_C(name) F251_##name
#include "field/field_tmpl.h"

#define F(name)   f63_##name
#define F_T       f63
#define F_LIMBS   1
#define F_C(name) F63_##name
#include "field/field_tmpl.h"

static f251 of(uint64_t v)
{
    f251 x;
    f251_from_canonical(&x, &v);
    return x;
}

static uint64_t plain(f251 x)
{
    uint64_t v;
    assert_true(f251_is_reduced(&x));
    f251_to_canonical(&v, &x);
    return v;
}

static void test_every_element(void **state)
{
    (void)state;
    for (uint64_t a = 0; a < 251; a++) {
        f251 x = of(a), o, many[3];
        assert_int_equal(plain(x), a);
        assert_int_equal(plain(of(a + 251)), a);
        assert_true(f251_is_zero(&x) == (a == 0) && f251_is_one(&x) == (a == 1));
        f251_neg(&o, &x);
        assert_int_equal(plain(o), (251 - a) % 251);
        f251_dbl(&o, &x);
        assert_int_equal(plain(o), 2 * a % 251);
        f251_sqr(&o, &x);
        assert_int_equal(plain(o), a * a % 251);
        f251_inv(&o, &x);
        assert_int_equal(plain(o) * a % 251, a != 0);
        uint64_t power = 1;
        for (uint64_t e = 0; e < 300; e++) {
            f251_pow(&o, &x, &e, 1);
            assert_int_equal(plain(o), power);
            power = power * a % 251;
        }
        many[0] = x;
        many[1] = of(0);
        many[2] = of(a + 1);
        f251 tmp[3];
        f251_batch_inv(many, 3, tmp);
        assert_int_equal(plain(many[0]) * a % 251, a != 0);
        assert_int_equal(plain(many[1]), 0);
        assert_int_equal(plain(many[2]) * (a + 1) % 251, a != 250);
    }
}

static void test_every_pair(void **state)
{
    (void)state;
    for (uint64_t a = 0; a < 251; a++) {
        for (uint64_t b = 0; b < 251; b++) {
            f251 x = of(a), y = of(b), o;
            f251_add(&o, &x, &y);
            assert_int_equal(plain(o), (a + b) % 251);
            f251_sub(&o, &x, &y);
            assert_int_equal(plain(o), (a + 251 - b) % 251);
            f251_mul(&o, &x, &y);
            assert_int_equal(plain(o), a * b % 251);
            assert_true(f251_eq(&x, &y) == (a == b));
        }
    }
}

static void test_largest_modulus(void **state)
{
    (void)state;
    static const uint64_t p[1] = F63_MODULUS;
    for (int i = 0; i < 20000; i++) {
        uint64_t a, b, v;
        f63 x, y, o;
        rand_below(&a, p, 1);
        rand_below(&b, p, 1);
        f63_from_canonical(&x, &a);
        f63_from_canonical(&y, &b);
        f63_mul(&o, &x, &y);
        f63_to_canonical(&v, &o);
        assert_true(v == (uint64_t)((cuzk_u128)a * b % p[0]));
        f63_add(&o, &x, &y);
        f63_to_canonical(&v, &o);
        assert_true(v == (uint64_t)(((cuzk_u128)a + b) % p[0]));
        f63_sub(&o, &x, &y);
        f63_to_canonical(&v, &o);
        assert_true(v == (uint64_t)(((cuzk_u128)a + p[0] - b) % p[0]));
        f63_inv(&o, &x);
        f63_mul(&o, &o, &x);
        assert_true(a == 0 ? f63_is_zero(&o) : f63_is_one(&o));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_element),
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_largest_modulus),
    };
    field_test_begin();
    return cmocka_run_group_tests_name("tiny fields", tests, NULL, NULL);
}
