/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Long lists of witness values and of a key's coefficients, checked by several threads: whatever
 * is wrong and wherever, the first bad index is told, and with it what was found. */
#include "base/bytes.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static uint64_t seed = 0x5eed0fb1;
static cuzk_pool *pools[3]; /* none, one thread, four */

/* More than the pieces of one thread, and no multiple of them. */
enum { VALUES = 50001, COEFFS = 40003 };

/* Places around the borders of pieces of any power of two. */
static uint64_t random_place(uint64_t n)
{
    uint64_t border = UINT64_C(1) << (cuzk_test_random(&seed) % 16);
    uint64_t at = cuzk_test_random(&seed) % 3 == 0 ? cuzk_test_random(&seed)
                                                   : border + cuzk_test_random(&seed) % 3 - 1;
    return at % n;
}

/* The order of the curve's scalar field, plus `more`. */
static void put_order(uint8_t out[32], const cuzk_curve *c, uint64_t more)
{
    for (int i = 0; i < 4; i++) {
        cuzk_store_u64_le(out + 8 * i, c->r[i] + (i == 0 ? more : 0));
    }
}

static void test_values(void **state)
{
    (void)state;
    static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};
    for (int c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(curves[c]);
        uint8_t(*values)[32] = calloc(VALUES, 32);
        assert_non_null(values);
        for (uint64_t i = 0; i < VALUES; i++) {
            cuzk_store_u64_le(values[i], i == 0 ? 1 : cuzk_test_random(&seed));
            cuzk_store_u64_le(values[i] + 24, i == 0 ? 0 : cuzk_test_random(&seed) % curve->r[3]);
        }
        put_order(values[VALUES - 2], curve, UINT64_MAX); /* less 1: the largest there is */
        cuzk_wtns w = {.curve = curve, .n_values = VALUES, .values = values[0]};
        for (int p = 0; p < 3; p++) {
            assert_int_equal(cuzk_wtns_check(&w, pools[p], NULL), CUZK_OK);
        }
        for (int round = 0; round < 60; round++) {
            uint64_t first = random_place(VALUES), places[4] = {first};
            uint8_t saved[4][32];
            for (int k = 0; k < 4; k++) {
                places[k] = k == 0 ? first : first + random_place(VALUES - first);
                memcpy(saved[k], values[places[k]], 32);
            }
            for (int k = 0; k < 4; k++) {
                put_order(values[places[k]], curve, (uint64_t)k);
            }
            char text[64];
            cuzk_error err = {0};
            snprintf(text, sizeof text, "witness value %" PRIu64 " is 0x", first);
            assert_int_equal(cuzk_wtns_check(&w, pools[round % 3], &err), CUZK_E_FORMAT);
            assert_mentions(err.text, text);
            assert_mentions(err.text, curve->snarkjs_name);
            /* a shorter list is right */
            if (first > 0) {
                w.n_values = first;
                assert_int_equal(cuzk_wtns_check(&w, pools[round % 3], NULL), CUZK_OK);
                w.n_values = VALUES;
            }
            for (int k = 4; k-- > 0;) {
                memcpy(values[places[k]], saved[k], 32);
            }
        }
        /* the constant 1: anything else that is a value */
        static const uint8_t ones[] = {0, 2, 255};
        for (size_t i = 0; i < sizeof ones; i++) {
            cuzk_error err = {0};
            values[0][0] = ones[i];
            assert_int_equal(cuzk_wtns_check(&w, pools[2], &err), CUZK_E_UNSATISFIED);
            assert_mentions(err.text, "witness value 0 is 0x");
        }
        free(values);
    }
}

/* A record that is wrong in one of four ways. */
static void spoil(uint8_t record[CUZK_ZKEY_COEFF_BYTES], const cuzk_zkey *key, unsigned how)
{
    switch (how) {
    case 0:
        cuzk_store_u32_le(record, 2);
        break;
    case 1:
        cuzk_store_u32_le(record + 4, key->domain_size);
        break;
    case 2:
        cuzk_store_u32_le(record + 8, key->n_vars);
        break;
    default:
        put_order(record + 12, key->curve, 0);
        break;
    }
}

static void test_coefficients(void **state)
{
    (void)state;
    static const char *const why[] = {
        "matrix 2, expected 0 (A) or 1 (B)", "row 4096, expected below the domain size 4096",
        "wire 777, expected below 777", "value is not below the field order"};
    uint8_t(*records)[CUZK_ZKEY_COEFF_BYTES] = calloc(COEFFS, CUZK_ZKEY_COEFF_BYTES);
    assert_non_null(records);
    cuzk_zkey key = {.curve = cuzk_curve_get(CUZK_CURVE_BN254),
                     .n_vars = 777,
                     .n_public = 3,
                     .domain_size = 4096,
                     .n_coeffs = COEFFS,
                     .coeffs = records[0]};
    for (uint64_t i = 0; i < COEFFS; i++) {
        cuzk_store_u32_le(records[i], i % 2);
        cuzk_store_u32_le(records[i] + 4, (uint32_t)(cuzk_test_random(&seed) % 4096));
        cuzk_store_u32_le(records[i] + 8, (uint32_t)(cuzk_test_random(&seed) % 777));
        put_order(records[i] + 12, key.curve, i % 2 == 0 ? UINT64_MAX : UINT64_MAX - i);
    }
    for (int p = 0; p < 3; p++) {
        assert_int_equal(cuzk_zkey_check_coeffs(&key, pools[p], NULL), CUZK_OK);
    }
    for (int round = 0; round < 120; round++) {
        uint64_t first = random_place(COEFFS), later = first + random_place(COEFFS - first);
        uint8_t saved[2][CUZK_ZKEY_COEFF_BYTES];
        char text[120];
        cuzk_error err = {0};
        cuzk_zkey_coeff c;
        memcpy(saved[0], records[first], sizeof saved[0]);
        memcpy(saved[1], records[later], sizeof saved[1]);
        spoil(records[later], &key, (unsigned)(round + 1) % 4);
        memcpy(records[first], saved[0], sizeof saved[0]);
        spoil(records[first], &key, (unsigned)round % 4);
        assert_false(cuzk_zkey_coeff_read(&key, first, &c));
        snprintf(text, sizeof text, "zkey section 4 (coefficients): record %" PRIu64 ": %s", first,
                 why[round % 4]);
        assert_int_equal(cuzk_zkey_check_coeffs(&key, pools[round % 3], &err), CUZK_E_FORMAT);
        assert_string_equal(err.text, text);
        memcpy(records[later], saved[1], sizeof saved[1]);
        memcpy(records[first], saved[0], sizeof saved[0]);
        assert_true(cuzk_zkey_coeff_read(&key, first, &c));
    }
    /* how many constraints: from the last record, where writers put the public rows, or from all */
    cuzk_store_u32_le(records[COEFFS - 1], 0);
    cuzk_store_u32_le(records[COEFFS - 1] + 4, 1003);
    cuzk_store_u32_le(records[COEFFS - 1] + 8, key.n_public);
    assert_int_equal(cuzk_zkey_n_constraints(&key), 1000);
    uint32_t largest = 0;
    cuzk_store_u32_le(records[COEFFS - 1] + 8, key.n_public + 1);
    for (uint64_t i = 0; i < COEFFS; i++) {
        uint32_t row = cuzk_load_u32_le(records[i] + 4);
        largest = row > largest ? row : largest;
    }
    assert_int_equal(cuzk_zkey_n_constraints(&key), largest - key.n_public);
    key.n_coeffs = 0;
    assert_int_equal(cuzk_zkey_n_constraints(&key), 0);
    assert_int_equal(cuzk_zkey_check_coeffs(&key, pools[2], NULL), CUZK_OK);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_coefficients),
    };
    if (cuzk_pool_create(&pools[1], 1, NULL) != CUZK_OK ||
        cuzk_pool_create(&pools[2], 4, NULL) != CUZK_OK) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pools[1]);
    cuzk_pool_destroy(pools[2]);
    return failed;
}
