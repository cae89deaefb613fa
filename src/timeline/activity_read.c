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

#include <stdio.h>

enum { ROW_BYTES_MIN = 5 }; /* that a row of a table takes */

/* Columns that are read, of any of the tables. Nsight Systems' versions differ in which others
 * there are; of a kernel's names the first one is taken that is there. */
typedef enum {
    BEGIN,
    END,
    DEVICE,
    COPY_KIND,
    BYTES,
    PROCESS,
    NAME,
    LONG_NAME,
    MANGLED_NAME,
    COLUMNS
} column;

static const char *const columns[COLUMNS] = {"start",     "end",           "deviceId",
                                             "copyKind",  "bytes",         "globalPid",
                                             "shortName", "demangledName", "mangledName"};

typedef struct {
    const char *name;
    cuzk_activity_kind kind; /* of its rows; UP: as copyKind says */
    unsigned needed, read;   /* columns, bit 1 << column */
} table;

enum { TIMES = 1 << BEGIN | 1 << END | 1 << DEVICE };

static const table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", CUZK_ACTIVITY_KERNEL, TIMES,
     TIMES | 1 << PROCESS | 1 << NAME | 1 << LONG_NAME | 1 << MANGLED_NAME},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", CUZK_ACTIVITY_UP, TIMES | 1 << COPY_KIND,
     TIMES | 1 << COPY_KIND | 1 << BYTES | 1 << PROCESS},
    {"CUPTI_ACTIVITY_KIND_MEMSET", CUZK_ACTIVITY_FILL, TIMES, TIMES | 1 << BYTES | 1 << PROCESS},
};

typedef struct {
    cuzk_activity_db file;
    cuzk_activities *out;
    size_t n_room;
    int64_t *ids; /* of names, by row */
    size_t n_ids, n_ids_room;
    int64_t processes[CUZK_ACTIVITY_PROCESSES]; /* globalPid of each */
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

/* ENUM_CUDA_MEMCPY_OPER, up to 10 that of CUPTI: what a copy is to us. */
static cuzk_activity_kind kind_of_copy(int64_t copy_kind)
{
    switch (copy_kind) {
    case 1: /* host to device, to array */
    case 3:
    case 11: /* pages of memory that both share */
        return CUZK_ACTIVITY_UP;
    case 2: /* device, array to host */
    case 4:
    case 12:
        return CUZK_ACTIVITY_DOWN;
    case 5: /* arrays, devices */
    case 6:
    case 7:
    case 8:
    case 10:
    case 13:
        return CUZK_ACTIVITY_INSIDE;
    default:
        return CUZK_ACTIVITY_KINDS;
    }
}

/* The index of a process by its globalPid. */
static cuzk_status process_of(reading *r, uint16_t *out, int64_t id, cuzk_error *err)
{
    unsigned n = r->out->n_processes, i = 0;
    while (i < n && r->processes[i] != id) {
        i++;
    }
    CUZK_FAIL_IF(i == CUZK_ACTIVITY_PROCESSES, err, CUZK_E_FORMAT,
                 "activities of more than %d processes", CUZK_ACTIVITY_PROCESSES);
    r->processes[i] = id;
    r->out->n_processes += i == n;
    *out = (uint16_t)i;
    return CUZK_OK;
}

/* What columns hold: whole numbers, or nothing where nothing is needed. */
static cuzk_status take_values(int64_t v[COLUMNS], bool is_there[COLUMNS], sqlite3_stmt *s,
                               const table *t, uint64_t number, cuzk_error *err)
{
    for (int c = 0; c < COLUMNS; c++) {
        int type = cuzk_sqlite.column_type(s, c);
        is_there[c] = type != SQLITE_NULL;
        bool may_be_null = c == BEGIN || c == END || (t->needed & 1u << c) == 0;
        CUZK_FAIL_IF(type != SQLITE_INTEGER && (is_there[c] || !may_be_null), err, CUZK_E_FORMAT,
                     "table %s, row %" PRIu64 ", column %s: no whole number", t->name, number,
                     columns[c]);
        v[c] = is_there[c] ? cuzk_sqlite.column_int64(s, c) : 0;
    }
    return CUZK_OK;
}

static cuzk_status take_row(reading *r, sqlite3_stmt *s, const table *t, uint64_t number,
                            cuzk_error *err)
{
    cuzk_activities *out = r->out;
    int64_t v[COLUMNS];
    bool is_there[COLUMNS];
    CUZK_TRY(take_values(v, is_there, s, t, number, err));
    if (!is_there[BEGIN] || !is_there[END] || (v[BEGIN] == 0 && v[END] == 0)) {
        out->n_untimed++; /* both 0: CUPTI's "not known" */
        return CUZK_OK;
    }
    CUZK_FAIL_IF(
        v[END] < v[BEGIN] || v[BEGIN] < -CUZK_ACTIVITY_TIME_MAX || v[END] > CUZK_ACTIVITY_TIME_MAX,
        err, CUZK_E_FORMAT, "table %s, row %" PRIu64 ": from %" PRId64 " to %" PRId64 " ns",
        t->name, number, v[BEGIN], v[END]);
    CUZK_FAIL_IF(v[DEVICE] < 0 || v[DEVICE] >= CUZK_ACTIVITY_DEVICES, err, CUZK_E_FORMAT,
                 "table %s, row %" PRIu64 ": device %" PRId64 ", expected 0 to %d", t->name, number,
                 v[DEVICE], CUZK_ACTIVITY_DEVICES - 1);
    cuzk_activity_kind kind = t->kind == CUZK_ACTIVITY_UP ? kind_of_copy(v[COPY_KIND]) : t->kind;
    if (kind == CUZK_ACTIVITY_KINDS) {
        out->n_elsewhere++;
        return CUZK_OK;
    }
    uint16_t process = CUZK_ACTIVITY_PROCESSES; /* not told: it may be of any */
    if (is_there[PROCESS]) {
        CUZK_TRY(process_of(r, &process, v[PROCESS], err));
    }
    CUZK_TRY(make_room(r, err));
    if (kind == CUZK_ACTIVITY_KERNEL) {
        int64_t id = is_there[NAME]           ? v[NAME]
                     : is_there[LONG_NAME]    ? v[LONG_NAME]
                     : is_there[MANGLED_NAME] ? v[MANGLED_NAME]
                                              : CUZK_ACTIVITY_NO_NAME;
        CUZK_TRY(keep_id(r, id, err));
    }
    out->rows[out->n++] = (cuzk_activity){.begin_ns = v[BEGIN],
                                          .end_ns = v[END],
                                          .device = (uint8_t)v[DEVICE],
                                          .kind = (uint8_t)kind,
                                          .process = process,
                                          .bytes = v[BYTES] > 0 ? (uint64_t)v[BYTES] : 0};
    return CUZK_OK;
}

/* NULL stands for columns that this table, or this version of it, has not. */
static cuzk_status make_query(char *out, size_t n_bytes, const reading *r, const table *t,
                              cuzk_error *err)
{
    bool is_there[COLUMNS];
    CUZK_TRY(cuzk_activity_db_columns(&r->file, is_there, columns, COLUMNS, t->name, err));
    size_t n = (size_t)snprintf(out, n_bytes, "SELECT");
    for (int c = 0; c < COLUMNS; c++) {
        CUZK_FAIL_IF((t->needed & 1u << c) != 0 && !is_there[c], err, CUZK_E_FORMAT,
                     "table %s: no column %s", t->name, columns[c]);
        bool is_read = is_there[c] && (t->read & 1u << c) != 0;
        n +=
            (size_t)snprintf(out + n, n_bytes - n, "%s %s%s%s", c > 0 ? "," : "",
                             is_read ? "[" : "", is_read ? columns[c] : "NULL", is_read ? "]" : "");
    }
    snprintf(out + n, n_bytes - n, " FROM %s", t->name);
    return CUZK_OK;
}

/* The rows of a table, if it is there. */
static cuzk_status read_rows(reading *r, const table *t, cuzk_error *err)
{
    char query[256]; /* all of it is ours */
    bool has_table = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(cuzk_activity_db_has(&r->file, &has_table, t->name, err));
    if (!has_table) {
        return CUZK_OK;
    }
    CUZK_TRY(make_query(query, sizeof query, r, t, err));
    cuzk_status status = cuzk_activity_db_prepare(&r->file, &s, query, t->name, err);
    int step = SQLITE_DONE;
    for (uint64_t i = 0; status == CUZK_OK && (step = cuzk_sqlite.step(s)) == SQLITE_ROW; i++) {
        status = take_row(r, s, t, i, err);
    }
    if (status == CUZK_OK && step != SQLITE_DONE) {
        status = cuzk_activity_db_fail(&r->file, t->name, err);
    }
    cuzk_sqlite.finalize(s);
    return status;
}

/* ---- all of it ---- */

/* Without kernels there is nothing to hold against ours. */
static cuzk_status check_kernels(const reading *r, cuzk_error *err)
{
    bool is_there = false;
    CUZK_TRY(cuzk_activity_db_has(&r->file, &is_there, tables[0].name, err));
    CUZK_FAIL_IF(!is_there, err, CUZK_E_FORMAT,
                 "no table CUPTI_ACTIVITY_KIND_KERNEL: no kernel was seen, or it is no SQLite "
                 "export of Nsight Systems");
    CUZK_FAIL_IF(r->n_ids == 0, err, CUZK_E_FORMAT,
                 "table CUPTI_ACTIVITY_KIND_KERNEL has no kernel with its times");
    return CUZK_OK;
}

/* Keep the rows of the process with the most kernels (of several alike, of the first one). */
static void keep_one_process(reading *r)
{
    size_t n_kernels[CUZK_ACTIVITY_PROCESSES + 1] = {0}, n = 0, n_ids = 0;
    cuzk_activities *out = r->out;
    unsigned most = 0;
    for (size_t i = 0; i < r->n_ids; i++) { /* kernels are the first rows */
        n_kernels[out->rows[i].process]++;
    }
    for (unsigned p = 1; p < out->n_processes; p++) {
        most = n_kernels[p] > n_kernels[most] ? p : most;
    }
    for (size_t i = 0; i < out->n; i++) {
        if (out->rows[i].process != most && out->rows[i].process < out->n_processes) {
            continue;
        }
        if (i < r->n_ids) {
            r->ids[n_ids++] = r->ids[i];
        }
        out->rows[n++] = out->rows[i];
    }
    out->n_of_others = out->n - n;
    out->n = n;
    r->n_ids = n_ids;
    /* globalPid: machine and pid above 24 bits of a thread */
    out->pid = out->n_processes == 0 ? -1 : r->processes[most] >> 24 & 0xffffff;
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
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        CUZK_TRY(read_rows(r, &tables[i], err));
        if (i == 0) {
            CUZK_TRY(check_kernels(r, err));
        }
    }
    keep_one_process(r);
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
