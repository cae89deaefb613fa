/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/record.h"

#include "base/clock.h"
#include "timeline/recorder.h"
#include "timeline/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_MS = 100, THREAD_PIECES_MAX = 1 << 20 };

struct cuzk_record {
    char *path, *old_path;
    uint64_t limit_bytes;
    cuzk_logger *log;
    uint8_t cpu_devices[CUZK_ENGINE_DEVICES_MAX]; /* 1: its regions are the host's own arithmetic */
    cuzk_text head;    /* pieces that every file begins with: kinds, devices */
    cuzk_text threads; /* and those of the threads that were named so far */
    cuzk_text pieces;  /* taken, not yet written */
    int fd;            /* -1: the last write failed; tried again with a new file */
    uint64_t n_bytes;  /* of the file */
    bool has_failed;   /* it was said */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ends; /* under lock */
};

/* ---- spans of events ------------------------------------------------------------------------- */

static _Thread_local uint64_t began_ns[CUZK_EVENT_COUNT]; /* begin and end are on one thread */

static cuzk_timespan span_of(const cuzk_event *e, cuzk_span_name name, uint64_t begin_ns)
{
    return (cuzk_timespan){.begin_ns = begin_ns,
                           .end_ns = e->ns,
                           .job = e->job,
                           .value = e->value,
                           .name = (uint16_t)name,
                           .unit = (int16_t)e->unit,
                           .device = (int8_t)e->device,
                           .worker = (int8_t)e->worker,
                           .kind = (uint8_t)e->kind,
                           .priority = (uint8_t)e->priority,
                           .status = (uint8_t)e->status};
}

static void put(cuzk_timespan span)
{
    cuzk_recorder_put(&span);
}

static void put_text(cuzk_timespan span, const char *text)
{
    span.text = text != NULL ? cuzk_recorder_text(text) : 0;
    cuzk_recorder_put(&span);
}

static void put_job(const cuzk_event *e)
{
    bool has_ended = e->id == CUZK_EVENT_ENDED;
    cuzk_timespan span = span_of(e, has_ended ? CUZK_SPAN_JOB : CUZK_SPAN_JOB_ACCEPTED,
                                 has_ended && e->value < e->ns ? e->ns - e->value : e->ns);
    span.value = e->n_units;
    put_text(span, e->job_id);
}

/* What waited for the span that begins now. */
static void put_wait(const cuzk_event *e)
{
    if (e->since_ns != 0) {
        bool is_ready = e->id == CUZK_EVENT_PROVE_START;
        cuzk_timespan span =
            span_of(e, is_ready ? CUZK_SPAN_WAIT_WORKER : CUZK_SPAN_WAIT_MEMORY, e->since_ns);
        span.device = span.worker = -1; /* no thread works on it */
        put(span);
    }
}

static void put_lane(const cuzk_record *record, const cuzk_event *e, uint64_t begin_ns)
{
    put(span_of(e, CUZK_SPAN_LANE, begin_ns));
    if (e->device >= 0 && record->cpu_devices[e->device]) {
        cuzk_timespan span = span_of(e, CUZK_SPAN_KERNEL_CPU, begin_ns);
        span.worker = -1;
        put(span);
    }
}

/* A span has ended that began at begin_ns. */
static void put_end(const cuzk_record *record, const cuzk_event *e, uint64_t begin_ns)
{
    switch (e->id) {
    case CUZK_EVENT_DECODE:
        put(span_of(e, CUZK_SPAN_DECODE, begin_ns));
        break;
    case CUZK_EVENT_RESIDENT:
        put_text(span_of(e, CUZK_SPAN_RESIDENT_LOAD, begin_ns), e->text);
        break;
    case CUZK_EVENT_WITNESS:
        put(span_of(e, CUZK_SPAN_WITNESS, begin_ns));
        break;
    case CUZK_EVENT_PROVE_START:
        put(span_of(e, CUZK_SPAN_PROVE_START, begin_ns));
        break;
    case CUZK_EVENT_LANE_WAIT:
        put(span_of(e, CUZK_SPAN_LANE_WAIT, begin_ns));
        break;
    case CUZK_EVENT_LANE:
        put_lane(record, e, begin_ns);
        break;
    case CUZK_EVENT_PROVE_FINISH:
        put(span_of(e, CUZK_SPAN_PROVE_FINISH, begin_ns));
        break;
    case CUZK_EVENT_VERIFY:
        put(span_of(e, CUZK_SPAN_VERIFY, begin_ns));
        break;
    default:
        break;
    }
}

static void put_instant(const cuzk_event *e)
{
    switch (e->id) {
    case CUZK_EVENT_ACCEPTED:
    case CUZK_EVENT_ENDED:
        put_job(e);
        break;
    case CUZK_EVENT_EVICTED:
        put_text(span_of(e, CUZK_SPAN_EVICTED, e->ns), e->text);
        break;
    case CUZK_EVENT_UNIT_DONE:
        put(span_of(e, CUZK_SPAN_UNIT_DONE, e->ns));
        break;
    case CUZK_EVENT_RETRY:
        put_text(span_of(e, CUZK_SPAN_RETRY, e->ns), e->text);
        break;
    case CUZK_EVENT_DEVICE_OUT:
        put_text(span_of(e, CUZK_SPAN_DEVICE_OUT, e->ns), e->text);
        break;
    default:
        break;
    }
}

void cuzk_record_observe(cuzk_record *record, const cuzk_event *event)
{
    if (event->phase == CUZK_EVENT_BEGIN) {
        began_ns[event->id] = event->ns;
        put_wait(event);
        if (event->unit >= 0) { /* layers below that know no jobs put spans of their own */
            cuzk_timespan of = span_of(event, CUZK_SPAN_PROVE_START, event->ns);
            cuzk_recorder_work_on(&of);
        }
    } else if (event->phase == CUZK_EVENT_END) {
        put_end(record, event, began_ns[event->id]);
    } else {
        put_instant(event);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint64_t wall_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static cuzk_status write_all(cuzk_record *r, const cuzk_text *text, cuzk_error *err)
{
    for (size_t at = 0; at < text->size;) {
        ssize_t n = write(r->fd, text->data + at, text->size - at);
        if (n < 0 && errno != EINTR) {
            return CUZK_FAIL(err, CUZK_E_FILE, "writing the recording \"%s\": %s", r->path,
                             strerror(errno));
        }
        at += n > 0 ? (size_t)n : 0;
    }
    r->n_bytes += text->size;
    return CUZK_OK;
}

static void close_file(cuzk_record *r)
{
    if (r->fd >= 0) {
        close(r->fd);
    }
    r->fd = -1;
}

/* A new file with what each begins with; the one before it becomes PATH.old. */
static cuzk_status begin_file(cuzk_record *r, cuzk_error *err)
{
    close_file(r);
    CUZK_FAIL_IF(rename(r->path, r->old_path) != 0 && errno != ENOENT, err, CUZK_E_FILE,
                 "renaming the recording \"%s\": %s", r->path, strerror(errno));
    r->fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CUZK_FAIL_IF(r->fd < 0, err, CUZK_E_FILE, "creating the recording \"%s\": %s", r->path,
                 strerror(errno));
    r->n_bytes = 0;
    cuzk_text start = {0};
    cuzk_recording_put_start(&start, wall_now_ns(), cuzk_now_ns());
    cuzk_status status = cuzk_text_check(&start, err);
    if (status == CUZK_OK) {
        status = write_all(r, &start, err);
    }
    cuzk_text_clear(&start);
    if (status == CUZK_OK) {
        status = write_all(r, &r->head, err);
    }
    if (status == CUZK_OK) {
        status = write_all(r, &r->threads, err);
    }
    return status;
}

static void on_spans(void *user, const cuzk_timespan *spans, size_t n)
{
    cuzk_recording_put_spans(&((cuzk_record *)user)->pieces, spans, n);
}

static void on_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    cuzk_recording_put_text(&((cuzk_record *)user)->pieces, number, text, n_bytes);
}

static void on_thread(void *user, uint16_t index, const char *name)
{
    cuzk_record *r = user;
    cuzk_recording_put_thread(&r->pieces, index, name);
    if (r->threads.size < THREAD_PIECES_MAX) {
        cuzk_recording_put_thread(&r->threads, index, name);
    }
}

static void on_lost(void *user, uint64_t n_spans)
{
    cuzk_recording_put_lost(&((cuzk_record *)user)->pieces, n_spans);
}

/* What cannot be written is given up, and said once. */
static cuzk_status write_pieces(cuzk_record *r, cuzk_error *err)
{
    CUZK_TRY(cuzk_text_check(&r->pieces, err));
    if (r->fd < 0 || r->n_bytes + r->pieces.size > r->limit_bytes / 2) {
        CUZK_TRY(begin_file(r, err));
    }
    return write_all(r, &r->pieces, err);
}

static void take(cuzk_record *r)
{
    const cuzk_recorder_sink sink = {on_spans, on_text, on_thread, on_lost, r};
    cuzk_error err = {0};
    cuzk_recorder_take(&sink);
    if (r->pieces.size == 0 && !r->pieces.failed) {
        return;
    }
    bool has_failed = write_pieces(r, &err) != CUZK_OK;
    if (has_failed) {
        close_file(r);
    }
    if (has_failed && !r->has_failed) {
        CUZK_LOG(r->log, CUZK_LOG_ERROR, "the recording has a gap", CUZK_LOG_S("reason", err.text));
    }
    r->has_failed = has_failed;
    r->pieces.size = 0; /* its memory serves again */
    r->pieces.failed = false;
}

static void *run(void *user)
{
    cuzk_record *r = user;
    pthread_mutex_lock(&r->lock);
    while (!r->ends) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += PERIOD_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&r->wake, &r->lock, &until);
        pthread_mutex_unlock(&r->lock);
        take(r);
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(cuzk_record *r)
{
    close_file(r);
    free(r->path);
    free(r->old_path);
    cuzk_text_clear(&r->head);
    cuzk_text_clear(&r->threads);
    cuzk_text_clear(&r->pieces);
    free(r);
}

static void put_head(cuzk_record *r, const cuzk_record_options *o)
{
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        if (o->kinds[k].name != NULL) {
            cuzk_recording_put_kind(&r->head, (uint8_t)k, o->kinds[k].name);
        }
    }
    for (unsigned i = 0; i < o->n_devices; i++) {
        /* one more worker serves what is CRITICAL */
        cuzk_recording_put_device(&r->head, (uint8_t)i, (uint8_t)o->devices[i].n_workers,
                                  o->devices[i].id);
        r->cpu_devices[i] = strcmp(o->devices[i].id, "cpu") == 0;
    }
}

static cuzk_status start_thread(cuzk_record *r, cuzk_error *err)
{
    pthread_condattr_t monotonic;
    bool is_ready = pthread_condattr_init(&monotonic) == 0 &&
                    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                    pthread_cond_init(&r->wake, &monotonic) == 0 &&
                    pthread_mutex_init(&r->lock, NULL) == 0 &&
                    pthread_create(&r->thread, NULL, run, r) == 0;
    CUZK_FAIL_IF(!is_ready, err, CUZK_E_MEMORY, "starting the recording's thread: out of memory");
    return CUZK_OK;
}

cuzk_status cuzk_record_start(cuzk_record **out, const cuzk_record_options *options,
                              cuzk_error *err)
{
    cuzk_record *r = calloc(1, sizeof *r);
    CUZK_FAIL_IF(r == NULL, err, CUZK_E_MEMORY, "starting a recording: out of memory");
    r->fd = -1;
    r->limit_bytes = options->limit_bytes;
    r->log = options->log;
    size_t n = strlen(options->path);
    r->path = strdup(options->path);
    r->old_path = malloc(n + 5);
    put_head(r, options);
    cuzk_status status = CUZK_OK;
    if (r->path == NULL || r->old_path == NULL || r->head.failed) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "starting a recording: out of memory");
    } else {
        memcpy(r->old_path, r->path, n);
        memcpy(r->old_path + n, ".old", 5);
    }
    if (status == CUZK_OK) {
        status = begin_file(r, err);
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
    pthread_mutex_lock(&record->lock);
    record->ends = true;
    pthread_cond_signal(&record->wake);
    pthread_mutex_unlock(&record->lock);
    pthread_join(record->thread, NULL);
    take(record);
    pthread_cond_destroy(&record->wake);
    pthread_mutex_destroy(&record->lock);
    destroy(record);
}
