/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The engine's side of the journal: what is written when, what happens when it cannot be, and what
 * is read at the start. The journal answers in the order in which it is asked, so that a job's
 * acceptance is always known before its end. */
#include "engine/state.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t AGAIN_NS =
    UINT64_C(500000000); /* after this what was refused is tried again */

/* ---- asking and being answered --------------------------------------------------------------- */

/* The journal answers from its own thread; only where it has no memory for a request it answers
 * from inside of it, with the engine's lock held: such an answer is left here. */
static _Thread_local bool is_asking;
static _Thread_local cuzk_status refusal;

static void ask(cuzk_engine *engine, cuzk_job *job)
{
    engine->n_writes++;
    job->n_writes++;
    job->n_refs++;
    is_asking = true;
    refusal = CUZK_OK;
}

/* After a request. What was refused at once, or CUZK_OK. */
static cuzk_status asked(void)
{
    is_asking = false;
    return refusal;
}

/* At the beginning of an answer. True: it came from inside the request. */
static bool is_at_once(cuzk_status status)
{
    if (is_asking) {
        refusal = status;
    }
    return is_asking;
}

static void count_answer(cuzk_engine *engine, cuzk_job *job)
{
    engine->n_writes--;
    job->n_writes--;
    if (engine->n_writes == 0) {
        pthread_cond_broadcast(&engine->quiet);
    }
}

/* An answer came: the journal works, or it does not. Returns what to say of it, or NULL. */
static const char *note_answer(cuzk_engine *engine, cuzk_job *job, cuzk_status status,
                               const char *error)
{
    count_answer(engine, job);
    bool failed = status != CUZK_OK;
    bool is_news = failed != engine->journal_failed;
    engine->journal_failed = failed;
    return !is_news ? NULL : failed ? error : "the journal takes writes again";
}

static void end_answer(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_job_sweep_if_idle(engine, job);
    cuzk_job_unref(engine, job);
}

static void tell(const cuzk_engine *engine, const char *news)
{
    if (news != NULL) {
        cuzk_observe_text(engine, CUZK_EVENT_JOURNAL, CUZK_EVENT_INSTANT, -1, 0, news);
    }
}

/* Keep a job in mind whose units or end are to be written once more. */
static void write_again(cuzk_engine *engine, cuzk_job *job)
{
    if (!job->is_rewrite) {
        job->is_rewrite = true;
        job->n_refs++;
        job->next_rewrite = engine->rewrites;
        engine->rewrites = job;
    }
    cuzk_timer_engine(engine, cuzk_now_ns() + AGAIN_NS);
}

static const char NO_MEMORY[] = "no memory for a request to the journal";

/* ---- acceptance ------------------------------------------------------------------------------ */

static void free_payload(cuzk_engine *engine, cuzk_job *job)
{
    if (job->payload != NULL) {
        free(job->payload);
        job->payload = NULL;
        cuzk_budget_give(&engine->budget, job->payload_share, job->payload_bytes, true);
    }
}

static const char *answer_accept(cuzk_engine *engine, cuzk_job *job, cuzk_status status,
                                 const char *error)
{
    const char *news = note_answer(engine, job, status, error);
    free_payload(engine, job);
    if (status == CUZK_OK) {
        cuzk_job_accept(engine, job);
    } else {
        char *text = cuzk_engine_text("the journal cannot take a new job now: %s", error);
        cuzk_job_refuse(engine, job, CUZK_E_UNAVAILABLE,
                        text != NULL ? text : "the journal cannot take a new job now");
        free(text);
    }
    end_answer(engine, job);
    return news;
}

static void on_accepted(void *user, cuzk_status status, const char *error)
{
    if (is_at_once(status)) {
        return;
    }
    cuzk_job *job = (cuzk_job *)user;
    cuzk_engine *engine = job->engine;
    cuzk_engine_lock(engine);
    const char *news = answer_accept(engine, job, status, error);
    cuzk_engine_unlock(engine);
    tell(engine, news);
}

void cuzk_records_accept(cuzk_engine *engine, cuzk_job *job)
{
    if (engine->options.journal == NULL) {
        free_payload(engine, job);
        cuzk_job_accept(engine, job);
        return;
    }
    cuzk_journal_job record = {
        .seq = job->seq,
        .request_id = job->request_id,
        .job_id = job->id,
        .kind = job->kind,
        .priority = job->priority,
        .n_units = job->n_units,
        .payload = job->payload,
        .payload_bytes = job->payload_bytes,
        .accepted_unix_ms = job->accepted_unix_ms,
    };
    memcpy(record.digest, job->digest, sizeof record.digest);
    ask(engine, job);
    cuzk_journal_accept(engine->options.journal, &record, on_accepted, job);
    if (asked() != CUZK_OK) {
        answer_accept(engine, job, CUZK_E_MEMORY, NO_MEMORY);
    }
}

/* ---- units ----------------------------------------------------------------------------------- */

static const char *answer_unit(cuzk_engine *engine, cuzk_unit *unit, cuzk_status status,
                               const char *error)
{
    cuzk_job *job = unit->job;
    const char *news = note_answer(engine, job, status, error);
    if (status == CUZK_OK) {
        unit->at = CUZK_AT_DONE;
        job->n_done++;
    } else if (!job->has_end) {
        unit->wants_write = true;
        write_again(engine, job);
    }
    end_answer(engine, job);
    return news;
}

static void on_unit(void *user, cuzk_status status, const char *error)
{
    if (is_at_once(status)) {
        return;
    }
    cuzk_unit *unit = (cuzk_unit *)user;
    cuzk_engine *engine = unit->job->engine;
    if (status == CUZK_OK) {
        cuzk_observe_unit(engine, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, unit, NULL, CUZK_OK,
                          NULL);
    }
    cuzk_engine_lock(engine);
    const char *news = answer_unit(engine, unit, status, error);
    cuzk_engine_unlock(engine);
    tell(engine, news);
}

void cuzk_records_unit(cuzk_engine *engine, cuzk_unit *unit)
{
    cuzk_job *job = unit->job;
    if (engine->options.journal == NULL) {
        unit->at = CUZK_AT_DONE;
        job->n_done++;
        return;
    }
    unit->wants_write = false;
    ask(engine, job);
    cuzk_journal_unit(engine->options.journal, job->seq, unit->index,
                      job->proofs + (size_t)unit->index * CUZK_UNIT_PROOF_MAX, unit->proof_bytes,
                      on_unit, unit);
    if (asked() != CUZK_OK) {
        answer_unit(engine, unit, CUZK_E_MEMORY, NO_MEMORY);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* With a job's end its last unit is on the disk too. Without the lock: the job is held, and nobody
 * else changes a unit that is verified. */
static void tell_last_units(cuzk_engine *engine, const cuzk_job *job)
{
    for (unsigned i = 0; i < job->n_units; i++) {
        if (job->units[i].at == CUZK_AT_VERIFIED) {
            cuzk_observe_unit(engine, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, &job->units[i],
                              NULL, CUZK_OK, NULL);
        }
    }
}

static void mark_last_units(cuzk_job *job)
{
    for (unsigned i = 0; job->units != NULL && i < job->n_units; i++) {
        if (job->units[i].at == CUZK_AT_VERIFIED) {
            job->units[i].at = CUZK_AT_DONE;
            job->n_done++;
        }
    }
}

static const char *answer_end(cuzk_engine *engine, cuzk_job *job, cuzk_status status,
                              const char *error)
{
    const char *news = note_answer(engine, job, status, error);
    if (status == CUZK_OK) {
        mark_last_units(job);
    }
    if (status == CUZK_OK || !job->in_table) { /* not in the table: its record is deleted anyway */
        cuzk_job_close(engine, job);
    } else {
        job->wants_end_write = true;
        write_again(engine, job);
    }
    end_answer(engine, job);
    return news;
}

static void on_end(void *user, cuzk_status status, const char *error)
{
    if (is_at_once(status)) {
        return;
    }
    cuzk_job *job = (cuzk_job *)user;
    cuzk_engine *engine = job->engine;
    if (status == CUZK_OK && job->end_state == CUZK_JOB_COMPLETED) {
        tell_last_units(engine, job);
    }
    cuzk_engine_lock(engine);
    const char *news = answer_end(engine, job, status, error);
    cuzk_engine_unlock(engine);
    tell(engine, news);
}

void cuzk_records_end(cuzk_engine *engine, cuzk_job *job)
{
    if (engine->options.journal == NULL || job->is_refused) {
        mark_last_units(job);
        cuzk_job_close(engine, job);
        return;
    }
    cuzk_journal_end end = {
        .state = (int)job->end_state,
        .status = job->status,
        .error = job->error != NULL ? job->error : "",
        .answer = job->answer,
        .answer_bytes = job->answer_bytes,
        .times = {job->total_ns, job->queue_ns, job->resident_ns, job->witness_ns, job->prove_ns,
                  job->lane_ns},
        .ended_unix_ms = job->ended_unix_ms,
    };
    job->wants_end_write = false;
    ask(engine, job);
    cuzk_journal_finish(engine->options.journal, job->seq, &end, on_end, job);
    if (asked() != CUZK_OK) {
        answer_end(engine, job, CUZK_E_MEMORY, NO_MEMORY);
    }
}

void cuzk_records_drop(cuzk_engine *engine, cuzk_job *job)
{
    if (engine->options.journal != NULL) {
        cuzk_journal_drop(engine->options.journal, job->seq);
    }
}

void cuzk_records_again(cuzk_engine *engine)
{
    cuzk_job *job = engine->rewrites;
    engine->rewrites = NULL;
    while (job != NULL) {
        cuzk_job *next = job->next_rewrite;
        job->next_rewrite = NULL;
        job->is_rewrite = false;
        for (unsigned i = 0; !job->has_end && i < job->n_units; i++) {
            if (job->units[i].wants_write) {
                cuzk_records_unit(engine, &job->units[i]);
            }
        }
        if (job->wants_end_write && job->in_table) {
            cuzk_records_end(engine, job);
        } else if (job->wants_end_write) {
            job->wants_end_write = false;
            cuzk_job_close(engine, job);
        }
        cuzk_job_sweep_if_idle(engine, job);
        cuzk_job_unref(engine, job);
        job = next;
    }
}

/* ---- payloads of unfinished jobs ------------------------------------------------------------- */

static void on_loaded(void *user, cuzk_status status, const char *error, void *payload,
                      size_t n_bytes)
{
    if (is_at_once(status)) {
        return;
    }
    cuzk_claim *claim = (cuzk_claim *)user;
    cuzk_job *job = claim->recovered;
    cuzk_engine *engine = job->engine;
    cuzk_engine_lock(engine);
    cuzk_intake_loaded(engine, claim, status, error, payload, n_bytes);
    count_answer(engine, job);
    end_answer(engine, job);
    cuzk_engine_unlock(engine);
}

void cuzk_records_load(cuzk_engine *engine, cuzk_claim *claim)
{
    cuzk_job *job = claim->recovered;
    ask(engine, job);
    cuzk_journal_load(engine->options.journal, job->seq, on_loaded, claim);
    if (asked() != CUZK_OK) {
        cuzk_intake_loaded(engine, claim, CUZK_E_MEMORY, NO_MEMORY, NULL, 0);
        count_answer(engine, job);
        end_answer(engine, job);
    }
}

/* ---- at the start ---------------------------------------------------------------------------- */

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
    job->is_accepted = true;
    job->is_recovered = true;
    job->is_kept = true;
    job->accepted_ns = job->submitted_ns = ns_of(r, job->accepted_unix_ms);
    job->payload_bytes = entry->job.payload_bytes;
    read_units(job, entry);
    engine->counts[job->kind].pending++;
    cuzk_job_enter(engine, job);
    job->n_active++;
    job->n_refs++;
    claim->recovered = job;
    claim->kind = job->kind;
    claim->priority = job->priority;
    claim->order.priority = job->priority;
    claim->bytes = entry->job.payload_bytes;
    cuzk_intake_recover(engine, claim);
    return CUZK_OK;
}

static cuzk_status take_entry(void *user, const cuzk_journal_entry *entry, cuzk_error *err)
{
    reading *r = (reading *)user;
    cuzk_engine *engine = r->engine;
    const cuzk_journal_job *record = &entry->job;
    if (record->kind >= CUZK_KINDS_MAX || engine->options.kinds[record->kind].work == NULL ||
        record->n_units == 0 || record->n_units > CUZK_UNITS_MAX ||
        strlen(record->job_id) >= CUZK_JOB_ID_MAX) {
        return CUZK_OK; /* of a kind that this configuration has not: left for one that has */
    }
    cuzk_job *job = NULL;
    CUZK_TRY(cuzk_job_new(&job, engine, record->job_id, record->request_id, record->kind,
                          record->priority, record->n_units, err));
    job->seq = record->seq;
    memcpy(job->digest, record->digest, sizeof job->digest);
    job->accepted_unix_ms = record->accepted_unix_ms;
    cuzk_job *older = cuzk_job_find(engine, job->id);
    cuzk_status status = CUZK_OK;
    if (entry->has_ended) {
        status = read_end(job, &entry->end, err);
    }
    if (status == CUZK_OK && older != NULL && older->is_closed) {
        cuzk_job_forget(engine, older); /* a crash came between a new attempt and the deletion */
    }
    if (status == CUZK_OK && entry->has_ended) {
        job->is_accepted = true;
        job->accepted_ns = job->submitted_ns = ns_of(r, job->accepted_unix_ms);
        job->ended_ns = ns_of(r, job->ended_unix_ms);
        cuzk_job_enter(engine, job);
        cuzk_job_keep(engine, job);
    } else if (status == CUZK_OK) {
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
    reading r = {.engine = engine, .now_ns = cuzk_now_ns(), .now_unix_ms = cuzk_engine_unix_ms()};
    uint64_t next_seq = 1;
    engine->is_recovering = true;
    CUZK_TRY(cuzk_journal_read(engine->options.journal, &next_seq, take_entry, &r, err));
    engine->is_recovering = false;
    engine->next_seq = next_seq > 1 ? next_seq : 1;
    return CUZK_OK;
}
