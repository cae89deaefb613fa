/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Everything at once: several callers submit, wait, leave, cancel, evict and look, while faults
 * happen; counters are exact at every instant, memory stays within the budget, every call is
 * answered once. Then the ends: drain, and a stop in the middle. */
#include "engine_test.h"
#include "memory_journal.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CALLERS = 4, JOBS = 250, UNITS_MAX_HERE = 5 };

static const null_circuit CIRCUITS[] = {
    {.name = "null-a", .bytes = 6 << 20, .device_bytes = 300},
    {.name = "null-b", .bytes = 6 << 20, .device_bytes = 300},
    {.name = "null-c", .bytes = 6 << 20, .device_bytes = 300},
};

typedef struct {
    engine_test *t;
    unsigned number;
    test_call calls[JOBS];
    char payloads[JOBS][160];
    unsigned n_units[JOBS];
    bool has_left[JOBS];
} caller;

static unsigned next(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*x >> 33);
}

static void *submit_all(void *arg)
{
    caller *c = (caller *)arg;
    uint64_t x = c->number;
    for (unsigned i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "%u-%u", c->number, i);
        c->n_units[i] = 1 + next(&x) % UNITS_MAX_HERE;
        const char *fails[] = {"",
                               "",
                               "",
                               "",
                               " fail=decode:E_FORMAT",
                               " fail=witness@0",
                               " fail=prove",
                               " fail=verify"};
        snprintf(c->payloads[i], sizeof c->payloads[i],
                 "units=%u circuit=null-%c witness=%u host=%u device=%u unchecked=1 n=%u-%u%s",
                 c->n_units[i], 'a' + (char)(next(&x) % 3), next(&x) % 3000000, next(&x) % 1000000,
                 next(&x) % 300, c->number, i, fails[next(&x) % 8]);
        test_submit(c->t, &c->calls[i], id, 1 + next(&x) % 4, c->payloads[i]);
        bool flag = false;
        uint64_t bytes = 0;
        char other[32];
        snprintf(other, sizeof other, "%u-%u", next(&x) % CALLERS, next(&x) % (i + 1));
        switch (next(&x) % 10) {
        case 0:
            (void)!cuzk_engine_cancel(c->t->engine, &flag, other, NULL);
            break;
        case 1:
            c->has_left[i] = cuzk_engine_leave(c->t->engine, c->calls[i].waiter);
            break;
        case 2:
            (void)!cuzk_engine_evict(c->t->engine, &flag, &bytes, CIRCUITS[next(&x) % 3].name,
                                     NULL);
            break;
        default:
            break;
        }
    }
    return NULL;
}

/* Whoever looks sees the same number of jobs in the counters and in the list. */
static void check_picture(engine_test *t)
{
    cuzk_engine_view view;
    assert_int_equal(cuzk_engine_look(t->engine, &view, true, NULL), CUZK_OK);
    unsigned queued = 0;
    unsigned running = 0;
    for (unsigned i = 0; i < view.n_jobs; i++) {
        queued += view.jobs[i].state == CUZK_JOB_QUEUED;
        running += view.jobs[i].state == CUZK_JOB_RUNNING;
        assert_true(view.jobs[i].n_done <= view.jobs[i].n_units);
    }
    assert_int_equal(queued, view.kinds[1].pending);
    assert_int_equal(running, view.kinds[1].in_progress);
    assert_true(view.reserved_bytes <= view.peak_bytes);
    assert_true(view.peak_bytes <= view.budget_bytes);
    assert_true(view.devices[0].reserved_bytes <= view.devices[0].memory_bytes);
    cuzk_engine_view_clear(&view);
}

typedef struct {
    engine_test *t;
    atomic_bool ends;
} watcher;

static void *watch(void *arg)
{
    watcher *w = (watcher *)arg;
    while (!atomic_load(&w->ends)) {
        check_picture(w->t);
    }
    return NULL;
}

/* What one call came to; counts by state. */
static void check_call(caller *c, unsigned i, uint64_t counts[6])
{
    test_call *call = &c->calls[i];
    test_wait_submitted(call);
    assert_int_equal(call->n_submitted_calls, 1);
    if (call->status != CUZK_OK) {
        assert_int_equal(call->status, CUZK_E_FORMAT);
        assert_non_null(strstr(c->payloads[i], "fail=decode"));
        assert_false(call->has_result);
        return;
    }
    if (c->has_left[i]) {
        assert_false(call->has_result);
        return;
    }
    test_wait_result(call);
    assert_int_equal(call->n_result_calls, 1);
    counts[call->state]++;
    if (call->state == CUZK_JOB_COMPLETED) {
        assert_null(strstr(c->payloads[i], "fail="));
        test_expect_completed(call, c->payloads[i], c->n_units[i]);
    } else {
        assert_true(call->state == CUZK_JOB_CANCELLED || strstr(c->payloads[i], "fail=") != NULL);
    }
    test_call_clear(call);
}

static void stress(cuzk_journal *journal)
{
    engine_test t;
    test_init(&t);
    t.keeps_events = false;
    t.options.journal = journal;
    t.options.budget_bytes = UINT64_C(48) << 20;
    t.options.intake_bytes = UINT64_C(24) << 20;
    t.options.attempts = 2;
    t.options.n_devices = 2;
    t.devices[0] = (cuzk_engine_device){.id = "dev:0", .n_workers = 2, .memory_bytes = 1000};
    t.devices[1] = (cuzk_engine_device){.id = "cpu", .n_workers = 1};
    test_start(&t, &(null_options){.circuits = CIRCUITS, .n_circuits = 3});
    static caller callers[CALLERS];
    memset(callers, 0, sizeof callers);
    pthread_t threads[CALLERS];
    pthread_t watching;
    watcher w = {.t = &t};
    atomic_init(&w.ends, false);
    pthread_create(&watching, NULL, watch, &w);
    for (unsigned k = 0; k < CALLERS; k++) {
        callers[k].t = &t;
        callers[k].number = k;
        pthread_create(&threads[k], NULL, submit_all, &callers[k]);
    }
    for (unsigned k = 0; k < CALLERS; k++) {
        pthread_join(threads[k], NULL);
    }
    uint64_t counts[6] = {0};
    for (unsigned k = 0; k < CALLERS; k++) {
        for (unsigned i = 0; i < JOBS; i++) {
            check_call(&callers[k], i, counts);
        }
    }
    /* those whose callers left end too; nothing is refused that was accepted */
    while (test_look(&t).kinds[1].pending + test_look(&t).kinds[1].in_progress > 0) {
        sched_yield();
    }
    atomic_store(&w.ends, true);
    pthread_join(watching, NULL);
    cuzk_engine_view view = test_look(&t);
    assert_true(view.kinds[1].completed >= counts[CUZK_JOB_COMPLETED]);
    assert_true(view.kinds[1].failed >= counts[CUZK_JOB_FAILED]);
    assert_true(view.kinds[1].cancelled >= counts[CUZK_JOB_CANCELLED]);
    assert_true(counts[CUZK_JOB_COMPLETED] > CALLERS * JOBS / 5);
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    assert_int_equal(test_look(&t).in_device + test_look(&t).in_witness, 0);
    test_clear(&t);
}

static void test_stress(void **state)
{
    (void)state;
    stress(NULL);
}

static void test_stress_with_journal(void **state)
{
    (void)state;
    cuzk_journal *journal = memory_journal_create();
    stress(journal);
    memory_journal_destroy(journal);
}

/* Drain: what was accepted is done, what comes is refused, what waits for memory too. */
static void test_drain(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "", 0);
    test_call calls[20], late;
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, "units=2");
        test_wait_submitted(&calls[i]);
    }
    test_gate_wait(&t, g, 1);
    uint64_t from = cuzk_now_ns();
    assert_false(cuzk_engine_drain(t.engine, from + 20000000)); /* at most until then */
    assert_true(cuzk_now_ns() - from >= 20000000);
    assert_true(test_look(&t).is_draining);
    test_submit(&t, &late, "late", 0, "n=1");
    test_wait_result(&late);
    assert_int_equal(late.status, CUZK_E_UNAVAILABLE);
    test_await(&t, &late, "job-3", 0); /* waiting is no new work */
    test_gate_open(&t, g);
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    for (int i = 0; i < 20; i++) {
        assert_true(calls[i].has_result); /* all were told before drain returned */
        test_expect_completed(&calls[i], "units=2", 2);
    }
    test_expect_completed(&late, "units=2", 2);
    test_clear(&t);
}

static void *drain(void *arg)
{
    engine_test *t = (engine_test *)arg;
    bool *drained = malloc(sizeof *drained);
    *drained = cuzk_engine_drain(t->engine, UINT64_MAX);
    return drained;
}

/* A decoder is busy: what waits behind it is refused at once, what it decodes afterwards. */
static void test_drain_while_decoding(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_decoders = 1;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_DECODE, "", -1);
    test_call a, b;
    test_submit(&t, &a, "a", 0, "n=a");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &b, "b", 0, "n=b");
    pthread_t thread;
    pthread_create(&thread, NULL, drain, &t);
    test_wait_submitted(&b);
    assert_int_equal(b.status, CUZK_E_UNAVAILABLE);
    test_gate_open(&t, g);
    void *drained = NULL;
    pthread_join(thread, &drained);
    assert_true(*(bool *)drained);
    free(drained);
    assert_int_equal(a.status, CUZK_E_UNAVAILABLE);
    test_clear(&t);
}

/* A stop at many moments: nobody hangs, nobody is told twice, nothing leaks (test_clear). */
static void test_stops(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 25; round++) {
        engine_test t;
        test_init(&t);
        t.options.n_witness = 3;
        test_start(&t, NULL);
        test_call calls[40];
        for (int i = 0; i < 40; i++) {
            char id[32];
            snprintf(id, sizeof id, "job-%d", i);
            test_submit(&t, &calls[i], id, 0, "units=3 witness=100000 witness_us=50 lane_us=20");
        }
        test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, NULL, 1 + round * 4);
        test_clear(&t);
        for (int i = 0; i < 40; i++) {
            assert_int_equal(calls[i].n_submitted_calls, 1);
            assert_int_equal(calls[i].n_result_calls, calls[i].status == CUZK_OK);
            test_call_clear(&calls[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stress), cmocka_unit_test(test_stress_with_journal),
        cmocka_unit_test(test_drain),  cmocka_unit_test(test_drain_while_decoding),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests_name("engine: everything at once", tests, NULL, NULL);
}
