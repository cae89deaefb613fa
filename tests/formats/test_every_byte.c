/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small files of every kind with one bit of one byte changed, byte after byte. What is still
 * accepted is written again and must be the changed file: no reader passes over a byte, takes two
 * spellings for one thing, or repairs. The bytes that may be anything are listed here. Nor is a
 * file accepted that ends early. */
#define _GNU_SOURCE
#include "base/bytes.h"
#include "fixtures.h"
#include "formats/inspect.h"
#include "formats/params.h"
#include "formats/proof.h"
#include "formats/r1cs_file.h"
#include "formats/sections.h"
#include "formats/wtns.h"
#include "formats/zkey_contributions.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0eb1;

/* Reads the whole file as deeply as this layer can. again: NULL, or the file as it is written from
 * what was read, `*n_again` bytes, malloc'ed; NULL for a kind that is not written whole. */
typedef cuzk_status (*deep_read)(const uint8_t *data, uint64_t size, uint8_t **again,
                                 size_t *n_again, cuzk_error *err);

/* ---- readers --------------------------------------------------------------------------------- */

static cuzk_status read_wtns(const uint8_t *data, uint64_t size, uint8_t **again, size_t *n_again,
                             cuzk_error *err)
{
    cuzk_wtns w;
    CUZK_TRY(cuzk_wtns_open(&w, data, size, err));
    CUZK_TRY(cuzk_wtns_check(&w, NULL, err));
    *n_again = cuzk_wtns_file_bytes(w.n_values);
    *again = malloc(*n_again);
    assert_non_null(*again);
    cuzk_wtns_write(*again, w.curve, w.values, w.n_values);
    return CUZK_OK;
}

static cuzk_status read_r1cs(const uint8_t *data, uint64_t size, uint8_t **again, size_t *n_again,
                             cuzk_error *err)
{
    cuzk_r1cs r;
    cuzk_r1cs_iter it;
    cuzk_r1cs_lc lc[3];
    bool more = true;
    CUZK_TRY(cuzk_r1cs_open(&r, data, size, err));
    CUZK_TRY(cuzk_r1cs_require_groth16(&r, err));
    cuzk_r1cs_writer w;
    FILE *file = tmpfile();
    assert_non_null(file);
    cuzk_r1cs_writer_begin(&w, file, r.curve);
    cuzk_r1cs_begin(&it, &r);
    cuzk_status status = cuzk_r1cs_next(&it, lc, &more, err);
    while (status == CUZK_OK && more) {
        cuzk_r1cs_writer_constraint(&w, lc);
        status = cuzk_r1cs_next(&it, lc, &more, err);
    }
    uint64_t *labels = calloc(r.n_wires, sizeof *labels);
    assert_non_null(labels);
    for (uint32_t i = 0; i < r.n_wires; i++) {
        labels[i] = r.labels.size > 0 ? cuzk_load_u64_le(r.labels.data + 8 * (uint64_t)i) : i;
    }
    const cuzk_r1cs_header h = {.n_wires = r.n_wires,
                                .n_pub_out = r.n_pub_out,
                                .n_pub_in = r.n_pub_in,
                                .n_prv_in = r.n_prv_in,
                                .n_labels = r.n_labels,
                                .labels = labels};
    if (status == CUZK_OK) {
        assert_int_equal(cuzk_r1cs_writer_end(&w, &h, NULL), CUZK_OK);
        *n_again = (size_t)ftell(file);
        *again = malloc(*n_again);
        assert_non_null(*again);
        rewind(file);
        assert_int_equal(fread(*again, 1, *n_again, file), *n_again);
    }
    free(labels);
    fclose(file);
    return status;
}

static cuzk_status read_zkey(const uint8_t *data, uint64_t size, uint8_t **again, size_t *n_again,
                             cuzk_error *err)
{
    cuzk_zkey k;
    (void)again, (void)n_again;
    CUZK_TRY(cuzk_zkey_open(&k, data, size, err));
    CUZK_TRY(cuzk_zkey_check_contributions(&k, err));
    return cuzk_zkey_check(&k, NULL, NULL, err);
}

static cuzk_status read_vk(const uint8_t *data, uint64_t size, uint8_t **again, size_t *n_again,
                           cuzk_error *err)
{
    cuzk_vk vk;
    CUZK_TRY(cuzk_vk_read(&vk, data, size, NULL, err));
    *n_again = cuzk_vk_file_bytes(vk.n_ic);
    *again = malloc(*n_again);
    assert_non_null(*again);
    assert_int_equal(cuzk_vk_write(*again, *n_again, &vk, NULL), CUZK_OK);
    cuzk_vk_clear(&vk);
    return CUZK_OK;
}

static cuzk_status read_params(const uint8_t *data, uint64_t size, uint8_t **again, size_t *n_again,
                               cuzk_error *err)
{
    cuzk_params p;
    cuzk_vk vk;
    (void)again, (void)n_again;
    CUZK_TRY(cuzk_params_open(&p, data, size, err));
    CUZK_TRY(cuzk_params_check(&p, NULL, NULL, err));
    CUZK_TRY(cuzk_params_vk(&vk, &p, NULL, err));
    cuzk_vk_clear(&vk);
    return CUZK_OK;
}

static cuzk_status read_proof(const uint8_t *data, uint64_t size, uint8_t **again, size_t *n_again,
                              cuzk_error *err)
{
    cuzk_proof_points proof;
    CUZK_TRY(cuzk_proof_points_read(&proof, data, size, err));
    *again = malloc(CUZK_PROOF_BYTES);
    assert_non_null(*again);
    *n_again = CUZK_PROOF_BYTES;
    assert_int_equal(cuzk_proof_points_write(*again, &proof, NULL), CUZK_OK);
    return CUZK_OK;
}

/* ---- changes --------------------------------------------------------------------------------- */

static void ignore_line(void *user, cuzk_inspect_kind kind, const char *name, const char *value,
                        bool is_number)
{
    (void)user, (void)kind, (void)is_number;
    assert_true(name != NULL && value != NULL);
}

/* Whether the byte at `at` may be anything: its file is accepted whatever stands there. */
typedef bool (*may_be_anything)(const uint8_t *data, uint64_t size, uint64_t at);

static bool nothing(const uint8_t *data, uint64_t size, uint64_t at)
{
    (void)data, (void)size, (void)at;
    return false;
}

/* dense: bytes at the front of which each is changed, and behind them every step-th. Returns how
 * many changed files were accepted. */
static unsigned change_bytes(const cuzk_fixture *f, deep_read read, may_be_anything free_byte,
                             uint64_t dense, uint64_t step)
{
    unsigned n_accepted = 0;
    uint8_t *copy = malloc(f->size);
    assert_non_null(copy);
    memcpy(copy, f->data, f->size);
    for (uint64_t at = 0; at < f->size; at += at < dense ? 1 : step) {
        uint8_t *again = NULL, good = copy[at];
        size_t n_again = 0;
        cuzk_error err = {0};
        copy[at] ^= (uint8_t)(1u << (cuzk_test_random(&seed) % 8));
        cuzk_status status = read(copy, f->size, &again, &n_again, &err);
        bool is_free = free_byte(f->data, f->size, at);
        if (status == CUZK_OK) {
            n_accepted++;
            bool same = n_again == f->size && memcmp(again, copy, f->size) == 0;
            if (!is_free && !(again != NULL && same)) {
                fail_msg("byte %llu, changed to 0x%02x, is passed over", (unsigned long long)at,
                         copy[at]);
            }
        } else {
            assert_true(err.text[0] != '\0');
        }
        /* a report, too, is made of it without harm; and says no less than the reader */
        const cuzk_inspect_options options = {.deep = at % 7 == 0};
        cuzk_status told = cuzk_inspect(copy, f->size, &options, ignore_line, NULL, NULL);
        assert_true(!options.deep || status == CUZK_OK || told != CUZK_OK);
        copy[at] = good;
        free(again);
    }
    free(copy);
    return n_accepted;
}

/* Every file that ends early. needed: bytes that are part of the file. */
static void cut(const cuzk_fixture *f, deep_read read, uint64_t needed, uint64_t step)
{
    for (uint64_t n = 0; n < needed; n += step) {
        uint8_t *copy = malloc(n > 0 ? n : 1), *again = NULL; /* of that size, for the sanitizers */
        size_t n_again = 0;
        cuzk_error err = {0};
        assert_non_null(copy);
        memcpy(copy, f->data, n);
        assert_int_not_equal(read(copy, n, &again, &n_again, &err), CUZK_OK);
        assert_true(err.text[0] != '\0');
        free(copy);
    }
}

/* ---- the kinds ------------------------------------------------------------------------------- */

static void test_wtns(void **state)
{
    (void)state;
    cuzk_fixture f = cuzk_test_fixture("circom/bn254/multiplier2/witness.wtns");
    /* values but the first; of the highest byte some bits make them too large */
    assert_in_range(change_bytes(&f, read_wtns, nothing, f.size, 1), 70, 96);
    cut(&f, read_wtns, f.size, 1);
    cuzk_test_fixture_free(&f);
}

/* Section 3, labels, may be missing: under another number nobody looks at it. */
static bool is_label_id(const uint8_t *data, uint64_t size, uint64_t at)
{
    cuzk_sections s;
    cuzk_section section;
    uint64_t next = 0;
    assert_int_equal(cuzk_sections_open(&s, "r1cs", 1, data, size, NULL), CUZK_OK);
    while (cuzk_sections_next(&s, &next, &section)) {
        if (section.id == 3 && at >= section.offset - 12 && at < section.offset - 8) {
            return true;
        }
    }
    return false;
}

static void test_r1cs(void **state)
{
    (void)state;
    static const char *const files[] = {"circom/bn254/multiplier2/circuit.r1cs",
                                        "circom/bls12381/multiplier2/circuit.r1cs"};
    for (int i = 0; i < 2; i++) {
        cuzk_fixture f = cuzk_test_fixture(files[i]);
        assert_true(change_bytes(&f, read_r1cs, is_label_id, f.size, 1) > 20);
        cut(&f, read_r1cs, f.size, 1);
        cuzk_test_fixture_free(&f);
    }
}

/* What a .zkey does not fix: coefficients (a value below r, another wire, row or matrix); whether a
 * contribution was a beacon, and what it says of itself. Section 10 may be missing: its number. */
static bool is_free_in_zkey(const uint8_t *data, uint64_t size, uint64_t at)
{
    cuzk_sections s;
    cuzk_zkey k;
    cuzk_zkey_contribution c;
    uint64_t end = 0;
    assert_int_equal(cuzk_sections_open(&s, "zkey", 1, data, size, NULL), CUZK_OK);
    assert_int_equal(cuzk_zkey_open(&k, data, size, NULL), CUZK_OK);
    assert_int_equal(k.n_contributions, 1);
    assert_int_equal(cuzk_zkey_contribution_next(&k, &end, &c, NULL), CUZK_OK);
    const cuzk_section *coeffs = &s.first[4], *record = &s.first[10];
    const uint8_t *kind = c.transcript + CUZK_TRANSCRIPT_BYTES;
    return (at >= coeffs->offset + 4 && at < coeffs->offset + coeffs->size) ||
           (at >= record->offset - 12 && at < record->offset - 8) || data + at == kind ||
           data + at >= kind + 8;
}

static void test_zkey(void **state)
{
    (void)state;
    static const char *const files[] = {"circom/bn254/multiplier2/circuit.zkey",
                                        "circom/bls12381/multiplier2/circuit.zkey"};
    for (int i = 0; i < 2; i++) {
        cuzk_fixture f = cuzk_test_fixture(files[i]);
        assert_true(change_bytes(&f, read_zkey, is_free_in_zkey, 160, i == 0 ? 3 : 7) > 20);
        cut(&f, read_zkey, f.size, i == 0 ? 5 : 13);
        cuzk_test_fixture_free(&f);
    }
}

static void test_vk_and_params(void **state)
{
    (void)state;
    cuzk_fixture f = cuzk_test_fixture("groth/product/circuit.vk");
    assert_int_equal(change_bytes(&f, read_vk, nothing, 0, 5), 0);
    cut(&f, read_vk, f.size, 1);
    cuzk_test_fixture_free(&f);
    f = cuzk_test_fixture("groth/product/circuit.params");
    assert_int_equal(change_bytes(&f, read_params, nothing, 0, 7), 0);
    cut(&f, read_params, f.size, 1);
    cuzk_test_fixture_free(&f);
}

static void test_proof(void **state)
{
    (void)state;
    cuzk_fixture f = cuzk_test_fixture("cases/winning-2k-5/proof.bin");
    /* the bit that says which root y is makes another valid point of each of the three */
    for (uint64_t at = 0; at <= 144; at += at == 0 ? 48 : 96) {
        uint8_t *again = NULL;
        size_t n_again = 0;
        f.data[at] ^= 0x20;
        assert_int_equal(read_proof(f.data, f.size, &again, &n_again, NULL), CUZK_OK);
        assert_memory_equal(again, f.data, f.size);
        f.data[at] ^= 0x20;
        free(again);
    }
    assert_in_range(change_bytes(&f, read_proof, nothing, f.size, 1), 0, 3);
    cut(&f, read_proof, f.size, 1);
    cuzk_test_fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wtns),  cmocka_unit_test(test_r1cs),
        cmocka_unit_test(test_zkey),  cmocka_unit_test(test_vk_and_params),
        cmocka_unit_test(test_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
