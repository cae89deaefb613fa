/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Keys of a fixed trapdoor. */
#include "bench_gpu_full.h"

#include "backend/cuda/device_key.h"
#include "base/map_file.h"
#include "filecoin/circuit_get.h"
#include "groth16/prover_impl.h"

#include <stdio.h>
#include <stdlib.h>

static cuzk_trapdoor fixed_trapdoor(const cuzk_curve *curve)
{
    cuzk_trapdoor t;
    cuzk_fr *values[] = {&t.tau, &t.alpha, &t.beta, &t.gamma, &t.delta};
    for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
        curve->fr_from_u64(values[i], UINT64_C(0x9e3779b97f4a7c15) + i);
        curve->fr_pow_u64(values[i], values[i], 65537); /* of full width */
    }
    return t;
}

static cuzk_status write_vk(const char *path, const cuzk_vk *vk, cuzk_error *err)
{
    uint64_t n = cuzk_vk_file_bytes(vk->n_ic);
    uint8_t *bytes = malloc((size_t)n);
    CUZK_FAIL_IF(bytes == NULL, err, CUZK_E_MEMORY, "a verifying key: out of memory");
    cuzk_status status = cuzk_vk_write(bytes, n, vk, err);
    if (status == CUZK_OK) {
        status = cuzk_write_file(path, bytes, (size_t)n, err);
    }
    free(bytes);
    return status;
}

/* The key's own prover ends with it, this one with the engine's key. */
static cuzk_status make_prover(cuzk_prover **out, full_keys *keys, const cuzk_shape *shape,
                               cuzk_error *err)
{
    cuzk_trapdoor trapdoor = fixed_trapdoor(shape->curve);
    cuzk_device_key_params params = {.trapdoor = &trapdoor};
    CUZK_TRY(cuzk_device_key_create(&keys->key, shape, &params, keys->ctx->pool, err));
    const cuzk_prover *prover = cuzk_device_key_prover(keys->key);
    CUZK_TRY(write_vk(keys->vk_path, cuzk_prover_vk(prover), err));
    return cuzk_prover_create_made(out, shape, cuzk_prover_vk(prover), &prover->source, err);
}

static cuzk_status make(void *user, cuzk_filecoin_key **out, const cuzk_registered_proof *proof,
                        cuzk_error *err)
{
    full_keys *keys = user;
    cuzk_filecoin_key *made = calloc(1, sizeof *made);
    CUZK_FAIL_IF(made == NULL, err, CUZK_E_MEMORY, "making a key: out of memory");
    made->proof = *proof;
    cuzk_status status = cuzk_circuit_get(&made->shape, proof->kind, proof->sector, NULL, NULL,
                                          keys->ctx->pool, err);
    if (status == CUZK_OK) {
        status = make_prover(&made->prover, keys, made->shape, err);
    }
    if (status != CUZK_OK) {
        cuzk_filecoin_key_close(made);
        return status;
    }
    *out = made;
    return CUZK_OK;
}

cuzk_filecoin_key_maker full_key_maker(full_keys *keys)
{
    return (cuzk_filecoin_key_maker){make, keys};
}

void full_keys_print(const full_keys *keys)
{
    const cuzk_device_key_times *t = cuzk_device_key_get_times(keys->key);
    printf("# key: logarithms %.2f s, tables %.2f, %llu points in G1 and %llu in G2 %.2f\n",
           (double)t->logarithms_ns / 1e9, (double)t->tables_ns / 1e9, (unsigned long long)t->n_g1,
           (unsigned long long)t->n_g2, (double)t->points_ns / 1e9);
}

void full_keys_clear(full_keys *keys)
{
    cuzk_device_key_destroy(keys->key);
    keys->key = NULL;
}
