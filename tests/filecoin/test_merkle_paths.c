/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Roots of Merkle paths as their header promises them: any mixture of arities, any number of paths
 * and threads, values at any alignment, bits of the index beyond the tree; against one hash after
 * the other. And what indices of a tree's shape must add up to. */
#include "base/cpu.h"
#include "filecoin/merkle_roots.h"
#include "filecoin/vanilla_merkle.h"
#include "gadget/plain.h"
#include "gadget/poseidon.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0e47;
static cuzk_pool *pools[3]; /* none, one thread, four */

enum { PATHS = 70, SIBLINGS_MAX = 80, LEVELS_MAX = 12 };

static void random_value(uint8_t out[32])
{
    for (int i = 0; i < 4; i++) {
        uint64_t r = cuzk_test_random(&seed);
        memcpy(out + 8 * i, &r, 8);
    }
    out[31] &= 0x3f; /* below the order */
}

/* One path after the other, one hash after the other. */
static void plain_root(uint8_t out[32], const uint8_t *leaf, const uint8_t *siblings,
                       uint64_t index, const uint8_t *arity, unsigned n_levels, bool sha256)
{
    memcpy(out, leaf, 32);
    for (unsigned l = 0; l < n_levels; l++) {
        uint8_t children[CUZK_MERKLE_ARITY_MAX][32];
        unsigned at = (unsigned)(index % arity[l]);
        for (unsigned i = 0; i < arity[l]; i++) {
            memcpy(children[i], i == at ? out : siblings, 32);
            siblings += i == at ? 0 : 32;
        }
        if (sha256) {
            plain_sha256_node(out, children[0], children[1]);
        } else {
            cuzk_poseidon_hash(arity[l], cuzk_poseidon_merkle_tag(arity[l]), out, children, 1);
        }
        index /= arity[l];
    }
}

static unsigned n_siblings(const uint8_t *arity, unsigned n_levels)
{
    unsigned n = 0;
    for (unsigned l = 0; l < n_levels; l++) {
        n += arity[l] - 1u;
    }
    return n;
}

static void check_paths(const uint8_t *arity, unsigned n_levels, size_t n, bool sha256)
{
    unsigned each = n_siblings(arity, n_levels), shift = 0;
    size_t stride = 32 * (size_t)(each + 1) + 1; /* nothing is aligned, and each another way */
    uint8_t *values = malloc(PATHS * stride + 1), (*roots)[32] = malloc(PATHS * sizeof *roots);
    uint8_t(*expected)[32] = malloc(PATHS * sizeof *expected);
    cuzk_merkle_path paths[PATHS];
    assert_true(values != NULL && roots != NULL && expected != NULL);
    for (unsigned l = 0; l < n_levels; l++) {
        shift += (unsigned)__builtin_ctz(arity[l]);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t *leaf = values + i * stride;
        for (unsigned k = 0; k <= each; k++) {
            random_value(leaf + 32 * k);
        }
        uint64_t index = cuzk_test_random(&seed);
        paths[i] = (cuzk_merkle_path){leaf, leaf + 32, index};
        plain_root(expected[i], leaf, leaf + 32,
                   shift < 64 ? index % (UINT64_C(1) << shift) : index, arity, n_levels, sha256);
    }
    for (int p = 0; p < 3; p++) {
        memset(roots, 0xee, PATHS * sizeof *roots);
        if (sha256) {
            cuzk_sha256_roots(roots, paths, n, n_levels, pools[p]);
        } else {
            cuzk_poseidon_roots(roots, paths, n, arity, n_levels, pools[p]);
        }
        assert_memory_equal(roots, expected, n * sizeof *roots);
        for (size_t i = n; i < PATHS; i++) {
            assert_int_equal(roots[i][0], 0xee); /* and no more than n */
        }
    }
    free(values);
    free(roots);
    free(expected);
}

static void test_roots(void **state)
{
    (void)state;
    static const struct {
        uint8_t arity[LEVELS_MAX];
        unsigned n_levels;
    } trees[] = {{{0}, 0},          {{2}, 1},          {{4}, 1},
                 {{8}, 1},          {{8, 8}, 2},       {{8, 8, 4}, 3},
                 {{8, 8, 8, 2}, 4}, {{2, 4, 8, 2}, 4}, {{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2}, 11}};
    static const size_t counts[] = {0, 1, 2, 15, 16, 17, 33, PATHS};
    for (size_t t = 0; t < sizeof trees / sizeof trees[0]; t++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            check_paths(trees[t].arity, trees[t].n_levels, counts[c], false);
        }
    }
    static const uint8_t binary[LEVELS_MAX] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    for (unsigned n_levels = 0; n_levels <= LEVELS_MAX; n_levels += 3) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            check_paths(binary, n_levels, counts[c], true);
        }
    }
}

static void test_comm_r(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint8_t both[2][32], expected[32], out[32];
        random_value(both[0]);
        random_value(both[1]);
        cuzk_poseidon_hash(2, cuzk_poseidon_merkle_tag(2), expected, both, 1);
        cuzk_comm_r(out, both[0], both[1]);
        assert_memory_equal(out, expected, 32);
        memcpy(out, both[round % 2], 32); /* over one of the two */
        cuzk_comm_r(out, round % 2 == 0 ? out : both[0], round % 2 == 1 ? out : both[1]);
        assert_memory_equal(out, expected, 32);
    }
}

/* Levels, siblings and index bits of the trees of every size. */
static void test_shapes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *sector = cuzk_sector_at(i);
        const cuzk_tree trees[] = {cuzk_tree_poseidon(sector), cuzk_tree_sha256(sector)};
        for (int t = 0; t < 2; t++) {
            uint64_t leaves = 1;
            unsigned siblings = 0, bits = 0;
            for (unsigned l = 0; l < cuzk_tree_levels(trees[t]); l++) {
                unsigned arity = cuzk_tree_arity(trees[t], l);
                leaves *= arity;
                siblings += arity - 1;
                bits += cuzk_tree_index_bits(trees[t], l);
            }
            assert_int_equal(leaves, cuzk_sector_nodes(sector));
            assert_int_equal(bits, sector->lg_nodes);
            assert_int_equal(siblings, cuzk_tree_siblings(trees[t]));
        }
    }
}

static void test_digests(void **state)
{
    (void)state;
    char hex[CUZK_DIGEST_HEX_MAX];
    cuzk_digest a, b;
    for (unsigned i = 0; i < 32; i++) {
        a.b[i] = (uint8_t)(0x10 * i + 15 - i % 16);
    }
    assert_ptr_equal(cuzk_digest_hex(hex, &a), hex);
    assert_int_equal(strlen(hex), 64);
    for (unsigned i = 0; i < 32; i++) { /* first byte first */
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        assert_int_equal(strtoul(digits, NULL, 16), a.b[i]);
    }
    b = a;
    assert_true(cuzk_digest_eq(&a, &b));
    for (unsigned bit = 0; bit < 256; bit++) {
        b.b[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_false(cuzk_digest_eq(&a, &b));
        b.b[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_comm_r),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_digests),
    };
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        print_message("skipped: %s\n", err.text);
        return 77;
    }
    if (cuzk_pool_create(&pools[1], 1, NULL) != CUZK_OK ||
        cuzk_pool_create(&pools[2], 4, NULL) != CUZK_OK) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pools[1]);
    cuzk_pool_destroy(pools[2]);
    return failed;
}
