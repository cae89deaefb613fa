/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Uniform field elements from the system's generator: toxic values, blinding, batch scalars. */
#ifndef CUZK_GROTH16_FR_RANDOM_H
#define CUZK_GROTH16_FR_RANDOM_H

#include "curve/curve.h"

/** A uniform element of the scalar field, Montgomery form, by rejection of values ≥ r. Zero is
 *  possible. Errors: E_INTERNAL (the system's generator fails); out is then zero. */
cuzk_status cuzk_fr_random(const cuzk_curve *curve, cuzk_fr *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** n elements that are uniform below 2^128, none of them zero: for random linear combinations. */
cuzk_status cuzk_fr_random_128(const cuzk_curve *curve, cuzk_fr *out, size_t n,
                               cuzk_error *err) CUZK_WARN_UNUSED;

#endif
