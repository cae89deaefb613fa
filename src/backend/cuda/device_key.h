/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A test key whose points are made straight in a device's memory: for full-size proofs where there
 * is no key file, nor room for one. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_KEY_H
#define CUZK_BACKEND_CUDA_DEVICE_KEY_H

#include "backend/cuda/driver.h"
#include "base/pool.h"
#include "groth16/prover.h"
#include "groth16/setup.h"

typedef struct cuzk_device_key cuzk_device_key;

typedef struct {
    const cuzk_trapdoor *trapdoor; /* of the test key; copied */
    const cuzk_reporter *reporter; /* may be NULL; borrowed until destroy. A key that a device takes
                                      is given up, too, where it says so: E_CANCELLED */
    const cuzk_cuda_api *api;      /* of the devices that will take it; NULL: the one driver's */
} cuzk_device_key_params;

/* Wall time of the steps, of the last making of each. */
typedef struct {
    uint64_t logarithms_ns; /* Lagrange values and columns, on the pool's threads */
    uint64_t tables_ns;     /* of multiples of the generators */
    uint64_t points_ns;     /* scalars to the device, points in their place */
    uint64_t n_g1, n_g2;    /* points */
} cuzk_device_key_times;

/** Make the host's part of a bellperson-style test key for a shape: the logarithms of its points,
 *  its verifying key, and a prover that a device may take (cuzk_device_prover_create), which has
 * its points made there.
 *
 *  shape, pool: borrowed until destroy. Threads: the pool's. Memory: 4 × 32 bytes a variable or row
 *  on the host, until the first device has its points; a device that takes the key later has the
 *  logarithms made anew. On the device, beside the points and while they are made, tables and
 *  workspace (fixed_multiplier.h). Touches no driver. Returned: free with cuzk_device_key_destroy.
 *  Errors: those of cuzk_setup, bellperson style; E_ARGUMENT without a trapdoor. */
cuzk_status cuzk_device_key_create(cuzk_device_key **out, const cuzk_shape *shape,
                                   const cuzk_device_key_params *params, cuzk_pool *pool,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** The prover: its points are on devices only. Devices that take it at the same time take turns;
 * any number may prove with it. Valid until destroy; the devices that took it go first. */
const cuzk_prover *cuzk_device_key_prover(const cuzk_device_key *key);

const cuzk_device_key_times *cuzk_device_key_get_times(const cuzk_device_key *key);

/** Wipe private values and free. NULL is fine. */
void cuzk_device_key_destroy(cuzk_device_key *key);

#endif
