/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who comes first: priorities at every hand-over, the oldest job, the lowest unit. Asserted from
 * recorded events, whose order is that of what happened. */
#include "base/pool.h"
#include "engine_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* One worker, one witness thread: everything queues. */
static void init_narrow(engine_test *t)
{
    test_init(t);
    t->devices[0].n_workers = 1;
    t->options.n_witness = 1;
    t->options.n_finishers = 1;
    t->options.n_verifiers = 1;
    t->options.n_decoders = 1;
}

/* The jobs in the order in which their k-th unit got the lane. */
static void expect_lane_order(engine_test *t, const char *const *ids, const int *units, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        long at = test_find_event(t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, NULL, -1, i);
        assert_true(at >= 0);
        seen_event seen = test_event(t, at);
        if (strcmp(seen.job_id, ids[i]) != 0 || seen.event.unit != units[i]) {
            fail_msg("turn %u on the device: %s unit %d, expected %s unit %d", i, seen.job_id,
                     seen.event.unit, ids[i], units[i]);
        }
    }
}

/* While one unit is on the device, jobs of all priorities come in. */
static void test_priorities_and_age(void **state)
{
    (void)state;
    engine_test t;
    init_narrow(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "first", -1);
    test_call first, low, normal_a, normal_b, high;
    test_submit(&t, &first, "first", CUZK_PRIORITY_NORMAL, "n=first");
    test_gate_wait(&t, g, 1);
    unsigned w = test_gate(&t, NULL_WITNESS, "filler", -1);
    test_call filler;
    test_submit(&t, &filler, "filler", CUZK_PRIORITY_NORMAL, "n=filler");
    test_gate_wait(&t, w, 1); /* the witness thread is held: the others wait in order */
    test_submit(&t, &low, "low", CUZK_PRIORITY_LOW, "n=low");
    test_wait_submitted(&low);
    test_submit(&t, &normal_a, "normal-a", CUZK_PRIORITY_NORMAL, "n=a units=2");
    test_wait_submitted(&normal_a);
    test_submit(&t, &normal_b, "normal-b", CUZK_PRIORITY_NORMAL, "n=b units=2");
    test_wait_submitted(&normal_b);
    test_submit(&t, &high, "high", CUZK_PRIORITY_HIGH, "n=high");
    test_wait_submitted(&high);
    test_gate_open(&t, w);
    test_wait_events(&t, CUZK_EVENT_QUEUED, CUZK_EVENT_INSTANT, "filler", 1);
    test_gate_open(&t, g);
    test_expect_completed(&first, "n=first", 1);
    test_expect_completed(&filler, "n=filler", 1);
    test_expect_completed(&high, "n=high", 1);
    test_expect_completed(&normal_a, "n=a units=2", 2);
    test_expect_completed(&normal_b, "n=b units=2", 2);
    test_expect_completed(&low, "n=low", 1);
    const char *ids[] = {"first",    "filler",   "high",     "normal-a",
                         "normal-a", "normal-b", "normal-b", "low"};
    const int units[] = {0, 0, 0, 0, 1, 0, 1, 0};
    expect_lane_order(&t, ids, units, 8);
    test_clear(&t);
}

/* BC-112: every thread is busy with NORMAL units, one of them in its kernel region, others wait for
 * the lane; a CRITICAL one arrives and has the next region. */
static void critical_next(unsigned n_devices, unsigned n_workers)
{
    engine_test t;
    test_init(&t);
    t.options.n_devices = n_devices;
    for (unsigned d = 0; d < n_devices; d++) {
        static const char *const IDS[] = {"dev:0", "dev:1"};
        t.devices[d] = (cuzk_engine_device){.id = IDS[d], .n_workers = n_workers};
    }
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "porep", -1);
    enum { JOBS = 10 };
    test_call porep[JOBS];
    char id[JOBS][32];
    for (int i = 0; i < JOBS; i++) {
        snprintf(id[i], sizeof id[i], "porep-%d", i);
        test_submit(&t, &porep[i], id[i], CUZK_PRIORITY_NORMAL, "units=5 kind=porep");
    }
    test_gate_wait(&t, g, n_devices);
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, NULL, n_devices * n_workers);
    test_call window, winning;
    test_submit(&t, &window, "window", CUZK_PRIORITY_HIGH, "kind=window");
    test_wait_submitted(&window);
    test_submit(&t, &winning, "winning", CUZK_PRIORITY_CRITICAL, "kind=winning");
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "winning", 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, NULL), n_devices);
    test_gate_open(&t, g);
    test_expect_completed(&winning, "kind=winning", 1);
    for (int i = 0; i < JOBS; i++) {
        test_expect_completed(&porep[i], "units=5 kind=porep", 5);
    }
    test_expect_completed(&window, "kind=window", 1);
    /* on its device: the region before it is the one that ran when it came */
    long at = test_find_event(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, "winning", 0, 0);
    int device = test_event(&t, at).event.device;
    unsigned before = 0;
    for (long i = 0; i < at; i++) {
        before += t.events[i].event.id == CUZK_EVENT_LANE &&
                  t.events[i].event.phase == CUZK_EVENT_BEGIN && t.events[i].event.device == device;
    }
    assert_int_equal(before, 1);
    /* nothing lost, nothing twice */
    unsigned n = JOBS * 5 + 2;
    assert_int_equal(test_count_events(&t, CUZK_EVENT_LANE, CUZK_EVENT_BEGIN, NULL), n);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, NULL), n);
    test_clear(&t);
}

static void test_critical_next(void **state)
{
    (void)state;
    for (unsigned n_devices = 1; n_devices <= 2; n_devices++) {
        for (unsigned n_workers = 1; n_workers <= 2; n_workers++) {
            critical_next(n_devices, n_workers);
        }
    }
}

/* Two jobs of one priority interleave where the first leaves threads idle: while its only unit is
 * on the device the second's witness is made. */
static void test_interleaving(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "a", -1);
    test_call a, b;
    test_submit(&t, &a, "a", 0, "n=a");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &b, "b", 0, "n=b units=2");
    test_wait_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_END, "b", 1);
    test_wait_events(&t, CUZK_EVENT_LANE_WAIT, CUZK_EVENT_BEGIN, "b", 1);
    test_gate_open(&t, g);
    test_expect_completed(&a, "n=a", 1);
    test_expect_completed(&b, "n=b units=2", 2);
    test_clear(&t);
}

/* Each BEGIN has its END on the same unit, lanes of a device never overlap, the lane lies inside
 * the call, stages follow one another. */
static void test_spans(void **state)
{
    (void)state;
    enum { JOBS = 60 };
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    static test_call calls[JOBS];
    for (int i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 1 + (unsigned)i % 4, "units=3");
    }
    for (int i = 0; i < JOBS; i++) {
        test_expect_completed(&calls[i], "units=3", 3);
    }
    int holder = -1;
    for (size_t i = 0; i < t.n_events; i++) {
        const seen_event *e = &t.events[i];
        if (e->event.id == CUZK_EVENT_LANE) {
            bool is_begin = e->event.phase == CUZK_EVENT_BEGIN;
            assert_true(is_begin ? holder == -1 : holder == (int)e->event.job * 8 + e->event.unit);
            holder = is_begin ? (int)e->event.job * 8 + e->event.unit : -1;
        }
    }
    static const cuzk_event_id STAGES[] = {CUZK_EVENT_WITNESS, CUZK_EVENT_PROVE_START,
                                           CUZK_EVENT_PROVE_FINISH, CUZK_EVENT_VERIFY};
    for (int i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        for (int unit = 0; unit < 3; unit++) {
            long last = -1;
            for (int s = 0; s < 4; s++) {
                long b = test_find_event(&t, STAGES[s], CUZK_EVENT_BEGIN, id, unit, 0);
                long e = test_find_event(&t, STAGES[s], CUZK_EVENT_END, id, unit, 0);
                assert_true(last < b && b < e);
                last = e;
            }
        }
        long accepted = test_find_event(&t, CUZK_EVENT_ACCEPTED, CUZK_EVENT_INSTANT, id, -1, 0);
        long ended = test_find_event(&t, CUZK_EVENT_ENDED, CUZK_EVENT_INSTANT, id, -1, 0);
        assert_true(accepted >= 0 && accepted < ended);
    }
    test_clear(&t);
}

/* How urgent loops are in a pool that all share, by stage, as the work of a unit finds it. */
static unsigned urgency[2][NULL_STAGES];

static cuzk_status note_urgency(void *user, null_stage stage, const char *text, int unit,
                                const cuzk_work_call *call)
{
    (void)user, (void)unit, (void)call;
    unsigned now = cuzk_pool_set_urgency(0);
    cuzk_pool_set_urgency(now);
    urgency[text[0] == 'c'][stage] = now;
    return CUZK_OK;
}

static void test_urgency(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, &(null_options){.hook = note_urgency});
    test_call normal, critical;
    test_submit(&t, &normal, "normal", 0, "normal");
    test_expect_completed(&normal, "normal", 1);
    test_submit(&t, &critical, "critical", CUZK_PRIORITY_CRITICAL, "critical");
    test_expect_completed(&critical, "critical", 1);
    static const null_stage STAGES[] = {NULL_DECODE, NULL_WITNESS, NULL_PROVE,
                                        NULL_LANE,   NULL_FINISH,  NULL_VERIFY};
    for (size_t i = 0; i < sizeof STAGES / sizeof STAGES[0]; i++) {
        for (size_t k = 0; k < sizeof STAGES / sizeof STAGES[0]; k++) {
            assert_true(urgency[1][STAGES[i]] > urgency[0][STAGES[k]]);
        }
        for (int c = 0; c < 2; c++) {
            assert_int_equal(urgency[c][STAGES[i]],
                             urgency[c][NULL_WITNESS] + (STAGES[i] == NULL_LANE));
        }
    }
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priorities_and_age),
        cmocka_unit_test(test_critical_next),
        cmocka_unit_test(test_interleaving),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_urgency),
    };
    return cmocka_run_group_tests_name("engine: order", tests, NULL, NULL);
}
