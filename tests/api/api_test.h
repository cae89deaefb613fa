/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of the C library share. They see the public headers only. */
#ifndef CUZK_TESTS_API_TEST_H
#define CUZK_TESTS_API_TEST_H

#include "cuzk.h"
#include "fixtures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fail with the library's own words. */
#define assert_ok(expr)                                                                            \
    do {                                                                                           \
        cuzk_status status_ = (expr);                                                              \
        if (status_ != CUZK_OK) {                                                                  \
            print_error("%s: %s: %s\n", #expr, cuzk_status_name(status_), err.text);               \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The call fails with this status, and its text holds `part`. */
#define assert_fails(expr, expected, part)                                                         \
    do {                                                                                           \
        memset(&err, 0xee, sizeof err);                                                            \
        cuzk_status status_ = (expr);                                                              \
        if (status_ != (expected) || err.status != (expected) ||                                   \
            strstr(err.text, (part)) == NULL) {                                                    \
            print_error("%s: %s, expected %s with \"%s\": %s\n", #expr, cuzk_status_name(status_), \
                        cuzk_status_name(expected), (part), err.text);                             \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The files of one circuit. */
typedef struct {
    cuzk_fixture zkey, wtns, r1cs, vkey, public_values, proof;
} circuit;

static inline cuzk_fixture circuit_file(const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return cuzk_test_fixture(path);
}

static inline circuit circuit_open(const char *folder)
{
    circuit c = {.zkey = circuit_file(folder, "circuit.zkey"),
                 .wtns = circuit_file(folder, "witness.wtns"),
                 .r1cs = circuit_file(folder, "circuit.r1cs"),
                 .vkey = circuit_file(folder, "verification_key.json"),
                 .public_values = circuit_file(folder, "public.json"),
                 .proof = circuit_file(folder, "proof.json")};
    return c;
}

static inline void circuit_close(circuit *c)
{
    cuzk_test_fixture_free(&c->zkey);
    cuzk_test_fixture_free(&c->wtns);
    cuzk_test_fixture_free(&c->r1cs);
    cuzk_test_fixture_free(&c->vkey);
    cuzk_test_fixture_free(&c->public_values);
    cuzk_test_fixture_free(&c->proof);
}

#endif
