/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Looks at a daemon, as tables for people. */
#include "base/size_text.h"
#include "client/status_look.h"

#include <string.h>

enum { COLUMN_MAX = CUZK_ERROR_TEXT_MAX };

/* A text cut to a column's width: ids may be long, and hold anything. */
typedef struct {
    char text[4 * COLUMN_MAX + 1];
} column;

/* Bytes of the character at p; 0: one that is not shown: of control, or no UTF-8. */
static size_t character_bytes(const char *p)
{
    enum { CONTROL_LEAD = 0xc2, CONTROL_END = 0xa0 }; /* U+0080 to U+009F, which terminals obey */
    const unsigned char *c = (const unsigned char *)p;
    size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_control =
        c[0] < ' ' || c[0] == 0x7f || (c[0] == CONTROL_LEAD && c[1] < CONTROL_END) || c[0] > 0xf4;
    return is_control ? 0 : n;
}

static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; count++) {
        size_t n = character_bytes(text);
        text += n == 0 ? 1 : n;
    }
    return count;
}

static column cut(const char *text, unsigned width)
{
    column out;
    size_t n = count_characters(text), end = 0;
    size_t head = width / 2 - 1, tail = n <= width ? 0 : n - (width - head - 2);
    for (size_t i = 0; i < n; i++) {
        size_t bytes = character_bytes(text);
        if (n > width && i == head) {
            out.text[end++] = '.';
            out.text[end++] = '.';
        }
        if (n <= width || i < head || i >= tail) {
            memcpy(out.text + end, bytes == 0 ? "?" : text, bytes == 0 ? 1 : bytes);
            end += bytes == 0 ? 1 : bytes;
        }
        text += bytes == 0 ? 1 : bytes;
    }
    out.text[end] = '\0';
    return out;
}

/* The same, filled up with spaces: printf counts bytes. */
static column padded(const char *text, unsigned width)
{
    column out = cut(text, width);
    size_t n = count_characters(out.text), end = strlen(out.text);
    while (n++ < width) {
        out.text[end++] = ' ';
    }
    out.text[end] = '\0';
    return out;
}

enum {
    JOB_WIDTH = 36,
    KIND_WIDTH = 12,
    STATE_WIDTH = 9,
    CIRCUIT_WIDTH = 24,
    NAME_WIDTH = 30,
    MEMORY_WIDTH = 27,
    WAIT_WIDTH = 160
};
enum { UNFINISHED_MAX = 30, ENDED_MAX = 5 }; /* jobs that status shows */

static void print_workers(const cuzk_look *l)
{
    const Cuzk__V1__GetStatusResponse *r = l->rpc;
    printf("\n%-3s %-*s %-*s %-*s %s\n", "dev", NAME_WIDTH, "name", MEMORY_WIDTH, "memory",
           KIND_WIDTH, "proves", "job");
    for (size_t i = 0; i < r->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = r->gpus[i];
        char memory[64] = "of the host";
        if (g->vram_total_bytes > 0) {
            snprintf(memory, sizeof memory, "%s of %s free", cuzk_size_of(g->vram_free_bytes).text,
                     cuzk_size_of(g->vram_total_bytes).text);
        }
        bool is_idle = g->current_job_id[0] == '\0';
        /* the HTTP port lists the same workers in the same order, a moment later */
        const cuzk_status_worker *w = i < l->http.n_workers ? &l->http.workers[i] : NULL;
        printf("%-3u %s %-*s %s %s", g->ordinal, padded(g->name, NAME_WIDTH).text, MEMORY_WIDTH,
               memory, padded(is_idle ? "idle" : g->current_proof_kind, KIND_WIDTH).text,
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

/* What devices' arenas hold by purpose, and pinned host memory, where the HTTP port tells it. */
static void print_arenas(const cuzk_status_view *http)
{
    enum { ID_WIDTH = 10, PURPOSE_WIDTH = 11 };
    const cuzk_status_device *named = NULL; /* whose purposes are the columns */
    for (size_t i = 0; i < http->n_devices; i++) {
        const cuzk_status_device *d = &http->devices[i];
        if (d->n_arena == 0) {
            continue;
        }
        if (named == NULL) {
            printf("\n%-*s", ID_WIDTH, "arena of");
            for (unsigned k = 0; k < d->n_arena; k++) {
                printf(" %s", padded(d->arena[k].purpose, PURPOSE_WIDTH).text);
            }
            printf("\n");
            named = d;
        }
        printf("%s", padded(d->id, ID_WIDTH).text);
        for (unsigned k = 0; k < named->n_arena; k++) {
            const cuzk_status_arena *a = NULL;
            for (unsigned m = 0; m < d->n_arena; m++) {
                a = strcmp(d->arena[m].purpose, named->arena[k].purpose) == 0 ? &d->arena[m] : a;
            }
            printf(" %-*s", PURPOSE_WIDTH, a != NULL ? cuzk_size_of(a->bytes).text : "");
        }
        printf("\n");
    }
    if (http->pinned_limit > 0) {
        printf("%spinned host memory: %s of %s, at most %s until now\n", named != NULL ? "" : "\n",
               cuzk_size_of(http->pinned_used).text, cuzk_size_of(http->pinned_limit).text,
               cuzk_size_of(http->pinned_peak).text);
    }
}

/* Which parameters are on which device, and how they came there. */
static void print_arrivals(const cuzk_status_view *http)
{
    enum { ID_WIDTH = 10, FROM_WIDTH = 12 };
    bool has_head = false;
    for (size_t i = 0; i < http->n_devices; i++) {
        const cuzk_status_device *d = &http->devices[i];
        for (size_t k = 0; k < d->n_arrivals; k++) {
            const cuzk_status_arrival *a = &d->arrivals[k];
            if (!has_head) {
                printf("\n%-*s %-*s %-*s size\n", ID_WIDTH, "on", CIRCUIT_WIDTH, "parameters",
                       FROM_WIDTH, "from");
                has_head = true;
            }
            printf("%s %s %s %s, %.1f GB/s\n", padded(d->id, ID_WIDTH).text,
                   padded(a->circuit_id, CIRCUIT_WIDTH).text, padded(a->from, FROM_WIDTH).text,
                   cuzk_size_of(a->bytes).text, a->rate);
        }
    }
}

static void print_queues(const Cuzk__V1__GetStatusResponse *r)
{
    printf("\n%-*s %8s %12s\n", KIND_WIDTH, "kind", "pending", "in progress");
    for (size_t i = 0; i < r->n_queues; i++) {
        const Cuzk__V1__QueueStatus *q = r->queues[i];
        printf("%s %8u %12u\n", padded(q->proof_kind, KIND_WIDTH).text, q->pending, q->in_progress);
    }
    if (r->n_queues == 0) {
        printf("no jobs\n");
    }
}

static void print_residents(const cuzk_look *l)
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
        printf("%s %10s %6u  %s", padded(s->circuit_id, CIRCUIT_WIDTH).text,
               cuzk_size_of(s->size_bytes).text, s->ref_count,
               (unsigned)s->tier < 3 ? tiers[s->tier] : "?");
        for (size_t k = 0; k < l->http.n_residents; k++) {
            const cuzk_status_resident *h = &l->http.residents[k];
            if (strcmp(h->circuit_id, s->circuit_id) == 0) {
                bool is_idle = s->ref_count == 0 && h->idle > 0; /* not while it is loaded */
                printf("%s%s%s%s", h->state[0] != '\0' ? ", " : "",
                       cut(h->state, CIRCUIT_WIDTH).text, is_idle ? ", idle " : "",
                       is_idle ? cuzk_session_time_of(h->idle).text : "");
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
    printf("%s %s %-8s %s %10s  %u of %u", padded(j->job_id, JOB_WIDTH).text,
           padded(j->kind, KIND_WIDTH).text, priority_name(j->priority),
           padded(j->state, STATE_WIDTH).text, age >= 0 ? cuzk_session_time_of(age).text : "",
           j->n_done, j->n_partitions);
    if (j->n_partitions > 1 && j->partitions[0] != '\0' && strlen(j->partitions) <= DRAWN_MAX) {
        printf(" [%s]", j->partitions);
    }
    printf("\n");
    if (j->waits_for[0] != '\0') {
        printf("    waits for %s\n", cut(j->waits_for, WAIT_WIDTH).text);
    }
    if (j->error[0] != '\0') {
        printf("    %s\n", cut(j->error, COLUMN_MAX).text);
    }
}

/* At most n_max of the jobs that have ended, or have not. */
static void print_some(const cuzk_status_view *http, bool ended, size_t n_max)
{
    size_t n = 0;
    for (size_t i = 0; i < http->n_jobs; i++) {
        if (cuzk_look_has_ended(&http->jobs[i]) == ended && n++ < n_max) {
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
static void print_jobs(const cuzk_look *l, size_t n_unfinished, size_t n_ended)
{
    bool any = false;
    for (size_t i = 0; i < l->http.n_jobs; i++) {
        any = any || n_ended > 0 || !cuzk_look_has_ended(&l->http.jobs[i]);
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

/* Queued jobs, where only gRPC tells of them. */
static void print_waiting(const Cuzk__V1__GetStatusResponse *r)
{
    for (size_t i = 0; i < r->n_waiting && i < UNFINISHED_MAX; i++) {
        const Cuzk__V1__JobWait *w = r->waiting[i];
        printf("%s%s waits for %s\n", i == 0 ? "\n" : "", cut(w->job_id, JOB_WIDTH).text,
               w->text[0] != '\0' ? cut(w->text, WAIT_WIDTH).text : "nothing: it begins");
    }
    if (r->n_waiting > UNFINISHED_MAX) {
        printf("… and more\n");
    }
}

/* What the HTTP port adds, or why it adds nothing. */
static void print_http_part(const cuzk_look *l, const cuzk_session *session, bool only_unfinished)
{
    if (l->has_http) {
        print_jobs(l, only_unfinished ? SIZE_MAX : UNFINISHED_MAX, only_unfinished ? 0 : ENDED_MAX);
        return;
    }
    print_waiting(l->rpc);
    if (l->http_error[0] != '\0') {
        printf("\njobs are not shown: %s\n", l->http_error);
    } else if (!session->args->quiet) {
        printf("\njobs one by one: name the daemon's HTTP port (daemon.status_listen) with "
               "--status\n");
    }
}

/* What somebody may have to see to, as the HTTP port tells it. */
static void print_troubles(const cuzk_status_view *http)
{
    if (http->is_draining) {
        printf("it is shutting down: no new work is taken\n");
    } else if (http->is_loading) {
        printf("it is not ready yet: what srs.preload names is not loaded\n");
    }
    if (http->intake_waiting > 0) {
        printf("%s request%s to be taken in", cuzk_cli_group_digits(http->intake_waiting).text,
               http->intake_waiting == 1 ? " waits" : "s wait");
        printf("%s%s\n", http->intake_waits_for[0] != '\0' ? "; the first one for " : "",
               cut(http->intake_waits_for, WAIT_WIDTH).text);
    }
    if (http->has_no_journal) {
        printf("there is no journal: jobs are lost when it ends\n");
    }
    if (http->journal_failed) {
        printf("the journal cannot be written: new work is refused\n");
    }
    if (http->journal_was_damaged) {
        printf("the journal was damaged at the start; %s unfinished jobs were salvaged\n",
               cuzk_cli_group_digits(http->journal_salvaged).text);
    }
    for (size_t i = 0; i < http->n_devices; i++) {
        if (http->devices[i].is_out) {
            const char *state = http->devices[i].state;
            printf("device %s is %s: %s\n", cut(http->devices[i].id, 20).text,
                   state[0] != '\0' ? cut(state, 20).text : "no longer used",
                   cut(http->devices[i].reason, COLUMN_MAX).text);
        }
    }
}

void cuzk_look_print(const cuzk_look *l, const cuzk_session *session)
{
    const Cuzk__V1__GetStatusResponse *r = l->rpc;
    printf("daemon at %s, up %s; proofs: %s completed, %s failed\n", session->address,
           cuzk_session_time_of((double)r->uptime_seconds).text,
           cuzk_cli_group_digits(r->total_proofs_completed).text,
           cuzk_cli_group_digits(r->total_proofs_failed).text);
    if (r->pinned_memory_limit_bytes > 0) {
        printf("memory: %s of %s reserved\n", cuzk_size_of(r->pinned_memory_bytes).text,
               cuzk_size_of(r->pinned_memory_limit_bytes).text);
    } else if (l->has_http) {
        printf("memory: %s of %s reserved\n", cuzk_size_of(l->http.memory_used).text,
               cuzk_size_of(l->http.memory_total).text);
    }
    print_troubles(&l->http);
    print_workers(l);
    print_arenas(&l->http);
    print_arrivals(&l->http);
    print_queues(r);
    print_residents(l);
    print_http_part(l, session, false);
}

void cuzk_look_print_queue(const cuzk_look *l, const cuzk_session *session)
{
    print_queues(l->rpc);
    print_http_part(l, session, true);
}
