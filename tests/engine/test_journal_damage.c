/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Processes that are killed and files that are damaged: what was acknowledged is there, what comes
 * back is intact, what is lost is told, and nothing is deleted.
 *
 * CUZK_NIGHTLY=1: more kills and more places. CUZK_SEED: another run. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "engine/journal_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static inventory found;
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static bool is_nightly(void)
{
    return getenv("CUZK_NIGHTLY") != NULL;
}

/* ---- a killed process ------------------------------------------------------------------------ */

/* What the child tells before it asks (lower case) and when it was answered (upper case). */
typedef struct {
    uint64_t seq;
    uint16_t unit;
    char what; /* A: accepted, U: unit, f/F: end, d: drop */
    char padding[5];
} news;

static int to_parent;

static void tell(char what, uint64_t seq, unsigned unit)
{
    news n = {.seq = seq, .unit = (uint16_t)unit, .what = what};
    if (write(to_parent, &n, sizeof n) != (ssize_t)sizeof n) {
        _exit(3);
    }
}

static void on_done(void *user, cuzk_status status, const char *error)
{
    news *n = (news *)user;
    if (status != CUZK_OK) {
        fprintf(stderr, "job %llu: %s\n", (unsigned long long)n->seq, error);
        _exit(2);
    }
    tell(n->what, n->seq, n->unit);
    free(n);
}

static news *expect(char what, uint64_t seq, unsigned unit)
{
    news *n = (news *)calloc(1, sizeof *n);
    n->what = what;
    n->seq = seq;
    n->unit = (uint16_t)unit;
    return n;
}

static cuzk_status skip_entry(void *user, const cuzk_journal_entry *entry, cuzk_error *err)
{
    (void)user;
    (void)entry;
    (void)err;
    return CUZK_OK;
}

/* Jobs without end, several in flight, now and then a large one. */
static void run_child(void)
{
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal;
    cuzk_journal_report report;
    uint64_t next;
    if (cuzk_journal_open(&journal, &report, &options, NULL) != CUZK_OK || report.was_damaged ||
        cuzk_journal_read(journal, &next, skip_entry, NULL, NULL) != CUZK_OK) {
        _exit(1);
    }
    tell('A', 0, 0); /* the clock starts */
    for (uint64_t seq = next; seq < next + 500; seq++) {
        size_t size = draw(100) == 0 ? (size_t)draw(9 << 20) : (size_t)draw(20000);
        cuzk_journal_job job = make_job(seq, size); /* the payload lives as long as the child */
        cuzk_journal_accept(journal, &job, on_done, expect('A', seq, 0));
        for (unsigned unit = 0; unit < job.n_units && unit < 4; unit++) {
            uint8_t proof[PROOF_BYTES];
            fill(proof, sizeof proof, seq, 100 + unit);
            cuzk_journal_unit(journal, seq, unit, proof, sizeof proof, on_done,
                              expect('U', seq, unit));
        }
        if (draw(3) == 0) {
            cuzk_journal_end end = make_end(seq);
            tell('f', seq, 0);
            cuzk_journal_finish(journal, seq, &end, on_done, expect('F', seq, 0));
        } else if (draw(10) == 0) {
            tell('d', seq, 0);
            cuzk_journal_drop(journal, seq);
        }
        if (draw(4) == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
    pause();
}

typedef struct {
    bool accepted, end_asked, ended, drop_asked;
    unsigned units; /* bits of acknowledged ones */
} known_job;

enum { MAX_SEQ = 100000 };
static known_job known[MAX_SEQ];

static void learn(const news *n)
{
    assert_true(n->seq < MAX_SEQ);
    known_job *k = &known[n->seq];
    switch (n->what) {
    case 'A':
        k->accepted = n->seq != 0;
        break;
    case 'U':
        k->units |= 1u << n->unit;
        break;
    case 'f':
        k->end_asked = true;
        break;
    case 'F':
        k->ended = true;
        break;
    default:
        k->drop_asked = true;
    }
}

/* Read news until the pipe's end; after kill_ns from the first piece, kill. */
static unsigned listen_and_kill(pid_t child, int pipe_fd, uint64_t kill_ns)
{
    uint64_t at = UINT64_MAX;
    unsigned n_news = 0;
    for (;;) {
        struct pollfd p = {.fd = pipe_fd, .events = POLLIN};
        poll(&p, 1, 1);
        if (cuzk_now_ns() >= at) {
            kill(child, SIGKILL);
            at = UINT64_MAX;
        }
        news n[64];
        ssize_t got = p.revents == 0 ? -1 : read(pipe_fd, n, sizeof n);
        if (got == 0) {
            return n_news;
        }
        for (ssize_t i = 0; i < got / (ssize_t)sizeof n[0]; i++) {
            if (n_news++ == 0) {
                at = cuzk_now_ns() + kill_ns;
            }
            learn(&n[i]);
        }
    }
}

static void check_against_news(uint64_t first)
{
    for (uint64_t seq = first; seq < found.next_seq && seq < MAX_SEQ; seq++) {
        const known_job *k = &known[seq];
        int i = find_job(&found, seq);
        if (i < 0) {
            if (k->accepted && !k->drop_asked) {
                fail_msg("job %llu was acknowledged and is gone", (unsigned long long)seq);
            }
            continue;
        }
        if (found.jobs[i].has_ended) {
            assert_true(k->end_asked);
        } else {
            assert_false(k->ended);
            /* finished units are not proved again */
            assert_true(found.jobs[i].n_done >= (unsigned)__builtin_popcount(k->units));
        }
    }
}

static void test_killed(void **state)
{
    (void)state;
    unsigned n_rounds = is_nightly() ? 400 : 8, n_all = 0;
    /* where others work a child may not get far in its time */
    for (unsigned round = 0; round < n_rounds || (n_all <= 10 * n_rounds && round < 20 * n_rounds);
         round++) {
        uint64_t first = found.next_seq;
        int fds[2];
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        (void)fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
        seed += 0x9e3779b97f4a7c15u;
        pid_t child = fork();
        if (child == 0) {
            to_parent = fds[1];
            run_child();
        }
        close(fds[1]);
        unsigned n_news = listen_and_kill(child, fds[0], draw(60000000));
        close(fds[0]);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        cuzk_journal_options options = plain_options();
        cuzk_journal *journal = open_fine(&options);
        take_inventory(&found, journal);
        check_against_news(first == 0 ? 1 : first);
        if (found.n_jobs > 1000) {
            for (unsigned i = 0; i < found.n_jobs; i++) {
                cuzk_journal_drop(journal, found.jobs[i].seq);
            }
        }
        cuzk_journal_close(journal);
        n_all += n_news;
    }
    assert_true(n_all > n_rounds * 10);
}

/* ---- a damaged file -------------------------------------------------------------------------- */

typedef struct {
    uint8_t *data;
    size_t size;
} bytes;

static bytes read_file(const char *path)
{
    bytes b = {0};
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        return b;
    }
    assert_int_equal(fstat(fd, &st), 0);
    b.size = (size_t)st.st_size;
    b.data = (uint8_t *)malloc(b.size + 1);
    assert_int_equal(read(fd, b.data, b.size), (ssize_t)b.size);
    close(fd);
    return b;
}

static void write_file(const char *path, bytes b)
{
    unlink(path);
    if (b.data == NULL) {
        return;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, b.data, b.size), (ssize_t)b.size);
    close(fd);
}

enum { N_JOBS = 60 };

/* A journal with all that there can be in one. with_log: as a killed process leaves it. */
static void make_journal(bytes *db, bytes *log, bool with_log)
{
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal = open_fine(&options);
    for (uint64_t seq = 1; seq <= N_JOBS; seq++) {
        assert_int_equal(accept_job(journal, seq, seq * 200, NULL), CUZK_OK);
        for (unsigned unit = 0; unit < 1 + seq % 20; unit++) {
            if (unit % 3 == 0) {
                assert_int_equal(write_unit(journal, seq, unit, NULL), CUZK_OK);
            }
        }
        if (seq % 3 == 0) {
            assert_int_equal(finish_job(journal, seq, NULL), CUZK_OK);
        }
    }
    if (!with_log) {
        cuzk_journal_close(journal);
    }
    *db = read_file(journal_path);
    *log = with_log ? read_file(beside("-wal")) : (bytes){0};
    if (with_log) {
        assert_true(log->size > 100000);
        cuzk_journal_close(journal);
    }
}

static void check_private(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && (st.st_mode & 077) != 0) {
        fail_msg("\"%s\" has mode %04o", path, st.st_mode & 0777);
    }
}

/* The file that was set aside has the bytes that the damaged one had. */
static void check_set_aside(const cuzk_journal_report *report, bytes db, bytes log)
{
    char log_path[1100];
    snprintf(log_path, sizeof log_path, "%s-wal", report->set_aside);
    bytes aside = read_file(report->set_aside), aside_log = read_file(log_path);
    assert_non_null(aside.data);
    assert_int_equal(aside.size, db.size);
    assert_memory_equal(aside.data, db.data, db.size);
    assert_int_equal(aside_log.size, log.size);
    if (log.size > 0) {
        assert_memory_equal(aside_log.data, log.data, log.size);
    }
    assert_true(strlen(report->reason) > 0);
    check_private(report->set_aside);
    check_private(log_path);
    free(aside.data);
    free(aside_log.data);
    unlink(report->set_aside);
    unlink(log_path);
}

/* What opening damaged files comes to. */
typedef struct {
    unsigned n_places, n_noticed;
    uint64_t n_lost, n_most_lost;
} toll;

/* is_prefix: the end of the log may be gone without a word, as after a power failure. */
static void open_damaged(toll *t, bytes db, bytes log, bool is_prefix)
{
    write_file(journal_path, db);
    write_file(beside("-wal"), log);
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal;
    cuzk_journal_report report;
    cuzk_error err = {0};
    if (cuzk_journal_open(&journal, &report, &options, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
    check_private(journal_path);
    check_private(beside("-wal"));
    take_inventory(&found, journal); /* all that comes back is intact */
    uint64_t n_lost = N_JOBS - found.n_jobs;
    for (unsigned i = 0; i < found.n_jobs; i++) {
        assert_in_range(found.jobs[i].seq, 1, N_JOBS);
        if (!is_prefix && !report.was_damaged) {
            assert_int_equal(found.jobs[i].has_ended, found.jobs[i].seq % 3 == 0);
            assert_true(found.jobs[i].has_ended ||
                        found.jobs[i].n_done == (1 + found.jobs[i].seq % 20 + 2) / 3);
        }
    }
    assert_true(report.was_damaged || is_prefix || n_lost == 0);
    t->n_places++;
    if (report.was_damaged) {
        assert_int_equal(report.n_salvaged, found.n_jobs);
        check_set_aside(&report, db, log);
        t->n_noticed++;
        t->n_lost += n_lost;
        t->n_most_lost = n_lost > t->n_most_lost ? n_lost : t->n_most_lost;
    }
    /* it works again, and stays as it is */
    uint64_t next = found.next_seq;
    unsigned n_jobs = found.n_jobs;
    assert_true(!report.was_damaged || next > N_JOBS);
    char text[300];
    if (accept_job(journal, next, 100, text) != CUZK_OK) {
        fail_msg("%s", text);
    }
    cuzk_journal_close(journal);
    journal = open_fine(&options);
    take_inventory(&found, journal);
    assert_int_equal(found.n_jobs, n_jobs + 1);
    cuzk_journal_close(journal);
}

static void flip_and_open(toll *t, bytes db, bytes log, bytes which, size_t at, unsigned bit,
                          bool is_prefix)
{
    uint8_t mask = (uint8_t)(1 << bit);
    which.data[at] ^= mask;
    open_damaged(t, db, log, is_prefix);
    which.data[at] ^= mask;
}

static void print_toll(const char *what, const toll *t)
{
    print_message("%s: %u places, %u noticed, %llu of %d jobs lost at most, %.2f on average\n",
                  what, t->n_places, t->n_noticed, (unsigned long long)t->n_most_lost, N_JOBS,
                  t->n_noticed == 0 ? 0.0 : (double)t->n_lost / t->n_noticed);
}

static void test_flipped_bits(void **state)
{
    (void)state;
    bytes db, log;
    make_journal(&db, &log, false);
    toll header = {0}, rest = {0};
    for (size_t bit = is_nightly() ? 0 : draw(32); bit < 800; bit += is_nightly() ? 1 : 32) {
        flip_and_open(&header, db, log, db, bit / 8, bit % 8, false);
    }
    flip_and_open(&header, db, log, db, 18, 0, false); /* a version that SQLite only reads */
    unsigned n = is_nightly() ? 2000 : 30;
    for (unsigned i = 0; i < n; i++) {
        flip_and_open(&rest, db, log, db, 100 + draw(db.size - 100), (unsigned)draw(8), false);
    }
    print_toll("bits of the header", &header);
    print_toll("bits of the file", &rest);
    /* a header's bit costs nothing: all of it is known */
    assert_int_equal(header.n_most_lost, 0);
    assert_true(rest.n_noticed > n / 4);
    assert_true(rest.n_lost <= 4 * rest.n_noticed);
    free(db.data);
}

static void test_flipped_bits_of_the_log(void **state)
{
    (void)state;
    bytes db, log;
    make_journal(&db, &log, true);
    toll header = {0}, rest = {0};
    for (size_t bit = is_nightly() ? 0 : draw(32); bit < 256; bit += is_nightly() ? 1 : 32) {
        flip_and_open(&header, db, log, log, bit / 8, bit % 8, false);
    }
    unsigned n = is_nightly() ? 1000 : 20;
    size_t last = log.size - 30 * 4120; /* the last commits may go like one that was cut off */
    for (unsigned i = 0; i < n; i++) {
        flip_and_open(&rest, db, log, log, 32 + draw(last - 32), (unsigned)draw(8), false);
    }
    print_toll("bits of the log's header", &header);
    print_toll("bits of the log", &rest);
    assert_int_equal(header.n_noticed, header.n_places);
    assert_int_equal(header.n_most_lost, 0);
    assert_true(rest.n_lost <= 2 * rest.n_noticed);
    free(db.data);
    free(log.data);
}

static void test_truncated(void **state)
{
    (void)state;
    bytes db, log;
    make_journal(&db, &log, false);
    toll file = {0}, cut_log = {0};
    unsigned n = is_nightly() ? 400 : 12;
    for (unsigned i = 0; i < n; i++) {
        bytes cut = {db.data, i < 4 ? (size_t[]){1, 99, 100, 4096}[i] : 1 + draw(db.size - 1)};
        open_damaged(&file, cut, log, false);
    }
    print_toll("a file cut off", &file);
    assert_true(file.n_noticed > n / 2); /* the rest lost a few unused bytes */
    free(db.data);
    unlink(journal_path);
    make_journal(&db, &log, true);
    for (unsigned i = 0; i < n; i++) {
        bytes cut = {log.data, draw(log.size)};
        open_damaged(&cut_log, db, cut, true);
    }
    print_toll("a log cut off", &cut_log);
    assert_int_equal(cut_log.n_noticed, 0); /* as after a power failure */
    free(db.data);
    free(log.data);
}

/* A file that shows nothing of a journal is refused and stays as it is. */
static void check_refused(bytes b)
{
    write_file(journal_path, b);
    unlink(beside("-wal"));
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal;
    cuzk_journal_report report;
    assert_int_equal(cuzk_journal_open(&journal, &report, &options, NULL), CUZK_E_UNSUPPORTED);
    bytes after = read_file(journal_path);
    assert_int_equal(after.size, b.size);
    assert_memory_equal(after.data, b.data, b.size);
    free(after.data);
}

/* Noise, zeros, an empty file; such a first page, or file beside a log. */
static void test_replaced(void **state)
{
    (void)state;
    toll all = {0}, page = {0};
    bytes db, log, none = {0};
    make_journal(&db, &log, false);
    for (int is_noise = 0; is_noise < 2; is_noise++) {
        bytes b = {(uint8_t *)calloc(1, db.size), db.size};
        if (is_noise) {
            fill(b.data, b.size, 1, 1);
        }
        check_refused(b);
        memcpy(b.data + 4096, db.data + 4096, db.size - 4096);
        open_damaged(&page, b, none, false);
        free(b.data);
    }
    assert_int_equal(page.n_noticed, 2);
    assert_int_equal(page.n_most_lost, 0); /* all of it is known */
    free(db.data);
    unlink(journal_path);
    make_journal(&db, &log, true);
    for (int is_noise = 0; is_noise < 2; is_noise++) {
        bytes b = {(uint8_t *)calloc(1, 20000), 20000};
        if (is_noise) {
            fill(b.data, b.size, 1, 1);
        }
        open_damaged(&all, b, log, true);
        b.size = 0; /* empty is new */
        open_damaged(&all, b, none, true);
        free(b.data);
    }
    free(db.data);
    free(log.data);
}

/* A salvage that was killed at any instant is completed, or done again, by the next start. */
static void test_killed_while_salvaging(void **state)
{
    (void)state;
    bytes db, log;
    make_journal(&db, &log, true);
    uint8_t *middle = log.data + log.size / 2;
    *middle ^= 1;
    write_file(journal_path, db);
    write_file(beside("-wal"), log);
    unsigned n_kills = 0;
    bool done = false;
    for (unsigned round = 0; round < 200 && !done; round++) {
        pid_t child = fork();
        if (child == 0) {
            cuzk_journal_options options = plain_options();
            cuzk_journal *journal;
            cuzk_journal_report report;
            _exit(cuzk_journal_open(&journal, &report, &options, NULL) == CUZK_OK ? 0 : 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)draw(500000) * (1 + round / 20)}, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        n_kills += WIFSIGNALED(status);
        done = WIFEXITED(status);
        assert_true(!done || WEXITSTATUS(status) == 0);
    }
    assert_true(n_kills > 0);
    cuzk_journal_options options = plain_options();
    cuzk_journal *journal;
    cuzk_journal_report report;
    assert_int_equal(cuzk_journal_open(&journal, &report, &options, NULL), CUZK_OK);
    take_inventory(&found, journal);
    cuzk_journal_close(journal);
    assert_true(found.n_jobs >= N_JOBS - 2);
    /* exactly one pair of files was set aside, and nothing else lies about */
    char folder[300];
    snprintf(folder, sizeof folder, "%s", journal_path);
    *strrchr(folder, '/') = 0;
    DIR *d = opendir(folder);
    unsigned n_aside = 0;
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n_aside += strstr(e->d_name, ".damaged-") != NULL;
        if (strstr(e->d_name, "salvage") != NULL) {
            fail_msg("%s is left", e->d_name);
        }
    }
    closedir(d);
    assert_int_equal(n_aside, 2);
    free(db.data);
    free(log.data);
}

int main(void)
{
    const char *text = getenv("CUZK_SEED");
    seed = text == NULL ? cuzk_now_ns() : strtoull(text, NULL, 10);
    print_message("CUZK_SEED=%llu\n", (unsigned long long)seed);
    seed = seed * 2 + 1;
    umask(0); /* the journal's files are private all the same */
#define TEST(f) cmocka_unit_test_setup_teardown(f, journal_setup_in_memory, journal_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_killed),    TEST(test_flipped_bits), TEST(test_flipped_bits_of_the_log),
        TEST(test_truncated), TEST(test_replaced),     TEST(test_killed_while_salvaging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
