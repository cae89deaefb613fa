/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/snarkjs_json.h"
#include "fuzz.h"

#include <string.h>

enum { VALUES_MAX = 512 }; /* a caller's array: its size does not come from the text */

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    static uint8_t values[VALUES_MAX * 32];
    static uint8_t again[VALUES_MAX * 32];
    const cuzk_curve *curve = cuzk_curve_get(CUZK_CURVE_BN254);
    cuzk_error err = {0};
    uint64_t n = 0;
    if (cuzk_public_json_count(&n, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    CUZK_FUZZ_CHECK(n <= size);
    if (n > VALUES_MAX || cuzk_public_from_json(values, n, data, size, curve, &err) != CUZK_OK) {
        return;
    }
    cuzk_text text = {0};
    cuzk_public_to_json(&text, values, n, CUZK_JSON_INDENTED);
    CUZK_FUZZ_CHECK(!text.failed);
    CUZK_FUZZ_CHECK(text.size <= cuzk_public_json_bytes_max(curve, n, CUZK_JSON_INDENTED));
    CUZK_FUZZ_CHECK(cuzk_public_from_json(again, n, (const uint8_t *)text.data, text.size, curve,
                                          NULL) == CUZK_OK);
    CUZK_FUZZ_CHECK(memcmp(again, values, (size_t)n * 32) == 0);
    cuzk_text_clear(&text);
}
