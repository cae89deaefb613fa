/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of one curve as host code, by module and name. Built once per curve. */
#include "simt.h"

#include "backend/cuda/bucket.cu"
#include "backend/cuda/bucket_reduce.cu"
#include "backend/cuda/bucket_sort.cu"
#include "backend/cuda/endomorphism.cu"
#include "backend/cuda/field_check.cu"
#include "backend/cuda/fixed_base.cu"
#include "backend/cuda/point_add.cu"
#if CUZK_CURVE_IS_BLS12_381
#include "backend/cuda/byte_sum.cu"
#include "backend/cuda/point_decode.cu"
#endif
#include "backend/cuda/rows.cu"
#include "backend/cuda/transform.cu"
#include "backend/cuda/transform_short.cu"
#include "backend/cuda/transform_table.cu"

#define CURVE_TABLE(stem) SIMT_PASTE(simt_##stem##_, SIMT_CURVE)
#define SIMT_PASTE(a, b)  SIMT_PASTE2(a, b)
#define SIMT_PASTE2(a, b) a##b

extern "C" {
extern const simt_kernel CURVE_TABLE(field_check)[] = {SIMT_KERNEL(fr_check),
                                                       SIMT_KERNEL(fp_check),
                                                       SIMT_KERNEL(fp2_check),
                                                       SIMT_KERNEL(fr_factor_check),
                                                       SIMT_KERNEL(fp_loose_check),
                                                       SIMT_KERNEL(fp2_loose_check),
                                                       {}};

#define GROUP_KERNELS(g)                                                                           \
    SIMT_KERNEL(g##_add_prefix_gather), SIMT_KERNEL(g##_add_prefix_pairs),                         \
        SIMT_KERNEL(g##_add_finish_gather), SIMT_KERNEL(g##_add_finish_pairs),                     \
        SIMT_KERNEL(g##_add_prefix_listed), SIMT_KERNEL(g##_add_finish_listed),                    \
        SIMT_KERNEL(g##_add_inverse)
extern const simt_kernel CURVE_TABLE(point_add)[] = {GROUP_KERNELS(g1), GROUP_KERNELS(g2), {}};

extern const simt_kernel CURVE_TABLE(transform)[] = {SIMT_KERNEL(transform_forward_first),
                                                     SIMT_KERNEL(transform_forward),
                                                     SIMT_KERNEL(transform_inverse),
                                                     SIMT_KERNEL(transform_forward_fused),
                                                     SIMT_KERNEL(transform_inverse_fused),
                                                     SIMT_KERNEL(transform_turn),
                                                     {}};
extern const simt_kernel CURVE_TABLE(transform_short)[] = {
    SIMT_KERNEL(transform_forward_short), SIMT_KERNEL(transform_inverse_short), {}};
extern const simt_kernel CURVE_TABLE(transform_table)[] = {
    SIMT_KERNEL(transform_factors), SIMT_KERNEL(fr_permute), {}};

extern const simt_kernel CURVE_TABLE(bucket)[] = {
    SIMT_KERNEL(bucket_bounds), SIMT_KERNEL(bucket_totals), SIMT_KERNEL(bucket_counts),
    SIMT_KERNEL(bucket_pairs),  SIMT_KERNEL(select_totals), SIMT_KERNEL(select_counts),
    SIMT_KERNEL(bit_list),      SIMT_KERNEL(field_list),    {}};

extern const simt_kernel CURVE_TABLE(bucket_sort)[] = {SIMT_KERNEL(bucket_digits),
                                                       SIMT_KERNEL(bucket_digits_halves),
                                                       SIMT_KERNEL(radix_count),
                                                       SIMT_KERNEL(radix_count_codes),
                                                       SIMT_KERNEL(radix_segments),
                                                       SIMT_KERNEL(radix_scatter_codes),
                                                       SIMT_KERNEL(radix_scatter),
                                                       SIMT_KERNEL(scan_sums),
                                                       SIMT_KERNEL(scan_top),
                                                       SIMT_KERNEL(scan_apply),
                                                       {}};

extern const simt_kernel CURVE_TABLE(rows)[] = {
    SIMT_KERNEL(rows_times_witness), SIMT_KERNEL(long_rows_times_witness), {}};

extern const simt_kernel CURVE_TABLE(fixed_base)[] = {
    SIMT_KERNEL(fixed_digits), SIMT_KERNEL(g1_points_pack), SIMT_KERNEL(g2_points_pack), {}};

#define REDUCE_KERNELS(g)                                                                          \
    SIMT_KERNEL(g##_points_spread), SIMT_KERNEL(g##_points_fold), SIMT_KERNEL(g##_points_bits)
extern const simt_kernel CURVE_TABLE(bucket_reduce)[] = {
    REDUCE_KERNELS(g1), REDUCE_KERNELS(g2), {}};

extern const simt_kernel CURVE_TABLE(endomorphism)[] = {
    SIMT_KERNEL(g1_points_images), SIMT_KERNEL(g2_points_images), {}};

#if CUZK_CURVE_IS_BLS12_381
extern const simt_kernel CURVE_TABLE(point_decode)[] = {
    SIMT_KERNEL(g1_decode), SIMT_KERNEL(g2_decode), {}};
extern const simt_kernel CURVE_TABLE(byte_sum)[] = {SIMT_KERNEL(byte_sum), {}};
#endif
}
