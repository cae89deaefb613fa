/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who gets memory and threads next. cuzk_schedule runs before the lock is given back, whatever
 * happened under it, and goes on until nothing more can be granted: so no event needs to know whom
 * it may have freed. With nothing to grant it looks at the heads of a few queues. */
#include "engine/inner.h"

#include "base/clock.h"

cuzk_thread *cuzk_stage_give(cuzk_stage *stage, void *item)
{
    cuzk_thread *thread = stage->idle;
    stage->idle = thread->next;
    stage->n_busy++;
    thread->item = item;
    cuzk_hands_give(thread);
    return thread;
}

void cuzk_unit_push(cuzk_unit *unit, cuzk_order *queue)
{
    unit->queue = queue;
    cuzk_order_push(queue, &unit->order);
}

void cuzk_unit_pull(cuzk_unit *unit)
{
    if (unit->queue != NULL) {
        cuzk_order_remove(unit->queue, &unit->order);
        unit->queue = NULL;
    }
}

void cuzk_unit_waits(cuzk_unit *unit, bool waits)
{
    if (unit->is_waiting != waits) {
        unit->is_waiting = waits;
        unit->job->slot->n_waiting += waits ? 1 : -1U;
    }
}

void cuzk_unit_want(cuzk_engine *engine, cuzk_unit *unit)
{
    cuzk_slot *slot = unit->job->slot;
    unit->at = CUZK_AT_MEMORY;
    cuzk_unit_waits(unit, true);
    if (slot->state == CUZK_SLOT_READY) {
        cuzk_unit_push(unit, &engine->units);
    } else {
        cuzk_unit_push(unit, &slot->parked);
        cuzk_slot_want(engine, slot);
    }
}

static cuzk_unit *first_unit(const cuzk_order *queue)
{
    cuzk_order_node *node = cuzk_order_first(queue);
    return node != NULL ? CUZK_OF(node, cuzk_unit, order) : NULL;
}

/* The first unit whose resident is ready and that some device could take; others, whose resident
 * has been evicted since they were queued, go behind it, and those that no device that is used
 * could take stand aside. */
static cuzk_unit *first_ready_for_memory(cuzk_engine *engine)
{
    cuzk_unit *unit = first_unit(&engine->units);
    for (; unit != NULL; unit = first_unit(&engine->units)) {
        if (unit->job->slot->state != CUZK_SLOT_READY) {
            cuzk_unit_pull(unit);
            cuzk_unit_want(engine, unit);
        } else if (!cuzk_device_strand(engine, unit)) {
            break;
        }
    }
    return unit;
}

/* Witnesses are made so far ahead of the devices and no further; what is CRITICAL may always have a
 * witness. */
bool cuzk_may_make_witness(const cuzk_engine *engine, const cuzk_unit *unit)
{
    unsigned limit = unit->order.priority >= CUZK_PRIORITY_CRITICAL ? engine->makers.n_threads : 0;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        if (device->state == CUZK_DEVICE_USED) {
            limit +=
                engine->options.witness_ahead + device->workers.n_threads - device->workers.n_busy;
        }
    }
    return cuzk_stage_is_idle(&engine->makers) && engine->n_devices > 0 && engine->n_ahead < limit;
}

static void start_unit(cuzk_engine *engine, cuzk_unit *unit)
{
    cuzk_job *job = unit->job;
    cuzk_unit_pull(unit);
    cuzk_budget_take(&engine->budget, CUZK_SHARE_WORK, job->unit_bytes, true);
    job->slot->n_users++;
    unit->has_memory = true;
    cuzk_job_hold(job);
    engine->n_ahead++;
    unit->at = CUZK_AT_WITNESS;
    cuzk_job_start(engine, job);
    unit->thread = cuzk_stage_give(&engine->makers, unit);
}

static void start_load(cuzk_engine *engine, cuzk_slot *slot)
{
    cuzk_order_remove(&engine->loads, &slot->order);
    slot->bytes = slot->need_bytes;
    cuzk_budget_take(&engine->budget, CUZK_SHARE_WORK, slot->bytes, false);
    slot->state = CUZK_SLOT_LOADING;
    cuzk_stage_give(&engine->loaders, slot);
}

/* For the recording: when somebody first had to wait. */
static void note_wait(uint64_t *since_ns)
{
    *since_ns = *since_ns == 0 ? cuzk_now_ns() : *since_ns;
}

/* The share of work, in order. One that waits for memory holds back all behind it; one that only
 * waits for a thread lets a resident be loaded, if that leaves it its memory. What was taken in can
 * have no room any more, when a circuit is kept since then: that fails. */
static void serve_work(cuzk_engine *engine)
{
    const cuzk_share *share = &engine->budget.shares[CUZK_SHARE_WORK];
    for (;;) {
        cuzk_unit *unit = first_ready_for_memory(engine);
        cuzk_slot *slot = cuzk_slots_first_load(engine);
        bool can_unit = unit != NULL && cuzk_may_make_witness(engine, unit);
        bool can_load = slot != NULL && cuzk_stage_is_idle(&engine->loaders);
        bool unit_first =
            unit != NULL && (slot == NULL || cuzk_order_before(&unit->order, &slot->order));
        if (can_unit && (unit_first || !can_load)) {
            bool is_critical = unit->order.priority >= CUZK_PRIORITY_CRITICAL;
            uint64_t bytes = unit->job->unit_bytes;
            if (cuzk_share_free(share, is_critical) < bytes) {
                note_wait(&unit->memory_ns);
                const cuzk_slot *own = unit->job->slot;
                cuzk_error err = {0};
                if (cuzk_slots_check_room(engine, own->circuit, own->bytes, bytes, &err) !=
                    CUZK_OK) {
                    cuzk_job_end(engine, unit->job, CUZK_JOB_FAILED, CUZK_E_MEMORY,
                                 cuzk_engine_text("%s", err.text));
                    continue;
                }
                cuzk_slots_make_room(engine, bytes, is_critical, unit->job->slot);
                return;
            }
            start_unit(engine, unit);
        } else if (can_load) {
            bool is_critical = slot->order.priority >= CUZK_PRIORITY_CRITICAL;
            uint64_t bytes = slot->need_bytes + (unit_first ? unit->job->unit_bytes : 0);
            if (cuzk_share_free(share, is_critical) < bytes) {
                note_wait(&slot->memory_ns);
                cuzk_error err = {0};
                if (cuzk_slots_check_room(engine, slot->circuit, slot->need_bytes, 0, &err) !=
                    CUZK_OK) {
                    cuzk_slot_refuse(engine, slot, CUZK_E_MEMORY, cuzk_engine_text("%s", err.text));
                    continue;
                }
                if (!unit_first) {
                    cuzk_slots_make_room(engine, bytes, is_critical, NULL);
                }
                return;
            }
            start_load(engine, slot);
        } else {
            return;
        }
    }
}

bool cuzk_is_finish_full(const cuzk_engine *engine)
{
    return engine->finish.n >= 2 * (size_t)engine->finishers.n_threads;
}

static void serve_stage(cuzk_stage *stage, cuzk_order *queue, const cuzk_order *next,
                        size_t next_max)
{
    while (queue->n > 0 && cuzk_stage_is_idle(stage)) {
        cuzk_unit *unit = first_unit(queue);
        if (next != NULL && next->n >= next_max && unit->at != CUZK_AT_DISCARD) {
            return;
        }
        cuzk_unit_pull(unit);
        if (unit->at == CUZK_AT_FINISH_WAIT) {
            unit->at = CUZK_AT_FINISH;
        } else if (unit->at == CUZK_AT_VERIFY_WAIT) {
            unit->at = CUZK_AT_VERIFY;
        }
        unit->thread = cuzk_stage_give(stage, unit);
    }
}

void cuzk_schedule(cuzk_engine *engine)
{
    if (engine->is_stopping) { /* only what is to be freed */
        serve_stage(&engine->finishers, &engine->finish, NULL, 0);
        return;
    }
    cuzk_intake_serve(engine);
    serve_stage(&engine->verifiers, &engine->verify, NULL, 0);
    serve_stage(&engine->finishers, &engine->finish, &engine->verify,
                2 * (size_t)engine->verifiers.n_threads);
    cuzk_devices_tend(engine);
    cuzk_devices_serve(engine);
    cuzk_slots_serve_evictions(engine);
    serve_work(engine);
}
