/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One pass over the constraints, each term through the builder. */
#include "r1cs/shape_r1cs.h"

static void add_side(cuzk_shape_builder *b, const cuzk_r1cs *r1cs, cuzk_matrix matrix,
                     const cuzk_r1cs_lc *lc)
{
    uint32_t n_inputs = 1 + r1cs->n_pub_out + r1cs->n_pub_in;
    for (uint32_t i = 0; i < lc->n_terms; i++) {
        uint32_t wire = cuzk_r1cs_term_wire(lc, i);
        cuzk_fr coef;
        r1cs->curve->fr_batch_from_canonical(&coef, cuzk_r1cs_term_value(lc, i), 1);
        cuzk_shape_add_term(b, matrix, wire < n_inputs ? wire : cuzk_var_aux(wire - n_inputs),
                            &coef);
    }
}

cuzk_status cuzk_shape_from_r1cs(cuzk_shape **out, const cuzk_r1cs *r1cs, cuzk_error *err)
{
    CUZK_TRY(cuzk_r1cs_require_groth16(r1cs, err));
    uint32_t n_inputs = 1 + r1cs->n_pub_out + r1cs->n_pub_in;
    cuzk_shape_builder *b = NULL;
    CUZK_TRY(cuzk_shape_builder_create(&b, r1cs->curve, err));
    for (uint32_t i = 1; i < n_inputs; i++) {
        (void)cuzk_shape_add_input(b, CUZK_VAR_UNKNOWN);
    }
    for (uint32_t i = n_inputs; i < r1cs->n_wires; i++) {
        (void)cuzk_shape_add_aux(b, CUZK_VAR_UNKNOWN);
    }
    cuzk_r1cs_iter iter;
    cuzk_r1cs_begin(&iter, r1cs);
    for (;;) {
        cuzk_r1cs_lc lc[3];
        bool more = false;
        cuzk_status status = cuzk_r1cs_next(&iter, lc, &more, err);
        if (status != CUZK_OK) {
            cuzk_shape_builder_destroy(b);
            return status;
        }
        if (!more) {
            return cuzk_shape_builder_finish(b, out, err);
        }
        for (int k = 0; k < 3; k++) {
            add_side(b, r1cs, (cuzk_matrix)k, &lc[k]);
        }
        cuzk_shape_end_constraint(b);
    }
}
