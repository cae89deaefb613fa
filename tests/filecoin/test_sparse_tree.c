/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Trees of which only some leaves are known: every opening leads to the one root, along a path that
 * is followed here hash by hash; free values depend on seed, name and place alone. */
#include "filecoin/sparse_tree.h"
#include "gadget/poseidon.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0031;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

static const cuzk_tree shapes[] = {{8, 1, 0, 0}, {8, 2, 0, 0}, {8, 2, 2, 0}, {8, 2, 8, 2},
                                   {8, 6, 0, 0}, {8, 9, 8, 0}, {8, 9, 8, 2}, {8, 1, 4, 0}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], SIBLINGS_MAX = 128 };

static uint64_t n_leaves(cuzk_tree t)
{
    uint64_t n = 1;
    for (unsigned level = 0; level < cuzk_tree_levels(t); level++) {
        n *= cuzk_tree_arity(t, level);
    }
    return n;
}

/* The root that a path leads to, one hash at a time. */
static cuzk_digest follow(cuzk_tree t, const cuzk_merkle_proof *p)
{
    cuzk_digest node = p->leaf, children[8];
    const cuzk_digest *siblings = p->siblings;
    uint64_t index = p->index;
    for (unsigned level = 0; level < cuzk_tree_levels(t); level++) {
        unsigned arity = cuzk_tree_arity(t, level), place = (unsigned)(index % arity);
        for (unsigned i = 0; i < arity; i++) {
            children[i] = i == place ? node : *siblings++;
        }
        cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), &node, children, 1);
        index /= arity;
    }
    return node;
}

/* n different places, ascending, with values. */
static void random_leaves(cuzk_tree_node *out, size_t n, uint64_t total)
{
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t left = total - at - (n - i) + 1;              /* room for this one */
        uint64_t step = i % 3 == 1 ? 0 : next_random() % left; /* some side by side */
        out[i].index = at + step;
        cuzk_draw_digest(&out[i].value, (cuzk_draw){next_random()}, "leaf", i, 0);
        at = out[i].index + 1;
    }
}

static void test_openings(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 8, 30};
    for (int s = 0; s < N_SHAPES; s++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            cuzk_tree_node leaves[30];
            size_t n = counts[c];
            if (n > n_leaves(shapes[s])) {
                continue;
            }
            random_leaves(leaves, n, n_leaves(shapes[s]));
            cuzk_sparse_tree tree;
            assert_int_equal(
                cuzk_sparse_tree_build(&tree, shapes[s], leaves, n, (cuzk_draw){c}, "tree", NULL),
                CUZK_OK);
            for (size_t i = 0; i < n; i++) {
                cuzk_merkle_proof proof;
                cuzk_digest siblings[SIBLINGS_MAX];
                assert_true(cuzk_tree_siblings(shapes[s]) <= SIBLINGS_MAX);
                cuzk_sparse_tree_open(&proof, siblings, &tree, leaves[i].index);
                assert_int_equal(proof.index, leaves[i].index);
                assert_true(cuzk_digest_eq(&proof.leaf, &leaves[i].value));
                assert_true(cuzk_digest_eq(&proof.root, cuzk_sparse_tree_root(&tree)));
                cuzk_digest root = follow(shapes[s], &proof);
                assert_true(cuzk_digest_eq(&root, &proof.root));
                for (unsigned k = 0; k < cuzk_tree_siblings(shapes[s]); k++) {
                    assert_true(cuzk_digest_is_fr(&proof.siblings[k]));
                }
            }
            cuzk_sparse_tree_clear(&tree);
            cuzk_sparse_tree_clear(&tree);
        }
    }
}

/* All leaves known: the tree of all of them. */
static void test_full(void **state)
{
    (void)state;
    const cuzk_tree t = {8, 2, 2, 0};
    enum { N = 128 };
    cuzk_tree_node leaves[N];
    cuzk_digest row[N];
    for (unsigned i = 0; i < N; i++) {
        leaves[i].index = i;
        cuzk_draw_digest(&leaves[i].value, (cuzk_draw){9}, "x", i, 1);
        row[i] = leaves[i].value;
    }
    unsigned n = N;
    for (unsigned level = 0; level < cuzk_tree_levels(t); level++) {
        unsigned arity = cuzk_tree_arity(t, level);
        n /= arity;
        cuzk_poseidon_hash(arity, cuzk_poseidon_merkle_tag(arity), row, row, n);
    }
    cuzk_sparse_tree tree;
    for (unsigned k = 0; k < 2; k++) { /* nothing is free: the seed does not matter */
        assert_int_equal(cuzk_sparse_tree_build(&tree, t, leaves, N, (cuzk_draw){k}, "t", NULL),
                         CUZK_OK);
        assert_true(cuzk_digest_eq(cuzk_sparse_tree_root(&tree), &row[0]));
        cuzk_sparse_tree_clear(&tree);
    }
}

/* What the root depends on. */
static void test_free_values(void **state)
{
    (void)state;
    cuzk_tree_node leaves[2] = {{.index = 5}, {.index = 77}};
    cuzk_draw_digest(&leaves[0].value, (cuzk_draw){1}, "a", 0, 0);
    cuzk_draw_digest(&leaves[1].value, (cuzk_draw){1}, "a", 1, 0);
    const struct {
        uint64_t seed;
        const char *name;
        size_t n;
    } cases[] = {{1, "t", 2}, {1, "t", 2}, {2, "t", 2}, {1, "u", 2}, {1, "t", 1}};
    cuzk_digest roots[5];
    for (int i = 0; i < 5; i++) {
        cuzk_sparse_tree tree;
        assert_int_equal(cuzk_sparse_tree_build(&tree, (cuzk_tree){8, 6, 0, 0}, leaves, cases[i].n,
                                                (cuzk_draw){cases[i].seed}, cases[i].name, NULL),
                         CUZK_OK);
        roots[i] = *cuzk_sparse_tree_root(&tree);
        cuzk_sparse_tree_clear(&tree);
    }
    assert_true(cuzk_digest_eq(&roots[0], &roots[1]));
    for (int i = 2; i < 5; i++) {
        assert_false(cuzk_digest_eq(&roots[0], &roots[i]));
    }
}

static void test_draws(void **state)
{
    (void)state;
    enum { N = 200 };
    static const char *const names[] = {"", "a", "b", "aa", "a long name of a value that is free"};
    cuzk_digest seen[N * 2];
    unsigned n = 0;
    for (uint64_t i = 0; i < N / 5; i++) {
        for (unsigned k = 0; k < 5; k++) {
            cuzk_draw_digest(&seen[n], (cuzk_draw){i / 8}, names[k], i, i % 2);
            cuzk_digest again;
            cuzk_draw_digest(&again, (cuzk_draw){i / 8}, names[k], i, i % 2);
            assert_true(cuzk_digest_eq(&again, &seen[n]));
            assert_true(seen[n].b[31] < 0x40); /* below 2^254 */
            n++;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) {
            assert_false(cuzk_digest_eq(&seen[i], &seen[k]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openings),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_free_values),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
