/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices that come and go: one that is lost is begun anew, again and again; one that failed too
 * often is taken out; callers drain and add them.
 *
 * Whatever its state, a device that is not used gets no unit, and what runs there ends. Once all
 * its threads have left it, one of them tends it: takes everything off, and then opens it, where it
 * was lost or is to be added. So commands only note what is wanted. */
#include "engine/inner.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Times that a unit may lose its device: one that does so always would keep it busy for ever. */
enum { LOST_MAX = 3 };

static const uint64_t RETRY_MAX_NS = UINT64_C(300000000000);

/* Tell of a device. Gives the lock away meanwhile. text: NULL: what is its reason. */
static void tell(cuzk_engine *engine, cuzk_event_id id, unsigned d, uint64_t value,
                 cuzk_status status, const char *text)
{
    char copy[sizeof engine->devices[d].reason]; /* it may change while the observer reads */
    snprintf(copy, sizeof copy, "%s", text != NULL ? text : engine->devices[d].reason);
    cuzk_event event = {.id = id,
                        .phase = CUZK_EVENT_INSTANT,
                        .ns = cuzk_now_ns(),
                        .unit = -1,
                        .device = (int)d,
                        .worker = -1,
                        .value = value,
                        .status = status,
                        .text = copy};
    cuzk_engine_step_out(engine);
    cuzk_observe(engine, &event);
    pthread_mutex_lock(&engine->lock);
}

/* One that was used and is lost counts as used until beginning it anew has failed once, even where
 * somebody adds it meanwhile. Units that wait for it alone go elsewhere; those who wait for its
 * state look at it again. */
static void enter_state(cuzk_engine *engine, unsigned d, cuzk_device_state state)
{
    cuzk_device *device = &engine->devices[d];
    bool is_counted =
        state == CUZK_DEVICE_USED ||
        ((state == CUZK_DEVICE_LOST || state == CUZK_DEVICE_OPENING) && device->is_counted);
    if (is_counted != device->is_counted) {
        engine->n_devices += is_counted ? 1 : -1U;
        device->is_counted = is_counted;
    }
    bool was_used = device->state == CUZK_DEVICE_USED;
    device->state = state;
    device->since_ns = cuzk_now_ns();
    if (was_used != (state == CUZK_DEVICE_USED)) {
        cuzk_devices_requeue(engine);
    }
    pthread_cond_broadcast(&device->changed);
}

static void set_reason(cuzk_device *device, const char *fmt, ...) CUZK_PRINTF(2, 3);
static void set_reason(cuzk_device *device, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(device->reason, sizeof device->reason, fmt, args);
    va_end(args);
}

bool cuzk_devices_may_come(const cuzk_engine *engine)
{
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        if (engine->devices[d].state != CUZK_DEVICE_OUT) {
            return true;
        }
    }
    return false;
}

/* ---- inside ---------------------------------------------------------------------------------- */

void cuzk_device_enter(cuzk_engine *engine, unsigned d)
{
    cuzk_device *device = &engine->devices[d];
    while (device->is_tended) {
        pthread_cond_wait(&device->changed, &engine->lock);
    }
    device->n_inside++;
}

void cuzk_device_leave(cuzk_engine *engine, unsigned d)
{
    engine->devices[d].n_inside--;
}

/* ---- lost, and out --------------------------------------------------------------------------- */

bool cuzk_device_blame(cuzk_engine *engine, unsigned d, const char *why)
{
    cuzk_device *device = &engine->devices[d];
    device->n_faults++;
    if (device->state != CUZK_DEVICE_USED || device->n_faults < engine->options.device_faults) {
        return false;
    }
    set_reason(device, "%u faults, the last one: %s", device->n_faults, why);
    device->needs_open = true;
    enter_state(engine, d, CUZK_DEVICE_OUT);
    return true;
}

/* The pause before it is begun anew: none at first. */
static uint64_t pause_of(const cuzk_engine *engine, const cuzk_device *device)
{
    uint64_t ns = engine->options.retry_ns;
    for (unsigned i = 1; i < device->n_tries && ns < RETRY_MAX_NS; i++) {
        ns *= 2;
    }
    return device->n_tries == 0 ? 0 : ns < RETRY_MAX_NS ? ns : RETRY_MAX_NS;
}

static uint64_t set_retry(cuzk_engine *engine, cuzk_device *device)
{
    uint64_t pause_ns = pause_of(engine, device);
    device->retry_ns = cuzk_now_ns() + pause_ns;
    cuzk_timer_engine(engine, device->retry_ns);
    return pause_ns;
}

/* A device that is drained stays so: it is only not to be trusted any more. */
void cuzk_device_handle_loss(cuzk_engine *engine, unsigned d, const char *why)
{
    cuzk_device *device = &engine->devices[d];
    device->needs_open = true;
    if (device->state != CUZK_DEVICE_USED) {
        return;
    }
    set_reason(device, "lost: %s", why);
    enter_state(engine, d, CUZK_DEVICE_LOST);
    (void)set_retry(engine, device);
    tell(engine, CUZK_EVENT_DEVICE_LOST, d, device->n_renewals, CUZK_E_DEVICE_LOST, NULL);
}

void cuzk_device_lost(cuzk_engine *engine, const cuzk_thread *thread, cuzk_unit *unit,
                      cuzk_error *err)
{
    unsigned d = thread->device;
    if (err->status != CUZK_OK) {
        cuzk_device_handle_loss(engine, d, err->text);
    }
    if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
        return;
    }
    unit->attempts--;
    if (err->status == CUZK_OK) {
        (void)CUZK_FAIL(err, CUZK_E_DEVICE_LOST, "%s is lost", engine->devices[d].id);
    } else if (++unit->n_lost > LOST_MAX) {
        unit->attempts = engine->options.attempts; /* no more */
        err->status = CUZK_E_DEVICE;
        cuzk_unit_failed(engine, unit, "proving, each time with the device lost,", err);
        return;
    }
    cuzk_unit_again(engine, unit, err);
}

/* ---- missing from the start ------------------------------------------------------------------ */

void cuzk_device_set_missing(cuzk_engine *engine, unsigned d, const char *why)
{
    cuzk_device *device = &engine->devices[d];
    set_reason(device, "%s", why);
    device->is_counted = false;
    engine->n_devices--;
    device->needs_open = true;
    device->n_tries = 1; /* whoever told so has tried: there is a pause before the next time */
    device->state = CUZK_DEVICE_LOST;
    device->retry_ns = UINT64_MAX; /* until all threads are there */
}

void cuzk_devices_await_missing(cuzk_engine *engine)
{
    cuzk_engine_lock(engine);
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        cuzk_device *device = &engine->devices[d];
        if (device->state == CUZK_DEVICE_LOST && device->retry_ns == UINT64_MAX) {
            uint64_t pause_ns = set_retry(engine, device);
            tell(engine, CUZK_EVENT_DEVICE_RETRIED, d, pause_ns, CUZK_E_DEVICE, NULL);
        }
    }
    cuzk_engine_unlock(engine);
}

/* ---- tending --------------------------------------------------------------------------------- */

/* Nobody uses them. Gives the lock away meanwhile. */
static void take_all_off(cuzk_engine *engine, unsigned d)
{
    for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        cuzk_slot_device *on = &slot->devices[d];
        if (!on->is_loaded) {
            continue;
        }
        on->is_loaded = false;
        on->is_leaving = true;
        slot->n_users++; /* stays where it is */
        pthread_mutex_unlock(&engine->lock);
        slot->work->device_evict(slot->work->user, slot->resident, d);
        pthread_mutex_lock(&engine->lock);
        slot->n_users--;
        on->is_leaving = false;
        pthread_cond_broadcast(&engine->devices[d].changed);
        engine->devices[d].memory.reserved -= slot->device_bytes;
    }
}

/* Gives the lock away meanwhile. */
static cuzk_status open_anew(cuzk_engine *engine, unsigned d, cuzk_error *err)
{
    const cuzk_engine_options *o = &engine->options;
    pthread_mutex_unlock(&engine->lock);
    cuzk_status status = cuzk_fault_at(CUZK_FAULT_OPEN, (int)d, err);
    if (status == CUZK_OK) {
        status = o->renew != NULL ? o->renew(o->renew_user, d, err)
                                  : CUZK_FAIL(err, CUZK_E_DEVICE, "it cannot be begun anew");
    }
    pthread_mutex_lock(&engine->lock);
    return status;
}

/* A lost one that is there again. */
static void come_back(cuzk_engine *engine, unsigned d)
{
    cuzk_device *device = &engine->devices[d];
    char why[sizeof device->reason];
    snprintf(why, sizeof why, "%s", device->reason);
    bool was_lost = device->state == CUZK_DEVICE_LOST;
    device->needs_open = false;
    device->reason[0] = '\0';
    if (was_lost) {
        device->n_renewals++;
    } else { /* as asked */
        device->n_faults = 0;
        device->n_tries = 0;
    }
    enter_state(engine, d, CUZK_DEVICE_USED);
    tell(engine, was_lost ? CUZK_EVENT_DEVICE_RENEWED : CUZK_EVENT_DEVICE_BACK, d,
         device->n_renewals, CUZK_OK, was_lost ? why : "");
}

/* One that is not: a lost one is tried again later, any other is as it was before. */
static void stay_away(cuzk_engine *engine, unsigned d, const char *why)
{
    cuzk_device *device = &engine->devices[d];
    bool was_asked = device->state == CUZK_DEVICE_OPENING;
    bool is_first = device->is_counted;
    device->is_counted = false;
    engine->n_devices -= is_first;
    cuzk_device_state state = was_asked ? device->before : CUZK_DEVICE_LOST;
    if (state == CUZK_DEVICE_LOST) {
        set_reason(device, "lost, and not begun anew: %s", why);
    } else {
        set_reason(device, "not opened: %s", why);
        device->wants_used = state != CUZK_DEVICE_DRAINED;
    }
    enter_state(engine, d, state);
    if (!cuzk_devices_may_come(engine)) {
        cuzk_units_fail_tried(engine);
    }
    uint64_t pause_ns = state == CUZK_DEVICE_LOST ? set_retry(engine, device) : 0;
    tell(engine, is_first ? CUZK_EVENT_DEVICE_OUT : CUZK_EVENT_DEVICE_RETRIED, d, pause_ns,
         is_first ? CUZK_E_DEVICE_LOST : CUZK_E_DEVICE, NULL);
}

/* Before anything else: what was wanted of it may have changed while it was tended. */
static void end_tending(cuzk_engine *engine, unsigned d)
{
    cuzk_device *device = &engine->devices[d];
    device->is_tended = false;
    pthread_cond_broadcast(&device->changed);
}

static void end_opening(cuzk_engine *engine, unsigned d, cuzk_status status, const cuzk_error *err)
{
    cuzk_device *device = &engine->devices[d];
    device->n_tries++;
    device->n_opened++;
    end_tending(engine, d);
    if (!device->wants_used) { /* drained meanwhile: what is open is closed */
        device->needs_open = true;
        enter_state(engine, d, CUZK_DEVICE_DRAINING);
    } else if (status == CUZK_OK) {
        come_back(engine, d);
    } else {
        stay_away(engine, d, err->text);
    }
}

static void end_draining(cuzk_engine *engine, unsigned d)
{
    cuzk_device *device = &engine->devices[d];
    device->needs_open = true;
    end_tending(engine, d);
    if (device->wants_used) { /* added meanwhile */
        device->before = CUZK_DEVICE_DRAINED;
        enter_state(engine, d, CUZK_DEVICE_OPENING);
        return;
    }
    enter_state(engine, d, CUZK_DEVICE_DRAINED);
    tell(engine, CUZK_EVENT_DEVICE_DRAINED, d, 0, CUZK_OK, NULL);
}

void cuzk_device_tend(cuzk_engine *engine, unsigned d)
{
    cuzk_device *device = &engine->devices[d];
    take_all_off(engine, d);
    if (device->state == CUZK_DEVICE_DRAINING) {
        end_draining(engine, d);
    } else {
        cuzk_error err = {0};
        cuzk_status status = open_anew(engine, d, &err);
        end_opening(engine, d, status, &err);
    }
}

void cuzk_devices_tend(cuzk_engine *engine)
{
    for (unsigned d = 0; d < engine->options.n_devices; d++) {
        cuzk_device *device = &engine->devices[d];
        if (device->state == CUZK_DEVICE_USED || device->is_tended || device->n_inside > 0 ||
            cuzk_device_load(device) > 0 || !cuzk_stage_is_idle(&device->workers)) {
            continue;
        }
        bool is_due = device->state == CUZK_DEVICE_DRAINING ||
                      device->state == CUZK_DEVICE_OPENING ||
                      (device->state == CUZK_DEVICE_LOST && device->retry_ns <= cuzk_now_ns());
        if (is_due) {
            device->is_tended = true;
            cuzk_stage_give(&device->workers, device);
        } else if (device->state == CUZK_DEVICE_LOST) {
            cuzk_timer_engine(engine, device->retry_ns);
        }
    }
}

/* ---- as asked -------------------------------------------------------------------------------- */

cuzk_status cuzk_engine_device_find(const cuzk_engine *engine, unsigned *device, const char *name,
                                    cuzk_error *err)
{
    bool is_number = name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
    char list[256] = "";
    size_t n = 0;
    int found = -1;
    for (unsigned d = 0; d < engine->options.n_devices; d++) { /* ids do not change */
        const char *id = engine->devices[d].id;
        const char *colon = strrchr(id, ':');
        bool is_it =
            strcmp(id, name) == 0 || (is_number && colon != NULL && strcmp(colon + 1, name) == 0);
        CUZK_FAIL_IF(is_it && found >= 0, err, CUZK_E_ARGUMENT,
                     "device %s may be %s or %s: name one of them", name, engine->devices[found].id,
                     id);
        found = is_it ? (int)d : found;
        n += n < sizeof list
                 ? (size_t)snprintf(list + n, sizeof list - n, "%s%s", d > 0 ? ", " : "", id)
                 : 0;
    }
    CUZK_FAIL_IF(found < 0, err, CUZK_E_NOT_FOUND, "there is no device \"%.64s\": there %s %s",
                 name, engine->options.n_devices == 1 ? "is" : "are", list);
    *device = (unsigned)found;
    return CUZK_OK;
}

const char *cuzk_engine_device_id(const cuzk_engine *engine, unsigned device)
{
    return engine->devices[device].id; /* does not change */
}

static cuzk_status check_index(const cuzk_engine *engine, unsigned d, cuzk_error *err)
{
    CUZK_FAIL_IF(d >= engine->options.n_devices, err, CUZK_E_ARGUMENT,
                 "there is no device %u: there are %u", d, engine->options.n_devices);
    return CUZK_OK;
}

/* A caller comes and goes. The engine does not end before: in between it gives the lock away. */
static void begin_call(cuzk_engine *engine)
{
    cuzk_engine_lock(engine);
    engine->n_callers++;
}

static void end_call(cuzk_engine *engine)
{
    engine->n_callers--;
    pthread_cond_broadcast(&engine->quiet);
    cuzk_engine_unlock(engine);
}

/* Before a caller waits for the device's state. */
static void begin_wait(cuzk_engine *engine)
{
    cuzk_schedule(engine);
    cuzk_clerk_remind(engine);
}

static cuzk_status wait_drained(cuzk_engine *engine, cuzk_device *device, cuzk_error *err)
{
    begin_wait(engine);
    while (!device->wants_used && device->state != CUZK_DEVICE_DRAINED && !engine->is_stopping) {
        pthread_cond_wait(&device->changed, &engine->lock);
    }
    CUZK_FAIL_IF(device->wants_used, err, CUZK_E_CANCELLED,
                 "device %s was added again before it was drained", device->id);
    CUZK_FAIL_IF(device->state != CUZK_DEVICE_DRAINED, err, CUZK_E_UNAVAILABLE,
                 "draining device %s: the server ends", device->id);
    return CUZK_OK;
}

cuzk_status cuzk_engine_device_drain(cuzk_engine *engine, cuzk_device_state *was, unsigned d,
                                     bool wait, cuzk_error *err)
{
    CUZK_TRY(check_index(engine, d, err));
    begin_call(engine);
    cuzk_device *device = &engine->devices[d];
    *was = device->state;
    bool is_new = device->state != CUZK_DEVICE_DRAINING && device->state != CUZK_DEVICE_DRAINED;
    device->wants_used = false;
    if (is_new) {
        set_reason(device, "as asked");
        if (!device->is_tended) { /* else whoever tends it sees to it */
            enter_state(engine, d, CUZK_DEVICE_DRAINING);
        }
        pthread_cond_broadcast(&device->changed);
        tell(engine, CUZK_EVENT_DEVICE_DRAINING, d, cuzk_device_load(device), CUZK_OK, NULL);
    }
    cuzk_status status = wait ? wait_drained(engine, device, err) : CUZK_OK;
    end_call(engine);
    return status;
}

static cuzk_status wait_used(cuzk_engine *engine, cuzk_device *device, cuzk_error *err)
{
    unsigned n_opened = device->n_opened;
    begin_wait(engine);
    while (device->wants_used && device->state != CUZK_DEVICE_USED &&
           (device->n_opened == n_opened || device->is_tended ||
            device->state == CUZK_DEVICE_OPENING) &&
           !engine->is_stopping) {
        pthread_cond_wait(&device->changed, &engine->lock);
    }
    CUZK_FAIL_IF(!device->wants_used && device->n_opened == n_opened, err, CUZK_E_CANCELLED,
                 "device %s was drained again before it was added", device->id);
    if (device->state == CUZK_DEVICE_USED) {
        return CUZK_OK;
    }
    CUZK_FAIL_IF(device->n_opened == n_opened, err, CUZK_E_UNAVAILABLE,
                 "adding device %s: the server ends", device->id);
    return CUZK_FAIL(err, CUZK_E_DEVICE, "device %s is not used: %s", device->id, device->reason);
}

cuzk_status cuzk_engine_device_add(cuzk_engine *engine, cuzk_device_state *was, unsigned d,
                                   bool wait, cuzk_error *err)
{
    CUZK_TRY(check_index(engine, d, err));
    begin_call(engine);
    cuzk_device *device = &engine->devices[d];
    *was = device->state;
    device->wants_used = true;
    pthread_cond_broadcast(&device->changed);
    if (device->state == CUZK_DEVICE_DRAINING && !device->is_tended && !device->needs_open) {
        come_back(engine, d); /* its context and what is there is well */
    } else if (device->state != CUZK_DEVICE_USED && device->state != CUZK_DEVICE_OPENING &&
               (device->state != CUZK_DEVICE_DRAINING || !device->is_tended)) {
        /* a lost one that is just being begun anew, too: so it shows when that ends, and how */
        device->before =
            device->state == CUZK_DEVICE_DRAINING ? CUZK_DEVICE_DRAINED : device->state;
        enter_state(engine, d, CUZK_DEVICE_OPENING);
    }
    cuzk_status status = wait ? wait_used(engine, device, err) : CUZK_OK;
    end_call(engine);
    return status;
}
