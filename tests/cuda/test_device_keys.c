/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Key set-up on a device: multiples of the generators bit for bit the CPU's, keys byte for byte; a
 * key that is made in the device's memory gives the one right proof. */
#include "backend/cuda/device_key.h"
#include "backend/cuda/device_prover.h"
#include "backend/cuda/fixed_multiplier.h"
#include "device_test.h"
#include "groth16/key_check.h"
#include "groth16/support.h"
#include "msm/msm.h"

static cuzk_pool *pool;

static cuzk_fixed_multiplier *multiplier_of(const cuzk_curve *curve, uint64_t n_g1, uint64_t n_g2,
                                            size_t limit)
{
    cuzk_error error = {0};
    cuzk_fixed_multiplier *m = NULL;
    const cuzk_fixed_multiplier_params params = {.n = {[CUZK_G1] = n_g1, [CUZK_G2] = n_g2},
                                                 .memory_limit = limit};
    must(cuzk_fixed_multiplier_create(&m, device.api, curve, &params, pool, &error), &error);
    return m;
}

/* ---- multiples ---- */

/* Montgomery form: 0, 1, r - 1, single digits at both ends of their range, random ones. */
static cuzk_fr *draw_scalars(const cuzk_curve *curve, size_t n)
{
    cuzk_fr *scalars = malloc((n + 1) * sizeof *scalars);
    for (size_t i = 0; i < n; i++) {
        cuzk_fr *k = &scalars[i];
        uint64_t what = i < 4 ? i : cuda_test_random() % 8, digit = cuda_test_random() % 3;
        if (what <= 1) {
            curve->fr_from_u64(k, what);
        } else if (what == 2) {
            curve->fr_neg(k, &curve->fr_one);
        } else if (what == 3) { /* 2^15 - 1 … 2^15 + 1, times a power of 2^16 */
            cuzk_fr power;
            curve->fr_from_u64(k, 0x7fff + digit);
            curve->fr_from_u64(&power, 1 << 16);
            curve->fr_pow_u64(&power, &power, cuda_test_random() % 16);
            curve->fr_mul(k, k, &power);
        } else {
            uint64_t words[4];
            for (int j = 0; j < 4; j++) {
                words[j] = cuda_test_random();
            }
            curve->fr_batch_from_canonical(k, words, 1);
        }
    }
    return scalars;
}

static void check_multiples(cuzk_fixed_multiplier *m, const cuzk_curve *curve,
                            cuzk_group_id group_id, size_t n)
{
    cuzk_error error = {0};
    const cuzk_group *g = &curve->g[group_id];
    size_t n_bytes = n * g->affine_bytes;
    cuzk_fr *scalars = draw_scalars(curve, n);
    uint8_t *expected = malloc(n_bytes + 1), *found = malloc(n_bytes + 1);
    cuzk_fixed_base *base = NULL;
    cuzk_affine generator;
    g->generator(&generator);
    must(cuzk_fixed_base_create(&base, curve, group_id, &generator, n, pool, &error), &error);
    must(cuzk_fixed_base_mul(base, expected, scalars, n, pool, &error), &error);
    cuzk_fixed_base_destroy(base);

    const cuzk_multiplier *to_host = cuzk_fixed_multiplier_get(m);
    memset(found, 0xcc, n_bytes + 1);
    must(to_host->multiply(to_host->context, found, group_id, scalars, n, &error), &error);
    assert_memory_equal(found, expected, n_bytes);
    assert_int_equal(found[n_bytes], 0xcc);

    CUdeviceptr there = device_bytes(NULL, n_bytes + 16);
    must(cuzk_fixed_multiplier_run(m, there, group_id, scalars, n, &error), &error);
    uint8_t *back = host_bytes(there, n_bytes + 16);
    assert_memory_equal(back, expected, n_bytes);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(back[n_bytes + i], 0xcc);
    }
    free(back);
    free_all(&there, 1);
    free(found);
    free(expected);
    free(scalars);
}

static void test_multiples(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 17, 1000};
    for (int id = 0; id < 2; id++) {
        const cuzk_curve *curve = cuzk_curve_get(id == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        cuzk_fixed_multiplier *m = multiplier_of(curve, 1, 1, 0);
        assert_int_equal(cuzk_fixed_multiplier_bits(m, CUZK_G1), 4);
        assert_int_equal(cuzk_fixed_multiplier_bits(m, CUZK_G2), 4);
        for (size_t i = 0; i < (device_test_is_small() ? 4 : 5); i++) {
            check_multiples(m, curve, CUZK_G1, sizes[i]);
            check_multiples(m, curve, CUZK_G2, sizes[i]);
        }
        cuzk_fixed_multiplier_destroy(m);
    }
}

/* Tables that the device makes: of 8 bits; of 16 where it is one, since that takes 16 million
 * additions. Nearly all of the first round's operands of a table are infinite. */
static void check_tables(cuzk_curve_id id, uint64_t n, unsigned bits, bool both)
{
    const cuzk_curve *curve = cuzk_curve_get(id);
    cuzk_fixed_multiplier *m = multiplier_of(curve, n, both ? n : 0, 0);
    assert_int_equal(cuzk_fixed_multiplier_bits(m, CUZK_G1), bits);
    check_multiples(m, curve, CUZK_G1, 5);
    if (both) {
        assert_int_equal(cuzk_fixed_multiplier_bits(m, CUZK_G2), bits);
        check_multiples(m, curve, CUZK_G2, 5);
    }
    if (!device_test_is_small()) {
        check_multiples(m, curve, CUZK_G1, 300001);
        check_multiples(m, curve, CUZK_G2, 100003);
    }
    cuzk_fixed_multiplier_destroy(m);
}

static void test_tables(void **state)
{
    (void)state;
    bool all = !device_test_is_small() || getenv("CUZK_NIGHTLY") != NULL;
    check_tables(CUZK_CURVE_BN254, 512, 8, all);
    if (all) {
        check_tables(CUZK_CURVE_BLS12_381, 512, 8, true);
    }
    if (!device_test_is_small()) {
        check_tables(CUZK_CURVE_BN254, 1 << 17, 16, true);
        check_tables(CUZK_CURVE_BLS12_381, 1 << 17, 16, true);
    }
}

/* Many batches under a limit, and a limit that is below the smallest way. */
static void test_memory(void **state)
{
    (void)state;
    cuzk_error error = {0};
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_fixed_multiplier *m = multiplier_of(curve, 300, 300, 0);
    size_t enough = cuzk_fixed_multiplier_memory(m)->total;
    cuzk_fixed_multiplier_destroy(m);
    m = multiplier_of(curve, 300, 300, enough / 4); /* 40 points, or 20, at a time */
    assert_true(cuzk_fixed_multiplier_memory(m)->total <= enough / 4);
    check_multiples(m, curve, CUZK_G1, 81);
    check_multiples(m, curve, CUZK_G2, 21);
    cuzk_fixed_multiplier_destroy(m);
    m = multiplier_of(curve, 1, 1, 0);
    size_t least = cuzk_fixed_multiplier_memory(m)->total;
    cuzk_fixed_multiplier_destroy(m);
    m = multiplier_of(curve, 1, 1, least);
    cuzk_fixed_multiplier_destroy(m);
    const cuzk_fixed_multiplier_params params = {.n = {300, 300}, .memory_limit = least - 1};
    m = NULL;
    assert_int_equal(cuzk_fixed_multiplier_create(&m, device.api, curve, &params, pool, &error),
                     CUZK_E_MEMORY);
    assert_null(m);
    assert_non_null(
        strstr(error.text, "making a key on the device needs ")); /* and what there is */
    assert_non_null(strstr(error.text, " MiB of device memory (key 0.0, "));
}

/* ---- keys ---- */

static bool has_circuit(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/circuit.r1cs", name);
    bool there = cuzk_test_fixture_exists(path);
    if (!there) {
        print_message("left out: no fixture %s\n", path);
    }
    return there;
}

static void check_key(const char *name, cuzk_key_style style)
{
    if (!has_circuit(name)) {
        return;
    }
    cuzk_shape *shape = support_shape(name);
    cuzk_trapdoor t = support_trapdoor(name, shape->curve);
    cuzk_fixed_multiplier *m = multiplier_of(shape->curve, 1, 1, 0);
    cuzk_setup_params params = {
        .style = style, .test_trapdoor = &t, .multiplier = cuzk_fixed_multiplier_get(m)};
    support_bytes expected = support_generate(shape, style, &t, pool);
    support_bytes found = support_generate_as(shape, &params, pool);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.data, expected.data, expected.size);
    free(found.data);
    free(expected.data);
    cuzk_fixed_multiplier_destroy(m);
    cuzk_shape_destroy(shape);
}

static void test_keys(void **state)
{
    (void)state;
    check_key("circom/bn254/multiplier2", CUZK_KEY_CIRCOM);
    check_key("circom/bls12381/multiplier2", CUZK_KEY_CIRCOM);
    check_key("circom/bls12381/multiplier2", CUZK_KEY_BELLPERSON);
    if (!device_test_is_small() || getenv("CUZK_NIGHTLY") != NULL) {
        check_key("circom/bn254/poseidon2", CUZK_KEY_CIRCOM);
        check_key("circom/bls12381/range64", CUZK_KEY_BELLPERSON);
        check_key("circom/bls12381/multiplier1000", CUZK_KEY_CIRCOM);
    }
}

/* ---- a key in the device's memory ---- */

static bool count_reports(void *ctx, const char *stage, double done)
{
    int *left = ctx;
    assert_non_null(stage);
    assert_in_range((uint64_t)(done * 1000), 0, 1000);
    return --*left != 0;
}

/* Reports are given up at `stop` of them; returns how many there were. */
static int take_key(const cuzk_shape *shape, const cuzk_trapdoor *t, int stop)
{
    cuzk_error error = {0};
    int left = stop;
    cuzk_reporter reporter = {count_reports, &left};
    cuzk_device_key_params params = {.trapdoor = t, .reporter = &reporter, .api = device.api};
    cuzk_device_key *key = NULL;
    cuzk_device_prover *d = NULL;
    cuzk_status status = cuzk_device_key_create(&key, shape, &params, pool, &error);
    if (status == CUZK_OK) {
        status = cuzk_device_prover_create(&d, &device, cuzk_device_key_prover(key), NULL, &error);
    }
    assert_int_equal(status, left > 0 ? CUZK_OK : CUZK_E_CANCELLED);
    cuzk_device_prover_destroy(d);
    cuzk_device_key_destroy(key);
    return stop - left;
}

static void check_times(const cuzk_device_key *key, const cuzk_params *of_cpu)
{
    const cuzk_device_key_times *times = cuzk_device_key_get_times(key);
    uint64_t n = 0;
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        n += of_cpu->arrays[k].n;
    }
    assert_int_equal(times->n_g2, of_cpu->arrays[CUZK_PARAMS_B_G2].n);
    assert_int_equal(times->n_g1, n - times->n_g2);
    assert_true(times->logarithms_ns > 0 && times->tables_ns > 0 && times->points_ns > 0);
}

static void check_device_key(const char *name)
{
    if (!has_circuit(name)) {
        return;
    }
    cuzk_error error = {0};
    cuzk_shape *shape = support_shape(name);
    cuzk_witness *w = support_witness(name, shape->n_inputs);
    cuzk_trapdoor t = support_trapdoor(name, shape->curve);
    cuzk_device_key_params params = {.trapdoor = &t, .api = device.api};
    cuzk_device_key *key = NULL;
    must(cuzk_device_key_create(&key, shape, &params, pool, &error), &error);
    const cuzk_prover *prover = cuzk_device_key_prover(key);

    /* the verifying key is the CPU's */
    support_bytes file = support_generate(shape, CUZK_KEY_BELLPERSON, &t, pool);
    cuzk_params of_cpu;
    cuzk_vk vk;
    must(cuzk_params_open(&of_cpu, file.data, file.size, &error), &error);
    must(cuzk_params_vk(&vk, &of_cpu, pool, &error), &error);
    const cuzk_vk *found = cuzk_prover_vk(prover);
    size_t affine = shape->curve->g[CUZK_G1].affine_bytes;
    assert_int_equal(found->n_ic, vk.n_ic);
    assert_memory_equal(found->ic, vk.ic, vk.n_ic * affine);
    assert_memory_equal(&found->alpha1, &vk.alpha1, affine);
    assert_memory_equal(&found->gamma2, &vk.gamma2, 2 * affine);
    assert_true(found->is_test_key);
    cuzk_vk_clear(&vk);

    cuzk_proof_points expected, proof;
    cuzk_blinding blinding = {.r = {3}, .s = {5}};
    cuzk_prove_params prove = {.test_blinding = &blinding};
    support_proof_by_trapdoor(shape, w, CUZK_KEY_BELLPERSON, &t, &blinding, &expected);
    assert_int_equal(cuzk_prover_prove(prover, &proof, w, &prove, pool, NULL), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_prover_check_key(prover, NULL, pool, NULL), CUZK_E_ARGUMENT);
    for (int i = 0; i < 2; i++) { /* the second device has the logarithms made anew */
        cuzk_device_prover *d = NULL;
        must(cuzk_device_prover_create(&d, &device, prover, NULL, &error), &error);
        prove.device = cuzk_device_prover_get(d);
        must(cuzk_prover_prove(prover, &proof, w, &prove, pool, &error), &error);
        assert_true(support_same_proof(&proof, &expected));
        cuzk_device_prover_destroy(d);
        check_times(key, &of_cpu);
    }
    cuzk_device_key_destroy(key);
    free(file.data);
    cuzk_witness_destroy(w);
    cuzk_shape_destroy(shape);
}

static void test_device_key(void **state)
{
    (void)state;
    check_device_key("circom/bls12381/multiplier2");
    if (!device_test_is_small() || getenv("CUZK_NIGHTLY") != NULL) {
        check_device_key("circom/bls12381/range64");
    }
}

/* Given up while the circuit is evaluated, or a query made. */
static void test_cancel(void **state)
{
    (void)state;
    cuzk_shape *shape = support_shape("circom/bls12381/multiplier2");
    cuzk_trapdoor t = support_trapdoor("circom/bls12381/multiplier2", shape->curve);
    assert_int_equal(take_key(shape, &t, 1000), 7);
    for (int stop = 1; stop <= 7; stop += 3) {
        assert_int_equal(take_key(shape, &t, stop), stop);
    }
    cuzk_shape_destroy(shape);
}

static void expect_refused(const cuzk_shape *shape, const cuzk_device_key_params *params,
                           cuzk_status status, const char *text)
{
    cuzk_error error = {0};
    cuzk_device_key *key = NULL;
    assert_int_equal(cuzk_device_key_create(&key, shape, params, pool, &error), status);
    assert_null(key);
    if (strstr(error.text, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    cuzk_trapdoor t = support_reference_trapdoor();
    cuzk_device_key_params params = {.trapdoor = &t, .api = device.api};
    cuzk_shape *shape = support_shape("circom/bn254/multiplier2");
    expect_refused(shape, &params, CUZK_E_UNSUPPORTED, "the circuit is over bn128");
    cuzk_shape_destroy(shape);
    shape = support_shape("circom/bls12381/multiplier2");
    params.trapdoor = NULL;
    expect_refused(shape, &params, CUZK_E_ARGUMENT, "only test keys");
    params.trapdoor = &t;
    memset(&t.tau, 0, sizeof t.tau);
    expect_refused(shape, &params, CUZK_E_ARGUMENT, "a given trapdoor value is zero");
    cuzk_shape_destroy(shape);
}

/* ---- a device that is no larger than it must be ---- */

static cuzk_cuda_api small_table;
static size_t small_bytes, small_used; /* of the device; of that, taken */
static struct {
    CUdeviceptr at;
    size_t n_bytes;
} small_pieces[64];

static CUresult small_info(size_t *out_free, size_t *out_all)
{
    *out_free = small_bytes - small_used;
    *out_all = small_bytes;
    return CUDA_SUCCESS;
}

static CUresult small_alloc(CUdeviceptr *out, size_t n_bytes)
{
    unsigned i = 0;
    while (i < 64 && small_pieces[i].n_bytes != 0) {
        i++;
    }
    *out = 0;
    if (i == 64 || n_bytes > small_bytes - small_used) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = CUZK_CU(device.api, cuMemAlloc)(out, n_bytes);
    if (result == CUDA_SUCCESS) {
        small_pieces[i].at = *out;
        small_pieces[i].n_bytes = n_bytes;
        small_used += n_bytes;
    }
    return result;
}

static CUresult small_free(CUdeviceptr at)
{
    for (unsigned i = 0; i < 64; i++) {
        if (small_pieces[i].n_bytes != 0 && small_pieces[i].at == at) {
            small_used -= small_pieces[i].n_bytes;
            small_pieces[i].n_bytes = 0;
        }
    }
    return CUZK_CU(device.api, cuMemFree)(at);
}

/* A device that the key with all that proofs want would fill: proofs want less, so that there is
 * room to make the points in. */
static void test_small_device(void **state)
{
    (void)state;
    const char *name = "circom/bls12381/multiplier2";
    cuzk_error error = {0};
    cuzk_shape *shape = support_shape(name);
    cuzk_trapdoor t = support_trapdoor(name, shape->curve);
    small_table = *device.api;
    CUZK_CU(&small_table, cuMemGetInfo) = small_info;
    CUZK_CU(&small_table, cuMemAlloc) = small_alloc;
    CUZK_CU(&small_table, cuMemFree) = small_free;
    cuzk_cuda_device small = device;
    small.api = &small_table;
    cuzk_device_key_params params = {.trapdoor = &t, .api = &small_table};
    cuzk_device_key *key = NULL;
    must(cuzk_device_key_create(&key, shape, &params, pool, &error), &error);
    cuzk_device_prover *d = NULL;
    small_bytes = (size_t)1 << 40;
    must(cuzk_device_prover_create(&d, &small, cuzk_device_key_prover(key), NULL, &error), &error);
    size_t wanted = cuzk_device_prover_memory(d)->total;
    cuzk_device_prover_destroy(d);
    assert_int_equal(small_used, 0);
    unsigned n_made = 0;
    cuzk_status status = CUZK_OK;
    for (small_bytes = 4 * wanted; status == CUZK_OK; small_bytes -= wanted / 8) {
        d = NULL;
        status = cuzk_device_prover_create(&d, &small, cuzk_device_key_prover(key), NULL, &error);
        n_made += status == CUZK_OK;
        cuzk_device_prover_destroy(d);
        assert_int_equal(small_used, 0);
    }
    /* the first one that is too small is refused with what it takes, before anything is made */
    assert_true(n_made > 0);
    assert_int_equal(status, CUZK_E_MEMORY);
    if (strstr(error.text, "making a key on the device") != NULL) {
        fail_msg("%s", error.text);
    }
    cuzk_device_key_destroy(key);
    cuzk_shape_destroy(shape);
}

int main(void)
{
    cuda_test_begin();
    device_test_open();
    pool = device_test_pool();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiples),    cmocka_unit_test(test_tables),
        cmocka_unit_test(test_small_device), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_device_key),
        cmocka_unit_test(test_cancel),       cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
