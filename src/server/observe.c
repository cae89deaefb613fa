/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine tells: counted, drawn, and put into words. */
#include "server/daemon.h"

#include <pthread.h>
#include <unistd.h>

static void job_accepted(cuzk_daemon *d, const cuzk_event *e)
{
    CUZK_LOG(d->log, CUZK_LOG_INFO, "job accepted", CUZK_LOG_JOB(e->job_id),
             CUZK_LOG_S("kind", d->kinds[e->kind].name), CUZK_LOG_U("priority", e->priority));
}

static void job_ended(cuzk_daemon *d, const cuzk_event *e)
{
    const char *kind = d->kinds[e->kind].name;
    switch (e->state) {
    case CUZK_JOB_COMPLETED:
        CUZK_LOG(d->log, CUZK_LOG_INFO, "job completed", CUZK_LOG_JOB(e->job_id),
                 CUZK_LOG_S("kind", kind), CUZK_LOG_MS("total_ms", e->value));
        break;
    case CUZK_JOB_CANCELLED:
        CUZK_LOG(d->log, CUZK_LOG_INFO, "job cancelled", CUZK_LOG_JOB(e->job_id),
                 CUZK_LOG_S("kind", kind), CUZK_LOG_S("reason", e->text),
                 CUZK_LOG_MS("total_ms", e->value));
        break;
    default:
        CUZK_LOG(d->log, CUZK_LOG_WARN, "job failed", CUZK_LOG_JOB(e->job_id),
                 CUZK_LOG_S("kind", kind), CUZK_LOG_S("status", cuzk_status_name(e->status)),
                 CUZK_LOG_S("reason", e->text), CUZK_LOG_MS("total_ms", e->value));
        break;
    }
}

static void resident(cuzk_daemon *d, const cuzk_event *e)
{
    if (e->phase == CUZK_EVENT_BEGIN) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "loading parameters", CUZK_LOG_S("circuit", e->text));
    } else if (e->status == CUZK_OK) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "parameters loaded", CUZK_LOG_S("circuit", e->text),
                 CUZK_LOG_U("bytes", e->value));
    } else {
        CUZK_LOG(d->log, CUZK_LOG_WARN, "parameters not loaded", CUZK_LOG_S("circuit", e->text),
                 CUZK_LOG_S("status", cuzk_status_name(e->status)));
    }
}

static const char *device_id(const cuzk_daemon *d, const cuzk_event *e)
{
    bool is_one = e->device >= 0 && (unsigned)e->device < d->devices.n;
    return is_one ? d->devices.devices[e->device].id : "?";
}

static void log_event(cuzk_daemon *d, const cuzk_event *e)
{
    switch (e->id) {
    case CUZK_EVENT_ACCEPTED:
        job_accepted(d, e);
        break;
    case CUZK_EVENT_ENDED:
        job_ended(d, e);
        break;
    case CUZK_EVENT_RESIDENT:
        resident(d, e);
        break;
    case CUZK_EVENT_EVICTED:
        CUZK_LOG(d->log, CUZK_LOG_INFO, "parameters evicted", CUZK_LOG_S("circuit", e->text),
                 CUZK_LOG_U("bytes", e->value));
        break;
    case CUZK_EVENT_RETRY:
        CUZK_LOG(d->log, CUZK_LOG_WARN, "partition is proved again", CUZK_LOG_JOB(e->job_id),
                 CUZK_LOG_I("partition", e->unit), CUZK_LOG_I("device", e->device),
                 CUZK_LOG_S("reason", e->text));
        break;
    case CUZK_EVENT_DEVICE_OUT:
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "device is no longer used",
                 CUZK_LOG_S("device", device_id(d, e)), CUZK_LOG_S("reason", e->text));
        break;
    case CUZK_EVENT_DEVICE_LOST:
        CUZK_LOG(d->log, CUZK_LOG_WARN, "device is lost and will be begun anew",
                 CUZK_LOG_S("device", device_id(d, e)), CUZK_LOG_S("reason", e->text));
        break;
    case CUZK_EVENT_DEVICE_RETRIED:
        CUZK_LOG(d->log, CUZK_LOG_WARN, "device could not be opened",
                 CUZK_LOG_S("device", device_id(d, e)), CUZK_LOG_MS("again_in_ms", e->value),
                 CUZK_LOG_S("reason", e->text));
        break;
    case CUZK_EVENT_DEVICE_DRAINING:
        CUZK_LOG(d->log, CUZK_LOG_INFO, "device is being drained",
                 CUZK_LOG_S("device", device_id(d, e)), CUZK_LOG_U("partitions", e->value));
        break;
    case CUZK_EVENT_DEVICE_DRAINED:
        CUZK_LOG(d->log, CUZK_LOG_INFO, "device is drained", CUZK_LOG_S("device", device_id(d, e)));
        break;
    case CUZK_EVENT_DEVICE_BACK:
        CUZK_LOG(d->log, CUZK_LOG_INFO, "device is used again",
                 CUZK_LOG_S("device", device_id(d, e)));
        break;
    case CUZK_EVENT_DEVICE_RENEWED:
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "device was lost and begun anew",
                 CUZK_LOG_S("device", device_id(d, e)), CUZK_LOG_U("times", e->value),
                 CUZK_LOG_S("reason", e->text));
        break;
    case CUZK_EVENT_UNIT_DONE:
        CUZK_LOG(d->log, CUZK_LOG_DEBUG, "partition done", CUZK_LOG_JOB(e->job_id),
                 CUZK_LOG_I("partition", e->unit));
        break;
    default:
        break;
    }
}

static void journal(cuzk_daemon *d, const cuzk_event *e)
{
    if (e->status != CUZK_OK) {
        cuzk_metrics_observe(d->metrics, e);
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "the journal cannot be written: new work is refused",
                 CUZK_LOG_JOB(e->job_id), CUZK_LOG_S("reason", e->text));
    } else {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "journal", CUZK_LOG_JOB(e->job_id),
                 CUZK_LOG_S("text", e->text));
    }
}

/* Where no device is left because one was lost, a new program may find them well; not where one was
 * drained, which a new program would use, or is just being opened: true then. */
static bool restart_if_none(cuzk_daemon *d)
{
    cuzk_engine_view view;
    cuzk_engine *engine = atomic_load_explicit(&d->whole_engine, memory_order_acquire);
    if (engine == NULL || cuzk_engine_look(engine, &view, false, NULL) != CUZK_OK) {
        return false;
    }
    bool is_left = false, is_opening = false;
    for (unsigned i = 0; i < view.n_devices; i++) {
        cuzk_device_state state = view.devices[i].state;
        is_left = is_left || !view.devices[i].is_out || state == CUZK_DEVICE_DRAINING ||
                  state == CUZK_DEVICE_DRAINED;
        is_opening = is_opening || state == CUZK_DEVICE_OPENING;
    }
    cuzk_engine_view_clear(&view);
    uint64_t one = 1;
    if (!is_left && !is_opening) {
        ssize_t n = write(d->restart_fd, &one, sizeof one);
        (void)n; /* an event's counter takes it */
    }
    return !is_left && is_opening;
}

/* One was lost; or one was not opened for which it was waited when the last other one was lost. */
static void device_failed(cuzk_daemon *d, const cuzk_event *e)
{
    static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;
    bool is_lost = e->id == CUZK_EVENT_DEVICE_OUT && e->status == CUZK_E_DEVICE_LOST;
    if (is_lost || e->id == CUZK_EVENT_DEVICE_RETRIED) {
        pthread_mutex_lock(&one_by_one);
        if (is_lost || d->awaits_opening) {
            d->awaits_opening = restart_if_none(d);
        }
        pthread_mutex_unlock(&one_by_one);
    }
}

void cuzk_daemon_observe(void *user, const cuzk_event *event)
{
    cuzk_daemon *d = user;
    if (event->id == CUZK_EVENT_JOURNAL) {
        journal(d, event);
        return;
    }
    device_failed(d, event);
    cuzk_metrics_observe(d->metrics, event);
    cuzk_timeline_observe(d->timeline, event);
    cuzk_otel_observe(d->server.otel, event);
    if (d->record != NULL) {
        cuzk_record_observe(d->record, event);
    }
    if (event->kind < CUZK_KINDS_MAX) {
        log_event(d, event);
    }
}
