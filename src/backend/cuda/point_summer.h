/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of scalar multiples, and sums of bases selected by bits, on a device.
 *
 * Bases are packed affine points in device memory (curve.h), 16-byte aligned, in the subgroup of
 * order r as for the CPU's sums (msm.h); equal, opposite and infinite ones are allowed and the
 * results are exact. Method: bucket.h, point_add.h,
 * bucket_reduce.h; the windows are put together on the host. One call at a time for each
 * cuzk_point_summer; point_summing.h has them in steps. */
#ifndef CUZK_BACKEND_CUDA_POINT_SUMMER_H
#define CUZK_BACKEND_CUDA_POINT_SUMMER_H

#include "backend/cuda/bucket.h"
#include "backend/cuda/point_adder.h"

typedef struct cuzk_sum_mail cuzk_sum_mail;

typedef struct {
    const cuzk_cuda_api *api;
    const cuzk_curve *curve;
    cuzk_point_adder adder;
    cuzk_sum_mail *mail; /* of the calls here */
    CUmodule sort_module, bucket_module, reduce_module, image_module;
    CUfunction digits, digits_halves, radix_count, radix_count_codes, radix_scatter,
        radix_scatter_codes, radix_segments, scan_sums, scan_top, scan_apply, bounds, totals,
        counts, pairs, select_totals, select_counts, bit_list, field_list;
    CUfunction points_spread[2], points_fold[2], points_bits[2], points_images[2]; /* by group id */
} cuzk_point_summer;

/** Load the kernels of a curve into the current context. Errors: E_DEVICE, E_MEMORY. */
cuzk_status cuzk_point_summer_open(cuzk_point_summer *out, const cuzk_cuda_api *api,
                                   const cuzk_curve *curve, cuzk_error *err) CUZK_WARN_UNUSED;

/** Unload them; nothing may be running. */
void cuzk_point_summer_close(cuzk_point_summer *s);

/* Whether scalars are cut in two of half the length, of which one multiplies the base's image under
 * the endomorphism (endomorphism.h): half as many windows, and buckets, over twice as many entries.
 */
typedef enum {
    CUZK_HALVES_BEST = 0, /* where the cost model says that it pays */
    CUZK_HALVES_NEVER = 1,
    CUZK_HALVES_ALWAYS = 2
} cuzk_halves;

typedef struct {
    cuzk_group_id group;
    CUdeviceptr bases;    /* in the subgroup of order r, else the sum is some other point */
    CUdeviceptr images;   /* of the bases (cuzk_point_images); 0: made in the workspace if needed */
    CUdeviceptr scalars;  /* 32 bytes each, plain, below r */
    CUdeviceptr which;    /* n × uint32_t: the numbers of the scalars; 0 for 0 … n-1 */
    CUdeviceptr index;    /* n × uint32_t: the base of each scalar, below 2^30 - 1; 0: 0 … n-1 */
    uint32_t n;           /* below 2^28 */
    uint32_t n_max;       /* that the workspace was sized for: no fewer than n; 0: n */
    unsigned window_bits; /* the most of a window, 4 … 24; 0: from the cost model */
    unsigned windows_together; /* of whole scalars (half as many of halves) that are sorted and
                                  added up at once, or one; 0: as many as the cost model says */
    cuzk_halves halves;
} cuzk_point_sum_params;

/** Bytes of workspace of cuzk_point_sum for these n (or n_max), group, window_bits,
 *  windows_together, halves and, whether there are, images; enough for fewer scalars too, with
 *  n_max. Pure.
 *  About 130 bytes an entry in G1 on bls12_381, n entries a window (2n of halves), 2^26 at a time
 * or one window; and the images.
 */
size_t cuzk_point_sum_bytes(const cuzk_point_summer *s, const cuzk_point_sum_params *params);

/** sum = Σ scalar_i · base_i.
 *
 *  workspace: that many bytes of device memory, 16-byte aligned, borrowed for the call.
 *  Waits for the device: the sizes of the rounds come back once a group of windows, and the sums.
 *  Errors: E_ARGUMENT (window_bits, n), E_DEVICE. n = 0 gives infinity. */
cuzk_status cuzk_point_sum(const cuzk_point_summer *s, cuzk_jac *sum,
                           const cuzk_point_sum_params *params, CUdeviceptr workspace,
                           CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** out = the images of n bases, packed: of those that index names, or of the first n (0). Does not
 *  wait. Errors: E_DEVICE. */
cuzk_status cuzk_point_images(const cuzk_point_summer *s, cuzk_group_id group, CUdeviceptr bases,
                              CUdeviceptr index, uint32_t n, CUdeviceptr out, CUstream stream,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/* Which variables of a witness take part in a sum, and with which base: those from `first` on, base
 * number variable - first; with a support only the variables in it; with support_rank a variable's
 * base is its number in the support, and first is 0. Device addresses, 0 for none. */
typedef struct {
    uint32_t n_vars, first;
    CUdeviceptr support;      /* bitmap of n_vars bits */
    CUdeviceptr support_rank; /* support variables before each word of it */
} cuzk_selection;

typedef struct {
    cuzk_group_id group;
    CUdeviceptr bases;
    CUdeviceptr bits; /* bitmap of selection.n_vars bits; unused bits zero */
    cuzk_selection selection;
    uint32_t n_ones; /* the most ones that the workspace was sized for */
} cuzk_point_bits_params;

/** Bytes of workspace of cuzk_point_sum_bits for up to n_ones ones among n_bits. Pure. */
size_t cuzk_point_sum_bits_bytes(const cuzk_point_summer *s, cuzk_group_id group, uint32_t n_bits,
                                 uint32_t n_ones);

/** sum = Σ of the bases of the selected variables whose bits are set. Otherwise as cuzk_point_sum;
 *  more than n_ones ones give E_ARGUMENT. */
cuzk_status cuzk_point_sum_bits(const cuzk_point_summer *s, cuzk_jac *sum,
                                const cuzk_point_bits_params *params, CUdeviceptr workspace,
                                CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes of workspace of cuzk_select_values. Pure. */
size_t cuzk_select_values_bytes(uint32_t n_vars);

/** How many selected variables have their bits set is added to out, how many is_value names to out
 * + 4: uint32_t each, which the caller sets to 0. Does not wait. Errors: E_DEVICE. */
cuzk_status cuzk_select_count(const cuzk_point_summer *s, const cuzk_selection *selection,
                              CUdeviceptr bits, CUdeviceptr is_value, CUdeviceptr out,
                              CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** List the selected variables among those that is_value (bitmap) names: their bases to index, the
 *  numbers of their values to which (for cuzk_point_sum_params). rank: variables of is_value before
 *  each word. Does not wait. Errors: E_DEVICE. */
cuzk_status cuzk_select_values(const cuzk_point_summer *s, const cuzk_selection *selection,
                               CUdeviceptr is_value, CUdeviceptr rank, CUdeviceptr index,
                               CUdeviceptr which, CUdeviceptr workspace, CUstream stream,
                               cuzk_error *err) CUZK_WARN_UNUSED;

#endif
