/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where jobs are: the table of ids, the list of unfinished ones, the list of ended ones, which are
 * kept for a time and up to a number of bytes. */
#include "engine/inner.h"

#include "base/clock.h"

#include <string.h>

static void link_live(cuzk_engine *engine, cuzk_job *job)
{
    job->n_refs++;
    job->prev = NULL;
    job->next = engine->live;
    if (job->next != NULL) {
        job->next->prev = job;
    }
    engine->live = job;
}

void cuzk_job_unlink_live(cuzk_engine *engine, cuzk_job *job)
{
    *(job->prev != NULL ? &job->prev->next : &engine->live) = job->next;
    if (job->next != NULL) {
        job->next->prev = job->prev;
    }
    job->next = NULL;
    job->prev = NULL;
    job->n_refs--; /* the caller holds it too */
}

static void unkeep(cuzk_engine *engine, cuzk_job *job)
{
    *(job->prev != NULL ? &job->prev->next : &engine->ended) = job->next;
    *(job->next != NULL ? &job->next->prev : &engine->ended_last) = job->prev;
    job->next = NULL;
    job->prev = NULL;
    engine->kept_bytes -= job->kept_bytes;
    engine->n_kept--;
    job->kept_bytes = 0;
    job->n_refs--; /* the caller holds it too */
}

/* Let the oldest go from memory. The journal keeps it, if there is one. */
static void let_go(cuzk_engine *engine)
{
    cuzk_job *job = engine->ended;
    if (engine->options.journal != NULL) {
        cuzk_filter_add(&engine->gone, cuzk_table_hash(&engine->jobs, job->id));
    }
    cuzk_job_forget(engine, job);
}

void cuzk_job_keep(cuzk_engine *engine, cuzk_job *job)
{
    job->n_refs++;
    job->prev = engine->ended_last;
    job->next = NULL;
    *(job->prev != NULL ? &job->prev->next : &engine->ended) = job;
    engine->ended_last = job;
    job->kept_bytes = sizeof *job + strlen(job->id) + strlen(job->request_id) + job->answer_bytes +
                      (job->error != NULL ? strlen(job->error) : 0) +
                      job->n_units * sizeof *job->views;
    engine->kept_bytes += job->kept_bytes;
    engine->n_kept++;
    while (engine->ended != job && (engine->n_kept > CUZK_ENGINE_KEPT_MAX ||
                                    engine->kept_bytes > engine->options.keep_bytes)) {
        let_go(engine);
    }
    if (engine->ended == job) {
        cuzk_timer_engine(engine, job->kept_ns + engine->options.keep_ns);
    }
}

void cuzk_job_enter(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_table_add(&engine->jobs, &job->by_id, cuzk_table_hash(&engine->jobs, job->id));
    job->in_table = true;
    job->n_refs++;
    if (!job->is_closed) {
        link_live(engine, job);
        engine->n_unfinished++;
    }
}

void cuzk_job_forget(cuzk_engine *engine, cuzk_job *job)
{
    cuzk_table_remove(&engine->jobs, &job->by_id);
    job->in_table = false;
    if (job->kept_bytes > 0) {
        unkeep(engine, job);
    }
    cuzk_job_unref(engine, job);
}

void cuzk_jobs_expire(cuzk_engine *engine, uint64_t now_ns)
{
    uint64_t keep_ns = engine->options.keep_ns;
    while (engine->ended != NULL && now_ns - engine->ended->kept_ns >= keep_ns) {
        let_go(engine);
    }
    if (engine->ended != NULL) {
        cuzk_timer_engine(engine, engine->ended->kept_ns + keep_ns);
    }
}

void cuzk_jobs_free(cuzk_engine *engine)
{
    while (engine->live != NULL) {
        cuzk_job *job = engine->live;
        job->is_closed = true;
        if (job->units != NULL && job->n_active == 0) {
            job->n_refs++;
            cuzk_job_sweep(engine, job);
        }
        job->n_refs++;
        cuzk_job_unlink_live(engine, job);
        if (job->in_table) {
            cuzk_table_remove(&engine->jobs, &job->by_id);
            job->n_refs--;
        }
        cuzk_job_unref(engine, job);
    }
    while (engine->ended != NULL) {
        cuzk_job *job = engine->ended;
        cuzk_table_remove(&engine->jobs, &job->by_id);
        unkeep(engine, job);
        cuzk_job_unref(engine, job);
    }
}
