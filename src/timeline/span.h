/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One record of a timeline: 48 bytes, the same in a thread's ring and in a recording in memory. */
#ifndef CUZK_TIMELINE_SPAN_H
#define CUZK_TIMELINE_SPAN_H

#include "timeline/catalogue.h"

typedef struct {
    uint64_t begin_ns,
        end_ns;             /* cuzk_now_ns; device spans: mapped to it. Instants: both the same */
    uint64_t job;           /* the engine's sequence number; 0: none */
    uint64_t value;         /* what the catalogue says of the name */
    uint16_t name;          /* cuzk_span_name */
    uint16_t thread;        /* index of the recording's threads; the recorder sets it */
    int16_t unit;           /* partition; -1: none */
    int8_t device, worker;  /* -1: none */
    uint8_t kind, priority; /* of the job, as the engine numbers them */
    uint8_t status;         /* cuzk_status of what was done */
    uint8_t spare;          /* 0 */
    uint32_t text;          /* number of a text of the recording; 0: none */
} cuzk_timespan;

_Static_assert(sizeof(cuzk_timespan) == 48, "rings hold spans as six words");

#endif
