/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which device a unit is given to.
 *
 * Units that are ready wait by circuit; one that was tried on a device waits for one of its own,
 * another one. One that no device that is used could ever take is stranded: it stands aside until
 * other devices are used. The first of all the others, in the engine's order, that has a place now
 * is given there, again and again. Its place is, of the devices with an idle worker and room, the
 * one with the fewest units on it among those that have its key, so that k devices work
 * at once before one has two. A device without the key is such a place, too, where no device has it
 * or is getting it, or where more units of the circuit wait than those that have it could prove
 * while it is put there: one unit rather waits a second for a busy device than two for a key of
 * 50 GB, and a long queue gets the key onto every device. A device that is left without a unit may
 * help with that of another one. */
#include "engine/inner.h"

/* What putting a key on a device is taken to need before it was measured: 10 GB a second. */
enum { PUT_BYTES_A_NS = 10 };

static cuzk_unit *first_unit(const cuzk_order *queue)
{
    cuzk_order_node *node = cuzk_order_first(queue);
    return node != NULL ? CUZK_OF(node, cuzk_unit, order) : NULL;
}

static bool is_used(const cuzk_device *device)
{
    return device->state == CUZK_DEVICE_USED;
}

unsigned cuzk_device_load(const cuzk_device *device)
{
    return device->workers.n_busy + device->express.n_busy;
}

/* ---- queues ---------------------------------------------------------------------------------- */

bool cuzk_device_is_able(const cuzk_device *device, const cuzk_unit *unit)
{
    return device->memory.cap == 0 ||
           device->memory.cap >= unit->job->device_bytes + unit->job->slot->device_bytes;
}

/* The device after `tried` (-1: the first) that is used and could take the unit, or NULL. tried
 * itself comes last. any_used: whether any is used. */
static cuzk_device *next_able(cuzk_engine *engine, const cuzk_unit *unit, int tried, bool *any_used)
{
    unsigned n = engine->options.n_devices;
    cuzk_device *best = NULL;
    *any_used = false;
    for (unsigned i = 0; i < n && best == NULL; i++) {
        cuzk_device *device = &engine->devices[((unsigned)tried + 1 + i) % n];
        *any_used = *any_used || is_used(device);
        best = is_used(device) && cuzk_device_is_able(device, unit) ? device : NULL;
    }
    return best;
}

bool cuzk_device_strand(cuzk_engine *engine, cuzk_unit *unit)
{
    bool any_used;
    if (next_able(engine, unit, -1, &any_used) != NULL || !any_used) {
        return false;
    }
    cuzk_unit_pull(unit);
    cuzk_unit_push(unit, &engine->stranded);
    return true;
}

void cuzk_device_queue(cuzk_engine *engine, cuzk_unit *unit, int tried)
{
    bool any_used;
    if (cuzk_device_strand(engine, unit)) {
        engine->n_ahead--;
        return;
    }
    cuzk_device *own = tried >= 0 ? next_able(engine, unit, tried, &any_used) : NULL;
    cuzk_unit_push(unit, own != NULL ? &own->ready : &unit->job->slot->ready);
}

/* Into one list, linked by the nodes' next. */
static void empty_into(cuzk_order *queue, cuzk_order_node **list)
{
    for (cuzk_order_node *node = cuzk_order_pop(queue); node != NULL;
         node = cuzk_order_pop(queue)) {
        node->next = *list;
        *list = node;
    }
}

void cuzk_devices_requeue(cuzk_engine *engine)
{
    cuzk_order_node *list = NULL;
    empty_into(&engine->stranded, &list);
    for (const cuzk_order_node *node = list; node != NULL; node = node->next) {
        engine->n_ahead += CUZK_OF(node, cuzk_unit, order)->at == CUZK_AT_READY;
    }
    for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        empty_into(&slot->ready, &list);
    }
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        empty_into(&engine->devices[d].ready, &list);
    }
    while (list != NULL) {
        cuzk_order_node *node = list;
        list = node->next;
        node->next = NULL;
        cuzk_unit *unit = CUZK_OF(node, cuzk_unit, order);
        unit->queue = NULL;
        if (unit->at == CUZK_AT_READY) {
            cuzk_device_queue(engine, unit, unit->attempts > 0 ? unit->device : -1);
        } else {
            cuzk_unit_want(engine, unit);
        }
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The stage of the device that may take the unit now; NULL: none. */
static cuzk_stage *stage_for(cuzk_device *device, const cuzk_unit *unit)
{
    bool is_critical = unit->order.priority >= CUZK_PRIORITY_CRITICAL;
    return cuzk_stage_is_idle(&device->workers)                  ? &device->workers
           : is_critical && cuzk_stage_is_idle(&device->express) ? &device->express
                                                                 : NULL;
}

static bool needs_key(const cuzk_engine *engine, unsigned d, const cuzk_slot *slot)
{
    return engine->devices[d].memory.cap > 0 && slot->device_bytes > 0;
}

/* Whether a device that has not got the circuit's key yet shall take a unit of it. */
static bool is_worth_a_key(const cuzk_engine *engine, const cuzk_slot *slot)
{
    unsigned n_having = 0;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_slot_device *on = &slot->devices[d];
        bool has = !needs_key(engine, d, slot) || on->is_loaded || on->is_loading;
        n_having += has && is_used(&engine->devices[d]);
    }
    if (n_having == 0 || slot->unit_ns == 0) { /* nobody knows: units are spread */
        return true;
    }
    uint64_t put_ns = slot->put_ns != 0 ? slot->put_ns : slot->device_bytes / PUT_BYTES_A_NS;
    return slot->n_waiting * slot->unit_ns > n_having * put_ns;
}

/* What is known of a device while units are looked at in their order. */
typedef struct {
    bool is_held[CUZK_ENGINE_DEVICES_MAX]; /* one that came before waits for room there */
} round_of;

/* Whether the unit could begin on the device now. One that only waits for room there, and could
 * have it some day, holds back those that come after it. */
static bool may_take(cuzk_engine *engine, round_of *round, unsigned d, const cuzk_unit *unit)
{
    cuzk_device *device = &engine->devices[d];
    if (!is_used(device) || round->is_held[d] || stage_for(device, unit) == NULL ||
        !cuzk_device_is_able(device, unit)) {
        return false;
    }
    round->is_held[d] = !cuzk_device_fits(engine, d, unit);
    return !round->is_held[d];
}

/* How little a device suits a unit: its units first, then whether another key must go for this
 * one's, then whether its key must come. */
static unsigned cost_of(const cuzk_engine *engine, unsigned d, const cuzk_unit *unit, bool is_there)
{
    bool evicts = !is_there && !cuzk_device_has_free(engine, d, unit);
    return 4 * cuzk_device_load(&engine->devices[d]) + 2 * evicts + !is_there;
}

/* The device that a unit which any may take is given to now; -1: it waits. */
static int find_place(cuzk_engine *engine, round_of *round, const cuzk_unit *unit)
{
    const cuzk_slot *slot = unit->job->slot;
    bool is_worth = is_worth_a_key(engine, slot);
    int best = -1;
    unsigned best_cost = 0;
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        bool is_there = !needs_key(engine, d, slot) || slot->devices[d].is_loaded;
        if ((!is_there && !is_worth) || !may_take(engine, round, d, unit)) {
            continue;
        }
        unsigned cost = cost_of(engine, d, unit, is_there);
        if (best < 0 || cost < best_cost) {
            best = (int)d;
            best_cost = cost;
        }
    }
    return best;
}

static void give(cuzk_engine *engine, cuzk_unit *unit, unsigned d)
{
    cuzk_device *device = &engine->devices[d];
    cuzk_stage *stage = stage_for(device, unit);
    cuzk_unit_pull(unit);
    cuzk_unit_waits(unit, false);
    engine->n_ahead--;
    unit->at = CUZK_AT_DEVICE;
    unit->attempts++;
    unit->was_helped = false;
    unit->device = (int)d;
    cuzk_thread *thread = cuzk_stage_give(stage, unit);
    unit->thread = thread;
    cuzk_device_take(engine, thread, unit);
}

static bool has_idle_worker(const cuzk_engine *engine)
{
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        const cuzk_device *device = &engine->devices[d];
        if (is_used(device) &&
            (cuzk_stage_is_idle(&device->workers) || cuzk_stage_is_idle(&device->express))) {
            return true;
        }
    }
    return false;
}

/* Whether the device has nothing to do, and could make a part of the unit as things are. */
static bool may_help(const cuzk_engine *engine, unsigned d, const cuzk_unit *unit)
{
    const cuzk_device *device = &engine->devices[d];
    return (int)d != unit->device && is_used(device) && cuzk_device_load(device) == 0 &&
           cuzk_stage_is_idle(&device->workers) && device->memory.cap > 0 &&
           unit->job->slot->devices[d].is_loaded && cuzk_device_has_free(engine, d, unit);
}

cuzk_device *cuzk_device_helper(cuzk_engine *engine, const cuzk_unit *unit)
{
    bool is_needed = engine->n_ahead > 0 || engine->units.n > 0; /* others will want it at once */
    for (unsigned d = 0; d < engine->options.n_devices && !is_needed; d++) {
        if (may_help(engine, d, unit)) {
            return &engine->devices[d];
        }
    }
    return NULL;
}

/* The first unit in the order of all heads of queues, of those that come after one (NULL: of all).
 * own: the device whose own it is, or -1. Units of one circuit need the same of a device (no kind
 * of proof has bytes of its own for a unit: its workspace is the resident's), so where the first
 * has no place those behind it have none. Of a kind whose jobs differ, one that fits a smaller
 * device would wait behind one that does not. */
static cuzk_unit *next_head(cuzk_engine *engine, int *own, const cuzk_unit *after)
{
    cuzk_unit *best = NULL;
    unsigned d = 0;
    *own = -1;
    for (cuzk_slot *slot = engine->slots; slot != NULL || d < engine->options.n_devices;) {
        bool is_own = slot == NULL;
        cuzk_unit *unit = first_unit(is_own ? &engine->devices[d].ready : &slot->ready);
        if (unit != NULL && (after == NULL || cuzk_order_before(&after->order, &unit->order)) &&
            (best == NULL || cuzk_order_before(&unit->order, &best->order))) {
            best = unit;
            *own = is_own ? (int)d : -1;
        }
        d += is_own;
        slot = is_own ? NULL : slot->next;
    }
    return best;
}

/* Give the first unit that has a place. False: none has. */
static bool give_one(cuzk_engine *engine)
{
    round_of round = {0};
    int own = -1;
    for (cuzk_unit *unit = next_head(engine, &own, NULL); unit != NULL;
         unit = next_head(engine, &own, unit)) {
        int place = own < 0 ? find_place(engine, &round, unit)
                    : may_take(engine, &round, (unsigned)own, unit) ? own
                                                                    : -1;
        if (place >= 0) {
            give(engine, unit, (unsigned)place);
            return true;
        }
    }
    return false;
}

void cuzk_devices_serve(cuzk_engine *engine)
{
    while (engine->n_ahead > 0 && has_idle_worker(engine) && !cuzk_is_finish_full(engine) &&
           give_one(engine)) {
    }
}
