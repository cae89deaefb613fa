/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* snarkjs's JSON and call data: its own files read and written back to the byte; old and foreign
 * spellings; damaged numbers, points and counts. BC-nnn: cases from the field, docs/formats.md. */
#define _GNU_SOURCE
#include "fixtures.h"
#include "formats/snarkjs_json.h"
#include "formats/zkey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static const char *const circuits[] = {
    "circom/bn254/multiplier2",       "circom/bn254/poseidon2_ceremony",
    "circom/bn254/manypublic",        "circom/bn254/sha256_256",
    "circom/bls12381/multiplier2",    "circom/bls12381/poseidon2",
    "circom/bls12381/multiplier1000",
};
enum { N_CIRCUITS = sizeof circuits / sizeof circuits[0] };

static const char bn254_r[] =
    "21888242871839275222246405745257275088548364400416034343698204186575808495617";
static const char bn254_r_plus_33[] =
    "21888242871839275222246405745257275088548364400416034343698204186575808495650";
static const char bn254_p[] =
    "21888242871839275222246405745257275088696311157297823662689037894645226208583";

static cuzk_fixture load(const char *folder, const char *file)
{
    char name[256];
    snprintf(name, sizeof name, "%s/%s", folder, file);
    return cuzk_test_fixture(name);
}

/* A copy of the text with the first `from` replaced by `to`. Free with free. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL) {
        print_error("\"%s\" not found\n", from);
    }
    assert_non_null(at);
    char *out = NULL;
    assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >= 0);
    return out;
}

static cuzk_status read_vk(const char *text, unsigned *notes, cuzk_error *err)
{
    cuzk_vk vk;
    cuzk_status status =
        cuzk_vk_from_json(&vk, (const uint8_t *)text, strlen(text), notes, NULL, err);
    if (status == CUZK_OK) {
        cuzk_vk_clear(&vk);
    }
    return status;
}

static void test_same_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < N_CIRCUITS; i++) {
        cuzk_fixture fvk = load(circuits[i], "verification_key.json");
        cuzk_fixture fproof = load(circuits[i], "proof.json");
        cuzk_fixture fpublic = load(circuits[i], "public.json");
        cuzk_error err = {0};
        unsigned notes = 99;
        cuzk_vk vk;
        cuzk_proof_points proof;
        assert_int_equal(cuzk_vk_from_json(&vk, fvk.data, fvk.size, &notes, NULL, &err), CUZK_OK);
        assert_int_equal(notes, 0);
        assert_false(vk.has_g1_pair);
        assert_int_equal(
            cuzk_proof_from_json(&proof, fproof.data, fproof.size, vk.curve, &notes, &err),
            CUZK_OK);
        assert_int_equal(notes, 0);
        uint64_t n_public = vk.n_ic - 1;
        uint8_t *values = malloc(n_public * 32);
        assert_non_null(values);
        uint64_t counted = 0;
        assert_int_equal(cuzk_public_json_count(&counted, fpublic.data, fpublic.size, &err),
                         CUZK_OK);
        assert_int_equal(counted, n_public);
        assert_int_equal(
            cuzk_public_from_json(values, n_public, fpublic.data, fpublic.size, vk.curve, &err),
            CUZK_OK);
        cuzk_text text = {0};
        cuzk_vk_to_json(&text, &vk);
        assert_int_equal(text.size, fvk.size);
        assert_memory_equal(text.data, fvk.data, fvk.size);
        cuzk_text_clear(&text);
        cuzk_proof_to_json(&text, &proof, CUZK_JSON_INDENTED);
        assert_int_equal(text.size, fproof.size);
        assert_memory_equal(text.data, fproof.data, fproof.size);
        assert_in_range(cuzk_proof_json_bytes_max(vk.curve, CUZK_JSON_INDENTED) - text.size, 0, 24);
        cuzk_text_clear(&text);
        cuzk_public_to_json(&text, values, n_public, CUZK_JSON_INDENTED);
        assert_int_equal(text.size, fpublic.size);
        assert_memory_equal(text.data, fpublic.data, fpublic.size);
        assert_true(text.size <=
                    cuzk_public_json_bytes_max(vk.curve, n_public, CUZK_JSON_INDENTED));
        cuzk_text_clear(&text);
        free(values);
        cuzk_vk_clear(&vk);
        cuzk_test_fixture_free(&fvk);
        cuzk_test_fixture_free(&fproof);
        cuzk_test_fixture_free(&fpublic);
    }
}

/* A key's own verifying key, in all its points, is what snarkjs exported. */
static void test_vk_of_a_zkey(void **state)
{
    (void)state;
    for (int i = 0; i < N_CIRCUITS; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/circuit.zkey", circuits[i]);
        if (!cuzk_test_fixture_exists(name)) {
            continue;
        }
        cuzk_fixture z = cuzk_test_fixture(name);
        cuzk_fixture fvk = load(circuits[i], "verification_key.json");
        cuzk_zkey key;
        cuzk_text text = {0};
        assert_int_equal(cuzk_zkey_open(&key, z.data, z.size, NULL), CUZK_OK);
        cuzk_vk_to_json(&text, &key.vk);
        assert_int_equal(text.size, fvk.size);
        assert_memory_equal(text.data, fvk.data, fvk.size);
        cuzk_text_clear(&text);
        cuzk_test_fixture_free(&z);
        cuzk_test_fixture_free(&fvk);
    }
}

static void test_compact(void **state)
{
    (void)state;
    for (int i = 0; i < N_CIRCUITS; i++) {
        cuzk_fixture f = load(circuits[i], "proof.json");
        cuzk_proof_points proof;
        cuzk_proof_points again;
        cuzk_text text = {0};
        assert_int_equal(cuzk_proof_from_json(&proof, f.data, f.size, NULL, NULL, NULL), CUZK_OK);
        cuzk_proof_to_json(&text, &proof, CUZK_JSON_COMPACT);
        assert_null(strpbrk(text.data, " \n"));
        char start[64];
        snprintf(start, sizeof start, "{\"curve\":\"%s\",\"pi_a\":[\"", proof.curve->snarkjs_name);
        assert_memory_equal(text.data, start, strlen(start));
        assert_string_equal(text.data + text.size - 22, ",\"protocol\":\"groth16\"}");
        assert_in_range(cuzk_proof_json_bytes_max(proof.curve, CUZK_JSON_COMPACT) - text.size, 0,
                        24);
        assert_int_equal(cuzk_proof_from_json(&again, (const uint8_t *)text.data, text.size,
                                              proof.curve, NULL, NULL),
                         CUZK_OK);
        assert_memory_equal(&again, &proof, sizeof proof);
        cuzk_text_clear(&text);
        cuzk_test_fixture_free(&f);
    }
}

/* Points at infinity: written as snarkjs writes them, and read back. */
static void test_infinity(void **state)
{
    (void)state;
    for (int style = 0; style < 2; style++) {
        cuzk_proof_points proof = {.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381)};
        cuzk_proof_points again;
        cuzk_text text = {0};
        cuzk_proof_to_json(&text, &proof, (cuzk_json_style)style);
        if (style == CUZK_JSON_COMPACT) {
            assert_string_equal(text.data,
                                "{\"curve\":\"bls12381\",\"pi_a\":[\"0\",\"1\",\"0\"],\"pi_b\":[["
                                "\"0\",\"0\"],[\"1\",\"0\"],[\"0\",\"0\"]],\"pi_c\":[\"0\",\"1\","
                                "\"0\"],\"protocol\":\"groth16\"}");
        }
        assert_int_equal(
            cuzk_proof_from_json(&again, (const uint8_t *)text.data, text.size, NULL, NULL, NULL),
            CUZK_OK);
        assert_memory_equal(&again, &proof, sizeof proof);
        cuzk_text_clear(&text);
    }
}

/* BC-017, BC-026 */
static void test_public_values(void **state)
{
    (void)state;
    const cuzk_curve *bn254 = cuzk_curve_get(CUZK_CURVE_BN254);
    cuzk_text text = {0};
    cuzk_public_to_json(&text, NULL, 0, CUZK_JSON_INDENTED);
    assert_string_equal(text.data, "[]");
    cuzk_text_clear(&text);
    cuzk_public_to_json(&text, NULL, 0, CUZK_JSON_COMPACT);
    assert_string_equal(text.data, "[]");
    cuzk_text_clear(&text);
    assert_int_equal(cuzk_public_json_bytes_max(bn254, 0, CUZK_JSON_COMPACT), 2);
    uint8_t values[3 * 32] = {7};
    memcpy(values + 64, bn254->r, 32);
    values[64]--;
    cuzk_public_to_json(&text, values, 3, CUZK_JSON_COMPACT);
    assert_string_equal(text.data,
                        "[\"7\",\"0\",\"2188824287183927522224640574525727508854836440041"
                        "6034343698204186575808495616\"]");
    cuzk_text_clear(&text);
    cuzk_public_to_json(&text, values, 2, CUZK_JSON_INDENTED);
    assert_string_equal(text.data, "[\n \"7\",\n \"0\"\n]");
    cuzk_text_clear(&text);
    /* the longest text fits the bound exactly */
    uint8_t largest[2 * 32];
    memcpy(largest, values + 64, 32);
    memcpy(largest + 32, values + 64, 32);
    for (int style = 0; style < 2; style++) {
        cuzk_public_to_json(&text, largest, 2, (cuzk_json_style)style);
        uint64_t bound = cuzk_public_json_bytes_max(bn254, 2, (cuzk_json_style)style);
        assert_in_range(bound - text.size, 0, 2);
        cuzk_text_clear(&text);
    }
}

static cuzk_status read_public(const char *text, uint64_t n, uint8_t *values, cuzk_error *err)
{
    return cuzk_public_from_json(values, n, (const uint8_t *)text, strlen(text),
                                 cuzk_curve_get(CUZK_CURVE_BN254), err);
}

/* BC-031 */
static void test_public_refused(void **state)
{
    (void)state;
    uint8_t values[4 * 32];
    char text[512];
    assert_int_equal(read_public("[]", 0, values, NULL), CUZK_OK);
    assert_int_equal(read_public(" [ \"1\" , 2 , \"0xfF\", \"0007\" ] \n", 4, values, NULL),
                     CUZK_OK);
    static const uint8_t small[] = {1, 2, 255, 7};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(values[32 * i], small[i]);
        assert_int_equal(values[32 * i + 1], 0);
    }
    static const struct {
        const char *value;
        cuzk_status status;
        const char *text;
    } bad[] = {
        {"\"%r\"", CUZK_E_INVALID_PROOF, "public signal 1 is not below the field order"},
        {"\"%s\"", CUZK_E_INVALID_PROOF, "public signal 1 is not below the field order"},
        {"%r", CUZK_E_INVALID_PROOF, "public signal 1 is not below the field order"},
        {"\"0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001\"",
         CUZK_E_INVALID_PROOF, "public signal 1 is not below the field order"},
        {"\"99999999999999999999999999999999999999999999999999999999999999999999999999999999999999"
         "99999999999999999999999999999999999999999999999999999999999999999999999999999999999999\"",
         CUZK_E_INVALID_PROOF, "public signal 1 is not below the field order"},
        {"\"-1\"", CUZK_E_FORMAT, "public signal 1: \"-1\" is not a number of decimal digits"},
        {"-1", CUZK_E_FORMAT, "public signal 1: \"-1\" is not a number"},
        {"1.5", CUZK_E_FORMAT, "public signal 1: \"1.5\" is not a number"},
        {"1e3", CUZK_E_FORMAT, "public signal 1: \"1e3\" is not a number"},
        {"\"\"", CUZK_E_FORMAT, "public signal 1: \"\" is not a number"},
        {"\"0x\"", CUZK_E_FORMAT, "public signal 1: \"0x\" is not a number"},
        {"\"0X12\"", CUZK_E_FORMAT, "public signal 1: \"0X12\" is not a number"},
        {"\"12 \"", CUZK_E_FORMAT, "public signal 1: \"12 \" is not a number"},
        {"\"1\\u0000\"", CUZK_E_FORMAT, "public signal 1: \"(a very long text)\" is not"},
        {"null", CUZK_E_FORMAT, "public signal 1: found null, expected a number"},
        {"[\"1\"]", CUZK_E_FORMAT, "public signal 1: found an array, expected a number"},
        {"{}", CUZK_E_FORMAT, "public signal 1: found an object"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *value = strdup(bad[i].value);
        char *mark = strchr(value, '%');
        if (mark != NULL) {
            char *filled = replaced(value, mark[1] == 'r' ? "%r" : "%s",
                                    mark[1] == 'r' ? bn254_r : bn254_r_plus_33);
            free(value);
            value = filled;
        }
        snprintf(text, sizeof text, "[\"33\", %s]", value);
        cuzk_error err = {0};
        cuzk_status status = read_public(text, 2, values, &err);
        if (status != bad[i].status) {
            print_error("%s: %s\n", text, err.text);
        }
        assert_int_equal(status, bad[i].status);
        assert_mentions(err.text, bad[i].text);
        free(value);
    }
    cuzk_error err = {0};
    assert_int_equal(read_public("[\"1\",\"2\",\"3\"]", 2, values, &err), CUZK_E_MISMATCH);
    assert_mentions(err.text, "3 public values, the verification key has 2");
    cuzk_error_clear(&err);
    assert_int_equal(read_public("[\"1\"] x", 1, values, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "line 1, column 7");
    assert_int_equal(read_public("[\"1\"", 1, values, NULL), CUZK_E_TRUNCATED);
}

/* BC-027, BC-028, BC-029 */
static void test_vk_spellings(void **state)
{
    (void)state;
    cuzk_fixture f = load(circuits[0], "verification_key.json");
    const char *text = (const char *)f.data;
    static const struct {
        const char *from;
        const char *to;
        cuzk_status status;
        unsigned notes;
        const char *text;
    } cases[] = {
        {"\"bn128\"", "\"bn254\"", CUZK_OK, 0, NULL},
        {"\"bn128\"", "\"BN254\"", CUZK_OK, 0, NULL},
        {"\"bn128\"", "\"alt_bn128\"", CUZK_OK, 0, NULL},
        {"\"bn128\"", "\"bls12381\"", CUZK_E_FORMAT, 0, "not on the curve"},
        {"\"bn128\"", "\"secp256k1\"", CUZK_E_UNSUPPORTED, 0, "over the curve \"secp256k1\""},
        {"\"bn128\"", "\"1234567890123456789012345678901234567890123456789012345678901234\"",
         CUZK_E_FORMAT, 0, "line 3, column 11: curve: the text is too long"},
        {"\"vk_alpha_1\": [", "\"vk_alpha_1\": 5, \"x\": [", CUZK_E_FORMAT, 0,
         "vk_alpha_1: found a number, expected an array of coordinates"},
        {"\"vk_beta_2\": [\n  [", "\"vk_beta_2\": [\n  5, [", CUZK_E_FORMAT, 0,
         "vk_beta_2: found a number, expected an array"},
        {"\"bn128\"", "5", CUZK_E_FORMAT, 0, "curve: found a number, expected a string"},
        {"\"curve\": \"bn128\",", "", CUZK_OK, CUZK_JSON_NOTE_NO_CURVE, NULL},
        {"\"protocol\": \"groth16\",", "", CUZK_OK, CUZK_JSON_NOTE_NO_PROTOCOL, NULL},
        {"\"groth16\"", "\"groth\"", CUZK_OK, CUZK_JSON_NOTE_OLD_NAMES, NULL},
        {"\"groth16\"", "\"plonk\"", CUZK_E_UNSUPPORTED, 0, "for the protocol \"plonk\""},
        {"vk_alpha_1", "vk_alfa_1", CUZK_OK, CUZK_JSON_NOTE_OLD_NAMES, NULL},
        {"vk_alphabeta_12", "vk_alfabeta_12", CUZK_OK, 0, NULL},
        {"vk_alpha_1", "vk_alphabet_1", CUZK_E_FORMAT, 0, "\"vk_alpha_1\" is missing"},
        {"vk_beta_2", "vk_x", CUZK_E_FORMAT, 0, "\"vk_beta_2\" is missing"},
        {"vk_gamma_2", "vk_x", CUZK_E_FORMAT, 0, "\"vk_gamma_2\" is missing"},
        {"vk_delta_2", "vk_x", CUZK_E_FORMAT, 0, "\"vk_delta_2\" is missing"},
        {"\"IC\"", "\"ic\"", CUZK_E_FORMAT, 0, "\"IC\" is missing"},
        {"vk_gamma_2", "vk_delta_2", CUZK_E_FORMAT, 0, "\"vk_delta_2\" occurs twice"},
        {"vk_gamma_2", "vk_gamm\\u0061_2", CUZK_OK, 0, NULL},
        {"\"nPublic\": 1", "\"nPublic\": 2", CUZK_E_FORMAT, 0, "IC: 2 points, expected 3"},
        {"\"nPublic\": 1", "\"nPublic\": 18446744073709551616", CUZK_E_FORMAT, 0, "IC: 2 points"},
        {"\"nPublic\": 1", "\"nPublic\": \"1\"", CUZK_OK, 0, NULL},
        {"\"nPublic\": 1,", "", CUZK_OK, 0, NULL},
        {"\"IC\": [", "\"IC\": 5, \"x\": [", CUZK_E_FORMAT, 0, "IC: found a number"},
        {"\"IC\": [", "\"IC\": [], \"x\": [", CUZK_E_FORMAT, 0, "IC: 0 points, expected 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = replaced(text, cases[i].from, cases[i].to);
        cuzk_error err = {0};
        unsigned notes = 0;
        cuzk_status status = read_vk(changed, &notes, &err);
        if (status != cases[i].status) {
            print_error("%s -> %s: %s\n", cases[i].from, cases[i].to, err.text);
        }
        assert_int_equal(status, cases[i].status);
        assert_int_equal(notes, cases[i].notes);
        if (cases[i].text != NULL) {
            assert_mentions(err.text, cases[i].text);
        }
        free(changed);
    }
    char words[256];
    cuzk_json_notes_text(words, sizeof words, 7, cuzk_curve_get(CUZK_CURVE_BLS12_381));
    assert_mentions(words, "\"curve\" is missing");
    assert_mentions(words, "; \"protocol\" is missing");
    assert_mentions(words, "vk_alfa_1)");
    cuzk_json_notes_text(words, sizeof words, 0, cuzk_curve_get(CUZK_CURVE_BN254));
    assert_string_equal(words, "");
    cuzk_test_fixture_free(&f);
}

static void test_vk_points(void **state)
{
    (void)state;
    cuzk_fixture f = load(circuits[0], "verification_key.json");
    const char *text = (const char *)f.data;
    const char *x = "4679498214546359095309534172827476343150540757114357263672537705555763600310";
    const char *y = "8931779078714628613304449250926330392666332701417083272817461111422571195304";
    const char *ic1 =
        "9270508127851579841906869940359188312292115976192190830511377150552141357555";
    struct {
        const char *from;
        const char *to;
        const char *text;
    } cases[] = {
        {x, "1", "verifying key, alpha (G1): point 0: not on the curve"},
        {x, bn254_p, "line 6, column 3: vk_alpha_1: coordinate is not below the base field"},
        {x, "x", "vk_alpha_1: \"x\" is not a number"},
        {ic1, "1", "verifying key, IC: point 1: not on the curve"},
        {"\"1\"\n", "\"2\"\n", "vk_alpha_1: the third coordinate is neither 1 nor 0"},
        {"\"1\"\n", "\"0\"\n", "verifying key, alpha (G1): point 0: point at infinity"},
        {"\"1\"\n", "\"1\", \"1\"\n", "vk_alpha_1: found a string, expected the end of an array"},
        {"   \"1\",\n   \"0\"\n", "   \"1\",\n   \"1\"\n", "vk_beta_2: the third coordinate"},
        {"   \"1\",\n   \"0\"\n", "   \"0\",\n   \"1\"\n", "vk_beta_2: the third coordinate"},
        {"   \"1\",\n   \"0\"\n", "   \"1\"\n", "vk_beta_2: found the end of an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = replaced(text, cases[i].from, cases[i].to);
        cuzk_error err = {0};
        assert_int_equal(read_vk(changed, NULL, &err), CUZK_E_FORMAT);
        assert_mentions(err.text, cases[i].text);
        free(changed);
    }
    /* (0, 0, 1) must not pass as infinity; a missing third coordinate means 1 */
    char *a = replaced(text, x, "0");
    char *b = replaced(a, y, "0");
    cuzk_error err = {0};
    assert_int_equal(read_vk(b, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "vk_alpha_1: not on the curve");
    free(a);
    free(b);
    a = replaced(text, ",\n  \"1\"\n", "\n");
    assert_int_equal(read_vk(a, NULL, NULL), CUZK_OK);
    free(a);
    /* an input that occurs nowhere: infinity in IC, as snarkjs writes it */
    char from[256];
    snprintf(from, sizeof from, "   \"%s\",\n", ic1);
    a = replaced(text, from, "   \"0\",\n");
    b = replaced(a, "13286220209874792903229169179145987591725324587304629775920813998268296228395",
                 "1");
    char *last = strrchr(b, '1');
    *last = '0';
    cuzk_error_clear(&err);
    assert_int_equal(read_vk(b, NULL, &err), CUZK_OK);
    free(a);
    free(b);
    cuzk_test_fixture_free(&f);
}

/* A text whose points would take much more memory than the text is refused before it is read. */
static void test_vk_memory(void **state)
{
    (void)state;
    cuzk_fixture f = load(circuits[0], "verification_key.json");
    enum { N = 3000 };
    const char *text = (const char *)f.data;
    char *tail = malloc(N * 6 + 64);
    assert_non_null(tail);
    strcpy(tail, "\"IC\": [");
    size_t n = strlen(tail);
    for (int i = 0; i < N; i++) {
        memcpy(tail + n, "[1,2],", 6);
        n += 6;
    }
    strcpy(tail + n - 1, "], \"unused\": [");
    char *a = replaced(text, "\"IC\": [", tail);
    char *b = replaced(a, "\"nPublic\": 1", "\"nPublic\": 2999");
    cuzk_error err = {0};
    assert_int_equal(read_vk(b, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "IC: 3000 points in a text of");
    free(a);
    free(b);
    free(tail);
    cuzk_test_fixture_free(&f);
}

static cuzk_status read_proof(const char *text, const cuzk_curve *curve, unsigned *notes,
                              cuzk_error *err)
{
    cuzk_proof_points proof;
    return cuzk_proof_from_json(&proof, (const uint8_t *)text, strlen(text), curve, notes, err);
}

static void test_proof_spellings(void **state)
{
    (void)state;
    cuzk_fixture f = load(circuits[0], "proof.json");
    const char *text = (const char *)f.data;
    const cuzk_curve *bn254 = cuzk_curve_get(CUZK_CURVE_BN254);
    const char *x = "13481567357258684837121126493295152941737531599423451834756096663880634953694";
    struct {
        const char *from;
        const char *to;
        cuzk_status status;
        unsigned notes;
        const char *text;
    } cases[] = {
        {",\n \"curve\": \"bn128\"", "", CUZK_OK, CUZK_JSON_NOTE_NO_CURVE, NULL},
        {" \"protocol\": \"groth16\",", "", CUZK_OK, CUZK_JSON_NOTE_NO_PROTOCOL, NULL},
        {"\"groth16\"", "\"groth\"", CUZK_OK, CUZK_JSON_NOTE_OLD_NAMES, NULL},
        {"\"groth16\"", "\"fflonk\"", CUZK_E_UNSUPPORTED, 0, "for the protocol \"fflonk\""},
        {"bn128", "bn254", CUZK_OK, 0, NULL},
        {"bn128", "bls12-381", CUZK_E_MISMATCH, 0,
         "proof is over bls12381, verification key is over bn128"},
        {"bn128", "bls12381", CUZK_E_MISMATCH, 0, "proof is over bls12381"},
        {"pi_b", "pi_x", CUZK_E_FORMAT, 0, "\"pi_b\" is missing in this proof"},
        {"pi_b", "pi_a", CUZK_E_FORMAT, 0, "\"pi_a\" occurs twice"},
        {x, "1", CUZK_E_INVALID_PROOF, 0, "proof, point A: not on the curve"},
        {x, bn254_p, CUZK_E_INVALID_PROOF, 0, "pi_a: coordinate is not below the base field"},
        {x, "x", CUZK_E_FORMAT, 0, "pi_a: \"x\" is not a number"},
        {"\"1\"\n", "\"2\"\n", CUZK_E_FORMAT, 0, "pi_a: the third coordinate"},
        {"\"1\"\n", "\"0\"\n", CUZK_OK, 0, NULL}, /* infinity: for the verifier to refuse */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = replaced(text, cases[i].from, cases[i].to);
        cuzk_error err = {0};
        unsigned notes = 0;
        cuzk_status status = read_proof(changed, bn254, &notes, &err);
        if (status != cases[i].status) {
            print_error("%s -> %s: %s\n", cases[i].from, cases[i].to, err.text);
        }
        assert_int_equal(status, cases[i].status);
        assert_int_equal(notes, cases[i].notes);
        if (cases[i].text != NULL) {
            assert_mentions(err.text, cases[i].text);
        }
        free(changed);
    }
    char *changed = replaced(text, ",\n \"curve\": \"bn128\"", "");
    cuzk_error err = {0};
    assert_int_equal(read_proof(changed, NULL, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "\"curve\" is missing");
    free(changed);
    for (uint64_t n = 0; n < f.size; n++) {
        assert_int_not_equal(
            cuzk_proof_from_json(&(cuzk_proof_points){0}, f.data, n, bn254, NULL, NULL), CUZK_OK);
    }
    cuzk_test_fixture_free(&f);
}

/* G2 of both curves has points of other orders on the curve; such a B is no proof. */
static void test_proof_subgroup(void **state)
{
    (void)state;
    /* the cofactor is huge: a point found by counting x up is outside the subgroup */
    const cuzk_curve *c = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_fixture f = load("circom/bls12381/multiplier2", "proof.json");
    cuzk_proof_points proof;
    assert_int_equal(cuzk_proof_from_json(&proof, f.data, f.size, c, NULL, NULL), CUZK_OK);
    bool found = false;
    for (uint8_t x = 1; x < 50 && !found; x++) {
        uint8_t g2[96] = {0x80};
        g2[95] = x;
        cuzk_affine p = {{0}};
        found = c->g[CUZK_G2].decode(&p, g2, CUZK_POINT_COMPRESSED, false) == CUZK_POINT_OK;
        proof.b = p;
    }
    assert_true(found);
    cuzk_error err = {0};
    cuzk_text text = {0};
    cuzk_proof_to_json(&text, &proof, CUZK_JSON_INDENTED);
    assert_int_equal(read_proof(text.data, c, NULL, &err), CUZK_E_INVALID_PROOF);
    assert_mentions(err.text, "proof, point B: not in the subgroup of order r");
    cuzk_text_clear(&text);
    cuzk_test_fixture_free(&f);
}

/* BC-030: files in each other's place */
static void test_swapped(void **state)
{
    (void)state;
    cuzk_fixture vk = load(circuits[0], "verification_key.json");
    cuzk_fixture proof = load(circuits[0], "proof.json");
    cuzk_fixture public = load(circuits[0], "public.json");
    cuzk_error err = {0};
    assert_int_equal(read_proof((char *)public.data, NULL, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "this is a list of public values (JSON), expected a proof.json");
    cuzk_error_clear(&err);
    assert_int_equal(read_proof((char *)vk.data, NULL, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "this is a verification key (JSON), expected a proof.json");
    cuzk_error_clear(&err);
    assert_int_equal(read_vk((char *)proof.data, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "this is a proof (JSON), expected a verification_key.json");
    uint8_t values[32];
    cuzk_error_clear(&err);
    assert_int_equal(read_public((char *)proof.data, 1, values, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "this is a proof (JSON), expected a public.json");
    cuzk_error_clear(&err);
    assert_int_equal(read_public("{}", 1, values, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "list of public values: found an object, expected an array");
    cuzk_error_clear(&err);
    assert_int_equal(read_vk("5", NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "verification key: found a number, expected an object");
    cuzk_error_clear(&err);
    assert_int_equal(read_vk("\x01\x02", NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "line 1, column 1: lexical error");
    cuzk_test_fixture_free(&vk);
    cuzk_test_fixture_free(&proof);
    cuzk_test_fixture_free(&public);
}

static void check_calldata(const char *folder, const char *expected, const uint8_t *values,
                           uint64_t n)
{
    cuzk_fixture fproof = load(folder, "proof.json");
    cuzk_fixture want = load(folder, expected);
    cuzk_proof_points proof;
    cuzk_text text = {0};
    assert_int_equal(cuzk_proof_from_json(&proof, fproof.data, fproof.size, NULL, NULL, NULL),
                     CUZK_OK);
    cuzk_calldata_write(&text, &proof, values, n);
    assert_int_equal(text.size, want.size);
    assert_string_equal(text.data, (const char *)want.data);
    cuzk_text_clear(&text);
    cuzk_test_fixture_free(&fproof);
    cuzk_test_fixture_free(&want);
}

/* BC-017, BC-030 */
static void test_calldata(void **state)
{
    (void)state;
    static const char *const folders[] = {
        "circom/bn254/multiplier2",    "circom/bn254/poseidon2",
        "circom/bn254/multiplier1000", "circom/bls12381/multiplier2",
        "circom/bls12381/poseidon2",   "circom/bls12381/multiplier1000",
    };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        cuzk_fixture fpublic = load(folders[i], "public.json");
        const cuzk_curve *c = cuzk_curve_get(i < 3 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        uint8_t values[8 * 32] = {0};
        uint64_t n = 0;
        assert_int_equal(cuzk_public_json_count(&n, fpublic.data, fpublic.size, NULL), CUZK_OK);
        assert_in_range(n, 1, 8);
        assert_int_equal(cuzk_public_from_json(values, n, fpublic.data, fpublic.size, c, NULL),
                         CUZK_OK);
        check_calldata(folders[i], "calldata.txt", values, n);
        cuzk_test_fixture_free(&fpublic);
        if (i % 3 == 0) {
            uint8_t edges[3 * 32] = {1};
            memcpy(edges + 64, c->r, 32);
            edges[64]--;
            check_calldata(folders[i], "calldata_edges.txt", edges, 3);
            check_calldata(folders[i], "calldata_none.txt", NULL, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),     cmocka_unit_test(test_vk_of_a_zkey),
        cmocka_unit_test(test_compact),        cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_public_values),  cmocka_unit_test(test_public_refused),
        cmocka_unit_test(test_vk_spellings),   cmocka_unit_test(test_vk_points),
        cmocka_unit_test(test_vk_memory),      cmocka_unit_test(test_proof_spellings),
        cmocka_unit_test(test_proof_subgroup), cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_calldata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
