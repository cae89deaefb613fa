/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs the checks of the eight-lane arithmetic under the transforms (oct_checks.c), natively or
 * emulated as CUZK_CPU says. Exit code 77 where the processor lacks the path. */
#include "oct_checks.h"
#include "poly_test.h"

uint64_t check_random(void)
{
    return rand_u64();
}

static void test_bn254(void **unused)
{
    (void)unused;
#if CUZK_HAVE_X86_PATHS
    if (cuzk_cpu_path_get() == CUZK_CPU_IFMA) {
        cuzk_bn254_ifma_oct_checks();
        return;
    }
#endif
    cuzk_bn254_ifma_emulated_oct_checks();
}

static void test_bls12_381(void **unused)
{
    (void)unused;
#if CUZK_HAVE_X86_PATHS
    if (cuzk_cpu_path_get() == CUZK_CPU_IFMA) {
        cuzk_bls12_381_ifma_oct_checks();
        return;
    }
#endif
    cuzk_bls12_381_ifma_emulated_oct_checks();
}

int main(void)
{
    poly_test_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bn254),
        cmocka_unit_test(test_bls12_381),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
