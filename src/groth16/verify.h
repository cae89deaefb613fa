/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verifying Groth16 proofs, one by one or many of one key together.
 *
 * A proof (A, B, C) of the public values x_1 … x_l is valid when
 *     e(A, B) = e(alpha, beta) · e(ic_0 + Σ x_i·ic_i, gamma) · e(C, delta). */
#ifndef CUZK_GROTH16_VERIFY_H
#define CUZK_GROTH16_VERIFY_H

#include "base/pool.h"
#include "formats/proof.h"
#include "formats/vk.h"

/* A verifying key with e(alpha, beta) at hand, or without: computing it costs half as much as a
 * verification and makes each a quarter cheaper. Read-only once made; may be shared by threads. */
typedef struct cuzk_verifier {
    const cuzk_vk *vk; /* borrowed for as long as the verifier is used */
    bool has_alpha_beta;
    cuzk_gt alpha_beta;
} cuzk_verifier;

/** Prepare a key, for many proofs (with e(alpha, beta)) or for one. Its points must have been
 *  checked (cuzk_vk_check) where they come from somebody else. Errors: E_ARGUMENT (n_ic is 0). */
cuzk_status cuzk_verifier_init(cuzk_verifier *out, const cuzk_vk *vk, bool for_many,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** Verify one proof. CUZK_OK exactly when it is valid.
 *
 *  values: n_values × 32 bytes, canonical. Errors: E_INVALID_PROOF with the reason: a point off the
 *  curve or outside the subgroup, a public value not below r ("public signal I is not below the
 *  field order"), another number of values than the key has, or the equation does not hold;
 *  E_MISMATCH (proof and key are over different curves). */
cuzk_status cuzk_verifier_check(const cuzk_verifier *verifier, const cuzk_proof_points *proof,
                                const void *values, uint64_t n_values, cuzk_pool *pool,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/* One proof of a batch with its public values. */
typedef struct {
    const cuzk_proof_points *proof;
    const void *values; /* n_values × 32 bytes, canonical */
    uint64_t n_values;
} cuzk_batch_item;

/** Verify n proofs of one key at once: a random linear combination with 128-bit scalars, one
 *  Miller loop per proof and three more, one final exponentiation. A batch with an invalid proof
 *  passes with probability 2^-128. n = 0 is valid; n = 1 is the single check.
 *
 *  first_invalid (may be NULL): index of the first invalid proof, written with E_INVALID_PROOF
 *  only; then every proof before it has been checked alone. Errors: as cuzk_verifier_check, with
 *  the proof's index in the text; E_MEMORY; E_INTERNAL (the system's random generator). */
cuzk_status cuzk_verifier_check_batch(const cuzk_verifier *verifier, const cuzk_batch_item *items,
                                      size_t n, size_t *first_invalid, cuzk_pool *pool,
                                      cuzk_error *err) CUZK_WARN_UNUSED;

#endif
