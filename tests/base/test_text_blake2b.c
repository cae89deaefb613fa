/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BLAKE2b: RFC 7693 appendix A, lengths around the block size (expected values from Python's
 * hashlib) in one piece and in many. Growing text: formatting, escapes, lengths around its first
 * size. URLs as they are told. */
#include "base/blake2b.h"
#include "base/text.h"
#include "base/trace_context.h"
#include "base/url_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_digest_starts(const uint8_t *digest, const char *hex)
{
    char found[2 * CUZK_BLAKE2B_BYTES + 1];
    for (int i = 0; i < CUZK_BLAKE2B_BYTES; i++) {
        snprintf(found + 2 * i, 3, "%02x", digest[i]);
    }
    found[strlen(hex)] = 0;
    assert_string_equal(found, hex);
}

static void test_blake2b(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        const char *hex;
    } known[] = {
        {0, "786a02f742015903c6c6fd852552d272"},    {1, "4fe4da61bcc756071b226843361d7494"},
        {127, "71546bbf9110ad184cc60f2eb120fcfd"},  {128, "2d9e329f42afa3601d646692b81c13e8"},
        {129, "47889df9eb4d717afc5019df5c6a83df"},  {255, "1a5199ac66a00e8a87ad1c7fbad30b33"},
        {256, "91019c558584980249ca43eceed27e19"},  {257, "9f1975efca45e7b74b020975d4d2c228"},
        {1000, "4bdd2c9cf31d797a81d245c989ffb751"},
    };
    uint8_t data[1000];
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7 + 3);
    }
    cuzk_blake2b_digest(digest, "abc", 3);
    assert_digest_starts(digest,
                         "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                         "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        cuzk_blake2b_digest(digest, data, known[k].n);
        assert_digest_starts(digest, known[k].hex);
        for (size_t step = 1; step < 300; step += 63) {
            cuzk_blake2b b;
            cuzk_blake2b_init(&b);
            for (size_t i = 0; i < known[k].n; i += step) {
                cuzk_blake2b_update(&b, data + i, known[k].n - i < step ? known[k].n - i : step);
            }
            cuzk_blake2b_final(&b, digest);
            assert_digest_starts(digest, known[k].hex);
        }
    }
}

static void test_text(void **state)
{
    (void)state;
    cuzk_text t = {0};
    assert_int_equal(cuzk_text_check(&t, NULL), CUZK_OK);
    for (int i = 0; i < 1000; i++) {
        cuzk_text_printf(&t, "%d,", i);
        assert_int_equal(strlen(t.data), t.size);
    }
    assert_int_equal(t.size, 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(t.data + t.size - 8, "998,999,", 8);
    cuzk_text_clear(&t);
    cuzk_text_put_json_string(&t, "a\"b\\c\n\x7f\xc3\xa9~");
    assert_string_equal(t.data, "\"a\\\"b\\\\c\\u000a\\u007f\xc3\xa9~\"");
    cuzk_text_clear(&t);
    cuzk_text_put_bytes(&t, "xyz", 2);
    cuzk_text_put(&t, "");
    assert_string_equal(t.data, "xy");
    cuzk_text_clear(&t);
    assert_null(t.data);
}

/* W3C Trace Context, 3.2: what is no traceparent is as if there were none. */
static void test_trace_context(void **state)
{
    (void)state;
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"
    static const struct {
        const char *text;
        bool is_read, is_sampled;
    } cases[] = {
        {"00-" TRACE "-" SPAN "-01", true, true},
        {"00-" TRACE "-" SPAN "-00", true, false},
        {"00-" TRACE "-" SPAN "-ff", true, true}, /* unknown flags */
        {"00-" TRACE "-" SPAN "-02", true, false},
        {"cc-" TRACE "-" SPAN "-01", true, true},            /* a later version */
        {"cc-" TRACE "-" SPAN "-01-what-comes", true, true}, /* with more behind it */
        {"cc-" TRACE "-" SPAN "-01.what", false, false},
        {"00-" TRACE "-" SPAN "-01-", false, false},
        {"ff-" TRACE "-" SPAN "-01", false, false},
        {"00-00000000000000000000000000000000-" SPAN "-01", false, false},
        {"00-" TRACE "-0000000000000000-01", false, false},
        {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", false, false},
        {"00-" TRACE "-" SPAN "-0g", false, false},
        {"0x-" TRACE "-" SPAN "-01", false, false},
        {"00_" TRACE "-" SPAN "-01", false, false},
        {"00-" TRACE "_" SPAN "-01", false, false},
        {"00-" TRACE "-" SPAN "_01", false, false},
        {"00-" TRACE "-" SPAN "-1", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_trace_context c;
        char copy[64]; /* of exactly as many bytes, for sanitizers */
        size_t n = strlen(cases[i].text);
        char *end = copy + sizeof copy - n;
        assert_true(n < sizeof copy || n == strlen("cc-" TRACE "-" SPAN "-01-what-comes"));
        const char *text = n < sizeof copy ? memcpy(end, cases[i].text, n) : cases[i].text;
        assert_int_equal(cuzk_trace_context_read(&c, text, n), cases[i].is_read);
        assert_int_equal(c.is_set, cases[i].is_read);
        assert_int_equal(c.is_sampled, cases[i].is_sampled);
        assert_int_equal(c.trace[0], cases[i].is_read ? 0x4b : 0);
        assert_int_equal(c.trace[15], cases[i].is_read ? 0x36 : 0);
        assert_int_equal(c.span[1], cases[i].is_read ? 0xf0 : 0);
        assert_int_equal(c.span[7], cases[i].is_read ? 0xb7 : 0);
    }
}

static void test_url(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"http://localhost:4318/v1/traces", "http://localhost:4318/v1/traces"},
        {"https://me:secret@host/v1?key=secret#secret", "https://***@host/v1?***"},
        {"http://me:sec@ret@host", "http://***@host"},
        {"http://me:sec/ret@host/x", "http://***@host/x"},
        {"http://me:sec?ret@host/x", "http://***"}, /* whose is the '@'? */
        {"http://host/x?mail=a@secret", "http://***"},
        {"http://host/x#secret", "http://host/x#***"},
        {"http://[::1]:4318/x?", "http://[::1]:4318/x?***"},
        {"me:secret@host:4318/x", "***@host:4318/x"},
        {"me:secret@host/?to=http://other/", "***@host/?***"},
        {"secret@", "***@"},
        {"", ""},
        {"ftp://", "ftp://"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(cuzk_url_shown(cases[i][0]).text, cases[i][1]);
    }
    char text[3000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_true(strlen(cuzk_url_shown(text).text) <= sizeof cuzk_url_shown(text).text - 1);
    memcpy(text + 2000, "://me:secret@host", 18);
    assert_null(strstr(cuzk_url_shown(text).text, "secret"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blake2b),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_trace_context),
        cmocka_unit_test(test_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
