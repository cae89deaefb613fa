/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A device that is lost: what was on it is gone, every call fails from then on. The thread that is
 * told so first takes everything off it, waits until the others have left it, and has it begun
 * anew; units go back to the queue. Where it cannot be begun anew it is taken out. */
#include "engine/inner.h"

#include "base/clock.h"

/* Times that a unit may lose its device: one that does so always would keep it busy for ever. */
enum { LOST_MAX = 3 };

static void tell(cuzk_engine *engine, cuzk_event_id id, unsigned d, const char *text)
{
    cuzk_event event = {.id = id,
                        .phase = CUZK_EVENT_INSTANT,
                        .ns = cuzk_now_ns(),
                        .unit = -1,
                        .device = (int)d,
                        .worker = -1,
                        .value = engine->devices[d].n_renewals,
                        .status = CUZK_E_DEVICE_LOST,
                        .text = text};
    pthread_mutex_unlock(&engine->lock);
    cuzk_observe(engine, &event);
    pthread_mutex_lock(&engine->lock);
}

/* What other threads of the device have yet to take off it. Their turn comes after this. */
static void run_all_evictions(cuzk_engine *engine, unsigned d)
{
    for (unsigned i = 0; i < engine->n_threads; i++) {
        cuzk_thread *thread = &engine->threads[i];
        if (thread->evict != NULL && thread->device == d) {
            cuzk_device_run_evictions(engine, thread);
        }
    }
}

/* A resident whose users wait for the device keeps its bytes: the first of them puts it there
 * again. */
static void take_all_off(cuzk_engine *engine, unsigned d)
{
    for (cuzk_slot *slot = engine->slots; slot != NULL; slot = slot->next) {
        cuzk_slot_device *on = &slot->devices[d];
        if (!on->is_loaded) {
            continue;
        }
        on->is_loaded = false;
        slot->n_users++; /* stays where it is */
        pthread_mutex_unlock(&engine->lock);
        slot->work->device_evict(slot->work->user, slot->resident, d);
        pthread_mutex_lock(&engine->lock);
        slot->n_users--;
        if (on->n_users == 0) {
            engine->devices[d].memory.reserved -= slot->device_bytes;
        }
    }
}

/* Nobody is inside, nobody enters. Gives the lock away meanwhile. */
static cuzk_status renew(cuzk_engine *engine, unsigned d, cuzk_error *err)
{
    const cuzk_engine_options *o = &engine->options;
    run_all_evictions(engine, d);
    take_all_off(engine, d);
    run_all_evictions(engine, d); /* those that were noted meanwhile; now nothing is there */
    pthread_mutex_unlock(&engine->lock);
    cuzk_status status = o->renew != NULL
                             ? o->renew(o->renew_user, d, err)
                             : CUZK_FAIL(err, CUZK_E_DEVICE, "it cannot be begun anew");
    pthread_mutex_lock(&engine->lock);
    return status;
}

static void handle_loss(cuzk_engine *engine, unsigned d, const char *why)
{
    cuzk_device *device = &engine->devices[d];
    device->is_renewing = true;
    while (device->n_inside > 0) {
        pthread_cond_wait(&device->loaded, &engine->lock);
    }
    cuzk_error err = {0};
    cuzk_status status = renew(engine, d, &err);
    device->n_renewals++;
    if (status != CUZK_OK) {
        device->is_lost = true;
        cuzk_device_take_out(engine, d, "lost (%s), and not begun anew: %s", why, err.text);
    }
    device->is_renewing = false;
    pthread_cond_broadcast(&device->loaded);
    tell(engine, status == CUZK_OK ? CUZK_EVENT_DEVICE_RENEWED : CUZK_EVENT_DEVICE_OUT, d,
         status == CUZK_OK ? why : device->reason);
}

void cuzk_device_lost(cuzk_engine *engine, cuzk_thread *thread, cuzk_unit *unit,
                      unsigned n_renewals, cuzk_error *err)
{
    unsigned d = thread->device;
    const cuzk_device *device = &engine->devices[d];
    if (device->n_renewals == n_renewals && !device->is_renewing && !device->is_out) {
        handle_loss(engine, d, err->text);
    }
    if (cuzk_unit_is_stopped(unit)) {
        cuzk_unit_discard(engine, unit);
        return;
    }
    unit->attempts--;
    if (err->status == CUZK_OK) {
        (void)CUZK_FAIL(err, CUZK_E_DEVICE_LOST, "%s is lost", device->id);
    } else if (++unit->n_lost > LOST_MAX) {
        unit->attempts = engine->options.attempts; /* no more */
        err->status = CUZK_E_DEVICE;
        cuzk_unit_failed(engine, unit, "proving, each time with the device lost,", err);
        return;
    }
    cuzk_unit_again(engine, unit, err);
}
