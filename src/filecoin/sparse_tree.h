/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A Merkle tree of which only some leaves are known, built along the paths that open them: the root
 * of a subtree without a known leaf is a pseudorandom value of (seed, name, level, index), so that
 * all paths agree. A tree of 2^30 leaves with 180 openings costs a few thousand hashes.
 *
 * Such trees make vanilla proofs of sectors that never existed. Poseidon trees only. */
#ifndef CUZK_FILECOIN_SPARSE_TREE_H
#define CUZK_FILECOIN_SPARSE_TREE_H

#include "filecoin/vanilla_merkle.h"

enum { CUZK_SPARSE_LEVELS_MAX = 16 };

/* What every value that is free is drawn from. */
typedef struct {
    uint64_t seed;
} cuzk_draw;

/** A value below 2^254, of the seed, a name and up to two numbers: the same for the same arguments,
 *  otherwise unrelated. */
void cuzk_draw_digest(cuzk_digest *out, cuzk_draw draw, const char *name, uint64_t a, uint64_t b);

typedef struct {
    uint64_t index;
    cuzk_digest value;
} cuzk_tree_node;

typedef struct {
    cuzk_tree tree;
    cuzk_draw draw;
    const char *name;
    /* level 0: the leaves given, …, the root: ascending by index */
    cuzk_tree_node *nodes[CUZK_SPARSE_LEVELS_MAX];
    size_t n[CUZK_SPARSE_LEVELS_MAX];
} cuzk_sparse_tree;

/** Build the tree over n ≥ 1 leaves, ascending by index, without repetition. name: distinguishes
 *  trees of one seed; borrowed. Returned: cuzk_sparse_tree_clear. Errors: E_MEMORY. */
cuzk_status cuzk_sparse_tree_build(cuzk_sparse_tree *out, cuzk_tree tree,
                                   const cuzk_tree_node *leaves, size_t n, cuzk_draw draw,
                                   const char *name, cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_sparse_tree_clear(cuzk_sparse_tree *tree);

/** The root. */
const cuzk_digest *cuzk_sparse_tree_root(const cuzk_sparse_tree *tree);

/** Open a leaf that is known. siblings: room for cuzk_tree_siblings() values, which out points to
 *  afterwards. */
void cuzk_sparse_tree_open(cuzk_merkle_proof *out, cuzk_digest *siblings,
                           const cuzk_sparse_tree *tree, uint64_t index);

#endif
