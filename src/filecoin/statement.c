/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/statement.h"

#include "base/bytes.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"

enum { POREP_CHALLENGES_MAX = 18 };

static cuzk_digest number(uint64_t v)
{
    cuzk_digest out = {{0}};
    cuzk_store_u64_le(out.b, v);
    return out;
}

void cuzk_porep_statement_of(cuzk_porep_statement *out, const cuzk_porep_vanilla *vanilla)
{
    *out = (cuzk_porep_statement){.proof = vanilla->proof,
                                  .replica_id = vanilla->replica_id,
                                  .comm_d = vanilla->comm_d,
                                  .comm_r = vanilla->comm_r};
    memcpy(out->seed, vanilla->seed, sizeof out->seed);
}

cuzk_status cuzk_statement_digest(cuzk_digest *out, const uint8_t bytes[32], const char *name,
                                  cuzk_error *err)
{
    cuzk_digest d;
    memcpy(d.b, bytes, sizeof d.b);
    CUZK_FAIL_IF(!cuzk_digest_is_fr(&d), err, CUZK_E_FORMAT, "%s is not below the field's order",
                 name);
    *out = d;
    return CUZK_OK;
}

static cuzk_porep_shape porep_shape(const cuzk_registered_proof *proof)
{
    return cuzk_porep_shape_of(proof->sector, proof->variant == CUZK_POREP_NON_INTERACTIVE);
}

unsigned cuzk_proof_partitions(const cuzk_registered_proof *proof)
{
    switch (proof->kind) {
    case CUZK_PROOF_POREP:
        return porep_shape(proof).partitions;
    case CUZK_PROOF_UPDATE:
        return cuzk_update_shape_of(proof->sector).partitions;
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return 1;
}

unsigned cuzk_public_inputs_count(const cuzk_registered_proof *proof)
{
    switch (proof->kind) {
    case CUZK_PROOF_POREP:
        return 3 + porep_shape(proof).challenges * (CUZK_PARENTS + 4);
    case CUZK_PROOF_UPDATE:
        return 4;
    case CUZK_PROOF_WINDOW:
        return cuzk_window_sectors(proof->sector) * (1 + CUZK_WINDOW_CHALLENGES);
    case CUZK_PROOF_WINNING:
        break;
    }
    return CUZK_WINNING_CHALLENGES * 2;
}

void cuzk_porep_public_inputs(cuzk_digest *out, const cuzk_porep_statement *s, unsigned k)
{
    uint8_t porep_id[32];
    uint64_t challenges[POREP_CHALLENGES_MAX];
    cuzk_porep_challenge_params params = {.variant = s->proof.variant,
                                          .nodes = cuzk_sector_nodes(s->proof.sector),
                                          .per_partition = porep_shape(&s->proof).challenges,
                                          .replica_id = s->replica_id.b,
                                          .comm_r = s->comm_r.b,
                                          .seed = s->seed};
    cuzk_graph graph;
    cuzk_porep_id(porep_id, &s->proof);
    cuzk_graph_init(&graph, porep_id, params.nodes, s->proof.api);
    cuzk_porep_challenges(challenges, &params, k);
    *out++ = s->replica_id;
    *out++ = s->comm_d;
    *out++ = s->comm_r;
    for (unsigned c = 0; c < params.per_partition; c++) {
        uint64_t parents[CUZK_PARENTS];
        cuzk_graph_parents(&graph, challenges[c], parents);
        *out++ = number(challenges[c]);
        for (unsigned p = 0; p < CUZK_PARENTS; p++) {
            *out++ = number(parents[p]);
        }
        for (unsigned i = 0; i < 3; i++) {
            *out++ = number(challenges[c]);
        }
    }
}

void cuzk_post_public_inputs(cuzk_digest *out, const cuzk_post_statement *s)
{
    uint64_t nodes = cuzk_sector_nodes(s->proof.sector);
    if (s->proof.kind == CUZK_PROOF_WINNING) {
        /* every slot is the one sector, with one of its challenges */
        for (unsigned n = 0; n < CUZK_WINNING_CHALLENGES; n++) {
            *out++ = s->comm_r[0];
            *out++ = number(cuzk_post_challenge(s->randomness, s->sector_ids[0], n, nodes));
        }
        return;
    }
    const cuzk_digest *last = out;
    for (uint32_t i = 0; i < s->n_sectors; i++) {
        last = out;
        *out++ = s->comm_r[i];
        for (unsigned n = 0; n < CUZK_WINDOW_CHALLENGES; n++) {
            uint64_t q = cuzk_post_challenge_index(&s->proof, s->partition, i, n);
            *out++ = number(cuzk_post_challenge(s->randomness, s->sector_ids[i], q, nodes));
        }
    }
    for (unsigned i = s->n_sectors; i < cuzk_window_sectors(s->proof.sector); i++) {
        memcpy(out, last, (1 + CUZK_WINDOW_CHALLENGES) * sizeof *out);
        out += 1 + CUZK_WINDOW_CHALLENGES;
    }
}

void cuzk_update_public_inputs(cuzk_digest *out, const cuzk_update_statement *s, unsigned k)
{
    cuzk_update_shape shape = cuzk_update_shape_of(s->proof.sector);
    out[0] = number(k | (uint64_t)shape.h_select << shape.partition_bits);
    out[1] = s->comm_r_old;
    out[2] = s->comm_d_new;
    out[3] = s->comm_r_new;
}
