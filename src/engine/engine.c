/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The engine's life: options, drain, stop. */
#define _GNU_SOURCE /* PTHREAD_MUTEX_ADAPTIVE_NP */
#include "engine/inner.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cuzk_engine_unlock(cuzk_engine *engine)
{
    cuzk_schedule(engine);
    cuzk_clerk_remind(engine);
    pthread_mutex_unlock(&engine->lock);
}

int64_t cuzk_engine_unix_ms(void)
{
    return (int64_t)(cuzk_wall_ns() / 1000000) + cuzk_fault_clock_ms();
}

char *cuzk_engine_text(const char *fmt, ...)
{
    char text[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return strdup(text);
}

/* ---- create ---------------------------------------------------------------------------------- */

static cuzk_status check_options(const cuzk_engine_options *options, cuzk_error *err)
{
    CUZK_FAIL_IF(options->n_devices == 0 || options->n_devices > CUZK_ENGINE_DEVICES_MAX, err,
                 CUZK_E_ARGUMENT, "the engine needs 1 to %d devices, not %u",
                 CUZK_ENGINE_DEVICES_MAX, options->n_devices);
    for (unsigned d = 0; d < options->n_devices; d++) {
        unsigned n = options->devices[d].n_workers;
        CUZK_FAIL_IF(n == 0 || n > CUZK_ENGINE_WORKERS_MAX, err, CUZK_E_ARGUMENT,
                     "device %s: 1 to %d workers, not %u", options->devices[d].id,
                     CUZK_ENGINE_WORKERS_MAX, n);
    }
    CUZK_FAIL_IF(
        options->budget_bytes == 0 || options->intake_bytes >= options->budget_bytes, err,
        CUZK_E_ARGUMENT, "a memory budget of %llu bytes with %llu of them for payloads and tasks",
        (unsigned long long)options->budget_bytes, (unsigned long long)options->intake_bytes);
    CUZK_FAIL_IF(options->n_decoders == 0 || options->n_witness == 0 || options->n_finishers == 0 ||
                     options->n_verifiers == 0,
                 err, CUZK_E_ARGUMENT, "each stage of the engine needs a thread");
    return CUZK_OK;
}

static cuzk_status copy_devices(cuzk_engine *engine, const cuzk_engine_options *options,
                                cuzk_error *err)
{
    cuzk_engine_device *copy = calloc(options->n_devices, sizeof *copy);
    engine->options.devices = copy;
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "no memory for the list of devices");
    for (unsigned d = 0; d < options->n_devices; d++) {
        const cuzk_engine_device *from = &options->devices[d];
        cuzk_device *device = &engine->devices[d];
        pthread_cond_init(&device->loaded, NULL);
        pthread_cond_init(&device->changed, NULL);
        device->is_counted = device->wants_used = true;
        device->since_ns = cuzk_now_ns();
        engine->n_devices++;
        if (from->missing != NULL) {
            cuzk_device_set_missing(engine, d, from->missing);
        }
        device->id = strdup(from->id);
        device->name = strdup(from->name != NULL ? from->name : from->id);
        CUZK_FAIL_IF(device->id == NULL || device->name == NULL, err, CUZK_E_MEMORY,
                     "no memory for the list of devices");
        device->memory.cap = from->memory_bytes;
        device->memory.slice = from->memory_bytes / 16;
        copy[d] = (cuzk_engine_device){device->id, device->name, from->memory_bytes,
                                       from->n_workers, NULL};
    }
    return CUZK_OK;
}

static void set_defaults(cuzk_engine_options *options)
{
    options->attempts = options->attempts != 0 ? options->attempts : 2;
    options->device_faults = options->device_faults != 0 ? options->device_faults : 2;
    options->retry_ns = options->retry_ns != 0 ? options->retry_ns : UINT64_C(1000000000);
    options->keep_ns = options->keep_ns != 0 ? options->keep_ns : UINT64_C(3600000000000);
    options->keep_bytes = options->keep_bytes != 0 ? options->keep_bytes : UINT64_C(64) << 20;
}

/* What it guards takes microseconds: who waits for it looks again a few times before sleeping. */
static void init_lock(cuzk_engine *engine)
{
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&engine->lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

static void init_conditions(cuzk_engine *engine)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->clerk_wake, &monotonic);
    pthread_cond_init(&engine->quiet, &monotonic);
    pthread_cond_init(&engine->slots_changed, NULL);
    pthread_cond_init(&engine->found, NULL);
    pthread_condattr_destroy(&monotonic);
}

void cuzk_engine_work_bytes(const cuzk_engine_options *options, uint64_t *work_bytes,
                            uint64_t *critical_bytes)
{
    cuzk_budget budget;
    cuzk_budget_init(&budget, options->budget_bytes, options->intake_bytes);
    *work_bytes = budget.shares[CUZK_SHARE_WORK].cap;
    *critical_bytes = budget.shares[CUZK_SHARE_WORK].slice;
}

cuzk_status cuzk_engine_create(cuzk_engine **out, const cuzk_engine_options *options,
                               cuzk_error *err)
{
    CUZK_TRY(check_options(options, err));
    cuzk_engine *engine = calloc(1, sizeof *engine);
    CUZK_FAIL_IF(engine == NULL, err, CUZK_E_MEMORY, "no memory for the engine");
    engine->options = *options;
    engine->options.devices = NULL;
    engine->options.n_devices = options->n_devices;
    engine->born_ns = cuzk_now_ns();
    engine->timer.kind = CUZK_TIMER_ENGINE;
    atomic_init(&engine->stops, false);
    set_defaults(&engine->options);
    init_lock(engine);
    init_conditions(engine);
    cuzk_budget_init(&engine->budget, options->budget_bytes, options->intake_bytes);
    cuzk_status status = copy_devices(engine, options, err);
    if (status == CUZK_OK) {
        status = cuzk_table_init(&engine->jobs, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_table_init(&engine->waiters, err);
    }
    if (status == CUZK_OK && options->journal != NULL && !cuzk_filter_init(&engine->gone)) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the engine");
    }
    if (status == CUZK_OK) {
        cuzk_hands_size(engine);
        status = cuzk_records_recover(engine, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_hands_start(engine, err);
    }
    if (status == CUZK_OK) {
        cuzk_devices_await_missing(engine);
    }
    if (status != CUZK_OK) {
        cuzk_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return CUZK_OK;
}

/* ---- drain and stop -------------------------------------------------------------------------- */

/* Devices that one of their threads opens, or takes everything off. */
static unsigned n_tended(const cuzk_engine *engine)
{
    unsigned n = 0;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        n += engine->devices[d].is_tended;
    }
    return n;
}

/* Threads of the units' stages that have an item: units, also those of jobs that have ended, until
 * they hear of it, and devices that are tended. */
static unsigned n_stages_busy(const cuzk_engine *engine)
{
    unsigned n = engine->makers.n_busy + engine->finishers.n_busy + engine->verifiers.n_busy;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        n += cuzk_device_load(&engine->devices[d]);
    }
    return n;
}

/* Nothing is told, nor about to be, and no unit is in a stage or has left a device for one: also
 * not one of a job that has ended, whose sums a finisher drops. */
static bool is_quiet(const cuzk_engine *engine)
{
    return engine->n_submissions == 0 && engine->notices.first == NULL && !engine->is_calling &&
           engine->finish.n == 0 && engine->verify.n == 0 &&
           n_stages_busy(engine) == n_tended(engine);
}

static bool is_drained(const cuzk_engine *engine)
{
    return engine->n_unfinished == 0 && is_quiet(engine);
}

/* No unfinished job can end any more: all devices are drained or out, and what had left them has
 * gone its way. */
static bool is_in_vain(const cuzk_engine *engine)
{
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        cuzk_device_state state = engine->devices[d].state;
        if (state != CUZK_DEVICE_DRAINED && state != CUZK_DEVICE_OUT) {
            return false;
        }
    }
    return is_quiet(engine) && engine->n_writes == 0;
}

bool cuzk_engine_drain(cuzk_engine *engine, uint64_t deadline_ns)
{
    struct timespec t = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                         .tv_nsec = (long)(deadline_ns % 1000000000u)};
    cuzk_engine_lock(engine);
    engine->is_draining = true;
    cuzk_intake_refuse(engine);
    cuzk_schedule(engine);
    cuzk_clerk_remind(engine);
    while (!is_drained(engine) && !is_in_vain(engine) && cuzk_now_ns() < deadline_ns) {
        pthread_cond_timedwait(&engine->quiet, &engine->lock, &t);
    }
    bool drained = is_drained(engine);
    cuzk_engine_unlock(engine);
    return drained;
}

static unsigned n_busy(const cuzk_engine *engine)
{
    return n_stages_busy(engine) + engine->decoders.n_busy + engine->loaders.n_busy;
}

/* All that runs sees that it is to end; all that waits is taken out. */
static void stop(cuzk_engine *engine)
{
    engine->is_draining = true;
    engine->is_stopping = true;
    atomic_store_explicit(&engine->stops, true, memory_order_relaxed); /* a hint; work asks often */
    cuzk_intake_refuse(engine);
    for (cuzk_job *job = engine->live; job != NULL; job = job->next) {
        cuzk_waiters_stop(engine, job);
        cuzk_job_stop_units(engine, job);
    }
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        cuzk_observe_slot_left(engine, slot);
    }
    pthread_cond_broadcast(&engine->slots_changed);
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        pthread_cond_broadcast(&engine->devices[d].changed);
    }
    cuzk_records_again(engine); /* once more, whatever the time */
    cuzk_schedule(engine);
    cuzk_clerk_remind(engine);
    while (n_busy(engine) > 0 || engine->finish.n > 0 || engine->n_writes > 0 ||
           engine->n_callers > 0) {
        pthread_cond_wait(&engine->quiet, &engine->lock);
    }
}

/* No thread is left. Jobs that are unfinished stay in the journal. */
static void free_jobs(cuzk_engine *engine)
{
    cuzk_engine_lock(engine);
    while (engine->rewrites != NULL) {
        cuzk_job *job = engine->rewrites;
        engine->rewrites = job->next_rewrite;
        job->is_rewrite = false;
        if (job->is_closed && job->units != NULL) {
            job->n_refs++;
            cuzk_job_sweep(engine, job);
        }
        cuzk_job_unref(engine, job);
    }
    cuzk_jobs_free(engine);
    pthread_mutex_unlock(&engine->lock);
}

static void free_slots(cuzk_engine *engine)
{
    for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        if (slot->resident != NULL) {
            cuzk_devices_cool(engine, slot);
            slot->work->resident_close(slot->work->user, slot->resident);
        }
    }
    while (engine->slots != NULL) {
        cuzk_slot *slot = engine->slots;
        engine->slots = slot->next;
        free(slot->error);
        free(slot);
    }
}

void cuzk_engine_destroy(cuzk_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    cuzk_engine_lock(engine);
    if (engine->jobs.buckets != NULL) {
        stop(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    cuzk_hands_join(engine);
    if (engine->jobs.buckets != NULL) {
        free_jobs(engine);
    }
    free_slots(engine);
    for (unsigned d = 0; d < engine->options.n_devices && engine->options.devices != NULL; d++) {
        cuzk_device *device = &engine->devices[d];
        if (device->id != NULL) {
            pthread_cond_destroy(&device->loaded);
            pthread_cond_destroy(&device->changed);
        }
        free(device->id);
        free(device->name);
    }
    free((void *)(uintptr_t)engine->options.devices);
    free(engine->threads);
    free(engine->hands);
    cuzk_table_clear(&engine->jobs);
    cuzk_table_clear(&engine->waiters);
    pthread_cond_destroy(&engine->clerk_wake);
    pthread_cond_destroy(&engine->quiet);
    pthread_cond_destroy(&engine->slots_changed);
    pthread_cond_destroy(&engine->found);
    cuzk_filter_clear(&engine->gone);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}
