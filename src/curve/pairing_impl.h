/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What curve_impl.c takes from pairing_impl.c, for one curve and CPU path. The contracts are those
 * of the members of struct cuzk_curve with the same names. */
#ifndef CUZK_CURVE_PAIRING_IMPL_H
#define CUZK_CURVE_PAIRING_IMPL_H

#include "curve/curve.h"

void CUZK_INSTANCE(miller_product)(cuzk_gt *out, const void *p, const void *q, size_t n);
void CUZK_INSTANCE(final_exp)(cuzk_gt *out, const cuzk_gt *miller);
void CUZK_INSTANCE(pairing_product)(cuzk_gt *out, const void *p, const void *q, size_t n);
void CUZK_INSTANCE(gt_mul)(cuzk_gt *out, const cuzk_gt *a, const cuzk_gt *b);
void CUZK_INSTANCE(gt_pow)(cuzk_gt *out, const cuzk_gt *a, const cuzk_fr *k);
bool CUZK_INSTANCE(gt_is_one)(const cuzk_gt *a);
bool CUZK_INSTANCE(gt_eq)(const cuzk_gt *a, const cuzk_gt *b);

#endif
