/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bucket reduction in both groups of one curve: bucket_reduce.h says what,
 * bucket_reduce_tmpl.cuh how. Built once per curve. */
#include "backend/cuda/bucket_reduce.h"
#include "backend/cuda/device_words.cuh"
#include "backend/cuda/point_add.h"
#include "curve/groups.h"

#define BR(name) g1_##name
#define BR_TYPE  fp
#include "backend/cuda/bucket_reduce_tmpl.cuh"

#define BR(name) g2_##name
#define BR_TYPE  fp2
#include "backend/cuda/bucket_reduce_tmpl.cuh"
