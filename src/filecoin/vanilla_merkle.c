/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/vanilla_merkle.h"

#include "base/bytes.h"

#include <stdio.h>

/* The order of the scalar field of BLS12-381, most significant word first. */
static const uint64_t order[4] = {0x73eda753299d7d48, 0x3339d80809a1d805, 0x53bda402fffe5bfe,
                                  0xffffffff00000001};

bool cuzk_digest_is_fr(const cuzk_digest *digest)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t word = cuzk_load_u64_le(digest->b + 8 * (3 - i));
        if (word != order[i]) {
            return word < order[i];
        }
    }
    return false;
}

char *cuzk_digest_hex(char out[CUZK_DIGEST_HEX_MAX], const cuzk_digest *digest)
{
    for (unsigned i = 0; i < sizeof digest->b; i++) {
        snprintf(out + 2 * i, 3, "%02x", digest->b[i]);
    }
    return out;
}
