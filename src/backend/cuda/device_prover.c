/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The life of a key on a device, and whose turn it is. */
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
    CUZK_FAIL_IF(p->decode_late, err, CUZK_E_ARGUMENT,
                 "moving a key to a device: the prover does not keep its points");
    CUZK_TRY(use_device(d, err));
    CUZK_TRY(cuzk_point_summer_open(&d->summer, d->api, p->curve, err));
    d->has_summer = true;
    CUZK_TRY(cuzk_device_times_create(&d->times, d->api, err));
    d->summer.adder.times = d->times;
    CUZK_TRY(cuzk_device_rows_open(&d->rows, d->api, p->is_zkey ? NULL : p->shape,
                                   p->is_zkey ? &p->zkey : NULL, p->lg_n, &d->arena, err));
    d->has_rows = true;
    CUZK_TRY(cuzk_prover_reserve(d, params, err));
    CUZK_TRY(cuzk_transformer_open(&d->transformer, d->api, p->curve, generator, p->lg_n,
                                   d->plan.lg_factors, cuzk_prover_address(d, d->at.factors), NULL,
                                   err));
    d->has_transformer = true;
    return cuzk_prover_upload_key(d, params, err);
}

static cuzk_status locked_sums(void *context, cuzk_jac *h, cuzk_query_set *sets,
                               const cuzk_witness *witness, cuzk_error *err)
{
    cuzk_device_prover *d = context;
    float ms[CUZK_TIME_KINDS];
    pthread_mutex_lock(&d->mutex);
    cuzk_status status = cuzk_prover_sums(d, h, sets, witness, err);
    if (status == CUZK_OK) {
        status = cuzk_device_times_take(d->times, ms, err);
    } else {
        cuzk_device_times_drop(d->times);
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
