/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A proof step by step: the same proof as in one call, given up at any step, and within the bytes
 * that are told beforehand. */
#include "support.h"

#include "groth16/proving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const circuits[] = {"circom/bn254/poseidon2", "circom/bls12381/multiplier1000",
                                       "circom/bn254/manypublic"};
enum { N_CIRCUITS = sizeof circuits / sizeof circuits[0] };

struct subject {
    support_bytes bytes;
    cuzk_zkey key;
    cuzk_witness *w;
    cuzk_prover *prover;
    cuzk_blinding blinding;
    cuzk_proof_points expected;
};

static cuzk_error err;

static struct subject open_subject(const char *name, cuzk_pool *pool)
{
    struct subject s = {.bytes = support_zkey(name, pool)};
    s.key = support_open_zkey(&s.bytes);
    s.w = support_witness(name, s.key.n_public + 1);
    support_fixed_rs(name, s.key.curve, &s.blinding, &s.expected);
    assert_int_equal(cuzk_prover_create_zkey(&s.prover, &s.key, NULL, NULL, pool, &err), CUZK_OK);
    return s;
}

static void close_subject(struct subject *s)
{
    cuzk_prover_destroy(s->prover);
    cuzk_witness_destroy(s->w);
    free(s->bytes.data);
}

static void test_steps(void **state)
{
    (void)state;
    for (int i = 0; i < N_CIRCUITS; i++) {
        struct subject s = open_subject(circuits[i], NULL);
        cuzk_prove_params params = {.test_blinding = &s.blinding};
        for (int steps = 0; steps <= 3; steps++) {
            cuzk_proving *proving = NULL;
            cuzk_proof_points proof;
            assert_int_equal(cuzk_proving_begin(&proving, s.prover, s.w, &params, NULL, &err),
                             CUZK_OK);
            if (steps > 0) {
                assert_int_equal(cuzk_proving_quotient(proving, &err), CUZK_OK);
            }
            if (steps > 1) {
                assert_true(cuzk_proving_n_sums(proving) >= 2);
                for (unsigned k = 0; k < cuzk_proving_n_sums(proving); k++) {
                    assert_int_equal(cuzk_proving_sum(proving, k, &err), CUZK_OK);
                }
            }
            if (steps > 2) {
                assert_int_equal(cuzk_proving_assemble(proving, &proof, &err), CUZK_OK);
                assert_true(support_same_proof(&proof, &s.expected));
            }
            cuzk_proving_end(proving);
        }
        close_subject(&s);
    }
    cuzk_proving_end(NULL);
}

static bool refuse(void *ctx, const char *stage, double done)
{
    (void)stage;
    return done < *(const double *)ctx;
}

static void test_cancelled(void **state)
{
    (void)state;
    static const double moments[] = {0, 0.02, 0.1};
    struct subject s = open_subject(circuits[0], NULL);
    for (int i = 0; i < 3; i++) {
        double moment = moments[i];
        cuzk_reporter reporter = {refuse, &moment};
        cuzk_prove_params params = {.reporter = &reporter};
        cuzk_proving *proving = NULL;
        assert_int_equal(cuzk_proving_begin(&proving, s.prover, s.w, &params, NULL, &err), CUZK_OK);
        cuzk_status status = cuzk_proving_quotient(proving, &err);
        assert_int_equal(status, i < 2 ? CUZK_E_CANCELLED : CUZK_OK);
        if (status == CUZK_OK) {
            assert_int_equal(cuzk_proving_sum(proving, 0, &err), CUZK_E_CANCELLED);
        }
        cuzk_error_clear(&err);
        cuzk_proving_end(proving);
    }
    close_subject(&s);
}

static void test_bytes(void **state)
{
    (void)state;
    for (unsigned n_threads = 1; n_threads <= 4; n_threads += 3) {
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, n_threads, &err), CUZK_OK);
        for (int i = 0; i < N_CIRCUITS; i++) {
            struct subject s = open_subject(circuits[i], pool);
            cuzk_prove_times times;
            cuzk_prove_params params = {.times = &times};
            cuzk_proof_points proof;
            assert_int_equal(cuzk_prover_prove(s.prover, &proof, s.w, &params, pool, &err),
                             CUZK_OK);
            cuzk_proving_counts counts = {.curve = s.key.curve,
                                          .lg_n = s.key.lg_domain,
                                          .n_vars = s.w->n_vars,
                                          .n_field = s.w->n_field,
                                          .is_zkey = true};
            size_t told = cuzk_proving_bytes_max(&counts, pool);
            if (told < times.workspace_bytes || told > 2 * times.workspace_bytes + 65536) {
                fail_msg("%s, %u threads: %zu bytes told, %zu taken", circuits[i], n_threads, told,
                         times.workspace_bytes);
            }
            close_subject(&s);
        }
        cuzk_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests_name("proving", tests, NULL, NULL);
}
