/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small parts of the daemon that read and write texts: quoted ids, addresses to listen on, what the
 * service manager is told. */
#include "server/address.h"
#include "server/quote.h"

#include "formats/json_pull.h"
#include "random.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <cmocka.h>

/* ---- quotes ---- */

/* The text that a JSON reader finds in quoted(s). Returned: free. */
static char *read_back(const char *s)
{
    cuzk_text out = {0};
    cuzk_text_put_quoted(&out, s);
    assert_false(out.failed);
    for (size_t i = 0; i < out.size; i++) { /* one line, nothing for a terminal */
        assert_true((unsigned char)out.data[i] >= ' ' && out.data[i] != 0x7f);
    }
    cuzk_json json;
    cuzk_json_token token;
    cuzk_error err = {0};
    cuzk_json_init(&json, (const uint8_t *)out.data, out.size);
    if (cuzk_json_next(&json, &token, &err) != CUZK_OK) {
        fail_msg("%s: %s", out.data, err.text);
    }
    assert_int_equal(token.kind, CUZK_JSON_STRING);
    char *text = malloc(token.size + 1);
    memcpy(text, token.text, token.size);
    text[token.size] = '\0';
    cuzk_json_clear(&json);
    cuzk_text_clear(&out);
    return text;
}

static void test_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *back;
    } cases[] = {
        {"", ""},
        {"job-1", "job-1"},
        {"\"\\/", "\"\\/"},
        {"\n\r\t\x01\x1f\x7f", "\n\r\t\x01\x1f\x7f"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "\xc2\x80\xc2\x9f\xc2\xa0"}, /* C1: escaped, but the same */
        {"\xc3\xbc\xf0\x9f\x90\x88", "\xc3\xbc\xf0\x9f\x90\x88"},
        {"a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b"},
        {"\xc3", "\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"%s%n", "%s%n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *back = read_back(cases[i].text);
        assert_string_equal(back, cases[i].back);
        free(back);
    }
}

static void test_any_bytes_quoted(void **state)
{
    (void)state;
    uint64_t seed = 9;
    char text[100];
    for (int round = 0; round < 4000; round++) {
        size_t n = cuzk_test_random(&seed) % (sizeof text - 1);
        bool is_ascii = round % 2 == 0;
        for (size_t i = 0; i < n; i++) {
            unsigned byte = (unsigned)cuzk_test_random(&seed) & (is_ascii ? 0x7f : 0xff);
            text[i] = (char)(byte == 0 ? 1 : byte);
        }
        text[n] = '\0';
        char *back = read_back(text);
        if (is_ascii) {
            assert_string_equal(back, text);
        }
        free(back);
    }
}

/* Long values are cut between characters; what comes before is kept. */
static void test_long_quotes(void **state)
{
    (void)state;
    static const char *const pieces[] = {"x", "\xe2\x82\xac", "\"", "\x01", "\xff"};
    char *text = malloc(5 * CUZK_QUOTE_MAX);
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        size_t piece = strlen(pieces[k]);
        for (size_t n = 0; n < CUZK_QUOTE_MAX + 20; n += n < CUZK_QUOTE_MAX - 10 ? 341 : 1) {
            cuzk_text out = {0};
            text[0] = '\0';
            for (size_t i = 0; i < n; i++) {
                memcpy(text + i * piece, pieces[k], piece + 1);
            }
            cuzk_text_put(&out, "id=");
            cuzk_text_put_quoted(&out, text);
            assert_in_range(out.size, 5, CUZK_QUOTE_MAX + 20);
            assert_memory_equal(out.data, "id=\"", 4);
            assert_int_equal(out.data[out.size - 1], '"');
            if (n * piece < CUZK_QUOTE_MAX / 6) {
                assert_null(strstr(out.data, "..."));
            }
            if (n > CUZK_QUOTE_MAX + 6) {
                assert_string_equal(out.data + out.size - 4, "...\"");
            }
            char *back = read_back(text);
            assert_true(strlen(back) <= CUZK_QUOTE_MAX + 10);
            free(back);
            cuzk_text_clear(&out);
        }
    }
    free(text);
}

/* ---- addresses ---- */

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int family;
        bool is_local;
        uint16_t port;
    } good[] = {
        {"unix:///run/cuzk.sock", AF_UNIX, true, 0}, {"unix:/run/cuzk.sock", AF_UNIX, true, 0},
        {"127.0.0.1:9820", AF_INET, true, 9820},     {"127.9.9.9:1", AF_INET, true, 1},
        {"0.0.0.0:65535", AF_INET, false, 65535},    {"10.1.2.3:0", AF_INET, false, 0},
        {"[::1]:9820", AF_INET6, true, 9820},        {"[::]:00080", AF_INET6, false, 80},
        {"[fe80::1:2]:5", AF_INET6, false, 5},
    };
    static const char *const bad[] = {"",
                                      "localhost:1",
                                      "1.2.3.4",
                                      "1.2.3.4:",
                                      ":1",
                                      "1.2.3.4:65536",
                                      "1.2.3:4",
                                      "1.2.3.4:-1",
                                      "1.2.3.4:1x",
                                      "::1:80",
                                      "[::1]",
                                      "[::1]80",
                                      "[::1:80",
                                      "[1.2.3.4]:80",
                                      "1.2.3.4:1 ",
                                      " 1.2.3.4:1",
                                      "[]:80",
                                      "[::1]:",
                                      "unix:",
                                      "unix://",
                                      "unix://x",
                                      "unix:x",
                                      "http://x:1",
                                      "1.2.3.4:000001",
                                      "1.2.3.256:1",
                                      "[::1]:80]:80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cuzk_address a;
        cuzk_error err = {0};
        if (cuzk_address_parse(&a, good[i].text, &err) != CUZK_OK) {
            fail_msg("%s: %s", good[i].text, err.text);
        }
        assert_int_equal(a.address.ss_family, good[i].family);
        assert_int_equal(a.is_unix, good[i].family == AF_UNIX);
        assert_int_equal(a.is_local, good[i].is_local);
        assert_int_equal(a.port, good[i].port);
        if (good[i].family == AF_INET) {
            const struct sockaddr_in *in = (const struct sockaddr_in *)&a.address;
            char text[64], ip[INET_ADDRSTRLEN];
            assert_int_equal(a.size, sizeof *in);
            inet_ntop(AF_INET, &in->sin_addr, ip, sizeof ip);
            snprintf(text, sizeof text, "%s:%u", ip, ntohs(in->sin_port));
            assert_string_equal(text, good[i].text);
        } else if (good[i].family == AF_UNIX) {
            const struct sockaddr_un *un = (const struct sockaddr_un *)&a.address;
            assert_string_equal(un->sun_path, "/run/cuzk.sock");
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cuzk_address a;
        cuzk_error err = {0};
        if (cuzk_address_parse(&a, bad[i], &err) != CUZK_E_ARGUMENT) {
            fail_msg("\"%s\" is taken", bad[i]);
        }
        assert_non_null(strstr(err.text, "address \""));
    }
}

/* A socket's path is as long as the system allows, and not a byte longer. */
static void test_socket_paths(void **state)
{
    (void)state;
    char text[sizeof((struct sockaddr_un *)0)->sun_path + 16] = "unix://";
    size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    for (size_t n = most - 1; n <= most + 1; n++) {
        cuzk_address a;
        cuzk_error err = {0};
        memset(text + 7, 'p', n);
        text[7] = '/';
        text[7 + n] = '\0';
        cuzk_status status = cuzk_address_parse(&a, text, &err);
        assert_int_equal(status, n <= most ? CUZK_OK : CUZK_E_ARGUMENT);
        if (n > most) {
            assert_non_null(strstr(err.text, "the path has 108 bytes, the system allows 107"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotes),       cmocka_unit_test(test_any_bytes_quoted),
        cmocka_unit_test(test_long_quotes),  cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_socket_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
