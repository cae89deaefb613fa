/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk bench: the same proof again and again in one process, key and threads set up once. The first
 * run warms caches and is not counted. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 10000 };

/* Times of all runs; row 0 is the whole call, the others are the stages. */
struct table {
    const char *names[CUZK_PROVE_STAGES_MAX + 1];
    unsigned n_rows;
    unsigned n_runs;
    uint64_t *ns[CUZK_PROVE_STAGES_MAX + 1]; /* n_runs each */
};

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A field of a CSV line, in quotes where it needs them (RFC 4180). */
static void print_csv_text(const char *text)
{
    bool quote = strpbrk(text, ",\"\r\n") != NULL;
    if (quote) {
        putchar('"');
    }
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"') {
            putchar('"');
        }
        putchar(*p);
    }
    if (quote) {
        putchar('"');
    }
}

static void print_table(const cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_key_info *info,
                        struct table *t)
{
    bool csv = cuzk_cli_value(args, "--csv") != NULL;
    cuzk_cli_json json;
    if (args->json) {
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "key", args->positional[0]);
        cuzk_cli_json_text(&json, "curve", info->curve);
        cuzk_cli_json_number(&json, "constraints", info->n_constraints);
        cuzk_cli_json_number(&json, "lg_domain", info->lg_domain);
        cuzk_cli_json_text(&json, "cpu", cuzk_ctx_cpu(ctx));
        cuzk_cli_json_number(&json, "threads", cuzk_ctx_n_threads(ctx));
        cuzk_cli_json_number(&json, "runs", t->n_runs);
        cuzk_cli_json_number(&json, "peak_memory_bytes", cuzk_cli_peak_memory());
        cuzk_cli_json_open(&json, "stages", '[');
    } else if (csv) {
        printf("key,curve,constraints,lg_domain,cpu,threads,stage,runs,min_ms,median_ms,max_ms\n");
    } else {
        printf("%s: %s constraint%s, %s, cpu %s, threads %u, %u runs\n", args->positional[0],
               cuzk_cli_group_digits(info->n_constraints).text, info->n_constraints == 1 ? "" : "s",
               info->curve, cuzk_ctx_cpu(ctx), cuzk_ctx_n_threads(ctx), t->n_runs);
        printf("%-16s %12s %12s %12s\n", "stage", "min ms", "median ms", "max ms");
    }
    for (unsigned i = 0; i < t->n_rows; i++) {
        uint64_t *ns = t->ns[i];
        qsort(ns, t->n_runs, sizeof *ns, compare_u64);
        uint64_t lo = ns[0], mid = ns[t->n_runs / 2], hi = ns[t->n_runs - 1];
        if (args->json) {
            cuzk_cli_json_open(&json, NULL, '{');
            cuzk_cli_json_text(&json, "stage", t->names[i]);
            cuzk_cli_json_seconds(&json, "min", lo);
            cuzk_cli_json_seconds(&json, "median", mid);
            cuzk_cli_json_seconds(&json, "max", hi);
            cuzk_cli_json_close(&json, '}');
        } else if (csv) {
            print_csv_text(args->positional[0]);
            printf(",%s,%u,%u,%s,%u,", info->curve, info->n_constraints, info->lg_domain,
                   cuzk_ctx_cpu(ctx), cuzk_ctx_n_threads(ctx));
            print_csv_text(t->names[i]);
            printf(",%u,%.3f,%.3f,%.3f\n", t->n_runs, (double)lo / 1e6, (double)mid / 1e6,
                   (double)hi / 1e6);
        } else {
            printf("%-16s %12.3f %12.3f %12.3f\n", t->names[i], (double)lo / 1e6, (double)mid / 1e6,
                   (double)hi / 1e6);
        }
    }
    if (args->json) {
        cuzk_cli_json_close(&json, ']');
        cuzk_cli_json_end(&json);
    }
}

static cuzk_status one_run(cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_key *key,
                           const cuzk_bytes *witness, cuzk_prove_stats *stats)
{
    cuzk_prove_options options = CUZK_PROVE_OPTIONS_INIT;
    options.progress = cuzk_cli_progress;
    options.progress_user = args;
    cuzk_proof *proof = NULL;
    cuzk_status status =
        cuzk_prove(ctx, &proof, key, witness->data, witness->n_bytes, &options, &args->err);
    if (status == CUZK_OK) {
        cuzk_proof_get_stats(stats, proof);
        cuzk_proof_destroy(proof);
    }
    return status;
}

static cuzk_status run_all(cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_key *key,
                           const cuzk_bytes *witness, struct table *t)
{
    cuzk_prove_stats stats;
    cuzk_status status = one_run(args, ctx, key, witness, &stats);
    for (unsigned run = 0; run < t->n_runs && status == CUZK_OK; run++) {
        status = one_run(args, ctx, key, witness, &stats);
        if (status != CUZK_OK) {
            break;
        }
        t->names[0] = "total";
        t->ns[0][run] = stats.total_ns;
        for (unsigned i = 0; i < stats.n_stages; i++) {
            t->names[1 + i] = stats.stage[i];
            t->ns[1 + i][run] = stats.stage_ns[i];
        }
        t->n_rows = 1 + stats.n_stages;
    }
    return status;
}

static int bench(cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_key *key, unsigned n_runs)
{
    struct table t = {.n_runs = n_runs};
    enum { ROWS_MAX = CUZK_PROVE_STAGES_MAX + 1 };
    uint64_t *all = calloc((size_t)n_runs * ROWS_MAX, sizeof *all);
    cuzk_bytes witness = {NULL, 0};
    char *data = cuzk_cli_read_file(args, args->positional[1], &witness.n_bytes);
    int code = CUZK_EXIT_FAILED;
    if (all != NULL && data != NULL) {
        for (unsigned i = 0; i < ROWS_MAX; i++) {
            t.ns[i] = all + (size_t)i * n_runs;
        }
        witness.data = data;
        if (run_all(args, ctx, key, &witness, &t) == CUZK_OK) {
            cuzk_key_info info;
            cuzk_key_get_info(&info, key);
            cuzk_cli_progress_end(args);
            print_table(args, ctx, &info, &t);
            code = CUZK_EXIT_OK;
        } else {
            cuzk_cli_error_names(args, args->positional[0], args->positional[1]);
        }
    }
    if (all == NULL) {
        cuzk_cli_no_memory(args);
    }
    if (code != CUZK_EXIT_OK) {
        code = cuzk_cli_fail(args);
    }
    free(data);
    free(all);
    return code;
}

int cuzk_cli_bench(cuzk_cli_args *args)
{
    unsigned n_runs = 5;
    const char *runs = cuzk_cli_value(args, "--runs");
    if (runs != NULL && !cuzk_cli_number(args, &n_runs, "--runs", runs, 1, RUNS_MAX)) {
        return CUZK_EXIT_USAGE;
    }
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_cli_catch_signals();
    cuzk_key_options options = CUZK_KEY_OPTIONS_INIT;
    options.r1cs_path = cuzk_cli_value(args, "--r1cs");
    options.device = cuzk_cli_value(args, "--device");
    options.allow_test_key = cuzk_cli_value(args, "--allow-test-key") != NULL;
    cuzk_key *key = NULL;
    if (cuzk_key_open_file(ctx, &key, args->positional[0], &options, &args->err) == CUZK_OK) {
        code = bench(args, ctx, key, n_runs);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_key_close(key);
    cuzk_ctx_destroy(ctx);
    return code;
}
