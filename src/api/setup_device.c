/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The device that multiplies when keys are made. */
#include "api/api.h"

#include <stdlib.h>

cuzk_status cuzk_api_multiplier_check(const char *name, cuzk_error *err)
{
    CUZK_FAIL_IF(cuzk_api_device_is_auto(name), err, CUZK_E_ARGUMENT,
                 "making a key: device \"%s\": expected cpu or cuda:N", name);
    return cuzk_api_device_check(name, err);
}

#if CUZK_HAVE_CUDA

#include "backend/cuda/fixed_multiplier.h"
#include "backend/cuda/self_test.h"

struct cuzk_api_multiplier {
    cuzk_cuda_device device;
    cuzk_fixed_multiplier *multiplier;
};

cuzk_status cuzk_api_multiplier_open(cuzk_api_multiplier **out, const char *name, cuzk_error *err)
{
    int number = cuzk_api_device_number(name);
    *out = NULL;
    if (number < 0) {
        return CUZK_OK;
    }
    cuzk_api_multiplier *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "opening device \"%s\": out of memory", name);
    cuzk_status status = cuzk_cuda_device_open_tested(&made->device, number, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "device \"%s\"", name);
        free(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

cuzk_status cuzk_api_multiplier_prepare(const cuzk_multiplier **out, cuzk_api_multiplier *m,
                                        const cuzk_shape *shape, cuzk_pool *pool, cuzk_error *err)
{
    *out = NULL;
    if (m == NULL) {
        return CUZK_OK;
    }
    uint64_t n_rows = cuzk_shape_n_rows(shape), n_vars = shape->n_vars;
    const cuzk_fixed_multiplier_params params = {
        .n = {[CUZK_G1] = n_rows + 3 * n_vars, [CUZK_G2] = n_vars}};
    CUZK_TRY(cuzk_fixed_multiplier_create(&m->multiplier, m->device.api, shape->curve, &params,
                                          pool, err));
    *out = cuzk_fixed_multiplier_get(m->multiplier);
    return CUZK_OK;
}

void cuzk_api_multiplier_close(cuzk_api_multiplier *m)
{
    if (m != NULL) {
        cuzk_fixed_multiplier_destroy(m->multiplier);
        cuzk_cuda_device_close(&m->device);
        free(m);
    }
}

#else

cuzk_status cuzk_api_multiplier_open(cuzk_api_multiplier **out, const char *name, cuzk_error *err)
{
    *out = NULL;
    return cuzk_api_multiplier_check(name, err);
}

cuzk_status cuzk_api_multiplier_prepare(const cuzk_multiplier **out, cuzk_api_multiplier *m,
                                        const cuzk_shape *shape, cuzk_pool *pool, cuzk_error *err)
{
    (void)m;
    (void)shape;
    (void)pool;
    (void)err;
    *out = NULL;
    return CUZK_OK;
}

void cuzk_api_multiplier_close(cuzk_api_multiplier *m)
{
    (void)m;
}

#endif
