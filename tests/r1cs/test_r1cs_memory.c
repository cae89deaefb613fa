/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circuits and witnesses where memory runs out at each allocation in turn: E_MEMORY with a text,
 * nothing given out and nothing lost (the sanitizers see that), or the same result without. */
#define _GNU_SOURCE
#include "alloc_fail.h"
#include "fixtures.h"
#include "r1cs/satisfy.h"
#include "r1cs/shape_r1cs.h"
#include "r1cs/shape_store.h"
#include "some_circuit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* One thing to do. out: an object that was made, freed by `drop`. */
typedef struct {
    cuzk_status (*run)(void **out, cuzk_error *err);
    void (*drop)(void *made);
    const char *text; /* in the error, or NULL */
    unsigned least;   /* allocations that it makes, at least */
} step;

static cuzk_shape *shape;         /* a good one */
static uint8_t fingerprint[32];   /* its own */
static _Alignas(64) char *stored; /* its file */
static size_t stored_size;
static cuzk_witness *witness; /* for it */
static char folder[] = "/tmp/cuzk-memory-XXXXXX";
static cuzk_fixture r1cs_file;
static uint8_t values[600 * 32];

static const cuzk_curve *curve(void)
{
    return cuzk_curve_get(CUZK_CURVE_BLS12_381);
}

/* Fails its 1st, 2nd, … allocation until it has as many as it wants. */
static void check(const step *s)
{
    unsigned i = 0;
    for (;; i++) {
        void *made = NULL;
        cuzk_error err = {0};
        alloc_fail_at(i);
        cuzk_status status = s->run(&made, &err);
        bool failed = alloc_fail_stop();
        if (status != CUZK_OK) {
            assert_true(failed);
            assert_int_equal(status, CUZK_E_MEMORY);
            assert_null(made);
            if (strstr(err.text, "memory") == NULL || strstr(err.text, s->text) == NULL) {
                fail_msg("allocation %u: \"%s\" does not say \"memory\" and \"%s\"", i, err.text,
                         s->text);
            }
        } else if (s->drop != NULL) {
            assert_non_null(made);
            s->drop(made);
        }
        if (!failed) {
            assert_int_equal(status, CUZK_OK);
            break;
        }
    }
    assert_true(i >= s->least);
}

static cuzk_status run_build(void **out, cuzk_error *err)
{
    return some_circuit((cuzk_shape **)out, curve(), err);
}

static cuzk_status run_from_r1cs(void **out, cuzk_error *err)
{
    cuzk_r1cs r1cs;
    CUZK_TRY(cuzk_r1cs_open(&r1cs, r1cs_file.data, r1cs_file.size, err));
    return cuzk_shape_from_r1cs((cuzk_shape **)out, &r1cs, err);
}

static cuzk_status run_fingerprint(void **out, cuzk_error *err)
{
    uint8_t found[32];
    (void)out;
    CUZK_TRY(cuzk_shape_fingerprint(shape, true, found, err));
    assert_memory_equal(found, fingerprint, 32);
    return CUZK_OK;
}

static cuzk_status run_view(void **out, cuzk_error *err)
{
    return cuzk_shape_view((cuzk_shape **)out, (const uint8_t *)stored, stored_size, NULL, err);
}

static cuzk_status run_witness(void **out, cuzk_error *err)
{
    return cuzk_witness_from_values((cuzk_witness **)out, curve(), values, shape->n_vars,
                                    shape->n_inputs, "values", NULL, err);
}

static cuzk_status run_create(void **out, cuzk_error *err)
{
    return cuzk_witness_create((cuzk_witness **)out, curve(), shape->n_vars, shape->n_inputs,
                               shape->is_field, err);
}

/* Rows do not need memory: without it the copies are evaluated one by one. */
static cuzk_status run_eval(void **out, cuzk_error *err)
{
    static cuzk_fr expected[3][200];
    static bool known;
    cuzk_fr found[200];
    uint64_t n = cuzk_shape_n_rows(shape);
    (void)out;
    (void)err;
    assert_true(n <= 200);
    for (int k = 0; k < 3; k++) {
        memset(found, 0xa5, sizeof found);
        cuzk_shape_eval_rows(shape, witness, (cuzk_matrix)k, found, n, NULL);
        if (!known) {
            memcpy(expected[k], found, sizeof found);
        }
        assert_memory_equal(expected[k], found, sizeof found);
    }
    known = true;
    return CUZK_OK;
}

static void drop_shape(void *made)
{
    uint8_t found[32];
    assert_int_equal(cuzk_shape_fingerprint(made, true, found, NULL), CUZK_OK);
    cuzk_shape_destroy(made);
}

static void drop_witness(void *made)
{
    const cuzk_witness *w = made;
    assert_int_equal(w->n_vars, shape->n_vars);
    cuzk_witness_destroy(made);
}

static void test_steps(void **state)
{
    (void)state;
    static const step steps[] = {
        {run_build, drop_shape, "circuit", 20},
        {run_from_r1cs, drop_shape, "", 20},
        {run_fingerprint, NULL, "fingerprint", 3},
        {run_view, drop_shape, "", 4},
        {run_witness, drop_witness, "", 4},
        {run_create, drop_witness, "", 4},
        {run_eval, NULL, "", 0},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        check(&steps[i]);
    }
}

/* ---- the folder ------------------------------------------------------------------------------ */

static cuzk_status build_source(void *ctx, cuzk_shape **out, cuzk_error *err)
{
    (void)ctx;
    return some_circuit(out, curve(), err);
}

/* From an empty folder each time: whatever fails, what is left in the folder is nothing or whole.
 */
static void test_folder(void **state)
{
    (void)state;
    const cuzk_shape_source source = {build_source, NULL};
    char path[128];
    int at = snprintf(path, sizeof path, "%s/", folder);
    for (int i = 0; i < 32; i++) {
        at += snprintf(path + at, sizeof path - (size_t)at, "%02x", fingerprint[i]);
    }
    snprintf(path + at, sizeof path - (size_t)at, ".shape");
    unsigned n_failed = 0;
    for (unsigned i = 0;; i++) {
        cuzk_shape *made = NULL;
        cuzk_error err = {0};
        (void)unlink(path);
        alloc_fail_at(i);
        cuzk_status status = cuzk_shape_get(&made, folder, fingerprint, &source, NULL, NULL, &err);
        bool failed = alloc_fail_stop();
        assert_int_equal(made != NULL, status == CUZK_OK);
        if (status != CUZK_OK) {
            assert_true(failed);
            assert_true(status == CUZK_E_MEMORY || status == CUZK_E_FILE);
            assert_true(err.text[0] != '\0');
            n_failed++;
        } else {
            drop_shape(made);
        }
        if (access(path, F_OK) == 0) { /* then it is good */
            uint8_t found[32];
            assert_int_equal(cuzk_shape_open(&made, found, path, NULL, NULL), CUZK_OK);
            assert_memory_equal(found, fingerprint, 32);
            cuzk_shape_destroy(made);
        }
        if (!failed) {
            break;
        }
    }
    assert_true(n_failed > 20);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* and no temporary file */
}

static int make_all(void **state)
{
    (void)state;
    if (some_circuit(&shape, curve(), NULL) != CUZK_OK ||
        cuzk_shape_fingerprint(shape, true, fingerprint, NULL) != CUZK_OK ||
        mkdtemp(folder) == NULL || shape->n_vars > 600) {
        return -1;
    }
    FILE *f = open_memstream(&stored, &stored_size);
    if (f == NULL || cuzk_shape_write(f, shape, fingerprint, NULL) != CUZK_OK || fclose(f) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < shape->n_vars; i++) {
        values[32 * i] = (uint8_t)(i % 3 + (i == 0)); /* bits and twos */
    }
    r1cs_file = cuzk_test_fixture("groth/sparse/circuit.r1cs");
    return cuzk_witness_from_values(&witness, curve(), values, shape->n_vars, shape->n_inputs, "",
                                    NULL, NULL) == CUZK_OK
               ? 0
               : -1;
}

static int drop_all(void **state)
{
    (void)state;
    cuzk_witness_destroy(witness);
    cuzk_shape_destroy(shape);
    cuzk_test_fixture_free(&r1cs_file);
    free(stored);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests_name("r1cs memory", tests, make_all, drop_all);
}
