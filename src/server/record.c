/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "server/record.h"

#include "base/clock.h"
#include "server/record_spans.h"
#include "timeline/record_file.h"
#include "timeline/recorder.h"
#include "timeline/recording.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HEAD_MAX = 1 << 20,
    LOOK_WAIT_MS = 500, /* a copy waits at most so long for what was put just now */
    KEEP_SPANS = 2048,
    FLUSH_BYTES = 1 << 16,
    STARTS_MAX = 4096,
    RECOVERED_BATCH = CUZK_RECORDER_RING / 4 /* jobs that come back before they are taken */
};

struct cuzk_record {
    cuzk_record_file file; /* path NULL: none */
    cuzk_logger *log;
    cuzk_record_spans spans;
    cuzk_text head;   /* pieces that every file begins with: kinds, devices, the threads that were
                         named so far; the thread alone writes it, under lock */
    cuzk_text pieces; /* taken, not yet written */
    cuzk_recent_start starts[STARTS_MAX]; /* of spans that are not in memory yet */
    size_t n_starts;
    size_t n_spans, n_kept_bytes; /* not in memory yet; in memory */
    uint64_t n_taken;             /* spans in pieces */
    bool has_failed;              /* it was said */
    unsigned n_recovered;         /* since they were taken; the thread's that makes the engine */
    pthread_t thread;
    atomic_bool ends;
    pthread_mutex_t lock;     /* guards what follows */
    pthread_cond_t has_taken; /* n_answered has changed */
    uint64_t n_asked;         /* for a taking that begins later */
    uint64_t n_answered;
    cuzk_engine *engine; /* whose waits a copy tells; NULL: nobody's */
};

/* ---- taking ---------------------------------------------------------------------------------- */

/* In memory, too: what was taken since the last time. */
static void keep(cuzk_record *r)
{
    if (r->spans.recent != NULL) {
        size_t from = r->pieces.failed ? r->pieces.size : r->n_kept_bytes;
        const cuzk_recent_pieces pieces = {.bytes =
                                               from > 0 ? r->pieces.data + from : r->pieces.data,
                                           .n_bytes = r->pieces.size - from,
                                           .n_spans = r->n_spans,
                                           .starts = r->starts,
                                           .n_starts = r->n_starts};
        cuzk_recent_put(r->spans.recent, &pieces);
    }
    r->n_starts = 0;
    r->n_kept_bytes = r->pieces.size;
    r->n_spans = 0;
}

/* There are at most KEEP_SPANS before, and a call brings no more. */
static void note_starts(cuzk_record *r, const cuzk_timespan *spans, size_t n)
{
    for (size_t i = 0; i < n && r->n_starts < STARTS_MAX; i++) {
        if (spans[i].name == CUZK_SPAN_PROVE_START || spans[i].name == CUZK_SPAN_RETRY) {
            r->starts[r->n_starts++] =
                (cuzk_recent_start){spans[i].job, spans[i].name == CUZK_SPAN_RETRY ? -1 : 1};
        }
    }
}

/* What cannot be written is given up, counted, and said once. */
static void write_taken(cuzk_record *r)
{
    cuzk_error err = {0};
    if (r->file.path == NULL || (r->pieces.size == 0 && !r->pieces.failed)) {
        return;
    }
    bool has_failed =
        cuzk_record_file_write(&r->file, &r->pieces, r->n_taken, &r->head, &err) != CUZK_OK;
    if (has_failed && !r->has_failed) {
        CUZK_LOG(r->log, CUZK_LOG_ERROR, "the recording has a gap", CUZK_LOG_S("reason", err.text));
    }
    r->has_failed = has_failed;
}

/* What was taken so far is kept and written; its memory serves again. */
static void flush(cuzk_record *r)
{
    keep(r); /* also nothing: time has passed */
    write_taken(r);
    r->pieces.size = 0;
    r->pieces.failed = false;
    r->n_kept_bytes = 0;
    r->n_taken = 0;
}

static void on_spans(void *user, const cuzk_timespan *spans, size_t n)
{
    cuzk_record *r = user;
    if (r->n_spans == 0 && r->pieces.size > r->n_kept_bytes) {
        keep(r); /* texts for themselves: later spans name them, too */
    }
    cuzk_recording_put_spans(&r->pieces, spans, n);
    r->n_spans += n;
    r->n_taken += n;
    note_starts(r, spans, n);
    if (r->n_spans >= KEEP_SPANS) {
        keep(r);
    }
    if (r->pieces.size >= FLUSH_BYTES) { /* small parts, so that the file's limit holds */
        flush(r);
    }
}

static void on_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    cuzk_recording_put_text(&((cuzk_record *)user)->pieces, number, text, n_bytes);
}

static void on_thread(void *user, uint16_t index, const char *name)
{
    cuzk_record *r = user;
    cuzk_recording_put_thread(&r->pieces, index, name);
    pthread_mutex_lock(&r->lock);
    size_t n_bytes = r->head.size;
    if (n_bytes < HEAD_MAX) {
        cuzk_recording_put_thread(&r->head, index, name);
    }
    if (r->head.failed) { /* no memory for one more: as it was */
        r->head.size = n_bytes;
        r->head.failed = false;
    }
    pthread_mutex_unlock(&r->lock);
}

static void on_lost(void *user, uint64_t n_spans)
{
    cuzk_recording_put_lost(&((cuzk_record *)user)->pieces, n_spans);
}

static void take(cuzk_record *r)
{
    const cuzk_recorder_sink sink = {on_spans, on_text, on_thread, on_lost, r};
    cuzk_recorder_take(&sink);
    flush(r);
}

/* Who asked before it began has its answer. */
static void take_and_tell(cuzk_record *r)
{
    pthread_mutex_lock(&r->lock);
    uint64_t n_asked = r->n_asked;
    pthread_mutex_unlock(&r->lock);
    take(r);
    pthread_mutex_lock(&r->lock);
    if (r->n_answered != n_asked) {
        r->n_answered = n_asked;
        pthread_cond_broadcast(&r->has_taken);
    }
    pthread_mutex_unlock(&r->lock);
}

static void *run(void *user)
{
    cuzk_record *r = user;
    pthread_setname_np(pthread_self(), "record");
    while (!atomic_load_explicit(&r->ends, memory_order_acquire)) {
        cuzk_recorder_wait();
        take_and_tell(r);
    }
    return NULL;
}

/* What was put until now is taken, unless that takes too long: what was taken before will do. */
static void ask(cuzk_record *r)
{
    uint64_t until_ns = cuzk_now_ns() + LOOK_WAIT_MS * 1000000ull;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                                   .tv_nsec = (long)(until_ns % 1000000000u)};
    pthread_mutex_lock(&r->lock);
    uint64_t n_asked = ++r->n_asked;
    cuzk_recorder_wake();
    while (r->n_answered < n_asked &&
           pthread_cond_timedwait(&r->has_taken, &r->lock, &until) == 0) {
    }
    pthread_mutex_unlock(&r->lock);
}

void cuzk_record_observe(cuzk_record *record, const cuzk_event *event)
{
    cuzk_record_put_event(&record->spans, event);
    /* a journal's jobs come faster than they are taken, while nothing is held up */
    if (event->id == CUZK_EVENT_RECOVERED && ++record->n_recovered == RECOVERED_BATCH) {
        record->n_recovered = 0;
        ask(record);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(cuzk_record *r)
{
    cuzk_record_file_close(&r->file);
    cuzk_recent_destroy(r->spans.recent);
    cuzk_text_clear(&r->head);
    cuzk_text_clear(&r->pieces);
    pthread_cond_destroy(&r->has_taken);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static void put_head(cuzk_record *r, const cuzk_record_options *o)
{
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        if (o->kinds[k].name != NULL) {
            cuzk_recording_put_kind(&r->head, (uint8_t)k, o->kinds[k].name);
        }
    }
    cuzk_recording_put_machine(&r->head, &o->machine);
    for (unsigned i = 0; i < o->n_devices; i++) {
        /* one more worker serves what is CRITICAL */
        cuzk_recording_put_device(&r->head, (uint8_t)i, (uint8_t)o->devices[i].n_workers,
                                  o->devices[i].id);
        r->spans.cpu_devices[i] = strcmp(o->devices[i].id, "cpu") == 0;
    }
}

/* What the thread works with is there before it begins. */
static cuzk_status start_thread(cuzk_record *r, cuzk_error *err)
{
    CUZK_FAIL_IF(pthread_create(&r->thread, NULL, run, r) != 0, err, CUZK_E_MEMORY,
                 "starting the recording's thread: out of memory");
    return CUZK_OK;
}

/* NULL: no memory. */
static cuzk_record *create(const cuzk_record_options *o)
{
    cuzk_record *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    pthread_condattr_t monotonic; /* none of this fails on Linux */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->has_taken, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&r->lock, NULL);
    r->file.fd = -1;
    r->log = o->log;
    put_head(r, o);
    bool has_memory = !r->head.failed;
    if (o->recent_bytes > 0) {
        r->spans.recent = cuzk_recent_create(o->recent_bytes);
        has_memory = has_memory && r->spans.recent != NULL;
    }
    if (!has_memory) {
        destroy(r);
        return NULL;
    }
    return r;
}

cuzk_status cuzk_record_start(cuzk_record **out, const cuzk_record_options *options,
                              cuzk_error *err)
{
    cuzk_record *r = create(options);
    CUZK_FAIL_IF(r == NULL, err, CUZK_E_MEMORY, "starting a recording: out of memory");
    cuzk_status status = CUZK_OK;
    if (options->path != NULL) {
        status =
            cuzk_record_file_open(&r->file, options->path, options->limit_bytes, &r->head, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_recorder_start(err);
    }
    if (status == CUZK_OK) {
        status = start_thread(r, err);
    }
    if (status != CUZK_OK) {
        cuzk_recorder_stop();
        destroy(r);
        return status;
    }
    *out = r;
    return CUZK_OK;
}

void cuzk_record_stop(cuzk_record *record)
{
    if (record == NULL) {
        return;
    }
    cuzk_recorder_stop();
    atomic_store_explicit(&record->ends, true, memory_order_release);
    cuzk_recorder_wake();
    pthread_join(record->thread, NULL);
    take(record);
    destroy(record);
}

void cuzk_record_watch(cuzk_record *record, cuzk_engine *engine)
{
    record->engine = engine;
}

typedef struct {
    cuzk_text *text;
    uint64_t end_ns;
} waits;

/* A wait goes on: told until where the copy ends. */
static void put_open_wait(void *user, const cuzk_event *event)
{
    const waits *w = user;
    cuzk_timespan span = cuzk_record_wait_span(event);
    if (span.begin_ns < w->end_ns) {
        span.end_ns = w->end_ns;
        cuzk_recording_put_spans(w->text, &span, 1);
    }
}

cuzk_status cuzk_record_copy(cuzk_record *record, cuzk_text *text, uint64_t *begin_ns,
                             uint64_t *end_ns, uint64_t since_ns, size_t n_spans_max,
                             cuzk_error *err)
{
    CUZK_FAIL_IF(record == NULL || record->spans.recent == NULL, err, CUZK_E_UNSUPPORTED,
                 "nothing is recorded in memory: recording.memory is 0");
    ask(record);
    cuzk_recording_put_start(text, cuzk_wall_ns(), cuzk_now_ns());
    pthread_mutex_lock(&record->lock);
    cuzk_text_put_bytes(text, record->head.data, record->head.size);
    pthread_mutex_unlock(&record->lock);
    *end_ns = cuzk_recent_copy(record->spans.recent, text, begin_ns, since_ns, n_spans_max);
    if (record->engine !=
        NULL) { /* afterwards: what has ended before is in the copy or was not there */
        waits w = {text, *end_ns};
        cuzk_engine_waits(record->engine, put_open_wait, &w);
    }
    return cuzk_text_check(text, err);
}
