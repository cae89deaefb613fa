/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multiples of the generators of a curve on a device, for key set-up: the host side of
 * fixed_base.h.
 *
 * Tables of 4-bit windows come from the host; those of 8 bits, and of 16, are made with the smaller
 * ones, by the device. Their size follows from how many multiples will be asked for. */
#ifndef CUZK_BACKEND_CUDA_FIXED_MULTIPLIER_H
#define CUZK_BACKEND_CUDA_FIXED_MULTIPLIER_H

#include "backend/cuda/device_arena.h"
#include "base/pool.h"
#include "groth16/setup.h"

typedef struct cuzk_fixed_multiplier cuzk_fixed_multiplier;

typedef struct {
    uint64_t n[2];       /* multiples that will be asked for in each group, about */
    size_t memory_limit; /* bytes of device memory; 0: what is free */
} cuzk_fixed_multiplier_params;

/** Reserve memory and make the tables of both generators, in the current context: it is current in
 *  every thread that calls, until destroy.
 *
 *  curve: borrowed until destroy. Memory: at most 3 GiB, less for few multiples or under a limit.
 *  Returned: free with cuzk_fixed_multiplier_destroy. Errors: E_MEMORY (with the bytes that the
 *  smallest way needs, and those that are there), E_DEVICE. Threads: the pool's, for the host's
 *  tables. */
cuzk_status cuzk_fixed_multiplier_create(cuzk_fixed_multiplier **out, const cuzk_cuda_api *api,
                                         const cuzk_curve *curve,
                                         const cuzk_fixed_multiplier_params *params,
                                         cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes of device memory that are enough to make these multiples at a good rate: a batch of some
 *  millisecond; create takes more where there is more. n: as in the parameters. */
uint64_t cuzk_fixed_multiplier_bytes(const cuzk_curve *curve, const uint64_t n[2]);

/** out_i = scalars_i · generator of the group, n packed affine points of device memory, 16-byte
 *  aligned: bit for bit what the host computes.
 *
 *  scalars: host memory, Montgomery form. Waits until they are there. One call at a time, this or
 *  the one of cuzk_fixed_multiplier_get. Errors: E_DEVICE. */
cuzk_status cuzk_fixed_multiplier_run(cuzk_fixed_multiplier *multiplier, CUdeviceptr out,
                                      cuzk_group_id group, const cuzk_fr *scalars, size_t n,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

/** What cuzk_setup_params takes: the points come back to the host. Valid until destroy. */
const cuzk_multiplier *cuzk_fixed_multiplier_get(const cuzk_fixed_multiplier *multiplier);

/** The device memory that is reserved. */
const cuzk_arena *cuzk_fixed_multiplier_memory(const cuzk_fixed_multiplier *multiplier);

/** Bits of a window of the table of a group. */
unsigned cuzk_fixed_multiplier_bits(const cuzk_fixed_multiplier *multiplier, cuzk_group_id group);

/** Wipe private values and free. NULL is fine. Nothing may be running. */
void cuzk_fixed_multiplier_destroy(cuzk_fixed_multiplier *multiplier);

#endif
