/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every allocation behind the readers, checks and makers of vanilla proofs fails once: the call
 * says so, leaves its result zero and leaks nothing (the sanitizer build tells). */
#include "alloc_fail.h"
#include "filecoin/param_manifest.h"
#include "filecoin/synthetic.h"
#include "filecoin/vanilla_check.h"
#include "filecoin/vanilla_pieces.h"
#include "filecoin/vanilla_write.h"
#include "golden_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ALLOCATIONS_MAX = 2000 };

static cuzk_error err;
static cuzk_fixture c1, winning, update;
static FILE *nowhere;
static cuzk_synthetic_params porep_params, window_params, update_params;

static int set_up(void **state)
{
    (void)state;
    c1 = golden_load("porep-2k-1", "c1.json");
    winning = golden_load("winning-2k-5", "vanilla-0.bincode");
    update = golden_load("update-2k-6", "vanilla-0.bincode");
    nowhere = fopen("/dev/null", "w");
    cuzk_synthetic_params p = {.seed = 1, .miner_id = 1000, .n_sectors = 1};
    porep_params = window_params = update_params = p;
    return nowhere == NULL ||
           cuzk_registered_proof_get(&porep_params.proof, CUZK_PROOF_POREP, 5, NULL) != CUZK_OK ||
           cuzk_registered_proof_get(&window_params.proof, CUZK_PROOF_WINDOW, 10, NULL) !=
               CUZK_OK ||
           cuzk_registered_proof_get(&update_params.proof, CUZK_PROOF_UPDATE, 0, NULL) != CUZK_OK;
}

static int tear_down(void **state)
{
    (void)state;
    cuzk_test_fixture_free(&c1);
    cuzk_test_fixture_free(&winning);
    cuzk_test_fixture_free(&update);
    fclose(nowhere);
    return 0;
}

/* ---- the calls: each clears what it made ---- */

static cuzk_status read_c1(void)
{
    cuzk_porep_vanilla v;
    cuzk_porep_statement s;
    cuzk_status status = cuzk_porep_vanilla_read(&v, c1.data, c1.size, &err);
    if (status != CUZK_OK) {
        assert_null(v.challenges);
        return status;
    }
    cuzk_porep_statement_of(&s, &v);
    status = cuzk_porep_check(&v, &s, NULL, &err);
    if (status == CUZK_OK) {
        status = cuzk_porep_vanilla_write(nowhere, &v, true, &err);
    }
    cuzk_porep_vanilla_clear(&v);
    return status;
}

/* An envelope with something in it: the window is allocated, then the text is found wanting. */
static cuzk_status read_envelope(void)
{
    static const char text[] = "{\"Phase1Out\":\"e30=\"}";
    cuzk_porep_vanilla v;
    cuzk_status status = cuzk_porep_vanilla_read(&v, (const uint8_t *)text, sizeof text - 1, &err);
    assert_null(v.challenges);
    return status == CUZK_E_FORMAT ? CUZK_OK : status;
}

static cuzk_status read_post(void)
{
    cuzk_registered_proof proof;
    cuzk_vanilla_span span = {winning.data, winning.size};
    cuzk_post_vanilla v;
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINNING, 0, NULL), CUZK_OK);
    cuzk_status status = cuzk_post_vanilla_read(&v, &proof, &span, 1, &err);
    if (status != CUZK_OK) {
        assert_null(v.sectors);
        return status;
    }
    status = cuzk_post_vanilla_write(nowhere, &v, &err);
    cuzk_post_vanilla_clear(&v);
    return status;
}

static cuzk_status read_update(void)
{
    cuzk_vanilla_span span = {update.data, update.size};
    cuzk_update_vanilla v;
    cuzk_status status = cuzk_update_vanilla_read(&v, &update_params.proof, &span, 1, &err);
    if (status != CUZK_OK) {
        assert_null(v.partitions);
        return status;
    }
    status = cuzk_update_vanilla_write(nowhere, &v, &err);
    cuzk_update_vanilla_clear(&v);
    return status;
}

static cuzk_status read_pieces(void)
{
    static const char array[] = "[\"AAEC\", \"AA==\"]";
    cuzk_vanilla_pieces p;
    cuzk_status status =
        cuzk_vanilla_pieces_read(&p, (const uint8_t *)array, sizeof array - 1, &err);
    if (status == CUZK_OK) {
        cuzk_vanilla_pieces_clear(&p);
        status = cuzk_vanilla_pieces_read(&p, winning.data, winning.size, &err);
    }
    cuzk_vanilla_pieces_clear(&p);
    return status;
}

static cuzk_status make_porep(void)
{
    cuzk_porep_vanilla v;
    cuzk_status status = cuzk_synthetic_porep(&v, &porep_params, &err);
    assert_true(status == CUZK_OK || v.challenges == NULL);
    cuzk_porep_vanilla_clear(&v);
    return status;
}

static cuzk_status make_window(void)
{
    cuzk_post_vanilla v;
    uint8_t randomness[32];
    cuzk_status status = cuzk_synthetic_post(&v, randomness, &window_params, &err);
    if (status == CUZK_OK) {
        cuzk_post_statement s = {.proof = window_params.proof,
                                 .n_sectors = 1,
                                 .sector_ids = &v.sectors[0].sector_id,
                                 .comm_r = &v.sectors[0].comm_r};
        memcpy(s.randomness, randomness, sizeof randomness);
        status = cuzk_post_check(&v, &s, NULL, &err);
    }
    cuzk_post_vanilla_clear(&v);
    return status;
}

static cuzk_status make_update(void)
{
    cuzk_update_vanilla v;
    cuzk_update_statement s;
    cuzk_status status = cuzk_synthetic_update(&v, &s, &update_params, &err);
    if (status == CUZK_OK) {
        status = cuzk_update_check(&v, &s, NULL, &err);
    }
    cuzk_update_vanilla_clear(&v);
    return status;
}

static cuzk_status list_params(void)
{
    cuzk_manifest m = {0};
    cuzk_status status = cuzk_manifest_builtin(&m, &err);
    cuzk_manifest_clear(&m);
    return status;
}

static void test_every_allocation(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        cuzk_status (*call)(void);
        unsigned allocations_min;
    } calls[] = {{"read a C1", read_c1, 5},           {"read an envelope", read_envelope, 2},
                 {"read a PoSt", read_post, 4},       {"read an update", read_update, 4},
                 {"read pieces", read_pieces, 3},     {"make a PoRep", make_porep, 8},
                 {"make a PoSt", make_window, 5},     {"make an update", make_update, 6},
                 {"list parameters", list_params, 40}};
    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_int_equal(calls[i].call(), CUZK_OK); /* constants are made at the first use */
        unsigned n = 0;
        for (;; n++) {
            cuzk_error_clear(&err);
            alloc_fail_at(n);
            cuzk_status status = calls[i].call();
            if (!alloc_fail_stop()) {
                assert_int_equal(status, CUZK_OK);
                break;
            }
            if (status != CUZK_E_MEMORY || strstr(err.text, "memory") == NULL) {
                fail_msg("%s, allocation %u: status %d \"%s\"", calls[i].name, n, status, err.text);
            }
            assert_true(n < ALLOCATIONS_MAX);
        }
        if (n < calls[i].allocations_min) {
            fail_msg("%s: %u allocations, expected at least %u", calls[i].name, n,
                     calls[i].allocations_min);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
