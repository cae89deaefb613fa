/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pairing functions of struct cuzk_curve, in their own object so that curve_impl.c and this
 * compile side by side. Built once per curve and CPU path. */
#include "curve/pairing_impl.h"

#include "curve/pairing.h"

void CUZK_INSTANCE(miller_product)(cuzk_gt *out, const void *p, const void *q, size_t n)
{
    fp12 o;
    pairing_miller_product(&o, p, q, n);
    memcpy(out->l, &o, sizeof(o));
}

void CUZK_INSTANCE(final_exp)(cuzk_gt *out, const cuzk_gt *miller)
{
    fp12 o;
    pairing_final_exp(&o, (const fp12 *)(const void *)miller->l);
    CUZK_FIELD_CHECK(fp12_is_cyclotomic(&o));
    memcpy(out->l, &o, sizeof(o));
}

void CUZK_INSTANCE(pairing_product)(cuzk_gt *out, const void *p, const void *q, size_t n)
{
    CUZK_INSTANCE(miller_product)(out, p, q, n);
    CUZK_INSTANCE(final_exp)(out, out);
}

void CUZK_INSTANCE(gt_mul)(cuzk_gt *out, const cuzk_gt *a, const cuzk_gt *b)
{
    fp12_mul((fp12 *)(void *)out->l, (const fp12 *)(const void *)a->l,
             (const fp12 *)(const void *)b->l);
}

void CUZK_INSTANCE(gt_pow)(cuzk_gt *out, const cuzk_gt *a, const cuzk_fr *k)
{
    uint64_t words[FR_LIMBS];
    fr_to_canonical(words, (const fr *)k);
    fp12_cyclotomic_pow((fp12 *)(void *)out->l, (const fp12 *)(const void *)a->l, words, FR_LIMBS);
}

bool CUZK_INSTANCE(gt_eq)(const cuzk_gt *a, const cuzk_gt *b)
{
    return fp12_eq((const fp12 *)(const void *)a->l, (const fp12 *)(const void *)b->l);
}

bool CUZK_INSTANCE(gt_is_one)(const cuzk_gt *a)
{
    fp12 one;
    fp12_set_one(&one);
    return fp12_eq((const fp12 *)(const void *)a->l, &one);
}
