/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs factor_checks.c for both curves on every scalar path. */
#include "factor_checks.h"
#include "field_test.h"

extern const factor_checks cuzk_bn254_portable_factor_checks;
extern const factor_checks cuzk_bls12_381_portable_factor_checks;
#if CUZK_HAVE_X86_PATHS
extern const factor_checks cuzk_bn254_adx_factor_checks, cuzk_bls12_381_adx_factor_checks;
#endif

static void run(const factor_checks *checks)
{
    checks->factors();
    checks->sums();
    checks->wide();
    checks->ends();
}

static void test_portable(void **state)
{
    (void)state;
    run(&cuzk_bn254_portable_factor_checks);
    run(&cuzk_bls12_381_portable_factor_checks);
}

static void test_adx(void **state)
{
    (void)state;
#if CUZK_HAVE_X86_PATHS
    if (cuzk_cpu_supports(CUZK_CPU_ADX)) {
        run(&cuzk_bn254_adx_factor_checks);
        run(&cuzk_bls12_381_adx_factor_checks);
        return;
    }
#endif
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_portable),
        cmocka_unit_test(test_adx),
    };
    field_test_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
