/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ten circuits of the reference (bellperson): keys generated under its test trapdoor are the
 * same bytes, proofs with its r and s are the same bytes, and they verify with its .vk. */
#include "support.h"

#include "base/sha256.h"
#include "groth16/key_check.h"
#include "groth16/verify.h"
#include "json_field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *const names[] = {"product",   "cube",      "noaux",     "sparse",   "dense",
                                    "inputs300", "exact1024", "above1024", "poseidon8"};

static cuzk_pool *pool;

static void expect_digest(const char *json, const char *field, const uint8_t *data, size_t size)
{
    uint8_t expected[32], found[32];
    json_hex(json, field, expected, 32);
    cuzk_sha256_digest(found, data, size);
    assert_memory_equal(found, expected, 32);
}

static void expect_proof(const cuzk_prover *prover, const cuzk_witness *w, const char *json,
                         const char *field, const cuzk_blinding *blinding)
{
    uint8_t expected[CUZK_PROOF_BYTES], found[CUZK_PROOF_BYTES];
    cuzk_prove_params params = {.test_blinding = blinding};
    cuzk_proof_points proof;
    cuzk_error err = {0};
    if (cuzk_prover_prove(prover, &proof, w, &params, pool, &err) != CUZK_OK) {
        fail_msg("%s: %s", field, err.text);
    }
    json_hex(json, field, expected, sizeof expected);
    assert_int_equal(cuzk_proof_points_write(found, &proof, &err), CUZK_OK);
    assert_memory_equal(found, expected, sizeof found);
}

static void expect_circuit(const char *name)
{
    char folder[40];
    snprintf(folder, sizeof folder, "groth/%s", name);
    cuzk_fixture expected = support_text(folder, "expected.json");
    const char *json = (const char *)expected.data;
    cuzk_shape *shape = support_shape(folder);
    cuzk_trapdoor t = support_reference_trapdoor();
    support_bytes key = support_generate(shape, CUZK_KEY_BELLPERSON, &t, pool);
    /* the mark of a test key follows the reference's bytes */
    size_t size = json_u64(json, "params_bytes");
    assert_true(key.size > size);
    expect_digest(json, "params_sha256", key.data, size);
    expect_digest(json, "vk_sha256", key.data, json_u64(json, "vk_bytes"));

    cuzk_params params;
    cuzk_prover *prover = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_params_open(&params, key.data, key.size, &err), CUZK_OK);
    assert_true(params.is_test_key);
    cuzk_prover_params late = {.decode_late = true};
    cuzk_prover *late_prover = NULL;
    if (cuzk_prover_create_params(&prover, &params, shape, NULL, pool, &err) != CUZK_OK ||
        cuzk_prover_create_params(&late_prover, &params, shape, &late, pool, &err) != CUZK_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    cuzk_witness *w = support_witness(folder, shape->n_inputs);
    cuzk_blinding b = {{0}, {0}};
    expect_proof(prover, w, json, "proof_zero_rs", &b);
    support_reference_scalar("r/0", b.r);
    support_reference_scalar("s/0", b.s);
    expect_proof(prover, w, json, "proof_fixed_rs", &b);
    support_reference_scalar("r/1", b.r);
    support_reference_scalar("s/1", b.s);
    expect_proof(prover, w, json, "proof_fixed_rs_1", &b);
    for (int i = 0; i < 2; i++) {
        expect_proof(late_prover, w, json, "proof_fixed_rs_1", &b);
    }
    assert_int_equal(cuzk_prover_check_key(late_prover, NULL, pool, &err), CUZK_E_ARGUMENT);

    /* points that are decoded late are checked at once all the same */
    cuzk_prover *none = NULL;
    uint64_t end = params.arrays[CUZK_PARAMS_A].offset + 96 * params.arrays[CUZK_PARAMS_A].n;
    cuzk_error_clear(&err);
    key.data[end - 1] ^= 1;
    assert_int_equal(cuzk_prover_create_params(&none, &params, shape, &late, pool, &err),
                     CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "array a: point"));

    cuzk_witness_destroy(w);
    cuzk_prover_destroy(late_prover);
    cuzk_prover_destroy(prover);
    free(key.data);
    cuzk_shape_destroy(shape);
    cuzk_test_fixture_free(&expected);
}

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        expect_circuit(names[i]);
    }
}

static void test_sha256(void **state)
{
    (void)state;
    CUZK_TEST_NEEDS_FIXTURE("groth/sha256/circuit.r1cs");
    expect_circuit("sha256");
}

/* The same circuit's .params and .r1cs must belong together. */
static void test_another_circuit(void **state)
{
    (void)state;
    cuzk_shape *cube = support_shape("groth/cube"), *sparse = support_shape("groth/sparse");
    cuzk_fixture f = support_text("groth/cube", "circuit.params");
    cuzk_params params;
    cuzk_prover *prover = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_params_open(&params, f.data, f.size, &err), CUZK_OK);
    assert_int_equal(cuzk_prover_create_params(&prover, &params, sparse, NULL, pool, &err),
                     CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "array ic has 2 points, expected 4"));
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_prover_create_params(&prover, &params, cube, NULL, pool, &err), CUZK_OK);
    cuzk_prover_destroy(prover);
    cuzk_test_fixture_free(&f);
    cuzk_shape_destroy(cube);
    cuzk_shape_destroy(sparse);
}

/* bellperson's .params has no place for a variable that no constraint uses, and no other curve. */
static void test_refused_setups(void **state)
{
    (void)state;
    cuzk_generated_key key;
    cuzk_setup_params params = {.style = CUZK_KEY_BELLPERSON};
    cuzk_error err = {0};
    cuzk_shape *bn = support_shape("circom/bn254/multiplier2");
    assert_int_equal(cuzk_setup(&key, bn, &params, pool, &err), CUZK_E_UNSUPPORTED);
    cuzk_shape_destroy(bn);
    cuzk_error_clear(&err);

    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_shape_builder *b = NULL;
    cuzk_shape *shape = NULL;
    assert_int_equal(cuzk_shape_builder_create(&b, curve, NULL), CUZK_OK);
    cuzk_var x = cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    (void)cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    cuzk_shape_add_term(b, CUZK_MATRIX_A, x, &curve->fr_one);
    cuzk_shape_end_constraint(b);
    assert_int_equal(cuzk_shape_builder_finish(b, &shape, NULL), CUZK_OK);
    assert_int_equal(cuzk_setup(&key, shape, &params, pool, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "aux variable 1 is in no constraint"));
    cuzk_error_clear(&err);

    cuzk_trapdoor t = support_reference_trapdoor();
    params.test_trapdoor = &t;
    params.style = CUZK_KEY_CIRCOM; /* allowed there */
    assert_int_equal(cuzk_setup(&key, shape, &params, pool, &err), CUZK_OK);
    cuzk_generated_key_clear(&key);
    t.tau = curve->fr_one; /* on the domain */
    assert_int_equal(cuzk_setup(&key, shape, &params, pool, &err), CUZK_E_ARGUMENT);
    cuzk_error_clear(&err);
    t = support_reference_trapdoor();
    memset(&t.delta, 0, sizeof t.delta);
    assert_int_equal(cuzk_setup(&key, shape, &params, pool, &err), CUZK_E_ARGUMENT);
    cuzk_shape_destroy(shape);
}

int main(void)
{
    if (cuzk_pool_create(&pool, 2, NULL) != CUZK_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_another_circuit),
        cmocka_unit_test(test_refused_setups),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return rc;
}
