/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A key and its circuit to the device. */
#include "backend/cuda/device_prover_impl.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

cuzk_status cuzk_prover_upload(const cuzk_device_prover *d, size_t place, const void *from,
                               size_t n_bytes, cuzk_error *err)
{
    if (n_bytes != 0) {
        CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (cuzk_prover_address(d, place), from, n_bytes));
    }
    return CUZK_OK;
}

static cuzk_status upload_support(const cuzk_device_prover *d, unsigned i, cuzk_error *err)
{
    const cuzk_query_set *set = &d->prover->sets[i];
    size_t words = cuzk_bitmap_words(d->prover->n_vars);
    if (set->support == NULL) {
        return CUZK_OK;
    }
    uint32_t *rank = malloc(4 * words + 1), before = 0;
    CUZK_FAIL_IF(rank == NULL, err, CUZK_E_MEMORY, "moving a key to a device: out of memory");
    for (size_t w = 0; w < words; w++) {
        rank[w] = before;
        before += (uint32_t)__builtin_popcountll(set->support[w]);
    }
    cuzk_status status = cuzk_prover_upload(d, d->support_rank[i], rank, 4 * words, err);
    free(rank);
    return status != CUZK_OK ? status
                             : cuzk_prover_upload(d, d->support[i], set->support, 8 * words, err);
}

/* ---- points ---- */

const void *cuzk_prover_points(const cuzk_prover *p, unsigned query)
{
    if (p->decode_late) { /* queries are numbered as the file's arrays */
        return p->params.arrays[query].data;
    }
    if (query == 0) {
        return p->h;
    }
    for (unsigned i = 0; i < p->n_sets; i++) {
        if (--query < p->sets[i].n_queries) {
            return p->sets[i].queries[query].bases;
        }
        query -= (unsigned)p->sets[i].n_queries - 1;
    }
    return NULL;
}

cuzk_status cuzk_prover_decode_points(const cuzk_device_prover *d, unsigned query, CUdeviceptr at,
                                      uint64_t first, uint64_t n, cuzk_error *err)
{
    return d->has_decoder ? cuzk_point_decoder_run(&d->decoder, d->need.queries[query].group, at,
                                                   (uint32_t)first, (uint32_t)n,
                                                   cuzk_prover_address(d, d->at.worst) + 4 * query,
                                                   d->streams[0], err)
                          : CUZK_OK;
}

cuzk_status cuzk_prover_check_decoded(const cuzk_device_prover *d, cuzk_error *err)
{
    uint32_t worst[CUZK_CARD_QUERIES_MAX] = {0}, first = 0;
    if (!d->has_decoder) {
        return CUZK_OK;
    }
    CUZK_CUDA_TRY(d->api, err, cuStreamSynchronize, (d->streams[0]));
    CUZK_CUDA_TRY(d->api, err, cuMemcpyDtoH,
                  (worst, cuzk_prover_address(d, d->at.worst), sizeof worst));
    for (unsigned q = 0; q < d->need.n_queries; q++) {
        CUZK_FAIL_IF(cuzk_point_decoder_bad(worst[q], &first), err, CUZK_E_FORMAT,
                     "params, array %s: point %u: not an uncompressed point of the curve, or "
                     "infinity",
                     cuzk_params_array_name((cuzk_params_array)q), first);
    }
    return CUZK_OK;
}

/* Points that lie nowhere else. */
static cuzk_status make_points(const cuzk_device_prover *d, cuzk_error *err)
{
    /* a source works for one device at a time, from its first query to its last; the same lock for
     * all sources, since a key is made by all of the processor */
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    const cuzk_point_source *source = &d->prover->source;
    cuzk_status status = CUZK_OK;
    pthread_mutex_lock(&turn);
    for (unsigned q = 0; q < d->need.n_queries && status == CUZK_OK; q++) {
        status = source->put(source->ctx, q, cuzk_prover_address(d, d->at.queries[q]),
                             d->need.queries[q].n, err);
    }
    pthread_mutex_unlock(&turn);
    return status;
}

cuzk_status cuzk_prover_make_images(const cuzk_device_prover *d, cuzk_error *err)
{
    CUdeviceptr bases = cuzk_prover_address(d, d->at.queries[0]);
    size_t images = cuzk_card_images(&d->plan, &d->need);
    if (images == 0) {
        return CUZK_OK;
    }
    CUZK_CUDA_TRY(d->api, err, cuCtxSynchronize, ());
    CUZK_TRY(cuzk_point_images(&d->summer, CUZK_G1, bases, 0, (uint32_t)d->need.queries[0].n,
                               bases + images, d->streams[0], err));
    CUZK_CUDA_TRY(d->api, err, cuStreamSynchronize, (d->streams[0]));
    return CUZK_OK;
}

/* ---- a resident key ---- */

/* Of a piece: 24 or 48 MiB on bls12_381; and where it is shared, and a buffer holds all of it. */
enum { LOAD_POINTS = 1 << 18, PASS_POINTS = 1 << 16 };

/* What a piece is, beside where it comes from. */
typedef struct {
    unsigned query;
    uint64_t first, n;
} loaded_piece;

static size_t cut_key(const cuzk_device_prover *d, uint64_t points, cuzk_stream_piece *pieces,
                      loaded_piece *what)
{
    size_t n_pieces = 0;
    for (unsigned q = 0; q < d->need.n_queries; q++) {
        size_t each = d->prover->curve->g[d->need.queries[q].group].affine_bytes;
        const char *from = cuzk_prover_points(d->prover, q);
        uint64_t all = d->need.queries[q].n;
        for (uint64_t first = 0; first < all; first += points, n_pieces++) {
            uint64_t n = all - first < points ? all - first : points;
            what[n_pieces] = (loaded_piece){q, first, n};
            pieces[n_pieces] =
                (cuzk_stream_piece){from + first * each, n * each,
                                    cuzk_prover_address(d, d->at.queries[q]) + first * each};
        }
    }
    return n_pieces;
}

/* Copied piece by piece, and decoded where that is needed. */
static cuzk_status load_pieces(cuzk_device_prover *d, const cuzk_key_stream_params *params,
                               const loaded_piece *what, cuzk_error *err)
{
    cuzk_key_stream *stream = NULL;
    CUZK_TRY(cuzk_key_stream_create(&stream, params, err));
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < params->n_pieces && status == CUZK_OK; i++) {
        CUdeviceptr at = 0;
        status = cuzk_key_stream_next(stream, &at, err);
        if (status == CUZK_OK) {
            status = cuzk_prover_decode_points(d, what[i].query, at, what[i].first, what[i].n, err);
        }
    }
    d->load = cuzk_key_stream_stats(stream);
    cuzk_key_stream_destroy(stream);
    return status != CUZK_OK ? status : cuzk_prover_check_decoded(d, err);
}

/* The same pieces, together with other devices. */
typedef struct {
    const cuzk_device_prover *prover;
    const loaded_piece *what;
} shared_load;

static cuzk_status decode_arrived(void *ctx, size_t i, cuzk_error *err)
{
    const shared_load *load = ctx;
    const loaded_piece *what = &load->what[i];
    const cuzk_device_prover *d = load->prover;
    size_t each = d->prover->curve->g[d->need.queries[what->query].group].affine_bytes;
    CUdeviceptr at = cuzk_prover_address(d, d->at.queries[what->query]) + what->first * each;
    return cuzk_prover_decode_points(d, what->query, at, what->first, what->n, err);
}

static cuzk_status load_shared(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                               const cuzk_stream_piece *pieces, size_t n_pieces,
                               const loaded_piece *what, cuzk_error *err)
{
    shared_load load = {d, what};
    const cuzk_key_pass_params shared = {.device = d->device,
                                         .pieces = pieces,
                                         .n_pieces = n_pieces,
                                         .pinned = params->pinned,
                                         .is_expected = params->is_expected,
                                         .arrived = decode_arrived,
                                         .ctx = &load};
    CUZK_TRY(cuzk_key_pass_load(params->pass, &shared, &d->load, err));
    return cuzk_prover_check_decoded(d, err);
}

static cuzk_status load_key_by(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                               bool is_shared, cuzk_error *err)
{
    uint64_t points = is_shared ? PASS_POINTS : LOAD_POINTS;
    size_t most = 0;
    for (unsigned q = 0; q < d->need.n_queries; q++) {
        most += d->need.queries[q].n / points + 1;
    }
    cuzk_stream_piece *pieces = malloc(most * sizeof *pieces);
    loaded_piece *what = malloc(most * sizeof *what);
    cuzk_key_stream_params alone = {
        .device = d->device, .pieces = pieces, .pinned = params->pinned};
    cuzk_status status = CUZK_OK;
    if (pieces == NULL || what == NULL) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "moving a key to a device: out of memory");
    } else {
        alone.n_pieces = cut_key(d, points, pieces, what);
        status = is_shared ? load_shared(d, params, pieces, alone.n_pieces, what, err)
                           : load_pieces(d, &alone, what, err);
    }
    free(pieces);
    free(what);
    return status;
}

/* It takes no part in the pass, where it was expected: nobody waits for it. */
static void leave_pass(const cuzk_device_prover_params *params)
{
    if (params->is_expected != NULL && *params->is_expected) {
        *params->is_expected = false;
        cuzk_key_pass_forget(params->pass);
    }
}

static cuzk_status load_key(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                            cuzk_error *err)
{
    cuzk_error why = {0};
    cuzk_status status = CUZK_E_MEMORY;
    if (params->pass != NULL) {
        status = load_key_by(d, params, true, &why);
        CUZK_FAIL_IF(status != CUZK_OK && status != CUZK_E_MEMORY, err, status, "%s", why.text);
    }
    if (status == CUZK_OK) {
        return CUZK_OK;
    }
    leave_pass(params);
    return load_key_by(d, params, false, err);
}

static cuzk_status upload_from_host(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                    cuzk_error *err)
{
    if (d->plan.mode != CUZK_CARD_RESIDENT) {
        leave_pass(params);
    }
    if (params->is_peer) { /* what lies between the circuit's parts is summed, too */
        CUZK_CUDA_TRY(d->api, err, cuMemsetD8,
                      (cuzk_prover_address(d, 0), 0, d->need.circuit_bytes));
    }
    for (unsigned i = 0; i < d->prover->n_sets; i++) {
        CUZK_TRY(upload_support(d, i, err));
    }
    CUZK_TRY(cuzk_device_rows_upload(&d->rows, &d->arena, err));
    CUZK_CUDA_TRY(d->api, err, cuMemsetD8,
                  (cuzk_prover_address(d, d->at.worst), 0, 4 * CUZK_CARD_QUERIES_MAX));
    CUZK_CUDA_TRY(d->api, err, cuCtxSynchronize, ()); /* other streams do not wait for it */
    if (d->prover->source.put != NULL) {
        CUZK_TRY(make_points(d, err));
        d->arrival.way = CUZK_ARRIVAL_MADE;
    } else if (d->plan.mode == CUZK_CARD_RESIDENT) {
        CUZK_TRY(load_key(d, params, err));
    }
    return cuzk_prover_make_images(d, err);
}

/* Whether all came from the peer; else why not is noted. */
static bool copy_from_peer(cuzk_device_prover *d, const cuzk_device_prover_params *params)
{
    cuzk_error why = {0};
    if (params->peer == NULL) {
        return false;
    }
    int number = (int)params->peer->device->device;
    cuzk_status status = cuzk_prover_copy_from_peer(d, params, &why);
    if (status != CUZK_OK) {
        d->arrival.is_bad_link = status != CUZK_E_UNSUPPORTED && status != CUZK_E_CANCELLED;
        snprintf(d->arrival.why_not, sizeof d->arrival.why_not, "cuda:%d: %.150s", number,
                 why.text);
        return false;
    }
    d->arrival.way = CUZK_ARRIVAL_PEER;
    d->arrival.from = number;
    return true;
}

cuzk_status cuzk_prover_upload_key(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                   cuzk_error *err)
{
    uint64_t from_ns = cuzk_now_ns();
    if (!copy_from_peer(d, params)) {
        cuzk_status status = upload_from_host(d, params, err);
        if (status != CUZK_OK && d->arrival.why_not[0] != '\0') { /* what may have broken it */
            cuzk_error_prefix(err, "not from %s; then from the host", d->arrival.why_not);
        }
        CUZK_TRY(status);
    }
    if (params->is_peer) {
        CUZK_TRY(cuzk_prover_offer(d, err));
    }
    d->arrival.n_bytes = d->need.circuit_bytes +
                         (d->plan.mode == CUZK_CARD_RESIDENT ? cuzk_card_key_bytes(&d->need) : 0);
    d->arrival.may_give = d->has_sums;
    d->arrival.ns = cuzk_now_ns() - from_ns;
    return CUZK_OK;
}
