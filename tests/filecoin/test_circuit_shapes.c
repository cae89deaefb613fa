/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circuits against the reference's shapes: counts, densities, fingerprints. */
#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "fixtures.h"
#include "gadget/support.h"
#include "json_field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef cuzk_status (*shape_fn)(cuzk_shape **out, const cuzk_sector *sector, cuzk_error *err);

static cuzk_status make_window(cuzk_shape **out, const cuzk_sector *sector, cuzk_error *err)
{
    return cuzk_post_circuit_shape(out, CUZK_PROOF_WINDOW, sector, err);
}

static cuzk_status make_winning(cuzk_shape **out, const cuzk_sector *sector, cuzk_error *err)
{
    return cuzk_post_circuit_shape(out, CUZK_PROOF_WINNING, sector, err);
}

/* The circuits of one kind; sizes: a list of their ids ended by NULL. */
static void expect_circuits(const char *kind, shape_fn make, const char *const *sizes)
{
    cuzk_fixture f = cuzk_test_fixture("shapes/shapes.json");
    for (; *sizes != NULL; sizes++) {
        char name[32];
        cuzk_error err = {0};
        cuzk_shape *s = NULL;
        snprintf(name, sizeof name, "%s-%s", kind, *sizes);
        print_message("%s\n", name);
        if (make(&s, cuzk_sector_by_name(*sizes, strlen(*sizes)), &err) != CUZK_OK) {
            fail_msg("%s: %s", name, err.text);
        }
        support_expect_shape(s, json_field((const char *)f.data, name), true);
        cuzk_shape_destroy(s);
    }
    cuzk_test_fixture_free(&f);
}

static void test_porep(void **state)
{
    (void)state;
    expect_circuits("porep", cuzk_porep_circuit_shape, (const char *const[]){"2k", NULL});
}

static void test_post(void **state)
{
    (void)state;
    static const char *const sizes[] = {"2k", "4k", "16k", "32k", "8m", "512m", NULL};
    expect_circuits("window", make_window, sizes);
    expect_circuits("winning", make_winning, sizes);
    expect_circuits("winning", make_winning, (const char *const[]){"32g", "64g", NULL});
}

static void test_update(void **state)
{
    (void)state;
    expect_circuits("update", cuzk_update_circuit_shape, (const char *const[]){"1k", "2k", NULL});
}

/* Every other size; the largest circuits have 130 million rows. Minutes. */
static void test_nightly(void **state)
{
    (void)state;
    if (getenv("CUZK_NIGHTLY") == NULL) {
        print_message("skipped: CUZK_NIGHTLY is not set\n");
        skip();
    }
    expect_circuits("porep", cuzk_porep_circuit_shape,
                    (const char *const[]){"4k", "16k", "32k", "8m", "512m", "32g", "64g", NULL});
    expect_circuits("window", make_window, (const char *const[]){"32g", "64g", NULL});
    expect_circuits(
        "update", cuzk_update_circuit_shape,
        (const char *const[]){"4k", "8k", "16k", "32k", "8m", "512m", "32g", "64g", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep),
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_nightly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
