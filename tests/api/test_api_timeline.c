/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk_timeline.h: arguments, what the texts hold, and memory that runs out at each allocation. */
#include "cuzk_timeline.h"

#include "alloc_fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const path = "tests/fuzz/corpus/recording/jobs"; /* eight circom jobs */
static cuzk_error err;
static char *text;
static size_t n_bytes;

static void test_forms(void **state)
{
    (void)state;
    static const char *const words[] = {"8 jobs ended, 8 units done", "\"jobs_ended\":8",
                                        "\"traceEvents\":[", "<svg xmlns=", "| `prove.start` |"};
    for (int format = CUZK_TIMELINE_TEXT; format <= CUZK_TIMELINE_NAMES; format++) {
        assert_int_equal(
            cuzk_timeline_report(&text, &n_bytes, path, (cuzk_timeline_format)format, NULL, &err),
            CUZK_OK);
        assert_int_equal(strlen(text), n_bytes);
        assert_non_null(strstr(text, words[format]));
        cuzk_free(text);
    }
    assert_int_equal(cuzk_timeline_simulate(&text, &n_bytes, path, NULL, &err), CUZK_OK);
    assert_non_null(strstr(text, "8 jobs, 8 partitions; 1 devices with 2 workers each"));
    cuzk_free(text);
    assert_int_equal(cuzk_timeline_compare(&text, &n_bytes, path, path, false, &err), CUZK_OK);
    assert_non_null(strstr(text, "as before"));
    assert_null(strstr(text, "longer"));
    assert_null(strstr(text, "shorter"));
    cuzk_free(text);
}

static void test_arguments(void **state)
{
    (void)state;
    cuzk_timeline_options options = CUZK_TIMELINE_OPTIONS_INIT;
    cuzk_timeline_machine machine = CUZK_TIMELINE_MACHINE_INIT;
    const cuzk_timeline_format json = CUZK_TIMELINE_JSON;
    assert_int_equal(cuzk_timeline_report(NULL, &n_bytes, path, json, NULL, &err), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_timeline_report(&text, NULL, path, json, NULL, &err), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_timeline_report(&text, &n_bytes, NULL, json, NULL, &err),
                     CUZK_E_ARGUMENT);
    assert_int_equal(
        cuzk_timeline_report(&text, &n_bytes, path, (cuzk_timeline_format)99, NULL, &err),
        CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "99"));
    options.slice_ns = 0;
    assert_int_equal(cuzk_timeline_report(&text, &n_bytes, path, json, &options, &err),
                     CUZK_E_ARGUMENT);
    options = (cuzk_timeline_options)CUZK_TIMELINE_OPTIONS_INIT;
    options.struct_bytes = 0;
    assert_int_equal(cuzk_timeline_report(&text, &n_bytes, path, json, &options, &err),
                     CUZK_E_ARGUMENT);
    options = (cuzk_timeline_options)CUZK_TIMELINE_OPTIONS_INIT;
    options.from_ns = 2000000;
    options.to_ns = 1000000;
    assert_int_equal(cuzk_timeline_report(&text, &n_bytes, path, json, &options, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "nothing lies between"));
    options.from_ns = UINT64_MAX;
    options.to_ns = 0;
    assert_int_equal(cuzk_timeline_report(&text, &n_bytes, path, json, &options, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "long"));
    assert_int_equal(cuzk_timeline_report(&text, &n_bytes, "tests", json, NULL, &err), CUZK_E_FILE);
    assert_null(text);
    machine.n_devices = 65;
    assert_int_equal(cuzk_timeline_simulate(&text, &n_bytes, path, &machine, &err),
                     CUZK_E_ARGUMENT);
    machine.n_devices = 64;
    machine.n_workers = 3;
    machine.n_cores = 2;
    machine.n_copies = 1;
    machine.is_backlog = machine.as_json = true;
    assert_int_equal(cuzk_timeline_simulate(&text, &n_bytes, path, &machine, &err), CUZK_OK);
    assert_non_null(strstr(text, "\"devices\":64,\"workers\":3"));
    cuzk_free(text);
    assert_int_equal(cuzk_timeline_simulate(&text, &n_bytes, NULL, NULL, &err), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_timeline_compare(&text, &n_bytes, path, NULL, true, &err),
                     CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_timeline_compare(&text, &n_bytes, path, "missing", true, &err),
                     CUZK_E_FILE);
    cuzk_timeline_import_options import = CUZK_TIMELINE_IMPORT_OPTIONS_INIT;
    assert_int_equal(cuzk_timeline_import(&text, &n_bytes, NULL, NULL, NULL, &err),
                     CUZK_E_ARGUMENT);
    cuzk_status missing = cuzk_timeline_import(&text, &n_bytes, "missing", path, &import, &err);
    assert_true(missing == CUZK_E_FILE || missing == CUZK_E_UNSUPPORTED); /* no SQLite here */
    assert_null(text);
    import.offset_ns = INT64_MIN;
    assert_int_equal(cuzk_timeline_import(&text, &n_bytes, path, path, &import, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "beyond"));
}

/* One recording at a time; what is there and is none stays. */
static void test_record(void **state)
{
    (void)state;
    char file[] = "/tmp/cuzk-record-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0); /* empty: taken */
    assert_int_equal(cuzk_timeline_record_end(&err), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_timeline_record(NULL, &err), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_timeline_record("missing/rec", &err), CUZK_E_FILE);
    assert_int_equal(cuzk_timeline_record("README.md", &err), CUZK_E_FILE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuzk_timeline_record(file, &err), CUZK_OK);
        assert_int_equal(cuzk_timeline_record("other", &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "writes a recording already"));
        assert_int_equal(cuzk_timeline_record_end(&err), CUZK_OK);
        assert_int_equal(
            cuzk_timeline_report(&text, &n_bytes, file, CUZK_TIMELINE_JSON, NULL, &err), CUZK_OK);
        assert_non_null(strstr(text, "\"spans\":0,"));
        cuzk_free(text);
    }
    cuzk_status status = CUZK_E_MEMORY;
    for (unsigned n = 0; status != CUZK_OK; n++) {
        assert_true(n < 1000);
        alloc_fail_at(n);
        status = cuzk_timeline_record(file, &err);
        /* of a recording that has begun, what failed was its thread's, which counts here, too */
        assert_true(alloc_fail_stop() || status == CUZK_OK);
        assert_true(status == CUZK_OK || status == CUZK_E_MEMORY);
    }
    assert_int_equal(cuzk_timeline_record_end(&err), CUZK_OK);
    char old[sizeof file + 4];
    snprintf(old, sizeof old, "%s.old", file);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(unlink(old), 0);
    close(fd);
}

static cuzk_status call(int which)
{
    return which <= CUZK_TIMELINE_NAMES
               ? cuzk_timeline_report(&text, &n_bytes, path, (cuzk_timeline_format)which, NULL,
                                      &err)
           : which == CUZK_TIMELINE_NAMES + 1
               ? cuzk_timeline_simulate(&text, &n_bytes, path, NULL, &err)
               : cuzk_timeline_compare(&text, &n_bytes, path, path, false, &err);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (int which = CUZK_TIMELINE_TEXT; which <= CUZK_TIMELINE_NAMES + 2; which++) {
        bool has_failed = true;
        for (unsigned n = 0; has_failed; n++) {
            assert_true(n < 10000);
            text = NULL;
            alloc_fail_at(n);
            cuzk_status status = call(which);
            has_failed = alloc_fail_stop();
            /* zlib reads with memory of its own: a failure there is one of reading */
            assert_true(status == CUZK_OK ||
                        (has_failed && (status == CUZK_E_MEMORY || status == CUZK_E_FILE)));
            assert_true((status == CUZK_OK) == (text != NULL));
            cuzk_free(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
