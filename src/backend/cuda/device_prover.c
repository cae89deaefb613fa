/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Residents of a key, and the two entries of groth16/prove_device.h. */
#include "backend/cuda/device_prover.h"

#include "backend/cuda/point_summer.h"
#include "backend/cuda/transformer.h"
#include "groth16/prover_impl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Device memory that is kept from call to call and grows. */
typedef struct {
    CUdeviceptr at;
    size_t n_bytes;
} buffer;

struct cuzk_device_prover {
    const cuzk_cuda_device *device;
    const cuzk_cuda_api *api;
    const cuzk_prover *prover;
    cuzk_prove_device face;
    char name[24];
    bool has_mutex, has_transformer, has_summer;
    pthread_mutex_t mutex; /* guards what follows and the order of launches */
    cuzk_transformer transformer;
    cuzk_point_summer summer;
    buffer factors, h, queries[3][CUZK_QUERIES_MAX]; /* residents */
    buffer a, b, c;                                  /* rows */
    buffer bits, index, scalars, workspace;          /* of the sums */
};

static cuzk_status use_device(const cuzk_device_prover *d, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuCtxSetCurrent, (d->device->context));
    return CUZK_OK;
}

/* ---- memory ---- */

static void release(const cuzk_device_prover *d, buffer *b, bool is_private)
{
    if (b->n_bytes != 0) {
        if (is_private) {
            (void)CUZK_CU(d->api, cuMemsetD8)(b->at, 0, b->n_bytes);
        }
        (void)CUZK_CU(d->api, cuMemFree)(b->at);
    }
    *b = (buffer){0};
}

/* Room for n_bytes; what was there is lost when it grows. */
static cuzk_status reserve(const cuzk_device_prover *d, buffer *b, size_t n_bytes, cuzk_error *err)
{
    if (n_bytes <= b->n_bytes) {
        return CUZK_OK;
    }
    release(d, b, true);
    cuzk_status status = cuzk_cuda_check(d->api, CUZK_CU(d->api, cuMemAlloc)(&b->at, n_bytes),
                                         "cuMemAlloc", __FILE__, __LINE__, err);
    if (status != CUZK_OK) {
        *b = (buffer){0};
        cuzk_error_prefix(err, "reserving %zu bytes on %s", n_bytes, d->name);
        return status;
    }
    b->n_bytes = n_bytes;
    return CUZK_OK;
}

static cuzk_status upload(const cuzk_device_prover *d, buffer *b, const void *from, size_t n_bytes,
                          cuzk_error *err)
{
    CUZK_TRY(reserve(d, b, n_bytes, err));
    if (n_bytes != 0) {
        CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (b->at, from, n_bytes));
    }
    return CUZK_OK;
}

/* ---- the quotient and H ---- */

static cuzk_status h_sum(cuzk_device_prover *d, cuzk_jac *sum, const cuzk_fr *a, const cuzk_fr *b,
                         cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    const cuzk_transformer *t = &d->transformer;
    size_t n_bytes = p->n * sizeof(cuzk_fr);
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(upload(d, &d->a, a, n_bytes, err));
    CUZK_TRY(upload(d, &d->b, b, n_bytes, err));
    CUZK_TRY(reserve(d, &d->c, n_bytes, err));
    CUZK_TRY(cuzk_transform_permute(t, p->lg_n, d->a.at, NULL, err));
    CUZK_TRY(cuzk_transform_permute(t, p->lg_n, d->b.at, NULL, err));
    CUZK_TRY(cuzk_transform_quotient(
        t, p->is_zkey ? CUZK_DEVICE_QUOTIENT_CIRCOM : CUZK_DEVICE_QUOTIENT_PLAIN, p->lg_n, d->a.at,
        d->b.at, d->c.at, NULL, err));
    if (p->is_zkey) { /* values in bit-reversed order; coefficients are in natural order */
        CUZK_TRY(cuzk_transform_permute(t, p->lg_n, d->a.at, NULL, err));
    }
    cuzk_point_sum_params params = {
        .group = CUZK_G1, .bases = d->h.at, .scalars = d->a.at, .n = (uint32_t)p->n_h};
    CUZK_TRY(reserve(d, &d->workspace, cuzk_point_sum_bytes(&d->summer, &params), err));
    return cuzk_point_sum(&d->summer, sum, &params, d->workspace.at, NULL, err);
}

/* ---- queries ---- */

/* The bits from variable q->first on. The device's words begin at the word that holds it. */
static cuzk_status bits_sum(cuzk_device_prover *d, cuzk_jac *sum, const cuzk_msm_query *q,
                            CUdeviceptr bases, const cuzk_query_selection *s, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[q->group];
    size_t from = q->first / 64, n_words = cuzk_bitmap_words(s->n_bits);
    if (from >= n_words) {
        g->set_infinity(sum);
        return CUZK_OK;
    }
    uint64_t word = s->bits[from] >> (q->first % 64) << (q->first % 64);
    uint32_t n_ones = (uint32_t)__builtin_popcountll(word);
    for (size_t i = from + 1; i < n_words; i++) {
        n_ones += (uint32_t)__builtin_popcountll(s->bits[i]);
    }
    CUZK_TRY(upload(d, &d->bits, s->bits + from, 8 * (n_words - from), err));
    CUZK_TRY(upload(d, &d->bits, &word, 8, err));
    uint32_t n_bits = (uint32_t)(s->n_bits - 64 * from);
    CUZK_TRY(reserve(d, &d->workspace,
                     cuzk_point_sum_bits_bytes(&d->summer, q->group, n_bits, n_ones), err));
    /* bit 0 has no base where q->first is not a multiple of 64, and is not set */
    return cuzk_point_sum_bits(&d->summer, sum, q->group, bases - q->first % 64 * g->affine_bytes,
                               d->bits.at, n_bits, n_ones, d->workspace.at, NULL, err);
}

/* The field values from variable q->first on; they are on the device. */
static cuzk_status field_sum(cuzk_device_prover *d, cuzk_jac *sum, const cuzk_msm_query *q,
                             CUdeviceptr bases, const cuzk_query_selection *s, cuzk_error *err)
{
    const cuzk_group *g = &d->prover->curve->g[q->group];
    size_t skip = 0;
    while (skip < s->n_scalars && s->index[skip] < q->first) {
        skip++;
    }
    cuzk_point_sum_params params = {.group = q->group,
                                    .bases = bases - q->first * g->affine_bytes,
                                    .scalars = d->scalars.at + 32 * skip,
                                    .index = d->index.at + 4 * skip,
                                    .n = (uint32_t)(s->n_scalars - skip)};
    CUZK_TRY(reserve(d, &d->workspace, cuzk_point_sum_bytes(&d->summer, &params), err));
    return cuzk_point_sum(&d->summer, sum, &params, d->workspace.at, NULL, err);
}

static cuzk_status query_sums(cuzk_device_prover *d, unsigned number, cuzk_query_set *set,
                              const cuzk_query_selection *s, cuzk_error *err)
{
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(upload(d, &d->index, s->index, 4 * s->n_scalars, err));
    CUZK_TRY(upload(d, &d->scalars, s->scalars, 32 * s->n_scalars, err));
    for (size_t k = 0; k < set->n_queries; k++) {
        cuzk_msm_query *q = &set->queries[k];
        CUdeviceptr bases = d->queries[number][k].at;
        cuzk_jac of_bits;
        CUZK_TRY(bits_sum(d, &of_bits, q, bases, s, err));
        CUZK_TRY(field_sum(d, &q->sum, q, bases, s, err));
        d->prover->curve->g[q->group].add(&q->sum, &q->sum, &of_bits);
    }
    return CUZK_OK;
}

/* ---- entries ---- */

static cuzk_status locked_h_sum(void *context, cuzk_jac *sum, const cuzk_fr *a, const cuzk_fr *b,
                                cuzk_error *err)
{
    cuzk_device_prover *d = context;
    pthread_mutex_lock(&d->mutex);
    cuzk_status status = h_sum(d, sum, a, b, err);
    pthread_mutex_unlock(&d->mutex);
    return status;
}

static cuzk_status locked_query_sums(void *context, unsigned number, cuzk_query_set *set,
                                     const cuzk_query_selection *selection, cuzk_error *err)
{
    cuzk_device_prover *d = context;
    pthread_mutex_lock(&d->mutex);
    cuzk_status status = query_sums(d, number, set, selection, err);
    pthread_mutex_unlock(&d->mutex);
    return status;
}

/* ---- residents ---- */

static cuzk_status upload_key(cuzk_device_prover *d, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    CUZK_FAIL_IF(p->decode_late, err, CUZK_E_ARGUMENT,
                 "moving a key to a device: the prover does not keep its points");
    CUZK_TRY(upload(d, &d->h, p->h, p->n_h * p->curve->g[CUZK_G1].affine_bytes, err));
    for (unsigned i = 0; i < p->n_sets; i++) {
        const cuzk_query_set *set = &p->sets[i];
        size_t n = set->compact ? cuzk_bitmap_count(set->support, p->n_vars) : p->n_vars;
        for (size_t k = 0; k < set->n_queries; k++) {
            const cuzk_msm_query *q = &set->queries[k];
            CUZK_TRY(upload(d, &d->queries[i][k], q->bases,
                            (n - q->first) * p->curve->g[q->group].affine_bytes, err));
        }
    }
    return CUZK_OK;
}

static cuzk_status open_kernels(cuzk_device_prover *d, cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    unsigned generator = p->is_zkey ? 5 : 7; /* of the file formats */
    CUZK_TRY(reserve(d, &d->factors, cuzk_transformer_bytes(p->lg_n), err));
    CUZK_TRY(cuzk_transformer_open(&d->transformer, d->api, p->curve, generator, p->lg_n,
                                   d->factors.at, NULL, err));
    d->has_transformer = true;
    CUZK_TRY(cuzk_point_summer_open(&d->summer, d->api, p->curve, err));
    d->has_summer = true;
    return CUZK_OK;
}

cuzk_status cuzk_device_prover_create(cuzk_device_prover **out, const cuzk_cuda_device *device,
                                      const cuzk_prover *prover, cuzk_error *err)
{
    cuzk_device_prover *d = calloc(1, sizeof *d);
    CUZK_FAIL_IF(d == NULL, err, CUZK_E_MEMORY, "preparing a device for proofs: out of memory");
    d->device = device;
    d->api = device->api;
    d->prover = prover;
    snprintf(d->name, sizeof d->name, "cuda:%d", (int)device->device);
    d->face = (cuzk_prove_device){
        .name = d->name, .context = d, .h_sum = locked_h_sum, .query_sums = locked_query_sums};
    d->has_mutex = pthread_mutex_init(&d->mutex, NULL) == 0;
    cuzk_status status = CUZK_OK;
    if (!d->has_mutex) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "preparing %s for proofs: no mutex", d->name);
    }
    status = status != CUZK_OK ? status : use_device(d, err);
    status = status != CUZK_OK ? status : open_kernels(d, err);
    status = status != CUZK_OK ? status : upload_key(d, err);
    if (status != CUZK_OK) {
        cuzk_device_prover_destroy(d);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

uint64_t cuzk_device_prover_bytes(const cuzk_proving_counts *counts, uint64_t n_g1, uint64_t n_g2)
{
    enum { SLACK = 64 << 20 /* kernels, and allocations rounded up */ };
    const cuzk_group *g = counts->curve->g;
    const cuzk_point_summer summer = {.curve = counts->curve}; /* all that sizes depend on */
    uint64_t n = (uint64_t)1 << counts->lg_n, workspace = 0;
    for (int group = CUZK_G1; group <= CUZK_G2; group++) {
        cuzk_point_sum_params params = {.group = (cuzk_group_id)group,
                                        .n = group == CUZK_G1 ? (uint32_t)n : counts->n_field};
        uint64_t of_values = cuzk_point_sum_bytes(&summer, &params);
        uint64_t of_bits =
            cuzk_point_sum_bits_bytes(&summer, params.group, counts->n_vars, counts->n_vars);
        workspace = of_values > workspace ? of_values : workspace;
        workspace = of_bits > workspace ? of_bits : workspace;
    }
    return n_g1 * g[CUZK_G1].affine_bytes + n_g2 * g[CUZK_G2].affine_bytes +
           cuzk_transformer_bytes(counts->lg_n) + 3 * n * sizeof(cuzk_fr) + counts->n_vars / 8 +
           (uint64_t)counts->n_field * 36 + workspace + SLACK;
}

const cuzk_prove_device *cuzk_device_prover_get(const cuzk_device_prover *prover)
{
    return &prover->face;
}

void cuzk_device_prover_destroy(cuzk_device_prover *d)
{
    if (d == NULL) {
        return;
    }
    (void)CUZK_CU(d->api, cuCtxSetCurrent)(d->device->context);
    if (d->has_transformer) {
        cuzk_transformer_close(&d->transformer);
    }
    if (d->has_summer) {
        cuzk_point_summer_close(&d->summer);
    }
    buffer *private_buffers[] = {&d->a,     &d->b,       &d->c,        &d->bits,
                                 &d->index, &d->scalars, &d->workspace};
    for (size_t i = 0; i < sizeof private_buffers / sizeof *private_buffers; i++) {
        release(d, private_buffers[i], true);
    }
    release(d, &d->factors, false);
    release(d, &d->h, false);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < CUZK_QUERIES_MAX; k++) {
            release(d, &d->queries[i][k], false);
        }
    }
    if (d->has_mutex) {
        pthread_mutex_destroy(&d->mutex);
    }
    free(d);
}
