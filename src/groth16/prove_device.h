/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a device does of a proof: rows, quotient, and all large sums, from the typed witness.
 *
 * The prover assembles the proof and verifies it on the CPU: whatever a device answers, no wrong
 * proof is delivered. */
#ifndef CUZK_GROTH16_PROVE_DEVICE_H
#define CUZK_GROTH16_PROVE_DEVICE_H

#include "groth16/query_sum.h"

typedef struct cuzk_prove_device {
    const char *name; /* for messages: "cuda:0" */
    void *context;

    /** h = Σ h_i·H_i with the scalars of the prover's kind of key, and the sum of each query of the
     *  prover's sets.
     *
     *  sets: copies of the prover's; their sums are written. witness: of the prover's circuit.
     *  Waits for the device. Several threads may call at once. Errors: E_UNSATISFIED (a variable
     *  that the circuit calls a bit holds another value), E_DEVICE. */
    cuzk_status (*sums)(void *context, cuzk_jac *h, cuzk_query_set *sets,
                        const cuzk_witness *witness, cuzk_error *err);
} cuzk_prove_device;

#endif
