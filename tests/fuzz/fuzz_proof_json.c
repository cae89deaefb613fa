/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/snarkjs_json.h"
#include "fuzz.h"

#include <string.h>

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_proof_points proof;
    cuzk_proof_points again;
    unsigned notes = 0;
    cuzk_error err = {0};
    const cuzk_curve *bn254 = cuzk_curve_get(CUZK_CURVE_BN254);
    cuzk_status status = cuzk_proof_from_json(&proof, data, size, bn254, &notes, &err);
    CUZK_FUZZ_CHECK(status == err.status);
    cuzk_error_clear(&err);
    if (cuzk_proof_from_json(&proof, data, size, NULL, &notes, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    /* written in either layout, it reads the same */
    for (int style = 0; style < 2; style++) {
        cuzk_text text = {0};
        cuzk_proof_to_json(&text, &proof, (cuzk_json_style)style);
        CUZK_FUZZ_CHECK(!text.failed);
        CUZK_FUZZ_CHECK(text.size <=
                        cuzk_proof_json_bytes_max(proof.curve, (cuzk_json_style)style));
        CUZK_FUZZ_CHECK(cuzk_proof_from_json(&again, (const uint8_t *)text.data, text.size,
                                             proof.curve, &notes, NULL) == CUZK_OK);
        CUZK_FUZZ_CHECK(notes == 0 && memcmp(&again, &proof, sizeof proof) == 0);
        cuzk_text_clear(&text);
    }
}
