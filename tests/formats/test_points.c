/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Long arrays of points: valid ones, and each thing that can be wrong with one, at places around
 * the pieces that threads take, on both curves, in both groups and in both forms. Whatever the
 * threads do, the first bad index is the one that is told. */
#include "base/bytes.h"
#include "formats/points.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static uint64_t seed = 0x5eed0f01;
static cuzk_pool *pool;

enum { POINTS = 2 * 1024 + 37, POINT_MAX = 192 }; /* the pieces of a pool are 1024 points */

/* Where things go wrong: ends, and both sides of the pieces' borders. */
static const uint64_t places[] = {0, 1, 7, 8, 1023, 1024, 1031, 2047, 2048, POINTS - 1};
enum { PLACES = sizeof places / sizeof places[0] };

/* Multiples of the generator, one after the other. */
static uint8_t *make_points(const cuzk_group *g)
{
    uint8_t *points = malloc((size_t)POINTS * g->affine_bytes);
    cuzk_jac *jac = malloc(POINTS * sizeof *jac);
    cuzk_affine generator;
    assert_true(points != NULL && jac != NULL);
    g->generator(&generator);
    g->from_affine(&jac[0], &generator);
    for (int i = 1; i < POINTS; i++) {
        g->add_affine(&jac[i], &jac[i - 1], &generator);
    }
    g->batch_to_affine(points, jac, POINTS);
    free(jac);
    return points;
}

/* p in the memory form of a coordinate, less `less`. */
static void put_modulus(uint8_t *out, const cuzk_curve *c, uint64_t less)
{
    for (unsigned i = 0; i < c->fp_limbs; i++) {
        cuzk_store_u64_le(out + 8 * i, c->p[i] - (i == 0 ? less : 0));
    }
}

/* A point on the curve outside the subgroup, in memory form; false where all points are inside. */
static bool off_subgroup(uint8_t *out, const cuzk_curve *c, cuzk_group_id id)
{
    const cuzk_group *g = &c->g[id];
    if (g->decode == NULL) {
        return false; /* no decoder that finds y */
    }
    uint8_t in[POINT_MAX] = {0};
    for (unsigned x = 1; x < 200; x++) {
        in[0] = 0x80;
        in[g->coord_bytes - 1] = (uint8_t)x;
        if (g->decode(out, in, CUZK_POINT_COMPRESSED, false) == CUZK_POINT_OK &&
            !g->in_subgroup(out)) {
            return true;
        }
    }
    fail_msg("no point outside the subgroup among 200");
    return false;
}

struct set {
    const cuzk_curve *curve;
    const cuzk_group *group;
    uint8_t *points;
};

static cuzk_status check(const struct set *s, uint64_t n, uint64_t first, int flags,
                         cuzk_error *err)
{
    return cuzk_points_check(s->curve, s->group->id, s->points, n, first, flags, "array x", pool,
                             err);
}

/* With point i as `bad` says: refused at that index where `flags` look for it. */
static void expect_refused(const struct set *s, uint64_t i, const uint8_t *bad, int flags,
                           const char *why)
{
    size_t size = s->group->affine_bytes;
    uint8_t good[POINT_MAX], *at = s->points + i * size;
    const uint64_t first = UINT64_C(1) << 33;
    char text[160];
    cuzk_error err = {0};
    memcpy(good, at, size);
    memcpy(at, bad, size);
    assert_int_equal(check(s, POINTS, first, flags, &err), why != NULL ? CUZK_E_FORMAT : CUZK_OK);
    if (why != NULL) {
        snprintf(text, sizeof text, "array x: point %" PRIu64 ": %s", first + i, why);
        assert_string_equal(err.text, text);
        /* not among those in front of it; the first of two */
        assert_int_equal(check(s, i, 0, flags, NULL), CUZK_OK);
        uint64_t later = i + cuzk_test_random(&seed) % (POINTS - i);
        uint8_t other[POINT_MAX];
        memcpy(other, s->points + later * size, size);
        memcpy(s->points + later * size, bad, size);
        cuzk_error_clear(&err);
        assert_int_equal(check(s, POINTS, first, flags, &err), CUZK_E_FORMAT);
        assert_string_equal(err.text, text);
        memcpy(s->points + later * size, other, size);
    }
    memcpy(at, good, size);
}

static void check_set(const struct set *s)
{
    const int all[] = {0, CUZK_POINTS_ALLOW_INFINITY, CUZK_POINTS_COORDINATES,
                       CUZK_POINTS_COORDINATES | CUZK_POINTS_ALLOW_INFINITY};
    uint8_t infinity[POINT_MAX] = {0}, off_curve[POINT_MAX], unreduced[POINT_MAX],
            largest[POINT_MAX], outside[POINT_MAX];
    size_t size = s->group->affine_bytes, fp_bytes = s->curve->fp_bytes;
    memcpy(off_curve, s->points + 5 * size, size);
    off_curve[size - fp_bytes] ^= 1; /* the lowest byte of a coordinate of y */
    memcpy(unreduced, s->points + 5 * size, size);
    put_modulus(unreduced + size - fp_bytes, s->curve, 0);
    memcpy(largest, s->points + 5 * size, size);
    put_modulus(largest, s->curve, 1);
    bool has_outside = off_subgroup(outside, s->curve, s->group->id);
    assert_int_equal(check(s, POINTS, 0, CUZK_POINTS_SUBGROUP, NULL), CUZK_OK);
    assert_true(cuzk_points_plainly_reduced(s->curve, s->group->id, s->points, POINTS));
    for (int p = 0; p < PLACES; p++) {
        for (int f = 0; f < 4; f++) {
            bool coordinates = (all[f] & CUZK_POINTS_COORDINATES) != 0;
            bool allowed = coordinates || (all[f] & CUZK_POINTS_ALLOW_INFINITY) != 0;
            const char *no_curve = coordinates ? NULL : "not on the curve";
            expect_refused(s, places[p], infinity, all[f], allowed ? NULL : "point at infinity");
            expect_refused(s, places[p], off_curve, all[f], no_curve);
            expect_refused(s, places[p], largest, all[f], no_curve);
            expect_refused(s, places[p], unreduced, all[f],
                           "coordinate is not below the field modulus");
        }
        if (has_outside && p % 3 == 0) {
            expect_refused(s, places[p], outside, 0, NULL);
            uint8_t good[POINT_MAX], *at = s->points + places[p] * size;
            cuzk_error err = {0};
            memcpy(good, at, size);
            memcpy(at, outside, size);
            uint64_t begin = places[p] > 4 ? places[p] - 4 : 0; /* a few: such checks are slow */
            assert_int_equal(cuzk_points_check(s->curve, s->group->id, s->points + begin * size,
                                               places[p] - begin + 1, begin, CUZK_POINTS_SUBGROUP,
                                               "array x", pool, &err),
                             CUZK_E_FORMAT);
            assert_mentions(err.text, "not in the subgroup of order r");
            memcpy(at, good, size);
        }
    }
    /* the largest coordinate and an infinity in one piece: neither is looked at but for its size */
    uint8_t good[2][POINT_MAX];
    memcpy(good, s->points, 2 * size);
    memcpy(s->points, largest, size);
    memcpy(s->points + size, infinity, size);
    assert_false(cuzk_points_plainly_reduced(s->curve, s->group->id, s->points, 1));
    assert_true(cuzk_points_plainly_reduced(s->curve, s->group->id, s->points + size, POINTS - 1));
    assert_int_equal(check(s, POINTS, 0, CUZK_POINTS_COORDINATES, NULL), CUZK_OK);
    memcpy(s->points, good, 2 * size);
}

/* Infinities counted, in any number and at any place. */
static void count_set(const struct set *s)
{
    size_t size = s->group->affine_bytes;
    uint8_t *copy = malloc(POINTS * size);
    assert_non_null(copy);
    for (int round = 0; round < 8; round++) {
        uint64_t expected = 0, n = round < 2 ? 1 : 1 + cuzk_test_random(&seed) % POINTS;
        memcpy(copy, s->points, POINTS * size);
        for (uint64_t i = 0; i < n; i++) {
            if (cuzk_test_random(&seed) % 4 < (unsigned)round % 5) {
                memset(copy + i * size, 0, size);
                expected++;
            }
        }
        assert_int_equal(cuzk_points_count_infinity(s->curve, s->group->id, copy, n, pool),
                         expected);
        assert_int_equal(cuzk_points_count_infinity(s->curve, s->group->id, copy, n, NULL),
                         expected);
    }
    assert_int_equal(cuzk_points_count_infinity(s->curve, s->group->id, copy, 0, pool), 0);
    free(copy);
}

static void test_memory_form(void **state)
{
    (void)state;
    static const cuzk_curve_id curves[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};
    for (int c = 0; c < 2; c++) {
        for (int g = 0; g < 2; g++) {
            struct set s = {.curve = cuzk_curve_get(curves[c])};
            s.group = &s.curve->g[g];
            s.points = make_points(s.group);
            check_set(&s);
            count_set(&s);
            free(s.points);
        }
    }
}

/* ---- big-endian form ------------------------------------------------------------------------- */

struct encoded {
    const cuzk_curve *curve;
    const cuzk_group *group;
    uint8_t *in, *out;
};

static cuzk_status decode(const struct encoded *e, uint64_t n, int flags, cuzk_error *err)
{
    return cuzk_points_decode(e->curve, e->group->id, e->out, e->in, n, 50, flags, "array y", pool,
                              err);
}

static void expect_bad_encoding(const struct encoded *e, uint64_t i, const uint8_t *bad, int flags,
                                const char *why)
{
    size_t size = e->group->affine_bytes;
    uint8_t good[POINT_MAX], *at = e->in + i * size;
    char text[160];
    cuzk_error err = {0};
    memcpy(good, at, size);
    memcpy(at, bad, size);
    assert_int_equal(decode(e, POINTS, flags, &err), why != NULL ? CUZK_E_FORMAT : CUZK_OK);
    if (why != NULL) {
        snprintf(text, sizeof text, "array y: point %" PRIu64 ": %s", 50 + i, why);
        assert_string_equal(err.text, text);
    }
    memcpy(at, good, size);
}

static void test_big_endian(void **state)
{
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct encoded e = {.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381)};
        e.group = &e.curve->g[g];
        size_t size = e.group->affine_bytes;
        uint8_t *points = make_points(e.group), bad[POINT_MAX];
        e.in = malloc(POINTS * size);
        e.out = malloc(POINTS * size);
        assert_true(e.in != NULL && e.out != NULL);
        for (size_t i = 0; i < POINTS; i++) {
            e.group->encode(e.in + i * size, points + i * size, CUZK_POINT_UNCOMPRESSED);
        }
        assert_int_equal(decode(&e, POINTS, 0, NULL), CUZK_OK);
        assert_memory_equal(e.out, points, POINTS * size);
        assert_int_equal(decode(&e, 20, CUZK_POINTS_SUBGROUP, NULL), CUZK_OK);
        assert_memory_equal(e.out, points, 20 * size);
        for (int p = 0; p < PLACES; p++) {
            const uint8_t *good = e.in + places[p] * size;
            memset(bad, 0, size);
            bad[0] = 0x40;
            expect_bad_encoding(&e, places[p], bad, 0, "point at infinity");
            expect_bad_encoding(&e, places[p], bad, CUZK_POINTS_ALLOW_INFINITY, NULL);
            bad[size - 1] = 1; /* infinity with something in it */
            expect_bad_encoding(&e, places[p], bad, CUZK_POINTS_ALLOW_INFINITY,
                                "flag bits do not "
                                "fit an encoded "
                                "point");
            for (unsigned flag = 0x20; flag <= 0x80; flag *= 4) { /* larger root; compressed */
                memcpy(bad, good, size);
                bad[0] |= (uint8_t)flag;
                expect_bad_encoding(&e, places[p], bad, 0, "flag bits do not fit an encoded point");
            }
            memcpy(bad, good, size);
            bad[size - 1] ^= 1;
            expect_bad_encoding(&e, places[p], bad, 0, "not on the curve");
            memcpy(bad, good, size);
            for (unsigned i = 0; i < 48; i++) { /* p itself, for the first coordinate */
                bad[i] = (uint8_t)(e.curve->p[5 - i / 8] >> (56 - 8 * (i % 8)));
            }
            expect_bad_encoding(&e, places[p], bad, 0, "coordinate is not below the field modulus");
        }
        uint8_t outside[POINT_MAX];
        assert_true(off_subgroup(outside, e.curve, e.group->id));
        e.group->encode(bad, outside, CUZK_POINT_UNCOMPRESSED);
        expect_bad_encoding(&e, 11, bad, 0, NULL);
        memcpy(e.in, bad, size);
        cuzk_error err = {0};
        assert_int_equal(decode(&e, 1, CUZK_POINTS_SUBGROUP, &err), CUZK_E_FORMAT);
        assert_mentions(err.text, "array y: point 50: not in the subgroup");
        free(points);
        free(e.in);
        free(e.out);
    }
    cuzk_error err = {0};
    uint8_t none[64] = {0};
    assert_int_equal(cuzk_points_decode(cuzk_curve_get(CUZK_CURVE_BN254), CUZK_G1, none, none, 1, 0,
                                        0, "array z", NULL, &err),
                     CUZK_E_ARGUMENT);
    assert_mentions(err.text, "array z: bn128 has no big-endian point encoding");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_form),
        cmocka_unit_test(test_big_endian),
    };
    if (cuzk_pool_create(&pool, 3, NULL) != CUZK_OK) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_pool_destroy(pool);
    return failed;
}
