/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/proof.h"

#include "formats/points.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    cuzk_group_id group;
    size_t member;
    size_t offset; /* in the 192 bytes */
} points[] = {
    {"A", CUZK_G1, offsetof(cuzk_proof_points, a), 0},
    {"B", CUZK_G2, offsetof(cuzk_proof_points, b), 48},
    {"C", CUZK_G1, offsetof(cuzk_proof_points, c), 144},
};
enum { N_POINTS = 3 };

cuzk_status cuzk_proof_points_check(const cuzk_proof_points *proof, cuzk_error *err)
{
    for (int i = 0; i < N_POINTS; i++) {
        const cuzk_group *g = &proof->curve->g[points[i].group];
        const void *p = (const uint8_t *)proof + points[i].member;
        cuzk_point_status s = !g->affine_is_reduced(p) ? CUZK_POINT_NOT_REDUCED
                              : !g->on_curve(p)        ? CUZK_POINT_NOT_ON_CURVE
                              : !g->in_subgroup(p)     ? CUZK_POINT_NOT_IN_SUBGROUP
                                                       : CUZK_POINT_OK;
        CUZK_FAIL_IF(s != CUZK_POINT_OK, err, CUZK_E_INVALID_PROOF, "proof, point %s: %s",
                     points[i].name, cuzk_point_status_text(s));
    }
    return CUZK_OK;
}

cuzk_status cuzk_proof_points_read(cuzk_proof_points *out, const uint8_t *bytes, uint64_t n_bytes,
                                   cuzk_error *err)
{
    CUZK_FAIL_IF(n_bytes != CUZK_PROOF_BYTES, err, CUZK_E_TRUNCATED,
                 "proof: %" PRIu64 " bytes, expected %d", n_bytes, CUZK_PROOF_BYTES);
    cuzk_proof_points proof;
    memset(&proof, 0, sizeof proof);
    proof.curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    for (int i = 0; i < N_POINTS; i++) {
        const cuzk_group *g = &proof.curve->g[points[i].group];
        void *p = (uint8_t *)&proof + points[i].member;
        cuzk_point_status s = g->decode(p, bytes + points[i].offset, CUZK_POINT_COMPRESSED, true);
        CUZK_FAIL_IF(s != CUZK_POINT_OK, err, CUZK_E_INVALID_PROOF, "proof, point %s: %s",
                     points[i].name, cuzk_point_status_text(s));
        CUZK_FAIL_IF(g->affine_is_infinity(p), err, CUZK_E_INVALID_PROOF,
                     "proof, point %s: point at infinity", points[i].name);
    }
    *out = proof;
    return CUZK_OK;
}

cuzk_status cuzk_proof_points_count(uint64_t *n_proofs, uint64_t n_bytes, cuzk_error *err)
{
    CUZK_FAIL_IF(n_bytes == 0 || n_bytes % CUZK_PROOF_BYTES != 0, err, CUZK_E_FORMAT,
                 "proof: %" PRIu64 " bytes, expected a multiple of %d", n_bytes, CUZK_PROOF_BYTES);
    *n_proofs = n_bytes / CUZK_PROOF_BYTES;
    return CUZK_OK;
}

cuzk_status cuzk_proof_points_write(uint8_t out[CUZK_PROOF_BYTES], const cuzk_proof_points *proof,
                                    cuzk_error *err)
{
    CUZK_FAIL_IF(proof->curve->id != CUZK_CURVE_BLS12_381, err, CUZK_E_ARGUMENT,
                 "writing a proof of 192 bytes: it is over %s, this form exists for bls12381 only",
                 proof->curve->snarkjs_name);
    for (int i = 0; i < N_POINTS; i++) {
        const cuzk_group *g = &proof->curve->g[points[i].group];
        const void *p = (const uint8_t *)proof + points[i].member;
        CUZK_FAIL_IF(g->affine_is_infinity(p), err, CUZK_E_ARGUMENT,
                     "writing a proof of 192 bytes: point %s is at infinity", points[i].name);
        g->encode(out + points[i].offset, p, CUZK_POINT_COMPRESSED);
    }
    return CUZK_OK;
}
