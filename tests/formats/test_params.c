/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bellperson's .params and .vk and the 192-byte proof: the reference's files read, written back to
 * the byte, and damaged in every count, length and point. BC-nnn: cases from the field, see
 * docs/formats.md. */
#define _GNU_SOURCE
#include "base/bytes.h"
#include "fixtures.h"
#include "formats/params.h"
#include "formats/proof.h"
#include "formats/test_key.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static const char *const circuits[] = {"product",   "cube",      "noaux",     "sparse",   "dense",
                                       "inputs300", "exact1024", "above1024", "poseidon8"};
enum { N_CIRCUITS = sizeof circuits / sizeof circuits[0] };

static cuzk_fixture load(const char *circuit, const char *file)
{
    char name[128];
    snprintf(name, sizeof name, "groth/%s/%s", circuit, file);
    return cuzk_test_fixture(name);
}

/* A number of expected.json; keys there are unique. */
static uint64_t expected_number(const cuzk_fixture *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *p = strstr((const char *)json->data, quoted);
    assert_non_null(p);
    return strtoull(p + strlen(quoted), NULL, 10);
}

static void hex_to_bytes(uint8_t *out, size_t n, const char *hex)
{
    for (size_t i = 0; i < n; i++) {
        unsigned v = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        out[i] = (uint8_t)v;
    }
}

static void test_read_and_write_back(void **state)
{
    (void)state;
    for (int i = 0; i < N_CIRCUITS; i++) {
        cuzk_fixture f = load(circuits[i], "circuit.params");
        cuzk_fixture fvk = load(circuits[i], "circuit.vk");
        cuzk_fixture json = load(circuits[i], "expected.json");
        cuzk_error err = {0};
        cuzk_params p;
        cuzk_vk vk;
        cuzk_vk vk_alone;
        assert_int_equal(cuzk_params_open(&p, f.data, f.size, &err), CUZK_OK);
        assert_int_equal(p.n_ic, expected_number(&json, "ic"));
        static const char *const names[] = {"h", "l", "a", "b_g1", "b_g2"};
        for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
            assert_int_equal(p.arrays[k].n, expected_number(&json, names[k]));
        }
        assert_int_equal(p.domain_size, p.arrays[CUZK_PARAMS_H].n + 1);
        assert_int_equal(p.domain_size, 1u << p.lg_domain);
        assert_false(p.is_test_key);
        assert_int_equal(cuzk_params_file_bytes(f.data, f.size), f.size);
        assert_int_equal(cuzk_params_check(&p, NULL, NULL, &err), CUZK_OK);
        assert_int_equal(cuzk_params_vk(&vk, &p, NULL, &err), CUZK_OK);
        assert_int_equal(cuzk_vk_read(&vk_alone, fvk.data, fvk.size, NULL, &err), CUZK_OK);
        assert_int_equal(vk.n_ic, vk_alone.n_ic);
        assert_memory_equal(&vk.alpha1, &vk_alone.alpha1, 6 * sizeof(cuzk_affine));
        assert_memory_equal(vk.ic, vk_alone.ic, (size_t)vk.n_ic * 96);
        assert_int_equal(cuzk_vk_check(&vk, NULL, &err), CUZK_OK);

        assert_int_equal(cuzk_vk_file_bytes(vk.n_ic), fvk.size);
        uint8_t *out = malloc(fvk.size);
        assert_non_null(out);
        assert_int_equal(cuzk_vk_write(out, fvk.size, &vk, &err), CUZK_OK);
        assert_memory_equal(out, fvk.data, fvk.size);
        free(out);

        cuzk_params_write_params w = {.vk = &vk};
        void *points[CUZK_PARAMS_ARRAY_COUNT];
        for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
            uint64_t n = p.arrays[k].n;
            points[k] = malloc(n * 192 + 1);
            assert_non_null(points[k]);
            /* in two pieces */
            size_t each = k == CUZK_PARAMS_B_G2 ? 192 : 96;
            uint64_t half = n / 2;
            assert_int_equal(cuzk_params_decode(points[k], &p, (cuzk_params_array)k, 0, half,
                                                k == 0, NULL, &err),
                             CUZK_OK);
            assert_int_equal(cuzk_params_decode((uint8_t *)points[k] + half * each, &p,
                                                (cuzk_params_array)k, half, n - half, k == 0, NULL,
                                                &err),
                             CUZK_OK);
            w.arrays[k].points = points[k];
            w.arrays[k].n = (uint32_t)n;
        }
        for (int mark = 0; mark < 2; mark++) {
            char *text = NULL;
            size_t n = 0;
            FILE *file = open_memstream(&text, &n);
            w.test_mark = mark != 0;
            assert_int_equal(cuzk_params_write(file, &w, &err), CUZK_OK);
            fclose(file);
            assert_int_equal(n, f.size + (mark ? CUZK_TEST_KEY_MARK_BYTES : 0));
            assert_memory_equal(text, f.data, f.size);
            cuzk_params again;
            assert_int_equal(cuzk_params_open(&again, (uint8_t *)text, n, &err), CUZK_OK);
            assert_int_equal(again.is_test_key, mark);
            cuzk_vk again_vk;
            assert_int_equal(cuzk_params_vk(&again_vk, &again, NULL, &err), CUZK_OK);
            assert_int_equal(again_vk.is_test_key, mark);
            cuzk_vk_clear(&again_vk);
            free(text);
        }
        for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
            free(points[k]);
        }
        cuzk_vk_clear(&vk);
        cuzk_vk_clear(&vk_alone);
        cuzk_test_fixture_free(&f);
        cuzk_test_fixture_free(&fvk);
        cuzk_test_fixture_free(&json);
    }
}

static cuzk_status open_copy(const uint8_t *data, uint64_t n, cuzk_error *err)
{
    /* a buffer of exactly n bytes, so that the sanitizers see a read past the end */
    assert_true(n <= PTRDIFF_MAX);
    uint8_t *copy = n <= PTRDIFF_MAX ? malloc(n > 0 ? n : 1) : NULL;
    assert_non_null(copy);
    if (n > 0) {
        memcpy(copy, data, n);
    }
    cuzk_params p;
    cuzk_status status = cuzk_params_open(&p, copy, n, err);
    free(copy);
    return status;
}

/* BC-098: every cut of a small file */
static void test_truncated(void **state)
{
    (void)state;
    cuzk_fixture f = load("product", "circuit.params");
    for (uint64_t n = 0; n < f.size; n++) {
        cuzk_error err = {0};
        assert_int_equal(open_copy(f.data, n, &err), CUZK_E_TRUNCATED);
        assert_mentions(err.text, "params");
        assert_int_equal(cuzk_params_file_bytes(f.data, n), 0);
    }
    cuzk_error err = {0};
    assert_int_equal(open_copy(f.data, f.size - 1, &err), CUZK_E_TRUNCATED);
    char expected[128];
    snprintf(expected, sizeof expected,
             "array b_g2 (1 points) should end at %" PRIu64 ", file size is %" PRIu64, f.size,
             f.size - 1);
    assert_mentions(err.text, expected);
    uint8_t *longer = calloc(1, f.size + 1);
    assert_non_null(longer);
    memcpy(longer, f.data, f.size);
    cuzk_error_clear(&err);
    assert_int_equal(open_copy(longer, f.size + 1, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "the last array ends at");
    free(longer);
    cuzk_test_fixture_free(&f);
}

/* Each length field: one more, one less, 0, the largest. */
static void test_length_fields(void **state)
{
    (void)state;
    cuzk_fixture f = load("sparse", "circuit.params");
    cuzk_params p;
    assert_int_equal(cuzk_params_open(&p, f.data, f.size, NULL), CUZK_OK);
    uint64_t fields[1 + CUZK_PARAMS_ARRAY_COUNT] = {CUZK_VK_HEAD_BYTES - 4};
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        fields[k + 1] = p.arrays[k].offset - 4;
    }
    for (int k = 0; k <= CUZK_PARAMS_ARRAY_COUNT; k++) {
        uint32_t good = cuzk_load_u32_be(f.data + fields[k]);
        const uint32_t bad[] = {good + 1, good - 1, 0, UINT32_MAX, good ^ 0x10000};
        for (int i = 0; i < 5; i++) {
            cuzk_error err = {0};
            cuzk_store_u32_be(f.data + fields[k], bad[i]);
            assert_int_not_equal(open_copy(f.data, f.size, &err), CUZK_OK);
            assert_mentions(err.text, "params");
        }
        cuzk_store_u32_be(f.data + fields[k], good);
    }
    assert_int_equal(open_copy(f.data, f.size, NULL), CUZK_OK);
    cuzk_test_fixture_free(&f);
}

/* A file of the given counts, all points zero: counts that fit the size but not each other. */
static cuzk_status open_counts(uint32_t ic, uint32_t h, uint32_t l, uint32_t a, uint32_t b1,
                               uint32_t b2, cuzk_error *err)
{
    const uint32_t counts[] = {h, l, a, b1, b2};
    uint64_t n = cuzk_vk_file_bytes(ic);
    uint64_t total = n + 20 + 96 * ((uint64_t)h + l + a + b1) + 192 * (uint64_t)b2;
    uint8_t *data = calloc(1, total);
    assert_non_null(data);
    cuzk_store_u32_be(data + CUZK_VK_HEAD_BYTES - 4, ic);
    for (int k = 0; k < 5; k++) {
        cuzk_store_u32_be(data + n, counts[k]);
        n += 4 + (k == 4 ? 192 : 96) * (uint64_t)counts[k];
    }
    cuzk_params p;
    cuzk_error_clear(err);
    cuzk_status status = cuzk_params_open(&p, data, total, err);
    free(data);
    return status;
}

static void test_counts_against_each_other(void **state)
{
    (void)state;
    cuzk_error err = {0};
    assert_int_equal(open_counts(2, 3, 1, 3, 1, 1, &err), CUZK_OK);
    assert_int_equal(open_counts(1, 0, 0, 1, 0, 0, &err), CUZK_OK);
    assert_int_equal(open_counts(0, 3, 1, 1, 1, 1, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "no input commitments");
    assert_int_equal(open_counts(2, 4, 1, 3, 1, 1, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "array h has 4 points, expected a power of two less 1");
    assert_int_equal(open_counts(2, 3, 1, 1, 1, 1, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "array a has 1 points, expected 2 to 3");
    assert_int_equal(open_counts(2, 3, 1, 4, 1, 1, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "array a has 4 points, expected 2 to 3");
    assert_int_equal(open_counts(2, 3, 1, 3, 4, 4, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "array b_g1 has 4 points, expected at most 3");
    assert_int_equal(open_counts(2, 3, 1, 3, 1, 2, &err), CUZK_E_FORMAT);
    assert_mentions(err.text, "array b_g2 has 2 points, b_g1 has 1");
}

/* BC-097: one bit of a point; and infinity, which is refused everywhere */
static void test_damaged_points(void **state)
{
    (void)state;
    cuzk_fixture f = load("sparse", "circuit.params");
    cuzk_params p;
    cuzk_vk vk;
    assert_int_equal(cuzk_params_open(&p, f.data, f.size, NULL), CUZK_OK);
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        uint64_t each = k == CUZK_PARAMS_B_G2 ? 192 : 96;
        uint64_t at = p.arrays[k].offset + (p.arrays[k].n - 1) * each;
        char what[64];
        snprintf(what, sizeof what,
                 "params, array %s: point %u: ", cuzk_params_array_name((cuzk_params_array)k),
                 p.arrays[k].n - 1);
        uint8_t good[192];
        memcpy(good, f.data + at, each);
        for (int kind = 0; kind < 4; kind++) {
            static const char *const reasons[] = {"not on the curve", "point at infinity",
                                                  "flag bits", "coordinate is not below"};
            if (kind == 0) {
                f.data[at + 30] ^= 1;
            } else if (kind == 1) {
                memset(f.data + at, 0, each);
                f.data[at] = 0x40;
            } else if (kind == 2) {
                f.data[at] |= 0x80;
            } else {
                memset(f.data + at, 0xff, 48);
                f.data[at] = 0x1f;
            }
            cuzk_error err = {0};
            assert_int_equal(cuzk_params_check(&p, NULL, NULL, &err), CUZK_E_FORMAT);
            assert_mentions(err.text, what);
            assert_mentions(err.text, reasons[kind]);
            memcpy(f.data + at, good, each);
        }
    }
    static const struct {
        const char *name;
        uint64_t offset;
        uint64_t size;
    } fixed[] = {{"alpha (G1)", 0, 96},    {"beta (G1)", 96, 96},   {"beta (G2)", 192, 192},
                 {"gamma (G2)", 384, 192}, {"delta (G1)", 576, 96}, {"delta (G2)", 672, 192},
                 {"IC", 868, 96}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        uint8_t good[192];
        uint8_t *at = f.data + fixed[i].offset;
        memcpy(good, at, fixed[i].size);
        for (int kind = 0; kind < 2; kind++) {
            cuzk_error err = {0};
            if (kind == 0) {
                at[40] ^= 8;
            } else {
                memset(at, 0, fixed[i].size);
                at[0] = 0x40;
            }
            assert_int_equal(cuzk_params_vk(&vk, &p, NULL, &err), CUZK_E_FORMAT);
            assert_mentions(err.text, fixed[i].name);
            assert_mentions(err.text, kind == 0 ? "not on the curve" : "infinity");
            memcpy(at, good, fixed[i].size);
        }
    }
    cuzk_error err = {0};
    uint8_t out[192];
    assert_int_equal(
        cuzk_params_decode(out, &p, CUZK_PARAMS_L, p.arrays[1].n, 1, false, NULL, &err),
        CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_params_decode(out, &p, CUZK_PARAMS_L, UINT64_MAX, 2, false, NULL, NULL),
                     CUZK_E_ARGUMENT);
    cuzk_test_fixture_free(&f);
}

/* The lowest bad index is the one reported, however many threads look. */
static void test_first_bad_of_many(void **state)
{
    (void)state;
    cuzk_fixture f = load("above1024", "circuit.params");
    cuzk_params p;
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 4, NULL), CUZK_OK);
    assert_int_equal(cuzk_params_open(&p, f.data, f.size, NULL), CUZK_OK);
    uint32_t n = p.arrays[CUZK_PARAMS_H].n;
    assert_int_equal(n, 2047);
    void *out = malloc((size_t)n * 96);
    assert_non_null(out);
    for (uint32_t bad = 5; bad < n; bad += 131) {
        for (uint32_t i = bad; i < n; i += 97) {
            f.data[p.arrays[0].offset + (uint64_t)i * 96 + 90] ^= 1;
        }
        cuzk_error err = {0};
        char text[64];
        snprintf(text, sizeof text, "params, array h: point %u: ", bad);
        assert_int_equal(cuzk_params_decode(out, &p, CUZK_PARAMS_H, 0, n, false, pool, &err),
                         CUZK_E_FORMAT);
        assert_mentions(err.text, text);
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_params_decode(out, &p, CUZK_PARAMS_H, 3, n - 3, false, pool, &err),
                         CUZK_E_FORMAT);
        assert_mentions(err.text, text);
        for (uint32_t i = bad; i < n; i += 97) {
            f.data[p.arrays[0].offset + (uint64_t)i * 96 + 90] ^= 1;
        }
    }
    assert_int_equal(cuzk_params_decode(out, &p, CUZK_PARAMS_H, 0, n, true, pool, NULL), CUZK_OK);
    free(out);
    cuzk_pool_destroy(pool);
    cuzk_test_fixture_free(&f);
}

static void test_vk_damaged(void **state)
{
    (void)state;
    cuzk_fixture f = load("product", "circuit.vk");
    cuzk_vk vk;
    for (uint64_t n = 0; n < f.size; n++) {
        cuzk_error err = {0};
        assert_int_equal(cuzk_vk_read(&vk, f.data, n, NULL, &err), CUZK_E_TRUNCATED);
        assert_mentions(err.text, "vk file");
    }
    uint64_t field = CUZK_VK_HEAD_BYTES - 4;
    const uint32_t bad[] = {0, 1, 3, UINT32_MAX};
    for (int i = 0; i < 4; i++) {
        cuzk_store_u32_be(f.data + field, bad[i]);
        assert_int_not_equal(cuzk_vk_read(&vk, f.data, f.size, NULL, NULL), CUZK_OK);
    }
    cuzk_store_u32_be(f.data + field, 2);
    assert_int_equal(cuzk_vk_read(&vk, f.data, f.size, NULL, NULL), CUZK_OK);
    uint8_t out[868 + 192];
    cuzk_error err = {0};
    assert_int_equal(cuzk_vk_write(out, sizeof out - 1, &vk, &err), CUZK_E_ARGUMENT);
    vk.has_g1_pair = false;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_vk_write(out, sizeof out, &vk, &err), CUZK_E_ARGUMENT);
    assert_mentions(err.text, "beta and delta in G1 are not known");
    cuzk_vk_clear(&vk);
    assert_null(vk.ic);
    cuzk_vk_clear(&vk);
    cuzk_test_fixture_free(&f);
}

static void test_proof_bytes(void **state)
{
    (void)state;
    static const char *const names[] = {"proof_fixed_rs", "proof_fixed_rs_1", "proof_zero_rs"};
    for (int i = 0; i < N_CIRCUITS; i++) {
        cuzk_fixture json = load(circuits[i], "expected.json");
        for (int k = 0; k < 3; k++) {
            char quoted[32];
            snprintf(quoted, sizeof quoted, "\"%s\": \"", names[k]);
            const char *hex = strstr((const char *)json.data, quoted);
            assert_non_null(hex);
            uint8_t bytes[CUZK_PROOF_BYTES];
            uint8_t again[CUZK_PROOF_BYTES];
            cuzk_proof_points proof;
            hex_to_bytes(bytes, sizeof bytes, hex + strlen(quoted));
            assert_int_equal(cuzk_proof_points_read(&proof, bytes, sizeof bytes, NULL), CUZK_OK);
            assert_int_equal(cuzk_proof_points_check(&proof, NULL), CUZK_OK);
            assert_int_equal(cuzk_proof_points_write(again, &proof, NULL), CUZK_OK);
            assert_memory_equal(bytes, again, sizeof bytes);
        }
        cuzk_test_fixture_free(&json);
    }
}

static void test_proof_bytes_damaged(void **state)
{
    (void)state;
    cuzk_fixture json = load("cube", "expected.json");
    const char *hex = strstr((const char *)json.data, "\"proof_fixed_rs\": \"");
    uint8_t good[CUZK_PROOF_BYTES];
    cuzk_proof_points proof;
    hex_to_bytes(good, sizeof good, hex + strlen("\"proof_fixed_rs\": \""));
    for (uint64_t n = 0; n <= CUZK_PROOF_BYTES; n++) {
        assert_int_equal(cuzk_proof_points_read(&proof, good, n, NULL),
                         n == CUZK_PROOF_BYTES ? CUZK_OK : CUZK_E_TRUNCATED);
    }
    static const struct {
        size_t offset;
        size_t size;
        const char *name;
    } points[] = {{0, 48, "point A"}, {48, 96, "point B"}, {144, 48, "point C"}};
    for (int i = 0; i < 3; i++) {
        for (int kind = 0; kind < 4; kind++) {
            uint8_t bytes[CUZK_PROOF_BYTES];
            cuzk_error err = {0};
            memcpy(bytes, good, sizeof good);
            uint8_t *p = bytes + points[i].offset;
            switch (kind) {
            case 0:
                p[0] &= 0x7f;
                break;
            case 1:
                memset(p, 0, points[i].size);
                p[0] = 0xc0;
                break;
            case 2:
                memset(p, 0xff, points[i].size);
                p[0] = 0x9f;
                break;
            default:
                p[0] |= 0x40;
                break;
            }
            assert_int_equal(cuzk_proof_points_read(&proof, bytes, sizeof bytes, &err),
                             CUZK_E_INVALID_PROOF);
            assert_mentions(err.text, points[i].name);
        }
        /* x counted up: half of them are on the curve, none of those in the subgroup */
        int off_curve = 0;
        int off_subgroup = 0;
        for (int step = 1; step <= 40; step++) {
            uint8_t bytes[CUZK_PROOF_BYTES];
            cuzk_error err = {0};
            memcpy(bytes, good, sizeof good);
            bytes[points[i].offset + points[i].size - 1] ^= (uint8_t)step;
            assert_int_equal(cuzk_proof_points_read(&proof, bytes, sizeof bytes, &err),
                             CUZK_E_INVALID_PROOF);
            off_curve += strstr(err.text, "not on the curve") != NULL;
            off_subgroup += strstr(err.text, "not in the subgroup") != NULL;
        }
        assert_int_equal(off_curve + off_subgroup, 40);
        assert_in_range(off_curve, 5, 35);
    }
    uint64_t n = 0;
    assert_int_equal(cuzk_proof_points_count(&n, 1920, NULL), CUZK_OK);
    assert_int_equal(n, 10);
    assert_int_equal(cuzk_proof_points_count(&n, 0, NULL), CUZK_E_FORMAT);
    assert_int_equal(cuzk_proof_points_count(&n, 191, NULL), CUZK_E_FORMAT);
    assert_int_equal(cuzk_proof_points_read(&proof, good, sizeof good, NULL), CUZK_OK);
    memset(&proof.c, 0, sizeof proof.c);
    uint8_t out[CUZK_PROOF_BYTES];
    assert_int_equal(cuzk_proof_points_write(out, &proof, NULL), CUZK_E_ARGUMENT);
    proof.curve = cuzk_curve_get(CUZK_CURVE_BN254);
    assert_int_equal(cuzk_proof_points_write(out, &proof, NULL), CUZK_E_ARGUMENT);
    cuzk_test_fixture_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_write_back),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_length_fields),
        cmocka_unit_test(test_counts_against_each_other),
        cmocka_unit_test(test_damaged_points),
        cmocka_unit_test(test_first_bad_of_many),
        cmocka_unit_test(test_vk_damaged),
        cmocka_unit_test(test_proof_bytes),
        cmocka_unit_test(test_proof_bytes_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
