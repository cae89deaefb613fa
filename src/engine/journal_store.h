/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The journal's tables: one SQLite file and the statements on it. No threads here, no queue; one
 * caller at a time.
 *
 *     job      one row a job: how it was accepted and, once it has ended, how
 *     payload  payloads of unfinished jobs, cut into pieces, key = seq * 4096 + piece
 *     unit     proofs of finished units of unfinished jobs, key = seq * 4096 + unit
 *
 * SQLite notices damage of its own structure but not of contents: each row carries a checksum over
 * its contents and its key. */
#ifndef CUZK_ENGINE_JOURNAL_STORE_H
#define CUZK_ENGINE_JOURNAL_STORE_H

#include "engine/journal.h"

typedef struct cuzk_store cuzk_store;

enum {
    CUZK_STORE_VERSION = 1,
    CUZK_STORE_APPLICATION = 0x63757a6b, /* "cuzk": SQLite's application_id */
    CUZK_STORE_PIECE_BYTES = 4 << 20,
    CUZK_STORE_PIECES_MAX = 4096, /* of a payload; and units of a job */
    CUZK_STORE_SUM_BYTES = 16
};

/* First bytes of BLAKE2b-512 over a row. */
typedef struct {
    uint8_t bytes[CUZK_STORE_SUM_BYTES];
} cuzk_store_sum;

typedef enum {
    CUZK_STORE_LIVE,    /* WAL, synchronous FULL, locked; made if it is not there */
    CUZK_STORE_REBUILD, /* a new file that is written once, as a whole */
    CUZK_STORE_DAMAGED  /* to read what can be read */
} cuzk_store_mode;

/** Open a file. Returned: cuzk_store_close.
 *  Errors: E_FILE, E_MEMORY; E_UNSUPPORTED: of a newer version, or not a journal at all; E_FORMAT:
 *  damaged so far that it cannot be opened. */
cuzk_status cuzk_store_open(cuzk_store **out, const char *path, cuzk_store_mode mode,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** NULL is fine. Not in a transaction. */
void cuzk_store_close(cuzk_store *store);

/* ---- transactions ---------------------------------------------------------------------------- */

/** Errors of these three: E_FILE with SQLite's and the system's words; then roll back. */
cuzk_status cuzk_store_begin(cuzk_store *store, cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_store_commit(cuzk_store *store, cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_store_rollback(cuzk_store *store);

/** Move the log's pages into the file when there are more than n_pages of them, so that the log
 *  starts anew. A disk that is full is no error: the next call tries again. */
void cuzk_store_checkpoint(cuzk_store *store, int n_pages);

/* ---- writing, in a transaction --------------------------------------------------------------- */

/* Errors of all: E_FILE: the transaction must be rolled back. E_NOT_FOUND (no such unfinished job
 * or unit), E_ARGUMENT (seq in use or too large): nothing was written, the transaction can go on.
 */

/** Checksums, for the threads that ask for a write. */
cuzk_store_sum cuzk_store_sum_job(const cuzk_journal_job *job);
cuzk_store_sum cuzk_store_sum_piece(uint64_t seq, size_t piece, const void *data, size_t n_bytes);
cuzk_store_sum cuzk_store_sum_unit(uint64_t seq, unsigned unit, const void *proof, size_t n_bytes);
cuzk_store_sum cuzk_store_sum_end(uint64_t seq, const cuzk_journal_end *end);

/** Pieces of a payload, and the bytes of one of them. */
size_t cuzk_store_n_pieces(size_t payload_bytes);
size_t cuzk_store_piece_bytes(size_t payload_bytes, size_t piece);

/** A job's row; its pieces are written before it, also in earlier transactions. */
cuzk_status cuzk_store_put_job(cuzk_store *store, const cuzk_journal_job *job, cuzk_store_sum sum,
                               cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_store_put_piece(cuzk_store *store, uint64_t seq, size_t piece, const void *data,
                                 size_t n_bytes, cuzk_store_sum sum,
                                 cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_store_put_unit(cuzk_store *store, uint64_t seq, unsigned unit, const void *proof,
                                size_t n_bytes, cuzk_store_sum sum,
                                cuzk_error *err) CUZK_WARN_UNUSED;
cuzk_status cuzk_store_put_end(cuzk_store *store, uint64_t seq, const cuzk_journal_end *end,
                               cuzk_store_sum sum, cuzk_error *err) CUZK_WARN_UNUSED;
/** Delete all of a job; none is fine. */
cuzk_status cuzk_store_drop(cuzk_store *store, uint64_t seq, cuzk_error *err) CUZK_WARN_UNUSED;

/** Bytes that ended jobs count: their texts and answers, and 512 each. */
uint64_t cuzk_store_ended_bytes(const cuzk_store *store);

/** Delete ended jobs, the one that ended first first: those that ended before `before_ms`, and
 *  until the rest counts at most keep_bytes; at most n_max. n_deleted: how many. */
cuzk_status cuzk_store_expire(cuzk_store *store, unsigned *n_deleted, int64_t before_ms,
                              uint64_t keep_bytes, unsigned n_max,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** Whether there is anything for cuzk_store_expire to do. Outside of a transaction. */
bool cuzk_store_has_expired(cuzk_store *store, int64_t before_ms, uint64_t keep_bytes);

/** Give free pages at the end of the file back to the file system, at most n_pages. Its own
 *  transaction; what fails is left for the next time. Returns whether there were many. */
bool cuzk_store_shrink(cuzk_store *store, int n_pages);

/* ---- reading --------------------------------------------------------------------------------- */

/* A job with all that belongs to it, in memory of its own. */
typedef struct {
    cuzk_journal_entry entry;
    unsigned n_bad_units; /* units whose proof is damaged: they are not in entry */
    void *memory[4];
} cuzk_store_row;

/** Read a job. row: cuzk_store_row_clear. with_payload: else payload is NULL. Errors: E_NOT_FOUND;
 *  E_FORMAT: it is damaged; E_FILE, E_MEMORY. */
cuzk_status cuzk_store_load(cuzk_store *store, cuzk_store_row *row, uint64_t seq, bool with_payload,
                            cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_store_row_clear(cuzk_store_row *row);
/** Its payload is the caller's from now on: free. */
void *cuzk_store_row_take_payload(cuzk_store_row *row, size_t *n_bytes);

/** The number of an ended job: cuzk_journal_find. Errors: E_NOT_FOUND, E_FORMAT, E_FILE. */
cuzk_status cuzk_store_find(cuzk_store *store, uint64_t *seq, const char *id,
                            cuzk_error *err) CUZK_WARN_UNUSED;

/** Read all jobs in the order of seq, as load does; each may be NULL. Errors: those of load and of
 * each; E_FORMAT also for a damaged unit. */
cuzk_status cuzk_store_each(cuzk_store *store, bool with_payload,
                            cuzk_status (*each)(void *user, const cuzk_journal_entry *entry,
                                                cuzk_error *err),
                            void *user, cuzk_error *err) CUZK_WARN_UNUSED;

/** Check structure, every row, and that every unit belongs to an unfinished job; pieces without a
 * job (of an acceptance that was not completed) are deleted. Errors: E_FORMAT with the first damage
 * found; E_FILE. */
cuzk_status cuzk_store_check(cuzk_store *store, cuzk_error *err) CUZK_WARN_UNUSED;

/** Above every seq that the file ever held. */
uint64_t cuzk_store_next_seq(const cuzk_store *store);

/** Raise it: for a rebuilt file. */
cuzk_status cuzk_store_set_next_seq(cuzk_store *store, uint64_t next_seq,
                                    cuzk_error *err) CUZK_WARN_UNUSED;

/** The keys of a table of a damaged file, as far as they can be read: forwards from the first,
 * then, where that does not get through, backwards from the last. Some may come twice. Keys in
 *  [from_below, below) were not reached; below is UINT64_MAX where the end could not be read. */
void cuzk_store_scan_keys(cuzk_store *store, const char *table,
                          void (*found)(void *user, uint64_t key), void *user, uint64_t *from_below,
                          uint64_t *below);

#endif
