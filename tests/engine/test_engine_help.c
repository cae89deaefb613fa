/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A device that has nothing to do helps with a unit of another one (src/engine/help.c): only if
 * nobody else needs it, and whatever becomes of it, the unit is proved. */
#include "engine/faults.h"
#include "engine_test.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const null_circuit CIRCUITS[] = {{.name = "null-a", .bytes = 1, .device_bytes = 600},
                                        {.name = "null-b", .bytes = 1, .device_bytes = 300}};

static const uint64_t LATER_NS = UINT64_C(300000000000);

static cuzk_status renew(void *user, unsigned device, cuzk_error *err)
{
    (void)user;
    (void)device;
    (void)err;
    return CUZK_OK;
}

static void preload(engine_test *t, const char *circuit)
{
    bool was_loaded;
    uint64_t load_ns;
    cuzk_error err = {0};
    if (cuzk_engine_preload(t->engine, &was_loaded, &load_ns, circuit, false, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

/* Two devices of one worker, whose threads have all come. */
static void begin(engine_test *t)
{
    static const char *const IDS[] = {"dev:0", "dev:1"};
    test_init(t);
    t->options.n_devices = 2;
    t->options.renew = renew;
    t->options.retry_ns = LATER_NS;
    for (unsigned d = 0; d < 2; d++) {
        t->devices[d] = (cuzk_engine_device){.id = IDS[d], .n_workers = 1, .memory_bytes = 1000};
    }
    test_start(t, &(null_options){.circuits = CIRCUITS, .n_circuits = 2});
    test_call call;
    unsigned g = test_gate(t, NULL_PROVE, "threads=1", -1);
    test_submit(t, &call, "threads", 0, "units=2 threads=1 circuit=null-b");
    test_gate_wait(t, g, 2);
    test_gate_open(t, g);
    test_expect_completed(&call, "units=2 threads=1 circuit=null-b", 2);
    cuzk_engine_view view = test_look(t);
    while (view.devices[0].n_units + view.devices[1].n_units > 0) {
        sched_yield();
        view = test_look(t);
    }
}

/* The same, with the key of null-a on both. */
static void begin_ready(engine_test *t)
{
    begin(t);
    preload(t, "null-a");
}

static long n_helped(engine_test *t)
{
    return null_work_alive(t->work).n_helped;
}

static seen_event event_of(engine_test *t, cuzk_event_id id, cuzk_event_phase phase,
                           const char *job, unsigned k)
{
    return test_event(t, test_find_event(t, id, phase, job, 0, k));
}

/* Both devices are seen at work for the unit, each with its own lane. */
static void test_idle(void **state)
{
    (void)state;
    engine_test t;
    test_call call;
    begin_ready(&t);
    unsigned g = test_gate(&t, NULL_HELP, "help=1", -1);
    test_submit(&t, &call, "id", 0, "help=1 device=100");
    test_gate_wait(&t, g, 1);
    cuzk_engine_view view = test_look(&t);
    for (unsigned d = 0; d < 2; d++) {
        assert_int_equal(view.devices[d].n_units, 1);
        assert_int_equal(view.devices[d].reserved_bytes, 600 + 300 + 100);
    }
    assert_int_equal(view.in_device, 1); /* one unit on two devices */
    test_gate_open(&t, g);
    test_expect_completed(&call, "help=1 device=100", 1);
    assert_int_equal(n_helped(&t), 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, "id"), 1);
    int first = event_of(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, "id", 0).event.device;
    seen_event help = event_of(&t, CUZK_EVENT_PROVE_HELP, CUZK_EVENT_END, "id", 0);
    assert_int_equal(help.event.device, 1 - first);
    assert_int_equal(help.event.status, CUZK_OK);
    int a = event_of(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, "id", 0).event.device;
    int b = event_of(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, "id", 1).event.device;
    assert_int_equal(a + b, 1);
    while (test_look(&t).devices[1 - first].reserved_bytes != 900) { /* both give theirs back */
        sched_yield();
    }
    test_clear(&t);
}

/* Not while the witness of another unit is made, nor for one of several units. */
static void test_needed(void **state)
{
    (void)state;
    engine_test t;
    test_call a, b, many;
    begin_ready(&t);
    unsigned prove = test_gate(&t, NULL_PROVE, "a=1", -1);
    unsigned witness = test_gate(&t, NULL_WITNESS, "b=1", -1);
    test_submit(&t, &a, "a", 0, "a=1 help=1");
    test_gate_wait(&t, prove, 1);
    test_submit(&t, &b, "b", 0, "b=1 help=1");
    test_gate_wait(&t, witness, 1);
    test_gate_open(&t, prove);
    test_expect_completed(&a, "a=1 help=1", 1);
    assert_int_equal(n_helped(&t), 0);
    test_gate_open(&t, witness);
    test_expect_completed(&b, "b=1 help=1", 1);
    assert_int_equal(n_helped(&t), 1);
    unsigned two = test_gate(&t, NULL_PROVE, "units=2", -1);
    test_submit(&t, &many, "many", 0, "units=2 help=1");
    test_gate_wait(&t, two, 2); /* a unit on each device */
    test_gate_pass(&t, two, 1);
    test_wait_events(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_END, "many", 1);
    assert_int_equal(n_helped(&t), 1);
    test_gate_open(&t, two);
    test_expect_completed(&many, "units=2 help=1", 2);
    test_clear(&t);
}

/* Nor a device without the key, or one from which another key would have to go. */
static void test_no_key_no_room(void **state)
{
    (void)state;
    engine_test t;
    test_call call;
    begin(&t);
    test_submit(&t, &call, "no key", 0, "help=1");
    test_expect_completed(&call, "help=1", 1);
    assert_int_equal(n_helped(&t), 0);
    test_clear(&t);
    begin_ready(&t);
    for (unsigned d = 0; d < 2; d++) { /* both keys */
        assert_int_equal(test_look(&t).devices[d].reserved_bytes, 900);
    }
    test_submit(&t, &call, "no room", 0, "help=1 device=200");
    test_expect_completed(&call, "help=1 device=200", 1);
    assert_int_equal(n_helped(&t), 0);
    test_clear(&t);
}

/* The unit is proved without it; what the device did wrong is held against it. */
static void test_fails(void **state)
{
    (void)state;
    static const struct {
        const char *payload;
        unsigned n_faults, n_lost;
    } cases[] = {{"help=1 fail=help:E_MEMORY", 0, 0},
                 {"help=1 fail=help:E_DEVICE", 1, 0},
                 {"help=1 fail=help:E_DEVICE_LOST", 0, 1}};
    for (unsigned i = 0; i < 3; i++) {
        engine_test t;
        test_call call;
        begin_ready(&t);
        test_submit(&t, &call, "id", 0, cases[i].payload);
        test_expect_completed(&call, cases[i].payload, 1);
        assert_int_equal(n_helped(&t), 0);
        seen_event help = event_of(&t, CUZK_EVENT_PROVE_HELP, CUZK_EVENT_END, "id", 0);
        assert_true(help.event.status != CUZK_OK);
        unsigned d = (unsigned)help.event.device;
        test_wait_events(&t, CUZK_EVENT_DEVICE_RENEWED, CUZK_EVENT_INSTANT, NULL, cases[i].n_lost);
        cuzk_engine_view view = test_look(&t);
        assert_int_equal(view.devices[d].n_faults, cases[i].n_faults);
        assert_int_equal(view.devices[d].n_renewals, cases[i].n_lost);
        assert_int_equal(view.devices[1 - d].n_faults, 0);
        assert_int_equal(view.retries, 0);
        test_clear(&t);
    }
}

static void set_faults(const char *text)
{
    cuzk_error err = {0};
    assert_int_equal(cuzk_faults_set(text, &err), CUZK_OK);
}

/* Nobody knows which of the two it was: it is proved once more, by one, and none is blamed. */
static void test_bad_proof(void **state)
{
    (void)state;
    engine_test t;
    test_call call;
    begin_ready(&t);
    set_faults("proof*1");
    test_submit(&t, &call, "id", 0, "help=1");
    test_expect_completed(&call, "help=1", 1);
    set_faults("");
    assert_int_equal(n_helped(&t), 1);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.retries, 1);
    assert_int_equal(view.devices[0].n_faults + view.devices[1].n_faults, 0);
    test_clear(&t);
}

/* What the first device waits for ends, though nobody gives the helper its lane. */
static void test_cancelled(void **state)
{
    (void)state;
    engine_test t;
    test_call call, other;
    begin_ready(&t);
    unsigned help = test_gate(&t, NULL_HELP, "help=1", -1);
    unsigned lane = test_gate(&t, NULL_LANE, "other=1", -1);
    test_submit(&t, &call, "id", 0, "help=1");
    test_gate_wait(&t, help, 1);
    test_wait_events(&t, CUZK_EVENT_LANE, CUZK_EVENT_END, "id", 1);
    test_submit(&t, &other, "other", CUZK_PRIORITY_CRITICAL, "units=2 other=1");
    test_gate_wait(&t, lane, 2); /* both lanes, by what is kept for such units */
    test_gate_open(&t, help);
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "id", 2);
    bool was_running;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "id", &err), CUZK_OK);
    test_expect_state(&call, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&call);
    test_wait_events(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_END, "id", 1);
    assert_int_equal(n_helped(&t), 0);
    test_gate_open(&t, lane);
    test_expect_completed(&other, "units=2 other=1", 2);
    test_clear(&t);
}

/* A device that is drained meanwhile ends its part before. */
static void test_drained(void **state)
{
    (void)state;
    engine_test t;
    test_call call;
    begin_ready(&t);
    unsigned g = test_gate(&t, NULL_HELP, "help=1", -1);
    test_submit(&t, &call, "id", 0, "help=1");
    test_gate_wait(&t, g, 1);
    unsigned d =
        (unsigned)event_of(&t, CUZK_EVENT_PROVE_HELP, CUZK_EVENT_BEGIN, "id", 0).event.device;
    cuzk_device_state was;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_drain(t.engine, &was, d, false, &err), CUZK_OK);
    assert_int_equal(test_look(&t).devices[d].state, CUZK_DEVICE_DRAINING);
    test_gate_open(&t, g);
    test_expect_completed(&call, "help=1", 1);
    assert_int_equal(n_helped(&t), 1);
    assert_int_equal(cuzk_engine_device_drain(t.engine, &was, d, true, &err), CUZK_OK);
    test_submit(&t, &call, "alone", 0, "help=1 n=2");
    test_expect_completed(&call, "help=1 n=2", 1);
    assert_int_equal(n_helped(&t), 1);
    test_clear(&t);
}

/* The key of null-a on both again, after one was begun anew. */
static void bring_key(engine_test *t)
{
    cuzk_engine_view view = test_look(t);
    while (view.devices[0].reserved_bytes < 600 || view.devices[1].reserved_bytes < 600) {
        bool was_loaded;
        uint64_t bytes;
        cuzk_error err = {0};
        assert_int_equal(cuzk_engine_evict(t->engine, &was_loaded, &bytes, "null-a", &err),
                         CUZK_OK);
        preload(t, "null-a");
        view = test_look(t);
    }
}

/* A device that was lost and has made a proof, or a part of one, since then is well: it is begun
 * anew at once when it is lost again. */
static void test_well_again(void **state)
{
    (void)state;
    for (int is_helper = 0; is_helper < 2; is_helper++) {
        engine_test t;
        begin(&t);
        for (unsigned i = 0; i < 2; i++) {
            test_call call;
            char id[16], payload[64];
            bring_key(&t);
            snprintf(id, sizeof id, "both %u", i);
            snprintf(payload, sizeof payload, "help=1 n=%u", i);
            test_submit(&t, &call, id, 0, payload);
            test_expect_completed(&call, payload, 1);
            assert_int_equal(n_helped(&t), i + 1);
            snprintf(id, sizeof id, "lost %u", i);
            snprintf(payload, sizeof payload, "%s n=%u",
                     is_helper ? "help=1 fail=help:E_DEVICE_LOST" : "", i);
            set_faults(is_helper ? "" : "prove@0*1:E_DEVICE_LOST");
            test_submit(&t, &call, id, 0, payload);
            test_expect_completed(&call, payload, 1);
            test_wait_events(&t, CUZK_EVENT_DEVICE_LOST, CUZK_EVENT_INSTANT, NULL, i + 1);
            unsigned d = is_helper;
            assert_int_equal(test_look(&t).devices[d].retry_ns, 0);
            test_wait_events(&t, CUZK_EVENT_DEVICE_RENEWED, CUZK_EVENT_INSTANT, NULL, i + 1);
            assert_int_equal(test_look(&t).devices[d].n_renewals, i + 1);
        }
        set_faults("");
        test_clear(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle),           cmocka_unit_test(test_needed),
        cmocka_unit_test(test_no_key_no_room), cmocka_unit_test(test_fails),
        cmocka_unit_test(test_bad_proof),      cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_drained),        cmocka_unit_test(test_well_again),
    };
    return cmocka_run_group_tests_name("engine_help", tests, NULL, NULL);
}
