/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/sparse_tree.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "gadget/poseidon.h"

#include <stdlib.h>

/* Nodes hashed together. */
enum { BATCH = 64 };

void cuzk_draw_digest(cuzk_digest *out, cuzk_draw draw, const char *name, uint64_t a, uint64_t b)
{
    uint8_t numbers[24];
    cuzk_sha256 sha;
    cuzk_store_u64_le(numbers, draw.seed);
    cuzk_store_u64_le(numbers + 8, a);
    cuzk_store_u64_le(numbers + 16, b);
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, numbers, sizeof numbers);
    cuzk_sha256_update(&sha, name, strlen(name));
    cuzk_sha256_final(&sha, out->b);
    out->b[31] &= 0x3f;
}

/* Place of the first node of a level whose index is not below `index`. */
static size_t lower_bound(const cuzk_sparse_tree *t, unsigned level, uint64_t index)
{
    size_t low = 0;
    size_t high = t->n[level];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->nodes[level][middle].index < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The node of that index, known or drawn. at: a place in the level at or before it. */
static void value_at(cuzk_digest *out, const cuzk_sparse_tree *t, unsigned level, uint64_t index,
                     size_t at)
{
    while (at < t->n[level] && t->nodes[level][at].index < index) {
        at++;
    }
    if (at < t->n[level] && t->nodes[level][at].index == index) {
        *out = t->nodes[level][at].value;
    } else {
        cuzk_draw_digest(out, t->draw, t->name, level, index);
    }
}

/* Which parents the nodes of a level have: their indices into out, if it is not NULL. */
static size_t parents(const cuzk_sparse_tree *t, unsigned level, cuzk_tree_node *out)
{
    unsigned bits = cuzk_tree_index_bits(t->tree, level);
    size_t n = 0;
    for (size_t i = 0; i < t->n[level]; i++) {
        uint64_t parent = t->nodes[level][i].index >> bits;
        if (i == 0 || parent != t->nodes[level][i - 1].index >> bits) {
            if (out != NULL) {
                out[n].index = parent;
            }
            n++;
        }
    }
    return n;
}

/* Hash level + 1 from level. */
static void build_level(cuzk_sparse_tree *t, unsigned level)
{
    unsigned arity = cuzk_tree_arity(t->tree, level);
    cuzk_digest children[BATCH * CUZK_POSEIDON_BASE_ARITY];
    cuzk_digest hashes[BATCH];
    size_t at = 0;
    for (size_t first = 0; first < t->n[level + 1]; first += BATCH) {
        size_t n = t->n[level + 1] - first < BATCH ? t->n[level + 1] - first : BATCH;
        for (size_t i = 0; i < n; i++) {
            uint64_t child = t->nodes[level + 1][first + i].index * arity;
            while (t->nodes[level][at].index < child) {
                at++;
            }
            for (unsigned k = 0; k < arity; k++) {
                value_at(&children[i * arity + k], t, level, child + k, at);
            }
        }
        cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), hashes, children, n);
        for (size_t i = 0; i < n; i++) {
            t->nodes[level + 1][first + i].value = hashes[i];
        }
    }
}

cuzk_status cuzk_sparse_tree_build(cuzk_sparse_tree *out, cuzk_tree tree,
                                   const cuzk_tree_node *leaves, size_t n, cuzk_draw draw,
                                   const char *name, cuzk_error *err)
{
    cuzk_sparse_tree t = {.tree = tree, .draw = draw, .name = name, .n = {n}};
    unsigned levels = cuzk_tree_levels(tree);
    t.nodes[0] = malloc(n * sizeof *leaves);
    if (t.nodes[0] != NULL) {
        memcpy(t.nodes[0], leaves, n * sizeof *leaves);
    }
    for (unsigned level = 0; level < levels && t.nodes[level] != NULL; level++) {
        t.n[level + 1] = parents(&t, level, NULL);
        t.nodes[level + 1] = malloc(t.n[level + 1] * sizeof *leaves);
        if (t.nodes[level + 1] != NULL) {
            (void)parents(&t, level, t.nodes[level + 1]);
            build_level(&t, level);
        }
    }
    if (t.nodes[levels] == NULL) {
        cuzk_sparse_tree_clear(&t);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory for a tree of %zu leaves", n);
    }
    *out = t;
    return CUZK_OK;
}

void cuzk_sparse_tree_clear(cuzk_sparse_tree *tree)
{
    for (unsigned level = 0; level < CUZK_SPARSE_LEVELS_MAX; level++) {
        free(tree->nodes[level]);
    }
    *tree = (cuzk_sparse_tree){0};
}

const cuzk_digest *cuzk_sparse_tree_root(const cuzk_sparse_tree *tree)
{
    return &tree->nodes[cuzk_tree_levels(tree->tree)][0].value;
}

void cuzk_sparse_tree_open(cuzk_merkle_proof *out, cuzk_digest *siblings,
                           const cuzk_sparse_tree *tree, uint64_t index)
{
    *out = (cuzk_merkle_proof){
        .root = *cuzk_sparse_tree_root(tree), .index = index, .siblings = siblings};
    value_at(&out->leaf, tree, 0, index, lower_bound(tree, 0, index));
    unsigned levels = cuzk_tree_levels(tree->tree);
    for (unsigned level = 0; level < levels; level++) {
        unsigned arity = cuzk_tree_arity(tree->tree, level);
        uint64_t first = index & ~(uint64_t)(arity - 1);
        size_t at = lower_bound(tree, level, first);
        for (unsigned k = 0; k < arity; k++) {
            if (first + k != index) {
                value_at(siblings++, tree, level, first + k, at);
            }
        }
        index /= arity;
    }
}
