/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A Groth16 proof and its 192-byte form on bls12_381: A, B, C compressed (48, 96, 48 bytes). */
#ifndef CUZK_FORMATS_PROOF_H
#define CUZK_FORMATS_PROOF_H

#include "curve/curve.h"

enum { CUZK_PROOF_BYTES = 192 };

typedef struct {
    const cuzk_curve *curve;
    cuzk_affine a; /* G1 */
    cuzk_affine b; /* G2 */
    cuzk_affine c; /* G1 */
} cuzk_proof_points;

/** Check that the three points have coordinates below p, are on the curve and in the subgroup.
 *  Infinity passes: no equation of an honest key holds for it. Errors: E_INVALID_PROOF, naming the
 *  point. */
cuzk_status cuzk_proof_points_check(const cuzk_proof_points *proof,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Decode n_bytes = 192 bytes (bls12_381). Every point is checked: flags, range, curve, subgroup,
 *  not infinity. A proof of several partitions is the concatenation of such pieces; see
 *  cuzk_proof_points_count.
 *
 *  Errors: E_TRUNCATED (length), E_INVALID_PROOF, naming the point and what is wrong. */
cuzk_status cuzk_proof_points_read(cuzk_proof_points *out, const uint8_t *bytes, uint64_t n_bytes,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Number of proofs in n_bytes. Errors: E_FORMAT when it is 0 or not a multiple of 192. */
cuzk_status cuzk_proof_points_count(uint64_t *n_proofs, uint64_t n_bytes,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Encode. Errors: E_ARGUMENT (not bls12_381, or a point at infinity). */
cuzk_status cuzk_proof_points_write(uint8_t out[CUZK_PROOF_BYTES], const cuzk_proof_points *proof,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

#endif
