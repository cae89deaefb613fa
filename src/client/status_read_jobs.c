/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Jobs and their partitions in /status. */
#include "client/status_reader.h"

#include <stdlib.h>
#include <string.h>

static char state_letter(const char *state)
{
    static const struct {
        const char *state;
        char letter;
    } letters[] = {{"pending", '.'}, {"synthesizing", 'w'}, {"synth_done", 'r'},
                   {"gpu", 'd'},     {"done", '#'},         {"failed", '!'}};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if (state != NULL && strcmp(state, letters[i].state) == 0) {
            return letters[i].letter;
        }
    }
    return '?';
}

struct partition {
    double index;
    char *state;
};

static cuzk_status on_partition_member(cuzk_status_reader *r, void *out, const char *key,
                                       const cuzk_json_token *token)
{
    struct partition *p = out;
    return strcmp(key, "index") == 0   ? cuzk_status_take_number(r, &p->index, token)
           : strcmp(key, "state") == 0 ? cuzk_status_take_text(r, &p->state, token)
                                       : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_partition(cuzk_status_reader *r, void *out, const char *key,
                                const cuzk_json_token *token)
{
    enum { PARTITIONS_MAX = 4096 };
    cuzk_status_job *job = out;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    struct partition p = {-1, NULL};
    cuzk_status status = cuzk_status_each_member(r, &p, on_partition_member);
    char letter = state_letter(p.state);
    free(p.state);
    CUZK_TRY(status);
    size_t n = job->partitions != NULL ? strlen(job->partitions) : 0;
    if (p.index != (double)n || n == PARTITIONS_MAX) {
        return CUZK_OK; /* they come in order; others are not drawn */
    }
    if ((n & (n + 1)) == 0) { /* 0, 1, 3, 7 …: full, the NUL counted */
        char *grown = realloc(job->partitions, 2 * n + 2);
        CUZK_FAIL_IF(grown == NULL, r->err, CUZK_E_MEMORY, "reading the status: out of memory");
        job->partitions = grown;
    }
    job->partitions[n] = letter;
    job->partitions[n + 1] = '\0';
    return CUZK_OK;
}

static cuzk_status on_wait_member(cuzk_status_reader *r, void *out, const char *key,
                                  const cuzk_json_token *token)
{
    return strcmp(key, "text") == 0 ? cuzk_status_take_text(r, out, token)
                                    : cuzk_json_skip(&r->json, token, r->err);
}

cuzk_status cuzk_status_take_wait(cuzk_status_reader *r, char **out, const cuzk_json_token *token)
{
    return token->kind == CUZK_JSON_OBJECT_BEGIN ? cuzk_status_each_member(r, out, on_wait_member)
                                                 : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_job_member(cuzk_status_reader *r, void *out, const char *key,
                                 const cuzk_json_token *token)
{
    cuzk_status_job *job = out;
    double number = -1;
    if (strcmp(key, "job_id") == 0) {
        return cuzk_status_take_text(r, &job->job_id, token);
    }
    if (strcmp(key, "proof_kind") == 0) {
        return cuzk_status_take_text(r, &job->kind, token);
    }
    if (strcmp(key, "state") == 0) {
        return cuzk_status_take_text(r, &job->state, token);
    }
    if (strcmp(key, "error") == 0) {
        return cuzk_status_take_text(r, &job->error, token);
    }
    if (strcmp(key, "waits_for") == 0) {
        return cuzk_status_take_wait(r, &job->waits_for, token);
    }
    if (strcmp(key, "age_secs") == 0) {
        return cuzk_status_take_number(r, &job->age, token);
    }
    if (strcmp(key, "started_secs_ago") == 0) {
        return cuzk_status_take_number(r, &job->started, token);
    }
    unsigned *count = strcmp(key, "total_partitions") == 0  ? &job->n_partitions
                      : strcmp(key, "partitions_done") == 0 ? &job->n_done
                      : strcmp(key, "priority") == 0        ? &job->priority
                                                            : NULL;
    if (count != NULL) {
        CUZK_TRY(cuzk_status_take_number(r, &number, token));
        *count = number >= 0 && number < CUZK_STATUS_COUNT_MAX ? (unsigned)number : 0;
        return CUZK_OK;
    }
    if (strcmp(key, "partitions") == 0 && token->kind == CUZK_JSON_ARRAY_BEGIN) {
        return cuzk_status_each_element(r, job, on_partition);
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

cuzk_status cuzk_status_on_job(cuzk_status_reader *r, void *out, const char *key,
                               const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->jobs;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_jobs == CUZK_STATUS_ITEMS_MAX) {
        view->n_left_out += token->kind == CUZK_JSON_OBJECT_BEGIN;
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(cuzk_status_grow(r, &list, &view->n_jobs, sizeof *view->jobs, &item));
    view->jobs = list;
    cuzk_status_job *job = item;
    job->age = job->started = -1;
    job->place = view->n_jobs - 1;
    return cuzk_status_each_member(r, job, on_job_member);
}

cuzk_status cuzk_status_on_queued(cuzk_status_reader *r, void *out, const char *key,
                                  const cuzk_json_token *token)
{
    static const cuzk_json_token queued = {.kind = CUZK_JSON_STRING, .text = "queued", .size = 6};
    const cuzk_status_view *view = out;
    size_t before = view->n_jobs;
    CUZK_TRY(cuzk_status_on_job(r, out, key, token));
    return before < view->n_jobs && view->jobs[before].state == NULL
               ? cuzk_status_take_text(r, &view->jobs[before].state, &queued)
               : CUZK_OK;
}
