/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Plan of a key's memory, its residents, and the sums of a proof. */
#include "backend/cuda/device_prover.h"

#include "backend/cuda/device_rows.h"
#include "backend/cuda/point_summer.h"
#include "backend/cuda/transformer.h"
#include "groth16/prover_impl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 3, LEAST_PIECE = 1 << 16 };

/* Places in the arena. */
typedef struct {
    size_t h, queries[SETS][CUZK_QUERIES_MAX], support[SETS], support_rank[SETS], factors;
    size_t is_field, bits, rank, field; /* of the witness */
    size_t a, b, c, h_sums;             /* while h is made and summed … */
    size_t index, which, select, sums;  /* … and in the same place, the other sums */
} places;

struct cuzk_device_prover {
    const cuzk_cuda_device *device;
    const cuzk_cuda_api *api;
    const cuzk_prover *prover;
    cuzk_prove_device face;
    char name[24];
    bool has_mutex, has_transformer, has_summer, has_rows;
    pthread_mutex_t mutex; /* guards what follows and the order of launches */
    cuzk_transformer transformer;
    cuzk_point_summer summer;
    cuzk_device_rows rows;
    cuzk_arena arena;
    places at;
    uint32_t n_field_max; /* field values that there is room for */
    uint32_t piece;       /* scalars, and bits in 64ths, of a sum at a time */
    cuzk_device_times *times;
    float ms[CUZK_TIME_KINDS]; /* of proofs since they were asked for */
};

static CUdeviceptr address(const cuzk_device_prover *d, size_t place)
{
    return d->arena.at + place;
}

static cuzk_status use_device(const cuzk_device_prover *d, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuCtxSetCurrent, (d->device->context));
    return CUZK_OK;
}

static cuzk_status mark(const cuzk_device_prover *d, cuzk_time_kind kind, cuzk_error *err)
{
    return cuzk_device_times_mark(d->times, kind, NULL, err);
}

static cuzk_status upload(const cuzk_device_prover *d, size_t place, const void *from,
                          size_t n_bytes, cuzk_error *err)
{
    if (n_bytes != 0) {
        CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (address(d, place), from, n_bytes));
    }
    return CUZK_OK;
}

/* ---- plan ---- */

static size_t bases_of(const cuzk_prover *p, const cuzk_query_set *set, const cuzk_msm_query *q)
{
    size_t n = set->compact ? cuzk_bitmap_count(set->support, p->n_vars) : p->n_vars;
    return n - q->first;
}

static void plan_residents(cuzk_device_prover *d)
{
    const cuzk_prover *p = d->prover;
    cuzk_arena *a = &d->arena;
    size_t words = cuzk_bitmap_words(p->n_vars);
    d->at.h = cuzk_arena_plan(a, CUZK_ARENA_KEY, p->n_h * p->curve->g[CUZK_G1].affine_bytes);
    for (unsigned i = 0; i < p->n_sets; i++) {
        const cuzk_query_set *set = &p->sets[i];
        for (size_t k = 0; k < set->n_queries; k++) {
            const cuzk_msm_query *q = &set->queries[k];
            d->at.queries[i][k] = cuzk_arena_plan(
                a, CUZK_ARENA_KEY, bases_of(p, set, q) * p->curve->g[q->group].affine_bytes);
        }
        if (set->support != NULL) {
            d->at.support[i] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 8 * words);
            d->at.support_rank[i] = cuzk_arena_plan(a, CUZK_ARENA_CIRCUIT, 4 * words);
        }
    }
    d->at.factors = cuzk_arena_plan(a, CUZK_ARENA_TABLES, cuzk_transformer_bytes(p->lg_n, p->lg_n));
}

static void plan_witness(cuzk_device_prover *d)
{
    size_t words = cuzk_bitmap_words(d->prover->n_vars);
    d->at.is_field = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 8 * words);
    d->at.bits = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 8 * words);
    d->at.rank = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 4 * (words + 1));
    d->at.field = cuzk_arena_plan(&d->arena, CUZK_ARENA_WITNESS, 32 * (size_t)d->n_field_max);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static uint32_t fewer(size_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

static size_t sum_bytes(const cuzk_device_prover *d, cuzk_group_id group, size_t n)
{
    cuzk_point_sum_params params = {.group = group, .n = fewer(n, d->piece)};
    return cuzk_point_sum_bytes(&d->summer, &params);
}

/* Workspace of the sums of all queries, in pieces. */
static size_t query_bytes(const cuzk_device_prover *d)
{
    const cuzk_prover *p = d->prover;
    size_t most = 0;
    for (int g = CUZK_G1; g <= CUZK_G2; g++) {
        uint32_t n_bits = fewer(p->n_vars, d->piece);
        most = larger(most, sum_bytes(d, (cuzk_group_id)g, d->n_field_max));
        most =
            larger(most, cuzk_point_sum_bits_bytes(&d->summer, (cuzk_group_id)g, n_bits, n_bits));
    }
    return most;
}

/* The place of the first array of one phase, and the bytes of the larger phase. */
static void plan_workspace(cuzk_device_prover *d)
{
    const cuzk_prover *p = d->prover;
    cuzk_arena of_h = {0}, of_queries = {0};
    size_t vector = p->n * sizeof(cuzk_fr);
    d->at.a = cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, vector);
    d->at.b = cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, vector);
    d->at.c = cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, vector);
    /* b and c are of no more use when h is summed */
    size_t h_sum = sum_bytes(d, CUZK_G1, p->n_h);
    d->at.h_sums = d->at.b;
    if (h_sum > of_h.total - d->at.b) {
        (void)cuzk_arena_plan(&of_h, CUZK_ARENA_WORKSPACE, h_sum - (of_h.total - d->at.b));
    }
    d->at.index = cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, 4 * (size_t)d->n_field_max);
    d->at.which = cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, 4 * (size_t)d->n_field_max);
    d->at.select =
        cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, cuzk_select_values_bytes(p->n_vars));
    d->at.sums = cuzk_arena_plan(&of_queries, CUZK_ARENA_WORKSPACE, query_bytes(d));
    size_t base =
        cuzk_arena_plan(&d->arena, CUZK_ARENA_WORKSPACE, larger(of_h.total, of_queries.total));
    size_t *const moved[] = {&d->at.a,     &d->at.b,     &d->at.c,      &d->at.h_sums,
                             &d->at.index, &d->at.which, &d->at.select, &d->at.sums};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        *moved[i] += base;
    }
}

/* Variables that may hold field values: those that the circuit does not call bits; a circom key
 * says nothing of them. */
static uint32_t count_field(const cuzk_prover *p)
{
    if (p->is_zkey) {
        return p->n_vars;
    }
    return p->n_vars - (uint32_t)cuzk_bitmap_count(p->shape->is_bit, p->n_vars);
}

/* Sums in one piece if there is room, else in smaller ones. */
static cuzk_status plan_and_reserve(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                    cuzk_error *err)
{
    uint32_t first = params->piece != 0 ? params->piece : (1u << 28) - 64;
    uint32_t least = first < LEAST_PIECE ? first : LEAST_PIECE;
    const cuzk_arena before = d->arena;
    cuzk_status status = CUZK_OK;
    for (d->piece = first; d->piece >= least; d->piece = d->piece / 128 * 64) {
        d->arena = before;
        plan_workspace(d);
        cuzk_error_clear(err);
        status = cuzk_arena_reserve(&d->arena, d->api, params->memory_limit, err);
        if (status != CUZK_E_MEMORY) {
            return status;
        }
    }
    return status;
}

/* ---- residents ---- */

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
    cuzk_status status = upload(d, d->at.support_rank[i], rank, 4 * words, err);
    free(rank);
    return status != CUZK_OK ? status : upload(d, d->at.support[i], set->support, 8 * words, err);
}

static cuzk_status put_points(const cuzk_device_prover *d, const cuzk_device_prover_params *params,
                              size_t place, cuzk_group_id group, const void *from, size_t n,
                              cuzk_error *err)
{
    if (params->points != NULL) {
        return params->points(params->points_ctx, address(d, place), group, n, err);
    }
    return upload(d, place, from, n * d->prover->curve->g[group].affine_bytes, err);
}

static cuzk_status upload_key(const cuzk_device_prover *d, const cuzk_device_prover_params *params,
                              cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    CUZK_TRY(put_points(d, params, d->at.h, CUZK_G1, p->h, p->n_h, err));
    for (unsigned i = 0; i < p->n_sets; i++) {
        const cuzk_query_set *set = &p->sets[i];
        for (size_t k = 0; k < set->n_queries; k++) {
            const cuzk_msm_query *q = &set->queries[k];
            CUZK_TRY(put_points(d, params, d->at.queries[i][k], q->group, q->bases,
                                bases_of(p, set, q), err));
        }
        CUZK_TRY(upload_support(d, i, err));
    }
    return cuzk_device_rows_upload(&d->rows, &d->arena, err);
}

static cuzk_status open_all(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                            cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    unsigned generator = p->is_zkey ? 5 : 7; /* of the file formats */
    CUZK_FAIL_IF(p->decode_late, err, CUZK_E_ARGUMENT,
                 "moving a key to a device: the prover does not keep its points");
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(cuzk_point_summer_open(&d->summer, d->api, p->curve, err));
    d->has_summer = true;
    CUZK_TRY(cuzk_device_times_create(&d->times, d->api, err));
    d->summer.adder.times = d->times;
    d->n_field_max = count_field(p);
    plan_residents(d);
    CUZK_TRY(cuzk_device_rows_open(&d->rows, d->api, p->is_zkey ? NULL : p->shape,
                                   p->is_zkey ? &p->zkey : NULL, p->lg_n, &d->arena, err));
    d->has_rows = true;
    plan_witness(d);
    CUZK_TRY(plan_and_reserve(d, params, err));
    CUZK_TRY(cuzk_transformer_open(&d->transformer, d->api, p->curve, generator, p->lg_n, p->lg_n,
                                   address(d, d->at.factors), NULL, err));
    d->has_transformer = true;
    return upload_key(d, params, err);
}

/* ---- sums ---- */

static cuzk_status upload_witness(const cuzk_device_prover *d, const cuzk_witness *w,
                                  cuzk_error *err)
{
    size_t words = cuzk_bitmap_words(w->n_vars);
    CUZK_FAIL_IF(w->n_field > d->n_field_max, err, CUZK_E_UNSATISFIED,
                 "the witness has %u values besides bits, the circuit %u: a variable that is a bit "
                 "holds another value",
                 w->n_field, d->n_field_max);
    CUZK_TRY(mark(d, CUZK_TIME_UPLOAD, err));
    CUZK_TRY(upload(d, d->at.is_field, w->is_field, 8 * words, err));
    CUZK_TRY(upload(d, d->at.bits, w->bits, 8 * words, err));
    CUZK_TRY(upload(d, d->at.rank, w->rank, 4 * (words + 1), err));
    return upload(d, d->at.field, w->field, 32 * (size_t)w->n_field, err);
}

/* A sum of scalar multiples in pieces. */
static cuzk_status sum_pieces(const cuzk_device_prover *d, cuzk_jac *sum,
                              const cuzk_point_sum_params *all, size_t workspace, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[all->group];
    g->set_infinity(sum);
    for (uint32_t done = 0; done < all->n; done += d->piece) {
        cuzk_point_sum_params piece = *all;
        cuzk_jac part;
        piece.n = fewer(all->n - done, d->piece);
        if (all->index == 0) { /* the bases and scalars from there on */
            piece.bases += (size_t)done * g->affine_bytes;
            piece.scalars += 32 * (size_t)done;
        } else {
            piece.index += 4 * (size_t)done;
            piece.which += 4 * (size_t)done;
        }
        CUZK_TRY(cuzk_point_sum(&d->summer, &part, &piece, address(d, workspace), NULL, err));
        g->add(sum, sum, &part);
    }
    return CUZK_OK;
}

static cuzk_status h_sum(const cuzk_device_prover *d, cuzk_jac *sum, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    const cuzk_transformer *t = &d->transformer;
    CUdeviceptr a = address(d, d->at.a), b = address(d, d->at.b), c = address(d, d->at.c);
    cuzk_rows_witness w = {.is_field = (void *)(uintptr_t)address(d, d->at.is_field),
                           .bits = (void *)(uintptr_t)address(d, d->at.bits),
                           .rank = (void *)(uintptr_t)address(d, d->at.rank),
                           .field = (void *)(uintptr_t)address(d, d->at.field)};
    CUZK_TRY(mark(d, CUZK_TIME_ROWS, err));
    CUZK_TRY(cuzk_device_rows_eval(&d->rows, &d->arena, 0, &w, a, NULL, err));
    CUZK_TRY(cuzk_device_rows_eval(&d->rows, &d->arena, 1, &w, b, NULL, err));
    CUZK_TRY(mark(d, CUZK_TIME_TRANSFORMS, err));
    CUZK_TRY(cuzk_transform_quotient(
        t, p->is_zkey ? CUZK_DEVICE_QUOTIENT_CIRCOM : CUZK_DEVICE_QUOTIENT_PLAIN, p->lg_n, a, b, c,
        NULL, err));
    if (p->is_zkey) { /* values in bit-reversed order; coefficients are in natural order */
        CUZK_TRY(cuzk_transform_permute(t, p->lg_n, a, NULL, err));
    }
    cuzk_point_sum_params params = {
        .group = CUZK_G1, .bases = address(d, d->at.h), .scalars = a, .n = (uint32_t)p->n_h};
    return sum_pieces(d, sum, &params, d->at.h_sums, err);
}

/* The sum over the bits of a query, in pieces of whole words. */
static cuzk_status bits_sum(const cuzk_device_prover *d, cuzk_jac *sum, cuzk_group_id group,
                            CUdeviceptr bases, const cuzk_selection *all, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[group];
    g->set_infinity(sum);
    for (uint32_t done = 0; done < all->n_vars; done += d->piece) {
        cuzk_point_bits_params piece = {.group = group,
                                        .bases = bases,
                                        .bits = address(d, d->at.bits) + done / 8,
                                        .selection = *all};
        cuzk_selection *s = &piece.selection;
        cuzk_jac part;
        s->n_vars = piece.n_ones = fewer(all->n_vars - done, d->piece);
        s->first = all->first > done ? all->first - done : 0;
        s->support += all->support == 0 ? 0 : done / 8;
        s->support_rank += all->support_rank == 0 ? 0 : done / 64 * 4;
        if (all->support_rank == 0 && done > all->first) {
            piece.bases += (size_t)(done - all->first) * g->affine_bytes;
        }
        CUZK_TRY(cuzk_point_sum_bits(&d->summer, &part, &piece, address(d, d->at.sums), NULL, err));
        g->add(sum, sum, &part);
    }
    return CUZK_OK;
}

static cuzk_status query_sum(const cuzk_device_prover *d, cuzk_msm_query *q, CUdeviceptr bases,
                             const cuzk_selection *selection, cuzk_error *err)
{
    cuzk_jac of_bits;
    cuzk_point_sum_params params = {.group = q->group,
                                    .bases = bases,
                                    .scalars = address(d, d->at.field),
                                    .index = address(d, d->at.index),
                                    .which = address(d, d->at.which)};
    CUZK_TRY(cuzk_select_values(&d->summer, &params.n, selection, address(d, d->at.is_field),
                                address(d, d->at.rank), params.index, params.which,
                                address(d, d->at.select), NULL, err));
    CUZK_TRY(sum_pieces(d, &q->sum, &params, d->at.sums, err));
    CUZK_TRY(bits_sum(d, &of_bits, q->group, bases, selection, err));
    d->prover->curve->g[q->group].add(&q->sum, &q->sum, &of_bits);
    return CUZK_OK;
}

static cuzk_status all_sums(cuzk_device_prover *d, cuzk_jac *h, cuzk_query_set *sets,
                            const cuzk_witness *witness, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(upload_witness(d, witness, err));
    CUZK_TRY(h_sum(d, h, err));
    for (unsigned i = 0; i < p->n_sets; i++) {
        bool compact = sets[i].compact, has_support = sets[i].support != NULL;
        for (size_t k = 0; k < sets[i].n_queries; k++) {
            cuzk_msm_query *q = &sets[i].queries[k];
            cuzk_selection selection = {.n_vars = p->n_vars,
                                        .first = (uint32_t)q->first,
                                        .support = has_support ? address(d, d->at.support[i]) : 0,
                                        .support_rank =
                                            compact ? address(d, d->at.support_rank[i]) : 0};
            CUZK_TRY(query_sum(d, q, address(d, d->at.queries[i][k]), &selection, err));
        }
    }
    return mark(d, CUZK_TIME_WAIT, err);
}

static cuzk_status locked_sums(void *context, cuzk_jac *h, cuzk_query_set *sets,
                               const cuzk_witness *witness, cuzk_error *err)
{
    cuzk_device_prover *d = context;
    float ms[CUZK_TIME_KINDS];
    pthread_mutex_lock(&d->mutex);
    cuzk_status status = all_sums(d, h, sets, witness, err);
    if (status == CUZK_OK) {
        status = cuzk_device_times_take(d->times, ms, err);
    }
    for (int i = 0; status == CUZK_OK && i < CUZK_TIME_KINDS; i++) {
        d->ms[i] += ms[i];
    }
    pthread_mutex_unlock(&d->mutex);
    return status;
}

/* ---- life ---- */

cuzk_status cuzk_device_prover_create(cuzk_device_prover **out, const cuzk_cuda_device *device,
                                      const cuzk_prover *prover,
                                      const cuzk_device_prover_params *params, cuzk_error *err)
{
    static const cuzk_device_prover_params none = {0};
    cuzk_device_prover *d = calloc(1, sizeof *d);
    CUZK_FAIL_IF(d == NULL, err, CUZK_E_MEMORY, "preparing a device for proofs: out of memory");
    d->device = device;
    d->api = device->api;
    d->prover = prover;
    snprintf(d->name, sizeof d->name, "cuda:%d", (int)device->device);
    d->face = (cuzk_prove_device){.name = d->name, .context = d, .sums = locked_sums};
    d->has_mutex = pthread_mutex_init(&d->mutex, NULL) == 0;
    cuzk_status status = CUZK_OK;
    if (!d->has_mutex) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "preparing %s for proofs: no mutex", d->name);
    }
    status = status != CUZK_OK ? status : open_all(d, params == NULL ? &none : params, err);
    if (status != CUZK_OK) {
        cuzk_device_prover_destroy(d);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

uint64_t cuzk_device_prover_bytes(const cuzk_proving_counts *counts, uint64_t n_g1, uint64_t n_g2)
{
    enum { SLACK = 64 << 20 /* kernels, and places rounded up */, TERMS = 4 };
    const cuzk_group *g = counts->curve->g;
    const cuzk_point_summer summer = {.curve = counts->curve}; /* all that sizes depend on */
    uint64_t n = (uint64_t)1 << counts->lg_n, sums = 0;
    for (int group = CUZK_G1; group <= CUZK_G2; group++) {
        cuzk_point_sum_params params = {.group = (cuzk_group_id)group, .n = counts->n_field};
        uint64_t of_values = cuzk_point_sum_bytes(&summer, &params);
        uint64_t of_bits =
            cuzk_point_sum_bits_bytes(&summer, params.group, counts->n_vars, counts->n_vars);
        sums = larger(sums, larger(of_values, of_bits));
    }
    cuzk_point_sum_params h = {.group = CUZK_G1, .n = (uint32_t)n};
    uint64_t of_h =
        n * sizeof(cuzk_fr) + larger(2 * n * sizeof(cuzk_fr), cuzk_point_sum_bytes(&summer, &h));
    uint64_t of_queries =
        sums + 8 * (uint64_t)counts->n_field + cuzk_select_values_bytes(counts->n_vars);
    uint64_t circuit = 2 * n * (4 + TERMS * (counts->is_zkey ? 36 : 8)) + 3 * counts->n_vars / 4;
    uint64_t witness = 5 * (uint64_t)counts->n_vars / 16 + 32 * (uint64_t)counts->n_field;
    return n_g1 * g[CUZK_G1].affine_bytes + n_g2 * g[CUZK_G2].affine_bytes +
           cuzk_transformer_bytes(counts->lg_n, counts->lg_n) + circuit + witness +
           larger(of_h, of_queries) + SLACK;
}

const cuzk_prove_device *cuzk_device_prover_get(const cuzk_device_prover *prover)
{
    return &prover->face;
}

const cuzk_arena *cuzk_device_prover_memory(const cuzk_device_prover *prover)
{
    return &prover->arena;
}

void cuzk_device_prover_times(cuzk_device_prover *d, float ms[CUZK_TIME_KINDS])
{
    pthread_mutex_lock(&d->mutex);
    memcpy(ms, d->ms, sizeof d->ms);
    memset(d->ms, 0, sizeof d->ms);
    pthread_mutex_unlock(&d->mutex);
}

void cuzk_device_prover_destroy(cuzk_device_prover *d)
{
    if (d == NULL) {
        return;
    }
    (void)CUZK_CU(d->api, cuCtxSetCurrent)(d->device->context);
    (void)CUZK_CU(d->api, cuCtxSynchronize)();
    if (d->has_transformer) {
        cuzk_transformer_close(&d->transformer);
    }
    if (d->has_rows) {
        cuzk_device_rows_close(&d->rows);
    }
    if (d->has_summer) {
        cuzk_point_summer_close(&d->summer);
    }
    cuzk_device_times_destroy(d->times);
    cuzk_arena_release(&d->arena, d->api);
    if (d->has_mutex) {
        pthread_mutex_destroy(&d->mutex);
    }
    free(d);
}
