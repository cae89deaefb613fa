/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Activities of another program, in SQLite files that are made here: what is read, what is refused,
 * and that the comparison with a recording says what was planted. */
#include "alloc_fail.h"
#include "random.h"
#include "schedule.h"
#include "timeline/beside.h"

#include <inttypes.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SPANS = 400, EACH = 5 };
static const int64_t OFFSET = 123456789012;

static uint64_t seed = 3;
static char path[] = "/tmp/cuzk_beside_XXXXXX";
static cuzk_error err;

static int64_t below(int64_t n)
{
    return (int64_t)(cuzk_test_random(&seed) % (uint64_t)n);
}

/* ---- files ---- */

static const char tables[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, [end], deviceId, contextId, shortName);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, [end], deviceId, bytes, copyKind);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, [end], deviceId, bytes);";

static sqlite3 *make(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void add(sqlite3 *db, const char *format, ...)
{
    char sql[300], *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %s", sql, message);
    }
}

static void finish(sqlite3 *db)
{
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void kernel(sqlite3 *db, int64_t begin, int64_t end, int device, int name)
{
    add(db, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(%" PRId64 ", %" PRId64 ", %d, 1, %d)",
        begin, end, device, name);
}

static void copy(sqlite3 *db, int64_t begin, int64_t end, int device, int64_t bytes, int kind)
{
    add(db,
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(%" PRId64 ", %" PRId64 ", %d, %" PRId64
        ", %d)",
        begin, end, device, bytes, kind);
}

/* ---- a file alone ---- */

static void test_alone(void **state)
{
    (void)state;
    sqlite3 *db = make(tables);
    add(db, "INSERT INTO StringIds VALUES(7, 'sum'), (8, 'sort\t1'), (9, 'sum'), (10, 'unused')");
    add(db, "INSERT INTO TARGET_INFO_GPU VALUES(5, 'Card'), (99, 'not there')");
    add(db, "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid)");
    add(db, "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(5, 1, 77), (99, 1000, 77)");
    add(db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000000000)");
    kernel(db, -100, 100, 1, 7);
    kernel(db, 0, 200, 1, 9); /* under the one before for half of it */
    kernel(db, 300, 400, 1, 8);
    kernel(db, 500, 600, 0, 11); /* of another device; its name is nowhere */
    add(db, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(NULL, 5, 1, 1, 7), (0, 0, 1, 1, 7)");
    copy(db, 350, 450, 1, 1000, 1);
    copy(db, 440, 460, 1, 500, 3);
    copy(db, 900, 900, 1, 24, 2);
    copy(db, 700, 710, 1, 10, 8);
    copy(db, 700, 710, 1, 10, 9);
    copy(db, 700, 710, 1, 10, 77);
    add(db, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(390, 410, 1, 64)");
    finish(db);
    cuzk_activities a;
    cuzk_beside b;
    assert_int_equal(cuzk_activities_open(&a, path, &err), CUZK_OK);
    assert_int_equal(a.n, 9);
    assert_int_equal(a.n_untimed, 2);
    assert_int_equal(a.n_elsewhere, 2);
    assert_int_equal(a.n_names, 3);
    assert_string_equal(a.devices[1], "Card");
    assert_int_equal(a.begin_wall_ns, 1700000000000000000);
    assert_int_equal(cuzk_beside_make(&b, &a, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(b.n_devices, 2);
    const cuzk_beside_device *d = &b.devices[1];
    assert_int_equal(d->number, 1);
    assert_int_equal(d->begin_ns, -100);
    assert_int_equal(d->end_ns, 710); /* what takes no time is nowhere */
    assert_int_equal(d->theirs.kernel_ns, 400);
    assert_int_equal(d->theirs.work_ns, 420);
    assert_int_equal(d->theirs.up_ns, 110);
    assert_int_equal(d->theirs.down_ns, 0);
    assert_int_equal(d->theirs.n_kernels, 3);
    assert_int_equal(d->theirs.up_bytes, 1500);
    assert_int_equal(d->theirs.n_inside, 1);
    assert_int_equal(d->theirs.n_fills, 1);
    assert_int_equal(b.n_kernels, 3);
    assert_string_equal(a.names[b.kernels[0].name], "(kernel 11)");
    assert_string_equal(a.names[b.kernels[1].name], "sum"); /* two numbers, one name */
    assert_int_equal(b.kernels[1].n, 2);
    assert_int_equal(b.kernels[1].total_ns, 400);
    assert_int_equal(b.kernels[1].longest_ns, 200);
    assert_string_equal(a.names[b.kernels[2].name], "sort?1");
    cuzk_text text = {0};
    cuzk_beside_put_text(&text, &b);
    assert_non_null(strstr(text.data, "device 1, Card, 810 ns\n"));
    assert_non_null(strstr(text.data, "sum "));
    assert_null(strstr(text.data, "ours"));
    cuzk_text_clear(&text);
    cuzk_beside_put_json(&text, &b);
    assert_non_null(strstr(text.data, "\"name\":\"sum\",\"launches\":2,\"total_ns\":400"));
    cuzk_text_clear(&text);
    cuzk_beside_clear(&b);
    cuzk_activities_clear(&a);
}

/* ---- beside a recording ---- */

/* What is done to their side. */
typedef struct {
    int missing;  /* all kernels of every so manyth span are not there; 0: of none */
    int extra;    /* kernels of 2 ms behind all that is ours */
    double drift; /* their clock is slow by it */
    int64_t late; /* every kernel is longer by it */
    bool no_wall;
    int n_spans; /* 0: SPANS */
} plan;

typedef struct {
    schedule ours;
    cuzk_activities theirs;
    int64_t kernel_ns, missing_ns; /* planted: union of ours; of spans whose kernels are missing */
    int n_missing;
} case_of;

static int64_t their_clock(int64_t ns, const plan *p)
{
    return ns - (int64_t)(p->drift * (double)ns) - OFFSET;
}

/* Spans of two families in turn, a copy up before each tenth, gaps between. */
static void begin_case(case_of *c, const plan *p)
{
    memset(c, 0, sizeof *c);
    c->ours.seed = 1;
    sqlite3 *db = make(tables);
    add(db, "INSERT INTO StringIds VALUES(1, 'rows'), (2, 'sums')");
    for (int i = 0; i < (p->n_spans > 0 ? p->n_spans : SPANS); i++) {
        bool is_missing = p->missing != 0 && i % p->missing == 1;
        if (i % 10 == 0) {
            uint64_t begin = c->ours.now;
            c->ours.now += (uint64_t)(1000000 + below(3000000));
            schedule_put(&c->ours, CUZK_SPAN_COPY_UP, begin, 1, 0, 0, -1);
            c->ours.recording.spans[c->ours.recording.n_spans - 1].value = 4096;
            copy(db, their_clock((int64_t)begin, p), their_clock((int64_t)c->ours.now, p), 0, 4096,
                 1);
        }
        uint64_t begin = c->ours.now;
        for (int k = 0; k < EACH; k++) {
            int64_t length = 100000 + below(3000000);
            if (!is_missing) {
                kernel(db, their_clock((int64_t)c->ours.now, p),
                       their_clock((int64_t)c->ours.now + length, p) + p->late, 0, 1 + i % 2);
            }
            c->ours.now += (uint64_t)length + (k < EACH - 1 ? 1500 : 0);
        }
        schedule_put(&c->ours, i % 2 == 0 ? CUZK_SPAN_KERNEL_ROWS : CUZK_SPAN_KERNEL_GATHERED,
                     begin, 1, 0, 0, -1);
        c->kernel_ns += (int64_t)(c->ours.now - begin);
        c->missing_ns += is_missing ? (int64_t)(c->ours.now - begin) : 0;
        c->n_missing += is_missing;
        c->ours.now += (uint64_t)(50000 + below(4000000));
    }
    for (int i = 0; i < p->extra; i++) { /* in a gap of ours, before its last span */
        kernel(db, their_clock((int64_t)c->ours.now, p),
               their_clock((int64_t)c->ours.now + 2000000, p), 0, 1);
        c->ours.now += 3000000;
    }
    uint64_t begin = c->ours.now;
    c->ours.now += 1000000;
    schedule_put(&c->ours, CUZK_SPAN_KERNEL_ROWS, begin, 1, 0, 0, -1);
    kernel(db, their_clock((int64_t)begin, p), their_clock((int64_t)c->ours.now, p), 0, 1);
    c->kernel_ns += 1000000;
    schedule_end(&c->ours);
    cuzk_recording *r = &c->ours.recording;
    strcpy(r->devices[0].id, "cuda:0");
    r->host_ns = r->begin_ns;
    r->wall_ns = UINT64_C(1700000000000000000);
    if (!p->no_wall) { /* 3 ms beside it */
        add(db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(%" PRId64 ")",
            (int64_t)r->wall_ns + (OFFSET - (int64_t)r->host_ns) + 3000000);
    }
    finish(db);
    if (cuzk_activities_open(&c->theirs, path, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

static void end_case(case_of *c, cuzk_beside *b)
{
    cuzk_beside_clear(b);
    cuzk_activities_clear(&c->theirs);
    cuzk_recording_clear(&c->ours.recording);
}

static double difference(const cuzk_beside *b)
{
    const cuzk_beside_device *d = &b->devices[0];
    return 100 * ((double)d->ours.kernel_ns / (double)d->theirs.kernel_ns - 1);
}

static int64_t off(const cuzk_beside *b, int64_t at, const plan *p)
{
    int64_t by = cuzk_align_to_ours(&b->clocks, their_clock(at, p)) - at;
    return by < 0 ? -by : by;
}

static void test_same(void **state)
{
    (void)state;
    plan p = {0};
    for (int round = 0; round < 3; round++) { /* given, by the wall clock, by all that is there */
        case_of c;
        cuzk_beside b;
        p.no_wall = round == 2;
        begin_case(&c, &p);
        assert_int_equal(
            cuzk_beside_make(&b, &c.theirs, &c.ours.recording, round == 0 ? &OFFSET : NULL, &err),
            CUZK_OK);
        assert_int_equal(b.n_devices, 1);
        assert_true(off(&b, 0, &p) < 3000);
        assert_true(b.clocks.drift < 1e-6 && b.clocks.drift > -1e-6);
        assert_true(b.clocks.by_hint == (round == 1));
        /* ours has the 1.5 us between the kernels of a span, four to a span of 8 ms */
        assert_true(difference(&b) > 0.05 && difference(&b) < 0.1);
        const cuzk_beside_device *d = &b.devices[0];
        assert_int_equal(d->ours.n_alone, 0);
        assert_int_equal(d->theirs.n_alone, 0);
        assert_true(d->ours.n_up >= SPANS / 10 - 1 && d->theirs.n_up >= SPANS / 10 - 1);
        assert_true(d->theirs.up_ns - d->ours.up_ns < 10000 && d->ours.up_ns > 10000000);
        for (size_t i = 0; i < b.n_kernels; i++) { /* each kernel in its family */
            const cuzk_beside_kernel *k = &b.kernels[i];
            bool is_rows = strcmp(c.theirs.names[k->name], "rows") == 0;
            size_t family = is_rows ? 0 : CUZK_SPAN_KERNEL_GATHERED - CUZK_SPAN_KERNEL_ROWS;
            assert_true(k->under_ns[family] > k->total_ns / 1000 * 999);
        }
        if (round == 0) {
            assert_true(b.is_given);
            assert_int_equal(d->ours.kernel_ns, c.kernel_ns);
        }
        end_case(&c, &b);
    }
}

static void test_missing(void **state)
{
    (void)state;
    const plan p = {.missing = 20, .extra = 7};
    case_of c;
    cuzk_beside b;
    begin_case(&c, &p);
    assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, NULL, &err), CUZK_OK);
    assert_true(off(&b, 0, &p) < 5000);
    const cuzk_beside_device *d = &b.devices[0];
    assert_int_equal(d->ours.n_alone, c.n_missing);
    assert_int_equal(d->theirs.n_alone, 7);
    int64_t wrong = d->ours.alone_ns - c.missing_ns;
    assert_true(wrong < 50000 && wrong > -50000);
    /* a twentieth is missing, 14 ms are too much */
    double expected =
        100 * ((double)c.kernel_ns / (double)(c.kernel_ns - c.missing_ns + 7 * 2000000) - 1);
    assert_true(difference(&b) > expected && difference(&b) < expected + 0.2);
    assert_true(expected > 3);
    cuzk_text text = {0};
    char line[100];
    cuzk_beside_put_text(&text, &b);
    snprintf(line, sizeof line, "spans of ours without a counterpart: %d of ", c.n_missing);
    assert_non_null(strstr(text.data, line));
    assert_non_null(strstr(text.data, "theirs without a span of ours: 7 of "));
    cuzk_text_clear(&text);
    end_case(&c, &b);
}

/* What lies outside the other's time counts for neither, and what is too short is not missed. */
static void test_common_time(void **state)
{
    (void)state;
    sqlite3 *db = make(tables);
    kernel(db, 0, 1000000, 0, 1); /* before ours */
    kernel(db, 5000000, 6000000, 0, 1);
    kernel(db, 7000000, 7015000, 0, 1); /* short, and ours has nothing */
    kernel(db, 8000000, 9000000, 0, 1);
    kernel(db, 20000000, 29000000, 0, 1); /* behind ours */
    finish(db);
    schedule ours = {.now = 6000000};
    schedule_put(&ours, CUZK_SPAN_KERNEL_ROWS, 5000000, 1, 0, 0, -1);
    ours.now = 6515000; /* short, and theirs has nothing */
    schedule_put(&ours, CUZK_SPAN_KERNEL_ROWS, 6500000, 1, 0, 0, -1);
    ours.now = 9000000;
    schedule_put(&ours, CUZK_SPAN_KERNEL_ROWS, 8000000, 1, 0, 0, -1);
    schedule_end(&ours);
    strcpy(ours.recording.devices[0].id, "cuda:0");
    cuzk_activities a;
    cuzk_beside b;
    const int64_t none = 0;
    assert_int_equal(cuzk_activities_open(&a, path, &err), CUZK_OK);
    assert_int_equal(cuzk_beside_make(&b, &a, &ours.recording, &none, &err), CUZK_OK);
    const cuzk_beside_device *d = &b.devices[0];
    assert_int_equal(d->begin_ns, 5000000);
    assert_int_equal(d->end_ns, 9000000);
    assert_int_equal(d->theirs.kernel_ns, 2015000);
    assert_int_equal(d->ours.kernel_ns, 2015000);
    assert_int_equal(d->theirs.n_kernels, 3);
    assert_int_equal(d->ours.n_kernels, 3);
    assert_int_equal(d->theirs.n_alone + d->ours.n_alone, 0);
    assert_int_equal(b.kernels[0].n, 3);
    cuzk_beside_clear(&b);
    /* ours is longer than theirs */
    ours.recording.spans[2].end_ns = 90000000;
    ours.recording.end_ns = 90000000;
    assert_int_equal(cuzk_beside_make(&b, &a, &ours.recording, &none, &err), CUZK_OK);
    assert_int_equal(b.devices[0].end_ns, 29000000);
    assert_int_equal(b.devices[0].ours.kernel_ns, 22015000);
    cuzk_beside_clear(&b);
    cuzk_activities_clear(&a);
    cuzk_recording_clear(&ours.recording);
}

/* Devices are the same by their numbers of CUDA, whatever their order in the recording. */
static void test_devices(void **state)
{
    (void)state;
    sqlite3 *db = make(tables);
    for (int device = 0; device < 4; device++) {
        kernel(db, 1000000 * device, 1000000 * device + 500000, device, 1);
        kernel(db, 8000000 + 1000000 * device, 8300000 + 1000000 * device, device, 1);
    }
    finish(db);
    schedule ours = {.now = 0};
    static const int numbers[] = {2, 0, 9}; /* of the recording's devices; 1 and 3 are not in it */
    for (int i = 0; i < 3; i++) {
        uint64_t at = 1000000 * (uint64_t)numbers[i];
        ours.now = at + 500000;
        schedule_put(&ours, CUZK_SPAN_KERNEL_SORT, at, 1, 0, i, -1);
        ours.now = at + 8300000;
        schedule_put(&ours, CUZK_SPAN_KERNEL_SORT, at + 8000000, 1, 0, i, -1);
        snprintf(ours.recording.devices[i].id, sizeof ours.recording.devices[i].id, "cuda:%d",
                 numbers[i]);
    }
    schedule_end(&ours);
    cuzk_activities a;
    cuzk_beside b;
    assert_int_equal(cuzk_activities_open(&a, path, &err), CUZK_OK);
    assert_int_equal(cuzk_beside_make(&b, &a, &ours.recording, NULL, &err), CUZK_OK);
    assert_int_equal(b.clocks.offset_ns, 0);
    assert_int_equal(b.n_devices, 2);
    for (size_t i = 0; i < 2; i++) {
        const cuzk_beside_device *d = &b.devices[i];
        assert_int_equal(d->number, 2 * i);
        assert_string_equal(d->id, i == 0 ? "cuda:0" : "cuda:2");
        assert_int_equal(d->begin_ns, 2000000 * i);
        assert_int_equal(d->ours.kernel_ns, 800000);
        assert_int_equal(d->theirs.kernel_ns, 800000);
        assert_int_equal(d->ours.n_alone + d->theirs.n_alone, 0);
    }
    cuzk_beside_clear(&b);
    cuzk_activities_clear(&a);
    cuzk_recording_clear(&ours.recording);
}

/* Longer kernels show in the shares and nowhere else. */
static void test_longer(void **state)
{
    (void)state;
    const plan p = {.late = 40000};
    case_of c;
    cuzk_beside b;
    begin_case(&c, &p);
    assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, &OFFSET, &err), CUZK_OK);
    /* 40 us behind each span of 8 ms */
    assert_true(difference(&b) < -0.4 && difference(&b) > -0.6);
    assert_int_equal(b.devices[0].ours.n_alone, 0);
    assert_int_equal(b.devices[0].theirs.n_alone, 0);
    end_case(&c, &b);
}

static void test_drift(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const plan p = {.drift = k == 0 ? 25e-6 : -200e-6, .missing = 30};
        case_of c;
        cuzk_beside b;
        begin_case(&c, &p);
        assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, NULL, &err), CUZK_OK);
        double wrong = b.clocks.drift - p.drift;
        assert_true(b.clocks.n_parts >= 4 && wrong < 2e-6 && wrong > -2e-6);
        assert_true(off(&b, 0, &p) < 10000 && off(&b, (int64_t)c.ours.now, &p) < 10000);
        assert_int_equal(b.devices[0].ours.n_alone, c.n_missing);
        /* without looking for it, kernels lie beside their spans */
        cuzk_beside given;
        assert_int_equal(cuzk_beside_make(&given, &c.theirs, &c.ours.recording, &OFFSET, &err),
                         CUZK_OK);
        int64_t covered = 0, total = 0;
        for (size_t i = 0; i < given.n_kernels; i++) {
            for (size_t f = 0; f < CUZK_BESIDE_FAMILIES; f++) {
                covered += given.kernels[i].under_ns[f];
            }
            total += given.kernels[i].total_ns;
        }
        assert_true(k == 0 || covered < total / 100 * 99);
        cuzk_beside_clear(&given);
        end_case(&c, &b);
    }
}

static void test_shifted(void **state)
{
    (void)state;
    const plan p = {0};
    case_of c;
    cuzk_beside b;
    begin_case(&c, &p);
    int64_t shifted = OFFSET + 5000000; /* half a span */
    assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, &shifted, &err), CUZK_OK);
    assert_true(b.devices[0].ours.n_alone > SPANS / 20);
    cuzk_beside_clear(&b);
    shifted = 0;
    assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, &shifted, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no time in common"));
    assert_null(b.devices);
    /* no such device */
    cuzk_error_clear(&err);
    c.theirs.rows[0].device = 2; /* so that each has not one alone */
    strcpy(c.ours.recording.devices[0].id, "cuda:1");
    assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, NULL, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no device is in both"));
    cuzk_error_clear(&err);
    c.ours.recording.n_spans = 0;
    assert_int_equal(cuzk_beside_make(&b, &c.theirs, &c.ours.recording, NULL, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no kernel or copy of a CUDA device"));
    end_case(&c, &b);
}

/* ---- what is refused ---- */

static void refused(cuzk_status status, const char *words)
{
    cuzk_activities a;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_activities_open(&a, path, &err), status);
    if (strstr(err.text, words) == NULL) {
        fail_msg("\"%s\" is not in: %s", words, err.text);
    }
    assert_null(a.rows);
}

#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *words;
    } files[] = {
        {"", "no table " KERNELS},
        {"CREATE TABLE other(x)", "no table " KERNELS},
        {"CREATE VIEW " KERNELS " AS SELECT 1 AS start, 2 AS [end], 0 AS deviceId, 0 AS shortName",
         "no table " KERNELS},
        {"CREATE TABLE " KERNELS "(start, [end], shortName)",
         "table " KERNELS ": no column deviceId"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName)", "has no kernel"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS " VALUES(1, 2, 0, 0), ('x', 2, 0, 0)",
         "row 1, column start: no whole number"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS " VALUES(1, 2.5, 0, 0)",
         "row 0, column end"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS " VALUES(1, 2, NULL, 0)",
         "row 0, column deviceId"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS " VALUES(2, 1, 0, 0)",
         "from 2 to 1 ns"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS " VALUES(1, 2, 64, 0)",
         "device 64, expected 0 to 63"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS " VALUES(1, 9223372036854775807, 0, 0)",
         "from 1 to 9223372036854775807 ns"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName);"
         "INSERT INTO " KERNELS
         " VALUES(1, 2, 0, 0), (2000000000000000000, 2000000000000000001, 0, 0)",
         "more than a hundred days"},
        {"CREATE TABLE " KERNELS "(start, [end], deviceId, shortName,"
         " x AS (1)); INSERT INTO " KERNELS
         "(start, [end], deviceId, shortName) VALUES(1, 2, 0, 0);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, [end], deviceId, bytes)",
         "CUPTI_ACTIVITY_KIND_MEMCPY: no column copyKind"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        finish(make(files[i].sql));
        refused(CUZK_E_FORMAT, files[i].words);
    }
}

static void test_no_database(void **state)
{
    (void)state;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("this is not a database, and long enough for a header of one: "
          "it takes a hundred bytes, of which these are the last ....................",
          f);
    fclose(f);
    refused(CUZK_E_FORMAT, "not a database");
    cuzk_activities a;
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_activities_open(&a, "/tmp", &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "not a regular file"));
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_activities_open(&a, "/nowhere/x", &err), CUZK_E_FILE);
    assert_non_null(strstr(err.text, "No such file"));
}

/* Bytes of a good file are changed, or its end is cut off: it is read or refused, with a reason. */
static void test_damaged(void **state)
{
    (void)state;
    enum { ROUNDS = 300, MOST = 1 << 17 };
    static uint8_t good[MOST], bad[MOST];
    case_of c;
    cuzk_beside b = {0};
    begin_case(&c, &(plan){0});
    end_case(&c, &b);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(good, 1, MOST, f);
    fclose(f);
    assert_true(n > 4096 && n < MOST);
    int n_refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n_left = round % 8 == 7 ? (size_t)below((int64_t)n) : n;
        memcpy(bad, good, n);
        for (int64_t k = round % 8 == 7 ? 0 : 1 + below(20); k > 0; k--) {
            /* headers of pages more than the rest of them */
            size_t at = (size_t)below((int64_t)n);
            bad[below(2) == 0 ? at : at / 4096 * 4096 + at % 128] = (uint8_t)below(256);
        }
        f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bad, 1, n_left, f), n_left);
        fclose(f);
        cuzk_activities a;
        cuzk_error_clear(&err);
        cuzk_status status = cuzk_activities_open(&a, path, &err);
        if (status != CUZK_OK) {
            n_refused++;
            assert_true(err.text[0] != 0 && a.rows == NULL);
            continue;
        }
        assert_true(a.n <= n / 5);
        if (cuzk_beside_make(&b, &a, NULL, NULL, &err) == CUZK_OK) {
            cuzk_text text = {0};
            cuzk_beside_put_json(&text, &b);
            cuzk_text_clear(&text);
            cuzk_beside_clear(&b);
        }
        cuzk_activities_clear(&a);
    }
    assert_true(n_refused > ROUNDS / 10 && n_refused < ROUNDS);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    case_of c;
    begin_case(&c, &(plan){.n_spans = 20});
    cuzk_activities_clear(&c.theirs);
    bool has_failed = true;
    for (unsigned n = 0; has_failed; n++) {
        cuzk_beside b = {0};
        cuzk_text text = {0};
        assert_true(n < 1000);
        cuzk_error_clear(&err);
        alloc_fail_at(n);
        cuzk_status status = cuzk_activities_open(&c.theirs, path, &err);
        if (status == CUZK_OK) {
            status = cuzk_beside_make(&b, &c.theirs, &c.ours.recording, NULL, &err);
        }
        if (status == CUZK_OK) {
            cuzk_beside_put_text(&text, &b);
            cuzk_beside_put_json(&text, &b);
            status = cuzk_text_check(&text, &err);
        }
        has_failed = alloc_fail_stop();
        assert_true(status == (has_failed ? CUZK_E_MEMORY : CUZK_OK));
        cuzk_text_clear(&text);
        cuzk_beside_clear(&b);
        cuzk_activities_clear(&c.theirs);
    }
    cuzk_recording_clear(&c.ours.recording);
}

static int begin(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),   cmocka_unit_test(test_same),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_common_time),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_longer),
        cmocka_unit_test(test_drift),   cmocka_unit_test(test_shifted),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_no_database),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
