/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A prover's large sums on a CUDA device: the key's points stay there. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_PROVER_H
#define CUZK_BACKEND_CUDA_DEVICE_PROVER_H

#include "backend/cuda/device.h"
#include "groth16/prove_device.h"
#include "groth16/prover.h"
#include "groth16/proving.h"

typedef struct cuzk_device_prover cuzk_device_prover;

/** Copy the points of a prover's key to a device and make what its transforms need.
 *
 *  device, prover: borrowed until destroy; the device's context is made current in every thread
 * that calls. Device memory: the key's points, 64 bytes a point of the domain for factors and 96
 * for rows, and room for the sums, which grows to what the largest witness needs. Returned: free
 * with cuzk_device_prover_destroy. Errors: E_MEMORY, E_DEVICE (the driver's reason, such as too
 * little memory). */
cuzk_status cuzk_device_prover_create(cuzk_device_prover **out, const cuzk_cuda_device *device,
                                      const cuzk_prover *prover, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes of device memory of a prover whose key has n_g1 and n_g2 points and of its proofs, at
 * most, whatever the witness. Pure. */
uint64_t cuzk_device_prover_bytes(const cuzk_proving_counts *counts, uint64_t n_g1, uint64_t n_g2);

/** What cuzk_prove_params takes; valid until destroy. Proofs take turns. */
const cuzk_prove_device *cuzk_device_prover_get(const cuzk_device_prover *prover);

/** Wipe private values and free. NULL is fine. No proof may be under way. */
void cuzk_device_prover_destroy(cuzk_device_prover *prover);

#endif
