/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A disk that is full, played by a limit on the size of files: what was recorded stays, what is
 * lost is counted, and writing goes on when there is room again. */
#include "timeline/record_file.h"

#include "timeline/recording.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/cuzk-record-XXXXXX";
static char old_path[sizeof path + 4];
static const cuzk_text no_head;
static cuzk_error err;

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static cuzk_status write_spans(cuzk_record_file *file, size_t n)
{
    cuzk_text pieces = {0};
    cuzk_timespan *spans = calloc(n, sizeof *spans);
    assert_non_null(spans);
    for (size_t i = 0; i < n; i++) {
        spans[i] =
            (cuzk_timespan){.begin_ns = i, .end_ns = i, .name = CUZK_SPAN_VERIFY, .unit = -1};
    }
    cuzk_recording_put_spans(&pieces, spans, n);
    memset(&err, 0, sizeof err);
    cuzk_status status = cuzk_record_file_write(file, &pieces, n, &no_head, &err);
    cuzk_text_clear(&pieces);
    free(spans);
    return status;
}

static cuzk_recording read_back(const char *from)
{
    cuzk_recording r;
    assert_int_equal(cuzk_recording_open(&r, from, 1 << 24, &err), CUZK_OK);
    assert_int_equal(r.n_bytes_after, 0);
    return r;
}

static void test_full_disk(void **state)
{
    (void)state;
    cuzk_record_file file;
    assert_int_equal(cuzk_record_file_open(&file, path, 1 << 20, &no_head, &err), CUZK_OK);
    assert_int_equal(write_spans(&file, 100), CUZK_OK);
    limit_files(2000);
    assert_int_equal(write_spans(&file, 500), CUZK_E_FILE);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(write_spans(&file, 300), CUZK_E_FILE);
    cuzk_recording r = read_back(path);
    assert_int_equal(r.n_spans, 100);
    cuzk_recording_clear(&r);
    limit_files(RLIM_INFINITY);
    assert_int_equal(write_spans(&file, 7), CUZK_OK);
    cuzk_record_file_close(&file);
    r = read_back(path);
    assert_int_equal(r.n_spans, 107);
    assert_int_equal(r.n_lost, 800);
    cuzk_recording_clear(&r);
}

/* No room even for a new file's beginning: the old one keeps its place. */
static void test_full_disk_at_the_limit(void **state)
{
    (void)state;
    cuzk_record_file file;
    assert_int_equal(cuzk_record_file_open(&file, path, 4000, &no_head, &err), CUZK_OK);
    assert_int_equal(write_spans(&file, 100), CUZK_OK);
    limit_files(10);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(write_spans(&file, 400), CUZK_E_FILE);
        cuzk_recording r = read_back(i == 0 && access(path, F_OK) == 0 ? path : old_path);
        assert_int_equal(r.n_spans, 100);
        cuzk_recording_clear(&r);
    }
    limit_files(RLIM_INFINITY);
    assert_int_equal(write_spans(&file, 7), CUZK_OK);
    cuzk_record_file_close(&file);
    cuzk_recording r = read_back(path);
    assert_int_equal(r.n_spans, 7);
    assert_int_equal(r.n_lost, 2000);
    cuzk_recording_clear(&r);
    r = read_back(old_path);
    assert_int_equal(r.n_spans, 100);
    cuzk_recording_clear(&r);
}

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path); /* an empty file is taken */
    snprintf(old_path, sizeof old_path, "%s.old", path);
    signal(SIGXFSZ, SIG_IGN);
    return fd < 0 || close(fd) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(old_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_full_disk_at_the_limit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
