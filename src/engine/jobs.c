/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lives of jobs: accepted, begun, ended, swept; cancelled and abandoned. */
#include "engine/inner.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* ---- beginning ------------------------------------------------------------------------------- */

static unsigned n_queued(const cuzk_engine *engine)
{
    unsigned n = 0;
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        n += engine->counts[k].pending;
    }
    return n;
}

/* Tell how a closed job ended. */
static void tell_end(cuzk_engine *engine, cuzk_job *job)
{
    job->n_refs++;
    cuzk_clerk_tell(engine, &job->ended, CUZK_NOTICE_ENDED);
    cuzk_waiters_ended(engine, job);
}

void cuzk_job_begin(cuzk_engine *engine, cuzk_job *job)
{
    if (job->has_end) {
        return;
    }
    if (job->n_verified == job->n_units) { /* the journal had them all */
        cuzk_unit *unit = &job->units[0];
        unit->order = (cuzk_order_node){.priority = job->priority, .seq = job->seq};
        unit->at = CUZK_AT_ASSEMBLE;
        cuzk_job_hold(job);
        cuzk_unit_push(unit, &engine->verify);
        return;
    }
    for (unsigned i = 0; i < job->n_units; i++) {
        cuzk_unit *unit = &job->units[i];
        if (unit->at == CUZK_AT_REST) {
            unit->order = (cuzk_order_node){.priority = job->priority, .seq = job->seq, .unit = i};
            cuzk_unit_want(engine, unit);
        }
    }
}

void cuzk_job_accept(cuzk_engine *engine, cuzk_job *job)
{
    job->is_accepted = true;
    job->accepted_ns = cuzk_now_ns();
    engine->n_submissions -= !job->is_recovered;
    unsigned position = n_queued(engine);
    if (job->is_closed) { /* cancelled while the journal wrote */
        engine->counts[job->kind].cancelled++;
    } else {
        if (job->state == CUZK_JOB_QUEUED) {
            engine->counts[job->kind].pending++;
        } else {
            engine->counts[job->kind].in_progress++;
        }
    }
    job->n_refs++;
    cuzk_clerk_tell(engine, &job->accepted, CUZK_NOTICE_ACCEPTED);
    for (cuzk_waiter *waiter = job->waiters; waiter != NULL; waiter = waiter->next) {
        waiter->queue_position = position;
    }
    cuzk_waiters_accepted(engine, job);
    if (job->is_closed) {
        tell_end(engine, job);
    } else if (engine->is_stopping) {
        cuzk_waiters_stop(engine, job);
    } else if (job->state == CUZK_JOB_QUEUED && job->units[0].at == CUZK_AT_REST) {
        cuzk_job_begin(engine, job);
    }
}

void cuzk_job_start(cuzk_engine *engine, cuzk_job *job)
{
    if (job->state != CUZK_JOB_QUEUED) {
        return;
    }
    job->state = CUZK_JOB_RUNNING;
    job->started_ns = cuzk_now_ns();
    job->queue_ns = job->started_ns - job->submitted_ns - job->resident_ns;
    cuzk_timer_cancel(engine, &job->abandon);
    if (job->is_accepted) {
        engine->counts[job->kind].pending--;
        engine->counts[job->kind].in_progress++;
    }
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Stop a unit. What waits is taken out at once; what it holds a finisher frees; what runs sees it
 * for itself. */
static void stop_unit(cuzk_engine *engine, cuzk_unit *unit)
{
    cuzk_observe_unit_left(engine, unit);
    cuzk_unit_waits(unit, false);
    switch (unit->at) {
    case CUZK_AT_REST:
    case CUZK_AT_MEMORY:
        cuzk_unit_pull(unit);
        unit->at = CUZK_AT_DROPPED;
        break;
    case CUZK_AT_READY:
        engine->n_ahead -= unit->queue != &engine->stranded; /* fall through */
    case CUZK_AT_FINISH_WAIT:
    case CUZK_AT_VERIFY_WAIT:
    case CUZK_AT_ASSEMBLE:
        if (unit->queue != NULL) {
            cuzk_unit_pull(unit);
            unit->at = CUZK_AT_DISCARD;
            unit->order.priority = CUZK_PRIORITY_CRITICAL + 1; /* gives memory back */
            cuzk_unit_push(unit, &engine->finish);
        }
        break;
    case CUZK_AT_DEVICE:
        cuzk_lane_wake(unit);
        break;
    default:
        break;
    }
}

void cuzk_job_stop_units(cuzk_engine *engine, cuzk_job *job)
{
    atomic_store_explicit(&job->is_stopped, true, memory_order_relaxed);
    for (unsigned i = 0; job->units != NULL && i < job->n_units; i++) {
        stop_unit(engine, &job->units[i]);
    }
}

void cuzk_job_end(cuzk_engine *engine, cuzk_job *job, cuzk_job_state state, cuzk_status status,
                  char *error)
{
    if (job->has_end) {
        free(error);
        return;
    }
    job->has_end = true;
    job->end_state = state;
    job->status = status;
    job->error = error;
    job->ended_ns = job->kept_ns = cuzk_now_ns();
    job->ended_unix_ms = cuzk_engine_unix_ms();
    job->total_ns = job->ended_ns - job->submitted_ns;
    if (job->started_ns == 0) {
        job->queue_ns = job->total_ns;
    }
    cuzk_timer_cancel(engine, &job->abandon);
    if (state != CUZK_JOB_COMPLETED) {
        cuzk_job_stop_units(engine, job);
    }
    job->n_refs++; /* it may be closed and forgotten before this returns */
    cuzk_records_end(engine, job);
    if (state == CUZK_JOB_CANCELLED) {
        cuzk_job_close(engine, job); /* told at once: after a crash it would be told again */
    }
    cuzk_job_unref(engine, job);
}

static void count_end(cuzk_engine *engine, const cuzk_job *job)
{
    if (!job->is_accepted) {
        return;
    }
    if (job->state == CUZK_JOB_QUEUED) {
        engine->counts[job->kind].pending--;
    } else {
        engine->counts[job->kind].in_progress--;
    }
    engine->counts[job->kind].completed += job->end_state == CUZK_JOB_COMPLETED;
    engine->counts[job->kind].failed += job->end_state == CUZK_JOB_FAILED;
    engine->counts[job->kind].cancelled += job->end_state == CUZK_JOB_CANCELLED;
}

/* Out of the list of unfinished jobs. */
static void leave_live(cuzk_engine *engine, cuzk_job *job)
{
    if (job->slot != NULL && --job->slot->n_jobs == 0 && job->slot->state == CUZK_SLOT_EMPTY) {
        engine->wants_reap = true; /* later: a caller may be looking at the slot */
    }
    cuzk_job_unlink_live(engine, job);
    if (--engine->n_unfinished == 0) {
        pthread_cond_broadcast(&engine->quiet);
    }
}

void cuzk_job_close(cuzk_engine *engine, cuzk_job *job)
{
    if (job->is_closed) {
        return;
    }
    job->n_refs++;
    count_end(engine, job);
    job->is_closed = true;
    job->state = job->end_state;
    leave_live(engine, job);
    if (job->in_table) {
        cuzk_job_keep(engine, job);
    }
    if (job->is_accepted) {
        tell_end(engine, job);
    }
    cuzk_job_sweep_if_idle(engine, job);
    cuzk_job_unref(engine, job);
}

void cuzk_job_refuse(cuzk_engine *engine, cuzk_job *job, cuzk_status status, const char *error)
{
    job->n_refs++;
    job->is_refused = true;
    engine->n_submissions--;
    cuzk_waiter *next = NULL;
    for (cuzk_waiter *waiter = job->waiters; waiter != NULL; waiter = next) {
        next = waiter->next;
        cuzk_waiter_refuse(engine, waiter, status, error);
        cuzk_waiter_detach(engine, waiter);
    }
    /* set when its last waiter left, just now or before */
    cuzk_timer_cancel(engine, &job->abandon);
    if (!job->is_closed) {
        job->has_end = true;
        job->is_closed = true;
        cuzk_job_stop_units(engine, job);
        leave_live(engine, job);
        cuzk_job_sweep_if_idle(engine, job);
    }
    if (job->in_table) {
        cuzk_records_drop(engine, job);
        cuzk_job_forget(engine, job);
    }
    cuzk_job_unref(engine, job);
}

/* ---- freeing --------------------------------------------------------------------------------- */

void cuzk_job_hold(cuzk_job *job)
{
    job->n_active++;
    job->n_refs++;
}

void cuzk_job_leave(cuzk_engine *engine, cuzk_job *job)
{
    job->n_active--;
    cuzk_job_sweep_if_idle(engine, job);
    cuzk_job_unref(engine, job);
}

void cuzk_job_sweep_if_idle(cuzk_engine *engine, cuzk_job *job)
{
    if (job->is_closed && job->n_active == 0 && job->n_writes == 0 && job->units != NULL &&
        !job->sweep.is_queued && !job->is_rewrite) {
        job->n_refs++;
        cuzk_clerk_tell(engine, &job->sweep, CUZK_NOTICE_SWEEP);
    }
}

/* A unit as the outside sees it. */
static cuzk_unit_state state_of(const cuzk_unit *unit)
{
    switch (unit->at) {
    case CUZK_AT_REST:
    case CUZK_AT_MEMORY:
        return CUZK_UNIT_PENDING;
    case CUZK_AT_WITNESS:
        return CUZK_UNIT_WITNESS;
    case CUZK_AT_READY:
        return CUZK_UNIT_READY;
    case CUZK_AT_DONE:
        return CUZK_UNIT_DONE;
    case CUZK_AT_DISCARD:
    case CUZK_AT_DROPPED:
        return CUZK_UNIT_FAILED;
    default:
        return CUZK_UNIT_DEVICE;
    }
}

cuzk_unit_view cuzk_unit_look(const cuzk_unit *unit, uint64_t now_ns)
{
    cuzk_unit_view view = {
        .state = state_of(unit), .witness_ns = unit->witness_ns, .prove_ns = unit->prove_ns};
    if (unit->at == CUZK_AT_WITNESS && now_ns > unit->witness_from && unit->witness_from > 0) {
        view.witness_ns = now_ns - unit->witness_from;
    } else if (view.state == CUZK_UNIT_DEVICE && view.prove_ns == 0 && unit->prove_from > 0 &&
               now_ns > unit->prove_from) {
        view.prove_ns = now_ns - unit->prove_from;
    }
    return view;
}

void cuzk_job_sweep(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_task *task = job->task;
    uint64_t task_reserved = job->task_reserved;
    cuzk_unit *units = job->units;
    uint8_t *proofs = job->proofs;
    cuzk_unit_view *views = malloc((size_t)job->n_units * sizeof *views);
    for (unsigned i = 0; views != NULL && i < job->n_units; i++) {
        views[i] = cuzk_unit_look(&units[i], 0);
    }
    job->task = NULL;
    job->task_reserved = 0;
    job->units = NULL;
    job->proofs = NULL;
    job->views = views;
    job->slot = NULL;
    pthread_mutex_unlock(&engine->lock);
    if (task != NULL) {
        job->work->task_destroy(job->work->user, task);
    }
    free(units);
    free(proofs);
    pthread_mutex_lock(&engine->lock);
    if (task != NULL) {
        cuzk_budget_give(&engine->budget, CUZK_SHARE_TASK, task_reserved, true);
    }
    if (engine->wants_reap) {
        engine->wants_reap = false;
        cuzk_slots_reap(engine);
    }
    cuzk_job_unref(engine, job);
}

/* ---- cancelled, abandoned -------------------------------------------------------------------- */

void cuzk_job_abandoned(cuzk_engine *engine, cuzk_job *job)
{
    if (engine->options.abandon_ns > 0 && !job->is_kept && job->n_waiters == 0 && !job->has_end &&
        job->state == CUZK_JOB_QUEUED) {
        cuzk_timer_set(engine, &job->abandon, cuzk_now_ns() + engine->options.abandon_ns);
    }
}

void cuzk_job_drop_abandoned(cuzk_engine *engine, cuzk_job *job)
{
    if (job->n_waiters == 0 && job->state == CUZK_JOB_QUEUED) {
        cuzk_job_end(engine, job, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED,
                     cuzk_engine_text("dropped while it was queued: nobody has waited for it for "
                                      "%.0f s",
                                      (double)engine->options.abandon_ns / 1e9));
    }
}

cuzk_status cuzk_engine_cancel(cuzk_engine *engine, bool *was_running, const char *job_id,
                               cuzk_error *err)
{
    cuzk_engine_lock(engine);
    cuzk_job *job = cuzk_job_find(engine, job_id);
    bool is_known = job != NULL || cuzk_records_may_have(engine, job_id);
    *was_running = job != NULL && !job->has_end;
    if (*was_running) {
        cuzk_job_end(engine, job, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED,
                     cuzk_engine_text("cancelled by a caller"));
    }
    cuzk_engine_unlock(engine);
    CUZK_FAIL_IF(!is_known, err, CUZK_E_NOT_FOUND, "cancelling: there is no job \"%s\"", job_id);
    return CUZK_OK;
}
