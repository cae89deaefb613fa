/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_update.h"

#include "filecoin/bincode.h"

#include <inttypes.h>
#include <stdlib.h>

/* The three trees of a challenge. */
typedef struct {
    cuzk_tree r, d;
} trees;

static cuzk_status read_challenge(cuzk_update_challenge *out, cuzk_bincode *in, trees t,
                                  cuzk_digest **sink, cuzk_error *err)
{
    const struct {
        const char *name;
        cuzk_merkle_proof *proof;
        cuzk_tree tree;
    } proofs[] = {{"proof_r_old", &out->r_old, t.r},
                  {"proof_d_new", &out->d_new, t.d},
                  {"proof_r_new", &out->r_new, t.r}};
    for (unsigned i = 0; i < 3; i++) {
        cuzk_status status = cuzk_bincode_merkle(in, proofs[i].proof, sink, proofs[i].tree, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "%s", proofs[i].name);
            return status;
        }
    }
    return CUZK_OK;
}

/* One partition; sink: room for its apex leaves and siblings, advanced. */
static cuzk_status read_partition(cuzk_update_partition *out, cuzk_bincode *in,
                                  const cuzk_update_shape *shape, trees t, cuzk_digest **sink,
                                  cuzk_error *err)
{
    unsigned n_apex = 1u << shape->apex_bits;
    CUZK_TRY(cuzk_bincode_digests(in, &out->comm_c, 1, "comm_c", err));
    CUZK_TRY(cuzk_bincode_count(in, n_apex, "apex leaves", err));
    out->apex_leaves = *sink;
    CUZK_TRY(cuzk_bincode_digests(in, *sink, n_apex, "apex leaves", err));
    *sink += n_apex;
    CUZK_TRY(cuzk_bincode_count(in, shape->challenges, "challenge proofs", err));
    for (unsigned c = 0; c < shape->challenges; c++) {
        cuzk_status status = read_challenge(&out->challenges[c], in, t, sink, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "challenge %u", c);
            return status;
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_update_vanilla_allocate(cuzk_update_vanilla *out, uint64_t n_digests,
                                         cuzk_error *err)
{
    const cuzk_update_shape *shape = &out->shape;
    out->partitions = calloc(shape->partitions, sizeof *out->partitions);
    out->challenges =
        calloc((size_t)shape->partitions * shape->challenges, sizeof *out->challenges);
    out->digests = malloc(n_digests > 0 ? n_digests * sizeof *out->digests : 1);
    CUZK_FAIL_IF(out->partitions == NULL || out->challenges == NULL || out->digests == NULL, err,
                 CUZK_E_MEMORY, "out of memory for %u partitions", shape->partitions);
    for (unsigned k = 0; k < shape->partitions; k++) {
        out->partitions[k].challenges = out->challenges + (size_t)k * shape->challenges;
    }
    return CUZK_OK;
}

cuzk_status cuzk_update_vanilla_read(cuzk_update_vanilla *out, const cuzk_registered_proof *proof,
                                     const cuzk_vanilla_span *partitions, uint64_t n_partitions,
                                     cuzk_error *err)
{
    *out = (cuzk_update_vanilla){0};
    CUZK_FAIL_IF(proof->kind != CUZK_PROOF_UPDATE, err, CUZK_E_ARGUMENT,
                 "%s is not a sector update", cuzk_proof_kind_name(proof->kind));
    cuzk_update_vanilla v = {.proof = *proof, .shape = cuzk_update_shape_of(proof->sector)};
    CUZK_FAIL_IF(n_partitions != v.shape.partitions, err, CUZK_E_MISMATCH,
                 "update of %s: there are %" PRIu64 " partitions, expected %u", proof->sector->name,
                 n_partitions, v.shape.partitions);
    trees t = {cuzk_tree_poseidon(proof->sector), cuzk_tree_sha256(proof->sector)};
    uint64_t needed =
        (1u << v.shape.apex_bits) +
        (uint64_t)v.shape.challenges * (2 * cuzk_tree_siblings(t.r) + cuzk_tree_siblings(t.d));
    uint64_t room = 0; /* every digest is 32 bytes of input: short input needs less of it */
    for (uint64_t k = 0; k < n_partitions; k++) {
        uint64_t held = partitions[k].size / sizeof(cuzk_digest);
        room += held < needed ? held : needed;
    }
    cuzk_status status = cuzk_update_vanilla_allocate(&v, room, err);
    cuzk_digest *sink = v.digests;
    for (uint64_t k = 0; status == CUZK_OK && k < n_partitions; k++) {
        cuzk_bincode in = {partitions[k].data, partitions[k].size, 0};
        status = read_partition(&v.partitions[k], &in, &v.shape, t, &sink, err);
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "vanilla proof of partition %" PRIu64, k);
        }
    }
    if (status != CUZK_OK) {
        cuzk_update_vanilla_clear(&v);
        return status;
    }
    *out = v;
    return CUZK_OK;
}

void cuzk_update_vanilla_clear(cuzk_update_vanilla *vanilla)
{
    free(vanilla->digests);
    free(vanilla->challenges);
    free(vanilla->partitions);
    *vanilla = (cuzk_update_vanilla){0};
}
