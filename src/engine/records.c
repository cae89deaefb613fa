/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The engine's side of the journal: what is written when, and what happens when it cannot be. The
 * journal answers in the order in which it is asked, so that a job's
 * acceptance is always known before its end. */
#include "engine/inner.h"

#include "base/bytes.h"
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

void cuzk_records_ask(cuzk_engine *engine)
{
    engine->n_writes++;
    is_asking = true;
    refusal = CUZK_OK;
}

cuzk_status cuzk_records_asked(void)
{
    is_asking = false;
    return refusal;
}

bool cuzk_records_is_at_once(cuzk_status status)
{
    if (is_asking) {
        refusal = status;
    }
    return is_asking;
}

void cuzk_records_answered(cuzk_engine *engine)
{
    if (--engine->n_writes == 0) {
        pthread_cond_broadcast(&engine->quiet);
    }
}

/* The same for a request about a job, which is held until it is answered. */
static void ask(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_records_ask(engine);
    job->n_writes++;
    job->n_refs++;
}

static void count_answer(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_records_answered(engine);
    job->n_writes--;
}

/* Whether a change of the journal's health is to be told. A full disk takes small writes between
 * large ones that it refuses: one that fails again soon after it was well is called well only once
 * it has been for a while. */
static bool is_news(cuzk_engine *engine, bool failed, uint64_t now_ns)
{
    static const uint64_t CALM_NS = UINT64_C(30000000000);
    if (failed) {
        engine->journal_bad_ns = now_ns;
        if (engine->journal_told) {
            return false;
        }
        engine->journal_flaps =
            engine->journal_well_ns > 0 && now_ns - engine->journal_well_ns < CALM_NS;
    } else {
        if (!engine->journal_told ||
            (engine->journal_flaps && now_ns - engine->journal_bad_ns < CALM_NS)) {
            return false;
        }
        engine->journal_well_ns = now_ns;
    }
    engine->journal_told = failed;
    return true;
}

/* Whether the journal works, as its answers say; told when it changes. Gives the lock away
 * meanwhile: while the answer is not counted the engine stays. */
static void note_health(cuzk_engine *engine, cuzk_status status, const char *error)
{
    /* what it says of one job only is no word about the disk */
    bool failed = status != CUZK_OK && status != CUZK_E_NOT_FOUND && status != CUZK_E_ARGUMENT;
    uint64_t now_ns = cuzk_now_ns();
    engine->journal_failed = failed;
    if (!is_news(engine, failed, now_ns)) {
        return;
    }
    cuzk_event event = {.id = CUZK_EVENT_JOURNAL,
                        .phase = CUZK_EVENT_INSTANT,
                        .ns = now_ns,
                        .unit = -1,
                        .device = -1,
                        .worker = -1,
                        .status = failed ? status : CUZK_OK,
                        .text = failed ? error : "the journal takes writes again"};
    pthread_mutex_unlock(&engine->lock);
    cuzk_observe(engine, &event);
    pthread_mutex_lock(&engine->lock);
}

static void end_answer(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_job_sweep_if_idle(engine, job);
    cuzk_job_unref(engine, job);
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

/* Wipe and free the payload, give back its bytes and a hold of the job. */
static void wipe(cuzk_engine *engine, cuzk_job *job)
{
    if (job->payload != NULL && job->payload_bytes <= CUZK_WIPE_NOW_BYTES) {
        cuzk_wipe(job->payload, job->payload_bytes); /* a larger one the clerk has wiped */
    }
    free(job->payload);
    job->payload = NULL;
    cuzk_budget_give(&engine->budget, job->payload_share, job->payload_bytes, true);
    cuzk_job_unref(engine, job);
}

static void free_payload(cuzk_engine *engine, cuzk_job *job)
{
    if (!job->has_payload) {
        return;
    }
    job->has_payload = false;
    job->n_refs++;
    if (job->payload_bytes > CUZK_WIPE_NOW_BYTES) {
        cuzk_clerk_tell(engine, &job->wipe, CUZK_NOTICE_PAYLOAD);
    } else {
        wipe(engine, job);
    }
}

void cuzk_job_wipe(cuzk_engine *engine, cuzk_job *job)
{
    pthread_mutex_unlock(&engine->lock);
    cuzk_wipe(job->payload, job->payload_bytes); /* nobody else uses it any more */
    pthread_mutex_lock(&engine->lock);
    wipe(engine, job);
}

static void answer_accept(cuzk_engine *engine, cuzk_job *job, cuzk_status status, const char *error)
{
    count_answer(engine, job);
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
}

static void on_accepted(void *user, cuzk_status status, const char *error)
{
    if (cuzk_records_is_at_once(status)) {
        return;
    }
    cuzk_job *job = (cuzk_job *)user;
    cuzk_engine *engine = job->engine;
    cuzk_engine_lock(engine);
    note_health(engine, status, error);
    /* the end that is asked for, too, is answered next: both are told then, at once */
    bool ends_next = status == CUZK_OK && job->has_end && job->n_writes > 1 && !job->is_kept;
    answer_accept(engine, job, status, error);
    if (ends_next) {
        cuzk_schedule(engine);
        pthread_mutex_unlock(&engine->lock);
    } else {
        cuzk_engine_unlock(engine);
    }
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
        .is_unhurried = job->n_waiters > 0 && !job->is_kept && !engine->journal_failed,
    };
    memcpy(record.digest, job->digest, sizeof record.digest);
    ask(engine, job);
    cuzk_journal_accept(engine->options.journal, &record, on_accepted, job);
    if (cuzk_records_asked() != CUZK_OK) {
        answer_accept(engine, job, CUZK_E_MEMORY, NO_MEMORY);
    }
}

/* ---- units ----------------------------------------------------------------------------------- */

static void answer_unit(cuzk_engine *engine, cuzk_unit *unit, cuzk_status status)
{
    cuzk_job *job = unit->job;
    count_answer(engine, job);
    if (status == CUZK_OK) {
        unit->at = CUZK_AT_DONE;
        job->n_done++;
    } else if (!job->has_end) {
        unit->wants_write = true;
        write_again(engine, job);
    }
    end_answer(engine, job);
}

static void on_unit(void *user, cuzk_status status, const char *error)
{
    if (cuzk_records_is_at_once(status)) {
        return;
    }
    cuzk_unit *unit = (cuzk_unit *)user;
    cuzk_engine *engine = unit->job->engine;
    if (status == CUZK_OK) {
        cuzk_observe_unit(engine, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, unit, NULL, CUZK_OK,
                          NULL);
    }
    cuzk_engine_lock(engine);
    note_health(engine, status, error);
    answer_unit(engine, unit, status);
    cuzk_engine_unlock(engine);
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
    if (cuzk_records_asked() != CUZK_OK) {
        answer_unit(engine, unit, CUZK_E_MEMORY);
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

static void answer_end(cuzk_engine *engine, cuzk_job *job, cuzk_status status)
{
    count_answer(engine, job);
    if (status == CUZK_OK) {
        mark_last_units(job);
    }
    /* not in the table: its record is deleted anyway; not found: there is nothing to write to */
    if (status == CUZK_OK || status == CUZK_E_NOT_FOUND || !job->in_table) {
        cuzk_job_close(engine, job);
    } else {
        /* the answer does not wait for room on the disk: a crash before it is written costs another
         * proof, the wait could cost the block that it is for */
        job->wants_end_write = true;
        write_again(engine, job);
        cuzk_job_close(engine, job);
    }
    end_answer(engine, job);
}

static void on_end(void *user, cuzk_status status, const char *error)
{
    if (cuzk_records_is_at_once(status)) {
        return;
    }
    cuzk_job *job = (cuzk_job *)user;
    cuzk_engine *engine = job->engine;
    if (status == CUZK_OK && job->end_state == CUZK_JOB_COMPLETED) {
        tell_last_units(engine, job);
    }
    cuzk_engine_lock(engine);
    note_health(engine, status, error);
    engine->n_callers++; /* the engine stays */
    answer_end(engine, job, status);
    if (engine->n_writes == 0) {
        /* nothing waits for this thread: the answer goes out without waking another */
        cuzk_clerk_stand_in(engine);
    }
    if (--engine->n_callers == 0) {
        pthread_cond_broadcast(&engine->quiet);
    }
    cuzk_engine_unlock(engine);
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
    if (cuzk_records_asked() != CUZK_OK) {
        answer_end(engine, job, CUZK_E_MEMORY);
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
    if (cuzk_records_is_at_once(status)) {
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
    if (cuzk_records_asked() != CUZK_OK) {
        cuzk_intake_loaded(engine, claim, CUZK_E_MEMORY, NO_MEMORY, NULL, 0);
        count_answer(engine, job);
        end_answer(engine, job);
    }
}
