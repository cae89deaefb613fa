/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The hands: who runs what, and who tells it. */
#include "engine_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Where nothing else is to be done nobody is woken for a stage: the thread that ends one goes on.
 */
static void test_lone_job_keeps_its_thread(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    test_call warm;
    test_submit(&t, &warm, "warm", 0, "n=warm"); /* for its circuit a loader is woken */
    test_expect_completed(&warm, "n=warm", 1);
    for (int i = 0; i < 20; i++) {
        char id[32], payload[32];
        snprintf(id, sizeof id, "lone-%d", i);
        snprintf(payload, sizeof payload, "n=%d", i);
        test_wait_reserved(&t, 1); /* who told the last result sleeps: it could take a stage */
        test_call call;
        test_submit(&t, &call, id, 0, payload);
        test_expect_completed(&call, payload, 1);
        const cuzk_event_id stages[] = {CUZK_EVENT_DECODE, CUZK_EVENT_WITNESS,
                                        CUZK_EVENT_PROVE_START, CUZK_EVENT_PROVE_FINISH,
                                        CUZK_EVENT_VERIFY};
        pthread_t thread = pthread_self();
        for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
            long at = test_find_event(&t, stages[k], CUZK_EVENT_BEGIN, id, -1, 0);
            assert_true(at >= 0);
            seen_event seen = test_event(&t, at);
            if (k > 0 && !pthread_equal(seen.thread, thread)) {
                fail_msg("job %d: stage %zu ran on another thread than the one before", i, k);
            }
            thread = seen.thread;
        }
        assert_false(pthread_equal(thread, pthread_self()));
    }
    test_clear(&t);
}

/* A caller whose callback does not return until it is let go. */
typedef struct {
    engine_test *t;
    bool is_inside, may_go;
} slow_caller;

static void on_slow_submitted(void *user, const cuzk_submitted *answer)
{
    slow_caller *s = (slow_caller *)user;
    (void)answer;
    pthread_mutex_lock(&s->t->lock);
    s->is_inside = true;
    pthread_cond_broadcast(&s->t->changed);
    while (!s->may_go) {
        pthread_cond_wait(&s->t->changed, &s->t->lock);
    }
    pthread_mutex_unlock(&s->t->lock);
}

/* A refused submission, whose refusal is told by the hand that read it. Returns inside of that. */
static void submit_slowly(slow_caller *s)
{
    static const char payload[] = "fail=decode:E_FORMAT";
    cuzk_submission submission = {.request_id = "slow",
                                  .kind = 1,
                                  .payload = strdup(payload),
                                  .payload_bytes = strlen(payload),
                                  .on_submitted = on_slow_submitted,
                                  .user = s};
    cuzk_engine_submit(s->t->engine, &submission, NULL);
    pthread_mutex_lock(&s->t->lock);
    while (!s->is_inside) {
        pthread_cond_wait(&s->t->changed, &s->t->lock);
    }
    pthread_mutex_unlock(&s->t->lock);
}

static void let_go(slow_caller *s)
{
    pthread_mutex_lock(&s->t->lock);
    s->may_go = true;
    pthread_cond_broadcast(&s->t->changed);
    pthread_mutex_unlock(&s->t->lock);
}

/* Every place but the decoder's is taken, and the hand that is left is in a callback: what comes
 * for the decoder waits for it. */
static void test_last_hand_tells(void **state)
{
    (void)state;
    enum { LOADERS = 4 };
    engine_test t;
    test_init(&t);
    t.devices[0].n_workers = 1;
    t.options.n_witness = t.options.n_finishers = t.options.n_verifiers = t.options.n_decoders = 1;
    null_circuit circuits[1 + LOADERS] = {{.name = "null-a", .bytes = 1000}};
    char names[LOADERS][32];
    for (int i = 0; i < LOADERS; i++) {
        snprintf(names[i], sizeof names[i], "other-%d", i);
        circuits[1 + i] = (null_circuit){.name = names[i], .bytes = 1000};
    }
    test_start(&t, &(null_options){.circuits = circuits, .n_circuits = 1 + LOADERS});
    test_call calls[6 + LOADERS];
    test_submit(&t, &calls[0], "warm", 0, "n=warm");
    test_expect_completed(&calls[0], "n=warm", 1);

    const struct {
        null_stage stage;
        const char *payload;
        unsigned priority;
    } held[] = {{NULL_VERIFY, "n=1", 0},
                {NULL_FINISH, "n=2", 0},
                {NULL_LANE, "n=3", 0},
                {NULL_PROVE, "n=4", CUZK_PRIORITY_CRITICAL},
                {NULL_WITNESS, "n=5", 0}};
    enum { HELD = sizeof held / sizeof held[0] };
    unsigned gates[HELD + 1];
    for (int i = 0; i < HELD; i++) {
        gates[i] = test_gate(&t, held[i].stage, held[i].payload, -1);
        test_submit(&t, &calls[i], held[i].payload, held[i].priority, held[i].payload);
        test_gate_wait(&t, gates[i], 1);
    }
    gates[HELD] = test_gate(&t, NULL_LOAD, "other", -1);
    char payloads[LOADERS][160];
    for (int i = 0; i < LOADERS; i++) {
        snprintf(payloads[i], sizeof payloads[i], "circuit=%s", names[i]);
        test_submit(&t, &calls[HELD + i], payloads[i], 0, payloads[i]);
    }
    test_gate_wait(&t, gates[HELD], LOADERS);
    slow_caller slow = {.t = &t};
    submit_slowly(&slow);
    test_submit(&t, &calls[HELD + LOADERS], "late", 0, "n=late");
    let_go(&slow);
    test_wait_submitted(&calls[HELD + LOADERS]); /* the others are still held */
    for (int i = 0; i <= HELD; i++) {
        test_gate_open(&t, gates[i]);
    }
    for (int i = 0; i < HELD; i++) {
        test_expect_completed(&calls[i], held[i].payload, 1);
    }
    for (int i = 0; i < LOADERS; i++) {
        test_expect_completed(&calls[HELD + i], payloads[i], 1);
    }
    test_expect_completed(&calls[HELD + LOADERS], "n=late", 1);
    test_clear(&t);
}

/* Who tells does not hold up stages, and what others have to tell meanwhile is told after. */
static void test_work_goes_on_while_one_tells(void **state)
{
    (void)state;
    enum { N = 12 };
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    slow_caller slow = {.t = &t};
    submit_slowly(&slow);
    test_call calls[N];
    char payloads[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(payloads[i], sizeof payloads[i], "n=%d", i);
        test_submit(&t, &calls[i], payloads[i], 0, payloads[i]);
    }
    test_wait_events(&t, CUZK_EVENT_UNIT_DONE, CUZK_EVENT_INSTANT, NULL, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(calls[i].n_submitted_calls + calls[i].n_result_calls, 0);
    }
    let_go(&slow);
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], payloads[i], 1);
    }
    test_clear(&t);
}

/* Where the calling thread was put last, and what its stage was for. */
static _Thread_local int place_device = -2, place_maker = -2;
static atomic_uint n_wrong, n_made_by[2], n_proved_on[2], n_loads;

static void note_place(void *user, int device, int maker)
{
    assert_non_null(user);
    place_device = device;
    place_maker = maker;
}

static bool is_right(null_stage stage, const cuzk_work_call *call)
{
    switch (stage) {
    case NULL_DECODE:
    case NULL_LOAD:
        n_loads += stage == NULL_LOAD;
        return place_device == -1 && place_maker == -1;
    case NULL_WITNESS:
        if (place_maker < 0 || place_maker > 1) {
            return false;
        }
        n_made_by[place_maker]++;
        return place_device == -1;
    case NULL_PROVE:
        n_proved_on[call->device]++;
        break;
    case NULL_ASSEMBLE:
        return true;
    default:
        break;
    }
    return place_device == (int)call->device && place_maker == -1;
}

static cuzk_status note_stage(void *user, null_stage stage, const char *text, int unit,
                              const cuzk_work_call *call)
{
    (void)user, (void)text, (void)unit;
    n_wrong += !is_right(stage, call);
    return CUZK_OK;
}

/* A thread is put beside the device before it works for it, whatever it did before: witness makers
 * by their number, what serves all devices anywhere. */
static void test_places(void **state)
{
    (void)state;
    enum { UNITS = 60 };
    engine_test t;
    test_init(&t);
    t.devices[0] = (cuzk_engine_device){.id = "dev:0", .memory_bytes = 1 << 20, .n_workers = 1};
    t.devices[1] = (cuzk_engine_device){.id = "dev:1", .memory_bytes = 1 << 20, .n_workers = 1};
    t.options.devices = t.devices;
    t.options.n_devices = 2;
    t.options.place = note_place;
    t.options.place_user = &t;
    test_start(&t, &(null_options){.hook = note_stage});
    test_call call;
    const char *payload = "units=60 witness_us=2000 lane_us=3000";
    test_submit(&t, &call, "places", 0, payload);
    test_expect_completed(&call, payload, UNITS);
    test_clear(&t);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(n_loads, 1);
    assert_int_equal(n_made_by[0] + n_made_by[1], UNITS);
    assert_int_equal(n_proved_on[0] + n_proved_on[1], UNITS);
    assert_true(n_proved_on[0] > 0 && n_proved_on[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lone_job_keeps_its_thread),
        cmocka_unit_test(test_last_hand_tells),
        cmocka_unit_test(test_work_goes_on_while_one_tells),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests_name("engine: hands", tests, NULL, NULL);
}
