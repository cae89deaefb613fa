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
#include "cuzk.h" /* cuzk_log_level */

#include <stdint.h>

typedef struct cuzk_logger cuzk_logger;

typedef struct {
    const char *key; /* NULL ends the fields */
    enum { CUZK_LOG_IS_TEXT, CUZK_LOG_IS_UINT, CUZK_LOG_IS_INT, CUZK_LOG_IS_NS } type;
    const char *text; /* NULL: the field is left out */
    uint64_t value;
} cuzk_logger_field;

enum { CUZK_LOG_FIELDS_MAX = 16 }; /* of a line, the end included */

#define CUZK_LOG_S(k, v) ((cuzk_logger_field){(k), CUZK_LOG_IS_TEXT, (v), 0})
#define CUZK_LOG_U(k, v) ((cuzk_logger_field){(k), CUZK_LOG_IS_UINT, "", (v)})
#define CUZK_LOG_I(k, v) ((cuzk_logger_field){(k), CUZK_LOG_IS_INT, "", (uint64_t)(int64_t)(v)})
/* a time in ns, written in milliseconds: call the key "total_ms" */
#define CUZK_LOG_MS(k, v) ((cuzk_logger_field){(k), CUZK_LOG_IS_NS, "", (v)})
#define CUZK_LOG_JOB(id)  CUZK_LOG_S("job", (id))

/** Write a line, unless the level is off or the message came too often. log NULL: nothing.
 *  CUZK_LOG(log, level, "message", CUZK_LOG_…, …) */
#define CUZK_LOG(log, level, message, ...)                                                         \
    cuzk_logger_put((log), (level), (message),                                                     \
                    (const cuzk_logger_field[CUZK_LOG_FIELDS_MAX]){__VA_ARGS__})

/** What CUZK_LOG does. message: a constant, its address may be kept. fields: ended by a NULL key.
 */
void cuzk_logger_put(cuzk_logger *log, cuzk_log_level level, const char *message,
                     const cuzk_logger_field *fields);

typedef struct {
    cuzk_log_level level;
    bool json;
    bool journald;         /* priorities in front of lines, no time */
    unsigned rate;         /* lines a second of a message; 0: no limit */
    int fd;                /* where to; borrowed */
    uint64_t (*now)(void); /* monotonic ns; NULL: cuzk_now_ns. For tests */
} cuzk_logger_options;

/** Returned: cuzk_logger_destroy, which also writes what the limits still hold back. */
cuzk_status cuzk_logger_create(cuzk_logger **out, const cuzk_logger_options *options,
                               cuzk_error *err) CUZK_WARN_UNUSED;
void cuzk_logger_destroy(cuzk_logger *log);

/** Change level, form and rate while it is used. */
void cuzk_logger_set(cuzk_logger *log, cuzk_log_level level, bool json, unsigned rate);

/** Whether a level is written: for callers whose fields cost something. */
bool cuzk_logger_is_on(const cuzk_logger *log, cuzk_log_level level);

/** Write a whole line as it is, newline added, without limits or level: TIMELINE. */
void cuzk_logger_raw(cuzk_logger *log, const char *line);

#endif
