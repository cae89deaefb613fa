/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The folder of parameter files from the inside: when a file that was found good is read again, how
 * sources are spelled, which parts are continued and which thrown away, two processes that want the
 * same file. (Servers: tests/cli/test_params.py.) */
#define _GNU_SOURCE
#include "base/blake2b.h"
#include "filecoin/param_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_BYTES = 70000 };

static char top[] = "/tmp/cuzk-folder-XXXXXX";
static char folder[64], source[64];
static uint8_t content[FILE_BYTES];
static cuzk_manifest_entry entry;

enum { PATH_BYTES = 512 };

/* A path, valid until the eighth call after this one; of the test's own: keep(). */
static const char *in(const char *where, const char *name)
{
    static char paths[8][PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, PATH_BYTES, "%s/%s", where, name);
    return path;
}

static void keep(char out[PATH_BYTES], const char *path)
{
    snprintf(out, PATH_BYTES, "%s", path);
}

static void put(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void remove_tree(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            char inner[600];
            snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
            remove_tree(inner);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    (void)remove(path);
}

static int setup(void **state)
{
    (void)state;
    uint8_t digest[CUZK_BLAKE2B_BYTES];
    cuzk_blake2b b;
    for (unsigned i = 0; i < FILE_BYTES; i++) {
        content[i] = (uint8_t)(i * 167 + (i >> 8));
    }
    cuzk_blake2b_init(&b);
    cuzk_blake2b_update(&b, content, FILE_BYTES);
    cuzk_blake2b_final(&b, digest);
    entry = (cuzk_manifest_entry){.name = "f.params", .cid = "QmF", .bytes = FILE_BYTES};
    memcpy(entry.digest, digest, sizeof entry.digest);
    strcpy(top + strlen(top) - 6, "XXXXXX");
    assert_non_null(mkdtemp(top));
    snprintf(folder, sizeof folder, "%s/cache", top);
    snprintf(source, sizeof source, "%s/from", top);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(source, 0700), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_tree(top);
    return 0;
}

static bool count_report(void *ctx, const char *stage, double done)
{
    (void)stage, (void)done;
    ++*(unsigned *)ctx;
    return true;
}

static void expect_error(cuzk_status status, const cuzk_error *err, cuzk_status expected,
                         const char *mention)
{
    if (status != expected || (status != CUZK_OK && strstr(err->text, mention) == NULL)) {
        fail_msg("status %d, expected %d with \"%s\": \"%s\"", status, expected, mention,
                 err->text);
    }
}

/* ---- what was found good --------------------------------------------------------------------- */

/* Whether the check reads the file. */
static bool reads(void)
{
    unsigned n = 0;
    const cuzk_reporter reporter = {count_report, &n};
    cuzk_error err = {0};
    expect_error(cuzk_param_check_once(folder, &entry, &reporter, &err), &err, CUZK_OK, "");
    return n > 0;
}

static void test_remembered(void **state)
{
    (void)state;
    char path[PATH_BYTES], note[PATH_BYTES];
    keep(path, in(folder, "f.params"));
    keep(note, in(folder, ".f.params.good"));
    put(path, content, FILE_BYTES);
    assert_true(reads());
    assert_true(exists(note));
    assert_false(reads());
    /* a file that was written to, if with the same bytes */
    const struct timespec times[2] = {{1000, 5}, {1000, 6}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(reads());
    assert_false(reads());
    /* another file under the name, of the same time and size */
    assert_int_equal(rename(path, in(folder, "old")), 0);
    put(path, content, FILE_BYTES);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(reads());
    /* a note that is damaged, cut, empty, longer; of the right one the file is not read */
    char good[512];
    FILE *f = fopen(note, "r");
    assert_non_null(f);
    size_t n = fread(good, 1, sizeof good, f);
    fclose(f);
    assert_true(n > 60);
    for (size_t i = 0; i < n; i += 7) {
        good[i] ^= 1;
        put(note, good, n);
        good[i] ^= 1;
        assert_true(reads());
        put(note, good, i);
        assert_true(reads());
    }
    memcpy(good + n, "more", 4);
    put(note, good, n + 4);
    assert_true(reads());
    put(note, good, n);
    assert_false(reads());
    /* another digest is asked for: the note is of the old one */
    cuzk_error err = {0};
    entry.digest[3] ^= 1;
    expect_error(cuzk_param_check_once(folder, &entry, NULL, &err), &err, CUZK_E_MISMATCH,
                 "digest ");
    entry.digest[3] ^= 1;
    assert_false(reads());
    /* the plain check always reads, and notes nothing */
    unsigned n_reports = 0;
    const cuzk_reporter reporter = {count_report, &n_reports};
    assert_int_equal(cuzk_param_check(folder, &entry, &reporter, NULL), CUZK_OK);
    assert_true(n_reports > 0);
    assert_int_equal(unlink(note), 0);
    assert_int_equal(cuzk_param_check(folder, &entry, NULL, NULL), CUZK_OK);
    assert_false(exists(note));
    /* a note about nothing is not written */
    assert_int_equal(unlink(path), 0);
    cuzk_param_remember(folder, &entry);
    assert_false(exists(note));
}

static void test_states(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    keep(path, in(folder, "f.params"));
    uint64_t bytes = 7;
    cuzk_error err = {0};
    assert_int_equal(cuzk_param_state_get(&bytes, folder, &entry), CUZK_PARAM_MISSING);
    assert_int_equal(symlink("nowhere", path), 0); /* a link to nothing */
    assert_int_equal(cuzk_param_state_get(&bytes, folder, &entry), CUZK_PARAM_MISSING);
    unlink(path);
    put(in(top, "elsewhere"), content, FILE_BYTES);
    assert_int_equal(symlink("../elsewhere", path), 0); /* one to a file is followed */
    assert_int_equal(cuzk_param_state_get(&bytes, folder, &entry), CUZK_PARAM_PRESENT);
    assert_int_equal(bytes, FILE_BYTES);
    assert_int_equal(cuzk_param_check(folder, &entry, NULL, NULL), CUZK_OK);
    unlink(path);
    for (int d = -1; d <= 1; d += 2) {
        char expected[96];
        put(path, content, (size_t)(FILE_BYTES - 1));
        entry.bytes = (uint64_t)(FILE_BYTES + d + (d < 0 ? 2 : 0));
        assert_int_equal(cuzk_param_state_get(&bytes, folder, &entry), CUZK_PARAM_WRONG_SIZE);
        snprintf(expected, sizeof expected, "%d bytes, expected %llu", FILE_BYTES - 1,
                 (unsigned long long)entry.bytes);
        cuzk_error_clear(&err);
        expect_error(cuzk_param_check(folder, &entry, NULL, &err), &err, CUZK_E_MISMATCH, expected);
    }
    entry.bytes = 0; /* not known: any size may be the right one */
    assert_int_equal(cuzk_param_state_get(&bytes, folder, &entry), CUZK_PARAM_PRESENT);
    cuzk_error_clear(&err);
    expect_error(cuzk_param_check(folder, &entry, NULL, &err), &err, CUZK_E_MISMATCH, "digest ");
    /* a folder that is a file */
    assert_int_equal(cuzk_param_state_get(&bytes, path, &entry), CUZK_PARAM_MISSING);
    for (int s = CUZK_PARAM_PRESENT; s <= CUZK_PARAM_UNREADABLE; s++) {
        assert_true(strlen(cuzk_param_state_text((cuzk_param_state)s)) > 4);
        for (int k = CUZK_PARAM_PRESENT; k < s; k++) {
            assert_string_not_equal(cuzk_param_state_text((cuzk_param_state)s),
                                    cuzk_param_state_text((cuzk_param_state)k));
        }
    }
}

/* ---- fetching -------------------------------------------------------------------------------- */

static cuzk_status fetch(const char *from, bool *was_there, cuzk_error *err)
{
    const cuzk_param_fetch_params params = {.source = from};
    *err = (cuzk_error){0};
    return cuzk_param_fetch(was_there, folder, &entry, &params, err);
}

/* From nothing; the folder has the file, and nothing else but the note, afterwards. */
static void expect_fetched(const char *from)
{
    bool was_there = true;
    cuzk_error err;
    expect_error(fetch(from, &was_there, &err), &err, CUZK_OK, "");
    assert_false(was_there);
    assert_int_equal(cuzk_param_check(folder, &entry, NULL, NULL), CUZK_OK);
    assert_false(exists(in(folder, ".f.params.part")) || exists(in(folder, ".f.params.lock")));
    assert_false(reads()); /* what was just received need not be read once more */
    expect_error(fetch("/nowhere", &was_there, &err), &err, CUZK_OK, "");
    assert_true(was_there);
    unlink(in(folder, "f.params"));
    unlink(in(folder, ".f.params.good"));
}

static void expect_not_fetched(const char *from, cuzk_status status, const char *mention)
{
    bool was_there = true;
    cuzk_error err;
    expect_error(fetch(from, &was_there, &err), &err, status, mention);
    assert_false(was_there);
    assert_false(exists(in(folder, "f.params")) || exists(in(folder, ".f.params.lock")));
}

static void test_sources(void **state)
{
    (void)state;
    char text[400];
    put(in(source, "f.params"), content, FILE_BYTES);
    put(in(source, "QmF"), content, FILE_BYTES);
    static const char *const forms[] = {"%s",        "%s/",
                                        "file://%s", "%s/{name}",
                                        "%s/{cid}",  "file://%s/{cid}",
                                        "/none,%s",  ",%s,",
                                        "%s,/none",  "/none,,/none2,file://%s/{name}"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        snprintf(text, sizeof text, forms[i], source);
        expect_fetched(text);
    }
    snprintf(text, sizeof text, "%s/{name}.old", source);
    expect_not_fetched(text, CUZK_E_FILE, "f.params.old: No such file");
    /* all of them say why */
    snprintf(text, sizeof text, "/none,%s/nothing", source);
    expect_not_fetched(text, CUZK_E_FILE, "/none/f.params: No such file or directory; ");
    expect_not_fetched(text, CUZK_E_FILE, "/nothing/f.params: No such file or directory");
    expect_not_fetched("", CUZK_E_ARGUMENT, "f.params: no source");
    expect_not_fetched(",,", CUZK_E_ARGUMENT, "f.params: no source");
    snprintf(text, sizeof text, "%s/{cid}", source);
    entry.cid[0] = '\0';
    expect_not_fetched(text, CUZK_E_ARGUMENT, "the list of files has no cid");
}

/* What an earlier try left. */
static void test_parts(void **state)
{
    (void)state;
    char part[PATH_BYTES], from[PATH_BYTES];
    keep(part, in(folder, ".f.params.part"));
    keep(from, in(source, "f.params"));
    static uint8_t wrong[FILE_BYTES + 1];
    memcpy(wrong, content, FILE_BYTES);
    wrong[100] ^= 1;
    static const size_t sizes[] = {0, 1, 99, 101, FILE_BYTES / 2, FILE_BYTES - 1, FILE_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put(from, content, FILE_BYTES);
        put(part, content, sizes[i]);
        expect_fetched(source);
        put(part, wrong, sizes[i]); /* of other bytes: thrown away, received whole */
        expect_fetched(source);
        entry.bytes = 0; /* also where the size is not known */
        put(part, wrong, sizes[i]);
        expect_fetched(source);
        entry.bytes = FILE_BYTES;
    }
    /* longer than the file can be */
    memcpy(wrong, content, FILE_BYTES);
    put(part, wrong, FILE_BYTES + 1);
    expect_fetched(source);
    /* a part is continued, not received again: its beginning is no longer in the source */
    put(part, content, 5000);
    memset(wrong, 0, 5000);
    memcpy(wrong + 5000, content + 5000, FILE_BYTES - 5000);
    put(from, wrong, FILE_BYTES);
    expect_fetched(source);
    /* a whole part needs no source */
    put(part, content, FILE_BYTES);
    expect_fetched("/nowhere");
    /* a source that has too much, too little, nothing, other bytes; nothing of it stays */
    wrong[0] = 1;
    static const size_t bad[] = {FILE_BYTES, FILE_BYTES - 1, 0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(from, wrong, bad[i]);
        expect_not_fetched(source, bad[i] > 0 ? CUZK_E_MISMATCH : CUZK_E_FILE,
                           "what was received is not the file: ");
        assert_false(exists(part));
    }
}

static void test_folders(void **state)
{
    (void)state;
    bool was_there = true;
    cuzk_error err;
    put(in(source, "f.params"), content, FILE_BYTES);
    char saved[64];
    strcpy(saved, folder);
    snprintf(folder, sizeof folder, "%s/new/and/deeper/", top);
    expect_fetched(source); /* folders are made */
    assert_true(exists(in(top, "new")));
    /* where a folder should be is a file */
    put(in(top, "file"), "x", 1);
    snprintf(folder, sizeof folder, "%s/file/deeper", top);
    expect_error(fetch(source, &was_there, &err), &err, CUZK_E_FILE, "/file");
    /* where the file should be is a folder */
    strcpy(folder, saved);
    assert_int_equal(mkdir(in(folder, "f.params"), 0700), 0);
    expect_error(fetch(source, &was_there, &err), &err, CUZK_E_FILE, "not a file");
    assert_true(exists(in(folder, "f.params")));
    /* a name that is too long, or empty */
    char *longest = malloc(5000);
    assert_non_null(longest);
    memset(longest, 'x', 5000);
    longest[4999] = '\0';
    const cuzk_param_fetch_params params = {.source = source};
    cuzk_error_clear(&err);
    expect_error(cuzk_param_fetch(&was_there, longest, &entry, &params, &err), &err,
                 CUZK_E_ARGUMENT, "the folder's name is too long");
    cuzk_error_clear(&err);
    expect_error(cuzk_param_fetch(&was_there, "", &entry, &params, &err), &err, CUZK_E_ARGUMENT,
                 "the folder's name is empty");
    free(longest);
}

/* ---- two processes --------------------------------------------------------------------------- */

/* The other process: holds the lock until it is told that somebody waits, then leaves the file, or
 * dies without it. */
static pid_t start_other(const char *lock_path, bool completes, int told[2], int ready[2])
{
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid != 0) {
        char c;
        close(told[0]);
        close(ready[1]);
        assert_int_equal(read(ready[0], &c, 1), 1);
        close(ready[0]);
        return pid;
    }
    char c;
    close(told[1]);
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX) != 0 || write(ready[1], "x", 1) != 1) {
        _exit(1);
    }
    while (read(told[0], &c, 1) < 0) {
    }
    if (completes) {
        FILE *f = fopen(in(folder, "f.params"), "w");
        if (f == NULL || fwrite(content, 1, FILE_BYTES, f) != FILE_BYTES || fclose(f) != 0) {
            _exit(1);
        }
        unlink(lock_path);
    }
    _exit(0);
}

static void tell(void *ctx, const char *name)
{
    assert_string_equal(name, "f.params");
    assert_int_equal(write(*(int *)ctx, "x", 1), 1);
}

static void test_two_processes(void **state)
{
    (void)state;
    for (int completes = 0; completes < 2; completes++) {
        int told[2], ready[2], status = -1;
        bool was_there = false;
        cuzk_error err = {0};
        unlink(in(source, "f.params"));
        unlink(in(folder, "f.params"));
        if (!completes) { /* who waited fetches it in its stead */
            put(in(source, "f.params"), content, FILE_BYTES);
        }
        pid_t pid = start_other(in(folder, ".f.params.lock"), completes != 0, told, ready);
        const cuzk_param_fetch_params params = {
            .source = source, .waiting = tell, .waiting_ctx = &told[1]};
        expect_error(cuzk_param_fetch(&was_there, folder, &entry, &params, &err), &err, CUZK_OK,
                     "");
        assert_int_equal(was_there, completes != 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        close(told[1]);
        assert_int_equal(cuzk_param_check(folder, &entry, NULL, NULL), CUZK_OK);
        assert_false(exists(in(folder, ".f.params.lock")));
    }
}

static bool cancel(void *ctx, const char *stage, double done)
{
    (void)ctx, (void)done;
    return strcmp(stage, "waiting for another process") != 0;
}

static void test_waiting_is_cancelled(void **state)
{
    (void)state;
    bool was_there = true;
    cuzk_error err = {0};
    char lock_path[PATH_BYTES];
    keep(lock_path, in(folder, ".f.params.lock"));
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    put(in(source, "f.params"), content, FILE_BYTES);
    const cuzk_reporter reporter = {cancel, NULL};
    const cuzk_param_fetch_params params = {.source = source, .reporter = &reporter};
    expect_error(cuzk_param_fetch(&was_there, folder, &entry, &params, &err), &err,
                 CUZK_E_CANCELLED, "f.params: cancelled");
    assert_true(exists(lock_path)); /* it is the other's */
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_states, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sources, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_processes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waiting_is_cancelled, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
