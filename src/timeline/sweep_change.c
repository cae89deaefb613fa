/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/sweep.h"

/* How often a job stands in a list. */
static size_t count_of(const cuzk_sweep_jobs *list, uint64_t job)
{
    const uint64_t *sorted = list->jobs;
    size_t n = list->n;
    size_t from = 0;
    for (size_t step = n; step > 0;) { /* the first that is not less */
        size_t half = step / 2;
        if (sorted[from + half] < job) {
            from += half + 1;
            step -= half + 1;
        } else {
            step = half;
        }
    }
    size_t to = from;
    while (to < n && sorted[to] == job) {
        to++;
    }
    return to - from;
}

/* The recording knows when the job was accepted: its units are counted. */
static bool is_known_job(const cuzk_sweep *s, uint64_t job)
{
    return count_of(&s->ended, job) > 0 || count_of(&s->accepted, job) > 0;
}

static int64_t partitions(const cuzk_timespan *span)
{
    return span->value < INT16_MAX ? (int64_t)span->value : INT16_MAX;
}

static void change_worker(cuzk_sweep *s, const cuzk_timespan *span, cuzk_sweep_device *d, int by)
{
    cuzk_sweep_worker none = {0};
    bool is_known = span->worker >= 0 && span->worker < CUZK_ANALYSIS_WORKERS;
    cuzk_sweep_worker *w = is_known ? &d->workers[span->worker] : &none;
    switch (span->name) {
    case CUZK_SPAN_PROVE_START:
    case CUZK_SPAN_PROVE_HELP:
        d->n_start += by;
        w->n_start += by;
        w->had_lane = false;
        if (span->name == CUZK_SPAN_PROVE_HELP) { /* the unit is another device's */
            break;
        }
        if (by < 0 && s->now >= s->out->begin_ns && s->now <= s->out->end_ns) {
            cuzk_device_analysis *a = &s->out->devices[span->device];
            a->n_units++;
            a->workers[is_known ? span->worker : 0].n_units++;
        }
        if (by > 0 && is_known_job(s, span->job)) {
            s->engine.n_ahead--;
        }
        break;
    case CUZK_SPAN_LANE_WAIT:
        d->n_wait += by;
        w->n_wait += by;
        break;
    default: /* lane */
        d->n_lane += by;
        w->n_lane += by;
        w->had_lane = w->had_lane || by > 0;
        break;
    }
}

static void change_device(cuzk_sweep *s, const cuzk_timespan *span, int by)
{
    cuzk_sweep_device *d = &s->devices[span->device];
    if (cuzk_span_is_kernel(span->name)) {
        d->n_kernels += by;
        d->had_kernel = d->had_kernel || by > 0;
    } else if (span->name == CUZK_SPAN_COPY_UP) {
        d->n_up += by;
    } else if (span->name == CUZK_SPAN_COPY_DOWN) {
        d->n_down += by;
    } else {
        change_worker(s, span, d, by);
    }
    if (span->name == CUZK_SPAN_LANE && by > 0) {
        d->had_kernel = false;
        d->last_kernel_ns = s->last_kernels[s->n_lanes++];
    }
}

static void change_engine(cuzk_sweep *s, const cuzk_timespan *span, int by)
{
    cuzk_sweep_engine *e = &s->engine;
    switch (span->name) {
    case CUZK_SPAN_WAIT_WORKER:
        e->n_ready += by;
        break;
    case CUZK_SPAN_WITNESS:
        e->n_witness += by;
        break;
    case CUZK_SPAN_WAIT_MEMORY:
        e->n_memory += by;
        break;
    case CUZK_SPAN_RESIDENT_LOAD:
        e->n_resident += by;
        break;
    case CUZK_SPAN_DECODE:
        e->n_decode += by;
        break;
    default: /* job: a failed or cancelled one ends with units that no worker took */
        e->n_jobs += by;
        e->n_ahead += by > 0 ? partitions(span)
                             : (int64_t)count_of(&s->started, span->job) -
                                   (int64_t)count_of(&s->retried, span->job) - partitions(span);
        break;
    }
}

/* The worst of a device, from the whole recording: a proof's spans may be told before it ends. */
static void take_clock(cuzk_analysis *out, const cuzk_timespan *span)
{
    if (span->device < 0 || (size_t)span->device >= out->n_devices) {
        return;
    }
    cuzk_device_analysis *d = &out->devices[span->device];
    d->has_clock = true;
    d->clock_error_ns = span->value > d->clock_error_ns ? span->value : d->clock_error_ns;
}

void cuzk_sweep_change(cuzk_sweep *s, const cuzk_timespan *span, int by)
{
    switch (span->name) {
    case CUZK_SPAN_JOB_ACCEPTED:
        if (by > 0 && count_of(&s->ended, span->job) == 0) {
            s->engine.n_jobs++; /* never ends here */
            s->engine.n_ahead += partitions(span);
        }
        break;
    case CUZK_SPAN_RETRY: /* a worker will take it once more */
        s->engine.n_ahead += by > 0 && is_known_job(s, span->job) ? 1 : 0;
        break;
    case CUZK_SPAN_UNIT_DONE:
        s->out->n_units_done +=
            by > 0 && span->begin_ns >= s->out->begin_ns && span->begin_ns <= s->out->end_ns;
        break;
    case CUZK_SPAN_DEVICE_CLOCK:
        take_clock(s->out, span);
        break;
    case CUZK_SPAN_EVICTED:
    case CUZK_SPAN_DEVICE_LOAD: /* it is inside resident.load, or prove.start */
    case CUZK_SPAN_DEVICE_OUT:
    case CUZK_SPAN_DEVICE_LOST:
    case CUZK_SPAN_DEVICE_DRAINING:
    case CUZK_SPAN_DEVICE_DRAINED:
    case CUZK_SPAN_DEVICE_BACK:
    case CUZK_SPAN_PROVE_FINISH:
    case CUZK_SPAN_VERIFY:
        break;
    case CUZK_SPAN_JOB:
        s->out->n_jobs_ended +=
            by < 0 && span->end_ns >= s->out->begin_ns && span->end_ns <= s->out->end_ns;
        change_engine(s, span, by);
        break;
    case CUZK_SPAN_DECODE:
    case CUZK_SPAN_RESIDENT_LOAD:
    case CUZK_SPAN_WAIT_MEMORY:
    case CUZK_SPAN_WITNESS:
    case CUZK_SPAN_WAIT_WORKER:
        change_engine(s, span, by);
        break;
    default:
        if (span->device >= 0) {
            change_device(s, span, by);
        }
        break;
    }
}
