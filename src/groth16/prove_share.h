/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which sums of a proof are worth a second device, from numbers alone. */
#ifndef CUZK_GROTH16_PROVE_SHARE_H
#define CUZK_GROTH16_PROVE_SHARE_H

#include "groth16/prove_device.h"
#include "groth16/prover.h"

/* What the sums of a proof add up, in additions of G1. */
typedef struct {
    uint64_t h;                         /* with rows and quotient, as much as they take */
    uint64_t queries[CUZK_QUERIES_MAX]; /* in the order of CUZK_SUM_OF; a proof has no more */
    unsigned n_queries;
} cuzk_sum_costs;

/** Of the sums over the witness those that a second device makes best: the one of the two that
 *  takes longer takes the least. saved_ns: how much sooner the proof is there, predicted. Pure. */
cuzk_sums cuzk_sums_share(const cuzk_sum_costs *costs, uint64_t *saved_ns);

/** The same for a proof of the prover's circuit; 0 where that saves less than least_ns. Counts what
 *  each query selects: some 10 ms for 2^27 field values, microseconds where most are bits. */
cuzk_sums cuzk_prove_share(const cuzk_prover *prover, const cuzk_witness *witness,
                           uint64_t least_ns);

#endif
