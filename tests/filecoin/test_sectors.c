/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of sector sizes: names, the tables of the specification (porep.md 1, post.md 1,
 * snapdeals.md 1) written out, and that the circuits that are built have the public inputs that the
 * statements count. */
#include "filecoin/circuit_get.h"
#include "filecoin/statement.h"

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void test_names(void **state)
{
    (void)state;
    const char *all = cuzk_sector_names();
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        char text[32], upper[32];
        assert_ptr_equal(cuzk_sector_by_bytes(s->bytes), s);
        assert_non_null(strstr(all, s->name));
        snprintf(text, sizeof text, "%" PRIu64, s->bytes);
        const char *const spellings[] = {s->name, s->id, text};
        for (int k = 0; k < 3; k++) {
            size_t n = strlen(spellings[k]);
            for (size_t c = 0; c <= n; c++) {
                upper[c] = (char)toupper((unsigned char)spellings[k][c]);
            }
            assert_ptr_equal(cuzk_sector_by_name(spellings[k], n), s);
            assert_ptr_equal(cuzk_sector_by_name(upper, n), s);
            /* a letter more or less is another size or none */
            snprintf(upper, sizeof upper, "%sx", spellings[k]);
            assert_ptr_equal(cuzk_sector_by_name(upper, n), s); /* n characters of it */
            assert_null(cuzk_sector_by_name(upper, n + 1));
            assert_ptr_not_equal(cuzk_sector_by_name(spellings[k], n - 1), s);
        }
        assert_true(i == 0 || s->bytes > cuzk_sector_at(i - 1)->bytes);
    }
    assert_null(cuzk_sector_at(cuzk_sector_count()));
    static const char *const none[] = {"",    "2",   "k",    "2kb",  "2 KiB", "3KiB",  "KiB",
                                       "-2k", "2k ", "32GB", "32Gi", "02k",   "0x800", "1e3"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_null(cuzk_sector_by_name(none[i], strlen(none[i])));
    }
    static const uint64_t no_bytes[] = {0, 1, 32, 1023, 2047, 2049, (uint64_t)1 << 37, UINT64_MAX};
    for (size_t i = 0; i < sizeof no_bytes / sizeof no_bytes[0]; i++) {
        assert_null(cuzk_sector_by_bytes(no_bytes[i]));
    }
}

static void test_trees(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        assert_int_equal(cuzk_sector_nodes(s) * CUZK_NODE_BYTES, s->bytes);
        const cuzk_tree trees[] = {cuzk_tree_poseidon(s), cuzk_tree_sha256(s)};
        for (int k = 0; k < 2; k++) {
            unsigned bits = 0, siblings = 0;
            for (unsigned level = 0; level < cuzk_tree_levels(trees[k]); level++) {
                unsigned arity = cuzk_tree_arity(trees[k], level);
                assert_int_equal(1u << cuzk_tree_index_bits(trees[k], level), arity);
                bits += cuzk_tree_index_bits(trees[k], level);
                siblings += arity - 1;
            }
            assert_int_equal(bits, s->lg_nodes);
            assert_int_equal(siblings, cuzk_tree_siblings(trees[k]));
        }
    }
}

static const cuzk_sector *sector(const char *name)
{
    const cuzk_sector *s = cuzk_sector_by_name(name, strlen(name));
    assert_non_null(s);
    return s;
}

static void test_porep_and_post(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned layers, partitions, challenges, total, window;
    } table[] = {{"2KiB", 2, 1, 2, 2, 2},         {"4KiB", 2, 1, 2, 2, 2},
                 {"8MiB", 2, 1, 2, 2, 2},         {"512MiB", 2, 1, 2, 2, 2},
                 {"1GiB", 2, 1, 2, 2, 2},         {"32GiB", 11, 10, 18, 176, 2349},
                 {"64GiB", 11, 10, 18, 176, 2300}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const cuzk_sector *s = sector(table[i].name);
        cuzk_porep_shape p = cuzk_porep_shape_of(s, false), ni = cuzk_porep_shape_of(s, true);
        assert_int_equal(p.layers, table[i].layers);
        assert_int_equal(p.partitions, table[i].partitions);
        assert_int_equal(p.challenges, table[i].challenges);
        assert_int_equal(p.min_total, table[i].total);
        /* the same circuit, more often */
        bool large = table[i].layers == 11;
        assert_int_equal(ni.layers, p.layers);
        assert_int_equal(ni.challenges, p.challenges);
        assert_int_equal(ni.partitions, large ? 126 : 13);
        assert_int_equal(ni.min_total, large ? 2253 : 26);
        assert_true(p.partitions * p.challenges >= p.min_total);
        assert_true(ni.partitions * ni.challenges >= ni.min_total);
        assert_int_equal(cuzk_window_sectors(s), table[i].window);
    }
}

static void test_updates(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned partitions, challenges, apex_bits, random_bits, per_digest, digests, h, h_select;
    } table[] = {{"1KiB", 1, 10, 3, 5, 50, 1, 1, 1},     {"2KiB", 1, 10, 3, 6, 42, 1, 1, 1},
                 {"4KiB", 1, 10, 3, 7, 36, 1, 1, 1},     {"8KiB", 1, 10, 3, 8, 31, 1, 1, 1},
                 {"16KiB", 2, 10, 7, 8, 31, 1, 1, 1},    {"32KiB", 2, 10, 7, 9, 28, 1, 1, 1},
                 {"8MiB", 4, 10, 7, 16, 15, 1, 10, 8},   {"512MiB", 16, 86, 7, 20, 12, 8, 10, 8},
                 {"32GiB", 16, 86, 7, 26, 9, 10, 10, 8}, {"64GiB", 16, 86, 7, 27, 9, 10, 10, 8}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cuzk_update_shape u = cuzk_update_shape_of(sector(table[i].name));
        assert_int_equal(u.partitions, table[i].partitions);
        assert_int_equal(1u << u.partition_bits, u.partitions);
        assert_int_equal(u.challenges, table[i].challenges);
        assert_int_equal(u.apex_bits, table[i].apex_bits);
        assert_int_equal(u.random_bits, table[i].random_bits);
        assert_int_equal(u.random_bits + u.partition_bits, u.challenge_bits);
        assert_int_equal(u.per_digest, table[i].per_digest);
        assert_int_equal(u.digests, table[i].digests);
        assert_int_equal(u.h, table[i].h);
        assert_int_equal(u.h_select, table[i].h_select);
        bool any = false;
        for (unsigned k = 0; k < CUZK_UPDATE_H_COUNT; k++) {
            any = any || u.hs[k] == u.h;
            assert_true(u.hs[k] <= u.challenge_bits);
        }
        assert_true(any && u.digests * u.per_digest >= u.challenges);
        assert_true((u.digests - 1) * u.per_digest < u.challenges);
    }
}

/* Of every registered number: as many circuits and public inputs as the specification's tables say;
 * and as the circuits have that are quick to build. */
static void test_public_inputs(void **state)
{
    (void)state;
    static const struct {
        cuzk_proof_kind kind;
        const char *size;
        unsigned n_circuits, n_inputs; /* ONE included */
        bool is_built;
    } table[] = {
        {CUZK_PROOF_POREP, "2KiB", 1, 40, false},
        {CUZK_PROOF_POREP, "32GiB", 10, 328, false},
        {CUZK_PROOF_POREP, "64GiB", 10, 328, false},
        {CUZK_PROOF_UPDATE, "2KiB", 1, 5, false},
        {CUZK_PROOF_UPDATE, "8MiB", 4, 5, false},
        {CUZK_PROOF_UPDATE, "32GiB", 16, 5, false},
        {CUZK_PROOF_WINNING, "2KiB", 1, 133, true},
        {CUZK_PROOF_WINNING, "64GiB", 1, 133, true},
        {CUZK_PROOF_WINDOW, "2KiB", 1, 23, true},
        {CUZK_PROOF_WINDOW, "512MiB", 1, 23, true},
        {CUZK_PROOF_WINDOW, "32GiB", 1, 25840, false},
        {CUZK_PROOF_WINDOW, "64GiB", 1, 25301, false},
    };
    unsigned n_found = 0;
    for (unsigned number = 0; number < 64; number++) {
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
            cuzk_registered_proof p;
            if (cuzk_registered_proof_get(&p, table[i].kind, number, NULL) != CUZK_OK ||
                p.sector != sector(table[i].size) || (p.kind == CUZK_PROOF_POREP && number >= 10)) {
                continue; /* synthetic and non-interactive ones have other counts */
            }
            n_found++;
            assert_int_equal(cuzk_proof_partitions(&p), table[i].n_circuits);
            assert_int_equal(cuzk_public_inputs_count(&p) + 1, table[i].n_inputs);
        }
    }
    assert_true(n_found >= sizeof table / sizeof table[0]);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cuzk_shape *shape = NULL;
        cuzk_error err = {0};
        if (!table[i].is_built) {
            continue;
        }
        if (cuzk_circuit_get(&shape, table[i].kind, sector(table[i].size), NULL, NULL, NULL,
                             &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(shape->n_inputs, table[i].n_inputs);
        cuzk_shape_destroy(shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),          cmocka_unit_test(test_trees),
        cmocka_unit_test(test_porep_and_post), cmocka_unit_test(test_updates),
        cmocka_unit_test(test_public_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
