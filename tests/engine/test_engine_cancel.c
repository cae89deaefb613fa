/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Cancellation in every stage (BC-106): waiters told, memory and device free, others unharmed. */
#include "engine_test.h"
#include "memory_journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool cancel(engine_test *t, const char *id)
{
    bool was_running = false;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_cancel(t->engine, &was_running, id, &err), CUZK_OK);
    return was_running;
}

static void expect_cancelled(test_call *call)
{
    test_expect_state(call, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(call);
}

/* Only the resident stays. */
static void wait_memory_back(engine_test *t)
{
    test_wait_reserved(t, 1);
}

static void test_while_queued(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_witness = 1;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_WITNESS, "blocks", -1);
    test_call block, a;
    test_submit(&t, &block, "block", 0, "blocks");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &a, "a", 0, "units=4");
    test_wait_submitted(&a);
    assert_true(cancel(&t, "a"));
    expect_cancelled(&a);
    assert_false(cancel(&t, "a"));
    test_gate_open(&t, g);
    test_expect_completed(&block, "blocks", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, "a"), 0);
    assert_false(cancel(&t, "block"));
    wait_memory_back(&t);
    test_clear(&t);
}

static void test_unknown(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    bool was_running = true;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "nobody", &err), CUZK_E_NOT_FOUND);
    assert_false(was_running);
    assert_non_null(strstr(err.text, "nobody"));
    test_clear(&t);
}

/* In a stage: a stage that watches stops, its job's other units too, and the next job has the
 * device. */
static void in_stage(null_stage stage)
{
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, stage, "victim", 0);
    test_call a, b;
    const char *payload = "victim units=6 witness=1000 host=500 task=100";
    test_submit(&t, &a, "a", 0, payload);
    test_gate_wait(&t, g, 1);
    test_submit(&t, &b, "b", 0, "n=b units=3");
    assert_true(cancel(&t, "a"));
    expect_cancelled(&a);
    test_expect_completed(&b, "n=b units=3", 3); /* the gate is still closed */
    wait_memory_back(&t);
    assert_int_equal(null_work_alive(t.work).witnesses, 0);
    assert_int_equal(null_work_alive(t.work).pending, 0);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].pending + view.kinds[1].in_progress, 0);
    assert_int_equal(view.kinds[1].cancelled, 1);
    test_clear(&t);
}

static void test_in_stages(void **state)
{
    (void)state;
    in_stage(NULL_WITNESS);
    in_stage(NULL_PROVE);
    in_stage(NULL_LANE);
    in_stage(NULL_FINISH);
    in_stage(NULL_VERIFY);
}

/* One that waits for the lane does not have to wait for it. */
static void test_waiting_for_lane(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "holder", -1);
    test_call holder, a, b;
    test_submit(&t, &holder, "holder", 0, "holder");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &a, "a", 0, "n=a");
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "a", 1);
    assert_true(cancel(&t, "a"));
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_END, "a", 1);
    test_submit(&t, &b, "b", 0, "n=b");
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "b", 1);
    test_gate_open(&t, g);
    expect_cancelled(&a);
    test_expect_completed(&holder, "holder", 1);
    test_expect_completed(&b, "n=b", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, "a"), 0);
    test_clear(&t);
}

static void test_while_resident_loads(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LOAD, "", -1);
    test_call a, b;
    test_submit(&t, &a, "a", 0, "n=a units=2");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &b, "b", 0, "n=b");
    test_wait_submitted(&b);
    assert_true(cancel(&t, "a"));
    expect_cancelled(&a);
    test_gate_open(&t, g);
    test_expect_completed(&b, "n=b", 1);
    wait_memory_back(&t);
    test_clear(&t);
}

/* With a journal: told before its end is on the disk, and also before its beginning is. */
static void test_with_journal(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "n=a", -1);
    test_call a;
    test_submit(&t, &a, "a", 0, "n=a");
    test_gate_wait(&t, g, 1);
    test_wait_submitted(&a);
    memory_journal_hold(journal, true);
    assert_true(cancel(&t, "a"));
    expect_cancelled(&a);
    memory_journal_hold(journal, false);
    test_wait_reserved(&t, 1);
    memory_journal_hold(journal, true);
    test_submit(&t, &a, "a", 0, "n=a");
    test_gate_wait(&t, g, 1); /* it runs already, while the journal writes */
    assert_false(a.is_submitted);
    assert_true(cancel(&t, "a"));
    memory_journal_hold(journal, false);
    expect_cancelled(&a);
    assert_int_equal(a.n_submitted_calls, 1);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].pending + view.kinds[1].in_progress, 0);
    assert_int_equal(view.kinds[1].cancelled, 2);
    test_clear(&t);
    memory_journal_destroy(journal);
}

/* 50 of 100 at random; every one ends in exactly one way. */
static void test_half(void **state)
{
    (void)state;
    enum { N = 100 };
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    static test_call calls[N];
    unsigned x = 12345;
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 1 + (unsigned)i % 4,
                    "units=4 witness_us=20 lane_us=30 finish_us=10 witness=1000 host=100");
    }
    unsigned n_cancelled = 0;
    bool is_cancelled[N] = {false};
    while (n_cancelled < N / 2) {
        x = x * 1103515245u + 12345u;
        int i = (int)(x >> 16) % N;
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        if (!is_cancelled[i]) {
            test_wait_submitted(&calls[i]);
            is_cancelled[i] = true;
            n_cancelled++;
            cancel(&t, id);
        }
    }
    uint64_t n_completed = 0;
    for (int i = 0; i < N; i++) {
        test_wait_result(&calls[i]);
        assert_int_equal(calls[i].n_result_calls, 1);
        assert_true(calls[i].state == CUZK_JOB_COMPLETED ||
                    (is_cancelled[i] && calls[i].state == CUZK_JOB_CANCELLED));
        n_completed += calls[i].state == CUZK_JOB_COMPLETED;
        test_call_clear(&calls[i]);
    }
    assert_true(n_completed >= N / 2);
    wait_memory_back(&t);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].completed, n_completed);
    assert_int_equal(view.kinds[1].cancelled, N - n_completed);
    assert_int_equal(view.kinds[1].pending + view.kinds[1].in_progress, 0);
    test_clear(&t);
}

/* A cancelled job has ended, but its unit is in a stage until the stage hears of it: one that was
 * drained must have nobody in a stage. */
static void drain_in_stage(null_stage stage)
{
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, stage, "victim", 0);
    test_call a;
    test_submit(&t, &a, "a", 0, "victim units=2");
    test_gate_wait(&t, g, 1);
    assert_true(cancel(&t, "a"));
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.in_witness + view.in_device + view.in_finish + view.in_verify, 0);
    expect_cancelled(&a);
    test_clear(&t);
}

static void test_drain_waits_for_stages(void **state)
{
    (void)state;
    static const null_stage stages[] = {NULL_WITNESS, NULL_PROVE, NULL_LANE, NULL_FINISH,
                                        NULL_VERIFY};
    for (unsigned i = 0; i < 50; i++) {
        drain_in_stage(stages[i % 5]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_while_queued),
        cmocka_unit_test(test_drain_waits_for_stages),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_in_stages),
        cmocka_unit_test(test_waiting_for_lane),
        cmocka_unit_test(test_while_resident_loads),
        cmocka_unit_test(test_with_journal),
        cmocka_unit_test(test_half),
    };
    return cmocka_run_group_tests_name("engine: cancellation", tests, NULL, NULL);
}
