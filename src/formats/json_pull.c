/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one place that touches yajl. A piece of PIECE_BYTES gives at most one token a byte, and one
 * more that began in an earlier piece, so the queue has a fixed size; the texts of a piece's tokens
 * lie in one buffer that grows with the longest string. */
#include "formats/json_pull.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

enum { PIECE_BYTES = 256, QUEUE_MAX = PIECE_BYTES + 2 };

/* A token whose text is still an offset: the buffer may move while the piece is read. */
typedef struct {
    cuzk_json_kind kind;
    unsigned depth;
    uint64_t offset;
    size_t text_at, size;
} queued;

struct cuzk_json_stream {
    yajl_handle yajl;
    uint64_t fed;   /* bytes given to yajl in earlier pieces */
    unsigned depth; /* containers open, as yajl sees it */
    bool too_deep, no_memory, complete;
    bool any;       /* a token was read */
    size_t n, next; /* tokens in the queue, the one to give next */
    queued queue[QUEUE_MAX];
    char *texts;
    size_t n_texts, texts_capacity;
};

typedef struct cuzk_json_stream stream;

/* Append a token that ends at yajl's present position. quotes: bytes around the text. Returns what
 * a callback returns: 0 stops the parser. */
static int push(stream *s, cuzk_json_kind kind, const unsigned char *text, size_t size,
                size_t quotes)
{
    if (s->n_texts + size > s->texts_capacity) {
        size_t capacity = 2 * (s->n_texts + size) + PIECE_BYTES;
        char *grown = realloc(s->texts, capacity);
        if (grown == NULL) {
            s->no_memory = true;
            return 0;
        }
        s->texts = grown;
        s->texts_capacity = capacity;
    }
    if (size > 0) {
        memcpy(s->texts + s->n_texts, text, size);
    }
    uint64_t end = s->fed + yajl_get_bytes_consumed(s->yajl);
    uint64_t length = size + quotes;
    s->queue[s->n++] = (queued){.kind = kind,
                                .depth = s->depth,
                                .offset = end > length ? end - length : 0,
                                .text_at = s->n_texts,
                                .size = size};
    s->n_texts += size;
    s->any = true;
    return 1;
}

static int on_null(void *ctx)
{
    return push(ctx, CUZK_JSON_NULL, NULL, 0, strlen("null"));
}

static int on_boolean(void *ctx, int value)
{
    return value ? push(ctx, CUZK_JSON_TRUE, NULL, 0, strlen("true"))
                 : push(ctx, CUZK_JSON_FALSE, NULL, 0, strlen("false"));
}

static int on_number(void *ctx, const char *text, size_t size)
{
    return push(ctx, CUZK_JSON_NUMBER, (const unsigned char *)text, size, 0);
}

static int on_string(void *ctx, const unsigned char *text, size_t size)
{
    return push(ctx, CUZK_JSON_STRING, text, size, 2);
}

static int on_key(void *ctx, const unsigned char *text, size_t size)
{
    return push(ctx, CUZK_JSON_KEY, text, size, 2);
}

static int open_container(stream *s, cuzk_json_kind kind)
{
    if (s->depth == CUZK_JSON_DEPTH_MAX) {
        s->too_deep = true;
        return 0;
    }
    s->depth++;
    return push(s, kind, NULL, 0, 1);
}

static int close_container(stream *s, cuzk_json_kind kind)
{
    s->depth--;
    return push(s, kind, NULL, 0, 1);
}

static int on_object_begin(void *ctx)
{
    return open_container(ctx, CUZK_JSON_OBJECT_BEGIN);
}

static int on_object_end(void *ctx)
{
    return close_container(ctx, CUZK_JSON_OBJECT_END);
}

static int on_array_begin(void *ctx)
{
    return open_container(ctx, CUZK_JSON_ARRAY_BEGIN);
}

static int on_array_end(void *ctx)
{
    return close_container(ctx, CUZK_JSON_ARRAY_END);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object_begin,
    .yajl_map_key = on_key,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array_begin,
    .yajl_end_array = on_array_end,
};

void cuzk_json_init(cuzk_json *json, const uint8_t *data, uint64_t size)
{
    *json = (cuzk_json){.data = data, .size = size};
}

void cuzk_json_clear(cuzk_json *json)
{
    if (json->stream != NULL) {
        if (json->stream->yajl != NULL) {
            yajl_free(json->stream->yajl);
        }
        free(json->stream->texts);
        free(json->stream);
        json->stream = NULL;
    }
}

cuzk_status cuzk_json_fail(const cuzk_json *json, uint64_t offset, cuzk_error *err,
                           cuzk_status status, const char *fmt, ...)
{
    uint64_t line = 1;
    uint64_t column = 1;
    for (uint64_t i = 0; i < offset && i < json->size; i++) {
        column++;
        if (json->data[i] == '\n') {
            line++;
            column = 1;
        }
    }
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return CUZK_FAIL(err, status, "line %" PRIu64 ", column %" PRIu64 ": %s", line, column, text);
}

/* yajl's own words for an error, on one line, without its "parse error:" and its excerpt. */
static cuzk_status fail_parse(const cuzk_json *json, uint64_t piece, cuzk_error *err)
{
    stream *s = json->stream;
    uint64_t read = s->fed + yajl_get_bytes_consumed(s->yajl);
    uint64_t at = read > 0 ? read - 1 : 0; /* yajl stands behind the byte it refuses */
    CUZK_FAIL_IF(s->no_memory, err, CUZK_E_MEMORY, "reading JSON: out of memory");
    if (s->too_deep) {
        return cuzk_json_fail(json, at, err, CUZK_E_FORMAT, "nested deeper than %d levels",
                              CUZK_JSON_DEPTH_MAX);
    }
    char reason[160] = "not JSON";
    unsigned char *text = yajl_get_error(s->yajl, 0, json->data + s->fed, (size_t)piece);
    if (text != NULL) {
        snprintf(reason, sizeof reason, "%s", (const char *)text);
        reason[strcspn(reason, "\n")] = '\0';
        yajl_free_error(s->yajl, text);
    }
    return cuzk_json_fail(json, at, err, CUZK_E_FORMAT, "%s", reason);
}

static cuzk_status start(cuzk_json *json, cuzk_error *err)
{
    json->stream = calloc(1, sizeof *json->stream);
    CUZK_FAIL_IF(json->stream == NULL, err, CUZK_E_MEMORY, "reading JSON: out of memory");
    json->stream->yajl = yajl_alloc(&callbacks, NULL, json->stream);
    CUZK_FAIL_IF(json->stream->yajl == NULL, err, CUZK_E_MEMORY, "reading JSON: out of memory");
    return CUZK_OK;
}

/* Feed pieces until a token waits. */
static cuzk_status fill(cuzk_json *json, cuzk_error *err)
{
    stream *s = json->stream;
    s->n = s->next = s->n_texts = 0;
    uint64_t begin = s->fed;
    while (s->n == 0) {
        if (s->fed - begin > CUZK_JSON_TOKEN_BYTES_MAX) {
            return cuzk_json_fail(json, begin, err, CUZK_E_FORMAT,
                                  "white space or a string of more than %d bytes",
                                  CUZK_JSON_TOKEN_BYTES_MAX);
        }
        uint64_t piece = json->size - s->fed;
        if (piece == 0) {
            if (s->complete) {
                s->queue[s->n++] = (queued){.kind = CUZK_JSON_END, .offset = json->size};
                return CUZK_OK;
            }
            s->complete = true;
            bool whole = s->any && s->depth == 0;
            if (yajl_complete_parse(s->yajl) != yajl_status_ok) {
                if (whole) {
                    return cuzk_json_fail(json, json->size, err, CUZK_E_FORMAT,
                                          "there is something behind the value");
                }
                return cuzk_json_fail(json, json->size, err, CUZK_E_TRUNCATED,
                                      "the text ends too early");
            }
            continue;
        }
        piece = piece < PIECE_BYTES ? piece : PIECE_BYTES;
        if (yajl_parse(s->yajl, json->data + s->fed, (size_t)piece) != yajl_status_ok) {
            return fail_parse(json, piece, err);
        }
        s->fed += piece;
    }
    return CUZK_OK;
}

cuzk_status cuzk_json_next(cuzk_json *json, cuzk_json_token *out, cuzk_error *err)
{
    if (json->stream == NULL) {
        CUZK_TRY(start(json, err));
    }
    stream *s = json->stream;
    if (s->next == s->n) {
        CUZK_TRY(fill(json, err));
    }
    const queued *q = &s->queue[s->next++];
    json->depth = q->depth;
    *out = (cuzk_json_token){.kind = q->kind,
                             .offset = q->offset,
                             .text = q->size > 0 ? s->texts + q->text_at : "",
                             .size = q->size};
    return CUZK_OK;
}

cuzk_status cuzk_json_skip(cuzk_json *json, const cuzk_json_token *token, cuzk_error *err)
{
    if (token->kind != CUZK_JSON_OBJECT_BEGIN && token->kind != CUZK_JSON_ARRAY_BEGIN) {
        return CUZK_OK;
    }
    unsigned outside = json->depth - 1;
    cuzk_json_token t;
    do {
        CUZK_TRY(cuzk_json_next(json, &t, err));
    } while (json->depth > outside);
    return CUZK_OK;
}

int cuzk_json_text(const cuzk_json_token *token, char *out, size_t out_size)
{
    if (token->size >= out_size || token->size > INT32_MAX ||
        (token->size > 0 && memchr(token->text, 0, token->size) != NULL)) {
        return -1;
    }
    if (token->size > 0) {
        memcpy(out, token->text, token->size);
    }
    out[token->size] = '\0';
    return (int)token->size;
}

const char *cuzk_json_kind_text(cuzk_json_kind kind)
{
    switch (kind) {
    case CUZK_JSON_OBJECT_BEGIN:
        return "an object";
    case CUZK_JSON_ARRAY_BEGIN:
        return "an array";
    case CUZK_JSON_OBJECT_END:
        return "the end of an object";
    case CUZK_JSON_ARRAY_END:
        return "the end of an array";
    case CUZK_JSON_KEY:
        return "a key";
    case CUZK_JSON_STRING:
        return "a string";
    case CUZK_JSON_NUMBER:
        return "a number";
    case CUZK_JSON_TRUE:
    case CUZK_JSON_FALSE:
        return "true or false";
    case CUZK_JSON_NULL:
        return "null";
    case CUZK_JSON_END:
        return "the end of the text";
    }
    return "something else";
}
