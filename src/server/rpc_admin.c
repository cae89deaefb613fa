/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls that look and administer: GetStatus, GetMetrics, CancelProof, PreloadSRS, EvictSRS,
 * RegisterCircuit, ListCircuits. */
#include "server/rpc_internal.h"
#include "server/rpc_status.h"
#include "server/rpc_wire.h"

#include <stdlib.h>
#include <string.h>

enum { CIRCUIT_PATH_MAX = 4096 };

/* Read the texts of a small request: field i + 1 into texts[i], of `capacity` bytes. */
static cuzk_status read_texts(char *const *texts, const size_t *capacities,
                              const char *const *names, size_t n, const uint8_t *message,
                              size_t size, cuzk_error *err)
{
    for (size_t i = 0; i < n; i++) {
        texts[i][0] = '\0';
    }
    cuzk_wire wire = {message, message + size};
    cuzk_wire_field field;
    cuzk_wire_next next;
    while ((next = cuzk_wire_read(&wire, &field)) == CUZK_WIRE_FIELD) {
        if (field.number <= n) {
            size_t i = field.number - 1;
            CUZK_TRY(cuzk_wire_text(texts[i], capacities[i], &field, names[i], err));
        }
    }
    CUZK_FAIL_IF(next == CUZK_WIRE_BROKEN, err, CUZK_E_FORMAT,
                 "the request is not a protobuf message");
    return CUZK_OK;
}

/* The same for one text; the message is freed. False: the call has failed. */
static bool read_text(cuzk_call *call, char *text, size_t capacity, const char *name,
                      uint8_t *message, size_t size)
{
    cuzk_error err = {0};
    cuzk_status status = read_texts((char *[]){text}, &capacity, &name, 1, message, size, &err);
    free(message);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
    }
    return status == CUZK_OK;
}

static void get_status(cuzk_call *call, uint8_t *message, size_t size)
{
    (void)size;
    free(message);
    cuzk_engine_view *view = malloc(sizeof *view);
    cuzk_error err = {0};
    cuzk_status status = view == NULL
                             ? CUZK_FAIL(&err, CUZK_E_MEMORY, "out of memory")
                             : cuzk_engine_look(call->rpc->options.engine, view, false, &err);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
    } else {
        cuzk_text out = {0};
        cuzk_status_message(&out, view, call->rpc->kinds);
        cuzk_engine_view_clear(view);
        cuzk_call_answer(call, &out);
    }
    free(view);
}

static void get_metrics(cuzk_call *call, uint8_t *message, size_t size)
{
    (void)size;
    free(message);
    const cuzk_rpc_options *options = &call->rpc->options;
    cuzk_error err = {0};
    cuzk_text text = {0}, out = {0};
    cuzk_status status = options->metrics_text(options->user, &text, &err);
    if (status == CUZK_OK) {
        cuzk_wire_put_message(&out, 1, &text);
        cuzk_call_answer(call, &out);
    } else {
        cuzk_text_clear(&text);
        cuzk_call_fail_status(call, status, err.text);
    }
}

static void cancel_proof(cuzk_call *call, uint8_t *message, size_t size)
{
    char job_id[CUZK_JOB_ID_MAX];
    if (!read_text(call, job_id, sizeof job_id, "job_id", message, size)) {
        return;
    }
    cuzk_error err = {0};
    bool was_running = false;
    cuzk_status status = cuzk_engine_cancel(call->rpc->options.engine, &was_running, job_id, &err);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
        return;
    }
    cuzk_text out = {0};
    cuzk_wire_put_number(&out, 1, was_running);
    cuzk_call_answer(call, &out);
}

/* End with what became of a file that the request only names: the argument is right where the file
 * is damaged. */
static void fail_file(cuzk_call *call, cuzk_status status, const char *text)
{
    bool is_damaged =
        status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED || status == CUZK_E_MISMATCH;
    cuzk_call_fail_status(call, is_damaged ? CUZK_E_FILE : status, text);
}

static void preload_srs(cuzk_call *call, uint8_t *message, size_t size)
{
    char circuit[CUZK_CIRCUIT_ID_MAX];
    if (!read_text(call, circuit, sizeof circuit, "circuit_id", message, size)) {
        return;
    }
    cuzk_error err = {0};
    bool was_loaded = false;
    uint64_t load_ns = 0;
    cuzk_status status =
        cuzk_engine_preload(call->rpc->options.engine, &was_loaded, &load_ns, circuit, false, &err);
    if (status != CUZK_OK) {
        fail_file(call, status, err.text);
        return;
    }
    cuzk_text out = {0};
    cuzk_wire_put_number(&out, 1, was_loaded);
    cuzk_wire_put_number(&out, 2, load_ns / 1000000);
    cuzk_call_answer(call, &out);
}

static void evict_srs(cuzk_call *call, uint8_t *message, size_t size)
{
    char circuit[CUZK_CIRCUIT_ID_MAX];
    if (!read_text(call, circuit, sizeof circuit, "circuit_id", message, size)) {
        return;
    }
    bool was_loaded = false;
    uint64_t freed = 0;
    cuzk_error err = {0};
    cuzk_status status =
        cuzk_engine_evict(call->rpc->options.engine, &was_loaded, &freed, circuit, &err);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
        return;
    }
    cuzk_text out = {0};
    cuzk_wire_put_number(&out, 1, was_loaded);
    cuzk_wire_put_number(&out, 2, freed);
    cuzk_call_answer(call, &out);
}

static void put_circuit(void *context, const cuzk_rpc_circuit *circuit)
{
    cuzk_text *out = context, part = {0};
    cuzk_wire_put_text(&part, 1, circuit->name);
    cuzk_wire_put_text(&part, 2, circuit->zkey_path);
    cuzk_wire_put_text(&part, 3, circuit->curve);
    cuzk_wire_put_number(&part, 4, circuit->n_constraints);
    cuzk_wire_put_number(&part, 5, circuit->n_public);
    cuzk_wire_put_number(&part, 6, circuit->n_vars);
    cuzk_wire_put_number(&part, 7, circuit->size_bytes);
    cuzk_wire_put_message(out, 1, &part);
}

/* NULL: the call has failed. */
static const cuzk_rpc_circuits *circuits_of(cuzk_call *call)
{
    const cuzk_rpc_circuits *circuits = call->rpc->options.circuits;
    if (circuits == NULL) {
        cuzk_call_fail(call, GRPC_STATUS_UNIMPLEMENTED, CUZK_RPC_NO_CIRCUITS);
    }
    return circuits;
}

static void register_circuit(cuzk_call *call, uint8_t *message, size_t size)
{
    const cuzk_rpc_circuits *circuits = circuits_of(call);
    char name[256], *path = malloc(CIRCUIT_PATH_MAX);
    cuzk_error err = {0};
    cuzk_status status = CUZK_OK;
    if (path == NULL) {
        status = CUZK_FAIL(&err, CUZK_E_MEMORY, "out of memory");
    } else if (circuits != NULL) {
        status = read_texts((char *[]){name, path}, (size_t[]){sizeof name, CIRCUIT_PATH_MAX},
                            (const char *[]){"name", "zkey_path"}, 2, message, size, &err);
    }
    cuzk_text out = {0};
    bool was_there = false, is_read = status == CUZK_OK;
    if (status == CUZK_OK && circuits != NULL) {
        status = circuits->add(circuits->user, name, path, &was_there, put_circuit, &out, &err);
    }
    free(path);
    free(message);
    if (status == CUZK_E_MISMATCH && was_there) {
        cuzk_call_fail(call, GRPC_STATUS_ALREADY_EXISTS, "%s", err.text);
    } else if (status != CUZK_OK && is_read) {
        fail_file(call, status, err.text);
    } else if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
    } else if (circuits != NULL) {
        cuzk_wire_put_number(&out, 2, was_there);
        cuzk_call_answer(call, &out);
        return;
    }
    cuzk_text_clear(&out);
}

static void list_circuits(cuzk_call *call, uint8_t *message, size_t size)
{
    (void)size;
    free(message);
    const cuzk_rpc_circuits *circuits = circuits_of(call);
    if (circuits == NULL) {
        return;
    }
    cuzk_error err = {0};
    cuzk_text out = {0};
    cuzk_status status = circuits->list(circuits->user, put_circuit, &out, &err);
    if (status != CUZK_OK) {
        cuzk_text_clear(&out);
        cuzk_call_fail_status(call, status, err.text);
        return;
    }
    cuzk_call_answer(call, &out);
}

const cuzk_method *cuzk_rpc_admin_methods(void)
{
    static const cuzk_method methods[] = {
        {"/cuzk.v1.ProvingEngine/GetStatus", CUZK_GATE_SMALL, CUZK_RIGHT_SUBMIT, .is_long = true,
         .handle = get_status},
        {"/cuzk.v1.ProvingEngine/GetMetrics", CUZK_GATE_SMALL, CUZK_RIGHT_SUBMIT, .is_long = true,
         .handle = get_metrics},
        {"/cuzk.v1.ProvingEngine/CancelProof", CUZK_GATE_SMALL, CUZK_RIGHT_ADMIN,
         .handle = cancel_proof},
        {"/cuzk.v1.ProvingEngine/PreloadSRS", CUZK_GATE_SMALL, CUZK_RIGHT_ADMIN,
         .is_blocking = true, .handle = preload_srs},
        {"/cuzk.v1.ProvingEngine/EvictSRS", CUZK_GATE_SMALL, CUZK_RIGHT_ADMIN, .is_blocking = true,
         .handle = evict_srs},
        {"/cuzk.v1.Circom/RegisterCircuit", CUZK_GATE_SMALL, CUZK_RIGHT_ADMIN, .is_blocking = true,
         .handle = register_circuit},
        {"/cuzk.v1.Circom/ListCircuits", CUZK_GATE_SMALL, CUZK_RIGHT_SUBMIT, .is_blocking = true,
         .handle = list_circuits},
        {NULL},
    };
    return methods;
}
