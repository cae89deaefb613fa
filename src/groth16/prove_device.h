/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a device does of a proof: the quotient with the sum over H, and the sums over the witness.
 *
 * The prover evaluates the rows and selects the witness' values, hands both over, and assembles and
 * verifies the proof on the CPU: whatever a device answers, no wrong proof is delivered. */
#ifndef CUZK_GROTH16_PROVE_DEVICE_H
#define CUZK_GROTH16_PROVE_DEVICE_H

#include "groth16/query_sum.h"

/* All functions wait for the device; they may be called by several threads at once. */
typedef struct cuzk_prove_device {
    const char *name; /* for messages: "cuda:0" */
    void *context;    /* the first argument of both */

    /** sum = Σ h_i·H_i with the scalars of the prover's kind of key.
     *
     *  a, b: the rows on the domain, n elements each, Montgomery form, natural order. */
    cuzk_status (*h_sum)(void *context, cuzk_jac *sum, const cuzk_fr *a, const cuzk_fr *b,
                         cuzk_error *err);

    /** The sum of each query of the prover's set number `number`; set: a copy of that, sums: out.
     */
    cuzk_status (*query_sums)(void *context, unsigned number, cuzk_query_set *set,
                              const cuzk_query_selection *selection, cuzk_error *err);
} cuzk_prove_device;

#endif
