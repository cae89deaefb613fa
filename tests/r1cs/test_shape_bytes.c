/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shape files with any byte changed, in memory that ends where they end: each is refused, or the
 * circuit that it makes is safe to use: rows, check, fingerprint and writing stay inside of the
 * file and give reduced values. Nothing here compares with expectations of single bytes; that does
 * test_shape_store.c. */
#define _GNU_SOURCE
#include "base/bitmap.h"
#include "base/bytes.h"
#include "fence.h"
#include "formats/shape_file.h"
#include "r1cs/satisfy.h"
#include "r1cs/shape_store.h"
#include "random.h"
#include "some_circuit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eedb17e;

static uint8_t *file_of(const cuzk_curve *curve, size_t *size)
{
    uint8_t fingerprint[32];
    char *data = NULL;
    cuzk_shape *s = NULL;
    assert_int_equal(some_circuit(&s, curve, NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_fingerprint(s, true, fingerprint, NULL), CUZK_OK);
    FILE *f = open_memstream(&data, size);
    assert_non_null(f);
    assert_int_equal(cuzk_shape_write(f, s, fingerprint, NULL), CUZK_OK);
    fclose(f);
    cuzk_shape_destroy(s);
    return (uint8_t *)data;
}

/* Everything that is done with a circuit. Its counts come from the header, which is the good one's,
 * so that they are small. */
static void use(const cuzk_shape *s)
{
    uint64_t n_rows = cuzk_shape_n_rows(s);
    cuzk_fr *rows = malloc((n_rows + 1) * sizeof *rows);
    uint8_t *values = calloc(s->n_vars, 32), fingerprint[32];
    cuzk_witness *w = NULL;
    cuzk_violation first;
    assert_non_null(rows);
    assert_non_null(values);
    for (uint32_t i = 0; i < s->n_vars; i++) { /* bits, now and then something large */
        values[32 * (size_t)i] = i == 0 ? 1 : (uint8_t)(cuzk_test_random(&seed) % 2);
        if (i > 0 && cuzk_test_random(&seed) % 4 == 0) {
            memset(values + 32 * (size_t)i, 0x2f, 32);
        }
    }
    assert_int_equal(
        cuzk_witness_from_values(&w, s->curve, values, s->n_vars, s->n_inputs, "", NULL, NULL),
        CUZK_OK);
    for (int k = 0; k < 3; k++) {
        uint64_t n_terms = 0;
        cuzk_shape_eval_rows(s, w, (cuzk_matrix)k, rows, n_rows, NULL);
        for (uint64_t i = 0; i < n_rows; i++) {
            cuzk_fr canonical;
            s->curve->fr_to_canonical_le(&canonical, &rows[i]);
            assert_true(s->curve->fr_from_canonical_le(&rows[i], &canonical)); /* below r */
        }
        for (uint32_t row = 0; row < s->n_constraints;) {
            cuzk_row_run run = cuzk_shape_run(s, row, s->n_constraints);
            assert_true(run.n > 0 && run.n <= s->n_constraints - row);
            for (uint64_t t = s->rows[k].begin[run.stored_row];
                 t < s->rows[k].begin[run.stored_row + run.n]; t++, n_terms++) {
                assert_true(cuzk_row_run_var(&run, s->rows[k].var[t]) < s->n_vars);
                assert_true(s->rows[k].code[t] < s->n_coefs);
            }
            row += run.n;
        }
        assert_int_equal(n_terms, cuzk_shape_n_terms(s, (cuzk_matrix)k));
    }
    cuzk_status status = cuzk_shape_check_witness(s, w, &first, NULL, NULL);
    assert_true(status == CUZK_OK || status == CUZK_E_UNSATISFIED);
    assert_true(status == CUZK_OK || first.constraint < s->n_constraints);
    assert_int_equal(cuzk_shape_fingerprint(s, false, fingerprint, NULL), CUZK_OK);
    assert_true(cuzk_shape_bytes(s) > 0);
    cuzk_witness_destroy(w);
    free(values);
    free(rows);
}

/* The file in fenced memory with n_changes words changed; uses it when it is not refused. Returns
 * whether it was. */
static bool try(const uint8_t *data, size_t size, size_t begin, size_t end, unsigned n_changes)
{
    fenced f = fence((size + 7) / 8 * 8);
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    memcpy(f.at, data, size);
    for (unsigned i = 0; i < n_changes; i++) {
        size_t at = begin + cuzk_test_random(&seed) % (end - begin);
        switch (cuzk_test_random(&seed) % 4) {
        case 0:
            f.at[at] ^= (uint8_t)(1 << cuzk_test_random(&seed) % 8);
            break;
        case 1:
            f.at[at] = 0xff;
            break;
        case 2: /* a word from another place */
            at = at / 4 * 4;
            memcpy(f.at + at, data + (begin + cuzk_test_random(&seed) % (end - begin)) / 4 * 4, 4);
            break;
        default:
            f.at[at] = (uint8_t)cuzk_test_random(&seed);
            break;
        }
    }
    cuzk_status status = cuzk_shape_view(&s, f.at, size, NULL, &err);
    if (status == CUZK_OK) {
        use(s);
        cuzk_shape_destroy(s);
    } else {
        assert_null(s);
        assert_true(status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED ||
                    status == CUZK_E_UNSUPPORTED);
        assert_true(err.text[0] != '\0');
    }
    unfence(&f);
    return status != CUZK_OK;
}

/* One to three changes in one array after the other. Changes of coefficients and of most flags must
 * be refused; one of the variables in rows may make another circuit. */
static void test_changes(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        size_t size, n_refused = 0, n_tried = 0;
        uint8_t *data =
            file_of(cuzk_curve_get(c == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381), &size);
        cuzk_shape_file f;
        assert_int_equal(cuzk_shape_file_open(&f, data, size, NULL), CUZK_OK);
        for (int array = 0; array < CUZK_SHAPE_ARRAY_COUNT; array++) {
            size_t begin = (size_t)(f.arrays[array].data - data);
            size_t end = array + 1 < CUZK_SHAPE_ARRAY_COUNT
                             ? (size_t)(f.arrays[array + 1].data - data)
                             : size;
            for (unsigned i = 0; begin < end && i < 60; i++, n_tried++) {
                n_refused += try(data, size, begin, end, 1 + i % 3);
            }
        }
        for (unsigned i = 0; i < 150; i++) { /* anywhere behind the header */
            (void)try(data, size, CUZK_SHAPE_HEADER_BYTES, size, 1 + i % 5);
        }
        assert_true(n_refused > n_tried / 4 && n_refused < n_tried); /* both happen */
        assert_false(try(data, size, CUZK_SHAPE_HEADER_BYTES, size, 0));
        free(data);
    }
}

/* Every word of rows and blocks in turn to 0, to all ones and to one more. */
static void test_every_word(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = file_of(cuzk_curve_get(CUZK_CURVE_BN254), &size);
    for (size_t at = CUZK_SHAPE_HEADER_BYTES; at + 4 <= size; at += 4) {
        uint32_t old = cuzk_load_u32_le(data + at);
        const uint32_t changed[] = {0, 0xffffffff, old + 1};
        for (size_t i = 0; i < 3; i++) {
            cuzk_store_u32_le(data + at, changed[i]);
            (void)try(data, size, CUZK_SHAPE_HEADER_BYTES, size, 0);
        }
        cuzk_store_u32_le(data + at, old);
    }
    free(data);
}

/* Every end of the file that is too early, and one byte too many. */
static void test_ends(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = file_of(cuzk_curve_get(CUZK_CURVE_BLS12_381), &size);
    for (size_t n = 0; n < size; n += n < 400 || n > size - 200 ? 1 : 97) {
        assert_true(try(data, n, 0, n + 1, 0));
    }
    uint8_t *more = calloc(1, size + 1);
    assert_non_null(more);
    memcpy(more, data, size);
    cuzk_shape *s = NULL;
    cuzk_status status = cuzk_shape_view(&s, more, size + 1, NULL, NULL);
    assert_true(status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED);
    assert_int_equal(cuzk_shape_view(&s, more + 1, size, NULL, NULL), CUZK_E_ARGUMENT);
    free(more);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_every_word),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests_name("shape bytes", tests, NULL, NULL);
}
