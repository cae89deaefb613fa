/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of a key's circuit on a device, from a shape or from a circom key's coefficients, and
 * their products with a typed witness there. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_ROWS_H
#define CUZK_BACKEND_CUDA_DEVICE_ROWS_H

#include "backend/cuda/device_arena.h"
#include "backend/cuda/rows.h"
#include "formats/zkey.h"
#include "r1cs/shape.h"

/* A and B; offsets are into the arena. */
typedef struct {
    const cuzk_cuda_api *api;
    CUmodule module;
    CUfunction kernel, long_kernel;
    const cuzk_shape *shape; /* NULL: of a circom key */
    const cuzk_zkey *zkey;
    uint32_t n_stored, n_constraints, n_inputs, n_blocks;
    unsigned lg_n;
    size_t n_terms[2];
    uint32_t n_long[2]; /* long rows, copies counted */
    size_t long_rows[2], begin[2], var[2], code[2], coefs[2], blocks, choices;
} cuzk_device_rows;

/** Load the kernel of the curve and plan memory.
 *
 *  shape or zkey: the other is NULL; borrowed until close. lg_n: the domain.
 *  Errors: E_UNSUPPORTED (2^32 terms or more), E_FORMAT (a bad coefficient of the key), E_DEVICE.
 */
cuzk_status cuzk_device_rows_open(cuzk_device_rows *out, const cuzk_cuda_api *api,
                                  const cuzk_shape *shape, const cuzk_zkey *zkey, unsigned lg_n,
                                  cuzk_arena *arena, cuzk_error *err) CUZK_WARN_UNUSED;

/** Copy the rows to the reserved arena. Errors: E_MEMORY, E_DEVICE. */
cuzk_status cuzk_device_rows_upload(const cuzk_device_rows *rows, const cuzk_arena *arena,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** out_i = ⟨row i, w⟩, Montgomery form, i bit-reversed, for all 2^lg_n rows of the domain, those of
 *  the inputs behind a shape's constraints included. matrix: 0 for A, 1 for B. Returns without
 *  waiting. Errors: E_DEVICE. */
cuzk_status cuzk_device_rows_eval(const cuzk_device_rows *rows, const cuzk_arena *arena,
                                  unsigned matrix, const cuzk_rows_witness *w, CUdeviceptr out,
                                  CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** Unload the kernel. */
void cuzk_device_rows_close(cuzk_device_rows *rows);

#endif
