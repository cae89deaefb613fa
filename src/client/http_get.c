/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A GET of the daemon's HTTP port: one request, one connection, read to its end. */
#define _GNU_SOURCE
#include "base/text.h"
#include "client/status_read.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT_SECONDS = 3 };

/* HOST and PORT of an address. */
static cuzk_status split(char *host, size_t host_size, const char **port, const char *address,
                         cuzk_error *err)
{
    static const char scheme[] = "http://";
    const char *text = address;
    if (strncmp(text, scheme, sizeof scheme - 1) == 0) {
        text += sizeof scheme - 1;
    }
    const char *colon = strrchr(text, ':');
    CUZK_FAIL_IF(colon == NULL || colon == text || colon[1] == '\0' ||
                     strspn(colon + 1, "0123456789") != strlen(colon + 1),
                 err, CUZK_E_ARGUMENT, "status address \"%.200s\": expected HOST:PORT", address);
    size_t n = (size_t)(colon - text);
    if (text[0] == '[' && text[n - 1] == ']') {
        text++;
        n -= 2;
    }
    CUZK_FAIL_IF(n >= host_size, err, CUZK_E_ARGUMENT, "status address \"%.200s…\": too long",
                 address);
    memcpy(host, text, n);
    host[n] = '\0';
    *port = colon + 1;
    return CUZK_OK;
}

static cuzk_status open_socket(int *fd, const char *address, cuzk_error *err)
{
    char host[256];
    const char *port = "";
    CUZK_TRY(split(host, sizeof host, &port, address, err));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int code = getaddrinfo(host, port, &hints, &list);
    CUZK_FAIL_IF(code != 0, err, CUZK_E_UNAVAILABLE, "looking up \"%.200s\": %s", address,
                 gai_strerror(code));
    struct timeval wait = {.tv_sec = WAIT_SECONDS};
    int reason = ECONNREFUSED;
    *fd = -1;
    for (const struct addrinfo *a = list; a != NULL && *fd < 0; a = a->ai_next) {
        *fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (*fd < 0) {
            reason = errno;
            continue;
        }
        /* the limit for sending is the one for connecting, too */
        setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
        setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        if (connect(*fd, a->ai_addr, a->ai_addrlen) != 0) {
            reason = errno == EINPROGRESS ? ETIMEDOUT : errno;
            close(*fd);
            *fd = -1;
        }
    }
    freeaddrinfo(list);
    CUZK_FAIL_IF(*fd < 0, err, CUZK_E_UNAVAILABLE, "connecting to the status port %.200s: %s",
                 address, strerror(reason));
    return CUZK_OK;
}

static cuzk_status exchange(cuzk_text *answer, int fd, const char *address, const char *path,
                            cuzk_error *err)
{
    char request[512];
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address);
    CUZK_FAIL_IF(n < 0 || (size_t)n >= sizeof request, err, CUZK_E_ARGUMENT,
                 "status address \"%.200s…\": too long", address);
    CUZK_FAIL_IF(send(fd, request, (size_t)n, MSG_NOSIGNAL) != n, err, CUZK_E_UNAVAILABLE,
                 "asking the status port %.200s: %s", address, strerror(errno));
    char piece[16384];
    ssize_t got;
    while ((got = recv(fd, piece, sizeof piece, 0)) > 0) {
        cuzk_text_put_bytes(answer, piece, (size_t)got);
        CUZK_FAIL_IF(answer->size > CUZK_STATUS_TEXT_MAX, err, CUZK_E_FORMAT,
                     "the status port %.200s: its answer is longer than %d bytes", address,
                     CUZK_STATUS_TEXT_MAX);
    }
    CUZK_FAIL_IF(got < 0, err, CUZK_E_UNAVAILABLE, "reading from the status port %.200s: %s",
                 address, errno == EAGAIN ? "no answer" : strerror(errno));
    return cuzk_text_check(answer, err);
}

/* A status line's beginning, for a message: what is no letter of ASCII comes as "?", since it is
 * printed where a terminal may obey it. */
typedef struct {
    char text[81];
} status_line;

static status_line quote_line(const char *text)
{
    status_line out;
    size_t n = strcspn(text, "\r\n");
    n = n < sizeof out.text ? n : sizeof out.text - 1;
    for (size_t i = 0; i < n; i++) {
        out.text[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
    }
    out.text[n] = '\0';
    return out;
}

static bool is_success(const char *text)
{
    const char *status = strchr(text, ' ');
    return status != NULL && strncmp(status, " 200", 4) == 0 && strchr(" \r", status[4]) != NULL;
}

/* The body, as it came: a length is compared, pieces (chunks) are not asked for by this request and
 * are refused. */
static cuzk_status take_body(char **body, size_t *n_bytes, const cuzk_text *answer,
                             const char *address, cuzk_error *err)
{
    const char *text = answer->size > 0 ? answer->data : "";
    const char *end = strstr(text, "\r\n\r\n");
    CUZK_FAIL_IF(strncmp(text, "HTTP/1.", 7) != 0 || end == NULL, err, CUZK_E_FORMAT,
                 "the status port %.200s: its answer is not HTTP", address);
    CUZK_FAIL_IF(!is_success(text), err, CUZK_E_FORMAT, "the status port %.200s answers \"%s\"",
                 address, quote_line(text).text);
    const char *length = strcasestr(text, "\r\ncontent-length:");
    size_t size = answer->size - (size_t)(end + 4 - text);
    CUZK_FAIL_IF(length == NULL || length > end, err, CUZK_E_FORMAT,
                 "the status port %.200s: its answer has no length", address);
    unsigned long long expected = strtoull(strchr(length + 2, ':') + 1, NULL, 10);
    CUZK_FAIL_IF(expected != size, err, CUZK_E_TRUNCATED,
                 "the status port %.200s: %zu bytes came, %llu were announced", address, size,
                 expected);
    char *copy = malloc(size + 1);
    CUZK_FAIL_IF(copy == NULL, err, CUZK_E_MEMORY, "reading the status: out of memory");
    memcpy(copy, end + 4, size);
    copy[size] = '\0';
    *body = copy;
    *n_bytes = size;
    return CUZK_OK;
}

cuzk_status cuzk_client_http_get(char **body, size_t *n_bytes, const char *address,
                                 const char *path, cuzk_error *err)
{
    int fd = -1;
    cuzk_text answer = {0};
    CUZK_TRY(open_socket(&fd, address, err));
    cuzk_status status = exchange(&answer, fd, address, path, err);
    close(fd);
    if (status == CUZK_OK) {
        status = take_body(body, n_bytes, &answer, address, err);
    }
    cuzk_text_clear(&answer);
    return status;
}
