/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Residents: circuits with their keys in host memory. Loaded on demand or by name, several at once,
 * always outside the lock; evicted, the least recently used first, when the work's share needs
 * room; never while a unit uses them. */
#include "engine/inner.h"

#include "base/clock.h"
#include "base/text.h"
#include "engine/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- slots ----------------------------------------------------------------------------------- */

static cuzk_slot *find(const cuzk_engine *engine, const char *circuit)
{
    cuzk_slot *slot = engine->slots;
    while (slot != NULL && strcmp(slot->circuit, circuit) != 0) {
        slot = slot->next;
    }
    return slot;
}

cuzk_slot *cuzk_slot_get(cuzk_engine *engine, const cuzk_work *work, unsigned kind,
                         const char *circuit, uint64_t bytes)
{
    cuzk_slot *slot = find(engine, circuit);
    if (slot == NULL) {
        slot = calloc(1, sizeof *slot);
        if (slot == NULL) {
            return NULL;
        }
        snprintf(slot->circuit, sizeof slot->circuit, "%s", circuit);
        slot->work = work;
        slot->kind = kind;
        slot->next = engine->slots;
        engine->slots = slot;
    }
    if (slot->state == CUZK_SLOT_EMPTY) {
        slot->need_bytes = bytes;
    }
    return slot;
}

/* Bytes of the kept residents, that of a circuit not counted. */
static uint64_t kept_beside(const cuzk_engine *engine, const char *circuit)
{
    uint64_t bytes = 0;
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        bool is_counted = slot->is_kept && slot->state == CUZK_SLOT_READY;
        bytes += is_counted && strcmp(slot->circuit, circuit) != 0 ? slot->bytes : 0;
    }
    return bytes;
}

cuzk_status cuzk_slots_check_room(const cuzk_engine *engine, const char *circuit,
                                  uint64_t key_bytes, uint64_t unit_bytes, cuzk_error *err)
{
    uint64_t cap = engine->budget.shares[CUZK_SHARE_WORK].cap;
    uint64_t kept = kept_beside(engine, circuit);
    uint64_t bytes = key_bytes + unit_bytes;
    if (bytes <= cap - kept) {
        return CUZK_OK;
    }
    char beside[128] = "";
    if (kept > 0) {
        snprintf(beside, sizeof beside,
                 "; kept circuits take %" PRIu64 " of these bytes until they are evicted by name",
                 kept);
    }
    return CUZK_FAIL(err, CUZK_E_MEMORY,
                     "circuit %s needs %" PRIu64 " bytes of memory (%" PRIu64
                     " for its key, %" PRIu64
                     " for a partition) and can never have them: proving may take %" PRIu64
                     " of the budget of %" PRIu64 " bytes%s",
                     circuit, bytes, key_bytes, unit_bytes, cap, engine->budget.total, beside);
}

void cuzk_slots_reap(cuzk_engine *engine)
{
    cuzk_slot **at = &engine->slots;
    while (*at != NULL) {
        cuzk_slot *slot = *at;
        if (slot->state == CUZK_SLOT_EMPTY && slot->n_jobs == 0 && slot->n_preloads == 0 &&
            slot->n_users == 0) {
            *at = slot->next;
            free(slot->error);
            free(slot);
        } else {
            at = &slot->next;
        }
    }
}

void cuzk_slot_want(cuzk_engine *engine, cuzk_slot *slot)
{
    /* a call of preload comes before all but what is CRITICAL */
    cuzk_order_node best = {.priority = CUZK_PRIORITY_HIGH};
    cuzk_order_node *unit = cuzk_order_first(&slot->parked);
    if (unit != NULL && (slot->n_preloads == 0 || cuzk_order_before(unit, &best))) {
        best = (cuzk_order_node){.priority = unit->priority, .seq = unit->seq, .unit = unit->unit};
    }
    if (slot->state == CUZK_SLOT_WANTED && cuzk_order_before(&best, &slot->order)) {
        cuzk_order_remove(&engine->loads, &slot->order);
        slot->state = CUZK_SLOT_EMPTY;
    }
    if (slot->state == CUZK_SLOT_EMPTY) {
        slot->state = CUZK_SLOT_WANTED;
        slot->order = best;
        cuzk_order_push(&engine->loads, &slot->order);
    }
}

cuzk_slot *cuzk_slots_first_load(cuzk_engine *engine)
{
    for (;;) {
        cuzk_order_node *node = cuzk_order_first(&engine->loads);
        cuzk_slot *slot = node != NULL ? CUZK_OF(node, cuzk_slot, order) : NULL;
        if (slot == NULL || slot->parked.n > 0 || slot->n_preloads > 0) {
            return slot;
        }
        cuzk_order_remove(&engine->loads, node); /* those who wanted it are gone */
        slot->state = CUZK_SLOT_EMPTY;
    }
}

void cuzk_slot_leave(cuzk_engine *engine, cuzk_slot *slot)
{
    (void)engine;
    slot->used_ns = cuzk_now_ns();
    slot->n_users--;
}

/* ---- eviction -------------------------------------------------------------------------------- */

static void start_eviction(cuzk_engine *engine, cuzk_slot *slot)
{
    slot->state = CUZK_SLOT_EVICTING;
    engine->n_evict_wanted -= slot->evict_when_idle;
    slot->evict_when_idle = false;
    engine->bytes_evicting += slot->bytes;
    cuzk_stage_give(&engine->loaders, slot);
}

static bool is_idle(const cuzk_slot *slot)
{
    return slot->state == CUZK_SLOT_READY && slot->n_users == 0;
}

static bool may_make_room(const cuzk_slot *slot, const cuzk_slot *keep)
{
    return is_idle(slot) && !slot->is_kept && slot != keep;
}

/* No unit is in any stage and nothing is loaded or evicted: who waits for memory now would get none
 * by waiting. */
static bool is_at_rest(const cuzk_engine *engine)
{
    return engine->budget.shares[CUZK_SHARE_WORK].held == 0 && engine->loaders.n_busy == 0;
}

/* Better to evict than other: needed by no job, then longer unused. */
static bool is_better_to_evict(const cuzk_slot *slot, const cuzk_slot *other)
{
    if (other == NULL || (slot->n_jobs == 0) != (other->n_jobs == 0)) {
        return other == NULL || slot->n_jobs == 0;
    }
    return slot->used_ns < other->used_ns;
}

void cuzk_slots_make_room(cuzk_engine *engine, uint64_t bytes, bool is_critical,
                          const cuzk_slot *keep)
{
    const cuzk_share *share = &engine->budget.shares[CUZK_SHARE_WORK];
    uint64_t now_ns = cuzk_now_ns();
    uint64_t idle_ns = is_critical || is_at_rest(engine) ? 0 : engine->options.evict_idle_ns;
    uint64_t coming = cuzk_share_free(share, is_critical) + engine->bytes_evicting;
    uint64_t idle = 0;
    for (const cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        if (may_make_room(slot, keep)) {
            uint64_t when = slot->used_ns + idle_ns;
            idle += when <= now_ns ? slot->bytes : 0;
            if (when > now_ns) {
                cuzk_timer_engine(engine, when);
            }
        }
    }
    while (coming < bytes && coming + idle >= bytes && cuzk_stage_is_idle(&engine->loaders)) {
        cuzk_slot *best = NULL;
        for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
            if (may_make_room(slot, keep) && slot->used_ns + idle_ns <= now_ns &&
                is_better_to_evict(slot, best)) {
                best = slot;
            }
        }
        coming += best->bytes;
        idle -= best->bytes;
        start_eviction(engine, best);
    }
}

void cuzk_slots_serve_evictions(cuzk_engine *engine)
{
    for (cuzk_slot *slot = engine->slots; slot != NULL && engine->n_evict_wanted > 0;
         slot = slot->next) {
        if (slot->evict_when_idle && is_idle(slot) && cuzk_stage_is_idle(&engine->loaders)) {
            start_eviction(engine, slot);
        }
    }
}

static void evict(cuzk_engine *engine, cuzk_slot *slot)
{
    cuzk_resident *resident = slot->resident;
    uint64_t bytes = slot->bytes;
    pthread_mutex_unlock(&engine->lock);
    cuzk_devices_cool(engine, slot);
    slot->work->resident_close(slot->work->user, resident);
    cuzk_observe_text(engine, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, -1, bytes, slot->circuit);
    pthread_mutex_lock(&engine->lock);
    slot->resident = NULL;
    slot->state = CUZK_SLOT_EMPTY;
    slot->bytes = 0;
    engine->bytes_evicting -= bytes;
    cuzk_budget_give(&engine->budget, CUZK_SHARE_WORK, bytes, false);
    if (slot->parked.n > 0 || slot->n_preloads > 0) {
        cuzk_slot_want(engine, slot);
    }
}

/* ---- loading --------------------------------------------------------------------------------- */

static cuzk_status call_load(cuzk_engine *engine, cuzk_slot *slot, uint64_t *bytes, bool warm,
                             cuzk_error *err)
{
    const cuzk_work *work = slot->work;
    CUZK_TRY(cuzk_fault_at(CUZK_FAULT_RESIDENT, -1, err));
    CUZK_TRY(work->resident_load(work->user, &slot->resident, bytes, slot->circuit, warm, err));
    if (*bytes > slot->bytes) {
        work->resident_close(work->user, slot->resident);
        slot->resident = NULL;
        return CUZK_FAIL(err, CUZK_E_INTERNAL,
                         "it takes %" PRIu64 " bytes of memory; %" PRIu64 " were reserved", *bytes,
                         slot->bytes);
    }
    if (warm) {
        cuzk_devices_warm(engine, slot);
    }
    return CUZK_OK;
}

/* Its units may go on; their jobs have waited for the key, not in the queue. */
static void release_parked(cuzk_engine *engine, cuzk_slot *slot, uint64_t from_ns, uint64_t to_ns)
{
    for (cuzk_order_node *node = cuzk_order_first(&slot->parked); node != NULL;
         node = cuzk_order_first(&slot->parked)) {
        cuzk_unit *unit = CUZK_OF(node, cuzk_unit, order);
        cuzk_job *job = unit->job;
        if (job->started_ns == 0 && job->resident_ns == 0) {
            job->resident_ns = to_ns - (job->submitted_ns > from_ns ? job->submitted_ns : from_ns);
        }
        cuzk_unit_pull(unit);
        cuzk_unit_want(engine, unit);
    }
}

/* The jobs of its units fail; each takes its units out of the queue. */
static void fail_parked(cuzk_engine *engine, cuzk_slot *slot)
{
    for (cuzk_order_node *node = cuzk_order_first(&slot->parked); node != NULL;
         node = cuzk_order_first(&slot->parked)) {
        cuzk_job_end(engine, CUZK_OF(node, cuzk_unit, order)->job, CUZK_JOB_FAILED, slot->status,
                     cuzk_engine_text("%s", slot->error != NULL ? slot->error : "no memory"));
    }
}

/* A load has ended with an error, or can never begin. error: handed over; may be NULL. */
static void fail_load(cuzk_engine *engine, cuzk_slot *slot, cuzk_status status, char *error)
{
    slot->n_attempts++;
    slot->status = status;
    free(slot->error);
    slot->error = error;
    slot->state = CUZK_SLOT_EMPTY;
    fail_parked(engine, slot);
    pthread_cond_broadcast(&engine->slots_changed);
}

void cuzk_slot_refuse(cuzk_engine *engine, cuzk_slot *slot, cuzk_status status, char *error)
{
    cuzk_observe_slot_left(engine, slot);
    slot->memory_ns = 0;
    cuzk_order_remove(&engine->loads, &slot->order);
    fail_load(engine, slot, status, error);
}

static void load(cuzk_engine *engine, cuzk_slot *slot)
{
    bool warm = slot->n_preloads > 0;
    uint64_t since_ns = slot->memory_ns;
    slot->memory_ns = 0;
    cuzk_thread_urgency(slot->order.priority, false);
    pthread_mutex_unlock(&engine->lock);
    cuzk_hands_place(engine, -1, -1);
    uint64_t from_ns = cuzk_now_ns();
    cuzk_event event = {.id = CUZK_EVENT_RESIDENT,
                        .phase = CUZK_EVENT_BEGIN,
                        .ns = from_ns,
                        .kind = slot->kind,
                        .unit = -1,
                        .device = -1,
                        .worker = -1,
                        .since_ns = since_ns,
                        .text = slot->circuit};
    cuzk_observe(engine, &event);
    cuzk_error err = {0};
    uint64_t bytes = 0;
    cuzk_status status = call_load(engine, slot, &bytes, warm, &err);
    uint64_t to_ns = cuzk_now_ns();
    event.phase = CUZK_EVENT_END;
    event.ns = to_ns;
    event.since_ns = 0;
    event.value = bytes;
    event.status = status;
    cuzk_observe(engine, &event);
    pthread_mutex_lock(&engine->lock);
    slot->load_ns = to_ns - from_ns;
    slot->used_ns = to_ns;
    if (status == CUZK_OK) {
        slot->n_attempts++;
        slot->status = status;
        free(slot->error);
        slot->error = NULL;
        cuzk_budget_shrink(&engine->budget, CUZK_SHARE_WORK, slot->bytes - bytes);
        slot->bytes = bytes;
        slot->state = CUZK_SLOT_READY;
        release_parked(engine, slot, from_ns, to_ns);
        pthread_cond_broadcast(&engine->slots_changed);
    } else {
        cuzk_budget_give(&engine->budget, CUZK_SHARE_WORK, slot->bytes, false);
        slot->bytes = 0;
        fail_load(engine, slot, status,
                  cuzk_engine_text("loading circuit %s: %s", slot->circuit, err.text));
    }
}

void cuzk_slot_run(cuzk_thread *thread, void *item)
{
    cuzk_engine *engine = thread->engine;
    cuzk_slot *slot = (cuzk_slot *)item;
    if (slot->state == CUZK_SLOT_EVICTING) {
        evict(engine, slot);
    } else {
        load(engine, slot);
    }
    cuzk_slots_reap(engine);
}

/* ---- by name --------------------------------------------------------------------------------- */

/* Whose work knows the circuit. Errors: E_NOT_FOUND with what each says; that of the one that knows
 * it. */
static cuzk_status find_work(unsigned *kind, uint64_t *bytes, uint64_t *device_bytes,
                             const cuzk_engine *engine, const char *circuit, cuzk_error *err)
{
    cuzk_text texts = {0};
    cuzk_status status = CUZK_E_NOT_FOUND;
    for (unsigned k = 0; status == CUZK_E_NOT_FOUND && k < CUZK_KINDS_MAX; k++) {
        const cuzk_work *work = engine->options.kinds[k].work;
        bool is_asked = work == NULL;
        for (unsigned j = 0; j < k; j++) {
            is_asked = is_asked || engine->options.kinds[j].work == work;
        }
        if (is_asked) {
            continue;
        }
        cuzk_error one = {0};
        status = work->resident_size(work->user, circuit, bytes, device_bytes, &one);
        *kind = k;
        if (status == CUZK_E_NOT_FOUND) {
            cuzk_text_printf(&texts, "%s%s", texts.size > 0 ? "; " : "", one.text);
        } else if (status != CUZK_OK) {
            CUZK_FAIL(err, status, "%s", one.text);
        }
    }
    if (status == CUZK_E_NOT_FOUND) {
        CUZK_FAIL(err, status, "%s", texts.data != NULL ? texts.data : "there is no such circuit");
    }
    cuzk_text_clear(&texts);
    return status;
}

cuzk_status cuzk_engine_evict(cuzk_engine *engine, bool *was_loaded, uint64_t *freed_bytes,
                              const char *circuit, cuzk_error *err)
{
    cuzk_engine_lock(engine);
    cuzk_slot *slot = find(engine, circuit);
    bool is_known = slot != NULL;
    *was_loaded = is_known && slot->state == CUZK_SLOT_READY;
    *freed_bytes = *was_loaded ? slot->bytes : 0;
    if (*was_loaded) {
        slot->is_kept = false;
    }
    if (*was_loaded && !slot->evict_when_idle) {
        slot->evict_when_idle = true;
        engine->n_evict_wanted++;
    }
    cuzk_engine_unlock(engine);
    unsigned kind = 0;
    uint64_t bytes = 0, device_bytes = 0;
    cuzk_error unknown = {0};
    if (!is_known && find_work(&kind, &bytes, &device_bytes, engine, circuit, &unknown) ==
                         CUZK_E_NOT_FOUND) { /* that its file is missing does not matter here */
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "%s", unknown.text);
    }
    return CUZK_OK;
}

/* From now on, or once it is loaded; an eviction that was asked for before is off. */
static void keep_slot(cuzk_engine *engine, cuzk_slot *slot)
{
    slot->is_kept = true;
    engine->n_evict_wanted -= slot->evict_when_idle;
    slot->evict_when_idle = false;
}

static cuzk_status wait_loaded(cuzk_engine *engine, cuzk_slot *slot, cuzk_error *err)
{
    unsigned n_attempts = slot->n_attempts;
    while (slot->state != CUZK_SLOT_READY && slot->n_attempts == n_attempts &&
           !engine->is_stopping) {
        if (slot->state == CUZK_SLOT_EMPTY || slot->state == CUZK_SLOT_WANTED) {
            cuzk_slot_want(engine, slot);
        }
        cuzk_schedule(engine);
        if (slot->n_attempts == n_attempts) { /* else it was refused just now */
            cuzk_clerk_remind(engine);
            pthread_cond_wait(&engine->slots_changed, &engine->lock);
        }
    }
    if (slot->n_attempts != n_attempts && slot->status != CUZK_OK) {
        return CUZK_FAIL(err, slot->status, "%s", slot->error != NULL ? slot->error : "no memory");
    }
    CUZK_FAIL_IF(slot->n_attempts == n_attempts && slot->state != CUZK_SLOT_READY, err,
                 CUZK_E_UNAVAILABLE, "loading circuit %s: the server ends", slot->circuit);
    return CUZK_OK;
}

cuzk_status cuzk_engine_preload(cuzk_engine *engine, bool *was_loaded, uint64_t *load_ns,
                                const char *circuit, bool keep, cuzk_error *err)
{
    unsigned kind = 0;
    uint64_t bytes = 0;
    *was_loaded = false;
    *load_ns = 0;
    uint64_t device_bytes = 0;
    CUZK_TRY(find_work(&kind, &bytes, &device_bytes, engine, circuit, err));
    cuzk_engine_lock(engine);
    cuzk_slot *slot = find(engine, circuit);
    bool is_ready = slot != NULL && slot->state == CUZK_SLOT_READY;
    cuzk_status status = is_ready ? CUZK_OK : cuzk_slots_check_room(engine, circuit, bytes, 0, err);
    if (status == CUZK_OK && !is_ready) {
        slot = cuzk_slot_get(engine, engine->options.kinds[kind].work, kind, circuit, bytes);
        if (slot == NULL) {
            status = CUZK_FAIL(err, CUZK_E_MEMORY, "loading circuit %s: no memory", circuit);
        }
    }
    if (status == CUZK_OK && keep) {
        keep_slot(engine, slot);
    }
    if (is_ready) {
        *was_loaded = true;
        slot->used_ns = cuzk_now_ns();
    } else if (status == CUZK_OK) {
        uint64_t from_ns = cuzk_now_ns();
        slot->n_preloads++;
        if (slot->device_bytes == 0) {
            slot->device_bytes = device_bytes;
        }
        engine->n_callers++;
        status = wait_loaded(engine, slot, err);
        engine->n_callers--;
        slot->n_preloads--;
        *load_ns = cuzk_now_ns() - from_ns;
        cuzk_slots_reap(engine);
        pthread_cond_broadcast(&engine->quiet);
    }
    cuzk_engine_unlock(engine);
    return status;
}
