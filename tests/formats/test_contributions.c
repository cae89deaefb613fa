/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The records of a ceremony in keys that snarkjs wrote: read, and no byte that their hashes cover
 * can be changed. */
#include "formats/zkey_contributions.h"
#include "section_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static const char *const ceremonies[] = {"circom/bn254/poseidon2_ceremony",
                                         "circom/bls12381/poseidon2_ceremony"};

static edit_file load(const char *folder)
{
    char name[256];
    snprintf(name, sizeof name, "%s/circuit.zkey", folder);
    cuzk_fixture f = cuzk_test_fixture(name);
    edit_file copy = edit_copy(f.data, f.size);
    cuzk_test_fixture_free(&f);
    return copy;
}

static cuzk_status check(const edit_file *f, cuzk_error *err)
{
    cuzk_zkey key;
    cuzk_error_clear(err);
    assert_int_equal(cuzk_zkey_open(&key, f->data, f->size, NULL), CUZK_OK);
    return cuzk_zkey_check_contributions(&key, err);
}

static void expect_refused(const edit_file *f, const char *text)
{
    cuzk_error err = {0};
    assert_int_equal(check(f, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "zkey section 10 (contributions)");
    assert_mentions(err.text, text);
}

static void test_fixtures(void **state)
{
    (void)state;
    static const struct {
        const char *folder;
        uint32_t n;
        const char *names[2];
        bool is_beacon;
    } cases[] = {
        {"circom/bn254/multiplier2", 1, {"test-only beacon"}, true},
        {"circom/bn254/multiplier1000", 1, {"test-only beacon"}, true},
        {"circom/bls12381/multiplier2", 1, {"test-only beacon"}, true},
        {"circom/bn254/poseidon2_ceremony", 2, {"first", "second"}, false},
        {"circom/bls12381/poseidon2_ceremony", 2, {"first", "second"}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        edit_file f = load(cases[i].folder);
        cuzk_zkey key;
        cuzk_error err = {0};
        assert_int_equal(cuzk_zkey_open(&key, f.data, f.size, NULL), CUZK_OK);
        assert_int_equal(key.n_contributions, cases[i].n);
        uint64_t offset = 0;
        for (uint32_t k = 0; k < key.n_contributions; k++) {
            cuzk_zkey_contribution c;
            assert_int_equal(cuzk_zkey_contribution_next(&key, &offset, &c, NULL), CUZK_OK);
            assert_string_equal(c.name, cases[i].names[k]);
            assert_int_equal(c.is_beacon, cases[i].is_beacon);
        }
        assert_int_equal(offset, key.contributions_bytes);
        cuzk_status status = check(&f, &err);
        if (status != CUZK_OK) {
            fail_msg("%s: %s", cases[i].folder, err.text);
        }
        /* without the section there is nothing to check */
        edit_remove_section(&f, 10);
        assert_int_equal(check(&f, &err), CUZK_OK);
        cuzk_test_fixture_free(&f);
    }
}

/* One flipped bit in any byte of the points, transcripts and the circuit hash. */
static void test_flipped_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        edit_file f = load(ceremonies[i]);
        uint64_t fp = i == 0 ? 32 : 48, fixed = 10 * fp + 64;
        uint8_t *section = f.data + edit_section_offset(&f, 10);
        uint8_t *first = section + 68, *second = first + fixed + 8 + 7;
        for (uint64_t k = 0; k < 64; k += 5) {
            section[k] ^= 1u << k % 8;
            expect_refused(&f, "record 0 of 2");
            section[k] ^= 1u << k % 8;
        }
        for (uint64_t k = 0; k < fixed; k += 3) {
            first[k] ^= 1u << k % 8;
            expect_refused(&f, "record 0 of 2");
            first[k] ^= 1u << k % 8;
            second[k] ^= 1u << k % 8;
            expect_refused(&f, "record 1");
            second[k] ^= 1u << k % 8;
        }
        cuzk_error err = {0};
        assert_int_equal(check(&f, &err), CUZK_OK);
        cuzk_test_fixture_free(&f);
    }
}

/* Valid points and records in wrong places. */
static void test_wrong_records(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        edit_file f = load(ceremonies[i]);
        uint64_t fp = i == 0 ? 32 : 48, record = 10 * fp + 64 + 8;
        uint64_t at = edit_section_offset(&f, 10);
        uint8_t *first = f.data + at + 68, *second = first + record + 7, saved[600];
        /* delta of the second record in the first: the second no longer follows */
        memcpy(saved, first, 2 * fp);
        memcpy(first, second, 2 * fp);
        expect_refused(&f, "record 1 of 2: its transcript is not the hash");
        memcpy(first, saved, 2 * fp);
        /* delta of the first in the second: nothing behind it tells but the key */
        memcpy(saved, second, 2 * fp);
        memcpy(second, first, 2 * fp);
        expect_refused(&f, "the last record's delta is not the key's: record 1");
        memset(second, 0, 2 * fp);
        expect_refused(&f, "record 1 of 2: delta: point 0: point at infinity");
        memcpy(second, saved, 2 * fp);
        /* the two exchanged, but for their parameters */
        memcpy(saved, first, record - 8);
        memcpy(first, second, record - 8);
        memcpy(second, saved, record - 8);
        expect_refused(&f, "record 0 of 2: its transcript");
        memcpy(second, first, record - 8);
        memcpy(first, saved, record - 8);
        /* one record too few, or too many */
        edit_put_u32(&f, at + 64, 1);
        expect_refused(&f, "1 records end at");
        edit_put_u32(&f, at + 64, 3);
        expect_refused(&f, "record 2 of 3: a record needs");
        edit_put_u32(&f, at + 64, UINT32_MAX);
        expect_refused(&f, "record 2 of 4294967295: a record needs");
        edit_put_u32(&f, at + 64, 2);
        /* the second one cut off, also in the count */
        edit_resize_section(&f, 10, 68 + record + 7);
        edit_put_u32(&f, edit_section_offset(&f, 10) + 64, 1);
        expect_refused(&f, "the last record's delta is not the key's: record 0");
        cuzk_test_fixture_free(&f);
    }
}

static void test_truncated(void **state)
{
    (void)state;
    edit_file f = load(ceremonies[0]);
    uint64_t size = edit_section_size(&f, 10);
    for (uint64_t n = size - 1; n >= 68; n -= n > 70 ? 7 : 1) {
        edit_resize_section(&f, 10, n);
        expect_refused(&f, "record ");
    }
    cuzk_test_fixture_free(&f);
}

/* Parameters are not covered by hashes: any bytes there are read without harm. */
static void test_parameters(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[8];
        const char *name;
    } cases[] = {
        {{1, 6, 's', 'e', 'c', 'o', 'n', 'd'}, "second"},
        {{1, 7, 's', 'e', 'c', 'o', 'n', 'd'}, ""}, /* longer than the parameters */
        {{1, 255, 's', 'e', 'c', 'o', 'n', 'd'}, ""},
        {{2, 10, 1, 4, 'a', '"', 7, 0x80}, "a\"??"},
        {{3, 1, 9, 1, 2, 'o', 'k', 1}, "ok"},
        {{4, 0, 1, 1, 'x', 0, 0, 0}, ""}, /* a kind that nobody knows */
        {{1, 0, 1, 1, 'b', 2, 0, 1}, "b"},
    };
    edit_file f = load(ceremonies[0]);
    uint8_t *second = f.data + edit_section_offset(&f, 10) + 68 + 392 + 7;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(second + 392, cases[i].bytes, 8);
        cuzk_zkey key;
        cuzk_zkey_contribution c;
        uint64_t offset = 0;
        cuzk_error err = {0};
        assert_int_equal(check(&f, &err), CUZK_OK);
        assert_int_equal(cuzk_zkey_open(&key, f.data, f.size, NULL), CUZK_OK);
        assert_int_equal(cuzk_zkey_contribution_next(&key, &offset, &c, NULL), CUZK_OK);
        assert_int_equal(cuzk_zkey_contribution_next(&key, &offset, &c, NULL), CUZK_OK);
        assert_string_equal(c.name, cases[i].name);
    }
    cuzk_test_fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),      cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_wrong_records), cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
