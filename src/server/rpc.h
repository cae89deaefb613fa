/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The gRPC server: cuzk.v1.ProvingEngine, cuzk.v1.Circom, the health service and server reflection,
 * on TCP and Unix sockets, over the gRPC C core.
 *
 * A call is a chain of events on completion queues: nothing waits in a thread for a proof. Messages
 * are received only where memory for the largest one is held (rpc_gate.h), so that a flood of
 * uploads takes turns. A call that ends early, by its deadline, a reset or a lost connection,
 * leaves its job where it is. docs/protocol.md says what each call does. */
#ifndef CUZK_SERVER_RPC_H
#define CUZK_SERVER_RPC_H

#include "base/text.h"
#include "engine/engine.h"
#include "server/log.h"
#include "work/device_ledger.h"

typedef struct cuzk_rpc cuzk_rpc;
struct cuzk_server;
struct cuzk_config;

/* A registered circom circuit, as RegisterCircuit and ListCircuits tell it. */
typedef struct {
    const char *name;
    const char *zkey_path;
    const char *curve; /* "bn128", "bls12381" */
    uint64_t n_constraints, n_public, n_vars, size_bytes;
} cuzk_rpc_circuit; /* borrowed for the call */

typedef void (*cuzk_rpc_circuit_each)(void *context, const cuzk_rpc_circuit *circuit);

/* Where circuits are registered. Functions may block; they are called from any thread. */
typedef struct {
    void *user;
    /** Register a .zkey; each: called once with what is registered now. was_there: the same file
     * was there before. Errors: E_ARGUMENT, E_NOT_FOUND, E_FILE, E_FORMAT; E_MISMATCH: another file
     *  has the name, with was_there; or the key does not fit together. */
    cuzk_status (*add)(void *user, const char *name, const char *zkey_path, bool *was_there,
                       cuzk_rpc_circuit_each each, void *context, cuzk_error *err);
    /** Call each for every circuit. */
    cuzk_status (*list)(void *user, cuzk_rpc_circuit_each each, void *context, cuzk_error *err);
} cuzk_rpc_circuits;

/* What is told of circuits where there are none. */
#define CUZK_RPC_NO_CIRCUITS                                                                       \
    "no circom circuits here: circom.folder of the daemon's configuration names no folder that "   \
    "is there"

enum { CUZK_RPC_LISTEN_MAX = 16 };

/* Texts and lists are borrowed for the call of cuzk_rpc_create, what `user` and the engine point to
 * until cuzk_rpc_destroy. A zero or NULL is what the comment says. */
typedef struct {
    /* unix://PATH, IP:PORT, [IP6]:PORT; port 0: the system chooses */
    const char *const *listen;
    unsigned n_listen;
    const int *listen_fds; /* listening sockets that were made elsewhere; taken over */
    unsigned n_listen_fds;
    bool owns_listen_fds;     /* files of Unix sockets among them are removed at the end */
    bool allow_plaintext;     /* TCP that other machines reach may be without TLS */
    unsigned socket_mode;     /* of Unix sockets; 0: 0660 */
    const char *socket_owner; /* "USER", "USER:GROUP", ":GROUP"; NULL or "": as it is */
    const char *tls_cert;     /* PEM files; NULL or "": no TLS */
    const char *tls_key;
    const char *tls_client_ca; /* NULL or "": clients need no certificate */
    const char *token_file;    /* NULL or "": calls need no token (rpc_rights.h) */
    const char *admin_token_file;
    const char *const *admin_names; /* names of client certificates that may administer */
    unsigned n_admin_names;
    uint64_t max_message;     /* bytes; 0: 256 MiB. Less where the engine can never take as much */
    unsigned max_receives;    /* messages of payloads that are received at once; 0: 16. Fewer where
                                 the engine has no memory for so many */
    uint64_t receive_ns;      /* a message may take so long while others wait; 0: 20 s */
    unsigned max_connections; /* 0: 1024. Fewer where the process may not open as many files. Where
                                 there is a Unix socket, a quarter of them, at least 16 but not
                                 more than half, is for those of Unix sockets only */
    uint64_t answer_ns;       /* a client may take so long to read its answer; 0: 30 s */
    unsigned max_streams;     /* calls of a connection; 0: 1000 */
    unsigned max_calls;       /* calls of all connections; 0: 20,000 */
    unsigned n_threads;       /* 0: 2 */
    bool no_reflection;
    cuzk_engine *engine;
    const cuzk_engine_kind *kinds;     /* CUZK_KINDS_MAX; 1 … 4 are the wire's ProofKind */
    unsigned circom_kind;              /* index of circom's; 0: none */
    unsigned last_proof_kind;          /* the highest proof_kind that is taken; 0: 4 */
    const cuzk_rpc_circuits *circuits; /* NULL: no circuits */
    cuzk_status (*metrics_text)(void *user, cuzk_text *out, cuzk_error *err);
    /* The keys that are on a device, at most n_max, the last ones first, and how they came there;
     * returns how many. NULL: not known. */
    unsigned (*arrivals)(void *user, unsigned device, cuzk_device_arrival *out, unsigned n_max);
    bool (*is_ready)(void *user);
    void *user;
    cuzk_logger *log; /* may be NULL */
} cuzk_rpc_options;

/** Listen and serve. Returned: cuzk_rpc_destroy. Errors: E_ARGUMENT (an address, a limit), E_FILE
 * (a socket, a certificate, a token file), E_MEMORY. Then nothing listens. */
cuzk_status cuzk_rpc_create(cuzk_rpc **out, const cuzk_rpc_options *options,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** cuzk_rpc_create with the daemon's configuration and parts. */
cuzk_status cuzk_rpc_start(cuzk_rpc **out, struct cuzk_server *server,
                           cuzk_error *err) CUZK_WARN_UNUSED;

/** Where it listens, in the form of options->listen with the port that is bound; NULL behind the
 *  last one. Borrowed. */
const char *cuzk_rpc_address(const cuzk_rpc *rpc, unsigned index);

/** Read certificates and token files again: new connections and calls see them. When something is
 *  wrong with one of them all stay as they were. Errors: E_FILE, E_FORMAT, E_MISMATCH. */
cuzk_status cuzk_rpc_reload(cuzk_rpc *rpc, const struct cuzk_config *config,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** cuzk_rpc_reload with the files' paths; NULL or "" as in the options. */
cuzk_status cuzk_rpc_reload_files(cuzk_rpc *rpc, const char *token_file,
                                  const char *admin_token_file, cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether there is a file of admin tokens. Thread-safe, as the next one. */
bool cuzk_rpc_has_admin_tokens(cuzk_rpc *rpc);

typedef enum { CUZK_TOKEN_UNKNOWN, CUZK_TOKEN_SUBMITS, CUZK_TOKEN_ADMINISTERS } cuzk_token_right;

/** What a token of the configured files allows; for other ports than gRPC's. */
cuzk_token_right cuzk_rpc_token(cuzk_rpc *rpc, const char *token);

/** Copies of the listening sockets, close-on-exec, which listen on after cuzk_rpc_stop; files of
 * Unix sockets then stay. Returns how many, at most `max`; the caller closes them. */
unsigned cuzk_rpc_keep_listening(cuzk_rpc *rpc, int *fds, unsigned max);

/** Stop listening; calls that run go on, new ones are answered UNAVAILABLE, and connections without
 *  calls are ended, which fails what their clients have sent meanwhile as UNAVAILABLE, too. Returns
 *  at once. */
void cuzk_rpc_stop(cuzk_rpc *rpc);

/** Stop, and wait for running calls until the deadline on cuzk_now_ns' clock; those that are left
 *  are then answered UNAVAILABLE, their jobs stay. Afterwards nothing here uses the engine, but for
 *  a circuit that is being loaded, which cuzk_rpc_destroy waits for. True: all calls ended by
 *  themselves. */
bool cuzk_rpc_drain(cuzk_rpc *rpc, uint64_t deadline_ns);

/** Drain without patience, end the threads, remove Unix sockets that were made here. The engine
 * must still be there. NULL is fine. */
void cuzk_rpc_destroy(cuzk_rpc *rpc);

/* What it is doing, for metrics. */
typedef struct {
    unsigned calls;       /* open */
    unsigned connections; /* as counted last */
    unsigned receiving;   /* messages of unknown size under way */
    unsigned waiting;     /* calls whose message waits for memory */
    unsigned
        blocking; /* calls that load a circuit or open a key: cuzk_rpc_destroy waits for them */
    uint64_t receive_bytes;                              /* the memory for them */
    uint64_t calls_total, calls_failed, calls_abandoned; /* failed: a status but OK; abandoned: the
                                                            client went away */
    uint64_t connections_total, connections_refused;
    uint64_t bytes_received;
    uint64_t bytes_unread; /* of answers that their clients have not read */
} cuzk_rpc_view;

/** Thread-safe. */
void cuzk_rpc_look(cuzk_rpc *rpc, cuzk_rpc_view *view);

#endif
