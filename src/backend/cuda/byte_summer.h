/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The host side of byte_sum.h. For one thread at a time. */
#ifndef CUZK_BACKEND_CUDA_BYTE_SUMMER_H
#define CUZK_BACKEND_CUDA_BYTE_SUMMER_H

#include "backend/cuda/driver.h"

/* All zero: not open. */
typedef struct {
    const cuzk_cuda_api *api;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr sums; /* 512 KiB, of the threads */
    uint64_t *on_host;
} cuzk_byte_summer;

/** Load the kernel into the current context and take its memory. Returned: cuzk_byte_summer_close.
 *  Errors: E_MEMORY, E_DEVICE. */
cuzk_status cuzk_byte_summer_open(cuzk_byte_summer *out, const cuzk_cuda_api *api,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Give all back; nothing may be running. One that is not open is fine. */
void cuzk_byte_summer_close(cuzk_byte_summer *summer);

/** The sum of n_bytes, a multiple of 8, from an address that is one. Waits. Errors: E_DEVICE. */
cuzk_status cuzk_byte_sum(const cuzk_byte_summer *summer, uint64_t *out, CUdeviceptr at,
                          size_t n_bytes, CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
