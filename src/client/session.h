/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the commands share that speak to a daemon: where it is, the connection, waiting for a job,
 * answers on the screen. */
#ifndef CUZK_CLIENT_SESSION_H
#define CUZK_CLIENT_SESSION_H

#include "base/random.h"
#include "cli/cli.h"
#include "client/client.h"
#include "cuzk/v1/circom.pb-c.h"
#include "cuzk/v1/devices.pb-c.h"
#include "cuzk/v1/proving.pb-c.h"

enum { CUZK_SESSION_ADDRESS_MAX = 512 };

/* The limit of calls that the daemon answers at once, where --timeout gives none. */
#define CUZK_SESSION_QUICK_NS 10000000000u

/* A command's connection. */
typedef struct {
    cuzk_cli_args *args;
    cuzk_client *client;
    uint64_t timeout_ns; /* --timeout; 0: none given */
    bool was_connected;  /* there was a daemon: it is worth looking for again */
    char address[CUZK_SESSION_ADDRESS_MAX];
    char status_address[CUZK_SESSION_ADDRESS_MAX]; /* of the HTTP port; "": not known */
} cuzk_session;

/** Find the daemon and make a client for it: --connect, else CUZK_LISTEN, else what the daemon's
 *  configuration says. False with *code set, after a message. Returned: cuzk_session_close. */
bool cuzk_session_open(cuzk_session *session, cuzk_cli_args *args, int *code);
void cuzk_session_close(cuzk_session *session);

/** A command's whole life with a daemon: open, run, close. run: returns the exit code. Returns it,
 *  or that of an open that failed. */
int cuzk_session_run(cuzk_cli_args *args, int (*run)(cuzk_session *session));

/** One call; --timeout, or if none is given default_ns (0: none), is its limit. message: returned;
 *  protobuf_c_message_free_unpacked(message, NULL). False with args->err set. SIGINT ends the call.
 */
bool cuzk_session_call(cuzk_session *session, ProtobufCMessage **message, cuzk_client_method method,
                       const ProtobufCMessage *request, uint64_t default_ns);

/** One call that asks for a proof, made anew within what is left of the limit while the daemon that
 *  took the request is lost: a job whose acceptance nobody heard of is found again by its id. So
 *  the request must have one: cuzk_session_id. For a minute, then as cuzk_session_call. */
bool cuzk_session_ask(cuzk_session *session, ProtobufCMessage **message, cuzk_client_method method,
                      const ProtobufCMessage *request);

/** The id of a job: --request-id, or a random one into made. NULL with *err set. */
const char *cuzk_session_id(const cuzk_cli_args *args, char made[CUZK_UUID_BYTES], cuzk_error *err);

/* Looking for a lost daemon: zeros at first. */
typedef struct {
    uint64_t begin_ns;
    unsigned n_tries;
} cuzk_session_search;

/** Wait a moment before a call is made anew that ended so. False: it is not to be made anew, since
 *  somebody answered, nobody was ever there, the user interrupts, or a minute or --timeout is over.
 *  limit_ns: written, what is left of --timeout; 0: there is none. */
bool cuzk_session_again(cuzk_session *session, cuzk_session_search *search, uint64_t *limit_ns,
                        cuzk_client_reach reach);

/** Wait for a job and show how it comes along, until --timeout. A connection that is lost is
 *  looked for again for a minute, since jobs outlive the daemon's process. n_partitions: for the
 *  progress; 0: not known. Returned as a message: free it as above. NULL with args->err set. */
Cuzk__V1__AwaitProofResponse *cuzk_session_await(cuzk_session *session, const char *job_id,
                                                 unsigned n_partitions);

/** Record a failure in args->err and return false. */
bool cuzk_session_fail(cuzk_session *session, cuzk_status status, const char *fmt, ...)
    CUZK_PRINTF(3, 4);

/** Whether a job ended well: false with args->err set to what the daemon says about it. */
bool cuzk_session_completed(cuzk_session *session, const Cuzk__V1__AwaitProofResponse *answer);

/** "completed", "failed" … */
const char *cuzk_session_status_name(Cuzk__V1__AwaitProofResponse__Status status);

/** Begin the object that tells how a job ended well: "ok", "job_id", "status". */
void cuzk_session_json_begin(cuzk_cli_json *json, const char *job_id,
                             Cuzk__V1__AwaitProofResponse__Status status);
/** The members that tell about a job's times / the same as a sentence on stdout. */
void cuzk_session_json_times(cuzk_cli_json *json, const Cuzk__V1__AwaitProofResponse *answer);
void cuzk_session_print_times(const Cuzk__V1__AwaitProofResponse *answer);

/** Read a number of seconds (0.001 … a year, with decimals) from an option's text. False after a
 *  usage message. */
bool cuzk_session_seconds(const cuzk_cli_args *args, uint64_t *ns, const char *option,
                          const char *text);

/** The priority that --priority names; the kind's own without it. False after a usage message. */
bool cuzk_session_priority(const cuzk_cli_args *args, Cuzk__V1__Priority *priority);

/* A file of a result. */
typedef struct {
    const char *path;
    const void *data;
    size_t n_bytes;
} cuzk_session_file;

/** Write one or two files: both or neither. Errors: E_FILE, E_MEMORY. */
cuzk_status cuzk_session_write(const cuzk_session_file *files, size_t n,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/* A time as people read it: "12.3 s", "4 min 12 s", "3 h 5 min", "6 d 2 h". */
typedef struct {
    char text[32];
} cuzk_session_time;
cuzk_session_time cuzk_session_time_of(double seconds);

#endif
