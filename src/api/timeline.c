/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reports on recordings. */
#include "cuzk_timeline.h"

#include "api/api.h"
#include "timeline/beside.h"
#include "timeline/chrome.h"
#include "timeline/compare.h"
#include "timeline/picture.h"
#include "timeline/report.h"
#include "timeline/what_if.h"

#include <inttypes.h>
#include <stdlib.h>

/* The most bytes of a recording: its spans and their analysis then fit in some 24 GiB. */
static const uint64_t bytes_max = UINT64_C(4) << 30;

/* The end of a call: the text is the caller's, from malloc as cuzk_free wants it. */
static cuzk_status give(char **text, size_t *n_bytes, cuzk_text *out, cuzk_status status,
                        cuzk_error *err)
{
    if (status == CUZK_OK) {
        status = cuzk_text_check(out, err);
    }
    if (status != CUZK_OK) {
        cuzk_text_clear(out);
        return status;
    }
    *text = out->data;
    *n_bytes = out->size;
    return CUZK_OK;
}

/* What the options ask to look at. */
static cuzk_analysis_options range_of(const cuzk_recording *recording,
                                      const cuzk_timeline_options *o)
{
    uint64_t all_ns = recording->end_ns - recording->begin_ns;
    return (cuzk_analysis_options){
        .begin_ns = recording->begin_ns + (o->from_ns < all_ns ? o->from_ns : all_ns),
        .end_ns =
            o->to_ns == 0 || o->to_ns > all_ns ? recording->end_ns : recording->begin_ns + o->to_ns,
        .gap_ns = o->gap_ns,
        .slice_ns = o->slice_ns};
}

static cuzk_status draw(cuzk_text *text, const cuzk_recording *recording,
                        const cuzk_timeline_options *o, cuzk_error *err)
{
    cuzk_analysis analysis;
    cuzk_analysis_options range = range_of(recording, o);
    uint64_t ns = range.end_ns > range.begin_ns ? range.end_ns - range.begin_ns : 0;
    range.slice_ns = ns / CUZK_PICTURE_COLUMNS + 1; /* a column each */
    range.gap_ns = range.slice_ns;                  /* what is narrower is not seen */
    CUZK_TRY(cuzk_analyse(&analysis, recording, &range, err));
    cuzk_status status = cuzk_picture_put(text, recording, &analysis, err);
    cuzk_analysis_clear(&analysis);
    return status;
}

static cuzk_status analyse(cuzk_text *text, const cuzk_recording *recording, bool as_json,
                           const cuzk_timeline_options *o, cuzk_error *err)
{
    cuzk_analysis analysis = {0};
    cuzk_job_times *jobs = NULL;
    cuzk_span_times *spans = NULL;
    cuzk_status status;
    cuzk_analysis_options range = range_of(recording, o);
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
    CUZK_TRY(cuzk_recording_open_with(&recording, path, o->next_path, bytes_max, err));
    uint64_t all_ns = recording.end_ns - recording.begin_ns;
    cuzk_status status = CUZK_OK;
    if (o->from_ns > all_ns) {
        status = CUZK_FAIL(err, CUZK_E_ARGUMENT,
                           "%s: asked to look from %.3f s on, the recording is %.3f s long", path,
                           (double)o->from_ns / 1e9, (double)all_ns / 1e9);
    } else if (o->to_ns != 0 && o->to_ns < o->from_ns) {
        status = CUZK_FAIL(err, CUZK_E_ARGUMENT,
                           "%s: asked to look from %.3f to %.3f s: nothing lies between", path,
                           (double)o->from_ns / 1e9, (double)o->to_ns / 1e9);
    } else if (format == CUZK_TIMELINE_CHROME) {
        cuzk_chrome_put(out, &recording);
    } else if (format == CUZK_TIMELINE_PICTURE) {
        status = draw(out, &recording, o, err);
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
    return give(text, n_bytes, &out, status, err);
}

static void set(unsigned *of_machine, unsigned given, bool *is_changed)
{
    *is_changed = *is_changed || (given != 0 && given != *of_machine);
    *of_machine = given != 0 ? given : *of_machine;
}

static cuzk_status simulate(cuzk_text *out, const char *path, const cuzk_timeline_machine *m,
                            cuzk_error *err)
{
    cuzk_recording recording;
    CUZK_TRY(cuzk_recording_open(&recording, path, bytes_max, err));
    cuzk_what_if what = {.recording = &recording, .as_json = m->as_json};
    cuzk_status status = cuzk_what_if_machine(&what.machine, &recording, m->memory_bytes, err);
    if (status == CUZK_OK) {
        unsigned n_workers = what.machine.n_workers;
        set(&what.machine.n_devices, m->n_devices, &what.is_changed);
        set(&what.machine.n_workers, m->n_workers, &what.is_changed);
        set(&what.machine.n_witness, m->n_witness, &what.is_changed);
        set(&what.machine.n_finishers, m->n_finishers, &what.is_changed);
        set(&what.machine.n_verifiers, m->n_verifiers, &what.is_changed);
        if (what.machine.n_workers != n_workers) {
            what.machine.witness_ahead = what.machine.n_workers;
        }
        what.machine.cores = m->n_cores;
        what.machine.copies = m->n_copies;
        what.machine.is_backlog = m->is_backlog;
        what.machine.n_roots = m->n_roots;
        what.machine.memory_rate = m->memory_gb_s;
        what.n_repeats = m->n_repeats;
        what.is_changed = what.is_changed || m->memory_bytes != 0 || m->n_cores != 0 ||
                          m->n_copies != 0 || m->is_backlog || m->memory_gb_s != 0;
        status = m->durations != NULL ? cuzk_what_if_durations(&what, m->durations, err) : CUZK_OK;
    }
    if (status == CUZK_OK) {
        status = cuzk_what_if_put(out, &what, err);
    }
    cuzk_recording_clear(&recording);
    return status;
}

cuzk_status cuzk_timeline_simulate(char **text, size_t *n_bytes, const char *path,
                                   const cuzk_timeline_machine *machine, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, text);
    CUZK_API_NOT_NULL(err, n_bytes);
    CUZK_API_NOT_NULL(err, path);
    *text = NULL;
    *n_bytes = 0;
    cuzk_timeline_machine m = CUZK_TIMELINE_MACHINE_INIT;
    CUZK_TRY(cuzk_api_options(&m, sizeof m, machine, "cuzk_timeline_machine", err));
    cuzk_text out = {0};
    cuzk_status status = simulate(&out, path, &m, err);
    return give(text, n_bytes, &out, status, err);
}

cuzk_status cuzk_timeline_compare(char **text, size_t *n_bytes, const char *before_path,
                                  const char *after_path, bool as_json, cuzk_error *err)
{
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, text);
    CUZK_API_NOT_NULL(err, n_bytes);
    CUZK_API_NOT_NULL(err, before_path);
    CUZK_API_NOT_NULL(err, after_path);
    *text = NULL;
    *n_bytes = 0;
    cuzk_recording before;
    cuzk_recording after = {0};
    cuzk_text out = {0};
    CUZK_TRY(cuzk_recording_open(&before, before_path, bytes_max, err));
    cuzk_status status = cuzk_recording_open(&after, after_path, bytes_max, err);
    if (status == CUZK_OK) {
        status = cuzk_compare_put(&out, &before, &after, as_json, err);
    }
    cuzk_recording_clear(&before);
    cuzk_recording_clear(&after);
    return give(text, n_bytes, &out, status, err);
}

static cuzk_status import(cuzk_text *out, const cuzk_activities *activities,
                          const cuzk_recording *recording, const cuzk_timeline_import_options *o,
                          cuzk_error *err)
{
    cuzk_beside beside;
    CUZK_TRY(cuzk_beside_make(&beside, activities, recording, o->has_offset ? &o->offset_ns : NULL,
                              err));
    if (o->as_json) {
        cuzk_beside_put_json(out, &beside);
    } else {
        cuzk_beside_put_text(out, &beside);
    }
    cuzk_beside_clear(&beside);
    return CUZK_OK;
}

cuzk_status cuzk_timeline_import(char **text, size_t *n_bytes, const char *path,
                                 const char *recording_path,
                                 const cuzk_timeline_import_options *options, cuzk_error *err)
{
    static const int64_t offset_max = INT64_C(1) << 60;
    cuzk_error_clear(err);
    CUZK_API_NOT_NULL(err, text);
    CUZK_API_NOT_NULL(err, n_bytes);
    CUZK_API_NOT_NULL(err, path);
    *text = NULL;
    *n_bytes = 0;
    cuzk_timeline_import_options o = CUZK_TIMELINE_IMPORT_OPTIONS_INIT;
    CUZK_TRY(cuzk_api_options(&o, sizeof o, options, "cuzk_timeline_import_options", err));
    CUZK_FAIL_IF(o.offset_ns > offset_max || o.offset_ns < -offset_max, err, CUZK_E_ARGUMENT,
                 "cuzk_timeline_import_options: offset_ns %" PRId64 " is beyond 2^60", o.offset_ns);
    cuzk_activities activities;
    cuzk_recording recording = {0};
    cuzk_text out = {0};
    CUZK_TRY(cuzk_activities_open(&activities, path, err));
    cuzk_status status = recording_path != NULL
                             ? cuzk_recording_open(&recording, recording_path, bytes_max, err)
                             : CUZK_OK;
    if (status == CUZK_OK) {
        status = import(&out, &activities, recording_path != NULL ? &recording : NULL, &o, err);
    }
    cuzk_recording_clear(&recording);
    cuzk_activities_clear(&activities);
    return give(text, n_bytes, &out, status, err);
}
