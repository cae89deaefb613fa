/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program that executes itself again: how often it may, and what it finds then. The program that
 * cuzk_restart starts is this one: its first argument tells which part it plays. */
#include "server/restart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_how_often(void **state)
{
    (void)state;
    cuzk_restarts r = {0};
    for (int i = 0; i < CUZK_RESTARTS_MAX; i++) {
        assert_true(cuzk_restarts_may(&r, 1000 + i));
        assert_int_equal(r.n, i + 1);
    }
    assert_int_equal(r.since, 1000);
    assert_false(cuzk_restarts_may(&r, 1000 + CUZK_RESTARTS_SECONDS));
    assert_false(cuzk_restarts_may(&r, 1000 + CUZK_RESTARTS_SECONDS));
    assert_true(cuzk_restarts_may(&r, 1001 + CUZK_RESTARTS_SECONDS)); /* that is long ago */
    assert_int_equal(r.n, 1);
    assert_true(cuzk_restarts_may(&r, 5)); /* a clock that was set back */
}

static void test_environment(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "x", "1", "1 2", "1 2 3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("CUZK_RESTARTS", bad[i], 1);
        cuzk_restarts r = cuzk_restarts_take();
        assert_true(r.n == 0 && r.since == 0 && r.status_port == 0 && r.owns_sockets == 0);
        assert_null(getenv("CUZK_RESTARTS"));
    }
    setenv("CUZK_RESTARTS", "2 1234567890123 9821 1", 1);
    cuzk_restarts r = cuzk_restarts_take();
    assert_true(r.n == 2 && r.since == 1234567890123 && r.status_port == 9821 &&
                r.owns_sockets == 1);
    assert_int_equal(cuzk_restarts_take().n, 0);
}

static int listen_anywhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 4) != 0) {
        return -1;
    }
    int above = fcntl(fd, F_DUPFD_CLOEXEC, 64);
    close(fd);
    return above;
}

/* Connects, executes itself, and in the next life accepts that connection. */
static int play(const char *witty)
{
    cuzk_restarts r = cuzk_restarts_take();
    if (r.n == 0) {
        int fds[2] = {listen_anywhere(), listen_anywhere()};
        struct sockaddr_in address;
        socklen_t size = sizeof address;
        int client = socket(AF_INET, SOCK_STREAM, 0); /* not close-on-exec, but closed */
        if (fds[0] < 0 || fds[1] < 0 ||
            getsockname(fds[1], (struct sockaddr *)&address, &size) != 0 ||
            connect(client, (struct sockaddr *)&address, size) != 0) {
            return 10;
        }
        r = (cuzk_restarts){.n = 2, .since = 77, .status_port = 9, .owns_sockets = 1};
        fprintf(stderr, "%s\n", cuzk_restart(&r, fds, 2));
        return 11;
    }
    int fds[CUZK_LISTEN_FDS_MAX];
    if (r.n != 2 || r.since != 77 || r.status_port != 9 || r.owns_sockets != 1 ||
        strcmp(witty, "a word with\nblanks") != 0 || cuzk_systemd_listen_fds(fds) != 2) {
        return 12;
    }
    if (fcntl(fds[1] + 1, F_GETFD) >= 0) { /* something else came along */
        return 16;
    }
    return accept(fds[1], NULL, NULL) >= 0 ? 0 : 13;
}

static void test_again(void **state)
{
    (void)state;
    char *const arguments[] = {"test_restart", "play", "a word with\nblanks", NULL};
    pid_t child = fork();
    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(14);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "play") == 0) {
        return argc == 3 ? play(argv[2]) : 15;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_how_often),
                                       cmocka_unit_test(test_environment),
                                       cmocka_unit_test(test_again)};
    return cmocka_run_group_tests_name("restart", tests, NULL, NULL);
}
