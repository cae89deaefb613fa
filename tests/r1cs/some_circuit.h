/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A circuit with something of everything, in which memory may run out at any place: public values,
 * repeated stretches, a part with copies that choose variables, bits that rows tell, coefficients
 * of every size. For tests that look at what surrounds a circuit rather than at its rows. */
#ifndef CUZK_TESTS_SOME_CIRCUIT_H
#define CUZK_TESTS_SOME_CIRCUIT_H

#include "r1cs/shape.h"

/* Copies of the part; its variables of its own; what is in front of it. */
enum { SOME_COPIES = 11, SOME_OWN = 6, SOME_HEAD = 8 };

static inline void some_term(cuzk_shape_builder *b, const cuzk_curve *curve, cuzk_matrix m,
                             cuzk_var v, int64_t coef)
{
    cuzk_fr c;
    curve->fr_from_u64(&c, coef < 0 ? (uint64_t)-coef : (uint64_t)coef);
    if (coef < 0) {
        curve->fr_neg(&c, &c);
    }
    cuzk_shape_add_term(b, m, v, &c);
}

/** Errors: those of the builder. */
static inline cuzk_status some_circuit(cuzk_shape **out, const cuzk_curve *curve, cuzk_error *err)
{
    cuzk_shape_builder *b = NULL;
    CUZK_TRY(cuzk_shape_builder_create(&b, curve, err));
    cuzk_var x = cuzk_shape_add_input(b, CUZK_VAR_FIELD), head[SOME_HEAD];
    for (int i = 0; i < SOME_HEAD; i++) {
        head[i] = cuzk_shape_add_aux(b, i % 2 ? CUZK_VAR_FIELD : CUZK_VAR_UNKNOWN);
    }
    /* (head_0 - 1)·head_0 = 0: a bit; 3x·head_1 = 5·head_2 + 2^40 */
    some_term(b, curve, CUZK_MATRIX_A, head[0], 1);
    some_term(b, curve, CUZK_MATRIX_A, CUZK_VAR_ONE, -1);
    some_term(b, curve, CUZK_MATRIX_B, head[0], 1);
    cuzk_shape_end_constraint(b);
    some_term(b, curve, CUZK_MATRIX_A, x, 3);
    some_term(b, curve, CUZK_MATRIX_B, head[1], 1);
    some_term(b, curve, CUZK_MATRIX_C, head[2], 5);
    some_term(b, curve, CUZK_MATRIX_C, CUZK_VAR_ONE, (int64_t)1 << 40);
    cuzk_shape_end_constraint(b);
    /* a stretch of one row with a variable of its own, three times more */
    cuzk_shape_stretch s = {.first_row = cuzk_shape_n_stored_rows(b), .n_rows = 1, .n_own = 1};
    s.first_own = cuzk_shape_add_aux(b, CUZK_VAR_FIELD);
    some_term(b, curve, CUZK_MATRIX_A, s.first_own, -7);
    some_term(b, curve, CUZK_MATRIX_C, head[3], 1);
    cuzk_shape_end_constraint(b);
    s.n_given = 1;
    s.given[0] = head[3];
    for (int i = 4; i < 7; i++) {
        (void)cuzk_shape_repeat(b, &s, &head[i]);
    }
    cuzk_var first[SOME_COPIES], own[SOME_OWN];
    for (int i = 0; i < SOME_COPIES; i++) {
        first[i] = head[2 * (i % 3)];
    }
    cuzk_shape_begin_copies(b, SOME_COPIES);
    cuzk_shape_choose(b, first, 2);
    cuzk_var y = cuzk_shape_add_input(b, CUZK_VAR_FIELD);
    for (int i = 0; i < SOME_OWN; i++) {
        own[i] = cuzk_shape_add_aux(b, i < 4 ? CUZK_VAR_BIT : CUZK_VAR_FIELD);
    }
    for (int i = 0; i < 4; i++) { /* 8·y + own - own = chosen */
        some_term(b, curve, CUZK_MATRIX_A, y, 8);
        some_term(b, curve, CUZK_MATRIX_A, own[i], 1);
        some_term(b, curve, CUZK_MATRIX_A, own[i + 1], -1);
        some_term(b, curve, CUZK_MATRIX_B, own[5], 1 + 1000 * i);
        some_term(b, curve, CUZK_MATRIX_C, head[0], 2);
        some_term(b, curve, CUZK_MATRIX_C, head[1], -3);
        cuzk_shape_end_constraint(b);
    }
    cuzk_shape_end_copies(b);
    some_term(b, curve, CUZK_MATRIX_C, head[7], 9);
    cuzk_shape_end_constraint(b);
    return cuzk_shape_builder_finish(b, out, err);
}

#endif
