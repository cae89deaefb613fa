/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The circuit of Window and Winning PoSt (spec/post.md section 2): slots with openings of tree R.
 * It depends on the sector size and the kind only. Curve: bls12_381. */
#ifndef CUZK_FILECOIN_CIRCUIT_POST_H
#define CUZK_FILECOIN_CIRCUIT_POST_H

#include "base/pool.h"
#include "filecoin/vanilla_post.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

/** Compile the circuit of a Window or Winning PoSt. Returned: free with cuzk_shape_destroy.
 *  Errors: E_MEMORY. */
cuzk_status cuzk_post_circuit_shape(cuzk_shape **out, cuzk_proof_kind kind,
                                    const cuzk_sector *sector, cuzk_error *err) CUZK_WARN_UNUSED;

/** The witness of one partition. Window: slots beyond the sectors repeat the last one. Winning:
 * slot i has opening i of the one sector. The vanilla proof need not be right: what is wrong makes
 * a witness that does not satisfy the circuit.
 *
 *  shape: of the proof's kind and sector size. Returned: free with cuzk_witness_destroy.
 *  Errors: E_MEMORY, E_MISMATCH (another
 *  circuit's shape). Threads: the pool's. */
cuzk_status cuzk_post_circuit_witness(cuzk_witness **out, const cuzk_shape *shape,
                                      const cuzk_post_vanilla *vanilla, cuzk_pool *pool,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

#endif
