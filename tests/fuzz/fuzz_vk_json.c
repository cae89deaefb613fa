/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/snarkjs_json.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_vk vk;
    unsigned notes = 0;
    cuzk_error err = {0};
    if (cuzk_vk_from_json(&vk, data, size, &notes, NULL, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    CUZK_FUZZ_CHECK(vk.n_ic > 0 && vk.ic != NULL);
    CUZK_FUZZ_CHECK(cuzk_vk_check(&vk, NULL, NULL) == CUZK_OK);
    cuzk_vk_clear(&vk);
}
