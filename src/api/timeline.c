/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reports on recordings. */
#include "cuzk_timeline.h"

#include "api/api.h"
#include "timeline/chrome.h"
#include "timeline/report.h"

#include <stdlib.h>

/* The most bytes of a recording: its spans and their analysis then fit in some 24 GiB. */
static const uint64_t bytes_max = UINT64_C(4) << 30;

static cuzk_status analyse(cuzk_text *text, const cuzk_recording *recording, bool as_json,
                           const cuzk_timeline_options *o, cuzk_error *err)
{
    cuzk_analysis analysis = {0};
    cuzk_job_times *jobs = NULL;
    cuzk_span_times *spans = NULL;
    cuzk_status status;
    uint64_t all_ns = recording->end_ns - recording->begin_ns;
    cuzk_analysis_options range = {
        .begin_ns = recording->begin_ns + (o->from_ns < all_ns ? o->from_ns : all_ns),
        .end_ns =
            o->to_ns == 0 || o->to_ns > all_ns ? recording->end_ns : recording->begin_ns + o->to_ns,
        .gap_ns = o->gap_ns,
        .slice_ns = o->slice_ns};
    cuzk_recording_report told = {.recording = recording,
                                  .analysis = &analysis,
                                  .n_gaps_told = o->n_gaps,
                                  .n_jobs_told = o->n_jobs};
    CUZK_TRY_OUT(status, cuzk_analyse(&analysis, recording, &range, err));
    CUZK_TRY_OUT(status, cuzk_job_times_get(&jobs, &told.n_jobs, recording, err));
    CUZK_TRY_OUT(status, cuzk_span_times_get(&spans, &told.n_spans, recording, err));
    told.jobs = jobs;
    told.spans = spans;
    if (as_json) {
        cuzk_report_put_json(text, &told);
    } else {
        cuzk_report_put_text(text, &told);
    }
out:
    free(jobs);
    free(spans);
    cuzk_analysis_clear(&analysis);
    return status;
}

static cuzk_status report(cuzk_text *out, const char *path, cuzk_timeline_format format,
                          const cuzk_timeline_options *o, cuzk_error *err)
{
    cuzk_recording recording;
    CUZK_TRY(cuzk_recording_open(&recording, path, bytes_max, err));
    cuzk_status status = CUZK_OK;
    if (format == CUZK_TIMELINE_CHROME) {
        cuzk_chrome_put(out, &recording);
    } else {
        status = analyse(out, &recording, format == CUZK_TIMELINE_JSON, o, err);
    }
    cuzk_recording_clear(&recording);
    return status;
}

cuzk_status cuzk_timeline_report(char **text, size_t *n_bytes, const char *path,
                                 cuzk_timeline_format format, const cuzk_timeline_options *options,
                                 cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, text);
    CUZK_API_NOT_NULL(err, n_bytes);
    *text = NULL;
    *n_bytes = 0;
    cuzk_timeline_options o = CUZK_TIMELINE_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_timeline_options", err));
    CUZK_FAIL_IF(o.slice_ns == 0, err, CUZK_E_ARGUMENT, "cuzk_timeline_options: slice_ns is 0");
    CUZK_FAIL_IF(format > CUZK_TIMELINE_NAMES, err, CUZK_E_ARGUMENT,
                 "cuzk_timeline_report: format %d, expected one of cuzk_timeline_format",
                 (int)format);
    cuzk_text out = {0};
    cuzk_status status = CUZK_OK;
    if (format == CUZK_TIMELINE_NAMES) {
        cuzk_report_put_names(&out);
    } else {
        CUZK_API_NOT_NULL(err, path);
        status = report(&out, path, format, &o, err);
    }
    if (status == CUZK_OK) {
        status = cuzk_text_check(&out, err);
    }
    if (status != CUZK_OK) {
        cuzk_text_clear(&out);
        return status;
    }
    *text = out.data; /* from malloc, as cuzk_free wants it */
    *n_bytes = out.size;
    return CUZK_OK;
}
