/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proofs with a key that passes through the device: a pass brings every piece of it once, and all
 * proofs that take part use it before the next one.
 *
 * A proof that has the lane runs a pass for every proof whose witness is there; those find their
 * sums made when it is their turn. */
#include "backend/cuda/device_prover_impl.h"

#include <stdlib.h>
#include <string.h>

/* A piece: points first … of a query; of the other queries than H those of a range of variables. */
typedef struct {
    unsigned query, set, index; /* index: in its set; H: query 0 */
    uint32_t first_var, n_vars;
    uint64_t first, n; /* points */
} piece;

struct cuzk_streamed {
    cuzk_key_stream *stream;
    piece *pieces;
    size_t n_pieces;
};

/* ---- pieces ---- */

static uint64_t fewer(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Points of a query before variable v. */
static uint64_t points_before(const cuzk_query_set *set, const cuzk_msm_query *q, uint32_t v)
{
    if (set->compact) {
        return cuzk_bitmap_count(set->support, v);
    }
    return v > q->first ? v - q->first : 0;
}

static cuzk_status add_piece(struct cuzk_streamed *s, const piece *one, cuzk_error *err)
{
    if (s->n_pieces % 64 == 0) {
        piece *pieces = realloc(s->pieces, (s->n_pieces + 64) * sizeof *pieces);
        CUZK_FAIL_IF(pieces == NULL, err, CUZK_E_MEMORY, "streaming a key: out of memory");
        s->pieces = pieces;
    }
    s->pieces[s->n_pieces++] = *one;
    return CUZK_OK;
}

static cuzk_status cut_h(struct cuzk_streamed *s, const cuzk_device_prover *d, cuzk_error *err)
{
    uint64_t all = d->need.queries[0].n, each = d->plan.piece;
    for (uint64_t first = 0; first < all; first += each) {
        piece one = {.first = first, .n = fewer(all - first, each)};
        CUZK_TRY(add_piece(s, &one, err));
    }
    return CUZK_OK;
}

/* Ranges of variables, whole words of bitmaps, whose points fit a place. */
static cuzk_status cut_query(struct cuzk_streamed *s, const cuzk_device_prover *d, unsigned set,
                             size_t index, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    const cuzk_query_set *of = &p->sets[set];
    const cuzk_msm_query *q = &of->queries[index];
    unsigned query = cuzk_prover_query_number(p, set, index);
    uint32_t most = cuzk_card_stage_points(&d->plan, &d->need, query) / 64 * 64;
    most = (uint32_t)fewer(most, d->plan.piece);
    for (uint32_t v = 0; v < p->n_vars; v += most) {
        piece one = {.query = query,
                     .set = set,
                     .index = (unsigned)index,
                     .first_var = v,
                     .n_vars = (uint32_t)fewer(p->n_vars - v, most)};
        one.first = points_before(of, q, v);
        one.n = points_before(of, q, v + one.n_vars) - one.first;
        if (one.n > 0) {
            CUZK_TRY(add_piece(s, &one, err));
        }
    }
    return CUZK_OK;
}

static cuzk_status cut(struct cuzk_streamed *s, const cuzk_device_prover *d, cuzk_error *err)
{
    CUZK_TRY(cut_h(s, d, err));
    for (unsigned i = 0; i < d->prover->n_sets; i++) {
        for (size_t k = 0; k < d->prover->sets[i].n_queries; k++) {
            CUZK_TRY(cut_query(s, d, i, k, err));
        }
    }
    return CUZK_OK;
}

/* ---- the stream ---- */

static size_t point_bytes(const cuzk_device_prover *d, unsigned query)
{
    return d->prover->curve->g[d->need.queries[query].group].affine_bytes;
}

static cuzk_status open_stream(struct cuzk_streamed *s, const cuzk_device_prover *d,
                               cuzk_pinned_pool *pinned, cuzk_error *err)
{
    cuzk_stream_source sources[CUZK_CARD_QUERIES_MAX];
    cuzk_stream_piece *pieces = calloc(s->n_pieces, sizeof *pieces);
    CUZK_FAIL_IF(pieces == NULL, err, CUZK_E_MEMORY, "streaming a key: out of memory");
    for (unsigned q = 0; q < d->need.n_queries; q++) {
        sources[q] = (cuzk_stream_source){cuzk_prover_points(d->prover, q),
                                          d->need.queries[q].n * point_bytes(d, q)};
    }
    for (size_t i = 0; i < s->n_pieces; i++) {
        const piece *one = &s->pieces[i];
        size_t each = point_bytes(d, one->query);
        pieces[i].from = (const char *)sources[one->query].data + one->first * each;
        pieces[i].n_bytes = one->n * each;
    }
    cuzk_key_stream_params params = {
        .device = d->device,
        .places = {cuzk_prover_address(d, d->at.stage[0]), cuzk_prover_address(d, d->at.stage[1])},
        .pieces = pieces,
        .n_pieces = s->n_pieces,
        .sources = sources,
        .n_sources = d->need.n_queries,
        .pinned = pinned};
    cuzk_status status = cuzk_key_stream_create(&s->stream, &params, err);
    free(pieces);
    return status;
}

cuzk_status cuzk_streamed_open(struct cuzk_streamed **out, const cuzk_device_prover *d,
                               cuzk_pinned_pool *pinned, cuzk_error *err)
{
    struct cuzk_streamed *s = calloc(1, sizeof *s);
    CUZK_FAIL_IF(s == NULL, err, CUZK_E_MEMORY, "streaming a key: out of memory");
    cuzk_status status = cut(s, d, err);
    status = status != CUZK_OK ? status : open_stream(s, d, pinned, err);
    if (status != CUZK_OK) {
        cuzk_streamed_close(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void cuzk_streamed_close(struct cuzk_streamed *s)
{
    if (s != NULL) {
        cuzk_key_stream_destroy(s->stream);
        free(s->pieces);
        free(s);
    }
}

cuzk_stream_stats cuzk_streamed_stats(const struct cuzk_streamed *s)
{
    return cuzk_key_stream_stats(s->stream);
}

/* ---- sums over a piece ---- */

static cuzk_status h_piece(const cuzk_device_prover *d, cuzk_device_proof *proof, const piece *one,
                           CUdeviceptr at, cuzk_error *err)
{
    cuzk_jac part;
    cuzk_point_sum_params params = {.group = CUZK_G1,
                                    .bases = at,
                                    .scalars = cuzk_prover_address(d, d->at.slots[proof->slot].a) +
                                               32 * one->first,
                                    .n = (uint32_t)one->n,
                                    .n_max = (uint32_t)fewer(d->need.queries[0].n, d->plan.piece),
                                    .halves = cuzk_card_halves(&d->plan)};
    params.windows_together = cuzk_card_windows(&d->plan, params.n_max);
    CUZK_TRY(cuzk_point_sum(&d->summer, &part, &params, cuzk_prover_address(d, d->at.h_sums),
                            d->streams[0], err));
    d->prover->curve->g[CUZK_G1].add(&proof->h, &proof->h, &part);
    return CUZK_OK;
}

/* The variables of the piece. Bases of a compact query have their numbers in the whole of it. */
static cuzk_selection selection_of(const cuzk_device_prover *d, const piece *one)
{
    const cuzk_query_set *set = &d->prover->sets[one->set];
    uint32_t first = (uint32_t)set->queries[one->index].first, v = one->first_var;
    cuzk_selection s = {.n_vars = one->n_vars, .first = first > v ? first - v : 0};
    if (set->support != NULL) {
        s.support = cuzk_prover_address(d, d->support[one->set]) + v / 8;
    }
    if (set->compact) {
        s.support_rank = cuzk_prover_address(d, d->support_rank[one->set]) + v / 64 * 4;
    }
    return s;
}

/* Ones and values among the selected variables. Waits. */
static cuzk_status count(const cuzk_device_prover *d, const cuzk_device_proof *proof,
                         const cuzk_selection *selection, CUdeviceptr bits, CUdeviceptr is_value,
                         cuzk_error *err)
{
    CUdeviceptr out = cuzk_prover_address(d, d->at.counts);
    CUZK_TRY(cuzk_prover_clear_counts(d, 8, err));
    CUZK_TRY(cuzk_select_count(&d->summer, selection, bits, is_value, out, d->streams[0], err));
    CUZK_TRY(cuzk_prover_fetch_counts(d, proof, 8, err));
    CUZK_CUDA_TRY(d->api, err, cuStreamSynchronize, (d->streams[0]));
    return CUZK_OK;
}

static cuzk_status query_piece(const cuzk_device_prover *d, cuzk_device_proof *proof,
                               const piece *one, CUdeviceptr at, cuzk_error *err)
{
    const cuzk_query_set *set = &d->prover->sets[one->set];
    cuzk_query_run *q = &proof->queries[one->query];
    const cuzk_group *g = &d->prover->curve->g[d->need.queries[one->query].group];
    uint32_t v = one->first_var;
    unsigned slot = proof->slot;
    CUstream stream = d->streams[0];
    CUdeviceptr is_value = cuzk_prover_address(d, d->at.slots[slot].is_field) + v / 8;
    cuzk_selection selection = selection_of(d, one);
    cuzk_point_bits_params bits = {.group = g->id,
                                   .bases = set->compact ? at - one->first * g->affine_bytes : at,
                                   .bits = cuzk_prover_address(d, d->at.slots[slot].bits) + v / 8,
                                   .selection = selection};
    cuzk_point_sum_params values = {.group = g->id,
                                    .bases = bits.bases,
                                    .scalars = cuzk_prover_address(d, d->at.slots[slot].field),
                                    .index = cuzk_prover_address(d, d->at.index),
                                    .which = cuzk_prover_address(d, d->at.which),
                                    .n_max = (uint32_t)fewer(d->need.n_field, d->plan.piece),
                                    .halves = cuzk_card_halves(&d->plan)};
    cuzk_jac part;
    values.windows_together = cuzk_card_windows(&d->plan, values.n_max);
    CUZK_TRY(count(d, proof, &selection, bits.bits, is_value, err));
    bits.n_ones = proof->counts[0];
    values.n = proof->counts[1];
    CUZK_TRY(cuzk_select_values(&d->summer, &selection, is_value,
                                cuzk_prover_address(d, d->at.slots[slot].rank) + v / 64 * 4,
                                values.index, values.which, cuzk_prover_address(d, d->at.select),
                                stream, err));
    CUZK_TRY(cuzk_point_sum(&d->summer, &part, &values, cuzk_prover_address(d, d->at.sums), stream,
                            err));
    g->add(&q->sum, &q->sum, &part);
    CUZK_TRY(cuzk_point_sum_bits(&d->summer, &part, &bits, cuzk_prover_address(d, d->at.sums),
                                 stream, err));
    g->add(&q->sum, &q->sum, &part);
    return CUZK_OK;
}

/* ---- a pass ---- */

static void clear_sums(const cuzk_device_prover *d, cuzk_device_proof *proof)
{
    proof->h_is_joined = true;
    d->prover->curve->g[CUZK_G1].set_infinity(&proof->h);
    for (unsigned i = 1; i < d->need.n_queries; i++) {
        proof->queries[i].is_joined = true;
        d->prover->curve->g[d->need.queries[i].group].set_infinity(&proof->queries[i].sum);
    }
}

static cuzk_status run_piece(const cuzk_device_prover *d, cuzk_device_proof *const *proofs,
                             unsigned n, const piece *one, cuzk_error *err)
{
    CUdeviceptr at = 0;
    CUZK_TRY(cuzk_key_stream_next(d->streamed->stream, &at, err));
    CUZK_TRY(cuzk_prover_decode_points(d, one->query, at, one->first, one->n, err));
    for (unsigned i = 0; i < n; i++) {
        CUZK_TRY(one->query == 0 ? h_piece(d, proofs[i], one, at, err)
                                 : query_piece(d, proofs[i], one, at, err));
    }
    return CUZK_OK;
}

static cuzk_status run_pass(const cuzk_device_prover *d, cuzk_device_proof *const *proofs,
                            unsigned n, cuzk_error *err)
{
    cuzk_key_stream_begin(d->streamed->stream);
    for (unsigned i = 0; i < n; i++) {
        clear_sums(d, proofs[i]);
        CUZK_TRY(cuzk_prover_quotient(d, proofs[i], d->streams[0], err));
        CUZK_TRY(cuzk_device_times_mark(proofs[i]->times, CUZK_TIME_WAIT, d->streams[0], err));
    }
    for (size_t i = 0; i < d->streamed->n_pieces; i++) {
        CUZK_TRY(run_piece(d, proofs, n, &d->streamed->pieces[i], err));
    }
    return cuzk_prover_check_decoded(d, err);
}

/* All proofs whose witness is there and whose sums are not: they stay until the pass ends. */
static unsigned gather(cuzk_device_prover *d, cuzk_device_proof **proofs)
{
    unsigned n = 0;
    pthread_mutex_lock(&d->mutex);
    for (unsigned i = 0; i < d->plan.n_slots; i++) {
        cuzk_device_proof *proof = &d->proofs[i];
        if (proof->is_ready && !proof->is_served) {
            proof->is_in_pass = true;
            proofs[n++] = proof;
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return n;
}

static void tell(cuzk_device_prover *d, cuzk_device_proof *const *proofs, unsigned n,
                 cuzk_status status, const cuzk_error *error)
{
    pthread_mutex_lock(&d->mutex);
    for (unsigned i = 0; i < n; i++) {
        proofs[i]->is_in_pass = false;
        proofs[i]->is_served = true;
        proofs[i]->error = *error;
        proofs[i]->error.status = status;
    }
    pthread_cond_broadcast(&d->proof_free);
    pthread_mutex_unlock(&d->mutex);
}

cuzk_status cuzk_streamed_run(cuzk_device_prover *d, cuzk_device_proof *proof, cuzk_error *err)
{
    pthread_mutex_lock(&d->mutex);
    bool is_served = proof->is_served;
    pthread_mutex_unlock(&d->mutex);
    if (!is_served) {
        cuzk_device_proof *proofs[CUZK_CARD_SLOTS_MAX];
        cuzk_error error = {0};
        unsigned n = gather(d, proofs);
        cuzk_status status = run_pass(d, proofs, n, &error);
        tell(d, proofs, n, status, &error);
    }
    /* written before is_served, which this thread has seen or set */
    CUZK_FAIL_IF(proof->error.status != CUZK_OK, err, proof->error.status, "%s", proof->error.text);
    return CUZK_OK;
}
