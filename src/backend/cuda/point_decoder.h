/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The host side of point_decode.h: a key's points are decoded where they lie on the device, so that
 * no host memory ever holds them in another form than the file's. */
#ifndef CUZK_BACKEND_CUDA_POINT_DECODER_H
#define CUZK_BACKEND_CUDA_POINT_DECODER_H

#include "backend/cuda/driver.h"
#include "curve/curve.h"

typedef struct {
    const cuzk_cuda_api *api;
    CUmodule module;
    CUfunction decode[2]; /* by group id */
} cuzk_point_decoder;

/** Load the kernels (bls12_381) into the current context. Errors: E_DEVICE. */
cuzk_status cuzk_point_decoder_open(cuzk_point_decoder *out, const cuzk_cuda_api *api,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Unload them; nothing may be running. */
void cuzk_point_decoder_close(cuzk_point_decoder *decoder);

/** Decode n encoded points in place: numbers first … first + n - 1, below 2^32 - 1. worst: a word
 * of device memory, 0 before the first call; after the calls have run cuzk_point_decoder_bad tells
 *  what it means. Does not wait. Errors: E_DEVICE. */
cuzk_status cuzk_point_decoder_run(const cuzk_point_decoder *decoder, cuzk_group_id group,
                                   CUdeviceptr points, uint32_t first, uint32_t n,
                                   CUdeviceptr worst, CUstream stream,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether one of the points was bad, and the first of them, from what `worst` holds. */
static inline bool cuzk_point_decoder_bad(uint32_t worst, uint32_t *first)
{
    *first = UINT32_MAX - worst;
    return worst != 0;
}

#endif
