/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory: nothing is held that was not reserved, waiters are served in order, what can never fit is
 * refused with both numbers, payloads cannot starve units (BC-068), nothing leaks (BC-071). */
#include "engine_test.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t MIB = UINT64_C(1) << 20;

/* BC-068: fast stages before one slow device; declared bytes are really taken. */
static void test_slow_device(void **state)
{
    (void)state;
    enum { JOBS = 20 };
    static const null_circuit CIRCUIT = {.name = "null-a", .bytes = 1 << 20};
    engine_test t;
    test_init(&t);
    t.options.n_witness = 4;
    t.options.witness_ahead = 2;
    test_start(&t, &(null_options){.circuits = &CIRCUIT, .n_circuits = 1});
    static test_call calls[JOBS];
    const char *payload = "units=4 witness=6000000 host=1000000 task=100000 fill=1 lane_us=300";
    for (int i = 0; i < JOBS; i++) {
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 0, payload);
    }
    for (int i = 0; i < JOBS; i++) {
        test_expect_completed(&calls[i], payload, 4);
        cuzk_engine_view view = test_look(&t);
        assert_true(view.reserved_bytes <= view.budget_bytes);
        assert_true(view.in_witness <= 4 && view.ready <= 4);
    }
    cuzk_engine_view view = test_look(&t);
    assert_true(view.peak_bytes <= view.budget_bytes);
    assert_true(null_work_alive(t.work).bytes_max <= (long)view.peak_bytes);
    assert_true(null_work_alive(t.work).bytes_max > 14000000); /* two at least were alive */
    test_clear(&t);
}

/* The order in which witnesses began. */
static void expect_witness_order(engine_test *t, const char *const *ids, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        long at = test_find_event(t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, NULL, -1, i);
        assert_true(at >= 0);
        assert_string_equal(test_event(t, at).job_id, ids[i]);
    }
}

/* A large unit at the head of the queue is not overtaken by small ones that would fit: it would
 * starve. What is CRITICAL overtakes it, into its slice. */
static void test_waiters_in_order(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.budget_bytes = 100 * MIB;
    t.options.intake_bytes = 20 * MIB; /* work: 80 MiB, 5 of them for CRITICAL */
    t.options.n_witness = 1;
    t.options.witness_ahead = 8;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "holder", -1);
    test_call holder, large, small, critical, other;
    test_submit(&t, &holder, "holder", 0, "holder witness=41943040");
    test_gate_wait(&t, g, 1);
    test_submit(&t, &large, "large", 0, "n=large witness=41943040");
    test_wait_submitted(&large);
    test_submit(&t, &small, "small", 0, "n=small witness=1000");
    test_wait_submitted(&small);
    test_submit(&t, &critical, "critical", CUZK_PRIORITY_CRITICAL, "n=critical witness=4000000");
    test_wait_events(&t, CUZK_EVENT_QUEUED, CUZK_EVENT_INSTANT, "critical", 1);
    test_submit(&t, &other, "other", CUZK_PRIORITY_HIGH, "n=other witness=33554432");
    test_wait_submitted(&other);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, NULL), 2);
    test_gate_open(&t, g);
    test_expect_completed(&holder, "holder witness=41943040", 1);
    test_expect_completed(&critical, "n=critical witness=4000000", 1);
    test_expect_completed(&other, "n=other witness=33554432", 1);
    test_expect_completed(&large, "n=large witness=41943040", 1);
    test_expect_completed(&small, "n=small witness=1000", 1);
    const char *ids[] = {"holder", "critical", "other", "large", "small"};
    expect_witness_order(&t, ids, 5);
    cuzk_engine_view view = test_look(&t);
    assert_true(view.peak_bytes <= view.budget_bytes);
    test_clear(&t);
}

static void expect_never(test_call *call, const char *a, const char *b)
{
    test_wait_result(call);
    assert_int_equal(call->status, CUZK_E_MEMORY);
    if (strstr(call->error, a) == NULL || strstr(call->error, b) == NULL) {
        fail_msg("\"%s\" has not %s and %s in it", call->error, a, b);
    }
}

static void on_reserved(void *user, cuzk_status status, const char *error)
{
    test_call *call = (test_call *)user;
    pthread_mutex_lock(&call->test->lock);
    call->is_submitted = true;
    call->status = status;
    snprintf(call->error, sizeof call->error, "%s", error);
    pthread_cond_broadcast(&call->test->changed);
    pthread_mutex_unlock(&call->test->lock);
}

static void test_never_fits(void **state)
{
    (void)state;
    static const null_circuit CIRCUITS[] = {
        {.name = "null-a", .bytes = 1000, .device_bytes = 600000},
        {.name = "huge", .bytes = 48000000},
    };
    engine_test t;
    test_init(&t);
    t.devices[0].memory_bytes = 1000000;
    t.options.intake_bytes = 16 * MIB; /* work: 48 MiB */
    test_start(&t, &(null_options){.circuits = CIRCUITS, .n_circuits = 2});
    test_call call;
    test_submit(&t, &call, "a", 0, "witness=50331648");
    expect_never(&call, "50332648", "50331648");
    test_submit(&t, &call, "b", 0, "circuit=huge witness=2000000 host=500000");
    expect_never(&call, "50500000", "50331648");
    test_submit(&t, &call, "c", 0, "device=500000");
    expect_never(&call, "1100000", "1000000");
    memset(&call, 0, sizeof call);
    call.test = &t;
    cuzk_engine_reserve(t.engine, 10 * MIB, on_reserved, &call);
    test_wait_submitted(&call);
    expect_never(&call, "10485760", "67108864");
    uint64_t max = cuzk_engine_payload_max(t.engine);
    assert_true(max > 1 * MIB && max < 10 * MIB);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.reserved_bytes, 0);
    bool was_loaded = true;
    uint64_t ns = 0;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_preload(t.engine, &was_loaded, &ns, "huge", false, &err), CUZK_OK);
    test_clear(&t);
}

/* What just fits is done, alone, whatever the slice. */
static void test_just_fits(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.intake_bytes = 16 * MIB;
    test_start(&t, NULL);
    test_call a, b;
    test_submit(&t, &a, "a", 0, "witness=50331646 units=3");
    test_submit(&t, &b, "b", 0, "n=b");
    test_expect_completed(&a, "witness=50331646 units=3", 3);
    test_expect_completed(&b, "n=b", 1);
    assert_true(test_look(&t).peak_bytes <= t.options.budget_bytes);
    test_clear(&t);
}

/* Reservations for payloads are served in order, come back, and leave the units' share alone. */
static void test_intake(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t); /* intake: 32 MiB; payloads: 14 MiB, 2 more for small ones */
    test_start(&t, NULL);
    test_call r[4];
    uint64_t bytes[4] = {6 * MIB, 6 * MIB, 6 * MIB, 3 * MIB};
    for (int i = 0; i < 4; i++) {
        memset(&r[i], 0, sizeof r[i]);
        r[i].test = &t;
        cuzk_engine_reserve(t.engine, bytes[i], on_reserved, &r[i]);
    }
    test_wait_submitted(&r[0]);
    test_wait_submitted(&r[1]);
    assert_int_equal(test_look(&t).intake_reserved_bytes, 12 * MIB);
    assert_false(r[2].is_submitted || r[3].is_submitted); /* 3 MiB would fit: not past its turn */
    test_call small; /* small payloads have a share of their own; units theirs */
    test_submit(&t, &small, "small", 0, "units=2 witness=16000000");
    test_expect_completed(&small, "units=2 witness=16000000", 2);
    cuzk_engine_release(t.engine, bytes[0]);
    test_wait_submitted(&r[2]);
    cuzk_engine_release(t.engine, bytes[1]);
    test_wait_submitted(&r[3]);
    cuzk_engine_release(t.engine, bytes[3]);
    test_call over; /* a reservation that is handed over with a smaller payload */
    test_submit_reserved(&t, &over, "over", "n=over", bytes[2]);
    test_expect_completed(&over, "n=over", 1);
    test_wait_reserved(&t, 1);
    test_clear(&t);
}

/* A CRITICAL payload passes those that wait. */
static void test_critical_payload(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.n_decoders = 1;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_DECODE, "first", -1);
    test_call first, normal[20], critical;
    test_submit(&t, &first, "first", 0, "n=first");
    test_gate_wait(&t, g, 1);
    char id[20][32];
    for (int i = 0; i < 20; i++) {
        snprintf(id[i], sizeof id[i], "job-%d", i);
        test_submit(&t, &normal[i], id[i], 0, "n=1");
    }
    test_submit(&t, &critical, "critical", CUZK_PRIORITY_CRITICAL, "n=c");
    assert_int_equal(test_look(&t).submissions, 22);
    test_gate_open(&t, g);
    test_expect_completed(&first, "n=first", 1);
    test_expect_completed(&critical, "n=c", 1);
    for (int i = 0; i < 20; i++) {
        test_expect_completed(&normal[i], "n=1", 1);
    }
    long at = test_find_event(&t, CUZK_EVENT_DECODE, CUZK_EVENT_BEGIN, NULL, -1, 1);
    assert_string_equal(test_event(&t, at).job_id, "critical");
    test_clear(&t);
}

/* Bytes of the heap in use, the test's own recordings aside. */
static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* BC-071: 10,000 jobs, half of them failing in decode: flat from 1,000 on. */
static void test_flat(void **state)
{
    (void)state;
    enum { N = 10000, EARLY = 1000 };
    engine_test t;
    test_init(&t);
    t.keeps_events = false;
    t.options.keep_bytes = 100000;
    test_start(&t, NULL);
    size_t early = 0;
    for (int i = 0; i < N; i++) {
        test_call call;
        char id[32];
        char payload[64];
        snprintf(id, sizeof id, "job-%d", i);
        snprintf(payload, sizeof payload, "n=%d%s", i, i % 2 ? " fail=decode:E_FORMAT" : "");
        test_submit(&t, &call, id, 0, payload);
        if (i % 2) {
            test_wait_submitted(&call);
            assert_int_equal(call.status, CUZK_E_FORMAT);
        } else {
            test_expect_completed(&call, payload, 1);
        }
        if (i == EARLY) {
            early = heap_bytes();
        }
    }
    size_t late = heap_bytes();
    if (late > early + (1 << 20)) {
        fail_msg("%zu bytes after %d jobs, %zu after %d", early, EARLY, late, N);
    }
    test_clear(&t);
}

typedef struct {
    unsigned n, n_ready;
    uint64_t since_ns;
} seen_waits;

static void on_wait(void *user, const cuzk_event *event)
{
    seen_waits *seen = user;
    assert_int_equal(event->id, CUZK_EVENT_WAITING);
    assert_true(event->since_ns > 0 && event->since_ns <= event->ns);
    seen->n++;
    seen->n_ready += event->is_ready;
    seen->since_ns = event->since_ns;
}

/* Who waits is told when it is asked, and when it is taken out: cancelled, or as the engine ends.
 */
static void test_waits_are_told(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.options.budget_bytes = 100 * MIB;
    t.options.intake_bytes = 20 * MIB;
    t.options.witness_ahead = 8;
    t.devices[0].n_workers = 1;
    test_start(&t, NULL);
    unsigned g = test_gate(&t, NULL_LANE, "holder", -1);
    test_call holder, ready, large, other;
    bool was_running;
    test_submit(&t, &holder, "holder", 0, "holder witness=1000000");
    test_gate_wait(&t, g, 1);
    seen_waits seen = {0};
    cuzk_engine_waits(t.engine, on_wait, &seen);
    assert_int_equal(seen.n, 0);
    test_submit(&t, &ready, "ready", 0, "n=ready witness=41943040");
    test_wait_events(&t, CUZK_EVENT_QUEUED, CUZK_EVENT_INSTANT, "ready", 1);
    test_submit(&t, &large, "large", 0, "n=large witness=41943040");
    test_wait_submitted(&large);
    while (seen.n < 2) { /* the schedule comes to it soon */
        seen = (seen_waits){0};
        cuzk_engine_waits(t.engine, on_wait, &seen);
    }
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.n_ready, 1);
    assert_int_equal(test_count_events(&t, CUZK_EVENT_WAITING, CUZK_EVENT_INSTANT, NULL), 0);
    assert_int_equal(cuzk_engine_cancel(t.engine, &was_running, "large", NULL), CUZK_OK);
    long at = test_find_event(&t, CUZK_EVENT_WAITING, CUZK_EVENT_INSTANT, "large", 0, 0);
    assert_true(at >= 0 && !test_event(&t, at).event.is_ready);
    test_expect_state(&large, CUZK_JOB_CANCELLED, CUZK_E_CANCELLED);
    test_call_clear(&large);
    test_submit(&t, &other, "other", 0, "n=other witness=41943040");
    test_wait_submitted(&other);
    for (seen.n = 0; seen.n < 2;) {
        seen = (seen_waits){0};
        cuzk_engine_waits(t.engine, on_wait, &seen);
    }
    test_gate_open(&t, g);
    test_stop(&t);
    test_call *calls[] = {&holder, &ready, &other};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        test_wait_result(calls[i]);
        test_call_clear(calls[i]);
    }
    bool ends = test_count_events(&t, CUZK_EVENT_WAITING, CUZK_EVENT_INSTANT, "other") == 1 ||
                test_count_events(&t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, "other") == 1;
    assert_true(ends);
    test_clear(&t);
}

int main(int argc, char **argv)
{
    /* what threads keep for themselves would count as in use: 200 kB each, sooner or later */
    if (argc > 0 && getenv("GLIBC_TUNABLES") == NULL) {
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
        execv("/proc/self/exe", argv);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_device),    cmocka_unit_test(test_waiters_in_order),
        cmocka_unit_test(test_never_fits),     cmocka_unit_test(test_just_fits),
        cmocka_unit_test(test_intake),         cmocka_unit_test(test_critical_payload),
        cmocka_unit_test(test_waits_are_told), cmocka_unit_test(test_flat),
    };
    return cmocka_run_group_tests_name("engine: memory", tests, NULL, NULL);
}
