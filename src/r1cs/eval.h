/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of a shape evaluated on a witness. */
#ifndef CUZK_R1CS_EVAL_H
#define CUZK_R1CS_EVAL_H

#include "r1cs/shape.h"
#include "r1cs/witness.h"

enum { CUZK_EVAL_SMALL = 128 }; /* bound of the values of small rows */

/** Make what a shape keeps for evaluation (coefs_plain, coefs_small, small_rows) from its rows,
 * types and coefficients. Called once, when the shape is made. Errors: E_MEMORY. */
cuzk_status cuzk_eval_prepare(cuzk_shape *shape, cuzk_error *err) CUZK_WARN_UNUSED;

/* What evaluating rows takes. Read-only once made; may be shared by threads. */
typedef struct {
    const cuzk_shape *shape;
    const cuzk_witness *witness;
    bool typed;     /* every variable that the shape calls a bit is one in the witness */
    cuzk_fr two256; /* 2^256, Montgomery form */
    cuzk_fr
        small[2 * CUZK_EVAL_SMALL + 1]; /* -CUZK_EVAL_SMALL … CUZK_EVAL_SMALL, Montgomery form */
} cuzk_eval;

/** Prepare. The witness must have the shape's curve and number of variables; both are borrowed. */
void cuzk_eval_init(cuzk_eval *eval, const cuzk_shape *shape, const cuzk_witness *witness);

/** out_i = ⟨row i of the matrix, w⟩ for i = first … end-1, Montgomery form. end ≤ n_constraints. */
void cuzk_eval_rows(const cuzk_eval *eval, cuzk_matrix matrix, uint32_t first, uint32_t end,
                    cuzk_fr *out);

#endif
