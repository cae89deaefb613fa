/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* .zkey, and all section files: fixtures read, every count field and length damaged in turn,
 * sections in other orders, truncations, holes. BC-nnn: cases from the field, see docs/cases.md.
 */
#define _GNU_SOURCE
#include "base/map_file.h"
#include "formats/r1cs_file.h"
#include "formats/test_key.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "section_edit.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "mentions.h"

static const char *const keys[] = {
    "circom/bn254/multiplier2", "circom/bn254/poseidon2",      "circom/bn254/poseidon2_ceremony",
    "circom/bn254/manypublic",  "circom/bls12381/multiplier2", "circom/bls12381/multiplier1000",
};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static cuzk_fixture load(const char *folder, const char *file)
{
    char name[256];
    snprintf(name, sizeof name, "%s/%s", folder, file);
    return cuzk_test_fixture(name);
}

static long info_number(const cuzk_fixture *info, const char *key)
{
    const char *p = strstr((const char *)info->data, key);
    assert_non_null(p);
    return strtol(strchr(p, ':') + 1, NULL, 10);
}

/* Opens a damaged key and returns the error's text after checking the status. */
static const char *zkey_error(const edit_file *f, cuzk_status expected)
{
    static cuzk_error err;
    cuzk_zkey key;
    cuzk_error_clear(&err);
    cuzk_status status = cuzk_zkey_open(&key, f->data, f->size, &err);
    if (status != expected) {
        print_error("found %s (%s), expected %s\n", cuzk_status_name(status), err.text,
                    cuzk_status_name(expected));
    }
    assert_int_equal(status, expected);
    return err.text;
}

static void test_fixtures_read(void **state)
{
    (void)state;
    for (int i = 0; i < N_KEYS; i++) {
        cuzk_fixture z = load(keys[i], "circuit.zkey");
        cuzk_fixture w = load(keys[i], "witness.wtns");
        cuzk_fixture r = load(keys[i], "circuit.r1cs");
        cuzk_fixture info = load(keys[i], "info.json");
        cuzk_error err = {0};
        cuzk_zkey key;
        cuzk_wtns witness;
        cuzk_r1cs r1cs;
        assert_int_equal(cuzk_zkey_open(&key, z.data, z.size, &err), CUZK_OK);
        assert_int_equal(cuzk_wtns_open(&witness, w.data, w.size, &err), CUZK_OK);
        assert_int_equal(cuzk_r1cs_open(&r1cs, r.data, r.size, &err), CUZK_OK);
        bool bn = strstr(keys[i], "bn254") != NULL;
        assert_int_equal(key.curve->id, bn ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
        assert_int_equal(witness.curve->id, key.curve->id);
        assert_int_equal(r1cs.curve->id, key.curve->id);
        assert_int_equal(key.n_public, info_number(&info, "public"));
        assert_int_equal(key.lg_domain, info_number(&info, "domain_log2"));
        assert_int_equal(key.n_vars, info_number(&info, "wires"));
        assert_int_equal(r1cs.n_constraints, info_number(&info, "constraints"));
        assert_int_equal(r1cs.n_pub_in + r1cs.n_pub_out, key.n_public);
        assert_int_equal(key.vk.n_ic, key.n_public + 1);
        assert_int_equal(key.n_contributions, strstr(keys[i], "ceremony") != NULL ? 2 : 1);
        assert_false(key.no_phase2);
        assert_false(key.is_test_key);
        assert_int_equal(cuzk_wtns_check_circuit(&witness, key.curve, key.n_vars, &err), CUZK_OK);
        assert_int_equal(cuzk_wtns_check(&witness, NULL, &err), CUZK_OK);
        assert_int_equal(cuzk_zkey_check(&key, NULL, NULL, &err), CUZK_OK);
        cuzk_test_fixture_free(&z);
        cuzk_test_fixture_free(&w);
        cuzk_test_fixture_free(&r);
        cuzk_test_fixture_free(&info);
    }
}

/* The coefficients of the key are those of the constraints, in their order, times R²; then one A
 * row per public value. */
static void test_coefficients_are_the_constraints(void **state)
{
    (void)state;
    for (int i = 0; i < N_KEYS; i++) {
        cuzk_fixture z = load(keys[i], "circuit.zkey");
        cuzk_fixture r = load(keys[i], "circuit.r1cs");
        cuzk_zkey key;
        cuzk_r1cs r1cs;
        assert_int_equal(cuzk_zkey_open(&key, z.data, z.size, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_open(&r1cs, r.data, r.size, NULL), CUZK_OK);
        cuzk_fr one_raw = {{1, 0, 0, 0}};
        cuzk_r1cs_iter iter;
        cuzk_r1cs_lc lc[3];
        cuzk_zkey_coeff c;
        uint64_t at = 0;
        bool more = true;
        cuzk_r1cs_begin(&iter, &r1cs);
        for (uint32_t row = 0;; row++) {
            assert_int_equal(cuzk_r1cs_next(&iter, lc, &more, NULL), CUZK_OK);
            if (!more) {
                break;
            }
            for (uint32_t k = 0; k < 2; k++) {
                for (uint32_t t = 0; t < lc[k].n_terms; t++) {
                    assert_true(at < key.n_coeffs);
                    assert_true(cuzk_zkey_coeff_read(&key, at++, &c));
                    assert_int_equal(c.matrix, k);
                    assert_int_equal(c.row, row);
                    assert_int_equal(c.wire, cuzk_r1cs_term_wire(&lc[k], t));
                    cuzk_fr montgomery;
                    uint8_t plain[32];
                    key.curve->fr_mul(&montgomery, &c.value, &one_raw);
                    key.curve->fr_to_canonical_le(plain, &montgomery);
                    assert_memory_equal(plain, cuzk_r1cs_term_value(&lc[k], t), 32);
                }
            }
        }
        for (uint32_t p = 0; p <= key.n_public; p++) {
            assert_true(cuzk_zkey_coeff_read(&key, at++, &c));
            assert_int_equal(c.matrix, 0);
            assert_int_equal(c.row, r1cs.n_constraints + p);
            assert_int_equal(c.wire, p);
        }
        assert_int_equal(at, key.n_coeffs);
        cuzk_test_fixture_free(&z);
        cuzk_test_fixture_free(&r);
    }
}

/* BC-002 */
static void test_sections_in_any_order(void **state)
{
    (void)state;
    cuzk_fixture z = load(keys[1], "circuit.zkey");
    cuzk_fixture w = load(keys[1], "witness.wtns");
    cuzk_fixture r = load(keys[1], "circuit.r1cs");
    cuzk_zkey key0;
    cuzk_wtns wtns0;
    cuzk_r1cs r1cs0;
    assert_int_equal(cuzk_zkey_open(&key0, z.data, z.size, NULL), CUZK_OK);
    assert_int_equal(cuzk_wtns_open(&wtns0, w.data, w.size, NULL), CUZK_OK);
    assert_int_equal(cuzk_r1cs_open(&r1cs0, r.data, r.size, NULL), CUZK_OK);
    for (uint32_t seed = 1; seed <= 20; seed++) {
        edit_file fz = edit_copy(z.data, z.size);
        edit_file fw = edit_copy(w.data, w.size);
        edit_file fr = edit_copy(r.data, r.size);
        edit_append_section(&fz, 77, "unknown", 7);
        edit_append_section(&fw, 3, "unknown", 7);
        edit_append_section(&fr, 4000000000u, "unknown", 7);
        edit_shuffle_sections(&fz, seed);
        edit_shuffle_sections(&fw, seed);
        edit_shuffle_sections(&fr, seed);
        cuzk_zkey key;
        cuzk_wtns wtns;
        cuzk_r1cs r1cs;
        assert_int_equal(cuzk_zkey_open(&key, fz.data, fz.size, NULL), CUZK_OK);
        assert_int_equal(cuzk_wtns_open(&wtns, fw.data, fw.size, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_open(&r1cs, fr.data, fr.size, NULL), CUZK_OK);
        assert_int_equal(key.n_coeffs, key0.n_coeffs);
        assert_memory_equal(key.coeffs, key0.coeffs, key.n_coeffs * CUZK_ZKEY_COEFF_BYTES);
        assert_memory_equal(key.b2, key0.b2, (size_t)key.n_vars * 128);
        assert_memory_equal(key.h, key0.h, (size_t)key.domain_size * 64);
        assert_memory_equal(key.vk.ic, key0.vk.ic, (size_t)key.vk.n_ic * 64);
        assert_int_equal(wtns.n_values, wtns0.n_values);
        assert_memory_equal(wtns.values, wtns0.values, (size_t)wtns.n_values * 32);
        assert_int_equal(r1cs.constraints.size, r1cs0.constraints.size);
        assert_memory_equal(r1cs.constraints.data, r1cs0.constraints.data, r1cs.constraints.size);
        cuzk_test_fixture_free(&fz);
        cuzk_test_fixture_free(&fw);
        cuzk_test_fixture_free(&fr);
    }
    cuzk_test_fixture_free(&z);
    cuzk_test_fixture_free(&w);
    cuzk_test_fixture_free(&r);
}

/* BC-004: every cut of a small key is refused, as truncated once the magic is there; without
 * section 10, properly, it opens. */
static void test_truncated_zkey(void **state)
{
    (void)state;
    cuzk_fixture z = load(keys[0], "circuit.zkey");
    for (uint64_t n = 0; n < z.size; n++) {
        edit_file f = edit_copy(z.data, n);
        const char *text = zkey_error(&f, n < 4 ? CUZK_E_FORMAT : CUZK_E_TRUNCATED);
        if (n >= 12) {
            char size[48];
            snprintf(size, sizeof size, "file size is %" PRIu64, n);
            assert_mentions(text, "truncated");
            assert_mentions(text, size);
        }
        cuzk_test_fixture_free(&f);
    }
    edit_file f = edit_copy(z.data, z.size);
    uint64_t h_offset = edit_section_offset(&f, 9);
    f.size = h_offset + 100;
    assert_mentions(zkey_error(&f, CUZK_E_TRUNCATED), "section with id 9");
    f.size = z.size;
    edit_remove_section(&f, 10);
    cuzk_zkey key;
    assert_int_equal(cuzk_zkey_open(&key, f.data, f.size, NULL), CUZK_OK);
    assert_false(key.has_contributions);
    assert_null(key.circuit_hash);
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&z);
}

/* BC-005 */
static void test_counts_against_sections(void **state)
{
    (void)state;
    cuzk_fixture z = load(keys[1], "circuit.zkey");
    edit_file f = edit_copy(z.data, z.size);
    uint64_t counts = edit_section_offset(&f, 2) + 4 + 32 + 4 + 32;
    static const char *const blamed[][2] = {
        {"section 5 (A)", "section 5 (A)"}, /* nVars + 1, - 1 */
        {"section 3 (IC)", "section 3 (IC)"},
        {"power of two", "power of two"},
    };
    for (int field = 0; field < 3; field++) {
        uint32_t good = edit_get_u32(&f, counts + 4 * (uint64_t)field);
        for (int step = 0; step < 2; step++) {
            edit_put_u32(&f, counts + 4 * (uint64_t)field, step == 0 ? good + 1 : good - 1);
            assert_mentions(zkey_error(&f, CUZK_E_FORMAT), blamed[field][step]);
        }
        edit_put_u32(&f, counts + 4 * (uint64_t)field, UINT32_MAX);
        (void)zkey_error(&f, CUZK_E_FORMAT);
        edit_put_u32(&f, counts + 4 * (uint64_t)field, 0);
        (void)zkey_error(&f, CUZK_E_FORMAT);
        edit_put_u32(&f, counts + 4 * (uint64_t)field, good);
    }
    edit_put_u32(&f, counts + 8, 2048);
    const char *text = zkey_error(&f, CUZK_E_FORMAT);
    assert_mentions(text, "section 9 (H): 65536 bytes, expected 131072");
    edit_put_u32(&f, counts + 8, 1024);
    cuzk_test_fixture_free(&f);
    /* each section longer and shorter by one byte, one record, and empty */
    for (uint32_t id = 1; id <= 9; id++) {
        f = edit_copy(z.data, z.size);
        uint64_t size = edit_section_size(&f, id);
        const uint64_t sizes[] = {size + 1, size - 1, 0, id == 4 ? size - 44 : size + 64};
        cuzk_test_fixture_free(&f);
        for (int k = 0; k < 4; k++) {
            f = edit_copy(z.data, z.size);
            edit_resize_section(&f, id, sizes[k]);
            char name[32];
            snprintf(name, sizeof name, "section %u", id);
            assert_mentions(zkey_error(&f, CUZK_E_FORMAT), name);
            cuzk_test_fixture_free(&f);
        }
    }
    /* the record count of the coefficients alone */
    f = edit_copy(z.data, z.size);
    uint64_t at = edit_section_offset(&f, 4);
    uint32_t n = edit_get_u32(&f, at);
    for (int k = 0; k < 4; k++) {
        edit_put_u32(&f, at, k == 0 ? n + 1 : k == 1 ? n - 1 : k == 2 ? 0 : UINT32_MAX);
        assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "section 4 (coefficients)");
    }
    cuzk_test_fixture_free(&f);
    /* section lengths whose sums overflow */
    f = edit_copy(z.data, z.size);
    at = edit_section_offset(&f, 5) - 8;
    const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - at, UINT64_MAX - at - 8, 1ull << 63};
    for (int k = 0; k < 4; k++) {
        edit_put_u64(&f, at, lengths[k]);
        cuzk_zkey key;
        cuzk_error err = {0};
        cuzk_status status = cuzk_zkey_open(&key, f.data, f.size, &err);
        assert_int_equal(status, k < 2 ? CUZK_E_FORMAT : CUZK_E_TRUNCATED);
        assert_mentions(err.text, k < 2 ? "impossible length" : "truncated");
    }
    cuzk_test_fixture_free(&f);
    /* a missing section and one that is there twice */
    for (uint32_t id = 1; id <= 9; id++) {
        f = edit_copy(z.data, z.size);
        edit_remove_section(&f, id);
        assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "no section");
        cuzk_test_fixture_free(&f);
        f = edit_copy(z.data, z.size);
        edit_append_section(&f, id, "x", 1);
        assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "expected one");
        cuzk_test_fixture_free(&f);
    }
    cuzk_test_fixture_free(&z);
}

/* BC-014, BC-049, foreign primes, versions */
static void test_refused_by_name(void **state)
{
    (void)state;
    cuzk_fixture z = load(keys[0], "circuit.zkey");
    edit_file f = edit_copy(z.data, z.size);
    uint64_t protocol = edit_section_offset(&f, 1);
    edit_put_u32(&f, protocol, 2);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED), "PLONK");
    edit_put_u32(&f, protocol, 10);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED), "FFLONK");
    edit_put_u32(&f, protocol, 99);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED), "unknown protocol 99");
    edit_put_u32(&f, protocol, 1);
    edit_put_u32(&f, 4, 2);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED), "version 2");
    edit_put_u32(&f, 4, 0);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED), "version 0");
    edit_put_u32(&f, 4, 1);
    uint64_t header = edit_section_offset(&f, 2);
    edit_put_u32(&f, header + 4 + 32 + 4 + 32 + 8, 1u << 29);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED),
                    "2^29, keys over bn128 are supported up to 2^27");
    edit_put_u32(&f, header + 4 + 32 + 4 + 32 + 8, 1u << 28);
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED),
                    "2^28, keys over bn128 are supported up to 2^27: the H query of this one is on "
                    "another coset");
    edit_put_u32(&f, header + 4 + 32 + 4 + 32 + 8, 4);
    f.data[header + 4 + 32 + 4] ^= 2; /* r */
    assert_mentions(zkey_error(&f, CUZK_E_UNSUPPORTED), "prime 0x30644e72e131a029b85045b68181585d");
    f.data[header + 4 + 32 + 4] ^= 2;
    f.data[header + 4] ^= 2; /* q */
    assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "base field prime");
    f.data[header + 4] ^= 2;
    for (uint32_t n8 = 0; n8 < 200; n8 += 8) {
        if (n8 != 32) {
            edit_put_u32(&f, header, n8);
            cuzk_zkey key;
            assert_int_not_equal(cuzk_zkey_open(&key, f.data, f.size, NULL), CUZK_OK);
        }
    }
    edit_put_u32(&f, header, 32);
    (void)zkey_error(&f, CUZK_OK); /* asserts */
    /* each of the six points: off the curve, not reduced, infinity */
    uint64_t at = header + 4 + 32 + 4 + 32 + 12;
    static const struct {
        const char *name;
        uint64_t size;
    } points[] = {{"alpha1", 64},  {"beta1", 64},  {"beta2", 128},
                  {"gamma2", 128}, {"delta1", 64}, {"delta2", 128}};
    for (int i = 0; i < 6; i++) {
        uint8_t good[128];
        memcpy(good, f.data + at, points[i].size);
        f.data[at] ^= 1;
        assert_mentions(zkey_error(&f, CUZK_E_FORMAT), points[i].name);
        memset(f.data + at, 0xff, 32);
        assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "not below the field modulus");
        memset(f.data + at, 0, points[i].size);
        assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "infinity");
        memcpy(f.data + at, good, points[i].size);
        at += points[i].size;
    }
    (void)zkey_error(&f, CUZK_OK); /* asserts */
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&z);
}

static void test_bad_coefficients_and_points(void **state)
{
    (void)state;
    cuzk_fixture z = load(keys[1], "circuit.zkey");
    edit_file f = edit_copy(z.data, z.size);
    cuzk_zkey key;
    assert_int_equal(cuzk_zkey_open(&key, f.data, f.size, NULL), CUZK_OK);
    uint64_t record = 100;
    uint64_t at = edit_section_offset(&f, 4) + 4 + record * CUZK_ZKEY_COEFF_BYTES;
    static const struct {
        uint64_t offset;
        uint32_t value;
        const char *text;
    } bad[] = {{0, 2, "record 100: matrix 2"},
               {4, 1024, "record 100: row 1024"},
               {8, 520, "record 100: wire 520"},
               {40, 0xffffffff, "record 100: value"}};
    for (int i = 0; i < 4; i++) {
        cuzk_error err = {0};
        uint32_t good = edit_get_u32(&f, at + bad[i].offset);
        edit_put_u32(&f, at + bad[i].offset, bad[i].value);
        edit_put_u32(&f, at + 44, 9); /* a later bad record must not be the one reported */
        assert_int_equal(cuzk_zkey_check_coeffs(&key, NULL, &err), CUZK_E_FORMAT);
        assert_mentions(err.text, bad[i].text);
        edit_put_u32(&f, at + bad[i].offset, good);
        edit_put_u32(&f, at + 44, edit_get_u32(&z, at + 44));
    }
    memcpy(f.data, z.data, z.size);
    assert_int_equal(cuzk_zkey_check_coeffs(&key, NULL, NULL), CUZK_OK);
    /* the exact field order, and one less */
    memcpy(f.data + at + 12, key.curve->r, 32);
    assert_int_equal(cuzk_zkey_check_coeffs(&key, NULL, NULL), CUZK_E_FORMAT);
    f.data[at + 12]--;
    assert_int_equal(cuzk_zkey_check_coeffs(&key, NULL, NULL), CUZK_OK);
    memcpy(f.data, z.data, z.size);
    static const struct {
        uint32_t section;
        const char *text;
    } sections[] = {{5, "section 5 (A): point 3"},
                    {6, "section 6 (B1): point 3"},
                    {7, "section 7 (B2): point 1"},
                    {8, "section 8 (C): point 3"},
                    {9, "section 9 (H): point 3"}};
    for (int i = 0; i < 5; i++) {
        cuzk_error err = {0};
        uint64_t p = edit_section_offset(&f, sections[i].section) + 3 * 64;
        f.data[p + 20] ^= 4;
        assert_int_equal(cuzk_zkey_check(&key, NULL, NULL, &err), CUZK_E_FORMAT);
        assert_mentions(err.text, sections[i].text);
        f.data[p + 20] ^= 4;
    }
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&z);
}

/* BC-020 and the mark of test keys */
static void test_key_marks(void **state)
{
    (void)state;
    cuzk_fixture z = load(keys[0], "circuit.zkey");
    edit_file f = edit_copy(z.data, z.size);
    edit_append_section(&f, CUZK_TEST_KEY_SECTION, CUZK_TEST_KEY_MARK, CUZK_TEST_KEY_MARK_BYTES);
    uint64_t gamma2 = edit_section_offset(&f, 2) + 84 + 64 + 64 + 128;
    memcpy(f.data + gamma2 + 128 + 64, f.data + gamma2, 128);
    cuzk_zkey key;
    assert_int_equal(cuzk_zkey_open(&key, f.data, f.size, NULL), CUZK_OK);
    assert_true(key.is_test_key);
    assert_true(key.vk.is_test_key);
    assert_true(key.no_phase2);
    assert_true(cuzk_test_key_file_name("some/folder.x/a.test.zkey"));
    assert_true(cuzk_test_key_file_name("a.b.test.params"));
    assert_false(cuzk_test_key_file_name("x.test.d/a.zkey"));
    assert_false(cuzk_test_key_file_name("a.test."));
    assert_false(cuzk_test_key_file_name("atest.zkey"));
    cuzk_test_fixture_free(&f);
    cuzk_test_fixture_free(&z);
}

/* BC-013: other kinds of files, by name */
static void test_other_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *fixture;
        const char *text;
    } files[] = {
        {"circom/bn254/multiplier2/witness.wtns", "this is a wtns file (circom witness)"},
        {"circom/bn254/multiplier2/circuit.r1cs", "this is an r1cs file"},
        {"circom/bn254/multiplier2/verification_key.json", "this is a verification key (JSON)"},
        {"circom/bn254/multiplier2/proof.json", "this is a proof (JSON)"},
        {"circom/bn254/multiplier2/public.json", "this is a list of public values (JSON)"},
        {"circom/bn254/multiplier2/info.json", "this is a JSON file"},
        {"groth/cube/circuit.params", "this is a params file"},
        {"groth/cube/circuit.vk", "this is a vk file"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        cuzk_fixture f = cuzk_test_fixture(files[i].fixture);
        const char *text = zkey_error(&f, CUZK_E_FORMAT);
        assert_mentions(text, files[i].text);
        assert_mentions(text, "expected a zkey file");
        cuzk_test_fixture_free(&f);
    }
    edit_file f = edit_copy((const uint8_t *)"", 0);
    assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "the file is empty");
    cuzk_test_fixture_free(&f);
    f = edit_copy((const uint8_t *)"\x7f"
                                   "ELF\x02",
                  5);
    assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "starting with bytes 7f454c46");
    cuzk_test_fixture_free(&f);
    f = edit_copy((const uint8_t *)"<!DOCTYPE html><html>", 21);
    assert_mentions(zkey_error(&f, CUZK_E_FORMAT), "HTML page");
    cuzk_test_fixture_free(&f);
    f = cuzk_test_fixture("circom/bn254/multiplier2/circuit.zkey");
    cuzk_wtns w;
    cuzk_r1cs r;
    cuzk_error err = {0};
    assert_int_equal(cuzk_wtns_open(&w, f.data, f.size, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "this is a zkey file (circom proving key), expected a wtns file");
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_r1cs_open(&r, f.data, f.size, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "expected a r1cs file");
    cuzk_test_fixture_free(&f);
}

static long resident_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* BC-007: a hole of 5 GiB in an unknown section before the others is never touched. */
static void test_five_gib(void **state)
{
    (void)state;
    enum { HOLE_HEADER = 12 };
    const uint64_t hole = (uint64_t)5 << 30;
    static const char *const files[] = {"circuit.zkey", "witness.wtns"};
    for (int i = 0; i < 2; i++) {
        cuzk_fixture small = load("circom/bn254/poseidon2", files[i]);
        char path[] = "/tmp/cuzk-test-hole-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        edit_file head = edit_copy(small.data, 12);
        edit_put_u32(&head, 8, edit_get_u32(&head, 8) + 1);
        uint8_t header[HOLE_HEADER] = {77};
        memcpy(header + 4, &hole, 8);
        bool written = pwrite(fd, head.data, 12, 0) == 12 &&
                       pwrite(fd, header, HOLE_HEADER, 12) == HOLE_HEADER &&
                       pwrite(fd, small.data + 12, small.size - 12,
                              (off_t)(12 + HOLE_HEADER + hole)) == (ssize_t)(small.size - 12);
        close(fd);
        cuzk_map_file map;
        if (!written || cuzk_map_file_open(&map, path, NULL) != CUZK_OK) {
            unlink(path);
            cuzk_test_fixture_free(&head);
            cuzk_test_fixture_free(&small);
            print_message("skipped: no sparse file of 5 GiB can be made and mapped here\n");
            skip();
        }
        unlink(path);
        long before = resident_kib();
        cuzk_error err = {0};
        cuzk_zkey key;
        cuzk_wtns witness;
        if (i == 0) {
            assert_int_equal(cuzk_zkey_open(&key, map.data, map.size, &err), CUZK_OK);
            assert_true((uint64_t)(key.h - map.data) > hole);
            assert_int_equal(cuzk_zkey_check(&key, NULL, NULL, &err), CUZK_OK);
        } else {
            assert_int_equal(cuzk_wtns_open(&witness, map.data, map.size, &err), CUZK_OK);
            assert_int_equal(cuzk_wtns_check(&witness, NULL, &err), CUZK_OK);
        }
        assert_in_range(resident_kib() - before, 0, 8 << 10);
        cuzk_map_file_close(&map);
        cuzk_test_fixture_free(&head);
        cuzk_test_fixture_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures_read),
        cmocka_unit_test(test_coefficients_are_the_constraints),
        cmocka_unit_test(test_sections_in_any_order),
        cmocka_unit_test(test_truncated_zkey),
        cmocka_unit_test(test_counts_against_sections),
        cmocka_unit_test(test_refused_by_name),
        cmocka_unit_test(test_bad_coefficients_and_points),
        cmocka_unit_test(test_key_marks),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_five_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
