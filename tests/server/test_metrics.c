/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Metrics from events and a view; /status; TIMELINE lines. */
#include "exposition.h"
#include "server/metrics.h"
#include "server/status_jobs.h"
#include "server/status_json.h"
#include "server/timeline.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const cuzk_engine_kind kinds[CUZK_KINDS_MAX] = {
    [1] = {"porep-c2", "porep_c2", CUZK_PRIORITY_NORMAL, NULL},
    [4] = {"winning-post", "winning_post", CUZK_PRIORITY_CRITICAL, NULL},
    [5] = {"circom", "circom", CUZK_PRIORITY_NORMAL, NULL},
};

/* A view as it is made under load, with texts that need escapes. */
static cuzk_job_view jobs[4];
static cuzk_unit_view units[3];
static cuzk_worker_view workers[2];
static cuzk_resident_view residents[2];

static cuzk_engine_view make_view(void)
{
    units[0] = (cuzk_unit_view){CUZK_UNIT_DONE, 1500000000, 2500000000};
    units[1] = (cuzk_unit_view){CUZK_UNIT_DEVICE, 1600000000, 700000000};
    units[2] = (cuzk_unit_view){CUZK_UNIT_PENDING, 0, 0};
    jobs[0] = (cuzk_job_view){.job_id = "porep-1000-7",
                              .seq = 5,
                              .kind = 1,
                              .priority = 2,
                              .state = CUZK_JOB_RUNNING,
                              .age_ns = 5500000000,
                              .started_ns_ago = 5250000000,
                              .n_units = 3,
                              .n_done = 1,
                              .n_waiters = 2,
                              .units = units};
    jobs[1] = (cuzk_job_view){.job_id = "wdpost-1000-0-[1 2]\n\"\xff",
                              .seq = 6,
                              .kind = 4,
                              .priority = 4,
                              .state = CUZK_JOB_FAILED,
                              .age_ns = 1000000000,
                              .started_ns_ago = 0, /* its circuit could not be loaded */
                              .error = "no \"file\""};
    jobs[2] = (cuzk_job_view){.job_id = "late", .seq = 9, .kind = 5, .priority = 2, .n_units = 1};
    jobs[2].wait = (cuzk_wait_view){.reason = CUZK_WAIT_JOB, .name = "so\"on"};
    jobs[3] = (cuzk_job_view){.job_id = "soon", .seq = 12, .kind = 4, .priority = 4, .n_units = 1};
    jobs[3].wait = (cuzk_wait_view){.reason = CUZK_WAIT_MEMORY,
                                    .needed_bytes = 15032385536,
                                    .free_bytes = 3221225472,
                                    .cap_bytes = 96636764160};
    workers[0] = (cuzk_worker_view){0, 0, true, "porep-1000-7", 1, 1, 700000000};
    workers[1] = (cuzk_worker_view){0, 1, false, NULL, 0, 0, 0};
    residents[0] = (cuzk_resident_view){"porep-32g", CUZK_RESIDENT_READY, 44, 9000000000, 1, false};
    residents[1] = (cuzk_resident_view){"circom:a", CUZK_RESIDENT_READY, 7, 2000000000, 0, false};
    cuzk_engine_view v = {.uptime_ns = 12345000000,
                          .budget_bytes = 1000,
                          .reserved_bytes = 400,
                          .peak_bytes = 500,
                          .intake_bytes = 100,
                          .intake_reserved_bytes = 10,
                          .jobs = jobs,
                          .n_jobs = 4,
                          .workers = workers,
                          .n_workers = 2,
                          .residents = residents,
                          .n_residents = 2,
                          .n_devices = 1,
                          .submissions = 3,
                          .in_witness = 1,
                          .in_device = 2,
                          .in_finish = 4,
                          .in_verify = 5,
                          .ready = 6,
                          .retries = 8,
                          .has_journal = true,
                          .journal_salvaged = 9};
    v.devices[0] = (cuzk_device_view){.id = "cuda:2",
                                      .name = "A \"card\"",
                                      .memory_bytes = 77,
                                      .reserved_bytes = 5,
                                      .n_faults = 1,
                                      .reason = ""};
    v.kinds[1].in_progress = 1;
    v.kinds[1].completed = 20;
    v.kinds[4].pending = 1;
    v.kinds[4].failed = 2;
    v.kinds[5].pending = 1;
    v.kinds[5].cancelled = 3;
    return v;
}

static const cuzk_memory_view memory = {
    .purposes = {"key", "circuit", "tables", "staging", "witness", "workspace"},
    .bytes = {{10, 20, 30, 40, 50, 60}},
    .arrivals = {{{.circuit = "porep-32g",
                   .from = "peer cuda:0",
                   .n_bytes = 30000000000,
                   .ns = 2000000000,
                   .n_read_bytes = 7},
                  {.circuit = "circom:x", .from = "file"}}},
    .n_arrivals = {2},
    .pinned_limit_bytes = 1000,
    .pinned_used_bytes = 300,
    .pinned_peak_bytes = 700};

static const char *metrics_text(const cuzk_metrics *m)
{
    static char kept[1 << 17];
    cuzk_engine_view v = make_view();
    cuzk_metrics_more more = {.has_otel = true,
                              .otel_sent_total = 11,
                              .otel_dropped_total = 12,
                              .version = "1.2.3",
                              .is_ready = true,
                              .memory = &memory,
                              .has_rpc = true,
                              .rpc_calls = 6};
    cuzk_text text = {0};
    cuzk_metrics_text(&text, m, &v, &more);
    assert_false(text.failed);
    assert_true(text.size < sizeof kept);
    memcpy(kept, text.data, text.size + 1);
    cuzk_text_clear(&text);
    const char *wrong = cuzk_test_exposition(kept);
    if (wrong != NULL) {
        fail_msg("%s", wrong);
    }
    return kept;
}

static void is(const char *text, const char *series, double value)
{
    double found = cuzk_test_sample(text, series);
    if (!(fabs(found - value) < 1e-9)) {
        fail_msg("%s is %.12g, expected %.12g", series, found, value);
    }
}

static void span(cuzk_metrics *m, cuzk_event_id id, unsigned kind, int device, uint64_t ns,
                 cuzk_status status)
{
    cuzk_event e = {
        .id = id, .phase = CUZK_EVENT_BEGIN, .ns = 1000, .kind = kind, .device = device};
    cuzk_metrics_observe(m, &e);
    e.phase = CUZK_EVENT_END;
    e.ns += ns;
    e.status = status;
    cuzk_metrics_observe(m, &e);
}

static void test_metrics(void **state)
{
    (void)state;
    cuzk_metrics *m;
    cuzk_error err = {0};
    assert_int_equal(cuzk_metrics_create(&m, kinds, &err), CUZK_OK);
    metrics_text(m);
    span(m, CUZK_EVENT_WITNESS, 1, -1, 20000000, CUZK_OK); /* 0.02 s */
    span(m, CUZK_EVENT_WITNESS, 1, -1, 25000000, CUZK_OK); /* the bound itself */
    span(m, CUZK_EVENT_WITNESS, 1, -1, 25000001, CUZK_OK);
    span(m, CUZK_EVENT_WITNESS, 4, -1, 700000000000, CUZK_OK); /* above all bounds */
    span(m, CUZK_EVENT_VERIFY, 1, -1, 100, CUZK_E_INVALID_PROOF);
    /* spans inside one another, on one thread */
    cuzk_event e = {.id = CUZK_EVENT_PROVE_START, .phase = CUZK_EVENT_BEGIN, .ns = 0, .kind = 1};
    cuzk_metrics_observe(m, &e);
    span(m, CUZK_EVENT_LANE, 1, 0, 250000000, CUZK_OK);
    e.phase = CUZK_EVENT_END;
    e.ns = 500000000;
    cuzk_metrics_observe(m, &e);
    e = (cuzk_event){.id = CUZK_EVENT_ACCEPTED, .kind = 5, .job_id = "x"};
    cuzk_metrics_observe(m, &e);
    e = (cuzk_event){.id = CUZK_EVENT_ENDED, .kind = 5, .value = 1500000000};
    cuzk_metrics_observe(m, &e);
    e = (cuzk_event){.id = CUZK_EVENT_ENDED, .kind = CUZK_KINDS_MAX, .value = 1};
    cuzk_metrics_observe(m, &e); /* no such kind: not counted */
    const char *t = metrics_text(m);
    is(t, "cuzk_stage_seconds_bucket{stage=\"witness\",proof_kind=\"porep_c2\",le=\"0.01\"}", 0);
    is(t, "cuzk_stage_seconds_bucket{stage=\"witness\",proof_kind=\"porep_c2\",le=\"0.025\"}", 2);
    is(t, "cuzk_stage_seconds_bucket{stage=\"witness\",proof_kind=\"porep_c2\",le=\"0.05\"}", 3);
    is(t, "cuzk_stage_seconds_count{stage=\"witness\",proof_kind=\"porep_c2\"}", 3);
    is(t, "cuzk_stage_seconds_sum{stage=\"witness\",proof_kind=\"porep_c2\"}", 0.070000001);
    is(t, "cuzk_stage_seconds_bucket{stage=\"witness\",proof_kind=\"winning_post\",le=\"600\"}", 0);
    is(t, "cuzk_stage_seconds_count{stage=\"witness\",proof_kind=\"winning_post\"}", 1);
    is(t, "cuzk_stage_seconds_sum{stage=\"prove_start\",proof_kind=\"porep_c2\"}", 0.5);
    is(t, "cuzk_device_lane_seconds_total{device=\"cuda:2\"}", 0.25);
    is(t, "cuzk_device_busy_seconds_total{device=\"cuda:2\"}", 0.5);
    is(t, "cuzk_stage_failures_total{stage=\"verify\"}", 1);
    is(t, "cuzk_jobs_accepted_total{proof_kind=\"circom\"}", 1);
    is(t, "cuzk_job_seconds_sum{proof_kind=\"circom\"}", 1.5);
    is(t, "cuzk_proof_duration_seconds_sum{proof_kind=\"circom\"}", 1.5);
    is(t, "cuzk_proof_duration_seconds_count{proof_kind=\"circom\"}", 1);
    cuzk_metrics_destroy(m);
}

/* The reference's names, and the view's numbers. */
static void test_view(void **state)
{
    (void)state;
    cuzk_metrics *m;
    cuzk_error err = {0};
    assert_int_equal(cuzk_metrics_create(&m, kinds, &err), CUZK_OK);
    const char *t = metrics_text(m);
    is(t, "cuzk_proofs_completed_total", 20);
    is(t, "cuzk_proofs_failed_total", 2);
    is(t, "cuzk_uptime_seconds", 12.345);
    is(t, "cuzk_queue_depth", 2);
    is(t, "cuzk_proofs_completed{proof_kind=\"porep_c2\"}", 20);
    is(t, "cuzk_proofs_failed{proof_kind=\"winning_post\"}", 2);
    is(t, "cuzk_running_jobs", 1);
    is(t, "cuzk_gpu_workers", 2);
    is(t, "cuzk_jobs_pending{proof_kind=\"circom\"}", 1);
    is(t, "cuzk_jobs_in_progress{proof_kind=\"porep_c2\"}", 1);
    is(t, "cuzk_jobs_cancelled_total{proof_kind=\"circom\"}", 3);
    is(t, "cuzk_partitions{state=\"ready\"}", 6);
    is(t, "cuzk_partition_retries_total", 8);
    is(t, "cuzk_memory_reserved_peak_bytes", 500);
    is(t, "cuzk_resident_bytes{circuit=\"porep-32g\"}", 44);
    is(t, "cuzk_resident_users{circuit=\"circom:a\"}", 0);
    is(t, "cuzk_device_faults_total{device=\"cuda:2\"}", 1);
    is(t, "cuzk_device_workers_busy{device=\"cuda:2\"}", 1);
    is(t, "cuzk_journal_salvaged_jobs", 9);
    is(t, "cuzk_rpc_calls", 6);
    is(t, "cuzk_build_info{version=\"1.2.3\"}", 1);
    assert_true(cuzk_test_sample(t, "process_resident_memory_bytes") > 100000);
    assert_true(cuzk_test_sample(t, "process_open_fds") >= 3);
    assert_null(strstr(t, "porep-1000-7")); /* nothing that a client says is a label */
    cuzk_metrics_destroy(m);
}

/* docs/metrics.md lists each family with its type and help, and no other. */
static void test_manual(void **state)
{
    (void)state;
    cuzk_metrics *m;
    cuzk_error err = {0};
    assert_int_equal(cuzk_metrics_create(&m, kinds, &err), CUZK_OK);
    const char *text = metrics_text(m);
    static char manual[1 << 16];
    FILE *f = fopen("docs/metrics.md", "r");
    assert_non_null(f);
    manual[fread(manual, 1, sizeof manual - 1, f)] = 0;
    fclose(f);
    size_t n = 0, n_rows = 0;
    for (const char *p = strstr(text, "# HELP "); p != NULL; p = strstr(p + 1, "# HELP "), n++) {
        char name[128], type[32], row[1024];
        const char *help = strchr(p + 7, ' ') + 1;
        assert_int_equal(sscanf(p, "# HELP %127s", name), 1);
        assert_int_equal(sscanf(strchr(p, '\n'), "\n# TYPE %*s %31s", type), 1);
        snprintf(row, sizeof row, "\n| `%s` | %s | ", name, type);
        const char *found = strstr(manual, row);
        if (found == NULL) {
            fail_msg("docs/metrics.md lacks %s", row);
        }
        snprintf(row, sizeof row, " | %.*s |\n", (int)strcspn(help, "\n"), help);
        if (strstr(found, row) == NULL || strstr(found, row) > strchr(found + 1, '\n')) {
            fail_msg("docs/metrics.md says something else of %s: expected%s", name, row);
        }
    }
    for (const char *p = strstr(manual, "\n| `"); p != NULL; p = strstr(p + 1, "\n| `")) {
        n_rows++;
    }
    assert_int_equal(n, n_rows);
    cuzk_metrics_destroy(m);
}

/* The checker sees what is wrong. */
static void test_checker(void **state)
{
    (void)state;
#define HEAD      "# HELP a_total x\n# TYPE a_total counter\n"
#define HISTOGRAM "# HELP h x\n# TYPE h histogram\n"
    static const char *const good[] = {
        HEAD "a_total 1\n", HEAD "a_total{b=\"c\\\"\\\\\\n\",d=\"\"} 1e-3\na_total{b=\"d\"} +Inf\n",
        HISTOGRAM "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"};
    static const char *const bad[] = {
        "",
        "a_total 1\n",
        HEAD "a_total 1",
        HEAD "b_total 1\n",
        HEAD "a_total x\n",
        HEAD "a_total{b=\"c} 1\n",
        HEAD "a_total{b=c} 1\n",
        HEAD "a_total{b=\"\\x\"} 1\n",
        HEAD "a_total 1\na_total 2\n",
        HEAD "a_total 1\n" HEAD,
        "# HELP a x\n# TYPE a counter\na 1\n",
        "# HELP a_total x\n# TYPE a_total gauge\n",
        "# TYPE a gauge\na 1\n",
        "# x\n",
        "# HELP a x\n# TYPE a thing\n",
        HEAD "a_total_sum 1\n",
        HISTOGRAM "h_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n",
        HISTOGRAM "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 3\n",
        HISTOGRAM "h_bucket{le=\"1\"} 1\nh_sum 3\nh_count 1\n",
        HISTOGRAM "h_bucket 1\n"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_null(cuzk_test_exposition(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (cuzk_test_exposition(bad[i]) == NULL) {
            fail_msg("taken: %s", bad[i]);
        }
    }
}

enum { THREADS = 4, SPANS = 1000 };

static void *many_spans(void *user)
{
    for (int i = 0; i < SPANS; i++) {
        span(user, CUZK_EVENT_VERIFY, 1, -1, 1000000, CUZK_OK);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    cuzk_metrics *m;
    cuzk_error err = {0};
    assert_int_equal(cuzk_metrics_create(&m, kinds, &err), CUZK_OK);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, many_spans, m), 0);
    }
    metrics_text(m);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    const char *t = metrics_text(m);
    is(t, "cuzk_stage_seconds_count{stage=\"verify\",proof_kind=\"porep_c2\"}", THREADS * SPANS);
    is(t, "cuzk_stage_seconds_sum{stage=\"verify\",proof_kind=\"porep_c2\"}",
       THREADS * SPANS * 0.001);
    cuzk_metrics_destroy(m);
}

/* What keys hold of devices with memory, by purpose, and pinned memory: in both texts, and in
 * neither without such devices. */
static void test_device_memory(void **state)
{
    (void)state;
    cuzk_engine_view v = make_view();
    cuzk_metrics *m = NULL;
    cuzk_error err = {0};
    cuzk_text text = {0}, without = {0}, status = {0};
    assert_int_equal(cuzk_metrics_create(&m, kinds, &err), CUZK_OK);
    cuzk_metrics_more more = {.version = "1", .memory = &memory};
    cuzk_metrics_text(&text, m, &v, &more);
    is(text.data, "cuzk_device_arena_bytes{device=\"cuda:2\",purpose=\"key\"}", 10);
    is(text.data, "cuzk_device_arena_bytes{device=\"cuda:2\",purpose=\"staging\"}", 40);
    is(text.data, "cuzk_device_arena_bytes{device=\"cuda:2\",purpose=\"workspace\"}", 60);
    is(text.data, "cuzk_pinned_limit_bytes", 1000);
    is(text.data, "cuzk_pinned_bytes", 300);
    is(text.data, "cuzk_pinned_peak_bytes", 700);
    more.memory = NULL;
    cuzk_metrics_text(&without, m, &v, &more);
    assert_null(strstr(without.data, "cuzk_device_arena_bytes"));
    assert_null(strstr(without.data, "cuzk_pinned_bytes"));
    static const int nodes[CUZK_ENGINE_DEVICES_MAX] = {1, -1};
    cuzk_status_more told = {18,   1, true, false, "1", &memory, true, true, "2 NUMA nodes: 0, 1",
                             nodes};
    cuzk_status_json(&status, &v, kinds, &told);
    assert_non_null(strstr(status.data, "\"admin\":true,\"charts\":true,"));
    assert_non_null(strstr(status.data, "\"numa_node\":1,\"memory\":"));
    assert_null(strstr(status.data, "\"numa_node\":-1"));
    assert_non_null(strstr(status.data, "\"numa\":\"2 NUMA nodes: 0, 1\""));
    assert_non_null(
        strstr(status.data,
               "\"memory\":{\"key\":10,\"circuit\":20,\"tables\":30,"
               "\"staging\":40,\"witness\":50,\"workspace\":60},"
               "\"residents\":[{\"circuit_id\":\"porep-32g\",\"from\":\"peer cuda:0\","
               "\"bytes\":30000000000,\"read_bytes\":7,\"seconds\":2.000000,"
               "\"gb_per_second\":15.000},{\"circuit_id\":\"circom:x\",\"from\":\"file\","
               "\"bytes\":0,\"read_bytes\":0,\"seconds\":0.000000,\"gb_per_second\":0.000}]}"));
    assert_non_null(strstr(status.data, ",\"pinned\":{\"limit_bytes\":1000,\"used_bytes\":300,"
                                        "\"peak_bytes\":700}"));
    free(text.data);
    free(without.data);
    free(status.data);
    cuzk_metrics_destroy(m);
}

static void test_status(void **state)
{
    (void)state;
    cuzk_engine_view v = make_view();
    cuzk_status_more more = {18, 1, true, false, "1.2.3", NULL, false, false, NULL, NULL};
    cuzk_text text = {0};
    cuzk_status_json(&text, &v, kinds, &more);
    assert_false(text.failed);
    assert_string_equal(
        text.data,
        "{\"version\":\"1.2.3\",\"uptime_secs\":12.345,\"ready\":true,\"draining\":false,"
        "\"admin\":false,\"charts\":false,"
        "\"memory\":{\"total_bytes\":1000,\"used_bytes\":400,\"available_bytes\":600,"
        "\"peak_bytes\":500,\"intake_bytes\":100,\"intake_used_bytes\":10},"
        "\"synthesis\":{\"max_concurrent\":18,\"active\":1},"
        "\"pipelines\":[{\"job_id\":\"porep-1000-7\",\"proof_kind\":\"porep-c2\","
        "\"started_secs_ago\":5.250,\"age_secs\":5.500,\"total_partitions\":3,"
        "\"partitions_done\":1,\"state\":\"running\",\"priority\":2,\"waiters\":2,"
        "\"waits_for\":null,"
        "\"partitions\":[{\"index\":0,\"state\":\"done\",\"synth_ms\":1500,\"gpu_ms\":2500},"
        "{\"index\":1,\"state\":\"gpu\",\"synth_ms\":1600,\"gpu_ms\":700},"
        "{\"index\":2,\"state\":\"pending\",\"synth_ms\":null,\"gpu_ms\":null}]},"
        "{\"job_id\":\"wdpost-1000-0-[1 2]\\n\\\"\xef\xbf\xbd\",\"proof_kind\":\"winning-post\","
        "\"started_secs_ago\":null,\"age_secs\":1.000,\"total_partitions\":0,"
        "\"partitions_done\":0,\"state\":\"failed\",\"priority\":4,\"waiters\":0,"
        "\"waits_for\":null,\"error\":\"no "
        "\\\"file\\\"\",\"partitions\":[]}],\"pipelines_left_out\":0,"
        "\"queued\":[{\"job_id\":\"soon\",\"proof_kind\":\"winning-post\",\"priority\":4,"
        "\"age_secs\":0.000,\"total_partitions\":1,\"waiters\":0,\"waits_for\":{\"reason\":"
        "\"memory\",\"needed_bytes\":15032385536,\"free_bytes\":3221225472,\"text\":"
        "\"memory: needs 14.0 GiB, 3.0 GiB of 90.0 GiB are free\"}},{\"job_id\":\"late\","
        "\"proof_kind\":\"circom\",\"priority\":2,\"age_secs\":0.000,\"total_partitions\":1,"
        "\"waiters\":0,\"waits_for\":{\"reason\":\"job\",\"text\":"
        "\"its turn, behind job so\\\"on\"}}],\"queued_left_out\":0,"
        "\"intake\":{\"waiting\":0,\"waits_for\":null},"
        "\"gpu_workers\":[{\"worker_id\":0,\"gpu_ordinal\":2,\"device\":\"cuda:2\",\"reserve\":"
        "false,"
        "\"state\":\"proving\",\"current_job\":\"porep-1000-7\",\"current_partition\":1,"
        "\"busy_secs\":0.700,\"current_proof_kind\":\"porep-c2\"},"
        "{\"worker_id\":1,\"gpu_ordinal\":2,\"device\":\"cuda:2\",\"reserve\":true,\"state\":"
        "\"idle\","
        "\"current_job\":null,\"current_partition\":null,\"busy_secs\":null}],"
        "\"allocations\":{\"srs\":[{\"circuit_id\":\"porep-32g\",\"bytes\":44,"
        "\"last_used_secs_ago\":0.000,\"evictable\":false,\"state\":\"ready\",\"users\":1},"
        "{\"circuit_id\":\"circom:a\",\"bytes\":7,\"last_used_secs_ago\":2.000,"
        "\"evictable\":true,\"state\":\"ready\",\"users\":0}],\"pce\":[]},"
        "\"counters\":{\"total_completed\":20,\"total_failed\":2,\"total_cancelled\":3,"
        "\"completed_by_kind\":{\"porep-c2\":20,\"winning-post\":0,\"circom\":0},"
        "\"failed_by_kind\":{\"porep-c2\":0,\"winning-post\":2,\"circom\":0},"
        "\"queue_depth\":2,\"submissions\":3,\"retries\":8},"
        "\"queues\":[{\"proof_kind\":\"porep-c2\",\"pending\":0,\"in_progress\":1},"
        "{\"proof_kind\":\"winning-post\",\"pending\":1,\"in_progress\":0},"
        "{\"proof_kind\":\"circom\",\"pending\":1,\"in_progress\":0}],"
        "\"buffers\":{\"synth_in_flight\":1,\"provers_in_flight\":2,\"aux_in_flight\":12,"
        "\"shells_in_flight\":4,\"pending_handles\":4},"
        "\"devices\":[{\"id\":\"cuda:2\",\"name\":\"A \\\"card\\\"\",\"memory_bytes\":77,"
        "\"reserved_bytes\":5,\"out\":false,\"state\":\"used\",\"state_secs\":0.000,"
        "\"retry_secs\":0.000,\"faults\":1,\"renewals\":0,\"reason\":\"\"}],"
        "\"journal\":{\"enabled\":true,\"failed\":false,\"was_damaged\":false,"
        "\"salvaged_jobs\":9}}\n");
    cuzk_text_clear(&text);
}

/* Every reason in words. */
static void test_waits(void **state)
{
    (void)state;
    cuzk_engine_view v = make_view();
    static const struct {
        cuzk_wait_view wait;
        const char *label, *text;
    } waits[] = {
        {{.reason = CUZK_WAIT_NOTHING}, "", ""},
        {{.reason = CUZK_WAIT_MEMORY,
          .name = "porep-32g",
          .needed_bytes = 2048,
          .free_bytes = 5,
          .cap_bytes = 1 << 20},
         "memory",
         "memory for the parameters of porep-32g: needs 2.0 KiB, 5 bytes of 1.0 MiB are free"},
        {{.reason = CUZK_WAIT_DEVICE_MEMORY, .needed_bytes = 3, .free_bytes = 2, .cap_bytes = 4},
         "device_memory",
         "memory of cuda:2: needs 3 bytes, 2 bytes of 4 bytes are free"},
        {{.reason = CUZK_WAIT_RESIDENT, .name = "wpost-32g"},
         "parameters",
         "the parameters of wpost-32g, which are being loaded"},
        {{.reason = CUZK_WAIT_STAGE, .name = "witness", .n_threads = 4},
         "threads",
         "stage witness, which is full: 4 at once"},
        {{.reason = CUZK_WAIT_LANE, .name = "j"}, "lane", "the lane of cuda:2, which job j holds"},
        {{.reason = CUZK_WAIT_LANE}, "lane", "the lane of cuda:2, which a cancelled job holds"},
        {{.reason = CUZK_WAIT_PAYLOAD}, "payload", "its payload, which is read from the journal"},
        {{.reason = CUZK_WAIT_DEVICE}, "device", "a device: none is used"},
        {{.reason = CUZK_WAIT_DEVICE, .needed_bytes = 3 << 20, .cap_bytes = 1 << 20},
         "device",
         "a device: none is used that has 3.0 MiB of memory, at most 1.0 MiB"},
    };
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        cuzk_text text = {0};
        cuzk_wait_text(&text, &waits[i].wait, &v);
        assert_string_equal(text.data != NULL ? text.data : "", waits[i].text);
        assert_string_equal(cuzk_wait_label(waits[i].wait.reason), waits[i].label);
        cuzk_text_clear(&text);
    }
}

/* Ten thousand jobs make a short answer. */
static void test_status_of_many(void **state)
{
    (void)state;
    cuzk_engine_view v = make_view();
    enum { MANY = 10000 };
    v.jobs = calloc(MANY, sizeof *v.jobs);
    v.n_jobs = MANY;
    for (unsigned i = 0; i < MANY; i++) {
        v.jobs[i] = jobs[i % 2 == 0 ? 1 : 2];
        v.jobs[i].kind = i == 0 ? 3 : i == 2 ? CUZK_KINDS_MAX : v.jobs[i].kind;
    }
    cuzk_status_more more = {18, 1, true, false, "1.2.3", NULL, false, false, NULL, NULL};
    cuzk_text text = {0};
    cuzk_status_json(&text, &v, kinds, &more);
    assert_true(text.size < 200000);
    const char *unknown = strstr(text.data, "\"proof_kind\":\"unknown\"");
    assert_non_null(unknown);
    assert_non_null(strstr(unknown + 1, "\"proof_kind\":\"unknown\""));
    assert_non_null(strstr(text.data, "\"pipelines_left_out\":4744,"));
    assert_non_null(strstr(text.data, "\"queued_left_out\":4744,"));
    cuzk_text_clear(&text);
    free(v.jobs);
}

static void timeline_event(cuzk_timeline *t, cuzk_event_id id, cuzk_event_phase phase, uint64_t ms,
                           uint64_t job, unsigned kind, int unit, int worker)
{
    cuzk_event e = {.id = id,
                    .phase = phase,
                    .ns = UINT64_C(1) << 62,
                    .job = job,
                    .job_id = job == 1 ? "porep-1-2" : "win,ning\n",
                    .kind = kind,
                    .unit = unit,
                    .worker = worker};
    e.ns += ms * 1000000;
    cuzk_timeline_observe(t, &e);
}

static void test_timeline(void **state)
{
    (void)state;
    FILE *sink = tmpfile();
    cuzk_logger_options o = {.level = CUZK_LOG_ERROR, .fd = fileno(sink)};
    cuzk_logger *log;
    cuzk_timeline *t;
    cuzk_error err = {0};
    assert_int_equal(cuzk_logger_create(&log, &o, &err), CUZK_OK);
    assert_int_equal(cuzk_timeline_create(&t, kinds, log, &err), CUZK_OK);
    timeline_event(t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, 0, 1, 1, 3, -1); /* off: nothing */
    cuzk_timeline_set(t, true);
    timeline_event(t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, 0, 1, 1, 3, -1);
    timeline_event(t, CUZK_EVENT_WITNESS, CUZK_EVENT_END, 25, 1, 1, 3, -1);
    timeline_event(t, CUZK_EVENT_QUEUED, CUZK_EVENT_INSTANT, 25, 1, 1, 3, -1);
    timeline_event(t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, 30, 1, 1, 3, 1);
    timeline_event(t, CUZK_EVENT_WITNESS, CUZK_EVENT_BEGIN, 31, 2, 4, 0, -1);
    timeline_event(t, CUZK_EVENT_WITNESS, CUZK_EVENT_END, 33, 2, 4, 0, -1);
    timeline_event(t, CUZK_EVENT_QUEUED, CUZK_EVENT_INSTANT, 33, 2, 4, 0, -1);
    timeline_event(t, CUZK_EVENT_PROVE_START, CUZK_EVENT_BEGIN, 34, 2, 4, 0, 0);
    timeline_event(t, CUZK_EVENT_PROVE_START, CUZK_EVENT_END, 80, 1, 1, 3, 1);
    timeline_event(t, CUZK_EVENT_PROVE_FINISH, CUZK_EVENT_END, 130, 1, 1, 3, -1);
    timeline_event(t, CUZK_EVENT_PROVE_FINISH, CUZK_EVENT_END, 136, 2, 4, 0, -1);
    static const char *const expected[] = {
        "SYNTH_START,porep-1-2,partition=3",
        "SYNTH_END,porep-1-2,partition=3,synth_ms=25",
        "GPU_QUEUE,porep-1-2,partition=3",
        "GPU_PICKUP,porep-1-2,worker=1,partition=3",
        "GPU_START,porep-1-2,worker=1,partition=3",
        "SYNTH_START,win,ning ,kind=winning-post",
        "SYNTH_END,win,ning ,synth_ms=2",
        "GPU_QUEUE,win,ning ,monolithic",
        "GPU_PICKUP,win,ning ,worker=0",
        "GPU_START,win,ning ,worker=0",
        "GPU_END,porep-1-2,worker=1,partition=3,gpu_ms=100",
        "GPU_END,win,ning ,worker=0,gpu_ms=102",
    };
    rewind(sink);
    char line[256];
    size_t n = 0;
    while (fgets(line, sizeof line, sink) != NULL) {
        assert_int_equal(strncmp(line, "TIMELINE,", 9), 0);
        line[strcspn(line, "\n")] = 0;
        char *rest = strchr(line + 9, ',');
        assert_non_null(rest);
        assert_int_equal(strspn(line + 9, "0123456789"), rest - line - 9);
        assert_true(n < sizeof expected / sizeof expected[0]);
        assert_string_equal(rest + 1, expected[n++]);
    }
    assert_int_equal(n, sizeof expected / sizeof expected[0]);
    cuzk_timeline_destroy(t);
    cuzk_logger_destroy(log);
    fclose(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checker),       cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_view),          cmocka_unit_test(test_threads),
        cmocka_unit_test(test_device_memory), cmocka_unit_test(test_status),
        cmocka_unit_test(test_waits),         cmocka_unit_test(test_status_of_many),
        cmocka_unit_test(test_timeline),      cmocka_unit_test(test_manual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
