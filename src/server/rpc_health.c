/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The standard health service, grpc.health.v1.Health: Check answers, Watch goes on answering when
 * something changes. Source: the gRPC health checking protocol. */
#include "server/rpc_internal.h"
#include "server/rpc_wire.h"

#include <stdlib.h>
#include <string.h>

enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

static int state_of(cuzk_rpc *rpc, bool is_known)
{
    if (!is_known) {
        return SERVICE_UNKNOWN;
    }
    bool ready = !atomic_load_explicit(&rpc->is_stopping, memory_order_acquire) &&
                 rpc->options.is_ready(rpc->options.user);
    return ready ? SERVING : NOT_SERVING;
}

/* Whether the request names the server as a whole ("") or one of its services. False with the call
 * failed: it cannot be read. The message is freed. */
static bool read_service(cuzk_call *call, bool *is_known, char *name, size_t capacity,
                         uint8_t *message, size_t size)
{
    static const char *const services[] = {"", "cuzk.v1.ProvingEngine", "cuzk.v1.Circom",
                                           "cuzk.v1.Devices"};
    cuzk_wire wire = {message, message + size};
    cuzk_wire_field field;
    cuzk_wire_next next;
    cuzk_error err = {0};
    cuzk_status status = CUZK_OK;
    name[0] = '\0';
    while (status == CUZK_OK && (next = cuzk_wire_read(&wire, &field)) != CUZK_WIRE_END) {
        if (next == CUZK_WIRE_BROKEN) {
            status = CUZK_FAIL(&err, CUZK_E_FORMAT, "the request is not a protobuf message");
        } else if (field.number == 1) {
            status = cuzk_wire_text(name, capacity, &field, "service", &err);
        }
    }
    free(message);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
        return false;
    }
    *is_known = false;
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        *is_known |= strcmp(name, services[i]) == 0;
    }
    return true;
}

static void check(cuzk_call *call, uint8_t *message, size_t size)
{
    char name[256];
    bool is_known;
    if (!read_service(call, &is_known, name, sizeof name, message, size)) {
        return;
    }
    if (!is_known) {
        cuzk_call_fail(call, GRPC_STATUS_NOT_FOUND, "there is no service \"%s\"", name);
        return;
    }
    cuzk_text out = {0};
    cuzk_wire_put_number(&out, 1, (uint64_t)state_of(call->rpc, true));
    cuzk_call_answer(call, &out);
}

static void watch(cuzk_call *call, uint8_t *message, size_t size)
{
    char name[256];
    bool is_known;
    if (!read_service(call, &is_known, name, sizeof name, message, size)) {
        return;
    }
    cuzk_rpc *rpc = call->rpc;
    cuzk_call_ref(call);
    pthread_mutex_lock(&rpc->lock);
    call->is_watching = true;
    call->watches_known = is_known;
    call->next_watcher = rpc->watchers;
    if (call->next_watcher != NULL) {
        call->next_watcher->previous_watcher = call;
    }
    rpc->watchers = call;
    pthread_mutex_unlock(&rpc->lock);
    pthread_mutex_lock(&call->lock);
    bool is_over = call->is_over;
    pthread_mutex_unlock(&call->lock);
    if (is_over) {
        call->method->end(call);
    }
    cuzk_rpc_health_tick(rpc);
}

/* The client is gone. */
static void unwatch(cuzk_call *call)
{
    cuzk_rpc *rpc = call->rpc;
    pthread_mutex_lock(&rpc->lock);
    bool was_watching = call->is_watching;
    if (was_watching) {
        call->is_watching = false;
        *(call->previous_watcher != NULL ? &call->previous_watcher->next_watcher : &rpc->watchers) =
            call->next_watcher;
        if (call->next_watcher != NULL) {
            call->next_watcher->previous_watcher = call->previous_watcher;
        }
        call->previous_watcher = call->next_watcher = NULL;
    }
    pthread_mutex_unlock(&rpc->lock);
    if (was_watching) {
        cuzk_call_unref(call);
    }
}

void cuzk_rpc_health_tick(cuzk_rpc *rpc)
{
    /* asked before the lock: is_ready is not ours */
    int state[2] = {state_of(rpc, false), state_of(rpc, true)};
    bool stopping = atomic_load_explicit(&rpc->is_stopping, memory_order_acquire);
    pthread_mutex_lock(&rpc->lock);
    unsigned tick = ++rpc->health_tick;
    for (;;) {
        cuzk_call *call = rpc->watchers;
        while (call != NULL &&
               (call->told == state[call->watches_known] || (int)(call->told_tick - tick) >= 0)) {
            call = call->next_watcher;
        }
        if (call == NULL) {
            break;
        }
        int before = call->told;
        call->told = state[call->watches_known];
        call->told_tick = tick; /* one that reads slowly is not asked again before the next tick */
        cuzk_text out = {0};
        cuzk_wire_put_number(&out, 1, (uint64_t)call->told);
        cuzk_call_ref(call);
        pthread_mutex_unlock(&rpc->lock);
        bool sent = cuzk_call_send(call, &out, false);
        pthread_mutex_lock(&rpc->lock);
        if (!sent) {
            call->told = before;
        }
        pthread_mutex_unlock(&rpc->lock);
        cuzk_call_unref(call);
        pthread_mutex_lock(&rpc->lock);
    }
    cuzk_call *call;
    while (stopping && (call = rpc->watchers) != NULL) {
        cuzk_call_ref(call);
        pthread_mutex_unlock(&rpc->lock);
        unwatch(call);
        cuzk_call_fail(call, GRPC_STATUS_UNAVAILABLE, "the server is shutting down");
        cuzk_call_unref(call);
        pthread_mutex_lock(&rpc->lock);
    }
    pthread_mutex_unlock(&rpc->lock);
}

const cuzk_method *cuzk_rpc_health_methods(void)
{
    static const cuzk_method methods[] = {
        {"/grpc.health.v1.Health/Check", CUZK_GATE_SMALL, CUZK_RIGHT_NONE, .handle = check},
        {"/grpc.health.v1.Health/Watch", CUZK_GATE_SMALL, CUZK_RIGHT_NONE, .handle = watch,
         .end = unwatch},
        {NULL},
    };
    return methods;
}
