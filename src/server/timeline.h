/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TIMELINE lines from the engine's events, as the reference daemon writes them to standard error:
 *
 *     TIMELINE,<ms since the start>,<EVENT>,<job id>,<detail>
 *
 * SYNTH_START, SYNTH_END, GPU_QUEUE, GPU_PICKUP, GPU_START, GPU_END; docs/operations.md. */
#ifndef CUZK_SERVER_TIMELINE_H
#define CUZK_SERVER_TIMELINE_H

#include "engine/engine.h"
#include "server/log.h"

typedef struct cuzk_timeline cuzk_timeline;

/** log: where lines go; borrowed, as kinds are. Errors: E_MEMORY. */
cuzk_status cuzk_timeline_create(cuzk_timeline **out, const cuzk_engine_kind *kinds,
                                 cuzk_logger *log, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_timeline_destroy(cuzk_timeline *timeline);

/** Write lines or not: while it runs, too. */
void cuzk_timeline_set(cuzk_timeline *timeline, bool is_on);

/** Thread-safe. */
void cuzk_timeline_observe(cuzk_timeline *timeline, const cuzk_event *event);

#endif
