/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pull parser: what is JSON and what is not, tokens, depth, positions, decoded text. */
#include "formats/json_pull.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reads a whole text from a buffer of exactly its length. Kinds as letters into `kinds`. */
static cuzk_status read_all(const char *text, char *kinds, size_t n_kinds, cuzk_error *err)
{
    size_t n = strlen(text);
    uint8_t *data = malloc(n + 1);
    assert_non_null(data);
    memcpy(data, text, n);
    uint8_t *exact = realloc(data, n > 0 ? n : 1);
    cuzk_json j;
    cuzk_json_token t;
    cuzk_status status;
    size_t k = 0;
    cuzk_json_init(&j, exact, n);
    do {
        status = cuzk_json_next(&j, &t, err);
        if (status == CUZK_OK && k + 1 < n_kinds) {
            kinds[k++] = "{}[]ksntf0."[t.kind];
        }
    } while (status == CUZK_OK && t.kind != CUZK_JSON_END);
    if (n_kinds > 0) {
        kinds[k] = 0;
    }
    cuzk_json_clear(&j);
    free(exact);
    return status;
}

static void test_good(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *kinds;
    } good[] = {
        {"0", "n."},
        {" -0.5e+10 ", "n."},
        {"1E3", "n."},
        {"\"\"", "s."},
        {"true", "t."},
        {"false", "f."},
        {"null", "0."},
        {"[]", "[]."},
        {"{}", "{}."},
        {"[1,2]", "[nn]."},
        {"[[],[[]],{}]", "[[][[]]{}]."},
        {"{\"a\":1,\"b\":[true,null],\"\":{}}", "{knk[t0]k{}}."},
        {"\t\r\n[ \"x\" , \"\\u00e9\\\"\\\\\\/\\b\\f\\n\\r\\t\" ]\n", "[ss]."},
        {"{\"a\":{\"a\":{\"a\":[]}}}", "{k{k{k[]}}}."},
        {"\"\xc3\xa9\"", "s."},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char kinds[64];
        cuzk_error err = {0};
        cuzk_status status = read_all(good[i].text, kinds, sizeof kinds, &err);
        if (status != CUZK_OK) {
            print_error("%s: %s\n", good[i].text, err.text);
        }
        assert_int_equal(status, CUZK_OK);
        assert_string_equal(kinds, good[i].kinds);
    }
}

static void test_bad(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "[",
        "]",
        "{",
        "}",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1,,2]",
        "{1:2}",
        "{\"a\"}",
        "{\"a\":",
        "{\"a\":}",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{,}",
        "{\"a\":1 \"b\":2}",
        "[1}",
        "{\"a\":1]",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "0x10",
        "tru",
        "truex",
        "nul",
        "nullx",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"a\nb\"",
        "\"\x01\"",
        "1 2",
        "[] []",
        "'a'",
        "NaN",
        "[1]x",
        "\xef\xbb\xbf[]",
        "\"\\",
        "\"\\u",
        "{\"a\":1}}",
        "/**/1",
        "\"a\\\0b\"",
        "-x",
        "--1",
        "1.e5",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_error err = {0};
        cuzk_status status = read_all(bad[i], NULL, 0, &err);
        if (status == CUZK_OK) {
            print_error("accepted: %s\n", bad[i]);
        }
        assert_true(status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED);
        assert_memory_equal(err.text, "line ", 5);
    }
}

/* Every prefix of a text ends too early, and says so. */
static void test_prefixes(void **state)
{
    (void)state;
    const char *text = "{\"a\":[1,-2.5e3,\"x\\u0041\",true,false,null],\"b\":{}}";
    for (size_t n = 0; n < strlen(text); n++) {
        char cut[64];
        memcpy(cut, text, n);
        cut[n] = 0;
        assert_int_equal(read_all(cut, NULL, 0, NULL), CUZK_E_TRUNCATED);
    }
    assert_int_equal(read_all(text, NULL, 0, NULL), CUZK_OK);
}

/* BC-110: nesting without end */
static void test_depth(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    char *text = malloc(MANY + 1);
    assert_non_null(text);
    for (int depth = 1; depth <= MANY; depth = depth < 80 ? depth + 1 : depth * 10) {
        memset(text, '[', (size_t)depth);
        text[depth] = 0;
        cuzk_error err = {0};
        cuzk_status status = read_all(text, NULL, 0, &err);
        assert_int_equal(status, depth <= CUZK_JSON_DEPTH_MAX ? CUZK_E_TRUNCATED : CUZK_E_FORMAT);
        if (depth > CUZK_JSON_DEPTH_MAX) {
            assert_string_equal(err.text, "line 1, column 65: nested deeper than 64 levels");
        }
    }
    free(text);
}

/* A string that would have to be kept whole, and white space without end */
static void test_long_tokens(void **state)
{
    (void)state;
    for (size_t n = CUZK_JSON_TOKEN_BYTES_MAX / 2; n <= CUZK_JSON_TOKEN_BYTES_MAX * 2; n *= 4) {
        for (int kind = 0; kind < 2; kind++) {
            char *text = malloc(n + 8);
            assert_non_null(text);
            memset(text, kind == 0 ? 'x' : ' ', n);
            text[n - 1] = kind == 0 ? '"' : '1';
            text[0] = kind == 0 ? '"' : ' ';
            text[n] = 0;
            cuzk_error err = {0};
            cuzk_status status = read_all(text, NULL, 0, &err);
            assert_int_equal(status, n < CUZK_JSON_TOKEN_BYTES_MAX ? CUZK_OK : CUZK_E_FORMAT);
            free(text);
        }
    }
}

static void test_positions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"[1,\n 2,\n x]", "line 3, column 2: lexical error: invalid char in json text."},
        {"[\"a\tb\"]", "line 1, column 3: lexical error: invalid character inside string."},
        {"[1", "line 1, column 3: the text ends too early"},
        {"{\"a\":1", "line 1, column 7: the text ends too early"},
        {"[] []", "line 1, column 4: parse error: trailing garbage"},
        {"[] 5", "line 1, column 5: there is something behind the value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_error err = {0};
        assert_int_not_equal(read_all(cases[i].text, NULL, 0, &err), CUZK_OK);
        assert_string_equal(err.text, cases[i].message);
    }
}

static int decode(const char *literal, char *out, size_t out_size)
{
    cuzk_json j;
    cuzk_json_token t;
    cuzk_json_init(&j, (const uint8_t *)literal, strlen(literal));
    assert_int_equal(cuzk_json_next(&j, &t, NULL), CUZK_OK);
    int n = cuzk_json_text(&t, out, out_size);
    cuzk_json_clear(&j);
    return n;
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *literal;
        const char *text; /* NULL: refused */
    } cases[] = {
        {"\"abc\"", "abc"},
        {"\"\"", ""},
        {"\"\\u0070i\\u005Fa\"", "pi_a"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u00e9\\u20ac\"", "\xc3\xa9\xe2\x82\xac"},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
        {"\"a\\u0000b\"", NULL},
        {"\"1234567\"", "1234567"},
        {"\"12345678\"", NULL},
        {"\"123456\\u00e9\"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64] = "?";
        size_t room = i < 7 ? sizeof out : 8;
        int n = decode(cases[i].literal, out, room);
        if (cases[i].text == NULL) {
            assert_int_equal(n, -1);
        } else {
            assert_string_equal(out, cases[i].text);
            assert_int_equal(n, strlen(cases[i].text));
        }
    }
    char none;
    assert_int_equal(decode("\"\"", &none, 0), -1);
}

static void test_skip(void **state)
{
    (void)state;
    const char *text = "{\"a\":[[1,{\"x\":[]}],2],\"b\":3,\"c\":{\"d\":[]}}";
    cuzk_json j;
    cuzk_json_token t;
    char keys[4] = "";
    cuzk_json_init(&j, (const uint8_t *)text, strlen(text));
    assert_int_equal(cuzk_json_next(&j, &t, NULL), CUZK_OK);
    for (;;) {
        assert_int_equal(cuzk_json_next(&j, &t, NULL), CUZK_OK);
        if (t.kind == CUZK_JSON_OBJECT_END) {
            break;
        }
        assert_int_equal(t.kind, CUZK_JSON_KEY);
        strncat(keys, t.text, 1);
        assert_int_equal(cuzk_json_next(&j, &t, NULL), CUZK_OK);
        assert_int_equal(cuzk_json_skip(&j, &t, NULL), CUZK_OK);
    }
    assert_string_equal(keys, "abc");
    assert_int_equal(cuzk_json_next(&j, &t, NULL), CUZK_OK);
    assert_int_equal(t.kind, CUZK_JSON_END);
    cuzk_json_clear(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_prefixes),    cmocka_unit_test(test_depth),
        cmocka_unit_test(test_long_tokens), cmocka_unit_test(test_positions),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_skip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
