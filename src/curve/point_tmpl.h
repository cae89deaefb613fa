/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Points of y² = x³ + b over one coordinate field, written once for G1 (fp) and G2 (fp2).
 *
 * A re-includable header: curve/groups.h binds the macros below and includes it once per group.
 *   PT(name)   g1_##name or g2_##name: the prefix of every type and function
 *   CF(name)   fp_##name or fp2_##name: the verbs of the coordinate field
 *   CF_TYPE    fp or fp2
 *   PT_B       initialiser of b
 * and undefines them at its end. The functions are `static inline` and also compile as device code.
 *
 * Representations (all coordinates Montgomery and reduced):
 *   affine     (x, y); infinity is (0, 0), which is on neither curve because b is not 0
 *   jac        x = X/Z², y = Y/Z³; infinity is any triple with Z = 0
 *   xyzz       x = X/ZZ, y = Y/ZZZ with ZZ³ = ZZZ²; infinity is ZZ = 0
 * Every function is exact for all inputs: equal and opposite points and infinity give what the
 * group law says. Outputs may alias inputs. Nothing is constant-time.
 *
 * Formulas: the Explicit-Formulas Database (hyperelliptic.org/EFD), short Weierstrass with a = 0:
 * dbl-2009-l, add-2007-bl and madd-2007-bl (jacobian), dbl-2008-s-1, add-2008-s, madd-2008-s
 * (xyzz). */

#define PT_AFFINE PT(affine)
#define PT_JAC    PT(jac)
#define PT_XYZZ   PT(xyzz)

typedef struct CUZK_MAY_ALIAS {
    CF_TYPE x, y;
} PT_AFFINE;

typedef struct CUZK_MAY_ALIAS {
    CF_TYPE x, y, z;
} PT_JAC;

typedef struct CUZK_MAY_ALIAS {
    CF_TYPE x, y, zz, zzz;
} PT_XYZZ;

/* ---- affine ---- */

/** o = infinity, all bytes zero. */
static CUZK_HD inline void PT(affine_set_infinity)(PT_AFFINE *o)
{
    CF(set_zero)(&o->x);
    CF(set_zero)(&o->y);
}

/** a = infinity? */
static CUZK_HD inline bool PT(affine_is_infinity)(const PT_AFFINE *a)
{
    return CF(is_zero)(&a->x) && CF(is_zero)(&a->y);
}

/** From the packed form x, y at any alignment (curve.h). Not checked. */
static CUZK_HD inline void PT(affine_load)(PT_AFFINE *o, const void *packed)
{
    CF(load)(&o->x, packed);
    CF(load)(&o->y, (const char *)packed + sizeof(CF_TYPE));
}

/** The packed form x, y at any alignment. */
static CUZK_HD inline void PT(affine_store)(void *packed, const PT_AFFINE *a)
{
    CF(store)(packed, &a->x);
    CF(store)((char *)packed + sizeof(CF_TYPE), &a->y);
}

/** o = -a. */
static CUZK_HD inline void PT(affine_neg)(PT_AFFINE *o, const PT_AFFINE *a)
{
    o->x = a->x;
    CF(neg)(&o->y, &a->y);
}

/** All coordinates below p? */
static CUZK_HD inline bool PT(affine_is_reduced)(const PT_AFFINE *a)
{
    return CF(is_reduced)(&a->x) && CF(is_reduced)(&a->y);
}

/** y² = x³ + b, or infinity. The coordinates must be reduced. */
static CUZK_HD inline bool PT(affine_on_curve)(const PT_AFFINE *a)
{
    CUZK_LOCAL_TABLE CF_TYPE b = PT_B;
    CF_TYPE l, r;
    CF(sqr)(&l, &a->y);
    CF(sqr)(&r, &a->x);
    CF(mul)(&r, &r, &a->x);
    CF(add)(&r, &r, &b);
    return CF(eq)(&l, &r) || PT(affine_is_infinity)(a);
}

/** a = b? */
static CUZK_HD inline bool PT(affine_eq)(const PT_AFFINE *a, const PT_AFFINE *b)
{
    return CF(eq)(&a->x, &b->x) && CF(eq)(&a->y, &b->y);
}

/* ---- jacobian ---- */

/** o = infinity. */
static CUZK_HD inline void PT(set_infinity)(PT_JAC *o)
{
    CF(set_one)(&o->x);
    CF(set_one)(&o->y);
    CF(set_zero)(&o->z);
}

/** a = infinity? */
static CUZK_HD inline bool PT(is_infinity)(const PT_JAC *a)
{
    return CF(is_zero)(&a->z);
}

/** The promise of a jac: reduced coordinates, and Y² = X³ + b·Z⁶ or infinity. Costs 3M + 5S; for
 * CUZK_VERIFY builds and tests. */
static CUZK_HD inline bool PT(is_valid)(const PT_JAC *a)
{
    CUZK_LOCAL_TABLE CF_TYPE b = PT_B;
    CF_TYPE l, r, z6;
    if (!CF(is_reduced)(&a->x) || !CF(is_reduced)(&a->y) || !CF(is_reduced)(&a->z)) {
        return false;
    }
    CF(sqr)(&l, &a->y);
    CF(sqr)(&r, &a->x);
    CF(mul)(&r, &r, &a->x);
    CF(sqr)(&z6, &a->z);
    CF(mul)(&z6, &z6, &a->z);
    CF(sqr)(&z6, &z6);
    CF(mul)(&z6, &z6, &b);
    CF(add)(&r, &r, &z6);
    return CF(eq)(&l, &r) || PT(is_infinity)(a);
}

/** o = a in Jacobian coordinates, Z = 1. */
static CUZK_HD inline void PT(from_affine)(PT_JAC *o, const PT_AFFINE *a)
{
    if (PT(affine_is_infinity)(a)) {
        PT(set_infinity)(o);
        return;
    }
    o->x = a->x;
    o->y = a->y;
    CF(set_one)(&o->z);
}

/** o = -a. */
static CUZK_HD inline void PT(neg)(PT_JAC *o, const PT_JAC *a)
{
    o->x = a->x;
    CF(neg)(&o->y, &a->y);
    o->z = a->z;
}

/** The affine point with Z's inverse given. 3M + 1S. */
static CUZK_HD inline void PT(to_affine_with_zinv)(PT_AFFINE *o, const PT_JAC *a,
                                                   const CF_TYPE *zinv)
{
    CF_TYPE zz, zzz;
    CF(sqr)(&zz, zinv);
    CF(mul)(&zzz, &zz, zinv);
    CF(mul)(&o->x, &a->x, &zz);
    CF(mul)(&o->y, &a->y, &zzz);
}

/** o = a in affine coordinates. One inversion. */
static CUZK_HD inline void PT(to_affine)(PT_AFFINE *o, const PT_JAC *a)
{
    CF_TYPE zinv;
    if (PT(is_infinity)(a)) {
        PT(affine_set_infinity)(o);
        return;
    }
    CF(inv)(&zinv, &a->z);
    PT(to_affine_with_zinv)(o, a, &zinv);
}

/** packed_i = affine form of the i-th point, with one inversion in all. The points lie stride bytes
 * apart from `points` on (sizeof(jac) for a plain array). packed: n packed affine points at any
 * alignment, not overlapping the points. About 6M + 1S a point. */
static CUZK_HD inline void PT(batch_to_affine)(void *packed, const void *points, size_t stride,
                                               size_t n)
{
    const size_t size = 2 * sizeof(CF_TYPE);
    char *out = (char *)packed;
    const char *in = (const char *)points;
    CF_TYPE acc, inv, prefix;
    CF(set_one)(&acc);
    for (size_t i = 0; i < n; i++) {
        /* out_i.x holds the product of the nonzero Z before i until the second pass reaches it */
        const PT_JAC *a = (const PT_JAC *)(const void *)(in + i * stride);
        CF(store)(out + i * size, &acc);
        if (!PT(is_infinity)(a)) {
            CF(mul)(&acc, &acc, &a->z);
        }
    }
    CF(inv)(&inv, &acc);
    for (size_t i = n; i-- > 0;) {
        const PT_JAC *a = (const PT_JAC *)(const void *)(in + i * stride);
        PT_AFFINE o;
        if (PT(is_infinity)(a)) {
            PT(affine_set_infinity)(&o);
        } else {
            CF(load)(&prefix, out + i * size);
            CF(mul)(&prefix, &prefix, &inv);
            CF(mul)(&inv, &inv, &a->z);
            PT(to_affine_with_zinv)(&o, a, &prefix);
        }
        PT(affine_store)(out + i * size, &o);
    }
}

/** Same point, whatever the Z? 6M + 2S. */
static CUZK_HD inline bool PT(eq)(const PT_JAC *a, const PT_JAC *b)
{
    CF_TYPE za, zb, l, r;
    if (PT(is_infinity)(a) || PT(is_infinity)(b)) {
        return PT(is_infinity)(a) && PT(is_infinity)(b);
    }
    CF(sqr)(&za, &a->z);
    CF(sqr)(&zb, &b->z);
    CF(mul)(&l, &a->x, &zb);
    CF(mul)(&r, &b->x, &za);
    if (!CF(eq)(&l, &r)) {
        return false;
    }
    CF(mul)(&za, &za, &a->z);
    CF(mul)(&zb, &zb, &b->z);
    CF(mul)(&l, &a->y, &zb);
    CF(mul)(&r, &b->y, &za);
    return CF(eq)(&l, &r);
}

/** The same point? 3M + 1S. */
static CUZK_HD inline bool PT(eq_affine)(const PT_JAC *a, const PT_AFFINE *b)
{
    CF_TYPE zz, t;
    if (PT(is_infinity)(a) || PT(affine_is_infinity)(b)) {
        return PT(is_infinity)(a) && PT(affine_is_infinity)(b);
    }
    CF(sqr)(&zz, &a->z);
    CF(mul)(&t, &b->x, &zz);
    if (!CF(eq)(&t, &a->x)) {
        return false;
    }
    CF(mul)(&zz, &zz, &a->z);
    CF(mul)(&t, &b->y, &zz);
    return CF(eq)(&t, &a->y);
}

/** o = 2p. 2M + 5S. Infinity and points of order two come out with Z = 0. */
static CUZK_HD inline void PT(dbl)(PT_JAC *o, const PT_JAC *p)
{
    CF_TYPE a, b, c, d, e;
    CF(sqr)(&a, &p->x);
    CF(sqr)(&b, &p->y);
    CF(sqr)(&c, &b);
    CF(add)(&d, &p->x, &b);
    CF(sqr)(&d, &d);
    CF(sub)(&d, &d, &a);
    CF(sub)(&d, &d, &c);
    CF(dbl)(&d, &d); /* D = 2((X+B)² - A - C) = 4XY² */
    CF(dbl)(&e, &a);
    CF(add)(&e, &e, &a); /* E = 3X² */
    CF(mul)(&o->z, &p->y, &p->z);
    CF(dbl)(&o->z, &o->z);
    CF(sqr)(&b, &e);
    CF(sub)(&b, &b, &d);
    CF(sub)(&o->x, &b, &d); /* X3 = E² - 2D */
    CF(sub)(&d, &d, &o->x);
    CF(mul)(&d, &d, &e);
    CF(dbl)(&c, &c);
    CF(dbl)(&c, &c);
    CF(dbl)(&c, &c);
    CF(sub)(&o->y, &d, &c); /* Y3 = E(D - X3) - 8C */
}

/** The tail shared by both additions: with U1, S1 of the first point, H = U2 - U1 (not 0),
 * half_r = S2 - S1 and z3 = 2·Z1·Z2·H. */
static CUZK_HD inline void PT(add_finish)(PT_JAC *o, const CF_TYPE *u1, const CF_TYPE *s1,
                                          const CF_TYPE *h, const CF_TYPE *half_r,
                                          const CF_TYPE *z3)
{
    CF_TYPE i, j, r, v;
    CF(dbl)(&i, h);
    CF(sqr)(&i, &i); /* I = (2H)² */
    CF(mul)(&j, h, &i);
    CF(mul)(&v, u1, &i);
    CF(dbl)(&r, half_r);
    CF(mul)(&i, s1, &j);
    CF(sqr)(&o->x, &r);
    CF(sub)(&o->x, &o->x, &j);
    CF(sub)(&o->x, &o->x, &v);
    CF(sub)(&o->x, &o->x, &v); /* X3 = r² - J - 2V */
    CF(sub)(&v, &v, &o->x);
    CF(mul)(&v, &v, &r);
    CF(dbl)(&i, &i);
    CF(sub)(&o->y, &v, &i); /* Y3 = r(V - X3) - 2 S1 J */
    o->z = *z3;
}

/** o = a + b. 12M + 4S. */
static CUZK_HD inline void PT(add)(PT_JAC *o, const PT_JAC *a, const PT_JAC *b)
{
    CF_TYPE z1z1, z2z2, u1, s1, h, r, z3;
    if (PT(is_infinity)(a)) {
        *o = *b;
        return;
    }
    if (PT(is_infinity)(b)) {
        *o = *a;
        return;
    }
    CF(sqr)(&z1z1, &a->z);
    CF(sqr)(&z2z2, &b->z);
    CF(mul)(&u1, &a->x, &z2z2);
    CF(mul)(&h, &b->x, &z1z1);
    CF(sub)(&h, &h, &u1);
    CF(mul)(&s1, &a->y, &b->z);
    CF(mul)(&s1, &s1, &z2z2);
    CF(mul)(&r, &b->y, &a->z);
    CF(mul)(&r, &r, &z1z1);
    CF(sub)(&r, &r, &s1);
    if (CF(is_zero)(&h)) {
        if (CF(is_zero)(&r)) {
            PT(dbl)(o, a);
        } else {
            PT(set_infinity)(o);
        }
        return;
    }
    CF(mul)(&z3, &a->z, &b->z);
    CF(mul)(&z3, &z3, &h);
    CF(dbl)(&z3, &z3);
    PT(add_finish)(o, &u1, &s1, &h, &r, &z3);
}

/** o = a + b. 8M + 3S. */
static CUZK_HD inline void PT(add_affine)(PT_JAC *o, const PT_JAC *a, const PT_AFFINE *b)
{
    CF_TYPE z1z1, u1, s1, h, r, z3;
    if (PT(is_infinity)(a)) {
        PT(from_affine)(o, b);
        return;
    }
    if (PT(affine_is_infinity)(b)) {
        *o = *a;
        return;
    }
    CF(sqr)(&z1z1, &a->z);
    CF(mul)(&h, &b->x, &z1z1);
    CF(sub)(&h, &h, &a->x);
    CF(mul)(&r, &b->y, &a->z);
    CF(mul)(&r, &r, &z1z1);
    CF(sub)(&r, &r, &a->y);
    if (CF(is_zero)(&h)) {
        if (CF(is_zero)(&r)) {
            PT(dbl)(o, a);
        } else {
            PT(set_infinity)(o);
        }
        return;
    }
    CF(mul)(&z3, &a->z, &h);
    CF(dbl)(&z3, &z3);
    u1 = a->x;
    s1 = a->y;
    PT(add_finish)(o, &u1, &s1, &h, &r, &z3);
}

/* ---- xyzz ---- */

/** o = infinity. */
static CUZK_HD inline void PT(xyzz_set_infinity)(PT_XYZZ *o)
{
    CF(set_one)(&o->x);
    CF(set_one)(&o->y);
    CF(set_zero)(&o->zz);
    CF(set_zero)(&o->zzz);
}

/** a = infinity? */
static CUZK_HD inline bool PT(xyzz_is_infinity)(const PT_XYZZ *a)
{
    return CF(is_zero)(&a->zz);
}

/** o = a, ZZ = ZZZ = 1. */
static CUZK_HD inline void PT(xyzz_from_affine)(PT_XYZZ *o, const PT_AFFINE *a)
{
    if (PT(affine_is_infinity)(a)) {
        PT(xyzz_set_infinity)(o);
        return;
    }
    o->x = a->x;
    o->y = a->y;
    CF(set_one)(&o->zz);
    CF(set_one)(&o->zzz);
}

/* Jacobian with Z = ZZ: X·ZZ / ZZ² = x and Y·ZZZ / ZZ³ = y. 2M. */
/** o = a with Z = ZZ: X·ZZ / ZZ² = x and Y·ZZZ / ZZ³ = y. 2M. */
static CUZK_HD inline void PT(xyzz_to_jac)(PT_JAC *o, const PT_XYZZ *a)
{
    CF(mul)(&o->x, &a->x, &a->zz);
    CF(mul)(&o->y, &a->y, &a->zzz);
    o->z = a->zz;
}

/** o = -a. */
static CUZK_HD inline void PT(xyzz_neg)(PT_XYZZ *o, const PT_XYZZ *a)
{
    *o = *a;
    CF(neg)(&o->y, &a->y);
}

/** o = 2a. 6M + 3S. Infinity and points of order two come out with ZZ = 0. */
static CUZK_HD inline void PT(xyzz_dbl)(PT_XYZZ *o, const PT_XYZZ *a)
{
    CF_TYPE u, v, w, s, m;
    CF(dbl)(&u, &a->y);
    CF(sqr)(&v, &u);
    CF(mul)(&w, &u, &v);
    CF(mul)(&s, &a->x, &v);
    CF(sqr)(&u, &a->x);
    CF(dbl)(&m, &u);
    CF(add)(&m, &m, &u); /* M = 3X² */
    CF(mul)(&u, &w, &a->y);
    CF(mul)(&o->zz, &v, &a->zz);
    CF(mul)(&o->zzz, &w, &a->zzz);
    CF(sqr)(&v, &m);
    CF(sub)(&v, &v, &s);
    CF(sub)(&o->x, &v, &s); /* X3 = M² - 2S */
    CF(sub)(&s, &s, &o->x);
    CF(mul)(&s, &s, &m);
    CF(sub)(&o->y, &s, &u); /* Y3 = M(S - X3) - W·Y */
}

/** The tail of both additions, P = U2 - U1 (not 0), R = S2 - S1; the new zz, zzz are P² and P³
 * times the old ones. 4M + 2S. */
static CUZK_HD inline void PT(xyzz_add_finish)(PT_XYZZ *o, const CF_TYPE *u1, const CF_TYPE *s1,
                                               const CF_TYPE *p, const CF_TYPE *r, CF_TYPE *pp,
                                               CF_TYPE *ppp)
{
    CF_TYPE q, t;
    CF(sqr)(pp, p);
    CF(mul)(ppp, p, pp);
    CF(mul)(&q, u1, pp);
    CF(mul)(&t, s1, ppp);
    CF(sqr)(&o->x, r);
    CF(sub)(&o->x, &o->x, ppp);
    CF(sub)(&o->x, &o->x, &q);
    CF(sub)(&o->x, &o->x, &q); /* X3 = R² - P³ - 2Q, Q = U1·P² */
    CF(sub)(&q, &q, &o->x);
    CF(mul)(&q, &q, r);
    CF(sub)(&o->y, &q, &t); /* Y3 = R(Q - X3) - S1·P³ */
}

/** o = a + b, and false; if a = b, finite, nothing is written and the answer is true. 8M + 2S. */
static CUZK_HD inline bool PT(xyzz_add_affine_unless_equal)(PT_XYZZ *o, const PT_XYZZ *a,
                                                            const PT_AFFINE *b)
{
    CF_TYPE u1, s1, p, r, pp, ppp;
    if (PT(xyzz_is_infinity)(a)) {
        PT(xyzz_from_affine)(o, b);
        return false;
    }
    if (PT(affine_is_infinity)(b)) {
        *o = *a;
        return false;
    }
    CF(mul)(&p, &b->x, &a->zz);
    CF(sub)(&p, &p, &a->x);
    CF(mul)(&r, &b->y, &a->zzz);
    CF(sub)(&r, &r, &a->y);
    if (CF(is_zero)(&p)) {
        if (CF(is_zero)(&r)) {
            return true;
        }
        PT(xyzz_set_infinity)(o);
        return false;
    }
    u1 = a->x;
    s1 = a->y;
    PT(xyzz_add_finish)(o, &u1, &s1, &p, &r, &pp, &ppp);
    CF(mul)(&o->zz, &a->zz, &pp);
    CF(mul)(&o->zzz, &a->zzz, &ppp);
    return false;
}

/** o = a + b. 8M + 2S. */
static CUZK_HD inline void PT(xyzz_add_affine)(PT_XYZZ *o, const PT_XYZZ *a, const PT_AFFINE *b)
{
    if (PT(xyzz_add_affine_unless_equal)(o, a, b)) {
        PT(xyzz_dbl)(o, a);
    }
}

/** o = a + b, and false; if a = b, finite, nothing is written and the answer is true. 12M + 2S.
 * Callers that double in a function of their own keep the common path short. */
static CUZK_HD inline bool PT(xyzz_add_unless_equal)(PT_XYZZ *o, const PT_XYZZ *a, const PT_XYZZ *b)
{
    CF_TYPE u1, s1, p, r, pp, ppp, zz, zzz;
    if (PT(xyzz_is_infinity)(a)) {
        *o = *b;
        return false;
    }
    if (PT(xyzz_is_infinity)(b)) {
        *o = *a;
        return false;
    }
    CF(mul)(&u1, &a->x, &b->zz);
    CF(mul)(&p, &b->x, &a->zz);
    CF(sub)(&p, &p, &u1);
    CF(mul)(&s1, &a->y, &b->zzz);
    CF(mul)(&r, &b->y, &a->zzz);
    CF(sub)(&r, &r, &s1);
    if (CF(is_zero)(&p)) {
        if (CF(is_zero)(&r)) {
            return true;
        }
        PT(xyzz_set_infinity)(o);
        return false;
    }
    CF(mul)(&zz, &a->zz, &b->zz);
    CF(mul)(&zzz, &a->zzz, &b->zzz);
    PT(xyzz_add_finish)(o, &u1, &s1, &p, &r, &pp, &ppp);
    CF(mul)(&o->zz, &zz, &pp);
    CF(mul)(&o->zzz, &zzz, &ppp);
    return false;
}

/** o = a + b. 12M + 2S. */
static CUZK_HD inline void PT(xyzz_add)(PT_XYZZ *o, const PT_XYZZ *a, const PT_XYZZ *b)
{
    if (PT(xyzz_add_unless_equal)(o, a, b)) {
        PT(xyzz_dbl)(o, a);
    }
}

#undef PT_AFFINE
#undef PT_JAC
#undef PT_XYZZ
#undef PT
#undef CF
#undef CF_TYPE
#undef PT_B
