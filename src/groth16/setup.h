/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Key generation: a proving key for a shape, by one party, in either of the two layouts.
 *
 *  - circom (.zkey): queries for every wire, infinity where a wire does not occur; the H query is
 *    the Lagrange basis of the odd points of the 2n domain over delta; roots from 5; gamma = 1.
 *  - bellperson (.params, bls12_381): identity points are left out of A, B1 and B2; h_i =
 *    tau^i·(tau^n - 1)/delta; roots from 7.
 *
 * Toxic values come from the system's generator and are wiped. A key made from a given trapdoor is
 * a test key: whoever knows the trapdoor can forge proofs. It carries is_test_key, which its
 * writers turn into the mark of formats/test_key.h. */
#ifndef CUZK_GROTH16_SETUP_H
#define CUZK_GROTH16_SETUP_H

#include "base/progress.h"
#include "formats/vk.h"
#include "r1cs/shape.h"

typedef enum { CUZK_KEY_CIRCOM = 1, CUZK_KEY_BELLPERSON = 2 } cuzk_key_style;

/* Generator of the scalar field from which a style derives its roots of unity. */
static inline unsigned cuzk_key_style_generator(cuzk_key_style style)
{
    return style == CUZK_KEY_CIRCOM ? 5 : 7;
}

/* The toxic values, Montgomery form, none of them zero. */
typedef struct {
    cuzk_fr tau, alpha, beta, gamma, delta;
} cuzk_trapdoor;

/* Multiples of the generators from elsewhere than this process's threads: a device. */
typedef struct {
    void *context;
    /** out_i = scalars_i · generator of the group, n packed affine points of host memory. scalars:
     *  Montgomery form, secret. One call at a time. */
    cuzk_status (*multiply)(void *context, void *out, cuzk_group_id group, const cuzk_fr *scalars,
                            size_t n, cuzk_error *err);
} cuzk_multiplier;

typedef struct {
    cuzk_key_style style;
    const cuzk_trapdoor *test_trapdoor; /* NULL: fresh values; else the key is a test key */
    const cuzk_multiplier *multiplier;  /* NULL: the pool's threads; the same bytes */
    const cuzk_reporter *reporter;      /* may be NULL */
} cuzk_setup_params;

/* A proving key in memory form (curve/curve.h): each query is an array of packed affine points. */
typedef struct {
    cuzk_key_style style;
    bool is_test_key;
    uint32_t n_vars, n_inputs;    /* as in the shape */
    unsigned lg_n;                /* domain size 2^lg_n */
    cuzk_vk vk;                   /* owns its ic */
    uint8_t *a, *b1, *b2, *c, *h; /* b2 in G2, the others in G1; c is called l by bellperson */
    uint64_t n_a, n_b, n_c, n_h;  /* points; b1 and b2 have n_b each */
} cuzk_generated_key;

/** log2 of the domain of a shape with n_rows rows (trailing input constraints included): the
 *  smallest power of two ≥ n_rows; for circom at least 2. */
unsigned cuzk_setup_lg_domain(cuzk_key_style style, uint64_t n_rows);

/** Generate a key.
 *
 *  out: returned: clear with cuzk_generated_key_clear. Errors: E_UNSUPPORTED (domain beyond the
 *  field's roots of unity; bellperson style on bn254), E_ARGUMENT (a zero in the given trapdoor, or
 *  tau on the domain; bellperson style: an aux variable that no constraint uses, as its l point
 *  would be the identity), E_MEMORY, E_CANCELLED, the multiplier's. Threads: the pool's.
 *  Memory: the key, and 4 × 32 bytes per variable or row. */
cuzk_status cuzk_setup(cuzk_generated_key *out, const cuzk_shape *shape,
                       const cuzk_setup_params *params, cuzk_pool *pool,
                       cuzk_error *err) CUZK_WARN_UNUSED;

/** Free the arrays and zero. Safe on an all-zero struct. */
void cuzk_generated_key_clear(cuzk_generated_key *key);

#endif
