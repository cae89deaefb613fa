/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording of this process's own proofs: one thread takes what the recorder holds and
 * writes it. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "api/record.h"

#include "api/api.h"
#include "base/clock.h"
#include "cuzk_timeline.h"
#include "filecoin/registered.h"
#include "timeline/record_file.h"
#include "timeline/recorder.h"
#include "timeline/recording.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ID_MAX = 32 };

static const char *const kinds[CUZK_API_RECORD_KINDS] = {
    [CUZK_PROOF_POREP] = "porep-c2",     [CUZK_PROOF_UPDATE] = "snap-update",
    [CUZK_PROOF_WINDOW] = "window-post", [CUZK_PROOF_WINNING] = "winning-post",
    [CUZK_API_RECORD_CIRCOM] = "circom",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static bool is_busy;                                     /* begins, is written, or ends */
static pthread_t thread;
static cuzk_text devices; /* pieces that were not written yet */
static char device_ids[CUZK_RECORDING_DEVICES][CUZK_RECORDING_LABEL];
static unsigned n_devices;

/* of the one that begins and ends it, and of the thread between the two */
static cuzk_record_file file;
static cuzk_text head, pieces;
static uint64_t n_taken; /* spans in pieces */
static cuzk_error failure;

static atomic_bool is_on, ends;
static atomic_uint_fast64_t n_jobs;

/* ---- writing --------------------------------------------------------------------------------- */

static void on_spans(void *user, const cuzk_timespan *spans, size_t n)
{
    (void)user;
    cuzk_recording_put_spans(&pieces, spans, n);
    n_taken += n;
}

static void on_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    (void)user;
    cuzk_recording_put_text(&pieces, number, text, n_bytes);
}

static void on_thread(void *user, uint16_t index, const char *name)
{
    (void)user;
    cuzk_recording_put_thread(&pieces, index, name);
}

static void on_lost(void *user, uint64_t n_spans)
{
    (void)user;
    cuzk_recording_put_lost(&pieces, n_spans);
}

/* What was put so far goes into the file; the first failure is kept. */
static void take(void)
{
    const cuzk_recorder_sink sink = {on_spans, on_text, on_thread, on_lost, NULL};
    cuzk_error err = {0};
    cuzk_recorder_take(&sink);
    pthread_mutex_lock(&lock); /* after the spans, which name the devices */
    cuzk_text_put_bytes(&pieces, devices.data, devices.size);
    devices.size = 0;
    pthread_mutex_unlock(&lock);
    if ((pieces.size > 0 || pieces.failed) &&
        cuzk_record_file_write(&file, &pieces, n_taken, &head, &err) != CUZK_OK &&
        failure.status == CUZK_OK) {
        failure = err;
    }
    pieces.size = 0;
    pieces.failed = false;
    n_taken = 0;
}

static void *run(void *user)
{
    (void)user;
    pthread_setname_np(pthread_self(), "record");
    while (!atomic_load_explicit(&ends, memory_order_acquire)) {
        cuzk_recorder_wait();
        take();
    }
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool set_busy(bool busy)
{
    pthread_mutex_lock(&lock);
    bool was_busy = is_busy;
    is_busy = busy;
    pthread_mutex_unlock(&lock);
    return was_busy;
}

static void clear(void)
{
    cuzk_record_file_close(&file);
    cuzk_text_clear(&head);
    cuzk_text_clear(&pieces);
    pthread_mutex_lock(&lock);
    cuzk_text_clear(&devices);
    n_devices = 0;
    pthread_mutex_unlock(&lock);
    atomic_store_explicit(&ends, false, memory_order_relaxed);
    n_taken = 0;
}

static cuzk_status start(const char *path, cuzk_error *err)
{
    for (unsigned k = 1; k < CUZK_API_RECORD_KINDS; k++) {
        cuzk_recording_put_kind(&head, (uint8_t)k, kinds[k]);
    }
    CUZK_TRY(cuzk_text_check(&head, err));
    CUZK_TRY(cuzk_record_file_open(&file, path, UINT64_MAX, &head, err));
    CUZK_TRY(cuzk_recorder_start(err));
    if (pthread_create(&thread, NULL, run, NULL) != 0) {
        cuzk_recorder_stop();
        return CUZK_FAIL(err, CUZK_E_MEMORY, "starting the recording's thread: out of memory");
    }
    return CUZK_OK;
}

cuzk_status cuzk_timeline_record(const char *path, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, path);
    CUZK_FAIL_IF(set_busy(true), err, CUZK_E_ARGUMENT,
                 "recording to \"%s\": this process writes a recording already", path);
    failure = (cuzk_error){0};
    file.fd = -1;
    cuzk_status status = start(path, err);
    if (status != CUZK_OK) {
        clear();
        set_busy(false);
        return status;
    }
    atomic_store_explicit(&is_on, true, memory_order_release);
    return CUZK_OK;
}

cuzk_status cuzk_timeline_record_end(cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_FAIL_IF(!atomic_exchange(&is_on, false), err, CUZK_E_ARGUMENT,
                 "ending a recording: this process writes none");
    cuzk_recorder_stop();
    atomic_store_explicit(&ends, true, memory_order_release);
    cuzk_recorder_wake();
    pthread_join(thread, NULL);
    take();
    clear();
    cuzk_error first = failure;
    set_busy(false);
    return first.status == CUZK_OK ? CUZK_OK : CUZK_FAIL(err, first.status, "%s", first.text);
}

/* ---- spans ----------------------------------------------------------------------------------- */

uint64_t cuzk_api_record_now(void)
{
    return atomic_load_explicit(&is_on, memory_order_acquire) ? cuzk_now_ns() : 0;
}

void cuzk_api_record_span(cuzk_span_name name, uint64_t begin_ns, uint64_t value, const char *text,
                          cuzk_status status)
{
    uint64_t now = cuzk_api_record_now();
    if (begin_ns == 0 || now == 0) {
        return;
    }
    cuzk_recorder_put(&(cuzk_timespan){.begin_ns = begin_ns,
                                       .end_ns = now,
                                       .name = (uint16_t)name,
                                       .unit = -1,
                                       .device = -1,
                                       .worker = -1,
                                       .value = value,
                                       .text = text != NULL ? cuzk_recorder_text(text) : 0,
                                       .status = (uint8_t)status});
}

/* The number of a device, which is told to the file when it is new. */
static int8_t device_number(const char *id)
{
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < n_devices && strcmp(device_ids[i], id) != 0) {
        i++;
    }
    if (i == n_devices && n_devices < CUZK_RECORDING_DEVICES) {
        snprintf(device_ids[i], sizeof device_ids[i], "%s", id);
        cuzk_recording_put_device(&devices, (uint8_t)i, 1, id);
        n_devices++;
    }
    pthread_mutex_unlock(&lock);
    return i < CUZK_RECORDING_DEVICES ? (int8_t)i : -1;
}

static cuzk_timespan span_of(const cuzk_api_record *record, cuzk_span_name name, uint64_t begin_ns)
{
    return (cuzk_timespan){.begin_ns = begin_ns,
                           .end_ns = cuzk_now_ns(),
                           .job = record->job,
                           .name = (uint16_t)name,
                           .unit = -1,
                           .device = -1,
                           .worker = -1,
                           .kind = record->kind};
}

static void put_job(const cuzk_api_record *record, cuzk_span_name name, cuzk_status status)
{
    cuzk_timespan span = span_of(record, name, record->begin_ns);
    span.value = record->n_units;
    span.text = record->text;
    span.status = (uint8_t)status;
    if (name == CUZK_SPAN_JOB_ACCEPTED) {
        span.end_ns = span.begin_ns;
    }
    cuzk_recorder_put(&span);
}

cuzk_api_record cuzk_api_record_begin(uint8_t kind, const char *device, unsigned n_units)
{
    uint64_t now = cuzk_api_record_now();
    if (now == 0) {
        return (cuzk_api_record){0};
    }
    cuzk_api_record record = {.job = atomic_fetch_add(&n_jobs, 1) + 1,
                              .begin_ns = now,
                              .n_units = (uint16_t)n_units,
                              .unit = -1,
                              .kind = kind,
                              .device = device_number(device)};
    char id[ID_MAX];
    snprintf(id, sizeof id, "proof-%llu", (unsigned long long)record.job);
    record.text = cuzk_recorder_text(id);
    put_job(&record, CUZK_SPAN_JOB_ACCEPTED, CUZK_OK);
    return record;
}

uint64_t cuzk_api_record_unit(cuzk_api_record *record, unsigned k)
{
    if (record->job == 0) {
        return 0;
    }
    record->unit = (int16_t)k;
    cuzk_timespan of = span_of(record, CUZK_SPAN_PROVE_START, 0);
    of.unit = record->unit;
    of.device = record->device;
    of.worker = 0;
    cuzk_recorder_work_on(&of);
    return cuzk_now_ns();
}

void cuzk_api_record_witness(const cuzk_api_record *record, uint64_t begin_ns, cuzk_status status)
{
    if (record->job != 0) {
        cuzk_timespan span = span_of(record, CUZK_SPAN_WITNESS, begin_ns);
        span.unit = record->unit;
        span.status = (uint8_t)status;
        cuzk_recorder_put(&span);
    }
}

void cuzk_api_record_unit_done(const cuzk_api_record *record)
{
    if (record->job != 0) {
        cuzk_timespan span = span_of(record, CUZK_SPAN_UNIT_DONE, 0);
        span.begin_ns = span.end_ns;
        span.unit = record->unit;
        cuzk_recorder_put(&span);
    }
}

void cuzk_api_record_end(const cuzk_api_record *record, cuzk_status status)
{
    if (record->job != 0) {
        put_job(record, CUZK_SPAN_JOB, status);
    }
}
