/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE /* gettid, pthread_setname_np */
#include "server/live.h"

#include "base/clock.h"
#include "server/recent.h"
#include "timeline/picture.h"
#include "timeline/recording.h"
#include "timeline/report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    WAITING_MAX = 16, /* calls */
    SECONDS_DEFAULT = 60,
    SPAN_BYTES = 160,     /* a span packed, read, sorted and analysed, and gaps between spans */
    GAPS_MAX = 256,       /* that are told: the longest */
    JOBS_MAX = 64,        /* the latest */
    NICE = 5,             /* a proof goes before a picture */
    ANEW_NS = 200000000,  /* an answer serves others for so long, */
    ANEW_TIMES = 10,      /* or for so many times as long as it took */
    GAP_NS_MIN = 1000000, /* shorter gaps are counted, not listed */
    GAP_SHARE = 1000,     /* of the time, likewise */
    SLICES = 60,          /* of the JSON, but none longer than */
    SLICE_NS_MAX = 1000000000
};

typedef enum { LOOK_JSON, LOOK_PICTURE, LOOK_RECORDING, LOOK_COUNT } look_kind;

typedef struct {
    cuzk_http_call *call;
    look_kind kind;
    unsigned seconds;
} question;

/* The last answer of a kind. */
typedef struct {
    cuzk_text text;
    unsigned seconds; /* 0: there is none */
    uint64_t until_ns;
} answer;

struct cuzk_live {
    cuzk_record *record;
    size_t n_spans_max;
    answer answers[LOOK_COUNT]; /* of the thread */
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;
    question waiting[WAITING_MAX]; /* the first n_waiting, in order */
    size_t n_waiting;
    bool ends;
};

/* ---- answers --------------------------------------------------------------------------------- */

/* The longest gaps and the latest jobs; of each second. */
static cuzk_status put_json(cuzk_text *text, const cuzk_recording *recording, cuzk_analysis *a,
                            cuzk_error *err)
{
    cuzk_recording_report report = {.recording = recording, .analysis = a};
    cuzk_job_times *jobs = NULL;
    size_t n_jobs = 0;
    CUZK_TRY(cuzk_job_times_get(&jobs, &n_jobs, recording, err));
    size_t n_old = n_jobs > JOBS_MAX ? n_jobs - JOBS_MAX : 0;
    report.jobs = jobs != NULL ? jobs + n_old : NULL;
    report.n_jobs = n_jobs - n_old;
    cuzk_report_sort_gaps(a->gaps, a->n_gaps);
    a->n_gaps = a->n_gaps < GAPS_MAX ? a->n_gaps : GAPS_MAX;
    cuzk_report_put_json(text, &report);
    free(jobs);
    return CUZK_OK;
}

static cuzk_status put_analysis(cuzk_text *text, look_kind kind, const cuzk_recording *recording,
                                uint64_t begin_ns, uint64_t end_ns, cuzk_error *err)
{
    uint64_t ns = end_ns - begin_ns;
    uint64_t slice_ns = ns / SLICES + 1 < SLICE_NS_MAX ? ns / SLICES + 1 : SLICE_NS_MAX;
    cuzk_analysis_options options = {
        .begin_ns = begin_ns,
        .end_ns = end_ns,
        .gap_ns = ns / GAP_SHARE > GAP_NS_MIN ? ns / GAP_SHARE : GAP_NS_MIN,
        .slice_ns = kind == LOOK_PICTURE ? ns / CUZK_PICTURE_COLUMNS + 1 : slice_ns};
    cuzk_analysis a;
    CUZK_TRY(cuzk_analyse(&a, recording, &options, err));
    cuzk_status status = kind == LOOK_PICTURE ? cuzk_picture_put(text, recording, &a, err)
                                              : put_json(text, recording, &a, err);
    cuzk_analysis_clear(&a);
    return status;
}

static cuzk_status look(cuzk_live *live, cuzk_text *text, const question *q, cuzk_error *err)
{
    cuzk_text bytes = {0};
    uint64_t now_ns = cuzk_now_ns(), back_ns = (uint64_t)q->seconds * 1000000000u;
    uint64_t begin_ns, end_ns, since_ns = now_ns > back_ns ? now_ns - back_ns : 0;
    /* of the jobs that go on, the time before is known only where it is looked at, too */
    uint64_t from_ns = q->kind == LOOK_RECORDING ? since_ns : 0;
    cuzk_status status =
        cuzk_record_copy(live->record, &bytes, &begin_ns, &end_ns, from_ns, live->n_spans_max, err);
    if (q->kind == LOOK_RECORDING) {
        *text = bytes;
        return status;
    }
    cuzk_recording recording = {0};
    if (status == CUZK_OK) {
        status = cuzk_recording_read(&recording, (const uint8_t *)bytes.data, bytes.size, err);
    }
    cuzk_text_clear(&bytes);
    if (status == CUZK_OK) {
        begin_ns = begin_ns > since_ns ? begin_ns : since_ns;
        begin_ns = begin_ns < end_ns ? begin_ns : end_ns;
        status = put_analysis(text, q->kind, &recording, begin_ns, end_ns, err);
    }
    cuzk_recording_clear(&recording);
    return status == CUZK_OK ? cuzk_text_check(text, err) : status;
}

static void answer_one(cuzk_live *live, const question *q)
{
    static const char *const types[LOOK_COUNT] = {"application/json", "image/svg+xml",
                                                  "application/octet-stream"};
    answer *a = &live->answers[q->kind];
    uint64_t begin_ns = cuzk_now_ns();
    cuzk_error err = {0};
    cuzk_status status = CUZK_OK;
    if (a->seconds != q->seconds || begin_ns >= a->until_ns) {
        cuzk_text_clear(&a->text);
        status = look(live, &a->text, q, &err);
        uint64_t took_ns = ANEW_TIMES * (cuzk_now_ns() - begin_ns);
        a->seconds = status == CUZK_OK ? q->seconds : 0;
        a->until_ns = begin_ns + (took_ns > ANEW_NS ? took_ns : ANEW_NS);
    }
    if (status == CUZK_OK) {
        cuzk_http_answer(q->call, 200, types[q->kind], a->text.data, a->text.size);
    } else {
        cuzk_http_answer(q->call, status == CUZK_E_UNSUPPORTED ? 404 : 500,
                         "text/plain; charset=utf-8", err.text, strlen(err.text));
    }
    if (q->kind == LOOK_RECORDING) { /* large, and asked for once */
        cuzk_text_clear(&a->text);
        a->seconds = 0;
    }
}

static void *run(void *user)
{
    cuzk_live *live = user;
    pthread_setname_np(pthread_self(), "live");
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    pthread_mutex_lock(&live->lock);
    for (;;) {
        while (live->n_waiting == 0 && !live->ends) {
            pthread_cond_wait(&live->wake, &live->lock);
        }
        if (live->ends) {
            break;
        }
        question q = live->waiting[0];
        live->n_waiting--;
        memmove(live->waiting, live->waiting + 1, live->n_waiting * sizeof q);
        pthread_mutex_unlock(&live->lock);
        answer_one(live, &q);
        pthread_mutex_lock(&live->lock);
    }
    pthread_mutex_unlock(&live->lock);
    return NULL;
}

/* ---- questions ------------------------------------------------------------------------------- */

static void refuse(cuzk_http_call *call, unsigned status, const char *text)
{
    cuzk_http_answer(call, status, "text/plain; charset=utf-8", text, strlen(text));
}

static bool read_seconds(unsigned *seconds, const char *text)
{
    *seconds = SECONDS_DEFAULT;
    if (text == NULL) {
        return true;
    }
    size_t n = strlen(text);
    if (n == 0 || n > 4 || strspn(text, "0123456789") != n) {
        return false;
    }
    *seconds = (unsigned)strtoul(text, NULL, 10);
    return *seconds >= 1 && *seconds <= CUZK_RECENT_SECONDS;
}

static void ask(cuzk_live *live, cuzk_http_call *call, look_kind kind)
{
    question q = {.call = call, .kind = kind};
    if (!read_seconds(&q.seconds, cuzk_http_query(call, "seconds"))) {
        char text[64];
        snprintf(text, sizeof text, "seconds: a whole number from 1 to %d\n", CUZK_RECENT_SECONDS);
        refuse(call, 400, text);
        return;
    }
    pthread_mutex_lock(&live->lock);
    bool is_taken = live->n_waiting < WAITING_MAX && !live->ends;
    if (is_taken) {
        live->waiting[live->n_waiting++] = q;
        pthread_cond_signal(&live->wake);
    }
    pthread_mutex_unlock(&live->lock);
    if (!is_taken) {
        refuse(call, 503, "others are looking; try again in a second\n");
    }
}

void cuzk_live_json(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)request;
    ask(user, call, LOOK_JSON);
}

void cuzk_live_picture(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)request;
    ask(user, call, LOOK_PICTURE);
}

void cuzk_live_recording(void *user, cuzk_http_call *call, const cuzk_http_request *request)
{
    (void)request;
    ask(user, call, LOOK_RECORDING);
}

cuzk_status cuzk_live_create(cuzk_live **out, cuzk_record *record, uint64_t look_bytes,
                             cuzk_error *err)
{
    cuzk_live *live = calloc(1, sizeof *live);
    CUZK_FAIL_IF(live == NULL, err, CUZK_E_MEMORY, "out of memory");
    live->record = record;
    live->n_spans_max = look_bytes / SPAN_BYTES;
    pthread_mutex_init(&live->lock, NULL); /* neither fails on Linux */
    pthread_cond_init(&live->wake, NULL);
    if (pthread_create(&live->thread, NULL, run, live) != 0) {
        pthread_cond_destroy(&live->wake);
        pthread_mutex_destroy(&live->lock);
        free(live);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "starting a thread: out of memory");
    }
    *out = live;
    return CUZK_OK;
}

void cuzk_live_destroy(cuzk_live *live)
{
    if (live == NULL) {
        return;
    }
    pthread_mutex_lock(&live->lock);
    live->ends = true;
    pthread_cond_signal(&live->wake);
    pthread_mutex_unlock(&live->lock);
    pthread_join(live->thread, NULL);
    for (size_t i = 0; i < live->n_waiting; i++) {
        refuse(live->waiting[i].call, 503, "shutting down\n");
    }
    for (size_t i = 0; i < LOOK_COUNT; i++) {
        cuzk_text_clear(&live->answers[i].text);
    }
    pthread_cond_destroy(&live->wake);
    pthread_mutex_destroy(&live->lock);
    free(live);
}
