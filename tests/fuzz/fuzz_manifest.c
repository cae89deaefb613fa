/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "filecoin/param_manifest.h"
#include "fuzz.h"

#include <string.h>

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_manifest m;
    cuzk_error err = {0};
    if (cuzk_manifest_read(&m, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && m.entries == NULL);
        return;
    }
    for (unsigned i = 0; i < m.n; i++) {
        CUZK_FUZZ_CHECK(m.entries[i].name[0] != 0 && strchr(m.entries[i].name, '/') == NULL);
    }
    cuzk_manifest_clear(&m);
}
