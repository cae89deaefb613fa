/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/challenges.h"
#include "filecoin/check_common.h"
#include "filecoin/graph.h"
#include "filecoin/label.h"
#include "filecoin/vanilla_check.h"

#include <stdio.h>
#include <stdlib.h>

/* Openings of a challenge in Poseidon trees: the replica in tree R, then the columns in tree C: the
 * challenge's own, then those of its parents. */
enum { COLUMNS = 1 + CUZK_PARENTS, OPENINGS = 1 + COLUMNS, CHALLENGES_MAX = 18 };

typedef struct {
    const cuzk_porep_statement *statement;
    unsigned layers, n;
    const cuzk_porep_challenge *challenges; /* of the partition: n */
    uint64_t nodes[CHALLENGES_MAX];         /* that should be challenged */
    cuzk_graph graph;
    cuzk_digest comm_c, comm_r_last;
} partition;

static const cuzk_porep_column *column_at(const cuzk_porep_challenge *ch, unsigned i)
{
    return i == 0 ? &ch->column : &ch->parents[i - 1];
}

/* Name of a column's place for messages. Returns out. */
static const char *column_name(char out[32], unsigned i)
{
    if (i == 0) {
        snprintf(out, 32, "column of the challenge");
    } else if (i <= CUZK_DRG_PARENTS) {
        snprintf(out, 32, "drg parent %u", i - 1);
    } else {
        snprintf(out, 32, "exp parent %u", i - 1 - CUZK_DRG_PARENTS);
    }
    return out;
}

/* Indices and claimed roots of one challenge. */
static cuzk_status check_claims(const partition *p, unsigned c, cuzk_error *err)
{
    const cuzk_porep_challenge *ch = &p->challenges[c];
    uint64_t node = p->nodes[c];
    uint64_t parents[CUZK_PARENTS];
    cuzk_graph_parents(&p->graph, node, parents);
    CUZK_TRY(cuzk_check_number(ch->node, "the challenged node", node, err));
    cuzk_status s = cuzk_check_claims(&ch->d, node, &p->statement->comm_d, "comm_d", err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "tree D");
        return s;
    }
    s = cuzk_check_claims(&ch->r, node, &p->comm_r_last, "comm_r_last", err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "tree R");
        return s;
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        const cuzk_porep_column *col = column_at(ch, i);
        uint64_t expected = i == 0 ? node : parents[i - 1];
        s = cuzk_check_number(col->node, "the column's index", expected, err);
        if (s == CUZK_OK) {
            s = cuzk_check_claims(&col->inclusion, expected, &p->comm_c, "comm_c", err);
        }
        if (s != CUZK_OK) {
            char name[32];
            cuzk_error_prefix(err, "%s", column_name(name, i));
            return s;
        }
    }
    return CUZK_OK;
}

/* Labels from the parents' labels, the replica from label and data. */
static cuzk_status check_labels(const partition *p, unsigned c, cuzk_error *err)
{
    const cuzk_porep_challenge *ch = &p->challenges[c];
    cuzk_digest computed;
    for (unsigned layer = 1; layer <= p->layers; layer++) {
        const cuzk_digest *parents[CUZK_PARENTS];
        for (unsigned i = 0; i < CUZK_PARENTS; i++) {
            unsigned from = i < CUZK_DRG_PARENTS || layer == 1 ? layer : layer - 1;
            parents[i] = &ch->parents[i].rows[from - 1];
        }
        cuzk_label(&computed, &p->statement->replica_id, layer, ch->node, parents);
        cuzk_status s = cuzk_check_digest(&ch->column.rows[layer - 1], "the label", &computed,
                                          "what the parents give", err);
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "layer %u", layer);
            return s;
        }
    }
    cuzk_encode(&computed, &ch->column.rows[p->layers - 1], &ch->d.leaf);
    cuzk_status s =
        cuzk_check_digest(&ch->r.leaf, "the replica", &computed, "label plus data", err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "encoding");
    }
    return s;
}

static cuzk_status check_columns(const partition *p, unsigned c, cuzk_error *err)
{
    const cuzk_porep_challenge *ch = &p->challenges[c];
    const cuzk_digest *rows[COLUMNS];
    cuzk_digest hashes[COLUMNS];
    for (unsigned i = 0; i < COLUMNS; i++) {
        rows[i] = column_at(ch, i)->rows;
    }
    cuzk_column_hashes(hashes, rows, p->layers, COLUMNS);
    for (unsigned i = 0; i < COLUMNS; i++) {
        cuzk_status s = cuzk_check_digest(&column_at(ch, i)->inclusion.leaf, "the leaf in tree C",
                                          &hashes[i], "the hash of the column's labels", err);
        if (s != CUZK_OK) {
            char name[32];
            cuzk_error_prefix(err, "%s", column_name(name, i));
            return s;
        }
    }
    return CUZK_OK;
}

/* All paths of the partition. The roots that the proofs claim are known to be right ones. */
static cuzk_status check_paths(const partition *p, cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_sector *sector = p->statement->proof.sector;
    cuzk_merkle_path paths[CHALLENGES_MAX * OPENINGS];
    cuzk_merkle_path data_paths[CHALLENGES_MAX];
    cuzk_digest roots[CHALLENGES_MAX * OPENINGS];
    cuzk_digest data_roots[CHALLENGES_MAX];
    for (unsigned c = 0; c < p->n; c++) {
        const cuzk_porep_challenge *ch = &p->challenges[c];
        data_paths[c] = cuzk_check_path(&ch->d);
        paths[c * OPENINGS] = cuzk_check_path(&ch->r);
        for (unsigned i = 0; i < COLUMNS; i++) {
            paths[c * OPENINGS + 1 + i] = cuzk_check_path(&column_at(ch, i)->inclusion);
        }
    }
    cuzk_check_roots(data_roots, data_paths, p->n, cuzk_tree_sha256(sector), pool);
    cuzk_check_roots(roots, paths, (size_t)p->n * OPENINGS, cuzk_tree_poseidon(sector), pool);
    for (unsigned c = 0; c < p->n; c++) {
        char name[32];
        cuzk_status s = cuzk_check_digest(&data_roots[c], "what the path leads to",
                                          &p->statement->comm_d, "comm_d", err);
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u: tree D", c);
            return s;
        }
        for (unsigned i = 0; i < OPENINGS; i++) {
            s = cuzk_check_digest(&roots[c * OPENINGS + i], "what the path leads to",
                                  i == 0 ? &p->comm_r_last : &p->comm_c,
                                  i == 0 ? "comm_r_last" : "comm_c", err);
            if (s != CUZK_OK) {
                cuzk_error_prefix(err, "challenge %u: %s", c,
                                  i == 0 ? "tree R" : column_name(name, i - 1));
                return s;
            }
        }
    }
    return CUZK_OK;
}

static cuzk_status check_partition(const partition *p, cuzk_pool *pool, cuzk_error *err)
{
    cuzk_digest comm_r;
    cuzk_comm_r(&comm_r, &p->comm_c, &p->comm_r_last);
    CUZK_TRY(cuzk_check_digest(&comm_r, "the hash of comm_c and comm_r_last", &p->statement->comm_r,
                               "comm_r", err));
    for (unsigned c = 0; c < p->n; c++) {
        cuzk_status s = check_claims(p, c, err);
        if (s == CUZK_OK) {
            s = check_labels(p, c, err);
        }
        if (s == CUZK_OK) {
            s = check_columns(p, c, err);
        }
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u", c);
            return s;
        }
    }
    return check_paths(p, pool, err);
}

cuzk_status cuzk_porep_check_partition(const cuzk_porep_vanilla *vanilla,
                                       const cuzk_porep_statement *statement, unsigned k,
                                       cuzk_pool *pool, cuzk_error *err)
{
    const cuzk_sector *sector = statement->proof.sector;
    partition *p = calloc(1, sizeof *p);
    CUZK_FAIL_IF(p == NULL, err, CUZK_E_MEMORY, "out of memory");
    p->statement = statement;
    p->layers = vanilla->shape.layers;
    p->n = vanilla->shape.challenges;
    p->challenges = cuzk_porep_challenge_at(vanilla, k, 0);
    p->comm_c = p->challenges[0].column.inclusion.root;
    p->comm_r_last = p->challenges[0].r.root;
    uint8_t porep_id[32];
    cuzk_porep_id(porep_id, &statement->proof);
    cuzk_graph_init(&p->graph, porep_id, cuzk_sector_nodes(sector), statement->proof.api);
    cuzk_porep_challenge_params params = {.variant = statement->proof.variant,
                                          .nodes = cuzk_sector_nodes(sector),
                                          .per_partition = p->n,
                                          .replica_id = statement->replica_id.b,
                                          .comm_r = statement->comm_r.b,
                                          .seed = statement->seed};
    cuzk_porep_challenges(p->nodes, &params, k);
    cuzk_status s = check_partition(p, pool, err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "partition %u", k);
    }
    free(p);
    return s;
}

typedef struct {
    const cuzk_porep_vanilla *vanilla;
    const cuzk_porep_statement *statement;
} whole;

static cuzk_status check_part(const void *ctx, unsigned k, cuzk_pool *pool, cuzk_error *err)
{
    const whole *w = ctx;
    return cuzk_porep_check_partition(w->vanilla, w->statement, k, pool, err);
}

cuzk_status cuzk_porep_check(const cuzk_porep_vanilla *vanilla,
                             const cuzk_porep_statement *statement, cuzk_pool *pool,
                             cuzk_error *err)
{
    CUZK_FAIL_IF(vanilla->proof.number != statement->proof.number ||
                     vanilla->proof.sector != statement->proof.sector,
                 err, CUZK_E_MISMATCH, "the vanilla proof is of another registered proof");
    CUZK_TRY(cuzk_check_digest(&vanilla->replica_id, "replica_id of the vanilla proof",
                               &statement->replica_id, "that of prover, sector, ticket and data",
                               err));
    CUZK_TRY(cuzk_check_digest(&vanilla->comm_d, "comm_d of the vanilla proof", &statement->comm_d,
                               "the one stated", err));
    CUZK_TRY(cuzk_check_digest(&vanilla->comm_r, "comm_r of the vanilla proof", &statement->comm_r,
                               "the one stated", err));
    const whole w = {vanilla, statement};
    return cuzk_check_parts(check_part, &w, vanilla->shape.partitions, pool, err);
}
