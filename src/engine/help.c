/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two devices for one unit: a worker inside prove_start has a part of its unit made by a worker of
 * a device that has nothing to do (place.c). That one's memory, lane and events are as a unit's;
 * the unit is the first one's, which waits for the part, and decides what follows where it failed.
 */
#include "engine/inner.h"

static cuzk_thread *thread_of(cuzk_lane *lane)
{
    return CUZK_OF(lane, cuzk_thread, lane);
}

bool cuzk_help_begin(cuzk_lane *lane, cuzk_help_run run, void *ctx)
{
    cuzk_thread *thread = thread_of(lane);
    cuzk_engine *engine = thread->engine;
    cuzk_unit *unit = thread->unit;
    cuzk_engine_lock(engine);
    bool may_have = unit->attempts == 1 && !cuzk_unit_is_stopped(unit);
    cuzk_device *device = may_have ? cuzk_device_helper(engine, unit) : NULL;
    if (device != NULL) {
        thread->part = (cuzk_part){.run = run, .ctx = ctx};
        cuzk_thread *helper = cuzk_stage_give(&device->workers, &thread->part);
        helper->of = thread;
        thread->part.helper = helper;
        unit->was_helped = true;
        cuzk_device_take(engine, helper, unit);
    }
    cuzk_engine_unlock(engine);
    return device != NULL;
}

cuzk_status cuzk_help_end(cuzk_lane *lane, cuzk_error *err)
{
    cuzk_thread *thread = thread_of(lane);
    cuzk_part *part = &thread->part;
    cuzk_engine_lock(thread->engine);
    while (!part->has_ended) {
        pthread_cond_wait(&thread->lane_wake, &thread->engine->lock);
    }
    part->helper = NULL;
    cuzk_status status = part->status;
    thread->unit->was_helped = status == CUZK_OK;
    cuzk_engine_unlock(thread->engine);
    CUZK_FAIL_IF(status != CUZK_OK, err, status, "%s", part->error.text);
    return CUZK_OK;
}

static cuzk_status make(cuzk_thread *thread, cuzk_error *err)
{
    cuzk_engine *engine = thread->engine;
    cuzk_unit *unit = thread->unit;
    const cuzk_part *part = &thread->of->part;
    pthread_mutex_unlock(&engine->lock);
    cuzk_observe_unit(engine, CUZK_EVENT_PROVE_HELP, CUZK_EVENT_BEGIN, unit, thread, CUZK_OK, NULL);
    cuzk_work_call call = cuzk_stage_call(unit, thread);
    cuzk_status status = part->run(part->ctx, &call, err);
    cuzk_lane_give(&thread->lane);
    cuzk_observe_unit(engine, CUZK_EVENT_PROVE_HELP, CUZK_EVENT_END, unit, thread, status,
                      status != CUZK_OK ? err->text : NULL);
    pthread_mutex_lock(&engine->lock);
    return status;
}

/* What it did wrong is the device's. */
static void hold_against(cuzk_engine *engine, unsigned d, const cuzk_unit *unit,
                         const cuzk_error *err)
{
    if (err->status == CUZK_E_DEVICE_LOST) {
        cuzk_device_handle_loss(engine, d, err->text);
    } else if (err->status == CUZK_E_DEVICE) {
        cuzk_unit_blame(engine, unit, d, err->text);
    }
}

void cuzk_help_make(cuzk_thread *thread)
{
    cuzk_engine *engine = thread->engine;
    cuzk_thread *of = thread->of;
    const cuzk_unit *unit = thread->unit; /* stays until the part has ended */
    unsigned d = thread->device;
    cuzk_error err = {0};
    cuzk_status status = CUZK_OK;
    cuzk_device_enter(engine, d);
    if (engine->devices[d].state == CUZK_DEVICE_LOST) { /* since the part was given to it */
        status = CUZK_FAIL(&err, CUZK_E_DEVICE_LOST, "%s is lost", engine->devices[d].id);
    } else {
        status = make(thread, &err);
    }
    cuzk_device_release(engine, thread);
    cuzk_device_leave(engine, d);
    thread->of = NULL;
    if (status == CUZK_OK) {
        engine->devices[d].n_tries = 0;
    } else {
        hold_against(engine, d, unit, &err);
    }
    of->part.status = status;
    of->part.error = err;
    of->part.has_ended = true;
    pthread_cond_signal(&of->lane_wake);
}
