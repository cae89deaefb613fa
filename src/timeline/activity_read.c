/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/activity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cuzk_activities_clear(cuzk_activities *activities)
{
    for (size_t i = 0; activities->names != NULL && i < activities->n_names; i++) {
        free(activities->names[i]);
    }
    free(activities->names);
    free(activities->rows);
    memset(activities, 0, sizeof *activities);
}

#if CUZK_HAVE_SQLITE_HEADER
#include "timeline/activity_db.h"

enum { ROW_BYTES_MIN = 5 }; /* that a row of a table takes */

typedef struct {
    cuzk_activity_db file;
    cuzk_activities *out;
    size_t n_room;
    int64_t *ids; /* of names, by row */
    size_t n_ids, n_ids_room;
} reading;

static cuzk_status make_room(reading *r, cuzk_error *err)
{
    cuzk_activities *out = r->out;
    CUZK_FAIL_IF(out->n > r->file.n_bytes / ROW_BYTES_MIN, err, CUZK_E_FORMAT,
                 "more rows than its %" PRIu64 " bytes can hold: it is damaged", r->file.n_bytes);
    if (out->n == r->n_room) {
        size_t n_room = r->n_room == 0 ? 4096 : 2 * r->n_room;
        cuzk_activity *rows = realloc(out->rows, n_room * sizeof *rows);
        CUZK_FAIL_IF(rows == NULL, err, CUZK_E_MEMORY, "reading %zu activities: out of memory",
                     n_room);
        out->rows = rows;
        r->n_room = n_room;
    }
    return CUZK_OK;
}

static cuzk_status keep_id(reading *r, int64_t id, cuzk_error *err)
{
    if (r->n_ids == r->n_ids_room) {
        size_t n_room = r->n_ids_room == 0 ? 4096 : 2 * r->n_ids_room;
        int64_t *ids = realloc(r->ids, n_room * sizeof *ids);
        CUZK_FAIL_IF(ids == NULL, err, CUZK_E_MEMORY, "reading %zu activities: out of memory",
                     n_room);
        r->ids = ids;
        r->n_ids_room = n_room;
    }
    r->ids[r->n_ids++] = id;
    return CUZK_OK;
}

/* CUpti_ActivityMemcpyKind: what a copy is to us. */
static cuzk_activity_kind kind_of_copy(int64_t copy_kind)
{
    switch (copy_kind) {
    case 1: /* host to device, to array */
    case 3:
        return CUZK_ACTIVITY_UP;
    case 2: /* device, array to host */
    case 4:
        return CUZK_ACTIVITY_DOWN;
    case 5: /* arrays, devices */
    case 6:
    case 7:
    case 8:
    case 10:
        return CUZK_ACTIVITY_INSIDE;
    default:
        return CUZK_ACTIVITY_KINDS;
    }
}

/* One row: begin, end, device; for a kernel the number of its name, else bytes and kind of copy. */
static cuzk_status take_row(reading *r, sqlite3_stmt *s, const char *table, cuzk_activity_kind kind,
                            uint64_t number, cuzk_error *err)
{
    cuzk_activities *out = r->out;
    const int n_columns = kind == CUZK_ACTIVITY_KERNEL ? 4 : 5;
    int64_t v[5] = {0};
    for (int c = 0; c < n_columns; c++) {
        int type = cuzk_sqlite.column_type(s, c);
        if (type == SQLITE_NULL && c < 2) {
            out->n_untimed++;
            return CUZK_OK;
        }
        CUZK_FAIL_IF(type != SQLITE_INTEGER, err, CUZK_E_FORMAT,
                     "table %s, row %" PRIu64 ", column %d of those that are read: no whole number",
                     table, number, c);
        v[c] = cuzk_sqlite.column_int64(s, c);
    }
    if (v[0] == 0 && v[1] == 0) { /* CUPTI's "not known" */
        out->n_untimed++;
        return CUZK_OK;
    }
    CUZK_FAIL_IF(v[1] < v[0] || v[0] < -CUZK_ACTIVITY_TIME_MAX || v[1] > CUZK_ACTIVITY_TIME_MAX,
                 err, CUZK_E_FORMAT,
                 "table %s, row %" PRIu64 ": from %" PRId64 " to %" PRId64 " ns", table, number,
                 v[0], v[1]);
    CUZK_FAIL_IF(v[2] < 0 || v[2] >= CUZK_ACTIVITY_DEVICES, err, CUZK_E_FORMAT,
                 "table %s, row %" PRIu64 ": device %" PRId64 ", expected 0 to %d", table, number,
                 v[2], CUZK_ACTIVITY_DEVICES - 1);
    kind = kind == CUZK_ACTIVITY_UP ? kind_of_copy(v[4]) : kind;
    if (kind == CUZK_ACTIVITY_KINDS) {
        out->n_elsewhere++;
        return CUZK_OK;
    }
    CUZK_TRY(make_room(r, err));
    if (kind == CUZK_ACTIVITY_KERNEL) {
        CUZK_TRY(keep_id(r, v[3], err));
    }
    out->rows[out->n++] = (cuzk_activity){.begin_ns = v[0],
                                          .end_ns = v[1],
                                          .device = (uint8_t)v[2],
                                          .kind = (uint8_t)kind,
                                          .bytes = n_columns == 5 && v[3] > 0 ? (uint64_t)v[3] : 0};
    return CUZK_OK;
}

static cuzk_status read_rows(reading *r, const char *query, const char *table,
                             cuzk_activity_kind kind, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    cuzk_status status = cuzk_activity_db_prepare(&r->file, &s, query, table, err);
    int step = SQLITE_DONE;
    for (uint64_t i = 0; status == CUZK_OK && (step = cuzk_sqlite.step(s)) == SQLITE_ROW; i++) {
        status = take_row(r, s, table, kind, i, err);
    }
    if (status == CUZK_OK && step != SQLITE_DONE) {
        status = cuzk_activity_db_fail(&r->file, table, err);
    }
    cuzk_sqlite.finalize(s);
    return status;
}

/* ---- all of it ---- */

static cuzk_status read_kernels(reading *r, cuzk_error *err)
{
    bool is_there = false;
    CUZK_TRY(cuzk_activity_db_has(&r->file, &is_there, "CUPTI_ACTIVITY_KIND_KERNEL", err));
    CUZK_FAIL_IF(!is_there, err, CUZK_E_FORMAT,
                 "no table CUPTI_ACTIVITY_KIND_KERNEL: no kernel was seen, or it is no SQLite "
                 "export of Nsight Systems");
    return read_rows(r, "SELECT start, [end], deviceId, shortName FROM CUPTI_ACTIVITY_KIND_KERNEL",
                     "CUPTI_ACTIVITY_KIND_KERNEL", CUZK_ACTIVITY_KERNEL, err);
}

static cuzk_status check_length(const cuzk_activities *a, cuzk_error *err)
{
    int64_t first = a->rows[0].begin_ns, last = a->rows[0].end_ns;
    for (size_t i = 1; i < a->n; i++) {
        first = a->rows[i].begin_ns < first ? a->rows[i].begin_ns : first;
        last = a->rows[i].end_ns > last ? a->rows[i].end_ns : last;
    }
    CUZK_FAIL_IF(last - first > CUZK_ACTIVITY_NS_MAX, err, CUZK_E_FORMAT,
                 "activities from %" PRId64 " to %" PRId64 " ns: more than a hundred days", first,
                 last);
    return CUZK_OK;
}

static cuzk_status read_all(reading *r, cuzk_error *err)
{
    bool has_copies = false, has_fills = false;
    CUZK_TRY(read_kernels(r, err));
    CUZK_FAIL_IF(r->out->n == 0, err, CUZK_E_FORMAT,
                 "table CUPTI_ACTIVITY_KIND_KERNEL has no kernel with its times");
    CUZK_TRY(cuzk_activity_db_has(&r->file, &has_copies, "CUPTI_ACTIVITY_KIND_MEMCPY", err));
    if (has_copies) {
        CUZK_TRY(read_rows(
            r, "SELECT start, [end], deviceId, bytes, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY",
            "CUPTI_ACTIVITY_KIND_MEMCPY", CUZK_ACTIVITY_UP, err));
    }
    CUZK_TRY(cuzk_activity_db_has(&r->file, &has_fills, "CUPTI_ACTIVITY_KIND_MEMSET", err));
    if (has_fills) {
        CUZK_TRY(
            read_rows(r, "SELECT start, [end], deviceId, bytes, 0 FROM CUPTI_ACTIVITY_KIND_MEMSET",
                      "CUPTI_ACTIVITY_KIND_MEMSET", CUZK_ACTIVITY_FILL, err));
    }
    CUZK_TRY(check_length(r->out, err));
    CUZK_TRY(cuzk_activity_name_kernels(r->out, &r->file, r->ids, r->n_ids, err));
    return cuzk_activity_read_session(r->out, &r->file, err);
}

cuzk_status cuzk_activities_open(cuzk_activities *out, const char *path, cuzk_error *err)
{
    reading r = {.out = out};
    memset(out, 0, sizeof *out);
    cuzk_status status = cuzk_activity_db_open(&r.file, path, err);
    if (status == CUZK_OK) {
        status = read_all(&r, err);
    }
    cuzk_activity_db_close(&r.file);
    free(r.ids);
    if (status != CUZK_OK) {
        cuzk_activities_clear(out);
        cuzk_error_prefix(err, "%s", path);
    }
    return status;
}

#else

cuzk_status cuzk_activities_open(cuzk_activities *out, const char *path, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                     "%s: this program was built without SQLite's header and cannot read it", path);
}

#endif
