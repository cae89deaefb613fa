/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of the driver that a self-test or a proof makes fails once: the error names the call,
 * everything is given back, private memory is wiped, and a device that failed once proves rightly
 * afterwards. */
#include "backend/cuda/device_prover.h"
#include "backend/cuda/fixed_multiplier.h"
#include "backend/cuda/self_test.h"
#include "faulty_driver.h"
#include "groth16/support.h"

#include <limits.h>

enum { FUNCTIONS_MAX = 40 };

/* What a test does with the device. */
typedef cuzk_status (*action)(cuzk_error *error);

/* Calls of an action that succeeds. */
static unsigned count_calls(action act)
{
    cuzk_error error = {0};
    faulty_mend();
    must(act(&error), &error);
    return faulty.n_calls;
}

/* Let call n of the action fail, counted among those of one function or of all, and look at what is
 * said. */
static void fail_call(action act, const char *only, unsigned n, bool for_good)
{
    cuzk_error error = {0};
    faulty_fail(only, n, CUDA_ERROR_ILLEGAL_ADDRESS, for_good);
    cuzk_status status = act(&error);
    const char *failed = faulty.failed;
    faulty_mend();
    assert_non_null(failed);
    if (status != CUZK_E_DEVICE_LOST || strstr(error.text, failed) == NULL) {
        fail_msg("call %u, %s: status %d, \"%s\"", n, failed, (int)status, error.text);
    }
    assert_non_null(strstr(error.text, "(700)"));
}

/* ---- the self-test ---- */

static cuzk_status self_test(cuzk_error *error)
{
    return cuzk_cuda_self_test(&faulty_device, error);
}

static void test_self_test(void **state)
{
    (void)state;
    faulty_begin();
    const char *names[FUNCTIONS_MAX];
    assert_true(count_calls(self_test) > 100); /* modules, kernels, launches, copies */
    faulty_expect_nothing_held();
    unsigned n_names = faulty_names(names, FUNCTIONS_MAX);
    assert_in_range(n_names, 8, FUNCTIONS_MAX - 1);
    for (unsigned i = 0; i < n_names; i++) {
        fail_call(self_test, names[i], 0, i % 2 == 0);
        faulty_expect_nothing_held();
    }
}

/* ---- proofs ---- */

static support_bytes key_bytes;
static cuzk_zkey key;
static cuzk_witness *witness;
static cuzk_prover *prover;
static cuzk_device_prover *kept; /* on the faulty device */
static cuzk_blinding blinding;
static cuzk_proof_points expected;

static int open_prover(void **state)
{
    (void)state;
    static const char name[] = "circom/bn254/multiplier2";
    cuzk_error error = {0};
    faulty_begin();
    key_bytes = support_zkey(name, NULL);
    key = support_open_zkey(&key_bytes);
    witness = support_witness(name, key.n_public + 1);
    support_fixed_rs(name, key.curve, &blinding, &expected);
    must(cuzk_prover_create_zkey(&prover, &key, NULL, NULL, NULL, &error), &error);
    return 0;
}

static int close_prover(void **state)
{
    (void)state;
    cuzk_prover_destroy(prover);
    cuzk_witness_destroy(witness);
    free(key_bytes.data);
    return 0;
}

static unsigned n_of_create; /* calls until it returned */

static cuzk_status create_and_destroy(cuzk_error *error)
{
    cuzk_device_prover *d = NULL;
    cuzk_status status = cuzk_device_prover_create(&d, &faulty_device, prover, NULL, error);
    n_of_create = faulty.n_calls;
    assert_true(status == CUZK_OK || d == NULL);
    cuzk_device_prover_destroy(d);
    return status;
}

static void test_create(void **state)
{
    (void)state;
    (void)count_calls(create_and_destroy);
    unsigned n_calls = n_of_create; /* the destruction has nobody to tell */
    faulty_expect_nothing_held();
    for (unsigned n = 0; n < n_calls; n++) {
        fail_call(create_and_destroy, NULL, n, n % 2 == 0);
        faulty_expect_nothing_held();
    }
}

/* Memory that is not to be had is E_MEMORY with the numbers, not a fault of the device: it may be
 * tried again when there is more. */
static void test_out_of_memory(void **state)
{
    (void)state;
    cuzk_error error = {0};
    faulty_fail("cuMemAlloc", 0, CUDA_ERROR_OUT_OF_MEMORY, true);
    assert_int_equal(create_and_destroy(&error), CUZK_E_MEMORY);
    assert_non_null(strstr(error.text, "MiB of device memory (key "));
    faulty_mend();
    faulty_expect_nothing_held();
    error = (cuzk_error){0};
    must(create_and_destroy(&error), &error);
    faulty_expect_nothing_held();
}

static cuzk_status prove(cuzk_error *error)
{
    cuzk_prove_params params = {.test_blinding = &blinding, .device = cuzk_device_prover_get(kept)};
    cuzk_proof_points found;
    memset(&found, 0xcc, sizeof found);
    cuzk_status status = cuzk_prover_prove(prover, &found, witness, &params, NULL, error);
    if (status == CUZK_OK) {
        assert_true(support_same_proof(&found, &expected));
    } else { /* and no half of a proof */
        for (size_t i = 0; i < sizeof found; i++) {
            assert_int_equal(((const unsigned char *)&found)[i], 0xcc);
        }
    }
    return status;
}

static void expect_times(const float *found, const float *wanted)
{
    for (int i = 0; i < CUZK_TIME_KINDS; i++) {
        bool by_host = i == CUZK_TIME_LANE || i == CUZK_TIME_FINISH;
        if (by_host ? (found[i] > 0) != (wanted[i] > 0) : found[i] != wanted[i]) {
            fail_msg("%s: %g ms, expected %g", cuzk_time_kind_name((cuzk_time_kind)i),
                     (double)found[i], (double)wanted[i]);
        }
    }
}

static void test_prove(void **state)
{
    (void)state;
    static const float none[CUZK_TIME_KINDS];
    cuzk_error error = {0};
    float of_one[CUZK_TIME_KINDS], ms[CUZK_TIME_KINDS];
    faulty_mend();
    must(cuzk_device_prover_create(&kept, &faulty_device, prover, NULL, &error), &error);
    int n_modules = faulty.n_modules, n_memory = faulty.n_memory;
    assert_true(count_calls(prove) > 100);
    const char *names[FUNCTIONS_MAX];
    unsigned n_names = faulty_names(names, FUNCTIONS_MAX);
    assert_in_range(n_names, 5, FUNCTIONS_MAX - 1);
    cuzk_device_prover_times(kept, of_one);
    assert_true(of_one[CUZK_TIME_UPLOAD] > 0 && of_one[CUZK_TIME_ROWS] > 0);
    for (unsigned i = 0; i < n_names; i++) {
        if (strcmp(names[i], "cuEventCreate") != 0) { /* the first proof's are used again */
            fail_call(prove, names[i], 0, false);
            assert_int_equal(faulty.n_modules, n_modules);
            assert_int_equal(faulty.n_memory, n_memory);
        }
    }
    /* what the failed ones have left behind does not matter, and their times do not count */
    must(prove(&error), &error);
    cuzk_device_prover_times(kept, ms);
    expect_times(ms, of_one);
    cuzk_device_prover_times(kept, ms);
    expect_times(ms, none);
    faulty.n_not_wiped = 0;
    cuzk_device_prover_destroy(kept);
    assert_int_equal(faulty.n_not_wiped, 0);
    faulty_expect_nothing_held();
}

/* ---- key set-up ---- */

static unsigned n_of_multiply; /* calls until it returned */

static cuzk_status multiply(cuzk_error *error)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    const cuzk_fixed_multiplier_params params = {.n = {1, 1}};
    cuzk_fixed_multiplier *m = NULL;
    uint8_t point[64];
    cuzk_affine generator;
    CUZK_TRY(cuzk_fixed_multiplier_create(&m, faulty_device.api, curve, &params, NULL, error));
    const cuzk_multiplier *to_host = cuzk_fixed_multiplier_get(m);
    cuzk_status status =
        to_host->multiply(to_host->context, point, CUZK_G1, &curve->fr_one, 1, error);
    n_of_multiply = faulty.n_calls;
    if (status == CUZK_OK) {
        curve->g[CUZK_G1].generator(&generator);
        assert_memory_equal(point, &generator, sizeof point);
    }
    cuzk_fixed_multiplier_destroy(m);
    return status;
}

static void test_multiplier(void **state)
{
    (void)state;
    faulty_begin();
    (void)count_calls(multiply);
    unsigned n_calls = n_of_multiply;
    assert_true(n_calls > 40);
    for (unsigned n = 0; n < n_calls; n += n < 30 ? 1 : 3) { /* launches are alike */
        bool for_good = n % 2 == 0;
        faulty.n_not_wiped = 0;
        fail_call(multiply, NULL, n, for_good);
        assert_true(for_good || faulty.n_not_wiped == 0); /* what wipes may be what fails */
        faulty_expect_nothing_held();
    }
}

int main(void)
{
    device_test_open();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_test),
        cmocka_unit_test(test_multiplier),
        cmocka_unit_test_setup_teardown(test_create, open_prover, close_prover),
        cmocka_unit_test_setup_teardown(test_out_of_memory, open_prover, close_prover),
        cmocka_unit_test_setup_teardown(test_prove, open_prover, close_prover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
