/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The two groups of both curves: known answers, group laws on edge-heavy inputs, subgroup tests,
 * batch conversion, any alignment, and the CPU paths against each other. */
#include "curve/curve_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_curve_id ids[] = {CUZK_CURVE_BN254, CUZK_CURVE_BLS12_381};

static const cuzk_curve *curve_of(void **state)
{
    return cuzk_curve_get(*(const cuzk_curve_id *)*state);
}

static void assert_jac_is_affine(const cuzk_group *g, const cuzk_jac *a, const void *expected,
                                 size_t line)
{
    cuzk_affine found;
    g->to_affine(&found, a);
    assert_affine_equal(g, &found, expected, line);
}

/* A random Jacobian form of the same point: the point taken through a longer way. */
static void scramble(const cuzk_group *g, cuzk_jac *a, const cuzk_jac *by)
{
    cuzk_jac minus;
    g->neg(&minus, by);
    g->add(a, a, by);
    g->add(a, a, &minus);
}

/* ---- known answers ---- */

static void check_known_answers(const cuzk_curve *curve, const cuzk_group *g, const char *prefix)
{
    vector_file file;
    char mul[8], add[8];
    size_t n_points = 0;
    cuzk_affine generator, expected, b;
    cuzk_jac base, p;
    snprintf(mul, sizeof(mul), "%smul", prefix);
    snprintf(add, sizeof(add), "%sadd", prefix);
    vector_file_read(&file, curve);
    cuzk_affine *points = calloc(file.n, sizeof(points[0]));
    assert_non_null(points);
    g->generator(&generator);
    g->from_affine(&base, &generator);
    for (size_t i = 0; i < file.n; i++) {
        const vector_line *l = &file.lines[i];
        if (strcmp(l->word[0], mul) == 0) {
            cuzk_fr k;
            hex_to_fr(curve, &k, l->word[1]);
            hex_to_affine(g, curve, &points[n_points], &l->word[2]);
            assert_true(g->on_curve(&points[n_points]));
            assert_true(g->in_subgroup(&points[n_points]));
            g->mul(&p, &base, &k);
            assert_jac_is_affine(g, &p, &points[n_points], i + 1);
            n_points++;
        } else if (strcmp(l->word[0], add) == 0) {
            const cuzk_affine *a = &points[atoi(l->word[1])], *c = &points[atoi(l->word[2])];
            cuzk_jac ja, jc;
            memset(&expected, 0, sizeof(expected));
            if (strcmp(l->word[3], "inf") != 0) {
                hex_to_affine(g, curve, &expected, &l->word[3]);
            }
            g->from_affine(&ja, a);
            g->from_affine(&jc, c);
            g->add_affine(&p, &ja, c);
            assert_jac_is_affine(g, &p, &expected, i + 1);
            g->add(&p, &ja, &jc);
            assert_jac_is_affine(g, &p, &expected, i + 1);
            scramble(g, &ja, &base);
            scramble(g, &jc, &base);
            g->add(&p, &ja, &jc);
            assert_jac_is_affine(g, &p, &expected, i + 1);
            g->add_affine(&ja, &ja, c); /* in place */
            assert_jac_is_affine(g, &ja, &expected, i + 1);
        }
    }
    assert_true(n_points >= 500);
    g->generator(&b);
    assert_affine_equal(g, &points[0], &b, 1);
    free(points);
    vector_file_free(&file);
}

static void test_known_answers(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    check_known_answers(curve, &curve->g[CUZK_G1], "g1");
    check_known_answers(curve, &curve->g[CUZK_G2], "g2");
}

/* ---- group laws ---- */

/* Points that make trouble: infinity (three forms), G, -G, 2G, and two random ones. */
enum { N_EDGE = 8 };

static void edge_points(const cuzk_curve *curve, const cuzk_group *g, cuzk_jac *e, uint64_t *seed)
{
    cuzk_affine a;
    cuzk_jac minus;
    g->generator(&a);
    g->set_infinity(&e[0]);
    g->from_affine(&e[3], &a);
    g->neg(&e[4], &e[3]);
    g->dbl(&e[5], &e[3]);
    test_random_point(&curve->g[g->id], curve, &a, seed);
    g->from_affine(&e[6], &a);
    test_random_point(&curve->g[g->id], curve, &a, seed);
    g->from_affine(&e[7], &a);
    g->dbl(&e[7], &e[7]);
    scramble(g, &e[6], &e[5]);
    scramble(g, &e[4], &e[7]);
    g->add(&e[1], &e[3], &e[4]); /* infinity as the result of an addition */
    g->neg(&minus, &e[6]);
    g->to_affine(&a, &minus);
    g->add_affine(&e[2], &e[6], &a);
    assert_true(g->is_infinity(&e[1]) && g->is_infinity(&e[2]));
}

static void check_laws(const cuzk_curve *curve, const cuzk_group *g, uint64_t *seed)
{
    cuzk_jac e[N_EDGE], l, r, t;
    cuzk_affine a;
    edge_points(curve, g, e, seed);
    for (int i = 0; i < N_EDGE; i++) {
        g->to_affine(&a, &e[i]);
        assert_true(g->on_curve(&a) && g->affine_is_reduced(&a));
        assert_int_equal(g->affine_is_infinity(&a), g->is_infinity(&e[i]));
        g->from_affine(&t, &a);
        assert_true(g->eq(&t, &e[i]));
        g->neg(&t, &e[i]);
        g->affine_neg(&a, &a);
        g->from_affine(&l, &a);
        assert_true(g->eq(&l, &t));
        g->add(&t, &t, &e[i]);
        assert_true(g->is_infinity(&t));
        g->dbl(&l, &e[i]);
        g->add(&r, &e[i], &e[i]);
        assert_true(g->eq(&l, &r));
        for (int j = 0; j < N_EDGE; j++) {
            g->add(&l, &e[i], &e[j]);
            g->add(&r, &e[j], &e[i]);
            assert_true(g->eq(&l, &r));
            g->to_affine(&a, &e[j]);
            g->add_affine(&t, &e[i], &a);
            assert_true(g->eq(&l, &t));
            g->neg(&t, &e[j]);
            g->add(&t, &l, &t);
            assert_true(g->eq(&t, &e[i]));
            for (int k = 0; k < N_EDGE; k++) {
                g->add(&t, &l, &e[k]);
                g->add(&r, &e[j], &e[k]);
                g->add(&r, &e[i], &r);
                assert_true(g->eq(&t, &r));
            }
        }
    }
    assert_false(g->eq(&e[3], &e[4]));
    assert_false(g->eq(&e[3], &e[0]));
    assert_false(g->eq(&e[0], &e[3]));
}

/* k·p by plain double-and-add; k: canonical bytes. */
static void plain_mul(const cuzk_group *g, cuzk_jac *out, const cuzk_jac *p, const uint8_t k[32])
{
    cuzk_jac t;
    g->set_infinity(&t);
    for (int b = 256; b-- > 0;) {
        g->dbl(&t, &t);
        if (k[b / 8] >> (b % 8) & 1) {
            g->add(&t, &t, p);
        }
    }
    *out = t;
}

static void check_mul(const cuzk_curve *curve, const cuzk_group *g, uint64_t *seed)
{
    cuzk_affine a;
    cuzk_jac p, l, r, t;
    cuzk_fr k, m, n;
    for (int i = 0; i < 40; i++) {
        test_random_point(g, curve, &a, seed);
        g->from_affine(&p, &a);
        test_random_fr(curve, &k, seed);
        test_random_fr(curve, &m, seed);
        g->mul(&l, &p, &k);
        g->mul(&r, &p, &m);
        g->add(&t, &l, &r);
        curve->fr_add(&n, &k, &m);
        g->mul(&r, &p, &n);
        assert_true(g->eq(&t, &r));
        curve->fr_mul(&n, &k, &m);
        g->mul(&r, &p, &n);
        g->mul(&l, &l, &m);
        assert_true(g->eq(&l, &r));
        /* against plain double-and-add */
        uint8_t bits[32];
        curve->fr_to_canonical_le(bits, &n);
        plain_mul(g, &t, &p, bits);
        assert_true(g->eq(&t, &r));
    }
    g->set_infinity(&t);
    g->mul(&t, &t, &k);
    assert_true(g->is_infinity(&t));
    curve->fr_from_u64(&k, 0);
    g->mul(&t, &p, &k);
    assert_true(g->is_infinity(&t));
}

static void test_laws(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    for (int i = 0; i < 2; i++) {
        for (int round = 0; round < 4; round++) {
            check_laws(curve, &curve->g[i], &seed);
        }
        check_mul(curve, &curve->g[i], &seed);
    }
}

/* Scalars at which the folding and the splitting change their course: 0, 1, 2, 15, 16, 33, 2^64,
 * 2^127 and 2^128 around, (r-1)/2, (r+1)/2, and the negatives of all of them. */
enum { N_EDGE_SCALARS = 28 };

static void edge_scalar(const cuzk_curve *curve, unsigned i, cuzk_fr *out)
{
    static const uint64_t small[] = {0, 1, 2, 15, 16, 33};
    enum { N_SMALL = sizeof small / sizeof small[0] };
    cuzk_fr t;
    unsigned k = i / 2 % (N_SMALL + 8); /* N_EDGE_SCALARS in all */
    curve->fr_from_u64(&t, 2);
    if (k < N_SMALL) {
        curve->fr_from_u64(&t, small[k]);
    } else if (k < N_SMALL + 6) {
        static const unsigned exponents[] = {64, 127, 128};
        curve->fr_pow_u64(&t, &t, exponents[(k - N_SMALL) / 2]);
        if ((k - N_SMALL) % 2 != 0) {
            curve->fr_sub(&t, &t, &curve->fr_one);
        }
    } else {
        curve->fr_inv(&t, &t); /* (r+1)/2 */
        if (k == N_SMALL + 7) {
            curve->fr_sub(&t, &t, &curve->fr_one);
        }
    }
    if (i % 2 != 0) {
        curve->fr_neg(&t, &t);
    }
    *out = t;
}

static void check_mul_sum(const cuzk_curve *curve, const cuzk_group *g, uint64_t *seed)
{
    enum { MAX = 19 };
    uint8_t points[MAX * sizeof(cuzk_affine) + 1], scalars[MAX][32];
    cuzk_jac expected, t;
    for (unsigned n = 0; n <= MAX; n++) {
        uint8_t *packed = points + n % 2; /* any alignment */
        g->set_infinity(&expected);
        for (unsigned i = 0; i < n; i++) {
            uint8_t *at = packed + i * g->affine_bytes;
            cuzk_fr k;
            test_random_point(g, curve, at, seed);
            if (i % 5 == 2) {
                memset(at, 0, g->affine_bytes); /* infinity */
            } else if (i % 5 == 3) {
                memcpy(at, packed, g->affine_bytes); /* equal to the first, and opposite to it */
            } else if (i % 5 == 4) {
                g->affine_neg(at, packed);
            }
            if (n % 3 == 0) {
                edge_scalar(curve, 5 * n + i, &k);
            } else {
                test_random_fr(curve, &k, seed);
            }
            curve->fr_to_canonical_le(scalars[i], &k);
            g->from_affine(&t, at);
            plain_mul(g, &t, &t, scalars[i]);
            g->add(&expected, &expected, &t);
        }
        g->mul_sum(&t, packed, scalars, n);
        assert_true(g->eq(&t, &expected));
    }
    /* each edge by itself; and a sum whose terms cancel */
    for (unsigned i = 0; i < N_EDGE_SCALARS; i++) {
        cuzk_fr k;
        test_random_point(g, curve, points, seed);
        memcpy(points + g->affine_bytes, points, g->affine_bytes);
        edge_scalar(curve, i, &k);
        curve->fr_to_canonical_le(scalars[0], &k);
        curve->fr_neg(&k, &k);
        curve->fr_to_canonical_le(scalars[1], &k);
        g->from_affine(&t, points);
        plain_mul(g, &expected, &t, scalars[0]);
        g->mul_sum(&t, points, scalars, 1);
        assert_true(g->eq(&t, &expected));
        g->mul_sum(&t, points, scalars, 2);
        assert_true(g->is_infinity(&t));
    }
}

static void test_mul_sum(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    check_mul_sum(curve, &curve->g[CUZK_G1], &seed);
    check_mul_sum(curve, &curve->g[CUZK_G2], &seed);
}

/* ---- subgroup ---- */

/* Plain r·a: infinity exactly for the points that in_subgroup must accept. */
static bool order_divides_r(const cuzk_curve *curve, const cuzk_group *g, const void *affine)
{
    cuzk_jac p, t;
    g->from_affine(&p, affine);
    g->set_infinity(&t);
    for (int b = 256; b-- > 0;) {
        g->dbl(&t, &t);
        if (curve->r[b / 64] >> (b % 64) & 1) {
            g->add(&t, &t, &p);
        }
    }
    return g->is_infinity(&t);
}

static void test_subgroup(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    size_t n_outside = 0;
    cuzk_affine a, b;
    cuzk_jac p;
    vector_file file;
    vector_file_read(&file, curve);
    for (size_t i = 0; i < file.n; i++) {
        const vector_line *l = &file.lines[i];
        if (strcmp(l->word[0] + 2, "out") != 0) {
            continue;
        }
        const cuzk_group *g = &curve->g[l->word[0][1] == '1' ? CUZK_G1 : CUZK_G2];
        hex_to_affine(g, curve, &a, &l->word[1]);
        assert_true(g->on_curve(&a));
        assert_false(order_divides_r(curve, g, &a));
        assert_false(g->in_subgroup(&a));
        for (int k = 0; k < 4; k++) { /* with a point of the subgroup added */
            test_random_point(g, curve, &b, &seed);
            g->from_affine(&p, &a);
            g->add_affine(&p, &p, &b);
            g->to_affine(&b, &p);
            assert_false(g->in_subgroup(&b));
        }
        n_outside++;
    }
    assert_true(n_outside >= 20);
    vector_file_free(&file);
    for (int i = 0; i < 2; i++) {
        const cuzk_group *g = &curve->g[i];
        memset(&a, 0, sizeof(a));
        assert_true(g->in_subgroup(&a));
        for (int k = 0; k < 20; k++) {
            test_random_point(g, curve, &a, &seed);
            assert_true(order_divides_r(curve, g, &a));
            assert_true(g->in_subgroup(&a));
        }
    }
}

/* ---- membership, batches, alignment ---- */

static void test_not_on_curve(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    for (int i = 0; i < 2; i++) {
        const cuzk_group *g = &curve->g[i];
        cuzk_affine a;
        for (size_t bit = 0; bit < 8 * g->affine_bytes; bit += 5) {
            g->generator(&a);
            a.l[bit / 64] ^= UINT64_C(1) << (bit % 64);
            assert_false(g->on_curve(&a));
        }
        for (size_t c = 0; c < g->affine_bytes / curve->fp_bytes; c++) {
            test_random_point(g, curve, &a, &seed);
            assert_true(g->affine_is_reduced(&a));
            memcpy(&a.l[c * curve->fp_limbs], curve->p, curve->fp_bytes); /* p itself */
            assert_false(g->affine_is_reduced(&a));
            assert_false(g->on_curve(&a));
            a.l[c * curve->fp_limbs] -= 1; /* p - 1 */
            assert_true(g->affine_is_reduced(&a));
            memset(&a.l[c * curve->fp_limbs], 0xff, curve->fp_bytes);
            assert_false(g->affine_is_reduced(&a));
        }
    }
}

static void test_batch(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    enum { N = 40 };
    static cuzk_jac points[N];
    static uint8_t out[N * sizeof(cuzk_affine) + 16];
    for (int i = 0; i < 2; i++) {
        const cuzk_group *g = &curve->g[i];
        cuzk_affine a;
        for (size_t n = 0; n <= N; n += n < 4 ? 1 : 12) {
            for (size_t k = 0; k < n; k++) {
                test_random_point(g, curve, &a, &seed);
                g->from_affine(&points[k], &a);
                g->dbl(&points[k], &points[k]);
                if (test_random(&seed) % 3 == 0) {
                    g->set_infinity(&points[k]);
                }
            }
            for (size_t shift = 0; shift < 16; shift += 5) {
                memset(out, 0xaa, sizeof(out));
                g->batch_to_affine(out + shift, points, n);
                for (size_t k = 0; k < n; k++) {
                    assert_jac_is_affine(g, &points[k], out + shift + k * g->affine_bytes, k);
                }
                assert_int_equal(out[shift + n * g->affine_bytes], 0xaa);
            }
        }
    }
}

static void test_alignment(void **state)
{
    const cuzk_curve *curve = curve_of(state);
    uint64_t seed = test_seed();
    uint8_t in[sizeof(cuzk_affine) + 8], out[sizeof(cuzk_affine) + 8];
    for (int i = 0; i < 2; i++) {
        const cuzk_group *g = &curve->g[i];
        cuzk_affine a, b;
        cuzk_jac p, q;
        for (size_t shift = 0; shift < 8; shift++) {
            test_random_point(g, curve, &a, &seed);
            memcpy(in + shift, &a, g->affine_bytes);
            assert_true(g->on_curve(in + shift));
            assert_true(g->in_subgroup(in + shift));
            assert_true(g->affine_is_reduced(in + shift));
            assert_int_equal(g->affine_is_infinity(in + shift), g->affine_is_infinity(&a));
            g->from_affine(&p, in + shift);
            g->to_affine(out + 7 - shift, &p);
            assert_memory_equal(out + 7 - shift, &a, g->affine_bytes);
            g->affine_neg(in + shift, in + shift);
            g->add_affine(&q, &p, in + shift);
            assert_true(g->is_infinity(&q));
            g->generator(out + shift);
            g->generator(&b);
            assert_memory_equal(out + shift, &b, g->affine_bytes);
        }
    }
}

/* Every function of two paths gives the same bytes, Jacobian coordinates included. */
static void test_paths_agree(void **state)
{
    cuzk_curve_id id = *(const cuzk_curve_id *)*state;
    const cuzk_curve *a = cuzk_curve_get_path(id, CUZK_CPU_PORTABLE);
    const cuzk_curve *b = cuzk_curve_get_path(id, CUZK_CPU_ADX);
    uint64_t seed = test_seed();
    assert_non_null(a);
    if (b == NULL) {
        skip();
    }
    for (int i = 0; i < 2; i++) {
        for (int round = 0; round < 50; round++) {
            cuzk_affine p;
            cuzk_fr k;
            cuzk_jac r[2][4];
            memset(r, 0, sizeof(r));
            test_random_point(&a->g[i], a, &p, &seed);
            test_random_fr(a, &k, &seed);
            for (int path = 0; path < 2; path++) {
                const cuzk_group *g = path == 0 ? &a->g[i] : &b->g[i];
                g->from_affine(&r[path][0], &p);
                g->dbl(&r[path][1], &r[path][0]);
                g->add(&r[path][2], &r[path][1], &r[path][0]);
                g->mul(&r[path][3], &r[path][2], &k);
            }
            assert_memory_equal(r[0], r[1], sizeof(r[0]));
        }
    }
}

#define FOR_BOTH(test)                                                                             \
    cmocka_unit_test_prestate(test, &ids[0]), cmocka_unit_test_prestate(test, &ids[1])

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOR_BOTH(test_known_answers), FOR_BOTH(test_laws),         FOR_BOTH(test_mul_sum),
        FOR_BOTH(test_subgroup),      FOR_BOTH(test_not_on_curve), FOR_BOTH(test_batch),
        FOR_BOTH(test_alignment),     FOR_BOTH(test_paths_agree),
    };
    if (!test_path_supported()) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
