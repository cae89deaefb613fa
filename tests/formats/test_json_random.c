/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random JSON texts and the tokens that they were made of: every token in order with its decoded
 * text, whatever white space and escapes; skipping any value; texts that are cut or changed. */
#include "formats/json_pull.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0051;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

enum { TEXT_MAX = 1 << 16, TOKENS_MAX = 4096, STRING_MAX = 24 };

struct made {
    char text[TEXT_MAX];
    size_t n;
    struct token {
        cuzk_json_kind kind;
        char value[4 * STRING_MAX]; /* UTF-8 of keys and strings; numbers as written */
        size_t n_value;
        size_t end; /* tokens of the value that begins here end before this one */
    } tokens[TOKENS_MAX];
    size_t n_tokens;
};

static struct made made;

static void put(const char *s)
{
    size_t n = strlen(s);
    memcpy(made.text + made.n, s, n);
    made.n += n;
}

static void blank(void)
{
    static const char *const blanks[] = {"", "", "", " ", "\n", "\t", "\r\n", "  \t "};
    put(blanks[next_random() % 8]);
}

static struct token *add_token(cuzk_json_kind kind)
{
    struct token *t = &made.tokens[made.n_tokens++];
    memset(t, 0, sizeof *t);
    t->kind = kind;
    return t;
}

/* A character as UTF-8. Returns its length. */
static size_t utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* One character, written in one of the ways that JSON has for it. */
static void put_character(struct token *t)
{
    static const unsigned chosen[] = {'a',    '"',    '\\',   '/',     '\b',    '\f',  '\n',
                                      '\r',   '\t',   0x1f,   0x7f,    0xe9,    0x3b1, 0x20ac,
                                      0xd7ff, 0xe000, 0xffff, 0x1f600, 0x10ffff};
    static const char short_of[] = "\"\"\\\\//\bb\ff\nn\rr\tt";
    uint64_t r = next_random();
    unsigned c = r % 3 == 0 ? chosen[(r >> 8) % 19] : (unsigned)(' ' + (r >> 8) % 95);
    char text[32];
    t->n_value += utf8(t->value + t->n_value, c);
    for (size_t i = 0; i + 1 < sizeof short_of && c < 0x80; i += 2) {
        if ((unsigned char)short_of[i] == c && (r >> 32) % 3 != 0) {
            snprintf(text, sizeof text, "\\%c", short_of[i + 1]);
            put(text);
            return;
        }
    }
    bool must = c < 0x20 || c == '"' || c == '\\';
    if (must || (r >> 40) % 4 == 0) {
        const char *form = (r >> 48) % 2 == 0 ? "\\u%04x" : "\\u%04X";
        if (c < 0x10000) {
            snprintf(text, sizeof text, form, c);
        } else {
            snprintf(text, sizeof text, form, 0xd800 + ((c - 0x10000) >> 10));
            put(text);
            snprintf(text, sizeof text, form, 0xdc00 + ((c - 0x10000) & 0x3ff));
        }
        put(text);
        return;
    }
    char plain[8] = {0};
    utf8(plain, c);
    put(plain);
}

static void make_string(cuzk_json_kind kind)
{
    struct token *t = add_token(kind);
    put("\"");
    for (uint64_t n = next_random() % STRING_MAX; n > 0; n--) {
        put_character(t);
    }
    put("\"");
}

static void make_number(void)
{
    static const char *const signs[] = {"", "-"};
    static const char *const wholes[] = {"0", "7", "10", "123456789012345678901234567890"};
    static const char *const fractions[] = {"", "", ".0", ".5", ".000123"};
    static const char *const exponents[] = {"", "", "e0", "E+10", "e-7", "E99"};
    struct token *t = add_token(CUZK_JSON_NUMBER);
    uint64_t r = next_random();
    t->n_value =
        (size_t)snprintf(t->value, sizeof t->value, "%s%s%s%s", signs[r % 2], wholes[(r >> 8) % 4],
                         fractions[(r >> 16) % 5], exponents[(r >> 24) % 6]);
    put(t->value);
}

static void make_value(unsigned depth)
{
    size_t begin = made.n_tokens;
    uint64_t r = next_random();
    unsigned n = (unsigned)((r >> 8) % 5);
    switch (depth == 0 ? 2 + r % 4 : r % 5) {
    case 0:
        add_token(CUZK_JSON_OBJECT_BEGIN);
        put("{");
        for (unsigned i = 0; i < n; i++) {
            put(i > 0 ? "," : "");
            blank();
            make_string(CUZK_JSON_KEY);
            blank();
            put(":");
            blank();
            make_value(depth - 1);
            blank();
        }
        add_token(CUZK_JSON_OBJECT_END);
        put("}");
        break;
    case 1:
        add_token(CUZK_JSON_ARRAY_BEGIN);
        put("[");
        for (unsigned i = 0; i < n; i++) {
            put(i > 0 ? "," : "");
            blank();
            make_value(depth - 1);
            blank();
        }
        add_token(CUZK_JSON_ARRAY_END);
        put("]");
        break;
    case 2:
        make_string(CUZK_JSON_STRING);
        break;
    case 3:
        make_number();
        break;
    default: {
        static const char *const words[] = {"true", "false", "null"};
        static const cuzk_json_kind kinds[] = {CUZK_JSON_TRUE, CUZK_JSON_FALSE, CUZK_JSON_NULL};
        unsigned k = (unsigned)((r >> 20) % 3);
        add_token(kinds[k]);
        put(words[k]);
    }
    }
    made.tokens[begin].end = made.n_tokens;
}

static void make_text(unsigned depth)
{
    made.n = made.n_tokens = 0;
    blank();
    if (depth == 0) {
        make_value(0);
    } else { /* a list of values */
        add_token(CUZK_JSON_ARRAY_BEGIN);
        put("[");
        for (unsigned i = 0; i < 8; i++) {
            put(i > 0 ? "," : "");
            blank();
            make_value(depth - 1);
        }
        blank();
        put("]");
        add_token(CUZK_JSON_ARRAY_END);
        made.tokens[0].end = made.n_tokens;
    }
    blank();
    add_token(CUZK_JSON_END);
    assert_true(made.n < TEXT_MAX / 2 && made.n_tokens < TOKENS_MAX / 2);
}

/* In a buffer of exactly its length. */
static uint8_t *exact(const char *text, size_t n)
{
    uint8_t *data = malloc(n > 0 ? n : 1);
    assert_non_null(data);
    memcpy(data, text, n);
    return data;
}

static bool begins_value(cuzk_json_kind kind)
{
    return kind != CUZK_JSON_KEY && kind != CUZK_JSON_OBJECT_END && kind != CUZK_JSON_ARRAY_END &&
           kind != CUZK_JSON_END;
}

/* All tokens, and the rest of one value in skip_of skipped (0: none). */
static void check_tokens(unsigned skip_of)
{
    uint8_t *data = exact(made.text, made.n);
    cuzk_json json;
    cuzk_json_token t;
    cuzk_error err = {0};
    uint64_t offset = 0;
    cuzk_json_init(&json, data, made.n);
    for (size_t i = 0; i < made.n_tokens;) {
        const struct token *expected = &made.tokens[i];
        if (cuzk_json_next(&json, &t, &err) != CUZK_OK) {
            fail_msg("%.*s: %s", (int)made.n, made.text, err.text);
        }
        assert_int_equal(t.kind, expected->kind);
        assert_true(t.offset >= offset && t.offset <= made.n);
        offset = t.offset;
        if (expected->kind == CUZK_JSON_KEY || expected->kind == CUZK_JSON_STRING ||
            expected->kind == CUZK_JSON_NUMBER) {
            assert_int_equal(t.size, expected->n_value);
            assert_memory_equal(t.text, expected->value, t.size);
            char copy[4 * STRING_MAX + 1];
            assert_int_equal(cuzk_json_text(&t, copy, sizeof copy), (int)t.size);
            assert_memory_equal(copy, expected->value, t.size);
            assert_int_equal(copy[t.size], 0);
            if (t.size > 0) {
                assert_int_equal(cuzk_json_text(&t, copy, t.size), -1); /* no room for the NUL */
            }
        }
        if (skip_of != 0 && begins_value(expected->kind) && next_random() % skip_of == 0) {
            assert_int_equal(cuzk_json_skip(&json, &t, &err), CUZK_OK);
            i = expected->end;
        } else {
            i++;
        }
    }
    cuzk_json_clear(&json);
    cuzk_json_clear(&json);
    free(data);
}

static void test_tokens(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        make_text((unsigned)round % 6);
        check_tokens(0);
        check_tokens(3);
        check_tokens(1);
    }
}

/* How a whole text ends. */
static cuzk_status read_all(const char *text, size_t n, cuzk_error *err)
{
    uint8_t *data = exact(text, n);
    cuzk_json json;
    cuzk_json_token t = {0};
    cuzk_status status;
    cuzk_json_init(&json, data, n);
    do {
        status = cuzk_json_next(&json, &t, err);
    } while (status == CUZK_OK && t.kind != CUZK_JSON_END);
    cuzk_json_clear(&json);
    free(data);
    return status;
}

/* Every beginning of a text is too short, unless it is a number or only white space is missing. */
static void test_cut(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        make_text(4);
        size_t end = made.n;
        while (end > 0 && strchr(" \t\r\n", made.text[end - 1]) != NULL) {
            end--;
        }
        bool number = made.tokens[0].kind == CUZK_JSON_NUMBER;
        for (size_t n = 0; n < end && !number; n += 1 + made.n / 200) {
            cuzk_error err = {0};
            if (read_all(made.text, n, &err) != CUZK_E_TRUNCATED) {
                fail_msg("%.*s: %s", (int)n, made.text, err.text);
            }
        }
    }
}

/* One byte changed, left out or doubled: read to the end or refused with a place, never anything
 * else; brackets, colons and quotes that are missing are noticed. */
static void test_changed(void **state)
{
    (void)state;
    static char text[TEXT_MAX];
    for (int round = 0; round < 1500; round++) {
        if (round % 10 == 0) {
            make_text(3);
        }
        size_t at = next_random() % made.n, n = made.n;
        memcpy(text, made.text, n);
        char old = text[at];
        bool removed = round % 3 == 0;
        if (removed) {
            memmove(text + at, text + at + 1, n - at - 1);
            n--;
        } else if (round % 3 == 1) {
            text[at] = (char)next_random();
        } else {
            memmove(text + at + 1, text + at, n - at);
            n++;
        }
        cuzk_error err = {0};
        cuzk_status status = read_all(text, n, &err);
        assert_true(status == CUZK_OK || status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED);
        if (status == CUZK_E_FORMAT) {
            assert_non_null(strstr(err.text, "line "));
            assert_non_null(strstr(err.text, "column "));
        }
        bool outside = true; /* of strings */
        for (size_t i = 0; i < at; i++) {
            if (made.text[i] == '"') {
                size_t backslashes = 0;
                while (backslashes < i && made.text[i - 1 - backslashes] == '\\') {
                    backslashes++;
                }
                outside = backslashes % 2 == 0 ? !outside : outside;
            }
        }
        if (removed && outside && strchr("{}[]:\"", old) != NULL && status == CUZK_OK) {
            fail_msg("without its byte %zu, '%c', this is taken: %.*s", at, old, (int)made.n,
                     made.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
