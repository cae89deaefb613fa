/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bits above the length of r are cleared before the comparison, so a draw is kept with probability
 * above one half. */
#include "groth16/fr_random.h"

#include "base/bytes.h"
#include "base/random.h"

#include <string.h>

cuzk_status cuzk_fr_random(const cuzk_curve *curve, cuzk_fr *out, cuzk_error *err)
{
    uint8_t bytes[32];
    unsigned spare = (unsigned)__builtin_clzll(curve->r[3]);
    memset(out, 0, sizeof *out);
    cuzk_status status;
    do {
        status = cuzk_random_bytes(bytes, sizeof bytes, err);
        bytes[31] &= (uint8_t)(0xff >> spare);
    } while (status == CUZK_OK && !curve->fr_from_canonical_le(out, bytes));
    cuzk_wipe(bytes, sizeof bytes);
    return status;
}

cuzk_status cuzk_fr_random_128(const cuzk_curve *curve, cuzk_fr *out, size_t n, cuzk_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32] = {0};
        do {
            CUZK_TRY(cuzk_random_bytes(bytes, 16, err));
        } while (!curve->fr_from_canonical_le(&out[i], bytes) ||
                 (out[i].l[0] | out[i].l[1] | out[i].l[2] | out[i].l[3]) == 0);
    }
    return CUZK_OK;
}
