/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Big integers as decimal and hexadecimal text, for messages and JSON. */
#ifndef CUZK_BASE_DECIMAL_H
#define CUZK_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CUZK_DECIMAL_BYTES_MAX = 64, /* longest value: 512 bits */
    CUZK_DECIMAL_MAX = 156       /* its digits and the terminating NUL */
};

/** Write the n_bytes (≤ CUZK_DECIMAL_BYTES_MAX) little-endian bytes as decimal digits without
 *  leading zeros. out: CUZK_DECIMAL_MAX characters. Returns out. */
char *cuzk_decimal_from_le(char *out, const void *value_le, size_t n_bytes);

/** Read n_digits decimal digits (at least one; leading zeros allowed, no sign, no space) as n_bytes
 *  (≤ CUZK_DECIMAL_BYTES_MAX, a multiple of 8) little-endian bytes. False, with out undefined, when
 *  there is no digit, another character, or the number needs more bytes. */
bool cuzk_decimal_to_le(void *out, size_t n_bytes, const char *digits, size_t n_digits);

/** Same for hexadecimal digits of either case, without a prefix. */
bool cuzk_hex_to_le(void *out, size_t n_bytes, const char *digits, size_t n_digits);

#endif
