/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The daemon's log: one line an event on standard error, key=value or JSON.
 *
 *     CUZK_LOG(log, CUZK_LOG_INFO, "job accepted", CUZK_LOG_JOB(id), CUZK_LOG_U("units", 10));
 *
 *     2026-12-01T10:00:00.123Z info "job accepted" job=porep-1000-7 units=10
 *
 * A message is a constant, and what varies is in fields: messages are what rates are limited by.
 * Values are escaped, so that a line stays a line whatever a client sends. Never give witness
 * values or keys to it. Under systemd lines carry journald's priority and no time. Thread-safe. */
#ifndef CUZK_SERVER_LOG_H
#define CUZK_SERVER_LOG_H

#include "base/status.h"

#include <stdint.h>

typedef enum {
    CUZK_LOG_ERROR, /* somebody must act */
    CUZK_LOG_WARN,
    CUZK_LOG_INFO, /* a few lines a job */
    CUZK_LOG_DEBUG,
    CUZK_LOG_TRACE
} cuzk_log_level;

typedef struct cuzk_log cuzk_log;

typedef struct {
    const char *key; /* NULL ends the fields */
    enum { CUZK_LOG_IS_TEXT, CUZK_LOG_IS_UINT, CUZK_LOG_IS_INT, CUZK_LOG_IS_NS } type;
    const char *text; /* NULL: the field is left out */
    uint64_t value;
} cuzk_log_field;

enum { CUZK_LOG_FIELDS_MAX = 16 }; /* of a line, the end included */

#define CUZK_LOG_S(k, v) ((cuzk_log_field){(k), CUZK_LOG_IS_TEXT, (v), 0})
#define CUZK_LOG_U(k, v) ((cuzk_log_field){(k), CUZK_LOG_IS_UINT, "", (v)})
#define CUZK_LOG_I(k, v) ((cuzk_log_field){(k), CUZK_LOG_IS_INT, "", (uint64_t)(int64_t)(v)})
/* a time in ns, written in milliseconds: call the key "total_ms" */
#define CUZK_LOG_MS(k, v) ((cuzk_log_field){(k), CUZK_LOG_IS_NS, "", (v)})
#define CUZK_LOG_JOB(id)  CUZK_LOG_S("job", (id))

/** Write a line, unless the level is off or the message came too often. log NULL: nothing.
 *  CUZK_LOG(log, level, "message", CUZK_LOG_…, …) */
#define CUZK_LOG(log, level, message, ...)                                                         \
    cuzk_log_put((log), (level), (message),                                                        \
                 (const cuzk_log_field[CUZK_LOG_FIELDS_MAX]){__VA_ARGS__})

/** What CUZK_LOG does. message: a constant, its address may be kept. fields: ended by a NULL key.
 */
void cuzk_log_put(cuzk_log *log, cuzk_log_level level, const char *message,
                  const cuzk_log_field *fields);

typedef struct {
    cuzk_log_level level;
    bool json;
    bool journald;         /* priorities in front of lines, no time */
    unsigned rate;         /* lines a second of a message; 0: no limit */
    int fd;                /* where to; borrowed */
    uint64_t (*now)(void); /* monotonic ns; NULL: cuzk_now_ns. For tests */
} cuzk_log_options;

/** Returned: cuzk_log_destroy, which also writes what the limits still hold back. */
cuzk_status cuzk_log_create(cuzk_log **out, const cuzk_log_options *options,
                            cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_log_destroy(cuzk_log *log);

/** Change level, form and rate while it is used. */
void cuzk_log_set(cuzk_log *log, cuzk_log_level level, bool json, unsigned rate);

/** Whether a level is written: for callers whose fields cost something. */
bool cuzk_log_is_on(const cuzk_log *log, cuzk_log_level level);

/** Write a whole line as it is, newline added, without limits or level: TIMELINE. */
void cuzk_log_raw(cuzk_log *log, const char *line);

#endif
