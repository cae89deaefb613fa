/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Making and ending the daemon's parts. */
#include "server/daemon.h"

#include "base/clock.h"
#include "base/pool.h"
#include "base/url_text.h"
#include "engine/faults.h"
#include "server/address.h"
#include "server/config_try.h"
#include "server/program.h"
#include "work/device_ledger.h"
#include "work/stage_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMA_AUTO };        /* gpus.numa: the first of its words */
enum { RECENT_LOOKS = 2 }; /* a look at the recording in memory takes so many times its bytes */

/* Of what the library says to whoever uses it. */
static void on_library_line(void *user, cuzk_log_level level, const char *text)
{
    cuzk_daemon *d = user;
    CUZK_LOG(d->log, level, "note", CUZK_LOG_S("text", text));
}

/* What may be pinned: what is configured, or half of what the process may have. */
static cuzk_status open_ledger(cuzk_daemon *d, cuzk_error *err)
{
    uint64_t limit = d->config->memory_pinned_budget;
    if (limit == 0) {
        char limited_by[256];
        CUZK_TRY(cuzk_config_try_memory(&limit, limited_by, d->config, err));
        limit /= 2;
    }
    CUZK_TRY(cuzk_device_ledger_create(&d->server.ledger, limit, err));
    d->devices.ledger = d->server.ledger;
    return CUZK_OK;
}

/* Nobody finds out by the time that proofs take. */
static void tell_left_out(const cuzk_daemon *d)
{
    if (d->devices.left_out[0] != '\0') {
        bool is_cpu = strcmp(d->devices.devices[0].id, "cpu") == 0;
        CUZK_LOG(d->log, CUZK_LOG_WARN,
                 is_cpu ? "no card can be used: the CPU proves (gpus.devices = [\"cpu\"], if that "
                          "is meant)"
                        : "not all cards can be used",
                 CUZK_LOG_S("reason", d->devices.left_out));
    }
}

static cuzk_status open_devices(cuzk_daemon *d, cuzk_error *err)
{
    const cuzk_config_list *list = &d->config->gpus_devices;
    char names[CUZK_WORK_DEVICES_MAX][32];
    const char *ids[CUZK_WORK_DEVICES_MAX];
    CUZK_FAIL_IF(list->n > CUZK_WORK_DEVICES_MAX, err, CUZK_E_ARGUMENT,
                 "gpus.devices: %zu of them, at most %d", list->n, CUZK_WORK_DEVICES_MAX);
    for (size_t i = 0; i < list->n; i++) {
        bool is_number = strspn(list->items[i], "0123456789") == strlen(list->items[i]);
        snprintf(names[i], sizeof names[i], "%s%.20s", is_number ? "cuda:" : "", list->items[i]);
        ids[i] = names[i];
    }
    cuzk_status status = cuzk_work_devices_init(&d->devices, ids, (unsigned)list->n, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "gpus.devices");
        return status;
    }
    d->devices.split_ns = d->config->gpus_split_from;
    tell_left_out(d);
    if (cuzk_the_program.add_devices != NULL) {
        cuzk_the_program.add_devices(&d->devices);
    }
    bool has_cards = false;
    for (unsigned i = 0; i < d->devices.n; i++) {
        has_cards = has_cards || d->devices.devices[i].memory_bytes > 0;
    }
    return has_cards ? open_ledger(d, err) : CUZK_OK;
}

static const char *or_null(const char *text)
{
    return text[0] != 0 ? text : NULL;
}

/* A folder that is not there: no circom circuits, which is how most daemons run. */
static cuzk_status open_circom(cuzk_daemon *d, cuzk_error *err)
{
    const char *folder = d->config->circom_folder;
    struct stat s;
    if (folder[0] == 0 || (stat(folder, &s) != 0 && errno == ENOENT)) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "no circom circuits: their folder is not there",
                 CUZK_LOG_S("folder", folder));
        return CUZK_OK;
    }
    cuzk_circom_work_options o = {d->ctx, &d->devices, folder, d->config->srs_allow_test_keys};
    return cuzk_circom_work_create(&d->circom, &o, err);
}

static cuzk_status open_work(cuzk_daemon *d, cuzk_error *err)
{
    cuzk_ctx_options ctx = CUZK_CTX_OPTIONS_INIT;
    ctx.n_threads = (unsigned)d->config->gpus_gpu_threads;
    ctx.log = on_library_line;
    ctx.log_user = d;
    CUZK_TRY(cuzk_ctx_create(&d->ctx, &ctx, err));
    CUZK_TRY(open_devices(d, err));
    cuzk_filecoin_work_options o = {.ctx = d->ctx,
                                    .devices = &d->devices,
                                    .params_folder = or_null(d->config->srs_param_cache),
                                    .circuits_folder = or_null(d->config->srs_circuit_cache),
                                    .allow_test_key = d->config->srs_allow_test_keys};
    CUZK_TRY(cuzk_filecoin_work_create(&d->filecoin, &o, err));
    CUZK_TRY(open_circom(d, err));
    const cuzk_work *filecoin = cuzk_filecoin_work_table(d->filecoin);
    if (!cuzk_the_program.is_test) { /* whose circuits are others, too */
        CUZK_TRY(cuzk_config_try_preload(&d->config->srs_preload, filecoin, err));
    }
    d->kinds[CUZK_KIND_POREP] =
        (cuzk_engine_kind){"porep-c2", "porep_c2", CUZK_PRIORITY_NORMAL, filecoin};
    d->kinds[CUZK_KIND_SNAP] =
        (cuzk_engine_kind){"snap-update", "snap_update", CUZK_PRIORITY_NORMAL, filecoin};
    d->kinds[CUZK_KIND_WINDOW] =
        (cuzk_engine_kind){"window-post", "window_post", CUZK_PRIORITY_HIGH, filecoin};
    d->kinds[CUZK_KIND_WINNING] =
        (cuzk_engine_kind){"winning-post", "winning_post", CUZK_PRIORITY_CRITICAL, filecoin};
    if (d->circom != NULL) {
        d->kinds[CUZK_KIND_CIRCOM] = (cuzk_engine_kind){"circom", "circom", CUZK_PRIORITY_NORMAL,
                                                        cuzk_circom_work_table(d->circom)};
    }
    return cuzk_the_program.add_kinds != NULL ? cuzk_the_program.add_kinds(d->kinds, err) : CUZK_OK;
}

/* "auto": where a service keeps its state. */
static cuzk_status journal_path(char *out, size_t n_bytes, const cuzk_config *config,
                                cuzk_error *err)
{
    const char *home = getenv("HOME"), *state = getenv("XDG_STATE_HOME");
    const char *service = getenv("STATE_DIRECTORY"); /* systemd's; several with colons between */
    int n;
    if (strcmp(config->journal_path, "auto") != 0) {
        n = snprintf(out, n_bytes, "%s", config->journal_path);
    } else if (service != NULL && service[0] == '/') {
        n = snprintf(out, n_bytes, "%.*s/journal.db", (int)strcspn(service, ":"), service);
    } else if (geteuid() == 0) {
        n = snprintf(out, n_bytes, "/var/lib/cuzk/journal.db");
    } else if (state != NULL && state[0] == '/') {
        n = snprintf(out, n_bytes, "%s/cuzk/journal.db", state);
    } else {
        CUZK_FAIL_IF(home == NULL || home[0] != '/', err, CUZK_E_ARGUMENT,
                     "journal.path: there is no home folder to keep it in: name a file, or none");
        n = snprintf(out, n_bytes, "%s/.local/state/cuzk/journal.db", home);
    }
    CUZK_FAIL_IF(n < 0 || (size_t)n >= n_bytes, err, CUZK_E_ARGUMENT,
                 "journal.path: the path is too long");
    return CUZK_OK;
}

static cuzk_status open_journal(cuzk_daemon *d, cuzk_error *err)
{
    if (d->config->journal_path[0] == 0) {
        return CUZK_OK;
    }
    char path[4096];
    CUZK_TRY(journal_path(path, sizeof path, d->config, err));
    cuzk_journal_options o = {.path = path,
                              .keep_ns = d->config->journal_keep_time,
                              .keep_bytes = d->config->journal_keep_bytes,
                              .fault = cuzk_faults_journal};
    cuzk_journal_report report = {0};
    CUZK_TRY(cuzk_journal_open(&d->journal, &report, &o, err));
    d->journal_was_damaged = report.was_damaged;
    d->journal_salvaged = report.n_salvaged;
    if (report.wide_mode != 0) {
        char mode[16];
        snprintf(mode, sizeof mode, "%04o", report.wide_mode);
        CUZK_LOG(d->log, CUZK_LOG_WARN,
                 report.stays_wide ? "the journal is open to others, and its mode cannot be changed"
                                   : "the journal was open to others; now it is its owner's alone",
                 CUZK_LOG_S("path", path), CUZK_LOG_S("mode", mode));
    }
    if (report.was_damaged) {
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "the journal was damaged; what it still gave is kept",
                 CUZK_LOG_S("path", path), CUZK_LOG_S("set_aside", report.set_aside),
                 CUZK_LOG_U("salvaged_jobs", report.n_salvaged),
                 CUZK_LOG_U("lost_rows", report.n_lost), CUZK_LOG_S("reason", report.reason));
    } else {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "journal", CUZK_LOG_S("path", path),
                 CUZK_LOG_U("bytes", cuzk_journal_bytes(d->journal)));
    }
    return CUZK_OK;
}

/* As configured, else what the devices need. Of the two limits of witness makers the lesser. */
static cuzk_stage_threads stage_threads(const cuzk_daemon *d)
{
    const cuzk_config *c = d->config;
    unsigned n_processors =
        c->synthesis_threads != 0 ? (unsigned)c->synthesis_threads : cuzk_cpu_count();
    cuzk_stage_threads t = {.n_decoders = (unsigned)c->pipeline_synthesis_concurrency,
                            .n_finishers = (unsigned)c->pipeline_finish_threads,
                            .n_verifiers = (unsigned)c->pipeline_verify_threads};
    if (c->pipeline_max_parallel_synthesis != 0) {
        unsigned most = (unsigned)c->pipeline_max_parallel_synthesis;
        t.n_witness = n_processors < most ? n_processors : most;
    }
    t = cuzk_stage_threads_fill(t, d->devices.n, n_processors);
    CUZK_LOG(d->log, CUZK_LOG_INFO, "threads", CUZK_LOG_U("decode", t.n_decoders),
             CUZK_LOG_U("witness", t.n_witness), CUZK_LOG_U("finish", t.n_finishers),
             CUZK_LOG_U("verify", t.n_verifiers), CUZK_LOG_S("numa", cuzk_places_note(&d->places)));
    return t;
}

static cuzk_status open_otel(cuzk_daemon *d, cuzk_error *err)
{
    const cuzk_config *c = d->config;
    if (c->otel_endpoint[0] == '\0') {
        return CUZK_OK;
    }
    const cuzk_otel_options o = {.endpoint = c->otel_endpoint,
                                 .service_name = c->otel_service_name,
                                 .n_queued_max = (unsigned)c->otel_queue,
                                 .kinds = d->kinds,
                                 .log = d->log};
    cuzk_status status = cuzk_otel_start(&d->server.otel, &o, err);
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "otel.endpoint");
    }
    return status;
}

/* Bodies of HTTP requests are received without asking the engine: what they may take together is
 * taken off its budget. */
static void set_body_bytes(cuzk_daemon *d, cuzk_engine_options *o)
{
    const cuzk_config *c = d->config;
    enum { BODIES = 4, SHARE = 16 };
    bool takes_bodies = c->daemon_status_listen[0] != 0 && c->http_prove && d->circom != NULL;
    d->body_bytes = takes_bodies ? BODIES * c->http_max_body : 0;
    if (d->body_bytes > o->budget_bytes / SHARE) {
        d->body_bytes = o->budget_bytes / SHARE;
    }
    o->budget_bytes -= d->body_bytes;
}

/* What is recorded in memory, and what looking at it takes, are taken off the budget, too. */
static void set_recent_bytes(cuzk_daemon *d, cuzk_engine_options *o)
{
    const cuzk_config *c = d->config;
    enum { SHARE = 64 };
    uint64_t most = o->budget_bytes / SHARE / (1 + RECENT_LOOKS);
    d->recent_bytes = c->daemon_status_listen[0] == 0 ? 0 : c->recording_memory;
    d->recent_bytes = d->recent_bytes < most ? d->recent_bytes : most;
    o->budget_bytes -= (1 + RECENT_LOOKS) * d->recent_bytes;
}

/* A device that was lost, with nothing of ours on it. */
static cuzk_status renew_device(void *user, unsigned device, cuzk_error *err)
{
    const cuzk_daemon *d = user;
    return cuzk_work_devices_renew(&d->devices, device, err);
}

static cuzk_status open_engine(cuzk_daemon *d, cuzk_error *err)
{
    const cuzk_config *c = d->config;
    CUZK_TRY(cuzk_places_init(&d->places, &d->devices, c->gpus_numa == NUMA_AUTO, err));
    cuzk_stage_threads threads = stage_threads(d);
    cuzk_engine_device devices[CUZK_WORK_DEVICES_MAX];
    for (unsigned i = 0; i < d->devices.n; i++) {
        const cuzk_work_device *w = &d->devices.devices[i];
        devices[i] =
            (cuzk_engine_device){w->id, w->name, w->memory_bytes,
                                 (unsigned)c->gpus_gpu_workers_per_device, or_null(w->missing)};
        if (w->missing[0] == 0) { /* else the engine tells */
            CUZK_LOG(d->log, CUZK_LOG_INFO, "device", CUZK_LOG_S("id", w->id),
                     CUZK_LOG_S("name", w->name), CUZK_LOG_U("memory_bytes", w->memory_bytes),
                     CUZK_LOG_I("numa_node", w->numa_node));
        }
    }
    cuzk_engine_options o = {
        .devices = devices,
        .n_devices = d->devices.n,
        .intake_bytes = c->memory_intake,
        .n_decoders = threads.n_decoders,
        .n_witness = threads.n_witness,
        .n_finishers = threads.n_finishers,
        .n_verifiers = threads.n_verifiers,
        .witness_ahead =
            (unsigned)(c->pipeline_max_gpu_queue_depth != 0 ? c->pipeline_max_gpu_queue_depth
                                                            : c->gpus_gpu_workers_per_device),
        .attempts = (unsigned)c->pipeline_attempts,
        .device_faults = (unsigned)c->pipeline_device_faults,
        .abandon_ns = c->jobs_abandon_time,
        .keep_ns = c->journal_keep_time,
        .keep_bytes = c->journal_keep_bytes,
        .evict_idle_ns = c->memory_eviction_min_idle,
        .journal = d->journal,
        .journal_was_damaged = d->journal_was_damaged,
        .journal_salvaged = d->journal_salvaged,
        .renew = renew_device,
        .renew_user = d,
        .place = cuzk_places_put,
        .place_user = &d->places,
        .observe = cuzk_daemon_observe,
        .observe_user = d,
    };
    memcpy(o.kinds, d->kinds, sizeof o.kinds);
    char limited_by[256];
    CUZK_TRY(cuzk_config_try_memory(&o.budget_bytes, limited_by, c, err));
    set_body_bytes(d, &o);
    set_recent_bytes(d, &o);
    if (c->recording_path[0] != 0 || d->recent_bytes > 0) {
        cuzk_record_options record = {.path = or_null(c->recording_path),
                                      .limit_bytes = c->recording_limit,
                                      .recent_bytes = d->recent_bytes,
                                      .kinds = d->kinds,
                                      .devices = devices,
                                      .n_devices = d->devices.n,
                                      .machine = {.n_witness = o.n_witness,
                                                  .n_finishers = o.n_finishers,
                                                  .n_verifiers = o.n_verifiers,
                                                  .witness_ahead = o.witness_ahead},
                                      .log = d->log};
        cuzk_engine_work_bytes(&o, &record.machine.work_bytes, &record.machine.critical_bytes);
        CUZK_TRY(cuzk_record_start(&d->record, &record, err));
    }
    d->server.max_witnesses = o.n_witness;
    d->server.places = &d->places;
    CUZK_LOG(d->log, CUZK_LOG_INFO, "memory budget", CUZK_LOG_U("bytes", o.budget_bytes),
             CUZK_LOG_S("by", limited_by), CUZK_LOG_U("http_bytes", d->body_bytes),
             CUZK_LOG_U("recording_bytes", (1 + RECENT_LOOKS) * d->recent_bytes));
    uint64_t limit;
    if (cuzk_memory_limit(&limit, limited_by, "", NULL) == CUZK_OK && o.budget_bytes > limit) {
        CUZK_LOG(d->log, CUZK_LOG_WARN, "memory budget is more than this process may use",
                 CUZK_LOG_U("bytes", limit), CUZK_LOG_S("by", limited_by));
    }
    CUZK_TRY(cuzk_engine_create(&d->server.engine, &o, err));
    atomic_store_explicit(&d->whole_engine, d->server.engine, memory_order_release);
    if (d->record != NULL) {
        cuzk_record_watch(d->record, d->server.engine);
    }
    return CUZK_OK;
}

static cuzk_status set_faults(const cuzk_config *config, cuzk_error *err)
{
    cuzk_text text = {0};
    for (size_t i = 0; i < config->test_faults.n; i++) {
        cuzk_text_printf(&text, "%s%s", i > 0 ? " " : "", config->test_faults.items[i]);
    }
    cuzk_status status = CUZK_OK;
    if (text.failed) {
        status = CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory");
    } else if (text.size > 0) {
        status = cuzk_faults_set(text.data, err);
    }
    cuzk_text_clear(&text);
    return status;
}

/* The HTTP port is not worth the daemon: without it the daemon goes on. */
static void open_http(cuzk_daemon *d)
{
    const cuzk_config *c = d->config;
    cuzk_address address;
    cuzk_error err = {0};
    if (c->daemon_status_listen[0] == 0) {
        return;
    }
    char same[64]; /* as before a restart, where the system chose the port */
    snprintf(same, sizeof same, "%.*s:%u", (int)strcspn(c->daemon_status_listen, ":"),
             c->daemon_status_listen, d->restarts.status_port);
    bool had_port = d->restarts.status_port != 0 && c->daemon_status_listen[0] != '[';
    cuzk_http_options o = {.listen = had_port ? same : c->daemon_status_listen,
                           .max_connections = (unsigned)c->http_max_connections,
                           .max_body =
                               c->http_max_body < d->body_bytes ? c->http_max_body : d->body_bytes,
                           .max_bodies = d->body_bytes,
                           .log = d->log};
    o.routes = d->routes;
    cuzk_status status =
        cuzk_live_create(&d->looks, d->record, RECENT_LOOKS * d->recent_bytes, &err);
    if (status == CUZK_OK) {
        status = cuzk_http_admin_create(&d->admin, &d->server, &err);
    }
    o.n_routes = cuzk_daemon_routes(d->routes, &d->server, d->looks, d->admin);
    if (status == CUZK_OK) {
        status = cuzk_address_parse(&address, c->daemon_status_listen, &err);
    }
    if (status == CUZK_OK && !address.is_local && !c->http_allow_remote) {
        status = CUZK_FAIL(&err, CUZK_E_ARGUMENT,
                           "other machines would reach it, and http.allow_remote is not true");
    }
    if (status == CUZK_OK) {
        status = cuzk_http_start(&d->http, &o, &err);
    }
    if (status != CUZK_OK) {
        CUZK_LOG(d->log, CUZK_LOG_ERROR, "there is no HTTP port",
                 CUZK_LOG_S("listen", c->daemon_status_listen), CUZK_LOG_S("reason", err.text));
        return;
    }
    CUZK_LOG(d->log, CUZK_LOG_INFO, "HTTP port", CUZK_LOG_S("listen", c->daemon_status_listen),
             CUZK_LOG_U("port", cuzk_http_port(d->http)));
}

cuzk_status cuzk_daemon_open(cuzk_daemon *d, cuzk_error *err)
{
    d->server.config = d->config;
    d->server.log = d->log;
    d->server.kinds = d->kinds;
    d->server.listen_fds = d->listen_fds;
    CUZK_TRY(set_faults(d->config, err));
    CUZK_TRY(open_work(d, err));
    d->server.circom = d->circom;
    CUZK_TRY(open_journal(d, err));
    d->server.journal = d->journal;
    CUZK_TRY(cuzk_metrics_create(&d->metrics, d->kinds, err));
    d->server.metrics = d->metrics;
    CUZK_TRY(cuzk_timeline_create(&d->timeline, d->kinds, d->log, err));
    cuzk_timeline_set(d->timeline, d->config->logging_timeline);
    CUZK_TRY(open_otel(d, err));
    CUZK_TRY(open_engine(d, err));
    /* clients are heard before anything large is loaded */
    cuzk_status status = cuzk_rpc_start(&d->rpc, &d->server, err);
    if (status == CUZK_E_FILE && strstr(err->text, "folder") != NULL) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "another place can be named, such as",
                 CUZK_LOG_S("flags", "--listen 127.0.0.1:9820"));
    }
    CUZK_TRY(status);
    atomic_store_explicit(&d->server.rpc, d->rpc, memory_order_release);
    open_http(d);
    return cuzk_preload_start(&d->preload, &d->server, &d->config->srs_preload, err);
}

void cuzk_daemon_close(cuzk_daemon *d)
{
    cuzk_preload_destroy(d->preload);
    cuzk_http_stop(d->http);
    cuzk_live_destroy(d->looks); /* whoever asked is told by now */
    cuzk_http_admin_destroy(d->admin);
    cuzk_rpc_destroy(d->rpc);
    if (d->server.engine != NULL) {
        cuzk_engine_destroy(d->server.engine);
    }
    cuzk_places_clear(&d->places);
    cuzk_record_stop(d->record);
    cuzk_otel_stop(d->server.otel);
    cuzk_journal_close(d->journal);
    cuzk_timeline_destroy(d->timeline);
    cuzk_metrics_destroy(d->metrics);
    cuzk_circom_work_destroy(d->circom);
    cuzk_filecoin_work_destroy(d->filecoin);
    cuzk_device_ledger_destroy(d->server.ledger);
    if (d->ctx != NULL) {
        cuzk_ctx_destroy(d->ctx);
    }
}
