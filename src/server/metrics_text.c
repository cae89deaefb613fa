/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The exposition text. The reference daemon's names come first; two of them count without ending in
 * _total and are left without a type, beside ours that do. */
#include "server/metrics_impl.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t get(const atomic_uint_fast64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void family(cuzk_text *out, const char *name, const char *type, const char *help)
{
    cuzk_text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(cuzk_text *out, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    family(out, name, type, help);
    cuzk_text_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void single_seconds(cuzk_text *out, const char *name, const char *type, const char *help,
                           double value)
{
    family(out, name, type, help);
    cuzk_text_printf(out, "%s %.9g\n", name, value);
}

/* A label's value: backslash, quote and line break are escaped. */
static void put_label(cuzk_text *out, const char *value)
{
    for (; *value != 0; value++) {
        if (*value == '\\' || *value == '"') {
            cuzk_text_put(out, "\\");
        }
        cuzk_text_put_bytes(out, *value == '\n' ? "\\n" : value, *value == '\n' ? 2 : 1);
    }
}

static void labelled(cuzk_text *out, const char *name, const char *label, const char *value,
                     uint64_t n)
{
    cuzk_text_printf(out, "%s{%s=\"", name, label);
    put_label(out, value);
    cuzk_text_printf(out, "\"} %" PRIu64 "\n", n);
}

static void put_histogram(cuzk_text *out, const char *name, const char *labels,
                          const cuzk_histogram *h)
{
    uint64_t n = 0;
    for (unsigned i = 0; i <= CUZK_METRICS_BOUNDS; i++) {
        n += get(&h->buckets[i]);
        if (i < CUZK_METRICS_BOUNDS) {
            cuzk_text_printf(out, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels,
                             cuzk_metrics_bounds[i], n);
        } else {
            cuzk_text_printf(out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, n);
        }
    }
    cuzk_text_printf(out, "%s_sum{%s} %.9g\n%s_count{%s} %" PRIu64 "\n", name, labels,
                     (double)get(&h->sum_ns) * 1e-9, name, labels, n);
}

static uint64_t count_of(const cuzk_histogram *h)
{
    uint64_t n = 0;
    for (unsigned i = 0; i <= CUZK_METRICS_BOUNDS; i++) {
        n += get(&h->buckets[i]);
    }
    return n;
}

/* One line a kind; value_of: which number of the kind. */
typedef uint64_t (*kind_value)(const cuzk_metrics *m, const cuzk_engine_view *v, unsigned kind);

static void by_kind(cuzk_text *out, const cuzk_metrics *m, const cuzk_engine_view *v,
                    const char *name, const char *type, const char *help, kind_value value)
{
    family(out, name, type, help);
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        if (m->kinds[k].name != NULL) {
            labelled(out, name, "proof_kind", m->kinds[k].label, value(m, v, k));
        }
    }
}

#define KIND_VALUE(name, expression)                                                               \
    static uint64_t name(const cuzk_metrics *m, const cuzk_engine_view *v, unsigned k)             \
    {                                                                                              \
        (void)m, (void)v;                                                                          \
        return expression;                                                                         \
    }
KIND_VALUE(completed_of, v->kinds[k].completed)
KIND_VALUE(failed_of, v->kinds[k].failed)
KIND_VALUE(cancelled_of, v->kinds[k].cancelled)
KIND_VALUE(pending_of, v->kinds[k].pending)
KIND_VALUE(in_progress_of, v->kinds[k].in_progress)
KIND_VALUE(accepted_of, get(&m->accepted[k]))
KIND_VALUE(units_done_of, get(&m->units_done[k]))

/* Names of the reference daemon. */
static void put_reference(cuzk_text *out, const cuzk_metrics *m, const cuzk_engine_view *v)
{
    uint64_t completed = 0, failed = 0, pending = 0;
    unsigned busy = 0;
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        completed += v->kinds[k].completed;
        failed += v->kinds[k].failed;
        pending += v->kinds[k].pending;
    }
    for (unsigned i = 0; i < v->n_workers; i++) {
        busy += v->workers[i].is_busy;
    }
    single(out, "cuzk_proofs_completed_total", "counter", "Jobs that ended with a proof.",
           completed);
    single(out, "cuzk_proofs_failed_total", "counter", "Jobs that failed.", failed);
    single_seconds(out, "cuzk_uptime_seconds", "gauge", "Since the engine was started.",
                   (double)v->uptime_ns * 1e-9);
    single(out, "cuzk_queue_depth", "gauge", "Jobs of which no partition has begun.", pending);
    by_kind(out, m, v, "cuzk_proofs_completed", "untyped",
            "The reference's name of cuzk_jobs_completed_total.", completed_of);
    by_kind(out, m, v, "cuzk_proofs_failed", "untyped",
            "The reference's name of cuzk_jobs_failed_total.", failed_of);
    family(out, "cuzk_proof_duration_seconds", "summary",
           "From a job's arrival to its end, however it ended.");
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        if (m->kinds[k].name != NULL) {
            cuzk_text_printf(out,
                             "cuzk_proof_duration_seconds_sum{proof_kind=\"%s\"} %.9g\n"
                             "cuzk_proof_duration_seconds_count{proof_kind=\"%s\"} %" PRIu64 "\n",
                             m->kinds[k].label, (double)get(&m->jobs[k].sum_ns) * 1e-9,
                             m->kinds[k].label, count_of(&m->jobs[k]));
        }
    }
    single(out, "cuzk_running_jobs", "gauge", "Device workers that are busy.", busy);
    single(out, "cuzk_gpu_workers", "gauge", "Device workers.", v->n_workers);
}

static void put_jobs(cuzk_text *out, const cuzk_metrics *m, const cuzk_engine_view *v)
{
    by_kind(out, m, v, "cuzk_jobs_accepted_total", "counter", "Jobs that were accepted.",
            accepted_of);
    by_kind(out, m, v, "cuzk_jobs_completed_total", "counter", "Jobs that ended with a proof.",
            completed_of);
    by_kind(out, m, v, "cuzk_jobs_failed_total", "counter", "Jobs that failed.", failed_of);
    by_kind(out, m, v, "cuzk_jobs_cancelled_total", "counter",
            "Jobs that were cancelled, or dropped since nobody asked for them.", cancelled_of);
    by_kind(out, m, v, "cuzk_jobs_pending", "gauge", "Jobs of which no partition has begun.",
            pending_of);
    by_kind(out, m, v, "cuzk_jobs_in_progress", "gauge", "Jobs that have begun.", in_progress_of);
    by_kind(out, m, v, "cuzk_partitions_done_total", "counter", "Verified partitions.",
            units_done_of);
    single(out, "cuzk_partition_retries_total", "counter", "Partitions that were proved again.",
           v->retries);
    single(out, "cuzk_submissions", "gauge",
           "Requests that are decoded, or wait for memory to be decoded.", v->submissions);
    family(out, "cuzk_partitions", "gauge", "Partitions by what is done with them.");
    labelled(out, "cuzk_partitions", "state", "witness", v->in_witness);
    labelled(out, "cuzk_partitions", "state", "ready", v->ready);
    labelled(out, "cuzk_partitions", "state", "device", v->in_device);
    labelled(out, "cuzk_partitions", "state", "finish", v->in_finish);
    labelled(out, "cuzk_partitions", "state", "verify", v->in_verify);
}

static void put_histograms(cuzk_text *out, const cuzk_metrics *m)
{
    char labels[160];
    family(out, "cuzk_job_seconds", "histogram",
           "From a job's arrival to its end, however it ended.");
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        if (m->kinds[k].name != NULL) {
            snprintf(labels, sizeof labels, "proof_kind=\"%.60s\"", m->kinds[k].label);
            put_histogram(out, "cuzk_job_seconds", labels, &m->jobs[k]);
        }
    }
    family(out, "cuzk_stage_seconds", "histogram",
           "Wall time of a stage: decode of a request, resident (loading parameters), and of a "
           "partition its witness, prove_start with lane_wait and lane inside, prove_finish, "
           "verify.");
    for (unsigned s = 0; s < CUZK_METRICS_STAGES; s++) {
        for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
            /* series that may never begin are left out */
            if (m->kinds[k].name != NULL && count_of(&m->stages[s][k]) > 0) {
                snprintf(labels, sizeof labels, "stage=\"%s\",proof_kind=\"%.60s\"",
                         cuzk_metrics_stages[s], m->kinds[k].label);
                put_histogram(out, "cuzk_stage_seconds", labels, &m->stages[s][k]);
            }
        }
    }
    family(out, "cuzk_stage_failures_total", "counter", "Stages that ended with an error.");
    for (unsigned s = 0; s < CUZK_METRICS_STAGES; s++) {
        uint64_t n = 0;
        for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
            n += get(&m->stage_failures[s][k]);
        }
        labelled(out, "cuzk_stage_failures_total", "stage", cuzk_metrics_stages[s], n);
    }
}

static void put_memory(cuzk_text *out, const cuzk_metrics *m, const cuzk_engine_view *v)
{
    single(out, "cuzk_memory_budget_bytes", "gauge", "Host memory that may be used.",
           v->budget_bytes);
    single(out, "cuzk_memory_reserved_bytes", "gauge", "Of it, reserved now.", v->reserved_bytes);
    single(out, "cuzk_memory_reserved_peak_bytes", "gauge", "The most that was reserved.",
           v->peak_bytes);
    single(out, "cuzk_memory_intake_bytes", "gauge", "What requests may take of it.",
           v->intake_bytes);
    single(out, "cuzk_memory_intake_reserved_bytes", "gauge", "Of it, reserved now.",
           v->intake_reserved_bytes);
    family(out, "cuzk_resident_bytes", "gauge", "Loaded parameters and circuits.");
    for (unsigned i = 0; i < v->n_residents; i++) {
        labelled(out, "cuzk_resident_bytes", "circuit", v->residents[i].circuit,
                 v->residents[i].bytes);
    }
    family(out, "cuzk_resident_users", "gauge", "Partitions that use them.");
    for (unsigned i = 0; i < v->n_residents; i++) {
        labelled(out, "cuzk_resident_users", "circuit", v->residents[i].circuit,
                 v->residents[i].n_users);
    }
    single(out, "cuzk_evictions_total", "counter", "Parameters that were evicted.",
           get(&m->evictions));
}

static void put_devices(cuzk_text *out, const cuzk_metrics *m, const cuzk_engine_view *v)
{
    static const struct {
        const char *name, *type, *help;
    } families[] = {
        {"cuzk_device_memory_bytes", "gauge", "The device's own memory; 0: it uses the host's."},
        {"cuzk_device_reserved_bytes", "gauge", "Of it, reserved now."},
        {"cuzk_device_out", "gauge", "1: not used: drained, lost, or out after faults."},
        {"cuzk_device_faults_total", "counter", "Bad proofs and failures."},
        {"cuzk_device_renewals_total", "counter", "Times that it was lost and begun anew."},
        {"cuzk_device_workers_busy", "gauge", "Workers of the device that are busy."},
    };
    for (unsigned f = 0; f < sizeof families / sizeof families[0]; f++) {
        family(out, families[f].name, families[f].type, families[f].help);
        for (unsigned d = 0; d < v->n_devices; d++) {
            uint64_t busy = 0;
            for (unsigned w = 0; w < v->n_workers; w++) {
                busy += v->workers[w].device == d && v->workers[w].is_busy;
            }
            const uint64_t values[] = {v->devices[d].memory_bytes, v->devices[d].reserved_bytes,
                                       v->devices[d].is_out,       v->devices[d].n_faults,
                                       v->devices[d].n_renewals,   busy};
            labelled(out, families[f].name, "device", v->devices[d].id, values[f]);
        }
    }
    family(out, "cuzk_device_state", "gauge", "1: the device is in this state.");
    for (unsigned d = 0; d < v->n_devices; d++) {
        for (unsigned s = 0; s < CUZK_DEVICE_STATES; s++) {
            cuzk_text_put(out, "cuzk_device_state{device=\"");
            put_label(out, v->devices[d].id);
            cuzk_text_printf(out, "\",state=\"%s\"} %d\n",
                             cuzk_device_state_name((cuzk_device_state)s),
                             v->devices[d].state == s);
        }
    }
    static const char *const times[][2] = {
        {"cuzk_device_lane_seconds_total", "Time in which the right to run kernels was held."},
        {"cuzk_device_busy_seconds_total", "Time of its workers inside prove_start, or with a part "
                                           "of another device's unit, summed up."}};
    for (unsigned t = 0; t < 2; t++) {
        family(out, times[t][0], "counter", times[t][1]);
        for (unsigned d = 0; d < v->n_devices; d++) {
            cuzk_text_printf(out, "%s{device=\"", times[t][0]);
            put_label(out, v->devices[d].id);
            cuzk_text_printf(out, "\"} %.9g\n",
                             (double)get(t == 0 ? &m->lane_ns[d] : &m->busy_ns[d]) * 1e-9);
        }
    }
}

static void put_service(cuzk_text *out, const cuzk_metrics *m, const cuzk_engine_view *v,
                        const cuzk_metrics_more *more)
{
    single(out, "cuzk_ready", "gauge", "1: preloads are done and nothing is being shut down.",
           more->is_ready);
    single(out, "cuzk_draining", "gauge", "1: no new work is taken.", more->is_draining);
    single(out, "cuzk_journal_enabled", "gauge", "1: jobs outlive the process.", v->has_journal);
    single(out, "cuzk_journal_failed", "gauge",
           "1: the journal cannot be written; new work is refused.", v->journal_failed);
    single(out, "cuzk_journal_damaged", "gauge", "1: it was damaged when the daemon started.",
           v->journal_was_damaged);
    single(out, "cuzk_journal_salvaged_jobs", "gauge", "Jobs that the damaged journal still gave.",
           v->journal_salvaged);
    single(out, "cuzk_journal_bytes", "gauge", "Size of its files.", more->journal_bytes);
    single(out, "cuzk_journal_errors_total", "counter", "Troubles with the journal.",
           get(&m->journal_errors));
    if (more->has_otel) {
        single(out, "cuzk_otel_spans_sent_total", "counter",
               "OpenTelemetry spans that were exported.", more->otel_sent_total);
        single(out, "cuzk_otel_spans_dropped_total", "counter",
               "Those that were not: the queue was full, or they could not be sent.",
               more->otel_dropped_total);
    }
    if (!more->has_rpc) {
        return;
    }
    single(out, "cuzk_rpc_calls", "gauge", "gRPC calls that are open.", more->rpc_calls);
    single(out, "cuzk_rpc_connections", "gauge", "Connections that are open.",
           more->rpc_connections);
    single(out, "cuzk_rpc_receiving", "gauge", "Messages that are being received.",
           more->rpc_receiving);
    single(out, "cuzk_rpc_waiting", "gauge", "Calls whose message waits for memory.",
           more->rpc_waiting);
    single(out, "cuzk_rpc_calls_total", "counter", "gRPC calls.", more->rpc_calls_total);
    single(out, "cuzk_rpc_failed_total", "counter", "Calls that ended with a status but OK.",
           more->rpc_failed_total);
    single(out, "cuzk_rpc_abandoned_total", "counter", "Calls whose client went away.",
           more->rpc_abandoned_total);
    single(out, "cuzk_rpc_received_bytes_total", "counter", "Bytes of messages.",
           more->rpc_received_bytes);
    single(out, "cuzk_rpc_connections_total", "counter", "Connections.",
           more->rpc_connections_total);
    single(out, "cuzk_rpc_refused_total", "counter", "Connections beyond the limit.",
           more->rpc_refused_total);
}

/* Entries of /proc/self/fd, less the one that reading it takes. */
static uint64_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t n = 0;
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return n > 0 ? n - 1 : 0;
}

/* The names that every exporter uses for its process. */
static void put_process(cuzk_text *out, const char *version)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    single_seconds(out, "process_cpu_seconds_total", "counter", "CPU time of the process.",
                   (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6);
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;
    if (f != NULL) {
        if (fscanf(f, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        fclose(f);
    }
    single(out, "process_resident_memory_bytes", "gauge", "Resident memory of the process.",
           pages * (uint64_t)sysconf(_SC_PAGESIZE));
    single(out, "process_open_fds", "gauge", "Open files of the process.", open_files());
    family(out, "cuzk_build_info", "gauge", "1, with the version as a label.");
    labelled(out, "cuzk_build_info", "version", version, 1);
}

static void put_device_memory(cuzk_text *out, const cuzk_engine_view *v, const cuzk_memory_view *m)
{
    family(out, "cuzk_device_arena_bytes", "gauge",
           "Of a card's memory, by purpose: key, circuit, tables of transforms, staging (pieces of "
           "a streamed key), witness, workspace.");
    for (unsigned d = 0; d < v->n_devices; d++) {
        for (int i = 0; i < CUZK_MEMORY_PURPOSES; i++) {
            cuzk_text_put(out, "cuzk_device_arena_bytes{device=\"");
            put_label(out, v->devices[d].id);
            cuzk_text_printf(out, "\",purpose=\"%s\"} %" PRIu64 "\n", m->purposes[i],
                             m->bytes[d][i]);
        }
    }
    single(out, "cuzk_pinned_limit_bytes", "gauge", "Host memory that may be pinned.",
           m->pinned_limit_bytes);
    single(out, "cuzk_pinned_bytes", "gauge", "Host memory that is pinned.", m->pinned_used_bytes);
    single(out, "cuzk_pinned_peak_bytes", "gauge", "The most of that so far.",
           m->pinned_peak_bytes);
}

void cuzk_metrics_text(cuzk_text *out, const cuzk_metrics *metrics, const cuzk_engine_view *view,
                       const cuzk_metrics_more *more)
{
    put_reference(out, metrics, view);
    put_jobs(out, metrics, view);
    put_histograms(out, metrics);
    put_memory(out, metrics, view);
    put_devices(out, metrics, view);
    if (more->memory != NULL) {
        put_device_memory(out, view, more->memory);
    }
    put_service(out, metrics, view, more);
    put_process(out, more->version);
}
