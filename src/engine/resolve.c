/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From a decoded payload to a job: the one that there is for the same id and statement, or a new
 * one, or for a payload from the journal the job that it belongs to. */
#include "engine/inner.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIGEST_DIGITS = 12 }; /* of the digest in "ID~DIGEST" */

/* What a decoder found. */
typedef struct {
    cuzk_task *task;
    cuzk_task_info info;
} decoded;

/* Whether the job is for the same statement. */
static bool is_same(const cuzk_job *job, const cuzk_claim *claim, const decoded *found)
{
    return job->kind == claim->kind && memcmp(job->digest, found->info.digest, 32) == 0;
}

/* The job of this id and digest, or NULL and the id that a new one gets. id: CUZK_JOB_ID_MAX. */
static cuzk_job *find_same(char *id, const cuzk_engine *engine, const cuzk_claim *claim,
                           const decoded *found)
{
    snprintf(id, CUZK_JOB_ID_MAX, "%s", claim->request_id);
    cuzk_job *first = cuzk_job_find(engine, id);
    if (first != NULL && is_same(first, claim, found)) {
        return first;
    }
    char other[CUZK_JOB_ID_MAX];
    size_t n = (size_t)snprintf(other, sizeof other, "%s~", claim->request_id);
    for (int i = 0; i < 32; i++) {
        n += (size_t)snprintf(other + n, sizeof other - n, "%02x", found->info.digest[i]);
        if (2 * (i + 1) < DIGEST_DIGITS) {
            continue;
        }
        cuzk_job *job = cuzk_job_find(engine, other);
        if (job != NULL && is_same(job, claim, found)) {
            return job;
        }
        if (job == NULL) {
            break;
        }
    }
    if (first != NULL) {
        memcpy(id, other, sizeof other);
    }
    return NULL;
}

/* Have the job of an id in memory, if the journal has it. Gives the lock away meanwhile. */
static void recall_id(cuzk_engine *engine, const char *id)
{
    if (cuzk_job_find(engine, id) == NULL && cuzk_records_may_have(engine, id)) {
        cuzk_records_find_now(engine, id);
    }
}

/* The two ids under which the journal may have the same statement. */
static void recall(cuzk_engine *engine, const cuzk_claim *claim, const decoded *found)
{
    recall_id(engine, claim->request_id);
    char other[CUZK_JOB_ID_MAX];
    size_t n = (size_t)snprintf(other, sizeof other, "%s~", claim->request_id);
    for (int i = 0; i < DIGEST_DIGITS / 2; i++) {
        n += (size_t)snprintf(other + n, sizeof other - n, "%02x", found->info.digest[i]);
    }
    recall_id(engine, other);
}

/* Errors: what makes it impossible that the job is ever done here. */
static cuzk_status check_fits(const cuzk_engine *engine, const cuzk_task_info *info,
                              cuzk_error *err)
{
    CUZK_TRY(cuzk_slots_check_room(engine, info->circuit, info->resident_bytes,
                                   info->witness_bytes + info->host_bytes, err));
    uint64_t device_bytes = info->device_bytes + info->resident_device_bytes;
    uint64_t most = 0;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        if (device->memory.cap == 0 || device->memory.cap >= device_bytes) {
            return CUZK_OK;
        }
        most = device->memory.cap > most ? device->memory.cap : most;
    }
    return CUZK_FAIL(err, CUZK_E_MEMORY,
                     "circuit %s needs %" PRIu64
                     " bytes of a device's memory and can never have them: the largest device has "
                     "%" PRIu64,
                     info->circuit, device_bytes, most);
}

static cuzk_status check_info(const cuzk_claim *claim, const cuzk_task_info *info, cuzk_error *err)
{
    CUZK_FAIL_IF(info->n_units == 0 || info->n_units > CUZK_UNITS_MAX, err, CUZK_E_INTERNAL,
                 "a job of %u partitions; 1 to %d are possible", info->n_units, CUZK_UNITS_MAX);
    uint64_t most = cuzk_budget_decode_bytes(claim->bytes);
    CUZK_FAIL_IF(info->task_bytes > most, err, CUZK_E_INTERNAL,
                 "a payload of %" PRIu64 " bytes takes %" PRIu64 " bytes decoded; at most %" PRIu64
                 " were reserved",
                 claim->bytes, info->task_bytes, most);
    return CUZK_OK;
}

/* What the devices say, if none is left. */
static cuzk_status check_devices(const cuzk_engine *engine, cuzk_error *err)
{
    if (engine->n_devices > 0) {
        return CUZK_OK;
    }
    char list[768] = "";
    size_t n = 0;
    for (unsigned d = 0; d < engine->options.n_devices && n < sizeof list; d++) {
        const cuzk_device *device = &engine->devices[d];
        n += (size_t)snprintf(list + n, sizeof list - n, "%s %s is %s (%s)", d > 0 ? "," : "",
                              device->id, cuzk_device_state_name(device->state), device->reason);
    }
    return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "no device is left to prove on:%s", list);
}

/* Give a job its task; the reservation of decoding becomes the task's. */
static void give_task(cuzk_engine *engine, cuzk_job *job, const cuzk_claim *claim,
                      const decoded *found)
{
    const cuzk_task_info *info = &found->info;
    uint64_t decode_bytes = cuzk_budget_decode_bytes(claim->bytes);
    uint64_t task_bytes = info->task_bytes + cuzk_job_record_bytes(job);
    job->task_reserved = task_bytes < decode_bytes ? task_bytes : decode_bytes;
    cuzk_budget_shrink(&engine->budget, CUZK_SHARE_TASK, decode_bytes - job->task_reserved);
    job->task = found->task;
    job->unit_bytes = info->witness_bytes + info->host_bytes;
    job->device_bytes = info->device_bytes;
    job->resident_device_bytes = info->resident_device_bytes;
    job->is_unchecked = info->is_unchecked;
}

static cuzk_slot *get_slot(cuzk_engine *engine, const cuzk_job *job, const cuzk_task_info *info)
{
    cuzk_slot *slot =
        cuzk_slot_get(engine, job->work, job->kind, info->circuit, info->resident_bytes);
    if (slot != NULL) {
        slot->n_jobs++;
        if (slot->device_bytes == 0) {
            slot->device_bytes = info->resident_device_bytes;
        }
    }
    return slot;
}

/* A waiter comes to a job that there is already. */
static void join(cuzk_engine *engine, cuzk_claim *claim, cuzk_job *job)
{
    cuzk_waiter *waiter = claim->waiter;
    waiter->was_known = true;
    cuzk_waiter_attach(engine, waiter, job);
    if (job->is_accepted) {
        cuzk_waiters_accepted(engine, job);
        if (job->is_closed) {
            cuzk_waiters_ended(engine, job);
        }
    }
}

/* A new job enters the table and begins; its payload goes to the journal. */
static void enter(cuzk_engine *engine, cuzk_claim *claim, cuzk_job *job)
{
    job->submitted_ns = claim->since_ns;
    job->trace = claim->trace;
    job->entered_ns = cuzk_now_ns();
    job->payload = claim->payload;
    job->has_payload = true;
    job->payload_bytes = (size_t)claim->bytes;
    job->payload_share = claim->share;
    claim->payload = NULL;
    claim->has_payload = false;
    job->seq = engine->next_seq++;
    engine->n_submissions++; /* until it is accepted */
    cuzk_job_enter(engine, job);
    cuzk_waiter_attach(engine, claim->waiter, job);
    if (claim->waiter->has_left) {
        cuzk_job_abandoned(engine, job);
    }
    bool is_journal_well = !engine->journal_failed;
    cuzk_records_accept(engine, job);
    if (is_journal_well) {
        cuzk_job_begin(engine, job); /* while the journal writes: it answers before any end */
    }
}

/* Make the record of the new job that the claim asks for. Errors: E_MEMORY. */
static cuzk_status make_job(cuzk_job **out, cuzk_engine *engine, const cuzk_claim *claim,
                            const char *id, const decoded *found, cuzk_error *err)
{
    CUZK_TRY(cuzk_job_new(out, engine, id, claim->request_id, claim->kind, claim->priority,
                          found->info.n_units, err));
    memcpy((*out)->digest, found->info.digest, 32);
    return CUZK_OK;
}

/* Find or make the job. On success the task is the job's, or found->task is still ours when
 * another had the job. Errors: then nothing was changed. */
static cuzk_status resolve(cuzk_engine *engine, cuzk_claim *claim, decoded *found, cuzk_error *err)
{
    CUZK_FAIL_IF(engine->is_draining, err, CUZK_E_UNAVAILABLE, "%s", CUZK_ENGINE_ENDS);
    CUZK_TRY(check_info(claim, &found->info, err));
    char id[CUZK_JOB_ID_MAX];
    recall(engine, claim, found);
    CUZK_FAIL_IF(engine->is_draining, err, CUZK_E_UNAVAILABLE, "%s", CUZK_ENGINE_ENDS);
    cuzk_job *job = find_same(id, engine, claim, found);
    bool is_over = job != NULL && (job->has_end && job->end_state != CUZK_JOB_COMPLETED);
    if (job != NULL && !is_over) {
        join(engine, claim, job);
        return CUZK_OK;
    }
    CUZK_TRY(check_fits(engine, &found->info, err));
    CUZK_TRY(check_devices(engine, err));
    if (is_over) {
        snprintf(id, sizeof id, "%s", job->id); /* a new attempt takes its place */
    }
    cuzk_job *made = NULL;
    CUZK_TRY(make_job(&made, engine, claim, id, found, err));
    made->slot = get_slot(engine, made, &found->info);
    if (made->slot == NULL) {
        cuzk_job_unref(engine, made);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "submitting job \"%s\": no memory", id);
    }
    if (is_over) {
        cuzk_records_drop(engine, job);
        cuzk_job_forget(engine, job);
    }
    give_task(engine, made, claim, found);
    found->task = NULL;
    enter(engine, claim, made);
    cuzk_job_unref(engine, made);
    return CUZK_OK;
}

/* A job that the journal gave back gets its task. is_short: there was no memory for it now. */
static cuzk_status resume(bool *is_short, cuzk_engine *engine, cuzk_claim *claim, decoded *found,
                          cuzk_error *err)
{
    cuzk_job *job = claim->recovered;
    CUZK_TRY(check_info(claim, &found->info, err));
    CUZK_TRY(check_fits(engine, &found->info, err));
    CUZK_FAIL_IF(found->info.n_units != job->n_units, err, CUZK_E_MISMATCH,
                 "its payload has %u partitions, the journal %u", found->info.n_units,
                 job->n_units);
    if (job->is_closed || atomic_load_explicit(&job->is_stopped, memory_order_relaxed)) {
        return CUZK_OK;
    }
    job->slot = get_slot(engine, job, &found->info);
    *is_short = job->slot == NULL;
    CUZK_FAIL_IF(*is_short, err, CUZK_E_MEMORY, "no memory for its circuit's record");
    give_task(engine, job, claim, found);
    found->task = NULL;
    cuzk_job_begin(engine, job);
    return CUZK_OK;
}

static cuzk_status decode(cuzk_engine *engine, const cuzk_claim *claim, decoded *found,
                          cuzk_error *err)
{
    const cuzk_engine_kind *kind = &engine->options.kinds[claim->kind];
    cuzk_event event = {.id = CUZK_EVENT_DECODE,
                        .phase = CUZK_EVENT_BEGIN,
                        .ns = cuzk_now_ns(),
                        .job_id = claim->request_id,
                        .kind = claim->kind,
                        .priority = claim->priority,
                        .unit = -1,
                        .device = -1,
                        .worker = -1,
                        .value = claim->bytes};
    cuzk_observe(engine, &event);
    cuzk_thread_urgency(claim->priority, false);
    cuzk_status status = cuzk_fault_at(CUZK_FAULT_DECODE, -1, err);
    if (status == CUZK_OK) {
        status = kind->work->decode(kind->work->user, &found->task, &found->info, claim->payload,
                                    (size_t)claim->bytes, err);
    }
    event.phase = CUZK_EVENT_END;
    event.ns = cuzk_now_ns();
    event.status = status;
    cuzk_observe(engine, &event);
    return status;
}

void cuzk_intake_decode(cuzk_thread *thread, void *item)
{
    cuzk_engine *engine = thread->engine;
    cuzk_claim *claim = (cuzk_claim *)item;
    const cuzk_work *work = engine->options.kinds[claim->kind].work;
    pthread_mutex_unlock(&engine->lock);
    cuzk_hands_place(engine, -1, -1);
    cuzk_error err = {0};
    decoded found = {0};
    cuzk_status status = decode(engine, claim, &found, &err);

    pthread_mutex_lock(&engine->lock);
    bool is_short = status == CUZK_E_MEMORY;
    if (status == CUZK_OK && engine->is_stopping && claim->recovered != NULL) {
        status = CUZK_E_CANCELLED; /* it stays in the journal */
    } else if (status == CUZK_OK) {
        status = claim->recovered != NULL ? resume(&is_short, engine, claim, &found, &err)
                                          : resolve(engine, claim, &found, &err);
    }
    bool is_ours = status != CUZK_OK || found.task != NULL;
    if (found.task != NULL) {
        cuzk_engine_step_out(engine);
        work->task_destroy(work->user, found.task);
        pthread_mutex_lock(&engine->lock);
    }
    if (is_ours) {
        cuzk_budget_give(&engine->budget, CUZK_SHARE_TASK, cuzk_budget_decode_bytes(claim->bytes),
                         true);
    }
    if (is_short && claim->recovered != NULL && !engine->is_stopping) {
        cuzk_intake_postpone(engine, claim);
        return;
    }
    if (status != CUZK_OK && !(engine->is_stopping && claim->recovered != NULL)) {
        cuzk_claim_refuse(engine, claim, status, err.text);
        return;
    }
    if (claim->recovered != NULL) {
        cuzk_job_leave(engine, claim->recovered);
    }
    cuzk_claim_end(engine, claim);
}
