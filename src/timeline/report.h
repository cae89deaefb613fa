/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an analysis says, for people and for programs. */
#ifndef CUZK_TIMELINE_REPORT_H
#define CUZK_TIMELINE_REPORT_H

#include "timeline/analysis.h"
#include "timeline/job_times.h"

/* All that there is to say of one recording. Nothing is owned. */
typedef struct {
    const cuzk_recording *recording;
    const cuzk_analysis *analysis;
    const cuzk_job_times *jobs;
    size_t n_jobs;
    const cuzk_span_times *spans;
    size_t n_spans;
    size_t n_gaps_told, n_jobs_told; /* the longest ones */
} cuzk_recording_report;

/** Append the report as lines of at most 100 columns. A text that ran out of memory says so. */
void cuzk_report_put_text(cuzk_text *text, const cuzk_recording_report *report);

/** Append it as one JSON object (docs/timeline.md); every gap of the analysis and every job is in
 *  it. Times are whole nanoseconds. */
void cuzk_report_put_json(cuzk_text *text, const cuzk_recording_report *report);

/** Append what the names of spans and of causes mean, as the tables of docs/timeline.md. */
void cuzk_report_put_names(cuzk_text *text);

/** Append "1.234 s", "12.3 ms", "45.6 us" or "78 ns". */
void cuzk_report_put_ns(cuzk_text *text, uint64_t ns);

/** Sort gaps: the longest first, then by begin. */
void cuzk_report_sort_gaps(cuzk_gap *gaps, size_t n);

#endif
