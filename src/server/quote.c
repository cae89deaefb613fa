/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/quote.h"

/* The length of the valid UTF-8 character at p, 0 if there is none. Overlong forms and surrogates
 * are no characters. */
static size_t character(const unsigned char *p)
{
    if (p[0] < 0x80) {
        return 1;
    }
    size_t n = p[0] >= 0xc2 && p[0] <= 0xdf   ? 2
               : (p[0] & 0xf0) == 0xe0        ? 3
               : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                              : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool bad = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
               (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90);
    return bad ? 0 : n;
}

void cuzk_text_put_quoted(cuzk_text *out, const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t end = out->size + CUZK_QUOTE_MAX;
    cuzk_text_put(out, "\"");
    while (*p != 0 && !out->failed) {
        if (out->size > end) {
            cuzk_text_put(out, "...");
            break;
        }
        size_t n = character(p);
        if (n == 0) {
            cuzk_text_put(out, "\xef\xbf\xbd");
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            cuzk_text_printf(out, "\\%c", *p);
        } else if (*p == '\n') {
            cuzk_text_put(out, "\\n");
        } else if (*p < 0x20 || *p == 0x7f) {
            cuzk_text_printf(out, "\\u%04x", *p);
        } else if (n == 2 && p[0] == 0xc2 && p[1] < 0xa0) {
            cuzk_text_printf(out, "\\u00%02x", p[1]); /* control characters above 127 */
        } else {
            cuzk_text_put_bytes(out, (const char *)p, n);
        }
        p += n;
    }
    cuzk_text_put(out, "\"");
}
