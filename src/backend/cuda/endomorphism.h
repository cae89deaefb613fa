/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Images of points under the endomorphism phi(x, y) = (β·x, y), β a cube root of one in Fp: what
 * kernels and host share. On the subgroups of order r of both groups of both curves it multiplies
 * by LAMBDA, another β in each group (curve/scalar_mul.h). Infinity, (0, 0), is its own image. */
#ifndef CUZK_BACKEND_CUDA_ENDOMORPHISM_H
#define CUZK_BACKEND_CUDA_ENDOMORPHISM_H

#include <stdint.h>

enum { CUZK_IMAGES_BLOCK = 128 };

/* points_images, one warp for 32 points: out_i = phi(base number index_i). */
typedef struct {
    const void *bases;     /* packed affine points (curve.h) */
    const uint32_t *index; /* NULL: 0 … n-1 */
    void *out;             /* packed, too */
    uint32_t n, unused;
} cuzk_images_args;

#endif
