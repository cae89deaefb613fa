/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of cuzk.h: what it gives, what it refuses, what it leaves alone on failure. */
#include "api_test.h"

#include <unistd.h>

static cuzk_error err;
static cuzk_ctx *ctx;
static circuit bn254, bls;

static int setup(void **state)
{
    (void)state;
    bn254 = circuit_open("circom/bn254/poseidon2");
    bls = circuit_open("circom/bls12381/multiplier2");
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 2;
    return cuzk_ctx_create(&ctx, &options, &err) == CUZK_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    circuit_close(&bn254);
    circuit_close(&bls);
    cuzk_ctx_destroy(ctx);
    return 0;
}

static cuzk_key *open_key(const circuit *c)
{
    cuzk_key *key = NULL;
    assert_ok(cuzk_key_open(ctx, &key, c->zkey.data, c->zkey.size, NULL, &err));
    return key;
}

static cuzk_proof *prove(const cuzk_key *key, const circuit *c)
{
    cuzk_proof *proof = NULL;
    assert_ok(cuzk_prove(ctx, &proof, key, c->wtns.data, c->wtns.size, NULL, &err));
    return proof;
}

static void test_version_and_status(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", CUZK_VERSION_MAJOR, CUZK_VERSION_MINOR,
             CUZK_VERSION_PATCH);
    assert_string_equal(cuzk_version(), version);
#define CHECK(name, value, exit_code, grpc, text)                                                  \
    assert_int_equal(CUZK_##name, value);                                                          \
    assert_string_equal(cuzk_status_name(CUZK_##name), #name);                                     \
    assert_string_equal(cuzk_status_text(CUZK_##name), text);                                      \
    assert_int_equal(cuzk_status_exit_code(CUZK_##name), exit_code);
    CUZK_STATUS_MAP(CHECK)
#undef CHECK
    assert_string_equal(cuzk_status_name((cuzk_status)12345), "UNKNOWN");
}

static void test_ctx(void **state)
{
    (void)state;
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    cuzk_ctx *made = NULL;
    for (unsigned n = 1; n <= 5; n++) {
        options.n_threads = n;
        assert_ok(cuzk_ctx_create(&made, &options, &err));
        assert_int_equal(cuzk_ctx_n_threads(made), n);
        assert_true(strlen(cuzk_ctx_cpu(made)) > 0);
        cuzk_ctx_destroy(made);
    }
    assert_ok(cuzk_ctx_create(&made, NULL, NULL));
    assert_true(cuzk_ctx_n_threads(made) >= 1);
    cuzk_ctx_destroy(made);
    cuzk_ctx_destroy(NULL);
    assert_fails(cuzk_ctx_create(NULL, NULL, &err), CUZK_E_ARGUMENT, "ctx");
    /* a struct that was not set up, and one of a later version */
    options.struct_bytes = 0;
    made = NULL;
    assert_fails(cuzk_ctx_create(&made, &options, &err), CUZK_E_ARGUMENT, "struct_bytes");
    options.struct_bytes = sizeof options + 8;
    assert_fails(cuzk_ctx_create(&made, &options, &err), CUZK_E_ARGUMENT, "INIT");
    assert_null(made);
}

static void test_null_arguments(void **state)
{
    (void)state;
    cuzk_key *key = open_key(&bn254);
    cuzk_key *no_key = NULL;
    cuzk_proof *proof = NULL;
    cuzk_vkey *vkey = NULL;
    char *text = NULL;
    uint8_t zero[32] = {0};
    const void *w = bn254.wtns.data;
    size_t n = bn254.wtns.size;
    assert_fails(cuzk_key_open(NULL, &no_key, w, n, NULL, &err), CUZK_E_ARGUMENT, "ctx");
    assert_fails(cuzk_key_open(ctx, NULL, w, n, NULL, &err), CUZK_E_ARGUMENT, "key");
    assert_fails(cuzk_key_open(ctx, &no_key, NULL, n, NULL, &err), CUZK_E_ARGUMENT, "data");
    assert_fails(cuzk_key_open_file(ctx, &no_key, NULL, NULL, &err), CUZK_E_ARGUMENT, "path");
    assert_fails(cuzk_prove(ctx, &proof, NULL, w, n, NULL, &err), CUZK_E_ARGUMENT, "key");
    assert_fails(cuzk_prove(ctx, &proof, key, NULL, n, NULL, &err), CUZK_E_ARGUMENT, "witness");
    assert_fails(cuzk_prove(ctx, NULL, key, w, n, NULL, &err), CUZK_E_ARGUMENT, "proof");
    assert_fails(cuzk_prove_file(ctx, &proof, key, NULL, NULL, &err), CUZK_E_ARGUMENT, "path");
    assert_fails(cuzk_prove_with_fixed_rs_for_tests(ctx, &proof, key, w, n, NULL, zero, NULL, &err),
                 CUZK_E_ARGUMENT, "r");
    assert_fails(cuzk_check_witness(ctx, NULL, NULL, 0, w, n, &err), CUZK_E_ARGUMENT, "r1cs");
    assert_fails(cuzk_vkey_open(ctx, &vkey, NULL, 0, false, &err), CUZK_E_ARGUMENT, "data");
    assert_fails(cuzk_vkey_from_key(ctx, &vkey, NULL, &err), CUZK_E_ARGUMENT, "key");
    assert_fails(cuzk_verify(ctx, NULL, w, n, w, n, &err), CUZK_E_ARGUMENT, "vkey");
    assert_fails(cuzk_proof_write(NULL, zero, 32, CUZK_FORM_SNARKJS, &err), CUZK_E_ARGUMENT,
                 "proof");
    assert_fails(cuzk_calldata(&text, NULL, 0, w, n, &err), CUZK_E_ARGUMENT, "proof");
    assert_fails(cuzk_setup_file(ctx, NULL, NULL, &err), CUZK_E_ARGUMENT, "r1cs_path");
    assert_fails(cuzk_inspect_file(ctx, "x", NULL, NULL, &err), CUZK_E_ARGUMENT, "report");
    /* the error may be dropped */
    assert_int_equal(cuzk_prove(ctx, &proof, NULL, w, n, NULL, NULL), CUZK_E_ARGUMENT);
    assert_null(proof);
    assert_null(no_key);
    assert_null(vkey);
    assert_null(text);
    cuzk_key_close(key);
    cuzk_key_close(NULL);
    cuzk_proof_destroy(NULL);
    cuzk_vkey_close(NULL);
    cuzk_free(NULL);
}

static void test_key_info(void **state)
{
    (void)state;
    cuzk_key_info info;
    cuzk_key *key = open_key(&bn254);
    cuzk_key_get_info(&info, key);
    cuzk_key_close(key);
    assert_string_equal(info.format, "zkey");
    assert_string_equal(info.curve, "bn128");
    assert_int_equal(info.n_bytes, bn254.zkey.size);
    assert_int_equal(info.n_vars, 520);
    assert_int_equal(info.n_public, 1);
    assert_int_equal(info.n_constraints, 517);
    assert_int_equal(info.lg_domain, 10);
    assert_false(info.is_test_key);
    assert_false(info.is_unsafe);
}

static void test_key_from_file_and_params(void **state)
{
    (void)state;
    char *path = cuzk_test_fixture_path("circom/bls12381/multiplier2/circuit.zkey");
    cuzk_key *key = NULL;
    assert_ok(cuzk_key_open_file(ctx, &key, path, NULL, &err));
    cuzk_proof_destroy(prove(key, &bls));
    cuzk_key_close(key);
    free(path);

    cuzk_fixture params = cuzk_test_fixture("groth/cube/circuit.params");
    cuzk_fixture r1cs = cuzk_test_fixture("groth/cube/circuit.r1cs");
    cuzk_fixture wtns = cuzk_test_fixture("groth/cube/witness.wtns");
    key = NULL;
    assert_fails(cuzk_key_open(ctx, &key, params.data, params.size, NULL, &err), CUZK_E_ARGUMENT,
                 "r1cs");
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    options.r1cs.data = r1cs.data;
    options.r1cs.n_bytes = r1cs.size;
    assert_ok(cuzk_key_open(ctx, &key, params.data, params.size, &options, &err));
    /* what the circuit was read for is done: */
    memset(r1cs.data, 0, r1cs.size);
    cuzk_key_info info;
    cuzk_key_get_info(&info, key);
    assert_string_equal(info.format, "params");
    assert_string_equal(info.curve, "bls12381");
    assert_int_equal(info.n_public, 1);
    cuzk_proof *proof = NULL;
    assert_ok(cuzk_prove(ctx, &proof, key, wtns.data, wtns.size, NULL, &err));
    assert_int_equal(cuzk_proof_size(proof, CUZK_FORM_BYTES), 192);
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_vkey_from_key(ctx, &vkey, key, &err));
    cuzk_fixture vk = cuzk_test_fixture("groth/cube/circuit.vk");
    uint8_t *written = malloc(vk.size);
    assert_int_equal(cuzk_vkey_size(vkey, CUZK_FORM_BYTES), vk.size);
    assert_ok(cuzk_vkey_write(vkey, written, vk.size, CUZK_FORM_BYTES, &err));
    assert_memory_equal(written, vk.data, vk.size);
    free(written);
    cuzk_vkey_close(vkey);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
    cuzk_test_fixture_free(&vk);
    cuzk_test_fixture_free(&params);
    cuzk_test_fixture_free(&r1cs);
    cuzk_test_fixture_free(&wtns);
}

static void test_forms_and_sizes(void **state)
{
    (void)state;
    cuzk_key *key = open_key(&bls);
    cuzk_proof *proof = prove(key, &bls);
    static const cuzk_form forms[] = {CUZK_FORM_SNARKJS, CUZK_FORM_COMPACT, CUZK_FORM_BYTES};
    for (int i = 0; i < 3; i++) {
        size_t n = cuzk_proof_size(proof, forms[i]);
        assert_true(n > 0 && n <= cuzk_proof_size_max("bls12381", forms[i]));
        char *buffer = malloc(n + 1);
        memset(buffer, 0x55, n + 1);
        assert_fails(cuzk_proof_write(proof, buffer, n - 1, forms[i], &err), CUZK_E_SHORT_BUFFER,
                     "needed");
        assert_int_equal(buffer[0], 0x55); /* untouched on failure */
        assert_ok(cuzk_proof_write(proof, buffer, n, forms[i], &err));
        assert_int_equal(buffer[n], 0x55);
        if (forms[i] != CUZK_FORM_BYTES) {
            assert_int_equal(strlen(buffer), n - 1);
        }
        free(buffer);
    }
    char text[64];
    assert_int_equal(cuzk_proof_public_size(proof, CUZK_FORM_COMPACT), sizeof "[\"33\"]");
    assert_ok(cuzk_proof_public_write(proof, text, sizeof text, CUZK_FORM_COMPACT, &err));
    assert_string_equal(text, "[\"33\"]");
    assert_ok(cuzk_proof_public_write(proof, text, sizeof text, CUZK_FORM_SNARKJS, &err));
    assert_int_equal(strlen(text), bls.public_values.size);
    assert_memory_equal(text, bls.public_values.data, bls.public_values.size);
    assert_int_equal(cuzk_proof_public_size(proof, CUZK_FORM_BYTES), 0);
    assert_fails(cuzk_proof_public_write(proof, text, sizeof text, CUZK_FORM_BYTES, &err),
                 CUZK_E_ARGUMENT, "form");
    assert_int_equal(cuzk_proof_size(proof, (cuzk_form)9), 0);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);

    key = open_key(&bn254);
    proof = prove(key, &bn254);
    assert_int_equal(cuzk_proof_size(proof, CUZK_FORM_BYTES), 0);
    assert_fails(cuzk_proof_write(proof, text, sizeof text, CUZK_FORM_BYTES, &err), CUZK_E_ARGUMENT,
                 "form");
    assert_int_equal(cuzk_proof_size_max("bn128", CUZK_FORM_BYTES), 0);
    assert_int_equal(cuzk_proof_size_max("none", CUZK_FORM_SNARKJS), 0);
    assert_int_equal(cuzk_proof_size_max(NULL, CUZK_FORM_COMPACT),
                     cuzk_proof_size_max("bls12381", CUZK_FORM_COMPACT));
    assert_true(cuzk_public_size_max(0, CUZK_FORM_COMPACT) >= 3);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
}

/* No proof of a curve is longer than its bound. */
static void test_size_bounds(void **state)
{
    (void)state;
    const circuit *circuits[] = {&bn254, &bls};
    static const char *const curves[] = {"bn128", "bls12381"};
    for (int c = 0; c < 2; c++) {
        cuzk_key *key = open_key(circuits[c]);
        for (int i = 0; i < 10; i++) {
            cuzk_proof *proof = prove(key, circuits[c]);
            for (int form = CUZK_FORM_SNARKJS; form <= CUZK_FORM_COMPACT; form++) {
                size_t n = cuzk_proof_size(proof, (cuzk_form)form);
                size_t max = cuzk_proof_size_max(curves[c], (cuzk_form)form);
                assert_true(n <= max && n + 40 > max);
                assert_true(cuzk_proof_public_size(proof, (cuzk_form)form) <=
                            cuzk_public_size_max(1, (cuzk_form)form));
            }
            cuzk_proof_destroy(proof);
        }
        cuzk_key_close(key);
    }
}

static void test_stats(void **state)
{
    (void)state;
    cuzk_key *key = open_key(&bn254);
    cuzk_proof *proof = prove(key, &bn254);
    cuzk_prove_stats stats;
    cuzk_proof_get_stats(&stats, proof);
    assert_true(stats.n_stages >= 3 && stats.n_stages <= CUZK_PROVE_STAGES_MAX);
    uint64_t sum = 0;
    for (unsigned i = 0; i < stats.n_stages; i++) {
        assert_true(strlen(stats.stage[i]) > 0);
        sum += stats.stage_ns[i];
    }
    assert_true(sum > 0 && sum <= stats.total_ns);
    assert_int_equal(stats.n_bits + stats.n_values, 520);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
}

/* The same r and s give the same bytes. That they are the right ones is tested in tests/groth16. */
static void test_fixed_rs(void **state)
{
    (void)state;
    cuzk_key *key = open_key(&bls);
    uint8_t r[32] = {7}, s[32] = {0};
    char *texts[2];
    size_t n = cuzk_proof_size_max("bls12381", CUZK_FORM_SNARKJS);
    for (int i = 0; i < 2; i++) {
        cuzk_proof *proof = NULL;
        assert_ok(cuzk_prove_with_fixed_rs_for_tests(ctx, &proof, key, bls.wtns.data, bls.wtns.size,
                                                     r, s, NULL, &err));
        texts[i] = malloc(n);
        assert_ok(cuzk_proof_write(proof, texts[i], n, CUZK_FORM_SNARKJS, &err));
        cuzk_proof_destroy(proof);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    memset(r, 0xff, sizeof r);
    cuzk_proof *none = NULL;
    assert_fails(cuzk_prove_with_fixed_rs_for_tests(ctx, &none, key, bls.wtns.data, bls.wtns.size,
                                                    r, s, NULL, &err),
                 CUZK_E_ARGUMENT, "order");
    assert_null(none);
    cuzk_key_close(key);
}

static void test_verify_and_batch(void **state)
{
    (void)state;
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_vkey_open(ctx, &vkey, bn254.vkey.data, bn254.vkey.size, false, &err));
    assert_int_equal(cuzk_vkey_n_public(vkey), 1);
    assert_ok(cuzk_verify(ctx, vkey, bn254.proof.data, bn254.proof.size, bn254.public_values.data,
                          bn254.public_values.size, &err));
    assert_fails(cuzk_verify(ctx, vkey, bn254.proof.data, bn254.proof.size, "[\"1\"]", 5, &err),
                 CUZK_E_INVALID_PROOF, "");
    assert_fails(cuzk_verify(ctx, vkey, bn254.proof.data, bn254.proof.size, "[]", 2, &err),
                 CUZK_E_MISMATCH, "");

    enum { N = 7 };
    cuzk_bytes proofs[N], public_values[N];
    for (int i = 0; i < N; i++) {
        proofs[i] = (cuzk_bytes){bn254.proof.data, bn254.proof.size};
        public_values[i] = (cuzk_bytes){bn254.public_values.data, bn254.public_values.size};
    }
    size_t first = 99;
    assert_ok(cuzk_verify_batch(ctx, &first, vkey, proofs, public_values, N, &err));
    assert_ok(cuzk_verify_batch(ctx, &first, vkey, NULL, NULL, 0, &err));
    assert_int_equal(first, 99);
    for (size_t bad = 0; bad < N; bad++) {
        cuzk_bytes good = public_values[bad];
        public_values[bad] = (cuzk_bytes){"[\"5\"]", 5};
        char index[16];
        snprintf(index, sizeof index, "%zu", bad);
        assert_fails(cuzk_verify_batch(ctx, &first, vkey, proofs, public_values, N, &err),
                     CUZK_E_INVALID_PROOF, index);
        assert_int_equal(first, bad);
        public_values[bad] = good;
    }
    public_values[3] = (cuzk_bytes){NULL, 0};
    assert_fails(cuzk_verify_batch(ctx, NULL, vkey, proofs, public_values, N, &err),
                 CUZK_E_ARGUMENT, "pair 3");
    cuzk_vkey_close(vkey);
}

static void test_vkey_forms(void **state)
{
    (void)state;
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_vkey_open(ctx, &vkey, bls.zkey.data, bls.zkey.size, false, &err));
    size_t n = cuzk_vkey_size(vkey, CUZK_FORM_SNARKJS);
    assert_int_equal(n, bls.vkey.size + 1);
    char *text = malloc(n);
    assert_fails(cuzk_vkey_write(vkey, text, n - 1, CUZK_FORM_SNARKJS, &err), CUZK_E_SHORT_BUFFER,
                 "needed");
    assert_ok(cuzk_vkey_write(vkey, text, n, CUZK_FORM_SNARKJS, &err));
    assert_memory_equal(text, bls.vkey.data, bls.vkey.size);
    assert_int_equal(cuzk_vkey_size(vkey, CUZK_FORM_COMPACT), 0);
    cuzk_vkey_close(vkey);
    /* from JSON two points are not known */
    assert_ok(cuzk_vkey_open(ctx, &vkey, text, n - 1, false, &err));
    assert_int_equal(cuzk_vkey_size(vkey, CUZK_FORM_BYTES), 0);
    cuzk_vkey_close(vkey);
    free(text);
}

static void test_calldata(void **state)
{
    (void)state;
    char *text = NULL;
    assert_ok(cuzk_calldata(&text, bn254.proof.data, bn254.proof.size, bn254.public_values.data,
                            bn254.public_values.size, &err));
    assert_memory_equal(text, "[\"0x", 4);
    cuzk_free(text);
    text = NULL;
    assert_fails(cuzk_calldata(&text, bn254.public_values.data, bn254.public_values.size,
                               bn254.proof.data, bn254.proof.size, &err),
                 CUZK_E_FORMAT, "list of public values");
    assert_null(text);
}

/* A witness that breaks constraint 0 of multiplier2. */
static void break_witness(cuzk_fixture *wtns)
{
    wtns->data[wtns->size - 32] ^= 1;
}

static void test_unsatisfied(void **state)
{
    (void)state;
    circuit c = circuit_open("circom/bn254/multiplier2");
    uint64_t broken = 99;
    assert_ok(
        cuzk_check_witness(ctx, &broken, c.r1cs.data, c.r1cs.size, c.wtns.data, c.wtns.size, &err));
    assert_int_equal(broken, 99);
    break_witness(&c.wtns);
    assert_fails(
        cuzk_check_witness(ctx, &broken, c.r1cs.data, c.r1cs.size, c.wtns.data, c.wtns.size, &err),
        CUZK_E_UNSATISFIED, "constraint 0");
    assert_int_equal(broken, 0);

    cuzk_key *key = open_key(&c);
    cuzk_proof *proof = NULL;
    assert_fails(cuzk_prove(ctx, &proof, key, c.wtns.data, c.wtns.size, NULL, &err),
                 CUZK_E_UNSATISFIED, "");
    assert_null(proof);
    cuzk_prove_options options = CUZK_PROVE_OPTIONS_INIT;
    options.no_self_check = true;
    assert_ok(cuzk_prove(ctx, &proof, key, c.wtns.data, c.wtns.size, &options, &err));
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);

    cuzk_key_options with_circuit = CUZK_KEY_OPTIONS_INIT;
    with_circuit.r1cs = (cuzk_bytes){c.r1cs.data, c.r1cs.size};
    assert_ok(cuzk_key_open(ctx, &key, c.zkey.data, c.zkey.size, &with_circuit, &err));
    proof = NULL;
    assert_fails(cuzk_prove(ctx, &proof, key, c.wtns.data, c.wtns.size, NULL, &err),
                 CUZK_E_UNSATISFIED, "constraint 0");
    cuzk_key_close(key);
    circuit_close(&c);
}

struct progress {
    unsigned n_calls, cancel_at;
    double last;
};

static bool on_progress(void *user, const char *stage, double done)
{
    struct progress *p = user;
    assert_true(strlen(stage) > 0);
    assert_true(done >= p->last && done <= 1);
    p->last = done;
    return ++p->n_calls != p->cancel_at;
}

static void test_progress_and_cancel(void **state)
{
    (void)state;
    cuzk_key *key = open_key(&bn254);
    struct progress p = {0, 0, 0};
    cuzk_prove_options options = CUZK_PROVE_OPTIONS_INIT;
    options.progress = on_progress;
    options.progress_user = &p;
    cuzk_proof *proof = NULL;
    assert_ok(cuzk_prove(ctx, &proof, key, bn254.wtns.data, bn254.wtns.size, &options, &err));
    cuzk_proof_destroy(proof);
    unsigned n_calls = p.n_calls;
    assert_true(n_calls > 0);
    for (unsigned at = 1; at <= n_calls; at++) {
        p = (struct progress){0, at, 0};
        proof = NULL;
        assert_fails(cuzk_prove(ctx, &proof, key, bn254.wtns.data, bn254.wtns.size, &options, &err),
                     CUZK_E_CANCELLED, "cancelled");
        assert_null(proof);
        assert_int_equal(p.n_calls, at); /* asked no more after the answer */
    }
    cuzk_key_close(key);
}

struct log_lines {
    unsigned n;
    char last[256];
};

static void on_log(void *user, cuzk_log_level level, const char *text)
{
    struct log_lines *log = user;
    (void)level;
    log->n++;
    snprintf(log->last, sizeof log->last, "%s", text);
}

static void test_log(void **state)
{
    (void)state;
    struct log_lines log = {0, ""};
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 1;
    options.log = on_log;
    options.log_user = &log;
    cuzk_ctx *made = NULL;
    assert_ok(cuzk_ctx_create(&made, &options, &err));
    assert_int_equal(log.n, 1);
    assert_non_null(strstr(log.last, "cpu path"));
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_vkey_open(made, &vkey, bn254.vkey.data, bn254.vkey.size, false, &err));
    /* an older tool's proof, without "curve" */
    char *text = strdup((const char *)bn254.proof.data);
    char *comma = strstr(text, ",\n \"curve\"");
    assert_non_null(comma);
    strcpy(comma, "\n}");
    assert_ok(cuzk_verify(made, vkey, text, strlen(text), bn254.public_values.data,
                          bn254.public_values.size, &err));
    assert_int_equal(log.n, 2);
    assert_non_null(strstr(log.last, "curve"));
    free(text);
    cuzk_vkey_close(vkey);
    cuzk_ctx_destroy(made);
}

static void test_setup_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-api-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char zkey[64], json[64], params[64], vk[64];
    snprintf(zkey, sizeof zkey, "%s/k.zkey", folder);
    snprintf(json, sizeof json, "%s/k.json", folder);
    snprintf(params, sizeof params, "%s/k.params", folder);
    snprintf(vk, sizeof vk, "%s/k.vk", folder);
    char *r1cs = cuzk_test_fixture_path("circom/bls12381/multiplier2/circuit.r1cs");
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;
    assert_fails(cuzk_setup_file(ctx, r1cs, &options, &err), CUZK_E_ARGUMENT, "output");
    struct progress p = {0, 1, 0};
    options = (cuzk_setup_options){sizeof options, zkey, params, vk, json, on_progress, &p, NULL};
    assert_fails(cuzk_setup_file(ctx, r1cs, &options, &err), CUZK_E_CANCELLED, "cancelled");
    assert_int_not_equal(access(zkey, F_OK), 0);
    p = (struct progress){0, 0, 0};
    assert_ok(cuzk_setup_file(ctx, r1cs, &options, &err));
    assert_true(p.n_calls > 0);

    cuzk_key *key = NULL;
    assert_ok(cuzk_key_open_file(ctx, &key, zkey, NULL, &err));
    cuzk_proof *proof = prove(key, &bls);
    char text[2048];
    assert_ok(cuzk_proof_write(proof, text, sizeof text, CUZK_FORM_SNARKJS, &err));
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_vkey_open_file(ctx, &vkey, json, false, &err));
    assert_ok(cuzk_verify(ctx, vkey, text, strlen(text), bls.public_values.data,
                          bls.public_values.size, &err));
    cuzk_vkey_close(vkey);
    /* the .params is another key: the proof is not valid there */
    assert_ok(cuzk_vkey_open_file(ctx, &vkey, vk, false, &err));
    assert_fails(cuzk_verify(ctx, vkey, text, strlen(text), bls.public_values.data,
                             bls.public_values.size, &err),
                 CUZK_E_INVALID_PROOF, "");
    cuzk_vkey_close(vkey);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
    unlink(zkey);
    unlink(json);
    unlink(params);
    unlink(vk);
    assert_int_equal(rmdir(folder), 0);
    free(r1cs);
}

static void on_report(void *user, cuzk_report_kind kind, const char *name, const char *value,
                      bool is_number)
{
    unsigned *seen = user;
    assert_true(kind <= CUZK_REPORT_ERROR);
    assert_non_null(name);
    if (is_number) {
        assert_int_equal(strspn(value, "0123456789"), strlen(value));
    }
    seen[kind]++;
}

static void test_reports(void **state)
{
    (void)state;
    static const char *const names[] = {"circuit.zkey",          "witness.wtns", "circuit.r1cs",
                                        "verification_key.json", "proof.json",   "public.json"};
    for (int i = 0; i < 6; i++) {
        char name[128];
        snprintf(name, sizeof name, "circom/bn254/poseidon2/%s", names[i]);
        char *path = cuzk_test_fixture_path(name);
        unsigned seen[4] = {0};
        assert_ok(cuzk_inspect_file(ctx, path, on_report, seen, &err));
        assert_true(seen[CUZK_REPORT_FACT] > 1);
        assert_int_equal(seen[CUZK_REPORT_ERROR], 0);
        assert_ok(cuzk_check_file(ctx, path, NULL, on_report, seen, &err));
        assert_int_equal(seen[CUZK_REPORT_ERROR], 0);
        free(path);
    }
    unsigned seen[4] = {0};
    assert_fails(cuzk_inspect_file(ctx, "/none", on_report, seen, &err), CUZK_E_FILE, "/none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_and_status),
        cmocka_unit_test(test_ctx),
        cmocka_unit_test(test_null_arguments),
        cmocka_unit_test(test_key_info),
        cmocka_unit_test(test_key_from_file_and_params),
        cmocka_unit_test(test_forms_and_sizes),
        cmocka_unit_test(test_size_bounds),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_fixed_rs),
        cmocka_unit_test(test_verify_and_batch),
        cmocka_unit_test(test_vkey_forms),
        cmocka_unit_test(test_calldata),
        cmocka_unit_test(test_unsatisfied),
        cmocka_unit_test(test_progress_and_cancel),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_setup_files),
        cmocka_unit_test(test_reports),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
