/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pool, errors, files. */
#include "base/map_file.h"
#include "base/pool.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void count_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    _Atomic int *seen = ctx;
    atomic_fetch_add(&seen[chunk], 1);
}

static void test_pool_runs_each_chunk_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, threads, NULL), CUZK_OK);
        for (size_t n = 0; n < 200; n += 7) {
            _Atomic int seen[200] = {0};
            cuzk_pool_for(pool, n, count_chunk, seen);
            for (size_t i = 0; i < 200; i++) {
                assert_int_equal(seen[i], i < n);
            }
        }
        cuzk_pool_destroy(pool);
    }
}

static void test_error_keeps_first_cause(void **state)
{
    (void)state;
    cuzk_error err = {0};
    assert_int_equal(CUZK_FAIL(&err, CUZK_E_FORMAT, "section %d: bad", 3), CUZK_E_FORMAT);
    (void)CUZK_FAIL(&err, CUZK_E_FILE, "later");
    cuzk_error_prefix(&err, "reading \"%s\"", "x");
    assert_string_equal(err.text, "reading \"x\": section 3: bad");
    assert_int_equal(err.status, CUZK_E_FORMAT);
}

static void test_files(void **state)
{
    (void)state;
    char path[] = "/tmp/cuzk-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(cuzk_write_file(path, "hello", 5, NULL), CUZK_OK);
    cuzk_map_file m;
    assert_int_equal(cuzk_map_file_open(&m, path, NULL), CUZK_OK);
    assert_int_equal(m.size, 5);
    assert_memory_equal(m.data, "hello", 5);
    cuzk_map_file_close(&m);
    unlink(path);
    cuzk_error err = {0};
    assert_int_equal(cuzk_map_file_open(&m, "/tmp", &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "directory"));
    assert_int_equal(cuzk_write_file("/nonexistent-folder/x", "a", 1, NULL), CUZK_E_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_runs_each_chunk_once),
        cmocka_unit_test(test_error_keeps_first_cause),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
