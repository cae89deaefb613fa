/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the streams of a device spend their time on, by device events: each mark ends the span
 * before it on its stream and begins one of its own kind. An event is put on a stream only where
 * the kind changes, so that marking costs about a microsecond a change. Spans are told by the
 * host's clock: events that the host waits for, at the beginning and at the end of a proof, tie the
 * two clocks together; what they differ by in between is the drift. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_TIMES_H
#define CUZK_BACKEND_CUDA_DEVICE_TIMES_H

#include "backend/cuda/driver.h"

typedef enum {
    CUZK_TIME_WAIT = 0,       /* the stream is empty: the host computes or waits for its turn */
    CUZK_TIME_UPLOAD = 1,     /* host to device */
    CUZK_TIME_DOWNLOAD = 2,   /* device to host */
    CUZK_TIME_ROWS = 3,       /* rows times witness */
    CUZK_TIME_TRANSFORMS = 4, /* transforms, and products of their values */
    CUZK_TIME_SORT = 5,       /* digits, sort of entries, lists of ones */
    CUZK_TIME_PAIRS = 6,      /* which points of a bucket are added */
    CUZK_TIME_GATHERED = 7,   /* additions of bases, and their images */
    CUZK_TIME_INVERSES = 8, /* the inversions that additions share; beside them points are copied */
    CUZK_TIME_ADDITIONS = 9,  /* additions of sums */
    CUZK_TIME_REDUCTION = 10, /* buckets to windows; last points of a sum */
    CUZK_TIME_LANE = 11,      /* host: uploaded, and the lane is another's */
    CUZK_TIME_FINISH = 12,    /* host: windows are put together */
    CUZK_TIME_KERNELS = 13,   /* any kernel of ROWS … REDUCTION runs, on any stream */
    CUZK_TIME_KINDS = 14
} cuzk_time_kind;

typedef struct {
    cuzk_time_kind kind;
    unsigned stream;           /* streams are numbered in the order of their first marks */
    uint64_t begin_ns, end_ns; /* cuzk_now_ns */
} cuzk_device_span;

/* How well the device's clock is known. */
typedef struct {
    uint64_t error_ns; /* spans are no farther off than this, but for the drift's own changes */
    double drift_ppm;  /* how much faster the host's clock runs; 0 where that cannot be told */
} cuzk_device_clock_fit;

/* For one thread at a time. */
typedef struct cuzk_device_times cuzk_device_times;

/** Returned: free with cuzk_device_times_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_device_times_create(cuzk_device_times **out, const cuzk_cuda_api *api,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. The context that marked is current; nothing marked may be running. */
void cuzk_device_times_destroy(cuzk_device_times *times);

/** Compare the clocks by events on an idle stream, about 50 microseconds. Before the first mark
 *  after a take, and again after the last one; without it spans begin at 0. Waits for the stream.
 *  Errors: E_DEVICE, E_MEMORY. */
cuzk_status cuzk_device_times_calibrate(cuzk_device_times *times, CUstream stream,
                                        cuzk_error *err) CUZK_WARN_UNUSED;

/** From here on the stream is at work of this kind. times NULL: nothing happens.
 *  Errors: E_DEVICE, E_MEMORY; E_INTERNAL for more than 16 streams. */
cuzk_status cuzk_device_times_mark(cuzk_device_times *times, cuzk_time_kind kind, CUstream stream,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Milliseconds of each kind since the last take, those of all streams added up, and of KERNELS,
 *  the union of the kernels' spans. The span of a stream's last mark has not ended and is left out;
 *  LANE and FINISH are 0. Waits for what is marked. Errors: E_DEVICE, E_MEMORY. */
cuzk_status cuzk_device_times_take(cuzk_device_times *times, float ms[CUZK_TIME_KINDS],
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Forget the marks after the last take, as of work that failed. */
void cuzk_device_times_drop(cuzk_device_times *times);

/** The spans of the last take, until the next one. fit: may be NULL. */
const cuzk_device_span *cuzk_device_times_spans(const cuzk_device_times *times, size_t *n,
                                                cuzk_device_clock_fit *fit);

/** Whether a span is a kernel's. */
static inline bool cuzk_time_is_kernel(cuzk_time_kind kind)
{
    return kind >= CUZK_TIME_ROWS && kind <= CUZK_TIME_REDUCTION;
}

/** Nanoseconds in which at least one of the spans is a kernel's. Orders the spans by their begin.
 */
uint64_t cuzk_device_spans_active_ns(cuzk_device_span *spans, size_t n);

/** "sort", for reports. */
const char *cuzk_time_kind_name(cuzk_time_kind kind);

#endif
