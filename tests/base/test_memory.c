/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pages, growing texts, mapped files, random bytes: sizes around every limit, and memory that runs
 * out. */
#define _GNU_SOURCE
#include "alloc_fail.h"
#include "base/map_file.h"
#include "base/pages.h"
#include "base/random.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_mapped(const uint8_t *p)
{
    unsigned char resident;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return mincore((void *)((uintptr_t)p & ~(page - 1)), 1, &resident) == 0 || errno != ENOMEM;
}

static void test_pages(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), mib = 1 << 20;
    const size_t sizes[] = {0,
                            1,
                            page - 1,
                            page,
                            page + 1,
                            mib,
                            16 * mib - page,
                            16 * mib - 1,
                            16 * mib,
                            16 * mib + 1,
                            17 * mib,
                            18 * mib,
                            20 * mib + page};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        uint8_t *p = cuzk_pages_alloc(n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % (n >= 16 * mib ? 2 * mib : page), 0);
        for (size_t k = 0; k < n; k += n / 7 + 1) {
            assert_int_equal(p[k], 0);
            p[k] = 1;
        }
        if (n > 0) {
            assert_true(p[n - 1] <= 1);
            p[n - 1] = 1;
            assert_true(is_mapped(p + n - 1));
        }
        cuzk_pages_free(p, n);
        assert_false(is_mapped(p));
        assert_false(n > 0 && is_mapped(p + n - 1));
    }
    cuzk_pages_free(NULL, 5);
    assert_null(cuzk_pages_alloc(SIZE_MAX));
    assert_null(cuzk_pages_alloc(SIZE_MAX / 2 + 1));
    for (int k = 0; k < 2; k++) {
        alloc_fail_at(0);
        assert_null(cuzk_pages_alloc(k == 0 ? page : 32 * mib));
        assert_true(alloc_fail_stop());
    }
}

/* Only pages that lie wholly inside become zero. */
static void test_discard(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 8 * page;
    uint8_t *p = cuzk_pages_alloc(n);
    assert_non_null(p);
    static const size_t steps[] = {0, 1, 63};
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            size_t begin = page + steps[a], end = 5 * page + steps[b];
            memset(p, 7, n);
            cuzk_pages_discard(p + begin, end - begin);
            size_t first = steps[a] == 0 ? page : 2 * page;
            for (size_t k = 0; k < n; k += 31) {
                assert_int_equal(p[k], k >= first && k < 5 * page ? 0 : 7);
            }
        }
    }
    memset(p, 7, n);
    cuzk_pages_discard(p + 1, page - 1); /* no whole page */
    cuzk_pages_discard(p, 0);
    assert_int_equal(p[1], 7);
    cuzk_pages_free(p, n);
}

/* A text grows by pieces of every length to what they are together. */
static void test_text_grows(void **state)
{
    (void)state;
    static char expected[1 << 16];
    size_t n = 0;
    cuzk_text text = {0};
    for (unsigned i = 0; n + 600 < sizeof expected; i++) {
        char piece[600];
        size_t k = i * 37 % 599;
        memset(piece, 'a' + (int)(i % 26), k);
        piece[k] = 0;
        switch (i % 3) {
        case 0:
            cuzk_text_put(&text, piece);
            break;
        case 1:
            cuzk_text_put_bytes(&text, piece, k);
            break;
        default:
            cuzk_text_printf(&text, "%s", piece);
            break;
        }
        memcpy(expected + n, piece, k);
        n += k;
        assert_int_equal(text.size, n);
        assert_int_equal(text.data[n], 0);
    }
    assert_memory_equal(text.data, expected, n);
    assert_int_equal(cuzk_text_check(&text, NULL), CUZK_OK);
    cuzk_text_clear(&text);
}

static void test_text_without_memory(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        cuzk_text text = {0};
        cuzk_error err = {0};
        cuzk_text_put(&text, "before");
        char piece[1000];
        memset(piece, 'x', sizeof piece - 1);
        piece[sizeof piece - 1] = 0;
        alloc_fail_at(0);
        if (how == 0) {
            cuzk_text_put(&text, piece);
        } else if (how == 1) {
            cuzk_text_printf(&text, "%s!", piece);
        } else {
            cuzk_text_put_json_string(&text, piece);
        }
        assert_true(alloc_fail_stop());
        cuzk_text_put(&text, "after"); /* there is memory again, but a piece is missing */
        assert_int_equal(cuzk_text_check(&text, &err), CUZK_E_MEMORY);
        cuzk_text_clear(&text);
        assert_null(text.data);
    }
}

static void test_mapped_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
    cuzk_map_file m = {0};
    cuzk_error err = {0};
    assert_int_equal(cuzk_map_file_open(&m, path, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "No such file"));
    assert_int_equal(cuzk_write_file(path, NULL, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_map_file_open(&m, path, NULL), CUZK_OK);
    assert_null(m.data);
    assert_int_equal(m.size, 0);
    cuzk_map_file_close(&m);
    /* pages that were dropped are there again when they are read */
    static uint8_t data[100000];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 31 >> 3);
    }
    assert_int_equal(cuzk_write_file(path, data, sizeof data, NULL), CUZK_OK);
    assert_int_equal(cuzk_map_file_open(&m, path, NULL), CUZK_OK);
    assert_int_equal(m.size, sizeof data);
    assert_memory_equal(m.data, data, sizeof data);
    cuzk_map_file_drop(m.data + 1, m.size - 1);
    cuzk_map_file_drop(m.data, 10);
    assert_memory_equal(m.data, data, sizeof data);
    cuzk_map_file_close(&m);
    cuzk_map_file_close(&m); /* all zero now */
    cuzk_error_clear(&err);
    alloc_fail_at(0);
    assert_int_equal(cuzk_map_file_open(&m, path, &err), CUZK_E_FILE);
    assert_true(alloc_fail_stop());
    assert_non_null(strstr(err.text, "mapping \""));
    assert_non_null(strstr(err.text, "(100000 bytes)"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    cuzk_error_clear(&err);
    /* a reader of a pipe would wait for a writer: give it one */
    int writer = open(path, O_RDWR);
    assert_true(writer >= 0);
    assert_int_equal(cuzk_map_file_open(&m, path, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "it is not a file"));
    close(writer);
    unlink(path);
    rmdir(folder);
}

static void test_random(void **state)
{
    (void)state;
    static uint8_t a[1 << 20], b[1 << 20];
    assert_int_equal(cuzk_random_bytes(a, sizeof a, NULL), CUZK_OK);
    assert_int_equal(cuzk_random_bytes(b, sizeof b, NULL), CUZK_OK);
    size_t ones = 0, same = 0;
    for (size_t i = 0; i < sizeof a; i++) {
        ones += (size_t)__builtin_popcount(a[i]);
        same += a[i] == b[i];
    }
    /* 8 Mi fair bits: ten standard deviations are 14,500; equal bytes: 4096 ± 640 */
    assert_in_range(ones, (4u << 20) - 14500, (4u << 20) + 14500);
    assert_in_range(same, 4096 - 640, 4096 + 640);
    uint8_t untouched[4] = {1, 2, 3, 4};
    assert_int_equal(cuzk_random_bytes(untouched, 0, NULL), CUZK_OK);
    assert_memory_equal(untouched, "\1\2\3\4", 4);

    char id[CUZK_UUID_BYTES], other[CUZK_UUID_BYTES];
    assert_int_equal(cuzk_random_uuid(id, NULL), CUZK_OK);
    assert_int_equal(cuzk_random_uuid(other, NULL), CUZK_OK);
    assert_int_equal(strlen(id), CUZK_UUID_BYTES - 1);
    assert_int_equal(strspn(id, "0123456789abcdef-"), CUZK_UUID_BYTES - 1);
    assert_true(id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-');
    assert_true(id[14] == '4' && strchr("89ab", id[19]) != NULL);
    assert_string_not_equal(id, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),        cmocka_unit_test(test_discard),
        cmocka_unit_test(test_text_grows),   cmocka_unit_test(test_text_without_memory),
        cmocka_unit_test(test_mapped_files), cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
