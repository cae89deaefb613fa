/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* 16-byte accesses to shared memory for field elements. */
#ifndef CUZK_BACKEND_CUDA_SHARED_WORDS_CUH
#define CUZK_BACKEND_CUDA_SHARED_WORDS_CUH

#include <stdint.h>

#if !defined(CUZK_EMULATED_DEVICE) /* tests/cuda/simt.h has its own */

/** o = n words of shared memory, pairs of them `stride` bytes apart from src on. Volatile: what is
 *  read again is read again, and not kept in registers. */
static __device__ __forceinline__ void cuzk_read_shared(uint64_t *o, const void *src, int n,
                                                        int stride)
{
    uint32_t place = (uint32_t)__cvta_generic_to_shared(src);
#pragma unroll
    for (int i = 0; i < n; i += 2) {
        asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];"
                     : "=l"(o[i]), "=l"(o[i + 1])
                     : "r"(place + i / 2 * stride));
    }
}

static __device__ __forceinline__ void cuzk_write_shared(void *dst, const uint64_t *a, int n,
                                                         int stride)
{
    uint32_t place = (uint32_t)__cvta_generic_to_shared(dst);
#pragma unroll
    for (int i = 0; i < n; i += 2) {
        asm volatile("st.shared.v2.u64 [%0], {%1, %2};"
                     :
                     : "r"(place + i / 2 * stride), "l"(a[i]), "l"(a[i + 1])
                     : "memory");
    }
}

#endif
#endif
