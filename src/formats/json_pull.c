/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/json_pull.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    STATE_VALUE,        /* a value must come */
    STATE_VALUE_OR_END, /* behind '[' */
    STATE_KEY,          /* behind ',' in an object */
    STATE_KEY_OR_END,   /* behind '{' */
    STATE_MORE_OR_END,  /* behind a value in a container: ',' or the closing bracket */
    STATE_DONE          /* behind the top value */
};

void cuzk_json_init(cuzk_json *json, const uint8_t *data, uint64_t size)
{
    *json = (cuzk_json){.data = data, .size = size, .state = STATE_VALUE};
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

static cuzk_status fail_here(const cuzk_json *j, cuzk_error *err, const char *expected)
{
    if (j->offset >= j->size) {
        return cuzk_json_fail(j, j->offset, err, CUZK_E_TRUNCATED, "the text ends, expected %s",
                              expected);
    }
    unsigned c = j->data[j->offset];
    if (c > 0x20 && c < 0x7f) {
        return cuzk_json_fail(j, j->offset, err, CUZK_E_FORMAT, "found '%c', expected %s", (int)c,
                              expected);
    }
    return cuzk_json_fail(j, j->offset, err, CUZK_E_FORMAT, "found byte 0x%02x, expected %s", c,
                          expected);
}

static int peek(const cuzk_json *j)
{
    return j->offset < j->size ? j->data[j->offset] : -1;
}

static void skip_space(cuzk_json *j)
{
    int c = peek(j);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        j->offset++;
        c = peek(j);
    }
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* At the opening quote. */
static cuzk_status read_string(cuzk_json *j, cuzk_json_token *out, cuzk_error *err)
{
    j->offset++;
    uint64_t begin = j->offset;
    for (;;) {
        int c = peek(j);
        if (c == '"') {
            break;
        }
        if (c < 0x20) {
            return fail_here(j, err, "the end of a string");
        }
        j->offset++;
        if (c != '\\') {
            continue;
        }
        c = peek(j);
        if (c == 'u') {
            for (int k = 0; k < 4; k++) {
                j->offset++;
                if (!is_hex(peek(j))) {
                    return fail_here(j, err, "four hexadecimal digits");
                }
            }
        } else if (c <= 0 || strchr("\"\\/bfnrt", c) == NULL) {
            return fail_here(j, err, "an escape");
        }
        j->offset++;
    }
    out->text = (const char *)j->data + begin;
    out->size = j->offset - begin;
    j->offset++;
    return CUZK_OK;
}

static cuzk_status read_digits(cuzk_json *j, cuzk_error *err)
{
    if (!is_digit(peek(j))) {
        return fail_here(j, err, "a digit");
    }
    while (is_digit(peek(j))) {
        j->offset++;
    }
    return CUZK_OK;
}

static cuzk_status read_number(cuzk_json *j, cuzk_json_token *out, cuzk_error *err)
{
    uint64_t begin = j->offset;
    if (peek(j) == '-') {
        j->offset++;
    }
    if (peek(j) == '0') {
        j->offset++;
    } else {
        CUZK_TRY(read_digits(j, err));
    }
    if (peek(j) == '.') {
        j->offset++;
        CUZK_TRY(read_digits(j, err));
    }
    if (peek(j) == 'e' || peek(j) == 'E') {
        j->offset++;
        if (peek(j) == '+' || peek(j) == '-') {
            j->offset++;
        }
        CUZK_TRY(read_digits(j, err));
    }
    out->kind = CUZK_JSON_NUMBER;
    out->text = (const char *)j->data + begin;
    out->size = j->offset - begin;
    return CUZK_OK;
}

static cuzk_status read_word(cuzk_json *j, const char *word, cuzk_error *err)
{
    for (const char *p = word; *p != 0; p++, j->offset++) {
        if (peek(j) != *p) {
            return fail_here(j, err, word);
        }
    }
    return CUZK_OK;
}

static void after_value(cuzk_json *j)
{
    j->state = j->depth == 0 ? STATE_DONE : STATE_MORE_OR_END;
}

static cuzk_status open_container(cuzk_json *j, bool object, cuzk_error *err)
{
    if (j->depth == CUZK_JSON_DEPTH_MAX) {
        return cuzk_json_fail(j, j->offset, err, CUZK_E_FORMAT, "nested deeper than %d levels",
                              CUZK_JSON_DEPTH_MAX);
    }
    uint64_t bit = (uint64_t)1 << j->depth;
    j->is_object = object ? j->is_object | bit : j->is_object & ~bit;
    j->depth++;
    j->offset++;
    j->state = object ? STATE_KEY_OR_END : STATE_VALUE_OR_END;
    return CUZK_OK;
}

static void close_container(cuzk_json *j)
{
    j->depth--;
    j->offset++;
    after_value(j);
}

static cuzk_status read_value(cuzk_json *j, cuzk_json_token *out, cuzk_error *err)
{
    int c = peek(j);
    switch (c) {
    case '{':
        out->kind = CUZK_JSON_OBJECT_BEGIN;
        return open_container(j, true, err);
    case '[':
        out->kind = CUZK_JSON_ARRAY_BEGIN;
        return open_container(j, false, err);
    case '"':
        out->kind = CUZK_JSON_STRING;
        CUZK_TRY(read_string(j, out, err));
        break;
    case 't':
        out->kind = CUZK_JSON_TRUE;
        CUZK_TRY(read_word(j, "true", err));
        break;
    case 'f':
        out->kind = CUZK_JSON_FALSE;
        CUZK_TRY(read_word(j, "false", err));
        break;
    case 'n':
        out->kind = CUZK_JSON_NULL;
        CUZK_TRY(read_word(j, "null", err));
        break;
    default:
        if (c != '-' && !is_digit(c)) {
            return fail_here(j, err, "a value");
        }
        CUZK_TRY(read_number(j, out, err));
        break;
    }
    after_value(j);
    return CUZK_OK;
}

static cuzk_status read_key(cuzk_json *j, cuzk_json_token *out, cuzk_error *err)
{
    if (peek(j) != '"') {
        return fail_here(j, err, "a key in quotes");
    }
    out->kind = CUZK_JSON_KEY;
    CUZK_TRY(read_string(j, out, err));
    skip_space(j);
    if (peek(j) != ':') {
        return fail_here(j, err, "':'");
    }
    j->offset++;
    j->state = STATE_VALUE;
    return CUZK_OK;
}

cuzk_status cuzk_json_next(cuzk_json *json, cuzk_json_token *out, cuzk_error *err)
{
    bool object = json->depth > 0 && (json->is_object >> (json->depth - 1) & 1) != 0;
    int closing = object ? '}' : ']';
    skip_space(json);
    if (json->state == STATE_MORE_OR_END && peek(json) == ',') {
        json->offset++;
        json->state = object ? STATE_KEY : STATE_VALUE;
        skip_space(json);
    }
    *out = (cuzk_json_token){.offset = json->offset};
    bool may_end = json->state == STATE_MORE_OR_END || json->state == STATE_VALUE_OR_END ||
                   json->state == STATE_KEY_OR_END;
    if (may_end && peek(json) == closing) {
        out->kind = object ? CUZK_JSON_OBJECT_END : CUZK_JSON_ARRAY_END;
        close_container(json);
        return CUZK_OK;
    }
    switch (json->state) {
    case STATE_MORE_OR_END:
        return fail_here(json, err, object ? "',' or '}'" : "',' or ']'");
    case STATE_KEY:
    case STATE_KEY_OR_END:
        return read_key(json, out, err);
    case STATE_DONE:
        if (peek(json) >= 0) {
            return fail_here(json, err, "nothing more");
        }
        out->kind = CUZK_JSON_END;
        return CUZK_OK;
    default:
        return read_value(json, out, err);
    }
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

static unsigned hex4(const char *p)
{
    unsigned v = 0;
    for (int k = 0; k < 4; k++) {
        unsigned c = (unsigned char)p[k];
        v = v << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

/* Decodes the escape behind a backslash at p; *taken: characters used. Surrogates that do not pair
 * up stay what they are: the text then matches nothing that this layer looks for. */
static unsigned decode_escape(const char *p, size_t left, size_t *taken)
{
    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    *taken = 1;
    if (*p != 'u') {
        const char *at = strchr(from, *p);
        return (unsigned char)(at != NULL ? to[at - from] : *p);
    }
    *taken = 5;
    unsigned v = hex4(p + 1);
    if (v >= 0xd800 && v < 0xdc00 && left >= 11 && p[5] == '\\' && p[6] == 'u') {
        unsigned low = hex4(p + 7);
        if (low >= 0xdc00 && low < 0xe000) {
            *taken = 11;
            v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return v;
}

static size_t encode_utf8(char *out, unsigned v)
{
    if (v < 0x80) {
        out[0] = (char)v;
        return 1;
    }
    size_t n = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (size_t k = n; k-- > 1; v >>= 6) {
        out[k] = (char)(0x80 | (v & 0x3f));
    }
    out[0] = (char)((0xf00 >> n & 0xff) | v);
    return n;
}

int cuzk_json_text(const cuzk_json_token *token, char *out, size_t out_size)
{
    size_t n = 0;
    for (uint64_t i = 0; i < token->size;) {
        unsigned v = (unsigned char)token->text[i++];
        char piece[4] = {(char)v};
        size_t n_piece = 1;
        if (v == '\\') {
            size_t taken;
            v = decode_escape(token->text + i, (size_t)(token->size - i), &taken);
            i += taken;
            n_piece = encode_utf8(piece, v);
        }
        if (v == 0 || n + n_piece >= out_size) {
            return -1;
        }
        memcpy(out + n, piece, n_piece);
        n += n_piece;
    }
    if (out_size == 0) {
        return -1;
    }
    out[n] = 0;
    return (int)n;
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
