/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proofs as text: any number of bytes written and read back in each form; texts that are cut,
 * spoiled, or could be of two forms. */
#include "formats/proof_text.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mentions.h"

static uint64_t seed = 0x5eed07e7;

enum { BYTES_MAX = 20 * 192, TEXT_MAX = 2 * BYTES_MAX + 600 };
enum form { HEX, UPPER_HEX, BASE64, JSON, FORMS };

/* Bytes as a text of that form, written here. Returns its length. */
static size_t make_text(char *out, enum form form, const uint8_t *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t at = 0;
    if (form == HEX || form == UPPER_HEX) {
        for (size_t i = 0; i < n; i++) {
            at += (size_t)sprintf(out + at, form == HEX ? "%02x" : "%02X", data[i]);
        }
        out[at] = '\0';
        return at;
    }
    at = form == JSON ? (size_t)sprintf(out, "{\"x\":{\"proof\":[1]},\"proof\":\"") : 0;
    for (size_t bit = 0; bit < 8 * n; bit += 6) { /* six bits at a time */
        unsigned v = 0;
        for (size_t k = bit; k < bit + 6; k++) {
            v = v << 1 | (k < 8 * n ? data[k / 8] >> (7 - k % 8) & 1u : 0);
        }
        out[at++] = digits[v];
    }
    for (size_t i = n; i % 3 != 0; i++) {
        out[at++] = '=';
    }
    return form == JSON ? at + (size_t)sprintf(out + at, "\",\"y\":null}") : (out[at] = '\0', at);
}

static cuzk_status read_exact(const char *text, size_t n, uint8_t **out, size_t *n_out,
                              cuzk_error *err)
{
    uint8_t *copy = malloc(n > 0 ? n : 1); /* of that size, for the sanitizers */
    assert_non_null(copy);
    memcpy(copy, text, n);
    *err = (cuzk_error){0};
    cuzk_status s = cuzk_proof_text_read(out, n_out, copy, n, err);
    free(copy);
    return s;
}

static void expect_read(const char *text, size_t n, const uint8_t *data, size_t n_data)
{
    uint8_t *out = NULL;
    size_t n_out = 0;
    cuzk_error err;
    if (read_exact(text, n, &out, &n_out, &err) != CUZK_OK) {
        fail_msg("%.60s: %s", text, err.text);
    }
    assert_int_equal(n_out, n_data);
    assert_memory_equal(out, data, n_data);
    free(out);
}

static void expect_refused(const char *text, size_t n, cuzk_status status, const char *mention)
{
    uint8_t *out = NULL;
    size_t n_out = 77;
    cuzk_error err;
    assert_int_equal(read_exact(text, n, &out, &n_out, &err), status);
    assert_mentions(err.text, mention);
    assert_null(out);
}

static void random_bytes(uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)cuzk_test_random(&seed);
    }
}

static void test_round_trips(void **state)
{
    (void)state;
    static uint8_t data[BYTES_MAX];
    static char text[TEXT_MAX], spaced[TEXT_MAX + 20];
    for (int round = 0; round < 300; round++) {
        size_t n = round < 60 ? 4 + (size_t)round : 192 * (1 + cuzk_test_random(&seed) % 20);
        random_bytes(data, n);
        data[cuzk_test_random(&seed) % n] = 0xff; /* as it is, no text */
        expect_read((const char *)data, n, data, n);
        for (int form = 0; form < FORMS; form++) {
            size_t n_text = make_text(text, (enum form)form, data, n);
            expect_read(text, n_text, data, n);
            /* white space around it */
            int n_spaced = snprintf(spaced, sizeof spaced, " \r\n\t%s \n\n", text);
            expect_read(spaced, (size_t)n_spaced, data, n);
            cuzk_text ours = {0};
            if (form == HEX || form == BASE64) {
                (form == HEX ? cuzk_text_put_hex : cuzk_text_put_base64)(&ours, data, n);
                assert_int_equal(cuzk_text_check(&ours, NULL), CUZK_OK);
                assert_string_equal(ours.data, text);
                cuzk_text_clear(&ours);
            }
        }
    }
}

/* Cut anywhere: too short by its own account, or fewer bytes, never others. */
static void test_cut(void **state)
{
    (void)state;
    uint8_t data[192], *out = NULL;
    char text[TEXT_MAX];
    random_bytes(data, sizeof data);
    for (int form = 0; form < FORMS; form++) {
        size_t n_text = make_text(text, (enum form)form, data, sizeof data);
        for (size_t n = 0; n < n_text; n++) {
            size_t n_out = 0;
            cuzk_error err;
            cuzk_status s = read_exact(text, n, &out, &n_out, &err);
            size_t unit = form == HEX || form == UPPER_HEX ? 2 : 4;
            bool whole = form != JSON && n % unit == 0;
            /* the first letters of base64 may all be hexadecimal digits, and mean other bytes */
            bool is_hex = strspn(text, "0123456789abcdefABCDEF") >= n;
            if (form == BASE64 && is_hex) {
                free(s == CUZK_OK ? out : NULL);
                out = NULL;
                continue;
            }
            assert_int_equal(s == CUZK_OK, whole || n == 0);
            if (s == CUZK_OK) {
                assert_int_equal(n_out, form == BASE64 ? n / 4 * 3 : n / 2);
                assert_memory_equal(out, data, n_out);
                free(out);
                out = NULL;
            } else {
                assert_int_equal(s, CUZK_E_TRUNCATED);
            }
        }
    }
}

static void test_spoiled(void **state)
{
    (void)state;
    uint8_t data[192];
    char text[TEXT_MAX], mention[80];
    random_bytes(data, sizeof data);
    /* any other character, with its place: in base64, and in hexadecimal, which it makes base64 */
    static const char others[] = "-_*%&()[]{}<>.,;:!?'\"\\ \t\n|~^@#$";
    size_t n = make_text(text, BASE64, data, sizeof data);
    for (const char *c = others; *c != '\0'; c++) {
        size_t at = 1 + cuzk_test_random(&seed) % (n - 2); /* spaces at the ends are fine */
        char good = text[at];
        text[at] = *c;
        snprintf(mention, sizeof mention, "offset %zu: byte 0x%02x", at, (unsigned char)*c);
        expect_refused(text, n, CUZK_E_FORMAT, mention);
        text[at] = good;
    }
    n = make_text(text, HEX, data, sizeof data);
    text[101] = 'g'; /* 384 characters that may be base64: read as such */
    uint8_t *out = NULL;
    size_t n_out = 0;
    cuzk_error err;
    assert_int_equal(read_exact(text, n, &out, &n_out, &err), CUZK_OK);
    assert_int_equal(n_out, 288);
    free(out);
    text[101] = '.';
    expect_refused(text, n, CUZK_E_FORMAT, "offset 101: byte 0x2e is neither");
    /* padding: in the middle, too much of it, none; bits that no byte has */
    static const struct {
        const char *text, *mention;
        cuzk_status status;
    } bad[] = {{"QUI=QUI=", "offset 3: byte 0x3d", CUZK_E_FORMAT},
               {"Q===", "offset 1: byte 0x3d", CUZK_E_FORMAT},
               {"====", "offset 0: byte 0x3d", CUZK_E_FORMAT},
               {"QUI", "3 characters of base64, expected a multiple of 4", CUZK_E_TRUNCATED},
               {"zQ", "2 characters of base64", CUZK_E_TRUNCATED},
               {"QUJ=", "has bits beyond the last byte", CUZK_E_FORMAT},
               {"QR==", "has bits beyond the last byte", CUZK_E_FORMAT},
               {"abc", "an odd number of hexadecimal digits: 3", CUZK_E_TRUNCATED},
               {"0xab", "", CUZK_OK}, /* base64 */
               {"{}", "no member \"proof\"", CUZK_E_FORMAT},
               {"{\"proof\":[]}", "\"proof\" is not a string", CUZK_E_FORMAT},
               {"{\"proof\":\"00\",\"proof\":\"00\"}", "\"proof\" is there twice", CUZK_E_FORMAT},
               {"{\"Proof\":\"00\"}", "no member \"proof\"", CUZK_E_FORMAT},
               {"{\"proof\":\"00\"} x", "line 1", CUZK_E_FORMAT},
               {"{\"proof\":\"0\"}", "an odd number", CUZK_E_TRUNCATED},
               {"{\"proof\":\"ABC.\"}", "offset 13: byte 0x2e", CUZK_E_FORMAT},
               {"[\"00\"]", "offset 0: byte 0x5b", CUZK_E_TRUNCATED}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_status s = read_exact(bad[i].text, strlen(bad[i].text), &out, &n_out, &err);
        bool truncated_first =
            i + 1 == sizeof bad / sizeof bad[0]; /* 6 characters: counted first */
        if (s != bad[i].status ||
            (s != CUZK_OK && !truncated_first && strstr(err.text, bad[i].mention) == NULL)) {
            fail_msg("%s: status %d, \"%s\", expected %d, \"%s\"", bad[i].text, s, err.text,
                     bad[i].status, bad[i].mention);
        }
        free(s == CUZK_OK ? out : NULL);
    }
    expect_read("{\"proof\":\"\\u0030\\u0030\"}", 24, (const uint8_t *)"\0", 1);
    expect_read("", 0, data, 0);
    expect_read(" \n ", 3, data, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_spoiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
