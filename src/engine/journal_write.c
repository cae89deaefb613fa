/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows that go into the journal's tables and out of them again. */
#include "engine/journal_store_impl.h"

#include <string.h>

static void bind_bytes(sqlite3_stmt *s, int index, const void *data, size_t n_bytes)
{
    /* a NULL pointer would bind NULL */
    sqlite3_bind_blob64(s, index, n_bytes == 0 ? "" : data, n_bytes, SQLITE_STATIC);
}

static void bind_sum(sqlite3_stmt *s, int index, const cuzk_store_sum *sum)
{
    sqlite3_bind_blob(s, index, sum->bytes, sizeof sum->bytes, SQLITE_STATIC);
}

static cuzk_status check_seq(uint64_t seq, cuzk_error *err)
{
    uint64_t max = ((uint64_t)1 << (62 - CUZK_STORE_KEY_BITS)) - 1;
    CUZK_FAIL_IF(seq == 0 || seq > max, err, CUZK_E_ARGUMENT,
                 "journal: job number %llu, expected 1 … %llu", (unsigned long long)seq,
                 (unsigned long long)max);
    return CUZK_OK;
}

/* A row that is already there: the caller's mistake, and the transaction goes on without it. */
static cuzk_status run_insert(cuzk_store *store, sqlite3_stmt *s, uint64_t seq, cuzk_error *err,
                              const char *doing)
{
    int rc = sqlite3_step(s);
    cuzk_status status = CUZK_OK;
    if ((rc & 0xff) == SQLITE_CONSTRAINT) {
        status = CUZK_FAIL(err, CUZK_E_ARGUMENT, "journal: job number %llu is in use",
                           (unsigned long long)seq);
    } else if (rc != SQLITE_DONE) {
        status = cuzk_store_fail(store, err, doing);
    }
    sqlite3_reset(s);
    return status;
}

cuzk_status cuzk_store_put_job(cuzk_store *store, const cuzk_journal_job *job, cuzk_store_sum sum,
                               cuzk_error *err)
{
    CUZK_TRY(check_seq(job->seq, err));
    CUZK_FAIL_IF(job->n_units > CUZK_STORE_PIECES_MAX, err, CUZK_E_ARGUMENT,
                 "journal: a job of %u units, expected at most %d", job->n_units,
                 CUZK_STORE_PIECES_MAX);
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_PUT_JOB);
    sqlite3_bind_int64(s, 1, (int64_t)job->seq);
    bind_bytes(s, 2, job->request_id, strlen(job->request_id));
    bind_bytes(s, 3, job->job_id, strlen(job->job_id));
    sqlite3_bind_int64(s, 4, job->kind);
    sqlite3_bind_int64(s, 5, job->priority);
    sqlite3_bind_int64(s, 6, job->n_units);
    bind_bytes(s, 7, job->digest, sizeof job->digest);
    sqlite3_bind_int64(s, 8, (int64_t)job->payload_bytes);
    sqlite3_bind_int64(s, 9, job->accepted_unix_ms);
    bind_sum(s, 10, &sum);
    CUZK_TRY(run_insert(store, s, job->seq, err, "writing a job"));
    if (job->seq >= store->next_seq) {
        store->next_seq = job->seq + 1;
    }
    return CUZK_OK;
}

cuzk_status cuzk_store_put_piece(cuzk_store *store, uint64_t seq, size_t piece, const void *data,
                                 size_t n_bytes, cuzk_store_sum sum, cuzk_error *err)
{
    CUZK_TRY(check_seq(seq, err));
    CUZK_FAIL_IF(piece >= CUZK_STORE_PIECES_MAX, err, CUZK_E_ARGUMENT,
                 "journal: the payload of job number %llu takes more than %d pieces of %d bytes",
                 (unsigned long long)seq, CUZK_STORE_PIECES_MAX, CUZK_STORE_PIECE_BYTES);
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_PUT_PIECE);
    sqlite3_bind_int64(s, 1, cuzk_store_key(seq, piece));
    bind_bytes(s, 2, data, n_bytes);
    bind_sum(s, 3, &sum);
    return run_insert(store, s, seq, err, "writing a payload");
}

cuzk_status cuzk_store_put_unit(cuzk_store *store, uint64_t seq, unsigned unit, const void *proof,
                                size_t n_bytes, cuzk_store_sum sum, cuzk_error *err)
{
    CUZK_TRY(check_seq(seq, err));
    CUZK_FAIL_IF(unit >= CUZK_STORE_PIECES_MAX, err, CUZK_E_ARGUMENT,
                 "journal: unit %u, expected at most %d", unit, CUZK_STORE_PIECES_MAX - 1);
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_PUT_UNIT);
    sqlite3_bind_int64(s, 1, cuzk_store_key(seq, unit));
    bind_bytes(s, 2, proof, n_bytes);
    bind_sum(s, 3, &sum);
    sqlite3_bind_int64(s, 4, (int64_t)seq);
    sqlite3_bind_int64(s, 5, unit);
    CUZK_TRY(cuzk_store_run(store, s, err, "writing a unit"));
    CUZK_FAIL_IF(sqlite3_changes(store->db) == 0, err, CUZK_E_NOT_FOUND,
                 "journal: unit %u of job number %llu: there is no such unit of an unfinished job",
                 unit, (unsigned long long)seq);
    return CUZK_OK;
}

static cuzk_status drop_parts(cuzk_store *store, uint64_t seq, cuzk_error *err)
{
    static const cuzk_store_statement both[] = {CUZK_STORE_DROP_PIECES, CUZK_STORE_DROP_UNITS};
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *s = cuzk_store_use(store, both[i]);
        sqlite3_bind_int64(s, 1, cuzk_store_key(seq, 0));
        sqlite3_bind_int64(s, 2, cuzk_store_key(seq + 1, 0));
        CUZK_TRY(cuzk_store_run(store, s, err, "deleting a payload"));
    }
    return CUZK_OK;
}

cuzk_status cuzk_store_put_end(cuzk_store *store, uint64_t seq, const cuzk_journal_end *end,
                               cuzk_store_sum sum, cuzk_error *err)
{
    CUZK_TRY(check_seq(seq, err));
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_PUT_END);
    sqlite3_bind_int64(s, 1, (int64_t)seq);
    sqlite3_bind_int64(s, 2, end->state);
    sqlite3_bind_int64(s, 3, (int64_t)end->status);
    bind_bytes(s, 4, end->error, strlen(end->error));
    bind_bytes(s, 5, end->answer, end->answer_bytes);
    bind_bytes(s, 6, end->times, sizeof end->times);
    sqlite3_bind_int64(s, 7, end->ended_unix_ms);
    bind_sum(s, 8, &sum);
    int rc = sqlite3_step(s);
    bool found = rc == SQLITE_ROW;
    uint64_t cost = found ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    if (found) {
        rc = sqlite3_step(s);
    }
    cuzk_status status = CUZK_OK;
    if (rc != SQLITE_DONE) {
        status = cuzk_store_fail(store, err, "writing the end of a job");
    } else if (!found) {
        status = CUZK_FAIL(err, CUZK_E_NOT_FOUND,
                           "journal: the end of job number %llu: there is no such unfinished job",
                           (unsigned long long)seq);
    }
    sqlite3_reset(s);
    CUZK_TRY(status);
    store->ended_bytes += cost;
    return drop_parts(store, seq, err);
}

cuzk_status cuzk_store_set_next_seq(cuzk_store *store, uint64_t next_seq, cuzk_error *err)
{
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_PUT_META);
    sqlite3_bind_text(s, 1, "next_seq", -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, (int64_t)next_seq);
    CUZK_TRY(cuzk_store_run(store, s, err, "writing the next job number"));
    store->next_seq = next_seq;
    return CUZK_OK;
}

cuzk_status cuzk_store_drop(cuzk_store *store, uint64_t seq, cuzk_error *err)
{
    CUZK_TRY(check_seq(seq, err));
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_DROP_JOB);
    sqlite3_bind_int64(s, 1, (int64_t)seq);
    int rc = sqlite3_step(s);
    uint64_t cost = 0;
    bool found = rc == SQLITE_ROW;
    if (found) {
        cost = sqlite3_column_int(s, 0) ? (uint64_t)sqlite3_column_int64(s, 1) : 0;
        rc = sqlite3_step(s);
    }
    cuzk_status status =
        rc == SQLITE_DONE ? CUZK_OK : cuzk_store_fail(store, err, "deleting a job");
    sqlite3_reset(s);
    CUZK_TRY(status);
    store->ended_bytes -= cost;
    CUZK_TRY(drop_parts(store, seq, err));
    /* the numbers of jobs that are gone are not used again */
    if (found && seq + 1 == store->next_seq) {
        CUZK_TRY(cuzk_store_set_next_seq(store, seq + 1, err));
    }
    return CUZK_OK;
}

uint64_t cuzk_store_ended_bytes(const cuzk_store *store)
{
    return store->ended_bytes;
}

/* The ended job to be deleted next, if there is one. */
static cuzk_status oldest(cuzk_store *store, bool *found, uint64_t *seq, int64_t before_ms,
                          uint64_t keep_bytes, cuzk_error *err)
{
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_OLDEST);
    int rc = sqlite3_step(s);
    *found = false;
    if (rc == SQLITE_ROW) {
        *seq = (uint64_t)sqlite3_column_int64(s, 0);
        *found = sqlite3_column_int64(s, 1) < before_ms || store->ended_bytes > keep_bytes;
    }
    cuzk_status status = rc == SQLITE_ROW || rc == SQLITE_DONE
                             ? CUZK_OK
                             : cuzk_store_fail(store, err, "looking for old results");
    sqlite3_reset(s);
    return status;
}

cuzk_status cuzk_store_expire(cuzk_store *store, unsigned *n_deleted, int64_t before_ms,
                              uint64_t keep_bytes, unsigned n_max, cuzk_error *err)
{
    for (*n_deleted = 0; *n_deleted < n_max; ++*n_deleted) {
        bool found;
        uint64_t seq = 0;
        CUZK_TRY(oldest(store, &found, &seq, before_ms, keep_bytes, err));
        if (!found) {
            break;
        }
        CUZK_TRY(cuzk_store_drop(store, seq, err));
    }
    return CUZK_OK;
}

bool cuzk_store_has_expired(cuzk_store *store, int64_t before_ms, uint64_t keep_bytes)
{
    bool found = false;
    uint64_t seq = 0;
    return oldest(store, &found, &seq, before_ms, keep_bytes, NULL) == CUZK_OK && found;
}
