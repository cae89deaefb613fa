/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Jobs a second that the journal takes, and how long a commit makes a job wait:
 *
 *     bench_journal [PATH [JOBS [IN FLIGHT [PAYLOAD BYTES]]]]
 *
 * A job is what the engine makes of one: accepted, one unit's proof, its end; each is asked for
 * when the one before it was answered. PATH: a journal that is made and deleted; the disk under it
 * is what is measured. Prints CSV. */
#include "base/clock.h"
#include "engine/journal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROOF = 192 };

static struct {
    cuzk_journal *journal;
    size_t payload_bytes;
    void *payload;
    unsigned n_jobs, n_started, n_ended; /* by mutex, as the latencies */
    uint64_t *latency_ns;
    pthread_mutex_t mutex;
    pthread_cond_t all_ended;
} bench = {.mutex = PTHREAD_MUTEX_INITIALIZER, .all_ended = PTHREAD_COND_INITIALIZER};

typedef struct {
    uint64_t seq, begin_ns;
} job;

static void start_next(void);

static void check(cuzk_status status, const char *error)
{
    if (status != CUZK_OK) {
        fprintf(stderr, "bench_journal: %s\n", error);
        exit(1);
    }
}

static void on_finished(void *user, cuzk_status status, const char *error)
{
    check(status, error);
    free(user);
    pthread_mutex_lock(&bench.mutex);
    bench.n_ended++;
    pthread_cond_signal(&bench.all_ended);
    pthread_mutex_unlock(&bench.mutex);
    start_next();
}

static void on_unit(void *user, cuzk_status status, const char *error)
{
    static const uint8_t answer[PROOF];
    check(status, error);
    cuzk_journal_end end = {.error = "", .answer = answer, .answer_bytes = PROOF};
    cuzk_journal_finish(bench.journal, ((job *)user)->seq, &end, on_finished, user);
}

static void on_accepted(void *user, cuzk_status status, const char *error)
{
    static const uint8_t proof[PROOF];
    check(status, error);
    job *j = (job *)user;
    pthread_mutex_lock(&bench.mutex);
    bench.latency_ns[j->seq - 1] = cuzk_now_ns() - j->begin_ns;
    pthread_mutex_unlock(&bench.mutex);
    cuzk_journal_unit(bench.journal, j->seq, 0, proof, PROOF, on_unit, user);
}

static void start_next(void)
{
    pthread_mutex_lock(&bench.mutex);
    unsigned seq = bench.n_started == bench.n_jobs ? 0 : ++bench.n_started;
    pthread_mutex_unlock(&bench.mutex);
    if (seq == 0) {
        return;
    }
    job *j = (job *)calloc(1, sizeof *j);
    *j = (job){seq, cuzk_now_ns()};
    cuzk_journal_job row = {.seq = seq,
                            .request_id = "porep-1000-1234567",
                            .job_id = "porep-1000-1234567",
                            .n_units = 1,
                            .payload = bench.payload,
                            .payload_bytes = bench.payload_bytes};
    cuzk_journal_accept(bench.journal, &row, on_accepted, j);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static unsigned number(int argc, char **argv, int i, unsigned otherwise)
{
    return argc > i ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "bench-journal.db";
    bench.n_jobs = number(argc, argv, 2, 20000);
    unsigned n_in_flight = number(argc, argv, 3, 256);
    bench.payload_bytes = number(argc, argv, 4, 300);
    bench.payload = calloc(1, bench.payload_bytes + 1);
    bench.latency_ns = (uint64_t *)calloc(bench.n_jobs + 1, sizeof *bench.latency_ns);
    cuzk_journal_options options = {
        .path = path, .keep_ns = UINT64_MAX, .keep_bytes = (uint64_t)1 << 30};
    cuzk_journal_report report;
    cuzk_error err = {0};
    if (access(path, F_OK) == 0) {
        fprintf(stderr, "bench_journal: \"%s\" exists\n", path);
        return 1;
    }
    check(cuzk_journal_open(&bench.journal, &report, &options, &err), err.text);
    uint64_t begin = cuzk_now_ns();
    for (unsigned i = 0; i < n_in_flight; i++) {
        start_next();
    }
    pthread_mutex_lock(&bench.mutex);
    while (bench.n_ended < bench.n_jobs) {
        pthread_cond_wait(&bench.all_ended, &bench.mutex);
    }
    pthread_mutex_unlock(&bench.mutex);
    double seconds = (double)(cuzk_now_ns() - begin) * 1e-9;
    uint64_t bytes = cuzk_journal_bytes(bench.journal);
    cuzk_journal_close(bench.journal);
    qsort(bench.latency_ns, bench.n_jobs, sizeof *bench.latency_ns, by_number);
    printf("jobs,in_flight,payload_bytes,seconds,jobs_per_second,accept_ms_median,accept_ms_p99,"
           "file_bytes\n");
    printf("%u,%u,%zu,%.3f,%.0f,%.3f,%.3f,%llu\n", bench.n_jobs, n_in_flight, bench.payload_bytes,
           seconds, bench.n_jobs / seconds, (double)bench.latency_ns[bench.n_jobs / 2] * 1e-6,
           (double)bench.latency_ns[bench.n_jobs - 1 - bench.n_jobs / 100] * 1e-6,
           (unsigned long long)bytes);
    static const char *const suffixes[] = {"", "-wal", ".lock"};
    for (int i = 0; i < 3; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
    free(bench.latency_ns);
    free(bench.payload);
    return 0;
}
