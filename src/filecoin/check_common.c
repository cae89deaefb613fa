/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/check_common.h"

#include <inttypes.h>
#include <stdatomic.h>

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

struct parts {
    cuzk_check_part check;
    const void *ctx;
    atomic_uint first_bad; /* the least that failed so far */
};

static void check_one(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct parts *p = ctx;
    unsigned k = (unsigned)chunk, first = atomic_load_explicit(&p->first_bad, memory_order_relaxed);
    if (k > first || p->check(p->ctx, k, NULL, NULL) == CUZK_OK) {
        return;
    }
    while (k < first && !atomic_compare_exchange_weak_explicit(
                            &p->first_bad, &first, k, memory_order_relaxed, memory_order_relaxed)) {
    }
}

cuzk_status cuzk_check_parts(cuzk_check_part check, const void *ctx, unsigned n, cuzk_pool *pool,
                             cuzk_error *err)
{
    unsigned threads = cuzk_pool_threads(pool);
    if (threads == 1 || n < (threads + 1) / 2) { /* the loops within a part use more of them */
        for (unsigned k = 0; k < n; k++) {
            CUZK_TRY(check(ctx, k, pool, err));
        }
        return CUZK_OK;
    }
    struct parts p = {check, ctx, n};
    cuzk_pool_for(pool, n, check_one, &p);
    unsigned bad = atomic_load_explicit(&p.first_bad, memory_order_relaxed);
    return bad == n ? CUZK_OK : check(ctx, bad, pool, err); /* once more, for the words */
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
