/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gadget/boolean.h"

#define A CUZK_MATRIX_A
#define B CUZK_MATRIX_B
#define C CUZK_MATRIX_C

cuzk_var cuzk_alloc_bits(cuzk_cs *cs, uint64_t value, unsigned n, cuzk_bit *out)
{
    cuzk_var first = 0;
    if (!cuzk_cs_is_shape(cs)) {
        cuzk_cs_put_bits(cs, value, n);
    }
    for (unsigned i = 0; cuzk_cs_is_shape(cs) && i < n; i++) {
        cuzk_var b = cuzk_cs_alloc(cs, CUZK_VAR_BIT);
        first = i == 0 ? b : first;
        cuzk_cs_plus(cs, A, CUZK_VAR_ONE);
        cuzk_cs_minus(cs, A, b);
        cuzk_cs_plus(cs, B, b);
        cuzk_cs_end_constraint(cs);
    }
    for (unsigned i = 0; out != NULL && i < n; i++) {
        out[i] = (cuzk_bit){first + i, (value >> i & 1) != 0};
    }
    return first;
}

void cuzk_boolean_term(cuzk_cs *cs, cuzk_matrix side, cuzk_boolean x, const cuzk_fr *coef,
                       const cuzk_fr *minus_coef)
{
    if (x.fixed ? x.value : x.negated) {
        cuzk_cs_term(cs, side, CUZK_VAR_ONE, coef);
    }
    if (!x.fixed) {
        cuzk_cs_term(cs, side, x.var, x.negated ? minus_coef : coef);
    }
}

/* lc(x) and -lc(x) */
static void plus(cuzk_cs *cs, cuzk_matrix side, cuzk_boolean x)
{
    cuzk_boolean_term(cs, side, x, &cs->coefs->one, &cs->coefs->minus_one);
}

static void minus(cuzk_cs *cs, cuzk_matrix side, cuzk_boolean x)
{
    cuzk_boolean_term(cs, side, x, &cs->coefs->minus_one, &cs->coefs->one);
}

static cuzk_boolean constant(bool value)
{
    return (cuzk_boolean){.fixed = true, .value = value};
}

static cuzk_boolean new_bit(cuzk_cs *cs)
{
    return (cuzk_boolean){.var = cuzk_cs_alloc(cs, CUZK_VAR_BIT)};
}

static bool is_constant(cuzk_boolean x, bool value)
{
    return x.fixed && x.value == value;
}

cuzk_boolean cuzk_boolean_not(cuzk_boolean x)
{
    if (x.fixed) {
        x.value = !x.value;
    } else {
        x.negated = !x.negated;
    }
    return x;
}

cuzk_boolean cuzk_boolean_xor(cuzk_cs *cs, cuzk_boolean x, cuzk_boolean y)
{
    if (x.fixed) {
        return x.value ? cuzk_boolean_not(y) : y;
    }
    if (y.fixed) {
        return y.value ? cuzk_boolean_not(x) : x;
    }
    bool mixed = x.negated != y.negated;
    /* of a mixed pair the one that is not negated comes first */
    cuzk_var p = mixed && x.negated ? y.var : x.var;
    cuzk_var q = mixed && x.negated ? x.var : y.var;
    cuzk_boolean c = new_bit(cs);
    cuzk_cs_term(cs, A, p, &cs->coefs->pow2[1]);
    cuzk_cs_plus(cs, B, q);
    cuzk_cs_plus(cs, C, p);
    cuzk_cs_plus(cs, C, q);
    cuzk_cs_minus(cs, C, c.var);
    cuzk_cs_end_constraint(cs);
    c.negated = mixed;
    return c;
}

cuzk_boolean cuzk_boolean_and(cuzk_cs *cs, cuzk_boolean x, cuzk_boolean y)
{
    if (is_constant(x, false) || is_constant(y, false)) {
        return constant(false);
    }
    if (x.fixed || y.fixed) {
        return x.fixed ? y : x;
    }
    if (x.negated && !y.negated) {
        cuzk_boolean swap = x; /* the operand that is not negated is the first factor */
        x = y;
        y = swap;
    }
    cuzk_boolean c = new_bit(cs);
    plus(cs, A, x);
    plus(cs, B, y);
    cuzk_cs_plus(cs, C, c.var);
    cuzk_cs_end_constraint(cs);
    return c;
}

static cuzk_boolean nand(cuzk_cs *cs, cuzk_boolean x, cuzk_boolean y)
{
    return cuzk_boolean_not(cuzk_boolean_and(cs, x, y));
}

cuzk_boolean cuzk_boolean_ch(cuzk_cs *cs, cuzk_boolean a, cuzk_boolean b, cuzk_boolean c)
{
    cuzk_boolean not_a = cuzk_boolean_not(a);
    if (a.fixed && b.fixed && c.fixed) {
        return a.value ? b : c;
    }
    if (is_constant(a, false)) {
        return c;
    }
    if (b.fixed && !b.value) {
        return cuzk_boolean_and(cs, not_a, c);
    }
    if (c.fixed) {
        return c.value ? nand(cs, a, cuzk_boolean_not(b)) : cuzk_boolean_and(cs, a, b);
    }
    if (b.fixed) {
        return nand(cs, not_a, cuzk_boolean_not(c));
    }
    /* also for a = 1 */
    cuzk_boolean ch = new_bit(cs);
    plus(cs, A, b);
    minus(cs, A, c);
    plus(cs, B, a);
    cuzk_cs_plus(cs, C, ch.var);
    minus(cs, C, c);
    cuzk_cs_end_constraint(cs);
    return ch;
}

cuzk_boolean cuzk_boolean_maj(cuzk_cs *cs, cuzk_boolean a, cuzk_boolean b, cuzk_boolean c)
{
    if (a.fixed && b.fixed && c.fixed) {
        return constant(a.value + b.value + c.value >= 2);
    }
    if (is_constant(a, false)) {
        return cuzk_boolean_and(cs, b, c);
    }
    if (is_constant(b, false)) {
        return cuzk_boolean_and(cs, a, c);
    }
    if (is_constant(c, false)) {
        return cuzk_boolean_and(cs, a, b);
    }
    cuzk_boolean not_a = cuzk_boolean_not(a), not_b = cuzk_boolean_not(b);
    if (c.fixed) {
        return nand(cs, not_a, not_b);
    }
    if (b.fixed) {
        return nand(cs, not_a, cuzk_boolean_not(c));
    }
    if (a.fixed) {
        return nand(cs, not_b, cuzk_boolean_not(c));
    }
    cuzk_boolean maj = new_bit(cs);
    cuzk_boolean bc = cuzk_boolean_and(cs, b, c);
    cuzk_cs_term(cs, A, bc.var, &cs->coefs->pow2[1]);
    minus(cs, A, b);
    minus(cs, A, c);
    plus(cs, B, a);
    cuzk_cs_plus(cs, C, bc.var);
    cuzk_cs_minus(cs, C, maj.var);
    cuzk_cs_end_constraint(cs);
    return maj;
}
