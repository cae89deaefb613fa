/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A unit of several kernel regions: between them those that come first have the lane, others do
 * not; a cancelled one ends there. */
#include "engine_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The jobs in the order in which they got the lane, handed over or taken. */
static void expect_lanes(engine_test *t, const char *const *ids, unsigned n)
{
    assert_int_equal(test_count_events(t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, NULL), n);
    for (unsigned i = 0; i < n; i++) {
        long at = test_find_event(t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, NULL, -1, i);
        assert_string_equal(test_event(t, at).job_id, ids[i]);
    }
}

static void test_only_those_before(void **state)
{
    (void)state;
    engine_test t;
    test_call first, later, critical;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "n=first", -1);
    test_submit(&t, &first, "first", CUZK_PRIORITY_NORMAL, "n=first regions=3");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &later, "later", CUZK_PRIORITY_NORMAL, "n=later regions=2");
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "later", 1);
    test_submit(&t, &critical, "critical", CUZK_PRIORITY_CRITICAL, "n=critical");
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "critical", 1);
    test_gate_open(&t, g);
    test_expect_completed(&critical, "n=critical", 1);
    test_expect_completed(&first, "n=first regions=3", 1);
    test_expect_completed(&later, "n=later regions=2", 1);
    /* first goes on at once after the critical one, and is not parted again for the younger job */
    expect_lanes(&t, (const char *const[]){"first", "critical", "first", "later"}, 4);
    test_clear(&t);
}

static void test_cancelled_between(void **state)
{
    (void)state;
    engine_test t;
    test_call first, critical;
    bool was_running = false;
    cuzk_error err = {0};
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "n=first", -1);
    unsigned c = test_gate(&t, NULL_LANE, "n=critical", -1);
    test_submit(&t, &first, "first", CUZK_PRIORITY_NORMAL, "n=first regions=2");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &critical, "critical", CUZK_PRIORITY_CRITICAL, "n=critical");
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "critical", 1);
    test_gate_open(&t, g);
    test_gate_wait(&t, c, 1);
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "first", 2);
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "first", &err), CUZK_OK);
    assert_true(was_running);
    test_expect_state(&first, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&first);
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_END, "first", 2);
    test_gate_open(&t, c);
    test_expect_completed(&critical, "n=critical", 1);
    expect_lanes(&t, (const char *const[]){"first", "critical"}, 2);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_those_before),
        cmocka_unit_test(test_cancelled_between),
    };
    return cmocka_run_group_tests_name("engine: kernel regions", tests, NULL, NULL);
}
