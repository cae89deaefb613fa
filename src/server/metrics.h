/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is counted, and its text in Prometheus' exposition format. Counters and histograms grow with
 * the engine's events; the rest is read from a view of the engine when the text is asked for.
 * Label values are kinds, stages, devices and circuits: never what a request says. */
#ifndef CUZK_SERVER_METRICS_H
#define CUZK_SERVER_METRICS_H

#include "base/text.h"
#include "engine/engine.h"
#include "server/memory_view.h"

typedef struct cuzk_metrics cuzk_metrics;

/** kinds: CUZK_KINDS_MAX, borrowed until destroy. Errors: E_MEMORY. */
cuzk_status cuzk_metrics_create(cuzk_metrics **out, const cuzk_engine_kind *kinds,
                                cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_metrics_destroy(cuzk_metrics *metrics);

/** Count an event. Thread-safe, without a lock. */
void cuzk_metrics_observe(cuzk_metrics *metrics, const cuzk_event *event);

/* What is not the engine's. */
typedef struct {
    const char *version;
    bool is_ready, is_draining;
    uint64_t journal_bytes;
    const cuzk_memory_view *memory; /* NULL: no device has memory of its own */
    bool has_otel;                  /* spans are exported */
    uint64_t otel_sent_total, otel_dropped_total;
    /* of the gRPC server; has_rpc false: none */
    bool has_rpc;
    unsigned rpc_calls, rpc_connections, rpc_receiving, rpc_waiting;
    uint64_t rpc_calls_total, rpc_failed_total, rpc_abandoned_total, rpc_received_bytes;
    uint64_t rpc_connections_total, rpc_refused_total;
} cuzk_metrics_more;

/** Append the text. Memory that runs out is remembered in out. */
void cuzk_metrics_text(cuzk_text *out, const cuzk_metrics *metrics, const cuzk_engine_view *view,
                       const cuzk_metrics_more *more);

#endif
