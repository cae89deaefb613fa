/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What things are called, and when: tables beside those of the activities. */
#include "timeline/activity_db.h"
#include "timeline/plain_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t id;
    char *text;
} named;

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy != NULL ? memcpy(copy, text, n) : NULL;
}

/* A copy of a column's text, plain; what is no text is `otherwise`. */
static cuzk_status take_text(char **out, sqlite3_stmt *s, int column, const char *otherwise,
                             cuzk_error *err)
{
    const char *text = s != NULL && cuzk_sqlite.column_type(s, column) == SQLITE_TEXT
                           ? (const char *)cuzk_sqlite.column_text(s, column)
                           : NULL;
    *out = copy_of(text != NULL && text[0] != 0 ? text : otherwise);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "reading names: out of memory");
    cuzk_plain_text(*out);
    return CUZK_OK;
}

/* Rows of a damaged or hostile file may all say that their text is the same 64 KiB of it. */
static cuzk_status count_text(cuzk_activity_db *db, sqlite3_stmt *s, cuzk_error *err)
{
    uint64_t n_bytes = (uint64_t)cuzk_sqlite.column_bytes(s, 0);
    CUZK_FAIL_IF(n_bytes > db->text_left, err, CUZK_E_FORMAT,
                 "table StringIds: more text than its %" PRIu64 " bytes can hold: it is damaged",
                 db->n_bytes);
    db->text_left -= n_bytes;
    return CUZK_OK;
}

static cuzk_status prepare_names(const cuzk_activity_db *db, sqlite3_stmt **s, cuzk_error *err)
{
    static const char *const columns[] = {"id", "value"};
    bool has_names = false, is_there[2];
    CUZK_TRY(cuzk_activity_db_has(db, &has_names, "StringIds", err));
    if (!has_names) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_activity_db_columns(db, is_there, columns, 2, "StringIds", err));
    return cuzk_activity_db_prepare(db, s, "SELECT value FROM StringIds WHERE id = ?1",
                                    "table StringIds", err);
}

static cuzk_status read_names(cuzk_activity_db *db, named *names, size_t n, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    CUZK_TRY(prepare_names(db, &s, err));
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        char otherwise[40] = "(kernel without a name)";
        bool is_there = false, has_id = names[i].id != CUZK_ACTIVITY_NO_NAME;
        if (has_id) {
            snprintf(otherwise, sizeof otherwise, "(kernel %" PRId64 ")", names[i].id);
        }
        if (s != NULL && has_id) {
            cuzk_sqlite.bind_int64(s, 1, names[i].id);
            int step = cuzk_sqlite.step(s);
            is_there = step == SQLITE_ROW;
            status = is_there || step == SQLITE_DONE
                         ? CUZK_OK
                         : cuzk_activity_db_fail(db, "table StringIds", err);
        }
        if (status == CUZK_OK && is_there) {
            status = count_text(db, s, err);
        }
        if (status == CUZK_OK) {
            status = take_text(&names[i].text, is_there ? s : NULL, 0, otherwise, err);
        }
        if (s != NULL) {
            cuzk_sqlite.reset(s);
        }
    }
    cuzk_sqlite.finalize(s);
    return status;
}

/* Numbers of names, which may mean the same text, become indices of different texts. */
static cuzk_status set_names(cuzk_activities *out, const int64_t *ids, size_t n_ids,
                             const named *names, size_t n, cuzk_error *err)
{
    out->names = calloc(n + 1, sizeof *out->names);
    CUZK_FAIL_IF(out->names == NULL, err, CUZK_E_MEMORY, "reading names: out of memory");
    for (size_t i = 0; i < n; i++) {
        out->names[i] = names[i].text;
    }
    qsort(out->names, n, sizeof *out->names, by_text);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && strcmp(out->names[i], out->names[out->n_names - 1]) == 0) {
            continue; /* the text is still its entry's of `names` */
        }
        out->names[out->n_names++] = out->names[i];
    }
    for (size_t i = 0; i < n_ids; i++) { /* kernels are the first rows */
        const named *name = bsearch(&ids[i], names, n, sizeof *names, by_id);
        char *const *place =
            bsearch(&name->text, out->names, out->n_names, sizeof *out->names, by_text);
        out->rows[i].name = (uint32_t)(place - out->names);
    }
    for (size_t i = 0; i < out->n_names; i++) {
        out->names[i] = copy_of(out->names[i]);
        if (out->names[i] == NULL) {
            out->n_names = i;
            return CUZK_FAIL(err, CUZK_E_MEMORY, "reading names: out of memory");
        }
    }
    return CUZK_OK;
}

cuzk_status cuzk_activity_name_kernels(cuzk_activities *out, cuzk_activity_db *db,
                                       const int64_t *ids, size_t n_ids, cuzk_error *err)
{
    size_t n = 0;
    named *names = calloc(n_ids + 1, sizeof *names);
    CUZK_FAIL_IF(names == NULL, err, CUZK_E_MEMORY, "reading names: out of memory");
    for (size_t i = 0; i < n_ids; i++) {
        names[i].id = ids[i];
    }
    qsort(names, n_ids, sizeof *names, by_id);
    for (size_t i = 0; i < n_ids; i++) {
        if (n == 0 || names[i].id != names[n - 1].id) {
            names[n++].id = names[i].id;
        }
    }
    cuzk_status status = read_names(db, names, n, err);
    if (status == CUZK_OK) {
        status = set_names(out, ids, n_ids, names, n, err);
    }
    for (size_t i = 0; i < n; i++) {
        free(names[i].text);
    }
    free(names);
    return status;
}

/* What numbers the cards: CUDA's own numbers are those of a process, which may not see every card.
 * NULL: nothing names them. */
static cuzk_status device_query(const char **query, const cuzk_activity_db *db, cuzk_error *err)
{
    static const char *const of_gpu[] = {"id", "name", "cuDevice"};
    static const char *const of_cuda[] = {"gpuId", "cudaId", "pid"};
    bool has_gpus = false, has_cuda = false, gpu[3], cuda[3] = {false};
    *query = NULL;
    CUZK_TRY(cuzk_activity_db_has(db, &has_gpus, "TARGET_INFO_GPU", err));
    if (!has_gpus) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_activity_db_columns(db, gpu, of_gpu, 3, "TARGET_INFO_GPU", err));
    CUZK_TRY(cuzk_activity_db_has(db, &has_cuda, "TARGET_INFO_CUDA_DEVICE", err));
    if (has_cuda) {
        CUZK_TRY(cuzk_activity_db_columns(db, cuda, of_cuda, 3, "TARGET_INFO_CUDA_DEVICE", err));
    }
    if (!gpu[0] || !gpu[1]) {
        return CUZK_OK;
    }
    *query = cuda[0] && cuda[1] && cuda[2] ? "SELECT d.cudaId, g.name, d.pid FROM"
                                             " TARGET_INFO_CUDA_DEVICE d, TARGET_INFO_GPU g"
                                             " WHERE g.id = d.gpuId"
             : cuda[0] && cuda[1]          ? "SELECT d.cudaId, g.name, -1 FROM"
                                             " TARGET_INFO_CUDA_DEVICE d, TARGET_INFO_GPU g"
                                             " WHERE g.id = d.gpuId"
             : gpu[2]                      ? "SELECT cuDevice, name, -1 FROM TARGET_INFO_GPU"
                                           : "SELECT id, name, -1 FROM TARGET_INFO_GPU";
    return CUZK_OK;
}

/* Only labels: the process's own, else any for the number. */
static cuzk_status read_devices(cuzk_activities *out, cuzk_activity_db *db, cuzk_error *err)
{
    enum { ROWS_MAX = CUZK_ACTIVITY_DEVICES * CUZK_ACTIVITY_PROCESSES };
    bool is_own[CUZK_ACTIVITY_DEVICES] = {false};
    const char *query;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(device_query(&query, db, err));
    if (query == NULL) {
        return CUZK_OK;
    }
    cuzk_status status = cuzk_activity_db_prepare(db, &s, query, "table TARGET_INFO_GPU", err);
    int step = SQLITE_DONE;
    for (int i = 0; i < ROWS_MAX && status == CUZK_OK && (step = cuzk_sqlite.step(s)) == SQLITE_ROW;
         i++) {
        int64_t id = cuzk_sqlite.column_int64(s, 0);
        bool fits = out->pid >= 0 && cuzk_sqlite.column_int64(s, 2) == out->pid;
        if (cuzk_sqlite.column_type(s, 0) != SQLITE_INTEGER || id < 0 ||
            id >= CUZK_ACTIVITY_DEVICES || (is_own[id] && !fits)) {
            continue;
        }
        char *name = NULL;
        status = take_text(&name, s, 1, "", err);
        if (status == CUZK_OK) {
            is_own[id] = fits;
            snprintf(out->devices[id], CUZK_ACTIVITY_LABEL, "%s", name);
            cuzk_plain_text(out->devices[id]); /* it may be cut inside a character */
        }
        free(name);
    }
    if (status == CUZK_OK && step != SQLITE_DONE && step != SQLITE_ROW) {
        status = cuzk_activity_db_fail(db, "table TARGET_INFO_GPU", err);
    }
    cuzk_sqlite.finalize(s);
    return status;
}

static cuzk_status read_start(cuzk_activities *out, const cuzk_activity_db *db, cuzk_error *err)
{
    static const char table[] = "TARGET_INFO_SESSION_START_TIME", column[] = "utcEpochNs";
    bool is_there = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(cuzk_activity_db_has(db, &is_there, table, err));
    if (is_there) {
        CUZK_TRY(
            cuzk_activity_db_columns(db, &is_there, (const char *const[]){column}, 1, table, err));
    }
    if (!is_there) {
        return CUZK_OK; /* clocks are then tied by what was done alone */
    }
    cuzk_status status = cuzk_activity_db_prepare(
        db, &s, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", table, err);
    int step = status == CUZK_OK ? cuzk_sqlite.step(s) : SQLITE_DONE;
    if (step == SQLITE_ROW && cuzk_sqlite.column_type(s, 0) == SQLITE_INTEGER) {
        int64_t at = cuzk_sqlite.column_int64(s, 0);
        out->begin_wall_ns = at > 0 && at < CUZK_ACTIVITY_TIME_MAX ? at : 0;
    } else if (step != SQLITE_ROW && step != SQLITE_DONE) {
        status = cuzk_activity_db_fail(db, "table TARGET_INFO_SESSION_START_TIME", err);
    }
    cuzk_sqlite.finalize(s);
    return status;
}

cuzk_status cuzk_activity_read_session(cuzk_activities *out, cuzk_activity_db *db, cuzk_error *err)
{
    CUZK_TRY(read_devices(out, db, err));
    return read_start(out, db, err);
}
