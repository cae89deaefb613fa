/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The roots that Merkle paths lead to, many paths of one tree shape at a time: Poseidon trees (of
 * sealed sectors) and binary SHA-256 trees (of their data). Values are 32 bytes, little-endian; in
 * Poseidon trees they are canonical field elements. Source: gadgets.md sections 7 and 8. */
#ifndef CUZK_FILECOIN_MERKLE_ROOTS_H
#define CUZK_FILECOIN_MERKLE_ROOTS_H

#include "base/pool.h"

#include <stdint.h>

enum { CUZK_MERKLE_ARITY_MAX = 8 };

/* One opening. Borrowed for the call; any alignment. */
typedef struct {
    const void *leaf;
    /* Level by level from the leaf: the children of the node beside the opened one, in order; arity
     * - 1 values each. */
    const void *siblings;
    /* Of the leaf: the lowest bits choose the child on the lowest level. Higher bits than the tree
     * has are ignored. */
    uint64_t index;
} cuzk_merkle_path;

/** Roots of n paths of a Poseidon tree, hashed with the Merkle tags.
 *
 *  roots: n × 32 bytes. arity: 2, 4 or 8 per level, leaf to root: 8 … 8 and what the shape has
 *  above. Without levels the root is the leaf. Threads: the pool's; the paths are cut into chunks.
 */
void cuzk_poseidon_roots(void *roots, const cuzk_merkle_path *paths, size_t n, const uint8_t *arity,
                         unsigned n_levels, cuzk_pool *pool);

/** Roots of n paths of a binary SHA-256 tree; a node is SHA-256 of its children without the two
 *  highest bits. */
void cuzk_sha256_roots(void *roots, const cuzk_merkle_path *paths, size_t n, unsigned n_levels,
                       cuzk_pool *pool);

/** comm_r = Poseidon(comm_c, comm_r_last). out may be either. */
void cuzk_comm_r(void *out, const void *comm_c, const void *comm_r_last);

#endif
