/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "curve/affine_reference.h"

#include <assert.h>
#include <string.h>

/* ---- coordinates ---- */

static ref_coord add(const ref_group *g, const ref_coord *a, const ref_coord *b)
{
    return (ref_coord){big_add_mod(&a->c0, &b->c0, &g->p), big_add_mod(&a->c1, &b->c1, &g->p)};
}

static ref_coord sub(const ref_group *g, const ref_coord *a, const ref_coord *b)
{
    return (ref_coord){big_sub_mod(&a->c0, &b->c0, &g->p), big_sub_mod(&a->c1, &b->c1, &g->p)};
}

static ref_coord mul(const ref_group *g, const ref_coord *a, const ref_coord *b)
{
    big low = big_mul(&a->c0, &b->c0), high = big_mul(&a->c1, &b->c1);
    big cross = big_mul(&a->c0, &b->c1), other = big_mul(&a->c1, &b->c0);
    return (ref_coord){big_sub_mod(&low, &high, &g->p), big_add_mod(&cross, &other, &g->p)};
}

static ref_coord inverse(const ref_group *g, const ref_coord *a)
{
    big low = big_mul(&a->c0, &a->c0), high = big_mul(&a->c1, &a->c1);
    big norm = big_add_mod(&low, &high, &g->p), zero = big_of(0);
    norm = big_inv_mod(&norm, &g->p);
    big minus = big_sub_mod(&zero, &a->c1, &g->p);
    return (ref_coord){big_mul_mod(&a->c0, &norm, &g->p), big_mul_mod(&minus, &norm, &g->p)};
}

static bool same(const ref_coord *a, const ref_coord *b)
{
    return big_compare(&a->c0, &b->c0) == 0 && big_compare(&a->c1, &b->c1) == 0;
}

static ref_coord small(uint64_t c0, uint64_t c1)
{
    return (ref_coord){big_of(c0), big_of(c1)};
}

static const ref_coord *zero_coord(void)
{
    static const ref_coord zero;
    return &zero;
}

void ref_group_init(ref_group *g, const cuzk_curve *curve, cuzk_group_id id)
{
    memset(g, 0, sizeof *g);
    g->curve = curve;
    g->group = &curve->g[id];
    g->p = big_from_words(curve->p, curve->fp_limbs);
    g->r = big_from_words(curve->r, 4);
    big whole = big_power_of_two(64 * curve->fp_limbs);
    g->r_montgomery = big_mod(&whole, &g->p);
    g->r_inverse = big_inv_mod(&g->r_montgomery, &g->p);
    if (curve->id == CUZK_CURVE_BN254) {
        ref_coord three = small(3, 0), xi = small(9, 1), inv = inverse(g, &xi);
        g->b = id == CUZK_G1 ? three : mul(g, &three, &inv);
    } else {
        g->b = small(4, id == CUZK_G1 ? 0 : 4);
    }
}

/* ---- points ---- */

/* One coordinate of `count` field elements at words. */
static ref_coord load_coord(const ref_group *g, const uint8_t *at)
{
    size_t bytes = g->curve->fp_bytes;
    ref_coord o = {big_from_le(at, bytes), big_of(0)};
    o.c0 = big_mul_mod(&o.c0, &g->r_inverse, &g->p);
    if (g->group->id == CUZK_G2) {
        o.c1 = big_from_le(at + bytes, bytes);
        o.c1 = big_mul_mod(&o.c1, &g->r_inverse, &g->p);
    }
    return o;
}

static void store_coord(const ref_group *g, uint8_t *at, const ref_coord *a)
{
    size_t bytes = g->curve->fp_bytes;
    big montgomery = big_mul_mod(&a->c0, &g->r_montgomery, &g->p);
    big_to_le(at, bytes, &montgomery);
    if (g->group->id == CUZK_G2) {
        montgomery = big_mul_mod(&a->c1, &g->r_montgomery, &g->p);
        big_to_le(at + bytes, bytes, &montgomery);
    }
}

ref_point ref_load(const ref_group *g, const void *packed)
{
    const uint8_t *at = packed;
    ref_point o = {.x = load_coord(g, at), .y = load_coord(g, at + g->group->coord_bytes)};
    o.infinity = same(&o.x, zero_coord()) && same(&o.y, zero_coord());
    return o;
}

void ref_store(const ref_group *g, void *packed, const ref_point *a)
{
    memset(packed, 0, g->group->affine_bytes);
    if (!a->infinity) {
        store_coord(g, packed, &a->x);
        store_coord(g, (uint8_t *)packed + g->group->coord_bytes, &a->y);
    }
}

ref_point ref_load_jac(const ref_group *g, const cuzk_jac *a)
{
    const uint8_t *at = (const uint8_t *)a->l;
    size_t bytes = g->group->coord_bytes;
    ref_coord z = load_coord(g, at + 2 * bytes);
    ref_point o = {.infinity = same(&z, zero_coord())};
    if (!o.infinity) {
        ref_coord x = load_coord(g, at), y = load_coord(g, at + bytes), inv = inverse(g, &z);
        ref_coord square = mul(g, &inv, &inv), cube = mul(g, &square, &inv);
        o.x = mul(g, &x, &square);
        o.y = mul(g, &y, &cube);
    }
    return o;
}

bool ref_equal(const ref_point *a, const ref_point *b)
{
    if (a->infinity || b->infinity) {
        return a->infinity == b->infinity;
    }
    return same(&a->x, &b->x) && same(&a->y, &b->y);
}

bool ref_on_curve(const ref_group *g, const ref_point *a)
{
    ref_coord left = mul(g, &a->y, &a->y), right = mul(g, &a->x, &a->x);
    right = mul(g, &right, &a->x);
    right = add(g, &right, &g->b);
    return a->infinity || same(&left, &right);
}

ref_point ref_neg(const ref_group *g, const ref_point *a)
{
    ref_point o = *a;
    if (!a->infinity) {
        o.y = sub(g, zero_coord(), &a->y);
    }
    return o;
}

ref_point ref_add(const ref_group *g, const ref_point *a, const ref_point *b)
{
    ref_point o = {.infinity = false};
    ref_coord rise, run;
    if (a->infinity || b->infinity) {
        return a->infinity ? *b : *a;
    }
    if (!same(&a->x, &b->x)) { /* chord */
        rise = sub(g, &b->y, &a->y);
        run = sub(g, &b->x, &a->x);
    } else {
        run = add(g, &a->y, &b->y);
        if (same(&run, zero_coord())) {
            o.infinity = true;
            return o;
        }
        ref_coord three = small(3, 0);
        rise = mul(g, &a->x, &a->x); /* tangent: 3x²/2y */
        rise = mul(g, &rise, &three);
    }
    run = inverse(g, &run);
    ref_coord slope = mul(g, &rise, &run);
    o.x = mul(g, &slope, &slope);
    o.x = sub(g, &o.x, &a->x);
    o.x = sub(g, &o.x, &b->x);
    o.y = sub(g, &a->x, &o.x);
    o.y = mul(g, &o.y, &slope);
    o.y = sub(g, &o.y, &a->y);
    return o;
}

ref_point ref_mul(const ref_group *g, const big *k, const ref_point *a)
{
    ref_point o = {.infinity = true};
    for (unsigned bit = big_bits(k); bit-- > 0;) {
        o = ref_add(g, &o, &o);
        if (big_bit(k, bit)) {
            o = ref_add(g, &o, a);
        }
    }
    return o;
}

/* ---- points from abscissae ---- */

/* A root in Fp, p = 3 mod 4; false when there is none. */
static bool root(const ref_group *g, big *o, const big *a)
{
    big one = big_of(1), four = big_of(4), rest, e = big_add(&g->p, &one);
    e = big_div(&e, &four, &rest);
    *o = big_pow_mod(a, &e, &g->p);
    big square = big_mul_mod(o, o, &g->p);
    return big_compare(&square, a) == 0;
}

/* A root in Fp(u): of (c0 + c1·u) = (x + y·u)², x² = (c0 ± |a|)/2 and y = c1/2x. */
static bool root2(const ref_group *g, ref_coord *o, const ref_coord *a)
{
    big low = big_mul(&a->c0, &a->c0), high = big_mul(&a->c1, &a->c1), size;
    big norm = big_add_mod(&low, &high, &g->p), two = big_of(2), half = big_inv_mod(&two, &g->p);
    if (!root(g, &size, &norm)) {
        return false;
    }
    big square = big_add_mod(&a->c0, &size, &g->p), x;
    square = big_mul_mod(&square, &half, &g->p);
    if (!root(g, &x, &square)) {
        square = big_sub_mod(&a->c0, &size, &g->p);
        square = big_mul_mod(&square, &half, &g->p);
        if (!root(g, &x, &square)) {
            return false;
        }
    }
    big twice = big_add_mod(&x, &x, &g->p), inv = big_inv_mod(&twice, &g->p);
    *o = (ref_coord){x, big_mul_mod(&a->c1, &inv, &g->p)};
    ref_coord check = mul(g, o, o);
    return same(&check, a);
}

ref_point ref_point_from(const ref_group *g, uint64_t from)
{
    bool in_g2 = g->group->id == CUZK_G2;
    for (uint64_t x = from;; x++) {
        ref_point o = {.x = small(x, in_g2)};
        ref_coord right = mul(g, &o.x, &o.x);
        right = mul(g, &right, &o.x);
        right = add(g, &right, &g->b);
        if (in_g2 ? root2(g, &o.y, &right) : root(g, &o.y.c0, &right.c0)) {
            assert(ref_on_curve(g, &o));
            return o;
        }
    }
}
