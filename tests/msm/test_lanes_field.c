/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs the checks of the eight-lane fields of both curves, natively or emulated as CUZK_CPU says.
 * Exit code 77 where the processor lacks the path. Environment: CUZK_TEST_SEED. */
#include "base/cpu.h"

#include "lanes_checks.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const lanes_field_checks cuzk_bn254_ifma_emulated_lanes_field_checks;
extern const lanes_field_checks cuzk_bls12_381_ifma_emulated_lanes_field_checks;
#if CUZK_HAVE_X86_PATHS
extern const lanes_field_checks cuzk_bn254_ifma_lanes_field_checks;
extern const lanes_field_checks cuzk_bls12_381_ifma_lanes_field_checks;
#endif

static uint64_t state;
static const lanes_field_checks *bn254, *bls12_381;

uint64_t check_random(void)
{
    return cuzk_test_random(&state);
}

static void test_vectors(void **unused)
{
    (void)unused;
    bn254->vectors();
}

static void test_bn254_scalars(void **unused)
{
    (void)unused;
    bn254->scalars();
}

static void test_bn254_coordinates(void **unused)
{
    (void)unused;
    bn254->coordinates();
}

static void test_bls12_381_scalars(void **unused)
{
    (void)unused;
    bls12_381->scalars();
}

static void test_bls12_381_coordinates(void **unused)
{
    (void)unused;
    bls12_381->coordinates();
}

int main(void)
{
    const char *name = getenv("CUZK_CPU"), *seed = getenv("CUZK_TEST_SEED");
    if (name == NULL || strcmp(name, "ifma-emulated") == 0) {
        bn254 = &cuzk_bn254_ifma_emulated_lanes_field_checks;
        bls12_381 = &cuzk_bls12_381_ifma_emulated_lanes_field_checks;
#if CUZK_HAVE_X86_PATHS
    } else if (strcmp(name, "ifma") == 0 && cuzk_cpu_supports(CUZK_CPU_IFMA)) {
        bn254 = &cuzk_bn254_ifma_lanes_field_checks;
        bls12_381 = &cuzk_bls12_381_ifma_lanes_field_checks;
#endif
    } else {
        return 77;
    }
    state = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    printf("CUZK_TEST_SEED=%llu\n", (unsigned long long)state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_bn254_scalars),
        cmocka_unit_test(test_bn254_coordinates),
        cmocka_unit_test(test_bls12_381_scalars),
        cmocka_unit_test(test_bls12_381_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
