/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_porep.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_porep_vanilla v;
    cuzk_error err = {0};
    if (cuzk_porep_vanilla_read(&v, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && v.challenges == NULL);
        return;
    }
    CUZK_FUZZ_CHECK(v.n_challenges == v.shape.partitions * v.shape.challenges);
    uint64_t nodes = cuzk_sector_nodes(v.proof.sector);
    cuzk_tree tree = cuzk_tree_poseidon(v.proof.sector);
    for (uint32_t i = 0; i < v.n_challenges; i++) {
        const cuzk_porep_challenge *c = &v.challenges[i];
        CUZK_FUZZ_CHECK(c->d.index < nodes && c->r.index < nodes && c->column.node < nodes);
        for (unsigned p = 0; p < CUZK_PARENTS; p++) {
            CUZK_FUZZ_CHECK(c->parents[p].inclusion.index < nodes);
            CUZK_FUZZ_CHECK(cuzk_digest_is_fr(&c->parents[p].rows[v.shape.layers - 1]));
        }
        for (unsigned s = 0; s < cuzk_tree_siblings(tree); s++) {
            CUZK_FUZZ_CHECK(cuzk_digest_is_fr(&c->r.siblings[s]));
        }
    }
    cuzk_porep_vanilla_clear(&v);
}
