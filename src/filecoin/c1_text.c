/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The text at hand is either the whole input or a window over decoded base64. Every function asks
 * for the next byte through `look`, which fills the window when it is empty; the fast way of
 * cuzk_c1_digest asks for enough bytes in one piece and falls back to the slow one, which makes the
 * messages. */
#include "filecoin/c1_text.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A digest without white space: "[255,…,255]"; and what the word loads read beyond it. */
enum { DIGEST_TEXT_MAX = 32 * 4 + 1 + 8 };

/* One more element of a longer array than allowed is read as a value and then refused. */
enum { ARRAY_MAX = 1 << 20 };

void cuzk_c1_text_plain(cuzk_c1_text *text, const uint8_t *data, uint64_t size)
{
    *text = (cuzk_c1_text){.p = data, .begin = data, .end = data + size, .complete = true};
}

static uint64_t position(const cuzk_c1_text *text)
{
    return text->begin_offset + (uint64_t)(text->p - text->begin);
}

cuzk_status cuzk_c1_fail(const cuzk_c1_text *text, cuzk_error *err, cuzk_status status,
                         const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return CUZK_FAIL(err, status, "%s %" PRIu64 ": %s",
                     text->window != NULL ? "decoded offset" : "offset", position(text), what);
}

/* ---- base64 ---------------------------------------------------------------------------------- */

enum { NOT_BASE64 = 255 };

/* Value of a character of the standard alphabet. */
static unsigned base64_value(uint8_t c)
{
    static const uint8_t values[256] = {
#define UP(c) [c] = (c) - 'A' + 1
#define LO(c) [c] = (c) - 'a' + 27
        UP('A'),    UP('B'),    UP('C'),    UP('D'),    UP('E'),    UP('F'),    UP('G'),
        UP('H'),    UP('I'),    UP('J'),    UP('K'),    UP('L'),    UP('M'),    UP('N'),
        UP('O'),    UP('P'),    UP('Q'),    UP('R'),    UP('S'),    UP('T'),    UP('U'),
        UP('V'),    UP('W'),    UP('X'),    UP('Y'),    UP('Z'),    LO('a'),    LO('b'),
        LO('c'),    LO('d'),    LO('e'),    LO('f'),    LO('g'),    LO('h'),    LO('i'),
        LO('j'),    LO('k'),    LO('l'),    LO('m'),    LO('n'),    LO('o'),    LO('p'),
        LO('q'),    LO('r'),    LO('s'),    LO('t'),    LO('u'),    LO('v'),    LO('w'),
        LO('x'),    LO('y'),    LO('z'),    ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
        ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
        ['/'] = 64};
#undef UP
#undef LO
    return (uint8_t)(values[c] - 1); /* 0, for all others, becomes NOT_BASE64 */
}

static cuzk_status fail_base64(const cuzk_c1_text *text, const uint8_t *at, cuzk_error *err,
                               cuzk_status status, const char *what)
{
    return CUZK_FAIL(err, status, "offset %" PRIu64 ": base64: %s",
                     text->encoded_offset + (uint64_t)(at - text->encoded_begin), what);
}

/* The last group, or what is wrong with a group. */
static cuzk_status decode_tail(cuzk_c1_text *text, uint8_t **out, cuzk_error *err)
{
    const uint8_t *g = text->encoded;
    unsigned n = 0;
    uint32_t bits = 0;
    for (; n < 4 && g + n < text->encoded_end && base64_value(g[n]) != NOT_BASE64; n++) {
        bits |= base64_value(g[n]) << (18 - 6 * n);
    }
    if (g + n == text->encoded_end) {
        return fail_base64(text, g + n, err, CUZK_E_TRUNCATED, "the string does not end");
    }
    unsigned padding = 0;
    while (n >= 2 && n + padding < 4 && g + n + padding < text->encoded_end &&
           g[n + padding] == '=') {
        padding++;
    }
    const uint8_t *behind = g + n + padding;
    if (behind == text->encoded_end) {
        return fail_base64(text, behind, err, CUZK_E_TRUNCATED, "the string does not end");
    }
    if (*behind != '"') {
        char what[64];
        snprintf(what, sizeof what, "byte 0x%02x is not of the standard alphabet", *behind);
        return fail_base64(text, behind, err, CUZK_E_FORMAT, what);
    }
    if (n != 0 && n + padding != 4) {
        return fail_base64(text, behind, err, CUZK_E_FORMAT, "padding is missing at the end");
    }
    if (n != 0 && (bits & ((1u << (8 * (4 - n))) - 1)) != 0) {
        return fail_base64(text, behind, err, CUZK_E_FORMAT, "unused bits are set at the end");
    }
    for (unsigned i = 1; i < n; i++) {
        *(*out)++ = (uint8_t)(bits >> (24 - 8 * i));
    }
    text->encoded = behind;
    text->complete = true;
    return CUZK_OK;
}

/* Move what is not read to the window's start and decode until the window is full. */
static cuzk_status fill(cuzk_c1_text *text, cuzk_error *err)
{
    size_t kept = (size_t)(text->end - text->p);
    text->begin_offset = position(text);
    memmove(text->window, text->p, kept);
    uint8_t *out = text->window + kept;
    const uint8_t *full = text->window + CUZK_C1_WINDOW_BYTES - 3;
    text->begin = text->p = text->window;
    cuzk_status status = CUZK_OK;
    while (out <= full && !text->complete && status == CUZK_OK) {
        const uint8_t *g = text->encoded;
        unsigned a = NOT_BASE64, b = 0, c = 0, d = 0;
        if (text->encoded_end - g >= 4) {
            a = base64_value(g[0]);
            b = base64_value(g[1]);
            c = base64_value(g[2]);
            d = base64_value(g[3]);
        }
        if ((a | b | c | d) > 63) {
            status = decode_tail(text, &out, err);
            continue;
        }
        uint32_t bits = a << 18 | b << 12 | c << 6 | d;
        out[0] = (uint8_t)(bits >> 16);
        out[1] = (uint8_t)(bits >> 8);
        out[2] = (uint8_t)bits;
        out += 3;
        text->encoded += 4;
    }
    text->end = out;
    return status;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Make the next byte available at p. */
static inline cuzk_status look(cuzk_c1_text *text, cuzk_error *err)
{
    if (text->p < text->end) {
        return CUZK_OK;
    }
    if (!text->complete) {
        CUZK_TRY(fill(text, err));
    }
    if (text->p == text->end) {
        return cuzk_c1_fail(text, err, CUZK_E_TRUNCATED, "the text ends too early");
    }
    return CUZK_OK;
}

static inline bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Make the next byte that is not white space available. */
static cuzk_status look_past_space(cuzk_c1_text *text, cuzk_error *err)
{
    CUZK_TRY(look(text, err));
    while (is_space(*text->p)) {
        text->p++;
        CUZK_TRY(look(text, err));
    }
    return CUZK_OK;
}

static cuzk_status expect(cuzk_c1_text *text, char c, cuzk_error *err)
{
    CUZK_TRY(look_past_space(text, err));
    if (*text->p != (uint8_t)c) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "byte 0x%02x, expected '%c'", *text->p, c);
    }
    text->p++;
    return CUZK_OK;
}

cuzk_status cuzk_c1_text_decoded(cuzk_c1_text *text, cuzk_c1_text *outer, cuzk_error *err)
{
    *text = (cuzk_c1_text){0};
    CUZK_TRY(expect(outer, '"', err));
    uint8_t *window = malloc(CUZK_C1_WINDOW_BYTES);
    CUZK_FAIL_IF(window == NULL, err, CUZK_E_MEMORY, "out of memory");
    *text = (cuzk_c1_text){.p = window,
                           .begin = window,
                           .end = window,
                           .encoded = outer->p,
                           .encoded_begin = outer->p,
                           .encoded_end = outer->end,
                           .encoded_offset = position(outer),
                           .window = window};
    return CUZK_OK;
}

void cuzk_c1_text_decoded_end(cuzk_c1_text *text, cuzk_c1_text *outer)
{
    if (text->window != NULL && text->complete) {
        outer->p = text->encoded + 1;
    }
    free(text->window);
    *text = (cuzk_c1_text){0};
}

cuzk_status cuzk_c1_base64(cuzk_c1_text *text, uint8_t *out, uint64_t *n_bytes, cuzk_error *err)
{
    cuzk_c1_text inner;
    CUZK_TRY(cuzk_c1_text_decoded(&inner, text, err));
    cuzk_status s = CUZK_OK;
    *n_bytes = 0;
    while (s == CUZK_OK && !inner.complete) {
        s = fill(&inner, err);
        size_t n = (size_t)(inner.end - inner.p);
        memcpy(out + *n_bytes, inner.p, n);
        inner.p += n;
        *n_bytes += n;
    }
    cuzk_c1_text_decoded_end(&inner, text);
    return s;
}

cuzk_status cuzk_c1_text_finish(cuzk_c1_text *text, cuzk_error *err)
{
    for (;;) {
        if (text->p == text->end && !text->complete) {
            CUZK_TRY(fill(text, err));
        }
        if (text->p == text->end) {
            return CUZK_OK;
        }
        if (!is_space(*text->p)) {
            return cuzk_c1_fail(text, err, CUZK_E_FORMAT,
                                "byte 0x%02x behind the value, expected the end", *text->p);
        }
        text->p++;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

cuzk_status cuzk_c1_integer(cuzk_c1_text *text, uint64_t *out, uint64_t max, cuzk_error *err)
{
    CUZK_TRY(look_past_space(text, err));
    uint64_t value = 0;
    unsigned digits = 0;
    bool leading_zero = *text->p == '0';
    for (;;) {
        CUZK_TRY(look(text, err));
        unsigned digit = *text->p - (unsigned)'0';
        if (digit > 9) {
            break;
        }
        if (digit > max || value > (max - digit) / 10) {
            return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "number above %" PRIu64, max);
        }
        value = 10 * value + digit;
        digits++;
        text->p++;
    }
    uint8_t next = *text->p;
    if (digits == 0 || next == '.' || next == 'e' || next == 'E' || (leading_zero && digits > 1)) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "byte 0x%02x, expected a whole number", next);
    }
    *out = value;
    return CUZK_OK;
}

/* Value of a hex digit, or 16. */
static unsigned hex_value(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - (unsigned)'0'
           : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10
           : c >= 'A' && c <= 'F' ? c - (unsigned)'A' + 10
                                  : 16;
}

/* The character of an escape, whose backslash is read; '?' for one that is not ASCII: no name that
 * we know has such. */
static cuzk_status read_escape(cuzk_c1_text *text, char *out, cuzk_error *err)
{
    static const char short_names[] = "\"\\/bfnrt";
    static const char short_values[] = "\"\\/\b\f\n\r\t";
    CUZK_TRY(look(text, err));
    uint8_t c = *text->p;
    const char *known = c != 0 ? strchr(short_names, c) : NULL;
    if (known != NULL) {
        text->p++;
        *out = short_values[known - short_names];
        return CUZK_OK;
    }
    unsigned value = 0;
    for (unsigned i = 0; c == 'u' && i < 4; i++) {
        text->p++;
        CUZK_TRY(look(text, err));
        value = 16 * value + hex_value(*text->p);
        c = hex_value(*text->p) < 16 ? c : 0;
    }
    if (c != 'u') {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "not an escape of JSON");
    }
    text->p++;
    *out = value > 0 && value < 128 ? (char)value : '?';
    return CUZK_OK;
}

/* Read a string. out: NULL, or what fits of it; *whole: whether all did. */
static cuzk_status read_string(cuzk_c1_text *text, char *out, bool *whole, cuzk_error *err)
{
    size_t n = 0;
    CUZK_TRY(expect(text, '"', err));
    for (;;) {
        CUZK_TRY(look(text, err));
        char c = (char)*text->p;
        if (c == '"') {
            break;
        }
        if ((uint8_t)c < 0x20) {
            return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "control character 0x%02x in a string",
                                (uint8_t)c);
        }
        text->p++;
        if (c == '\\') {
            CUZK_TRY(read_escape(text, &c, err));
        }
        if (out != NULL && n < CUZK_C1_STRING_MAX - 1) {
            out[n] = c;
        }
        n++;
    }
    text->p++;
    if (out != NULL) {
        out[n < CUZK_C1_STRING_MAX - 1 ? n : CUZK_C1_STRING_MAX - 1] = '\0';
        *whole = n < CUZK_C1_STRING_MAX;
    }
    return CUZK_OK;
}

cuzk_status cuzk_c1_string(cuzk_c1_text *text, char out[CUZK_C1_STRING_MAX], cuzk_error *err)
{
    bool whole;
    CUZK_TRY(read_string(text, out, &whole, err));
    if (!whole) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "a string of more than %d bytes",
                            CUZK_C1_STRING_MAX - 1);
    }
    return CUZK_OK;
}

/* Take the next byte if it is one of `bytes`. A number at the very end of the text cannot be inside
 * of a value, so there is always a byte to look at. */
static cuzk_status take_one_of(cuzk_c1_text *text, const char *bytes, bool *taken, cuzk_error *err)
{
    CUZK_TRY(look(text, err));
    *taken = *text->p != 0 && strchr(bytes, *text->p) != NULL;
    text->p += *taken;
    return CUZK_OK;
}

/* One digit or more. */
static cuzk_status skip_digits(cuzk_c1_text *text, cuzk_error *err)
{
    bool taken, any = false;
    do {
        CUZK_TRY(take_one_of(text, "0123456789", &taken, err));
        any = any || taken;
    } while (taken);
    if (!any) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "byte 0x%02x, expected a value", *text->p);
    }
    return CUZK_OK;
}

/* A number of any form, without its value. */
static cuzk_status skip_number(cuzk_c1_text *text, cuzk_error *err)
{
    bool taken;
    CUZK_TRY(take_one_of(text, "-", &taken, err));
    CUZK_TRY(take_one_of(text, "0", &taken, err));
    if (!taken) {
        CUZK_TRY(skip_digits(text, err));
    }
    CUZK_TRY(take_one_of(text, ".", &taken, err));
    if (taken) {
        CUZK_TRY(skip_digits(text, err));
    }
    CUZK_TRY(take_one_of(text, "eE", &taken, err));
    if (taken) {
        CUZK_TRY(take_one_of(text, "+-", &taken, err));
        CUZK_TRY(skip_digits(text, err));
    }
    return CUZK_OK;
}

static cuzk_status skip_word(cuzk_c1_text *text, const char *word, cuzk_error *err)
{
    for (; *word != '\0'; word++) {
        CUZK_TRY(look(text, err));
        if (*text->p != (uint8_t)*word) {
            return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "byte 0x%02x, expected a value",
                                *text->p);
        }
        text->p++;
    }
    return CUZK_OK;
}

/* A value that is not a container. */
static cuzk_status skip_scalar(cuzk_c1_text *text, cuzk_error *err)
{
    switch (*text->p) {
    case '"':
        return read_string(text, NULL, NULL, err);
    case 't':
        return skip_word(text, "true", err);
    case 'f':
        return skip_word(text, "false", err);
    case 'n':
        return skip_word(text, "null", err);
    default:
        return skip_number(text, err);
    }
}

/* Any value. `open` remembers for each level whether it is an object. */
static cuzk_status skip_value(cuzk_c1_text *text, cuzk_error *err)
{
    bool open[CUZK_C1_DEPTH_MAX];
    unsigned depth = 0;
    do {
        CUZK_TRY(look_past_space(text, err));
        uint8_t c = *text->p;
        bool opened = c == '{' || c == '[';
        if (opened) {
            if (depth == CUZK_C1_DEPTH_MAX) {
                return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "nested deeper than %d levels",
                                    CUZK_C1_DEPTH_MAX);
            }
            text->p++;
            open[depth++] = c == '{';
        } else {
            CUZK_TRY(skip_scalar(text, err));
        }
        /* behind a value, or behind an opening bracket: close, or go on to the next value */
        while (depth > 0) {
            CUZK_TRY(look_past_space(text, err));
            if (*text->p == (open[depth - 1] ? '}' : ']')) {
                text->p++;
                depth--;
                opened = false;
                continue;
            }
            if (!opened) {
                CUZK_TRY(expect(text, ',', err));
            }
            if (open[depth - 1]) {
                CUZK_TRY(read_string(text, NULL, NULL, err));
                CUZK_TRY(expect(text, ':', err));
            }
            break;
        }
    } while (depth > 0);
    return CUZK_OK;
}

/* ---- digests --------------------------------------------------------------------------------- */

/* One number 0 … 255 and the character behind it, without a branch: the four bytes are taken at
 * once, the place of the first that is no digit gives the length. *bad collects what is not right,
 * in its bit 31 and below. */
static inline const uint8_t *scan_byte(const uint8_t *p, uint8_t *out, uint8_t behind,
                                       uint32_t *bad)
{
    uint32_t digits = cuzk_load_u32_le(p) ^ 0x30303030u;
    uint32_t others = ((digits + 0x76767676u) | digits) & 0x80808080u; /* bytes above 9 */
    unsigned bits = (unsigned)__builtin_ctz(others | 0x80000000u) & ~7u;
    uint32_t first = digits & 0xffu;
    digits <<= (32 - bits) & 31;
    digits = bits == 0 ? 0 : digits;
    uint32_t value = (digits >> 24) + 10 * (digits >> 16 & 0xff) + 100 * (digits >> 8 & 0xff);
    *bad |= (uint32_t)(bits == 0) | (others == 0) | (value > 255) | (bits > 8 && first == 0);
    *bad |= p[bits / 8] ^ behind;
    *out = (uint8_t)value;
    return p + bits / 8 + 1;
}

static cuzk_status digest_element(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    cuzk_digest *out = ctx;
    uint64_t value;
    CUZK_TRY(cuzk_c1_integer(text, &value, 255, err));
    if (i >= sizeof out->b) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "more than 32 numbers in a digest");
    }
    out->b[i] = (uint8_t)value;
    return CUZK_OK;
}

cuzk_status cuzk_c1_digest(cuzk_c1_text *text, cuzk_digest *out, cuzk_error *err)
{
    if (text->end - text->p < DIGEST_TEXT_MAX && !text->complete) {
        CUZK_TRY(fill(text, err));
    }
    if (text->end - text->p >= DIGEST_TEXT_MAX) {
        const uint8_t *p = text->p + 1;
        uint32_t bad = *text->p ^ (uint32_t)'[';
        for (unsigned i = 0; i < sizeof out->b - 1; i++) {
            p = scan_byte(p, &out->b[i], ',', &bad);
        }
        p = scan_byte(p, &out->b[sizeof out->b - 1], ']', &bad);
        if (bad == 0) {
            text->p = p;
            return CUZK_OK;
        }
    }
    unsigned n;
    CUZK_TRY(cuzk_c1_array(text, "number", &n, digest_element, out, err));
    if (n != sizeof out->b) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "%u numbers in a digest, expected 32", n);
    }
    return CUZK_OK;
}

cuzk_status cuzk_c1_fr(cuzk_c1_text *text, cuzk_digest *out, cuzk_error *err)
{
    CUZK_TRY(cuzk_c1_digest(text, out, err));
    if (!cuzk_digest_is_fr(out)) {
        return cuzk_c1_fail(text, err, CUZK_E_FORMAT,
                            "the digest that ends here is not below the field's order");
    }
    return CUZK_OK;
}

/* ---- containers ------------------------------------------------------------------------------ */

cuzk_status cuzk_c1_object(cuzk_c1_text *text, const char *const *keys, unsigned n_keys,
                           uint32_t required, cuzk_c1_read read, void *ctx, cuzk_error *err)
{
    uint32_t seen = 0;
    CUZK_TRY(expect(text, '{', err));
    CUZK_TRY(look_past_space(text, err));
    for (bool first = true; *text->p != '}'; first = false) {
        char key[CUZK_C1_STRING_MAX];
        bool whole;
        if (!first) {
            CUZK_TRY(expect(text, ',', err));
        }
        CUZK_TRY(look_past_space(text, err));
        CUZK_TRY(read_string(text, key, &whole, err));
        CUZK_TRY(expect(text, ':', err));
        unsigned k = 0;
        while (k < n_keys && (!whole || strcmp(key, keys[k]) != 0)) {
            k++;
        }
        cuzk_status status;
        if (k == n_keys) {
            status = skip_value(text, err);
        } else if ((seen >> k & 1) != 0) {
            status = cuzk_c1_fail(text, err, CUZK_E_FORMAT, "the key is there twice");
        } else {
            seen |= 1u << k;
            CUZK_TRY(look_past_space(text, err));
            status = read(text, ctx, k, err);
        }
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "%s", key);
            return status;
        }
        CUZK_TRY(look_past_space(text, err));
    }
    text->p++;
    for (unsigned k = 0; k < n_keys; k++) {
        if ((required >> k & 1) != 0 && (seen >> k & 1) == 0) {
            return cuzk_c1_fail(text, err, CUZK_E_FORMAT, "the object that ends here has no \"%s\"",
                                keys[k]);
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_c1_array(cuzk_c1_text *text, const char *name, unsigned *n, cuzk_c1_read read,
                          void *ctx, cuzk_error *err)
{
    *n = 0;
    CUZK_TRY(expect(text, '[', err));
    CUZK_TRY(look_past_space(text, err));
    while (*text->p != ']') {
        cuzk_status status = CUZK_OK;
        if (*n > 0) {
            status = expect(text, ',', err);
        }
        if (status == CUZK_OK) {
            status = look_past_space(text, err);
        }
        if (status == CUZK_OK && *n == ARRAY_MAX) {
            status = cuzk_c1_fail(text, err, CUZK_E_FORMAT, "more than %d elements", ARRAY_MAX);
        }
        if (status == CUZK_OK) {
            status = read(text, ctx, *n, err);
        }
        if (status == CUZK_OK) {
            status = look_past_space(text, err);
        }
        if (status != CUZK_OK) {
            cuzk_error_prefix(err, "%s %u", name, *n);
            return status;
        }
        (*n)++;
    }
    text->p++;
    return CUZK_OK;
}

/* An array whose length is known. */
typedef struct {
    unsigned n;
    cuzk_c1_read read;
    void *ctx;
} counted;

static cuzk_status counted_element(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    const counted *c = ctx;
    if (i >= c->n) {
        return cuzk_c1_fail(text, err, CUZK_E_MISMATCH, "expected %u elements, there are more",
                            c->n);
    }
    return c->read(text, c->ctx, i, err);
}

cuzk_status cuzk_c1_array_of(cuzk_c1_text *text, const char *name, unsigned n, cuzk_c1_read read,
                             void *ctx, cuzk_error *err)
{
    counted c = {n, read, ctx};
    unsigned found;
    CUZK_TRY(cuzk_c1_array(text, name, &found, counted_element, &c, err));
    if (found != n) {
        return cuzk_c1_fail(text, err, CUZK_E_MISMATCH, "expected %u elements, got %u", n, found);
    }
    return CUZK_OK;
}
