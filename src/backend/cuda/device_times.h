/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a stream spends its time on, by device events: each mark ends the span before it and begins
 * one of its own kind. Spans of a kind are added up. An event is put on the stream only where the
 * kind changes, so that marking costs about a microsecond a change. */
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
    CUZK_TIME_GATHERED = 7,   /* additions of bases */
    CUZK_TIME_INVERSES = 8,   /* the inversions that additions share */
    CUZK_TIME_ADDITIONS = 9,  /* additions of sums */
    CUZK_TIME_REDUCTION = 10, /* buckets to windows; last points of a sum */
    CUZK_TIME_KINDS = 11
} cuzk_time_kind;

/* For one stream and one thread at a time. */
typedef struct cuzk_device_times cuzk_device_times;

/** Returned: free with cuzk_device_times_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_device_times_create(cuzk_device_times **out, const cuzk_cuda_api *api,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. The context that marked is current; nothing marked may be running. */
void cuzk_device_times_destroy(cuzk_device_times *times);

/** From here on the stream is at work of this kind. times NULL: nothing happens.
 *  Errors: E_DEVICE, E_MEMORY. */
cuzk_status cuzk_device_times_mark(cuzk_device_times *times, cuzk_time_kind kind, CUstream stream,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Milliseconds of each kind since the first mark after the last take; the span of the last mark
 *  has not ended and is left out. Waits for the last mark. Errors: E_DEVICE. */
cuzk_status cuzk_device_times_take(cuzk_device_times *times, float ms[CUZK_TIME_KINDS],
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Forget the marks after the last take, as of work that failed. */
void cuzk_device_times_drop(cuzk_device_times *times);

/** "sort", for reports. */
const char *cuzk_time_kind_name(cuzk_time_kind kind);

#endif
