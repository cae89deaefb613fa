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
        .since_ns = phase != CUZK_EVENT_BEGIN      ? 0
                    : id == CUZK_EVENT_PROVE_START ? unit->ready_ns
                    : id == CUZK_EVENT_WITNESS     ? unit->memory_ns
                                                   : 0,
        .status = status,
        .text = text,
    };
    cuzk_observe(engine, &event);
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
