/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writing a .zkey: a key of snarkjs, read and written again, has the same bytes in every section;
 * marks, hashes and misuse. */
#define _GNU_SOURCE
#include "formats/test_key.h"
#include "formats/zkey_write.h"
#include "section_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const keys[] = {
    "circom/bn254/multiplier2/circuit.zkey",       "circom/bn254/poseidon2_ceremony/circuit.zkey",
    "circom/bn254/manypublic/circuit.zkey",        "circom/bls12381/multiplier2/circuit.zkey",
    "circom/bls12381/multiplier1000/circuit.zkey",
};

static void put_coeffs(cuzk_zkey_writer *w, const cuzk_zkey *key)
{
    const cuzk_fr one_raw = {{1, 0, 0, 0}};
    for (uint64_t i = 0; i < key->n_coeffs; i++) {
        cuzk_zkey_coeff c;
        assert_true(cuzk_zkey_coeff_read(key, i, &c));
        key->curve->fr_mul(&c.value, &c.value, &one_raw);
        cuzk_zkey_writer_coeff(w, c.matrix, c.row, c.wire, &c.value);
    }
}

static void put_queries(cuzk_zkey_writer *w, const cuzk_zkey *key, uint64_t step)
{
    cuzk_zkey_query_view q[CUZK_ZKEY_QUERY_COUNT];
    cuzk_zkey_queries(key, q);
    for (int k = 0; k < CUZK_ZKEY_QUERY_COUNT; k++) {
        size_t each = key->curve->g[q[k].group].affine_bytes;
        for (uint64_t i = 0; i < q[k].n; i += step) {
            cuzk_zkey_writer_points(w, (cuzk_zkey_query)k, q[k].points + i * each,
                                    q[k].n - i < step ? q[k].n - i : step);
        }
    }
}

/* Writes the key again. Free with cuzk_test_fixture_free. */
static edit_file rewrite(const cuzk_zkey *key, const uint8_t *hash, bool mark, uint64_t step)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    cuzk_zkey_header header = {.vk = &key->vk,
                               .n_vars = key->n_vars,
                               .domain_size = key->domain_size,
                               .n_coeffs = (uint32_t)key->n_coeffs,
                               .circuit_hash = hash,
                               .test_mark = mark};
    cuzk_zkey_writer w;
    assert_int_equal(cuzk_zkey_writer_begin(&w, f, &header, NULL), CUZK_OK);
    put_coeffs(&w, key);
    put_queries(&w, key, step);
    assert_int_equal(cuzk_zkey_writer_end(&w, NULL), CUZK_OK);
    fclose(f);
    return (edit_file){(uint8_t *)text, n};
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cuzk_fixture z = cuzk_test_fixture(keys[i]);
        cuzk_zkey key;
        cuzk_zkey again;
        assert_int_equal(cuzk_zkey_open(&key, z.data, z.size, NULL), CUZK_OK);
        edit_file out = rewrite(&key, key.circuit_hash, false, i % 2 == 0 ? 1000000 : 37);
        assert_int_equal(edit_get_u32(&out, 8), 10);
        for (uint32_t id = 1; id <= 9; id++) {
            assert_int_equal(edit_section_size(&out, id), edit_section_size(&z, id));
            assert_memory_equal(out.data + edit_section_offset(&out, id),
                                z.data + edit_section_offset(&z, id), edit_section_size(&z, id));
        }
        assert_int_equal(cuzk_zkey_open(&again, out.data, out.size, NULL), CUZK_OK);
        assert_true(again.has_contributions);
        assert_int_equal(again.n_contributions, 0);
        assert_memory_equal(again.circuit_hash, key.circuit_hash, 64);
        assert_false(again.is_test_key);
        cuzk_test_fixture_free(&out);

        out = rewrite(&key, NULL, true, 1000000);
        static const uint8_t zeros[64] = {0};
        assert_int_equal(cuzk_zkey_open(&again, out.data, out.size, NULL), CUZK_OK);
        assert_true(again.is_test_key);
        assert_memory_equal(again.circuit_hash, zeros, 64);
        cuzk_test_fixture_free(&out);
        cuzk_test_fixture_free(&z);
    }
}

static void test_misuse(void **state)
{
    (void)state;
    cuzk_fixture z = cuzk_test_fixture(keys[0]);
    cuzk_zkey key;
    cuzk_zkey_writer w;
    assert_int_equal(cuzk_zkey_open(&key, z.data, z.size, NULL), CUZK_OK);
    cuzk_zkey_header good = {.vk = &key.vk,
                             .n_vars = key.n_vars,
                             .domain_size = key.domain_size,
                             .n_coeffs = (uint32_t)key.n_coeffs};
    FILE *f = fopen("/dev/null", "wb");
    assert_non_null(f);
    cuzk_zkey_header bad = good;
    bad.n_vars = 1;
    assert_int_equal(cuzk_zkey_writer_begin(&w, f, &bad, NULL), CUZK_E_ARGUMENT);
    bad = good;
    bad.domain_size = 3;
    assert_int_equal(cuzk_zkey_writer_begin(&w, f, &bad, NULL), CUZK_E_ARGUMENT);
    cuzk_vk no_twins = key.vk;
    no_twins.has_g1_pair = false;
    bad = good;
    bad.vk = &no_twins;
    assert_int_equal(cuzk_zkey_writer_begin(&w, f, &bad, NULL), CUZK_E_ARGUMENT);
    for (int kind = 0; kind < 7; kind++) {
        const cuzk_fr one = key.curve->fr_one;
        assert_int_equal(cuzk_zkey_writer_begin(&w, f, &good, NULL), CUZK_OK);
        if (kind != 0) { /* 0: no coefficients */
            put_coeffs(&w, &key);
        }
        if (kind == 1) {
            cuzk_zkey_writer_coeff(&w, 0, 0, 0, &one);
        }
        if (kind == 2) {
            cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_A, key.a, 1);
        }
        if (kind != 3) { /* 3: no queries */
            put_queries(&w, &key, 100);
        }
        if (kind == 4) {
            cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_B2, key.b2, 1);
        }
        if (kind == 5) {
            cuzk_zkey_writer_coeff(&w, 0, 0, 0, &one);
        }
        if (kind == 6) {
            cuzk_zkey_writer_points(&w, CUZK_ZKEY_QUERY_H, key.h, 1);
        }
        cuzk_error err = {0};
        assert_int_equal(cuzk_zkey_writer_end(&w, &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "missing, too long or out of order"));
    }
    fclose(f);
    f = fopen("/dev/full", "wb");
    if (f != NULL) {
        setvbuf(f, NULL, _IONBF, 0);
        assert_int_equal(cuzk_zkey_writer_begin(&w, f, &good, NULL), CUZK_OK);
        put_coeffs(&w, &key);
        put_queries(&w, &key, 100);
        assert_int_equal(cuzk_zkey_writer_end(&w, NULL), CUZK_E_FILE);
        fclose(f);
    }
    cuzk_test_fixture_free(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
