/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Receiving a call's message: through the gate, from gRPC's pieces into one buffer, to the handler.
 */
#include "server/rpc_internal.h"

#include <grpc/slice_buffer.h>
#include <grpc/support/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_BYTES = 64 << 10 }; /* of a message: copying more is not for the thread that leads */

void cuzk_call_receive(cuzk_call *call)
{
    cuzk_gate_seat *seat = &call->seat;
    seat->lane = call->method->lane;
    if (seat->peer[0] == '\0') {
        /* "fd:17", "ipv4:10.0.0.1:4711": the same for all calls of a connection */
        char *peer = grpc_call_get_peer(call->call);
        snprintf(seat->peer, sizeof seat->peer, "%s", peer != NULL ? peer : "");
        gpr_free(peer);
    }
    cuzk_call_ref(call);
    if (!cuzk_gate_enter(call->rpc->gate, seat)) {
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
                       "the memory budget has no room for a message of %llu bytes, which is the "
                       "largest that is taken",
                       (unsigned long long)call->rpc->options.max_message);
        cuzk_call_unref(call);
        return;
    }
    /* the call may have closed before it was in line, and then nobody takes it out */
    pthread_mutex_lock(&call->lock);
    bool is_over = call->is_over;
    pthread_mutex_unlock(&call->lock);
    if (is_over && cuzk_gate_forget(call->rpc->gate, seat)) {
        cuzk_call_unref(call);
    }
}

void cuzk_call_receive_now(cuzk_call *call)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};
    op.data.recv_message.recv_message = &call->message;
    pthread_mutex_lock(&call->lock);
    CUZK_TAG_GIVE(&call->on_message);
    grpc_call_error e = grpc_call_start_batch(call->call, &op, 1, &call->on_message, NULL);
    pthread_mutex_unlock(&call->lock);
    if (e != GRPC_CALL_OK) {
        cuzk_call_on_message(call, false);
    }
}

/* Bytes in front of the SubmitProofRequest where a ProveRequest holds nothing but one, as all
 * clients send it; 0: it must be read. */
static size_t prove_head(const uint8_t *message, size_t n, size_t size)
{
    if (n < 2 || message[0] != 0x0a) {
        return 0;
    }
    uint64_t length = 0;
    for (size_t i = 1; i < n && i < 11; i++) {
        length |= (uint64_t)(message[i] & 0x7f) << (7 * (i - 1));
        if (message[i] < 0x80) {
            return length == size - 1 - i ? i + 1 : 0;
        }
    }
    return 0;
}

/* The pieces of a message in one buffer, without what wraps it (was_unwrapped tells). Each is freed
 * when it was copied, so that the message is there little more than once. Returned: free; NULL: out
 * of memory. */
static uint8_t *join(grpc_byte_buffer *message, bool is_wrapped, bool *was_unwrapped, size_t *size)
{
    grpc_slice_buffer *pieces = &message->data.raw.slice_buffer;
    size_t total = pieces->length, skip = 0;
    if (is_wrapped && pieces->count > 0) {
        skip = prove_head(GRPC_SLICE_START_PTR(pieces->slices[0]),
                          GRPC_SLICE_LENGTH(pieces->slices[0]), total);
    }
    *was_unwrapped = skip > 0;
    uint8_t *data = malloc(total - skip > 0 ? total - skip : 1);
    if (data == NULL) {
        return NULL;
    }
    size_t at = 0, to_skip = skip;
    while (pieces->count > 0) {
        grpc_slice piece = grpc_slice_buffer_take_first(pieces);
        size_t n = GRPC_SLICE_LENGTH(piece), from = to_skip < n ? to_skip : n;
        memcpy(data + at, GRPC_SLICE_START_PTR(piece) + from, n - from);
        at += n - from;
        to_skip -= from;
        grpc_slice_unref(piece);
    }
    *size = at;
    return data;
}

static void handle(cuzk_call *call, uint8_t *data, size_t size)
{
    cuzk_rpc *rpc = call->rpc;
    if (call->method->is_blocking) {
        cuzk_rpc_help(call, data, size);
    } else if (cuzk_rpc_enter(rpc)) {
        call->method->handle(call, data, size);
        cuzk_rpc_leave(rpc);
    } else {
        free(data);
        cuzk_call_fail(call, GRPC_STATUS_UNAVAILABLE, "the server is shutting down");
    }
}

void cuzk_call_on_message(void *owner, bool ok)
{
    cuzk_call *call = owner;
    cuzk_rpc *rpc = call->rpc;
    grpc_byte_buffer *message = call->message;
    call->message = NULL;
    size_t size = message != NULL ? grpc_byte_buffer_length(message) : 0;
    call->charge = cuzk_gate_received(rpc->gate, &call->seat, size);
    uint8_t *data = NULL;
    if (size > LONG_BYTES || call->method->is_long) {
        cuzk_rpc_pass_lead(rpc);
    }
    if (message != NULL) {
        atomic_fetch_add_explicit(&rpc->bytes_received, size, memory_order_relaxed);
        data = join(message, call->method->is_wrapped, &call->was_unwrapped, &size);
        grpc_byte_buffer_destroy(message);
    }
    if (data != NULL) {
        handle(call, data, size);
    } else if (message != NULL) {
        cuzk_call_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
                       "out of memory for a message of %zu bytes", size);
    } else if (call->method->is_stream && ok) {
        cuzk_call_end(call); /* the client will send no more */
    } else if (ok) {
        cuzk_call_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "the call has no message");
    } else {
        atomic_store_explicit(&rpc->wants_trim, true, memory_order_relaxed);
    }
    if (!call->method->is_stream) {
        /* what no wait has taken over. Of a stream the next message may be here already, in another
         * thread; and its messages hold nothing */
        cuzk_gate_return(rpc->gate, call->charge);
        call->charge = 0;
    }
    cuzk_call_unref(call);
}
