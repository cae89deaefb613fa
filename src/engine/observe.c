/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events to the observer. */
#include "engine/inner.h"

#include "base/clock.h"

void cuzk_observe(const cuzk_engine *engine, const cuzk_event *event)
{
    if (engine->options.observe != NULL) {
        engine->options.observe(engine->options.observe_user, event);
    }
}

void cuzk_observe_unit(const cuzk_engine *engine, cuzk_event_id id, cuzk_event_phase phase,
                       const cuzk_unit *unit, const cuzk_thread *thread, cuzk_status status,
                       const char *text)
{
    if (engine->options.observe == NULL) {
        return;
    }
    const cuzk_job *job = unit->job;
    cuzk_event event = {
        .id = id,
        .phase = phase,
        .ns = cuzk_now_ns(),
        .job = job->seq,
        .job_id = job->id,
        .kind = job->kind,
        .priority = job->priority,
        .unit = (int)unit->index,
        .device = thread != NULL ? (int)thread->device : unit->device,
        .worker = thread != NULL ? (int)thread->worker : -1,
        .value = id == CUZK_EVENT_WITNESS ? job->unit_bytes : 0,
        .since_ns = phase != CUZK_EVENT_BEGIN      ? 0
                    : id == CUZK_EVENT_PROVE_START ? unit->ready_ns
                    : id == CUZK_EVENT_WITNESS     ? unit->memory_ns
                                                   : 0,
        .status = status,
        .text = text,
        .trace = &job->trace,
    };
    cuzk_observe(engine, &event);
}

void cuzk_observe_job(const cuzk_engine *engine, cuzk_event_id id, const cuzk_job *job)
{
    bool has_ended = id == CUZK_EVENT_ENDED;
    cuzk_event event = {
        .id = id,
        .phase = CUZK_EVENT_INSTANT,
        .ns = has_ended                    ? job->ended_ns
              : id == CUZK_EVENT_RECOVERED ? job->entered_ns
                                           : job->accepted_ns,
        .job = job->seq,
        .job_id = job->id,
        .kind = job->kind,
        .priority = job->priority,
        .unit = -1,
        .device = -1,
        .worker = -1,
        .value = has_ended ? job->total_ns : 0,
        .since_ns = job->entered_ns,
        .n_units = job->n_units - job->n_before,
        .state = (int)(has_ended ? job->state : CUZK_JOB_QUEUED),
        .status = has_ended ? job->status : CUZK_OK,
        .text = has_ended ? job->error : NULL,
        .trace = &job->trace,
    };
    cuzk_observe(engine, &event);
}

/* What has waited until now; false: it does not wait. */
static bool unit_waits(cuzk_event *event, const cuzk_unit *unit)
{
    bool is_ready = unit->at == CUZK_AT_READY && unit->queue != NULL;
    bool is_short = unit->at == CUZK_AT_MEMORY && unit->memory_ns != 0;
    const cuzk_job *job = unit->job;
    *event = (cuzk_event){.id = CUZK_EVENT_WAITING,
                          .phase = CUZK_EVENT_INSTANT,
                          .ns = cuzk_now_ns(),
                          .job = job->seq,
                          .job_id = job->id,
                          .kind = job->kind,
                          .priority = job->priority,
                          .unit = (int)unit->index,
                          .device = -1,
                          .worker = -1,
                          .since_ns = is_ready ? unit->ready_ns : unit->memory_ns,
                          .is_ready = is_ready};
    return is_ready || is_short;
}

void cuzk_observe_unit_left(const cuzk_engine *engine, const cuzk_unit *unit)
{
    cuzk_event event;
    if (engine->options.observe != NULL && unit_waits(&event, unit)) {
        cuzk_observe(engine, &event);
    }
}

static bool slot_waits(cuzk_event *event, const cuzk_slot *slot)
{
    *event = (cuzk_event){.id = CUZK_EVENT_WAITING,
                          .phase = CUZK_EVENT_INSTANT,
                          .ns = cuzk_now_ns(),
                          .kind = slot->kind,
                          .unit = -1,
                          .device = -1,
                          .worker = -1,
                          .since_ns = slot->memory_ns,
                          .text = slot->circuit};
    return slot->state == CUZK_SLOT_WANTED && slot->memory_ns != 0;
}

void cuzk_observe_slot_left(const cuzk_engine *engine, const cuzk_slot *slot)
{
    cuzk_event event;
    if (engine->options.observe != NULL && slot_waits(&event, slot)) {
        cuzk_observe(engine, &event);
    }
}

void cuzk_engine_waits(cuzk_engine *engine, void (*observe)(void *user, const cuzk_event *event),
                       void *user)
{
    cuzk_event event;
    cuzk_engine_lock(engine);
    for (const cuzk_job *job = engine->live; job != NULL; job = job->next) {
        for (unsigned i = 0; job->units != NULL && i < job->n_units; i++) {
            if (unit_waits(&event, &job->units[i])) {
                observe(user, &event);
            }
        }
    }
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        if (slot_waits(&event, slot)) {
            observe(user, &event);
        }
    }
    pthread_mutex_unlock(&engine->lock);
}

void cuzk_observe_text(const cuzk_engine *engine, cuzk_event_id id, cuzk_event_phase phase,
                       int device, uint64_t value, const char *text)
{
    cuzk_event event = {
        .id = id,
        .phase = phase,
        .ns = cuzk_now_ns(),
        .unit = -1,
        .device = device,
        .worker = -1,
        .value = value,
        .text = text,
    };
    cuzk_observe(engine, &event);
}
