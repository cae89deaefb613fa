/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/preload.h"

#include "base/clock.h"
#include "server/systemd.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETRY_SECONDS = 10 };

typedef struct {
    char *circuit;
    bool is_loaded;
} item;

struct cuzk_preload {
    cuzk_server *server;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    item *items;
    size_t n_items;
    bool is_stopping, has_ended;
};

static void free_items(item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(items[i].circuit);
    }
    free(items);
}

static cuzk_status copy_list(item **out, const cuzk_config_list *circuits, cuzk_error *err)
{
    item *items = calloc(circuits->n + 1, sizeof *items);
    CUZK_FAIL_IF(items == NULL, err, CUZK_E_MEMORY, "out of memory");
    for (size_t i = 0; i < circuits->n; i++) {
        items[i].circuit = strdup(circuits->items[i]);
        if (items[i].circuit == NULL) {
            free_items(items, i);
            return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
        }
    }
    *out = items;
    return CUZK_OK;
}

/* With the lock: the first that is not loaded, from `from` on; n_items: none. */
static size_t next_missing(const cuzk_preload *p, size_t from)
{
    while (from < p->n_items && p->items[from].is_loaded) {
        from++;
    }
    return from;
}

/* Without the lock. */
static bool load(cuzk_preload *p, const char *circuit)
{
    char text[160];
    snprintf(text, sizeof text, "loading %.100s", circuit);
    cuzk_systemd_status(text);
    bool was_loaded = false;
    uint64_t ns = 0;
    cuzk_error err = {0};
    cuzk_status status =
        cuzk_engine_preload(p->server->engine, &was_loaded, &ns, circuit, true, &err);
    if (status == CUZK_OK) {
        CUZK_LOG(p->server->log, CUZK_LOG_INFO, "preloaded", CUZK_LOG_S("circuit", circuit),
                 CUZK_LOG_MS("load_ms", ns));
    } else if (status != CUZK_E_UNAVAILABLE) {
        CUZK_LOG(p->server->log, CUZK_LOG_ERROR,
                 "a circuit of srs.preload cannot be loaded; trying again",
                 CUZK_LOG_S("circuit", circuit), CUZK_LOG_S("reason", err.text));
    }
    return status == CUZK_OK;
}

/* With the lock: wait for a change, or the time to try again. */
static void wait_for_change(cuzk_preload *p, bool has_missing)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += RETRY_SECONDS;
    if (has_missing) {
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
    } else {
        pthread_cond_wait(&p->changed, &p->lock);
    }
}

/* With the lock, or before there is a thread. */
static void set_ready(cuzk_preload *p, bool is_ready)
{
    /* what was loaded is seen by whoever sees the readiness */
    bool was_ready = atomic_exchange_explicit(&p->server->is_ready, is_ready, memory_order_acq_rel);
    if (is_ready && !was_ready) {
        CUZK_LOG(p->server->log, CUZK_LOG_INFO, "ready");
        cuzk_systemd_status("ready");
    }
}

static void *run(void *user)
{
    cuzk_preload *p = user;
    pthread_mutex_lock(&p->lock);
    size_t at = 0;
    while (!p->is_stopping) {
        at = next_missing(p, at);
        if (at == p->n_items) {
            bool has_missing = next_missing(p, 0) < p->n_items;
            set_ready(p, !has_missing);
            wait_for_change(p, has_missing);
            at = 0;
            continue;
        }
        char *circuit = strdup(p->items[at].circuit);
        pthread_mutex_unlock(&p->lock);
        bool ok = circuit != NULL && load(p, circuit);
        pthread_mutex_lock(&p->lock);
        /* the list may be another one by now */
        for (size_t i = 0; ok && i < p->n_items; i++) {
            if (strcmp(p->items[i].circuit, circuit) == 0) {
                p->items[i].is_loaded = true;
            }
        }
        free(circuit);
        at++;
    }
    p->has_ended = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

cuzk_status cuzk_preload_start(cuzk_preload **out, cuzk_server *server,
                               const cuzk_config_list *circuits, cuzk_error *err)
{
    cuzk_preload *p = calloc(1, sizeof *p);
    CUZK_FAIL_IF(p == NULL, err, CUZK_E_MEMORY, "out of memory");
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    p->server = server;
    cuzk_status status = copy_list(&p->items, circuits, err);
    p->n_items = circuits->n;
    if (status == CUZK_OK && circuits->n == 0) {
        set_ready(p, true);
    }
    if (status == CUZK_OK && pthread_create(&p->thread, NULL, run, p) != 0) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "a thread cannot be made");
        free_items(p->items, p->n_items);
    }
    if (status != CUZK_OK) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        free(p);
        return status;
    }
    *out = p;
    return CUZK_OK;
}

cuzk_status cuzk_preload_set(cuzk_preload *preload, const cuzk_config_list *circuits,
                             cuzk_error *err)
{
    item *items;
    CUZK_TRY(copy_list(&items, circuits, err));
    pthread_mutex_lock(&preload->lock);
    for (size_t i = 0; i < circuits->n; i++) {
        for (size_t j = 0; j < preload->n_items; j++) {
            if (strcmp(items[i].circuit, preload->items[j].circuit) == 0) {
                items[i].is_loaded = preload->items[j].is_loaded;
            }
        }
    }
    item *old = preload->items;
    size_t n_old = preload->n_items;
    preload->items = items;
    preload->n_items = circuits->n;
    pthread_cond_broadcast(&preload->changed);
    pthread_mutex_unlock(&preload->lock);
    free_items(old, n_old);
    return CUZK_OK;
}

bool cuzk_preload_stop(cuzk_preload *preload, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};
    pthread_mutex_lock(&preload->lock);
    preload->is_stopping = true;
    pthread_cond_broadcast(&preload->changed);
    int result = 0;
    while (!preload->has_ended && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&preload->changed, &preload->lock, &until);
    }
    bool has_ended = preload->has_ended;
    pthread_mutex_unlock(&preload->lock);
    return has_ended;
}

void cuzk_preload_destroy(cuzk_preload *preload)
{
    if (preload == NULL) {
        return;
    }
    pthread_join(preload->thread, NULL);
    free_items(preload->items, preload->n_items);
    pthread_cond_destroy(&preload->changed);
    pthread_mutex_destroy(&preload->lock);
    free(preload);
}
