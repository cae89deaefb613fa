/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One look at a daemon, from GetStatus and, where it is known, from its HTTP port; and how it is
 * shown. */
#ifndef CUZK_CLIENT_STATUS_LOOK_H
#define CUZK_CLIENT_STATUS_LOOK_H

#include "client/session.h"
#include "client/status_read.h"

typedef struct {
    ProtobufCMessage *message; /* of GetStatus */
    const Cuzk__V1__GetStatusResponse *rpc;
    bool has_http;
    cuzk_status_view
        http; /* all zero without has_http; jobs in the order in which they are shown */
    char *http_text;
    char http_error[CUZK_ERROR_TEXT_MAX]; /* why there is none; "": no address is known */
} cuzk_look;

/** Take a look. look: written in full; cuzk_look_clear, also on failure. False with args->err set:
 *  GetStatus failed. */
bool cuzk_look_take(cuzk_look *look, cuzk_session *session);
void cuzk_look_clear(cuzk_look *look);

/** Whether a job has come to its end. */
bool cuzk_look_has_ended(const cuzk_status_job *job);

/** Print it to stdout: as the tables of `cuzk status`, of `cuzk queue`, or as one JSON object. */
void cuzk_look_print(const cuzk_look *look, const cuzk_session *session);
void cuzk_look_print_queue(const cuzk_look *look, const cuzk_session *session);
void cuzk_look_print_json(const cuzk_look *look, const cuzk_session *session);

#endif
