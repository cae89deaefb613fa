/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libmicrohttpd has two threads that poll all connections. A request is collected, given to its
 * route's handler, and its connection suspended; the answer resumes it. A call belongs to its
 * connection and to its handler: the last of the two frees it. */
#include "server/http.h"

#include "base/bytes.h"
#include "server/address.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2, IDLE_SECONDS = 10, CONNECTION_BYTES = 32 << 10, CONTENT_TYPE_MAX = 128 };

/* A page takes what it is made of from here, and nothing is in it that is not a file of its own. */
#define PAGE_POLICY                                                                                \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "        \
    "'self'; "                                                                                     \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct cuzk_http {
    struct MHD_Daemon *daemon;
    int listener; /* the library's: it closes it */
    cuzk_http_options options;
    pthread_mutex_t lock;  /* guards all up to is_stopping, and in each call what says so */
    pthread_cond_t idle;   /* n_handling is 0 */
    cuzk_http_call *calls; /* suspended ones */
    unsigned n_handling;   /* handlers that run */
    bool is_stopping;
    atomic_uint_fast64_t body_bytes; /* of all calls */
    atomic_int users;                /* this, and calls that are not freed */
};

struct cuzk_http_call {
    cuzk_http *http;
    struct MHD_Connection *connection;
    const cuzk_http_route *route; /* NULL: refused */
    cuzk_http_request request;
    char content_type[CONTENT_TYPE_MAX];
    uint8_t *body;
    size_t body_bytes, body_room;
    uint64_t counted_bytes; /* in http->body_bytes */
    unsigned refusal;       /* status that is known before the body is there; 0: none */
    atomic_int owners;      /* connection and handler */
    /* under http->lock */
    bool is_suspended, is_answered, is_gone;
    cuzk_http_call *previous, *next; /* in http->calls while it is suspended */
    struct MHD_Response *response;
    unsigned status;
};

/* The daemon's struct stays until late answers have come. */
static void let_go(cuzk_http *http)
{
    /* the last user sees what all others did */
    if (atomic_fetch_sub_explicit(&http->users, 1, memory_order_acq_rel) == 1) {
        pthread_cond_destroy(&http->idle);
        pthread_mutex_destroy(&http->lock);
        free(http);
    }
}

/* A body may be a private witness. */
static void free_body(cuzk_http_call *call)
{
    if (call->body != NULL) {
        cuzk_wipe(call->body, call->body_bytes);
        free(call->body);
    }
}

static void disown(cuzk_http_call *call)
{
    if (atomic_fetch_sub_explicit(&call->owners, 1, memory_order_acq_rel) > 1) {
        return;
    }
    cuzk_http *http = call->http;
    atomic_fetch_sub_explicit(&http->body_bytes, call->counted_bytes, memory_order_relaxed);
    if (call->response != NULL) {
        MHD_destroy_response(call->response);
    }
    free_body(call);
    free(call);
    let_go(http);
}

static struct MHD_Response *make_response(const char *content_type, const void *body,
                                          size_t n_bytes, bool is_readable)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(n_bytes, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    if (r != NULL) {
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
        MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
        if (strncmp(content_type, "text/html", 9) == 0) {
            MHD_add_response_header(r, "Content-Security-Policy", PAGE_POLICY);
            MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
        }
        if (is_readable) {
            /* pages of any origin may show it: it takes no credentials and changes nothing */
            MHD_add_response_header(r, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        }
        MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    }
    return r;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    struct MHD_Response *r = make_response("text/plain; charset=utf-8", text, strlen(text), false);
    if (r == NULL) {
        return MHD_NO;
    }
    enum MHD_Result result = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return result;
}

static void unlink_call(cuzk_http_call *call)
{
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        call->http->calls = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    call->is_suspended = false;
}

void cuzk_http_answer(cuzk_http_call *call, unsigned status, const char *content_type,
                      const void *body, size_t n_bytes)
{
    cuzk_http *http = call->http;
    struct MHD_Response *response =
        make_response(content_type, body, n_bytes,
                      strcmp(call->route->method, "GET") == 0 && !call->route->is_own);
    if (status == MHD_HTTP_UNAUTHORIZED && response != NULL) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    }
    pthread_mutex_lock(&http->lock);
    bool resume = false;
    if (!call->is_answered && !call->is_gone) {
        call->response = response;
        response = NULL;
        call->status = status;
        call->is_answered = true;
        resume = call->is_suspended;
        if (resume) {
            unlink_call(call);
            /* under the lock, so that a stop cannot end the daemon in between */
            MHD_resume_connection(call->connection);
        }
    }
    pthread_mutex_unlock(&http->lock);
    if (response != NULL) {
        MHD_destroy_response(response);
    }
    disown(call);
}

const char *cuzk_http_query(cuzk_http_call *call, const char *name)
{
    return MHD_lookup_connection_value(call->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *cuzk_http_header(cuzk_http_call *call, const char *name)
{
    return MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND, name);
}

static bool fits(const cuzk_http_route *route, const char *path)
{
    size_t n = strlen(route->path);
    return route->path[n - 1] == '*' ? strncmp(route->path, path, n - 1) == 0
                                     : strcmp(route->path, path) == 0;
}

static const cuzk_http_route *find_route(const cuzk_http *http, const char *method,
                                         const char *path, bool *has_path)
{
    /* the answer to HEAD is that to GET; the library leaves the body out */
    const char *own = strcmp(method, "HEAD") == 0 ? "GET" : method;
    *has_path = false;
    for (size_t i = 0; i < http->options.n_routes; i++) {
        const cuzk_http_route *route = &http->options.routes[i];
        if (fits(route, path)) {
            *has_path = true;
            if (strcmp(route->method, own) == 0) {
                return route;
            }
        }
    }
    return NULL;
}

/* Count n bytes more of a body. False: too many in all. */
static bool count_bytes(cuzk_http_call *call, uint64_t n)
{
    cuzk_http *http = call->http;
    uint64_t before = atomic_fetch_add_explicit(&http->body_bytes, n, memory_order_relaxed);
    call->counted_bytes += n;
    return before + n <= http->options.max_bodies;
}

/* A request's head: whether it is taken at all. */
static cuzk_http_call *begin(cuzk_http *http, struct MHD_Connection *connection, const char *path,
                             const char *method)
{
    cuzk_http_call *call = calloc(1, sizeof *call);
    if (call == NULL) {
        return NULL;
    }
    call->http = http;
    call->connection = connection;
    atomic_init(&call->owners, 1);
    atomic_fetch_add_explicit(&http->users, 1, memory_order_relaxed);
    bool has_path;
    call->route = find_route(http, method, path, &has_path);
    if (call->route == NULL) {
        call->refusal = has_path ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND;
        return call;
    }
    const char *type =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    snprintf(call->content_type, sizeof call->content_type, "%s", type != NULL ? type : "");
    const char *length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t n = length != NULL ? strtoull(length, NULL, 10) : 0;
    if (n > http->options.max_body) {
        call->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
    } else if (n > 0 && !count_bytes(call, n)) {
        call->refusal = MHD_HTTP_SERVICE_UNAVAILABLE;
    } else if (n > 0) {
        call->body = malloc((size_t)n + 1);
        call->body_room = call->body != NULL ? (size_t)n : 0;
        call->refusal = call->body == NULL ? MHD_HTTP_SERVICE_UNAVAILABLE : 0;
    }
    return call;
}

/* A piece of the body; it may come without a length (chunked). */
static void take_body(cuzk_http_call *call, const char *data, size_t n)
{
    const cuzk_http_options *o = &call->http->options;
    if (call->refusal != 0) {
        return;
    }
    if (n > o->max_body - call->body_bytes) {
        call->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
        return;
    }
    if (call->body_bytes + n > call->body_room) {
        size_t room = 2 * call->body_room + n;
        room = room > o->max_body ? (size_t)o->max_body : room;
        uint8_t *grown = count_bytes(call, room - call->body_room) ? malloc(room + 1) : NULL;
        if (grown == NULL) {
            call->refusal = MHD_HTTP_SERVICE_UNAVAILABLE;
            return;
        }
        if (call->body_bytes > 0) {
            memcpy(grown, call->body, call->body_bytes);
        }
        free_body(call);
        call->body = grown;
        call->body_room = room;
    }
    memcpy(call->body + call->body_bytes, data, n);
    call->body_bytes += n;
}

static enum MHD_Result refuse_call(cuzk_http_call *call, struct MHD_Connection *connection)
{
    switch (call->refusal) {
    case MHD_HTTP_NOT_FOUND:
        return refuse(
            connection, call->refusal,
            "not found; there are /, /status, /metrics, /timeline.svg, /healthz and /readyz\n");
    case MHD_HTTP_METHOD_NOT_ALLOWED:
        return refuse(connection, call->refusal, "this path does not take this method\n");
    case MHD_HTTP_CONTENT_TOO_LARGE:
        return refuse(connection, call->refusal, "the body is larger than http.max_body\n");
    default:
        return refuse(connection, call->refusal, "no memory for the request now; try again\n");
    }
}

/* The whole request is there. */
static enum MHD_Result hand_over(cuzk_http_call *call, const char *path, const char *method)
{
    cuzk_http *http = call->http;
    if (call->body != NULL) {
        call->body[call->body_bytes] = 0;
    }
    call->request = (cuzk_http_request){method, path, call->content_type,
                                        call->body != NULL ? call->body : (const uint8_t *)"",
                                        call->body_bytes};
    pthread_mutex_lock(&http->lock);
    bool is_stopping = http->is_stopping;
    if (!is_stopping) {
        atomic_fetch_add_explicit(&call->owners, 1, memory_order_relaxed);
        call->is_suspended = true;
        call->next = http->calls;
        if (http->calls != NULL) {
            http->calls->previous = call;
        }
        http->calls = call;
        http->n_handling++;
        MHD_suspend_connection(call->connection);
    }
    pthread_mutex_unlock(&http->lock);
    if (is_stopping) {
        return refuse(call->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "shutting down\n");
    }
    /* from here on the call may be answered, and the connection be gone, at any time */
    const cuzk_http_route *route = call->route;
    route->handle(route->user, call, &call->request);
    pthread_mutex_lock(&http->lock);
    if (--http->n_handling == 0) {
        pthread_cond_broadcast(&http->idle);
    }
    pthread_mutex_unlock(&http->lock);
    return MHD_YES;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *n_bytes, void **state)
{
    (void)version;
    cuzk_http *http = user;
    cuzk_http_call *call = *state;
    if (call == NULL) {
        call = begin(http, connection, path, method);
        *state = call;
        if (call == NULL) {
            return MHD_NO;
        }
        /* what is too large need not be sent at all */
        bool is_early = call->refusal != 0 && call->refusal != MHD_HTTP_NOT_FOUND;
        return is_early ? refuse_call(call, connection) : MHD_YES;
    }
    if (*n_bytes > 0) {
        take_body(call, data, *n_bytes);
        *n_bytes = 0;
        return MHD_YES;
    }
    if (call->refusal != 0) {
        return refuse_call(call, connection);
    }
    pthread_mutex_lock(&http->lock);
    bool is_answered = call->is_answered;
    pthread_mutex_unlock(&http->lock);
    if (!is_answered) {
        return hand_over(call, path, method);
    }
    return call->response != NULL ? MHD_queue_response(connection, call->status, call->response)
                                  : MHD_NO;
}

static void on_completed(void *user, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection, (void)code;
    cuzk_http *http = user;
    cuzk_http_call *call = *state;
    *state = NULL;
    if (call == NULL) {
        return;
    }
    pthread_mutex_lock(&http->lock);
    call->is_gone = true;
    if (call->is_suspended) {
        unlink_call(call);
    }
    pthread_mutex_unlock(&http->lock);
    disown(call);
}

/* What the library says of broken requests: what clients do is not worth more than a debug line. */
static void on_message(void *user, const char *format, va_list list)
{
    cuzk_http *http = user;
    char text[256];
    vsnprintf(text, sizeof text, format, list);
    text[strcspn(text, "\n")] = 0;
    CUZK_LOG(http->options.log, CUZK_LOG_DEBUG, "http", CUZK_LOG_S("text", text));
}

/* A listening socket, so that the reason of a failure is known. */
static cuzk_status listen_on(int *out, const char *text, cuzk_error *err)
{
    cuzk_address address;
    CUZK_TRY(cuzk_address_parse(&address, text, err));
    CUZK_FAIL_IF(address.is_unix, err, CUZK_E_ARGUMENT,
                 "address \"%.200s\": HTTP is served on IP:PORT", text);
    int fd = socket(address.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (const struct sockaddr *)&address.address, address.size) != 0 ||
        listen(fd, 128) != 0) {
        int reason = errno;
        if (fd >= 0) {
            close(fd);
        }
        return CUZK_FAIL(err, CUZK_E_FILE, "address \"%.200s\": %s", text, strerror(reason));
    }
    *out = fd;
    return CUZK_OK;
}

cuzk_status cuzk_http_start(cuzk_http **out, const cuzk_http_options *options, cuzk_error *err)
{
    int fd = -1;
    CUZK_TRY(listen_on(&fd, options->listen, err));
    cuzk_http *http = calloc(1, sizeof *http);
    if (http == NULL || pthread_mutex_init(&http->lock, NULL) != 0) {
        free(http);
        close(fd);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    }
    pthread_cond_init(&http->idle, NULL); /* does not fail on Linux */
    http->options = *options;
    http->listener = fd;
    atomic_init(&http->users, 1);
    /* each of the library's threads has its share of the connections */
    unsigned limit = options->max_connections < THREADS ? THREADS : options->max_connections;
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_message, http, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, http, MHD_OPTION_END);
    if (http->daemon == NULL) {
        close(fd);
        let_go(http);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "address \"%.200s\": the HTTP server does not start",
                         options->listen);
    }
    *out = http;
    return CUZK_OK;
}

unsigned cuzk_http_port(const cuzk_http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_LISTEN_FD);
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (info == NULL || getsockname(info->listen_fd, (struct sockaddr *)&address, &size) != 0) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&address)->sin6_port
                                               : ((const struct sockaddr_in *)&address)->sin_port);
}

/* Whether the last connection goes within a moment. */
static bool wait_for_connections(const cuzk_http *http)
{
    enum { STEP_US = 5000, STEPS = 60 };
    for (int i = 0; i < STEPS; i++) {
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (info == NULL || info->num_connections == 0) {
            return true;
        }
        usleep(STEP_US);
    }
    return false;
}

void cuzk_http_stop(cuzk_http *http)
{
    if (http == NULL) {
        return;
    }
    static const char text[] = "shutting down\n";
    /* not MHD_quiesce_daemon, which in 0.9.75 aborts where its limit of connections is reached */
    shutdown(http->listener, SHUT_RDWR);
    pthread_mutex_lock(&http->lock);
    http->is_stopping = true;
    while (http->calls != NULL) {
        cuzk_http_call *call = http->calls;
        call->response = make_response("text/plain; charset=utf-8", text, sizeof text - 1, false);
        call->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        call->is_answered = true;
        unlink_call(call);
        MHD_resume_connection(call->connection);
    }
    while (http->n_handling > 0) {
        pthread_cond_wait(&http->idle, &http->lock);
    }
    pthread_mutex_unlock(&http->lock);
    /* A broken request that arrives while libmicrohttpd 0.9.75 ends takes the process down (its
     * answer is not there and is used all the same). So it is ended only where no client is left,
     * and otherwise stays with its threads until the process ends: no handler is called any more.
     */
    if (wait_for_connections(http)) {
        MHD_stop_daemon(http->daemon);
        let_go(http);
    }
}
