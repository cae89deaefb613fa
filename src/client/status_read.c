/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "client/status_read.h"

#include "formats/json_pull.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4000, KEY_MAX = 40, COUNT_MAX = 1 << 20 };

/* Where a reader is. */
struct reader {
    cuzk_json json;
    cuzk_error *err;
};

/* What to do with the value of a member, or with an element (key ""), whose first token was read:
 * take all of its tokens. */
typedef cuzk_status (*on_value)(struct reader *r, void *out, const char *key,
                                const cuzk_json_token *token);

static cuzk_status read_object(struct reader *r, void *out, on_value each)
{
    for (;;) {
        cuzk_json_token token;
        char key[KEY_MAX];
        CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
        if (token.kind == CUZK_JSON_OBJECT_END) {
            return CUZK_OK;
        }
        if (cuzk_json_text(&token, key, sizeof key) < 0) {
            key[0] = '\0'; /* longer than any that is known */
        }
        CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
        CUZK_TRY(each(r, out, key, &token));
    }
}

static cuzk_status read_array(struct reader *r, void *out, on_value each)
{
    for (;;) {
        cuzk_json_token token;
        CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
        if (token.kind == CUZK_JSON_ARRAY_END) {
            return CUZK_OK;
        }
        CUZK_TRY(each(r, out, "", &token));
    }
}

/* Text, number; what is of another type is skipped and leaves *out as it is. */
static cuzk_status take_text(struct reader *r, char **out, const cuzk_json_token *token)
{
    if (token->kind != CUZK_JSON_STRING) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    size_t n = token->size < TEXT_MAX ? token->size : TEXT_MAX;
    char *copy = malloc(n + 1);
    CUZK_FAIL_IF(copy == NULL, r->err, CUZK_E_MEMORY, "reading the status: out of memory");
    memcpy(copy, token->text, n);
    copy[n] = '\0';
    free(*out);
    *out = copy;
    return CUZK_OK;
}

static cuzk_status take_number(struct reader *r, double *out, const cuzk_json_token *token)
{
    char text[64];
    if (token->kind != CUZK_JSON_NUMBER || cuzk_json_text(token, text, sizeof text) < 0) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    *out = strtod(text, NULL);
    return CUZK_OK;
}

static cuzk_status take_count(struct reader *r, uint64_t *out, const cuzk_json_token *token)
{
    double value = -1;
    CUZK_TRY(take_number(r, &value, token));
    if (value >= 0 && value < 18446744073709549568.0) {
        *out = (uint64_t)value;
    }
    return CUZK_OK;
}

/* Room for one more element of a list that has not CUZK_STATUS_ITEMS_MAX yet, zeroed. */
static cuzk_status grow(struct reader *r, void **list, size_t *n, size_t size, void **item)
{
    if ((*n & (*n - 1)) == 0) { /* 0, or a power of two: full */
        void *grown = realloc(*list, (*n == 0 ? 1 : 2 * *n) * size);
        CUZK_FAIL_IF(grown == NULL, r->err, CUZK_E_MEMORY, "reading the status: out of memory");
        *list = grown;
    }
    *item = (char *)*list + *n * size;
    memset(*item, 0, size);
    (*n)++;
    return CUZK_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

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

static cuzk_status on_partition_member(struct reader *r, void *out, const char *key,
                                       const cuzk_json_token *token)
{
    struct partition *p = out;
    return strcmp(key, "index") == 0   ? take_number(r, &p->index, token)
           : strcmp(key, "state") == 0 ? take_text(r, &p->state, token)
                                       : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_partition(struct reader *r, void *out, const char *key,
                                const cuzk_json_token *token)
{
    enum { PARTITIONS_MAX = 4096 };
    cuzk_status_job *job = out;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    struct partition p = {-1, NULL};
    cuzk_status status = read_object(r, &p, on_partition_member);
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

static cuzk_status on_job_member(struct reader *r, void *out, const char *key,
                                 const cuzk_json_token *token)
{
    cuzk_status_job *job = out;
    double number = -1;
    if (strcmp(key, "job_id") == 0) {
        return take_text(r, &job->job_id, token);
    }
    if (strcmp(key, "proof_kind") == 0) {
        return take_text(r, &job->kind, token);
    }
    if (strcmp(key, "state") == 0) {
        return take_text(r, &job->state, token);
    }
    if (strcmp(key, "age_secs") == 0) {
        return take_number(r, &job->age, token);
    }
    if (strcmp(key, "started_secs_ago") == 0) {
        return take_number(r, &job->started, token);
    }
    unsigned *count = strcmp(key, "total_partitions") == 0  ? &job->n_partitions
                      : strcmp(key, "partitions_done") == 0 ? &job->n_done
                      : strcmp(key, "priority") == 0        ? &job->priority
                                                            : NULL;
    if (count != NULL) {
        CUZK_TRY(take_number(r, &number, token));
        *count = number >= 0 && number < COUNT_MAX ? (unsigned)number : 0;
        return CUZK_OK;
    }
    if (strcmp(key, "partitions") == 0 && token->kind == CUZK_JSON_ARRAY_BEGIN) {
        return read_array(r, job, on_partition);
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_job(struct reader *r, void *out, const char *key,
                          const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->jobs;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_jobs == CUZK_STATUS_ITEMS_MAX) {
        view->n_left_out += token->kind == CUZK_JSON_OBJECT_BEGIN;
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(grow(r, &list, &view->n_jobs, sizeof *view->jobs, &item));
    view->jobs = list;
    cuzk_status_job *job = item;
    job->age = job->started = -1;
    job->place = view->n_jobs - 1;
    return read_object(r, job, on_job_member);
}

static cuzk_status on_queued(struct reader *r, void *out, const char *key,
                             const cuzk_json_token *token)
{
    static const cuzk_json_token queued = {.kind = CUZK_JSON_STRING, .text = "queued", .size = 6};
    const cuzk_status_view *view = out;
    size_t before = view->n_jobs;
    CUZK_TRY(on_job(r, out, key, token));
    return before < view->n_jobs && view->jobs[before].state == NULL
               ? take_text(r, &view->jobs[before].state, &queued)
               : CUZK_OK;
}

/* ---- workers and residents ------------------------------------------------------------------- */

static cuzk_status on_worker_member(struct reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_worker *w = out;
    double number = -1;
    if (strcmp(key, "worker_id") == 0) {
        return take_count(r, &w->worker, token);
    }
    if (strcmp(key, "gpu_ordinal") == 0) {
        return take_count(r, &w->device, token);
    }
    if (strcmp(key, "device") == 0) {
        return take_text(r, &w->device_id, token);
    }
    if (strcmp(key, "current_job") == 0) {
        return take_text(r, &w->job_id, token);
    }
    if (strcmp(key, "current_partition") == 0) {
        CUZK_TRY(take_number(r, &number, token));
        w->partition = number >= 0 && number < COUNT_MAX ? (int64_t)number : -1;
        return CUZK_OK;
    }
    if (strcmp(key, "busy_secs") == 0) {
        return take_number(r, &w->busy, token);
    }
    if (strcmp(key, "reserve") == 0) {
        w->is_reserve = token->kind == CUZK_JSON_TRUE;
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_worker(struct reader *r, void *out, const char *key,
                             const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->workers;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_workers == CUZK_STATUS_ITEMS_MAX) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(grow(r, &list, &view->n_workers, sizeof *view->workers, &item));
    view->workers = list;
    cuzk_status_worker *w = item;
    w->partition = -1;
    return read_object(r, w, on_worker_member);
}

static cuzk_status on_resident_member(struct reader *r, void *out, const char *key,
                                      const cuzk_json_token *token)
{
    cuzk_status_resident *resident = out;
    if (strcmp(key, "circuit_id") == 0) {
        return take_text(r, &resident->circuit_id, token);
    }
    if (strcmp(key, "state") == 0) {
        return take_text(r, &resident->state, token);
    }
    if (strcmp(key, "bytes") == 0) {
        return take_count(r, &resident->bytes, token);
    }
    if (strcmp(key, "last_used_secs_ago") == 0) {
        return take_number(r, &resident->idle, token);
    }
    if (strcmp(key, "evictable") == 0) {
        resident->is_evictable = token->kind == CUZK_JSON_TRUE;
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_resident(struct reader *r, void *out, const char *key,
                               const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->residents;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_residents == CUZK_STATUS_ITEMS_MAX) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(grow(r, &list, &view->n_residents, sizeof *view->residents, &item));
    view->residents = list;
    return read_object(r, item, on_resident_member);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cuzk_status on_allocations_member(struct reader *r, void *out, const char *key,
                                         const cuzk_json_token *token)
{
    return strcmp(key, "srs") == 0 && token->kind == CUZK_JSON_ARRAY_BEGIN
               ? read_array(r, out, on_resident)
               : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_memory_member(struct reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    return strcmp(key, "total_bytes") == 0  ? take_count(r, &view->memory_total, token)
           : strcmp(key, "used_bytes") == 0 ? take_count(r, &view->memory_used, token)
                                            : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_member(struct reader *r, void *out, const char *key,
                             const cuzk_json_token *token)
{
    static const struct {
        const char *key;
        cuzk_json_kind kind;
        on_value each;
    } parts[] = {{"memory", CUZK_JSON_OBJECT_BEGIN, on_memory_member},
                 {"pipelines", CUZK_JSON_ARRAY_BEGIN, on_job},
                 {"queued", CUZK_JSON_ARRAY_BEGIN, on_queued},
                 {"gpu_workers", CUZK_JSON_ARRAY_BEGIN, on_worker},
                 {"allocations", CUZK_JSON_OBJECT_BEGIN, on_allocations_member}};
    cuzk_status_view *view = out;
    if (strcmp(key, "uptime_secs") == 0) {
        return take_number(r, &view->uptime, token);
    }
    if (strcmp(key, "pipelines_left_out") == 0 || strcmp(key, "queued_left_out") == 0) {
        uint64_t n = 0;
        CUZK_TRY(take_count(r, &n, token));
        view->n_left_out += n;
        return CUZK_OK;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(key, parts[i].key) == 0 && token->kind == parts[i].kind) {
            return parts[i].kind == CUZK_JSON_ARRAY_BEGIN ? read_array(r, view, parts[i].each)
                                                          : read_object(r, view, parts[i].each);
        }
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

/* Texts that were not there become empty ones. */
static cuzk_status fill_in(char **text, cuzk_error *err)
{
    if (*text == NULL) {
        *text = calloc(1, 1);
    }
    CUZK_FAIL_IF(*text == NULL, err, CUZK_E_MEMORY, "reading the status: out of memory");
    return CUZK_OK;
}

static cuzk_status fill_texts(cuzk_status_view *view, cuzk_error *err)
{
    for (size_t i = 0; i < view->n_jobs; i++) {
        char **texts[] = {&view->jobs[i].job_id, &view->jobs[i].kind, &view->jobs[i].state,
                          &view->jobs[i].partitions};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            CUZK_TRY(fill_in(texts[k], err));
        }
    }
    for (size_t i = 0; i < view->n_workers; i++) {
        CUZK_TRY(fill_in(&view->workers[i].job_id, err));
        CUZK_TRY(fill_in(&view->workers[i].device_id, err));
    }
    for (size_t i = 0; i < view->n_residents; i++) {
        CUZK_TRY(fill_in(&view->residents[i].circuit_id, err));
        CUZK_TRY(fill_in(&view->residents[i].state, err));
    }
    return CUZK_OK;
}

static cuzk_status read_all(cuzk_status_view *view, struct reader *r)
{
    cuzk_json_token token;
    CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
    if (token.kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_fail(&r->json, token.offset, r->err, CUZK_E_FORMAT,
                              "expected an object, found %s", cuzk_json_kind_text(token.kind));
    }
    CUZK_TRY(read_object(r, view, on_member));
    CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
    return fill_texts(view, r->err);
}

cuzk_status cuzk_status_read(cuzk_status_view *view, const char *text, size_t n_bytes,
                             cuzk_error *err)
{
    struct reader r = {.err = err};
    memset(view, 0, sizeof *view);
    cuzk_json_init(&r.json, (const uint8_t *)text, n_bytes);
    cuzk_status status = read_all(view, &r);
    cuzk_json_clear(&r.json);
    if (status != CUZK_OK) {
        cuzk_status_view_clear(view);
    }
    return status;
}

void cuzk_status_view_clear(cuzk_status_view *view)
{
    for (size_t i = 0; i < view->n_jobs; i++) {
        free(view->jobs[i].job_id);
        free(view->jobs[i].kind);
        free(view->jobs[i].state);
        free(view->jobs[i].partitions);
    }
    for (size_t i = 0; i < view->n_workers; i++) {
        free(view->workers[i].job_id);
        free(view->workers[i].device_id);
    }
    for (size_t i = 0; i < view->n_residents; i++) {
        free(view->residents[i].circuit_id);
        free(view->residents[i].state);
    }
    free(view->jobs);
    free(view->workers);
    free(view->residents);
    memset(view, 0, sizeof *view);
}

cuzk_status cuzk_status_fetch(cuzk_status_view *view, char **text, const char *address,
                              cuzk_error *err)
{
    char *body;
    size_t n_bytes;
    CUZK_TRY(cuzk_client_http_get(&body, &n_bytes, address, "/status", err));
    cuzk_status status = cuzk_status_read(view, body, n_bytes, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "reading /status of %.200s", address);
    }
    if (status == CUZK_OK && text != NULL) {
        *text = body;
    } else {
        free(body);
    }
    return status;
}
