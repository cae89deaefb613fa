/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The stages of a unit on the host: witness, finish, verify, assemble; and what happens when one
 * fails. */
#include "engine/inner.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <stdio.h>
#include <stdlib.h>

bool cuzk_unit_is_stopped(const cuzk_unit *unit)
{
    const cuzk_job *job = unit->job;
    return atomic_load_explicit(&job->is_stopped, memory_order_relaxed) ||
           atomic_load_explicit(&job->engine->stops, memory_order_relaxed);
}

static bool is_cancelled(const void *context)
{
    return cuzk_unit_is_stopped((const cuzk_unit *)context);
}

cuzk_work_call cuzk_stage_call(cuzk_unit *unit, cuzk_thread *thread)
{
    cuzk_engine *engine = thread->engine;
    bool is_maker = thread->stage == &engine->makers;
    int device = thread->of != NULL ? (int)thread->device : unit->device;
    cuzk_thread_urgency(unit->job->priority, false);
    cuzk_hands_place(engine, device, is_maker ? (int)thread->worker : -1);
    return (cuzk_work_call){
        .unit = unit->index,
        .device = device >= 0 ? (unsigned)device : 0,
        .worker = thread->worker,
        .lane = &thread->lane,
        .is_cancelled = is_cancelled,
        .context = unit,
    };
}

/* ---- ends of a unit -------------------------------------------------------------------------- */

/* Free witness and pending. Gives the lock away meanwhile. */
static void free_work(cuzk_engine *engine, cuzk_unit *unit)
{
    const cuzk_work *work = unit->job->work;
    cuzk_unit_witness *witness = unit->witness;
    cuzk_pending *pending = unit->pending;
    unit->witness = NULL;
    unit->pending = NULL;
    if (witness == NULL && pending == NULL) {
        return;
    }
    cuzk_engine_step_out(engine);
    if (pending != NULL) {
        work->pending_destroy(work->user, pending);
    }
    if (witness != NULL) {
        work->witness_destroy(work->user, witness);
    }
    pthread_mutex_lock(&engine->lock);
}

static void give_memory(cuzk_engine *engine, cuzk_unit *unit)
{
    if (unit->has_memory) {
        unit->has_memory = false;
        cuzk_budget_give(&engine->budget, CUZK_SHARE_WORK, unit->job->unit_bytes, true);
        cuzk_slot_leave(engine, unit->job->slot);
    }
}

void cuzk_unit_discard(cuzk_engine *engine, cuzk_unit *unit)
{
    unit->at = CUZK_AT_DROPPED;
    free_work(engine, unit);
    give_memory(engine, unit);
    cuzk_job_leave(engine, unit->job);
}

/* Where the unit was proved. */
static const char *place(const cuzk_engine *engine, const cuzk_unit *unit)
{
    return unit->device >= 0 ? engine->devices[unit->device].id : "the host";
}

static void fail(cuzk_engine *engine, cuzk_unit *unit, const char *what, const cuzk_error *err)
{
    const cuzk_job *job = unit->job;
    char *text = cuzk_engine_text("partition %u of %u (counted from 0): %s on %s: %s%s",
                                  unit->index, job->n_units, what, place(engine, unit), err->text,
                                  unit->attempts > 1 ? " (after another attempt)" : "");
    cuzk_job_end(engine, unit->job, CUZK_JOB_FAILED, err->status, text);
    cuzk_unit_discard(engine, unit);
}

void cuzk_unit_again(cuzk_engine *engine, cuzk_unit *unit, const cuzk_error *err)
{
    const cuzk_work *work = unit->job->work;
    cuzk_pending *pending = unit->pending; /* where finishing it did not begin */
    unit->pending = NULL;
    engine->n_retries++;
    cuzk_engine_step_out(engine);
    if (pending != NULL) {
        work->pending_destroy(work->user, pending);
    }
    cuzk_observe_unit(engine, CUZK_EVENT_RETRY, CUZK_EVENT_INSTANT, unit, NULL, err->status,
                      err->text);
    pthread_mutex_lock(&engine->lock);
    if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
        return;
    }
    engine->n_ahead++;
    unit->at = CUZK_AT_READY;
    unit->ready_ns = cuzk_now_ns();
    cuzk_unit_waits(unit, true);
    cuzk_device_queue(engine, unit, unit->device);
    if (!cuzk_devices_may_come(engine)) { /* the last one has gone meanwhile */
        cuzk_units_fail_tried(engine);
    }
}

void cuzk_units_fail_tried(cuzk_engine *engine)
{
    cuzk_job *next = NULL;
    for (cuzk_job *job = engine->live; job != NULL; job = next) {
        next = job->next;
        for (unsigned i = 0; !job->has_end && i < job->n_units; i++) {
            const cuzk_unit *unit = &job->units[i];
            if (unit->at == CUZK_AT_READY && unit->attempts > 0) {
                cuzk_job_end(engine, job, CUZK_JOB_FAILED, unit->last_status,
                             cuzk_engine_text("partition %u of %u (counted from 0): proving on %s "
                                              "failed (%s), and no device is left",
                                              i, job->n_units, place(engine, unit),
                                              cuzk_status_name(unit->last_status)));
            }
        }
    }
}

void cuzk_unit_blame(cuzk_engine *engine, const cuzk_unit *unit, unsigned d, const char *why)
{
    if (!cuzk_device_blame(engine, d, why)) {
        return;
    }
    if (!cuzk_devices_may_come(engine)) {
        cuzk_units_fail_tried(engine);
    }
    const cuzk_device *device = &engine->devices[d];
    char text[sizeof device->reason]; /* it may change while the observer reads */
    snprintf(text, sizeof text, "%s", device->reason);
    cuzk_event event = {.id = CUZK_EVENT_DEVICE_OUT,
                        .phase = CUZK_EVENT_INSTANT,
                        .ns = cuzk_now_ns(),
                        .job = unit->job->seq,
                        .job_id = unit->job->id,
                        .kind = unit->job->kind,
                        .priority = unit->job->priority,
                        .unit = (int)unit->index,
                        .device = (int)d,
                        .worker = -1,
                        .value = device->n_faults,
                        .text = text};
    cuzk_engine_step_out(engine);
    cuzk_observe(engine, &event);
    pthread_mutex_lock(&engine->lock);
}

void cuzk_unit_failed(cuzk_engine *engine, cuzk_unit *unit, const char *what, cuzk_error *err)
{
    bool was_proved = unit->device >= 0;
    bool is_bad_proof = was_proved && err->status == CUZK_E_INVALID_PROOF;
    bool is_device = was_proved && err->status == CUZK_E_DEVICE;
    bool is_memory = was_proved && err->status == CUZK_E_MEMORY;
    bool is_its_own = is_bad_proof && !unit->was_helped; /* else it may be another device's */
    if (is_device || (is_its_own && !unit->job->is_unchecked)) {
        cuzk_unit_blame(engine, unit, (unsigned)unit->device, err->text);
    } else if (is_its_own) {
        unit->suspect = unit->device; /* blamed if another attempt verifies */
    }
    unit->last_status = err->status;
    if ((is_bad_proof || is_device || is_memory) && unit->attempts < engine->options.attempts &&
        cuzk_devices_may_come(engine)) {
        cuzk_unit_again(engine, unit, err);
    } else {
        fail(engine, unit, what, err);
    }
}

/* ---- witness --------------------------------------------------------------------------------- */

void cuzk_stage_witness(cuzk_thread *thread, void *item)
{
    cuzk_engine *engine = thread->engine;
    cuzk_unit *unit = (cuzk_unit *)item;
    cuzk_job *job = unit->job;
    unit->witness_from = cuzk_now_ns();
    pthread_mutex_unlock(&engine->lock);
    cuzk_error err = {0};
    cuzk_observe_unit(engine, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, unit, NULL, CUZK_OK, NULL);
    cuzk_status status = cuzk_fault_at(CUZK_FAULT_WITNESS, -1, &err);
    if (status == CUZK_OK) {
        cuzk_work_call call = cuzk_stage_call(unit, thread);
        status = job->work->witness(job->work->user, &unit->witness, job->task, job->slot->resident,
                                    &call, &err);
    }
    cuzk_observe_unit(engine, CUZK_EVENT_WITNESS, CUZK_EVENT_END, unit, NULL, status,
                      status != CUZK_OK ? err.text : NULL);
    if (status == CUZK_OK) {
        cuzk_observe_unit(engine, CUZK_EVENT_QUEUED, CUZK_EVENT_INSTANT, unit, NULL, CUZK_OK, NULL);
    }
    pthread_mutex_lock(&engine->lock);
    unit->thread = NULL;
    unit->witness_ns = cuzk_now_ns() - unit->witness_from;
    job->witness_ns += unit->witness_ns;
    if (status == CUZK_OK && !cuzk_unit_is_stopped(unit)) {
        unit->at = CUZK_AT_READY;
        unit->ready_ns = cuzk_now_ns();
        cuzk_device_queue(engine, unit, -1);
        return;
    }
    engine->n_ahead--;
    if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
    } else {
        cuzk_unit_failed(engine, unit, "making the witness", &err);
    }
}

/* ---- finish ---------------------------------------------------------------------------------- */

static uint8_t *proof_of(const cuzk_unit *unit)
{
    return unit->job->proofs + (size_t)unit->index * CUZK_UNIT_PROOF_MAX;
}

static cuzk_status call_finish(cuzk_unit *unit, cuzk_thread *thread, cuzk_error *err)
{
    const cuzk_job *job = unit->job;
    cuzk_work_call call = cuzk_stage_call(unit, thread);
    cuzk_pending *pending = unit->pending;
    cuzk_status status = cuzk_fault_at(CUZK_FAULT_FINISH, unit->device, err);
    if (status != CUZK_OK) {
        return status;
    }
    unit->pending = NULL;
    unit->proof_bytes = 0;
    CUZK_TRY(job->work->prove_finish(job->work->user, proof_of(unit), &unit->proof_bytes, pending,
                                     job->task, job->slot->resident, &call, err));
    CUZK_FAIL_IF(unit->proof_bytes == 0 || unit->proof_bytes > CUZK_UNIT_PROOF_MAX, err,
                 CUZK_E_INTERNAL, "a proof of %zu bytes; 1 to %d are possible", unit->proof_bytes,
                 CUZK_UNIT_PROOF_MAX);
    if (cuzk_fault_at(CUZK_FAULT_PROOF, unit->device, NULL) != CUZK_OK) {
        proof_of(unit)[unit->proof_bytes / 2] ^= 1;
    }
    return CUZK_OK;
}

void cuzk_stage_finish(cuzk_thread *thread, void *item)
{
    cuzk_engine *engine = thread->engine;
    cuzk_unit *unit = (cuzk_unit *)item;
    cuzk_job *job = unit->job;
    if (unit->at == CUZK_AT_DISCARD) {
        unit->thread = NULL;
        cuzk_unit_discard(engine, unit);
        return;
    }
    pthread_mutex_unlock(&engine->lock);
    cuzk_error err = {0};
    cuzk_observe_unit(engine, CUZK_EVENT_PROVE_FINISH, CUZK_EVENT_BEGIN, unit, NULL, CUZK_OK, NULL);
    cuzk_status status = call_finish(unit, thread, &err);
    cuzk_observe_unit(engine, CUZK_EVENT_PROVE_FINISH, CUZK_EVENT_END, unit, NULL, status,
                      status != CUZK_OK ? err.text : NULL);
    pthread_mutex_lock(&engine->lock);
    unit->thread = NULL;
    unit->prove_ns = cuzk_now_ns() - unit->prove_from;
    job->prove_ns += unit->prove_ns;
    if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
    } else if (status != CUZK_OK) {
        cuzk_unit_failed(engine, unit, "finishing the proof", &err);
    } else {
        unit->at = CUZK_AT_VERIFY_WAIT;
        cuzk_unit_push(unit, &engine->verify);
    }
}

/* ---- verify and assemble --------------------------------------------------------------------- */

/* All units are verified: make the answer. The caller's hold on the job ends. */
static void assemble(cuzk_engine *engine, cuzk_job *job)
{
    size_t *sizes = malloc(job->n_units * sizeof *sizes);
    for (unsigned i = 0; sizes != NULL && i < job->n_units; i++) {
        sizes[i] = job->units[i].proof_bytes;
    }
    cuzk_engine_step_out(engine);
    cuzk_error err = {0};
    uint8_t *answer = NULL;
    size_t answer_bytes = 0;
    cuzk_status status = cuzk_fault_at(CUZK_FAULT_ASSEMBLE, -1, &err);
    if (status == CUZK_OK && sizes == NULL) {
        status = CUZK_FAIL(&err, CUZK_E_MEMORY, "no memory");
    } else if (status == CUZK_OK) {
        status = job->work->assemble(job->work->user, &answer, &answer_bytes, job->task,
                                     job->proofs, sizes, &err);
    }
    free(sizes);
    pthread_mutex_lock(&engine->lock);
    if (engine->is_stopping || job->has_end) {
        free(answer);
    } else if (status != CUZK_OK) {
        cuzk_job_end(engine, job, CUZK_JOB_FAILED, status,
                     cuzk_engine_text("assembling the answer: %s", err.text));
    } else {
        job->answer = answer;
        job->answer_bytes = answer_bytes;
        cuzk_job_end(engine, job, CUZK_JOB_COMPLETED, CUZK_OK, NULL);
    }
    cuzk_job_leave(engine, job);
}

static cuzk_status call_verify(cuzk_unit *unit, cuzk_thread *thread, cuzk_error *err)
{
    const cuzk_job *job = unit->job;
    cuzk_work_call call = cuzk_stage_call(unit, thread);
    CUZK_TRY(cuzk_fault_at(CUZK_FAULT_VERIFY, -1, err));
    return job->work->verify(job->work->user, job->task, job->slot->resident, proof_of(unit),
                             unit->proof_bytes, &call, err);
}

/* A unit whose proof is good: its memory goes back; the journal, or the answer, comes next. */
static void verified(cuzk_engine *engine, cuzk_unit *unit)
{
    cuzk_job *job = unit->job;
    if (unit->suspect >= 0) {
        cuzk_unit_blame(engine, unit, (unsigned)unit->suspect,
                        "a proof that did not verify; another attempt did");
    }
    free_work(engine, unit);
    give_memory(engine, unit);
    if (job->has_end) {
        unit->at = CUZK_AT_DROPPED;
        cuzk_job_leave(engine, job);
        return;
    }
    unit->at = CUZK_AT_VERIFIED;
    if (++job->n_verified == job->n_units && !engine->is_stopping) {
        assemble(engine, job); /* the journal gets this unit with the end */
    } else {
        cuzk_records_unit(engine, unit);
        cuzk_job_leave(engine, job);
    }
}

void cuzk_stage_verify(cuzk_thread *thread, void *item)
{
    cuzk_engine *engine = thread->engine;
    cuzk_unit *unit = (cuzk_unit *)item;
    if (unit->at == CUZK_AT_ASSEMBLE) {
        unit->at = CUZK_AT_DONE;
        assemble(engine, unit->job);
        return;
    }
    pthread_mutex_unlock(&engine->lock);
    cuzk_error err = {0};
    cuzk_observe_unit(engine, CUZK_EVENT_VERIFY, CUZK_EVENT_BEGIN, unit, NULL, CUZK_OK, NULL);
    cuzk_status status = call_verify(unit, thread, &err);
    cuzk_observe_unit(engine, CUZK_EVENT_VERIFY, CUZK_EVENT_END, unit, NULL, status,
                      status != CUZK_OK ? err.text : NULL);
    if (status == CUZK_OK && engine->options.journal == NULL) {
        cuzk_observe_unit(engine, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, unit, NULL, CUZK_OK,
                          NULL);
    }
    pthread_mutex_lock(&engine->lock);
    unit->thread = NULL;
    if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
    } else if (status != CUZK_OK) {
        cuzk_unit_failed(engine, unit, "verifying the proof made", &err);
    } else {
        verified(engine, unit);
    }
}
