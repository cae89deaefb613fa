/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs tower_checks.c for both curves on every scalar path. */
#include "curve_util.h"
#include "tower_checks.h"

#include <string.h>

extern const tower_checks cuzk_bn254_portable_tower_checks, cuzk_bls12_381_portable_tower_checks;
#if CUZK_HAVE_X86_PATHS
extern const tower_checks cuzk_bn254_adx_tower_checks, cuzk_bls12_381_adx_tower_checks;
#endif

static const tower_checks *bn254, *bls12_381;

#define CHECK(name)                                                                                \
    static void test_bn254_##name(void **state)                                                    \
    {                                                                                              \
        (void)state;                                                                               \
        bn254->name(test_seed());                                                                  \
    }                                                                                              \
    static void test_bls12_381_##name(void **state)                                                \
    {                                                                                              \
        (void)state;                                                                               \
        bls12_381->name(test_seed());                                                              \
    }

CHECK(products)
CHECK(sparse)
CHECK(inverses)
CHECK(frobenius)
CHECK(cyclotomic)
CHECK(lines)
CHECK(final_power)

#define BOTH(name) cmocka_unit_test(test_bn254_##name), cmocka_unit_test(test_bls12_381_##name)

int main(void)
{
    const struct CMUnitTest tests[] = {BOTH(products),   BOTH(sparse),     BOTH(inverses),
                                       BOTH(frobenius),  BOTH(cyclotomic), BOTH(lines),
                                       BOTH(final_power)};
    if (!test_path_supported()) {
        return 77;
    }
    bn254 = &cuzk_bn254_portable_tower_checks;
    bls12_381 = &cuzk_bls12_381_portable_tower_checks;
#if CUZK_HAVE_X86_PATHS
    if (cuzk_cpu_path_get() == CUZK_CPU_ADX) {
        bn254 = &cuzk_bn254_adx_tower_checks;
        bls12_381 = &cuzk_bls12_381_adx_tower_checks;
    }
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
