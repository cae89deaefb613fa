/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "server/otel.h"

#include "base/blake2b.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "cuzk.h"
#include "filecoin/http_get.h"
#include "timeline/plain_text.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ID_MAX = 128,
    TEXT_MAX = 192,
    BATCH = 512,
    PERIOD_MS = 1000,
    POST_MS = 5000,
    ATTEMPTS = 3, /* of a batch */
    KEY_BYTES = 16
};

/* A span that ended; what it is called and whose it is follows when it is sent. */
typedef struct {
    cuzk_event_id id; /* CUZK_EVENT_ENDED: the job */
    uint64_t begin_ns, end_ns, job;
    cuzk_trace_context trace;
    unsigned kind, n_units;
    int unit, device, worker;
    cuzk_status status;
    char job_id[ID_MAX], text[TEXT_MAX];
} ended;

struct cuzk_otel {
    char *endpoint, *service_name;
    const cuzk_engine_kind *kinds;
    cuzk_logger *log;
    uint8_t key[KEY_BYTES]; /* ids of this process's own traces and spans follow from it */
    ended batch[BATCH];     /* of the thread */
    bool has_failed;        /* it was said */
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    ended *queue; /* a ring */
    unsigned room, first, n;
    uint64_t n_sent, n_dropped;
    uint64_t stop_ns; /* once it ends: what is not sent then is dropped */
    bool ends;
};

/* begin and end are on one thread */
static _Thread_local uint64_t began_ns[CUZK_EVENT_COUNT];

/* ---- taking ---------------------------------------------------------------------------------- */

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text != NULL ? text : "");
}

/* A batch is sent when there is one, else once a period. */
static void put(cuzk_otel *o, const cuzk_event *e, uint64_t begin_ns)
{
    pthread_mutex_lock(&o->lock);
    bool has_room = o->n < o->room && !o->ends;
    if (has_room) {
        ended *s = &o->queue[(o->first + o->n++) % o->room];
        s->id = e->id;
        s->begin_ns = begin_ns;
        s->end_ns = e->ns;
        s->job = e->job;
        memset(&s->trace, 0, sizeof s->trace);
        if (e->trace != NULL) {
            s->trace = *e->trace;
        }
        s->kind = e->kind;
        s->n_units = e->n_units;
        s->unit = e->unit;
        s->device = e->device;
        s->worker = e->worker;
        s->status = e->status;
        copy_text(s->job_id, sizeof s->job_id, e->job_id);
        copy_text(s->text, sizeof s->text, e->text);
        if (o->n == BATCH || o->n == o->room) {
            pthread_cond_signal(&o->wake);
        }
    }
    o->n_dropped += !has_room;
    pthread_mutex_unlock(&o->lock);
}

static bool is_span(cuzk_event_id id)
{
    return id == CUZK_EVENT_WITNESS || id == CUZK_EVENT_PROVE_START ||
           id == CUZK_EVENT_PROVE_HELP || id == CUZK_EVENT_LANE || id == CUZK_EVENT_PROVE_FINISH ||
           id == CUZK_EVENT_VERIFY;
}

void cuzk_otel_observe(cuzk_otel *otel, const cuzk_event *event)
{
    if (otel == NULL ||
        (event->trace != NULL && event->trace->is_set && !event->trace->is_sampled)) {
        return; /* the caller does not record this trace */
    }
    if (event->id == CUZK_EVENT_ENDED) {
        put(otel, event, event->since_ns);
    } else if (is_span(event->id) && event->phase == CUZK_EVENT_BEGIN) {
        began_ns[event->id] = event->ns;
    } else if (is_span(event->id) && event->phase == CUZK_EVENT_END) {
        put(otel, event, began_ns[event->id]);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_hex(cuzk_text *out, const char *name, const uint8_t *bytes, size_t n)
{
    cuzk_text_printf(out, ",\"%s\":\"", name);
    for (size_t i = 0; i < n; i++) {
        cuzk_text_printf(out, "%02x", bytes[i]);
    }
    cuzk_text_put(out, "\"");
}

/* An id that is this process's own, and the same for the same numbers. */
static void make_id(uint8_t *out, size_t n, const cuzk_otel *o, const uint64_t numbers[4])
{
    cuzk_blake2b_keyed(out, n, o->key, sizeof o->key, numbers, 4 * sizeof *numbers);
}

static void put_ids(cuzk_text *out, const cuzk_otel *o, const ended *s)
{
    uint8_t trace[16], job[8], own[8];
    const uint64_t of_job[4] = {s->job, 0, 0, 0};
    const uint64_t of_span[4] = {s->job, 1 + (uint64_t)s->id, (uint64_t)s->unit, s->begin_ns};
    bool is_job = s->id == CUZK_EVENT_ENDED;
    make_id(trace, sizeof trace, o, of_job);
    make_id(job, sizeof job, o, of_job);
    make_id(own, sizeof own, o, of_span);
    put_hex(out, "traceId", s->trace.is_set ? s->trace.trace : trace, 16);
    put_hex(out, "spanId", is_job ? job : own, 8);
    if (!is_job || s->trace.is_set) {
        put_hex(out, "parentSpanId", is_job ? s->trace.span : job, 8);
    }
}

static void put_number(cuzk_text *out, const char *name, int value)
{
    if (value >= 0) {
        cuzk_text_printf(out, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%d\"}}", name, value);
    }
}

static void put_string(cuzk_text *out, const char *name, const char *value)
{
    cuzk_text_printf(out, ",{\"key\":\"%s\",\"value\":{\"stringValue\":", name);
    cuzk_text_put_json_string(out, value);
    cuzk_text_put(out, "}}");
}

static const char *name_of(const ended *s)
{
    switch (s->id) {
    case CUZK_EVENT_WITNESS:
        return "witness";
    case CUZK_EVENT_PROVE_START:
        return "prove.start";
    case CUZK_EVENT_PROVE_HELP:
        return "prove.help";
    case CUZK_EVENT_LANE:
        return "lane";
    case CUZK_EVENT_PROVE_FINISH:
        return "prove.finish";
    case CUZK_EVENT_VERIFY:
        return "verify";
    default:
        return "job";
    }
}

static void put_span(cuzk_text *out, const cuzk_otel *o, const ended *s, int64_t to_wall_ns)
{
    const char *kind = s->kind < CUZK_KINDS_MAX ? o->kinds[s->kind].name : NULL;
    cuzk_text_printf(out, "{\"name\":\"%s\",\"kind\":%d", name_of(s),
                     s->id == CUZK_EVENT_ENDED ? 2 : 1); /* SERVER, INTERNAL */
    put_ids(out, o, s);
    cuzk_text_printf(out,
                     ",\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64 "\"",
                     (int64_t)s->begin_ns + to_wall_ns, (int64_t)s->end_ns + to_wall_ns);
    cuzk_text_put(out, ",\"attributes\":[{\"key\":\"cuzk.kind\",\"value\":{\"stringValue\":");
    cuzk_text_put_json_string(out, kind != NULL ? kind : "");
    cuzk_text_put(out, "}}");
    put_string(out, "cuzk.job_id", s->job_id);
    put_number(out, "cuzk.partition", s->unit);
    put_number(out, "cuzk.device", s->device);
    put_number(out, "cuzk.worker", s->worker);
    if (s->id == CUZK_EVENT_ENDED) {
        put_number(out, "cuzk.partitions", (int)s->n_units);
    }
    cuzk_text_put(out, "],\"status\":");
    if (s->status == CUZK_OK) {
        cuzk_text_put(out, "{\"code\":1}}");
    } else {
        cuzk_text_put(out, "{\"code\":2,\"message\":");
        cuzk_text_put_json_string(out, s->text[0] != '\0' ? s->text : cuzk_status_name(s->status));
        cuzk_text_put(out, "}}");
    }
}

static void put_batch(cuzk_text *out, const cuzk_otel *o, unsigned n)
{
    int64_t to_wall_ns = (int64_t)(cuzk_wall_ns() - cuzk_now_ns());
    cuzk_text_put(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":"
                       "\"service.name\",\"value\":{\"stringValue\":");
    cuzk_text_put_json_string(out, o->service_name);
    cuzk_text_printf(out,
                     "}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"cuzk\",\"version\":\"%s\"},"
                     "\"spans\":[",
                     cuzk_version());
    for (unsigned i = 0; i < n; i++) {
        cuzk_text_put(out, i == 0 ? "" : ",");
        put_span(out, o, &o->batch[i], to_wall_ns);
    }
    cuzk_text_put(out, "]}]}]}");
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Under the lock: wait until there is a batch, a period is over, or it ends. */
static void wait(cuzk_otel *o)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PERIOD_MS / 1000;
    int code = 0;
    while (o->n < BATCH && o->n < o->room && !o->ends && code == 0) {
        code = pthread_cond_timedwait(&o->wake, &o->lock, &until);
    }
}

/* Under the lock. */
static unsigned take_batch(cuzk_otel *o)
{
    unsigned n = o->n < BATCH ? o->n : BATCH;
    for (unsigned i = 0; i < n; i++) {
        o->batch[i] = o->queue[(o->first + i) % o->room];
    }
    o->first = (o->first + n) % o->room;
    o->n -= n;
    return n;
}

/* Another attempt is for what may be well in a second, and not at the end. */
static bool post(cuzk_otel *o, const cuzk_text *body, cuzk_error *err)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        *err = (cuzk_error){0};
        if (cuzk_http_post(o->endpoint, "application/json", body->data, body->size, POST_MS, err) ==
            CUZK_OK) {
            return true;
        }
        pthread_mutex_lock(&o->lock);
        bool ends = o->ends;
        pthread_mutex_unlock(&o->lock);
        if (ends) {
            return false;
        }
        if (i + 1 < ATTEMPTS) {
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        }
    }
    return false;
}

static void send_batch(cuzk_otel *o, unsigned n)
{
    cuzk_text body = {0};
    cuzk_error err = {0};
    for (unsigned i = 0; i < n; i++) { /* they may have been cut inside a character */
        cuzk_plain_text(o->batch[i].job_id);
        cuzk_plain_text(o->batch[i].text);
    }
    put_batch(&body, o, n);
    bool is_sent = cuzk_text_check(&body, &err) == CUZK_OK && post(o, &body, &err);
    cuzk_text_clear(&body);
    if (!is_sent && !o->has_failed) {
        CUZK_LOG(o->log, CUZK_LOG_WARN, "spans cannot be exported; they are dropped and counted",
                 CUZK_LOG_S("reason", err.text));
    }
    o->has_failed = !is_sent;
    pthread_mutex_lock(&o->lock);
    o->n_sent += is_sent ? n : 0;
    o->n_dropped += is_sent ? 0 : n;
    pthread_mutex_unlock(&o->lock);
}

static void *run(void *user)
{
    cuzk_otel *o = user;
    pthread_setname_np(pthread_self(), "otel");
    pthread_mutex_lock(&o->lock);
    for (;;) {
        wait(o);
        unsigned n = take_batch(o);
        bool ends = o->ends && (n == 0 || o->has_failed || cuzk_now_ns() >= o->stop_ns);
        if (ends) {
            o->n_dropped += n + o->n;
            break;
        }
        pthread_mutex_unlock(&o->lock);
        if (n > 0) {
            send_batch(o, n);
        }
        pthread_mutex_lock(&o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(cuzk_otel *o)
{
    free(o->endpoint);
    free(o->service_name);
    free(o->queue);
    pthread_cond_destroy(&o->wake);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static cuzk_status fill(cuzk_otel *o, const cuzk_otel_options *options, cuzk_error *err)
{
    CUZK_TRY(cuzk_http_usable("exporting spans", err));
    CUZK_TRY(cuzk_random_bytes(o->key, sizeof o->key, err));
    o->endpoint = strdup(options->endpoint);
    o->service_name = strdup(options->service_name);
    o->room = options->n_queued_max;
    o->queue = calloc(o->room, sizeof *o->queue);
    o->kinds = options->kinds;
    o->log = options->log;
    CUZK_FAIL_IF(o->endpoint == NULL || o->service_name == NULL || o->queue == NULL, err,
                 CUZK_E_MEMORY, "exporting spans: out of memory");
    CUZK_FAIL_IF(pthread_create(&o->thread, NULL, run, o) != 0, err, CUZK_E_MEMORY,
                 "exporting spans: starting a thread: out of memory");
    return CUZK_OK;
}

cuzk_status cuzk_otel_start(cuzk_otel **out, const cuzk_otel_options *options, cuzk_error *err)
{
    cuzk_otel *o = calloc(1, sizeof *o);
    CUZK_FAIL_IF(o == NULL, err, CUZK_E_MEMORY, "exporting spans: out of memory");
    pthread_condattr_t monotonic; /* none of this fails on Linux */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&o->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&o->lock, NULL);
    cuzk_status status = fill(o, options, err);
    if (status != CUZK_OK) {
        destroy(o);
        return status;
    }
    *out = o;
    return CUZK_OK;
}

void cuzk_otel_stop(cuzk_otel *otel)
{
    if (otel == NULL) {
        return;
    }
    pthread_mutex_lock(&otel->lock);
    otel->ends = true;
    otel->stop_ns = cuzk_now_ns() + (uint64_t)POST_MS * 1000000;
    pthread_cond_signal(&otel->wake);
    pthread_mutex_unlock(&otel->lock);
    pthread_join(otel->thread, NULL);
    cuzk_otel_counts counts = {otel->n_sent, otel->n_dropped};
    CUZK_LOG(otel->log, counts.n_dropped > 0 ? CUZK_LOG_WARN : CUZK_LOG_INFO, "spans exported",
             CUZK_LOG_U("sent", counts.n_sent), CUZK_LOG_U("dropped", counts.n_dropped));
    destroy(otel);
}

cuzk_otel_counts cuzk_otel_look(cuzk_otel *otel)
{
    cuzk_otel_counts counts = {0};
    if (otel != NULL) {
        pthread_mutex_lock(&otel->lock);
        counts = (cuzk_otel_counts){otel->n_sent, otel->n_dropped};
        pthread_mutex_unlock(&otel->lock);
    }
    return counts;
}
