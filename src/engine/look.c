/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A picture of the engine at one instant. Sizes are counted, memory is allocated without the lock,
 * and the picture is taken under it, once it fits. */
#include "engine/inner.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t LATELY_NS = UINT64_C(30000000000);

/* What a picture takes: numbers of entries, bytes of texts. */
typedef struct {
    size_t jobs, units, workers, residents, texts;
} sizes;

static bool is_late(const cuzk_job *job, uint64_t now_ns)
{
    return now_ns - job->ended_ns < LATELY_NS;
}

static void add_job(sizes *size, const cuzk_job *job, bool with_units)
{
    size->jobs++;
    size->units += with_units ? job->n_units : 0;
    size->texts += strlen(job->id) + 1 + (job->error != NULL ? strlen(job->error) + 1 : 0);
}

static sizes count(const cuzk_engine *engine, uint64_t now_ns, bool with_units)
{
    sizes size = {0};
    for (const cuzk_job *job = engine->live; job != NULL; job = job->next) {
        add_job(&size, job, with_units);
    }
    for (const cuzk_job *job = engine->ended_last; job != NULL; job = job->prev) {
        if (is_late(job, now_ns)) {
            add_job(&size, job, with_units);
        }
    }
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        size.residents++;
        size.texts += strlen(slot->circuit) + 1;
    }
    for (unsigned i = 0; i < engine->n_threads; i++) {
        const cuzk_thread *thread = &engine->threads[i];
        size.workers += thread->stage->run == cuzk_device_run;
        size.texts += thread->unit != NULL ? strlen(thread->unit->job->id) + 1 : 0;
    }
    return size;
}

static bool is_enough(const sizes *have, const sizes *need)
{
    return have->jobs >= need->jobs && have->units >= need->units &&
           have->workers >= need->workers && have->residents >= need->residents &&
           have->texts >= need->texts;
}

/* One block holds all: cuzk_engine_view_clear frees its beginning, view->jobs. */
typedef struct {
    char *block;
    cuzk_job_view *jobs;
    cuzk_unit_view *units;
    cuzk_worker_view *workers;
    cuzk_resident_view *residents;
    char *texts;
} places;

static bool allocate(places *at, const sizes *size)
{
    size_t jobs = size->jobs * sizeof(cuzk_job_view);
    size_t units = size->units * sizeof(cuzk_unit_view);
    size_t workers = size->workers * sizeof(cuzk_worker_view);
    size_t residents = size->residents * sizeof(cuzk_resident_view);
    at->block = calloc(1, jobs + units + workers + residents + size->texts + 1);
    if (at->block == NULL) {
        return false;
    }
    char *p = at->block;
    at->jobs = (cuzk_job_view *)(void *)p;
    at->units = (cuzk_unit_view *)(void *)(p + jobs);
    at->workers = (cuzk_worker_view *)(void *)(p + jobs + units);
    at->residents = (cuzk_resident_view *)(void *)(p + jobs + units + workers);
    at->texts = p + jobs + units + workers + residents;
    return true;
}

static char *put_text(places *at, const char *text)
{
    char *out = at->texts;
    size_t n = strlen(text) + 1;
    memcpy(out, text, n);
    at->texts += n;
    return out;
}

static void put_job(places *at, cuzk_job *job, uint64_t now_ns, bool with_units)
{
    cuzk_job_view *view = at->jobs++;
    char *id = put_text(at, job->id);
    job->seen_id = id;
    *view = (cuzk_job_view){
        .job_id = id,
        .seq = job->seq,
        .kind = job->kind,
        .priority = job->priority,
        .state = job->state,
        .age_ns = now_ns - (job->submitted_ns < now_ns ? job->submitted_ns : now_ns),
        .started_ns_ago = job->started_ns > 0 ? now_ns - job->started_ns : 0,
        .n_units = job->n_units,
        .n_done = job->state == CUZK_JOB_COMPLETED ? job->n_units : job->n_done,
        .n_waiters = job->n_waiters,
        .error = job->error != NULL ? put_text(at, job->error) : NULL,
    };
    if (!with_units) {
        return;
    }
    view->units = at->units;
    for (unsigned i = 0; i < job->n_units; i++) {
        cuzk_unit_view none = {.state = job->state == CUZK_JOB_COMPLETED ? CUZK_UNIT_DONE
                                                                         : CUZK_UNIT_FAILED};
        *at->units++ = job->units != NULL   ? cuzk_unit_look(&job->units[i], now_ns)
                       : job->views != NULL ? job->views[i]
                                            : none;
    }
}

/* What each waits for may name another one, or a circuit: their texts stand first. */
static void put_waits(cuzk_job_view *view, places *at, cuzk_engine *engine)
{
    for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        slot->seen_circuit = put_text(at, slot->circuit);
    }
    for (const cuzk_job *job = engine->live; job != NULL; job = job->next) {
        if (job->is_accepted) {
            (view++)->wait = cuzk_job_wait(engine, job);
        }
    }
}

static void put_jobs(cuzk_engine_view *view, places *at, cuzk_engine *engine, uint64_t now_ns,
                     bool with_units)
{
    view->jobs = at->jobs;
    for (cuzk_job *job = engine->live; job != NULL; job = job->next) {
        if (job->is_accepted) {
            put_job(at, job, now_ns, with_units);
        } else {
            job->seen_id = put_text(at, job->id);
        }
    }
    put_waits(view->jobs, at, engine);
    for (cuzk_job *job = engine->ended_last; job != NULL; job = job->prev) {
        if (is_late(job, now_ns)) {
            put_job(at, job, now_ns, with_units);
        }
    }
    view->n_jobs = (unsigned)(at->jobs - view->jobs);
}

static void put_workers(cuzk_engine_view *view, places *at, const cuzk_engine *engine,
                        uint64_t now_ns)
{
    view->workers = at->workers;
    for (unsigned i = 0; i < engine->n_threads; i++) {
        const cuzk_thread *thread = &engine->threads[i];
        if (thread->stage->run != cuzk_device_run) {
            continue;
        }
        const cuzk_unit *unit = thread->unit;
        bool is_part = thread->of != NULL; /* of a unit that counts already */
        view->in_device += unit != NULL && !is_part;
        *at->workers++ = (cuzk_worker_view){
            .device = thread->device,
            .worker = thread->worker,
            .is_busy = unit != NULL,
            .job_id = unit != NULL ? put_text(at, unit->job->id) : NULL,
            .unit = unit != NULL ? (int)unit->index : -1,
            .kind = unit != NULL ? unit->job->kind : 0,
            .busy_ns = unit != NULL ? now_ns - thread->since_ns : 0,
        };
    }
    view->n_workers = (unsigned)(at->workers - view->workers);
    for (unsigned i = 0; i < view->n_workers; i++) {
        view->devices[view->workers[i].device].n_units += view->workers[i].is_busy;
    }
}

static void put_residents(cuzk_engine_view *view, places *at, const cuzk_engine *engine,
                          uint64_t now_ns)
{
    view->residents = at->residents;
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        if (slot->state == CUZK_SLOT_EMPTY || slot->state == CUZK_SLOT_WANTED) {
            continue;
        }
        cuzk_resident_view *one = at->residents++;
        snprintf(one->circuit, sizeof one->circuit, "%s", slot->circuit);
        one->state = slot->state == CUZK_SLOT_READY     ? CUZK_RESIDENT_READY
                     : slot->state == CUZK_SLOT_LOADING ? CUZK_RESIDENT_LOADING
                                                        : CUZK_RESIDENT_EVICTING;
        one->bytes = slot->bytes;
        one->n_users = slot->n_users;
        one->is_kept = slot->is_kept;
        one->idle_ns = slot->n_users == 0 && slot->used_ns > 0 ? now_ns - slot->used_ns : 0;
    }
    view->n_residents = (unsigned)(at->residents - view->residents);
}

/* As callers see it: what was asked for last while it is tended follows as soon as that ends. */
static cuzk_device_state seen_state(const cuzk_device *device)
{
    if (!device->wants_used && device->state != CUZK_DEVICE_DRAINED) {
        return CUZK_DEVICE_DRAINING;
    }
    if (device->wants_used && device->state == CUZK_DEVICE_DRAINING) {
        return CUZK_DEVICE_OPENING;
    }
    return device->state;
}

static void put_devices(cuzk_engine_view *view, const cuzk_engine *engine, uint64_t now_ns)
{
    view->n_devices = engine->options.n_devices;
    for (unsigned d = 0; d < view->n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        cuzk_device_view *one = &view->devices[d];
        snprintf(one->id, sizeof one->id, "%s", device->id);
        snprintf(one->name, sizeof one->name, "%s", device->name);
        memcpy(one->reason, device->reason, sizeof one->reason);
        one->memory_bytes = device->memory.cap;
        one->reserved_bytes = device->memory.reserved;
        one->state = seen_state(device);
        one->state_ns = now_ns - (device->since_ns < now_ns ? device->since_ns : now_ns);
        bool is_retried = device->state == CUZK_DEVICE_LOST && !device->is_tended;
        one->retry_ns = is_retried && device->retry_ns > now_ns ? device->retry_ns - now_ns : 0;
        one->is_out = !device->is_counted;
        one->n_faults = device->n_faults;
        one->n_renewals = device->n_renewals;
    }
}

static void put_numbers(cuzk_engine_view *view, const cuzk_engine *engine, uint64_t now_ns)
{
    const cuzk_budget *budget = &engine->budget;
    view->uptime_ns = now_ns - engine->born_ns;
    view->budget_bytes = budget->total;
    view->reserved_bytes = budget->reserved;
    view->peak_bytes = budget->peak;
    view->intake_bytes = budget->intake;
    view->intake_reserved_bytes = budget->reserved - budget->shares[CUZK_SHARE_WORK].reserved;
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        view->kinds[k].pending = engine->counts[k].pending;
        view->kinds[k].in_progress = engine->counts[k].in_progress;
        view->kinds[k].completed = engine->counts[k].completed;
        view->kinds[k].failed = engine->counts[k].failed;
        view->kinds[k].cancelled = engine->counts[k].cancelled;
    }
    view->submissions = engine->n_submissions;
    view->n_intake = (unsigned)(engine->decode_claims.n + engine->payload_claims[0].n +
                                engine->payload_claims[1].n + engine->postponed.n);
    view->intake_wait = cuzk_intake_wait(engine);
    view->in_witness = engine->makers.n_busy;
    view->in_finish = engine->finishers.n_busy + (unsigned)engine->finish.n;
    view->in_verify = engine->verifiers.n_busy + (unsigned)engine->verify.n;
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        view->ready += (unsigned)slot->ready.n;
    }
    for (const cuzk_job *job = engine->live; job != NULL && engine->stranded.n > 0;
         job = job->next) {
        for (unsigned i = 0; job->units != NULL && i < job->n_units; i++) {
            const cuzk_unit *unit = &job->units[i];
            view->ready += unit->at == CUZK_AT_READY && unit->queue == &engine->stranded;
        }
    }
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        view->ready += (unsigned)engine->devices[d].ready.n;
    }
    view->retries = engine->n_retries;
    view->is_draining = engine->is_draining;
    view->has_journal = engine->options.journal != NULL;
    view->journal_failed = engine->journal_failed;
    view->journal_was_damaged = engine->options.journal_was_damaged;
    view->journal_salvaged = engine->options.journal_salvaged;
}

cuzk_status cuzk_engine_look(cuzk_engine *engine, cuzk_engine_view *view, bool with_units,
                             cuzk_error *err)
{
    *view = (cuzk_engine_view){0};
    places at = {0};
    sizes have = {0};
    cuzk_engine_lock(engine);
    uint64_t now_ns = cuzk_now_ns();
    sizes need = count(engine, now_ns, with_units);
    while (at.block == NULL || !is_enough(&have, &need)) {
        pthread_mutex_unlock(&engine->lock);
        free(at.block);
        have = (sizes){need.jobs + need.jobs / 8 + 16, need.units + need.units / 8 + 64,
                       need.workers, need.residents + 8, need.texts + need.texts / 8 + 4096};
        if (!allocate(&at, &have)) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the status of %zu jobs", need.jobs);
        }
        cuzk_engine_lock(engine);
        now_ns = cuzk_now_ns();
        need = count(engine, now_ns, with_units);
    }
    put_jobs(view, &at, engine, now_ns, with_units);
    put_workers(view, &at, engine, now_ns);
    put_residents(view, &at, engine, now_ns);
    put_devices(view, engine, now_ns);
    put_numbers(view, engine, now_ns);
    pthread_mutex_unlock(&engine->lock);
    return CUZK_OK;
}

void cuzk_engine_view_clear(cuzk_engine_view *view)
{
    free(view->jobs);
    *view = (cuzk_engine_view){0};
}
