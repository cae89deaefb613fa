/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_BASE_UTF8_H
#define CUZK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** How many bytes at s are the next character of UTF-8 (RFC 3629: shortest form, no surrogates); 0:
 *  they are none. n > 0: bytes that are there. Pure. */
size_t cuzk_utf8_length(const uint8_t *s, size_t n);

#endif
