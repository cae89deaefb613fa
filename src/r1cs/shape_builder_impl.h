/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a shape builder collects (shape_builder.c) and its last step reads (shape_finish.c). */
#ifndef CUZK_R1CS_SHAPE_BUILDER_IMPL_H
#define CUZK_R1CS_SHAPE_BUILDER_IMPL_H

#include "r1cs/shape.h"

#define CUZK_AUX_FLAG 0x80000000u

/* A growing array of 32-bit words. */
struct cuzk_builder_words {
    uint32_t *data;
    uint64_t n, capacity;
};

struct cuzk_builder_matrix {
    struct cuzk_builder_words var, code;
    uint64_t *begin; /* begin[0 … n_stored_rows]: grown with begin_capacity of the builder */
};

/* A part of the circuit that is repeated, or what lies between two of them. It ends where the next
 * one begins. */
struct cuzk_builder_part {
    uint64_t n_copies;
    uint64_t first_row, first_input, first_aux; /* in the circuit, copies counted */
    uint64_t stored_row, stored_input, stored_aux;
    uint32_t n_choice; /* variables chosen per copy; choices from first_of_choices, one per copy */
    uint64_t first_of_choices;
};

struct cuzk_shape_builder {
    const cuzk_curve *curve;
    cuzk_status status;                      /* first failure; everything after it is ignored */
    const char *what;                        /* what was being grown when it failed */
    uint64_t n_inputs, n_aux, n_constraints; /* copies counted */
    uint64_t n_stored_rows, begin_capacity;
    struct cuzk_builder_words input_type, aux_type; /* cuzk_var_type per variable, stored ones */
    struct cuzk_builder_matrix m[3];

    struct cuzk_builder_part *parts;
    uint32_t n_parts;
    struct cuzk_builder_words choices; /* indices of aux variables */

    cuzk_fr *coefs;
    uint32_t n_coefs, coef_capacity;
    uint32_t *slots; /* code + 1, or 0 for free; n_slots is a power of two ≥ 2·n_coefs */
    uint64_t n_slots;
};

/** Keep the first failure; returns false. */
bool cuzk_builder_failed(cuzk_shape_builder *b, cuzk_status status, const char *what);

/** Room for n more words. what: of what, for the error. */
bool cuzk_builder_reserve(cuzk_shape_builder *b, struct cuzk_builder_words *w, uint64_t n,
                          const char *what);

/** Room for the ends of n more stored rows. */
bool cuzk_builder_reserve_rows(cuzk_shape_builder *b, uint64_t n);

#endif
