/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Field operations of one curve, element by element, for the self-test of a device: the host
 * computes the same from the same headers. Built once per curve.
 * One thread an element; FIELD_CHECK_RESULTS results an element in the order of field_check.h. */
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/field_check.h"
#include "field/factor.h"

#define FC(name) fr_##name
#define FC_TYPE  fr
#include "backend/cuda/field_check_tmpl.h"

#define FC(name) fp_##name
#define FC_TYPE  fp
#include "backend/cuda/field_check_tmpl.h"

#define FC(name) fp2_##name
#define FC_TYPE  fp2
#include "backend/cuda/field_check_tmpl.h"

#define FIELD_CHECK_KERNEL(name, type)                                                             \
    CUZK_KERNEL name##_check(type *o, const type *a, const type *b, uint32_t n)                    \
    {                                                                                              \
        uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        if (i < n) {                                                                               \
            name##_check_one(o + (size_t)i * CUZK_FIELD_CHECK_RESULTS, a + i, b + i);              \
        }                                                                                          \
    }
FIELD_CHECK_KERNEL(fr, fr)
FIELD_CHECK_KERNEL(fp, fp)
FIELD_CHECK_KERNEL(fp2, fp2)

CUZK_KERNEL fr_factor_check(fr *o, const fr *a, const fr *b, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    fr reduced, r;
    fr_factor f;
    o += (size_t)i * CUZK_FACTOR_CHECK_RESULTS;
    fr_reduce_loose(&reduced, b + i);
    fr_factor_from(&f, &reduced);
    fr_mul_factor(&r, a + i, &f);
    fr_reduce_loose(&o[0], &r);
    fr_add_loose(&r, a + i, b + i);
    fr_reduce_loose(&o[1], &r);
    fr_sub_wide(&r, a + i, b + i);
    fr_reduce_loose(&o[2], &r);
}

/* Every operation on operands at the ends of what it allows. */
#define LOOSE_CHECK_KERNEL(name, type)                                                             \
    CUZK_KERNEL name##_loose_check(type *o, const type *a, const type *b, uint32_t n)              \
    {                                                                                              \
        uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        if (i >= n) {                                                                              \
            return;                                                                                \
        }                                                                                          \
        type x, y, product, square;                                                                \
        o += (size_t)i * CUZK_LOOSE_CHECK_RESULTS;                                                 \
        name##_mul_loose(&product, a + i, b + i);                                                  \
        name##_sqr_loose(&square, a + i);                                                          \
        name##_reduce_loose(&o[0], &product);                                                      \
        name##_reduce_loose(&o[1], &square);                                                       \
        name##_reduce_loose(&x, a + i);                                                            \
        name##_reduce_loose(&y, b + i);                                                            \
        name##_sub_loose(&square, &square, &x);                                                    \
        name##_sub_loose(&square, &square, &y);                                                    \
        name##_reduce_sum(&o[3], &square);                                                         \
        name##_neg_loose(&x, &x);                                                                  \
        name##_sub_loose(&product, &product, &x);                                                  \
        name##_reduce_sum(&o[2], &product);                                                        \
    }
LOOSE_CHECK_KERNEL(fp, fp)
LOOSE_CHECK_KERNEL(fp2, fp2)
