/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which nodes a proof must open, as the verifier derives them (PoRep and PoSt; those of an update
 * are in filecoin/update.h).
 *
 * Source: porep.md section 6 and post.md section 4 of the specification. */
#ifndef CUZK_FILECOIN_CHALLENGES_H
#define CUZK_FILECOIN_CHALLENGES_H

#include "filecoin/registered.h"

/* What the challenges of a PoRep depend on. */
typedef struct {
    cuzk_porep_variant variant;
    uint64_t nodes;
    unsigned per_partition;
    const uint8_t *replica_id; /* 32 bytes each */
    const uint8_t *comm_r;     /* read for the synthetic and the non-interactive variant */
    const uint8_t *seed;       /* read for the interactive and the synthetic variant */
} cuzk_porep_challenge_params;

/** The challenged nodes of partition k: per_partition values, each 1 … nodes - 1, in order; they
 * may repeat. */
void cuzk_porep_challenges(uint64_t *out, const cuzk_porep_challenge_params *params, unsigned k);

/** The n-th of the min(nodes, 2^18) nodes that the synthetic variant chooses from. */
uint64_t cuzk_porep_synthetic_challenge(uint64_t nodes, const uint8_t replica_id[32],
                                        const uint8_t comm_r[32], uint64_t n);

/** replica_id: SHA-256 of what names a sector, cut to 254 bits. */
void cuzk_replica_id(uint8_t out[32], const uint8_t prover_id[32], uint64_t sector_number,
                     const uint8_t ticket[32], const uint8_t comm_d[32],
                     const uint8_t porep_id[32]);

/** The challenged leaf of a sector under the challenge index q; see cuzk_post_challenge_index. */
uint64_t cuzk_post_challenge(const uint8_t randomness[32], uint64_t sector_id, uint64_t q,
                             uint64_t nodes);

/** Challenge index of opening n of the sector at place `place` of partition k. */
uint64_t cuzk_post_challenge_index(const cuzk_registered_proof *proof, uint64_t k, uint64_t place,
                                   unsigned n);

#endif
