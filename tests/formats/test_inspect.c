/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* inspect: whole reports of files of each kind, warnings, and what is said about broken files. */
#define _GNU_SOURCE
#include "base/map_file.h"
#include "base/text.h"
#include "formats/inspect.h"
#include "formats/proof.h"
#include "formats/snarkjs_json.h"
#include "formats/test_key.h"
#include "section_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static void put_line(void *user, cuzk_inspect_kind kind, const char *name, const char *value,
                     bool is_number)
{
    static const char *const prefixes[] = {"", "note: ", "warning: ", "error: "};
    cuzk_text *text = user;
    if (is_number) {
        assert_int_equal(strspn(value, "0123456789"), strlen(value));
    }
    cuzk_text_printf(text, "%s%s: %s\n", prefixes[kind], name, value);
}

static cuzk_status report(cuzk_text *text, const uint8_t *data, uint64_t size, bool deep)
{
    cuzk_inspect_options options = {.deep = deep};
    cuzk_error err = {0};
    cuzk_text_clear(text);
    cuzk_status status = cuzk_inspect(data, size, &options, put_line, text, &err);
    assert_int_equal(cuzk_text_check(text, NULL), CUZK_OK);
    if (status != CUZK_OK) {
        assert_non_null(strstr(text->data, err.text));
        assert_non_null(strstr(text->data, "error: error: "));
        /* without a place for the error the report is the same */
        cuzk_text again = {0};
        assert_int_equal(cuzk_inspect(data, size, &options, put_line, &again, NULL), status);
        assert_string_equal(again.data, text->data);
        cuzk_text_clear(&again);
    }
    return status;
}

static char *read_text_file(const char *path)
{
    cuzk_map_file m;
    assert_int_equal(cuzk_map_file_open(&m, path, NULL), CUZK_OK);
    char *out = strndup((const char *)m.data, m.size);
    cuzk_map_file_close(&m);
    return out;
}

static void assert_report(const uint8_t *data, uint64_t size, const char *name)
{
    char path[128];
    cuzk_text text = {0};
    snprintf(path, sizeof path, "tests/formats/reports/%s.txt", name);
    char *expected = read_text_file(path);
    assert_int_equal(report(&text, data, size, true), CUZK_OK);
    if (strcmp(text.data, expected) != 0) {
        print_error("%s: found\n%s", path, text.data);
    }
    assert_string_equal(text.data, expected);
    cuzk_text_clear(&text);
    free(expected);
}

static void test_reports(void **state)
{
    (void)state;
    static const struct {
        const char *fixture;
        const char *name;
    } files[] = {
        {"circom/bn254/poseidon2/circuit.zkey", "zkey"},
        {"circom/bn254/poseidon2/circuit.r1cs", "r1cs"},
        {"circom/bn254/poseidon2/witness.wtns", "wtns"},
        {"circom/bn254/poseidon2/verification_key.json", "vk_json"},
        {"circom/bn254/poseidon2/proof.json", "proof_json"},
        {"circom/bn254/poseidon2/public.json", "public_json"},
        {"groth/cube/circuit.params", "params"},
        {"groth/cube/circuit.vk", "vk"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        cuzk_fixture f = cuzk_test_fixture(files[i].fixture);
        assert_report(f.data, f.size, files[i].name);
        cuzk_test_fixture_free(&f);
    }
}

/* A compiled circuit; read in full, a changed byte of its arrays is noticed. */
static void test_shape(void **state)
{
    (void)state;
    cuzk_map_file m;
    cuzk_text text = {0};
    assert_int_equal(cuzk_map_file_open(&m, "tests/fuzz/corpus/shape/cube", NULL), CUZK_OK);
    assert_report(m.data, m.size, "shape");
    uint8_t *data = malloc(m.size);
    assert_non_null(data);
    memcpy(data, m.data, m.size);
    data[m.size - 1] ^= 1;
    assert_int_equal(report(&text, data, m.size, false), CUZK_OK);
    assert_int_equal(report(&text, data, m.size, true), CUZK_E_FORMAT);
    assert_mentions(text.data, "the digest of its arrays differs");
    data[200] ^= 1;
    assert_int_equal(report(&text, data, m.size, false), CUZK_E_FORMAT);
    assert_mentions(text.data, "the header is damaged");
    free(data);
    cuzk_text_clear(&text);
    cuzk_map_file_close(&m);
}

static void test_binary_proofs(void **state)
{
    (void)state;
    cuzk_fixture f = cuzk_test_fixture("circom/bls12381/multiplier2/proof.json");
    cuzk_proof_points proof;
    uint8_t bytes[2 * CUZK_PROOF_BYTES];
    cuzk_text text = {0};
    assert_int_equal(cuzk_proof_from_json(&proof, f.data, f.size, NULL, NULL, NULL), CUZK_OK);
    assert_int_equal(cuzk_proof_points_write(bytes, &proof, NULL), CUZK_OK);
    assert_int_equal(cuzk_proof_points_write(bytes + CUZK_PROOF_BYTES, &proof, NULL), CUZK_OK);
    assert_int_equal(report(&text, bytes, sizeof bytes, false), CUZK_OK);
    assert_string_equal(text.data, "format: proof\nbytes: 384\ncurve: bls12381\nproofs: 2\n"
                                   "checked: every point on its curve and in its subgroup, none at "
                                   "infinity\n");
    bytes[CUZK_PROOF_BYTES + 20] ^= 1;
    assert_int_equal(report(&text, bytes, sizeof bytes, false), CUZK_E_INVALID_PROOF);
    assert_mentions(text.data, "error: error: proof 1: proof, point A: ");
    cuzk_text_clear(&text);
    cuzk_test_fixture_free(&f);
}

static void test_warnings(void **state)
{
    (void)state;
    cuzk_fixture z = cuzk_test_fixture("circom/bn254/multiplier2/circuit.zkey");
    edit_file f = edit_copy(z.data, z.size);
    cuzk_text text = {0};
    edit_append_section(&f, CUZK_TEST_KEY_SECTION, CUZK_TEST_KEY_MARK, CUZK_TEST_KEY_MARK_BYTES);
    edit_remove_section(&f, 10);
    uint64_t gamma2 = edit_section_offset(&f, 2) + 84 + 64 + 64 + 128;
    memcpy(f.data + gamma2 + 128 + 64, f.data + gamma2, 128);
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_OK);
    assert_mentions(text.data, "warning: contributions: section 10 is missing");
    assert_mentions(text.data, "warning: no phase 2: gamma equals delta");
    assert_mentions(text.data, "warning: test key: ");
    assert_mentions(text.data, "section 1953719668 (unknown): ");
    assert_mentions(text.data, "points at infinity in A: 1\n");
    assert_mentions(text.data, "points at infinity in H: 0\n");
    /* one H at infinity, and bytes behind the last section */
    memset(f.data + edit_section_offset(&f, 9) + 64, 0, 64);
    edit_put_u32(&f, 8, edit_get_u32(&f, 8) - 1);
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_OK);
    assert_mentions(text.data, "warning: points at infinity: 1 in H");
    assert_mentions(text.data, "warning: trailing bytes: 76 bytes follow the last section");
    f.data[edit_section_offset(&f, 9) + 3] ^= 1;
    assert_int_equal(report(&text, f.data, f.size, false), CUZK_OK);
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_E_FORMAT);
    assert_mentions(text.data, "error: error: zkey section 9 (H): point 0: not on the curve");
    /* what was found before the error is still reported */
    edit_put_u32(&f, edit_section_offset(&f, 1), 2);
    assert_int_equal(report(&text, f.data, f.size, false), CUZK_E_UNSUPPORTED);
    assert_mentions(text.data, "section 9 (H): offset");
    assert_mentions(text.data, "error: error: zkey is a PLONK key");
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&z);
    f = cuzk_test_fixture("circom/bn254/multiplier2/witness.wtns");
    edit_put_u32(&f, edit_section_offset(&f, 1) + 36, 0);
    edit_resize_section(&f, 2, 0);
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_OK);
    assert_mentions(text.data, "warning: values: no value");
    for (int i = 0; i < 64; i++) {
        edit_append_section(&f, 100, "", 0);
    }
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_OK);
    assert_mentions(text.data, "note: sections: only the first 64 are listed");
    cuzk_test_fixture_free(&f);
    f = cuzk_test_fixture("circom/bn254/multiplier2/verification_key.json");
    memcpy(strstr((char *)f.data, "groth16"), "groth\"  ", 8);
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_OK);
    assert_mentions(text.data, "note: old layout: names of an old format");
    cuzk_test_fixture_free(&f);
    f = cuzk_test_fixture("groth/cube/circuit.params");
    memcpy(f.data + 672, f.data + 384, 192);
    assert_int_equal(report(&text, f.data, f.size, false), CUZK_OK);
    assert_mentions(text.data, "warning: no phase 2");
    cuzk_test_fixture_free(&f);
    cuzk_text_clear(&text);
}

/* BC-018 */
static void test_custom_gates(void **state)
{
    (void)state;
    cuzk_fixture r = cuzk_test_fixture("circom/bn254/multiplier2/circuit.r1cs");
    edit_file f = edit_copy(r.data, r.size);
    cuzk_text text = {0};
    uint8_t gates[4 + 9 + 4 + 64 + 3 + 4] = {2,    0,   0,   0,   'F', 'F', 'T',
                                             0x1b, '"', ' ', 'x', 'y', 0,   2};
    memcpy(gates + 81, "g2\0", 3);
    edit_append_section(&f, 4, gates, sizeof gates);
    edit_append_section(&f, 5, "\x03\0\0\0", 4);
    assert_int_equal(report(&text, f.data, f.size, true), CUZK_OK);
    assert_mentions(text.data, "custom gates: 2\nuses of custom gates: 3\n");
    assert_mentions(text.data, "note: custom gate: FFT?\"?xy, 2 parameters\n");
    assert_mentions(text.data, "note: custom gate: g2, 0 parameters\n");
    assert_mentions(text.data, "warning: custom gates: not supported by Groth16\n");
    for (uint64_t n = 4; n < sizeof gates; n++) {
        edit_resize_section(&f, 4, n);
        assert_int_equal(report(&text, f.data, f.size, false), CUZK_OK);
        assert_mentions(text.data, "warning: custom gates: the list ends within gate ");
        cuzk_test_fixture_free(&f);
        f = edit_copy(r.data, r.size);
        edit_append_section(&f, 4, gates, sizeof gates);
    }
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&r);
    cuzk_text_clear(&text);
}

static void test_broken_and_foreign(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } cases[] = {
        {"", 0, "format: empty\nbytes: 0\nerror: error: the file is empty"},
        {"\x1f\x8b\x08", 3, "format: gzip\nbytes: 3\nerror: error: this is a gzip file"},
        {"<html>", 6, "format: html\nbytes: 6\nerror: error: this is an HTML page"},
        {"{\"a\":1}", 7, "format: json\nbytes: 7\nerror: error: this is a JSON file"},
        {"zkey", 4, "format: zkey\nbytes: 4\nerror: error: zkey file truncated"},
        {"wtns\2\0\0\0\1\0\0\0", 12, "error: error: wtns file truncated: section 1 of 1"},
        {"r1cs\1\0\0\0\0\0\0\0", 12, "sections: 0\nerror: error: r1cs file has no section 1"},
        {"ptau\1\0\0\0\0\0\0\0", 12, "format: ptau\nbytes: 12\nversion: 1\nsections: 0\n"},
        {"abc", 3, "unknown kind of file, starting with bytes 616263; this program does not read"},
    };
    cuzk_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_status status = report(&text, (const uint8_t *)cases[i].bytes, cases[i].n, true);
        assert_int_equal(status == CUZK_OK, strncmp(cases[i].bytes, "ptau", 4) == 0);
        assert_mentions(text.data, cases[i].text);
    }
    cuzk_text_clear(&text);
}

static bool stop(void *ctx, const char *stage, double done)
{
    int *calls = ctx;
    assert_non_null(stage);
    assert_true(done >= 0 && done <= 1);
    return ++*calls < 3;
}

static void test_cancelled(void **state)
{
    (void)state;
    static const char *const files[] = {"circom/bn254/poseidon2/circuit.zkey",
                                        "groth/cube/circuit.params"};
    for (int i = 0; i < 2; i++) {
        cuzk_fixture f = cuzk_test_fixture(files[i]);
        int calls = 0;
        cuzk_reporter reporter = {stop, &calls};
        cuzk_inspect_options options = {.deep = true, .reporter = &reporter};
        cuzk_text text = {0};
        assert_int_equal(cuzk_inspect(f.data, f.size, &options, put_line, &text, NULL),
                         CUZK_E_CANCELLED);
        assert_int_equal(calls, 3);
        cuzk_text_clear(&text);
        cuzk_test_fixture_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports),       cmocka_unit_test(test_shape),
        cmocka_unit_test(test_binary_proofs), cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_custom_gates),  cmocka_unit_test(test_broken_and_foreign),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
