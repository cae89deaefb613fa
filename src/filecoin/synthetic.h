/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Valid vanilla proofs of sectors that never existed, of any size, for tests and measurements: the
 * challenged leaves are chosen, trees are built only along the opened paths. Everything follows
 * from a seed. What is made passes the checks of vanilla_check.h and satisfies the circuits.
 *
 *  - PoRep: a sector of zeros (as of committed capacity): comm_d is a constant, hence replica id
 * and challenges are known first. Labels of parents are drawn, those of challenged nodes computed.
 *    The synthetic and non-interactive variants draw challenges from comm_r, which depends on the
 *    labels of the challenged nodes: they cannot be made this way.
 *  - PoSt: leaves drawn, trees along the paths.
 *  - Update: one value at every node of the old replica, one of the new data; the new replica then
 *    has 2^h values, and every path is known before the challenges are. */
#ifndef CUZK_FILECOIN_SYNTHETIC_H
#define CUZK_FILECOIN_SYNTHETIC_H

#include "filecoin/statement.h"

typedef struct {
    cuzk_registered_proof proof;
    uint64_t seed;
    uint64_t miner_id;      /* PoRep: in the replica id */
    uint64_t sector_number; /* PoRep; PoSt: of the first sector, the others follow */
    uint32_t n_sectors;     /* PoSt: 1 … cuzk_window_sectors */
    uint64_t partition;     /* Window PoSt */
} cuzk_synthetic_params;

/** A commit-phase-1 output. out: cuzk_porep_vanilla_clear. Errors: E_UNSUPPORTED (the variants that
 *  cannot be made), E_MEMORY. */
cuzk_status cuzk_synthetic_porep(cuzk_porep_vanilla *out, const cuzk_synthetic_params *params,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** The vanilla proofs of a PoSt partition and the randomness that challenges it. out:
 *  cuzk_post_vanilla_clear. Errors: E_ARGUMENT (number of sectors), E_MEMORY. */
cuzk_status cuzk_synthetic_post(cuzk_post_vanilla *out, uint8_t randomness[32],
                                const cuzk_synthetic_params *params,
                                cuzk_error *err) CUZK_WARN_UNUSED;

/** The vanilla proofs of all partitions of an update, and what they prove. out:
 *  cuzk_update_vanilla_clear. Errors: E_MEMORY. */
cuzk_status cuzk_synthetic_update(cuzk_update_vanilla *out, cuzk_update_statement *statement,
                                  const cuzk_synthetic_params *params,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

#endif
