/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/engine_double.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
    struct job *next;
    char id[CUZK_JOB_ID_MAX];
    unsigned kind;
    cuzk_job_state state;
    cuzk_status status;
    char error[256];
    uint8_t answer[DOUBLE_ANSWER_BYTES];
} job;

typedef struct submission {
    struct submission *next;
    cuzk_submission s;
    char id[CUZK_JOB_ID_MAX];
    uint64_t waiter;
} submission;

typedef struct waiter {
    struct waiter *next;
    uint64_t number;
    job *job;
    cuzk_on_result on_result;
    void *user;
    uint64_t deadline_ns; /* 0: none */
} waiter;

typedef struct reservation {
    struct reservation *next;
    uint64_t bytes;
    void (*on_reserved)(void *user, cuzk_status status, const char *error);
    void *user;
} reservation;

struct cuzk_engine {
    pthread_mutex_t lock; /* guards everything */
    pthread_cond_t changed;
    pthread_t thread;
    bool ends, hold_submissions, hold_jobs, hold_preload;
    cuzk_status refuse_status, preload_status;
    char refuse_error[256], preload_error[256];
    unsigned preload_ms;
    uint64_t total, payload_max, next_waiter, next_job;
    job *jobs;
    submission *submissions, **submissions_end;
    waiter *waiters;
    reservation *reservations, **reservations_end;
    bool is_loaded;
    cuzk_device_state device_state;
    double_view view;
};

void double_answer(uint8_t out[DOUBLE_ANSWER_BYTES], const void *payload, size_t n_bytes)
{
    const uint8_t *p = payload;
    for (size_t i = 0; i < DOUBLE_ANSWER_BYTES; i++) {
        size_t k = i % 32;
        out[i] = n_bytes == 0 ? 0xee : i < 96 ? p[k % n_bytes] : p[n_bytes - 1 - k % n_bytes];
    }
}

static job *find(cuzk_engine *engine, const char *id)
{
    job *j = engine->jobs;
    while (j != NULL && strcmp(j->id, id) != 0) {
        j = j->next;
    }
    return j;
}

/* ---- what its thread does, one thing a turn; lock held, dropped around callbacks ---- */

static bool turn_reservation(cuzk_engine *engine)
{
    reservation *r = engine->reservations;
    if (r == NULL || engine->view.reserved + r->bytes > engine->total) {
        return false;
    }
    engine->reservations = r->next;
    if (r->next == NULL) {
        engine->reservations_end = &engine->reservations;
    }
    engine->view.reserved += r->bytes;
    pthread_mutex_unlock(&engine->lock);
    r->on_reserved(r->user, CUZK_OK, "");
    free(r);
    pthread_mutex_lock(&engine->lock);
    return true;
}

static bool turn_submission(cuzk_engine *engine)
{
    submission *s = engine->submissions;
    if (s == NULL || engine->hold_submissions) {
        return false;
    }
    engine->submissions = s->next;
    if (s->next == NULL) {
        engine->submissions_end = &engine->submissions;
    }
    cuzk_submitted answer = {.status = engine->refuse_status, .error = engine->refuse_error};
    if (engine->ends) {
        answer.status = CUZK_E_UNAVAILABLE;
        answer.error = "the engine ends";
    }
    job *j = NULL;
    if (answer.status == CUZK_OK) {
        j = find(engine, s->id);
        answer.is_known = j != NULL;
        if (j == NULL) {
            j = calloc(1, sizeof *j);
            snprintf(j->id, sizeof j->id, "%s", s->id);
            j->kind = s->s.kind;
            j->state = CUZK_JOB_RUNNING;
            double_answer(j->answer, s->s.payload, s->s.payload_bytes);
            j->next = engine->jobs;
            engine->jobs = j;
        }
        answer.job_id = j->id;
        answer.queue_position = 7;
        engine->view.accepted++;
    }
    if (s->s.on_result != NULL && answer.status == CUZK_OK && s->waiter != 0) {
        waiter *w = calloc(1, sizeof *w);
        *w = (waiter){engine->waiters, s->waiter, j, s->s.on_result, s->s.user, 0};
        engine->waiters = w;
        engine->view.waiters++;
    }
    pthread_mutex_unlock(&engine->lock);
    s->s.on_submitted(s->s.user, &answer);
    free(s->s.payload);
    pthread_mutex_lock(&engine->lock);
    engine->view.reserved -= s->s.reserved_bytes;
    free(s);
    return true;
}

static void tell(cuzk_engine *engine, waiter *w, cuzk_job_state state)
{
    cuzk_job_result result = {
        .job_id = w->job->id,
        .state = state,
        .status = state == CUZK_JOB_TIMEOUT ? CUZK_E_DEADLINE : w->job->status,
        .error = w->job->error,
        .answer = w->job->answer,
        .answer_bytes = state == CUZK_JOB_COMPLETED ? DOUBLE_ANSWER_BYTES : 0,
        .kind = w->job->kind,
        .total_ns = 15000000,
        .queue_ns = 11000000,
        .resident_ns = 12000000,
        .witness_ns = 13000000,
        .prove_ns = 14000000,
    };
    engine->view.waiters--;
    pthread_mutex_unlock(&engine->lock);
    w->on_result(w->user, &result);
    free(w);
    pthread_mutex_lock(&engine->lock);
}

static bool turn_waiter(cuzk_engine *engine)
{
    uint64_t now = cuzk_now_ns();
    for (waiter **at = &engine->waiters; *at != NULL; at = &(*at)->next) {
        waiter *w = *at;
        if (w->job->state == CUZK_JOB_RUNNING && !engine->hold_jobs) {
            w->job->state = CUZK_JOB_COMPLETED;
        }
        bool is_late = w->deadline_ns != 0 && w->deadline_ns <= now;
        if (w->job->state != CUZK_JOB_RUNNING || is_late) {
            *at = w->next;
            tell(engine, w, w->job->state != CUZK_JOB_RUNNING ? w->job->state : CUZK_JOB_TIMEOUT);
            return true;
        }
    }
    return false;
}

static void *run(void *argument)
{
    cuzk_engine *engine = argument;
    pthread_mutex_lock(&engine->lock);
    for (;;) {
        while (turn_reservation(engine) || turn_submission(engine) || turn_waiter(engine)) {
        }
        if (engine->ends) {
            break;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&engine->changed, &engine->lock, &until);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

/* ---- what tests say ---- */

cuzk_engine *double_create(void)
{
    cuzk_engine *engine = calloc(1, sizeof *engine);
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->changed, NULL);
    engine->submissions_end = &engine->submissions;
    engine->reservations_end = &engine->reservations;
    engine->total = UINT64_MAX;
    engine->payload_max = (uint64_t)4 << 30;
    pthread_create(&engine->thread, NULL, run, engine);
    return engine;
}

void double_destroy(cuzk_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->ends = true;
    engine->hold_submissions = false;
    for (job *j = engine->jobs; j != NULL; j = j->next) {
        if (j->state == CUZK_JOB_RUNNING) {
            j->state = CUZK_JOB_CANCELLED;
            j->status = CUZK_E_UNAVAILABLE;
        }
    }
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
    pthread_join(engine->thread, NULL);
    for (reservation *r; (r = engine->reservations) != NULL;) {
        engine->reservations = r->next;
        r->on_reserved(r->user, CUZK_E_UNAVAILABLE, "the engine ends");
        free(r);
    }
    for (job *j; (j = engine->jobs) != NULL;) {
        engine->jobs = j->next;
        free(j);
    }
    free(engine);
}

static void lock(cuzk_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
}

static void unlock(cuzk_engine *engine)
{
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

void double_refuse(cuzk_engine *engine, cuzk_status status, const char *error)
{
    lock(engine);
    engine->refuse_status = status;
    snprintf(engine->refuse_error, sizeof engine->refuse_error, "%s", error);
    unlock(engine);
}

void double_hold(cuzk_engine *engine, bool submissions, bool jobs)
{
    lock(engine);
    engine->hold_submissions = submissions;
    engine->hold_jobs = jobs;
    unlock(engine);
}

void double_end(cuzk_engine *engine, const char *job_id, cuzk_job_state state, cuzk_status status,
                const char *error)
{
    lock(engine);
    job *j = find(engine, job_id);
    if (j != NULL) {
        j->state = state;
        j->status = status;
        snprintf(j->error, sizeof j->error, "%s", error);
    }
    unlock(engine);
}

void double_preload(cuzk_engine *engine, cuzk_status status, const char *error, unsigned delay_ms)
{
    lock(engine);
    engine->preload_status = status;
    snprintf(engine->preload_error, sizeof engine->preload_error, "%s", error);
    engine->preload_ms = delay_ms;
    unlock(engine);
}

void double_hold_preload(cuzk_engine *engine, bool hold)
{
    lock(engine);
    engine->hold_preload = hold;
    unlock(engine);
}

void double_memory(cuzk_engine *engine, uint64_t total, uint64_t payload_max)
{
    lock(engine);
    engine->total = total;
    engine->payload_max = payload_max;
    unlock(engine);
}

void double_look(cuzk_engine *engine, double_view *view)
{
    lock(engine);
    *view = engine->view;
    unlock(engine);
}

bool double_wait(cuzk_engine *engine, bool (*holds)(const double_view *view, unsigned n),
                 unsigned n)
{
    for (uint64_t end = cuzk_now_ns() + 10000000000u; cuzk_now_ns() < end;) {
        double_view view;
        double_look(engine, &view);
        if (holds(&view, n)) {
            return true;
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return false;
}

/* ---- the engine's own calls ---- */

void cuzk_engine_submit(cuzk_engine *engine, const cuzk_submission *s, uint64_t *waiter_number)
{
    submission *copy = calloc(1, sizeof *copy);
    copy->s = *s;
    lock(engine);
    if (s->request_id != NULL && s->request_id[0] != '\0') {
        snprintf(copy->id, sizeof copy->id, "%s", s->request_id);
    } else {
        snprintf(copy->id, sizeof copy->id, "made-%llu", (unsigned long long)++engine->next_job);
    }
    copy->waiter = s->on_result != NULL ? ++engine->next_waiter : 0;
    if (waiter_number != NULL) {
        *waiter_number = copy->waiter;
    }
    double_view *view = &engine->view;
    view->submitted++;
    view->handed_over += s->reserved_bytes;
    view->last_payload_bytes = s->payload_bytes;
    size_t n =
        s->payload_bytes < sizeof view->last_payload ? s->payload_bytes : sizeof view->last_payload;
    memcpy(view->last_payload, s->payload, n);
    view->last_kind = s->kind;
    view->last_priority = s->priority;
    snprintf(view->last_id, sizeof view->last_id, "%s", s->request_id);
    *engine->submissions_end = copy;
    engine->submissions_end = &copy->next;
    unlock(engine);
}

cuzk_status cuzk_engine_await(cuzk_engine *engine, uint64_t *number, const char *job_id,
                              uint64_t timeout_ns, cuzk_on_result on_result, void *user,
                              cuzk_error *err)
{
    lock(engine);
    job *j = find(engine, job_id);
    if (j == NULL) {
        unlock(engine);
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "there is no job %s", job_id);
    }
    waiter *w = calloc(1, sizeof *w);
    *w = (waiter){engine->waiters,
                  ++engine->next_waiter,
                  j,
                  on_result,
                  user,
                  timeout_ns != 0 ? cuzk_now_ns() + timeout_ns : 0};
    engine->waiters = w;
    engine->view.waiters++;
    engine->view.last_timeout_ns = timeout_ns;
    *number = w->number;
    unlock(engine);
    return CUZK_OK;
}

bool cuzk_engine_leave(cuzk_engine *engine, uint64_t number)
{
    bool found = false;
    lock(engine);
    for (waiter **at = &engine->waiters; *at != NULL && !found; at = &(*at)->next) {
        if ((*at)->number == number) {
            waiter *w = *at;
            *at = w->next;
            free(w);
            found = true;
            engine->view.waiters--;
            break;
        }
    }
    for (submission *s = engine->submissions; s != NULL && !found; s = s->next) {
        if (s->waiter == number && number != 0) {
            s->waiter = 0;
            found = true;
        }
    }
    engine->view.left += found;
    unlock(engine);
    return found;
}

cuzk_status cuzk_engine_cancel(cuzk_engine *engine, bool *was_running, const char *job_id,
                               cuzk_error *err)
{
    lock(engine);
    job *j = find(engine, job_id);
    cuzk_status status = CUZK_OK;
    if (j == NULL) {
        status = CUZK_FAIL(err, CUZK_E_NOT_FOUND, "there is no job %s", job_id);
    } else {
        *was_running = j->state == CUZK_JOB_RUNNING;
        engine->view.cancelled += *was_running;
        if (*was_running) {
            j->state = CUZK_JOB_CANCELLED;
            j->status = CUZK_E_CANCELLED;
            snprintf(j->error, sizeof j->error, "cancelled");
        }
    }
    unlock(engine);
    return status;
}

void cuzk_engine_reserve(cuzk_engine *engine, uint64_t bytes,
                         void (*on_reserved)(void *user, cuzk_status status, const char *error),
                         void *user)
{
    reservation *r = calloc(1, sizeof *r);
    *r = (reservation){NULL, bytes, on_reserved, user};
    lock(engine);
    *engine->reservations_end = r;
    engine->reservations_end = &r->next;
    unlock(engine);
}

void cuzk_engine_release(cuzk_engine *engine, uint64_t bytes)
{
    lock(engine);
    engine->view.reserved -= bytes;
    unlock(engine);
}

uint64_t cuzk_engine_payload_max(const cuzk_engine *engine)
{
    return engine->payload_max;
}

cuzk_status cuzk_engine_preload(cuzk_engine *engine, bool *was_loaded, uint64_t *load_ns,
                                const char *circuit, bool keep, cuzk_error *err)
{
    (void)keep;
    lock(engine);
    unsigned delay = engine->preload_ms;
    cuzk_status status = engine->preload_status;
    if (status != CUZK_OK) {
        CUZK_FAIL(err, status, "circuit \"%s\": %s", circuit, engine->preload_error);
    }
    unlock(engine);
    nanosleep(&(struct timespec){delay / 1000, delay % 1000 * 1000000}, NULL);
    lock(engine);
    while (engine->hold_preload) {
        pthread_cond_wait(&engine->changed, &engine->lock);
    }
    *was_loaded = engine->is_loaded;
    *load_ns = engine->is_loaded ? 0 : 5000000;
    engine->is_loaded |= status == CUZK_OK;
    unlock(engine);
    return status;
}

cuzk_status cuzk_engine_evict(cuzk_engine *engine, bool *was_loaded, uint64_t *freed_bytes,
                              const char *circuit, cuzk_error *err)
{
    CUZK_FAIL_IF(strcmp(circuit, "none") == 0, err, CUZK_E_NOT_FOUND, "there is porep, not none");
    lock(engine);
    *was_loaded = engine->is_loaded;
    *freed_bytes = engine->is_loaded ? 1234567 : 0;
    engine->view.evicted += engine->is_loaded;
    engine->is_loaded = false;
    unlock(engine);
    return CUZK_OK;
}

/* One device, which is drained at once, and is opened for ever unless that is waited for. */
cuzk_status cuzk_engine_device_find(const cuzk_engine *engine, unsigned *device, const char *name,
                                    cuzk_error *err)
{
    (void)engine;
    CUZK_FAIL_IF(strcmp(name, "0") != 0 && strcmp(name, "cuda:0") != 0, err, CUZK_E_NOT_FOUND,
                 "there is no device \"%s\": there is cuda:0", name);
    *device = 0;
    return CUZK_OK;
}

cuzk_status cuzk_engine_device_drain(cuzk_engine *engine, cuzk_device_state *was, unsigned device,
                                     bool wait, cuzk_error *err)
{
    (void)device, (void)wait, (void)err;
    lock(engine);
    *was = engine->device_state;
    engine->device_state = CUZK_DEVICE_DRAINED;
    unlock(engine);
    return CUZK_OK;
}

cuzk_status cuzk_engine_device_add(cuzk_engine *engine, cuzk_device_state *was, unsigned device,
                                   bool wait, cuzk_error *err)
{
    (void)device, (void)err;
    lock(engine);
    *was = engine->device_state;
    engine->device_state = wait ? CUZK_DEVICE_USED : CUZK_DEVICE_OPENING;
    unlock(engine);
    return CUZK_OK;
}

cuzk_status cuzk_engine_look(cuzk_engine *engine, cuzk_engine_view *view, bool with_units,
                             cuzk_error *err)
{
    (void)with_units, (void)err;
    memset(view, 0, sizeof *view);
    lock(engine);
    for (job *j = engine->jobs; j != NULL; j = j->next) {
        view->kinds[j->kind].in_progress += j->state == CUZK_JOB_RUNNING;
        view->kinds[j->kind].completed += j->state == CUZK_JOB_COMPLETED;
        view->kinds[j->kind].failed += j->state == CUZK_JOB_FAILED;
    }
    unlock(engine);
    view->kinds[4].pending = 3;
    view->uptime_ns = 42000000000u;
    view->budget_bytes = 1000;
    view->reserved_bytes = 300;
    view->n_devices = 1;
    snprintf(view->devices[0].id, sizeof view->devices[0].id, "cuda:0");
    view->devices[0].state = engine->device_state;
    snprintf(view->devices[0].name, sizeof view->devices[0].name, "a device");
    view->devices[0].memory_bytes = 900;
    view->devices[0].reserved_bytes = 200;
    view->n_workers = 2;
    view->workers = calloc(2, sizeof *view->workers);
    view->workers[1] = (cuzk_worker_view){0, 1, true, strdup("porep-1-2"), 3, 1, 5};
    view->n_residents = 1;
    view->residents = calloc(1, sizeof *view->residents);
    view->residents[0] =
        (cuzk_resident_view){"porep-32g", CUZK_RESIDENT_STREAMING, 77, 0, 2, false};
    return CUZK_OK;
}

void cuzk_engine_view_clear(cuzk_engine_view *view)
{
    for (unsigned i = 0; i < view->n_workers; i++) {
        free(view->workers[i].job_id);
    }
    free(view->workers);
    free(view->residents);
}
