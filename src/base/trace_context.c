/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/trace_context.h"

#include <string.h>

enum { LENGTH = 2 + 1 + 32 + 1 + 16 + 1 + 2, TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 };

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: a character that is no digit, or all bytes are 0 where that is not `zero_is_fine`. */
static bool read_hex(uint8_t *out, size_t n_bytes, const char *text, bool zero_is_fine)
{
    bool is_zero = true;
    for (size_t i = 0; i < n_bytes; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(16 * high + low);
        is_zero = is_zero && out[i] == 0;
    }
    return !is_zero || zero_is_fine;
}

bool cuzk_trace_context_read(cuzk_trace_context *out, const char *text, size_t n_chars)
{
    cuzk_trace_context read = {.is_set = true};
    uint8_t version, flags;
    memset(out, 0, sizeof *out);
    if (n_chars < LENGTH || text[2] != '-' || text[SPAN_AT - 1] != '-' ||
        text[FLAGS_AT - 1] != '-' || !read_hex(&version, 1, text, true) || version == 0xff ||
        (n_chars > LENGTH && (version == 0 || text[LENGTH] != '-')) ||
        !read_hex(read.trace, sizeof read.trace, text + TRACE_AT, false) ||
        !read_hex(read.span, sizeof read.span, text + SPAN_AT, false) ||
        !read_hex(&flags, 1, text + FLAGS_AT, true)) {
        return false;
    }
    read.is_sampled = (flags & 1) != 0;
    *out = read;
    return true;
}
