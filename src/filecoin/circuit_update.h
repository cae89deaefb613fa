/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The circuit of one partition of a sector update (spec/snapdeals.md section 3). It depends on the
 * sector size only. Curve: bls12_381. */
#ifndef CUZK_FILECOIN_CIRCUIT_UPDATE_H
#define CUZK_FILECOIN_CIRCUIT_UPDATE_H

#include "base/pool.h"
#include "filecoin/statement.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

/** Compile the circuit. Returned: free with cuzk_shape_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_update_circuit_shape(cuzk_shape **out, const cuzk_sector *sector,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** The witness of one partition. The vanilla proof need not be right: what is wrong makes a witness
 *  that does not satisfy the circuit.
 *
 *  shape: of the proof's sector size. partition: below vanilla->shape.partitions.
 *  Returned: free with cuzk_witness_destroy. Errors: E_MEMORY, E_MISMATCH (another
 *  circuit's shape). Threads: the pool's. */
cuzk_status cuzk_update_circuit_witness(cuzk_witness **out, const cuzk_shape *shape,
                                        const cuzk_update_vanilla *vanilla,
                                        const cuzk_update_statement *statement, unsigned partition,
                                        cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
