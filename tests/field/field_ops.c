/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Instantiates the tables of field_ops.h for one curve and CPU path. */
#include "field_ops.h"

#include "field/fields.h"

#if CUZK_CURVE_IS_BN254
#define CURVE_NAME "bn254"
#else
#define CURVE_NAME "bls12_381"
#endif
#if CUZK_PATH_IS_ADX
#define PATH_NAME "adx"
#else
#define PATH_NAME "portable"
#endif

static const uint64_t fr_modulus[FR_LIMBS] = CUZK_CC(FR_MODULUS);
static const uint64_t fp_modulus[FP_LIMBS] = CUZK_CC(FP_MODULUS);

#define X(name)    fr_##name
#define X_T        fr
#define X_NAME     "fr"
#define X_MODULUS  fr_modulus
#define X_IS_FP2   0
#define X_HAS_SQRT 0
#include "field_ops_tmpl.h"

#define X(name)    fp_##name
#define X_T        fp
#define X_NAME     "fp"
#define X_MODULUS  fp_modulus
#define X_IS_FP2   0
#define X_HAS_SQRT 1
#include "field_ops_tmpl.h"

#define X(name)    fp2_##name
#define X_T        fp2
#define X_NAME     "fp2"
#define X_MODULUS  fp_modulus
#define X_IS_FP2   1
#define X_HAS_SQRT 1
#include "field_ops_tmpl.h"

extern const field_ops *const CUZK_INSTANCE(field_ops)[3];
const field_ops *const CUZK_INSTANCE(field_ops)[3] = {&fr_ops, &fp_ops, &fp2_ops};
