/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/job_times.h"

#include "timeline/sort.h"

#include <stdlib.h>
#include <string.h>

static const char *const part_names[] = {
#define CUZK_JOB_PART_NAME(identifier, name) name,
    CUZK_JOB_PARTS(CUZK_JOB_PART_NAME)
#undef CUZK_JOB_PART_NAME
};

const char *cuzk_job_part_name(cuzk_job_part part)
{
    return part_names[part];
}

/* The last spans of a job's last unit. */
typedef struct {
    uint64_t verify_end;
    const cuzk_timespan *witness, *ready, *start, *wait, *lane, *finish, *verify;
} way;

static int by_job(const void *a, const void *b)
{
    uint64_t x = ((const cuzk_job_times *)a)->job;
    uint64_t y = ((const cuzk_job_times *)b)->job;
    return x < y ? -1 : x > y;
}

cuzk_job_times *cuzk_job_times_find(cuzk_job_times *jobs, size_t n, uint64_t job)
{
    cuzk_job_times key = {.job = job};
    return n == 0 ? NULL : bsearch(&key, jobs, n, sizeof key, by_job);
}

static void find_last_units(cuzk_job_times *jobs, way *ways, size_t n, const cuzk_recording *r)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        if (s->name != CUZK_SPAN_VERIFY && s->name != CUZK_SPAN_PROVE_START) {
            continue;
        }
        cuzk_job_times *job = cuzk_job_times_find(jobs, n, s->job);
        if (job == NULL) {
            continue;
        }
        job->n_attempts += s->name == CUZK_SPAN_PROVE_START;
        way *w = &ways[job - jobs];
        if (s->name == CUZK_SPAN_VERIFY && (w->verify == NULL || s->end_ns >= w->verify_end)) {
            w->verify = s;
            w->verify_end = s->end_ns;
            job->last_unit = s->unit;
        }
    }
}

/* Spans are sorted by their begins: the last one stays. */
static void find_ways(cuzk_job_times *jobs, way *ways, size_t n, const cuzk_recording *r)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        cuzk_job_times *job =
            s->job != 0 && s->unit >= 0 ? cuzk_job_times_find(jobs, n, s->job) : NULL;
        if (job == NULL || job->last_unit != s->unit) {
            continue;
        }
        way *w = &ways[job - jobs];
        bool is_lane = s->name == CUZK_SPAN_LANE_WAIT || s->name == CUZK_SPAN_LANE;
        if (is_lane && w->start != NULL && s->device != w->start->device) {
            continue; /* of one that helps */
        }
        const cuzk_timespan **to = s->name == CUZK_SPAN_WITNESS        ? &w->witness
                                   : s->name == CUZK_SPAN_WAIT_WORKER  ? &w->ready
                                   : s->name == CUZK_SPAN_PROVE_START  ? &w->start
                                   : s->name == CUZK_SPAN_LANE_WAIT    ? &w->wait
                                   : s->name == CUZK_SPAN_LANE         ? &w->lane
                                   : s->name == CUZK_SPAN_PROVE_FINISH ? &w->finish
                                                                       : NULL;
        if (to != NULL) {
            *to = s;
        }
    }
}

/* Time goes on to `to`, never back, and never beyond the job's end. */
static void go_to(cuzk_job_times *job, uint64_t *now, uint64_t to, cuzk_job_part part)
{
    to = to > job->end_ns ? job->end_ns : to;
    if (to > *now) {
        job->part_ns[part] += to - *now;
        *now = to;
    }
}

static void cut(cuzk_job_times *job, const way *w)
{
    uint64_t now = job->begin_ns;
    if (w->witness != NULL) {
        go_to(job, &now, w->witness->begin_ns, CUZK_JOB_PART_QUEUE);
        go_to(job, &now, w->witness->end_ns, CUZK_JOB_PART_WITNESS);
    }
    if (w->start != NULL) {
        if (w->ready != NULL && job->n_attempts > job->n_units) {
            go_to(job, &now, w->ready->begin_ns, CUZK_JOB_PART_ATTEMPTS);
        }
        go_to(job, &now, w->start->begin_ns,
              w->witness != NULL ? CUZK_JOB_PART_WORKER : CUZK_JOB_PART_QUEUE);
        if (w->wait != NULL && w->wait->begin_ns >= w->start->begin_ns) {
            go_to(job, &now, w->wait->begin_ns, CUZK_JOB_PART_BEFORE);
            go_to(job, &now, w->wait->end_ns, CUZK_JOB_PART_LANE_WAIT);
        }
        if (w->lane != NULL && w->lane->begin_ns >= w->start->begin_ns) {
            go_to(job, &now, w->lane->begin_ns, CUZK_JOB_PART_BEFORE);
            go_to(job, &now, w->lane->end_ns, CUZK_JOB_PART_LANE);
            go_to(job, &now, w->start->end_ns, CUZK_JOB_PART_AFTER);
        } else {
            go_to(job, &now, w->start->end_ns, CUZK_JOB_PART_BEFORE);
        }
    }
    if (w->finish != NULL) {
        go_to(job, &now, w->finish->end_ns, CUZK_JOB_PART_FINISH);
    }
    go_to(job, &now, w->verify->end_ns, CUZK_JOB_PART_VERIFY);
    go_to(job, &now, job->end_ns, CUZK_JOB_PART_JOURNAL);
}

cuzk_status cuzk_job_times_get(cuzk_job_times **out, size_t *n_out, const cuzk_recording *r,
                               cuzk_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        n += r->spans[i].name == CUZK_SPAN_JOB;
    }
    cuzk_job_times *jobs = calloc(n + 1, sizeof *jobs);
    way *ways = calloc(n + 1, sizeof *ways);
    if (jobs == NULL || ways == NULL) {
        free(jobs);
        free(ways);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "times of %zu jobs: out of memory", n);
    }
    n = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        if (s->name == CUZK_SPAN_JOB) {
            jobs[n++] = (cuzk_job_times){.job = s->job,
                                         .begin_ns = s->begin_ns,
                                         .end_ns = s->end_ns,
                                         .kind = s->kind,
                                         .priority = s->priority,
                                         .status = s->status,
                                         .text = s->text,
                                         .n_units = s->value,
                                         .last_unit = -1};
        }
    }
    qsort(jobs, n, sizeof *jobs, by_job);
    find_last_units(jobs, ways, n, r);
    find_ways(jobs, ways, n, r);
    for (size_t i = 0; i < n; i++) {
        if (ways[i].verify != NULL) {
            cut(&jobs[i], &ways[i]);
        }
    }
    free(ways);
    *out = jobs;
    *n_out = n;
    return CUZK_OK;
}

/* --- lengths of spans ------------------------------------------------------------------------- */

enum { GROUPS = CUZK_SPAN_NAMES * (CUZK_RECORDING_KINDS + 1) };

uint8_t cuzk_span_kind(const cuzk_timespan *s)
{
    /* a payload that is decoded has a priority, and no job yet */
    bool has_kind = (s->job != 0 || s->priority != 0) && s->kind < CUZK_RECORDING_KINDS;
    return has_kind ? s->kind : (uint8_t)CUZK_RECORDING_KINDS;
}

static size_t group_of(const cuzk_timespan *s)
{
    return (size_t)s->name * (CUZK_RECORDING_KINDS + 1) + cuzk_span_kind(s);
}

static uint64_t rank(const uint64_t *sorted, size_t n, unsigned percent)
{
    return sorted[(n * percent + 99) / 100 - 1];
}

cuzk_status cuzk_span_times_get(cuzk_span_times **out, size_t *n_out, const cuzk_recording *r,
                                cuzk_error *err)
{
    size_t at[GROUPS + 1] = {0}; /* where the lengths of a group begin */
    for (size_t i = 0; i < r->n_spans; i++) {
        at[group_of(&r->spans[i]) + 1]++;
    }
    for (size_t g = 0; g < GROUPS; g++) {
        at[g + 1] += at[g];
    }
    uint64_t *lengths = malloc((r->n_spans + 1) * sizeof *lengths);
    cuzk_span_times *times = calloc(GROUPS, sizeof *times);
    if (lengths == NULL || times == NULL) {
        free(lengths);
        free(times);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "times of %zu spans: out of memory", r->n_spans);
    }
    size_t filled[GROUPS];
    memcpy(filled, at, sizeof filled);
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        lengths[filled[group_of(s)]++] = s->end_ns - s->begin_ns;
    }
    size_t n = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        uint64_t *of = lengths + at[g];
        size_t k = at[g + 1] - at[g];
        cuzk_span_name name = (cuzk_span_name)(g / (CUZK_RECORDING_KINDS + 1));
        if (k == 0 || cuzk_span_about_of(name)->is_instant) {
            continue;
        }
        cuzk_numbers_sort(of, k);
        cuzk_span_times *t = &times[n++];
        *t = (cuzk_span_times){.name = (uint16_t)name,
                               .kind = (uint8_t)(g % (CUZK_RECORDING_KINDS + 1)),
                               .n = k,
                               .p50_ns = rank(of, k, 50),
                               .p90_ns = rank(of, k, 90),
                               .p99_ns = rank(of, k, 99),
                               .max_ns = of[k - 1]};
        for (size_t i = 0; i < k; i++) {
            t->total_ns += of[i];
        }
    }
    free(lengths);
    *out = times;
    *n_out = n;
    return CUZK_OK;
}
