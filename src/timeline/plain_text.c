/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/plain_text.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Control characters, those of eight bits too, separators of lines, and changes of direction. */
static bool is_control(const uint8_t *s, size_t length)
{
    static const struct {
        const char *first, *last; /* of a range */
    } ranges[] = {{"\x01", "\x1f"},
                  {"\x7f", "\x7f"},
                  {"\xc2\x80", "\xc2\x9f"},
                  {"\xe2\x80\xa8", "\xe2\x80\xae"},
                  {"\xe2\x81\xa6", "\xe2\x81\xa9"}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (strlen(ranges[i].first) == length && memcmp(s, ranges[i].first, length) >= 0 &&
            memcmp(s, ranges[i].last, length) <= 0) {
            return true;
        }
    }
    return false;
}

void cuzk_plain_text(char *text)
{
    uint8_t *s = (uint8_t *)text;
    for (size_t n = strlen(text); n > 0;) {
        size_t length = cuzk_utf8_length(s, n);
        if (length == 0 || is_control(s, length)) {
            *s = '?';
            length = 1;
        }
        s += length;
        n -= length;
    }
}
