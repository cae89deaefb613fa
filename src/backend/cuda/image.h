/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kernel images: fat binaries that the build embeds as read-only data (cmake/cuda.cmake), one per
 * kernel family and curve. */
#ifndef CUZK_BACKEND_CUDA_IMAGE_H
#define CUZK_BACKEND_CUDA_IMAGE_H

/* The image of source `stem`.cu for a curve, for cuModuleLoadData. */
#define CUZK_IMAGE(stem, curve) cuzk_image_##stem##_##curve

#define CUZK_DECLARE_IMAGES(stem)                                                                  \
    extern const unsigned char CUZK_IMAGE(stem, bn254)[];                                          \
    extern const unsigned char CUZK_IMAGE(stem, bls12_381)[]

CUZK_DECLARE_IMAGES(point_add);
CUZK_DECLARE_IMAGES(field_check);
CUZK_DECLARE_IMAGES(transform);
CUZK_DECLARE_IMAGES(transform_short);
CUZK_DECLARE_IMAGES(transform_table);
CUZK_DECLARE_IMAGES(bucket);
CUZK_DECLARE_IMAGES(bucket_sort);
CUZK_DECLARE_IMAGES(bucket_reduce);
CUZK_DECLARE_IMAGES(endomorphism);
CUZK_DECLARE_IMAGES(rows);
CUZK_DECLARE_IMAGES(fixed_base);
extern const unsigned char CUZK_IMAGE(point_decode, bls12_381)[];
extern const unsigned char CUZK_IMAGE(byte_sum, bls12_381)[]; /* of all curves */

#endif
