/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/sha256.h"
#include "filecoin/check_common.h"
#include "filecoin/update_values.h"
#include "filecoin/vanilla_check.h"

#include <stdlib.h>

enum { CHALLENGES_MAX = 86, APEX_MAX = 128 };

typedef struct {
    const cuzk_update_statement *statement;
    cuzk_update_shape shape;
    const cuzk_update_partition *vanilla;
    unsigned k;
    const cuzk_digest *root_old, *root_new; /* of tree R, as the first challenge has them */
    uint64_t nodes[CHALLENGES_MAX];         /* that should be challenged */
    cuzk_digest rho[CHALLENGES_MAX];
    /* workspace */
    cuzk_merkle_path paths[2 * CHALLENGES_MAX];
    cuzk_digest roots[2 * CHALLENGES_MAX];
} partition;

/* Levels of tree D below the apex leaves. */
static unsigned apex_height(const partition *p)
{
    return p->shape.challenge_bits - p->shape.partition_bits - p->shape.apex_bits;
}

/* Indices, claimed roots and the new replica of one challenge. */
static cuzk_status check_claims(const partition *p, unsigned c, cuzk_error *err)
{
    const cuzk_update_challenge *ch = &p->vanilla->challenges[c];
    const struct {
        const char *name;
        const cuzk_merkle_proof *proof;
        const cuzk_digest *root;
        const char *root_name;
    } proofs[] = {{"proof_r_old", &ch->r_old, p->root_old, "that of challenge 0"},
                  {"proof_d_new", &ch->d_new, &p->statement->comm_d_new, "comm_d_new"},
                  {"proof_r_new", &ch->r_new, p->root_new, "that of challenge 0"}};
    for (unsigned i = 0; i < 3; i++) {
        cuzk_status s = cuzk_check_claims(proofs[i].proof, p->nodes[c], proofs[i].root,
                                          proofs[i].root_name, err);
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "%s", proofs[i].name);
            return s;
        }
    }
    cuzk_digest encoded;
    cuzk_update_encode(&encoded, &ch->r_old.leaf, &ch->d_new.leaf, &p->rho[c]);
    cuzk_status s = cuzk_check_digest(&ch->r_new.leaf, "the new replica", &encoded,
                                      "old replica plus data times rho", err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "encoding");
    }
    return s;
}

/* Paths in both trees R. */
static cuzk_status check_replica_paths(partition *p, cuzk_pool *pool, cuzk_error *err)
{
    unsigned n = p->shape.challenges;
    for (unsigned c = 0; c < n; c++) {
        p->paths[2 * c] = cuzk_check_path(&p->vanilla->challenges[c].r_old);
        p->paths[2 * c + 1] = cuzk_check_path(&p->vanilla->challenges[c].r_new);
    }
    cuzk_check_roots(p->roots, p->paths, 2 * (size_t)n,
                     cuzk_tree_poseidon(p->statement->proof.sector), pool);
    for (unsigned i = 0; i < 2 * n; i++) {
        cuzk_status s =
            cuzk_check_digest(&p->roots[i], "what the path leads to",
                              i % 2 == 0 ? p->root_old : p->root_new, "the tree's root", err);
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u: %s", i / 2,
                              i % 2 == 0 ? "proof_r_old" : "proof_r_new");
            return s;
        }
    }
    return CUZK_OK;
}

/* The apex leaves lead to comm_d_new, by the upper levels of challenge 0's path. */
static cuzk_status check_apex(const partition *p, cuzk_error *err)
{
    cuzk_digest row[APEX_MAX];
    unsigned n = 1u << p->shape.apex_bits;
    memcpy(row, p->vanilla->apex_leaves, n * sizeof row[0]);
    for (; n > 1; n /= 2) {
        for (unsigned i = 0; i < n / 2; i++) {
            cuzk_digest node;
            cuzk_sha256_digest(node.b, &row[2 * i], 2 * sizeof row[0]);
            node.b[31] &= 0x3f;
            row[i] = node;
        }
    }
    unsigned below = p->shape.challenge_bits - p->shape.partition_bits;
    cuzk_merkle_path path = {row, p->vanilla->challenges[0].d_new.siblings + below, p->k};
    cuzk_digest root;
    cuzk_sha256_roots(&root, &path, 1, p->shape.partition_bits, NULL);
    return cuzk_check_digest(&root, "what the apex leaves lead to", &p->statement->comm_d_new,
                             "comm_d_new", err);
}

/* The paths in tree D: each passes through its apex leaf and leads to comm_d_new. */
static cuzk_status check_data_paths(partition *p, cuzk_pool *pool, cuzk_error *err)
{
    unsigned n = p->shape.challenges;
    unsigned height = apex_height(p);
    cuzk_digest *roots = p->roots + n;
    for (unsigned c = 0; c < n; c++) {
        p->paths[c] = cuzk_check_path(&p->vanilla->challenges[c].d_new);
    }
    cuzk_sha256_roots(p->roots, p->paths, n, height, pool);
    cuzk_sha256_roots(roots, p->paths, n, p->shape.challenge_bits, pool);
    for (unsigned c = 0; c < n; c++) {
        unsigned apex = (unsigned)(p->nodes[c] >> height) & ((1u << p->shape.apex_bits) - 1);
        cuzk_status s = cuzk_check_digest(&p->roots[c], "what the path leads to",
                                          &p->vanilla->apex_leaves[apex], "the apex leaf", err);
        if (s == CUZK_OK) {
            s = cuzk_check_digest(&roots[c], "what the path leads to", &p->statement->comm_d_new,
                                  "comm_d_new", err);
        }
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u: proof_d_new: apex leaf %u", c, apex);
            return s;
        }
    }
    return CUZK_OK;
}

static cuzk_status check_partition(partition *p, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_digest comm_r;
    cuzk_comm_r(&comm_r, &p->vanilla->comm_c, p->root_old);
    CUZK_TRY(cuzk_check_digest(&comm_r, "the hash of comm_c and the old tree's root",
                               &p->statement->comm_r_old, "comm_r_old", err));
    cuzk_comm_r(&comm_r, &p->vanilla->comm_c, p->root_new);
    CUZK_TRY(cuzk_check_digest(&comm_r, "the hash of comm_c and the new tree's root",
                               &p->statement->comm_r_new, "comm_r_new", err));
    for (unsigned c = 0; c < p->shape.challenges; c++) {
        cuzk_status s = check_claims(p, c, err);
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u", c);
            return s;
        }
    }
    CUZK_TRY(check_replica_paths(p, pool, err));
    CUZK_TRY(check_data_paths(p, pool, err));
    return check_apex(p, err);
}

cuzk_status cuzk_update_check_partition(const cuzk_update_vanilla *vanilla,
                                        const cuzk_update_statement *statement, unsigned k,
                                        cuzk_pool *pool, cuzk_error *err)
{
    partition *p = calloc(1, sizeof *p);
    CUZK_FAIL_IF(p == NULL, err, CUZK_E_MEMORY, "out of memory");
    p->statement = statement;
    p->shape = vanilla->shape;
    p->vanilla = &vanilla->partitions[k];
    p->k = k;
    p->root_old = &p->vanilla->challenges[0].r_old.root;
    p->root_new = &p->vanilla->challenges[0].r_new.root;
    cuzk_digest phi;
    cuzk_update_phi(&phi, &statement->comm_d_new, &statement->comm_r_old);
    cuzk_update_challenges(p->nodes, &p->shape, &statement->comm_r_new, k);
    cuzk_update_rho(p->rho, &phi, &p->shape, p->shape.h, p->nodes, p->shape.challenges);
    cuzk_status s = check_partition(p, pool, err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "partition %u", k);
    }
    free(p);
    return s;
}

typedef struct {
    const cuzk_update_vanilla *vanilla;
    const cuzk_update_statement *statement;
} whole;

static cuzk_status check_part(const void *ctx, unsigned k, cuzk_pool *pool, cuzk_error *err)
{
    const whole *w = ctx;
    cuzk_status s =
        cuzk_check_digest(&w->vanilla->partitions[k].comm_c, "comm_c",
                          &w->vanilla->partitions[0].comm_c, "that of partition 0", err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "partition %u", k);
        return s;
    }
    return cuzk_update_check_partition(w->vanilla, w->statement, k, pool, err);
}

cuzk_status cuzk_update_check(const cuzk_update_vanilla *vanilla,
                              const cuzk_update_statement *statement, cuzk_pool *pool,
                              cuzk_error *err)
{
    CUZK_FAIL_IF(vanilla->proof.number != statement->proof.number ||
                     vanilla->proof.sector != statement->proof.sector,
                 err, CUZK_E_MISMATCH, "the vanilla proof is of another registered proof");
    const whole w = {vanilla, statement};
    return cuzk_check_parts(check_part, &w, vanilla->shape.partitions, pool, err);
}
