/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the gRPC server share: the server, its listeners, and the life of a call.
 *
 *     accepted → rights → gate → message → handler → answer → closed
 *
 * A call counts who may still touch it: each batch under way, each waiter that the engine may call,
 * each thread that works on it. Its lock guards the fields named there; batches are started under
 * it, so that operations of one call are in order, and callbacks never run under it. Order of
 * locks: gate, call, rpc; the engine is never called under any of them. */
#ifndef CUZK_SERVER_RPC_INTERNAL_H
#define CUZK_SERVER_RPC_INTERNAL_H

#include "base/clock.h"
#include "server/rpc.h"
#include "server/rpc_gate.h"
#include "server/rpc_relay.h"
#include "server/rpc_rights.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct cuzk_call cuzk_call;
typedef struct cuzk_listener cuzk_listener;

/* The tag of whatever a completion queue gives back. */
typedef struct cuzk_event_tag {
    void (*run)(void *owner, bool ok);
    void *owner;
} cuzk_event_tag;

/* gRPC hands what was written before an operation began to who gets its tag; the thread sanitizer
 * does not see into it, and is told. */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define CUZK_TAG_GIVE(tag) __tsan_release(tag)
#define CUZK_TAG_TAKE(tag) __tsan_acquire(tag)
#else
#define CUZK_TAG_GIVE(tag) ((void)(tag))
#define CUZK_TAG_TAKE(tag) ((void)(tag))
#endif

/* How a method's messages are received, and who may call it. */
typedef struct {
    const char *path;
    cuzk_gate_lane lane;
    cuzk_right right;
    bool is_blocking; /* handled by a helper thread */
    bool is_stream;   /* the client may send several messages */
    bool is_wrapped;  /* the payload is in field 1 of the message */
    bool is_long;     /* its handler takes milliseconds: the lead is passed on before */
    /* message: the bytes received, in one piece; handed over (free). Called once a message; answers
     * with cuzk_call_…; holds a reference while it runs. */
    void (*handle)(cuzk_call *call, uint8_t *message, size_t size);
    /* A stream: the client will send no more, or is gone. May be NULL. */
    void (*end)(cuzk_call *call);
} cuzk_method;

/** Methods of a service, until a NULL path. */
const cuzk_method *cuzk_rpc_prove_methods(void);
const cuzk_method *cuzk_rpc_admin_methods(void);
const cuzk_method *cuzk_rpc_device_methods(void);
const cuzk_method *cuzk_rpc_health_methods(void);
const cuzk_method *cuzk_rpc_reflect_methods(void);

enum { CUZK_RPC_METHODS_MAX = 24, CUZK_RPC_HELPERS = 4 };

/* Which certificates a listener has fetched: under the lock of tls. */
typedef struct {
    struct cuzk_tls *tls;
    unsigned version;
} cuzk_listener_tls;

/* One address, with a gRPC server of its own, so that a call tells by where it comes from. */
struct cuzk_listener {
    cuzk_rpc *rpc;
    grpc_server *server;
    void *registered[CUZK_RPC_METHODS_MAX];
    int fd;        /* accepting here; -1: no more */
    bool is_local; /* a Unix socket: its permissions stand for a token */
    char address[320];
    char socket_path[128];                /* to be removed at the end; "" if none */
    uint64_t socket_inode, socket_device; /* of it: another's is not removed */
    cuzk_listener_tls tls;
    char inner_path[108]; /* TLS: where gRPC listens, behind the relay; "": plain */
    cuzk_event_tag on_shutdown;
};

typedef struct cuzk_wait cuzk_wait; /* rpc_wait.h */

struct cuzk_call {
    cuzk_rpc *rpc;
    cuzk_listener *listener;
    const cuzk_method *method; /* NULL: not a known one */
    unsigned method_index;
    grpc_call *call;
    grpc_metadata_array metadata;
    grpc_call_details details; /* of unknown methods */
    gpr_timespec deadline;
    cuzk_event_tag on_new, on_close, on_message, on_sent;
    atomic_uint refs;
    cuzk_gate_seat seat;        /* the gate's */
    cuzk_call *previous, *next; /* live calls: rpc->lock */
    cuzk_call *next_helped;     /* waiting for a helper: rpc->lock */
    uint8_t *helped_message;
    size_t helped_size;
    uint64_t started_ns;
    int was_cancelled;         /* written by gRPC before on_close */
    grpc_byte_buffer *message; /* written by gRPC before on_message */

    pthread_mutex_t lock; /* guards what follows */
    bool is_over;         /* closed: nothing can be sent any more */
    bool is_finished;     /* the final status is on its way */
    bool has_sent_head;   /* initial metadata */
    bool is_sending;      /* a batch is under way */
    bool finish_after;    /* … and the status follows it */
    bool wants_message;   /* … and then the next message is asked for */
    grpc_status_code finish_code;
    grpc_slice finish_text;
    grpc_byte_buffer *sending;
    uint64_t sending_bytes, sending_since_ns;
    cuzk_wait *wait;    /* what it waits for in the engine; NULL: nothing. The gate's lock */
    uint64_t charge;    /* memory of the gate that its message holds; the handler's */
    bool was_unwrapped; /* the message is the payload already; the handler's */
    /* health: in rpc->watchers under rpc->lock */
    cuzk_call *previous_watcher, *next_watcher;
    bool is_watching;
    bool watches_known; /* a service that is there */
    int told;           /* the state that the client knows; -1: none */
    unsigned told_tick;
};

struct cuzk_rpc {
    cuzk_rpc_options options; /* texts and lists are not to be used after create */
    cuzk_listener listeners[CUZK_RPC_LISTEN_MAX];
    unsigned n_listeners;
    const cuzk_method *methods[CUZK_RPC_METHODS_MAX];
    unsigned n_methods;
    cuzk_engine_kind kinds[CUZK_KINDS_MAX];
    cuzk_rpc_circuits circuits;
    grpc_completion_queue *queue;
    pthread_mutex_t lead; /* held by the serving thread that is in the queue, or comes from it */
    pthread_t threads[64];
    unsigned n_threads;
    cuzk_gate *gate;
    cuzk_rights *rights;
    struct cuzk_tls *tls; /* NULL: none */
    cuzk_relay *relay;    /* NULL: no TLS */
    struct cuzk_acceptor *acceptor;
    atomic_bool is_stopping;
    atomic_bool accepts_no_more; /* the acceptor's thread has ended */

    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* calls, handlers, servers: for those who end the service */
    pthread_cond_t helped;  /* a call for a helper, or they shall end */
    pthread_cond_t ticks;   /* the ticker shall end */
    cuzk_call *calls;       /* accepted ones */
    unsigned n_calls;
    bool was_crowded;    /* memory of many calls is to be given back */
    bool was_full;       /* a call came beyond max_calls since the last tick */
    bool is_refusing;    /* drained: no handler runs any more */
    unsigned n_handling; /* handlers under way */
    bool was_stopped;    /* by cuzk_rpc_stop: the first one does it */
    bool was_shut_down;  /* the same of gRPC's servers */
    unsigned n_shutting; /* gRPC servers that have been told to shut down and still have calls */
    bool helpers_end, ticker_ends;
    cuzk_call *helped_first, *helped_last;
    cuzk_call *watchers; /* health */
    unsigned health_tick;
    pthread_t helpers[CUZK_RPC_HELPERS];
    pthread_t ticker;
    unsigned n_helpers;
    unsigned n_blocking; /* helpers inside a handler */
    bool has_ticker;
    uint64_t calls_total, calls_failed, calls_abandoned;
    atomic_ullong bytes_received;
    atomic_bool wants_trim; /* much was freed, by messages that ended early or connections */
    atomic_ullong bytes_unread;
};

/* ---- rpc_call.c: the life of a call ---- */

/** Ask a listener for calls of a method (NULL: unknown ones), `n` at once. */
void cuzk_call_expect(cuzk_listener *listener, unsigned method_index, unsigned n);

void cuzk_call_ref(cuzk_call *call);
/** A reference of a call found in rpc->calls: false when its last one was just dropped. */
bool cuzk_call_ref_live(cuzk_call *call);
void cuzk_call_unref(cuzk_call *call);

/** Answer with a message and OK, and end. out: cleared; a text that ran out of memory becomes
 *  RESOURCE_EXHAUSTED. Only the first answer of a call counts. */
void cuzk_call_answer(cuzk_call *call, cuzk_text *out);

/** End a stream with OK. */
void cuzk_call_end(cuzk_call *call);

/** End with a status and a text. */
void cuzk_call_fail(cuzk_call *call, grpc_status_code code, const char *fmt, ...) CUZK_PRINTF(3, 4);

/** End with what a function of ours said. */
void cuzk_call_fail_status(cuzk_call *call, cuzk_status status, const char *text);

/** A stream: send a message and go on; then ask for the client's next one, if it is wanted. out:
 *  cleared. At most one at a time: false, and nothing is sent, while one is under way. */
bool cuzk_call_send(cuzk_call *call, cuzk_text *out, bool then_receive);

/** Ask for the client's first or next message; the gate says when. */
void cuzk_call_receive(cuzk_call *call);

/** Start receiving now: the gate has made room. */
void cuzk_call_receive_now(cuzk_call *call);

/** Of the tag call->on_message: the message is there, or will not come. */
void cuzk_call_on_message(void *owner, bool ok);

/** A client took too long with its message while others waited. */
void cuzk_call_too_slow(cuzk_call *call);

/** End a call whose message has not come, at once, to make place for another one. */
void cuzk_call_displace(cuzk_call *call);

/** End a call whose client has not read what was sent for so long. */
void cuzk_call_cut(cuzk_call *call, uint64_t patience_ns);

/** A message is longer than `limit` bytes, and has not ended. */
void cuzk_call_too_large(cuzk_call *call, uint64_t limit);

/** Let go of what a call waits for, and end it with UNAVAILABLE. */
void cuzk_call_turn_away(cuzk_call *call);

/* ---- rpc_server.c ---- */

/** End a call whose message does not come (cuzk_gate_make_room); false: there is none. */
bool cuzk_rpc_make_room(cuzk_rpc *rpc, bool of_payloads);

/* ---- rpc_end.c ---- */

/** References of all calls that are open. Returned: free; NULL: out of memory. *n: how many. Lock
 *  held. */
cuzk_call **cuzk_rpc_open_calls(cuzk_rpc *rpc, unsigned *n);

/** End connections without calls, once the service has stopped; the ticker's. */
void cuzk_rpc_end_idle(cuzk_rpc *rpc);

/** After drain: wait until gRPC has no call left, for as long as clients may take; then cut their
 *  connections. */
void cuzk_rpc_end_calls(cuzk_rpc *rpc);

/* ---- rpc_serving.c ---- */

/** Start the threads that serve the completion queue; wait until all have seen its shutdown. */
cuzk_status cuzk_rpc_serving_start(cuzk_rpc *rpc, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_rpc_serving_join(cuzk_rpc *rpc);

/** Take one event and run what it is for; where no thread serves. False: the queue has ended. */
bool cuzk_rpc_serve_one(cuzk_rpc *rpc);

/** A serving thread's, before something that takes long: another one goes on. Nothing in others. */
void cuzk_rpc_pass_lead(cuzk_rpc *rpc);

/* ---- rpc_helpers.c ---- */

/** Run the method's handler in a helper thread. */
void cuzk_rpc_help(cuzk_call *call, uint8_t *message, size_t size);
cuzk_status cuzk_rpc_helpers_start(cuzk_rpc *rpc, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_rpc_helpers_stop(cuzk_rpc *rpc);

/** Begin and end a handler: false once the server is drained. */
bool cuzk_rpc_enter(cuzk_rpc *rpc);
void cuzk_rpc_leave(cuzk_rpc *rpc);

/* ---- rpc_health.c ---- */

/** Tell watchers of the health service what has changed. Called about ten times a second. */
void cuzk_rpc_health_tick(cuzk_rpc *rpc);

/* ---- rpc_listen.c ---- */

/** A copy of its socket, which listens on; the socket's file then stays. -1: there is none. */
int cuzk_listener_keep(cuzk_listener *listener);

/** Bind an address, or take over a socket (text NULL). The listener's server is made. */
cuzk_status cuzk_listener_open(cuzk_listener *listener, cuzk_rpc *rpc, const char *text, int fd,
                               cuzk_error *err) CUZK_WARN_UNUSED;
/** Stop listening; its server stays. */
void cuzk_listener_close(cuzk_listener *listener);

cuzk_status cuzk_acceptor_start(cuzk_rpc *rpc, cuzk_error *err) CUZK_WARN_UNUSED;
/** Accept no more. One thread at a time. */
void cuzk_acceptor_stop(cuzk_rpc *rpc);
/** Shut down all connections that are open: gRPC, which closes them itself, then sees their ends.
 */
void cuzk_acceptor_cut(cuzk_rpc *rpc);
/** Send no more on plain connections but those that are used (NULL: none is); what was sent is read
 *  by their clients, which then close them. After cuzk_acceptor_stop. Thread-safe. */
void cuzk_acceptor_end(cuzk_rpc *rpc, const cuzk_rpc_used *used);
/** Whether a connection is open. After cuzk_acceptor_stop. Thread-safe. */
bool cuzk_acceptor_has_open(cuzk_rpc *rpc);
void cuzk_acceptor_destroy(cuzk_rpc *rpc);
void cuzk_acceptor_look(cuzk_rpc *rpc, cuzk_rpc_view *view);

/* ---- rpc_tls.c ---- */

/** NULL in *out where no certificate is configured. */
cuzk_status cuzk_tls_create(struct cuzk_tls **out, const cuzk_rpc_options *options,
                            cuzk_error *err) CUZK_WARN_UNUSED;
/** Credentials of a listener. seen: used until its server is destroyed. */
grpc_server_credentials *cuzk_tls_credentials(struct cuzk_tls *tls, cuzk_listener_tls *seen);
/** Read the files again; when one is wrong, all stay as they were. */
cuzk_status cuzk_tls_reload(struct cuzk_tls *tls, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_tls_destroy(struct cuzk_tls *tls);

#endif
