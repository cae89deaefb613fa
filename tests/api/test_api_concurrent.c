/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BC-037: many threads prove and verify at once with one context and one key each; BC-036 and
 * BC-038: what a process looks like after destroy, and that a mapped key is not copied. */
#include "api_test.h"
#include "prover.h"
#include "verifier.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

enum { N_THREADS = 16, N_CIRCUITS = 3 };

static const char *const folders[N_CIRCUITS] = {
    "circom/bn254/multiplier2", "circom/bls12381/multiplier2", "circom/bn254/poseidon2"};

static cuzk_error err;
static circuit circuits[N_CIRCUITS];
static cuzk_ctx *ctx;
static cuzk_key *keys[N_CIRCUITS];
static cuzk_vkey *vkeys[N_CIRCUITS];
static void *rapidsnark_object;
static _Atomic unsigned n_valid, n_failed;

static unsigned n_tasks(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

/* A joined thread stays listed for a moment. */
static void assert_tasks(unsigned expected)
{
    for (int i = 0; i < 1000 && n_tasks() != expected; i++) {
        usleep(1000);
    }
    assert_int_equal(n_tasks(), expected);
}

static void prove_and_verify(unsigned c)
{
    char proof_text[4096], public_text[4096];
    cuzk_error own;
    cuzk_proof *proof = NULL;
    bool ok = cuzk_prove(ctx, &proof, keys[c], circuits[c].wtns.data, circuits[c].wtns.size, NULL,
                         &own) == CUZK_OK &&
              cuzk_proof_write(proof, proof_text, sizeof proof_text, CUZK_FORM_SNARKJS, &own) ==
                  CUZK_OK &&
              cuzk_proof_public_write(proof, public_text, sizeof public_text, CUZK_FORM_SNARKJS,
                                      &own) == CUZK_OK &&
              cuzk_verify(ctx, vkeys[c], proof_text, strlen(proof_text), public_text,
                          strlen(public_text), &own) == CUZK_OK;
    cuzk_proof_destroy(proof);
    /* Relaxed: counters, read after the threads are joined. */
    atomic_fetch_add_explicit(ok ? &n_valid : &n_failed, 1, memory_order_relaxed);
    if (!ok) {
        print_error("circuit %s: %s\n", folders[c], own.text);
    }
}

static void prove_as_rapidsnark(void)
{
    char proof[2048], values[256], text[256];
    unsigned long long n_proof = sizeof proof, n_values = sizeof values;
    bool ok =
        groth16_prover_prove(rapidsnark_object, circuits[0].wtns.data, circuits[0].wtns.size, proof,
                             &n_proof, values, &n_values, text, sizeof text) == PROVER_OK &&
        groth16_verify(proof, values, (const char *)circuits[0].vkey.data, text, sizeof text) ==
            VERIFIER_VALID_PROOF;
    atomic_fetch_add_explicit(ok ? &n_valid : &n_failed, 1, memory_order_relaxed);
}

static void *thread_main(void *arg)
{
    unsigned thread = *(unsigned *)arg;
    unsigned n = IS_SANITIZED ? 4 : 50;
    for (unsigned i = 0; i < n; i++) {
        if ((thread + i) % 8 == 7) {
            prove_as_rapidsnark();
        } else {
            prove_and_verify((thread + i) % N_CIRCUITS);
        }
    }
    return NULL;
}

static void *no_work(void *unused)
{
    return unused;
}

static void test_sixteen_threads(void **state)
{
    (void)state;
    /* the thread sanitizer makes a thread of its own when it sees the first one */
    pthread_t first;
    assert_int_equal(pthread_create(&first, NULL, no_work, NULL), 0);
    pthread_join(first, NULL);
    unsigned before = n_tasks();
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    assert_ok(cuzk_ctx_create(&ctx, &options, &err));
    for (unsigned c = 0; c < N_CIRCUITS; c++) {
        circuits[c] = circuit_open(folders[c]);
        assert_ok(
            cuzk_key_open(ctx, &keys[c], circuits[c].zkey.data, circuits[c].zkey.size, NULL, &err));
        assert_ok(cuzk_vkey_open(ctx, &vkeys[c], circuits[c].vkey.data, circuits[c].vkey.size,
                                 false, &err));
    }
    assert_int_equal(groth16_prover_create(&rapidsnark_object, circuits[0].zkey.data,
                                           circuits[0].zkey.size, err.text, sizeof err.text),
                     PROVER_OK);
    pthread_t threads[N_THREADS];
    unsigned numbers[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(n_failed, 0);
    assert_int_equal(n_valid, N_THREADS * (IS_SANITIZED ? 4 : 50));
    groth16_prover_destroy(rapidsnark_object);
    for (unsigned c = 0; c < N_CIRCUITS; c++) {
        cuzk_vkey_close(vkeys[c]);
        cuzk_key_close(keys[c]);
        circuit_close(&circuits[c]);
    }
    cuzk_ctx_destroy(ctx);
    assert_tasks(before); /* BC-036 */
}

/* Private memory of this process, KiB. */
static unsigned long rss_anon(void)
{
    unsigned long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "RssAnon: %lu kB", &kib) == 1) {
            break;
        }
    }
    fclose(f);
    return kib;
}

static void test_mapped_key_is_not_copied(void **state)
{
    (void)state;
    if (IS_SANITIZED) {
        skip();
    }
    const char *name = "circom/bn254/eddsa_poseidon/circuit.zkey"; /* 4 MB */
    CUZK_TEST_NEEDS_FIXTURE(name);
    char *path = cuzk_test_fixture_path(name);
    void *object = NULL;
    unsigned long before = rss_anon();
    assert_int_equal(groth16_prover_create_zkey_file(&object, path, err.text, sizeof err.text),
                     PROVER_OK);
    unsigned long after = rss_anon();
    groth16_prover_destroy(object);
    free(path);
    /* roots of unity of the domain are made here, the key's 4 MB are not copied */
    print_message("private memory of an open key: %lu KiB more\n", after - before);
    assert_true(after - before < 2500);
}

static void test_create_and_destroy_many(void **state)
{
    (void)state;
    circuit c = circuit_open(folders[0]);
    unsigned before = n_tasks();
    for (int i = 0; i < 50; i++) {
        void *object = NULL;
        assert_int_equal(
            groth16_prover_create(&object, c.zkey.data, c.zkey.size, err.text, sizeof err.text),
            PROVER_OK);
        groth16_prover_destroy(object);
    }
    assert_tasks(before);
    circuit_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapped_key_is_not_copied),
        cmocka_unit_test(test_sixteen_threads),
        cmocka_unit_test(test_create_and_destroy_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
