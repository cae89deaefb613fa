/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the journal's store share. */
#ifndef CUZK_ENGINE_JOURNAL_STORE_IMPL_H
#define CUZK_ENGINE_JOURNAL_STORE_IMPL_H

#include "engine/journal_store.h"

#include <sqlite3.h>

/* Every statement, prepared once. Parameters are numbered. */
#define CUZK_STORE_STATEMENTS(X)                                                                   \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(PUT_JOB,                                                                                     \
      "INSERT INTO job(seq, request_id, job_id, kind, priority, n_units, digest, payload_bytes, "  \
      "accepted_ms, sum) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")                         \
    X(PUT_PIECE, "INSERT INTO payload(key, data, sum) VALUES(?1, ?2, ?3)")                         \
    X(PUT_UNIT, "INSERT OR REPLACE INTO unit(key, proof, sum) SELECT ?1, ?2, ?3 WHERE EXISTS("     \
                "SELECT 1 FROM job WHERE seq = ?4 AND ended_ms IS NULL AND ?5 < n_units)")         \
    X(PUT_END, "UPDATE job SET state = ?2, status = ?3, error = ?4, answer = ?5, times = ?6, "     \
               "ended_ms = ?7, end_sum = ?8 WHERE seq = ?1 AND ended_ms IS NULL "                  \
               "RETURNING " CUZK_STORE_COST)                                                       \
    X(DROP_PIECES, "DELETE FROM payload WHERE key >= ?1 AND key < ?2")                             \
    X(DROP_UNITS, "DELETE FROM unit WHERE key >= ?1 AND key < ?2")                                 \
    X(DROP_JOB, "DELETE FROM job WHERE seq = ?1 RETURNING ended_ms IS NOT NULL, " CUZK_STORE_COST) \
    X(OLDEST,                                                                                      \
      "SELECT seq, ended_ms FROM job WHERE ended_ms IS NOT NULL ORDER BY ended_ms, seq LIMIT 1")   \
    X(GET_JOB,                                                                                     \
      "SELECT request_id, job_id, kind, priority, n_units, digest, payload_bytes, accepted_ms, "   \
      "sum, state, status, error, answer, times, ended_ms, end_sum FROM job WHERE seq = ?1")       \
    X(FIND_JOB,                                                                                    \
      "SELECT seq FROM job WHERE job_id = ?1 AND ended_ms IS NOT NULL ORDER BY seq DESC LIMIT 1")  \
    X(GET_PIECE, "SELECT data, sum FROM payload WHERE key = ?1")                                   \
    X(PIECES_SIZE,                                                                                 \
      "SELECT coalesce(sum(length(data)), 0) FROM payload WHERE key >= ?1 AND key < ?2")           \
    X(GET_UNIT, "SELECT proof, sum FROM unit WHERE key = ?1")                                      \
    X(GET_META, "SELECT value FROM meta WHERE name = ?1")                                          \
    X(PUT_META, "INSERT OR REPLACE INTO meta(name, value) VALUES(?1, ?2)")

/* What an ended job counts in the retention by bytes. */
#define CUZK_STORE_COST "length(request_id) + length(job_id) + length(error) + length(answer) + 512"

typedef enum {
#define CUZK_STORE_ENUM(name, sql) CUZK_STORE_##name,
    CUZK_STORE_STATEMENTS(CUZK_STORE_ENUM)
#undef CUZK_STORE_ENUM
        CUZK_STORE_N_STATEMENTS
} cuzk_store_statement;

struct cuzk_store {
    sqlite3 *db;
    sqlite3_stmt *statements[CUZK_STORE_N_STATEMENTS];
    int log_pages; /* in the log after the last commit */
    /* of the running transaction's end, and as they were at its begin */
    uint64_t ended_bytes, ended_bytes_at_begin;
    uint64_t next_seq, next_seq_at_begin;
};

/* Keys of a job's pieces and units: cuzk_store_key(seq, 0) … cuzk_store_key(seq + 1, 0) - 1. */
enum { CUZK_STORE_KEY_BITS = 12 };
static inline int64_t cuzk_store_key(uint64_t seq, uint64_t part)
{
    return (int64_t)(seq << CUZK_STORE_KEY_BITS | part);
}

/** Record what SQLite says: E_MEMORY, E_FORMAT (damaged) or E_FILE. */
cuzk_status cuzk_store_fail(cuzk_store *store, cuzk_error *err, const char *doing);

/** A statement that is ready to be bound. */
sqlite3_stmt *cuzk_store_use(cuzk_store *store, cuzk_store_statement statement);

/** Step a statement that returns no row, and reset it. */
cuzk_status cuzk_store_run(cuzk_store *store, sqlite3_stmt *s, cuzk_error *err,
                           const char *doing) CUZK_WARN_UNUSED;

#endif
