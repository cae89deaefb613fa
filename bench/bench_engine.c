/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine itself costs: jobs of null work a second, and the time that one job takes from
 * its submission to its answer when nothing else runs.
 *
 *     bench_engine [JOBS [JOURNAL-FOLDER]]
 *
 * CSV: journal, jobs, in flight, seconds, jobs per second, processor microseconds a job, latency of
 * a lone job in microseconds (median, 99th percentile of 1,000). With a folder the journal's file
 * is made there and deleted. */
#include "base/clock.h"
#include "engine/engine.h"
#include "null_work.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { IN_FLIGHT = 64, LONE = 1000 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned n_in_flight, n_failed;
} counter;

static void on_submitted(void *user, const cuzk_submitted *answer)
{
    counter *c = (counter *)user;
    if (answer->status != CUZK_OK) {
        pthread_mutex_lock(&c->lock);
        c->n_in_flight--;
        c->n_failed++;
        pthread_cond_signal(&c->changed);
        pthread_mutex_unlock(&c->lock);
    }
}

static void on_result(void *user, const cuzk_job_result *result)
{
    counter *c = (counter *)user;
    pthread_mutex_lock(&c->lock);
    c->n_in_flight--;
    c->n_failed += result->state != CUZK_JOB_COMPLETED;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* Submit one job when fewer than so many are in flight. */
static void submit(cuzk_engine *engine, counter *c, unsigned long n, unsigned in_flight)
{
    char payload[48];
    char id[32];
    snprintf(id, sizeof id, "job-%lu", n);
    int n_bytes = snprintf(payload, sizeof payload, "n=%lu", n);
    void *copy = malloc((size_t)n_bytes);
    memcpy(copy, payload, (size_t)n_bytes);
    pthread_mutex_lock(&c->lock);
    while (c->n_in_flight >= in_flight) {
        pthread_cond_wait(&c->changed, &c->lock);
    }
    c->n_in_flight++;
    pthread_mutex_unlock(&c->lock);
    cuzk_submission submission = {.request_id = id,
                                  .kind = 1,
                                  .payload = copy,
                                  .payload_bytes = (size_t)n_bytes,
                                  .on_submitted = on_submitted,
                                  .on_result = on_result,
                                  .user = c};
    cuzk_engine_submit(engine, &submission, NULL);
}

static void wait_all(counter *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->n_in_flight > 0) {
        pthread_cond_wait(&c->changed, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int run(cuzk_engine *engine, const char *name, unsigned long n_jobs)
{
    counter c = {.n_in_flight = 0};
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    static uint64_t lone[LONE];
    for (unsigned long i = 0; i < LONE; i++) {
        uint64_t from = cuzk_now_ns();
        submit(engine, &c, i, 1);
        wait_all(&c);
        lone[i] = cuzk_now_ns() - from;
    }
    qsort(lone, LONE, sizeof lone[0], compare);
    uint64_t from = cuzk_now_ns();
    double cpu_from = cpu_seconds();
    for (unsigned long i = 0; i < n_jobs; i++) {
        submit(engine, &c, LONE + i, IN_FLIGHT);
    }
    wait_all(&c);
    double s = (double)(cuzk_now_ns() - from) * 1e-9;
    double cpu_us = (cpu_seconds() - cpu_from) / (double)n_jobs * 1e6;
    printf("%s,%lu,%d,%.3f,%.0f,%.1f,%.1f,%.1f\n", name, n_jobs, IN_FLIGHT, s, (double)n_jobs / s,
           cpu_us, (double)lone[LONE / 2] * 1e-3, (double)lone[LONE * 99 / 100] * 1e-3);
    fflush(stdout);
    return c.n_failed > 0;
}

static int bench(const char *name, cuzk_journal *journal, unsigned long n_jobs)
{
    null_work *work = null_work_create(&(null_options){0});
    cuzk_engine_device device = {.id = "cpu", .n_workers = 2};
    cuzk_engine_options options = {
        .kinds[1] = {.name = "null",
                     .label = "null",
                     .priority = CUZK_PRIORITY_NORMAL,
                     .work = null_work_table(work)},
        .devices = &device,
        .n_devices = 1,
        .budget_bytes = UINT64_C(256) << 20,
        .n_decoders = 2,
        .n_witness = 2,
        .n_finishers = 1,
        .n_verifiers = 1,
        .witness_ahead = 2,
        .journal = journal,
    };
    cuzk_engine *engine = NULL;
    cuzk_error err = {0};
    if (cuzk_engine_create(&engine, &options, &err) != CUZK_OK) {
        fprintf(stderr, "bench_engine: %s\n", err.text);
        return 1;
    }
    int rc = run(engine, name, n_jobs);
    cuzk_engine_destroy(engine);
    null_work_destroy(work);
    return rc;
}

static int bench_journal(const char *folder, unsigned long n_jobs)
{
    char path[600];
    snprintf(path, sizeof path, "%s/bench_engine-%ld.db", folder, (long)getpid());
    cuzk_journal *journal = NULL;
    cuzk_journal_report report;
    cuzk_error err = {0};
    cuzk_journal_options options = {
        .path = path, .keep_ns = UINT64_C(3600000000000), .keep_bytes = UINT64_C(1) << 30};
    if (cuzk_journal_open(&journal, &report, &options, &err) != CUZK_OK) {
        fprintf(stderr, "bench_engine: %s\n", err.text);
        return 1;
    }
    int rc = bench("sqlite", journal, n_jobs);
    cuzk_journal_close(journal);
    static const char *const ENDS[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char file[640];
        snprintf(file, sizeof file, "%s%s", path, ENDS[i]);
        unlink(file);
    }
    return rc;
}

int main(int argc, char **argv)
{
    unsigned long n_jobs = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    puts("journal,jobs,in_flight,seconds,jobs_per_s,cpu_us_per_job,lone_median_us,lone_p99_us");
    int rc = bench("none", NULL, n_jobs);
    if (argc > 2) {
        rc |= bench_journal(argv[2], n_jobs);
    }
    return rc;
}
