/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What kernels share: their linkage, and 16-byte accesses to global memory for field elements. */
#ifndef CUZK_BACKEND_CUDA_DEVICE_WORDS_CUH
#define CUZK_BACKEND_CUDA_DEVICE_WORDS_CUH

#include <stdint.h>

#if !defined(CUZK_EMULATED_DEVICE) /* tests/cuda/simt.h has its own */

/* Before the declarator of a kernel that the host finds by name. */
#define CUZK_KERNEL extern "C" __global__ void

/** o = n words at src (16-byte aligned global memory, n even and constant). */
static __device__ __forceinline__ void cuzk_read_words(uint64_t *o, const void *src, int n)
{
    uint64_t place = __cvta_generic_to_global(src);
#pragma unroll
    for (int i = 0; i < n; i += 2) {
        asm volatile("ld.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(o[i]), "=l"(o[i + 1])
                     : "l"(place + 8 * i));
    }
}

/** n words at dst = a (16-byte aligned global memory, n even and constant). */
static __device__ __forceinline__ void cuzk_write_words(void *dst, const uint64_t *a, int n)
{
    uint64_t place = __cvta_generic_to_global(dst);
#pragma unroll
    for (int i = 0; i < n; i += 2) {
        asm volatile("st.global.v2.u64 [%0], {%1, %2};"
                     :
                     : "l"(place + 8 * i), "l"(a[i]), "l"(a[i + 1])
                     : "memory");
    }
}

#endif
#endif
