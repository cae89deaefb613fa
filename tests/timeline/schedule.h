/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings with causes that are known because they were planted. */
#ifndef CUZK_TEST_SCHEDULE_H
#define CUZK_TEST_SCHEDULE_H

#include "timeline/analysis.h"

typedef struct {
    cuzk_recording recording; /* cuzk_recording_clear frees it */
    size_t room;
    uint64_t now;
    uint64_t seed;
} schedule;

/** Add a span from begin to s->now, of a job's unit on a device's worker; -1 for none. */
void schedule_put(schedule *s, cuzk_span_name name, uint64_t begin, uint64_t job, int unit,
                  int device, int worker);

/** The way of one job with one unit on device 0, nothing beside it; the length of each piece is
 *  random, up to `most` ns, and added to where it belongs. */
void schedule_unit(schedule *s, uint64_t job, int worker, uint64_t most,
                   uint64_t planted[CUZK_CAUSES_COUNT], uint64_t *kernel_ns);

/** Sort, and set what a reader sets. */
void schedule_end(schedule *s);

#endif
