/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The reader of /status: what it takes, what it skips, and texts that are cut, changed, or made to
 * be large. */
#include "client/status_read.h"

#include "client_test.h"
#include "random.h"

#include <malloc.h>

/* Everything that is known, once; and an unknown member of each type beside it. */
static const char whole[] =
    "{\"uptime_secs\": 7300.5, \"ready\": false, \"draining\": true, \"x\": {\"y\": [1, {}]},\n"
    " \"memory\": {\"total_bytes\": 268435456000, \"used_bytes\": 64, \"x\": null},\n"
    " \"pipelines\": [{\"job_id\": \"a \\u00fc\\n\", \"proof_kind\": \"porep-c2\", \"x\": \"y\",\n"
    "   \"started_secs_ago\": 61.5, \"age_secs\": 62, \"total_partitions\": 7,\n"
    "   \"partitions_done\": 1, \"priority\": 3, \"state\": \"running\", \"partitions\": [\n"
    "   {\"index\": 0, \"state\": \"done\", \"x\": true}, {\"index\": 1, \"state\": \"gpu\"},\n"
    "   {\"index\": 2, \"state\": \"synth_done\"}, {\"index\": 3, \"state\": \"synthesizing\"},\n"
    "   {\"index\": 4, \"state\": \"pending\"}, {\"index\": 5, \"state\": \"failed\"},\n"
    "   {\"state\": \"new word\", \"index\": 6}]}],\n"
    " \"pipelines_left_out\": 3, \"queued_left_out\": 40,\n"
    " \"queued\": [{\"job_id\": \"b\", \"waits_for\": {\"text\": \"a turn\"}}, {\"job_id\": \"c\", "
    "\"state\": \"held\", \"error\": \"no room\"}],\n"
    " \"gpu_workers\": [{\"worker_id\": 1, \"gpu_ordinal\": 2, \"device\": \"cuda:2\",\n"
    "   \"current_job\": \"b\", \"current_partition\": 5, \"busy_secs\": 1.25, \"reserve\": true,\n"
    "   \"x\": []}, {\"current_job\": null, \"current_partition\": null, \"busy_secs\": null}],\n"
    " \"allocations\": {\"srs\": [{\"circuit_id\": \"porep-32g\", \"state\": \"ready\",\n"
    "   \"bytes\": 48318382080, \"last_used_secs_ago\": 4.5, \"evictable\": true}], \"pce\": []},\n"
    " \"devices\": [{\"id\": \"cuda:1\", \"reason\": \"2 bad proofs\", \"out\": true,\n"
    "   \"memory\": {\"key\": 47244640256, \"x\": [1], \"workspace\": 7},\n"
    "   \"residents\": [{\"circuit_id\": \"porep-32g\", \"from\": \"peer cuda:0\", \"x\": [],\n"
    "   \"bytes\": 30000000000, \"gb_per_second\": 12.5}, 3, {\"from\": 4}]}],\n"
    " \"pinned\": {\"limit_bytes\": 1000, \"used_bytes\": 300, \"peak_bytes\": 700, \"x\": {}},\n"
    " \"journal\": {\"enabled\": false, \"failed\": true, \"was_damaged\": true,\n"
    "   \"salvaged_jobs\": 12}, \"intake\": {\"waiting\": 4, \"x\": 1, \"waits_for\":\n"
    "   {\"text\": \"memory\", \"x\": {}}}}\n";

static cuzk_status read_text(cuzk_status_view *view, const char *text, size_t n, cuzk_error *err)
{
    memset(view, 0xa5, sizeof *view); /* "all zero on failure" */
    cuzk_error_clear(err);
    return cuzk_status_read(view, text, n, err);
}

static void assert_all_zero(const cuzk_status_view *view)
{
    static const cuzk_status_view zero;
    assert_memory_equal(view, &zero, sizeof zero);
}

static void read_ok(cuzk_status_view *view, const char *text)
{
    cuzk_error err;
    if (read_text(view, text, strlen(text), &err) != CUZK_OK) {
        fail_msg("%.200s: %s", text, err.text);
    }
}

/* ---- what it takes ---- */

static void test_whole(void **state)
{
    (void)state;
    cuzk_status_view v;
    read_ok(&v, whole);
    assert_true(v.uptime == 7300.5 && v.is_loading && v.is_draining);
    assert_true(v.has_no_journal && v.journal_failed && v.journal_was_damaged);
    assert_int_equal(v.journal_salvaged, 12);
    assert_int_equal(v.memory_total, 268435456000u);
    assert_int_equal(v.memory_used, 64);
    assert_int_equal(v.n_left_out, 43);
    assert_int_equal(v.intake_waiting, 4);
    assert_string_equal(v.intake_waits_for, "memory");
    assert_int_equal(v.n_jobs, 3);
    const cuzk_status_job *j = v.jobs;
    assert_string_equal(j[0].job_id, "a \xc3\xbc\n");
    assert_string_equal(j[0].kind, "porep-c2");
    assert_string_equal(j[0].state, "running");
    assert_string_equal(j[0].partitions, "#drw.!?");
    assert_true(j[0].started == 61.5 && j[0].age == 62);
    assert_int_equal(j[0].priority, 3);
    assert_int_equal(j[0].n_partitions, 7);
    assert_int_equal(j[0].n_done, 1);
    /* what is not told */
    assert_string_equal(j[1].state, "queued");
    assert_string_equal(j[2].state, "held");
    assert_string_equal(j[0].waits_for, "");
    assert_string_equal(j[1].waits_for, "a turn");
    assert_string_equal(j[1].error, "");
    assert_string_equal(j[2].error, "no room");
    assert_string_equal(j[1].kind, "");
    assert_string_equal(j[1].partitions, "");
    assert_true(j[1].age < 0 && j[1].started < 0);
    for (size_t i = 0; i < v.n_jobs; i++) {
        assert_int_equal(j[i].place, i);
    }
    assert_int_equal(v.n_workers, 2);
    const cuzk_status_worker *w = v.workers;
    assert_true(w[0].worker == 1 && w[0].device == 2 && w[0].busy == 1.25 && w[0].is_reserve);
    assert_int_equal(w[0].partition, 5);
    assert_string_equal(w[0].job_id, "b");
    assert_string_equal(w[0].device_id, "cuda:2");
    assert_string_equal(w[1].job_id, "");
    assert_string_equal(w[1].device_id, "");
    assert_true(w[1].partition == -1 && !w[1].is_reserve);
    assert_int_equal(v.n_residents, 1);
    assert_string_equal(v.residents[0].circuit_id, "porep-32g");
    assert_string_equal(v.residents[0].state, "ready");
    assert_int_equal(v.residents[0].bytes, 48318382080u);
    assert_true(v.residents[0].idle == 4.5 && v.residents[0].is_evictable);
    assert_int_equal(v.n_devices, 1);
    assert_string_equal(v.devices[0].id, "cuda:1");
    assert_string_equal(v.devices[0].reason, "2 bad proofs");
    assert_int_equal(v.devices[0].n_arena, 2);
    assert_string_equal(v.devices[0].arena[0].purpose, "key");
    assert_int_equal(v.devices[0].arena[0].bytes, 47244640256u);
    assert_string_equal(v.devices[0].arena[1].purpose, "workspace");
    assert_int_equal(v.devices[0].arena[1].bytes, 7);
    assert_int_equal(v.devices[0].n_arrivals, 2);
    const cuzk_status_arrival *a = v.devices[0].arrivals;
    assert_string_equal(a[0].circuit_id, "porep-32g");
    assert_string_equal(a[0].from, "peer cuda:0");
    assert_true(a[0].bytes == 30000000000u && a[0].rate == 12.5);
    assert_string_equal(a[1].from, "");
    assert_true(v.pinned_limit == 1000 && v.pinned_used == 300 && v.pinned_peak == 700);
    assert_true(v.devices[0].is_out);
    cuzk_status_view_clear(&v);
    assert_all_zero(&v);
    cuzk_status_view_clear(&v); /* twice is fine */
}

static void test_empty(void **state)
{
    (void)state;
    cuzk_status_view v;
    read_ok(&v, " {\n}\t");
    assert_string_equal(v.intake_waits_for, ""); /* never NULL */
    cuzk_status_view_clear(&v);
    assert_all_zero(&v);
}

/* A value of another type is skipped, whatever the member and the type. */
static void test_other_types(void **state)
{
    (void)state;
    static const char *const members[] = {"uptime_secs",
                                          "ready",
                                          "draining",
                                          "memory",
                                          "pipelines",
                                          "queued",
                                          "journal",
                                          "pipelines_left_out",
                                          "queued_left_out",
                                          "gpu_workers",
                                          "devices",
                                          "allocations",
                                          "memory/total_bytes",
                                          "memory/used_bytes",
                                          "allocations/srs",
                                          "journal/enabled",
                                          "journal/salvaged_jobs"};
    static const char *const elements[] = {"pipelines/job_id",
                                           "pipelines/proof_kind",
                                           "pipelines/state",
                                           "pipelines/age_secs",
                                           "pipelines/started_secs_ago",
                                           "pipelines/total_partitions",
                                           "pipelines/partitions_done",
                                           "pipelines/priority",
                                           "pipelines/partitions",
                                           "queued/state",
                                           "gpu_workers/worker_id",
                                           "gpu_workers/gpu_ordinal",
                                           "gpu_workers/device",
                                           "gpu_workers/current_job",
                                           "gpu_workers/current_partition",
                                           "gpu_workers/busy_secs",
                                           "gpu_workers/reserve",
                                           "devices/id",
                                           "devices/reason",
                                           "devices/out"};
    static const char *const values[] = {
        "null",     "true", "false",           "-7", "1e400",
        "\"text\"", "[]",   "[[{}], null, 1]", "{}", "{\"a\": {\"b\": [0]}}"};
    char text[200], name[64];
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
            cuzk_status_view v;
            snprintf(name, sizeof name, "%s", members[i]);
            char *slash = strchr(name, '/');
            if (slash == NULL) {
                snprintf(text, sizeof text, "{\"%s\": %s, \"devices\": [{}]}", name, values[k]);
            } else {
                *slash = '\0';
                snprintf(text, sizeof text, "{\"%s\": {\"%s\": %s}, \"devices\": [{}]}", name,
                         slash + 1, values[k]);
            }
            read_ok(&v, text);
            assert_in_range(v.n_devices, 1, 2); /* the rest was still read */
            cuzk_status_view_clear(&v);
        }
        for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
            cuzk_status_view v;
            snprintf(name, sizeof name, "%s", elements[i]);
            char *slash = strchr(name, '/');
            *slash = '\0';
            snprintf(text, sizeof text, "{\"%s\": [%s, {\"%s\": %s}]}", name, values[k], slash + 1,
                     values[k]);
            read_ok(&v, text);
            size_t n_objects = values[k][0] == '{' ? 2 : 1;
            assert_int_equal(v.n_jobs + v.n_workers + v.n_devices, n_objects);
            for (size_t j = 0; j < v.n_jobs; j++) { /* texts are never NULL */
                assert_non_null(v.jobs[j].job_id);
                assert_non_null(v.jobs[j].kind);
                assert_non_null(v.jobs[j].state);
                assert_non_null(v.jobs[j].partitions);
            }
            cuzk_status_view_clear(&v);
        }
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *number;
        uint64_t as_bytes;
        unsigned as_partitions;
        int64_t as_partition;
    } cases[] = {
        {"0", 0, 0, 0},
        {"-0", 0, 0, 0},
        {"1048575", 1048575, 1048575, 1048575},
        {"1048576", 1048576, 0, -1}, /* no daemon has so many partitions */
        {"2.75", 2, 2, 2},
        {"-1", 0, 0, -1},
        {"-0.25", 0, 0, -1},
        {"1e18", UINT64_C(1000000000000000000), 0, -1},
        {"18446744073709549568", 0, 0, -1},
        {"1e300", 0, 0, -1},
        {"1e999", 0, 0, -1},
        {"0.0000000000000000000000000000000000000000000000000000000000000000000000001", 0, 0, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_status_view v;
        char text[400];
        snprintf(text, sizeof text,
                 "{\"memory\": {\"total_bytes\": %s}, \"pipelines\": [{\"total_partitions\": %s}], "
                 "\"gpu_workers\": [{\"current_partition\": %s}]}",
                 cases[i].number, cases[i].number, cases[i].number);
        read_ok(&v, text);
        assert_int_equal(v.memory_total, cases[i].as_bytes);
        assert_int_equal(v.jobs[0].n_partitions, cases[i].as_partitions);
        assert_int_equal(v.workers[0].partition, cases[i].as_partition);
        cuzk_status_view_clear(&v);
    }
}

static void test_partitions_in_order_only(void **state)
{
    (void)state;
    static const struct {
        const char *partitions, *drawn;
    } cases[] = {
        {"{\"index\": 1, \"state\": \"done\"}", ""},
        {"{\"index\": 0, \"state\": \"done\"}, {\"index\": 0, \"state\": \"gpu\"}", "#"},
        {"{\"index\": 0, \"state\": \"gpu\"}, 7, [], {\"index\": 1}, {\"index\": 1e99}", "d?"},
        {"{\"state\": \"done\"}, {\"index\": 0.5, \"state\": \"done\"}", ""},
        {"{\"index\": 0, \"state\": 5}", "?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_status_view v;
        char text[300];
        snprintf(text, sizeof text, "{\"pipelines\": [{\"partitions\": [%s]}]}",
                 cases[i].partitions);
        read_ok(&v, text);
        assert_string_equal(v.jobs[0].partitions, cases[i].drawn);
        cuzk_status_view_clear(&v);
    }
}

/* ---- much of it ---- */

/* A text that is built up. */
struct built {
    char *data;
    size_t n;
};

static void put(struct built *b, const char *text)
{
    size_t n = strlen(text);
    memcpy(b->data + b->n, text, n + 1);
    b->n += n;
}

static void test_many_partitions(void **state)
{
    (void)state;
    enum { N = 5000, DRAWN = 4096 };
    struct built b = {malloc(64 * N), 0};
    char one[64];
    put(&b, "{\"pipelines\": [{\"partitions\": [");
    for (int i = 0; i < N; i++) {
        snprintf(one, sizeof one, "%s{\"index\":%d,\"state\":\"%s\"}", i == 0 ? "" : ",", i,
                 i % 2 == 0 ? "done" : "gpu");
        put(&b, one);
    }
    put(&b, "]}]}");
    cuzk_status_view v;
    read_ok(&v, b.data);
    assert_int_equal(strlen(v.jobs[0].partitions), DRAWN);
    for (int i = 0; i < DRAWN; i++) {
        assert_int_equal(v.jobs[0].partitions[i], i % 2 == 0 ? '#' : 'd');
    }
    cuzk_status_view_clear(&v);
    free(b.data);
}

/* Every list is cut at its limit; jobs that are left out are counted. The memory that this takes is
 * what the header says. */
static void test_many_items(void **state)
{
    (void)state;
    static const char *const lists[] = {"\"pipelines\": [", "\"queued\": [", "\"gpu_workers\": [",
                                        "\"devices\": [", "\"allocations\": {\"srs\": ["};
    enum { N = CUZK_STATUS_ITEMS_MAX + 100 };
    struct built b = {malloc(6 * 3 * N), 0};
    put(&b, "{");
    for (int k = 0; k < 5; k++) {
        put(&b, k == 0 ? "" : ", ");
        put(&b, lists[k]);
        for (int i = 0; i < N; i++) {
            put(&b, i == 0 ? "{}" : ",{}");
        }
        put(&b, k == 4 ? "]}}" : "]");
    }
    cuzk_status_view v;
    cuzk_error err;
    memset(&v, 0, sizeof v);
    struct mallinfo2 before = mallinfo2();
    assert_int_equal(read_text(&v, b.data, b.n, &err), CUZK_OK);
    size_t grown = mallinfo2().uordblks - before.uordblks;
    assert_int_equal(v.n_jobs, CUZK_STATUS_ITEMS_MAX);
    assert_int_equal(v.n_workers, CUZK_STATUS_ITEMS_MAX);
    assert_int_equal(v.n_devices, CUZK_STATUS_ITEMS_MAX);
    assert_int_equal(v.n_residents, CUZK_STATUS_ITEMS_MAX);
    assert_int_equal(v.n_left_out, 2 * N - CUZK_STATUS_ITEMS_MAX);
    assert_in_range(grown, 0, b.n + (2u << 20));
    cuzk_status_view_clear(&v);
    free(b.data);
}

static void test_long_texts(void **state)
{
    (void)state;
    enum { CUT = 4000 };
    char *text = malloc(2 * CUT + 100), *id = malloc(2 * CUT);
    for (int n = CUT - 1; n <= CUT + 1; n++) {
        cuzk_status_view v;
        memset(id, 'x', (size_t)n);
        id[n] = '\0';
        snprintf(text, 2 * CUT, "{\"pipelines\": [{\"job_id\": \"%s\"}]}", id);
        read_ok(&v, text);
        assert_int_equal(strlen(v.jobs[0].job_id), n < CUT ? n : CUT);
        cuzk_status_view_clear(&v);
    }
    /* a key that is longer than any known one is not taken for one */
    snprintf(text, 200, "{\"uptime_secs%080d\": 1, \"uptime_secs\\u0000\": 2}", 0);
    cuzk_status_view v;
    read_ok(&v, text);
    assert_true(v.uptime == 0);
    cuzk_status_view_clear(&v);
    free(text);
    free(id);
}

/* The last one of two members of a name counts; nothing of the first is kept. */
static void test_members_twice(void **state)
{
    (void)state;
    cuzk_status_view v;
    read_ok(&v, "{\"uptime_secs\": 1, \"uptime_secs\": 2, \"ready\": false, \"ready\": true,"
                "\"pipelines\": [{\"job_id\": \"a\", \"job_id\": \"b\"}],"
                "\"pipelines\": [{\"job_id\": \"c\"}]}");
    assert_true(v.uptime == 2 && !v.is_loading);
    assert_int_equal(v.n_jobs, 2);
    assert_string_equal(v.jobs[0].job_id, "b");
    assert_string_equal(v.jobs[1].job_id, "c");
    cuzk_status_view_clear(&v);
}

/* ---- what is wrong ---- */

static void test_every_beginning(void **state)
{
    (void)state;
    size_t n = strlen(whole) - 2; /* without it the last brace is missing */
    assert_int_equal(whole[n], '}');
    for (size_t k = 0; k <= n; k++) {
        cuzk_status_view v;
        cuzk_error err;
        char *copy = malloc(k + 1); /* of the exact size, for the sanitizer */
        memcpy(copy, whole, k);
        cuzk_status status = read_text(&v, copy, k, &err);
        free(copy);
        assert_true(status == CUZK_E_TRUNCATED || status == CUZK_E_FORMAT);
        assert_holds(err.text, "line ");
        assert_all_zero(&v);
    }
}

static void test_not_a_status(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "expected an object, found an array"},
        {"7", "expected an object, found a number"},
        {"null", "expected an object"},
        {"{} {}", "line 1, column "},
        {"{}x", "line 1, column "},
        {"{\"a\": 1,}", "line 1, column "},
        {"{\"pipelines\": [{}\n,]}", "line 2, column "},
        {"{\"journal\": {\"enabled\"}}", "line 1, column "},
        {"{\"uptime_secs\": 0x10}", "line 1, column "},
        {"{\"a\": \"\x01\"}", "line 1, column "},
        {"{\"a\": \"\xff\"}", "line 1, column "},
        {"{'a': 1}", "line 1, column "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_status_view v;
        cuzk_error err;
        assert_int_equal(read_text(&v, cases[i].text, strlen(cases[i].text), &err), CUZK_E_FORMAT);
        assert_holds(err.text, cases[i].message);
        assert_all_zero(&v);
    }
    char deep[200] = "{\"pipelines\": ";
    memset(deep + strlen(deep), '[', 100);
    cuzk_status_view v;
    cuzk_error err;
    assert_int_equal(read_text(&v, deep, strlen(deep), &err), CUZK_E_FORMAT);
    assert_all_zero(&v);
}

/* Any byte may be another: the reader says so or reads something, and forgets nothing. */
static void test_changed_bytes(void **state)
{
    (void)state;
    static const char bytes[] = "\"{}[],:0-eE.\\ntfu \x00\x80\xff";
    uint64_t seed = 1;
    size_t n = sizeof whole - 1;
    char *copy = malloc(n);
    for (int round = 0; round < 4000; round++) {
        cuzk_status_view v;
        cuzk_error err;
        memcpy(copy, whole, n);
        for (int k = 0; k <= round % 3; k++) {
            uint64_t r = cuzk_test_random(&seed);
            copy[r % n] = bytes[(r >> 32) % (sizeof bytes - 1)];
        }
        if (read_text(&v, copy, n, &err) != CUZK_OK) {
            assert_true(err.text[0] != '\0');
            assert_all_zero(&v);
        }
        cuzk_status_view_clear(&v);
    }
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_other_types),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_partitions_in_order_only),
        cmocka_unit_test(test_many_partitions),
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_members_twice),
        cmocka_unit_test(test_every_beginning),
        cmocka_unit_test(test_not_a_status),
        cmocka_unit_test(test_changed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
