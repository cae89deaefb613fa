/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The recording in memory: what is kept and told, its bounds, and many threads at once. */
#include "server/recent.h"

#include "base/clock.h"
#include "timeline/recording.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_timespan span(cuzk_span_name name, uint64_t job, uint64_t begin_ns, uint64_t end_ns)
{
    return (cuzk_timespan){.begin_ns = begin_ns,
                           .end_ns = end_ns,
                           .job = job,
                           .value = 1,
                           .name = (uint16_t)name,
                           .device = -1,
                           .worker = -1};
}

/* n spans of a job as pieces that were taken now; starts: they are prove.start. */
static void put(cuzk_recent *recent, uint64_t job, size_t n, size_t n_starts)
{
    cuzk_text text = {0};
    cuzk_recent_start starts[64];
    uint64_t now = cuzk_now_ns();
    for (size_t i = 0; i < n; i++) {
        cuzk_timespan s = span(CUZK_SPAN_VERIFY, job, now - 1000, now - i % 7);
        cuzk_recording_put_spans(&text, &s, 1);
    }
    for (size_t i = 0; i < n_starts; i++) {
        starts[i] = (cuzk_recent_start){job, 1};
    }
    cuzk_recent_pieces pieces = {text.data, text.size, n, starts, n_starts};
    cuzk_recent_put(recent, &pieces);
    cuzk_text_clear(&text);
}

/* What a copy tells. */
static uint64_t look(cuzk_recent *recent, cuzk_recording *out, uint64_t since_ns, size_t n_max,
                     uint64_t *begin_ns)
{
    cuzk_text text = {0};
    cuzk_error err = {0};
    cuzk_recording_put_start(&text, 1, 1);
    uint64_t end_ns = cuzk_recent_copy(recent, &text, begin_ns, since_ns, n_max);
    assert_false(text.failed);
    if (cuzk_recording_read(out, (const uint8_t *)text.data, text.size, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(out->n_bytes_after, 0);
    cuzk_text_clear(&text);
    return end_ns;
}

static size_t count(const cuzk_recording *r, cuzk_span_name name, uint64_t job)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_spans; i++) {
        n += r->spans[i].name == name && r->spans[i].job == job;
    }
    return n;
}

static void test_kept(void **state)
{
    (void)state;
    cuzk_recent *recent = cuzk_recent_create(1 << 20);
    cuzk_recording r;
    uint64_t begin_ns, before = cuzk_now_ns();
    put(recent, 1, 10, 0);
    put(recent, 2, 20, 0);
    uint64_t end_ns = look(recent, &r, 0, 1000, &begin_ns);
    assert_true(end_ns >= before && begin_ns <= end_ns);
    assert_int_equal(r.n_spans, 30);
    assert_int_equal(count(&r, CUZK_SPAN_VERIFY, 2), 20);
    cuzk_recording_clear(&r);
    /* whole pieces, the newest; from where on is told */
    look(recent, &r, 0, 29, &begin_ns);
    assert_int_equal(r.n_spans, 20);
    assert_true(begin_ns >= before);
    cuzk_recording_clear(&r);
    /* since a time */
    look(recent, &r, end_ns + 1, 1000, &begin_ns);
    assert_int_equal(r.n_spans, 0);
    cuzk_recording_clear(&r);
    cuzk_recent_destroy(recent);
}

static void test_bounds(void **state)
{
    (void)state;
    enum { LIMIT = 4096 };
    cuzk_recent *recent = cuzk_recent_create(LIMIT);
    cuzk_recording r;
    uint64_t begin_ns;
    for (uint64_t job = 1; job <= 100; job++) {
        put(recent, job, 10, 0);
    }
    look(recent, &r, 0, 100000, &begin_ns);
    assert_int_equal(count(&r, CUZK_SPAN_VERIFY, 100), 10);
    assert_int_equal(count(&r, CUZK_SPAN_VERIFY, 1), 0);
    assert_true(r.n_spans * 5 < LIMIT);
    assert_int_equal(r.n_lost, 0);
    cuzk_recording_clear(&r);
    put(recent, 101, 1000, 0); /* more than there is room for at all */
    look(recent, &r, 0, 100000, &begin_ns);
    assert_int_equal(r.n_lost, 1000);
    cuzk_recording_clear(&r);
    cuzk_recent_destroy(recent);
}

static void test_open(void **state)
{
    (void)state;
    cuzk_recent *recent = cuzk_recent_create(1 << 20);
    cuzk_recording r;
    uint64_t begin_ns, begun = cuzk_now_ns();
    int slots[CUZK_RECENT_OPEN];
    cuzk_timespan s = span(CUZK_SPAN_WITNESS, 7, begun, 0);
    for (size_t i = 0; i < CUZK_RECENT_OPEN; i++) {
        slots[i] = cuzk_recent_begin(recent, &s);
        assert_true(slots[i] >= 0);
    }
    assert_int_equal(cuzk_recent_begin(recent, &s), -1);
    cuzk_recent_end(recent, -1);
    put(recent, 1, 1, 0);
    uint64_t end_ns = look(recent, &r, 0, 1000, &begin_ns);
    assert_int_equal(count(&r, CUZK_SPAN_WITNESS, 7), CUZK_RECENT_OPEN);
    for (size_t i = 0; i < r.n_spans; i++) {
        assert_true(r.spans[i].name != CUZK_SPAN_WITNESS ||
                    (r.spans[i].begin_ns == begun && r.spans[i].end_ns == end_ns));
    }
    cuzk_recording_clear(&r);
    for (size_t i = 0; i < CUZK_RECENT_OPEN; i++) {
        cuzk_recent_end(recent, slots[i]);
    }
    put(recent, 1, 1, 0);
    look(recent, &r, 0, 1000, &begin_ns);
    assert_int_equal(count(&r, CUZK_SPAN_WITNESS, 7), 0);
    cuzk_recording_clear(&r);
    cuzk_recent_destroy(recent);
}

/* Of a job whose beginning was dropped, the units that are left are told. */
static void test_jobs(void **state)
{
    (void)state;
    cuzk_recent *recent = cuzk_recent_create(4096);
    cuzk_recording r;
    uint64_t begin_ns, now = cuzk_now_ns();
    cuzk_timespan accepted = span(CUZK_SPAN_JOB_ACCEPTED, 7, now, now);
    accepted.value = 10;
    cuzk_recent_job(recent, &accepted);
    accepted.job = 8;
    cuzk_recent_job(recent, &accepted);
    put(recent, 7, 5, 3);
    look(recent, &r, 0, 1000, &begin_ns);
    assert_int_equal(count(&r, CUZK_SPAN_JOB_ACCEPTED, 7), 0); /* its pieces are there */
    cuzk_recording_clear(&r);
    for (size_t n = 0; n < 2; n++) { /* left out, not dropped: the same each time */
        look(recent, &r, 0, 4, &begin_ns);
        assert_int_equal(count(&r, CUZK_SPAN_JOB_ACCEPTED, 7), 1);
        assert_int_equal(r.spans[0].job == 7 ? r.spans[0].value : r.spans[1].value, 10 - 3);
        assert_int_equal(r.n_spans, 2);
        cuzk_recording_clear(&r);
    }
    for (size_t i = 0; i < 100; i++) {
        put(recent, 9, 10, 0);
    }
    put(recent, 7, 5, 2);
    cuzk_recent_job_ended(recent, 8);
    cuzk_recent_job_ended(recent, 9); /* nobody knows it */
    look(recent, &r, 0, 1000, &begin_ns);
    assert_int_equal(count(&r, CUZK_SPAN_JOB_ACCEPTED, 7), 1);
    assert_int_equal(count(&r, CUZK_SPAN_JOB_ACCEPTED, 8), 0);
    for (size_t i = 0; i < r.n_spans; i++) {
        assert_true(r.spans[i].name != CUZK_SPAN_JOB_ACCEPTED || r.spans[i].value == 10 - 3);
    }
    cuzk_recording_clear(&r);
    cuzk_recent_destroy(recent);
}

/* Many unfinished jobs whose numbers share slots, ended in any order: exactly those that are left
 * are told. */
static void test_many_jobs(void **state)
{
    (void)state;
    enum { JOBS = 3000, STEPS = 20000 };
    static bool is_there[JOBS];
    cuzk_recent *recent = cuzk_recent_create(4096);
    cuzk_recording r;
    uint64_t begin_ns, now = cuzk_now_ns(), random = 12345;
    size_t n_there = 0;
    for (size_t step = 0; step < STEPS; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t i = (random >> 33) % JOBS;
        /* every third number has the same place as the one before it */
        cuzk_timespan s =
            span(CUZK_SPAN_JOB_ACCEPTED, 1 + i - i % 3 + i % 3 * 2 * CUZK_RECENT_JOBS, now, now);
        if (is_there[i]) {
            cuzk_recent_job_ended(recent, s.job);
        } else {
            cuzk_recent_job(recent, &s);
        }
        is_there[i] = !is_there[i];
        n_there += is_there[i] ? 1 : (size_t)-1;
    }
    put(recent, 1u << 30, 1, 0);
    look(recent, &r, cuzk_now_ns(), 1000, &begin_ns); /* their pieces are left out */
    assert_int_equal(r.n_spans, n_there);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(
            count(&r, CUZK_SPAN_JOB_ACCEPTED, 1 + i - i % 3 + i % 3 * 2 * CUZK_RECENT_JOBS),
            is_there[i]);
    }
    cuzk_recording_clear(&r);
    /* more than are kept: those that came first */
    for (uint64_t job = 1u << 20; job < (1u << 20) + 2 * CUZK_RECENT_JOBS; job++) {
        cuzk_timespan s = span(CUZK_SPAN_JOB_ACCEPTED, job, now, now);
        cuzk_recent_job(recent, &s);
    }
    look(recent, &r, cuzk_now_ns(), 1000, &begin_ns);
    assert_int_equal(r.n_spans, CUZK_RECENT_JOBS);
    cuzk_recording_clear(&r);
    cuzk_recent_destroy(recent);
}

enum { THREADS = 4, ROUNDS = 300 };

static void *work(void *user)
{
    cuzk_recent *recent = user;
    for (size_t i = 0; i < ROUNDS; i++) {
        cuzk_timespan s = span(CUZK_SPAN_LANE, i + 1, cuzk_now_ns(), 0);
        s.value = ~s.job; /* a torn span would show */
        int slot = cuzk_recent_begin(recent, &s);
        s.name = CUZK_SPAN_JOB_ACCEPTED; /* copies have unfinished jobs, too */
        s.value = 4;
        s.end_ns = s.begin_ns;
        cuzk_recent_job(recent, &s);
        put(recent, s.job, 3, 1);
        cuzk_recent_job_ended(recent, s.job);
        cuzk_recent_end(recent, slot);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    cuzk_recent *recent = cuzk_recent_create(1 << 16);
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, recent), 0);
    }
    cuzk_recording r;
    uint64_t begin_ns;
    for (size_t i = 0; i < ROUNDS / 10; i++) {
        look(recent, &r, 0, 1000, &begin_ns);
        for (size_t k = 0; k < r.n_spans; k++) {
            assert_true(r.spans[k].name != CUZK_SPAN_LANE || r.spans[k].value == ~r.spans[k].job);
        }
        cuzk_recording_clear(&r);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    put(recent, 1, 1, 0);
    look(recent, &r, 0, 100000, &begin_ns);
    assert_int_equal(count(&r, CUZK_SPAN_LANE, 1), 0);
    assert_int_equal(count(&r, CUZK_SPAN_JOB_ACCEPTED, 1), 0);
    cuzk_recording_clear(&r);
    cuzk_recent_destroy(recent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),      cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_open),      cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_many_jobs), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
