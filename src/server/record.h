/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's recording: the engine's events become spans (timeline/catalogue.h), and a thread
 * takes what the recorder holds, writes it to a file (record_file.h) and keeps the last minutes in
 * memory. */
#ifndef CUZK_SERVER_RECORD_H
#define CUZK_SERVER_RECORD_H

#include "base/text.h"
#include "engine/engine.h"
#include "server/log.h"
#include "timeline/recording.h"

typedef struct cuzk_record cuzk_record;

typedef struct {
    const char *path;              /* its mode is 0600: it names jobs; NULL: no file */
    uint64_t limit_bytes;          /* of the file and its predecessor together */
    uint64_t recent_bytes;         /* of what is kept in memory; 0: nothing */
    const cuzk_engine_kind *kinds; /* CUZK_KINDS_MAX */
    const cuzk_engine_device *devices;
    unsigned n_devices;
    cuzk_recording_machine machine;
    cuzk_logger *log; /* borrowed */
} cuzk_record_options;

/** Begin the file and the recorder. options: its arrays and texts are copied. A file that is there
 *  becomes PATH.old. Returned: end with cuzk_record_stop. Errors: E_FILE, E_MEMORY. */
cuzk_status cuzk_record_start(cuzk_record **out, const cuzk_record_options *options,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** Write what is left and end. NULL is fine. The engine must have ended. */
void cuzk_record_stop(cuzk_record *record);

/** Make spans of an event, on the thread that it happens on. Thread-safe; RECOVERED comes from one
 *  thread, and waits now and then until what was told so far is taken, so that none is lost. */
void cuzk_record_observe(cuzk_record *record, const cuzk_event *event);

/** From here on cuzk_record_copy tells what waits in the engine, too. The last copy has ended
 * before the engine does. */
void cuzk_record_watch(cuzk_record *record, cuzk_engine *engine);

/** Append a whole recording of what was kept in memory since since_ns (cuzk_now_ns) and is not over
 *  yet, of the newest n_spans_max spans. It reaches until now, or, where that cannot be had within
 *  half a second, until the last time that something was taken. begin_ns, end_ns: what it tells of;
 *  spans before are there where they ended later. Errors: E_UNSUPPORTED (nothing is kept),
 *  E_MEMORY. Thread-safe. */
cuzk_status cuzk_record_copy(cuzk_record *record, cuzk_text *text, uint64_t *begin_ns,
                             uint64_t *end_ns, uint64_t since_ns, size_t n_spans_max,
                             cuzk_error *err) CUZK_WARN_UNUSED;

#endif
