/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Circom proofs over HTTP: POST a .wtns to /circom/NAME/prove, get the proof.
 *
 * The answer is the object that rapidsnark's proof server shows at its /status when it is done:
 * "status": "success", and proof.json and public.json as texts in "proof" and "pubData"; for a
 * failure "status": "failed" and "error". Unlike there, a request is one job and its answer comes
 * with it, jobs queue like all others, and the witness is brought along: no program of a circuit is
 * run here, so inputs as JSON are refused. Also "job_id", by which gRPC knows the job.
 *
 * GET /circom lists the registered circuits. */
#ifndef CUZK_SERVER_HTTP_CIRCOM_H
#define CUZK_SERVER_HTTP_CIRCOM_H

#include "server/http.h"
#include "server/server.h"

enum { CUZK_HTTP_CIRCOM_ROUTES = 2 };

/** The routes, for cuzk_http_options. server: borrowed for as long as they are served; its engine
 *  and circom circuits are set by then. routes: written in full. */
void cuzk_http_circom_routes(cuzk_http_route routes[CUZK_HTTP_CIRCOM_ROUTES], cuzk_server *server);

#endif
