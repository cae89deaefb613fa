/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Digests and Merkle proofs as vanilla proofs carry them, packed.
 *
 * A digest is 32 bytes; those that are field elements are canonical, little-endian and were found
 * to be below the order r of BLS12-381's scalar field when they were read. */
#ifndef CUZK_FILECOIN_VANILLA_MERKLE_H
#define CUZK_FILECOIN_VANILLA_MERKLE_H

#include "filecoin/sector.h"

#include <string.h>

typedef struct {
    uint8_t b[32];
} cuzk_digest;

/* Levels of a tree, leaf to root: `base_levels` of arity `base_arity`, then one of sub_arity and
 * one of top_arity where those are not 0. */
typedef struct {
    uint8_t base_arity; /* 2 or 8 */
    uint8_t base_levels;
    uint8_t sub_arity;
    uint8_t top_arity;
} cuzk_tree;

/* One opening. The siblings of a level (arity - 1 of them, in the order of the node's children with
 * the opened one left out) follow those of the level below. */
typedef struct {
    cuzk_digest root; /* as the proof claims it */
    cuzk_digest leaf;
    uint64_t index;              /* of the leaf, made of the indices of the levels; < leaves */
    const cuzk_digest *siblings; /* cuzk_tree_siblings() of them */
} cuzk_merkle_proof;

/** Tree C and tree R of a sector. */
static inline cuzk_tree cuzk_tree_poseidon(const cuzk_sector *sector)
{
    return (cuzk_tree){CUZK_POSEIDON_BASE_ARITY, sector->base_levels, sector->sub_arity,
                       sector->top_arity};
}

/** Tree D of a sector. */
static inline cuzk_tree cuzk_tree_sha256(const cuzk_sector *sector)
{
    return (cuzk_tree){2, sector->lg_nodes, 0, 0};
}

/** Levels above the leaves. */
static inline unsigned cuzk_tree_levels(cuzk_tree tree)
{
    return tree.base_levels + (tree.sub_arity != 0 ? 1u : 0u) + (tree.top_arity != 0 ? 1u : 0u);
}

/** Children of a node whose children are on `level` (0: the leaves). */
static inline unsigned cuzk_tree_arity(cuzk_tree tree, unsigned level)
{
    return level < tree.base_levels    ? tree.base_arity
           : level == tree.base_levels ? tree.sub_arity
                                       : tree.top_arity;
}

/** Bits of the index that choose a child of such a node. */
static inline unsigned cuzk_tree_index_bits(cuzk_tree tree, unsigned level)
{
    return (unsigned)__builtin_ctz(cuzk_tree_arity(tree, level));
}

/** Siblings of one opening, all levels together. */
static inline unsigned cuzk_tree_siblings(cuzk_tree tree)
{
    return tree.base_levels * (tree.base_arity - 1u) +
           (tree.sub_arity != 0 ? tree.sub_arity - 1u : 0u) +
           (tree.top_arity != 0 ? tree.top_arity - 1u : 0u);
}

static inline bool cuzk_digest_eq(const cuzk_digest *a, const cuzk_digest *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

/** Whether the 32 little-endian bytes are a number below r. */
bool cuzk_digest_is_fr(const cuzk_digest *digest);

enum { CUZK_DIGEST_HEX_MAX = 65 };

/** Write the bytes as 64 hex digits and a NUL, first byte first. Returns out. */
char *cuzk_digest_hex(char out[CUZK_DIGEST_HEX_MAX], const cuzk_digest *digest);

#endif
