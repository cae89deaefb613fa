/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every allocation of every step from files to a proof fails once: the step says that memory ran
 * out, leaves nothing behind (the sanitizer build tells) and works the next time. */
#include "alloc_fail.h"
#include "support.h"

#include "formats/params.h"
#include "formats/snarkjs_json.h"
#include "groth16/key_check.h"
#include "groth16/setup_write.h"
#include "groth16/verify.h"
#include "msm/msm.h"
#include "r1cs/satisfy.h"
#include "r1cs/shape_r1cs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* All that the steps need, made before memory runs out. */
static struct {
    cuzk_fixture r1cs_file, wtns_file, params_file, vk_file;
    cuzk_r1cs r1cs;
    cuzk_wtns wtns;
    cuzk_shape *shape;
    cuzk_witness *witness;
    support_bytes key_bytes;
    cuzk_zkey key;
    cuzk_params params;
    cuzk_shape *params_shape;
    cuzk_prover *prover;
    cuzk_proof_points proof;
    uint8_t values[32];
    cuzk_verifier verifier;
    cuzk_pool *pool;
} g;

static const char name[] = "circom/bn254/poseidon2", params_name[] = "groth/dense";

static cuzk_fixture load(const char *folder, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return cuzk_test_fixture(path);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(cuzk_pool_create(&g.pool, 2, NULL), CUZK_OK);
    g.r1cs_file = load(name, "circuit.r1cs");
    g.wtns_file = load(name, "witness.wtns");
    g.params_file = load(params_name, "circuit.params");
    g.vk_file = load(params_name, "circuit.vk");
    assert_int_equal(cuzk_r1cs_open(&g.r1cs, g.r1cs_file.data, g.r1cs_file.size, NULL), CUZK_OK);
    assert_int_equal(cuzk_wtns_open(&g.wtns, g.wtns_file.data, g.wtns_file.size, NULL), CUZK_OK);
    assert_int_equal(cuzk_params_open(&g.params, g.params_file.data, g.params_file.size, NULL),
                     CUZK_OK);
    g.shape = support_shape(name);
    g.params_shape = support_shape(params_name);
    g.witness = support_witness(name, g.shape->n_inputs);
    g.key_bytes = support_zkey(name, g.pool);
    g.key = support_open_zkey(&g.key_bytes);
    assert_int_equal(cuzk_prover_create_zkey(&g.prover, &g.key, g.shape, NULL, g.pool, NULL),
                     CUZK_OK);
    assert_int_equal(cuzk_prover_prove(g.prover, &g.proof, g.witness, NULL, g.pool, NULL), CUZK_OK);
    cuzk_witness_get_range(g.witness, 1, 1, g.values);
    return cuzk_verifier_init(&g.verifier, cuzk_prover_vk(g.prover), true, NULL) == CUZK_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    cuzk_prover_destroy(g.prover);
    cuzk_witness_destroy(g.witness);
    cuzk_shape_destroy(g.shape);
    cuzk_shape_destroy(g.params_shape);
    cuzk_test_fixture_free(&g.r1cs_file);
    cuzk_test_fixture_free(&g.wtns_file);
    cuzk_test_fixture_free(&g.params_file);
    cuzk_test_fixture_free(&g.vk_file);
    free(g.key_bytes.data);
    cuzk_pool_destroy(g.pool);
    return 0;
}

/* ---- the steps: each frees what it made ---- */

static cuzk_status step_shape(cuzk_error *err)
{
    cuzk_shape *shape = NULL;
    cuzk_status status = cuzk_shape_from_r1cs(&shape, &g.r1cs, err);
    cuzk_shape_destroy(shape);
    return status;
}

static cuzk_status step_fingerprint(cuzk_error *err)
{
    uint8_t hash[32];
    return cuzk_shape_fingerprint(g.shape, true, hash, err);
}

static cuzk_status step_witness(cuzk_error *err)
{
    cuzk_witness *w = NULL;
    cuzk_status status =
        cuzk_witness_from_values(&w, g.shape->curve, g.wtns.values, g.shape->n_vars,
                                 g.shape->n_inputs, "witness", g.pool, err);
    cuzk_witness_destroy(w);
    return status;
}

static cuzk_status step_satisfied(cuzk_error *err)
{
    return cuzk_shape_check_witness(g.shape, g.witness, NULL, g.pool, err);
}

static cuzk_status set_up_key(const cuzk_shape *shape, cuzk_key_style style, cuzk_error *err)
{
    cuzk_setup_params params = {.style = style};
    cuzk_generated_key key = {0};
    cuzk_status status = cuzk_setup(&key, shape, &params, g.pool, err);
    cuzk_generated_key_clear(&key);
    return status;
}

static cuzk_status step_setup_circom(cuzk_error *err)
{
    return set_up_key(g.shape, CUZK_KEY_CIRCOM, err);
}

static cuzk_status step_setup_bellperson(cuzk_error *err)
{
    return set_up_key(g.params_shape, CUZK_KEY_BELLPERSON, err);
}

static cuzk_status step_prover(cuzk_error *err)
{
    cuzk_prover *p = NULL;
    cuzk_status status = cuzk_prover_create_zkey(&p, &g.key, g.shape, NULL, g.pool, err);
    cuzk_prover_destroy(p);
    return status;
}

static cuzk_status step_params_prover(cuzk_error *err)
{
    cuzk_prover *p = NULL;
    cuzk_status status =
        cuzk_prover_create_params(&p, &g.params, g.params_shape, NULL, g.pool, err);
    cuzk_prover_destroy(p);
    return status;
}

static cuzk_status step_prove(cuzk_error *err)
{
    cuzk_proof_points proof;
    return cuzk_prover_prove(g.prover, &proof, g.witness, NULL, g.pool, err);
}

static cuzk_status step_check_key(cuzk_error *err)
{
    return cuzk_prover_check_key(g.prover, NULL, g.pool, err);
}

static cuzk_status step_verify(cuzk_error *err)
{
    return cuzk_verifier_check(&g.verifier, &g.proof, g.values, 1, g.pool, err);
}

static cuzk_status step_verify_batch(cuzk_error *err)
{
    cuzk_batch_item items[20];
    for (int i = 0; i < 20; i++) {
        items[i] = (cuzk_batch_item){&g.proof, g.values, 1};
    }
    return cuzk_verifier_check_batch(&g.verifier, items, 20, NULL, g.pool, err);
}

static cuzk_status step_vk(cuzk_error *err)
{
    cuzk_vk vk = {0};
    cuzk_status status = cuzk_vk_read(&vk, g.vk_file.data, g.vk_file.size, g.pool, err);
    cuzk_vk_clear(&vk);
    return status;
}

static cuzk_status step_params_check(cuzk_error *err)
{
    return cuzk_params_check(&g.params, g.pool, NULL, err);
}

static cuzk_status step_proof_text(cuzk_error *err)
{
    cuzk_text text = {0};
    cuzk_proof_to_json(&text, &g.proof, CUZK_JSON_INDENTED);
    cuzk_status status = cuzk_text_check(&text, err);
    cuzk_text_clear(&text);
    return status;
}

static cuzk_status step_fixed_base(cuzk_error *err)
{
    cuzk_fixed_base *table = NULL;
    uint8_t out[4 * 64];
    cuzk_fr scalars[4];
    for (int i = 0; i < 4; i++) {
        g.key.curve->fr_from_u64(&scalars[i], (uint64_t)i);
    }
    cuzk_status status =
        cuzk_fixed_base_create(&table, g.key.curve, CUZK_G1, &g.key.vk.alpha1, 4, g.pool, err);
    if (status == CUZK_OK) {
        status = cuzk_fixed_base_mul(table, out, scalars, 4, g.pool, err);
    }
    cuzk_fixed_base_destroy(table);
    return status;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    cuzk_status (*run)(cuzk_error *err);
} steps[] = {
    {"shape", step_shape},
    {"fingerprint", step_fingerprint},
    {"witness", step_witness},
    {"satisfied", step_satisfied},
    {"setup, circom", step_setup_circom},
    {"setup, bellperson", step_setup_bellperson},
    {"prover", step_prover},
    {"prover of params", step_params_prover},
    {"prove", step_prove},
    {"check key", step_check_key},
    {"verify", step_verify},
    {"verify batch", step_verify_batch},
    {"vk", step_vk},
    {"params check", step_params_check},
    {"proof text", step_proof_text},
    {"fixed base", step_fixed_base},
};

static void test_each_allocation_fails(void **state)
{
    (void)state;
    unsigned total = 0, n_tolerated = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        for (unsigned n = 0;; n++) {
            assert_true(n < 1000);
            cuzk_error err = {0};
            alloc_fail_at(n);
            cuzk_status status = steps[i].run(&err);
            bool failed = alloc_fail_stop();
            if (!failed) {
                if (status != CUZK_OK) {
                    fail_msg("%s: without a failure: %s", steps[i].name, err.text);
                }
                total += n;
                break;
            }
            if (status == CUZK_OK) {
                n_tolerated++; /* memory that is only handed back, by a realloc */
                continue;
            }
            if (status != CUZK_E_MEMORY || strstr(err.text, "memory") == NULL) {
                fail_msg("%s, allocation %u: %s, \"%s\"", steps[i].name, n,
                         cuzk_status_name(status), err.text);
            }
        }
    }
    assert_true(total > 40); /* or the wrappers are not linked */
    assert_true(n_tolerated < total / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
