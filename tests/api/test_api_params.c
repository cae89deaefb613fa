/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of cuzk_params.h, in a folder of its own: states of files, digests, fetching from
 * folders, what is left behind when a source has other bytes or a call is cancelled. (Servers are
 * tested through the program: tests/cli/test_params.py.) */
#include "api_test.h"

#include "cuzk_params.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static cuzk_error err;
static char folder[] = "/tmp/cuzk-params-XXXXXX", source[64], manifest[64];

/* The list's two files. Digests: the first 16 bytes of BLAKE2b-512, by Python's hashlib. */
enum { SMALL_BYTES = 100, LARGE_BYTES = 200000 };
static uint8_t small[SMALL_BYTES], large[LARGE_BYTES];
static const char list[] =
    "{\"a.params\": {\"cid\": \"QmA\", \"digest\": \"1df0fab3e7b1855306f77c350f9c03bb\","
    " \"sector_size\": 2048},\n"
    " \"b.vk\": {\"cid\": \"QmB\", \"digest\": \"051c42cd427d41d5c7cb230af197f9c7\","
    " \"sector_size\": 34359738368}}\n";
enum { LARGE, SMALL }; /* places in the list */

static const char *in(const char *where, const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", where, name);
    return path;
}

static void put(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void empty_folder(const char *path)
{
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlink(in(path, e->d_name)) != 0) {
            assert_int_equal(rmdir(in(path, e->d_name)), 0);
        }
    }
    closedir(d);
}

static unsigned n_named(const char *path, const char *part)
{
    unsigned n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += strstr(e->d_name, part) != NULL;
    }
    closedir(d);
    return n;
}

static int setup(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SMALL_BYTES; i++) {
        small[i] = (uint8_t)(i * 37 + 11);
    }
    for (unsigned i = 0; i < LARGE_BYTES; i++) {
        large[i] = (uint8_t)((i * 101 + 7) ^ (i >> 8));
    }
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(source, sizeof source, "%s-from", folder);
    snprintf(manifest, sizeof manifest, "%s-list", folder);
    assert_int_equal(mkdir(source, 0700), 0);
    put(manifest, list, sizeof list - 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    empty_folder(folder);
    empty_folder(source);
    rmdir(folder);
    rmdir(source);
    unlink(manifest);
    return 0;
}

static cuzk_params_set *open_set(void)
{
    cuzk_params_set *set = NULL;
    assert_ok(cuzk_params_set_open(&set, folder, manifest, &err));
    return set;
}

static cuzk_params_file_info info_of(const cuzk_params_set *set, unsigned i)
{
    cuzk_params_file_info info;
    memset(&info, 0xee, sizeof info);
    cuzk_params_file_get_info(&info, set, i);
    return info;
}

static void test_lists(void **state)
{
    (void)state;
    cuzk_params_set *set = NULL;
    assert_fails(cuzk_params_set_open(NULL, folder, manifest, &err), CUZK_E_ARGUMENT, "set");
    assert_fails(cuzk_params_set_open(&set, folder, "/none/x.json", &err), CUZK_E_FILE, "/none/x");
    static const struct {
        const char *text, *says;
        cuzk_status status;
    } bad[] = {
        {"", "", CUZK_E_TRUNCATED},
        {"[]", "expected an object", CUZK_E_FORMAT},
        {"{\"a\": 1}", "line 1, column 7", CUZK_E_FORMAT},
        {"{\"a\": {\"digest\": \"zz\"}}", "digest", CUZK_E_FORMAT},
        {"{\"a\": {\"digest\": \"00\"}}", "digest", CUZK_E_FORMAT},
        {"{\"a\": {}}", "digest", CUZK_E_FORMAT},
        {"{\"../a\": {\"digest\": \"051c42cd427d41d5c7cb230af197f9c7\"}}", "not a file's name",
         CUZK_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(in(source, "bad.json"), bad[i].text, strlen(bad[i].text));
        assert_fails(cuzk_params_set_open(&set, folder, in(source, "bad.json"), &err),
                     bad[i].status, bad[i].says);
        assert_non_null(strstr(err.text, "bad.json"));
        assert_null(set);
    }
    for (size_t n = 0; n < sizeof list - 2; n++) { /* every beginning of a good one */
        put(in(source, "bad.json"), list, n);
        assert_int_equal(cuzk_params_set_open(&set, folder, in(source, "bad.json"), NULL),
                         n == sizeof list - 2 ? CUZK_OK : CUZK_E_TRUNCATED);
    }
    set = open_set();
    assert_int_equal(cuzk_params_set_count(set), 2);
    assert_string_equal(cuzk_params_set_folder(set), folder);
    assert_string_equal(info_of(set, LARGE).name, "a.params");
    assert_string_equal(info_of(set, LARGE).sector_size, "2KiB");
    assert_string_equal(info_of(set, LARGE).circuit, "");
    assert_false(info_of(set, LARGE).is_vk);
    assert_string_equal(info_of(set, SMALL).name, "b.vk");
    assert_string_equal(info_of(set, SMALL).sector_size, "32GiB");
    assert_true(info_of(set, SMALL).is_vk);
    cuzk_params_set_close(set);
    cuzk_params_set_close(NULL);
}

/* The network's own list: every file once, each with what is known of it. */
static void test_builtin(void **state)
{
    (void)state;
    cuzk_params_set *set = NULL;
    assert_int_equal(setenv("FIL_PROOFS_PARAMETER_CACHE", folder, 1), 0);
    assert_ok(cuzk_params_set_open(&set, NULL, NULL, &err));
    unsetenv("FIL_PROOFS_PARAMETER_CACHE");
    assert_string_equal(cuzk_params_set_folder(set), folder);
    unsigned n = cuzk_params_set_count(set), n_vk = 0;
    assert_true(n >= 20);
    for (unsigned i = 0; i < n; i++) {
        cuzk_params_file_info a = info_of(set, i);
        n_vk += a.is_vk;
        assert_true(strlen(a.circuit) > 4 && strlen(a.sector_size) >= 4 && a.n_bytes > 0);
        assert_non_null(strstr(a.name, a.is_vk ? ".vk" : ".params"));
        assert_string_equal(a.state, "missing");
        for (unsigned k = 0; k < i; k++) {
            assert_string_not_equal(info_of(set, k).name, a.name);
        }
    }
    assert_int_equal(2 * n_vk, n);
    cuzk_params_set_close(set);
    assert_ok(cuzk_params_set_open(&set, NULL, NULL, &err));
    assert_string_equal(cuzk_params_set_folder(set), "/var/tmp/filecoin-proof-parameters");
    cuzk_params_set_close(set);
}

static void test_states(void **state)
{
    (void)state;
    cuzk_params_set *set = open_set();
    const char *path = in(folder, "b.vk");
    assert_string_equal(info_of(set, SMALL).state, "missing");
    assert_false(info_of(set, SMALL).is_present);
    assert_fails(cuzk_params_file_check(set, SMALL, NULL, NULL, &err), CUZK_E_FILE, "b.vk");
    put(path, "", 0);
    assert_string_equal(info_of(set, SMALL).state, "empty");
    assert_fails(cuzk_params_file_check(set, SMALL, NULL, NULL, &err), CUZK_E_FILE, "empty");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_string_equal(info_of(set, SMALL).state, "not a file");
    assert_fails(cuzk_params_file_check(set, SMALL, NULL, NULL, &err), CUZK_E_FILE, "b.vk");
    rmdir(path);
    put(path, small, SMALL_BYTES);
    assert_string_equal(info_of(set, SMALL).state, "present");
    assert_true(info_of(set, SMALL).is_present);
    assert_ok(cuzk_params_file_check(set, SMALL, NULL, NULL, &err));
    assert_int_equal(n_named(folder, "b.vk.good"), 1);
    /* any one byte, and the length */
    for (unsigned at = 0; at < SMALL_BYTES; at += 33) {
        small[at] ^= 1;
        put(path, small, SMALL_BYTES);
        small[at] ^= 1;
        assert_fails(cuzk_params_file_check(set, SMALL, NULL, NULL, &err), CUZK_E_MISMATCH,
                     "051c42cd427d41d5c7cb230af197f9c7");
    }
    put(path, small, SMALL_BYTES - 1);
    assert_fails(cuzk_params_file_check(set, SMALL, NULL, NULL, &err), CUZK_E_MISMATCH, "digest");
    put(path, small, SMALL_BYTES);
    assert_ok(cuzk_params_file_check(set, SMALL, NULL, NULL, &err));
    cuzk_params_set_close(set);
}

/* Reports: the share rises from 0 to 1; the call is cancelled at the n-th. */
struct watch {
    double last;
    unsigned n, cancel_at;
};

static bool watch(void *user, const char *stage, double done)
{
    struct watch *w = user;
    assert_true(strlen(stage) > 0);
    assert_true(done >= w->last && done <= 1);
    w->last = done;
    return ++w->n != w->cancel_at;
}

static void test_progress(void **state)
{
    (void)state;
    cuzk_params_set *set = open_set();
    put(in(folder, "a.params"), large, LARGE_BYTES);
    struct watch w = {0};
    assert_ok(cuzk_params_file_check(set, LARGE, watch, &w, &err));
    assert_true(w.n >= 1 && w.last > 0.5);
    struct watch c = {.cancel_at = 1};
    assert_fails(cuzk_params_file_check(set, LARGE, watch, &c, &err), CUZK_E_CANCELLED, "");
    assert_int_equal(c.n, 1);
    cuzk_params_set_close(set);
}

static void test_fetch(void **state)
{
    (void)state;
    cuzk_params_set *set = open_set();
    cuzk_params_fetch_options options = CUZK_PARAMS_FETCH_OPTIONS_INIT;
    char nowhere[64], both[160];
    bool was_there = true;
    snprintf(nowhere, sizeof nowhere, "%s-none", folder);
    options.source = nowhere;
    assert_fails(cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err), CUZK_E_FILE,
                 nowhere);
    /* a source that has other bytes */
    put(in(source, "a.params"), "sorry, not today\n", 17);
    options.source = source;
    assert_fails(cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err), CUZK_E_MISMATCH,
                 "it begins with \"sorry, not today\"");
    large[LARGE_BYTES - 1] ^= 1;
    put(in(source, "a.params"), large, LARGE_BYTES);
    large[LARGE_BYTES - 1] ^= 1;
    assert_fails(cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err), CUZK_E_MISMATCH,
                 "1df0fab3e7b1855306f77c350f9c03bb");
    assert_string_equal(info_of(set, LARGE).state, "missing");
    /* two sources, the second is right */
    put(in(source, "a.params"), large, LARGE_BYTES);
    snprintf(both, sizeof both, "%s,file://%s", nowhere, source);
    options.source = both;
    struct watch w = {0};
    options.progress = watch;
    options.progress_user = &w;
    assert_ok(cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err));
    assert_false(was_there);
    assert_true(w.n > 1);
    assert_int_equal(n_named(folder, ".part"), 0);
    assert_true(info_of(set, LARGE).is_present);
    assert_ok(cuzk_params_file_check(set, LARGE, NULL, NULL, &err));
    /* now it is there; and damaged, it is fetched again */
    options.source = nowhere;
    options.progress = NULL;
    assert_ok(cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err));
    assert_true(was_there);
    put(in(folder, "a.params"), large, LARGE_BYTES / 2);
    options.source = source;
    assert_ok(cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err));
    assert_false(was_there);
    assert_ok(cuzk_params_file_check(set, LARGE, NULL, NULL, &err));
    cuzk_params_set_close(set);
}

/* Cancelled at each report in turn: the file has no name until it is whole, and the last call
 * completes it. */
static void test_cancelled(void **state)
{
    (void)state;
    cuzk_params_set *set = open_set();
    put(in(source, "a.params"), large, LARGE_BYTES);
    cuzk_params_fetch_options options = CUZK_PARAMS_FETCH_OPTIONS_INIT;
    options.source = source;
    bool was_there = false, done = false;
    for (unsigned at = 1; !done; at++) {
        struct watch w = {.cancel_at = at};
        options.progress = watch;
        options.progress_user = &w;
        cuzk_status s = cuzk_params_file_fetch(&was_there, set, LARGE, &options, &err);
        done = s == CUZK_OK;
        assert_true(done || s == CUZK_E_CANCELLED);
        assert_int_equal(info_of(set, LARGE).is_present, done);
        assert_true(at < 1000);
    }
    assert_ok(cuzk_params_file_check(set, LARGE, NULL, NULL, &err));
    assert_int_equal(n_named(folder, ".part"), 0);
    cuzk_params_set_close(set);
}

static void test_misuse(void **state)
{
    (void)state;
    cuzk_params_set *set = open_set();
    cuzk_params_fetch_options options = CUZK_PARAMS_FETCH_OPTIONS_INIT;
    bool was_there;
    options.source = source;
    assert_fails(cuzk_params_file_check(NULL, 0, NULL, NULL, &err), CUZK_E_ARGUMENT, "set");
    assert_fails(cuzk_params_file_check(set, 2, NULL, NULL, &err), CUZK_E_ARGUMENT, "2");
    assert_fails(cuzk_params_file_fetch(&was_there, NULL, 0, &options, &err), CUZK_E_ARGUMENT,
                 "set");
    assert_fails(cuzk_params_file_fetch(&was_there, set, 7, &options, &err), CUZK_E_ARGUMENT, "7");
    options.struct_bytes = 0;
    assert_fails(cuzk_params_file_fetch(&was_there, set, 0, &options, &err), CUZK_E_ARGUMENT,
                 "struct_bytes");
    options.struct_bytes = sizeof options + 1;
    assert_fails(cuzk_params_file_fetch(&was_there, set, 0, &options, &err), CUZK_E_ARGUMENT,
                 "INIT");
    cuzk_params_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(test_builtin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_states, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fetch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_misuse, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
