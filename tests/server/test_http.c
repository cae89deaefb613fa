/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The HTTP port: routes, headers, bodies, late answers, limits, the end with calls open. */
#define _GNU_SOURCE
#include "server/http.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

static cuzk_http *http;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards late */
static cuzk_http_call *late;                             /* a call that is answered by the test */

static void hello(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    char text[256];
    snprintf(text, sizeof text, "%s %s %s", (const char *)user, request->method, request->path);
    cuzk_http_answer(call, 200, "text/plain", text, strlen(text));
}

static void echo(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)user;
    assert_int_equal(request->body[request->body_bytes], 0);
    cuzk_http_answer(call, 200, request->content_type, request->body, request->body_bytes);
}

static void keep(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)user, (void)request;
    pthread_mutex_lock(&lock);
    late = call;
    pthread_mutex_unlock(&lock);
}

static cuzk_http_call *take_late(void)
{
    cuzk_http_call *call = NULL;
    for (int i = 0; i < 5000 && call == NULL; i++) {
        pthread_mutex_lock(&lock);
        call = late;
        late = NULL;
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
    assert_non_null(call);
    return call;
}

static const cuzk_http_route routes[] = {
    {"GET", "/a", hello, (void *)"exact", false},  {"GET", "/a*", hello, (void *)"prefix", false},
    {"POST", "/echo", echo, NULL, false},          {"GET", "/late", keep, NULL, false},
    {"GET", "/status*", hello, (void *)"s", true},
};

static int start(void **state)
{
    (void)state;
    cuzk_http_options o = {.listen = "127.0.0.1:0",
                           .routes = routes,
                           .n_routes = sizeof routes / sizeof routes[0],
                           .max_connections = 8,
                           .max_body = 100000,
                           .max_bodies = 150000};
    cuzk_error err = {0};
    return cuzk_http_start(&http, &o, &err) != CUZK_OK;
}

static int stop(void **state)
{
    (void)state;
    cuzk_http_stop(http);
    http = NULL;
    return 0;
}

static int open_connection(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)cuzk_http_port(http)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {10, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void put(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; /* refused early */
        }
        data += sent;
        n -= (size_t)sent;
    }
}

/* All that comes until the other side closes; NUL at its end. */
static const char *receive(int fd)
{
    static char data[1 << 18];
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n + 1 < sizeof data; n += got > 0 ? (size_t)got : 0) {
        got = recv(fd, data + n, sizeof data - 1 - n, 0);
    }
    data[n] = 0;
    close(fd);
    return data;
}

static const char *ask(const char *request)
{
    int fd = open_connection();
    put(fd, request, strlen(request));
    return receive(fd);
}

static void answers(const char *request, const char *status, const char *body)
{
    const char *found = ask(request);
    const char *at = strstr(found, "\r\n\r\n");
    if (strncmp(found, status, strlen(status)) != 0 || at == NULL || strcmp(at + 4, body) != 0) {
        fail_msg("%s\nanswered: %s", request, found);
    }
}

static void test_routes(void **state)
{
    (void)state;
    answers("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "exact GET /a");
    answers("GET /ab/c?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "prefix GET /ab/c");
    answers("GET /status/anything HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200",
            "s GET /status/anything");
    answers("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "");
    answers("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 405",
            "this path does not take this method\n");
    const char *found = ask("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(strncmp(found, "HTTP/1.1 404", 12), 0);
    assert_non_null(strstr(found, "/readyz"));
    found = ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_non_null(strcasestr(found, "\r\nConnection: close\r\n"));
    assert_non_null(strcasestr(found, "\r\nContent-Length: 12\r\n"));
    assert_non_null(strcasestr(found, "\r\nAccess-Control-Allow-Origin: *\r\n"));
    assert_non_null(strcasestr(found, "\r\nX-Content-Type-Options: nosniff\r\n"));
    static const char *const closed[] = {
        "POST /echo HTTP/1.1\r\nHost: x\r\nOrigin: http://y\r\nContent-Length: 1\r\n\r\na",
        "OPTIONS /echo HTTP/1.1\r\nHost: x\r\nOrigin: http://y\r\n\r\n",
        "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        assert_null(strcasestr(ask(closed[i]), "Access-Control"));
    }
    found = ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_non_null(strcasestr(found, "\r\nContent-Type: text/plain\r\n"));
}

static void test_bodies(void **state)
{
    (void)state;
    answers("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200",
            "hello");
    answers("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200", "");
    answers("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
            "HTTP/1.1 200", "abcdefg");
    static char big[100200];
    for (int extra = 0; extra < 2; extra++) {
        size_t n_head = (size_t)snprintf(
            big, sizeof big, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
            100000 + extra);
        memset(big + n_head, 'x', 100000);
        int fd = open_connection();
        put(fd, big, n_head + 100000 + (size_t)extra);
        const char *found = receive(fd);
        assert_int_equal(strncmp(found, extra ? "HTTP/1.1 413" : "HTTP/1.1 200", 12), 0);
        assert_true(extra || strlen(strstr(found, "\r\n\r\n") + 4) == 100000);
    }
    /* chunks beyond the limit */
    int fd = open_connection();
    const char *head =
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n18704\r\n";
    put(fd, head, strlen(head));
    memset(big, 'x', 100100);
    put(fd, big, 100100);
    put(fd, "\r\n0\r\n\r\n", 7);
    assert_int_equal(strncmp(receive(fd), "HTTP/1.1 413", 12), 0);
}

/* Bodies of all calls together have a limit, and give it back. */
static void test_bodies_together(void **state)
{
    (void)state;
    const char *head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n";
    /* the server says when it has seen the head and counted the body */
    const char *asking = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n"
                         "Expect: 100-continue\r\n\r\n";
    int first = open_connection();
    put(first, asking, strlen(asking));
    char told[32] = "";
    assert_int_equal(recv(first, told, 25, MSG_WAITALL), 25);
    assert_string_equal(told, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(strncmp(ask(head), "HTTP/1.1 503", 12), 0);
    static char body[90000];
    memset(body, 'y', sizeof body);
    put(first, body, sizeof body);
    assert_int_equal(strncmp(receive(first), "HTTP/1.1 200", 12), 0);
    int second = open_connection();
    put(second, head, strlen(head));
    put(second, body, sizeof body);
    assert_int_equal(strncmp(receive(second), "HTTP/1.1 200", 12), 0);
}

static void test_late_answers(void **state)
{
    (void)state;
    const char *request = "GET /late HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = open_connection();
    put(fd, request, strlen(request));
    cuzk_http_call *call = take_late();
    answers("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "exact GET /a");
    cuzk_http_answer(call, 201, "text/plain", "late", 4);
    const char *found = receive(fd);
    assert_int_equal(strncmp(found, "HTTP/1.1 201", 12), 0);
    assert_string_equal(strstr(found, "\r\n\r\n") + 4, "late");
    /* the client has gone when the answer comes */
    fd = open_connection();
    put(fd, request, strlen(request));
    call = take_late();
    close(fd);
    cuzk_http_answer(call, 200, "text/plain", "late", 4);
    answers("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "exact GET /a");
}

static void test_nonsense(void **state)
{
    (void)state;
    static const char *const requests[] = {"\r\n\r\n", "GET\r\n\r\n", "GET /a HTTP/9.9\r\n\r\n",
                                           "\x16\x03\x01\x02\x01\x01", "PRI * HTTP/2.0\r\n\r\n"};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        int fd = open_connection();
        put(fd, requests[i], strlen(requests[i]));
        shutdown(fd, SHUT_WR);
        usleep(20000); /* some are answered, some are waited for */
        close(fd);
    }
    static char head[50000];
    memset(head, 'x', sizeof head - 1);
    memcpy(head, "GET /a?", 7);
    /* it is told, and then listened to for a while, so that the answer is not lost */
    int fd = open_connection();
    put(fd, head, strlen(head));
    char found[16] = "";
    ssize_t n = recv(fd, found, 10, MSG_WAITALL);
    assert_true(n == 0 || strncmp(found, "HTTP/1.1 4", 10) == 0);
    close(fd);
    answers("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "exact GET /a");
}

/* Connections beyond the limit are closed, and those within it served again later. */
static void test_connections(void **state)
{
    (void)state;
    int fds[32];
    for (int i = 0; i < 32; i++) {
        fds[i] = open_connection();
    }
    usleep(50000);
    for (int i = 0; i < 32; i++) {
        close(fds[i]);
    }
    usleep(50000);
    answers("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", "exact GET /a");
}

static void test_stop_with_calls(void **state)
{
    (void)state;
    const char *request = "GET /late HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = open_connection();
    put(fd, request, strlen(request));
    cuzk_http_call *call = take_late();
    uint64_t begin = cuzk_now_ns();
    cuzk_http_stop(http);
    http = NULL;
    assert_true(cuzk_now_ns() - begin < 5000000000u);
    const char *found = receive(fd);
    assert_true(found[0] == 0 || strncmp(found, "HTTP/1.1 503", 12) == 0);
    cuzk_http_answer(call, 200, "text/plain", "too late", 8);
}

static void test_addresses(void **state)
{
    (void)state;
    char taken[32];
    snprintf(taken, sizeof taken, "127.0.0.1:%u", cuzk_http_port(http));
    cuzk_http_options o = {.listen = taken, .max_connections = 8};
    cuzk_http *other;
    cuzk_error err = {0};
    assert_int_equal(cuzk_http_start(&other, &o, &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "Address already in use"));
    static const char *const bad[] = {"localhost:1", "unix:///tmp/x", ""};
    for (int i = 0; i < 3; i++) {
        o.listen = bad[i];
        err = (cuzk_error){0};
        assert_int_equal(cuzk_http_start(&other, &o, &err), CUZK_E_ARGUMENT);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_routes),    TEST(test_bodies),          TEST(test_bodies_together),
        TEST(test_nonsense),  TEST(test_late_answers),    TEST(test_connections),
        TEST(test_addresses), TEST(test_stop_with_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
