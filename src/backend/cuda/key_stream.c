/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counts of pieces decide whose turn it is: piece number k, counted over all passes, goes to place
 * k mod 2 as soon as piece k - 2 was given up. */
#include "backend/cuda/key_stream.h"

#include "base/clock.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 2, BUFFER_BYTES = 16 << 20, COPY_THREADS = 4 };

struct cuzk_key_stream {
    const cuzk_cuda_device *device;
    CUdeviceptr places[2];
    cuzk_stream_piece *pieces;
    size_t n_pieces;
    cuzk_stream_source *sources;
    size_t n_sources, n_pinned; /* the first n_pinned sources are pinned */
    cuzk_pinned_pool *pinned;
    cuzk_pool *copiers;     /* of the buffered way */
    void *buffers[BUFFERS]; /* pinned */
    CUstream copies;
    CUevent read[BUFFERS]; /* the device has read a buffer */
    pthread_t thread;
    bool has_thread, has_mutex, has_stream;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    uint64_t n_filled, n_taken; /* pieces; the last one taken is in use */
    bool is_filling, is_ending;
    cuzk_error error; /* of a copy; no copy follows until the next pass */
    cuzk_stream_stats stats;
};

const char *cuzk_stream_way_name(cuzk_stream_way way)
{
    return way == CUZK_STREAM_PINNED     ? "pinned"
           : way == CUZK_STREAM_BUFFERED ? "through pinned buffers"
           : way == CUZK_STREAM_SHARED   ? "through shared pinned buffers"
                                         : "pageable";
}

/* ---- copies ---- */

static cuzk_status fill_buffered(const cuzk_key_stream *s, CUdeviceptr to,
                                 const cuzk_stream_piece *piece, cuzk_error *err)
{
    const cuzk_cuda_api *api = s->device->api;
    for (size_t at = 0, k = 0; at < piece->n_bytes; at += BUFFER_BYTES, k++) {
        size_t left = piece->n_bytes - at;
        size_t n_bytes = left < BUFFER_BYTES ? left : BUFFER_BYTES;
        void *buffer = s->buffers[k % BUFFERS];
        if (k >= BUFFERS) {
            CUZK_CUDA_TRY(api, err, cuEventSynchronize, (s->read[k % BUFFERS]));
        }
        cuzk_pool_copy(s->copiers, buffer, (const char *)piece->from + at, n_bytes);
        CUZK_CUDA_TRY(api, err, cuMemcpyHtoDAsync, (to + at, buffer, n_bytes, s->copies));
        CUZK_CUDA_TRY(api, err, cuEventRecord, (s->read[k % BUFFERS], s->copies));
    }
    return CUZK_OK;
}

/* Returns when the piece is on the device. */
static cuzk_status fill(const cuzk_key_stream *s, CUdeviceptr to, const cuzk_stream_piece *piece,
                        cuzk_error *err)
{
    const cuzk_cuda_api *api = s->device->api;
    if (piece->n_bytes == 0) {
        return CUZK_OK;
    }
    if (s->stats.way == CUZK_STREAM_BUFFERED) {
        CUZK_TRY(fill_buffered(s, to, piece, err));
    } else {
        CUZK_CUDA_TRY(api, err, cuMemcpyHtoDAsync, (to, piece->from, piece->n_bytes, s->copies));
    }
    CUZK_CUDA_TRY(api, err, cuStreamSynchronize, (s->copies));
    return CUZK_OK;
}

/* ---- the thread ---- */

static bool may_fill(const cuzk_key_stream *s)
{
    bool stays = s->pieces[0].to != 0;
    uint64_t most = stays ? s->n_pieces : s->n_taken + (s->n_taken == 0 ? 2 : 1);
    return s->error.status == CUZK_OK && s->n_filled < most;
}

static CUdeviceptr place_of(const cuzk_key_stream *s, uint64_t k)
{
    CUdeviceptr to = s->pieces[k % s->n_pieces].to;
    return to != 0 ? to : s->places[k % 2];
}

static void *feed(void *context)
{
    cuzk_key_stream *s = context;
    cuzk_error err = {0};
    cuzk_status status = cuzk_cuda_check(
        s->device->api, CUZK_CU(s->device->api, cuCtxSetCurrent)(s->device->context),
        "cuCtxSetCurrent", __FILE__, __LINE__, &err);
    pthread_mutex_lock(&s->mutex);
    for (;;) {
        while (!s->is_ending && !may_fill(s)) {
            pthread_cond_wait(&s->changed, &s->mutex);
        }
        if (s->is_ending) {
            break;
        }
        uint64_t k = s->n_filled;
        const cuzk_stream_piece *piece = &s->pieces[k % s->n_pieces];
        s->is_filling = true;
        pthread_mutex_unlock(&s->mutex);
        uint64_t from_ns = cuzk_now_ns();
        status = status != CUZK_OK ? status : fill(s, place_of(s, k), piece, &err);
        uint64_t ns = cuzk_now_ns() - from_ns;
        pthread_mutex_lock(&s->mutex);
        s->is_filling = false;
        if (status == CUZK_OK) {
            s->n_filled++;
            s->stats.n_bytes += piece->n_bytes;
            s->stats.n_read_bytes += piece->n_bytes;
            s->stats.busy_ns += ns;
        } else {
            s->error = err;
            s->error.status = status;
        }
        status = CUZK_OK;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

void cuzk_key_stream_begin(cuzk_key_stream *s)
{
    pthread_mutex_lock(&s->mutex);
    while (s->is_filling) {
        pthread_cond_wait(&s->changed, &s->mutex);
    }
    if (s->n_taken % s->n_pieces != 0 || s->error.status != CUZK_OK) {
        s->n_filled = s->n_taken = 0;
        s->error = (cuzk_error){0};
        pthread_cond_broadcast(&s->changed);
    }
    s->stats.n_passes++;
    pthread_mutex_unlock(&s->mutex);
}

cuzk_status cuzk_key_stream_next(cuzk_key_stream *s, CUdeviceptr *at, cuzk_error *err)
{
    pthread_mutex_lock(&s->mutex);
    uint64_t k = s->n_taken++, from_ns = cuzk_now_ns();
    pthread_cond_broadcast(&s->changed);
    while (s->n_filled <= k && s->error.status == CUZK_OK) {
        pthread_cond_wait(&s->changed, &s->mutex);
    }
    s->stats.waited_ns += cuzk_now_ns() - from_ns;
    cuzk_error error = s->error;
    pthread_mutex_unlock(&s->mutex);
    CUZK_FAIL_IF(error.status != CUZK_OK, err, error.status, "streaming a key: %s", error.text);
    *at = place_of(s, k);
    return CUZK_OK;
}

cuzk_stream_stats cuzk_key_stream_stats(cuzk_key_stream *s)
{
    pthread_mutex_lock(&s->mutex);
    cuzk_stream_stats stats = s->stats;
    pthread_mutex_unlock(&s->mutex);
    return stats;
}

/* ---- life ---- */

static cuzk_status copy_params(cuzk_key_stream *s, const cuzk_key_stream_params *p, cuzk_error *err)
{
    s->device = p->device;
    s->pinned = p->pinned;
    memcpy(s->places, p->places, sizeof s->places);
    s->n_pieces = p->n_pieces;
    s->n_sources = p->n_sources;
    s->pieces = malloc(p->n_pieces * sizeof *s->pieces);
    s->sources = malloc(p->n_sources * sizeof *s->sources + 1);
    CUZK_FAIL_IF(s->pieces == NULL || s->sources == NULL, err, CUZK_E_MEMORY,
                 "streaming a key: out of memory");
    memcpy(s->pieces, p->pieces, p->n_pieces * sizeof *s->pieces);
    memcpy(s->sources, p->sources, p->n_sources * sizeof *s->sources);
    return CUZK_OK;
}

static void unpin(cuzk_key_stream *s)
{
    while (s->n_pinned > 0) {
        const cuzk_stream_source *source = &s->sources[--s->n_pinned];
        cuzk_pinned_unregister(s->pinned, s->device->api, source->data, source->n_bytes);
    }
}

/* All of the key, or nothing. */
static bool pin(cuzk_key_stream *s)
{
    for (; s->n_pinned < s->n_sources; s->n_pinned++) {
        const cuzk_stream_source *source = &s->sources[s->n_pinned];
        if (!cuzk_pinned_register(s->pinned, s->device->api, source->data, source->n_bytes)) {
            unpin(s);
            return false;
        }
    }
    return s->n_sources > 0;
}

static bool make_buffers(cuzk_key_stream *s)
{
    const cuzk_cuda_api *api = s->device->api;
    for (int i = 0; i < BUFFERS; i++) {
        if (cuzk_pinned_alloc(&s->buffers[i], s->pinned, api, BUFFER_BYTES, NULL) != CUZK_OK ||
            CUZK_CU(api, cuEventCreate)(&s->read[i], CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
            return false;
        }
    }
    unsigned n_threads = cuzk_cpu_count() < COPY_THREADS ? cuzk_cpu_count() : COPY_THREADS;
    return cuzk_pool_create(&s->copiers, n_threads, NULL) == CUZK_OK;
}

static void free_buffers(cuzk_key_stream *s)
{
    const cuzk_cuda_api *api = s->device->api;
    cuzk_pool_destroy(s->copiers);
    s->copiers = NULL;
    for (int i = 0; i < BUFFERS; i++) {
        cuzk_pinned_free(s->pinned, api, s->buffers[i], BUFFER_BYTES);
        s->buffers[i] = NULL;
        if (s->read[i] != NULL) {
            (void)CUZK_CU(api, cuEventDestroy)(s->read[i]);
            s->read[i] = NULL;
        }
    }
}

static cuzk_stream_way choose_way(cuzk_key_stream *s)
{
    size_t n_bytes = 0;
    if (s->pinned == NULL) {
        return CUZK_STREAM_PAGEABLE;
    }
    if (pin(s)) {
        return CUZK_STREAM_PINNED;
    }
    for (size_t i = 0; i < s->n_pieces; i++) {
        n_bytes += s->pieces[i].n_bytes;
    }
    /* buffers take longer to make than a small key to copy */
    if (n_bytes > (size_t)2 * BUFFERS * BUFFER_BYTES && make_buffers(s)) {
        return CUZK_STREAM_BUFFERED;
    }
    free_buffers(s);
    return CUZK_STREAM_PAGEABLE;
}

static cuzk_status start(cuzk_key_stream *s, cuzk_error *err)
{
    const cuzk_cuda_api *api = s->device->api;
    CUZK_CUDA_TRY(api, err, cuCtxSetCurrent, (s->device->context));
    CUZK_CUDA_TRY(api, err, cuStreamCreate, (&s->copies, CU_STREAM_NON_BLOCKING));
    s->has_stream = true;
    s->stats.way = choose_way(s);
    s->has_mutex = pthread_mutex_init(&s->mutex, NULL) == 0;
    if (s->has_mutex && pthread_cond_init(&s->changed, NULL) != 0) {
        pthread_mutex_destroy(&s->mutex);
        s->has_mutex = false;
    }
    s->has_thread = s->has_mutex && pthread_create(&s->thread, NULL, feed, s) == 0;
    CUZK_FAIL_IF(!s->has_thread, err, CUZK_E_MEMORY, "streaming a key: no thread");
    return CUZK_OK;
}

cuzk_status cuzk_key_stream_create(cuzk_key_stream **out, const cuzk_key_stream_params *params,
                                   cuzk_error *err)
{
    cuzk_key_stream *s = calloc(1, sizeof *s);
    CUZK_FAIL_IF(s == NULL, err, CUZK_E_MEMORY, "streaming a key: out of memory");
    cuzk_status status = copy_params(s, params, err);
    status = status != CUZK_OK ? status : start(s, err);
    if (status != CUZK_OK) {
        cuzk_key_stream_destroy(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void cuzk_key_stream_destroy(cuzk_key_stream *s)
{
    if (s == NULL) {
        return;
    }
    if (s->has_thread) {
        pthread_mutex_lock(&s->mutex);
        s->is_ending = true;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->mutex);
        pthread_join(s->thread, NULL);
    }
    if (s->has_mutex) {
        pthread_cond_destroy(&s->changed);
        pthread_mutex_destroy(&s->mutex);
    }
    unpin(s);
    free_buffers(s);
    if (s->has_stream) {
        (void)CUZK_CU(s->device->api, cuStreamDestroy)(s->copies);
    }
    free(s->pieces);
    free(s->sources);
    free(s);
}
