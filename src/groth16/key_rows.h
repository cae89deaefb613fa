/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A·w and B·w from the coefficient records of a circom key. */
#ifndef CUZK_GROTH16_KEY_ROWS_H
#define CUZK_GROTH16_KEY_ROWS_H

#include "formats/zkey.h"
#include "r1cs/witness.h"

/** a_i = Σ of A's records of row i times the witness, b_i the same for B, i = 0 … domain_size-1,
 *  Montgomery form. Rows without records are zero. The records may come in any order.
 *
 *  The witness must have the key's curve and number of variables. Errors: E_FORMAT with the first
 *  bad record (matrix, row, wire or value out of range). Threads: the pool's. */
cuzk_status cuzk_key_eval_rows(const cuzk_zkey *key, const cuzk_witness *witness, cuzk_fr *a,
                               cuzk_fr *b, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
