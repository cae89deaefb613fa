/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JSON (RFC 8259) over bytes in memory, one token a call.
 *
 * The parser is yajl. It pushes tokens at callbacks; here it is fed a small piece at a time and the
 * tokens of a piece wait in a queue, so that readers can pull them. There is no document tree: that
 * would need many times the text's size in memory, which hostile input could exploit. */
#ifndef CUZK_FORMATS_JSON_PULL_H
#define CUZK_FORMATS_JSON_PULL_H

#include "base/status.h"

#include <stdint.h>

enum {
    CUZK_JSON_DEPTH_MAX = 64,
    CUZK_JSON_TOKEN_BYTES_MAX = 1 << 18 /* white space or one string: bounds the memory used */
};

typedef enum {
    CUZK_JSON_OBJECT_BEGIN,
    CUZK_JSON_OBJECT_END,
    CUZK_JSON_ARRAY_BEGIN,
    CUZK_JSON_ARRAY_END,
    CUZK_JSON_KEY, /* of the value that follows */
    CUZK_JSON_STRING,
    CUZK_JSON_NUMBER,
    CUZK_JSON_TRUE,
    CUZK_JSON_FALSE,
    CUZK_JSON_NULL,
    CUZK_JSON_END /* only white space followed the value */
} cuzk_json_kind;

typedef struct {
    cuzk_json_kind kind;
    uint64_t offset; /* of the token's first byte (a little behind it where a string has escapes) */
    const char *text; /* KEY, STRING: decoded, UTF-8; NUMBER: as written; else NULL */
    uint64_t size;    /* of text */
} cuzk_json_token;

typedef struct {
    const uint8_t *data;
    uint64_t size;
    unsigned depth;                  /* containers open behind the last token */
    struct cuzk_json_stream *stream; /* private; NULL until the first token */
} cuzk_json;

/** Start before the first token. data: borrowed. End with cuzk_json_clear. */
void cuzk_json_init(cuzk_json *json, const uint8_t *data, uint64_t size);

/** Free what the parser holds. Safe on an all-zero struct and twice. */
void cuzk_json_clear(cuzk_json *json);

/** The next token; its text is valid until the next call.
 *
 *  Errors: E_FORMAT, with line and column (text that is not JSON; nested deeper than
 *  CUZK_JSON_DEPTH_MAX, more than CUZK_JSON_TOKEN_BYTES_MAX without a token), E_TRUNCATED (the text
 * ends too early), E_MEMORY. After an error, or after END, the parser must not be used. */
cuzk_status cuzk_json_next(cuzk_json *json, cuzk_json_token *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Skip the rest of the value whose first token was `token`. */
cuzk_status cuzk_json_skip(cuzk_json *json, const cuzk_json_token *token,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Copy the text of a KEY, STRING or NUMBER into out, NUL-terminated. Returns its length, or -1
 *  when it does not fit out_size or holds the character 0. */
int cuzk_json_text(const cuzk_json_token *token, char *out, size_t out_size);

/** Fail with "line L, column C: <text>". */
cuzk_status cuzk_json_fail(const cuzk_json *json, uint64_t offset, cuzk_error *err,
                           cuzk_status status, const char *fmt, ...) CUZK_PRINTF(5, 6);

/** Words for a token in messages: "a string", "an array", … */
const char *cuzk_json_kind_text(cuzk_json_kind kind);

#endif
