/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From vanilla proofs to proof bytes: read, check, and for each partition witness, proof and its
 * verification. */
#include "api/filecoin_task.h"
#include "api/record.h"

#include "base/bytes.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* One call on the way. */
struct proving {
    const cuzk_ctx *ctx;
    const cuzk_filecoin_key *key;
    cuzk_filecoin_task task;
    const uint8_t *rs; /* NULL: fresh */
    cuzk_filecoin_proof *proof;
    cuzk_api_record record;
    unsigned partition; /* being proved */
    cuzk_reporter reporter;
    cuzk_error *err;
};

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
                              (g->partition + done) / (double)g->task.job.n_partitions);
}

/* ---- vanilla proofs -------------------------------------------------------------------------- */

/* All proofs of all files, one after the other. Returned: free. */
static cuzk_status gather_spans(cuzk_vanilla_span **out, uint64_t *n_spans,
                                const cuzk_filecoin_request *r, cuzk_error *err)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n_files; i++) {
        n += r->files[i].n;
    }
    cuzk_vanilla_span *spans = calloc((size_t)n + 1, sizeof *spans);
    CUZK_FAIL_IF(spans == NULL, err, CUZK_E_MEMORY, "reading vanilla proofs: out of memory");
    n = 0;
    for (uint32_t i = 0; i < r->n_files; i++) {
        if (r->files[i].n > 0) {
            memcpy(spans + n, r->files[i].spans, (size_t)r->files[i].n * sizeof *spans);
        }
        n += r->files[i].n;
    }
    *out = spans;
    *n_spans = n;
    return CUZK_OK;
}

/* Everything that can be said without a key. */
static cuzk_status take_vanilla(cuzk_filecoin_task *task, const cuzk_ctx *ctx,
                                const cuzk_filecoin_request *request, cuzk_error *err)
{
    cuzk_vanilla_span *spans = NULL;
    uint64_t n_spans = 0;
    CUZK_TRY(gather_spans(&spans, &n_spans, request, err));
    uint64_t begin_ns = cuzk_api_record_now(), n_bytes = 0;
    for (uint64_t i = 0; i < n_spans; i++) {
        n_bytes += spans[i].size;
    }
    cuzk_status status = cuzk_filecoin_task_init(task, request, spans, n_spans, ctx->pool, err);
    cuzk_api_record_span(CUZK_SPAN_DECODE, begin_ns, n_bytes, NULL, status);
    free(spans);
    return status;
}

/* ---- partitions ------------------------------------------------------------------------------ */

static cuzk_status prove_witness(struct proving *g, const cuzk_witness *witness, unsigned k)
{
    cuzk_blinding blinding;
    if (g->rs != NULL) {
        memcpy(blinding.r, g->rs + (size_t)k * 64, 32);
        memcpy(blinding.s, g->rs + (size_t)k * 64 + 32, 32);
    }
    cuzk_reporter reporter = {.report = report_partition, .ctx = g};
    cuzk_prove_times times = {.n_stages = 0};
    cuzk_prove_params params = {.test_blinding = g->rs != NULL ? &blinding : NULL,
                                .device = cuzk_api_device_get(g->key->device),
                                .reporter = &reporter,
                                .times = &times};
    cuzk_proof_points points;
    cuzk_status status =
        cuzk_prover_prove(g->key->prover, &points, witness, &params, g->ctx->pool, g->err);
    cuzk_wipe(&blinding, sizeof blinding);
    for (unsigned i = 0; i < times.n_stages; i++) {
        add_time(&g->proof->stats, times.stages[i].name, times.stages[i].ns);
    }
    cuzk_api_device_stats(&g->proof->stats, g->key->device);
    CUZK_TRY(status);
    g->proof->stats.n_values = witness->n_field;
    g->proof->stats.n_bits = witness->n_vars - witness->n_field;
    return cuzk_proof_points_write(g->proof->bytes + (size_t)k * CUZK_PROOF_BYTES, &points, g->err);
}

static cuzk_status prove_partition(struct proving *g, unsigned k)
{
    g->partition = k;
    CUZK_TRY(cuzk_report_progress(&g->reporter, "witness", k, g->task.job.n_partitions, g->err));
    uint64_t begin = cuzk_now_ns();
    uint64_t witness_ns = cuzk_api_record_unit(&g->record, k);
    cuzk_witness *witness = NULL;
    cuzk_status status =
        cuzk_filecoin_task_witness(&witness, &g->task, g->key->shape, k, g->ctx->pool, g->err);
    cuzk_api_record_witness(&g->record, witness_ns, status);
    if (status == CUZK_OK) {
        add_time(&g->proof->stats, "witness", cuzk_now_ns() - begin);
        status = prove_witness(g, witness, k);
    }
    if (status == CUZK_OK) {
        cuzk_api_record_unit_done(&g->record);
    }
    cuzk_witness_destroy(witness);
    if (status != CUZK_OK && status != CUZK_E_CANCELLED) {
        cuzk_error_prefix(g->err, "partition %u of %u", k, g->task.job.n_partitions);
    }
    return status;
}

static cuzk_status make_proof(struct proving *g)
{
    unsigned n = g->task.job.n_partitions;
    g->proof->proof = g->task.job.proof;
    g->proof->n_partitions = n;
    g->proof->bytes = calloc(n, CUZK_PROOF_BYTES);
    CUZK_FAIL_IF(g->proof->bytes == NULL, g->err, CUZK_E_MEMORY, "proving: out of memory");
    for (unsigned k = 0; k < n; k++) {
        CUZK_TRY(prove_partition(g, k));
    }
    return CUZK_OK;
}

/* That key, r and s are of the job. */
static cuzk_status check_key(struct proving *g, unsigned n_rs)
{
    const cuzk_registered_proof *of_key = &g->key->proof;
    CUZK_FAIL_IF(of_key->kind != g->task.job.proof.kind ||
                     of_key->sector != g->task.job.proof.sector,
                 g->err, CUZK_E_MISMATCH, "the key is for a %s of %s, the request is a %s of %s",
                 cuzk_proof_kind_name(of_key->kind), of_key->sector->name,
                 cuzk_proof_kind_name(g->task.job.proof.kind), g->task.job.proof.sector->name);
    CUZK_FAIL_IF(g->rs != NULL && n_rs != g->task.job.n_partitions, g->err, CUZK_E_ARGUMENT,
                 "r and s of %u partitions are given, the request has %u", n_rs,
                 g->task.job.n_partitions);
    return CUZK_OK;
}

static cuzk_status run(struct proving *g, const cuzk_filecoin_request *request, unsigned n_rs)
{
    uint64_t begin = cuzk_now_ns();
    CUZK_TRY(cuzk_report_progress(&g->reporter, "vanilla", 0, 1, g->err));
    CUZK_TRY(take_vanilla(&g->task, g->ctx, request, g->err));
    CUZK_TRY(check_key(g, n_rs));
    add_time(&g->proof->stats, "vanilla", cuzk_now_ns() - begin);
    g->record = cuzk_api_record_begin((uint8_t)g->task.job.proof.kind, g->key->choice.name,
                                      g->task.job.n_partitions);
    cuzk_status status = make_proof(g);
    cuzk_api_record_end(&g->record, status);
    CUZK_TRY(status);
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
                        .rs = rs,
                        .reporter = cuzk_api_reporter(o.progress, o.progress_user),
                        .err = err};
    g.proof = calloc(1, sizeof *g.proof);
    CUZK_FAIL_IF(g.proof == NULL, err, CUZK_E_MEMORY, "proving: out of memory");
    cuzk_status status = run(&g, request, n_rs);
    cuzk_filecoin_task_clear(&g.task);
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
    cuzk_filecoin_task task;
    CUZK_TRY(take_vanilla(&task, ctx, request, err));
    cuzk_filecoin_task_clear(&task);
    return CUZK_OK;
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
