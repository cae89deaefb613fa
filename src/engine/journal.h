/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The journal: what must outlive the process. Accepted jobs with their payloads, finished units,
 * answers. One SQLite file in WAL mode with synchronous FULL.
 *
 * A thread of its own writes: what is asked for while it commits goes into the next commit
 * together, so that many jobs share one sync of the disk. Requests are written in the order in
 * which they were made, but for payloads over 4 MiB: they take several commits, in which requests
 * about other jobs pass them. Callbacks come from that thread, after the commit. A crash at any
 * instant loses nothing that was answered with CUZK_OK.
 *
 * Beside PATH lie PATH-wal, the log, and PATH.lock, whose lock tells that a process has the journal
 * open. A process that sets a limit on the size of its files must ignore SIGXFSZ. */
#ifndef CUZK_ENGINE_JOURNAL_H
#define CUZK_ENGINE_JOURNAL_H

#include "base/status.h"

#include <stdint.h>

typedef struct cuzk_journal cuzk_journal;

typedef struct {
    const char *path;      /* "…/journal.db"; its folder is made if it is not there */
    uint64_t keep_ns;      /* ended jobs are deleted after this */
    uint64_t keep_bytes;   /* and the oldest of them earlier where all take more: each counts its
                              answer, its texts and 512 */
    uint64_t unhurried_ns; /* how long a job that is not hurried waits for others; 0: 2 ms */
    /* FOR TESTS: called before each commit; anything but CUZK_OK is taken for the disk's answer. */
    cuzk_status (*fault)(void *user, cuzk_error *err);
    void *fault_user;
} cuzk_journal_options;

typedef struct {
    bool was_damaged;
    uint64_t n_salvaged;  /* jobs that a damaged file still gave */
    uint64_t n_lost;      /* rows that could not be read, as far as they can be counted */
    char set_aside[1024]; /* the new name of the damaged file */
    char reason[256];
    unsigned wide_mode; /* permissions of a file that others than its owner had access to; they are
                           taken away. 0: there was none */
    bool stays_wide;    /* that failed: the file is somebody else's */
} cuzk_journal_report;

/** Open or make a journal. A file that is damaged is read as far as it goes into a new one and set
 *  aside as PATH.damaged-TIME; refused and not touched are one of a newer version and a file that
 *  is no journal and shows no trace of one. Two processes cannot have one journal open. Returned:
 *  cuzk_journal_close. Errors: E_FILE, E_UNSUPPORTED, E_MEMORY. */
cuzk_status cuzk_journal_open(cuzk_journal **out, cuzk_journal_report *report,
                              const cuzk_journal_options *options,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** Write what was asked for, then close. NULL is fine. */
void cuzk_journal_close(cuzk_journal *journal);

/* A job as it was accepted. Texts and payload may hold any bytes but, in request_id and job_id,
 * NUL. */
typedef struct {
    uint64_t seq; /* increasing over all runs; orders jobs of one priority */
    const char *request_id, *job_id;
    unsigned kind, priority, n_units;
    uint8_t digest[32];
    const void *payload;
    size_t payload_bytes;
    int64_t accepted_unix_ms;
    bool is_unhurried; /* nobody is told of its acceptance but with its end: it is written with
                          the next request, or after unhurried_ns. A job that is done by then costs
                          one commit and not two. */
} cuzk_journal_job;

/* status: CUZK_OK when it is on the disk. Anything else: it is not and will not be; error says why
 * and is borrowed for the call. E_FILE: the disk; E_NOT_FOUND: there is no such unfinished job or
 * unit; E_ARGUMENT: a number that is in use or too large; E_MEMORY: maybe from the caller's thread.
 */
typedef void (*cuzk_journal_done)(void *user, cuzk_status status, const char *error);

/** Write a job. job, but for the payload, is copied; the payload is borrowed until done is called.
 */
void cuzk_journal_accept(cuzk_journal *journal, const cuzk_journal_job *job, cuzk_journal_done done,
                         void *user);

/** Write the proof of a finished unit. proof: copied. done may be NULL. */
void cuzk_journal_unit(cuzk_journal *journal, uint64_t seq, unsigned unit, const void *proof,
                       size_t n_bytes, cuzk_journal_done done, void *user);

/** Write a job's end: its payload and units are deleted, the answer is kept. state: the engine's;
 *  times: as many as the engine wants back. All copied. done may be NULL. */
typedef struct {
    int state;
    cuzk_status status;
    const char *error;
    const void *answer;
    size_t answer_bytes;
    uint64_t times[6];
    int64_t ended_unix_ms;
} cuzk_journal_end;
void cuzk_journal_finish(cuzk_journal *journal, uint64_t seq, const cuzk_journal_end *end,
                         cuzk_journal_done done, void *user);

/** Delete a job with all that belongs to it. */
void cuzk_journal_drop(cuzk_journal *journal, uint64_t seq);

/* What the journal held when it was opened, job by job in the order of seq. */
typedef struct {
    cuzk_journal_job job; /* payload NULL, see cuzk_journal_load; payload_bytes 0 for ended ones */
    bool has_ended;
    cuzk_journal_end end;
    /* finished units */
    const unsigned *units;
    const void *const *proofs;
    const size_t *proof_bytes;
    unsigned n_done;
} cuzk_journal_entry; /* borrowed for the call */

/** Read all jobs that are written. For the start: writes wait for it. each: E_… ends the reading
 *  with it.
 *  next_seq: above every seq that the journal ever held. */
cuzk_status cuzk_journal_read(cuzk_journal *journal, uint64_t *next_seq,
                              cuzk_status (*each)(void *user, const cuzk_journal_entry *entry,
                                                  cuzk_error *err),
                              void *user, cuzk_error *err) CUZK_WARN_UNUSED;

/** Read the payload of an unfinished job. done: called once from the journal's thread; payload:
 *  handed over (free), NULL when status is not CUZK_OK: E_NOT_FOUND, E_MEMORY, E_FORMAT (damaged),
 *  E_FILE. */
void cuzk_journal_load(cuzk_journal *journal, uint64_t seq,
                       void (*done)(void *user, cuzk_status status, const char *error,
                                    void *payload, size_t n_bytes),
                       void *user);

/** Look for the ended job whose job_id is `id`, the youngest if there are several. id: copied.
 * done: called once from the journal's thread, after what was asked for before; entry: borrowed for
 * the call, NULL when status is not CUZK_OK: E_NOT_FOUND, E_MEMORY (maybe from the caller's
 * thread), E_FORMAT, E_FILE. */
void cuzk_journal_find(cuzk_journal *journal, const char *id,
                       void (*done)(void *user, cuzk_status status, const char *error,
                                    const cuzk_journal_entry *entry),
                       void *user);

/** Bytes of the file and its log. */
uint64_t cuzk_journal_bytes(const cuzk_journal *journal);

#endif
