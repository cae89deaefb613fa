/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/r1cs_file.h"
#include "fuzz.h"

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_r1cs r;
    cuzk_error err = {0};
    if (cuzk_r1cs_open(&r, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0);
        return;
    }
    CUZK_FUZZ_CHECK(cuzk_fuzz_inside(r.constraints.data, r.constraints.size, data, size));
    CUZK_FUZZ_CHECK(cuzk_fuzz_inside(r.labels.data, r.labels.size, data, size));
    bool has_gates = r.n_custom_gates > 0 || r.n_custom_gate_uses > 0;
    CUZK_FUZZ_CHECK((cuzk_r1cs_require_groth16(&r, NULL) != CUZK_OK) == has_gates);
    cuzk_r1cs_iter iter;
    cuzk_r1cs_lc lc[3];
    bool more = true;
    uint64_t n = 0;
    cuzk_r1cs_begin(&iter, &r);
    while (cuzk_r1cs_next(&iter, lc, &more, &err) == CUZK_OK && more) {
        for (int k = 0; k < 3; k++) {
            for (uint32_t i = 0; i < lc[k].n_terms; i++) {
                CUZK_FUZZ_CHECK(cuzk_r1cs_term_wire(&lc[k], i) < r.n_wires);
                CUZK_FUZZ_CHECK(cuzk_fuzz_inside(cuzk_r1cs_term_value(&lc[k], i), 32, data, size));
            }
        }
        n++;
    }
    CUZK_FUZZ_CHECK(n <= r.n_constraints && (more || n == r.n_constraints));
}
