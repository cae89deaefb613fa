/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/check_common.h"

#include <inttypes.h>

enum { LEVELS_MAX = 32 };

cuzk_status cuzk_check_digest(const cuzk_digest *found, const char *found_name,
                              const cuzk_digest *expected, const char *expected_name,
                              cuzk_error *err)
{
    char a[CUZK_DIGEST_HEX_MAX];
    char b[CUZK_DIGEST_HEX_MAX];
    if (cuzk_digest_eq(found, expected)) {
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_MISMATCH, "%s is %s, %s is %s", found_name,
                     cuzk_digest_hex(a, found), expected_name, cuzk_digest_hex(b, expected));
}

cuzk_status cuzk_check_number(uint64_t found, const char *name, uint64_t expected, cuzk_error *err)
{
    CUZK_FAIL_IF(found != expected, err, CUZK_E_MISMATCH, "%s is %" PRIu64 ", expected %" PRIu64,
                 name, found, expected);
    return CUZK_OK;
}

cuzk_status cuzk_check_claims(const cuzk_merkle_proof *proof, uint64_t index,
                              const cuzk_digest *root, const char *root_name, cuzk_error *err)
{
    CUZK_TRY(cuzk_check_number(proof->index, "the leaf's index", index, err));
    return cuzk_check_digest(&proof->root, "the root", root, root_name, err);
}

void cuzk_check_roots(cuzk_digest *roots, const cuzk_merkle_path *paths, size_t n, cuzk_tree tree,
                      cuzk_pool *pool)
{
    if (tree.base_arity == 2) {
        cuzk_sha256_roots(roots, paths, n, tree.base_levels, pool);
        return;
    }
    uint8_t arity[LEVELS_MAX];
    unsigned levels = cuzk_tree_levels(tree);
    for (unsigned l = 0; l < levels; l++) {
        arity[l] = (uint8_t)cuzk_tree_arity(tree, l);
    }
    cuzk_poseidon_roots(roots, paths, n, arity, levels, pool);
}
