/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Piece number k lies in buffer k mod BUFFERS; it goes when all that want it have copied it. */
#include "backend/cuda/key_pass.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/pages.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 4, COPY_THREADS = 4, DEVICES_MAX = 32 };

typedef enum { BUFFER_FREE, BUFFER_FILLING, BUFFER_READY } buffer_state;

typedef struct {
    void *memory; /* pinned. Ours, not the driver's: it outlives the context of a device that is
                     lost. That it is pinned ends with the context in which that was done */
    buffer_state state;
    uint64_t number; /* of the piece in it */
    unsigned n_left; /* devices that have yet to copy it */
} pass_buffer;

typedef struct {
    bool is_here;
    uint64_t next, end; /* numbers of pieces: what it takes next; behind its last one */
} member;

struct cuzk_key_pass {
    pthread_mutex_t mutex; /* guards all that follows; held for moments, but while the first one
                              that joins has buffers made and the last one gives them back */
    pthread_cond_t changed;
    unsigned n_expected, n_members;
    member members[DEVICES_MAX];
    uint64_t front; /* the number that is read next */
    pass_buffer buffers[BUFFERS];
    /* while there are members */
    size_t n_pieces, buffer_bytes;
    const void *first_from;
    cuzk_pinned_pool *pinned;
    const cuzk_cuda_api *api;
    bool has_context; /* of `device`, in which the buffers are pinned: it may leave first */
    CUdevice device;
    cuzk_pool *copiers;
};

/* ---- life ---- */

cuzk_status cuzk_key_pass_create(cuzk_key_pass **out, cuzk_error *err)
{
    cuzk_key_pass *made = calloc(1, sizeof *made);
    bool has_mutex = made != NULL && pthread_mutex_init(&made->mutex, NULL) == 0;
    if (!has_mutex || pthread_cond_init(&made->changed, NULL) != 0) {
        if (has_mutex) {
            pthread_mutex_destroy(&made->mutex);
        }
        free(made);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "making a pass over a key: out of memory");
    }
    *out = made;
    return CUZK_OK;
}

void cuzk_key_pass_destroy(cuzk_key_pass *pass)
{
    if (pass != NULL) {
        pthread_cond_destroy(&pass->changed);
        pthread_mutex_destroy(&pass->mutex);
        free(pass);
    }
}

void cuzk_key_pass_expect(cuzk_key_pass *pass, unsigned n)
{
    pthread_mutex_lock(&pass->mutex);
    pass->n_expected += n;
    pthread_mutex_unlock(&pass->mutex);
}

void cuzk_key_pass_forget(cuzk_key_pass *pass)
{
    pthread_mutex_lock(&pass->mutex);
    pass->n_expected--;
    pthread_cond_broadcast(&pass->changed);
    pthread_mutex_unlock(&pass->mutex);
}

/* ---- joining and leaving, with the mutex ---- */

static void free_buffers(cuzk_key_pass *pass)
{
    for (int i = 0; i < BUFFERS; i++) {
        pass_buffer *b = &pass->buffers[i];
        if (b->memory != NULL) {
            cuzk_pinned_unregister(pass->pinned, pass->api, b->memory, pass->buffer_bytes);
            cuzk_pages_free(b->memory, pass->buffer_bytes);
        }
        *b = (pass_buffer){0};
    }
    if (pass->has_context) {
        (void)CUZK_CU(pass->api, cuDevicePrimaryCtxRelease)(pass->device);
        pass->has_context = false;
    }
    cuzk_pool_destroy(pass->copiers);
    pass->copiers = NULL;
}

static cuzk_status make_buffer(cuzk_key_pass *pass, pass_buffer *b, cuzk_error *err)
{
    void *memory = cuzk_pages_alloc_dense(pass->buffer_bytes);
    CUZK_FAIL_IF(memory == NULL, err, CUZK_E_MEMORY, "a pass over a key: out of memory");
    if (!cuzk_pinned_register(pass->pinned, pass->api, memory, pass->buffer_bytes)) {
        cuzk_pages_free(memory, pass->buffer_bytes);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "a pass over a key: %zu bytes cannot be pinned",
                         pass->buffer_bytes);
    }
    b->memory = memory;
    return CUZK_OK;
}

static cuzk_status keep_context(cuzk_key_pass *pass, cuzk_error *err)
{
    CUcontext context; /* that which is current */
    CUZK_CUDA_TRY(pass->api, err, cuDevicePrimaryCtxRetain, (&context, pass->device));
    pass->has_context = true;
    return CUZK_OK;
}

static cuzk_status make_buffers(cuzk_key_pass *pass, const cuzk_key_pass_params *p, cuzk_error *err)
{
    pass->buffer_bytes = 1;
    for (size_t i = 0; i < p->n_pieces; i++) {
        size_t n = p->pieces[i].n_bytes;
        pass->buffer_bytes = n > pass->buffer_bytes ? n : pass->buffer_bytes;
    }
    pass->n_pieces = p->n_pieces;
    pass->first_from = p->pieces[0].from;
    pass->pinned = p->pinned;
    pass->api = p->device->api;
    pass->device = p->device->device;
    unsigned n_threads = cuzk_cpu_count() < COPY_THREADS ? cuzk_cpu_count() : COPY_THREADS;
    cuzk_status status = cuzk_pool_create(&pass->copiers, n_threads, err);
    status = status != CUZK_OK ? status : keep_context(pass, err);
    for (int i = 0; i < BUFFERS && status == CUZK_OK; i++) {
        status = make_buffer(pass, &pass->buffers[i], err);
    }
    if (status != CUZK_OK) {
        free_buffers(pass);
    }
    return status;
}

/* It has come, whatever becomes of it. */
static void note_arrival(cuzk_key_pass *pass, const cuzk_key_pass_params *p)
{
    if (p->is_expected != NULL && *p->is_expected) {
        pass->n_expected--;
        *p->is_expected = false;
        pthread_cond_broadcast(&pass->changed);
    }
}

static cuzk_status join(cuzk_key_pass *pass, member **out, const cuzk_key_pass_params *p,
                        cuzk_error *err)
{
    CUZK_FAIL_IF(pass->n_members == DEVICES_MAX || p->pinned == NULL, err, CUZK_E_MEMORY,
                 "a pass over a key: there is no pinned memory for it, or no place");
    if (pass->n_members == 0) {
        CUZK_TRY(make_buffers(pass, p, err));
    }
    CUZK_FAIL_IF(pass->n_pieces != p->n_pieces || pass->first_from != p->pieces[0].from, err,
                 CUZK_E_INTERNAL, "a pass over a key: the pieces of another one");
    unsigned i = 0;
    while (pass->members[i].is_here) {
        i++;
    }
    pass->members[i] = (member){true, pass->front, pass->front + p->n_pieces};
    pass->n_members++;
    *out = &pass->members[i];
    return CUZK_OK;
}

static void give_back(pass_buffer *buffer)
{
    if (--buffer->n_left == 0 && buffer->state == BUFFER_READY) {
        buffer->state = BUFFER_FREE;
    }
}

/* Done, or failed: what it has not taken is not kept for it. Whoever fills a buffer is still here,
 * so the last one to leave finds none that is being filled. */
static void leave(cuzk_key_pass *pass, member *m)
{
    for (int i = 0; i < BUFFERS; i++) {
        pass_buffer *b = &pass->buffers[i];
        if (b->state != BUFFER_FREE && b->number >= m->next && b->number < m->end) {
            give_back(b);
        }
    }
    m->is_here = false;
    pass->n_members--;
    if (pass->n_members == 0) {
        free_buffers(pass);
    }
    pthread_cond_broadcast(&pass->changed);
}

/* ---- reading ---- */

static unsigned count_wanting(const cuzk_key_pass *pass, uint64_t number)
{
    unsigned n = 0;
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        n += pass->members[i].is_here && number < pass->members[i].end;
    }
    return n;
}

/* Read a piece if it is next, has room and anyone wants it. With the mutex, which is given away
 * meanwhile. */
static bool read_piece(cuzk_key_pass *pass, uint64_t number, const cuzk_key_pass_params *p,
                       cuzk_stream_stats *stats)
{
    pass_buffer *b = &pass->buffers[number % BUFFERS];
    unsigned n_wanting = count_wanting(pass, number);
    if (pass->front != number || b->state != BUFFER_FREE || pass->n_expected > 0 ||
        n_wanting == 0) {
        return false;
    }
    pass->front++;
    b->state = BUFFER_FILLING;
    b->number = number;
    b->n_left = n_wanting;
    pthread_mutex_unlock(&pass->mutex);
    const cuzk_stream_piece *piece = &p->pieces[number % p->n_pieces];
    cuzk_pool_copy(pass->copiers, b->memory, piece->from, piece->n_bytes);
    stats->n_read_bytes += piece->n_bytes;
    pthread_mutex_lock(&pass->mutex);
    b->state = b->n_left == 0 ? BUFFER_FREE : BUFFER_READY; /* all that wanted it may have left */
    pthread_cond_broadcast(&pass->changed);
    return true;
}

static const pass_buffer *await_piece(cuzk_key_pass *pass, uint64_t number,
                                      const cuzk_key_pass_params *p, cuzk_stream_stats *stats)
{
    pass_buffer *b = &pass->buffers[number % BUFFERS];
    uint64_t from_ns = cuzk_now_ns(), read_before = stats->n_read_bytes;
    while (b->state != BUFFER_READY || b->number != number) {
        if (!read_piece(pass, number, p, stats)) {
            pthread_cond_wait(&pass->changed, &pass->mutex);
        }
    }
    if (stats->n_read_bytes == read_before) {
        stats->waited_ns += cuzk_now_ns() - from_ns;
    }
    return b;
}

/* ---- a device ---- */

/* Begin copying a piece, read the next one meanwhile, and return when the copy is done. */
static cuzk_status copy_piece(cuzk_key_pass *pass, const pass_buffer *b, uint64_t number,
                              CUstream stream, const cuzk_key_pass_params *p,
                              cuzk_stream_stats *stats, cuzk_error *err)
{
    const cuzk_cuda_api *api = p->device->api;
    const cuzk_stream_piece *piece = &p->pieces[number % p->n_pieces];
    uint64_t from_ns = cuzk_now_ns();
    if (piece->n_bytes != 0) {
        CUZK_CUDA_TRY(api, err, cuMemcpyHtoDAsync, (piece->to, b->memory, piece->n_bytes, stream));
    }
    pthread_mutex_lock(&pass->mutex);
    (void)read_piece(pass, number + 1, p, stats);
    pthread_mutex_unlock(&pass->mutex);
    CUZK_CUDA_TRY(api, err, cuStreamSynchronize, (stream));
    stats->n_bytes += piece->n_bytes;
    stats->busy_ns += cuzk_now_ns() - from_ns;
    return CUZK_OK;
}

static cuzk_status take_pieces(cuzk_key_pass *pass, member *m, CUstream stream,
                               const cuzk_key_pass_params *p, cuzk_stream_stats *stats,
                               cuzk_error *err)
{
    while (m->next < m->end) {
        uint64_t number = m->next;
        pthread_mutex_lock(&pass->mutex);
        const pass_buffer *b = await_piece(pass, number, p, stats);
        pthread_mutex_unlock(&pass->mutex);
        CUZK_TRY(copy_piece(pass, b, number, stream, p, stats, err));
        pthread_mutex_lock(&pass->mutex);
        m->next++;
        give_back(&pass->buffers[number % BUFFERS]);
        pthread_cond_broadcast(&pass->changed);
        pthread_mutex_unlock(&pass->mutex);
        CUZK_TRY(p->arrived(p->ctx, number % p->n_pieces, err));
    }
    return CUZK_OK;
}

cuzk_status cuzk_key_pass_load(cuzk_key_pass *pass, const cuzk_key_pass_params *params,
                               cuzk_stream_stats *stats, cuzk_error *err)
{
    const cuzk_cuda_api *api = params->device->api;
    CUstream stream;
    member *m = NULL;
    *stats = (cuzk_stream_stats){.way = CUZK_STREAM_SHARED, .n_passes = 1};
    CUZK_CUDA_TRY(api, err, cuStreamCreate, (&stream, CU_STREAM_NON_BLOCKING));
    pthread_mutex_lock(&pass->mutex);
    cuzk_status status = join(pass, &m, params, err);
    note_arrival(pass, params);
    pthread_mutex_unlock(&pass->mutex);
    if (status == CUZK_OK) {
        status = take_pieces(pass, m, stream, params, stats, err);
        if (status != CUZK_OK) {
            (void)CUZK_CU(api, cuStreamSynchronize)(stream); /* nothing reads a buffer any more */
        }
        pthread_mutex_lock(&pass->mutex);
        leave(pass, m);
        pthread_mutex_unlock(&pass->mutex);
    }
    (void)CUZK_CU(api, cuStreamDestroy)(stream);
    return status;
}
