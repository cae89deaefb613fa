/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An independent witness of what a CUDA device did: a library that the driver loads into any
 * program, without a change to it, and that writes what CUPTI saw into a file with the tables of an
 * export of Nsight Systems, as far as `cuzk timeline --import` reads them.
 *
 *   CUDA_INJECTION64_PATH=$PWD/cupti_witness.so CUPTI_WITNESS_FILE=w.sqlite bench_gpu_proof ...
 *
 * libcupti.so.13 and libsqlite3.so.0 must be found (LD_LIBRARY_PATH). For development only: it is
 * built where cupti.h is found, and not installed. Times are CUPTI's, from the moment the library
 * was loaded; the file's TARGET_INFO_SESSION_START_TIME has that moment by the wall clock. Records
 * are kept in memory until the program ends. What goes wrong is told on stderr; the program that is
 * watched goes on. */
#include <cupti.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 8 << 20, NAMES_MAX = 4096, DEVICES_MAX = 64, KINDS = 3 };

typedef enum { KERNEL = 0, COPY = 1, FILL = 2 } record_kind;

typedef struct {
    int64_t start, end;
    uint64_t bytes; /* of copies and fills */
    uint32_t name;  /* of kernels */
    uint32_t stream, context;
    uint8_t device, kind; /* record_kind */
    uint8_t copy_kind;    /* CUpti_ActivityMemcpyKind */
} record;

static struct {
    pthread_mutex_t mutex; /* of all that follows */
    record *records;
    size_t n, n_room;
    const char *keys[NAMES_MAX]; /* CUPTI's names: one pointer for all launches of a kernel */
    char *names[NAMES_MAX];      /* what they say */
    uint32_t n_names;
    char devices[DEVICES_MAX][64];
    size_t n_dropped; /* by CUPTI, or for want of memory */
    uint64_t begin;   /* CUPTI's clock */
    int64_t begin_wall_ns;
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool cupti_ok(CUptiResult result, const char *doing)
{
    const char *text = NULL;
    if (result == CUPTI_SUCCESS) {
        return true;
    }
    cuptiGetResultString(result, &text);
    fprintf(stderr, "cupti_witness: %s: %s\n", doing, text != NULL ? text : "unknown error");
    return false;
}

/* ---- what CUPTI tells ---- */

static uint32_t number_of(const char *name)
{
    for (uint32_t i = 0; i < seen.n_names; i++) {
        if (seen.keys[i] == name) {
            return i;
        }
    }
    if (seen.n_names == NAMES_MAX) {
        return NAMES_MAX - 1;
    }
    seen.keys[seen.n_names] = name;
    seen.names[seen.n_names] = name != NULL ? strdup(name) : NULL;
    return seen.n_names++;
}

static void keep(record r, uint64_t start, uint64_t end)
{
    if (seen.n == seen.n_room) {
        size_t n_room = seen.n_room == 0 ? 1 << 16 : 2 * seen.n_room;
        record *records = realloc(seen.records, n_room * sizeof *records);
        if (records == NULL) {
            seen.n_dropped++;
            return;
        }
        seen.records = records;
        seen.n_room = n_room;
    }
    /* 0 and 0 where CUPTI has no times: those stay, for the reader to count */
    r.start = start == 0 ? 0 : (int64_t)(start - seen.begin);
    r.end = end == 0 ? 0 : (int64_t)(end - seen.begin);
    seen.records[seen.n++] = r;
}

static void take(const CUpti_Activity *activity)
{
    if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)(const void *)activity;
        keep((record){.kind = KERNEL,
                      .device = (uint8_t)k->deviceId,
                      .context = k->contextId,
                      .stream = k->streamId,
                      .name = number_of(k->name)},
             k->start, k->end);
    } else if (activity->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy6 *c = (const CUpti_ActivityMemcpy6 *)(const void *)activity;
        keep((record){.kind = COPY,
                      .device = (uint8_t)c->deviceId,
                      .context = c->contextId,
                      .stream = c->streamId,
                      .bytes = c->bytes,
                      .copy_kind = c->copyKind},
             c->start, c->end);
    } else if (activity->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const CUpti_ActivityMemset4 *f = (const CUpti_ActivityMemset4 *)(const void *)activity;
        keep((record){.kind = FILL,
                      .device = (uint8_t)f->deviceId,
                      .context = f->contextId,
                      .stream = f->streamId,
                      .bytes = f->bytes},
             f->start, f->end);
    } else if (activity->kind == CUPTI_ACTIVITY_KIND_DEVICE) {
        const CUpti_ActivityDevice5 *d = (const CUpti_ActivityDevice5 *)(const void *)activity;
        if (d->id < DEVICES_MAX && d->name != NULL) {
            snprintf(seen.devices[d->id], sizeof seen.devices[0], "%s", d->name);
        }
    }
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *n_records_most)
{
    *size = BUFFER_BYTES;
    *n_records_most = 0; /* as many as it holds */
    *buffer = aligned_alloc(8, BUFFER_BYTES);
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t n_valid)
{
    (void)size;
    size_t n_dropped = 0;
    CUpti_Activity *activity = NULL;
    pthread_mutex_lock(&seen.mutex);
    while (n_valid > 0 && cuptiActivityGetNextRecord(buffer, n_valid, &activity) == CUPTI_SUCCESS) {
        take(activity);
    }
    if (cuptiActivityGetNumDroppedRecords(context, stream, &n_dropped) == CUPTI_SUCCESS) {
        seen.n_dropped += n_dropped;
    }
    pthread_mutex_unlock(&seen.mutex);
    free(buffer);
}

/* ---- the file ---- */

static const char schema[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT);"
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, [end] INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL, [end] INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER NOT NULL, [end] INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL);";

static const char *const inserts[KINDS] = {
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?1, ?2, ?3, ?4, ?5, ?7, ?8)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(?1, ?2, ?3, ?4, ?5, ?7)"};

static void bind(sqlite3_stmt *s, int place, int64_t value)
{
    if (place <= sqlite3_bind_parameter_count(s)) {
        sqlite3_bind_int64(s, place, value);
    }
}

static bool run(sqlite3_stmt *s)
{
    bool is_done = sqlite3_step(s) == SQLITE_DONE;
    sqlite3_reset(s);
    return is_done;
}

static bool put_records(sqlite3 *db)
{
    bool good = true;
    sqlite3_stmt *s[KINDS] = {NULL};
    for (int i = 0; i < KINDS && good; i++) {
        good = sqlite3_prepare_v2(db, inserts[i], -1, &s[i], NULL) == SQLITE_OK;
    }
    for (size_t i = 0; i < seen.n && good; i++) {
        const record *r = &seen.records[i];
        const int64_t values[] = {r->start,  r->end,  r->device,         r->context,
                                  r->stream, r->name, (int64_t)r->bytes, r->copy_kind};
        for (int v = 0; v < 8; v++) {
            bind(s[r->kind], v + 1, values[v]);
        }
        good = run(s[r->kind]);
    }
    for (int i = 0; i < KINDS; i++) {
        sqlite3_finalize(s[i]);
    }
    return good;
}

static bool put_text(sqlite3 *db, const char *insert, int64_t number, const char *text)
{
    sqlite3_stmt *s = NULL;
    bool good = sqlite3_prepare_v2(db, insert, -1, &s, NULL) == SQLITE_OK &&
                sqlite3_bind_int64(s, 1, number) == SQLITE_OK &&
                sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC) == SQLITE_OK && run(s);
    sqlite3_finalize(s);
    return good;
}

static bool put_names(sqlite3 *db)
{
    bool good = true;
    for (uint32_t i = 0; i < seen.n_names && good; i++) {
        good = put_text(db, "INSERT INTO StringIds VALUES(?1, ?2)", i,
                        seen.names[i] != NULL ? seen.names[i] : "");
    }
    for (int i = 0; i < DEVICES_MAX && good; i++) {
        if (seen.devices[i][0] != 0) {
            good = put_text(db, "INSERT INTO TARGET_INFO_GPU VALUES(?1, ?2)", i, seen.devices[i]);
        }
    }
    char date[64] = "";
    time_t when = (time_t)(seen.begin_wall_ns / 1000000000);
    struct tm tm;
    if (gmtime_r(&when, &tm) != NULL) {
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    }
    return good && put_text(db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?1, ?2)",
                            seen.begin_wall_ns, date);
}

static void write_file(const char *path)
{
    sqlite3 *db = NULL;
    unlink(path);
    bool good = sqlite3_open(path, &db) == SQLITE_OK &&
                sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL,
                             NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK && put_names(db) &&
                put_records(db) && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!good) {
        fprintf(stderr, "cupti_witness: writing %s: %s\n", path,
                db != NULL ? sqlite3_errmsg(db) : "out of memory");
    }
    sqlite3_close(db);
    fprintf(stderr, "cupti_witness: %zu records, %zu dropped\n", seen.n, seen.n_dropped);
}

static void at_exit(void)
{
    cupti_ok(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "taking the last records");
    pthread_mutex_lock(&seen.mutex);
    const char *path = getenv("CUPTI_WITNESS_FILE");
    write_file(path != NULL && path[0] != 0 ? path : "cupti_witness.sqlite");
    pthread_mutex_unlock(&seen.mutex);
}

/** Called by the driver, once, before the program's first call of it. Returns 1. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
    struct timespec now;
    if (!cupti_ok(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "beginning") ||
        !cupti_ok(cuptiGetTimestamp(&seen.begin), "reading its clock")) {
        return 1;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    seen.begin_wall_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!cupti_ok(cuptiActivityEnable(kinds[i]), "asking for records")) {
            return 1;
        }
    }
    atexit(at_exit);
    return 1;
}
