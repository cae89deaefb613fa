/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Output files: all or none, old content kept on failure, nothing left behind; on file systems that
 * can exchange names, on those that only have links, and on those that have neither. */
#define _GNU_SOURCE
#include "base/map_file.h"
#include "base/out_file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* What the file system of a test cannot do; the program is linked with --wrap. */
enum { ALL_THERE, NO_EXCHANGE, NO_LINKS_EITHER };
static int lacks;

/* Calls that move names are counted while fails_at is not 0; that number fails. */
static unsigned n_moves, fails_at;

static bool move_fails(void)
{
    if (fails_at == 0 || ++n_moves != fails_at) {
        return false;
    }
    errno = EIO;
    return true;
}

int __real_rename(const char *old, const char *new);
int __wrap_rename(const char *old, const char *new);
int __wrap_rename(const char *old, const char *new)
{
    return move_fails() ? -1 : __real_rename(old, new);
}

int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    if (lacks >= NO_EXCHANGE) {
        errno = EINVAL;
        return -1;
    }
    if (move_fails()) {
        return -1;
    }
    return __real_renameat2(from, old, to, new, flags);
}

int __real_link(const char *old, const char *new);
int __wrap_link(const char *old, const char *new);
int __wrap_link(const char *old, const char *new)
{
    if (lacks >= NO_LINKS_EITHER) {
        errno = EPERM;
        return -1;
    }
    if (move_fails()) {
        return -1;
    }
    return __real_link(old, new);
}

static char folder[] = "/tmp/cuzk-out-XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int setup(void **state)
{
    lacks = *(const int *)*state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (unlink(in_folder(e->d_name)) != 0) {
            rmdir(in_folder(e->d_name));
        }
    }
    closedir(d);
    return rmdir(folder);
}

static int n_entries(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static void assert_content(const char *path, const char *text)
{
    cuzk_map_file m;
    assert_int_equal(cuzk_map_file_open(&m, path, NULL), CUZK_OK);
    assert_int_equal(m.size, strlen(text));
    assert_memory_equal(m.data, text, m.size);
    cuzk_map_file_close(&m);
}

static void write_plain(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Begin two files with new content. */
static void begin_two(cuzk_out_file *files, const char *first, const char *second)
{
    assert_int_equal(cuzk_out_file_open(&files[0], first, NULL), CUZK_OK);
    assert_int_equal(cuzk_out_file_open(&files[1], second, NULL), CUZK_OK);
    fputs("new 0", files[0].file);
    fputs("new 1", files[1].file);
}

static void test_commit_replaces_both(void **state)
{
    (void)state;
    write_plain(in_folder("a"), "old and longer");
    cuzk_out_file files[2];
    begin_two(files, in_folder("a"), in_folder("b"));
    assert_content(in_folder("a"), "old and longer");
    assert_int_equal(cuzk_out_files_commit(files, 2, NULL), CUZK_OK);
    assert_content(in_folder("a"), "new 0");
    assert_content(in_folder("b"), "new 1");
    assert_int_equal(n_entries(), 2);
    struct stat st;
    mode_t mask = umask(022);
    umask(mask);
    assert_int_equal(stat(in_folder("b"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
}

static void test_failed_rename_restores_all(void **state)
{
    (void)state;
    write_plain(in_folder("old"), "old");
    cuzk_out_file files[3];
    begin_two(files, in_folder("old"), in_folder("fresh"));
    assert_int_equal(cuzk_out_file_open(&files[2], in_folder("late"), NULL), CUZK_OK);
    /* a folder appears where the last file should go */
    assert_int_equal(mkdir(in_folder("late"), 0700), 0);
    cuzk_error err = {0};
    assert_int_equal(cuzk_out_files_commit(files, 3, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "late\": Is a directory"));
    assert_content(in_folder("old"), "old");
    assert_int_not_equal(access(in_folder("fresh"), F_OK), 0);
    assert_int_equal(n_entries(), 2);
}

static void test_failed_rename_in_the_middle(void **state)
{
    (void)state;
    write_plain(in_folder("old"), "old");
    cuzk_out_file files[3];
    begin_two(files, in_folder("old"), in_folder("late"));
    assert_int_equal(cuzk_out_file_open(&files[2], in_folder("last"), NULL), CUZK_OK);
    assert_int_equal(mkdir(in_folder("late"), 0700), 0);
    write_plain(in_folder("late/full"), "x");
    assert_int_equal(cuzk_out_files_commit(files, 3, NULL), CUZK_E_FILE);
    assert_content(in_folder("old"), "old");
    assert_content(in_folder("late/full"), "x");
    assert_int_equal(n_entries(), 2);
    unlink(in_folder("late/full"));
}

static void test_abort_leaves_nothing(void **state)
{
    (void)state;
    write_plain(in_folder("a"), "old");
    cuzk_out_file files[2];
    begin_two(files, in_folder("a"), in_folder("b"));
    cuzk_out_file_abort(&files[0]);
    cuzk_out_file_abort(&files[1]);
    cuzk_out_file_abort(&files[1]);
    assert_content(in_folder("a"), "old");
    assert_int_equal(n_entries(), 1);
}

static void test_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    cuzk_error err = {0};
    /* in one piece, and beyond the buffer */
    assert_int_equal(cuzk_write_file("/dev/full", "x", 1, &err), CUZK_E_FILE);
    assert_string_equal(err.text, "writing \"/dev/full\": No space left on device");
    static const char big[300000];
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_write_file("/dev/full", big, sizeof big, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "writing \"/dev/full\": "));
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void test_targets(void **state)
{
    (void)state;
    cuzk_error err = {0};
    assert_int_equal(cuzk_write_file(in_folder("none/a"), "x", 1, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "none/a\": No such file or directory"));
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_write_file(folder, "x", 1, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_int_equal(cuzk_write_file("/dev/null", "x", 1, NULL), CUZK_OK);
    /* a link stays a link; its target gets the content */
    write_plain(in_folder("target"), "old");
    assert_int_equal(symlink("target", in_folder("link")), 0);
    assert_int_equal(cuzk_write_file(in_folder("link"), "new", 3, NULL), CUZK_OK);
    assert_content(in_folder("target"), "new");
    struct stat st;
    assert_int_equal(lstat(in_folder("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(n_entries(), 2);
}

/* Three files, there or not, and every call that moves a name failing in turn: all are replaced or
 * all are as before, and nothing else is left in the folder. Putting back may need the call that
 * failed before: it fails once. */
static void test_every_move_fails(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    for (unsigned there = 0; there < 8; there++) {
        for (unsigned k = 1;; k++) {
            cuzk_out_file files[3];
            unsigned n_there = 0;
            for (int i = 0; i < 3; i++) {
                unlink(in_folder(names[i]));
                if (there >> i & 1) {
                    write_plain(in_folder(names[i]), "old");
                    n_there++;
                }
                assert_int_equal(cuzk_out_file_open(&files[i], in_folder(names[i]), NULL), CUZK_OK);
                fputs("new", files[i].file);
            }
            n_moves = 0;
            fails_at = k;
            cuzk_error err = {0};
            cuzk_status status = cuzk_out_files_commit(files, 3, &err);
            bool failed = n_moves >= k;
            fails_at = 0;
            /* without an exchange or a link there is still the plain way */
            assert_true(status == CUZK_OK || (failed && status == CUZK_E_FILE));
            if (status != CUZK_OK) {
                assert_non_null(strstr(err.text, "Input/output error"));
            }
            for (int i = 0; i < 3; i++) {
                if (status == CUZK_OK) {
                    assert_content(in_folder(names[i]), "new");
                } else if (there >> i & 1) {
                    assert_content(in_folder(names[i]), "old");
                } else {
                    assert_int_not_equal(access(in_folder(names[i]), F_OK), 0);
                }
            }
            assert_int_equal(n_entries(), status == CUZK_OK ? 3 : (int)n_there);
            if (!failed) {
                assert_true(k > 3);
                break;
            }
        }
    }
}

/* Streams of the process under their names are written to as they are. */
static void test_streams(void **state)
{
    (void)state;
    static const char *const forms[] = {"/dev/fd/%d", "/proc/self/fd/%d"};
    write_plain(in_folder("log"), "first\n");
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(in_folder("log"), "a");
        assert_non_null(f);
        char path[64];
        snprintf(path, sizeof path, forms[i], fileno(f));
        cuzk_error err = {0};
        if (cuzk_write_file(path, "more\n", 5, &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
        fputs("last\n", f); /* still open */
        fclose(f);
    }
    assert_content(in_folder("log"), "first\nmore\nlast\nmore\nlast\n");
    assert_int_equal(n_entries(), 1);
    static const char *const none[] = {"/dev/fd/999", "/proc/self/fd/12345678", "/dev/fd/x",
                                       "/dev/fd/", "/dev/fd/1234567890"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        cuzk_error err = {0};
        assert_int_equal(cuzk_write_file(none[i], "x", 1, &err), CUZK_E_FILE);
        assert_non_null(strstr(err.text, none[i]));
    }
}

int main(void)
{
    static const int modes[] = {ALL_THERE, NO_EXCHANGE, NO_LINKS_EITHER};
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commit_replaces_both, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed_rename_restores_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed_rename_in_the_middle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_abort_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_targets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_move_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
    };
    enum { N_TESTS = sizeof tests / sizeof tests[0], N_MODES = sizeof modes / sizeof modes[0] };
    struct CMUnitTest all[N_MODES * N_TESTS];
    for (int i = 0; i < N_MODES * N_TESTS; i++) {
        all[i] = tests[i % N_TESTS];
        all[i].initial_state = (void *)(uintptr_t)&modes[i / N_TESTS];
    }
    return cmocka_run_group_tests(all, NULL, NULL);
}
