/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of device_prover.h share: a prover, and its parts in the order of its life. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_PROVER_IMPL_H
#define CUZK_BACKEND_CUDA_DEVICE_PROVER_IMPL_H

#include "backend/cuda/card_plan.h"
#include "backend/cuda/device_prover.h"
#include "backend/cuda/device_rows.h"
#include "backend/cuda/point_summer.h"
#include "backend/cuda/transformer.h"
#include "groth16/prover_impl.h"

#include <pthread.h>

enum { CUZK_PROVER_SETS = 3 };

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
    cuzk_card_need need;
    cuzk_card_plan plan;
    cuzk_arena arena;
    cuzk_card_places at;
    size_t support[CUZK_PROVER_SETS], support_rank[CUZK_PROVER_SETS]; /* places, too */
    cuzk_device_times *times;
    float ms[CUZK_TIME_KINDS]; /* of proofs since they were asked for */
};

static inline CUdeviceptr cuzk_prover_address(const cuzk_device_prover *d, size_t place)
{
    return d->arena.at + place;
}

static inline uint32_t cuzk_prover_fewer(size_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

/* ---- device_plan.c ---- */

/** The number of a set's query in need.queries; H is 0. */
unsigned cuzk_prover_query_number(const cuzk_prover *p, unsigned set, size_t query);

/** Decide, plan the places of all but the rows, which are planned before, and reserve the arena.
 *  Errors: E_MEMORY with the bytes of each purpose; E_DEVICE. */
cuzk_status cuzk_prover_reserve(cuzk_device_prover *d, const cuzk_device_prover_params *params,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- device_residents.c ---- */

/** Key, supports and rows to their places. Errors: E_MEMORY, E_DEVICE. */
cuzk_status cuzk_prover_upload_key(const cuzk_device_prover *d,
                                   const cuzk_device_prover_params *params,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** n_bytes of host memory to a place; waits. */
cuzk_status cuzk_prover_upload(const cuzk_device_prover *d, size_t place, const void *from,
                               size_t n_bytes, cuzk_error *err) CUZK_WARN_UNUSED;

/* ---- device_sums.c ---- */

/** Upload, rows, quotient and all sums, of cuzk_prove_device.sums. The caller holds the mutex. */
cuzk_status cuzk_prover_sums(cuzk_device_prover *d, cuzk_jac *h, cuzk_query_set *sets,
                             const cuzk_witness *witness, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
