/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circuits by kind and size: the built-in fingerprints are the reference's, and a circuit that is
 * kept in a folder is built once. */
#define _GNU_SOURCE
#include "filecoin/circuit_get.h"
#include "fixtures.h"
#include "json_field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
    cuzk_proof_kind kind;
    const char *name;
} kinds[] = {{CUZK_PROOF_POREP, "porep"},
             {CUZK_PROOF_UPDATE, "update"},
             {CUZK_PROOF_WINDOW, "window"},
             {CUZK_PROOF_WINNING, "winning"}};

static void test_fingerprints(void **state)
{
    (void)state;
    cuzk_fixture f = cuzk_test_fixture("shapes/shapes.json");
    unsigned found = 0, expected = 0;
    for (const char *p = (const char *)f.data; (p = strstr(p, "rows_sha256")) != NULL; p++) {
        expected++;
    }
    for (size_t k = 0; k < 4; k++) {
        for (unsigned i = 0; i < cuzk_sector_count(); i++) {
            const cuzk_sector *sector = cuzk_sector_at(i);
            uint8_t ours[32], theirs[32];
            char name[32];
            snprintf(name, sizeof name, "%s-%s", kinds[k].name, sector->id);
            if (cuzk_circuit_fingerprint(ours, kinds[k].kind, sector)) {
                json_hex(json_field((const char *)f.data, name), "rows_sha256", theirs, 32);
                assert_memory_equal(ours, theirs, 32);
                found++;
            }
        }
    }
    assert_int_equal(found, expected);
    cuzk_test_fixture_free(&f);
}

struct progress {
    unsigned n_built;
    double last;
};

static bool count(void *ctx, const char *stage, double done)
{
    struct progress *p = ctx;
    p->n_built += strcmp(stage, "building the circuit") == 0;
    assert_true(done >= p->last && done <= 1);
    p->last = done;
    return true;
}

static void test_get(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-circuits-XXXXXX", path[160];
    const cuzk_sector *sector = cuzk_sector_by_name("2k", 2);
    struct progress progress = {0, 0};
    cuzk_reporter reporter = {count, &progress};
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        cuzk_shape *s = NULL;
        cuzk_error err = {0};
        if (cuzk_circuit_get(&s, CUZK_PROOF_WINDOW, sector, folder, &reporter, NULL, &err) !=
            CUZK_OK) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(s->n_constraints, 21889 - s->n_inputs);
        cuzk_shape_destroy(s);
        assert_int_equal(progress.n_built, 1);
    }
    uint8_t fingerprint[32];
    assert_true(cuzk_circuit_fingerprint(fingerprint, CUZK_PROOF_WINDOW, sector));
    int at = snprintf(path, sizeof path, "%s/", folder);
    for (int k = 0; k < 32; k++) {
        at += snprintf(path + at, sizeof path - (size_t)at, "%02x", fingerprint[k]);
    }
    snprintf(path + at, sizeof path - (size_t)at, ".shape");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_no_such_circuit(void **state)
{
    (void)state;
    cuzk_shape *s = NULL;
    cuzk_error err = {0};
    const cuzk_sector *sector = cuzk_sector_by_name("1k", 2);
    assert_int_equal(cuzk_circuit_get(&s, CUZK_PROOF_POREP, sector, NULL, NULL, NULL, &err),
                     CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "PoRep of 1KiB: there is no such circuit"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprints),
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_no_such_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
