/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The vanilla proof of a seal (output of commit phase 1), read from JSON.
 *
 * Two forms are read: the bare object, and Curio's envelope {"SectorNum", "Phase1Out",
 * "SectorSize"} whose Phase1Out is the same object in base64. Keys may stand in any order, unknown
 * ones are ignored. The text is read once, front to back, through a window of constant size: what
 * stays is the digests, 42 KB a challenge at 32GiB.
 *
 * labeling_proofs and encoding_proof repeat what the columns hold already. They are compared with
 * the columns while they are read and not kept. */
#ifndef CUZK_FILECOIN_VANILLA_POREP_H
#define CUZK_FILECOIN_VANILLA_POREP_H

#include "filecoin/registered.h"
#include "filecoin/vanilla_merkle.h"

/* The labels of one node, layer 1 first, and the opening of their hash in tree C. */
typedef struct {
    uint64_t node;           /* column.index */
    const cuzk_digest *rows; /* one a layer */
    cuzk_merkle_proof inclusion;
} cuzk_porep_column;

typedef struct {
    uint64_t node;            /* of labeling_proofs and encoding_proof: the challenge */
    cuzk_merkle_proof d;      /* comm_d_proofs: the data in tree D */
    cuzk_merkle_proof r;      /* comm_r_last_proof: the replica in tree R */
    cuzk_porep_column column; /* replica_column_proofs.c_x */
    /* the 6 of the base graph, then the 8 of the expander */
    cuzk_porep_column parents[CUZK_PARENTS];
    cuzk_digest *digests; /* private: what the pointers above point into */
} cuzk_porep_challenge;

typedef struct {
    cuzk_registered_proof proof; /* from registered_proof */
    cuzk_porep_shape shape;
    cuzk_digest comm_r, comm_d, replica_id; /* field elements */
    uint8_t seed[32], ticket[32];
    bool has_envelope;
    uint64_t sector_number; /* SectorNum and SectorSize, with an envelope only */
    uint64_t sector_bytes;
    /* shape.partitions × shape.challenges, partition 0 first */
    cuzk_porep_challenge *challenges;
    uint32_t n_challenges;
} cuzk_porep_vanilla;

/** The c-th challenge of partition k. */
static inline const cuzk_porep_challenge *cuzk_porep_challenge_at(const cuzk_porep_vanilla *vanilla,
                                                                  unsigned k, unsigned c)
{
    return &vanilla->challenges[(size_t)k * vanilla->shape.challenges + c];
}

/** Read a commit-phase-1 output, bare or in an envelope.
 *
 *  Everything that can be said without hashing is checked: form, lengths, number of partitions,
 *  challenges, layers and siblings, values below r, the tree shape named by the key of
 *  vanilla_proofs against registered_proof, the envelope's SectorSize against it, and that
 *  labeling_proofs and encoding_proof agree with the columns. cuzk_porep_check does the rest.
 *
 *  data: read only during the call. out: clear with cuzk_porep_vanilla_clear; all zero on failure.
 *  Memory: proportional to size (less than 0.2 bytes a byte), and 100 KB.
 *  Errors: E_FORMAT, E_TRUNCATED, E_MISMATCH, E_UNSUPPORTED (registered_proof), E_MEMORY; the text
 *  names the place as "partition 0: challenge 1: replica_column_proofs: …" and the byte offset. */
cuzk_status cuzk_porep_vanilla_read(cuzk_porep_vanilla *out, const uint8_t *data, uint64_t size,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_porep_vanilla_clear(cuzk_porep_vanilla *vanilla);

#endif
