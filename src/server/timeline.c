/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* GPU_END tells the worker and the time since GPU_START, which another thread began: units between
 * the two are kept in a table of what devices can have under way. */
#include "server/timeline.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024 };

typedef struct {
    uint64_t job; /* 0: free */
    int unit, worker;
    uint64_t ns;
} slot;

struct cuzk_timeline {
    const cuzk_engine_kind *kinds;
    cuzk_logger *log;
    uint64_t start_ns;
    atomic_bool is_on;
    pthread_mutex_t lock; /* guards slots */
    slot slots[SLOTS];
};

static _Thread_local uint64_t witness_began_ns; /* a witness begins and ends on one thread */

cuzk_status cuzk_timeline_create(cuzk_timeline **out, const cuzk_engine_kind *kinds,
                                 cuzk_logger *log, cuzk_error *err)
{
    cuzk_timeline *t = calloc(1, sizeof *t);
    if (t == NULL || pthread_mutex_init(&t->lock, NULL) != 0) {
        free(t);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    t->kinds = kinds;
    t->log = log;
    t->start_ns = cuzk_now_ns();
    *out = t;
    return CUZK_OK;
}

void cuzk_timeline_destroy(cuzk_timeline *timeline)
{
    if (timeline != NULL) {
        pthread_mutex_destroy(&timeline->lock);
        free(timeline);
    }
}

void cuzk_timeline_set(cuzk_timeline *timeline, bool is_on)
{
    atomic_store_explicit(&timeline->is_on, is_on, memory_order_relaxed);
}

/* Remember a unit's start. Where the table is full its GPU_END has no time. */
static void remember(cuzk_timeline *t, const cuzk_event *e)
{
    pthread_mutex_lock(&t->lock);
    slot *s = NULL;
    for (size_t i = 0; i < SLOTS; i++) {
        bool is_same = t->slots[i].job == e->job && t->slots[i].unit == e->unit;
        if (is_same || (s == NULL && t->slots[i].job == 0)) {
            s = &t->slots[i];
            if (is_same) {
                break;
            }
        }
    }
    if (s != NULL) {
        *s = (slot){e->job, e->unit, e->worker, e->ns};
    }
    pthread_mutex_unlock(&t->lock);
}

static slot recall(cuzk_timeline *t, const cuzk_event *e)
{
    slot found = {0, e->unit, e->worker >= 0 ? e->worker : 0, e->ns};
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < SLOTS; i++) {
        if (t->slots[i].job == e->job && t->slots[i].unit == e->unit) {
            found = t->slots[i];
            t->slots[i].job = 0;
            break;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return found;
}

/* The reference writes the id as it is; line breaks and other control characters would make other
 * lines of it, and become spaces. */
static void put_line(const cuzk_timeline *t, const cuzk_event *e, const char *name,
                     const char *detail)
{
    cuzk_text line = {0};
    uint64_t ns = e->ns > t->start_ns ? e->ns - t->start_ns : 0;
    cuzk_text_printf(&line, "TIMELINE,%" PRIu64 ",%s,", ns / 1000000, name);
    for (const char *p = e->job_id != NULL ? e->job_id : ""; *p != 0; p++) {
        char c = (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p;
        cuzk_text_put_bytes(&line, &c, 1);
    }
    cuzk_text_printf(&line, ",%s", detail);
    if (!line.failed) {
        cuzk_logger_raw(t->log, line.data);
    }
    cuzk_text_clear(&line);
}

/* Kinds whose jobs have several partitions, in the reference's lines. */
static bool is_partitioned(const cuzk_timeline *t, const cuzk_event *e)
{
    const char *name = t->kinds[e->kind].name;
    return name != NULL && (strcmp(name, "porep-c2") == 0 || strcmp(name, "snap-update") == 0);
}

static void witness_line(const cuzk_timeline *t, const cuzk_event *e)
{
    char detail[128];
    bool parts = is_partitioned(t, e);
    if (e->phase == CUZK_EVENT_BEGIN) {
        witness_began_ns = e->ns;
        if (parts) {
            snprintf(detail, sizeof detail, "partition=%d", e->unit);
        } else {
            snprintf(detail, sizeof detail, "kind=%.64s", t->kinds[e->kind].name);
        }
        put_line(t, e, "SYNTH_START", detail);
        return;
    }
    uint64_t ms = (e->ns - witness_began_ns) / 1000000;
    if (parts) {
        snprintf(detail, sizeof detail, "partition=%d,synth_ms=%" PRIu64, e->unit, ms);
    } else {
        snprintf(detail, sizeof detail, "synth_ms=%" PRIu64, ms);
    }
    put_line(t, e, "SYNTH_END", detail);
}

static void device_line(const cuzk_timeline *t, const cuzk_event *e, const char *name, int worker,
                        uint64_t ms, bool has_time)
{
    char detail[128];
    int n = snprintf(detail, sizeof detail, "worker=%d", worker);
    if (is_partitioned(t, e)) {
        n += snprintf(detail + n, sizeof detail - (size_t)n, ",partition=%d", e->unit);
    }
    if (has_time) {
        snprintf(detail + n, sizeof detail - (size_t)n, ",gpu_ms=%" PRIu64, ms);
    }
    put_line(t, e, name, detail);
}

void cuzk_timeline_observe(cuzk_timeline *t, const cuzk_event *e)
{
    if (!atomic_load_explicit(&t->is_on, memory_order_relaxed) || e->kind >= CUZK_KINDS_MAX) {
        return;
    }
    char detail[64];
    switch (e->id) {
    case CUZK_EVENT_WITNESS:
        witness_line(t, e);
        break;
    case CUZK_EVENT_QUEUED:
        snprintf(detail, sizeof detail, "partition=%d", e->unit);
        put_line(t, e, "GPU_QUEUE", is_partitioned(t, e) ? detail : "monolithic");
        break;
    case CUZK_EVENT_PROVE_START:
        if (e->phase == CUZK_EVENT_BEGIN) {
            remember(t, e);
            device_line(t, e, "GPU_PICKUP", e->worker, 0, false);
            device_line(t, e, "GPU_START", e->worker, 0, false);
        } else if (e->status != CUZK_OK) {
            slot s = recall(t, e); /* there will be no finish */
            device_line(t, e, "GPU_END", s.worker, (e->ns - s.ns) / 1000000, true);
        }
        break;
    case CUZK_EVENT_PROVE_FINISH:
        if (e->phase == CUZK_EVENT_END) {
            slot s = recall(t, e);
            device_line(t, e, "GPU_END", s.worker, (e->ns - s.ns) / 1000000, true);
        }
        break;
    default:
        break;
    }
}
