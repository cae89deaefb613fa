/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The threads that take events from gRPC's completion queue and run what they are for. One of them
 * leads: it waits for the next event, which makes it gRPC's poller too, and runs its handler, all
 * without waking anybody. Before something that takes long it passes the lead on. With several
 * threads inside the queue gRPC would wake another one to poll at each event: two or three wake-ups
 * a call, for microseconds of work. */
#include "server/rpc_internal.h"

static _Thread_local bool leads;

bool cuzk_rpc_serve_one(cuzk_rpc *rpc)
{
    grpc_event event =
        grpc_completion_queue_next(rpc->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    if (event.type == GRPC_OP_COMPLETE) {
        cuzk_event_tag *tag = event.tag;
        CUZK_TAG_TAKE(tag);
        tag->run(tag->owner, event.success != 0);
    }
    return event.type != GRPC_QUEUE_SHUTDOWN;
}

void cuzk_rpc_pass_lead(cuzk_rpc *rpc)
{
    if (leads) {
        leads = false;
        pthread_mutex_unlock(&rpc->lead);
    }
}

static void *serve(void *argument)
{
    cuzk_rpc *rpc = argument;
    bool is_open = true;
    while (is_open) {
        if (!leads) {
            pthread_mutex_lock(&rpc->lead);
            leads = true;
        }
        is_open = cuzk_rpc_serve_one(rpc);
    }
    cuzk_rpc_pass_lead(rpc); /* the next one sees the end for itself */
    return NULL;
}

cuzk_status cuzk_rpc_serving_start(cuzk_rpc *rpc, cuzk_error *err)
{
    for (unsigned i = 0; i < rpc->options.n_threads; i++) {
        CUZK_FAIL_IF(pthread_create(&rpc->threads[i], NULL, serve, rpc) != 0, err, CUZK_E_MEMORY,
                     "a thread cannot be started");
        rpc->n_threads++;
    }
    return CUZK_OK;
}

void cuzk_rpc_serving_join(cuzk_rpc *rpc)
{
    for (unsigned i = 0; i < rpc->n_threads; i++) {
        pthread_join(rpc->threads[i], NULL);
    }
    while (rpc->n_threads == 0 && cuzk_rpc_serve_one(rpc)) { /* what came of a start that failed */
    }
}
