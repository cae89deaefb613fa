/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzk verify porep, snap, window, winning: Filecoin's proofs from chain-side data. */
#include "cli/cli.h"
#include "cuzk_filecoin.h"

#include <stdlib.h>
#include <string.h>

/* The field that an option sets: its name with underscores. False for an option that is none. */
static bool option_field(char *field, size_t n, const cuzk_cli_option *option)
{
    static const char *const not_fields[] = {"--request", "--vk", "--allow-test-key"};
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
            char text[CUZK_ERROR_TEXT_MAX];
            snprintf(text, sizeof text, "%s", args->err.text);
            snprintf(args->err.text, sizeof args->err.text, "\"%s\": %.900s", path, text);
            return false;
        }
    }
    const cuzk_cli_option *options = args->command->options;
    for (unsigned i = 0; options[i].name != NULL; i++) {
        char field[32];
        if (args->values[i] != NULL && option_field(field, sizeof field, &options[i]) &&
            cuzk_filecoin_request_set(request, field, args->values[i], &args->err) != CUZK_OK) {
            return false;
        }
    }
    return true;
}

static int report(cuzk_cli_args *args, cuzk_status status, unsigned n_partitions,
                  unsigned first_invalid)
{
    if (status != CUZK_OK && status != CUZK_E_INVALID_PROOF) {
        return cuzk_cli_fail(args);
    }
    bool valid = status == CUZK_OK;
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", valid);
        cuzk_cli_json_bool(&json, "valid", valid);
        cuzk_cli_json_number(&json, "partitions", n_partitions);
        if (!valid) {
            cuzk_cli_json_number(&json, "first_invalid", first_invalid);
            cuzk_cli_json_text(&json, "reason", args->err.text);
        }
        cuzk_cli_json_end(&json);
    } else if (valid && !args->quiet) {
        printf("valid (%u partition%s)\n", n_partitions, n_partitions == 1 ? "" : "s");
    }
    if (!valid) {
        fprintf(stderr, "cuzk %s: \"%s\": invalid: %s\n", args->command->name, args->positional[0],
                args->err.text);
    }
    return valid ? CUZK_EXIT_OK : CUZK_EXIT_FAILED;
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

static int verify_kind(cuzk_cli_args *args, cuzk_filecoin_kind kind)
{
    int code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &code);
    if (ctx == NULL) {
        return code;
    }
    cuzk_filecoin_request *request = NULL;
    code = cuzk_filecoin_request_create(&request, kind, &args->err) == CUZK_OK
               ? verify(args, ctx, request)
               : cuzk_cli_fail(args);
    cuzk_filecoin_request_destroy(request);
    cuzk_ctx_destroy(ctx);
    return code;
}

int cuzk_cli_verify_porep(cuzk_cli_args *args)
{
    return verify_kind(args, CUZK_FILECOIN_POREP);
}

int cuzk_cli_verify_snap(cuzk_cli_args *args)
{
    return verify_kind(args, CUZK_FILECOIN_UPDATE);
}

int cuzk_cli_verify_window(cuzk_cli_args *args)
{
    return verify_kind(args, CUZK_FILECOIN_WINDOW);
}

int cuzk_cli_verify_winning(cuzk_cli_args *args)
{
    return verify_kind(args, CUZK_FILECOIN_WINNING);
}
