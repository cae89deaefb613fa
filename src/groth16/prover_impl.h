/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The prover's inside, shared by the files that make it and that prove with it. */
#ifndef CUZK_GROTH16_PROVER_IMPL_H
#define CUZK_GROTH16_PROVER_IMPL_H

#include "groth16/prover.h"
#include "groth16/query_sum.h"
#include "groth16/verify.h"
#include "poly/domain.h"

/* The sums over the witness that a proof needs; C is over the private variables only. */
typedef enum {
    CUZK_QUERY_A = 0,
    CUZK_QUERY_B1 = 1,
    CUZK_QUERY_B2 = 2,
    CUZK_QUERY_C = 3,
    CUZK_QUERY_COUNT = 4
} cuzk_prover_query;

struct cuzk_prover {
    const cuzk_curve *curve;
    uint32_t n_vars, n_inputs;
    unsigned lg_n;
    size_t n; /* domain size */
    cuzk_domain *domain;
    cuzk_vk vk;
    cuzk_verifier verifier;
    const cuzk_shape *shape; /* rows of a bellperson key; NULL or for messages with a circom key */
    bool drop;               /* give back mapped pages after use */
    bool drop_decoded;       /* of a bellperson key, once: after decoding */

    bool is_zkey;
    cuzk_zkey zkey;                            /* of a circom key */
    cuzk_params params;                        /* of a bellperson key */
    bool decode_late;                          /* its points are not kept: decoded is NULL */
    bool device_decodes;                       /* and not looked at */
    uint8_t *decoded[CUZK_PARAMS_ARRAY_COUNT]; /* points of a bellperson key */
    size_t decoded_bytes[CUZK_PARAMS_ARRAY_COUNT];

    cuzk_point_source source; /* put NULL: the points are here, or in params */

    const uint8_t *h; /* n_h points */
    size_t n_h;
    uint64_t *support_a, *support_b; /* variables with a base in A, in B1 and B2 */
    cuzk_query_set sets[3];          /* templates: copied per proof, where sums are written */
    unsigned n_sets;
    struct {
        unsigned set, query;
    } place[CUZK_QUERY_COUNT]; /* where the sum of each query is found */
};

/** Decode an array of a bellperson key into out, which has decoded_bytes[array] bytes, giving back
 *  the file's pages where the prover was told to. Errors: as cuzk_params_decode. */
cuzk_status cuzk_prover_decode(const cuzk_prover *prover, cuzk_params_array array, uint8_t *out,
                               cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
