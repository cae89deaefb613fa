/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sum kernels of the scalar CPU paths: one source, built per curve and path, for both groups.
 * The method is in sum_kernel_scalar_tmpl.h. */
#include "field/fields.h"
#include "msm/sum_kernel.h"
#include "msm/sum_pairs.h"

/* Pairs whose points are fetched ahead of the first pass, which takes about one multiplication a
 * pair: 12 cover the latency of main memory. */
#define PREFETCH_PAIRS 12

/* Pairs whose second pass is made step by step together, so that neighbouring multiplications do
 * not wait for each other: 8 are 3 % faster than 4, 4 are 8 % faster than one. */
#define BLOCK 8

/* Points taken at once. 2048 of the largest kind and their products are about 1 MiB; 1024 cost 2 %
 * more for inversions, 4096 of G1 gain nothing. */
#define CHUNK 2048

#define KN(name) g1_sum_##name
#define CF(name) fp_##name
#define CF_TYPE  fp
#include "msm/sum_kernel_scalar_tmpl.h"

#define KN(name) g2_sum_##name
#define CF(name) fp2_##name
#define CF_TYPE  fp2
#include "msm/sum_kernel_scalar_tmpl.h"

const cuzk_sum_kernel CUZK_INSTANCE(sum_kernel_g1) = {
    .point_bytes = sizeof(g1_sum_point),
    .workspace_bytes = sizeof(g1_sum_workspace),
    .segment_sums = g1_sum_segment_sums,
    .to_affine = g1_sum_to_affine,
};

const cuzk_sum_kernel CUZK_INSTANCE(sum_kernel_g2) = {
    .point_bytes = sizeof(g2_sum_point),
    .workspace_bytes = sizeof(g2_sum_workspace),
    .segment_sums = g2_sum_segment_sums,
    .to_affine = g2_sum_to_affine,
};
