/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/sweep.h"

#include <stdlib.h>

static cuzk_cause no_unit_cause(const cuzk_sweep_engine *e)
{
    return e->n_ready > 0      ? CUZK_CAUSE_HANDOVER
           : e->n_witness > 0  ? CUZK_CAUSE_WITNESS
           : e->n_memory > 0   ? CUZK_CAUSE_MEMORY
           : e->n_resident > 0 ? CUZK_CAUSE_RESIDENT
           : e->n_ahead > 0    ? CUZK_CAUSE_QUEUE
           : e->n_decode > 0   ? CUZK_CAUSE_DECODE
           : e->n_jobs > 0     ? CUZK_CAUSE_TAIL
                               : CUZK_CAUSE_NO_JOB;
}

/* Some worker is inside prove.start and has not had the lane yet. */
static bool is_before(const cuzk_sweep_device *d)
{
    for (size_t w = 0; w < CUZK_ANALYSIS_WORKERS; w++) {
        if (d->workers[w].n_start > 0 && !d->workers[w].had_lane) {
            return true;
        }
    }
    return false;
}

static cuzk_cause cause_of(const cuzk_sweep *s, const cuzk_sweep_device *d)
{
    if (d->n_up > 0 || d->n_down > 0) {
        return CUZK_CAUSE_COPY;
    }
    if (d->n_lane > 0) {
        return !d->had_kernel                ? CUZK_CAUSE_BEFORE
               : s->now >= d->last_kernel_ns ? CUZK_CAUSE_SYNC
                                             : CUZK_CAUSE_BETWEEN;
    }
    if (d->n_wait > 0) {
        return CUZK_CAUSE_LANE;
    }
    if (d->n_start > 0) {
        return is_before(d) ? CUZK_CAUSE_BEFORE : CUZK_CAUSE_AFTER;
    }
    return no_unit_cause(&s->engine);
}

void cuzk_sweep_end_gap(cuzk_sweep *s, size_t device)
{
    cuzk_sweep_device *d = &s->devices[device];
    cuzk_device_analysis *a = &s->out->devices[device];
    if (!d->in_gap) {
        return;
    }
    d->in_gap = false;
    uint64_t ns = d->gap.end_ns - d->gap.begin_ns;
    a->n_gaps++;
    a->gap_total_ns += ns;
    a->longest_ns = ns > a->longest_ns ? ns : a->longest_ns;
    if (ns < s->options->gap_ns) {
        return;
    }
    if (s->out->n_gaps == s->gaps_room) {
        size_t room = s->gaps_room == 0 ? 256 : 2 * s->gaps_room;
        cuzk_gap *more = realloc(s->out->gaps, room * sizeof *more);
        if (more == NULL) {
            s->failed = true;
            return;
        }
        s->out->gaps = more;
        s->gaps_room = room;
    }
    s->out->gaps[s->out->n_gaps++] = d->gap;
}

static void add_use(cuzk_use *to, const cuzk_sweep_device *d, uint64_t ns)
{
    to->kernel += d->n_kernels > 0 ? ns : 0;
    to->copy_up += d->n_up > 0 ? ns : 0;
    to->copy_down += d->n_down > 0 ? ns : 0;
    to->lane += d->n_lane > 0 ? ns : 0;
    for (size_t w = 0; w < CUZK_ANALYSIS_WORKERS; w++) {
        to->worker += d->workers[w].n_start > 0 ? ns : 0;
    }
}

static void add_workers(cuzk_device_analysis *a, const cuzk_sweep_device *d, uint64_t ns)
{
    for (size_t w = 0; w < CUZK_ANALYSIS_WORKERS; w++) {
        const cuzk_sweep_worker *state = &d->workers[w];
        if (state->n_start <= 0) {
            continue;
        }
        cuzk_worker_use *use = &a->workers[w];
        use->busy_ns += ns;
        if (state->n_lane > 0) {
            use->lane_ns += ns;
        } else if (state->n_wait > 0) {
            use->lane_wait_ns += ns;
        } else {
            use->host_ns += ns;
            use->host_under_ns += d->n_kernels > 0 ? ns : 0;
        }
    }
}

/* The state held from s->now to `to`, all inside one slice. */
static void add_device(cuzk_sweep *s, size_t index, uint64_t to)
{
    cuzk_sweep_device *d = &s->devices[index];
    cuzk_device_analysis *a = &s->out->devices[index];
    uint64_t ns = to - s->now;
    add_use(&a->use, d, ns);
    add_use(&a->slices[(s->now - s->out->begin_ns) / s->out->slice_ns], d, ns);
    add_workers(a, d, ns);
    if (d->n_kernels > 0) {
        a->copy_under_ns += d->n_up > 0 || d->n_down > 0 ? ns : 0;
        cuzk_sweep_end_gap(s, index);
        return;
    }
    if (!d->in_gap) {
        d->in_gap = true;
        d->gap = (cuzk_gap){.device = (unsigned)index, .begin_ns = s->now};
    }
    cuzk_cause cause = cause_of(s, d);
    d->gap.end_ns = to;
    d->gap.cause_ns[cause] += ns;
    a->cause_ns[cause] += ns;
    if (a->slice_causes != NULL) {
        a->slice_causes[(s->now - s->out->begin_ns) / s->out->slice_ns][cause] += ns;
    }
    if (d->n_lane > 0 && d->n_wait > 0) {
        a->blocked_ns[cause] += ns;
        d->gap.blocked_ns += ns;
    }
}

/* Time goes on to `to`, slice by slice; what lies outside the range is not counted. */
void cuzk_sweep_go_to(cuzk_sweep *s, uint64_t to)
{
    uint64_t begin = s->out->begin_ns;
    uint64_t end = s->out->end_ns;
    if (s->now < begin) {
        s->now = to < begin ? to : begin;
    }
    while (s->now < to && s->now < end) {
        uint64_t slice_end = begin + ((s->now - begin) / s->out->slice_ns + 1) * s->out->slice_ns;
        uint64_t next = slice_end < to ? slice_end : to;
        next = next < end ? next : end;
        for (size_t i = 0; i < s->out->n_devices; i++) {
            add_device(s, i, next);
        }
        s->now = next;
    }
    s->now = to > s->now ? to : s->now;
}
