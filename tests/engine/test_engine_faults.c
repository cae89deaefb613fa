/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What fails, and what a caller sees of it: bad proofs, lost devices, each fault that can be built
 * in, a journal without room. */
#include "engine_test.h"
#include "memory_journal.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void set_faults(const char *text)
{
    cuzk_error err = {0};
    if (cuzk_faults_set(text, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

static int no_faults(void **state)
{
    (void)state;
    set_faults("");
    return 0;
}

static void begin(engine_test *t, unsigned n_devices)
{
    test_init(t);
    static const char *const IDS[] = {"dev:0", "dev:1"};
    t->options.n_devices = n_devices;
    for (unsigned d = 0; d < n_devices; d++) {
        t->devices[d] = (cuzk_engine_device){.id = IDS[d], .n_workers = 1};
    }
    test_start(t, NULL);
}

static void expect_failed(test_call *call, cuzk_status status, const char *const *words)
{
    test_expect_state(call, CUZK_JOB_FAILED, status);
    for (; *words != NULL; words++) {
        if (strstr(call->result_error, *words) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", call->result_error, *words);
        }
    }
    assert_int_equal(call->answer_bytes, 0);
    test_call_clear(call);
}

/* A bad proof is made once more from its witness, on the other device. */
static void test_bad_proof_elsewhere(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2);
    set_faults("proof*1");
    test_call call;
    test_submit(&t, &call, "id", 0, "units=1");
    test_expect_completed(&call, "units=1", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, NULL), 1);
    long first = test_find_event(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, NULL, 0, 0);
    long second = test_find_event(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, NULL, 0, 1);
    assert_int_not_equal(test_event(&t, first).event.device, test_event(&t, second).event.device);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_RETRY, CUZK_EVENT_INSTANT, "id"), 1);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.retries, 1);
    assert_int_equal(view.devices[0].n_faults + view.devices[1].n_faults, 1);
    assert_false(view.devices[0].is_out || view.devices[1].is_out);
    test_clear(&t);
}

/* Twice: the job fails and says which partition and where; others of the job stop. */
static void test_bad_proof_twice(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2);
    test_call call, other;
    test_submit(&t, &call, "id", 0, "units=12 fail=verify@3 witness=1000");
    test_submit(&t, &other, "other", 0, "units=4");
    const char *words[] = {"partition 3 of 12", "dev:", "another attempt", NULL};
    expect_failed(&call, CUZK_E_INVALID_PROOF, words);
    test_expect_completed(&other, "units=4", 4);
    test_wait_reserved(&t, 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_RETRY, CUZK_EVENT_INSTANT, "id"), 1);
    test_clear(&t);
}

/* A device with two bad proofs is out and told; the other does all. */
static void test_bad_device(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2);
    set_faults("proof@1");
    enum { N = 20 };
    test_call calls[N];
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, "units=3 lane_us=100");
    }
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], "units=3 lane_us=100", 3);
    }
    cuzk_engine_view view = test_look(&t);
    assert_true(view.devices[1].is_out);
    assert_true(view.devices[1].n_faults >= 2);
    assert_non_null(strstr(view.devices[1].reason, "does not verify"));
    assert_false(view.devices[0].is_out);
    assert_int_equal(view.devices[0].n_faults, 0);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL), 1);
    test_clear(&t);
}

/* A witness from outside that does not satisfy its circuit takes no device out. */
static void test_unchecked_witness(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 1);
    for (int i = 0; i < 10; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_call call;
        test_submit(&t, &call, id, 0, "unchecked=1 fail=verify");
        test_expect_state(&call, CUZK_JOB_FAILED, CUZK_E_INVALID_PROOF);
        test_call_clear(&call);
    }
    cuzk_engine_view view = test_look(&t);
    assert_false(view.devices[0].is_out);
    assert_int_equal(view.devices[0].n_faults, 0);
    set_faults("proof*1"); /* but where another attempt verifies it was the device */
    test_call call;
    test_submit(&t, &call, "good", 0, "unchecked=1");
    test_expect_completed(&call, "unchecked=1", 1);
    assert_int_equal(test_look(&t).devices[0].n_faults, 1);
    test_clear(&t);
}

/* A lost device: its units go to the other one, it is taken out after its second fault. */
static void test_lost_device(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2);
    set_faults("prove@0:E_DEVICE");
    test_call calls[6];
    for (int i = 0; i < 6; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, "units=2 lane_us=100");
    }
    for (int i = 0; i < 6; i++) {
        test_expect_completed(&calls[i], "units=2 lane_us=100", 2);
    }
    assert_true(test_look(&t).devices[0].is_out);
    test_clear(&t);
}

/* The only device lost: what was on it fails as unavailable, not as bad input; new work is refused;
 * what is queued stays. */
static void test_only_device_lost(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_witness = 1;
    t.devices[0] = (cuzk_engine_device){.id = "dev:0", .n_workers = 1};
    test_start(&t, NULL);
    set_faults("prove:E_DEVICE");
    unsigned g = test_gate(&t, NULL_WITNESS, "", -1);
    test_call call, queued, refused;
    test_submit(&t, &call, "id", CUZK_PRIORITY_HIGH, "n=1");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &queued, "queued", 0, "n=2");
    test_wait_submitted(&queued);
    test_gate_open(&t, g);
    const char *words[] = {"partition 0 of 1", "dev:0", NULL};
    expect_failed(&call, CUZK_E_DEVICE, words);
    assert_int_equal(cuzk_status_grpc_code(CUZK_E_DEVICE), 14);
    test_submit(&t, &refused, "refused", 0, "n=3");
    test_wait_result(&refused);
    assert_int_equal(refused.status, CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(refused.error, "dev:0"));
    assert_int_equal(test_look(&t).kinds[1].pending + test_look(&t).kinds[1].in_progress, 1);
    assert_false(queued.has_result);
    test_clear(&t);
    assert_int_equal(queued.result_status, CUZK_E_UNAVAILABLE);
    test_call_clear(&queued);
}

/* Each place, what the caller is told. Everything that was taken is given back (test_clear). */
static void test_each_place(void **state)
{
    (void)state;
    static const struct {
        const char *faults;
        cuzk_status refused, failed; /* CUZK_OK: not */
        const char *word;
    } CASES[] = {
        {"decode:E_FORMAT", CUZK_E_FORMAT, CUZK_OK, "decode"},
        {"memory:E_MEMORY", CUZK_E_MEMORY, CUZK_OK, "memory"},
        {"resident:E_FILE", CUZK_OK, CUZK_E_FILE, "loading circuit null-a"},
        {"resident:E_MEMORY", CUZK_OK, CUZK_E_MEMORY, "loading circuit null-a"},
        {"witness", CUZK_OK, CUZK_E_INTERNAL, "making the witness on the host"},
        {"witness:E_MEMORY", CUZK_OK, CUZK_E_MEMORY, "partition"},
        {"prove", CUZK_OK, CUZK_E_INTERNAL, "proving on dev:0"},
        {"prove:E_MEMORY", CUZK_OK, CUZK_E_MEMORY, "proving on dev:0"},
        {"prove*1:E_MEMORY", CUZK_OK, CUZK_OK, ""},
        {"prove*1:E_DEVICE", CUZK_OK, CUZK_OK, ""},
        {"finish", CUZK_OK, CUZK_E_INTERNAL, "finishing"},
        {"finish*1:E_DEVICE", CUZK_OK, CUZK_OK, ""},
        {"verify", CUZK_OK, CUZK_E_INTERNAL, "verifying"},
        {"verify*1:E_INVALID_PROOF", CUZK_OK, CUZK_OK, ""},
        {"proof*1", CUZK_OK, CUZK_OK, ""},
        {"proof", CUZK_OK, CUZK_E_INVALID_PROOF, "dev:0"},
        {"assemble", CUZK_OK, CUZK_E_INTERNAL, "assembling"},
        {"decode~3 resident~3 witness~3 prove~3 finish~3 verify~3 assemble~3", CUZK_OK, CUZK_OK,
         ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        engine_test t;
        begin(&t, 1);
        set_faults(CASES[i].faults);
        test_call call;
        test_submit(&t, &call, "id", 0, "units=2 witness=100 host=10");
        test_wait_result(&call);
        assert_int_equal(call.status, CASES[i].refused);
        const char *text = call.error;
        if (CASES[i].failed != CUZK_OK) {
            test_expect_state(&call, CUZK_JOB_FAILED, CASES[i].failed);
            text = call.result_error;
        } else if (CASES[i].refused == CUZK_OK) {
            test_expect_state(&call, CUZK_JOB_COMPLETED, CUZK_OK);
            text = "";
        }
        if (strstr(text, CASES[i].word) == NULL) {
            fail_msg("%s: \"%s\" does not say \"%s\"", CASES[i].faults, text, CASES[i].word);
        }
        test_call_clear(&call);
        set_faults("");
        test_clear(&t);
    }
}

static void test_words_of_faults(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"nowhere", "prove:E_NOTHING", "prove*", "prove@x"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        cuzk_error err = {0};
        assert_int_equal(cuzk_faults_set(WRONG[i], &err), CUZK_E_ARGUMENT);
    }
    set_faults("verify+1*2:E_FILE, journal~1");
    assert_int_equal(cuzk_fault_at(CUZK_FAULT_VERIFY, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_fault_at(CUZK_FAULT_VERIFY, 0, NULL), CUZK_E_FILE);
    assert_int_equal(cuzk_fault_at(CUZK_FAULT_VERIFY, 5, NULL), CUZK_E_FILE);
    assert_int_equal(cuzk_fault_at(CUZK_FAULT_VERIFY, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_faults_journal(NULL, NULL), CUZK_OK);
    set_faults("clock~3600000");
    assert_int_equal(cuzk_fault_clock_ms(), 3600000);
}

/* The wall clock jumps by a day, back and forth: nothing that waits or is kept notices. */
static void test_clock_jumps(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    test_start(&t, NULL);
    static const char *const JUMPS[] = {"clock~86400000", "clock~-86400000", ""};
    for (int i = 0; i < 3; i++) {
        set_faults(JUMPS[i]);
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_call call;
        test_submit(&t, &call, id, 0, "n=1");
        test_expect_completed(&call, "n=1", 1);
        test_await(&t, &call, "job-0", 0);
        test_expect_completed(&call, "n=1", 1);
    }
    test_stop(&t);
    test_start(&t, NULL); /* one ended "tomorrow", one "yesterday" (kept for an hour) */
    test_call call;
    test_await(&t, &call, "job-0", 0);
    test_expect_completed(&call, "n=1", 1);
    test_await(&t, &call, "job-2", 0);
    test_expect_completed(&call, "n=1", 1);
    test_clear(&t);
    memory_journal_destroy(journal);
}

/* No room for the journal: new work is refused with the reason, accepted work is proved and
 * answered, and written down when there is room again. */
static void test_disk_full(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    t.options.n_witness = 1;
    t.devices[0].n_workers = 1;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "old", -1);
    test_call old, fresh, again;
    test_submit(&t, &old, "old", 0, "old units=3");
    test_gate_wait(&t, g, 1);
    test_wait_submitted(&old);
    memory_journal_fail(journal, CUZK_E_FILE);
    for (int i = 0; i < 3; i++) {
        test_submit(&t, &fresh, "fresh", 0, "n=fresh");
        test_wait_result(&fresh);
        assert_int_equal(fresh.status, CUZK_E_UNAVAILABLE);
        assert_non_null(strstr(fresh.error, "no space left"));
        assert_true(test_look(&t).journal_failed);
    }
    test_gate_open(&t, g);
    test_wait_events(&t, CUZK_EVENT_VERIFY, CUZK_EVENT_END, "old", 3);
    test_expect_completed(&old, "old units=3", 3);
    assert_int_equal(test_look(&t).kinds[1].in_progress, 0);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "old"), 0);
    memory_journal_fail(journal, CUZK_OK);
    test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "old", 3);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "old"), 3);
    test_submit(&t, &again, "fresh", 0, "n=fresh");
    test_expect_completed(&again, "n=fresh", 1);
    assert_false(test_look(&t).journal_failed);
    test_wait_reserved(&t, 1);
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    test_clear(&t);
    assert_int_equal(memory_journal_jobs(journal), 2);
    memory_journal_destroy(journal);
}

/* The journal has no memory for a request and says so from inside of it. */
static void test_refused_at_once(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 4; n++) { /* acceptance, two units, the end */
        engine_test t;
        test_init(&t);
        cuzk_journal *journal = memory_journal_create();
        t.options.journal = journal;
        t.options.keep_bytes = 1;
        test_start(&t, NULL);
        memory_journal_refuse_at(journal, n);
        test_call call;
        test_submit(&t, &call, "id", 0, "units=3");
        test_wait_result(&call);
        if (n == 0) {
            assert_int_equal(call.status, CUZK_E_UNAVAILABLE);
            test_submit(&t, &call, "id", 0, "units=3");
        }
        test_expect_completed(&call, "units=3", 3);
        test_submit(&t, &call, "other", 0, "n=1"); /* "id" leaves memory */
        test_expect_completed(&call, "n=1", 1);
        memory_journal_refuse_at(journal, 0);
        test_await(&t, &call, "id", 0);
        test_expect_state(&call, CUZK_JOB_FAILED, CUZK_E_MEMORY);
        test_call_clear(&call);
        memory_journal_refuse_at(journal, 0);
        test_submit(&t, &call, "other", 0, "n=1");
        test_expect_completed(&call, "n=1", 1);
        test_clear(&t);
        memory_journal_destroy(journal);
    }
}

/* A refused job is gone: the time for which nobody has waited for it does not come to its end. */
static void test_refused_is_not_abandoned(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    t.options.abandon_ns = 1000000;
    test_start(&t, NULL);
    memory_journal_refuse_at(journal, 0);
    test_call call;
    test_submit(&t, &call, "id", 0, "n=1");
    test_wait_result(&call);
    assert_int_equal(call.status, CUZK_E_UNAVAILABLE);
    test_call_clear(&call);
    uint64_t until_ns = cuzk_now_ns() + 10 * t.options.abandon_ns;
    while (cuzk_now_ns() < until_ns) { /* a freed job's timer is read meanwhile, if there is one */
        sched_yield();
    }
    test_submit(&t, &call, "other", 0, "n=1");
    test_expect_completed(&call, "n=1", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_ENDED, CUZK_EVENT_INSTANT, "id"), 0);
    test_clear(&t);
    memory_journal_destroy(journal);
}

/* Room lost while a job's units are being proved: units are written later, once each. */
static void test_disk_full_between_units(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    t.options.n_witness = 1;
    t.devices[0].n_workers = 1;
    test_start(&t, NULL);
    unsigned first = test_gate(&t, NULL_LANE, "", 0);
    unsigned g = test_gate(&t, NULL_LANE, "", 2);
    test_call call;
    test_submit(&t, &call, "id", 0, "units=4");
    test_wait_submitted(&call);
    memory_journal_fail(journal, CUZK_E_FILE);
    test_gate_open(&t, first);
    test_wait_events(&t, CUZK_EVENT_VERIFY, CUZK_EVENT_END, "id", 2);
    test_gate_wait(&t, g, 1);
    test_wait_events(&t, CUZK_EVENT_JOURNAL, CUZK_EVENT_INSTANT, NULL, 1);
    memory_journal_fail(journal, CUZK_OK);
    test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "id", 2);
    test_wait_events(&t, CUZK_EVENT_JOURNAL, CUZK_EVENT_INSTANT, NULL, 2);
    assert_int_equal(memory_journal_units(journal), 2);
    test_gate_open(&t, g);
    test_expect_completed(&call, "units=4", 4);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, "id"), 4);
    test_clear(&t);
    memory_journal_destroy(journal);
}

/* A full disk that takes small writes between large ones: it is not told again and again. */
static void test_journal_flaps(void **state)
{
    (void)state;
    cuzk_journal *journal = memory_journal_create();
    engine_test t;
    test_init(&t);
    t.options.journal = journal;
    test_start(&t, NULL);
    for (int i = 0; i < 20; i++) {
        test_call refused, taken;
        memory_journal_fail(journal, CUZK_E_FILE);
        test_submit(&t, &refused, "refused", 0, "n=1");
        test_wait_submitted(&refused);
        assert_int_equal(refused.status, CUZK_E_UNAVAILABLE);
        assert_true(test_look(&t).journal_failed);
        memory_journal_fail(journal, CUZK_OK);
        char id[32];
        snprintf(id, sizeof id, "taken-%d", i);
        test_submit(&t, &taken, id, 0, "n=2");
        test_expect_completed(&taken, "n=2", 1);
        assert_false(test_look(&t).journal_failed);
        test_call_clear(&refused);
    }
    /* that it fails, that it is well again, that it fails again: then not before it is well for
     * longer */
    assert_int_equal(test_count_events(&t, CUZK_EVENT_JOURNAL, CUZK_EVENT_INSTANT, NULL), 3);
    long at = test_find_event(&t, CUZK_EVENT_JOURNAL, CUZK_EVENT_INSTANT, NULL, -1, 1);
    assert_int_equal(test_event(&t, at).event.status, CUZK_OK);
    test_clear(&t);
    memory_journal_destroy(journal);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, no_faults)
    const struct CMUnitTest tests[] = {
        TEST(test_bad_proof_elsewhere),
        TEST(test_bad_proof_twice),
        TEST(test_bad_device),
        TEST(test_unchecked_witness),
        TEST(test_lost_device),
        TEST(test_only_device_lost),
        TEST(test_each_place),
        TEST(test_words_of_faults),
        TEST(test_clock_jumps),
        TEST(test_disk_full),
        TEST(test_disk_full_between_units),
        TEST(test_refused_at_once),
        TEST(test_refused_is_not_abandoned),
        cmocka_unit_test(test_journal_flaps),
    };
    return cmocka_run_group_tests_name("engine: faults", tests, NULL, NULL);
}
