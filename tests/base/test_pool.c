/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pool: what a loop promises to its body, callers that share a pool, threads that the system
 * does not give. */
#define _GNU_SOURCE
#include "alloc_fail.h"
#include "base/pool.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHUNKS = 500, THREADS_MAX = 8 };

/* pthread_create fails from the n-th call on; -1: never. The program is linked with --wrap.
 * Atomic: a pool's threads are made by whoever runs its first loop, while others are made here. */
static atomic_int creations_left = -1;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
    if (creations_left == 0) {
        return EAGAIN;
    }
    if (creations_left > 0) {
        creations_left--;
    }
    return __real_pthread_create(thread, attr, run, arg);
}

static unsigned n_tasks_at_start;

static unsigned n_tasks(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

/* A joined thread stays listed for a moment. */
static void assert_tasks(unsigned expected)
{
    for (int i = 0; i < 1000 && n_tasks() != expected; i++) {
        usleep(1000);
    }
    assert_int_equal(n_tasks(), expected);
}

struct loop {
    unsigned n_threads;
    atomic_flag busy[THREADS_MAX];
    atomic_uint n_seen[CHUNKS];
    uint64_t plain[CHUNKS]; /* not atomic: a chunk's writes must be seen after the loop */
    atomic_uint n_broken;
};

static void run_chunk(void *ctx, size_t chunk, unsigned thread)
{
    struct loop *l = ctx;
    if (thread >= l->n_threads || atomic_flag_test_and_set(&l->busy[thread])) {
        atomic_fetch_add(&l->n_broken, 1);
        return;
    }
    atomic_fetch_add(&l->n_seen[chunk], 1);
    l->plain[chunk] = 3 * chunk + 1;
    if (chunk % 17 == 0) {
        sched_yield();
    }
    atomic_flag_clear(&l->busy[thread]);
}

static void check_loop(cuzk_pool *pool, size_t n)
{
    static struct loop l;
    memset((void *)&l, 0, sizeof l);
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        atomic_flag_clear(&l.busy[i]);
    }
    l.n_threads = cuzk_pool_threads(pool);
    cuzk_pool_for(pool, n, run_chunk, &l);
    assert_int_equal(l.n_broken, 0);
    for (size_t i = 0; i < CHUNKS; i++) {
        assert_int_equal(l.n_seen[i], i < n);
        assert_int_equal(l.plain[i], i < n ? 3 * i + 1 : 0);
    }
}

static void test_loops(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 100, CHUNKS};
    for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, threads, NULL), CUZK_OK);
        assert_int_equal(cuzk_pool_threads(pool), threads);
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            check_loop(pool, counts[i]);
        }
        cuzk_pool_destroy(pool);
    }
    assert_int_equal(cuzk_pool_threads(NULL), 1);
    check_loop(NULL, CHUNKS);
    cuzk_pool_destroy(NULL);
}

/* ---- callers that share a pool ---- */

enum { CALLERS = 6, ROUNDS = 60 };

struct call;

struct shared {
    cuzk_pool *pool;
    pthread_mutex_t lock; /* guards the next two */
    const struct call *active;
    unsigned chunks_running; /* all of the loop `active` */
    atomic_uint n_broken;
};

struct call {
    struct shared *shared;
    atomic_uint sum;
};

static void shared_chunk(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    struct call *c = ctx;
    struct shared *s = c->shared;
    pthread_mutex_lock(&s->lock);
    if (s->chunks_running++ != 0 && s->active != c) {
        atomic_fetch_add(&s->n_broken, 1); /* two loops at once */
    }
    s->active = c;
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add(&c->sum, (unsigned)chunk);
    pthread_mutex_lock(&s->lock);
    s->chunks_running--;
    pthread_mutex_unlock(&s->lock);
}

static void *caller(void *arg)
{
    struct shared *s = arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct call c = {.shared = s};
        unsigned n = 2 + i;
        cuzk_pool_for(s->pool, n, shared_chunk, &c);
        if (c.sum != n * (n - 1) / 2) {
            atomic_fetch_add(&s->n_broken, 1);
        }
    }
    return NULL;
}

static void test_callers_take_turns(void **state)
{
    (void)state;
    struct shared s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[CALLERS];
    assert_int_equal(cuzk_pool_create(&s.pool, 3, NULL), CUZK_OK);
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, caller, &s), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(s.n_broken, 0);
    cuzk_pool_destroy(s.pool);
}

/* ---- making and ending ---- */

/* ---- urgent loops ---------------------------------------------------------------------------- */

enum { URGENT = 6 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    cuzk_pool *pool;
    bool is_running, may_end; /* the first loop */
    unsigned order[URGENT], n;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void hold_turn(void *ctx, size_t chunk, unsigned thread)
{
    (void)ctx, (void)thread;
    pthread_mutex_lock(&queue.lock);
    queue.is_running = true;
    pthread_cond_broadcast(&queue.changed);
    while (chunk == 0 && !queue.may_end) {
        pthread_cond_wait(&queue.changed, &queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
}

static void *hold(void *unused)
{
    (void)unused;
    cuzk_pool_for(queue.pool, 2, hold_turn, NULL);
    return NULL;
}

static void note_turn(void *ctx, size_t chunk, unsigned thread)
{
    (void)thread;
    pthread_mutex_lock(&queue.lock);
    if (chunk == 0) {
        queue.order[queue.n++] = *(const unsigned *)ctx;
    }
    pthread_mutex_unlock(&queue.lock);
}

static void *wait_for_turn(void *urgency)
{
    cuzk_pool_set_urgency(*(const unsigned *)urgency);
    cuzk_pool_for(queue.pool, 2, note_turn, urgency);
    return NULL;
}

/* ---- a loop that is paused ---- */

enum { PAUSED = 100 };

static struct {
    cuzk_pool *pool;
    pthread_t urgent;
    atomic_bool urgent_is_done;
    atomic_uint n_seen[PAUSED], n_late;
} paused;

static void do_nothing(void *ctx, size_t chunk, unsigned thread)
{
    (void)ctx, (void)chunk, (void)thread;
}

static void *come_urgently(void *unused)
{
    (void)unused;
    cuzk_pool_set_urgency(1);
    cuzk_pool_for(paused.pool, 50, do_nothing, NULL);
    atomic_store(&paused.urgent_is_done, true);
    return NULL;
}

/* The first two chunks last until the urgent loop waits, or has run where the second one's thread
 * came late; the others come after it. */
static void note_pause(void *ctx, size_t chunk, unsigned thread)
{
    (void)ctx, (void)thread;
    atomic_fetch_add(&paused.n_seen[chunk], 1);
    if (chunk == 0) {
        assert_int_equal(pthread_create(&paused.urgent, NULL, come_urgently, NULL), 0);
    }
    while (chunk < 2 && cuzk_pool_waiting(paused.pool) == 0 &&
           !atomic_load(&paused.urgent_is_done)) {
        sched_yield();
    }
    if (chunk >= 2 && cuzk_pool_waiting(paused.pool) != 0) {
        atomic_fetch_add(&paused.n_late, 1); /* run before the urgent loop */
    }
}

static void test_paused_for_an_urgent_one(void **state)
{
    (void)state;
    assert_int_equal(cuzk_pool_create(&paused.pool, 2, NULL), CUZK_OK);
    cuzk_pool_for(paused.pool, PAUSED, note_pause, NULL);
    assert_int_equal(pthread_join(paused.urgent, NULL), 0);
    assert_true(atomic_load(&paused.urgent_is_done));
    assert_int_equal(atomic_load(&paused.n_late), 0);
    for (unsigned i = 0; i < PAUSED; i++) {
        assert_int_equal(atomic_load(&paused.n_seen[i]), 1);
    }
    cuzk_pool_destroy(paused.pool);
}

/* Loops that wait while one runs: the most urgent first. */
static void test_urgent_first(void **state)
{
    (void)state;
    unsigned urgency[URGENT] = {0, 2, 1, 5, 2, 0};
    static const unsigned expected[URGENT] = {5, 2, 2, 1, 0, 0};
    pthread_t first, threads[URGENT];
    assert_int_equal(cuzk_pool_create(&queue.pool, 2, NULL), CUZK_OK);
    assert_int_equal(pthread_create(&first, NULL, hold, NULL), 0);
    pthread_mutex_lock(&queue.lock);
    while (!queue.is_running) {
        pthread_cond_wait(&queue.changed, &queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    for (unsigned i = 0; i < URGENT; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_turn, &urgency[i]), 0);
    }
    while (cuzk_pool_waiting(queue.pool) < URGENT) {
        sched_yield();
    }
    pthread_mutex_lock(&queue.lock);
    queue.may_end = true;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(first, NULL);
    for (unsigned i = 0; i < URGENT; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_memory_equal(queue.order, expected, sizeof expected);
    cuzk_pool_destroy(queue.pool);
    assert_int_equal(cuzk_pool_set_urgency(3), 0);
    assert_int_equal(cuzk_pool_set_urgency(0), 3);
}

static void test_threads_end(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= THREADS_MAX; n++) {
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, n, NULL), CUZK_OK);
        check_loop(pool, 1); /* nothing to share */
        assert_tasks(n_tasks_at_start);
        check_loop(pool, 2);
        assert_tasks(n_tasks_at_start + n - 1);
        check_loop(pool, CHUNKS);
        assert_tasks(n_tasks_at_start + n - 1);
        cuzk_pool_destroy(pool);
        assert_tasks(n_tasks_at_start);
    }
}

/* The system gives fewer threads, or no memory for them: loops run on what there is. */
static void test_too_few_threads(void **state)
{
    (void)state;
    for (int given = 0; given < 5; given++) {
        cuzk_pool *pool = NULL;
        assert_int_equal(cuzk_pool_create(&pool, 6, NULL), CUZK_OK);
        creations_left = given;
        check_loop(pool, CHUNKS);
        creations_left = -1;
        assert_tasks(n_tasks_at_start + (unsigned)given);
        assert_int_equal(cuzk_pool_threads(pool), 6);
        check_loop(pool, CHUNKS); /* and does not try again */
        assert_tasks(n_tasks_at_start + (unsigned)given);
        cuzk_pool_destroy(pool);
        assert_tasks(n_tasks_at_start);
    }
    cuzk_pool *pool = NULL;
    cuzk_error err = {0};
    alloc_fail_at(0);
    assert_int_equal(cuzk_pool_create(&pool, 3, &err), CUZK_E_MEMORY);
    assert_true(alloc_fail_stop());
    assert_string_equal(err.text, "making a pool of 3 threads: out of memory");
    assert_null(pool);
    for (unsigned k = 0;; k++) {
        assert_int_equal(cuzk_pool_create(&pool, 3, NULL), CUZK_OK);
        alloc_fail_at(k);
        check_loop(pool, CHUNKS);
        bool failed = alloc_fail_stop();
        cuzk_pool_destroy(pool);
        assert_tasks(n_tasks_at_start);
        if (!failed) {
            assert_true(k >= 1);
            break;
        }
    }
}

static void test_processors(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    unsigned n = cuzk_cpu_count();
    assert_true(n >= 1 && n <= (unsigned)CPU_COUNT(&all));
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_pool_create(&pool, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_pool_threads(pool), n);
    cuzk_pool_destroy(pool);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            break;
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(cuzk_cpu_count(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void *no_work(void *unused)
{
    return unused;
}

int main(void)
{
    /* a sanitizer starts a thread of its own with the first */
    pthread_t first;
    if (pthread_create(&first, NULL, no_work, NULL) != 0) {
        return 1;
    }
    pthread_join(first, NULL);
    usleep(20000);
    n_tasks_at_start = n_tasks();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),        cmocka_unit_test(test_callers_take_turns),
        cmocka_unit_test(test_urgent_first), cmocka_unit_test(test_paused_for_an_urgent_one),
        cmocka_unit_test(test_threads_end),  cmocka_unit_test(test_too_few_threads),
        cmocka_unit_test(test_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
