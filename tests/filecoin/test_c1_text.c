/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The scanner of commit-phase-1 texts by itself: numbers at their limits, strings, digests of any
 * spelling, objects and arrays, values that are skipped; everything once as it stands and once in
 * base64, where the text is larger than the window. */
#include "filecoin/c1_text.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0021;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

/* ---- texts in both forms ---- */

/* A text being scanned, with a bracket behind it so that values have an end; in a buffer of exactly
 * its length. */
struct scan {
    cuzk_c1_text text, outer;
    char *memory;
    bool encoded;
};

static size_t encode_base64(char *out, const char *data, size_t n)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t k = 0;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t bits = 0;
        for (size_t b = 0; b < 3; b++) {
            bits = bits << 8 | (i + b < n ? (uint8_t)data[i + b] : 0);
        }
        for (size_t c = 0; c < 4; c++) {
            out[k++] = c <= n - i ? alphabet[bits >> (18 - 6 * c) & 63] : '=';
        }
    }
    return k;
}

static void begin(struct scan *s, const char *data, size_t n, bool encoded)
{
    s->encoded = encoded;
    s->memory = malloc(n / 3 * 4 + 8);
    assert_non_null(s->memory);
    if (!encoded) {
        memcpy(s->memory, data, n);
        s->memory = realloc(s->memory, n > 0 ? n : 1);
        cuzk_c1_text_plain(&s->text, (uint8_t *)s->memory, n);
        return;
    }
    s->memory[0] = '"';
    size_t k = 1 + encode_base64(s->memory + 1, data, n);
    s->memory[k++] = '"';
    s->memory = realloc(s->memory, k);
    cuzk_c1_text_plain(&s->outer, (uint8_t *)s->memory, k);
    assert_int_equal(cuzk_c1_text_decoded(&s->text, &s->outer, NULL), CUZK_OK);
}

static void end(struct scan *s)
{
    if (s->encoded) {
        cuzk_c1_text_decoded_end(&s->text, &s->outer);
    }
    free(s->memory);
}

/* ---- numbers ---- */

static cuzk_status integer(const char *digits, uint64_t max, uint64_t *value, bool encoded)
{
    char text[64];
    snprintf(text, sizeof text, "%s]", digits);
    struct scan s;
    begin(&s, text, strlen(text), encoded);
    cuzk_status status = cuzk_c1_integer(&s.text, value, max, NULL);
    end(&s);
    return status;
}

/* Every number around every limit, single digits above all. */
static void test_integers(void **state)
{
    (void)state;
    static const uint64_t limits[] = {0,  1,  2,   3,    5,     7,          8,
                                      9,  10, 11,  99,   100,   255,        256,
                                      63, 64, 999, 1000, 65535, UINT32_MAX, (uint64_t)1 << 32};
    char digits[32];
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint64_t max = limits[i], from = max < 300 ? 0 : max - 12;
        for (uint64_t v = from; v <= max + 40; v++) {
            uint64_t found = 12345;
            snprintf(digits, sizeof digits, "%" PRIu64, v);
            cuzk_status status = integer(digits, max, &found, v % 2 == 0);
            if (status != (v <= max ? CUZK_OK : CUZK_E_FORMAT)) {
                fail_msg("%s with a limit of %" PRIu64 ": %s", digits, max,
                         status == CUZK_OK ? "taken" : "refused");
            }
            assert_int_equal(found, v <= max ? v : 12345);
        }
    }
    uint64_t v;
    assert_int_equal(integer("18446744073709551615", UINT64_MAX, &v, false), CUZK_OK);
    assert_true(v == UINT64_MAX);
    static const char *const above[] = {"18446744073709551616", "18446744073709551625",
                                        "28446744073709551615", "184467440737095516150",
                                        "99999999999999999999999"};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(integer(above[i], UINT64_MAX, &v, false), CUZK_E_FORMAT);
    }
    static const char *const no_numbers[] = {"",    "-1",  "-0", "+1",  "00", "01",    "007", "1.0",
                                             "1e1", "1E0", ".5", "0x1", "a",  "\"1\"", "null"};
    for (size_t i = 0; i < sizeof no_numbers / sizeof no_numbers[0]; i++) {
        cuzk_status s = integer(no_numbers[i], 1000, &v, i % 2 == 0);
        /* what stands behind a zero is not part of it: the caller finds no bracket there */
        bool zero = strcmp(no_numbers[i], "0x1") == 0;
        assert_int_equal(s, zero ? CUZK_OK : CUZK_E_FORMAT);
    }
    assert_int_equal(integer(" \t\r\n 42", 42, &v, false), CUZK_OK);
    assert_int_equal(v, 42);
}

/* ---- strings ---- */

static cuzk_status string(const char *text, char out[CUZK_C1_STRING_MAX], bool encoded)
{
    struct scan s;
    begin(&s, text, strlen(text), encoded);
    cuzk_status status = cuzk_c1_string(&s.text, out, NULL);
    end(&s);
    return status;
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value;
    } good[] = {{"\"\"", ""},
                {"\"abc\"", "abc"},
                {" \"a b\"", "a b"},
                {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
                {"\"\\u0041\\u005a\\u007E\"", "AZ~"},
                {"\"\\u00e9\\ud83d\"", "??"},
                {"\"\xc3\xa9\"", "\xc3\xa9"}};
    static const char *const bad[] = {
        "abc",  "'a'", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"",    "\"\t\"", "\"\x01\"",
        "\"\\", "1",   "{}",      "\"\\u\"",   "\"\\uD8\"",   "\"\\U0041\"", "\"\\'\""};
    char out[CUZK_C1_STRING_MAX];
    for (int encoded = 0; encoded < 2; encoded++) {
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
            assert_int_equal(string(good[i].text, out, encoded), CUZK_OK);
            assert_string_equal(out, good[i].value);
        }
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            assert_int_not_equal(string(bad[i], out, encoded), CUZK_OK);
        }
        for (unsigned n = CUZK_C1_STRING_MAX - 3; n < CUZK_C1_STRING_MAX + 3; n++) {
            char text[CUZK_C1_STRING_MAX + 8];
            memset(text, 'x', sizeof text);
            text[0] = text[n + 1] = '"';
            text[n + 2] = '\0';
            bool fits = n < CUZK_C1_STRING_MAX;
            assert_int_equal(string(text, out, encoded), fits ? CUZK_OK : CUZK_E_FORMAT);
            assert_int_equal(strlen(out), fits ? n : CUZK_C1_STRING_MAX - 1);
        }
    }
}

/* ---- digests ---- */

/* The text of a digest, as compact as can be or with white space here and there. */
static size_t digest_text(char *out, const cuzk_digest *d, unsigned n, bool spaces)
{
    static const char *const blanks[] = {"", "", " ", "\n", "\t\r ", ""};
    size_t k = (size_t)sprintf(out, "[");
    for (unsigned i = 0; i < n; i++) {
        k += (size_t)sprintf(out + k, "%s%s%u%s", i > 0 ? "," : "",
                             spaces ? blanks[next_random() % 6] : "", d->b[i % 32],
                             spaces ? blanks[next_random() % 6] : "");
    }
    return k + (size_t)sprintf(out + k, "]");
}

static void random_digest(cuzk_digest *d)
{
    for (unsigned i = 0; i < 32; i++) {
        uint64_t r = next_random();
        d->b[i] = r % 4 == 0 ? (uint8_t)(r >> 8) % 11 : r % 4 == 1 ? 255 : (uint8_t)(r >> 8);
    }
}

static cuzk_status scan_digest(const char *text, size_t n, cuzk_digest *out, bool encoded, bool fr)
{
    struct scan s;
    begin(&s, text, n, encoded);
    cuzk_status status = fr ? cuzk_c1_fr(&s.text, out, NULL) : cuzk_c1_digest(&s.text, out, NULL);
    if (status == CUZK_OK) {
        status = cuzk_c1_text_finish(&s.text, NULL);
    }
    end(&s);
    return status;
}

static void test_digests(void **state)
{
    (void)state;
    char text[2048];
    for (int round = 0; round < 400; round++) {
        cuzk_digest d, found;
        random_digest(&d);
        size_t n = digest_text(text, &d, 32, round % 2 != 0);
        bool encoded = round % 3 == 0;
        assert_int_equal(scan_digest(text, n, &found, encoded, false), CUZK_OK);
        assert_memory_equal(found.b, d.b, 32);
        /* every beginning of it, and something behind it */
        size_t cut = next_random() % n;
        assert_int_equal(scan_digest(text, cut, &found, encoded, false), CUZK_E_TRUNCATED);
        text[n] = ',';
        assert_int_equal(scan_digest(text, n + 1, &found, encoded, false), CUZK_E_FORMAT);
        /* one byte more or less, or another one: nothing that is not the same digest is taken */
        size_t at = next_random() % n;
        static const char others[] = "0123456789,[]. -e\"x";
        text[at] = others[next_random() % (sizeof others - 1)];
        cuzk_digest other;
        if (scan_digest(text, n, &other, encoded, false) == CUZK_OK) {
            char again[2048], without[2048];
            size_t k = 0, m = digest_text(again, &other, 32, false);
            for (size_t i = 0; i < n; i++) {
                if (strchr(" \t\r\n", text[i]) == NULL) {
                    without[k++] = text[i];
                }
            }
            assert_int_equal(k, m);
            assert_memory_equal(again, without, m);
        }
    }
    cuzk_digest d, found;
    random_digest(&d);
    for (unsigned n = 0; n < 40; n++) { /* numbers in it */
        size_t k = digest_text(text, &d, n, false);
        assert_int_equal(scan_digest(text, k, &found, false, false),
                         n == 32 ? CUZK_OK : CUZK_E_FORMAT);
    }
    static const char *const numbers[] = {"256", "300", "999", "1000", "00", "01", "-1", "1.", ""};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (unsigned place = 0; place < 32; place += 31) {
            size_t k = (size_t)sprintf(text, "[");
            for (unsigned j = 0; j < 32; j++) {
                k += (size_t)sprintf(text + k, "%s%s", j > 0 ? "," : "",
                                     j == place ? numbers[i] : "7");
            }
            k += (size_t)sprintf(text + k, "]                ");
            assert_int_equal(scan_digest(text, k, &found, false, false), CUZK_E_FORMAT);
        }
    }
}

/* Around the order of the field, whose bytes are these, lowest first. */
static void test_field_elements(void **state)
{
    (void)state;
    static const uint8_t order[32] = {1,   0,  0,   0,   255, 255, 255, 255, 254, 91, 254,
                                      255, 2,  164, 189, 83,  5,   216, 161, 9,   8,  216,
                                      57,  51, 72,  125, 157, 41,  83,  167, 237, 115};
    char text[512];
    cuzk_digest d, found;
    for (int difference = -1; difference <= 1; difference++) {
        memcpy(d.b, order, 32);
        d.b[0] = (uint8_t)(order[0] + difference);
        size_t n = digest_text(text, &d, 32, false);
        assert_int_equal(scan_digest(text, n, &found, false, true),
                         difference < 0 ? CUZK_OK : CUZK_E_FORMAT);
        assert_int_equal(scan_digest(text, n, &found, false, false), CUZK_OK);
    }
    for (unsigned i = 0; i < 32; i++) { /* one byte higher */
        memcpy(d.b, order, 32);
        d.b[0] = 0;
        if (d.b[i] == 255) {
            continue;
        }
        d.b[i]++;
        size_t n = digest_text(text, &d, 32, false);
        assert_int_equal(scan_digest(text, n, &found, true, true), CUZK_E_FORMAT);
    }
}

/* ---- values that are skipped ---- */

/* A random value. Returns its length. */
static size_t random_value(char *out, unsigned depth)
{
    static const char *const scalars[] = {"0",    "-0",      "17",        "-3.25", "1e9",
                                          "2E-7", "-1.5e+3", "true",      "false", "null",
                                          "\"\"", "\"a\"",   "\"\\\"]\"", "\"{\"", "\"\\u12ab\""};
    static const char *const blanks[] = {"", "", "", " ", "\n\t"};
    uint64_t r = next_random();
    size_t n = (size_t)sprintf(out, "%s", blanks[r % 5]);
    if (depth == 0 || (r >> 8) % 3 == 0) {
        n += (size_t)sprintf(out + n, "%s", scalars[(r >> 16) % 15]);
    } else {
        bool object = (r >> 8) % 3 == 1;
        unsigned count = (unsigned)((r >> 20) % 4);
        out[n++] = object ? '{' : '[';
        for (unsigned i = 0; i < count; i++) {
            n += (size_t)sprintf(out + n, "%s", i > 0 ? "," : "");
            if (object) {
                n += (size_t)sprintf(out + n, "%s\"k%u\"%s:", blanks[(r >> 30) % 5], i,
                                     blanks[(r >> 33) % 5]);
            }
            n += random_value(out + n, depth - 1);
        }
        out[n++] = object ? '}' : ']';
    }
    return n + (size_t)sprintf(out + n, "%s", blanks[(r >> 40) % 5]);
}

static cuzk_status read_number(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    uint64_t *values = ctx;
    return cuzk_c1_integer(text, &values[i], 1000, err);
}

/* An object with two keys that are known, and what is skipped between them. */
static cuzk_status two_keys(const char *text, size_t n, uint64_t values[2], bool encoded,
                            cuzk_error *err)
{
    static const char *const keys[] = {"first", "second"};
    struct scan s;
    begin(&s, text, n, encoded);
    cuzk_status status = cuzk_c1_object(&s.text, keys, 2, 3, read_number, values, err);
    if (status == CUZK_OK) {
        status = cuzk_c1_text_finish(&s.text, err);
    }
    end(&s);
    return status;
}

static void test_skipping(void **state)
{
    (void)state;
    static char value[1 << 16], text[3 << 16];
    for (int round = 0; round < 600; round++) {
        size_t n_value = random_value(value, 5);
        value[n_value] = '\0';
        uint64_t values[2] = {0, 0};
        size_t n = (size_t)sprintf(text, "{\"x\":%s,\"second\" : 2,\"y\":%s , \"first\":1}\n",
                                   value, value);
        bool encoded = round % 2 != 0;
        cuzk_error err = {0};
        if (two_keys(text, n, values, encoded, &err) != CUZK_OK) {
            fail_msg("%s: %s", text, err.text);
        }
        assert_int_equal(values[0], 1);
        assert_int_equal(values[1], 2);
        size_t cut = next_random() % (n - 1);
        assert_int_equal(two_keys(text, cut, values, encoded, NULL), CUZK_E_TRUNCATED);
    }
    static const char *const bad[] = {
        "",           "}",    "]",       ",",         "tru",   "True",    "nul",
        "falsy",      "[1,]", "[,1]",    "[1 2]",     "{1:2}", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{,}",  "[1}",     "{\"a\":1]", "01",    "-",       "+1",
        "1.",         ".5",   "1e",      "1e+",       "1.2.3", "1e5e6",   "--1",
        "1-",         "0x10", "\"\\x\"", "'a'",       "NaN",   "[[]1]",   "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",  "/**/1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t values[2];
        size_t n = (size_t)sprintf(text, "{\"x\":%s,\"second\":2,\"first\":1}", bad[i]);
        if (two_keys(text, n, values, i % 2 != 0, NULL) == CUZK_OK) {
            fail_msg("taken: %s", bad[i]);
        }
    }
    for (unsigned depth = CUZK_C1_DEPTH_MAX - 1; depth <= CUZK_C1_DEPTH_MAX + 1; depth++) {
        memset(value, '[', depth);
        memset(value + depth, ']', depth);
        value[2 * depth] = '\0';
        uint64_t values[2];
        size_t n = (size_t)sprintf(text, "{\"x\":%s,\"second\":2,\"first\":1}", value);
        assert_int_equal(two_keys(text, n, values, false, NULL),
                         depth <= CUZK_C1_DEPTH_MAX ? CUZK_OK : CUZK_E_FORMAT);
    }
}

static void test_objects(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{\"first\":1}", "no \"second\""},
        {"{}", "no \"first\""},
        {"{\"first\":1,\"second\":2,\"first\":3}", "first: offset 30: the key is there twice"},
        {"{\"first\":1001,\"second\":2}", "first: offset 12: number above 1000"},
        {"{\"first\":\"1\",\"second\":2}", "first: offset 9: byte 0x22"},
        {"{\"first\":1,\"second\":2}x", "offset 22: byte 0x78 behind the value"},
        {"[]", "offset 0: byte 0x5b, expected '{'"},
        {"{\"first\" 1,\"second\":2}", "expected ':'"},
        {"{\"first\":1;\"second\":2}", "expected ','"},
        {"{\"first\":1,\"x\":[1,{\"y\":tru}],\"second\":2}", "x: offset 26"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t values[2];
        cuzk_error err = {0};
        assert_int_equal(two_keys(bad[i].text, strlen(bad[i].text), values, false, &err),
                         CUZK_E_FORMAT);
        if (strstr(err.text, bad[i].says) == NULL) {
            fail_msg("%s: %s, expected %s", bad[i].text, err.text, bad[i].says);
        }
    }
}

static void test_arrays(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        for (unsigned wanted = 0; wanted < 6; wanted++) {
            char text[64] = "[";
            size_t k = 1;
            for (unsigned i = 0; i < n; i++) {
                k += (size_t)sprintf(text + k, "%s%u", i > 0 ? " , " : "", 10 * i);
            }
            k += (size_t)sprintf(text + k, "]");
            uint64_t values[8] = {0};
            cuzk_error err = {0};
            struct scan s;
            unsigned found = 99;
            begin(&s, text, k, n % 2 != 0);
            assert_int_equal(cuzk_c1_array(&s.text, "thing", &found, read_number, values, &err),
                             CUZK_OK);
            assert_int_equal(found, n);
            for (unsigned i = 0; i < n; i++) {
                assert_int_equal(values[i], 10 * i);
            }
            end(&s);
            begin(&s, text, k, wanted % 2 != 0);
            assert_int_equal(cuzk_c1_array_of(&s.text, "thing", wanted, read_number, values, &err),
                             n == wanted ? CUZK_OK : CUZK_E_MISMATCH);
            if (n != wanted) {
                char says[64];
                snprintf(says, sizeof says, "expected %u elements, %s", wanted,
                         n > wanted ? "there are more" : "got");
                assert_non_null(strstr(err.text, says));
            }
            end(&s);
        }
    }
    cuzk_error err = {0};
    uint64_t values[8];
    unsigned n;
    struct scan s;
    begin(&s, "[1,2,x]", 7, false);
    assert_int_equal(cuzk_c1_array(&s.text, "thing", &n, read_number, values, &err), CUZK_E_FORMAT);
    assert_non_null(strstr(err.text, "thing 2: offset 5"));
    end(&s);
}

/* ---- base64 ---- */

/* Long texts in base64: the window moves under digests, strings and white space wherever they
 * stand. */
static cuzk_status read_any_digest(cuzk_c1_text *text, void *ctx, unsigned i, cuzk_error *err)
{
    cuzk_digest found;
    const cuzk_digest *expected = ctx;
    CUZK_TRY(cuzk_c1_digest(text, &found, err));
    assert_memory_equal(found.b, expected[i].b, 32);
    return CUZK_OK;
}

static void test_windows(void **state)
{
    (void)state;
    enum { N = 3000 };
    cuzk_digest *digests = malloc(N * sizeof *digests);
    char *text = malloc(N * 600 + 64);
    for (int round = 0; round < 4; round++) {
        size_t n = (size_t)sprintf(text, "%*s[", round * 7 + 1, "");
        for (unsigned i = 0; i < N; i++) {
            random_digest(&digests[i]);
            n += (size_t)sprintf(text + n, "%s", i > 0 ? "," : "");
            n += digest_text(text + n, &digests[i], 32, round % 2 != 0 && i % 5 == 0);
        }
        n += (size_t)sprintf(text + n, "] \n");
        assert_true(n > 4 * CUZK_C1_WINDOW_BYTES);
        for (int encoded = 0; encoded < 2; encoded++) {
            struct scan s;
            cuzk_error err = {0};
            begin(&s, text, n, encoded);
            if (cuzk_c1_array_of(&s.text, "digest", N, read_any_digest, digests, &err) != CUZK_OK ||
                cuzk_c1_text_finish(&s.text, &err) != CUZK_OK) {
                fail_msg("%s", err.text);
            }
            end(&s);
        }
    }
    free(text);
    free(digests);
}

static void test_base64(void **state)
{
    (void)state;
    char data[300], encoded[512];
    uint8_t out[512];
    for (unsigned n = 0; n < 300; n++) {
        for (unsigned i = 0; i < n; i++) {
            data[i] = (char)next_random();
        }
        encoded[0] = '"';
        size_t k = 1 + encode_base64(encoded + 1, data, n);
        encoded[k++] = '"';
        encoded[k++] = ',';
        cuzk_c1_text text;
        uint64_t found = 0;
        cuzk_c1_text_plain(&text, (uint8_t *)encoded, k);
        assert_int_equal(cuzk_c1_base64(&text, out, &found, NULL), CUZK_OK);
        assert_int_equal(found, n);
        assert_memory_equal(out, data, n);
        assert_ptr_equal(text.p, encoded + k - 1); /* behind the string */
        for (size_t cut = 0; cut + 1 < k; cut += 1 + cut / 8) {
            cuzk_c1_text_plain(&text, (uint8_t *)encoded, cut);
            assert_int_equal(cuzk_c1_base64(&text, out, &found, NULL), CUZK_E_TRUNCATED);
        }
    }
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"\"Zg=\"", "padding is missing"},      {"\"Zg\"", "padding is missing"},
        {"\"Z\"", "padding is missing"},        {"\"Zh==\"", "unused bits are set"},
        {"\"Zm9=\"", "unused bits are set"},    {"\"Z===\"", "offset 2: base64: byte 0x3d"},
        {"\"====\"", "offset 1: base64: byte"}, {"\"Zm9v=\"", "offset 5: base64: byte"},
        {"\"Zm-v\"", "offset 3: base64: byte"}, {"\"Zm_v\"", "byte 0x5f"},
        {"\"Zm9v\nZm9v\"", "byte 0x0a"},        {"\"Zg==Zg==\"", "offset 5: base64: byte"},
        {"\"Zm9vZ g==\"", "byte 0x20"},         {"1", "expected '\"'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_c1_text text;
        uint64_t found;
        cuzk_error err = {0};
        cuzk_c1_text_plain(&text, (const uint8_t *)bad[i].text, strlen(bad[i].text));
        assert_int_equal(cuzk_c1_base64(&text, out, &found, &err), CUZK_E_FORMAT);
        if (strstr(err.text, bad[i].says) == NULL) {
            fail_msg("%s: %s, expected %s", bad[i].text, err.text, bad[i].says);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_digests),  cmocka_unit_test(test_field_elements),
        cmocka_unit_test(test_skipping), cmocka_unit_test(test_objects),
        cmocka_unit_test(test_arrays),   cmocka_unit_test(test_windows),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
