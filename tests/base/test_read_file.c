/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small files read whole: contents, the limit, and what is no such file. */
#include "base/read_file.h"

#include "alloc_fail.h"
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

static char folder[] = "/tmp/cuzk-read-file-XXXXXX";
static char path[sizeof folder + 16];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s", folder);
    assert_non_null(mkdtemp(path));
    memcpy(folder, path, sizeof folder);
    snprintf(path, sizeof path, "%s/f", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void expect(const void *data, size_t n)
{
    assert_int_equal(cuzk_write_file(path, data, n, NULL), CUZK_OK);
    char *out = NULL;
    size_t n_bytes = 7;
    cuzk_error err = {0};
    assert_int_equal(cuzk_read_small_file(&out, &n_bytes, "it", path, &err), CUZK_OK);
    assert_int_equal(n_bytes, n);
    assert_memory_equal(out, data, n);
    assert_int_equal(out[n], 0);
    free(out);
    assert_int_equal(cuzk_read_small_file(&out, NULL, "it", path, &err), CUZK_OK);
    free(out);
}

static void test_contents(void **state)
{
    (void)state;
    expect("", 0);
    expect("a\0b", 3);
    char *large = calloc(1, CUZK_SMALL_FILE_MAX + 1);
    assert_non_null(large);
    expect(large, CUZK_SMALL_FILE_MAX);
    assert_int_equal(cuzk_write_file(path, large, CUZK_SMALL_FILE_MAX + 1, NULL), CUZK_OK);
    free(large);
}

static void refuses(const char *file, cuzk_status status, const char *part)
{
    char *out = NULL;
    size_t n_bytes = 7;
    cuzk_error err = {0};
    assert_int_equal(cuzk_read_small_file(&out, &n_bytes, "the token", file, &err), status);
    if (strstr(err.text, part) == NULL || strstr(err.text, "reading the token") == NULL) {
        fail_msg("%s", err.text);
    }
    assert_null(out);
    assert_int_equal(n_bytes, 7);
}

static void test_refusals(void **state)
{
    (void)state;
    refuses("/nowhere/f", CUZK_E_FILE, "\"/nowhere/f\": No such file");
    refuses("/", CUZK_E_FILE, "Is a directory");
    refuses("/dev/zero", CUZK_E_FILE, "larger than 1 MiB");
    refuses(path, CUZK_E_FILE, "larger than 1 MiB"); /* by one byte */
    alloc_fail_at(0);
    char *out = NULL;
    cuzk_error err = {0};
    cuzk_status status = cuzk_read_small_file(&out, NULL, "it", path, &err);
    assert_true(alloc_fail_stop());
    assert_int_equal(status, CUZK_E_MEMORY);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(cuzk_read_small_file(&out, NULL, "it", path, &err), CUZK_OK);
    assert_string_equal(out, "");
    free(out);
}

/* What is written to a pipe comes in pieces. */
static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 3; i++) {
            (void)!write(ends[1], "piece\n", 6);
            usleep(1000);
        }
        _exit(0);
    }
    close(ends[1]);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    char *out = NULL;
    cuzk_error err = {0};
    assert_int_equal(cuzk_read_small_file(&out, NULL, "it", name, &err), CUZK_OK);
    assert_string_equal(out, "piece\npiece\npiece\n");
    free(out);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_pipe),
    };
    return cmocka_run_group_tests_name("base: small files", tests, set_up, tear_down);
}
