/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk.v1.Devices: ListDevices, DrainDevice, AddDevice. */
#include "server/memory_view.h"
#include "server/rpc_internal.h"
#include "server/rpc_wire.h"

#include <stdlib.h>

/* The keys that are on it. */
static void put_residents(cuzk_text *out, const cuzk_rpc_options *options, unsigned device)
{
    cuzk_device_arrival arrivals[CUZK_MEMORY_ARRIVALS];
    unsigned n = options->arrivals == NULL
                     ? 0
                     : options->arrivals(options->user, device, arrivals, CUZK_MEMORY_ARRIVALS);
    cuzk_text part = {0};
    for (unsigned i = 0; i < n; i++) {
        cuzk_wire_put_text(&part, 1, arrivals[i].circuit);
        cuzk_wire_put_text(&part, 2, arrivals[i].from);
        cuzk_wire_put_number(&part, 3, arrivals[i].n_bytes);
        cuzk_wire_put_number(&part, 4, arrivals[i].n_read_bytes);
        cuzk_wire_put_number(&part, 5, arrivals[i].ns / 1000000);
        cuzk_wire_put_message(out, 12, &part);
    }
}

static void put_device(cuzk_text *out, const cuzk_rpc *rpc, const cuzk_engine_view *view,
                       unsigned device)
{
    const cuzk_device_view *d = &view->devices[device];
    cuzk_wire_put_text(out, 1, d->id);
    cuzk_wire_put_text(out, 2, d->name);
    cuzk_wire_put_number(out, 3, d->state);
    cuzk_wire_put_number(out, 4, d->state_ns / 1000000);
    cuzk_wire_put_text(out, 5, d->reason);
    cuzk_wire_put_number(out, 6, d->retry_ns / 1000000);
    cuzk_wire_put_number(out, 7, d->n_units);
    cuzk_wire_put_number(out, 8, d->memory_bytes);
    cuzk_wire_put_number(out, 9, d->reserved_bytes);
    cuzk_wire_put_number(out, 10, d->n_faults);
    cuzk_wire_put_number(out, 11, d->n_renewals);
    put_residents(out, &rpc->options, device);
}

/* The engine's picture; NULL: the call has failed. Returned: free_look. */
static cuzk_engine_view *look(cuzk_call *call)
{
    cuzk_engine_view *view = malloc(sizeof *view);
    cuzk_error err = {0};
    cuzk_status status = view == NULL
                             ? CUZK_FAIL(&err, CUZK_E_MEMORY, "out of memory")
                             : cuzk_engine_look(call->rpc->options.engine, view, false, &err);
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
        free(view);
        return NULL;
    }
    return view;
}

static void free_look(cuzk_engine_view *view)
{
    cuzk_engine_view_clear(view);
    free(view);
}

static void list_devices(cuzk_call *call, uint8_t *message, size_t size)
{
    (void)size;
    free(message);
    cuzk_engine_view *view = look(call);
    if (view == NULL) {
        return;
    }
    cuzk_text out = {0}, part = {0};
    for (unsigned i = 0; i < view->n_devices; i++) {
        put_device(&part, call->rpc, view, i);
        cuzk_wire_put_message(&out, 1, &part);
    }
    free_look(view);
    cuzk_call_answer(call, &out);
}

/* The device that the request names; the message is freed. False: the call has failed. */
static bool read_device(cuzk_call *call, unsigned *device, uint8_t *message, size_t size)
{
    char name[64] = "";
    cuzk_error err = {0};
    cuzk_wire wire = {message, message + size};
    cuzk_wire_field field;
    cuzk_wire_next next;
    cuzk_status status = CUZK_OK;
    while (status == CUZK_OK && (next = cuzk_wire_read(&wire, &field)) != CUZK_WIRE_END) {
        if (next == CUZK_WIRE_BROKEN) {
            status = CUZK_FAIL(&err, CUZK_E_FORMAT, "the request is not a protobuf message");
        } else if (field.number == 1) {
            status = cuzk_wire_text(name, sizeof name, &field, "device", &err);
        }
    }
    free(message);
    if (status == CUZK_OK) {
        status = cuzk_engine_device_find(call->rpc->options.engine, device, name, &err);
    }
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err.text);
    }
    return status == CUZK_OK;
}

/* What it was, and is now; or why it is not so. */
static void answer(cuzk_call *call, unsigned device, cuzk_device_state was, cuzk_status status,
                   const cuzk_error *err)
{
    if (status != CUZK_OK) {
        cuzk_call_fail_status(call, status, err->text);
        return;
    }
    cuzk_engine_view *view = look(call);
    if (view == NULL) {
        return;
    }
    cuzk_text out = {0}, part = {0};
    cuzk_wire_put_number(&out, 1, was);
    put_device(&part, call->rpc, view, device);
    cuzk_wire_put_message(&out, 2, &part);
    free_look(view);
    cuzk_call_answer(call, &out);
}

static void drain_device(cuzk_call *call, uint8_t *message, size_t size)
{
    unsigned device = 0;
    if (read_device(call, &device, message, size)) {
        cuzk_error err = {0};
        cuzk_device_state was = CUZK_DEVICE_USED;
        cuzk_status status =
            cuzk_engine_device_drain(call->rpc->options.engine, &was, device, false, &err);
        answer(call, device, was, status, &err);
    }
}

static void add_device(cuzk_call *call, uint8_t *message, size_t size)
{
    unsigned device = 0;
    if (read_device(call, &device, message, size)) {
        cuzk_error err = {0};
        cuzk_device_state was = CUZK_DEVICE_USED;
        cuzk_status status =
            cuzk_engine_device_add(call->rpc->options.engine, &was, device, false, &err);
        answer(call, device, was, status, &err);
    }
}

const cuzk_method *cuzk_rpc_device_methods(void)
{
    static const cuzk_method methods[] = {
        {"/cuzk.v1.Devices/ListDevices", CUZK_GATE_SMALL, CUZK_RIGHT_SUBMIT, .is_long = true,
         .handle = list_devices},
        {"/cuzk.v1.Devices/DrainDevice", CUZK_GATE_SMALL, CUZK_RIGHT_ADMIN, .is_long = true,
         .handle = drain_device},
        {"/cuzk.v1.Devices/AddDevice", CUZK_GATE_SMALL, CUZK_RIGHT_ADMIN, .is_long = true,
         .handle = add_device},
        {NULL},
    };
    return methods;
}
