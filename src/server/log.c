/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lines are made outside the locks and written one after the other. The rate of a message is a
 * bucket of tokens, found by the address of its text; what a bucket refuses is counted and told by
 * the next line that it lets pass.
 *
 * Whoever reads the log may stop reading: no thread of the daemon waits for that. A line is written
 * only as long as poll(2) promises room (PIPE_BUF bytes of it in a pipe), otherwise it is lost and
 * counted. */
#include "server/log.h"

#include "base/clock.h"
#include "server/quote.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 256 }; /* more than the program has messages */

typedef struct {
    const char *message;
    double tokens;
    uint64_t filled_ns;
    uint64_t n_left_out;
} bucket;

struct cuzk_logger {
    atomic_int level;
    atomic_bool json;
    atomic_uint rate;
    bool journald;
    int fd;
    uint64_t (*now)(void);
    pthread_mutex_t lock; /* guards buckets */
    bucket buckets[BUCKETS];
    pthread_mutex_t write_lock; /* guards all below, and the order of lines; taken alone */
    bool is_stuck;              /* the last line found no room */
    bool is_cut;                /* and a part of it was written */
    uint64_t n_lost;            /* lines since one that was written */
};

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static const int level_priorities[] = {3, 4, 6, 7}; /* of syslog */

static uint64_t now_ns(void)
{
    return cuzk_now_ns();
}

cuzk_status cuzk_logger_create(cuzk_logger **out, const cuzk_logger_options *options,
                               cuzk_error *err)
{
    cuzk_logger *log = calloc(1, sizeof *log);
    CUZK_FAIL_IF(log == NULL, err, CUZK_E_MEMORY, "out of memory");
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        free(log);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "the log's lock cannot be made");
    }
    if (pthread_mutex_init(&log->write_lock, NULL) != 0) {
        pthread_mutex_destroy(&log->lock);
        free(log);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "the log's lock cannot be made");
    }
    log->journald = options->journald;
    log->fd = options->fd;
    log->now = options->now != NULL ? options->now : now_ns;
    cuzk_logger_set(log, options->level, options->json, options->rate);
    *out = log;
    return CUZK_OK;
}

void cuzk_logger_set(cuzk_logger *log, cuzk_log_level level, bool json, unsigned rate)
{
    /* each is read on its own: a line that is being written may see an old one */
    atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
    atomic_store_explicit(&log->json, json, memory_order_relaxed);
    atomic_store_explicit(&log->rate, rate, memory_order_relaxed);
}

bool cuzk_logger_is_on(const cuzk_logger *log, cuzk_log_level level)
{
    return log != NULL && (int)level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

/* Whether the message may be written now; *n_left_out: how many were not before it. */
static bool pass(cuzk_logger *log, const char *message, uint64_t *n_left_out)
{
    unsigned rate = atomic_load_explicit(&log->rate, memory_order_relaxed);
    *n_left_out = 0;
    if (rate == 0) {
        return true;
    }
    uint64_t now = log->now();
    bool ok = true;
    pthread_mutex_lock(&log->lock);
    size_t start = ((uintptr_t)message >> 3) % BUCKETS, i = start;
    while (log->buckets[i].message != NULL && log->buckets[i].message != message) {
        i = (i + 1) % BUCKETS;
        if (i == start) {
            break; /* full: then the first one is shared */
        }
    }
    bucket *b = &log->buckets[i];
    if (b->message == NULL) {
        *b = (bucket){message, rate, now, 0};
    }
    b->tokens += (double)(now - b->filled_ns) * 1e-9 * rate;
    b->tokens = b->tokens > rate ? rate : b->tokens;
    b->filled_ns = now;
    if (b->tokens >= 1) {
        b->tokens -= 1;
        *n_left_out = b->n_left_out;
        b->n_left_out = 0;
    } else {
        b->n_left_out++;
        ok = false;
    }
    pthread_mutex_unlock(&log->lock);
    return ok;
}

static void put_time(cuzk_text *out)
{
    struct timespec t;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &utc);
    cuzk_text_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     t.tv_nsec / 1000000);
}

static bool is_plain(const char *s)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:~@+%,*";
    size_t n = strlen(s);
    return n > 0 && n <= 512 && strspn(s, plain) == n;
}

static void put_value(cuzk_text *out, const cuzk_logger_field *f, bool json)
{
    switch (f->type) {
    case CUZK_LOG_IS_UINT:
        cuzk_text_printf(out, "%" PRIu64, f->value);
        break;
    case CUZK_LOG_IS_INT:
        cuzk_text_printf(out, "%" PRId64, (int64_t)f->value);
        break;
    case CUZK_LOG_IS_NS:
        cuzk_text_printf(out, "%" PRIu64 ".%03" PRIu64, f->value / 1000000, f->value / 1000 % 1000);
        break;
    default:
        if (!json && is_plain(f->text)) {
            cuzk_text_put(out, f->text);
        } else {
            cuzk_text_put_quoted(out, f->text);
        }
        break;
    }
}

static void put_line(cuzk_text *out, const cuzk_logger *log, cuzk_log_level level,
                     const char *message, const cuzk_logger_field *fields, uint64_t n_left_out)
{
    bool json = atomic_load_explicit(&log->json, memory_order_relaxed);
    if (log->journald) {
        cuzk_text_printf(out, "<%d>", level_priorities[level]);
    }
    if (json) {
        cuzk_text_put(out, "{\"ts\":\"");
        put_time(out);
        cuzk_text_printf(out, "\",\"level\":\"%s\",\"msg\":", level_names[level]);
    } else {
        if (!log->journald) {
            put_time(out);
            cuzk_text_put(out, " ");
        }
        cuzk_text_printf(out, "%s ", level_names[level]);
    }
    cuzk_text_put_quoted(out, message);
    const cuzk_logger_field last = CUZK_LOG_U("left_out_before", n_left_out);
    for (size_t i = 0; i < CUZK_LOG_FIELDS_MAX; i++) {
        const cuzk_logger_field *f = &fields[i];
        bool is_end = f->key == NULL;
        if (is_end && n_left_out == 0) {
            break;
        }
        f = is_end ? &last : f;
        if (f->text != NULL) {
            cuzk_text_printf(out, json ? ",\"%s\":" : " %s=", f->key);
            put_value(out, f, json);
        }
        if (is_end) {
            break;
        }
    }
    cuzk_text_put(out, json ? "}\n" : "\n");
}

/* Whether something can be written now; waits a moment, once. */
static bool has_room(cuzk_logger *log)
{
    enum { PATIENCE_MS = 50 };
    struct pollfd p = {log->fd, POLLOUT, 0};
    int n = poll(&p, 1, log->is_stuck ? 0 : PATIENCE_MS);
    log->is_stuck = n == 0;
    return n > 0 && (p.revents & POLLOUT) != 0;
}

/* With write_lock: whether all was written. */
static bool write_bytes(cuzk_logger *log, const char *data, size_t n_bytes)
{
    for (size_t done = 0; done < n_bytes;) {
        size_t piece = n_bytes - done < PIPE_BUF ? n_bytes - done : PIPE_BUF;
        ssize_t n = has_room(log) ? write(log->fd, data + done, piece) : -1;
        if (n <= 0) {
            log->is_cut = log->is_cut || done > 0;
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

static void write_out(cuzk_logger *log, const char *data, size_t n_bytes)
{
    pthread_mutex_lock(&log->write_lock);
    if (log->is_cut && write_bytes(log, "\n", 1)) {
        log->is_cut = false;
    }
    if (log->n_lost > 0 && has_room(log)) {
        cuzk_text told = {0};
        const cuzk_logger_field fields[CUZK_LOG_FIELDS_MAX] = {CUZK_LOG_U("n", log->n_lost)};
        put_line(&told, log, CUZK_LOG_WARN, "lines of the log were lost", fields, 0);
        if (!told.failed && write_bytes(log, told.data, told.size)) {
            log->n_lost = 0;
        }
        cuzk_text_clear(&told);
    }
    if (!write_bytes(log, data, n_bytes)) {
        log->n_lost++;
    }
    pthread_mutex_unlock(&log->write_lock);
}

void cuzk_logger_put(cuzk_logger *log, cuzk_log_level level, const char *message,
                     const cuzk_logger_field *fields)
{
    uint64_t n_left_out = 0;
    if (!cuzk_logger_is_on(log, level) ||
        (level != CUZK_LOG_ERROR && !pass(log, message, &n_left_out))) {
        return;
    }
    cuzk_text line = {0};
    put_line(&line, log, level, message, fields, n_left_out);
    if (line.data != NULL && !line.failed) {
        write_out(log, line.data, line.size);
    }
    cuzk_text_clear(&line);
}

void cuzk_logger_raw(cuzk_logger *log, const char *line)
{
    cuzk_text text = {0};
    cuzk_text_put(&text, line);
    cuzk_text_put(&text, "\n");
    if (!text.failed) {
        write_out(log, text.data, text.size);
    }
    cuzk_text_clear(&text);
}

void cuzk_logger_destroy(cuzk_logger *log)
{
    if (log == NULL) {
        return;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        bucket *b = &log->buckets[i];
        if (b->n_left_out > 0) {
            atomic_store_explicit(&log->rate, 0, memory_order_relaxed);
            CUZK_LOG(log, CUZK_LOG_INFO, "lines were left out", CUZK_LOG_S("of", b->message),
                     CUZK_LOG_U("n", b->n_left_out));
        }
    }
    pthread_mutex_destroy(&log->lock);
    pthread_mutex_destroy(&log->write_lock);
    free(log);
}
