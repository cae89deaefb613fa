/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which device a unit is given to (src/engine/place.c): all devices work at once, keys come onto
 * more devices where that pays. Time is counted in rounds, not in seconds: in each, every unit that
 * is on a device ends there. */
#include "engine_test.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const null_circuit CIRCUITS[] = {
    {.name = "null-a", .bytes = 1, .device_bytes = 600},
    {.name = "null-b", .bytes = 1, .device_bytes = 600},
    {.name = "null-slow", .bytes = 1, .device_bytes = 300, .put_us = 500000},
    {.name = "null-large", .bytes = 1, .device_bytes = 850},
    {.name = "null-bare", .bytes = 1},
};

enum { N_CIRCUITS = sizeof CIRCUITS / sizeof *CIRCUITS };

/* Devices with memory of their own, for one large key each. */
static void begin(engine_test *t, unsigned n_devices, unsigned n_workers)
{
    static const char *const IDS[] = {"dev:0", "dev:1", "dev:2", "dev:3",
                                      "dev:4", "dev:5", "dev:6", "dev:7"};
    test_init(t);
    t->options.n_devices = n_devices;
    for (unsigned d = 0; d < n_devices; d++) {
        t->devices[d] =
            (cuzk_engine_device){.id = IDS[d], .n_workers = n_workers, .memory_bytes = 1000};
    }
    test_start(t, &(null_options){.circuits = CIRCUITS, .n_circuits = N_CIRCUITS});
}

static unsigned n_on_devices(const cuzk_engine_view *view)
{
    unsigned n = 0;
    for (unsigned d = 0; d < view->n_devices; d++) {
        n += view->devices[d].n_units;
    }
    return n;
}

/* Each device has the same number of units, but for one. Those before them are leaving. */
static void check_even(engine_test *t, unsigned n_units)
{
    cuzk_engine_view view = test_look(t);
    while (n_on_devices(&view) != n_units) {
        sched_yield();
        view = test_look(t);
    }
    for (unsigned d = 0; d < view.n_devices; d++) {
        unsigned least = n_units / view.n_devices;
        assert_in_range(view.devices[d].n_units, least, least + (n_units % view.n_devices > 0));
    }
}

/* The key of null-a is everywhere. */
static void preload(engine_test *t)
{
    bool was_loaded;
    uint64_t load_ns;
    cuzk_error err = {0};
    if (cuzk_engine_preload(t->engine, &was_loaded, &load_ns, "null-a", false, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

/* Rounds that jobs of so many units take, with one worker a device. */
static unsigned rounds(unsigned n_devices, unsigned n_jobs, unsigned n_units)
{
    engine_test t;
    begin(&t, n_devices, 1);
    char payload[64];
    snprintf(payload, sizeof payload, "units=%u device=100", n_units);
    preload(&t);
    test_call calls[8];
    unsigned g = test_gate(&t, NULL_PROVE, "units=", -1);
    for (unsigned i = 0; i < n_jobs; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%u", i);
        test_submit(&t, &calls[i], id, 0, payload);
    }
    unsigned n = 0;
    for (unsigned left = n_jobs * n_units; left > 0; n++) {
        unsigned now = left < n_devices ? left : n_devices;
        test_gate_wait(&t, g, now);
        check_even(&t, now);
        test_gate_pass(&t, g, now);
        left -= now;
    }
    for (unsigned i = 0; i < n_jobs; i++) {
        test_expect_completed(&calls[i], payload, n_units);
    }
    test_clear(&t);
    return n;
}

/* A queue of jobs: k devices take a k-th of the time. */
static void test_throughput(void **state)
{
    (void)state;
    unsigned one = rounds(1, 8, 10);
    assert_int_equal(one, 80);
    for (unsigned k = 2; k <= 8; k *= 2) {
        assert_int_equal(rounds(k, 8, 10) * k, one);
    }
}

/* The ten partitions of one job run on all devices at once. */
static void test_latency(void **state)
{
    (void)state;
    unsigned one = rounds(1, 1, 10);
    for (unsigned k = 2; k <= 8; k *= 2) {
        assert_int_equal(rounds(k, 1, 10), (10 + k - 1) / k);
    }
    assert_true(100 * rounds(2, 1, 10) <= 55 * one);
}

/* No device gets a second unit before each has one. */
static void test_one_each(void **state)
{
    (void)state;
    for (unsigned k = 2; k <= 8; k *= 2) {
        engine_test t;
        begin(&t, k, 2);
        preload(&t);
        unsigned all = test_gate(&t, NULL_PROVE, "all=1", -1);
        test_call a, b, c;
        test_submit(&t, &c, "c", 0, "units=64 all=1");
        test_gate_wait(&t, all, 2 * k); /* their threads have started */
        test_gate_open(&t, all);
        test_expect_completed(&c, "units=64 all=1", 64);
        unsigned g = test_gate(&t, NULL_PROVE, "", -1);
        char payload[64];
        snprintf(payload, sizeof payload, "units=%u device=100", k);
        test_submit(&t, &a, "a", 0, payload);
        test_gate_wait(&t, g, k);
        check_even(&t, k);
        test_submit(&t, &b, "b", 0, payload);
        test_gate_wait(&t, g, 2 * k);
        check_even(&t, 2 * k);
        test_gate_open(&t, g);
        test_expect_completed(&a, payload, k);
        test_expect_completed(&b, payload, k);
        test_clear(&t);
    }
}

/* All threads of devices have started: what comes next goes where it is said to. */
static void wait_for_threads(engine_test *t, unsigned n)
{
    unsigned g = test_gate(t, NULL_PROVE, "threads=1", -1);
    test_call call;
    test_submit(t, &call, "threads", 0, "units=64 threads=1 circuit=null-bare");
    test_gate_wait(t, g, n);
    test_gate_open(t, g);
    test_expect_completed(&call, "units=64 threads=1 circuit=null-bare", 64);
}

/* Two circuits whose keys have no room on one device: each stays on its own. */
static void test_matching(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2, 1);
    wait_for_threads(&t, 2);
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        const char *payload = i % 2 == 0 ? "circuit=null-a" : "circuit=null-b";
        test_call call;
        test_submit(&t, &call, id, 0, payload);
        test_expect_completed(&call, payload, 1);
        seen_event e =
            test_event(&t, test_find_event(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, id, 0, 0));
        assert_int_equal(e.event.device, i % 2);
    }
    assert_int_equal(null_work_alive(t.work).n_puts, 2);
    test_clear(&t);
}

/* A key that takes hundreds of times as long to come as a unit: one unit waits for the busy device
 * that has it, though another one is idle; a queue that is many times as long gets it onto both. */
static void test_key_pays(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2, 1);
    wait_for_threads(&t, 2);
    test_call measured, held, waits, many;
    test_submit(&t, &measured, "measured", 0, "prove_us=1000 circuit=null-slow");
    test_expect_completed(&measured, "prove_us=1000 circuit=null-slow", 1);
    unsigned g = test_gate(&t, NULL_PROVE, "held", -1);
    test_submit(&t, &held, "held", 0, "held=1 circuit=null-slow");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &waits, "waits", 0, "n=1 circuit=null-slow");
    while (test_look(&t).ready == 0) {
        sched_yield();
    }
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.ready, 1);
    assert_int_equal(view.devices[0].n_units, 1);
    assert_int_equal(view.devices[1].n_units, 0);
    assert_int_equal(null_work_alive(t.work).n_puts, 1);
    test_submit(&t, &many, "many", 0, "units=4096 circuit=null-slow");
    test_expect_completed(&waits, "n=1 circuit=null-slow", 1);
    test_expect_completed(&many, "units=4096 circuit=null-slow", 4096);
    assert_int_equal(null_work_alive(t.work).n_puts, 2);
    assert_int_equal(test_look(&t).devices[0].n_units, 1); /* still there */
    test_gate_open(&t, g);
    test_expect_completed(&held, "held=1 circuit=null-slow", 1);
    test_clear(&t);
}

/* A unit that waits for room on a device is not passed by smaller ones that come after it. */
static void test_nobody_starves(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 2, 2);
    wait_for_threads(&t, 4);
    unsigned g = test_gate(&t, NULL_PROVE, "small=1", -1);
    test_call small, large, later;
    test_submit(&t, &small, "small", 0, "units=2 small=1 circuit=null-a device=200");
    test_gate_wait(&t, g, 2);
    test_submit(&t, &large, "large", 0, "large=1 circuit=null-b device=300");
    while (test_look(&t).ready == 0) {
        sched_yield();
    }
    test_submit(&t, &later, "later", 0, "later=1 circuit=null-a device=10");
    while (test_look(&t).ready < 2) {
        sched_yield();
    }
    assert_int_equal(test_look(&t).in_device, 2);
    test_gate_open(&t, g);
    test_expect_completed(&small, "units=2 small=1 circuit=null-a device=200", 2);
    test_expect_completed(&large, "large=1 circuit=null-b device=300", 1);
    test_expect_completed(&later, "later=1 circuit=null-a device=10", 1);
    test_clear(&t);
}

static cuzk_status renew(void *user, unsigned device, cuzk_error *err)
{
    (void)user;
    (void)device;
    (void)err;
    return CUZK_OK;
}

/* The first two devices are large, the last one is too small for null-large. */
static void begin_unequal(engine_test *t)
{
    test_init(t);
    t->options.n_devices = 3;
    t->devices[0] = (cuzk_engine_device){.id = "dev:0", .n_workers = 1, .memory_bytes = 1000};
    t->devices[1] = (cuzk_engine_device){.id = "dev:1", .n_workers = 1, .memory_bytes = 1000};
    t->devices[2] = (cuzk_engine_device){.id = "dev:2", .n_workers = 1, .memory_bytes = 800};
    t->options.renew = renew;
    test_start(t, &(null_options){.circuits = CIRCUITS, .n_circuits = N_CIRCUITS});
}

/* Units that the small device can never take run on both others at once. */
static void test_unequal(void **state)
{
    (void)state;
    engine_test t;
    begin_unequal(&t);
    unsigned g = test_gate(&t, NULL_PROVE, "large=1", -1);
    test_call large, small;
    test_submit(&t, &large, "large", 0, "units=4 large=1 circuit=null-large");
    test_gate_wait(&t, g, 2);
    test_submit(&t, &small, "small", 0, "units=3 device=100"); /* on the third, meanwhile */
    test_expect_completed(&small, "units=3 device=100", 3);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.devices[0].n_units, 1);
    assert_int_equal(view.devices[1].n_units, 1);
    test_gate_open(&t, g);
    test_expect_completed(&large, "units=4 large=1 circuit=null-large", 4);
    test_clear(&t);
}

static void drain(engine_test *t, unsigned d, bool wait)
{
    cuzk_device_state was;
    cuzk_error err = {0};
    if (cuzk_engine_device_drain(t->engine, &was, d, wait, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

static cuzk_wait_view first_wait(engine_test *t)
{
    cuzk_engine_view view;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_look(t->engine, &view, false, &err), CUZK_OK);
    cuzk_wait_view wait = view.jobs[0].wait;
    cuzk_engine_view_clear(&view);
    return wait;
}

/* What only drained devices could take stands aside, with and without a witness: it neither holds
 * the small device back nor uses up what witnesses may be made ahead. */
static void test_stranded(void **state)
{
    (void)state;
    engine_test t;
    begin_unequal(&t);
    unsigned g = test_gate(&t, NULL_PROVE, "large=1", -1);
    test_call large, small, late;
    test_submit(&t, &large, "large", 0, "units=40 large=1 circuit=null-large");
    test_gate_wait(&t, g, 2);
    while (test_look(&t).ready == 0) { /* some have their witness */
        sched_yield();
    }
    drain(&t, 0, false);
    drain(&t, 1, false);
    test_gate_pass(&t, g, 2);
    drain(&t, 0, true);
    drain(&t, 1, true);
    test_submit(&t, &small, "small", 0, "units=20 device=100");
    test_expect_completed(&small, "units=20 device=100", 20);
    assert_in_range(test_look(&t).ready, 1, 10); /* no witness was made for the others meanwhile */
    test_submit(&t, &late, "late", 0, "late=1 circuit=null-large"); /* is taken all the same */
    test_wait_submitted(&late);
    assert_int_equal(late.status, CUZK_OK);
    cuzk_wait_view wait = first_wait(&t);
    while (wait.reason != CUZK_WAIT_DEVICE) { /* those that had been proved are being verified */
        sched_yield();
        wait = first_wait(&t);
    }
    assert_int_equal(wait.needed_bytes, 850);
    assert_int_equal(wait.cap_bytes, 800);
    assert_false(large.has_result);
    test_gate_open(&t, g);
    cuzk_device_state was;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_add(t.engine, &was, 1, true, &err), CUZK_OK);
    test_expect_completed(&large, "units=40 large=1 circuit=null-large", 40);
    test_expect_completed(&late, "late=1 circuit=null-large", 1);
    test_clear(&t);
}

/* Stranded with a witness, and cancelled: what may be made ahead stays what it was. */
static void test_stranded_and_cancelled(void **state)
{
    (void)state;
    engine_test t;
    begin_unequal(&t);
    unsigned g = test_gate(&t, NULL_WITNESS, "large=1", -1);
    test_call large, small;
    test_submit(&t, &large, "large", 0, "units=3 large=1 circuit=null-large");
    test_gate_wait(&t, g, 2);
    drain(&t, 0, true);
    drain(&t, 1, true);
    test_gate_open(&t, g);
    while (test_look(&t).ready < 2) {
        sched_yield();
    }
    bool was_running;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "large", &err), CUZK_OK);
    test_expect_state(&large, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&large);
    test_submit(&t, &small, "small", 0, "units=20 device=100");
    test_expect_completed(&small, "units=20 device=100", 20);
    assert_int_equal(test_look(&t).ready, 0);
    test_clear(&t);
}

/* A unit that rather waits than to have another key put somewhere begins when the key that it
 * waits for has come, though nothing else happens then. */
static void test_key_arrives(void **state)
{
    (void)state;
    engine_test t;
    begin(&t, 1, 2);
    test_call measured, large, both;
    test_submit(&t, &measured, "measured", 0, "prove_us=1000 circuit=null-slow");
    test_expect_completed(&measured, "prove_us=1000 circuit=null-slow", 1);
    test_submit(&t, &large, "large", 0, "n=1 circuit=null-large"); /* takes its place */
    test_expect_completed(&large, "n=1 circuit=null-large", 1);
    assert_int_equal(null_work_alive(t.work).on_device, 1);
    unsigned g = test_gate(&t, NULL_PROVE, "both=1", -1);
    test_submit(&t, &both, "both", 0, "units=2 both=1 circuit=null-slow");
    test_gate_wait(&t, g, 2);
    test_gate_open(&t, g);
    test_expect_completed(&both, "units=2 both=1 circuit=null-slow", 2);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throughput),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_one_each),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_key_pays),
        cmocka_unit_test(test_nobody_starves),
        cmocka_unit_test(test_unequal),
        cmocka_unit_test(test_stranded),
        cmocka_unit_test(test_stranded_and_cancelled),
        cmocka_unit_test(test_key_arrives),
    };
    return cmocka_run_group_tests_name("engine_place", tests, NULL, NULL);
}
