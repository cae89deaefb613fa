/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Σ w_v · base_v over the variables of a typed witness, for queries that are summed together.
 *
 * Bits become sums of selected bases, field values go to the bucket method: queries of one set
 * share the selected values, so digits are made and sorted once for all of them. */
#ifndef CUZK_GROTH16_QUERY_SUM_H
#define CUZK_GROTH16_QUERY_SUM_H

#include "msm/msm.h"
#include "r1cs/witness.h"

enum { CUZK_QUERIES_MAX = 4 };

/* Which variables have a base, and where. With support NULL all do, from variable `first` of each
 * query on, variable v at index v - first. With a support, only its variables are summed: at index
 * v - first, or, when compact, at the number of support variables before v. */
typedef struct {
    const uint64_t *support; /* n_vars bits, or NULL; borrowed */
    bool compact;            /* needs a support; `first` of the queries is then 0 */
    cuzk_msm_query queries[CUZK_QUERIES_MAX]; /* sum: out */
    size_t n_queries;
    const cuzk_reporter *reporter; /* of cuzk_query_sums; may be NULL */
} cuzk_query_set;

/** Bytes of workspace of cuzk_query_sums for this witness. */
size_t cuzk_query_sums_workspace_bytes(const cuzk_query_set *set, const cuzk_witness *witness,
                                       const cuzk_pool *pool);

/** No set of n_queries queries, of which the last may be in G2, needs more for a witness of n_vars
 *  variables with n_field field values. */
size_t cuzk_query_sums_bytes_max(const cuzk_curve *curve, uint32_t n_vars, uint32_t n_field,
                                 size_t n_queries, const cuzk_pool *pool);

/** Write Σ w_v · base_v into the sum of each query of the set.
 *
 *  ws: 64-byte aligned, borrowed for the call; it then holds private values.
 *  Errors: those of cuzk_msm and cuzk_bit_sum. */
cuzk_status cuzk_query_sums(cuzk_query_set *set, const cuzk_witness *witness, void *ws,
                            size_t ws_bytes, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
