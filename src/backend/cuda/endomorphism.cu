/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Images of points: endomorphism.h. Built once per curve. Bound by memory: a record read and one
 * written; a multiplication of fp in G1, two in G2. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/endomorphism.h"
#include "field/fields.h"

static __device__ __forceinline__ void turn(fp *x)
{
    CUZK_LOCAL_TABLE fp beta = CUZK_CC(BETA);
    fp_mul(x, x, &beta);
}

static __device__ __forceinline__ void turn(fp2 *x)
{
    CUZK_LOCAL_TABLE fp beta = CUZK_CC(PSI2_X);
    fp_mul(&x->c0, &x->c0, &beta);
    fp_mul(&x->c1, &x->c1, &beta);
}

template <typename COORDINATE>
static __device__ __forceinline__ void write_image(const cuzk_images_args &a)
{
    uint32_t i = blockIdx.x * CUZK_IMAGES_BLOCK + threadIdx.x;
    if (i >= a.n) {
        return;
    }
    const COORDINATE *from =
        (const COORDINATE *)a.bases + 2 * (size_t)(a.index == NULL ? i : a.index[i]);
    COORDINATE *to = (COORDINATE *)a.out + 2 * (size_t)i, x, y;
    cuzk_read_words((uint64_t *)&x, from, sizeof(x) / 8);
    cuzk_read_words((uint64_t *)&y, from + 1, sizeof(y) / 8);
    turn(&x);
    cuzk_write_words(to, (const uint64_t *)&x, sizeof(x) / 8);
    cuzk_write_words(to + 1, (const uint64_t *)&y, sizeof(y) / 8);
}

CUZK_KERNEL __launch_bounds__(CUZK_IMAGES_BLOCK) g1_points_images(cuzk_images_args a)
{
    write_image<fp>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_IMAGES_BLOCK) g2_points_images(cuzk_images_args a)
{
    write_image<fp2>(a);
}
