/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n_bytes more and a NUL. */
static bool reserve(cuzk_text *t, size_t n_bytes)
{
    if (t->failed || n_bytes >= (size_t)-1 - t->size) {
        t->failed = true;
        return false;
    }
    size_t needed = t->size + n_bytes + 1;
    if (needed <= t->capacity) {
        return true;
    }
    size_t capacity = t->capacity < 256 ? 256 : t->capacity + t->capacity / 2;
    capacity = capacity < needed ? needed : capacity;
    char *data = realloc(t->data, capacity);
    if (data == NULL) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void cuzk_text_put_bytes(cuzk_text *text, const char *s, size_t n_bytes)
{
    if (reserve(text, n_bytes)) {
        if (n_bytes > 0) { /* s may be NULL then */
            memcpy(text->data + text->size, s, n_bytes);
        }
        text->size += n_bytes;
        text->data[text->size] = 0;
    }
}

char *cuzk_text_room(cuzk_text *text, size_t n_bytes)
{
    return reserve(text, n_bytes) ? text->data + text->size : NULL;
}

void cuzk_text_put(cuzk_text *text, const char *s)
{
    cuzk_text_put_bytes(text, s, strlen(s));
}

void cuzk_text_printf(cuzk_text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0 || !reserve(text, (size_t)n)) {
        text->failed = true;
        return;
    }
    va_start(args, fmt);
    vsnprintf(text->data + text->size, (size_t)n + 1, fmt, args);
    va_end(args);
    text->size += (size_t)n;
}

void cuzk_text_put_json_string(cuzk_text *text, const char *s)
{
    cuzk_text_put(text, "\"");
    for (; *s != 0; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            char escaped[2] = {'\\', (char)c};
            cuzk_text_put_bytes(text, escaped, 2);
        } else if (c < 0x20 || c == 0x7f) {
            cuzk_text_printf(text, "\\u%04x", c);
        } else {
            cuzk_text_put_bytes(text, s, 1);
        }
    }
    cuzk_text_put(text, "\"");
}

cuzk_status cuzk_text_check(const cuzk_text *text, cuzk_error *err)
{
    CUZK_FAIL_IF(text->failed, err, CUZK_E_MEMORY,
                 "out of memory while writing a text of %zu bytes", text->size);
    return CUZK_OK;
}

void cuzk_text_clear(cuzk_text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}
