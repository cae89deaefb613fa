/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/recent.h"

#include "base/clock.h"
#include "timeline/recording.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What was taken at a time. */
typedef struct chunk {
    struct chunk *newer;
    uint64_t since_ns, taken_ns; /* it holds what ended between the two */
    size_t n_spans, n_bytes;
    char bytes[];
} chunk;

struct cuzk_recent {
    uint64_t limit_bytes;
    pthread_mutex_t lock; /* guards what follows */
    chunk *oldest, *newest;
    uint64_t n_bytes;
    uint64_t taken_ns;                    /* the last time, also where nothing was there to take */
    uint64_t n_lost;                      /* spans that there was no memory for */
    cuzk_timespan told[CUZK_RECENT_OPEN]; /* that were open then */
    size_t n_told;
    pthread_mutex_t open_lock; /* guards what follows; taken inside lock */
    cuzk_timespan open[CUZK_RECENT_OPEN];
    bool is_open[CUZK_RECENT_OPEN];
};

cuzk_recent *cuzk_recent_create(uint64_t limit_bytes)
{
    cuzk_recent *r = calloc(1, sizeof *r);
    if (r != NULL) {
        pthread_mutex_init(&r->lock, NULL); /* neither fails on Linux */
        pthread_mutex_init(&r->open_lock, NULL);
        r->limit_bytes = limit_bytes;
        r->taken_ns = cuzk_now_ns();
    }
    return r;
}

static void drop_oldest(cuzk_recent *r)
{
    chunk *c = r->oldest;
    r->oldest = c->newer;
    if (r->oldest == NULL) {
        r->newest = NULL;
    }
    r->n_bytes -= sizeof *c + c->n_bytes;
    free(c);
}

void cuzk_recent_destroy(cuzk_recent *recent)
{
    if (recent == NULL) {
        return;
    }
    while (recent->oldest != NULL) {
        drop_oldest(recent);
    }
    pthread_mutex_destroy(&recent->open_lock);
    pthread_mutex_destroy(&recent->lock);
    free(recent);
}

/* Under the lock: what is too old, and too much for n_bytes more. */
static void make_room(cuzk_recent *r, uint64_t now_ns, size_t n_bytes)
{
    const uint64_t keep_ns = (uint64_t)CUZK_RECENT_SECONDS * 1000000000u;
    while (r->oldest != NULL &&
           (r->n_bytes + n_bytes > r->limit_bytes || r->oldest->taken_ns + keep_ns < now_ns)) {
        drop_oldest(r);
    }
}

static void keep(cuzk_recent *r, uint64_t now_ns, const char *pieces, size_t n_bytes,
                 size_t n_spans)
{
    size_t n = sizeof(chunk) + n_bytes;
    make_room(r, now_ns, n);
    chunk *c = n <= r->limit_bytes ? malloc(n) : NULL;
    if (c == NULL) {
        r->n_lost += n_spans;
        return;
    }
    *c = (chunk){
        .since_ns = r->taken_ns, .taken_ns = now_ns, .n_spans = n_spans, .n_bytes = n_bytes};
    memcpy(c->bytes, pieces, n_bytes);
    if (r->newest != NULL) {
        r->newest->newer = c;
    } else {
        r->oldest = c;
    }
    r->newest = c;
    r->n_bytes += n;
}

/* Under the lock. */
static void tell_open(cuzk_recent *r, uint64_t now_ns)
{
    r->n_told = 0;
    pthread_mutex_lock(&r->open_lock);
    for (size_t i = 0; i < CUZK_RECENT_OPEN; i++) {
        if (r->is_open[i] && r->open[i].begin_ns < now_ns) {
            r->told[r->n_told] = r->open[i];
            r->told[r->n_told++].end_ns = now_ns;
        }
    }
    pthread_mutex_unlock(&r->open_lock);
}

void cuzk_recent_put(cuzk_recent *recent, const char *pieces, size_t n_bytes, size_t n_spans)
{
    pthread_mutex_lock(&recent->lock);
    uint64_t now_ns = cuzk_now_ns();
    make_room(recent, now_ns, 0);
    if (n_bytes > 0) {
        keep(recent, now_ns, pieces, n_bytes, n_spans);
    }
    tell_open(recent, now_ns);
    recent->taken_ns = now_ns;
    pthread_mutex_unlock(&recent->lock);
}

int cuzk_recent_begin(cuzk_recent *recent, const cuzk_timespan *span)
{
    int slot = 0;
    pthread_mutex_lock(&recent->open_lock);
    while (slot < CUZK_RECENT_OPEN && recent->is_open[slot]) {
        slot++;
    }
    if (slot < CUZK_RECENT_OPEN) {
        recent->is_open[slot] = true;
        recent->open[slot] = *span;
    }
    pthread_mutex_unlock(&recent->open_lock);
    return slot < CUZK_RECENT_OPEN ? slot : -1;
}

void cuzk_recent_end(cuzk_recent *recent, int slot)
{
    if (slot >= 0) {
        pthread_mutex_lock(&recent->open_lock);
        recent->is_open[slot] = false;
        pthread_mutex_unlock(&recent->open_lock);
    }
}

uint64_t cuzk_recent_copy(cuzk_recent *recent, cuzk_text *text, uint64_t *begin_ns,
                          uint64_t since_ns, size_t n_spans_max)
{
    pthread_mutex_lock(&recent->lock);
    size_t n_spans = 0;
    for (const chunk *c = recent->oldest; c != NULL; c = c->newer) {
        n_spans += c->taken_ns >= since_ns ? c->n_spans : 0;
    }
    *begin_ns = recent->oldest != NULL && recent->oldest->since_ns > since_ns
                    ? recent->oldest->since_ns
                    : since_ns;
    for (const chunk *c = recent->oldest; c != NULL; c = c->newer) {
        if (c->taken_ns < since_ns) {
            continue;
        }
        if (n_spans > n_spans_max && c->n_spans > 0) { /* the oldest are left out, texts are not */
            n_spans -= c->n_spans;
            *begin_ns = c->taken_ns;
            continue;
        }
        cuzk_text_put_bytes(text, c->bytes, c->n_bytes);
    }
    if (recent->n_told > 0) {
        cuzk_recording_put_spans(text, recent->told, recent->n_told);
    }
    if (recent->n_lost > 0) {
        cuzk_recording_put_lost(text, recent->n_lost);
    }
    uint64_t taken_ns = recent->taken_ns;
    pthread_mutex_unlock(&recent->lock);
    return taken_ns;
}
