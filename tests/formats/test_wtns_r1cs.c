/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* .wtns and .r1cs: values and constraints checked, every count damaged in turn, custom gates, files
 * written back to the byte. BC-nnn: cases from the field, see docs/cases.md. */
#include "formats/r1cs_file.h"
#include "formats/wtns.h"
#include "section_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

/* BC-008, BC-009, BC-010, BC-023 and the constant 1 */
static void test_wtns(void **state)
{
    (void)state;
    cuzk_fixture w = cuzk_test_fixture("circom/bn254/poseidon2/witness.wtns");
    cuzk_fixture bls = cuzk_test_fixture("circom/bls12381/poseidon2/witness.wtns");
    cuzk_wtns witness;
    cuzk_error err = {0};
    const cuzk_curve *bn254 = cuzk_curve_get(CUZK_CURVE_BN254);
    assert_int_equal(cuzk_wtns_open(&witness, bls.data, bls.size, &err), CUZK_OK);
    assert_int_equal(cuzk_wtns_check_circuit(&witness, bn254, 520, &err), CUZK_E_MISMATCH);
    assert_string_equal(err.text, "witness is over bls12381, key is over bn128");
    edit_file f = edit_copy(w.data, w.size);
    uint64_t count = edit_section_offset(&f, 1) + 36;
    uint64_t values = edit_section_offset(&f, 2);
    for (uint32_t n = 0; n < 600; n++) {
        edit_put_u32(&f, count, n);
        cuzk_error_clear(&err);
        cuzk_status status = cuzk_wtns_open(&witness, f.data, f.size, &err);
        assert_int_equal(status, n == 520 ? CUZK_OK : CUZK_E_FORMAT);
    }
    edit_put_u32(&f, count, 521);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_wtns_open(&witness, f.data, f.size, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "section 2 (values): 16640 bytes, expected 16672");
    edit_put_u32(&f, count, 520);
    assert_int_equal(cuzk_wtns_open(&witness, f.data, f.size, NULL), CUZK_OK);
    for (uint64_t n = 519; n <= 521; n += 2) {
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_wtns_check_circuit(&witness, bn254, n, &err), CUZK_E_WITNESS_LENGTH);
        assert_mentions(err.text, "Invalid witness length. Circuit: ");
        assert_mentions(err.text, ", witness: 520");
    }
    /* value 77 becomes r, value 78 its old value + r */
    uint8_t good[64];
    memcpy(good, f.data + values + 77 * 32, 64);
    memcpy(f.data + values + 77 * 32, bn254->r, 32);
    assert_int_equal(cuzk_wtns_check(&witness, NULL, &err), CUZK_E_FORMAT);
    f.data[values + 77 * 32]--;
    assert_int_equal(cuzk_wtns_check(&witness, NULL, NULL), CUZK_OK);
    unsigned __int128 carry = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t v;
        memcpy(&v, f.data + values + 78 * 32 + 8 * k, 8);
        carry += (unsigned __int128)v + bn254->r[k];
        v = (uint64_t)carry;
        carry >>= 64;
        memcpy(f.data + values + 78 * 32 + 8 * k, &v, 8);
    }
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_wtns_check(&witness, NULL, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "witness value 78 is 0x");
    assert_mentions(err.text, "not below the field order of bn128");
    memcpy(f.data + values + 77 * 32, good, 64);
    f.data[values] = 2;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_wtns_check(&witness, NULL, &err), CUZK_E_UNSATISFIED);
    assert_mentions(err.text, "value 0 is 0x2, expected the constant 1");
    f.data[values] = 1;
    assert_int_equal(cuzk_wtns_check(&witness, NULL, NULL), CUZK_OK);
    /* a dump of the values without header */
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_wtns_open(&witness, f.data + values, 520 * 32, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "no wtns header; this looks like a raw witness dump of 520 values");
    for (uint64_t n = 0; n < f.size; n += n < 200 ? 1 : 997) {
        edit_file cut = edit_copy(f.data, n);
        assert_int_not_equal(cuzk_wtns_open(&witness, cut.data, n, NULL), CUZK_OK);
        cuzk_test_fixture_free(&cut);
    }
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&w);
    cuzk_test_fixture_free(&bls);
}

static void test_wtns_round_trip(void **state)
{
    (void)state;
    static const char *const files[] = {"circom/bn254/multiplier2/witness.wtns",
                                        "circom/bn254/manypublic/witness.wtns",
                                        "circom/bls12381/multiplier1000/witness.wtns"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        cuzk_fixture w = cuzk_test_fixture(files[i]);
        cuzk_wtns witness;
        assert_int_equal(cuzk_wtns_open(&witness, w.data, w.size, NULL), CUZK_OK);
        uint64_t n = cuzk_wtns_file_bytes(witness.n_values);
        assert_int_equal(n, w.size);
        uint8_t *out = malloc(n);
        assert_non_null(out);
        cuzk_wtns_write(out, witness.curve, witness.values, witness.n_values);
        assert_memory_equal(out, w.data, n);
        free(out);
        cuzk_test_fixture_free(&w);
    }
}

/* Walks all constraints; returns the status of the first failure. */
static cuzk_status walk(const edit_file *f, cuzk_error *err)
{
    cuzk_r1cs r;
    cuzk_r1cs_iter iter;
    cuzk_r1cs_lc lc[3];
    bool more = true;
    cuzk_status status = cuzk_r1cs_open(&r, f->data, f->size, err);
    if (status == CUZK_OK) {
        cuzk_r1cs_begin(&iter, &r);
    }
    while (status == CUZK_OK && more) {
        status = cuzk_r1cs_next(&iter, lc, &more, err);
    }
    return status;
}

static void test_r1cs_damaged(void **state)
{
    (void)state;
    cuzk_fixture r = cuzk_test_fixture("circom/bn254/multiplier2/circuit.r1cs");
    edit_file f = edit_copy(r.data, r.size);
    assert_int_equal(walk(&f, NULL), CUZK_OK);
    for (uint64_t n = 0; n < r.size; n++) {
        edit_file cut = edit_copy(r.data, n);
        assert_int_not_equal(walk(&cut, NULL), CUZK_OK);
        cuzk_test_fixture_free(&cut);
    }
    uint64_t header = edit_section_offset(&f, 1) + 36;
    /* wires, outputs, public inputs, private inputs, labels lo, labels hi, constraints */
    for (uint64_t field = 0; field < 7; field++) {
        uint32_t good = edit_get_u32(&f, header + 4 * field);
        edit_put_u32(&f, header + 4 * field, UINT32_MAX);
        bool is_label_count = field == 4 || field == 5;
        assert_int_equal(walk(&f, NULL), is_label_count ? CUZK_OK : CUZK_E_FORMAT);
        edit_put_u32(&f, header + 4 * field, good);
    }
    edit_put_u32(&f, header + 24, 0);
    cuzk_error err = {0};
    assert_int_equal(walk(&f, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "120 bytes left behind constraint 0");
    edit_put_u32(&f, header + 24, 1);
    /* A: one term; its count, wire and coefficient */
    uint64_t at = edit_section_offset(&f, 2);
    static const struct {
        uint64_t offset;
        uint32_t value;
        cuzk_status status;
        const char *text;
    } bad[] = {
        {0, 4, CUZK_E_TRUNCATED, "constraint 0 of 1, A: 4 terms do not fit"},
        {0, UINT32_MAX, CUZK_E_TRUNCATED, "constraint 0 of 1, A"},
        {4, 4, CUZK_E_FORMAT, "constraint 0, A, term 0: wire 4, expected below 4"},
        {36, 0xffffffff, CUZK_E_FORMAT, "constraint 0, A, term 0: coefficient"},
        {80, 3, CUZK_E_TRUNCATED, "constraint 0 of 1, C: 3 terms"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t good = edit_get_u32(&f, at + bad[i].offset);
        edit_put_u32(&f, at + bad[i].offset, bad[i].value);
        cuzk_error_clear(&err);
        assert_int_equal(walk(&f, &err), bad[i].status);
        assert_mentions(err.text, bad[i].text);
        edit_put_u32(&f, at + bad[i].offset, good);
    }
    assert_int_equal(walk(&f, NULL), CUZK_OK);
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&r);
}

/* BC-018 */
static void test_custom_gates(void **state)
{
    (void)state;
    cuzk_fixture r = cuzk_test_fixture("circom/bn254/multiplier2/circuit.r1cs");
    edit_file f = edit_copy(r.data, r.size);
    cuzk_r1cs r1cs;
    cuzk_error err = {0};
    edit_append_section(&f, 4, "\0\0\0\0", 4);
    edit_append_section(&f, 5, "\0\0\0\0", 4);
    assert_int_equal(cuzk_r1cs_open(&r1cs, f.data, f.size, &err), CUZK_OK);
    assert_int_equal(cuzk_r1cs_require_groth16(&r1cs, &err), CUZK_OK);
    edit_put_u32(&f, edit_section_offset(&f, 4), 3);
    assert_int_equal(cuzk_r1cs_open(&r1cs, f.data, f.size, &err), CUZK_OK);
    assert_int_equal(cuzk_r1cs_require_groth16(&r1cs, &err), CUZK_E_UNSUPPORTED);
    assert_mentions(err.text, "custom gates are not supported");
    edit_resize_section(&f, 5, 3);
    assert_int_equal(cuzk_r1cs_open(&r1cs, f.data, f.size, NULL), CUZK_E_FORMAT);
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&r);
}

static void test_r1cs_round_trip(void **state)
{
    (void)state;
    static const char *const files[] = {"circom/bn254/multiplier2/circuit.r1cs",
                                        "circom/bn254/range64/circuit.r1cs",
                                        "circom/bls12381/poseidon2/circuit.r1cs"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        cuzk_fixture r = cuzk_test_fixture(files[i]);
        cuzk_r1cs r1cs;
        assert_int_equal(cuzk_r1cs_open(&r1cs, r.data, r.size, NULL), CUZK_OK);
        FILE *f = tmpfile();
        assert_non_null(f);
        cuzk_r1cs_writer w;
        cuzk_r1cs_iter iter;
        cuzk_r1cs_lc lc[3];
        bool more = true;
        cuzk_r1cs_writer_begin(&w, f, r1cs.curve);
        cuzk_r1cs_begin(&iter, &r1cs);
        for (;;) {
            assert_int_equal(cuzk_r1cs_next(&iter, lc, &more, NULL), CUZK_OK);
            if (!more) {
                break;
            }
            cuzk_r1cs_writer_constraint(&w, lc);
        }
        uint64_t *labels = malloc(r1cs.labels.size);
        assert_non_null(labels);
        memcpy(labels, r1cs.labels.data, r1cs.labels.size);
        cuzk_r1cs_header header = {r1cs.n_wires,  r1cs.n_pub_out, r1cs.n_pub_in,
                                   r1cs.n_prv_in, r1cs.n_labels,  labels};
        assert_int_equal(cuzk_r1cs_writer_end(&w, &header, NULL), CUZK_OK);
        assert_int_equal(ftell(f), r.size);
        uint8_t *out = malloc(r.size);
        assert_non_null(out);
        rewind(f);
        assert_int_equal(fread(out, 1, r.size, f), r.size);
        fclose(f);
        /* circom also writes constraints, header, labels: the same bytes */
        assert_memory_equal(out, r.data, r.size);
        free(labels);
        free(out);
        cuzk_test_fixture_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wtns),
        cmocka_unit_test(test_wtns_round_trip),
        cmocka_unit_test(test_r1cs_damaged),
        cmocka_unit_test(test_custom_gates),
        cmocka_unit_test(test_r1cs_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
