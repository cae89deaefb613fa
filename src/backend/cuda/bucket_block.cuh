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

/* ---- sums: all threads of the warp, or of the block, take part ---- */

static __device__ __forceinline__ uint32_t warp_sum(uint32_t v)
{
#pragma unroll
    for (uint32_t by = 16; by > 0; by /= 2) {
        v += __shfl_xor_sync(0xffffffffu, v, by);
    }
    return v;
}

/* The sum of v over the lanes up to this one. */
static __device__ __forceinline__ uint32_t warp_scan(uint32_t v)
{
    uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t by = 1; by < 32; by *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffffu, v, by);
        v += lane >= by ? other : 0;
    }
    return v;
}

/* The sum of v over the block. warp_sums: shared, a word for each warp. */
static __device__ __forceinline__ uint32_t block_sum(uint32_t v, uint32_t *warp_sums)
{
    uint32_t of_warp = warp_sum(v), sum = 0;
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = of_warp;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < BUCKET_WARPS; i++) {
        sum += warp_sums[i];
    }
    __syncthreads();
    return sum;
}

/* The sum of v over the threads before this one. */
static __device__ __forceinline__ uint32_t block_scan(uint32_t v, uint32_t *warp_sums)
{
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = warp_scan(v);
    if (lane == 31) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    uint32_t before = 0;
#pragma unroll
    for (uint32_t i = 0; i < BUCKET_WARPS; i++) {
        before += i < warp ? warp_sums[i] : 0;
    }
    __syncthreads();
    return before + sum - v;
}

/* ---- tiles of a scan ---- */

enum { SCAN_RUN = CUZK_SCAN_TILE / BUCKET_BLOCK };

/* Which element of the tile is this thread's number j: a warp has a run of them, which its lanes
 * take side by side. */
static __device__ __forceinline__ uint32_t scan_place(uint32_t j)
{
    return (thread_number() / 32 * SCAN_RUN + j) * 32 + threadIdx.x % 32;
}

#endif
