/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of a repeated block for eight of its copies at once, one per lane (row_lanes.c). */
#ifndef CUZK_R1CS_ROW_LANES_H
#define CUZK_R1CS_ROW_LANES_H

#include "r1cs/eval.h"

enum { CUZK_ROW_LANES = 8, CUZK_ROW_LIMBS = 5 };

/* A coefficient as the lanes want it, in limbs of 52 bits. */
typedef struct {
    uint64_t plain[CUZK_ROW_LIMBS]; /* c, or -c where that is smaller: its canonical value */
    uint64_t mont[CUZK_ROW_LIMBS];  /* c·2^260 mod r */
    double size;                    /* of plain, in multiples of r, rounded up */
    int8_t limb;                    /* the one limb of plain that is not zero, or -1 */
    bool is_negative;
} cuzk_row_coef;

/* One block, one matrix, one witness. The field variables of a witness stand at the same places in
 * all copies of the block (cuzk_row_lanes_fit). */
typedef struct {
    const cuzk_eval *eval;      /* shape and witness; rows that need it are evaluated one by one */
    const cuzk_row_coef *coefs; /* eval->shape->n_coefs */
    uint64_t to_memory[CUZK_ROW_LIMBS]; /* 2^516 mod r */
    const cuzk_shape_block *block;
    uint32_t n_field; /* aux variables of a copy that are field variables */
    cuzk_matrix matrix;
    cuzk_fr *out; /* of the whole circuit */
} cuzk_row_lanes;

/** Rows first … end-1 of the block in copies copy … copy + n_lanes - 1, n_lanes ≤ 8, to their
 *  places in out. */
typedef void (*cuzk_row_lanes_fn)(const cuzk_row_lanes *g, uint32_t copy, uint32_t n_lanes,
                                  uint32_t first, uint32_t end);

/** The kernel of this process's CPU path; NULL where it has none. */
cuzk_row_lanes_fn cuzk_row_lanes_get(cuzk_curve_id curve);

/** The coefficients of a shape. out: n_coefs. */
void cuzk_row_coefs_init(cuzk_row_coef *out, uint64_t to_memory[CUZK_ROW_LIMBS],
                         const cuzk_shape *shape);

/** Whether the field variables of the witness stand at the same places in all copies of the block;
 *  sets *n_field, those of a copy. */
bool cuzk_row_lanes_fit(const cuzk_witness *witness, const cuzk_shape_block *block,
                        uint32_t *n_field);

#endif
