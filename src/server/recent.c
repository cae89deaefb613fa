/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/recent.h"

#include "base/clock.h"
#include "timeline/recording.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = sizeof(cuzk_timespan) / sizeof(uint64_t),
    JOB_SLOTS = 2 * CUZK_RECENT_JOBS, /* a power of two; half of them are free at least */
    /* of an open slot's turn, which never falls: what its last two bits say */
    IS_FREE = 0,
    IS_CHANGING = 1,
    IS_OPEN = 2,
    TURN = 4
};

/* A span that has begun. Its thread alone changes it; a reader copies its words (relaxed atomics)
 * and drops them where the turn has moved meanwhile. */
typedef struct {
    _Alignas(64) atomic_uint_fast64_t turn; /* a line of the cache each */
    atomic_uint_fast64_t words[WORDS];
} open_slot;

/* What was taken at a time. */
typedef struct chunk {
    struct chunk *newer;
    uint64_t since_ns, taken_ns; /* it holds what ended between the two */
    size_t n_spans, n_bytes, n_starts;
    cuzk_recent_start starts[]; /* the bytes of the pieces are behind them */
} chunk;

static size_t size_of(const chunk *c)
{
    return sizeof *c + c->n_starts * sizeof *c->starts + c->n_bytes;
}

static char *bytes_of(chunk *c)
{
    return (char *)(c->starts + c->n_starts);
}

struct cuzk_recent {
    uint64_t limit_bytes;
    pthread_mutex_t lock; /* guards what follows */
    chunk *oldest, *newest;
    uint64_t n_bytes;
    uint64_t taken_ns;                    /* the last time, also where nothing was there to take */
    uint64_t n_lost;                      /* spans that there was no memory for */
    cuzk_timespan told[CUZK_RECENT_OPEN]; /* that were open then */
    size_t n_told;
    pthread_mutex_t jobs_lock; /* guards what follows; taken inside lock, held briefly */
    cuzk_timespan *jobs; /* unfinished ones, JOB_SLOTS: each at its number or behind it, without a
                            free one (job 0) between; value: units that no dropped piece began */
    size_t n_jobs;
    open_slot open[CUZK_RECENT_OPEN];
};

static _Thread_local unsigned next_slot; /* that this thread left last */

cuzk_recent *cuzk_recent_create(uint64_t limit_bytes)
{
    cuzk_recent *r = aligned_alloc(_Alignof(cuzk_recent), sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    memset(r, 0, sizeof *r);
    pthread_mutex_init(&r->lock, NULL); /* neither fails on Linux */
    pthread_mutex_init(&r->jobs_lock, NULL);
    r->limit_bytes = limit_bytes;
    r->taken_ns = cuzk_now_ns();
    r->jobs = calloc(JOB_SLOTS, sizeof *r->jobs);
    if (r->jobs == NULL) {
        cuzk_recent_destroy(r);
        return NULL;
    }
    return r;
}

/* Under the lock of jobs: the slot of an unfinished job, or the free one where it would be. */
static size_t find_job(const cuzk_recent *r, uint64_t job)
{
    size_t i = job % JOB_SLOTS;
    while (r->jobs[i].job != 0 && r->jobs[i].job != job) {
        i = (i + 1) % JOB_SLOTS;
    }
    return i;
}

/* Under the lock of jobs: a slot is freed; those behind it that could be there move up. */
static void free_job(cuzk_recent *r, size_t i)
{
    for (size_t k = (i + 1) % JOB_SLOTS; r->jobs[k].job != 0; k = (k + 1) % JOB_SLOTS) {
        size_t home = r->jobs[k].job % JOB_SLOTS;
        if ((k - home) % JOB_SLOTS >= (k - i) % JOB_SLOTS) {
            r->jobs[i] = r->jobs[k];
            i = k;
        }
    }
    r->jobs[i].job = 0;
    r->n_jobs--;
}

/* Under the lock: a piece's starts are added to (by 1) or taken from (-1) what jobs have left. */
static void count_starts(cuzk_recent *r, const chunk *c, int by)
{
    pthread_mutex_lock(&r->jobs_lock);
    for (size_t i = 0; i < c->n_starts; i++) {
        cuzk_timespan *accepted = &r->jobs[find_job(r, c->starts[i].job)];
        if (accepted->job != 0) {
            accepted->value += (uint64_t)(by * c->starts[i].units);
        }
    }
    pthread_mutex_unlock(&r->jobs_lock);
}

static void drop_oldest(cuzk_recent *r)
{
    chunk *c = r->oldest;
    r->oldest = c->newer;
    if (r->oldest == NULL) {
        r->newest = NULL;
    }
    r->n_bytes -= size_of(c);
    count_starts(r, c, -1);
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
    free(recent->jobs);
    pthread_mutex_destroy(&recent->jobs_lock);
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

static void keep(cuzk_recent *r, uint64_t now_ns, const cuzk_recent_pieces *p)
{
    const chunk head = {.since_ns = r->taken_ns,
                        .taken_ns = now_ns,
                        .n_spans = p->n_spans,
                        .n_bytes = p->n_bytes,
                        .n_starts = p->n_starts};
    size_t n = size_of(&head);
    make_room(r, now_ns, n);
    chunk *c = n <= r->limit_bytes ? malloc(n) : NULL;
    if (c == NULL) {
        r->n_lost += p->n_spans;
        return;
    }
    *c = head;
    if (p->n_starts > 0) {
        memcpy(c->starts, p->starts, p->n_starts * sizeof *c->starts);
    }
    memcpy(bytes_of(c), p->bytes, p->n_bytes);
    if (r->newest != NULL) {
        r->newest->newer = c;
    } else {
        r->oldest = c;
    }
    r->newest = c;
    r->n_bytes += n;
}

/* What is open in a slot; false: nothing, or it changed meanwhile. */
static bool read_open(open_slot *s, cuzk_timespan *span)
{
    uint64_t words[WORDS];
    uint64_t turn = atomic_load_explicit(&s->turn, memory_order_acquire);
    if (turn % TURN != IS_OPEN) {
        return false;
    }
    for (size_t i = 0; i < WORDS; i++) {
        /* acquire: a word of a later span shows its turn below */
        words[i] = atomic_load_explicit(&s->words[i], memory_order_acquire);
    }
    memcpy(span, words, sizeof words);
    return atomic_load_explicit(&s->turn, memory_order_relaxed) == turn;
}

/* Under the lock. */
static void tell_open(cuzk_recent *r, uint64_t now_ns)
{
    r->n_told = 0;
    for (size_t i = 0; i < CUZK_RECENT_OPEN; i++) {
        cuzk_timespan *span = &r->told[r->n_told];
        if (read_open(&r->open[i], span) && span->begin_ns < now_ns) {
            span->end_ns = now_ns;
            r->n_told++;
        }
    }
}

void cuzk_recent_put(cuzk_recent *recent, const cuzk_recent_pieces *pieces)
{
    pthread_mutex_lock(&recent->lock);
    uint64_t now_ns = cuzk_now_ns();
    make_room(recent, now_ns, 0);
    if (pieces->n_bytes > 0) {
        keep(recent, now_ns, pieces);
    }
    tell_open(recent, now_ns);
    recent->taken_ns = now_ns;
    pthread_mutex_unlock(&recent->lock);
}

void cuzk_recent_job(cuzk_recent *recent, const cuzk_timespan *accepted)
{
    pthread_mutex_lock(&recent->jobs_lock);
    if (recent->n_jobs < CUZK_RECENT_JOBS && accepted->job != 0) {
        cuzk_timespan *job = &recent->jobs[find_job(recent, accepted->job)];
        recent->n_jobs += job->job == 0;
        *job = *accepted;
        job->text = 0; /* it may be dropped */
    }
    pthread_mutex_unlock(&recent->jobs_lock);
}

void cuzk_recent_job_ended(cuzk_recent *recent, uint64_t job)
{
    pthread_mutex_lock(&recent->jobs_lock);
    size_t i = find_job(recent, job);
    if (recent->jobs[i].job != 0) {
        free_job(recent, i);
    }
    pthread_mutex_unlock(&recent->jobs_lock);
}

int cuzk_recent_begin(cuzk_recent *recent, const cuzk_timespan *span)
{
    for (unsigned i = 0; i < CUZK_RECENT_OPEN; i++) {
        unsigned k = (next_slot + i) % CUZK_RECENT_OPEN;
        open_slot *s = &recent->open[k];
        uint64_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed);
        if (turn % TURN == IS_FREE &&
            atomic_compare_exchange_strong_explicit(&s->turn, &turn, turn + IS_CHANGING,
                                                    memory_order_acquire, memory_order_relaxed)) {
            uint64_t words[WORDS];
            memcpy(words, span, sizeof words);
            for (size_t w = 0; w < WORDS; w++) {
                atomic_store_explicit(&s->words[w], words[w], memory_order_release);
            }
            atomic_store_explicit(&s->turn, turn + IS_OPEN, memory_order_release);
            return (int)k;
        }
    }
    return -1;
}

void cuzk_recent_end(cuzk_recent *recent, int slot)
{
    if (slot >= 0) {
        open_slot *s = &recent->open[slot];
        uint64_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed);
        atomic_store_explicit(&s->turn, turn - IS_OPEN + TURN, memory_order_release);
        next_slot = (unsigned)slot;
    }
}

/* Whether a copy leaves a piece out: too old, or one of the oldest where there are more spans than
 * it may have. Texts are not left out for that: later spans name them, too. */
static bool is_left_out(const chunk *c, uint64_t since_ns, size_t *n_too_many)
{
    if (c->taken_ns < since_ns) {
        return true;
    }
    bool is_out = *n_too_many > 0 && c->n_spans > 0;
    *n_too_many -= !is_out ? 0 : *n_too_many < c->n_spans ? *n_too_many : c->n_spans;
    return is_out;
}

/* Under the lock: unfinished jobs whose beginning is in no piece that was copied. */
static void copy_jobs(cuzk_recent *r, cuzk_text *text, uint64_t begin_ns)
{
    pthread_mutex_lock(&r->jobs_lock);
    for (size_t i = 0; i < JOB_SLOTS && r->n_jobs > 0; i++) {
        if (r->jobs[i].job != 0 && r->jobs[i].end_ns < begin_ns) {
            cuzk_recording_put_spans(text, &r->jobs[i], 1);
        }
    }
    pthread_mutex_unlock(&r->jobs_lock);
}

uint64_t cuzk_recent_copy(cuzk_recent *recent, cuzk_text *text, uint64_t *begin_ns,
                          uint64_t since_ns, size_t n_spans_max)
{
    pthread_mutex_lock(&recent->lock);
    size_t n_spans = 0;
    for (const chunk *c = recent->oldest; c != NULL; c = c->newer) {
        n_spans += c->taken_ns >= since_ns ? c->n_spans : 0;
    }
    const size_t n_too_many = n_spans > n_spans_max ? n_spans - n_spans_max : 0;
    size_t n_left = n_too_many;
    uint64_t first_ns = recent->oldest != NULL ? recent->oldest->since_ns : recent->taken_ns;
    for (chunk *c = recent->oldest; c != NULL; c = c->newer) {
        if (is_left_out(c, since_ns, &n_left)) {
            first_ns = c->taken_ns;
            count_starts(recent, c, -1);
        } else {
            cuzk_text_put_bytes(text, bytes_of(c), c->n_bytes);
        }
    }
    copy_jobs(recent, text, first_ns);
    n_left = n_too_many;
    for (const chunk *c = recent->oldest; c != NULL; c = c->newer) {
        if (is_left_out(c, since_ns, &n_left)) {
            count_starts(recent, c, 1);
        }
    }
    if (recent->n_told > 0) {
        cuzk_recording_put_spans(text, recent->told, recent->n_told);
    }
    if (recent->n_lost > 0) {
        cuzk_recording_put_lost(text, recent->n_lost);
    }
    *begin_ns = first_ns > since_ns ? first_ns : since_ns;
    uint64_t taken_ns = recent->taken_ns;
    pthread_mutex_unlock(&recent->lock);
    return taken_ns;
}
