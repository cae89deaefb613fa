/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Gaps and their causes: as planted, and as a slow reading of the definitions says of any spans. */
#include "random.h"
#include "schedule.h"
#include "timeline/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_analysis analyse(const schedule *s, cuzk_analysis_options options)
{
    cuzk_analysis a;
    cuzk_error err = {0};
    assert_int_equal(cuzk_analyse(&a, &s->recording, &options, &err), CUZK_OK);
    return a;
}

/* What must hold of any recording. */
static void check_sums(const cuzk_analysis *a)
{
    uint64_t all = a->end_ns - a->begin_ns;
    for (size_t i = 0; i < a->n_devices; i++) {
        const cuzk_device_analysis *d = &a->devices[i];
        uint64_t causes = 0;
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            causes += d->cause_ns[c];
            assert_true(d->blocked_ns[c] <= d->cause_ns[c]);
        }
        assert_int_equal(causes, d->gap_total_ns);
        assert_int_equal(d->use.kernel + d->gap_total_ns, all);
        cuzk_use sum = {0};
        for (size_t k = 0; k < a->n_slices; k++) {
            sum.kernel += d->slices[k].kernel;
            sum.copy_up += d->slices[k].copy_up;
            sum.copy_down += d->slices[k].copy_down;
            sum.lane += d->slices[k].lane;
            sum.worker += d->slices[k].worker;
            assert_true(d->slices[k].kernel <= a->slice_ns);
        }
        assert_memory_equal(&sum, &d->use, sizeof sum);
        for (size_t c = 0; c < CUZK_CAUSES_COUNT && d->slice_causes != NULL; c++) {
            uint64_t ns = 0;
            for (size_t k = 0; k < a->n_slices; k++) {
                ns += d->slice_causes[k][c];
            }
            assert_int_equal(ns, d->cause_ns[c]);
        }
        for (size_t w = 0; w < CUZK_ANALYSIS_WORKERS; w++) {
            const cuzk_worker_use *u = &d->workers[w];
            assert_int_equal(u->busy_ns, u->lane_ns + u->lane_wait_ns + u->host_ns);
            assert_true(u->host_under_ns <= u->host_ns);
        }
    }
    for (size_t g = 0; g < a->n_gaps; g++) {
        uint64_t causes = 0;
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            causes += a->gaps[g].cause_ns[c];
        }
        assert_int_equal(causes, a->gaps[g].end_ns - a->gaps[g].begin_ns);
    }
}

static void test_planted(void **state)
{
    (void)state;
    for (uint64_t most = 1; most < 2000000; most *= 37) {
        schedule s = {.seed = most, .now = 1000};
        uint64_t planted[CUZK_CAUSES_COUNT] = {0};
        uint64_t kernel_ns = 0;
        for (uint64_t job = 1; job <= 200; job++) {
            schedule_unit(&s, job, (int)(job % 2), most, planted, &kernel_ns);
        }
        schedule_end(&s);
        planted[CUZK_CAUSE_NO_JOB] -= s.recording.begin_ns - 1000; /* before the first span */
        cuzk_analysis a = analyse(&s, (cuzk_analysis_options){.slice_ns = 10000000});
        check_sums(&a);
        assert_int_equal(a.n_devices, 1);
        assert_int_equal(a.devices[0].use.kernel, kernel_ns);
        assert_int_equal(a.devices[0].n_kernels, 600);
        assert_int_equal(a.devices[0].n_units, 200);
        assert_int_equal(a.devices[0].n_workers, 2);
        assert_int_equal(a.devices[0].workers[0].n_units, 100);
        assert_int_equal(a.n_jobs_ended, 200);
        assert_int_equal(a.n_units_done, 200);
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            assert_int_equal(a.devices[0].cause_ns[c], planted[c]);
            assert_int_equal(a.devices[0].blocked_ns[c], 0);
        }
        assert_int_equal(a.n_gaps, a.devices[0].n_gaps);
        cuzk_analysis_clear(&a);
        cuzk_recording_clear(&s.recording);
    }
}

/* How far a device's spans may be off: the worst that was told of it, or nothing. */
static void test_clock_error(void **state)
{
    (void)state;
    static const uint64_t told[] = {900, 7500, 0, 100};
    schedule s = {.seed = 1, .now = 1000};
    uint64_t planted[CUZK_CAUSES_COUNT] = {0}, kernel_ns = 0;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        schedule_unit(&s, i + 1, 0, 1000, planted, &kernel_ns);
        schedule_put(&s, CUZK_SPAN_DEVICE_CLOCK, s.now, i + 1, 0, i == 3 ? 1 : 0, -1);
        s.recording.spans[s.recording.n_spans - 1].value = told[i];
    }
    schedule_put(&s, CUZK_SPAN_KERNEL_ROWS, s.now - 1, 9, 0, 2, -1);
    schedule_end(&s);
    cuzk_analysis a = analyse(&s, (cuzk_analysis_options){.slice_ns = 10000000});
    check_sums(&a);
    assert_int_equal(a.n_devices, 3);
    assert_true(a.devices[0].has_clock && a.devices[0].clock_error_ns == 7500);
    assert_true(a.devices[1].has_clock && a.devices[1].clock_error_ns == 100);
    assert_false(a.devices[2].has_clock);
    assert_int_equal(a.devices[0].use.kernel, kernel_ns);
    cuzk_text text = {0};
    cuzk_recording_report report = {.recording = &s.recording, .analysis = &a};
    cuzk_report_put_text(&text, &report);
    assert_non_null(strstr(text.data, "ends are off by at most 7.5 us: "));
    assert_non_null(strstr(text.data, "ends are off by at most 100 ns: "));
    cuzk_text_clear(&text);
    cuzk_report_put_json(&text, &report);
    assert_non_null(strstr(text.data, "\"clock_error_ns\":7500"));
    assert_non_null(strstr(text.data, "\"clock_error_ns\":null"));
    cuzk_text_clear(&text);
    cuzk_analysis_clear(&a);
    cuzk_recording_clear(&s.recording);
}

/* --- the definitions, read slowly ------------------------------------------------------------- */

static bool holds(const cuzk_timespan *s, uint64_t t) /* at t + half a nanosecond */
{
    return s->begin_ns <= t && t < s->end_ns;
}

static size_t count(const cuzk_recording *r, uint64_t t, cuzk_span_name name, int device)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        n += r->spans[i].name == name && r->spans[i].device == device && holds(&r->spans[i], t);
    }
    return n;
}

static bool kernel_runs(const cuzk_recording *r, uint64_t t, int device)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        if (cuzk_span_is_kernel(r->spans[i].name) && r->spans[i].device == device &&
            holds(&r->spans[i], t)) {
            return true;
        }
    }
    return false;
}

/* In the lane's hold around t: is there a kernel before, is there one after? */
static cuzk_cause lane_cause(const cuzk_recording *r, uint64_t t, int device)
{
    bool before = false;
    bool after = false;
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *hold = &r->spans[i];
        if (hold->name != CUZK_SPAN_LANE || hold->device != device || !holds(hold, t)) {
            continue;
        }
        for (size_t k = 0; k < r->n_spans; k++) {
            const cuzk_timespan *kernel = &r->spans[k];
            if (cuzk_span_is_kernel(kernel->name) && kernel->device == device &&
                kernel->begin_ns >= hold->begin_ns && kernel->begin_ns < hold->end_ns) {
                before = before || kernel->end_ns <= t;
                after = after || kernel->begin_ns > t;
            }
        }
    }
    return !before ? CUZK_CAUSE_BEFORE : after ? CUZK_CAUSE_BETWEEN : CUZK_CAUSE_SYNC;
}

/* A worker works on a unit of its device, or of another one. */
static bool is_work(const cuzk_timespan *s)
{
    return s->name == CUZK_SPAN_PROVE_START || s->name == CUZK_SPAN_PROVE_HELP;
}

/* Some worker's prove.start or prove.help holds at t, and its lane has not begun. */
static bool before_its_lane(const cuzk_recording *r, uint64_t t, int device)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        const cuzk_timespan *start = &r->spans[i];
        if (!is_work(start) || start->device != device || !holds(start, t)) {
            continue;
        }
        bool had = false;
        for (size_t k = 0; k < r->n_spans; k++) {
            const cuzk_timespan *lane = &r->spans[k];
            had = had || (lane->name == CUZK_SPAN_LANE && lane->device == device &&
                          lane->worker == start->worker && lane->begin_ns >= start->begin_ns &&
                          lane->begin_ns <= t);
        }
        if (!had) {
            return true;
        }
    }
    return false;
}

/* Units of known, unfinished jobs that no worker has taken at t. */
static int64_t ahead(const cuzk_recording *r, uint64_t t, size_t *n_jobs)
{
    int64_t n = 0;
    *n_jobs = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        if (r->spans[i].name != CUZK_SPAN_JOB || !holds(&r->spans[i], t)) {
            continue;
        }
        *n_jobs += 1;
        n += (int64_t)r->spans[i].value;
        for (size_t k = 0; k < r->n_spans; k++) {
            const cuzk_timespan *s = &r->spans[k];
            if (s->job == r->spans[i].job && s->begin_ns <= t) {
                n -= s->name == CUZK_SPAN_PROVE_START;
                n += s->name == CUZK_SPAN_RETRY;
            }
        }
    }
    return n;
}

static cuzk_cause slow_cause(const cuzk_recording *r, uint64_t t, int device)
{
    size_t n_jobs;
    if (count(r, t, CUZK_SPAN_COPY_UP, device) + count(r, t, CUZK_SPAN_COPY_DOWN, device) > 0) {
        return CUZK_CAUSE_COPY;
    }
    if (count(r, t, CUZK_SPAN_LANE, device) > 0) {
        return lane_cause(r, t, device);
    }
    if (count(r, t, CUZK_SPAN_LANE_WAIT, device) > 0) {
        return CUZK_CAUSE_LANE;
    }
    if (count(r, t, CUZK_SPAN_PROVE_START, device) + count(r, t, CUZK_SPAN_PROVE_HELP, device) >
        0) {
        return before_its_lane(r, t, device) ? CUZK_CAUSE_BEFORE : CUZK_CAUSE_AFTER;
    }
    if (count(r, t, CUZK_SPAN_WAIT_WORKER, -1) > 0) {
        return CUZK_CAUSE_HANDOVER;
    }
    if (count(r, t, CUZK_SPAN_WITNESS, -1) > 0) {
        return CUZK_CAUSE_WITNESS;
    }
    if (count(r, t, CUZK_SPAN_WAIT_MEMORY, -1) > 0) {
        return CUZK_CAUSE_MEMORY;
    }
    if (count(r, t, CUZK_SPAN_RESIDENT_LOAD, -1) > 0) {
        return CUZK_CAUSE_RESIDENT;
    }
    if (ahead(r, t, &n_jobs) > 0) {
        return CUZK_CAUSE_QUEUE;
    }
    if (count(r, t, CUZK_SPAN_DECODE, -1) > 0) {
        return CUZK_CAUSE_DECODE;
    }
    return n_jobs > 0 ? CUZK_CAUSE_TAIL : CUZK_CAUSE_NO_JOB;
}

/* Two workers and several devices at once; times are small, so that many moments fall together. */
static void any_unit(schedule *s, uint64_t job, int n_devices)
{
    uint64_t unused[CUZK_CAUSES_COUNT] = {0};
    uint64_t kernel_ns = 0;
    size_t first = s->recording.n_spans;
    s->now = 10 + cuzk_test_random(&s->seed) % 400;
    int worker = (int)(cuzk_test_random(&s->seed) % 2);
    schedule_unit(s, job, worker, 12, unused, &kernel_ns);
    int8_t device = (int8_t)(cuzk_test_random(&s->seed) % (uint64_t)n_devices);
    for (size_t i = first; i < s->recording.n_spans; i++) {
        cuzk_timespan *span = &s->recording.spans[i];
        span->device = span->device >= 0 ? device : -1;
    }
    int other = (device + 1) % n_devices;
    uint64_t length = cuzk_test_random(&s->seed) % 40;
    if (length > 20 && other != device) { /* it helps; its key has come before */
        schedule_put(s, CUZK_SPAN_PROVE_HELP, s->now - length, job, 0, other, worker);
        schedule_put(s, CUZK_SPAN_LANE, s->now - length / 2, job, 0, other, worker);
        s->now -= length;
        schedule_put(s, CUZK_SPAN_DEVICE_LOAD, s->now - 7, 0, -1, other, -1);
        s->now += length;
    }
}

/* A device's lane is held by one, and a worker does one thing at a time: drop what would not fit.
 */
static void make_sound(schedule *s)
{
    cuzk_recording *r = &s->recording;
    size_t n = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        bool fits = true;
        for (size_t k = 0; k < n && fits; k++) {
            const cuzk_timespan *a = &r->spans[k];
            const cuzk_timespan *b = &r->spans[i];
            bool are_lanes = a->name == CUZK_SPAN_LANE && b->name == CUZK_SPAN_LANE;
            bool exclusive = a->device == b->device &&
                             (are_lanes || (is_work(a) && is_work(b) && a->worker == b->worker));
            fits = !exclusive || a->end_ns <= b->begin_ns || b->end_ns <= a->begin_ns;
        }
        if (fits) {
            r->spans[n++] = r->spans[i];
        }
    }
    r->n_spans = n;
}

static void test_any_schedule(void **state)
{
    (void)state;
    size_t seen[CUZK_CAUSES_COUNT] = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        schedule s = {.seed = seed};
        int n_devices = 1 + (int)(seed % 3);
        for (uint64_t job = 1; job <= 1 + seed % 7; job++) {
            any_unit(&s, job, n_devices);
        }
        make_sound(&s);
        schedule_end(&s);
        const cuzk_recording *r = &s.recording;
        cuzk_analysis a = analyse(
            &s, (cuzk_analysis_options){.slice_ns = 1 + seed % 50, .with_slice_causes = true});
        check_sums(&a);
        for (size_t d = 0; d < a.n_devices; d++) {
            uint64_t causes[CUZK_CAUSES_COUNT] = {0};
            uint64_t blocked = 0;
            uint64_t n_gaps = 0;
            bool was_gap = false;
            for (uint64_t t = r->begin_ns; t < r->end_ns; t++) {
                bool is_gap = !kernel_runs(r, t, (int)d);
                n_gaps += is_gap && !was_gap;
                was_gap = is_gap;
                if (is_gap) {
                    causes[slow_cause(r, t, (int)d)]++;
                    blocked += count(r, t, CUZK_SPAN_LANE, (int)d) > 0 &&
                               count(r, t, CUZK_SPAN_LANE_WAIT, (int)d) > 0;
                }
            }
            uint64_t a_blocked = 0;
            for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
                assert_int_equal(a.devices[d].cause_ns[c], causes[c]);
                a_blocked += a.devices[d].blocked_ns[c];
                seen[c] += causes[c];
            }
            assert_int_equal(a_blocked, blocked);
            assert_int_equal(a.devices[d].n_gaps, n_gaps);
        }
        cuzk_analysis_clear(&a);
        cuzk_recording_clear(&s.recording);
    }
    for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
        assert_true((seen[c] > 0) == (c != CUZK_CAUSE_UNKNOWN));
    }
}

static void test_ranges(void **state)
{
    (void)state;
    schedule s = {.seed = 7, .now = 1000};
    uint64_t planted[CUZK_CAUSES_COUNT] = {0};
    uint64_t kernel_ns = 0;
    for (uint64_t job = 1; job <= 20; job++) {
        schedule_unit(&s, job, 0, 1000, planted, &kernel_ns);
    }
    schedule_end(&s);
    uint64_t begin = s.recording.begin_ns;
    uint64_t end = s.recording.end_ns;
    cuzk_analysis whole = analyse(&s, (cuzk_analysis_options){0});
    /* parts add up to the whole, wherever it is cut */
    for (uint64_t cut = begin; cut <= end; cut += (end - begin) / 13 + 1) {
        cuzk_analysis a = analyse(&s, (cuzk_analysis_options){.begin_ns = begin, .end_ns = cut});
        cuzk_analysis b = analyse(&s, (cuzk_analysis_options){.begin_ns = cut, .end_ns = end});
        check_sums(&a);
        check_sums(&b);
        for (size_t c = 0; c < CUZK_CAUSES_COUNT; c++) {
            assert_int_equal(a.devices[0].cause_ns[c] + b.devices[0].cause_ns[c],
                             whole.devices[0].cause_ns[c]);
        }
        assert_int_equal(a.devices[0].use.lane + b.devices[0].use.lane, whole.devices[0].use.lane);
        cuzk_analysis_clear(&a);
        cuzk_analysis_clear(&b);
    }
    /* a slice that is longer than all of it */
    cuzk_analysis one = analyse(&s, (cuzk_analysis_options){.slice_ns = UINT64_MAX});
    check_sums(&one);
    assert_int_equal(one.n_slices, 1);
    cuzk_analysis_clear(&one);
    /* only long gaps are listed, and all of them */
    cuzk_analysis some = analyse(&s, (cuzk_analysis_options){.gap_ns = 800});
    size_t n = 0;
    for (size_t g = 0; g < whole.n_gaps; g++) {
        n += whole.gaps[g].end_ns - whole.gaps[g].begin_ns >= 800;
    }
    assert_int_equal(some.n_gaps, n);
    assert_int_equal(some.devices[0].n_gaps, whole.devices[0].n_gaps);
    cuzk_analysis_clear(&some);
    cuzk_analysis_clear(&whole);
    cuzk_analysis a;
    cuzk_error err = {0};
    cuzk_analysis_options options = {.begin_ns = end, .end_ns = begin};
    assert_int_equal(cuzk_analyse(&a, &s.recording, &options, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "empty"));
    options = (cuzk_analysis_options){.begin_ns = 1, .end_ns = UINT64_MAX, .slice_ns = 1};
    memset(&err, 0, sizeof err);
    assert_int_equal(cuzk_analyse(&a, &s.recording, &options, &err), CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "slices"));
    cuzk_recording_clear(&s.recording);
}

/* Jobs of which the recording has only one end. */
static void test_cut_jobs(void **state)
{
    (void)state;
    schedule s = {.now = 100};
    schedule_put(&s, CUZK_SPAN_JOB_ACCEPTED, 100, 1, -1, -1, -1);
    s.recording.spans[0].value = 2; /* partitions */
    s.now = 150;
    schedule_put(&s, CUZK_SPAN_PROVE_START, 120, 1, 0, 0, 0);
    schedule_put(&s, CUZK_SPAN_PROVE_START, 120, 77, 0, 0, 1); /* of a job that began before */
    s.now = 200;
    schedule_put(&s, CUZK_SPAN_UNIT_DONE, 200, 1, 0, -1, -1);
    schedule_end(&s);
    cuzk_analysis a = analyse(&s, (cuzk_analysis_options){0});
    check_sums(&a);
    assert_int_equal(a.devices[0].cause_ns[CUZK_CAUSE_QUEUE], 70); /* its second unit waits */
    assert_int_equal(a.devices[0].cause_ns[CUZK_CAUSE_BEFORE], 30);
    cuzk_analysis_clear(&a);
    cuzk_recording_clear(&s.recording);
}

static void test_empty(void **state)
{
    (void)state;
    schedule s = {0};
    cuzk_analysis a = analyse(&s, (cuzk_analysis_options){0});
    assert_int_equal(a.n_devices + a.n_gaps + a.n_slices, 0);
    cuzk_analysis_clear(&a);
}

/* The case that started the project: 4.2 to 16.2 s for a unit, kernels 1.5 to 2 s of it, two
 * workers. Three ways to get there, which the analysis must tell apart. */
typedef enum { COARSE_LANE, SLOW_UPLOAD, LATE_WITNESS } history;

static cuzk_analysis historical(schedule *s, history which)
{
    const uint64_t ms = 1000000;
    for (uint64_t unit = 0; unit < 10; unit++) {
        uint64_t at = (10 + unit * 4) * 1000 * ms; /* a unit is completed every 4 s */
        int worker = (int)(unit % 2);
        uint64_t kernels = at + (which == COARSE_LANE ? 2300 : 0) * ms;
        uint64_t lane = at;
        s->now = kernels + 1700 * ms;
        schedule_put(s, CUZK_SPAN_KERNEL_TRANSFORMS, kernels, 1, (int)unit, 0, -1);
        /* with a coarse lane the next worker waits for all of it */
        uint64_t lane_end = which == COARSE_LANE ? at + 4000 * ms : s->now;
        s->now = lane_end;
        schedule_put(s, CUZK_SPAN_LANE, lane, 1, (int)unit, 0, worker);
        uint64_t start = which == LATE_WITNESS ? at - 1 * ms : at - (unit == 0 ? 0 : 4000 * ms);
        s->now = at;
        if (which == SLOW_UPLOAD) {
            schedule_put(s, CUZK_SPAN_COPY_UP, at - 2300 * ms, 1, (int)unit, 0, -1);
        } else if (which == COARSE_LANE) {
            schedule_put(s, CUZK_SPAN_LANE_WAIT, start, 1, (int)unit, 0, worker);
        } else {
            s->now = start;
            schedule_put(s, CUZK_SPAN_WITNESS, at - 4000 * ms, 1, (int)unit, -1, -1);
        }
        s->now = lane_end;
        schedule_put(s, CUZK_SPAN_PROVE_START, start, 1, (int)unit, 0, worker);
    }
    schedule_put(s, CUZK_SPAN_JOB, 0, 1, -1, -1, -1);
    s->recording.spans[s->recording.n_spans - 1].value = 10;
    schedule_end(s);
    return analyse(s, (cuzk_analysis_options){.begin_ns = 10000 * ms, .end_ns = 46000 * ms});
}

static cuzk_cause greatest(const cuzk_device_analysis *d)
{
    size_t best = 0;
    for (size_t c = 1; c < CUZK_CAUSES_COUNT; c++) {
        best = d->cause_ns[c] > d->cause_ns[best] ? c : best;
    }
    return (cuzk_cause)best;
}

static void test_the_historical_case(void **state)
{
    (void)state;
    static const cuzk_cause expected[] = {CUZK_CAUSE_BEFORE, CUZK_CAUSE_COPY, CUZK_CAUSE_WITNESS};
    for (int which = COARSE_LANE; which <= LATE_WITNESS; which++) {
        schedule s = {0};
        cuzk_analysis a = historical(&s, (history)which);
        check_sums(&a);
        const cuzk_device_analysis *d = &a.devices[0];
        cuzk_cause cause = greatest(d);
        assert_int_equal(cause, expected[which]);
        /* the same kernels in the same time: only the causes differ */
        assert_int_equal(d->use.kernel * 1000 / (a.end_ns - a.begin_ns), 425);
        /* and only a coarse lane keeps another worker waiting while no kernel runs */
        uint64_t blocked = d->blocked_ns[cause];
        assert_true(which == COARSE_LANE ? blocked > d->cause_ns[cause] * 8 / 10 : blocked == 0);
        cuzk_analysis_clear(&a);
        cuzk_recording_clear(&s.recording);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_any_schedule),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_cut_jobs),
        cmocka_unit_test(test_clock_error),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_the_historical_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
