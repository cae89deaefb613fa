/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A proof in steps, for callers that run them at different times or in different threads.
 * cuzk_prover_prove (groth16/prover.h) is these steps one after the other, and the self-check.
 *
 *     begin → quotient → sum 0, sum 1 … → assemble → end
 *
 * Each step once, by one thread at a time; end also after a failure and in place of a step.
 *
 * Two devices may make one proof: some sums over the witness are left to another one, which makes
 * them beside sum 0 by what groth16/prove_device.h offers, and they are taken; or, where it did not
 * make them, sum 1 does:
 *
 *     begin → quotient → leave → sum 0 → take, or sum 1 → assemble → end */
#ifndef CUZK_GROTH16_PROVING_H
#define CUZK_GROTH16_PROVING_H

#include "groth16/prove_device.h"
#include "groth16/prover.h"

typedef struct cuzk_proving cuzk_proving;

/** Start a proof: compare the witness with the key and allocate the workspace.
 *
 *  prover, witness, pool, and what params points to: borrowed until end. params may be NULL; times
 *  and without_self_check are not read. Returned: cuzk_proving_end. Errors: E_MISMATCH,
 *  E_WITNESS_LENGTH, E_MEMORY, E_ARGUMENT (no device, and a prover whose points are for one). */
cuzk_status cuzk_proving_begin(cuzk_proving **out, const cuzk_prover *prover,
                               const cuzk_witness *witness, const cuzk_prove_params *params,
                               cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Rows a, b of the circuit and the quotient's scalars; with a device only the witness is copied
 *  there, and it may wait for a place (groth16/prove_device.h). Errors: E_FORMAT (a bad coefficient
 *  of the key), E_CANCELLED, those of a device's begin. Threads: the pool's. */
cuzk_status cuzk_proving_quotient(cuzk_proving *proving, cuzk_error *err) CUZK_WARN_UNUSED;

/** In how many parts the sums over H and over the witness are made: one on a device, where none are
 *  left to another one. */
unsigned cuzk_proving_n_sums(const cuzk_proving *proving);

/** Make part i of the sums, in their order; what a device does is here. The last one frees the
 *  workspace: a few points stay. Errors: E_CANCELLED, E_MEMORY, E_DEVICE. Threads: the pool's. */
cuzk_status cuzk_proving_sum(cuzk_proving *proving, unsigned i, cuzk_error *err) CUZK_WARN_UNUSED;

/** Leave sums over the witness to another device, before sum 0, with a device that makes some
 *  (prove_device.h). sets: out: copies of the prover's, for that other device's `end`. */
void cuzk_proving_leave(cuzk_proving *proving, cuzk_sums sums, cuzk_query_set sets[3]);

/** The sums that were left, as the other device's `end` wrote them; before assemble. */
void cuzk_proving_take(cuzk_proving *proving, const cuzk_query_set sets[3]);

/** Choose r and s, fresh from the system's generator, and put the proof together: microseconds;
 * with a device milliseconds, since windows are joined here. It is not verified. proof: written on
 * success. Errors: E_CANCELLED, E_INTERNAL (the generator). */
cuzk_status cuzk_proving_assemble(cuzk_proving *proving, cuzk_proof_points *proof,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Wipe private values and free. NULL is fine. */
void cuzk_proving_end(cuzk_proving *proving);

/* Counts of a circuit, or bounds of them, from which the memory of its proofs follows. */
typedef struct {
    const cuzk_curve *curve;
    unsigned lg_n;            /* of the domain */
    uint32_t n_vars, n_field; /* variables; those that are no bits */
    bool is_zkey;
    bool on_device; /* its sums are made there */
} cuzk_proving_counts;

/** Bytes of this process that a proof holds between begin and end, at most. Pure. */
size_t cuzk_proving_bytes_max(const cuzk_proving_counts *counts, const cuzk_pool *pool);

#endif
