/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From a payload to a job: memory for the payload, memory for decoding, a decoder, the table of
 * jobs. Nothing is refused for being one too many: claims wait in the order of their priority. */
#include "engine/state.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGEST_DIGITS = 12,                           /* of the digest in "ID~DIGEST" */
    REQUEST_ID_MAX = CUZK_JOB_ID_MAX - 1 - 1 - 64 /* leaves room for "~" and a whole digest */
};

static const char ENDS[] = "no new work is taken: the server ends";

/* ---- claims ---------------------------------------------------------------------------------- */

static void free_claim(cuzk_engine *engine, cuzk_claim *claim)
{
    if (claim->waiter != NULL) {
        cuzk_waiter_unref(engine, claim->waiter);
    }
    if (claim->recovered != NULL) {
        cuzk_job_unref(engine, claim->recovered);
    }
    free(claim->request_id);
    free(claim->payload);
    free(claim->error);
    free(claim);
}

static void give_payload(cuzk_engine *engine, cuzk_claim *claim)
{
    if (claim->has_payload) {
        cuzk_budget_give(&engine->budget, claim->share, claim->bytes, true);
        claim->has_payload = false;
    }
}

/* The end of a submission that gave no job of its own. */
static void end_submission(cuzk_engine *engine, cuzk_claim *claim)
{
    give_payload(engine, claim);
    engine->n_submissions -= claim->recovered == NULL;
    free_claim(engine, claim);
}

static void refuse(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status, const char *error)
{
    if (claim->recovered != NULL) {
        cuzk_job_end(engine, claim->recovered, CUZK_JOB_FAILED, status,
                     cuzk_engine_text("after a restart: %s", error));
        cuzk_job_leave(engine, claim->recovered);
    } else {
        cuzk_waiter_refuse(engine, claim->waiter, status, error);
    }
    end_submission(engine, claim);
}

static void tell_reserved(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status,
                          const char *error)
{
    claim->status = status;
    claim->error = status != CUZK_OK ? cuzk_engine_text("%s", error) : NULL;
    cuzk_clerk_tell(engine, &claim->notice, CUZK_NOTICE_RESERVED);
}

void cuzk_intake_call_reserved(cuzk_engine *engine, cuzk_claim *claim)
{
    pthread_mutex_unlock(&engine->lock);
    claim->on_reserved(claim->user, claim->status,
                       claim->status == CUZK_OK ? ""
                       : claim->error != NULL   ? claim->error
                                                : "not enough memory");
    pthread_mutex_lock(&engine->lock);
    free_claim(engine, claim);
}

/* Why a payload of so many bytes can never be held; NULL when it can. */
static char *never_fits(const cuzk_engine *engine, uint64_t bytes)
{
    uint64_t max = cuzk_budget_payload_max(&engine->budget);
    if (bytes <= max) {
        return NULL;
    }
    return cuzk_engine_text("a payload of %" PRIu64 " bytes can never be taken in: at most %" PRIu64
                            " bytes can, of a memory budget of %" PRIu64 " bytes",
                            bytes, max, engine->budget.total);
}

static void queue_for_payload(cuzk_engine *engine, cuzk_claim *claim)
{
    claim->share = cuzk_budget_payload_share(&engine->budget, claim->bytes);
    cuzk_order_push(&engine->payload_claims[claim->share], &claim->order);
}

void cuzk_engine_reserve(cuzk_engine *engine, uint64_t bytes,
                         void (*on_reserved)(void *user, cuzk_status status, const char *error),
                         void *user)
{
    cuzk_claim *claim = calloc(1, sizeof *claim);
    if (claim == NULL) {
        on_reserved(user, CUZK_E_MEMORY, "reserving memory for a payload: no memory");
        return;
    }
    claim->bytes = bytes;
    claim->on_reserved = on_reserved;
    claim->user = user;
    claim->order.priority = CUZK_PRIORITY_NORMAL;
    cuzk_engine_lock(engine);
    claim->order.seq = engine->next_arrival++;
    char *never = never_fits(engine, bytes);
    if (engine->is_draining || never != NULL) {
        tell_reserved(engine, claim, engine->is_draining ? CUZK_E_UNAVAILABLE : CUZK_E_MEMORY,
                      engine->is_draining ? ENDS : never);
    } else {
        queue_for_payload(engine, claim);
    }
    free(never);
    cuzk_engine_unlock(engine);
}

void cuzk_engine_release(cuzk_engine *engine, uint64_t bytes)
{
    cuzk_engine_lock(engine);
    cuzk_budget_give(&engine->budget, cuzk_budget_payload_share(&engine->budget, bytes), bytes,
                     true);
    cuzk_engine_unlock(engine);
}

uint64_t cuzk_engine_payload_max(const cuzk_engine *engine)
{
    return cuzk_budget_payload_max(&engine->budget);
}

static void serve_payloads(cuzk_engine *engine, cuzk_share_id id)
{
    cuzk_order *queue = &engine->payload_claims[id];
    const cuzk_share *share = &engine->budget.shares[id];
    for (cuzk_order_node *node = cuzk_order_first(queue); node != NULL;
         node = cuzk_order_first(queue)) {
        cuzk_claim *claim = CUZK_OF(node, cuzk_claim, order);
        if (cuzk_share_free(share, true) < claim->bytes) {
            return;
        }
        cuzk_order_pop(queue);
        cuzk_budget_take(&engine->budget, id, claim->bytes, true);
        claim->has_payload = claim->on_reserved == NULL;
        if (claim->on_reserved != NULL) {
            tell_reserved(engine, claim, CUZK_OK, "");
        } else if (claim->recovered != NULL) {
            cuzk_records_load(engine, claim);
        } else {
            cuzk_order_push(&engine->decode_claims, node);
        }
    }
}

void cuzk_intake_serve(cuzk_engine *engine)
{
    serve_payloads(engine, CUZK_SHARE_SMALL);
    serve_payloads(engine, CUZK_SHARE_PAYLOAD);
    const cuzk_share *share = &engine->budget.shares[CUZK_SHARE_TASK];
    while (cuzk_stage_is_idle(&engine->decoders) && engine->decode_claims.n > 0) {
        cuzk_order_node *node = cuzk_order_first(&engine->decode_claims);
        cuzk_claim *claim = CUZK_OF(node, cuzk_claim, order);
        uint64_t bytes = cuzk_budget_decode_bytes(claim->bytes);
        if (cuzk_share_free(share, claim->priority >= CUZK_PRIORITY_CRITICAL) < bytes) {
            return;
        }
        cuzk_order_pop(&engine->decode_claims);
        cuzk_budget_take(&engine->budget, CUZK_SHARE_TASK, bytes, true);
        cuzk_stage_give(&engine->decoders, claim);
    }
}

/* What came from the journal stays there when the engine stops. */
static void leave_in_journal(cuzk_engine *engine, cuzk_claim *claim)
{
    cuzk_job_leave(engine, claim->recovered);
    end_submission(engine, claim);
}

void cuzk_intake_loaded(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status,
                        const char *error, void *payload, size_t n_bytes)
{
    claim->payload = payload;
    if (engine->is_stopping) {
        leave_in_journal(engine, claim);
    } else if (status != CUZK_OK) {
        refuse(engine, claim, status, error);
    } else if (n_bytes != claim->bytes) {
        refuse(engine, claim, CUZK_E_FORMAT, "its payload in the journal has another length");
    } else {
        cuzk_order_push(&engine->decode_claims, &claim->order);
    }
}

static void refuse_all(cuzk_engine *engine, cuzk_order *queue)
{
    for (cuzk_order_node *node = cuzk_order_pop(queue); node != NULL;
         node = cuzk_order_pop(queue)) {
        cuzk_claim *claim = CUZK_OF(node, cuzk_claim, order);
        if (claim->on_reserved != NULL) {
            tell_reserved(engine, claim, CUZK_E_UNAVAILABLE, ENDS);
        } else if (claim->recovered == NULL) {
            refuse(engine, claim, CUZK_E_UNAVAILABLE, ENDS);
        } else if (engine->is_stopping) {
            leave_in_journal(engine, claim);
        } else {
            cuzk_order_push(&engine->kept_claims, node);
        }
    }
    /* what came from the journal is accepted work: it goes on */
    cuzk_order kept = engine->kept_claims;
    engine->kept_claims = *queue;
    *queue = kept;
}

void cuzk_intake_refuse(cuzk_engine *engine)
{
    refuse_all(engine, &engine->payload_claims[CUZK_SHARE_SMALL]);
    refuse_all(engine, &engine->payload_claims[CUZK_SHARE_PAYLOAD]);
    refuse_all(engine, &engine->decode_claims);
}

/* ---- submissions ----------------------------------------------------------------------------- */

/* A random id in the form of RFC 4122, version 4. */
static cuzk_status make_id(char id[37], cuzk_error *err)
{
    uint8_t b[16];
    CUZK_TRY(cuzk_random_bytes(b, sizeof b, err));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    char *at = id;
    for (int i = 0; i < 16; i++) {
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    }
    return CUZK_OK;
}

static cuzk_status check_submission(const cuzk_engine *engine, const cuzk_submission *submission,
                                    cuzk_error *err)
{
    CUZK_FAIL_IF(
        submission->kind >= CUZK_KINDS_MAX || engine->options.kinds[submission->kind].work == NULL,
        err, CUZK_E_ARGUMENT, "submitting a job: there is no kind of proof %u", submission->kind);
    size_t n = submission->request_id != NULL ? strlen(submission->request_id) : 0;
    CUZK_FAIL_IF(n > REQUEST_ID_MAX, err, CUZK_E_ARGUMENT,
                 "submitting a job: a request id of %zu bytes; at most %d are allowed", n,
                 REQUEST_ID_MAX);
    CUZK_FAIL_IF(submission->priority > CUZK_PRIORITY_CRITICAL, err, CUZK_E_ARGUMENT,
                 "submitting a job: priority %u; 1 (LOW) to 4 (CRITICAL) are known",
                 submission->priority);
    CUZK_FAIL_IF(submission->reserved_bytes != 0 &&
                     submission->reserved_bytes < submission->payload_bytes,
                 err, CUZK_E_ARGUMENT,
                 "submitting a job: a payload of %zu bytes in a reservation of %" PRIu64,
                 submission->payload_bytes, submission->reserved_bytes);
    return CUZK_OK;
}

static cuzk_status make_claim(cuzk_claim **out, const cuzk_engine *engine,
                              const cuzk_submission *submission, cuzk_error *err)
{
    char made[37] = "";
    const char *request_id = submission->request_id;
    if (request_id == NULL || request_id[0] == '\0') {
        CUZK_TRY(make_id(made, err));
        request_id = made;
    }
    cuzk_claim *claim = calloc(1, sizeof *claim);
    CUZK_FAIL_IF(claim == NULL, err, CUZK_E_MEMORY, "submitting job \"%s\": no memory", request_id);
    claim->request_id = strdup(request_id);
    if (claim->request_id == NULL) {
        free(claim);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "submitting a job: no memory");
    }
    claim->kind = submission->kind;
    claim->priority = submission->priority != 0
                          ? submission->priority
                          : (unsigned)engine->options.kinds[submission->kind].priority;
    claim->bytes = submission->payload_bytes;
    claim->payload = submission->payload;
    claim->order.priority = claim->priority;
    claim->since_ns = cuzk_now_ns();
    *out = claim;
    return CUZK_OK;
}

/* Refused before it could wait for anything. */
static void refuse_at_once(cuzk_engine *engine, const cuzk_submission *submission,
                           cuzk_status status, const char *error)
{
    cuzk_submitted answer = {.status = status, .error = error};
    submission->on_submitted(submission->user, &answer);
    free(submission->payload);
    if (submission->reserved_bytes > 0) {
        cuzk_engine_release(engine, submission->reserved_bytes);
    }
}

/* Start the way of a claim: its payload's memory is there or is waited for. */
static void admit(cuzk_engine *engine, cuzk_claim *claim, uint64_t reserved_bytes)
{
    claim->order.seq = engine->next_arrival++;
    if (reserved_bytes > 0) {
        claim->share = cuzk_budget_payload_share(&engine->budget, reserved_bytes);
        claim->has_payload = true;
        cuzk_budget_shrink(&engine->budget, claim->share, reserved_bytes - claim->bytes);
    }
    char *never = never_fits(engine, claim->bytes);
    if (engine->is_draining || never != NULL) {
        refuse(engine, claim, never == NULL ? CUZK_E_UNAVAILABLE : CUZK_E_MEMORY,
               never == NULL ? ENDS : never);
    } else if (claim->has_payload) {
        cuzk_order_push(&engine->decode_claims, &claim->order);
    } else {
        queue_for_payload(engine, claim);
    }
    free(never);
}

void cuzk_engine_submit(cuzk_engine *engine, const cuzk_submission *submission, uint64_t *waiter_id)
{
    cuzk_error err = {0};
    cuzk_claim *claim = NULL;
    if (waiter_id != NULL) {
        *waiter_id = 0;
    }
    cuzk_status status = check_submission(engine, submission, &err);
    if (status == CUZK_OK) {
        status = make_claim(&claim, engine, submission, &err);
    }
    if (status != CUZK_OK) {
        refuse_at_once(engine, submission, status, err.text);
        return;
    }
    cuzk_engine_lock(engine);
    cuzk_waiter *waiter = cuzk_waiter_new(engine);
    if (waiter == NULL) {
        claim->payload = NULL;
        free_claim(engine, claim);
        cuzk_engine_unlock(engine);
        refuse_at_once(engine, submission, CUZK_E_MEMORY, "submitting a job: no memory");
        return;
    }
    waiter->awaits_accept = true;
    waiter->on_submitted = submission->on_submitted;
    waiter->on_result = submission->on_result;
    waiter->user = submission->user;
    claim->waiter = waiter;
    if (waiter_id != NULL) {
        *waiter_id = waiter->by_id.hash;
    }
    engine->n_submissions++;
    admit(engine, claim, submission->reserved_bytes);
    cuzk_engine_unlock(engine);
}

void cuzk_intake_recover(cuzk_engine *engine, cuzk_claim *claim)
{
    admit(engine, claim, 0);
}

/* ---- after decoding -------------------------------------------------------------------------- */

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

/* Errors: what makes it impossible that the job is ever done here. */
static cuzk_status check_fits(const cuzk_engine *engine, const cuzk_task_info *info,
                              cuzk_error *err)
{
    uint64_t bytes = info->resident_bytes + info->witness_bytes + info->host_bytes;
    uint64_t cap = engine->budget.shares[CUZK_SHARE_WORK].cap;
    CUZK_FAIL_IF(bytes > cap, err, CUZK_E_MEMORY,
                 "circuit %s needs %" PRIu64 " bytes of memory (%" PRIu64 " for its key, %" PRIu64
                 " for a partition) and can never have them: proving may take %" PRIu64
                 " of the budget of %" PRIu64 " bytes",
                 info->circuit, bytes, info->resident_bytes, bytes - info->resident_bytes, cap,
                 engine->budget.total);
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
    const cuzk_device *device = &engine->devices[0];
    CUZK_FAIL_IF(engine->n_devices == 0, err, CUZK_E_UNAVAILABLE,
                 "no device is left to prove on: %s is out: %s", device->id, device->reason);
    return CUZK_OK;
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
    job->payload = claim->payload;
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
    CUZK_FAIL_IF(engine->is_draining, err, CUZK_E_UNAVAILABLE, "%s", ENDS);
    CUZK_TRY(check_info(claim, &found->info, err));
    char id[CUZK_JOB_ID_MAX];
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
        cuzk_job_forget(engine, job);
    }
    give_task(engine, made, claim, found);
    found->task = NULL;
    enter(engine, claim, made);
    cuzk_job_unref(engine, made);
    return CUZK_OK;
}

/* A job that the journal gave back gets its task. */
static cuzk_status resume(cuzk_engine *engine, cuzk_claim *claim, decoded *found, cuzk_error *err)
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
    CUZK_FAIL_IF(job->slot == NULL, err, CUZK_E_MEMORY, "no memory for its circuit's record");
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
    cuzk_error err = {0};
    decoded found = {0};
    cuzk_status status = decode(engine, claim, &found, &err);

    pthread_mutex_lock(&engine->lock);
    if (status == CUZK_OK && engine->is_stopping && claim->recovered != NULL) {
        status = CUZK_E_CANCELLED; /* it stays in the journal */
    } else if (status == CUZK_OK) {
        status = claim->recovered != NULL ? resume(engine, claim, &found, &err)
                                          : resolve(engine, claim, &found, &err);
    }
    bool is_ours = status != CUZK_OK || found.task != NULL;
    if (found.task != NULL) {
        pthread_mutex_unlock(&engine->lock);
        work->task_destroy(work->user, found.task);
        pthread_mutex_lock(&engine->lock);
    }
    if (is_ours) {
        cuzk_budget_give(&engine->budget, CUZK_SHARE_TASK, cuzk_budget_decode_bytes(claim->bytes),
                         true);
    }
    if (status != CUZK_OK && !(engine->is_stopping && claim->recovered != NULL)) {
        refuse(engine, claim, status, err.text);
        return;
    }
    if (claim->recovered != NULL) {
        cuzk_job_leave(engine, claim->recovered);
    }
    end_submission(engine, claim);
}
