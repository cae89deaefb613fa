/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gadget/word.h"

#include <string.h>

void cuzk_word_const(cuzk_word *out, uint32_t value)
{
    out->value = value;
    out->fixed = UINT32_MAX;
    out->negated = 0;
}

static uint32_t rotr(uint32_t x, unsigned k)
{
    return x >> k | x << (32 - k);
}

void cuzk_word_rotr(const cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, unsigned k)
{
    out->value = rotr(x->value, k);
    out->fixed = rotr(x->fixed, k);
    out->negated = rotr(x->negated, k);
    if (cuzk_cs_is_shape(cs)) {
        for (unsigned i = 0; i < 32; i++) {
            out->var[i] = x->var[(i + k) % 32];
        }
    }
}

void cuzk_word_shr(const cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, unsigned k)
{
    out->value = x->value >> k;
    out->fixed = x->fixed >> k | ~(UINT32_MAX >> k);
    out->negated = x->negated >> k;
    if (cuzk_cs_is_shape(cs)) {
        memcpy(out->var, x->var + k, (32 - k) * sizeof out->var[0]);
    }
}

/* ---- witness mode: which variables an operation adds ------------------------------------------
 */

/* The next variables are the bits of x whose places are set in mask: few runs of them. */
static void put_masked(cuzk_cs *cs, uint64_t x, uint64_t mask)
{
    if ((mask & (mask + 1)) == 0 && mask != 0) { /* one run, from bit 0: the usual case */
        cuzk_cs_put_bits(cs, x & mask, 64 - (unsigned)__builtin_clzll(mask));
        return;
    }
    uint64_t bits = 0;
    unsigned n = 0;
    while (mask != 0) {
        unsigned begin = (unsigned)__builtin_ctzll(mask);
        uint64_t run = mask >> begin;
        unsigned length = run == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~run);
        uint64_t ones = UINT64_MAX >> (64 - length);
        bits |= (x >> begin & ones) << n;
        n += length;
        mask &= ~(ones << begin);
    }
    if (n > 0) {
        cuzk_cs_put_bits(cs, bits, n);
    }
}

/* What a gadget makes of each bit. Bits that are neither fixed nor added are an operand or its
 * negation. */
struct outcome {
    uint32_t fixed, negated;
    uint32_t added; /* a variable is added for the bit */
};

static cuzk_word inverted(const cuzk_word *x)
{
    cuzk_word out;
    out.value = ~x->value;
    out.fixed = x->fixed;
    out.negated = ~x->negated & ~x->fixed;
    return out;
}

static uint32_t const0(const cuzk_word *x)
{
    return x->fixed & ~x->value;
}

static uint32_t const1(const cuzk_word *x)
{
    return x->fixed & x->value;
}

/* At the places of `at`: AND, or its negation. */
static void and_at(struct outcome *o, uint32_t at, const cuzk_word *x, const cuzk_word *y,
                   bool inverse)
{
    uint32_t y_stays = at & const1(x), x_stays = at & ~const1(x) & const1(y);
    uint32_t fixed = at & (const0(x) | const0(y) | (x->fixed & y->fixed));
    uint32_t negated = ((y_stays & y->negated) | (x_stays & x->negated)) & ~fixed;
    o->fixed |= fixed;
    o->added |= at & ~(x->fixed | y->fixed);
    o->negated |= inverse ? at & ~fixed & ~negated : negated;
}

/* Take the places of `mask` out of *todo. */
static uint32_t take(uint32_t *todo, uint32_t mask)
{
    uint32_t taken = *todo & mask;
    *todo &= ~mask;
    return taken;
}

static struct outcome ch_outcome(const cuzk_word *a, const cuzk_word *b, const cuzk_word *c)
{
    struct outcome o = {0};
    cuzk_word na = inverted(a), nb = inverted(b), nc = inverted(c);
    uint32_t todo = UINT32_MAX, at;
    o.fixed = take(&todo, a->fixed & b->fixed & c->fixed);
    at = take(&todo, const0(a));
    o.fixed |= at & c->fixed;
    o.negated |= at & c->negated;
    and_at(&o, take(&todo, const0(b)), &na, c, false);
    and_at(&o, take(&todo, const0(c)), a, b, false);
    and_at(&o, take(&todo, const1(c)), a, &nb, true);
    and_at(&o, take(&todo, const1(b)), &na, &nc, true);
    o.added |= todo;
    return o;
}

static struct outcome maj_outcome(const cuzk_word *a, const cuzk_word *b, const cuzk_word *c)
{
    struct outcome o = {0};
    cuzk_word na = inverted(a), nb = inverted(b), nc = inverted(c);
    uint32_t todo = UINT32_MAX;
    o.fixed = take(&todo, a->fixed & b->fixed & c->fixed);
    and_at(&o, take(&todo, const0(a)), b, c, false);
    and_at(&o, take(&todo, const0(b)), a, c, false);
    and_at(&o, take(&todo, const0(c)), a, b, false);
    and_at(&o, take(&todo, const1(c)), &na, &nb, true);
    and_at(&o, take(&todo, const1(b)), &na, &nc, true);
    and_at(&o, take(&todo, const1(a)), &nb, &nc, true);
    o.added |= todo;
    return o;
}

static void set(cuzk_word *out, uint32_t value, uint32_t fixed, uint32_t negated)
{
    out->value = value;
    out->fixed = fixed;
    out->negated = negated;
}

/* Bit i of x at place 2i. */
static uint64_t spread(uint32_t x)
{
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}

/* ---- the gadgets ------------------------------------------------------------------------------
 */

/* Bits of a result in shape mode, collected apart from the operands that it may replace. */
struct result {
    uint32_t value, fixed, negated;
};

static void put_bit(struct result *r, cuzk_word *out, unsigned i, cuzk_boolean x)
{
    uint32_t at = (uint32_t)1 << i;
    r->value |= x.fixed && x.value ? at : 0;
    r->fixed |= x.fixed ? at : 0;
    r->negated |= x.negated && !x.fixed ? at : 0;
    out->var[i] = x.fixed ? 0 : x.var;
}

void cuzk_word_xor(cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, const cuzk_word *y)
{
    if (cuzk_cs_is_shape(cs)) {
        struct result r = {0, 0, 0};
        for (unsigned i = 0; i < 32; i++) {
            put_bit(&r, out, i, cuzk_boolean_xor(cs, cuzk_word_bit(x, i), cuzk_word_bit(y, i)));
        }
        set(out, r.value, r.fixed, r.negated);
        return;
    }
    uint32_t value = x->value ^ y->value, fixed = x->fixed & y->fixed;
    uint32_t flip = (x->fixed & x->value) | (y->fixed & y->value);
    uint32_t negated = (x->negated ^ y->negated ^ flip) & ~fixed;
    put_masked(cs, value ^ negated, ~(x->fixed | y->fixed));
    set(out, value, fixed, negated);
}

void cuzk_word_ch(cuzk_cs *cs, cuzk_word *out, const cuzk_word *a, const cuzk_word *b,
                  const cuzk_word *c)
{
    if (cuzk_cs_is_shape(cs)) {
        struct result r = {0, 0, 0};
        for (unsigned i = 0; i < 32; i++) {
            put_bit(
                &r, out, i,
                cuzk_boolean_ch(cs, cuzk_word_bit(a, i), cuzk_word_bit(b, i), cuzk_word_bit(c, i)));
        }
        set(out, r.value, r.fixed, r.negated);
        return;
    }
    uint32_t value = (a->value & b->value) ^ (~a->value & c->value);
    if ((a->fixed | b->fixed | c->fixed) == 0) {
        cuzk_cs_put_bits(cs, value, 32);
        set(out, value, 0, 0);
    } else {
        struct outcome o = ch_outcome(a, b, c);
        put_masked(cs, value ^ o.negated, o.added);
        set(out, value, o.fixed, o.negated);
    }
}

void cuzk_word_maj(cuzk_cs *cs, cuzk_word *out, const cuzk_word *a, const cuzk_word *b,
                   const cuzk_word *c)
{
    if (cuzk_cs_is_shape(cs)) {
        struct result r = {0, 0, 0};
        for (unsigned i = 0; i < 32; i++) {
            put_bit(&r, out, i,
                    cuzk_boolean_maj(cs, cuzk_word_bit(a, i), cuzk_word_bit(b, i),
                                     cuzk_word_bit(c, i)));
        }
        set(out, r.value, r.fixed, r.negated);
        return;
    }
    uint32_t bc = b->value & c->value, value = bc ^ (a->value & (b->value ^ c->value));
    struct outcome o = {0, 0, UINT32_MAX};
    uint32_t no_const = ~(a->fixed | b->fixed | c->fixed);
    if (no_const != UINT32_MAX) {
        o = maj_outcome(a, b, c);
    }
    /* where there is no constant the product of b and c is a variable too, behind each bit */
    uint64_t bits = spread(value ^ o.negated) | spread(bc) << 1;
    uint64_t mask = spread(o.added) | spread(no_const) << 1;
    put_masked(cs, bits, mask);
    set(out, value, o.fixed, o.negated);
}

/* ---- sums -------------------------------------------------------------------------------------
 */

void cuzk_multi_eq_init(cuzk_multi_eq *eq)
{
    eq->bits = eq->n_lhs = eq->n_rhs = 0;
}

static void put_terms(cuzk_cs *cs, cuzk_matrix side, const struct cuzk_multi_eq_term *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const cuzk_fr *power = t[i].minus ? cs->coefs->minus_pow2 : cs->coefs->pow2;
        cuzk_cs_term(cs, side, t[i].var, &power[t[i].power]);
    }
}

void cuzk_multi_eq_flush(cuzk_cs *cs, cuzk_multi_eq *eq)
{
    if (eq->bits != 0) {
        put_terms(cs, CUZK_MATRIX_A, eq->lhs, eq->n_lhs);
        cuzk_cs_plus(cs, CUZK_MATRIX_B, CUZK_VAR_ONE);
        put_terms(cs, CUZK_MATRIX_C, eq->rhs, eq->n_rhs);
        cuzk_cs_end_constraint(cs);
    }
    cuzk_multi_eq_init(eq);
}

static void collect(cuzk_multi_eq *eq, const cuzk_word *w)
{
    for (unsigned i = 0; i < 32; i++) {
        cuzk_boolean x = cuzk_word_bit(w, i);
        uint8_t power = (uint8_t)(eq->bits + i);
        if (x.fixed ? x.value : x.negated) {
            eq->lhs[eq->n_lhs++] = (struct cuzk_multi_eq_term){CUZK_VAR_ONE, power, false};
        }
        if (!x.fixed) {
            eq->lhs[eq->n_lhs++] = (struct cuzk_multi_eq_term){x.var, power, x.negated};
        }
    }
}

/* Equality of the words' sum and the number of the n_bits variables that start at `first`. */
static void collect_sum(cuzk_cs *cs, cuzk_multi_eq *eq, const cuzk_word *const *words, unsigned n,
                        cuzk_var first, unsigned n_bits)
{
    if (eq->bits + n_bits >= CUZK_MULTI_EQ_BITS) {
        cuzk_multi_eq_flush(cs, eq);
    }
    for (unsigned k = 0; k < n; k++) {
        collect(eq, words[k]);
    }
    for (unsigned i = 0; i < n_bits; i++) {
        eq->rhs[eq->n_rhs++] =
            (struct cuzk_multi_eq_term){first + i, (uint8_t)(eq->bits + i), false};
    }
    eq->bits += n_bits;
}

void cuzk_word_sum(cuzk_cs *cs, cuzk_multi_eq *eq, cuzk_word *out, const cuzk_word *const *words,
                   unsigned n)
{
    uint64_t sum = 0;
    uint32_t fixed = UINT32_MAX;
    for (unsigned k = 0; k < n; k++) {
        sum += words[k]->value;
        fixed &= words[k]->fixed;
    }
    if (fixed == UINT32_MAX) {
        cuzk_word_const(out, (uint32_t)sum);
        return;
    }
    unsigned n_bits = 64 - (unsigned)__builtin_clzll(n * (uint64_t)UINT32_MAX);
    if (!cuzk_cs_is_shape(cs)) {
        cuzk_cs_put_bits(cs, sum, n_bits);
        set(out, (uint32_t)sum, 0, 0);
        return;
    }
    cuzk_var first = cuzk_alloc_bits(cs, 0, n_bits, NULL);
    collect_sum(cs, eq, words, n, first, n_bits);
    set(out, 0, 0, 0);
    for (unsigned i = 0; i < 32; i++) {
        out->var[i] = first + i;
    }
}
