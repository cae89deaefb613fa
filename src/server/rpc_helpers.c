/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads for the calls that block (loading a circuit, opening a key), so that the threads of the
 * completion queue never do; and the count of handlers under way. */
#include "server/rpc_internal.h"

#include <stdlib.h>

bool cuzk_rpc_enter(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    bool may = !rpc->is_refusing;
    rpc->n_handling += may;
    pthread_mutex_unlock(&rpc->lock);
    return may;
}

void cuzk_rpc_leave(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    if (--rpc->n_handling == 0) {
        pthread_cond_broadcast(&rpc->changed);
    }
    pthread_mutex_unlock(&rpc->lock);
}

void cuzk_rpc_help(cuzk_call *call, uint8_t *message, size_t size)
{
    cuzk_rpc *rpc = call->rpc;
    cuzk_call_ref(call);
    call->helped_message = message;
    call->helped_size = size;
    call->next_helped = NULL;
    pthread_mutex_lock(&rpc->lock);
    *(rpc->helped_last != NULL ? &rpc->helped_last->next_helped : &rpc->helped_first) = call;
    rpc->helped_last = call;
    pthread_cond_signal(&rpc->helped);
    pthread_mutex_unlock(&rpc->lock);
}

static void *help(void *argument)
{
    cuzk_rpc *rpc = argument;
    pthread_mutex_lock(&rpc->lock);
    for (;;) {
        cuzk_call *call = rpc->helped_first;
        if (call == NULL) {
            if (rpc->helpers_end) {
                break;
            }
            pthread_cond_wait(&rpc->helped, &rpc->lock);
            continue;
        }
        rpc->helped_first = call->next_helped;
        if (rpc->helped_first == NULL) {
            rpc->helped_last = NULL;
        }
        bool is_refusing = rpc->is_refusing;
        rpc->n_blocking += !is_refusing;
        pthread_mutex_unlock(&rpc->lock);
        if (is_refusing) {
            free(call->helped_message);
            cuzk_call_fail(call, GRPC_STATUS_UNAVAILABLE, "the server is shutting down");
        } else {
            call->method->handle(call, call->helped_message, call->helped_size);
        }
        cuzk_call_unref(call);
        pthread_mutex_lock(&rpc->lock);
        rpc->n_blocking -= !is_refusing;
    }
    pthread_mutex_unlock(&rpc->lock);
    return NULL;
}

cuzk_status cuzk_rpc_helpers_start(cuzk_rpc *rpc, cuzk_error *err)
{
    for (unsigned i = 0; i < CUZK_RPC_HELPERS; i++) {
        CUZK_FAIL_IF(pthread_create(&rpc->helpers[i], NULL, help, rpc) != 0, err, CUZK_E_MEMORY,
                     "a thread cannot be started");
        rpc->n_helpers++;
    }
    return CUZK_OK;
}

void cuzk_rpc_helpers_stop(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    rpc->helpers_end = true;
    pthread_cond_broadcast(&rpc->helped);
    pthread_mutex_unlock(&rpc->lock);
    for (unsigned i = 0; i < rpc->n_helpers; i++) {
        pthread_join(rpc->helpers[i], NULL);
    }
    rpc->n_helpers = 0;
}
