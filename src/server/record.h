/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's recording: the engine's events become spans (timeline/catalogue.h), and a thread
 * writes what the recorder holds to a file.
 *
 * The file has a limit. When half of it is written, it becomes PATH.old, whose predecessor is
 * deleted, and a new one is begun: between half of the limit and all of it is there at any time. */
#ifndef CUZK_SERVER_RECORD_H
#define CUZK_SERVER_RECORD_H

#include "engine/engine.h"
#include "server/log.h"

typedef struct cuzk_record cuzk_record;

typedef struct {
    const char *path;              /* its mode is 0600: it names jobs */
    uint64_t limit_bytes;          /* of the file and its predecessor together */
    const cuzk_engine_kind *kinds; /* CUZK_KINDS_MAX */
    const cuzk_engine_device *devices;
    unsigned n_devices;
    cuzk_logger *log; /* borrowed */
} cuzk_record_options;

/** Begin the file and the recorder. options: its arrays and texts are copied. A file that is there
 *  becomes PATH.old. Returned: end with cuzk_record_stop. Errors: E_FILE, E_MEMORY. */
cuzk_status cuzk_record_start(cuzk_record **out, const cuzk_record_options *options,
                              cuzk_error *err) CUZK_WARN_UNUSED;

/** Write what is left and end. NULL is fine. The engine must have ended. */
void cuzk_record_stop(cuzk_record *record);

/** Make spans of an event, on the thread that it happens on. Thread-safe. */
void cuzk_record_observe(cuzk_record *record, const cuzk_event *event);

#endif
