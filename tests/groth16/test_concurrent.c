/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Many threads prove at once with the same provers, on two curves, some sharing a pool and some
 * alone; every proof is verified (once by the prover, once here). CUZK_NIGHTLY proves more often;
 * the thread sanitizer build runs this too. */
#include "support.h"

#include "groth16/verify.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_THREADS = 16, N_CIRCUITS = 3 };

struct shared {
    support_bytes bytes[N_CIRCUITS];
    cuzk_zkey key[N_CIRCUITS];
    cuzk_witness *w[N_CIRCUITS];
    cuzk_prover *prover[N_CIRCUITS];
    cuzk_pool *pool;
    int n_rounds;
    _Atomic int n_good;
};

struct thread_arg {
    struct shared *shared;
    int index;
};

static bool prove_and_verify(struct shared *s, int circuit, cuzk_pool *pool)
{
    cuzk_proof_points proof;
    cuzk_error err = {0};
    if (cuzk_prover_prove(s->prover[circuit], &proof, s->w[circuit], NULL, pool, &err) != CUZK_OK) {
        fprintf(stderr, "circuit %d: %s\n", circuit, err.text);
        return false;
    }
    uint32_t n = s->key[circuit].n_public;
    uint8_t values[32 * 8];
    cuzk_verifier v;
    cuzk_witness_get_range(s->w[circuit], 1, n, values);
    return cuzk_verifier_init(&v, cuzk_prover_vk(s->prover[circuit]), false, &err) == CUZK_OK &&
           cuzk_verifier_check(&v, &proof, values, n, pool, &err) == CUZK_OK;
}

static void *prove_many(void *p)
{
    struct thread_arg *arg = p;
    struct shared *s = arg->shared;
    for (int round = 0; round < s->n_rounds; round++) {
        int circuit = (arg->index + round) % N_CIRCUITS;
        if (prove_and_verify(s, circuit, arg->index % 4 == 0 ? NULL : s->pool)) {
            atomic_fetch_add(&s->n_good, 1);
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const names[N_CIRCUITS] = {
        "circom/bn254/multiplier2", "circom/bls12381/multiplier2", "circom/bn254/poseidon2"};
    struct shared s = {.n_rounds = getenv("CUZK_NIGHTLY") != NULL ? 50 : 3};
    assert_int_equal(cuzk_pool_create(&s.pool, 2, NULL), CUZK_OK);
    for (int i = 0; i < N_CIRCUITS; i++) {
        s.bytes[i] = support_zkey(names[i], s.pool);
        s.key[i] = support_open_zkey(&s.bytes[i]);
        s.w[i] = support_witness(names[i], s.key[i].n_public + 1);
        assert_int_equal(cuzk_prover_create_zkey(&s.prover[i], &s.key[i], NULL, NULL, s.pool, NULL),
                         CUZK_OK);
    }
    pthread_t threads[N_THREADS];
    struct thread_arg args[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        args[i] = (struct thread_arg){&s, i};
        assert_int_equal(pthread_create(&threads[i], NULL, prove_many, &args[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(s.n_good, N_THREADS * s.n_rounds);
    for (int i = 0; i < N_CIRCUITS; i++) {
        cuzk_prover_destroy(s.prover[i]);
        cuzk_witness_destroy(s.w[i]);
        free(s.bytes[i].data);
    }
    cuzk_pool_destroy(s.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
