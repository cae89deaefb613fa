/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Residents: on demand, by name, at once, evicted when room is needed, never in use (BC-102). */
#include "engine_test.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t MIB = UINT64_C(1) << 20;
static const null_circuit CIRCUITS[] = {
    {.name = "null-a", .bytes = 20 << 20},
    {.name = "null-b", .bytes = 20 << 20},
    {.name = "null-c", .bytes = 20 << 20},
    {.name = "no-file", .bytes = 1, .load_status = CUZK_E_FILE},
};

/* Work's share: 50 MiB, so that two of the circuits fit beside each other, not three. */
static void begin(engine_test *t)
{
    test_init(t);
    t->options.budget_bytes = 80 * MIB;
    t->options.intake_bytes = 30 * MIB;
    test_start(t, &(null_options){.circuits = CIRCUITS, .n_circuits = 4});
}

/* Names of the circuits of events of an id and phase, in order. */
static void expect_circuits(engine_test *t, cuzk_event_id id, cuzk_event_phase phase,
                            const char *const *names, unsigned n)
{
    test_wait_events(t, id, phase, NULL, n);
    for (unsigned i = 0; i < n; i++) {
        long at = test_find_event(t, id, phase, NULL, -1, i);
        assert_string_equal(test_event(t, at).text, names[i]);
    }
}

static void prove(engine_test *t, const char *id, const char *payload)
{
    test_call call;
    test_submit(t, &call, id, 0, payload);
    test_expect_completed(&call, payload, 1);
}

static void test_on_demand_and_lru(void **state)
{
    (void)state;
    engine_test t;
    begin(&t);
    prove(&t, "1", "circuit=null-a");
    prove(&t, "2", "circuit=null-b");
    prove(&t, "3", "circuit=null-a n=2");
    prove(&t, "4", "circuit=null-c"); /* null-b was used longest ago */
    prove(&t, "5", "circuit=null-a n=3");
    prove(&t, "6", "circuit=null-b n=2"); /* now null-c was */
    const char *loads[] = {"null-a", "null-b", "null-c", "null-b"};
    const char *evicted[] = {"null-b", "null-c"};
    expect_circuits(&t, CUZK_EVENT_RESIDENT, CUZK_EVENT_END, loads, 4);
    expect_circuits(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, evicted, 2);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_RESIDENT, CUZK_EVENT_END, NULL), 4);
    test_wait_reserved(&t, 40 * MIB);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.n_residents, 2);
    assert_true(view.peak_bytes <= view.budget_bytes);
    test_clear(&t);
}

/* What is in use stays, however much room is wanted; the other waits for it. */
static void test_in_use(void **state)
{
    (void)state;
    engine_test t;
    begin(&t);
    unsigned g = test_gate(&t, NULL_LANE, "holds", -1);
    test_call a, b, c;
    test_submit(&t, &a, "a", 0, "circuit=null-a holds");
    test_submit(&t, &b, "b", 0, "circuit=null-b holds");
    test_wait_events(&t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, NULL, 2);
    test_submit(&t, &c, "c", CUZK_PRIORITY_CRITICAL, "circuit=null-c");
    test_wait_submitted(&c);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL), 0);
    assert_int_equal(test_look(&t).kinds[1].pending, 1);
    test_gate_open(&t, g);
    test_expect_completed(&a, "circuit=null-a holds", 1);
    test_expect_completed(&b, "circuit=null-b holds", 1);
    test_expect_completed(&c, "circuit=null-c", 1);
    test_clear(&t);
}

/* Loads of two circuits at once, and a job of a third goes through meanwhile. */
static void test_loads_at_once(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1},
                                         {.name = "null-b", .bytes = 1},
                                         {.name = "null-c", .bytes = 1}};
    engine_test t;
    test_init(&t);
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 3});
    prove(&t, "c", "circuit=null-c");
    unsigned g = test_gate(&t, NULL_LOAD, "", -1);
    test_call a, a2, b;
    test_submit(&t, &a, "a", CUZK_PRIORITY_CRITICAL, "circuit=null-a");
    test_submit(&t, &a2, "a2", CUZK_PRIORITY_CRITICAL, "circuit=null-a n=2");
    test_submit(&t, &b, "b", 0, "circuit=null-b");
    test_gate_wait(&t, g, 2);
    prove(&t, "c2", "circuit=null-c n=2");
    cuzk_engine_view view;
    assert_int_equal(cuzk_engine_look(t.engine, &view, false, NULL), CUZK_OK); /* never waits */
    unsigned n_loading = 0;
    for (unsigned i = 0; i < view.n_residents; i++) {
        n_loading += view.residents[i].state == CUZK_RESIDENT_LOADING;
    }
    assert_int_equal(n_loading, 2);
    cuzk_engine_view_clear(&view);
    test_gate_open(&t, g);
    test_expect_completed(&a, "circuit=null-a", 1);
    test_expect_completed(&a2, "circuit=null-a n=2", 1);
    test_expect_completed(&b, "circuit=null-b", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_RESIDENT, CUZK_EVENT_END, NULL), 3);
    assert_true(a.times.resident_ns > 0);
    test_clear(&t);
}

/* All jobs of a circuit that cannot be loaded fail with its reason; the next one tries again. */
static void test_load_fails(void **state)
{
    (void)state;
    engine_test t;
    begin(&t);
    unsigned g = test_gate(&t, NULL_LOAD, "", -1);
    test_call calls[3];
    for (int i = 0; i < 3; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, "circuit=no-file units=3");
        test_wait_submitted(&calls[i]);
    }
    test_gate_wait(&t, g, 1);
    test_gate_open(&t, g);
    for (int i = 0; i < 3; i++) {
        test_expect_state(&calls[i], CUZK_JOB_FAILED, CUZK_E_FILE);
        assert_non_null(strstr(calls[i].result_error, "no-file"));
        assert_non_null(strstr(calls[i].result_error, "not there"));
        test_call_clear(&calls[i]);
    }
    assert_int_equal(test_count_events(&t, CUZK_EVENT_RESIDENT, CUZK_EVENT_END, NULL), 1);
    test_submit(&t, &calls[0], "job-0", 0, "circuit=no-file units=3");
    test_expect_state(&calls[0], CUZK_JOB_FAILED, CUZK_E_FILE);
    test_call_clear(&calls[0]);
    test_wait_reserved(&t, 0);
    test_clear(&t);
}

static void *preload_a(void *arg)
{
    engine_test *t = (engine_test *)arg;
    bool was_loaded = true;
    uint64_t ns = 0;
    cuzk_error err = {0};
    cuzk_status status = cuzk_engine_preload(t->engine, &was_loaded, &ns, "null-a", false, &err);
    /* one of the two may come when the other has loaded it */
    return status == CUZK_OK && was_loaded == (ns == 0) ? t : NULL;
}

/* Two at once share a load; a third finds it there. */
static void test_preload(void **state)
{
    (void)state;
    engine_test t;
    begin(&t);
    unsigned g = test_gate(&t, NULL_LOAD, "null-a", -1);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, preload_a, &t);
    }
    test_gate_wait(&t, g, 1);
    test_gate_open(&t, g);
    for (int i = 0; i < 2; i++) {
        void *is_well = NULL;
        pthread_join(threads[i], &is_well);
        assert_non_null(is_well);
    }
    bool was_loaded = false;
    uint64_t ns = 1;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, "null-a", false, &err),
                     CUZK_OK);
    assert_true(was_loaded);
    assert_int_equal(ns, 0);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_RESIDENT, CUZK_EVENT_END, NULL), 1);
    static const char *const WRONG[] = {"porep-99g", ""};
    for (int i = 0; i < 2; i++) {
        err = (cuzk_error){0};
        assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, WRONG[i], false, &err),
                         CUZK_E_NOT_FOUND);
        assert_false(was_loaded);
        assert_non_null(strstr(err.text, "null-a")); /* the list */
    }
    err = (cuzk_error){0};
    assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, "no-file", false, &err),
                     CUZK_E_FILE);
    assert_non_null(strstr(err.text, "no-file"));
    test_clear(&t);
}

static bool evict(engine_test *t, const char *circuit, uint64_t *freed)
{
    bool was_loaded = false;
    assert_int_equal(cuzk_engine_evict(t->engine, &was_loaded, freed, circuit, NULL), CUZK_OK);
    return was_loaded;
}

static void test_evict_by_name(void **state)
{
    (void)state;
    engine_test t;
    begin(&t);
    uint64_t freed = 1;
    assert_false(evict(&t, "null-a", &freed));
    assert_int_equal(freed, 0);
    assert_false(evict(&t, "no-file", &freed)); /* a circuit, even without its file */
    bool was_loaded = true;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_evict(t.engine, &was_loaded, &freed, "porep-99g", &err),
                     CUZK_E_NOT_FOUND);
    assert_false(was_loaded);
    assert_non_null(strstr(err.text, "null-a")); /* the list */
    prove(&t, "1", "circuit=null-a");
    assert_true(evict(&t, "null-a", &freed));
    assert_int_equal(freed, 20 * MIB);
    test_wait_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL, 1);
    test_wait_reserved(&t, 0);
    assert_false(evict(&t, "null-a", &freed));
    /* in use: when its last unit ends */
    unsigned g = test_gate(&t, NULL_LANE, "holds", -1);
    test_call call;
    test_submit(&t, &call, "2", 0, "circuit=null-a holds");
    test_gate_wait(&t, g, 1);
    assert_true(evict(&t, "null-a", &freed));
    assert_true(evict(&t, "null-a", &freed));
    assert_int_equal(test_count_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL), 1);
    test_gate_open(&t, g);
    test_expect_completed(&call, "circuit=null-a holds", 1);
    test_wait_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL, 2);
    test_wait_reserved(&t, 0);
    prove(&t, "3", "circuit=null-a n=3");
    test_clear(&t);
}

static void begin_with_idle_time(engine_test *t, uint64_t evict_idle_ns)
{
    test_init(t);
    t->options.budget_bytes = 80 * MIB;
    t->options.intake_bytes = 30 * MIB;
    t->options.evict_idle_ns = evict_idle_ns;
    test_start(t, &(null_options){.circuits = CIRCUITS, .n_circuits = 4});
}

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

/* While something runs: not before it was idle for as long as it is told to be kept. */
static void test_idle_time(void **state)
{
    (void)state;
    engine_test t;
    begin_with_idle_time(&t, 50000000);
    prove(&t, "1", "circuit=null-a");
    unsigned g = test_gate(&t, NULL_LANE, "holds", -1);
    test_call holds, waits;
    test_submit(&t, &holds, "2", 0, "circuit=null-b holds");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &waits, "3", 0, "circuit=null-c");
    test_wait_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL, 1);
    test_gate_open(&t, g);
    test_expect_completed(&holds, "circuit=null-b holds", 1);
    test_expect_completed(&waits, "circuit=null-c", 1);
    long used = test_find_event(&t, CUZK_EVENT_VERIFY, CUZK_EVENT_END, "1", -1, 0);
    long evicted = test_find_event(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL, -1, 0);
    assert_string_equal(test_event(&t, evicted).text, "null-a");
    assert_true(test_event(&t, evicted).event.ns - test_event(&t, used).event.ns >= 50000000);
    test_clear(&t);
}

/* What is CRITICAL does not wait for that. */
static void test_idle_time_critical(void **state)
{
    (void)state;
    engine_test t;
    begin_with_idle_time(&t, HOUR_NS);
    prove(&t, "1", "circuit=null-a");
    unsigned g = test_gate(&t, NULL_LANE, "holds", -1);
    test_call holds, waits, critical;
    test_submit(&t, &holds, "2", 0, "circuit=null-b holds");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &waits, "waits", CUZK_PRIORITY_HIGH, "circuit=null-c");
    test_wait_submitted(&waits);
    assert_int_equal(test_look(&t).kinds[1].pending, 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL), 0);
    test_submit(&t, &critical, "critical", CUZK_PRIORITY_CRITICAL, "circuit=null-c n=2");
    test_wait_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL, 1);
    test_gate_open(&t, g);
    test_expect_completed(&holds, "circuit=null-b holds", 1);
    test_expect_completed(&critical, "circuit=null-c n=2", 1);
    test_expect_completed(&waits, "circuit=null-c", 1);
    test_clear(&t);
}

/* When nothing runs, nobody waits for it: neither a load nor a unit. A load under way is waited
 * for. */
static void test_idle_time_yields(void **state)
{
    (void)state;
    engine_test t;
    begin_with_idle_time(&t, HOUR_NS);
    prove(&t, "1", "circuit=null-a");
    unsigned g = test_gate(&t, NULL_LOAD, "null-b", -1);
    test_call b, c;
    test_submit(&t, &b, "2", 0, "circuit=null-b");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &c, "3", 0, "circuit=null-c");
    test_wait_submitted(&c);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL), 0);
    test_gate_open(&t, g);
    test_expect_completed(&b, "circuit=null-b", 1);
    test_expect_completed(&c, "circuit=null-c", 1);
    prove(&t, "4", "circuit=null-c witness=15000000");
    const char *evicted[] = {"null-a", "null-b"};
    expect_circuits(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, evicted, 2);
    test_clear(&t);
}

static cuzk_status keep(engine_test *t, const char *circuit, cuzk_error *err)
{
    bool was_loaded = false;
    uint64_t ns = 0;
    return cuzk_engine_preload(t->engine, &was_loaded, &ns, circuit, true, err);
}

/* "20971520 bytes kept", and what it needs. */
static void expect_no_room(const char *error, const char *needs)
{
    if (strstr(error, "kept circuits take 20971520 ") == NULL || strstr(error, needs) == NULL) {
        fail_msg("\"%s\" does not say that it needs %s beside 20971520", error, needs);
    }
}

/* A kept one makes no room, not for CRITICAL and not when it is the least recently used; what it
 * leaves no room for is refused, until it is evicted by name. */
static void test_keep(void **state)
{
    (void)state;
    static const null_circuit SOME[] = {{.name = "null-a", .bytes = 20 << 20},
                                        {.name = "null-b", .bytes = 20 << 20},
                                        {.name = "null-c", .bytes = 20 << 20},
                                        {.name = "large", .bytes = 31 << 20}};
    engine_test t;
    test_init(&t);
    t.options.budget_bytes = 80 * MIB;
    t.options.intake_bytes = 30 * MIB;
    test_start(&t, &(null_options){.circuits = SOME, .n_circuits = 4});
    cuzk_error err = {0};
    assert_int_equal(keep(&t, "null-a", &err), CUZK_OK);
    prove(&t, "1", "circuit=null-b");
    test_call critical;
    test_submit(&t, &critical, "2", CUZK_PRIORITY_CRITICAL, "circuit=null-c");
    test_expect_completed(&critical, "circuit=null-c", 1);
    prove(&t, "3", "circuit=null-b n=2");
    const char *evicted[] = {"null-b", "null-c"};
    expect_circuits(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, evicted, 2);
    cuzk_engine_view view;
    assert_int_equal(cuzk_engine_look(t.engine, &view, false, NULL), CUZK_OK);
    assert_int_equal(view.n_residents, 2);
    for (unsigned i = 0; i < view.n_residents; i++) {
        bool is_a = strcmp(view.residents[i].circuit, "null-a") == 0;
        assert_int_equal(view.residents[i].is_kept, is_a);
    }
    cuzk_engine_view_clear(&view);

    test_call call;
    test_submit(&t, &call, "4", 0, "circuit=null-b witness=15000000");
    test_wait_submitted(&call);
    assert_int_equal(call.status, CUZK_E_MEMORY);
    expect_no_room(call.error, "35971520");
    assert_int_equal(keep(&t, "large", &err), CUZK_E_MEMORY);
    expect_no_room(err.text, "32505856");
    prove(&t, "5", "circuit=null-a witness=15000000"); /* its own bytes are not beside it */

    uint64_t freed = 0;
    assert_true(evict(&t, "null-a", &freed));
    assert_int_equal(freed, 20 * MIB);
    prove(&t, "6", "circuit=null-b witness=15000000");
    test_clear(&t);
}

/* What was taken in before a circuit was kept fails when its turn comes: a unit, and a load. */
static void test_keep_later(void **state)
{
    (void)state;
    static const null_circuit SOME[] = {{.name = "null-a", .bytes = 20 << 20},
                                        {.name = "null-b", .bytes = 20 << 20},
                                        {.name = "large", .bytes = 31 << 20}};
    engine_test t;
    test_init(&t);
    t.options.budget_bytes = 80 * MIB;
    t.options.intake_bytes = 30 * MIB;
    test_start(&t, &(null_options){.circuits = SOME, .n_circuits = 3});
    unsigned g = test_gate(&t, NULL_LANE, "holds", -1);
    test_call holds, unit, load;
    test_submit(&t, &holds, "holds", 0, "circuit=null-a holds");
    test_gate_wait(&t, g, 1);
    bool was_loaded = false;
    uint64_t ns = 0;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, "null-b", false, &err),
                     CUZK_OK);
    test_submit(&t, &unit, "unit", 0, "circuit=null-b witness=15000000");
    test_wait_submitted(&unit);
    assert_int_equal(unit.status, CUZK_OK);
    test_submit(&t, &load, "load", 0, "circuit=large");
    test_wait_submitted(&load);
    assert_int_equal(load.status, CUZK_OK);
    assert_int_equal(keep(&t, "null-a", &err), CUZK_OK);
    test_expect_state(&unit, CUZK_JOB_FAILED, CUZK_E_MEMORY);
    expect_no_room(unit.result_error, "35971520");
    test_call_clear(&unit);
    test_expect_state(&load, CUZK_JOB_FAILED, CUZK_E_MEMORY);
    expect_no_room(load.result_error, "32505856");
    test_call_clear(&load);
    test_gate_open(&t, g);
    test_expect_completed(&holds, "circuit=null-a holds", 1);
    test_wait_reserved(&t, 40 * MIB);
    test_clear(&t);
}

/* A device with memory of its own: residents are put on it and make room for one another. */
static void test_device_memory(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {
        {.name = "null-a", .bytes = 1, .device_bytes = 400},
        {.name = "null-b", .bytes = 1, .device_bytes = 400},
        {.name = "null-c", .bytes = 1, .device_bytes = 400},
    };
    engine_test t;
    test_init(&t);
    t.devices[0].memory_bytes = 1000;
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 3});
    prove(&t, "1", "circuit=null-a device=200");
    prove(&t, "2", "circuit=null-b device=200");
    assert_int_equal(null_work_alive(t.work).on_device, 2);
    assert_int_equal(test_look(&t).devices[0].reserved_bytes, 800);
    prove(&t, "3", "circuit=null-c device=200");
    assert_int_equal(null_work_alive(t.work).on_device, 2);
    prove(&t, "4", "circuit=null-c device=600");
    assert_int_equal(null_work_alive(t.work).on_device, 1);
    assert_int_equal(test_look(&t).devices[0].reserved_bytes, 400);
    /* two units of the same circuit do not fit at once: one after the other */
    test_call calls[6];
    for (int i = 0; i < 6; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, "circuit=null-a device=500 units=2 prove_us=50");
    }
    for (int i = 0; i < 6; i++) {
        test_expect_completed(&calls[i], "circuit=null-a device=500 units=2 prove_us=50", 2);
    }
    int inside = 0;
    for (size_t i = 0; i < t.n_events; i++) {
        const seen_event *e = &t.events[i];
        if (e->event.id == CUZK_EVENT_PROVE_START && strncmp(e->job_id, "job-", 4) == 0) {
            inside += e->event.phase == CUZK_EVENT_BEGIN ? 1 : -1;
            assert_true(inside <= 1);
        }
    }
    uint64_t freed = 0;
    assert_true(evict(&t, "null-a", &freed)); /* off the device too */
    test_wait_events(&t, CUZK_EVENT_EVICTED, CUZK_EVENT_INSTANT, NULL, 1);
    while (test_look(&t).devices[0].reserved_bytes != 0) {
        sched_yield();
    }
    assert_int_equal(null_work_alive(t.work).on_device, 0);
    test_clear(&t);
}

/* Devices of different sizes: a unit goes where it fits, and does not hold up those that fit on the
 * other. */
static void test_unequal_devices(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1, .device_bytes = 400},
                                         {.name = "null-b", .bytes = 1, .device_bytes = 100}};
    engine_test t;
    test_init(&t);
    t.options.n_devices = 2;
    t.devices[0] = (cuzk_engine_device){.id = "dev:0", .n_workers = 1, .memory_bytes = 500};
    t.devices[1] = (cuzk_engine_device){.id = "dev:1", .n_workers = 1, .memory_bytes = 2000};
    t.options.witness_ahead = 3;
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 2});
    unsigned g = test_gate(&t, NULL_LANE, "null-a", -1);
    test_call large[3];
    for (int i = 0; i < 3; i++) {
        char id[32];
        snprintf(id, sizeof id, "large-%d", i);
        test_submit(&t, &large[i], id, CUZK_PRIORITY_HIGH, "circuit=null-a device=400");
    }
    test_gate_wait(&t, g, 1);
    for (int i = 0; i < 3; i++) {
        char id[32];
        snprintf(id, sizeof id, "small-%d", i);
        prove(&t, id, "circuit=null-b device=100");
        long at = test_find_event(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, id, 0, 0);
        assert_int_equal(test_event(&t, at).event.device, 0);
    }
    test_gate_open(&t, g);
    for (int i = 0; i < 3; i++) {
        test_expect_completed(&large[i], "circuit=null-a device=400", 1);
    }
    test_clear(&t);
}

/* By name: ready for a first proof, on the device too. */
static void test_preload_on_device(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1, .device_bytes = 400}};
    engine_test t;
    test_init(&t);
    t.devices[0].memory_bytes = 1000;
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 1});
    bool was_loaded = true;
    uint64_t ns = 0;
    assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, "null-a", false, NULL),
                     CUZK_OK);
    assert_int_equal(null_work_alive(t.work).on_device, 1);
    assert_int_equal(test_look(&t).devices[0].reserved_bytes, 400);
    prove(&t, "1", "circuit=null-a device=200");
    assert_int_equal(test_look(&t).devices[0].reserved_bytes, 400);
    test_clear(&t);
}

/* A unit wants back what another one's thread just takes off: it is put there once it is gone. */
static void test_back_while_it_goes(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1, .device_bytes = 20},
                                         {.name = "null-b", .bytes = 1, .device_bytes = 50},
                                         {.name = "null-c", .bytes = 1, .device_bytes = 50},
                                         {.name = "host-only", .bytes = 1}};
    engine_test t;
    test_init(&t);
    t.devices[0].memory_bytes = 100;
    t.devices[0].n_workers = 3;
    t.options.witness_ahead = 3;
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 4});
    prove(&t, "a", "circuit=null-a");
    prove(&t, "b", "circuit=null-b");
    unsigned a_goes = test_gate(&t, NULL_EVICT, "null-a", -1);
    unsigned b_goes = test_gate(&t, NULL_EVICT, "null-b", -1);
    test_call c, back;
    test_submit(&t, &c, "c", 0, "circuit=null-c");
    test_gate_wait(&t, a_goes, 1);
    test_submit(&t, &back, "back", 0, "circuit=null-a n=2");
    test_gate_wait(&t, b_goes, 1);
    test_gate_open(&t, b_goes);
    for (int i = 0; i < 5; i++) { /* meanwhile it would have been put there beside the old one */
        char id[32];
        snprintf(id, sizeof id, "meanwhile-%d", i);
        prove(&t, id, "circuit=host-only");
    }
    assert_int_equal(null_work_alive(t.work).on_device, 1);
    test_gate_open(&t, a_goes);
    test_expect_completed(&c, "circuit=null-c", 1);
    test_expect_completed(&back, "circuit=null-a n=2", 1);
    assert_int_equal(null_work_alive(t.work).on_device, 2);
    assert_int_equal(test_look(&t).devices[0].reserved_bytes, 70);
    test_clear(&t);
}

/* What a job's first unit waits for once that is memory of a device; NOTHING: it has a device. */
static cuzk_wait_view wait_for_device_memory(engine_test *t, const char *id)
{
    cuzk_wait_view wait = {.reason = CUZK_WAIT_NOTHING};
    cuzk_unit_state state = CUZK_UNIT_PENDING;
    while (state < CUZK_UNIT_DEVICE && wait.reason != CUZK_WAIT_DEVICE_MEMORY) {
        cuzk_engine_view view;
        sched_yield();
        assert_int_equal(cuzk_engine_look(t->engine, &view, true, NULL), CUZK_OK);
        for (unsigned i = 0; i < view.n_jobs; i++) {
            if (strcmp(view.jobs[i].job_id, id) == 0) {
                wait = view.jobs[i].wait;
                state = view.jobs[i].units[0].state;
            }
        }
        cuzk_engine_view_clear(&view);
    }
    return state < CUZK_UNIT_DEVICE ? wait : (cuzk_wait_view){.reason = CUZK_WAIT_NOTHING};
}

/* What is being taken off is there until it is off: nobody else has its bytes before, and whoever
 * waits for them has them then, though the unit for which it goes is on the device for long. */
static void test_room_when_it_is_gone(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1, .device_bytes = 650},
                                         {.name = "null-b", .bytes = 1, .device_bytes = 100},
                                         {.name = "null-c", .bytes = 1, .device_bytes = 300}};
    engine_test t;
    test_init(&t);
    t.devices[0].memory_bytes = 1000;
    t.devices[0].n_workers = 2;
    t.options.witness_ahead = 3;
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 3});
    prove(&t, "a", "circuit=null-a");
    prove(&t, "b", "circuit=null-b");
    unsigned goes = test_gate(&t, NULL_EVICT, "null-a", -1);
    unsigned held = test_gate(&t, NULL_PROVE, "circuit=null-b device=500", -1);
    test_call b, c;
    test_submit(&t, &b, "large", 0, "circuit=null-b device=500");
    test_gate_wait(&t, goes, 1);
    test_submit(&t, &c, "c", 0, "circuit=null-c");
    cuzk_wait_view wait = wait_for_device_memory(&t, "c");
    assert_int_equal(wait.reason, CUZK_WAIT_DEVICE_MEMORY);
    assert_int_equal(wait.needed_bytes, 300);
    assert_int_equal(wait.free_bytes, 0);
    test_gate_open(&t, goes);
    test_gate_wait(&t, held, 1);
    test_expect_completed(&c, "circuit=null-c", 1);
    test_gate_open(&t, held);
    test_expect_completed(&b, "circuit=null-b device=500", 1);
    assert_int_equal(null_work_alive(t.work).device_bytes_max, 750);
    test_clear(&t);
}

/* Three circuits in turn where two fit, from several callers: everything is done, within the
 * budget. */
static void test_thrash(void **state)
{
    (void)state;
    enum { N = 90 };
    engine_test t;
    begin(&t);
    static test_call calls[N];
    static char payloads[N][64];
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        snprintf(payloads[i], sizeof payloads[i], "circuit=null-%c witness=4000000 units=%d n=%d",
                 'a' + i * 7 % 3, 1 + i % 2, i);
        test_submit(&t, &calls[i], id, 1 + (unsigned)i % 4, payloads[i]);
    }
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], payloads[i], 1 + (unsigned)i % 2);
    }
    cuzk_engine_view view = test_look(&t);
    assert_true(view.peak_bytes <= view.budget_bytes);
    assert_true(null_work_alive(t.work).bytes_max <= (long)view.peak_bytes);
    test_clear(&t);
}

/* On all devices by one call; where it cannot be put nothing stays reserved, and the others have
 * it. */
static void test_preload_on_devices(void **state)
{
    (void)state;
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1, .device_bytes = 400}};
    engine_test t;
    test_init(&t);
    t.options.n_devices = 3;
    static const char *const ids[] = {"dev:0", "dev:1", "dev:2"};
    for (unsigned d = 0; d < 3; d++) {
        t.devices[d] =
            (cuzk_engine_device){.id = ids[d], .n_workers = 1, .memory_bytes = d == 0 ? 300 : 1000};
    }
    test_start(&t, &(null_options){.circuits = SMALL, .n_circuits = 1, .refusing = 1u << 2});
    bool was_loaded = true;
    uint64_t ns = 0;
    assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, "null-a", false, NULL),
                     CUZK_OK);
    assert_int_equal(null_work_alive(t.work).group_loads, 1);
    assert_int_equal(null_work_alive(t.work).on_device, 1);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.devices[0].reserved_bytes, 0); /* too small */
    assert_int_equal(view.devices[1].reserved_bytes, 400);
    assert_int_equal(view.devices[2].reserved_bytes, 0); /* it refuses */
    prove(&t, "1", "circuit=null-a device=200");
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_demand_and_lru),
        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_loads_at_once),
        cmocka_unit_test(test_load_fails),
        cmocka_unit_test(test_preload),
        cmocka_unit_test(test_evict_by_name),
        cmocka_unit_test(test_idle_time),
        cmocka_unit_test(test_device_memory),
        cmocka_unit_test(test_thrash),
        cmocka_unit_test(test_back_while_it_goes),
        cmocka_unit_test(test_room_when_it_is_gone),
        cmocka_unit_test(test_preload_on_device),
        cmocka_unit_test(test_preload_on_devices),
        cmocka_unit_test(test_unequal_devices),
        cmocka_unit_test(test_idle_time_critical),
        cmocka_unit_test(test_idle_time_yields),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_keep_later),
    };
    return cmocka_run_group_tests_name("engine: residents", tests, NULL, NULL);
}
