/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small sums with known logarithms and a small transform, in one piece of device memory. */
#include "backend/cuda/self_test.h"

#include "backend/cuda/point_summer.h"
#include "backend/cuda/transformer.h"

#include <string.h>

enum { N_POINTS = 96, LG_VALUES = 9, N_VALUES = 1 << LG_VALUES, VALUES_BYTES = 32 * N_VALUES };

static cuzk_status reserve(const cuzk_cuda_device *d, CUdeviceptr *out, size_t n_bytes,
                           cuzk_error *err)
{
    CUZK_CUDA_TRY(d->api, err, cuMemAlloc, (out, n_bytes));
    return CUZK_OK;
}

static uint64_t scalar_word(unsigned i, unsigned word)
{
    return (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> (word == 3 ? 4 : 0);
}

/* Σ k_i·(i + 1)·G against (Σ k_i·(i + 1))·G, in memory at `at`. */
static cuzk_status check_sum(const cuzk_cuda_device *d, const cuzk_point_summer *s,
                             cuzk_group_id id, CUdeviceptr at, cuzk_error *err)
{
    const cuzk_curve *curve = s->curve;
    const cuzk_group *g = &curve->g[id];
    unsigned char bases[N_POINTS * sizeof(cuzk_affine)];
    uint64_t scalars[N_POINTS][4];
    cuzk_affine generator;
    cuzk_jac p, expected, found;
    cuzk_fr log = {{0}}, k, factor;
    g->generator(&generator);
    g->set_infinity(&p);
    for (unsigned i = 0; i < N_POINTS; i++) {
        g->add_affine(&p, &p, &generator);
        g->to_affine(bases + i * g->affine_bytes, &p);
        for (unsigned w = 0; w < 4; w++) {
            scalars[i][w] = scalar_word(i, w);
        }
        curve->fr_batch_from_canonical(&k, scalars[i], 1);
        curve->fr_from_u64(&factor, i + 1);
        curve->fr_mul(&k, &k, &factor);
        curve->fr_add(&log, &log, &k);
    }
    g->from_affine(&expected, &generator);
    g->mul(&expected, &expected, &log);
    cuzk_point_sum_params params = {
        .group = id, .bases = at, .scalars = at + sizeof bases, .n = N_POINTS, .window_bits = 6};
    CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (params.bases, bases, N_POINTS * g->affine_bytes));
    CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (params.scalars, scalars, sizeof scalars));
    CUZK_TRY(cuzk_point_sum(s, &found, &params, params.scalars + sizeof scalars, NULL, err));
    CUZK_FAIL_IF(!g->eq(&expected, &found), err, CUZK_E_DEVICE,
                 "self-test: a sum of points in G%d of %s is wrong", id + 1, curve->name);
    return CUZK_OK;
}

static cuzk_status check_sums(const cuzk_cuda_device *d, const cuzk_curve *curve, cuzk_error *err)
{
    cuzk_point_summer s;
    CUdeviceptr at = 0;
    CUZK_TRY(cuzk_point_summer_open(&s, d->api, curve, err));
    cuzk_point_sum_params params = {.group = CUZK_G2, .n = N_POINTS, .window_bits = 6};
    size_t n_bytes = N_POINTS * (sizeof(cuzk_affine) + 32) + cuzk_point_sum_bytes(&s, &params);
    cuzk_status status = reserve(d, &at, n_bytes, err);
    for (int id = CUZK_G1; id <= CUZK_G2 && status == CUZK_OK; id++) {
        status = check_sum(d, &s, (cuzk_group_id)id, at, err);
    }
    if (at != 0) {
        (void)CUZK_CU(d->api, cuMemFree)(at);
    }
    cuzk_point_summer_close(&s);
    return status;
}

/* a(w^1): in bit-reversed order value 1 stands in the middle. */
static bool is_value(const cuzk_curve *curve, const cuzk_fr *a, const cuzk_fr *value)
{
    cuzk_fr w, sum = {{0}};
    curve->fr_root_of_unity(&w, 5, LG_VALUES);
    for (unsigned i = N_VALUES; i-- > 0;) {
        curve->fr_mul(&sum, &sum, &w);
        curve->fr_add(&sum, &sum, &a[i]);
    }
    return memcmp(&sum, value, sizeof sum) == 0;
}

/* The transform and back, in memory at `at` behind its factors. */
static cuzk_status check_values(const cuzk_cuda_device *d, const cuzk_transformer *t,
                                CUdeviceptr at, cuzk_error *err)
{
    const cuzk_curve *curve = t->curve;
    cuzk_fr a[N_VALUES], found[N_VALUES], n_inv;
    for (unsigned i = 0; i < N_VALUES; i++) {
        curve->fr_from_u64(&a[i], scalar_word(i, 0));
    }
    curve->fr_from_u64(&n_inv, N_VALUES);
    curve->fr_inv(&n_inv, &n_inv);
    CUZK_CUDA_TRY(d->api, err, cuMemcpyHtoD, (at, a, VALUES_BYTES));
    CUZK_TRY(cuzk_transform_forward(t, CUZK_TRANSFORM_PLAIN, LG_VALUES, at, NULL, err));
    CUZK_CUDA_TRY(d->api, err, cuMemcpyDtoH, (found, at, VALUES_BYTES));
    CUZK_FAIL_IF(!is_value(curve, a, &found[N_VALUES / 2]), err, CUZK_E_DEVICE,
                 "self-test: a transform on %s is wrong", curve->name);
    CUZK_TRY(cuzk_transform_inverse(t, CUZK_TRANSFORM_PLAIN, LG_VALUES, at, &n_inv, NULL, err));
    CUZK_CUDA_TRY(d->api, err, cuMemcpyDtoH, (found, at, VALUES_BYTES));
    CUZK_FAIL_IF(memcmp(a, found, VALUES_BYTES) != 0, err, CUZK_E_DEVICE,
                 "self-test: an inverse transform on %s is wrong", curve->name);
    return CUZK_OK;
}

static cuzk_status check_transform(const cuzk_cuda_device *d, const cuzk_curve *curve,
                                   cuzk_error *err)
{
    cuzk_transformer t;
    CUdeviceptr at = 0;
    CUZK_TRY(reserve(d, &at, VALUES_BYTES + cuzk_transformer_bytes(LG_VALUES, LG_VALUES), err));
    cuzk_status status = cuzk_transformer_open(&t, d->api, curve, 5, LG_VALUES, LG_VALUES,
                                               at + VALUES_BYTES, NULL, err);
    if (status == CUZK_OK) {
        status = check_values(d, &t, at, err);
        cuzk_transformer_close(&t);
    }
    (void)CUZK_CU(d->api, cuMemFree)(at);
    return status;
}

cuzk_status cuzk_cuda_self_test(const cuzk_cuda_device *device, cuzk_error *err)
{
    for (int id = CUZK_CURVE_BN254; id <= CUZK_CURVE_BLS12_381; id++) {
        const cuzk_curve *curve = cuzk_curve_get((cuzk_curve_id)id);
        CUZK_TRY(check_transform(device, curve, err));
        CUZK_TRY(check_sums(device, curve, err));
    }
    return CUZK_OK;
}

cuzk_status cuzk_cuda_device_open_tested(cuzk_cuda_device *out, int number, cuzk_error *err)
{
    CUZK_TRY(cuzk_cuda_device_open(out, number, err));
    cuzk_status status = cuzk_cuda_self_test(out, err);
    if (status != CUZK_OK) {
        cuzk_cuda_device_close(out);
    }
    return status;
}
