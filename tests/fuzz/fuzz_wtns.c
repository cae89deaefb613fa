/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/wtns.h"
#include "fuzz.h"

#include <string.h>

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_wtns w;
    cuzk_error err = {0};
    if (cuzk_wtns_open(&w, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    CUZK_FUZZ_CHECK(cuzk_fuzz_inside(w.values, w.n_values * 32, data, size));
    CUZK_FUZZ_CHECK(cuzk_wtns_check(&w, NULL, &err) == err.status);
    /* written again, it reads the same */
    uint64_t n = cuzk_wtns_file_bytes(w.n_values);
    uint8_t *out = (uint8_t *)malloc((size_t)n);
    cuzk_wtns again;
    CUZK_FUZZ_CHECK(out != NULL);
    cuzk_wtns_write(out, w.curve, w.values, w.n_values);
    CUZK_FUZZ_CHECK(cuzk_wtns_open(&again, out, n, NULL) == CUZK_OK);
    CUZK_FUZZ_CHECK(again.curve == w.curve && again.n_values == w.n_values);
    CUZK_FUZZ_CHECK(w.n_values == 0 || memcmp(again.values, w.values, w.n_values * 32) == 0);
    free(out);
}
