/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files: written whole, mapped. */
#include "base/map_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

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
    /* a pipe that nobody writes to: an error, no waiting */
    char fifo[] = "test_base_fifo_XXXXXX";
    assert_non_null(mkdtemp(fifo));
    char inside[sizeof fifo + 2];
    snprintf(inside, sizeof inside, "%s/p", fifo);
    assert_int_equal(mkfifo(inside, 0600), 0);
    err = (cuzk_error){0};
    assert_int_equal(cuzk_map_file_open(&m, inside, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "it is not a file"));
    unlink(inside);
    rmdir(fifo);
    assert_int_equal(cuzk_write_file("/nonexistent-folder/x", "a", 1, NULL), CUZK_E_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
