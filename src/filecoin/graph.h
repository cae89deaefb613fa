/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The stacked graph of a sector: the parents of a node.
 *
 * Base graph: depth-robust sampling driven by ChaCha8, 6 parents, one of them the predecessor. The
 * expander: a Feistel permutation of the 8·nodes edge ends, 8 parents, in the layer before. Both
 * depend on porep_id alone. Source: porep.md section 5 of the specification (the reference's
 * storage-proofs-porep 19.1), the quirks of API V1_0 included. */
#ifndef CUZK_FILECOIN_GRAPH_H
#define CUZK_FILECOIN_GRAPH_H

#include "filecoin/registered.h"

typedef struct {
    uint64_t nodes;
    cuzk_api_version api;
    uint8_t drg_seed[28];
    uint64_t feistel_keys[3];
    unsigned feistel_half; /* bits of one half of a permuted value */
} cuzk_graph;

/** The graph of a PoRep's sector. */
void cuzk_graph_init(cuzk_graph *graph, const uint8_t porep_id[32], uint64_t nodes,
                     cuzk_api_version api);

/** Parents of node < nodes: the 6 of the base graph, then the 8 of the expander. Not sorted, may
 *  repeat. Threads: graph is only read. */
void cuzk_graph_parents(const cuzk_graph *graph, uint64_t node, uint64_t parents[CUZK_PARENTS]);

/** Place in a node's parents of the parent that goes into label's slot `slot` <
 *  CUZK_LABEL_PARENTS: the list is cycled, on layer 1 (without expander) over the first 6. */
static inline unsigned cuzk_label_parent(unsigned layer, unsigned slot)
{
    return slot % (layer == 1 ? CUZK_DRG_PARENTS : CUZK_PARENTS);
}

#endif
