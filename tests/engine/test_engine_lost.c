/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices that are lost (E_DEVICE_LOST): begun anew, with their residents, and their units proved;
 * or, where that fails, out, while what was accepted stays. */
#include "engine_test.h"

#include "engine/faults.h"

#include <limits.h>
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

/* What begins devices anew. */
typedef struct {
    engine_test *test;
    atomic_uint n;
    unsigned n_failing; /* the first so many fail */
} renewer;

static cuzk_status renew(void *user, unsigned device, cuzk_error *err)
{
    renewer *r = user;
    unsigned n = atomic_fetch_add(&r->n, 1);
    assert_int_equal(device, 0);
    assert_int_equal(null_work_alive(r->test->work).on_device, 0); /* nothing is left on it */
    CUZK_FAIL_IF(n < r->n_failing, err, CUZK_E_DEVICE, "the card has fallen off the bus");
    return CUZK_OK;
}

/* One device has memory of its own, two have none. */
static void begin(engine_test *t, renewer *r, unsigned n_devices, unsigned n_workers)
{
    static const char *const IDS[] = {"dev:0", "dev:1"};
    static const null_circuit SMALL[] = {{.name = "null-a", .bytes = 1, .device_bytes = 300},
                                         {.name = "null-b", .bytes = 1, .device_bytes = 400}};
    test_init(t);
    r->test = t;
    t->options.n_devices = n_devices;
    for (unsigned d = 0; d < n_devices; d++) {
        t->devices[d] = (cuzk_engine_device){
            .id = IDS[d], .n_workers = n_workers, .memory_bytes = n_devices == 1 ? 1000 : 0};
    }
    t->options.renew = renew;
    t->options.renew_user = r;
    t->options.retry_ns = 1000000;
    test_start(t, &(null_options){.circuits = SMALL, .n_circuits = 2});
}

static unsigned count(engine_test *t, cuzk_event_id id)
{
    return test_count_events(t, id, CUZK_EVENT_INSTANT, NULL);
}

/* Lost once: the same units are proved, on the same device, with their residents put there again;
 * nothing is held against anybody, and no attempt is used up. */
static void test_renewed(void **state)
{
    (void)state;
    engine_test t;
    renewer r = {.n_failing = 0};
    begin(&t, &r, 1, 2);
    set_faults("prove+2*1:E_DEVICE_LOST");
    enum { N = 8 };
    test_call calls[N];
    static const char *const PAYLOADS[] = {"units=2 circuit=null-a device=100",
                                           "units=2 circuit=null-b device=100"};
    for (int i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, PAYLOADS[i % 2]);
    }
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], PAYLOADS[i % 2], 2);
    }
    test_wait_events(&t, CUZK_EVENT_DEVICE_RENEWED, CUZK_EVENT_INSTANT, NULL, 1);
    seen_event e = test_event(
        &t, test_find_event(&t, CUZK_EVENT_DEVICE_RENEWED, CUZK_EVENT_INSTANT, NULL, -1, 0));
    assert_int_equal(e.event.device, 0);
    assert_int_equal(e.event.value, 1);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.devices[0].n_renewals, 1);
    assert_int_equal(view.devices[0].n_faults, 0);
    assert_false(view.devices[0].is_out);
    assert_int_equal(atomic_load(&r.n), 1);
    test_clear(&t);
}

/* Two workers are told at once, or one after the other: each loss is handled once. */
static void test_together(void **state)
{
    (void)state;
    engine_test t;
    renewer r = {.n_failing = 0};
    begin(&t, &r, 1, 2);
    set_faults("prove*2~20:E_DEVICE_LOST");
    test_call a, b;
    test_submit(&t, &a, "a", 0, "circuit=null-a");
    test_submit(&t, &b, "b", 0, "circuit=null-b");
    test_expect_completed(&a, "circuit=null-a", 1);
    test_expect_completed(&b, "circuit=null-b", 1);
    unsigned n = test_look(&t).devices[0].n_renewals;
    assert_true(n == 1 || n == 2);
    assert_int_equal(atomic_load(&r.n), n);
    test_clear(&t);
}

/* A unit that loses its device each time ends its job, as a failure of the device; others go on. */
static void test_always_lost(void **state)
{
    (void)state;
    engine_test t;
    renewer r = {.n_failing = 0};
    begin(&t, &r, 1, 1);
    set_faults("prove:E_DEVICE_LOST");
    test_call bad, good;
    test_submit(&t, &bad, "bad", 0, "n=1");
    test_expect_state(&bad, CUZK_JOB_FAILED, CUZK_E_DEVICE);
    assert_non_null(strstr(bad.result_error, "each time with the device lost"));
    test_call_clear(&bad);
    set_faults("");
    test_submit(&t, &good, "good", 0, "n=2");
    test_expect_completed(&good, "n=2", 1);
    assert_int_equal(atomic_load(&r.n), 4);
    test_clear(&t);
}

/* The only device, and it cannot be begun anew: what was accepted is not failed, but stays queued;
 * new work is refused as unavailable. */
static void test_lost_for_good(void **state)
{
    (void)state;
    engine_test t;
    renewer r = {.n_failing = UINT_MAX};
    begin(&t, &r, 1, 1);
    set_faults("prove*1:E_DEVICE_LOST");
    test_call call, refused;
    test_submit(&t, &call, "id", 0, "units=3");
    test_wait_events(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL, 1);
    seen_event e =
        test_event(&t, test_find_event(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL, -1, 0));
    assert_int_equal(e.event.status, CUZK_E_DEVICE_LOST);
    assert_non_null(strstr(e.text, "fallen off the bus"));
    test_submit(&t, &refused, "refused", 0, "n=3");
    test_wait_result(&refused);
    assert_int_equal(refused.status, CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(refused.error, "fallen off the bus"));
    cuzk_engine_view view = test_look(&t);
    assert_true(view.devices[0].is_out);
    assert_int_equal(view.devices[0].state, CUZK_DEVICE_LOST);
    assert_int_equal(view.kinds[1].pending + view.kinds[1].in_progress, 1);
    assert_false(call.has_result);
    test_clear(&t);
    assert_int_equal(call.result_status, CUZK_E_UNAVAILABLE);
    test_call_clear(&call);
}

/* It is tried again, with growing pauses, and what was accepted is proved once it is there. */
static void test_back_by_itself(void **state)
{
    (void)state;
    engine_test t;
    enum { IN_VAIN = 4 };
    renewer r = {.n_failing = IN_VAIN};
    begin(&t, &r, 1, 2);
    set_faults("prove*1:E_DEVICE_LOST");
    test_call call;
    test_submit(&t, &call, "id", 0, "units=3 circuit=null-a");
    test_expect_completed(&call, "units=3 circuit=null-a", 3);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_LOST), 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_OUT), 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_RENEWED), 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_RETRIED), IN_VAIN - 1);
    uint64_t pause_ns = 0;
    for (unsigned k = 0; k < IN_VAIN - 1; k++) {
        seen_event e = test_event(
            &t, test_find_event(&t, CUZK_EVENT_DEVICE_RETRIED, CUZK_EVENT_INSTANT, NULL, -1, k));
        assert_true(e.event.value > pause_ns);
        pause_ns = e.event.value;
    }
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.devices[0].state, CUZK_DEVICE_USED);
    assert_string_equal(view.devices[0].reason, "");
    assert_int_equal(view.devices[0].n_renewals, 1);
    assert_int_equal(atomic_load(&r.n), IN_VAIN + 1);
    test_clear(&t);
}

/* Another device takes over what the lost one had. */
static void test_other_device(void **state)
{
    (void)state;
    engine_test t;
    renewer r = {.n_failing = UINT_MAX};
    begin(&t, &r, 2, 1);
    set_faults("prove@0:E_DEVICE_LOST");
    /* on a busy machine the other device may take several before the lost one asks for work */
    for (int i = 0; i < 10000 && count(&t, CUZK_EVENT_DEVICE_OUT) == 0; i++) {
        test_call call;
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &call, id, 0, "units=2");
        test_expect_completed(&call, "units=2", 2);
    }
    test_wait_events(&t, CUZK_EVENT_DEVICE_OUT, CUZK_EVENT_INSTANT, NULL, 1);
    assert_int_equal(count(&t, CUZK_EVENT_DEVICE_RENEWED), 0);
    assert_true(test_look(&t).devices[0].is_out);
    assert_false(test_look(&t).devices[1].is_out);
    test_clear(&t);
}

/* Without anything that begins devices anew. */
static void test_no_renewer(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_devices = 2;
    t.devices[0] = (cuzk_engine_device){.id = "dev:0", .n_workers = 1};
    t.devices[1] = (cuzk_engine_device){.id = "dev:1", .n_workers = 1};
    test_start(&t, NULL);
    set_faults("prove@0*1:E_DEVICE_LOST");
    test_call call;
    test_submit(&t, &call, "id", 0, "units=4");
    test_expect_completed(&call, "units=4", 4);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.devices[0].is_out, count(&t, CUZK_EVENT_DEVICE_OUT) == 1);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_renewed, no_faults),
        cmocka_unit_test_teardown(test_together, no_faults),
        cmocka_unit_test_teardown(test_always_lost, no_faults),
        cmocka_unit_test_teardown(test_lost_for_good, no_faults),
        cmocka_unit_test_teardown(test_back_by_itself, no_faults),
        cmocka_unit_test_teardown(test_other_device, no_faults),
        cmocka_unit_test_teardown(test_no_renewer, no_faults),
    };
    return cmocka_run_group_tests_name("engine_lost", tests, NULL, NULL);
}
