/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk status and cuzk queue: what a daemon is doing. */
#include "client/commands.h"
#include "client/status_look.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void cuzk_look_clear(cuzk_look *l)
{
    if (l->message != NULL) {
        protobuf_c_message_free_unpacked(l->message, NULL);
    }
    cuzk_status_view_clear(&l->http);
    free(l->http_text);
}

bool cuzk_look_has_ended(const cuzk_status_job *j)
{
    static const char *const ends[] = {"completed", "failed", "cancelled"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (strcmp(j->state, ends[i]) == 0) {
            return true;
        }
    }
    return j->n_partitions > 0 && j->n_done == j->n_partitions;
}

/* Running jobs as they are served, by priority and age; queued ones behind them, in the daemon's
 * order; ended ones last, the latest first. */
static int compare_jobs(const void *a, const void *b)
{
    const cuzk_status_job *x = a, *y = b;
    bool x_ended = cuzk_look_has_ended(x), y_ended = cuzk_look_has_ended(y);
    bool x_queued = strcmp(x->state, "queued") == 0, y_queued = strcmp(y->state, "queued") == 0;
    if (x_ended != y_ended) {
        return x_ended ? 1 : -1;
    }
    if (x_queued != y_queued) {
        return x_queued ? 1 : -1;
    }
    if (!x_ended && !x_queued && x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    if (!x_ended && !x_queued && x->age != y->age) {
        return x->age > y->age ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The HTTP port may have been named wrongly, or a daemon that did not get its port is asked beside
 * the one that did: then what the two tell must not be mixed. */
static bool is_of_another(const cuzk_look *l)
{
    enum { APART_SECONDS = 5 }; /* the two answers are made at different moments */
    double difference = l->http.uptime - (double)l->rpc->uptime_seconds;
    return difference < -APART_SECONDS || difference > APART_SECONDS;
}

bool cuzk_look_take(cuzk_look *l, cuzk_session *session)
{
    memset(l, 0, sizeof *l);
    Cuzk__V1__GetStatusRequest request;
    cuzk__v1__get_status_request__init(&request);
    if (!cuzk_session_call(session, &l->message, CUZK_METHOD_STATUS, &request.base,
                           CUZK_SESSION_QUICK_NS)) {
        return false;
    }
    l->rpc = (Cuzk__V1__GetStatusResponse *)l->message;
    if (session->status_address[0] != '\0') {
        cuzk_error err;
        cuzk_error_clear(&err);
        l->has_http =
            cuzk_status_fetch(&l->http, &l->http_text, session->status_address, &err) == CUZK_OK;
        snprintf(l->http_error, sizeof l->http_error, "%s", err.text);
        if (l->has_http && is_of_another(l)) {
            snprintf(l->http_error, sizeof l->http_error,
                     "the status port %s is another daemon's, which has been up for %s",
                     session->status_address, cuzk_session_time_of(l->http.uptime).text);
            l->has_http = false;
            cuzk_status_view_clear(&l->http);
        }
        if (l->http.n_jobs > 0) {
            qsort(l->http.jobs, l->http.n_jobs, sizeof *l->http.jobs, compare_jobs);
        }
    }
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_queues(cuzk_cli_json *json, const Cuzk__V1__GetStatusResponse *r)
{
    cuzk_cli_json_open(json, "queues", '[');
    for (size_t i = 0; i < r->n_queues; i++) {
        cuzk_cli_json_open(json, NULL, '{');
        cuzk_cli_json_text(json, "kind", r->queues[i]->proof_kind);
        cuzk_cli_json_number(json, "pending", r->queues[i]->pending);
        cuzk_cli_json_number(json, "in_progress", r->queues[i]->in_progress);
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_close(json, ']');
}

static void put_waiting(cuzk_cli_json *json, const Cuzk__V1__GetStatusResponse *r)
{
    cuzk_cli_json_open(json, "waiting", '[');
    for (size_t i = 0; i < r->n_waiting; i++) {
        const Cuzk__V1__JobWait *w = r->waiting[i];
        cuzk_cli_json_open(json, NULL, '{');
        cuzk_cli_json_text(json, "job_id", w->job_id);
        cuzk_cli_json_text(json, "kind", w->proof_kind);
        cuzk_cli_json_text(json, "reason", w->reason);
        cuzk_cli_json_text(json, "waits_for", w->text);
        cuzk_cli_json_number(json, "needed_bytes", w->needed_bytes);
        cuzk_cli_json_number(json, "free_bytes", w->free_bytes);
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_close(json, ']');
}

static void put_workers(cuzk_cli_json *json, const Cuzk__V1__GetStatusResponse *r)
{
    cuzk_cli_json_open(json, "workers", '[');
    for (size_t i = 0; i < r->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = r->gpus[i];
        cuzk_cli_json_open(json, NULL, '{');
        cuzk_cli_json_number(json, "ordinal", g->ordinal);
        cuzk_cli_json_text(json, "name", g->name);
        cuzk_cli_json_number(json, "memory_total_bytes", g->vram_total_bytes);
        cuzk_cli_json_number(json, "memory_free_bytes", g->vram_free_bytes);
        cuzk_cli_json_text(json, "job_id", g->current_job_id);
        cuzk_cli_json_text(json, "kind", g->current_proof_kind);
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_close(json, ']');
}

static void put_residents(cuzk_cli_json *json, const Cuzk__V1__GetStatusResponse *r)
{
    cuzk_cli_json_open(json, "parameters", '[');
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *s = r->loaded_srs[i];
        cuzk_cli_json_open(json, NULL, '{');
        cuzk_cli_json_text(json, "circuit", s->circuit_id);
        cuzk_cli_json_number(json, "size_bytes", s->size_bytes);
        cuzk_cli_json_number(json, "users", s->ref_count);
        cuzk_cli_json_close(json, '}');
    }
    cuzk_cli_json_close(json, ']');
}

/* One object; "http" is the text of /status as it came, when it is JSON (it was read). */
void cuzk_look_print_json(const cuzk_look *l, const cuzk_session *session)
{
    const Cuzk__V1__GetStatusResponse *r = l->rpc;
    cuzk_cli_json json;
    cuzk_cli_json_begin(&json);
    cuzk_cli_json_bool(&json, "ok", true);
    cuzk_cli_json_text(&json, "address", session->address);
    cuzk_cli_json_number(&json, "uptime_seconds", r->uptime_seconds);
    cuzk_cli_json_number(&json, "completed", r->total_proofs_completed);
    cuzk_cli_json_number(&json, "failed", r->total_proofs_failed);
    put_workers(&json, r);
    put_queues(&json, r);
    put_residents(&json, r);
    put_waiting(&json, r);
    if (l->has_http) {
        printf(",\"http\":");
        for (const char *p = l->http_text; *p != '\0'; p++) {
            putchar((unsigned char)*p < ' ' ? ' ' : *p); /* line breaks between its tokens */
        }
    } else if (l->http_error[0] != '\0') {
        cuzk_cli_json_text(&json, "http_error", l->http_error);
    }
    cuzk_cli_json_end(&json);
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int look_once(cuzk_session *session, void (*print)(const cuzk_look *, const cuzk_session *))
{
    cuzk_look l;
    int code = CUZK_EXIT_OK;
    if (!cuzk_look_take(&l, session)) {
        code = cuzk_cli_fail(session->args);
    } else if (session->args->json) {
        cuzk_look_print_json(&l, session);
    } else {
        print(&l, session);
    }
    cuzk_look_clear(&l);
    return code;
}

static int watch(cuzk_session *session, uint64_t every_ns)
{
    enum { SECOND_NS = 1000000000 };
    bool is_terminal = isatty(STDOUT_FILENO) && !session->args->json;
    const struct timespec pause = {.tv_sec = (time_t)(every_ns / SECOND_NS),
                                   .tv_nsec = (long)(every_ns % SECOND_NS)};
    for (;;) {
        if (is_terminal) {
            fputs("\033[H\033[2J", stdout);
        }
        int code = look_once(session, cuzk_look_print);
        if (cuzk_cli_interrupted()) {
            return CUZK_EXIT_OK; /* what ends a watch */
        }
        if (code != CUZK_EXIT_OK && !is_terminal) {
            return code;
        }
        if (fflush(stdout) != 0) {
            return CUZK_EXIT_FAILED;
        }
        nanosleep(&pause, NULL); /* a signal ends it early */
        if (cuzk_cli_interrupted()) {
            return CUZK_EXIT_OK;
        }
    }
}

int cuzk_cmd_status(cuzk_cli_args *args)
{
    uint64_t every_ns = 1000000000;
    const char *every = cuzk_cli_value(args, "--every");
    bool is_watch = cuzk_cli_value(args, "--watch") != NULL;
    if (every != NULL && !cuzk_session_seconds(args, &every_ns, "--every", every)) {
        return CUZK_EXIT_USAGE;
    }
    if (every != NULL && !is_watch) {
        return cuzk_cli_usage(args, "--every needs --watch");
    }
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&session, args, &code)) {
        code = is_watch ? watch(&session, every_ns) : look_once(&session, cuzk_look_print);
        cuzk_session_close(&session);
    }
    return code;
}

int cuzk_cmd_queue(cuzk_cli_args *args)
{
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&session, args, &code)) {
        code = look_once(&session, cuzk_look_print_queue);
        cuzk_session_close(&session);
    }
    return code;
}
