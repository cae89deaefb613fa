/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What stands between a call and the engine (rpc_wait.h). */
#include "server/rpc_wait.h"

#include <stdlib.h>

/* Guarded by the gate's lock, for it outlives the server as the gate does. */
struct cuzk_wait {
    cuzk_gate *gate;
    cuzk_engine *engine;
    cuzk_call *call; /* NULL: gone. Otherwise a reference, and call->wait points back */
    uint64_t charge; /* of the gate's memory */
    unsigned refs;   /* the maker, on_submitted that will come, on_result that will come */
    bool result_due; /* on_result will come */
    bool has_waiter; /* waiter is known */
    bool is_left;    /* the call went away */
    uint64_t waiter;
};

static void lock_wait(cuzk_wait *wait)
{
    pthread_mutex_lock(cuzk_gate_lock(wait->gate));
}

/* Unlock, drop n references, free with the last. */
static void unlock_drop(cuzk_wait *wait, unsigned n)
{
    cuzk_gate *gate = wait->gate;
    wait->refs -= n;
    bool last = wait->refs == 0;
    pthread_mutex_unlock(cuzk_gate_lock(gate));
    if (last) {
        free(wait);
        cuzk_gate_unref(gate);
    }
}

/* Part call and wait. Returned: the call, whose reference is the caller's now; NULL: was gone. */
static cuzk_call *part(cuzk_wait *wait)
{
    cuzk_call *call = wait->call;
    if (call != NULL) {
        wait->call = NULL;
        call->wait = NULL;
    }
    return call;
}

/* Tell the engine that nobody waits, if somebody did. A reference is the caller's. */
static void leave(cuzk_wait *wait)
{
    lock_wait(wait);
    bool ask = wait->has_waiter && wait->result_due;
    uint64_t waiter = wait->waiter;
    unlock_drop(wait, 0);
    if (ask && cuzk_engine_leave(wait->engine, waiter)) {
        lock_wait(wait);
        bool was_due = wait->result_due;
        wait->result_due = false;
        unlock_drop(wait, was_due ? 1 : 0);
    }
}

static void on_submitted(void *user, const cuzk_submitted *answer)
{
    cuzk_wait *wait = user;
    lock_wait(wait);
    uint64_t charge = wait->charge;
    wait->charge = 0;
    bool refused = answer->status != CUZK_OK;
    bool ends = refused || !wait->result_due;
    cuzk_call *call = ends ? part(wait) : NULL;
    cuzk_gate *gate = wait->gate;
    unsigned drop = 1 + (refused && wait->result_due ? 1 : 0);
    if (refused) {
        wait->result_due = false;
    }
    /* the wait may be gone with the last reference, the gate not before the charge is returned */
    wait->refs++;
    unlock_drop(wait, drop);
    cuzk_gate_return(gate, charge);
    if (call != NULL) {
        if (refused) {
            cuzk_call_fail_status(call, answer->status, answer->error);
        } else {
            cuzk_prove_submitted(call, answer);
        }
        cuzk_call_unref(call);
    }
    lock_wait(wait);
    unlock_drop(wait, 1);
}

static void on_result(void *user, const cuzk_job_result *result)
{
    cuzk_wait *wait = user;
    lock_wait(wait);
    wait->result_due = false;
    cuzk_call *call = part(wait);
    unlock_drop(wait, 1);
    if (call != NULL) {
        cuzk_prove_result(call, result);
        cuzk_call_unref(call);
    }
}

static cuzk_wait *make(cuzk_call *call, uint64_t charge, unsigned refs, bool result_due)
{
    cuzk_wait *wait = calloc(1, sizeof *wait);
    if (wait == NULL) {
        return NULL;
    }
    wait->gate = call->rpc->gate;
    cuzk_gate_ref(wait->gate);
    wait->engine = call->rpc->options.engine;
    wait->charge = charge;
    wait->refs = refs;
    wait->result_due = result_due;
    cuzk_call_ref(call);
    lock_wait(wait);
    wait->call = call;
    call->wait = wait;
    unlock_drop(wait, 0);
    return wait;
}

/* Whether the call closed before its wait could be found. */
static bool is_over(cuzk_call *call)
{
    pthread_mutex_lock(&call->lock);
    bool over = call->is_over;
    pthread_mutex_unlock(&call->lock);
    return over;
}

/* The waiter is known now: note it, and leave where the call went away meanwhile. Drops the maker's
 * reference. */
static void settle(cuzk_wait *wait, cuzk_call *call, uint64_t waiter)
{
    lock_wait(wait);
    wait->waiter = waiter;
    wait->has_waiter = true;
    bool left = wait->is_left;
    unlock_drop(wait, 0);
    if (left) {
        leave(wait);
    } else if (is_over(call)) {
        cuzk_wait_abandon(call, true);
    }
    lock_wait(wait);
    unlock_drop(wait, 1);
}

void cuzk_wait_submit(cuzk_call *call, cuzk_submission *submission, uint64_t charge,
                      bool wants_result)
{
    cuzk_wait *wait = make(call, charge, wants_result ? 3 : 2, wants_result);
    if (wait == NULL) {
        free(submission->payload);
        cuzk_gate_return(call->rpc->gate, charge);
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    submission->on_submitted = on_submitted;
    submission->on_result = wants_result ? on_result : NULL;
    submission->user = wait;
    uint64_t waiter = 0;
    cuzk_engine_submit(wait->engine, submission, wants_result ? &waiter : NULL);
    settle(wait, call, waiter);
}

void cuzk_wait_await(cuzk_call *call, const char *job_id, uint64_t timeout_ns)
{
    cuzk_wait *wait = make(call, 0, 2, true);
    if (wait == NULL) {
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    cuzk_error err = {0};
    uint64_t waiter = 0;
    cuzk_status status =
        cuzk_engine_await(wait->engine, &waiter, job_id, timeout_ns, on_result, wait, &err);
    if (status == CUZK_OK) {
        settle(wait, call, waiter);
        return;
    }
    lock_wait(wait);
    wait->result_due = false;
    cuzk_call *parted = part(wait);
    unlock_drop(wait, 2);
    cuzk_call_fail_status(call, status, err.text);
    if (parted != NULL) {
        cuzk_call_unref(parted);
    }
}

void cuzk_wait_abandon(cuzk_call *call, bool may_ask)
{
    pthread_mutex_t *lock = cuzk_gate_lock(call->rpc->gate);
    pthread_mutex_lock(lock);
    cuzk_wait *wait = call->wait;
    if (wait == NULL) {
        pthread_mutex_unlock(lock);
        return;
    }
    part(wait);
    wait->is_left = true;
    wait->refs++;
    unlock_drop(wait, 0);
    if (may_ask) {
        leave(wait);
    }
    lock_wait(wait);
    unlock_drop(wait, 1);
    cuzk_call_unref(call);
}
