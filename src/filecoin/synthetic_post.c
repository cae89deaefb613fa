/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/challenges.h"
#include "filecoin/merkle_roots.h"
#include "filecoin/sparse_tree.h"
#include "filecoin/synthetic.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_index(const void *a, const void *b)
{
    const cuzk_tree_node *x = a;
    const cuzk_tree_node *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The leaves that are challenged, each once. Returns how many. */
static size_t choose_leaves(cuzk_tree_node *leaves, const uint64_t *challenged, unsigned n,
                            cuzk_draw draw, uint64_t sector_id)
{
    for (unsigned i = 0; i < n; i++) {
        leaves[i].index = challenged[i];
        cuzk_draw_digest(&leaves[i].value, draw, "leaf", sector_id, challenged[i]);
    }
    qsort(leaves, n, sizeof *leaves, by_index);
    size_t kept = 0;
    for (unsigned i = 0; i < n; i++) {
        if (kept == 0 || leaves[kept - 1].index != leaves[i].index) {
            leaves[kept++] = leaves[i];
        }
    }
    return kept;
}

/* Sector at `place`: its openings are filled, siblings from *to on. */
static cuzk_status make_sector(cuzk_post_vanilla *v, const cuzk_synthetic_params *params,
                               const uint8_t randomness[32], uint32_t place, cuzk_digest **to,
                               cuzk_error *err)
{
    cuzk_post_sector *sector = &v->sectors[place];
    cuzk_tree tree = cuzk_tree_poseidon(v->proof.sector);
    uint64_t id = params->sector_number + place;
    uint64_t challenged[CUZK_WINNING_CHALLENGES];
    cuzk_tree_node leaves[CUZK_WINNING_CHALLENGES];
    for (unsigned n = 0; n < v->n_openings; n++) {
        uint64_t q = cuzk_post_challenge_index(&v->proof, params->partition, place, n);
        challenged[n] = cuzk_post_challenge(randomness, id, q, cuzk_sector_nodes(v->proof.sector));
    }
    /* every sector its own tree: the seed of the draws is one of the sector */
    cuzk_digest own;
    cuzk_draw draw = {params->seed};
    cuzk_draw_digest(&own, draw, "sector", id, 0);
    memcpy(&draw.seed, own.b, sizeof draw.seed);
    size_t n_leaves = choose_leaves(leaves, challenged, v->n_openings, draw, id);
    cuzk_sparse_tree built;
    CUZK_TRY(cuzk_sparse_tree_build(&built, tree, leaves, n_leaves, draw, "tree R", err));
    for (unsigned n = 0; n < v->n_openings; n++) {
        cuzk_sparse_tree_open(&sector->openings[n], *to, &built, challenged[n]);
        *to += cuzk_tree_siblings(tree);
    }
    sector->sector_id = id;
    sector->comm_r_last = *cuzk_sparse_tree_root(&built);
    cuzk_draw_digest(&sector->comm_c, draw, "comm_c", id, 0);
    cuzk_comm_r(&sector->comm_r, &sector->comm_c, &sector->comm_r_last);
    cuzk_sparse_tree_clear(&built);
    return CUZK_OK;
}

cuzk_status cuzk_synthetic_post(cuzk_post_vanilla *out, uint8_t randomness[32],
                                const cuzk_synthetic_params *params, cuzk_error *err)
{
    *out = (cuzk_post_vanilla){0};
    bool window = params->proof.kind == CUZK_PROOF_WINDOW;
    unsigned max = window ? cuzk_window_sectors(params->proof.sector) : 1;
    CUZK_FAIL_IF(params->n_sectors == 0 || params->n_sectors > max, err, CUZK_E_ARGUMENT,
                 "%s of %s: %" PRIu32 " sectors, expected 1 to %u",
                 cuzk_proof_kind_name(params->proof.kind), params->proof.sector->name,
                 params->n_sectors, max);
    cuzk_post_vanilla v = {.proof = params->proof,
                           .n_openings = window ? CUZK_WINDOW_CHALLENGES : CUZK_WINNING_CHALLENGES,
                           .n_sectors = params->n_sectors};
    uint64_t n_siblings = (uint64_t)v.n_sectors * v.n_openings *
                          cuzk_tree_siblings(cuzk_tree_poseidon(v.proof.sector));
    cuzk_digest drawn;
    cuzk_draw_digest(&drawn, (cuzk_draw){params->seed}, "randomness", 0, 0);
    memcpy(randomness, drawn.b, sizeof drawn.b);
    cuzk_status s = cuzk_post_vanilla_allocate(&v, n_siblings, err);
    cuzk_digest *to = v.siblings;
    for (uint32_t i = 0; s == CUZK_OK && i < v.n_sectors; i++) {
        s = make_sector(&v, params, randomness, i, &to, err);
    }
    if (s != CUZK_OK) {
        cuzk_post_vanilla_clear(&v);
        return s;
    }
    *out = v;
    return CUZK_OK;
}
