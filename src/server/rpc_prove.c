/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SubmitProof, Prove, AwaitProof and ProveWitness. */
#include "server/rpc_wait.h"
#include "server/rpc_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000 };

/* AwaitProofResponse.Status */
static unsigned wire_state(cuzk_job_state state)
{
    switch (state) {
    case CUZK_JOB_COMPLETED:
        return 1;
    case CUZK_JOB_FAILED:
        return 2;
    case CUZK_JOB_CANCELLED:
        return 3;
    case CUZK_JOB_TIMEOUT:
        return 4;
    default: /* no end of a job */
        return 0;
    }
}

/* An error text may quote bytes of the payload. */
static void put_error(cuzk_text *out, uint32_t number, const char *error)
{
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", error != NULL ? error : "");
    cuzk_utf8_mend(text);
    cuzk_wire_put_text(out, number, text);
}

/* The numbers of AwaitProofResponse and ProveWitnessResponse are the same from 10 on. */
static void put_times(cuzk_text *out, const cuzk_job_result *result, bool with_load)
{
    cuzk_wire_put_number(out, 10, result->queue_ns / NS_PER_MS);
    cuzk_wire_put_number(out, 11, with_load ? result->resident_ns / NS_PER_MS : 0);
    cuzk_wire_put_number(out, 12, result->witness_ns / NS_PER_MS);
    cuzk_wire_put_number(out, 13, result->prove_ns / NS_PER_MS);
    cuzk_wire_put_number(out, 14, result->total_ns / NS_PER_MS);
}

static void put_await_response(cuzk_text *out, const cuzk_job_result *result)
{
    cuzk_wire_put_text(out, 1, result->job_id);
    cuzk_wire_put_number(out, 2, wire_state(result->state));
    if (result->state == CUZK_JOB_COMPLETED) {
        cuzk_wire_put_bytes(out, 3, result->answer, result->answer_bytes);
    } else {
        put_error(out, 4, result->error);
    }
    put_times(out, result, true);
}

static void put_witness_response(cuzk_text *out, const cuzk_job_result *result)
{
    cuzk_wire_put_text(out, 1, result->job_id);
    cuzk_wire_put_number(out, 2, wire_state(result->state));
    if (result->state == CUZK_JOB_COMPLETED) {
        /* fields 3 and 4, as circom's work wrote them */
        cuzk_text_put_bytes(out, (const char *)result->answer, result->answer_bytes);
    } else {
        put_error(out, 5, result->error);
    }
    put_times(out, result, false);
}

void cuzk_prove_submitted(cuzk_call *call, const cuzk_submitted *answer)
{
    cuzk_text out = {0};
    cuzk_wire_put_text(&out, 1, answer->job_id);
    cuzk_wire_put_number(&out, 2, answer->queue_position);
    cuzk_call_answer(call, &out);
}

static void prove(cuzk_call *call, uint8_t *message, size_t size);
static void prove_witness(cuzk_call *call, uint8_t *message, size_t size);

void cuzk_prove_result(cuzk_call *call, const cuzk_job_result *result)
{
    if (result->status == CUZK_E_UNAVAILABLE || result->status == CUZK_E_NOT_FOUND) {
        /* the engine ends, the job does not; or the journal no longer has it */
        cuzk_call_fail_status(call, result->status, result->error);
        return;
    }
    if (result->state == CUZK_JOB_COMPLETED && result->answer_bytes == 0) {
        /* a client may put the bytes into a block without looking */
        cuzk_call_fail(call, GRPC_STATUS_INTERNAL, "job %s completed without a proof",
                       result->job_id);
        return;
    }
    cuzk_text out = {0};
    if (call->method->handle == prove_witness) {
        put_witness_response(&out, result);
    } else if (call->method->handle == prove) {
        cuzk_text inner = {0};
        put_await_response(&inner, result);
        cuzk_wire_put_message(&out, 1, &inner);
    } else {
        put_await_response(&out, result);
    }
    cuzk_call_answer(call, &out);
}

/* 0: the kind's own; unknown ones are NORMAL, as the reference takes them. */
static unsigned priority_of(uint64_t wire)
{
    return wire <= CUZK_PRIORITY_CRITICAL ? (unsigned)wire : CUZK_PRIORITY_NORMAL;
}

/* What the caller says of its trace; none where it says nothing that can be read. */
static cuzk_trace_context trace_of(const grpc_metadata_array *metadata)
{
    static const char key[] = "traceparent";
    cuzk_trace_context trace = {0};
    for (size_t i = 0; i < metadata->count && !trace.is_set; i++) {
        const grpc_metadata *m = &metadata->metadata[i];
        if (GRPC_SLICE_LENGTH(m->key) == sizeof key - 1 &&
            memcmp(GRPC_SLICE_START_PTR(m->key), key, sizeof key - 1) == 0) {
            (void)cuzk_trace_context_read(&trace, (const char *)GRPC_SLICE_START_PTR(m->value),
                                          GRPC_SLICE_LENGTH(m->value));
        }
    }
    return trace;
}

/* message: handed over. */
static void submit(cuzk_call *call, uint8_t *message, size_t size, bool is_witness,
                   bool wants_result)
{
    cuzk_rpc *rpc = call->rpc;
    cuzk_wire_submission *head = malloc(sizeof *head);
    cuzk_error err = {0};
    cuzk_status status = head == NULL
                             ? CUZK_FAIL(&err, CUZK_E_MEMORY, "out of memory")
                             : cuzk_wire_read_submission(head, message, size, is_witness, &err);
    unsigned kind = rpc->options.circom_kind;
    if (status == CUZK_OK && !is_witness) {
        bool is_known = head->proof_kind >= 1 && head->proof_kind <= rpc->options.last_proof_kind &&
                        head->proof_kind != rpc->options.circom_kind &&
                        rpc->kinds[head->proof_kind].name != NULL;
        kind = is_known ? (unsigned)head->proof_kind : 0;
        if (!is_known) {
            status = CUZK_FAIL(&err, CUZK_E_ARGUMENT, "proof_kind %lld: there is no such kind",
                               (long long)head->proof_kind);
        }
    } else if (status == CUZK_OK && kind == 0) {
        status = CUZK_FAIL(&err, CUZK_E_UNSUPPORTED, CUZK_RPC_NO_CIRCUITS);
    }
    if (status != CUZK_OK) {
        free(message);
        cuzk_call_fail_status(call, status, err.text);
    } else {
        cuzk_submission submission = {
            .request_id = head->request_id,
            .kind = kind,
            .priority = priority_of(head->priority),
            .payload = message,
            .payload_bytes = size,
            .trace = trace_of(&call->metadata),
        };
        uint64_t charge = call->charge;
        call->charge = 0;
        if (charge > CUZK_GATE_SMALL_PAYLOAD) {
            submission.reserved_bytes = cuzk_gate_hand_over(rpc->gate, charge);
            charge = submission.reserved_bytes > 0 ? 0 : charge;
        }
        cuzk_wait_submit(call, &submission, charge, wants_result);
    }
    free(head);
}

static void submit_proof(cuzk_call *call, uint8_t *message, size_t size)
{
    submit(call, message, size, false, false);
}

static void prove(cuzk_call *call, uint8_t *message, size_t size)
{
    cuzk_error err = {0};
    if (!call->was_unwrapped) {
        cuzk_status status = cuzk_wire_unwrap_prove(message, &size, &err);
        if (status != CUZK_OK) {
            free(message);
            cuzk_call_fail_status(call, status, err.text);
            return;
        }
    }
    submit(call, message, size, false, true);
}

static void prove_witness(cuzk_call *call, uint8_t *message, size_t size)
{
    submit(call, message, size, true, true);
}

static void await_proof(cuzk_call *call, uint8_t *message, size_t size)
{
    char job_id[CUZK_JOB_ID_MAX] = "";
    uint64_t timeout_ms = 0;
    cuzk_error err = {0};
    cuzk_status status = CUZK_OK;
    cuzk_wire wire = {message, message + size};
    cuzk_wire_field field;
    cuzk_wire_next next;
    while (status == CUZK_OK && (next = cuzk_wire_read(&wire, &field)) != CUZK_WIRE_END) {
        if (next == CUZK_WIRE_BROKEN) {
            status = CUZK_FAIL(&err, CUZK_E_FORMAT, "the request is not a protobuf message");
        } else if (field.number == 1) {
            status = cuzk_wire_text(job_id, sizeof job_id, &field, "job_id", &err);
        } else if (field.number == 2 && field.type == 0) {
            timeout_ms = field.value;
        }
    }
    free(message);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
        return;
    }
    uint64_t max_ms = UINT64_MAX / 2 / NS_PER_MS;
    cuzk_wait_await(call, job_id, (timeout_ms < max_ms ? timeout_ms : max_ms) * NS_PER_MS);
}

const cuzk_method *cuzk_rpc_prove_methods(void)
{
    static const cuzk_method methods[] = {
        {"/cuzk.v1.ProvingEngine/SubmitProof", CUZK_GATE_PAYLOAD, CUZK_RIGHT_SUBMIT,
         .handle = submit_proof},
        {"/cuzk.v1.ProvingEngine/AwaitProof", CUZK_GATE_SMALL, CUZK_RIGHT_SUBMIT,
         .handle = await_proof},
        {"/cuzk.v1.ProvingEngine/Prove", CUZK_GATE_PAYLOAD, CUZK_RIGHT_SUBMIT, .is_wrapped = true,
         .handle = prove},
        {"/cuzk.v1.Circom/ProveWitness", CUZK_GATE_PAYLOAD, CUZK_RIGHT_SUBMIT,
         .handle = prove_witness},
        {NULL},
    };
    return methods;
}
