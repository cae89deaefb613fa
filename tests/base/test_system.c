/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What comes from the system and its environment: the choice of the CPU path, random bytes with a
 * generator that interrupts, gives less or refuses; and what a broken promise leaves behind. */
#define _GNU_SOURCE
#include "base/cpu.h"
#include "base/random.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- processes ---------------------------------------------------------------------------------
 */

/* Runs body in a process of its own with its standard error in text; its status as of waitpid. */
static int in_child(void (*body)(const char *), const char *arg, char *text, size_t size)
{
    int pipes[2], status = 0;
    size_t n = 0;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        body(arg);
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t k; n + 1 < size && (k = read(pipes[0], text + n, size - 1 - n)) > 0;) {
        n += (size_t)k;
    }
    text[n] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void choose(const char *path)
{
    cuzk_error err = {0};
    if (path == NULL) {
        unsetenv("CUZK_CPU");
    } else {
        setenv("CUZK_CPU", path, 1);
    }
    cuzk_status status = cuzk_cpu_check(&err);
    cuzk_cpu_path chosen = cuzk_cpu_path_get();
    setenv("CUZK_CPU", "portable", 1); /* decided at the first call */
    fprintf(stderr, "%d %s %d %s", (int)status, cuzk_cpu_path_name(chosen),
            chosen == cuzk_cpu_path_get() && cuzk_cpu_supports(chosen), err.text);
}

static void test_cpu(void **state)
{
    (void)state;
    static const char *const names[] = {"portable", "adx", "ifma", "ifma-emulated"};
    char text[2048], expected[128], best[64];
    assert_true(cuzk_cpu_supports(CUZK_CPU_PORTABLE) && cuzk_cpu_supports(CUZK_CPU_IFMA_EMULATED));
    assert_true(!cuzk_cpu_supports(CUZK_CPU_IFMA) || cuzk_cpu_supports(CUZK_CPU_ADX));
    assert_false(cuzk_cpu_supports(CUZK_CPU_PATH_COUNT));
    assert_false(cuzk_cpu_supports((cuzk_cpu_path)-1));
    snprintf(best, sizeof best, "%s 1 ",
             cuzk_cpu_supports(CUZK_CPU_IFMA)  ? "ifma"
             : cuzk_cpu_supports(CUZK_CPU_ADX) ? "adx"
                                               : "portable");
    for (int i = 0; i < CUZK_CPU_PATH_COUNT; i++) {
        assert_string_equal(cuzk_cpu_path_name((cuzk_cpu_path)i), names[i]);
        assert_int_equal(in_child(choose, names[i], text, sizeof text), 0);
        if (cuzk_cpu_supports((cuzk_cpu_path)i)) {
            snprintf(expected, sizeof expected, "0 %s 1 ", names[i]);
            assert_string_equal(text, expected);
        } else { /* refused by name, never silently replaced */
            snprintf(expected, sizeof expected, "%d %sCUZK_CPU=%s: this processor lacks",
                     CUZK_E_ARGUMENT, best, names[i]);
            assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
        }
    }
    static const char *const unknown[] = {"avx", "ADX", "ifma ", "portable,adx"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_int_equal(in_child(choose, unknown[i], text, sizeof text), 0);
        snprintf(expected, sizeof expected, "%d %sCUZK_CPU=%s: unknown path; known: portable",
                 CUZK_E_ARGUMENT, best, unknown[i]);
        assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    }
    static const char *const none[] = {NULL, ""}; /* nothing is pinned */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(in_child(choose, none[i], text, sizeof text), 0);
        snprintf(expected, sizeof expected, "0 %s", best);
        assert_string_equal(text, expected);
    }
}

static void break_promise(const char *arg)
{
    if (arg != NULL) { /* as CUZK_ASSERT does where it is built in */
        cuzk_assert_failed("arg == NULL", __FILE__, __LINE__);
    }
}

static void test_broken_promise(void **state)
{
    (void)state;
    char text[512];
    int status = in_child(break_promise, "x", text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "cuzk: internal promise broken at "));
    assert_non_null(strstr(text, "test_system.c:"));
    assert_non_null(strstr(text, "arg == NULL"));
    assert_int_equal(in_child(break_promise, NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* ---- random bytes ------------------------------------------------------------------------------
 */

/* The system's generator as the test wants it: getrandom is redirected at link time. */
static struct {
    int interrupts; /* EINTR so many times */
    size_t most;    /* bytes a call gives, at most; 0: as many as asked for */
    size_t fail_after;
    int fail_with; /* 0: never */
    size_t n_calls, given;
} system_random;

ssize_t __real_getrandom(void *p, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags);

ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags)
{
    assert_int_equal(flags, 0); /* waits for the seed, from the generator that is never empty */
    system_random.n_calls++;
    if (system_random.interrupts > 0) {
        system_random.interrupts--;
        errno = EINTR;
        return -1;
    }
    if (system_random.fail_with != 0 && system_random.given >= system_random.fail_after) {
        errno = system_random.fail_with;
        return -1;
    }
    n = system_random.most != 0 && n > system_random.most ? system_random.most : n;
    system_random.given += n;
    return __real_getrandom(p, n, flags);
}

static void test_random(void **state)
{
    (void)state;
    uint8_t bytes[100];
    cuzk_error err = {0};
    for (size_t n = 0; n <= 98; n++) {
        memset(&system_random, 0, sizeof system_random);
        system_random.interrupts = (int)(n % 4);
        system_random.most = n % 3 * 7;
        memset(bytes, 0xa5, sizeof bytes);
        assert_int_equal(cuzk_random_bytes(bytes + 1, n, &err), CUZK_OK);
        assert_int_equal(system_random.given, n);
        assert_int_equal(bytes[0], 0xa5);
        assert_int_equal(bytes[n + 1], 0xa5);
        size_t same = 0;
        for (size_t i = 1; i <= n; i++) {
            same += bytes[i] == 0xa5;
        }
        assert_true(n < 20 || same < n / 2); /* they were written, to the last */
    }
    for (size_t after = 0; after <= 60; after += 20) { /* at once, or after some were given */
        memset(&system_random, 0, sizeof system_random);
        system_random =
            (__typeof__(system_random)){.most = 20, .fail_after = after, .fail_with = ENOSYS};
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_random_bytes(bytes, 90, &err), CUZK_E_INTERNAL);
        assert_non_null(strstr(err.text, "reading the system's random generator: "));
        assert_non_null(strstr(err.text, strerror(ENOSYS)));
        assert_int_equal(system_random.given, after);
    }
    memset(&system_random, 0, sizeof system_random);
}

/* Version 4, variant 10, lower-case, 36 characters; no two alike. */
static void test_uuid(void **state)
{
    (void)state;
    char ids[50][CUZK_UUID_BYTES];
    for (int i = 0; i < 50; i++) {
        assert_int_equal(cuzk_random_uuid(ids[i], NULL), CUZK_OK);
        assert_int_equal(strlen(ids[i]), 36);
        for (int k = 0; k < 36; k++) {
            bool dash = k == 8 || k == 13 || k == 18 || k == 23;
            assert_true(dash ? ids[i][k] == '-' : strchr("0123456789abcdef", ids[i][k]) != NULL);
        }
        assert_int_equal(ids[i][14], '4');
        assert_non_null(strchr("89ab", ids[i][19]));
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(ids[i], ids[k]);
        }
    }
    system_random.fail_with = EPERM;
    cuzk_error err = {0};
    assert_int_equal(cuzk_random_uuid(ids[0], &err), CUZK_E_INTERNAL);
    memset(&system_random, 0, sizeof system_random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_broken_promise),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_uuid),
    };
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
