/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kinds of files told from their bytes. */
#include "fixtures.h"
#include "formats/detect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *name;
        const char *words;
    } cases[] = {
        {"", 0, "empty", "the file is empty"},
        {"zkey", 4, "zkey", "this is a zkey file (circom proving key)"},
        {"wtns\2", 5, "wtns", "this is a wtns file (circom witness)"},
        {"r1cs", 4, "r1cs", "this is an r1cs file (circom constraints)"},
        {"ptau", 4, "ptau", "this is a ptau file (powers of tau)"},
        {"cuzkshap", 8, "shape", "this is a shape file (compiled circuit)"},
        {"cuzkshaq", 8, "unknown", "unknown kind of file, starting with bytes 63757a6b"},
        {"zke", 3, "unknown", "unknown kind of file, starting with bytes 7a6b65"},
        {"\0\1\2\3\4", 5, "unknown", "unknown kind of file, starting with bytes 00010203"},
        {"\x1f\x8b", 2, "gzip", "this is a gzip file (unpack it first)"},
        {"<html><body>404", 15, "html", "this is an HTML page"},
        {"[]", 2, "public.json", "this is a list of public values (JSON)"},
        {" [ \"1\"", 6, "public.json", "this is a list of public values (JSON)"},
        {"[[", 2, "json", "this is a JSON file"},
        {"[{}]", 4, "json", "this is a JSON file"},
        {"{}", 2, "json", "this is a JSON file"},
        {"7", 1, "json", "this is a JSON file"},
        {"{\"a\": {\"pi_a\": 1}}", 18, "json", "this is a JSON file"},
        {"{\"a\": {\"x\": 1}, \"pi_c\":", 23, "proof.json", "this is a proof (JSON)"},
        {"{\"protocol\": \"groth16\", \"IC\":[]", 31, "verification_key.json",
         "this is a verification key (JSON)"},
        {"{\"vk_alfa_1\":[]", 15, "verification_key.json", "this is a verification key (JSON)"},
        {"nonsense", 8, "unknown", "unknown kind of file, starting with bytes 6e6f6e73"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[96];
        const uint8_t *data = (const uint8_t *)cases[i].bytes;
        assert_string_equal(cuzk_format_name(cuzk_format_detect(data, cases[i].n)), cases[i].name);
        cuzk_format_describe(text, sizeof text, data, cases[i].n);
        assert_string_equal(text, cases[i].words);
        char cut[8];
        cuzk_format_describe(cut, sizeof cut, data, cases[i].n);
        assert_memory_equal(cut, text, 7);
        assert_int_equal(cut[7], 0);
    }
}

static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *fixture;
        const char *name;
        const char *words;
    } cases[] = {
        {"groth/sparse/circuit.params", "params", "this is a params file (bellperson proving key)"},
        {"groth/noaux/circuit.vk", "vk", "this is a vk file (bellperson verifying key)"},
        {"groth/noaux/expected.json", "json", "this is a JSON file"},
        {"circom/bls12381/multiplier2/circuit.zkey", "zkey",
         "this is a zkey file (circom proving key)"},
        {"circom/bls12381/multiplier2/input.json", "json", "this is a JSON file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_fixture f = cuzk_test_fixture(cases[i].fixture);
        char text[96];
        assert_string_equal(cuzk_format_name(cuzk_format_detect(f.data, f.size)), cases[i].name);
        cuzk_format_describe(text, sizeof text, f.data, f.size);
        assert_string_equal(text, cases[i].words);
        cuzk_test_fixture_free(&f);
    }
    /* values without header; the same not starting with 1 says nothing */
    cuzk_fixture w = cuzk_test_fixture("circom/bn254/multiplier2/witness.wtns");
    assert_int_equal(cuzk_format_detect(w.data + 76, 128), CUZK_FORMAT_RAW_WITNESS);
    assert_int_equal(cuzk_format_detect(w.data + 76, 127), CUZK_FORMAT_UNKNOWN);
    assert_int_equal(cuzk_format_detect(w.data + 108, 96), CUZK_FORMAT_UNKNOWN);
    cuzk_test_fixture_free(&w);
    /* a bellperson key that is cut off, from its first point on */
    cuzk_fixture k = cuzk_test_fixture("groth/noaux/circuit.vk");
    assert_int_equal(cuzk_format_detect(k.data, k.size - 1), CUZK_FORMAT_BELLPERSON);
    assert_int_equal(cuzk_format_detect(k.data, 96), CUZK_FORMAT_BELLPERSON);
    assert_int_equal(cuzk_format_detect(k.data, 95), CUZK_FORMAT_UNKNOWN);
    assert_int_equal(cuzk_format_detect(k.data + 1, k.size - 1), CUZK_FORMAT_UNKNOWN);
    cuzk_test_fixture_free(&k);
    /* a proof: three compressed points by their first bits */
    uint8_t proof[384] = {0};
    for (int i = 0; i < 2; i++) {
        proof[192 * i] = proof[192 * i + 48] = proof[192 * i + 144] = 0xa0;
    }
    assert_int_equal(cuzk_format_detect(proof, 192), CUZK_FORMAT_PROOF);
    assert_int_equal(cuzk_format_detect(proof, 384), CUZK_FORMAT_PROOF);
    assert_int_equal(cuzk_format_detect(proof, 191), CUZK_FORMAT_UNKNOWN);
    proof[48] = 0xc0;
    assert_int_equal(cuzk_format_detect(proof, 192), CUZK_FORMAT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
