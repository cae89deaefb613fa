/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vanilla proofs verified against a statement, before any circuit work: challenges, parents,
 * labels, columns, encodings, every Merkle path, every commitment. A proof that passes satisfies
 * its circuit and has the public inputs that the verifier derives.
 *
 * Errors are E_MISMATCH: "partition 3: challenge 7: drg parent 2: the path leads to …, comm_c is
 * …", from the outside in, with both values. What is compared first is what costs nothing; the
 * first difference is the one that is reported. Cost: nearly all of it is one hash per level of
 * every path, on the pool's threads. Source: porep.md section 6.1, post.md section 3.3,
 * snapdeals.md sections 2 and 4. */
#ifndef CUZK_FILECOIN_VANILLA_CHECK_H
#define CUZK_FILECOIN_VANILLA_CHECK_H

#include "base/pool.h"
#include "filecoin/statement.h"

/** Check partition k of a PoRep. pool: may be NULL. Errors: E_MISMATCH, E_MEMORY. */
cuzk_status cuzk_porep_check_partition(const cuzk_porep_vanilla *vanilla,
                                       const cuzk_porep_statement *statement, unsigned k,
                                       cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Check all partitions, and that the statement's commitments and replica_id are the vanilla
 *  proof's own. */
cuzk_status cuzk_porep_check(const cuzk_porep_vanilla *vanilla,
                             const cuzk_porep_statement *statement, cuzk_pool *pool,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Check a PoSt partition. Sector ids and comm_r of the statement are compared with those of the
 *  vanilla proofs, in order. */
cuzk_status cuzk_post_check(const cuzk_post_vanilla *vanilla, const cuzk_post_statement *statement,
                            cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Check partition k of an update. */
cuzk_status cuzk_update_check_partition(const cuzk_update_vanilla *vanilla,
                                        const cuzk_update_statement *statement, unsigned k,
                                        cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Check all partitions, and that they have the same comm_c. */
cuzk_status cuzk_update_check(const cuzk_update_vanilla *vanilla,
                              const cuzk_update_statement *statement, cuzk_pool *pool,
                              cuzk_error *err) CUZK_WARN_UNUSED;

#endif
