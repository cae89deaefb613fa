/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The log: escapes, forms, levels, rates, and many threads. */
#include "base/clock.h"
#include "server/log.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static FILE *sink;
static char written[1 << 16];
static uint64_t clock_ns;

static uint64_t fake_now(void)
{
    return clock_ns;
}

static cuzk_logger *make(cuzk_log_level level, bool json, bool journald, unsigned rate)
{
    sink = tmpfile();
    assert_non_null(sink);
    cuzk_logger_options o = {level, json, journald, rate, fileno(sink), fake_now};
    cuzk_logger *log;
    cuzk_error err = {0};
    clock_ns = 1;
    assert_int_equal(cuzk_logger_create(&log, &o, &err), CUZK_OK);
    return log;
}

/* What was written since the last call. */
static const char *text(void)
{
    off_t size = lseek(fileno(sink), 0, SEEK_END);
    assert_true(size >= 0 && (size_t)size < sizeof written);
    assert_int_equal(pread(fileno(sink), written, (size_t)size, 0), size);
    written[size] = 0;
    assert_int_equal(ftruncate(fileno(sink), 0), 0);
    lseek(fileno(sink), 0, SEEK_SET);
    return written;
}

static void done(cuzk_logger *log)
{
    cuzk_logger_destroy(log);
    fclose(sink);
}

/* "2026-12-01T10:00:00.123Z " in front of a line */
static const char *without_time(const char *line)
{
    static const char form[] = "0000-00-00T00:00:00.000Z ";
    for (size_t i = 0; form[i] != 0; i++) {
        if (form[i] == '0' ? line[i] < '0' || line[i] > '9' : line[i] != form[i]) {
            fail_msg("no time: %s", line);
        }
    }
    return line + sizeof form - 1;
}

static void test_forms(void **state)
{
    (void)state;
    cuzk_logger *log = make(CUZK_LOG_INFO, false, false, 0);
    CUZK_LOG(log, CUZK_LOG_INFO, "it is so");
    assert_string_equal(without_time(text()), "info \"it is so\"\n");
    CUZK_LOG(log, CUZK_LOG_WARN, "x", CUZK_LOG_JOB("porep-1000-7"), CUZK_LOG_U("n", UINT64_MAX),
             CUZK_LOG_I("i", -5), CUZK_LOG_MS("t_ms", 1234567), CUZK_LOG_S("left", NULL));
    assert_string_equal(without_time(text()), "warn \"x\" job=porep-1000-7 n=18446744073709551615 "
                                              "i=-5 t_ms=1.234\n");
    cuzk_logger_set(log, CUZK_LOG_INFO, true, 0);
    CUZK_LOG(log, CUZK_LOG_ERROR, "x", CUZK_LOG_JOB("a b"), CUZK_LOG_U("n", 3));
    const char *line = text();
    assert_non_null(strstr(line, "{\"ts\":\"2"));
    assert_non_null(
        strstr(line, "\",\"level\":\"error\",\"msg\":\"x\",\"job\":\"a b\",\"n\":3}\n"));
    cuzk_logger_raw(log, "TIMELINE,1,GPU_END,id,partition=3");
    assert_string_equal(text(), "TIMELINE,1,GPU_END,id,partition=3\n");
    done(log);
    log = make(CUZK_LOG_INFO, false, true, 0);
    CUZK_LOG(log, CUZK_LOG_WARN, "x", CUZK_LOG_U("n", 3));
    assert_string_equal(text(), "<4>warn \"x\" n=3\n");
    CUZK_LOG(log, CUZK_LOG_ERROR, "y");
    assert_string_equal(text(), "<3>error \"y\"\n");
    done(log);
    CUZK_LOG((cuzk_logger *)NULL, CUZK_LOG_ERROR, "nowhere");
}

/* A line stays one line, and its quotes pair, whatever a value holds. */
static void test_escapes(void **state)
{
    (void)state;
    static const struct {
        const char *value, *text;
    } cases[] = {
        {"plain-1.2/3:4_5", "plain-1.2/3:4_5"},
        {"", "\"\""},
        {"a b", "\"a b\""},
        {"a=b", "\"a=b\""},
        {"wdpost-1000-0-[1 2 3]", "\"wdpost-1000-0-[1 2 3]\""},
        {"say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""},
        {"a\nb\rc\td\x1b[0m\x7f", "\"a\\nb\\u000dc\\u0009d\\u001b[0m\\u007f\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},
        {"\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* half a pair */
        {"\xc2\x85", "\"\\u0085\""},                                  /* next line */
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
    };
    cuzk_logger *log = make(CUZK_LOG_INFO, false, true, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CUZK_LOG(log, CUZK_LOG_INFO, "m", CUZK_LOG_JOB(cases[i].value));
        char expected[256];
        snprintf(expected, sizeof expected, "<6>info \"m\" job=%s\n", cases[i].text);
        assert_string_equal(text(), expected);
    }
    char *big = malloc(100001);
    memset(big, '\n', 100000);
    big[100000] = 0;
    CUZK_LOG(log, CUZK_LOG_INFO, "m", CUZK_LOG_JOB(big));
    const char *line = text();
    assert_true(strlen(line) < 2200);
    assert_non_null(strstr(line, "...\"\n"));
    free(big);
    done(log);
}

static void test_levels(void **state)
{
    (void)state;
    cuzk_logger *log = make(CUZK_LOG_ERROR, false, false, 0);
    for (int level = CUZK_LOG_ERROR; level <= CUZK_LOG_DEBUG; level++) {
        cuzk_logger_set(log, (cuzk_log_level)level, false, 0);
        for (int own = CUZK_LOG_ERROR; own <= CUZK_LOG_DEBUG; own++) {
            CUZK_LOG(log, (cuzk_log_level)own, "m");
            assert_true((text()[0] != 0) == (own <= level));
            assert_true(cuzk_logger_is_on(log, (cuzk_log_level)own) == (own <= level));
        }
    }
    assert_false(cuzk_logger_is_on(NULL, CUZK_LOG_ERROR));
    done(log);
}

static size_t count(const char *s, const char *part)
{
    size_t n = 0;
    for (s = strstr(s, part); s != NULL; s = strstr(s + 1, part)) {
        n++;
    }
    return n;
}

static void test_rates(void **state)
{
    (void)state;
    cuzk_logger *log = make(CUZK_LOG_INFO, false, true, 5);
    for (int i = 0; i < 100; i++) {
        CUZK_LOG(log, CUZK_LOG_INFO, "often");
        CUZK_LOG(log, CUZK_LOG_ERROR, "never left out");
    }
    CUZK_LOG(log, CUZK_LOG_INFO, "another");
    const char *s = text();
    assert_int_equal(count(s, "often"), 5);
    assert_int_equal(count(s, "another"), 1);
    assert_int_equal(count(s, "never left out"), 100);
    clock_ns += 200000000; /* a fifth of a second: one more */
    CUZK_LOG(log, CUZK_LOG_INFO, "often");
    CUZK_LOG(log, CUZK_LOG_INFO, "often");
    assert_string_equal(text(), "<6>info \"often\" left_out_before=95\n");
    clock_ns += 3600000000000u; /* an hour saves no more than a second's worth */
    for (int i = 0; i < 100; i++) {
        CUZK_LOG(log, CUZK_LOG_INFO, "often");
    }
    assert_int_equal(count(text(), "often"), 5);
    cuzk_logger_set(log, CUZK_LOG_INFO, false, 0);
    for (int i = 0; i < 100; i++) {
        CUZK_LOG(log, CUZK_LOG_INFO, "often");
    }
    assert_int_equal(count(text(), "often"), 100);
    int fd = dup(fileno(sink));
    cuzk_logger_destroy(log);
    assert_string_equal(text(), "<6>info \"lines were left out\" of=often n=95\n");
    close(fd);
    fclose(sink);
}

/* More messages than buckets still come through. */
static void test_many_messages(void **state)
{
    (void)state;
    static char messages[1000][16];
    cuzk_logger *log = make(CUZK_LOG_INFO, false, true, 1000);
    for (int i = 0; i < 1000; i++) {
        snprintf(messages[i], sizeof messages[i], "m%d", i);
        cuzk_logger_put(log, CUZK_LOG_INFO, messages[i],
                        (const cuzk_logger_field[CUZK_LOG_FIELDS_MAX]){{0}});
    }
    assert_int_equal(count(text(), "info"), 1000);
    done(log);
}

/* A reader that stops reading holds nobody up; lines that are written are whole, and what is lost
 * is told when it reads again. */
static void test_stuck_reader(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    cuzk_logger_options o = {.level = CUZK_LOG_INFO, .journald = true, .fd = fds[1]};
    cuzk_logger *log;
    cuzk_error err = {0};
    assert_int_equal(cuzk_logger_create(&log, &o, &err), CUZK_OK);
    static char filler[1500];
    memset(filler, 'x', sizeof filler - 1);
    uint64_t begin = cuzk_now_ns();
    enum { MANY = 2000 };
    for (unsigned i = 0; i < MANY; i++) {
        CUZK_LOG(log, CUZK_LOG_INFO, "m", CUZK_LOG_U("n", i), CUZK_LOG_S("x", filler));
    }
    assert_true(cuzk_now_ns() - begin < 5000000000u);
    static char data[1 << 17];
    size_t n_lines = 0;
    ssize_t n = read(fds[0], data, sizeof data - 1);
    assert_true(n > 30000);
    for (const char *p = data; p < data + n; p = strchr(p, '\n') + 1) {
        assert_int_equal(strncmp(p, "<6>info \"m\" n=", 14), 0);
        assert_int_equal(strtoul(p + 14, NULL, 10), n_lines++);
        data[n] = 0;
        if (strchr(p, '\n') == NULL) {
            break; /* the one that found no room for its end */
        }
    }
    CUZK_LOG(log, CUZK_LOG_INFO, "again");
    n = read(fds[0], data, sizeof data - 1);
    assert_true(n > 0);
    data[n] = 0;
    const char *told = strstr(data, "<4>warn \"lines of the log were lost\" n=");
    assert_non_null(told);
    unsigned long n_lost = strtoul(strstr(told, "n=") + 2, NULL, 10);
    assert_non_null(strstr(told, "\n<6>info \"again\"\n"));
    assert_true(n_lost + n_lines >= MANY && n_lost + n_lines <= MANY + 1);
    /* a reader that has gone is no reason to stop either */
    signal(SIGPIPE, SIG_IGN);
    close(fds[0]);
    CUZK_LOG(log, CUZK_LOG_INFO, "to nobody");
    cuzk_logger_destroy(log);
    close(fds[1]);
}

enum { THREADS = 4, LINES = 100 };

static void *write_lines(void *user)
{
    cuzk_logger *log = user;
    for (unsigned i = 0; i < LINES; i++) {
        CUZK_LOG(log, CUZK_LOG_INFO, "from a thread", CUZK_LOG_U("n", i), CUZK_LOG_S("s", "a b"));
        cuzk_logger_set(log, CUZK_LOG_INFO, false, 100000);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    cuzk_logger *log = make(CUZK_LOG_INFO, false, true, 100000);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, log), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    char *line = strtok((char *)(uintptr_t)text(), "\n");
    size_t n = 0;
    for (; line != NULL; line = strtok(NULL, "\n")) {
        unsigned value;
        char end[8];
        assert_int_equal(sscanf(line, "<6>info \"from a thread\" n=%u s=\"a %3s", &value, end), 2);
        assert_string_equal(end, "b\"");
        n++;
    }
    assert_int_equal(n, THREADS * LINES);
    done(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),         cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_levels),        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_many_messages), cmocka_unit_test(test_stuck_reader),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
