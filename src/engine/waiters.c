/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Those who wait for jobs: what they are told and when; awaits with a limit; leaving. */
#include "engine/inner.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

cuzk_waiter *cuzk_waiter_new(cuzk_engine *engine)
{
    cuzk_waiter *waiter = calloc(1, sizeof *waiter);
    if (waiter != NULL) {
        waiter->n_refs = 1;
        waiter->deadline.kind = CUZK_TIMER_AWAIT;
        cuzk_table_add(&engine->waiters, &waiter->by_id, ++engine->next_waiter);
    }
    return waiter;
}

void cuzk_waiter_unref(cuzk_engine *engine, cuzk_waiter *waiter)
{
    if (--waiter->n_refs > 0) {
        return;
    }
    cuzk_table_remove(&engine->waiters, &waiter->by_id);
    if (waiter->job != NULL) {
        cuzk_job_unref(engine, waiter->job);
    }
    free(waiter->error);
    free(waiter->job_id);
    free(waiter);
}

static cuzk_waiter *find(const cuzk_engine *engine, uint64_t id)
{
    cuzk_table_node *node = cuzk_table_find(&engine->waiters, id);
    return node != NULL ? CUZK_OF(node, cuzk_waiter, by_id) : NULL;
}

/* Whether it is one of those for whom a job is kept. */
static bool is_wanting(const cuzk_waiter *waiter)
{
    return waiter->on_result != NULL && !waiter->has_left;
}

void cuzk_waiter_attach(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_job *job)
{
    waiter->job = job;
    job->n_refs++;
    waiter->prev = NULL;
    waiter->next = job->waiters;
    if (waiter->next != NULL) {
        waiter->next->prev = waiter;
    }
    job->waiters = waiter;
    waiter->n_refs++;
    if (is_wanting(waiter)) {
        job->n_waiters++;
        cuzk_timer_cancel(engine, &job->abandon);
    } else if (waiter->on_result == NULL) {
        job->is_kept = true;
    }
}

void cuzk_waiter_detach(cuzk_engine *engine, cuzk_waiter *waiter)
{
    cuzk_job *job = waiter->job;
    *(waiter->prev != NULL ? &waiter->prev->next : &job->waiters) = waiter->next;
    if (waiter->next != NULL) {
        waiter->next->prev = waiter->prev;
    }
    waiter->next = NULL;
    waiter->prev = NULL;
    cuzk_timer_cancel(engine, &waiter->deadline);
    if (is_wanting(waiter) && --job->n_waiters == 0) {
        cuzk_job_abandoned(engine, job);
    }
    cuzk_waiter_unref(engine, waiter);
}

static void tell_submitted(cuzk_engine *engine, cuzk_waiter *waiter)
{
    waiter->awaits_accept = false;
    waiter->n_refs++;
    cuzk_clerk_tell(engine, &waiter->submitted, CUZK_NOTICE_SUBMITTED);
}

static void tell_result(cuzk_engine *engine, cuzk_waiter *waiter)
{
    waiter->n_refs++;
    cuzk_clerk_tell(engine, &waiter->result, CUZK_NOTICE_RESULT);
}

void cuzk_waiters_accepted(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_waiter *next = NULL;
    for (cuzk_waiter *waiter = job->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        if (waiter->awaits_accept) {
            tell_submitted(engine, waiter);
            if (!is_wanting(waiter)) {
                cuzk_waiter_detach(engine, waiter);
            }
        }
    }
}

void cuzk_waiters_ended(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_waiter *next = NULL;
    for (cuzk_waiter *waiter = job->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        if (!waiter->awaits_accept) {
            tell_result(engine, waiter);
            cuzk_waiter_detach(engine, waiter);
        }
    }
}

void cuzk_waiter_refuse(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_status status,
                        const char *error)
{
    if (waiter->awaits_accept) {
        waiter->status = status;
        waiter->error = cuzk_engine_text("%s", error);
        tell_submitted(engine, waiter);
    } else if (is_wanting(waiter)) {
        waiter->lost_status = status;
        waiter->error = cuzk_engine_text("%s", error);
        tell_result(engine, waiter);
    }
}

void cuzk_waiters_stop(cuzk_engine *engine, cuzk_job *job)
{
    static const char TEXT[] = "the server ends; the job stays in its journal, if it has one";
    cuzk_waiter *next = NULL;
    for (cuzk_waiter *waiter = job->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        if (!waiter->awaits_accept) { /* the journal's answer is still to come */
            cuzk_waiter_refuse(engine, waiter, CUZK_E_UNAVAILABLE, TEXT);
            cuzk_waiter_detach(engine, waiter);
        }
    }
}

void cuzk_waiter_call_submitted(cuzk_engine *engine, cuzk_waiter *waiter)
{
    cuzk_job *job = waiter->job;
    bool is_accepted = waiter->status == CUZK_OK;
    cuzk_submitted answer = {
        .status = waiter->status,
        .error = is_accepted             ? ""
                 : waiter->error != NULL ? waiter->error
                                         : "not enough memory",
        .job_id = is_accepted ? job->id : NULL,
        .queue_position = waiter->queue_position,
        .is_known = waiter->was_known,
    };
    pthread_mutex_unlock(&engine->lock);
    waiter->on_submitted(waiter->user, &answer);
    pthread_mutex_lock(&engine->lock);
    cuzk_waiter_unref(engine, waiter);
}

/* For a waiter whose job has not ended: it was refused, the engine ends, the time is up; or there
 * is none. */
static cuzk_job_result unfinished(const cuzk_waiter *waiter)
{
    bool is_unknown = waiter->job == NULL && waiter->lost_status == CUZK_E_NOT_FOUND;
    return (cuzk_job_result){
        .job_id = waiter->job != NULL ? waiter->job->id : waiter->job_id,
        .state = waiter->timed_out ? CUZK_JOB_TIMEOUT
                 : is_unknown      ? CUZK_JOB_UNKNOWN
                                   : CUZK_JOB_FAILED,
        .status = waiter->timed_out ? CUZK_E_DEADLINE : waiter->lost_status,
        .error = waiter->timed_out       ? "the time to wait is up; the job goes on"
                 : waiter->error != NULL ? waiter->error
                                         : "not enough memory",
        .kind = waiter->job != NULL ? waiter->job->kind : 0,
    };
}

static cuzk_job_result finished(const cuzk_job *job)
{
    return (cuzk_job_result){
        .job_id = job->id,
        .state = job->state,
        .status = job->status,
        .error = job->status == CUZK_OK ? ""
                 : job->error != NULL   ? job->error
                                        : cuzk_status_text(job->status),
        .answer = job->answer,
        .answer_bytes = job->answer_bytes,
        .kind = job->kind,
        .total_ns = job->total_ns,
        .queue_ns = job->queue_ns,
        .resident_ns = job->resident_ns,
        .witness_ns = job->witness_ns,
        .prove_ns = job->prove_ns,
        .lane_ns = job->lane_ns,
    };
}

void cuzk_waiter_call_result(cuzk_engine *engine, cuzk_waiter *waiter)
{
    waiter->has_left = true; /* from now on cuzk_engine_leave comes too late */
    bool has_result = waiter->lost_status == CUZK_OK && !waiter->timed_out;
    cuzk_job_result result = has_result ? finished(waiter->job) : unfinished(waiter);
    pthread_mutex_unlock(&engine->lock);
    waiter->on_result(waiter->user, &result);
    pthread_mutex_lock(&engine->lock);
    cuzk_waiter_unref(engine, waiter);
}

void cuzk_waiter_timed_out(cuzk_engine *engine, cuzk_waiter *waiter)
{
    waiter->timed_out = true;
    tell_result(engine, waiter);
    cuzk_waiter_detach(engine, waiter);
}

/* Give a waiter the job that it waits for. */
static void join(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_job *job, uint64_t timeout_ns)
{
    cuzk_waiter_attach(engine, waiter, job);
    if (job->is_closed) {
        tell_result(engine, waiter);
        cuzk_waiter_detach(engine, waiter);
    } else if (engine->is_stopping) {
        cuzk_waiter_refuse(engine, waiter, CUZK_E_UNAVAILABLE, "the server ends");
        cuzk_waiter_detach(engine, waiter);
    } else if (timeout_ns > 0) {
        uint64_t now_ns = cuzk_now_ns();
        cuzk_timer_set(engine, &waiter->deadline,
                       timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX);
    }
}

static cuzk_status no_such_job(cuzk_error *err, const char *job_id)
{
    return CUZK_FAIL(
        err, CUZK_E_NOT_FOUND,
        "there is no job \"%s\": it was never accepted here, or its result is no longer "
        "kept",
        job_id);
}

void cuzk_waiter_found(cuzk_engine *engine, cuzk_waiter *waiter, cuzk_status status)
{
    cuzk_job *job = cuzk_job_find(engine, waiter->job_id);
    cuzk_error err = {0};
    if (waiter->has_left) {
        return;
    }
    if (job != NULL) {
        join(engine, waiter, job, 0);
        return;
    }
    if (status == CUZK_OK || status == CUZK_E_NOT_FOUND) {
        status = no_such_job(&err, waiter->job_id);
    } else {
        CUZK_FAIL(&err, status, "looking for job \"%s\" in the journal failed", waiter->job_id);
    }
    cuzk_waiter_refuse(engine, waiter, status, err.text);
}

/* Wait for a job that left memory: the journal is asked. The waiter is handed over. Errors:
 * E_MEMORY: nothing was asked. */
static cuzk_status ask_journal(cuzk_engine *engine, cuzk_waiter *waiter, const char *job_id,
                               cuzk_error *err)
{
    waiter->job_id = strdup(job_id);
    CUZK_FAIL_IF(waiter->job_id == NULL, err, CUZK_E_MEMORY, "waiting for job \"%s\": no memory",
                 job_id);
    waiter->n_refs++;
    cuzk_records_find(engine, waiter);
    return CUZK_OK;
}

cuzk_status cuzk_engine_await(cuzk_engine *engine, uint64_t *waiter_id, const char *job_id,
                              uint64_t timeout_ns, cuzk_on_result on_result, void *user,
                              cuzk_error *err)
{
    cuzk_engine_lock(engine);
    cuzk_job *job = cuzk_job_find(engine, job_id);
    bool may_be = job != NULL || (!engine->is_stopping && cuzk_records_may_have(engine, job_id));
    cuzk_waiter *waiter = may_be ? cuzk_waiter_new(engine) : NULL;
    cuzk_status status = CUZK_OK;
    if (!may_be) {
        status = no_such_job(err, job_id);
    } else if (waiter == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "waiting for job \"%s\": no memory", job_id);
    } else {
        waiter->on_result = on_result;
        waiter->user = user;
        if (waiter_id != NULL) {
            *waiter_id = waiter->by_id.hash;
        }
        if (job != NULL) {
            join(engine, waiter, job, timeout_ns);
        } else {
            status = ask_journal(engine, waiter, job_id, err);
        }
        cuzk_waiter_unref(engine, waiter);
    }
    cuzk_engine_unlock(engine);
    return status;
}

bool cuzk_engine_leave(cuzk_engine *engine, uint64_t waiter_id)
{
    cuzk_engine_lock(engine);
    cuzk_waiter *waiter = find(engine, waiter_id);
    bool in_time = waiter != NULL && is_wanting(waiter);
    if (in_time) {
        bool was_told = cuzk_clerk_untell(engine, &waiter->result);
        if (was_told) {
            waiter->has_left = true;
            cuzk_waiter_unref(engine, waiter);
        } else if (waiter->job != NULL && !waiter->awaits_accept) {
            waiter->n_refs++;
            cuzk_waiter_detach(engine, waiter);
            waiter->has_left = true;
            cuzk_waiter_unref(engine, waiter);
        } else {
            waiter->has_left = true;
            if (waiter->job != NULL && --waiter->job->n_waiters == 0) {
                cuzk_job_abandoned(engine, waiter->job);
            }
        }
    }
    cuzk_engine_unlock(engine);
    return in_time;
}
