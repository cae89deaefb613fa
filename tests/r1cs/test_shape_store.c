/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compiled circuits on disk: the same circuit back, every kind of damage named, built once. */
#define _GNU_SOURCE
#include "base/bitmap.h"
#include "base/bytes.h"
#include "fixtures.h"
#include "formats/shape_file.h"
#include "json_field.h"
#include "r1cs/shape_r1cs.h"
#include "r1cs/shape_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/cuzk-shapes-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* A circuit of the reference from its .r1cs, and its fingerprint as the reference computed it. */
static cuzk_shape *load(const char *name, uint8_t fingerprint[32])
{
    char path[80];
    snprintf(path, sizeof path, "groth/%s/expected.json", name);
    cuzk_fixture f = cuzk_test_fixture(path);
    json_hex((const char *)f.data, "rows_sha256", fingerprint, 32);
    cuzk_test_fixture_free(&f);
    snprintf(path, sizeof path, "groth/%s/circuit.r1cs", name);
    f = cuzk_test_fixture(path);
    cuzk_r1cs r1cs;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_r1cs_open(&r1cs, f.data, f.size, NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_from_r1cs(&s, &r1cs, NULL), CUZK_OK);
    cuzk_test_fixture_free(&f);
    return s;
}

/* x public; a head, five equal parts of a bit, a field value and a public value, which also name
 * one of ten variables of the head in turn; a tail. */
static cuzk_shape *with_copies(void)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_shape_builder *b = NULL;
    cuzk_shape *s = NULL;
    cuzk_fr three;
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    curve->fr_from_u64(&three, 3);
    cuzk_var x = cuzk_shape_add_input(b, CUZK_VAR_FIELD);
    cuzk_shape_add_term(b, CUZK_MATRIX_A, x, &three);
    cuzk_shape_add_term(b, CUZK_MATRIX_B, x, &curve->fr_one);
    cuzk_shape_end_constraint(b);
    cuzk_var head[5];
    for (int i = 0; i < 10; i++) {
        cuzk_var v = cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
        head[i / 2] = i % 2 == 0 ? v : head[i / 2];
    }
    cuzk_shape_begin_copies(b, 5);
    cuzk_shape_choose(b, head, 2);
    cuzk_var bit = cuzk_shape_add_aux(b, CUZK_VAR_BIT);
    cuzk_var y = cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
    cuzk_var out = cuzk_shape_add_input(b, CUZK_VAR_FIELD);
    cuzk_shape_add_term(b, CUZK_MATRIX_A, bit, &three);
    cuzk_shape_add_term(b, CUZK_MATRIX_A, x, &curve->fr_one);
    cuzk_shape_add_term(b, CUZK_MATRIX_B, y, &curve->fr_one);
    cuzk_shape_add_term(b, CUZK_MATRIX_C, out, &three);
    cuzk_shape_add_term(b, CUZK_MATRIX_C, head[0] + 1, &three);
    cuzk_shape_end_constraint(b);
    cuzk_shape_end_copies(b);
    cuzk_shape_add_term(b, CUZK_MATRIX_A, x, &curve->fr_one);
    cuzk_shape_end_constraint(b);
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
    return s;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The file of a circuit, in memory. */
static uint8_t *bytes_of(const cuzk_shape *s, size_t *size)
{
    uint8_t fingerprint[32];
    char *data = NULL;
    assert_int_equal(cuzk_shape_fingerprint(s, true, fingerprint, NULL), CUZK_OK);
    FILE *f = open_memstream(&data, size);
    assert_non_null(f);
    assert_int_equal(cuzk_shape_write(f, s, fingerprint, NULL), CUZK_OK);
    fclose(f);
    return (uint8_t *)data;
}

static void expect_same_shape(const cuzk_shape *x, const cuzk_shape *y)
{
    assert_ptr_equal(x->curve, y->curve);
    assert_int_equal(x->n_inputs, y->n_inputs);
    assert_int_equal(x->n_vars, y->n_vars);
    assert_int_equal(x->n_constraints, y->n_constraints);
    assert_int_equal(x->n_blocks, y->n_blocks);
    assert_int_equal(x->n_b_input, y->n_b_input);
    assert_int_equal(x->n_a_aux, y->n_a_aux);
    assert_int_equal(x->n_b_aux, y->n_b_aux);
    assert_memory_equal(x->blocks, y->blocks, x->n_blocks * sizeof *x->blocks);
    assert_int_equal(x->n_choices, y->n_choices);
    assert_memory_equal(x->choices, y->choices, x->n_choices * sizeof *x->choices);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(cuzk_shape_n_terms(x, k), cuzk_shape_n_terms(y, k));
    }
    size_t n = cuzk_bitmap_words(x->n_vars) * 8;
    assert_memory_equal(x->is_bit, y->is_bit, n);
    assert_memory_equal(x->is_field, y->is_field, n);
    n = cuzk_bitmap_words(cuzk_shape_n_aux(x)) * 8;
    assert_memory_equal(x->a_aux_density, y->a_aux_density, n);
    assert_memory_equal(x->b_aux_density, y->b_aux_density, n);
    n = cuzk_bitmap_words(x->n_inputs) * 8;
    assert_memory_equal(x->b_input_density, y->b_input_density, n);
}

static void test_same_circuit(void **state)
{
    (void)state;
    static const char *const names[] = {"product",   "cube",      "noaux",     "sparse",
                                        "dense",     "inputs300", "exact1024", "above1024",
                                        "poseidon8", "sha256"};
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
    for (size_t i = 0; i <= sizeof names / sizeof names[0]; i++) {
        bool own = i == sizeof names / sizeof names[0];
        uint8_t expected[32], found[32];
        size_t size;
        cuzk_shape *s = own ? with_copies() : load(names[i], expected), *back = NULL;
        if (own) {
            assert_int_equal(cuzk_shape_fingerprint(s, true, expected, NULL), CUZK_OK);
        }
        uint8_t *data = bytes_of(s, &size);
        cuzk_error err = {0};
        if (cuzk_shape_view(&back, data, size, pool, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        expect_same_shape(s, back);
        assert_int_equal(cuzk_shape_fingerprint(back, true, found, NULL), CUZK_OK);
        assert_memory_equal(found, expected, 32);
        cuzk_shape_file f;
        assert_int_equal(cuzk_shape_file_open(&f, data, size, NULL), CUZK_OK);
        assert_memory_equal(f.header.fingerprint, expected, 32);
        assert_int_equal(cuzk_shape_file_check(&f, NULL, NULL), CUZK_OK);
        cuzk_shape_destroy(back);
        cuzk_shape_destroy(s);
        free(data);
    }
    cuzk_pool_destroy(pool);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void renew_digest(uint8_t *data)
{
    cuzk_sha256_digest(data + CUZK_SHAPE_HEADER_DIGEST, data, CUZK_SHAPE_HEADER_DIGEST);
}

static void expect_refused(const uint8_t *data, size_t size, cuzk_status status, const char *text)
{
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_shape_view(&s, data, size, NULL, &err), status);
    assert_null(s);
    if (strstr(err.text, text) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
    }
}

static void test_damaged_header(void **state)
{
    (void)state;
    static const _Alignas(8) uint8_t other[8] = "zkey";
    size_t size;
    cuzk_shape *s = with_copies(), *back = NULL;
    uint8_t *data = bytes_of(s, &size);
    cuzk_shape_destroy(s);
    for (size_t n = 0; n < size; n++) {
        assert_int_not_equal(cuzk_shape_view(&back, data, n, NULL, NULL), CUZK_OK);
    }
    expect_refused(data, 100, CUZK_E_TRUNCATED, "100 bytes, the header has 256");
    expect_refused(data, size - 1, CUZK_E_TRUNCATED, "it should end at");
    for (size_t bit = 0; bit < (size_t)8 * CUZK_SHAPE_HEADER_BYTES; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(cuzk_shape_view(&back, data, size, NULL, NULL), CUZK_OK);
        if (bit / 8 < CUZK_SHAPE_HEADER_DIGEST) {
            /* whoever changes the header can make its digest too; fingerprint and digest of the
             * arrays are looked at by those who know better */
            renew_digest(data);
            cuzk_status status = cuzk_shape_view(&back, data, size, NULL, NULL);
            assert_int_equal(status == CUZK_OK, bit / 8 >= 128 && bit / 8 < 192);
            if (status == CUZK_OK) {
                cuzk_shape_destroy(back);
            }
        }
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        renew_digest(data);
    }
    cuzk_store_u32_le(data + 8, 2);
    expect_refused(data, size, CUZK_E_UNSUPPORTED, "version 2, expected 1");
    expect_refused(other, sizeof other, CUZK_E_FORMAT, "this is a zkey file");
    free(data);
}

/* One array changed at a time: 32-bit word `word` of it set to `value`. */
static void test_damaged_arrays(void **state)
{
    (void)state;
    static const struct {
        int array;
        uint32_t word, value;
        const char *text;
    } cases[] = {
        {CUZK_SHAPE_BLOCKS, 11, 2, "block 1 of 3"},           /* first_row of the copies */
        {CUZK_SHAPE_BLOCKS, 14, 0, "block 1 of 3"},           /* n_copies */
        {CUZK_SHAPE_BLOCKS, 13, 0xffffffff, "block 1 of 3"},  /* n_rows */
        {CUZK_SHAPE_BLOCKS, 18, 0, "block 2 of 3"},           /* aux_stride */
        {CUZK_SHAPE_BLOCKS, 24, 0, "have 6 constraints"},     /* n_rows of the tail */
        {CUZK_SHAPE_BLOCKS, 19, 8, "copies choose"},          /* first_choice */
        {CUZK_SHAPE_BLOCKS, 20, 11, "copies choose"},         /* n_choice */
        {CUZK_SHAPE_BLOCKS, 20, 0xffffffff, "copies choose"}, /**/
        {CUZK_SHAPE_BLOCKS, 21, 1, "copies choose"},          /* first_of_choices */
        {CUZK_SHAPE_CHOICES, 4, 16, "copies choose"},         /* behind the head */
        {CUZK_SHAPE_CHOICES, 4, 6, "copies choose"},          /* a public value */
        {CUZK_SHAPE_COEFS, 0, 1, "are not 1 and -1"},         /**/
        {CUZK_SHAPE_COEFS, 23, 0xffffffff, "not below the order"},
        {CUZK_SHAPE_COEFS_R2, 16, 7, "both forms"}, /**/
        {CUZK_SHAPE_BEGIN, 0, 1, "terms 1 to"},     /**/
        {CUZK_SHAPE_BEGIN, 2, 9, "rows of A from stored row 0"},
        {CUZK_SHAPE_BEGIN + 1, 3, 1, "rows of B"},       /* high half */
        {CUZK_SHAPE_VAR, 1, 19, "rows of A"},            /* a bit of the second copy */
        {CUZK_SHAPE_VAR, 1, 3, "rows of A"},             /* a public value of it */
        {CUZK_SHAPE_VAR, 3, 27, "rows of A"},            /* beyond the last */
        {CUZK_SHAPE_CODE + 2, 0, 3, "rows of C"},        /**/
        {CUZK_SHAPE_IS_BIT, 0, 3, "two types"},          /**/
        {CUZK_SHAPE_IS_FIELD, 1, 1, "beyond the last"},  /**/
        {CUZK_SHAPE_B_INPUT_DENSITY, 0, 3, "densities"}, /**/
        {CUZK_SHAPE_A_AUX_DENSITY, 1, 1, "densities"},   /**/
        {CUZK_SHAPE_B_AUX_DENSITY, 0, 0, "densities"},   /**/
    };
    size_t size;
    cuzk_shape *s = with_copies();
    uint8_t *data = bytes_of(s, &size);
    cuzk_shape_destroy(s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_shape_file f;
        assert_int_equal(cuzk_shape_file_open(&f, data, size, NULL), CUZK_OK);
        uint8_t *at = data + (f.arrays[cases[i].array].data - data) + (size_t)4 * cases[i].word;
        uint32_t old = cuzk_load_u32_le(at);
        cuzk_store_u32_le(at, cases[i].value);
        expect_refused(data, size, CUZK_E_FORMAT, cases[i].text);
        cuzk_error err = {0};
        assert_int_equal(cuzk_shape_file_check(&f, NULL, &err), CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, "digest of its arrays"));
        cuzk_store_u32_le(at, old);
    }
    free(data);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static cuzk_status build(void *ctx, cuzk_shape **out, cuzk_error *err)
{
    (void)err;
    unsigned *n_built = ctx;
    uint8_t fingerprint[32];
    ++*n_built;
    *out = load("cube", fingerprint);
    return CUZK_OK;
}

static cuzk_status fail_to_build(void *ctx, cuzk_shape **out, cuzk_error *err)
{
    (void)ctx;
    (void)out;
    return CUZK_FAIL(err, CUZK_E_MEMORY, "no");
}

static void test_built_once(void **state)
{
    (void)state;
    unsigned n_built = 0;
    cuzk_shape_source source = {build, &n_built};
    uint8_t fingerprint[32], found[32];
    char path[160], below[64];
    cuzk_shape *s = NULL;
    cuzk_shape_destroy(load("cube", fingerprint));
    snprintf(below, sizeof below, "%s/new", folder);
    for (int i = 0; i < 3; i++) {
        cuzk_error err = {0};
        if (cuzk_shape_get(&s, below, fingerprint, &source, NULL, NULL, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(cuzk_shape_fingerprint(s, true, found, NULL), CUZK_OK);
        assert_memory_equal(found, fingerprint, 32);
        cuzk_shape_destroy(s);
        assert_int_equal(n_built, i < 2 ? 1 : 2);
        int at = snprintf(path, sizeof path, "%s/", below);
        for (int k = 0; k < 32; k++) {
            at += snprintf(path + at, sizeof path - (size_t)at, "%02x", fingerprint[k]);
        }
        snprintf(path + at, sizeof path - (size_t)at, ".shape");
        if (i == 1) { /* damaged: built again */
            assert_int_equal(truncate(path, 1000), 0);
        }
    }
    fingerprint[0] ^= 1;
    cuzk_error err = {0};
    assert_int_equal(cuzk_shape_get(&s, below, fingerprint, &source, NULL, NULL, &err),
                     CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "another fingerprint"));
    assert_int_equal(n_built, 3);
    source.build = fail_to_build;
    assert_int_equal(cuzk_shape_get(&s, below, fingerprint, &source, NULL, NULL, NULL),
                     CUZK_E_MEMORY);
    assert_int_equal(cuzk_shape_get(&s, "/nowhere/at/all", fingerprint, &source, NULL, NULL, NULL),
                     CUZK_E_FILE);
    source.build = build;
    assert_int_equal(cuzk_shape_get(&s, NULL, fingerprint, &source, NULL, NULL, NULL), CUZK_OK);
    cuzk_shape_destroy(s);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(below), 0); /* nothing else was left there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_circuit),
        cmocka_unit_test(test_damaged_header),
        cmocka_unit_test(test_damaged_arrays),
        cmocka_unit_test(test_built_once),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
