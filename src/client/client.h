/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A client of the daemon: one gRPC channel, unary calls over it with protobuf-c messages.
 *
 * Built on gRPC's C core. Calls are started and collected one by one, so that one thread can keep
 * many open; cuzk_client_call does both for a single one. A client belongs to one thread at a time.
 */
#ifndef CUZK_CLIENT_CLIENT_H
#define CUZK_CLIENT_CLIENT_H

#include "base/status.h"

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

enum { CUZK_CLIENT_MESSAGE_MAX = 256 << 20 /* bytes of a message, in both directions */ };

typedef struct cuzk_client cuzk_client;

typedef struct {
    /* unix:///PATH, unix:PATH, a path that begins with '/'; HOST:PORT, [IP6]:PORT, with http:// or
     * https:// in front if wanted */
    const char *address;
    /* TLS is used with https:// or when one of these is given. PEM files; ca NULL: the system's
     * certificates; cert and key go together */
    const char *tls_ca, *tls_cert, *tls_key;
    const char *tls_name;   /* what the daemon's certificate must name; NULL: the host */
    const char *token_file; /* its first line is sent as "authorization: Bearer …"; NULL: none */
} cuzk_client_options;

/** Check an address and make a channel for it. Nothing is connected before the first call.
 *
 *  out: returned; cuzk_client_close. options: not needed after the call.
 *  Errors: E_ARGUMENT (the address, cert without key), E_FILE (a file of the options), E_FORMAT (a
 *  token that no header can hold), E_MEMORY. */
cuzk_status cuzk_client_open(cuzk_client **out, const cuzk_client_options *options,
                             cuzk_error *err) CUZK_WARN_UNUSED;

/** Close a client; calls that are open are cancelled. NULL is fine. */
void cuzk_client_close(cuzk_client *client);

/** The address as it was given, for messages. */
const char *cuzk_client_address(const cuzk_client *client);

typedef enum {
    CUZK_METHOD_SUBMIT,
    CUZK_METHOD_AWAIT,
    CUZK_METHOD_PROVE,
    CUZK_METHOD_CANCEL,
    CUZK_METHOD_STATUS,
    CUZK_METHOD_METRICS,
    CUZK_METHOD_PRELOAD,
    CUZK_METHOD_EVICT,
    CUZK_METHOD_REGISTER,
    CUZK_METHOD_LIST,
    CUZK_METHOD_PROVE_WITNESS,
    CUZK_METHOD_LIST_DEVICES,
    CUZK_METHOD_DRAIN_DEVICE,
    CUZK_METHOD_ADD_DEVICE,
    CUZK_METHOD_COUNT
} cuzk_client_method;

/** Name of a method: "SubmitProof". */
const char *cuzk_client_method_name(cuzk_client_method method);

/** Start a call.
 *
 *  request: packed at once, not needed afterwards; of the method's type. timeout_ns: 0: none.
 *  user: comes back with the answer. Errors: E_MEMORY (also: a message above
 *  CUZK_CLIENT_MESSAGE_MAX, with both numbers). */
cuzk_status cuzk_client_start(cuzk_client *client, cuzk_client_method method,
                              const ProtobufCMessage *request, uint64_t timeout_ns, void *user,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/* Who spoke when a call ended. */
typedef enum {
    CUZK_REACH_DAEMON,  /* the daemon, or this side's limit: its word holds */
    CUZK_REACH_LEAVING, /* the daemon, with UNAVAILABLE: it ends; the next one may know more */
    CUZK_REACH_LOST,    /* nobody: the connection was lost, and whether the daemon had the request
                           is not known */
    CUZK_REACH_NONE     /* nobody: no connection could be made */
} cuzk_client_reach;

/* A finished call. */
typedef struct {
    cuzk_client_method method;
    void *user;
    ProtobufCMessage *message; /* of the method's type; NULL unless the status is CUZK_OK */
    cuzk_error error; /* status: E_UNAVAILABLE: nobody answers there, or the daemon takes no work;
                         E_DEADLINE; E_CANCELLED; E_FORMAT for INVALID_ARGUMENT, E_FILE for
                         FAILED_PRECONDITION and so on. The text names the address */
    cuzk_client_reach reach; /* all but the first: with E_UNAVAILABLE */
    uint64_t wall_ns;        /* from start to end */
} cuzk_client_answer;

/** Wait for any call to end. False when none did within wait_ns, or when none is open. answer:
 *  written in full; cuzk_client_answer_clear. */
bool cuzk_client_next(cuzk_client *client, cuzk_client_answer *answer, uint64_t wait_ns);
void cuzk_client_answer_clear(cuzk_client_answer *answer);

/** Cancel all open calls: they end soon, with E_CANCELLED. */
void cuzk_client_cancel(cuzk_client *client);

/** One call from start to end; no other may be open.
 *
 *  answer: written in full, with the errors of cuzk_client_start too; cuzk_client_answer_clear.
 *  is_interrupted: asked every 100 ms, true cancels the call; may be NULL. Returns
 *  answer->error.status. */
cuzk_status cuzk_client_call(cuzk_client *client, cuzk_client_answer *answer,
                             cuzk_client_method method, const ProtobufCMessage *request,
                             uint64_t timeout_ns, bool (*is_interrupted)(void)) CUZK_WARN_UNUSED;

/** What gRPC is given for an address: "unix:/run/x.sock", "dns:///host:9820". is_tls: whether it
 *  asks for TLS by itself. Errors: E_ARGUMENT, with the forms there are. */
cuzk_status cuzk_client_target(char *out, size_t out_bytes, bool *is_tls, const char *address,
                               cuzk_error *err) CUZK_WARN_UNUSED;

#endif
