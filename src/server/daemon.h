/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of a running daemon, inside src/server only: made in one order, ended in the other. */
#ifndef CUZK_SERVER_DAEMON_H
#define CUZK_SERVER_DAEMON_H

#include "server/http.h"
#include "server/http_admin.h"
#include "server/live.h"
#include "server/metrics.h"
#include "server/options.h"
#include "server/otel.h"
#include "server/preload.h"
#include "server/record.h"
#include "server/restart.h"
#include "server/rpc.h"
#include "server/server.h"
#include "server/systemd.h"
#include "server/timeline.h"
#include "work/circom_work.h"
#include "work/filecoin_work.h"
#include "work/places.h"

enum { CUZK_DAEMON_ROUTES_MAX = 24 };

typedef struct {
    cuzk_server server; /* what rpc and http see */
    cuzk_config *config;
    cuzk_config *live; /* the last one that SIGHUP read; NULL: config */
    cuzk_logger *log;
    cuzk_ctx *ctx;
    cuzk_work_devices devices;
    cuzk_places places; /* of the engine's threads */
    cuzk_filecoin_work *filecoin;
    cuzk_circom_work *circom;
    cuzk_engine_kind kinds[CUZK_KINDS_MAX];
    cuzk_journal *journal;
    bool journal_was_damaged;
    uint64_t journal_salvaged; /* jobs that it still gave */
    cuzk_metrics *metrics;
    cuzk_timeline *timeline;
    cuzk_record *record;   /* NULL: nothing is recorded */
    uint64_t recent_bytes; /* of the recording in memory; 0: none */
    cuzk_live *looks;      /* NULL: there is no HTTP port */
    cuzk_rpc *rpc;
    cuzk_http_admin *admin; /* NULL: there is no HTTP port */
    cuzk_http *http;
    cuzk_http_route routes[CUZK_DAEMON_ROUTES_MAX];
    cuzk_preload *preload;
    uint64_t body_bytes; /* that bodies of HTTP requests may take together */
    int listen_fds[CUZK_LISTEN_FDS_MAX];
    int restart_fd;      /* an event: no device is left in this process */
    bool awaits_opening; /* unless one that is being opened is: observe.c's */
    cuzk_restarts restarts;
    _Atomic(cuzk_engine *) whole_engine; /* for its own threads, once it is made */
} cuzk_daemon;

/** Make all parts; then the daemon serves. config and log: there already. On failure what was made
 *  is left to cuzk_daemon_close. */
cuzk_status cuzk_daemon_open(cuzk_daemon *daemon, cuzk_error *err) CUZK_WARN_UNUSED;

/** End all parts but config and log, in the opposite order. Nothing should be left to do: what runs
 *  is cancelled. */
void cuzk_daemon_close(cuzk_daemon *daemon);

/** What the engine tells (cuzk_engine_options.observe); user: the daemon. */
void cuzk_daemon_observe(void *user, const cuzk_event *event);

/** The HTTP routes: status, metrics, health, the last minutes, the page, administration, and
 *  circom's where they are asked for. Returns how many. */
size_t cuzk_daemon_routes(cuzk_http_route routes[CUZK_DAEMON_ROUTES_MAX], cuzk_server *server,
                          cuzk_live *live, cuzk_http_admin *admin);

#endif
