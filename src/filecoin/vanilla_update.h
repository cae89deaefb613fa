/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs of a sector update (SnapDeals), read from bincode: one file a partition. */
#ifndef CUZK_FILECOIN_VANILLA_UPDATE_H
#define CUZK_FILECOIN_VANILLA_UPDATE_H

#include "filecoin/vanilla_post.h"

typedef struct {
    cuzk_merkle_proof r_old; /* in tree R of the old replica */
    cuzk_merkle_proof d_new; /* in tree D of the new data */
    cuzk_merkle_proof r_new; /* in tree R of the new replica */
} cuzk_update_challenge;

typedef struct {
    cuzk_digest comm_c;
    cuzk_digest *apex_leaves;          /* 2^shape.apex_bits */
    cuzk_update_challenge *challenges; /* shape.challenges */
} cuzk_update_partition;

typedef struct {
    cuzk_registered_proof proof;
    cuzk_update_shape shape;
    cuzk_update_partition *partitions; /* shape.partitions */
    /* private: what the pointers above point into */
    cuzk_update_challenge *challenges;
    cuzk_digest *digests;
} cuzk_update_vanilla;

/** Read the vanilla proofs of all partitions, partition 0 first.
 *
 *  proof: an update proof. Bytes behind a partition's proof are ignored, as the reference does.
 *  data: read only during the call. out: clear with cuzk_update_vanilla_clear; all zero on failure.
 *  Memory: at most the input's size and a constant. Errors: E_ARGUMENT (another kind), E_MISMATCH
 *  (number of partitions), E_FORMAT, E_TRUNCATED, E_MEMORY; with partition, challenge, field and
 *  offset. */
cuzk_status cuzk_update_vanilla_read(cuzk_update_vanilla *out, const cuzk_registered_proof *proof,
                                     const cuzk_vanilla_span *partitions, uint64_t n_partitions,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Make room for the partitions of out->shape, and for n_digests apex leaves and siblings of all of
 *  them: for those who fill such a proof. On failure clear it. Errors: E_MEMORY. */
cuzk_status cuzk_update_vanilla_allocate(cuzk_update_vanilla *out, uint64_t n_digests,
                                         cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. Safe on an all-zero struct. */
void cuzk_update_vanilla_clear(cuzk_update_vanilla *vanilla);

#endif
