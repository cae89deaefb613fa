/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One proof on two devices: whatever sums are left to the second one, and wherever that fails, it
 * is the proof that one device makes with the same r and s. */
#include "backend/cuda/device_prover_impl.h"
#include "faulty_driver.h"
#include "groth16/prove_share.h"
#include "groth16/support.h"
#include "whole_key.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

enum { C = 1, A = 2, B1 = 3, B2 = 4 }; /* bits of sums */

static cuzk_cuda_device devices[2];

/* ---- what is worth it ---- */

static uint64_t cost_of(const cuzk_sum_costs *costs, cuzk_sums sums)
{
    uint64_t cost = (sums & CUZK_SUM_H) != 0 ? costs->h : 0;
    for (unsigned k = 0; k < costs->n_queries; k++) {
        cost += (sums & CUZK_SUM_OF(k)) != 0 ? costs->queries[k] : 0;
    }
    return cost;
}

/* No other choice is better, and what is saved is what the longer part saves. */
static cuzk_sums expect_best(const cuzk_sum_costs *costs, uint64_t *saved_ns)
{
    cuzk_sums sums = cuzk_sums_share(costs, saved_ns), all = (CUZK_SUM_OF(costs->n_queries) - 1);
    assert_int_equal(sums & ~(all & ~CUZK_SUM_H), 0);
    uint64_t other = cost_of(costs, sums), own = cost_of(costs, all & ~sums);
    uint64_t longer = other > own ? other : own;
    for (cuzk_sums some = 0; some <= all; some += CUZK_SUM_OF(0)) {
        uint64_t b = cost_of(costs, some & ~CUZK_SUM_H);
        uint64_t a = cost_of(costs, all) - b;
        assert_true(longer <= (a > b ? a : b));
    }
    assert_true(*saved_ns == (cost_of(costs, all) - longer) * 1000 / 3400);
    return sums;
}

static void test_share(void **state)
{
    (void)state;
    uint64_t saved_ns;
    /* a Window PoSt of 32GiB: 125.8 M field values, of which 81 M are in B */
    const uint64_t n = UINT64_C(13) * 125800000, n_b = UINT64_C(13) * 81000000;
    const cuzk_sum_costs window = {
        .h = (UINT64_C(19) << 27), .queries = {n, n, n_b, 3 * n_b}, .n_queries = 4};
    cuzk_sums sums = expect_best(&window, &saved_ns);
    assert_true((sums & UINT32_C(1) << B2) != 0); /* the longest one by far */
    assert_in_range(saved_ns, 1200000000, 1600000000);
    /* where nearly all are bits H takes nearly all */
    const cuzk_sum_costs bits = {.h = (UINT64_C(19) << 27),
                                 .queries = {90 << 20, 90 << 20, 30 << 20, 90 << 20},
                                 .n_queries = 4};
    sums = expect_best(&bits, &saved_ns);
    assert_int_equal(sums, 0x1e); /* all of them */
    assert_true(saved_ns < 150000000);
    const cuzk_sum_costs none = {.h = 1000, .n_queries = 4};
    assert_int_equal(expect_best(&none, &saved_ns), 0);
    assert_int_equal(saved_ns, 0);
}

/* ---- keys ---- */

/* A set of queries for each support, as Filecoin's keys have them. */
static whole_key bellperson_key(const char *name)
{
    cuzk_error error = {0};
    whole_key k = {.shape = support_shape(name), .blinding = {.r = {3}, .s = {5}}};
    k.witness = support_witness(name, k.shape->n_inputs);
    cuzk_trapdoor t = support_trapdoor(name, k.shape->curve);
    k.bytes = support_generate(k.shape, CUZK_KEY_BELLPERSON, &t, NULL);
    must(cuzk_params_open(&k.params, k.bytes.data, k.bytes.size, &error), &error);
    support_proof_by_trapdoor(k.shape, k.witness, CUZK_KEY_BELLPERSON, &t, &k.blinding,
                              &k.expected);
    must(cuzk_prover_create_params(&k.prover, &k.params, k.shape, NULL, NULL, &error), &error);
    return k;
}

/* limit: of device memory; 0: none. */
static cuzk_device_prover *put(const whole_key *k, const cuzk_cuda_device *on, size_t limit)
{
    cuzk_error error = {0};
    cuzk_device_prover *d = NULL;
    const cuzk_device_prover_params params = {.memory_limit = limit};
    must(cuzk_device_prover_create(&d, on, k->prover, &params, &error), &error);
    assert_true(cuzk_device_prover_get(d)->makes_some);
    return d;
}

/* ---- a proof ---- */

typedef struct {
    const whole_key *key;
    const cuzk_prove_device *device;
    cuzk_sums sums;
    cuzk_query_set sets[3];
    cuzk_status status;
    pthread_t thread;
} part;

static cuzk_status make(part *p, cuzk_error *err)
{
    cuzk_device_proof *proof = NULL;
    cuzk_jac unused;
    CUZK_TRY(p->device->begin(p->device->context, &proof, p->key->witness, err));
    cuzk_status status = p->device->run(p->device->context, proof, p->sums, err);
    if (status != CUZK_OK) {
        p->device->drop(p->device->context, proof);
        return status;
    }
    return p->device->end(p->device->context, proof, &unused, p->sets, err);
}

static void *make_part(void *context)
{
    part *p = context;
    cuzk_error error = {0};
    p->status = make(p, &error);
    return NULL;
}

/* The first device makes all but sums, the second these; or the first, where that fails. Returns
 * what became of the second one's. */
static cuzk_status expect_proof(const whole_key *k, const cuzk_device_prover *first,
                                const cuzk_device_prover *second, cuzk_sums sums)
{
    cuzk_error error = {0};
    cuzk_proving *g = NULL;
    cuzk_proof_points found;
    part p = {.key = k, .device = cuzk_device_prover_get(second), .sums = sums};
    cuzk_prove_params params = {.test_blinding = &k->blinding,
                                .device = cuzk_device_prover_get(first)};
    must(cuzk_proving_begin(&g, k->prover, k->witness, &params, NULL, &error), &error);
    must(cuzk_proving_quotient(g, &error), &error);
    cuzk_proving_leave(g, sums, p.sets);
    assert_int_equal(pthread_create(&p.thread, NULL, make_part, &p), 0);
    must(cuzk_proving_sum(g, 0, &error), &error);
    assert_int_equal(pthread_join(p.thread, NULL), 0);
    if (p.status == CUZK_OK) {
        cuzk_proving_take(g, p.sets);
    } else {
        must(cuzk_proving_sum(g, 1, &error), &error);
    }
    must(cuzk_proving_assemble(g, &found, &error), &error);
    cuzk_proving_end(g);
    assert_true(support_same_proof(&found, &k->expected));
    return p.status;
}

/* On one device the sums run side by side, on the other one after another. */
static void check(const whole_key *k, const cuzk_sums *sums, size_t n)
{
    cuzk_device_prover *apart = put(k, &devices[0], 0);
    cuzk_device_prover *in_turn = put(k, &devices[1], apart->arena.total - 1);
    assert_true(apart->plan.is_apart && !in_turn->plan.is_apart);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(expect_proof(k, apart, in_turn, sums[i]), CUZK_OK);
        assert_int_equal(expect_proof(k, in_turn, apart, sums[i]), CUZK_OK);
    }
    cuzk_device_prover_destroy(apart);
    cuzk_device_prover_destroy(in_turn);
}

static void test_circom(void **state)
{
    (void)state;
    static const cuzk_sums some[] = {1 << A, 1 << B2, 1 << C | 1 << B2, 1 << A | 1 << B1 | 1 << B2,
                                     1 << C | 1 << A | 1 << B1 | 1 << B2};
    whole_key k = whole_key_circom("circom/bn254/multiplier2");
    check(&k, some, sizeof some / sizeof *some);
    whole_key_drop(&k);
}

static void test_bellperson(void **state)
{
    (void)state;
    static const cuzk_sums some[] = {1 << C | 1 << B2};
    whole_key k = bellperson_key("circom/bls12381/multiplier2");
    check(&k, some, 1);
    whole_key_drop(&k);
}

/* ---- the second device fails ---- */

/* At its first call, in its midst, at its last one: once, or for good. The first device has the
 * proof all the same, and what the second one does then is right again where it can be. */
static void test_faults(void **state)
{
    (void)state;
    const cuzk_sums sums = 1 << A | 1 << B2;
    whole_key k = whole_key_circom("circom/bn254/multiplier2");
    cuzk_device_prover *first = put(&k, &devices[0], 0);
    device = devices[1];
    faulty_begin();
    cuzk_device_prover *second = put(&k, &faulty_device, 0);
    faulty_fail(NULL, UINT_MAX, 0, false);
    assert_int_equal(expect_proof(&k, first, second, sums), CUZK_OK);
    unsigned n = faulty.n_calls;
    assert_true(n > 20);
    const unsigned at[] = {0, 5, n / 3, n / 2, n - 1};
    for (unsigned i = 0; i < sizeof at / sizeof *at; i++) {
        faulty_fail(NULL, at[i], CUDA_ERROR_OUT_OF_MEMORY, false);
        (void)expect_proof(&k, first, second, sums);
        assert_non_null(faulty.failed);
    }
    faulty_mend();
    assert_int_equal(expect_proof(&k, first, second, sums), CUZK_OK);
    faulty_fail(NULL, n / 2, CUDA_ERROR_ILLEGAL_ADDRESS, true);
    assert_int_equal(expect_proof(&k, first, second, sums), CUZK_E_DEVICE_LOST);
    faulty_mend();
    cuzk_device_prover_destroy(second);
    faulty_expect_nothing_held();
    cuzk_device_prover_destroy(first);
    whole_key_drop(&k);
}

int main(void)
{
    setenv("CUZK_EMULATED_DEVICES", "2", 1);
    setenv("CUZK_EMULATED_PEERS", "none", 1);
    device_test_open();
    cuzk_error error = {0};
    for (int i = 0; i < 2; i++) {
        devices[i] = device;
        devices[i].device = i;
        DRIVER(cuDevicePrimaryCtxRetain, (&devices[i].context, i));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_circom),
        cmocka_unit_test(test_bellperson),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
