/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A growing text. Running out of memory is remembered and reported once, at the end, so that the
 * code that writes a text need not test every call. */
#ifndef CUZK_BASE_TEXT_H
#define CUZK_BASE_TEXT_H

#include "base/status.h"

/* All zero is an empty text. `data` is NUL-terminated whenever size > 0; may be NULL otherwise. */
typedef struct {
    char *data;
    size_t size; /* without the NUL */
    size_t capacity;
    bool failed; /* memory ran out: the text is not complete */
} cuzk_text;

/** Append n_bytes of text; s may be NULL for none. */
void cuzk_text_put_bytes(cuzk_text *text, const char *s, size_t n_bytes);

/** Room for n_bytes behind the text, to be written there and then added to its size (and the NUL
 *  with cuzk_text_put_bytes of none); NULL: memory ran out. */
char *cuzk_text_room(cuzk_text *text, size_t n_bytes);

/** Append a string. */
void cuzk_text_put(cuzk_text *text, const char *s);

/** Append formatted text. */
void cuzk_text_printf(cuzk_text *text, const char *fmt, ...) CUZK_PRINTF(2, 3);

/** Append a JSON string with its quotes; s is UTF-8. Quotes, backslashes and control characters are
 *  written as escapes. */
void cuzk_text_put_json_string(cuzk_text *text, const char *s);

/** CUZK_OK, or E_MEMORY when the text is not complete. */
cuzk_status cuzk_text_check(const cuzk_text *text, cuzk_error *err) CUZK_WARN_UNUSED;

/** Free and zero. */
void cuzk_text_clear(cuzk_text *text);

#endif
