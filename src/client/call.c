/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls: start, collect, cancel. */
#include "client/channel.h"

#include "base/clock.h"
#include "cuzk/v1/circom.pb-c.h"
#include "cuzk/v1/devices.pb-c.h"
#include "cuzk/v1/proving.pb-c.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/support/alloc.h>
#include <stdlib.h>
#include <string.h>

#define ENGINE  "/cuzk.v1.ProvingEngine/"
#define CIRCOM  "/cuzk.v1.Circom/"
#define DEVICES "/cuzk.v1.Devices/"

static const struct {
    const char *path;
    const ProtobufCMessageDescriptor *response;
} methods[CUZK_METHOD_COUNT] = {
    [CUZK_METHOD_SUBMIT] = {ENGINE "SubmitProof", &cuzk__v1__submit_proof_response__descriptor},
    [CUZK_METHOD_AWAIT] = {ENGINE "AwaitProof", &cuzk__v1__await_proof_response__descriptor},
    [CUZK_METHOD_PROVE] = {ENGINE "Prove", &cuzk__v1__prove_response__descriptor},
    [CUZK_METHOD_CANCEL] = {ENGINE "CancelProof", &cuzk__v1__cancel_proof_response__descriptor},
    [CUZK_METHOD_STATUS] = {ENGINE "GetStatus", &cuzk__v1__get_status_response__descriptor},
    [CUZK_METHOD_METRICS] = {ENGINE "GetMetrics", &cuzk__v1__get_metrics_response__descriptor},
    [CUZK_METHOD_PRELOAD] = {ENGINE "PreloadSRS", &cuzk__v1__preload_srs_response__descriptor},
    [CUZK_METHOD_EVICT] = {ENGINE "EvictSRS", &cuzk__v1__evict_srs_response__descriptor},
    [CUZK_METHOD_REGISTER] = {CIRCOM "RegisterCircuit",
                              &cuzk__v1__register_circuit_response__descriptor},
    [CUZK_METHOD_LIST] = {CIRCOM "ListCircuits", &cuzk__v1__list_circuits_response__descriptor},
    [CUZK_METHOD_PROVE_WITNESS] = {CIRCOM "ProveWitness",
                                   &cuzk__v1__prove_witness_response__descriptor},
    [CUZK_METHOD_LIST_DEVICES] = {DEVICES "ListDevices",
                                  &cuzk__v1__list_devices_response__descriptor},
    [CUZK_METHOD_DRAIN_DEVICE] = {DEVICES "DrainDevice",
                                  &cuzk__v1__drain_device_response__descriptor},
    [CUZK_METHOD_ADD_DEVICE] = {DEVICES "AddDevice", &cuzk__v1__add_device_response__descriptor},
};

const char *cuzk_client_method_name(cuzk_client_method method)
{
    return strrchr(methods[method].path, '/') + 1;
}

/* A call between start and answer; the tag of its one batch. */
struct cuzk_client_open_call {
    struct cuzk_client_open_call *previous, *next;
    cuzk_client_method method;
    void *user;
    uint64_t begin_ns;
    grpc_call *call;
    grpc_metadata authorization;
    grpc_metadata_array initial, trailing;
    grpc_byte_buffer *request, *response;
    grpc_status_code code;
    grpc_slice details;
};

static void destroy_call(struct cuzk_client_open_call *c)
{
    if (c->call != NULL) {
        grpc_call_unref(c->call);
    }
    if (c->request != NULL) {
        grpc_byte_buffer_destroy(c->request);
    }
    if (c->response != NULL) {
        grpc_byte_buffer_destroy(c->response);
    }
    grpc_metadata_array_destroy(&c->initial);
    grpc_metadata_array_destroy(&c->trailing);
    grpc_slice_unref(c->details);
    grpc_slice_unref(c->authorization.value);
    free(c);
}

static cuzk_status pack(grpc_byte_buffer **out, const ProtobufCMessage *request,
                        cuzk_client_method method, cuzk_error *err)
{
    size_t n = protobuf_c_message_get_packed_size(request);
    CUZK_FAIL_IF(n > CUZK_CLIENT_MESSAGE_MAX, err, CUZK_E_MEMORY,
                 "%s: the request has %zu bytes, a message may have %d",
                 cuzk_client_method_name(method), n, CUZK_CLIENT_MESSAGE_MAX);
    grpc_slice slice = grpc_slice_malloc(n);
    protobuf_c_message_pack(request, GRPC_SLICE_START_PTR(slice));
    *out = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return CUZK_OK;
}

/* The time on gRPC's clock that is ns from now; UINT64_MAX and 0 as deadline: never. */
static gpr_timespec in_ns(uint64_t ns)
{
    if (ns > INT64_MAX) {
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    }
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_nanos((int64_t)ns, GPR_TIMESPAN));
}

static grpc_call_error start_batch(cuzk_client *client, struct cuzk_client_open_call *c)
{
    size_t n_metadata = 0;
    if (client->authorization != NULL) {
        c->authorization.key = grpc_slice_from_static_string("authorization");
        c->authorization.value = grpc_slice_from_copied_string(client->authorization);
        n_metadata = 1;
    }
    grpc_op ops[] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA,
         .data.send_initial_metadata = {.count = n_metadata, .metadata = &c->authorization}},
        {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = c->request},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
        {.op = GRPC_OP_RECV_INITIAL_METADATA,
         .data.recv_initial_metadata.recv_initial_metadata = &c->initial},
        {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &c->response},
        {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
         .data.recv_status_on_client = {.trailing_metadata = &c->trailing,
                                        .status = &c->code,
                                        .status_details = &c->details}},
    };
    return grpc_call_start_batch(c->call, ops, sizeof ops / sizeof ops[0], c, NULL);
}

cuzk_status cuzk_client_start(cuzk_client *client, cuzk_client_method method,
                              const ProtobufCMessage *request, uint64_t timeout_ns, void *user,
                              cuzk_error *err)
{
    struct cuzk_client_open_call *c = calloc(1, sizeof *c);
    CUZK_FAIL_IF(c == NULL, err, CUZK_E_MEMORY, "%s: out of memory",
                 cuzk_client_method_name(method));
    c->method = method;
    c->user = user;
    c->begin_ns = cuzk_now_ns();
    c->details = grpc_empty_slice();
    c->authorization.value = grpc_empty_slice();
    grpc_metadata_array_init(&c->initial);
    grpc_metadata_array_init(&c->trailing);
    cuzk_status status = pack(&c->request, request, method, err);
    if (status != CUZK_OK) {
        destroy_call(c);
        return status;
    }
    c->call =
        grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS, client->queue,
                                 grpc_slice_from_static_string(methods[method].path), NULL,
                                 in_ns(timeout_ns == 0 ? UINT64_MAX : timeout_ns), NULL);
    grpc_call_error error = start_batch(client, c);
    if (error != GRPC_CALL_OK) {
        destroy_call(c);
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "%s: gRPC starts no call (error %d)",
                         cuzk_client_method_name(method), (int)error);
    }
    c->next = client->calls;
    if (c->next != NULL) {
        c->next->previous = c;
    }
    client->calls = c;
    return CUZK_OK;
}

static void unpack(cuzk_client_answer *answer, cuzk_client *client,
                   const struct cuzk_client_open_call *c)
{
    grpc_byte_buffer_reader reader;
    if (c->response != NULL && grpc_byte_buffer_reader_init(&reader, c->response)) {
        grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
        grpc_byte_buffer_reader_destroy(&reader);
        answer->message =
            protobuf_c_message_unpack(methods[c->method].response, NULL, GRPC_SLICE_LENGTH(slice),
                                      GRPC_SLICE_START_PTR(slice));
        grpc_slice_unref(slice);
    }
    if (answer->message == NULL) {
        CUZK_FAIL(&answer->error, CUZK_E_FORMAT,
                  "the daemon at %.300s: its answer to %s is not a "
                  "message of that type",
                  client->address, cuzk_client_method_name(c->method));
    }
}

bool cuzk_client_next(cuzk_client *client, cuzk_client_answer *answer, uint64_t wait_ns)
{
    if (client->calls == NULL) {
        return false;
    }
    grpc_event event = grpc_completion_queue_next(client->queue, in_ns(wait_ns), NULL);
    if (event.type != GRPC_OP_COMPLETE) {
        return false;
    }
    struct cuzk_client_open_call *c = event.tag;
    *answer = (cuzk_client_answer){
        .method = c->method, .user = c->user, .wall_ns = cuzk_now_ns() - c->begin_ns};
    if (c->code == GRPC_STATUS_OK) {
        unpack(answer, client, c);
    } else {
        char *text = grpc_slice_to_c_string(c->details);
        answer->reach = cuzk_client_explain(&answer->error, client, c->method, c->code, text);
        gpr_free(text);
    }
    if (c->previous != NULL) {
        c->previous->next = c->next;
    } else {
        client->calls = c->next;
    }
    if (c->next != NULL) {
        c->next->previous = c->previous;
    }
    destroy_call(c);
    return true;
}

void cuzk_client_answer_clear(cuzk_client_answer *answer)
{
    if (answer->message != NULL) {
        protobuf_c_message_free_unpacked(answer->message, NULL);
    }
    answer->message = NULL;
}

void cuzk_client_cancel(cuzk_client *client)
{
    for (struct cuzk_client_open_call *c = client->calls; c != NULL; c = c->next) {
        grpc_call_cancel(c->call, NULL);
    }
}

cuzk_status cuzk_client_call(cuzk_client *client, cuzk_client_answer *answer,
                             cuzk_client_method method, const ProtobufCMessage *request,
                             uint64_t timeout_ns, bool (*is_interrupted)(void))
{
    enum { EVERY_NS = 100000000 };
    *answer = (cuzk_client_answer){.method = method};
    CUZK_TRY(cuzk_client_start(client, method, request, timeout_ns, NULL, &answer->error));
    while (!cuzk_client_next(client, answer, EVERY_NS)) {
        if (is_interrupted != NULL && is_interrupted()) {
            cuzk_client_cancel(client);
        }
    }
    return answer->error.status;
}
