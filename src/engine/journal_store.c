/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The journal's file: opening, making, identity, transactions, checkpoints. */
#include "engine/journal_store_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* meta keeps its form in every version: it tells the version, also where a damaged header does not.
 * The file gives pages back (auto_vacuum). */
static const char schema[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE job(seq INTEGER PRIMARY KEY, request_id BLOB NOT NULL, job_id BLOB NOT NULL,"
    " kind INTEGER NOT NULL, priority INTEGER NOT NULL, n_units INTEGER NOT NULL,"
    " digest BLOB NOT NULL, payload_bytes INTEGER NOT NULL, accepted_ms INTEGER NOT NULL,"
    " sum BLOB NOT NULL,"
    " state INTEGER, status INTEGER, error BLOB, answer BLOB, times BLOB, ended_ms INTEGER,"
    " end_sum BLOB);"
    "CREATE TABLE payload(key INTEGER PRIMARY KEY, data BLOB NOT NULL, sum BLOB NOT NULL);"
    "CREATE TABLE unit(key INTEGER PRIMARY KEY, proof BLOB NOT NULL, sum BLOB NOT NULL);"
    "CREATE INDEX job_ended ON job(ended_ms, seq) WHERE ended_ms IS NOT NULL;"
    "CREATE INDEX job_name ON job(job_id);";

static const char new_file[] = "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL";

static const char *const sql[] = {
#define SQL(name, text) text,
    CUZK_STORE_STATEMENTS(SQL)
#undef SQL
};

/* What the system said to the last failed read or write: SQLite keeps it with the file, and for a
 * commit nowhere else. 0: nothing. */
static int system_error(sqlite3 *db)
{
    int number = sqlite3_system_errno(db);
    sqlite3_file *log = NULL;
    if (number == 0 &&
        sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK &&
        log != NULL && log->pMethods != NULL) {
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    }
    if (number == 0) {
        sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    }
    return number;
}

cuzk_status cuzk_store_fail(cuzk_store *store, cuzk_error *err, const char *doing)
{
    int code = sqlite3_extended_errcode(store->db);
    int system = system_error(store->db);
    cuzk_status status = CUZK_E_FILE;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        status = CUZK_E_MEMORY;
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* a table or column of ours is not there */
        status = CUZK_E_FORMAT;
        break;
    case SQLITE_IOERR:
        return CUZK_FAIL(err, status, "%s: %s (%s)", doing, sqlite3_errmsg(store->db),
                         system == 0 ? sqlite3_errstr(code) : strerror(system));
    default:
        break;
    }
    return CUZK_FAIL(err, status, "%s: %s", doing, sqlite3_errmsg(store->db));
}

sqlite3_stmt *cuzk_store_use(cuzk_store *store, cuzk_store_statement statement)
{
    return store->statements[statement];
}

cuzk_status cuzk_store_run(cuzk_store *store, sqlite3_stmt *s, cuzk_error *err, const char *doing)
{
    cuzk_status status = CUZK_OK;
    if (sqlite3_step(s) != SQLITE_DONE) {
        status = cuzk_store_fail(store, err, doing);
    }
    sqlite3_reset(s);
    return status;
}

/* One number of a pragma or query. */
static cuzk_status ask(cuzk_store *store, int64_t *value, const char *query, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    cuzk_status status = CUZK_OK;
    if (sqlite3_prepare_v2(store->db, query, -1, &s, NULL) != SQLITE_OK) {
        return cuzk_store_fail(store, err, query);
    }
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        *value = sqlite3_column_int64(s, 0);
    } else if (step != SQLITE_DONE) {
        status = cuzk_store_fail(store, err, query);
    }
    sqlite3_finalize(s);
    return status;
}

static cuzk_status execute(cuzk_store *store, const char *text, cuzk_error *err)
{
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) != SQLITE_OK) {
        return cuzk_store_fail(store, err, text);
    }
    return CUZK_OK;
}

static cuzk_status make_tables(cuzk_store *store, cuzk_error *err)
{
    char identity[200];
    snprintf(identity, sizeof identity,
             "PRAGMA application_id = %d; PRAGMA user_version = %d;"
             "INSERT INTO meta VALUES('version', %d), ('next_seq', 1);",
             CUZK_STORE_APPLICATION, CUZK_STORE_VERSION, CUZK_STORE_VERSION);
    CUZK_TRY(execute(store, "BEGIN IMMEDIATE", err));
    cuzk_status status = execute(store, schema, err);
    if (status == CUZK_OK) {
        status = execute(store, identity, err);
    }
    if (status == CUZK_OK) {
        status = execute(store, "COMMIT", err);
    }
    if (status != CUZK_OK) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

/* Whether the file is a journal of this version. A header and a meta table that disagree are
 * damage; a newer version or a foreign database agree with themselves, and are not ours to touch.
 */
static cuzk_status check_identity(cuzk_store *store, bool *is_new, cuzk_error *err)
{
    int64_t application = 0, version = 0, n_objects = 0, has_meta = 0, meta_version = 0;
    CUZK_TRY(ask(store, &n_objects, "SELECT count(*) FROM sqlite_schema", err));
    CUZK_TRY(ask(store, &application, "PRAGMA application_id", err));
    CUZK_TRY(ask(store, &version, "PRAGMA user_version", err));
    *is_new = n_objects == 0 && application == 0 && version == 0;
    if (*is_new) {
        return CUZK_OK;
    }
    CUZK_TRY(ask(store, &has_meta,
                 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'", err));
    if (has_meta != 0) {
        CUZK_TRY(ask(store, &meta_version, "SELECT value FROM meta WHERE name = 'version'", err));
    }
    CUZK_FAIL_IF(application != CUZK_STORE_APPLICATION && meta_version == 0, err,
                 CUZK_E_UNSUPPORTED, "this is a database, but not a journal of cuzk");
    CUZK_FAIL_IF(application != CUZK_STORE_APPLICATION || version != meta_version, err,
                 CUZK_E_FORMAT,
                 "header: application %lld, version %lld; expected %d and %lld, which its own "
                 "table says",
                 (long long)application, (long long)version, CUZK_STORE_APPLICATION,
                 (long long)meta_version);
    CUZK_FAIL_IF(version > CUZK_STORE_VERSION, err, CUZK_E_UNSUPPORTED,
                 "it has version %lld, this program knows versions up to %d: a newer cuzk has "
                 "written it",
                 (long long)version, CUZK_STORE_VERSION);
    CUZK_FAIL_IF(version < 1, err, CUZK_E_FORMAT, "version %lld, expected 1 … %d",
                 (long long)version, CUZK_STORE_VERSION);
    return CUZK_OK;
}

/* Pages of the log after each commit. */
static int on_commit(void *user, sqlite3 *db, const char *name, int n_pages)
{
    (void)db;
    (void)name;
    ((cuzk_store *)user)->log_pages = n_pages;
    return SQLITE_OK;
}

static cuzk_status prepare(cuzk_store *store, cuzk_error *err)
{
    for (int i = 0; i < CUZK_STORE_N_STATEMENTS; i++) {
        if (store->statements[i] == NULL &&
            sqlite3_prepare_v3(store->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[i], NULL) != SQLITE_OK) {
            return cuzk_store_fail(store, err, "its tables");
        }
    }
    return CUZK_OK;
}

/* journal_mode as SQLite says it is after a pragma. */
static cuzk_status is_wal(cuzk_store *store, bool *yes, const char *pragma, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, pragma, -1, &s, NULL) != SQLITE_OK) {
        return cuzk_store_fail(store, err, pragma);
    }
    cuzk_status status = CUZK_OK;
    if (sqlite3_step(s) == SQLITE_ROW) {
        *yes = strcmp((const char *)sqlite3_column_text(s, 0), "wal") == 0;
    } else {
        status = cuzk_store_fail(store, err, pragma);
    }
    sqlite3_finalize(s);
    return status;
}

/* Nothing is written to a file before it is known to be a journal, and one of this version. */
static cuzk_status set_up_live(cuzk_store *store, cuzk_error *err)
{
    bool is_new, has_log = false;
    CUZK_TRY(check_identity(store, &is_new, err));
    CUZK_FAIL_IF(sqlite3_db_readonly(store->db, "main") != 0, err, CUZK_E_FORMAT,
                 "header: it asks for a file format that no program writes");
    if (is_new) {
        CUZK_TRY(execute(store, new_file, err));
        CUZK_TRY(is_wal(store, &has_log, "PRAGMA journal_mode = WAL", err));
        CUZK_FAIL_IF(!has_log, err, CUZK_E_FILE,
                     "the file system does not allow a write-ahead log");
    } else {
        CUZK_TRY(is_wal(store, &has_log, "PRAGMA journal_mode", err));
        if (!has_log) { /* a salvaged journal is made without one */
            CUZK_TRY(prepare(store, err));
            CUZK_TRY(cuzk_store_check(store, err));
            CUZK_TRY(is_wal(store, &has_log, "PRAGMA journal_mode = WAL", err));
        }
    }
    /* checkpoints are made after the answers of a commit have been given; a log that a large
     * payload has blown up is cut when it starts anew */
    CUZK_TRY(execute(store,
                     "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
                     "PRAGMA journal_size_limit = 16777216",
                     err));
    sqlite3_wal_hook(store->db, on_commit, store);
    return is_new ? make_tables(store, err) : CUZK_OK;
}

static cuzk_status set_up(cuzk_store *store, cuzk_store_mode mode, cuzk_error *err)
{
    sqlite3_extended_result_codes(store->db, 1);
    /* a file that turns out to be damaged or not ours is closed as it was, its log with it */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* The cache is small: the system's serves as well, and memory is flat from the first thousand
     * jobs on. What is deleted is overwritten where that costs no further write (Debian's SQLite
     * would write zeros over all of it); the file is its owner's alone. */
    CUZK_TRY(execute(store,
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = FAST;"
                     "PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY;"
                     "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON",
                     err));
    if (mode == CUZK_STORE_LIVE) {
        CUZK_TRY(set_up_live(store, err));
    } else {
        CUZK_TRY(execute(store, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err));
    }
    if (mode == CUZK_STORE_REBUILD) {
        CUZK_TRY(execute(store, new_file, err));
        CUZK_TRY(make_tables(store, err));
    }
    CUZK_TRY(prepare(store, err));
    if (mode != CUZK_STORE_LIVE) {
        return CUZK_OK;
    }
    int64_t next = 0, last = 0, bytes = 0;
    CUZK_TRY(ask(store, &next, "SELECT value FROM meta WHERE name = 'next_seq'", err));
    CUZK_TRY(ask(store, &last, "SELECT max(seq) FROM job", err));
    CUZK_TRY(ask(store, &bytes,
                 "SELECT sum(" CUZK_STORE_COST ") FROM job WHERE ended_ms IS NOT NULL", err));
    store->next_seq = next > last ? (uint64_t)next : (uint64_t)last + 1;
    store->ended_bytes = (uint64_t)bytes;
    return CUZK_OK;
}

cuzk_status cuzk_store_open(cuzk_store **out, const char *path, cuzk_store_mode mode,
                            cuzk_error *err)
{
    cuzk_store *store = (cuzk_store *)calloc(1, sizeof *store);
    CUZK_FAIL_IF(store == NULL, err, CUZK_E_MEMORY, "opening the journal: no memory");
    cuzk_status status = CUZK_OK;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK) {
        status = store->db == NULL ? CUZK_FAIL(err, CUZK_E_MEMORY, "opening the journal: no memory")
                                   : cuzk_store_fail(store, err, "opening it");
    }
    if (status == CUZK_OK) {
        status = set_up(store, mode, err);
    }
    if (status != CUZK_OK) {
        cuzk_store_close(store);
        return status;
    }
    *out = store;
    return CUZK_OK;
}

void cuzk_store_close(cuzk_store *store)
{
    if (store == NULL) {
        return;
    }
    for (int i = 0; i < CUZK_STORE_N_STATEMENTS; i++) {
        sqlite3_finalize(store->statements[i]);
    }
    sqlite3_close(store->db);
    free(store);
}

cuzk_status cuzk_store_begin(cuzk_store *store, cuzk_error *err)
{
    store->ended_bytes_at_begin = store->ended_bytes;
    store->next_seq_at_begin = store->next_seq;
    return cuzk_store_run(store, cuzk_store_use(store, CUZK_STORE_BEGIN), err,
                          "beginning a transaction");
}

cuzk_status cuzk_store_commit(cuzk_store *store, cuzk_error *err)
{
    return cuzk_store_run(store, cuzk_store_use(store, CUZK_STORE_COMMIT), err, "writing to disk");
}

void cuzk_store_rollback(cuzk_store *store)
{
    store->ended_bytes = store->ended_bytes_at_begin;
    store->next_seq = store->next_seq_at_begin;
    if (!sqlite3_get_autocommit(store->db)) { /* some errors roll back by themselves */
        sqlite3_step(cuzk_store_use(store, CUZK_STORE_ROLLBACK));
        sqlite3_reset(cuzk_store_use(store, CUZK_STORE_ROLLBACK));
    }
}

void cuzk_store_checkpoint(cuzk_store *store, int n_pages)
{
    if (store->log_pages <= n_pages) {
        return;
    }
    int n_log = 0, n_moved = 0;
    int rc =
        sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &n_log, &n_moved);
    if (rc == SQLITE_OK && n_log == n_moved) {
        store->log_pages = 0; /* the next transaction starts at the log's beginning */
    }
}

bool cuzk_store_shrink(cuzk_store *store, int n_pages)
{
    int64_t n_free = 0;
    enum { KEEP = 2048 }; /* 8 MiB stay for what comes next */
    if (ask(store, &n_free, "PRAGMA freelist_count", NULL) != CUZK_OK || n_free < 2 * KEEP) {
        return false;
    }
    char text[64];
    int64_t n = n_free - KEEP < n_pages ? n_free - KEEP : n_pages;
    snprintf(text, sizeof text, "PRAGMA incremental_vacuum(%lld)", (long long)n);
    return execute(store, text, NULL) == CUZK_OK && n_free - n >= 2 * KEEP;
}
