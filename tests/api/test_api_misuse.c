/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Wrong calls of the C library: a NULL for every pointer that must not be one, structs that were
 * not set up, buffers of every size that is too small. Each is refused with E_ARGUMENT or
 * E_SHORT_BUFFER, says which argument it is, and leaves outputs alone. */
#include "api_test.h"

#include "cuzk_filecoin.h"

#include <unistd.h>

static cuzk_error err;
static cuzk_ctx *ctx;
static circuit bn254, bls;
static cuzk_key *key;
static cuzk_vkey *vkey;
static cuzk_proof *proof;

static int setup(void **state)
{
    (void)state;
    bn254 = circuit_open("circom/bn254/multiplier2");
    bls = circuit_open("circom/bls12381/multiplier2");
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    options.n_threads = 1;
    assert_ok(cuzk_ctx_create(&ctx, &options, &err));
    assert_ok(cuzk_key_open(ctx, &key, bls.zkey.data, bls.zkey.size, NULL, &err));
    assert_ok(cuzk_vkey_from_key(ctx, &vkey, key, &err));
    assert_ok(cuzk_prove(ctx, &proof, key, bls.wtns.data, bls.wtns.size, NULL, &err));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cuzk_proof_destroy(proof);
    cuzk_vkey_close(vkey);
    cuzk_key_close(key);
    circuit_close(&bn254);
    circuit_close(&bls);
    cuzk_ctx_destroy(ctx);
    return 0;
}

/* The call is refused because its argument `name` is NULL; also where nobody wants to know why. */
#define REFUSED(call_with_err, call_without, name)                                                 \
    do {                                                                                           \
        assert_fails(call_with_err, CUZK_E_ARGUMENT, name);                                        \
        assert_int_equal(call_without, CUZK_E_ARGUMENT);                                           \
    } while (0)
#define NULL_REFUSED(name, function, ...)                                                          \
    REFUSED(function(__VA_ARGS__, &err), function(__VA_ARGS__, NULL), name)

static void report(void *user, cuzk_report_kind kind, const char *name, const char *value,
                   bool is_warning)
{
    (void)user;
    (void)kind;
    (void)name;
    (void)value;
    (void)is_warning;
    fail(); /* nothing is to be reported by a call that is refused */
}

static void test_null_keys_and_proofs(void **state)
{
    (void)state;
    cuzk_key *k = (cuzk_key *)(uintptr_t)1;
    cuzk_proof *p = (cuzk_proof *)(uintptr_t)1;
    const void *z = bls.zkey.data, *w = bls.wtns.data, *c = bls.r1cs.data;
    size_t n_z = bls.zkey.size, n_w = bls.wtns.size, n_c = bls.r1cs.size;
    const uint8_t zero[32] = {0};
    NULL_REFUSED("ctx", cuzk_key_open, NULL, &k, z, n_z, NULL);
    NULL_REFUSED("key", cuzk_key_open, ctx, NULL, z, n_z, NULL);
    NULL_REFUSED("data", cuzk_key_open, ctx, &k, NULL, n_z, NULL);
    NULL_REFUSED("ctx", cuzk_key_open_file, NULL, &k, "x", NULL);
    NULL_REFUSED("key", cuzk_key_open_file, ctx, NULL, "x", NULL);
    NULL_REFUSED("path", cuzk_key_open_file, ctx, &k, NULL, NULL);
    NULL_REFUSED("ctx", cuzk_prove, NULL, &p, key, w, n_w, NULL);
    NULL_REFUSED("proof", cuzk_prove, ctx, NULL, key, w, n_w, NULL);
    NULL_REFUSED("key", cuzk_prove, ctx, &p, NULL, w, n_w, NULL);
    NULL_REFUSED("witness", cuzk_prove, ctx, &p, key, NULL, n_w, NULL);
    NULL_REFUSED("ctx", cuzk_prove_file, NULL, &p, key, "x", NULL);
    NULL_REFUSED("proof", cuzk_prove_file, ctx, NULL, key, "x", NULL);
    NULL_REFUSED("key", cuzk_prove_file, ctx, &p, NULL, "x", NULL);
    NULL_REFUSED("witness_path", cuzk_prove_file, ctx, &p, key, NULL, NULL);
    NULL_REFUSED("ctx", cuzk_prove_with_fixed_rs_for_tests, NULL, &p, key, w, n_w, zero, zero,
                 NULL);
    NULL_REFUSED("proof", cuzk_prove_with_fixed_rs_for_tests, ctx, NULL, key, w, n_w, zero, zero,
                 NULL);
    NULL_REFUSED("key", cuzk_prove_with_fixed_rs_for_tests, ctx, &p, NULL, w, n_w, zero, zero,
                 NULL);
    NULL_REFUSED("witness", cuzk_prove_with_fixed_rs_for_tests, ctx, &p, key, NULL, n_w, zero, zero,
                 NULL);
    NULL_REFUSED("r", cuzk_prove_with_fixed_rs_for_tests, ctx, &p, key, w, n_w, NULL, zero, NULL);
    NULL_REFUSED("s", cuzk_prove_with_fixed_rs_for_tests, ctx, &p, key, w, n_w, zero, NULL, NULL);
    NULL_REFUSED("ctx", cuzk_check_witness, NULL, NULL, c, n_c, w, n_w);
    NULL_REFUSED("r1cs", cuzk_check_witness, ctx, NULL, NULL, n_c, w, n_w);
    NULL_REFUSED("witness", cuzk_check_witness, ctx, NULL, c, n_c, NULL, n_w);
    NULL_REFUSED("ctx", cuzk_check_witness_file, NULL, NULL, "x", "y");
    NULL_REFUSED("r1cs_path", cuzk_check_witness_file, ctx, NULL, NULL, "y");
    NULL_REFUSED("witness_path", cuzk_check_witness_file, ctx, NULL, "x", NULL);
    NULL_REFUSED("proof", cuzk_proof_write, NULL, &p, sizeof p, CUZK_FORM_SNARKJS);
    NULL_REFUSED("buffer", cuzk_proof_write, proof, NULL, 1, CUZK_FORM_SNARKJS);
    NULL_REFUSED("proof", cuzk_proof_public_write, NULL, (char *)&p, sizeof p, CUZK_FORM_SNARKJS);
    NULL_REFUSED("buffer", cuzk_proof_public_write, proof, NULL, 1, CUZK_FORM_SNARKJS);
    NULL_REFUSED("proof", cuzk_proof_write_files, NULL, "x", "y", CUZK_FORM_SNARKJS);
    NULL_REFUSED("proof_path", cuzk_proof_write_files, proof, NULL, "y", CUZK_FORM_SNARKJS);
    NULL_REFUSED("public_path", cuzk_proof_write_files, proof, "x", NULL, CUZK_FORM_SNARKJS);
    assert_ptr_equal(k, (void *)(uintptr_t)1);
    assert_ptr_equal(p, (void *)(uintptr_t)1);
    assert_int_not_equal(access("x", F_OK), 0);
}

static void test_null_verifying(void **state)
{
    (void)state;
    cuzk_vkey *v = (cuzk_vkey *)(uintptr_t)1;
    char *text = (char *)(uintptr_t)1;
    const void *p = bls.proof.data, *q = bls.public_values.data, *k = bls.vkey.data;
    size_t n_p = bls.proof.size, n_q = bls.public_values.size, n_k = bls.vkey.size;
    cuzk_bytes proofs = {p, n_p}, values = {q, n_q}, none = {NULL, 5};
    size_t first = 77;
    NULL_REFUSED("ctx", cuzk_vkey_open, NULL, &v, k, n_k, false);
    NULL_REFUSED("vkey", cuzk_vkey_open, ctx, NULL, k, n_k, false);
    NULL_REFUSED("data", cuzk_vkey_open, ctx, &v, NULL, n_k, false);
    NULL_REFUSED("ctx", cuzk_vkey_open_file, NULL, &v, "x", false);
    NULL_REFUSED("vkey", cuzk_vkey_open_file, ctx, NULL, "x", false);
    NULL_REFUSED("path", cuzk_vkey_open_file, ctx, &v, NULL, false);
    NULL_REFUSED("ctx", cuzk_vkey_from_key, NULL, &v, key);
    NULL_REFUSED("vkey", cuzk_vkey_from_key, ctx, NULL, key);
    NULL_REFUSED("key", cuzk_vkey_from_key, ctx, &v, NULL);
    NULL_REFUSED("vkey", cuzk_vkey_write, NULL, &v, sizeof v, CUZK_FORM_SNARKJS);
    NULL_REFUSED("buffer", cuzk_vkey_write, vkey, NULL, 1, CUZK_FORM_SNARKJS);
    NULL_REFUSED("vkey", cuzk_vkey_write_file, NULL, "x", CUZK_FORM_SNARKJS);
    NULL_REFUSED("path", cuzk_vkey_write_file, vkey, NULL, CUZK_FORM_SNARKJS);
    NULL_REFUSED("ctx", cuzk_verify, NULL, vkey, p, n_p, q, n_q);
    NULL_REFUSED("vkey", cuzk_verify, ctx, NULL, p, n_p, q, n_q);
    NULL_REFUSED("proof", cuzk_verify, ctx, vkey, NULL, n_p, q, n_q);
    NULL_REFUSED("public_values", cuzk_verify, ctx, vkey, p, n_p, NULL, n_q);
    NULL_REFUSED("ctx", cuzk_verify_batch, NULL, &first, vkey, &proofs, &values, 1);
    NULL_REFUSED("vkey", cuzk_verify_batch, ctx, &first, NULL, &proofs, &values, 1);
    NULL_REFUSED("proofs", cuzk_verify_batch, ctx, &first, vkey, NULL, &values, 1);
    NULL_REFUSED("public_values", cuzk_verify_batch, ctx, &first, vkey, &proofs, NULL, 1);
    assert_int_equal(first, 77);
    /* a run of bytes that is none */
    assert_int_not_equal(cuzk_verify_batch(ctx, &first, vkey, &none, &values, 1, &err), CUZK_OK);
    assert_int_not_equal(cuzk_verify_batch(ctx, &first, vkey, &proofs, &none, 1, &err), CUZK_OK);
    NULL_REFUSED("text", cuzk_calldata, NULL, p, n_p, q, n_q);
    NULL_REFUSED("proof", cuzk_calldata, &text, NULL, n_p, q, n_q);
    NULL_REFUSED("public_values", cuzk_calldata, &text, p, n_p, NULL, n_q);
    assert_ptr_equal(v, (void *)(uintptr_t)1);
    assert_ptr_equal(text, (void *)(uintptr_t)1);
    /* nothing to verify is valid; no array is looked at */
    assert_ok(cuzk_verify_batch(ctx, NULL, vkey, &proofs, &values, 0, &err));
}

static void test_null_files(void **state)
{
    (void)state;
    cuzk_setup_options options = CUZK_SETUP_OPTIONS_INIT;
    options.zkey_path = "never.zkey";
    const char *toxic = "{}";
    NULL_REFUSED("ctx", cuzk_setup_file, NULL, "x", &options);
    NULL_REFUSED("r1cs_path", cuzk_setup_file, ctx, NULL, &options);
    NULL_REFUSED("ctx", cuzk_setup_file_with_test_trapdoor, NULL, "x", toxic, 2, &options);
    NULL_REFUSED("r1cs_path", cuzk_setup_file_with_test_trapdoor, ctx, NULL, toxic, 2, &options);
    NULL_REFUSED("trapdoor", cuzk_setup_file_with_test_trapdoor, ctx, "x", NULL, 2, &options);
    NULL_REFUSED("ctx", cuzk_inspect_file, NULL, "x", report, NULL);
    NULL_REFUSED("path", cuzk_inspect_file, ctx, NULL, report, NULL);
    NULL_REFUSED("report", cuzk_inspect_file, ctx, "x", NULL, NULL);
    NULL_REFUSED("ctx", cuzk_check_file, NULL, "x", NULL, report, NULL);
    NULL_REFUSED("path", cuzk_check_file, ctx, NULL, NULL, report, NULL);
    NULL_REFUSED("report", cuzk_check_file, ctx, "x", NULL, NULL, NULL);
    /* no output at all */
    cuzk_setup_options nothing = CUZK_SETUP_OPTIONS_INIT;
    assert_fails(cuzk_setup_file(ctx, "x", &nothing, &err), CUZK_E_ARGUMENT, "");
    assert_int_not_equal(access("never.zkey", F_OK), 0);
}

static void test_null_filecoin(void **state)
{
    (void)state;
    cuzk_filecoin_request *r = NULL, *untouched = (cuzk_filecoin_request *)(uintptr_t)1;
    cuzk_filecoin_key *k = (cuzk_filecoin_key *)(uintptr_t)1;
    cuzk_filecoin_proof *p = (cuzk_filecoin_proof *)(uintptr_t)1;
    cuzk_vkey *v = (cuzk_vkey *)(uintptr_t)1;
    const uint8_t zero[64] = {0};
    unsigned n = 77, first = 77;
    bool made = true;
    assert_fails(cuzk_filecoin_request_create(NULL, CUZK_FILECOIN_POREP, &err), CUZK_E_ARGUMENT,
                 "request");
    static const int no_kinds[] = {-1, 0, CUZK_FILECOIN_WINNING + 1};
    for (int i = 0; i < 3; i++) {
        assert_fails(
            cuzk_filecoin_request_create(&untouched, (cuzk_filecoin_kind)no_kinds[i], &err),
            CUZK_E_ARGUMENT, "kind");
    }
    assert_ptr_equal(untouched, (void *)(uintptr_t)1);
    assert_ok(cuzk_filecoin_request_create(&r, CUZK_FILECOIN_WINDOW, &err));
    NULL_REFUSED("request", cuzk_filecoin_request_set, NULL, "miner_id", "1");
    NULL_REFUSED("field", cuzk_filecoin_request_set, r, NULL, "1");
    NULL_REFUSED("text", cuzk_filecoin_request_set, r, "miner_id", NULL);
    NULL_REFUSED("request", cuzk_filecoin_request_add_sector, NULL, 1, zero);
    NULL_REFUSED("comm_r", cuzk_filecoin_request_add_sector, r, 1, NULL);
    NULL_REFUSED("request", cuzk_filecoin_request_read_json, NULL, "{}", 2);
    NULL_REFUSED("json", cuzk_filecoin_request_read_json, r, NULL, 2);
    NULL_REFUSED("request", cuzk_filecoin_request_add_vanilla, NULL, zero, 1);
    NULL_REFUSED("data", cuzk_filecoin_request_add_vanilla, r, NULL, 1);
    NULL_REFUSED("n_partitions", cuzk_filecoin_request_partitions, NULL, r);
    NULL_REFUSED("request", cuzk_filecoin_request_partitions, &n, NULL);
    NULL_REFUSED("ctx", cuzk_filecoin_vkey_open_file, NULL, &v, r, "x", false);
    NULL_REFUSED("vkey", cuzk_filecoin_vkey_open_file, ctx, NULL, r, "x", false);
    NULL_REFUSED("request", cuzk_filecoin_vkey_open_file, ctx, &v, NULL, "x", false);
    NULL_REFUSED("ctx", cuzk_filecoin_verify, NULL, &first, vkey, r, zero, 64);
    NULL_REFUSED("vkey", cuzk_filecoin_verify, ctx, &first, NULL, r, zero, 64);
    NULL_REFUSED("request", cuzk_filecoin_verify, ctx, &first, vkey, NULL, zero, 64);
    NULL_REFUSED("proof", cuzk_filecoin_verify, ctx, &first, vkey, r, NULL, 64);
    NULL_REFUSED("ctx", cuzk_filecoin_check, NULL, r);
    NULL_REFUSED("request", cuzk_filecoin_check, ctx, NULL);
    NULL_REFUSED("ctx", cuzk_filecoin_key_open, NULL, &k, r, NULL);
    NULL_REFUSED("key", cuzk_filecoin_key_open, ctx, NULL, r, NULL);
    NULL_REFUSED("request", cuzk_filecoin_key_open, ctx, &k, NULL, NULL);
    NULL_REFUSED("key", cuzk_filecoin_prove, ctx, &p, NULL, r, NULL);
    NULL_REFUSED("proof", cuzk_filecoin_proof_write_file, NULL, "x", CUZK_FILECOIN_RAW);
    NULL_REFUSED("ctx", cuzk_filecoin_setup, NULL, &made, CUZK_FILECOIN_WINNING, "2KiB", NULL);
    NULL_REFUSED("sector_size", cuzk_filecoin_setup, ctx, &made, CUZK_FILECOIN_WINNING, NULL, NULL);
    assert_int_equal(n, 77);
    assert_int_equal(first, 77);
    assert_true(made);
    assert_ptr_equal(k, (void *)(uintptr_t)1);
    assert_ptr_equal(p, (void *)(uintptr_t)1);
    assert_ptr_equal(v, (void *)(uintptr_t)1);
    /* what was refused has left no trace: the field can still be set */
    assert_ok(cuzk_filecoin_request_set(r, "miner_id", "1", &err));
    cuzk_filecoin_request_destroy(r);
    cuzk_filecoin_request_destroy(NULL);
    cuzk_filecoin_key_close(NULL);
    cuzk_filecoin_proof_destroy(NULL);
}

/* ---- structs --------------------------------------------------------------------------------- */

/* struct_bytes of 0, of less than itself, and of a later version are refused; of an earlier one,
 * with fewer members, not: the call goes on to what is wrong otherwise. */
#define CHECK_STRUCT(type, init, call)                                                             \
    do {                                                                                           \
        type o = init;                                                                             \
        static const size_t wrong[] = {0, 1, sizeof(size_t) - 1, sizeof(type) + 1, SIZE_MAX};      \
        for (size_t i_ = 0; i_ < sizeof wrong / sizeof wrong[0]; i_++) {                           \
            o.struct_bytes = wrong[i_];                                                            \
            assert_fails(call, CUZK_E_ARGUMENT, "struct_bytes");                                   \
        }                                                                                          \
    } while (0)

static void test_structs(void **state)
{
    (void)state;
    cuzk_ctx *c = NULL;
    cuzk_key *k = NULL;
    cuzk_proof *p = NULL;
    const void *z = bls.zkey.data, *w = bls.wtns.data;
    CHECK_STRUCT(cuzk_ctx_options, CUZK_CTX_OPTIONS_INIT, cuzk_ctx_create(&c, &o, &err));
    CHECK_STRUCT(cuzk_key_options, CUZK_KEY_OPTIONS_INIT,
                 cuzk_key_open(ctx, &k, z, bls.zkey.size, &o, &err));
    CHECK_STRUCT(cuzk_key_options, CUZK_KEY_OPTIONS_INIT,
                 cuzk_key_open_file(ctx, &k, "none", &o, &err));
    CHECK_STRUCT(cuzk_prove_options, CUZK_PROVE_OPTIONS_INIT,
                 cuzk_prove(ctx, &p, key, w, bls.wtns.size, &o, &err));
    CHECK_STRUCT(cuzk_setup_options, CUZK_SETUP_OPTIONS_INIT, cuzk_setup_file(ctx, "x", &o, &err));
    CHECK_STRUCT(cuzk_check_options, CUZK_CHECK_OPTIONS_INIT,
                 cuzk_check_file(ctx, "x", &o, report, NULL, &err));
    assert_null(c);
    assert_null(k);
    assert_null(p);
    /* an earlier version's struct: only its own size */
    cuzk_key_options early = CUZK_KEY_OPTIONS_INIT;
    early.struct_bytes = sizeof early.struct_bytes;
    early.r1cs_path = "not read";
    assert_ok(cuzk_key_open(ctx, &k, z, bls.zkey.size, &early, &err));
    cuzk_key_close(k);
}

/* ---- buffers --------------------------------------------------------------------------------- */

enum { GUARD = 0xa5 };

/* Every size up to the right one. write: the call with a buffer of n bytes. */
static void check_sizes(size_t size, size_t size_max,
                        cuzk_status (*write)(void *out, size_t n, cuzk_form form), cuzk_form form)
{
    assert_true(size > 0 && size <= size_max);
    uint8_t *buffer = malloc(size + 8);
    assert_non_null(buffer);
    size_t step = size < 300 ? 1 : 7;
    for (size_t n = 0; n < size; n += step) {
        memset(buffer, GUARD, size + 8);
        assert_fails(write(buffer, n, form), CUZK_E_SHORT_BUFFER, "");
        for (size_t i = n; i < size + 8; i++) {
            assert_int_equal(buffer[i], GUARD);
        }
    }
    memset(buffer, GUARD, size + 8);
    assert_ok(write(buffer, size, form));
    for (size_t i = size; i < size + 8; i++) {
        assert_int_equal(buffer[i], GUARD);
    }
    if (form != CUZK_FORM_BYTES) {
        assert_int_equal(strlen((char *)buffer), size - 1);
    }
    /* more room than needed */
    assert_ok(write(buffer, size + 8, form));
    free(buffer);
}

static cuzk_status write_proof(void *out, size_t n, cuzk_form form)
{
    return cuzk_proof_write(proof, out, n, form, &err);
}

static cuzk_status write_public(void *out, size_t n, cuzk_form form)
{
    return cuzk_proof_public_write(proof, out, n, form, &err);
}

static cuzk_status write_vkey(void *out, size_t n, cuzk_form form)
{
    return cuzk_vkey_write(vkey, out, n, form, &err);
}

static void test_buffers(void **state)
{
    (void)state;
    for (int f = CUZK_FORM_SNARKJS; f <= CUZK_FORM_BYTES; f++) {
        cuzk_form form = (cuzk_form)f;
        check_sizes(cuzk_proof_size(proof, form), cuzk_proof_size_max("bls12381", form),
                    write_proof, form);
        assert_true(cuzk_proof_size_max(NULL, form) >= cuzk_proof_size_max("bls12381", form));
        if (form != CUZK_FORM_BYTES) {
            check_sizes(cuzk_proof_public_size(proof, form), cuzk_public_size_max(1, form),
                        write_public, form);
        }
        if (form != CUZK_FORM_COMPACT) {
            check_sizes(cuzk_vkey_size(vkey, form), SIZE_MAX, write_vkey, form);
        }
    }
    /* forms that there are not */
    uint8_t out[4096];
    static const int none[] = {-1, 3, 99};
    for (int i = 0; i < 3; i++) {
        cuzk_form form = (cuzk_form)none[i];
        assert_int_equal(cuzk_proof_size(proof, form), 0);
        assert_int_equal(cuzk_proof_size_max("bls12381", form), 0);
        assert_int_equal(cuzk_public_size_max(3, form), 0);
        assert_int_equal(cuzk_vkey_size(vkey, form), 0);
        assert_fails(write_proof(out, sizeof out, form), CUZK_E_ARGUMENT, "form");
        assert_fails(write_public(out, sizeof out, form), CUZK_E_ARGUMENT, "form");
        assert_fails(write_vkey(out, sizeof out, form), CUZK_E_ARGUMENT, "form");
    }
    assert_int_equal(cuzk_proof_public_size(proof, CUZK_FORM_BYTES), 0);
    assert_int_equal(cuzk_vkey_size(vkey, CUZK_FORM_COMPACT), 0);
    assert_int_equal(cuzk_proof_size_max("bn128", CUZK_FORM_BYTES), 0);
    assert_int_equal(cuzk_proof_size_max("secp256k1", CUZK_FORM_SNARKJS), 0);
}

/* Keys, proofs and witnesses of the other curve. */
static void test_other_curve(void **state)
{
    (void)state;
    cuzk_proof *p = NULL;
    assert_fails(cuzk_prove(ctx, &p, key, bn254.wtns.data, bn254.wtns.size, NULL, &err),
                 CUZK_E_MISMATCH, "bn128");
    assert_null(p);
    assert_int_not_equal(cuzk_verify(ctx, vkey, bn254.proof.data, bn254.proof.size,
                                     bn254.public_values.data, bn254.public_values.size, &err),
                         CUZK_OK);
    assert_fails(cuzk_check_witness(ctx, NULL, bls.r1cs.data, bls.r1cs.size, bn254.wtns.data,
                                    bn254.wtns.size, &err),
                 CUZK_E_MISMATCH, "bn128");
    /* files in each other's places: each is named for what it is */
    cuzk_key *k = NULL;
    cuzk_vkey *v = NULL;
    assert_fails(cuzk_key_open(ctx, &k, bls.wtns.data, bls.wtns.size, NULL, &err), CUZK_E_FORMAT,
                 "wtns");
    assert_fails(cuzk_key_open(ctx, &k, bls.r1cs.data, bls.r1cs.size, NULL, &err), CUZK_E_FORMAT,
                 "r1cs");
    assert_fails(cuzk_prove(ctx, &p, key, bls.zkey.data, bls.zkey.size, NULL, &err), CUZK_E_FORMAT,
                 "zkey");
    assert_fails(cuzk_vkey_open(ctx, &v, bls.wtns.data, bls.wtns.size, false, &err), CUZK_E_FORMAT,
                 "wtns");
    assert_fails(cuzk_check_witness(ctx, NULL, bls.zkey.data, bls.zkey.size, bls.wtns.data,
                                    bls.wtns.size, &err),
                 CUZK_E_FORMAT, "zkey");
    assert_null(k);
    assert_null(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_keys_and_proofs),
        cmocka_unit_test(test_null_verifying),
        cmocka_unit_test(test_null_files),
        cmocka_unit_test(test_null_filecoin),
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_other_curve),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
