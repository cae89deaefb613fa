/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The zcash encoding of bls12_381 points: known answers, round trips, and every kind of malformed
 * input. */
#include "curve/curve_util.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_curve *curve;

/* Bytes of a point of group g in a form. */
static size_t form_bytes(const cuzk_group *g, cuzk_point_form form)
{
    return form == CUZK_POINT_COMPRESSED ? g->coord_bytes : g->affine_bytes;
}

static void expect(const cuzk_group *g, const uint8_t *in, cuzk_point_form form, bool subgroup,
                   cuzk_point_status status)
{
    cuzk_affine out, untouched;
    memset(&out, 0x5a, sizeof(out));
    untouched = out;
    assert_int_equal(g->decode(&out, in, form, subgroup), status);
    if (status != CUZK_POINT_OK) {
        assert_memory_equal(&out, &untouched, sizeof(out));
    }
}

static void test_known_answers(void **state)
{
    (void)state;
    vector_file file;
    size_t n = 0, n_points[2] = {0, 0};
    static cuzk_affine points[2][1000];
    vector_file_read(&file, curve);
    for (size_t i = 0; i < file.n; i++) {
        const vector_line *l = &file.lines[i];
        cuzk_group_id id = l->word[0][1] == '1' ? CUZK_G1 : CUZK_G2;
        const cuzk_group *g = &curve->g[id];
        if (strcmp(l->word[0] + 2, "mul") == 0) {
            hex_to_affine(g, curve, &points[id][n_points[id]++], &l->word[2]);
            continue;
        }
        if (strcmp(l->word[0] + 2, "enc") != 0) {
            continue;
        }
        const cuzk_affine *p = &points[id][atoi(l->word[1])];
        for (int form = 0; form < 2; form++) { /* word 2 is compressed, word 3 is not */
            cuzk_point_form f = form == 0 ? CUZK_POINT_COMPRESSED : CUZK_POINT_UNCOMPRESSED;
            uint8_t expected[192], found[192], shifted[193];
            cuzk_affine back;
            size_t n_bytes = hex_to_bytes(expected, sizeof(expected), l->word[2 + form]);
            assert_int_equal(n_bytes, form_bytes(g, f));
            g->encode(found, p, f);
            assert_memory_equal(found, expected, n_bytes);
            assert_int_equal(g->decode(&back, expected, f, true), CUZK_POINT_OK);
            assert_affine_equal(g, &back, p, i + 1);
            memcpy(shifted + 1, expected, n_bytes);
            assert_int_equal(g->decode(shifted + 1, shifted + 1, f, true), CUZK_POINT_OK);
            assert_memory_equal(shifted + 1, p, g->affine_bytes < 192 ? g->affine_bytes : 192);
        }
        n++;
    }
    assert_true(n >= 100);
    vector_file_free(&file);
}

static void test_round_trip(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int id = 0; id < 2; id++) {
        const cuzk_group *g = &curve->g[id];
        for (int i = 0; i < 100; i++) {
            cuzk_affine p, minus, back;
            uint8_t bytes[192], other[192];
            test_random_point(g, curve, &p, &seed);
            g->affine_neg(&minus, &p);
            for (int form = 0; form < 2; form++) {
                g->encode(bytes, &p, (cuzk_point_form)form);
                assert_int_equal(g->decode(&back, bytes, (cuzk_point_form)form, true),
                                 CUZK_POINT_OK);
                assert_affine_equal(g, &back, &p, 0);
                assert_int_equal(bytes[0] >> 7, form == CUZK_POINT_COMPRESSED);
            }
            if (!g->affine_is_infinity(&p)) { /* bytes holds the compressed form */
                g->encode(other, &minus, CUZK_POINT_COMPRESSED);
                other[0] ^= 0x20;
                assert_memory_equal(bytes, other, g->coord_bytes);
            }
        }
    }
}

static void test_infinity(void **state)
{
    (void)state;
    for (int id = 0; id < 2; id++) {
        const cuzk_group *g = &curve->g[id];
        for (int form = 0; form < 2; form++) {
            cuzk_point_form f = (cuzk_point_form)form;
            size_t n = form_bytes(g, f);
            uint8_t bytes[192], good[192];
            cuzk_affine inf, back;
            memset(&inf, 0, sizeof(inf));
            memset(&back, 0xff, sizeof(back));
            g->encode(good, &inf, f);
            assert_int_equal(good[0], f == CUZK_POINT_COMPRESSED ? 0xc0 : 0x40);
            for (size_t i = 1; i < n; i++) {
                assert_int_equal(good[i], 0);
            }
            assert_int_equal(g->decode(&back, good, f, true), CUZK_POINT_OK);
            assert_affine_equal(g, &back, &inf, 0);
            for (size_t bit = 0; bit < 8 * n; bit++) { /* infinity with one more bit */
                memcpy(bytes, good, n);
                bytes[bit / 8] ^= (uint8_t)(0x80 >> (bit % 8));
                if (bit == 1) { /* no infinity flag: x = 0 (and y = 0) */
                    continue;
                }
                expect(g, bytes, f, false, CUZK_POINT_BAD_FLAGS);
            }
        }
    }
}

static void test_flags(void **state)
{
    (void)state;
    for (int id = 0; id < 2; id++) {
        const cuzk_group *g = &curve->g[id];
        uint8_t bytes[192];
        cuzk_affine p;
        g->generator(&p);
        g->encode(bytes, &p, CUZK_POINT_UNCOMPRESSED);
        expect(g, bytes, CUZK_POINT_COMPRESSED, false, CUZK_POINT_BAD_FLAGS);
        bytes[0] |= 0x20; /* the sign flag belongs to the compressed form */
        expect(g, bytes, CUZK_POINT_UNCOMPRESSED, false, CUZK_POINT_BAD_FLAGS);
        bytes[0] ^= 0xa0;
        expect(g, bytes, CUZK_POINT_UNCOMPRESSED, false, CUZK_POINT_BAD_FLAGS);
        bytes[0] = (uint8_t)((bytes[0] & 0x1f) | 0x40);
        expect(g, bytes, CUZK_POINT_UNCOMPRESSED, false, CUZK_POINT_BAD_FLAGS);
        g->encode(bytes, &p, CUZK_POINT_COMPRESSED);
        bytes[0] ^= 0x80;
        expect(g, bytes, CUZK_POINT_COMPRESSED, false, CUZK_POINT_BAD_FLAGS);
        bytes[0] ^= 0xc0;
        expect(g, bytes, CUZK_POINT_COMPRESSED, false, CUZK_POINT_BAD_FLAGS);
    }
}

/* value + p in the big-endian coordinate at `at`, when that fits 381 bits and so may pass as x. */
static void write_p(uint8_t *at, int64_t delta)
{
    uint64_t words[6];
    memcpy(words, curve->p, sizeof(words));
    words[0] += (uint64_t)delta; /* p ends in …aaab: no carry for small deltas */
    for (int i = 0; i < 48; i++) {
        at[47 - i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
    }
}

static void test_not_reduced(void **state)
{
    (void)state;
    for (int id = 0; id < 2; id++) {
        const cuzk_group *g = &curve->g[id];
        for (int form = 0; form < 2; form++) {
            cuzk_point_form f = (cuzk_point_form)form;
            size_t n = form_bytes(g, f);
            for (size_t at = 0; at < n; at += 48) {
                uint8_t bytes[192];
                cuzk_affine p;
                for (int64_t delta = 0; delta < 3; delta++) {
                    g->generator(&p);
                    g->encode(bytes, &p, f);
                    uint8_t flags = bytes[0] & 0xe0;
                    write_p(bytes + at, delta);
                    bytes[0] |= at == 0 ? flags : 0;
                    expect(g, bytes, f, false, CUZK_POINT_NOT_REDUCED);
                    memset(bytes + at, 0xff, 48);
                    bytes[0] = (uint8_t)((bytes[0] & 0x1f) | flags);
                    expect(g, bytes, f, false, CUZK_POINT_NOT_REDUCED);
                }
                g->generator(&p);
                g->encode(bytes, &p, f);
                uint8_t flags = bytes[0] & 0xe0;
                write_p(bytes + at, -1); /* reduced: fails later, or by luck is a point */
                bytes[0] |= at == 0 ? flags : 0;
                assert_int_not_equal(g->decode(&p, bytes, f, false), CUZK_POINT_NOT_REDUCED);
            }
        }
    }
}

static void test_not_on_curve(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int id = 0; id < 2; id++) {
        const cuzk_group *g = &curve->g[id];
        uint8_t bytes[192];
        cuzk_affine p;
        memset(bytes, 0, sizeof(bytes)); /* (0, 0) is not infinity's encoding */
        expect(g, bytes, CUZK_POINT_UNCOMPRESSED, false, CUZK_POINT_NOT_ON_CURVE);
        int none = 0, found = 0;
        for (int i = 0; i < 200; i++) {
            test_random_point(g, curve, &p, &seed);
            g->encode(bytes, &p, CUZK_POINT_UNCOMPRESSED);
            if ((bytes[0] & 0x40) == 0) {
                bytes[g->affine_bytes - 1 - (size_t)i % 24] ^= (uint8_t)(1 << (i % 8));
                expect(g, bytes, CUZK_POINT_UNCOMPRESSED, false, CUZK_POINT_NOT_ON_CURVE);
            }
            /* half of all x have no point */
            memset(bytes, 0, g->coord_bytes);
            for (size_t k = 1; k < g->coord_bytes; k++) {
                bytes[k] = (uint8_t)test_random(&seed);
            }
            bytes[48] &= 0x0f; /* G2: the second coordinate below p too */
            bytes[0] = 0x80;
            switch (g->decode(&p, bytes, CUZK_POINT_COMPRESSED, false)) {
            case CUZK_POINT_NOT_ON_CURVE:
                none++;
                break;
            case CUZK_POINT_OK:
                found++;
                assert_true(g->on_curve(&p));
                assert_false(g->in_subgroup(&p));
                expect(g, bytes, CUZK_POINT_COMPRESSED, true, CUZK_POINT_NOT_IN_SUBGROUP);
                g->encode(bytes, &p, CUZK_POINT_UNCOMPRESSED);
                expect(g, bytes, CUZK_POINT_UNCOMPRESSED, false, CUZK_POINT_OK);
                expect(g, bytes, CUZK_POINT_UNCOMPRESSED, true, CUZK_POINT_NOT_IN_SUBGROUP);
                break;
            default:
                fail_msg("unexpected status");
            }
        }
        assert_true(none > 60 && found > 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_infinity),      cmocka_unit_test(test_flags),
        cmocka_unit_test(test_not_reduced),   cmocka_unit_test(test_not_on_curve),
    };
    if (!test_path_supported()) {
        return 77;
    }
    curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    const cuzk_curve *bn254 = cuzk_curve_get(CUZK_CURVE_BN254);
    for (int i = 0; i < 2; i++) { /* no such encoding there */
        if (bn254->g[i].encode != NULL || bn254->g[i].decode != NULL) {
            return 1;
        }
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
