/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Typed witnesses at the edges: counts around words and around the ranges that threads take, values
 * next to 0, 1, 2 and the order in every place of a word, values at any alignment at the end of a
 * page, parts of a range read back, the first bad value whatever the threads. */
#define _GNU_SOURCE
#include "base/bitmap.h"
#include "fence.h"
#include "r1cs/witness.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pools.h"

static uint64_t seed = 0x717e55;

enum { RANGE = 16384 }; /* variables that a thread takes at once */

static uint32_t below(uint32_t n)
{
    return (uint32_t)(cuzk_test_random(&seed) % n);
}

/* Value number `kind`: 0, 1, 2, 2^8, 2^63, 2^64, 2^64 + 1, 2^128, 2^192 + 1, r - 1, r - 2,
 * 2^252 + 1; all below r. */
enum { N_KINDS = 12 };

static void value_of(const cuzk_curve *curve, unsigned kind, uint8_t out[32])
{
    uint64_t w[4] = {0};
    switch (kind) {
    case 0:
    case 1:
    case 2:
        w[0] = kind;
        break;
    case 3:
        w[0] = 256;
        break;
    case 4:
        w[0] = (uint64_t)1 << 63;
        break;
    case 5:
    case 6:
        w[0] = kind - 5; /* 0 and 1 in the lowest word, but no bit */
        w[1] = 1;
        break;
    case 7:
        w[2] = 1;
        break;
    case 8:
        w[0] = 1;
        w[3] = 1;
        break;
    case 9:
    case 10:
        memcpy(w, curve->r, sizeof w);
        w[0] -= kind - 8;
        break;
    default:
        w[0] = 1;
        w[3] = (uint64_t)1 << 60;
        break;
    }
    memcpy(out, w, 32);
}

/* The witness of n values of these kinds, against each value by itself. */
static void check(const cuzk_curve *curve, const uint8_t *values, uint32_t n, unsigned n_threads)
{
    fenced f = fenced_copy(values, 32 * (size_t)n);
    cuzk_witness *w = NULL;
    cuzk_error err = {0};
    uint32_t n_inputs = 1 + below(n), n_field = 0;
    cuzk_status status =
        cuzk_witness_from_values(&w, curve, f.at, n, n_inputs, "edges", pools[n_threads], &err);
    unfence(&f); /* the values are not kept */
    if (status != CUZK_OK) {
        fail_msg("%u values: %s", n, err.text);
    }
    assert_int_equal(w->n_vars, n);
    assert_int_equal(w->n_inputs, n_inputs);
    static const uint8_t zero[32];
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *v = values + 32 * (size_t)i;
        bool is_bit = v[0] <= 1 && memcmp(v + 1, zero, 31) == 0;
        assert_int_equal(cuzk_bitmap_get(w->is_field, i), !is_bit);
        assert_int_equal(cuzk_bitmap_get(w->bits, i), is_bit && v[0] == 1);
        assert_int_equal(cuzk_witness_rank(w, i), n_field);
        if (!is_bit) {
            assert_memory_equal(w->field[n_field], v, 32);
            n_field++;
        }
    }
    assert_int_equal(w->n_field, n_field);
    assert_int_equal(w->rank[cuzk_bitmap_words(n)], n_field); /* one more than words */
    assert_int_equal((uintptr_t)w->field % 64, 0);
    if (n % 64 != 0) { /* nothing behind the last */
        assert_int_equal(w->is_field[n / 64] >> (n % 64), 0);
        assert_int_equal(w->bits[n / 64] >> (n % 64), 0);
    }
    assert_true(cuzk_witness_bytes(n, n_field) >= sizeof *w + n / 8 * 2 + 32 * (size_t)n_field);
    for (int k = 0; k < 8; k++) { /* parts, the empty one and the whole among them */
        uint32_t first = k == 0 ? 0 : below(n), count = k == 0 ? n : below(n - first + 1);
        uint8_t *part = malloc(32 * (size_t)count + 1);
        part[32 * (size_t)count] = 0x77;
        cuzk_witness_get_range(w, first, count, part);
        assert_memory_equal(part, values + 32 * (size_t)first, 32 * (size_t)count);
        assert_int_equal(part[32 * (size_t)count], 0x77);
        free(part);
    }
    cuzk_witness_destroy(w);
}

static void test_counts(void **state)
{
    (void)state;
    static const uint32_t counts[] = {
        1,   2,         63,    64,        65,    127,       128,
        129, RANGE - 1, RANGE, RANGE + 1, 40000, 2 * RANGE, 2 * RANGE + 65};
    uint8_t *values = malloc(32 * (size_t)(2 * RANGE + 65));
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const cuzk_curve *curve = cuzk_curve_get(c % 2 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        for (unsigned mix = 0; mix < 3; mix++) { /* of everything, bits alone, no bits */
            for (uint32_t i = 0; i < counts[c] && i < 2 * RANGE + 65; i++) {
                unsigned kind = mix == 0 ? below(N_KINDS) : mix == 1 ? below(2) : 2 + below(10);
                value_of(curve, i == 0 ? 1 : kind, values + 32 * (size_t)i);
            }
            uint32_t n = counts[c] < 2 * RANGE + 65 ? counts[c] : 2 * RANGE + 65;
            check(curve, values, n, 1 + (unsigned)(c + mix) % 5);
        }
    }
    free(values);
}

/* Each kind of value in each of the 64 places of a word, alone among bits. */
static void test_places(void **state)
{
    (void)state;
    uint8_t values[130 * 32];
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        const cuzk_curve *curve =
            cuzk_curve_get(kind % 2 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        for (uint32_t place = 1; place < 130; place++) {
            memset(values, 0, sizeof values);
            for (uint32_t i = 0; i < 130; i++) {
                values[32 * i] = (uint8_t)(i == 0 || i % 3 == 0);
            }
            value_of(curve, kind, values + 32 * place);
            check(curve, values, 130, 1);
        }
    }
}

/* The first value that is not below r is named, by any number of threads, wherever it is; r itself,
 * r + 1, r + 2^64, all ones. */
static void test_first_bad(void **state)
{
    (void)state;
    enum { N = 2 * RANGE + 100 };
    static const uint32_t places[] = {1, 63, 64, RANGE - 1, RANGE, RANGE + 1, 2 * RANGE, N - 1};
    uint8_t *values = calloc(N, 32);
    for (int c = 0; c < 2; c++) {
        const cuzk_curve *curve = cuzk_curve_get(c == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        memset(values, 0, 32 * (size_t)N);
        values[0] = 1;
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            for (int kind = 0; kind < 4; kind++) {
                uint64_t w[4];
                memcpy(w, curve->r, sizeof w);
                w[0] += kind == 1;
                w[1] += kind == 2;
                if (kind == 3) {
                    memset(w, 0xff, sizeof w);
                }
                for (size_t q = p; q < sizeof places / sizeof places[0]; q += 3) {
                    memcpy(values + 32 * (size_t)places[q], w, 32); /* others behind it */
                }
                for (unsigned t = 1; t <= 5; t++) {
                    cuzk_witness *out = NULL;
                    cuzk_error err = {0};
                    char text[96];
                    assert_int_equal(cuzk_witness_from_values(&out, curve, values, N, 1, "the one",
                                                              pools[t], &err),
                                     CUZK_E_FORMAT);
                    assert_null(out);
                    snprintf(text, sizeof text, "the one: value %u is not below the order",
                             places[p]);
                    assert_int_equal(strncmp(err.text, text, strlen(text)), 0);
                }
                for (size_t q = p; q < sizeof places / sizeof places[0]; q += 3) {
                    memset(values + 32 * (size_t)places[q], 0, 32);
                }
            }
        }
        cuzk_witness *out = NULL; /* nothing is left of all that */
        assert_int_equal(
            cuzk_witness_from_values(&out, curve, values, N, 1, "the one", pools[3], NULL),
            CUZK_OK);
        assert_int_equal(out->n_field, 0);
        cuzk_witness_destroy(out);
    }
    free(values);
}

/* ONE is 1, whatever else value 0 is. */
static void test_one(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
        uint8_t values[3 * 32] = {0};
        cuzk_witness *w = NULL;
        cuzk_error err = {0};
        value_of(curve, kind, values);
        cuzk_status status =
            cuzk_witness_from_values(&w, curve, values, 3, 1, "file.wtns", NULL, &err);
        assert_int_equal(status, kind == 1 ? CUZK_OK : CUZK_E_UNSATISFIED);
        assert_true(kind == 1 || strstr(err.text, "file.wtns: value 0 is the constant 1") != NULL);
        cuzk_witness_destroy(w);
    }
    cuzk_witness_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_first_bad),
        cmocka_unit_test(test_one),
    };
    return cmocka_run_group_tests_name("witness edges", tests, make_pools, destroy_pools);
}
