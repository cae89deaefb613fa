/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The last minutes of the daemon's recording, in memory: pieces as they would be in a file, the
 * oldest dropped when there are too many bytes or minutes of them. */
#ifndef CUZK_SERVER_RECENT_H
#define CUZK_SERVER_RECENT_H

#include "base/text.h"
#include "timeline/span.h"

enum {
    CUZK_RECENT_SECONDS = 600, /* that are kept at most */
    CUZK_RECENT_OPEN = 256,    /* spans that have begun, of all threads */
    CUZK_RECENT_JOBS = 4096    /* unfinished jobs */
};

typedef struct cuzk_recent cuzk_recent;

/* A unit of a job was begun (1), or is to be begun again (-1). */
typedef struct {
    uint64_t job;
    int64_t units;
} cuzk_recent_start;

/** limit_bytes: of all pieces that are kept. Returned: cuzk_recent_destroy. NULL: no memory. */
cuzk_recent *cuzk_recent_create(uint64_t limit_bytes);
void cuzk_recent_destroy(cuzk_recent *recent);

/* Pieces (cuzk_recording_put_*) that were taken by now. */
typedef struct {
    const char *bytes;
    size_t n_bytes;
    size_t n_spans; /* in them */
    const cuzk_recent_start *starts;
    size_t n_starts; /* of them */
} cuzk_recent_pieces;

/** Keep pieces (borrowed for the call). What there is no memory for is left out and counted.
 *  Thread-safe. */
void cuzk_recent_put(cuzk_recent *recent, const cuzk_recent_pieces *pieces);

/** A job was accepted (accepted: its span, job.accepted; its number is not 0) / has ended. Each
 * copy tells of an unfinished job, and how many of its units were left, however long ago it was
 * accepted. Thread-safe. */
void cuzk_recent_job(cuzk_recent *recent, const cuzk_timespan *accepted);
void cuzk_recent_job_ended(cuzk_recent *recent, uint64_t job);

/** A span has begun: until it ends each copy tells it as one that ends with what the copy tells.
 *  Returns what cuzk_recent_end wants; -1: too many are open, it is not told. Takes no lock.
 *  Thread-safe. */
int cuzk_recent_begin(cuzk_recent *recent, const cuzk_timespan *span);
/** It has ended, and was put. slot: -1 is fine. Thread-safe. */
void cuzk_recent_end(cuzk_recent *recent, int slot);

/** Append the pieces of what was taken since since_ns and of what was open then, the newest
 *  n_spans_max spans at most, in whole pieces. Returns when the last of them was taken: what the
 *  pieces tell ends there; begin_ns: where it begins, not before since_ns. Thread-safe. */
uint64_t cuzk_recent_copy(cuzk_recent *recent, cuzk_text *text, uint64_t *begin_ns,
                          uint64_t since_ns, size_t n_spans_max);

#endif
