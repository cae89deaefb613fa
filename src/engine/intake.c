/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory for payloads: reservations, and the way of a payload to a decoder. Nothing is refused for
 * being one too many: claims wait in the order of their priority. */
#include "engine/inner.h"

#include "base/bytes.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- claims ---------------------------------------------------------------------------------- */

/* Wipe and free a payload; nothing in NULL. */
static void free_payload(cuzk_claim *claim)
{
    if (claim->payload != NULL) {
        cuzk_wipe(claim->payload, (size_t)claim->bytes);
        free(claim->payload);
        claim->payload = NULL;
    }
}

void cuzk_claim_free(cuzk_engine *engine, cuzk_claim *claim)
{
    if (claim->waiter != NULL) {
        cuzk_waiter_unref(engine, claim->waiter);
    }
    if (claim->recovered != NULL) {
        cuzk_job_unref(engine, claim->recovered);
    }
    free_payload(claim);
    free(claim->request_id);
    free(claim->error);
    free(claim);
}

static void give_and_free(cuzk_engine *engine, cuzk_claim *claim)
{
    if (claim->has_payload) {
        cuzk_budget_give(&engine->budget, claim->share, claim->bytes, true);
    }
    cuzk_claim_free(engine, claim);
}

void cuzk_claim_wipe(cuzk_engine *engine, cuzk_claim *claim)
{
    pthread_mutex_unlock(&engine->lock);
    free_payload(claim);
    pthread_mutex_lock(&engine->lock);
    give_and_free(engine, claim);
}

void cuzk_claim_end(cuzk_engine *engine, cuzk_claim *claim)
{
    engine->n_submissions -= claim->recovered == NULL;
    if (claim->payload != NULL && claim->bytes > CUZK_WIPE_NOW_BYTES) {
        cuzk_clerk_tell(engine, &claim->notice, CUZK_NOTICE_CLAIM);
    } else {
        give_and_free(engine, claim);
    }
}

void cuzk_claim_refuse(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status,
                       const char *error)
{
    if (claim->recovered != NULL) {
        cuzk_job_end(engine, claim->recovered, CUZK_JOB_FAILED, status,
                     cuzk_engine_text("after a restart: %s", error));
        cuzk_job_leave(engine, claim->recovered);
    } else {
        cuzk_waiter_refuse(engine, claim->waiter, status, error);
    }
    cuzk_claim_end(engine, claim);
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
    cuzk_claim_free(engine, claim);
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
                      engine->is_draining ? CUZK_ENGINE_ENDS : never);
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
    cuzk_claim_end(engine, claim);
}

void cuzk_intake_loaded(cuzk_engine *engine, cuzk_claim *claim, cuzk_status status,
                        const char *error, void *payload, size_t n_bytes)
{
    claim->payload = payload;
    if (engine->is_stopping) {
        leave_in_journal(engine, claim);
    } else if (status == CUZK_E_MEMORY) {
        cuzk_intake_postpone(engine, claim);
    } else if (status != CUZK_OK) {
        cuzk_claim_refuse(engine, claim, status, error);
    } else if (n_bytes != claim->bytes) {
        cuzk_claim_refuse(engine, claim, CUZK_E_FORMAT,
                          "its payload in the journal has another length");
    } else {
        cuzk_order_push(&engine->decode_claims, &claim->order);
    }
}

void cuzk_intake_postpone(cuzk_engine *engine, cuzk_claim *claim)
{
    static const uint64_t AGAIN_NS = UINT64_C(500000000);
    cuzk_order_push(&engine->postponed, &claim->order);
    cuzk_timer_engine(engine, cuzk_now_ns() + AGAIN_NS);
}

void cuzk_intake_again(cuzk_engine *engine)
{
    cuzk_order again = engine->postponed;
    engine->postponed = (cuzk_order){0};
    for (cuzk_order_node *node = cuzk_order_pop(&again); node != NULL;
         node = cuzk_order_pop(&again)) {
        cuzk_claim *claim = CUZK_OF(node, cuzk_claim, order);
        if (claim->payload == NULL) {
            cuzk_records_load(engine, claim);
        } else {
            cuzk_order_push(&engine->decode_claims, node);
        }
    }
}

static void refuse_all(cuzk_engine *engine, cuzk_order *queue)
{
    for (cuzk_order_node *node = cuzk_order_pop(queue); node != NULL;
         node = cuzk_order_pop(queue)) {
        cuzk_claim *claim = CUZK_OF(node, cuzk_claim, order);
        if (claim->on_reserved != NULL) {
            tell_reserved(engine, claim, CUZK_E_UNAVAILABLE, CUZK_ENGINE_ENDS);
        } else if (claim->recovered == NULL) {
            cuzk_claim_refuse(engine, claim, CUZK_E_UNAVAILABLE, CUZK_ENGINE_ENDS);
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
    refuse_all(engine, &engine->postponed);
}

void cuzk_intake_admit(cuzk_engine *engine, cuzk_claim *claim, uint64_t reserved_bytes)
{
    claim->order.seq = engine->next_arrival++;
    if (reserved_bytes > 0) {
        claim->share = cuzk_budget_payload_share(&engine->budget, reserved_bytes);
        claim->has_payload = true;
        cuzk_budget_shrink(&engine->budget, claim->share, reserved_bytes - claim->bytes);
    }
    char *never = never_fits(engine, claim->bytes);
    if (engine->is_draining || never != NULL) {
        cuzk_claim_refuse(engine, claim, never == NULL ? CUZK_E_UNAVAILABLE : CUZK_E_MEMORY,
                          never == NULL ? CUZK_ENGINE_ENDS : never);
    } else if (claim->has_payload) {
        cuzk_order_push(&engine->decode_claims, &claim->order);
    } else {
        queue_for_payload(engine, claim);
    }
    free(never);
}
