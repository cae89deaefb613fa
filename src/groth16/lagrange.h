/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lagrange polynomials of a coset of a multiplicative subgroup, at one point. */
#ifndef CUZK_GROTH16_LAGRANGE_H
#define CUZK_GROTH16_LAGRANGE_H

#include "base/pool.h"
#include "curve/curve.h"

/** out_i = scale · x_i / (t - x_i) with x_i = shift · w^i, for i = 0 … n-1.
 *
 *  With H = {w^i} of size m and scale = (t^m - 1)/m, shift = 1 these are the Lagrange polynomials
 *  of H at t. Any n ≤ m. All values in Montgomery form. t must not be one of the x_i: that element
 *  comes out as zero. Threads: the pool's. */
void cuzk_lagrange_at(const cuzk_curve *curve, cuzk_fr *out, size_t n, const cuzk_fr *t,
                      const cuzk_fr *w, const cuzk_fr *shift, const cuzk_fr *scale,
                      cuzk_pool *pool);

#endif
