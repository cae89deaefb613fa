/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of src/work share. */
#ifndef CUZK_TESTS_WORK_TEST_H
#define CUZK_TESTS_WORK_TEST_H

#include "cuzk.h"
#include "engine/work.h"
#include "fixtures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_error err;

/* Fail with the work's own words. */
#define assert_ok(expr)                                                                            \
    do {                                                                                           \
        cuzk_error_clear(&err);                                                                    \
        cuzk_status status_ = (expr);                                                              \
        if (status_ != CUZK_OK) {                                                                  \
            print_error("%s: %s: %s\n", #expr, cuzk_status_name(status_), err.text);               \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The call fails with this status, and its text holds `part`. */
#define assert_fails(expr, expected, part)                                                         \
    do {                                                                                           \
        cuzk_error_clear(&err);                                                                    \
        cuzk_status status_ = (expr);                                                              \
        if (status_ != (expected) || err.status != (expected) ||                                   \
            strstr(err.text, (part)) == NULL) {                                                    \
            print_error("%s: %s, expected %s with \"%s\": %s\n", #expr, cuzk_status_name(status_), \
                        cuzk_status_name(expected), (part), err.text);                             \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* The id of the device that tests prove on unless they say otherwise, also where there are cards.
 */
static const char *const work_cpu[] = {"cpu"};

#endif
