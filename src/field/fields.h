/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The fields of one curve under short names: fr (scalars), fp (coordinates), fp2 = fp[u]/(u²+1).
 *
 * Include it in a source that is built once per curve and CPU path (cuzk_layer_curves in
 * cmake/layers.cmake): CUZK_CURVE_IS_BN254 or CUZK_CURVE_IS_BLS12_381 chooses the curve,
 * CUZK_PATH_IS_* the inner loops. CUZK_CC(NAME) is the constant NAME of that curve, see the
 * *_consts.h files; FP_LIMBS and FR_LIMBS are the word counts.
 *
 * The functions, for X in fr, fp, fp2 (field_tmpl.h and fp2.h document each):
 *   X_set_zero X_set_one X_is_zero X_is_one X_eq X_is_reduced
 *   X_add X_sub X_dbl X_neg X_mul X_sqr X_inv X_pow X_batch_inv
 *   X_from_canonical X_to_canonical X_load X_store
 *   fp_sqrt fp2_sqrt, fp2_conj fp2_mul_by_xi fp2_mul_fp
 * Elements are always reduced, but for the loose values of device code (loose_ptx.h); outputs may
 * alias inputs. */
#ifndef CUZK_FIELD_FIELDS_H
#define CUZK_FIELD_FIELDS_H

#include "field/inv.h"
#include "field/limbs.h"

#if defined(CUZK_VERIFY) && !defined(__CUDA_ARCH__)
#include "base/status.h"
#define CUZK_FIELD_CHECK(cond) CUZK_ASSERT(cond)
#else
#define CUZK_FIELD_CHECK(cond) ((void)sizeof((cond) ? 1 : 0))
#endif

/* The ifma path uses the scalar code of adx for single elements. */
#if !defined(__CUDACC__) && defined(CUZK_PATH_IS_ADX) && (CUZK_PATH_IS_ADX || CUZK_PATH_IS_IFMA)
#include "field/mont_adx.h"
#define CUZK_FIELD_USE_ADX 1
#else
#define CUZK_FIELD_USE_ADX 0
#endif

#if CUZK_DEVICE_CODE
#include "field/inv_divsteps.h"
#include "field/limbs_ptx.h"
#define CUZK_FIELD_USE_PTX  1
#define CUZK_FIELD_MONT_MUL cuzk_ptx_mont_mul
#else
#define CUZK_FIELD_USE_PTX  0
#define CUZK_FIELD_MONT_MUL cuzk_mont_mul_portable
#endif

/* Multiplications are calls on the host: inlining them gains nothing (measured) and makes every
 * user large. */
#if defined(__CUDACC__)
#define CUZK_FIELD_CALL static CUZK_HD inline
#else
#define CUZK_FIELD_CALL static __attribute__((noinline, unused, aligned(64)))
#endif

#if CUZK_CURVE_IS_BN254
#include "field/bn254_consts.h"
#define CUZK_CC(name) CUZK_BN254_##name
#define FP_LIMBS      4
#elif CUZK_CURVE_IS_BLS12_381
#include "field/bls12_381_consts.h"
#define CUZK_CC(name) CUZK_BLS12_381_##name
#define FP_LIMBS      6
#else
#error "define CUZK_CURVE_IS_BN254 or CUZK_CURVE_IS_BLS12_381"
#endif
#define FR_LIMBS 4

/* Scalar field element, x·2^256 mod r. */
typedef struct {
    uint64_t l[FR_LIMBS];
} CUZK_MAY_ALIAS fr;

/* Base field element, x·2^(64·FP_LIMBS) mod p. */
typedef struct {
    uint64_t l[FP_LIMBS];
} CUZK_MAY_ALIAS fp;

#define F(name)   fr_##name
#define F_T       fr
#define F_LIMBS   FR_LIMBS
#define F_C(name) CUZK_CC(FR_##name)
#include "field/field_tmpl.h"

#define F(name)   fp_##name
#define F_T       fp
#define F_LIMBS   FP_LIMBS
#define F_C(name) CUZK_CC(FP_##name)
#include "field/field_tmpl.h"

#include "field/fp2.h"

#endif
