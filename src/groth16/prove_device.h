/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a device does of a proof: rows, quotient, and all large sums, from the typed witness; or
 * some of the sums, where two devices make one proof (groth16/prove_share.h).
 *
 * The prover assembles the proof and verifies it on the CPU: whatever a device answers, no wrong
 * proof is delivered. */
#ifndef CUZK_GROTH16_PROVE_DEVICE_H
#define CUZK_GROTH16_PROVE_DEVICE_H

#include "groth16/query_sum.h"

/* Sums of a proof, as bits: H, then the queries of the prover's sets in their order. */
typedef uint32_t cuzk_sums;

#define CUZK_SUM_H     UINT32_C(1)
#define CUZK_SUM_OF(k) (UINT32_C(2) << (k)) /* of query k, all sets' counted together */
#define CUZK_SUMS_ALL  UINT32_MAX

/* A proof under way on a device. */
typedef struct cuzk_device_proof cuzk_device_proof;

typedef struct cuzk_prove_device {
    const char *name; /* for messages: "cuda:0" */
    void *context;
    bool makes_some; /* run may be asked for some of the sums, not for all only */

    /** Take one of the device's places for witnesses and copy the witness there. Beside the kernels
     *  of other proofs: needs no lane.
     *
     *  witness: of the prover's circuit, borrowed for the call. Returned: end or drop, by the same
     *  thread or another. Waits while all places are taken: a thread that holds one must not ask
     *  for another. Errors: E_UNSATISFIED (a variable that the circuit calls a bit holds another
     *  value), E_DEVICE. */
    cuzk_status (*begin)(void *context, cuzk_device_proof **out, const cuzk_witness *witness,
                         cuzk_error *err);

    /** Make these sums, and with that of H rows and quotient: the kernels, from the first to the
     *  last. Waits for the device. Where makes_some is set it may be called again for others.
     *  Several threads may call at once and take turns. Errors: E_DEVICE; drop the proof then. */
    cuzk_status (*run)(void *context, cuzk_device_proof *proof, cuzk_sums sums, cuzk_error *err);

    /** After run: h = Σ h_i·H_i with the scalars of the prover's kind of key, and the sum of each
     *  query of the prover's sets; sets: copies of the prover's, their sums are written. What was
     *  not made is left as it is. The host's part of the sums, about a millisecond each; needs no
     *  lane. Frees the proof. Errors: E_DEVICE. */
    cuzk_status (*end)(void *context, cuzk_device_proof *proof, cuzk_jac *h, cuzk_query_set *sets,
                       cuzk_error *err);

    /** Free a proof that does not come to its end. */
    void (*drop)(void *context, cuzk_device_proof *proof);
} cuzk_prove_device;

#endif
