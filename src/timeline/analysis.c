/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One sweep over all begins and ends in order of time. Between two of them nothing changes, and the
 * time between is added where the state says. */
#include "timeline/sort.h"
#include "timeline/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLICES_MAX = 1 << 20 };

static const cuzk_span_name of_jobs[] = {CUZK_SPAN_PROVE_START, CUZK_SPAN_RETRY,
                                         CUZK_SPAN_JOB_ACCEPTED, CUZK_SPAN_JOB};

/* Where a span of this name is listed, or NULL. */
static cuzk_sweep_jobs *list_of(cuzk_sweep *s, uint16_t name)
{
    return name == CUZK_SPAN_PROVE_START    ? &s->started
           : name == CUZK_SPAN_RETRY        ? &s->retried
           : name == CUZK_SPAN_JOB_ACCEPTED ? &s->accepted
           : name == CUZK_SPAN_JOB          ? &s->ended
                                            : NULL;
}

static bool get_lists(cuzk_sweep *s)
{
    size_t n[CUZK_SPAN_NAMES] = {0};
    for (size_t i = 0; i < s->recording->n_spans; i++) {
        n[s->recording->spans[i].name]++;
    }
    bool has_memory = true;
    for (size_t i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++) {
        cuzk_sweep_jobs *list = list_of(s, of_jobs[i]);
        list->jobs = malloc((n[of_jobs[i]] + 1) * sizeof *list->jobs);
        has_memory = has_memory && list->jobs != NULL;
    }
    return has_memory;
}

/* What the sweep must know before it comes to it: each hold's last kernel, how often a job's units
 * were taken, which jobs end. */
static void look_ahead(cuzk_sweep *s)
{
    const cuzk_recording *r = s->recording;
    size_t hold[CUZK_RECORDING_DEVICES]; /* number of the device's last lane span */
    uint64_t hold_end[CUZK_RECORDING_DEVICES] = {0};
    size_t n_lanes = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *span = &r->spans[i];
        cuzk_sweep_jobs *list = list_of(s, span->name);
        if (list != NULL) {
            list->jobs[list->n++] = span->job;
        }
        if (span->device < 0) {
            continue;
        }
        if (span->name == CUZK_SPAN_LANE) {
            hold[span->device] = n_lanes;
            hold_end[span->device] = span->end_ns;
            s->last_kernels[n_lanes++] = 0;
        } else if (cuzk_span_is_kernel(span->name) && span->begin_ns < hold_end[span->device]) {
            uint64_t *last = &s->last_kernels[hold[span->device]];
            *last = span->end_ns > *last ? span->end_ns : *last;
        }
        cuzk_device_analysis *a = &s->out->devices[span->device];
        if (span->begin_ns >= s->out->begin_ns && span->begin_ns < s->out->end_ns) {
            a->n_kernels += cuzk_span_is_kernel(span->name);
            a->n_copies += span->name == CUZK_SPAN_COPY_UP || span->name == CUZK_SPAN_COPY_DOWN;
            a->up_bytes += span->name == CUZK_SPAN_COPY_UP ? span->value : 0;
            a->down_bytes += span->name == CUZK_SPAN_COPY_DOWN ? span->value : 0;
        }
        if (span->worker >= 0 && span->worker < CUZK_ANALYSIS_WORKERS &&
            (unsigned)span->worker >= a->n_workers) {
            a->n_workers = (unsigned)span->worker + 1;
        }
    }
    for (size_t i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++) {
        cuzk_sweep_jobs *list = list_of(s, of_jobs[i]);
        cuzk_numbers_sort(list->jobs, list->n);
    }
}

/* Ends before begins of the same moment, so that what follows without a break has none. */
static void run(cuzk_sweep *s, const cuzk_place *ends)
{
    const cuzk_recording *r = s->recording;
    size_t begin = 0;
    for (size_t end = 0; end < r->n_spans; end++) {
        while (begin < r->n_spans && r->spans[begin].begin_ns < ends[end].ns) {
            cuzk_sweep_go_to(s, r->spans[begin].begin_ns);
            cuzk_sweep_change(s, &r->spans[begin++], 1);
        }
        cuzk_sweep_go_to(s, ends[end].ns);
        cuzk_sweep_change(s, &r->spans[ends[end].span], -1);
    }
    while (begin < r->n_spans) { /* instants of the last moment */
        cuzk_sweep_change(s, &r->spans[begin++], 1);
    }
    cuzk_sweep_go_to(s, s->out->end_ns);
    for (size_t i = 0; i < s->out->n_devices; i++) {
        cuzk_sweep_end_gap(s, i);
    }
}

static cuzk_status prepare(cuzk_analysis *out, const cuzk_recording *r,
                           const cuzk_analysis_options *options, cuzk_error *err)
{
    bool is_whole = options->begin_ns == 0 && options->end_ns == 0;
    out->begin_ns = is_whole ? r->begin_ns : options->begin_ns;
    out->end_ns = is_whole ? r->end_ns : options->end_ns;
    out->slice_ns = options->slice_ns != 0 ? options->slice_ns : 1000000000;
    CUZK_FAIL_IF(out->end_ns < out->begin_ns, err, CUZK_E_ARGUMENT,
                 "analysing a recording from %" PRIu64 " to %" PRIu64 " ns: the range is empty",
                 out->begin_ns, out->end_ns);
    uint64_t ns = out->end_ns - out->begin_ns;
    out->slice_ns = out->slice_ns < ns + 1 ? out->slice_ns : ns + 1; /* its end is a time, too */
    uint64_t n_slices = ns / out->slice_ns + (ns % out->slice_ns != 0);
    CUZK_FAIL_IF(n_slices > SLICES_MAX, err, CUZK_E_ARGUMENT,
                 "analysing a recording: %" PRIu64 " slices of %" PRIu64 " ns, at most %d",
                 n_slices, out->slice_ns, SLICES_MAX);
    out->n_slices = n_slices;
    out->n_devices = r->n_devices;
    out->devices = calloc(out->n_devices + 1, sizeof *out->devices);
    CUZK_FAIL_IF(out->devices == NULL, err, CUZK_E_MEMORY, "analysing a recording: out of memory");
    for (size_t i = 0; i < out->n_devices; i++) {
        unsigned n_workers = r->devices[i].n_workers;
        out->devices[i].n_workers =
            n_workers < CUZK_ANALYSIS_WORKERS ? n_workers : CUZK_ANALYSIS_WORKERS;
        out->devices[i].slices = calloc(n_slices + 1, sizeof *out->devices[i].slices);
        bool has_memory = out->devices[i].slices != NULL;
        if (options->with_slice_causes) {
            out->devices[i].slice_causes =
                calloc(n_slices + 1, sizeof *out->devices[i].slice_causes);
            has_memory = has_memory && out->devices[i].slice_causes != NULL;
        }
        CUZK_FAIL_IF(!has_memory, err, CUZK_E_MEMORY, "analysing a recording: out of memory");
    }
    return CUZK_OK;
}

static cuzk_status analyse(cuzk_analysis *out, const cuzk_recording *r, cuzk_sweep *s,
                           cuzk_error *err)
{
    size_t n = r->n_spans + 1;
    cuzk_place *ends = malloc(n * sizeof *ends);
    cuzk_place *other = malloc(n * sizeof *other);
    s->last_kernels = malloc(n * sizeof *s->last_kernels);
    s->devices = calloc(out->n_devices + 1, sizeof *s->devices);
    bool has_memory = ends != NULL && other != NULL && s->last_kernels != NULL &&
                      s->devices != NULL && get_lists(s);
    if (has_memory) {
        for (size_t i = 0; i < r->n_spans; i++) {
            ends[i] = (cuzk_place){r->spans[i].end_ns, i};
        }
        look_ahead(s);
        run(s, cuzk_places_sort(ends, other, r->n_spans));
    }
    free(ends);
    free(other);
    free(s->last_kernels);
    for (size_t i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++) {
        free(list_of(s, of_jobs[i])->jobs);
    }
    free(s->devices);
    CUZK_FAIL_IF(!has_memory || s->failed, err, CUZK_E_MEMORY,
                 "analysing a recording of %zu spans: out of memory", r->n_spans);
    return CUZK_OK;
}

cuzk_status cuzk_analyse(cuzk_analysis *out, const cuzk_recording *recording,
                         const cuzk_analysis_options *options, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    cuzk_status status = prepare(out, recording, options, err);
    if (status == CUZK_OK) {
        cuzk_sweep s = {.recording = recording, .out = out, .options = options, .now = 0};
        status = analyse(out, recording, &s, err);
    }
    if (status != CUZK_OK) {
        cuzk_analysis_clear(out);
    }
    return status;
}

void cuzk_analysis_clear(cuzk_analysis *analysis)
{
    for (size_t i = 0; analysis->devices != NULL && i < analysis->n_devices; i++) {
        free(analysis->devices[i].slices);
        free(analysis->devices[i].slice_causes);
    }
    free(analysis->devices);
    free(analysis->gaps);
    memset(analysis, 0, sizeof *analysis);
}
