/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/report.h"
#include "timeline/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

void cuzk_report_put_ns(cuzk_text *text, uint64_t ns)
{
    if (ns >= 1000000000) {
        cuzk_text_printf(text, "%.3f s", (double)ns / 1e9);
    } else if (ns >= 1000000) {
        cuzk_text_printf(text, "%.1f ms", (double)ns / 1e6);
    } else if (ns >= 1000) {
        cuzk_text_printf(text, "%.1f us", (double)ns / 1e3);
    } else {
        cuzk_text_printf(text, "%" PRIu64 " ns", ns);
    }
}

/* A time in a column of 11. */
static void put_column(cuzk_text *text, uint64_t ns)
{
    cuzk_text cell = {0};
    cuzk_report_put_ns(&cell, ns);
    cuzk_text_printf(text, "%11s", cell.failed || cell.data == NULL ? "?" : cell.data);
    text->failed = text->failed || cell.failed;
    cuzk_text_clear(&cell);
}

/* "+12.345 s": from the beginning of the recording. */
static void put_moment(cuzk_text *text, const cuzk_recording_report *r, uint64_t ns)
{
    cuzk_text_printf(text, "+%.3f s", (double)(ns - r->recording->begin_ns) / 1e9);
}

static void put_head(cuzk_text *text, const cuzk_recording_report *r)
{
    const cuzk_recording *rec = r->recording;
    const cuzk_analysis *a = r->analysis;
    cuzk_text_put(text, "recording of ");
    cuzk_report_put_ns(text, rec->end_ns - rec->begin_ns);
    uint64_t begin_ns = rec->n_spans > 0 ? rec->begin_ns : rec->host_ns;
    time_t when = (time_t)((rec->wall_ns + (begin_ns - rec->host_ns)) / 1000000000);
    struct tm tm;
    char date[64];
    if (rec->wall_ns != 0 && gmtime_r(&when, &tm) != NULL &&
        strftime(date, sizeof date, " from %Y-%m-%d %H:%M:%S UTC", &tm) > 0) {
        cuzk_text_put(text, date);
    }
    cuzk_text_printf(text, ": %zu spans, %" PRIu64 " lost\n", rec->n_spans, rec->n_lost);
    if (rec->n_bytes_after > 0) {
        cuzk_text_printf(text,
                         "its last %" PRIu64 " bytes are no whole piece: its writer was stopped\n",
                         rec->n_bytes_after);
    }
    if (rec->n_unknown > 0) {
        cuzk_text_printf(text, "%" PRIu64 " spans have names of a later version and are left out\n",
                         rec->n_unknown);
    }
    if (a->begin_ns != rec->begin_ns || a->end_ns != rec->end_ns) {
        cuzk_text_put(text, "looked at ");
        put_moment(text, r, a->begin_ns);
        cuzk_text_put(text, " to ");
        put_moment(text, r, a->end_ns);
        cuzk_text_put(text, "\n");
    }
    cuzk_text_printf(text, "%" PRIu64 " jobs ended, %" PRIu64 " units done", a->n_jobs_ended,
                     a->n_units_done);
    if (a->n_units_done > 0) {
        cuzk_text_put(text, ": one unit every ");
        cuzk_report_put_ns(text, (a->end_ns - a->begin_ns) / a->n_units_done);
    }
    cuzk_text_put(text, "\n");
}

static const char *device_id(const cuzk_recording_report *r, size_t device)
{
    const char *id = r->recording->devices[device].id;
    return id[0] != 0 ? id : "(not named)";
}

/* The least, the middle and the greatest kernel-active share of a whole second. */
static void put_monitor(cuzk_text *text, const cuzk_analysis *a, const cuzk_device_analysis *d)
{
    size_t n = (size_t)((a->end_ns - a->begin_ns) / a->slice_ns); /* the last one may be short */
    uint64_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = d->slices[i].kernel;
    }
    cuzk_numbers_sort(sorted, n);
    if (n > 0) {
        cuzk_text_printf(
            text,
            "  a monitor that looks at each %.3g s shows %.0f to %.0f %%, in the middle "
            "%.0f %%\n",
            (double)a->slice_ns / 1e9, percent(sorted[0], a->slice_ns),
            percent(sorted[n - 1], a->slice_ns), percent(sorted[n / 2], a->slice_ns));
    }
    free(sorted);
}

static void put_use(cuzk_text *text, const cuzk_recording_report *r, size_t device)
{
    const cuzk_analysis *a = r->analysis;
    const cuzk_device_analysis *d = &a->devices[device];
    uint64_t all = a->end_ns - a->begin_ns;
    cuzk_text_printf(text, "\n%s\n", device_id(r, device));
    cuzk_text_printf(
        text,
        "  kernel-active %.1f %%, copy-active %.1f %% up and %.1f %% down, lane-held %.1f %%, "
        "worker-busy %.2f of %u\n",
        percent(d->use.kernel, all), percent(d->use.copy_up, all), percent(d->use.copy_down, all),
        percent(d->use.lane, all), all == 0 ? 0 : (double)d->use.worker / (double)all,
        d->n_workers);
    put_monitor(text, a, d);
    cuzk_text_printf(text,
                     "  %" PRIu64 " units, %" PRIu64 " kernel spans, %" PRIu64
                     " copies: %.1f MB up, %.1f MB down\n",
                     d->n_units, d->n_kernels, d->n_copies, (double)d->up_bytes / 1e6,
                     (double)d->down_bytes / 1e6);
    if (d->has_clock) {
        cuzk_text_put(text, "  its spans' ends are off by at most ");
        cuzk_report_put_ns(text, d->clock_error_ns);
        cuzk_text_put(text, ": what is known of its clock\n");
    }
    for (unsigned w = 0; w < d->n_workers; w++) {
        const cuzk_worker_use *u = &d->workers[w];
        cuzk_text_printf(text, "  worker %u: %" PRIu64 " units; host work and copies ", w,
                         u->n_units);
        cuzk_report_put_ns(text, u->host_ns);
        cuzk_text_printf(text, ", %.0f %% of it under kernels; waits for the lane ",
                         percent(u->host_under_ns, u->host_ns));
        cuzk_report_put_ns(text, u->lane_wait_ns);
        cuzk_text_put(text, "\n");
    }
}

static void put_causes(cuzk_text *text, const cuzk_recording_report *r, size_t device)
{
    const cuzk_analysis *a = r->analysis;
    const cuzk_device_analysis *d = &a->devices[device];
    uint64_t all = a->end_ns - a->begin_ns;
    cuzk_text_printf(text, "  without kernels %.1f %% of the time, ",
                     percent(d->gap_total_ns, all));
    cuzk_report_put_ns(text, d->gap_total_ns);
    cuzk_text_printf(text, " in %" PRIu64 " gaps, the longest ", d->n_gaps);
    cuzk_report_put_ns(text, d->longest_ns);
    cuzk_text_put(text, "\n  cause              time  share   per unit\n");
    uint64_t blocked = 0;
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        blocked += d->blocked_ns[c];
        if (d->cause_ns[c] == 0) {
            continue;
        }
        cuzk_text_printf(text, "  %-12s", cuzk_cause_name((cuzk_cause)c));
        put_column(text, d->cause_ns[c]);
        cuzk_text_printf(text, " %5.1f%%", percent(d->cause_ns[c], all));
        put_column(text, d->n_units > 0 ? d->cause_ns[c] / d->n_units : 0);
        cuzk_text_printf(text, "  %s\n", cuzk_cause_sentence((cuzk_cause)c));
    }
    if (blocked > 0) {
        cuzk_text_put(text, "  in ");
        cuzk_report_put_ns(text, blocked);
        cuzk_text_put(text, " of it the lane was held while another worker waited for it\n");
    }
}

static int longer_first(const void *a, const void *b)
{
    const cuzk_gap *x = a;
    const cuzk_gap *y = b;
    uint64_t x_ns = x->end_ns - x->begin_ns;
    uint64_t y_ns = y->end_ns - y->begin_ns;
    if (x_ns != y_ns) {
        return x_ns > y_ns ? -1 : 1;
    }
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

void cuzk_report_sort_gaps(cuzk_gap *gaps, size_t n)
{
    if (n > 0) {
        qsort(gaps, n, sizeof *gaps, longer_first);
    }
}

static void put_gaps(cuzk_text *text, const cuzk_recording_report *r)
{
    const cuzk_analysis *a = r->analysis;
    size_t n = a->n_gaps < r->n_gaps_told ? a->n_gaps : r->n_gaps_told;
    if (n == 0) {
        return;
    }
    cuzk_text_put(text, "\nlongest gaps\n");
    cuzk_gap *gaps = malloc(a->n_gaps * sizeof *gaps);
    if (gaps == NULL) {
        text->failed = true;
        return;
    }
    memcpy(gaps, a->gaps, a->n_gaps * sizeof *gaps);
    cuzk_report_sort_gaps(gaps, a->n_gaps);
    for (size_t i = 0; i < n; i++) {
        const cuzk_gap *g = &gaps[i];
        cuzk_text_printf(text, "  %-10s ", device_id(r, g->device));
        put_moment(text, r, g->begin_ns);
        put_column(text, g->end_ns - g->begin_ns);
        const char *comma = ": ";
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            if (g->cause_ns[c] > 0) {
                cuzk_text_printf(text, "%s%s ", comma, cuzk_cause_name((cuzk_cause)c));
                cuzk_report_put_ns(text, g->cause_ns[c]);
                comma = ", ";
            }
        }
        cuzk_text_put(text, "\n");
    }
    free(gaps);
}

static const char *kind_name(const cuzk_recording_report *r, uint8_t kind)
{
    return kind >= CUZK_RECORDING_KINDS        ? "-"
           : r->recording->kinds[kind][0] != 0 ? r->recording->kinds[kind]
                                               : "(not named)";
}

/* What follows is not cut to the part that is looked at. */
static void put_whole(cuzk_text *text, const cuzk_recording_report *r)
{
    if (r->analysis->begin_ns != r->recording->begin_ns ||
        r->analysis->end_ns != r->recording->end_ns) {
        cuzk_text_put(text, "\nof the whole recording:\n");
    }
}

static void put_spans(cuzk_text *text, const cuzk_recording_report *r)
{
    if (r->n_spans == 0) {
        return;
    }
    put_whole(text, r);
    cuzk_text_printf(text, "\n%-20s %-20s %8s %10s %10s %10s %10s\n", "span", "kind", "number",
                     "p50", "p90", "p99", "most");
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_span_times *t = &r->spans[i];
        cuzk_text_printf(text, "%-20s %-20s %8" PRIu64,
                         cuzk_span_about_of((cuzk_span_name)t->name)->name, kind_name(r, t->kind),
                         t->n);
        put_column(text, t->p50_ns);
        put_column(text, t->p90_ns);
        put_column(text, t->p99_ns);
        put_column(text, t->max_ns);
        cuzk_text_put(text, "\n");
    }
}

static int slower_first(const void *a, const void *b)
{
    const cuzk_job_times *x = a;
    const cuzk_job_times *y = b;
    uint64_t x_ns = x->end_ns - x->begin_ns;
    uint64_t y_ns = y->end_ns - y->begin_ns;
    if (x_ns != y_ns) {
        return x_ns > y_ns ? -1 : 1;
    }
    return x->job < y->job ? -1 : x->job > y->job;
}

static void put_job(cuzk_text *text, const cuzk_recording_report *r, const cuzk_job_times *job)
{
    const char *id = cuzk_recording_text(r->recording, job->text);
    cuzk_text_put(text, "  ");
    if (id != NULL) {
        cuzk_text_put(text, id);
    } else {
        cuzk_text_printf(text, "job %" PRIu64, job->job);
    }
    cuzk_text_printf(text, " (%s): ", kind_name(r, job->kind));
    cuzk_report_put_ns(text, job->end_ns - job->begin_ns);
    const char *comma = job->last_unit < 0 ? "" : ", of it ";
    for (size_t p = 0; p < CUZK_JOB_PARTS_COUNT; p++) {
        if (job->part_ns[p] > 0) {
            cuzk_text_printf(text, "%s%s ", comma, cuzk_job_part_name((cuzk_job_part)p));
            cuzk_report_put_ns(text, job->part_ns[p]);
            comma = ", ";
        }
    }
    if (job->status != CUZK_OK) {
        cuzk_text_printf(text, "; %s", cuzk_status_text((cuzk_status)job->status));
    }
    cuzk_text_put(text, "\n");
}

static void put_jobs(cuzk_text *text, const cuzk_recording_report *r)
{
    size_t n = r->n_jobs < r->n_jobs_told ? r->n_jobs : r->n_jobs_told;
    if (n == 0) {
        return;
    }
    cuzk_job_times *jobs = malloc(r->n_jobs * sizeof *jobs);
    if (jobs == NULL) {
        text->failed = true;
        return;
    }
    memcpy(jobs, r->jobs, r->n_jobs * sizeof *jobs);
    qsort(jobs, r->n_jobs, sizeof *jobs, slower_first);
    cuzk_text_put(text, "\nslowest jobs, along the partition that was verified last\n");
    for (size_t i = 0; i < n; i++) {
        put_job(text, r, &jobs[i]);
    }
    free(jobs);
}

void cuzk_report_put_text(cuzk_text *text, const cuzk_recording_report *report)
{
    put_head(text, report);
    for (size_t i = 0; i < report->analysis->n_devices; i++) {
        put_use(text, report, i);
        put_causes(text, report, i);
    }
    put_gaps(text, report);
    put_spans(text, report);
    put_jobs(text, report);
}
