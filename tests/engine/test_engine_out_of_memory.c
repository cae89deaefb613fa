/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every allocation of a job's life fails once, whosesoever it is: the caller is told, the engine
 * goes on, nothing is lost. */
#include "alloc_fail.h"
#include "engine_test.h"
#include "memory_journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a caller is told, without memory of its own. */
typedef struct {
    engine_test *t;
    bool is_submitted, has_result;
    cuzk_status status, result_status;
    cuzk_job_state state;
} told;

static void on_submitted(void *user, const cuzk_submitted *answer)
{
    told *c = (told *)user;
    pthread_mutex_lock(&c->t->lock);
    c->is_submitted = true;
    c->status = answer->status;
    assert_non_null(answer->error);
    pthread_cond_broadcast(&c->t->changed);
    pthread_mutex_unlock(&c->t->lock);
}

static void on_result(void *user, const cuzk_job_result *result)
{
    told *c = (told *)user;
    pthread_mutex_lock(&c->t->lock);
    c->has_result = true;
    c->state = result->state;
    c->result_status = result->status;
    pthread_cond_broadcast(&c->t->changed);
    pthread_mutex_unlock(&c->t->lock);
}

static told prove(engine_test *t, const char *id, const char *text)
{
    told c = {.t = t};
    size_t n = strlen(text);
    void *payload = NULL;
    while (payload == NULL) { /* may be the one that fails */
        payload = malloc(n);
    }
    memcpy(payload, text, n);
    cuzk_submission submission = {.request_id = id,
                                  .kind = 1,
                                  .payload = payload,
                                  .payload_bytes = n,
                                  .on_submitted = on_submitted,
                                  .on_result = on_result,
                                  .user = &c};
    cuzk_engine_submit(t->engine, &submission, NULL);
    pthread_mutex_lock(&t->lock);
    while (!c.has_result && !(c.is_submitted && c.status != CUZK_OK)) {
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return c;
}

static void test_jobs(void **state)
{
    (void)state;
    engine_test t;
    test_init(&t);
    t.keeps_events = false;
    t.options.keep_bytes = 1;
    test_start(&t, NULL);
    unsigned n_refused = 0;
    unsigned n_failed = 0;
    bool has_failed = true;
    for (unsigned n = 0; has_failed; n++) {
        char id[32];
        snprintf(id, sizeof id, "job-%u", n);
        alloc_fail_at(n);
        told c = prove(&t, id, "units=2");
        has_failed = alloc_fail_stop();
        if (c.status != CUZK_OK) {
            assert_int_equal(c.status, CUZK_E_MEMORY);
            n_refused++;
        } else if (c.state != CUZK_JOB_COMPLETED) {
            assert_int_equal(c.result_status, CUZK_E_MEMORY);
            n_failed++;
        }
        uint64_t evicted = 0; /* so that the next one loads it again */
        bool was_loaded = false;
        assert_int_equal(cuzk_engine_evict(t.engine, &was_loaded, &evicted, "null-a", NULL),
                         CUZK_OK);
        test_wait_reserved(&t, 0);
    }
    assert_true(n_refused >= 6 && n_failed >= 4);
    test_clear(&t);
}

static void test_create(void **state)
{
    (void)state;
    null_work *work = null_work_create(&(null_options){0});
    engine_test t;
    test_init(&t);
    t.options.kinds[1] = (cuzk_engine_kind){
        .name = "null", .label = "null", .priority = 2, .work = null_work_table(work)};
    bool has_failed = true;
    for (unsigned n = 0; has_failed; n++) {
        cuzk_engine *engine = NULL;
        cuzk_error err = {0};
        alloc_fail_at(n);
        cuzk_status status = cuzk_engine_create(&engine, &t.options, &err);
        has_failed = alloc_fail_stop();
        if (status == CUZK_OK) {
            cuzk_engine_destroy(engine);
        } else {
            assert_true(has_failed);
            assert_int_equal(status, CUZK_E_MEMORY);
        }
    }
    null_work_destroy(work);
    test_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests_name("engine: out of memory", tests, NULL, NULL);
}
