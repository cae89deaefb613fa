/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a job waits for, as the picture of the engine tells it: each reason is made to happen and
 * held by a gate. */
#include "engine_test.h"
#include "memory_journal.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t MIB = UINT64_C(1) << 20;

static char shown[4096]; /* the last picture, for a test that waits in vain under a debugger */

/* The wait of a job; its name is copied to name. False: it is not in the picture. */
static bool wait_of(engine_test *t, const char *id, cuzk_wait_view *wait, char name[TEXT_MAX_BYTES])
{
    cuzk_engine_view view;
    cuzk_error err = {0};
    bool found = false;
    assert_int_equal(cuzk_engine_look(t->engine, &view, true, &err), CUZK_OK);
    for (unsigned i = 0; i < view.n_jobs; i++) {
        if (strcmp(view.jobs[i].job_id, id) == 0) {
            *wait = view.jobs[i].wait;
            snprintf(name, TEXT_MAX_BYTES, "%s", wait->name != NULL ? wait->name : "");
            found = true;
        }
    }
    cuzk_engine_view_clear(&view);
    return found;
}

/* Look until the job waits for that. */
static cuzk_wait_view expect(engine_test *t, const char *id, cuzk_wait_reason reason,
                             const char *name)
{
    cuzk_wait_view wait = {0};
    char found[TEXT_MAX_BYTES] = "";
    while (!wait_of(t, id, &wait, found) || wait.reason != reason || strcmp(found, name) != 0) {
        snprintf(shown, sizeof shown, "%s: %u %s", id, (unsigned)wait.reason, found);
        sched_yield();
    }
    return wait;
}

static void submit(engine_test *t, test_call *call, const char *id, unsigned priority,
                   const char *payload)
{
    test_submit(t, call, id, priority, payload);
    test_wait_submitted(call);
}

/* Memory for a unit, with both numbers; the one behind it waits for its turn. */
static void test_memory(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.intake_bytes = 16 * MIB; /* work: 48 MiB, 3 of them for CRITICAL */
    t.options.witness_ahead = 4;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "holder", -1);
    test_call holder, large, small;
    submit(&t, &holder, "holder", 0, "holder witness=31457280");
    test_gate_wait(&t, g, 1);
    expect(&t, "holder", CUZK_WAIT_NOTHING, "");
    submit(&t, &large, "large", 0, "n=large witness=20971520");
    submit(&t, &small, "small", 0, "n=small witness=1000");
    cuzk_wait_view wait = expect(&t, "large", CUZK_WAIT_MEMORY, "");
    assert_int_equal(wait.needed_bytes, 20 * MIB);
    assert_int_equal(wait.cap_bytes, 48 * MIB);
    assert_true(wait.free_bytes > 14 * MIB && wait.free_bytes < 15 * MIB + 1);
    expect(&t, "small", CUZK_WAIT_JOB, "large");
    test_gate_open(&t, g);
    test_expect_completed(&holder, "holder witness=31457280", 1);
    test_expect_completed(&large, "n=large witness=20971520", 1);
    test_expect_completed(&small, "n=small witness=1000", 1);
    test_clear(&t);
}

/* The circuit's key: that it is loaded, that others are loaded before it, that it has no room. */
static void test_residents(void **state)
{
    (void)state;
    static const null_circuit CIRCUITS[] = {
        {.name = "null-a", .bytes = 30 << 20},
        {.name = "null-b", .bytes = 30 << 20},
    };
    engine_test t;
    test_init(&t);
    t.options.intake_bytes = 16 * MIB;
    test_start(&t, &(null_options){.circuits = CIRCUITS, .n_circuits = 2});
    unsigned load = test_gate(&t, NULL_LOAD, "null-a", -1);
    unsigned lane = test_gate(&t, NULL_LANE, "first", -1);
    test_call first, second;
    submit(&t, &first, "first", 0, "first circuit=null-a");
    test_gate_wait(&t, load, 1);
    expect(&t, "first", CUZK_WAIT_RESIDENT, "null-a");
    test_gate_open(&t, load);
    test_gate_wait(&t, lane, 1);
    submit(&t, &second, "second", 0, "second circuit=null-b");
    cuzk_wait_view wait = expect(&t, "second", CUZK_WAIT_MEMORY, "null-b");
    assert_int_equal(wait.needed_bytes, 30 * MIB);
    assert_true(wait.free_bytes < 18 * MIB);
    test_gate_open(&t, lane);
    test_expect_completed(&first, "first circuit=null-a", 1);
    test_expect_completed(&second, "second circuit=null-b", 1);
    test_clear(&t);
}

/* Threads that are all busy, the lane, and a place behind other jobs. */
static void test_stages(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_witness = 1;
    test_start(&t, NULL);
    unsigned lane = test_gate(&t, NULL_LANE, "a", -1);
    unsigned witness = test_gate(&t, NULL_WITNESS, "d", -1);
    test_call a, b, c, d, e;
    submit(&t, &a, "a", 0, "a");
    test_gate_wait(&t, lane, 1);
    submit(&t, &b, "b", 0, "b");
    expect(&t, "b", CUZK_WAIT_LANE, "a"); /* on the other worker */
    submit(&t, &c, "c", 0, "c");
    cuzk_wait_view wait = expect(&t, "c", CUZK_WAIT_STAGE, "prove"); /* its witness is ready */
    assert_int_equal(wait.n_threads, 2);
    submit(&t, &d, "d", 0, "d units=2");
    wait = expect(&t, "d", CUZK_WAIT_STAGE, "prove"); /* no witness further ahead */
    submit(&t, &e, "e", 0, "e");
    expect(&t, "e", CUZK_WAIT_JOB, "d");
    test_gate_open(&t, lane);
    test_gate_wait(&t, witness, 1);
    expect(&t, "d", CUZK_WAIT_NOTHING, "");
    expect(&t, "e", CUZK_WAIT_JOB, "d");
    test_gate_open(&t, witness);
    test_expect_completed(&a, "a", 1);
    test_expect_completed(&b, "b", 1);
    test_expect_completed(&c, "c", 1);
    test_expect_completed(&d, "d units=2", 2);
    test_expect_completed(&e, "e", 1);
    test_clear(&t);
}

static void test_later_stages(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_finishers = t.options.n_verifiers = t.options.n_witness = 1;
    t.options.witness_ahead = 4;
    test_start(&t, NULL);
    unsigned finish = test_gate(&t, NULL_FINISH, "a", -1);
    unsigned verify = test_gate(&t, NULL_VERIFY, "a", -1);
    test_call a, b;
    submit(&t, &a, "a", 0, "a");
    test_gate_wait(&t, finish, 1);
    submit(&t, &b, "b", 0, "b");
    expect(&t, "b", CUZK_WAIT_STAGE, "finish");
    test_gate_open(&t, finish);
    test_gate_wait(&t, verify, 1);
    expect(&t, "b", CUZK_WAIT_STAGE, "verify");
    test_gate_open(&t, verify);
    test_expect_completed(&a, "a", 1);
    test_expect_completed(&b, "b", 1);
    test_clear(&t);
}

/* A kernel region that a cancellation does not end. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_in, is_open;
} region = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static cuzk_status hold_region(void *user, null_stage stage, const char *text, int unit,
                               const cuzk_work_call *call)
{
    (void)user;
    (void)unit;
    (void)call;
    if (stage == NULL_LANE && text[0] == 'a') {
        pthread_mutex_lock(&region.lock);
        region.is_in = true;
        pthread_cond_broadcast(&region.changed);
        while (!region.is_open) {
            pthread_cond_wait(&region.changed, &region.lock);
        }
        pthread_mutex_unlock(&region.lock);
    }
    return CUZK_OK;
}

/* A device's memory; a cancelled job that still holds the lane is named no more. */
static void test_device(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.devices[0].memory_bytes = 1000000;
    t.options.witness_ahead = 4;
    test_start(&t, &(null_options){.hook = hold_region});
    test_call a, b, c;
    submit(&t, &a, "a", 0, "a device=600000");
    pthread_mutex_lock(&region.lock);
    while (!region.is_in) {
        pthread_cond_wait(&region.changed, &region.lock);
    }
    pthread_mutex_unlock(&region.lock);
    submit(&t, &b, "b", 0, "b device=700000");
    cuzk_wait_view wait = expect(&t, "b", CUZK_WAIT_DEVICE_MEMORY, "");
    assert_int_equal(wait.needed_bytes, 700000);
    assert_int_equal(wait.free_bytes, 400000 - 1000000 / 16); /* a slice is for CRITICAL */
    assert_int_equal(wait.cap_bytes, 1000000);
    submit(&t, &c, "c", CUZK_PRIORITY_HIGH, "c device=1000");
    expect(&t, "c", CUZK_WAIT_LANE, "a");
    bool was_running = false;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "a", &err), CUZK_OK);
    expect(&t, "c", CUZK_WAIT_LANE, "");
    pthread_mutex_lock(&region.lock);
    region.is_open = true;
    pthread_cond_broadcast(&region.changed);
    pthread_mutex_unlock(&region.lock);
    test_expect_state(&a, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&a);
    test_expect_completed(&b, "b device=700000", 1);
    test_expect_completed(&c, "c device=1000", 1);
    test_clear(&t);
}

/* Payloads that wait to be taken in. */
static void test_intake(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_decoders = 1;
    test_start(&t, NULL);
    unsigned decode = test_gate(&t, NULL_DECODE, "a", -1);
    test_call a, b;
    test_submit(&t, &a, "a", 0, "a");
    test_gate_wait(&t, decode, 1);
    assert_int_equal(test_look(&t).intake_wait.reason, CUZK_WAIT_NOTHING);
    test_submit(&t, &b, "b", 0, "b");
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.n_intake, 1);
    assert_int_equal(view.intake_wait.reason, CUZK_WAIT_STAGE);
    assert_int_equal(view.intake_wait.n_threads, 1);
    test_gate_open(&t, decode);
    test_expect_completed(&a, "a", 1);
    test_expect_completed(&b, "b", 1);
    test_clear(&t);
}

static void on_reserved(void *user, cuzk_status status, const char *error)
{
    (void)error;
    assert_int_equal(status, CUZK_OK);
    ++*(unsigned *)user;
}

static void test_intake_memory(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t); /* payloads: 14 MiB */
    test_start(&t, NULL);
    unsigned n = 0;
    for (int i = 0; i < 3; i++) {
        cuzk_engine_reserve(t.engine, 6 * MIB, on_reserved, &n);
    }
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.n_intake, 1);
    assert_int_equal(view.intake_wait.reason, CUZK_WAIT_MEMORY);
    assert_int_equal(view.intake_wait.needed_bytes, 6 * MIB);
    assert_int_equal(view.intake_wait.free_bytes, 2 * MIB);
    for (int i = 0; i < 3; i++) {
        cuzk_engine_release(t.engine, 6 * MIB);
    }
    test_clear(&t);
    assert_int_equal(n, 3);
}

/* A unit may begin while the journal still writes its job down: it is not older than the job. */
static void test_age(void **state)
{
    (void)state;
    cuzk_journal *journal = memory_journal_create();
    engine_test t;
    test_init(&t);
    t.options.journal = journal;
    test_start(&t, NULL);
    unsigned lane = test_gate(&t, NULL_LANE, "a", -1);
    test_call a;
    memory_journal_hold(journal, true);
    test_submit(&t, &a, "a", 0, "a");
    test_gate_wait(&t, lane, 1);
    memory_journal_hold(journal, false);
    test_wait_submitted(&a);
    cuzk_engine_view view;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_look(t.engine, &view, false, &err), CUZK_OK);
    assert_int_equal(view.n_jobs, 1);
    assert_true(view.jobs[0].started_ns_ago > 0);
    assert_true(view.jobs[0].age_ns >= view.jobs[0].started_ns_ago);
    cuzk_engine_view_clear(&view);
    test_gate_open(&t, lane);
    test_expect_completed(&a, "a", 1);
    test_clear(&t);
    memory_journal_destroy(journal);
}

/* After a restart: a payload that is still in the journal. */
static void test_payload(void **state)
{
    (void)state;
    cuzk_journal *journal = memory_journal_create();
    engine_test t;
    test_init(&t);
    t.options.journal = journal;
    test_start(&t, NULL);
    unsigned lane = test_gate(&t, NULL_LANE, "a", -1);
    test_call a;
    submit(&t, &a, "a", 0, "a");
    test_gate_wait(&t, lane, 1);
    memory_journal_crash(journal);
    test_gate_open(&t, lane);
    test_stop(&t);
    test_wait_result(&a);
    test_call_clear(&a);
    memory_journal_revive(journal);
    memory_journal_hold(journal, true);
    test_start(&t, NULL);
    expect(&t, "a", CUZK_WAIT_PAYLOAD, "");
    memory_journal_hold(journal, false);
    test_await(&t, &a, "a", 0);
    test_expect_completed(&a, "a", 1);
    test_clear(&t);
    memory_journal_destroy(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_residents),
        cmocka_unit_test(test_stages),        cmocka_unit_test(test_later_stages),
        cmocka_unit_test(test_device),        cmocka_unit_test(test_intake),
        cmocka_unit_test(test_intake_memory), cmocka_unit_test(test_age),
        cmocka_unit_test(test_payload),
    };
    return cmocka_run_group_tests_name("engine: what jobs wait for", tests, NULL, NULL);
}
