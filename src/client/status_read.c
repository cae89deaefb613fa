/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* /status as a whole: readers of JSON that take what they know and skip the rest. */
#include "client/status_reader.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4000, KEY_MAX = 40 };

cuzk_status cuzk_status_each_member(cuzk_status_reader *r, void *out, cuzk_status_on_value each)
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

cuzk_status cuzk_status_each_element(cuzk_status_reader *r, void *out, cuzk_status_on_value each)
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

cuzk_status cuzk_status_take_text(cuzk_status_reader *r, char **out, const cuzk_json_token *token)
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

cuzk_status cuzk_status_take_number(cuzk_status_reader *r, double *out,
                                    const cuzk_json_token *token)
{
    char text[64];
    if (token->kind != CUZK_JSON_NUMBER || cuzk_json_text(token, text, sizeof text) < 0) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    *out = strtod(text, NULL);
    return CUZK_OK;
}

cuzk_status cuzk_status_take_count(cuzk_status_reader *r, uint64_t *out,
                                   const cuzk_json_token *token)
{
    double value = -1;
    CUZK_TRY(cuzk_status_take_number(r, &value, token));
    if (value >= 0 && value < 18446744073709549568.0) {
        *out = (uint64_t)value;
    }
    return CUZK_OK;
}

cuzk_status cuzk_status_grow(cuzk_status_reader *r, void **list, size_t *n, size_t size,
                             void **item)
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

/* ---- workers and residents ------------------------------------------------------------------- */

static cuzk_status on_worker_member(cuzk_status_reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_worker *w = out;
    double number = -1;
    if (strcmp(key, "worker_id") == 0) {
        return cuzk_status_take_count(r, &w->worker, token);
    }
    if (strcmp(key, "gpu_ordinal") == 0) {
        return cuzk_status_take_count(r, &w->device, token);
    }
    if (strcmp(key, "device") == 0) {
        return cuzk_status_take_text(r, &w->device_id, token);
    }
    if (strcmp(key, "current_job") == 0) {
        return cuzk_status_take_text(r, &w->job_id, token);
    }
    if (strcmp(key, "current_partition") == 0) {
        CUZK_TRY(cuzk_status_take_number(r, &number, token));
        w->partition = number >= 0 && number < CUZK_STATUS_COUNT_MAX ? (int64_t)number : -1;
        return CUZK_OK;
    }
    if (strcmp(key, "busy_secs") == 0) {
        return cuzk_status_take_number(r, &w->busy, token);
    }
    if (strcmp(key, "reserve") == 0) {
        w->is_reserve = token->kind == CUZK_JSON_TRUE;
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_worker(cuzk_status_reader *r, void *out, const char *key,
                             const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->workers;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_workers == CUZK_STATUS_ITEMS_MAX) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(cuzk_status_grow(r, &list, &view->n_workers, sizeof *view->workers, &item));
    view->workers = list;
    cuzk_status_worker *w = item;
    w->partition = -1;
    return cuzk_status_each_member(r, w, on_worker_member);
}

static cuzk_status on_resident_member(cuzk_status_reader *r, void *out, const char *key,
                                      const cuzk_json_token *token)
{
    cuzk_status_resident *resident = out;
    if (strcmp(key, "circuit_id") == 0) {
        return cuzk_status_take_text(r, &resident->circuit_id, token);
    }
    if (strcmp(key, "state") == 0) {
        return cuzk_status_take_text(r, &resident->state, token);
    }
    if (strcmp(key, "bytes") == 0) {
        return cuzk_status_take_count(r, &resident->bytes, token);
    }
    if (strcmp(key, "last_used_secs_ago") == 0) {
        return cuzk_status_take_number(r, &resident->idle, token);
    }
    if (strcmp(key, "evictable") == 0) {
        resident->is_evictable = token->kind == CUZK_JSON_TRUE;
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_resident(cuzk_status_reader *r, void *out, const char *key,
                               const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->residents;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_residents == CUZK_STATUS_ITEMS_MAX) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(cuzk_status_grow(r, &list, &view->n_residents, sizeof *view->residents, &item));
    view->residents = list;
    return cuzk_status_each_member(r, item, on_resident_member);
}

/* ---- devices and journal --------------------------------------------------------------------- */

/* Bytes by purpose. */
static cuzk_status on_arena_member(cuzk_status_reader *r, void *out, const char *key,
                                   const cuzk_json_token *token)
{
    cuzk_status_device *device = out;
    if (device->n_arena == CUZK_STATUS_PURPOSES_MAX || token->kind != CUZK_JSON_NUMBER) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    cuzk_status_arena *a = &device->arena[device->n_arena];
    a->purpose = strdup(key);
    CUZK_FAIL_IF(a->purpose == NULL, r->err, CUZK_E_MEMORY, "reading the status: out of memory");
    device->n_arena++;
    return cuzk_status_take_count(r, &a->bytes, token);
}

static cuzk_status on_arrival_member(cuzk_status_reader *r, void *out, const char *key,
                                     const cuzk_json_token *token)
{
    cuzk_status_arrival *a = out;
    return strcmp(key, "circuit_id") == 0      ? cuzk_status_take_text(r, &a->circuit_id, token)
           : strcmp(key, "from") == 0          ? cuzk_status_take_text(r, &a->from, token)
           : strcmp(key, "bytes") == 0         ? cuzk_status_take_count(r, &a->bytes, token)
           : strcmp(key, "gb_per_second") == 0 ? cuzk_status_take_number(r, &a->rate, token)
                                               : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_arrival(cuzk_status_reader *r, void *out, const char *key,
                              const cuzk_json_token *token)
{
    cuzk_status_device *device = out;
    void *item = NULL, *list = device->arrivals;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || device->n_arrivals == CUZK_STATUS_ITEMS_MAX) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(cuzk_status_grow(r, &list, &device->n_arrivals, sizeof *device->arrivals, &item));
    device->arrivals = list;
    return cuzk_status_each_member(r, item, on_arrival_member);
}

static cuzk_status on_device_member(cuzk_status_reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_device *device = out;
    if (strcmp(key, "id") == 0) {
        return cuzk_status_take_text(r, &device->id, token);
    }
    if (strcmp(key, "reason") == 0) {
        return cuzk_status_take_text(r, &device->reason, token);
    }
    if (strcmp(key, "state") == 0) {
        return cuzk_status_take_text(r, &device->state, token);
    }
    if (strcmp(key, "memory") == 0 && token->kind == CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_status_each_member(r, device, on_arena_member);
    }
    if (strcmp(key, "residents") == 0 && token->kind == CUZK_JSON_ARRAY_BEGIN) {
        return cuzk_status_each_element(r, device, on_arrival);
    }
    if (strcmp(key, "out") == 0) {
        device->is_out = token->kind == CUZK_JSON_TRUE;
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_device(cuzk_status_reader *r, void *out, const char *key,
                             const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    void *item = NULL, *list = view->devices;
    (void)key;
    if (token->kind != CUZK_JSON_OBJECT_BEGIN || view->n_devices == CUZK_STATUS_ITEMS_MAX) {
        return cuzk_json_skip(&r->json, token, r->err);
    }
    CUZK_TRY(cuzk_status_grow(r, &list, &view->n_devices, sizeof *view->devices, &item));
    view->devices = list;
    return cuzk_status_each_member(r, item, on_device_member);
}

static cuzk_status on_journal_member(cuzk_status_reader *r, void *out, const char *key,
                                     const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    if (strcmp(key, "salvaged_jobs") == 0) {
        return cuzk_status_take_count(r, &view->journal_salvaged, token);
    }
    if (strcmp(key, "enabled") == 0) {
        view->has_no_journal = token->kind == CUZK_JSON_FALSE;
    } else if (strcmp(key, "failed") == 0) {
        view->journal_failed = token->kind == CUZK_JSON_TRUE;
    } else if (strcmp(key, "was_damaged") == 0) {
        view->journal_was_damaged = token->kind == CUZK_JSON_TRUE;
    }
    return cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_intake_member(cuzk_status_reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    return strcmp(key, "waiting") == 0 ? cuzk_status_take_count(r, &view->intake_waiting, token)
           : strcmp(key, "waits_for") == 0
               ? cuzk_status_take_wait(r, &view->intake_waits_for, token)
               : cuzk_json_skip(&r->json, token, r->err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cuzk_status on_allocations_member(cuzk_status_reader *r, void *out, const char *key,
                                         const cuzk_json_token *token)
{
    return strcmp(key, "srs") == 0 && token->kind == CUZK_JSON_ARRAY_BEGIN
               ? cuzk_status_each_element(r, out, on_resident)
               : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_memory_member(cuzk_status_reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    return strcmp(key, "total_bytes") == 0  ? cuzk_status_take_count(r, &view->memory_total, token)
           : strcmp(key, "used_bytes") == 0 ? cuzk_status_take_count(r, &view->memory_used, token)
                                            : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_pinned_member(cuzk_status_reader *r, void *out, const char *key,
                                    const cuzk_json_token *token)
{
    cuzk_status_view *view = out;
    return strcmp(key, "limit_bytes") == 0  ? cuzk_status_take_count(r, &view->pinned_limit, token)
           : strcmp(key, "used_bytes") == 0 ? cuzk_status_take_count(r, &view->pinned_used, token)
           : strcmp(key, "peak_bytes") == 0 ? cuzk_status_take_count(r, &view->pinned_peak, token)
                                            : cuzk_json_skip(&r->json, token, r->err);
}

static cuzk_status on_member(cuzk_status_reader *r, void *out, const char *key,
                             const cuzk_json_token *token)
{
    static const struct {
        const char *key;
        cuzk_json_kind kind;
        cuzk_status_on_value each;
    } parts[] = {{"memory", CUZK_JSON_OBJECT_BEGIN, on_memory_member},
                 {"intake", CUZK_JSON_OBJECT_BEGIN, on_intake_member},
                 {"pipelines", CUZK_JSON_ARRAY_BEGIN, cuzk_status_on_job},
                 {"queued", CUZK_JSON_ARRAY_BEGIN, cuzk_status_on_queued},
                 {"gpu_workers", CUZK_JSON_ARRAY_BEGIN, on_worker},
                 {"allocations", CUZK_JSON_OBJECT_BEGIN, on_allocations_member},
                 {"devices", CUZK_JSON_ARRAY_BEGIN, on_device},
                 {"pinned", CUZK_JSON_OBJECT_BEGIN, on_pinned_member},
                 {"journal", CUZK_JSON_OBJECT_BEGIN, on_journal_member}};
    cuzk_status_view *view = out;
    if (strcmp(key, "uptime_secs") == 0) {
        return cuzk_status_take_number(r, &view->uptime, token);
    }
    if (strcmp(key, "ready") == 0) {
        view->is_loading = token->kind == CUZK_JSON_FALSE;
    } else if (strcmp(key, "draining") == 0) {
        view->is_draining = token->kind == CUZK_JSON_TRUE;
    }
    if (strcmp(key, "pipelines_left_out") == 0 || strcmp(key, "queued_left_out") == 0) {
        uint64_t n = 0;
        CUZK_TRY(cuzk_status_take_count(r, &n, token));
        view->n_left_out += n;
        return CUZK_OK;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(key, parts[i].key) == 0 && token->kind == parts[i].kind) {
            return parts[i].kind == CUZK_JSON_ARRAY_BEGIN
                       ? cuzk_status_each_element(r, view, parts[i].each)
                       : cuzk_status_each_member(r, view, parts[i].each);
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
        char **texts[] = {&view->jobs[i].job_id,    &view->jobs[i].kind,
                          &view->jobs[i].state,     &view->jobs[i].partitions,
                          &view->jobs[i].waits_for, &view->jobs[i].error};
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
    for (size_t i = 0; i < view->n_devices; i++) {
        CUZK_TRY(fill_in(&view->devices[i].id, err));
        CUZK_TRY(fill_in(&view->devices[i].reason, err));
        for (size_t k = 0; k < view->devices[i].n_arrivals; k++) {
            CUZK_TRY(fill_in(&view->devices[i].arrivals[k].circuit_id, err));
            CUZK_TRY(fill_in(&view->devices[i].arrivals[k].from, err));
        }
        CUZK_TRY(fill_in(&view->devices[i].state, err));
    }
    return fill_in(&view->intake_waits_for, err);
}

static cuzk_status read_all(cuzk_status_view *view, cuzk_status_reader *r)
{
    cuzk_json_token token;
    CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
    if (token.kind != CUZK_JSON_OBJECT_BEGIN) {
        return cuzk_json_fail(&r->json, token.offset, r->err, CUZK_E_FORMAT,
                              "expected an object, found %s", cuzk_json_kind_text(token.kind));
    }
    CUZK_TRY(cuzk_status_each_member(r, view, on_member));
    CUZK_TRY(cuzk_json_next(&r->json, &token, r->err));
    return fill_texts(view, r->err);
}

cuzk_status cuzk_status_read(cuzk_status_view *view, const char *text, size_t n_bytes,
                             cuzk_error *err)
{
    cuzk_status_reader r = {.err = err};
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
    free(view->intake_waits_for);
    for (size_t i = 0; i < view->n_jobs; i++) {
        free(view->jobs[i].job_id);
        free(view->jobs[i].kind);
        free(view->jobs[i].state);
        free(view->jobs[i].partitions);
        free(view->jobs[i].waits_for);
        free(view->jobs[i].error);
    }
    for (size_t i = 0; i < view->n_workers; i++) {
        free(view->workers[i].job_id);
        free(view->workers[i].device_id);
    }
    for (size_t i = 0; i < view->n_residents; i++) {
        free(view->residents[i].circuit_id);
        free(view->residents[i].state);
    }
    for (size_t i = 0; i < view->n_devices; i++) {
        free(view->devices[i].id);
        free(view->devices[i].reason);
        for (size_t k = 0; k < view->devices[i].n_arrivals; k++) {
            free(view->devices[i].arrivals[k].circuit_id);
            free(view->devices[i].arrivals[k].from);
        }
        free(view->devices[i].arrivals);
        free(view->devices[i].state);
        for (unsigned k = 0; k < view->devices[i].n_arena; k++) {
            free(view->devices[i].arena[k].purpose);
        }
    }
    free(view->devices);
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
