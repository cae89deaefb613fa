/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ending the gRPC server so that every client learns it as UNAVAILABLE, which clients repeat.
 *
 * gRPC's own shutdown says GOAWAY, and from then on resets calls that were sent before their client
 * has read it: those end as CANCELLED, which nobody repeats. So gRPC is told last. First calls that
 * are new are refused in words, and connections without calls are ended by the system's means: no
 * more is sent on them, and their clients, which read an end, close them. What such a client has
 * sent meanwhile fails, for it, with its connection: as UNAVAILABLE. Once all have ended gRPC can
 * reset what it likes. */
#include "server/rpc_internal.h"

#include <grpc/support/alloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t second = 1000000000;

cuzk_call **cuzk_rpc_open_calls(cuzk_rpc *rpc, unsigned *n)
{
    cuzk_call **calls = malloc((rpc->n_calls + 1) * sizeof *calls);
    *n = 0;
    for (cuzk_call *call = rpc->calls; calls != NULL && call != NULL; call = call->next) {
        if (cuzk_call_ref_live(call)) {
            calls[(*n)++] = call;
        }
    }
    return calls;
}

/* ---- connections ----------------------------------------------------------------------------- */

static bool is_used_by(const cuzk_rpc_used *used, uint64_t connection)
{
    unsigned low = 0, high = used->n;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (used->connections[middle] < connection) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < used->n && used->connections[low] == connection;
}

bool cuzk_rpc_is_used(const cuzk_rpc_used *used, unsigned number, bool is_relayed)
{
    return used != NULL && is_used_by(used, number | (uint64_t)is_relayed << 32);
}

/* The connection of a call, by its peer as gRPC names it. False: none that was accepted here. */
static bool connection_of(uint64_t *connection, const cuzk_rpc *rpc, const cuzk_call *call)
{
    char *peer = grpc_call_get_peer(call->call);
    unsigned number;
    bool is_known = true;
    if (sscanf(peer, "fd:%u", &number) == 1) {
        *connection = number;
    } else if (rpc->relay != NULL && cuzk_relay_slot(rpc->relay, peer, &number)) {
        *connection = number | (uint64_t)1 << 32;
    } else {
        is_known = false;
    }
    gpr_free(peer);
    return is_known;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The connections that have calls. False: that cannot be told now. */
static bool find_used(cuzk_rpc *rpc, cuzk_rpc_used *used)
{
    unsigned n;
    pthread_mutex_lock(&rpc->lock);
    cuzk_call **calls = cuzk_rpc_open_calls(rpc, &n);
    pthread_mutex_unlock(&rpc->lock);
    used->n = 0;
    used->connections = malloc((n + 1) * sizeof *used->connections);
    bool ok = calls != NULL && used->connections != NULL;
    for (unsigned i = 0; i < n; i++) {
        ok = ok && connection_of(&used->connections[used->n++], rpc, calls[i]);
        cuzk_call_unref(calls[i]);
    }
    free(calls);
    if (ok) {
        qsort(used->connections, used->n, sizeof *used->connections, compare);
    } else {
        free(used->connections);
    }
    return ok;
}

/* used: those that stay. NULL: none. */
static void end_connections(cuzk_rpc *rpc, const cuzk_rpc_used *used)
{
    cuzk_acceptor_end(rpc, used);
    if (rpc->relay != NULL) {
        cuzk_relay_end(rpc->relay, used);
    }
}

void cuzk_rpc_end_idle(cuzk_rpc *rpc)
{
    cuzk_rpc_used used;
    if (atomic_load_explicit(&rpc->accepts_no_more, memory_order_acquire) &&
        find_used(rpc, &used)) {
        end_connections(rpc, &used);
        free(used.connections);
    }
}

/* ---- stopping -------------------------------------------------------------------------------- */

void cuzk_rpc_stop(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    bool is_first = !rpc->was_stopped;
    rpc->was_stopped = true;
    pthread_mutex_unlock(&rpc->lock);
    if (!is_first) {
        return;
    }
    atomic_store_explicit(&rpc->is_stopping, true, memory_order_release);
    cuzk_acceptor_stop(rpc);
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        cuzk_listener_close(&rpc->listeners[i]);
    }
    /* the ticker uses what was the acceptor's */
    atomic_store_explicit(&rpc->accepts_no_more, true, memory_order_release);
}

static void on_shutdown(void *owner, bool ok)
{
    (void)ok;
    cuzk_rpc *rpc = ((cuzk_listener *)owner)->rpc;
    pthread_mutex_lock(&rpc->lock);
    rpc->n_shutting--;
    pthread_cond_broadcast(&rpc->changed);
    pthread_mutex_unlock(&rpc->lock);
}

/* Tell gRPC, once. */
static void shut_down(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    bool is_first = !rpc->was_shut_down;
    rpc->was_shut_down = true;
    pthread_mutex_unlock(&rpc->lock);
    for (unsigned i = 0; is_first && i < rpc->n_listeners; i++) {
        cuzk_listener *listener = &rpc->listeners[i];
        if (listener->server != NULL) {
            pthread_mutex_lock(&rpc->lock);
            rpc->n_shutting++;
            pthread_mutex_unlock(&rpc->lock);
            listener->on_shutdown = (cuzk_event_tag){on_shutdown, listener};
            CUZK_TAG_GIVE(&listener->on_shutdown);
            grpc_server_shutdown_and_notify(listener->server, rpc->queue, &listener->on_shutdown);
        }
    }
    while (rpc->n_threads == 0 && rpc->n_shutting > 0) {
        cuzk_rpc_serve_one(rpc); /* a start that failed: nobody else does */
    }
}

/* Wait until a count is 0, or the deadline. Lock held. */
static void wait_for_none(cuzk_rpc *rpc, const unsigned *count, uint64_t deadline_ns)
{
    struct timespec until = {(time_t)(deadline_ns / second), (long)(deadline_ns % second)};
    while (*count > 0 && cuzk_now_ns() < deadline_ns) {
        pthread_cond_timedwait(&rpc->changed, &rpc->lock, &until);
    }
}

/* Wait until clients have closed their connections, or the deadline. */
static void wait_for_clients(cuzk_rpc *rpc, uint64_t deadline_ns)
{
    enum { PAUSE_NS = 2000000 };
    while (cuzk_acceptor_has_open(rpc) && cuzk_now_ns() < deadline_ns) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

/* Refuse handlers from now on, and wait for those under way. Lock held. */
static void refuse(cuzk_rpc *rpc)
{
    rpc->is_refusing = true;
    while (rpc->n_handling > 0) {
        pthread_cond_wait(&rpc->changed, &rpc->lock);
    }
}

/* Calls that are still open are answered. Nothing else uses the engine now. Lock held. */
static void turn_away_all(cuzk_rpc *rpc)
{
    unsigned n;
    cuzk_call **calls = cuzk_rpc_open_calls(rpc, &n);
    pthread_mutex_unlock(&rpc->lock);
    for (unsigned i = 0; i < n; i++) {
        cuzk_call_turn_away(calls[i]);
        cuzk_call_unref(calls[i]);
    }
    free(calls);
    pthread_mutex_lock(&rpc->lock);
}

bool cuzk_rpc_drain(cuzk_rpc *rpc, uint64_t deadline_ns)
{
    cuzk_rpc_stop(rpc);
    pthread_mutex_lock(&rpc->lock);
    wait_for_none(rpc, &rpc->n_calls, deadline_ns);
    bool in_time = rpc->n_calls == 0;
    refuse(rpc);
    turn_away_all(rpc);
    /* answers are on their way; who does not read is cut off */
    wait_for_none(rpc, &rpc->n_calls, cuzk_now_ns() + second);
    pthread_mutex_unlock(&rpc->lock);
    end_connections(rpc, NULL);
    wait_for_clients(rpc, cuzk_now_ns() + second / 10);
    shut_down(rpc);
    for (unsigned i = 0; i < rpc->n_listeners; i++) {
        if (rpc->listeners[i].server != NULL) {
            grpc_server_cancel_all_calls(rpc->listeners[i].server);
        }
    }
    return in_time;
}

void cuzk_rpc_end_calls(cuzk_rpc *rpc)
{
    pthread_mutex_lock(&rpc->lock);
    if (rpc->n_threads > 0) {
        /* gRPC ends the calls of a connection, and closes it, only once what it writes there is
         * written: never, where the client does not read */
        wait_for_none(rpc, &rpc->n_calls, cuzk_now_ns() + second / 2);
        wait_for_none(rpc, &rpc->n_shutting, cuzk_now_ns() + second / 2);
        pthread_mutex_unlock(&rpc->lock);
        cuzk_acceptor_cut(rpc);
        pthread_mutex_lock(&rpc->lock);
    }
    while (rpc->n_threads > 0 && (rpc->n_shutting > 0 || rpc->n_calls > 0)) {
        pthread_cond_wait(&rpc->changed, &rpc->lock);
    }
    pthread_mutex_unlock(&rpc->lock);
}
