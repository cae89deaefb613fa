/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The helpers of engine_test.h. */
#include "engine_test.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- events and gates ------------------------------------------------------------------------ */

static void observe(void *user, const cuzk_event *event)
{
    engine_test *test = (engine_test *)user;
    pthread_mutex_lock(&test->lock);
    if (test->keeps_events) {
        if (test->n_events == test->events_max) {
            test->events_max = test->events_max * 2 + 1024;
            test->events = realloc(test->events, test->events_max * sizeof *test->events);
        }
        seen_event *seen = &test->events[test->n_events++];
        memset(seen, 0, sizeof *seen);
        seen->event = *event;
        seen->thread = pthread_self();
        snprintf(seen->job_id, sizeof seen->job_id, "%s",
                 event->job_id != NULL ? event->job_id : "");
        snprintf(seen->text, sizeof seen->text, "%s", event->text != NULL ? event->text : "");
    }
    pthread_cond_broadcast(&test->changed);
    pthread_mutex_unlock(&test->lock);
}

static cuzk_status hook(void *user, null_stage stage, const char *text, int unit,
                        const cuzk_work_call *call)
{
    engine_test *test = (engine_test *)user;
    pthread_mutex_lock(&test->lock);
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < test->n_gates; i++) {
        gate *g = &test->gates[i];
        if (g->stage != stage || strstr(text, g->text) == NULL ||
            (g->unit >= 0 && g->unit != unit)) {
            continue;
        }
        g->n_waiting++;
        pthread_cond_broadcast(&test->changed);
        while (!g->is_open && g->n_free == 0 &&
               (call == NULL || !call->is_cancelled(call->context))) {
            struct timespec t;
            clock_gettime(CLOCK_REALTIME, &t);
            t.tv_nsec += 1000000;
            t.tv_sec += t.tv_nsec / 1000000000;
            t.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&test->changed, &test->lock, &t);
        }
        g->n_waiting--;
        g->n_passed++;
        pthread_cond_broadcast(&test->changed);
        status = g->is_open || g->n_free > 0 ? CUZK_OK : CUZK_E_CANCELLED;
        g->n_free -= !g->is_open && g->n_free > 0;
    }
    pthread_mutex_unlock(&test->lock);
    return status;
}

unsigned test_gate(engine_test *test, null_stage stage, const char *text, int unit)
{
    pthread_mutex_lock(&test->lock);
    assert_true(test->n_gates < GATES_MAX);
    test->gates[test->n_gates] = (gate){.stage = stage, .text = text, .unit = unit};
    unsigned n = test->n_gates++;
    pthread_mutex_unlock(&test->lock);
    return n;
}

void test_gate_wait(engine_test *test, unsigned i, unsigned n)
{
    pthread_mutex_lock(&test->lock);
    while (test->gates[i].n_waiting < n) {
        pthread_cond_wait(&test->changed, &test->lock);
    }
    pthread_mutex_unlock(&test->lock);
}

void test_gate_open(engine_test *test, unsigned i)
{
    pthread_mutex_lock(&test->lock);
    test->gates[i].is_open = true;
    pthread_cond_broadcast(&test->changed);
    pthread_mutex_unlock(&test->lock);
}

void test_gate_pass(engine_test *test, unsigned i, unsigned n)
{
    pthread_mutex_lock(&test->lock);
    gate *g = &test->gates[i];
    unsigned all = g->n_passed + n;
    g->n_free += n;
    pthread_cond_broadcast(&test->changed);
    while (g->n_passed < all) {
        pthread_cond_wait(&test->changed, &test->lock);
    }
    pthread_mutex_unlock(&test->lock);
}

static bool is_event(const seen_event *seen, cuzk_event_id id, cuzk_event_phase phase,
                     const char *job_id)
{
    return seen->event.id == id && seen->event.phase == phase &&
           (job_id == NULL || strcmp(job_id, seen->job_id) == 0);
}

static unsigned count_events(const engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                             const char *job_id)
{
    unsigned n = 0;
    for (size_t i = 0; i < test->n_events; i++) {
        n += is_event(&test->events[i], id, phase, job_id);
    }
    return n;
}

void test_wait_events(engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                      const char *job_id, unsigned n)
{
    pthread_mutex_lock(&test->lock);
    while (count_events(test, id, phase, job_id) < n) {
        pthread_cond_wait(&test->changed, &test->lock);
    }
    pthread_mutex_unlock(&test->lock);
}

unsigned test_count_events(engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                           const char *job_id)
{
    pthread_mutex_lock(&test->lock);
    unsigned n = count_events(test, id, phase, job_id);
    pthread_mutex_unlock(&test->lock);
    return n;
}

long test_find_event(engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                     const char *job_id, int unit, unsigned k)
{
    long found = -1;
    pthread_mutex_lock(&test->lock);
    for (size_t i = 0; i < test->n_events && found < 0; i++) {
        const seen_event *seen = &test->events[i];
        if (is_event(seen, id, phase, job_id) && (unit < 0 || seen->event.unit == unit) &&
            k-- == 0) {
            found = (long)i;
        }
    }
    pthread_mutex_unlock(&test->lock);
    return found;
}

seen_event test_event(engine_test *test, long at)
{
    pthread_mutex_lock(&test->lock);
    seen_event seen = test->events[at];
    pthread_mutex_unlock(&test->lock);
    return seen;
}

/* ---- engines --------------------------------------------------------------------------------- */

void test_init(engine_test *test)
{
    memset(test, 0, sizeof *test);
    pthread_mutex_init(&test->lock, NULL);
    pthread_cond_init(&test->changed, NULL);
    test->keeps_events = true;
    test->devices[0] = (cuzk_engine_device){.id = "cpu", .name = "CPU", .n_workers = 2};
    test->options = (cuzk_engine_options){
        .devices = test->devices,
        .n_devices = 1,
        .budget_bytes = UINT64_C(64) << 20,
        .n_decoders = 2,
        .n_witness = 2,
        .n_finishers = 2,
        .n_verifiers = 2,
        .witness_ahead = 1,
        .observe = observe,
        .observe_user = test,
    };
}

void test_start(engine_test *test, const null_options *work)
{
    null_options options = work != NULL ? *work : (null_options){0};
    if (options.hook == NULL) {
        options.hook = hook;
        options.hook_user = test;
    }
    test->work = null_work_create(&options);
    assert_non_null(test->work);
    for (unsigned k = 1; k <= 4; k++) {
        test->options.kinds[k] = (cuzk_engine_kind){.name = "null",
                                                    .label = "null",
                                                    .priority = CUZK_PRIORITY_NORMAL,
                                                    .work = null_work_table(test->work)};
    }
    cuzk_error err = {0};
    if (cuzk_engine_create(&test->engine, &test->options, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

void test_stop(engine_test *test)
{
    cuzk_engine_destroy(test->engine);
    test->engine = NULL;
    null_alive alive = null_work_alive(test->work);
    assert_int_equal(alive.tasks, 0);
    assert_int_equal(alive.residents, 0);
    assert_int_equal(alive.on_device, 0);
    assert_int_equal(alive.witnesses, 0);
    assert_int_equal(alive.pending, 0);
    assert_int_equal(alive.bytes, 0);
    null_work_destroy(test->work);
    test->work = NULL;
    test->n_gates = 0;
}

void test_clear(engine_test *test)
{
    if (test->engine != NULL) {
        test_stop(test);
    }
    free(test->events);
    pthread_mutex_destroy(&test->lock);
    pthread_cond_destroy(&test->changed);
}

cuzk_engine_view test_look(engine_test *test)
{
    cuzk_engine_view view;
    cuzk_error err = {0};
    assert_int_equal(cuzk_engine_look(test->engine, &view, true, &err), CUZK_OK);
    cuzk_engine_view copy = view;
    cuzk_engine_view_clear(&view);
    copy.jobs = NULL;
    copy.workers = NULL;
    copy.residents = NULL;
    return copy;
}

void test_wait_reserved(engine_test *test, uint64_t bytes)
{
    while (test_look(test).reserved_bytes != bytes) {
        sched_yield();
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void on_submitted(void *user, const cuzk_submitted *answer)
{
    test_call *call = (test_call *)user;
    pthread_mutex_lock(&call->test->lock);
    call->is_submitted = true;
    call->n_submitted_calls++;
    call->status = answer->status;
    snprintf(call->error, sizeof call->error, "%s", answer->error);
    snprintf(call->job_id, sizeof call->job_id, "%s", answer->job_id != NULL ? answer->job_id : "");
    call->is_known = answer->is_known;
    call->queue_position = answer->queue_position;
    pthread_cond_broadcast(&call->test->changed);
    pthread_mutex_unlock(&call->test->lock);
}

static void on_result(void *user, const cuzk_job_result *result)
{
    test_call *call = (test_call *)user;
    pthread_mutex_lock(&call->test->lock);
    call->has_result = true;
    call->n_result_calls++;
    call->state = result->state;
    call->result_status = result->status;
    snprintf(call->result_error, sizeof call->result_error, "%s", result->error);
    call->times = *result;
    free(call->answer);
    call->answer_bytes = result->answer_bytes;
    call->answer = malloc(result->answer_bytes + 1);
    if (result->answer_bytes > 0) {
        memcpy(call->answer, result->answer, result->answer_bytes);
    }
    pthread_cond_broadcast(&call->test->changed);
    pthread_mutex_unlock(&call->test->lock);
}

static void submit(engine_test *test, test_call *call, const cuzk_submission *what,
                   const void *payload, size_t n_bytes)
{
    memset(call, 0, sizeof *call);
    call->test = test;
    cuzk_submission submission = *what;
    submission.kind = 1;
    submission.payload = malloc(n_bytes + 1);
    submission.payload_bytes = n_bytes;
    submission.on_submitted = on_submitted;
    submission.user = call;
    memcpy(submission.payload, payload, n_bytes);
    uint64_t waiter = 0;
    cuzk_engine_submit(test->engine, &submission, &waiter);
    pthread_mutex_lock(&test->lock);
    call->waiter = waiter;
    pthread_mutex_unlock(&test->lock);
}

void test_submit(engine_test *test, test_call *call, const char *id, unsigned priority,
                 const char *payload)
{
    cuzk_submission what = {.request_id = id, .priority = priority, .on_result = on_result};
    submit(test, call, &what, payload, strlen(payload));
}

void test_submit_only(engine_test *test, test_call *call, const char *id, unsigned priority,
                      const char *payload)
{
    cuzk_submission what = {.request_id = id, .priority = priority};
    submit(test, call, &what, payload, strlen(payload));
}

void test_submit_reserved(engine_test *test, test_call *call, const char *id, const char *payload,
                          uint64_t reserved_bytes)
{
    cuzk_submission what = {
        .request_id = id, .reserved_bytes = reserved_bytes, .on_result = on_result};
    submit(test, call, &what, payload, strlen(payload));
}

void test_submit_bytes(engine_test *test, test_call *call, const char *id, const void *payload,
                       size_t n_bytes)
{
    cuzk_submission what = {.request_id = id, .on_result = on_result};
    submit(test, call, &what, payload, n_bytes);
}

void test_await(engine_test *test, test_call *call, const char *id, uint64_t timeout_ns)
{
    memset(call, 0, sizeof *call);
    call->test = test;
    cuzk_error err = {0};
    uint64_t waiter = 0;
    cuzk_status status =
        cuzk_engine_await(test->engine, &waiter, id, timeout_ns, on_result, call, &err);
    pthread_mutex_lock(&test->lock);
    call->status = status;
    call->waiter = waiter;
    snprintf(call->error, sizeof call->error, "%s", err.text);
    pthread_mutex_unlock(&test->lock);
}

void test_wait_submitted(test_call *call)
{
    pthread_mutex_lock(&call->test->lock);
    while (!call->is_submitted) {
        pthread_cond_wait(&call->test->changed, &call->test->lock);
    }
    pthread_mutex_unlock(&call->test->lock);
}

void test_wait_result(test_call *call)
{
    pthread_mutex_lock(&call->test->lock);
    while (!call->has_result && !(call->is_submitted && call->status != CUZK_OK)) {
        pthread_cond_wait(&call->test->changed, &call->test->lock);
    }
    pthread_mutex_unlock(&call->test->lock);
}

void test_call_clear(test_call *call)
{
    free(call->answer);
    call->answer = NULL;
}

void test_expect_state(test_call *call, cuzk_job_state state, cuzk_status status)
{
    test_wait_result(call);
    if (!call->has_result) {
        fail_msg("not accepted: %s", call->error);
    }
    if (call->state != state || call->result_status != status) {
        fail_msg("state %d (%s: %s), expected %d (%s)", call->state,
                 cuzk_status_name(call->result_status), call->result_error, state,
                 cuzk_status_name(status));
    }
    assert_int_equal(call->n_result_calls, 1);
}

void test_expect_completed(test_call *call, const char *payload, unsigned n_units)
{
    test_expect_state(call, CUZK_JOB_COMPLETED, CUZK_OK);
    assert_int_equal(call->answer_bytes, (size_t)n_units * NULL_PROOF_BYTES);
    for (unsigned i = 0; i < n_units; i++) {
        uint8_t proof[NULL_PROOF_BYTES];
        null_work_proof(proof, payload, strlen(payload), i);
        assert_memory_equal(call->answer + (size_t)i * NULL_PROOF_BYTES, proof, sizeof proof);
    }
    test_call_clear(call);
}
