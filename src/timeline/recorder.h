/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The process's timeline as it is written: each thread puts spans into a ring of its own, without
 * locks or (after its first span) allocation, and with a system call only where its ring is half
 * full and the reader sleeps; a reader takes them out. What a slow reader has not taken is
 * overwritten, counted and told: recording never holds up work.
 *
 * There is one recorder in a process, as there is one clock; until it is started, spans cost a load
 * and a branch. */
#ifndef CUZK_TIMELINE_RECORDER_H
#define CUZK_TIMELINE_RECORDER_H

#include "base/status.h"
#include "timeline/span.h"

#include <stdbool.h>

enum {
    CUZK_RECORDER_THREADS = 1024,      /* that record at a time; more are counted as lost */
    CUZK_RECORDER_RING = 4096,         /* spans of a thread that wait to be taken */
    CUZK_RECORDER_PERIOD_MS = 500,     /* what was put is taken after at most so long */
    CUZK_RECORDER_TEXTS = 8192,        /* texts that wait to be taken */
    CUZK_RECORDER_TEXT_BYTES = 1 << 20 /* their bytes */
};

/** Begin to take spans. Idempotent. Memory: 196 KiB for each thread that records, 1 MiB for texts;
 *  kept until the process ends. Errors: E_MEMORY. Thread-safe. */
cuzk_status cuzk_recorder_start(cuzk_error *err) CUZK_WARN_UNUSED;

/** Spans are dropped from now on; what was put can still be taken. Thread-safe. */
void cuzk_recorder_stop(void);

bool cuzk_recorder_is_on(void);

/** Put a span into this thread's ring; its `thread` is set when it is taken. Nothing happens when
 * no recorder was started. Thread-safe; not for signal handlers. */
void cuzk_recorder_put(const cuzk_timespan *span);

/** From here on this thread works on the job, unit, device and worker of `of` (its name and times
 * are not looked at), for cuzk_recorder_put_inner. Thread-safe. */
void cuzk_recorder_work_on(const cuzk_timespan *of);

/** Put a span of what this thread works on: from a layer that does not know jobs. Times are the
 *  host's clock. Device and worker are put where the name is of one (cuzk_span_about_of). Nothing
 * happens where nobody said what the thread works on. Thread-safe. */
void cuzk_recorder_put_inner(cuzk_span_name name, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t value);

/** Keep a text (cut at 1,024 bytes) for spans to name; its number, or 0 when none is kept.
 *  Takes a lock: for what happens once a job. Thread-safe. */
uint32_t cuzk_recorder_text(const char *text);

/* Where what is taken goes. Each is called from cuzk_recorder_take alone. */
typedef struct {
    void (*spans)(void *user, const cuzk_timespan *spans, size_t n);
    void (*text)(void *user, uint32_t number, const char *text, size_t n_bytes);
    void (*thread)(void *user, uint16_t index, const char *name); /* before its first span */
    void (*lost)(void *user, uint64_t n_spans);
    void *user;
} cuzk_recorder_sink;

/** Take everything that was put so far: texts and threads first, then spans, in order within each
 *  thread. One caller at a time: others wait. */
void cuzk_recorder_take(const cuzk_recorder_sink *sink);

/** Wait until it is time to take: the period has passed, or, before that, some thread's ring is
 * half full, or cuzk_recorder_wake was called, also before the wait began. For the one thread that
 *  takes; the recorder was started. */
void cuzk_recorder_wait(void);

/** End that wait. The recorder was started. Thread-safe, takes no lock. */
void cuzk_recorder_wake(void);

/** Bytes that the recorder holds. Thread-safe. */
uint64_t cuzk_recorder_bytes(void);

#endif
