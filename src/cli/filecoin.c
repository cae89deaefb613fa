/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk prove and verify porep, snap, window, winning: Filecoin's proofs. */
#include "cli/cli.h"
#include "cuzk_filecoin.h"

#include <stdlib.h>
#include <string.h>

/* The field that an option sets: its name with underscores. False for an option that is none. */
static bool option_field(char *field, size_t n, const cuzk_cli_option *option)
{
    static const char *const not_fields[] = {
        "--request", "--vk", "--params", "--circuits", "--out", "--format", "--allow-test-key"};
    for (size_t i = 0; i < sizeof not_fields / sizeof not_fields[0]; i++) {
        if (strcmp(option->name, not_fields[i]) == 0) {
            return false;
        }
    }
    snprintf(field, n, "%s", option->name + 2);
    for (char *p = field; *p != '\0'; p++) {
        *p = *p == '-' ? '_' : *p;
    }
    return true;
}

/* Put the file that an error is about in front of it. */
static void name_file(cuzk_cli_args *args, const char *path)
{
    char text[CUZK_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", args->err.text);
    snprintf(args->err.text, sizeof args->err.text, "\"%s\": %.900s", path, text);
}

/* Fill a request from the command line and from the file that it names. False with args->err set.
 */
static bool fill_request(cuzk_cli_args *args, cuzk_filecoin_request *request)
{
    const char *path = cuzk_cli_value(args, "--request");
    if (path != NULL) {
        size_t n_bytes = 0;
        char *json = cuzk_cli_read_file(args, path, &n_bytes);
        if (json == NULL) {
            return false;
        }
        cuzk_status status = cuzk_filecoin_request_read_json(request, json, n_bytes, &args->err);
        free(json);
        if (status != CUZK_OK) {
            name_file(args, path);
            return false;
        }
    }
    const cuzk_cli_option *options = args->command->options;
    for (unsigned i = 0; options[i].name != NULL; i++) {
        char field[32];
        if (args->values[i] != NULL && option_field(field, sizeof field, &options[i]) &&
            cuzk_filecoin_request_set(request, field, args->values[i], &args->err) != CUZK_OK) {
            if (args->err.status == CUZK_E_FORMAT) {
                args->err.status = CUZK_E_ARGUMENT; /* it stands on the command line, in no file */
            }
            return false;
        }
    }
    return true;
}

static int report(cuzk_cli_args *args, cuzk_status status, unsigned n_partitions,
                  unsigned first_invalid)
{
    if (status != CUZK_OK && status != CUZK_E_INVALID_PROOF) {
        if (status == CUZK_E_FORMAT || status == CUZK_E_MISMATCH) {
            name_file(args, args->positional[0]);
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
    if (!fill_request(args, request) ||
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

/* Files of vanilla proofs, which the request borrows. */
struct inputs {
    char **data;
    unsigned n;
};

static void free_inputs(struct inputs *inputs)
{
    for (unsigned i = 0; i < inputs->n; i++) {
        free(inputs->data[i]);
    }
    free(inputs->data);
}

static bool read_inputs(cuzk_cli_args *args, struct inputs *inputs, cuzk_filecoin_request *request)
{
    inputs->data = calloc(args->n_positional, sizeof *inputs->data);
    if (inputs->data == NULL) {
        cuzk_cli_no_memory(args);
        return false;
    }
    for (unsigned i = 0; i < args->n_positional; i++) {
        const char *path = args->positional[i];
        size_t n_bytes = 0;
        inputs->data[i] = cuzk_cli_read_file(args, path, &n_bytes);
        if (inputs->data[i] == NULL) {
            return false;
        }
        inputs->n++;
        if (cuzk_filecoin_request_add_vanilla(request, inputs->data[i], n_bytes, &args->err) !=
            CUZK_OK) {
            name_file(args, path);
            return false;
        }
    }
    return true;
}

/* The form that --format names. False after a usage message. */
static bool parse_form(const cuzk_cli_args *args, cuzk_filecoin_form *form)
{
    static const char *const names[] = {"raw", "hex", "base64", "json"};
    static const cuzk_filecoin_form forms[] = {CUZK_FILECOIN_RAW, CUZK_FILECOIN_HEX,
                                               CUZK_FILECOIN_BASE64, CUZK_FILECOIN_JSON};
    const char *text = cuzk_cli_value(args, "--format");
    *form = CUZK_FILECOIN_RAW;
    if (text == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *form = forms[i];
            return true;
        }
    }
    cuzk_cli_usage(args, "--format: \"%s\" is not raw, hex, base64 or json", text);
    return false;
}

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
    cuzk_filecoin_prove_options options = CUZK_FILECOIN_PROVE_OPTIONS_INIT;
    options.progress = cuzk_cli_progress;
    options.progress_user = args;
    cuzk_filecoin_key *key = NULL;
    cuzk_filecoin_proof *proof = NULL;
    /* parameters take long to open: what is wrong with the request is said before */
    cuzk_status status = cuzk_filecoin_check(ctx, request, &args->err);
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
    const char *out = cuzk_cli_value(args, "--out");
    cuzk_filecoin_form form;
    if (!parse_form(args, &form) || cuzk_cli_is_dash(args, out)) {
        return CUZK_EXIT_USAGE;
    }
    if (out == NULL) {
        out = form == CUZK_FILECOIN_RAW    ? "proof.bin"
              : form == CUZK_FILECOIN_JSON ? "proof.json"
                                           : "proof.txt";
    }
    const char *others[] = {cuzk_cli_value(args, "--params"), cuzk_cli_value(args, "--request")};
    for (unsigned i = 0; i < args->n_positional + 2; i++) {
        if (cuzk_cli_same_file(args, out, i < 2 ? others[i] : args->positional[i - 2])) {
            return CUZK_EXIT_USAGE;
        }
    }
    struct inputs inputs = {NULL, 0};
    cuzk_cli_catch_signals();
    int code = fill_request(args, request) && read_inputs(args, &inputs, request) &&
                       cuzk_cli_can_write(args, out)
                   ? prove(args, ctx, request, out, form)
                   : cuzk_cli_fail(args);
    free_inputs(&inputs);
    return code;
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
