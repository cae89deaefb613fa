/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The constraint system that gadgets and circuits are written against. One description of a circuit
 * runs in two modes:
 *
 *  - shape mode: variables have handles, constraints are recorded in a shape builder; there are no
 *    values;
 *  - witness mode: values only, written in the order of the variables straight into a typed
 *    witness; there are no handles and no constraints, so the constraint calls must not be made.
 *
 * A gadget that has nothing cleverer to do asks cuzk_cs_is_shape. Both modes must add the same
 * variables, of the same types, in the same order.
 *
 * In witness mode a cuzk_cs is a cursor. Several cursors can write to one witness at once, from
 * several threads, each its own range of variables. Gadgets that gain from doing the same thing to
 * several ranges at once (Poseidon on eight lanes) take an array of cursors, "lanes"; in shape mode
 * all n lanes are the one system lanes[0], which runs them one after the other. */
#ifndef CUZK_GADGET_CS_H
#define CUZK_GADGET_CS_H

#include "r1cs/shape.h"
#include "r1cs/witness.h"

enum { CUZK_CS_POWERS = 255, CUZK_CS_STRETCHES = 5 };

/* What shape mode keeps: coefficients that gadgets use all the time, in Montgomery form, and where
 * the rows stand that one gadget (gadget/poseidon_circuit.h) repeats, per kind of it; n_rows is 0
 * before the first use. */
typedef struct {
    cuzk_fr one, minus_one;
    cuzk_fr pow2[CUZK_CS_POWERS];       /* 2^i */
    cuzk_fr minus_pow2[CUZK_CS_POWERS]; /* -2^i */
    cuzk_shape_stretch poseidon[CUZK_CS_STRETCHES];
} cuzk_cs_coefs;

typedef struct {
    const cuzk_curve *curve;

    /* shape mode; NULL in witness mode */
    cuzk_shape_builder *builder;
    cuzk_cs_coefs *coefs;

    /* witness mode: where the next values go */
    cuzk_witness *witness;
    uint64_t word;        /* bits of variables 64·(var/64) … var-1 that this cursor wrote */
    uint32_t var;         /* next aux variable, as a variable number */
    uint32_t first_word;  /* bitmap word in which the cursor began: shared with its neighbour */
    uint8_t (*field)[32]; /* value of the next aux variable that is a field variable */
    uint32_t n_left;      /* field values from there to the end of the witness */
    uint32_t input;       /* next public input, as a variable number */
} cuzk_cs;

/* A variable that holds a field element. */
typedef struct {
    cuzk_var var;                  /* shape mode */
    _Alignas(8) uint8_t value[32]; /* witness mode: canonical, little-endian */
} cuzk_num;

static inline bool cuzk_cs_is_shape(const cuzk_cs *cs)
{
    return cs->builder != NULL;
}

/* ---- shape mode ------------------------------------------------------------------------------ */

/** Start a shape. Give the system to cuzk_cs_shape_finish in any case. Errors: E_MEMORY. */
cuzk_status cuzk_cs_shape_init(cuzk_cs *cs, const cuzk_curve *curve,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** End the shape and free what the system holds. out: NULL only frees; else as
 *  cuzk_shape_builder_finish. */
cuzk_status cuzk_cs_shape_finish(cuzk_cs *cs, cuzk_shape **out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Shape mode: add the next aux variable and return its handle. Handles of variables that are added
 *  one after the other are consecutive numbers. */
static inline cuzk_var cuzk_cs_alloc(cuzk_cs *cs, cuzk_var_type type)
{
    return cuzk_shape_add_aux(cs->builder, type);
}

/** Shape mode: add coef·var to a side of the constraint being built (cuzk_shape_add_term: equal
 *  variables are summed, zero coefficients dropped). */
static inline void cuzk_cs_term(cuzk_cs *cs, cuzk_matrix side, cuzk_var var, const cuzk_fr *coef)
{
    cuzk_shape_add_term(cs->builder, side, var, coef);
}

/** Shape mode: add 1·var, or -1·var, to a side. */
static inline void cuzk_cs_plus(cuzk_cs *cs, cuzk_matrix side, cuzk_var var)
{
    cuzk_shape_add_term(cs->builder, side, var, &cs->coefs->one);
}

static inline void cuzk_cs_minus(cuzk_cs *cs, cuzk_matrix side, cuzk_var var)
{
    cuzk_shape_add_term(cs->builder, side, var, &cs->coefs->minus_one);
}

/** Shape mode: end the constraint being built. */
static inline void cuzk_cs_end_constraint(cuzk_cs *cs)
{
    cuzk_shape_end_constraint(cs->builder);
}

/* ---- witness mode ---------------------------------------------------------------------------- */

/** Start writing at aux variable `aux` and public input `input` (the first is 1) of a witness whose
 *  is_field, rank and field are ready and whose bits are zero. Give the cursor to
 *  cuzk_cs_witness_end. The witness is borrowed until then. */
void cuzk_cs_witness_begin(cuzk_cs *cs, cuzk_witness *witness, uint32_t aux, uint32_t input);

/** Write out what the cursor still holds. It may go on writing afterwards. */
void cuzk_cs_witness_end(cuzk_cs *cs);

/** A cursor of its own for the next n_aux aux variables and n_inputs public inputs; cs goes on
 * behind them. Give it to cuzk_cs_witness_end. In shape mode the result is the same system as cs.
 */
cuzk_cs cuzk_cs_split(cuzk_cs *cs, uint32_t n_aux, uint32_t n_inputs);

/** Write a full bitmap word; not inline: rarely called. */
void cuzk_cs_flush_word(cuzk_cs *cs);

enum { CUZK_CS_FIELDS = 640 }; /* most field variables that are taken at once */

/** Where values go that the witness has no room for, which happens when it is not of the circuit
 * that is described: they are lost, and the cursor ends where no part does. */
uint8_t (*cuzk_cs_no_room(void))[32];

/** Witness mode: the next n ≤ 64 variables are bits, lowest first. bits: nothing above bit n-1. */
static inline void cuzk_cs_put_bits(cuzk_cs *cs, uint64_t bits, unsigned n)
{
    unsigned at = cs->var % 64;
    cs->word |= bits << at;
    if (at + n >= 64) {
        cuzk_cs_flush_word(cs);
        cs->word = at == 0 ? 0 : bits >> (64 - at);
    }
    cs->var += n;
}

/** Witness mode: the next n ≤ CUZK_CS_FIELDS variables are field variables; returns where their
 * values are to be written, 32 canonical bytes each. The order of the writes does not matter. */
static inline uint8_t (*cuzk_cs_take_fields(cuzk_cs *cs, uint32_t n))[32]
{
    uint8_t(*out)[32] = cs->field;
    if (cs->var % 64 + n >= 64) {
        cuzk_cs_flush_word(cs);
        cs->word = 0;
    }
    cs->var += n;
    if (n > cs->n_left) {
        return cuzk_cs_no_room();
    }
    cs->n_left -= n;
    cs->field += n;
    return out;
}

/* ---- both modes ------------------------------------------------------------------------------ */

/** Add a field variable without a constraint. value: canonical; read in witness mode only. */
cuzk_num cuzk_cs_alloc_num(cuzk_cs *cs, const uint8_t value[32]);

/** Add a public input without a constraint; returns its handle (shape mode). value: canonical; read
 *  in witness mode only. */
cuzk_var cuzk_cs_alloc_input(cuzk_cs *cs, const uint8_t value[32]);

/** Add a public input equal to x: enforce input·1 = x. */
void cuzk_cs_inputize(cuzk_cs *cs, const cuzk_num *x);

/** Enforce x·1 = y. */
void cuzk_cs_equal(cuzk_cs *cs, const cuzk_num *x, const cuzk_num *y);

#endif
