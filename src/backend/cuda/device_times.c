/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events are kept and used again: a proof has about as many marks as the one before. */
#include "backend/cuda/device_times.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    CUevent event;
    cuzk_time_kind kind;
} mark;

struct cuzk_device_times {
    const cuzk_cuda_api *api;
    mark *marks;
    size_t n_marks, n_events, n_room; /* marks in use; entries with an event; entries */
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

void cuzk_device_times_destroy(cuzk_device_times *t)
{
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->n_events; i++) {
        (void)CUZK_CU(t->api, cuEventDestroy)(t->marks[i].event);
    }
    free(t->marks);
    free(t);
}

static cuzk_status make_event(cuzk_device_times *t, cuzk_error *err)
{
    if (t->n_events == t->n_room) {
        size_t n_room = t->n_room == 0 ? 256 : 2 * t->n_room;
        mark *marks = realloc(t->marks, n_room * sizeof *marks);
        CUZK_FAIL_IF(marks == NULL, err, CUZK_E_MEMORY, "measuring device times: out of memory");
        t->marks = marks;
        t->n_room = n_room;
    }
    CUZK_CUDA_TRY(t->api, err, cuEventCreate, (&t->marks[t->n_events].event, CU_EVENT_DEFAULT));
    t->n_events++;
    return CUZK_OK;
}

cuzk_status cuzk_device_times_mark(cuzk_device_times *t, cuzk_time_kind kind, CUstream stream,
                                   cuzk_error *err)
{
    if (t == NULL || (t->n_marks > 0 && t->marks[t->n_marks - 1].kind == kind)) {
        return CUZK_OK;
    }
    if (t->n_marks == t->n_events) {
        CUZK_TRY(make_event(t, err));
    }
    CUZK_CUDA_TRY(t->api, err, cuEventRecord, (t->marks[t->n_marks].event, stream));
    t->marks[t->n_marks++].kind = kind;
    return CUZK_OK;
}

cuzk_status cuzk_device_times_take(cuzk_device_times *t, float ms[CUZK_TIME_KINDS], cuzk_error *err)
{
    memset(ms, 0, CUZK_TIME_KINDS * sizeof *ms);
    size_t n = t->n_marks;
    t->n_marks = 0;
    if (n == 0) {
        return CUZK_OK;
    }
    CUZK_CUDA_TRY(t->api, err, cuEventSynchronize, (t->marks[n - 1].event));
    for (size_t i = 1; i < n; i++) {
        float span = 0;
        CUZK_CUDA_TRY(t->api, err, cuEventElapsedTime,
                      (&span, t->marks[i - 1].event, t->marks[i].event));
        ms[t->marks[i - 1].kind] += span;
    }
    return CUZK_OK;
}

void cuzk_device_times_drop(cuzk_device_times *t)
{
    t->n_marks = 0;
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
    };
    return names[kind];
}
