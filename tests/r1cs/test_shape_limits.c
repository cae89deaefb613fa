/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circuits at the limits of their numbers, which parts with copies reach without memory: each is
 * refused by name and the first refusal stays. And the store of compiled circuits: its reports, an
 * end at each of them, files of other circuits, folders and disks that refuse. */
#define _GNU_SOURCE
#include "r1cs/shape_store.h"
#include "some_circuit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const cuzk_curve *curve(void)
{
    return cuzk_curve_get(CUZK_CURVE_BN254);
}

static cuzk_shape_builder *builder(void)
{
    cuzk_shape_builder *b = NULL;
    assert_int_equal(cuzk_shape_builder_create(&b, curve(), NULL), CUZK_OK);
    return b;
}

static void expect_refused(cuzk_shape_builder *b, const char *text)
{
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_shape_builder_finish(b, &s, &err), CUZK_E_UNSUPPORTED);
    assert_null(s);
    if (strstr(err.text, text) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
    }
}

/* n variables and n_rows constraints that are stored once. */
static void add_copies(cuzk_shape_builder *b, bool inputs, uint32_t n, unsigned n_rows)
{
    cuzk_shape_begin_copies(b, n);
    (void)(inputs ? cuzk_shape_add_input(b, CUZK_VAR_FIELD)
                  : cuzk_shape_add_aux(b, CUZK_VAR_FIELD));
    for (unsigned i = 0; i < n_rows; i++) {
        cuzk_shape_end_constraint(b);
    }
    cuzk_shape_end_copies(b);
}

static void test_variables(void **state)
{
    (void)state;
    enum { HALF = 1 << 30 };
    /* 2^31 aux variables: the last one has a handle, one more has none */
    for (int more = 0; more < 3; more++) {
        cuzk_shape_builder *b = builder();
        add_copies(b, false, HALF, 0);
        add_copies(b, false, HALF - 1, 0);
        assert_int_equal(cuzk_shape_add_aux(b, CUZK_VAR_BIT), UINT32_MAX);
        if (more == 0) {
            assert_int_equal(cuzk_shape_add_aux(b, CUZK_VAR_BIT), CUZK_VAR_ONE);
        } else if (more == 1) {
            add_copies(b, false, 2, 0);
        } else {
            cuzk_shape_stretch s = {.n_own = 1, .first_own = UINT32_MAX};
            assert_int_equal(cuzk_shape_repeat(b, &s, NULL), CUZK_VAR_ONE);
        }
        add_copies(b, true, UINT32_MAX, 5); /* ignored: the first refusal stays */
        expect_refused(b, "aux variables: too many");
    }
    /* 2^31 inputs, ONE included */
    for (int more = 0; more < 2; more++) {
        cuzk_shape_builder *b = builder();
        add_copies(b, true, UINT32_MAX / 2, 0);
        if (more == 0) {
            assert_int_equal(cuzk_shape_add_input(b, CUZK_VAR_BIT), CUZK_VAR_ONE);
        } else {
            add_copies(b, true, 1, 0);
        }
        (void)cuzk_shape_add_aux(b, CUZK_VAR_BIT);
        expect_refused(b, "inputs: too many");
    }
    /* both kinds at their limit are one variable too many together */
    cuzk_shape_builder *b = builder();
    add_copies(b, true, UINT32_MAX / 2, 0);
    add_copies(b, false, UINT32_MAX / 2 + 1, 0);
    expect_refused(b, "4294967296 variables, at most 2^32 - 1");
}

static void test_constraints(void **state)
{
    (void)state;
    for (int more = 0; more < 3; more++) {
        cuzk_shape_builder *b = builder();
        cuzk_shape_begin_copies(b, UINT32_MAX);
        cuzk_shape_end_constraint(b);
        cuzk_shape_end_copies(b); /* 2^32 - 1 of them */
        assert_int_equal(cuzk_shape_n_stored_rows(b), 1);
        if (more == 0) {
            cuzk_shape_end_constraint(b);
        } else if (more == 1) {
            cuzk_shape_begin_copies(b, 2);
            cuzk_shape_end_constraint(b);
            cuzk_shape_end_copies(b);
        } else {
            const cuzk_shape_stretch s = {.first_row = 0, .n_rows = 1};
            assert_int_equal(cuzk_shape_repeat(b, &s, NULL), CUZK_VAR_ONE);
        }
        expect_refused(b, "constraints: too many");
    }
}

static void test_fingerprint(void **state)
{
    (void)state;
    for (int aux = 0; aux < 2; aux++) {
        cuzk_shape s = {.curve = curve(),
                        .n_inputs = aux ? 1 : 0x80000000u,
                        .n_vars = aux ? 0x80000001u : 0x80000000u};
        uint8_t out[32];
        cuzk_error err = {0};
        assert_int_equal(cuzk_shape_fingerprint(&s, true, out, &err), CUZK_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "at most 2^31 - 1 of each have a key"));
        assert_non_null(strstr(err.text, "2147483648"));
    }
}

/* ---- the store --------------------------------------------------------------------------------
 */

static char folder[] = "/tmp/cuzk-limits-XXXXXX";

static void path_of(char path[160], const uint8_t fingerprint[32])
{
    int at = snprintf(path, 160, "%s/", folder);
    for (int i = 0; i < 32; i++) {
        at += snprintf(path + at, 160 - (size_t)at, "%02x", fingerprint[i]);
    }
    snprintf(path + at, 160 - (size_t)at, ".shape");
}

static cuzk_status build(void *ctx, cuzk_shape **out, cuzk_error *err)
{
    unsigned *n_built = ctx;
    ++*n_built;
    return some_circuit(out, curve(), err);
}

typedef struct {
    unsigned n, stop_at;
    double last;
} reports;

static bool on_report(void *ctx, const char *stage, double done)
{
    reports *r = ctx;
    assert_true(stage[0] != '\0' && done >= r->last && done <= 1);
    r->last = done;
    return ++r->n != r->stop_at;
}

/* Reports of a circuit that is built; one that says no at each of them in turn leaves nothing. */
static void test_reports(void **state)
{
    (void)state;
    unsigned n_built = 0, n_reports = 0;
    const cuzk_shape_source source = {build, &n_built};
    uint8_t fingerprint[32];
    char path[160];
    cuzk_shape *s = NULL;
    assert_int_equal(some_circuit(&s, curve(), NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_fingerprint(s, true, fingerprint, NULL), CUZK_OK);
    cuzk_shape_destroy(s);
    path_of(path, fingerprint);
    for (unsigned stop_at = 0; stop_at <= n_reports; stop_at++) {
        reports r = {.stop_at = stop_at};
        const cuzk_reporter reporter = {on_report, &r};
        cuzk_error err = {0};
        (void)unlink(path);
        s = NULL;
        cuzk_status status =
            cuzk_shape_get(&s, folder, fingerprint, &source, &reporter, NULL, &err);
        if (stop_at == 0) {
            assert_int_equal(status, CUZK_OK);
            n_reports = r.n;
            assert_true(n_reports >= 3 && r.last >= 0.95); /* build, compare, write */
            cuzk_shape_destroy(s);
        } else {
            assert_int_equal(status, CUZK_E_CANCELLED);
            assert_non_null(strstr(err.text, "cancelled during "));
            assert_null(s);
            assert_int_equal(r.n, stop_at);
            assert_int_not_equal(access(path, F_OK), 0);
        }
    }
    /* kept in memory only: its making is reported as well */
    reports r = {.stop_at = 1};
    const cuzk_reporter reporter = {on_report, &r};
    assert_int_equal(cuzk_shape_get(&s, NULL, fingerprint, &source, &reporter, NULL, NULL),
                     CUZK_E_CANCELLED);
    /* found in the folder: nothing to report */
    assert_int_equal(cuzk_shape_get(&s, folder, fingerprint, &source, NULL, NULL, NULL), CUZK_OK);
    cuzk_shape_destroy(s);
    unsigned before = n_built;
    r = (reports){.stop_at = 1};
    assert_int_equal(cuzk_shape_get(&s, folder, fingerprint, &source, &reporter, NULL, NULL),
                     CUZK_OK);
    cuzk_shape_destroy(s);
    assert_int_equal(n_built, before);
    assert_int_equal(r.n, 0);

    /* the file of another circuit under this name is not taken */
    cuzk_fr two;
    curve()->fr_from_u64(&two, 2);
    cuzk_shape_builder *b = builder();
    cuzk_shape_add_term(b, CUZK_MATRIX_A, CUZK_VAR_ONE, &two);
    cuzk_shape_end_constraint(b);
    assert_int_equal(cuzk_shape_builder_finish(b, &s, NULL), CUZK_OK);
    uint8_t other[32], found[32];
    assert_int_equal(cuzk_shape_fingerprint(s, true, other, NULL), CUZK_OK);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(cuzk_shape_write(f, s, other, NULL), CUZK_OK);
    fclose(f);
    cuzk_shape_destroy(s);
    assert_int_equal(cuzk_shape_get(&s, folder, fingerprint, &source, NULL, NULL, NULL), CUZK_OK);
    assert_int_equal(n_built, before + 1);
    assert_int_equal(cuzk_shape_fingerprint(s, true, found, NULL), CUZK_OK);
    assert_memory_equal(found, fingerprint, 32);
    cuzk_shape_destroy(s);
    assert_int_equal(unlink(path), 0);
}

/* Disks that are full and folders that are none: errors with their text, nothing given out. */
static void test_refusals(void **state)
{
    (void)state;
    unsigned n_built = 0;
    const cuzk_shape_source source = {build, &n_built};
    uint8_t fingerprint[32];
    cuzk_shape *s = NULL, *back = NULL;
    cuzk_error err = {0};
    char path[160];
    assert_int_equal(some_circuit(&s, curve(), NULL), CUZK_OK);
    assert_int_equal(cuzk_shape_fingerprint(s, true, fingerprint, NULL), CUZK_OK);
    FILE *full = fopen("/dev/full", "wb");
    assert_non_null(full);
    assert_int_equal(cuzk_shape_write(full, s, fingerprint, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "writing a compiled circuit"));
    fclose(full);

    snprintf(path, sizeof path, "%s/file", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_shape_get(&back, path, fingerprint, &source, NULL, NULL, &err),
                     CUZK_E_FILE);
    assert_null(back);
    assert_non_null(strstr(err.text, path));
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_shape_open(&back, NULL, path, NULL, &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(unlink(path), 0);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_shape_open(&back, NULL, path, NULL, &err), CUZK_E_FILE);
    assert_null(back);
    cuzk_shape_destroy(s);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables),   cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_fingerprint), cmocka_unit_test(test_reports),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("shape limits", tests, make_folder, drop_folder);
}
