/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an unfinished job waits for: schedule.c's questions, asked again without granting anything.
 * It is told of the job's lowest unit that is not done, as that one is served first. */
#include "engine/inner.h"

static const cuzk_wait_view NOTHING = {.reason = CUZK_WAIT_NOTHING};
static const cuzk_wait_view FOR_DEVICE = {.reason = CUZK_WAIT_DEVICE};

static cuzk_unit *unit_of(const cuzk_order_node *node)
{
    return node != NULL ? CUZK_OF(node, cuzk_unit, order) : NULL;
}

/* Its id in the picture: a closed job is not in it, though a unit of it may still be at work. */
static const char *name_of(const cuzk_job *job)
{
    return job->is_closed ? NULL : job->seen_id;
}

static cuzk_wait_view for_job(const cuzk_job *job)
{
    return (cuzk_wait_view){.reason = CUZK_WAIT_JOB, .name = name_of(job)};
}

static cuzk_wait_view for_resident(const cuzk_slot *slot)
{
    return (cuzk_wait_view){.reason = CUZK_WAIT_RESIDENT, .name = slot->seen_circuit};
}

static cuzk_wait_view for_thread(const char *stage, unsigned n_threads)
{
    return (cuzk_wait_view){.reason = CUZK_WAIT_STAGE, .name = stage, .n_threads = n_threads};
}

/* Memory that is free is not waited for: whoever stands there is about to begin. */
static cuzk_wait_view for_memory(cuzk_wait_reason reason, const cuzk_share *share,
                                 const cuzk_order_node *order, uint64_t needed_bytes)
{
    uint64_t free_bytes = cuzk_share_free(share, order->priority >= CUZK_PRIORITY_CRITICAL);
    if (free_bytes >= needed_bytes) {
        return NOTHING;
    }
    return (cuzk_wait_view){.reason = reason,
                            .needed_bytes = needed_bytes,
                            .free_bytes = free_bytes,
                            .cap_bytes = share->cap};
}

static unsigned n_workers(const cuzk_engine *engine)
{
    unsigned n = 0;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        n += device->state == CUZK_DEVICE_USED ? device->workers.n_threads : 0;
    }
    return n;
}

/* No device that is used could take it. */
static cuzk_wait_view for_larger_device(const cuzk_engine *engine, const cuzk_unit *unit)
{
    cuzk_wait_view wait = FOR_DEVICE;
    wait.needed_bytes = unit->job->device_bytes + unit->job->slot->device_bytes;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        bool is_larger = device->memory.cap > wait.cap_bytes;
        wait.cap_bytes =
            is_larger && device->state == CUZK_DEVICE_USED ? device->memory.cap : wait.cap_bytes;
    }
    return wait;
}

/* The first in the line of loads waits for memory. */
static cuzk_wait_view for_load_memory(const cuzk_engine *engine, const cuzk_slot *slot)
{
    cuzk_wait_view wait = for_memory(CUZK_WAIT_MEMORY, &engine->budget.shares[CUZK_SHARE_WORK],
                                     &slot->order, slot->need_bytes);
    wait.name = wait.reason != CUZK_WAIT_NOTHING ? slot->seen_circuit : NULL;
    return wait;
}

static cuzk_slot *first_load(const cuzk_engine *engine)
{
    const cuzk_order_node *node = cuzk_order_first(&engine->loads);
    return node != NULL ? CUZK_OF(node, cuzk_slot, order) : NULL;
}

/* Its circuit is to be loaded. */
static cuzk_wait_view of_wanted(const cuzk_engine *engine, const cuzk_slot *slot)
{
    const cuzk_slot *first = first_load(engine);
    const cuzk_unit *unit = unit_of(cuzk_order_first(&engine->units));
    if (first != NULL && first != slot) {
        return for_resident(first);
    }
    if (!cuzk_stage_is_idle(&engine->loaders)) {
        return for_thread("load", engine->loaders.n_threads);
    }
    if (unit != NULL && first != NULL && cuzk_order_before(&unit->order, &first->order) &&
        cuzk_may_make_witness(engine, unit)) {
        return for_job(unit->job); /* which waits for memory, in front of the load */
    }
    return first != NULL ? for_load_memory(engine, first) : for_resident(slot);
}

/* Its circuit is there: it stands in the line for memory. */
static cuzk_wait_view of_ready(const cuzk_engine *engine, const cuzk_unit *unit)
{
    if (unit->queue == &engine->stranded) {
        return for_larger_device(engine, unit);
    }
    const cuzk_unit *first = unit_of(cuzk_order_first(&engine->units));
    const cuzk_slot *load = first_load(engine);
    if (first == NULL || first->job != unit->job) {
        return first != NULL ? for_job(first->job) : NOTHING;
    }
    if (load != NULL && cuzk_stage_is_idle(&engine->loaders) &&
        cuzk_order_before(&load->order, &unit->order)) {
        return for_load_memory(engine, load);
    }
    if (!cuzk_stage_is_idle(&engine->makers)) {
        return for_thread("witness", engine->makers.n_threads);
    }
    if (n_workers(engine) == 0) {
        return FOR_DEVICE;
    }
    if (!cuzk_may_make_witness(engine, unit)) {
        return for_thread("prove", n_workers(engine)); /* witnesses are made ahead enough */
    }
    return for_memory(CUZK_WAIT_MEMORY, &engine->budget.shares[CUZK_SHARE_WORK], &unit->order,
                      unit->job->unit_bytes);
}

static cuzk_wait_view of_memory(const cuzk_engine *engine, const cuzk_unit *unit)
{
    const cuzk_slot *slot = unit->job->slot;
    switch (slot->state) {
    case CUZK_SLOT_READY:
        return of_ready(engine, unit);
    case CUZK_SLOT_LOADING:
    case CUZK_SLOT_EVICTING: /* and is loaded again then */
        return for_resident(slot);
    default:
        return of_wanted(engine, slot);
    }
}

/* Its witness is ready. */
static cuzk_wait_view of_device(const cuzk_engine *engine, const cuzk_unit *unit)
{
    const cuzk_unit *first = unit->queue != NULL ? unit_of(cuzk_order_first(unit->queue)) : NULL;
    if (first == NULL) {
        return NOTHING;
    }
    if (unit->queue == &engine->stranded) {
        return for_larger_device(engine, unit);
    }
    if (first->job != unit->job) {
        return for_job(first->job);
    }
    if (n_workers(engine) == 0) {
        return FOR_DEVICE;
    }
    if (cuzk_is_finish_full(engine)) {
        return for_thread("finish", engine->finishers.n_threads);
    }
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        bool is_its = unit->queue == &unit->job->slot->ready || unit->queue == &device->ready;
        uint64_t needed = 0, room = 0;
        if (is_its && device->state == CUZK_DEVICE_USED && cuzk_stage_is_idle(&device->workers) &&
            cuzk_device_is_able(device, unit) &&
            !cuzk_device_room(engine, d, unit, &needed, &room)) {
            return (cuzk_wait_view){.reason = CUZK_WAIT_DEVICE_MEMORY,
                                    .device = d,
                                    .needed_bytes = needed,
                                    .free_bytes = room,
                                    .cap_bytes = device->memory.cap};
        }
    }
    return for_thread("prove", n_workers(engine));
}

/* It is on a device. */
static cuzk_wait_view of_lane(const cuzk_engine *engine, const cuzk_unit *unit)
{
    unsigned d = (unsigned)unit->device;
    const cuzk_lane *holder = engine->devices[d].lane_holder;
    if (unit->thread == NULL || !unit->thread->lane.order.is_queued || holder == NULL) {
        return unit->job->slot->devices[d].is_loading ? for_resident(unit->job->slot) : NOTHING;
    }
    const cuzk_unit *held = CUZK_OF(holder, cuzk_thread, lane)->unit;
    return (cuzk_wait_view){
        .reason = CUZK_WAIT_LANE, .device = d, .name = held != NULL ? name_of(held->job) : NULL};
}

/* Of one that came back from the journal, whose payload has not. */
static cuzk_wait_view of_payload(const cuzk_engine *engine, const cuzk_job *job)
{
    cuzk_share_id share = cuzk_budget_payload_share(&engine->budget, job->payload_bytes);
    cuzk_order_node order = {.priority = job->priority};
    cuzk_wait_view wait =
        for_memory(CUZK_WAIT_PAYLOAD, &engine->budget.shares[share], &order, job->payload_bytes);
    wait.reason = CUZK_WAIT_PAYLOAD;
    return wait;
}

static cuzk_wait_view of_unit(const cuzk_engine *engine, const cuzk_unit *unit)
{
    switch (unit->at) {
    case CUZK_AT_REST: /* an accepted one: it came back from the journal */
        return unit->job->task == NULL ? of_payload(engine, unit->job) : NOTHING;
    case CUZK_AT_MEMORY:
        return of_memory(engine, unit);
    case CUZK_AT_READY:
        return of_device(engine, unit);
    case CUZK_AT_DEVICE:
        return of_lane(engine, unit);
    case CUZK_AT_FINISH_WAIT:
        return for_thread("finish", engine->finishers.n_threads);
    case CUZK_AT_VERIFY_WAIT:
    case CUZK_AT_ASSEMBLE:
        return unit->queue != NULL ? for_thread("verify", engine->verifiers.n_threads) : NOTHING;
    default:
        return NOTHING;
    }
}

cuzk_wait_view cuzk_job_wait(const cuzk_engine *engine, const cuzk_job *job)
{
    for (unsigned i = 0; !job->has_end && job->units != NULL && i < job->n_units; i++) {
        if (job->units[i].at != CUZK_AT_DONE && job->units[i].at != CUZK_AT_VERIFIED) {
            return of_unit(engine, &job->units[i]);
        }
    }
    return NOTHING;
}

cuzk_wait_view cuzk_intake_wait(const cuzk_engine *engine)
{
    const cuzk_order_node *node = cuzk_order_first(&engine->decode_claims);
    if (node != NULL && !cuzk_stage_is_idle(&engine->decoders)) {
        return for_thread("decode", engine->decoders.n_threads);
    }
    if (node != NULL) {
        const cuzk_claim *claim = CUZK_OF(node, cuzk_claim, order);
        return for_memory(CUZK_WAIT_MEMORY, &engine->budget.shares[CUZK_SHARE_TASK], node,
                          cuzk_budget_decode_bytes(claim->bytes));
    }
    for (unsigned i = 0; i < 2; i++) {
        node = cuzk_order_first(&engine->payload_claims[i]);
        if (node != NULL) {
            return for_memory(CUZK_WAIT_MEMORY, &engine->budget.shares[i], node,
                              CUZK_OF(node, cuzk_claim, order)->bytes);
        }
    }
    return NOTHING;
}
