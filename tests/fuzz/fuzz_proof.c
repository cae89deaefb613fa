/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/proof.h"
#include "fuzz.h"

#include <string.h>

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_proof_points proof;
    cuzk_error err = {0};
    if (cuzk_proof_points_read(&proof, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    uint8_t out[CUZK_PROOF_BYTES];
    CUZK_FUZZ_CHECK(cuzk_proof_points_write(out, &proof, NULL) == CUZK_OK);
    CUZK_FUZZ_CHECK(memcmp(out, data, sizeof out) == 0);
    CUZK_FUZZ_CHECK(cuzk_proof_points_check(&proof, NULL) == CUZK_OK);
}
