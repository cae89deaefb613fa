/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What outlives an engine (BC-117): through a journal in memory that "crashes" with it: what had
 * not been answered is lost. */
#include "engine_test.h"
#include "memory_journal.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The engine ends as in a crash; another one starts on what the journal has. */
static void crash(engine_test *t, cuzk_journal *journal)
{
    memory_journal_crash(journal);
    test_stop(t);
    memory_journal_revive(journal);
    t->n_events = 0;
}

static void begin(engine_test *t, cuzk_journal **journal)
{
    test_init(t);
    *journal = memory_journal_create();
    t->options.journal = *journal;
    test_start(t, NULL);
}

/* Units go one after another. */
static void begin_narrow(engine_test *t, cuzk_journal **journal)
{
    test_init(t);
    *journal = memory_journal_create();
    t->options.journal = *journal;
    t->options.n_witness = 1;
    t->devices[0].n_workers = 1;
    test_start(t, NULL);
}

static void end(engine_test *t, cuzk_journal *journal)
{
    test_clear(t);
    memory_journal_destroy(journal);
}

static void expect_unavailable(test_call *call)
{
    test_wait_result(call);
    assert_true(call->has_result ? call->result_status == CUZK_E_UNAVAILABLE
                                 : call->status == CUZK_E_UNAVAILABLE);
    test_call_clear(call);
}

/* A job in each stage when the process dies: all are done afterwards, under their ids. */
static void test_every_stage(void **state)
{
    (void)state;
    static const null_stage STAGES[] = {NULL_LOAD,   NULL_WITNESS, NULL_PROVE,   NULL_LANE,
                                        NULL_FINISH, NULL_VERIFY,  NULL_ASSEMBLE};
    for (size_t i = 0; i < sizeof STAGES / sizeof STAGES[0]; i++) {
        engine_test t;
        cuzk_journal *journal = NULL;
        begin(&t, &journal);
        unsigned g = test_gate(&t, STAGES[i], "", -1);
        test_call a, again;
        test_submit(&t, &a, "id", CUZK_PRIORITY_HIGH, "units=2");
        test_wait_submitted(&a);
        assert_int_equal(a.status, CUZK_OK);
        test_gate_wait(&t, g, 1);
        memory_journal_crash(journal);
        test_gate_open(&t, g);
        crash(&t, journal);
        test_wait_result(&a);
        if (a.has_result && a.result_status == CUZK_OK) {
            test_expect_completed(&a, "units=2", 2); /* answered before the engine stopped */
        } else {
            expect_unavailable(&a);
        }
        test_start(&t, NULL);
        long back = test_find_event(&t, CUZK_EVENT_RECOVERED, CUZK_EVENT_INSTANT, "id", -1, 0);
        assert_true(back < 0 || (test_event(&t, back).event.n_units <= 2 &&
                                 test_event(&t, back).event.since_ns > 0));
        test_await(&t, &again, "id", 0);
        assert_int_equal(again.status, CUZK_OK);
        test_expect_completed(&again, "units=2", 2);
        test_submit(&t, &again, "id", 0, "units=2"); /* and asked for once more */
        test_expect_completed(&again, "units=2", 2);
        assert_true(again.is_known);
        end(&t, journal);
    }
}

/* Units that were in the journal are not proved again; the others are. */
static void test_units_not_repeated(void **state)
{
    (void)state;
    engine_test t;
    cuzk_journal *journal = NULL;
    begin_narrow(&t, &journal);
    unsigned g = test_gate(&t, NULL_LANE, "", 5);
    test_call a, again;
    test_submit(&t, &a, "id", 0, "units=8");
    test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "id", 5);
    test_gate_wait(&t, g, 1);
    assert_int_equal(memory_journal_units(journal), 5);
    crash(&t, journal);
    expect_unavailable(&a);
    test_start(&t, NULL);
    test_await(&t, &again, "id", 0);
    test_expect_completed(&again, "units=8", 8);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, "id"), 3);
    end(&t, journal);
}

static unsigned n_decoded;

static cuzk_status short_of_memory(void *user, null_stage stage, const char *text, int unit,
                                   const cuzk_work_call *call)
{
    (void)user, (void)text, (void)unit, (void)call;
    return stage == NULL_DECODE && n_decoded++ == 0 ? CUZK_E_MEMORY : CUZK_OK;
}

/* There is no memory to read the payload back, then none to decode it: an accepted job waits. */
static void test_no_memory_for_a_moment(void **state)
{
    (void)state;
    engine_test t;
    cuzk_journal *journal = NULL;
    begin_narrow(&t, &journal);
    unsigned g = test_gate(&t, NULL_LANE, "", -1);
    test_call a, again;
    test_submit(&t, &a, "id", 0, "units=2");
    test_gate_wait(&t, g, 1);
    test_wait_submitted(&a);
    crash(&t, journal);
    expect_unavailable(&a);
    n_decoded = 0;
    memory_journal_refuse_at(journal, 0); /* the first request is for the payload */
    test_start(&t, &(null_options){.hook = short_of_memory});
    test_await(&t, &again, "id", 0);
    test_expect_completed(&again, "units=2", 2);
    assert_int_equal(n_decoded, 2);
    assert_int_equal(test_look(&t).n_intake, 0);
    end(&t, journal);
}

/* All units were in the journal, the end was not: only the answer is made. */
static void test_only_the_end_missing(void **state)
{
    (void)state;
    engine_test t;
    cuzk_journal *journal = NULL;
    begin_narrow(&t, &journal);
    unsigned g = test_gate(&t, NULL_VERIFY, "", 1);
    test_call a, again;
    test_submit(&t, &a, "id", 0, "units=2");
    test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "id", 1);
    test_gate_wait(&t, g, 1);
    uint8_t proof[NULL_PROOF_BYTES]; /* as if the last unit had been written before the end was */
    null_work_proof(proof, "units=2", strlen("units=2"), 1);
    cuzk_journal_unit(journal, 1, 1, proof, sizeof proof, NULL, NULL);
    while (memory_journal_units(journal) < 2) {
        sched_yield();
    }
    crash(&t, journal);
    expect_unavailable(&a);
    test_start(&t, NULL);
    test_await(&t, &again, "id", 0);
    test_expect_completed(&again, "units=2", 2);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, "id"), 0);
    end(&t, journal);
}

/* Ended ones come back with their answers and errors, and the counters start at zero. */
static void test_results_come_back(void **state)
{
    (void)state;
    engine_test t;
    cuzk_journal *journal = NULL;
    begin(&t, &journal);
    test_call a, b, again;
    test_submit(&t, &a, "good", 0, "units=3");
    test_submit(&t, &b, "bad", 0, "units=2 fail=prove@1");
    test_expect_completed(&a, "units=3", 3);
    test_expect_state(&b, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    char error[1024];
    snprintf(error, sizeof error, "%s", b.result_error);
    test_call_clear(&b);
    crash(&t, journal);
    test_start(&t, NULL);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].pending + view.kinds[1].in_progress, 0);
    test_await(&t, &again, "good", 0);
    test_expect_completed(&again, "units=3", 3);
    assert_true(again.times.total_ns == a.times.total_ns && again.times.lane_ns == a.times.lane_ns);
    test_await(&t, &again, "bad", 0);
    test_expect_state(&again, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    assert_string_equal(again.result_error, error);
    test_call_clear(&again);
    test_submit(&t, &again, "good", 0, "units=3");
    test_expect_completed(&again, "units=3", 3);
    assert_true(again.is_known);
    test_submit(&t, &again, "good", 0, "units=2");
    test_expect_completed(&again, "units=2", 2);
    assert_int_equal(strncmp(again.job_id, "good~", 5), 0);
    test_submit(&t, &again, "bad", 0, "units=2 fail=prove@1"); /* failed: a new attempt */
    test_expect_state(&again, CUZK_JOB_FAILED, CUZK_E_INTERNAL);
    assert_false(again.is_known);
    test_call_clear(&again);
    end(&t, journal);
}

/* How many jobs wait for their resident: they are decoded, and in the order. */
static unsigned n_waiting_for_resident(engine_test *t)
{
    cuzk_engine_view view;
    cuzk_error err = {0};
    unsigned n = 0;
    assert_int_equal(cuzk_engine_look(t->engine, &view, true, &err), CUZK_OK);
    for (unsigned i = 0; i < view.n_jobs; i++) {
        n += view.jobs[i].wait.reason == CUZK_WAIT_RESIDENT;
    }
    cuzk_engine_view_clear(&view);
    return n;
}

/* The order of before: priority, then age; what comes new is younger. */
static void test_order_after_restart(void **state)
{
    (void)state;
    engine_test t;
    cuzk_journal *journal = NULL;
    begin(&t, &journal);
    unsigned g = test_gate(&t, NULL_LOAD, "", -1);
    static const char *const IDS[] = {"n1", "h1", "n2", "c1", "h2"};
    static const unsigned PRIORITIES[] = {2, 3, 2, 4, 3};
    test_call calls[5];
    for (int i = 0; i < 5; i++) {
        test_submit(&t, &calls[i], IDS[i], PRIORITIES[i], "n=1");
        test_wait_submitted(&calls[i]);
    }
    test_gate_wait(&t, g, 1);
    memory_journal_crash(journal);
    test_gate_open(&t, g);
    crash(&t, journal);
    t.options.n_witness = 1;
    t.options.n_decoders = 1;
    g = test_gate(&t, NULL_LOAD, "", -1);
    test_start(&t, NULL);
    test_call fresh;
    test_submit(&t, &fresh, "fresh", 2, "n=2");
    test_wait_submitted(&fresh);
    assert_int_equal(test_look(&t).kinds[1].pending, 6);
    test_gate_wait(&t, g, 1);
    while (n_waiting_for_resident(&t) < 6) { /* payloads are read again one by one */
        sched_yield();
    }
    test_gate_open(&t, g);
    test_expect_completed(&fresh, "n=2", 1);
    static const char *const ORDER[] = {"c1", "h1", "h2", "n1", "n2", "fresh"};
    for (unsigned i = 0; i < 6; i++) {
        long at = test_find_event(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, NULL, -1, i);
        assert_string_equal(test_event(&t, at).job_id, ORDER[i]);
    }
    for (int i = 0; i < 5; i++) {
        expect_unavailable(&calls[i]);
    }
    end(&t, journal);
}

/* Cancelled while it waits to be decoded again; and one that this engine cannot decode. */
static void test_not_wanted_or_not_possible(void **state)
{
    (void)state;
    static const null_circuit CIRCUITS[] = {{.name = "null-a", .bytes = 1},
                                            {.name = "gone", .bytes = 1}};
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    null_options both = {.circuits = CIRCUITS, .n_circuits = 2};
    test_start(&t, &both);
    unsigned g = test_gate(&t, NULL_LOAD, "", -1);
    test_call a, b, again;
    test_submit(&t, &a, "a", 0, "n=1");
    test_submit(&t, &b, "b", 0, "circuit=gone");
    test_wait_submitted(&a);
    test_wait_submitted(&b);
    test_gate_wait(&t, g, 2);
    memory_journal_crash(journal);
    test_gate_open(&t, g);
    crash(&t, journal);
    expect_unavailable(&a);
    expect_unavailable(&b);
    unsigned d = test_gate(&t, NULL_DECODE, "n=1", -1);
    test_start(&t, NULL);
    test_gate_wait(&t, d, 1);
    bool was_running = false;
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "a", NULL), CUZK_OK);
    assert_true(was_running);
    test_gate_open(&t, d);
    test_await(&t, &again, "b", 0);
    test_expect_state(&again, CUZK_JOB_FAILED, CUZK_E_FORMAT);
    assert_non_null(strstr(again.result_error, "after a restart"));
    test_call_clear(&again);
    test_await(&t, &again, "a", 0);
    test_expect_state(&again, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&again);
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    end(&t, journal);
}

/* More unfinished payloads than the intake may hold at once: they are read one after another. */
static void test_many_payloads(void **state)
{
    (void)state;
    enum { N = 40 };
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    t.options.budget_bytes = 64u << 20; /* payloads: 14 MiB */
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LOAD, "", -1);
    static char payload[1 << 20];
    static test_call calls[N];
    memset(payload, 'x', sizeof payload - 1);
    memcpy(payload, "task=100", 9); /* text ends here; the rest counts for the digest */
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        payload[9] = (char)i;
        test_submit_bytes(&t, &calls[i], id, payload, sizeof payload);
        test_wait_submitted(&calls[i]);
        assert_int_equal(calls[i].status, CUZK_OK);
    }
    memory_journal_crash(journal);
    test_gate_open(&t, g);
    crash(&t, journal);
    test_start(&t, NULL);
    for (int i = 0; i < N; i++) {
        test_call again;
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_await(&t, &again, id, 0);
        test_expect_state(&again, CUZK_JOB_COMPLETED, CUZK_OK);
        test_call_clear(&again);
        expect_unavailable(&calls[i]);
    }
    assert_true(test_look(&t).peak_bytes <= t.options.budget_bytes);
    end(&t, journal);
}

/* Jobs end or wait while the engine stops: a clean stop keeps unfinished ones too. */
static void test_clean_stop(void **state)
{
    (void)state;
    enum { N = 30 };
    engine_test t;
    cuzk_journal *journal = NULL;
    begin(&t, &journal);
    test_gate(&t, NULL_FINISH, "units=3", 2);
    static test_call calls[N];
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, i < 3 ? "units=2" : "units=3 lane_us=200");
        if (i < 3) {
            test_wait_result(&calls[i]);
        }
    }
    assert_false(cuzk_engine_drain(t.engine, 0));
    test_stop(&t);
    unsigned n_accepted = 0;
    unsigned n_completed = 0;
    for (int i = 0; i < N; i++) { /* each was told something, once */
        test_wait_result(&calls[i]);
        n_accepted += calls[i].status == CUZK_OK;
        n_completed += calls[i].state == CUZK_JOB_COMPLETED;
        assert_int_equal(calls[i].n_submitted_calls, 1);
        assert_true(calls[i].state == CUZK_JOB_COMPLETED || calls[i].status == CUZK_E_UNAVAILABLE ||
                    calls[i].result_status == CUZK_E_UNAVAILABLE);
        test_call_clear(&calls[i]);
    }
    assert_int_equal(memory_journal_jobs(journal), n_accepted);
    assert_true(n_completed > 0);
    t.n_events = 0;
    test_start(&t, NULL);
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_call again;
        test_await(&t, &again, id, 0);
        if (again.status == CUZK_OK) {
            test_expect_completed(&again, i < 3 ? "units=2" : "units=3 lane_us=200", i < 3 ? 2 : 3);
            n_accepted--;
        }
    }
    assert_int_equal(n_accepted, 0);
    end(&t, journal);
}

/* What was proved before the crash is no partition of the job's second life. */
static void test_what_is_left(void **state)
{
    (void)state;
    engine_test t;
    cuzk_journal *journal = NULL;
    begin_narrow(&t, &journal);
    unsigned g = test_gate(&t, NULL_PROVE, "", 2);
    test_call a, again;
    test_submit(&t, &a, "id", 0, "units=5");
    test_gate_wait(&t, g, 1);
    test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "id", 2);
    crash(&t, journal);
    expect_unavailable(&a);
    test_start(&t, NULL);
    long back = test_find_event(&t, CUZK_EVENT_RECOVERED, CUZK_EVENT_INSTANT, "id", -1, 0);
    assert_int_equal(back, 0); /* before anything that is done for it */
    cuzk_event event = test_event(&t, back).event;
    assert_int_equal(event.n_units, 3);
    assert_int_equal(event.state, CUZK_JOB_QUEUED);
    test_await(&t, &again, "id", 0);
    test_expect_completed(&again, "units=5", 5);
    test_wait_events(&t, CUZK_EVENT_ENDED, CUZK_EVENT_INSTANT, "id", 1);
    long ended = test_find_event(&t, CUZK_EVENT_ENDED, CUZK_EVENT_INSTANT, "id", -1, 0);
    assert_int_equal(test_event(&t, ended).event.n_units, 3);
    assert_true(test_event(&t, ended).event.since_ns == event.since_ns);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, "id"), 3);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_ACCEPTED, CUZK_EVENT_INSTANT, "id"), 0);
    end(&t, journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_stage),
        cmocka_unit_test(test_what_is_left),
        cmocka_unit_test(test_units_not_repeated),
        cmocka_unit_test(test_only_the_end_missing),
        cmocka_unit_test(test_no_memory_for_a_moment),
        cmocka_unit_test(test_results_come_back),
        cmocka_unit_test(test_order_after_restart),
        cmocka_unit_test(test_not_wanted_or_not_possible),
        cmocka_unit_test(test_many_payloads),
        cmocka_unit_test(test_clean_stop),
    };
    return cmocka_run_group_tests_name("engine: restart", tests, NULL, NULL);
}
