/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What cuzk.h promises about whole proofs: a proof is valid exactly as it was made; the first
 * invalid one of a batch is told, whatever is wrong with it and with later ones; the same secret
 * values give the same bytes by every way to the same key; calls with paths do what those with
 * memory do, and name the path; outputs keep their value when a call fails. */
#include "api_test.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_error err;
static cuzk_ctx *ctx;
static circuit bn254, bls;

static int setup(void **state)
{
    (void)state;
    bn254 = circuit_open("circom/bn254/multiplier2");
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

static cuzk_vkey *open_vkey(const circuit *c)
{
    cuzk_vkey *vkey = NULL;
    assert_ok(cuzk_vkey_open(ctx, &vkey, c->vkey.data, c->vkey.size, false, &err));
    return vkey;
}

/* ---- valid, or not --------------------------------------------------------------------------- */

/* Every digit of proof and public values, as every other digit once: never valid, never anything
 * but an invalid proof. */
static void test_every_digit(void **state)
{
    (void)state;
    const circuit *circuits[] = {&bn254, &bls};
    for (int k = 0; k < 2; k++) {
        const circuit *c = circuits[k];
        cuzk_vkey *vkey = open_vkey(c);
        char *proof = strdup((const char *)c->proof.data);
        char *values = strdup((const char *)c->public_values.data);
        assert_true(proof != NULL && values != NULL);
        unsigned n_tried = 0;
        for (int which = 0; which < 2; which++) {
            char *text = which == 0 ? proof : values;
            /* names of keys, of the curve and "1" and "0" of the third coordinates are no numbers
             * of the proof */
            for (char *p = text; *p != '\0'; p++) {
                size_t run = strspn(p, "0123456789");
                if (run < (which == 0 ? 20u : 1u)) {
                    p += run > 0 ? run - 1 : 0;
                    continue;
                }
                for (size_t i = 0; i < run; i += which == 0 ? 3 : 1) {
                    char good = p[i];
                    p[i] = (char)('0' + (good - '0' + 1 + (int)(i % 8)) % 10);
                    assert_fails(
                        cuzk_verify(ctx, vkey, proof, strlen(proof), values, strlen(values), &err),
                        CUZK_E_INVALID_PROOF, "");
                    p[i] = good;
                    n_tried++;
                }
                p += run - 1;
            }
        }
        assert_true(n_tried > 200);
        assert_ok(cuzk_verify(ctx, vkey, proof, strlen(proof), values, strlen(values), &err));
        free(proof);
        free(values);
        cuzk_vkey_close(vkey);
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

enum { BATCH = 6 };

/* Ways in which a pair is no valid proof. */
enum fault { NONE, OTHER_VALUE, LARGE_VALUE, OFF_CURVE, SWAPPED_POINTS, FAULTS };

static cuzk_bytes bytes_of(const char *text)
{
    return (cuzk_bytes){text, strlen(text)};
}

/* proof.json with one digit of a coordinate changed, so that the point is off its curve. */
static char *off_curve(const circuit *c)
{
    char *text = strdup((const char *)c->proof.data);
    char *x = strchr(strchr(text, '[') + 1, '"') + 5;
    *x = *x == '1' ? '2' : '1';
    return text;
}

/* A proof with pi_c in the place of pi_a and the other way round: valid points. */
static char *swapped_points(const circuit *c)
{
    char *text = strdup((const char *)c->proof.data);
    *(strstr(text, "pi_a") + 3) = 'x';
    *(strstr(text, "pi_c") + 3) = 'a';
    *(strstr(text, "pi_x") + 3) = 'c';
    return text;
}

static void test_first_of_batch(void **state)
{
    (void)state;
    const circuit *c = &bls;
    cuzk_vkey *vkey = open_vkey(c);
    char *off = off_curve(c), *swapped = swapped_points(c);
    const cuzk_bytes good_proof = {c->proof.data, c->proof.size};
    const cuzk_bytes good_values = {c->public_values.data, c->public_values.size};
    const cuzk_bytes large = bytes_of("[\"99999999999999999999999999999999999999999999999999999999"
                                      "99999999999999999999999\"]");
    const struct {
        cuzk_bytes proof, values;
    } pairs[FAULTS] = {[NONE] = {good_proof, good_values},
                       [OTHER_VALUE] = {good_proof, bytes_of("[\"5\"]")},
                       [LARGE_VALUE] = {good_proof, large},
                       [OFF_CURVE] = {bytes_of(off), good_values},
                       [SWAPPED_POINTS] = {bytes_of(swapped), good_values}};
    for (int f = OTHER_VALUE; f < FAULTS; f++) {
        assert_fails(cuzk_verify(ctx, vkey, pairs[f].proof.data, pairs[f].proof.n_bytes,
                                 pairs[f].values.data, pairs[f].values.n_bytes, &err),
                     CUZK_E_INVALID_PROOF, "");
    }
    for (int first = OTHER_VALUE; first < FAULTS; first++) {
        for (int later = NONE; later < FAULTS; later++) {
            for (size_t at = 0; at + 1 < BATCH; at += 2) {
                cuzk_bytes proofs[BATCH], values[BATCH];
                for (size_t i = 0; i < BATCH; i++) {
                    int f = i == at ? first : i > at && i % 2 == 1 ? later : NONE;
                    proofs[i] = pairs[f].proof;
                    values[i] = pairs[f].values;
                }
                size_t told = 99;
                char index[16];
                snprintf(index, sizeof index, "%zu", at);
                assert_fails(cuzk_verify_batch(ctx, &told, vkey, proofs, values, BATCH, &err),
                             CUZK_E_INVALID_PROOF, index);
                assert_int_equal(told, at);
                assert_fails(cuzk_verify_batch(ctx, NULL, vkey, proofs, values, BATCH, &err),
                             CUZK_E_INVALID_PROOF, index);
            }
        }
    }
    /* what is no proof at all comes first, and leaves the index alone */
    cuzk_bytes proofs[2] = {pairs[NONE].proof, good_values};
    cuzk_bytes values[2] = {pairs[NONE].values, good_values};
    size_t told = 99;
    assert_fails(cuzk_verify_batch(ctx, &told, vkey, proofs, values, 2, &err), CUZK_E_FORMAT,
                 "pair 1: proof: ");
    assert_int_equal(told, 99);
    free(off);
    free(swapped);
    cuzk_vkey_close(vkey);
}

/* Both forms of a proof in one batch; proofs of the other curve are told. */
static void test_forms_in_batch(void **state)
{
    (void)state;
    cuzk_vkey *vkey = open_vkey(&bls), *other = open_vkey(&bn254);
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    char json[4096], values[256];
    uint8_t binary[192];
    assert_ok(cuzk_key_open(ctx, &key, bls.zkey.data, bls.zkey.size, NULL, &err));
    assert_ok(cuzk_prove(ctx, &proof, key, bls.wtns.data, bls.wtns.size, NULL, &err));
    assert_ok(cuzk_proof_write(proof, json, sizeof json, CUZK_FORM_COMPACT, &err));
    assert_ok(cuzk_proof_write(proof, binary, sizeof binary, CUZK_FORM_BYTES, &err));
    assert_ok(cuzk_proof_public_write(proof, values, sizeof values, CUZK_FORM_SNARKJS, &err));
    const cuzk_bytes proofs[3] = {bytes_of(json), {binary, sizeof binary}, bytes_of(json)};
    const cuzk_bytes all_values[3] = {bytes_of(values), bytes_of(values), bytes_of(values)};
    assert_ok(cuzk_verify_batch(ctx, NULL, vkey, proofs, all_values, 3, &err));
    for (unsigned bit = 0; bit < 8 * sizeof binary; bit += 31) {
        binary[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_fails(cuzk_verify_batch(ctx, NULL, vkey, proofs, all_values, 3, &err),
                     CUZK_E_INVALID_PROOF, "1");
        binary[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    assert_fails(cuzk_verify_batch(ctx, NULL, other, proofs, all_values, 3, &err), CUZK_E_MISMATCH,
                 "pair 0: ");
    assert_fails(cuzk_verify(ctx, other, binary, sizeof binary, values, strlen(values), &err),
                 CUZK_E_MISMATCH, "bellperson's form");
    /* 192 bytes that are one too few, or two proofs */
    assert_fails(cuzk_verify(ctx, vkey, binary, sizeof binary - 1, values, strlen(values), &err),
                 CUZK_E_FORMAT, "expected 192");
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
    cuzk_vkey_close(vkey);
    cuzk_vkey_close(other);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

static void write_fixed(char out[4096], const cuzk_ctx *context, const cuzk_key *key,
                        const circuit *c, const uint8_t r[32], const uint8_t s[32])
{
    cuzk_proof *proof = NULL;
    assert_ok(cuzk_prove_with_fixed_rs_for_tests(context, &proof, key, c->wtns.data, c->wtns.size,
                                                 r, s, NULL, &err));
    assert_ok(cuzk_proof_write(proof, out, 4096, CUZK_FORM_SNARKJS, &err));
    cuzk_proof_destroy(proof);
}

/* A key from a file or from memory, with pages dropped or not, with its circuit or not, any number
 * of threads. */
static void test_same_bytes(void **state)
{
    (void)state;
    static const char *const folders[] = {"bn254", "bls12381"};
    const circuit *circuits[] = {&bn254, &bls};
    for (int k = 0; k < 2; k++) {
        char name[64], first[4096], text[4096];
        snprintf(name, sizeof name, "circom/%s/multiplier2/circuit.zkey", folders[k]);
        char *path = cuzk_test_fixture_path(name);
        snprintf(name, sizeof name, "circom/%s/multiplier2/circuit.r1cs", folders[k]);
        char *r1cs_path = cuzk_test_fixture_path(name);
        uint8_t r[32] = {7, 0, 1}, s[32] = {9, 3};
        for (unsigned threads = 1; threads <= 3; threads++) {
            cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
            cuzk_ctx *own = NULL;
            options.n_threads = threads;
            assert_ok(cuzk_ctx_create(&own, &options, &err));
            for (unsigned way = 0; way < 6; way++) {
                cuzk_key_options o = CUZK_KEY_OPTIONS_INIT;
                cuzk_key *key = NULL;
                o.drop_pages = way % 2 == 1;
                o.r1cs_path = way / 2 == 1 ? r1cs_path : NULL;
                o.r1cs = way / 2 == 2 ? (cuzk_bytes){circuits[k]->r1cs.data, circuits[k]->r1cs.size}
                                      : (cuzk_bytes){NULL, 0};
                if (way % 2 == 0) {
                    assert_ok(cuzk_key_open(own, &key, circuits[k]->zkey.data,
                                            circuits[k]->zkey.size, &o, &err));
                } else {
                    assert_ok(cuzk_key_open_file(own, &key, path, &o, &err));
                }
                write_fixed(threads == 1 && way == 0 ? first : text, own, key, circuits[k], r, s);
                if (threads > 1 || way > 0) {
                    assert_string_equal(text, first);
                }
                write_fixed(text, own, key, circuits[k], s, r); /* other values, another proof */
                assert_string_not_equal(text, first);
                cuzk_key_close(key);
            }
            cuzk_ctx_destroy(own);
        }
        free(path);
        free(r1cs_path);
    }
}

/* r and s must be below the order: the order itself, all ones; r - 1 is fine. */
static void test_bounds_of_rs(void **state)
{
    (void)state;
    static const uint8_t order[32] = {0x01, 0x00, 0x00, 0xf0, 0x93, 0xf5, 0xe1, 0x43,
                                      0x91, 0x70, 0xb9, 0x79, 0x48, 0xe8, 0x33, 0x28,
                                      0x5d, 0x58, 0x81, 0x81, 0xb6, 0x45, 0x50, 0xb8,
                                      0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e, 0x64, 0x30};
    uint8_t good[32] = {1}, bad[32], largest[32];
    cuzk_key *key = NULL;
    cuzk_proof *proof = NULL;
    char text[4096];
    assert_ok(cuzk_key_open(ctx, &key, bn254.zkey.data, bn254.zkey.size, NULL, &err));
    memcpy(largest, order, 32);
    largest[0] = 0;
    write_fixed(text, ctx, key, &bn254, largest, largest);
    for (int which = 0; which < 4; which++) {
        memcpy(bad, order, 32);
        if (which >= 2) {
            memset(bad, 0xff, 32);
        }
        assert_fails(cuzk_prove_with_fixed_rs_for_tests(
                         ctx, &proof, key, bn254.wtns.data, bn254.wtns.size,
                         which % 2 == 0 ? bad : good, which % 2 == 0 ? good : bad, NULL, &err),
                     CUZK_E_ARGUMENT, "order");
        assert_null(proof);
    }
    cuzk_key_close(key);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void put(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_witness_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-api-XXXXXX", path[64], r1cs[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/w.wtns", folder);
    snprintf(r1cs, sizeof r1cs, "%s/c.r1cs", folder);
    put(path, bn254.wtns.data, bn254.wtns.size);
    put(r1cs, bn254.r1cs.data, bn254.r1cs.size);
    cuzk_key *key = NULL, *with_circuit = NULL;
    cuzk_proof *proof = NULL;
    uint64_t broken = 99;
    assert_ok(cuzk_key_open(ctx, &key, bn254.zkey.data, bn254.zkey.size, NULL, &err));
    assert_ok(cuzk_prove_file(ctx, &proof, key, path, NULL, &err));
    cuzk_proof_destroy(proof);
    proof = NULL;
    assert_ok(cuzk_check_witness_file(ctx, &broken, r1cs, path, &err));
    assert_int_equal(broken, 99);
    /* what is not there, or is a folder */
    assert_fails(cuzk_prove_file(ctx, &proof, key, "/none.wtns", NULL, &err), CUZK_E_FILE, "/none");
    assert_fails(cuzk_prove_file(ctx, &proof, key, folder, NULL, &err), CUZK_E_FILE, folder);
    assert_fails(cuzk_check_witness_file(ctx, NULL, "/none.r1cs", path, &err), CUZK_E_FILE,
                 "/none.r1cs");
    assert_fails(cuzk_check_witness_file(ctx, NULL, r1cs, "/none.wtns", &err), CUZK_E_FILE,
                 "/none.wtns");
    assert_fails(cuzk_check_witness_file(ctx, NULL, path, r1cs, &err), CUZK_E_FORMAT, path);
    /* a value that is changed: by name, the key without its circuit does not know the constraint */
    uint8_t *values = bn254.wtns.data + bn254.wtns.size - 32;
    values[0] ^= 1;
    put(path, bn254.wtns.data, bn254.wtns.size);
    assert_fails(cuzk_check_witness_file(ctx, &broken, r1cs, path, &err), CUZK_E_UNSATISFIED,
                 "constraint 0");
    assert_int_equal(broken, 0);
    assert_non_null(strstr(err.text, path));
    assert_fails(cuzk_prove_file(ctx, &proof, key, path, NULL, &err), CUZK_E_UNSATISFIED, path);
    /* with it the constraint is named; with another's file that is said instead */
    cuzk_key_options o = CUZK_KEY_OPTIONS_INIT;
    o.r1cs_path = r1cs;
    assert_ok(cuzk_key_open(ctx, &with_circuit, bn254.zkey.data, bn254.zkey.size, &o, &err));
    assert_fails(cuzk_prove_file(ctx, &proof, with_circuit, path, NULL, &err), CUZK_E_UNSATISFIED,
                 "constraint 0");
    put(r1cs, "r1cs", 4);
    assert_fails(cuzk_prove_file(ctx, &proof, with_circuit, path, NULL, &err), CUZK_E_UNSATISFIED,
                 "cannot be used");
    unlink(r1cs);
    assert_fails(cuzk_prove_file(ctx, &proof, with_circuit, path, NULL, &err), CUZK_E_UNSATISFIED,
                 r1cs);
    /* a witness that is too long, of another curve, cut */
    put(path, bls.wtns.data, bls.wtns.size);
    assert_fails(cuzk_prove_file(ctx, &proof, key, path, NULL, &err), CUZK_E_MISMATCH, "bls12381");
    for (size_t n = 0; n < bn254.wtns.size; n += 13) {
        put(path, bn254.wtns.data, n);
        cuzk_status s = cuzk_prove_file(ctx, &proof, key, path, NULL, &err);
        assert_true(s == CUZK_E_TRUNCATED || s == CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, path));
    }
    assert_null(proof);
    values[0] ^= 1;
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    cuzk_key_close(key);
    cuzk_key_close(with_circuit);
}

/* ---- test keys ------------------------------------------------------------------------------- */

static void test_test_keys(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-api-XXXXXX", zkey[64], name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(zkey, sizeof zkey, "%s/k.test.zkey", folder);
    char *r1cs = cuzk_test_fixture_path("circom/bn254/multiplier2/circuit.r1cs");
    static const char trapdoor[] = "{\"tau\":\"11\",\"alpha\":\"12\",\"beta\":\"13\","
                                   "\"gamma\":\"14\",\"delta\":\"15\"}";
    cuzk_setup_options o = CUZK_SETUP_OPTIONS_INIT;
    snprintf(name, sizeof name, "%s/k.zkey", folder);
    o.zkey_path = name; /* the name must say what it is */
    assert_fails(
        cuzk_setup_file_with_test_trapdoor(ctx, r1cs, trapdoor, sizeof trapdoor - 1, &o, &err),
        CUZK_E_ARGUMENT, "does not end in .test.EXTENSION");
    o.zkey_path = zkey;
    static const char *const bad[] = {"",
                                      "{}",
                                      "[]",
                                      "{\"tau\":\"11\",\"alpha\":\"12\",\"beta\":\"13\",\"gamma\":"
                                      "\"14\"}",
                                      "{\"tau\":\"x\",\"alpha\":\"12\",\"beta\":\"13\",\"gamma\":"
                                      "\"14\",\"delta\":\"15\"}",
                                      "{\"tau\":\"0\",\"alpha\":\"12\",\"beta\":\"13\",\"gamma\":"
                                      "\"14\",\"delta\":\"0\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_status s =
            cuzk_setup_file_with_test_trapdoor(ctx, r1cs, bad[i], strlen(bad[i]), &o, &err);
        assert_true(s == CUZK_E_FORMAT || s == CUZK_E_TRUNCATED || s == CUZK_E_ARGUMENT);
        assert_int_not_equal(access(zkey, F_OK), 0);
    }
    cuzk_bytes made[2] = {{NULL, 0}, {NULL, 0}};
    for (int i = 0; i < 2; i++) { /* nothing in it is fresh */
        assert_ok(
            cuzk_setup_file_with_test_trapdoor(ctx, r1cs, trapdoor, sizeof trapdoor - 1, &o, &err));
        FILE *f = fopen(zkey, "r");
        struct stat st;
        assert_true(f != NULL && stat(zkey, &st) == 0);
        char *data = malloc((size_t)st.st_size);
        assert_int_equal(fread(data, 1, (size_t)st.st_size, f), st.st_size);
        fclose(f);
        made[i] = (cuzk_bytes){data, (size_t)st.st_size};
    }
    assert_int_equal(made[0].n_bytes, made[1].n_bytes);
    assert_memory_equal(made[0].data, made[1].data, made[0].n_bytes);
    /* refused until it is asked for by name: as a key, and as what holds a verifying key */
    cuzk_key *key = NULL;
    cuzk_vkey *vkey = NULL;
    cuzk_key_options k = CUZK_KEY_OPTIONS_INIT;
    assert_fails(cuzk_key_open_file(ctx, &key, zkey, NULL, &err), CUZK_E_UNSUPPORTED, "test key");
    assert_fails(cuzk_key_open(ctx, &key, made[0].data, made[0].n_bytes, &k, &err),
                 CUZK_E_UNSUPPORTED, "test key");
    assert_fails(cuzk_vkey_open_file(ctx, &vkey, zkey, false, &err), CUZK_E_UNSUPPORTED,
                 "test key");
    assert_null(key);
    assert_null(vkey);
    k.allow_test_key = true;
    assert_ok(cuzk_key_open_file(ctx, &key, zkey, &k, &err));
    cuzk_key_info info;
    cuzk_key_get_info(&info, key);
    assert_true(info.is_test_key);
    cuzk_proof *proof = NULL;
    char text[4096];
    assert_ok(cuzk_prove(ctx, &proof, key, bn254.wtns.data, bn254.wtns.size, NULL, &err));
    assert_ok(cuzk_proof_write(proof, text, sizeof text, CUZK_FORM_SNARKJS, &err));
    assert_ok(cuzk_vkey_from_key(ctx, &vkey, key, &err));
    assert_ok(cuzk_verify(ctx, vkey, text, strlen(text), bn254.public_values.data,
                          bn254.public_values.size, &err));
    cuzk_vkey_close(vkey);
    cuzk_proof_destroy(proof);
    cuzk_key_close(key);
    free((void *)(uintptr_t)made[0].data);
    free((void *)(uintptr_t)made[1].data);
    unlink(zkey);
    assert_int_equal(rmdir(folder), 0);
    free(r1cs);
}

/* ---- outputs on failure ---------------------------------------------------------------------- */

static void test_outputs_are_left_alone(void **state)
{
    (void)state;
    cuzk_key *const key_mark = (cuzk_key *)(uintptr_t)&ctx, *key = key_mark;
    cuzk_vkey *const vkey_mark = (cuzk_vkey *)(uintptr_t)&err, *vkey = vkey_mark;
    char *const text_mark = (char *)(uintptr_t)&bls, *text = text_mark;
    cuzk_ctx *const ctx_mark = (cuzk_ctx *)(uintptr_t)&bn254, *made = ctx_mark;
    for (size_t n = 0; n < bn254.zkey.size; n += 97) {
        assert_int_not_equal(cuzk_key_open(ctx, &key, bn254.zkey.data, n, NULL, &err), CUZK_OK);
        assert_int_not_equal(cuzk_vkey_open(ctx, &vkey, bn254.vkey.data, n * 9 / 10, false, &err),
                             CUZK_OK);
        assert_int_not_equal(cuzk_calldata(&text, bn254.proof.data, n / 4, bn254.public_values.data,
                                           bn254.public_values.size, &err),
                             CUZK_OK);
        assert_true(err.text[0] != '\0');
        assert_ptr_equal(key, key_mark);
        assert_ptr_equal(vkey, vkey_mark);
        assert_ptr_equal(text, text_mark);
    }
    cuzk_ctx_options o = CUZK_CTX_OPTIONS_INIT;
    assert_int_equal(setenv("CUZK_CPU", "abacus", 1), 0);
    assert_fails(cuzk_ctx_create(&made, &o, &err), CUZK_E_ARGUMENT, "abacus");
    assert_int_equal(unsetenv("CUZK_CPU"), 0);
    assert_ptr_equal(made, ctx_mark);
    cuzk_key_options device = CUZK_KEY_OPTIONS_INIT;
    static const char *const devices[] = {"",        "cuda",      "cuda:", "cuda:x", "cuda:1x",
                                          "cuda:-1", "cuda:1234", "CPU",   "gpu:0",  " cpu"};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        device.device = devices[i];
        assert_fails(cuzk_key_open(ctx, &key, bn254.zkey.data, bn254.zkey.size, &device, &err),
                     CUZK_E_ARGUMENT, "expected cpu, cuda:N");
        assert_ptr_equal(key, key_mark);
    }
    device.device = "cpu";
    assert_ok(cuzk_key_open(ctx, &key, bn254.zkey.data, bn254.zkey.size, &device, &err));
    cuzk_key_close(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_digit),    cmocka_unit_test(test_first_of_batch),
        cmocka_unit_test(test_forms_in_batch), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_bounds_of_rs),   cmocka_unit_test(test_witness_files),
        cmocka_unit_test(test_test_keys),      cmocka_unit_test(test_outputs_are_left_alone),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
