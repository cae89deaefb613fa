/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The client's calls where nobody answers as a daemon does, and its parts that need no daemon. */
#include "client/bench.h"
#include "client/client.h"
#include "client/request.h"
#include "client/status_read.h"
#include "cuzk/v1/proving.pb-c.h"

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
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- addresses ------------------------------------------------------------------------------- */

static void test_targets(void **state)
{
    (void)state;
    static const struct {
        const char *address, *target;
        bool is_tls;
    } good[] = {
        {"unix:///run/curio/cuzk.sock", "unix:/run/curio/cuzk.sock", false},
        {"unix:relative.sock", "unix:relative.sock", false},
        {"/run/x", "unix:/run/x", false},
        {"localhost:9820", "dns:///localhost:9820", false},
        {"http://127.0.0.1:9820", "dns:///127.0.0.1:9820", false},
        {"http://127.0.0.1:9820/", "dns:///127.0.0.1:9820", false},
        {"https://prover.example:443", "dns:///prover.example:443", true},
        {"[::1]:65535", "dns:///[::1]:65535", false},
    };
    static const char *const bad[] = {
        "",         "localhost", "localhost:", ":9820",     "h:0",           "h:65536",
        "h:98x",    "h:-1",      "::1:80",     "unix:",     "unix://",       "h:09820",
        "http://h", "[]:80",     "a/b:80",     "ftp://h:1", "h:999999999999"};
    char target[64];
    bool is_tls;
    cuzk_error err;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(cuzk_client_target(target, sizeof target, &is_tls, good[i].address, &err),
                         CUZK_OK);
        assert_string_equal(target, good[i].target);
        assert_int_equal(is_tls, good[i].is_tls);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_client_target(target, sizeof target, &is_tls, bad[i], &err),
                         CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.text, "expected unix:///PATH"));
    }
    char longest[200];
    memset(longest, 'a', sizeof longest - 1);
    memcpy(longest, "/x", 2);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(cuzk_client_target(target, sizeof target, &is_tls, longest, &err),
                     CUZK_E_ARGUMENT);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static cuzk_client *open_client(const char *address)
{
    cuzk_client *client = NULL;
    cuzk_error err;
    cuzk_client_options options = {.address = address};
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_client_open(&client, &options, &err), CUZK_OK);
    return client;
}

/* GetStatus to an address; the status it ends with. */
static cuzk_status ask(const char *address, uint64_t timeout_ns, cuzk_error *err)
{
    cuzk_client *client = open_client(address);
    Cuzk__V1__GetStatusRequest request;
    cuzk__v1__get_status_request__init(&request);
    cuzk_client_answer answer;
    cuzk_status status =
        cuzk_client_call(client, &answer, CUZK_METHOD_STATUS, &request.base, timeout_ns, NULL);
    assert_null(answer.message);
    assert_int_equal(answer.reach, status == CUZK_E_DEADLINE ? CUZK_REACH_DAEMON : CUZK_REACH_NONE);
    *err = answer.error;
    cuzk_client_close(client);
    return status;
}

/* A Unix socket that is bound, in a folder of its own. */
struct bound {
    char folder[64], path[96], address[128];
    int fd;
};

static void bind_socket(struct bound *b)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(b->folder, sizeof b->folder, "/tmp/cuzk-client-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    snprintf(b->path, sizeof b->path, "%s/sock", b->folder);
    snprintf(b->address, sizeof b->address, "unix://%s", b->path);
    memcpy(address.sun_path, b->path, strlen(b->path) + 1);
    b->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(b->fd, (struct sockaddr *)&address, sizeof address), 0);
}

static void unbind(struct bound *b)
{
    close(b->fd);
    unlink(b->path);
    rmdir(b->folder);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    cuzk_error err;
    struct bound b;
    assert_int_equal(ask("unix:///nowhere/cuzk.sock", 0, &err), CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(err.text, "connecting to unix:///nowhere/cuzk.sock: there is no such"));
    bind_socket(&b); /* as a daemon leaves it that was killed */
    assert_int_equal(ask(b.address, 0, &err), CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(err.text, b.path));
    assert_non_null(strstr(err.text, "nobody listens on this socket"));
    unbind(&b);
    assert_int_equal(ask("127.0.0.1:1", 0, &err), CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(err.text, "connecting to 127.0.0.1:1: "));
    assert_non_null(strstr(err.text, "Connection refused"));
}

static void test_deadline(void **state)
{
    (void)state;
    cuzk_error err;
    struct bound b;
    bind_socket(&b);
    assert_int_equal(listen(b.fd, 4), 0); /* and never answers */
    assert_int_equal(ask(b.address, 150000000, &err), CUZK_E_DEADLINE);
    assert_non_null(strstr(err.text, b.path));
    assert_non_null(strstr(err.text, "GetStatus"));
    assert_non_null(strstr(err.text, "no connection yet"));
    unbind(&b);
}

static bool always(void)
{
    return true;
}

static void test_interrupt_and_close(void **state)
{
    (void)state;
    cuzk_error err;
    struct bound b;
    bind_socket(&b);
    assert_int_equal(listen(b.fd, 4), 0);
    cuzk_client *client = open_client(b.address);
    assert_string_equal(cuzk_client_address(client), b.address);
    Cuzk__V1__GetStatusRequest request;
    cuzk__v1__get_status_request__init(&request);
    cuzk_client_answer answer;
    assert_int_equal(
        cuzk_client_call(client, &answer, CUZK_METHOD_STATUS, &request.base, 0, always),
        CUZK_E_CANCELLED);
    assert_int_equal(answer.reach, CUZK_REACH_DAEMON);
    assert_false(cuzk_client_next(client, &answer, UINT64_MAX)); /* none is open */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            cuzk_client_start(client, CUZK_METHOD_STATUS, &request.base, 0, NULL, &err), CUZK_OK);
    }
    cuzk_client_close(client); /* with calls that are open */
    cuzk_client_close(NULL);
    unbind(&b);
}

static void test_message_too_large(void **state)
{
    (void)state;
    cuzk_error err;
    cuzk_client *client = open_client("127.0.0.1:1");
    Cuzk__V1__SubmitProofRequest request;
    cuzk__v1__submit_proof_request__init(&request);
    request.vanilla_proof.data = (uint8_t *)&err; /* is not looked at */
    request.vanilla_proof.len = CUZK_CLIENT_MESSAGE_MAX;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_client_start(client, CUZK_METHOD_SUBMIT, &request.base, 0, NULL, &err),
                     CUZK_E_MEMORY);
    assert_non_null(strstr(err.text, "SubmitProof: the request has 268435462 bytes, a message may "
                                     "have 268435456"));
    cuzk_client_close(client);
}

/* ---- the HTTP port --------------------------------------------------------------------------- */

struct answering {
    int fd;
    const char *answer;
};

static void *answer_once(void *user)
{
    struct answering *a = user;
    char request[1024];
    int fd = accept(a->fd, NULL, NULL);
    if (fd >= 0 && recv(fd, request, sizeof request, 0) > 0) {
        (void)!send(fd, a->answer, strlen(a->answer), MSG_NOSIGNAL);
    }
    close(fd);
    return NULL;
}

/* GET from a port that answers with these bytes. */
static cuzk_status get(char **body, const char *answer, cuzk_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct answering a = {socket(AF_INET, SOCK_STREAM, 0), answer};
    assert_int_equal(bind(a.fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(a.fd, 1), 0);
    getsockname(a.fd, (struct sockaddr *)&address, &size);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_once, &a), 0);
    char text[32];
    size_t n_bytes = 0;
    snprintf(text, sizeof text, "127.0.0.1:%u", ntohs(address.sin_port));
    cuzk_error_clear(err);
    cuzk_status status = cuzk_client_http_get(body, &n_bytes, text, "/status", err);
    if (status == CUZK_OK) {
        assert_int_equal(strlen(*body), n_bytes);
    }
    pthread_join(thread, NULL);
    close(a.fd);
    return status;
}

static void test_http(void **state)
{
    (void)state;
    cuzk_error err;
    char *body = NULL;
    assert_int_equal(get(&body, "HTTP/1.1 200 OK\r\nA: b\r\nContent-length: 3\r\n\r\nabc", &err),
                     CUZK_OK);
    assert_string_equal(body, "abc");
    free(body);
    static const struct {
        const char *answer, *text;
        cuzk_status status;
    } bad[] = {
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "\"HTTP/1.1 404 Not Found\"",
         CUZK_E_FORMAT},
        {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", "3 bytes came, 4 were announced",
         CUZK_E_TRUNCATED},
        {"HTTP/1.1 200 OK\r\n\r\nContent-Length: 3\r\n", "has no length", CUZK_E_FORMAT},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3", "is not HTTP", CUZK_E_FORMAT},
        {"SSH-2.0-x\r\n\r\n", "is not HTTP", CUZK_E_FORMAT},
        {"", "is not HTTP", CUZK_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(get(&body, bad[i].answer, &err), bad[i].status);
        assert_non_null(strstr(err.text, bad[i].text));
    }
    static const char *const addresses[] = {"x", "x:", ":1", "x:y"};
    size_t n;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_client_http_get(&body, &n, addresses[i], "/", &err), CUZK_E_ARGUMENT);
    }
}

/* ---- load ------------------------------------------------------------------------------------ */

static void test_percentiles(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_true(cuzk_bench_percentile(values, 10, 0.5) == 5);
    assert_true(cuzk_bench_percentile(values, 10, 0.9) == 9);
    assert_true(cuzk_bench_percentile(values, 10, 0.99) == 10);
    assert_true(cuzk_bench_percentile(values, 10, 0.0) == 1);
    assert_true(cuzk_bench_percentile(values, 10, 1.0) == 10);
    assert_true(cuzk_bench_percentile(values, 1, 0.5) == 1);
    assert_true(cuzk_bench_percentile(values, 0, 0.5) == 0);
}

static void test_mix(void **state)
{
    (void)state;
    static const char *const names[] = {"porep", "snap", "window", "winning", "circom"};
    Cuzk__V1__SubmitProofRequest message;
    cuzk_bench bench = {.n_jobs = 1};
    cuzk_error err;
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        bench.kinds[i].name = names[i];
        bench.kinds[i].submit = i % 2 == 0 ? NULL : &message; /* snap and winning */
    }
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_bench_mix(&bench, "snap:1,winning:3", &err), CUZK_OK);
    /* any four jobs in a row have the shares of the mix */
    const char *order[400];
    for (int i = 0; i < 400; i++) {
        order[i] = cuzk_bench_next(&bench)->name;
    }
    for (int i = 0; i + 4 <= 400; i++) {
        int snaps = 0;
        for (int k = i; k < i + 4; k++) {
            snaps += strcmp(order[k], "snap") == 0;
        }
        assert_int_equal(snaps, 1);
    }
    assert_int_equal(cuzk_bench_mix(&bench, NULL, &err), CUZK_OK);
    assert_int_equal(bench.kinds[0].weight, 0);
    assert_int_equal(bench.kinds[1].weight, 1);
    assert_int_equal(cuzk_bench_mix(&bench, "window", &err), CUZK_E_ARGUMENT);
}

static void test_priorities(void **state)
{
    (void)state;
    Cuzk__V1__Priority priority;
    assert_true(cuzk_client_priority(&priority, "critical"));
    assert_int_equal(priority, CUZK__V1__PRIORITY__CRITICAL);
    assert_true(cuzk_client_priority(&priority, "low"));
    assert_int_equal(priority, CUZK__V1__PRIORITY__LOW);
    assert_true(cuzk_client_priority(&priority, NULL));
    assert_int_equal(priority, CUZK__V1__PRIORITY__PRIORITY_UNSPECIFIED);
    assert_false(cuzk_client_priority(&priority, ""));
    assert_false(cuzk_client_priority(&priority, "LOW"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),           cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_deadline),          cmocka_unit_test(test_interrupt_and_close),
        cmocka_unit_test(test_message_too_large), cmocka_unit_test(test_http),
        cmocka_unit_test(test_percentiles),       cmocka_unit_test(test_mix),
        cmocka_unit_test(test_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
