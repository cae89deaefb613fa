/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/params.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_params p;
    cuzk_error err = {0};
    uint64_t file_bytes = cuzk_params_file_bytes(data, size);
    CUZK_FUZZ_CHECK(file_bytes <= size);
    if (cuzk_params_open(&p, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    CUZK_FUZZ_CHECK(file_bytes != 0);
    for (int k = 0; k < CUZK_PARAMS_ARRAY_COUNT; k++) {
        uint64_t each = k == CUZK_PARAMS_B_G2 ? 192 : 96;
        CUZK_FUZZ_CHECK(cuzk_fuzz_inside(p.arrays[k].data, p.arrays[k].n * each, data, size));
    }
    CUZK_FUZZ_CHECK(cuzk_params_check(&p, NULL, NULL, &err) == err.status);
}
