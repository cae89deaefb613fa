/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The life of a call: accepted, answered, closed. Receiving is in rpc_receive.c. */
#include "server/rpc_internal.h"
#include "server/rpc_wait.h"

#include <grpc/support/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_new(void *owner, bool ok);
static void on_close(void *owner, bool ok);
static void on_sent(void *owner, bool ok);

static cuzk_call *make(cuzk_listener *listener, unsigned method_index)
{
    cuzk_rpc *rpc = listener->rpc;
    cuzk_call *call = calloc(1, sizeof *call);
    if (call == NULL) {
        return NULL;
    }
    call->rpc = rpc;
    call->listener = listener;
    call->method_index = method_index;
    call->method = method_index < rpc->n_methods ? rpc->methods[method_index] : NULL;
    call->on_new = (cuzk_event_tag){on_new, call};
    call->on_close = (cuzk_event_tag){on_close, call};
    call->on_sent = (cuzk_event_tag){on_sent, call};
    call->on_message = (cuzk_event_tag){cuzk_call_on_message, call};
    call->seat.call = call;
    call->finish_text = grpc_empty_slice();
    call->told = -1;
    atomic_init(&call->refs, 1);
    grpc_metadata_array_init(&call->metadata);
    grpc_call_details_init(&call->details);
    pthread_mutex_init(&call->lock, NULL);
    return call;
}

void cuzk_call_expect(cuzk_listener *listener, unsigned method_index, unsigned n)
{
    cuzk_rpc *rpc = listener->rpc;
    for (unsigned i = 0; i < n; i++) {
        cuzk_call *call = make(listener, method_index);
        if (call == NULL) {
            CUZK_LOG(rpc->options.log, CUZK_LOG_ERROR, "out of memory for a call");
            return;
        }
        CUZK_TAG_GIVE(&call->on_new);
        grpc_call_error e =
            call->method == NULL
                ? grpc_server_request_call(listener->server, &call->call, &call->details,
                                           &call->metadata, rpc->queue, rpc->queue, &call->on_new)
                : grpc_server_request_registered_call(listener->server,
                                                      listener->registered[method_index],
                                                      &call->call, &call->deadline, &call->metadata,
                                                      NULL, rpc->queue, rpc->queue, &call->on_new);
        if (e != GRPC_CALL_OK) {
            cuzk_call_unref(call);
            return;
        }
    }
}

void cuzk_call_ref(cuzk_call *call)
{
    /* the caller holds one, or a lock that keeps one held */
    atomic_fetch_add_explicit(&call->refs, 1, memory_order_relaxed);
}

bool cuzk_call_ref_live(cuzk_call *call)
{
    unsigned refs = atomic_load_explicit(&call->refs, memory_order_relaxed);
    while (refs != 0 &&
           !atomic_compare_exchange_weak_explicit(&call->refs, &refs, refs + 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    return refs != 0;
}

void cuzk_call_unref(cuzk_call *call)
{
    /* what was done under other references happened before the call is freed */
    if (atomic_fetch_sub_explicit(&call->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    cuzk_rpc *rpc = call->rpc;
    if (call->started_ns != 0) {
        pthread_mutex_lock(&rpc->lock);
        *(call->previous != NULL ? &call->previous->next : &rpc->calls) = call->next;
        if (call->next != NULL) {
            call->next->previous = call->previous;
        }
        rpc->n_calls--;
        if (rpc->n_calls == 0) {
            pthread_cond_broadcast(&rpc->changed);
        }
        pthread_mutex_unlock(&rpc->lock);
    }
    if (call->message != NULL) {
        grpc_byte_buffer_destroy(call->message);
    }
    if (call->sending != NULL) {
        grpc_byte_buffer_destroy(call->sending);
    }
    grpc_slice_unref(call->finish_text);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_call_details_destroy(&call->details);
    if (call->call != NULL) {
        grpc_call_unref(call->call);
    }
    pthread_mutex_destroy(&call->lock);
    free(call);
}

/* Start a batch that ends with a tag; a reference goes with it. Call lock held. */
static bool start(cuzk_call *call, const grpc_op *ops, size_t n, cuzk_event_tag *tag)
{
    cuzk_call_ref(call);
    CUZK_TAG_GIVE(tag);
    grpc_call_error e = grpc_call_start_batch(call->call, ops, n, tag, NULL);
    if (e != GRPC_CALL_OK) {
        CUZK_LOG(call->rpc->options.log, CUZK_LOG_ERROR, "a gRPC operation was refused",
                 CUZK_LOG_S("why", grpc_call_error_to_string(e)));
        /* never the last one: the caller has its own */
        atomic_fetch_sub_explicit(&call->refs, 1, memory_order_relaxed);
    }
    return e == GRPC_CALL_OK;
}

static void on_new(void *owner, bool ok)
{
    cuzk_call *call = owner;
    cuzk_rpc *rpc = call->rpc;
    if (!ok) {
        cuzk_call_unref(call);
        return;
    }
    cuzk_call_expect(call->listener, call->method_index, 1);

    call->started_ns = cuzk_now_ns();
    pthread_mutex_lock(&rpc->lock);
    bool too_many = rpc->n_calls >= rpc->options.max_calls;
    call->next = rpc->calls;
    if (call->next != NULL) {
        call->next->previous = call;
    }
    rpc->calls = call;
    rpc->n_calls++;
    rpc->calls_total++;
    rpc->was_full |= too_many;
    pthread_mutex_unlock(&rpc->lock);
    bool is_stopping = atomic_load_explicit(&rpc->is_stopping, memory_order_acquire);

    grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
    op.data.recv_close_on_server.cancelled = &call->was_cancelled;
    pthread_mutex_lock(&call->lock);
    start(call, &op, 1, &call->on_close);
    pthread_mutex_unlock(&call->lock);

    const char *why = NULL;
    grpc_status_code code;
    if (call->method == NULL) {
        char name[160];
        size_t n = GRPC_SLICE_LENGTH(call->details.method);
        n = n < sizeof name - 1 ? n : sizeof name - 1;
        memcpy(name, GRPC_SLICE_START_PTR(call->details.method), n);
        name[n] = '\0';
        cuzk_call_fail(call, GRPC_STATUS_UNIMPLEMENTED, "there is no method %s", name);
    } else if (is_stopping) {
        cuzk_call_fail(call, GRPC_STATUS_UNAVAILABLE, "the server is shutting down");
    } else if ((code = cuzk_rights_check(rpc->rights, &why, call->method->right,
                                         call->listener->is_local, &call->metadata, call->call)) !=
               GRPC_STATUS_OK) {
        cuzk_call_fail(call, code, "%s", why);
    } else if (too_many && !cuzk_rpc_make_room(rpc, true)) {
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
                       "%u calls are open already, which is the limit", rpc->options.max_calls);
    } else {
        cuzk_call_receive(call);
    }
    cuzk_call_unref(call);
}

static void on_close(void *owner, bool ok)
{
    (void)ok; /* always true */
    cuzk_call *call = owner;
    cuzk_rpc *rpc = call->rpc;
    pthread_mutex_lock(&call->lock);
    call->is_over = true;
    bool is_abandoned = call->was_cancelled && !call->is_finished;
    pthread_mutex_unlock(&call->lock);
    if (is_abandoned) {
        pthread_mutex_lock(&rpc->lock);
        rpc->calls_abandoned++;
        pthread_mutex_unlock(&rpc->lock);
    }
    if (cuzk_gate_forget(rpc->gate, &call->seat)) {
        cuzk_call_unref(call);
    }
    bool may_ask = cuzk_rpc_enter(rpc);
    cuzk_wait_abandon(call, may_ask);
    if (may_ask) {
        cuzk_rpc_leave(rpc);
    }
    if (call->method != NULL && call->method->end != NULL) {
        call->method->end(call);
    }
    cuzk_call_unref(call);
}

/* A batch is on its way, with a message (may be NULL) or without. Call lock held. */
static void note_sending(cuzk_call *call, grpc_byte_buffer *message)
{
    call->sending = message;
    call->sending_bytes = message != NULL ? grpc_byte_buffer_length(message) : 0;
    call->sending_since_ns = cuzk_now_ns();
    atomic_fetch_add_explicit(&call->rpc->bytes_unread, call->sending_bytes, memory_order_relaxed);
}

/* Send the final status, with a message in front of it (may be NULL). Call lock held. */
static void send_final(cuzk_call *call, grpc_byte_buffer *message)
{
    grpc_op ops[3] = {{0}};
    size_t n = 0;
    if (!call->has_sent_head) {
        ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
        call->has_sent_head = true;
    }
    if (message != NULL) {
        ops[n].op = GRPC_OP_SEND_MESSAGE;
        ops[n++].data.send_message.send_message = message;
    }
    ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    ops[n].data.send_status_from_server.status = call->finish_code;
    ops[n++].data.send_status_from_server.status_details = &call->finish_text;
    note_sending(call, message);
    call->is_sending = start(call, ops, n, &call->on_sent);
}

/* The first answer of a call counts. message, text: handed over. */
static void finish(cuzk_call *call, grpc_status_code code, grpc_slice text,
                   grpc_byte_buffer *message)
{
    pthread_mutex_lock(&call->lock);
    bool counts = !call->is_finished && !call->is_over;
    if (counts) {
        call->is_finished = true;
        call->finish_code = code;
        grpc_slice_unref(call->finish_text);
        call->finish_text = text;
        if (call->is_sending) {
            call->finish_after = true; /* only streams get here, and they end without a message */
        } else {
            send_final(call, message);
            message = NULL;
        }
    }
    pthread_mutex_unlock(&call->lock);
    if (!counts) {
        grpc_slice_unref(text);
    } else if (code != GRPC_STATUS_OK) {
        pthread_mutex_lock(&call->rpc->lock);
        call->rpc->calls_failed++;
        pthread_mutex_unlock(&call->rpc->lock);
    }
    if (message != NULL) {
        grpc_byte_buffer_destroy(message);
    }
}

static grpc_byte_buffer *to_buffer(cuzk_text *out)
{
    grpc_byte_buffer *buffer = NULL;
    if (!out->failed) {
        grpc_slice slice = grpc_slice_from_copied_buffer(out->size > 0 ? out->data : "", out->size);
        buffer = grpc_raw_byte_buffer_create(&slice, 1);
        grpc_slice_unref(slice);
    }
    cuzk_text_clear(out);
    return buffer;
}

void cuzk_call_answer(cuzk_call *call, cuzk_text *out)
{
    grpc_byte_buffer *buffer = to_buffer(out);
    if (buffer == NULL) {
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory for the answer");
        return;
    }
    finish(call, GRPC_STATUS_OK, grpc_empty_slice(), buffer);
}

void cuzk_call_end(cuzk_call *call)
{
    finish(call, GRPC_STATUS_OK, grpc_empty_slice(), NULL);
}

void cuzk_call_fail(cuzk_call *call, grpc_status_code code, const char *fmt, ...)
{
    char text[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CUZK_LOG(call->rpc->options.log, CUZK_LOG_DEBUG, "call failed",
             CUZK_LOG_S("method", call->method != NULL ? call->method->path : "unknown"),
             CUZK_LOG_I("code", code), CUZK_LOG_S("why", text));
    finish(call, code, grpc_slice_from_copied_string(text), NULL);
}

void cuzk_call_fail_status(cuzk_call *call, cuzk_status status, const char *text)
{
    cuzk_call_fail(call, (grpc_status_code)cuzk_status_grpc_code(status), "%s",
                   text != NULL && text[0] != '\0' ? text : cuzk_status_text(status));
}

bool cuzk_call_send(cuzk_call *call, cuzk_text *out, bool then_receive)
{
    grpc_byte_buffer *message = to_buffer(out);
    if (message == NULL) {
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory for the answer");
        return true;
    }
    pthread_mutex_lock(&call->lock);
    bool is_free = !call->is_sending;
    if (is_free && !call->is_over && !call->is_finished) {
        grpc_op ops[2] = {{0}};
        size_t n = 0;
        if (!call->has_sent_head) {
            ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
            call->has_sent_head = true;
        }
        ops[n].op = GRPC_OP_SEND_MESSAGE;
        ops[n++].data.send_message.send_message = message;
        call->wants_message = then_receive;
        note_sending(call, message);
        message = NULL;
        call->is_sending = start(call, ops, n, &call->on_sent);
    }
    pthread_mutex_unlock(&call->lock);
    if (message != NULL) {
        grpc_byte_buffer_destroy(message);
    }
    return is_free;
}

static void on_sent(void *owner, bool ok)
{
    (void)ok; /* a client that is gone is told by on_close */
    cuzk_call *call = owner;
    pthread_mutex_lock(&call->lock);
    grpc_byte_buffer *sent = call->sending;
    call->sending = NULL;
    call->is_sending = false;
    atomic_fetch_sub_explicit(&call->rpc->bytes_unread, call->sending_bytes, memory_order_relaxed);
    call->sending_bytes = 0;
    bool receives = call->wants_message && !call->is_finished && !call->is_over;
    call->wants_message = false;
    if (call->finish_after) {
        call->finish_after = false;
        send_final(call, NULL);
    }
    pthread_mutex_unlock(&call->lock);
    if (sent != NULL) {
        grpc_byte_buffer_destroy(sent);
    }
    if (receives) {
        cuzk_call_receive(call);
    }
    cuzk_call_unref(call);
}

/* End a call at once: not by an answer, which lasts until the client reads, while the place that
 * the call has is wanted now. text: a literal. */
static void break_off(cuzk_call *call, grpc_status_code code, const char *text)
{
    pthread_mutex_lock(&call->lock);
    bool counts = !call->is_finished && !call->is_over;
    call->is_finished |= counts;
    pthread_mutex_unlock(&call->lock);
    if (counts) {
        pthread_mutex_lock(&call->rpc->lock);
        call->rpc->calls_failed++;
        pthread_mutex_unlock(&call->rpc->lock);
        grpc_call_cancel_with_status(call->call, code, text, NULL);
    }
}

void cuzk_call_too_slow(cuzk_call *call)
{
    break_off(call, GRPC_STATUS_DEADLINE_EXCEEDED,
              "the message did not arrive in the time that it may take while others wait");
}

void cuzk_call_displace(cuzk_call *call)
{
    if (atomic_load_explicit(&call->rpc->is_stopping, memory_order_acquire)) {
        break_off(call, GRPC_STATUS_UNAVAILABLE,
                  "the server is shutting down, and the message of this call did not come");
    } else {
        break_off(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
                  "as many calls are open as may be, and the message of this one did not come");
    }
}

void cuzk_call_cut(cuzk_call *call, uint64_t patience_ns)
{
    pthread_mutex_lock(&call->lock);
    bool is_late = call->is_sending && call->sending_since_ns + patience_ns < cuzk_now_ns();
    pthread_mutex_unlock(&call->lock);
    if (is_late) {
        grpc_call_cancel(call->call, NULL);
    }
}

void cuzk_call_too_large(cuzk_call *call, uint64_t limit)
{
    cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
                   "the message is larger than %llu bytes, which is the limit",
                   (unsigned long long)limit);
}

void cuzk_call_turn_away(cuzk_call *call)
{
    if (cuzk_gate_forget(call->rpc->gate, &call->seat)) {
        cuzk_call_unref(call);
    }
    cuzk_wait_abandon(call, true);
    cuzk_call_fail(call, GRPC_STATUS_UNAVAILABLE,
                   "the server is shutting down; the job stays, ask for it again");
}
