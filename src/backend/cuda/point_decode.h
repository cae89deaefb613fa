/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Points from their encoding (curve/point_encoding.h), in place: what kernels and host share. */
#ifndef CUZK_BACKEND_CUDA_POINT_DECODE_H
#define CUZK_BACKEND_CUDA_POINT_DECODE_H

#include <stdint.h>

enum { CUZK_DECODE_BLOCK = 128 };

/* g1_decode, g2_decode, one thread a point: uncompressed big-endian coordinates become packed
 * affine points. Every point must be in the plain range, on the curve, and not infinity. */
typedef struct {
    void *points;    /* 16-byte aligned */
    uint32_t *worst; /* 2^32 - 1 less the number of the first bad point, where it was 0 */
    uint32_t n;
    uint32_t first; /* number of the first point, for `worst` */
} cuzk_decode_args;

#endif
