/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The first byte chooses proof and size; the rest is one sector's file, or, cut in the middle, two.
 */
#include "filecoin/vanilla_post.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_registered_proof proof;
    if (size == 0 ||
        cuzk_registered_proof_get(&proof, data[0] < 5 ? CUZK_PROOF_WINNING : CUZK_PROOF_WINDOW,
                                  data[0] % 15, NULL) != CUZK_OK) {
        return;
    }
    unsigned n = data[0] >= 15 ? 2 : 1;
    uint64_t each = (size - 1) / n;
    cuzk_vanilla_span spans[2] = {{data + 1, each}, {data + 1 + each, each}};
    cuzk_post_vanilla v;
    cuzk_error err = {0};
    if (cuzk_post_vanilla_read(&v, &proof, spans, n, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && v.sectors == NULL);
        return;
    }
    cuzk_tree tree = cuzk_tree_poseidon(proof.sector);
    for (uint32_t s = 0; s < v.n_sectors; s++) {
        CUZK_FUZZ_CHECK(cuzk_digest_is_fr(&v.sectors[s].comm_r));
        for (unsigned i = 0; i < v.n_openings; i++) {
            const cuzk_merkle_proof *p = &v.sectors[s].openings[i];
            CUZK_FUZZ_CHECK(p->index < cuzk_sector_nodes(proof.sector));
            for (unsigned k = 0; k < cuzk_tree_siblings(tree); k++) {
                CUZK_FUZZ_CHECK(cuzk_digest_is_fr(&p->siblings[k]));
            }
        }
    }
    cuzk_post_vanilla_clear(&v);
}
