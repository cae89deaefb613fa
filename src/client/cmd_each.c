/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk cancel, preload, evict: one quick thing for each argument. */
#include "base/size_text.h"
#include "client/commands.h"
#include "client/session.h"

#include <string.h>

/* Do it for one argument and tell: as members of an object in json, or, where that is NULL, as a
 * line. False with args->err set. */
typedef bool (*do_one)(cuzk_session *session, const char *name, cuzk_cli_json *json);

static bool cancel_one(cuzk_session *session, const char *job_id, cuzk_cli_json *json)
{
    Cuzk__V1__CancelProofRequest request;
    cuzk__v1__cancel_proof_request__init(&request);
    request.job_id = (char *)job_id;
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_CANCEL, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return false;
    }
    bool was_running = ((Cuzk__V1__CancelProofResponse *)message)->was_running;
    if (json != NULL) {
        cuzk_cli_json_bool(json, "was_running", was_running);
    } else {
        printf("job %s: %s\n", job_id,
               was_running ? "cancelled" : "had ended already, nothing to cancel");
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return true;
}

static bool preload_one(cuzk_session *session, const char *circuit, cuzk_cli_json *json)
{
    Cuzk__V1__PreloadSrsRequest request;
    cuzk__v1__preload_srs_request__init(&request);
    request.circuit_id = (char *)circuit;
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_PRELOAD, &request.base, 0)) {
        return false;
    }
    const Cuzk__V1__PreloadSrsResponse *answer = (Cuzk__V1__PreloadSrsResponse *)message;
    if (json != NULL) {
        cuzk_cli_json_bool(json, "already_loaded", answer->already_loaded);
        cuzk_cli_json_number(json, "load_time_ms", answer->load_time_ms);
    } else if (answer->already_loaded) {
        printf("%s: was loaded\n", circuit);
    } else {
        printf("%s: loaded in %.2f s\n", circuit, (double)answer->load_time_ms / 1e3);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return true;
}

static bool evict_one(cuzk_session *session, const char *circuit, cuzk_cli_json *json)
{
    Cuzk__V1__EvictSrsRequest request;
    cuzk__v1__evict_srs_request__init(&request);
    request.circuit_id = (char *)circuit;
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_EVICT, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return false;
    }
    const Cuzk__V1__EvictSrsResponse *answer = (Cuzk__V1__EvictSrsResponse *)message;
    if (json != NULL) {
        cuzk_cli_json_bool(json, "was_loaded", answer->was_loaded);
        cuzk_cli_json_number(json, "freed_bytes", answer->freed_bytes);
    } else if (answer->was_loaded) {
        printf("%s: evicted, %s\n", circuit, cuzk_size_of(answer->freed_bytes).text);
    } else {
        printf("%s: was not loaded\n", circuit);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return true;
}

/* ---- all arguments --------------------------------------------------------------------------- */

/* One argument, as an element of the array that is open in json. */
static bool one_as_json(cuzk_session *session, const char *key, const char *name, do_one one,
                        cuzk_cli_json *json)
{
    const cuzk_error *err = &session->args->err;
    cuzk_cli_json_open(json, NULL, '{');
    cuzk_cli_json_text(json, key, name);
    bool ok = one(session, name, json);
    if (!ok) {
        cuzk_cli_json_text(json, "status", cuzk_status_name(err->status));
        cuzk_cli_json_text(json, "error", err->text);
    }
    cuzk_cli_json_close(json, '}');
    return ok;
}

/* The rest is done also after one that failed. */
static int each(cuzk_cli_args *args, const char *key, do_one one)
{
    cuzk_session session;
    cuzk_cli_json json;
    int code = CUZK_EXIT_OK;
    if (!cuzk_session_open(&session, args, &code)) {
        return code;
    }
    bool with_json = args->json;
    args->json = false; /* one object for all, in place of one a failure */
    if (with_json) {
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_open(&json, "results", '[');
    }
    for (unsigned i = 0; i < args->n_positional; i++) {
        if (cuzk_cli_interrupted()) { /* between two calls */
            cuzk_session_fail(&session, CUZK_E_CANCELLED, "interrupted before \"%.200s\"",
                              args->positional[i]);
            code = cuzk_cli_fail(args);
            break;
        }
        bool ok = with_json ? one_as_json(&session, key, args->positional[i], one, &json)
                            : one(&session, args->positional[i], NULL);
        if (!ok) {
            code = cuzk_cli_fail(args);
        }
    }
    if (with_json) {
        cuzk_cli_json_close(&json, ']');
        cuzk_cli_json_bool(&json, "ok", code == CUZK_EXIT_OK);
        cuzk_cli_json_end(&json);
    }
    cuzk_session_close(&session);
    return code;
}

int cuzk_cmd_cancel(cuzk_cli_args *args)
{
    return each(args, "job_id", cancel_one);
}

int cuzk_cmd_preload(cuzk_cli_args *args)
{
    return each(args, "circuit", preload_one);
}

int cuzk_cmd_evict(cuzk_cli_args *args)
{
    return each(args, "circuit", evict_one);
}
