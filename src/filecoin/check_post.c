/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/challenges.h"
#include "filecoin/check_common.h"
#include "filecoin/vanilla_check.h"

#include <inttypes.h>
#include <stdlib.h>

/* Sectors whose paths are hashed together: bounds the workspace. */
enum { BATCH = 64 };

static cuzk_status check_claims(const cuzk_post_vanilla *v, const cuzk_post_statement *s,
                                uint32_t i, cuzk_error *err)
{
    const cuzk_post_sector *sector = &v->sectors[i];
    cuzk_digest comm_r;
    CUZK_TRY(cuzk_check_number(sector->sector_id, "the sector's number", s->sector_ids[i], err));
    CUZK_TRY(cuzk_check_digest(&sector->comm_r, "comm_r", &s->comm_r[i], "the one stated", err));
    cuzk_comm_r(&comm_r, &sector->comm_c, &sector->comm_r_last);
    CUZK_TRY(cuzk_check_digest(&comm_r, "the hash of comm_c and comm_r_last", &sector->comm_r,
                               "comm_r", err));
    for (unsigned n = 0; n < v->n_openings; n++) {
        uint64_t q = cuzk_post_challenge_index(&s->proof, s->partition, i, n);
        uint64_t leaf = cuzk_post_challenge(s->randomness, sector->sector_id, q,
                                            cuzk_sector_nodes(s->proof.sector));
        cuzk_status status =
            cuzk_check_claims(&sector->openings[n], leaf, &sector->comm_r_last, "comm_r_last", err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u", n);
            return status;
        }
    }
    return CUZK_OK;
}

static void prefix_sector(const cuzk_post_vanilla *v, uint32_t i, cuzk_error *err)
{
    cuzk_error_prefix(err, "sector %" PRIu64 " (place %" PRIu32 ")", v->sectors[i].sector_id, i);
}

/* Paths of sectors first … first + n - 1. paths, roots: room for n × n_openings. */
static cuzk_status check_paths(const cuzk_post_vanilla *v, uint32_t first, uint32_t n,
                               cuzk_merkle_path *paths, cuzk_digest *roots, cuzk_pool *pool,
                               cuzk_error *err)
{
    size_t each = v->n_openings;
    for (size_t i = 0; i < n * each; i++) {
        paths[i] = cuzk_check_path(&v->sectors[first + i / each].openings[i % each]);
    }
    cuzk_check_roots(roots, paths, n * each, cuzk_tree_poseidon(v->proof.sector), pool);
    for (size_t i = 0; i < n * each; i++) {
        const cuzk_post_sector *sector = &v->sectors[first + i / each];
        cuzk_status s = cuzk_check_digest(&roots[i], "what the path leads to", &sector->comm_r_last,
                                          "comm_r_last", err);
        if (s != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %zu", i % each);
            prefix_sector(v, first + (uint32_t)(i / each), err);
            return s;
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_post_check(const cuzk_post_vanilla *vanilla, const cuzk_post_statement *statement,
                            cuzk_pool *pool, cuzk_error *err)
{
    CUZK_FAIL_IF(vanilla->proof.number != statement->proof.number ||
                     vanilla->proof.kind != statement->proof.kind ||
                     vanilla->proof.sector != statement->proof.sector,
                 err, CUZK_E_MISMATCH, "the vanilla proof is of another registered proof");
    CUZK_TRY(cuzk_check_number(vanilla->n_sectors, "the number of vanilla proofs",
                               statement->n_sectors, err));
    for (uint32_t i = 0; i < vanilla->n_sectors; i++) {
        cuzk_status s = check_claims(vanilla, statement, i, err);
        if (s != CUZK_OK) {
            prefix_sector(vanilla, i, err);
            return s;
        }
    }
    size_t n_batch = vanilla->n_sectors < BATCH ? vanilla->n_sectors : BATCH;
    cuzk_merkle_path *paths = calloc(n_batch * vanilla->n_openings, sizeof *paths);
    cuzk_digest *roots = calloc(n_batch * vanilla->n_openings, sizeof *roots);
    cuzk_status s = CUZK_OK;
    if (paths == NULL || roots == NULL) {
        s = CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    for (uint32_t first = 0; s == CUZK_OK && first < vanilla->n_sectors; first += BATCH) {
        uint32_t left = vanilla->n_sectors - first;
        s = check_paths(vanilla, first, left < BATCH ? left : BATCH, paths, roots, pool, err);
    }
    free(paths);
    free(roots);
    return s;
}
