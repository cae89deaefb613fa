/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circuits, witnesses, keys and expected proofs of the fixtures, in the forms that the prover
 * takes. Everything ends the test with a message when it fails. */
#ifndef CUZK_TESTS_GROTH16_SUPPORT_H
#define CUZK_TESTS_GROTH16_SUPPORT_H

#include "fixtures.h"
#include "formats/wtns.h"
#include "formats/zkey.h"
#include "groth16/prover.h"
#include "groth16/setup.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

/* Bytes of a key file in memory. */
typedef struct {
    uint8_t *data;
    size_t size;
} support_bytes;

/** The circuit NAME/circuit.r1cs. Free with cuzk_shape_destroy. */
cuzk_shape *support_shape(const char *name);

/** The witness NAME/witness.wtns. Free with cuzk_witness_destroy. */
cuzk_witness *support_witness(const char *name, uint32_t n_inputs);

/** A text file of NAME. Free with cuzk_test_fixture_free. */
cuzk_fixture support_text(const char *name, const char *file);

/** The trapdoor of NAME/trapdoor.json, and the one of the reference's test setup. */
cuzk_trapdoor support_trapdoor(const char *name, const cuzk_curve *curve);
cuzk_trapdoor support_reference_trapdoor(void);

/** A scalar of the reference's test setup, such as "r/0": canonical. */
void support_reference_scalar(const char *name, uint8_t out[32]);

/** Generate a key from a trapdoor and write it in its style's format. Free data with free. */
support_bytes support_generate(const cuzk_shape *shape, cuzk_key_style style,
                               const cuzk_trapdoor *trapdoor, cuzk_pool *pool);

/** The same with all that setup can be told. */
support_bytes support_generate_as(const cuzk_shape *shape, const cuzk_setup_params *params,
                                  cuzk_pool *pool);

/** The key of NAME: circuit.zkey where it is stored, else generated from its trapdoor (the same
 *  bytes in every section that proving reads). */
support_bytes support_zkey(const char *name, cuzk_pool *pool);

/** Open a .zkey in memory. */
cuzk_zkey support_open_zkey(const support_bytes *bytes);

/** r, s and the one right proof of NAME/fixed_rs.json. */
void support_fixed_rs(const char *name, const cuzk_curve *curve, cuzk_blinding *blinding,
                      cuzk_proof_points *proof);

/** The one right proof for a shape, a witness, a trapdoor and r, s, from the definition: scalars of
 *  A, B, C computed with the trapdoor and three scalar multiplications. No transform, no
 *  multi-scalar multiplication, no key. The style only chooses the roots of unity. */
void support_proof_by_trapdoor(const cuzk_shape *shape, const cuzk_witness *w, cuzk_key_style style,
                               const cuzk_trapdoor *t, const cuzk_blinding *blinding,
                               cuzk_proof_points *proof);

/** Whether two proofs are the same points. */
bool support_same_proof(const cuzk_proof_points *a, const cuzk_proof_points *b);

#endif
