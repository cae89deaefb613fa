/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bench_gpu_record.h"

#include "base/clock.h"
#include "base/map_file.h"
#include "bench_gpu.h"
#include "timeline/recorder.h"
#include "timeline/recording.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    bool is_on;
    unsigned n_units;      /* of a job */
    cuzk_text text;        /* of the recorder's sink: one caller at a time */
    uint64_t accepted_ns;  /* of all jobs */
    unsigned *n_left;      /* proofs of each job; under the mutex */
    pthread_mutex_t mutex; /* of n_left */
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local cuzk_timespan now; /* what this thread works on */

static void put_spans(void *user, const cuzk_timespan *spans, size_t n)
{
    cuzk_recording_put_spans(user, spans, n);
}

static void put_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    cuzk_recording_put_text(user, number, text, n_bytes);
}

static void put_thread(void *user, uint16_t index, const char *name)
{
    cuzk_recording_put_thread(user, index, name);
}

static void put_lost(void *user, uint64_t n_spans)
{
    cuzk_recording_put_lost(user, n_spans);
}

static void take(void)
{
    const cuzk_recorder_sink sink = {.spans = put_spans,
                                     .text = put_text,
                                     .thread = put_thread,
                                     .lost = put_lost,
                                     .user = &all.text};
    cuzk_recorder_take(&sink);
}

/* A span of a whole job, or an instant of one. */
static cuzk_timespan of_job(cuzk_span_name name, uint64_t job, uint64_t end_ns)
{
    return (cuzk_timespan){.begin_ns = all.accepted_ns,
                           .end_ns = end_ns,
                           .job = job,
                           .value = all.n_units,
                           .name = (uint16_t)name,
                           .unit = -1,
                           .device = -1,
                           .worker = -1};
}

void bench_record_start(unsigned device_index, unsigned n_workers, unsigned n_units,
                        const char *kind)
{
    cuzk_error err = {0};
    char id[32];
    snprintf(id, sizeof id, "cuda:%u", device_index);
    must(cuzk_recorder_start(&err), &err);
    all.is_on = true;
    all.n_units = n_units;
    cuzk_recording_put_start(&all.text, cuzk_wall_ns(), cuzk_now_ns());
    cuzk_recording_put_kind(&all.text, 0, kind);
    cuzk_recording_put_device(&all.text, 0, (uint8_t)n_workers, id);
}

void bench_record_accept(unsigned n)
{
    if (!all.is_on) {
        return;
    }
    unsigned n_jobs = (n + all.n_units - 1) / all.n_units;
    all.n_left = calloc(n_jobs, sizeof *all.n_left);
    if (all.n_left == NULL) {
        fprintf(stderr, "recording: out of memory\n");
        exit(1);
    }
    all.accepted_ns = cuzk_now_ns();
    for (unsigned job = 0; job < n_jobs; job++) {
        unsigned n_rest = n - job * all.n_units;
        all.n_left[job] = n_rest < all.n_units ? n_rest : all.n_units;
        cuzk_timespan span = of_job(CUZK_SPAN_JOB_ACCEPTED, job + 1, all.accepted_ns);
        span.value = all.n_left[job];
        cuzk_recorder_put(&span);
    }
}

void bench_record_work(unsigned worker, unsigned proof)
{
    if (!all.is_on) {
        return;
    }
    now = (cuzk_timespan){.job = proof / all.n_units + 1,
                          .unit = (int16_t)(proof % all.n_units),
                          .device = -1,
                          .worker = -1};
    bench_record_span(CUZK_SPAN_WAIT_WORKER, all.accepted_ns, cuzk_now_ns());
    now.device = 0;
    now.worker = (int8_t)worker;
    cuzk_recorder_work_on(&now);
}

void bench_record_span(cuzk_span_name name, uint64_t begin_ns, uint64_t end_ns)
{
    if (all.is_on) {
        cuzk_timespan span = now;
        span.name = (uint16_t)name;
        span.begin_ns = begin_ns;
        span.end_ns = end_ns;
        cuzk_recorder_put(&span);
    }
}

void bench_record_done(void)
{
    if (!all.is_on) {
        return;
    }
    uint64_t end_ns = cuzk_now_ns();
    bench_record_span(CUZK_SPAN_UNIT_DONE, end_ns, end_ns);
    pthread_mutex_lock(&all.mutex);
    bool is_last = --all.n_left[now.job - 1] == 0;
    pthread_mutex_unlock(&all.mutex);
    if (is_last) {
        cuzk_timespan span = of_job(CUZK_SPAN_JOB, now.job, end_ns);
        cuzk_recorder_put(&span);
    }
    take(); /* a ring holds the spans of a few proofs */
}

void bench_record_write(const char *path)
{
    cuzk_error err = {0};
    cuzk_recorder_stop();
    take();
    must(cuzk_text_check(&all.text, &err), &err);
    must(cuzk_write_file(path, all.text.data, all.text.size, &err), &err);
    cuzk_text_clear(&all.text);
    free(all.n_left);
}
