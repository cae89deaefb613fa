/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proving with the interface of rapidsnark: a program written for its prover.h compiles against
 * this header and links with libcuzk. New programs should use cuzk.h, which can do more.
 *
 * Rules for all calls
 *  - Every function but groth16_proof_size and groth16_prover_destroy returns one of the codes
 *    below. On any code but PROVER_OK the reason is written to error_msg, at most error_msg_maxsize
 *    bytes, NUL included; error_msg may be NULL.
 *  - Keys are Groth16 .zkey files on BN254, and, beyond rapidsnark, on BLS12-381.
 *  - Results are JSON without white space. Sizes that go in count the whole buffer; sizes that come
 *    back with PROVER_OK are the text's length without its final NUL; sizes that come back with
 *    PROVER_ERROR_SHORT_BUFFER are what the buffers must have: a second call with them succeeds.
 *    A wrong witness is reported before a short buffer.
 *  - Every proof is verified before it is returned: a witness that does not satisfy the circuit
 *    gives PROVER_ERROR.
 *  - A prover object may be used by several threads at once. Its threads end with
 *    groth16_prover_destroy; there is one per processor that the process may use. */
#ifndef CUZK_PROVER_H
#define CUZK_PROVER_H

#if defined(__GNUC__)
#define CUZK_PROVER_API __attribute__((visibility("default")))
#else
#define CUZK_PROVER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PROVER_OK                     0x0
#define PROVER_ERROR                  0x1
#define PROVER_ERROR_SHORT_BUFFER     0x2
#define PROVER_INVALID_WITNESS_LENGTH 0x3

/** Size of a buffer that holds the public values of any proof of this key, NUL included.
 *  zkey_buffer: the bytes of a .zkey file. Returns PROVER_OK or PROVER_ERROR. */
CUZK_PROVER_API int groth16_public_size_for_zkey_buf(const void *zkey_buffer,
                                                     unsigned long long zkey_size,
                                                     unsigned long long *public_size,
                                                     char *error_msg,
                                                     unsigned long long error_msg_maxsize);

/** The same for the file at zkey_fname. */
CUZK_PROVER_API int groth16_public_size_for_zkey_file(const char *zkey_fname,
                                                      unsigned long long *public_size,
                                                      char *error_msg,
                                                      unsigned long long error_msg_maxsize);

/** Size of a buffer that holds any proof, NUL included. */
CUZK_PROVER_API void groth16_proof_size(unsigned long long *proof_size);

/** Make a prover for a key. *prover_object: free with groth16_prover_destroy.
 *  zkey_buffer is borrowed until then; it is not copied. Returns PROVER_OK or PROVER_ERROR. */
CUZK_PROVER_API int groth16_prover_create(void **prover_object, const void *zkey_buffer,
                                          unsigned long long zkey_size, char *error_msg,
                                          unsigned long long error_msg_maxsize);

/** The same for a file, which is mapped, not read: the object's own memory does not hold the key.
 */
CUZK_PROVER_API int groth16_prover_create_zkey_file(void **prover_object,
                                                    const char *zkey_file_path, char *error_msg,
                                                    unsigned long long error_msg_maxsize);

/** Prove. wtns_buffer: the bytes of a .wtns file.
 *
 *  proof_size, public_size: in: bytes of the two buffers; out: see the rules above.
 *  Returns PROVER_OK, PROVER_ERROR_SHORT_BUFFER (both needed sizes are set), PROVER_ERROR, or
 *  PROVER_INVALID_WITNESS_LENGTH (the witness has another length than the circuit). */
CUZK_PROVER_API int groth16_prover_prove(void *prover_object, const void *wtns_buffer,
                                         unsigned long long wtns_size, char *proof_buffer,
                                         unsigned long long *proof_size, char *public_buffer,
                                         unsigned long long *public_size, char *error_msg,
                                         unsigned long long error_msg_maxsize);

/** End the object's threads and free it. NULL is fine. No proof of it may be running. */
CUZK_PROVER_API void groth16_prover_destroy(void *prover_object);

/** Create, prove, destroy in one call. */
CUZK_PROVER_API int groth16_prover(const void *zkey_buffer, unsigned long long zkey_size,
                                   const void *wtns_buffer, unsigned long long wtns_size,
                                   char *proof_buffer, unsigned long long *proof_size,
                                   char *public_buffer, unsigned long long *public_size,
                                   char *error_msg, unsigned long long error_msg_maxsize);

/** The same for a key file. */
CUZK_PROVER_API int groth16_prover_zkey_file(const char *zkey_file_path, const void *wtns_buffer,
                                             unsigned long long wtns_size, char *proof_buffer,
                                             unsigned long long *proof_size, char *public_buffer,
                                             unsigned long long *public_size, char *error_msg,
                                             unsigned long long error_msg_maxsize);

#ifdef __cplusplus
}
#endif

#endif
