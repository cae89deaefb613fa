/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the time of jobs went: for each job the way of the unit that was verified last, cut into
 * parts that add up to the job's time exactly. */
#ifndef CUZK_TIMELINE_JOB_TIMES_H
#define CUZK_TIMELINE_JOB_TIMES_H

#include "timeline/recording.h"

/* X(identifier, name): in the order of a unit's way */
#define CUZK_JOB_PARTS(X)                                                                          \
    X(QUEUE, "queue")        /* accepted → its witness begins: threads, memory, the circuit */   \
    X(WITNESS, "witness")    /* the witness is made */                                             \
    X(ATTEMPTS, "attempts")  /* ready → a proof was bad and it is ready again */                 \
    X(WORKER, "wait-worker") /* ready → a worker takes it */                                     \
    X(BEFORE,                                                                                      \
      "host-before") /* in prove.start without lane.wait and lane, until the lane is had */        \
    X(LANE_WAIT, "lane-wait")                                                                      \
    X(LANE, "lane")                                                                                \
    X(AFTER, "host-after") /* the lane is given back → the worker is free */                     \
    X(FINISH, "finish")    /* the worker is free → the proof is assembled, waiting included */   \
    X(VERIFY, "verify")    /* assembled → the verdict, waiting included */                       \
    X(JOURNAL, "journal")  /* the verdict → the journal has the job's end */

typedef enum {
#define CUZK_JOB_PART_ENUM(identifier, name) CUZK_JOB_PART_##identifier,
    CUZK_JOB_PARTS(CUZK_JOB_PART_ENUM)
#undef CUZK_JOB_PART_ENUM
        CUZK_JOB_PARTS_COUNT
} cuzk_job_part;

/** "host-before". Pure. */
const char *cuzk_job_part_name(cuzk_job_part part);

typedef struct {
    uint64_t job;
    uint64_t begin_ns, end_ns;
    uint8_t kind, priority, status;
    uint32_t text;       /* its id */
    uint64_t n_units;    /* partitions */
    uint64_t n_attempts; /* prove.start spans; more than n_units: some were proved again */
    int last_unit;       /* the one whose way is told; -1: none was verified */
    uint64_t part_ns[CUZK_JOB_PARTS_COUNT]; /* their sum is end - begin; all 0 without last_unit */
} cuzk_job_times;

/** The jobs that ended in a recording, in the order of their numbers.
 *
 *  out: free with free. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_job_times_get(cuzk_job_times **out, size_t *n, const cuzk_recording *recording,
                               cuzk_error *err) CUZK_WARN_UNUSED;

/** The job of that number among n that are in order, or NULL. Pure. */
cuzk_job_times *cuzk_job_times_find(cuzk_job_times *jobs, size_t n, uint64_t job);

/** The kind of job that a span is of, or CUZK_RECORDING_KINDS. Pure. */
uint8_t cuzk_span_kind(const cuzk_timespan *span);

/* Lengths of the spans of one name and kind of job. */
typedef struct {
    uint16_t name;
    uint8_t kind; /* CUZK_RECORDING_KINDS: spans that are of no kind */
    uint64_t n, total_ns;
    uint64_t p50_ns, p90_ns, p99_ns, max_ns; /* nearest rank: a length that was there */
} cuzk_span_times;

/** The lengths of spans, by name, then kind; instants are left out.
 *
 *  out: free with free. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_span_times_get(cuzk_span_times **out, size_t *n, const cuzk_recording *recording,
                                cuzk_error *err) CUZK_WARN_UNUSED;

#endif
