/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A key's points on their way to a device: pieces in a fixed order.
 *
 * Through it: again and again, into two places in turn. A thread fills one place while kernels read
 * the other; after the last piece it goes on with the first, so that the next pass finds it there.
 * To stay: each piece goes to a place of its own, once.
 *
 * Where the pinned pool has room for the whole key its pages are pinned and read by the device
 * itself; else pieces pass through small pinned buffers, filled by a few threads; without these
 * they are copied by the driver, which is slowest. */
#ifndef CUZK_BACKEND_CUDA_KEY_STREAM_H
#define CUZK_BACKEND_CUDA_KEY_STREAM_H

#include "backend/cuda/device.h"
#include "backend/cuda/pinned_pool.h"

typedef struct cuzk_key_stream cuzk_key_stream;

typedef struct {
    const void *from;
    size_t n_bytes; /* at most those of a place */
    CUdeviceptr to; /* to stay; 0: the places in turn. The same for all pieces */
} cuzk_stream_piece;

/* Memory that the pieces are in. */
typedef struct {
    const void *data;
    size_t n_bytes;
} cuzk_stream_source;

typedef struct {
    const cuzk_cuda_device *device;
    CUdeviceptr places[2];
    const cuzk_stream_piece *pieces;   /* copied */
    size_t n_pieces;                   /* one at least */
    const cuzk_stream_source *sources; /* whole, to be pinned; copied */
    size_t n_sources;
    cuzk_pinned_pool *pinned; /* NULL: nothing is pinned */
} cuzk_key_stream_params;

typedef enum {
    CUZK_STREAM_PINNED = 0,   /* the device reads the key where it is */
    CUZK_STREAM_BUFFERED = 1, /* through pinned buffers */
    CUZK_STREAM_PAGEABLE = 2,
    CUZK_STREAM_SHARED =
        3 /* through pinned buffers, which other devices copy from, too (key_pass.h) */
} cuzk_stream_way;

/* Since it was made. */
typedef struct {
    cuzk_stream_way way;
    uint64_t n_bytes;      /* that arrived on the device */
    uint64_t n_read_bytes; /* of them read from host memory for it; the rest others had read */
    uint64_t busy_ns;      /* in which they were copied */
    uint64_t waited_ns;    /* in which the caller of next had to wait */
    unsigned n_passes;     /* begun */
} cuzk_stream_stats;

/** Start the thread and, with it, the first piece.
 *
 *  The device, places, pool and the memory of the pieces are borrowed until destroy. Returned: free
 *  with cuzk_key_stream_destroy. Errors: E_MEMORY, E_DEVICE. */
cuzk_status cuzk_key_stream_create(cuzk_key_stream **out, const cuzk_key_stream_params *params,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. No kernel reads a place. */
void cuzk_key_stream_destroy(cuzk_key_stream *stream);

/** Begin a pass through the device, at piece 0; what is left of one that was given up is dropped.
 * One thread at a time for this and next. */
void cuzk_key_stream_begin(cuzk_key_stream *stream);

/** The device address of the next piece of the pass, once it is there. The piece before is given
 * up: nothing reads it any more. Errors: E_DEVICE, also of copies. */
cuzk_status cuzk_key_stream_next(cuzk_key_stream *stream, CUdeviceptr *at,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

cuzk_stream_stats cuzk_key_stream_stats(cuzk_key_stream *stream);

/** "pinned", "through pinned buffers", "pageable", "through shared pinned buffers". */
const char *cuzk_stream_way_name(cuzk_stream_way way);

#endif
