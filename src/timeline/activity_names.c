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

static cuzk_status read_names(const cuzk_activity_db *db, named *names, size_t n, cuzk_error *err)
{
    bool has_names = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(cuzk_activity_db_has(db, &has_names, "StringIds", err));
    if (has_names) {
        CUZK_TRY(cuzk_activity_db_prepare(db, &s, "SELECT value FROM StringIds WHERE id = ?1",
                                          "table StringIds", err));
    }
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        char otherwise[40];
        snprintf(otherwise, sizeof otherwise, "(kernel %" PRId64 ")", names[i].id);
        bool is_there = false;
        if (s != NULL) {
            cuzk_sqlite.bind_int64(s, 1, names[i].id);
            int step = cuzk_sqlite.step(s);
            is_there = step == SQLITE_ROW;
            status = is_there || step == SQLITE_DONE
                         ? CUZK_OK
                         : cuzk_activity_db_fail(db, "table StringIds", err);
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

cuzk_status cuzk_activity_name_kernels(cuzk_activities *out, const cuzk_activity_db *db,
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

/* The numbers of CUDA are those of the process, which may not see every card. Only labels: where
 * columns are called otherwise there are none. */
static cuzk_status read_devices(cuzk_activities *out, const cuzk_activity_db *db, cuzk_error *err)
{
    bool has_names = false, has_numbers = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(cuzk_activity_db_has(db, &has_names, "TARGET_INFO_GPU", err));
    CUZK_TRY(cuzk_activity_db_has(db, &has_numbers, "TARGET_INFO_CUDA_DEVICE", err));
    const char *query = has_numbers ? "SELECT d.cudaId, g.name FROM TARGET_INFO_CUDA_DEVICE d,"
                                      " TARGET_INFO_GPU g WHERE g.id = d.gpuId"
                                    : "SELECT id, name FROM TARGET_INFO_GPU";
    if (!has_names || cuzk_sqlite.prepare_v2(db->db, query, -1, &s, NULL) != SQLITE_OK) {
        return CUZK_OK;
    }
    cuzk_status status = CUZK_OK;
    int step = SQLITE_DONE;
    for (int i = 0; i < CUZK_ACTIVITY_DEVICES && status == CUZK_OK &&
                    (step = cuzk_sqlite.step(s)) == SQLITE_ROW;
         i++) {
        int64_t id = cuzk_sqlite.column_int64(s, 0);
        char *name = NULL;
        status = take_text(&name, s, 1, "", err);
        if (status == CUZK_OK && id >= 0 && id < CUZK_ACTIVITY_DEVICES) {
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
    bool is_there = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(cuzk_activity_db_has(db, &is_there, "TARGET_INFO_SESSION_START_TIME", err));
    if (!is_there ||
        cuzk_sqlite.prepare_v2(db->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", -1,
                               &s, NULL) != SQLITE_OK) {
        return CUZK_OK; /* clocks are then tied by what was done alone */
    }
    cuzk_status status = CUZK_OK;
    int step = cuzk_sqlite.step(s);
    if (step == SQLITE_ROW && cuzk_sqlite.column_type(s, 0) == SQLITE_INTEGER) {
        int64_t at = cuzk_sqlite.column_int64(s, 0);
        out->begin_wall_ns = at > 0 && at < CUZK_ACTIVITY_TIME_MAX ? at : 0;
    } else if (step != SQLITE_ROW && step != SQLITE_DONE) {
        status = cuzk_activity_db_fail(db, "table TARGET_INFO_SESSION_START_TIME", err);
    }
    cuzk_sqlite.finalize(s);
    return status;
}

cuzk_status cuzk_activity_read_session(cuzk_activities *out, const cuzk_activity_db *db,
                                       cuzk_error *err)
{
    CUZK_TRY(read_devices(out, db, err));
    return read_start(out, db, err);
}
