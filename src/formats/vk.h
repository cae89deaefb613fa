/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The verifying key that all formats share, and bellperson's .vk file.
 *
 * In memory: affine points as in curve/curve.h. The input commitments ic have n_ic = public values
 * + 1 points, the one of the constant 1 first. */
#ifndef CUZK_FORMATS_VK_H
#define CUZK_FORMATS_VK_H

#include "base/pool.h"
#include "curve/curve.h"

typedef struct {
    const cuzk_curve *curve;
    cuzk_affine alpha1, beta1, delta1; /* G1; beta1 and delta1 only when has_g1_pair */
    cuzk_affine beta2, gamma2, delta2; /* G2 */
    bool has_g1_pair;                  /* false for a key read from JSON, which has no G1 twins */
    bool is_test_key;                  /* the file carries the mark of formats/test_key.h */
    const void *ic;                    /* n_ic packed points of G1, any alignment */
    uint32_t n_ic;
    void *owned; /* memory behind ic, NULL when ic is a view of borrowed bytes */
} cuzk_vk;

/** Free what a reader allocated, and zero. Safe on an all-zero struct. */
void cuzk_vk_clear(cuzk_vk *vk);

/** Check every point: coordinates below p, on the curve, in the subgroup of order r; none of alpha,
 *  beta, gamma, delta at infinity. Infinity among ic is allowed.
 *
 *  Readers do this for bytes in which points cannot be invalid otherwise (.vk, JSON); a view of a
 *  .zkey has only alpha … delta checked, without subgroup: call this before a verification that
 *  somebody relies on. Errors: E_FORMAT, with the name or index of the first bad point. */
cuzk_status cuzk_vk_check(const cuzk_vk *vk, cuzk_pool *pool, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes of a .vk file with n_ic input commitments, without a test mark. */
uint64_t cuzk_vk_file_bytes(uint64_t n_ic);

/** Read a bellperson .vk file (bls12_381): 868 + 96·n_ic bytes, big endian, points uncompressed,
 *  and optionally the test mark. Every point is checked: on the curve, in the subgroup, not
 *  infinity.
 *
 *  Returned: clear with cuzk_vk_clear. Memory: 96·n_ic. Errors: E_FORMAT, E_TRUNCATED, E_MEMORY. */
cuzk_status cuzk_vk_read(cuzk_vk *out, const uint8_t *data, uint64_t size, cuzk_pool *pool,
                         cuzk_error *err) CUZK_WARN_UNUSED;

/** Write the cuzk_vk_file_bytes(vk->n_ic) bytes of a .vk file, which are also the head of a .params
 *  file, to out. Errors: E_ARGUMENT (not bls12_381, or no G1 pair: beta1 and delta1 are unknown).
 */
cuzk_status cuzk_vk_write(uint8_t *out, uint64_t n_bytes, const cuzk_vk *vk,
                          cuzk_error *err) CUZK_WARN_UNUSED;

#endif
