/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The deep check of a proving key: what can be told without its trapdoor. */
#ifndef CUZK_GROTH16_KEY_CHECK_H
#define CUZK_GROTH16_KEY_CHECK_H

#include "groth16/prover.h"

/** Check the key of a prover:
 *
 *  1. every point is on the curve and in the subgroup, every coefficient in range;
 *  2. beta and delta have the same logarithm in both groups;
 *  3. with a shape: the key's rows of A and B are the circuit's;
 *  4. B1 and B2 hold the same scalars, point by point;
 *  5. with a shape: C and ic are (beta·A + alpha·B) over delta and gamma, on a random combination
 *     of the variables that the circuit's C does not use (the others depend on unknown terms);
 *  6. the H query evaluates the polynomials of B, as the rows give them, to the points of B2 times
 *     one common factor, on random combinations.
 *
 *  A wrong key passes 3 to 6 with probability 2^-120 where they can tell. Not covered: A and C of
 *  variables in the circuit's C, and whether anybody knows the trapdoor.
 *  Errors: E_FORMAT with the section or query and the index; E_MISMATCH (3), naming the row;
 *  E_MEMORY, E_CANCELLED, E_INTERNAL. Minutes for large keys. */
cuzk_status cuzk_prover_check_key(const cuzk_prover *prover, const cuzk_reporter *reporter,
                                  cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
