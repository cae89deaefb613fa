/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every function of the two groups against chord and tangent on whole numbers
 * (affine_reference.h): all pairs of a list of points with every exceptional case in it, with many
 * forms of the same Jacobian point; products with edge scalars; membership of points that are on
 * the curve and not in the subgroup, against multiplication by the order. */
#include "curve/affine_reference.h"
#include "curve/curve_util.h"
#include "field/bls12_381_consts.h"
#include "field/bn254_consts.h"

#include <string.h>

enum { N_POINTS = 14 };

/* A group and points of it: infinity, P, -P, 2P, -2P, 3P, Q, -Q, …, and the same once more. */
typedef struct {
    ref_group g;
    ref_point point[N_POINTS];
    cuzk_affine packed[N_POINTS];
} fixture;

static fixture fixtures[2][2]; /* curve, group */

static int make_fixtures(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 2; i++) {
            fixture *f = &fixtures[c][i];
            const cuzk_curve *curve =
                cuzk_curve_get(c == 0 ? CUZK_CURVE_BN254 : CUZK_CURVE_BLS12_381);
            ref_group_init(&f->g, curve, (cuzk_group_id)i);
            cuzk_affine generator;
            f->g.group->generator(&generator);
            ref_point p = ref_load(&f->g, &generator), q;
            big k = big_of(test_random(&seed) | 1);
            q = ref_mul(&f->g, &k, &p);
            assert_true(ref_on_curve(&f->g, &p) && !p.infinity);
            f->point[0].infinity = true;
            f->point[1] = p;
            f->point[2] = ref_neg(&f->g, &p);
            f->point[3] = ref_add(&f->g, &p, &p);
            f->point[4] = ref_neg(&f->g, &f->point[3]);
            f->point[5] = ref_add(&f->g, &f->point[3], &p);
            f->point[6] = q;
            f->point[7] = ref_neg(&f->g, &q);
            f->point[8] = ref_add(&f->g, &p, &q);
            f->point[9] = ref_add(&f->g, &p, &f->point[7]);
            f->point[10] = ref_point_from(&f->g, 1); /* not in the subgroup, mostly */
            f->point[11] = ref_neg(&f->g, &f->point[10]);
            f->point[12] = ref_add(&f->g, &f->point[10], &f->point[10]);
            f->point[13] = p; /* an equal one in another place */
            for (int j = 0; j < N_POINTS; j++) {
                ref_store(&f->g, &f->packed[j], &f->point[j]);
            }
        }
    }
    return 0;
}

#define FOR_EACH_FIXTURE(f) for (fixture *f = &fixtures[0][0]; f < &fixtures[0][0] + 4; f++)

static void expect(const fixture *f, const char *what, int i, int j, const cuzk_jac *found,
                   const ref_point *expected)
{
    ref_point have = ref_load_jac(&f->g, found);
    if (!ref_equal(&have, expected)) {
        fail_msg("%s G%d: %s of points %d and %d is wrong", f->g.curve->name, f->g.group->id + 1,
                 what, i, j);
    }
    assert_true(f->g.group->is_infinity(found) == expected->infinity);
}

static void expect_packed(const fixture *f, const char *what, int i, const cuzk_affine *found,
                          const ref_point *expected)
{
    cuzk_affine want;
    ref_store(&f->g, &want, expected);
    if (memcmp(found, &want, f->g.group->affine_bytes) != 0) {
        fail_msg("%s G%d: %s of point %d is wrong", f->g.curve->name, f->g.group->id + 1, what, i);
    }
}

/* Point i as a Jacobian point in form `form`: 0 with Z = 1, else with another Z; infinity also as
 * the sum of opposite points. */
static void jacobian(const fixture *f, cuzk_jac *o, int i, int form)
{
    const cuzk_group *g = f->g.group;
    cuzk_affine minus;
    g->from_affine(o, &f->packed[i]);
    for (int k = 0; k < form; k++) { /* + Q - Q, which leaves Z behind */
        int other = 3 + 3 * k;
        g->affine_neg(&minus, &f->packed[other]);
        g->add_affine(o, o, &f->packed[other]);
        g->add_affine(o, o, &minus);
    }
}

static void test_pairs(void **state)
{
    (void)state;
    FOR_EACH_FIXTURE(f)
    {
        const cuzk_group *g = f->g.group;
        for (int i = 0; i < N_POINTS; i++) {
            for (int j = 0; j < N_POINTS; j++) {
                ref_point sum = ref_add(&f->g, &f->point[i], &f->point[j]);
                for (int form = 0; form < 3; form++) {
                    cuzk_jac a, b, o;
                    jacobian(f, &a, i, form & 1);
                    jacobian(f, &b, j, form);
                    g->add(&o, &a, &b);
                    expect(f, "add", i, j, &o, &sum);
                    o = a;
                    g->add(&o, &o, &b);
                    expect(f, "add, out = a", i, j, &o, &sum);
                    o = b;
                    g->add(&o, &a, &o);
                    expect(f, "add, out = b", i, j, &o, &sum);
                    g->add_affine(&o, &a, &f->packed[j]);
                    expect(f, "add_affine", i, j, &o, &sum);
                    o = a;
                    g->add_affine(&o, &o, &f->packed[j]);
                    expect(f, "add_affine, out = a", i, j, &o, &sum);
                    assert_true(g->eq(&a, &b) == ref_equal(&f->point[i], &f->point[j]));
                }
            }
        }
    }
}

static void test_single(void **state)
{
    (void)state;
    FOR_EACH_FIXTURE(f)
    {
        const cuzk_group *g = f->g.group;
        for (int i = 0; i < N_POINTS; i++) {
            ref_point twice = ref_add(&f->g, &f->point[i], &f->point[i]);
            ref_point minus = ref_neg(&f->g, &f->point[i]);
            for (int form = 0; form < 3; form++) {
                cuzk_jac a, o;
                cuzk_affine packed;
                jacobian(f, &a, i, form);
                expect(f, "the point itself", i, form, &a, &f->point[i]);
                g->dbl(&o, &a);
                expect(f, "dbl", i, form, &o, &twice);
                o = a;
                g->dbl(&o, &o);
                expect(f, "dbl, out = a", i, form, &o, &twice);
                g->neg(&o, &a);
                expect(f, "neg", i, form, &o, &minus);
                g->to_affine(&packed, &a);
                expect_packed(f, "to_affine", i, &packed, &f->point[i]);
                /* out may be the input */
                memcpy(&o, &a, sizeof o);
                g->to_affine(&o, &o);
                memcpy(&packed, &o, g->affine_bytes);
                expect_packed(f, "to_affine in place", i, &packed, &f->point[i]);
            }
            cuzk_affine negated = f->packed[i];
            g->affine_neg(&negated, &negated);
            expect_packed(f, "affine_neg", i, &negated, &minus);
            assert_true(g->affine_is_infinity(&f->packed[i]) == f->point[i].infinity);
            assert_true(g->on_curve(&f->packed[i]) && g->affine_is_reduced(&f->packed[i]));
        }
    }
}

/* Batches of 0 … 67 points, infinities at both ends, in the middle, and nothing else; not a byte
 * behind them is written. */
static void test_batches(void **state)
{
    (void)state;
    enum { N = 67 };
    static cuzk_jac a[N];
    static uint8_t found[(N + 1) * sizeof(cuzk_affine) + 1];
    FOR_EACH_FIXTURE(f)
    {
        const cuzk_group *g = f->g.group;
        size_t size = g->affine_bytes;
        for (size_t n = 0; n <= N; n++) {
            int kind[N];
            for (size_t i = 0; i < n; i++) {
                bool all = n % 5 == 4, end = i == 0 || i + 1 == n || i == n / 2;
                kind[i] = all || (end && n % 3 == 0) ? 0 : (int)((i * 5 + n) % N_POINTS);
                jacobian(f, &a[i], kind[i], (int)(i % 3));
            }
            memset(found, 0xa5, sizeof found);
            g->batch_to_affine(found + 1, a, n); /* any alignment */
            for (size_t i = 0; i < n; i++) {
                assert_memory_equal(found + 1 + i * size, &f->packed[kind[i]], size);
            }
            assert_int_equal(found[0], 0xa5);
            for (size_t i = 1 + n * size; i < sizeof found; i++) {
                assert_int_equal(found[i], 0xa5);
            }
        }
    }
}

/* Scalars at the ends of their range, at the bounds of the parts that the endomorphisms split them
 * into, and around powers of two: r - 1, r - 2, (r ± 1)/2, 2^127, 2^128, 2^64, 2^63 … */
static void test_products(void **state)
{
    (void)state;
    FOR_EACH_FIXTURE(f)
    {
        const cuzk_group *g = f->g.group;
        const cuzk_curve *curve = f->g.curve;
        big list[40], two = big_of(2), one = big_of(1), rest;
        int n = 0;
        for (uint64_t v = 0; v < 4; v++) {
            big x = big_of(v);
            list[n++] = x;
            list[n++] = big_sub_mod(&f->g.r, &x, &f->g.r);
        }
        list[n] = big_div(&f->g.r, &two, &rest);
        list[n + 1] = big_add(&list[n], &one);
        n += 2;
        static const unsigned bits[] = {31, 62, 63, 64, 65, 126, 127, 128, 129, 192, 252};
        for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
            big x = big_power_of_two(bits[i]);
            list[n++] = x;
            list[n++] = big_sub(&x, &one);
        }
        /* 2^i·P once, so that a reference product costs additions only */
        ref_point doubled[255];
        doubled[0] = f->point[1];
        for (int i = 1; i < 255; i++) {
            doubled[i] = ref_add(&f->g, &doubled[i - 1], &doubled[i - 1]);
        }
        for (int i = 0; i < n; i++) {
            ref_point expected = {.infinity = true};
            for (unsigned bit = 0; bit < 255; bit++) {
                if (i % 8 < 2 && big_bit(&list[i], bit)) {
                    expected = ref_add(&f->g, &expected, &doubled[bit]);
                }
            }
            uint8_t bytes[32];
            cuzk_fr k;
            cuzk_jac p, o;
            big_to_le(bytes, 32, &list[i]);
            assert_true(curve->fr_from_canonical_le(&k, bytes));
            jacobian(f, &p, 1, 2);
            g->mul(&o, &p, &k);
            if (i % 8 >= 2) { /* the others against k·P = (k + 1)·P - P */
                cuzk_jac next;
                cuzk_fr k1;
                curve->fr_add(&k1, &k, &curve->fr_one);
                g->mul(&next, &p, &k1);
                g->add_affine(&next, &next, &f->packed[2]);
                expected = ref_load_jac(&f->g, &next);
            }
            expect(f, "mul", 1, i, &o, &expected);
            g->mul_sum(&o, &f->packed[1], bytes, 1);
            expect(f, "mul_sum of one", 1, i, &o, &expected);
            g->from_affine(&p, &f->packed[0]);
            g->mul(&p, &p, &k);
            expect(f, "mul of infinity", 0, i, &p, &f->point[0]);
        }
    }
}

/* Sums of 0 … 19 products with small scalars of both signs: equal, opposite and infinite points in
 * one sum of eight terms, and over two of them. */
static void test_sums(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    FOR_EACH_FIXTURE(f)
    {
        const cuzk_group *g = f->g.group;
        for (size_t n = 0; n < 20; n++) {
            uint8_t points[20 * sizeof(cuzk_affine)], scalars[20 * 32] = {0};
            ref_point expected = {.infinity = true};
            for (size_t i = 0; i < n; i++) {
                int which = (int)(test_random(&seed) % 10); /* those in the subgroup */
                big k = big_of(test_random(&seed) % 40), value = k;
                ref_point term = f->point[which];
                if (test_random(&seed) % 2 && !big_is_zero(&k)) {
                    value = big_sub(&f->g.r, &k);
                    term = ref_neg(&f->g, &term);
                }
                memcpy(points + i * g->affine_bytes, &f->packed[which], g->affine_bytes);
                big_to_le(scalars + 32 * i, 32, &value);
                term = ref_mul(&f->g, &k, &term);
                expected = ref_add(&f->g, &expected, &term);
            }
            cuzk_jac o;
            g->mul_sum(&o, points, scalars, n);
            expect(f, "mul_sum", (int)n, 0, &o, &expected);
        }
    }
}

/* in_subgroup says what multiplication by r says: points with small abscissae, their sums with
 * points of the subgroup, and their r-fold, which lies in the other part of the curve. */
static void test_subgroup(void **state)
{
    (void)state;
    FOR_EACH_FIXTURE(f)
    {
        const cuzk_group *g = f->g.group;
        int n_outside = 0;
        for (uint64_t x = 1; x < 5; x++) {
            ref_point a = ref_point_from(&f->g, 10 * x), sum = ref_add(&f->g, &a, &f->point[6]);
            ref_point times_r = ref_mul(&f->g, &f->g.r, &a);
            cuzk_affine packed;
            ref_store(&f->g, &packed, &a);
            assert_true(g->on_curve(&packed));
            assert_true(g->in_subgroup(&packed) == times_r.infinity);
            n_outside += !times_r.infinity;
            ref_store(&f->g, &packed, &sum);
            assert_true(g->in_subgroup(&packed) == times_r.infinity);
            ref_store(&f->g, &packed, &times_r);
            assert_true(g->on_curve(&packed));
            assert_true(g->in_subgroup(&packed) == times_r.infinity);
        }
        bool whole_curve = f->g.curve->id == CUZK_CURVE_BN254 && g->id == CUZK_G1;
        assert_int_equal(n_outside, whole_curve ? 0 : 4);
        for (int i = 0; i < 10; i++) {
            assert_true(g->in_subgroup(&f->packed[i]));
        }
    }
}

/* The cofactors of the constants: h·P is in the subgroup for any P, and not infinity for these. */
static void test_cofactors(void **state)
{
    (void)state;
    static const uint64_t bn254_h1[] = CUZK_BN254_H1, bn254_h2[] = CUZK_BN254_H2;
    static const uint64_t bls12_381_h1[] = CUZK_BLS12_381_H1, bls12_381_h2[] = CUZK_BLS12_381_H2;
    const big h[2][2] = {
        {big_from_words(bn254_h1, sizeof bn254_h1 / 8),
         big_from_words(bn254_h2, sizeof bn254_h2 / 8)},
        {big_from_words(bls12_381_h1, sizeof bls12_381_h1 / 8),
         big_from_words(bls12_381_h2, sizeof bls12_381_h2 / 8)},
    };
    FOR_EACH_FIXTURE(f)
    {
        const big *cofactor = &h[f->g.curve->id != CUZK_CURVE_BN254][f->g.group->id];
        for (uint64_t x = 100; x < 102; x++) {
            ref_point any = ref_point_from(&f->g, x), cleared = ref_mul(&f->g, cofactor, &any);
            ref_point zero = ref_mul(&f->g, &f->g.r, &cleared);
            cuzk_affine packed;
            assert_true(zero.infinity && !cleared.infinity);
            ref_store(&f->g, &packed, &cleared);
            assert_true(f->g.group->on_curve(&packed) && f->g.group->in_subgroup(&packed));
        }
    }
}

int main(void)
{
    if (!test_path_supported()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),     cmocka_unit_test(test_single),
        cmocka_unit_test(test_batches),   cmocka_unit_test(test_products),
        cmocka_unit_test(test_cofactors), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_subgroup),
    };
    return cmocka_run_group_tests_name("groups, affine", tests, make_fixtures, NULL);
}
