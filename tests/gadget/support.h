/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Gadgets and circuits held against the reference's files: rows by fingerprint, values by digest.
 * Everything ends the test with a message when it fails. */
#ifndef CUZK_TESTS_GADGET_SUPPORT_H
#define CUZK_TESTS_GADGET_SUPPORT_H

#include "gadget/cs.h"

/* Describes a gadget with its set-up (spec/params-registry.md section 6) in the mode of cs. x: the
 * X of the file's witnesses, read in witness mode only. ctx: the test's own. */
typedef void (*support_gadget)(cuzk_cs *cs, uint64_t x, const void *ctx);

/* Describes a gadget in the mode of cs. ctx: the test's own. */
typedef void (*support_describe)(cuzk_cs *cs, const void *ctx);

/** The shape over bls12_381 that is described. Returned: cuzk_shape_destroy. */
cuzk_shape *support_shape(support_describe describe, const void *ctx);

/** The witness of that shape that is described; it takes up all variables. Returned:
 *  cuzk_witness_destroy. */
cuzk_witness *support_witness(const cuzk_shape *shape, support_describe describe, const void *ctx);

/** A witness of the shape's types, all zero but ONE. Returned: cuzk_witness_destroy. */
cuzk_witness *support_new_witness(const cuzk_shape *shape);

/** That every constraint holds. */
void support_expect_satisfied(const cuzk_shape *shape, const cuzk_witness *w);

/** Make a variable wrong: a bit flipped, a field value one more; or, `back`, right again. */
void support_change(const cuzk_shape *shape, cuzk_witness *w, uint32_t var, bool back);

/** 32 canonical bytes of a small number. */
void support_number(uint8_t out[32], uint64_t v);

/** Rows, counts, densities and the values for each X of gadgets.json's entry `name`; and that the
 *  values satisfy the rows. */
void support_expect_gadget(const char *name, support_gadget gadget, const void *ctx);

/** Counts, densities and fingerprint of a shape against the JSON text of a reference file.
 *  with_input_constraints: whether the file's counts and digest have them. */
void support_expect_shape(const cuzk_shape *shape, const char *json, bool with_input_constraints);

/** That a changed value is noticed: n_samples variables spread over a satisfying witness, each made
 *  wrong in turn (a bit flipped, a field value one more), break a constraint. The witness is as
 *  before afterwards. */
void support_expect_tight(const cuzk_shape *shape, cuzk_witness *w, uint32_t n_samples);

/** SHA-256 over the 32-byte values of variables first … first+n-1. */
void support_values_digest(uint8_t out[32], const cuzk_witness *w, uint32_t first, uint32_t n);

#endif
