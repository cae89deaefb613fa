/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Field operations of one curve, element by element, for the self-test of a device: the host
 * computes the same from the same headers. Built once per curve.
 * One thread an element; FIELD_CHECK_RESULTS results an element in the order of field_check.h. */
#include "backend/cuda/field_check.h"
#include "field/fields.h"

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
    extern "C" __global__ void name##_check(type *o, const type *a, const type *b, uint32_t n)     \
    {                                                                                              \
        uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        if (i < n) {                                                                               \
            name##_check_one(o + (size_t)i * CUZK_FIELD_CHECK_RESULTS, a + i, b + i);              \
        }                                                                                          \
    }
FIELD_CHECK_KERNEL(fr, fr)
FIELD_CHECK_KERNEL(fp, fp)
FIELD_CHECK_KERNEL(fp2, fp2)
