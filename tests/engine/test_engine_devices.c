/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices that callers drain and add, and one of two that is lost under load. */
#include "engine_test.h"

#include "base/clock.h"
#include "engine/faults.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
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

/* What opens devices. */
typedef struct {
    atomic_uint n;
    atomic_bool is_failing, is_held;
} opener;

static cuzk_status open_device(void *user, unsigned device, cuzk_error *err)
{
    opener *o = user;
    (void)device;
    atomic_fetch_add(&o->n, 1);
    while (atomic_load(&o->is_held)) {
        sched_yield();
    }
    CUZK_FAIL_IF(atomic_load(&o->is_failing), err, CUZK_E_DEVICE, "its self-test failed");
    return CUZK_OK;
}

typedef struct {
    unsigned n_devices, n_workers; /* of each; 0: one */
    unsigned device_faults;        /* 0: as by default */
    const char *missing;           /* why the last device cannot be used at first; NULL: it can */
} setup;

/* Devices with memory of their own. */
static void begin_with(engine_test *t, opener *o, const setup *s)
{
    unsigned n_devices = s->n_devices;
    static const char *const IDS[] = {"dev:0", "dev:1"};
    static const null_circuit ONE = {.name = "null-a", .bytes = 1, .device_bytes = 300};
    test_init(t);
    t->options.n_devices = n_devices;
    for (unsigned d = 0; d < n_devices; d++) {
        t->devices[d] = (cuzk_engine_device){
            .id = IDS[d], .n_workers = s->n_workers > 0 ? s->n_workers : 1, .memory_bytes = 1000};
    }
    t->options.renew = open_device;
    t->options.renew_user = o;
    t->options.retry_ns = 1000000;
    t->devices[n_devices - 1].missing = s->missing;
    t->options.device_faults = s->device_faults;
    test_start(t, &(null_options){.circuits = &ONE, .n_circuits = 1});
}

static void begin(engine_test *t, opener *o, unsigned n_devices)
{
    memset(o, 0, sizeof *o);
    begin_with(t, o, &(setup){.n_devices = n_devices});
}

static cuzk_device_state drain(engine_test *t, unsigned d, bool wait)
{
    cuzk_device_state was = CUZK_DEVICE_STATES;
    cuzk_error err = {0};
    if (cuzk_engine_device_drain(t->engine, &was, d, wait, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return was;
}

static cuzk_device_state add(engine_test *t, unsigned d)
{
    cuzk_device_state was = CUZK_DEVICE_STATES;
    cuzk_error err = {0};
    if (cuzk_engine_device_add(t->engine, &was, d, true, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    return was;
}

static cuzk_device_view look(engine_test *t, unsigned d)
{
    return test_look(t).devices[d];
}

static unsigned count(engine_test *t, cuzk_event_id id)
{
    return test_count_events(t, id, CUZK_EVENT_INSTANT, NULL);
}

/* Jobs of two partitions, one after the other; they run where they can. */
static void prove_some(engine_test *t, const char *name, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        test_call call;
        char id[64];
        snprintf(id, sizeof id, "%.32s-%u", name, i);
        test_submit(t, &call, id, 0, "units=2 device=100 prove_us=2000");
        test_expect_completed(&call, "units=2 device=100 prove_us=2000", 2);
    }
}

static unsigned n_begun_on(engine_test *t, int device)
{
    unsigned n = 0;
    for (unsigned k = 0;; k++) {
        long at = test_find_event(t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, NULL, -1, k);
        if (at < 0) {
            return n;
        }
        n += test_event(t, at).event.device == device;
    }
}

/* What runs there ends, nothing else comes, what is there goes; then it is used again. */
static void test_drain_and_add(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    unsigned g = test_gate(&t, NULL_PROVE, "held=1", -1);
    test_call held;
    test_submit(&t, &held, "held", 0, "units=2 held=1 device=100");
    test_gate_wait(&t, g, 2);
    assert_int_equal(drain(&t, 0, false), CUZK_DEVICE_USED);
    cuzk_device_view view = look(&t, 0);
    assert_int_equal(view.state, CUZK_DEVICE_DRAINING);
    assert_int_equal(view.n_units, 1);
    assert_true(view.is_out && view.reserved_bytes == 400);
    assert_int_equal(drain(&t, 0, false), CUZK_DEVICE_DRAINING);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_DRAINED), 0);
    test_gate_open(&t, g);
    test_expect_completed(&held, "units=2 held=1 device=100", 2);
    assert_true(drain(&t, 0, true) != CUZK_DEVICE_USED);
    view = look(&t, 0);
    assert_int_equal(view.state, CUZK_DEVICE_DRAINED);
    assert_int_equal(view.reserved_bytes, 0);
    assert_int_equal(null_work_alive(t.work).on_device, 1); /* the other one's */
    assert_int_equal(drain(&t, 0, true), CUZK_DEVICE_DRAINED);
    unsigned n = n_begun_on(&t, 0);
    prove_some(&t, "without", 5);
    assert_int_equal(n_begun_on(&t, 0), n);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_DRAINING), 1);
    test_wait_events(&t, CUZK_EVENT_DEVICE_DRAINED, CUZK_EVENT_INSTANT, NULL, 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_DRAINED), 1);
    assert_int_equal(atomic_load(&o.n), 0);

    assert_int_equal(add(&t, 0), CUZK_DEVICE_DRAINED);
    assert_int_equal(add(&t, 0), CUZK_DEVICE_USED);
    assert_int_equal(atomic_load(&o.n), 1);
    test_wait_events(&t, CUZK_EVENT_DEVICE_BACK, CUZK_EVENT_INSTANT, NULL, 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_BACK), 1);
    view = look(&t, 0);
    assert_int_equal(view.state, CUZK_DEVICE_USED);
    assert_string_equal(view.reason, "");
    unsigned both = test_gate(&t, NULL_PROVE, "both=1", -1);
    test_call call;
    test_submit(&t, &call, "both", 0, "units=400 both=1 device=100");
    test_gate_wait(&t, both, 2);
    assert_int_equal(look(&t, 0).n_units, 1);
    test_gate_open(&t, both);
    test_expect_completed(&call, "units=400 both=1 device=100", 400);
    test_clear(&t);
}

static cuzk_wait_reason first_wait(engine_test *t)
{
    cuzk_engine_view view;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_look(t->engine, &view, false, &err), CUZK_OK);
    cuzk_wait_reason reason = view.jobs[0].wait.reason;
    cuzk_engine_view_clear(&view);
    return reason;
}

/* The last one: what was accepted waits, what comes is refused; nothing is lost. */
static void test_last(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 1);
    unsigned g = test_gate(&t, NULL_PROVE, "", -1);
    test_call call, refused;
    test_submit(&t, &call, "id", 0, "units=5");
    test_gate_wait(&t, g, 1);
    (void)drain(&t, 0, false);
    test_gate_open(&t, g);
    (void)drain(&t, 0, true);
    test_submit(&t, &refused, "refused", 0, "n=3");
    test_wait_result(&refused);
    assert_int_equal(refused.status, CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(refused.error, "dev:0 is drained (as asked)"));
    while (first_wait(&t) != CUZK_WAIT_DEVICE) { /* once its next partition has its witness */
        sched_yield();
    }
    assert_false(call.has_result);
    (void)add(&t, 0);
    test_expect_completed(&call, "units=5", 5);
    test_clear(&t);
}

/* A bad proof of a unit whose last device is drained: its other attempt waits for a device. */
static void test_last_and_bad_proof(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 1);
    set_faults("proof*1");
    unsigned g = test_gate(&t, NULL_FINISH, "", -1);
    test_call call;
    test_submit(&t, &call, "id", 0, "n=1");
    test_gate_wait(&t, g, 1);
    (void)drain(&t, 0, true); /* it has left the device */
    test_gate_open(&t, g);
    test_wait_events(&t, CUZK_EVENT_RETRY, CUZK_EVENT_INSTANT, NULL, 1);
    assert_false(call.has_result);
    (void)add(&t, 0);
    test_expect_completed(&call, "n=1", 1);
    test_clear(&t);
}

static void expect_found(engine_test *t, const char *name, unsigned expected)
{
    unsigned d = 99;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_find(t->engine, &d, name, &err), CUZK_OK);
    assert_int_equal(d, expected);
}

static void test_names(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    expect_found(&t, "dev:1", 1);
    expect_found(&t, "1", 1);
    expect_found(&t, "0", 0);
    unsigned d = 99;
    cuzk_device_state was;
    static const char *const WRONG[] = {"2", "dev:2", "", "dev", ":1", "01"};
    for (unsigned i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        cuzk_error err = {0};
        assert_int_equal(cuzk_engine_device_find(t.engine, &d, WRONG[i], &err), CUZK_E_NOT_FOUND);
        assert_non_null(strstr(err.text, "there are dev:0, dev:1"));
    }
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_drain(t.engine, &was, 2, true, &err), CUZK_E_ARGUMENT);
    assert_int_equal(cuzk_engine_device_add(t.engine, &was, 2, true, &err), CUZK_E_ARGUMENT);
    test_clear(&t);
}

/* Opening fails: it is told why, and stays what it was. */
static void test_add_fails(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    (void)drain(&t, 1, true);
    atomic_store(&o.is_failing, true);
    cuzk_device_state was;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_add(t.engine, &was, 1, true, &err), CUZK_E_DEVICE);
    assert_non_null(strstr(err.text, "dev:1"));
    assert_non_null(strstr(err.text, "its self-test failed"));
    cuzk_device_view view = look(&t, 1);
    assert_int_equal(view.state, CUZK_DEVICE_DRAINED);
    assert_non_null(strstr(view.reason, "its self-test failed"));
    assert_int_equal(drain(&t, 1, true), CUZK_DEVICE_DRAINED);
    atomic_store(&o.is_failing, false);
    assert_int_equal(add(&t, 1), CUZK_DEVICE_DRAINED);
    assert_int_equal(look(&t, 1).state, CUZK_DEVICE_USED);
    test_clear(&t);
}

static void wait_state(engine_test *t, unsigned d, cuzk_device_state state)
{
    while (look(t, d).state != state) {
        sched_yield();
    }
}

/* Without waiting; it is being opened then. */
static cuzk_device_state begin_add(engine_test *t, unsigned d)
{
    cuzk_device_state was = CUZK_DEVICE_STATES;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_add(t->engine, &was, d, false, &err), CUZK_OK);
    assert_int_equal(look(t, d).state, CUZK_DEVICE_OPENING);
    return was;
}

/* Who does not wait sees it being opened until it is used or, with the reason, what it was. */
static void test_add_at_once(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    (void)drain(&t, 1, true);
    atomic_store(&o.is_failing, true);
    atomic_store(&o.is_held, true);
    assert_int_equal(begin_add(&t, 1), CUZK_DEVICE_DRAINED);
    assert_int_equal(begin_add(&t, 1), CUZK_DEVICE_OPENING);
    atomic_store(&o.is_held, false);
    wait_state(&t, 1, CUZK_DEVICE_DRAINED);
    assert_string_equal(look(&t, 1).reason, "not opened: its self-test failed");
    atomic_store(&o.is_failing, false);
    atomic_store(&o.is_held, true);
    assert_int_equal(begin_add(&t, 1), CUZK_DEVICE_DRAINED);
    atomic_store(&o.is_held, false);
    wait_state(&t, 1, CUZK_DEVICE_USED);
    assert_string_equal(look(&t, 1).reason, "");
    test_clear(&t);
}

/* A caller in a thread of its own. */
typedef struct {
    engine_test *test;
    unsigned device;
    bool adds;
    cuzk_device_state was;
    cuzk_status status;
    pthread_t id;
} caller;

static void *run_caller(void *arg)
{
    caller *c = arg;
    cuzk_error err = {0};
    cuzk_engine *engine = c->test->engine;
    c->status = c->adds ? cuzk_engine_device_add(engine, &c->was, c->device, true, &err)
                        : cuzk_engine_device_drain(engine, &c->was, c->device, true, &err);
    return NULL;
}

static void start_caller(caller *c, engine_test *t, unsigned device, bool adds)
{
    *c = (caller){.test = t, .device = device, .adds = adds};
    assert_int_equal(pthread_create(&c->id, NULL, run_caller, c), 0);
}

/* Added before it is drained: at once, with what is there; who drained is told. */
static void test_changed_mind(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 1);
    unsigned g = test_gate(&t, NULL_PROVE, "held=1", -1);
    test_call held;
    test_submit(&t, &held, "held", 0, "held=1");
    test_gate_wait(&t, g, 1);
    caller c;
    start_caller(&c, &t, 0, false);
    wait_state(&t, 0, CUZK_DEVICE_DRAINING);
    assert_int_equal(add(&t, 0), CUZK_DEVICE_DRAINING);
    pthread_join(c.id, NULL);
    assert_int_equal(c.status, CUZK_E_CANCELLED);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_USED);
    test_gate_open(&t, g);
    test_expect_completed(&held, "held=1", 1);
    assert_int_equal(atomic_load(&o.n), 0);
    assert_int_equal(null_work_alive(t.work).n_puts, 1);

    /* drained while it is opened: it is closed again */
    (void)drain(&t, 0, true);
    atomic_store(&o.is_held, true);
    start_caller(&c, &t, 0, true);
    while (atomic_load(&o.n) == 0) {
        sched_yield();
    }
    assert_int_equal(drain(&t, 0, false), CUZK_DEVICE_OPENING);
    atomic_store(&o.is_held, false);
    pthread_join(c.id, NULL);
    assert_int_not_equal(c.status, CUZK_OK);
    wait_state(&t, 0, CUZK_DEVICE_DRAINED);
    test_clear(&t);
}

/* An engine that ends does not leave a caller waiting. */
static void test_stopped(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 1);
    unsigned g = test_gate(&t, NULL_PROVE, "held=1", -1);
    test_call held;
    test_submit(&t, &held, "held", 0, "held=1");
    test_gate_wait(&t, g, 1);
    caller c;
    start_caller(&c, &t, 0, false);
    wait_state(&t, 0, CUZK_DEVICE_DRAINING);
    test_clear(&t);
    pthread_join(c.id, NULL);
    assert_int_equal(c.status, CUZK_E_UNAVAILABLE);
    test_call_clear(&held);
}

/* One of two is not there when the engine is made: the other one does everything, whoever adds it
 * hears why not, and it comes by itself once it can be opened. */
static void test_missing(void **state)
{
    (void)state;
    engine_test t;
    opener o = {.is_failing = true};
    begin_with(&t, &o, &(setup){.n_devices = 2, .missing = "it is not there"});
    cuzk_device_view seen = look(&t, 1);
    assert_int_equal(seen.state, CUZK_DEVICE_LOST);
    assert_true(seen.is_out && seen.n_renewals == 0);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_USED);
    prove_some(&t, "without", 3);
    assert_int_equal(n_begun_on(&t, 1), 0);
    assert_int_equal(n_begun_on(&t, 0), 6);
    cuzk_device_state was = CUZK_DEVICE_STATES;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_device_add(t.engine, &was, 1, true, &err), CUZK_E_DEVICE);
    assert_non_null(strstr(err.text, "its self-test failed"));
    while (atomic_load(&o.n) < 3) { /* by itself, too */
        sched_yield();
    }
    assert_int_not_equal(look(&t, 1).state, CUZK_DEVICE_USED);
    assert_true(count(&t, CUZK_EVENT_DEVICE_RETRIED) >= 2);
    long first = test_find_event(&t, CUZK_EVENT_DEVICE_RETRIED, CUZK_EVENT_INSTANT, NULL, -1, 0);
    assert_int_equal(test_event(&t, first).event.device, 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_OUT), 0); /* it never was used */
    atomic_store(&o.is_failing, false);
    wait_state(&t, 1, CUZK_DEVICE_USED);
    assert_false(look(&t, 1).is_out);
    (void)drain(&t, 0, true);
    prove_some(&t, "there", 1);
    assert_int_equal(n_begun_on(&t, 1), 2);
    test_clear(&t);
}

/* One that failed too often is used again when it is added, and its faults are forgotten. */
static void test_out_and_added(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    set_faults("proof@0*2");
    for (unsigned i = 0; look(&t, 0).state != CUZK_DEVICE_OUT; i++) {
        char name[32];
        snprintf(name, sizeof name, "job-%u", i);
        prove_some(&t, name, 1);
    }
    assert_int_equal(look(&t, 0).n_faults, 2);
    assert_int_equal(add(&t, 0), CUZK_DEVICE_OUT);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_USED);
    assert_int_equal(look(&t, 0).n_faults, 0);
    prove_some(&t, "after", 3);
    test_clear(&t);
}

/* One that is lost is tried again and again, until it is drained; then it comes back when it is
 * added. */
static void test_lost_and_drained(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    atomic_store(&o.is_failing, true);
    set_faults("prove@0*1:E_DEVICE_LOST");
    for (unsigned i = 0; look(&t, 0).state != CUZK_DEVICE_LOST; i++) {
        char name[32];
        snprintf(name, sizeof name, "job-%u", i);
        prove_some(&t, name, 1);
    }
    test_wait_events(&t, CUZK_EVENT_DEVICE_RETRIED, CUZK_EVENT_INSTANT, NULL, 1);
    cuzk_device_state was = drain(&t, 0, true);
    assert_int_equal(was, CUZK_DEVICE_LOST);
    unsigned n = atomic_load(&o.n);
    prove_some(&t, "without", 5);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_DRAINED);
    assert_int_equal(atomic_load(&o.n), n);
    atomic_store(&o.is_failing, false);
    assert_int_equal(add(&t, 0), CUZK_DEVICE_DRAINED);
    prove_some(&t, "after", 3);
    test_clear(&t);
}

/* Lose device 0, which is then being opened: is_held. */
static void lose_first(engine_test *t, opener *o)
{
    atomic_store(&o->is_held, true);
    set_faults("prove@0*1:E_DEVICE_LOST");
    for (unsigned i = 0; atomic_load(&o->n) == 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "job-%u", i);
        prove_some(t, name, 1);
    }
}

/* One that is just being begun anew is being opened once it is added: so it shows when that has
 * ended, and why it is lost still. */
static void test_lost_and_added_at_once(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    lose_first(&t, &o);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_LOST);
    atomic_store(&o.is_failing, true);
    assert_int_equal(begin_add(&t, 0), CUZK_DEVICE_LOST);
    assert_false(look(&t, 0).is_out); /* it was used, and may be again */
    atomic_store(&o.is_held, false);
    wait_state(&t, 0, CUZK_DEVICE_LOST);
    assert_string_equal(look(&t, 0).reason, "lost, and not begun anew: its self-test failed");
    assert_true(look(&t, 0).is_out);
    test_wait_events(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL, 1);
    atomic_store(&o.is_failing, false); /* by itself, as any lost one */
    wait_state(&t, 0, CUZK_DEVICE_USED);
    prove_some(&t, "after", 3);
    test_clear(&t);
}

/* A device that cannot be opened keeps nobody from taking a circuit out of host memory. */
static void test_lost_and_evicted(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    lose_first(&t, &o);
    bool was_loaded;
    uint64_t freed;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_evict(t.engine, &was_loaded, &freed, "null-a", &err), CUZK_OK);
    assert_true(was_loaded);
    while (null_work_alive(t.work).residents > 0) {
        sched_yield();
    }
    assert_int_equal(null_work_alive(t.work).on_device, 0);
    atomic_store(&o.is_held, false);
    wait_state(&t, 0, CUZK_DEVICE_USED);
    prove_some(&t, "after", 3);
    test_clear(&t);
}

/* The last device is taken out while another one, which was out, is being opened in vain: a unit
 * that waits for its other attempt fails then. */
static void test_last_out_while_opening(void **state)
{
    (void)state;
    engine_test t;
    opener o = {0};
    begin_with(&t, &o, &(setup){.n_devices = 2, .device_faults = 1});
    set_faults("proof@0*1");
    for (unsigned i = 0; look(&t, 0).state != CUZK_DEVICE_OUT; i++) {
        char name[32];
        snprintf(name, sizeof name, "job-%u", i);
        prove_some(&t, name, 1);
    }
    atomic_store(&o.is_failing, true);
    atomic_store(&o.is_held, true);
    caller c;
    start_caller(&c, &t, 0, true);
    while (atomic_load(&o.n) == 0) {
        sched_yield();
    }
    set_faults("proof@1*1");
    test_call call;
    test_submit(&t, &call, "id", 0, "n=1");
    test_wait_events(&t, CUZK_EVENT_RETRY, CUZK_EVENT_INSTANT, "id", 1);
    assert_int_equal(look(&t, 1).state, CUZK_DEVICE_OUT);
    atomic_store(&o.is_held, false);
    pthread_join(c.id, NULL);
    assert_int_equal(c.status, CUZK_E_DEVICE);
    test_expect_state(&call, CUZK_JOB_FAILED, CUZK_E_INVALID_PROOF);
    assert_non_null(strstr(call.result_error, "no device is left"));
    test_call_clear(&call);
    test_clear(&t);
}

/* Drained while it is begun anew, it is told to be draining until that has ended. */
static void test_drained_while_lost(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    lose_first(&t, &o);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_LOST);
    assert_int_equal(drain(&t, 0, false), CUZK_DEVICE_LOST);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_DRAINING);
    atomic_store(&o.is_held, false);
    assert_int_equal(drain(&t, 0, true) == CUZK_DEVICE_USED, false);
    assert_int_equal(look(&t, 0).state, CUZK_DEVICE_DRAINED);
    test_clear(&t);
}

/* One that was lost just now and is added before its other unit has left it: that it could not be
 * begun anew is told as of any lost one, and it counts as used until then. */
static void test_added_while_lost(void **state)
{
    (void)state;
    engine_test t;
    opener o = {0};
    begin_with(&t, &o, &(setup){.n_devices = 1, .n_workers = 2});
    atomic_store(&o.is_failing, true);
    unsigned g = test_gate(&t, NULL_PROVE, "held=1", -1);
    test_call held, lost;
    test_submit(&t, &held, "held", 0, "held=1");
    test_gate_wait(&t, g, 1);
    set_faults("prove@0*1:E_DEVICE_LOST");
    test_submit(&t, &lost, "lost", 0, "n=1");
    wait_state(&t, 0, CUZK_DEVICE_LOST);
    caller c;
    start_caller(&c, &t, 0, true);
    wait_state(&t, 0, CUZK_DEVICE_OPENING);
    assert_false(look(&t, 0).is_out);
    test_gate_open(&t, g);
    pthread_join(c.id, NULL);
    assert_int_equal(c.status, CUZK_E_DEVICE);
    test_wait_events(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL, 1);
    seen_event e =
        test_event(&t, test_find_event(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL, -1, 0));
    assert_int_equal(e.event.status, CUZK_E_DEVICE_LOST);
    atomic_store(&o.is_failing, false);
    test_expect_completed(&held, "held=1", 1);
    test_expect_completed(&lost, "n=1", 1);
    test_clear(&t);
}

enum { LONG_SECONDS = 3600 }; /* longer than any test may take */

/* An engine that has nothing to do is drained, though a lost device hangs while it is opened. */
static void test_engine_drained(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    lose_first(&t, &o);
    assert_true(cuzk_engine_drain(t.engine, cuzk_now_ns() + LONG_SECONDS * UINT64_C(1000000000)));
    assert_true(atomic_load(&o.is_held));
    atomic_store(&o.is_held, false);
    test_clear(&t);
}

/* With all devices drained, it does not wait for what cannot end. */
static void test_engine_drained_in_vain(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    unsigned g = test_gate(&t, NULL_PROVE, "", -1);
    test_call call;
    test_submit(&t, &call, "id", 0, "units=10");
    test_gate_wait(&t, g, 2);
    (void)drain(&t, 0, false);
    (void)drain(&t, 1, false);
    test_gate_open(&t, g);
    (void)drain(&t, 0, true);
    (void)drain(&t, 1, true);
    assert_false(cuzk_engine_drain(t.engine, cuzk_now_ns() + LONG_SECONDS * UINT64_C(1000000000)));
    test_clear(&t);
    assert_int_equal(call.result_status, CUZK_E_UNAVAILABLE);
    test_call_clear(&call);
}

/* One of two is lost under load: while it is begun anew, the other proves all there is; it comes
 * back; every job has its proofs (which test_expect_completed compares). */
static void test_one_of_two(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    atomic_store(&o.is_held, true);
    set_faults("prove@0+3*1:E_DEVICE_LOST");
    enum { N = 40 };
    test_call calls[N];
    for (unsigned i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%u", i);
        test_submit(&t, &calls[i], id, 0, "units=3 device=100 prove_us=2000");
    }
    for (unsigned i = 0; i < N; i++) {
        test_expect_completed(&calls[i], "units=3 device=100 prove_us=2000", 3);
    }
    if (atomic_load(&o.n) == 1) { /* else the other one took nearly all */
        assert_int_equal(look(&t, 0).state, CUZK_DEVICE_LOST);
        assert_int_equal(n_begun_on(&t, 0), 4);
    }
    unsigned n = n_begun_on(&t, 0) + n_begun_on(&t, 1);
    assert_in_range(n, 3 * N, 3 * N + 1); /* nothing was proved twice */
    atomic_store(&o.is_held, false);
    wait_state(&t, 0, CUZK_DEVICE_USED);
    unsigned g = test_gate(&t, NULL_PROVE, "both=1", -1);
    test_call both;
    set_faults("");
    test_submit(&t, &both, "both", 0, "units=400 both=1");
    test_gate_wait(&t, g, 2);
    test_gate_open(&t, g);
    test_expect_completed(&both, "units=400 both=1", 400);
    assert_int_equal(test_look(&t).kinds[1].failed, 0);
    test_clear(&t);
}

/* While no device is used it is refused. */
static void submit_until_taken(engine_test *t, test_call *call, const char *id)
{
    test_submit(t, call, id, 0, "units=4 device=100");
    test_wait_submitted(call);
    while (call->status == CUZK_E_UNAVAILABLE) {
        test_wait_result(call);
        test_call_clear(call);
        sched_yield();
        test_submit(t, call, id, 0, "units=4 device=100");
        test_wait_submitted(call);
    }
    assert_int_equal(call->status, CUZK_OK);
}

/* Both are lost and come back, again and again, drained and added meanwhile: nothing is lost. */
static void test_churn(void **state)
{
    (void)state;
    engine_test t;
    opener o;
    begin(&t, &o, 2);
    enum { N = 60 };
    test_call calls[N];
    set_faults("prove+10*1:E_DEVICE_LOST,prove+5*1:E_DEVICE_LOST,open+1*3");
    for (unsigned i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%u", i);
        submit_until_taken(&t, &calls[i], id);
        if (i % 3 == 2) {
            unsigned d = i / 3 % 2;
            cuzk_device_state was;
            cuzk_error err = {0};
            (void)drain(&t, d, true);
            while (cuzk_engine_device_add(t.engine, &was, d, true, &err) != CUZK_OK) {
                assert_int_equal(err.status, CUZK_E_DEVICE); /* "open" */
                memset(&err, 0, sizeof err);
            }
        }
    }
    for (unsigned i = 0; i < N; i++) {
        test_expect_completed(&calls[i], "units=4 device=100", 4);
    }
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_and_add),
        cmocka_unit_test(test_last),
        cmocka_unit_test_teardown(test_last_and_bad_proof, no_faults),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_add_fails),
        cmocka_unit_test(test_add_at_once),
        cmocka_unit_test(test_changed_mind),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_missing),
        cmocka_unit_test_teardown(test_out_and_added, no_faults),
        cmocka_unit_test_teardown(test_lost_and_drained, no_faults),
        cmocka_unit_test_teardown(test_lost_and_added_at_once, no_faults),
        cmocka_unit_test_teardown(test_lost_and_evicted, no_faults),
        cmocka_unit_test_teardown(test_last_out_while_opening, no_faults),
        cmocka_unit_test_teardown(test_drained_while_lost, no_faults),
        cmocka_unit_test_teardown(test_added_while_lost, no_faults),
        cmocka_unit_test_teardown(test_engine_drained, no_faults),
        cmocka_unit_test(test_engine_drained_in_vain),
        cmocka_unit_test_teardown(test_one_of_two, no_faults),
        cmocka_unit_test_teardown(test_churn, no_faults),
    };
    return cmocka_run_group_tests_name("engine_devices", tests, NULL, NULL);
}
