/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk prove and verify porep, snap, window, winning: Filecoin's proofs. */
#include "cli/cli.h"
#include "cuzk_filecoin.h"

#include <stdlib.h>

/* Whether an error is about the bytes of the file that the command is about. */
static bool is_about_file(cuzk_status status)
{
    return status == CUZK_E_FORMAT || status == CUZK_E_TRUNCATED || status == CUZK_E_MISMATCH;
}

static int report(cuzk_cli_args *args, cuzk_status status, unsigned n_partitions,
                  unsigned first_invalid)
{
    if (status != CUZK_OK && status != CUZK_E_INVALID_PROOF) {
        if (is_about_file(status)) {
            cuzk_cli_error_name(args, args->positional[0]);
        }
        return cuzk_cli_fail(args);
    }
    char text[64];
    snprintf(text, sizeof text, "valid (%u partition%s)", n_partitions,
             n_partitions == 1 ? "" : "s");
    return cuzk_cli_verdict(args, status == CUZK_OK, text, "partitions", n_partitions,
                            first_invalid, args->positional[0]);
}

static int verify(cuzk_cli_args *args, const cuzk_ctx *ctx, cuzk_filecoin_request *request)
{
    unsigned n_partitions = 0;
    if (!cuzk_cli_fill_request(args, request) ||
        cuzk_filecoin_request_partitions(&n_partitions, request, &args->err) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    bool allow = cuzk_cli_value(args, "--allow-test-key") != NULL;
    cuzk_vkey *vkey = NULL;
    if (cuzk_filecoin_vkey_open_file(ctx, &vkey, request, cuzk_cli_value(args, "--vk"), allow,
                                     &args->err) != CUZK_OK) {
        return cuzk_cli_fail(args);
    }
    int code = CUZK_EXIT_OK;
    size_t n_bytes = 0;
    char *proof = cuzk_cli_read_file(args, args->positional[0], &n_bytes);
    if (proof == NULL) {
        code = cuzk_cli_fail(args);
    } else {
        unsigned first_invalid = 0;
        cuzk_status status =
            cuzk_filecoin_verify(ctx, &first_invalid, vkey, request, proof, n_bytes, &args->err);
        code = report(args, status, n_partitions, first_invalid);
    }
    free(proof);
    cuzk_vkey_close(vkey);
    return code;
}

/* ---- proving --------------------------------------------------------------------------------- */

static void print_summary(const cuzk_cli_args *args, const cuzk_ctx *ctx,
                          const cuzk_filecoin_key *key, const cuzk_filecoin_proof *proof,
                          const char *out, uint64_t key_ns)
{
    enum { PARTITION_BYTES = 192 };
    cuzk_filecoin_key_info info;
    cuzk_prove_stats stats;
    cuzk_filecoin_key_get_info(&info, key);
    cuzk_filecoin_proof_get_stats(&stats, proof);
    size_t n = cuzk_filecoin_proof_bytes(proof).n_bytes / PARTITION_BYTES;
    uint64_t peak = cuzk_cli_peak_memory();
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "proof", out);
        cuzk_cli_json_text(&json, "params", info.path);
        cuzk_cli_json_bool(&json, "test_key", info.is_test_key);
        cuzk_cli_json_number(&json, "partitions", n);
        cuzk_cli_json_number(&json, "constraints", info.n_constraints);
        cuzk_cli_json_number(&json, "variables", info.n_vars);
        cuzk_cli_json_number(&json, "lg_domain", info.lg_domain);
        cuzk_cli_json_seconds(&json, "key_seconds", key_ns);
        cuzk_cli_json_proving(&json, &stats, peak, ctx);
        cuzk_cli_json_end(&json);
        return;
    }
    if (args->quiet) {
        return;
    }
    printf("proved %zu partition%s of %s constraints (domain 2^%u) in %.2f s:", n,
           n == 1 ? "" : "s", cuzk_cli_group_digits(info.n_constraints).text, info.lg_domain,
           (double)stats.total_ns / 1e9);
    for (unsigned i = 0; i < stats.n_stages; i++) {
        printf("%s %s %.2f", i == 0 ? "" : " +", stats.stage[i], (double)stats.stage_ns[i] / 1e9);
    }
    printf("; parameters opened in %.2f s; peak memory %.1f MiB; cpu %s, threads %u\n",
           (double)key_ns / 1e9, (double)peak / 1048576, cuzk_ctx_cpu(ctx),
           cuzk_ctx_n_threads(ctx));
    cuzk_cli_print_device(&stats, info.device);
}

static int prove(cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_filecoin_request *request,
                 const char *out, cuzk_filecoin_form form)
{
    cuzk_filecoin_key_options key_options = CUZK_FILECOIN_KEY_OPTIONS_INIT;
    key_options.params_path = cuzk_cli_value(args, "--params");
    key_options.circuits_folder = cuzk_cli_value(args, "--circuits");
    key_options.progress = cuzk_cli_progress;
    key_options.progress_user = args;
    key_options.allow_test_key = cuzk_cli_value(args, "--allow-test-key") != NULL;
    key_options.drop_pages = true; /* this process proves once */
    key_options.device = cuzk_cli_value(args, "--device");
    cuzk_filecoin_prove_options options = CUZK_FILECOIN_PROVE_OPTIONS_INIT;
    options.progress = cuzk_cli_progress;
    options.progress_user = args;
    cuzk_filecoin_key *key = NULL;
    cuzk_filecoin_proof *proof = NULL;
    /* parameters take long to open: what is wrong with the request is said before */
    cuzk_status status = cuzk_filecoin_check(ctx, request, &args->err);
    if (is_about_file(status) && args->n_positional == 1) {
        cuzk_cli_error_name(args, args->positional[0]);
    }
    uint64_t key_ns = cuzk_cli_now_ns();
    if (status == CUZK_OK) {
        status = cuzk_filecoin_key_open(ctx, &key, request, &key_options, &args->err);
    }
    key_ns = cuzk_cli_now_ns() - key_ns;
    if (status == CUZK_OK) {
        status = cuzk_filecoin_prove(ctx, &proof, key, request, &options, &args->err);
    }
    cuzk_cli_progress_end(args);
    if (status == CUZK_OK) {
        status = cuzk_filecoin_proof_write_file(proof, out, form, &args->err);
    }
    int code = CUZK_EXIT_OK;
    if (status == CUZK_OK) {
        print_summary(args, ctx, key, proof, out, key_ns);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_filecoin_proof_destroy(proof);
    cuzk_filecoin_key_close(key);
    return code;
}

static int prove_request(cuzk_cli_args *args, const cuzk_ctx *ctx, cuzk_filecoin_request *request)
{
    cuzk_filecoin_form form;
    if (!cuzk_cli_filecoin_form(args, &form) ||
        cuzk_cli_is_dash(args, cuzk_cli_value(args, "--out"))) {
        return CUZK_EXIT_USAGE;
    }
    const char *out = cuzk_cli_filecoin_out(args, form);
    const char *others[] = {cuzk_cli_value(args, "--params"), cuzk_cli_value(args, "--request"),
                            cuzk_cli_value(args, "--timeline")};
    for (unsigned i = 0; i < args->n_positional + 3; i++) {
        if (cuzk_cli_same_file(args, out, i < 3 ? others[i] : args->positional[i - 3])) {
            return CUZK_EXIT_USAGE;
        }
    }
    cuzk_cli_vanilla vanilla = {NULL, 0};
    cuzk_cli_catch_signals();
    int code = cuzk_cli_timeline_begin(args) && cuzk_cli_fill_request(args, request) &&
                       cuzk_cli_read_vanilla(args, &vanilla, request, args->positional,
                                             args->n_positional) &&
                       cuzk_cli_can_write(args, out)
                   ? prove(args, ctx, request, out, form)
                   : cuzk_cli_fail(args);
    cuzk_cli_free_vanilla(&vanilla);
    return cuzk_cli_timeline_end(args, code);
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int with_request(cuzk_cli_args *args, cuzk_filecoin_kind kind,
                        int (*run)(cuzk_cli_args *, const cuzk_ctx *, cuzk_filecoin_request *))
{
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_filecoin_request *request = NULL;
    code = cuzk_filecoin_request_create(&request, kind, &args->err) == CUZK_OK
               ? run(args, ctx, request)
               : cuzk_cli_fail(args);
    cuzk_filecoin_request_destroy(request);
    cuzk_ctx_destroy(ctx);
    return code;
}

int cuzk_cli_prove_porep(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_POREP, prove_request);
}

int cuzk_cli_verify_porep(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_POREP, verify);
}

int cuzk_cli_prove_snap(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_UPDATE, prove_request);
}

int cuzk_cli_verify_snap(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_UPDATE, verify);
}

int cuzk_cli_prove_window(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_WINDOW, prove_request);
}

int cuzk_cli_verify_window(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_WINDOW, verify);
}

int cuzk_cli_prove_winning(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_WINNING, prove_request);
}

int cuzk_cli_verify_winning(cuzk_cli_args *args)
{
    return with_request(args, CUZK_FILECOIN_WINNING, verify);
}
