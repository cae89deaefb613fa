/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Export of jobs and their partitions' stages as OpenTelemetry spans: OTLP over HTTP, in JSON. What
 * ends is put into a queue of a fixed size, which never waits; a thread sends it. What has no room
 * there, or cannot be sent, is dropped and counted. */
#ifndef CUZK_SERVER_OTEL_H
#define CUZK_SERVER_OTEL_H

#include "engine/engine.h"
#include "server/log.h"

typedef struct cuzk_otel cuzk_otel;

typedef struct {
    const char *endpoint;          /* where spans are posted to: http://HOST:4318/v1/traces */
    const char *service_name;      /* of the resource */
    unsigned n_queued_max;         /* spans that wait to be sent */
    const cuzk_engine_kind *kinds; /* CUZK_KINDS_MAX; borrowed until stop */
    cuzk_logger *log;              /* borrowed until stop */
} cuzk_otel_options;

/** Begin. Texts are copied. Returned: cuzk_otel_stop. Errors: E_UNSUPPORTED (no libcurl), E_MEMORY,
 *  E_INTERNAL (no random bytes). */
cuzk_status cuzk_otel_start(cuzk_otel **out, const cuzk_otel_options *options,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Send what is left, for at most five seconds and the request under way then, and end. NULL is
 * fine. The engine has ended. */
void cuzk_otel_stop(cuzk_otel *otel);

/** A span of an event that ends one, on the thread that it happens on. NULL is fine. Thread-safe,
 *  never waits for the network. */
void cuzk_otel_observe(cuzk_otel *otel, const cuzk_event *event);

typedef struct {
    uint64_t n_sent, n_dropped;
} cuzk_otel_counts;

/** Zeros for NULL. Thread-safe. */
cuzk_otel_counts cuzk_otel_look(cuzk_otel *otel);

#endif
