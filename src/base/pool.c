/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads of a pool sleep on one condition variable; a loop is published under the mutex, chunks
 * are taken by an atomic counter. The threads are made by the first loop that has work for them:
 * making, waking and ending one takes longer than the arithmetic of a tiny proof. */
#define _GNU_SOURCE
#include "base/pool.h"

#include "base/placement.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread of the pool besides the callers'. */
struct member {
    cuzk_pool *pool;
    unsigned number; /* from 1 */
    pthread_t thread;
};

/* A caller whose loop waits for its turn. */
struct turn {
    struct turn *next;
    unsigned urgency;
    bool is_given;
    pthread_cond_t given;
};

struct cuzk_pool {
    unsigned n_threads;
    pthread_mutex_t turns; /* guards the next three */
    bool is_taken;         /* a loop runs; what follows up to members is its caller's */
    unsigned urgency;      /* of that loop */
    struct turn *waiting;  /* the next one first */
    bool is_started;
    unsigned n_members; /* threads that the system gave: at most n_threads - 1 */
    struct member *members;
    pthread_mutex_t lock; /* guards generation, running, stop and the loop's description */
    pthread_cond_t start, done;
    uint64_t generation;
    unsigned running;
    bool stop;
    cuzk_pool_body body;
    void *ctx;
    size_t n_chunks;
    _Atomic size_t next;
    atomic_bool pauses; /* a more urgent loop waits: no chunk is taken; written under turns */
};

static void take_chunks(cuzk_pool *pool, unsigned thread)
{
    /* Relaxed: a hint; whose turn it is is decided under the mutex. */
    while (!atomic_load_explicit(&pool->pauses, memory_order_relaxed)) {
        /* Relaxed: the counter only hands out numbers; the mutex orders the loop's data. */
        size_t chunk = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (chunk >= pool->n_chunks) {
            return;
        }
        pool->body(pool->ctx, chunk, thread);
    }
}

static void *worker(void *p)
{
    const struct member *self = p;
    cuzk_pool *pool = self->pool;
    uint64_t seen = 0;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        while (!pool->stop && pool->generation == seen) {
            pthread_cond_wait(&pool->start, &pool->lock);
        }
        if (pool->stop) {
            pthread_mutex_unlock(&pool->lock);
            return NULL;
        }
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);

        take_chunks(pool, self->number);

        pthread_mutex_lock(&pool->lock);
        if (--pool->running == 0) {
            pthread_cond_signal(&pool->done);
        }
        pthread_mutex_unlock(&pool->lock);
    }
}

static unsigned cgroup_quota(void)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (f == NULL) {
        return 0;
    }
    unsigned long quota = 0, period = 0;
    int n = fscanf(f, "%lu %lu", &quota, &period);
    fclose(f);
    return n == 2 && period != 0 ? (unsigned)((quota + period - 1) / period) : 0;
}

unsigned cuzk_cpu_count(void)
{
    cpu_set_t set;
    unsigned n = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        n = (unsigned)CPU_COUNT(&set);
    }
    unsigned quota = cgroup_quota();
    return quota != 0 && quota < n ? quota : n;
}

cuzk_status cuzk_pool_create(cuzk_pool **out, unsigned n_threads, cuzk_error *err)
{
    if (n_threads == 0) {
        n_threads = cuzk_cpu_count();
    }
    cuzk_pool *pool = calloc(1, sizeof *pool);
    CUZK_FAIL_IF(pool == NULL, err, CUZK_E_MEMORY, "making a pool of %u threads: out of memory",
                 n_threads);
    pthread_mutex_init(&pool->turns, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->n_threads = n_threads;
    *out = pool;
    return CUZK_OK;
}

/* Make the threads; those that the system does not give are done without. */
static void make_members(cuzk_pool *pool)
{
    unsigned wanted = pool->n_threads - 1;
    pool->is_started = true;
    pool->members = calloc(wanted, sizeof *pool->members);
    while (pool->members != NULL && pool->n_members < wanted) {
        struct member *m = &pool->members[pool->n_members];
        *m = (struct member){.pool = pool, .number = pool->n_members + 1};
        if (pthread_create(&m->thread, NULL, worker, m) != 0) {
            return;
        }
        pool->n_members++;
    }
}

/* A pool serves everybody: its threads do not stand where its first caller does. */
static void start(cuzk_pool *pool)
{
    cuzk_placement_spot spot = cuzk_placement_leave();
    make_members(pool);
    cuzk_placement_return(spot);
}

void cuzk_pool_destroy(cuzk_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_members; i++) {
        pthread_join(pool->members[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turns);
    free(pool->members);
    free(pool);
}

unsigned cuzk_pool_threads(const cuzk_pool *pool)
{
    return pool == NULL ? 1 : pool->n_threads;
}

static _Thread_local unsigned thread_urgency;

unsigned cuzk_pool_set_urgency(unsigned urgency)
{
    unsigned before = thread_urgency;
    thread_urgency = urgency;
    return before;
}

unsigned cuzk_pool_waiting(cuzk_pool *pool)
{
    unsigned n = 0;
    pthread_mutex_lock(&pool->turns);
    for (const struct turn *t = pool->waiting; t != NULL; t = t->next) {
        n++;
    }
    pthread_mutex_unlock(&pool->turns);
    return n;
}

/* is_paused: a loop that goes on, before those that are as urgent. */
static void take_turn(cuzk_pool *pool, bool is_paused)
{
    pthread_mutex_lock(&pool->turns);
    if (!pool->is_taken) {
        pool->urgency = thread_urgency;
    } else {
        struct turn mine = {.urgency = thread_urgency};
        pthread_cond_init(&mine.given, NULL);
        struct turn **at = &pool->waiting;
        while (*at != NULL && (*at)->urgency >= mine.urgency + is_paused) {
            at = &(*at)->next;
        }
        mine.next = *at;
        *at = &mine;
        if (mine.urgency > pool->urgency) {
            atomic_store_explicit(&pool->pauses, true, memory_order_relaxed);
        }
        while (!mine.is_given) {
            pthread_cond_wait(&mine.given, &pool->turns);
        }
        pthread_cond_destroy(&mine.given);
    }
    pool->is_taken = true;
    pthread_mutex_unlock(&pool->turns);
}

static void give_turn(cuzk_pool *pool)
{
    pthread_mutex_lock(&pool->turns);
    struct turn *next = pool->waiting;
    pool->is_taken = next != NULL;
    atomic_store_explicit(&pool->pauses, false, memory_order_relaxed);
    if (next != NULL) {
        pool->waiting = next->next;
        pool->urgency = next->urgency;
        next->is_given = true;
        pthread_cond_signal(&next->given);
    }
    pthread_mutex_unlock(&pool->turns);
}

/* Run chunks from `first` on, with the turn. Returns how many have been run in all: fewer than
 * n_chunks where a more urgent loop came. */
static size_t run_from(cuzk_pool *pool, size_t first, size_t n_chunks, cuzk_pool_body body,
                       void *ctx)
{
    pthread_mutex_lock(&pool->lock);
    pool->body = body;
    pool->ctx = ctx;
    pool->n_chunks = n_chunks;
    /* Relaxed: published by the mutex. */
    atomic_store_explicit(&pool->next, first, memory_order_relaxed);
    pool->running = pool->n_members;
    pool->generation++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);

    take_chunks(pool, 0);

    pthread_mutex_lock(&pool->lock);
    while (pool->running != 0) {
        pthread_cond_wait(&pool->done, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    /* Relaxed: nobody takes chunks now. */
    size_t next = atomic_load_explicit(&pool->next, memory_order_relaxed);
    return next < n_chunks ? next : n_chunks;
}

void cuzk_pool_for(cuzk_pool *pool, size_t n_chunks, cuzk_pool_body body, void *ctx)
{
    if (pool == NULL || pool->n_threads == 1 || n_chunks <= 1) {
        for (size_t i = 0; i < n_chunks; i++) {
            body(ctx, i, 0);
        }
        return;
    }
    take_turn(pool, false);
    if (!pool->is_started) {
        start(pool);
    }
    size_t done = run_from(pool, 0, n_chunks, body, ctx);
    while (done < n_chunks) {
        give_turn(pool); /* to the one that is more urgent */
        take_turn(pool, true);
        done = run_from(pool, done, n_chunks, body, ctx);
    }
    give_turn(pool);
}

enum { COPY_CHUNK_BYTES = 1 << 20 };

typedef struct {
    char *to;
    const char *from;
    size_t n_bytes;
} chunked_copy;

static void copy_chunk(void *ctx, size_t chunk, unsigned thread)
{
    const chunked_copy *c = ctx;
    size_t at = chunk * COPY_CHUNK_BYTES, left = c->n_bytes - at;
    (void)thread;
    memcpy(c->to + at, c->from + at, left < COPY_CHUNK_BYTES ? left : COPY_CHUNK_BYTES);
}

void cuzk_pool_copy(cuzk_pool *pool, void *to, const void *from, size_t n_bytes)
{
    chunked_copy c = {to, from, n_bytes};
    cuzk_pool_for(pool, (n_bytes + COPY_CHUNK_BYTES - 1) / COPY_CHUNK_BYTES, copy_chunk, &c);
}
