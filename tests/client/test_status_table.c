/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tables of `cuzk status` and `cuzk queue`: columns stand under one another whatever ids hold, and
 * no terminal is told what to do. */
#include "client/status_look.h"

#include "client_test.h"
#include "random.h"

/* ---- a look, made by hand ---- */

enum { GPUS_MAX = 4 };

struct scene {
    cuzk_cli_args args;
    cuzk_session session;
    cuzk_look look;
    Cuzk__V1__GetStatusResponse rpc;
    Cuzk__V1__GPUStatus gpu[GPUS_MAX], *gpus[GPUS_MAX];
    Cuzk__V1__SRSStatus srs, *all_srs[1];
    Cuzk__V1__QueueStatus queue, *queues[1];
    void (*print)(const cuzk_look *, const cuzk_session *);
};

/* http: the text of /status; NULL: none. */
static void begin(struct scene *s, const char *http)
{
    memset(s, 0, sizeof *s);
    s->session.args = &s->args;
    snprintf(s->session.address, sizeof s->session.address, "unix:///run/cuzk.sock");
    cuzk__v1__get_status_response__init(&s->rpc);
    s->look.rpc = &s->rpc;
    s->rpc.gpus = s->gpus;
    for (int i = 0; i < GPUS_MAX; i++) {
        cuzk__v1__gpustatus__init(&s->gpu[i]);
        s->gpus[i] = &s->gpu[i];
        s->gpu[i].ordinal = (uint32_t)i;
    }
    cuzk__v1__srsstatus__init(&s->srs);
    s->all_srs[0] = &s->srs;
    s->rpc.loaded_srs = s->all_srs;
    cuzk__v1__queue_status__init(&s->queue);
    s->queues[0] = &s->queue;
    s->rpc.queues = s->queues;
    s->print = cuzk_look_print;
    if (http != NULL) {
        cuzk_error err;
        cuzk_error_clear(&err);
        s->look.has_http = true;
        if (cuzk_status_read(&s->look.http, http, strlen(http), &err) != CUZK_OK) {
            fail_msg("%s", err.text);
        }
    }
}

static void print_scene(void *user)
{
    struct scene *s = user;
    s->print(&s->look, &s->session);
}

static char *shown(struct scene *s)
{
    return captured(STDOUT_FILENO, print_scene, s);
}

static void end(struct scene *s, char *text)
{
    free(text);
    cuzk_status_view_clear(&s->look.http);
}

/* ---- the whole ---- */

static void test_layout(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, "{\"uptime_secs\": 100, \"memory\": {\"total_bytes\": 4096, \"used_bytes\": 1536},"
              "\"gpu_workers\": [{\"current_job\": \"job-1\", \"current_partition\": 3, "
              "\"busy_secs\": 75}, {\"reserve\": true}], \"pipelines\": [{\"job_id\": \"job-1\","
              "\"proof_kind\": \"snap-update\", \"state\": \"running\", \"priority\": 4, "
              "\"age_secs\": 3700, \"total_partitions\": 2, \"partitions_done\": 1, "
              "\"partitions\": [{\"index\": 0, \"state\": \"done\"}, {\"index\": 1, \"state\": "
              "\"gpu\"}]}], \"allocations\": {\"srs\": [{\"circuit_id\": \"snap-32g\", "
              "\"state\": \"ready\", \"last_used_secs_ago\": 61}]}}");
    s.rpc.n_gpus = 3;
    s.gpu[0].name = (char *)"NVIDIA H200";
    s.gpu[0].vram_total_bytes = UINT64_C(140) << 30;
    s.gpu[0].vram_free_bytes = UINT64_C(9) << 30;
    s.gpu[0].current_job_id = (char *)"job-1";
    s.gpu[0].current_proof_kind = (char *)"snap-update";
    s.gpu[1] = s.gpu[0];
    s.gpu[1].current_job_id = s.gpu[1].current_proof_kind = (char *)"";
    s.gpu[2].name = (char *)"cpu";
    s.rpc.n_queues = s.rpc.n_loaded_srs = 1;
    s.queue.proof_kind = (char *)"snap-update";
    s.queue.in_progress = 1;
    s.srs.circuit_id = (char *)"snap-32g";
    s.srs.size_bytes = UINT64_C(33) << 30;
    s.srs.tier = CUZK__V1__SRSSTATUS__TIER__WARM;
    s.srs.ref_count = 2;
    s.rpc.uptime_seconds = 100;
    s.rpc.total_proofs_completed = 1234567;
    char *text = shown(&s);
    assert_string_equal(
        text,
        "daemon at unix:///run/cuzk.sock, up 1 min 40 s; proofs: 1,234,567 completed, 0 failed\n"
        "memory: 1.5 KiB of 4.0 KiB reserved\n"
        "\n"
        "dev name                           memory                      proves       job\n"
        "0   NVIDIA H200                    9.0 GiB of 140.0 GiB free   snap-update  job-1 "
        "partition 3, 1 min 15 s\n"
        "0   NVIDIA H200                    9.0 GiB of 140.0 GiB free   idle         (for "
        "CRITICAL jobs only)\n"
        "2   cpu                            of the host                 idle         \n"
        "\n"
        "kind          pending  in progress\n"
        "snap-update         0            1\n"
        "\n"
        "parameters                     size  users  state\n"
        "snap-32g                   33.0 GiB      2  warm, ready\n"
        "\n"
        "job                                  kind         priority state            age  "
        "partitions\n"
        "job-1                                snap-update  critical running    1 h 1 min  1 of 2 "
        "[#d]\n"
        "(partitions: # done, d on a device, r ready for one, w witness, ! failed)\n");
    end(&s, text);
}

/* Why a job failed, and why a device is out, is shown to its end. */
static void test_reasons(void **state)
{
    (void)state;
    char reason[400], json[1200];
    memset(reason, 'x', sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    snprintf(
        json, sizeof json,
        "{\"pipelines\": [{\"job_id\": \"j\", \"state\": \"failed\", \"error\": "
        "\"opening %s: no such file\"}], \"devices\": [{\"id\": \"cuda:1\", \"state\": \"lost\", "
        "\"out\": true, \"reason\": \"%s: illegal address\"}]}",
        reason, reason);
    struct scene s;
    begin(&s, json);
    char *text = shown(&s);
    assert_holds(text, "\n    opening xxx");
    assert_holds(text, "xxx: no such file\n");
    assert_lacks(text, "..");
    assert_holds(text, "device cuda:1 is lost: xxx");
    assert_holds(text, "xxx: illegal address\n");
    end(&s, text);
}

/* A line for each key on each device; nothing where there is none. */
static void test_arrivals(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, "{\"devices\": [{\"id\": \"cuda:0\", \"residents\": [{\"circuit_id\": \"porep-32g\","
              "\"from\": \"file\", \"bytes\": 32212254720, \"gb_per_second\": 9.96}]},"
              "{\"id\": \"cuda:1\", \"residents\": [{\"circuit_id\": \"porep-32g\", \"from\": "
              "\"peer cuda:0\", \"bytes\": 32212254720, \"gb_per_second\": 120}]},"
              "{\"id\": \"cuda:2\", \"residents\": []}]}");
    char *text = shown(&s);
    assert_holds(text, "\n\n"
                       "on         parameters               from         size\n"
                       "cuda:0     porep-32g                file         30.0 GiB, 10.0 GB/s\n"
                       "cuda:1     porep-32g                peer cuda:0  30.0 GiB, 120.0 GB/s\n\n");
    end(&s, text);
    begin(&s, "{\"devices\": [{\"id\": \"cuda:0\", \"residents\": []}]}");
    text = shown(&s);
    assert_lacks(text, "parameters               from");
    end(&s, text);
}

/* Memory of devices by purpose: under one another by their names, whatever a device lacks. */
static void test_arenas(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, "{\"devices\": [{\"id\": \"cpu\"}, {\"id\": \"cuda:0\", \"memory\": {\"key\": "
              "47244640256, \"tables\": 0}}, {\"id\": \"cuda:1\", \"memory\": {\"tables\": 1536,"
              "\"other\": 5}}], \"pinned\": {\"limit_bytes\": 2048, \"used_bytes\": 1000,"
              "\"peak_bytes\": 1024}}");
    char *text = shown(&s);
    assert_holds(text, "\n\n"
                       "arena of   key         tables     \n"
                       "cuda:0     44.0 GiB    0 bytes    \n"
                       "cuda:1                 1.5 KiB    \n"
                       "pinned host memory: 1000 bytes of 2.0 KiB, at most 1.0 KiB until now\n\n");
    free(text);
    s.print = cuzk_look_print_queue;
    text = shown(&s);
    assert_lacks(text, "arena");
    end(&s, text);
    begin(&s,
          "{\"devices\": [{\"id\": \"cuda:0\", \"memory\": {\"a\": 1, \"b\": 2, \"c\": 3, \"d\": "
          "4, \"e\": 5, \"f\": 6, \"g\": 7, \"h\": 8, \"nine\": 9}}]}");
    text = shown(&s);
    assert_holds(text, " 8 bytes ");
    assert_lacks(text, "nine");
    assert_lacks(text, "pinned");
    end(&s, text);
}

static void test_nothing(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NULL);
    char *text = shown(&s);
    assert_string_equal(text, "daemon at unix:///run/cuzk.sock, up 0.0 s; proofs: 0 completed, 0 "
                              "failed\n\n"
                              "dev name                           memory                      "
                              "proves       job\n\n"
                              "kind          pending  in progress\nno jobs\n\n"
                              "no parameters are loaded\n\n"
                              "jobs one by one: name the daemon's HTTP port "
                              "(daemon.status_listen) with --status\n");
    free(text);
    s.args.quiet = true;
    text = shown(&s);
    assert_lacks(text, "one by one");
    free(text);
    snprintf(s.look.http_error, sizeof s.look.http_error, "why not");
    text = shown(&s);
    assert_holds(text, "\njobs are not shown: why not\n"); /* quiet or not */
    end(&s, text);
    begin(&s, "{}");
    text = shown(&s);
    assert_holds(text, "memory: 0 bytes of 0 bytes reserved\n");
    assert_holds(text, "\n\nno job\n");
    free(text);
    s.print = cuzk_look_print_queue;
    text = shown(&s);
    assert_string_equal(text, "\nkind          pending  in progress\nno jobs\n\n"
                              "no job is unfinished\n");
    end(&s, text);
}

/* ---- columns ---- */

/* Characters of a line up to `end`; the line must be UTF-8 without control characters. */
static size_t characters(const char *line, const char *end)
{
    size_t n = 0;
    for (const char *p = line; p < end; n++) {
        unsigned char c = (unsigned char)*p;
        size_t bytes = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        assert_true(c >= ' ' && c != 0x7f && (c < 0x80 || (c >= 0xc2 && c <= 0xf4)));
        assert_false(c == 0xc2 && (unsigned char)p[1] < 0xa0);
        for (size_t k = 1; k < bytes; k++) {
            assert_int_equal((unsigned char)p[k] & 0xc0, 0x80);
        }
        p += bytes;
    }
    assert_true(end >= line);
    return n;
}

/* Text of some length in which anything may occur: letters of all lengths, control characters,
 * what is no UTF-8. */
static void make_id(char *out, size_t n_pieces, uint64_t *seed)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "-",
                                         " ",
                                         "\n",
                                         "\x1b[2J",
                                         "\x7f",
                                         "\xc3\xbc",
                                         "\xe2\x82\xac",
                                         "\xf0\x9f\x90\x88",
                                         "\xc2\x9b",
                                         "\xff",
                                         "\xc3",
                                         "\xe2\x82",
                                         "\xf5\x80\x80\x80",
                                         "%s",
                                         "\t"};
    out[0] = '\0';
    for (size_t i = 0; i < n_pieces; i++) {
        const char *piece = pieces[cuzk_test_random(seed) % (sizeof pieces / sizeof *pieces)];
        memcpy(out + strlen(out), piece, strlen(piece) + 1);
    }
}

/* The line of text that holds a mark. */
static const char *line_of(const char *text, const char *mark, const char **end)
{
    const char *at = strstr(text, mark);
    assert_non_null(at);
    *end = strchr(at, '\n');
    while (at > text && at[-1] != '\n') {
        at--;
    }
    return at;
}

static void test_columns(void **state)
{
    (void)state;
    uint64_t seed = 17;
    char id[400], name[400], kind[400];
    for (size_t round = 0; round < 400; round++) {
        struct scene s;
        make_id(id, round % 60, &seed);
        make_id(name, round % 47, &seed);
        make_id(kind, round % 19, &seed);
        begin(&s, "{\"pipelines\": [{\"priority\": 2, \"total_partitions\": 7, \"age_secs\": 5}]}");
        cuzk_status_job *job = s.look.http.jobs;
        free(job->job_id);
        free(job->kind);
        job->job_id = strdup(id);
        job->kind = strdup(kind);
        s.rpc.n_gpus = s.rpc.n_queues = s.rpc.n_loaded_srs = 1;
        s.gpu[0].name = name;
        s.gpu[0].current_job_id = (char *)(id[0] == '\0' ? "x" : id);
        s.gpu[0].current_proof_kind = kind;
        s.queue.proof_kind = kind;
        s.queue.pending = 77777777;
        s.srs.circuit_id = id;
        s.srs.size_bytes = 1023;
        char *text = shown(&s);
        const char *end_of_line;
        /* where the columns behind a text of any length begin */
        static const struct {
            const char *mark;
            size_t column;
        } marks[] = {{"normal  ", 36 + 1 + 12 + 1},
                     {"of the host", 4 + 30 + 1},
                     {"77777777", 12 + 1},
                     {"1023 bytes", 24 + 1}};
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            const char *line = line_of(text, marks[i].mark, &end_of_line);
            assert_int_equal(characters(line, strstr(line, marks[i].mark)), marks[i].column);
            assert_in_range(characters(line, end_of_line), 1, 132);
        }
        end(&s, text);
    }
}

/* A long id keeps its beginning and its end, where ids differ. */
static void test_cut_ids(void **state)
{
    (void)state;
    static const struct {
        const char *id, *shown;
    } cases[] = {
        {"123456789012345678901234567890123456", "123456789012345678901234567890123456 "},
        {"first-0123456789012345678901234567-last", "first-01234567890..678901234567-last "},
        {"\xc3\xbc\xc3\xbc\xc3\xbc", "\xc3\xbc\xc3\xbc\xc3\xbc   "},
        {"a\x1b[31mb\nc", "a?[31mb?c   "},
        {"a\xc2\x9b"
         "31mb",
         "a??31mb   "},
        {"a\xffg\xc3", "a?g?   "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        begin(&s, "{\"pipelines\": [{}]}");
        free(s.look.http.jobs[0].job_id);
        s.look.http.jobs[0].job_id = strdup(cases[i].id);
        char *text = shown(&s);
        char wanted[80];
        snprintf(wanted, sizeof wanted, "\n%s", cases[i].shown);
        assert_holds(text, wanted);
        end(&s, text);
    }
}

/* ---- how much of it ---- */

static void test_many_jobs(void **state)
{
    (void)state;
    char http[8000] = "{\"pipelines_left_out\": 1000, \"pipelines\": [";
    for (int i = 0; i < 50; i++) {
        snprintf(http + strlen(http), 80,
                 "%s{\"job_id\": \"open-%d\"},{\"job_id\": \"done-%d\", "
                 "\"state\": \"completed\"}",
                 i == 0 ? "" : ",", i, i);
    }
    snprintf(http + strlen(http), 80, "]}");
    struct scene s;
    begin(&s, http);
    char *text = shown(&s);
    assert_holds(text, "open-29 ");
    assert_lacks(text, "open-30 ");
    assert_holds(text, "\n\xe2\x80\xa6 and 1,020 more\n"); /* 20 here, 1,000 that were left out */
    assert_holds(text, "done-4 ");
    assert_lacks(text, "done-5 ");
    assert_holds(text, "\n\xe2\x80\xa6 and 45 more that have ended\n");
    free(text);
    s.print = cuzk_look_print_queue;
    text = shown(&s);
    assert_holds(text, "open-49 ");
    assert_lacks(text, "done-");
    assert_holds(text, "\n\xe2\x80\xa6 and 1,000 more\n");
    end(&s, text);
}

static void test_partitions_drawn(void **state)
{
    (void)state;
    for (int n = 0; n <= 66; n++) {
        char http[6000] = "", drawn[80] = " [";
        snprintf(http, sizeof http, "{\"pipelines\": [{\"total_partitions\": %d, \"partitions\": [",
                 n);
        for (int i = 0; i < n; i++) {
            snprintf(http + strlen(http), 80, "%s{\"index\": %d, \"state\": \"done\"}",
                     i == 0 ? "" : ",", i);
            strcat(drawn, "#");
        }
        strcat(http, "]}]}");
        strcat(drawn, "]\n");
        struct scene s;
        begin(&s, http);
        char *text = shown(&s);
        if (n >= 2 && n <= 64) { /* one needs no picture, more than a line has none */
            assert_holds(text, drawn);
        } else {
            assert_lacks(text, " [");
        }
        end(&s, text);
    }
}

static void test_has_ended(void **state)
{
    (void)state;
    static const struct {
        const char *state;
        unsigned n_partitions, n_done;
        bool has_ended;
    } cases[] = {
        {"completed", 0, 0, true}, {"failed", 9, 1, true},  {"cancelled", 9, 0, true},
        {"running", 9, 8, false},  {"running", 9, 9, true}, /* an old daemon tells no states */
        {"", 0, 0, false},         {"queued", 1, 0, false}, {"Completed", 1, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_status_job job = {.state = (char *)cases[i].state,
                               .n_partitions = cases[i].n_partitions,
                               .n_done = cases[i].n_done};
        assert_int_equal(cuzk_look_has_ended(&job), cases[i].has_ended);
    }
}

/* Each trouble alone makes its one line, and nothing else does. */
static void test_troubles(void **state)
{
    (void)state;
    static const struct {
        const char *http, *line;
    } cases[] = {
        {"{\"draining\": true, \"ready\": false}", "\nit is shutting down: no new work is taken\n"},
        {"{\"ready\": false}", "\nit is not ready yet: what srs.preload names is not loaded\n"},
        {"{\"journal\": {\"enabled\": false}}", "\nthere is no journal: jobs are lost when it "
                                                "ends\n"},
        {"{\"journal\": {\"failed\": true}}", "\nthe journal cannot be written: new work is "
                                              "refused\n"},
        {"{\"journal\": {\"was_damaged\": true, \"salvaged_jobs\": 1000}}",
         "\nthe journal was damaged at the start; 1,000 unfinished jobs were salvaged\n"},
        {"{\"devices\": [{\"id\": \"cuda:3\", \"out\": true, \"reason\": \"lost\\nit\"}]}",
         "\ndevice cuda:3 is no longer used: lost?it\n"},
        {"{\"devices\": [{\"id\": \"cuda:3\", \"out\": true, \"state\": \"drained\", "
         "\"reason\": \"as asked\"}]}",
         "\ndevice cuda:3 is drained: as asked\n"},
        {"{\"ready\": true, \"draining\": false, \"journal\": {\"enabled\": true, \"failed\": "
         "false, \"was_damaged\": false, \"salvaged_jobs\": 5}, \"devices\": [{\"id\": \"cuda:0\", "
         "\"out\": false}]}",
         NULL},
    };
    enum { N = sizeof cases / sizeof *cases };
    for (size_t i = 0; i < N; i++) {
        struct scene s;
        begin(&s, cases[i].http);
        char *text = shown(&s);
        for (size_t k = 0; k < N; k++) {
            if (k == i && cases[k].line != NULL) {
                assert_holds(text, cases[k].line);
            } else if (cases[k].line != NULL) {
                assert_lacks(text, cases[k].line);
            }
        }
        end(&s, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),           cmocka_unit_test(test_arenas),
        cmocka_unit_test(test_reasons),          cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_nothing),          cmocka_unit_test(test_columns),
        cmocka_unit_test(test_cut_ids),          cmocka_unit_test(test_many_jobs),
        cmocka_unit_test(test_partitions_drawn), cmocka_unit_test(test_has_ended),
        cmocka_unit_test(test_troubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
