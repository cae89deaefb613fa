/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/status_json.h"

#include "server/quote.h"
#include "server/status_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static void put_ms_or_null(cuzk_text *out, const char *key, uint64_t ns)
{
    if (ns == 0) {
        cuzk_text_printf(out, ",\"%s\":null", key);
    } else {
        cuzk_text_printf(out, ",\"%s\":%" PRIu64, key, ns / 1000000);
    }
}

static void put_text(cuzk_text *out, const char *key, const char *value)
{
    cuzk_text_printf(out, "\"%s\":", key);
    cuzk_text_put_quoted(out, value);
}

/* A journal may hold jobs of a kind that this daemon does not have. */
static const char *kind_name(const cuzk_engine_kind *kinds, unsigned kind)
{
    return kind < CUZK_KINDS_MAX && kinds[kind].name != NULL ? kinds[kind].name : "unknown";
}

static void put_partitions(cuzk_text *out, const cuzk_job_view *job)
{
    static const char *const names[] = {"pending", "synthesizing", "synth_done",
                                        "gpu",     "done",         "failed"};
    cuzk_text_put(out, ",\"partitions\":[");
    for (unsigned i = 0; job->units != NULL && i < job->n_units; i++) {
        const cuzk_unit_view *u = &job->units[i];
        cuzk_text_printf(out, "%s{\"index\":%u,\"state\":\"%s\"", i > 0 ? "," : "", i,
                         names[u->state]);
        put_ms_or_null(out, "synth_ms", u->witness_ns);
        put_ms_or_null(out, "gpu_ms", u->prove_ns);
        cuzk_text_put(out, "}");
    }
    cuzk_text_put(out, "]");
}

/* What the job waits for: nothing where it is being worked on. */
static void put_wait(cuzk_text *out, const cuzk_engine_view *v, const cuzk_wait_view *wait)
{
    if (wait->reason == CUZK_WAIT_NOTHING) {
        cuzk_text_put(out, ",\"waits_for\":null");
        return;
    }
    cuzk_text words = {0};
    cuzk_wait_text(&words, wait, v);
    out->failed = out->failed || words.failed;
    cuzk_text_printf(out, ",\"waits_for\":{\"reason\":\"%s\",", cuzk_wait_label(wait->reason));
    if (wait->needed_bytes > 0) {
        cuzk_text_printf(out, "\"needed_bytes\":%" PRIu64 ",\"free_bytes\":%" PRIu64 ",",
                         wait->needed_bytes, wait->free_bytes);
    }
    put_text(out, "text", words.data != NULL ? words.data : "");
    cuzk_text_put(out, "}");
    cuzk_text_clear(&words);
}

/* Jobs that have begun, and those that ended a short while ago: what a person watches. */
static void put_pipelines(cuzk_text *out, const cuzk_engine_view *v, const cuzk_engine_kind *kinds)
{
    static const char *const states[] = {"queued", "running", "completed", "failed", "cancelled"};
    unsigned n = 0, n_left_out = 0;
    cuzk_text_put(out, ",\"pipelines\":[");
    for (unsigned i = 0; i < v->n_jobs; i++) {
        const cuzk_job_view *job = &v->jobs[i];
        if (job->state == CUZK_JOB_QUEUED || (unsigned)job->state >= 5) {
            continue;
        }
        if (n == CUZK_STATUS_JOBS_MAX) {
            n_left_out++;
            continue;
        }
        cuzk_text_put(out, n++ > 0 ? ",{" : "{");
        put_text(out, "job_id", job->job_id);
        char started[32] = "null"; /* it ended, and none of its units ever began */
        if (job->started_ns_ago > 0) {
            snprintf(started, sizeof started, "%.3f", seconds(job->started_ns_ago));
        }
        cuzk_text_printf(out,
                         ",\"proof_kind\":\"%s\",\"started_secs_ago\":%s,\"age_secs\":%.3f,"
                         "\"total_partitions\":%u,"
                         "\"partitions_done\":%u,\"state\":\"%s\",\"priority\":%u,\"waiters\":%u",
                         kind_name(kinds, job->kind), started, seconds(job->age_ns), job->n_units,
                         job->n_done, states[job->state], job->priority, job->n_waiters);
        put_wait(out, v, &job->wait);
        if (job->error != NULL) {
            cuzk_text_put(out, ",");
            put_text(out, "error", job->error);
        }
        put_partitions(out, job);
        cuzk_text_put(out, "}");
    }
    cuzk_text_printf(out, "],\"pipelines_left_out\":%u", n_left_out);
}

static void put_queued(cuzk_text *out, const cuzk_engine_view *v, const cuzk_engine_kind *kinds)
{
    unsigned n = 0;
    const cuzk_job_view **queued = cuzk_status_queued(v, &n);
    out->failed = out->failed || queued == NULL;
    unsigned n_listed = n < CUZK_STATUS_JOBS_MAX ? n : CUZK_STATUS_JOBS_MAX;
    cuzk_text_put(out, ",\"queued\":[");
    for (unsigned i = 0; i < n_listed; i++) {
        const cuzk_job_view *job = queued[i];
        cuzk_text_put(out, i > 0 ? ",{" : "{");
        put_text(out, "job_id", job->job_id);
        cuzk_text_printf(out,
                         ",\"proof_kind\":\"%s\",\"priority\":%u,\"age_secs\":%.3f,"
                         "\"total_partitions\":%u,\"waiters\":%u",
                         kind_name(kinds, job->kind), job->priority, seconds(job->age_ns),
                         job->n_units, job->n_waiters);
        put_wait(out, v, &job->wait);
        cuzk_text_put(out, "}");
    }
    cuzk_text_printf(out, "],\"queued_left_out\":%u", n - n_listed);
    free(queued);
}

/* The number in "cuda:2", for tools that know GPUs by it; 0 for the CPU. */
static unsigned ordinal(const cuzk_engine_view *v, unsigned device)
{
    const char *colon = device < v->n_devices ? strchr(v->devices[device].id, ':') : NULL;
    return colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

static void put_workers(cuzk_text *out, const cuzk_engine_view *v, const cuzk_engine_kind *kinds,
                        unsigned workers_per_device)
{
    cuzk_text_put(out, ",\"gpu_workers\":[");
    for (unsigned i = 0; i < v->n_workers; i++) {
        const cuzk_worker_view *w = &v->workers[i];
        cuzk_text_printf(out, "%s{\"worker_id\":%u,\"gpu_ordinal\":%u,", i > 0 ? "," : "", i,
                         ordinal(v, w->device));
        put_text(out, "device", w->device < v->n_devices ? v->devices[w->device].id : "");
        cuzk_text_printf(out, ",\"reserve\":%s",
                         w->worker >= workers_per_device ? "true" : "false");
        if (!w->is_busy || w->job_id == NULL) {
            cuzk_text_put(out,
                          ",\"state\":\"idle\",\"current_job\":null,\"current_partition\":null,"
                          "\"busy_secs\":null}");
            continue;
        }
        cuzk_text_put(out, ",\"state\":\"proving\",");
        put_text(out, "current_job", w->job_id);
        cuzk_text_printf(out, ",\"current_partition\":%d,\"busy_secs\":%.3f,", w->unit,
                         seconds(w->busy_ns));
        put_text(out, "current_proof_kind", kind_name(kinds, w->kind));
        cuzk_text_put(out, "}");
    }
    cuzk_text_put(out, "]");
}

static void put_allocations(cuzk_text *out, const cuzk_engine_view *v)
{
    static const char *const states[] = {"loading", "ready", "streaming", "evicting"};
    cuzk_text_put(out, ",\"allocations\":{\"srs\":[");
    for (unsigned i = 0; i < v->n_residents; i++) {
        const cuzk_resident_view *r = &v->residents[i];
        bool is_evictable = r->n_users == 0 && !r->is_kept && r->state == CUZK_RESIDENT_READY;
        cuzk_text_put(out, i > 0 ? ",{" : "{");
        put_text(out, "circuit_id", r->circuit);
        cuzk_text_printf(out,
                         ",\"bytes\":%" PRIu64 ",\"last_used_secs_ago\":%.3f,\"evictable\":%s,"
                         "\"state\":\"%s\",\"users\":%u}",
                         r->bytes, r->n_users > 0 ? 0.0 : seconds(r->idle_ns),
                         is_evictable ? "true" : "false", states[r->state], r->n_users);
    }
    cuzk_text_put(out, "],\"pce\":[]}"); /* compiled circuits are part of their parameters here */
}

static void put_counters(cuzk_text *out, const cuzk_engine_view *v, const cuzk_engine_kind *kinds)
{
    uint64_t completed = 0, failed = 0, cancelled = 0;
    unsigned pending = 0;
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        completed += v->kinds[k].completed;
        failed += v->kinds[k].failed;
        cancelled += v->kinds[k].cancelled;
        pending += v->kinds[k].pending;
    }
    cuzk_text_printf(out,
                     ",\"counters\":{\"total_completed\":%" PRIu64 ",\"total_failed\":%" PRIu64
                     ",\"total_cancelled\":%" PRIu64,
                     completed, failed, cancelled);
    for (unsigned f = 0; f < 2; f++) {
        cuzk_text_printf(out, ",\"%s\":{", f == 0 ? "completed_by_kind" : "failed_by_kind");
        const char *comma = "";
        for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
            if (kinds[k].name != NULL) {
                cuzk_text_printf(out, "%s\"%s\":%" PRIu64, comma, kinds[k].name,
                                 f == 0 ? v->kinds[k].completed : v->kinds[k].failed);
                comma = ",";
            }
        }
        cuzk_text_put(out, "}");
    }
    cuzk_text_printf(out, ",\"queue_depth\":%u,\"submissions\":%u,\"retries\":%" PRIu64 "}",
                     pending, v->submissions, v->retries);
    cuzk_text_put(out, ",\"queues\":[");
    const char *comma = "";
    for (unsigned k = 0; k < CUZK_KINDS_MAX; k++) {
        if (kinds[k].name != NULL) {
            cuzk_text_printf(out, "%s{\"proof_kind\":\"%s\",\"pending\":%u,\"in_progress\":%u}",
                             comma, kinds[k].name, v->kinds[k].pending, v->kinds[k].in_progress);
            comma = ",";
        }
    }
    cuzk_text_put(out, "]");
}

/* By purpose. */
static void put_device_memory(cuzk_text *out, const cuzk_memory_view *m, unsigned device)
{
    cuzk_text_put(out, ",\"memory\":{");
    for (int i = 0; i < CUZK_MEMORY_PURPOSES; i++) {
        cuzk_text_printf(out, "%s\"%s\":%" PRIu64, i > 0 ? "," : "", m->purposes[i],
                         m->bytes[device][i]);
    }
    cuzk_text_put(out, "}");
}

/* The keys that are on it, and how they came there. */
static void put_arrivals(cuzk_text *out, const cuzk_memory_view *m, unsigned device)
{
    cuzk_text_put(out, ",\"residents\":[");
    for (unsigned i = 0; i < m->n_arrivals[device]; i++) {
        const cuzk_device_arrival *a = &m->arrivals[device][i];
        cuzk_text_put(out, i > 0 ? ",{" : "{");
        put_text(out, "circuit_id", a->circuit);
        cuzk_text_put(out, ",");
        put_text(out, "from", a->from);
        cuzk_text_printf(out,
                         ",\"bytes\":%" PRIu64 ",\"read_bytes\":%" PRIu64
                         ",\"seconds\":%.6f,\"gb_per_second\":%.3f}",
                         a->n_bytes, a->n_read_bytes, seconds(a->ns),
                         (double)a->n_bytes / (double)(a->ns + 1));
    }
    cuzk_text_put(out, "]");
}

static void put_pinned(cuzk_text *out, const cuzk_memory_view *m)
{
    cuzk_text_printf(out,
                     ",\"pinned\":{\"limit_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
                     ",\"peak_bytes\":%" PRIu64 "}",
                     m->pinned_limit_bytes, m->pinned_used_bytes, m->pinned_peak_bytes);
}

static void put_devices(cuzk_text *out, const cuzk_engine_view *v, const cuzk_status_more *more)
{
    const cuzk_memory_view *memory = more->memory;
    cuzk_text_put(out, ",\"devices\":[");
    for (unsigned i = 0; i < v->n_devices; i++) {
        const cuzk_device_view *d = &v->devices[i];
        cuzk_text_put(out, i > 0 ? ",{" : "{");
        put_text(out, "id", d->id);
        cuzk_text_put(out, ",");
        put_text(out, "name", d->name);
        cuzk_text_printf(out,
                         ",\"memory_bytes\":%" PRIu64 ",\"reserved_bytes\":%" PRIu64
                         ",\"out\":%s,\"state\":\"%s\",\"state_secs\":%.3f,\"retry_secs\":%.3f,"
                         "\"faults\":%u,\"renewals\":%u,",
                         d->memory_bytes, d->reserved_bytes, d->is_out ? "true" : "false",
                         cuzk_device_state_name(d->state), seconds(d->state_ns),
                         seconds(d->retry_ns), d->n_faults, d->n_renewals);
        put_text(out, "reason", d->reason);
        if (more->numa != NULL && more->numa_nodes[i] >= 0) {
            cuzk_text_printf(out, ",\"numa_node\":%d", more->numa_nodes[i]);
        }
        if (memory != NULL) {
            put_device_memory(out, memory, i);
            put_arrivals(out, memory, i);
        }
        cuzk_text_put(out, "}");
    }
    cuzk_text_put(out, "]");
    if (memory != NULL) {
        put_pinned(out, memory);
    }
}

void cuzk_status_json(cuzk_text *out, const cuzk_engine_view *v, const cuzk_engine_kind *kinds,
                      const cuzk_status_more *more)
{
    uint64_t free_bytes =
        v->budget_bytes > v->reserved_bytes ? v->budget_bytes - v->reserved_bytes : 0;
    cuzk_text_put(out, "{");
    put_text(out, "version", more->version);
    cuzk_text_printf(out,
                     ",\"uptime_secs\":%.3f,\"ready\":%s,\"draining\":%s,\"admin\":%s,"
                     "\"charts\":%s,\"memory\":{\"total_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
                     ",\"available_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64
                     ",\"intake_bytes\":%" PRIu64 ",\"intake_used_bytes\":%" PRIu64
                     "},\"synthesis\":{\"max_concurrent\":%u,\"active\":%u}",
                     seconds(v->uptime_ns), more->is_ready ? "true" : "false",
                     more->is_draining ? "true" : "false", more->has_admin ? "true" : "false",
                     more->has_charts ? "true" : "false", v->budget_bytes, v->reserved_bytes,
                     free_bytes, v->peak_bytes, v->intake_bytes, v->intake_reserved_bytes,
                     more->max_witnesses, v->in_witness);
    put_pipelines(out, v, kinds);
    put_queued(out, v, kinds);
    cuzk_text_printf(out, ",\"intake\":{\"waiting\":%u", v->n_intake);
    put_wait(out, v, &v->intake_wait);
    cuzk_text_put(out, "}");
    put_workers(out, v, kinds, more->workers_per_device);
    put_allocations(out, v);
    put_counters(out, v, kinds);
    /* vectors a, b, c live on the device's side only: none are held for a witness that waits */
    cuzk_text_printf(out,
                     ",\"buffers\":{\"synth_in_flight\":%u,\"provers_in_flight\":%u,"
                     "\"aux_in_flight\":%u,\"shells_in_flight\":%u,\"pending_handles\":%u}",
                     v->in_witness, v->in_device, v->ready + v->in_device + v->in_finish,
                     v->in_finish, v->in_finish);
    put_devices(out, v, more);
    if (more->numa != NULL) {
        cuzk_text_put(out, ",");
        put_text(out, "numa", more->numa);
    }
    cuzk_text_printf(out,
                     ",\"journal\":{\"enabled\":%s,\"failed\":%s,\"was_damaged\":%s,"
                     "\"salvaged_jobs\":%" PRIu64 "}}\n",
                     v->has_journal ? "true" : "false", v->journal_failed ? "true" : "false",
                     v->journal_was_damaged ? "true" : "false", v->journal_salvaged);
}
