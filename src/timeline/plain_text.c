/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/plain_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many bytes at s are a character of UTF-8 that can stand in a line: no control character, and
 * none that changes the direction of what follows. 0: none are. n > 0. */
static size_t plain_length(const uint8_t *s, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80       ? 1
                    : s[0] >> 5 == 6  ? 2
                    : s[0] >> 4 == 14 ? 3
                    : s[0] >> 3 == 30 ? 4
                                      : 0;
    if (length == 0 || length > n) {
        return 0;
    }
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (s[i] >> 6 != 2) {
            return 0;
        }
        c = c << 6 | (s[i] & 63);
    }
    bool is_wrong = c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000);
    bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
                      (c >= 0x2066 && c <= 0x2069);
    return is_wrong || is_control ? 0 : length;
}

void cuzk_plain_text(char *text)
{
    uint8_t *s = (uint8_t *)text;
    for (size_t n = strlen(text); n > 0;) {
        size_t length = plain_length(s, n);
        if (length == 0) {
            *s = '?';
            length = 1;
        }
        s += length;
        n -= length;
    }
}
