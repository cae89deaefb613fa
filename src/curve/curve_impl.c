/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One curve on one CPU path: the table of curve.h over the short-named headers. Built once per
 * curve and path (cuzk_layer_curves); exports the one object CUZK_INSTANCE(curve). */
#include "base/bytes.h"
#include "curve/curve.h"
#include "curve/groups.h"
#include "curve/pairing_impl.h"
#include "curve/point_encoding.h"
#include "curve/scalar_mul.h"

/* ---- scalars ---- */

static void vt_fr_add(cuzk_fr *out, const cuzk_fr *a, const cuzk_fr *b)
{
    fr_add((fr *)out, (const fr *)a, (const fr *)b);
}

static void vt_fr_sub(cuzk_fr *out, const cuzk_fr *a, const cuzk_fr *b)
{
    fr_sub((fr *)out, (const fr *)a, (const fr *)b);
}

static void vt_fr_neg(cuzk_fr *out, const cuzk_fr *a)
{
    fr_neg((fr *)out, (const fr *)a);
}

static void vt_fr_mul(cuzk_fr *out, const cuzk_fr *a, const cuzk_fr *b)
{
    fr_mul((fr *)out, (const fr *)a, (const fr *)b);
}

static void vt_fr_inv(cuzk_fr *out, const cuzk_fr *a)
{
    fr_inv((fr *)out, (const fr *)a);
}

static void vt_fr_pow_u64(cuzk_fr *out, const cuzk_fr *a, uint64_t e)
{
    fr_pow((fr *)out, (const fr *)a, &e, 1);
}

static void vt_fr_from_u64(cuzk_fr *out, uint64_t v)
{
    const uint64_t limbs[FR_LIMBS] = {v};
    fr_from_canonical((fr *)out, limbs);
}

/* Little-endian bytes at any alignment to words. */
static void words_from_le(uint64_t *words, const void *bytes, int n)
{
    for (int i = 0; i < n; i++) {
        words[i] = cuzk_load_u64_le((const uint8_t *)bytes + 8 * i);
    }
}

static void words_to_le(void *bytes, const uint64_t *words, int n)
{
    for (int i = 0; i < n; i++) {
        cuzk_store_u64_le((uint8_t *)bytes + 8 * i, words[i]);
    }
}

static bool vt_fr_from_canonical_le(cuzk_fr *out, const void *bytes32)
{
    static const uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    uint64_t words[FR_LIMBS];
    words_from_le(words, bytes32, FR_LIMBS);
    if (!cuzk_limbs_less(words, r, FR_LIMBS)) {
        return false;
    }
    fr_from_canonical((fr *)out, words);
    return true;
}

static void vt_fr_to_canonical_le(void *bytes32, const cuzk_fr *a)
{
    uint64_t words[FR_LIMBS];
    fr_to_canonical(words, (const fr *)a);
    words_to_le(bytes32, words, FR_LIMBS);
}

static void vt_fr_batch_from_canonical(cuzk_fr *out, const void *in, size_t n)
{
    uint64_t words[FR_LIMBS];
    for (size_t i = 0; i < n; i++) {
        words_from_le(words, (const uint8_t *)in + 32 * i, FR_LIMBS);
        fr_from_canonical((fr *)&out[i], words);
    }
}

static void vt_fr_batch_to_canonical(void *out, const cuzk_fr *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vt_fr_to_canonical_le((uint8_t *)out + 32 * i, &in[i]);
    }
}

static void vt_fr_root_of_unity(cuzk_fr *out, unsigned generator, unsigned lg_n)
{
    uint64_t e[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    vt_fr_from_u64(out, generator);
    e[0] -= 1; /* r - 1, then divided by 2^lg_n; r is odd */
    for (unsigned i = 0; i < lg_n; i++) {
        for (int j = 0; j < FR_LIMBS; j++) {
            e[j] = e[j] >> 1 | (j + 1 < FR_LIMBS ? e[j + 1] << 63 : 0);
        }
    }
    fr_pow((fr *)out, (const fr *)out, e, FR_LIMBS);
}

/* ---- coordinates ---- */

static bool vt_fp_from_canonical_le(uint64_t *out, const void *bytes)
{
    static const uint64_t p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
    uint64_t words[FP_LIMBS];
    words_from_le(words, bytes, FP_LIMBS);
    if (!cuzk_limbs_less(words, p, FP_LIMBS)) {
        return false;
    }
    fp_from_canonical((fp *)out, words);
    return true;
}

static void vt_fp_to_canonical_le(void *bytes, const uint64_t *a)
{
    uint64_t words[FP_LIMBS];
    fp_to_canonical(words, (const fp *)a);
    words_to_le(bytes, words, FP_LIMBS);
}

/* ---- groups ---- */

#define PT(name)     g1_##name
#define PT_GENERATOR CUZK_CC(G1_X), CUZK_CC(G1_Y)
#include "curve/group_tmpl.h"

#define PT(name)     g2_##name
#define PT_GENERATOR CUZK_CC(G2_X), CUZK_CC(G2_Y)
#include "curve/group_tmpl.h"

#if CUZK_CURVE_IS_BLS12_381
#define ENCODING(function) function
#else
#define ENCODING(function) NULL
#endif

#define GROUP_TABLE(group_id, g)                                                                   \
    {                                                                                              \
        .id = (group_id), .coord_bytes = sizeof(g##_affine) / 2,                                   \
        .affine_bytes = sizeof(g##_affine), .generator = g##_vt_generator,                         \
        .affine_is_infinity = g##_vt_affine_is_infinity,                                           \
        .affine_is_reduced = g##_vt_affine_is_reduced, .on_curve = g##_vt_on_curve,                \
        .in_subgroup = g##_vt_in_subgroup, .affine_neg = g##_vt_affine_neg,                        \
        .set_infinity = g##_vt_set_infinity, .is_infinity = g##_vt_is_infinity, .eq = g##_vt_eq,   \
        .from_affine = g##_vt_from_affine, .to_affine = g##_vt_to_affine,                          \
        .batch_to_affine = g##_vt_batch_to_affine, .neg = g##_vt_neg, .dbl = g##_vt_dbl,           \
        .add = g##_vt_add, .add_affine = g##_vt_add_affine, .mul = g##_vt_mul,                     \
        .mul_sum = g##_vt_mul_sum, .encode = ENCODING(g##_encode), .decode = ENCODING(g##_decode), \
    }

static const uint64_t modulus_p[FP_LIMBS] = CUZK_CC(FP_MODULUS);
static const uint64_t modulus_r[FR_LIMBS] = CUZK_CC(FR_MODULUS);

extern const struct cuzk_curve CUZK_INSTANCE(curve);

const struct cuzk_curve CUZK_INSTANCE(curve) = {
#if CUZK_CURVE_IS_BLS12_381
    .id = CUZK_CURVE_BLS12_381,
    .name = "bls12_381",
    .snarkjs_name = "bls12381",
#else
    .id = CUZK_CURVE_BN254,
    .name = "bn254",
    .snarkjs_name = "bn128",
#endif
    .fp_limbs = FP_LIMBS,
    .fp_bytes = sizeof(fp),
    .two_adicity = CUZK_CC(FR_TWO_ADICITY),
    .p = modulus_p,
    .r = modulus_r,
    .fr_one = CUZK_CC(FR_ONE),

    .fr_add = vt_fr_add,
    .fr_sub = vt_fr_sub,
    .fr_neg = vt_fr_neg,
    .fr_mul = vt_fr_mul,
    .fr_inv = vt_fr_inv,
    .fr_pow_u64 = vt_fr_pow_u64,
    .fr_from_u64 = vt_fr_from_u64,
    .fr_from_canonical_le = vt_fr_from_canonical_le,
    .fr_to_canonical_le = vt_fr_to_canonical_le,
    .fr_batch_from_canonical = vt_fr_batch_from_canonical,
    .fr_batch_to_canonical = vt_fr_batch_to_canonical,
    .fr_root_of_unity = vt_fr_root_of_unity,
    .fp_from_canonical_le = vt_fp_from_canonical_le,
    .fp_to_canonical_le = vt_fp_to_canonical_le,

    .g = {GROUP_TABLE(CUZK_G1, g1), GROUP_TABLE(CUZK_G2, g2)},

    .miller_product = CUZK_INSTANCE(miller_product),
    .final_exp = CUZK_INSTANCE(final_exp),
    .pairing_product = CUZK_INSTANCE(pairing_product),
    .gt_mul = CUZK_INSTANCE(gt_mul),
    .gt_pow = CUZK_INSTANCE(gt_pow),
    .gt_is_one = CUZK_INSTANCE(gt_is_one),
    .gt_eq = CUZK_INSTANCE(gt_eq),
};
