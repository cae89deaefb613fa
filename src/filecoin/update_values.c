/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/update_values.h"

#include "base/bytes.h"
#include "curve/curve.h"
#include "gadget/poseidon.h"

/* Hash of two values under the tag of randomness. */
static void randomness(cuzk_digest *out, const cuzk_digest *a, const cuzk_digest *b)
{
    cuzk_digest preimage[2] = {*a, *b};
    cuzk_poseidon_hash(2, CUZK_POSEIDON_RANDOMNESS_TAG, out, preimage, 1);
}

static cuzk_digest number(uint64_t v)
{
    cuzk_digest out = {{0}};
    cuzk_store_u64_le(out.b, v);
    return out;
}

void cuzk_update_phi(cuzk_digest *phi, const cuzk_digest *comm_d_new, const cuzk_digest *comm_r_old)
{
    randomness(phi, comm_d_new, comm_r_old);
}

void cuzk_update_rho(cuzk_digest *out, const cuzk_digest *phi, const cuzk_update_shape *shape,
                     unsigned h, const uint64_t *nodes, unsigned n)
{
    enum { BATCH = 16 };
    for (unsigned first = 0; first < n; first += BATCH) {
        cuzk_digest preimages[BATCH][2];
        unsigned count = n - first < BATCH ? n - first : BATCH;
        for (unsigned i = 0; i < count; i++) {
            preimages[i][0] = *phi;
            preimages[i][1] = number(nodes[first + i] >> (shape->challenge_bits - h));
        }
        cuzk_poseidon_hash(2, CUZK_POSEIDON_RANDOMNESS_TAG, out + first, preimages, count);
    }
}

void cuzk_update_challenges(uint64_t *out, const cuzk_update_shape *shape,
                            const cuzk_digest *comm_r_new, unsigned k)
{
    cuzk_digest digest;
    for (unsigned t = 0; t < shape->challenges; t++) {
        unsigned slot = t % shape->per_digest;
        if (slot == 0) {
            cuzk_digest g = number((uint64_t)k * shape->digests + t / shape->per_digest);
            randomness(&digest, comm_r_new, &g);
        }
        uint64_t drawn = 0;
        for (unsigned i = 0; i < shape->random_bits; i++) {
            unsigned bit = slot * shape->random_bits + i;
            drawn |= (uint64_t)(digest.b[bit / 8] >> (bit % 8) & 1) << i;
        }
        out[t] = drawn + ((uint64_t)k << shape->random_bits);
    }
}

void cuzk_update_encode(cuzk_digest *r_new, const cuzk_digest *r_old, const cuzk_digest *d_new,
                        const cuzk_digest *rho)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_fr in[3];
    curve->fr_batch_from_canonical(&in[0], r_old, 1);
    curve->fr_batch_from_canonical(&in[1], d_new, 1);
    curve->fr_batch_from_canonical(&in[2], rho, 1);
    curve->fr_mul(&in[1], &in[1], &in[2]);
    curve->fr_add(&in[0], &in[0], &in[1]);
    curve->fr_to_canonical_le(r_new, &in[0]);
}
