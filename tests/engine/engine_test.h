/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of the engine share: an engine over null work, its events recorded, calls that can
 * be waited for, gates that hold a stage until a test lets it go on. Nothing sleeps. */
#ifndef CUZK_TESTS_ENGINE_ENGINE_TEST_H
#define CUZK_TESTS_ENGINE_ENGINE_TEST_H

#include "engine/engine.h"
#include "null_work.h"

#include <pthread.h>
#include <stdarg.h>

enum { GATES_MAX = 8, TEXT_MAX_BYTES = 512, JOB_ID_BYTES = 96 };

/* A recorded event; texts cut to fit. */
typedef struct {
    cuzk_event event;
    pthread_t thread; /* in which it came */
    char job_id[JOB_ID_BYTES];
    char text[256];
} seen_event;

/* Holds a stage of the units whose payload has a text in it. */
typedef struct {
    null_stage stage;
    const char *text; /* "": all */
    int unit;         /* -1: all */
    bool is_open;
    unsigned n_free; /* may pass a closed gate */
    unsigned n_waiting, n_passed;
} gate;

typedef struct {
    cuzk_engine *engine;
    null_work *work;
    cuzk_engine_options options;
    cuzk_engine_device devices[8];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    seen_event *events;
    size_t n_events, events_max;
    bool keeps_events;
    gate gates[GATES_MAX];
    unsigned n_gates;
    unsigned n_live_calls;
} engine_test;

/* A call that was made, and what came of it. */
typedef struct {
    engine_test *test;
    uint64_t waiter;
    bool is_submitted, has_result;
    cuzk_status status; /* of the submission */
    char error[1024];
    char job_id[CUZK_JOB_ID_MAX];
    bool is_known;
    unsigned queue_position;
    cuzk_job_state state;
    cuzk_status result_status;
    char result_error[1024];
    uint8_t *answer;
    size_t answer_bytes;
    cuzk_job_result times;
    unsigned n_submitted_calls, n_result_calls;
} test_call;

/** Prepare: one device "cpu" of two workers, two threads a stage, 64 MiB. Options may be changed
 *  before test_start. */
void test_init(engine_test *test);
/** Start an engine; any failure fails the test. */
void test_start(engine_test *test, const null_options *work);
/** Destroy the engine only; check that all work has been freed. */
void test_stop(engine_test *test);
/** Everything. */
void test_clear(engine_test *test);

/** Submit; fills call. priority 0: NORMAL is the kind's. */
void test_submit(engine_test *test, test_call *call, const char *id, unsigned priority,
                 const char *payload);
/** As SubmitProof does: nobody waits. */
void test_submit_only(engine_test *test, test_call *call, const char *id, unsigned priority,
                      const char *payload);
/** A payload of any bytes. */
void test_submit_bytes(engine_test *test, test_call *call, const char *id, const void *payload,
                       size_t n_bytes);
/** With a reservation that was made for its payload. */
void test_submit_reserved(engine_test *test, test_call *call, const char *id, const char *payload,
                          uint64_t reserved_bytes);
void test_await(engine_test *test, test_call *call, const char *id, uint64_t timeout_ns);
/** Wait for what the call is owed. */
void test_wait_submitted(test_call *call);
void test_wait_result(test_call *call);
void test_call_clear(test_call *call);
/** The result is COMPLETED with the right proofs of n_units. */
void test_expect_completed(test_call *call, const char *payload, unsigned n_units);
void test_expect_state(test_call *call, cuzk_job_state state, cuzk_status status);

/** A closed gate. Returned: its number. */
unsigned test_gate(engine_test *test, null_stage stage, const char *text, int unit);
/** Wait until so many stand at it. */
void test_gate_wait(engine_test *test, unsigned gate, unsigned n);
void test_gate_open(engine_test *test, unsigned gate);
/** Let n pass a closed gate, and wait until they have. */
void test_gate_pass(engine_test *test, unsigned gate, unsigned n);

/** Wait until there were n events of this id and phase of a job (NULL: any). */
void test_wait_events(engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                      const char *job_id, unsigned n);
unsigned test_count_events(engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                           const char *job_id);
/** Index of the k-th such event, or -1. */
long test_find_event(engine_test *test, cuzk_event_id id, cuzk_event_phase phase,
                     const char *job_id, int unit, unsigned k);

/** The event of an index. */
seen_event test_event(engine_test *test, long at);

/** Numbers of the engine now. */
cuzk_engine_view test_look(engine_test *test);
/** Wait until a number of the view has a value, by looking again after every event. */
void test_wait_reserved(engine_test *test, uint64_t bytes);

#endif
