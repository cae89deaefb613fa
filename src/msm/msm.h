/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Multi-scalar multiplication, sums of selected bases and fixed-base batches on the CPU.
 *
 * Bases are packed affine points as in curve/curve.h, any alignment, never copied whole. Equal,
 * opposite and infinite bases are allowed everywhere and the results are exact; bases lie in the
 * subgroup of order r (else the result is some other point of the curve). Scalars are
 * canonical: 32 little-endian bytes, below r. */
#ifndef CUZK_MSM_MSM_H
#define CUZK_MSM_MSM_H

#include "base/pool.h"
#include "base/progress.h"
#include "curve/curve.h"

/* One array of bases to be summed with the shared scalars of a cuzk_msm call.
 * Scalar i goes with the base at index base_index[i] - first (i - first where base_index is NULL);
 * scalars whose base index is below `first` are left out (a zkey's C query starts at the first
 * private wire). */
typedef struct {
    cuzk_group_id group;
    const void *bases;
    uint64_t first;
    cuzk_jac sum; /* out */
} cuzk_msm_query;

typedef struct {
    const void *scalars;        /* n × 32 bytes, canonical */
    const uint32_t *base_index; /* n ascending indices, or NULL for 0 … n-1 */
    size_t n;
    cuzk_msm_query *queries; /* all use the same digits: sorted once */
    size_t n_queries;
    unsigned window_bits; /* 0: from the cost model; else 2 … 16, for tests and tuning */
    /* Told how much is through, between the loops of the sum; may be NULL. */
    const cuzk_reporter *reporter;
} cuzk_msm_params;

/** Bytes of workspace that cuzk_msm needs with this pool. Pure; does not read scalars or bases.
 *  0 when n is 0, or so small that nothing is sorted. About 24 MB for n = 2^18; does not grow
 *  beyond n = 2^22 (about 250 MB). */
size_t cuzk_msm_workspace_bytes(const cuzk_curve *curve, const cuzk_msm_params *params,
                                const cuzk_pool *pool);

/** The most that any number of scalars up to params->n needs: fewer scalars may need more, since
 *  their windows are others. */
size_t cuzk_msm_workspace_bytes_max(const cuzk_curve *curve, const cuzk_msm_params *params,
                                    const cuzk_pool *pool);

/** sum = Σ scalar_i · base_i for each query (signed-digit buckets, batched affine additions).
 *
 *  The sort by buckets is shared by the queries; scalars that are zero cost next to nothing, small
 *  ones (and small negative ones) only the windows that they reach.
 *  ws: cuzk_msm_workspace_bytes bytes, 64-byte aligned, borrowed for the call; huge pages help.
 *  Errors: E_ARGUMENT (window_bits out of range), E_SHORT_BUFFER, E_CANCELLED. n = 0 gives
 * infinity. Threads: the pool's; inputs are only read. */
cuzk_status cuzk_msm(const cuzk_curve *curve, cuzk_msm_params *params, void *ws, size_t ws_bytes,
                     cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

typedef struct {
    const uint64_t *bitmap; /* bit i is bit i mod 64 of word i / 64; unused high bits are zero */
    size_t n;               /* bits */
    cuzk_msm_query *queries;
    size_t n_queries;
    const cuzk_reporter *reporter; /* as cuzk_msm's */
} cuzk_bit_sum_params;

/** Bytes of workspace of cuzk_bit_sum for n bits and n_queries queries. Pure. */
size_t cuzk_bit_sum_workspace_bytes(const cuzk_curve *curve, size_t n, size_t n_queries,
                                    const cuzk_pool *pool);

/** sum = Σ base_(i - first) over the bits i that are set, for each query; bits below a query's
 *  `first` are left out.
 *
 *  ws: as cuzk_msm's. Errors: E_SHORT_BUFFER, E_CANCELLED. Threads: the pool's. */
cuzk_status cuzk_bit_sum(const cuzk_curve *curve, cuzk_bit_sum_params *params, void *ws,
                         size_t ws_bytes, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/* Multiples of one point, for key generation: a window table that is made once. */
typedef struct cuzk_fixed_base cuzk_fixed_base;

/** Make the table of `base`, one packed affine point that is not infinity.
 *
 *  n: how many products will be asked for in all, about; the window is chosen for it. The table
 *  takes at most the larger of 8 MiB and half of those products' size, never more than 128 MiB.
 *  Returned: free with cuzk_fixed_base_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_fixed_base_create(cuzk_fixed_base **out, const cuzk_curve *curve,
                                   cuzk_group_id group, const void *base, size_t n, cuzk_pool *pool,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. */
void cuzk_fixed_base_destroy(cuzk_fixed_base *table);

/** out_i = scalar_i · base.
 *
 *  out: n packed affine points, any alignment. scalars: Montgomery form. Allocates about 2 MiB a
 *  thread for the call and gives it back to the system, copies of scalars with it.
 *  Errors: E_MEMORY. Threads: the pool's; the table is only read.
 *  Cost: 15 additions a product with the largest table. */
cuzk_status cuzk_fixed_base_mul(const cuzk_fixed_base *table, void *out, const cuzk_fr *scalars,
                                size_t n, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
