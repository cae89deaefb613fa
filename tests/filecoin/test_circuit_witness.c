/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Witnesses of the golden cases: every value as the reference assigns it, and no constraint broken.
 * The same on one thread and on three. */
#include "base/sha256.h"
#include "filecoin/circuit_porep.h"
#include "filecoin/circuit_post.h"
#include "filecoin/circuit_update.h"
#include "filecoin/synthetic.h"
#include "gadget/support.h"
#include "golden_case.h"
#include "r1cs/satisfy.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PIECES_MAX = 4 };

/* Sanitizers are slow: under them the first case of each list, and where threads are watched
 * without what one thread does with the witness. */
#ifdef __SANITIZE_THREAD__
enum { FIRST_ONLY = 1, FOR_THREADS = 1 };
#elif defined(__SANITIZE_ADDRESS__)
enum { FIRST_ONLY = 1, FOR_THREADS = 0 };
#else
enum { FIRST_ONLY = 0, FOR_THREADS = 0 };
#endif

static cuzk_pool *pools[2]; /* one thread, three */

static void assert_ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK) {
        fail_msg("%s", err->text);
    }
}

static void json_hex_of(const char *json, const char *name, unsigned k, uint8_t out[32])
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *p = strstr(json, key);
    for (; k > 0; k--) {
        p = strstr(p + 1, key);
    }
    json_hex(p, name, out, 32);
}

/* Variables that are made wrong, of a witness of few variables and of many. */
enum { SAMPLES = 60, NIGHTLY_SAMPLES = 40, FEW_VARS = 1 << 15 };

/* A witness against partition k of the case. */
static void expect_witness(const cuzk_shape *s, cuzk_witness *w, const char *json, unsigned k)
{
    uint8_t expected[32], found[32];
    json_hex_of(json, "inputs_sha256", k, expected);
    support_values_digest(found, w, 0, w->n_inputs);
    assert_memory_equal(found, expected, 32);
    json_hex_of(json, "aux_sha256", k, expected);
    support_values_digest(found, w, w->n_inputs, w->n_vars - w->n_inputs);
    assert_memory_equal(found, expected, 32);
    if (FOR_THREADS) {
        return;
    }
    cuzk_error err = {0};
    assert_ok(cuzk_shape_check_witness(s, w, NULL, pools[0], &err), &err);
    if (k == 0 && s->n_vars < FEW_VARS) {
        support_expect_tight(s, w, SAMPLES);
    } else if (k == 0 && getenv("CUZK_NIGHTLY") != NULL) {
        support_expect_tight(s, w, NIGHTLY_SAMPLES);
    }
}

static void expect_same(const cuzk_witness *a, const cuzk_witness *b)
{
    assert_memory_equal(a->bits, b->bits, cuzk_bitmap_words(a->n_vars) * 8);
    assert_int_equal(a->n_field, b->n_field);
    assert_memory_equal(a->field, b->field, (size_t)a->n_field * 32);
}

/* ---- PoRep ----------------------------------------------------------------------------------- */

static void porep_case(const char *name)
{
    cuzk_error err = {0};
    cuzk_porep_vanilla v;
    cuzk_shape *s = NULL;
    cuzk_fixture c1 = golden_load(name, "c1.json"), f = golden_load(name, "expected.json");
    assert_ok(cuzk_porep_vanilla_read(&v, c1.data, c1.size, &err), &err);
    assert_ok(cuzk_porep_circuit_shape(&s, v.proof.sector, &err), &err);
    for (unsigned k = 0; k < v.shape.partitions; k++) {
        cuzk_witness *w[2];
        for (int i = 0; i < 2; i++) {
            assert_ok(cuzk_porep_circuit_witness(&w[i], s, &v, k, pools[i], &err), &err);
        }
        expect_same(w[0], w[1]);
        expect_witness(s, w[0], (const char *)f.data, k);
        cuzk_witness_destroy(w[0]);
        cuzk_witness_destroy(w[1]);
    }
    cuzk_shape_destroy(s);
    cuzk_porep_vanilla_clear(&v);
    cuzk_test_fixture_free(&c1);
    cuzk_test_fixture_free(&f);
}

/* ---- PoSt ------------------------------------------------------------------------------------ */

static void post_case(const char *name)
{
    cuzk_error err = {0};
    cuzk_fixture f = golden_load(name, "expected.json"), pieces[PIECES_MAX];
    const char *json = (const char *)f.data;
    cuzk_proof_kind kind = strstr(name, "winning") ? CUZK_PROOF_WINNING : CUZK_PROOF_WINDOW;
    cuzk_registered_proof proof = golden_proof(json, kind);
    cuzk_vanilla_span spans[PIECES_MAX];
    uint64_t sectors[PIECES_MAX];
    unsigned n = golden_numbers(json, "sectors", sectors, PIECES_MAX);
    for (unsigned i = 0; i < n; i++) {
        char file[32];
        snprintf(file, sizeof file, "vanilla-%u.bincode", i);
        pieces[i] = golden_load(name, file);
        spans[i] = (cuzk_vanilla_span){pieces[i].data, pieces[i].size};
    }
    cuzk_shape *s = NULL;
    assert_ok(cuzk_post_circuit_shape(&s, kind, proof.sector, &err), &err);
    unsigned slots = kind == CUZK_PROOF_WINDOW ? cuzk_window_sectors(proof.sector) : 1;
    for (unsigned k = 0; k * slots < n; k++) {
        cuzk_post_vanilla v;
        cuzk_witness *w[2];
        unsigned here = n - k * slots < slots ? n - k * slots : slots;
        assert_ok(cuzk_post_vanilla_read(&v, &proof, spans + k * slots, here, &err), &err);
        for (int i = 0; i < 2; i++) {
            assert_ok(cuzk_post_circuit_witness(&w[i], s, &v, pools[i], &err), &err);
        }
        expect_same(w[0], w[1]);
        expect_witness(s, w[0], json, k);
        cuzk_witness_destroy(w[0]);
        cuzk_witness_destroy(w[1]);
        cuzk_post_vanilla_clear(&v);
    }
    for (unsigned i = 0; i < n; i++) {
        cuzk_test_fixture_free(&pieces[i]);
    }
    cuzk_shape_destroy(s);
    cuzk_test_fixture_free(&f);
}

/* ---- update ---------------------------------------------------------------------------------- */

static void update_case(const char *name)
{
    cuzk_error err = {0};
    cuzk_fixture f = golden_load(name, "expected.json"), pieces[PIECES_MAX];
    const char *json = (const char *)f.data;
    cuzk_update_statement st = {.proof = golden_proof(json, CUZK_PROOF_UPDATE)};
    json_hex(json, "comm_r_old", st.comm_r_old.b, 32);
    json_hex(json, "comm_d_new", st.comm_d_new.b, 32);
    json_hex(json, "comm_r_new", st.comm_r_new.b, 32);
    cuzk_vanilla_span spans[PIECES_MAX];
    unsigned n = cuzk_update_shape_of(st.proof.sector).partitions;
    assert_true(n <= PIECES_MAX);
    for (unsigned i = 0; i < n; i++) {
        char file[32];
        snprintf(file, sizeof file, "vanilla-%u.bincode", i);
        pieces[i] = golden_load(name, file);
        spans[i] = (cuzk_vanilla_span){pieces[i].data, pieces[i].size};
    }
    cuzk_shape *s = NULL;
    cuzk_update_vanilla v;
    assert_ok(cuzk_update_circuit_shape(&s, st.proof.sector, &err), &err);
    assert_ok(cuzk_update_vanilla_read(&v, &st.proof, spans, n, &err), &err);
    for (unsigned k = 0; k < n; k++) {
        cuzk_witness *w[2];
        for (int i = 0; i < 2; i++) {
            assert_ok(cuzk_update_circuit_witness(&w[i], s, &v, &st, k, pools[i], &err), &err);
        }
        expect_same(w[0], w[1]);
        expect_witness(s, w[0], json, k);
        cuzk_witness_destroy(w[0]);
        cuzk_witness_destroy(w[1]);
        cuzk_test_fixture_free(&pieces[k]);
    }
    cuzk_update_vanilla_clear(&v);
    cuzk_shape_destroy(s);
    cuzk_test_fixture_free(&f);
}

/* ---- sectors that never existed: sizes without golden cases ---------------------------------- */

static void expect_satisfied(cuzk_shape *s, cuzk_witness *w)
{
    cuzk_error err = {0};
    assert_ok(cuzk_shape_check_witness(s, w, NULL, pools[1], &err), &err);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(s);
}

static void synthetic_case(const char *size)
{
    cuzk_error err = {0};
    const cuzk_sector *sector = cuzk_sector_by_name(size, strlen(size));
    cuzk_synthetic_params params = {.seed = 7, .miner_id = 1000, .n_sectors = 1};
    static const uint64_t numbers[] = {[CUZK_PROOF_POREP] = 5,
                                       [CUZK_PROOF_WINDOW] = 10,
                                       [CUZK_PROOF_WINNING] = 0,
                                       [CUZK_PROOF_UPDATE] = 0};
    for (int kind = CUZK_PROOF_POREP; kind <= CUZK_PROOF_WINNING; kind++) {
        cuzk_shape *s = NULL;
        cuzk_witness *w = NULL;
        assert_ok(
            cuzk_registered_proof_get(&params.proof, (cuzk_proof_kind)kind, numbers[kind], &err),
            &err);
        assert_ok(cuzk_registered_proof_resize(&params.proof, sector, &err), &err);
        if (kind == CUZK_PROOF_POREP) {
            cuzk_porep_vanilla v;
            assert_ok(cuzk_porep_circuit_shape(&s, sector, &err), &err);
            assert_ok(cuzk_synthetic_porep(&v, &params, &err), &err);
            unsigned last = v.shape.partitions - 1;
            assert_ok(cuzk_porep_circuit_witness(&w, s, &v, last, pools[1], &err), &err);
            cuzk_porep_vanilla_clear(&v);
        } else if (kind == CUZK_PROOF_UPDATE) {
            cuzk_update_vanilla v;
            cuzk_update_statement st;
            assert_ok(cuzk_update_circuit_shape(&s, sector, &err), &err);
            assert_ok(cuzk_synthetic_update(&v, &st, &params, &err), &err);
            unsigned last = v.shape.partitions - 1;
            assert_ok(cuzk_update_circuit_witness(&w, s, &v, &st, last, pools[1], &err), &err);
            cuzk_update_vanilla_clear(&v);
        } else {
            cuzk_post_vanilla v;
            uint8_t randomness[32];
            assert_ok(cuzk_post_circuit_shape(&s, (cuzk_proof_kind)kind, sector, &err), &err);
            assert_ok(cuzk_synthetic_post(&v, randomness, &params, &err), &err);
            assert_ok(cuzk_post_circuit_witness(&w, s, &v, pools[1], &err), &err);
            cuzk_post_vanilla_clear(&v);
        }
        expect_satisfied(s, w);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* The cases of a list ended by NULL; those that are not at hand are named and left out. */
static void run_cases(void (*run)(const char *), const char *const *names)
{
    for (; *names != NULL; names++) {
        if (golden_exists(*names)) {
            print_message("%s\n", *names);
            run(*names);
            if (FIRST_ONLY) {
                return;
            }
        }
    }
}

static void test_porep(void **state)
{
    (void)state;
    run_cases(porep_case, (const char *const[]){"vector-porep-2k", NULL});
}

static void test_post(void **state)
{
    (void)state;
    run_cases(post_case, (const char *const[]){
                             "vector-window-2k", "vector-winning-2k", "window-2k-1sectors-3",
                             "window-2k-3sectors-4", "winning-2k-5", "winning-4k-19",
                             "window-16k-3sectors-18", "window-32k-1sectors-17", "winning-32k-16",
                             "window-8m-3sectors-24", "winning-8m-23", NULL});
}

static void test_update(void **state)
{
    (void)state;
    run_cases(update_case, (const char *const[]){"vector-update-2k", "update-2k-6", NULL});
}

/* A circuit of another size or kind is refused, whatever its size. */
static void test_other_circuits(void **state)
{
    (void)state;
    static const char *const sizes[] = {"4k", "8m", "32g"};
    const cuzk_sector *small = cuzk_sector_by_name("2k", 2);
    cuzk_fixture c1 = golden_load("vector-porep-2k", "c1.json");
    cuzk_porep_vanilla porep;
    assert_int_equal(cuzk_porep_vanilla_read(&porep, c1.data, c1.size, NULL), CUZK_OK);
    cuzk_fixture piece = golden_load("vector-winning-2k", "vanilla-0.bincode");
    cuzk_post_vanilla winning;
    cuzk_registered_proof proof;
    assert_int_equal(cuzk_registered_proof_get(&proof, CUZK_PROOF_WINNING, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_post_vanilla_read(&winning, &proof,
                                            &(cuzk_vanilla_span){piece.data, piece.size}, 1, NULL),
                     CUZK_OK);
    for (int i = 0; i < 3; i++) {
        cuzk_witness *w = NULL;
        cuzk_error err = {0};
        cuzk_shape *s = NULL;
        const cuzk_sector *sector = cuzk_sector_by_name(sizes[i], strlen(sizes[i]));
        assert_int_equal(cuzk_post_circuit_shape(&s, CUZK_PROOF_WINNING, sector, NULL), CUZK_OK);
        assert_int_equal(cuzk_post_circuit_witness(&w, s, &winning, pools[0], &err),
                         CUZK_E_MISMATCH);
        assert_non_null(strstr(err.text, "not that of the proof"));
        cuzk_shape_destroy(s);
        /* more than the witness has room for, and less; two parts, as PoRep and Window have */
        assert_int_equal(
            cuzk_post_circuit_shape(&s, CUZK_PROOF_WINDOW, i < 2 ? sector : small, NULL), CUZK_OK);
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_porep_circuit_witness(&w, s, &porep, 0, pools[0], &err),
                         CUZK_E_MISMATCH);
        assert_int_equal(cuzk_post_circuit_witness(&w, s, &winning, pools[0], NULL),
                         CUZK_E_MISMATCH);
        cuzk_shape_destroy(s);
    }
    cuzk_porep_vanilla_clear(&porep);
    cuzk_post_vanilla_clear(&winning);
    cuzk_test_fixture_free(&c1);
    cuzk_test_fixture_free(&piece);
}

static void skip_unless_nightly(void)
{
    if (getenv("CUZK_NIGHTLY") == NULL) {
        print_message("skipped: CUZK_NIGHTLY is not set\n");
        skip();
    }
}

/* Larger cases: minutes. */
static void test_nightly(void **state)
{
    (void)state;
    skip_unless_nightly();
    run_cases(porep_case, (const char *const[]){"porep-2k-1", "porep-2k-synth-20", "porep-2k-v1-21",
                                                "porep-2k-ni-22", "porep-4k-13", "porep-16k-11",
                                                "porep-32k-12", "porep-8m-2", NULL});
    run_cases(update_case,
              (const char *const[]){"update-16k-14", "update-32k-15", "update-8m-25", NULL});
}

/* The largest circuits, satisfied. */
static void test_nightly_synthetic(void **state)
{
    (void)state;
    skip_unless_nightly();
    static const char *const sizes[] = {"512m", "32g", "64g"};
    for (int i = 0; i < 3; i++) {
        print_message("%s\n", sizes[i]);
        synthetic_case(sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep),   cmocka_unit_test(test_post),
        cmocka_unit_test(test_update),  cmocka_unit_test(test_other_circuits),
        cmocka_unit_test(test_nightly), cmocka_unit_test(test_nightly_synthetic),
    };
    cuzk_error err = {0};
    if (cuzk_cpu_check(&err) != CUZK_OK) {
        print_message("skipped: %s\n", err.text);
        return 77;
    }
    if (cuzk_pool_create(&pools[0], 1, &err) != CUZK_OK ||
        cuzk_pool_create(&pools[1], 3, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pools[0]);
    cuzk_pool_destroy(pools[1]);
    return failed;
}
