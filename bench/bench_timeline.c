/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What recording costs, and how long a large recording takes to read and analyse: CSV of measure,
 * size, value, unit. bench_timeline [SPANS] (default a million). */
#include "base/clock.h"
#include "timeline/analysis.h"
#include "timeline/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PUTS = 3000, ROUNDS = 1000 };

static void no_spans(void *user, const cuzk_timespan *spans, size_t n)
{
    (void)user, (void)spans, (void)n;
}

static void no_text(void *user, uint32_t number, const char *text, size_t n_bytes)
{
    (void)user, (void)number, (void)text, (void)n_bytes;
}

static void no_thread(void *user, uint16_t index, const char *name)
{
    (void)user, (void)index, (void)name;
}

static void no_lost(void *user, uint64_t n_spans)
{
    (void)user, (void)n_spans;
}

/* A span whose ends are read from the clock, as the engine makes them; less than a ring at a time,
 * so that the reader is not in the time. */
static double span_ns(bool with_clock)
{
    static const cuzk_recorder_sink sink = {no_spans, no_text, no_thread, no_lost, NULL};
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = cuzk_now_ns();
        for (uint64_t i = 0; i < PUTS; i++) {
            cuzk_timespan span = {.begin_ns = with_clock ? cuzk_now_ns() : i,
                                  .job = i,
                                  .name = CUZK_SPAN_WITNESS,
                                  .unit = 3,
                                  .device = -1,
                                  .worker = -1};
            span.end_ns = with_clock ? cuzk_now_ns() : i + 5;
            cuzk_recorder_put(&span);
        }
        uint64_t ns = cuzk_now_ns() - begin;
        best = ns < best ? ns : best;
        cuzk_recorder_take(&sink);
    }
    return (double)best / PUTS;
}

/* Units one after the other on two workers of a device, nine spans each. */
static void put_units(cuzk_text *text, size_t n_spans)
{
    enum { EACH = 9, PIECE = 900 };
    static cuzk_timespan spans[PIECE];
    size_t n = 0;
    for (uint64_t unit = 0; unit * EACH < n_spans; unit++) {
        uint64_t at = 1000000 + unit * 5000;
        int8_t worker = (int8_t)(unit % 2);
        cuzk_timespan s[EACH] = {
            {.begin_ns = at, .end_ns = at + 4000, .name = CUZK_SPAN_JOB, .value = 1, .unit = -1},
            {.begin_ns = at, .end_ns = at + 900, .name = CUZK_SPAN_WITNESS},
            {.begin_ns = at + 900, .end_ns = at + 950, .name = CUZK_SPAN_WAIT_WORKER},
            {.begin_ns = at + 950, .end_ns = at + 3500, .name = CUZK_SPAN_PROVE_START},
            {.begin_ns = at + 1000, .end_ns = at + 1100, .name = CUZK_SPAN_COPY_UP, .value = 4096},
            {.begin_ns = at + 1100, .end_ns = at + 3400, .name = CUZK_SPAN_LANE},
            {.begin_ns = at + 1150, .end_ns = at + 2000, .name = CUZK_SPAN_KERNEL_TRANSFORMS},
            {.begin_ns = at + 2010, .end_ns = at + 3350, .name = CUZK_SPAN_KERNEL_ADDITIONS},
            {.begin_ns = at + 3500, .end_ns = at + 3900, .name = CUZK_SPAN_VERIFY},
        };
        for (size_t i = 0; i < EACH; i++) {
            bool on_device = i >= 3 && i <= 7;
            s[i].job = unit + 1;
            s[i].device = on_device ? 0 : -1;
            s[i].worker = on_device ? worker : -1;
            spans[n++] = s[i];
        }
        if (n == PIECE) {
            cuzk_recording_put_spans(text, spans, n);
            n = 0;
        }
    }
    cuzk_recording_put_spans(text, spans, n);
}

static int analyse(size_t n_spans)
{
    cuzk_text text = {0};
    cuzk_recording_put_start(&text, 0, 0);
    put_units(&text, n_spans);
    cuzk_recording recording;
    cuzk_analysis analysis;
    cuzk_error err = {0};
    cuzk_analysis_options options = {.gap_ns = 1000000, .slice_ns = 1000000000};
    uint64_t begin = cuzk_now_ns();
    if (text.failed ||
        cuzk_recording_read(&recording, (uint8_t *)text.data, text.size, &err) != CUZK_OK) {
        fprintf(stderr, "bench_timeline: %s\n", err.text);
        return 1;
    }
    uint64_t read = cuzk_now_ns();
    double bytes = (double)text.size / (double)recording.n_spans;
    cuzk_text_clear(&text);
    if (cuzk_analyse(&analysis, &recording, &options, &err) != CUZK_OK) {
        fprintf(stderr, "bench_timeline: %s\n", err.text);
        return 1;
    }
    uint64_t end = cuzk_now_ns();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("file,%zu,%.1f,bytes a span\n", recording.n_spans, bytes);
    printf("read,%zu,%.1f,ms\n", recording.n_spans, (double)(read - begin) / 1e6);
    printf("analyse,%zu,%.1f,ms\n", recording.n_spans, (double)(end - read) / 1e6);
    printf("peak resident,%zu,%ld,MB\n", recording.n_spans, usage.ru_maxrss / 1024);
    cuzk_analysis_clear(&analysis);
    cuzk_recording_clear(&recording);
    return 0;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    cuzk_error err = {0};
    printf("measure,spans,value,unit\n");
    printf("put while nothing is recorded,%d,%.1f,ns\n", PUTS, span_ns(false));
    if (cuzk_recorder_start(&err) != CUZK_OK) {
        fprintf(stderr, "bench_timeline: %s\n", err.text);
        return 1;
    }
    printf("put,%d,%.1f,ns\n", PUTS, span_ns(false));
    printf("put with both ends from the clock,%d,%.1f,ns\n", PUTS, span_ns(true));
    return analyse(n);
}
