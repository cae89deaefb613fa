/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "api/filecoin_task.h"

#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "filecoin/vanilla_check.h"

#include <stdlib.h>
#include <string.h>

/* A task that is being made. */
struct making {
    cuzk_filecoin_task *task;
    const cuzk_vanilla_span *spans;
    uint64_t n_spans;
    cuzk_pool *pool;
    cuzk_error *err;
};

void cuzk_filecoin_task_clear(cuzk_filecoin_task *task)
{
    for (unsigned k = 0; k < task->n_post; k++) {
        cuzk_post_vanilla_clear(&task->post[k]);
    }
    free(task->post);
    cuzk_update_vanilla_clear(&task->update);
    free(task->sector_ids);
    free(task->comm_r);
    memset(task, 0, sizeof *task);
}

static cuzk_status need_spans(const struct making *g)
{
    CUZK_FAIL_IF(g->n_spans == 0, g->err, CUZK_E_ARGUMENT, "%s: no vanilla proof is given",
                 cuzk_proof_kind_name(g->task->request.kind));
    return CUZK_OK;
}

/* Take the sectors of the vanilla proofs where the request does not say which they are. */
static cuzk_status adopt_sectors(struct making *g)
{
    if (g->task->request.n_sectors != 0 || cuzk_request_has(&g->task->request, CUZK_FIELD_COMM_R)) {
        return CUZK_OK;
    }
    g->task->sector_ids = calloc((size_t)g->n_spans, sizeof *g->task->sector_ids);
    g->task->comm_r = calloc((size_t)g->n_spans, sizeof *g->task->comm_r);
    CUZK_FAIL_IF(g->task->sector_ids == NULL || g->task->comm_r == NULL, g->err, CUZK_E_MEMORY,
                 "listing sectors: out of memory");
    uint32_t n = 0;
    for (unsigned k = 0; k < g->task->n_post; k++) {
        for (uint32_t i = 0; i < g->task->post[k].n_sectors; i++, n++) {
            g->task->sector_ids[n] = g->task->post[k].sectors[i].sector_id;
            g->task->comm_r[n] = g->task->post[k].sectors[i].comm_r;
        }
    }
    g->task->request.sector_ids = g->task->sector_ids;
    g->task->request.comm_r = g->task->comm_r;
    g->task->request.n_sectors = n;
    return CUZK_OK;
}

static cuzk_status read_post(struct making *g, const cuzk_registered_proof *proof)
{
    CUZK_TRY(need_spans(g));
    bool winning = proof->kind == CUZK_PROOF_WINNING;
    CUZK_FAIL_IF(winning && g->n_spans != 1, g->err, CUZK_E_MISMATCH,
                 "a Winning PoSt is about one sector, %llu vanilla proofs are given",
                 (unsigned long long)g->n_spans);
    uint64_t per = winning ? 1 : cuzk_window_sectors(proof->sector);
    uint64_t n_partitions = (g->n_spans + per - 1) / per;
    g->task->post = calloc((size_t)n_partitions, sizeof *g->task->post);
    CUZK_FAIL_IF(g->task->post == NULL, g->err, CUZK_E_MEMORY,
                 "reading vanilla proofs: out of memory");
    for (uint64_t k = 0; k < n_partitions; k++) {
        uint64_t n = g->n_spans - k * per < per ? g->n_spans - k * per : per;
        cuzk_status status =
            cuzk_post_vanilla_read(&g->task->post[k], proof, g->spans + k * per, n, g->err);
        if (status != CUZK_OK) {
            if (n_partitions > 1) {
                cuzk_error_prefix(g->err, "partition %llu", (unsigned long long)k);
            }
            return status;
        }
        g->task->n_post++;
    }
    return adopt_sectors(g);
}

static cuzk_status read_vanilla(struct making *g)
{
    cuzk_registered_proof proof;
    CUZK_TRY(cuzk_request_proof(&proof, &g->task->request, g->err));
    switch (proof.kind) {
    case CUZK_PROOF_POREP:
        CUZK_FAIL_IF(g->task->request.porep == NULL, g->err, CUZK_E_ARGUMENT,
                     "PoRep: no vanilla proof is given");
        return CUZK_OK;
    case CUZK_PROOF_UPDATE:
        CUZK_TRY(need_spans(g));
        return cuzk_update_vanilla_read(&g->task->update, &proof, g->spans, g->n_spans, g->err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return read_post(g, &proof);
}

static cuzk_status check_post(struct making *g)
{
    CUZK_FAIL_IF(g->task->job.n_sectors != g->n_spans, g->err, CUZK_E_MISMATCH,
                 "the request is about %u sectors, %llu vanilla proofs are given",
                 g->task->job.n_sectors, (unsigned long long)g->n_spans);
    for (unsigned k = 0; k < g->task->n_post; k++) {
        cuzk_post_statement statement = cuzk_filecoin_job_post(&g->task->job, k);
        cuzk_status status = cuzk_post_check(&g->task->post[k], &statement, g->pool, g->err);
        if (status != CUZK_OK) {
            if (g->task->n_post > 1) {
                cuzk_error_prefix(g->err, "partition %u", k);
            }
            return status;
        }
    }
    return CUZK_OK;
}

static cuzk_status check_vanilla(struct making *g)
{
    switch (g->task->job.proof.kind) {
    case CUZK_PROOF_POREP:
        return cuzk_porep_check(g->task->request.porep, &g->task->job.u.porep, g->pool, g->err);
    case CUZK_PROOF_UPDATE:
        return cuzk_update_check(&g->task->update, &g->task->job.u.update, g->pool, g->err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return check_post(g);
}

cuzk_status cuzk_filecoin_task_init(cuzk_filecoin_task *out, const cuzk_filecoin_request *request,
                                    const cuzk_vanilla_span *spans, uint64_t n_spans,
                                    cuzk_pool *pool, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    out->request = *request;
    struct making g = {out, spans, n_spans, pool, err};
    cuzk_status status = read_vanilla(&g);
    if (status == CUZK_OK) {
        status = cuzk_filecoin_job_init(&out->job, &out->request, err);
    }
    if (status == CUZK_OK) {
        status = check_vanilla(&g);
    }
    if (status != CUZK_OK) {
        cuzk_filecoin_task_clear(out);
    }
    return status;
}

/* ---- partitions ------------------------------------------------------------------------------ */

static cuzk_status make_witness(cuzk_witness **out, const cuzk_filecoin_task *task,
                                const cuzk_shape *shape, unsigned k, cuzk_pool *pool,
                                cuzk_error *err)
{
    switch (task->job.proof.kind) {
    case CUZK_PROOF_POREP:
        return cuzk_porep_circuit_witness(out, shape, task->request.porep, k, pool, err);
    case CUZK_PROOF_UPDATE:
        return cuzk_update_circuit_witness(out, shape, &task->update, &task->job.u.update, k, pool,
                                           err);
    case CUZK_PROOF_WINDOW:
    case CUZK_PROOF_WINNING:
        break;
    }
    return cuzk_post_circuit_witness(out, shape, &task->post[k], pool, err);
}

/* Public values of partition k. Returned: free. */
static cuzk_status public_values(cuzk_digest **out, const cuzk_filecoin_task *task, unsigned k,
                                 cuzk_error *err)
{
    *out = calloc(task->job.n_values, sizeof **out);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "%u public values: out of memory",
                 task->job.n_values);
    cuzk_filecoin_job_public_inputs(*out, &task->job, k);
    return CUZK_OK;
}

/* The public values of the witness must be the ones that follow from the request. */
static cuzk_status compare_inputs(const cuzk_filecoin_task *task, const cuzk_witness *witness,
                                  unsigned k, cuzk_error *err)
{
    cuzk_digest *values = NULL;
    unsigned i = 0;
    CUZK_TRY(public_values(&values, task, k, err));
    for (; i < task->job.n_values; i++) {
        cuzk_digest found;
        cuzk_witness_get(witness, 1 + i, found.b);
        if (!cuzk_digest_eq(&values[i], &found)) {
            break;
        }
    }
    free(values);
    CUZK_FAIL_IF(i < task->job.n_values, err, CUZK_E_MISMATCH,
                 "public value %u of the vanilla proof is not the one of the request", i);
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_task_witness(cuzk_witness **out, const cuzk_filecoin_task *task,
                                       const cuzk_shape *shape, unsigned k, cuzk_pool *pool,
                                       cuzk_error *err)
{
    cuzk_witness *made = NULL;
    CUZK_TRY(make_witness(&made, task, shape, k, pool, err));
    cuzk_status status = compare_inputs(task, made, k, err);
    if (status != CUZK_OK) {
        cuzk_witness_destroy(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

cuzk_status cuzk_filecoin_task_verify(const cuzk_filecoin_task *task, const cuzk_verifier *verifier,
                                      unsigned k, const cuzk_proof_points *proof, cuzk_pool *pool,
                                      cuzk_error *err)
{
    cuzk_digest *values = NULL;
    CUZK_TRY(public_values(&values, task, k, err));
    cuzk_status status =
        cuzk_verifier_check(verifier, proof, values, task->job.n_values, pool, err);
    free(values);
    return status;
}
