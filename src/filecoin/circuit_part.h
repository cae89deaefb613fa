/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the Filecoin circuits share: their trees, and witnesses made part by part. Each of these
 * circuits has a head and then equal parts (challenges, slots), which are independent of each other
 * and lie at offsets that its shape knows. */
#ifndef CUZK_FILECOIN_CIRCUIT_PART_H
#define CUZK_FILECOIN_CIRCUIT_PART_H

#include "base/pool.h"
#include "filecoin/vanilla_merkle.h"
#include "gadget/merkle.h"

/** A tree as the gadgets know it. */
cuzk_merkle_shape cuzk_merkle_shape_of(cuzk_tree tree, cuzk_merkle_hash hash);

/** The path of a proof. */
cuzk_merkle_path cuzk_merkle_path_of(const cuzk_merkle_proof *proof);

/** Writes parts first … first+n-1 of a witness. lanes: n cursors, each at the start of its part;
 *  where they end is checked. ctx: the circuit's. */
typedef void (*cuzk_circuit_part_fn)(cuzk_cs *lanes, size_t n, size_t first, const void *ctx);

/** Make the witness of a circuit whose shape has one part in n_parts copies.
 *
 *  write_head: writes everything in front of the parts through cs. write_parts: called for up to
 *  `group` parts at a time, from the pool's threads. Errors: E_MEMORY; E_MISMATCH when the
 *  shape has another number of parts, or a part did not end where the next one begins: the shape is
 *  of another circuit. */
cuzk_status cuzk_circuit_witness(cuzk_witness **out, const cuzk_shape *shape, size_t n_parts,
                                 void (*write_head)(cuzk_cs *cs, void *ctx),
                                 cuzk_circuit_part_fn write_parts, size_t group, void *ctx,
                                 cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/* Zero digests for the blank inputs that circuits are described with in shape mode. */
extern const cuzk_digest cuzk_blank_digests[CUZK_MERKLE_SIBLINGS];

#endif
