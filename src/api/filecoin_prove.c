/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From vanilla proofs to proof bytes: read, check, and for each partition witness, proof and its
 * verification. */
#include "api/filecoin.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "filecoin/vanilla_check.h"

#include <stdlib.h>
#include <string.h>

/* One call on the way. */
struct proving {
    const cuzk_ctx *ctx;
    const cuzk_filecoin_key *key;
    cuzk_filecoin_request request; /* the caller's, with the sectors of its vanilla proofs */
    cuzk_filecoin_job job;
    const uint8_t *rs; /* NULL: fresh */
    /* vanilla proofs of PoSt: one a partition; of an update; a PoRep's is the request's */
    cuzk_post_vanilla *post;
    unsigned n_post;
    cuzk_update_vanilla update;
    cuzk_vanilla_span *spans; /* of all files together */
    uint64_t n_spans;
    uint64_t *sector_ids; /* that the request does not list */
    cuzk_digest *comm_r;
    cuzk_filecoin_proof *proof;
    unsigned partition; /* being proved */
    cuzk_reporter reporter;
    cuzk_error *err;
};

static void clear(struct proving *g)
{
    for (unsigned k = 0; k < g->n_post; k++) {
        cuzk_post_vanilla_clear(&g->post[k]);
    }
    free(g->post);
    cuzk_update_vanilla_clear(&g->update);
    free(g->spans);
    free(g->sector_ids);
    free(g->comm_r);
}

/* ---- times and progress ---------------------------------------------------------------------- */

static void add_time(cuzk_prove_stats *stats, const char *name, uint64_t ns)
{
    unsigned i = 0;
    while (i < stats->n_stages && strcmp(stats->stage[i], name) != 0) {
        i++;
    }
    if (i == CUZK_PROVE_STAGES_MAX) {
        return;
    }
    if (i == stats->n_stages) {
        stats->stage[stats->n_stages++] = name;
        stats->stage_ns[i] = 0;
    }
    stats->stage_ns[i] += ns;
}

/* Progress of one partition as part of the whole. */
static bool report_partition(void *ctx, const char *stage, double done)
{
    const struct proving *g = ctx;
    return g->reporter.report == NULL ||
           g->reporter.report(g->reporter.ctx, stage,
                              (g->partition + done) / (double)g->job.n_partitions);
}

/* ---- vanilla proofs -------------------------------------------------------------------------- */

/* All proofs of all files, one after the other. */
static cuzk_status gather_spans(struct proving *g)
{
    const cuzk_filecoin_request *r = &g->request;
    for (uint32_t i = 0; i < r->n_files; i++) {
        g->n_spans += r->files[i].n;
    }
    CUZK_FAIL_IF(g->n_spans == 0, g->err, CUZK_E_ARGUMENT, "%s: no vanilla proof is given",
                 cuzk_proof_kind_name(r->kind));
    g->spans = calloc((size_t)g->n_spans, sizeof *g->spans);
    CUZK_FAIL_IF(g->spans == NULL, g->err, CUZK_E_MEMORY, "reading vanilla proofs: out of memory");
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n_files; i++) {
        memcpy(g->spans + n, r->files[i].spans, (size_t)r->files[i].n * sizeof *g->spans);
        n += r->files[i].n;
    }
    return CUZK_OK;
}

/* Take the sectors of the vanilla proofs where the request does not say which they are. */
static cuzk_status adopt_sectors(struct proving *g)
{
    if (g->request.n_sectors != 0 || cuzk_request_has(&g->request, CUZK_FIELD_COMM_R)) {
        return CUZK_OK;
    }
    g->sector_ids = calloc((size_t)g->n_spans, sizeof *g->sector_ids);
    g->comm_r = calloc((size_t)g->n_spans, sizeof *g->comm_r);
    CUZK_FAIL_IF(g->sector_ids == NULL || g->comm_r == NULL, g->err, CUZK_E_MEMORY,
                 "listing sectors: out of memory");
    uint32_t n = 0;
    for (unsigned k = 0; k < g->n_post; k++) {
        for (uint32_t i = 0; i < g->post[k].n_sectors; i++, n++) {
            g->sector_ids[n] = g->post[k].sectors[i].sector_id;
            g->comm_r[n] = g->post[k].sectors[i].comm_r;
        }
    }
    g->request.sector_ids = g->sector_ids;
    g->request.comm_r = g->comm_r;
    g->request.n_sectors = n;
    return CUZK_OK;
}

static cuzk_status read_post(struct proving *g, const cuzk_registered_proof *proof)
{
    CUZK_TRY(gather_spans(g));
    bool winning = proof->kind == CUZK_PROOF_WINNING;
    CUZK_FAIL_IF(winning && g->n_spans != 1, g->err, CUZK_E_MISMATCH,
                 "a Winning PoSt is about one sector, %llu vanilla proofs are given",
                 (unsigned long long)g->n_spans);
    uint64_t per = winning ? 1 : cuzk_window_sectors(proof->sector);
    uint64_t n_partitions = (g->n_spans + per - 1) / per;
    g->post = calloc((size_t)n_partitions, sizeof *g->post);
    CUZK_FAIL_IF(g->post == NULL, g->err, CUZK_E_MEMORY, "reading vanilla proofs: out of memory");
    for (uint64_t k = 0; k < n_partitions; k++) {
        uint64_t n = g->n_spans - k * per < per ? g->n_spans - k * per : per;
        cuzk_status status =
            cuzk_post_vanilla_read(&g->post[k], proof, g->spans + k * per, n, g->err);
        if (status != CUZK_OK) {
            if (n_partitions > 1) {
                cuzk_error_prefix(g->err, "partition %llu", (unsigned long long)k);
            }
            return status;
        }
        g->n_post++;
    }
    return adopt_sectors(g);
}

static cuzk_status read_vanilla(struct proving *g)
{
    cuzk_registered_proof proof;
    CUZK_TRY(cuzk_request_proof(&proof, &g->request, g->err));
    switch (proof.kind) {
    case CUZK_PROOF_POREP:
        CUZK_FAIL_IF(g->request.porep == NULL, g->err, CUZK_E_ARGUMENT,
                     "PoRep: no vanilla proof is given");
        return CUZK_OK;
    case CUZK_PROOF_UPDATE:
        CUZK_TRY(gather_spans(g));
        return cuzk_update_vanilla_read(&g->update, &proof, g->spans, g->n_spans, g->err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return read_post(g, &proof);
}

static cuzk_status check_post(struct proving *g)
{
    CUZK_FAIL_IF(g->job.n_sectors != g->n_spans, g->err, CUZK_E_MISMATCH,
                 "the request is about %u sectors, %llu vanilla proofs are given", g->job.n_sectors,
                 (unsigned long long)g->n_spans);
    for (unsigned k = 0; k < g->n_post; k++) {
        cuzk_post_statement statement = cuzk_filecoin_job_post(&g->job, k);
        cuzk_status status = cuzk_post_check(&g->post[k], &statement, g->ctx->pool, g->err);
        if (status != CUZK_OK) {
            if (g->n_post > 1) {
                cuzk_error_prefix(g->err, "partition %u", k);
            }
            return status;
        }
    }
    return CUZK_OK;
}

static cuzk_status check_vanilla(struct proving *g)
{
    switch (g->job.proof.kind) {
    case CUZK_PROOF_POREP:
        return cuzk_porep_check(g->request.porep, &g->job.u.porep, g->ctx->pool, g->err);
    case CUZK_PROOF_UPDATE:
        return cuzk_update_check(&g->update, &g->job.u.update, g->ctx->pool, g->err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return check_post(g);
}

/* ---- partitions ------------------------------------------------------------------------------ */

static cuzk_status make_witness(struct proving *g, cuzk_witness **out, unsigned k)
{
    const cuzk_shape *shape = g->key->shape;
    switch (g->job.proof.kind) {
    case CUZK_PROOF_POREP:
        return cuzk_porep_circuit_witness(out, shape, g->request.porep, k, g->ctx->pool, g->err);
    case CUZK_PROOF_UPDATE:
        return cuzk_update_circuit_witness(out, shape, &g->update, &g->job.u.update, k,
                                           g->ctx->pool, g->err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return cuzk_post_circuit_witness(out, shape, &g->post[k], g->ctx->pool, g->err);
}

/* The prover verifies its proof for the public values of the witness: they must be the ones that
 * follow from the request. */
static cuzk_status compare_inputs(struct proving *g, const cuzk_witness *witness, unsigned k)
{
    unsigned n = g->job.n_values;
    cuzk_digest *values = calloc((size_t)2 * n, sizeof *values);
    CUZK_FAIL_IF(values == NULL, g->err, CUZK_E_MEMORY, "comparing public values: out of memory");
    cuzk_filecoin_job_public_inputs(values, &g->job, k);
    cuzk_witness_get_range(witness, 1, n, values + n);
    unsigned i = 0;
    while (i < n && cuzk_digest_eq(&values[i], &values[n + i])) {
        i++;
    }
    free(values);
    CUZK_FAIL_IF(i < n, g->err, CUZK_E_MISMATCH,
                 "public value %u of the vanilla proof is not the one of the request", i);
    return CUZK_OK;
}

static cuzk_status prove_witness(struct proving *g, const cuzk_witness *witness, unsigned k)
{
    CUZK_TRY(compare_inputs(g, witness, k));
    cuzk_blinding blinding;
    if (g->rs != NULL) {
        memcpy(blinding.r, g->rs + (size_t)k * 64, 32);
        memcpy(blinding.s, g->rs + (size_t)k * 64 + 32, 32);
    }
    cuzk_reporter reporter = {.report = report_partition, .ctx = g};
    cuzk_prove_times times = {.n_stages = 0};
    cuzk_prove_params params = {
        .test_blinding = g->rs != NULL ? &blinding : NULL, .reporter = &reporter, .times = &times};
    cuzk_proof_points points;
    cuzk_status status =
        cuzk_prover_prove(g->key->prover, &points, witness, &params, g->ctx->pool, g->err);
    cuzk_wipe(&blinding, sizeof blinding);
    for (unsigned i = 0; i < times.n_stages; i++) {
        add_time(&g->proof->stats, times.stages[i].name, times.stages[i].ns);
    }
    CUZK_TRY(status);
    g->proof->stats.n_values = witness->n_field;
    g->proof->stats.n_bits = witness->n_vars - witness->n_field;
    return cuzk_proof_points_write(g->proof->bytes + (size_t)k * CUZK_PROOF_BYTES, &points, g->err);
}

static cuzk_status prove_partition(struct proving *g, unsigned k)
{
    g->partition = k;
    CUZK_TRY(cuzk_report_progress(&g->reporter, "witness", k, g->job.n_partitions, g->err));
    uint64_t begin = cuzk_now_ns();
    cuzk_witness *witness = NULL;
    cuzk_status status = make_witness(g, &witness, k);
    if (status == CUZK_OK) {
        add_time(&g->proof->stats, "witness", cuzk_now_ns() - begin);
        status = prove_witness(g, witness, k);
    }
    cuzk_witness_destroy(witness);
    if (status != CUZK_OK && status != CUZK_E_CANCELLED) {
        cuzk_error_prefix(g->err, "partition %u of %u", k, g->job.n_partitions);
    }
    return status;
}

static cuzk_status make_proof(struct proving *g)
{
    unsigned n = g->job.n_partitions;
    g->proof->proof = g->job.proof;
    g->proof->n_partitions = n;
    g->proof->bytes = calloc(n, CUZK_PROOF_BYTES);
    CUZK_FAIL_IF(g->proof->bytes == NULL, g->err, CUZK_E_MEMORY, "proving: out of memory");
    for (unsigned k = 0; k < n; k++) {
        CUZK_TRY(prove_partition(g, k));
    }
    return CUZK_OK;
}

/* Everything that can be said without a key. */
static cuzk_status take_vanilla(struct proving *g)
{
    CUZK_TRY(cuzk_report_progress(&g->reporter, "vanilla", 0, 1, g->err));
    CUZK_TRY(read_vanilla(g));
    CUZK_TRY(cuzk_filecoin_job_init(&g->job, &g->request, g->err));
    return check_vanilla(g);
}

/* That key, r and s are of the job. */
static cuzk_status check_key(struct proving *g, unsigned n_rs)
{
    const cuzk_registered_proof *of_key = &g->key->proof;
    CUZK_FAIL_IF(of_key->kind != g->job.proof.kind || of_key->sector != g->job.proof.sector, g->err,
                 CUZK_E_MISMATCH, "the key is for a %s of %s, the request is a %s of %s",
                 cuzk_proof_kind_name(of_key->kind), of_key->sector->name,
                 cuzk_proof_kind_name(g->job.proof.kind), g->job.proof.sector->name);
    CUZK_FAIL_IF(g->rs != NULL && n_rs != g->job.n_partitions, g->err, CUZK_E_ARGUMENT,
                 "r and s of %u partitions are given, the request has %u", n_rs,
                 g->job.n_partitions);
    return CUZK_OK;
}

static cuzk_status run(struct proving *g, unsigned n_rs)
{
    uint64_t begin = cuzk_now_ns();
    CUZK_TRY(take_vanilla(g));
    CUZK_TRY(check_key(g, n_rs));
    add_time(&g->proof->stats, "vanilla", cuzk_now_ns() - begin);
    CUZK_TRY(make_proof(g));
    g->proof->stats.total_ns = cuzk_now_ns() - begin;
    return CUZK_OK;
}

static cuzk_status prove(const cuzk_ctx *ctx, cuzk_filecoin_proof **out,
                         const cuzk_filecoin_key *key, const cuzk_filecoin_request *request,
                         const uint8_t *rs, unsigned n_rs,
                         const cuzk_filecoin_prove_options *options, cuzk_error *err)
{
    cuzk_filecoin_prove_options o = CUZK_FILECOIN_PROVE_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_filecoin_prove_options", err));
    struct proving g = {.ctx = ctx,
                        .key = key,
                        .request = *request,
                        .rs = rs,
                        .reporter = cuzk_api_reporter(o.progress, o.progress_user),
                        .err = err};
    g.proof = calloc(1, sizeof *g.proof);
    CUZK_FAIL_IF(g.proof == NULL, err, CUZK_E_MEMORY, "proving: out of memory");
    cuzk_status status = run(&g, n_rs);
    clear(&g);
    if (status != CUZK_OK) {
        cuzk_filecoin_proof_destroy(g.proof);
        return status;
    }
    *out = g.proof;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_check(const cuzk_ctx *ctx, const cuzk_filecoin_request *request,
                                cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, request);
    struct proving g = {.ctx = ctx, .request = *request, .err = err};
    cuzk_status status = take_vanilla(&g);
    clear(&g);
    return status;
}

cuzk_status cuzk_filecoin_prove(const cuzk_ctx *ctx, cuzk_filecoin_proof **proof,
                                const cuzk_filecoin_key *key, const cuzk_filecoin_request *request,
                                const cuzk_filecoin_prove_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, request);
    return prove(ctx, proof, key, request, NULL, 0, options, err);
}

cuzk_status cuzk_filecoin_prove_with_fixed_rs_for_tests(
    const cuzk_ctx *ctx, cuzk_filecoin_proof **proof, const cuzk_filecoin_key *key,
    const cuzk_filecoin_request *request, const uint8_t *rs, unsigned n_partitions,
    const cuzk_filecoin_prove_options *options, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, ctx);
    CUZK_API_NOT_NULL(err, proof);
    CUZK_API_NOT_NULL(err, key);
    CUZK_API_NOT_NULL(err, request);
    CUZK_API_NOT_NULL(err, rs);
    const cuzk_curve *curve = cuzk_prover_curve(key->prover);
    for (unsigned i = 0; i < 2 * n_partitions; i++) {
        cuzk_fr ignored;
        CUZK_FAIL_IF(!curve->fr_from_canonical_le(&ignored, rs + (size_t)32 * i), err,
                     CUZK_E_ARGUMENT, "r and s must be below the order of the scalar field");
    }
    return prove(ctx, proof, key, request, rs, n_partitions, options, err);
}
