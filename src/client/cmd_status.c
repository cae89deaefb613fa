/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk status and cuzk queue: what a daemon is doing, as tables for people. */
#include "client/commands.h"
#include "client/session.h"
#include "client/status_read.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One look at the daemon. */
struct look {
    ProtobufCMessage *message; /* of GetStatus */
    const Cuzk__V1__GetStatusResponse *rpc;
    bool has_http;
    cuzk_status_view http; /* all zero without has_http */
    char *http_text;
    char http_error[CUZK_ERROR_TEXT_MAX]; /* why there is none; "": no address is known */
};

static void clear(struct look *l)
{
    if (l->message != NULL) {
        protobuf_c_message_free_unpacked(l->message, NULL);
    }
    cuzk_status_view_clear(&l->http);
    free(l->http_text);
}

static bool has_ended(const cuzk_status_job *j)
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
    bool x_ended = has_ended(x), y_ended = has_ended(y);
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

static bool take_look(struct look *l, cuzk_session *session)
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
        if (l->http.n_jobs > 0) {
            qsort(l->http.jobs, l->http.n_jobs, sizeof *l->http.jobs, compare_jobs);
        }
    }
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A text cut to a column's width: ids may be long, and hold anything. */
typedef struct {
    char text[64];
} column;

static column cut(const char *text, unsigned width)
{
    column out;
    size_t n = strlen(text);
    if (n <= width) {
        snprintf(out.text, sizeof out.text, "%s", text);
    } else {
        unsigned head = width / 2 - 1;
        snprintf(out.text, sizeof out.text, "%.*s..%s", (int)head, text,
                 text + n - (width - head - 2));
    }
    for (char *p = out.text; *p != '\0'; p++) {
        *p = (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p;
    }
    return out;
}

enum { JOB_WIDTH = 36, KIND_WIDTH = 12, CIRCUIT_WIDTH = 24, NAME_WIDTH = 34 };
enum { UNFINISHED_MAX = 30, ENDED_MAX = 5 }; /* jobs that status shows */

static void print_workers(const struct look *l)
{
    const Cuzk__V1__GetStatusResponse *r = l->rpc;
    printf("\n%-3s %-*s %-23s %-*s %s\n", "dev", NAME_WIDTH, "name", "memory", KIND_WIDTH, "proves",
           "job");
    for (size_t i = 0; i < r->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = r->gpus[i];
        char memory[64] = "of the host";
        if (g->vram_total_bytes > 0) {
            snprintf(memory, sizeof memory, "%s of %s free",
                     cuzk_session_size_of(g->vram_free_bytes).text,
                     cuzk_session_size_of(g->vram_total_bytes).text);
        }
        bool is_idle = g->current_job_id[0] == '\0';
        /* the HTTP port lists the same workers in the same order, a moment later */
        const cuzk_status_worker *w = i < l->http.n_workers ? &l->http.workers[i] : NULL;
        printf("%-3u %-*s %-23s %-*s %s", g->ordinal, NAME_WIDTH, cut(g->name, NAME_WIDTH).text,
               memory, KIND_WIDTH, is_idle ? "idle" : cut(g->current_proof_kind, KIND_WIDTH).text,
               is_idle && w != NULL && w->is_reserve ? "(for CRITICAL jobs only)"
                                                     : cut(g->current_job_id, JOB_WIDTH).text);
        if (!is_idle && w != NULL && w->partition >= 0 &&
            strcmp(w->job_id, g->current_job_id) == 0) {
            printf(" partition %lld, %s", (long long)w->partition,
                   cuzk_session_time_of(w->busy).text);
        }
        printf("\n");
    }
}

static void print_queues(const Cuzk__V1__GetStatusResponse *r)
{
    printf("\n%-*s %8s %12s\n", KIND_WIDTH, "kind", "pending", "in progress");
    for (size_t i = 0; i < r->n_queues; i++) {
        const Cuzk__V1__QueueStatus *q = r->queues[i];
        printf("%-*s %8u %12u\n", KIND_WIDTH, cut(q->proof_kind, KIND_WIDTH).text, q->pending,
               q->in_progress);
    }
    if (r->n_queues == 0) {
        printf("no jobs\n");
    }
}

static void print_residents(const struct look *l)
{
    const Cuzk__V1__GetStatusResponse *r = l->rpc;
    static const char *const tiers[] = {"hot", "warm", "cold"};
    if (r->n_loaded_srs == 0) {
        printf("\nno parameters are loaded\n");
        return;
    }
    printf("\n%-*s %10s %6s  %s\n", CIRCUIT_WIDTH, "parameters", "size", "users", "state");
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *s = r->loaded_srs[i];
        printf("%-*s %10s %6u  %s", CIRCUIT_WIDTH, cut(s->circuit_id, CIRCUIT_WIDTH).text,
               cuzk_session_size_of(s->size_bytes).text, s->ref_count,
               (unsigned)s->tier < 3 ? tiers[s->tier] : "?");
        for (size_t k = 0; k < l->http.n_residents; k++) {
            const cuzk_status_resident *h = &l->http.residents[k];
            if (strcmp(h->circuit_id, s->circuit_id) == 0) {
                printf("%s%s, idle %s", h->state[0] != '\0' ? ", " : "", h->state,
                       cuzk_session_time_of(h->idle).text);
            }
        }
        printf("\n");
    }
}

static const char *priority_name(unsigned priority)
{
    static const char *const names[] = {"", "low", "normal", "high", "critical"};
    return priority < sizeof names / sizeof names[0] ? names[priority] : "?";
}

static void print_job(const cuzk_status_job *j)
{
    enum { DRAWN_MAX = 64 };
    double age = j->age >= 0 ? j->age : j->started;
    printf("%-*s %-*s %-8s %-9s %10s  %u of %u", JOB_WIDTH, cut(j->job_id, JOB_WIDTH).text,
           KIND_WIDTH, cut(j->kind, KIND_WIDTH).text, priority_name(j->priority),
           cut(j->state, 9).text, age >= 0 ? cuzk_session_time_of(age).text : "", j->n_done,
           j->n_partitions);
    if (j->n_partitions > 1 && j->partitions[0] != '\0' && strlen(j->partitions) <= DRAWN_MAX) {
        printf(" [%s]", j->partitions);
    }
    printf("\n");
}

/* At most n_max of the jobs that have ended, or have not. */
static void print_some(const cuzk_status_view *http, bool ended, size_t n_max)
{
    size_t n = 0;
    for (size_t i = 0; i < http->n_jobs; i++) {
        if (has_ended(&http->jobs[i]) == ended && n++ < n_max) {
            print_job(&http->jobs[i]);
        }
    }
    uint64_t more = n > n_max ? n - n_max : 0;
    more += ended ? 0 : http->n_left_out;
    if (more > 0) {
        printf("… and %s more%s\n", cuzk_cli_group_digits(more).text,
               ended ? " that have ended" : "");
    }
}

/* n_unfinished, n_ended: how many of them at most. */
static void print_jobs(const struct look *l, size_t n_unfinished, size_t n_ended)
{
    bool any = false;
    for (size_t i = 0; i < l->http.n_jobs; i++) {
        any = any || n_ended > 0 || !has_ended(&l->http.jobs[i]);
    }
    if (!any) {
        printf("\nno job%s\n", n_ended == 0 ? " is unfinished" : "");
        return;
    }
    printf("\n%-*s %-*s %-8s %-9s %10s  %s\n", JOB_WIDTH, "job", KIND_WIDTH, "kind", "priority",
           "state", "age", "partitions");
    print_some(&l->http, false, n_unfinished);
    if (n_ended > 0) {
        print_some(&l->http, true, n_ended);
    }
    printf("(partitions: # done, d on a device, r ready for one, w witness, ! failed)\n");
}

/* What the HTTP port adds, or why it adds nothing. */
static void print_http_part(const struct look *l, const cuzk_session *session, bool only_unfinished)
{
    if (l->has_http) {
        print_jobs(l, only_unfinished ? SIZE_MAX : UNFINISHED_MAX, only_unfinished ? 0 : ENDED_MAX);
    } else if (l->http_error[0] != '\0') {
        printf("\njobs are not shown: %s\n", l->http_error);
    } else if (!session->args->quiet) {
        printf("\njobs one by one: name the daemon's HTTP port (daemon.status_listen) with "
               "--status\n");
    }
}

static void print_status(const struct look *l, const cuzk_session *session)
{
    const Cuzk__V1__GetStatusResponse *r = l->rpc;
    printf("daemon at %s, up %s; proofs: %s completed, %s failed\n", session->address,
           cuzk_session_time_of((double)r->uptime_seconds).text,
           cuzk_cli_group_digits(r->total_proofs_completed).text,
           cuzk_cli_group_digits(r->total_proofs_failed).text);
    if (r->pinned_memory_limit_bytes > 0) {
        printf("memory: %s of %s reserved\n", cuzk_session_size_of(r->pinned_memory_bytes).text,
               cuzk_session_size_of(r->pinned_memory_limit_bytes).text);
    } else if (l->has_http) {
        printf("memory: %s of %s reserved\n", cuzk_session_size_of(l->http.memory_used).text,
               cuzk_session_size_of(l->http.memory_total).text);
    }
    print_workers(l);
    print_queues(r);
    print_residents(l);
    print_http_part(l, session, false);
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
static void print_json(const struct look *l, const cuzk_session *session)
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

static void print_queue(const struct look *l, const cuzk_session *session)
{
    print_queues(l->rpc);
    print_http_part(l, session, true);
}

static int look_once(cuzk_session *session,
                     void (*print)(const struct look *, const cuzk_session *))
{
    struct look l;
    int code = CUZK_EXIT_OK;
    if (!take_look(&l, session)) {
        code = cuzk_cli_fail(session->args);
    } else if (session->args->json) {
        print_json(&l, session);
    } else {
        print(&l, session);
    }
    clear(&l);
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
        int code = look_once(session, print_status);
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
        code = is_watch ? watch(&session, every_ns) : look_once(&session, print_status);
        cuzk_session_close(&session);
    }
    return code;
}

int cuzk_cmd_queue(cuzk_cli_args *args)
{
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&session, args, &code)) {
        code = look_once(&session, print_queue);
        cuzk_session_close(&session);
    }
    return code;
}
