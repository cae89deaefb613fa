/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/label.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "curve/curve.h"
#include "filecoin/graph.h"
#include "gadget/poseidon.h"

void cuzk_label(cuzk_digest *out, const cuzk_digest *replica_id, unsigned layer, uint64_t node,
                const cuzk_digest *const parents[CUZK_PARENTS])
{
    uint8_t head[64] = {0};
    cuzk_sha256 sha;
    memcpy(head, replica_id->b, 32);
    cuzk_store_u32_be(head + 32, layer);
    cuzk_store_u64_be(head + 36, node);
    cuzk_sha256_init(&sha);
    cuzk_sha256_update(&sha, head, sizeof head);
    for (unsigned slot = 0; slot < CUZK_LABEL_PARENTS; slot++) {
        cuzk_sha256_update(&sha, parents[cuzk_label_parent(layer, slot)]->b, 32);
    }
    cuzk_sha256_final(&sha, out->b);
    out->b[31] &= 0x3f;
}

void cuzk_column_hashes(cuzk_digest *out, const cuzk_digest *const *rows, unsigned layers,
                        unsigned n)
{
    enum { BATCH = 16 };
    cuzk_digest preimages[BATCH * CUZK_POREP_LAYERS_MAX];
    for (unsigned first = 0; first < n; first += BATCH) {
        unsigned count = n - first < BATCH ? n - first : BATCH;
        for (unsigned i = 0; i < count; i++) {
            memcpy(preimages + (size_t)i * layers, rows[first + i], layers * sizeof(cuzk_digest));
        }
        cuzk_poseidon_hash(layers, cuzk_poseidon_merkle_tag(layers), out + first, preimages, count);
    }
}

void cuzk_encode(cuzk_digest *out, const cuzk_digest *label, const cuzk_digest *data)
{
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BLS12_381);
    cuzk_fr in[2];
    curve->fr_batch_from_canonical(&in[0], label, 1);
    curve->fr_batch_from_canonical(&in[1], data, 1);
    curve->fr_add(&in[0], &in[0], &in[1]);
    curve->fr_to_canonical_le(out, &in[0]);
}
