/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/vk.h"
#include "fuzz.h"

#include <string.h>

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_vk vk;
    cuzk_error err = {0};
    if (cuzk_vk_read(&vk, data, size, NULL, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    /* an encoding is unique: written again, the bytes are the same */
    uint64_t n = cuzk_vk_file_bytes(vk.n_ic);
    uint8_t *out = (uint8_t *)malloc((size_t)n);
    CUZK_FUZZ_CHECK(out != NULL && n <= size);
    CUZK_FUZZ_CHECK(cuzk_vk_write(out, n, &vk, NULL) == CUZK_OK);
    CUZK_FUZZ_CHECK(memcmp(out, data, (size_t)n) == 0);
    CUZK_FUZZ_CHECK(cuzk_vk_check(&vk, NULL, NULL) == CUZK_OK);
    free(out);
    cuzk_vk_clear(&vk);
}
