/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "curve/encoding_batch.h"

#define DECLARE(path)                                                                              \
    bool cuzk_bls12_381_##path##_decode_g1(void *out, const uint8_t *in, size_t n);                \
    bool cuzk_bls12_381_##path##_decode_g2(void *out, const uint8_t *in, size_t n);                \
    void cuzk_bls12_381_##path##_encode_g1(uint8_t *out, const void *in, size_t n);                \
    void cuzk_bls12_381_##path##_encode_g2(uint8_t *out, const void *in, size_t n);

DECLARE(ifma)
DECLARE(ifma_emulated)

typedef struct {
    cuzk_decode_batch_fn decode[2]; /* by group */
    cuzk_encode_batch_fn encode[2];
} batch;

#define BATCH(path)                                                                                \
    {                                                                                              \
        {cuzk_bls12_381_##path##_decode_g1, cuzk_bls12_381_##path##_decode_g2},                    \
        {                                                                                          \
            cuzk_bls12_381_##path##_encode_g1, cuzk_bls12_381_##path##_encode_g2                   \
        }                                                                                          \
    }

static const batch *get(cuzk_curve_id curve)
{
#if CUZK_HAVE_X86_PATHS
    static const batch ifma = BATCH(ifma);
#endif
    static const batch emulated = BATCH(ifma_emulated);
    if (curve != CUZK_CURVE_BLS12_381) {
        return NULL;
    }
    switch (cuzk_cpu_path_get()) {
#if CUZK_HAVE_X86_PATHS
    case CUZK_CPU_IFMA:
        return &ifma;
#endif
    case CUZK_CPU_IFMA_EMULATED:
        return &emulated;
    default:
        return NULL;
    }
}

cuzk_decode_batch_fn cuzk_decode_batch_get(cuzk_curve_id curve, cuzk_group_id group)
{
    const batch *b = get(curve);
    return b == NULL ? NULL : b->decode[group];
}

cuzk_encode_batch_fn cuzk_encode_batch_get(cuzk_curve_id curve, cuzk_group_id group)
{
    const batch *b = get(curve);
    return b == NULL ? NULL : b->encode[group];
}
