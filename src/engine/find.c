/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ended jobs that left memory: which the journal may have is known from a filter of their ids; it
 * is asked for these only, and what it has comes back into memory for a while. */
#include "engine/inner.h"

#include <stdlib.h>

/* One question. waiter NULL: somebody stands by until is_done. */
typedef struct {
    cuzk_engine *engine;
    cuzk_waiter *waiter;
    bool is_done;
} question;

bool cuzk_records_may_have(const cuzk_engine *engine, const char *id)
{
    return engine->options.journal != NULL &&
           cuzk_filter_has(&engine->gone, cuzk_table_hash(&engine->jobs, id));
}

static void answer(question *q, cuzk_status status, const cuzk_journal_entry *entry)
{
    cuzk_engine *engine = q->engine;
    if (status == CUZK_OK) {
        status = cuzk_records_take_back(engine, entry, NULL);
    }
    cuzk_records_answered(engine);
    if (q->waiter != NULL) {
        cuzk_waiter_found(engine, q->waiter, status);
        cuzk_waiter_unref(engine, q->waiter);
    } else {
        q->is_done = true;
        pthread_cond_broadcast(&engine->found);
    }
}

static void on_found(void *user, cuzk_status status, const char *error,
                     const cuzk_journal_entry *entry)
{
    (void)error;
    if (cuzk_records_is_at_once(status)) {
        return;
    }
    question *q = (question *)user;
    cuzk_engine *engine = q->engine;
    bool is_ours = q->waiter != NULL;
    cuzk_engine_lock(engine);
    answer(q, status, entry);
    cuzk_engine_unlock(engine);
    if (is_ours) {
        free(q);
    }
}

/* Ask. True: it has been answered. */
static bool put(question *q, const char *id)
{
    cuzk_records_ask(q->engine);
    cuzk_journal_find(q->engine->options.journal, id, on_found, q);
    cuzk_status status = cuzk_records_asked();
    if (status != CUZK_OK) {
        answer(q, status, NULL);
    }
    return status != CUZK_OK;
}

void cuzk_records_find(cuzk_engine *engine, cuzk_waiter *waiter)
{
    question *q = malloc(sizeof *q);
    if (q == NULL) {
        cuzk_waiter_found(engine, waiter, CUZK_E_MEMORY);
        cuzk_waiter_unref(engine, waiter);
        return;
    }
    *q = (question){.engine = engine, .waiter = waiter};
    if (put(q, waiter->job_id)) {
        free(q);
    }
}

void cuzk_records_find_now(cuzk_engine *engine, const char *id)
{
    question q = {.engine = engine};
    (void)put(&q, id);
    while (!q.is_done) {
        pthread_cond_wait(&engine->found, &engine->lock);
    }
}
