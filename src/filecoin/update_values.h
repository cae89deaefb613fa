/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The values of a sector update that follow from its commitments: phi, rho and the challenges.
 * Source: snapdeals.md section 2 of the specification. */
#ifndef CUZK_FILECOIN_UPDATE_VALUES_H
#define CUZK_FILECOIN_UPDATE_VALUES_H

#include "filecoin/vanilla_merkle.h"

/** phi, the randomness of the whole update. */
void cuzk_update_phi(cuzk_digest *phi, const cuzk_digest *comm_d_new,
                     const cuzk_digest *comm_r_old);

/** rho of n nodes: the factor of the new data at a node, the same for all nodes that share their h
 *  highest index bits. out: n. */
void cuzk_update_rho(cuzk_digest *out, const cuzk_digest *phi, const cuzk_update_shape *shape,
                     unsigned h, const uint64_t *nodes, unsigned n);

/** The challenged nodes of partition k. out: shape->challenges values. */
void cuzk_update_challenges(uint64_t *out, const cuzk_update_shape *shape,
                            const cuzk_digest *comm_r_new, unsigned k);

/** Replica node after the update: r_old + d_new · rho in the field. */
void cuzk_update_encode(cuzk_digest *r_new, const cuzk_digest *r_old, const cuzk_digest *d_new,
                        const cuzk_digest *rho);

#endif
