/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Submissions: what is checked before anything waits. */
#include "engine/inner.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_status check_submission(const cuzk_engine *engine, const cuzk_submission *submission,
                                    cuzk_error *err)
{
    CUZK_FAIL_IF(
        submission->kind >= CUZK_KINDS_MAX || engine->options.kinds[submission->kind].work == NULL,
        err, CUZK_E_ARGUMENT, "submitting a job: there is no kind of proof %u", submission->kind);
    size_t n = submission->request_id != NULL ? strlen(submission->request_id) : 0;
    CUZK_FAIL_IF(n > CUZK_REQUEST_ID_MAX, err, CUZK_E_ARGUMENT,
                 "submitting a job: a request id of %zu bytes, at most %d are taken", n,
                 CUZK_REQUEST_ID_MAX);
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
    char made[CUZK_UUID_BYTES] = "";
    const char *request_id = submission->request_id;
    if (request_id == NULL || request_id[0] == '\0') {
        CUZK_TRY(cuzk_random_uuid(made, err));
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
    claim->trace = submission->trace;
    *out = claim;
    return CUZK_OK;
}

/* Refused before it could wait for anything. */
static void refuse_at_once(cuzk_engine *engine, const cuzk_submission *submission,
                           cuzk_status status, const char *error)
{
    cuzk_submitted answer = {.status = status, .error = error};
    submission->on_submitted(submission->user, &answer);
    if (submission->payload != NULL) {
        cuzk_wipe(submission->payload, submission->payload_bytes);
    }
    free(submission->payload);
    if (submission->reserved_bytes > 0) {
        cuzk_engine_release(engine, submission->reserved_bytes);
    }
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
        cuzk_claim_free(engine, claim);
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
    cuzk_intake_admit(engine, claim, submission->reserved_bytes);
    cuzk_engine_unlock(engine);
}
