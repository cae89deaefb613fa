/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Both groups of both curves by the textbook: affine points over Fp(u), u² = -1, chord and tangent
 * with an inversion for every addition, on the whole numbers of tests/bigint.h. G1 is the part with
 * coordinates in Fp. Nothing is shared with src/ but the packed form of points and the modulus. */
#ifndef CUZK_TESTS_AFFINE_REFERENCE_H
#define CUZK_TESTS_AFFINE_REFERENCE_H

#include "bigint.h"
#include "curve/curve.h"

/* c0 + c1·u */
typedef struct {
    big c0, c1;
} ref_coord;

typedef struct {
    bool infinity;
    ref_coord x, y;
} ref_point;

/* y² = x³ + b */
typedef struct {
    const cuzk_curve *curve;
    const cuzk_group *group;
    big p, r;
    big r_montgomery; /* 2^(64·fp_limbs) mod p: packed coordinates are multiplied by it */
    big r_inverse;
    ref_coord b;
} ref_group;

/** The group of a curve; b is 3 and 3/(9 + u) on bn254, 4 and 4(1 + u) on bls12_381. */
void ref_group_init(ref_group *g, const cuzk_curve *curve, cuzk_group_id id);

/** From and to the packed affine form of curve.h. */
ref_point ref_load(const ref_group *g, const void *packed);
void ref_store(const ref_group *g, void *packed, const ref_point *a);

/** A Jacobian point of curve.h, divided out here. */
ref_point ref_load_jac(const ref_group *g, const cuzk_jac *a);

bool ref_equal(const ref_point *a, const ref_point *b);
bool ref_on_curve(const ref_group *g, const ref_point *a);
ref_point ref_neg(const ref_group *g, const ref_point *a);
ref_point ref_add(const ref_group *g, const ref_point *a, const ref_point *b);

/** k·a by doubling and adding. */
ref_point ref_mul(const ref_group *g, const big *k, const ref_point *a);

/** The point of the curve with the abscissa x + u in G2, x in G1, for the smallest x ≥ from that
 *  has one: such points are hardly ever in the subgroup of order r (but in G1 of bn254). */
ref_point ref_point_from(const ref_group *g, uint64_t from);

#endif
