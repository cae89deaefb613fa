/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* prover.h and verifier.h: the size protocol (BC-026), codes, and reuse of an object. */
#include "api_test.h"
#include "prover.h"
#include "verifier.h"

static circuit bn254, bls;
static char error[512];

static int setup(void **state)
{
    (void)state;
    bn254 = circuit_open("circom/bn254/multiplier2");
    bls = circuit_open("circom/bls12381/multiplier2");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    circuit_close(&bn254);
    circuit_close(&bls);
    return 0;
}

static int prove(const circuit *c, char *proof, unsigned long long *n_proof, char *values,
                 unsigned long long *n_values)
{
    error[0] = '\0';
    return groth16_prover(c->zkey.data, c->zkey.size, c->wtns.data, c->wtns.size, proof, n_proof,
                          values, n_values, error, sizeof error);
}

static void assert_valid(const circuit *c, const char *proof, const char *values)
{
    int code = groth16_verify(proof, values, (const char *)c->vkey.data, error, sizeof error);
    if (code != VERIFIER_VALID_PROOF) {
        print_error("groth16_verify: %d %s\n", code, error);
        fail();
    }
}

static void test_large_buffers(void **state)
{
    (void)state;
    const circuit *circuits[] = {&bn254, &bls};
    for (int i = 0; i < 2; i++) {
        char proof[8192], values[8192];
        memset(proof, 'x', sizeof proof);
        memset(values, 'x', sizeof values);
        unsigned long long n_proof = sizeof proof, n_values = sizeof values;
        assert_int_equal(prove(circuits[i], proof, &n_proof, values, &n_values), PROVER_OK);
        /* sizes are those of the texts: no NUL, nothing behind it touched */
        assert_int_equal(n_proof, strlen(proof));
        assert_int_equal(n_values, strlen(values));
        assert_string_equal(values, "[\"33\"]");
        assert_int_equal(proof[n_proof + 1], 'x');
        assert_int_equal(values[n_values + 1], 'x');
        assert_valid(circuits[i], proof, values);
    }
}

static void test_announced_sizes(void **state)
{
    (void)state;
    const circuit *circuits[] = {&bn254, &bls};
    for (int i = 0; i < 2; i++) {
        unsigned long long n_proof = 0, n_values = 0;
        groth16_proof_size(&n_proof);
        assert_int_equal(groth16_public_size_for_zkey_buf(circuits[i]->zkey.data,
                                                          circuits[i]->zkey.size, &n_values, error,
                                                          sizeof error),
                         PROVER_OK);
        char *proof = malloc((size_t)n_proof), *values = malloc((size_t)n_values);
        assert_int_equal(prove(circuits[i], proof, &n_proof, values, &n_values), PROVER_OK);
        assert_valid(circuits[i], proof, values);
        free(proof);
        free(values);
    }
}

static void test_short_buffers(void **state)
{
    (void)state;
    const circuit *circuits[] = {&bn254, &bls};
    for (int i = 0; i < 2; i++) {
        unsigned long long need_proof = 0, need_values = 0;
        assert_int_equal(prove(circuits[i], NULL, &need_proof, NULL, &need_values),
                         PROVER_ERROR_SHORT_BUFFER);
        assert_true(need_proof > 500 && need_values == sizeof "[\"33\"]");
        assert_non_null(strstr(error, "too small"));
        char *proof = malloc((size_t)need_proof), *values = malloc((size_t)need_values);
        /* every combination of enough, one byte less, nothing */
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                unsigned long long n_proof = a == 0 ? need_proof : a == 1 ? need_proof - 1 : 0;
                unsigned long long n_values = b == 0 ? need_values : b == 1 ? need_values - 1 : 0;
                int code = prove(circuits[i], proof, &n_proof, values, &n_values);
                if (a == 0 && b == 0) {
                    assert_int_equal(code, PROVER_OK);
                    assert_int_equal(n_proof, strlen(proof));
                    assert_valid(circuits[i], proof, values);
                } else {
                    assert_int_equal(code, PROVER_ERROR_SHORT_BUFFER);
                    assert_int_equal(n_proof, need_proof);
                    assert_int_equal(n_values, need_values);
                }
            }
        }
        free(proof);
        free(values);
    }
}

/* A second call with the sizes that were asked for never fails, whatever the proof's length. */
static void test_second_call_succeeds(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        unsigned long long n_proof = 0, n_values = 0;
        (void)prove(&bn254, NULL, &n_proof, NULL, &n_values);
        char *proof = malloc((size_t)n_proof), *values = malloc((size_t)n_values);
        assert_int_equal(prove(&bn254, proof, &n_proof, values, &n_values), PROVER_OK);
        free(proof);
        free(values);
    }
}

static void test_wrong_witness_before_short_buffer(void **state)
{
    (void)state;
    unsigned long long n_proof = 0, n_values = 0;
    cuzk_fixture longer = cuzk_test_fixture("circom/bn254/poseidon2/witness.wtns");
    assert_int_equal(groth16_prover(bn254.zkey.data, bn254.zkey.size, longer.data, longer.size,
                                    NULL, &n_proof, NULL, &n_values, error, sizeof error),
                     PROVER_INVALID_WITNESS_LENGTH);
    assert_string_equal(error, "Invalid witness length. Circuit: 4, witness: 520");
    cuzk_test_fixture_free(&longer);
    assert_int_equal(groth16_prover(bn254.zkey.data, bn254.zkey.size, bls.wtns.data, bls.wtns.size,
                                    NULL, &n_proof, NULL, &n_values, error, sizeof error),
                     PROVER_ERROR);
    assert_non_null(strstr(error, "witness is over bls12381, key is over bn128"));
    cuzk_fixture broken = cuzk_test_fixture("circom/bn254/multiplier2/witness.wtns");
    broken.data[broken.size - 32] ^= 1;
    assert_int_equal(groth16_prover(bn254.zkey.data, bn254.zkey.size, broken.data, broken.size,
                                    NULL, &n_proof, NULL, &n_values, error, sizeof error),
                     PROVER_ERROR);
    cuzk_test_fixture_free(&broken);
    assert_int_equal(n_proof, 0);
}

static void test_object_proves_again(void **state)
{
    (void)state;
    char *path = cuzk_test_fixture_path("circom/bn254/multiplier2/circuit.zkey");
    void *object = NULL;
    assert_int_equal(groth16_prover_create_zkey_file(&object, path, error, sizeof error),
                     PROVER_OK);
    for (int i = 0; i < 5; i++) {
        char proof[2048], values[128];
        unsigned long long n_proof = sizeof proof, n_values = sizeof values;
        assert_int_equal(groth16_prover_prove(object, bn254.wtns.data, bn254.wtns.size, proof,
                                              &n_proof, values, &n_values, error, sizeof error),
                         PROVER_OK);
        assert_valid(&bn254, proof, values);
    }
    groth16_prover_destroy(object);
    groth16_prover_destroy(NULL);

    unsigned long long size = 0, same = 0;
    assert_int_equal(groth16_public_size_for_zkey_file(path, &size, error, sizeof error),
                     PROVER_OK);
    (void)groth16_public_size_for_zkey_buf(bn254.zkey.data, bn254.zkey.size, &same, error,
                                           sizeof error);
    assert_int_equal(size, same);
    char proof[2048], values[128];
    unsigned long long n_proof = sizeof proof, n_values = sizeof values;
    assert_int_equal(groth16_prover_zkey_file(path, bn254.wtns.data, bn254.wtns.size, proof,
                                              &n_proof, values, &n_values, error, sizeof error),
                     PROVER_OK);
    free(path);
}

static void test_errors(void **state)
{
    (void)state;
    void *object = NULL;
    unsigned long long n = 100;
    char buffer[100];
    assert_int_equal(groth16_prover_create_zkey_file(&object, "/none", error, sizeof error),
                     PROVER_ERROR);
    assert_non_null(strstr(error, "No such file"));
    assert_int_equal(groth16_prover_create(&object, NULL, 0, error, sizeof error), PROVER_ERROR);
    assert_int_equal(
        groth16_prover_create(&object, bn254.wtns.data, bn254.wtns.size, error, sizeof error),
        PROVER_ERROR);
    assert_null(object);
    assert_int_equal(groth16_prover_prove(NULL, buffer, 1, buffer, &n, buffer, &n, error, 100),
                     PROVER_ERROR);
    assert_int_equal(groth16_public_size_for_zkey_file(NULL, &n, error, 100), PROVER_ERROR);
    assert_int_equal(groth16_public_size_for_zkey_buf(NULL, 0, &n, NULL, 0), PROVER_ERROR);
    /* the text is cut to the buffer, NUL included; nothing behind it is touched */
    memset(buffer, 'x', sizeof buffer);
    (void)groth16_prover_create_zkey_file(&object, "/none", buffer, 10);
    assert_int_equal(strlen(buffer), 9);
    assert_int_equal(buffer[10], 'x');
    (void)groth16_prover_create_zkey_file(&object, "/none", buffer, 0);
    assert_int_equal(buffer[10], 'x');
}

/* A coordinate of the key that is not below p: refused before it is calculated with. */
static void test_unreduced_key(void **state)
{
    (void)state;
    cuzk_fixture bad = cuzk_test_fixture("circom/bn254/multiplier2/circuit.zkey");
    for (size_t at = 12; at + 12 < bad.size;) { /* id, length, content of each section */
        uint32_t id;
        uint64_t length;
        memcpy(&id, bad.data + at, 4);
        memcpy(&length, bad.data + at + 4, 8);
        at += 12;
        if (id == 9) {
            memset(bad.data + at + length - 32, 0xff, 32); /* y of the last point of H */
        }
        at += length;
    }
    void *object = NULL;
    assert_int_equal(groth16_prover_create(&object, bad.data, bad.size, error, sizeof error),
                     PROVER_ERROR);
    assert_null(object);
    assert_non_null(strstr(error, "section 9 (H): point 3: coordinate is not below"));
    char proof[2048], values[128];
    unsigned long long n_proof = sizeof proof, n_values = sizeof values;
    assert_int_equal(groth16_prover(bad.data, bad.size, bn254.wtns.data, bn254.wtns.size, proof,
                                    &n_proof, values, &n_values, error, sizeof error),
                     PROVER_ERROR);
    assert_non_null(strstr(error, "section 9 (H): point 3"));
    cuzk_test_fixture_free(&bad);
}

static void test_verify_codes(void **state)
{
    (void)state;
    const char *proof = (const char *)bn254.proof.data, *vkey = (const char *)bn254.vkey.data;
    assert_int_equal(groth16_verify(proof, "[\"33\"]", vkey, error, sizeof error),
                     VERIFIER_VALID_PROOF);
    assert_int_equal(groth16_verify(proof, "[\"34\"]", vkey, error, sizeof error),
                     VERIFIER_INVALID_PROOF);
    assert_true(strlen(error) > 0);
    assert_int_equal(groth16_verify(proof, "[]", vkey, error, sizeof error), VERIFIER_ERROR);
    assert_int_equal(groth16_verify("{", "[\"33\"]", vkey, error, sizeof error), VERIFIER_ERROR);
    assert_int_equal(groth16_verify(proof, "[\"33\"]", "x", error, sizeof error), VERIFIER_ERROR);
    assert_int_equal(groth16_verify(NULL, "[\"33\"]", vkey, error, sizeof error), VERIFIER_ERROR);
    assert_int_equal(groth16_verify(proof, "[\"34\"]", vkey, NULL, 0), VERIFIER_INVALID_PROOF);
    /* BC-031: 33 and 33 + r are not the same public value */
    const char *aliased = "[\"218882428718392752222464057452572750885483644004160343436982041"
                          "86575808495650\"]";
    assert_int_equal(groth16_verify(proof, aliased, vkey, error, sizeof error),
                     VERIFIER_INVALID_PROOF);
    assert_non_null(strstr(error, "public signal 0 is not below the field order"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_buffers),
        cmocka_unit_test(test_announced_sizes),
        cmocka_unit_test(test_short_buffers),
        cmocka_unit_test(test_second_call_succeeds),
        cmocka_unit_test(test_wrong_witness_before_short_buffer),
        cmocka_unit_test(test_object_proves_again),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_unreduced_key),
        cmocka_unit_test(test_verify_codes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
