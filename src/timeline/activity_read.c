/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SQLite's header gives names and numbers; the library itself is opened at run time, since nobody
 * else who uses ours needs it (the journal, which does, is another layer). */
#include "timeline/activity.h"
#include "timeline/plain_text.h"

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
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

/* A row of a table takes five bytes at least. Steps of SQLite's machine: some thirty a row, and
 * what sorting or searching a table for a name takes. */
enum { ROW_BYTES_MIN = 5, STEPS_A_BYTE = 64, STEPS_AT_ONCE = 1 << 20, VALUE_BYTES_MAX = 1 << 16 };
static const int64_t TIME_MAX = INT64_C(1) << 61;

/* ---- the library ---- */

#define FUNCTIONS(X)                                                                               \
    X(open_v2)                                                                                     \
    X(close)                                                                                       \
    X(db_config)                                                                                   \
    X(limit)                                                                                       \
    X(exec)                                                                                        \
    X(progress_handler)                                                                            \
    X(prepare_v2)                                                                                  \
    X(bind_int64)                                                                                  \
    X(step)                                                                                        \
    X(reset)                                                                                       \
    X(column_int64)                                                                                \
    X(column_type)                                                                                 \
    X(column_text)                                                                                 \
    X(finalize)                                                                                    \
    X(errcode)                                                                                     \
    X(errmsg)

static struct {
#define MEMBER(name) __typeof__(&sqlite3_##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    bool usable;
} sq;

static void load_library(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    sq.usable = library != NULL;
    if (!sq.usable) {
        return;
    }
#define LOAD(name)                                                                                 \
    do {                                                                                           \
        void *symbol = dlsym(library, "sqlite3_" #name);                                           \
        memcpy(&sq.name, &symbol, sizeof symbol);                                                  \
        sq.usable = sq.usable && symbol != NULL;                                                   \
    } while (0);
    FUNCTIONS(LOAD)
#undef LOAD
}

/* ---- a file ---- */

typedef struct {
    sqlite3 *db;
    cuzk_activities *out;
    uint64_t n_bytes;    /* of the file */
    uint64_t steps_left; /* of SQLite's machine, in units of STEPS_AT_ONCE */
    size_t n_room;
    int64_t *ids; /* of names, by row; sorted and made different once all kernels are read */
    size_t n_ids, n_ids_room;
} reading;

static int on_steps(void *user)
{
    reading *r = user;
    return r->steps_left == 0 || --r->steps_left == 0;
}

static cuzk_status fail(const reading *r, const char *what, cuzk_error *err)
{
    int code = sq.errcode(r->db) & 0xff;
    CUZK_FAIL_IF(code == SQLITE_NOMEM, err, CUZK_E_MEMORY, "%s: out of memory", what);
    CUZK_FAIL_IF(code == SQLITE_INTERRUPT, err, CUZK_E_FORMAT,
                 "%s: reading it takes more steps than a file of %" PRIu64 " bytes can need", what,
                 r->n_bytes);
    bool is_format = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
                     code == SQLITE_TOOBIG;
    return CUZK_FAIL(err, is_format ? CUZK_E_FORMAT : CUZK_E_FILE, "%s: %s", what,
                     sq.errmsg(r->db));
}

static cuzk_status prepare(const reading *r, sqlite3_stmt **s, const char *query, const char *what,
                           cuzk_error *err)
{
    return sq.prepare_v2(r->db, query, -1, s, NULL) == SQLITE_OK ? CUZK_OK : fail(r, what, err);
}

/* Whether there is a table of that name, and not a view or virtual table. */
static cuzk_status has_table(const reading *r, bool *yes, const char *query, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    CUZK_TRY(prepare(r, &s, query, "its list of tables", err));
    int step = sq.step(s);
    *yes = step == SQLITE_ROW;
    cuzk_status status =
        step == SQLITE_ROW || step == SQLITE_DONE ? CUZK_OK : fail(r, "its list of tables", err);
    sq.finalize(s);
    return status;
}

#define HAS_TABLE(name)                                                                            \
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = '" name "'"

static cuzk_status make_room(reading *r, cuzk_error *err)
{
    cuzk_activities *out = r->out;
    CUZK_FAIL_IF(out->n > r->n_bytes / ROW_BYTES_MIN, err, CUZK_E_FORMAT,
                 "more rows than its %" PRIu64 " bytes can hold: it is damaged", r->n_bytes);
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
        int type = sq.column_type(s, c);
        if (type == SQLITE_NULL && c < 2) {
            out->n_untimed++;
            return CUZK_OK;
        }
        CUZK_FAIL_IF(type != SQLITE_INTEGER, err, CUZK_E_FORMAT,
                     "table %s, row %" PRIu64 ", column %d of those that are read: no whole number",
                     table, number, c);
        v[c] = sq.column_int64(s, c);
    }
    if (v[0] == 0 && v[1] == 0) { /* CUPTI's "not known" */
        out->n_untimed++;
        return CUZK_OK;
    }
    CUZK_FAIL_IF(v[1] < v[0] || v[0] < -TIME_MAX || v[1] > TIME_MAX, err, CUZK_E_FORMAT,
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
    cuzk_status status = prepare(r, &s, query, table, err);
    int step = SQLITE_DONE;
    for (uint64_t i = 0; status == CUZK_OK && (step = sq.step(s)) == SQLITE_ROW; i++) {
        status = take_row(r, s, table, kind, i, err);
    }
    if (status == CUZK_OK && step != SQLITE_DONE) {
        status = fail(r, table, err);
    }
    sq.finalize(s);
    return status;
}

/* ---- names ---- */

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
    const char *text = s != NULL && sq.column_type(s, column) == SQLITE_TEXT
                           ? (const char *)sq.column_text(s, column)
                           : NULL;
    *out = copy_of(text != NULL && text[0] != 0 ? text : otherwise);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "reading names: out of memory");
    cuzk_plain_text(*out);
    return CUZK_OK;
}

static cuzk_status read_names(reading *r, named *names, size_t n, cuzk_error *err)
{
    bool has_names = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(has_table(r, &has_names, HAS_TABLE("StringIds"), err));
    if (has_names) {
        CUZK_TRY(
            prepare(r, &s, "SELECT value FROM StringIds WHERE id = ?1", "table StringIds", err));
    }
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        char otherwise[40];
        snprintf(otherwise, sizeof otherwise, "(kernel %" PRId64 ")", names[i].id);
        bool is_there = false;
        if (s != NULL) {
            sq.bind_int64(s, 1, names[i].id);
            int step = sq.step(s);
            is_there = step == SQLITE_ROW;
            status = is_there || step == SQLITE_DONE ? CUZK_OK : fail(r, "table StringIds", err);
        }
        if (status == CUZK_OK) {
            status = take_text(&names[i].text, is_there ? s : NULL, 0, otherwise, err);
        }
        if (s != NULL) {
            sq.reset(s);
        }
    }
    sq.finalize(s);
    return status;
}

/* Numbers of names, which may mean the same text, become indices of different texts. */
static cuzk_status set_names(reading *r, const named *names, size_t n, cuzk_error *err)
{
    cuzk_activities *out = r->out;
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
    for (size_t i = 0; i < r->n_ids; i++) { /* kernels are the first rows */
        const named *name = bsearch(&r->ids[i], names, n, sizeof *names, by_id);
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

static cuzk_status name_kernels(reading *r, cuzk_error *err)
{
    size_t n = 0;
    named *names = calloc(r->n_ids + 1, sizeof *names);
    CUZK_FAIL_IF(names == NULL, err, CUZK_E_MEMORY, "reading names: out of memory");
    for (size_t i = 0; i < r->n_ids; i++) {
        names[i].id = r->ids[i];
    }
    qsort(names, r->n_ids, sizeof *names, by_id);
    for (size_t i = 0; i < r->n_ids; i++) {
        if (n == 0 || names[i].id != names[n - 1].id) {
            names[n++].id = names[i].id;
        }
    }
    cuzk_status status = read_names(r, names, n, err);
    if (status == CUZK_OK) {
        status = set_names(r, names, n, err);
    }
    for (size_t i = 0; i < n; i++) {
        free(names[i].text);
    }
    free(names);
    return status;
}

/* ---- what may be missing ---- */

/* The numbers of CUDA are those of the process, which may not see every card. Only labels: where
 * columns are called otherwise there are none. */
static cuzk_status read_devices(reading *r, cuzk_error *err)
{
    bool has_names = false, has_numbers = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(has_table(r, &has_names, HAS_TABLE("TARGET_INFO_GPU"), err));
    CUZK_TRY(has_table(r, &has_numbers, HAS_TABLE("TARGET_INFO_CUDA_DEVICE"), err));
    const char *query = has_numbers ? "SELECT d.cudaId, g.name FROM TARGET_INFO_CUDA_DEVICE d,"
                                      " TARGET_INFO_GPU g WHERE g.id = d.gpuId"
                                    : "SELECT id, name FROM TARGET_INFO_GPU";
    if (!has_names || sq.prepare_v2(r->db, query, -1, &s, NULL) != SQLITE_OK) {
        return CUZK_OK;
    }
    cuzk_status status = CUZK_OK;
    int step = SQLITE_DONE;
    for (int i = 0;
         i < CUZK_ACTIVITY_DEVICES && status == CUZK_OK && (step = sq.step(s)) == SQLITE_ROW; i++) {
        int64_t id = sq.column_int64(s, 0);
        char *name = NULL;
        status = take_text(&name, s, 1, "", err);
        if (status == CUZK_OK && id >= 0 && id < CUZK_ACTIVITY_DEVICES) {
            snprintf(r->out->devices[id], CUZK_ACTIVITY_LABEL, "%s", name);
            cuzk_plain_text(r->out->devices[id]); /* it may be cut inside a character */
        }
        free(name);
    }
    if (status == CUZK_OK && step != SQLITE_DONE && step != SQLITE_ROW) {
        status = fail(r, "table TARGET_INFO_GPU", err);
    }
    sq.finalize(s);
    return status;
}

static cuzk_status read_start(reading *r, cuzk_error *err)
{
    bool is_there = false;
    sqlite3_stmt *s = NULL;
    CUZK_TRY(has_table(r, &is_there, HAS_TABLE("TARGET_INFO_SESSION_START_TIME"), err));
    if (!is_there || sq.prepare_v2(r->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME",
                                   -1, &s, NULL) != SQLITE_OK) {
        return CUZK_OK; /* clocks are then tied by what was done alone */
    }
    cuzk_status status = CUZK_OK;
    int step = sq.step(s);
    if (step == SQLITE_ROW && sq.column_type(s, 0) == SQLITE_INTEGER) {
        int64_t at = sq.column_int64(s, 0);
        r->out->begin_wall_ns = at > 0 && at < TIME_MAX ? at : 0;
    } else if (step != SQLITE_ROW && step != SQLITE_DONE) {
        status = fail(r, "table TARGET_INFO_SESSION_START_TIME", err);
    }
    sq.finalize(s);
    return status;
}

/* ---- all of it ---- */

static cuzk_status read_kernels(reading *r, cuzk_error *err)
{
    bool is_there = false;
    CUZK_TRY(has_table(r, &is_there, HAS_TABLE("CUPTI_ACTIVITY_KIND_KERNEL"), err));
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
    CUZK_TRY(has_table(r, &has_copies, HAS_TABLE("CUPTI_ACTIVITY_KIND_MEMCPY"), err));
    if (has_copies) {
        CUZK_TRY(read_rows(
            r, "SELECT start, [end], deviceId, bytes, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY",
            "CUPTI_ACTIVITY_KIND_MEMCPY", CUZK_ACTIVITY_UP, err));
    }
    CUZK_TRY(has_table(r, &has_fills, HAS_TABLE("CUPTI_ACTIVITY_KIND_MEMSET"), err));
    if (has_fills) {
        CUZK_TRY(
            read_rows(r, "SELECT start, [end], deviceId, bytes, 0 FROM CUPTI_ACTIVITY_KIND_MEMSET",
                      "CUPTI_ACTIVITY_KIND_MEMSET", CUZK_ACTIVITY_FILL, err));
    }
    CUZK_TRY(check_length(r->out, err));
    CUZK_TRY(name_kernels(r, err));
    CUZK_TRY(read_devices(r, err));
    return read_start(r, err);
}

static cuzk_status open_file(reading *r, const char *path, cuzk_error *err)
{
    struct stat st;
    CUZK_FAIL_IF(stat(path, &st) != 0, err, CUZK_E_FILE, "%s", strerror(errno));
    CUZK_FAIL_IF(!S_ISREG(st.st_mode), err, CUZK_E_FILE, "not a regular file");
    r->n_bytes = (uint64_t)st.st_size;
    r->steps_left = r->n_bytes / STEPS_AT_ONCE * STEPS_A_BYTE + STEPS_A_BYTE;
    int code = sq.open_v2(path, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    CUZK_FAIL_IF(r->db == NULL, err, CUZK_E_MEMORY, "opening it: out of memory");
    if (code != SQLITE_OK) {
        return fail(r, "opening it", err);
    }
    sq.db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sq.db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sq.db_config(r->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sq.db_config(r->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sq.limit(r->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    sq.progress_handler(r->db, STEPS_AT_ONCE, on_steps, r);
    if (sq.exec(r->db,
                "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -512", NULL,
                NULL, NULL) != SQLITE_OK) {
        return fail(r, "opening it", err);
    }
    return CUZK_OK;
}

cuzk_status cuzk_activities_open(cuzk_activities *out, const char *path, cuzk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    memset(out, 0, sizeof *out);
    pthread_once(&once, load_library);
    CUZK_FAIL_IF(!sq.usable, err, CUZK_E_UNSUPPORTED,
                 "%s: reading it takes libsqlite3.so.0, which is not on this machine", path);
    reading r = {.out = out};
    cuzk_status status = open_file(&r, path, err);
    if (status == CUZK_OK) {
        status = read_all(&r, err);
    }
    sq.close(r.db);
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
