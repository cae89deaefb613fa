/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/chrome.h"

#include <inttypes.h>
#include <stdio.h>

/* Process and row numbers of the trace. */
enum { JOBS = 1, THREADS = 2, DEVICES = 10, ROW_KERNELS = 0, ROW_COPIES = 1, ROW_WORKERS = 2 };

typedef struct {
    unsigned process;
    uint64_t row;
} place;

static place place_of(const cuzk_timespan *s)
{
    switch (cuzk_span_about_of((cuzk_span_name)s->name)->track) {
    case CUZK_TRACK_JOB:
    case CUZK_TRACK_UNIT:
        return (place){JOBS, s->job};
    case CUZK_TRACK_THREAD:
        return (place){THREADS, s->thread};
    case CUZK_TRACK_WORKER:
        return (place){DEVICES + (unsigned)(s->device < 0 ? 0 : s->device),
                       ROW_WORKERS + (uint64_t)(s->worker < 0 ? 0 : s->worker)};
    case CUZK_TRACK_DEVICE:
        break;
    }
    return (place){DEVICES + (unsigned)(s->device < 0 ? 0 : s->device),
                   cuzk_span_is_kernel(s->name) ? ROW_KERNELS : ROW_COPIES};
}

static void put_name(cuzk_text *text, const char *what, unsigned process, uint64_t row,
                     const char *name)
{
    cuzk_text_printf(
        text,
        ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%" PRIu64 ",\"args\":{\"name\":", what,
        process, row);
    cuzk_text_put_json_string(text, name);
    cuzk_text_put(text, "}}");
}

static void put_names(cuzk_text *text, const cuzk_recording *r)
{
    char name[CUZK_RECORDING_LABEL];
    /* the first event has no comma before it */
    cuzk_text_printf(text,
                     "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,"
                     "\"args\":{\"name\":\"jobs\"}}",
                     JOBS);
    put_name(text, "process_name", THREADS, 0, "threads");
    for (size_t i = 0; i < r->n_threads; i++) {
        if (r->threads[i] != NULL) {
            put_name(text, "thread_name", THREADS, i, r->threads[i]);
        }
    }
    for (size_t i = 0; i < r->n_devices; i++) {
        unsigned process = DEVICES + (unsigned)i;
        put_name(text, "process_name", process, 0,
                 r->devices[i].id[0] != 0 ? r->devices[i].id : "device");
        put_name(text, "thread_name", process, ROW_KERNELS, "kernels");
        put_name(text, "thread_name", process, ROW_COPIES, "copies");
        for (unsigned w = 0; w < r->devices[i].n_workers; w++) {
            snprintf(name, sizeof name, "worker %u", w);
            put_name(text, "thread_name", process, ROW_WORKERS + w, name);
        }
    }
}

static void put_span(cuzk_text *text, const cuzk_recording *r, const cuzk_timespan *s)
{
    const cuzk_span_about *about = cuzk_span_about_of((cuzk_span_name)s->name);
    place at = place_of(s);
    uint64_t ns = s->begin_ns - r->begin_ns;
    cuzk_text_printf(text,
                     ",\n{\"name\":\"%s\",\"pid\":%u,\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ".%03u,",
                     about->name, at.process, at.row, ns / 1000, (unsigned)(ns % 1000));
    if (about->is_instant) {
        cuzk_text_put(text, "\"ph\":\"i\",\"s\":\"t\"");
    } else {
        uint64_t length = s->end_ns - s->begin_ns;
        cuzk_text_printf(text, "\"ph\":\"X\",\"dur\":%" PRIu64 ".%03u", length / 1000,
                         (unsigned)(length % 1000));
    }
    cuzk_text_printf(text, ",\"args\":{\"job\":%" PRIu64, s->job);
    if (s->unit >= 0) {
        cuzk_text_printf(text, ",\"partition\":%d", s->unit);
    }
    if (about->value[0] != 0) {
        cuzk_text_printf(text, ",\"%s\":%" PRIu64, about->value, s->value);
    }
    if (s->status != 0) {
        cuzk_text_printf(text, ",\"status\":%u", s->status);
    }
    const char *id = cuzk_recording_text(r, s->text);
    if (id != NULL) {
        cuzk_text_put(text, ",\"text\":");
        cuzk_text_put_json_string(text, id);
    }
    cuzk_text_put(text, "}}");
}

void cuzk_chrome_put(cuzk_text *text, const cuzk_recording *recording)
{
    cuzk_text_put(text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    put_names(text, recording);
    for (size_t i = 0; i < recording->n_spans; i++) {
        put_span(text, recording, &recording->spans[i]);
    }
    cuzk_text_put(text, "\n]}\n");
}
