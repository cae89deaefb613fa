/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fp6 and fp12 against polynomials: an element of fp12 is a polynomial in w of degree below 6 over
 * fp2 with w^6 = XI, multiplied as polynomials are. (fp2 itself is held against integers in
 * tests/field.) Powers by Frobenius, cyclotomic squares and the final power are held against powers
 * by repeated multiplication of such polynomials. */
#include "tower_checks.h"

#include "curve/pairing.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const tower_checks CUZK_INSTANCE(tower_checks);

enum { ROUNDS = 25, DEGREE = 6 };

/* Σ c_i·w^i */
typedef struct {
    fp2 c[DEGREE];
} poly;

/* 0, 1, -1, small or any. */
static void random_fp(fp *o, uint64_t *state)
{
    uint64_t words[FP_LIMBS] = {0}, kind = cuzk_test_random(state) % 8;
    if (kind >= 4) {
        for (int i = 0; i < FP_LIMBS; i++) {
            words[i] = cuzk_test_random(state);
        }
    } else {
        words[0] = kind == 3 ? cuzk_test_random(state) : kind != 0;
    }
    fp_from_canonical(o, words);
    if (kind == 2) {
        fp_neg(o, o);
    }
}

static void random_fp2(fp2 *o, uint64_t *state)
{
    random_fp(&o->c0, state);
    random_fp(&o->c1, state);
}

static void random_fp6(fp6 *o, uint64_t *state)
{
    random_fp2(&o->c0, state);
    random_fp2(&o->c1, state);
    random_fp2(&o->c2, state);
}

static void random_fp12(fp12 *o, uint64_t *state)
{
    random_fp6(&o->c0, state);
    random_fp6(&o->c1, state);
}

/* v = w², so c0.ck is the coefficient of w^2k and c1.ck that of w^(2k+1). */
static poly poly_of(const fp12 *a)
{
    return (poly){{a->c0.c0, a->c1.c0, a->c0.c1, a->c1.c1, a->c0.c2, a->c1.c2}};
}

static fp12 element_of(const poly *p)
{
    return (fp12){{p->c[0], p->c[2], p->c[4]}, {p->c[1], p->c[3], p->c[5]}};
}

static fp12 widen(const fp6 *a)
{
    fp12 o = {*a, *a};
    fp6_set_zero(&o.c1);
    return o;
}

static void poly_mul(poly *o, const poly *a, const poly *b)
{
    static const fp2 zero;
    poly r;
    fp2 t;
    for (int i = 0; i < DEGREE; i++) {
        r.c[i] = zero;
    }
    for (int i = 0; i < DEGREE; i++) {
        for (int j = 0; j < DEGREE; j++) {
            fp2_mul(&t, &a->c[i], &b->c[j]);
            if (i + j >= DEGREE) {
                fp2_mul_by_xi(&t, &t);
            }
            fp2_add(&r.c[(i + j) % DEGREE], &r.c[(i + j) % DEGREE], &t);
        }
    }
    *o = r;
}

static void slow_mul(fp12 *o, const fp12 *a, const fp12 *b)
{
    poly x = poly_of(a), y = poly_of(b);
    poly_mul(&x, &x, &y);
    *o = element_of(&x);
}

/* o = a^e, e of n words. */
static void slow_pow(fp12 *o, const fp12 *a, const uint64_t *e, int n)
{
    fp12 r, x = *a;
    fp12_set_one(&r);
    for (int i = 64 * n; i-- > 0;) {
        slow_mul(&r, &r, &r);
        if (e[i / 64] >> (i % 64) & 1) {
            slow_mul(&r, &r, &x);
        }
    }
    *o = r;
}

#define assert_fp12(a, b) assert_true(fp12_eq(&(a), &(b)))

static bool fp6_equal(const fp6 *a, const fp6 *b)
{
    fp12 x = widen(a), y = widen(b);
    return fp12_eq(&x, &y);
}

/* ---- products ---- */

static void check_products(uint64_t seed)
{
    for (int i = 0; i < ROUNDS; i++) {
        fp12 a, b, found, expected;
        random_fp12(&a, &seed);
        random_fp12(&b, &seed);
        slow_mul(&expected, &a, &b);
        fp12_mul(&found, &a, &b);
        assert_fp12(found, expected);
        found = a; /* the output is the first factor, then the second */
        fp12_mul(&found, &found, &b);
        assert_fp12(found, expected);
        found = b;
        fp12_mul(&found, &a, &found);
        assert_fp12(found, expected);
        slow_mul(&expected, &a, &a);
        fp12_sqr(&found, &a);
        assert_fp12(found, expected);
        fp12_sqr(&a, &a);
        assert_fp12(a, expected);

        fp6 x, y, o;
        random_fp6(&x, &seed);
        random_fp6(&y, &seed);
        fp12 wide_x = widen(&x), wide_y = widen(&y);
        slow_mul(&expected, &wide_x, &wide_y);
        fp6_mul(&o, &x, &y);
        assert_true(fp6_equal(&o, &expected.c0));
        fp6_mul(&x, &x, &y);
        assert_true(fp6_equal(&x, &expected.c0));
        fp6_mul(&x, &x, &x);
        slow_mul(&expected, &expected, &expected);
        assert_true(fp6_equal(&x, &expected.c0));
        /* sums and differences undo one another */
        fp6_add(&o, &x, &y);
        fp6_sub(&o, &o, &x);
        assert_true(fp6_equal(&o, &y));
        fp6_neg(&o, &x);
        fp6_add(&o, &o, &x);
        fp6_set_zero(&y);
        assert_true(fp6_equal(&o, &y));
    }
}

/* Factors in which coefficients are missing, as elements with zeros there. */
static void check_sparse(uint64_t seed)
{
    for (int i = 0; i < ROUNDS; i++) {
        fp6 a, b, o, sparse;
        random_fp6(&a, &seed);
        random_fp6(&b, &seed);
        fp12 wide = widen(&a), factor, expected;

        fp6_set_zero(&sparse); /* v */
        fp2_set_one(&sparse.c1);
        factor = widen(&sparse);
        slow_mul(&expected, &wide, &factor);
        fp6_mul_by_v(&o, &a);
        assert_true(fp6_equal(&o, &expected.c0));

        fp6_set_zero(&sparse); /* b0 */
        sparse.c0 = b.c0;
        factor = widen(&sparse);
        slow_mul(&expected, &wide, &factor);
        fp6_mul_fp2(&o, &a, &b.c0);
        assert_true(fp6_equal(&o, &expected.c0));

        sparse.c1 = b.c1; /* b0 + b1·v */
        factor = widen(&sparse);
        slow_mul(&expected, &wide, &factor);
        fp6_mul_01(&o, &a, &b.c0, &b.c1);
        assert_true(fp6_equal(&o, &expected.c0));
        o = a;
        fp6_mul_01(&o, &o, &b.c0, &b.c1);
        assert_true(fp6_equal(&o, &expected.c0));

        fp6_set_zero(&sparse); /* b1·v + b2·v² */
        sparse.c1 = b.c1;
        sparse.c2 = b.c2;
        factor = widen(&sparse);
        slow_mul(&expected, &wide, &factor);
        fp6_mul_12(&o, &a, &b.c1, &b.c2);
        assert_true(fp6_equal(&o, &expected.c0));
        o = a;
        fp6_mul_12(&o, &o, &b.c1, &b.c2);
        assert_true(fp6_equal(&o, &expected.c0));

        /* the cross products of two triples, one by one */
        fp2 x[5], t, u;
        fp6_cross(x, &a, &b);
        fp2_mul(&t, &a.c2, &b.c2);
        fp2_mul_by_xi(&t, &t);
        fp2_mul(&u, &a.c0, &b.c0);
        fp2_add(&t, &t, &u);
        assert_true(fp2_eq(&x[0], &t));
        fp2_mul(&t, &a.c1, &b.c1);
        assert_true(fp2_eq(&x[2], &t));
        const fp2 *pairs[3][4] = {{&a.c0, &b.c1, &a.c1, &b.c0},
                                  {&a.c0, &b.c2, &a.c2, &b.c0},
                                  {&a.c1, &b.c2, &a.c2, &b.c1}};
        static const int place[3] = {1, 3, 4};
        for (int k = 0; k < 3; k++) {
            fp2_mul(&t, pairs[k][0], pairs[k][1]);
            fp2_mul(&u, pairs[k][2], pairs[k][3]);
            fp2_add(&t, &t, &u);
            assert_true(fp2_eq(&x[place[k]], &t));
        }
    }
}

static void check_inverses(uint64_t seed)
{
    fp12 one, zero = {{{{{0}}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}},
                      {{{{0}}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}}};
    fp12_set_one(&one);
    for (int i = 0; i < ROUNDS; i++) {
        fp12 a, o;
        random_fp12(&a, &seed);
        if (i % 5 == 1) { /* only one coefficient */
            poly p = poly_of(&zero);
            p.c[i % DEGREE] = a.c0.c0;
            a = element_of(&p);
        }
        fp12_inv(&o, &a);
        if (fp12_eq(&a, &zero)) {
            assert_fp12(o, zero);
            continue;
        }
        slow_mul(&o, &o, &a);
        assert_fp12(o, one);
        fp6 x = a.c0, y;
        fp12 wide = widen(&x), product;
        fp6_inv(&y, &x);
        product = widen(&y);
        slow_mul(&product, &product, &wide);
        if (fp6_equal(&x, &zero.c0)) {
            assert_true(fp6_equal(&y, &zero.c0));
        } else {
            assert_fp12(product, one);
        }
    }
    fp12 o;
    fp12_inv(&o, &zero);
    assert_fp12(o, zero);
}

/* ---- powers ---- */

static const uint64_t p_words[FP_LIMBS] = CUZK_CC(FP_MODULUS);

static void check_frobenius(uint64_t seed)
{
    for (int i = 0; i < 2; i++) {
        fp12 a, p1, p2, p3, p6, o;
        random_fp12(&a, &seed);
        slow_pow(&p1, &a, p_words, FP_LIMBS);
        fp12_frobenius1(&o, &a);
        assert_fp12(o, p1);
        slow_pow(&p2, &p1, p_words, FP_LIMBS);
        fp12_frobenius2(&o, &a);
        assert_fp12(o, p2);
        slow_pow(&p3, &p2, p_words, FP_LIMBS);
        fp12_frobenius3(&o, &a);
        assert_fp12(o, p3);
        slow_pow(&p6, &p3, p_words, FP_LIMBS);
        slow_pow(&p6, &p6, p_words, FP_LIMBS);
        slow_pow(&p6, &p6, p_words, FP_LIMBS);
        fp12_conj(&o, &a);
        assert_fp12(o, p6);
        /* twelve times is nothing; in place */
        o = a;
        for (int k = 0; k < 12; k++) {
            fp12_frobenius1(&o, &o);
        }
        assert_fp12(o, a);
    }
}

/* An element of the cyclotomic subgroup: a^((p⁶-1)(p²+1)). */
static void random_cyclotomic(fp12 *o, uint64_t *state)
{
    fp12 a, t;
    do {
        random_fp12(&a, state);
        fp12_inv(&t, &a);
        fp12_conj(&a, &a);
        slow_mul(&t, &t, &a);
        fp12_frobenius2(&a, &t);
        slow_mul(o, &t, &a);
    } while (fp2_is_zero(&o->c1.c0)); /* of small orders */
}

static void check_cyclotomic(uint64_t seed)
{
    static const uint64_t x_abs[1] = {CUZK_CC(X_ABS)};
    for (int i = 0; i < 4; i++) {
        fp12 a, o, expected, list[4];
        random_cyclotomic(&a, &seed);
        assert_true(fp12_is_cyclotomic(&a));
        slow_mul(&expected, &a, &a);
        fp12_cyclotomic_sqr(&o, &a);
        assert_fp12(o, expected);
        o = a;
        fp12_cyclotomic_sqr(&o, &o);
        assert_fp12(o, expected);
        /* compressed squares: the coordinates that are kept, and all of them again */
        o = a;
        expected = a;
        for (int k = 0; k < 4; k++) {
            cyclotomic_sqr_compressed(&o, &o);
            list[k] = o;
            memset(&list[k].c0.c0, 0xff, sizeof(fp2)); /* not read */
            memset(&list[k].c1.c1, 0xff, sizeof(fp2));
        }
        assert_true(cyclotomic_decompress(list, 4));
        for (int k = 0; k < 4; k++) {
            slow_mul(&expected, &expected, &expected);
            assert_fp12(list[k], expected);
        }
        /* powers */
        cyclotomic_pow_x(&o, &a);
        slow_pow(&expected, &a, x_abs, 1);
        if (CUZK_CC(X_IS_NEG)) {
            fp12_conj(&expected, &expected);
        }
        assert_fp12(o, expected);
        uint64_t e[FR_LIMBS];
        for (int k = 0; k < FR_LIMBS; k++) {
            e[k] = i == 0 ? 0 : i == 1 ? UINT64_MAX : cuzk_test_random(&seed);
        }
        for (int n = 1; n <= FR_LIMBS; n++) {
            fp12_cyclotomic_pow(&o, &a, e, n);
            slow_pow(&expected, &a, e, n);
            assert_fp12(o, expected);
        }
        /* not of the subgroup */
        fp12 other;
        random_fp12(&other, &seed);
        fp2_set_one(&other.c0.c1);
        assert_false(fp12_is_cyclotomic(&other));
    }
    fp12 one, o;
    fp12_set_one(&one);
    assert_true(fp12_is_cyclotomic(&one));
    cyclotomic_pow_x(&o, &one); /* nothing to decompress from */
    assert_fp12(o, one);
}

/* ---- lines ---- */

/* A line as an element: where its three coefficients stand depends on the twist. */
static fp12 line_element(const pairing_line *l)
{
    static const fp2 zero;
    poly p;
    for (int i = 0; i < DEGREE; i++) {
        p.c[i] = zero;
    }
    p.c[0] = l->c0;
    p.c[CUZK_CC(TWIST_IS_M) ? 2 : 1] = l->c1;
    p.c[3] = l->c2;
    return element_of(&p);
}

static void check_lines(uint64_t seed)
{
    enum { MAX = 5 };
    for (int i = 0; i < ROUNDS; i++) {
        fp12 f, found, expected;
        pairing_line lines[MAX];
        random_fp12(&f, &seed);
        for (int k = 0; k < MAX; k++) {
            random_fp6(&lines[k], &seed);
        }
        expected = f;
        for (size_t n = 0; n <= MAX; n++) {
            found = f;
            pairing_mul_lines(&found, lines, n);
            assert_fp12(found, expected);
            if (n < MAX) {
                fp12 l = line_element(&lines[n]);
                slow_mul(&expected, &expected, &l);
            }
        }
    }
    /* a line through points of the twist vanishes there, up to what the tower puts in front: the
     * doubling and the addition step keep to the curve */
    for (int i = 0; i < 4; i++) {
        static const fp2 gx = CUZK_CC(G2_X), gy = CUZK_CC(G2_Y);
        pairing_pair pair = {.q = {gx, gy}, .t = {.x = gx, .y = gy}};
        pairing_line line;
        g2_jac sum;
        fp2_set_one(&pair.t.z);
        random_fp(&pair.yp, &seed);
        random_fp(&pair.xp_neg, &seed);
        fp_dbl(&pair.xp_neg3, &pair.xp_neg);
        fp_add(&pair.xp_neg3, &pair.xp_neg3, &pair.xp_neg);
        g2_from_affine(&sum, &pair.q);
        for (int step = 0; step < 6; step++) {
            if ((i >> (step % 2) & 1) != 0 && step > 0) {
                pairing_add(&line, &pair, &pair.q);
                g2_add_affine(&sum, &sum, &pair.q);
            } else {
                pairing_double(&line, &pair);
                g2_dbl(&sum, &sum);
            }
            g2_affine affine;
            fp2 zinv, t;
            g2_to_affine(&affine, &sum);
            fp2_inv(&zinv, &pair.t.z);
            fp2_mul(&t, &pair.t.x, &zinv);
            assert_true(fp2_eq(&t, &affine.x));
            fp2_mul(&t, &pair.t.y, &zinv);
            assert_true(fp2_eq(&t, &affine.y));
        }
    }
}

/* ---- the final power ---- */

static void check_final_power(uint64_t seed)
{
    static const uint64_t r[FR_LIMBS] = CUZK_CC(FR_MODULUS);
    fp12 one;
    fp12_set_one(&one);
    for (int i = 0; i < 3; i++) {
        fp12 f, g, ff, gg, product, o;
        do {
            random_fp12(&f, &seed);
            random_fp12(&g, &seed);
            slow_mul(&product, &f, &g);
            fp12_inv(&o, &product);
            slow_mul(&o, &o, &product);
        } while (!fp12_eq(&o, &one));
        pairing_final_exp(&ff, &f);
        pairing_final_exp(&gg, &g);
        pairing_final_exp(&product, &product);
        slow_mul(&o, &ff, &gg); /* a power: of a product, the product of powers */
        assert_fp12(product, o);
        assert_false(fp12_eq(&ff, &one));
        slow_pow(&o, &ff, r, FR_LIMBS); /* its values have order r */
        assert_fp12(o, one);
        /* r-th powers, and all of fp6, go to 1 */
        slow_pow(&o, &f, r, FR_LIMBS);
        pairing_final_exp(&o, &o);
        assert_fp12(o, one);
        if (!fp2_is_zero(&f.c0.c0)) {
            o = widen(&f.c0);
            pairing_final_exp(&o, &o);
            assert_fp12(o, one);
        }
        /* it commutes with Frobenius */
        fp12_frobenius1(&o, &f);
        pairing_final_exp(&o, &o);
        fp12_frobenius1(&ff, &ff);
        assert_fp12(o, ff);
    }
}

const tower_checks CUZK_INSTANCE(tower_checks) = {
    .products = check_products,
    .sparse = check_sparse,
    .inverses = check_inverses,
    .frobenius = check_frobenius,
    .cyclotomic = check_cyclotomic,
    .lines = check_lines,
    .final_power = check_final_power,
};
