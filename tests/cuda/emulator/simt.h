/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CUDA's words for a host compiler: kernel sources compile as C++ behind this header (it is
 * included before them, see CMakeLists.txt) and run thread by thread on the host.
 *
 * What runs is the source that nvcc compiles, device bodies included: the carry-chain instructions
 * of limbs_ptx.h are done one by one with a carry flag. What this cannot show is what the compiler
 * and the hardware add: register spills, memory order, timing.
 * One block at a time; a thread runs until it waits. */
#ifndef CUZK_TESTS_SIMT_H
#define CUZK_TESTS_SIMT_H

#define CUZK_EMULATED_DEVICE 1

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    unsigned x, y, z;
} simt_dim;

extern "C" {
extern simt_dim threadIdx, blockIdx, blockDim, gridDim;
/* Wait for all threads of the block, or of the warp, that have not returned. */
void __syncthreads(void);
void __syncwarp(void);
/* Every lane of the warp gives a value and gets those of all 32 (0 where a lane has returned). */
const uint32_t *simt_exchange(uint32_t value);
}

#define __global__
#define __device__
#define __host__
#define __forceinline__        inline
#define __noinline__           __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((unused))
#define __shared__             static
#define __align__(n)           __attribute__((aligned(n)))
#define CUZK_KERNEL            static void

typedef struct {
    unsigned x, y;
} uint2;

template <class T> static inline T __ldg(const T *p)
{
    return *p;
}

static inline int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline unsigned __brev(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++) {
        r = r << 1 | (x >> i & 1);
    }
    return r;
}

static inline uint32_t atomicAdd(uint32_t *p, uint32_t v)
{
    uint32_t old = *p;
    *p += v;
    return old;
}

static inline uint32_t atomicMax(uint32_t *p, uint32_t v)
{
    uint32_t old = *p;
    *p = old > v ? old : v;
    return old;
}

static inline unsigned simt_lane(void)
{
    return threadIdx.x % 32;
}

static inline uint32_t __shfl_sync(unsigned, uint32_t value, int lane)
{
    return simt_exchange(value)[lane & 31];
}

static inline uint32_t __shfl_up_sync(unsigned, uint32_t value, unsigned by)
{
    unsigned lane = simt_lane();
    return simt_exchange(value)[lane >= by ? lane - by : lane];
}

static inline uint32_t __shfl_xor_sync(unsigned, uint32_t value, unsigned by)
{
    return simt_exchange(value)[simt_lane() ^ by];
}

/* The lanes of `mask` whose value is this lane's. */
static inline unsigned __match_any_sync(unsigned mask, uint32_t value)
{
    const uint32_t *all = simt_exchange(value);
    unsigned same = 0;
    for (unsigned i = 0; i < 32; i++) {
        same |= (unsigned)(all[i] == value) << i;
    }
    return same & mask;
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    const uint32_t *all = simt_exchange(predicate != 0);
    unsigned set = 0;
    for (unsigned i = 0; i < 32; i++) {
        set |= (all[i] & 1) << i;
    }
    return set & mask;
}

/* ---- limbs_ptx.h ---- */

static uint32_t simt_carry; /* the flag CC.CF; borrows set it too */

static inline uint32_t simt_low(uint64_t t)
{
    simt_carry = (uint32_t)(t >> 32) & 1;
    return (uint32_t)t;
}

static inline uint32_t simt_product_high(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

static inline uint32_t cuzk_ptx_add_cc(uint32_t a, uint32_t b)
{
    return simt_low((uint64_t)a + b);
}

static inline uint32_t cuzk_ptx_addc_cc(uint32_t a, uint32_t b)
{
    return simt_low((uint64_t)a + b + simt_carry);
}

static inline uint32_t cuzk_ptx_addc(uint32_t a, uint32_t b)
{
    return a + b + simt_carry;
}

static inline uint32_t cuzk_ptx_sub_cc(uint32_t a, uint32_t b)
{
    return simt_low((uint64_t)a - b);
}

static inline uint32_t cuzk_ptx_subc_cc(uint32_t a, uint32_t b)
{
    return simt_low((uint64_t)a - b - simt_carry);
}

static inline uint32_t cuzk_ptx_subc(uint32_t a, uint32_t b)
{
    return a - b - simt_carry;
}

static inline uint32_t cuzk_ptx_mad_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return simt_low((uint64_t)(a * b) + c);
}

static inline uint32_t cuzk_ptx_madc_lo_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return simt_low((uint64_t)(a * b) + c + simt_carry);
}

static inline uint32_t cuzk_ptx_madc_lo(uint32_t a, uint32_t b, uint32_t c)
{
    return a * b + c + simt_carry;
}

static inline uint32_t cuzk_ptx_madc_hi_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return simt_low((uint64_t)simt_product_high(a, b) + c + simt_carry);
}

static inline uint32_t cuzk_ptx_madc_hi(uint32_t a, uint32_t b, uint32_t c)
{
    return simt_product_high(a, b) + c + simt_carry;
}

/* ---- device_words.cuh ---- */

static inline void cuzk_read_words(uint64_t *o, const void *src, int n)
{
    memcpy(o, src, 8 * (size_t)n);
}

static inline void cuzk_write_words(void *dst, const uint64_t *a, int n)
{
    memcpy(dst, a, 8 * (size_t)n);
}

static inline void cuzk_read_shared(uint64_t *o, const void *src, int n, int stride)
{
    for (int i = 0; i < n; i += 2) {
        memcpy(o + i, (const char *)src + i / 2 * stride, 16);
    }
}

static inline void cuzk_write_shared(void *dst, const uint64_t *a, int n, int stride)
{
    for (int i = 0; i < n; i += 2) {
        memcpy((char *)dst + i / 2 * stride, a + i, 16);
    }
}

/* ---- the list of kernels ---- */

#include "simt_launch.h"

#include <utility>

template <class... A, size_t... I>
static void simt_call(void (*kernel)(A...), void **params, std::index_sequence<I...>)
{
    kernel(*(A *)params[I]...);
}

template <class... A> static void simt_apply(void (*kernel)(A...), void **params)
{
    simt_call(kernel, params, std::index_sequence_for<A...>());
}

template <auto KERNEL> static void simt_run(void **params)
{
    simt_apply(KERNEL, params);
}

#define SIMT_KERNEL(name)                                                                          \
    {                                                                                              \
#name, simt_run < name>                                                                    \
    }

#endif
