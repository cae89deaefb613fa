/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Evaluating the rows of a shape on a witness, and the check that every constraint holds. */
#ifndef CUZK_R1CS_SATISFY_H
#define CUZK_R1CS_SATISFY_H

#include "r1cs/shape.h"
#include "r1cs/witness.h"

/** out_i = ⟨row i of the matrix, w⟩ for i = 0 … n_out-1, Montgomery form. Rows n_constraints …
 *  n_constraints + n_inputs-1 are the trailing input constraints, rows behind them are zero.
 *
 *  The witness must have the shape's curve and counts. Threads: the pool's. */
void cuzk_shape_eval_rows(const cuzk_shape *shape, const cuzk_witness *witness, cuzk_matrix matrix,
                          cuzk_fr *out, uint64_t n_out, cuzk_pool *pool);

/* The first constraint that a witness breaks. Values are canonical. */
typedef struct {
    uint64_t constraint;
    uint8_t a[32], b[32], c[32]; /* ⟨A,w⟩, ⟨B,w⟩, ⟨C,w⟩ */
} cuzk_violation;

/** Check ⟨A,w⟩·⟨B,w⟩ = ⟨C,w⟩ for every constraint.
 *
 *  first (may be NULL): filled when the result is E_UNSATISFIED. Errors: E_UNSATISFIED naming the
 *  first constraint that fails with the three values; E_MISMATCH (curve or number of public values
 *  differ), E_WITNESS_LENGTH. Threads: the pool's; the answer does not depend on their number. */
cuzk_status cuzk_shape_check_witness(const cuzk_shape *shape, const cuzk_witness *witness,
                                     cuzk_violation *first, cuzk_pool *pool,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

#endif
