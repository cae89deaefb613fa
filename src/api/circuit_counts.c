/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "api/circuit_counts.h"

#include "groth16/proving.h"
#include "poly/domain.h"

#include <string.h>

/* What small allocations, allocator overhead and stacks come to. */
enum { SLACK = 1 << 20 };

/* Points of the key in G1; in G2 it has n_b. */
static uint64_t n_g1_of(const cuzk_circuit_counts *c)
{
    uint64_t n = (uint64_t)1 << cuzk_circuit_lg_domain(c);
    return n + c->n_vars + c->n_a_aux + c->n_inputs + c->n_b;
}

static uint64_t point_bytes_of(const cuzk_circuit_counts *c)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    return n_g1_of(c) * curve->g[CUZK_G1].affine_bytes +
           (uint64_t)c->n_b * curve->g[CUZK_G2].affine_bytes;
}

uint64_t cuzk_circuit_resident_bytes(const cuzk_circuit_counts *c, bool on_cards)
{
    enum {
        DECODED_AT_ONCE = 65536 * 192, /* of the mapped file, in groth16/prover.c */
        BUFFERS = 32 << 20             /* in backend/cuda/key_stream.c */
    };
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    uint64_t points = point_bytes_of(c);
    uint64_t file = points < DECODED_AT_ONCE ? points : DECODED_AT_ONCE;
    uint64_t rest = c->n_vars / 4 + cuzk_domain_bytes(curve, cuzk_circuit_lg_domain(c)) + 4 * SLACK;
    /* a circuit that is compiled: a builder's arrays grow by doubling, and are copied once more */
    return (on_cards ? BUFFERS : points + file) + 3 * c->shape_bytes + rest;
}

uint64_t cuzk_circuit_witness_bytes(const cuzk_circuit_counts *c)
{
    return cuzk_witness_bytes(c->n_vars, c->n_field) + SLACK;
}

static cuzk_proving_counts proving_counts(const cuzk_circuit_counts *c)
{
    return (cuzk_proving_counts){.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381),
                                 .lg_n = cuzk_circuit_lg_domain(c),
                                 .n_vars = c->n_vars,
                                 .n_field = c->n_field};
}

uint64_t cuzk_circuit_host_bytes(const cuzk_circuit_counts *c, bool on_card, const cuzk_pool *pool)
{
    cuzk_proving_counts counts = proving_counts(c);
    counts.on_device = on_card;
    return cuzk_proving_bytes_max(&counts, pool) + SLACK;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static uint64_t porep_bytes(const cuzk_porep_vanilla *v)
{
    const cuzk_sector *sector = v->proof.sector;
    uint64_t in_r = cuzk_tree_siblings(cuzk_tree_poseidon(sector));
    uint64_t in_d = cuzk_tree_siblings(cuzk_tree_sha256(sector));
    uint64_t digests = in_d + in_r + (1 + CUZK_PARENTS) * (v->shape.layers + in_r);
    /* the array of challenges may have room for as many again */
    return v->n_challenges * (2 * sizeof(cuzk_porep_challenge) + digests * sizeof(cuzk_digest));
}

static uint64_t update_bytes(const cuzk_update_vanilla *v)
{
    const cuzk_sector *sector = v->proof.sector;
    uint64_t in_r = cuzk_tree_siblings(cuzk_tree_poseidon(sector));
    uint64_t in_d = cuzk_tree_siblings(cuzk_tree_sha256(sector));
    uint64_t digests =
        ((uint64_t)1 << v->shape.apex_bits) + v->shape.challenges * (2 * in_r + in_d);
    return v->shape.partitions *
           (sizeof(cuzk_update_partition) + v->shape.challenges * sizeof(cuzk_update_challenge) +
            digests * sizeof(cuzk_digest));
}

static uint64_t post_bytes(const cuzk_filecoin_task *task)
{
    uint64_t siblings = cuzk_tree_siblings(cuzk_tree_poseidon(task->job.proof.sector));
    uint64_t bytes = task->n_post * sizeof(cuzk_post_vanilla);
    for (unsigned k = 0; k < task->n_post; k++) {
        const cuzk_post_vanilla *v = &task->post[k];
        uint64_t opening = sizeof(cuzk_merkle_proof) + siblings * sizeof(cuzk_digest);
        bytes += v->n_sectors * (sizeof(cuzk_post_sector) + v->n_openings * opening +
                                 sizeof *task->sector_ids + sizeof *task->comm_r);
    }
    return bytes;
}

uint64_t cuzk_filecoin_task_bytes(const cuzk_filecoin_task *task)
{
    uint64_t bytes = sizeof *task + sizeof(cuzk_filecoin_request) + SLACK / 16;
    switch (task->job.proof.kind) {
    case CUZK_PROOF_POREP:
        return bytes + porep_bytes(task->request.porep);
    case CUZK_PROOF_UPDATE:
        return bytes + update_bytes(&task->update);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return bytes + post_bytes(task);
}
