/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Decimal text: edges, known values, and reading the text back. */
#include "base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_known(void **state)
{
    (void)state;
    char out[CUZK_DECIMAL_MAX];
    uint8_t v[64] = {0};
    assert_string_equal(cuzk_decimal_from_le(out, v, 0), "0");
    assert_string_equal(cuzk_decimal_from_le(out, v, 32), "0");
    v[0] = 1;
    assert_string_equal(cuzk_decimal_from_le(out, v, 32), "1");
    memset(v, 0, sizeof v);
    v[3] = 0x3b, v[2] = 0x9a, v[1] = 0xca; /* 1,000,000,000 */
    assert_string_equal(cuzk_decimal_from_le(out, v, 4), "1000000000");
    memset(v, 0xff, sizeof v);
    assert_string_equal(cuzk_decimal_from_le(out, v, 8), "18446744073709551615");
    assert_string_equal(
        cuzk_decimal_from_le(out, v, 32),
        "115792089237316195423570985008687907853269984665640564039457584007913129639935");
    cuzk_decimal_from_le(out, v, 64);
    assert_int_equal(strlen(out), CUZK_DECIMAL_MAX - 1);
}

static void test_every_length(void **state)
{
    (void)state;
    char out[CUZK_DECIMAL_MAX];
    for (size_t n = 1; n <= 64; n++) {
        uint8_t v[64], back[64] = {0};
        for (size_t i = 0; i < n; i++) {
            v[i] = (uint8_t)(i * 37 + n);
        }
        cuzk_decimal_from_le(out, v, n);
        for (const char *p = out; *p != '\0'; p++) {
            unsigned carry = (unsigned)(*p - '0');
            for (size_t i = 0; i < n; i++) {
                carry += back[i] * 10u;
                back[i] = (uint8_t)carry;
                carry >>= 8;
            }
            assert_int_equal(carry, 0);
        }
        assert_memory_equal(v, back, n);
    }
}

static void test_read(void **state)
{
    (void)state;
    char text[CUZK_DECIMAL_MAX];
    for (size_t n = 8; n <= 64; n += 8) {
        for (int round = 0; round < 50; round++) {
            uint8_t v[64], back[64];
            for (size_t i = 0; i < n; i++) {
                v[i] = round == 0 ? 0xff : (uint8_t)(i * 91 + n + (size_t)round * 57);
            }
            memset(v + n - (size_t)round * n / 50, 0, (size_t)round * n / 50);
            cuzk_decimal_from_le(text, v, n);
            assert_true(cuzk_decimal_to_le(back, n, text, strlen(text)));
            assert_memory_equal(v, back, n);
        }
    }
    uint8_t out[32];
    assert_true(cuzk_decimal_to_le(out, 8, "00018446744073709551615", 23));
    assert_int_equal(out[7], 0xff);
    assert_false(cuzk_decimal_to_le(out, 8, "18446744073709551616", 20));
    assert_false(cuzk_decimal_to_le(out, 8, "", 0));
    assert_false(cuzk_decimal_to_le(out, 8, "1a", 2));
    assert_false(cuzk_decimal_to_le(out, 8, "-1", 2));
    assert_false(cuzk_decimal_to_le(out, 8, " 1", 2));
    assert_true(cuzk_hex_to_le(out, 16, "0fFeE1234567890abcdef", 21));
    assert_int_equal(out[0], 0xef);
    assert_int_equal(out[8], 0xee);
    assert_int_equal(out[9], 0xff);
    assert_false(cuzk_hex_to_le(out, 8, "10000000000000000", 17));
    assert_false(cuzk_hex_to_le(out, 8, "0x1", 3));
    assert_false(cuzk_hex_to_le(out, 8, "", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
