/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of jobs against what was planted; quantiles against counting. */
#include "random.h"
#include "schedule.h"
#include "timeline/job_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static cuzk_job_times *get(const schedule *s, size_t *n)
{
    cuzk_job_times *jobs;
    cuzk_error err = {0};
    assert_int_equal(cuzk_job_times_get(&jobs, n, &s->recording, &err), CUZK_OK);
    return jobs;
}

static uint64_t total(const cuzk_job_times *job)
{
    uint64_t ns = 0;
    for (size_t p = 0; p < CUZK_JOB_PARTS_COUNT; p++) {
        ns += job->part_ns[p];
    }
    return ns;
}

/* One span of each stage, and those of a device that helps; parts are 1, 2, 4, ... ns. */
static void put_way(schedule *s, uint64_t job, int unit, uint64_t accepted)
{
    s->now = accepted + 1 + 2;
    schedule_put(s, CUZK_SPAN_WITNESS, s->now - 2, job, unit, -1, -1);
    uint64_t start = s->now + 4;
    s->now = start + 8 + 16;
    schedule_put(s, CUZK_SPAN_LANE_WAIT, start + 8, job, unit, 0, 0);
    s->now += 32;
    schedule_put(s, CUZK_SPAN_LANE, s->now - 32, job, unit, 0, 0);
    s->now += 40;
    schedule_put(s, CUZK_SPAN_PROVE_HELP, start + 9, job, unit, 1, 0);
    schedule_put(s, CUZK_SPAN_LANE_WAIT, start + 30, job, unit, 1, 0);
    schedule_put(s, CUZK_SPAN_LANE, start + 50, job, unit, 1, 0);
    s->now += 24;
    schedule_put(s, CUZK_SPAN_PROVE_START, start, job, unit, 0, 0);
    s->now += 128;
    schedule_put(s, CUZK_SPAN_PROVE_FINISH, s->now - 100, job, unit, -1, -1);
    s->now += 256;
    schedule_put(s, CUZK_SPAN_VERIFY, s->now - 100, job, unit, -1, -1);
}

static void test_parts(void **state)
{
    (void)state;
    schedule s = {0};
    put_way(&s, 5, 0, 1000); /* not the last one */
    put_way(&s, 5, 1, 2000);
    put_way(&s, 5, 1, 3000); /* proved again: this way counts, the queue is longer */
    s.now += 512;
    schedule_put(&s, CUZK_SPAN_JOB, 1000, 5, -1, -1, -1);
    schedule_put(&s, CUZK_SPAN_JOB, s.now - 7, 4, -1, -1, -1); /* cancelled before anything */
    schedule_end(&s);
    size_t n;
    cuzk_job_times *jobs = get(&s, &n);
    assert_int_equal(n, 2);
    assert_int_equal(jobs[0].job, 4);
    assert_int_equal(jobs[0].last_unit, -1);
    assert_int_equal(total(&jobs[0]), 0);
    assert_int_equal(jobs[1].last_unit, 1);
    assert_int_equal(jobs[1].n_attempts, 3);
    assert_int_equal(jobs[1].part_ns[CUZK_JOB_PART_QUEUE], 2001);
    for (unsigned p = 1, bit = 1; p < CUZK_JOB_PARTS_COUNT; p++) {
        if (p == CUZK_JOB_PART_ATTEMPTS) {
            assert_int_equal(jobs[1].part_ns[p], 0); /* its witness was made anew */
            continue;
        }
        assert_int_equal(jobs[1].part_ns[p], 1 << bit++);
    }
    assert_int_equal(total(&jobs[1]), jobs[1].end_ns - jobs[1].begin_ns);
    free(jobs);
    cuzk_recording_clear(&s.recording);
}

/* A proof that was bad: its time is neither the queue's nor a wait for a worker. */
static void test_attempts(void **state)
{
    (void)state;
    schedule s = {0};
    put_way(&s, 5, 0, 1000);
    uint64_t again = s.now;
    s.now += 40;
    schedule_put(&s, CUZK_SPAN_WAIT_WORKER, again, 5, 0, -1, -1);
    s.now += 100;
    schedule_put(&s, CUZK_SPAN_PROVE_START, s.now - 100, 5, 0, 0, 0);
    s.now += 7;
    schedule_put(&s, CUZK_SPAN_VERIFY, s.now - 7, 5, 0, -1, -1);
    schedule_put(&s, CUZK_SPAN_JOB, 1000, 5, -1, -1, -1);
    schedule_end(&s);
    size_t n;
    cuzk_job_times *jobs = get(&s, &n);
    assert_int_equal(n, 1);
    assert_int_equal(jobs[0].part_ns[CUZK_JOB_PART_QUEUE], 1);
    assert_int_equal(jobs[0].part_ns[CUZK_JOB_PART_WITNESS], 2);
    assert_int_equal(jobs[0].part_ns[CUZK_JOB_PART_ATTEMPTS], again - 1003);
    assert_int_equal(jobs[0].part_ns[CUZK_JOB_PART_WORKER], 40);
    assert_int_equal(total(&jobs[0]), jobs[0].end_ns - jobs[0].begin_ns);
    free(jobs);
    cuzk_recording_clear(&s.recording);
}

/* Whatever spans are missing, parts add up. */
static void test_missing_spans(void **state)
{
    (void)state;
    for (unsigned missing = 0; missing < 32; missing++) {
        schedule s = {0};
        put_way(&s, 5, 0, 1000);
        s.now += 512;
        schedule_put(&s, CUZK_SPAN_JOB, 1000, 5, -1, -1, -1);
        size_t k = 0;
        for (size_t i = 0; i < s.recording.n_spans; i++) { /* all but verify and job */
            if (i >= 5 || (missing >> i & 1) == 0) {
                s.recording.spans[k++] = s.recording.spans[i];
            }
        }
        s.recording.n_spans = k;
        schedule_end(&s);
        size_t n;
        cuzk_job_times *jobs = get(&s, &n);
        assert_int_equal(n, 1);
        assert_int_equal(total(&jobs[0]), 1023);
        free(jobs);
        cuzk_recording_clear(&s.recording);
    }
}

static void test_span_times(void **state)
{
    (void)state;
    for (size_t count = 1; count < 500; count = 2 * count + 1) {
        schedule s = {.seed = count};
        for (size_t i = 0; i < count; i++) { /* lengths 1 … count, in some order */
            s.now = 1000 + (i * 7919 % count) + 1;
            schedule_put(&s, CUZK_SPAN_WITNESS, 1000, 1 + i % 2, 0, -1, -1);
            s.recording.spans[s.recording.n_spans - 1].kind = 3;
            schedule_put(&s, CUZK_SPAN_UNIT_DONE, s.now, 1, 0, -1, -1);
        }
        schedule_put(&s, CUZK_SPAN_DECODE, s.now - 1, 0, -1, -1, -1);
        schedule_end(&s);
        cuzk_span_times *times;
        size_t n;
        cuzk_error err = {0};
        assert_int_equal(cuzk_span_times_get(&times, &n, &s.recording, &err), CUZK_OK);
        assert_int_equal(n, 2);
        assert_int_equal(times[0].name, CUZK_SPAN_DECODE);
        assert_int_equal(times[0].kind, CUZK_RECORDING_KINDS);
        const cuzk_span_times *t = &times[1];
        assert_int_equal(t->name, CUZK_SPAN_WITNESS);
        assert_int_equal(t->kind, 3);
        assert_int_equal(t->n, count);
        bool is_whole = count % 7919 != 0; /* then each length stands once */
        assert_true(is_whole);
        assert_int_equal(t->total_ns, count * (count + 1) / 2);
        assert_int_equal(t->max_ns, count);
        assert_int_equal(t->p50_ns, (count * 50 + 99) / 100);
        assert_int_equal(t->p90_ns, (count * 90 + 99) / 100);
        assert_int_equal(t->p99_ns, (count * 99 + 99) / 100);
        free(times);
        cuzk_recording_clear(&s.recording);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_attempts),
        cmocka_unit_test(test_missing_spans),
        cmocka_unit_test(test_span_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
