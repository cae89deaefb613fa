/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin proofs as the daemon makes them, from a request's bytes to a verified proof's, without
 * a key file: the real engine with the daemon's defaults, its journal and its recording; the key's
 * points are made on the device from a known trapdoor.
 *
 *   bench_gpu_full KIND VANILLA REQUEST OUT_DIR [--device ID]... [--devices N] [--runs N]
 *                  [--queue N] [--no-journal] [--fault TEXT]
 *
 * KIND: porep, snap, window or winning; VANILLA and REQUEST as "cuzk gen-vanilla" writes them.
 * First the key is made ("cold": the first job after it), then N jobs one after the other ("warm"),
 * then as many as --queue says at once. All devices that are given serve all jobs; --devices N:
 * cuda:0 to N-1. --fault: what goes wrong while the queue runs, as docs/engine.md, "Faults for
 * tests", has it (prove@1+5:E_DEVICE_LOST); in builds with tests. CSV on stdout:
 * kind,size,group,jobs,step,median,least,most (ms where the step's name says nothing else);
 * comments tell of memory. In OUT_DIR: KIND.cuzkrec, the recording; KIND.bin, the last job's proof;
 * and the verifying key under its parameter file's name, so that "cuzk verify" can look at the
 * proof with FIL_PROOFS_PARAMETER_CACHE=OUT_DIR. Exit code 1 if a job failed. */
#define _GNU_SOURCE
#include "bench_gpu_full.h"
#include "base/clock.h"
#include "base/pool.h"
#include "bench_payload.h"
#include "bench_util.h"
#include "engine/engine.h"
#include "engine/faults.h"
#include "server/record.h"
#include "work/device_ledger.h"
#include "work/places.h"
#include "work/stage_threads.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1100,
    WORKERS = 2, /* what follows: the daemon's defaults */
    ATTEMPTS = 2,
    DEVICE_FAULTS = 2
};

/* ---- options --------------------------------------------------------------------------------- */

typedef struct {
    const char *kind, *vanilla, *request, *out, *fault;
    const char *devices[CUZK_WORK_DEVICES_MAX];
    unsigned n_devices;
    cuzk_filecoin_kind number;
    unsigned n_runs, n_queue;
    bool has_journal;
} options;

static bool add_device(options *o, const char *id)
{
    bool has_room = o->n_devices < CUZK_WORK_DEVICES_MAX;
    if (has_room) {
        o->devices[o->n_devices++] = id;
    }
    return has_room;
}

/* The first n of the machine. */
static bool add_cards(options *o, unsigned long n)
{
    static char ids[CUZK_WORK_DEVICES_MAX][16];
    bool is_right = n >= 1 && n <= CUZK_WORK_DEVICES_MAX;
    for (unsigned i = 0; is_right && i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "cuda:%u", i);
        is_right = add_device(o, ids[i]);
    }
    return is_right;
}

static bool read_options(options *o, int argc, char **argv)
{
    static const char *const kinds[] = {"", "porep", "snap", "window", "winning"};
    *o = (options){.fault = "", .n_runs = 3, .n_queue = 3, .has_journal = true};
    if (argc < 5) {
        return false;
    }
    o->kind = argv[1];
    o->vanilla = argv[2];
    o->request = argv[3];
    o->out = argv[4];
    for (int i = 1; i <= CUZK_FILECOIN_WINNING; i++) {
        o->number = strcmp(o->kind, kinds[i]) == 0 ? (cuzk_filecoin_kind)i : o->number;
    }
    for (int i = 5; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--no-journal") == 0) {
            o->has_journal = false;
        } else if (strcmp(argv[i], "--device") == 0 && has_value) {
            if (!add_device(o, argv[++i])) {
                return false;
            }
        } else if (strcmp(argv[i], "--devices") == 0 && has_value) {
            if (!add_cards(o, strtoul(argv[++i], NULL, 10))) {
                return false;
            }
        } else if (strcmp(argv[i], "--fault") == 0 && has_value) {
            o->fault = argv[++i];
        } else if (strcmp(argv[i], "--runs") == 0 && has_value) {
            o->n_runs = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--queue") == 0 && has_value) {
            o->n_queue = (unsigned)strtoul(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    if (o->n_devices == 0) {
        (void)add_cards(o, 1);
    }
    return o->number != 0 && o->n_runs < JOBS_MAX && o->n_queue < JOBS_MAX &&
           o->n_runs + o->n_queue + 1 <= JOBS_MAX;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what is below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned n_open;
static bool has_failed;
static uint8_t last_proof[CUZK_UNITS_MAX * CUZK_PROOF_BYTES];
static size_t last_proof_bytes;

static bool failed(void)
{
    pthread_mutex_lock(&mutex);
    bool has = has_failed;
    pthread_mutex_unlock(&mutex);
    return has;
}

static void close_job(full_job *job, const char *error)
{
    job->answered_ns = cuzk_now_ns();
    if (error != NULL) {
        fprintf(stderr, "job %s: %s\n", job->id, error);
        has_failed = true;
    }
    n_open--;
    pthread_cond_broadcast(&changed);
}

static void on_submitted(void *user, const cuzk_submitted *s)
{
    if (s->status != CUZK_OK) {
        pthread_mutex_lock(&mutex);
        close_job(user, s->error);
        pthread_mutex_unlock(&mutex);
    }
}

static void on_result(void *user, const cuzk_job_result *r)
{
    pthread_mutex_lock(&mutex);
    bool is_whole = r->state == CUZK_JOB_COMPLETED && r->answer_bytes <= sizeof last_proof;
    if (is_whole) {
        memcpy(last_proof, r->answer, r->answer_bytes);
        last_proof_bytes = r->answer_bytes;
    }
    close_job(user, is_whole ? NULL : r->error);
    pthread_mutex_unlock(&mutex);
}

static void submit(cuzk_engine *engine, full_job *job, const bench_payload *p)
{
    uint8_t *copy = malloc(p->n_bytes);
    if (copy == NULL) {
        fprintf(stderr, "bench: a payload: out of memory\n");
        exit(1);
    }
    memcpy(copy, p->bytes, p->n_bytes);
    pthread_mutex_lock(&mutex);
    n_open++;
    pthread_mutex_unlock(&mutex);
    cuzk_submission s = {.request_id = job->id,
                         .kind = p->kind,
                         .payload = copy,
                         .payload_bytes = p->n_bytes,
                         .on_submitted = on_submitted,
                         .on_result = on_result,
                         .user = job};
    job->submitted_ns = cuzk_now_ns();
    cuzk_engine_submit(engine, &s, NULL);
}

static void wait_all(void)
{
    pthread_mutex_lock(&mutex);
    while (n_open > 0) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A line of /proc/self/status, in MiB. */
static double status_mib(const char *name)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = strtod(line + strlen(name), NULL);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib / 1024;
}

/* The peak is counted from here on. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (file != NULL) {
        fputs("5", file);
        fclose(file);
    }
}

static void print_memory(const char *when)
{
    printf("# host memory, %s: %.0f MiB now, %.0f at most\n", when, status_mib("VmRSS:"),
           status_mib("VmHWM:"));
}

static void print_device_memory(cuzk_device_ledger *ledger, const cuzk_work_devices *devices,
                                unsigned device)
{
    uint64_t bytes[CUZK_DEVICE_PURPOSES], all = 0;
    cuzk_device_ledger_look(ledger, device, bytes);
    printf("# memory of %s, MiB:", devices->devices[device].id);
    for (unsigned i = 0; i < CUZK_DEVICE_PURPOSES; i++) {
        printf(" %s %llu", cuzk_device_purpose_name(i), (unsigned long long)(bytes[i] >> 20));
        all += bytes[i];
    }
    printf(" all %llu\n", (unsigned long long)(all >> 20));
}

/* ---- the engine ------------------------------------------------------------------------------ */

typedef struct {
    cuzk_ctx *ctx;
    cuzk_work_devices devices;
    cuzk_device_ledger *ledger;
    cuzk_places places;
    bool has_fault; /* what goes wrong is asked for: only jobs must not fail */
    full_keys keys;
    cuzk_filecoin_work *work;
    cuzk_journal *journal;
    cuzk_record *record;
    cuzk_engine *engine;
} bench;

static void observe(void *user, const cuzk_event *event)
{
    const bench *b = user;
    cuzk_record_observe(b->record, event);
    if (event->id == CUZK_EVENT_RETRY || event->id == CUZK_EVENT_DEVICE_OUT) {
        fprintf(stderr, "unit %d: %s\n", event->unit, event->text);
        pthread_mutex_lock(&mutex);
        has_failed = has_failed || !b->has_fault;
        pthread_mutex_unlock(&mutex);
    } else if (event->id == CUZK_EVENT_DEVICE_RENEWED) {
        printf("# device %d was lost and begun anew: %s\n", event->device, event->text);
    }
}

static cuzk_status renew(void *user, unsigned device, cuzk_error *err)
{
    return cuzk_work_devices_renew(&((const bench *)user)->devices, device, err);
}

static void print_line(void *user, cuzk_log_level level, const char *text)
{
    (void)user;
    (void)level;
    printf("# %s\n", text);
}

static uint64_t host_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void open_work(bench *b, const options *o, const bench_payload *p)
{
    cuzk_error err = {0};
    cuzk_ctx_options ctx = CUZK_CTX_OPTIONS_INIT;
    ctx.log = print_line;
    check(cuzk_ctx_create(&b->ctx, &ctx, &err), &err);
    check(cuzk_work_devices_init(&b->devices, o->devices, o->n_devices, &err), &err);
    check(cuzk_places_init(&b->places, &b->devices, true, &err), &err);
    b->has_fault = o->fault[0] != '\0';
    check(cuzk_device_ledger_create(&b->ledger, host_bytes() / 2, &err), &err);
    b->devices.ledger = b->ledger;
    b->keys = (full_keys){.ctx = b->ctx, .vk_path = p->vk_path};
    cuzk_filecoin_work_options work = {.ctx = b->ctx,
                                       .devices = &b->devices,
                                       .allow_test_key = true,
                                       .key_maker = full_key_maker(&b->keys)};
    check(cuzk_filecoin_work_create(&b->work, &work, &err), &err);
    for (unsigned i = 0; i < b->devices.n; i++) {
        const cuzk_work_device *d = &b->devices.devices[i];
        if (d->missing[0] != '\0') {
            fprintf(stderr, "device %s: %s\n", d->id, d->missing);
            exit(1);
        }
        printf("# %s %s, %llu MiB free, NUMA node %d\n", d->id, d->name,
               (unsigned long long)(d->memory_bytes >> 20), d->numa_node);
    }
    printf("# %u threads, %s, threads by node: %s\n", cuzk_ctx_n_threads(b->ctx),
           cuzk_ctx_cpu(b->ctx), cuzk_places_note(&b->places));
}

static void open_journal(bench *b, const options *o)
{
    char path[600];
    cuzk_error err = {0};
    cuzk_journal_report report;
    snprintf(path, sizeof path, "%s/journal.db", o->out);
    cuzk_journal_options journal = {
        .path = path, .keep_ns = UINT64_C(3600000000000), .keep_bytes = UINT64_C(1) << 30};
    if (o->has_journal) {
        check(cuzk_journal_open(&b->journal, &report, &journal, &err), &err);
    }
}

static void open_engine(bench *b, const char *recording)
{
    cuzk_error err = {0};
    cuzk_engine_device devices[CUZK_WORK_DEVICES_MAX];
    for (unsigned i = 0; i < b->devices.n; i++) {
        const cuzk_work_device *d = &b->devices.devices[i];
        devices[i] = (cuzk_engine_device){d->id, d->name, d->memory_bytes, WORKERS, NULL};
    }
    cuzk_stage_threads threads =
        cuzk_stage_threads_fill((cuzk_stage_threads){0}, b->devices.n, cuzk_cpu_count());
    cuzk_engine_options o = {.devices = devices,
                             .n_devices = b->devices.n,
                             .budget_bytes = host_bytes() / 4 * 3,
                             .n_decoders = threads.n_decoders,
                             .n_witness = threads.n_witness,
                             .n_finishers = threads.n_finishers,
                             .n_verifiers = threads.n_verifiers,
                             .witness_ahead = WORKERS,
                             .attempts = ATTEMPTS,
                             .device_faults = DEVICE_FAULTS,
                             .journal = b->journal,
                             .renew = renew,
                             .renew_user = b,
                             .place = cuzk_places_put,
                             .place_user = &b->places,
                             .observe = observe,
                             .observe_user = b};
    static const struct {
        const char *name, *label;
        cuzk_priority priority;
    } kinds[] = {{NULL, NULL, CUZK_PRIORITY_NORMAL},
                 {"porep-c2", "porep_c2", CUZK_PRIORITY_NORMAL},
                 {"snap-update", "snap_update", CUZK_PRIORITY_NORMAL},
                 {"window-post", "window_post", CUZK_PRIORITY_HIGH},
                 {"winning-post", "winning_post", CUZK_PRIORITY_CRITICAL}};
    for (unsigned k = 1; k < sizeof kinds / sizeof kinds[0]; k++) {
        o.kinds[k] = (cuzk_engine_kind){kinds[k].name, kinds[k].label, kinds[k].priority,
                                        cuzk_filecoin_work_table(b->work)};
    }
    cuzk_record_options record = {.path = recording,
                                  .limit_bytes = UINT64_C(1) << 30,
                                  .kinds = o.kinds,
                                  .devices = devices,
                                  .n_devices = b->devices.n,
                                  .machine = {.n_witness = o.n_witness,
                                              .n_finishers = o.n_finishers,
                                              .n_verifiers = o.n_verifiers,
                                              .witness_ahead = o.witness_ahead}};
    cuzk_engine_work_bytes(&o, &record.machine.work_bytes, &record.machine.critical_bytes);
    check(cuzk_record_start(&b->record, &record, &err), &err);
    check(cuzk_engine_create(&b->engine, &o, &err), &err);
}

static void close_all(bench *b)
{
    cuzk_engine_destroy(b->engine);
    cuzk_record_stop(b->record);
    cuzk_journal_close(b->journal);
    cuzk_filecoin_work_destroy(b->work);
    cuzk_places_clear(&b->places);
    full_keys_clear(&b->keys);
    cuzk_device_ledger_destroy(b->ledger);
    cuzk_ctx_destroy(b->ctx);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void name_job(full_job *job, const char *group, unsigned i)
{
    snprintf(job->name, sizeof job->name, "%s", group);
    snprintf(job->id, sizeof job->id, "%s-%u", group, i);
}

/* Jobs in the order in which they are run. Returned: how many. */
static unsigned run_jobs(const bench *b, const options *o, const bench_payload *p, full_job *jobs)
{
    unsigned n = 0;
    for (unsigned i = 0; i <= o->n_runs && !failed(); i++, n++) {
        name_job(&jobs[n], i == 0 ? "cold" : "warm", i);
        submit(b->engine, &jobs[n], p);
        wait_all();
    }
    cuzk_error err = {0};
    check(cuzk_faults_set(o->fault, &err), &err);
    for (unsigned i = 0; i < o->n_queue && !failed(); i++, n++) {
        name_job(&jobs[n], "queue", i);
        submit(b->engine, &jobs[n], p);
    }
    wait_all();
    return n;
}

static void load_key(const bench *b, const bench_payload *p)
{
    cuzk_error err = {0};
    bool was_loaded = false;
    uint64_t load_ns = 0;
    check(cuzk_engine_preload(b->engine, &was_loaded, &load_ns, p->circuit, true, &err), &err);
    printf("# key of %s made on the device, all of it loaded: %.2f s\n", p->circuit,
           (double)load_ns / 1e9);
    full_keys_print(&b->keys);
    print_memory("key made");
    for (unsigned i = 0; i < b->devices.n; i++) {
        print_device_memory(b->ledger, &b->devices, i);
    }
    fflush(stdout);
    reset_peak();
}

static void write_proof(const options *o)
{
    char path[600];
    cuzk_error err = {0};
    snprintf(path, sizeof path, "%s/%s.bin", o->out, o->kind);
    check(cuzk_write_file(path, last_proof, last_proof_bytes, &err), &err);
    printf("# proof: %zu bytes\n", last_proof_bytes);
}

int main(int argc, char **argv)
{
    static full_job jobs[JOBS_MAX];
    options o;
    bench_payload p;
    bench b = {0};
    char recording[600], name[64];
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: bench_gpu_full porep|snap|window|winning VANILLA REQUEST OUT_DIR "
                        "[--device ID]... [--devices N] [--runs N] [--queue N] [--no-journal] "
                        "[--fault TEXT]\n");
        return 2;
    }
    bench_payload_init(&p, o.number, o.vanilla, o.request, o.out);
    snprintf(recording, sizeof recording, "%s/%s.cuzkrec", o.out, o.kind);
    snprintf(name, sizeof name, "%s,%s", o.kind, p.size);
    open_work(&b, &o, &p);
    open_journal(&b, &o);
    open_engine(&b, recording);
    load_key(&b, &p);
    unsigned n_jobs = run_jobs(&b, &o, &p, jobs);
    print_memory("jobs");
    close_all(&b);
    bool is_good = !failed();
    if (is_good) {
        write_proof(&o);
        full_report(name, recording, jobs, n_jobs, p.n_partitions);
    }
    bench_payload_clear(&p);
    return is_good ? 0 : 1;
}
