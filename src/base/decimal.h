/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Big integers as decimal text, for messages and JSON. */
#ifndef CUZK_BASE_DECIMAL_H
#define CUZK_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum {
    CUZK_DECIMAL_BYTES_MAX = 64, /* longest value: 512 bits */
    CUZK_DECIMAL_MAX = 156       /* its digits and the terminating NUL */
};

/** Write the n_bytes (≤ CUZK_DECIMAL_BYTES_MAX) little-endian bytes as decimal digits without
 *  leading zeros. out: CUZK_DECIMAL_MAX characters. Returns out. */
char *cuzk_decimal_from_le(char *out, const void *value_le, size_t n_bytes);

#endif
