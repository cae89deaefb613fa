/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SQLite for files that are not trusted: SQLite's header gives names and numbers, the library
 * itself is opened at run time, since nobody else who uses ours needs it (the journal, which does,
 * is another layer). Only where the header is (CUZK_HAVE_SQLITE_HEADER). */
#ifndef CUZK_TIMELINE_ACTIVITY_DB_H
#define CUZK_TIMELINE_ACTIVITY_DB_H

#include "timeline/activity.h"

#include <sqlite3.h>

#define CUZK_SQLITE_FUNCTIONS(X)                                                                   \
    X(open_v2)                                                                                     \
    X(close)                                                                                       \
    X(db_config)                                                                                   \
    X(limit)                                                                                       \
    X(exec)                                                                                        \
    X(progress_handler)                                                                            \
    X(prepare_v2)                                                                                  \
    X(bind_int64)                                                                                  \
    X(bind_text)                                                                                   \
    X(step)                                                                                        \
    X(reset)                                                                                       \
    X(column_int64)                                                                                \
    X(column_type)                                                                                 \
    X(column_text)                                                                                 \
    X(column_bytes)                                                                                \
    X(finalize)                                                                                    \
    X(errcode)                                                                                     \
    X(errmsg)

/* The library's functions, once a file was opened. */
typedef struct {
#define CUZK_SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;
    CUZK_SQLITE_FUNCTIONS(CUZK_SQLITE_MEMBER)
#undef CUZK_SQLITE_MEMBER
    bool usable;
} cuzk_sqlite_functions;
extern cuzk_sqlite_functions cuzk_sqlite;

/* A file. */
typedef struct {
    sqlite3 *db;
    uint64_t n_bytes;
    uint64_t steps_left; /* of SQLite's machine, in millions */
    uint64_t text_left;  /* bytes of texts that a file of its size can still have */
} cuzk_activity_db;

/** Open a file for reading: its views, triggers, virtual tables and computed columns are not used,
 *  reading it ends after so many steps as a file of its size can need, and no value of it is longer
 *  than 64 KiB.
 *
 *  out: close with cuzk_activity_db_close, also after a failure; stays where it is until then.
 *  Errors: E_FILE, E_FORMAT, E_MEMORY, E_UNSUPPORTED (no library). Thread-safe. */
cuzk_status cuzk_activity_db_open(cuzk_activity_db *out, const char *path,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

void cuzk_activity_db_close(cuzk_activity_db *db);

/** The error of the last call, as "what: why". Returns its status. */
cuzk_status cuzk_activity_db_fail(const cuzk_activity_db *db, const char *what, cuzk_error *err);

/** Returned: finalize it. Errors: E_FORMAT (such as a column that is not there), E_MEMORY. */
cuzk_status cuzk_activity_db_prepare(const cuzk_activity_db *db, sqlite3_stmt **s,
                                     const char *query, const char *what,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether there is a table of that name; a view or virtual table is none. */
cuzk_status cuzk_activity_db_has(const cuzk_activity_db *db, bool *yes, const char *table,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

/** Which of n columns a table has: is_there[i] is whether it has names[i]. Errors: E_FORMAT (one of
 *  them is computed: an expression of the file's would be run), E_MEMORY. */
cuzk_status cuzk_activity_db_columns(const cuzk_activity_db *db, bool *is_there,
                                     const char *const *names, size_t n, const char *table,
                                     cuzk_error *err) CUZK_WARN_UNUSED;

/* In place of the number of a name, where a kernel has none. */
#define CUZK_ACTIVITY_NO_NAME INT64_MIN

/** Name kernels: row i of `out` has the name of number ids[i], and n_ids rows are kernels, the
 * first ones. Texts are different ones, by their bytes. Errors: E_FORMAT, E_MEMORY. */
cuzk_status cuzk_activity_name_kernels(cuzk_activities *out, cuzk_activity_db *db,
                                       const int64_t *ids, size_t n_ids,
                                       cuzk_error *err) CUZK_WARN_UNUSED;

/** What may be missing: names of devices as the process of `out` numbers them, and the wall clock.
 *  Errors: E_FORMAT, E_MEMORY. */
cuzk_status cuzk_activity_read_session(cuzk_activities *out, cuzk_activity_db *db,
                                       cuzk_error *err) CUZK_WARN_UNUSED;

#endif
