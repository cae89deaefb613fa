/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The configuration: every bound and unit of the table, sources and their order, what is wrong with
 * a file told line by line, the reference daemon's file, and the texts made from the table. */
#include "base/read_file.h"
#include "server/address.h"
#include "server/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cuzk_config_report report;

/* Load a text under the name f.toml with one flag and one variable, each of which may be NULL. */
static cuzk_config *load(const char *text, const char *flag, const char *variable)
{
    char *environment[] = {(char *)variable, NULL};
    const char *flags[] = {flag, NULL};
    const char *names[] = {"--set", NULL};
    cuzk_config_sources sources = {.path = "f.toml",
                                   .text = text,
                                   .text_bytes = strlen(text),
                                   .environment = environment,
                                   .flags = flags,
                                   .flag_names = names};
    cuzk_config_report_clear(&report);
    cuzk_config *config;
    cuzk_error err = {0};
    cuzk_status status = cuzk_config_load(&config, &report, &sources, &err);
    assert_true((status == CUZK_OK) == (config != NULL));
    assert_true((status == CUZK_OK) == (report.n_errors == 0));
    assert_true((status == CUZK_OK) == (err.text[0] == 0));
    return config;
}

static cuzk_config *loads(const char *text)
{
    cuzk_config *config = load(text, NULL, NULL);
    if (config == NULL) {
        fail_msg("refused: %s\n%s", text, report.errors.data);
    }
    return config;
}

static void holds(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL) {
        fail_msg("lacks \"%s\":\n%s", part, text != NULL ? text : "(nothing)");
    }
}

static void refuses(const char *text, const char *part)
{
    cuzk_config *config = load(text, NULL, NULL);
    if (config != NULL) {
        fail_msg("accepted: %s", text);
    }
    holds(report.errors.data, part);
}

static void test_defaults(void **state)
{
    (void)state;
    cuzk_config *c = loads("");
    assert_int_equal(report.n_warnings, 0);
    assert_int_equal(c->daemon_listen.n, 1);
    assert_string_equal(c->daemon_listen.items[0], "unix:///run/curio/cuzk.sock");
    assert_string_equal(c->srs_param_cache, "/data/zk/params");
    assert_true(c->memory_total_budget == 0);
    assert_true(c->memory_safety_margin == 5 * CUZK_GIB);
    assert_true(c->memory_eviction_min_idle == 300 * CUZK_SEC);
    assert_true(c->rpc_max_message == 256 * CUZK_MIB);
    assert_int_equal(c->daemon_socket_mode, 0660);
    assert_int_equal(c->gpus_gpu_workers_per_device, 2);
    assert_int_equal(c->logging_level, 2);
    cuzk_config_destroy(c);
}

/* The bounds of every number, size and time of the table, and what lies just outside. */
static void test_bounds(void **state)
{
    (void)state;
    size_t n, n_checked = 0;
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const cuzk_config_key *k = &keys[i];
        if (k->type != CUZK_CONFIG_NUMBER && k->type != CUZK_CONFIG_SIZE &&
            k->type != CUZK_CONFIG_DURATION) {
            continue;
        }
        uint64_t unit = k->type == CUZK_CONFIG_DURATION ? CUZK_MS : 1;
        const char *suffix = k->type == CUZK_CONFIG_DURATION ? "ms" : "";
        assert_true(k->lo <= k->hi);
        for (int side = 0; side < 4; side++) {
            uint64_t value = (side < 2 ? k->lo : k->hi) / unit;
            bool outside = side == 1 || side == 3;
            if (side == 1 && value == 0) {
                continue;
            }
            value = side == 1 ? value - 1 : side == 3 ? value + 1 : value;
            char flag[160];
            snprintf(flag, sizeof flag, "%s=%llu%s", k->key, (unsigned long long)value, suffix);
            cuzk_config *c = load("", flag, NULL);
            if ((c == NULL) != outside) {
                fail_msg("%s: %s", flag, c == NULL ? report.errors.data : "accepted");
            }
            if (outside) {
                holds(report.errors.data, "--set: ");
                holds(report.errors.data, " is not allowed: expected ");
            } else {
                assert_true(*(const uint64_t *)((const char *)c + k->offset) == value * unit);
            }
            cuzk_config_destroy(c);
            n_checked++;
        }
        if (k->words != NULL) {
            char flag[160];
            snprintf(flag, sizeof flag, "%s=%s", k->key, k->words);
            cuzk_config *c = load("", flag, NULL);
            assert_non_null(c);
            assert_true(*(const uint64_t *)((const char *)c + k->offset) == 0);
            cuzk_config_destroy(c);
        }
    }
    assert_true(n_checked > 60);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } sizes[] = {
        {"\"5GiB\"", 5368709120},
        {"\"5 GiB\"", 5368709120},
        {"\"1TiB\"", 1099511627776},
        {"\"300MiB\"", 314572800},
        {"\"400000KiB\"", 409600000},
        {"\"1TB\"", 1000000000000},
        {"\"3GB\"", 3000000000},
        {"\"300MB\"", 300000000},
        {"\"300000kB\"", 300000000},
        {"\"300000KB\"", 300000000},
        {"\"300000000B\"", 300000000},
        {"\"300000000\"", 300000000},
        {"300000000", 300000000},
        {"\"5gib\"", 0},
        {"\"5G\"", 0},
        {"\"GiB\"", 0},
        {"\"5  GiB\"", 0},
        {"\" 5GiB\"", 0},
        {"\"5GiB \"", 0},
        {"\"-5GiB\"", 0},
        {"\"5.5GiB\"", 0},
        {"\"\"", 0},
        {"-1", 0},
        {"5.0", 0},
        {"true", 0},
        {"[300000000]", 0},
        {"\"18446744073709551616\"", 0},
        {"\"17179869184GiB\"", 0},
        {"\"99999999999999999999\"", 0},
        {"2024-01-01", 0},
    };
    static const struct {
        const char *text;
        uint64_t ms;
    } times[] = {
        {"\"1500ms\"", 1500},
        {"\"2000us\"", 2},
        {"\"90s\"", 90000},
        {"\"7m\"", 420000},
        {"\"2h\"", 7200000},
        {"\"3d\"", 259200000},
        {"\"45\"", 45000},
        {"45", 45000},
        {"\"45 s\"", 45000},
        {"\"1w\"", 0},
        {"\"5min\"", 0},
        {"\"m\"", 0},
        {"1.5", 0},
        {"-1", 0},
        {"\"9999999999d\"", 0},
        {"9223372036854775807", 0},
    };
    char text[160];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        snprintf(text, sizeof text, "[memory]\ntotal_budget = %s\n", sizes[i].text);
        if (sizes[i].bytes == 0) {
            refuses(text, "f.toml:2: memory.total_budget: ");
            continue;
        }
        cuzk_config *c = loads(text);
        assert_true(c->memory_total_budget == sizes[i].bytes);
        cuzk_config_destroy(c);
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        snprintf(text, sizeof text, "[daemon]\ndrain_time = %s\n", times[i].text);
        if (times[i].ms == 0) {
            refuses(text, "f.toml:2: daemon.drain_time: ");
            continue;
        }
        cuzk_config *c = loads(text);
        assert_true(c->daemon_drain_time == times[i].ms * CUZK_MS);
        cuzk_config_destroy(c);
    }
}

/* Every type against every other form of a value. */
static void test_types(void **state)
{
    (void)state;
    refuses("rpc.reflection = \"true\"", "f.toml:1: rpc.reflection: a text is not allowed: "
                                         "expected true or false");
    refuses("rpc.threads = \"2\"", "expected a whole number, from 1 to 64");
    refuses("rpc.threads = true", "true or false is not allowed");
    refuses("tls.cert = 5", "expected a text");
    refuses("tls.cert = [\"a\"]", "expected a text");
    refuses("tls.cert = \"a\\u0000b\"", "the text holds a NUL");
    refuses("logging.level = \"loud\"", "expected one of error, warn, info, debug");
    refuses("logging.level = 1", "expected one of");
    refuses("daemon.listen = []", "0 items is not allowed: expected a text or a list of 1 to 16");
    refuses("daemon.listen = \"\"", "0 items is not");
    refuses("memory.total_budget = 5.5",
            "memory.total_budget: a fraction or a date is not allowed: ");
    refuses("otel.endpoint = \"localhost:4318\"",
            "f.toml:1: otel.endpoint: \"localhost:4318\" is no URL");
    refuses("otel.endpoint = \"http:///v1/traces\"", "is no URL");
    refuses("otel.endpoint = \"ftp://user:secret@host/\"", "is no URL");
    refuses("daemon.listen = [[\"unix:///a\"]]", "item 1 of the list is neither");
    refuses("daemon.listen = [\"unix:///a\", -1]", "item 2 of the list is neither");
    refuses("daemon.listen.more = 1", "daemon.listen.more: there is no such key");
    refuses("[daemon.listen]\n", "daemon.listen: a table is not allowed");
    refuses("daemon = 1\n", "daemon: there is no such key");
    refuses("[daemon]\nlisten = \"unix:///a\"\nlisten = \"unix:///b\"\n", "f.toml:3: ");
    refuses("[daemon\n", "f.toml:1: ");
    refuses("a = \"\\x\"", "f.toml:1: ");
    refuses("\xff = 1", "f.toml:1: ");
    cuzk_config *c = loads("daemon.listen = [\"unix:///a,b\", \"127.0.0.1:1\"]\n"
                           "gpus.devices = [0, \"cuda:1\"]\nrpc.reflection = false\n"
                           "daemon.socket_mode = 0o600\n");
    assert_int_equal(c->daemon_listen.n, 2);
    assert_string_equal(c->daemon_listen.items[0], "unix:///a,b");
    assert_string_equal(c->gpus_devices.items[0], "0");
    assert_string_equal(c->gpus_devices.items[1], "cuda:1");
    assert_false(c->rpc_reflection);
    assert_int_equal(c->daemon_socket_mode, 0600);
    cuzk_config_destroy(c);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    static const struct {
        const char *key, *nearest; /* NULL: none is named */
    } cases[] = {
        {"daemon.listn", "daemon.listen"},
        {"deamon.listen", "daemon.listen"},
        {"listen", "daemon.listen"},
        {"listten", "daemon.listen"},
        {"memory.totalbudget", "memory.total_budget"},
        {"rpc.status_listen", "daemon.status_listen"},
        {"gpus.gpu_worker_per_device", "gpus.gpu_workers_per_device"},
        {"logging.lvl", "logging.level"},
        {"foo", NULL},
        {"xyzzy.frobnicate", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128], part[128];
        snprintf(text, sizeof text, "\n\n%s = 1\n", cases[i].key);
        snprintf(part, sizeof part, "f.toml:3: %s: there is no such key%s%s", cases[i].key,
                 cases[i].nearest != NULL ? "; the nearest is " : " (",
                 cases[i].nearest != NULL ? cases[i].nearest : "");
        refuses(text, part);
    }
    refuses("[daemon]\n[foo]\n", "f.toml:2: foo: there is no such key");
    refuses("test.faults = [\"x\"]", "this is not the tests' program");
    char long_key[400];
    memset(long_key, 'a', sizeof long_key);
    strcpy(long_key + sizeof long_key - 5, " = 1");
    refuses(long_key, "there is no such key");
    refuses("\"a\\nb\" = 1", "a?b: there is no such key");
}

/* All that is wrong is told at once, in the order of the lines; nothing is half applied. */
static void test_all_errors(void **state)
{
    (void)state;
    refuses("[rpc]\nthreads = 0\nmax_streams = \"x\"\nfoo = 1\n[daemon]\nlisten = \"host:1\"\n",
            "f.toml:2: rpc.threads");
    assert_int_equal(report.n_errors, 4);
    const char *at = report.errors.data;
    static const char *const order[] = {"f.toml:2: ", "f.toml:3: ", "f.toml:4: rpc.foo",
                                        "f.toml:6: daemon.listen: address \"host:1\""};
    for (size_t i = 0; i < 4; i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
}

static void test_many_errors(void **state)
{
    (void)state;
    cuzk_text text = {0};
    for (int i = 0; i < 1000; i++) {
        cuzk_text_printf(&text, "k%d = 1\n", i);
    }
    refuses(text.data, "f.toml:100: k99: there is no such key");
    holds(report.errors.data, "\nand more\n");
    assert_null(strstr(report.errors.data, "k100"));
    assert_int_equal(report.n_errors, 1000);
    cuzk_text_clear(&text);
}

static void test_together(void **state)
{
    (void)state;
    refuses("daemon.listen = \"0.0.0.0:9820\"", "is reached by other machines, without TLS");
    refuses("daemon.listen = \"[::]:9820\"", "is reached by other machines");
    refuses("daemon.listen = [\"unix:///a\", \"unix:///a\"]", "is there twice");
    refuses("daemon.listen = \"localhost:9820\"", "names are not looked up");
    refuses("daemon.status_listen = \"unix:///a\"", "expected IP:PORT");
    refuses("tls.cert = \"/c\"", "tls.key is missing");
    refuses("tls.key = \"/c\"", "tls.cert is missing");
    refuses("tls.client_ca = \"/c\"", "tls.cert and tls.key are missing");
    refuses("auth.admin_names = [\"a\"]", "without tls.client_ca");
    refuses("gpus.devices = [\"gpu\"]", "\"gpu\" is no device");
    refuses("gpus.devices = [0, 0]", "\"0\" is there twice");
    refuses("memory.total_budget = \"2GiB\"\nmemory.intake = \"2GiB\"",
            "f.toml:2: memory.intake: requests would take all of memory.total_budget");
    refuses("journal.path = \"journal.db\"", "expected a path that begins with /");
    cuzk_config *c = loads("daemon.listen = \"0.0.0.0:9820\"\ndaemon.allow_plaintext = true\n"
                           "daemon.status_listen = \"0.0.0.0:1\"\njournal.path = \"none\"\n");
    assert_int_equal(report.n_warnings, 3);
    holds(report.warnings.data, "f.toml:1: daemon.listen: other machines reach the daemon");
    holds(report.warnings.data, "http.allow_remote");
    holds(report.warnings.data, "without a journal");
    cuzk_config_destroy(c);
    c = loads("daemon.listen = \"0.0.0.0:1\"\ntls.cert = \"/c\"\ntls.key = \"/k\"\n");
    assert_int_equal(report.n_warnings, 0);
    cuzk_config_destroy(c);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int form; /* 0: refused, 1: unix, 2: loopback, 3: reached by others */
    } cases[] = {
        {"unix:///run/a", 1},
        {"unix:/run/a", 1},
        {"127.0.0.1:9820", 2},
        {"127.9.9.9:0", 2},
        {"[::1]:9820", 2},
        {"0.0.0.0:9820", 3},
        {"10.1.2.3:65535", 3},
        {"[::]:1", 3},
        {"[fe80::1]:1", 3},
        {"unix://run/a", 0},
        {"unix:a", 0},
        {"unix:", 0},
        {"localhost:1", 0},
        {"127.0.0.1", 0},
        {"127.0.0.1:", 0},
        {"127.0.0.1:65536", 0},
        {"127.0.0.1:x", 0},
        {"127.0.0.1:-1", 0},
        {":9820", 0},
        {"::1:9820", 0},
        {"[::1]", 0},
        {"[::1]9820", 0},
        {"", 0},
        {"[", 0},
        {"1.2.3:4", 0},
        {"1.2.3.4:1 ", 0},
        {"http://1.2.3.4:1", 0},
        {"[1.2.3.4]:5", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_address a;
        cuzk_error err = {0};
        cuzk_status status = cuzk_address_parse(&a, cases[i].text, &err);
        int form = status != CUZK_OK ? 0 : a.is_unix ? 1 : a.is_local ? 2 : 3;
        if (form != cases[i].form) {
            fail_msg("\"%s\": %d, expected %d (%s)", cases[i].text, form, cases[i].form, err.text);
        }
    }
    char path[256] = "unix://";
    memset(path + 7, '/', 108);
    cuzk_address a;
    cuzk_error err = {0};
    assert_int_equal(cuzk_address_parse(&a, path, &err), CUZK_E_ARGUMENT);
    holds(err.text, "has 108 bytes, the system allows 107");
    path[7 + 107] = 0;
    assert_int_equal(cuzk_address_parse(&a, path, &err), CUZK_OK);
}

/* Table, file, environment, flag: each over the one before. */
static void test_order(void **state)
{
    (void)state;
    const char *file = "rpc.threads = 3\nlogging.level = \"warn\"\n";
    cuzk_config *c = load(file, NULL, NULL);
    assert_int_equal(c->rpc_threads, 3);
    cuzk_config_destroy(c);
    c = load(file, NULL, "CUZK_RPC_THREADS=4");
    assert_int_equal(c->rpc_threads, 4);
    assert_int_equal(c->logging_level, 1);
    cuzk_config_destroy(c);
    c = load(file, "rpc.threads=5", "CUZK_RPC_THREADS=4");
    assert_int_equal(c->rpc_threads, 5);
    cuzk_text text = {0};
    cuzk_config_print(&text, c);
    holds(text.data, "threads = 5                                      # --set\n");
    holds(text.data, "level = \"warn\"                                   # f.toml:2\n");
    cuzk_text_clear(&text);
    cuzk_config_destroy(c);
    c = load("", "daemon.listen= unix:///a , 127.0.0.1:1,", "CUZK_DAEMON_SOCKET_MODE=0600");
    assert_int_equal(c->daemon_listen.n, 2);
    assert_string_equal(c->daemon_listen.items[0], "unix:///a");
    assert_int_equal(c->daemon_socket_mode, 0600);
    cuzk_config_destroy(c);
    c = load("", "daemon.listen=[\"unix:///a,b\", \"[::1]:1\"]", "CUZK_GPUS_DEVICES=[0, \"cpu\"]");
    assert_int_equal(c->daemon_listen.n, 2);
    assert_string_equal(c->daemon_listen.items[0], "unix:///a,b");
    assert_string_equal(c->daemon_listen.items[1], "[::1]:1");
    assert_int_equal(c->gpus_devices.n, 2);
    cuzk_config_destroy(c);
    c = load("", "daemon.listen=[::1]:1,[::1]:2", NULL);
    assert_int_equal(c->daemon_listen.n, 2);
    cuzk_config_destroy(c);
    assert_null(load("", "daemon.listen=[\"unix:///a\", 1.5]", NULL));
    assert_null(load("", "daemon.listen=[a]", NULL));
    assert_null(load("", "daemon.listen=[]", NULL));
    assert_null(load("", "daemon.listen=[\"unix:///a\"]\nx = []", NULL));
    assert_null(load("", NULL, "CUZK_RPC_THREADS=four"));
    holds(report.errors.data, "CUZK_RPC_THREADS: rpc.threads: \"four\" is not allowed");
    assert_null(load("", "rpc.threads", NULL));
    holds(report.errors.data, "--set: \"rpc.threads\": expected SECTION.KEY=VALUE");
    assert_null(load("", "rpc.treads=1", NULL));
    holds(report.errors.data,
          "--set: rpc.treads: there is no such key; the nearest is rpc.threads");
    assert_null(load("", "tls.cert=\xff", NULL));
    holds(report.errors.data, "not UTF-8");
    c = load("", NULL, "CUZK_RPC_TREADS=4");
    holds(report.warnings.data, "CUZK_RPC_TREADS: no key has this name; the nearest is "
                                "CUZK_RPC_THREADS");
    cuzk_config_destroy(c);
    c = load("", NULL, "CUZK_CPU=portable");
    assert_int_equal(report.n_warnings, 0);
    cuzk_config_destroy(c);
    assert_null(load("", NULL, "CUZK_TEST_FAULTS=x"));
}

/* A file of the reference daemon with every key that it knows. */
static void test_reference_file(void **state)
{
    (void)state;
    cuzk_config *c =
        loads("[daemon]\nlisten = \"127.0.0.1:9820\"\nstatus_listen = \"127.0.0.1:9821\"\n"
              "[srs]\nparam_cache = \"/p\"\npreload = [\"porep-32g\", \"winning-32g\"]\n"
              "[memory]\ntotal_budget = \"200GiB\"\nsafety_margin = \"10GB\"\n"
              "eviction_min_idle = \"90s\"\npinned_budget = \"50GiB\"\n"
              "working_memory_budget = \"80GiB\"\n"
              "[gpus]\ndevices = [0, 1]\ngpu_threads = 32\ngpu_workers_per_device = 1\n"
              "[scheduler]\nmax_batch_size = 1\nmax_batch_wait_ms = 10000\nsort_by_type = true\n"
              "[synthesis]\nthreads = 8\npartition_workers = 10\n"
              "[pipeline]\nenabled = true\nsynthesis_lookahead = 1\nsynthesis_concurrency = 4\n"
              "max_parallel_synthesis = 18\nslot_size = 0\nmax_gpu_queue_depth = 8\n"
              "[logging]\nlevel = \"info,cuzk=debug\"\nformat = \"pretty\"\n");
    assert_string_equal(c->daemon_status_listen, "127.0.0.1:9821");
    assert_int_equal(c->srs_preload.n, 2);
    assert_true(c->memory_total_budget == 200 * CUZK_GIB);
    assert_true(c->memory_safety_margin == 10000000000);
    assert_true(c->memory_pinned_budget == 50 * CUZK_GIB);
    assert_true(c->memory_eviction_min_idle == 90 * CUZK_SEC);
    assert_int_equal(c->gpus_devices.n, 2);
    assert_int_equal(c->gpus_gpu_threads, 32);
    assert_int_equal(c->pipeline_max_parallel_synthesis, 18);
    assert_int_equal(c->pipeline_max_gpu_queue_depth, 8);
    assert_int_equal(c->logging_level, 2);
    static const char *const dead[] = {"memory.working_memory_budget",
                                       "scheduler.max_batch_size",
                                       "scheduler.max_batch_wait_ms",
                                       "scheduler.sort_by_type",
                                       "synthesis.partition_workers",
                                       "pipeline.enabled",
                                       "pipeline.synthesis_lookahead",
                                       "pipeline.slot_size",
                                       "logging.level: \"info,cuzk=debug\" is taken as \"info\"",
                                       "logging.format: \"pretty\""};
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        holds(report.warnings.data, dead[i]);
    }
    assert_int_equal(report.n_warnings, sizeof dead / sizeof dead[0]);
    cuzk_config_destroy(c);
}

/* What is printed reads back to the same values, with values that need escapes too. */
static void test_round_trip(void **state)
{
    (void)state;
    static const char *const files[] = {
        "",
        "daemon.listen = [\"unix:///a \\\"b\\\\\", \"127.0.0.1:1\"]\nsrs.param_cache = "
        "\"/\\u00e9\\t\\u007f'#\\n\"\nmemory.total_budget = 300000001\nmemory.safety_margin = 0\n"
        "jobs.abandon_time = \"never\"\njournal.path = \"none\"\nlogging.format = \"json\"\n"
        "daemon.drain_time = \"1001ms\"\ndaemon.socket_mode = 0\nrpc.reflection = false\n",
    };
    size_t n;
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    for (size_t f = 0; f < 2; f++) {
        cuzk_config *a = loads(files[f]);
        cuzk_text text = {0};
        cuzk_config_print(&text, a);
        assert_false(text.failed);
        cuzk_config *b = loads(text.data);
        for (size_t i = 0; i < n; i++) {
            if (!cuzk_config_is_equal(a, b, &keys[i])) {
                fail_msg("%s differs:\n%s", keys[i].key, text.data);
            }
        }
        cuzk_text_clear(&text);
        cuzk_config_destroy(a);
        cuzk_config_destroy(b);
    }
    cuzk_config *a = loads("rpc.threads = 3"), *b = loads("rpc.threads = 4");
    assert_false(cuzk_config_is_equal(a, b, cuzk_config_find("rpc.threads")));
    cuzk_config_destroy(a);
    cuzk_config_destroy(b);
}

static void test_explain(void **state)
{
    (void)state;
    size_t n;
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        cuzk_text text = {0};
        assert_true(cuzk_config_explain(&text, keys[i].key));
        holds(text.data, keys[i].is_live ? "at SIGHUP" : "with a restart");
        holds(text.data, "takes ");
        cuzk_text_clear(&text);
    }
    cuzk_text text = {0};
    assert_true(cuzk_config_explain(&text, "daemon.listen"));
    holds(text.data, "environment  CUZK_DAEMON_LISTEN\n");
    cuzk_text_clear(&text);
    assert_true(cuzk_config_explain(&text, "scheduler.sort_by_type"));
    holds(text.data, "has no effect");
    cuzk_text_clear(&text);
    assert_false(cuzk_config_explain(&text, "daemon"));
    assert_null(text.data);
}

static void same_as_file(const cuzk_text *text, const char *path)
{
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        fail_msg("%s cannot be opened", path);
    }
    char *data = calloc(1, text->size + 2);
    size_t n = fread(data, 1, text->size + 1, f);
    fclose(f);
    if (n != text->size || memcmp(data, text->data, n) != 0) {
        fail_msg("%s is not what the table says: make it with `cuzk config`", path);
    }
    free(data);
}

/* The example and the manual in the tree are those of the table; the example holds the defaults. */
static void test_example(void **state)
{
    (void)state;
    cuzk_text text = {0};
    cuzk_config_write_example(&text);
    assert_false(text.failed);
    cuzk_config *a = loads(""), *b = loads(text.data);
    size_t n;
    const cuzk_config_key *keys = cuzk_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        assert_true(cuzk_config_is_equal(a, b, &keys[i]));
    }
    cuzk_config_destroy(a);
    cuzk_config_destroy(b);
    same_as_file(&text, "examples/cuzk.toml");
    cuzk_text_clear(&text);
    cuzk_config_write_manual(&text);
    same_as_file(&text, "docs/configuration.md");
    cuzk_text_clear(&text);
}

static void test_files(void **state)
{
    (void)state;
    cuzk_config *config;
    cuzk_error err = {0};
    cuzk_config_sources sources = {.path = "/nonexistent/cuzk.toml"};
    cuzk_config_report_clear(&report);
    assert_int_equal(cuzk_config_load(&config, &report, &sources, &err), CUZK_E_FILE);
    assert_null(config);
    holds(err.text, "there is no such file");
    sources.path = "/";
    err = (cuzk_error){0};
    assert_int_equal(cuzk_config_load(&config, &report, &sources, &err), CUZK_E_FILE);
    holds(err.text, "Is a directory");
    sources.path = "/dev/zero";
    err = (cuzk_error){0};
    assert_int_equal(cuzk_config_load(&config, &report, &sources, &err), CUZK_E_FILE);
    holds(err.text, "larger than 1 MiB");
    char path[] = "/tmp/cuzk-config-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fputs("# nothing\n[rpc]\nthreads = 7\n", f);
    fflush(f);
    sources.path = path;
    err = (cuzk_error){0};
    assert_int_equal(cuzk_config_load(&config, &report, &sources, &err), CUZK_OK);
    assert_int_equal(config->rpc_threads, 7);
    assert_string_equal(config->path, path);
    cuzk_config_destroy(config);
    for (size_t i = 0; i <= CUZK_SMALL_FILE_MAX; i++) {
        fputc('\n', f);
    }
    fclose(f);
    assert_int_equal(cuzk_config_load(&config, &report, &sources, &err), CUZK_E_FILE);
    holds(err.text, "larger than 1 MiB");
    remove(path);
}

static int clear_report(void **state)
{
    (void)state;
    cuzk_config_report_clear(&report);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_units),          cmocka_unit_test(test_types),
        cmocka_unit_test(test_unknown_keys),   cmocka_unit_test(test_all_errors),
        cmocka_unit_test(test_many_errors),    cmocka_unit_test(test_together),
        cmocka_unit_test(test_addresses),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_reference_file), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_explain),        cmocka_unit_test(test_example),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, clear_report);
}
