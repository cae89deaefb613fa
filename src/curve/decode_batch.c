/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "curve/decode_batch.h"

bool cuzk_bls12_381_ifma_decode_g1(void *out, const uint8_t *in, size_t n);
bool cuzk_bls12_381_ifma_decode_g2(void *out, const uint8_t *in, size_t n);
bool cuzk_bls12_381_ifma_emulated_decode_g1(void *out, const uint8_t *in, size_t n);
bool cuzk_bls12_381_ifma_emulated_decode_g2(void *out, const uint8_t *in, size_t n);

cuzk_decode_batch_fn cuzk_decode_batch_get(cuzk_curve_id curve, cuzk_group_id group)
{
    if (curve != CUZK_CURVE_BLS12_381) {
        return NULL;
    }
    switch (cuzk_cpu_path_get()) {
#if CUZK_HAVE_X86_PATHS
    case CUZK_CPU_IFMA:
        return group == CUZK_G1 ? cuzk_bls12_381_ifma_decode_g1 : cuzk_bls12_381_ifma_decode_g2;
#endif
    case CUZK_CPU_IFMA_EMULATED:
        return group == CUZK_G1 ? cuzk_bls12_381_ifma_emulated_decode_g1
                                : cuzk_bls12_381_ifma_emulated_decode_g2;
    default:
        return NULL;
    }
}
