/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which sum kernel belongs to a curve, group and CPU path. */
#include "msm/sum_kernel.h"

#include <stddef.h>

/* Built from sum_kernel_scalar.c and sum_kernel_ifma.c, once per curve and path. */
extern const cuzk_sum_kernel cuzk_bn254_portable_sum_kernel_g1, cuzk_bn254_portable_sum_kernel_g2;
extern const cuzk_sum_kernel cuzk_bls12_381_portable_sum_kernel_g1,
    cuzk_bls12_381_portable_sum_kernel_g2;
extern const cuzk_sum_kernel cuzk_bn254_ifma_emulated_sum_kernel_g1,
    cuzk_bn254_ifma_emulated_sum_kernel_g2;
extern const cuzk_sum_kernel cuzk_bls12_381_ifma_emulated_sum_kernel_g1,
    cuzk_bls12_381_ifma_emulated_sum_kernel_g2;
#if CUZK_HAVE_X86_PATHS
extern const cuzk_sum_kernel cuzk_bn254_adx_sum_kernel_g1, cuzk_bn254_adx_sum_kernel_g2;
extern const cuzk_sum_kernel cuzk_bls12_381_adx_sum_kernel_g1, cuzk_bls12_381_adx_sum_kernel_g2;
extern const cuzk_sum_kernel cuzk_bn254_ifma_sum_kernel_g1, cuzk_bn254_ifma_sum_kernel_g2;
extern const cuzk_sum_kernel cuzk_bls12_381_ifma_sum_kernel_g1, cuzk_bls12_381_ifma_sum_kernel_g2;
#endif

/* [path][curve is bls12_381][group]; NULL where a path is not built */
static const cuzk_sum_kernel *const kernels[CUZK_CPU_PATH_COUNT][2][2] = {
    [CUZK_CPU_PORTABLE] = {{&cuzk_bn254_portable_sum_kernel_g1, &cuzk_bn254_portable_sum_kernel_g2},
                           {&cuzk_bls12_381_portable_sum_kernel_g1,
                            &cuzk_bls12_381_portable_sum_kernel_g2}},
    [CUZK_CPU_IFMA_EMULATED] = {{&cuzk_bn254_ifma_emulated_sum_kernel_g1,
                                 &cuzk_bn254_ifma_emulated_sum_kernel_g2},
                                {&cuzk_bls12_381_ifma_emulated_sum_kernel_g1,
                                 &cuzk_bls12_381_ifma_emulated_sum_kernel_g2}},
#if CUZK_HAVE_X86_PATHS
    [CUZK_CPU_ADX] = {{&cuzk_bn254_adx_sum_kernel_g1, &cuzk_bn254_adx_sum_kernel_g2},
                      {&cuzk_bls12_381_adx_sum_kernel_g1, &cuzk_bls12_381_adx_sum_kernel_g2}},
    [CUZK_CPU_IFMA] = {{&cuzk_bn254_ifma_sum_kernel_g1, &cuzk_bn254_ifma_sum_kernel_g2},
                       {&cuzk_bls12_381_ifma_sum_kernel_g1, &cuzk_bls12_381_ifma_sum_kernel_g2}},
#endif
};

const cuzk_sum_kernel *cuzk_sum_kernel_get_path(cuzk_curve_id curve, cuzk_group_id group,
                                                cuzk_cpu_path path)
{
    if ((curve != CUZK_CURVE_BN254 && curve != CUZK_CURVE_BLS12_381) ||
        (unsigned)path >= CUZK_CPU_PATH_COUNT || !cuzk_cpu_supports(path)) {
        return NULL;
    }
    return kernels[path][curve == CUZK_CURVE_BLS12_381][group];
}

const cuzk_sum_kernel *cuzk_sum_kernel_get(cuzk_curve_id curve, cuzk_group_id group)
{
    return cuzk_sum_kernel_get_path(curve, group, cuzk_cpu_path_get());
}
