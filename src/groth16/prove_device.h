/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a device does of a proof: rows, quotient, and all large sums, from the typed witness.
 *
 * The prover assembles the proof and verifies it on the CPU: whatever a device answers, no wrong
 * proof is delivered. */
#ifndef CUZK_GROTH16_PROVE_DEVICE_H
#define CUZK_GROTH16_PROVE_DEVICE_H

#include "groth16/query_sum.h"

/* A proof under way on a device. */
typedef struct cuzk_device_proof cuzk_device_proof;

typedef struct cuzk_prove_device {
    const char *name; /* for messages: "cuda:0" */
    void *context;

    /** Take one of the device's places for witnesses and copy the witness there. Beside the kernels
     *  of other proofs: needs no lane.
     *
     *  witness: of the prover's circuit, borrowed for the call. Returned: end or drop, by the same
     *  thread or another. Waits while all places are taken: a thread that holds one must not ask
     *  for another. Errors: E_UNSATISFIED (a variable that the circuit calls a bit holds another
     *  value), E_DEVICE. */
    cuzk_status (*begin)(void *context, cuzk_device_proof **out, const cuzk_witness *witness,
                         cuzk_error *err);

    /** Rows, quotient and all sums: the kernels, from the first to the last. Waits for the device.
     *  Several threads may call at once and take turns. Errors: E_DEVICE; drop the proof then. */
    cuzk_status (*run)(void *context, cuzk_device_proof *proof, cuzk_error *err);

    /** After run: h = Σ h_i·H_i with the scalars of the prover's kind of key, and the sum of each
     *  query of the prover's sets; sets: copies of the prover's, their sums are written. The host's
     *  part of the sums, about a millisecond each; needs no lane. Frees the proof. Errors:
     *  E_DEVICE. */
    cuzk_status (*end)(void *context, cuzk_device_proof *proof, cuzk_jac *h, cuzk_query_set *sets,
                       cuzk_error *err);

    /** Free a proof that does not come to its end. */
    void (*drop)(void *context, cuzk_device_proof *proof);
} cuzk_prove_device;

#endif
