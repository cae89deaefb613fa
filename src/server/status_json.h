/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The JSON object of /status: names, types and nesting of the reference daemon's, for the tools
 * that poll it, and more. */
#ifndef CUZK_SERVER_STATUS_JSON_H
#define CUZK_SERVER_STATUS_JSON_H

#include "base/text.h"
#include "engine/engine.h"
#include "server/memory_view.h"

typedef struct {
    unsigned max_witnesses;      /* made at once */
    unsigned workers_per_device; /* configured; those beyond them are kept for CRITICAL jobs */
    bool is_ready, is_draining;
    const char *version;
    const cuzk_memory_view *memory; /* NULL: no device has memory of its own */
    bool has_admin;                 /* the page can administer, with a token */
    bool has_charts;                /* the page was built with its charting library */
    const char *numa; /* the machine's NUMA nodes, or why threads are not placed; NULL: not told */
    const int *numa_nodes; /* by the engine's device; -1: unknown. With numa */
} cuzk_status_more;

/** Append the object. view: with units. kinds: CUZK_KINDS_MAX. Memory that runs out is remembered
 * in out. */
void cuzk_status_json(cuzk_text *out, const cuzk_engine_view *view, const cuzk_engine_kind *kinds,
                      const cuzk_status_more *more);

#endif
