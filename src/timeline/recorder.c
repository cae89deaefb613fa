/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A ring has one writer, its thread, and one reader at a time. The writer never waits: the reader
 * copies words that may be written at the same moment (relaxed atomics), then looks where the
 * writer is and drops what it may have overtaken. */
#define _GNU_SOURCE /* pthread_getname_np, sem_clockwait */
#include "timeline/recorder.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = sizeof(cuzk_timespan) / sizeof(uint64_t),
    TEXT_MAX = 1024,
    NAME_MAX = 16,
    BATCH = 512,
    WAKE_AT = CUZK_RECORDER_RING / 2,  /* spans that wait: the reader is woken, */
    WAKE_EACH = CUZK_RECORDER_RING / 8 /* and again after so many more */
};

typedef struct {
    atomic_uint_fast64_t head; /* spans put; slot head % RING is being written */
    atomic_uint_fast64_t tail; /* spans taken or lost; the reader writes it */
    atomic_bool is_left;       /* the thread has ended: the ring can serve another one */
    bool is_told;              /* reader: its thread was told to the sink */
    uint16_t thread;           /* its number, set before head moves */
    char name[NAME_MAX];
    atomic_uint_fast64_t words[CUZK_RECORDER_RING][WORDS];
} ring;

typedef struct {
    uint32_t number;
    uint32_t n_bytes;
} text_entry;

static atomic_bool is_on;
static sem_t wake; /* posted: there is something to take now; made by the first start */
static atomic_uint_fast64_t n_refused;                   /* spans without a ring */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static ring *rings[CUZK_RECORDER_THREADS];
static size_t n_rings;
static uint16_t n_threads;
static pthread_key_t key;
static bool has_key;
static char *text_bytes; /* texts that wait, one after the other */
static size_t n_text_bytes;
static text_entry *text_entries;
static size_t n_text_entries;
static uint32_t n_texts;
static pthread_mutex_t take_lock = PTHREAD_MUTEX_INITIALIZER; /* one reader; taken before lock */

static _Thread_local ring *own;
static _Thread_local cuzk_timespan work; /* what the thread works on */
static _Thread_local bool has_work;
static _Thread_local bool is_refused; /* no ring could be had: not tried again */

static void leave(void *value)
{
    ring *r = value;
    atomic_store_explicit(&r->is_left, true, memory_order_release);
}

cuzk_status cuzk_recorder_start(cuzk_error *err)
{
    pthread_mutex_lock(&lock);
    bool is_ready = has_key || (sem_init(&wake, 0, 0) == 0 && pthread_key_create(&key, leave) == 0);
    has_key = is_ready;
    if (is_ready && text_bytes == NULL) {
        text_bytes = malloc(CUZK_RECORDER_TEXT_BYTES);
        text_entries = calloc(CUZK_RECORDER_TEXTS, sizeof *text_entries);
        is_ready = text_bytes != NULL && text_entries != NULL;
        if (!is_ready) {
            free(text_bytes);
            free(text_entries);
            text_bytes = NULL;
            text_entries = NULL;
        }
    }
    if (is_ready) {
        atomic_store_explicit(&is_on, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return is_ready
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_MEMORY, "starting the timeline's recorder: out of memory");
}

void cuzk_recorder_stop(void)
{
    atomic_store_explicit(&is_on, false, memory_order_release);
}

bool cuzk_recorder_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_acquire);
}

/* A ring whose thread has ended and whose spans are taken, or a new one; NULL: none. */
static ring *find_ring(void)
{
    for (size_t i = 0; i < n_rings; i++) {
        ring *r = rings[i];
        if (atomic_load_explicit(&r->is_left, memory_order_acquire) &&
            atomic_load_explicit(&r->tail, memory_order_relaxed) ==
                atomic_load_explicit(&r->head, memory_order_relaxed)) {
            return r;
        }
    }
    if (n_rings == CUZK_RECORDER_THREADS) {
        return NULL;
    }
    ring *r = calloc(1, sizeof *r);
    if (r != NULL) {
        rings[n_rings++] = r;
    }
    return r;
}

static ring *enter(void)
{
    pthread_mutex_lock(&lock);
    ring *r = n_threads < UINT16_MAX ? find_ring() : NULL;
    if (r != NULL && pthread_setspecific(key, r) == 0) {
        r->thread = n_threads++;
        r->is_told = false;
        if (pthread_getname_np(pthread_self(), r->name, sizeof r->name) != 0) {
            r->name[0] = 0;
        }
        atomic_store_explicit(&r->is_left, false, memory_order_relaxed);
        own = r;
    } else {
        is_refused = true;
        r = NULL;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

void cuzk_recorder_put(const cuzk_timespan *span)
{
    if (!atomic_load_explicit(&is_on, memory_order_acquire)) {
        return;
    }
    ring *r = own != NULL || is_refused ? own : enter();
    if (r == NULL) {
        atomic_fetch_add_explicit(&n_refused, 1, memory_order_relaxed);
        return;
    }
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    atomic_uint_fast64_t *slot = r->words[head % CUZK_RECORDER_RING];
#pragma GCC unroll 6
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t word;
        memcpy(&word, (const char *)span + i * sizeof word, sizeof word);
        atomic_store_explicit(&slot[i], word, memory_order_release);
    }
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    uint64_t n_wait = head + 1 - atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (n_wait >= WAKE_AT && n_wait % WAKE_EACH == 0) {
        cuzk_recorder_wake();
    }
}

void cuzk_recorder_wake(void)
{
    sem_post(&wake);
}

void cuzk_recorder_wait(void)
{
    uint64_t until_ns = cuzk_now_ns() + CUZK_RECORDER_PERIOD_MS * 1000000ull;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                                   .tv_nsec = (long)(until_ns % 1000000000u)};
    while (sem_clockwait(&wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
    while (sem_trywait(&wake) == 0) { /* one taking answers all */
    }
}

void cuzk_recorder_work_on(const cuzk_timespan *of)
{
    work = *of;
    has_work = true;
}

void cuzk_recorder_put_inner(cuzk_span_name name, uint64_t begin_ns, uint64_t end_ns,
                             uint64_t value)
{
    if (!has_work || !cuzk_recorder_is_on()) {
        return;
    }
    cuzk_timespan span = work;
    span.name = (uint16_t)name;
    span.begin_ns = begin_ns;
    span.end_ns = end_ns;
    span.value = value;
    span.text = 0;
    span.status = 0;
    cuzk_track track = cuzk_span_about_of(name)->track;
    if (track != CUZK_TRACK_WORKER && track != CUZK_TRACK_DEVICE) {
        span.device = span.worker = -1; /* a thread's: no worker of a device is busy with it */
    } else if (name == CUZK_SPAN_KERNEL_CPU) {
        span.worker = -1;
    }
    cuzk_recorder_put(&span);
}

uint32_t cuzk_recorder_text(const char *text)
{
    if (!cuzk_recorder_is_on()) {
        return 0;
    }
    size_t n = strnlen(text, TEXT_MAX);
    uint32_t number = 0;
    pthread_mutex_lock(&lock);
    if (n_text_entries < CUZK_RECORDER_TEXTS && n <= CUZK_RECORDER_TEXT_BYTES - n_text_bytes &&
        n_texts < UINT32_MAX) {
        number = ++n_texts;
        memcpy(text_bytes + n_text_bytes, text, n);
        n_text_bytes += n;
        text_entries[n_text_entries++] = (text_entry){number, (uint32_t)n};
    }
    pthread_mutex_unlock(&lock);
    return number;
}

/* Under both locks. */
static void take_texts(const cuzk_recorder_sink *sink)
{
    const char *bytes = text_bytes;
    for (size_t i = 0; i < n_text_entries; i++) {
        sink->text(sink->user, text_entries[i].number, bytes, text_entries[i].n_bytes);
        bytes += text_entries[i].n_bytes;
    }
    n_text_entries = 0;
    n_text_bytes = 0;
}

/* The spans from `from` on, at most BATCH, as far as the writer did not overtake; returns where
 * the next ones begin. */
static uint64_t take_batch(ring *r, uint64_t from, uint64_t to, const cuzk_recorder_sink *sink)
{
    cuzk_timespan batch[BATCH];
    uint64_t n = to - from < BATCH ? to - from : BATCH;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t words[WORDS];
        atomic_uint_fast64_t *slot = r->words[(from + k) % CUZK_RECORDER_RING];
        for (size_t i = 0; i < WORDS; i++) {
            /* acquire: a word of a later span shows its writer's head below */
            words[i] = atomic_load_explicit(&slot[i], memory_order_acquire);
        }
        memcpy(&batch[k], words, sizeof words);
        batch[k].thread = r->thread; /* of all spans that a ring has at a time */
    }
    /* the slot of `head` itself may be half written */
    uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
    uint64_t first = head + 1 > CUZK_RECORDER_RING ? head + 1 - CUZK_RECORDER_RING : 0;
    uint64_t skip = first > from ? (first - from < n ? first - from : n) : 0;
    if (skip > 0) {
        sink->lost(sink->user, skip);
    }
    if (n > skip) {
        sink->spans(sink->user, batch + skip, n - skip);
    }
    return from + n;
}

static void take_ring(ring *r, const cuzk_recorder_sink *sink)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (head == tail) {
        return;
    }
    if (!r->is_told) {
        r->is_told = true;
        sink->thread(sink->user, r->thread, r->name);
    }
    if (head - tail >= CUZK_RECORDER_RING) {
        uint64_t n_lost = head + 1 - CUZK_RECORDER_RING - tail;
        sink->lost(sink->user, n_lost);
        tail += n_lost;
    }
    while (tail < head) {
        tail = take_batch(r, tail, head, sink);
    }
    pthread_mutex_lock(&lock); /* find_ring looks at tail */
    atomic_store_explicit(&r->tail, tail, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

void cuzk_recorder_take(const cuzk_recorder_sink *sink)
{
    pthread_mutex_lock(&take_lock);
    pthread_mutex_lock(&lock);
    size_t n = n_rings;
    take_texts(sink);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < n; i++) {
        take_ring(rings[i], sink);
    }
    uint64_t n_lost = atomic_exchange_explicit(&n_refused, 0, memory_order_relaxed);
    if (n_lost > 0) {
        sink->lost(sink->user, n_lost);
    }
    pthread_mutex_unlock(&take_lock);
}

uint64_t cuzk_recorder_bytes(void)
{
    pthread_mutex_lock(&lock);
    uint64_t bytes = n_rings * sizeof(ring);
    if (text_bytes != NULL) {
        bytes += CUZK_RECORDER_TEXT_BYTES + CUZK_RECORDER_TEXTS * sizeof(text_entry);
    }
    pthread_mutex_unlock(&lock);
    return bytes;
}
