/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/utf8.h"

size_t cuzk_utf8_length(const uint8_t *s, size_t n)
{
    if (s[0] < 0x80) {
        return 1;
    }
    /* the second byte's range also excludes overlong forms, surrogates and what is above 10FFFF */
    size_t length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                    : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                    : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > n) {
        return 0;
    }
    uint8_t lo = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t hi = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < lo || s[1] > hi) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}
