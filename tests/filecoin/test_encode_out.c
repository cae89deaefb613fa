/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes, numbers and base64 groups in any mixture and in pieces of any size, against the whole text
 * put together here; and a disk that is full. */
#include "filecoin/encode_out.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t seed = 0x5eed0032;

static uint64_t next_random(void)
{
    return cuzk_test_random(&seed);
}

/* What is expected: plain bytes, and the bytes of the base64 group that is open. */
struct expected {
    char *text, *group;
    size_t n, n_group;
    bool base64;
};

static void expect_bytes(struct expected *e, const void *data, size_t n)
{
    if (e->base64) {
        memcpy(e->group + e->n_group, data, n);
        e->n_group += n;
    } else {
        memcpy(e->text + e->n, data, n);
        e->n += n;
    }
}

/* Six bits at a time, by the table of RFC 4648. */
static void close_group(struct expected *e)
{
    for (size_t bit = 0; bit < 8 * e->n_group; bit += 6) {
        unsigned v = 0;
        for (size_t k = bit; k < bit + 6; k++) {
            unsigned b = k < 8 * e->n_group ? (uint8_t)e->group[k / 8] >> (7 - k % 8) & 1u : 0;
            v = v << 1 | b;
        }
        e->text[e->n++] = (char)(v < 26    ? 'A' + v
                                 : v < 52  ? 'a' + (v - 26)
                                 : v < 62  ? '0' + (v - 52)
                                 : v == 62 ? '+'
                                           : '/');
    }
    for (size_t k = e->n_group; k % 3 != 0; k++) {
        e->text[e->n++] = '=';
    }
    e->n_group = 0;
}

static void random_pieces(size_t most)
{
    enum { ROOM = 1 << 20 };
    struct expected e = {.text = malloc(ROOM), .group = malloc(ROOM)};
    char *written = NULL;
    size_t n_written = 0;
    FILE *f = open_memstream(&written, &n_written);
    cuzk_encode_out *out = calloc(1, sizeof *out);
    assert_non_null(f);
    out->file = f;
    char data[3000], text[32];
    while (e.n + e.n_group < most) {
        uint64_t r = next_random();
        size_t n = (size_t)(r >> 8) % (r % 3 == 0 ? 10 : sizeof data);
        switch (r % 8) {
        case 0:
            if (e.base64) {
                close_group(&e);
            }
            e.base64 = false;
            cuzk_encode_base64(out, false);
            cuzk_encode_text(out, "\"");
            expect_bytes(&e, "\"", 1);
            e.base64 = true;
            cuzk_encode_base64(out, true);
            break;
        case 1:
            if (e.base64) {
                close_group(&e);
                e.base64 = false;
                cuzk_encode_base64(out, false);
            }
            break;
        case 2:
            cuzk_encode_decimal(out, r >> (r % 64));
            snprintf(text, sizeof text, "%" PRIu64, r >> (r % 64));
            expect_bytes(&e, text, strlen(text));
            break;
        case 3: {
            const uint8_t le[8] = {(uint8_t)r,         (uint8_t)(r >> 8),  (uint8_t)(r >> 16),
                                   (uint8_t)(r >> 24), (uint8_t)(r >> 32), (uint8_t)(r >> 40),
                                   (uint8_t)(r >> 48), (uint8_t)(r >> 56)};
            cuzk_encode_u32(out, (uint32_t)r);
            cuzk_encode_u64(out, r);
            expect_bytes(&e, le, 4);
            expect_bytes(&e, le, 8);
            break;
        }
        default:
            for (size_t i = 0; i < n; i++) {
                data[i] = (char)next_random();
            }
            cuzk_encode_put(out, data, n);
            expect_bytes(&e, data, n);
        }
    }
    if (e.base64) {
        close_group(&e);
        cuzk_encode_base64(out, false);
    }
    assert_int_equal(cuzk_encode_finish(out, NULL), CUZK_OK);
    fclose(f);
    assert_int_equal(n_written, e.n);
    assert_memory_equal(written, e.text, e.n);
    free(written);
    free(out);
    free(e.text);
    free(e.group);
}

static void test_pieces(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        random_pieces((size_t)round * 5000);
    }
}

static void test_edges(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 1, 9, 10, 99, 100, UINT32_MAX, UINT64_MAX};
    char *written = NULL, text[256] = "";
    size_t n = 0;
    FILE *f = open_memstream(&written, &n);
    cuzk_encode_out *out = calloc(1, sizeof *out);
    out->file = f;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cuzk_encode_decimal(out, numbers[i]);
        cuzk_encode_text(out, ",");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%" PRIu64 ",", numbers[i]);
    }
    /* an empty group, groups of one to four bytes */
    static const char *const groups[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="};
    for (size_t k = 0; k < 5; k++) {
        cuzk_encode_base64(out, true);
        cuzk_encode_put(out, "foob", k);
        cuzk_encode_base64(out, false);
        cuzk_encode_text(out, ";");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s;", groups[k]);
    }
    assert_int_equal(cuzk_encode_finish(out, NULL), CUZK_OK);
    fclose(f);
    assert_string_equal(written, text);
    free(written);
    free(out);
}

static void test_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    for (size_t n = 1; n < 200000; n = n * 7 + 1) {
        cuzk_encode_out *out = calloc(1, sizeof *out);
        cuzk_error err = {0};
        char *data = calloc(1, n);
        out->file = fopen("/dev/full", "w");
        assert_non_null(out->file);
        setvbuf(out->file, NULL, _IONBF, 0);
        cuzk_encode_put(out, data, n);
        assert_int_equal(cuzk_encode_finish(out, &err), CUZK_E_FILE);
        assert_non_null(strstr(err.text, "No space left"));
        fclose(out->file);
        free(data);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
