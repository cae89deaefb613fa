/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Roots of Merkle paths: of real sectors of each tree shape, and of every leaf of whole trees built
 * level by level. */
#include "base/bytes.h"
#include "base/sha256.h"
#include "filecoin/merkle_roots.h"
#include "gadget/poseidon.h"
#include "golden_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- sectors of the reference ---- */

/* Reads the bincode of one sector's openings (post.md section 5). */
typedef struct {
    const uint8_t *p;
} reader;

static uint64_t take_u64(reader *r)
{
    r->p += 8;
    return cuzk_load_u64_le(r->p - 8);
}

static const uint8_t *take(reader *r, size_t n)
{
    r->p += n;
    return r->p - n;
}

typedef struct {
    uint8_t siblings[16 * 7 * 32];
    const uint8_t *root;
    cuzk_merkle_path path;
} opening;

static void take_levels(reader *r, opening *o, uint8_t *arity, unsigned *n_levels, size_t *used,
                        unsigned *shift)
{
    for (uint64_t n = take_u64(r); n > 0; n--) {
        size_t n_siblings = (size_t)take_u64(r);
        memcpy(o->siblings + *used, take(r, 32 * n_siblings), 32 * n_siblings);
        *used += 32 * n_siblings;
        o->path.index |= take_u64(r) << *shift;
        arity[(*n_levels)++] = (uint8_t)(n_siblings + 1);
        *shift += (unsigned)__builtin_ctz((unsigned)n_siblings + 1);
    }
}

static void take_opening(reader *r, opening *o, uint8_t *arity, unsigned *n_levels)
{
    size_t used = 0;
    unsigned shift = 0, kind = cuzk_load_u32_le(take(r, 4));
    *n_levels = 0;
    o->path.index = 0;
    o->path.siblings = o->siblings;
    if (kind == 0) {
        o->root = take(r, 32);
        o->path.leaf = take(r, 32);
    }
    for (unsigned part = 0; part <= kind; part++) {
        take_levels(r, o, arity, n_levels, &used, &shift);
    }
    if (kind != 0) {
        o->root = take(r, 32);
        o->path.leaf = take(r, 32);
    }
}

static void expect_case(const char *name)
{
    if (!golden_exists(name)) {
        return;
    }
    cuzk_fixture f = golden_load(name, "vanilla-0.bincode");
    reader r = {f.data + 8};
    const uint8_t *comm_r = take(&r, 32);
    assert_int_equal(take_u64(&r), 1);
    uint64_t n = take_u64(&r);
    assert_in_range(n, 1, 66);
    static opening openings[66];
    static cuzk_merkle_path paths[66];
    uint8_t arity[16], roots[66][32], found[32];
    unsigned n_levels = 0;
    for (uint64_t i = 0; i < n; i++) {
        take_opening(&r, &openings[i], arity, &n_levels);
        paths[i] = openings[i].path;
    }
    const uint8_t *comm_c = take(&r, 32), *comm_r_last = take(&r, 32);
    assert_ptr_equal(r.p, f.data + f.size);
    cuzk_poseidon_roots(roots, paths, n, arity, n_levels, NULL);
    for (uint64_t i = 0; i < n; i++) {
        assert_memory_equal(roots[i], openings[i].root, 32);
        assert_memory_equal(roots[i], comm_r_last, 32);
    }
    cuzk_comm_r(found, comm_c, comm_r_last);
    assert_memory_equal(found, comm_r, 32);
    /* a wrong index bit, a wrong sibling */
    paths[0].index ^= 1;
    openings[1].siblings[40] ^= 1;
    cuzk_poseidon_roots(roots, paths, n, arity, n_levels, NULL);
    assert_memory_not_equal(roots[0], comm_r_last, 32);
    assert_memory_not_equal(roots[1], comm_r_last, 32);
    cuzk_test_fixture_free(&f);
}

static void test_sectors(void **state)
{
    (void)state;
    expect_case("window-2k-1sectors-3");
    expect_case("vector-window-2k");
    expect_case("winning-2k-5");
    expect_case("winning-4k-19");
    expect_case("window-16k-3sectors-18");
    expect_case("window-32k-1sectors-17");
    expect_case("window-8m-3sectors-24");
}

/* ---- whole trees ---- */

static void node(uint8_t *out, const uint8_t *children, unsigned arity, bool poseidon)
{
    if (poseidon) {
        cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), out, children, 1);
    } else {
        cuzk_sha256_digest(out, children, (size_t)32 * arity);
        out[31] &= 0x3f;
    }
}

static void expect_tree(const uint8_t *arity, unsigned n_levels, bool poseidon, cuzk_pool *pool)
{
    size_t n_leaves = 1, width[16], n_siblings = 0;
    for (unsigned l = 0; l < n_levels; l++) {
        n_leaves *= arity[l];
        n_siblings += arity[l] - 1u;
    }
    uint8_t *level[16];
    for (unsigned l = 0; l <= n_levels; l++) {
        width[l] = l == 0 ? n_leaves : width[l - 1] / arity[l - 1];
        level[l] = calloc(width[l], 32);
        assert_non_null(level[l]);
        for (size_t i = 0; i < width[l]; i++) {
            if (l == 0) {
                cuzk_store_u64_le(level[0] + 32 * i, i * i + 5);
            } else {
                node(level[l] + 32 * i, level[l - 1] + 32 * arity[l - 1] * i, arity[l - 1],
                     poseidon);
            }
        }
    }
    cuzk_merkle_path *paths = calloc(n_leaves, sizeof *paths);
    uint8_t *siblings = malloc(n_leaves * n_siblings * 32 + 1), *roots = malloc(n_leaves * 32 + 1);
    assert_true(paths != NULL && siblings != NULL && roots != NULL);
    uint8_t *s = siblings;
    for (size_t i = 0; i < n_leaves; i++) {
        /* bits above the tree's do not count */
        paths[i] = (cuzk_merkle_path){level[0] + 32 * i, s, i | (uint64_t)i << 40};
        size_t at = i;
        for (unsigned l = 0; l < n_levels; l++) {
            size_t first = at - at % arity[l];
            for (size_t k = first; k < first + arity[l]; k++) {
                if (k != at) {
                    memcpy(s, level[l] + 32 * k, 32);
                    s += 32;
                }
            }
            at /= arity[l];
        }
    }
    if (poseidon) {
        cuzk_poseidon_roots(roots, paths, n_leaves, arity, n_levels, pool);
    } else {
        cuzk_sha256_roots(roots, paths, n_leaves, n_levels, pool);
    }
    for (size_t i = 0; i < n_leaves; i++) {
        if (memcmp(roots + 32 * i, level[n_levels], 32) != 0) {
            fail_msg("%u levels, arity %u first: leaf %zu leads to another root", n_levels,
                     n_levels == 0 ? 0 : arity[0], i);
        }
    }
    for (unsigned l = 0; l <= n_levels; l++) {
        free(level[l]);
    }
    free(paths);
    free(siblings);
    free(roots);
}

static void test_trees(void **state)
{
    (void)state;
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 2, NULL), CUZK_OK);
    expect_tree(NULL, 0, true, NULL);
    expect_tree((const uint8_t[]){8}, 1, true, NULL);
    expect_tree((const uint8_t[]){8, 8, 2}, 3, true, pool);
    expect_tree((const uint8_t[]){8, 2}, 2, true, NULL);
    expect_tree((const uint8_t[]){8, 4}, 2, true, pool);
    expect_tree((const uint8_t[]){4, 2, 8}, 3, true, NULL);
    expect_tree((const uint8_t[]){2, 2, 2, 2, 2, 2, 2, 2}, 8, false, pool);
    expect_tree(NULL, 0, false, NULL);
    cuzk_poseidon_roots(NULL, NULL, 0, NULL, 0, pool); /* nothing to do */
    cuzk_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sectors),
                                       cmocka_unit_test(test_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
