/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parts of the daemon share: gRPC (rpc.h), HTTP (http.h), and what serve.c makes and
 * connects. */
#ifndef CUZK_SERVER_SERVER_H
#define CUZK_SERVER_SERVER_H

#include "engine/engine.h"
#include "server/config.h"
#include "server/log.h"

#include <stdatomic.h>

struct cuzk_circom_work;
struct cuzk_rpc;

/* Indices into cuzk_engine_options.kinds: those of the wire's ProofKind, and circom behind them. */
enum {
    CUZK_KIND_POREP = 1,
    CUZK_KIND_SNAP = 2,
    CUZK_KIND_WINDOW = 3,
    CUZK_KIND_WINNING = 4,
    CUZK_KIND_CIRCOM = 5,
    CUZK_KIND_NULL = 6 /* of the tests' program only */
};

typedef struct cuzk_metrics cuzk_metrics; /* metrics.h */

/* Made before the first part is started, and alive until the last has ended. Only the atomics
 * change meanwhile. */
typedef struct cuzk_server {
    cuzk_engine *engine;
    const cuzk_config *config; /* as at the start: live keys are told to whom they concern */
    cuzk_logger *log;
    cuzk_metrics *metrics;
    struct cuzk_otel *otel;            /* export of spans; NULL: none */
    const cuzk_engine_kind *kinds;     /* CUZK_KINDS_MAX; a NULL name: no such kind */
    struct cuzk_circom_work *circom;   /* registered circuits; NULL: none */
    struct cuzk_device_ledger *ledger; /* of cards; NULL: there is none */
    cuzk_journal *journal;             /* NULL: none */
    const struct cuzk_places *places;  /* where the engine's threads stand */
    unsigned max_witnesses;            /* that are made at once */
    _Atomic(struct cuzk_rpc *) rpc;    /* once it serves; for metrics */
    const int *listen_fds;             /* sockets from systemd, in place of daemon.listen */
    unsigned n_listen_fds;
    bool owns_listen_fds;    /* from this daemon before it was restarted: their files are its own */
    atomic_bool is_ready;    /* preloads are done and no drain has begun */
    atomic_bool is_draining; /* new work is refused */
} cuzk_server;

/** The text of /metrics and of GetMetrics. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_server_metrics_text(cuzk_server *server, cuzk_text *out,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** The JSON of /status. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_server_status_json(cuzk_server *server, cuzk_text *out,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** Readiness, as /readyz and the health service tell it. */
static inline bool cuzk_server_is_ready(const cuzk_server *server)
{
    return atomic_load_explicit(&server->is_ready, memory_order_acquire) &&
           !atomic_load_explicit(&server->is_draining, memory_order_acquire);
}

#endif
