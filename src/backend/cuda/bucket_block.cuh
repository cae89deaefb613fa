/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the kernels of bucket.h share. */
#ifndef CUZK_BACKEND_CUDA_BUCKET_BLOCK_CUH
#define CUZK_BACKEND_CUDA_BUCKET_BLOCK_CUH

#include "backend/cuda/bucket.h"
#include "backend/cuda/device_words.cuh"

enum { BUCKET_BLOCK = CUZK_BUCKET_BLOCK, BUCKET_WARPS = BUCKET_BLOCK / 32 };

static __device__ __forceinline__ uint32_t thread_number(void)
{
    return blockIdx.x * BUCKET_BLOCK + threadIdx.x;
}

#endif
