/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk bench --server. */
#include "client/bench.h"
#include "client/commands.h"

#include <stdlib.h>
#include <string.h>

/* What the messages of a kind point into. */
struct input {
    cuzk_filecoin_request *request;
    cuzk_cli_vanilla vanilla;
    cuzk_client_job job;
};

/* One command on the way. */
struct command {
    cuzk_cli_args *args;
    cuzk_bench bench;
    struct input inputs[CUZK_BENCH_KINDS - 1]; /* Filecoin's */
    Cuzk__V1__ProveWitnessRequest witness;
    char *witness_data, *circuit;
    Cuzk__V1__Priority priority;
};

static const struct {
    const char *name, *option, *request_option;
    cuzk_filecoin_kind kind;
} filecoin_kinds[] = {{"porep", "--porep", "--porep-request", CUZK_FILECOIN_POREP},
                      {"snap", "--snap", "--snap-request", CUZK_FILECOIN_UPDATE},
                      {"window", "--window", "--window-request", CUZK_FILECOIN_WINDOW},
                      {"winning", "--winning", "--winning-request", CUZK_FILECOIN_WINNING}};
enum { CIRCOM = CUZK_BENCH_KINDS - 1 };

/* ---- inputs ---------------------------------------------------------------------------------- */

static bool read_filecoin(struct command *c, unsigned k)
{
    cuzk_cli_args *args = c->args;
    struct input *in = &c->inputs[k];
    const char *path = cuzk_cli_value(args, filecoin_kinds[k].option);
    const char *request = cuzk_cli_value(args, filecoin_kinds[k].request_option);
    if (path == NULL) {
        return request == NULL ||
               cuzk_cli_usage(args, "%s is given without %s", filecoin_kinds[k].request_option,
                              filecoin_kinds[k].option) == CUZK_EXIT_OK;
    }
    if (cuzk_filecoin_request_create(&in->request, filecoin_kinds[k].kind, &args->err) != CUZK_OK ||
        (request != NULL && !cuzk_cli_read_request(args, in->request, request)) ||
        !cuzk_cli_read_vanilla(args, &in->vanilla, in->request, &path, 1)) {
        return false;
    }
    if (cuzk_client_job_init(&in->job, in->request, in->vanilla.files, in->vanilla.n, &args->err) !=
        CUZK_OK) {
        cuzk_cli_error_name(args, path);
        return false;
    }
    in->job.message.priority = c->priority;
    c->bench.kinds[k].submit = &in->job.message;
    return true;
}

static bool read_circom(struct command *c)
{
    cuzk_cli_args *args = c->args;
    const char *text = cuzk_cli_value(args, "--circom");
    const char *equals = text != NULL ? strchr(text, '=') : NULL;
    size_t n_bytes = 0;
    if (text == NULL) {
        return true;
    }
    if (equals == NULL || equals == text || equals[1] == '\0') {
        cuzk_cli_usage(args, "--circom: \"%s\" is not NAME=WTNS", text);
        return false;
    }
    c->circuit = strndup(text, (size_t)(equals - text));
    c->witness_data = cuzk_cli_read_file(args, equals + 1, &n_bytes);
    if (c->circuit == NULL) {
        cuzk_cli_no_memory(args);
    }
    if (c->circuit == NULL || c->witness_data == NULL) {
        return false;
    }
    cuzk__v1__prove_witness_request__init(&c->witness);
    c->witness.circuit = c->circuit;
    c->witness.witness.data = (uint8_t *)c->witness_data;
    c->witness.witness.len = n_bytes;
    c->witness.priority = c->priority;
    c->bench.kinds[CIRCOM].witness = &c->witness;
    return true;
}

static bool allocate(struct command *c)
{
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        cuzk_bench_kind *k = &c->bench.kinds[i];
        k->wall = calloc(3u * (size_t)c->bench.n_jobs, sizeof *k->wall);
        if (k->wall == NULL) {
            cuzk_cli_no_memory(c->args);
            return false;
        }
        k->total = k->wall + c->bench.n_jobs;
        k->queue = k->total + c->bench.n_jobs;
    }
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

static const double shares[] = {0.5, 0.9, 0.99};
enum { N_SHARES = sizeof shares / sizeof shares[0] };

static void put_kind(cuzk_cli_json *json, const cuzk_bench *b, const cuzk_bench_kind *k)
{
    static const char *const names[] = {"seconds_p50", "seconds_p90", "seconds_p99"};
    unsigned n = k->n_completed;
    cuzk_cli_json_open(json, NULL, '{');
    cuzk_cli_json_text(json, "kind", k->name);
    cuzk_cli_json_number(json, "jobs", k->n_started);
    cuzk_cli_json_number(json, "completed", n);
    cuzk_cli_json_number(json, "failed", k->n_failed);
    for (unsigned i = 0; i < N_SHARES; i++) {
        cuzk_cli_json_seconds(json, names[i],
                              (uint64_t)(cuzk_bench_percentile(k->wall, n, shares[i]) * 1e9));
    }
    cuzk_cli_json_seconds(json, "seconds_min", (uint64_t)(n > 0 ? k->wall[0] * 1e9 : 0));
    cuzk_cli_json_seconds(json, "seconds_max", (uint64_t)(n > 0 ? k->wall[n - 1] * 1e9 : 0));
    cuzk_cli_json_seconds(json, "daemon_seconds_p50",
                          (uint64_t)(cuzk_bench_percentile(k->total, n, 0.5) * 1e9));
    cuzk_cli_json_seconds(json, "queue_seconds_p50",
                          (uint64_t)(cuzk_bench_percentile(k->queue, n, 0.5) * 1e9));
    cuzk_cli_json_number(json, "per_hour", (uint64_t)(n * 3600.0 / b->seconds));
    if (k->n_failed > 0) {
        cuzk_cli_json_text(json, "first_error", k->error);
    }
    cuzk_cli_json_close(json, '}');
}

static void print_json(const cuzk_bench *b, unsigned n_failed)
{
    cuzk_cli_json json;
    cuzk_cli_json_begin(&json);
    cuzk_cli_json_bool(&json, "ok", n_failed == 0);
    cuzk_cli_json_number(&json, "jobs", b->n_jobs);
    cuzk_cli_json_number(&json, "failed", n_failed);
    cuzk_cli_json_seconds(&json, "seconds", (uint64_t)(b->seconds * 1e9));
    cuzk_cli_json_open(&json, "kinds", '[');
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        if (b->kinds[i].n_started > 0) {
            put_kind(&json, b, &b->kinds[i]);
        }
    }
    cuzk_cli_json_close(&json, ']');
    cuzk_cli_json_end(&json);
}

static void print_rows(const cuzk_bench *b, bool csv)
{
    const double unit = csv ? 1 : 1e3; /* people get milliseconds */
    printf(csv ? "kind,jobs,failed,min_s,p50_s,p90_s,p99_s,max_s,daemon_p50_s,queue_p50_s,"
                 "jobs_per_s\n"
               : "milliseconds from sending to the answer; medians of the daemon's own times\n"
                 "kind       jobs  failed       min       p50       p90       p99       max  "
                 "in daemon  in queue    jobs/s\n");
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        const cuzk_bench_kind *k = &b->kinds[i];
        unsigned n = k->n_completed;
        if (k->n_started == 0) {
            continue;
        }
        printf(csv ? "%s,%u,%u,%.6f,%.6f,%.6f,%.6f,%.6f,%.3f,%.3f,%.3f\n"
                   : "%-8s %6u %7u %9.2f %9.2f %9.2f %9.2f %9.2f %10.0f %9.0f %9.2f\n",
               k->name, k->n_started, k->n_failed, n > 0 ? unit * k->wall[0] : 0,
               unit * cuzk_bench_percentile(k->wall, n, shares[0]),
               unit * cuzk_bench_percentile(k->wall, n, shares[1]),
               unit * cuzk_bench_percentile(k->wall, n, shares[2]),
               n > 0 ? unit * k->wall[n - 1] : 0, unit * cuzk_bench_percentile(k->total, n, 0.5),
               unit * cuzk_bench_percentile(k->queue, n, 0.5), n / b->seconds);
    }
}

static int report(struct command *c)
{
    const cuzk_bench *b = &c->bench;
    cuzk_cli_args *args = c->args;
    unsigned n_failed = 0;
    for (unsigned i = 0; i < CUZK_BENCH_KINDS; i++) {
        n_failed += b->kinds[i].n_failed;
        if (b->kinds[i].n_failed > 0) {
            fprintf(stderr, "cuzk bench: %s: %u of %u jobs failed; the first: %s\n",
                    b->kinds[i].name, b->kinds[i].n_failed, b->kinds[i].n_started,
                    b->kinds[i].error);
        }
    }
    if (args->json) {
        print_json(b, n_failed);
    } else {
        bool csv = cuzk_cli_value(args, "--csv") != NULL;
        print_rows(b, csv);
        if (!csv) {
            printf("%u jobs in %.2f s: %.2f a second, ", b->n_jobs, b->seconds,
                   b->n_jobs / b->seconds);
            printf(b->rate > 0 ? "open loop, %.3g sent a second\n" : "closed loop, %.0f at once\n",
                   b->rate > 0 ? b->rate : b->concurrency);
        }
    }
    return n_failed == 0 ? CUZK_EXIT_OK : CUZK_EXIT_FAILED;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int read_options(struct command *c)
{
    cuzk_cli_args *args = c->args;
    enum { CONCURRENCY_MAX = 10000, RATE_MAX = 100000 };
    const char *jobs = cuzk_cli_value(args, "--jobs");
    const char *concurrency = cuzk_cli_value(args, "--concurrency");
    const char *rate = cuzk_cli_value(args, "--rate");
    c->bench.n_jobs = 20;
    c->bench.concurrency = 4;
    if ((jobs != NULL &&
         !cuzk_cli_number(args, &c->bench.n_jobs, "--jobs", jobs, 1, CUZK_BENCH_JOBS_MAX)) ||
        (concurrency != NULL && !cuzk_cli_number(args, &c->bench.concurrency, "--concurrency",
                                                 concurrency, 1, CONCURRENCY_MAX))) {
        return CUZK_EXIT_USAGE;
    }
    if (rate != NULL) {
        char *end;
        c->bench.rate = strtod(rate, &end);
        if (end == rate || *end != '\0' || !(c->bench.rate >= 1e-4 && c->bench.rate <= RATE_MAX)) {
            return cuzk_cli_usage(args, "--rate: \"%s\" is not a number from 0.0001 to %d", rate,
                                  RATE_MAX);
        }
    }
    if (rate != NULL && concurrency != NULL) {
        return cuzk_cli_usage(args, "--rate (open loop) and --concurrency (closed loop) exclude "
                                    "each other");
    }
    return cuzk_session_priority(args, &c->priority) ? CUZK_EXIT_OK : CUZK_EXIT_USAGE;
}

static int read_inputs(struct command *c)
{
    cuzk_cli_args *args = c->args;
    cuzk_error_clear(&args->err);
    for (unsigned k = 0; k < CIRCOM; k++) {
        c->bench.kinds[k].name = filecoin_kinds[k].name;
    }
    c->bench.kinds[CIRCOM].name = "circom";
    bool ok = true;
    for (unsigned k = 0; k < CIRCOM && ok; k++) {
        ok = read_filecoin(c, k);
    }
    ok = ok && read_circom(c);
    if (!ok) { /* without an error it was a usage message */
        return args->err.status == CUZK_OK ? CUZK_EXIT_USAGE : cuzk_cli_fail(args);
    }
    if (cuzk_bench_mix(&c->bench, cuzk_cli_value(args, "--mix"), &args->err) != CUZK_OK ||
        !allocate(c)) {
        return cuzk_cli_fail(args);
    }
    return CUZK_EXIT_OK;
}

static int run(struct command *c)
{
    cuzk_session session;
    int code = CUZK_EXIT_OK;
    if (cuzk_session_open(&session, c->args, &code)) {
        code = cuzk_bench_run(&c->bench, &session) ? report(c) : cuzk_cli_fail(c->args);
        cuzk_session_close(&session);
    }
    return code;
}

int cuzk_cmd_bench(cuzk_cli_args *args)
{
    struct command c = {.args = args};
    int code = read_options(&c);
    if (code == CUZK_EXIT_OK) {
        code = read_inputs(&c);
    }
    if (code == CUZK_EXIT_OK) {
        code = run(&c);
    }
    for (unsigned k = 0; k < CUZK_BENCH_KINDS; k++) {
        free(c.bench.kinds[k].wall);
    }
    for (unsigned k = 0; k < CIRCOM; k++) {
        cuzk_client_job_clear(&c.inputs[k].job);
        cuzk_cli_free_vanilla(&c.inputs[k].vanilla);
        cuzk_filecoin_request_destroy(c.inputs[k].request);
    }
    free(c.witness_data);
    free(c.circuit);
    return code;
}
