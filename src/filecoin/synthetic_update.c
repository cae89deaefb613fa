/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An update of a uniform sector. Old replica and new data have one value a level; the new replica
 * has 2^h uniform parts, which a few mixed levels join. */
#include "base/sha256.h"
#include "filecoin/merkle_roots.h"
#include "filecoin/sparse_tree.h"
#include "filecoin/synthetic.h"
#include "filecoin/update_values.h"
#include "gadget/poseidon.h"

#include <stdlib.h>

enum { LEVELS_MAX = 40 };

typedef struct {
    cuzk_update_vanilla *out;
    cuzk_tree tree_d, tree_r;
    unsigned levels;                /* of tree R */
    unsigned covered[LEVELS_MAX];   /* log2 of the leaves under a node of a level */
    cuzk_digest data[LEVELS_MAX];   /* tree D, level by level */
    cuzk_digest old[LEVELS_MAX];    /* old tree R */
    unsigned part_bits;             /* log2 of the nodes of one part */
    unsigned n_parts;               /* 2^h */
    cuzk_digest *fresh[LEVELS_MAX]; /* new tree R: one value a part, or one a node */
    cuzk_update_statement *statement;
} maker;

/* Whether the nodes of a level of the new tree R lie within one part. */
static bool is_uniform(const maker *m, unsigned level)
{
    return m->covered[level] <= m->part_bits;
}

static const cuzk_digest *fresh_node(const maker *m, unsigned level, uint64_t index)
{
    uint64_t at = is_uniform(m, level) ? index >> (m->part_bits - m->covered[level]) : index;
    return &m->fresh[level][at];
}

/* A node whose children are equal. */
static void hash_equal(cuzk_digest *out, const cuzk_digest *in, unsigned arity)
{
    cuzk_digest children[CUZK_POSEIDON_BASE_ARITY];
    for (unsigned i = 0; i < arity; i++) {
        children[i] = *in;
    }
    cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), out, children, 1);
}

static cuzk_status build_fresh(maker *m, const cuzk_digest *phi, cuzk_error *err)
{
    const cuzk_update_shape *shape = &m->out->shape;
    for (unsigned level = 0; level <= m->levels; level++) {
        size_t n = is_uniform(m, level) ? m->n_parts
                                        : (size_t)1 << (shape->challenge_bits - m->covered[level]);
        m->fresh[level] = calloc(n, sizeof(cuzk_digest));
        CUZK_FAIL_IF(m->fresh[level] == NULL, err, CUZK_E_MEMORY, "out of memory");
        unsigned arity = level > 0 ? cuzk_tree_arity(m->tree_r, level - 1) : 0;
        for (size_t i = 0; i < n; i++) {
            if (level == 0) {
                uint64_t node = (uint64_t)i << m->part_bits;
                cuzk_digest rho;
                cuzk_update_rho(&rho, phi, shape, shape->h, &node, 1);
                cuzk_update_encode(&m->fresh[0][i], &m->old[0], &m->data[0], &rho);
            } else if (is_uniform(m, level)) {
                hash_equal(&m->fresh[level][i], &m->fresh[level - 1][i], arity);
            } else {
                cuzk_digest children[CUZK_POSEIDON_BASE_ARITY];
                for (unsigned k = 0; k < arity; k++) {
                    children[k] = *fresh_node(m, level - 1, i * arity + k);
                }
                cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), &m->fresh[level][i],
                                   children, 1);
            }
        }
    }
    return CUZK_OK;
}

/* Old tree, new data, and the values that follow. */
static cuzk_status build(maker *m, cuzk_draw draw, cuzk_error *err)
{
    cuzk_update_vanilla *v = m->out;
    cuzk_digest comm_c;
    cuzk_digest phi;
    cuzk_draw_digest(&m->data[0], draw, "new data", 0, 0);
    cuzk_draw_digest(&m->old[0], draw, "old replica", 0, 0);
    cuzk_draw_digest(&comm_c, draw, "comm_c", 0, 0);
    for (unsigned l = 0; l < m->tree_d.base_levels; l++) {
        cuzk_digest children[2] = {m->data[l], m->data[l]};
        cuzk_sha256_digest(m->data[l + 1].b, children, sizeof children);
        m->data[l + 1].b[31] &= 0x3f;
    }
    for (unsigned l = 0; l < m->levels; l++) {
        m->covered[l + 1] = m->covered[l] + cuzk_tree_index_bits(m->tree_r, l);
        hash_equal(&m->old[l + 1], &m->old[l], cuzk_tree_arity(m->tree_r, l));
    }
    m->part_bits = v->shape.challenge_bits - v->shape.h;
    m->n_parts = 1u << v->shape.h;
    m->statement->proof = v->proof;
    m->statement->comm_d_new = m->data[m->tree_d.base_levels];
    cuzk_comm_r(&m->statement->comm_r_old, &comm_c, &m->old[m->levels]);
    cuzk_update_phi(&phi, &m->statement->comm_d_new, &m->statement->comm_r_old);
    CUZK_TRY(build_fresh(m, &phi, err));
    cuzk_comm_r(&m->statement->comm_r_new, &comm_c, &m->fresh[m->levels][0]);
    for (unsigned k = 0; k < v->shape.partitions; k++) {
        v->partitions[k].comm_c = comm_c;
    }
    return CUZK_OK;
}

/* A uniform tree: all siblings of a level are its value. */
static void open_uniform(cuzk_merkle_proof *out, const cuzk_digest *levels, cuzk_tree tree,
                         uint64_t index, cuzk_digest **to)
{
    unsigned n = cuzk_tree_levels(tree);
    *out =
        (cuzk_merkle_proof){.root = levels[n], .leaf = levels[0], .index = index, .siblings = *to};
    for (unsigned l = 0; l < n; l++) {
        for (unsigned k = 1; k < cuzk_tree_arity(tree, l); k++) {
            *(*to)++ = levels[l];
        }
    }
}

static void open_fresh(const maker *m, cuzk_merkle_proof *out, uint64_t index, cuzk_digest **to)
{
    *out = (cuzk_merkle_proof){.root = m->fresh[m->levels][0],
                               .leaf = *fresh_node(m, 0, index),
                               .index = index,
                               .siblings = *to};
    for (unsigned l = 0; l < m->levels; l++) {
        unsigned arity = cuzk_tree_arity(m->tree_r, l);
        uint64_t first = index & ~(uint64_t)(arity - 1);
        for (unsigned k = 0; k < arity; k++) {
            if (first + k != index) {
                *(*to)++ = *fresh_node(m, l, first + k);
            }
        }
        index /= arity;
    }
}

static void open_partition(const maker *m, unsigned k, cuzk_digest **to)
{
    const cuzk_update_shape *shape = &m->out->shape;
    cuzk_update_partition *p = &m->out->partitions[k];
    uint64_t challenged[128];
    unsigned height = shape->challenge_bits - shape->partition_bits - shape->apex_bits;
    p->apex_leaves = *to;
    for (unsigned i = 0; i < 1u << shape->apex_bits; i++) {
        *(*to)++ = m->data[height];
    }
    cuzk_update_challenges(challenged, shape, &m->statement->comm_r_new, k);
    for (unsigned c = 0; c < shape->challenges; c++) {
        cuzk_update_challenge *ch = &p->challenges[c];
        open_uniform(&ch->r_old, m->old, m->tree_r, challenged[c], to);
        open_uniform(&ch->d_new, m->data, m->tree_d, challenged[c], to);
        open_fresh(m, &ch->r_new, challenged[c], to);
    }
}

cuzk_status cuzk_synthetic_update(cuzk_update_vanilla *out, cuzk_update_statement *statement,
                                  const cuzk_synthetic_params *params, cuzk_error *err)
{
    *out = (cuzk_update_vanilla){0};
    cuzk_update_vanilla v = {.proof = params->proof,
                             .shape = cuzk_update_shape_of(params->proof.sector)};
    maker m = {.out = &v,
               .statement = statement,
               .tree_d = cuzk_tree_sha256(params->proof.sector),
               .tree_r = cuzk_tree_poseidon(params->proof.sector)};
    m.levels = cuzk_tree_levels(m.tree_r);
    uint64_t per_challenge = 2 * cuzk_tree_siblings(m.tree_r) + cuzk_tree_siblings(m.tree_d);
    uint64_t n = v.shape.partitions *
                 ((uint64_t)(1u << v.shape.apex_bits) + v.shape.challenges * per_challenge);
    cuzk_status s = cuzk_update_vanilla_allocate(&v, n, err);
    if (s == CUZK_OK) {
        s = build(&m, (cuzk_draw){params->seed}, err);
    }
    cuzk_digest *to = v.digests;
    for (unsigned k = 0; s == CUZK_OK && k < v.shape.partitions; k++) {
        open_partition(&m, k, &to);
    }
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        free(m.fresh[l]);
    }
    if (s != CUZK_OK) {
        cuzk_update_vanilla_clear(&v);
        return s;
    }
    *out = v;
    return CUZK_OK;
}
