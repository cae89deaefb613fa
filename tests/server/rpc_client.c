/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/rpc_client.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client {
    grpc_channel *channel;
    char token[256];
};

struct call {
    grpc_completion_queue *queue;
    grpc_call *call;
    grpc_metadata_array head, tail;
    grpc_metadata token;
    grpc_byte_buffer *received;
    grpc_status_code code;
    grpc_slice text;
    bool is_stream, is_done;
};

enum { TAG_ALL = 1, TAG_STATUS, TAG_SEND, TAG_RECEIVE };

client *client_open(const char *address, const client_options *options)
{
    client_options none = {0};
    options = options != NULL ? options : &none;
    client *c = calloc(1, sizeof *c);
    char target[512];
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    snprintf(target, sizeof target, "%s%s",
             is_unix             ? ""
             : address[0] == '[' ? "ipv6:"
                                 : "ipv4:",
             address);
    grpc_arg args[] = {
        {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, .value.integer = -1},
        {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, .value.integer = 1},
        {.type = GRPC_ARG_STRING,
         .key = GRPC_SSL_TARGET_NAME_OVERRIDE_ARG,
         .value.string = "cuzk.test"},
        {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_HTTP_PROXY, .value.integer = 0},
        {.type = GRPC_ARG_INTEGER,
         .key = GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES,
         .value.integer = options->lookahead},
    };
    grpc_channel_args all = {options->lookahead != 0 ? 5 : 4, args};
    grpc_ssl_pem_key_cert_pair pair = {options->key, options->cert};
    grpc_channel_credentials *credentials =
        options->ca == NULL ? grpc_insecure_credentials_create()
                            : grpc_ssl_credentials_create(
                                  options->ca, options->cert != NULL ? &pair : NULL, NULL, NULL);
    c->channel = grpc_channel_create(target, credentials, &all);
    grpc_channel_credentials_release(credentials);
    if (options->token != NULL) {
        snprintf(c->token, sizeof c->token, "Bearer %s", options->token);
    }
    return c;
}

void client_close(client *c)
{
    grpc_channel_destroy(c->channel);
    free(c);
}

void answer_clear(answer *a)
{
    free(a->data);
    memset(a, 0, sizeof *a);
}

static call *make(client *c, const char *method, unsigned deadline_ms)
{
    call *k = calloc(1, sizeof *k);
    k->queue = grpc_completion_queue_create_for_pluck(NULL);
    grpc_metadata_array_init(&k->head);
    grpc_metadata_array_init(&k->tail);
    char path[256];
    snprintf(path, sizeof path, "/%s", method);
    grpc_slice slice = grpc_slice_from_copied_string(path);
    gpr_timespec deadline =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_millis(deadline_ms != 0 ? deadline_ms : 20000, GPR_TIMESPAN));
    k->call = grpc_channel_create_call(c->channel, NULL, 0, k->queue, slice, NULL, deadline, NULL);
    grpc_slice_unref(slice);
    k->token.key = grpc_slice_from_static_string("authorization");
    k->token.value = grpc_slice_from_copied_string(c->token);
    return k;
}

static grpc_byte_buffer *to_buffer(const void *data, size_t size)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(data, size);
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return buffer;
}

static grpc_op head_op(call *k)
{
    grpc_op op = {.op = GRPC_OP_SEND_INITIAL_METADATA};
    op.data.send_initial_metadata.count = GRPC_SLICE_LENGTH(k->token.value) > 0;
    op.data.send_initial_metadata.metadata = &k->token;
    return op;
}

static grpc_op status_op(call *k)
{
    grpc_op op = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};
    op.data.recv_status_on_client.trailing_metadata = &k->tail;
    op.data.recv_status_on_client.status = &k->code;
    op.data.recv_status_on_client.status_details = &k->text;
    return op;
}

static void pluck(call *k, intptr_t tag)
{
    grpc_completion_queue_pluck(k->queue, (void *)tag, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
}

call *client_start(client *c, const char *method, const void *request, size_t size,
                   unsigned deadline_ms)
{
    call *k = make(c, method, deadline_ms);
    grpc_byte_buffer *buffer = to_buffer(request, size);
    grpc_op ops[6] = {head_op(k)};
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = buffer;
    ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &k->head;
    ops[4].op = GRPC_OP_RECV_MESSAGE;
    ops[4].data.recv_message.recv_message = &k->received;
    ops[5] = status_op(k);
    grpc_call_start_batch(k->call, ops, 6, (void *)(intptr_t)TAG_ALL, NULL);
    grpc_byte_buffer_destroy(buffer);
    return k;
}

static void take(answer *out, grpc_byte_buffer *buffer)
{
    grpc_byte_buffer_reader reader;
    grpc_byte_buffer_reader_init(&reader, buffer);
    grpc_slice all = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    out->size = GRPC_SLICE_LENGTH(all);
    out->data = malloc(out->size + 1);
    memcpy(out->data, GRPC_SLICE_START_PTR(all), out->size);
    out->data[out->size] = 0;
    grpc_slice_unref(all);
    grpc_byte_buffer_destroy(buffer);
}

void call_wait(call *k, answer *out)
{
    memset(out, 0, sizeof *out);
    pluck(k, k->is_stream ? TAG_STATUS : TAG_ALL);
    out->code = k->code;
    size_t n = GRPC_SLICE_LENGTH(k->text);
    n = n < sizeof out->text - 1 ? n : sizeof out->text - 1;
    memcpy(out->text, GRPC_SLICE_START_PTR(k->text), n);
    if (k->received != NULL) {
        take(out, k->received);
    }
    grpc_slice_unref(k->text);
    grpc_slice_unref(k->token.value);
    grpc_metadata_array_destroy(&k->head);
    grpc_metadata_array_destroy(&k->tail);
    grpc_call_unref(k->call);
    grpc_completion_queue_shutdown(k->queue);
    pluck(k, 0);
    grpc_completion_queue_destroy(k->queue);
    free(k);
}

void call_cancel(call *k)
{
    grpc_call_cancel(k->call, NULL);
}

void client_call(client *c, answer *out, const char *method, const void *request, size_t size,
                 unsigned deadline_ms)
{
    call_wait(client_start(c, method, request, size, deadline_ms), out);
}

call *client_stream(client *c, const char *method, unsigned deadline_ms)
{
    call *k = make(c, method, deadline_ms);
    k->is_stream = true;
    grpc_op head = head_op(k), status = status_op(k);
    grpc_call_start_batch(k->call, &status, 1, (void *)(intptr_t)TAG_STATUS, NULL);
    grpc_call_start_batch(k->call, &head, 1, (void *)(intptr_t)TAG_SEND, NULL);
    pluck(k, TAG_SEND);
    return k;
}

void call_send(call *k, const void *data, size_t size)
{
    grpc_byte_buffer *buffer = to_buffer(data, size);
    grpc_op op = {.op = GRPC_OP_SEND_MESSAGE};
    op.data.send_message.send_message = buffer;
    grpc_call_start_batch(k->call, &op, 1, (void *)(intptr_t)TAG_SEND, NULL);
    pluck(k, TAG_SEND);
    grpc_byte_buffer_destroy(buffer);
}

bool call_receive(call *k, answer *out)
{
    memset(out, 0, sizeof *out);
    grpc_byte_buffer *buffer = NULL;
    grpc_op ops[2] = {{.op = GRPC_OP_RECV_MESSAGE}, {.op = GRPC_OP_RECV_INITIAL_METADATA}};
    ops[0].data.recv_message.recv_message = &buffer;
    ops[1].data.recv_initial_metadata.recv_initial_metadata = &k->head;
    grpc_call_start_batch(k->call, ops, k->is_done ? 1 : 2, (void *)(intptr_t)TAG_RECEIVE, NULL);
    k->is_done = true; /* the head comes once */
    pluck(k, TAG_RECEIVE);
    if (buffer != NULL) {
        take(out, buffer);
    }
    return buffer != NULL;
}

void call_half_close(call *k)
{
    grpc_op op = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
    grpc_call_start_batch(k->call, &op, 1, (void *)(intptr_t)TAG_SEND, NULL);
    pluck(k, TAG_SEND);
}
