/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk devices --server, devices drain, devices add. */
#include "base/size_text.h"
#include "client/commands.h"
#include "client/session.h"

#include <string.h>
#include <time.h>

typedef Cuzk__V1__DeviceInfo device_info;

static const char *state_name(Cuzk__V1__DeviceInfo__State state)
{
    static const char *const names[] = {"used", "draining", "drained", "lost", "out", "opening"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "in an unknown state";
}

/* ---- on the screen --------------------------------------------------------------------------- */

static void put_json(cuzk_cli_json *json, const device_info *d)
{
    cuzk_cli_json_text(json, "id", d->id);
    cuzk_cli_json_text(json, "name", d->name);
    cuzk_cli_json_text(json, "state", state_name(d->state));
    cuzk_cli_json_number(json, "state_ms", d->state_ms);
    cuzk_cli_json_text(json, "reason", d->reason);
    cuzk_cli_json_number(json, "retry_ms", d->retry_ms);
    cuzk_cli_json_number(json, "partitions", d->partitions);
    cuzk_cli_json_number(json, "memory_bytes", d->memory_bytes);
    cuzk_cli_json_number(json, "reserved_bytes", d->reserved_bytes);
    cuzk_cli_json_number(json, "faults", d->faults);
    cuzk_cli_json_number(json, "renewals", d->renewals);
    cuzk_cli_json_open(json, "residents", '[');
    for (size_t i = 0; i < d->n_residents; i++) {
        const Cuzk__V1__DeviceResident *r = d->residents[i];
        cuzk_cli_json_open(json, NULL, '{');
        cuzk_cli_json_text(json, "circuit_id", r->circuit_id);
        cuzk_cli_json_text(json, "from", r->from);
        cuzk_cli_json_number(json, "bytes", r->bytes);
        cuzk_cli_json_number(json, "read_bytes", r->read_bytes);
        cuzk_cli_json_number(json, "load_ms", r->load_ms);
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_close(json, ']');
}

static void print_one(const device_info *d)
{
    char state[96];
    snprintf(state, sizeof state, "%s for %s", state_name(d->state),
             cuzk_session_time_of((double)d->state_ms / 1000).text);
    printf("%s: %s, %u partition%s", d->id, state, d->partitions, d->partitions == 1 ? "" : "s");
    if (d->memory_bytes > 0) {
        printf(", %s of %s reserved", cuzk_size_of(d->reserved_bytes).text,
               cuzk_size_of(d->memory_bytes).text);
    }
    printf("%s%s", d->name[0] != '\0' ? "; " : "", d->name);
    if (d->faults > 0 || d->renewals > 0) {
        printf("; %u faults, begun anew %u times", d->faults, d->renewals);
    }
    if (d->reason[0] != '\0') {
        printf("\n    %s", d->reason);
    }
    if (d->retry_ms > 0) {
        printf("; tried again in %s", cuzk_session_time_of((double)d->retry_ms / 1000).text);
    }
    printf("\n");
    for (size_t i = 0; i < d->n_residents; i++) {
        const Cuzk__V1__DeviceResident *r = d->residents[i];
        printf("    %s: %s from %s in %s\n", r->circuit_id, cuzk_size_of(r->bytes).text, r->from,
               cuzk_session_time_of((double)r->load_ms / 1000).text);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The daemon's devices; NULL with args->err set. Returned: a message to free. */
static Cuzk__V1__ListDevicesResponse *list(cuzk_session *session)
{
    Cuzk__V1__ListDevicesRequest request;
    cuzk__v1__list_devices_request__init(&request);
    ProtobufCMessage *message;
    return cuzk_session_call(session, &message, CUZK_METHOD_LIST_DEVICES, &request.base,
                             CUZK_SESSION_QUICK_NS)
               ? (Cuzk__V1__ListDevicesResponse *)message
               : NULL;
}

static int show(cuzk_session *session)
{
    Cuzk__V1__ListDevicesResponse *answer = list(session);
    if (answer == NULL) {
        return cuzk_cli_fail(session->args);
    }
    cuzk_cli_json json;
    if (session->args->json) {
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_open(&json, "devices", '[');
    }
    for (size_t i = 0; i < answer->n_devices; i++) {
        if (session->args->json) {
            cuzk_cli_json_open(&json, NULL, '{');
            put_json(&json, answer->devices[i]);
            cuzk_cli_json_close(&json, '}');
        } else {
            print_one(answer->devices[i]);
        }
    }
    if (session->args->json) {
        cuzk_cli_json_close(&json, ']');
        cuzk_cli_json_end(&json);
    }
    protobuf_c_message_free_unpacked(&answer->base, NULL);
    return CUZK_EXIT_OK;
}

/* How a command ended. */
static void tell(const cuzk_session *session, const char *was, const device_info *d)
{
    if (session->args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "was", was);
        put_json(&json, d);
        cuzk_cli_json_end(&json);
    } else if (!session->args->quiet) {
        printf("%s: %s (it was %s)\n", d->id, state_name(d->state), was);
    }
}

static bool is_on_its_way(const device_info *d)
{
    return d->state == CUZK__V1__DEVICE_INFO__STATE__DRAINING ||
           d->state == CUZK__V1__DEVICE_INFO__STATE__OPENING;
}

/* It did not come to be what was asked for in --timeout, or the command was interrupted. */
static void fail_on_its_way(cuzk_session *session, const device_info *d, bool is_late)
{
    cuzk_status status = is_late ? CUZK_E_DEADLINE : CUZK_E_CANCELLED;
    if (d->state == CUZK__V1__DEVICE_INFO__STATE__OPENING) {
        cuzk_session_fail(session, status, "device %s is still being opened and tested", d->id);
    } else {
        cuzk_session_fail(session, status,
                          "device %s is still being drained: %u partitions run there", d->id,
                          d->partitions);
    }
}

/* Ask until a device is neither being drained nor opened; the message of the last answer, in which
 * it is *device. NULL: that failed, or it took longer than --timeout. */
static ProtobufCMessage *wait_settled(cuzk_session *session, const device_info **device,
                                      const char *id)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    uint64_t begin_ns = cuzk_cli_now_ns();
    for (;;) {
        Cuzk__V1__ListDevicesResponse *answer = list(session);
        if (answer == NULL) {
            return NULL;
        }
        *device = NULL;
        for (size_t i = 0; i < answer->n_devices; i++) {
            *device = strcmp(answer->devices[i]->id, id) == 0 ? answer->devices[i] : *device;
        }
        if (*device != NULL && !is_on_its_way(*device)) {
            return &answer->base;
        }
        bool is_late =
            session->timeout_ns != 0 && cuzk_cli_now_ns() - begin_ns >= session->timeout_ns;
        bool ends = *device == NULL || is_late || cuzk_cli_interrupted();
        if (*device == NULL) {
            cuzk_session_fail(session, CUZK_E_FORMAT, "the daemon does not list device %s", id);
        } else if (ends) {
            fail_on_its_way(session, *device, is_late);
        }
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        if (ends) {
            return NULL;
        }
        nanosleep(&pause, NULL);
    }
}

/* What drain or add asked for: its answer tells the device, and what it was. Unless --no-wait says
 * otherwise it is waited until the device is as wanted. */
static bool finish(cuzk_session *session, const device_info *d, const char *was,
                   Cuzk__V1__DeviceInfo__State wanted)
{
    if (d == NULL) {
        cuzk_session_fail(session, CUZK_E_FORMAT, "the daemon's answer is without the device");
        return false;
    }
    ProtobufCMessage *last = NULL;
    bool waits = cuzk_cli_value(session->args, "--no-wait") == NULL;
    if (waits) {
        last = wait_settled(session, &d, d->id);
        if (last == NULL) {
            return false;
        }
    }
    bool is_wanted = !waits || d->state == wanted;
    if (is_wanted) {
        tell(session, was, d);
    } else if (wanted == CUZK__V1__DEVICE_INFO__STATE__DRAINED) {
        cuzk_session_fail(session, CUZK_E_CANCELLED, "device %s is %s: it was added meanwhile",
                          d->id, state_name(d->state));
    } else {
        cuzk_session_fail(session, CUZK_E_DEVICE, "device %s is not used: it is %s (%s)", d->id,
                          state_name(d->state), d->reason);
    }
    if (last != NULL) {
        protobuf_c_message_free_unpacked(last, NULL);
    }
    return is_wanted;
}

static int drain(cuzk_session *session)
{
    Cuzk__V1__DrainDeviceRequest request;
    cuzk__v1__drain_device_request__init(&request);
    request.device = (char *)(uintptr_t)session->args->positional[0];
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_DRAIN_DEVICE, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return cuzk_cli_fail(session->args);
    }
    const Cuzk__V1__DrainDeviceResponse *answer = (Cuzk__V1__DrainDeviceResponse *)message;
    bool is_done = finish(session, answer->device, state_name(answer->was),
                          CUZK__V1__DEVICE_INFO__STATE__DRAINED);
    protobuf_c_message_free_unpacked(message, NULL);
    return is_done ? CUZK_EXIT_OK : cuzk_cli_fail(session->args);
}

static int add(cuzk_session *session)
{
    Cuzk__V1__AddDeviceRequest request;
    cuzk__v1__add_device_request__init(&request);
    request.device = (char *)(uintptr_t)session->args->positional[0];
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_ADD_DEVICE, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return cuzk_cli_fail(session->args);
    }
    const Cuzk__V1__AddDeviceResponse *answer = (Cuzk__V1__AddDeviceResponse *)message;
    bool is_done = finish(session, answer->device, state_name(answer->was),
                          CUZK__V1__DEVICE_INFO__STATE__USED);
    protobuf_c_message_free_unpacked(message, NULL);
    return is_done ? CUZK_EXIT_OK : cuzk_cli_fail(session->args);
}

/* ---- the commands ---------------------------------------------------------------------------- */

int cuzk_cmd_devices(cuzk_cli_args *args)
{
    return cuzk_session_run(args, show);
}

int cuzk_cmd_devices_drain(cuzk_cli_args *args)
{
    return cuzk_session_run(args, drain);
}

int cuzk_cmd_devices_add(cuzk_cli_args *args)
{
    return cuzk_session_run(args, add);
}
