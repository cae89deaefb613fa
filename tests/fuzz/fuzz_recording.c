/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A recording, and everything that is made of one. */
#include "fuzz.h"
#include "timeline/chrome.h"
#include "timeline/report.h"

#include <stdlib.h>
#include <time.h>

/* The C library keeps memory for time zones from the first date on: not what is counted here. */
__attribute__((constructor)) static void begin(void)
{
    tzset();
}

enum { JOBS = 300, SPANS = 1000 }; /* that are told: what is longer only takes memory */

static void check_spans(const cuzk_recording *r)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        CUZK_FUZZ_CHECK(s->name < CUZK_SPAN_NAMES && s->begin_ns <= s->end_ns);
        CUZK_FUZZ_CHECK(s->begin_ns >= r->begin_ns && s->end_ns <= r->end_ns);
        CUZK_FUZZ_CHECK(i == 0 || r->spans[i - 1].begin_ns <= s->begin_ns);
        CUZK_FUZZ_CHECK(s->device < (int)r->n_devices);
    }
}

static void check_analysis(const cuzk_analysis *a)
{
    for (size_t d = 0; d < a->n_devices; d++) {
        uint64_t causes = 0;
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            causes += a->devices[d].cause_ns[c];
        }
        CUZK_FUZZ_CHECK(causes == a->devices[d].gap_total_ns);
        CUZK_FUZZ_CHECK(causes + a->devices[d].use.kernel == a->end_ns - a->begin_ns);
    }
}

static void check_texts(const cuzk_recording_report *report)
{
    cuzk_text text = {0};
    cuzk_report_put_text(&text, report);
    CUZK_FUZZ_CHECK(text.failed || text.size > 0);
    cuzk_text_clear(&text);
    cuzk_report_put_json(&text, report);
    CUZK_FUZZ_CHECK(text.failed || text.data[text.size - 1] == '\n');
    cuzk_text_clear(&text);
    if (report->recording->n_spans < SPANS) {
        cuzk_chrome_put(&text, report->recording);
        CUZK_FUZZ_CHECK(text.failed || text.data[text.size - 1] == '\n');
    }
    cuzk_text_clear(&text);
}

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_recording r;
    cuzk_error err = {0};
    if (cuzk_recording_read(&r, data, size, &err) != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.status != CUZK_OK && err.text[0] != 0 && r.spans == NULL);
        return;
    }
    CUZK_FUZZ_CHECK(r.n_spans <= size / 5 && r.n_bytes_after <= size);
    check_spans(&r);
    /* few slices and gaps, whatever the length: reports are not what the heap's limit is about */
    uint64_t part_ns = (r.end_ns - r.begin_ns) / 8 + 1;
    cuzk_analysis_options options = {.slice_ns = part_ns, .gap_ns = part_ns};
    cuzk_analysis a;
    cuzk_recording_report report = {
        .recording = &r, .analysis = &a, .n_gaps_told = 3, .n_jobs_told = 3};
    cuzk_job_times *jobs = NULL;
    cuzk_span_times *times = NULL;
    if (cuzk_analyse(&a, &r, &options, &err) == CUZK_OK) {
        check_analysis(&a);
        CUZK_FUZZ_CHECK(cuzk_job_times_get(&jobs, &report.n_jobs, &r, &err) == CUZK_OK);
        CUZK_FUZZ_CHECK(cuzk_span_times_get(&times, &report.n_spans, &r, &err) == CUZK_OK);
        report.jobs = jobs;
        report.spans = times;
        report.n_jobs = report.n_jobs < JOBS ? report.n_jobs : JOBS;
        check_texts(&report);
    }
    free(jobs);
    free(times);
    cuzk_analysis_clear(&a);
    cuzk_recording_clear(&r);
}
