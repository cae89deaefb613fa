/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Promises of engine.h that no other test holds the engine to: what is refused, times, the view of
 * a job, events in pairs, calls from callbacks, how many results are kept. */
#include "engine_test.h"

#include "base/clock.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what is refused ------------------------------------------------------------------------- */

static void test_options(void **state)
{
    (void)state;
    cuzk_engine_device devices[CUZK_ENGINE_DEVICES_MAX + 1];
    for (unsigned i = 0; i <= CUZK_ENGINE_DEVICES_MAX; i++) {
        devices[i] = (cuzk_engine_device){.id = "cpu", .name = "CPU", .n_workers = 1};
    }
    for (int fault = 0; fault < 11; fault++) {
        cuzk_engine_options o = {.devices = devices,
                                 .n_devices = 1,
                                 .budget_bytes = 1 << 20,
                                 .n_decoders = 1,
                                 .n_witness = 1,
                                 .n_finishers = 1,
                                 .n_verifiers = 1};
        static const char *const texts[] = {"1 to 16 devices, not 0",
                                            "1 to 16 devices, not 17",
                                            "cpu: 1 to 8 workers, not 0",
                                            "cpu: 1 to 8 workers, not 9",
                                            "a memory budget of 0 bytes",
                                            "with 1048576 of them",
                                            "with 18446744073709551615 of them",
                                            "needs a thread",
                                            "needs a thread",
                                            "needs a thread",
                                            "needs a thread"};
        devices[0].n_workers = fault == 2 ? 0 : fault == 3 ? CUZK_ENGINE_WORKERS_MAX + 1 : 1;
        o.n_devices = fault == 0 ? 0 : fault == 1 ? CUZK_ENGINE_DEVICES_MAX + 1 : 1;
        o.budget_bytes = fault == 4 ? 0 : o.budget_bytes;
        o.intake_bytes = fault == 5 ? o.budget_bytes : fault == 6 ? UINT64_MAX : 0;
        unsigned *const threads[] = {&o.n_decoders, &o.n_witness, &o.n_finishers, &o.n_verifiers};
        if (fault >= 7) {
            *threads[fault - 7] = 0;
        }
        cuzk_engine *engine = NULL;
        cuzk_error err = {0};
        assert_int_equal(cuzk_engine_create(&engine, &o, &err), CUZK_E_ARGUMENT);
        assert_null(engine);
        if (strstr(err.text, texts[fault]) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", texts[fault], err.text);
        }
    }
}

static void on_reserved(void *user, cuzk_status status, const char *error)
{
    (void)error;
    assert_int_equal(status, CUZK_OK);
    atomic_store((atomic_int *)user, 1);
}

static void test_submissions(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    char id[CUZK_REQUEST_ID_MAX + 2];
    memset(id, 'i', sizeof id - 1);
    id[CUZK_REQUEST_ID_MAX + 1] = '\0';
    test_call call;
    test_submit(&t, &call, id, 0, "n=1");
    test_wait_submitted(&call);
    assert_int_equal(call.status, CUZK_E_ARGUMENT);
    assert_non_null(strstr(call.error, "a request id of 959 bytes, at most 958 are taken"));
    test_submit(&t, &call, id + 1, 0, "n=1"); /* as long as it may be, whole in the answer */
    test_expect_completed(&call, "n=1", 1);
    assert_string_equal(call.job_id, id + 1);
    test_submit(&t, &call, id + 1, 0, "n=2"); /* and with another payload longer still */
    test_expect_completed(&call, "n=2", 1);
    assert_int_equal(strncmp(call.job_id, id + 1, CUZK_REQUEST_ID_MAX), 0);
    assert_in_range(strlen(call.job_id), CUZK_REQUEST_ID_MAX + 9, CUZK_JOB_ID_MAX - 1);
    assert_int_equal(call.job_id[CUZK_REQUEST_ID_MAX], '~');
    test_submit(&t, &call, "a", 5, "n=3");
    test_wait_submitted(&call);
    assert_int_equal(call.status, CUZK_E_ARGUMENT);
    assert_non_null(strstr(call.error, "priority 5; 1 (LOW) to 4 (CRITICAL)"));
    atomic_int is_reserved = 0;
    cuzk_engine_reserve(t.engine, 2, on_reserved, &is_reserved);
    while (atomic_load(&is_reserved) == 0) {
        sched_yield();
    }
    test_submit_reserved(&t, &call, "b", "n=4", 2); /* it is given back with the payload */
    test_wait_submitted(&call);
    assert_int_equal(call.status, CUZK_E_ARGUMENT);
    assert_non_null(strstr(call.error, "a payload of 3 bytes in a reservation of 2"));
    assert_int_equal(call.n_submitted_calls, 1);
    assert_false(call.has_result);
    cuzk_error err = {0};
    bool was = true;
    uint64_t bytes = 1;
    assert_int_equal(cuzk_engine_evict(t.engine, &was, &bytes, "null-z", &err), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "null-z"));
    assert_non_null(strstr(err.text, "null-a")); /* the list */
    err = (cuzk_error){0};
    assert_int_equal(cuzk_engine_preload(t.engine, &was, &bytes, "null-z", false, &err),
                     CUZK_E_NOT_FOUND);
    test_clear(&t);
}

/* A payload as large as can ever be taken in is; one byte more is refused with both numbers. */
static void test_largest_payload(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    uint64_t most = cuzk_engine_payload_max(t.engine);
    assert_in_range(most, 1 << 16, t.options.budget_bytes);
    char *payload = calloc(1, most + 1), wanted[120];
    memcpy(payload, "units=2", 8);
    test_call call;
    test_submit_bytes(&t, &call, "more", payload, most + 1);
    test_wait_submitted(&call);
    assert_int_equal(call.status, CUZK_E_MEMORY);
    snprintf(wanted, sizeof wanted,
             "a payload of %llu bytes can never be taken in: at most %llu bytes can",
             (unsigned long long)most + 1, (unsigned long long)most);
    assert_non_null(strstr(call.error, wanted));
    test_submit_bytes(&t, &call, "most", payload, most);
    test_wait_result(&call);
    assert_int_equal(call.status, CUZK_OK);
    assert_int_equal(call.state, CUZK_JOB_COMPLETED);
    assert_int_equal(call.answer_bytes, 2 * NULL_PROOF_BYTES);
    test_call_clear(&call);
    free(payload);
    test_clear(&t);
}

/* ---- times and views ------------------------------------------------------------------------- */

/* What is summed over units is at least what the units took, and never more than all threads had.
 */
static void test_times(void **state)
{
    (void)state;
    enum { US = 1000, UNITS = 3, WITNESS = 2000, PROVE = 1000, LANE = 1500, FINISH = 500 };
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    test_call call;
    const char *payload = "units=3 witness_us=2000 prove_us=1000 lane_us=1500 finish_us=500";
    uint64_t begin = cuzk_now_ns();
    test_submit(&t, &call, "timed", 0, payload);
    test_wait_result(&call);
    uint64_t wall = cuzk_now_ns() - begin;
    const cuzk_job_result *r = &call.times;
    assert_int_equal(r->state, CUZK_JOB_COMPLETED);
    assert_in_range(r->total_ns, 1, wall);
    assert_true(r->queue_ns <= r->total_ns);
    assert_true(r->witness_ns >= (uint64_t)UNITS * WITNESS * US);
    assert_true(r->lane_ns >= (uint64_t)UNITS * LANE * US);
    assert_true(r->prove_ns >= (uint64_t)UNITS * (PROVE + LANE + FINISH) * US);
    assert_true(r->prove_ns >= r->lane_ns);
    assert_true(r->lane_ns <= r->total_ns); /* one device has one lane */
    assert_true(r->witness_ns <= r->total_ns * t.options.n_witness);
    test_call_clear(&call);
    test_clear(&t);
}

/* The view of one job, while its second unit is held on the device. */
static void test_view_of_a_job(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.devices[0].n_workers = 1;
    t.options.n_witness = 1; /* units come to the device one after the other */
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "units=4", 1);
    test_call call, other;
    test_submit(&t, &call, "seen", CUZK_PRIORITY_HIGH, "units=4");
    test_gate_wait(&t, g, 1);
    test_await(&t, &other, "seen", 0);
    cuzk_engine_view view = {.n_jobs = 0};
    cuzk_error err = {0};
    do { /* until the first unit is told to be done */
        cuzk_engine_view_clear(&view);
        sched_yield();
        assert_int_equal(cuzk_engine_look(t.engine, &view, true, &err), CUZK_OK);
        assert_int_equal(view.n_jobs, 1);
    } while (view.jobs[0].n_done == 0);
    const cuzk_job_view *job = &view.jobs[0];
    assert_string_equal(job->job_id, "seen");
    assert_int_equal(job->priority, CUZK_PRIORITY_HIGH);
    assert_int_equal(job->state, CUZK_JOB_RUNNING);
    assert_int_equal(job->n_units, 4);
    assert_int_equal(job->n_done, 1);
    assert_int_equal(job->n_waiters, 2);
    assert_null(job->error);
    assert_true(job->started_ns_ago > 0 && job->started_ns_ago <= job->age_ns);
    assert_true(job->age_ns <= view.uptime_ns);
    assert_int_equal(job->units[0].state, CUZK_UNIT_DONE);
    assert_true(job->units[0].prove_ns > 0);
    assert_int_equal(job->units[1].state, CUZK_UNIT_DEVICE);
    assert_int_equal(job->units[3].prove_ns, 0);
    assert_int_equal(view.kinds[1].pending, 0);
    assert_int_equal(view.kinds[1].in_progress, 1);
    unsigned n_busy = 0;
    for (unsigned i = 0; i < view.n_workers; i++) {
        if (view.workers[i].is_busy) {
            n_busy++;
            assert_string_equal(view.workers[i].job_id, "seen");
            assert_int_equal(view.workers[i].unit, 1);
            assert_int_equal(view.workers[i].kind, 1);
        } else {
            assert_null(view.workers[i].job_id);
        }
    }
    assert_int_equal(n_busy, 1);
    assert_true(view.reserved_bytes <= view.peak_bytes && view.peak_bytes <= view.budget_bytes);
    cuzk_engine_view_clear(&view);
    test_gate_open(&t, g);
    test_expect_completed(&call, "units=4", 4);
    test_expect_completed(&other, "units=4", 4);
    /* an ended job stays in the view for a while, without units where they are not asked for */
    assert_int_equal(cuzk_engine_look(t.engine, &view, false, &err), CUZK_OK);
    assert_int_equal(view.n_jobs, 1);
    assert_int_equal(view.jobs[0].state, CUZK_JOB_COMPLETED);
    assert_int_equal(view.jobs[0].n_done, 4);
    assert_null(view.jobs[0].units);
    cuzk_engine_view_clear(&view);
    test_clear(&t);
}

/* Jobs that were queued before it: counted for everyone that is accepted. */
static void test_queue_positions(void **state)
{
    (void)state;
    enum { N = 6 };
    engine_test t;
    test_init(&t);
    t.options.n_decoders = 1; /* one is accepted after the other */
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_WITNESS, "blocks", -1);
    test_call blocks[2], calls[N];
    static const char *const held[] = {"blocks n=1", "blocks n=2"};
    for (int i = 0; i < 2; i++) {
        test_submit(&t, &blocks[i], held[i], 0, held[i]);
    }
    test_gate_wait(&t, g, 2);
    char payloads[N][16];
    for (unsigned i = 0; i < N; i++) {
        snprintf(payloads[i], sizeof payloads[i], "n=%u", i);
        test_submit(&t, &calls[i], payloads[i], 0, payloads[i]);
        test_wait_submitted(&calls[i]);
        assert_int_equal(calls[i].queue_position, i);
        assert_int_equal(test_look(&t).kinds[1].pending, i + 1);
    }
    test_gate_open(&t, g);
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], payloads[i], 1);
    }
    for (int i = 0; i < 2; i++) {
        test_expect_completed(&blocks[i], held[i], 1);
    }
    test_clear(&t);
}

/* ---- events ---------------------------------------------------------------------------------- */

enum { THREADS_MAX = 64, OPEN_MAX = 8 };

/* Spans that are open on each thread. */
struct spans {
    void (*next)(void *user, const cuzk_event *event);
    void *next_user;
    pthread_mutex_t lock;
    struct {
        pthread_t thread;
        cuzk_event open[OPEN_MAX];
        unsigned n_open;
    } threads[THREADS_MAX];
    unsigned n_threads, n_begun, n_ended;
    char fault[200]; /* the first one */
    uint64_t last_ns;
};

static unsigned thread_of(struct spans *s)
{
    pthread_t self = pthread_self();
    unsigned i = 0;
    while (i < s->n_threads && !pthread_equal(s->threads[i].thread, self)) {
        i++;
    }
    if (i == s->n_threads && i < THREADS_MAX - 1) {
        s->threads[s->n_threads++].thread = self;
    }
    return i;
}

static void fault(struct spans *s, const char *what, const cuzk_event *e)
{
    if (s->fault[0] == '\0') {
        snprintf(s->fault, sizeof s->fault, "%s: event %d of job %.60s, unit %d", what, (int)e->id,
                 e->job_id != NULL ? e->job_id : "-", e->unit);
    }
}

static void watch_spans(void *user, const cuzk_event *e)
{
    struct spans *s = (struct spans *)user;
    pthread_mutex_lock(&s->lock);
    unsigned i = thread_of(s), n = s->threads[i].n_open;
    if (e->phase == CUZK_EVENT_BEGIN) {
        s->n_begun++;
        if (n == OPEN_MAX) {
            fault(s, "too many spans are open", e);
        } else {
            s->threads[i].open[s->threads[i].n_open++] = *e;
        }
    } else if (e->phase == CUZK_EVENT_END) {
        s->n_ended++;
        const cuzk_event *open = n > 0 ? &s->threads[i].open[n - 1] : NULL;
        if (open == NULL || open->id != e->id || open->job != e->job || open->unit != e->unit) {
            fault(s, "an end without its begin on this thread", e);
        } else {
            s->threads[i].n_open--;
            if (open->ns > e->ns || open->device != e->device || open->worker != e->worker) {
                fault(s, "a begin that is not of its end", e);
            }
        }
    }
    pthread_mutex_unlock(&s->lock);
    s->next(s->next_user, e);
}

/* Jobs of all sorts at once: some fail in each stage, some are cancelled, and every span that
 * begins ends on its thread, the inner ones first. */
static void test_spans_in_pairs(void **state)
{
    (void)state;
    enum { N = 60 };
    static const char *const faults[] = {
        "",
        " fail=witness",
        " fail=prove@1:E_DEVICE",
        " fail=finish",
        " fail=verify@0",
        " fail=assemble",
        " fail=decode:E_FORMAT",
        " lane_us=300 regions=2",
    };
    enum { FAULTS = sizeof faults / sizeof *faults };
    engine_test t;
    struct spans *spans = calloc(1, sizeof *spans);
    test_init(&t);
    pthread_mutex_init(&spans->lock, NULL);
    spans->next = t.options.observe;
    spans->next_user = t.options.observe_user;
    t.options.observe = watch_spans;
    t.options.observe_user = spans;
    t.options.device_faults = 1000; /* the device stays */
    test_start(&t, NULL);
    static test_call calls[N];
    static char payloads[N][80];
    for (int i = 0; i < N; i++) {
        char id[16];
        snprintf(id, sizeof id, "job-%d", i);
        snprintf(payloads[i], sizeof payloads[i], "units=%d n=%d%s", 1 + i % 3, i,
                 faults[i % FAULTS]);
        test_submit(&t, &calls[i], id, 1 + (unsigned)i % 4, payloads[i]);
        if (i % 7 == 6) {
            cuzk_error err = {0};
            bool was_running;
            (void)!cuzk_engine_cancel(t.engine, &was_running, id, &err);
        }
    }
    unsigned n_completed = 0;
    for (int i = 0; i < N; i++) {
        test_wait_result(&calls[i]);
        n_completed += calls[i].has_result && calls[i].state == CUZK_JOB_COMPLETED;
        test_call_clear(&calls[i]);
    }
    assert_true(n_completed >= N / FAULTS);
    test_stop(&t);
    if (spans->fault[0] != '\0') {
        fail_msg("%s", spans->fault);
    }
    assert_true(spans->n_begun > 5 * N);
    assert_int_equal(spans->n_begun, spans->n_ended);
    for (unsigned i = 0; i < spans->n_threads; i++) {
        assert_int_equal(spans->threads[i].n_open, 0);
    }
    test_clear(&t);
    pthread_mutex_destroy(&spans->lock);
    free(spans);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* A chain of jobs, each submitted from the result of the one before. */
struct chain {
    cuzk_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_left, n_results, n_awaited;
    bool failed, has_ended;
};

static void submit_next(struct chain *c);

static void on_awaited(void *user, const cuzk_job_result *result)
{
    struct chain *c = (struct chain *)user;
    pthread_mutex_lock(&c->lock);
    c->n_awaited += result->state == CUZK_JOB_COMPLETED;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void on_chain_submitted(void *user, const cuzk_submitted *answer)
{
    struct chain *c = (struct chain *)user;
    pthread_mutex_lock(&c->lock);
    c->failed = c->failed || answer->status != CUZK_OK;
    pthread_mutex_unlock(&c->lock);
}

/* Every function that a caller may use, from a callback. */
static void on_chain_result(void *user, const cuzk_job_result *result)
{
    struct chain *c = (struct chain *)user;
    cuzk_engine_view view;
    cuzk_error err = {0};
    bool ok = result->state == CUZK_JOB_COMPLETED && result->answer_bytes == NULL_PROOF_BYTES;
    bool was_running = true, was_loaded = false;
    uint64_t waiter, bytes;
    ok = ok && cuzk_engine_look(c->engine, &view, true, &err) == CUZK_OK;
    if (ok) {
        cuzk_engine_view_clear(&view);
    }
    ok = ok && cuzk_engine_cancel(c->engine, &was_running, result->job_id, &err) == CUZK_OK &&
         !was_running; /* it has ended */
    ok = ok &&
         cuzk_engine_await(c->engine, &waiter, result->job_id, 0, on_awaited, c, &err) == CUZK_OK;
    ok = ok && cuzk_engine_evict(c->engine, &was_loaded, &bytes, "null-a", &err) == CUZK_OK;
    pthread_mutex_lock(&c->lock);
    c->failed = c->failed || !ok;
    c->n_results++;
    bool is_last = --c->n_left == 0;
    c->has_ended = is_last;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!is_last) {
        submit_next(c);
    }
}

static void submit_next(struct chain *c)
{
    char text[32];
    pthread_mutex_lock(&c->lock);
    snprintf(text, sizeof text, "n=%u", c->n_left);
    pthread_mutex_unlock(&c->lock);
    cuzk_submission s = {.kind = 1,
                         .payload = malloc(sizeof text),
                         .payload_bytes = strlen(text),
                         .on_submitted = on_chain_submitted,
                         .on_result = on_chain_result,
                         .user = c};
    memcpy(s.payload, text, s.payload_bytes);
    cuzk_engine_submit(c->engine, &s, NULL);
}

static void test_calls_from_callbacks(void **state)
{
    (void)state;
    enum { N = 40 };
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    struct chain c = {.engine = t.engine, .n_left = N};
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    submit_next(&c);
    pthread_mutex_lock(&c.lock);
    while (!c.has_ended || c.n_awaited < N) {
        pthread_cond_wait(&c.changed, &c.lock);
        assert_false(c.failed);
    }
    pthread_mutex_unlock(&c.lock);
    assert_int_equal(c.n_results, N);
    assert_int_equal(test_look(&t).kinds[1].completed, N);
    test_clear(&t);
    pthread_mutex_destroy(&c.lock);
    pthread_cond_destroy(&c.changed);
}

/* ---- kept results ---------------------------------------------------------------------------- */

/* No more than CUZK_ENGINE_KEPT_MAX ended jobs are in memory, the youngest; the view has as many.
 */
static void test_kept_jobs(void **state)
{
    (void)state;
    enum { N = CUZK_ENGINE_KEPT_MAX + 20 };
    engine_test t;
    test_init(&t);
    t.keeps_events = false;
    test_start(&t, NULL);
    static test_call calls[N];
    static char names[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "n=%d", i);
        test_submit(&t, &calls[i], names[i], 0, names[i]);
        if (i % 100 == 99) { /* one after another, by hundreds */
            test_wait_result(&calls[i]);
        }
    }
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], names[i], 1);
    }
    unsigned n_found = 0;
    for (int i = 0; i < N; i++) {
        test_call call;
        test_await(&t, &call, names[i], 0);
        n_found += call.status == CUZK_OK;
        assert_true(call.status == CUZK_OK || call.status == CUZK_E_NOT_FOUND);
        assert_true(i < N - 20 || call.status == CUZK_OK); /* those of the last moment */
        if (call.status == CUZK_OK) {
            test_wait_result(&call);
            assert_int_equal(call.state, CUZK_JOB_COMPLETED);
        }
        test_call_clear(&call);
    }
    assert_int_equal(n_found, CUZK_ENGINE_KEPT_MAX);
    cuzk_engine_view view;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_look(t.engine, &view, false, &err), CUZK_OK);
    assert_in_range(view.n_jobs, 1, CUZK_ENGINE_KEPT_MAX);
    assert_int_equal(view.kinds[1].completed, N);
    cuzk_engine_view_clear(&view);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),         cmocka_unit_test(test_submissions),
        cmocka_unit_test(test_largest_payload), cmocka_unit_test(test_times),
        cmocka_unit_test(test_view_of_a_job),   cmocka_unit_test(test_queue_positions),
        cmocka_unit_test(test_spans_in_pairs),  cmocka_unit_test(test_calls_from_callbacks),
        cmocka_unit_test(test_kept_jobs),
    };
    return cmocka_run_group_tests_name("engine: promises", tests, NULL, NULL);
}
