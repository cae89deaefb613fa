/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The life of a key on a device. */
#include "backend/cuda/device_prover_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_status use_device(const cuzk_device_prover *d, cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuCtxSetCurrent, (d->device->context));
    return CUZK_OK;
}

static cuzk_status open_all(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                            cuzk_error *err)
{
    const cuzk_prover *p = d->prover;
    unsigned generator = p->is_zkey ? 5 : 7; /* of the file formats */
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(cuzk_point_summer_open(&d->summer, d->api, p->curve, err));
    d->has_summer = true;
    CUZK_TRY(cuzk_point_adder_fit(&d->summer.adder, (unsigned)d->device->n_sms, err));
    if (p->decode_late) {
        CUZK_TRY(cuzk_point_decoder_open(&d->decoder, d->api, err));
        d->has_decoder = true;
    }
    CUZK_TRY(cuzk_device_rows_open(&d->rows, d->api, p->is_zkey ? NULL : p->shape,
                                   p->is_zkey ? &p->zkey : NULL, p->lg_n, &d->arena, err));
    d->has_rows = true;
    CUZK_TRY(cuzk_prover_reserve(d, params, err));
    CUZK_TRY(cuzk_transformer_open(&d->transformer, d->api, p->curve, generator, p->lg_n,
                                   d->plan.lg_factors, cuzk_prover_address(d, d->at.factors), NULL,
                                   err));
    d->has_transformer = true;
    CUZK_TRY(cuzk_prover_open_proofs(d, err));
    d->spans = params->spans;
    d->spans_ctx = params->spans_ctx;
    CUZK_TRY(cuzk_prover_upload_key(d, params, err));
    /* the tables are made on the default stream, which the lane's do not wait for */
    CUZK_CUDA_TRY(d->api, err, cuCtxSynchronize, ());
    return d->plan.mode == CUZK_CARD_RESIDENT
               ? CUZK_OK
               : cuzk_streamed_open(&d->streamed, d, params->pinned, err);
}

static bool make_locks(cuzk_device_prover *d)
{
    if (pthread_mutex_init(&d->lane, NULL) != 0) {
        return false;
    }
    if (pthread_mutex_init(&d->mutex, NULL) != 0) {
        pthread_mutex_destroy(&d->lane);
        return false;
    }
    if (pthread_cond_init(&d->proof_free, NULL) != 0) {
        pthread_mutex_destroy(&d->mutex);
        pthread_mutex_destroy(&d->lane);
        return false;
    }
    return true;
}

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
    d->face = (cuzk_prove_device){.name = d->name,
                                  .context = d,
                                  .begin = cuzk_prover_proof_begin,
                                  .run = cuzk_prover_proof_run,
                                  .end = cuzk_prover_proof_end,
                                  .drop = cuzk_prover_proof_drop};
    cuzk_status status = CUZK_OK;
    if (!make_locks(d)) {
        free(d);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "preparing a device for proofs: no locks");
    }
    status = status != CUZK_OK ? status : open_all(d, params == NULL ? &none : params, err);
    d->face.makes_some = d->streamed == NULL; /* a pass over the key serves all sums */
    if (status != CUZK_OK) {
        cuzk_device_prover_destroy(d);
        return status;
    }
    *out = d;
    return CUZK_OK;
}

const cuzk_prove_device *cuzk_device_prover_get(const cuzk_device_prover *prover)
{
    return &prover->face;
}

const cuzk_card_plan *cuzk_device_prover_plan(const cuzk_device_prover *prover)
{
    return &prover->plan;
}

cuzk_stream_stats cuzk_device_prover_stream(const cuzk_device_prover *prover)
{
    return prover->streamed == NULL ? prover->load : cuzk_streamed_stats(prover->streamed);
}

const char *cuzk_arrival_way_name(cuzk_arrival_way way)
{
    static const char *const names[] = {"file", "peer", "made"};
    return names[way];
}

const cuzk_arrival *cuzk_device_prover_arrival(const cuzk_device_prover *prover)
{
    return &prover->arrival;
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
    cuzk_streamed_close(d->streamed);
    (void)CUZK_CU(d->api, cuCtxSynchronize)();
    if (d->has_decoder) {
        cuzk_point_decoder_close(&d->decoder);
    }
    if (d->has_transformer) {
        cuzk_transformer_close(&d->transformer);
    }
    if (d->has_rows) {
        cuzk_device_rows_close(&d->rows);
    }
    if (d->has_summer) {
        cuzk_point_summer_close(&d->summer);
    }
    cuzk_prover_close_proofs(d);
    cuzk_arena_release(&d->arena, d->api);
    pthread_cond_destroy(&d->proof_free);
    pthread_mutex_destroy(&d->mutex);
    pthread_mutex_destroy(&d->lane);
    free(d);
}
