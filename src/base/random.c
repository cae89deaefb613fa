/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

cuzk_status cuzk_random_bytes(void *out, size_t n_bytes, cuzk_error *err)
{
    uint8_t *p = out;
    while (n_bytes > 0) {
        ssize_t k = getrandom(p, n_bytes, 0);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        CUZK_FAIL_IF(k <= 0, err, CUZK_E_INTERNAL, "reading the system's random generator: %s",
                     strerror(errno));
        p += k;
        n_bytes -= (size_t)k;
    }
    return CUZK_OK;
}

cuzk_status cuzk_random_uuid(char id[CUZK_UUID_BYTES], cuzk_error *err)
{
    uint8_t b[16];
    CUZK_TRY(cuzk_random_bytes(b, sizeof b, err));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    char *at = id;
    for (int i = 0; i < 16; i++) {
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    }
    return CUZK_OK;
}
