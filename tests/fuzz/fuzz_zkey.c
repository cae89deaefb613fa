/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/zkey_contributions.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_zkey key;
    cuzk_error err = {0};
    if (cuzk_zkey_open(&key, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    cuzk_zkey_query_view q[CUZK_ZKEY_QUERY_COUNT];
    cuzk_zkey_queries(&key, q);
    for (int i = 0; i < CUZK_ZKEY_QUERY_COUNT; i++) {
        size_t each = key.curve->g[q[i].group].affine_bytes;
        CUZK_FUZZ_CHECK(cuzk_fuzz_inside(q[i].points, q[i].n * each, data, size));
    }
    CUZK_FUZZ_CHECK(cuzk_fuzz_inside(key.coeffs, key.n_coeffs * CUZK_ZKEY_COEFF_BYTES, data, size));
    CUZK_FUZZ_CHECK(key.n_public < key.n_vars && key.n_public < key.domain_size);
    uint64_t offset = 0;
    cuzk_zkey_contribution c;
    for (uint32_t i = 0; i < key.n_contributions; i++) {
        if (cuzk_zkey_contribution_next(&key, &offset, &c, NULL) != CUZK_OK) {
            break;
        }
        CUZK_FUZZ_CHECK(cuzk_fuzz_inside(c.transcript, CUZK_TRANSCRIPT_BYTES + 8, data, size));
        CUZK_FUZZ_CHECK(memchr(c.name, 0, sizeof c.name) != NULL);
    }
    cuzk_error records = {0};
    CUZK_FUZZ_CHECK(cuzk_zkey_check_contributions(&key, &records) == records.status);
    CUZK_FUZZ_CHECK(cuzk_zkey_check(&key, NULL, NULL, &err) == err.status);
}
