/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <stdint.h>
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
