/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom proofs over HTTP: handlers that submit to the engine and answer from its callbacks. */
#include "server/http_circom.h"

#include "cuzk/v1/circom.pb-c.h"
#include "server/quote.h"
#include "work/circom_work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char json_type[] = "application/json";

/* ---- answers --------------------------------------------------------------------------------- */

/* Send a text that is complete, or say that memory ran out. Clears it. */
static void send_json(cuzk_http_call *call, unsigned code, cuzk_text *text)
{
    static const char no_memory[] = "{\"status\":\"failed\",\"error\":\"out of memory\"}\n";
    if (cuzk_text_check(text, NULL) == CUZK_OK) {
        cuzk_http_answer(call, code, json_type, text->data, text->size);
    } else {
        cuzk_http_answer(call, 500, json_type, no_memory, sizeof no_memory - 1);
    }
    cuzk_text_clear(text);
}

/* word: rapidsnark's name of the state. job_id: NULL: there is no job. */
static void send_failure(cuzk_http_call *call, unsigned code, const char *word, const char *job_id,
                         const char *error)
{
    cuzk_text text = {0};
    cuzk_text_printf(&text, "{\"status\":\"%s\"", word);
    if (job_id != NULL) {
        cuzk_text_put(&text, ",\"job_id\":");
        cuzk_text_put_quoted(&text, job_id);
    }
    cuzk_text_put(&text, ",\"error\":");
    cuzk_text_put_quoted(&text, error);
    cuzk_text_put(&text, "}\n");
    send_json(call, code, &text);
}

/* The code that tells what a client can do about a failure. */
static unsigned http_code(cuzk_status status)
{
    switch (status) {
    case CUZK_OK:
        return 200;
    case CUZK_E_ARGUMENT:
    case CUZK_E_FORMAT:
    case CUZK_E_TRUNCATED:
    case CUZK_E_MISMATCH:
    case CUZK_E_WITNESS_LENGTH:
        return 400;
    case CUZK_E_NOT_FOUND:
        return 404;
    case CUZK_E_MEMORY:
        return 413; /* the job is larger than the memory that there is for one */
    case CUZK_E_UNSATISFIED:
    case CUZK_E_INVALID_PROOF:
        return 422; /* the witness is not one of the circuit */
    case CUZK_E_CANCELLED:
        return 409;
    case CUZK_E_UNAVAILABLE:
        return 503;
    default:
        return 500;
    }
}

/* The same of an accepted job: its request was read and checked, what cannot be read now is the
 * circuit's file. */
static unsigned code_of_job(cuzk_status status)
{
    unsigned code = http_code(status);
    return code == 400 ? 500 : code;
}

static void send_proof(cuzk_http_call *call, const cuzk_job_result *result)
{
    cuzk_text text = {0};
    Cuzk__V1__ProveWitnessResponse *answer =
        cuzk__v1__prove_witness_response__unpack(NULL, result->answer_bytes, result->answer);
    if (answer == NULL) {
        send_failure(call, 500, "failed", result->job_id, "the job's answer cannot be read");
        return;
    }
    cuzk_text_put(&text, "{\"status\":\"success\",\"job_id\":");
    cuzk_text_put_quoted(&text, result->job_id);
    cuzk_text_put(&text, ",\"proof\":");
    cuzk_text_put_json_string(&text, answer->proof_json);
    cuzk_text_put(&text, ",\"pubData\":");
    cuzk_text_put_json_string(&text, answer->public_json);
    cuzk_text_put(&text, "}\n");
    cuzk__v1__prove_witness_response__free_unpacked(answer, NULL);
    send_json(call, 200, &text);
}

/* ---- proving --------------------------------------------------------------------------------- */

static void on_submitted(void *user, const cuzk_submitted *answer)
{
    if (answer->status != CUZK_OK) {
        send_failure(user, http_code(answer->status), "failed", NULL, answer->error);
    }
}

static void on_result(void *user, const cuzk_job_result *result)
{
    if (result->state == CUZK_JOB_COMPLETED) {
        send_proof(user, result);
    } else {
        bool is_cancelled = result->state == CUZK_JOB_CANCELLED;
        send_failure(user, code_of_job(result->status), is_cancelled ? "aborted" : "failed",
                     result->job_id, result->error);
    }
}

/* NAME of "/circom/NAME/prove", into room for CUZK_CIRCOM_NAME_MAX characters and NUL. False:
 * another path. */
static bool circuit_of(char *out, const char *path)
{
    static const char begin[] = "/circom/", end[] = "/prove";
    size_t n = strlen(path);
    size_t around = sizeof begin - 1 + sizeof end - 1;
    if (n <= around || n - around > CUZK_CIRCOM_NAME_MAX ||
        strncmp(path, begin, sizeof begin - 1) != 0 ||
        strcmp(path + n - (sizeof end - 1), end) != 0) {
        return false;
    }
    memcpy(out, path + sizeof begin - 1, n - around);
    out[n - around] = '\0';
    return strchr(out, '/') == NULL;
}

/* Why a body is no witness, or NULL: what the engine's decoder says of other bytes suffices. */
static const char *no_witness(const cuzk_http_request *request)
{
    static const char magic[] = "wtns";
    if (strncmp(request->content_type, "application/json", 16) == 0 ||
        (request->body_bytes > 0 && request->body[0] == '{')) {
        return "inputs as JSON are not taken: there is no witness calculator here; make the "
               "witness where the circuit's program is, and send the .wtns file as the body";
    }
    if (request->body_bytes < sizeof magic - 1 ||
        memcmp(request->body, magic, sizeof magic - 1) != 0) {
        return "the body is not a .wtns file";
    }
    return NULL;
}

static void prove(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    const cuzk_server *server = user;
    char circuit[CUZK_CIRCOM_NAME_MAX + 1];
    if (!circuit_of(circuit, request->path)) {
        send_failure(call, 404, "failed", NULL, "expected POST /circom/NAME/prove");
        return;
    }
    const char *wrong = no_witness(request);
    if (wrong != NULL) {
        send_failure(call, 415, "failed", NULL, wrong);
        return;
    }
    Cuzk__V1__ProveWitnessRequest message;
    cuzk__v1__prove_witness_request__init(&message);
    message.circuit = circuit;
    message.witness.data = (uint8_t *)request->body;
    message.witness.len = request->body_bytes;
    size_t n_bytes = cuzk__v1__prove_witness_request__get_packed_size(&message);
    uint8_t *payload = malloc(n_bytes);
    if (payload == NULL) {
        send_failure(call, 503, "failed", NULL, "out of memory");
        return;
    }
    cuzk__v1__prove_witness_request__pack(&message, payload);
    cuzk_submission submission = {.request_id = "",
                                  .kind = CUZK_KIND_CIRCOM,
                                  .payload = payload,
                                  .payload_bytes = n_bytes,
                                  .on_submitted = on_submitted,
                                  .on_result = on_result,
                                  .user = call};
    cuzk_engine_submit(server->engine, &submission, NULL);
}

/* ---- the list -------------------------------------------------------------------------------- */

static void list(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    const cuzk_server *server = user;
    cuzk_circom_info *infos = NULL;
    unsigned n = 0;
    cuzk_error err;
    (void)request;
    cuzk_error_clear(&err);
    if (cuzk_circom_list(server->circom, &infos, &n, &err) != CUZK_OK) {
        send_failure(call, 500, "failed", NULL, err.text);
        return;
    }
    cuzk_text text = {0};
    cuzk_text_put(&text, "{\"circuits\":[");
    for (unsigned i = 0; i < n; i++) {
        cuzk_text_put(&text, i > 0 ? ",{\"name\":" : "{\"name\":");
        cuzk_text_put_quoted(&text, infos[i].name);
        cuzk_text_printf(&text,
                         ",\"curve\":\"%s\",\"constraints\":%u,\"public_values\":%u,"
                         "\"variables\":%u,\"size_bytes\":%" PRIu64 "}",
                         infos[i].curve, infos[i].n_constraints, infos[i].n_public, infos[i].n_vars,
                         infos[i].n_bytes);
    }
    cuzk_text_put(&text, "]}\n");
    cuzk_circom_list_free(infos, n);
    send_json(call, 200, &text);
}

void cuzk_http_circom_routes(cuzk_http_route routes[CUZK_HTTP_CIRCOM_ROUTES], cuzk_server *server)
{
    routes[0] = (cuzk_http_route){"POST", "/circom/*", prove, server, false};
    routes[1] = (cuzk_http_route){"GET", "/circom", list, server, false};
}
