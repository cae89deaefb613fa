/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "schedule.h"

#include "random.h"
#include "timeline/sort.h"

#include <stdlib.h>

void schedule_put(schedule *s, cuzk_span_name name, uint64_t begin, uint64_t job, int unit,
                  int device, int worker)
{
    cuzk_recording *r = &s->recording;
    if (r->n_spans == s->room) {
        s->room = s->room == 0 ? 1024 : 2 * s->room;
        r->spans = realloc(r->spans, s->room * sizeof *r->spans);
        if (r->spans == NULL) {
            abort();
        }
    }
    r->spans[r->n_spans++] = (cuzk_timespan){.begin_ns = begin,
                                             .end_ns = s->now,
                                             .job = job,
                                             .value = name == CUZK_SPAN_JOB ? 1 : 0,
                                             .name = (uint16_t)name,
                                             .unit = (int16_t)unit,
                                             .device = (int8_t)device,
                                             .worker = (int8_t)worker};
}

static uint64_t go_on(schedule *s, uint64_t most, uint64_t *to)
{
    uint64_t begin = s->now;
    uint64_t ns = cuzk_test_random(&s->seed) % (most + 1);
    s->now += ns;
    *to += ns;
    return begin;
}

void schedule_unit(schedule *s, uint64_t job, int worker, uint64_t most,
                   uint64_t planted[CUZK_CAUSES_COUNT], uint64_t *kernel_ns)
{
    go_on(s, most, &planted[CUZK_CAUSE_NO_JOB]);
    schedule_put(s, CUZK_SPAN_DECODE, go_on(s, most, &planted[CUZK_CAUSE_DECODE]), 0, -1, -1, -1);
    uint64_t accepted = s->now;
    go_on(s, most, &planted[CUZK_CAUSE_QUEUE]);
    schedule_put(s, CUZK_SPAN_RESIDENT_LOAD, go_on(s, most, &planted[CUZK_CAUSE_RESIDENT]), job, 0,
                 -1, -1);
    schedule_put(s, CUZK_SPAN_WAIT_MEMORY, go_on(s, most, &planted[CUZK_CAUSE_MEMORY]), job, 0, -1,
                 -1);
    schedule_put(s, CUZK_SPAN_WITNESS, go_on(s, most, &planted[CUZK_CAUSE_WITNESS]), job, 0, -1,
                 -1);
    schedule_put(s, CUZK_SPAN_WAIT_WORKER, go_on(s, most, &planted[CUZK_CAUSE_HANDOVER]), job, 0,
                 -1, -1);
    uint64_t start = s->now;
    go_on(s, most, &planted[CUZK_CAUSE_BEFORE]);
    schedule_put(s, CUZK_SPAN_COPY_UP, go_on(s, most, &planted[CUZK_CAUSE_COPY]), job, 0, 0, -1);
    go_on(s, most, &planted[CUZK_CAUSE_BEFORE]);
    schedule_put(s, CUZK_SPAN_LANE_WAIT, go_on(s, most, &planted[CUZK_CAUSE_LANE]), job, 0, 0,
                 worker);
    uint64_t lane = s->now;
    go_on(s, most, &planted[CUZK_CAUSE_BEFORE]);
    for (int i = 0; i < 3; i++) {
        uint64_t begin = s->now;
        /* at least 1 ns: a kernel of no length is none, and what stands around it one gap */
        s->now += 1 + cuzk_test_random(&s->seed) % most;
        *kernel_ns += s->now - begin;
        schedule_put(s, (cuzk_span_name)(CUZK_SPAN_KERNEL_ROWS + i), begin, job, 0, 0, -1);
        go_on(s, most, &planted[i < 2 ? CUZK_CAUSE_BETWEEN : CUZK_CAUSE_SYNC]);
    }
    schedule_put(s, CUZK_SPAN_LANE, lane, job, 0, 0, worker);
    schedule_put(s, CUZK_SPAN_COPY_DOWN, go_on(s, most, &planted[CUZK_CAUSE_COPY]), job, 0, 0, -1);
    go_on(s, most, &planted[CUZK_CAUSE_AFTER]);
    schedule_put(s, CUZK_SPAN_PROVE_START, start, job, 0, 0, worker);
    schedule_put(s, CUZK_SPAN_PROVE_FINISH, go_on(s, most, &planted[CUZK_CAUSE_TAIL]), job, 0, -1,
                 -1);
    schedule_put(s, CUZK_SPAN_VERIFY, go_on(s, most, &planted[CUZK_CAUSE_TAIL]), job, 0, -1, -1);
    schedule_put(s, CUZK_SPAN_UNIT_DONE, s->now, job, 0, -1, -1);
    go_on(s, most, &planted[CUZK_CAUSE_TAIL]);
    schedule_put(s, CUZK_SPAN_JOB, accepted, job, -1, -1, -1);
}

void schedule_end(schedule *s)
{
    cuzk_recording *r = &s->recording;
    cuzk_error err = {0};
    if (cuzk_spans_sort(r->spans, r->n_spans, &err) != CUZK_OK) {
        abort();
    }
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *span = &r->spans[i];
        r->begin_ns = i == 0 || span->begin_ns < r->begin_ns ? span->begin_ns : r->begin_ns;
        r->end_ns = span->end_ns > r->end_ns ? span->end_ns : r->end_ns;
        if (span->device >= 0 && (size_t)span->device >= r->n_devices) {
            r->n_devices = (size_t)span->device + 1;
        }
    }
}
