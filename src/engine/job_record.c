/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The record of a job: made, found by its id, freed. */
#include "engine/inner.h"

#include "engine/faults.h"

#include <stdlib.h>
#include <string.h>

static void free_job(cuzk_job *job)
{
    if (job != NULL) {
        free(job->id);
        free(job->request_id);
        free(job->error);
        free(job->answer);
        free(job->payload);
        free(job->units);
        free(job->views);
        free(job->proofs);
        free(job);
    }
}

cuzk_status cuzk_job_new(cuzk_job **out, cuzk_engine *engine, const char *id,
                         const char *request_id, unsigned kind, unsigned priority, unsigned n_units,
                         cuzk_error *err)
{
    CUZK_TRY(cuzk_fault_at(CUZK_FAULT_MEMORY, -1, err));
    cuzk_job *job = calloc(1, sizeof *job);
    if (job != NULL) {
        job->id = strdup(id);
        job->request_id = strdup(request_id);
        job->units = calloc(n_units, sizeof *job->units);
        job->proofs = malloc((size_t)n_units * CUZK_UNIT_PROOF_MAX);
    }
    if (job == NULL || job->id == NULL || job->request_id == NULL || job->units == NULL ||
        job->proofs == NULL) {
        free_job(job);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "submitting job \"%s\": no memory for its record", id);
    }
    job->engine = engine;
    job->n_refs = 1;
    job->kind = kind;
    job->priority = priority;
    job->work = engine->options.kinds[kind].work;
    job->n_units = n_units;
    job->abandon.kind = CUZK_TIMER_ABANDON;
    job->accepted_unix_ms = cuzk_engine_unix_ms();
    atomic_init(&job->is_stopped, false);
    for (unsigned i = 0; i < n_units; i++) {
        job->units[i].job = job;
        job->units[i].index = i;
        job->units[i].device = -1;
        job->units[i].suspect = -1;
    }
    *out = job;
    return CUZK_OK;
}

uint64_t cuzk_job_record_bytes(const cuzk_job *job)
{
    return sizeof *job + strlen(job->id) + strlen(job->request_id) +
           (uint64_t)job->n_units * (sizeof *job->units + CUZK_UNIT_PROOF_MAX);
}

void cuzk_job_unref(cuzk_engine *engine, cuzk_job *job)
{
    (void)engine;
    if (--job->n_refs == 0) {
        free_job(job);
    }
}

cuzk_job *cuzk_job_find(const cuzk_engine *engine, const char *id)
{
    cuzk_table_node *node = cuzk_table_find(&engine->jobs, cuzk_table_hash(&engine->jobs, id));
    while (node != NULL && strcmp(CUZK_OF(node, cuzk_job, by_id)->id, id) != 0) {
        node = cuzk_table_next(node);
    }
    return node != NULL ? CUZK_OF(node, cuzk_job, by_id) : NULL;
}
