/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The HTTP port: a table of routes over libmicrohttpd. Handlers answer at once or later, from any
 * thread; no thread waits meanwhile. */
#ifndef CUZK_SERVER_HTTP_H
#define CUZK_SERVER_HTTP_H

#include "server/log.h"

typedef struct cuzk_http cuzk_http;
typedef struct cuzk_http_call cuzk_http_call;

typedef struct {
    const char *method;       /* "GET", "POST" */
    const char *path;         /* without the query */
    const char *content_type; /* "" when there is none */
    const uint8_t *body;      /* of a POST; a NUL follows */
    size_t body_bytes;
} cuzk_http_request; /* borrowed until the call is answered */

/** Answer a request: cuzk_http_answer, once, now or later, from any thread. */
typedef void (*cuzk_http_handler)(void *user, cuzk_http_call *call,
                                  const cuzk_http_request *request);

typedef struct {
    const char *method;
    const char *path; /* "/metrics"; with '*' at its end: all paths that begin so */
    cuzk_http_handler handle;
    void *user;
    bool is_own; /* a GET whose answer pages of other origins may not read */
} cuzk_http_route;

typedef struct {
    const char *listen;            /* IP:PORT or [IP6]:PORT; port 0: the system chooses */
    const cuzk_http_route *routes; /* borrowed until stop; the first that fits is taken */
    size_t n_routes;
    unsigned max_connections;
    uint64_t max_body;   /* bytes of a POST; more: 413 */
    uint64_t max_bodies; /* bytes of all that are being received or answered; more: 503 */
    cuzk_logger *log;    /* may be NULL */
} cuzk_http_options;

/** Listen and serve. Returned: cuzk_http_stop. Errors: E_ARGUMENT (the address), E_FILE (it cannot
 *  be had: the system's reason), E_MEMORY. */
cuzk_status cuzk_http_start(cuzk_http **out, const cuzk_http_options *options,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** The port that is bound. */
unsigned cuzk_http_port(const cuzk_http *http);

/** Answer a call. body: copied. With 401 goes that a bearer token is asked for. Calls that are
 * answered after cuzk_http_stop began go nowhere; they must be answered all the same. */
void cuzk_http_answer(cuzk_http_call *call, unsigned status, const char *content_type,
                      const void *body, size_t n_bytes);

/** The value of "?NAME=VALUE", or NULL. Borrowed until the call is answered; only inside the
 *  handler, on its thread. */
const char *cuzk_http_query(cuzk_http_call *call, const char *name);

/** The value of a header of the request, or NULL. Borrowed and callable as cuzk_http_query. */
const char *cuzk_http_header(cuzk_http_call *call, const char *name);

/** End it: open calls are told 503, their handlers may answer later in vain. Afterwards nothing is
 *  listened to and no handler is called. Where clients stay connected their threads and memory
 * stay, too, until the process ends. NULL is fine. */
void cuzk_http_stop(cuzk_http *http);

#endif
