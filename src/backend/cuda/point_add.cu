/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Batched affine additions in both groups of one curve: point_add.h says what, point_add_tmpl.cuh
 * how. Built once per curve. Blocks per SM by measurement on compute capability 9.0. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/point_add.h"
#include "backend/cuda/shared_words.cuh"
#include "field/fields.h"

enum { PA_STRIDE = 16 * CUZK_ADD_BLOCK }; /* of the pieces of a value in shared memory */

template <class A, class B> static __device__ __forceinline__ void g1_product(fp *o, A a, B b)
{
    fp x, y;
    a.get(&x);
    b.get(&y);
    fp_mul_loose(o, &x, &y);
}

#define PA(name)     g1_##name
#define CF(name)     fp_##name
#define CF_TYPE      fp
#define PA_PRODUCT   g1_product
#define PA_CALL      __forceinline__
#define PA_IN_SHARED 0
#define PA_BLOCKS    4
#include "backend/cuda/point_add_tmpl.cuh"

/* With products in line the code of bls12_381 is too long for the instruction cache. */
#define PA(name)   g2_##name
#define CF(name)   fp2_##name
#define CF_TYPE    fp2
#define PA_PRODUCT fp2_product<true>
#if FP_LIMBS == 4
#define PA_CALL __forceinline__
#else
#define PA_CALL __noinline__
#endif
#define PA_IN_SHARED 1
#define PA_BLOCKS    4
#include "backend/cuda/point_add_tmpl.cuh"
