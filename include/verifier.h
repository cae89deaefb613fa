/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verifying with the interface of rapidsnark: a program written for its verifier.h compiles against
 * this header and links with libcuzk. */
#ifndef CUZK_VERIFIER_H
#define CUZK_VERIFIER_H

#if defined(__GNUC__)
#define CUZK_VERIFIER_API __attribute__((visibility("default")))
#else
#define CUZK_VERIFIER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VERIFIER_VALID_PROOF   0x0
#define VERIFIER_INVALID_PROOF 0x1
#define VERIFIER_ERROR         0x2

/** Verify a proof. proof, inputs, verification_key: the texts of snarkjs' or rapidsnark's
 *  proof.json, public.json and verification_key.json, NUL-terminated, on BN254 or BLS12-381.
 *
 *  Returns VERIFIER_VALID_PROOF; VERIFIER_INVALID_PROOF (the equation does not hold, a point is
 *  not valid, or a public value is not below the field's order); VERIFIER_ERROR (a text cannot be
 *  read, or the texts do not belong together). But for VERIFIER_VALID_PROOF the reason is written
 *  to error_msg, at most error_msg_maxsize bytes, NUL included; error_msg may be NULL.
 *  Threads: any number of calls at once. */
CUZK_VERIFIER_API int groth16_verify(const char *proof, const char *inputs,
                                     const char *verification_key, char *error_msg,
                                     unsigned long error_msg_maxsize);

#ifdef __cplusplus
}
#endif

#endif
