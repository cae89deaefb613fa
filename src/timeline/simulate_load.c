/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How long the stages of a recording's units took. */
#include "timeline/job_times.h"
#include "timeline/simulate.h"

#include <stdlib.h>
#include <string.h>

/* The last spans of a unit. */
typedef struct {
    const cuzk_timespan *witness, *start, *wait, *finish, *verify;
    uint64_t lane_begin, lane_end, lane, copy, kernel; /* in the last prove.start */
} trail;

static void follow(trail *t, const cuzk_timespan *s)
{
    uint64_t ns = s->end_ns - s->begin_ns;
    bool is_inside = t->start != NULL && s->begin_ns >= t->start->begin_ns &&
                     s->device == t->start->device; /* not what another device helped with */
    if (s->name == CUZK_SPAN_WITNESS) {
        t->witness = s;
    } else if (s->name == CUZK_SPAN_PROVE_START) { /* a new attempt */
        *t = (trail){.witness = t->witness, .start = s};
    } else if (s->name == CUZK_SPAN_PROVE_FINISH) {
        t->finish = s;
    } else if (s->name == CUZK_SPAN_VERIFY) {
        t->verify = s;
    } else if (is_inside && s->name == CUZK_SPAN_LANE_WAIT) {
        t->wait = s;
    } else if (is_inside && s->name == CUZK_SPAN_LANE) {
        t->lane_begin = t->lane == 0 ? s->begin_ns : t->lane_begin;
        t->lane_end = s->end_ns;
        t->lane += ns;
    } else if (is_inside && (s->name == CUZK_SPAN_COPY_UP || s->name == CUZK_SPAN_COPY_DOWN)) {
        t->copy += ns;
    } else if (is_inside && cuzk_span_is_kernel(s->name)) {
        t->kernel += ns;
    }
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t length(const cuzk_timespan *s)
{
    return s->end_ns - s->begin_ns;
}

static bool is_whole(const trail *t)
{
    return t->witness != NULL && t->start != NULL && t->verify != NULL;
}

static cuzk_sim_unit unit_of(const trail *t, size_t job)
{
    cuzk_sim_unit u = {.witness = length(t->witness),
                       .bytes = t->witness->value,
                       .finish = t->finish != NULL ? length(t->finish) : 0,
                       .verify = length(t->verify),
                       .lane = t->lane,
                       .kernel = t->kernel,
                       .job = job};
    uint64_t wait = t->wait != NULL ? length(t->wait) : 0;
    uint64_t before = t->lane > 0 ? less(t->lane_begin, t->start->begin_ns) : length(t->start);
    before = less(before, wait);
    /* copies are of prove.start before the lane: what is more than that ran inside it */
    u.copy = t->copy < before ? t->copy : before;
    u.before = before - u.copy;
    u.after = t->lane > 0 ? less(t->start->end_ns, t->lane_end) : 0;
    return u;
}

/* Trails of all units of the jobs, at[j] being the first of job j. */
static void follow_all(trail *trails, const size_t *at, cuzk_job_times *jobs, size_t n,
                       const cuzk_recording *r)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *s = &r->spans[i];
        const cuzk_job_times *job =
            s->job != 0 && s->unit >= 0 ? cuzk_job_times_find(jobs, n, s->job) : NULL;
        if (job != NULL && (size_t)s->unit < at[job - jobs + 1] - at[job - jobs]) {
            follow(&trails[at[job - jobs] + (size_t)s->unit], s);
        }
    }
}

static int by_arrival(const void *a, const void *b)
{
    const cuzk_sim_job *x = a;
    const cuzk_sim_job *y = b;
    if (x->arrival_ns != y->arrival_ns) {
        return x->arrival_ns < y->arrival_ns ? -1 : 1;
    }
    return x->first_unit < y->first_unit ? -1 : x->first_unit > y->first_unit;
}

static void put_jobs(cuzk_sim_load *out, const trail *trails, const size_t *at,
                     const cuzk_job_times *jobs, size_t n)
{
    uint64_t first = UINT64_MAX;
    for (size_t j = 0; j < n; j++) {
        bool whole = at[j + 1] > at[j];
        for (size_t t = at[j]; t < at[j + 1]; t++) {
            whole = whole && is_whole(&trails[t]);
        }
        if (!whole) {
            continue;
        }
        out->jobs[out->n_jobs++] = (cuzk_sim_job){.arrival_ns = jobs[j].begin_ns,
                                                  .kind = jobs[j].kind,
                                                  .priority = jobs[j].priority,
                                                  .first_unit = out->n_units,
                                                  .n_units = at[j + 1] - at[j]};
        first = jobs[j].begin_ns < first ? jobs[j].begin_ns : first;
        for (size_t t = at[j]; t < at[j + 1]; t++) {
            out->units[out->n_units++] = unit_of(&trails[t], 0);
        }
    }
    qsort(out->jobs, out->n_jobs, sizeof *out->jobs, by_arrival);
    for (size_t j = 0; j < out->n_jobs; j++) {
        out->jobs[j].arrival_ns -= first;
        for (size_t u = 0; u < out->jobs[j].n_units; u++) {
            out->units[out->jobs[j].first_unit + u].job = j;
        }
    }
}

/* Partitions of a job; what a recording says beyond 32,767 is not a job. */
static size_t n_units(const cuzk_job_times *job)
{
    return job->last_unit >= 0 && job->n_units <= INT16_MAX ? (size_t)job->n_units : 0;
}

cuzk_status cuzk_sim_load_of(cuzk_sim_load *out, const cuzk_recording *recording, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    cuzk_job_times *jobs;
    size_t n;
    CUZK_TRY(cuzk_job_times_get(&jobs, &n, recording, err));
    size_t *at = calloc(n + 2, sizeof *at);
    size_t n_all = 0;
    for (size_t j = 0; at != NULL && j < n; j++) {
        at[j] = n_all;
        /* a recording has a span at least for each unit that counts */
        n_all += n_units(&jobs[j]) <= recording->n_spans ? n_units(&jobs[j]) : 0;
        at[j + 1] = n_all;
    }
    bool is_sound = n_all <= recording->n_spans;
    trail *trails = is_sound ? calloc(n_all + 1, sizeof *trails) : NULL;
    out->jobs = calloc(n + 1, sizeof *out->jobs);
    out->units = is_sound ? calloc(n_all + 1, sizeof *out->units) : NULL;
    cuzk_status status = CUZK_OK;
    if (at == NULL || out->jobs == NULL || (is_sound && (trails == NULL || out->units == NULL))) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "the load of a recording: out of memory");
    } else if (is_sound) {
        follow_all(trails, at, jobs, n, recording);
        put_jobs(out, trails, at, jobs, n);
    }
    if (status == CUZK_OK && out->n_jobs == 0) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT,
                           "the recording has no job that ended and is in it as a whole");
    }
    free(trails);
    free(at);
    free(jobs);
    if (status != CUZK_OK) {
        cuzk_sim_load_clear(out);
    }
    return status;
}

void cuzk_sim_load_clear(cuzk_sim_load *load)
{
    free(load->jobs);
    free(load->units);
    memset(load, 0, sizeof *load);
}
