/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing a generated key in the file format of its style. */
#ifndef CUZK_GROTH16_SETUP_WRITE_H
#define CUZK_GROTH16_SETUP_WRITE_H

#include "groth16/setup.h"

#include <stdio.h>

/** Write a circom-style key as a .zkey, marked when it is a test key. The coefficients come from
 * the shape: A and B of every constraint in order, then one A row per input. The section of
 *  contributions has no circuit hash and no contribution.
 *
 *  Errors: E_ARGUMENT (the other style, or the shape is not the key's), E_UNSUPPORTED (2^32
 *  coefficients or more), E_FILE. */
cuzk_status cuzk_generated_key_write_zkey(FILE *file, const cuzk_generated_key *key,
                                          const cuzk_shape *shape,
                                          cuzk_error *err) CUZK_WARN_UNUSED;

/** Write a bellperson-style key as a .params, marked when it is a test key.
 *  Errors: E_ARGUMENT (the other style; an identity point), E_FILE. */
cuzk_status cuzk_generated_key_write_params(FILE *file, const cuzk_generated_key *key,
                                            cuzk_error *err) CUZK_WARN_UNUSED;

#endif
