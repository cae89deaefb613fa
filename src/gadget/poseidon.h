/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The Poseidon hash of Filecoin over the scalar field of bls12_381: natively, many at a time, with
 * or without the values that its circuit allocates.
 *
 * Arities 2, 4, 8 and 11; S-box x^5, 8 full rounds. A value is 32 bytes, little-endian, canonical:
 * what digests, files and typed witnesses hold. Inputs that are not below r are taken modulo r.
 * Constants are made at the first use of an arity (1 ms). All functions are thread-safe and work in
 * the caller's thread; split long lists over a pool (cuzk_poseidon_batch).
 *
 * The eight-lane paths compute 16 hashes at a time, the scalar ones one. Source: Grassi et al.,
 * "Poseidon" (USENIX Security 2021); parameters as in gadgets.md section 6. */
#ifndef CUZK_GADGET_POSEIDON_H
#define CUZK_GADGET_POSEIDON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUZK_POSEIDON_ARITY_MAX = 11 };

/** State element 0 for Merkle nodes, columns and two-to-one hashes: 2^arity - 1. */
static inline uint64_t cuzk_poseidon_merkle_tag(unsigned arity)
{
    return ((uint64_t)1 << arity) - 1;
}

/* The tag of the hashes of arity 2 that derive randomness in sector updates. */
#define CUZK_POSEIDON_RANDOMNESS_TAG ((uint64_t)1 << 40)

/** Whether the arity is one of 2, 4, 8, 11. The other functions take only these. */
bool cuzk_poseidon_has_arity(unsigned arity);

/** Values that the circuit of one hash allocates, preimage excluded: 311, 377, 505, 598. */
unsigned cuzk_poseidon_n_values(unsigned arity);

/** How many hashes this process computes at a time: pieces of a list should be multiples of it. */
size_t cuzk_poseidon_batch(void);

/** n hashes.
 *
 *  digest: n × 32 bytes. preimage: n × arity × 32 bytes. Any alignment; digest may be preimage (a
 *  tree level hashed in place), otherwise they do not overlap. */
void cuzk_poseidon_hash(unsigned arity, uint64_t tag, void *digest, const void *preimage, size_t n);

/** The values of n hashes in the order in which the circuit allocates them: per S-box its input
 *  (first round: none, the preimage stands for it), square, fourth power and output, and the digest
 *  at the end.
 *
 *  values[i]: cuzk_poseidon_n_values(arity) × 32 bytes, any alignment; must not overlap others or
 * the preimages. preimage: n × arity × 32 bytes. */
void cuzk_poseidon_values(unsigned arity, uint64_t tag, void *const *values, const void *preimage,
                          size_t n);

#endif
