/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Logarithms on the host, multiples on the device, straight into the place of each query. */
#include "backend/cuda/device_key.h"

#include "backend/cuda/fixed_multiplier.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "groth16/setup_logs.h"

#include <inttypes.h>
#include <stdlib.h>

enum { QUERIES = 5, SLICE = 1 << 24 /* points, so that progress can be told */ };

struct cuzk_device_key {
    const cuzk_shape *shape;
    cuzk_trapdoor trapdoor;
    cuzk_setup_params setup;
    const cuzk_cuda_api *api; /* NULL: the driver's */
    cuzk_pool *pool;
    cuzk_vk vk;
    cuzk_prover *prover;
    cuzk_setup_logs logs; /* all zero: not there */
    bool has_logs;
    cuzk_fixed_multiplier *multiplier; /* while a device takes the key */
    uint64_t n_points, n_done;
    cuzk_device_key_times times;
};

/* ---- the host's part ---- */

static cuzk_status make_logs(cuzk_device_key *key, cuzk_error *err)
{
    uint64_t begin = cuzk_now_ns();
    if (key->has_logs) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_setup_logs_make(&key->logs, key->shape, &key->setup, key->pool, err));
    key->has_logs = true;
    key->n_points =
        key->logs.n_h + cuzk_shape_n_aux(key->shape) + key->logs.n_a + 2 * key->logs.n_b;
    key->times.logarithms_ns = cuzk_now_ns() - begin;
    return CUZK_OK;
}

static void drop_logs(cuzk_device_key *key)
{
    cuzk_setup_logs_clear(&key->logs);
    key->has_logs = false;
}

/* ---- the device's part ---- */

/* The logarithms are there. */
static cuzk_fixed_multiplier_params multiples_of(const cuzk_device_key *key)
{
    return (cuzk_fixed_multiplier_params){
        .n = {[CUZK_G1] = key->n_points, [CUZK_G2] = key->logs.n_b}};
}

static cuzk_status begin_points(cuzk_device_key *key, cuzk_error *err)
{
    const cuzk_cuda_api *api = key->api;
    CUZK_TRY(make_logs(key, err));
    if (api == NULL) {
        CUZK_TRY(cuzk_cuda_driver(&api, err));
    }
    uint64_t begin = cuzk_now_ns();
    const cuzk_fixed_multiplier_params params = multiples_of(key);
    CUZK_TRY(cuzk_fixed_multiplier_create(&key->multiplier, api, key->shape->curve, &params,
                                          key->pool, err));
    key->n_done = 0;
    key->times.tables_ns = cuzk_now_ns() - begin;
    key->times.points_ns = key->times.n_g1 = key->times.n_g2 = 0;
    return CUZK_OK;
}

static void end_points(cuzk_device_key *key)
{
    cuzk_fixed_multiplier_destroy(key->multiplier);
    key->multiplier = NULL;
}

static cuzk_status make_points(cuzk_device_key *key, unsigned query, CUdeviceptr to, uint64_t n,
                               cuzk_error *err)
{
    static const char *const stages[QUERIES] = {"query H", "query C", "query A", "query B in G1",
                                                "query B in G2"};
    const cuzk_setup_logs *logs = &key->logs;
    const cuzk_fr *const scalars[QUERIES] = {logs->h, logs->c + key->shape->n_inputs, logs->a,
                                             logs->b, logs->b};
    const uint64_t counts[QUERIES] = {logs->n_h, cuzk_shape_n_aux(key->shape), logs->n_a, logs->n_b,
                                      logs->n_b};
    cuzk_group_id group = query == QUERIES - 1 ? CUZK_G2 : CUZK_G1;
    size_t each = key->shape->curve->g[group].affine_bytes;
    CUZK_FAIL_IF(
        key->multiplier == NULL || query >= QUERIES || n != counts[query], err, CUZK_E_INTERNAL,
        "making a key on a device: query %u of %" PRIu64 " points is not the key's", query, n);
    for (uint64_t done = 0; done < n; done += SLICE) {
        size_t part = n - done < SLICE ? (size_t)(n - done) : SLICE;
        CUZK_TRY(cuzk_report_progress(key->setup.reporter, stages[query], key->n_done,
                                      key->n_points, err));
        CUZK_TRY(cuzk_fixed_multiplier_run(key->multiplier, to + done * each, group,
                                           scalars[query] + done, part, err));
        key->n_done += part;
    }
    *(group == CUZK_G1 ? &key->times.n_g1 : &key->times.n_g2) += n;
    return CUZK_OK;
}

/* cuzk_point_source.put */
static cuzk_status put_query(void *ctx, unsigned query, uint64_t device_address, uint64_t n,
                             cuzk_error *err)
{
    cuzk_device_key *key = ctx;
    cuzk_status status = CUZK_OK;
    if (query == 0) {
        end_points(key); /* of a device that did not come to its end */
        status = begin_points(key, err);
    }
    uint64_t begin = cuzk_now_ns();
    if (status == CUZK_OK) {
        status = make_points(key, query, device_address, n, err);
    }
    key->times.points_ns += cuzk_now_ns() - begin;
    if (status != CUZK_OK || query == QUERIES - 1) {
        end_points(key);
    }
    if (status == CUZK_OK && query == QUERIES - 1) {
        drop_logs(key);
    }
    return status;
}

/* ---- life ---- */

static cuzk_status make(cuzk_device_key *key, cuzk_error *err)
{
    CUZK_TRY(make_logs(key, err));
    const cuzk_fixed_multiplier_params params = multiples_of(key);
    const cuzk_point_source source = {.put = put_query,
                                      .ctx = key,
                                      .device_bytes =
                                          cuzk_fixed_multiplier_bytes(key->shape->curve, params.n)};
    CUZK_TRY(cuzk_setup_vk(&key->vk, &key->logs, &key->setup, key->pool, err));
    return cuzk_prover_create_made(&key->prover, key->shape, &key->vk, &source, err);
}

cuzk_status cuzk_device_key_create(cuzk_device_key **out, const cuzk_shape *shape,
                                   const cuzk_device_key_params *params, cuzk_pool *pool,
                                   cuzk_error *err)
{
    CUZK_FAIL_IF(params->trapdoor == NULL, err, CUZK_E_ARGUMENT,
                 "making a key on a device: only test keys are made there, from a trapdoor");
    cuzk_device_key *key = calloc(1, sizeof *key);
    CUZK_FAIL_IF(key == NULL, err, CUZK_E_MEMORY, "making a key on a device: out of memory");
    key->shape = shape;
    key->trapdoor = *params->trapdoor;
    key->setup = (cuzk_setup_params){.style = CUZK_KEY_BELLPERSON,
                                     .test_trapdoor = &key->trapdoor,
                                     .reporter = params->reporter};
    key->api = params->api;
    key->pool = pool;
    cuzk_status status = make(key, err);
    if (status != CUZK_OK) {
        cuzk_device_key_destroy(key);
        return status;
    }
    *out = key;
    return CUZK_OK;
}

const cuzk_prover *cuzk_device_key_prover(const cuzk_device_key *key)
{
    return key->prover;
}

const cuzk_device_key_times *cuzk_device_key_get_times(const cuzk_device_key *key)
{
    return &key->times;
}

void cuzk_device_key_destroy(cuzk_device_key *key)
{
    if (key != NULL) {
        cuzk_prover_destroy(key->prover);
        cuzk_vk_clear(&key->vk);
        drop_logs(key);
        cuzk_wipe(&key->trapdoor, sizeof key->trapdoor);
        free(key);
    }
}
