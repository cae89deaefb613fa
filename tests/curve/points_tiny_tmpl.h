/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exhaustive check of curve/point_tmpl.h over y² = x³ + TINY_B modulo TINY_P: part of
 * test_points_tiny.c, which includes it once per curve with TINY(name), TINY_P, TINY_B defined. */

/* ---- a field of TINY_P elements with the verbs of field_tmpl.h ---- */

#define TINY_F TINY(f)

typedef struct {
    uint64_t l[1];
} TINY_F;

static void TINY(f_set_zero)(TINY_F *o)
{
    o->l[0] = 0;
}

static void TINY(f_set_one)(TINY_F *o)
{
    o->l[0] = 1;
}

static bool TINY(f_is_zero)(const TINY_F *a)
{
    return a->l[0] == 0;
}

static bool TINY(f_is_reduced)(const TINY_F *a)
{
    return a->l[0] < TINY_P;
}

static bool TINY(f_eq)(const TINY_F *a, const TINY_F *b)
{
    return a->l[0] == b->l[0];
}

static void TINY(f_add)(TINY_F *o, const TINY_F *a, const TINY_F *b)
{
    o->l[0] = (a->l[0] + b->l[0]) % TINY_P;
}

static void TINY(f_sub)(TINY_F *o, const TINY_F *a, const TINY_F *b)
{
    o->l[0] = (a->l[0] + TINY_P - b->l[0]) % TINY_P;
}

static void TINY(f_dbl)(TINY_F *o, const TINY_F *a)
{
    TINY(f_add)(o, a, a);
}

static void TINY(f_neg)(TINY_F *o, const TINY_F *a)
{
    o->l[0] = (TINY_P - a->l[0]) % TINY_P;
}

static void TINY(f_mul)(TINY_F *o, const TINY_F *a, const TINY_F *b)
{
    o->l[0] = a->l[0] * b->l[0] % TINY_P;
}

static void TINY(f_sqr)(TINY_F *o, const TINY_F *a)
{
    TINY(f_mul)(o, a, a);
}

static void TINY(f_inv)(TINY_F *o, const TINY_F *a)
{
    uint64_t inverse = 0;
    for (uint64_t i = 1; i < TINY_P; i++) {
        if (i * a->l[0] % TINY_P == 1) {
            inverse = i;
        }
    }
    o->l[0] = inverse;
}

static void TINY(f_load)(TINY_F *o, const void *src)
{
    memcpy(o->l, src, sizeof(o->l));
}

static void TINY(f_store)(void *dst, const TINY_F *a)
{
    memcpy(dst, a->l, sizeof(a->l));
}

#define PT(name) TINY(name)
#define CF(name) TINY(f_##name)
#define CF_TYPE  TINY_F
/* clang-format off */
#define PT_B {{TINY_B}}
/* clang-format on */
#include "curve/point_tmpl.h"

#define TINY_AFFINE TINY(affine)
#define TINY_JAC    TINY(jac)
#define TINY_XYZZ   TINY(xyzz)

/* The group law from the definition, on indices into the list of all points; 0 is infinity. */
static size_t TINY(points)(TINY_AFFINE *all)
{
    size_t n = 1;
    TINY(affine_set_infinity)(&all[0]);
    for (uint64_t x = 0; x < TINY_P; x++) {
        for (uint64_t y = 0; y < TINY_P; y++) {
            TINY_AFFINE a = {{{x}}, {{y}}};
            bool on_curve = y * y % TINY_P == (x * x % TINY_P * x + TINY_B) % TINY_P;
            assert_int_equal(TINY(affine_on_curve)(&a), on_curve || TINY(affine_is_infinity)(&a));
            if (on_curve) {
                all[n++] = a;
            }
        }
    }
    return n;
}

static void TINY(sum)(TINY_AFFINE *o, const TINY_AFFINE *a, const TINY_AFFINE *b)
{
    TINY_F slope, t;
    TINY_AFFINE r;
    if (TINY(affine_is_infinity)(a) || TINY(affine_is_infinity)(b)) {
        *o = TINY(affine_is_infinity)(a) ? *b : *a;
        return;
    }
    if (a->x.l[0] == b->x.l[0]) {
        if ((a->y.l[0] + b->y.l[0]) % TINY_P == 0) {
            TINY(affine_set_infinity)(o);
            return;
        }
        slope.l[0] = 3 * a->x.l[0] * a->x.l[0] % TINY_P;
        t.l[0] = 2 * a->y.l[0] % TINY_P;
    } else {
        slope.l[0] = (b->y.l[0] + TINY_P - a->y.l[0]) % TINY_P;
        t.l[0] = (b->x.l[0] + TINY_P - a->x.l[0]) % TINY_P;
    }
    TINY(f_inv)(&t, &t);
    uint64_t k = slope.l[0] * t.l[0] % TINY_P;
    r.x.l[0] = (k * k + 2 * TINY_P - a->x.l[0] - b->x.l[0]) % TINY_P;
    r.y.l[0] = (k * (a->x.l[0] + TINY_P - r.x.l[0]) + TINY_P - a->y.l[0]) % TINY_P;
    *o = r;
}

/* The same point with another Z; infinity gets arbitrary X and Y. */
static void TINY(with_z)(TINY_JAC *o, const TINY_AFFINE *a, uint64_t z)
{
    if (TINY(affine_is_infinity)(a)) {
        TINY_JAC inf = {{{z % TINY_P}}, {{3 % TINY_P}}, {{0}}};
        *o = inf;
        return;
    }
    TINY_JAC p = {{{a->x.l[0] * z % TINY_P * z % TINY_P}},
                  {{a->y.l[0] * z % TINY_P * z % TINY_P * z % TINY_P}},
                  {{z}}};
    *o = p;
}

static void TINY(xyzz_with_z)(TINY_XYZZ *o, const TINY_AFFINE *a, uint64_t z)
{
    TINY_JAC p;
    TINY(with_z)(&p, a, z);
    o->x = p.x;
    o->y = p.y;
    TINY(f_sqr)(&o->zz, &p.z);
    TINY(f_mul)(&o->zzz, &o->zz, &p.z);
}

static void TINY(expect)(const TINY_JAC *found, const TINY_AFFINE *expected)
{
    TINY_AFFINE a;
    TINY_JAC e;
    assert_true(TINY(is_valid)(found));
    TINY(to_affine)(&a, found);
    assert_true(TINY(affine_eq)(&a, expected));
    assert_true(TINY(eq_affine)(found, expected));
    TINY(with_z)(&e, expected, 2);
    assert_true(TINY(eq)(found, &e) && TINY(eq)(&e, found));
}

static void TINY(expect_xyzz)(const TINY_XYZZ *found, const TINY_AFFINE *expected)
{
    TINY_JAC p;
    TINY_F cube, square;
    TINY(f_sqr)(&cube, &found->zz);
    TINY(f_mul)(&cube, &cube, &found->zz);
    TINY(f_sqr)(&square, &found->zzz);
    assert_true(TINY(f_eq)(&cube, &square));
    TINY(xyzz_to_jac)(&p, found);
    TINY(expect)(&p, expected);
}

/* Every pair of points, every Z of the first, a few Z of the second, all in place too. */
static void TINY(check_pair)(const TINY_AFFINE *a, const TINY_AFFINE *b)
{
    TINY_AFFINE expected;
    TINY(sum)(&expected, a, b);
    for (uint64_t za = 1; za < TINY_P; za++) {
        for (uint64_t zb = 1; zb < TINY_P; zb += 5) {
            TINY_JAC p, q, r;
            TINY_XYZZ x, y, s;
            TINY(with_z)(&p, a, za);
            TINY(with_z)(&q, b, zb);
            assert_int_equal(TINY(eq)(&p, &q), TINY(affine_eq)(a, b));
            TINY(add)(&r, &p, &q);
            TINY(expect)(&r, &expected);
            TINY(add)(&q, &p, &q);
            TINY(expect)(&q, &expected);
            TINY(xyzz_with_z)(&x, a, za);
            TINY(xyzz_with_z)(&y, b, zb);
            TINY(xyzz_add)(&s, &x, &y);
            TINY(expect_xyzz)(&s, &expected);
            TINY(xyzz_add)(&y, &x, &y);
            TINY(expect_xyzz)(&y, &expected);
            TINY(xyzz_add_affine)(&s, &x, b);
            TINY(expect_xyzz)(&s, &expected);
            TINY(xyzz_add_affine)(&x, &x, b);
            TINY(expect_xyzz)(&x, &expected);
            TINY(add_affine)(&r, &p, b);
            TINY(expect)(&r, &expected);
            TINY(add_affine)(&p, &p, b);
            TINY(expect)(&p, &expected);
        }
    }
}

static void TINY(check_single)(const TINY_AFFINE *a)
{
    TINY_AFFINE twice, minus;
    TINY_JAC p, r;
    TINY_XYZZ x, s;
    TINY(sum)(&twice, a, a);
    TINY(affine_neg)(&minus, a);
    assert_true(TINY(affine_on_curve)(&minus) && TINY(affine_is_reduced)(&minus));
    for (uint64_t z = 1; z < TINY_P; z++) {
        TINY(with_z)(&p, a, z);
        assert_true(TINY(is_valid)(&p));
        TINY(dbl)(&r, &p);
        TINY(expect)(&r, &twice);
        TINY(neg)(&r, &p);
        TINY(expect)(&r, &minus);
        TINY(dbl)(&p, &p);
        TINY(expect)(&p, &twice);
        TINY(xyzz_with_z)(&x, a, z);
        assert_int_equal(TINY(xyzz_is_infinity)(&x), TINY(affine_is_infinity)(a));
        TINY(xyzz_dbl)(&s, &x);
        TINY(expect_xyzz)(&s, &twice);
        TINY(xyzz_neg)(&s, &x);
        TINY(expect_xyzz)(&s, &minus);
        TINY(xyzz_dbl)(&x, &x);
        TINY(expect_xyzz)(&x, &twice);
    }
    TINY(from_affine)(&p, a);
    TINY(expect)(&p, a);
    TINY(xyzz_from_affine)(&x, a);
    TINY(expect_xyzz)(&x, a);
}

/** All of the above; returns the number of points. */
static size_t TINY(check)(void)
{
    static TINY_AFFINE all[2 * TINY_P + 2], packed[2 * TINY_P + 2];
    static TINY_JAC jac[2 * TINY_P + 2];
    size_t n = TINY(points)(all);
    for (size_t i = 0; i < n; i++) {
        TINY(check_single)(&all[i]);
        for (size_t j = 0; j < n; j++) {
            TINY(check_pair)(&all[i], &all[j]);
        }
        TINY(with_z)(&jac[i], &all[i], 1 + i % (TINY_P - 1));
    }
    TINY(batch_to_affine)(packed, jac, sizeof(jac[0]), n);
    for (size_t i = 0; i < n; i++) {
        assert_true(TINY(affine_eq)(&packed[i], &all[i]));
    }
    return n;
}

#undef TINY_F
#undef TINY_AFFINE
#undef TINY_JAC
#undef TINY_XYZZ
#undef TINY
#undef TINY_P
#undef TINY_B
