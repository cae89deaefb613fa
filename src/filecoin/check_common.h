/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the checks of the three kinds of vanilla proofs share: comparisons that say what differs,
 * and Merkle paths collected so that they are hashed together. */
#ifndef CUZK_FILECOIN_CHECK_COMMON_H
#define CUZK_FILECOIN_CHECK_COMMON_H

#include "base/pool.h"
#include "filecoin/merkle_roots.h"
#include "filecoin/vanilla_merkle.h"

/** Fail unless the two are equal: "<found_name> is <hex>, <expected_name> is <hex>". */
cuzk_status cuzk_check_digest(const cuzk_digest *found, const char *found_name,
                              const cuzk_digest *expected, const char *expected_name,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** Fail unless the two are equal: "<name> is <found>, expected <expected>". */
cuzk_status cuzk_check_number(uint64_t found, const char *name, uint64_t expected,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** What a proof claims: the index of its leaf and its root, called root_name in messages. */
cuzk_status cuzk_check_claims(const cuzk_merkle_proof *proof, uint64_t index,
                              const cuzk_digest *root, const char *root_name,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** A proof as a path to be hashed. */
static inline cuzk_merkle_path cuzk_check_path(const cuzk_merkle_proof *proof)
{
    return (cuzk_merkle_path){proof->leaf.b, proof->siblings, proof->index};
}

/* The check of part k of a proof; its loops on the pool. */
typedef cuzk_status (*cuzk_check_part)(const void *ctx, unsigned k, cuzk_pool *pool,
                                       cuzk_error *err);

/** Check parts 0 … n - 1, on the pool's threads a part each where that is faster. The error is that
 *  of the first part that has one. */
cuzk_status cuzk_check_parts(cuzk_check_part check, const void *ctx, unsigned n, cuzk_pool *pool,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Roots of n paths of a tree. */
void cuzk_check_roots(cuzk_digest *roots, const cuzk_merkle_path *paths, size_t n, cuzk_tree tree,
                      cuzk_pool *pool);

#endif
