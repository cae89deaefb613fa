/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows that come out of the journal's tables. All is looked up by key, so that damage in one place
 * of the file costs the rows there and no others. */
#include "engine/journal_store_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A blob of a row with a NUL behind it. */
static cuzk_status copy_blob(char **out, size_t *n_bytes, sqlite3_stmt *s, int column,
                             cuzk_error *err)
{
    const void *data = sqlite3_column_blob(s, column);
    size_t n = (size_t)sqlite3_column_bytes(s, column);
    *out = (char *)malloc(n + 1);
    CUZK_FAIL_IF(*out == NULL, err, CUZK_E_MEMORY, "reading a job of the journal: no memory");
    if (n > 0) {
        memcpy(*out, data, n);
    }
    (*out)[n] = 0;
    *n_bytes = n;
    return CUZK_OK;
}

static cuzk_status check_sum(sqlite3_stmt *s, int column, cuzk_store_sum sum, uint64_t seq,
                             const char *what, cuzk_error *err)
{
    CUZK_FAIL_IF((size_t)sqlite3_column_bytes(s, column) != sizeof sum.bytes ||
                     memcmp(sqlite3_column_blob(s, column), sum.bytes, sizeof sum.bytes) != 0,
                 err, CUZK_E_FORMAT, "job number %llu: %s: the checksum does not match",
                 (unsigned long long)seq, what);
    return CUZK_OK;
}

static cuzk_status read_end(cuzk_store_row *row, sqlite3_stmt *s, uint64_t seq, cuzk_error *err)
{
    cuzk_journal_end *end = &row->entry.end;
    size_t n = 0;
    char *error = NULL, *answer = NULL;
    end->state = sqlite3_column_int(s, 9);
    end->status = (cuzk_status)sqlite3_column_int(s, 10);
    CUZK_TRY(copy_blob(&error, &n, s, 11, err));
    row->memory[1] = error;
    end->error = error;
    CUZK_TRY(copy_blob(&answer, &end->answer_bytes, s, 12, err));
    row->memory[2] = answer;
    end->answer = answer;
    CUZK_FAIL_IF((size_t)sqlite3_column_bytes(s, 13) != sizeof end->times, err, CUZK_E_FORMAT,
                 "job number %llu: %d bytes of times, expected %zu", (unsigned long long)seq,
                 sqlite3_column_bytes(s, 13), sizeof end->times);
    memcpy(end->times, sqlite3_column_blob(s, 13), sizeof end->times);
    end->ended_unix_ms = sqlite3_column_int64(s, 14);
    return check_sum(s, 15, cuzk_store_sum_end(seq, end), seq, "its end", err);
}

/* The row of table job. */
static cuzk_status read_job(cuzk_store_row *row, sqlite3_stmt *s, uint64_t seq, cuzk_error *err)
{
    cuzk_journal_job *job = &row->entry.job;
    char *request_id = NULL, *job_id = NULL;
    size_t n_request = 0, n_job = 0;
    job->seq = seq;
    CUZK_TRY(copy_blob(&request_id, &n_request, s, 0, err));
    job->request_id = request_id;
    row->memory[0] = request_id;
    cuzk_status status = copy_blob(&job_id, &n_job, s, 1, err);
    if (status == CUZK_OK) {
        char *both = (char *)realloc(request_id, n_request + n_job + 2);
        if (both == NULL) {
            status = CUZK_FAIL(err, CUZK_E_MEMORY, "reading a job of the journal: no memory");
        } else {
            memcpy(both + n_request + 1, job_id, n_job + 1);
            row->memory[0] = both;
            job->request_id = both;
            job->job_id = both + n_request + 1;
        }
    }
    free(job_id);
    CUZK_TRY(status);
    job->kind = (unsigned)sqlite3_column_int64(s, 2);
    job->priority = (unsigned)sqlite3_column_int64(s, 3);
    job->n_units = (unsigned)sqlite3_column_int64(s, 4);
    CUZK_FAIL_IF((size_t)sqlite3_column_bytes(s, 5) != sizeof job->digest, err, CUZK_E_FORMAT,
                 "job number %llu: a digest of %d bytes, expected %zu", (unsigned long long)seq,
                 sqlite3_column_bytes(s, 5), sizeof job->digest);
    memcpy(job->digest, sqlite3_column_blob(s, 5), sizeof job->digest);
    job->payload_bytes = (size_t)sqlite3_column_int64(s, 6);
    job->accepted_unix_ms = sqlite3_column_int64(s, 7);
    CUZK_TRY(check_sum(s, 8, cuzk_store_sum_job(job), seq, "as it was accepted", err));
    CUZK_FAIL_IF(job->n_units > CUZK_STORE_PIECES_MAX, err, CUZK_E_FORMAT,
                 "job number %llu: %u units, expected at most %d", (unsigned long long)seq,
                 job->n_units, CUZK_STORE_PIECES_MAX);
    row->entry.has_ended = sqlite3_column_type(s, 14) != SQLITE_NULL;
    return row->entry.has_ended ? read_end(row, s, seq, err) : CUZK_OK;
}

static cuzk_status read_piece(cuzk_store *store, char *out, uint64_t seq, size_t piece,
                              size_t n_bytes, cuzk_error *err)
{
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_GET_PIECE);
    sqlite3_bind_int64(s, 1, cuzk_store_key(seq, piece));
    int rc = sqlite3_step(s);
    cuzk_status status = CUZK_OK;
    if (rc == SQLITE_ROW && (size_t)sqlite3_column_bytes(s, 0) == n_bytes) {
        /* column_blob reads the pages: it is where damage and lack of memory show */
        const void *data = sqlite3_column_blob(s, 0);
        if (data == NULL) {
            status = cuzk_store_fail(store, err, "reading a payload");
        } else {
            memcpy(out, data, n_bytes);
            status = check_sum(s, 1, cuzk_store_sum_piece(seq, piece, data, n_bytes), seq,
                               "its payload", err);
        }
    } else if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT,
                           "job number %llu: piece %zu of its payload: %d bytes, expected %zu",
                           (unsigned long long)seq, piece,
                           rc == SQLITE_ROW ? sqlite3_column_bytes(s, 0) : 0, n_bytes);
    } else {
        status = cuzk_store_fail(store, err, "reading a payload");
    }
    sqlite3_reset(s);
    return status;
}

static cuzk_status read_payload(cuzk_store *store, cuzk_store_row *row, cuzk_error *err)
{
    cuzk_journal_job *job = &row->entry.job;
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_PIECES_SIZE);
    sqlite3_bind_int64(s, 1, cuzk_store_key(job->seq, 0));
    sqlite3_bind_int64(s, 2, cuzk_store_key(job->seq + 1, 0));
    cuzk_status status = CUZK_OK;
    if (sqlite3_step(s) != SQLITE_ROW) {
        status = cuzk_store_fail(store, err, "reading the size of a payload");
    } else if (sqlite3_column_int64(s, 0) != (int64_t)job->payload_bytes) {
        status =
            CUZK_FAIL(err, CUZK_E_FORMAT, "job number %llu: %lld bytes of payload, expected %zu",
                      (unsigned long long)job->seq, (long long)sqlite3_column_int64(s, 0),
                      job->payload_bytes);
    }
    sqlite3_reset(s);
    CUZK_TRY(status);
    char *payload = (char *)malloc(job->payload_bytes + 1);
    CUZK_FAIL_IF(payload == NULL, err, CUZK_E_MEMORY, "job number %llu: its payload of %zu bytes",
                 (unsigned long long)job->seq, job->payload_bytes);
    row->memory[1] = payload;
    job->payload = payload;
    size_t n_pieces = cuzk_store_n_pieces(job->payload_bytes);
    for (size_t k = 0; k < n_pieces; k++) {
        CUZK_TRY(read_piece(store, payload + k * CUZK_STORE_PIECE_BYTES, job->seq, k,
                            cuzk_store_piece_bytes(job->payload_bytes, k), err));
    }
    return CUZK_OK;
}

/* Proofs of a job's units, one behind the other in memory[2]. */
typedef struct {
    unsigned *units;
    const void **proofs;
    size_t *sizes;
    char *bytes;
    size_t n_bytes;
} unit_list;

/* Append a unit's proof if there is one. */
static cuzk_status read_unit(cuzk_store *store, cuzk_store_row *row, unit_list *list, unsigned unit,
                             cuzk_error *err)
{
    uint64_t seq = row->entry.job.seq;
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_GET_UNIT);
    sqlite3_bind_int64(s, 1, cuzk_store_key(seq, unit));
    int rc = sqlite3_step(s);
    cuzk_status status = CUZK_OK;
    if (rc == SQLITE_ROW) {
        size_t n = (size_t)sqlite3_column_bytes(s, 0);
        const void *proof = sqlite3_column_blob(s, 0);
        if ((proof == NULL && n > 0) || check_sum(s, 1, cuzk_store_sum_unit(seq, unit, proof, n),
                                                  seq, "a unit", NULL) != CUZK_OK) {
            row->n_bad_units++;
        } else {
            char *bytes = (char *)realloc(list->bytes, list->n_bytes + n + 1);
            if (bytes == NULL) {
                status = CUZK_FAIL(err, CUZK_E_MEMORY, "reading units of the journal: no memory");
            } else {
                memcpy(bytes + list->n_bytes, n == 0 ? "" : proof, n);
                list->bytes = bytes;
                list->units[row->entry.n_done] = unit;
                list->sizes[row->entry.n_done++] = n;
                list->n_bytes += n;
            }
        }
    } else if (rc != SQLITE_DONE) {
        status = cuzk_store_fail(store, err, "reading a unit");
        if (status == CUZK_E_FORMAT) { /* this unit is proved again */
            cuzk_error_clear(err);
            row->n_bad_units++;
            status = CUZK_OK;
        }
    }
    sqlite3_reset(s);
    return status;
}

static cuzk_status read_units(cuzk_store *store, cuzk_store_row *row, cuzk_error *err)
{
    unsigned n_units = row->entry.job.n_units;
    unit_list list = {0};
    char *block = (char *)calloc(n_units + 1, sizeof(void *) + sizeof(size_t) +
                                                  sizeof(unsigned)); /* n_units ≤ 4096 */
    CUZK_FAIL_IF(block == NULL, err, CUZK_E_MEMORY, "reading units of the journal: no memory");
    row->memory[3] = block;
    list.proofs = (const void **)(void *)block;
    list.sizes = (size_t *)(void *)(block + (n_units + 1) * sizeof(void *));
    list.units = (unsigned *)(void *)(block + (n_units + 1) * (sizeof(void *) + sizeof(size_t)));
    for (unsigned unit = 0; unit < n_units; unit++) {
        cuzk_status status = read_unit(store, row, &list, unit, err);
        row->memory[2] = list.bytes;
        CUZK_TRY(status);
    }
    size_t at = 0;
    for (unsigned i = 0; i < row->entry.n_done; i++) {
        list.proofs[i] = list.bytes + at;
        at += list.sizes[i];
    }
    row->entry.units = list.units;
    row->entry.proofs = list.proofs;
    row->entry.proof_bytes = list.sizes;
    return CUZK_OK;
}

void cuzk_store_row_clear(cuzk_store_row *row)
{
    for (size_t i = 0; i < sizeof row->memory / sizeof row->memory[0]; i++) {
        free(row->memory[i]);
    }
    memset(row, 0, sizeof *row);
}

void *cuzk_store_row_take_payload(cuzk_store_row *row, size_t *n_bytes)
{
    void *payload = row->memory[1]; /* where read_payload has put it */
    *n_bytes = row->entry.job.payload_bytes;
    row->memory[1] = NULL;
    row->entry.job.payload = NULL;
    return payload;
}

cuzk_status cuzk_store_load(cuzk_store *store, cuzk_store_row *row, uint64_t seq, bool with_payload,
                            cuzk_error *err)
{
    memset(row, 0, sizeof *row);
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_GET_JOB);
    sqlite3_bind_int64(s, 1, (int64_t)seq);
    int rc = sqlite3_step(s);
    cuzk_status status;
    if (rc == SQLITE_ROW) {
        status = read_job(row, s, seq, err);
    } else if (rc == SQLITE_DONE) {
        status = CUZK_FAIL(err, CUZK_E_NOT_FOUND, "there is no job number %llu",
                           (unsigned long long)seq);
    } else {
        status = cuzk_store_fail(store, err, "reading a job");
    }
    sqlite3_reset(s);
    if (status == CUZK_OK && !row->entry.has_ended) {
        status = with_payload ? read_payload(store, row, err) : CUZK_OK;
        if (status == CUZK_OK) {
            status = read_units(store, row, err);
        }
    }
    if (status != CUZK_OK) {
        cuzk_store_row_clear(row);
    }
    return status;
}

cuzk_status cuzk_store_find(cuzk_store *store, uint64_t *seq, const char *id, cuzk_error *err)
{
    sqlite3_stmt *s = cuzk_store_use(store, CUZK_STORE_FIND_JOB);
    sqlite3_bind_blob64(s, 1, id, strlen(id), SQLITE_STATIC);
    int rc = sqlite3_step(s);
    cuzk_status status = CUZK_OK;
    if (rc == SQLITE_ROW) {
        *seq = (uint64_t)sqlite3_column_int64(s, 0);
    } else if (rc == SQLITE_DONE) {
        status = CUZK_FAIL(err, CUZK_E_NOT_FOUND, "there is no such ended job");
    } else {
        status = cuzk_store_fail(store, err, "looking for a job");
    }
    sqlite3_reset(s);
    return status;
}

cuzk_status cuzk_store_each(cuzk_store *store, bool with_payload,
                            cuzk_status (*each)(void *user, const cuzk_journal_entry *entry,
                                                cuzk_error *err),
                            void *user, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, "SELECT seq FROM job ORDER BY seq", -1, &s, NULL) !=
        SQLITE_OK) {
        return cuzk_store_fail(store, err, "reading the jobs");
    }
    cuzk_status status = CUZK_OK;
    int rc;
    while (status == CUZK_OK && (rc = sqlite3_step(s)) != SQLITE_DONE) {
        if (rc != SQLITE_ROW) {
            status = cuzk_store_fail(store, err, "reading the jobs");
            break;
        }
        cuzk_store_row row;
        status =
            cuzk_store_load(store, &row, (uint64_t)sqlite3_column_int64(s, 0), with_payload, err);
        if (status == CUZK_OK && row.n_bad_units > 0) {
            status = CUZK_FAIL(err, CUZK_E_FORMAT, "job number %llu: %u damaged units",
                               (unsigned long long)row.entry.job.seq, row.n_bad_units);
        }
        if (status == CUZK_OK && each != NULL) {
            status = each(user, &row.entry, err);
        }
        cuzk_store_row_clear(&row);
    }
    sqlite3_finalize(s);
    return status;
}

uint64_t cuzk_store_next_seq(const cuzk_store *store)
{
    return store->next_seq;
}

/* Keys in one direction, while they can be read and go that way. Returns whether all were read. */
static bool scan(cuzk_store *store, const char *table, bool forwards, uint64_t *last,
                 void (*found)(void *user, uint64_t key), void *user)
{
    char query[100];
    snprintf(query, sizeof query, "SELECT key FROM (SELECT rowid AS key FROM %s) ORDER BY key %s",
             table, forwards ? "ASC" : "DESC");
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, query, -1, &s, NULL) != SQLITE_OK) {
        return false;
    }
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t key = (uint64_t)sqlite3_column_int64(s, 0);
        if (forwards ? key <= *last : key >= *last) {
            break;
        }
        *last = key;
        found(user, key);
    }
    sqlite3_finalize(s);
    return rc == SQLITE_DONE;
}

void cuzk_store_scan_keys(cuzk_store *store, const char *table,
                          void (*found)(void *user, uint64_t key), void *user, uint64_t *from_below,
                          uint64_t *below)
{
    uint64_t first = 0, last = UINT64_MAX;
    if (scan(store, table, true, &first, found, user)) {
        last = first + 1;
    } else {
        scan(store, table, false, &last, found, user);
    }
    *from_below = first + 1;
    *below = last;
}
