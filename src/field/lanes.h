/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The prime fields of one curve on eight lanes: frx8 (scalars), fpx8 (coordinates). lanes_tmpl.h
 * documents the functions. Include it in a source that is built once per curve for the paths ifma
 * and ifma_emulated (cuzk_layer_curves in cmake/layers.cmake). FPX8_LIMBS is 5 or 8. */
#ifndef CUZK_FIELD_LANES_H
#define CUZK_FIELD_LANES_H

#include "field/fields.h"
#include "field/v8.h"

#if CUZK_CURVE_IS_BN254
#define FPX8_LIMBS 5
#else
#define FPX8_LIMBS 8
#endif
#define FRX8_LIMBS 5

/* Eight scalars in 52-bit limbs. */
typedef struct {
    v8 l[FRX8_LIMBS];
} frx8;

/* Eight coordinates in 52-bit limbs. */
typedef struct {
    v8 l[FPX8_LIMBS];
} fpx8;

/* What a multiplication does with its columns at the end; lanes_tmpl.h explains the forms. */
typedef enum { LANES_CARRIED, LANES_DIGITS, LANES_FOLDED } lanes_form;

#define L(name)   frx8_##name
#define L_T       frx8
#define L_N       FRX8_LIMBS
#define L_WORDS   FR_LIMBS
#define L_C(name) CUZK_CC(FR52_##name)
#include "field/lanes_tmpl.h"

#define L(name)   fpx8_##name
#define L_T       fpx8
#define L_N       FPX8_LIMBS
#define L_WORDS   FP_LIMBS
#define L_C(name) CUZK_CC(FP52_##name)
#include "field/lanes_tmpl.h"

#endif
