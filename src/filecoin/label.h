/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Labels of the stacked graph and the columns they make. Source: porep.md section 4. */
#ifndef CUZK_FILECOIN_LABEL_H
#define CUZK_FILECOIN_LABEL_H

#include "filecoin/vanilla_merkle.h"

/** Label of a node > 0 in a layer (1 …): SHA-256 of its place and its parents' labels, cut to 254
 *  bits. parents: the labels of the 6 base parents in this layer, then, unless the layer is 1, of
 *  the 8 of the expander in the layer before. */
void cuzk_label(cuzk_digest *out, const cuzk_digest *replica_id, unsigned layer, uint64_t node,
                const cuzk_digest *const parents[CUZK_PARENTS]);

/** Hashes of n columns: rows[i] points to `layers` labels. out: n. */
void cuzk_column_hashes(cuzk_digest *out, const cuzk_digest *const *rows, unsigned layers,
                        unsigned n);

/** Replica node: label + data in the field. */
void cuzk_encode(cuzk_digest *out, const cuzk_digest *label, const cuzk_digest *data);

#endif
