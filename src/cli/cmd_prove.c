/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk prove. */
#include "cli/cli.h"

#include <string.h>

/* The form that --format names; *is_given is false without it. False after a usage message. */
static bool parse_form(const cuzk_cli_args *args, cuzk_form *form, bool *is_given)
{
    static const char *const names[] = {"snarkjs", "compact", "bytes", NULL};
    static const cuzk_form forms[] = {CUZK_FORM_SNARKJS, CUZK_FORM_COMPACT, CUZK_FORM_BYTES};
    const char *text = cuzk_cli_value(args, "--format");
    *is_given = text != NULL;
    if (text == NULL) {
        return true;
    }
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *form = forms[i];
            return true;
        }
    }
    cuzk_cli_usage(args, "--format: \"%s\" is not snarkjs, compact or bytes", text);
    return false;
}

static void print_summary(const cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_key_info *info,
                          const cuzk_proof *proof, const char *proof_path, const char *public_path)
{
    cuzk_prove_stats stats;
    cuzk_proof_get_stats(&stats, proof);
    uint64_t peak = cuzk_cli_peak_memory();
    const char *device = cuzk_cli_value(args, "--device") != NULL ? info->device : NULL;
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "proof", proof_path);
        cuzk_cli_json_text(&json, "public", public_path);
        cuzk_cli_json_text(&json, "curve", info->curve);
        cuzk_cli_json_number(&json, "constraints", info->n_constraints);
        cuzk_cli_json_number(&json, "lg_domain", info->lg_domain);
        cuzk_cli_json_number(&json, "variables", info->n_vars);
        cuzk_cli_json_number(&json, "public_values", info->n_public);
        cuzk_cli_json_number(&json, "witness_bits", stats.n_bits);
        cuzk_cli_json_bool(&json, "self_check", cuzk_cli_value(args, "--no-self-check") == NULL);
        cuzk_cli_json_proving(&json, &stats, peak, ctx);
        if (device != NULL) {
            cuzk_cli_json_text(&json, "device", device);
        }
        cuzk_cli_json_end(&json);
        return;
    }
    if (args->quiet) {
        return;
    }
    printf("proved %s constraint%s (%s, domain 2^%u, %s variable%s, %s of them bits) in %.1f ms:",
           cuzk_cli_group_digits(info->n_constraints).text, info->n_constraints == 1 ? "" : "s",
           info->curve, info->lg_domain, cuzk_cli_group_digits(info->n_vars).text,
           info->n_vars == 1 ? "" : "s", cuzk_cli_group_digits(stats.n_bits).text,
           (double)stats.total_ns / 1e6);
    for (unsigned i = 0; i < stats.n_stages; i++) {
        printf("%s %s %.1f", i == 0 ? "" : " +", stats.stage[i], (double)stats.stage_ns[i] / 1e6);
    }
    printf("; peak memory %.1f MiB; cpu %s, threads %u%s%s\n", (double)peak / 1048576,
           cuzk_ctx_cpu(ctx), cuzk_ctx_n_threads(ctx), device != NULL ? ", device " : "",
           device != NULL ? device : "");
    cuzk_cli_print_device(&stats, device);
}

/* wanted: what --format asked for; NULL: the usual one of the kind of key. */
static int prove(cuzk_cli_args *args, const cuzk_ctx *ctx, const cuzk_key *key,
                 const cuzk_form *wanted)
{
    cuzk_key_info info;
    cuzk_key_get_info(&info, key);
    cuzk_form form = strcmp(info.format, "params") == 0 ? CUZK_FORM_BYTES : CUZK_FORM_SNARKJS;
    if (wanted != NULL) {
        form = *wanted;
    }
    const char *witness = args->positional[1];
    const char *proof_path = form == CUZK_FORM_BYTES ? "proof.bin" : "proof.json";
    const char *public_path = "public.json";
    if (args->n_positional == 4) {
        proof_path = args->positional[2];
        public_path = args->positional[3];
    }

    if (cuzk_cli_is_dash(args, proof_path) || cuzk_cli_is_dash(args, public_path)) {
        return CUZK_EXIT_USAGE;
    }
    const char *others[] = {args->positional[0], witness, cuzk_cli_value(args, "--r1cs"),
                            cuzk_cli_value(args, "--timeline")};
    for (int i = 0; i < 4; i++) {
        if (cuzk_cli_same_file(args, proof_path, others[i]) ||
            cuzk_cli_same_file(args, public_path, others[i])) {
            return CUZK_EXIT_USAGE;
        }
    }
    if (cuzk_cli_same_file(args, proof_path, public_path)) {
        return CUZK_EXIT_USAGE;
    }

    cuzk_prove_options options = CUZK_PROVE_OPTIONS_INIT;
    options.no_self_check = cuzk_cli_value(args, "--no-self-check") != NULL;
    options.progress = cuzk_cli_progress;
    options.progress_user = args;
    cuzk_proof *proof = NULL;
    cuzk_status status =
        cuzk_cli_can_write(args, proof_path) && cuzk_cli_can_write(args, public_path)
            ? cuzk_prove_file(ctx, &proof, key, witness, &options, &args->err)
            : args->err.status;
    cuzk_cli_progress_end(args);
    if (status == CUZK_OK) {
        status = cuzk_proof_write_files(proof, proof_path, public_path, form, &args->err);
    }
    int code = CUZK_EXIT_OK;
    if (status == CUZK_OK) {
        print_summary(args, ctx, &info, proof, proof_path, public_path);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_proof_destroy(proof);
    return code;
}

int cuzk_cli_prove(cuzk_cli_args *args)
{
    if (args->n_positional == 3) {
        return cuzk_cli_usage(args, "PROOF is given without PUBLIC, expected: cuzk prove %s",
                              args->command->args);
    }
    cuzk_form form = CUZK_FORM_SNARKJS;
    bool form_is_given;
    if (!parse_form(args, &form, &form_is_given)) {
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
    options.allow_test_key = cuzk_cli_value(args, "--allow-test-key") != NULL;
    options.device = cuzk_cli_value(args, "--device");
    options.drop_pages = true; /* this process proves once */
    cuzk_key *key = NULL;
    if (cuzk_cli_timeline_begin(args) &&
        cuzk_key_open_file(ctx, &key, args->positional[0], &options, &args->err) == CUZK_OK) {
        code = prove(args, ctx, key, form_is_given ? &form : NULL);
    } else {
        code = cuzk_cli_fail(args);
    }
    cuzk_key_close(key);
    code = cuzk_cli_timeline_end(args, code);
    cuzk_ctx_destroy(ctx);
    return code;
}
