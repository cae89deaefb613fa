/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The column polynomials of a shape at the secret point. */
#ifndef CUZK_GROTH16_SETUP_COLUMNS_H
#define CUZK_GROTH16_SETUP_COLUMNS_H

#include "base/pool.h"
#include "r1cs/shape.h"

/** out_v = Σ over the rows i of coef(matrix, i, v)·lagrange_i, trailing input constraints included,
 *  for every variable v. lagrange: cuzk_shape_n_rows(shape) values at least. Montgomery form. */
void cuzk_setup_columns(const cuzk_shape *shape, cuzk_matrix matrix, cuzk_fr *out,
                        const cuzk_fr *lagrange, cuzk_pool *pool);

#endif
