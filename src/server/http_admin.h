/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Administration over HTTP, for the daemon's page: POST /admin/ACTION?NAME=VALUE with an admin
 * token in `Authorization: Bearer`. docs/protocol.md, "Administration over HTTP", has the actions
 * and what they answer.
 *
 * Only where admin tokens are configured: the HTTP port, unlike a Unix socket, says nothing of who
 * asks. There are no cookies and no bodies, so that a page of another origin cannot have a browser
 * send what is needed; a browser that names another origin is refused all the same. */
#ifndef CUZK_SERVER_HTTP_ADMIN_H
#define CUZK_SERVER_HTTP_ADMIN_H

#include "server/http.h"
#include "server/server.h"

typedef struct cuzk_http_admin cuzk_http_admin;

/** server: borrowed until destroy; its engine and rpc are set by then. Returned:
 *  cuzk_http_admin_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_http_admin_create(cuzk_http_admin **out, cuzk_server *server,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** The route, for cuzk_http_options. */
cuzk_http_route cuzk_http_admin_route(cuzk_http_admin *admin);

/** Begin nothing any more: later calls are told 503. True: none is under way. Thread-safe. NULL is
 *  fine. */
bool cuzk_http_admin_stop(cuzk_http_admin *admin);

/** Stop, and wait for what is under way. The HTTP port has been stopped. NULL is fine. */
void cuzk_http_admin_destroy(cuzk_http_admin *admin);

#endif
