/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of device_prover.h share: a prover, and its parts in the order of its life. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_PROVER_IMPL_H
#define CUZK_BACKEND_CUDA_DEVICE_PROVER_IMPL_H

#include "backend/cuda/device_prover.h"
#include "backend/cuda/device_rows.h"
#include "backend/cuda/point_summer.h"
#include "backend/cuda/transformer.h"
#include "groth16/prover_impl.h"

#include <pthread.h>

enum { CUZK_PROVER_SETS = 3 };

/* Places in the arena. */
typedef struct {
    size_t h, queries[CUZK_PROVER_SETS][CUZK_QUERIES_MAX];
    size_t support[CUZK_PROVER_SETS], support_rank[CUZK_PROVER_SETS], factors;
    size_t is_field, bits, rank, field; /* of the witness */
    size_t a, b, c, h_sums;             /* while h is made and summed … */
    size_t index, which, select, sums;  /* … and in the same place, the other sums */
} cuzk_prover_places;

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
    cuzk_prover_places at;
    uint32_t n_field_max; /* field values that there is room for */
    uint32_t piece;       /* scalars, and bits in 64ths, of a sum at a time */
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

/** Plan the places of the key, the circuit's support and the tables. */
void cuzk_prover_plan_residents(cuzk_device_prover *d);

/** Plan the places of a witness of up to n_field_max field values. */
void cuzk_prover_plan_witness(cuzk_device_prover *d);

/** Variables that may hold field values. */
uint32_t cuzk_prover_count_field(const cuzk_prover *p);

/** Bases of a query: of all variables, or of those in the set's support. */
size_t cuzk_prover_bases(const cuzk_prover *p, const cuzk_query_set *set, const cuzk_msm_query *q);

/** Plan the workspace and reserve the arena: sums in one piece if there is room, else in smaller
 *  ones. Errors: E_MEMORY with the bytes of each purpose; E_DEVICE. */
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
