/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of a circuit times a typed witness: what kernels and host share. */
#ifndef CUZK_BACKEND_CUDA_ROWS_H
#define CUZK_BACKEND_CUDA_ROWS_H

#include <stdint.h>

enum {
    CUZK_ROWS_BLOCK = 128,
    CUZK_ROWS_LONG = 24 /* rows of more terms are long */
};

/* As cuzk_shape_block (r1cs/shape.h): rows stored once for n_copies copies. */
typedef struct {
    uint32_t first_row, stored_row, n_rows, n_copies;
    uint32_t first_input, input_stride, first_aux, aux_stride;
    uint32_t first_choice, n_choice, first_of_choices;
} cuzk_rows_block;

/* A typed witness (r1cs/witness.h) in device memory. */
typedef struct {
    const uint64_t *is_field, *bits;
    const uint32_t *rank;
    const uint64_t *field; /* 4 words each, plain */
} cuzk_rows_witness;

/* rows_times_witness, one thread a constraint, but for long rows; long_rows_times_witness, a warp
 * for each of these: out_(i bit-reversed) = ⟨row i, w⟩ in Montgomery form for all 2^lg_n rows.
 * Behind n_constraints row i is input i - n_constraints, where inputs_follow, or 0. */
typedef struct {
    void *out;
    const uint32_t *begin, *var; /* stored rows; a variable a term */
    const uint32_t *code;        /* the coefficient of a term; NULL: its own number */
    const uint64_t *coefs;       /* 4 words each: coefficient·2^512 */
    const cuzk_rows_block *blocks;
    const uint32_t *choices;
    cuzk_rows_witness w;
    const uint32_t *long_rows; /* constraints */
    uint32_t n_blocks, lg_n, n_constraints, n_inputs, inputs_follow, n_long;
} cuzk_rows_args;

#endif
