/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A fixture's key with its prover, a witness and the proof that fixed r and s give: for tests that
 * put one key on several devices. */
#ifndef CUZK_TESTS_CUDA_WHOLE_KEY_H
#define CUZK_TESTS_CUDA_WHOLE_KEY_H

#include "groth16/support.h"

#include <stdlib.h>

typedef struct {
    support_bytes bytes;
    cuzk_zkey zkey;     /* of a circom key … */
    cuzk_params params; /* … or of a bellperson key, with its shape */
    cuzk_shape *shape;
    cuzk_witness *witness;
    cuzk_blinding blinding;
    cuzk_proof_points expected;
    cuzk_prover *prover;
} whole_key;

/* The fixture's .zkey, witness, r, s and proof; whole_key_drop frees it. */
static inline whole_key whole_key_circom(const char *name)
{
    cuzk_error error = {0};
    whole_key k = {.bytes = support_zkey(name, NULL)};
    k.zkey = support_open_zkey(&k.bytes);
    k.witness = support_witness(name, k.zkey.n_public + 1);
    support_fixed_rs(name, k.zkey.curve, &k.blinding, &k.expected);
    must(cuzk_prover_create_zkey(&k.prover, &k.zkey, NULL, NULL, NULL, &error), &error);
    return k;
}

static inline void whole_key_drop(whole_key *k)
{
    cuzk_prover_destroy(k->prover);
    cuzk_witness_destroy(k->witness);
    cuzk_shape_destroy(k->shape);
    free(k->bytes.data);
}

#endif
