/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/activity_db.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Steps of SQLite's machine: some thirty a row, and what sorting or searching a table for a name
 * takes. */
enum { STEPS_A_BYTE = 64, STEPS_AT_ONCE = 1 << 20 };

/* Of the longest text that is read, a row, or a table's definition; and of expressions in one. */
enum { VALUE_BYTES_MAX = 1 << 16, EXPRESSION_DEPTH_MAX = 100 };

cuzk_sqlite_functions cuzk_sqlite;

static void load_library(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    cuzk_sqlite.usable = library != NULL;
    if (!cuzk_sqlite.usable) {
        return;
    }
#define LOAD(name)                                                                                 \
    do {                                                                                           \
        void *symbol = dlsym(library, "sqlite3_" #name);                                           \
        memcpy(&cuzk_sqlite.name, &symbol, sizeof symbol);                                         \
        cuzk_sqlite.usable = cuzk_sqlite.usable && symbol != NULL;                                 \
    } while (0);
    CUZK_SQLITE_FUNCTIONS(LOAD)
#undef LOAD
}

static int on_steps(void *user)
{
    cuzk_activity_db *db = user;
    return db->steps_left == 0 || --db->steps_left == 0;
}

cuzk_status cuzk_activity_db_fail(const cuzk_activity_db *db, const char *what, cuzk_error *err)
{
    int code = cuzk_sqlite.errcode(db->db) & 0xff;
    CUZK_FAIL_IF(code == SQLITE_NOMEM, err, CUZK_E_MEMORY, "%s: out of memory", what);
    CUZK_FAIL_IF(code == SQLITE_INTERRUPT, err, CUZK_E_FORMAT,
                 "%s: reading it takes more steps than a file of %" PRIu64 " bytes can need", what,
                 db->n_bytes);
    bool is_format = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
                     code == SQLITE_TOOBIG;
    return CUZK_FAIL(err, is_format ? CUZK_E_FORMAT : CUZK_E_FILE, "%s: %s", what,
                     cuzk_sqlite.errmsg(db->db));
}

cuzk_status cuzk_activity_db_prepare(const cuzk_activity_db *db, sqlite3_stmt **s,
                                     const char *query, const char *what, cuzk_error *err)
{
    return cuzk_sqlite.prepare_v2(db->db, query, -1, s, NULL) == SQLITE_OK
               ? CUZK_OK
               : cuzk_activity_db_fail(db, what, err);
}

cuzk_status cuzk_activity_db_has(const cuzk_activity_db *db, bool *yes, const char *table,
                                 cuzk_error *err)
{
    static const char query[] = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
                                " AND name = ?1";
    sqlite3_stmt *s = NULL;
    CUZK_TRY(cuzk_activity_db_prepare(db, &s, query, "its list of tables", err));
    int step = cuzk_sqlite.bind_text(s, 1, table, -1, SQLITE_STATIC);
    step = step == SQLITE_OK ? cuzk_sqlite.step(s) : step;
    *yes = step == SQLITE_ROW;
    cuzk_status status = step == SQLITE_ROW || step == SQLITE_DONE
                             ? CUZK_OK
                             : cuzk_activity_db_fail(db, "its list of tables", err);
    cuzk_sqlite.finalize(s);
    return status;
}

/* Of a row of table_xinfo: the name is column 1, and column 6 tells 0 for a stored column, 2 or 3
 * for a computed one. */
static cuzk_status take_column(sqlite3_stmt *s, bool *is_there, const char *const *names, size_t n,
                               const char *table, cuzk_error *err)
{
    const char *name = (const char *)cuzk_sqlite.column_text(s, 1);
    size_t i = 0;
    while (i < n && (name == NULL || strcasecmp(names[i], name) != 0)) {
        i++;
    }
    if (i == n) {
        return CUZK_OK;
    }
    CUZK_FAIL_IF(cuzk_sqlite.column_int64(s, 6) != 0, err, CUZK_E_FORMAT,
                 "table %s: column %s is computed, not stored", table, names[i]);
    is_there[i] = true;
    return CUZK_OK;
}

cuzk_status cuzk_activity_db_columns(const cuzk_activity_db *db, bool *is_there,
                                     const char *const *names, size_t n, const char *table,
                                     cuzk_error *err)
{
    char query[128];
    sqlite3_stmt *s = NULL;
    snprintf(query, sizeof query, "PRAGMA table_xinfo(%s)", table);
    memset(is_there, 0, n * sizeof *is_there);
    cuzk_status status = cuzk_activity_db_prepare(db, &s, query, table, err);
    int step = SQLITE_DONE;
    while (status == CUZK_OK && (step = cuzk_sqlite.step(s)) == SQLITE_ROW) {
        status = take_column(s, is_there, names, n, table, err);
    }
    if (status == CUZK_OK && step != SQLITE_DONE) {
        status = cuzk_activity_db_fail(db, table, err);
    }
    cuzk_sqlite.finalize(s);
    return status;
}

cuzk_status cuzk_activity_db_open(cuzk_activity_db *out, const char *path, cuzk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stat st;
    *out = (cuzk_activity_db){0};
    pthread_once(&once, load_library);
    CUZK_FAIL_IF(!cuzk_sqlite.usable, err, CUZK_E_UNSUPPORTED,
                 "reading it takes libsqlite3.so.0, which is not on this machine");
    CUZK_FAIL_IF(stat(path, &st) != 0, err, CUZK_E_FILE, "%s", strerror(errno));
    CUZK_FAIL_IF(!S_ISREG(st.st_mode), err, CUZK_E_FILE, "not a regular file");
    out->n_bytes = (uint64_t)st.st_size;
    out->text_left = out->n_bytes;
    out->steps_left = out->n_bytes / STEPS_AT_ONCE * STEPS_A_BYTE + STEPS_A_BYTE;
    int code =
        cuzk_sqlite.open_v2(path, &out->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    CUZK_FAIL_IF(out->db == NULL, err, CUZK_E_MEMORY, "opening it: out of memory");
    if (code != SQLITE_OK) {
        return cuzk_activity_db_fail(out, "opening it", err);
    }
    cuzk_sqlite.db_config(out->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    cuzk_sqlite.db_config(out->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    cuzk_sqlite.db_config(out->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    cuzk_sqlite.db_config(out->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    cuzk_sqlite.limit(out->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
    cuzk_sqlite.limit(out->db, SQLITE_LIMIT_SQL_LENGTH, VALUE_BYTES_MAX);
    cuzk_sqlite.limit(out->db, SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_DEPTH_MAX);
    cuzk_sqlite.limit(out->db, SQLITE_LIMIT_ATTACHED, 0);
    cuzk_sqlite.limit(out->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    cuzk_sqlite.progress_handler(out->db, STEPS_AT_ONCE, on_steps, out);
    if (cuzk_sqlite.exec(
            out->db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -512",
            NULL, NULL, NULL) != SQLITE_OK) {
        return cuzk_activity_db_fail(out, "opening it", err);
    }
    return CUZK_OK;
}

void cuzk_activity_db_close(cuzk_activity_db *db)
{
    if (db->db != NULL) {
        cuzk_sqlite.close(db->db);
    }
    *db = (cuzk_activity_db){0};
}
