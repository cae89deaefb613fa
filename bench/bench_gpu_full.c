/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Filecoin proofs as the daemon makes them, from a request's bytes to a verified proof's, without
 * a key file: the real engine with the daemon's defaults, its journal and its recording; the key's
 * points are made on the device from a known trapdoor.
 *
 *   bench_gpu_full KIND VANILLA REQUEST OUT_DIR [--device ID] [--runs N] [--queue N]
 *                  [--no-journal]
 *
 * KIND: porep, snap, window or winning; VANILLA and REQUEST as "cuzk gen-vanilla" writes them.
 * First the key is made ("cold": the first job after it), then N jobs one after the other ("warm"),
 * then as many as --queue says at once. CSV on stdout: kind,size,group,jobs,step,median,least,most
 * (ms where the step's name says nothing else); comments tell of memory. In OUT_DIR: KIND.cuzkrec,
 * the recording; KIND.bin, the last job's proof; and the verifying key under its parameter file's
 * name, so that "cuzk verify" can look at the proof with FIL_PROOFS_PARAMETER_CACHE=OUT_DIR. Exit
 * code 1 if a job failed. */
#define _GNU_SOURCE
#include "bench_gpu_full.h"
#include "base/clock.h"
#include "base/map_file.h"
#include "base/pool.h"
#include "base/read_file.h"
#include "bench_util.h"
#include "client/request.h"
#include "engine/engine.h"
#include "server/record.h"
#include "work/device_ledger.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1100,
    WORKERS = 2, /* what follows: the daemon's defaults */
    DECODERS = 2,
    WITNESSES_MAX = 18,
    FINISHERS = 2,
    VERIFIERS = 2,
    ATTEMPTS = 2,
    DEVICE_FAULTS = 2
};

/* ---- options --------------------------------------------------------------------------------- */

typedef struct {
    const char *kind, *vanilla, *request, *out, *device;
    cuzk_filecoin_kind number;
    unsigned n_runs, n_queue;
    bool has_journal;
} options;

static bool read_options(options *o, int argc, char **argv)
{
    static const char *const kinds[] = {"", "porep", "snap", "window", "winning"};
    *o = (options){.device = "cuda:0", .n_runs = 3, .n_queue = 3, .has_journal = true};
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
            o->device = argv[++i];
        } else if (strcmp(argv[i], "--runs") == 0 && has_value) {
            o->n_runs = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--queue") == 0 && has_value) {
            o->n_queue = (unsigned)strtoul(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    return o->number != 0 && o->n_runs < JOBS_MAX && o->n_queue < JOBS_MAX &&
           o->n_runs + o->n_queue + 1 <= JOBS_MAX;
}

/* ---- the request's bytes --------------------------------------------------------------------- */

typedef struct {
    uint8_t *bytes;
    size_t n_bytes;
    unsigned kind, n_partitions;
    char circuit[CUZK_PARAM_CIRCUIT_MAX];
    const char *size; /* "32GiB" */
    char vk_path[600];
} payload;

/* What a client sends for these files. */
static void make_payload(payload *out, const options *o)
{
    cuzk_error err = {0};
    cuzk_filecoin_request *request = NULL;
    cuzk_map_file vanilla;
    char *json = NULL, *vk_path = NULL;
    size_t n_json = 0;
    check(cuzk_filecoin_request_create(&request, o->number, &err), &err);
    check(cuzk_read_small_file(&json, &n_json, "request", o->request, &err), &err);
    check(cuzk_filecoin_request_read_json(request, json, n_json, &err), &err);
    check(cuzk_map_file_open(&vanilla, o->vanilla, &err), &err);
    cuzk_bytes file = {vanilla.data, (size_t)vanilla.size};
    check(cuzk_filecoin_request_add_vanilla(request, file.data, file.n_bytes, &err), &err);
    cuzk_client_job job;
    cuzk_registered_proof proof;
    check(cuzk_client_job_init(&job, request, &file, 1, &err), &err);
    check(cuzk_request_proof(&proof, request, &err), &err);
    *out = (payload){.kind = (unsigned)o->number, .n_partitions = job.n_partitions};
    out->size = proof.sector->name;
    cuzk_circuit_id(out->circuit, proof.kind, proof.sector);
    check(cuzk_filecoin_param_path(&vk_path, o->out, proof.kind, proof.sector, CUZK_PARAM_FILE_VK,
                                   true, &err),
          &err);
    snprintf(out->vk_path, sizeof out->vk_path, "%s", vk_path);
    out->n_bytes = cuzk__v1__submit_proof_request__get_packed_size(&job.message);
    out->bytes = malloc(out->n_bytes);
    if (out->bytes == NULL) {
        check(CUZK_FAIL(&err, CUZK_E_MEMORY, "%zu bytes: out of memory", out->n_bytes), &err);
    }
    cuzk__v1__submit_proof_request__pack(&job.message, out->bytes);
    printf("# request: %zu bytes, of them %zu of vanilla proof; %u partitions\n", out->n_bytes,
           file.n_bytes, job.n_partitions);
    cuzk_client_job_clear(&job);
    cuzk_filecoin_request_destroy(request);
    cuzk_map_file_close(&vanilla);
    free(vk_path);
    free(json);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what is below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned n_open;
static bool has_failed;
static uint8_t last_proof[CUZK_UNITS_MAX * CUZK_PROOF_BYTES];
static size_t last_proof_bytes;

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

static void submit(cuzk_engine *engine, full_job *job, const payload *p)
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

static void print_device_memory(cuzk_device_ledger *ledger)
{
    uint64_t bytes[CUZK_DEVICE_PURPOSES], all = 0;
    cuzk_device_ledger_look(ledger, 0, bytes);
    printf("# device memory, MiB:");
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
    full_keys keys;
    cuzk_filecoin_work *work;
    cuzk_journal *journal;
    cuzk_record *record;
    cuzk_engine *engine;
} bench;

static void observe(void *user, const cuzk_event *event)
{
    cuzk_record_observe(((const bench *)user)->record, event);
    if (event->id == CUZK_EVENT_RETRY || event->id == CUZK_EVENT_DEVICE_OUT) {
        fprintf(stderr, "unit %d: %s\n", event->unit, event->text);
        pthread_mutex_lock(&mutex);
        has_failed = true;
        pthread_mutex_unlock(&mutex);
    }
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

static void open_work(bench *b, const options *o, const payload *p)
{
    cuzk_error err = {0};
    cuzk_ctx_options ctx = CUZK_CTX_OPTIONS_INIT;
    ctx.log = print_line;
    check(cuzk_ctx_create(&b->ctx, &ctx, &err), &err);
    check(cuzk_work_devices_init(&b->devices, &o->device, 1, &err), &err);
    check(cuzk_device_ledger_create(&b->ledger, host_bytes() / 2, &err), &err);
    b->devices.ledger = b->ledger;
    b->keys = (full_keys){.ctx = b->ctx, .vk_path = p->vk_path};
    cuzk_filecoin_work_options work = {.ctx = b->ctx,
                                       .devices = &b->devices,
                                       .allow_test_key = true,
                                       .key_maker = full_key_maker(&b->keys)};
    check(cuzk_filecoin_work_create(&b->work, &work, &err), &err);
    const cuzk_work_device *d = &b->devices.devices[0];
    printf("# %s %s, %llu MiB free; %u threads, %s\n", d->id, d->name,
           (unsigned long long)(d->memory_bytes >> 20), cuzk_ctx_n_threads(b->ctx),
           cuzk_ctx_cpu(b->ctx));
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
    const cuzk_work_device *d = &b->devices.devices[0];
    cuzk_engine_device device = {d->id, d->name, d->memory_bytes, WORKERS};
    unsigned n_cpus = cuzk_cpu_count();
    cuzk_engine_options o = {.devices = &device,
                             .n_devices = 1,
                             .budget_bytes = host_bytes() / 4 * 3,
                             .n_decoders = DECODERS,
                             .n_witness = n_cpus < WITNESSES_MAX ? n_cpus : WITNESSES_MAX,
                             .n_finishers = FINISHERS,
                             .n_verifiers = VERIFIERS,
                             .witness_ahead = WORKERS,
                             .attempts = ATTEMPTS,
                             .device_faults = DEVICE_FAULTS,
                             .journal = b->journal,
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
                                  .devices = &device,
                                  .n_devices = 1,
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
static unsigned run_jobs(const bench *b, const options *o, const payload *p, full_job *jobs)
{
    unsigned n = 0;
    for (unsigned i = 0; i <= o->n_runs && !has_failed; i++, n++) {
        name_job(&jobs[n], i == 0 ? "cold" : "warm", i);
        submit(b->engine, &jobs[n], p);
        wait_all();
    }
    for (unsigned i = 0; i < o->n_queue && !has_failed; i++, n++) {
        name_job(&jobs[n], "queue", i);
        submit(b->engine, &jobs[n], p);
    }
    wait_all();
    return n;
}

static void load_key(const bench *b, const payload *p)
{
    cuzk_error err = {0};
    bool was_loaded = false;
    uint64_t load_ns = 0;
    check(cuzk_engine_preload(b->engine, &was_loaded, &load_ns, p->circuit, true, &err), &err);
    printf("# key of %s made on the device, all of it loaded: %.2f s\n", p->circuit,
           (double)load_ns / 1e9);
    full_keys_print(&b->keys);
    print_memory("key made");
    print_device_memory(b->ledger);
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
    payload p;
    bench b = {0};
    char recording[600], name[64];
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: bench_gpu_full porep|snap|window|winning VANILLA REQUEST OUT_DIR "
                        "[--device ID] [--runs N] [--queue N] [--no-journal]\n");
        return 2;
    }
    make_payload(&p, &o);
    snprintf(recording, sizeof recording, "%s/%s.cuzkrec", o.out, o.kind);
    snprintf(name, sizeof name, "%s,%s", o.kind, p.size);
    open_work(&b, &o, &p);
    open_journal(&b, &o);
    open_engine(&b, recording);
    load_key(&b, &p);
    unsigned n_jobs = run_jobs(&b, &o, &p, jobs);
    print_memory("jobs");
    close_all(&b);
    if (!has_failed) {
        write_proof(&o);
        full_report(name, recording, jobs, n_jobs);
    }
    free(p.bytes);
    return has_failed ? 1 : 0;
}
