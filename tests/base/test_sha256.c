/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-256: the examples of FIPS 180-4 and its companion, and splits of one message. */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const void *data, size_t n, const char *hex)
{
    uint8_t out[CUZK_SHA256_BYTES];
    char text[65];
    cuzk_sha256_digest(out, data, n);
    for (int i = 0; i < 32; i++) {
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    }
    assert_string_equal(text, hex);
}

static void test_known_answers(void **state)
{
    (void)state;
    expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    expect(two, strlen(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    expect(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

static void test_splits(void **state)
{
    (void)state;
    uint8_t data[300], whole[32], parts[32];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7 + 3);
    }
    for (size_t n = 0; n <= sizeof data; n++) {
        cuzk_sha256_digest(whole, data, n);
        size_t cut = n * 5 / 11;
        cuzk_sha256 sha;
        cuzk_sha256_init(&sha);
        cuzk_sha256_update(&sha, data, cut);
        cuzk_sha256_update(&sha, data + cut, n - cut);
        cuzk_sha256_final(&sha, parts);
        assert_memory_equal(whole, parts, 32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
