/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bit variables, and the Boolean gadgets of one bit in shape mode (spec/gadgets.md section 1). In
 * witness mode bits are handled by words: gadget/word.h. */
#ifndef CUZK_GADGET_BOOLEAN_H
#define CUZK_GADGET_BOOLEAN_H

#include "gadget/cs.h"

/* A bit variable. */
typedef struct {
    cuzk_var var; /* shape mode */
    bool value;   /* witness mode */
} cuzk_bit;

/** Add n ≤ 64 bit variables, lowest bit of `value` first, each with (1 - b)·b = 0.
 *  out: n entries; NULL when they are not needed. Returns the handle of the first (shape mode); the
 *  others follow it. */
cuzk_var cuzk_alloc_bits(cuzk_cs *cs, uint64_t value, unsigned n, cuzk_bit *out);

/* A Boolean in shape mode: a constant, a bit variable, or the negation of one. */
typedef struct {
    cuzk_var var;
    bool fixed;   /* constant */
    bool value;   /* of a constant */
    bool negated; /* not for constants */
} cuzk_boolean;

/* Shape mode: results of the gadgets below; they add the variables and constraints that the
 * reference adds for these operands, or none. */
cuzk_boolean cuzk_boolean_not(cuzk_boolean x);
cuzk_boolean cuzk_boolean_xor(cuzk_cs *cs, cuzk_boolean x, cuzk_boolean y);
cuzk_boolean cuzk_boolean_and(cuzk_cs *cs, cuzk_boolean x, cuzk_boolean y);
/** (a and b) xor (not a and c) */
cuzk_boolean cuzk_boolean_ch(cuzk_cs *cs, cuzk_boolean a, cuzk_boolean b, cuzk_boolean c);
/** majority of three */
cuzk_boolean cuzk_boolean_maj(cuzk_cs *cs, cuzk_boolean a, cuzk_boolean b, cuzk_boolean c);

/** Shape mode: add coef·x to a side of the constraint being built. minus_coef: its negative. */
void cuzk_boolean_term(cuzk_cs *cs, cuzk_matrix side, cuzk_boolean x, const cuzk_fr *coef,
                       const cuzk_fr *minus_coef);

#endif
