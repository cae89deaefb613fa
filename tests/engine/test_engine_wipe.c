/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A payload may hold a private witness: it is zeros when its memory is given back, whatever becomes
 * of the job. The program is linked with --wrap=free. */
#include "engine_test.h"
#include "memory_journal.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The payload that is watched; what its memory held when it was freed. */
static void *_Atomic watched;
static size_t watched_bytes;
static atomic_int state_at_free; /* 0: not freed; 1: zeros; 2: not */

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
    void *expected = p;
    if (p != NULL && atomic_compare_exchange_strong(&watched, &expected, NULL)) {
        const uint8_t *bytes = p;
        int found = 1;
        for (size_t i = 0; i < watched_bytes; i++) {
            found = bytes[i] != 0 ? 2 : found;
        }
        atomic_store(&state_at_free, found);
    }
    __real_free(p);
}

static void on_submitted(void *user, const cuzk_submitted *answer)
{
    test_call *call = (test_call *)user;
    pthread_mutex_lock(&call->test->lock);
    call->is_submitted = true;
    call->status = answer->status;
    pthread_cond_broadcast(&call->test->changed);
    pthread_mutex_unlock(&call->test->lock);
}

/* Submit n_bytes that begin with a text, wait for the outcome and the end of its payload. */
static void expect_wiped(engine_test *t, const char *id, const char *text, size_t n_bytes,
                         unsigned priority, cuzk_status status)
{
    uint8_t *payload = malloc(n_bytes);
    memset(payload, 's', n_bytes);
    memcpy(payload, text, strlen(text) + 1);
    watched_bytes = n_bytes;
    atomic_store(&state_at_free, 0);
    atomic_store(&watched, payload);
    test_call call = {.test = t};
    cuzk_submission submission = {.request_id = id,
                                  .kind = 1,
                                  .priority = priority,
                                  .payload = payload,
                                  .payload_bytes = n_bytes,
                                  .on_submitted = on_submitted,
                                  .user = &call};
    cuzk_engine_submit(t->engine, &submission, NULL);
    test_wait_submitted(&call);
    assert_int_equal(call.status, status);
    while (atomic_load(&state_at_free) == 0) {
        sched_yield();
    }
    assert_int_equal(atomic_load(&state_at_free), 1);
}

static void all_ways(cuzk_journal *journal)
{
    static const size_t SIZES[] = {100, 300000};
    engine_test t;
    test_init(&t);
    t.options.journal = journal;
    test_start(&t, NULL);
    for (int i = 0; i < 2; i++) {
        size_t n = SIZES[i];
        const char *id = i == 0 ? "small" : "large";
        expect_wiped(&t, id, "task=1", n, 0, CUZK_OK);
        expect_wiped(&t, id, "task=1", n, 0, CUZK_OK);         /* joins it */
        expect_wiped(&t, id, "task=1 n=other", n, 0, CUZK_OK); /* beside it */
        expect_wiped(&t, "x", "fail=decode:E_FORMAT", n, 0, CUZK_E_FORMAT);
        expect_wiped(&t, "x", "task=1", n, 9, CUZK_E_ARGUMENT);
    }
    expect_wiped(&t, "x", "task=1", 40 << 20, 0, CUZK_E_MEMORY);
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    expect_wiped(&t, "late", "task=1", 300000, 0, CUZK_E_UNAVAILABLE);
    test_clear(&t);
}

static void test_without_journal(void **state)
{
    (void)state;
    all_ways(NULL);
}

static void test_with_journal(void **state)
{
    (void)state;
    cuzk_journal *journal = memory_journal_create();
    all_ways(journal);
    memory_journal_fail(journal, CUZK_E_FILE);
    engine_test t;
    test_init(&t);
    t.options.journal = journal;
    test_start(&t, NULL);
    expect_wiped(&t, "refused", "task=1", 300000, 0, CUZK_E_UNAVAILABLE);
    test_clear(&t);
    memory_journal_destroy(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_journal),
        cmocka_unit_test(test_with_journal),
    };
    return cmocka_run_group_tests_name("engine: payloads are wiped", tests, NULL, NULL);
}
