/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The journal gives back what was written, in groups, in order, within its bounds; a disk that
 * refuses costs what it refused and nothing else. */
#include "engine/journal_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static inventory found;

static void test_round_trip(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 0);
    assert_true(found.next_seq >= 1);
    /* payloads around the size of a piece, and none */
    enum { PIECE = 4 << 20 };
    static const size_t sizes[] = {0,     1,         4095,          100000,       PIECE - 1,
                                   PIECE, PIECE + 1, 2 * PIECE + 7, 3 * PIECE + 1};
    enum { N = sizeof sizes / sizeof sizes[0] };
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(accept_job(journal, 10 + i, sizes[i], NULL), CUZK_OK);
        for (unsigned unit = 0; unit < (10 + i) % 20; unit += 2) {
            assert_int_equal(write_unit(journal, 10 + i, unit, NULL), CUZK_OK);
        }
    }
    assert_int_equal(write_unit(journal, 11, 0, NULL), CUZK_OK); /* once more is no fault */
    assert_int_equal(finish_job(journal, 12, NULL), CUZK_OK);
    assert_int_equal(finish_job(journal, 18, NULL), CUZK_OK);
    cuzk_journal_drop(journal, 13);
    cuzk_journal_drop(journal, 999); /* there is none */
    cuzk_journal_close(journal);

    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, N - 1);
    for (unsigned i = 0; i < N; i++) {
        int k = find_job(&found, 10 + i);
        assert_int_equal(k < 0, i == 3);
        if (k >= 0) {
            assert_int_equal(found.jobs[k].has_ended, i == 2 || i == 8);
            assert_int_equal(found.jobs[k].payload_bytes, sizes[i]);
            assert_int_equal(found.jobs[k].n_done, i == 2 || i == 8 ? 0 : ((10 + i) % 20 + 1) / 2);
        }
    }
    /* the numbers of jobs that are gone do not come back */
    uint64_t next = found.next_seq;
    assert_int_equal(accept_job(journal, next, 10, NULL), CUZK_OK);
    cuzk_journal_drop(journal, next);
    cuzk_journal_close(journal);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_true(found.next_seq > next);
    cuzk_journal_close(journal);
    cuzk_journal_close(NULL);
}

static void test_payloads_are_read(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    static const size_t sizes[] = {0, 1000, 9 << 20};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(accept_job(journal, 1 + i, sizes[i], NULL), CUZK_OK);
    }
    cuzk_journal_close(journal);
    journal = open_fine(&options);
    for (unsigned i = 0; i < 3; i++) {
        loaded l = load_payload(journal, 1 + i);
        assert_int_equal(l.status, CUZK_OK);
        assert_int_equal(l.n_bytes, sizes[i]);
        assert_true(l.is_intact);
    }
    assert_int_equal(finish_job(journal, 2, NULL), CUZK_OK);
    for (unsigned i = 0; i < 2; i++) {
        loaded l = load_payload(journal, i == 0 ? 2 : 99);
        assert_int_equal(l.status, CUZK_E_NOT_FOUND);
        assert_true(l.is_intact);
    }
    cuzk_journal_close(journal);
}

/* ---- looking for ended jobs ------------------------------------------------------------------ */

typedef struct {
    sem_t done;
    cuzk_status status;
    uint64_t seq;
    const char *fault;
} search;

static void on_found(void *user, cuzk_status status, const char *error,
                     const cuzk_journal_entry *entry)
{
    search *s = (search *)user;
    s->status = status;
    s->seq = entry == NULL ? 0 : entry->job.seq;
    s->fault = entry == NULL ? (strstr(error, journal_path) != NULL ? NULL : "no path")
                             : entry_fault(entry);
    sem_post(&s->done);
}

/* The number found; 0: none. */
static uint64_t look_for(cuzk_journal *journal, const char *id)
{
    search s = {0};
    sem_init(&s.done, 0, 0);
    cuzk_journal_find(journal, id, on_found, &s);
    while (sem_wait(&s.done) != 0) {
    }
    assert_null(s.fault);
    assert_int_equal(s.status, s.seq == 0 ? CUZK_E_NOT_FOUND : CUZK_OK);
    return s.seq;
}

static void test_ended_jobs_are_found(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    enum { N = 200, UNFINISHED = 77 };
    for (uint64_t seq = 1; seq <= N; seq++) {
        assert_int_equal(accept_job(journal, seq, 10, NULL), CUZK_OK);
        if (seq != UNFINISHED) {
            assert_int_equal(finish_job(journal, seq, NULL), CUZK_OK);
        }
    }
    for (int round = 0; round < 2; round++) {
        for (uint64_t seq = 1; seq <= N; seq++) {
            cuzk_journal_job job = make_job(seq, 0);
            free((void *)(uintptr_t)job.payload);
            uint64_t expected = seq == UNFINISHED ? 0 : seq;
            assert_int_equal(look_for(journal, job.job_id), expected);
        }
        assert_int_equal(look_for(journal, ""), 0);
        assert_int_equal(look_for(journal, "~"), 0);
        cuzk_journal_close(journal);
        journal = open_fine(&options);
    }
    /* a find sees what was asked for before it, and a job that was dropped is gone */
    cuzk_journal_job job = make_job(9, 0);
    free((void *)(uintptr_t)job.payload);
    cuzk_journal_drop(journal, 9);
    assert_int_equal(look_for(journal, job.job_id), 0);
    cuzk_journal_close(journal);
}

/* Of jobs with one id the youngest; ids that begin alike are others. */
static void test_youngest_is_found(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    static const char *const ids[] = {"a", "ab", "A", "a", "a~", ""};
    enum { N = sizeof ids / sizeof ids[0] };
    for (unsigned i = 0; i < N; i++) {
        cuzk_journal_job row = {
            .seq = 1 + i, .request_id = "a", .job_id = ids[i], .n_units = 1, .payload = ""};
        cuzk_journal_end end = {.error = ""};
        cuzk_journal_accept(journal, &row, NULL, NULL);
        cuzk_journal_finish(journal, 1 + i, &end, NULL, NULL);
    }
    search s = {0};
    sem_init(&s.done, 0, 0);
    cuzk_journal_find(journal, "a", on_found, &s);
    while (sem_wait(&s.done) != 0) {
    }
    assert_int_equal(s.seq, 4);
    cuzk_journal_close(journal);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    char text[300];
    assert_int_equal(accept_job(journal, 5, 100, NULL), CUZK_OK);
    assert_int_equal(accept_job(journal, 5, 100, text), CUZK_E_ARGUMENT);
    assert_non_null(strstr(text, "number 5 is in use"));
    assert_int_equal(accept_job(journal, 5, 9 << 20, NULL), CUZK_E_ARGUMENT); /* in pieces */
    assert_int_equal(accept_job(journal, (uint64_t)1 << 60, 1, NULL), CUZK_E_ARGUMENT);
    assert_int_equal(accept_job(journal, 0, 1, NULL), CUZK_E_ARGUMENT);
    assert_int_equal(write_unit(journal, 6, 0, text), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(text, "unit 0 of job number 6"));
    assert_int_equal(write_unit(journal, 5, 4096, NULL), CUZK_E_ARGUMENT);
    assert_int_equal(finish_job(journal, 6, text), CUZK_E_NOT_FOUND);
    assert_int_equal(finish_job(journal, 5, NULL), CUZK_OK);
    assert_int_equal(finish_job(journal, 5, NULL), CUZK_E_NOT_FOUND);
    assert_int_equal(write_unit(journal, 5, 0, NULL), CUZK_E_NOT_FOUND);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 1);
    cuzk_journal_close(journal);
}

/* ---- groups and order ------------------------------------------------------------------------ */

/* A disk that stops at its first commit until it is let go, counts, and may refuse. */
typedef struct {
    sem_t entered, go;
    _Atomic unsigned n_commits;
    _Atomic bool stop, refuse;
} disk;

static cuzk_status disk_fault(void *user, cuzk_error *err)
{
    disk *d = (disk *)user;
    atomic_fetch_add(&d->n_commits, 1);
    if (atomic_exchange(&d->stop, false)) {
        sem_post(&d->entered);
        while (sem_wait(&d->go) != 0) {
        }
    }
    if (atomic_load(&d->refuse)) {
        return CUZK_FAIL(err, CUZK_E_FILE, "writing to disk: no space left on it");
    }
    return CUZK_OK;
}

enum { GROUP = 500 };
static _Atomic unsigned n_answered, n_refused;
static unsigned order[GROUP + 8];

static void on_answer(void *user, cuzk_status status, const char *error)
{
    if (status != CUZK_OK) {
        assert_non_null(strstr(error, "no space"));
        atomic_fetch_add(&n_refused, 1);
    }
    unsigned at = atomic_fetch_add(&n_answered, 1);
    if (at < sizeof order / sizeof order[0]) {
        order[at] = (unsigned)(uintptr_t)user;
    }
}

static void test_group_commit(void **state)
{
    (void)state;
    disk d = {.stop = true};
    sem_init(&d.entered, 0, 0);
    sem_init(&d.go, 0, 0);
    cuzk_journal_options options = plain_options();
    options.fault = disk_fault;
    options.fault_user = &d;
    cuzk_journal *journal = open_fine(&options);
    atomic_store(&n_answered, 0);
    cuzk_journal_job jobs[GROUP];
    for (unsigned i = 0; i < GROUP; i++) {
        jobs[i] = make_job(1 + i, 50);
        cuzk_journal_accept(journal, &jobs[i], on_answer, (void *)(uintptr_t)i);
        if (i == 0) {
            while (sem_wait(&d.entered) != 0) {
            }
        }
    }
    assert_int_equal(atomic_load(&n_answered), 0); /* nothing is answered before its commit */
    sem_post(&d.go);
    cuzk_journal_close(journal); /* writes what was asked for */
    assert_int_equal(atomic_load(&n_answered), GROUP);
    assert_int_equal(atomic_load(&d.n_commits), 2);
    for (unsigned i = 0; i < GROUP; i++) {
        assert_int_equal(order[i], i);
        free((void *)(uintptr_t)jobs[i].payload);
    }
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, GROUP);
    cuzk_journal_close(journal);
}

/* Payloads whose sums are made while another commit is under way are intact; where the disk refuses
 * their commit, whether it had come to their sums or not, they are refused and may come again. */
static void test_sums_beside(void **state)
{
    (void)state;
    enum { N = 24 };
    disk d = {.stop = true};
    sem_init(&d.entered, 0, 0);
    sem_init(&d.go, 0, 0);
    cuzk_journal_options options = plain_options();
    options.fault = disk_fault;
    options.fault_user = &d;
    for (int refuse = 1; refuse >= 0; refuse--) {
        cuzk_journal_job jobs[N];
        atomic_store(&d.stop, true);
        atomic_store(&n_answered, 0);
        atomic_store(&n_refused, 0);
        cuzk_journal *journal = open_fine(&options);
        for (unsigned i = 0; i < N; i++) {
            jobs[i] = make_job(1 + i, i % 3 == 0 ? 65535 : 65536 + 10000 * (size_t)i);
            cuzk_journal_accept(journal, &jobs[i], on_answer, (void *)(uintptr_t)i);
            if (i == 0) {
                while (sem_wait(&d.entered) != 0) {
                }
            }
        }
        atomic_store(&d.refuse, refuse != 0);
        sem_post(&d.go);
        cuzk_journal_close(journal);
        assert_int_equal(atomic_load(&n_answered), N);
        assert_int_equal(atomic_load(&n_refused), refuse != 0 ? N : 0);
        atomic_store(&d.refuse, false);
        journal = open_fine(&options);
        take_inventory(&found, journal);
        assert_int_equal(found.n_jobs, refuse != 0 ? 0 : N);
        for (unsigned i = 0; i < found.n_jobs; i++) {
            assert_int_equal(found.jobs[i].payload_bytes,
                             jobs[found.jobs[i].seq - 1].payload_bytes);
        }
        cuzk_journal_close(journal);
        for (unsigned i = 0; i < N; i++) {
            free((void *)(uintptr_t)jobs[i].payload);
        }
    }
}

/* Ask for a job that is not hurried, and give its journal time for a commit. */
static cuzk_journal_job ask_unhurried(cuzk_journal *journal, uint64_t seq)
{
    cuzk_journal_job job = make_job(seq, 100);
    job.is_unhurried = true;
    atomic_store(&n_answered, 0);
    cuzk_journal_accept(journal, &job, on_answer, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return job;
}

static void drop_unhurried(const cuzk_journal_job *job)
{
    while (atomic_load(&n_answered) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    free((void *)(uintptr_t)job->payload);
}

/* A job that nobody waits to see accepted is written together with its end, or with what others
 * ask, or when the journal is closed; else after its time. */
static void test_unhurried_jobs(void **state)
{
    (void)state;
    disk d = {.stop = false};
    cuzk_journal_options options = plain_options();
    options.fault = disk_fault;
    options.fault_user = &d;
    options.unhurried_ns = UINT64_C(3600000000000);
    cuzk_journal *journal = open_fine(&options);
    cuzk_journal_job job = ask_unhurried(journal, 1);
    assert_int_equal(atomic_load(&d.n_commits), 0);
    assert_int_equal(finish_job(journal, 1, NULL), CUZK_OK);
    assert_int_equal(atomic_load(&d.n_commits), 1);
    drop_unhurried(&job);
    job = ask_unhurried(journal, 2);
    assert_int_equal(atomic_load(&d.n_commits), 1);
    assert_int_equal(accept_job(journal, 3, 100, NULL), CUZK_OK);
    assert_int_equal(atomic_load(&d.n_commits), 2);
    drop_unhurried(&job);
    job = ask_unhurried(journal, 4);
    assert_int_equal(atomic_load(&d.n_commits), 2);
    cuzk_journal_close(journal);
    drop_unhurried(&job);

    options.unhurried_ns = 1;
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 4);
    assert_true(found.jobs[0].has_ended && !found.jobs[1].has_ended);
    job = ask_unhurried(journal, 5);
    drop_unhurried(&job);
    cuzk_journal_close(journal);
}

/* A large payload takes several commits; what is small overtakes it, unless it is about that job.
 */
static void test_large_payload_lets_others_pass(void **state)
{
    (void)state;
    disk d = {.stop = true};
    sem_init(&d.entered, 0, 0);
    sem_init(&d.go, 0, 0);
    cuzk_journal_options options = plain_options();
    options.fault = disk_fault;
    options.fault_user = &d;
    cuzk_journal *journal = open_fine(&options);
    atomic_store(&n_answered, 0);
    cuzk_journal_job large = make_job(41, 24 << 20), small = make_job(42, 10);
    uint8_t proof[PROOF_BYTES];
    fill(proof, sizeof proof, 41, 100);
    cuzk_journal_accept(journal, &large, on_answer, (void *)(uintptr_t)1);
    while (sem_wait(&d.entered) != 0) {
    }
    cuzk_journal_unit(journal, 41, 0, proof, sizeof proof, on_answer, (void *)(uintptr_t)2);
    cuzk_journal_accept(journal, &small, on_answer, (void *)(uintptr_t)3);
    sem_post(&d.go);
    cuzk_journal_close(journal);
    assert_int_equal(atomic_load(&n_answered), 3);
    assert_int_equal(order[0], 3);
    assert_int_equal(order[1], 1);
    assert_int_equal(order[2], 2);
    assert_true(atomic_load(&d.n_commits) >= 4);
    free((void *)(uintptr_t)large.payload);
    free((void *)(uintptr_t)small.payload);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 2);
    assert_int_equal(found.jobs[0].n_done, 1);
    assert_int_equal(found.jobs[0].payload_bytes, 24 << 20);
    cuzk_journal_close(journal);
}

typedef struct {
    cuzk_journal *journal;
    uint64_t first;
    unsigned n_failed;
} client;

static void *run_client(void *user)
{
    client *c = (client *)user;
    for (uint64_t seq = c->first; seq < c->first + 100; seq++) {
        c->n_failed += accept_job(c->journal, seq, seq % 3000, NULL) != CUZK_OK;
        c->n_failed += write_unit(c->journal, seq, 0, NULL) != CUZK_OK;
        c->n_failed += seq % 2 == 0 && finish_job(c->journal, seq, NULL) != CUZK_OK;
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    enum { N = 8 };
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    pthread_t threads[N];
    client clients[N];
    for (unsigned i = 0; i < N; i++) {
        clients[i] = (client){journal, 1 + i * 1000, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, run_client, &clients[i]), 0);
    }
    for (unsigned i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(clients[i].n_failed, 0);
    }
    cuzk_journal_close(journal);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, N * 100);
    for (unsigned i = 0; i < found.n_jobs; i++) {
        assert_int_equal(found.jobs[i].has_ended, found.jobs[i].seq % 2 == 0);
        assert_int_equal(found.jobs[i].n_done, found.jobs[i].seq % 2);
    }
    cuzk_journal_close(journal);
}

/* ---- the disk -------------------------------------------------------------------------------- */

/* What the disk refuses is told and is not there; what was there before is; afterwards all is well.
 */
static void test_injected_faults(void **state)
{
    (void)state;
    disk d = {.refuse = false};
    cuzk_journal_options options = plain_options();
    options.fault = disk_fault;
    options.fault_user = &d;
    cuzk_journal *journal = open_fine(&options);
    char text[300];
    assert_int_equal(accept_job(journal, 1, 1000, NULL), CUZK_OK);
    assert_int_equal(accept_job(journal, 2, 1000, NULL), CUZK_OK);
    atomic_store(&d.refuse, true);
    assert_int_equal(accept_job(journal, 3, 1000, text), CUZK_E_FILE);
    assert_non_null(strstr(text, journal_path));
    assert_non_null(strstr(text, "no space left"));
    assert_int_equal(accept_job(journal, 4, 20 << 20, NULL), CUZK_E_FILE);
    assert_int_equal(write_unit(journal, 1, 0, NULL), CUZK_E_FILE);
    assert_int_equal(finish_job(journal, 2, NULL), CUZK_E_FILE);
    atomic_store(&d.refuse, false);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 2);
    assert_false(found.jobs[1].has_ended);
    assert_int_equal(accept_job(journal, 3, 1000, NULL), CUZK_OK);
    assert_int_equal(accept_job(journal, 4, 20 << 20, NULL), CUZK_OK);
    assert_int_equal(write_unit(journal, 1, 0, NULL), CUZK_OK);
    assert_int_equal(finish_job(journal, 2, NULL), CUZK_OK);
    cuzk_journal_close(journal);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 4);
    assert_int_equal(found.jobs[0].n_done, 1);
    assert_true(found.jobs[1].has_ended);
    cuzk_journal_close(journal);
}

/* In a group that does not fit as a whole, what fits alone is written. */
static void test_group_is_taken_apart(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    disk d = {.stop = true};
    sem_init(&d.entered, 0, 0);
    sem_init(&d.go, 0, 0);
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    assert_int_equal(accept_job(journal, 1, 1000, NULL), CUZK_OK);
    cuzk_journal_close(journal);
    options.fault = disk_fault;
    options.fault_user = &d;
    journal = open_fine(&options);
    atomic_store(&n_answered, 0);
    cuzk_journal_job jobs[] = {make_job(2, 100), make_job(3, 3 << 20), make_job(4, 100)};
    cuzk_journal_accept(journal, &jobs[0], on_answer, (void *)(uintptr_t)0);
    while (sem_wait(&d.entered) != 0) {
    }
    struct rlimit was, limit;
    getrlimit(RLIMIT_FSIZE, &was);
    limit = was;
    limit.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 1; i < 3; i++) {
        cuzk_journal_accept(journal, &jobs[i], NULL, NULL);
    }
    cuzk_journal_end end = make_end(1);
    cuzk_journal_finish(journal, 1, &end, on_answer, (void *)(uintptr_t)1);
    sem_post(&d.go);
    cuzk_journal_close(journal);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 3);
    assert_true(find_job(&found, 3) < 0);
    assert_true(found.jobs[0].has_ended);
    cuzk_journal_close(journal);
    for (int i = 0; i < 3; i++) {
        free((void *)(uintptr_t)jobs[i].payload);
    }
}

/* The file may not grow: new work is refused with the system's words, accepted work is kept and can
 * be ended, and as soon as there is room all goes on. */
static void test_disk_full(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_int_equal(accept_job(journal, seq, 20000, NULL), CUZK_OK);
    }
    struct stat log;
    assert_int_equal(stat(beside("-wal"), &log), 0);
    struct rlimit was, limit;
    getrlimit(RLIMIT_FSIZE, &was);
    limit = was;
    limit.rlim_cur = (rlim_t)log.st_size + 200000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    char text[300];
    unsigned n_refused_here = 0;
    for (uint64_t seq = 21; seq <= 40; seq++) {
        cuzk_status status = accept_job(journal, seq, 300000, text);
        assert_int_equal(status, CUZK_E_FILE);
        if (strstr(text, "File too large") == NULL) {
            fail_msg("%s", text);
        }
        n_refused_here++;
    }
    assert_int_equal(n_refused_here, 20);
    assert_int_equal(accept_job(journal, 41, 12 << 20, NULL), CUZK_E_FILE);
    assert_int_equal(write_unit(journal, 1, 0, NULL), CUZK_OK);
    assert_int_equal(finish_job(journal, 2, NULL), CUZK_OK);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 20);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(accept_job(journal, 41, 12 << 20, NULL), CUZK_OK);
    cuzk_journal_close(journal);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 21);
    assert_int_equal(found.jobs[0].n_done, 1);
    assert_true(found.jobs[1].has_ended);
    cuzk_journal_close(journal);
}

/* The file with its log stays bounded whatever goes through it, and gives back what it held. */
static void test_size_is_bounded(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    uint64_t most = 0;
    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_int_equal(accept_job(journal, seq, 3 << 20, NULL), CUZK_OK);
        assert_int_equal(finish_job(journal, seq, NULL), CUZK_OK);
        most = cuzk_journal_bytes(journal) > most ? cuzk_journal_bytes(journal) : most;
    }
    assert_in_range(most, 3 << 20, 48 << 20);
    for (uint64_t seq = 100; seq < 102; seq++) {
        assert_int_equal(accept_job(journal, seq, 30 << 20, NULL), CUZK_OK);
    }
    assert_true(cuzk_journal_bytes(journal) > 50 << 20);
    for (uint64_t seq = 100; seq < 102; seq++) {
        assert_int_equal(finish_job(journal, seq, NULL), CUZK_OK);
    }
    for (int i = 0; cuzk_journal_bytes(journal) > 36 << 20; i++) {
        assert_in_range(i, 0, 1000);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    cuzk_journal_close(journal);
}

/* ---- retention ------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static cuzk_status count_entry(void *user, const cuzk_journal_entry *entry, cuzk_error *err)
{
    (void)err;
    unsigned *n = (unsigned *)user;
    n[entry->has_ended]++;
    if (entry->has_ended && entry->job.seq < n[2]) {
        n[2] = (unsigned)entry->job.seq;
    }
    return CUZK_OK;
}

/* Unfinished and ended jobs, and the lowest ended number. */
static void count_jobs(cuzk_journal *journal, unsigned n[3])
{
    uint64_t next;
    n[0] = n[1] = 0;
    n[2] = UINT32_MAX;
    assert_int_equal(cuzk_journal_read(journal, &next, count_entry, n, NULL), CUZK_OK);
}

static void end_job_at(cuzk_journal *journal, uint64_t seq, int64_t when_ms)
{
    static const uint8_t answer[1000];
    cuzk_journal_end end = {.error = "", .answer = answer, .answer_bytes = sizeof answer};
    end.ended_unix_ms = when_ms;
    assert_int_equal(accept_job(journal, seq, 10, NULL), CUZK_OK);
    cuzk_journal_finish(journal, seq, &end, NULL, NULL);
}

static void test_retention_by_age(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    options.keep_ns = 3600 * (uint64_t)1000000000;
    cuzk_journal *journal = open_fine(&options);
    assert_int_equal(accept_job(journal, 1, 10, NULL), CUZK_OK); /* unfinished: stays */
    for (uint64_t seq = 2; seq <= 11; seq++) {
        end_job_at(journal, seq, now_ms() - (seq <= 6 ? 3700000 : 3500000));
    }
    /* the next commit takes the old ones along */
    assert_int_equal(accept_job(journal, 12, 10, NULL), CUZK_OK);
    unsigned n[3];
    count_jobs(journal, n);
    assert_int_equal(n[0], 2);
    assert_int_equal(n[1], 5);
    assert_int_equal(n[2], 7);
    cuzk_journal_close(journal);
    /* and without any, time does */
    options.keep_ns = 2500 * (uint64_t)1000000000;
    journal = open_fine(&options);
    for (int i = 0; i < 500 && n[1] > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        count_jobs(journal, n);
    }
    assert_int_equal(n[0], 2);
    assert_int_equal(n[1], 0);
    cuzk_journal_close(journal);
}

static void test_retention_by_bytes(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    options.keep_bytes = 40000;
    cuzk_journal *journal = open_fine(&options);
    unsigned n[3];
    for (uint64_t seq = 1; seq <= 100; seq++) {
        end_job_at(journal, seq, now_ms());
    }
    assert_int_equal(accept_job(journal, 101, 10, NULL), CUZK_OK);
    count_jobs(journal, n);
    assert_int_equal(n[0], 1);
    assert_in_range(n[1], 22, 26); /* 1000 of answer, 512, ids */
    assert_int_equal(n[2], 101 - n[1]);
    cuzk_journal_close(journal);
    journal = open_fine(&options); /* counted again at the start */
    end_job_at(journal, 102, now_ms());
    assert_int_equal(accept_job(journal, 103, 10, NULL), CUZK_OK);
    unsigned m[3];
    count_jobs(journal, m);
    assert_int_equal(m[1], n[1]);
    assert_int_equal(m[2], n[2] + 1);
    cuzk_journal_close(journal);
}

/* ---- who may open it ------------------------------------------------------------------------- */

static void refused(const cuzk_journal_options *options, cuzk_status status, const char *text)
{
    cuzk_journal *journal = NULL;
    cuzk_journal_report report;
    cuzk_error err = {0};
    assert_int_equal(cuzk_journal_open(&journal, &report, options, &err), status);
    if (strstr(err.text, text) == NULL || strstr(err.text, options->path) == NULL) {
        fail_msg("\"%s\" lacks \"%s\" or the path", err.text, text);
    }
}

static void test_one_process(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    refused(&options, CUZK_E_FILE, "another process has it open"); /* nor this one twice */
    pid_t child = fork();
    if (child == 0) {
        cuzk_journal *second = NULL;
        cuzk_journal_report report;
        _exit(cuzk_journal_open(&second, &report, &options, NULL) == CUZK_E_FILE ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cuzk_journal_close(journal);
    cuzk_journal_close(open_fine(&options));
}

static void change(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(journal_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_other_versions(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    assert_int_equal(accept_job(journal, 1, 100, NULL), CUZK_OK);
    cuzk_journal_close(journal);
    change("PRAGMA user_version = 2; UPDATE meta SET value = 2 WHERE name = 'version'");
    refused(&options, CUZK_E_UNSUPPORTED, "version 2");
    /* nothing was done to it */
    change("PRAGMA user_version = 1; UPDATE meta SET value = 1 WHERE name = 'version'");
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, 1);
    cuzk_journal_close(journal);
    unlink(journal_path);
    change("CREATE TABLE other(x)");
    refused(&options, CUZK_E_UNSUPPORTED, "not a journal");
    change("INSERT INTO other VALUES(1)");
}

/* Files named by a slip are refused and stay as they are. */
static void test_other_files(void **state)
{
    (void)state;
    static char text[20000];
    memset(text, 'x', sizeof text);
    memcpy(text, "[journal]\n", 10);
    static const size_t sizes[] = {1, 61, 511, 512, sizeof text};
    cuzk_journal_options options = plain_options();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int fd = open(journal_path, O_RDWR | O_CREAT | O_TRUNC, 0644);
        assert_true(fd >= 0);
        assert_int_equal(fchmod(fd, 0644), 0);
        assert_int_equal(write(fd, text, sizes[i]), (ssize_t)sizes[i]);
        refused(&options, CUZK_E_UNSUPPORTED, "not a journal");
        static char after[sizeof text + 1];
        struct stat st, named;
        assert_int_equal(pread(fd, after, sizeof after, 0), (ssize_t)sizes[i]);
        assert_memory_equal(after, text, sizes[i]);
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(stat(journal_path, &named), 0);
        assert_true(st.st_ino == named.st_ino);
        assert_int_equal(st.st_mode & 0777, 0644);
        assert_int_not_equal(access(beside("-wal"), F_OK), 0);
        close(fd);
    }
    assert_int_equal(unlink(journal_path), 0);
    assert_int_equal(unlink(beside(".lock")), 0);
    assert_int_equal(symlink("/dev/null", journal_path), 0);
    refused(&options, CUZK_E_FILE, "it is not a file, expected a regular file");
    assert_int_equal(unlink(journal_path), 0);
    assert_int_equal(mkdir(journal_path, 0700), 0);
    refused(&options, CUZK_E_FILE, "it is a directory, expected a regular file");
    assert_int_equal(rmdir(journal_path), 0);
    assert_int_not_equal(access(beside(".lock"), F_OK), 0);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* All files are their owner's alone, whatever the umask and whatever they were. */
static void test_modes(void **state)
{
    (void)state;
    cuzk_journal_options options = plain_options();
    mode_t before = umask(0);
    static const unsigned modes[] = {0600, 0644, 0660, 0666};
    for (int was_there = 0; was_there < 2; was_there++) {
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            if (!was_there) { /* an empty file of that mode */
                unlink(journal_path);
                close(open(journal_path, O_WRONLY | O_CREAT, modes[i]));
            }
            assert_int_equal(chmod(journal_path, modes[i]), 0);
            cuzk_journal *journal;
            cuzk_journal_report report;
            assert_int_equal(cuzk_journal_open(&journal, &report, &options, NULL), CUZK_OK);
            assert_int_equal(report.wide_mode, modes[i] == 0600 ? 0 : modes[i]);
            assert_false(report.stays_wide);
            assert_int_equal(accept_job(journal, 1 + i, 100, NULL), CUZK_OK);
            assert_int_equal(mode_of(journal_path), 0600);
            assert_int_equal(mode_of(beside("-wal")), 0600);
            assert_int_equal(mode_of(beside(".lock")), 0600);
            cuzk_journal_drop(journal, 1 + i);
            cuzk_journal_close(journal);
        }
    }
    umask(before);
}

/* A unit in a place where nobody looks for it is damage: it is proved again, and that is told. */
static void test_units_gone_astray(void **state)
{
    (void)state;
    static const char *const where[] = {
        "UPDATE unit SET key = 3 * 4096 + 4095",      /* a unit that the job does not have */
        "UPDATE unit SET key = 900 * 4096",           /* a job that is not there */
        "UPDATE unit SET key = 2 * 4096",             /* one that has ended */
        "UPDATE unit SET key = 3 * 4096 - (1 << 62)", /* no job's number */
    };
    cuzk_journal_options options = plain_options();
    for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
        cuzk_journal *journal = open_fine(&options);
        assert_int_equal(accept_job(journal, 2, 100, NULL), CUZK_OK);
        assert_int_equal(accept_job(journal, 3, 100, NULL), CUZK_OK);
        assert_int_equal(write_unit(journal, 3, 1, NULL), CUZK_OK);
        assert_int_equal(write_unit(journal, 3, 4, NULL), CUZK_E_NOT_FOUND); /* it has 4 */
        assert_int_equal(finish_job(journal, 2, NULL), CUZK_OK);
        cuzk_journal_close(journal);
        change(where[i]);
        cuzk_journal_report report;
        assert_int_equal(cuzk_journal_open(&journal, &report, &options, NULL), CUZK_OK);
        assert_true(report.was_damaged);
        assert_int_equal(report.n_salvaged, 2);
        if (strstr(report.reason, "no such unit") == NULL) {
            fail_msg("%s", report.reason);
        }
        take_inventory(&found, journal);
        int job = find_job(&found, 3);
        assert_true(job >= 0);
        assert_int_equal(found.jobs[job].n_done, 0);
        cuzk_journal_drop(journal, 2);
        cuzk_journal_drop(journal, 3);
        cuzk_journal_close(journal);
        cuzk_journal_close(open_fine(&options)); /* and it is mended */
    }
}

static void test_places(void **state)
{
    (void)state;
    char path[300];
    cuzk_journal_options options = plain_options();
    options.path = path;
    snprintf(path, sizeof path, "%s.d/a/b/journal.db", journal_path); /* folders are made */
    cuzk_journal_close(open_fine(&options));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(path);
    snprintf(path, sizeof path, "%s.d/a/b/journal.db.lock", journal_path);
    unlink(path);
    snprintf(path, sizeof path, "%s.d/a", journal_path); /* a folder */
    refused(&options, CUZK_E_FILE, "");
    unlink(beside(".d/a.lock"));
    rmdir(beside(".d/a/b"));
    rmdir(beside(".d/a"));
    rmdir(beside(".d"));
    snprintf(path, sizeof path, "/proc/no/journal.db");
    refused(&options, CUZK_E_FILE, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, journal_setup, journal_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_payloads_are_read),
        TEST(test_ended_jobs_are_found),
        TEST(test_youngest_is_found),
        TEST(test_what_is_refused),
        TEST(test_group_commit),
        TEST(test_sums_beside),
        TEST(test_unhurried_jobs),
        TEST(test_large_payload_lets_others_pass),
        TEST(test_many_threads),
        TEST(test_injected_faults),
        TEST(test_group_is_taken_apart),
        TEST(test_disk_full),
        TEST(test_size_is_bounded),
        TEST(test_retention_by_age),
        TEST(test_retention_by_bytes),
        TEST(test_one_process),
        TEST(test_other_versions),
        TEST(test_other_files),
        TEST(test_modes),
        TEST(test_units_gone_astray),
        TEST(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
