/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The same id again (BC-103), waiting with a limit (BC-105), leaving, jobs that nobody waits for,
 * results that are kept for a while. */
#include "engine_test.h"
#include "memory_journal.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t LONG_NS = UINT64_C(60000000000);

static void test_same_while_it_runs(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "n=1", -1);
    test_call a, b;
    test_submit(&t, &a, "id", 0, "n=1");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &b, "id", 0, "n=1");
    test_wait_submitted(&b);
    assert_true(b.is_known);
    assert_string_equal(b.job_id, "id");
    test_gate_open(&t, g);
    test_expect_completed(&a, "n=1", 1);
    test_expect_completed(&b, "n=1", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_ACCEPTED, CUZK_EVENT_INSTANT, NULL), 1);
    test_clear(&t);
}

static void test_same_while_queued(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_WITNESS, "blocks", -1);
    test_call block[2], a, b;
    test_submit(&t, &block[0], "x", 0, "blocks n=1");
    test_submit(&t, &block[1], "y", 0, "blocks n=2");
    test_gate_wait(&t, g, 2);
    test_submit(&t, &a, "id", 0, "n=1");
    test_wait_submitted(&a);
    test_submit(&t, &b, "id", 0, "n=1");
    test_wait_submitted(&b);
    assert_true(b.is_known);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].pending, 1);
    assert_int_equal(view.kinds[1].in_progress, 2);
    test_gate_open(&t, g);
    test_expect_completed(&a, "n=1", 1);
    test_expect_completed(&b, "n=1", 1);
    test_expect_completed(&block[0], "blocks n=1", 1);
    test_expect_completed(&block[1], "blocks n=2", 1);
    test_clear(&t);
}

static void test_same_afterwards(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    test_call a, b;
    test_submit(&t, &a, "id", 0, "n=1");
    test_expect_completed(&a, "n=1", 1);
    test_submit(&t, &b, "id", 0, "n=1");
    test_expect_completed(&b, "n=1", 1);
    assert_true(b.is_known);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, NULL), 1);
    /* after a failure and after a cancellation: a new attempt */
    test_submit(&t, &a, "bad", 0, "fail=witness");
    test_expect_state(&a, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    test_submit(&t, &b, "bad", 0, "fail=witness");
    test_expect_state(&b, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    assert_false(b.is_known);
    assert_string_equal(b.job_id, "bad");
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, "bad"), 2);
    unsigned g = test_gate(&t, NULL_LANE, "cancelled", -1);
    test_call_clear(&a);
    test_call_clear(&b);
    test_submit(&t, &a, "c", 0, "cancelled");
    test_gate_wait(&t, g, 1);
    bool was_running = false;
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "c", NULL), CUZK_OK);
    assert_true(was_running);
    test_expect_state(&a, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&a);
    test_gate_open(&t, g);
    test_submit(&t, &b, "c", 0, "cancelled");
    test_expect_completed(&b, "cancelled", 1);
    assert_false(b.is_known);
    test_clear(&t);
}

static void test_other_payload(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "", -1);
    test_call a, b, c, d;
    test_submit(&t, &a, "id", 0, "n=1");
    test_wait_submitted(&a);
    test_submit(&t, &b, "id", 0, "n=2");
    test_wait_submitted(&b);
    test_submit(&t, &c, "id", 0, "n=3");
    test_wait_submitted(&c);
    test_submit(&t, &d, "id", 0, "n=2");
    test_wait_submitted(&d);
    assert_string_equal(a.job_id, "id");
    assert_false(b.is_known);
    assert_int_equal(strlen(b.job_id), strlen("id~") + 12);
    assert_int_equal(strncmp(b.job_id, "id~", 3), 0);
    assert_int_equal(strspn(b.job_id + 3, "0123456789abcdef"), 12);
    assert_string_not_equal(b.job_id, c.job_id);
    assert_true(d.is_known);
    assert_string_equal(d.job_id, b.job_id);
    test_gate_open(&t, g);
    test_expect_completed(&a, "n=1", 1);
    test_expect_completed(&b, "n=2", 1);
    test_expect_completed(&c, "n=3", 1);
    test_expect_completed(&d, "n=2", 1);
    test_submit(&t, &d, "id", 0, "n=3"); /* finished: the stored result of that payload */
    test_expect_completed(&d, "n=3", 1);
    assert_true(d.is_known);
    test_clear(&t);
}

static void test_ids(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    test_call a, b;
    test_submit(&t, &a, "", 0, "n=1");
    test_submit(&t, &b, NULL, 0, "n=1");
    test_expect_completed(&a, "n=1", 1);
    test_expect_completed(&b, "n=1", 1);
    assert_int_equal(strlen(a.job_id), 36);
    assert_int_equal(a.job_id[14], '4');
    assert_string_not_equal(a.job_id, b.job_id);
    static const char *const ODD[] = {"../../etc/passwd", "a b\n\t\"'; DROP TABLE jobs; --",
                                      "wdpost-1000-0-[1 2 3]", "\xff\xfe not UTF-8", "~"};
    for (size_t i = 0; i < sizeof ODD / sizeof ODD[0]; i++) {
        test_submit(&t, &a, ODD[i], 0, "n=1");
        test_expect_completed(&a, "n=1", 1);
        assert_string_equal(a.job_id, ODD[i]);
    }
    char id[CUZK_JOB_ID_MAX];
    memset(id, 'x', sizeof id);
    id[sizeof id - 1] = '\0';
    test_submit(&t, &a, id, 0, "n=1");
    test_wait_submitted(&a);
    assert_int_equal(a.status, CUZK_E_ARGUMENT);
    id[958] = '\0'; /* the longest */
    test_submit(&t, &a, id, 0, "n=1");
    test_submit(&t, &b, id, 0, "n=2");
    test_expect_completed(&a, "n=1", 1);
    test_expect_completed(&b, "n=2", 1);
    test_clear(&t);
}

static void test_await_limits(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "n=1", -1);
    test_call a, soon, late, plain, unknown;
    test_await(&t, &unknown, "no such job", 0);
    assert_int_equal(unknown.status, CUZK_E_NOT_FOUND);
    assert_non_null(strstr(unknown.error, "no such job"));
    test_submit(&t, &a, "id", 0, "n=1");
    test_gate_wait(&t, g, 1);
    test_await(&t, &plain, "id", 0);
    test_await(&t, &late, "id", LONG_NS);
    test_await(&t, &soon, "id", 1);
    test_expect_state(&soon, CUZK_JOB_TIMEOUT, CUZK_E_DEADLINE);
    test_call_clear(&soon);
    test_await(&t, &soon, "id", 3000000);
    test_expect_state(&soon, CUZK_JOB_TIMEOUT, CUZK_E_DEADLINE);
    test_call_clear(&soon);
    assert_int_equal(test_look(&t).kinds[1].in_progress, 1); /* it goes on */
    test_gate_open(&t, g);
    test_expect_completed(&a, "n=1", 1);
    test_expect_completed(&plain, "n=1", 1);
    test_expect_completed(&late, "n=1", 1);
    test_await(&t, &soon, "id", 1); /* afterwards: at once */
    test_expect_completed(&soon, "n=1", 1);
    test_clear(&t);
}

static void test_leaving(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "n=1", -1);
    test_call a, b;
    test_submit(&t, &a, "id", 0, "n=1");
    test_gate_wait(&t, g, 1);
    test_await(&t, &b, "id", LONG_NS);
    assert_true(cuzk_engine_leave(t.engine, a.waiter));
    assert_false(cuzk_engine_leave(t.engine, a.waiter));
    assert_false(cuzk_engine_leave(t.engine, 0));
    assert_false(cuzk_engine_leave(t.engine, 123456));
    test_gate_open(&t, g);
    test_expect_completed(&b, "n=1", 1);
    assert_false(a.has_result);
    assert_false(cuzk_engine_leave(t.engine, b.waiter));
    test_clear(&t);
}

/* Left while its payload is being decoded: it is told that it was accepted, nothing else. */
static void test_leaving_early(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_DECODE, "n=1", -1);
    test_call a;
    test_submit(&t, &a, "id", 0, "n=1");
    test_gate_wait(&t, g, 1);
    assert_true(cuzk_engine_leave(t.engine, a.waiter));
    test_gate_open(&t, g);
    test_wait_submitted(&a);
    assert_int_equal(a.status, CUZK_OK);
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    assert_false(a.has_result);
    test_clear(&t);
}

/* Two witness threads held: what comes stays queued. */
static unsigned hold_witnesses(engine_test *t, test_call block[2])
{
    unsigned g = test_gate(t, NULL_WITNESS, "blocks", -1);
    test_submit(t, &block[0], "x", 0, "blocks n=1");
    test_submit(t, &block[1], "y", 0, "blocks n=2");
    test_gate_wait(t, g, 2);
    return g;
}

static void test_abandoned(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.abandon_ns = 1000000;
    test_start(&t, NULL);
    test_call block[2], left, kept, asked, back, again;
    unsigned g = hold_witnesses(&t, block);
    test_submit_only(&t, &kept, "kept", 0, "n=1");
    test_submit_only(&t, &asked, "asked", 0, "n=2");
    test_wait_submitted(&kept);
    test_wait_submitted(&asked);
    test_await(&t, &back, "asked", LONG_NS);
    assert_true(cuzk_engine_leave(t.engine, back.waiter));
    test_submit(&t, &left, "left", 0, "n=3");
    test_wait_submitted(&left);
    assert_true(cuzk_engine_leave(t.engine, left.waiter));
    test_wait_events(&t, CUZK_EVENT_ENDED, CUZK_EVENT_INSTANT, "left", 1);
    test_await(&t, &again, "left", 0);
    test_expect_state(&again, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    assert_non_null(strstr(again.result_error, "nobody"));
    test_call_clear(&again);
    /* one that comes back in time, or that began, is not dropped */
    test_gate_open(&t, g);
    test_await(&t, &again, "kept", 0);
    test_expect_completed(&again, "n=1", 1);
    test_await(&t, &again, "asked", 0);
    test_expect_completed(&again, "n=2", 1);
    test_expect_completed(&block[0], "blocks n=1", 1);
    test_expect_completed(&block[1], "blocks n=2", 1);
    assert_int_equal(test_look(&t).kinds[1].cancelled, 1);
    test_clear(&t);
}

static void test_abandoned_but_asked_again(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.abandon_ns = LONG_NS;
    test_start(&t, NULL);
    test_call block[2], first, second;
    unsigned g = hold_witnesses(&t, block);
    test_submit(&t, &first, "id", 0, "n=1");
    test_wait_submitted(&first);
    assert_true(cuzk_engine_leave(t.engine, first.waiter));
    test_submit(&t, &second, "id", 0, "n=1");
    test_wait_submitted(&second);
    assert_true(second.is_known);
    test_gate_open(&t, g);
    test_expect_completed(&second, "n=1", 1);
    test_expect_completed(&block[0], "blocks n=1", 1);
    test_expect_completed(&block[1], "blocks n=2", 1);
    test_clear(&t);
}

static void prove_many(engine_test *t, const char *payload, int from, int to)
{
    for (int i = from; i < to; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_call call;
        test_submit(t, &call, id, 0, payload);
        test_expect_completed(&call, payload, 2);
    }
}

/* Without a journal what leaves memory is gone: by bytes, the oldest first. */
static void test_kept_bytes(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.keep_bytes = 20000;
    test_start(&t, NULL);
    prove_many(&t, "units=2", 0, 200);
    test_call call;
    test_await(&t, &call, "job-199", 0);
    test_expect_completed(&call, "units=2", 2);
    test_await(&t, &call, "job-0", 0);
    assert_int_equal(call.status, CUZK_E_NOT_FOUND);
    test_submit(&t, &call, "job-0", 0, "units=2"); /* forgotten: proved again */
    test_expect_completed(&call, "units=2", 2);
    assert_false(call.is_known);
    test_clear(&t);
}

/* With one it is found there, for awaits and for repeated submissions, in every state. */
static void test_found_in_journal(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    t.options.keep_bytes = 20000; /* some twenty jobs */
    test_start(&t, NULL);
    test_call call, other;
    test_submit(&t, &call, "bad", 0, "fail=witness");
    test_expect_state(&call, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    test_call_clear(&call);
    prove_many(&t, "units=2", 0, 100);
    assert_int_equal(memory_journal_jobs(journal), 101);
    assert_int_equal(memory_journal_finds(journal), 0); /* nothing was looked up for new ids */
    test_await(&t, &call, "job-3", LONG_NS);
    test_expect_completed(&call, "units=2", 2);
    assert_int_equal(memory_journal_finds(journal), 1);
    test_await(&t, &call, "job-3", 0); /* it is in memory again */
    test_expect_completed(&call, "units=2", 2);
    assert_int_equal(memory_journal_finds(journal), 1);
    test_submit(&t, &call, "job-5", 0, "units=2");
    test_expect_completed(&call, "units=2", 2);
    assert_true(call.is_known);
    test_submit(&t, &other, "job-7", 0, "units=2 n=other");
    test_expect_completed(&other, "units=2 n=other", 2);
    assert_int_equal(strncmp(other.job_id, "job-7~", 6), 0);
    prove_many(&t, "units=2", 200, 250);
    test_submit(&t, &call, "job-7", 0, "units=2 n=other"); /* under the other id, long gone too */
    test_expect_completed(&call, "units=2 n=other", 2);
    assert_true(call.is_known);
    assert_string_equal(call.job_id, other.job_id);
    test_submit(&t, &call, "bad", 0, "fail=witness"); /* failed: a new attempt */
    test_expect_state(&call, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    assert_false(call.is_known);
    assert_string_equal(call.job_id, "bad");
    test_call_clear(&call);
    assert_int_equal(memory_journal_jobs(journal), 152);
    bool was_running = true;
    prove_many(&t, "units=2", 300, 350);
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "job-9", NULL), CUZK_OK);
    assert_false(was_running);
    /* the journal's own retention deleted it */
    cuzk_journal_drop(journal, 14);
    test_await(&t, &call, "job-12", 0);
    test_expect_state(&call, CUZK_JOB_UNKNOWN, CUZK_E_NOT_FOUND);
    assert_non_null(strstr(call.result_error, "job-12"));
    test_call_clear(&call);
    test_await(&t, &call, "job-999", 0);
    assert_int_equal(call.status, CUZK_E_NOT_FOUND);
    test_stop(&t);
    test_start(&t, NULL); /* and after a restart, which has more than memory is to keep */
    test_await(&t, &call, "job-20", 0);
    test_expect_completed(&call, "units=2", 2);
    test_await(&t, &call, "job-349", 0);
    test_expect_completed(&call, "units=2", 2);
    test_clear(&t);
    memory_journal_destroy(journal);
}

/* Leaving while the journal is asked. */
static void test_leaving_while_searching(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    t.options.keep_bytes = 5000;
    test_start(&t, NULL);
    prove_many(&t, "units=2", 0, 30);
    memory_journal_hold(journal, true);
    test_call left, stays;
    test_await(&t, &left, "job-1", 0);
    test_await(&t, &stays, "job-1", 0);
    assert_true(cuzk_engine_leave(t.engine, left.waiter));
    memory_journal_hold(journal, false);
    test_expect_completed(&stays, "units=2", 2);
    assert_false(left.has_result);
    test_clear(&t);
    memory_journal_destroy(journal);
}

static void test_kept_age(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.keep_ns = 1000000;
    test_start(&t, NULL);
    test_call call;
    test_submit(&t, &call, "id", 0, "n=1");
    test_expect_completed(&call, "n=1", 1);
    do {
        test_await(&t, &call, "id", 0);
        if (call.status == CUZK_OK) {
            test_expect_completed(&call, "n=1", 1);
        }
    } while (call.status == CUZK_OK);
    assert_int_equal(call.status, CUZK_E_NOT_FOUND);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_while_it_runs),
        cmocka_unit_test(test_same_while_queued),
        cmocka_unit_test(test_same_afterwards),
        cmocka_unit_test(test_other_payload),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_await_limits),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_leaving_early),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_abandoned_but_asked_again),
        cmocka_unit_test(test_kept_bytes),
        cmocka_unit_test(test_found_in_journal),
        cmocka_unit_test(test_leaving_while_searching),
        cmocka_unit_test(test_kept_age),
    };
    return cmocka_run_group_tests_name("engine: ids and waiters", tests, NULL, NULL);
}
