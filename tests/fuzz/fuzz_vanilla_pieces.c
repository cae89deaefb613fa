/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_pieces.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_vanilla_pieces p;
    cuzk_error err = {0};
    if (cuzk_vanilla_pieces_read(&p, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && p.spans == NULL);
        return;
    }
    uint64_t total = 0;
    for (uint64_t i = 0; i < p.n; i++) {
        total += p.spans[i].size;
    }
    CUZK_FUZZ_CHECK(total <= size);
    cuzk_vanilla_pieces_clear(&p);
}
