/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Challenges of PoRep and PoSt: the reference's vectors and the golden cases. */
#include "base/bytes.h"
#include "filecoin/challenges.h"
#include "golden_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const porep_cases[] = {"porep-2k-1",     "porep-2k-ni-22",  "porep-2k-synth-20",
                                          "porep-2k-v1-21", "vector-porep-2k", "porep-4k-13",
                                          "porep-16k-11",   "porep-32k-12",    "porep-8m-2"};
static const char *const post_cases[] = {
    "window-2k-1sectors-3",   "window-2k-3sectors-4",   "winning-2k-5",
    "vector-window-2k",       "vector-winning-2k",      "winning-4k-19",
    "window-8m-3sectors-24",  "window-16k-3sectors-18", "winning-32k-16",
    "window-32k-1sectors-17", "winning-8m-23"};

enum { CHALLENGES_MAX = 256 };

static void test_porep_cases(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof porep_cases / sizeof porep_cases[0]; i++) {
        if (!golden_exists(porep_cases[i])) {
            continue;
        }
        cuzk_fixture f = golden_load(porep_cases[i], "expected.json");
        const char *json = (const char *)f.data;
        cuzk_registered_proof proof = golden_proof(json, CUZK_PROOF_POREP);
        cuzk_porep_shape shape =
            cuzk_porep_shape_of(proof.sector, proof.variant == CUZK_POREP_NON_INTERACTIVE);
        uint8_t prover_id[32], ticket[32], seed[32], comm_d[32], comm_r[32], replica_id[32];
        uint8_t expected[32], porep_id[32];
        json_hex(json, "prover_id", prover_id, 32);
        json_hex(json, "ticket", ticket, 32);
        json_hex(json, "seed", seed, 32);
        json_hex(json, "comm_d", comm_d, 32);
        json_hex(json, "comm_r", comm_r, 32);
        json_hex(json, "porep_id", expected, 32);
        cuzk_porep_id(porep_id, &proof);
        assert_memory_equal(porep_id, expected, 32);
        cuzk_replica_id(replica_id, prover_id, json_u64(json, "sector"), ticket, comm_d, porep_id);
        json_hex(json, "replica_id", expected, 32);
        assert_memory_equal(replica_id, expected, 32);

        uint64_t challenges[CHALLENGES_MAX];
        unsigned n = golden_numbers(json, "challenges", challenges, CHALLENGES_MAX);
        assert_int_equal(n, shape.partitions * shape.challenges);
        cuzk_porep_challenge_params params = {.variant = proof.variant,
                                              .nodes = cuzk_sector_nodes(proof.sector),
                                              .per_partition = shape.challenges,
                                              .replica_id = replica_id,
                                              .comm_r = comm_r,
                                              .seed = seed};
        for (unsigned k = 0; k < shape.partitions; k++) {
            uint64_t derived[CHALLENGES_MAX];
            cuzk_porep_challenges(derived, &params, k);
            assert_memory_equal(derived, challenges + k * shape.challenges,
                                shape.challenges * sizeof derived[0]);
        }
        cuzk_test_fixture_free(&f);
    }
}

static void test_porep_vectors(void **state)
{
    (void)state;
    uint8_t prover_id[32], comm_d[32] = {0}, ticket[32], seed[32], porep_id[32] = {5};
    uint8_t replica_id[32];
    static const uint8_t expected[32] = {0x84, 0x94, 0x87, 0x89, 0x47, 0x9d, 0x43, 0x6b,
                                         0x5d, 0x60, 0xfc, 0xbe, 0x7d, 0x7f, 0x58, 0x61,
                                         0xbb, 0x1e, 0xa7, 0x16, 0xae, 0xec, 0x1a, 0xc0,
                                         0xba, 0xd7, 0x4f, 0x3e, 0x60, 0x76, 0xae, 0x19};
    cuzk_prover_id(prover_id, 1000);
    memset(ticket, 1, sizeof ticket);
    memset(seed, 2, sizeof seed);
    for (unsigned i = 0; i < 31; i++) {
        comm_d[i] = (uint8_t)i;
    }
    cuzk_replica_id(replica_id, prover_id, 123, ticket, comm_d, porep_id);
    assert_memory_equal(replica_id, expected, 32);
    static const uint64_t small[2] = {25, 42};
    static const uint64_t large_0[4] = {282782077, 729595041, 321624483, 306944476};
    static const uint64_t large_3[4] = {338630760, 998829718, 729175169, 108226305};
    cuzk_porep_challenge_params params = {.variant = CUZK_POREP_INTERACTIVE,
                                          .nodes = 64,
                                          .per_partition = 2,
                                          .replica_id = replica_id,
                                          .seed = seed};
    uint64_t out[18];
    cuzk_porep_challenges(out, &params, 0);
    assert_memory_equal(out, small, sizeof small);
    params.nodes = (uint64_t)1 << 30;
    params.per_partition = 18;
    cuzk_porep_challenges(out, &params, 0);
    assert_memory_equal(out, large_0, sizeof large_0);
    cuzk_porep_challenges(out, &params, 3);
    assert_memory_equal(out, large_3, sizeof large_3);
}

static void test_synthetic_vector(void **state)
{
    (void)state;
    uint8_t replica_id[32] = {55}, comm_r[32] = {101};
    static const uint64_t set[21] = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                     801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
    for (unsigned i = 0; i < 21; i++) {
        assert_int_equal(cuzk_porep_synthetic_challenge(1 << 10, replica_id, comm_r, i), set[i]);
    }
}

static void test_post_cases(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof post_cases / sizeof post_cases[0]; i++) {
        if (!golden_exists(post_cases[i])) {
            continue;
        }
        cuzk_fixture f = golden_load(post_cases[i], "expected.json");
        const char *json = (const char *)f.data;
        bool window = strstr(post_cases[i], "window") != NULL;
        cuzk_registered_proof proof =
            golden_proof(json, window ? CUZK_PROOF_WINDOW : CUZK_PROOF_WINNING);
        uint8_t randomness[32];
        json_hex(json, "randomness", randomness, 32);
        uint64_t sectors[8];
        uint64_t challenges[CHALLENGES_MAX];
        unsigned n_sectors = golden_numbers(json, "sectors", sectors, 8);
        unsigned each = window ? CUZK_WINDOW_CHALLENGES : CUZK_WINNING_CHALLENGES;
        unsigned slots = window ? cuzk_window_sectors(proof.sector) : 1;
        assert_int_equal(golden_numbers(json, "challenges", challenges, CHALLENGES_MAX),
                         n_sectors * each);
        for (unsigned s = 0; s < n_sectors; s++) {
            for (unsigned n = 0; n < each; n++) {
                uint64_t q = cuzk_post_challenge_index(&proof, s / slots, s % slots, n);
                assert_int_equal(
                    cuzk_post_challenge(randomness, sectors[s], q, cuzk_sector_nodes(proof.sector)),
                    challenges[s * each + n]);
            }
        }
        cuzk_test_fixture_free(&f);
    }
}

/* Before API V1_2 the index counts on through the slots of all partitions. */
static void test_post_index(void **state)
{
    (void)state;
    cuzk_registered_proof proof;
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINDOW, 8, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_challenge_index(&proof, 2, 5, 7), (2 * 2349 + 5) * 10 + 7);
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINDOW, 13, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_challenge_index(&proof, 2, 5, 7), 7);
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINNING, 3, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_challenge_index(&proof, 0, 0, 65), 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep_cases),      cmocka_unit_test(test_porep_vectors),
        cmocka_unit_test(test_synthetic_vector), cmocka_unit_test(test_post_cases),
        cmocka_unit_test(test_post_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
