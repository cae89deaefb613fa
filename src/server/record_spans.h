/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The engine's events as spans. */
#ifndef CUZK_SERVER_RECORD_SPANS_H
#define CUZK_SERVER_RECORD_SPANS_H

#include "engine/engine.h"
#include "server/recent.h"

typedef struct {
    cuzk_recent *recent;                          /* is told of what begins, too; NULL: nobody is */
    uint8_t cpu_devices[CUZK_ENGINE_DEVICES_MAX]; /* 1: its regions are the host's own arithmetic */
} cuzk_record_spans;

/** Put the spans of an event into the recorder, on the thread that it happens on. Thread-safe. */
void cuzk_record_put_event(const cuzk_record_spans *spans, const cuzk_event *event);

/** The span of a wait that has lasted until the event: PROVE_START, WITNESS or RESIDENT that begin,
 *  or WAITING; its since_ns is not 0. */
cuzk_timespan cuzk_record_wait_span(const cuzk_event *event);

#endif
