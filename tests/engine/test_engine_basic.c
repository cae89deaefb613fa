/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From a submission to its answer: what callers are told, in which order, with and without a
 * journal. */
#include "engine_test.h"
#include "memory_journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_one_job(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    test_call call;
    test_submit(&t, &call, "job-1", 0, "units=3");
    test_expect_completed(&call, "units=3", 3);
    assert_string_equal(call.job_id, "job-1");
    assert_int_equal(call.status, CUZK_OK);
    assert_false(call.is_known);
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].completed, 1);
    assert_int_equal(view.kinds[1].pending + view.kinds[1].in_progress, 0);
    test_clear(&t);
}

static void test_one_job_with_journal(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    test_start(&t, NULL);
    test_call call;
    test_submit(&t, &call, "job-1", 0, "units=3");
    test_expect_completed(&call, "units=3", 3);
    test_clear(&t);
    assert_int_equal(memory_journal_jobs(journal), 1);
    memory_journal_destroy(journal);
}

static void test_many_jobs(void **state)
{
    (void)state;
    enum { N = 300 };
    engine_test t;
    test_init(&t);
    cuzk_journal *journal = memory_journal_create();
    t.options.journal = journal;
    test_start(&t, NULL);
    static test_call calls[N];
    static char payloads[N][32];
    for (int i = 0; i < N; i++) {
        snprintf(payloads[i], sizeof payloads[i], "units=%d n=%d", 1 + i % 4, i);
        char id[32];
        snprintf(id, sizeof id, "job-%d", i);
        test_submit(&t, &calls[i], id, 1 + (unsigned)i % 4, payloads[i]);
    }
    for (int i = 0; i < N; i++) {
        test_expect_completed(&calls[i], payloads[i], 1 + (unsigned)i % 4);
    }
    assert_true(cuzk_engine_drain(t.engine, UINT64_MAX));
    cuzk_engine_view view = test_look(&t);
    assert_int_equal(view.kinds[1].completed, N);
    assert_true(view.peak_bytes <= view.budget_bytes);
    test_clear(&t);
    memory_journal_destroy(journal);
}

static void test_bad_payload(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    test_start(&t, NULL);
    test_call call;
    test_submit(&t, &call, "bad", 0, "fail=decode:E_FORMAT");
    test_wait_result(&call);
    assert_int_equal(call.status, CUZK_E_FORMAT);
    assert_false(call.has_result);
    assert_int_equal(test_look(&t).kinds[1].failed, 0);
    test_wait_reserved(&t, 0);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_job),
        cmocka_unit_test(test_one_job_with_journal),
        cmocka_unit_test(test_many_jobs),
        cmocka_unit_test(test_bad_payload),
    };
    return cmocka_run_group_tests_name("engine: from submission to answer", tests, NULL, NULL);
}
