/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine takes from the journal at its start: ended jobs with their answers; unfinished
 * ones, whose payloads are loaded when the intake has room for them. */
#include "engine/inner.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    cuzk_engine *engine;
    uint64_t now_ns;
    int64_t now_unix_ms;
} reading;

/* The moment on our clock of one on the wall's; the wall clock may have been turned since. */
static uint64_t ns_of(const reading *r, int64_t unix_ms)
{
    int64_t age_ms = r->now_unix_ms - unix_ms;
    uint64_t age_ns = age_ms > 0 ? (uint64_t)age_ms * 1000000u : 0;
    return age_ns < r->now_ns ? r->now_ns - age_ns : 1;
}

static cuzk_status read_end(cuzk_job *job, const cuzk_journal_end *end, cuzk_error *err)
{
    job->has_end = true;
    job->is_closed = true;
    job->state = job->end_state = (cuzk_job_state)end->state;
    job->status = end->status;
    job->ended_unix_ms = end->ended_unix_ms;
    uint64_t *times[6] = {&job->total_ns,   &job->queue_ns, &job->resident_ns,
                          &job->witness_ns, &job->prove_ns, &job->lane_ns};
    for (int i = 0; i < 6; i++) {
        *times[i] = end->times[i];
    }
    if (end->error != NULL && end->error[0] != '\0') {
        job->error = strdup(end->error);
    }
    if (end->answer_bytes > 0) {
        job->answer = malloc(end->answer_bytes);
        CUZK_FAIL_IF(job->answer == NULL, err, CUZK_E_MEMORY,
                     "reading the journal: no memory for the answer of job \"%s\"", job->id);
        memcpy(job->answer, end->answer, end->answer_bytes);
        job->answer_bytes = end->answer_bytes;
    }
    free(job->units);
    free(job->proofs);
    job->units = NULL;
    job->proofs = NULL;
    return CUZK_OK;
}

static void read_units(cuzk_job *job, const cuzk_journal_entry *entry)
{
    for (unsigned i = 0; i < entry->n_done; i++) {
        unsigned k = entry->units[i];
        if (k < job->n_units && entry->proof_bytes[i] <= CUZK_UNIT_PROOF_MAX &&
            job->units[k].at != CUZK_AT_DONE) {
            cuzk_unit *unit = &job->units[k];
            memcpy(job->proofs + (size_t)k * CUZK_UNIT_PROOF_MAX, entry->proofs[i],
                   entry->proof_bytes[i]);
            unit->proof_bytes = entry->proof_bytes[i];
            unit->at = CUZK_AT_DONE;
            job->n_verified++;
            job->n_done++;
            job->n_before++;
        }
    }
}

/* Unfinished: its payload goes the way of a new one, but it is accepted and in the table now. */
static cuzk_status take_up(reading *r, cuzk_job *job, const cuzk_journal_entry *entry,
                           cuzk_error *err)
{
    cuzk_engine *engine = r->engine;
    cuzk_claim *claim = calloc(1, sizeof *claim);
    if (claim != NULL) {
        claim->request_id = strdup(job->request_id);
    }
    if (claim == NULL || claim->request_id == NULL) {
        free(claim);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "reading the journal: no memory for job \"%s\"",
                         job->id);
    }
    job->is_recovered = true;
    job->is_kept = true;
    job->payload_bytes = entry->job.payload_bytes;
    read_units(job, entry);
    engine->counts[job->kind].pending++;
    cuzk_job_enter(engine, job);
    cuzk_job_hold(job);
    job->n_refs++;
    claim->recovered = job;
    claim->kind = job->kind;
    claim->priority = job->priority;
    claim->order.priority = job->priority;
    claim->bytes = entry->job.payload_bytes;
    cuzk_observe_job(engine, CUZK_EVENT_RECOVERED, job); /* no other thread is there yet */
    cuzk_intake_admit(engine, claim, 0);
    return CUZK_OK;
}

/* Of a kind that this configuration has not: left for one that has. */
static bool is_foreign(const cuzk_engine *engine, const cuzk_journal_job *record)
{
    return record->kind >= CUZK_KINDS_MAX || engine->options.kinds[record->kind].work == NULL ||
           record->n_units == 0 || record->n_units > CUZK_UNITS_MAX ||
           strlen(record->job_id) >= CUZK_JOB_ID_MAX;
}

/* The job of an entry, held once; its end too, if it has one. */
static cuzk_status make_job(cuzk_job **out, const reading *r, const cuzk_journal_entry *entry,
                            cuzk_error *err)
{
    const cuzk_journal_job *record = &entry->job;
    cuzk_job *job = NULL;
    CUZK_TRY(cuzk_job_new(&job, r->engine, record->job_id, record->request_id, record->kind,
                          record->priority, record->n_units, err));
    job->seq = record->seq;
    memcpy(job->digest, record->digest, sizeof job->digest);
    job->accepted_unix_ms = record->accepted_unix_ms;
    job->is_accepted = true;
    job->accepted_ns = job->submitted_ns = ns_of(r, job->accepted_unix_ms);
    job->entered_ns = cuzk_now_ns();
    if (entry->has_ended) {
        cuzk_status status = read_end(job, &entry->end, err);
        if (status != CUZK_OK) {
            cuzk_job_unref(r->engine, job);
            return status;
        }
        job->ended_ns = job->kept_ns = ns_of(r, job->ended_unix_ms);
    }
    *out = job;
    return CUZK_OK;
}

static reading reading_now(cuzk_engine *engine)
{
    return (reading){
        .engine = engine, .now_ns = cuzk_now_ns(), .now_unix_ms = cuzk_engine_unix_ms()};
}

cuzk_status cuzk_records_take_back(cuzk_engine *engine, const cuzk_journal_entry *entry,
                                   cuzk_error *err)
{
    if (is_foreign(engine, &entry->job) || cuzk_job_find(engine, entry->job.job_id) != NULL) {
        return CUZK_OK;
    }
    reading r = reading_now(engine);
    cuzk_job *job = NULL;
    CUZK_TRY(make_job(&job, &r, entry, err));
    job->kept_ns = r.now_ns; /* stays as long as one that ends now */
    cuzk_job_enter(engine, job);
    cuzk_job_keep(engine, job);
    cuzk_job_unref(engine, job);
    return CUZK_OK;
}

static cuzk_status take_entry(void *user, const cuzk_journal_entry *entry, cuzk_error *err)
{
    reading *r = (reading *)user;
    cuzk_engine *engine = r->engine;
    if (is_foreign(engine, &entry->job)) {
        return CUZK_OK;
    }
    cuzk_job *job = NULL;
    CUZK_TRY(make_job(&job, r, entry, err));
    cuzk_job *older = cuzk_job_find(engine, job->id);
    if (older != NULL && older->is_closed) {
        cuzk_job_forget(engine, older); /* a crash came between a new attempt and the deletion */
    }
    cuzk_status status = CUZK_OK;
    if (entry->has_ended) {
        cuzk_job_enter(engine, job);
        cuzk_job_keep(engine, job);
    } else {
        status = take_up(r, job, entry, err);
    }
    cuzk_job_unref(engine, job);
    return status;
}

cuzk_status cuzk_records_recover(cuzk_engine *engine, cuzk_error *err)
{
    engine->next_seq = 1;
    if (engine->options.journal == NULL) {
        return CUZK_OK;
    }
    reading r = reading_now(engine);
    uint64_t next_seq = 1;
    CUZK_TRY(cuzk_journal_read(engine->options.journal, &next_seq, take_entry, &r, err));
    engine->next_seq = next_seq > 1 ? next_seq : 1;
    return CUZK_OK;
}
