/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* GetStatus, from the engine's picture of the instant. */
#include "server/rpc_status.h"

#include "server/rpc_wire.h"
#include "server/status_jobs.h"

#include <stdlib.h>

static unsigned tier_of(cuzk_resident_state state)
{
    enum { HOT, WARM, COLD };
    switch (state) {
    case CUZK_RESIDENT_READY:
        return HOT;
    case CUZK_RESIDENT_STREAMING:
    case CUZK_RESIDENT_EVICTING:
        return WARM;
    case CUZK_RESIDENT_LOADING:
        break;
    }
    return COLD;
}

static const char *kind_name(const cuzk_engine_kind *kinds, unsigned kind)
{
    return kind < CUZK_KINDS_MAX ? kinds[kind].name : NULL;
}

/* Jobs that wait: in no message of other daemons, and skipped by clients that do not know them. */
static void put_waiting(cuzk_text *out, const cuzk_engine_view *view, const cuzk_engine_kind *kinds)
{
    unsigned n = 0;
    const cuzk_job_view **queued = cuzk_status_queued(view, &n);
    out->failed = out->failed || queued == NULL;
    cuzk_text part = {0}, words = {0};
    for (unsigned i = 0; i < n && i < CUZK_STATUS_JOBS_MAX; i++) {
        const cuzk_wait_view *wait = &queued[i]->wait;
        cuzk_wait_text(&words, wait, view);
        cuzk_wire_put_text(&part, 1, queued[i]->job_id);
        cuzk_wire_put_text(&part, 2, kind_name(kinds, queued[i]->kind));
        cuzk_wire_put_text(&part, 3, cuzk_wait_label(wait->reason));
        cuzk_wire_put_text(&part, 4, words.data);
        cuzk_wire_put_number(&part, 5, wait->needed_bytes);
        cuzk_wire_put_number(&part, 6, wait->free_bytes);
        out->failed = out->failed || words.failed;
        cuzk_text_clear(&words);
        cuzk_wire_put_message(out, 100, &part);
    }
    free(queued);
}

void cuzk_status_message(cuzk_text *out, const cuzk_engine_view *view,
                         const cuzk_engine_kind *kinds)
{
    cuzk_text part = {0};
    for (unsigned i = 0; i < view->n_workers; i++) {
        const cuzk_worker_view *worker = &view->workers[i];
        const cuzk_device_view *device = &view->devices[worker->device];
        uint64_t used = device->reserved_bytes < device->memory_bytes ? device->reserved_bytes
                                                                      : device->memory_bytes;
        cuzk_wire_put_number(&part, 1, worker->device);
        cuzk_wire_put_text(&part, 2, device->name);
        cuzk_wire_put_number(&part, 3, device->memory_bytes);
        cuzk_wire_put_number(&part, 4, device->memory_bytes - used);
        if (worker->is_busy) {
            cuzk_wire_put_text(&part, 5, worker->job_id);
            cuzk_wire_put_text(&part, 6, kind_name(kinds, worker->kind));
        }
        cuzk_wire_put_message(out, 1, &part);
    }
    for (unsigned i = 0; i < view->n_residents; i++) {
        const cuzk_resident_view *resident = &view->residents[i];
        cuzk_wire_put_text(&part, 1, resident->circuit);
        cuzk_wire_put_number(&part, 2, tier_of(resident->state));
        cuzk_wire_put_number(&part, 3, resident->bytes);
        cuzk_wire_put_number(&part, 4, resident->n_users);
        cuzk_wire_put_message(out, 2, &part);
    }
    uint64_t completed = 0, failed = 0;
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        unsigned pending = view->kinds[k].pending, in_progress = view->kinds[k].in_progress;
        completed += view->kinds[k].completed;
        failed += view->kinds[k].failed;
        if (kinds[k].name != NULL && pending + in_progress > 0) {
            cuzk_wire_put_text(&part, 1, kinds[k].name);
            cuzk_wire_put_number(&part, 2, pending);
            cuzk_wire_put_number(&part, 3, in_progress);
            cuzk_wire_put_message(out, 3, &part);
        }
    }
    cuzk_wire_put_number(out, 4, completed);
    cuzk_wire_put_number(out, 5, failed);
    cuzk_wire_put_number(out, 6, view->uptime_ns / 1000000000u);
    cuzk_wire_put_number(out, 7, view->reserved_bytes);
    cuzk_wire_put_number(out, 8, view->budget_bytes);
    put_waiting(out, view, kinds);
}
