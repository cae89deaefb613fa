/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A command's connection, and answers in words. */
#include "client/session.h"

#include "base/out_file.h"
#include "client/locate.h"
#include "client/request.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool cuzk_session_fail(cuzk_session *session, cuzk_status status, const char *fmt, ...)
{
    cuzk_error *err = &session->args->err;
    va_list list;
    cuzk_error_clear(err);
    err->status = status;
    va_start(list, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, list);
    va_end(list);
    return false;
}

bool cuzk_session_seconds(const cuzk_cli_args *args, uint64_t *ns, const char *option,
                          const char *text)
{
    enum { SECONDS_MAX = 366 * 86400 };
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0.001 && value <= SECONDS_MAX)) {
        cuzk_cli_usage(args, "%s: \"%s\" is not a number of seconds from 0.001 to %d", option, text,
                       SECONDS_MAX);
        return false;
    }
    *ns = (uint64_t)(value * 1e9);
    return true;
}

bool cuzk_session_priority(const cuzk_cli_args *args, Cuzk__V1__Priority *priority)
{
    const char *name = cuzk_cli_value(args, "--priority");
    if (!cuzk_client_priority(priority, name)) {
        cuzk_cli_usage(args, "--priority: \"%s\" is not low, normal, high or critical", name);
        return false;
    }
    return true;
}

bool cuzk_session_open(cuzk_session *session, cuzk_cli_args *args, int *code)
{
    *session = (cuzk_session){.args = args};
    const char *timeout = cuzk_cli_value(args, "--timeout");
    if (timeout != NULL &&
        !cuzk_session_seconds(args, &session->timeout_ns, "--timeout", timeout)) {
        *code = CUZK_EXIT_USAGE;
        return false;
    }
    cuzk_locate_sources sources = {.connect = cuzk_cli_value(args, "--connect"),
                                   .status = cuzk_cli_value(args, "--status"),
                                   .config_path = cuzk_cli_value(args, "--config")};
    cuzk_client_options options = {.address = session->address,
                                   .tls_ca = cuzk_cli_value(args, "--tls-ca"),
                                   .tls_cert = cuzk_cli_value(args, "--tls-cert"),
                                   .tls_key = cuzk_cli_value(args, "--tls-key"),
                                   .tls_name = cuzk_cli_value(args, "--tls-name"),
                                   .token_file = cuzk_cli_value(args, "--token-file")};
    cuzk_error_clear(&args->err);
    if (cuzk_locate(session->address, session->status_address, sizeof session->address, &sources,
                    &args->err) != CUZK_OK ||
        cuzk_client_open(&session->client, &options, &args->err) != CUZK_OK) {
        *code = cuzk_cli_fail(args);
        return false;
    }
    cuzk_cli_catch_signals();
    return true;
}

void cuzk_session_close(cuzk_session *session)
{
    cuzk_client_close(session->client);
    session->client = NULL;
}

int cuzk_session_run(cuzk_cli_args *args, int (*run)(cuzk_session *session))
{
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&session, args, &code)) {
        code = run(&session);
        cuzk_session_close(&session);
    }
    return code;
}

/* One call; what is known of the daemon afterwards. */
static bool call(cuzk_session *session, cuzk_client_answer *answer, cuzk_client_method method,
                 const ProtobufCMessage *request, uint64_t limit_ns)
{
    cuzk_status status =
        cuzk_client_call(session->client, answer, method, request, limit_ns, cuzk_cli_interrupted);
    session->args->err = answer->error;
    session->was_connected =
        session->was_connected || status == CUZK_OK || answer->reach != CUZK_REACH_NONE;
    return status == CUZK_OK;
}

bool cuzk_session_call(cuzk_session *session, ProtobufCMessage **message, cuzk_client_method method,
                       const ProtobufCMessage *request, uint64_t default_ns)
{
    cuzk_client_answer answer;
    bool ok = call(session, &answer, method, request,
                   session->timeout_ns != 0 ? session->timeout_ns : default_ns);
    *message = answer.message;
    return ok;
}

/* ---- a daemon that is lost ------------------------------------------------------------------- */

bool cuzk_session_again(cuzk_session *session, cuzk_session_search *search, uint64_t *limit_ns,
                        cuzk_client_reach reach)
{
    enum { WAIT_MS = 500, TRIES_MAX = 120 };
    uint64_t spent = cuzk_cli_now_ns() - search->begin_ns, limit = session->timeout_ns;
    if (reach == CUZK_REACH_DAEMON || !session->was_connected || search->n_tries == TRIES_MAX ||
        (limit != 0 && spent >= limit) || cuzk_cli_interrupted()) {
        return false;
    }
    search->n_tries++;
    cuzk_cli_progress(session->args, "of the job: the connection is lost, trying again", 0);
    nanosleep(&(struct timespec){.tv_nsec = WAIT_MS * 1000000L}, NULL);
    spent = cuzk_cli_now_ns() - search->begin_ns;
    *limit_ns = limit == 0 ? 0 : spent < limit ? limit - spent : 1;
    return true;
}

bool cuzk_session_ask(cuzk_session *session, ProtobufCMessage **message, cuzk_client_method method,
                      const ProtobufCMessage *request)
{
    cuzk_session_search search = {.begin_ns = cuzk_cli_now_ns()};
    uint64_t limit_ns = session->timeout_ns;
    cuzk_client_answer answer;
    bool ok = call(session, &answer, method, request, limit_ns);
    /* a daemon that is leaving has refused the request: that is an answer */
    while (!ok && answer.reach != CUZK_REACH_LEAVING &&
           cuzk_session_again(session, &search, &limit_ns, answer.reach)) {
        ok = call(session, &answer, method, request, limit_ns);
    }
    if (search.n_tries > 0) {
        cuzk_cli_progress_end(session->args);
    }
    *message = answer.message;
    return ok;
}

const char *cuzk_session_id(const cuzk_cli_args *args, char made[CUZK_UUID_BYTES], cuzk_error *err)
{
    const char *id = cuzk_cli_value(args, "--request-id");
    if (id != NULL && id[0] != '\0') {
        return id;
    }
    return cuzk_random_uuid(made, err) == CUZK_OK ? made : NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

const char *cuzk_session_status_name(Cuzk__V1__AwaitProofResponse__Status status)
{
    static const char *const names[] = {"unknown", "completed", "failed", "cancelled", "timeout"};
    return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "unknown";
}

bool cuzk_session_completed(cuzk_session *session, const Cuzk__V1__AwaitProofResponse *answer)
{
    switch (answer->status) {
    case CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED:
        if (answer->proof.len > 0) {
            return true;
        }
        return cuzk_session_fail(session, CUZK_E_INTERNAL,
                                 "job %s: the daemon calls it completed and sends no proof",
                                 answer->job_id);
    case CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT:
        return cuzk_session_fail(session, CUZK_E_DEADLINE,
                                 "job %s: not done in time; it goes on: cuzk await asks again",
                                 answer->job_id);
    case CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED:
        return cuzk_session_fail(session, CUZK_E_CANCELLED, "job %s: cancelled%s%.800s",
                                 answer->job_id, answer->error_message[0] != '\0' ? ": " : "",
                                 answer->error_message);
    default:
        return cuzk_session_fail(session, CUZK_E_INVALID_PROOF, "job %s: %s: %.800s",
                                 answer->job_id, cuzk_session_status_name(answer->status),
                                 answer->error_message);
    }
}

void cuzk_session_json_begin(cuzk_cli_json *json, const char *job_id,
                             Cuzk__V1__AwaitProofResponse__Status status)
{
    cuzk_cli_json_begin(json);
    cuzk_cli_json_bool(json, "ok", true);
    cuzk_cli_json_text(json, "job_id", job_id);
    cuzk_cli_json_text(json, "status", cuzk_session_status_name(status));
}

void cuzk_session_json_times(cuzk_cli_json *json, const Cuzk__V1__AwaitProofResponse *answer)
{
    cuzk_cli_json_number(json, "total_ms", answer->total_ms);
    cuzk_cli_json_number(json, "queue_wait_ms", answer->queue_wait_ms);
    cuzk_cli_json_number(json, "srs_load_ms", answer->srs_load_ms);
    cuzk_cli_json_number(json, "synthesis_ms", answer->synthesis_ms);
    cuzk_cli_json_number(json, "gpu_compute_ms", answer->gpu_compute_ms);
}

void cuzk_session_print_times(const Cuzk__V1__AwaitProofResponse *answer)
{
    printf("%.2f s in the daemon: queue %.2f, parameters %.2f; summed over partitions: witness "
           "%.2f, proof %.2f",
           (double)answer->total_ms / 1e3, (double)answer->queue_wait_ms / 1e3,
           (double)answer->srs_load_ms / 1e3, (double)answer->synthesis_ms / 1e3,
           (double)answer->gpu_compute_ms / 1e3);
}

cuzk_status cuzk_session_write(const cuzk_session_file *files, size_t n, cuzk_error *err)
{
    cuzk_out_file out[2] = {{.file = NULL}, {.file = NULL}};
    for (size_t i = 0; i < n; i++) {
        cuzk_status status = cuzk_out_file_open(&out[i], files[i].path, err);
        if (status != CUZK_OK) {
            cuzk_out_file_abort(&out[0]);
            return status;
        }
        /* a failed write is kept by the stream and reported by the commit */
        (void)!fwrite(files[i].data, 1, files[i].n_bytes, out[i].file);
    }
    return cuzk_out_files_commit(out, n, err);
}

/* ---- units ----------------------------------------------------------------------------------- */

cuzk_session_time cuzk_session_time_of(double seconds)
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };
    cuzk_session_time out;
    const double most = 1e15, printed_as_minute = 59.95; /* as "60.0 s" */
    seconds = seconds < 0 ? 0 : seconds > most ? most : seconds;
    uint64_t whole = (uint64_t)seconds;
    if (seconds < printed_as_minute) {
        snprintf(out.text, sizeof out.text, "%.1f s", seconds);
    } else if (whole < HOUR) {
        whole = whole < MINUTE ? MINUTE : whole;
        snprintf(out.text, sizeof out.text, "%u min %u s", (unsigned)(whole / MINUTE),
                 (unsigned)(whole % MINUTE));
    } else if (whole < DAY) {
        snprintf(out.text, sizeof out.text, "%u h %u min", (unsigned)(whole / HOUR),
                 (unsigned)(whole % HOUR / MINUTE));
    } else {
        snprintf(out.text, sizeof out.text, "%llu d %u h", (unsigned long long)(whole / DAY),
                 (unsigned)(whole % DAY / HOUR));
    }
    return out;
}
