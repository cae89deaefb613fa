/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk circuits and cuzk metrics. */
#include "base/size_text.h"
#include "client/commands.h"
#include "client/session.h"

#include <string.h>

/* ---- circuits -------------------------------------------------------------------------------- */

static void put_circuit(cuzk_cli_json *json, const Cuzk__V1__CircuitInfo *c)
{
    cuzk_cli_json_text(json, "name", c->name);
    cuzk_cli_json_text(json, "zkey_path", c->zkey_path);
    cuzk_cli_json_text(json, "curve", c->curve);
    cuzk_cli_json_number(json, "constraints", c->n_constraints);
    cuzk_cli_json_number(json, "public_values", c->n_public);
    cuzk_cli_json_number(json, "variables", c->n_vars);
    cuzk_cli_json_number(json, "size_bytes", c->size_bytes);
}

static int list_circuits(cuzk_session *session)
{
    const cuzk_cli_args *args = session->args;
    Cuzk__V1__ListCircuitsRequest request;
    cuzk__v1__list_circuits_request__init(&request);
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_LIST, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return cuzk_cli_fail(session->args);
    }
    const Cuzk__V1__ListCircuitsResponse *answer = (Cuzk__V1__ListCircuitsResponse *)message;
    cuzk_cli_json json;
    if (args->json) {
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_open(&json, "circuits", '[');
    }
    for (size_t i = 0; i < answer->n_circuits; i++) {
        const Cuzk__V1__CircuitInfo *c = answer->circuits[i];
        if (args->json) {
            cuzk_cli_json_open(&json, NULL, '{');
            put_circuit(&json, c);
            cuzk_cli_json_close(&json, '}');
        } else {
            printf("%-24s %-9s %s constraints, %s public values, key %s: %s\n", c->name, c->curve,
                   cuzk_cli_group_digits(c->n_constraints).text,
                   cuzk_cli_group_digits(c->n_public).text, cuzk_size_of(c->size_bytes).text,
                   c->zkey_path);
        }
    }
    if (args->json) {
        cuzk_cli_json_close(&json, ']');
        cuzk_cli_json_end(&json);
    } else if (answer->n_circuits == 0 && !args->quiet) {
        printf("no circuit is registered\n");
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return CUZK_EXIT_OK;
}

static int register_circuit(cuzk_session *session)
{
    const cuzk_cli_args *args = session->args;
    Cuzk__V1__RegisterCircuitRequest request;
    cuzk__v1__register_circuit_request__init(&request);
    request.name = (char *)args->positional[0];
    request.zkey_path = (char *)args->positional[1];
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_REGISTER, &request.base, 0)) {
        return cuzk_cli_fail(session->args);
    }
    const Cuzk__V1__RegisterCircuitResponse *answer = (Cuzk__V1__RegisterCircuitResponse *)message;
    const Cuzk__V1__CircuitInfo *c = answer->circuit;
    if (c == NULL) {
        cuzk_session_fail(session, CUZK_E_FORMAT, "the daemon's answer is without the circuit");
    } else if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_bool(&json, "already_registered", answer->already_registered);
        put_circuit(&json, c);
        cuzk_cli_json_end(&json);
    } else if (!args->quiet) {
        printf("circuit %s: %s (%s, %s constraints)\n", c->name,
               answer->already_registered ? "was registered" : "registered", c->curve,
               cuzk_cli_group_digits(c->n_constraints).text);
    }
    int code = c == NULL ? cuzk_cli_fail(session->args) : CUZK_EXIT_OK;
    protobuf_c_message_free_unpacked(message, NULL);
    return code;
}

/* ---- metrics --------------------------------------------------------------------------------- */

static int print_metrics(cuzk_session *session)
{
    Cuzk__V1__GetMetricsRequest request;
    cuzk__v1__get_metrics_request__init(&request);
    ProtobufCMessage *message;
    if (!cuzk_session_call(session, &message, CUZK_METHOD_METRICS, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return cuzk_cli_fail(session->args);
    }
    const char *text = ((Cuzk__V1__GetMetricsResponse *)message)->prometheus_text;
    if (session->args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "prometheus_text", text);
        cuzk_cli_json_end(&json);
    } else {
        fputs(text, stdout);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return CUZK_EXIT_OK;
}

/* ---- the commands ---------------------------------------------------------------------------- */

int cuzk_cmd_circuits_list(cuzk_cli_args *args)
{
    return cuzk_session_run(args, list_circuits);
}

int cuzk_cmd_circuits_register(cuzk_cli_args *args)
{
    return cuzk_session_run(args, register_circuit);
}

int cuzk_cmd_metrics(cuzk_cli_args *args)
{
    return cuzk_session_run(args, print_metrics);
}
