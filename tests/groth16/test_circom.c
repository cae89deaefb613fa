/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom's fixtures on both curves: keys generated from their trapdoor hold the bytes that snarkjs
 * wrote, proofs with given r and s are the only right ones, snarkjs's proofs verify. The large
 * circuits, whose keys are generated here, run when CUZK_NIGHTLY is set. */
#include "support.h"

#include "formats/sections.h"
#include "formats/snarkjs_json.h"
#include "groth16/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const small[] = {
    "circom/bn254/multiplier2",  "circom/bn254/multiplier1000", "circom/bn254/poseidon2",
    "circom/bn254/manypublic",   "circom/bn254/range64",        "circom/bn254/eddsa_poseidon",
    "circom/bn254/merkle20",     "circom/bls12381/multiplier2", "circom/bls12381/multiplier1000",
    "circom/bls12381/poseidon2", "circom/bls12381/manypublic",  "circom/bls12381/range64",
    "circom/bls12381/merkle20",
};

static const char *const large[] = {
    "circom/bn254/sha256_256",  "circom/bn254/sha256_512",    "circom/bn254/sha256_2048",
    "circom/bn254/merklebatch", "circom/bls12381/sha256_256", "circom/bls12381/sha256_512",
};

static const char *const ceremonies[] = {"circom/bn254/poseidon2_ceremony",
                                         "circom/bls12381/poseidon2_ceremony"};

static cuzk_pool *pool;

/* Circuits whose keys are too big for this tree are tested where they are at hand. */
static bool at_hand(const char *name)
{
    char file[100];
    snprintf(file, sizeof file, "%s/circuit.r1cs", name);
    if (!cuzk_test_fixture_exists(file)) {
        print_message("skipped: no fixture %s\n", name);
        return false;
    }
    return true;
}

/* ---- keys ---- */

static void test_generated_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (!at_hand(small[i])) {
            continue;
        }
        cuzk_shape *shape = support_shape(small[i]);
        cuzk_trapdoor t = support_trapdoor(small[i], shape->curve);
        support_bytes ours = support_generate(shape, CUZK_KEY_CIRCOM, &t, pool);
        cuzk_fixture theirs = support_text(small[i], "circuit.zkey");
        cuzk_sections a, b;
        assert_int_equal(cuzk_sections_open(&a, "zkey", 1, ours.data, ours.size, NULL), CUZK_OK);
        assert_int_equal(cuzk_sections_open(&b, "zkey", 1, theirs.data, theirs.size, NULL),
                         CUZK_OK);
        for (uint32_t id = 1; id <= 9; id++) {
            cuzk_span x, y;
            assert_int_equal(cuzk_sections_get(&a, id, "ours", &x, NULL), CUZK_OK);
            assert_int_equal(cuzk_sections_get(&b, id, "theirs", &y, NULL), CUZK_OK);
            if (x.size != y.size || memcmp(x.data, y.data, x.size) != 0) {
                fail_msg("%s: section %u differs", small[i], id);
            }
        }
        assert_true(support_open_zkey(&ours).is_test_key);
        free(ours.data);
        cuzk_test_fixture_free(&theirs);
        cuzk_shape_destroy(shape);
    }
}

/* Fresh keys are not marked, differ from each other, and work. */
static void test_fresh_keys(void **state)
{
    (void)state;
    static const char *const names[] = {"circom/bn254/poseidon2", "circom/bls12381/poseidon2"};
    for (size_t i = 0; i < 3; i++) {
        cuzk_shape *shape = support_shape(names[(i + 1) / 2]);
        cuzk_witness *w = support_witness(names[(i + 1) / 2], shape->n_inputs);
        cuzk_key_style style = i == 2 ? CUZK_KEY_BELLPERSON : CUZK_KEY_CIRCOM;
        support_bytes first = support_generate(shape, style, NULL, pool);
        support_bytes second = support_generate(shape, style, NULL, pool);
        assert_int_equal(first.size, second.size);
        assert_memory_not_equal(first.data, second.data, first.size);
        cuzk_prover *prover = NULL;
        cuzk_proof_points proof;
        cuzk_error err = {0};
        cuzk_params params;
        if (style == CUZK_KEY_CIRCOM) {
            cuzk_zkey key = support_open_zkey(&first);
            assert_false(key.is_test_key);
            assert_int_equal(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &err),
                             CUZK_OK);
        } else {
            assert_int_equal(cuzk_params_open(&params, first.data, first.size, &err), CUZK_OK);
            assert_false(params.is_test_key);
            assert_int_equal(cuzk_prover_create_params(&prover, &params, shape, NULL, pool, &err),
                             CUZK_OK);
        }
        if (cuzk_prover_prove(prover, &proof, w, NULL, pool, &err) != CUZK_OK) {
            fail_msg("%s: %s", names[(i + 1) / 2], err.text);
        }
        cuzk_prover_destroy(prover);
        free(first.data);
        free(second.data);
        cuzk_witness_destroy(w);
        cuzk_shape_destroy(shape);
    }
}

/* ---- proofs ---- */

static void expect_fixed_rs(const char *name)
{
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    cuzk_prover *prover = NULL;
    cuzk_blinding blinding;
    cuzk_proof_points expected, found;
    cuzk_error err = {0};
    support_fixed_rs(name, key.curve, &blinding, &expected);
    cuzk_prove_times times;
    cuzk_prove_params params = {.test_blinding = &blinding, .times = &times};
    if (cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &err) != CUZK_OK ||
        cuzk_prover_prove(prover, &found, w, &params, pool, &err) != CUZK_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_true(support_same_proof(&found, &expected));
    assert_true(times.n_stages >= 5);
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(w);
    free(bytes.data);
}

static void test_fixed_rs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (!at_hand(small[i])) {
            continue;
        }
        expect_fixed_rs(small[i]);
    }
}

static void test_fixed_rs_large(void **state)
{
    (void)state;
    if (getenv("CUZK_NIGHTLY") == NULL) {
        skip();
    }
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        if (at_hand(large[i])) {
            expect_fixed_rs(large[i]);
        }
    }
}

/* Public values of a witness. Free with free. */
static uint8_t *public_values(const cuzk_witness *w)
{
    uint8_t *values = malloc((size_t)w->n_inputs * 32);
    assert_non_null(values);
    cuzk_witness_get_range(w, 1, w->n_inputs - 1, values);
    return values;
}

/* What snarkjs proved verifies here, with the key of the .zkey and the one of the JSON; the public
 * values are those of the witness. */
static void expect_foreign_proof(const char *name)
{
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    uint8_t *values = public_values(w);
    cuzk_fixture proof_json = support_text(name, "proof.json");
    cuzk_fixture vk_json = support_text(name, "verification_key.json");
    cuzk_proof_points proof;
    cuzk_vk vk;
    cuzk_error err = {0};
    assert_int_equal(
        cuzk_proof_from_json(&proof, proof_json.data, proof_json.size, key.curve, NULL, &err),
        CUZK_OK);
    assert_int_equal(cuzk_vk_from_json(&vk, vk_json.data, vk_json.size, NULL, pool, &err), CUZK_OK);
    for (int i = 0; i < 4; i++) {
        cuzk_verifier v;
        assert_int_equal(cuzk_verifier_init(&v, i % 2 == 0 ? &vk : &key.vk, i / 2 == 0, &err),
                         CUZK_OK);
        if (cuzk_verifier_check(&v, &proof, values, key.n_public, pool, &err) != CUZK_OK) {
            fail_msg("%s: %s", name, err.text);
        }
    }
    cuzk_vk_clear(&vk);
    cuzk_test_fixture_free(&proof_json);
    cuzk_test_fixture_free(&vk_json);
    cuzk_witness_destroy(w);
    free(values);
    free(bytes.data);
}

static void test_foreign_proofs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (!at_hand(small[i])) {
            continue;
        }
        expect_foreign_proof(small[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        expect_foreign_proof(ceremonies[i]);
    }
}

/* Keys of an ordinary ceremony; and the blinding is fresh: two proofs differ in every point. */
static void test_ceremonies(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        support_bytes bytes = support_zkey(ceremonies[i], pool);
        cuzk_zkey key = support_open_zkey(&bytes);
        cuzk_witness *w = support_witness(ceremonies[i], key.n_public + 1);
        cuzk_prover *prover = NULL;
        cuzk_proof_points p[2];
        cuzk_error err = {0};
        assert_int_equal(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, pool, &err), CUZK_OK);
        for (int k = 0; k < 2; k++) {
            if (cuzk_prover_prove(prover, &p[k], w, NULL, pool, &err) != CUZK_OK) {
                fail_msg("%s: %s", ceremonies[i], err.text);
            }
        }
        size_t n1 = key.curve->g[CUZK_G1].affine_bytes, n2 = key.curve->g[CUZK_G2].affine_bytes;
        assert_memory_not_equal(&p[0].a, &p[1].a, n1);
        assert_memory_not_equal(&p[0].b, &p[1].b, n2);
        assert_memory_not_equal(&p[0].c, &p[1].c, n1);
        cuzk_prover_destroy(prover);
        cuzk_witness_destroy(w);
        free(bytes.data);
    }
}

/* Coefficient records in any order and split in any way give the same proof. */
static void test_record_order(void **state)
{
    (void)state;
    const char *name = "circom/bn254/range64";
    support_bytes bytes = support_zkey(name, pool);
    cuzk_zkey key = support_open_zkey(&bytes);
    cuzk_witness *w = support_witness(name, key.n_public + 1);
    size_t n = (size_t)key.n_coeffs;
    uint8_t *shuffled = malloc(n * CUZK_ZKEY_COEFF_BYTES);
    assert_non_null(shuffled);
    memcpy(shuffled, key.coeffs, n * CUZK_ZKEY_COEFF_BYTES);
    uint64_t x = 88172645463325252u;
    for (size_t i = n - 1; i > 0; i--) {
        uint8_t t[CUZK_ZKEY_COEFF_BYTES];
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        size_t k = (size_t)(x % (i + 1));
        memcpy(t, shuffled + i * sizeof t, sizeof t);
        memcpy(shuffled + i * sizeof t, shuffled + k * sizeof t, sizeof t);
        memcpy(shuffled + k * sizeof t, t, sizeof t);
    }
    key.coeffs = shuffled;
    cuzk_pool *four = NULL;
    cuzk_prover *prover = NULL;
    cuzk_blinding blinding;
    cuzk_proof_points expected, found;
    cuzk_error err = {0};
    assert_int_equal(cuzk_pool_create(&four, 4, NULL), CUZK_OK);
    support_fixed_rs(name, key.curve, &blinding, &expected);
    cuzk_prove_params params = {.test_blinding = &blinding};
    assert_int_equal(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, four, &err), CUZK_OK);
    for (int threads = 0; threads < 2; threads++) {
        assert_int_equal(
            cuzk_prover_prove(prover, &found, w, &params, threads == 0 ? NULL : four, &err),
            CUZK_OK);
        assert_true(support_same_proof(&found, &expected));
    }
    /* a bad record is named by the smallest index */
    memset(shuffled + (n - 1) * CUZK_ZKEY_COEFF_BYTES, 0xff, 4);
    memset(shuffled + 7 * CUZK_ZKEY_COEFF_BYTES + 8, 0xff, 4);
    assert_int_equal(cuzk_prover_prove(prover, &found, w, &params, four, &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "7"));
    cuzk_prover_destroy(prover);
    cuzk_pool_destroy(four);
    cuzk_witness_destroy(w);
    free(shuffled);
    free(bytes.data);
}

int main(void)
{
    if (cuzk_pool_create(&pool, 2, NULL) != CUZK_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_keys), cmocka_unit_test(test_fresh_keys),
        cmocka_unit_test(test_fixed_rs),       cmocka_unit_test(test_fixed_rs_large),
        cmocka_unit_test(test_foreign_proofs), cmocka_unit_test(test_ceremonies),
        cmocka_unit_test(test_record_order),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
