/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events are kept and used again: a proof has about as many marks as the one before. */
#include "backend/cuda/device_times.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = 16, COMPARISONS = 3 };
static const double SHORT = 1e-4, DRIFT_MOST = 1e-3;

typedef struct {
    CUevent event;
    cuzk_time_kind kind;
    unsigned stream;
} mark;

/* An event and when it was, by the host's clock: host_ns, give or take half_ns. */
typedef struct {
    CUevent event;
    uint64_t host_ns, half_ns;
} anchor;

struct cuzk_device_times {
    const cuzk_cuda_api *api;
    mark *marks;
    size_t n_marks, n_events, n_room; /* marks in use; entries with an event; entries */
    CUstream streams[STREAMS_MAX];
    cuzk_time_kind now[STREAMS_MAX]; /* kinds of their last marks */
    unsigned n_streams;
    anchor anchors[2]; /* of the begin and of the end */
    CUevent spare;     /* exchanged with an anchor's event that turns out better */
    unsigned n_anchors;
    cuzk_device_span *spans; /* room for n_room */
    size_t n_spans, n_spans_room;
    cuzk_device_clock_fit fit;
};

cuzk_status cuzk_device_times_create(cuzk_device_times **out, const cuzk_cuda_api *api,
                                     cuzk_error *err)
{
    cuzk_device_times *t = calloc(1, sizeof *t);
    CUZK_FAIL_IF(t == NULL, err, CUZK_E_MEMORY, "measuring device times: out of memory");
    t->api = api;
    *out = t;
    return CUZK_OK;
}

static void destroy_event(const cuzk_device_times *t, CUevent event)
{
    if (event != NULL) {
        (void)CUZK_CU(t->api, cuEventDestroy)(event);
    }
}

void cuzk_device_times_destroy(cuzk_device_times *t)
{
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->n_events; i++) {
        destroy_event(t, t->marks[i].event);
    }
    destroy_event(t, t->anchors[0].event);
    destroy_event(t, t->anchors[1].event);
    destroy_event(t, t->spare);
    free(t->marks);
    free(t->spans);
    free(t);
}

static cuzk_status make_event(const cuzk_device_times *t, CUevent *event, cuzk_error *err)
{
    if (*event == NULL) {
        CUZK_CUDA_TRY(t->api, err, cuEventCreate, (event, CU_EVENT_DEFAULT));
    }
    return CUZK_OK;
}

static cuzk_status make_room(cuzk_device_times *t, cuzk_error *err)
{
    if (t->n_events == t->n_room) {
        size_t n_room = t->n_room == 0 ? 256 : 2 * t->n_room;
        mark *marks = realloc(t->marks, n_room * sizeof *marks);
        CUZK_FAIL_IF(marks == NULL, err, CUZK_E_MEMORY, "measuring device times: out of memory");
        t->marks = marks;
        t->n_room = n_room;
    }
    t->marks[t->n_events].event = NULL;
    CUZK_TRY(make_event(t, &t->marks[t->n_events].event, err));
    t->n_events++;
    return CUZK_OK;
}

static cuzk_status compare_once(cuzk_device_times *t, anchor *best, CUstream stream,
                                cuzk_error *err)
{
    anchor a = {.event = t->spare};
    uint64_t before = cuzk_now_ns();
    CUZK_CUDA_TRY(t->api, err, cuEventRecord, (a.event, stream));
    CUZK_CUDA_TRY(t->api, err, cuEventSynchronize, (a.event));
    uint64_t after = cuzk_now_ns();
    a.half_ns = (after - before) / 2;
    a.host_ns = before + a.half_ns;
    if (best->half_ns == 0 || a.half_ns < best->half_ns) {
        t->spare = best->event;
        *best = a;
    }
    return CUZK_OK;
}

cuzk_status cuzk_device_times_calibrate(cuzk_device_times *t, CUstream stream, cuzk_error *err)
{
    if (t == NULL) {
        return CUZK_OK;
    }
    anchor *a = &t->anchors[t->n_anchors == 0 ? 0 : 1];
    a->half_ns = 0;
    CUZK_TRY(make_event(t, &a->event, err));
    CUZK_TRY(make_event(t, &t->spare, err));
    CUZK_CUDA_TRY(t->api, err, cuStreamSynchronize, (stream));
    for (int i = 0; i < COMPARISONS; i++) {
        CUZK_TRY(compare_once(t, a, stream, err));
    }
    t->n_anchors = t->n_anchors == 0 ? 1 : 2;
    return CUZK_OK;
}

static cuzk_status number_of(cuzk_device_times *t, unsigned *number, CUstream stream,
                             cuzk_error *err)
{
    unsigned i = 0;
    while (i < t->n_streams && t->streams[i] != stream) {
        i++;
    }
    CUZK_FAIL_IF(i == STREAMS_MAX, err, CUZK_E_INTERNAL,
                 "measuring device times: more than %d streams", STREAMS_MAX);
    if (i == t->n_streams) {
        t->streams[t->n_streams++] = stream;
        t->now[i] = CUZK_TIME_KINDS;
    }
    *number = i;
    return CUZK_OK;
}

cuzk_status cuzk_device_times_mark(cuzk_device_times *t, cuzk_time_kind kind, CUstream stream,
                                   cuzk_error *err)
{
    unsigned number = 0;
    if (t == NULL) {
        return CUZK_OK;
    }
    CUZK_TRY(number_of(t, &number, stream, err));
    if (t->now[number] == kind) {
        return CUZK_OK;
    }
    if (t->n_marks == t->n_events) {
        CUZK_TRY(make_room(t, err));
    }
    CUZK_CUDA_TRY(t->api, err, cuEventRecord, (t->marks[t->n_marks].event, stream));
    t->marks[t->n_marks].kind = kind;
    t->marks[t->n_marks++].stream = number;
    t->now[number] = kind;
    return CUZK_OK;
}

/* ---- spans ---- */

/* The begin of the device's time and how the host's clock runs beside it. */
static cuzk_status fit_clocks(cuzk_device_times *t, CUevent *origin, double *origin_ns,
                              double *slope, cuzk_error *err)
{
    const anchor *a = t->anchors;
    t->fit = (cuzk_device_clock_fit){0};
    *origin = t->n_anchors > 0 ? a[0].event : t->marks[0].event;
    *origin_ns = t->n_anchors > 0 ? (double)a[0].host_ns : 0;
    *slope = 1;
    if (t->n_anchors == 0) {
        return CUZK_OK;
    }
    t->fit.error_ns = a[0].half_ns;
    float ms = 0;
    if (t->n_anchors == 2) {
        CUZK_CUDA_TRY(t->api, err, cuEventElapsedTime, (&ms, a[0].event, a[1].event));
        t->fit.error_ns = a[1].half_ns > a[0].half_ns ? a[1].half_ns : a[0].half_ns;
    }
    double host_ns = (double)a[1].host_ns - (double)a[0].host_ns, device_ns = 1e6 * (double)ms;
    double drift = device_ns > 0 ? host_ns / device_ns - 1 : 1;
    /* in a short time the comparisons' error is larger than any drift of clocks */
    if (t->n_anchors == 2 && (double)t->fit.error_ns < SHORT * host_ns &&
        fabs(drift) < DRIFT_MOST) {
        *slope = 1 + drift;
        t->fit.drift_ppm = drift * 1e6;
    }
    return CUZK_OK;
}

static cuzk_status make_spans(cuzk_device_times *t, cuzk_error *err)
{
    CUevent origin;
    double origin_ns, slope;
    CUZK_TRY(fit_clocks(t, &origin, &origin_ns, &slope, err));
    if (t->n_spans_room < t->n_marks) {
        cuzk_device_span *spans = realloc(t->spans, t->n_room * sizeof *spans);
        CUZK_FAIL_IF(spans == NULL, err, CUZK_E_MEMORY, "measuring device times: out of memory");
        t->spans = spans;
        t->n_spans_room = t->n_room;
    }
    cuzk_device_span *open[STREAMS_MAX] = {NULL};
    for (size_t i = 0; i < t->n_marks; i++) {
        const mark *m = &t->marks[i];
        float ms = 0;
        CUZK_CUDA_TRY(t->api, err, cuEventSynchronize, (m->event));
        CUZK_CUDA_TRY(t->api, err, cuEventElapsedTime, (&ms, origin, m->event));
        uint64_t at = (uint64_t)(origin_ns + slope * 1e6 * (double)ms);
        if (open[m->stream] != NULL) {
            open[m->stream]->end_ns = at;
        }
        cuzk_device_span *span = &t->spans[t->n_spans++];
        *span = (cuzk_device_span){.kind = m->kind, .stream = m->stream, .begin_ns = at};
        open[m->stream] = span;
    }
    size_t n = 0; /* without those that have not ended */
    for (size_t i = 0; i < t->n_spans; i++) {
        if (&t->spans[i] != open[t->spans[i].stream]) {
            t->spans[n++] = t->spans[i];
        }
    }
    t->n_spans = n;
    return CUZK_OK;
}

void cuzk_device_times_drop(cuzk_device_times *t)
{
    t->n_marks = 0;
    t->n_anchors = 0;
    t->n_streams = 0;
}

cuzk_status cuzk_device_times_take(cuzk_device_times *t, float ms[CUZK_TIME_KINDS], cuzk_error *err)
{
    memset(ms, 0, CUZK_TIME_KINDS * sizeof *ms);
    t->n_spans = 0;
    cuzk_status status = t->n_marks > 0 ? make_spans(t, err) : CUZK_OK;
    cuzk_device_times_drop(t);
    if (status != CUZK_OK) {
        t->n_spans = 0;
        return status;
    }
    for (size_t i = 0; i < t->n_spans; i++) {
        ms[t->spans[i].kind] += (float)(t->spans[i].end_ns - t->spans[i].begin_ns) / 1e6f;
    }
    ms[CUZK_TIME_KERNELS] = (float)cuzk_device_spans_active_ns(t->spans, t->n_spans) / 1e6f;
    return CUZK_OK;
}

const cuzk_device_span *cuzk_device_times_spans(const cuzk_device_times *t, size_t *n,
                                                cuzk_device_clock_fit *fit)
{
    *n = t->n_spans;
    if (fit != NULL) {
        *fit = t->fit;
    }
    return t->spans;
}

static int compare_begins(const void *a, const void *b)
{
    uint64_t x = ((const cuzk_device_span *)a)->begin_ns,
             y = ((const cuzk_device_span *)b)->begin_ns;
    return (x > y) - (x < y);
}

uint64_t cuzk_device_spans_active_ns(cuzk_device_span *spans, size_t n)
{
    uint64_t active = 0, until = 0; /* covered so far */
    if (n > 0) {
        qsort(spans, n, sizeof *spans, compare_begins);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t from = spans[i].begin_ns > until ? spans[i].begin_ns : until;
        if (cuzk_time_is_kernel(spans[i].kind) && spans[i].end_ns > from) {
            active += spans[i].end_ns - from;
            until = spans[i].end_ns;
        }
    }
    return active;
}

const char *cuzk_time_kind_name(cuzk_time_kind kind)
{
    static const char *const names[CUZK_TIME_KINDS] = {
        [CUZK_TIME_WAIT] = "wait",
        [CUZK_TIME_UPLOAD] = "upload",
        [CUZK_TIME_DOWNLOAD] = "download",
        [CUZK_TIME_ROWS] = "rows",
        [CUZK_TIME_TRANSFORMS] = "transforms",
        [CUZK_TIME_SORT] = "sort",
        [CUZK_TIME_PAIRS] = "pairs",
        [CUZK_TIME_GATHERED] = "additions of bases",
        [CUZK_TIME_INVERSES] = "inversions",
        [CUZK_TIME_ADDITIONS] = "additions of sums",
        [CUZK_TIME_REDUCTION] = "reduction",
        [CUZK_TIME_LANE] = "lane wait",
        [CUZK_TIME_FINISH] = "finish",
        [CUZK_TIME_KERNELS] = "kernels",
    };
    return names[kind];
}
