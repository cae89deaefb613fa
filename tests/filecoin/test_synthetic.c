/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sectors that never existed: of every size and kind, they pass the checks that the golden cases
 * hold to account, and follow from the seed alone. */
#define _GNU_SOURCE
#include "filecoin/sparse_tree.h"
#include "filecoin/synthetic.h"
#include "filecoin/vanilla_check.h"
#include "filecoin/vanilla_write.h"

#include "base/sha256.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK) {
        fail_msg("%s", err->text);
    }
}

/* Sizes whose proofs take long run nightly only. */
static bool is_skipped(const cuzk_sector *sector)
{
    return sector->lg_nodes > 30 && getenv("CUZK_NIGHTLY") == NULL;
}

static cuzk_synthetic_params params_of(cuzk_proof_kind kind, uint64_t number,
                                       const cuzk_sector *sector, uint64_t seed)
{
    cuzk_synthetic_params p = {.seed = seed, .miner_id = 1000, .sector_number = 77, .n_sectors = 1};
    assert_int_equal(cuzk_registered_proof_get(&p.proof, kind, number, NULL), CUZK_OK);
    assert_int_equal(cuzk_registered_proof_resize(&p.proof, sector, NULL), CUZK_OK);
    return p;
}

static void test_porep(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *sector = cuzk_sector_at(i);
        for (uint64_t number = 0; number <= 5 && !sector->update_only && !is_skipped(sector);
             number += 5) {
            cuzk_synthetic_params params = params_of(CUZK_PROOF_POREP, number, sector, 3);
            cuzk_porep_vanilla v;
            cuzk_porep_statement s;
            cuzk_error err = {0};
            assert_ok(cuzk_synthetic_porep(&v, &params, &err), &err);
            cuzk_porep_statement_of(&s, &v);
            assert_ok(cuzk_porep_check(&v, &s, NULL, &err), &err);
            cuzk_porep_vanilla_clear(&v);
        }
    }
}

static void test_post(void **state)
{
    (void)state;
    static const struct {
        cuzk_proof_kind kind;
        uint64_t number;
        uint32_t n_sectors;
    } proofs[] = {
        {CUZK_PROOF_WINNING, 0, 1}, {CUZK_PROOF_WINDOW, 5, 2}, {CUZK_PROOF_WINDOW, 10, 2}};
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *sector = cuzk_sector_at(i);
        for (unsigned k = 0; k < 3 && !sector->update_only; k++) {
            cuzk_synthetic_params params = params_of(proofs[k].kind, proofs[k].number, sector, 5);
            params.n_sectors = proofs[k].n_sectors;
            params.partition = k;
            cuzk_post_vanilla v;
            cuzk_post_statement s = {
                .proof = params.proof, .partition = k, .n_sectors = params.n_sectors};
            cuzk_error err = {0};
            assert_ok(cuzk_synthetic_post(&v, s.randomness, &params, &err), &err);
            uint64_t ids[2] = {77, 78};
            cuzk_digest comm_r[2] = {v.sectors[0].comm_r, v.sectors[params.n_sectors - 1].comm_r};
            s.sector_ids = ids;
            s.comm_r = comm_r;
            assert_ok(cuzk_post_check(&v, &s, NULL, &err), &err);
            assert_int_equal(cuzk_digest_eq(&comm_r[0], &comm_r[1]), params.n_sectors == 1);
            cuzk_post_vanilla_clear(&v);
        }
    }
}

static void test_update(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cuzk_sector_count(); i++) {
        const cuzk_sector *sector = cuzk_sector_at(i);
        if (is_skipped(sector)) {
            continue;
        }
        cuzk_synthetic_params params = params_of(CUZK_PROOF_UPDATE, 0, sector, 7);
        cuzk_update_vanilla v;
        cuzk_update_statement s;
        cuzk_error err = {0};
        assert_ok(cuzk_synthetic_update(&v, &s, &params, &err), &err);
        assert_ok(cuzk_update_check(&v, &s, NULL, &err), &err);
        cuzk_update_vanilla_clear(&v);
    }
}

/* The same seed, the same proof; another seed, another one. */
static void test_deterministic(void **state)
{
    (void)state;
    cuzk_digest comm_r[3];
    cuzk_digest sibling[3];
    for (unsigned i = 0; i < 3; i++) {
        cuzk_synthetic_params params =
            params_of(CUZK_PROOF_POREP, 5, cuzk_sector_by_name("32KiB", 5), i < 2 ? 1 : 2);
        cuzk_porep_vanilla v;
        cuzk_error err = {0};
        assert_ok(cuzk_synthetic_porep(&v, &params, &err), &err);
        comm_r[i] = v.comm_r;
        sibling[i] = v.challenges[1].parents[13].inclusion.siblings[20];
        cuzk_porep_vanilla_clear(&v);
    }
    assert_true(cuzk_digest_eq(&comm_r[0], &comm_r[1]));
    assert_true(cuzk_digest_eq(&sibling[0], &sibling[1]));
    assert_false(cuzk_digest_eq(&comm_r[0], &comm_r[2]));
    assert_false(cuzk_digest_eq(&sibling[0], &sibling[2]));
}

/* A commit-phase-1 output of full size is read into less than 10 MB. */
static void test_memory(void **state)
{
    (void)state;
    cuzk_synthetic_params params =
        params_of(CUZK_PROOF_POREP, 5, cuzk_sector_by_name("32GiB", 5), 9);
    cuzk_porep_vanilla v;
    cuzk_error err = {0};
    assert_ok(cuzk_synthetic_porep(&v, &params, &err), &err);
    cuzk_digest comm_r = v.comm_r;
    char *text = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&text, &n);
    assert_ok(cuzk_porep_vanilla_write(file, &v, true, &err), &err);
    fclose(file);
    cuzk_porep_vanilla_clear(&v);
    assert_true(n > 50000000);
    struct mallinfo2 before = mallinfo2();
    assert_ok(cuzk_porep_vanilla_read(&v, (uint8_t *)text, n, &err), &err);
    struct mallinfo2 after = mallinfo2();
    /* all zero under a sanitizer, which counts elsewhere */
    assert_true(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 10000000);
    assert_memory_equal(&v.comm_r, &comm_r, sizeof comm_r);
    cuzk_porep_vanilla_clear(&v);
    free(text);
}

static void test_refused(void **state)
{
    (void)state;
    cuzk_porep_vanilla v;
    for (uint64_t number = 10; number <= 15; number += 5) {
        cuzk_synthetic_params params =
            params_of(CUZK_PROOF_POREP, number, cuzk_sector_by_name("2KiB", 4), 1);
        cuzk_error err = {0};
        assert_int_equal(cuzk_synthetic_porep(&v, &params, &err), CUZK_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "depend on comm_r"));
    }
    cuzk_synthetic_params params =
        params_of(CUZK_PROOF_WINDOW, 10, cuzk_sector_by_name("2KiB", 4), 1);
    for (uint32_t n = 0; n <= 3; n += 3) {
        cuzk_post_vanilla post;
        uint8_t randomness[32];
        cuzk_error err = {0};
        params.n_sectors = n;
        assert_int_equal(cuzk_synthetic_post(&post, randomness, &params, &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "expected 1 to 2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep),   cmocka_unit_test(test_post),
        cmocka_unit_test(test_update),  cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
