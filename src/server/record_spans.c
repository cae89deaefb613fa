/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/record_spans.h"

#include "timeline/recorder.h"

enum { OPEN_KERNEL = CUZK_EVENT_COUNT }; /* beside the events' own */

/* begin and end are on one thread */
static _Thread_local uint64_t began_ns[CUZK_EVENT_COUNT];
static _Thread_local int open_slots[CUZK_EVENT_COUNT + 1]; /* of cuzk_recent_begin, and 1 more */

static cuzk_timespan span_of(const cuzk_event *e, cuzk_span_name name, uint64_t begin_ns)
{
    return (cuzk_timespan){.begin_ns = begin_ns,
                           .end_ns = e->ns,
                           .job = e->job,
                           .value = e->value,
                           .name = (uint16_t)name,
                           .unit = (int16_t)e->unit,
                           .device = (int8_t)e->device,
                           .worker = (int8_t)e->worker,
                           .kind = (uint8_t)e->kind,
                           .priority = (uint8_t)e->priority,
                           .status = (uint8_t)e->status};
}

static void put(cuzk_timespan span)
{
    cuzk_recorder_put(&span);
}

static void put_text(cuzk_timespan span, const char *text)
{
    span.text = text != NULL ? cuzk_recorder_text(text) : 0;
    cuzk_recorder_put(&span);
}

static void put_job(const cuzk_record_spans *record, const cuzk_event *e)
{
    bool has_ended = e->id == CUZK_EVENT_ENDED;
    cuzk_timespan span = span_of(e, has_ended ? CUZK_SPAN_JOB : CUZK_SPAN_JOB_ACCEPTED,
                                 has_ended ? e->since_ns : e->ns);
    span.value = e->n_units;
    put_text(span, e->job_id);
    if (record->recent != NULL && has_ended) {
        cuzk_recent_job_ended(record->recent, e->job);
    } else if (record->recent != NULL) {
        cuzk_recent_job(record->recent, &span);
    }
}

cuzk_timespan cuzk_record_wait_span(const cuzk_event *e)
{
    bool is_ready = e->id == CUZK_EVENT_PROVE_START || e->is_ready;
    cuzk_timespan span =
        span_of(e, is_ready ? CUZK_SPAN_WAIT_WORKER : CUZK_SPAN_WAIT_MEMORY, e->since_ns);
    span.device = span.worker = -1; /* no thread works on it */
    return span;
}

/* What waited until now. */
static void put_wait(const cuzk_event *e)
{
    if (e->since_ns != 0) {
        put(cuzk_record_wait_span(e));
    }
}

static bool is_cpu_lane(const cuzk_record_spans *record, const cuzk_event *e)
{
    return e->id == CUZK_EVENT_LANE && e->device >= 0 && record->cpu_devices[e->device];
}

static void put_lane(const cuzk_record_spans *record, const cuzk_event *e, uint64_t begin_ns)
{
    put(span_of(e, CUZK_SPAN_LANE, begin_ns));
    if (is_cpu_lane(record, e)) {
        cuzk_timespan span = span_of(e, CUZK_SPAN_KERNEL_CPU, begin_ns);
        span.worker = -1;
        put(span);
    }
}

/* A span has ended that began at begin_ns. */
static void put_end(const cuzk_record_spans *record, const cuzk_event *e, uint64_t begin_ns)
{
    switch (e->id) {
    case CUZK_EVENT_DECODE:
        put(span_of(e, CUZK_SPAN_DECODE, begin_ns));
        break;
    case CUZK_EVENT_RESIDENT:
        put_text(span_of(e, CUZK_SPAN_RESIDENT_LOAD, begin_ns), e->text);
        break;
    case CUZK_EVENT_WITNESS:
        put(span_of(e, CUZK_SPAN_WITNESS, begin_ns));
        break;
    case CUZK_EVENT_PROVE_START:
        put(span_of(e, CUZK_SPAN_PROVE_START, begin_ns));
        break;
    case CUZK_EVENT_PROVE_HELP:
        put(span_of(e, CUZK_SPAN_PROVE_HELP, begin_ns));
        break;
    case CUZK_EVENT_LANE_WAIT:
        put(span_of(e, CUZK_SPAN_LANE_WAIT, begin_ns));
        break;
    case CUZK_EVENT_LANE:
        put_lane(record, e, begin_ns);
        break;
    case CUZK_EVENT_PROVE_FINISH:
        put(span_of(e, CUZK_SPAN_PROVE_FINISH, begin_ns));
        break;
    case CUZK_EVENT_VERIFY:
        put(span_of(e, CUZK_SPAN_VERIFY, begin_ns));
        break;
    default:
        break;
    }
}

static void put_instant(const cuzk_record_spans *record, const cuzk_event *e)
{
    switch (e->id) {
    case CUZK_EVENT_RECOVERED:
    case CUZK_EVENT_ACCEPTED:
    case CUZK_EVENT_ENDED:
        put_job(record, e);
        break;
    case CUZK_EVENT_WAITING:
        put_wait(e);
        break;
    case CUZK_EVENT_EVICTED:
        put_text(span_of(e, CUZK_SPAN_EVICTED, e->ns), e->text);
        break;
    case CUZK_EVENT_UNIT_DONE:
        put(span_of(e, CUZK_SPAN_UNIT_DONE, e->ns));
        break;
    case CUZK_EVENT_RETRY:
        put_text(span_of(e, CUZK_SPAN_RETRY, e->ns), e->text);
        break;
    case CUZK_EVENT_DEVICE_OUT:
        put_text(span_of(e, CUZK_SPAN_DEVICE_OUT, e->ns), e->text);
        break;
    case CUZK_EVENT_DEVICE_LOST:
        put_text(span_of(e, CUZK_SPAN_DEVICE_LOST, e->ns), e->text);
        break;
    case CUZK_EVENT_DEVICE_DRAINING:
        put(span_of(e, CUZK_SPAN_DEVICE_DRAINING, e->ns));
        break;
    case CUZK_EVENT_DEVICE_DRAINED:
        put(span_of(e, CUZK_SPAN_DEVICE_DRAINED, e->ns));
        break;
    case CUZK_EVENT_DEVICE_RENEWED:
    case CUZK_EVENT_DEVICE_BACK:
        put(span_of(e, CUZK_SPAN_DEVICE_BACK, e->ns));
        break;
    default:
        break;
    }
}

static cuzk_span_name name_of(cuzk_event_id id)
{
    switch (id) {
    case CUZK_EVENT_DECODE:
        return CUZK_SPAN_DECODE;
    case CUZK_EVENT_RESIDENT:
        return CUZK_SPAN_RESIDENT_LOAD;
    case CUZK_EVENT_WITNESS:
        return CUZK_SPAN_WITNESS;
    case CUZK_EVENT_PROVE_START:
        return CUZK_SPAN_PROVE_START;
    case CUZK_EVENT_PROVE_HELP:
        return CUZK_SPAN_PROVE_HELP;
    case CUZK_EVENT_LANE_WAIT:
        return CUZK_SPAN_LANE_WAIT;
    case CUZK_EVENT_LANE:
        return CUZK_SPAN_LANE;
    case CUZK_EVENT_PROVE_FINISH:
        return CUZK_SPAN_PROVE_FINISH;
    case CUZK_EVENT_VERIFY:
        return CUZK_SPAN_VERIFY;
    default:
        return CUZK_SPAN_NAMES;
    }
}

/* What has begun is told before it ends. */
static void open_span(const cuzk_record_spans *record, const cuzk_event *e)
{
    cuzk_span_name name = name_of(e->id);
    if (record->recent == NULL || name == CUZK_SPAN_NAMES) {
        return;
    }
    cuzk_timespan span = span_of(e, name, e->ns);
    open_slots[e->id] = cuzk_recent_begin(record->recent, &span) + 1;
    if (is_cpu_lane(record, e)) {
        span.name = CUZK_SPAN_KERNEL_CPU;
        span.worker = -1;
        open_slots[OPEN_KERNEL] = cuzk_recent_begin(record->recent, &span) + 1;
    }
}

static void close_span(const cuzk_record_spans *record, const cuzk_event *e)
{
    if (record->recent == NULL) {
        return;
    }
    cuzk_recent_end(record->recent, open_slots[e->id] - 1);
    open_slots[e->id] = 0;
    if (e->id == CUZK_EVENT_LANE) {
        cuzk_recent_end(record->recent, open_slots[OPEN_KERNEL] - 1);
        open_slots[OPEN_KERNEL] = 0;
    }
}

void cuzk_record_put_event(const cuzk_record_spans *record, const cuzk_event *event)
{
    if (event->phase == CUZK_EVENT_BEGIN) {
        began_ns[event->id] = event->ns;
        put_wait(event);
        open_span(record, event);
        if (event->unit >= 0) { /* layers below that know no jobs put spans of their own */
            cuzk_timespan of = span_of(event, CUZK_SPAN_PROVE_START, event->ns);
            cuzk_recorder_work_on(&of);
        }
    } else if (event->phase == CUZK_EVENT_END) {
        put_end(record, event, began_ns[event->id]);
        close_span(record, event);
    } else {
        put_instant(record, event);
    }
}
