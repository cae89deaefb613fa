/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices: their memory, the threads that drive them, the lane.
 * A device has its workers, and one more thread that serves only what is CRITICAL: where all
 * workers are inside prove_start it takes such a unit to the lane, which is given to it first.
 * Which unit is given to which is place.c's, and what becomes of a device device_states.c's. */
#include "engine/inner.h"

#include "base/clock.h"
#include "base/pool.h"
#include "engine/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static bool is_on(const cuzk_slot *slot, unsigned device)
{
    return slot->devices[device].is_loaded || slot->devices[device].is_loading;
}

static uint64_t bytes_on(const cuzk_unit *unit, unsigned device)
{
    const cuzk_job *job = unit->job;
    return job->device_bytes + (is_on(job->slot, device) ? 0 : job->slot->device_bytes);
}

static bool is_evictable(const cuzk_slot *slot, unsigned device, const cuzk_slot *keep)
{
    return slot != keep && slot->state == CUZK_SLOT_READY && slot->devices[device].is_loaded &&
           slot->devices[device].n_users == 0;
}

bool cuzk_device_room(const cuzk_engine *engine, unsigned d, const cuzk_unit *unit,
                      uint64_t *needed_bytes, uint64_t *room_bytes)
{
    const cuzk_share *memory = &engine->devices[d].memory;
    *needed_bytes = *room_bytes = 0;
    if (memory->cap == 0) {
        return true;
    }
    uint64_t leaving = engine->devices[d].leaving_bytes;
    uint64_t room = cuzk_share_free(memory, unit->order.priority >= CUZK_PRIORITY_CRITICAL);
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        room += is_evictable(slot, d, unit->job->slot) ? slot->device_bytes : 0;
    }
    *needed_bytes = bytes_on(unit, d);
    *room_bytes = room > leaving ? room - leaving : 0;
    return *room_bytes >= *needed_bytes;
}

bool cuzk_device_has_free(const cuzk_engine *engine, unsigned d, const cuzk_unit *unit)
{
    const cuzk_device *device = &engine->devices[d];
    bool is_critical = unit->order.priority >= CUZK_PRIORITY_CRITICAL;
    return device->memory.cap == 0 || cuzk_share_free(&device->memory, is_critical) >=
                                          device->leaving_bytes + bytes_on(unit, d);
}

bool cuzk_device_fits(const cuzk_engine *engine, unsigned d, const cuzk_unit *unit)
{
    uint64_t needed_bytes = 0, room_bytes = 0;
    return cuzk_device_room(engine, d, unit, &needed_bytes, &room_bytes);
}

/* Note one more resident that the thread takes off its device before it proves. */
static bool evict_one(cuzk_engine *engine, cuzk_thread *thread, const cuzk_slot *keep)
{
    unsigned d = thread->device;
    cuzk_slot *best = NULL;
    for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        if (is_evictable(slot, d, keep) &&
            (best == NULL || slot->devices[d].used_ns < best->devices[d].used_ns)) {
            best = slot;
        }
    }
    if (best == NULL) {
        return false;
    }
    best->devices[d].is_loaded = false;
    best->devices[d].is_leaving = true;
    best->devices[d].next_evict = thread->evict;
    thread->evict = best;
    best->n_users++; /* stays in host memory until it is off the device */
    engine->devices[d].memory.reserved -= best->device_bytes;
    engine->devices[d].leaving_bytes += best->device_bytes;
    return true;
}

void cuzk_device_take(cuzk_engine *engine, cuzk_thread *thread, cuzk_unit *unit)
{
    cuzk_device *device = &engine->devices[thread->device];
    cuzk_slot *slot = unit->job->slot;
    thread->unit = unit;
    thread->since_ns = cuzk_now_ns();
    if (device->memory.cap == 0) {
        return;
    }
    uint64_t bytes = bytes_on(unit, thread->device);
    if (slot->device_bytes > 0 && !is_on(slot, thread->device)) {
        slot->devices[thread->device].is_loading = true; /* by this thread: the next one waits */
        thread->is_loader = true;
    }
    bool is_critical = unit->order.priority >= CUZK_PRIORITY_CRITICAL;
    /* what others are taking off is there still; what this thread takes off is off before the rest
     * comes */
    uint64_t leaving_bytes = device->leaving_bytes;
    while (cuzk_share_free(&device->memory, is_critical) < leaving_bytes + bytes &&
           evict_one(engine, thread, slot)) {
    }
    device->memory.reserved += bytes;
    device->memory.held++;
    slot->devices[thread->device].n_users++;
}

/* ---- residents on a device ------------------------------------------------------------------- */

void cuzk_device_run_evictions(cuzk_engine *engine, cuzk_thread *thread)
{
    if (thread->evict == NULL) {
        return;
    }
    cuzk_device *device = &engine->devices[thread->device];
    while (thread->evict != NULL) {
        cuzk_slot *slot = thread->evict;
        cuzk_slot_device *on = &slot->devices[thread->device];
        thread->evict = on->next_evict;
        pthread_mutex_unlock(&engine->lock);
        slot->work->device_evict(slot->work->user, slot->resident, thread->device);
        pthread_mutex_lock(&engine->lock);
        on->is_leaving = false;
        device->leaving_bytes -= slot->device_bytes;
        pthread_cond_broadcast(&device->changed);
        slot->n_users--;
    }
    cuzk_schedule(engine); /* others may have what is left of it, while this thread goes on */
}

/* Before it is put there: another thread may just take it off. That one waits for nobody who waits
 * here: a thread takes off what it has to before it puts anything anywhere. */
static void wait_gone(cuzk_engine *engine, const cuzk_slot *slot, unsigned d)
{
    while (slot->devices[d].is_leaving) {
        pthread_cond_wait(&engine->devices[d].changed, &engine->lock);
    }
}

/* A resident, whose bytes were reserved, is on a device, or is not. from_ns: when that began. */
static void note_load(cuzk_engine *engine, cuzk_slot *slot, unsigned d, uint64_t from_ns,
                      cuzk_status status)
{
    cuzk_slot_device *on = &slot->devices[d];
    on->is_loading = false;
    on->is_loaded = status == CUZK_OK;
    on->status = status;
    if (status == CUZK_OK) {
        slot->put_ns = cuzk_now_ns() - from_ns;
    } else {
        engine->devices[d].memory.reserved -= slot->device_bytes;
    }
    pthread_cond_broadcast(&engine->devices[d].loaded);
}

static cuzk_status put_on(cuzk_engine *engine, cuzk_slot *slot, unsigned d, cuzk_error *err)
{
    wait_gone(engine, slot, d);
    uint64_t from_ns = cuzk_now_ns();
    pthread_mutex_unlock(&engine->lock);
    cuzk_hands_place(engine, (int)d, -1);
    cuzk_status status = slot->work->device_load(slot->work->user, slot->resident, d, err);
    pthread_mutex_lock(&engine->lock);
    note_load(engine, slot, d, from_ns, status);
    cuzk_schedule(engine); /* others may begin there, while this thread goes on with its unit */
    return status;
}

/* Wait until another thread has put it there. */
static cuzk_status wait_on(cuzk_engine *engine, cuzk_slot *slot, unsigned d, cuzk_error *err)
{
    cuzk_slot_device *on = &slot->devices[d];
    while (on->is_loading) {
        pthread_cond_wait(&engine->devices[d].loaded, &engine->lock);
    }
    CUZK_FAIL_IF(!on->is_loaded, err, on->status, "putting circuit %s on %s failed", slot->circuit,
                 engine->devices[d].id);
    return CUZK_OK;
}

static void place_for(void *ctx, unsigned device)
{
    cuzk_hands_place(ctx, (int)device, -1);
}

/* Without the lock. */
static void load_all(cuzk_slot *slot, const cuzk_devices_load *load)
{
    const cuzk_work *work = slot->work;
    if (work->devices_load != NULL) {
        work->devices_load(work->user, slot->resident, load);
        return;
    }
    for (unsigned i = 0; i < load->n; i++) {
        load->place(load->ctx, load->devices[i]);
        load->errors[i].status =
            work->device_load(work->user, slot->resident, load->devices[i], &load->errors[i]);
    }
}

/* The first unit will try again where it fails, and tell. */
void cuzk_devices_warm(cuzk_engine *engine, cuzk_slot *slot)
{
    unsigned devices[CUZK_ENGINE_DEVICES_MAX], n = 0;
    cuzk_error errors[CUZK_ENGINE_DEVICES_MAX] = {0};
    cuzk_engine_lock(engine);
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        cuzk_device *device = &engine->devices[d];
        if (device->memory.cap > 0 && device->state == CUZK_DEVICE_USED && slot->device_bytes > 0 &&
            !is_on(slot, d) &&
            cuzk_share_free(&device->memory, false) >= device->leaving_bytes + slot->device_bytes) {
            device->memory.reserved += slot->device_bytes;
            slot->devices[d].is_loading = true;
            slot->devices[d].n_users++;
            cuzk_device_enter(engine, d); /* at once: what is used is not tended */
            devices[n++] = d;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        wait_gone(engine, slot, devices[i]);
    }
    pthread_mutex_unlock(&engine->lock);
    uint64_t from_ns = cuzk_now_ns();
    if (n > 0) {
        const cuzk_devices_load load = {devices, n, errors, place_for, engine};
        load_all(slot, &load);
    }
    cuzk_engine_lock(engine);
    for (unsigned i = 0; i < n; i++) {
        note_load(engine, slot, devices[i], from_ns, errors[i].status);
        cuzk_device_leave(engine, devices[i]);
        slot->devices[devices[i]].n_users--;
    }
    pthread_mutex_unlock(&engine->lock);
}

void cuzk_devices_cool(cuzk_engine *engine, cuzk_slot *slot)
{
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        cuzk_device *device = &engine->devices[d];
        cuzk_slot_device *on = &slot->devices[d];
        cuzk_engine_lock(engine);
        /* whoever tends the device takes it off; opening it, which may take long, comes after */
        while (on->is_leaving || (on->is_loaded && device->is_tended)) {
            pthread_cond_wait(&device->changed, &engine->lock);
        }
        if (on->is_loaded) {
            on->is_loaded = false;
            cuzk_device_enter(engine, d); /* at once: it is not tended */
            pthread_mutex_unlock(&engine->lock);
            slot->work->device_evict(slot->work->user, slot->resident, d);
            cuzk_engine_lock(engine);
            device->memory.reserved -= slot->device_bytes;
            cuzk_device_leave(engine, d);
        }
        pthread_mutex_unlock(&engine->lock);
    }
}

/* ---- the lane -------------------------------------------------------------------------------- */

static cuzk_thread *thread_of(cuzk_lane *lane)
{
    return CUZK_OF(lane, cuzk_thread, lane);
}

/* Stand among the waiters, unless the lane is free or not wanted any more. */
static void queue_for_lane(cuzk_device *device, cuzk_lane *lane, const cuzk_unit *unit)
{
    if (cuzk_unit_is_stopped(unit)) {
        return;
    }
    if (device->lane_holder == NULL) {
        device->lane_holder = lane;
        return;
    }
    lane->order = (cuzk_order_node){
        .priority = unit->order.priority, .seq = unit->order.seq, .unit = unit->order.unit};
    cuzk_order_push(&device->lane_waiters, &lane->order);
}

static void wait_for_lane(cuzk_engine *engine, cuzk_device *device, cuzk_thread *thread)
{
    cuzk_lane *lane = &thread->lane;
    while (device->lane_holder != lane && !cuzk_unit_is_stopped(thread->unit)) {
        pthread_cond_wait(&thread->lane_wake, &engine->lock);
    }
    if (lane->order.is_queued) {
        cuzk_order_remove(&device->lane_waiters, &lane->order);
    }
    lane->is_held = device->lane_holder == lane;
}

/* The lane is the first waiter's, or nobody's. */
static void hand_over(cuzk_device *device)
{
    cuzk_order_node *next = cuzk_order_pop(&device->lane_waiters);
    device->lane_holder = next != NULL ? CUZK_OF(next, cuzk_lane, order) : NULL;
    if (device->lane_holder != NULL) {
        pthread_cond_signal(&thread_of(device->lane_holder)->lane_wake);
    }
}

void cuzk_thread_urgency(unsigned priority, bool has_lane)
{
    cuzk_pool_set_urgency(2 * priority + has_lane);
}

/* With a place among the waiters, but without the lock: until the lane is this unit's. */
static cuzk_status await_lane(cuzk_lane *lane, cuzk_error *err)
{
    cuzk_thread *thread = thread_of(lane);
    cuzk_engine *engine = thread->engine;
    cuzk_device *device = &engine->devices[thread->device];
    cuzk_unit *unit = thread->unit;
    /* whoever sees this event may rely on it that the unit has its place among the waiters */
    cuzk_observe_unit(engine, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, unit, thread, CUZK_OK, NULL);
    cuzk_engine_lock(engine);
    wait_for_lane(engine, device, thread);
    pthread_mutex_unlock(&engine->lock);
    cuzk_status status = lane->is_held ? CUZK_OK : CUZK_E_CANCELLED;
    cuzk_observe_unit(engine, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_END, unit, thread, status, NULL);
    CUZK_FAIL_IF(!lane->is_held, err, CUZK_E_CANCELLED, "cancelled while it waited for %s",
                 device->id);
    cuzk_thread_urgency(unit->job->priority, true);
    lane->held_from = cuzk_now_ns();
    cuzk_observe_unit(engine, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, unit, thread, CUZK_OK, NULL);
    return CUZK_OK;
}

cuzk_status cuzk_lane_take(cuzk_lane *lane, cuzk_error *err)
{
    cuzk_thread *thread = thread_of(lane);
    cuzk_engine *engine = thread->engine;
    cuzk_engine_lock(engine);
    queue_for_lane(&engine->devices[thread->device], lane, thread->unit);
    pthread_mutex_unlock(&engine->lock);
    return await_lane(lane, err);
}

/* The unit's region ends, the lane is still its thread's. Returns how long it was held. */
static uint64_t end_region(cuzk_lane *lane)
{
    cuzk_thread *thread = thread_of(lane);
    lane->is_held = false;
    cuzk_thread_urgency(thread->unit->job->priority, false);
    uint64_t held_ns = cuzk_now_ns() - lane->held_from;
    cuzk_observe_unit(thread->engine, CUZK_EVENT_LANE, CUZK_EVENT_END, thread->unit, thread,
                      CUZK_OK, NULL);
    return held_ns;
}

cuzk_status cuzk_lane_yield(cuzk_lane *lane, cuzk_error *err)
{
    cuzk_thread *thread = thread_of(lane);
    cuzk_engine *engine = thread->engine;
    cuzk_device *device = &engine->devices[thread->device];
    cuzk_engine_lock(engine);
    const cuzk_order_node *first = cuzk_order_first(&device->lane_waiters);
    bool is_later = first != NULL && cuzk_order_before(first, &thread->unit->order);
    pthread_mutex_unlock(&engine->lock);
    if (!is_later) {
        return CUZK_OK;
    }
    uint64_t held_ns = end_region(lane);
    cuzk_engine_lock(engine);
    thread->unit->job->lane_ns += held_ns;
    /* queued before it is handed over: nobody behind this unit gets in between */
    queue_for_lane(device, lane, thread->unit);
    hand_over(device);
    pthread_mutex_unlock(&engine->lock);
    return await_lane(lane, err);
}

void cuzk_lane_give(cuzk_lane *lane)
{
    cuzk_thread *thread = thread_of(lane);
    cuzk_engine *engine = thread->engine;
    if (!lane->is_held) {
        return;
    }
    uint64_t held_ns = end_region(lane);
    cuzk_engine_lock(engine);
    thread->unit->job->lane_ns += held_ns;
    hand_over(&engine->devices[thread->device]);
    pthread_mutex_unlock(&engine->lock);
}

void cuzk_lane_wake(cuzk_unit *unit)
{
    cuzk_thread *thread = unit->thread;
    if (thread != NULL) {
        pthread_cond_signal(&thread->lane_wake);
        if (thread->part.helper != NULL) {
            pthread_cond_signal(&thread->part.helper->lane_wake);
        }
    }
}

/* ---- a unit on a device ---------------------------------------------------------------------- */

void cuzk_device_release(cuzk_engine *engine, cuzk_thread *thread)
{
    cuzk_device *device = &engine->devices[thread->device];
    const cuzk_unit *unit = thread->unit;
    if (device->memory.cap > 0) {
        cuzk_slot_device *on = &unit->job->slot->devices[thread->device];
        device->memory.reserved -= unit->job->device_bytes;
        device->memory.held--;
        on->n_users--;
        on->used_ns = cuzk_now_ns();
    }
    thread->unit = NULL;
}

static cuzk_status call_prove(cuzk_thread *thread, cuzk_unit *unit, cuzk_error *err)
{
    const cuzk_job *job = unit->job;
    cuzk_work_call call = cuzk_stage_call(unit, thread);
    CUZK_TRY(cuzk_fault_at(CUZK_FAULT_PROVE, (int)thread->device, err));
    return job->work->prove_start(job->work->user, &unit->pending, job->task, job->slot->resident,
                                  unit->witness, &call, err);
}

/* The unit's resident is there, or is put there by this thread. */
static cuzk_status find_resident(cuzk_engine *engine, cuzk_thread *thread, cuzk_slot *slot,
                                 cuzk_error *err)
{
    unsigned d = thread->device;
    bool has_memory = engine->devices[d].memory.cap > 0 && slot->device_bytes > 0;
    if (thread->is_loader) {
        thread->is_loader = false;
        return put_on(engine, slot, d, err);
    }
    return has_memory ? wait_on(engine, slot, d, err) : CUZK_OK;
}

/* The device was lost before this thread could put the resident there. */
static void give_up_load(cuzk_engine *engine, cuzk_thread *thread, cuzk_slot *slot)
{
    cuzk_device *device = &engine->devices[thread->device];
    cuzk_slot_device *on = &slot->devices[thread->device];
    thread->is_loader = false;
    on->is_loading = false;
    on->status = CUZK_E_DEVICE_LOST;
    device->memory.reserved -= slot->device_bytes;
    pthread_cond_broadcast(&device->loaded);
}

/* What it took of the device's time, of which the others on it had as much. */
static void note_time(cuzk_engine *engine, unsigned d, const cuzk_unit *unit)
{
    cuzk_slot *slot = unit->job->slot;
    uint64_t ns = (cuzk_now_ns() - unit->prove_from) / cuzk_device_load(&engine->devices[d]);
    slot->unit_ns = slot->unit_ns == 0 ? ns : (3 * slot->unit_ns + ns) / 4;
}

static cuzk_status prove_on(cuzk_engine *engine, cuzk_thread *thread, cuzk_unit *unit,
                            cuzk_error *err)
{
    cuzk_status status;
    unit->prove_from = cuzk_now_ns();
    pthread_mutex_unlock(&engine->lock);
    cuzk_observe_unit(engine, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, unit, thread, CUZK_OK,
                      NULL);
    status = call_prove(thread, unit, err);
    cuzk_lane_give(&thread->lane);
    cuzk_observe_unit(engine, CUZK_EVENT_PROVE_START, CUZK_EVENT_END, unit, thread, status,
                      status != CUZK_OK ? err->text : NULL);
    pthread_mutex_lock(&engine->lock);
    if (status == CUZK_OK) {
        engine->devices[thread->device].n_tries = 0;
        if (!unit->was_helped) {
            note_time(engine, thread->device, unit);
        }
    }
    return status;
}

void cuzk_device_run(cuzk_thread *thread, void *item)
{
    cuzk_engine *engine = thread->engine;
    cuzk_device *device = &engine->devices[thread->device];
    if (item == device) {
        cuzk_device_tend(engine, thread->device);
        return;
    }
    if (thread->of != NULL) {
        cuzk_help_make(thread);
        return;
    }
    cuzk_unit *unit = (cuzk_unit *)item;
    cuzk_error err = {0};
    cuzk_device_enter(engine, thread->device);
    cuzk_device_run_evictions(engine, thread);
    cuzk_status status = CUZK_E_DEVICE_LOST; /* since the unit was given to it */
    if (device->state != CUZK_DEVICE_LOST) {
        status = find_resident(engine, thread, unit->job->slot, &err);
        status = status != CUZK_OK ? status : prove_on(engine, thread, unit, &err);
    } else if (thread->is_loader) {
        give_up_load(engine, thread, unit->job->slot);
    }
    cuzk_device_release(engine, thread);
    unit->thread = NULL;
    cuzk_device_leave(engine, thread->device);
    if (status == CUZK_E_DEVICE_LOST) {
        cuzk_device_lost(engine, thread, unit, &err);
    } else if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
    } else if (status != CUZK_OK) {
        cuzk_unit_failed(engine, unit, "proving", &err);
    } else {
        unit->at = CUZK_AT_FINISH_WAIT;
        cuzk_unit_push(unit, &engine->finish);
    }
}
