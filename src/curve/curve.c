/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The list of curves and CPU paths, and the look-ups into it. */
#include "curve/curve.h"

#include "base/bytes.h"

#include <strings.h>

extern const struct cuzk_curve cuzk_bn254_portable_curve, cuzk_bls12_381_portable_curve;
#if CUZK_HAVE_X86_PATHS
extern const struct cuzk_curve cuzk_bn254_adx_curve, cuzk_bls12_381_adx_curve;
#endif

static const cuzk_curve_id all_ids[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};
enum { N_CURVES = sizeof(all_ids) / sizeof(all_ids[0]) };

const cuzk_curve *cuzk_curve_get_path(cuzk_curve_id id, cuzk_cpu_path path)
{
    if (!cuzk_cpu_supports(path)) {
        return NULL;
    }
#if CUZK_HAVE_X86_PATHS
    if (path == CUZK_CPU_ADX || path == CUZK_CPU_IFMA) {
        return id == CUZK_CURVE_BN254       ? &cuzk_bn254_adx_curve
               : id == CUZK_CURVE_BLS12_381 ? &cuzk_bls12_381_adx_curve
                                            : NULL;
    }
#endif
    return id == CUZK_CURVE_BN254       ? &cuzk_bn254_portable_curve
           : id == CUZK_CURVE_BLS12_381 ? &cuzk_bls12_381_portable_curve
                                        : NULL;
}

const cuzk_curve *cuzk_curve_get(cuzk_curve_id id)
{
    return cuzk_curve_get_path(id, cuzk_cpu_path_get());
}

const cuzk_curve *cuzk_curve_by_fr_modulus(const uint8_t *modulus_le, size_t n_bytes)
{
    for (int c = 0; c < N_CURVES; c++) {
        const cuzk_curve *curve = cuzk_curve_get(all_ids[c]);
        bool equal = n_bytes >= sizeof(cuzk_fr);
        for (size_t i = 0; equal && i < n_bytes; i++) {
            uint64_t word = i < sizeof(cuzk_fr) ? curve->r[i / 8] : 0;
            equal = modulus_le[i] == (uint8_t)(word >> (8 * (i % 8)));
        }
        if (equal) {
            return curve;
        }
    }
    return NULL;
}

const cuzk_curve *cuzk_curve_by_name(const char *name)
{
    static const struct {
        const char *name;
        cuzk_curve_id id;
    } names[] = {
        {"bn254", CUZK_CURVE_BN254},         {"bn128", CUZK_CURVE_BN254},
        {"alt_bn128", CUZK_CURVE_BN254},     {"bls12_381", CUZK_CURVE_BLS12_381},
        {"bls12-381", CUZK_CURVE_BLS12_381}, {"bls12381", CUZK_CURVE_BLS12_381},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(name, names[i].name) == 0) {
            return cuzk_curve_get(names[i].id);
        }
    }
    return NULL;
}
