/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/report.h"

#include <inttypes.h>

/* `"name":value` with a comma before all but the first of an object. */
static void put_number(cuzk_text *text, const char **comma, const char *name, uint64_t value)
{
    cuzk_text_printf(text, "%s\"%s\":%" PRIu64, *comma, name, value);
    *comma = ",";
}

static void put_causes(cuzk_text *text, const char *name, const uint64_t ns[CUZK_CAUSES_COUNT])
{
    cuzk_text_printf(text, ",\"%s\":{", name);
    const char *comma = "";
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        put_number(text, &comma, cuzk_cause_name((cuzk_cause)c), ns[c]);
    }
    cuzk_text_put(text, "}");
}

static void put_use(cuzk_text *text, const cuzk_use *use)
{
    cuzk_text_printf(text,
                     "\"kernel_ns\":%" PRIu64 ",\"copy_up_ns\":%" PRIu64
                     ",\"copy_down_ns\":%" PRIu64 ",\"lane_ns\":%" PRIu64 ",\"worker_ns\":%" PRIu64,
                     use->kernel, use->copy_up, use->copy_down, use->lane, use->worker);
}

static void put_device(cuzk_text *text, const cuzk_recording_report *r, size_t index)
{
    const cuzk_analysis *a = r->analysis;
    const cuzk_device_analysis *d = &a->devices[index];
    const char *comma = ",";
    cuzk_text_put(text, "{\"id\":");
    cuzk_text_put_json_string(text, r->recording->devices[index].id);
    cuzk_text_put(text, ",");
    put_use(text, &d->use);
    put_number(text, &comma, "units", d->n_units);
    put_number(text, &comma, "kernels", d->n_kernels);
    put_number(text, &comma, "copies", d->n_copies);
    put_number(text, &comma, "up_bytes", d->up_bytes);
    put_number(text, &comma, "down_bytes", d->down_bytes);
    put_number(text, &comma, "copy_under_kernels_ns", d->copy_under_ns);
    put_number(text, &comma, "gaps", d->n_gaps);
    put_number(text, &comma, "gap_ns", d->gap_total_ns);
    put_number(text, &comma, "longest_gap_ns", d->longest_ns);
    if (d->has_clock) {
        put_number(text, &comma, "clock_error_ns", d->clock_error_ns);
    } else {
        cuzk_text_put(text, ",\"clock_error_ns\":null");
    }
    put_causes(text, "cause_ns", d->cause_ns);
    put_causes(text, "lane_waited_for_ns", d->blocked_ns);
    cuzk_text_put(text, ",\"workers\":[");
    for (unsigned w = 0; w < d->n_workers; w++) {
        const cuzk_worker_use *u = &d->workers[w];
        comma = w == 0 ? "{" : ",{";
        put_number(text, &comma, "units", u->n_units);
        put_number(text, &comma, "busy_ns", u->busy_ns);
        put_number(text, &comma, "lane_wait_ns", u->lane_wait_ns);
        put_number(text, &comma, "lane_ns", u->lane_ns);
        put_number(text, &comma, "host_ns", u->host_ns);
        put_number(text, &comma, "host_under_kernels_ns", u->host_under_ns);
        cuzk_text_put(text, "}");
    }
    cuzk_text_put(text, "],\"slices\":[");
    for (size_t i = 0; i < a->n_slices; i++) {
        cuzk_text_put(text, i == 0 ? "{" : ",{");
        put_use(text, &d->slices[i]);
        cuzk_text_put(text, "}");
    }
    cuzk_text_put(text, "]}");
}

static void put_gap(cuzk_text *text, const cuzk_gap *gap)
{
    const char *comma = "{";
    put_number(text, &comma, "device", gap->device);
    put_number(text, &comma, "begin_ns", gap->begin_ns);
    put_number(text, &comma, "end_ns", gap->end_ns);
    put_number(text, &comma, "lane_waited_for_ns", gap->blocked_ns);
    put_causes(text, "cause_ns", gap->cause_ns);
    cuzk_text_put(text, "}");
}

static void put_kind(cuzk_text *text, const cuzk_recording_report *r, uint8_t kind)
{
    cuzk_text_put(text, ",\"kind\":");
    cuzk_text_put_json_string(text, kind < CUZK_RECORDING_KINDS ? r->recording->kinds[kind] : "");
}

static void put_span_times(cuzk_text *text, const cuzk_recording_report *r,
                           const cuzk_span_times *t)
{
    cuzk_text_printf(text, "{\"span\":\"%s\"", cuzk_span_about_of((cuzk_span_name)t->name)->name);
    put_kind(text, r, t->kind);
    const char *comma = ",";
    put_number(text, &comma, "number", t->n);
    put_number(text, &comma, "total_ns", t->total_ns);
    put_number(text, &comma, "p50_ns", t->p50_ns);
    put_number(text, &comma, "p90_ns", t->p90_ns);
    put_number(text, &comma, "p99_ns", t->p99_ns);
    put_number(text, &comma, "max_ns", t->max_ns);
    cuzk_text_put(text, "}");
}

static void put_job(cuzk_text *text, const cuzk_recording_report *r, const cuzk_job_times *job)
{
    const char *id = cuzk_recording_text(r->recording, job->text);
    const char *comma = "{";
    put_number(text, &comma, "job", job->job);
    cuzk_text_put(text, ",\"id\":");
    cuzk_text_put_json_string(text, id != NULL ? id : "");
    put_kind(text, r, job->kind);
    put_number(text, &comma, "begin_ns", job->begin_ns);
    put_number(text, &comma, "end_ns", job->end_ns);
    put_number(text, &comma, "partitions", job->n_units);
    put_number(text, &comma, "attempts", job->n_attempts);
    put_number(text, &comma, "status", job->status);
    cuzk_text_put(text, ",\"parts_ns\":{");
    comma = "";
    for (size_t p = 0; p < CUZK_JOB_PARTS_COUNT; p++) {
        put_number(text, &comma, cuzk_job_part_name((cuzk_job_part)p), job->part_ns[p]);
    }
    cuzk_text_put(text, "}}");
}

static void put_sentences(cuzk_text *text)
{
    cuzk_text_put(text, ",\"causes\":{");
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        cuzk_text_printf(text, "%s\"%s\":\"%s\"", c == 0 ? "" : ",", cuzk_cause_name((cuzk_cause)c),
                         cuzk_cause_sentence((cuzk_cause)c));
    }
    cuzk_text_put(text, "}");
}

void cuzk_report_put_json(cuzk_text *text, const cuzk_recording_report *r)
{
    const cuzk_recording *rec = r->recording;
    const cuzk_analysis *a = r->analysis;
    const char *comma = "{\"ok\":true,";
    put_number(text, &comma, "wall_ns", rec->wall_ns);
    put_number(text, &comma, "host_ns", rec->host_ns);
    put_number(text, &comma, "begin_ns", a->begin_ns);
    put_number(text, &comma, "end_ns", a->end_ns);
    put_number(text, &comma, "slice_ns", a->slice_ns);
    put_number(text, &comma, "spans", rec->n_spans);
    put_number(text, &comma, "spans_lost", rec->n_lost);
    put_number(text, &comma, "spans_unknown", rec->n_unknown);
    put_number(text, &comma, "bytes_after_last_piece", rec->n_bytes_after);
    put_number(text, &comma, "jobs_ended", a->n_jobs_ended);
    put_number(text, &comma, "units_done", a->n_units_done);
    put_sentences(text);
    cuzk_text_put(text, ",\"devices\":[");
    for (size_t i = 0; i < a->n_devices; i++) {
        cuzk_text_put(text, i == 0 ? "" : ",");
        put_device(text, r, i);
    }
    cuzk_text_put(text, "],\"gaps\":[");
    for (size_t i = 0; i < a->n_gaps; i++) {
        cuzk_text_put(text, i == 0 ? "" : ",");
        put_gap(text, &a->gaps[i]);
    }
    cuzk_text_put(text, "],\"span_times\":[");
    for (size_t i = 0; i < r->n_spans; i++) {
        cuzk_text_put(text, i == 0 ? "" : ",");
        put_span_times(text, r, &r->spans[i]);
    }
    cuzk_text_put(text, "],\"jobs\":[");
    for (size_t i = 0; i < r->n_jobs; i++) {
        cuzk_text_put(text, i == 0 ? "" : ",");
        put_job(text, r, &r->jobs[i]);
    }
    cuzk_text_put(text, "]}\n");
}
