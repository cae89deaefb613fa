/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/quote.h"

#include "base/utf8.h"

#include <string.h>

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
        size_t n = cuzk_utf8_length(p, strnlen((const char *)p, 4));
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
