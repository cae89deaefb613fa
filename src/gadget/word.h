/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Words of 32 Booleans in both modes (spec/gadgets.md section 2). Which bits are constant and which
 * are negations is known in both, since it decides what variables an operation adds; in witness
 * mode an operation is a few instructions on machine words, and its variables are written by the
 * word. Words that become constants or rotations of others keep no trace of it. */
#ifndef CUZK_GADGET_WORD_H
#define CUZK_GADGET_WORD_H

#include "gadget/boolean.h"

/* Bit i is the Boolean of weight 2^i. */
typedef struct {
    uint32_t value;   /* constant bits; in witness mode the others too, negation applied */
    uint32_t fixed;   /* which bits are constants */
    uint32_t negated; /* which bits are the negation of their variable; not for constants */
    cuzk_var var[32]; /* shape mode: variables of the bits that are not constants; else not set */
} cuzk_word;

/** A constant. */
void cuzk_word_const(cuzk_word *out, uint32_t value);

/** The word's bit i as a Boolean (shape mode). */
static inline cuzk_boolean cuzk_word_bit(const cuzk_word *w, unsigned i)
{
    return (cuzk_boolean){.var = w->var[i],
                          .fixed = (w->fixed >> i & 1) != 0,
                          .value = (w->value >> i & 1) != 0,
                          .negated = (w->negated >> i & 1) != 0};
}

/** Rotation and shift to lower weights; no variables. out is not x. */
void cuzk_word_rotr(const cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, unsigned k);
void cuzk_word_shr(const cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, unsigned k);

/** The Boolean gadgets bit by bit, lowest first. out may be one of the operands. */
void cuzk_word_xor(cuzk_cs *cs, cuzk_word *out, const cuzk_word *x, const cuzk_word *y);
void cuzk_word_ch(cuzk_cs *cs, cuzk_word *out, const cuzk_word *a, const cuzk_word *b,
                  const cuzk_word *c);
void cuzk_word_maj(cuzk_cs *cs, cuzk_word *out, const cuzk_word *a, const cuzk_word *b,
                   const cuzk_word *c);

enum {
    CUZK_SUM_WORDS = 10, /* most words of one sum */
    CUZK_MULTI_EQ_BITS = 254,
    CUZK_MULTI_EQ_SUMS = 7 /* sums of at least 33 bits in one constraint */
};

/* Equalities of sums that are packed into one constraint side by side (MultiEq). In witness mode it
 * does nothing. */
typedef struct {
    unsigned bits, n_lhs, n_rhs;
    struct cuzk_multi_eq_term {
        cuzk_var var;
        uint8_t power; /* the coefficient is ± 2^power */
        bool minus;
    } lhs[CUZK_MULTI_EQ_SUMS * CUZK_SUM_WORDS * 64], rhs[CUZK_MULTI_EQ_BITS];
} cuzk_multi_eq;

void cuzk_multi_eq_init(cuzk_multi_eq *eq);

/** Enforce what has been collected and start anew. */
void cuzk_multi_eq_flush(cuzk_cs *cs, cuzk_multi_eq *eq);

/** Sum of 2 ≤ n ≤ 10 words modulo 2^32. The bits of the whole sum become variables, unless all
 *  words are constants. */
void cuzk_word_sum(cuzk_cs *cs, cuzk_multi_eq *eq, cuzk_word *out, const cuzk_word *const *words,
                   unsigned n);

#endif
