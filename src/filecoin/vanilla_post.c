/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_post.h"

#include "filecoin/bincode.h"

#include <inttypes.h>
#include <stdlib.h>

/* Room for the siblings of all sectors: no more than their number says, no more than the input
 * holds. */
static uint64_t siblings_max(const cuzk_vanilla_span *sectors, uint64_t n_sectors, uint64_t needed)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < n_sectors; i++) {
        uint64_t held = sectors[i].size / sizeof(cuzk_digest);
        total += held < needed ? held : needed;
    }
    return total;
}

/* One sector; sink: room for its siblings, advanced. */
static cuzk_status read_sector(cuzk_post_sector *out, cuzk_bincode *in, cuzk_tree tree,
                               unsigned n_openings, cuzk_digest **sink, cuzk_error *err)
{
    CUZK_TRY(cuzk_bincode_u64(in, &out->sector_id, "sector id", err));
    CUZK_TRY(cuzk_bincode_digests(in, &out->comm_r, 1, "comm_r", err));
    CUZK_TRY(cuzk_bincode_count(in, 1, "sector entries", err));
    CUZK_TRY(cuzk_bincode_count(in, n_openings, "inclusion proofs", err));
    for (unsigned i = 0; i < n_openings; i++) {
        cuzk_status status = cuzk_bincode_merkle(in, &out->openings[i], sink, tree, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "inclusion proof %u", i);
            return status;
        }
    }
    CUZK_TRY(cuzk_bincode_digests(in, &out->comm_c, 1, "comm_c", err));
    return cuzk_bincode_digests(in, &out->comm_r_last, 1, "comm_r_last", err);
}

cuzk_status cuzk_post_vanilla_allocate(cuzk_post_vanilla *out, uint64_t n_siblings, cuzk_error *err)
{
    out->sectors = calloc(out->n_sectors, sizeof *out->sectors);
    out->openings = calloc((size_t)out->n_sectors * out->n_openings, sizeof *out->openings);
    out->siblings = malloc(n_siblings > 0 ? n_siblings * sizeof *out->siblings : 1);
    CUZK_FAIL_IF(out->sectors == NULL || out->openings == NULL || out->siblings == NULL, err,
                 CUZK_E_MEMORY, "out of memory for %" PRIu32 " sectors", out->n_sectors);
    for (uint32_t i = 0; i < out->n_sectors; i++) {
        out->sectors[i].openings = out->openings + (size_t)i * out->n_openings;
    }
    return CUZK_OK;
}

cuzk_status cuzk_post_vanilla_read(cuzk_post_vanilla *out, const cuzk_registered_proof *proof,
                                   const cuzk_vanilla_span *sectors, uint64_t n_sectors,
                                   cuzk_error *err)
{
    *out = (cuzk_post_vanilla){0};
    bool window = proof->kind == CUZK_PROOF_WINDOW;
    CUZK_FAIL_IF(!window && proof->kind != CUZK_PROOF_WINNING, err, CUZK_E_ARGUMENT,
                 "%s is not a proof of spacetime", cuzk_proof_kind_name(proof->kind));
    uint64_t max = window ? cuzk_window_sectors(proof->sector) : 1;
    CUZK_FAIL_IF(n_sectors == 0 || n_sectors > max, err, CUZK_E_MISMATCH,
                 "%s of %s: there are vanilla proofs of %" PRIu64
                 " sectors, expected 1 to %" PRIu64,
                 cuzk_proof_kind_name(proof->kind), proof->sector->name, n_sectors, max);
    cuzk_post_vanilla v = {.proof = *proof,
                           .n_openings = window ? CUZK_WINDOW_CHALLENGES : CUZK_WINNING_CHALLENGES,
                           .n_sectors = (uint32_t)n_sectors};
    cuzk_tree tree = cuzk_tree_poseidon(proof->sector);
    uint64_t needed = (uint64_t)v.n_openings * cuzk_tree_siblings(tree);
    cuzk_status status =
        cuzk_post_vanilla_allocate(&v, siblings_max(sectors, n_sectors, needed), err);
    cuzk_digest *sink = v.siblings;
    for (uint64_t i = 0; status == CUZK_OK && i < n_sectors; i++) {
        cuzk_bincode in = {sectors[i].data, sectors[i].size, 0};
        status = read_sector(&v.sectors[i], &in, tree, v.n_openings, &sink, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "vanilla proof of sector %" PRIu64, i);
        }
    }
    if (status != CUZK_OK) {
        cuzk_post_vanilla_clear(&v);
        return status;
    }
    *out = v;
    return CUZK_OK;
}

void cuzk_post_vanilla_clear(cuzk_post_vanilla *vanilla)
{
    free(vanilla->siblings);
    free(vanilla->openings);
    free(vanilla->sectors);
    *vanilla = (cuzk_post_vanilla){0};
}
