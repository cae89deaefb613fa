/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Poseidon as a circuit (spec/gadgets.md 6.7), in both modes. (gadget/poseidon.h is the hash
 * itself.) The system's curve is bls12_381. */
#ifndef CUZK_GADGET_POSEIDON_CIRCUIT_H
#define CUZK_GADGET_POSEIDON_CIRCUIT_H

#include "gadget/cs.h"
#include "gadget/poseidon.h"

/** n hashes, hash i in lane i: cuzk_poseidon_n_values(arity) field variables and as many rows each.
 *
 *  lanes: n cursors of a witness; in shape mode one system, lanes[0], which gets the hashes one
 *  after the other. out: n digests. preimage: n × arity numbers; may not overlap out. tag: the
 *  Merkle tag of the arity, or, with arity 2, CUZK_POSEIDON_RANDOMNESS_TAG. Witness mode is fastest
 *  with many lanes (cuzk_poseidon_batch). */
void cuzk_poseidon_circuit_lanes(cuzk_cs *lanes, size_t n, cuzk_num *out, unsigned arity,
                                 uint64_t tag, const cuzk_num *preimage);

/** One hash with the Merkle tag. */
static inline cuzk_num cuzk_poseidon_circuit(cuzk_cs *cs, unsigned arity, const cuzk_num *preimage)
{
    cuzk_num out;
    cuzk_poseidon_circuit_lanes(cs, 1, &out, arity, cuzk_poseidon_merkle_tag(arity), preimage);
    return out;
}

#endif
