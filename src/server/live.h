/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The last minutes' analysis over HTTP. One thread of low priority answers, so that nobody who asks
 * holds up the HTTP port or takes more than that thread from proving. */
#ifndef CUZK_SERVER_LIVE_H
#define CUZK_SERVER_LIVE_H

#include "server/http.h"
#include "server/record.h"

typedef struct cuzk_live cuzk_live;

/** record: borrowed until cuzk_live_destroy; NULL: every answer is that nothing is recorded.
 *  look_bytes: that a look may take; it is of the newest spans that have room in it. Returned:
 *  cuzk_live_destroy. Errors: E_MEMORY. */
cuzk_status cuzk_live_create(cuzk_live **out, cuzk_record *record, uint64_t look_bytes,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** End the thread; who still waits is told 503. NULL is fine. */
void cuzk_live_destroy(cuzk_live *live);

/** Handlers of GET; user: the cuzk_live. "?seconds=S": of the last S seconds, 1 to
 *  CUZK_RECENT_SECONDS, 60 by default. Other texts: 400. Where many wait: 503. */
void cuzk_live_json(void *user, cuzk_http_call *call, const cuzk_http_request *request);
void cuzk_live_picture(void *user, cuzk_http_call *call, const cuzk_http_request *request);
void cuzk_live_recording(void *user, cuzk_http_call *call, const cuzk_http_request *request);

#endif
