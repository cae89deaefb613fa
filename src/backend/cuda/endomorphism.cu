/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Images of points: endomorphism.h. Built once per curve. Bound by memory: a record read and one
 * written; a multiplication of fp in G1, two in G2. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/endomorphism.h"
#include "backend/cuda/shared_words.cuh"
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

enum { PIECE = 16 }; /* bytes of a load or store */

/* The images of a warp's 32 points. Its lanes move the points' pieces side by side, so that every
 * load and store is of 512 bytes that follow one another; in between the points lie in shared
 * memory, where each lane turns the x of one. A piece is left free behind each point there, so that
 * the lanes' pieces lie in different banks. */
template <typename COORDINATE>
static __device__ __forceinline__ void write_images(const cuzk_images_args &a)
{
    enum { PIECES = 2 * sizeof(COORDINATE) / PIECE, PLACE = PIECE * (PIECES + 1) };
    __shared__ __align__(16) char memory[PLACE * CUZK_IMAGES_BLOCK];
    uint32_t lane = threadIdx.x % 32, first = blockIdx.x * CUZK_IMAGES_BLOCK + threadIdx.x - lane;
    char *here = memory + PLACE * (threadIdx.x - lane), *out = (char *)a.out;
    if (first >= a.n) {
        return;
    }
    uint32_t n = a.n - first < 32 ? a.n - first : 32; /* lanes without a point take the first one */
    uint32_t base = first + (lane < n ? lane : 0);
    uint64_t pieces[PIECES][2];
    base = a.index == NULL ? base : a.index[base];
#pragma unroll
    for (uint32_t j = 0; j < PIECES; j++) {
        uint32_t k = 32 * j + lane, of = __shfl_sync(0xffffffffu, base, (int)(k / PIECES));
        const char *from = (const char *)a.bases + PIECE * (PIECES * (size_t)of + k % PIECES);
        cuzk_read_words(pieces[j], from, 2);
    }
#pragma unroll
    for (uint32_t j = 0; j < PIECES; j++) {
        uint32_t k = 32 * j + lane;
        cuzk_write_shared(here + PIECE * (k + k / PIECES), pieces[j], 2, 0);
    }
    __syncwarp();
    COORDINATE x;
    cuzk_read_shared((uint64_t *)&x, here + PLACE * lane, sizeof(x) / 8, PIECE);
    turn(&x);
    cuzk_write_shared(here + PLACE * lane, (const uint64_t *)&x, sizeof(x) / 8, PIECE);
    __syncwarp();
#pragma unroll
    for (uint32_t j = 0; j < PIECES; j++) {
        uint32_t k = 32 * j + lane;
        cuzk_read_shared(pieces[j], here + PIECE * (k + k / PIECES), 2, 0);
        if (k / PIECES < n) {
            cuzk_write_words(out + PIECE * (PIECES * (size_t)first + k), pieces[j], 2);
        }
    }
}

CUZK_KERNEL __launch_bounds__(CUZK_IMAGES_BLOCK) g1_points_images(cuzk_images_args a)
{
    write_images<fp>(a);
}

CUZK_KERNEL __launch_bounds__(CUZK_IMAGES_BLOCK) g2_points_images(cuzk_images_args a)
{
    write_images<fp2>(a);
}
