/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a proof states, in the terms of the chain, and the public inputs that the verifier derives
 * from it. Public inputs are 32-byte canonical values without the leading ONE.
 *
 * Source: porep.md section 2.2, post.md section 4.1, snapdeals.md section 3 of the specification.
 */
#ifndef CUZK_FILECOIN_STATEMENT_H
#define CUZK_FILECOIN_STATEMENT_H

#include "filecoin/vanilla_porep.h"
#include "filecoin/vanilla_post.h"
#include "filecoin/vanilla_update.h"

typedef struct {
    cuzk_registered_proof proof;
    cuzk_digest replica_id, comm_d, comm_r; /* field elements */
    uint8_t seed[32];                       /* not read for the non-interactive variant */
} cuzk_porep_statement;

/* One partition. */
typedef struct {
    cuzk_registered_proof proof;
    uint8_t randomness[32]; /* below the field's order: callers clear the two highest bits */
    uint64_t partition;     /* Window before API V1_2: its challenges depend on it */
    uint32_t n_sectors;     /* 1 … cuzk_window_sectors; Winning: 1 */
    const uint64_t *sector_ids;
    const cuzk_digest *comm_r;
} cuzk_post_statement;

typedef struct {
    cuzk_registered_proof proof;
    cuzk_digest comm_r_old, comm_r_new, comm_d_new;
} cuzk_update_statement;

/** The statement that a commit-phase-1 output makes about itself. */
void cuzk_porep_statement_of(cuzk_porep_statement *out, const cuzk_porep_vanilla *vanilla);

/** Check that 32 bytes from outside, called `name` in messages, are a field element.
 *  Errors: E_FORMAT. */
cuzk_status cuzk_statement_digest(cuzk_digest *out, const uint8_t bytes[32], const char *name,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Number of circuits that a proof of that registered number consists of; a PoSt has one a
 *  partition, of which a statement describes one. */
unsigned cuzk_proof_partitions(const cuzk_registered_proof *proof);

/** Number of public inputs of one circuit, without ONE. */
unsigned cuzk_public_inputs_count(const cuzk_registered_proof *proof);

/** Public inputs of partition k: replica_id, comm_d, comm_r; per challenge the node, its parents,
 * and the node three times. out: cuzk_public_inputs_count values. */
void cuzk_porep_public_inputs(cuzk_digest *out, const cuzk_porep_statement *statement, unsigned k);

/** Public inputs of a PoSt partition: per slot comm_r and the challenged leaves; slots without a
 *  sector repeat the last one. */
void cuzk_post_public_inputs(cuzk_digest *out, const cuzk_post_statement *statement);

/** Public inputs of partition k of an update. */
void cuzk_update_public_inputs(cuzk_digest *out, const cuzk_update_statement *statement,
                               unsigned k);

#endif
