/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A pull parser for JSON (RFC 8259) over bytes in memory: one token a call, no allocation, nesting
 * bounded by a constant. A document tree would need many times the text's size in memory, which
 * hostile input could exploit; the files of this layer need no tree.
 *
 * Strings are checked for escapes and control characters, not for UTF-8. */
#ifndef CUZK_FORMATS_JSON_PULL_H
#define CUZK_FORMATS_JSON_PULL_H

#include "base/status.h"

#include <stdint.h>

enum { CUZK_JSON_DEPTH_MAX = 64 };

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
    uint64_t offset;  /* of the token's first byte */
    const char *text; /* KEY, STRING: between the quotes, escapes left in; NUMBER: as written */
    uint64_t size;    /* of text */
} cuzk_json_token;

typedef struct {
    const uint8_t *data;
    uint64_t size;
    uint64_t offset;    /* of the next byte to read */
    uint64_t is_object; /* bit d: the container at depth d + 1 is an object */
    unsigned depth;
    unsigned state; /* what may come next; private */
} cuzk_json;

/** Start before the first token. data: borrowed. */
void cuzk_json_init(cuzk_json *json, const uint8_t *data, uint64_t size);

/** The next token. Errors: E_FORMAT, with line and column (text that is not JSON; nested deeper
 * than CUZK_JSON_DEPTH_MAX), E_TRUNCATED (the text ends too early). After an error, or after END,
 * the parser must not be used. */
cuzk_status cuzk_json_next(cuzk_json *json, cuzk_json_token *out, cuzk_error *err) CUZK_WARN_UNUSED;

/** Skip the rest of the value whose first token was `token`. */
cuzk_status cuzk_json_skip(cuzk_json *json, const cuzk_json_token *token,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Decode a KEY or STRING into out, NUL-terminated (\u escapes become UTF-8). Returns its length,
 *  or -1 when it does not fit out_size or holds the character 0. */
int cuzk_json_text(const cuzk_json_token *token, char *out, size_t out_size);

/** Fail with "line L, column C: <text>". */
cuzk_status cuzk_json_fail(const cuzk_json *json, uint64_t offset, cuzk_error *err,
                           cuzk_status status, const char *fmt, ...) CUZK_PRINTF(5, 6);

/** Words for a token in messages: "a string", "an array", … */
const char *cuzk_json_kind_text(cuzk_json_kind kind);

#endif
