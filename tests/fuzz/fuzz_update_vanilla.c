/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The first byte chooses the size; the rest is the files of all partitions, of equal length. */
#include "filecoin/vanilla_update.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_registered_proof proof;
    if (size == 0 ||
        cuzk_registered_proof_get(&proof, CUZK_PROOF_UPDATE, data[0], NULL) != CUZK_OK) {
        return;
    }
    cuzk_vanilla_span spans[16];
    unsigned n = cuzk_update_shape_of(proof.sector).partitions;
    uint64_t each = (size - 1) / n;
    for (unsigned k = 0; k < n; k++) {
        spans[k] = (cuzk_vanilla_span){data + 1 + k * each, each};
    }
    cuzk_update_vanilla v;
    cuzk_error err = {0};
    if (cuzk_update_vanilla_read(&v, &proof, spans, n, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && v.partitions == NULL);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        CUZK_FUZZ_CHECK(cuzk_digest_is_fr(&v.partitions[k].comm_c));
        for (unsigned c = 0; c < v.shape.challenges; c++) {
            const cuzk_update_challenge *ch = &v.partitions[k].challenges[c];
            uint64_t nodes = cuzk_sector_nodes(proof.sector);
            CUZK_FUZZ_CHECK(ch->r_old.index < nodes && ch->d_new.index < nodes &&
                            ch->r_new.index < nodes);
            CUZK_FUZZ_CHECK(cuzk_digest_is_fr(&ch->d_new.siblings[v.shape.challenge_bits - 1]));
        }
    }
    cuzk_update_vanilla_clear(&v);
}
